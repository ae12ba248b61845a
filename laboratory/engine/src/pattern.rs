//! Variants selected by a pattern: `avx2`, `zero/avx*`, `/carryline(_.*)?/`.

use crate::failure::{Failure, usage};
use carryline_variants::Family;

/// A word of `--variants`.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// A name, optionally with a family: `avx2` or `zero/avx2`.
    Name(String),
    /// Shell wildcards matched against `FAMILY/NAME`, or against the name if the pattern has no slash.
    Glob(String, glob::Pattern),
    /// A regular expression that must match `FAMILY/NAME` or the name in full.
    Expression(String, regex::Regex),
}

impl Pattern {
    /// Parses a word: a regular expression between slashes, a glob if it contains `*`, `?` or `[`, otherwise
    /// a name.
    ///
    /// # Errors
    /// An invalid expression or glob, with the reason.
    pub fn parse(word: &str) -> Result<Pattern, Failure> {
        let inner = word.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        if let Some(inner) = inner {
            let whole = regex::Regex::new(&format!("^(?:{inner})$"));
            let expression =
                whole.map_err(|error| usage(format!("'{word}' is not a regular expression: {error}")))?;
            return Ok(Pattern::Expression(word.to_owned(), expression));
        }
        if word.contains(['*', '?', '[']) {
            let glob = glob::Pattern::new(word)
                .map_err(|error| usage(format!("'{word}' is not a pattern: {error}")))?;
            return Ok(Pattern::Glob(word.to_owned(), glob));
        }
        Ok(Pattern::Name(word.to_owned()))
    }

    /// True if the pattern matches this variant or plug-in.
    #[must_use]
    pub fn matches(&self, family: Family, name: &str) -> bool {
        let full = || format!("{family}/{name}");
        match self {
            Pattern::Name(word) => word == name || *word == full(),
            Pattern::Glob(word, glob) if word.contains('/') => glob.matches(&full()),
            Pattern::Glob(_, glob) => glob.matches(name),
            Pattern::Expression(_, expression) => expression.is_match(name) || expression.is_match(&full()),
        }
    }

    /// The pattern as written.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Pattern::Name(word) | Pattern::Glob(word, _) | Pattern::Expression(word, _) => word,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(word: &str) -> Vec<String> {
        let names = [
            (Family::Zero, "avx2"),
            (Family::Zero, "avx512"),
            (Family::Copy, "avx2"),
            (Family::Copy, "carryline"),
        ];
        let pattern = Pattern::parse(word).expect(word);
        let selected = names.iter().filter(|(family, name)| pattern.matches(*family, name));
        selected.map(|(family, name)| format!("{family}/{name}")).collect()
    }

    #[test]
    fn names_globs_and_expressions() {
        assert_eq!(matched("avx2"), ["zero/avx2", "copy/avx2"]);
        assert_eq!(matched("copy/avx2"), ["copy/avx2"]);
        assert_eq!(matched("zero/avx*"), ["zero/avx2", "zero/avx512"]);
        assert_eq!(matched("*/avx2"), ["zero/avx2", "copy/avx2"]);
        assert_eq!(matched("avx?"), ["zero/avx2", "copy/avx2"]);
        assert_eq!(matched("/avx(2|512)/"), ["zero/avx2", "zero/avx512", "copy/avx2"]);
        assert_eq!(matched("/copy.*/"), ["copy/avx2", "copy/carryline"]);
        assert_eq!(matched("/vx/"), Vec::<String>::new(), "the whole name has to match");
    }

    #[test]
    fn an_invalid_pattern_is_named() {
        for wrong in ["/(/", "zero/[", "***"] {
            let error = Pattern::parse(wrong).expect_err(wrong);
            assert!(error.to_string().contains(&format!("'{wrong}'")) && error.status() == 2, "{error}");
        }
    }
}
