//! Conditions in words, based on what ran if that is known; a difference from the request is printed.

use crate::units::{byte_phrase, byte_size, byte_size_rough, number, percent_fine};
use carryline_conditions::sizes::Draw;
use carryline_conditions::{Beside, Cache, CacheMethod, ColdBatch, Condition, Offsets, Operands, Then};
use carryline_machine::arena::Pages;
use carryline_machine::environment::Level;
use carryline_results::{Cell, Observed};

/// The cell's condition except for family and dependence:
/// `4 KiB, offset 0, hot (L1)`.
#[must_use]
pub fn condition(cell: &Cell) -> String {
    let (condition, observed) = (&cell.condition, cell.observed.as_ref());
    let mut parts = vec![sizes(condition, observed)];
    parts.extend(segments(condition));
    parts.push(offsets(cell));
    parts.push(cache(cell));
    parts.extend(pages(condition, observed));
    parts.extend(then(condition.then));
    parts.extend(beside(condition.beside, observed));
    parts.join(", ")
}

/// The whole condition: `zero, independent calls: 4 KiB, offset 0, hot (L1)`.
#[must_use]
pub fn title(cell: &Cell) -> String {
    format!("{}, {} calls: {}", cell.family, cell.condition.dependence, self::condition(cell))
}

/// The condition in short, for columns and axes: `4 KiB, offset 0, hot`.
#[must_use]
pub fn brief(condition: &Condition) -> String {
    let mut parts =
        vec![size_phrase(condition), format!("offset {}", condition.offsets), condition.cache.to_string()];
    parts.extend(optional_fields(condition).into_iter().map(|(_, word)| word));
    parts.join(", ")
}

/// The number of [`fields`].
pub const FIELDS: usize = 7;

