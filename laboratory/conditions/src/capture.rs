//! Packet sizes of a capture file, so that a routine can be measured on a user's own traffic.
//!
//! What counts is the length that a transport checksum runs over: header and data of TCP, UDP, ICMP or ICMPv6,
//! the pseudo-header left out. Lengths come from the headers, so a capture that kept only the first bytes of each
//! packet serves as well as a whole one. Everything else is skipped and counted by reason ([`Skip`]).
//!
//! Files are read, and headers taken apart, by `carryline_packets`. What came before a fault in a file is not used: sizes of half a
//! capture are not the traffic's.

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

/// What a capture file holds, as far as sizes are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The file format.
    pub format: Format,
    /// Lengths in bytes with the number of packets that have them, ascending.
    pub sizes: Vec<(u64, u64)>,
    /// How many packets `sizes` counts.
    pub packets_used: u64,
    /// Why the others were not used, and how many each, in the order of [`Skip`].
    pub skipped: Vec<(Skip, u64)>,
    /// How long the file was.
    pub file_bytes: u64,
}

impl Capture {
    /// How many packets were not used.
    #[must_use]
    pub fn packets_skipped(&self) -> u64 {
        self.skipped.iter().map(|(_, count)| count).sum()
    }
}

/// A capture that cannot be used: which file, where in it, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}: byte {offset}: {fault}", file.display())]
pub struct CaptureError {
    /// As it was named.
    pub file: PathBuf,
    /// The byte at which the faulty record begins, or reading stopped.
    pub offset: u64,
    /// What is wrong.
    pub fault: Fault,
}

/// Reads a capture file, or a pipe that delivers one.
///
/// # Errors
/// [`CaptureError`] if it is not a capture, is damaged, or holds nothing usable.
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

/// What has been counted so far.
#[derive(Default)]
struct Tally {
    sizes: BTreeMap<u64, u64>,
    skipped: BTreeMap<Skip, u64>,
}

impl Sink for Tally {
    /// Counts a packet by what its headers say.
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

/// `3 not IP, 1 fragment`: the reasons in one line.
#[must_use]
pub fn skip_list(skipped: &[(Skip, u64)]) -> String {
    if skipped.is_empty() {
        return "it holds no packets".to_owned();
    }
    skipped.iter().map(|(why, count)| format!("{count} {why}")).collect::<Vec<_>>().join(", ")
}
