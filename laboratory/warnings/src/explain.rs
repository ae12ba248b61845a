//! `carryline explain WORD`: the meaning of a warning or a term, or the document that a claim comes from.

mod words;

use crate::Code;
use carryline_machine::nearest;
use carryline_results::sources::{self, SOURCES, Source};
use std::fmt;

/// The explanation of a warning, a term or a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The canonical spelling of a term, the code and name of a warning, or the id of a document.
    pub word: String,
    /// Synonyms.
    pub also: &'static [&'static str],
    /// A few sentences.
    pub text: String,
    /// What to do about it; warnings only.
    pub remedy: Option<&'static str>,
    /// The document, if it is one.
    pub source: Option<&'static Source>,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.word)?;
        if !self.also.is_empty() {
            write!(f, " (also: {})", self.also.join(", "))?;
        }
        write!(f, "\n\n{}", self.text)?;
        match self.remedy {
            Some(remedy) => write!(f, "\n\nWhat to do: {remedy}."),
            None => Ok(()),
        }
    }
}

/// A term.
struct Word {
    word: &'static str,
    also: &'static [&'static str],
    text: &'static str,
}

impl Word {
    fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.word).chain(self.also.iter().copied())
    }
}

/// Explains a term, a warning by its code or name, or a document by its id; `None` if it is unknown. Case is
/// ignored, and spaces, hyphens and underscores are equivalent.
///
/// ```
/// use carryline_warnings::explain::explain;
/// assert!(explain("end-around carry").unwrap().text.contains("one's"));
/// assert!(explain("W03").unwrap().remedy.is_some());
/// assert!(explain("evans-2003").unwrap().text.contains("AthlonXP"));
/// assert!(explain("flux capacitor").is_none());
/// ```
#[must_use]
pub fn explain(word: &str) -> Option<Explanation> {
    let wanted = plain(word);
    let warning = Code::all().iter().find(|entry| plain(entry.code) == wanted || plain(entry.name) == wanted);
    let of_words = || words::all().find(|entry| entry.names().any(|name| plain(name) == wanted));
    if let Some(entry) = of_words() {
        return Some(Explanation {
            word: entry.word.to_owned(),
            also: entry.also,
            text: entry.text.to_owned(),
            remedy: None,
            source: None,
        });
    }
    if let Some(source) = sources::find(word) {
        return Some(of_source(source));
    }
    warning.map(|entry| Explanation {
        word: format!("{}: {}", entry.code, entry.name),
        also: &[],
        text: entry.explanation.to_owned(),
        remedy: Some(entry.remedy),
        source: None,
    })
}

fn of_source(source: &'static Source) -> Explanation {
    let Source { id, about, since, .. } = source;
    Explanation {
        word: (*id).to_owned(),
        also: &[],
        text: format!("{}\n\n{about}\n\nWhat became of it: {since}", source.citation()),
        remedy: None,
        source: Some(source),
    }
}

/// All terms in reading order, then all warning codes, then all documents.
#[must_use]
pub fn known() -> Vec<&'static str> {
    let words = words::all().map(|entry| entry.word);
    let codes = Code::all().iter().map(|entry| entry.code);
    words.chain(codes).chain(SOURCES.iter().map(|source| source.id)).collect()
}

/// The known words most similar to an unknown one.
#[must_use]
pub fn nearest(word: &str) -> Vec<&'static str> {
    let names = words::all().flat_map(Word::names);
    let warnings = Code::all().iter().flat_map(|entry| [entry.code, entry.name]);
    let sources = SOURCES.iter().map(|source| source.id);
    nearest::nearest(word.trim(), names.chain(warnings).chain(sources))
}

fn plain(word: &str) -> String {
    word.trim().to_lowercase().replace(['-', '_'], " ").replace('\u{2019}', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_one_explanation_of_reasonable_length() {
        let mut seen = std::collections::BTreeSet::new();
        for entry in words::all() {
            for name in entry.names() {
                assert!(seen.insert(plain(name)), "{name} occurs twice");
                assert_eq!(explain(name).map(|found| found.word), Some(entry.word.to_owned()), "{name}");
            }
            let sentences = entry.text.matches(['.', ':']).count();
            assert!((2..=12).contains(&sentences), "{}: {sentences} sentences", entry.word);
            assert!((120..900).contains(&entry.text.len()), "{}: {} bytes", entry.word, entry.text.len());
            assert!(entry.text.ends_with('.') && !entry.text.contains("  "), "{}", entry.word);
        }
        for source in SOURCES {
            assert!(seen.insert(plain(source.id)), "{} is there twice", source.id);
            let found = explain(source.id).expect(source.id);
            assert_eq!((found.word.as_str(), found.source), (source.id, Some(*source)));
            for part in [source.authors, source.title, source.found, source.since] {
                assert!(found.text.contains(part), "{}: no {part}", source.id);
            }
        }
        for entry in Code::all() {
            let found = explain(entry.code).expect(entry.code);
            assert_eq!(found.text, entry.explanation);
            assert!(found.to_string().contains("What to do: "), "{found}");
            assert!(explain(entry.name).is_some());
        }
    }

    #[test]
    fn important_terms_are_explained() {
        let words = "variant, family, condition, cell, round, replicate, estimate, noise floor, limit, claim, verdict, \
            end-around carry, fold, partial sum, pseudo-header, hot, cold, cold:clflush, cold:evict, cold:arena, \
            non-temporal, nt, first touch, chained, independent, fenced, A/A, gross, net, null call, ticks, cycles, \
            tie, then, read-later, victim, known-bad, budget, offsets, segments, plugin, share of the limit, zero, \
            copy, checksum, copy_checksum, situation, fleet, histogram, capture, steal, interval, worker, seed, \
            critical chain";
        for word in words.split(", ").map(str::trim) {
            assert!(explain(word).is_some(), "{word}");
        }
        assert_eq!(explain("Noise_Floor"), explain("noise floor"));
    }

    #[test]
    fn similar_words_are_suggested() {
        assert_eq!(nearest("noise flor"), ["noise floor"]);
        assert_eq!(nearest("pseudoheader"), ["pseudo-header"]);
        assert!(nearest("W3").contains(&"W03"));
        assert!(nearest("chaned").contains(&"chained"));
        assert_eq!(nearest("evans-2004").first(), Some(&"evans-2003"));
        assert_eq!(nearest("evans"), ["evans-2003", "evans-2018"]);
        assert!(nearest("qqqqqqqqqq").is_empty());
        assert!(known().len() > 60 && known().contains(&"W01"));
    }
}
