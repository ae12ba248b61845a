//! The page as processes share it.

use crate::{CLASSES, EXACT_UP_TO_BYTES, Function, WIDE_CLASSES, class_of};
use core::sync::atomic::{AtomicU64, Ordering};

/// What one function was called for.
#[repr(C)]
pub struct Row {
    /// Calls by class.
    calls: [AtomicU64; CLASSES],
    /// Bytes of the classes that hold more than one size.
    wide_bytes: [AtomicU64; WIDE_CLASSES],
    /// Calls whose source and destination overlap.
    overlapping: AtomicU64,
}

/// The whole page. It holds atomic integers alone, so that any bytes are a value of it.
#[repr(C)]
pub struct Served {
    header: [AtomicU64; 2],
    processes: AtomicU64,
    rows: [Row; Function::ALL.len()],
}

impl Served {
    /// The bytes of a file that holds a page.
    pub const FILE_BYTES: usize = size_of::<Served>();

    /// How such a file begins: a name, and the layout as the number of words in it, in native byte order. The rest is
    /// zero.
    pub const HEADER: [u64; 2] = [u64::from_le_bytes(*b"crrysrvd"), (Served::FILE_BYTES / 8) as u64];

    /// True if the page has the header: nothing else may be counted on.
    #[must_use]
    pub fn is_one(&self) -> bool {
        self.header[0].load(Ordering::Relaxed) == Served::HEADER[0]
            && self.header[1].load(Ordering::Relaxed) == Served::HEADER[1]
    }

    /// Notes that one more process has mapped the page.
    pub fn count_process(&self) {
        self.processes.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes a call.
    pub fn count(&self, function: Function, size_bytes: usize, overlapping: bool) {
        let row = &self.rows[function as usize];
        let class = class_of(size_bytes);
        // There always is such a class; asking leaves no path to a panic in a function that signal handlers call.
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

/// Words before the first row.
pub(crate) const HEAD_WORDS: usize = 3;
/// Words of a row.
pub(crate) const ROW_WORDS: usize = size_of::<Row>() / 8;

const _: () = assert!(Served::FILE_BYTES / 8 == HEAD_WORDS + ROW_WORDS * Function::ALL.len());
