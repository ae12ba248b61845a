//! A sliding window over a file or a pipe with its offset, in which records are read in place.

use crate::file::{At, Fault};
use std::io::{ErrorKind, Read};

/// Larger than any usual record, and small enough to stay in the L2 cache between reading and summing.
const WINDOW_BYTES: usize = 256 << 10;

pub(crate) struct Stream<R> {
    reader: R,
    window: Vec<u8>,
    /// The bytes that have been read but not consumed: `window[from..to]`.
    from: usize,
    to: usize,
    /// The offset of `from` in the file.
    offset: u64,
}

impl<R: Read> Stream<R> {
    pub(crate) fn new(reader: R) -> Stream<R> {
        Stream { reader, window: vec![0; WINDOW_BYTES], from: 0, to: 0, offset: 0 }
    }

    /// The number of consumed bytes.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The next `count` bytes without consuming them; `None` if the file ends before. Callers limit `count`.
    /// The window grows with the bytes that arrive, not with `count`, and never beyond twice the largest
    /// `count`.
    #[inline]
    pub(crate) fn peek(&mut self, count: usize) -> Result<Option<&[u8]>, At> {
        if self.to - self.from < count && !self.fill(count)? {
            return Ok(None);
        }
        Ok(Some(&self.window[self.from..self.from + count]))
    }

    /// The bytes not yet consumed; after `peek` returned `None`, all up to the end of the file.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.window[self.from..self.to]
    }

    /// Consumes `count` bytes that `peek` has returned, or fewer if there are fewer.
    #[inline]
    pub(crate) fn take(&mut self, count: usize) {
        let count = count.min(self.to - self.from);
        self.from += count;
        self.offset += count as u64;
    }

    /// Skips `count` bytes; false if the file ends before.
    pub(crate) fn skip(&mut self, count: u64) -> Result<bool, At> {
        let mut left = count;
        while left > 0 {
            if self.from == self.to && !self.fill(1)? {
                return Ok(false);
            }
            let step = left.min((self.to - self.from) as u64);
            self.take(step as usize);
            left -= step;
        }
        Ok(true)
    }

    /// Reads until `count` bytes are available; false if the file ends before.
    #[cold]
    #[inline(never)]
    fn fill(&mut self, count: usize) -> Result<bool, At> {
        self.window.copy_within(self.from..self.to, 0);
        self.to -= self.from;
        self.from = 0;
        while self.to < count {
            if self.to == self.window.len() {
                self.window.resize(2 * self.window.len(), 0);
            }
            match self.reader.read(&mut self.window[self.to..]) {
                Ok(0) => return Ok(false),
                Ok(got) => self.to += got,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err((self.offset + self.to as u64, Fault::Read(error))),
            }
        }
        Ok(true)
    }
}
