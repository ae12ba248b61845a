//! The vocabulary: one entry per term, in reading order.

mod conditions;
mod figures;
mod subjects;

use super::Word;

const fn word(word: &'static str, also: &'static [&'static str], text: &'static str) -> Word {
    Word { word, also, text }
}

/// All terms.
pub(super) fn all() -> impl Iterator<Item = &'static Word> {
    [subjects::WORDS, conditions::WORDS, figures::WORDS].into_iter().flatten()
}
