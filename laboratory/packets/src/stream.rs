//! Bytes of a file or a pipe, with their offset: a window that moves along, so that records are read where they arrive.

use crate::file::{At, Fault};
use std::io::{ErrorKind, Read};

/// Larger than any usual record, and small enough to stay in a cache of the second level between reading and summing.
const WINDOW_BYTES: usize = 256 << 10;

pub(crate) struct Stream<R> {
    reader: R,
    window: Vec<u8>,
    /// What has arrived and has not been taken: `window[from..to]`.
    from: usize,
    to: usize,
    /// Of `from`, in the file.
    offset: u64,
}

impl<R: Read> Stream<R> {
    pub(crate) fn new(reader: R) -> Stream<R> {
        Stream { reader, window: vec![0; WINDOW_BYTES], from: 0, to: 0, offset: 0 }
    }

    /// How many bytes have been taken.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The next `count` bytes, which stay; `None` if the file ends before that. Callers bound `count`: the window grows with what
    /// arrives, not with what was promised, and never beyond twice the largest `count`.
    #[inline]
    pub(crate) fn peek(&mut self, count: usize) -> Result<Option<&[u8]>, At> {
        if self.to - self.from < count && !self.fill(count)? {
            return Ok(None);
        }
        Ok(Some(&self.window[self.from..self.from + count]))
    }

    /// What has arrived: after a `peek` that answered `None`, everything up to the file's end.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.window[self.from..self.to]
    }

    /// Takes `count` bytes that a `peek` has shown, or what is there if it is less.
    #[inline]
    pub(crate) fn take(&mut self, count: usize) {
        let count = count.min(self.to - self.from);
        self.from += count;
        self.offset += count as u64;
    }

    /// Steps over `count` bytes; false if the file ended before that.
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

    /// Reads until `count` bytes are there; false if the file ends before that.
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
