//! The output of `carryline inlining`: the constant sizes at which compilers inline copies and fills, and the
//! cost of a hard-coded limit.

use crate::table::{ColumnKind, Emphasis, Style, Table, bold};
use crate::text::{safe, wrap};
use serde::{Deserialize, Serialize};

/// A range of sizes, inclusive.
pub type SizeRange = (u32, u32);

/// The result for one function, compiled by one compiler with one set of flags.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InliningRow {
    /// The compiler's name.
    pub compiler: String,
    /// Its version.
    pub version: String,
    /// The flags.
    pub flags: String,
    /// The function; `None` if nothing could be compiled.
    pub function: Option<String>,
    /// `ok` or `failed`.
    pub status: String,
    /// Why it failed.
    pub reason: Option<String>,
    /// The largest size inlined without a string instruction.
    pub largest_inlined: Option<u32>,
    /// Sizes inlined without a string instruction.
    pub inlined_ranges: Vec<SizeRange>,
    /// Those of them that are a loop.
    pub loop_ranges: Vec<SizeRange>,
    /// Sizes inlined as `rep movs` or `rep stos`.
    pub rep_ranges: Vec<SizeRange>,
    /// Sizes that become a call.
    pub call_ranges: Vec<SizeRange>,
    /// Sizes below the largest inlined one that are not inlined.
    pub gap_ranges: Vec<SizeRange>,
}

impl InliningRow {
    fn outcome(&self) -> (&Option<String>, [&Vec<SizeRange>; 4]) {
        (&self.reason, [&self.inlined_ranges, &self.loop_ranges, &self.rep_ranges, &self.call_ranges])
    }
}

/// A size above a hard-coded limit: the time of the call compared with that of the inlined code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitSize {
    /// Size in bytes.
    pub size: u32,
    /// `inlined` or `rep`.
    pub how: String,
    /// Ticks of an iteration with the inlined code, including the loop.
    pub inlined_ticks: f64,
    /// Ticks of an iteration with the call.
    pub call_ticks: f64,
    /// The time of the call divided by that of the inlined code: median and 95 % interval of the paired
    /// ratios.
    pub ratio: carryline_statistics::Ratio,
    /// The noise floor, from two measurements of the call.
    pub noise_floor: f64,
    /// The effect of the limit on this size: `slower`, `faster` or `tie`.
    pub verdict: String,
}

/// The cost of a hard-coded limit for a function and a compiler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitRow {
    /// The compiler's name.
    pub compiler: String,
    /// Its version.
    pub version: String,
    /// The flags.
    pub flags: String,
    /// The function.
    pub function: String,
    /// The limit in bytes: larger sizes become a call.
    pub limit_bytes: u32,
    /// Sizes within the limit that the compiler does not inline anyway.
    pub call_within_ranges: Vec<SizeRange>,
    /// Sizes above the limit that the compiler would inline.
    pub in_place_above_ranges: Vec<SizeRange>,
    /// Those of them that the limit makes slower.
    pub slower_ranges: Vec<SizeRange>,
    /// Those that it makes faster.
    pub faster_ranges: Vec<SizeRange>,
    /// Those for which no difference was found.
    pub tie_ranges: Vec<SizeRange>,
    /// Why sizes were not measured.
    pub reason: Option<String>,
    /// The measurements by size.
    pub sizes: Vec<LimitSize>,
}

/// The result of `carryline inlining`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inlining {
    /// The version of the JSON form.
    pub schema_version: u32,
    /// Rows by compiler, flags and function.
    pub rows: Vec<InliningRow>,
    /// The cost of a hard-coded limit, for C compilers.
    pub limits: Vec<LimitRow>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Merges ascending sizes into ranges.
///
/// ```
/// use carryline_report::inlining::ranges;
/// assert_eq!(ranges([1, 2, 4, 8, 9, 10]), [(1, 2), (4, 4), (8, 10)]);
/// ```
#[must_use]
pub fn ranges(ascending: impl IntoIterator<Item = u32>) -> Vec<SizeRange> {
    let mut found: Vec<SizeRange> = Vec::new();
    for size in ascending {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == size => *last = size,
            _ => found.push((size, size)),
        }
    }
    found
}

/// Ranges as text: `1..64, 72`, or a dash if there are none; the number of the rest if there are many.
fn words(ranges: &[SizeRange]) -> String {
    const MOST: usize = 8;
    let word = |(first, last): &SizeRange| match first == last {
        true => first.to_string(),
        false => format!("{first}..{last}"),
    };
    let mut text = ranges.iter().take(MOST).map(word).collect::<Vec<_>>().join(", ");
    if let (Some((first, _)), Some((_, last))) = (ranges.get(MOST), ranges.last()) {
        text.push_str(&format!(" and {} more in {first}..{last}", ranges.len() - MOST));
    }
    if text.is_empty() { "-".to_owned() } else { text }
}

impl Inlining {
    /// A table for each compiler, followed by the cost of the limit.
    #[must_use]
    pub fn to_text(&self, style: Style) -> String {
        let mut out = String::new();
        let mut rest = self.rows.as_slice();
        while let Some(first) = rest.first() {
            let same = |row: &&InliningRow| row.compiler == first.compiler && row.version == first.version;
            let (rows, others) = rest.split_at(rest.iter().take_while(same).count());
            rest = others;
            let title = format!("{} {}: constant sizes inlined", first.compiler, first.version);
            out.push_str(&format!("{}\n{}\n", bold(&safe(&title), style), compiler_table(rows, style)));
        }
        if !self.limits.is_empty() {
            out.push_str(&self.limits_text(style));
        }
        for note in &self.notes {
            out.push_str(&wrap(&safe(note), style.width, 2));
            out.push('\n');
        }
        out
    }

