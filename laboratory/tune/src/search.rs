//! The search: kernels, then thresholds, then the distance of prefetches, then what replaces some of these: prefetches far
//! ahead and `clzero`.

use crate::arms::{self, Cell, Lab};
use crate::questions::{LAST, NEAR, PREFETCHES, Question, stores};
use crate::settings::{Settings, function};
use crate::thresholds::{Answer, Knobs, Measured, search_thresholds};
use carryline::internals::cpu::{self, Features};
use carryline::internals::dispatch::{Function, kernels};
use carryline::internals::plan::NEAR_STRINGS_BELOW_BYTES;
use carryline::internals::tuning::Decision;
use carryline_conditions::sizes::Sizes;
use carryline_conditions::{Condition, Offsets};
use carryline_engine::failure::Failure;
use carryline_variants::Family;
use std::path::Path;
use std::time::Duration;

/// The fractions of the time.
const FOR_KERNELS: f64 = 0.2;
/// See [`FOR_KERNELS`].
const FOR_STORES: f64 = 0.5;
/// See [`FOR_KERNELS`].
const FOR_PREFETCHES: f64 = 0.17;
/// See [`FOR_KERNELS`].
const FOR_LAST: f64 = 0.08;
/// See [`FOR_KERNELS`].
const FOR_DISTANCES: f64 = 0.05;
/// The most kernels of one function that are compared with the one in force: the first ones in its list.
const MOST_KERNELS: usize = 3;
/// The gain, as a difference of mean logarithms, above which another kernel or distance is chosen.
const BETTER: f64 = 0.02;

/// The best settings measured; where the difference from `base` is noise, those of `base`.
///
/// # Errors
/// Fails if a worker cannot be started or a file cannot be written.
pub fn search(
    lab: &Lab<'_>,
    base: &Settings,
    families: &[Family],
    folder: &Path,
    time: Duration,
) -> Result<Answer<Settings>, Failure> {
    let is_asked = |question: &Question| families.contains(&question.family);
    let stores: Vec<Question> = stores(cpu::features()).filter(is_asked).collect();
    let mut prefetches: Vec<Question> = PREFETCHES.into_iter().filter(is_asked).collect();
    prefetches.retain(|question| question.family != Family::Checksum || sums_prefetch(base));
    let has_distance = families.contains(&Family::Checksum) && sums_prefetch(base);
    let distances = if has_distance { FOR_DISTANCES } else { 0.0 };
    let mut last: Vec<Question> = LAST.into_iter().filter(is_asked).collect();
    last.retain(|question| match question.family {
        Family::Checksum => sums_prefetch_far(base),
        Family::Zero => cpu::features().contains(Features::CLZERO),
        Family::Copy | Family::CopyChecksum => true,
    });
    let part = |questions: &[Question], part: f64| if questions.is_empty() { 0.0 } else { part };
    let parts = [
        FOR_KERNELS,
        part(&stores, FOR_STORES),
        part(&prefetches, FOR_PREFETCHES),
        distances,
        part(&last, FOR_LAST),
    ];
    let all: f64 = parts.iter().sum();
    let [for_kernels, for_stores, for_prefetches, for_distances, for_last] =
        parts.map(|part| time.mul_f64(part / all));

    let mut settings = search_kernels(lab, base, families, folder, for_kernels)?;
    let mut measured: Vec<Measured> = Vec::new();
    let mut ask = |settings, questions: &[Question], time| -> Result<Settings, Failure> {
        if questions.is_empty() {
            return Ok(settings);
        }
        let answer = search_thresholds(lab, &settings, questions, folder, time)?;
        measured.extend(answer.measured);
        Ok(answer.settings)
    };
    settings = ask(settings, &stores, for_stores)?;
    settings = ask(settings, &prefetches, for_prefetches)?;
    if has_distance {
        settings = search_distance(lab, &settings, folder, for_distances)?;
    }
    // Where no copy of a few pages is by `rep movsb`, the distance changes nothing.
    let is_narrow = !cpu::features().contains(Features::AVX2);
    let has_near_strings =
        is_narrow && settings.bytes(Decision::RepMovsbNarrow) < NEAR_STRINGS_BELOW_BYTES as u64;
    last.retain(|question| question.alternative != NEAR || has_near_strings);
    settings = ask(settings, &last, for_last)?;
    Ok(Answer { settings, measured })
}

