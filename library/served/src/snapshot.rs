//! Reads a page.

use crate::page::{HEAD_WORDS, ROW_WORDS};
use crate::{CLASSES, EXACT_UP_TO_BYTES, Function, Served, WIDE_CLASSES};
use core::fmt;

/// The bytes of a page's file at the time of reading.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    bytes: &'a [u8],
}

/// The calls of one function with sizes of one class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Class {
    /// The smallest size of the class, in bytes.
    pub from_bytes: u64,
    /// The largest size of the class, in bytes.
    pub to_bytes: u64,
    /// The number of calls.
    pub calls: u64,
    /// The bytes of these calls.
    pub bytes: u64,
}

/// The bytes are not a page of this version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unreadable;

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a page of counters of this version of the interposer")
    }
}

impl core::error::Error for Unreadable {}

impl<'a> Snapshot<'a> {
    /// Checks the bytes of a file.
    ///
    /// # Errors
    /// Fails if the size or the header is wrong.
    pub fn new(bytes: &'a [u8]) -> Result<Snapshot<'a>, Unreadable> {
        let snapshot = Snapshot { bytes };
        let right =
            bytes.len() == Served::FILE_BYTES && [snapshot.word(0), snapshot.word(1)] == Served::HEADER;
        if right { Ok(snapshot) } else { Err(Unreadable) }
    }

    /// The number of processes that have mapped the page.
    #[must_use]
    pub fn processes(&self) -> u64 {
        self.word(2)
    }

    /// The number of calls whose source and destination overlap.
    #[must_use]
    pub fn overlapping(&self, function: Function) -> u64 {
        self.word(row(function) + CLASSES + WIDE_CLASSES)
    }

    /// The classes with calls of a function, in ascending order of size.
    pub fn classes(&self, function: Function) -> impl Iterator<Item = Class> + use<'a> {
        let (snapshot, row) = (*self, row(function));
        (0..CLASSES).filter_map(move |class| {
            let calls = snapshot.word(row + class);
            if calls == 0 {
                return None;
            }
            let wide = class.checked_sub(EXACT_UP_TO_BYTES + 1);
            let Some(wide) = wide else {
                let size = class as u64;
                return Some(Class { from_bytes: size, to_bytes: size, calls, bytes: size * calls });
            };
            let below = (EXACT_UP_TO_BYTES as u64) << wide;
            let to_bytes = below.saturating_mul(2);
            let bytes = snapshot.word(row + CLASSES + wide);
            Some(Class { from_bytes: below + 1, to_bytes, calls, bytes })
        })
    }

    fn word(&self, index: usize) -> u64 {
        let bytes = self.bytes.get(index * 8..).and_then(|rest| rest.first_chunk::<8>());
        bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
    }
}

fn row(function: Function) -> usize {
    HEAD_WORDS + function as usize * ROW_WORDS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_of;
    use core::sync::atomic::{AtomicU64, Ordering};

    /// The words of an empty page.
    fn page() -> Vec<AtomicU64> {
        let words = Served::HEADER.into_iter().chain(core::iter::repeat(0));
        words.take(Served::FILE_BYTES / 8).map(AtomicU64::new).collect()
    }

    fn served(words: &[AtomicU64]) -> &Served {
        assert_eq!(size_of_val(words), Served::FILE_BYTES);
        // SAFETY: the words are as many as the page has, of the only type that it consists of.
        unsafe { &*words.as_ptr().cast::<Served>() }
    }

    fn bytes(words: &[AtomicU64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_ne_bytes()).collect()
    }

    #[test]
    fn counts_are_read_back() {
        let words = page();
        let page = served(&words);
        assert!(page.is_one());
        page.count_process();
        for size in [0, 7, 7, 4096, 4097, 8192, 1 << 20, usize::MAX / 2] {
            page.count(Function::Bcopy, size, size == 7);
        }
        page.count(Function::ExplicitBzero, 3, false);
        let bytes = bytes(&words);
        let snapshot = Snapshot::new(&bytes).expect("a page");
        assert_eq!(snapshot.processes(), 1);
        assert_eq!(snapshot.overlapping(Function::Bcopy), 2);
        assert_eq!(snapshot.overlapping(Function::ExplicitBzero), 0);
        let classes: Vec<Class> = snapshot.classes(Function::Bcopy).collect();
        let class = |from_bytes, to_bytes, calls, bytes| Class { from_bytes, to_bytes, calls, bytes };
        let half = u64::MAX / 2;
        assert_eq!(
            classes,
            [
                class(0, 0, 1, 0),
                class(7, 7, 2, 14),
                class(4096, 4096, 1, 4096),
                class(4097, 8192, 2, 4097 + 8192),
                class((1 << 19) + 1, 1 << 20, 1, 1 << 20),
                class((1 << 62) + 1, 1 << 63, 1, half),
            ]
        );
        assert_eq!(snapshot.classes(Function::ExplicitBzero).map(|class| class.bytes).sum::<u64>(), 3);
        assert_eq!(snapshot.classes(Function::Memcpy).count(), 0);
    }

    #[test]
    fn every_size_is_within_its_class() {
        let sizes = (0..5)
            .chain(4090..4100)
            .chain((13..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1]));
        for size in sizes.chain([usize::MAX]) {
            let words = page();
            served(&words).count(Function::Memcpy, size, false);
            let bytes = bytes(&words);
            let class = Snapshot::new(&bytes).expect("a page").classes(Function::Memcpy).next().expect("one");
            assert!((class.from_bytes..=class.to_bytes).contains(&(size as u64)), "{size}: {class:?}");
            assert!(class_of(size) < CLASSES);
            if size > 5000 {
                continue;
            }
            assert_eq!(class.bytes, size as u64);
        }
    }

    #[test]
    fn other_bytes_are_rejected() {
        assert!(Snapshot::new(&[]).is_err());
        assert!(Snapshot::new(&vec![0; Served::FILE_BYTES]).is_err());
        let mut bytes = bytes(&page());
        assert!(Snapshot::new(&bytes[1..]).is_err());
        bytes[8] ^= 1;
        assert!(Snapshot::new(&bytes).is_err());
    }
}
