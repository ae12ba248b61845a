//! `carryline machine`: what results are measured on, and what cannot be measured there.

use crate::cli::{Common, Format};
use crate::output;
use carryline::internals::cpu::Profile;
use carryline_engine::failure::Failure;
use carryline_engine::machine::Here;
use carryline_report::listing::{Machine, NotMeasurable, to_json};

/// What `carryline machine` prints.
pub fn describe(here: &Here) -> Result<Machine, Failure> {
    let not_measurable =
        here.environment.limits_here().into_iter().map(|(what, why)| NotMeasurable { what, why }).collect();
    let assumed = here.environment.assumed();
    let system = &here.environment.system;
    let c_library = system.rep_thresholds.as_ref().map(|seen| seen.sentence(&system.libc));
    let notes = c_library.into_iter().chain([library_here(carryline::internals::cpu::profile())]).collect();
    Ok(Machine { environment: serde_json::to_value(&here.environment)?, notes, not_measurable, assumed })
}

/// What the library makes of this CPU model beyond its features, in a sentence.
fn library_here(profile: &Profile) -> String {
    if !profile.is_measured() {
        return format!(
            "the library has not been measured on this CPU model: it uses loops, never 'rep stosb' or \
             'rep movsb', and non-temporal stores from {} on where the caller says that the bytes are \
             not read soon",
            from(profile.zero_non_temporal_from_bytes)
        );
    }
    format!(
        "the library knows this CPU as {}: 'rep stosb' {}, 'rep movsb' {}; where the caller says that \
         the bytes are not read soon, non-temporal stores from {} (zero) and {} (copy) on",
        profile.name,
        string(profile.rep_stosb_from_bytes),
        string(profile.rep_movsb_from_bytes),
        from(profile.zero_non_temporal_from_bytes),
        from(profile.copy_non_temporal_from_bytes)
    )
}

/// From which length on a string instruction is used.
fn string(from_bytes: usize) -> String {
    if from_bytes == usize::MAX { "never".to_owned() } else { format!("from {} on", from(from_bytes)) }
}

fn from(bytes: usize) -> String {
    format!("{} KiB", bytes >> 10)
}

/// Prints the machine.
pub fn run(common: &Common) -> Result<u8, Failure> {
    let machine = describe(&Here::look())?;
    match common.format {
        Format::Table => output::print(&machine.to_text(output::style()))?,
        Format::Json => output::print(&to_json(&machine)?)?,
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_that_was_not_measured_is_said_to_be_one() {
        let here = carryline::internals::cpu::profile();
        let sentence = library_here(here);
        assert_eq!(sentence.contains("not been measured"), !here.is_measured(), "{sentence}");
        assert!(sentence.contains("KiB") && !sentence.contains(&usize::MAX.to_string()), "{sentence}");
        assert_eq!((string(usize::MAX), string(24 << 10)), ("never".to_owned(), "from 24 KiB on".to_owned()));
    }
}
