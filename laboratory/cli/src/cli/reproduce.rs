//! The options of `carryline reproduce`.

use super::{Workers, parse_duration};
use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "\
Verdicts are computed from measured intervals and the claim's rule: holds, does not hold here,
reversed (here), fails (on any machine), undecided, cannot be measured here.

Examples:
  carryline reproduce --list
  carryline reproduce csum40 --quick
  carryline reproduce chains --chain 1,3,1,3
  carryline reproduce chains --quick -- 8 1 3 1 3
  carryline reproduce all --quick --format json")]
pub struct Reproduce {
    /// Experiments, by id [default: all].
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// Show the experiments and stop.
    #[arg(long)]
    pub list: bool,
    /// Less time and fewer worker processes; intervals are wider and more claims undecided.
    #[arg(long)]
    pub quick: bool,
    /// Time for all experiments together [default: 30 s for most, 9 minutes at most].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_duration)]
    pub budget: Option<std::time::Duration>,
    /// Lengths of a chain of buffers for 'chains', instead of the nine chains of 1996.
    #[arg(long, value_name = "LENGTHS", allow_hyphen_values = true)]
    pub chain: Option<String>,
    /// Print stored runs again: their numbers, content hashes, JSON files, or folders of such files. Runs of
    /// one machine become one; those of several stand side by side with --markdown.
    #[arg(long, value_name = "RUN", value_delimiter = ',', conflicts_with_all = ["ids", "quick", "budget", "chain", "list"])]
    pub from: Vec<String>,
    /// Print the machine, claims and tables as Markdown.
    #[arg(long)]
    pub markdown: bool,
    /// Do not save the results.
    #[arg(long)]
    pub no_save: bool,
    #[command(flatten)]
    pub workers: Workers,
    /// Repeats and lengths of a chain for 'chains', in the form of the original program: -- 8 1 3 1 3.
    #[arg(last = true, value_name = "REPEATS LENGTHS")]
    pub repeats_and_lengths: Vec<String>,
}
