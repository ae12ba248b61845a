//! The lines of a compiler's assembly source.

use std::io;

/// The language of an assembly source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    /// AT&T syntax, for x86-64.
    X86,
    /// Arm syntax.
    Aarch64,
}

impl Dialect {
    /// The beginning of a comment. In Arm syntax `#` begins numbers.
    fn comment(self) -> &'static str {
        match self {
            Dialect::X86 => "#",
            Dialect::Aarch64 => "//",
        }
    }
}

/// A line that is not empty, without comment and surrounding blanks.
#[derive(Clone, Copy)]
pub(super) enum Line<'t> {
    Label(&'t str),
    /// The name with its dot, and what follows.
    Directive(&'t str, &'t str),
    Instruction(&'t str),
}

/// The lines to keep.
pub(super) fn lines(text: &str, dialect: Dialect) -> Vec<Line<'_>> {
    let mut is_debug = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let line = without_comment(line, dialect.comment()).trim();
        let line = match line.strip_suffix(':') {
            _ if line.is_empty() => continue,
            Some(label) => Line::Label(unquoted(label)),
            None if line.starts_with('.') => {
                let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
                Line::Directive(name, arguments.trim())
            }
            None => Line::Instruction(line),
        };
        match line {
            Line::Directive(".section", arguments) => {
                let (name, _) = section_name(arguments);
                // The note on the stack is the same for all sources, and is added once.
                is_debug = name.starts_with(".debug") || name.starts_with(".note");
            }
            Line::Directive(".text", _) => is_debug = false,
            _ => {}
        }
        let is_note =
            matches!(line, Line::Directive(".file" | ".loc" | ".ident" | ".addrsig" | ".addrsig_sym", _));
        // Functions written in assembly are global, so that any of rustc's units finds them; here there is one.
        let is_of_rust = |name: &str| unquoted(name).starts_with("_ZN") || unquoted(name).starts_with("_R");
        let is_made_global = matches!(line, Line::Directive(".globl" | ".hidden", name) if is_of_rust(name));
        if !is_debug && !is_note && !is_made_global {
            lines.push(line);
        }
    }
    lines
}

/// The line up to the first unquoted comment sign.
fn without_comment<'t>(line: &'t str, sign: &str) -> &'t str {
    let (mut quoted, mut escaped) = (false, false);
    for (at, character) in line.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if !quoted && line[at..].starts_with(sign) => return &line[..at],
            _ => {}
        }
    }
    line
}

pub(super) fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

/// The name in a `.section`, and the rest, from the comma on.
pub(super) fn section_name(arguments: &str) -> (&str, &str) {
    let at = arguments.find(',').unwrap_or(arguments.len());
    (unquoted(arguments[..at].trim()), &arguments[at..])
}

/// The error for a source that contains anything unknown.
pub(super) fn unknown(what: &str) -> io::Error {
    io::Error::other(format!("unexpected `{what}` in the compiler's assembly source"))
}
