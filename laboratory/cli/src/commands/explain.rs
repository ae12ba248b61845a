//! `carryline explain CODE|WORD`.

use crate::cli::{Common, Explain, Format};
use crate::output;
use carryline_engine::failure::{Failure, usage};
use carryline_machine::nearest::did_you_mean;
use carryline_warnings::Code;
use carryline_warnings::explain::{self, Explanation};
use serde_json::{Value, json};

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
    let phrase = args.word.join(" ");
    let found = match explain::explain(&phrase) {
        Some(found) => vec![found],
        None if args.word.iter().any(|word| explain::explain(word).is_some()) => {
            args.word.iter().map(|word| one(word)).collect::<Result<_, _>>()?
        }
        None => vec![one(&phrase)?],
    };
    match common.format {
        Format::Json => {
            let mut objects = found.into_iter().map(object);
            match (objects.next(), objects.len()) {
                (Some(only), 0) => output::print_json("explain", &only, common)?,
                (first, _) => {
                    let all: Vec<Value> = first.into_iter().chain(objects).collect();
                    output::print_json("explain", &json!({ "explanations": all }), common)?;
                }
            }
        }
        Format::Table => {
            let width = output::style().width.or(Some(100));
            let paragraphs = found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n");
            let wrapped: Vec<String> =
                paragraphs.split("\n\n").map(|text| carryline_report::text::wrap(text, width, 0)).collect();
            output::print(&wrapped.join("\n\n"))?;
        }
    }
    Ok(0)
}

fn object(Explanation { word, also, text, remedy, source }: Explanation) -> Value {
    json!({ "word": word, "also": also, "text": text, "remedy": remedy, "source": source })
}

/// The explanation of a word, or what is known instead.
fn one(word: &str) -> Result<Explanation, Failure> {
    explain::explain(word).ok_or_else(|| {
        let is_code =
            word.trim().strip_prefix(['W', 'w']).is_some_and(|number| number.parse::<u32>().is_ok());
        if is_code && let [first, .., last] = Code::all() {
            return usage(format!(
                "there is no warning {}; codes range from {} to {}, except those of removed warnings ('carryline \
                 explain' lists them)",
                word.trim().to_uppercase(),
                first.code,
                last.code
            ));
        }
        let near = did_you_mean(&explain::nearest(word));
        usage(format!("no explanation of '{word}'{near} ('carryline explain' lists all terms)"))
    })
}
