//! The options of `carryline audit`.

use super::AuditCapture;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// The options.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Each implementation is tested with the conformance vectors, then with inputs chosen to expose
faults; functions are also called with buffers at every offset and between guard pages. A wrong
answer is reduced to the smallest input, which is printed with a line for a bug report.

A program (--command) reads questions and prints answers, one per line: see vectors/README.md. The
shell runs it, and it is restarted when it crashes or hangs.

A symbol's FORM is its result, a slash and its arguments. Results: partial (32 bits, like Linux'
csum_partial), checksum (the finished field as it stands in memory), checksum-host (as a number, for
htons), sum and sum-host (the same, not complemented). Arguments: ptr,len,seed | len,ptr,seed |
seed,ptr,len | ptr,len | len,ptr | iovec | dst,src,len,seed | src,dst,len,seed | src,dst,len (these
copy) | check,old,new | field,old,new (these update). memcpy, memmove and memset are forms too. If
no form is given, the forms of checksums are tried.

Exit status: 0 no fault was found, 1 failure, 2 unusable arguments, or something could not be
audited, or not completely (its row gives the reason; the others are still audited), 3 a fault was
found and confirmed, 130 interrupted (no report is written).

Examples:
  carryline audit
  carryline audit carryline libc --format json
  carryline audit --plugin ./mine.so:my_sum --report audit.md
  carryline audit --command 'python3 check.py' --patience 3
  carryline audit capture traffic.pcap")]
pub struct Audit {
    /// Audits of something else than implementations.
    #[command(subcommand)]
    pub other: Option<Audited>,
    /// Crates of the collection, 'libc' for the C library's memcpy, memmove and memset, or checksum variants
    /// of
    /// 'carryline list' [default: all crates, or none if plug-ins or commands are given].
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// A function in a shared object; repeatable.
    #[arg(long, value_name = "FILE.so:SYMBOL[:FORM]", value_parser = super::text())]
    pub plugin: Vec<String>,
    /// The form of functions given without one [default: found by trial].
    #[arg(long, value_name = "FORM", requires = "plugin")]
    pub form: Option<String>,
    /// A program that answers questions line by line; repeatable.
    #[arg(long, value_name = "COMMAND", value_parser = super::text())]
    pub command: Vec<String>,
    /// Write the result as a document, and as data in a file of the same name with the extension .json.
    #[arg(long, value_name = "FILE.md")]
    pub report: Option<PathBuf>,
    /// Seconds after which a program or a routine counts as hung.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, allow_negative_numbers = true, value_parser = super::whole::<u64>(1..=3600))]
    pub patience: u64,
}

/// What can be audited other than implementations.
#[derive(Subcommand, Debug)]
pub enum Audited {
    /// Verify every checksum in capture files (pcap, pcapng)
    Capture(AuditCapture),
}

/// The arguments of a process that answers an audit's requests.
#[derive(Args, Debug)]
pub struct Adapter {
    /// The implementation that answers.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}
