//! The options of `carryline real`.

use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  carryline real -- sh -c 'seq 100000 | sort -r | md5sum'
  carryline real --runs 21 --variant zero=movntps -- cc -O2 -c main.c
  carryline real --record copy=sizes.csv -- ls -lR /etc")]
pub struct Real {
    /// Number of rounds, each of four runs, or three with '--tunables none'.
    #[arg(long, value_name = "N", default_value_t = 7, allow_negative_numbers = true, value_parser = super::whole::<u32>(1..=1000))]
    pub runs: u32,
    /// Variant that serves a family: a name from 'carryline list', or 'libc' for the program's own [default:
    /// carryline].
    #[arg(long, value_name = "FAMILY=NAME", value_delimiter = ',')]
    pub variant: Vec<String>,
    /// Families to serve: zero, copy [default: both].
    #[arg(long, value_name = "FAMILY", value_delimiter = ',')]
    pub family: Vec<String>,
    /// Write the call sizes of one run, for --sizes histogram:FILE; zero=FILE or copy=FILE for one family.
    #[arg(long, value_name = "[FAMILY=]FILE")]
    pub record: Vec<String>,
    /// Also run the command without the interposer and with this value of GLIBC_TUNABLES, such as 'carryline tune
    /// --libc' prints, or 'none' for no such run [default: one by which glibc uses no 'rep movsb' and 'rep stosb'].
    #[arg(long, value_name = "NAME=VALUE:...", value_parser = super::text())]
    pub tunables: Option<String>,
    /// Compare exit statuses only, for commands that print times.
    #[arg(long)]
    pub ignore_output: bool,
    /// Path of the interposer [default: next to this program or in ../lib/carryline].
    #[arg(long, value_name = "PATH")]
    pub preload: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<std::ffi::OsString>,
}
