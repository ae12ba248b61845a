//! The active profile, and rejected ones.

use crate::{active_value, alone, unmeasured};
use carryline::internals::cpu::{Features, Model, features};
use carryline::internals::dispatch::{Function, chosen, kernels};
use carryline::internals::tuning::{
    DETECTED, Decision, MOST_FILE_BYTES, Models, NEVER, Profile, apply_built_in, built_in, built_in_names,
};
use carryline::tuning::{self, LoadError, Origin, apply};

/// The kernels that functions should use with a profile.
fn expected_kernels(profile: &Profile<'_>) -> [&'static str; 4] {
    Function::ALL.map(|function| {
        let usable =
            || kernels(function).filter(|(_, needs)| features().contains(*needs)).map(|(name, _)| name);
        usable()
            .find(|name| Some(*name) == profile.kernel(function))
            .or_else(|| usable().next())
            .expect("portable")
    })
}

/// Whether the CPU has the instruction that a threshold is for.
fn has_instruction(decision: Decision) -> bool {
    match decision {
        Decision::Clzero => features().contains(Features::CLZERO),
        _ if decision.name().starts_with("rep_") => features().contains(Features::ERMS),
        _ => true,
    }
}

fn assert_active(profile: &Profile<'_>) {
    let active = tuning::active();
    assert_eq!((active.name(), active.origin()), (profile.name, Origin::Program));
    assert_eq!(active.to_string(), format!("{}, loaded by the program", profile.name));
    for decision in Decision::ALL {
        match profile.decisions.get(*decision) {
            _ if !has_instruction(*decision) => {
                assert_eq!(active_value(*decision), NEVER, "{}", decision.name())
            }
            DETECTED => assert!(decision.bounds().contains(&active_value(*decision)), "{}", decision.name()),
            bytes => assert_eq!(active_value(*decision), bytes, "{}", decision.name()),
        }
    }
    assert_eq!(chosen().map(|choice| choice.kernel), expected_kernels(profile));
}

#[test]
fn every_built_in_profile_can_be_applied_by_name_on_any_cpu() {
    let _alone = alone();
    for name in built_in_names() {
        apply_built_in(name).expect("a built-in profile");
        assert_active(built_in(name).expect("a built-in profile"));
    }
}

#[test]
fn loaded_profiles_are_active_and_rejected_ones_change_nothing() {
    let _alone = alone();
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("tuning-{}.toml", std::process::id()));
    let mut profile = Profile { name: "of a file", cpu: here(), ..unmeasured() };
    for function in Function::ALL {
        for (kernel, needs) in kernels(function).filter(|(_, needs)| features().contains(*needs)) {
            profile.kernels[function as usize] = Some(kernel);
            profile.decisions = profile.decisions.with(Decision::CacheShare, 3 << 20).expect("within bounds");
            assert!(features().contains(needs));
            std::fs::write(&path, profile.to_string()).expect("a temporary file");
            tuning::load(&path).expect("a valid profile");
            assert_active(&profile);
        }
    }
    // A rejected file changes nothing.
    let wrong = Profile { name: "wrong", decisions: unmeasured().decisions, ..profile }.to_string();
    std::fs::write(&path, wrong.replace("last_level_bytes", "first_level_bytes")).expect("a temporary file");
    let error = tuning::load(&path).expect_err("an invalid profile");
    assert!(
        matches!(error, LoadError::Refused(_)) && error.to_string().contains("first_level_bytes"),
        "{error}"
    );
    assert_active(&profile);
    std::fs::write(&path, vec![b'\n'; MOST_FILE_BYTES + 1]).expect("a temporary file");
    assert_eq!(
        tuning::load(&path).expect_err("too large a file").to_string(),
        "the profile is larger than 16384 bytes"
    );
    std::fs::remove_file(&path).expect("the file");
    let error = tuning::load(&path).expect_err("a missing file");
    assert!(matches!(error, LoadError::Unreadable(_)), "{error}");
    assert_active(&profile);
}

/// Exactly this CPU's model.
fn here() -> Option<Models> {
    Model::here().map(Models::from)
}

#[test]
fn profiles_for_another_cpu_are_rejected_and_both_cpus_named() {
    let _alone = alone();
    let other = Models { vendor: *b"NobodysCPUs.", family: Some(7), models: Some([1, 9]) };
    let other = Profile { name: "their server", cpu: Some(other), ..unmeasured() }.to_string();
    let message = apply(&other).expect_err("a profile for another CPU").to_string();
    let theirs = "the profile 'their server' is for NobodysCPUs. family 7 models 1 to 9; this CPU ";
    assert!(message.starts_with(theirs), "{message}");
    let Some(here) = Model::here() else { return };
    assert_eq!(message, format!("{theirs}is {here}"));
    let apply_for = |cpu: Models| apply(&Profile { cpu: Some(cpu), ..unmeasured() }.to_string());
    let exactly = Models::from(here);
    for right in
        [exactly, Models { models: None, ..exactly }, Models { family: None, models: None, ..exactly }]
    {
        apply_for(right).expect("a profile for this CPU");
    }
    let model = Models::from(Model { model: here.model + 1, ..here });
    let family = Models::from(Model { family: here.family + 1, ..here });
    for other in [model, family, Models { models: None, ..family }] {
        apply_for(other).expect_err("another model or family");
    }
    let all_of = Models { vendor: *b"NobodysCPUs.", family: None, models: None };
    let message = apply_for(all_of).expect_err("another vendor").to_string();
    assert!(message.contains("is for NobodysCPUs.; this CPU is"), "{message}");
}

#[test]
fn kernels_that_this_cpu_cannot_run_are_rejected() {
    let _alone = alone();
    let names = [
        "avx512",
        "avx512_branched",
        "avx512_merged",
        "avx512_prefer_256",
        "avx2",
        "sse2",
        "adc",
        "portable",
    ];
    for function in Function::ALL {
        for name in names {
            let mut profile = unmeasured();
            profile.kernels[function as usize] = Some(name);
            let needs = kernels(function).find(|(known, _)| *known == name).map(|(_, needs)| needs);
            let is_usable = needs.is_some_and(|needs| features().contains(needs));
            match apply(&profile.to_string()) {
                Ok(()) => assert!(is_usable, "{} {name}", function.name()),
                Err(error) => {
                    let message = error.to_string();
                    let missing = needs.map(|needs| needs.without(features())).unwrap_or(Features::NONE);
                    assert!(!is_usable && message.contains(name), "{message}");
                    assert!(missing.names().all(|feature| message.contains(feature)), "{message}");
                }
            }
        }
    }
}

#[test]
fn never_is_the_value_never() {
    let _alone = alone();
    apply(&unmeasured().to_string()).expect("a valid profile");
    assert_eq!(active_value(Decision::RepMovsb), NEVER);
}

#[test]
fn a_pipe_without_a_writer_is_not_waited_for() {
    use std::os::unix::ffi::OsStrExt as _;
    let _alone = alone();
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("pipe");
    let _ = std::fs::remove_file(&path);
    let name = std::ffi::CString::new(path.as_os_str().as_bytes()).expect("no NUL");
    // SAFETY: the path ends with NUL.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let error = carryline::tuning::load(&path).expect_err("it is no file");
    std::fs::remove_file(&path).expect("it is there");
    assert_eq!(error.to_string(), "not a regular file");
}
