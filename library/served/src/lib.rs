//! The page of counters in which the interposer records its calls, and how to read it.
//!
//! `carryline real` creates a file of [`Served::FILE_BYTES`] bytes that begins with [`Served::HEADER`]. Every
//! process that loads the interposer maps it shared and counts with relaxed atomic additions, so nothing is
//! lost between threads and processes, and nothing is copied when they end. Reading the page is reading the
//! file.
//!
//! Sizes up to [`EXACT_UP_TO_BYTES`] are counted individually, larger ones in classes between powers of two,
//! with the sum of their bytes.
//!
//! Not for timing calls: an atomic addition costs more than a short copy, so timed runs do not count.
#![cfg_attr(not(test), no_std)]

mod page;
mod snapshot;

pub use page::{FunctionRow, Served};
pub use snapshot::{Class, Snapshot, Unreadable};

/// Sizes up to this are counted individually.
pub const EXACT_UP_TO_BYTES: usize = 4096;

/// The number of size classes: 0 to 4096 individually, then (4096, 8192], (8192, 16384] and so on to the end
/// of the address space.
pub const CLASSES: usize = EXACT_UP_TO_BYTES + 1 + WIDE_CLASSES;

/// The number of classes that hold more than one size.
pub const WIDE_CLASSES: usize = 64 - EXACT_UP_TO_BYTES.ilog2() as usize;

/// The class of a size.
///
/// ```
/// use carryline_served::{CLASSES, class_of};
/// assert_eq!([0, 1, 4096].map(class_of), [0, 1, 4096]);
/// assert_eq!([4097, 8192, 8193].map(class_of), [4097, 4097, 4098]);
/// assert_eq!(class_of(usize::MAX), CLASSES - 1);
/// ```
#[must_use]
pub const fn class_of(size_bytes: usize) -> usize {
    if size_bytes <= EXACT_UP_TO_BYTES {
        return size_bytes;
    }
    let doublings = (size_bytes - 1).ilog2() - EXACT_UP_TO_BYTES.ilog2();
    EXACT_UP_TO_BYTES + 1 + doublings as usize
}

/// A function that the interposer serves. Its checked form (`__memcpy_chk` and so on) counts as the same
/// function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Function {
    /// `memcpy`
    Memcpy,
    /// `memmove`
    Memmove,
    /// `mempcpy`
    Mempcpy,
    /// `bcopy`
    Bcopy,
    /// `memset` with the byte 0
    MemsetZero,
    /// `memset` with another byte
    MemsetOther,
    /// `bzero`
    Bzero,
    /// `explicit_bzero`
    ExplicitBzero,
}

impl Function {
    /// All functions, in the order of the page.
    pub const ALL: [Function; 8] = [
        Function::Memcpy,
        Function::Memmove,
        Function::Mempcpy,
        Function::Bcopy,
        Function::MemsetZero,
        Function::MemsetOther,
        Function::Bzero,
        Function::ExplicitBzero,
    ];

    /// The name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Function::Memcpy => "memcpy",
            Function::Memmove => "memmove",
            Function::Mempcpy => "mempcpy",
            Function::Bcopy => "bcopy",
            Function::MemsetZero => "memset_zero",
            Function::MemsetOther => "memset_other",
            Function::Bzero => "bzero",
            Function::ExplicitBzero => "explicit_bzero",
        }
    }

    /// True if the function copies; otherwise it fills.
    #[must_use]
    pub const fn copies(self) -> bool {
        matches!(self, Function::Memcpy | Function::Memmove | Function::Mempcpy | Function::Bcopy)
    }

    /// True if the function fills with zero bytes.
    #[must_use]
    pub const fn zeroes(self) -> bool {
        matches!(self, Function::MemsetZero | Function::Bzero | Function::ExplicitBzero)
    }
}
