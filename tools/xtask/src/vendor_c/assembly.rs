//! Prepares a compiler's assembly source for other people's assemblers: removes debugging information,
//! changes names to those that C and old assemblers accept, and adds the prefix to exported names.

use super::names;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
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

/// A cleaned source.
pub(super) struct Cleaned {
    pub(super) text: String,
    /// The exported names.
    pub(super) exported: Vec<String>,
}

/// A line that is not empty, without comment and surrounding blanks.
#[derive(Clone, Copy)]
enum Line<'t> {
    Label(&'t str),
    /// The name with its dot, and what follows.
    Directive(&'t str, &'t str),
    Instruction(&'t str),
}

/// Cleans the source `text`.
///
/// # Errors
/// If it contains anything that this module does not know.
pub(super) fn clean(text: &str, dialect: Dialect, prefix: &str) -> io::Result<Cleaned> {
    let lines = lines(text, dialect);
    let names = Names::of(&lines, prefix)?;
    let mut out = String::new();
    for line in &lines {
        match *line {
            Line::Label(label) => names.write_label(&mut out, label),
            Line::Directive(".section", arguments) => {
                let (name, rest) = section_name(arguments);
                let _ = writeln!(
                    out,
                    "\n\t.section\t{}{}",
                    names.of_section(name),
                    names.replace(rest, Symbols::Here)
                );
            }
            Line::Directive(name @ (".ascii" | ".asciz"), text) => write_string(&mut out, name, text)?,
            Line::Directive(name @ (".globl" | ".type" | ".size"), arguments) => {
                let _ = writeln!(out, "\t{name}\t{}", names.replace(arguments, Symbols::Exported));
            }
            Line::Directive(name, arguments) => {
                let _ = writeln!(
                    out,
                    "{}",
                    format!("\t{name}\t{}", names.replace(arguments, Symbols::Here)).trim_end()
                );
            }
            Line::Instruction(text) => {
                let _ = writeln!(out, "\t{}", names.replace(text, Symbols::Here));
            }
        }
    }
    Ok(Cleaned { text: out, exported: names.exported })
}

fn unknown(what: &str) -> io::Error {
    io::Error::other(format!("unexpected `{what}` in the compiler's assembly source"))
}

/// The lines to keep.
fn lines(text: &str, dialect: Dialect) -> Vec<Line<'_>> {
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
        if !is_debug && !is_note {
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

fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

/// The name in a `.section`, and the rest, from the comma on.
fn section_name(arguments: &str) -> (&str, &str) {
    let at = arguments.find(',').unwrap_or(arguments.len());
    (unquoted(arguments[..at].trim()), &arguments[at..])
}

/// The maximum number of characters of a string per line.
const STRING_WIDTH: usize = 96;

/// Writes a string in pieces without splitting escapes.
fn write_string(out: &mut String, name: &str, text: &str) -> io::Result<()> {
    let inside = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let mut rest = inside.ok_or_else(|| unknown(&format!("{name} {text}")))?;
    while rest.len() > STRING_WIDTH {
        let mut at = 0;
        while at < STRING_WIDTH {
            let behind = &rest.as_bytes()[at..];
            at += match behind {
                [b'\\', digits @ ..] => {
                    1 + digits.iter().take(3).take_while(|digit| digit.is_ascii_digit()).count().max(1)
                }
                _ => 1,
            };
        }
        let (piece, behind) = rest.split_at_checked(at).ok_or_else(|| unknown(text))?;
        let _ = writeln!(out, "\t.ascii\t\"{piece}\"");
        rest = behind;
    }
    let _ = writeln!(out, "\t{name}\t\"{rest}\"");
    Ok(())
}

/// The label that an exported name refers to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Symbols {
    /// The one visible to other objects.
    Exported,
    /// The local one at the same address.
    Here,
}

/// The symbol names of the cleaned source.
struct Names<'t> {
    /// The new name of every label in the compiler's source.
    new: HashMap<&'t str, String>,
    /// Labels used only by debugging information.
    unused: HashSet<&'t str>,
    /// Exported names that the source itself refers to, by a local label: a shared library's function may be
    /// replaced by another one of the same name, whose distance is unknown here.
    called_here: HashSet<&'t str>,
    exported: Vec<String>,
}

