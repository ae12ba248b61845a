//! The options of `carryline gate`.

use super::Workers;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args, Debug)]
#[command(after_help = "\
Exit status: 0 no cell is slower than allowed, 3 a routine is wrong, 4 a cell is slower, 5 undecided
within the budget, 6 the base is of another machine or build. Without --against, the noise between
two runs of one program counts in full, so that changes of a few percent often stay undecided.

Examples:
  carryline gate 1
  carryline gate 1 --against ./old --fail-if slower:3%
  carryline gate base.json --variants 'zero/*' --annotate")]
pub struct Gate {
    /// The base: a run's number, its content hash, or a file written by 'carryline export RUN --to json
    /// --raw'.
    #[arg(value_name = "BASE", value_parser = super::text())]
    pub base: String,
    /// The limit: a cell fails if it takes significantly longer than the base by more than this.
    #[arg(long, value_name = "slower:PERCENT%", allow_hyphen_values = true, default_value = "slower:3%", value_parser = parse_limit)]
    pub fail_if: f64,
    /// The carryline that measured the base; its workers alternate with this one's.
    #[arg(long, value_name = "PATH")]
    pub against: Option<PathBuf>,
    /// Rows to check, by name, FAMILY/NAME, glob or /regular expression/ [default: the library's and
    /// plug-ins, or all if there are none].
    #[arg(long, value_name = "VARIANT", value_delimiter = ',')]
    pub variants: Vec<String>,
    /// Time limit for the decision: 20s, 2m.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = super::parse_duration, default_value = "60s")]
    pub budget: Duration,
    /// Print annotations for GitHub workflows.
    #[arg(long)]
    pub annotate: bool,
    /// Compare although machines or builds differ.
    #[arg(long)]
    pub force: bool,
    /// A name for the new run.
    #[arg(long, value_name = "TEXT", value_parser = super::label())]
    pub label: Option<String>,
    /// Do not save the new run.
    #[arg(long)]
    pub no_save: bool,
    #[command(flatten)]
    pub workers: Workers,
}

/// Parses a limit: 0.03 for `slower:3%`.
fn parse_limit(text: &str) -> Result<f64, String> {
    let wrong = || format!("'{text}' is not a limit; write slower:3%");
    let percent = text.strip_prefix("slower:").and_then(|rest| rest.strip_suffix('%')).ok_or_else(wrong)?;
    let percent: f64 = percent.trim().parse().map_err(|_| wrong())?;
    match (0.0..=1000.0).contains(&percent) {
        true => Ok(percent / 100.0),
        false => Err(format!("'{text}' is out of range: 0% to 1000%")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_percentages() {
        assert_eq!(parse_limit("slower:3%"), Ok(0.03));
        assert_eq!(parse_limit("slower:0.5%"), Ok(0.005));
        for wrong in
            ["3%", "slower:3", "faster:3%", "slower:-1%", "slower:x%", "slower:nan%", "slower:1e9%", ""]
        {
            assert!(parse_limit(wrong).is_err(), "{wrong}");
        }
    }
}
