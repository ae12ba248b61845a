//! `carryline machine`: the machine that results are measured on, and what cannot be measured there.

use crate::cli::Common;
use crate::output;
use carryline::internals::cpu::Model;
use carryline::internals::plan::NEAR_STRINGS_BELOW_BYTES;
use carryline::internals::tuning::{DETECTED, Decision, Decisions, built_in, built_in_for, parse};
use carryline::tuning::{Active, Origin};
use carryline_engine::failure::Failure;
use carryline_engine::machine::Here;
use carryline_report::listing::{Machine, NotMeasurable};
use carryline_report::units::byte_phrase;
use carryline_tune::safe::UNMEASURED;
use std::ops::RangeInclusive;

/// Describes the machine.
pub fn describe(here: &Here) -> Result<Machine, Failure> {
    let not_measurable =
        here.environment.limits_here().into_iter().map(|(what, why)| NotMeasurable { what, why }).collect();
    let assumed = here.environment.assumed();
    let system = &here.environment.system;
    let c_library = system.rep_thresholds.as_ref().map(|seen| seen.sentence(&system.libc));
    let profile = carryline::tuning::active();
    let caches = caches_from(here, &profile);
    let notes =
        c_library.into_iter().chain(library_here(&profile, built_in_for(Model::here()).0, &caches)).collect();
    Ok(Machine { environment: serde_json::to_value(&here.environment)?, notes, not_measurable, assumed })
}

/// The library's profile with its origin, and its decisions by job, a sentence each. `built_in` is the built-in profile
/// for this CPU.
fn library_here(profile: &Active, built_in: &str, caches: &str) -> Vec<String> {
    let of = |decision: Decision| {
        let mut decisions = profile.decisions();
        decisions.find(|(known, _)| *known == decision.name()).map_or(usize::MAX, |(_, bytes)| bytes)
    };
    let is_unmeasured = matches!(profile.origin(), Origin::BuiltIn) && UNMEASURED.contains(&built_in);
    let origin = match profile.origin() {
        Origin::Environment => {
            let value = std::env::var_os("CARRYLINE_TUNING").unwrap_or_default();
            format!("CARRYLINE_TUNING={}", value.display())
        }
        Origin::BuiltIn => format!("built in as {built_in}"),
        _ => "loaded by this program".to_owned(),
    };
    let kernels = carryline::internals::dispatch::chosen()
        .map(|choice| format!("{} '{}'", choice.function.name(), choice.kernel));
    let hint = if is_unmeasured { "; 'carryline tune' looks for faster settings" } else { "" };
    vec![
        format!("the library uses the profile '{}' ({origin}){hint}", profile.name()),
        format!("its kernels here: {}", kernels.join(", ")),
        format!(
            "it zeroes by loops{}, which {}; {}; non-temporal stores {}",
            by_string(
                "rep stosb",
                [
                    (of(Decision::RepStosb), ""),
                    (of(Decision::RepStosbReadHere), " for bytes that this core reads next"),
                    (of(Decision::RepStosbNotSoon), " for bytes not read soon"),
                ],
                of(Decision::RepStosbNarrow),
                ""
            ),
            does("fetch what they overwrite", of(Decision::ZeroPrefetch)),
            beyond_caches(of(Decision::ZeroNonTemporal)),
            does("use 'clzero'", of(Decision::Clzero)),
        ),
        format!(
            "it copies by loops{}, which {}; {}; non-temporal copies {}; it {}",
            by_string(
                "rep movsb",
                [(of(Decision::RepMovsb), ""), (of(Decision::RepMovsbNotSoon), " for bytes not read soon")],
                of(Decision::RepMovsbNarrow),
                &format!(
                    ", but {} if the destination lies 1 to 63 bytes above the source modulo 4096",
                    match of(Decision::RepMovsbNear) {
                        usize::MAX => "not".to_owned(),
                        near =>
                            format!("only {} to {}", from(near), byte_phrase(NEAR_STRINGS_BELOW_BYTES as u64)),
                    }
                )
            ),
            does("fetch what they overwrite", of(Decision::CopyPrefetch)),
            beyond_caches(of(Decision::CopyNonTemporal)),
            does("prefetch a few lines far ahead", of(Decision::CopyPrefetchFar)),
            does("reads a source that is not needed again past the caches", of(Decision::ReadOnce)),
        ),
        format!(
            "built into a program without vectors, it {} and {}",
            does("zeroes by 'rep stosb'", of(Decision::RepStosbScalar)),
            does("copies by 'rep movsb'", of(Decision::RepMovsbScalar)),
        ),
        format!(
            "its sums by AVX-512 {}; those by AVX-512 or AVX2 {}",
            match of(Decision::SumPrefetch) {
                usize::MAX => "never prefetch".to_owned(),
                bytes => format!(
                    "prefetch {}, {} ahead",
                    from(bytes),
                    byte_phrase(of(Decision::SumPrefetchAhead) as u64)
                ),
            },
            does("prefetch a few lines far ahead", of(Decision::SumPrefetchFar))
        ),
        format!(
            "it counts as beyond the caches what exceeds a core's share of {} or, for bytes that another core reads, \
             the last level of {}{caches}",
            byte_phrase(of(Decision::CacheShare) as u64),
            byte_phrase(of(Decision::LastLevel) as u64)
        ),
    ]
}