    fn limits_text(&self, style: Style) -> String {
        let limit = self.limits.first().map_or(0, |row| row.limit_bytes);
        let title = format!("A hard-coded limit of {limit}: larger sizes become a call");
        let mut out = format!("{}\n", bold(&title, style));
        let mut table = Table::new([
            ("compiler", ColumnKind::Name),
            ("flags", ColumnKind::Name),
            ("function", ColumnKind::Name),
            ("in place\nabove it", ColumnKind::Text),
            ("slower\nby it", ColumnKind::Text),
            ("faster\nby it", ColumnKind::Text),
            ("no\ndifference", ColumnKind::Text),
            ("a call\nwithin it", ColumnKind::Text),
        ]);
        for row in &self.limits {
            let sizes = |ranges: &[SizeRange], verdict: &str| match most_different(&row.sizes, verdict) {
                Some(size) => {
                    format!("{} (x{:.2} at {})", words(ranges), size.ratio.median, size.size)
                }
                None => words(ranges),
            };
            let emphasis = if row.slower_ranges.is_empty() { Emphasis::None } else { Emphasis::Strong };
            table.push(
                vec![
                    format!("{} {}", row.compiler, row.version),
                    row.flags.clone(),
                    row.function.clone(),
                    words(&row.in_place_above_ranges),
                    row.reason.clone().unwrap_or_else(|| sizes(&row.slower_ranges, "slower")),
                    sizes(&row.faster_ranges, "faster"),
                    words(&row.tie_ranges),
                    words(&row.call_within_ranges),
                ],
                emphasis,
            );
        }
        out.push_str(&match table.fits(style) {
            true => table.render(style),
            false => table.render_as_list(3, style),
        });
        if self.limits.iter().all(|row| row.sizes.is_empty()) {
            return out;
        }
        let legend = "Measured: independent calls, buffers in the first-level cache at random offsets; x \
                      is the time of the call divided by the time of the inlined code, loop included.";
        out.push_str(&format!("{}\n", wrap(legend, style.width, 0)));
        out
    }
}

/// The size with this verdict whose ratio is farthest from 1.
fn most_different<'a>(sizes: &'a [LimitSize], verdict: &str) -> Option<&'a LimitSize> {
    let far = |size: &&LimitSize| size.ratio.median.ln().abs();
    sizes.iter().filter(|size| size.verdict == verdict).max_by(|a, b| far(a).total_cmp(&far(b)))
}

/// The table of a compiler; functions with the same outcome share a row.
fn compiler_table(rows: &[InliningRow], style: Style) -> String {
    let mut table = Table::new([
        ("flags", ColumnKind::Name),
        ("function", ColumnKind::Text),
        ("largest\nin place", ColumnKind::Number),
        ("gaps below it", ColumnKind::Text),
        ("rep movs/stos", ColumnKind::Text),
        ("call", ColumnKind::Text),
    ]);
    let mut done: Vec<usize> = Vec::new();
    let mut missing: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        if done.contains(&index) {
            continue;
        }
        if let (Some(function), Some(reason)) = (&row.function, &row.reason) {
            match missing.iter_mut().find(|(f, r, _)| (*f, *r) == (function.as_str(), reason.as_str())) {
                Some((_, _, flags)) => flags.push(&row.flags),
                None => missing.push((function, reason, vec![&row.flags])),
            }
            continue;
        }
        let alike: Vec<usize> = (index..rows.len())
            .filter(|other| rows[*other].flags == row.flags && rows[*other].outcome() == row.outcome())
            .collect();
        let functions: Vec<&str> =
            alike.iter().filter_map(|other| rows[*other].function.as_deref()).collect();
        done.extend(&alike);
        let (gaps, emphasis) = match &row.reason {
            Some(reason) => (format!("failed: {reason}"), Emphasis::Bad),
            None => (words(&row.gap_ranges), Emphasis::None),
        };
        let looped = match row.loop_ranges.is_empty() {
            true => String::new(),
            false => format!("; a loop at {}", words(&row.loop_ranges)),
        };
        table.push(
            vec![
                row.flags.clone(),
                functions.join(", "),
                row.largest_inlined.map_or(String::new(), |size| size.to_string()),
                format!("{gaps}{looped}"),
                if row.reason.is_some() { String::new() } else { words(&row.rep_ranges) },
                if row.reason.is_some() { String::new() } else { words(&row.call_ranges) },
            ],
            emphasis,
        );
    }
    let mut out = match table.fits(style) {
        true => table.render(style),
        false => table.render_as_list(2, style),
    };
    let mut all: Vec<&str> = rows.iter().map(|row| row.flags.as_str()).collect();
    all.dedup();
    for (function, reason, flags) in missing {
        let under = if flags == all { "any flags".to_owned() } else { flags.join(", ") };
        out.push_str(&wrap(&safe(&format!("{function} under {under}: {reason}")), style.width, 2));
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests;
