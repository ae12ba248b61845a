//! The calls that the interposer served, read from its page of counters.

use carryline_served::{Class, Function, Served as Layout, Snapshot};
use serde::Serialize;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

/// A page of counters for one run.
pub(super) struct Page {
    path: PathBuf,
}

impl Page {
    /// Creates an empty page in `folder`.
    pub(super) fn create(folder: &Path) -> io::Result<Page> {
        let path = folder.join("served");
        let header: Vec<u8> = Layout::HEADER.iter().flat_map(|word| word.to_ne_bytes()).collect();
        std::fs::write(&path, header)?;
        std::fs::OpenOptions::new().write(true).open(&path)?.set_len(Layout::FILE_BYTES as u64)?;
        Ok(Page { path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the counters.
    pub(super) fn read(&self) -> io::Result<Served> {
        let bytes = std::fs::read(&self.path)?;
        let snapshot = Snapshot::new(&bytes).map_err(io::Error::other)?;
        let rows: Vec<ServedRow> =
            Function::ALL.into_iter().map(|function| ServedRow::of(&snapshot, function)).collect();
        Ok(Served {
            processes: snapshot.processes(),
            calls: rows.iter().map(|row| row.calls).sum(),
            bytes: rows.iter().map(|row| row.bytes).sum(),
            rows: rows.into_iter().filter(|row| row.calls > 0).collect(),
        })
    }
}

/// The calls that the interposer served in one run of the command.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Served {
    /// The number of programs that loaded it.
    pub processes: u64,
    /// The calls of all functions.
    pub calls: u64,
    /// The bytes of these calls.
    pub bytes: u64,
    /// The functions that were called.
    pub rows: Vec<ServedRow>,
}

/// The calls of one function.
#[derive(Clone, Debug, Serialize)]
pub struct ServedRow {
    /// The function's name.
    pub function: &'static str,
    /// The number of calls.
    pub calls: u64,
    /// The bytes of all calls.
    pub bytes: u64,
    /// Calls whose source and destination overlap.
    pub overlapping: u64,
    /// The calls by size; up to 4096 bytes, each size is a class.
    pub classes: Vec<Size>,
    #[serde(skip)]
    kind: Function,
}

/// The calls of one size class.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Size {
    /// The smallest size of the class.
    pub from_bytes: u64,
    /// The largest size of the class.
    pub to_bytes: u64,
    /// The number of calls.
    pub calls: u64,
    /// The bytes of these calls.
    pub bytes: u64,
}

impl ServedRow {
    fn of(snapshot: &Snapshot<'_>, function: Function) -> ServedRow {
        let size = |class: Class| {
            let Class { from_bytes, to_bytes, calls, bytes } = class;
            Size { from_bytes, to_bytes, calls, bytes }
        };
        let classes: Vec<Size> = snapshot.classes(function).map(size).collect();
        ServedRow {
            function: function.name(),
            calls: classes.iter().map(|class| class.calls).sum(),
            bytes: classes.iter().map(|class| class.bytes).sum(),
            overlapping: snapshot.overlapping(function),
            classes,
            kind: function,
        }
    }

    /// True if ISO C forbids the function's buffers to overlap.
    pub fn must_not_overlap(&self) -> bool {
        matches!(self.kind, Function::Memcpy | Function::Mempcpy)
    }

    /// The number of calls with sizes in `sizes`. A class counts by its mean size.
    pub fn calls_within(&self, sizes: std::ops::RangeInclusive<u64>) -> u64 {
        self.classes.iter().filter(|class| sizes.contains(&class.mean_bytes())).map(|class| class.calls).sum()
    }
}

impl Size {
    fn mean_bytes(&self) -> u64 {
        (self.bytes / self.calls.max(1)).clamp(self.from_bytes, self.to_bytes)
    }
}

/// The calls included in a histogram file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// All.
    All,
    /// Those that fill with zero bytes.
    Zero,
    /// Those that copy.
    Copy,
}

impl Served {
    /// A histogram in the format that `--sizes histogram:FILE` reads; `None` if there were no calls.
    pub fn histogram(&self, which: Which, command: &str) -> Option<String> {
        let wanted = |row: &&ServedRow| match which {
            Which::All => true,
            Which::Zero => row.kind.zeroes(),
            Which::Copy => row.kind.copies(),
        };
        let mut sizes = std::collections::BTreeMap::new();
        for class in self.rows.iter().filter(wanted).flat_map(|row| &row.classes) {
            *sizes.entry(class.mean_bytes()).or_insert(0_u64) += class.calls;
        }
        if sizes.is_empty() {
            return None;
        }
        let which = match which {
            Which::All => "all functions",
            Which::Zero => "zeroing functions",
            Which::Copy => "copying functions",
        };
        let mut text = format!(
            "# {which} of one run of: {}\n# sizes above 4096 are means between powers of two\nsize,count\n",
            command.replace(['\n', '\r'], " ")
        );
        for (size, count) in sizes {
            let _ = writeln!(text, "{size},{count}");
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kind: Function, classes: &[(u64, u64, u64, u64)]) -> ServedRow {
        let size = |&(from_bytes, to_bytes, calls, bytes): &_| Size { from_bytes, to_bytes, calls, bytes };
        let classes: Vec<Size> = classes.iter().map(size).collect();
        let calls = classes.iter().map(|class| class.calls).sum();
        ServedRow { function: kind.name(), calls, bytes: 0, overlapping: 0, classes, kind }
    }

    #[test]
    fn a_histogram_holds_the_requested_family() {
        let served = Served {
            rows: vec![
                row(Function::Memcpy, &[(7, 7, 2, 14), (4097, 8192, 3, 15_000)]),
                row(Function::Bzero, &[(7, 7, 5, 35)]),
                row(Function::MemsetOther, &[(9, 9, 1, 9)]),
            ],
            ..Served::default()
        };
        let lines = |which| {
            let text = served.histogram(which, "a\nb").expect("calls");
            text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(lines(Which::Copy), ["size,count", "7,2", "5000,3"]);
        assert_eq!(lines(Which::Zero), ["size,count", "7,5"]);
        assert_eq!(lines(Which::All), ["size,count", "7,7", "9,1", "5000,3"]);
        assert_eq!(Served::default().histogram(Which::All, "x"), None);
    }

    #[test]
    fn a_fresh_page_is_readable_and_empty() {
        let folder = tempfile::tempdir().expect("a folder");
        let served = Page::create(folder.path()).expect("made").read().expect("read");
        assert_eq!((served.processes, served.calls, served.rows.len()), (0, 0, 0));
    }
}
