//! What the results of all machines have in common: a paragraph in words, and a table with a row for each machine and tier.

use crate::results::{OpponentKind, Order, Results};
use crate::standing::{Compared, FUNCTIONS, fleet_mean, heading, of_kind, percent_longer, reached};
use crate::table::factor;
use crate::{machine, markdown};
use carryline_variants::Family;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The families, with a column's title and the beginning of a sentence.
const FAMILIES: [(Family, &str, &str); 4] = [
    (Family::Checksum, "checksum", "Checksums are faster"),
    (Family::Copy, "copy", "Copies are faster"),
    (Family::Zero, "zero", "Zeroing is faster"),
    (
        Family::CopyChecksum,
        "copy and checksum",
        "Copies with their checksum, against a copy alone, are faster",
    ),
];

const TABLE: &str = "\
Of each family: the cells in which ours is faster, and slower, of all. One size: the cells over 5 % behind, of all. The last three
columns are the C library's times over ours for a fleet's size distributions, in the mean.
";

/// The paragraph and the table.
#[must_use]
pub fn overview(all: &[Results]) -> String {
    format!("{}\n{TABLE}\n{}", paragraph(all), table(all))
}

fn paragraph(all: &[Results]) -> String {
    let cpus: BTreeSet<&str> = all.iter().map(|results| results.machine.as_str()).collect();
    let masked = all.iter().filter(|results| !results.masked.is_empty()).count();
    let (cpus, tiers) = (counted(cpus.len(), "CPU model"), counted(all.len(), "tier"));
    let mut out = format!(
        "Measured on {cpus} in {tiers}, {masked} of them masked. A cell is a size under a condition, compared with the fastest \
         routine that users have without carryline.\n\n"
    );
    for (family, _, words) in FAMILIES {
        if let Some(sentence) = about(all, family, words) {
            let _ = writeln!(out, "- {sentence}");
        }
    }
    for sentence in [fleets(all), other_libraries(all), sizes(all)].into_iter().flatten() {
        let _ = writeln!(out, "- {sentence}");
    }
    out
}

/// `1 model`, `2 models`.
fn counted(count: usize, of: &str) -> String {
    format!("{count} {of}{}", if count == 1 { "" } else { "s" })
}

fn about(all: &[Results], family: Family, words: &str) -> Option<String> {
    let compared: Vec<Compared> = all.iter().map(|results| Compared::new(results, family)).collect();
    let cells: usize = compared.iter().map(Compared::cells).sum();
    let count = |order| compared.iter().map(|one| one.count(order)).sum::<usize>();
    let [faster, slower] = [Order::Faster, Order::Slower].map(count);
    let by = |at: usize| compared.iter().filter_map(move |one| one.extremes()[at]);
    let mut sentence = format!("{words} in {faster} of {cells} cells");
    if let Some(most) = by(0).max_by(f64::total_cmp) {
        let _ = write!(sentence, ", by up to {} times", factor(most));
    }
    let _ = write!(sentence, ", and slower in {slower}");
    if let Some(least) = by(1).min_by(f64::total_cmp) {
        let _ = write!(sentence, ", with up to {:.0} % more time", percent_longer(least));
    }
    (cells > 0).then(|| sentence + ".")
}

/// The lowest and the highest ratio, with a name before them.
fn range(name: &str, ratios: impl Iterator<Item = f64> + Clone) -> Option<String> {
    let (least, most) = (ratios.clone().min_by(f64::total_cmp)?, ratios.max_by(f64::total_cmp)?);
    Some(if least == most {
        format!("{name} {}", factor(least))
    } else {
        format!("{name} {} to {}", factor(least), factor(most))
    })
}

fn fleets(all: &[Results]) -> Option<String> {
    let words = |sizes: &str| {
        let of_function = |function: &&str| {
            let mean = |results| fleet_mean(results, sizes, function);
            range(function, all.iter().filter_map(mean).map(|(_, ratio)| ratio))
        };
        let words: Vec<String> = FUNCTIONS.iter().filter_map(of_function).collect();
        (!words.is_empty()).then(|| words.join(", "))
    };
    let mut sentence = format!(
        "For a fleet's size distributions, the C library's times over ours in the mean: {}",
        words("fleet")?
    );
    if let Some(learnt) = words("learnt") {
        let _ = write!(sentence, "; for sizes that a branch predictor has learned {learnt}");
    }
    Some(sentence + ".")
}

