//! Symbol names in the written source: C names with the prefix, and Rust names in characters that every
//! assembler accepts.

/// Whether a character can be part of a name.
fn is_part(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// The text with the prefix in front of every name that begins with `carryline_`, and with the prefix in
/// upper case in front of those that begin with `CARRYLINE_`.
pub(super) fn with_prefix(text: &str, prefix: &str) -> String {
    let upper = prefix.to_ascii_uppercase();
    let mut with = String::with_capacity(text.len());
    let mut inside = false;
    for (at, character) in text.char_indices() {
        if !inside {
            let rest = &text[at..];
            if rest.starts_with("carryline_") {
                with.push_str(prefix);
            } else if rest.starts_with("CARRYLINE_") {
                with.push_str(&upper);
            }
        }
        inside = is_part(character);
        with.push(character);
    }
    with
}

/// A Rust name without its hash: `carryline::checksum::avx2::partial` becomes
/// `carryline__checksum__avx2__partial`, which is not a name of the C library.
pub(super) fn of_rust(mangled: &str) -> String {
    let path = format!("{:#}", rustc_demangle::demangle(mangled));
    let mut name = String::with_capacity(path.len());
    for character in path.replace("::", "__").chars() {
        match character {
            character if is_part(character) => name.push(character),
            _ if name.ends_with('_') => {}
            _ => name.push('_'),
        }
    }
    name.trim_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{of_rust, with_prefix};

    #[test]
    fn names_get_the_prefix_once() {
        let text = "carryline_sum carryline_sum_add(carryline_private_x, CARRYLINE_USE) /* carryline.h, not_carryline_x */";
        assert_eq!(with_prefix(text, ""), text);
        assert_eq!(
            with_prefix(text, "my_"),
            "my_carryline_sum my_carryline_sum_add(my_carryline_private_x, MY_CARRYLINE_USE) /* carryline.h, not_carryline_x */"
        );
    }

    #[test]
    fn rust_names_lose_their_hash_and_special_characters() {
        assert_eq!(
            of_rust("_ZN9carryline8checksum4avx27partial17h8aa31b5643e67e55E"),
            "carryline__checksum__avx2__partial"
        );
        assert_eq!(
            of_rust(
                "_ZN60_$LT$carryline..word..Word$u20$as$u20$core..fmt..Display$GT$3fmt17h59529f4440a32e42E"
            ),
            "carryline__word__Word_as_core__fmt__Display___fmt"
        );
        assert_eq!(of_rust("_RNvNtCsgEmfK2I1SDS_4core3fmt5write"), "core__fmt__write");
    }
}
