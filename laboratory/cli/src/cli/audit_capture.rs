//! The options of `carryline audit capture`.

use clap::Args;
use std::path::PathBuf;

/// The options.
#[derive(Args, Debug)]
#[command(after_help = "\
Verified are the checksums of IPv4 headers, TCP, UDP, ICMP and ICMPv6, on every usual link layer and in
tunnels. Fragments, packets that the snap length cut, and headers whose lengths contradict each other
are counted, not judged. A checksum that the sender's network card was still to compute when the packet
was captured is an artefact, and said to be one.

Exit status: 0 every file was read and no checksum is wrong but for such artefacts; 2 a file could not
be read, or not to its end; 3 a checksum is wrong, or missing from UDP over IPv6.

Examples:
  carryline audit capture traffic.pcap
  carryline audit capture traffic.pcap --most 50 --format json
  carryline audit capture - < traffic.pcap")]
pub struct AuditCapture {
    /// Capture files; - is standard input.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Wrong checksums to list for each file.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub most: usize,
}