/// True if the checksum kernel can prefetch: the AVX-512 kernels can.
fn sums_prefetch(settings: &Settings) -> bool {
    settings.kernel(Function::Checksum).starts_with("avx512")
}

/// True if the checksum kernel can prefetch a few lines far ahead: those by vectors can.
fn sums_prefetch_far(settings: &Settings) -> bool {
    settings.kernel(Function::Checksum).starts_with("avx")
}

/// The prefetch distances compared, in bytes.
const DISTANCES: [u64; 6] = [512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10];

/// Checksum cells at these multiples of the size from which `settings` prefetch; none if they do not.
///
/// # Errors
/// Fails if a size cannot be parsed.
pub fn prefetched(settings: &Settings, times: [f64; 3]) -> Result<Vec<Cell>, Failure> {
    let from = settings.bytes(Decision::SumPrefetch);
    if from > 16 << 20 || !sums_prefetch(settings) {
        return Ok(Vec::new());
    }
    multiples(from, times)
}

/// Checksum cells at these multiples of a size in bytes, rounded to bytes.
fn multiples(bytes: u64, times: [f64; 3]) -> Result<Vec<Cell>, Failure> {
    let sizes = times.map(|times| ((bytes as f64 * times).round() as u64).to_string());
    cells_of(Family::Checksum, &sizes.each_ref().map(String::as_str))
}

/// The best prefetch distance.
fn search_distance(
    lab: &Lab<'_>,
    base: &Settings,
    folder: &Path,
    time: Duration,
) -> Result<Settings, Failure> {
    let cells = prefetched(base, [1.0, 2.0, 4.0])?;
    let alternatives = DISTANCES.map(|bytes| base.with(Decision::SumPrefetchAhead, bytes));
    let own = base.bytes(Decision::SumPrefetchAhead);
    let all: Vec<Settings> =
        [*base].into_iter().chain(alternatives.into_iter().filter(|settings| settings != base)).collect();
    let arms: Vec<_> = all
        .iter()
        .map(|settings| {
            settings.arm(&format!("{} ahead", settings.bytes(Decision::SumPrefetchAhead)), folder)
        })
        .collect::<std::io::Result<_>>()?;
    let found = arms::measure(lab, &arms, &cells, time)?;
    let places: Vec<usize> = (0..cells.len()).collect();
    let costs = all
        .iter()
        .enumerate()
        .map(|(arm, settings)| (found.mean_log(&places, arm), settings.bytes(Decision::SumPrefetchAhead)));
    let best = cheaper(costs, own);
    Ok(best.map_or(*base, |bytes| base.with(Decision::SumPrefetchAhead, bytes)))
}

/// The alternative with the least cost if it is cheaper than `own` by more than [`BETTER`].
fn cheaper<T: PartialEq + Copy>(costs: impl Iterator<Item = (Option<f64>, T)>, own: T) -> Option<T> {
    let costs: Vec<(f64, T)> = costs.filter_map(|(cost, which)| Some((cost?, which))).collect();
    let (own_cost, _) = costs.iter().find(|(_, which)| *which == own)?;
    let (least, best) = costs.iter().min_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (*least < own_cost - BETTER).then_some(*best)
}

/// The sizes at which kernels are compared, mixed and fixed.
const KERNEL_SIZES: [(Family, &[&str]); 4] = [
    (Family::Zero, &["fleet:memset-A", "fleet:memset-D", "fleet:memset-Q", "16", "100", "1500"]),
    (Family::Copy, &["fleet:memcpy-A", "fleet:memcpy-D", "fleet:memcpy-Q", "16", "100", "1500"]),
    (Family::Checksum, &["1..64", "1..1500", "20", "40", "1500", "32K"]),
    (Family::CopyChecksum, &["1..1500", "40", "1500", "9000"]),
];

