//! The decisions for CPUs that nobody measured: those that lose least over all measured CPUs.
//!
//! The evidence is written by `carryline tune --emit` beside a profile: the time of each method at each size.
//! The loss of a ladder's thresholds at a size on a CPU is the time of the method that they choose, as a
//! multiple of the best method's. The thresholds with the smallest maximum loss win; among those within 2 %
//! of it, the ones with the smallest sum of logarithms, then the largest thresholds. This is safe because:
//!
//! - A method is not used below the smallest size at which every CPU was measured with it, and is never used
//!   if some CPU was not measured with it at all.
//! - Beyond the largest size measured on a CPU, the methods are assumed to compare as they do there.
//! - A string instruction is never used: on another CPU it may be slow where it is fast on these. On Zen 3 `rep
//!   movsb` takes 16 times as long as a loop at some distances between the buffers, and the features that the CPU
//!   reports are those of CPUs on which it wins at all of them.
//! - Entry points for bytes that are not read soon are judged with cold buffers only: that is the state in
//!   which the next call finds them.

use crate::questions::{self, Method, Question, SHARE, Setting};
use crate::settings::{Settings, decision};
use carryline::internals::tuning::Decision;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;

/// The built-in profiles with these decisions. They differ in their kernels, which are not computed.
pub const UNMEASURED: [&str; 4] =
    ["unmeasured-amd-zen4", "unmeasured-intel-older", "unmeasured-intel", "unmeasured"];

/// Losses whose ratio is below this count as equal.
const ALIKE: f64 = 1.02;

/// The measurements of one CPU.
#[derive(Clone, Debug, Deserialize)]
pub struct Evidence {
    /// The name of the profile, from the name of the file.
    #[serde(skip)]
    pub name: String,
    /// The times.
    pub measured: Vec<Times>,
}

/// The times of the methods at one size under one condition.
#[derive(Clone, Debug, Deserialize)]
pub struct Times {
    /// The name of the decision from which size the alternative is used.
    pub decision: String,
    /// The size of a call in bytes.
    pub size_bytes: u64,
    /// The condition.
    pub setting: Setting,
    /// The times in the order of [`Method::ALL`], in any unit.
    pub relative_times: [Option<f64>; 3],
}

/// A decision and its maximum loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The decision.
    pub decision: Decision,
    /// Its value in bytes; `u64::MAX` for never.
    pub bytes: u64,
    /// The maximum loss on the measured CPUs with this threshold and the ladder's other one, as a ratio of
    /// times; `None` if nothing was measured.
    pub loss: Option<f64>,
    /// The CPU, size and condition of the maximum loss.
    pub place: String,
}

/// Reads the `*.json` files of a folder.
///
/// # Errors
/// Fails if a file cannot be read, or does not hold evidence.
pub fn read(folder: &Path) -> Result<Vec<Evidence>, String> {
    let of_path = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let files = std::fs::read_dir(folder).map_err(|error| of_path(folder, &error))?;
    let mut paths = Vec::new();
    for file in files {
        let path = file.map_err(|error| of_path(folder, &error))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let text = std::fs::read_to_string(path).map_err(|error| of_path(path, &error))?;
            let evidence: Evidence = serde_json::from_str(&text).map_err(|error| of_path(path, &error))?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Ok(Evidence { name, ..evidence })
        })
        .collect()
}

/// The decisions with the least loss.
#[must_use]
pub fn choose(evidence: &[Evidence]) -> Vec<Choice> {
    questions::all().flat_map(|question| of_question(&question, evidence)).collect()
}

/// `settings` with these decisions.
#[must_use]
pub fn with(settings: Settings, choices: &[Choice]) -> Settings {
    choices.iter().fold(settings, |settings, choice| settings.with(choice.decision, choice.bytes))
}

