//! The options of commands that measure a matrix: `carryline run` and `carryline measure`.

use carryline_report::units::Unit;
use clap::Args;
use std::path::PathBuf;

/// The level of detail of printed results.
#[derive(Args, Debug, Clone, Copy, Default)]
pub struct Detail {
    /// Print the ranking of every situation, the limits, and the routine to use in each.
    #[arg(long)]
    pub full: bool,
    /// Print all rows of the rankings, and which pairs of variants tie.
    #[arg(long)]
    pub pairs: bool,
}

/// How much is measured and how results are printed.
#[derive(Args, Debug, Clone)]
pub struct Effort {
    /// Time for verification and measurement together: 20s, 2m, 500ms [default: 20s, for 'run' 60s,
    /// and longer if the plan needs it].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = super::parse_duration)]
    pub budget: Option<std::time::Duration>,
    /// Worker processes, each of which repeats the measurement with its own memory layout; twice as many if
    /// the C library is also measured with raised thresholds.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = super::whole::<u32>(1..=64))]
    pub replicates: Option<u32>,
    /// Unit of the figures: ticks, cycles, ns, GB/s, GiB/s, B/cycle.
    #[arg(long, value_name = "UNIT", default_value_t)]
    pub unit: Unit,
    /// Show the plan and how long it would take, and stop.
    #[arg(long)]
    pub plan: bool,
    /// Write a page with heat map, curves, rankings, samples, machine code and everything needed to repeat the run.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// A name for the run, shown by 'carryline history'.
    #[arg(long, value_name = "TEXT", value_parser = super::label())]
    pub label: Option<String>,
    /// Do not save the results.
    #[arg(long)]
    pub no_save: bool,
    #[command(flatten)]
    pub workers: Workers,
}

/// The CPU and the time limit of worker processes.
#[derive(Args, Debug, Clone)]
pub struct Workers {
    /// Logical CPU to measure on [default: the last one allowed].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = super::whole::<usize>(0..=u64::MAX))]
    pub cpu: Option<usize>,
    /// Seconds without progress after which a routine counts as hung; calls with large buffers get more.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, allow_negative_numbers = true, value_parser = super::whole::<u64>(1..=3600))]
    pub patience: u64,
}

/// The variants and plug-ins to measure.
#[derive(Args, Debug, Clone)]
pub struct Subjects {
    /// Families: zero, copy, checksum, copy_checksum [default: all].
    #[arg(long, value_name = "FAMILY", value_delimiter = ',')]
    pub family: Vec<String>,
    /// Variants, by name, FAMILY/NAME, glob ('zero/avx*') or /regular expression/ [default: all candidates].
    #[arg(long, value_name = "VARIANT", value_delimiter = ',')]
    pub variants: Vec<String>,
    /// A routine of your own in a shared object, listed as plugin:NAME; repeatable. FAMILY 'fill' is a zero
    /// routine with memset's signature.
    #[arg(long, value_name = "[NAME=]FILE.so:SYMBOL:FAMILY", value_parser = super::text())]
    pub plugin: Vec<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  carryline run --budget 60s
  carryline run --family checksum --report sums.html
  carryline run --sizes capture:traffic.pcap --plugin ./mine.so:my_sum:checksum")]
pub struct Run {
    #[command(flatten)]
    pub subjects: Subjects,
    /// Sizes to measure in addition to those of the matrix, cached and at random offsets, above 1 KiB also at
    /// offset 0 and in copies as near-aliases: see 'carryline measure --help'.
    #[arg(long, value_name = "SIZES", value_parser = super::text(), allow_hyphen_values = true)]
    pub sizes: Vec<String>,
    #[command(flatten)]
    pub detail: Detail,
    #[command(flatten)]
    pub effort: Effort,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Sizes: 40 | 4K | 8M | 1..64 (uniform in the range) | fleet:memcpy-A (sizes seen in a production
fleet) | histogram:FILE (probabilities of size 0, 1, 2, ... on one line, separated by commas, or
'size,count' lines) | capture:FILE.pcap (the IP payloads of a capture). Each item of a list is one
cell. The order of mixed sizes never repeats, unless a period is given: fleet:memcpy-A/period:4096
repeats 4096 of them, which run 32 times untimed before each batch, so that branch predictors know
the order.

Examples:
  carryline measure --family checksum --sizes 40,1500 --offsets 0,1,random --cache hot,cold:clflush
  carryline measure --family zero,copy --sizes fleet:memset-A --budget 20s
  carryline measure --family checksum --segments 1,3,1,3 --dependence chained,independent,fenced")]
pub struct Measure {
    #[command(flatten)]
    pub subjects: Subjects,
    /// Sizes of the calls.
    #[arg(long, value_name = "SIZES", default_value = "1500", value_parser = super::text(), allow_hyphen_values = true)]
    pub sizes: Vec<String>,
    /// Offsets of the buffers: N (0 to 4095), D:S (destination:source), random (in the whole page), alias (1
    /// to 63 bytes apart modulo 4096), random-line (0 to 63), end (at a page end).
    #[arg(
        long,
        value_name = "OFFSETS",
        value_delimiter = ',',
        allow_hyphen_values = true,
        default_value = "0"
    )]
    pub offsets: Vec<String>,
    /// State of the caches: hot; cold:clflush, cold:evict, cold:arena (streams of calls that miss), with
    /// :single for one isolated call, with :src or :dst for one operand; mixed:P (each buffer is hot with a
    /// probability of P percent, else cold).
    #[arg(
        long,
        value_name = "STATES",
        value_delimiter = ',',
        allow_hyphen_values = true,
        default_value = "hot"
    )]
    pub cache: Vec<String>,
    /// Dependence between calls: chained, independent, fenced.
    #[arg(long, value_name = "MODES", value_delimiter = ',', default_value = "independent")]
    pub dependence: Vec<String>,
    /// Lengths of the buffers of a message, each at a random alignment of its own (checksum families).
    #[arg(long, value_name = "LENGTHS", allow_hyphen_values = true, conflicts_with_all = ["sizes", "offsets"])]
    pub segments: Option<String>,
    /// Page size of the buffers: 4k, huge.
    #[arg(long, value_name = "PAGES", value_delimiter = ',', default_value = "4k")]
    pub pages: Vec<String>,
    /// What follows each call: nothing, read, read-later:BYTES, victim:BYTES.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', default_value = "nothing")]
    pub then: Vec<String>,
    /// What another core does at the same time: nothing, stream (read and write a buffer too large to cache).
    #[arg(long, value_name = "WHAT", value_delimiter = ',', default_value = "nothing")]
    pub beside: Vec<String>,
    #[command(flatten)]
    pub detail: Detail,
    #[command(flatten)]
    pub effort: Effort,
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use carryline_conditions::{Beside, Dependence, Offsets, Then};
    use carryline_machine::arena::Pages;
    use clap::CommandFactory;

    #[test]
    fn the_help_of_measure_lists_every_word() {
        let command = Cli::command();
        let measure = command.find_subcommand("measure").expect("a command");
        for (option, words) in [
            ("offsets", Offsets::WORDS),
            ("dependence", Dependence::WORDS),
            ("pages", Pages::WORDS),
            ("then", Then::WORDS),
            ("beside", Beside::WORDS),
        ] {
            let argument = measure.get_arguments().find(|argument| argument.get_id() == option);
            let help = argument.and_then(clap::Arg::get_help).map(ToString::to_string).unwrap_or_default();
            for (word, _) in words {
                assert!(help.contains(word), "--{option}: no {word} in: {help}");
            }
        }
    }
}
