//! Replaces the body of a function in Rust source text.

/// The text with another body for the function that starts with `signature`, which must occur exactly once.
///
/// # Errors
/// The reason, for a message.
pub(super) fn with_body(text: &str, signature: &str, body: &str) -> Result<String, String> {
    let mut places = text.match_indices(signature);
    let (Some((at, _)), None) = (places.next(), places.next()) else {
        return Err(format!("`{signature}` does not occur exactly once: the crate has changed"));
    };
    let open = text[at..].find('{').map(|open| at + open);
    let block = open.and_then(|open| Some((open, open + block_bytes(&text[open..])?)));
    let (open, end) = block.ok_or_else(|| format!("`{signature}`: its body does not end"))?;
    Ok(format!("{}{{\n{body}\n}}{}", &text[..open], &text[end..]))
}

/// The length in bytes of the block at the start of the text. Braces in comments, strings and characters are
/// ignored.
fn block_bytes(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(&byte) = bytes.get(at) {
        let rest = &text[at..];
        at += match byte {
            b'{' => {
                depth += 1;
                1
            }
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
                1
            }
            _ if rest.starts_with("//") => rest.find('\n')?,
            _ if rest.starts_with("/*") => rest.find("*/")? + 2,
            b'"' => 1 + quoted_bytes(&bytes[at + 1..], b'"')?,
            // A character literal, which may be a brace or a quote; a lifetime has no second quote.
            b'\'' if bytes.get(at + 2) == Some(&b'\'') => 3,
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
    }
    None
}

/// The number of bytes up to and including the quote that ends a string.
fn quoted_bytes(bytes: &[u8], quote: u8) -> Option<usize> {
    let mut escaped = false;
    let end = bytes.iter().position(|&byte| {
        let ends = byte == quote && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map(|end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::with_body;

    #[test]
    fn bodies_end_at_their_own_brace() {
        let text = "fn f(x: &'a str) -> u32 {\n    // }\n    if x == \"}\\\"\" { g('}') } else { /* } */ 1 }\n}\nfn h() {}\n";
        let edited = with_body(text, "fn f(", "2").expect("it is there");
        assert_eq!(edited, "fn f(x: &'a str) -> u32 {\n2\n}\nfn h() {}\n");
    }

    #[test]
    fn missing_and_ambiguous_functions_are_errors() {
        for text in ["fn g() {}", "fn f() {} fn f() {}", "fn f() { {"] {
            assert!(with_body(text, "fn f(", "2").is_err(), "{text}");
        }
    }
}
