//! Prepares a compiler's assembly source for other people's assemblers: removes debugging information,
//! changes names to those that C and old assemblers accept, and adds the prefix to exported names.

use super::lines::{Dialect, Line, lines, section_name, unknown};
use super::symbols::{Names, Symbols};
use std::fmt::Write;
use std::io;

/// A cleaned source.
pub(super) struct Cleaned {
    pub(super) text: String,
    /// The exported names.
    pub(super) exported: Vec<String>,
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

/// The maximum number of characters of a string per line.
const STRING_WIDTH: usize = 96;

/// Writes a string in pieces without splitting escapes.
fn write_string(out: &mut String, name: &str, text: &str) -> io::Result<()> {
    let inside = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let mut rest = inside.ok_or_else(|| unknown(&format!("{name} {text}")))?;
    while rest.len() > STRING_WIDTH {
        let mut at = 0;
        while at < STRING_WIDTH {
            at += match &rest.as_bytes()[at..] {
                [b'\\', digits @ ..] => {
                    1 + digits.iter().take(3).take_while(|digit| digit.is_ascii_digit()).count().max(1)
                }
                _ => 1,
            };
        }
        let (piece, after) = rest.split_at_checked(at).ok_or_else(|| unknown(text))?;
        let _ = writeln!(out, "\t.ascii\t\"{piece}\"");
        rest = after;
    }
    let _ = writeln!(out, "\t{name}\t\"{rest}\"");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Dialect, clean, write_string};

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
    fn functions_of_rust_become_local() {
        let name = "_ZN3one3two17h0123456789abcdefE";
        let text = format!("\t.globl\t{name}\n\t.hidden\t{name}\n{name}:\n\tretq\n");
        let cleaned = clean(&text, Dialect::X86, "").expect("known lines");
        assert!(cleaned.exported.is_empty());
        assert!(cleaned.text.contains("one__two:") && !cleaned.text.contains(".globl"), "{}", cleaned.text);
        assert!(!cleaned.text.contains(".hidden"), "{}", cleaned.text);
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
