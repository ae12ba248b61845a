//! Bytes of a file or a pipe, with their offset, in bounded steps.

use super::{At, Fault};
use std::io::{BufReader, ErrorKind, Read};

pub(super) struct Stream<R> {
    reader: BufReader<R>,
    offset: u64,
}

impl<R: Read> Stream<R> {
    pub(super) fn new(reader: R) -> Stream<R> {
        Stream { reader: BufReader::with_capacity(1 << 16, reader), offset: 0 }
    }

    /// How many bytes have been taken.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Appends `count` bytes to `buffer`; false if the file ended before that, with what there was appended.
    /// Callers bound `count`: the buffer grows with what arrives, not with what was promised.
    pub(super) fn append(&mut self, buffer: &mut Vec<u8>, count: usize) -> Result<bool, At> {
        let before = buffer.len();
        match self.reader.by_ref().take(count as u64).read_to_end(buffer) {
            Ok(got) => {
                self.offset += got as u64;
                Ok(got == count)
            }
            Err(error) => Err((self.offset + (buffer.len() - before) as u64, Fault::Read(error))),
        }
    }

    /// Steps over `count` bytes; false if the file ended before that.
    pub(super) fn skip(&mut self, count: u64) -> Result<bool, At> {
        let mut left = count;
        let mut waste = [0_u8; 4096];
        while left > 0 {
            let most = left.min(waste.len() as u64) as usize;
            match self.reader.read(&mut waste[..most]) {
                Ok(0) => return Ok(false),
                Ok(got) => {
                    self.offset += got as u64;
                    left -= got as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err((self.offset, Fault::Read(error))),
            }
        }
        Ok(true)
    }
}
