//! The page as shared between processes.

use crate::{CLASSES, EXACT_UP_TO_BYTES, Function, WIDE_CLASSES, class_of};
use core::sync::atomic::{AtomicU64, Ordering};

/// The calls of one function.
#[repr(C)]
pub struct FunctionRow {
    /// The number of calls by class.
    calls: [AtomicU64; CLASSES],
    /// The bytes of calls in classes that hold more than one size.
    wide_bytes: [AtomicU64; WIDE_CLASSES],
    /// The number of calls whose source and destination overlap.
    overlapping: AtomicU64,
}

/// The whole page. It consists of atomic integers only, so that any bytes are a valid value.
#[repr(C)]
pub struct Served {
    header: [AtomicU64; 2],
    processes: AtomicU64,
    rows: [FunctionRow; Function::ALL.len()],
}

impl Served {
    /// The size of the file in bytes.
    pub const FILE_BYTES: usize = size_of::<Served>();

    /// The first words of the file: a magic number, and the number of words as the version of the layout, in
    /// native byte order. All other words are zero.
    pub const HEADER: [u64; 2] = [u64::from_le_bytes(*b"crrysrvd"), (Served::FILE_BYTES / 8) as u64];

    /// True if the page has the header; otherwise it must not be used.
    #[must_use]
    pub fn is_one(&self) -> bool {
        self.header[0].load(Ordering::Relaxed) == Served::HEADER[0]
            && self.header[1].load(Ordering::Relaxed) == Served::HEADER[1]
    }

    /// Counts a process that maps the page.
    pub fn count_process(&self) {
        self.processes.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a call.
    pub fn count(&self, function: Function, size_bytes: usize, overlapping: bool) {
        let row = &self.rows[function as usize];
        let class = class_of(size_bytes);
        // The class always exists; `get` avoids a path to a panic in a function that signal handlers call.
        if let Some(calls) = row.calls.get(class) {
            calls.fetch_add(1, Ordering::Relaxed);
        }
        let wide = class.checked_sub(EXACT_UP_TO_BYTES + 1).and_then(|wide| row.wide_bytes.get(wide));
        if let Some(bytes) = wide {
            bytes.fetch_add(size_bytes as u64, Ordering::Relaxed);
        }
        if overlapping {
            row.overlapping.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The number of words before the first row.
pub(crate) const HEAD_WORDS: usize = 3;
/// The number of words in a row.
pub(crate) const ROW_WORDS: usize = size_of::<FunctionRow>() / 8;

const _: () = assert!(Served::FILE_BYTES / 8 == HEAD_WORDS + ROW_WORDS * Function::ALL.len());
