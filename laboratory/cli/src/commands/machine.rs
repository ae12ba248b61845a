//! `carryline machine`: the machine that results are measured on, and what cannot be measured there.

use crate::cli::Common;
use crate::output;
use carryline::internals::cpu::Model;
use carryline::internals::tuning::built_in_for;
use carryline::tuning::{Active, Origin};
use carryline_engine::failure::Failure;
use carryline_engine::machine::Here;
use carryline_report::listing::{Machine, NotMeasurable};
use carryline_tune::safe::UNMEASURED;

/// Describes the machine.
pub fn describe(here: &Here) -> Result<Machine, Failure> {
    let not_measurable =
        here.environment.limits_here().into_iter().map(|(what, why)| NotMeasurable { what, why }).collect();
    let assumed = here.environment.assumed();
    let system = &here.environment.system;
    let c_library = system.rep_thresholds.as_ref().map(|seen| seen.sentence(&system.libc));
    let notes = c_library
        .into_iter()
        .chain([library_here(&carryline::tuning::active(), built_in_for(Model::here()).0)])
        .collect();
    Ok(Machine { environment: serde_json::to_value(&here.environment)?, notes, not_measurable, assumed })
}

/// The library's profile, its origin and its decisions, in a sentence. `built_in` is the built-in profile for this CPU.
fn library_here(profile: &Active, built_in: &str) -> String {
    let bytes = |name: &str| {
        let mut decisions = profile.decisions();
        decisions.find(|(known, _)| *known == name).map_or(usize::MAX, |(_, bytes)| bytes)
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
    format!(
        "the library uses the profile '{}' ({origin}): 'rep stosb' {}, 'rep movsb' {}; loops prefetch what \
         they overwrite {} (zero) and {} (copy); if the caller does not read the bytes soon, non-temporal stores {} (zero) \
         and {} (copy){}",
        profile.name(),
        from(bytes("rep_stosb_from_bytes")),
        from(bytes("rep_movsb_from_bytes")),
        from(bytes("zero_prefetch_from_bytes")),
        from(bytes("copy_prefetch_from_bytes")),
        from(bytes("zero_non_temporal_from_bytes")),
        from(bytes("copy_non_temporal_from_bytes")),
        if is_unmeasured { "; 'carryline tune' looks for faster settings" } else { "" }
    )
}

/// The lengths at which a method is used.
fn from(from_bytes: usize) -> String {
    match from_bytes {
        usize::MAX => "never".to_owned(),
        ..1024 => format!("from {from_bytes} bytes"),
        _ => format!("from {} KiB", from_bytes >> 10),
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
        let sentence = library_here(&active, "unmeasured-intel");
        let (origin, hint) = match active.origin() {
            Origin::Environment => ("CARRYLINE_TUNING=", false),
            _ => ("built in as unmeasured-intel", true),
        };
        assert_eq!(sentence.contains("carryline tune"), hint, "{sentence}");
        assert!(!library_here(&active, "amd-zen3").contains("carryline tune"));
        assert!(sentence.contains(active.name()) && sentence.contains(origin), "{sentence}");
        assert!(sentence.contains("KiB") && !sentence.contains(&usize::MAX.to_string()), "{sentence}");
        assert_eq!([usize::MAX, 24 << 10, 512].map(from), ["never", "from 24 KiB", "from 512 bytes"]);
    }
}
