//! `carryline explain CODE|WORD`.

use crate::cli::{Common, Explain, Format};
use crate::output;
use carryline_engine::failure::{Failure, usage};
use carryline_machine::nearest::did_you_mean;
use carryline_warnings::Code;
use carryline_warnings::explain::{self, Explanation};
use serde_json::json;

/// Explains a word, or lists the words that can be explained.
pub fn run(args: &Explain, common: &Common) -> Result<u8, Failure> {
    if args.word.is_empty() {
        let words = explain::known();
        return match common.format {
            Format::Json => output::print_json("explain", &json!({ "words": words }), common),
            Format::Table => output::print(&format!(
                "Terms, warnings and documents that 'carryline explain WORD' explains:\n{}\n",
                carryline_report::text::wrap(&words.join(", "), output::style().width.or(Some(100)), 2)
            )),
        }
        .map(|()| 0);
    }
    let word = args.word.join(" ");
    let Some(found) = explain::explain(&word) else {
        let is_code =
            word.trim().strip_prefix(['W', 'w']).is_some_and(|number| number.parse::<u32>().is_ok());
        if is_code && let [first, .., last] = Code::all() {
            return Err(usage(format!(
                "there is no warning {}; codes range from {} to {}, except those of removed warnings ('carryline \
                 explain' lists them)",
                word.trim().to_uppercase(),
                first.code,
                last.code
            )));
        }
        let near = did_you_mean(&explain::nearest(&word));
        return Err(usage(format!("no explanation of '{word}'{near} ('carryline explain' lists all terms)")));
    };
    match common.format {
        Format::Json => {
            let Explanation { word, also, text, remedy, source } = found;
            let object =
                json!({ "word": word, "also": also, "text": text, "remedy": remedy, "source": source });
            output::print_json("explain", &object, common)?;
        }
        Format::Table => {
            let width = output::style().width.or(Some(100));
            let paragraphs = found.to_string();
            let wrapped: Vec<String> =
                paragraphs.split("\n\n").map(|text| carryline_report::text::wrap(text, width, 0)).collect();
            output::print(&wrapped.join("\n\n"))?;
        }
    }
    Ok(0)
}