fn of_question(question: &Question, evidence: &[Evidence]) -> Vec<Choice> {
    let non_temporal = question.non_temporal.filter(|name| *name != SHARE);
    let relevant = |times: &&Times| {
        let is_cold = matches!(times.setting, Setting::Cold | Setting::Arena);
        times.decision == question.alternative && (!question.is_not_soon() || is_cold)
    };
    let of_cpu: Vec<(&str, Vec<&Times>)> = evidence
        .iter()
        .map(|cpu| (cpu.name.as_str(), cpu.measured.iter().filter(relevant).collect()))
        .collect();
    let usable = |method: Method| method != Method::NonTemporal || non_temporal.is_some();
    let allowed = |method: Method| {
        usable(method) && !(method == Method::Alternative && is_string(question.alternative))
    };
    let from = |method: Method| {
        let mut sizes: Vec<u64> = Vec::new();
        if let Some(least) = least_on_all(&of_cpu, method).filter(|_| allowed(method)) {
            let all: BTreeSet<u64> =
                of_cpu.iter().flat_map(|(_, times)| times.iter().map(|times| times.size_bytes)).collect();
            sizes.extend(all.into_iter().filter(|size| *size >= least));
        }
        sizes.push(u64::MAX);
        sizes
    };
    let mut candidates: Vec<(Loss, u64, u64)> = Vec::new();
    for around in from(Method::NonTemporal) {
        for alternative in from(Method::Alternative) {
            let method = |size: u64| match size {
                _ if size >= around => Method::NonTemporal,
                _ if size >= alternative => Method::Alternative,
                _ => Method::Loop,
            };
            candidates.push((Loss::of(&of_cpu, &usable, method), alternative, around));
        }
    }
    let least = candidates.iter().map(|(loss, ..)| loss.largest).fold(f64::INFINITY, f64::min);
    let alike = candidates.into_iter().filter(|(loss, ..)| loss.largest <= least * ALIKE);
    // Ties go to the largest thresholds.
    let best = alike.min_by(|(a, alternative_a, around_a), (b, alternative_b, around_b)| {
        let sums = (a.sum * 1e3).round().total_cmp(&(b.sum * 1e3).round());
        sums.then(around_b.cmp(around_a)).then(alternative_b.cmp(alternative_a))
    });
    let Some((loss, alternative, around)) = best else { return Vec::new() };
    let choice = |name: &str, bytes: u64| Choice {
        decision: decision(name),
        bytes,
        loss: (!loss.place.is_empty()).then_some(loss.largest),
        place: loss.place.clone(),
    };
    let own = non_temporal.map(|name| choice(name, around));
    std::iter::once(choice(question.alternative, alternative)).chain(own).collect()
}

/// Whether a decision is about a string instruction.
fn is_string(decision: &str) -> bool {
    decision.starts_with("rep_")
}

/// The smallest size from which every CPU was measured with a method; `None` if some CPU was not measured
/// with it.
fn least_on_all(of_cpu: &[(&str, Vec<&Times>)], method: Method) -> Option<u64> {
    let of_one = |times: &[&Times]| {
        let with = times.iter().filter(|times| times.relative_times[method as usize].is_some());
        with.map(|times| times.size_bytes).min()
    };
    let all: Option<Vec<u64>> = of_cpu.iter().map(|(_, times)| of_one(times)).collect();
    all?.into_iter().max()
}

/// The losses of thresholds over all measurements.
struct Loss {
    /// The largest ratio of the chosen method's time to the best one's.
    largest: f64,
    /// The CPU, size and condition of the largest.
    place: String,
    /// The sum of the ratios' logarithms.
    sum: f64,
}

