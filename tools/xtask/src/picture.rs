//! Draws the output of a terminal as an image that follows the reader's light or dark mode.

use crate::install::put;
use std::io::{self, Read};
use std::path::Path;

/// The width of a character and the height of a line, in pixels.
const CELL: (f64, f64) = (8.4, 18.0);
/// The margin around the text, in pixels.
const MARGIN: f64 = 16.0;

/// Terminal colours: the number, the colour on light and on dark. The first is the default.
const COLOURS: [(u32, &str, &str); 9] = [
    (39, "#1f2328", "#e6edf3"),
    (30, "#1f2328", "#e6edf3"),
    (31, "#b3261e", "#ff7b72"),
    (32, "#1a7f37", "#56d364"),
    (33, "#8a6100", "#e3b341"),
    (34, "#0550ae", "#79c0ff"),
    (35, "#7a3dbf", "#d2a8ff"),
    (36, "#0f6b75", "#56d4dd"),
    (90, "#656d76", "#8b949e"),
];

/// The attributes of text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Look {
    bold: bool,
    dim: bool,
    /// The number of the terminal's colour; 0 is the default.
    colour: u32,
}

impl Look {
    /// The attributes after a sequence `ESC [ NUMBERS m`.
    fn after(self, numbers: &str) -> Look {
        numbers.split(';').fold(self, |look, number| match number.parse().unwrap_or(0) {
            0 => Look::default(),
            1 => Look { bold: true, ..look },
            2 => Look { dim: true, ..look },
            22 => Look { bold: false, dim: false, ..look },
            39 => Look { colour: 0, ..look },
            colour if COLOURS.iter().any(|(known, ..)| *known == colour) => Look { colour, ..look },
            _ => look,
        })
    }

    fn classes(self) -> String {
        let colour = if self.colour == 0 { String::new() } else { format!("c{} ", self.colour) };
        let words = [(self.bold, "b "), (self.dim, "d ")].map(|(is, word)| if is { word } else { "" });
        format!("{colour}{}{}", words[0], words[1]).trim_end().to_owned()
    }
}

/// Draws the output of a terminal, without cursor movements, into a file.
///
/// # Errors
/// If the text cannot be read or is empty, or the file cannot be written.
pub fn picture(mut from: impl Read, to: &Path) -> io::Result<()> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).replace('\r', "");
    if text.trim().is_empty() {
        return Err(io::Error::other("nothing to draw: standard input is empty"));
    }
    put(to, draw(text.trim_end()).as_bytes(), 0o644)
}

fn draw(text: &str) -> String {
    let (mut lines, mut widest, mut look) = (String::new(), 0, Look::default());
    let count = text.lines().count();
    for (row, line) in text.lines().enumerate() {
        let (mut column, y) = (0, MARGIN + CELL.1 * (row as f64 + 0.75));
        for (part, is) in parts(line, &mut look) {
            let width = part.chars().count();
            let text = part.trim_start();
            let (blanks, text) = (width - text.chars().count(), text.trim_end());
            if !text.is_empty() {
                let x = MARGIN + CELL.0 * (f64::from(column) + blanks as f64);
                let length = CELL.0 * text.chars().count() as f64;
                let class = if is == Look::default() {
                    String::new()
                } else {
                    format!(" class=\"{}\"", is.classes())
                };
                lines.push_str(&format!(
                    "<text{class} x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\">{}</text>\n",
                    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
                ));
            }
            column += u32::try_from(width).unwrap_or(0);
        }
        widest = widest.max(column);
    }
    let (width, height) = (2.0 * MARGIN + CELL.0 * f64::from(widest), 2.0 * MARGIN + CELL.1 * count as f64);
    let rules = |pick: fn(&(u32, &'static str, &'static str)) -> &'static str| -> String {
        COLOURS.iter().map(|colour| format!(".c{}{{fill:{}}}", colour.0, pick(colour))).collect()
    };
    let (light, dark) = (rules(|colour| colour.1), rules(|colour| colour.2));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\">\n\
         <style>text{{font:14px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre;fill:{}}}\
         .b{{font-weight:700}}.d{{opacity:.65}}rect{{fill:#f6f8fa;stroke:#d1d9e0}}{light}\n\
         @media (prefers-color-scheme:dark){{text{{fill:{}}}rect{{fill:#0d1117;stroke:#3d444d}}{dark}}}</style>\n\
         <rect x=\".5\" y=\".5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"6\"/>\n{lines}</svg>\n",
        COLOURS[0].1,
        COLOURS[0].2,
        width - 1.0,
        height - 1.0
    )
}

/// The parts of a line with equal attributes; other control sequences are dropped.
fn parts(line: &str, look: &mut Look) -> Vec<(String, Look)> {
    let mut found: Vec<(String, Look)> = Vec::new();
    for (index, piece) in line.split("\u{1b}[").enumerate() {
        let text = match piece.find(|c: char| ('@'..='~').contains(&c)) {
            Some(end) if index > 0 => {
                if piece[end..].starts_with('m') {
                    *look = look.after(&piece[..end]);
                }
                &piece[end + 1..]
            }
            _ => piece,
        };
        if !text.is_empty() {
            found.push((text.to_owned(), *look));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_last_until_they_are_reset() {
        let mut look = Look::default();
        let found = parts("plain \u{1b}[1;32mgreen\u{1b}[K <\u{1b}[0m end", &mut look);
        let green = Look { bold: true, colour: 32, ..Look::default() };
        let expected =
            [("plain ", Look::default()), ("green", green), (" <", green), (" end", Look::default())];
        assert_eq!(found, expected.map(|(text, look)| (text.to_owned(), look)));
    }

    #[test]
    fn text_keeps_its_position_and_is_escaped() {
        let image = draw("one\n  a\u{1b}[2m<b\u{1b}[0m");
        assert!(
            image.contains("<text class=\"d\" x=\"41.2\" y=\"47.5\" textLength=\"16.8\">&lt;b</text>"),
            "{image}"
        );
        assert!(image.contains("prefers-color-scheme:dark"));
        assert!(picture(&b" \n"[..], Path::new("never.svg")).is_err());
    }
}
