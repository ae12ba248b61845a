//! Which profile is in force, and which are refused.

use crate::{alone, in_force, unmeasured};
use carryline::internals::cpu::{Features, Model, features};
use carryline::internals::dispatch::{Function, chosen, kernels};
use carryline::internals::tuning::{
    DETECTED, Decision, MOST_FILE_BYTES, Models, NEVER, Profile, apply_built_in, built_in, built_in_names,
};
use carryline::tuning::{self, LoadError, Origin, apply};

/// The kernels that functions should use by a profile.
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

fn is_in_force(profile: &Profile<'_>) {
    let active = tuning::active();
    assert_eq!((active.name(), active.origin()), (profile.name, Origin::Program));
    assert_eq!(active.to_string(), format!("{}, loaded by the program", profile.name));
    for decision in Decision::ALL {
        match profile.decisions.get(*decision) {
            DETECTED => assert!(decision.bounds().contains(&in_force(*decision)), "{}", decision.name()),
            bytes => assert_eq!(in_force(*decision), bytes, "{}", decision.name()),
        }
    }
    assert_eq!(chosen().map(|choice| choice.kernel), expected_kernels(profile));
}

#[test]
fn each_built_in_profile_can_be_put_in_force_by_its_name_on_any_cpu() {
    let _alone = alone();
    for name in built_in_names() {
        apply_built_in(name).expect("its name");
        is_in_force(built_in(name).expect("its name"));
    }
}

#[test]
fn what_a_file_says_is_in_force_afterwards() {
    let _alone = alone();
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("tuning-{}.toml", std::process::id()));
    let mut profile = Profile { name: "of a file", cpu: here(), ..unmeasured() };
    for function in Function::ALL {
        for (kernel, needs) in kernels(function).filter(|(_, needs)| features().contains(*needs)) {
            profile.kernels[function as usize] = Some(kernel);
            profile.decisions = profile.decisions.with(Decision::CacheShare, 3 << 20).expect("within bounds");
            assert!(features().contains(needs));
            std::fs::write(&path, profile.to_string()).expect("a file of ours");
            tuning::load(&path).expect("it is right");
            is_in_force(&profile);
        }
    }
    // Of a file that is refused nothing is in force.
    let wrong = Profile { name: "wrong", decisions: unmeasured().decisions, ..profile }.to_string();
    std::fs::write(&path, wrong.replace("last_level_bytes", "first_level_bytes")).expect("a file of ours");
    let error = tuning::load(&path).expect_err("it is wrong");
    assert!(
        matches!(error, LoadError::Refused(_)) && error.to_string().contains("first_level_bytes"),
        "{error}"
    );
    is_in_force(&profile);
    std::fs::write(&path, vec![b'\n'; MOST_FILE_BYTES + 1]).expect("a file of ours");
    assert_eq!(
        tuning::load(&path).expect_err("it is too large").to_string(),
        "a profile has at most 16384 bytes"
    );
    std::fs::remove_file(&path).expect("it was there");
    let error = tuning::load(&path).expect_err("it is gone");
    assert!(matches!(error, LoadError::Unreadable(_)), "{error}");
    is_in_force(&profile);
}

/// The models of this CPU alone.
fn here() -> Option<Models> {
    Model::here().map(|here| Models { vendor: here.vendor, family: here.family, models: [here.model; 2] })
}

#[test]
fn a_profile_for_another_cpu_is_refused_with_both_named() {
    let _alone = alone();
    let other = Models { vendor: *b"NobodysCPUs.", family: 7, models: [1, 9] };
    let other = Profile { name: "their server", cpu: Some(other), ..unmeasured() }.to_string();
    let said = apply(&other).expect_err("it is for another").to_string();
    let theirs = "the profile 'their server' is for NobodysCPUs. family 7 models 1 to 9; this CPU ";
    assert!(said.starts_with(theirs), "{said}");
    let Some(here) = Model::here() else { return };
    assert_eq!(said, format!("{theirs}is {here}"));
    let mut models = Models { vendor: here.vendor, family: here.family, models: [here.model; 2] };
    apply(&Profile { cpu: Some(models), ..unmeasured() }.to_string()).expect("it is for this one");
    models.models = [here.model + 1, here.model + 1];
    apply(&Profile { cpu: Some(models), ..unmeasured() }.to_string()).expect_err("another model");
    models = Models { family: here.family + 1, models: [here.model; 2], ..models };
    apply(&Profile { cpu: Some(models), ..unmeasured() }.to_string()).expect_err("another family");
}

#[test]
fn a_kernel_that_cannot_run_here_is_refused() {
    let _alone = alone();
    let names = ["avx512", "avx512_branched", "avx2", "sse2", "adc", "portable"];
    for function in Function::ALL {
        for name in names {
            let mut profile = unmeasured();
            profile.kernels[function as usize] = Some(name);
            let needs = kernels(function).find(|(known, _)| *known == name).map(|(_, needs)| needs);
            let is_right = needs.is_some_and(|needs| features().contains(needs));
            match apply(&profile.to_string()) {
                Ok(()) => assert!(is_right, "{} {name}", function.name()),
                Err(error) => {
                    let said = error.to_string();
                    let missing = needs.map(|needs| needs.without(features())).unwrap_or(Features::NONE);
                    assert!(!is_right && said.contains(name), "{said}");
                    assert!(missing.names().all(|feature| said.contains(feature)), "{said}");
                }
            }
        }
    }
}

#[test]
fn never_is_never() {
    let _alone = alone();
    apply(&unmeasured().to_string()).expect("it is right");
    assert_eq!(in_force(Decision::RepMovsb), NEVER);
}