impl Loss {
    fn of(
        of_cpu: &[(&str, Vec<&Times>)],
        usable: &dyn Fn(Method) -> bool,
        method: impl Fn(u64) -> Method,
    ) -> Loss {
        let mut loss = Loss { largest: 1.0, place: String::new(), sum: 0.0 };
        for (name, all) in of_cpu {
            let chosen = all.iter().map(|times| (*times, method(times.size_bytes)));
            let is_largest = |times: &&&Times| {
                let same = all.iter().filter(|other| other.setting == times.setting);
                same.map(|other| other.size_bytes).max() == Some(times.size_bytes)
            };
            let beyond = all.iter().filter(is_largest).map(|times| (*times, method(u64::MAX - 1)));
            for (times, method) in chosen.chain(beyond) {
                let Some(own) = times.relative_times[method as usize] else { continue };
                let known = Method::ALL.into_iter().filter(|method| usable(*method));
                let best = known
                    .filter_map(|method| times.relative_times[method as usize])
                    .fold(f64::INFINITY, f64::min);
                let ratio = own / best;
                loss.sum += ratio.ln();
                if ratio > loss.largest || loss.place.is_empty() {
                    loss.largest = loss.largest.max(ratio);
                    loss.place = format!("{name}, {} bytes, {:?}", times.size_bytes, times.setting);
                }
            }
        }
        loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(name: &str, rows: &[(&str, u64, Setting, [Option<f64>; 3])]) -> Evidence {
        let times = |(decision, size_bytes, setting, relative_times): &(&str, u64, Setting, _)| Times {
            decision: (*decision).to_owned(),
            size_bytes: *size_bytes,
            setting: *setting,
            relative_times: *relative_times,
        };
        Evidence { name: name.to_owned(), measured: rows.iter().map(times).collect() }
    }

    fn bytes(evidence: &[Evidence], decision: Decision) -> u64 {
        choose(evidence).iter().find(|choice| choice.decision == decision).expect("a choice").bytes
    }

    const MOVSB: &str = "rep_movsb_from_bytes";
    const READ_ONCE: &str = "read_once_from_bytes";
    const KIB: u64 = 1 << 10;

    #[test]
    fn string_instructions_are_not_used_even_if_they_win() {
        let wins = [(MOVSB, 32 * KIB, Setting::Hot, [Some(1.7), Some(1.0), None])];
        assert_eq!(bytes(&[cpu("one", &wins)], Decision::RepMovsb), u64::MAX);
    }

    #[test]
    fn a_method_that_is_bad_or_unmeasured_on_one_cpu_is_not_used() {
        let wins = [
            (READ_ONCE, 16 * KIB, Setting::Hot, [Some(1.0), Some(1.2), None]),
            (READ_ONCE, 32 * KIB, Setting::Hot, [Some(1.7), Some(1.0), None]),
        ];
        let one = cpu("one", &wins);
        assert_eq!(bytes(std::slice::from_ref(&one), Decision::ReadOnce), 32 * KIB);
        let trap = cpu("two", &[(READ_ONCE, 64 * KIB, Setting::Cold, [Some(1.0), Some(16.0), None])]);
        assert_eq!(bytes(&[one.clone(), trap], Decision::ReadOnce), u64::MAX);
        let unknown = cpu("three", &[(READ_ONCE, 16 * KIB, Setting::Hot, [Some(1.0), None, None])]);
        assert_eq!(bytes(&[one, unknown], Decision::ReadOnce), u64::MAX);
    }

    #[test]
    fn not_soon_is_judged_cold_and_from_sizes_measured_on_every_cpu() {
        const NOT_SOON: &str = "rep_stosb_not_soon_from_bytes";
        let row = |kib, setting, plain, around| (NOT_SOON, kib * KIB, setting, [Some(plain), None, around]);
        let first = cpu(
            "first",
            &[
                row(4, Setting::Cold, 1.6, Some(1.0)),
                row(16, Setting::Cold, 2.4, Some(1.0)),
                row(16, Setting::Hot, 1.0, Some(9.0)),
            ],
        );
        assert_eq!(bytes(std::slice::from_ref(&first), Decision::ZeroNonTemporal), 4 * KIB);
        let of_two = |second: &[(&str, u64, Setting, [Option<f64>; 3])]| {
            bytes(&[first.clone(), cpu("second", second)], Decision::ZeroNonTemporal)
        };
        let second = |kib, around| row(kib, Setting::Cold, 1.0, Some(around));
        assert_eq!(of_two(&[second(8, 1.03), second(16, 0.9)]), 16 * KIB, "it was slower at 8 KiB");
        assert_eq!(of_two(&[second(8, 0.9)]), 8 * KIB);
        assert_eq!(of_two(&[second(8, 3.0)]), u64::MAX, "and is assumed to stay slower");
        assert_eq!(bytes(&[first], Decision::RepStosbNotSoon), u64::MAX);
    }

    #[test]
    fn the_built_in_profiles_for_unmeasured_cpus_follow_from_the_evidence() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/profiles");
        let evidence = read(&folder).expect("the evidence");
        assert!(evidence.len() >= 3, "{evidence:?}");
        let names = carryline::internals::tuning::built_in_names();
        assert!(names.filter(|name| name.starts_with("unmeasured")).eq(UNMEASURED));
        for name in UNMEASURED {
            let built_in = carryline::internals::tuning::built_in(name).expect("it is built in");
            let settings = Settings::from(built_in);
            assert_eq!(with(settings, &choose(&evidence)), settings, "{name}: run `cargo xtask profiles`");
        }
        for cpu in &evidence {
            assert!(
                carryline::internals::tuning::built_in(&cpu.name).is_some(),
                "{} is no profile",
                cpu.name
            );
        }
    }

    /// By how much longer a string instruction may take at a size at which a profile uses it: in no stored cell
    /// more than an eighth. Where loops are the slower ones, they take up to 3.7 times as long.
    const STRING_MOST: f64 = 1.13;

