//! The symbols of a compiler's assembly source, and their new names.

use super::lines::{Line, unknown, unquoted};
use super::names;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::io;

/// The label that an exported name refers to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbols {
    /// The one visible to other objects.
    Exported,
    /// The local one at the same address.
    Here,
}

/// The symbol names of the cleaned source.
pub(super) struct Names<'t> {
    /// The new name of every label in the compiler's source.
    new: HashMap<&'t str, String>,
    /// Labels used only by debugging information.
    unused: HashSet<&'t str>,
    /// Exported names that the source itself refers to, by a local label: a shared library's function may be
    /// replaced by another one of the same name, whose distance is unknown here.
    called_here: HashSet<&'t str>,
    pub(super) exported: Vec<String>,
}

impl<'t> Names<'t> {
    pub(super) fn of(lines: &[Line<'t>], prefix: &str) -> io::Result<Names<'t>> {
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

    pub(super) fn write_label(&self, out: &mut String, label: &str) {
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
    pub(super) fn replace(&self, text: &str, exported: Symbols) -> String {
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
    pub(super) fn of_section(&self, name: &str) -> String {
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
    use super::symbols;

    #[test]
    fn registers_numbers_and_relocations_are_not_symbols() {
        let found: Vec<&str> =
            symbols("*a@GOTPCREL(%rip), $0x1f, \"b$c\"+8(%rax,%r10,8)").map(|(_, s)| s).collect();
        assert_eq!(found, ["a", "$0x1f", "\"b$c\""]);
        let found: Vec<&str> = symbols("x8, [x8, :lo12:TABLE+24]").map(|(_, s)| s).collect();
        assert_eq!(found, ["x8", "x8", "lo12", "TABLE"]);
    }
}
