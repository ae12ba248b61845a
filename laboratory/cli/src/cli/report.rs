//! The options of `carryline report`.

use carryline_report::units::Unit;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
The page is one file that works offline: the advice, a heat map, curves, and rankings whose rows
open to show samples, machine code and its critical chain. Code is shown if this build is the one
that measured the run. 'run' and 'measure' write the same page with --report FILE.html. The page's
address holds its filters and its order, as in run-3.html#family=zero&cache=hot&sort=gain.

Examples:
  carryline report
  carryline report 3 --output sums.html
  carryline report 3 --unit cycles --redact")]
pub struct Report {
    /// The run's number or content hash, as 'carryline history' lists them [default: the latest].
    #[arg(value_name = "RUN", value_parser = super::text())]
    pub run: Option<String>,
    /// The file to write [default: run-RUN.html in this folder].
    #[arg(long, short, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
    /// Unit of the figures: ticks, cycles, ns, GB/s, GiB/s, B/cycle.
    #[arg(long, value_name = "UNIT", default_value_t)]
    pub unit: Unit,
}