    /// The decisions by which a profile uses string instructions, each with those whose figures it rests on, the first that
    /// has any: a loop by narrow moves is no faster than one by wide moves.
    const OF_STRINGS: [(&str, &[&str]); 8] = [
        (STOSB, &[STOSB]),
        (STOSB_NARROW, &[STOSB_NARROW, STOSB]),
        ("rep_stosb_scalar_from_bytes", &[STOSB_NARROW, STOSB]),
        ("rep_stosb_not_soon_from_bytes", &["rep_stosb_not_soon_from_bytes"]),
        (MOVSB, &[MOVSB]),
        (MOVSB_NARROW, &[MOVSB_NARROW, MOVSB]),
        ("rep_movsb_scalar_from_bytes", &[MOVSB_NARROW, MOVSB]),
        ("rep_movsb_not_soon_from_bytes", &["rep_movsb_not_soon_from_bytes"]),
    ];
    const STOSB: &str = "rep_stosb_from_bytes";
    const STOSB_NARROW: &str = "rep_stosb_narrow_from_bytes";
    const MOVSB_NARROW: &str = "rep_movsb_narrow_from_bytes";

    /// What is wrong with the string instructions of a profile by the figures of its CPU: cells in which they
    /// lose, and states of the buffers in which nothing was measured.
    fn objections(settings: Settings, cpu: &Evidence) -> Vec<String> {
        let mut found = Vec::new();
        for (name, of_figures) in OF_STRINGS {
            let from = settings.bytes(decision(name));
            if from == u64::MAX {
                continue;
            }
            let cells = |name: &str| -> Vec<(&Times, f64)> {
                let of_decision = cpu.measured.iter().filter(|times| times.decision == name);
                of_decision
                    .filter_map(|times| match times.relative_times {
                        [Some(of_loop), Some(of_string), _] => Some((times, of_string / of_loop)),
                        _ => None,
                    })
                    .collect()
            };
            let figures: Vec<_> = of_figures.iter().map(|name| cells(name)).collect();
            // Bytes that are not read soon are expected to be uncached; only copies have a distance. At one of 1 to 63
            // bytes modulo 4096, no string instruction is used.
            let states: &[Setting] = match () {
                () if name.contains("not_soon") => &[Setting::Cold],
                () if name.contains("movsb") => &[Setting::Hot, Setting::Aligned, Setting::Cold],
                () => &[Setting::Hot, Setting::Cold],
            };
            for state in states {
                let in_state = |cells: &[(&Times, f64)]| -> Vec<(u64, f64)> {
                    let of_state = cells.iter().filter(|(times, _)| times.setting == *state);
                    of_state.map(|(times, ratio)| (times.size_bytes, *ratio)).collect()
                };
                let mut of_state = figures.iter().map(|cells| in_state(cells));
                let cells = of_state.find(|cells| !cells.is_empty()).unwrap_or_default();
                if cells.is_empty() {
                    found.push(format!("{}: {name}: not measured {state:?}", cpu.name));
                }
                let losses = cells.iter().filter(|(bytes, ratio)| *bytes >= from && *ratio > STRING_MOST);
                found.extend(losses.map(|(bytes, ratio)| {
                    format!("{}: {name}: {bytes} bytes {state:?} {ratio:.2}", cpu.name)
                }));
            }
        }
        found
    }

    #[test]
    fn string_instructions_are_used_only_where_they_were_measured_and_lose_at_no_distance() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/profiles");
        let mut used = 0;
        for cpu in read(&folder).expect("the evidence") {
            let built_in = carryline::internals::tuning::built_in(&cpu.name).expect("it is built in");
            let settings = Settings::from(built_in);
            assert_eq!(objections(settings, &cpu), [""; 0]);
            used += OF_STRINGS.iter().filter(|(name, _)| settings.bytes(decision(name)) < u64::MAX).count();
        }
        assert!(used > 3, "{used} decisions");
        // Below the size from which the profile of Zen 5 uses it, buffers at the same offset are slow.
        let zen5 = read(&folder).expect("the evidence").into_iter().find(|cpu| cpu.name == "amd-zen5");
        let built_in = carryline::internals::tuning::built_in("amd-zen5").expect("it is built in");
        let sooner = Settings::from(built_in).with(Decision::RepMovsb, 25 * KIB);
        let found = objections(sooner, &zen5.expect("its evidence"));
        assert!(found.iter().any(|line| line.contains("Aligned 1.45")), "{found:?}");
    }
}