/// Where a string instruction replaces loops: from each of these lengths, for these bytes, and where stores are narrow; and
/// the condition under which it does not.
fn by_string<const N: usize>(
    instruction: &str,
    wide: [(usize, &str); N],
    narrow: usize,
    except: &str,
) -> String {
    let is_never = |bytes: usize| bytes == usize::MAX;
    let of_narrow = format!("{} where stores are of at most 16 bytes", from(narrow));
    match () {
        () if !wide.iter().all(|(bytes, _)| is_never(*bytes)) => {
            let words = wide.map(|(bytes, when)| format!("{}{when}", from(bytes))).join(", ");
            format!(" (by '{instruction}' {words}, {of_narrow}{except})")
        }
        () if is_never(narrow) => format!(" (never by '{instruction}')"),
        () => format!(" (by '{instruction}' only {of_narrow}{except})"),
    }
}

/// What is done from a length on, or never.
fn does(what: &str, from_bytes: usize) -> String {
    match from_bytes {
        usize::MAX => format!("never {what}"),
        bytes => format!("{what} {}", from(bytes)),
    }
}

/// Where stores are non-temporal; with `from_bytes` also for bytes that are not read soon.
fn beyond_caches(from_bytes: usize) -> String {
    match from_bytes {
        usize::MAX => "stores are non-temporal beyond the caches".to_owned(),
        bytes => format!(
            "stores are non-temporal {} for bytes not read soon, and beyond the caches for others",
            from(bytes)
        ),
    }
}

/// Where the library has its cache sizes from, after their values.
fn caches_from(here: &Here, profile: &Active) -> String {
    let is_detected = match profile.origin() {
        Origin::BuiltIn => leaves_to_detection(&built_in_for(Model::here()).1.decisions),
        Origin::Environment => of_environment().is_none_or(|decisions| leaves_to_detection(&decisions)),
        _ => true,
    };
    // The library asks CPUID, and trusts these sizes.
    let is_reported = cfg!(target_arch = "x86_64")
        && here
            .environment
            .caches
            .iter()
            .any(|cache| cache.level >= 3 && PLAUSIBLE.contains(&cache.size_bytes));
    match (is_detected, is_reported) {
        (false, _) => " (from the profile)".to_owned(),
        (true, true) => " (detected, within bounds)".to_owned(),
        (true, false) => format!(
            " (assumed: no last level is reported; what 'memory' and 'cold' mean in measurements is based on {})",
            byte_phrase(here.caches.l3)
        ),
    }
}

