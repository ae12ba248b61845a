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

/// The words of a command as a shell reads them: those with other than plain characters are in quotes.
///
/// ```
/// use carryline_report::text::shell;
/// assert_eq!(shell(["verify", "zero/avx*", "it's", ""]), r"verify 'zero/avx*' 'it'\''s' ''");
/// ```
#[must_use]
pub fn shell<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_@%+=:,./-".contains(c);
    let quoted = words.into_iter().map(|word| match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    });
    quoted.collect::<Vec<_>>().join(" ")
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
