//! The options of `carryline critical`.

use super::{Effort, Workers, parse_duration};
use carryline_report::units::Unit;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Debug, Default)]
#[command(after_help = "\
Prints the longest path from each argument to the result, the loop-carried dependences and the
throughput bound, next to the measured time of calls. If the code's path depends on the size, the
path of a call of --size bytes is used.

Examples:
  carryline critical adc_1_stream --size 40
  carryline critical adx_2_streams adc_2_streams --no-measure --suggest
  carryline critical adc_2_streams --calibrate
  carryline critical checksum/avx2 --size 1500 --draw loop --svg loop.svg --no-measure
  carryline critical --bytes '4801f8 4883d000 c3' --microarchitecture haswell --dot chain.dot")]
pub struct Critical {
    /// Variants, by name or FAMILY/NAME.
    #[arg(value_name = "VARIANT")]
    pub names: Vec<String>,
    /// Families to look names up in; with --object or --bytes, the family whose arguments the code takes.
    #[arg(long, value_name = "FAMILY", value_delimiter = ',')]
    pub family: Vec<String>,
    /// An object file, shared object or program to take a function from.
    #[arg(long, value_name = "FILE", requires = "symbol")]
    pub object: Option<PathBuf>,
    /// The name of the function in that file.
    #[arg(long, value_name = "NAME", requires = "object")]
    pub symbol: Option<String>,
    /// Machine code in hexadecimal.
    #[arg(long, value_name = "HEX")]
    pub bytes: Option<String>,
    /// Size in bytes of the variant's call to trace and to measure [default: 40, or the variant's own size].
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true, value_parser = super::size, conflicts_with_all = ["object", "bytes"])]
    pub size: Option<usize>,
    /// Latencies to use: zen5, zen4, zen3, zen2, golden_cove, gracemont, ice_lake, skylake_x, haswell,
    /// generic, or measured: width, ports and latencies measured on this machine, once [default: this CPU's
    /// table, or measured if there is none].
    #[arg(long, value_name = "NAME")]
    pub microarchitecture: Option<String>,
    /// Measure the latencies on this machine first; measured latencies take precedence over tables.
    #[arg(long, conflicts_with = "microarchitecture")]
    pub calibrate: bool,
    /// Whether moves between registers take time [default: as this CPU does].
    #[arg(long, value_enum, value_name = "HOW")]
    pub moves: Option<Moves>,
    /// Suggest changes that would make the call faster, by how much, and the time of a variant that makes
    /// each.
    #[arg(long)]
    pub suggest: bool,
    /// Print and draw every executed instruction, including address arithmetic and every iteration of a loop.
    #[arg(long)]
    pub full: bool,
    /// Draw the dependency graph as an SVG image.
    #[arg(long, value_name = "FILE.svg")]
    pub svg: Option<PathBuf>,
    /// Write the dependency graph for Graphviz.
    #[arg(long, value_name = "FILE.dot")]
    pub dot: Option<PathBuf>,
    /// What to draw.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Drawing::Call)]
    pub draw: Drawing,
    /// Predict without measuring.
    #[arg(long)]
    pub no_measure: bool,
    /// Do not run llvm-mca.
    #[arg(long)]
    pub no_opinion: bool,
    /// Time for the measurement: 20s, 2m, 500ms [default: 3s for each routine].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_duration)]
    pub budget: Option<std::time::Duration>,
    /// Worker processes, each of which repeats the measurement with its own memory layout.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = super::whole::<u32>(1..=64))]
    pub replicates: Option<u32>,
    /// Logical CPU to measure on [default: the last one allowed].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = super::whole::<usize>(0..=u64::MAX))]
    pub cpu: Option<usize>,
}

impl Critical {
    /// The options of the measurement.
    pub fn effort(&self) -> Effort {
        Effort {
            budget: self.budget,
            replicates: self.replicates,
            unit: Unit::Cycles,
            plan: false,
            report: None,
            label: None,
            no_save: true,
            workers: Workers { cpu: self.cpu, patience: 10 },
        }
    }
}

/// Whether moves between registers take time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Moves {
    /// They are eliminated by register renaming.
    Eliminated,
    /// They are executed.
    Executed,
}

/// The subject of a drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Drawing {
    /// The call, or all of the code.
    #[default]
    Call,
    /// An iteration of the main loop.
    Loop,
}