/// Sizes of a last level that the library believes.
const PLAUSIBLE: RangeInclusive<u64> = 256 << 10..=2 << 30;

fn leaves_to_detection(decisions: &Decisions) -> bool {
    decisions.get(Decision::LastLevel) == DETECTED
}

/// The decisions of the profile that `CARRYLINE_TUNING` names.
fn of_environment() -> Option<Decisions> {
    let word = std::env::var("CARRYLINE_TUNING").ok()?;
    match word.trim().strip_prefix("builtin:") {
        Some(name) => built_in(name).map(|profile| profile.decisions),
        None => Some(parse(&std::fs::read_to_string(word.trim()).ok()?).ok()?.decisions),
    }
}

/// The lengths at which a method is used.
fn from(from_bytes: usize) -> String {
    match from_bytes {
        usize::MAX => "never".to_owned(),
        bytes => format!("from {}", byte_phrase(bytes as u64)),
    }
}

/// Prints the machine.
pub fn run(common: &Common) -> Result<u8, Failure> {
    let machine = describe(&Here::look())?;
    output::print_result("machine", &machine, |style| machine.to_text(style), common).map(|()| 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_is_described_with_its_origin_and_lengths() {
        let active = carryline::tuning::active();
        let sentences = library_here(&active, "unmeasured-intel", " (detected, within bounds)");
        let (origin, hint) = match active.origin() {
            Origin::Environment => ("CARRYLINE_TUNING=", false),
            _ => ("built in as unmeasured-intel", true),
        };
        let all = sentences.join("\n");
        assert_eq!(all.contains("carryline tune"), hint, "{all}");
        assert!(!library_here(&active, "amd-zen3", "")[0].contains("carryline tune"));
        assert!(all.contains(active.name()) && all.contains(origin), "{all}");
        assert!(all.contains("KiB") && !all.contains(&usize::MAX.to_string()), "{all}");
        for part in ["not read soon", "by 'rep stosb'", "by 'rep movsb'", "detected"] {
            assert!(all.contains(part), "{part}: {all}");
        }
        for (name, bytes) in active.decisions() {
            let bytes = bytes as u64;
            let is_shown = bytes == usize::MAX as u64
                || all.contains(&from(bytes as usize))
                || all.contains(&byte_phrase(bytes));
            assert!(is_shown, "{name}: {all}");
        }
    }

    #[test]
    fn a_last_level_that_is_assumed_is_called_so() {
        let mut here = Here::look();
        let active = carryline::tuning::active();
        if !matches!(active.origin(), Origin::BuiltIn) {
            return;
        }
        here.environment.caches.retain(|cache| cache.level < 3);
        here.caches.l3 = 32 << 20;
        let caches = caches_from(&here, &active);
        assert!(caches.contains("assumed") && caches.contains("32 MiB"), "{caches}");
    }

    #[test]
    fn string_instructions_are_described_where_they_are_used() {
        let never = usize::MAX;
        let of = |wide: [usize; 2], narrow| {
            by_string("rep movsb", [(wide[0], ""), (wide[1], " for others")], narrow, ", but not there")
        };
        assert_eq!(of([never, never], never), " (never by 'rep movsb')");
        assert_eq!(
            of([never, never], 2304),
            " (by 'rep movsb' only from 2304 bytes where stores are of at most 16 bytes, but not there)"
        );
        assert_eq!(
            of([28 << 10, never], never),
            " (by 'rep movsb' from 28 KiB, never for others, never where stores are of at most 16 bytes, but not there)"
        );
        assert_eq!([8 << 10, never].map(|bytes| does("fetch", bytes)), ["fetch from 8 KiB", "never fetch"]);
    }

    #[test]
    fn lengths_are_in_words() {
        let words = ["never", "from 24 KiB", "from 512 bytes", "from 2112 bytes"];
        assert_eq!([usize::MAX, 24 << 10, 512, 2112].map(from), words);
    }
}
