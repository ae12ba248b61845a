//! The options of `carryline export`.

use carryline_report::export::{FORMATS, Format};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
With --raw, json contains the whole run: 'carryline compare' and 'carryline gate' read it.

Examples:
  carryline export 1 --to json --raw > run.json
  carryline export 1 --to go > after.txt
  carryline export 1 --to csv --raw --redact")]
pub struct Export {
    /// The run's number or content hash, as 'carryline history' lists them.
    #[arg(value_name = "RUN", value_parser = super::text())]
    pub run: String,
    /// The format.
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub to: &'static Format,
    /// Write every sample instead of figures computed from them.
    #[arg(long)]
    pub raw: bool,
    /// The file to write [default: standard output].
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Parses the name of a format.
fn formats() -> impl TypedValueParser<Value = &'static Format> {
    let words = FORMATS.iter().map(|format| PossibleValue::new(format.word).help(format.summary));
    PossibleValuesParser::new(words.collect::<Vec<_>>())
        .try_map(|word| Format::find(&word).ok_or_else(|| format!("there is no format '{word}'")))
}
