//! The options of `carryline tune`.

use super::{Workers, parse_duration};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// The options.
#[derive(Args, Debug)]
#[command(after_help = "\
Searches for the decisions that depend on the machine: the sizes from which the library uses string
instructions and non-temporal stores, and which kernels it uses. The candidates are verified, then
compared with the current settings, in new processes and at sizes and offsets that the search did
not use. A candidate is kept only if it is faster there, and slower nowhere. 'Nothing to gain' is
the usual answer on a CPU with a built-in profile.

Use a profile by setting CARRYLINE_TUNING=FILE (this command, the interposer), or by calling
carryline::tuning::load or carryline_tuning_load.

Exit status: 0 also if there is nothing to gain; 5 if the machine is too noisy to decide, or a
profile does not hold here.

Examples:
  carryline tune --write tuning.toml
  carryline tune --from builtin:unmeasured --may-cost 10 --sizes capture:traffic.pcap
  carryline tune --check tuning.toml
  carryline tune --libc --format json")]
pub struct Tune {
    /// Time for the search and its confirmation.
    #[arg(long, value_name = "TIME", default_value = "3m", allow_hyphen_values = true, value_parser = parse_duration)]
    pub budget: Duration,
    /// Families to tune: zero, copy, checksum, copy_checksum [default: all].
    #[arg(long, value_name = "FAMILY", value_delimiter = ',', conflicts_with = "check")]
    pub family: Vec<String>,
    /// Write the settings kept as a profile; an existing file is replaced only if some were kept.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "libc"])]
    pub write: Option<PathBuf>,
    /// Write NAME.toml and NAME.json, a built-in profile for this CPU model and its evidence, for a pull request.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["check", "libc"], value_parser = name)]
    pub emit: Option<String>,
    /// Start from this profile instead of the current one: a file, or builtin:NAME, of any CPU.
    #[arg(long, value_name = "PROFILE", conflicts_with = "libc")]
    pub from: Option<String>,
    /// Check whether this profile still holds here, without a search: a file, or builtin:NAME.
    #[arg(long, value_name = "PROFILE", conflicts_with_all = ["libc", "from"])]
    pub check: Option<PathBuf>,
    /// Keep settings that are faster overall even if they cost up to this many percent under some condition,
    /// such as with cold buffers.
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, allow_hyphen_values = true, value_parser = percent, conflicts_with = "check")]
    pub may_cost: f64,
    /// Tune the C library instead: the thresholds that GLIBC_TUNABLES sets for memcpy, memmove and memset
    /// (families zero and copy).
    #[arg(long)]
    pub libc: bool,
    /// Sizes for which to report the gain too: see 'carryline measure --help'.
    #[arg(long, value_name = "SIZES", value_parser = super::text(), conflicts_with = "libc", allow_hyphen_values = true)]
    pub sizes: Vec<String>,
    #[command(flatten)]
    pub workers: Workers,
}

/// Parses a percentage.
fn percent(word: &str) -> Result<f64, String> {
    let number = word.trim_end_matches('%').trim().parse().ok();
    number
        .filter(|percent| (0.0..=100.0).contains(percent))
        .ok_or_else(|| "write a number from 0 to 100, such as 10".to_owned())
}

/// Parses a profile's name, which becomes the name of two files.
fn name(word: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    match !word.is_empty() && word.len() <= 64 && word.chars().all(fits) {
        true => Ok(word.to_owned()),
        false => Err("write lower-case letters, digits and hyphens, such as amd-zen5".to_owned()),
    }
}
