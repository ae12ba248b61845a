//! Compares the outputs and exit statuses of the runs.

use super::child::Exit;
use super::{STDERR, STDOUT};
use carryline_report::text::safe;
use serde::Serialize;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// The outputs of the first run, with which later runs are compared.
pub struct Outputs {
    folder: PathBuf,
    compare_output: bool,
    exit: Option<Exit>,
    error_differs: bool,
}

/// A difference between two runs that should be identical.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// True if the run that differs from the first had the interposer.
    pub interposed: bool,
    /// True if runs without the interposer differ too: then the difference says nothing about the interposer.
    pub differs_by_itself: bool,
    /// The difference.
    pub what: Difference,
}

/// A difference between two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// The exit.
    Exit {
        /// The exit of the first run.
        expected: Exit,
        /// The exit of this run.
        found: Exit,
    },
    /// Standard output.
    Output(Mismatch),
}

/// The first difference between two outputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// The number of equal bytes before it.
    pub byte: u64,
    /// The number of its line, from 1.
    pub line: u64,
    /// The rest of the line in the first output, as far as it is shown; empty at its end.
    pub expected: String,
    /// The same in the other output.
    pub found: String,
}

impl Outputs {
    /// Compares the outputs that runs leave in `folder`.
    pub fn new(folder: &Path, compare_output: bool) -> Outputs {
        Outputs { folder: folder.to_owned(), compare_output, exit: None, error_differs: false }
    }

    /// Keeps the outputs of the first run.
    pub fn keep(&mut self, exit: Exit) -> io::Result<()> {
        for name in [STDOUT, STDERR] {
            fs::rename(self.folder.join(name), self.first(name))?;
        }
        self.exit = Some(exit);
        Ok(())
    }

    /// Compares the outputs of a later run.
    pub fn compare(&mut self, exit: Exit, interposed: bool) -> io::Result<Option<Disagreement>> {
        // Standard error only leads to a remark. After its first difference it is not read again.
        self.error_differs = self.error_differs || self.difference(STDERR)?.is_some();
        let what = match self.exit {
            Some(expected) if expected != exit => Some(Difference::Exit { expected, found: exit }),
            _ if self.compare_output => self.difference(STDOUT)?.map(Difference::Output),
            _ => None,
        };
        let differs_by_itself = !interposed;
        Ok(what.map(|what| Disagreement { interposed, differs_by_itself, what }))
    }

    /// True if standard error differed.
    pub fn error_differs(&self) -> bool {
        self.error_differs
    }

    fn difference(&self, name: &str) -> io::Result<Option<Mismatch>> {
        first_difference(&self.first(name), &self.folder.join(name))
    }

    fn first(&self, name: &str) -> PathBuf {
        self.folder.join(format!("first-{name}"))
    }
}

/// The most bytes of a line shown.
const SHOWN_BYTES: usize = 100;

/// The first difference between two files, if there is one.
fn first_difference(expected: &Path, found: &Path) -> io::Result<Option<Mismatch>> {
    let mut readers = [BufReader::new(File::open(expected)?), BufReader::new(File::open(found)?)];
    let (mut byte, mut line, mut line_begin) = (0_u64, 1_u64, 0_u64);
    loop {
        let [a, b] = &mut readers;
        let (left, right) = (a.fill_buf()?, b.fill_buf()?);
        let common = left.iter().zip(right).take_while(|(a, b)| a == b).count();
        for (index, _) in left[..common].iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            line += 1;
            line_begin = byte + index as u64 + 1;
        }
        let ended = left.is_empty() && right.is_empty();
        let parted = common < left.len().min(right.len()) || left.is_empty() != right.is_empty();
        byte += common as u64;
        if parted {
            let shown_from = line_begin.max(byte.saturating_sub(SHOWN_BYTES as u64 / 2));
            let shown = |path: &Path| shown_line(path, shown_from);
            return Ok(Some(Mismatch { byte, line, expected: shown(expected)?, found: shown(found)? }));
        }
        if ended {
            return Ok(None);
        }
        a.consume(common);
        b.consume(common);
    }
}

/// The rest of the line from `from`, with control characters escaped.
fn shown_line(path: &Path, from: u64) -> io::Result<String> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(SHOWN_BYTES as u64).read_to_end(&mut bytes)?;
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(safe(&String::from_utf8_lossy(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(expected: &[u8], found: &[u8]) -> Option<Mismatch> {
        let folder = tempfile::tempdir().expect("a folder");
        let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
        fs::write(&a, expected).expect("a file");
        fs::write(&b, found).expect("a file");
        first_difference(&a, &b).expect("readable")
    }

    #[test]
    fn the_first_difference_is_found_with_its_line() {
        assert_eq!(difference(b"", b""), None);
        assert_eq!(difference(b"same\nsame", b"same\nsame"), None);
        let place = |byte, line, expected: &str, found: &str| {
            Some(Mismatch { byte, line, expected: expected.to_owned(), found: found.to_owned() })
        };
        assert_eq!(difference(b"one\ntwo\n", b"one\ntwi\nx"), place(6, 2, "two", "twi"));
        assert_eq!(difference(b"one\n", b"one\nmore\n"), place(4, 2, "", "more"));
        assert_eq!(difference(b"one", b""), place(0, 1, "one", ""));
        assert_eq!(difference(b"a\x1b[2J\n", b"a\x1b[3J\n"), place(3, 1, "a\\u{1b}[2J", "a\\u{1b}[3J"));
    }

    #[test]
    fn a_difference_far_behind_is_found_across_buffers() {
        let mut expected = b"0123456789\n".repeat(5000);
        let mut found = expected.clone();
        found[50_007] = b'x';
        let place = difference(&expected, &found).expect("they differ");
        assert_eq!((place.byte, place.line), (50_007, 4547));
        expected.truncate(40_000);
        let place = difference(&expected, &found).expect("one is shorter");
        assert_eq!((place.byte, place.expected.is_empty()), (40_000, false));
    }

    #[test]
    fn exits_count_before_outputs() {
        let folder = tempfile::tempdir().expect("a folder");
        let leave = |out: &str, err: &str| {
            fs::write(folder.path().join(STDOUT), out).expect("a file");
            fs::write(folder.path().join(STDERR), err).expect("a file");
        };
        let mut outputs = Outputs::new(folder.path(), true);
        leave("x", "1 s");
        outputs.keep(Exit::Status(1)).expect("kept");
        leave("x", "1 s");
        assert_eq!(outputs.compare(Exit::Status(1), true).expect("compared"), None);
        assert!(!outputs.error_differs());
        leave("y", "2 s");
        let found = outputs.compare(Exit::Signal(11), true).expect("compared").expect("differs");
        assert!(matches!(found.what, Difference::Exit { .. }) && found.interposed && outputs.error_differs());
        let found = outputs.compare(Exit::Status(1), false).expect("compared").expect("differs");
        assert!(matches!(found.what, Difference::Output(_)) && found.differs_by_itself);
        outputs.compare_output = false;
        assert_eq!(outputs.compare(Exit::Status(1), true).expect("compared"), None);
    }
}
