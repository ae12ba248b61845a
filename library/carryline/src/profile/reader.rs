//! Reads the lines of a profile: sections, keys and values in a strict subset of TOML.
//!
//! Everything is a `const fn`, so that built-in files are parsed at compile time; hence the loops over bytes
//! and the missing `?`.

use super::error::{Fault, ParseError};
use crate::word::Word;

/// A line with content.
#[derive(Clone, Copy)]
pub(super) enum Line<'a> {
    /// `[name]`.
    Section(&'a str),
    /// `key = value`.
    Entry { key: &'a str, value: Value<'a> },
}

/// A value and, for messages, its text in the file.
#[derive(Clone, Copy)]
pub(super) struct Value<'a> {
    pub(super) text: &'a str,
    pub(super) kind: ValueKind<'a>,
}

#[derive(Clone, Copy)]
pub(super) enum ValueKind<'a> {
    /// A number; [`u64::MAX`] stands for itself and all larger numbers.
    Number(u64),
    /// A string, without its quotation marks.
    String(&'a str),
    /// `[first, last]`.
    Pair(u64, u64),
}

/// Unwraps a result or returns its error: the `?` operator, which a `const fn` cannot use.
macro_rules! attempt {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Err(error),
        }
    };
}
pub(super) use attempt;

/// The rest of a file.
pub(super) struct Reader<'a> {
    rest: &'a str,
    /// The line number at the start of `rest`.
    pub(super) line: u32,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(text: &'a str) -> Reader<'a> {
        Reader { rest: text, line: 1 }
    }

    /// The next line with content, and its number; `None` at the end.
    pub(super) const fn next(&mut self) -> Result<Option<(u32, Line<'a>)>, ParseError> {
        loop {
            self.skip_blanks();
            if self.rest.is_empty() {
                return Ok(None);
            }
            let at = self.line;
            let line = match self.peek() {
                b'#' | b'\n' | b'\r' => None,
                b'[' => Some(Line::Section(attempt!(self.section()))),
                _ => {
                    let key = attempt!(self.key());
                    self.skip_blanks();
                    attempt!(self.expect(b'=', "'=' and a value"));
                    self.skip_blanks();
                    Some(Line::Entry { key, value: attempt!(self.value()) })
                }
            };
            attempt!(self.end_of_line());
            if let Some(line) = line {
                return Ok(Some((at, line)));
            }
        }
    }

    /// The next byte, or a line feed at the end.
    const fn peek(&self) -> u8 {
        if self.rest.is_empty() { b'\n' } else { self.rest.as_bytes()[0] }
    }

    /// Takes `bytes` bytes, which must end at a character boundary.
    const fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    const fn skip_blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t') {
            self.take(1);
        }
    }

    /// An error stating what is expected here.
    const fn expected(&self, expected_here: &'static str) -> ParseError {
        let bytes = self.rest.as_bytes();
        let mut len = 0;
        while len < bytes.len() && !bytes[len].is_ascii_whitespace() {
            len += 1;
        }
        let word = if len == 0 { "the end of the line" } else { self.rest.split_at(len).0 };
        ParseError { line: self.line, word: Word::new(word), fault: Fault::Expected(expected_here) }
    }

    const fn expect(&mut self, byte: u8, expected_here: &'static str) -> Result<(), ParseError> {
        if self.rest.is_empty() || self.peek() != byte {
            return Err(self.expected(expected_here));
        }
        self.take(1);
        Ok(())
    }

    /// Skips blanks, a comment and the end of the line.
    const fn end_of_line(&mut self) -> Result<(), ParseError> {
        self.skip_blanks();
        if self.peek() == b'#' {
            while self.peek() == b'\t' || !self.peek().is_ascii_control() {
                self.take_character();
            }
        }
        if self.peek() == b'\r' {
            self.take(1);
        }
        if self.rest.is_empty() {
            return Ok(());
        }
        attempt!(self.expect(b'\n', "a comment or the end of the line"));
        self.line += 1;
        Ok(())
    }

    /// Takes one UTF-8 character; there must be one.
    const fn take_character(&mut self) {
        let mut bytes = 1;
        while !self.rest.is_char_boundary(bytes) {
            bytes += 1;
        }
        self.take(bytes);
    }

    const fn section(&mut self) -> Result<&'a str, ParseError> {
        self.take(1);
        let name = attempt!(self.key());
        attempt!(self.expect(b']', "']'"));
        Ok(name)
    }

    const fn key(&mut self) -> Result<&'a str, ParseError> {
        let bytes = self.rest.as_bytes();
        let mut len = 0;
        while len < bytes.len() && (bytes[len].is_ascii_alphanumeric() || matches!(bytes[len], b'_' | b'-')) {
            len += 1;
        }
        if len == 0 {
            return Err(self.expected("a key, a [section] or a # comment"));
        }
        Ok(self.take(len))
    }

    const fn value(&mut self) -> Result<Value<'a>, ParseError> {
        let before = self.rest;
        let kind = match self.peek() {
            b'"' => ValueKind::String(attempt!(self.string())),
            b'[' => attempt!(self.pair()),
            b'0'..=b'9' => ValueKind::Number(attempt!(self.number())),
            _ => return Err(self.expected("a number, a quoted string or [first, last]")),
        };
        Ok(Value { text: before.split_at(before.len() - self.rest.len()).0, kind })
    }

    /// Digits with single underscores between them.
    const fn number(&mut self) -> Result<u64, ParseError> {
        const DIGITS: &str = "a number like 65536 or 65_536";
        let error = self.expected(DIGITS);
        if self.peek() == b'0' && matches!(self.rest.as_bytes(), [_, b'0'..=b'9' | b'_', ..]) {
            return Err(error);
        }
        let mut number: u64 = 0;
        loop {
            let digit = self.peek();
            if !digit.is_ascii_digit() {
                return Err(error);
            }
            number = number.saturating_mul(10).saturating_add((digit - b'0') as u64);
            self.take(1);
            match self.peek() {
                b'_' => self.take(1),
                b'0'..=b'9' => "",
                _ => return Ok(number),
            };
        }
    }

    const fn pair(&mut self) -> Result<ValueKind<'a>, ParseError> {
        self.take(1);
        self.skip_blanks();
        let first = attempt!(self.number());
        self.skip_blanks();
        attempt!(self.expect(b',', "',' and a second number"));
        self.skip_blanks();
        let last = attempt!(self.number());
        self.skip_blanks();
        attempt!(self.expect(b']', "']'"));
        Ok(ValueKind::Pair(first, last))
    }

    /// The contents of `"..."`, or of `"""..."""`, which may span lines.
    const fn string(&mut self) -> Result<&'a str, ParseError> {
        let is_multi_line = matches!(self.rest.as_bytes(), [_, b'"', b'"', ..]);
        self.take(if is_multi_line { 3 } else { 1 });
        if is_multi_line && matches!(self.rest.as_bytes(), [b'\r', b'\n', ..]) {
            self.take(1);
        }
        if is_multi_line && self.peek() == b'\n' && !self.rest.is_empty() {
            self.take(1);
            self.line += 1;
        }
        let before = self.rest;
        loop {
            match self.peek() {
                b'"' => break,
                b'\n' if is_multi_line && !self.rest.is_empty() => self.line += 1,
                b'\n' if is_multi_line => {
                    return Err(self.expected("three closing quotation marks"));
                }
                b'\n' => return Err(self.expected("a closing quotation mark")),
                b'\\' => return Err(self.expected("a string without backslashes")),
                b'\t' => {}
                byte if byte.is_ascii_control() => {
                    return Err(self.expected("a string without control characters"));
                }
                _ => {}
            }
            self.take_character();
        }
        let string = before.split_at(before.len() - self.rest.len()).0;
        if is_multi_line && !matches!(self.rest.as_bytes(), [b'"', b'"', b'"', ..]) {
            return Err(self.expected("three closing quotation marks, and none inside the string"));
        }
        self.take(if is_multi_line { 3 } else { 1 });
        Ok(string)
    }
}