/// The fields of a condition except for the dependence, each with its name and its word. The word of an
/// optional field with its default value is empty.
#[must_use]
pub fn fields(condition: &Condition) -> [(&'static str, String); FIELDS] {
    let mut fields = [
        ("size", size_word(condition)),
        ("offset", condition.offsets.to_string()),
        ("cache", condition.cache.to_string()),
        ("pages", String::new()),
        ("segments", String::new()),
        ("then", String::new()),
        ("beside", String::new()),
    ];
    for (name, word) in optional_fields(condition) {
        if let Some(field) = fields.iter_mut().find(|field| field.0 == name) {
            field.1 = word;
        }
    }
    fields
}

fn optional_fields(condition: &Condition) -> Vec<(&'static str, String)> {
    let mut fields = vec![];
    if condition.pages != Pages::Base {
        fields.push(("pages", format!("{} pages", condition.pages)));
    }
    if !condition.segments.is_empty() {
        fields.push(("segments", format!("{} segments", condition.segments.len())));
    }
    if condition.then != Then::Nothing {
        fields.push(("then", format!("then {}", condition.then)));
    }
    if condition.beside != Beside::Nothing {
        fields.push(("beside", format!("beside {}", condition.beside)));
    }
    fields
}

/// The size if it is fixed.
#[must_use]
pub const fn fixed_size(condition: &Condition) -> Option<u64> {
    match condition.sizes.draw {
        Draw::Fixed(bytes) => Some(bytes),
        _ => None,
    }
}

/// The size as a phrase: `40 bytes`, `4 KiB`, or the distribution's label.
#[must_use]
pub fn size_phrase(condition: &Condition) -> String {
    fixed_size(condition).map_or_else(|| condition.sizes.label.clone(), byte_phrase)
}

/// The size as a word: `40`, `4 KiB`, or the distribution's label.
#[must_use]
pub fn size_word(condition: &Condition) -> String {
    fixed_size(condition).map_or_else(|| condition.sizes.label.clone(), byte_size)
}

fn sizes(condition: &Condition, observed: Option<&Observed>) -> String {
    let ran = observed.filter(|observed| observed.calls > 0);
    match (fixed_size(condition), ran) {
        (Some(requested), Some(ran)) if ran.size_min != requested || ran.size_max != requested => {
            format!("{}, requested {}", span(ran), byte_phrase(requested))
        }
        (Some(requested), _) => byte_phrase(requested),
        (None, Some(ran)) => {
            let mean = number(ran.size_mean);
            // Stored cells do not say whether the number is exact, but it is without sizes from 4095 bytes.
            let is_exact = ran.size_distinct_is_exact || ran.size_max < 4095;
            let distinct =
                format!("{}{} distinct", if is_exact { "" } else { "at least " }, ran.size_distinct);
            format!("{} ({}, mean {mean}, {distinct})", condition.sizes.label, span(ran))
        }
        (None, None) => condition.sizes.label.clone(),
    }
}

fn span(ran: &Observed) -> String {
    if ran.size_min == ran.size_max {
        byte_phrase(ran.size_min)
    } else {
        format!("{} to {}", byte_size(ran.size_min), byte_phrase(ran.size_max))
    }
}

fn segments(condition: &Condition) -> Option<String> {
    const SHOWN: usize = 8;
    let all = &condition.segments;
    let mut words: Vec<String> = all.iter().take(SHOWN).map(|bytes| byte_size(u64::from(*bytes))).collect();
    if all.len() > SHOWN {
        words.push("...".to_owned());
    }
    (!all.is_empty()).then(|| format!("in {} segments ({})", all.len(), words.join(" + ")))
}

fn offsets(cell: &Cell) -> String {
    let (writes, reads) = (cell.family.writes(), cell.family.reads());
    let words = match cell.condition.offsets {
        Offsets::Fixed { dst, .. } if !reads => format!("offset {dst}"),
        Offsets::Fixed { src, .. } if !writes => format!("offset {src}"),
        Offsets::Fixed { dst, src } if dst == src => format!("offset {dst}"),
        Offsets::Fixed { dst, src } => format!("destination offset {dst}, source offset {src}"),
        Offsets::Random => "random offsets".to_owned(),
        Offsets::Alias => "1 to 63 bytes apart modulo 4 KiB".to_owned(),
        Offsets::RandomInLine => "random offsets of 0 to 63".to_owned(),
        Offsets::End => "ending at a page end".to_owned(),
    };
    let near = cell.observed.as_ref().and_then(|observed| observed.near_alias);
    match near.filter(|_| cell.condition.offsets.vary()) {
        Some(share) => {
            format!("{words} ({} of the pairs within 63 bytes modulo 4 KiB)", percent_fine(share))
        }
        None => words,
    }
}

fn cache(cell: &Cell) -> String {
    let (condition, observed) = (&cell.condition, cell.observed.as_ref());
    let Cache { method, operands, batch } = condition.cache;
    let hot = condition.cache.is_hot();
    let stated = if batch == ColdBatch::Unstated && !hot { ColdBatch::Stream } else { batch };
    let state = Cache { method, operands: Operands::Both, batch: stated };
    let buffers = match operands {
        Operands::Both => "",
        Operands::Source => " (source only)",
        Operands::Destination => " (destination only)",
    };
    let mut seen = vec![];
    if stated != batch {
        seen.push("calls per batch unknown".to_owned());
    }
    if let Some(observed) = observed {
        seen.extend(
            observed.batch_calls.filter(|calls| *calls > 1).map(|calls| format!("{calls} calls per batch")),
        );
        seen.extend(observed.hot_share.map(|share| format!("{} of the buffers hot", percent_fine(share))));
        if method == CacheMethod::Hot && observed.level != Level::Unknown {
            seen.push(observed.level.to_string());
        }
        if fixed_size(condition) != Some(observed.footprint_bytes) {
            seen.push(format!("footprint {}", byte_size_rough(observed.footprint_bytes)));
        }
    }
    if batch == ColdBatch::Single && cell.family.writes() {
        seen.push("stores timed until they retire, not until they reach a cache".to_owned());
    }
    let seen = if seen.is_empty() { String::new() } else { format!(" ({})", seen.join(", ")) };
    format!("{state}{buffers}{seen}")
}

fn pages(condition: &Condition, observed: Option<&Observed>) -> Option<String> {
    let got = observed.and_then(|observed| observed.huge_bytes);
    match (condition.pages, got) {
        (Pages::Base, None | Some(0)) => None,
        (Pages::Base, Some(got)) => {
            Some(format!("base pages requested, but {} in huge pages", byte_size_rough(got)))
        }
        (Pages::Huge, None) => Some("huge pages requested".to_owned()),
        (Pages::Huge, Some(0)) => Some("huge pages requested, none granted".to_owned()),
        (Pages::Huge, Some(got)) => Some(format!("{} in huge pages", byte_size_rough(got))),
    }
}

fn then(then: Then) -> Option<String> {
    match then {
        Then::Nothing => None,
        Then::Read => Some("then read immediately".to_owned()),
        Then::ReadLater(bytes) => Some(format!("then read after {} of other calls", byte_size_rough(bytes))),
        Then::ReadWrapped(bytes) => {
            Some(format!("then read after up to {} of other calls", byte_size_rough(bytes)))
        }
        Then::Victim(bytes) => Some(format!("then another working set of {} read", byte_size_rough(bytes))),
    }
}

fn beside(beside: Beside, observed: Option<&Observed>) -> Option<String> {
    let moved = observed.and_then(|observed| observed.beside_bytes);
    match (beside, moved) {
        (Beside::Nothing, _) => None,
        (Beside::Stream, None) => Some("while another core streams".to_owned()),
        (Beside::Stream, Some(moved)) => {
            Some(format!("while another core streams ({})", byte_size_rough(moved)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use carryline_conditions::sizes::Sizes;
    use carryline_variants::Family;

    #[test]
    fn a_plain_condition_is_short() {
        let cell = fixture::cell(Family::Zero, "avx2", Condition::plain(4096), 30.0);
        insta::assert_snapshot!(title(&cell), @"zero, independent calls: 4 KiB, offset 0, hot (L1)");
        insta::assert_snapshot!(brief(&cell.condition), @"4 KiB, offset 0, hot");
    }

    #[test]
    fn every_field_is_printed() {
        let mut cell = fixture::cell(Family::Copy, "avx2", Condition::plain(1500), 30.0);
        cell.condition.sizes = Sizes::new("fleet:memcpy-A", Draw::Weighted(vec![(1, 0.5), (4096, 0.5)]));
        cell.condition.offsets = Offsets::Fixed { dst: 0, src: 13 };
        cell.condition.cache = "cold:arena:src".parse().expect("a cache state");
        cell.condition.pages = Pages::Huge;
        cell.condition.then = Then::ReadLater(1 << 20);
        cell.condition.segments = (0..10).map(|n| n * 512).collect();
        cell.observed = Some(Observed {
            calls: 9,
            size_min: 1,
            size_max: 4096,
            size_mean: 123.4,
            size_distinct: 2,
            footprint_bytes: 1_000_000_000,
            huge_bytes: Some(0),
            level: Level::Memory,
            ..Observed::default()
        });
        insta::assert_snapshot!(title(&cell), @"copy, independent calls: fleet:memcpy-A (1 to 4 KiB, mean 123, at least 2 distinct), in 10 segments (0 + 512 + 1 KiB + 1536 + 2 KiB + 2560 + 3 KiB + 3584 + ...), destination offset 0, source offset 13, cold:arena (source only) (footprint 954 MiB), huge pages requested, none granted, then read after 1 MiB of other calls");
        insta::assert_snapshot!(brief(&cell.condition), @"fleet:memcpy-A, offset 0:13, cold:arena:src, huge pages, 10 segments, then read-later:1048576");
        if let Some(observed) = &mut cell.observed {
            observed.size_distinct_is_exact = true;
        }
        assert!(title(&cell).contains("mean 123, 2 distinct)"));
        cell.condition.beside = Beside::Stream;
        let words = fields(&cell.condition).map(|(_, word)| word);
        assert_eq!(
            words,
            [
                "fleet:memcpy-A",
                "0:13",
                "cold:arena:src",
                "huge pages",
                "10 segments",
                "then read-later:1048576",
                "beside stream"
            ]
        );
    }

    #[test]
    fn the_old_random_layout_is_labelled() {
        let mut cell = fixture::cell(Family::Copy, "avx2", Condition::plain(1500), 30.0);
        cell.condition.offsets = serde_json::from_str("\"random\"").expect("offsets of an old run");
        insta::assert_snapshot!(title(&cell), @"copy, independent calls: 1500 bytes, random offsets of 0 to 63, hot (L1)");
        insta::assert_snapshot!(brief(&cell.condition), @"1500 bytes, offset random-line, hot");
    }

    #[test]
    fn a_cold_cell_has_its_calls_per_batch() {
        let mut cell = fixture::cell(Family::Zero, "avx2", Condition::plain(4096), 30.0);
        cell.condition.cache = "cold:clflush".parse().expect("a state");
        let observed = Observed { batch_calls: Some(64), ..cell.observed.take().expect("it ran") };
        cell.observed = Some(observed.clone());
        insta::assert_snapshot!(title(&cell), @"zero, independent calls: 4 KiB, offset 0, cold:clflush (64 calls per batch)");
        cell.condition.cache = "cold:clflush:single".parse().expect("a state");
        cell.observed = Some(Observed { batch_calls: Some(1), ..observed.clone() });
        insta::assert_snapshot!(title(&cell), @"zero, independent calls: 4 KiB, offset 0, cold:clflush:single (stores timed until they retire, not until they reach a cache)");
        cell.family = Family::Checksum;
        insta::assert_snapshot!(title(&cell), @"checksum, independent calls: 4 KiB, offset 0, cold:clflush:single");
        cell.family = Family::Zero;
        // As stored before conditions contained the batch.
        cell.condition.cache =
            serde_json::from_str(r#"{"method":"clflush","operands":"both"}"#).expect("an old state");
        cell.observed = Some(Observed { batch_calls: None, ..observed.clone() });
        insta::assert_snapshot!(title(&cell), @"zero, independent calls: 4 KiB, offset 0, cold:clflush (calls per batch unknown)");
        cell.condition.cache = "mixed:30".parse().expect("a state");
        cell.condition.beside = Beside::Stream;
        cell.observed = Some(Observed { hot_share: Some(0.3012), beside_bytes: Some(5 << 30), ..observed });
        insta::assert_snapshot!(title(&cell), @"zero, independent calls: 4 KiB, offset 0, mixed:30 (64 calls per batch, 30 % of the buffers hot), while another core streams (5 GiB)");
    }

    #[test]
    fn what_ran_is_printed_if_it_differs_from_the_request() {
        let mut cell = fixture::cell(Family::Checksum, "avx2", Condition::plain(292), 30.0);
        if let Some(observed) = &mut cell.observed {
            observed.size_max = 36;
            observed.size_min = 36;
            observed.huge_bytes = Some(2 << 20);
        }
        insta::assert_snapshot!(condition(&cell), @"36 bytes, requested 292 bytes, offset 0, hot (L1), base pages requested, but 2 MiB in huge pages");
    }
}
