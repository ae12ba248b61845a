//! Reads the packet sizes of a capture file, so that routines can be measured on a user's own traffic.
//!
//! The size of a packet is the length covered by its transport checksum: header and data of TCP, UDP, ICMP or
//! ICMPv6, without the pseudo-header. It comes from the headers, so captures that kept only the first bytes
//! of each packet are sufficient. Other packets are skipped and counted by reason ([`Skip`]).
//!
//! `carryline_packets` reads files and parses headers. If a file is damaged, none of it is used, because half
//! of a capture does not represent the traffic.

mod packet;
#[cfg(test)]
mod test_files;
#[cfg(test)]
mod test_packets;

pub use carryline_packets::Skip;
use carryline_packets::file::{self, Sink};
pub use carryline_packets::file::{Fault, Format};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The sizes in a capture file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The file format.
    pub format: Format,
    /// Lengths in bytes with the number of packets of that length, in ascending order.
    pub sizes: Vec<(u64, u64)>,
    /// The number of packets in `sizes`.
    pub packets_used: u64,
    /// The number of packets skipped for each reason, in the order of [`Skip`].
    pub skipped: Vec<(Skip, u64)>,
    /// The length of the file in bytes.
    pub file_bytes: u64,
}

impl Capture {
    /// The number of packets skipped.
    #[must_use]
    pub fn packets_skipped(&self) -> u64 {
        self.skipped.iter().map(|(_, count)| count).sum()
    }
}

/// A capture that cannot be used: the file, the position and the reason.
#[derive(Debug, thiserror::Error)]
#[error("{}: byte {offset}: {fault}", file.display())]
pub struct CaptureError {
    /// The file as it was named.
    pub file: PathBuf,
    /// The byte offset of the damaged record, or where reading stopped.
    pub offset: u64,
    /// The reason.
    pub fault: Fault,
}

/// Reads a capture from a file or a pipe.
///
/// # Errors
/// [`CaptureError`] if it is not a capture, is damaged, or holds no usable packet.
pub fn read(path: impl AsRef<Path>) -> Result<Capture, CaptureError> {
    let path = path.as_ref();
    match File::open(path) {
        Ok(file) => read_from(file, path),
        Err(error) => Err(CaptureError { file: path.to_owned(), offset: 0, fault: Fault::Open(error) }),
    }
}

/// Reads a capture from a byte stream; `name` is for messages.
///
/// # Errors
/// As [`read`].
pub fn read_from(reader: impl Read, name: impl AsRef<Path>) -> Result<Capture, CaptureError> {
    let mut tally = Tally::default();
    let fault = |offset, fault| CaptureError { file: name.as_ref().to_owned(), offset, fault };
    let whole = file::read(reader, &mut tally).map_err(|error| fault(error.offset, error.fault))?;
    tally.finish(whole).map_err(|nothing| fault(whole.file_bytes, nothing))
}

/// The counts so far.
#[derive(Default)]
struct Tally {
    sizes: BTreeMap<u64, u64>,
    skipped: BTreeMap<Skip, u64>,
}

impl Sink for Tally {
    /// Counts a packet by its headers.
    fn packet(&mut self, link: u32, captured: &[u8], original_bytes: u64) {
        match packet::checksummed_bytes(link, captured, original_bytes) {
            Ok(size) => *self.sizes.entry(size).or_insert(0) += 1,
            Err(why) => self.skip(why),
        }
    }

    fn skip(&mut self, why: Skip) {
        *self.skipped.entry(why).or_insert(0) += 1;
    }
}

impl Tally {
    fn finish(self, whole: file::Whole) -> Result<Capture, Fault> {
        let packets_used = self.sizes.values().sum();
        let skipped: Vec<(Skip, u64)> = self.skipped.into_iter().collect();
        if packets_used == 0 {
            return Err(Fault::NothingUsable(skip_list(&skipped)));
        }
        let sizes = self.sizes.into_iter().collect();
        Ok(Capture { format: whole.format, sizes, packets_used, skipped, file_bytes: whole.file_bytes })
    }
}

/// The reasons on one line: `3 not IP, 1 fragment`.
#[must_use]
pub fn skip_list(skipped: &[(Skip, u64)]) -> String {
    if skipped.is_empty() {
        return "it holds no packets".to_owned();
    }
    skipped.iter().map(|(why, count)| format!("{count} {why}")).collect::<Vec<_>>().join(", ")
}
