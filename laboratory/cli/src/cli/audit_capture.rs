//! The options of `carryline audit capture`.

use clap::Args;
use std::path::PathBuf;

/// The options.
#[derive(Args, Debug)]
#[command(after_help = "\
Verifies the checksums of IPv4 headers, TCP, UDP, ICMP and ICMPv6, on every usual link layer and in
tunnels. Fragments, packets truncated by the snap length, and headers with contradictory lengths are
counted but not verified. A checksum that the sender's network card had yet to compute when the
packet was captured is reported as an artefact of offload.

Exit status: 0 every file was read and no checksum is wrong, except for such artefacts; 2 a file
could not be read completely; 3 a checksum is wrong, or missing from UDP over IPv6.

Examples:
  carryline audit capture traffic.pcap
  carryline audit capture traffic.pcap --most 50 --format json
  carryline audit capture - < traffic.pcap")]
pub struct AuditCapture {
    /// Capture files; - is standard input.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Number of wrong checksums to list per file.
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = super::whole::<usize>(0..=u64::MAX))]
    pub most: usize,
}
