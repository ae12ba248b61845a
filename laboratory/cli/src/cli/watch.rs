//! The options of `carryline watch`.

use super::{Effort, Subjects, parse_duration};
use clap::Args;
use std::time::Duration;

/// The options.
#[derive(Args, Debug)]
#[command(after_help = "\
Shows estimates that decay over time, redrawn every second: a row for each variant, a column for
each dependence and address. A figure is the gross time of a call: the median of rounds whose weight
halves every half-life. * marks the fastest of a column and those within its A/A noise. If standard
output is redirected, a block of plain lines is printed every second instead. On quitting, or when
something else is chosen, the results are saved as a run of 'carryline measure' with the same
conditions.

Keys: f family, z size, o offsets, c cache, s sort, t table, < > column, u unit, p pause, r restart,
up and down, h help, q quit. Upper-case letters step backwards.

Examples:
  carryline watch
  carryline watch --family copy --sizes 4K --cache cold:clflush
  carryline watch --family checksum --variants carryline,adc_1_stream --rounds 5 > rounds.txt
  carryline watch --sizes 1500 --unit GB/s --budget 20s --format json")]
pub struct Watch {
    #[command(flatten)]
    pub subjects: Subjects,
    /// Sizes of the calls, starting with the first: see 'carryline measure --help' [default: 40].
    #[arg(long, value_name = "SIZES", value_parser = super::text(), allow_hyphen_values = true)]
    pub sizes: Vec<String>,
    /// Offsets of the buffers, one or two, a column for each: N (0 to 4095), D:S, random [default: 0,1].
    #[arg(long, value_name = "OFFSETS", value_delimiter = ',', allow_hyphen_values = true)]
    pub offsets: Vec<String>,
    /// States of the caches, starting with the first: hot, cold:clflush, cold:evict, cold:arena [default: hot].
    #[arg(long, value_name = "STATES", value_delimiter = ',', allow_hyphen_values = true)]
    pub cache: Vec<String>,
    /// Time in which a sample loses half its weight.
    #[arg(long, value_name = "TIME", default_value = "20s", allow_hyphen_values = true, value_parser = parse_duration)]
    pub half_life: Duration,
    /// Stop when every column has had at least this many rounds.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = super::whole::<u64>(1..=u64::MAX))]
    pub rounds: Option<u64>,
    #[command(flatten)]
    pub effort: Effort,
}
