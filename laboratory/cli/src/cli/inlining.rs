//! The options of `carryline inlining`.

use super::parse_duration;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Every gcc, clang and rustc on PATH compiles memmove, memcpy, memset, bcopy (plain and __builtin_),
ptr::copy, ptr::copy_nonoverlapping and ptr::write_bytes for each constant size from 1 to 512 with
several sets of flags; the machine code shows whether the call was inlined. Fills are with zero.
Results are cached until the compiler changes.

Examples:
  carryline inlining
  carryline inlining --compiler gcc --limit 32
  carryline inlining --compiler cc --flags '-O2 -mno-sse' --format json")]
pub struct Inlining {
    /// Use only this compiler: a path, or a name on PATH; repeatable.
    #[arg(long, value_name = "PATH")]
    pub compiler: Vec<PathBuf>,
    /// Compile with these flags instead of ten common sets; repeatable.
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub flags: Vec<String>,
    /// Time for measuring the compilers' loops.
    #[arg(long, value_name = "TIME", default_value = "12s", allow_hyphen_values = true, value_parser = parse_duration)]
    pub budget: std::time::Duration,
    /// The hard-coded limit on inlined sizes whose cost is measured.
    #[arg(long, value_name = "BYTES", default_value_t = crate::inlining::limit::USUAL_LIMIT_BYTES,
        allow_negative_numbers = true, value_parser = super::whole::<u32>(0..=511))]
    pub limit: u32,
    /// Seconds after which a compiler counts as hung.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, allow_negative_numbers = true, value_parser = super::whole::<u64>(1..=3600))]
    pub patience: u64,
    /// Compile and measure again, and cache the new results.
    #[arg(long)]
    pub refresh: bool,
    /// Neither read nor write cached results.
    #[arg(long)]
    pub no_cache: bool,
}