/// Cells of the variant `carryline` at these sizes, hot and at random offsets.
///
/// # Errors
/// Fails if a size cannot be parsed.
pub fn cells_of(family: Family, words: &[&str]) -> Result<Vec<Cell>, Failure> {
    let cell = |sizes| Cell {
        family,
        subject: "carryline",
        condition: Condition { sizes, offsets: Offsets::Random, ..Condition::plain(0) },
    };
    Ok(Sizes::parse_list(&words.join(","))?.into_iter().map(cell).collect())
}

/// The kernels of a function that are compared on this CPU, given the one in force.
fn candidates(function: Function, in_force: &'static str) -> Vec<&'static str> {
    let usable = kernels(function).filter(|(_, needs)| cpu::features().contains(*needs));
    first_and(usable.map(|(name, _)| name), in_force)
}

/// The first of some kernels, and the one in force: without its time, no other could replace it.
fn first_and(kernels: impl Iterator<Item = &'static str>, in_force: &'static str) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = kernels.take(MOST_KERNELS).collect();
    if !names.contains(&in_force) {
        names.push(in_force);
    }
    names
}

fn search_kernels(
    lab: &Lab<'_>,
    base: &Settings,
    families: &[Family],
    folder: &Path,
    time: Duration,
) -> Result<Settings, Failure> {
    let candidates = |function| candidates(function, base.kernel(function));
    let most = Function::ALL.into_iter().map(|function| candidates(function).len()).max().unwrap_or(0);
    let (mut arms, mut settings_of) = (Vec::new(), Vec::new());
    for number in 0..most {
        let mut settings = *base;
        for function in Function::ALL {
            let names = candidates(function);
            settings = settings.with_kernel(function, names.get(number).or(names.first()).copied());
        }
        arms.push(settings.arm(&format!("kernels {}", number + 1), folder)?);
        settings_of.push(settings);
    }
    let mut cells = Vec::new();
    for (family, words) in KERNEL_SIZES.into_iter().filter(|(family, _)| families.contains(family)) {
        cells.extend(cells_of(family, words)?);
    }
    let found = arms::measure(lab, &arms, &cells, time)?;
    let mut settings = *base;
    for family in families.iter().copied() {
        let function = function(family);
        let own: Vec<usize> = (0..cells.len()).filter(|cell| cells[*cell].family == family).collect();
        let costs = settings_of
            .iter()
            .enumerate()
            .map(|(arm, settings)| (found.mean_log(&own, arm), settings.kernel(function)));
        if let Some(kernel) = cheaper(costs, base.kernel(function)) {
            settings = settings.with_kernel(function, Some(kernel));
        }
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alternative_must_be_clearly_cheaper() {
        let costs = |other| [(Some(0.5), 'a'), (Some(other), 'b'), (None, 'c')].into_iter();
        assert_eq!(cheaper(costs(0.4), 'a'), Some('b'));
        assert_eq!(cheaper(costs(0.49), 'a'), None);
        assert_eq!(cheaper(costs(0.4), 'c'), None, "the one in force was not measured");
    }

    #[test]
    fn the_kernel_in_force_is_always_compared() {
        let of = |in_force| first_and(["a", "b", "c", "d", "e"].into_iter(), in_force);
        assert_eq!((of("b"), of("e")), (vec!["a", "b", "c"], vec!["a", "b", "c", "e"]));
        for function in Function::ALL {
            for (name, _) in kernels(function) {
                assert!(candidates(function, name).contains(&name), "{name}");
            }
        }
    }

    #[test]
    fn sizes_to_check_a_prefetch_at_are_whole_bytes() {
        let cells = multiples(131_073, [1.5, 3.0, 6.0]).expect("sizes can be read");
        let sizes: Vec<u64> = cells.iter().map(|cell| cell.condition.sizes.min()).collect();
        assert_eq!(sizes, [196_610, 393_219, 786_438]);
    }
}
