//! The vocabulary: one entry per word, in the order in which a reader meets them.

mod conditions;
mod figures;
mod subjects;

use super::Word;

const fn word(word: &'static str, also: &'static [&'static str], text: &'static str) -> Word {
    Word { word, also, text }
}

/// Every word that can be explained.
pub(super) fn all() -> impl Iterator<Item = &'static Word> {
    [subjects::WORDS, conditions::WORDS, figures::WORDS].into_iter().flatten()
}