impl<'t> Names<'t> {
    fn of(lines: &[Line<'t>], prefix: &str) -> io::Result<Names<'t>> {
        let global = lines.iter().filter_map(|line| match line {
            Line::Directive(".globl", name) => Some(unquoted(name)),
            _ => None,
        });
        let global: HashSet<&str> = global.collect();
        let (mut new, mut taken, mut constants) = (HashMap::new(), HashSet::new(), 0_usize);
        let mut exported = Vec::new();
        for line in lines {
            let Line::Label(label) = *line else { continue };
            let name = if global.contains(label) {
                if !label.starts_with("carryline_") {
                    return Err(unknown(&format!(".globl {label}")));
                }
                exported.push(names::with_prefix(label, prefix));
                names::with_prefix(label, prefix)
            } else if [".LBB", ".LCPI", ".LJTI", ".Lfunc_", ".Ltmp"]
                .iter()
                .any(|kind| label.starts_with(kind))
            {
                label.to_owned()
            } else if label.starts_with(".L") {
                constants += 1;
                format!(".Lconstant_{constants}")
            } else {
                let base = names::of_rust(label);
                let same = (2..).map(|number| format!("{base}_{number}"));
                let mut free = std::iter::once(base.clone()).chain(same);
                free.find(|name| !taken.contains(name)).unwrap_or(base)
            };
            if !taken.insert(name.clone()) {
                return Err(unknown(&format!("{label}: twice")));
            }
            new.insert(label, name);
        }
        let mut names = Names { new, unused: HashSet::new(), called_here: HashSet::new(), exported };
        let mut used: HashSet<&str> = HashSet::new();
        for line in lines {
            let (Line::Directive(_, text) | Line::Instruction(text)) = *line else { continue };
            if matches!(line, Line::Directive(".ascii" | ".asciz" | ".section" | ".globl" | ".type", _)) {
                continue;
            }
            for symbol in symbols(text).filter_map(|(_, token)| names.new.get_key_value(unquoted(token))) {
                used.insert(symbol.0);
                if global.contains(symbol.0) && !matches!(line, Line::Directive(".size", _)) {
                    names.called_here.insert(symbol.0);
                }
            }
        }
        let all = names.new.keys().filter(|label| label.starts_with(".Lfunc_") || label.starts_with(".Ltmp"));
        names.unused = all.filter(|label| !used.contains(*label)).copied().collect();
        Ok(names)
    }

    fn write_label(&self, out: &mut String, label: &str) {
        if self.unused.contains(label) {
            return;
        }
        let name = self.new.get(label).map_or(label, String::as_str);
        let _ = writeln!(out, "{name}:");
        if self.called_here.contains(label) {
            let _ = writeln!(out, ".Lhere_{name}:");
        }
    }

    /// Replaces the names in a text.
    fn replace(&self, text: &str, exported: Symbols) -> String {
        let (mut with, mut end) = (String::with_capacity(text.len()), 0);
        for (at, token) in symbols(text) {
            let token_is = unquoted(token);
            let name = match self.new.get(token_is) {
                Some(name) => name.as_str(),
                // bcmp is no longer in POSIX. Both return 0 for equal bytes.
                None if token_is == "bcmp" => "memcmp",
                None => continue,
            };
            with.push_str(&text[end..at]);
            if exported == Symbols::Here && self.called_here.contains(token_is) {
                with.push_str(".Lhere_");
            }
            with.push_str(name);
            end = at + token.len();
        }
        with + &text[end..]
    }

    /// The name of a section that belongs to one symbol.
    fn of_section(&self, name: &str) -> String {
        const KINDS: [&str; 6] =
            [".text.unlikely.", ".text.", ".data.rel.ro.", ".data.", ".bss.", ".rodata."];
        let kind = KINDS.into_iter().find(|kind| name.starts_with(kind));
        let named = kind.and_then(|kind| Some((kind, self.new.get(&name[kind.len()..])?)));
        match named {
            Some((kind, symbol)) => format!("{kind}{}", symbol.trim_start_matches('.')),
            None => name.to_owned(),
        }
    }
}

/// The words of a text that may be symbols, with their positions. Registers in AT&T syntax begin with `%`,
/// relocation types with `@`.
fn symbols(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || "_.$".contains(character);
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let rest = &text[at..];
            let len = match rest.strip_prefix('"') {
                Some(quoted) => quoted.find('"').map_or(rest.len(), |end| end + 2),
                None => rest.find(|character| !is_part(character)).unwrap_or(rest.len()),
            };
            let begin = at;
            if len == 0 {
                // Skips a register or a relocation type as a whole.
                let sign = rest.chars().next().map_or(1, char::len_utf8);
                let word = if rest.starts_with(['%', '@']) {
                    rest[1..].find(|character| !is_part(character)).unwrap_or(rest.len() - 1)
                } else {
                    0
                };
                at += sign + word;
                continue;
            }
            at += len;
            if !rest.starts_with(|first: char| first.is_ascii_digit()) {
                return Some((begin, &rest[..len]));
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::{Dialect, clean, symbols, write_string};

    #[test]
    fn debugging_information_is_removed_and_names_change() {
        let source = "\t.file\t\"x.rs\"
\t.section\t.text.carryline_zero,\"ax\",@progbits
\t.globl\tcarryline_zero
\t.type\tcarryline_zero,@function
carryline_zero:                         # -- Begin function
.Lfunc_begin0:
\t.loc\t1 2 3
\tcallq\t_ZN9carryline3cpu4find17h0f55be2efbd97381E
\tcallq\t*bcmp@GOTPCREL(%rip)
\tjmp\tcarryline_zero                  # again
\t.size\tcarryline_zero, .Lfunc_end0-carryline_zero
\t.section\t\".text._ZN9carryline3cpu4find17h0f55be2efbd97381E\",\"ax\",@progbits
_ZN9carryline3cpu4find17h0f55be2efbd97381E:
\tleaq\t.Lanon.00.7(%rip), %rax
\t.section\t.rodata..Lanon.00.7,\"a\",@progbits
.Lanon.00.7:
\t.asciz\t\"# \\\"carryline_zero\"
\t.section\t.debug_info,\"\",@progbits
.Lfunc_end0:
\t.long\t7
";
        let cleaned = clean(source, Dialect::X86, "my_").expect("all of it is known");
        assert_eq!(cleaned.exported, ["my_carryline_zero"]);
        assert_eq!(
            cleaned.text,
            "
\t.section\t.text.my_carryline_zero,\"ax\",@progbits
\t.globl\tmy_carryline_zero
\t.type\tmy_carryline_zero,@function
my_carryline_zero:
.Lhere_my_carryline_zero:
\tcallq\tcarryline__cpu__find
\tcallq\t*memcmp@GOTPCREL(%rip)
\tjmp\t.Lhere_my_carryline_zero
\t.size\tmy_carryline_zero, .Lfunc_end0-my_carryline_zero

\t.section\t.text.carryline__cpu__find,\"ax\",@progbits
carryline__cpu__find:
\tleaq\t.Lconstant_1(%rip), %rax

\t.section\t.rodata.Lconstant_1,\"a\",@progbits
.Lconstant_1:
\t.asciz\t\"# \\\"carryline_zero\"
"
        );
    }

    #[test]
    fn foreign_exports_are_errors() {
        assert!(clean("\t.globl\tmain\nmain:\n", Dialect::X86, "").is_err());
    }

    #[test]
    fn registers_numbers_and_relocations_are_not_symbols() {
        let found: Vec<&str> =
            symbols("*a@GOTPCREL(%rip), $0x1f, \"b$c\"+8(%rax,%r10,8)").map(|(_, s)| s).collect();
        assert_eq!(found, ["a", "$0x1f", "\"b$c\""]);
        let found: Vec<&str> = symbols("x8, [x8, :lo12:TABLE+24]").map(|(_, s)| s).collect();
        assert_eq!(found, ["x8", "x8", "lo12", "TABLE"]);
    }

    #[test]
    fn long_strings_are_split_outside_escapes() {
        for letters in 0..100 {
            let text = format!("{}\\302\\240\\n{}", "a".repeat(letters), "\\\"".repeat(80));
            let mut out = String::new();
            write_string(&mut out, ".asciz", &format!("\"{text}\"")).expect("a string");
            let mut together = String::new();
            for line in out.lines() {
                let piece =
                    line.split_once('"').and_then(|(_, rest)| rest.strip_suffix('"')).expect("quoted");
                assert!(piece.len() < 102);
                assert!(!piece.starts_with(|first: char| first.is_ascii_digit()), "{out}");
                together.push_str(piece);
            }
            assert_eq!(together, text);
            assert_eq!(out.matches(".asciz").count(), 1);
        }
    }
}
