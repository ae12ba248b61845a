//! Parses the lists of words that select what is measured: sizes, conditions, segments.

use crate::cli::Common;
use crate::output;
use carryline_conditions::sizes::Sizes;
use carryline_engine::failure::{Failure, usage};
use carryline_machine::nearest::{did_you_mean, nearest};
use carryline_machine::words::{UnknownWord, parse_bytes};
use carryline_results::Warning;
use carryline_warnings as warning;
use std::str::FromStr;

/// The maximum number of segments of a message: each takes an entry of a list that must stay in the cache.
const MOST_SEGMENTS: usize = 512;

/// Parses the words of an option; the error for an unknown word suggests the nearest. A repeated word counts
/// once.
pub fn words<T>(option: &str, words: &[String], common: &Common) -> Result<Vec<T>, Failure>
where
    T: FromStr<Err = UnknownWord> + PartialEq,
{
    let parsed = words.iter().map(|word| {
        word.parse().map_err(|error: UnknownWord| {
            let near = match error.range {
                None => did_you_mean(&nearest(&error.word, error.known.split(", "))),
                Some(_) => String::new(),
            };
            usage(format!("{error}{near}"))
        })
    });
    let parsed: Vec<T> = parsed.collect::<Result<_, _>>()?;
    let named = words.iter().map(String::as_str).zip(parsed).collect();
    Ok(distinct(option, named, T::eq, common))
}

/// Parses every `--sizes`; warns of captures with packets that could not be used. A repeated size counts once.
pub fn read_sizes<T: AsRef<str>>(
    lists: impl IntoIterator<Item = T>,
    common: &Common,
) -> Result<(Vec<Sizes>, Vec<Warning>), Failure> {
    let (mut sizes, mut skipped) = (Vec::new(), Vec::new());
    for list in lists {
        let (more, packets) =
            Sizes::parse_list_and_skipped(list.as_ref()).map_err(|error| usage(error.to_string()))?;
        sizes.extend(more);
        skipped.extend(packets);
    }
    let labels: Vec<String> = sizes.iter().map(|sizes| sizes.label.clone()).collect();
    let named = labels.iter().map(String::as_str).zip(sizes).collect();
    let sizes = distinct("--sizes", named, Sizes::draws_as, common);
    Ok((sizes, skipped.iter().map(warning::packets_skipped).collect()))
}

/// The distinct values of an option, in order; a note names those that are dropped.
fn distinct<T>(
    option: &str,
    named: Vec<(&str, T)>,
    same: impl Fn(&T, &T) -> bool,
    common: &Common,
) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    let mut dropped: Vec<&str> = Vec::new();
    for (word, value) in named {
        match kept.iter().any(|known| same(known, &value)) {
            false => kept.push(value),
            true if dropped.contains(&word) => {}
            true => dropped.push(word),
        }
    }
    for word in dropped {
        output::note(&format!("{option}: '{word}' is given twice and measured once"), common);
    }
    kept
}

/// Parses `1,3,1,3`; errors name `option`.
pub fn read_segments(option: &str, text: &str) -> Result<Vec<u32>, Failure> {
    let lengths: Vec<u32> = text
        .split(',')
        .map(|word| match parse_bytes(word).map(u32::try_from) {
            Ok(Ok(0)) => Err(usage(format!("{option}: '{word}': a segment has at least one byte"))),
            Ok(Ok(length)) if length <= 1 << 30 => Ok(length),
            Ok(_) => Err(usage(format!("{option}: '{word}' is more than 1 GiB"))),
            Err(reason) => Err(usage(format!("{option}: {reason}"))),
        })
        .collect::<Result<_, _>>()?;
    let total: u64 = lengths.iter().copied().map(u64::from).sum();
    if total > 1 << 30 {
        return Err(usage(format!("{option}: '{text}' has {total} bytes in total, more than 1 GiB")));
    }
    if lengths.len() > MOST_SEGMENTS {
        return Err(usage(format!("{option}: {} segments, more than {MOST_SEGMENTS}", lengths.len())));
    }
    Ok(lengths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use carryline_conditions::{Cache, Offsets};
    use clap::Parser;

    fn common() -> Common {
        Cli::parse_from(["carryline", "--quiet"]).common
    }

    #[test]
    fn what_is_given_twice_counts_once() {
        let (sizes, _) = read_sizes(["40,4K,40", "4096,1..64,40"], &common()).expect("sizes");
        let labels: Vec<&str> = sizes.iter().map(|sizes| sizes.label.as_str()).collect();
        assert_eq!(labels, ["40", "4K", "1..64"]);
        let offsets: Vec<Offsets> =
            words("--offsets", &["0", "0:0", "1", "0"].map(str::to_owned), &common()).expect("offsets");
        assert_eq!(offsets.len(), 2);
    }

    #[test]
    fn each_segment_is_checked() {
        assert_eq!(read_segments("--segments", "1,3,1,3").ok(), Some(vec![1, 3, 1, 3]));
        for (text, word) in
            [("0", "'0'"), ("1,-3", "'-3'"), ("1,x", "'x'"), ("2G", "'2G'"), ("1G,1", "1 GiB"), ("", "''")]
        {
            let error = read_segments("--segments", text).expect_err(text);
            assert_eq!(error.status(), 2);
            assert!(error.to_string().contains(word), "{error}");
        }
    }

    #[test]
    fn the_nearest_word_is_suggested() {
        let error =
            words::<Cache>("--cache", &["cold:clflsh".to_owned()], &common()).expect_err("an unknown state");
        assert!(
            error.to_string().contains("'cold:clflsh'") && error.to_string().contains("'cold:clflush'"),
            "{error}"
        );
        let error =
            words::<Cache>("--cache", &["cold".to_owned()], &common()).expect_err("no method").to_string();
        for word in ["cold:clflush", "cold:evict or cold:arena"] {
            assert!(error.contains(word) && !error.contains("did you mean"), "{error}");
        }
    }
}
