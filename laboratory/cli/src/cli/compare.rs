//! The options of `carryline compare`.

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "\
A run is its number, 6 digits or more of its content hash ('carryline history' shows both), or a
file written by 'carryline export RUN --to json --raw'. The first run is the base.

Runs of different machines, builds or conditions are refused, with the differing fields (status 6).

Examples:
  carryline compare 1 2
  carryline compare base.json 2 --full
  carryline compare 1 2 3 --format json")]
pub struct Compare {
    /// The base, then the runs to compare with it.
    #[arg(value_name = "RUN", value_parser = super::text(), num_args = 2.., required = true)]
    pub runs: Vec<String>,
    /// Compare although machines, builds or conditions differ.
    #[arg(long)]
    pub force: bool,
    /// Show every cell.
    #[arg(long)]
    pub full: bool,
}
