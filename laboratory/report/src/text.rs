//! Plain text: wrapping, and escaping of names.

/// The text on one line with control characters escaped, so that a name from an untrusted file cannot move
/// the cursor, clear the screen or change the direction of the text.
///
/// ```
/// assert_eq!(carryline_report::text::safe("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
/// ```
#[must_use]
pub fn safe(text: &str) -> String {
    let is_bidi_control =
        |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\n' | '\r' | '\t') {
            out.push(' ');
        } else if c.is_control() || is_bidi_control(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// Breaks a paragraph at spaces into lines of at most `width` characters (no limit without one), indenting
/// all but the first by `indent` spaces. A longer word gets its own line, and a percent sign stays with its
/// number. Ends without a line break.
#[must_use]
pub fn wrap(paragraph: &str, width: Option<u16>, indent: usize) -> String {
    let width = width.map_or(usize::MAX, usize::from).max(indent + 20);
    let mut out = String::new();
    let mut column = 0;
    let mut words = paragraph.split(' ').peekable();
    while let Some(word) = words.next() {
        let mut length = word.chars().count();
        length +=
            words.peek().filter(|next| next.starts_with('%')).map_or(0, |next| 1 + next.chars().count());
        let is_sign = word.starts_with('%');
        if !is_sign && column > 0 && column + 1 + length > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += word.chars().count();
    }
    out
}

/// The words of a command as a shell reads them: those with other than plain characters are in quotes, but not the
/// `~/` of a home directory, which a shell expands only outside them, and only at the start of a word.
///
/// ```
/// use carryline_report::text::shell;
/// assert_eq!(shell(["verify", "zero/avx*", "it's", ""]), r"verify 'zero/avx*' 'it'\''s' ''");
/// assert_eq!(shell(["~/a b", "--db=~/r", "capture:~/c"]), r#"~/'a b' --db="$HOME"/r capture:"$HOME"/c"#);
/// ```
#[must_use]
pub fn shell<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(quoted_word).collect::<Vec<_>>().join(" ")
}

fn quoted_word(word: &str) -> String {
    if let Some(rest) = word.strip_prefix("~/") {
        return format!("~/{}", if rest.is_empty() { String::new() } else { quoted(rest) });
    }
    let mut out = String::new();
    let mut rest = word;
    while let Some(at) = HOMES.iter().filter_map(|home| rest.find(home)).min() {
        out.push_str(&quoted(&rest[..=at]));
        out.push_str("\"$HOME\"/");
        rest = &rest[at + 3..];
    }
    if !rest.is_empty() || out.is_empty() {
        out.push_str(&quoted(rest));
    }
    out
}

/// Where a home directory begins within a word.
const HOMES: [&str; 3] = ["=~/", ":~/", ",~/"];

fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_@%+=:,./-".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// The words of a line that [`shell`] has made; `None` if a quote is not closed.
///
/// ```
/// use carryline_report::text::{shell, shell_words};
/// let words = ["--db", "~/a b", "capture:~/c", "it's", ""];
/// assert_eq!(shell_words(&shell(words)).unwrap(), words);
/// assert_eq!(shell_words("a 'b"), None);
/// ```
#[must_use]
pub fn shell_words(line: &str) -> Option<Vec<String>> {
    let line = line.replace("\"$HOME\"/", "~/");
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            ' ' => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        end if end == c => break,
                        inside => word.push(inside),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(characters.next()?),
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    Some(words)
}

/// Joins names for a sentence: `a`, `a and b`, `a, b and c`.
#[must_use]
pub fn enumerate(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_wraps_at_spaces_and_long_words_stay_whole() {
        let text = "one two three aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa four";
        insta::assert_snapshot!(wrap(text, Some(22), 2), @r"
        one two three
          aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
          four
        ");
        assert_eq!(wrap(text, None, 2), text);
        assert_eq!(wrap("the noise floor was 99 % of it", Some(22), 2), "the noise floor was\n  99 % of it");
    }

    #[test]
    fn names_are_enumerated() {
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!([0, 1, 2, 3].map(|n| enumerate(&names[..n])), ["none", "a", "a and b", "a, b and c"]);
    }

    #[test]
    fn control_characters_are_escaped() {
        for text in ["\u{1b}]0;x\u{7}", "a\r\nb\tc", "\u{202e}txt", "\u{9b}2J", "\u{7f}"] {
            assert!(safe(text).chars().all(|c| !c.is_control() && c != '\u{202e}'), "{text:?}");
        }
        assert_eq!(safe("rep_stosb é"), "rep_stosb é");
    }
}