/// Of each library the lowest mean alone: on CPUs that it is not made for, some are far behind.
fn other_libraries(all: &[Results]) -> Option<String> {
    let mut least: BTreeMap<&str, f64> = BTreeMap::new();
    for other in all.iter().flat_map(|results| &results.others) {
        if let Some(mean) = other.fleet {
            let known = least.entry(&other.name).or_insert(mean.median);
            *known = known.min(mean.median);
        }
    }
    let words: Vec<String> = least.iter().map(|(name, ratio)| format!("{name} {}", factor(*ratio))).collect();
    (!words.is_empty()).then(|| {
        format!("The same for libraries outside the collection, where ours does worst: {}.", words.join(", "))
    })
}

/// Of the cells with one size up to 4096: those behind, those behind by two cycles, and all.
fn behind(results: &Results) -> [usize; 3] {
    of_kind(results, OpponentKind::Sizes).fold([0; 3], |[behind, far, cells], goal| {
        [
            behind + goal.count.below,
            far + goal.count.by_two_cycles.unwrap_or_default(),
            cells + goal.count.cells,
        ]
    })
}

fn sizes(all: &[Results]) -> Option<String> {
    let total = all.iter().map(behind).fold([0; 3], |[a, b, c], [d, e, f]| [a + d, b + e, c + f]);
    let [behind, far, cells] = total;
    (cells > 0).then(|| {
        format!(
            "Of {cells} cells with one size from 0 to 4096 bytes, called again and again, {behind} are over 5 % behind, {far} \
             of them by two core cycles or more."
        )
    })
}

fn table(all: &[Results]) -> String {
    let mut header = vec!["CPU", "tier", "goals reached"];
    header.extend(FAMILIES.map(|(_, title, _)| title));
    header.push("one size");
    header.extend(FUNCTIONS);
    let right: Vec<bool> = (0..header.len()).map(|at| at > 1).collect();
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    markdown::table(&header, &right, &rows)
}

fn row(results: &Results) -> Vec<String> {
    let [reached, measured] = reached(results);
    let masked = if results.masked.is_empty() { "" } else { ", masked" };
    let link = anchor(&heading(results));
    let mut row = vec![
        machine::core(&results.machine).to_owned(),
        format!("[{}{masked}](#{link})", results.tier.title()),
        format!("{reached} of {measured}"),
    ];
    let none = || "-".to_owned();
    row.extend(FAMILIES.map(|(family, ..)| {
        let compared = Compared::new(results, family);
        match compared.cells() {
            0 => none(),
            cells => {
                format!("{}, {} of {cells}", compared.count(Order::Faster), compared.count(Order::Slower))
            }
        }
    }));
    row.push(match behind(results) {
        [_, _, 0] => none(),
        [behind, _, cells] => format!("{behind} of {cells}"),
    });
    row.extend(FUNCTIONS.map(|function| {
        fleet_mean(results, "fleet", function).map_or_else(none, |(_, ratio)| factor(ratio))
    }));
    row
}

/// The name under which a heading is linked: its letters, digits and hyphens in lower case, and a hyphen for each space.
fn anchor(heading: &str) -> String {
    heading
        .chars()
        .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c))
        .map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_names_both_ends_or_the_only_one() {
        let range = |ratios: &[f64]| range("memcpy", ratios.iter().copied());
        assert_eq!(range(&[1.5, 1.224, 2.489]).as_deref(), Some("memcpy 1.22 to 2.49"));
        assert_eq!(range(&[0.9]).as_deref(), Some("memcpy 0.90"));
        assert_eq!(range(&[]), None);
    }

    #[test]
    fn headings_are_linked_as_renderers_name_them() {
        let heading = "AMD EPYC, family 26 model 2, virtual machine (KVM): AVX2, masked";
        assert_eq!(anchor(heading), "amd-epyc-family-26-model-2-virtual-machine-kvm-avx2-masked");
        assert_eq!(anchor("Intel(R) Xeon(R): AVX-512"), "intelr-xeonr-avx-512");
    }
}
