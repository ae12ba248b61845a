//! The choice of kernels: the pure function for every mask, and the environment's effect in a separate
//! process.

use crate::checksum::kernels::COPY_AND_SUM_KERNELS;
use crate::checksum::{self, fold};
use crate::cpu::{Features, features};
use crate::dispatch::{Function, chosen, kernels, select};
use crate::{copy, zero};

#[test]
fn kernel_names_are_unique_and_the_last_kernel_needs_no_features() {
    for function in Function::ALL {
        let list: Vec<_> = kernels(function).collect();
        assert_eq!(list.last(), Some(&("portable", Features::NONE)), "{function:?}");
        for (index, (name, _)) in list.iter().enumerate() {
            assert!(list[index + 1..].iter().all(|(other, _)| other != name), "{function:?}: {name} twice");
        }
    }
}

/// Every set of features that can remain after masking one or two features.
fn masked_sets() -> Vec<Features> {
    let all = Features::NAMED.iter().fold(Features::NONE, |set, (_, feature)| set.union(*feature));
    let masks = Features::NAMED.iter().flat_map(|(_, a)| Features::NAMED.iter().map(|(_, b)| a.union(*b)));
    masks.flat_map(|mask| [all.masked(mask), features().masked(mask)]).chain([all, Features::NONE]).collect()
}

#[test]
fn the_first_usable_kernel_is_chosen_for_every_mask() {
    fn check<F>(function: Function, list: &[crate::dispatch::Kernel<F>], features: Features) {
        use crate::profile::{built_in, built_in_names};
        let first = select(list, features, None, None);
        for profile in built_in_names().filter_map(built_in) {
            let preferred = profile.kernel(function);
            let index = select(list, features, None, preferred);
            let is_preferred = preferred == Some(list[index].name);
            assert!(
                features.contains(list[index].needs) && (is_preferred || index == first),
                "{}",
                profile.name
            );
            let usable = |name| list.iter().any(|k| Some(k.name) == name && features.contains(k.needs));
            assert_eq!(is_preferred, usable(preferred), "{}", profile.name);
            assert_eq!(select(list, features, Some("portable"), preferred), list.len() - 1);
        }
        assert!(features.contains(list[first].needs), "{} with {features:?}", list[first].name);
        for better in &list[..first] {
            assert!(!features.contains(better.needs), "{} skipped with {features:?}", better.name);
        }
        for (forced, kernel) in list.iter().enumerate() {
            assert_eq!(select(list, features, Some(kernel.name), None), forced);
        }
        assert_eq!(select(list, features, Some("a name of another list"), None), first);
    }
    for features in masked_sets() {
        check(Function::Zero, zero::kernels::KERNELS, features);
        check(Function::Copy, copy::kernels::KERNELS, features);
        check(Function::Checksum, checksum::kernels::KERNELS, features);
        check(Function::CopyAndSum, COPY_AND_SUM_KERNELS, features);
    }
}

#[test]
#[ignore = "run by the other tests in a separate process"]
fn child() {
    #[cfg(feature = "environment")]
    if std::env::var_os("CARRYLINE_TEST_CHECK_FIRST").is_some() {
        println!("checked: {:?}", crate::environment::check().map_err(|error| error.to_string()));
        return;
    }
    // The first call of each function runs the resolver.
    let mut source = vec![0; (16 << 20) + 600];
    super::patterns::fill_random(&mut source, 1);
    for len in (0..300).chain([4096, 30_000, 600_000, (16 << 20) + 77]) {
        let data = &source[len % 7..len % 7 + len];
        let mut copied = vec![0; len];
        crate::copy::bytes(&mut copied, data);
        assert!(copied == data, "copy of {len}");
        let expected = super::patterns::expected(super::patterns::exact_sum(data), 7);
        assert_eq!(fold(checksum::partial(data, 7)), expected, "sum of {len}");
        crate::zero::fill(&mut copied);
        assert!(copied.iter().all(|byte| *byte == 0), "zero of {len}");
        assert_eq!(fold(checksum::copy_and_sum(&mut copied, data, 7)), expected, "copy and sum of {len}");
        assert!(copied == data, "copy and sum of {len}");
    }
    for choice in chosen() {
        println!("{}={}", choice.function.name(), choice.kernel);
    }
    println!("profile: {}", crate::tuning::active());
}

/// Runs `child` in a separate process.
fn run_child(variables: &[(&str, &str)]) -> std::process::Output {
    let this = std::env::current_exe().expect("the path of the test program");
    let mut command = std::process::Command::new(this);
    command.args(["--exact", "tests::dispatch::child", "--ignored", "--nocapture", "--test-threads=1"]);
    for variable in ["CARRYLINE_FORCE", "CARRYLINE_MASK", "CARRYLINE_TUNING"] {
        command.env_remove(variable);
    }
    command.envs(variables.iter().copied()).output().expect("the test program starts again")
}

/// The kernel that must be chosen with these features.
fn first(function: Function, features: Features) -> (&'static str, Features) {
    let usable = || kernels(function).filter(|(_, needs)| features.contains(*needs));
    let (_, profile) = crate::profile::built_in_for(crate::cpu::Model::here());
    let preferred = usable().find(|(name, _)| Some(*name) == profile.kernel(function));
    preferred.or_else(|| usable().next()).expect("the last kernel needs no features")
}

/// Checks that the child used the best kernels for this CPU, and returns its standard error.
fn chooses_the_best(output: &std::process::Output) -> String {
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    for function in Function::ALL {
        let line = format!("{}={}\n", function.name(), first(function, Features::detect()).0);
        assert!(text.contains(&line), "{line} is not in {text}");
    }
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
#[cfg(not(feature = "environment"))]
fn without_the_feature_variables_have_no_effect() {
    for (variable, word) in [
        ("CARRYLINE_FORCE", "zz"),
        ("CARRYLINE_FORCE", "portable"),
        ("CARRYLINE_MASK", "zz"),
        ("CARRYLINE_MASK", "avx2"),
        ("CARRYLINE_TUNING", "zz"),
        ("CARRYLINE_TUNING", "builtin:unmeasured"),
    ] {
        let stderr = chooses_the_best(&run_child(&[(variable, word)]));
        assert!(!stderr.contains("CARRYLINE"), "{stderr}");
    }
}

/// The effect of the variables on a process.
#[cfg(feature = "environment")]
mod environment {
    use super::*;
    use crate::environment::check_force;

    #[test]
    fn force_errors_name_the_word_the_missing_features_and_usable_kernels() {
        assert_eq!(check_force(None, Features::NONE), Ok(()));
        assert_eq!(check_force(Some("portable"), Features::NONE), Ok(()));
        let unknown = check_force(Some("sse9"), Features::NONE).unwrap_err().to_string();
        assert!(unknown.starts_with("CARRYLINE_FORCE=sse9 names no kernel; usable here: "), "{unknown}");
        assert!(unknown.contains(" portable") && !unknown.contains("avx2"), "{unknown}");
        #[cfg(target_arch = "x86_64")]
        {
            let strong = Features::AVX512.union(Features::AVX2);
            let missing = check_force(Some("avx512"), strong).unwrap_err().to_string();
            assert_eq!(
                missing,
                "CARRYLINE_FORCE=avx512: the checksum kernel needs avx512_vnni, which this CPU lacks or \
                 CARRYLINE_MASK hides; usable here: avx2 portable adc"
            );
            assert_eq!(check_force(Some("avx512"), strong.union(Features::AVX512VNNI)), Ok(()));
            assert_eq!(check_force(Some("adc"), Features::NONE), Ok(()));
        }
    }

    #[test]
    fn the_environment_masks_features() {
        for (name, _) in
            Features::NAMED.iter().chain([&("erms,avx512f", Features::NONE), &("", Features::NONE)])
        {
            let output = run_child(&[("CARRYLINE_MASK", name)]);
            assert!(output.status.success(), "mask {name}: {output:?}");
            let left =
                Features::detect().masked(crate::cpu::parse_mask(name).expect("a list of known names"));
            let text = String::from_utf8_lossy(&output.stdout);
            for function in Function::ALL {
                let line = format!("{}={}\n", function.name(), first(function, left).0);
                assert!(text.contains(&line), "mask {name}: {line} is not in {text}");
            }
        }
    }

    #[test]
    fn forced_kernels_apply_to_the_functions_that_have_them() {
        for (name, _) in Function::ALL.into_iter().flat_map(kernels) {
            let output = run_child(&[("CARRYLINE_FORCE", name)]);
            if check_force(Some(name), Features::detect()).is_err() {
                assert!(chooses_the_best(&output).contains(&format!("CARRYLINE_FORCE={name}")), "{output:?}");
                continue;
            }
            assert!(output.status.success(), "force {name}: {output:?}");
            let text = String::from_utf8_lossy(&output.stdout);
            for function in Function::ALL {
                let kernel = kernels(function).find(|(known, _)| *known == name);
                let line = format!(
                    "{}={}\n",
                    function.name(),
                    kernel.unwrap_or_else(|| first(function, Features::detect())).0
                );
                assert!(text.contains(&line), "force {name}: {line} is not in {text}");
            }
        }
    }

    #[test]
    fn the_environment_selects_a_built_in_profile() {
        for name in crate::profile::built_in_names() {
            let value = format!("builtin:{name}");
            let profile = crate::profile::built_in(name).expect("a built-in profile");
            let output = run_child(&[("CARRYLINE_TUNING", &value)]);
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
            assert!(text.contains(&format!("profile: {}, from CARRYLINE_TUNING", profile.name)), "{text}");
            for function in Function::ALL {
                let usable = || kernels(function).filter(|(_, needs)| Features::detect().contains(*needs));
                let preferred = usable().find(|(name, _)| Some(*name) == profile.kernel(function));
                let kernel =
                    preferred.or_else(|| usable().next()).expect("the last kernel needs no features").0;
                assert!(text.contains(&format!("{}={kernel}\n", function.name())), "{name}: {text}");
            }
            // A forced kernel has priority.
            let forced = run_child(&[("CARRYLINE_TUNING", &value), ("CARRYLINE_FORCE", "portable")]);
            let text = String::from_utf8_lossy(&forced.stdout);
            assert!(text.contains("zero=portable\n") && text.contains("from CARRYLINE_TUNING"), "{text}");
        }
    }

    #[test]
    fn the_environment_selects_a_file() {
        let path = std::env::temp_dir().join(format!("carryline-tuning-{}.toml", std::process::id()));
        let profile = crate::profile::built_in("unmeasured").expect("a built-in profile");
        let profile = crate::profile::Profile { name: "of a file", ..*profile };
        let value = path.to_str().expect("a UTF-8 path");
        std::fs::write(&path, profile.to_string()).expect("a temporary file");
        let output = run_child(&[("CARRYLINE_TUNING", value)]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        assert!(text.contains("profile: of a file, from CARRYLINE_TUNING"), "{text}");

        std::fs::write(&path, profile.to_string().replace("[decisions]", "[decision]"))
            .expect("a temporary file");
        let stderr = chooses_the_best(&run_child(&[("CARRYLINE_TUNING", value)]));
        std::fs::remove_file(&path).expect("it was there");
        let message = "unknown section [decision]; known: [cpu] [kernels] [decisions]";
        assert!(stderr.starts_with("carryline: ignored: CARRYLINE_TUNING=/"), "{stderr}");
        assert!(stderr.contains(message) && stderr.lines().count() == 1, "{stderr}");
    }

    #[test]
    fn unknown_words_are_reported_once_and_ignored() {
        for (variable, word, message) in [
            ("CARRYLINE_FORCE", "avx1024", "CARRYLINE_FORCE=avx1024 names no kernel; usable here:"),
            ("CARRYLINE_MASK", "avx2,mmx", "unknown CPU feature mmx in CARRYLINE_MASK; known: sse2 avx2"),
            (
                "CARRYLINE_TUNING",
                "builtin:zen",
                "CARRYLINE_TUNING=builtin:zen: no built-in profile is named zen; known: amd-zen5",
            ),
            (
                "CARRYLINE_TUNING",
                "/nonexistent/file",
                "CARRYLINE_TUNING=/nonexistent/file: no such file; 'builtin:NAME'",
            ),
        ] {
            let stderr = chooses_the_best(&run_child(&[(variable, word)]));
            assert_eq!(stderr.matches(&format!("carryline: ignored: {message}")).count(), 1, "{stderr}");

            let checked = run_child(&[(variable, word), ("CARRYLINE_TEST_CHECK_FIRST", "1")]);
            let text = String::from_utf8_lossy(&checked.stdout);
            assert!(
                checked.status.success() && text.contains("checked: Err") && text.contains(message),
                "{text}"
            );
        }
        let both = chooses_the_best(&run_child(&[("CARRYLINE_FORCE", "avx1024"), ("CARRYLINE_MASK", "mmx")]));
        assert_eq!(both.matches("carryline: ignored: ").count(), 2, "{both}");
        let fine = run_child(&[("CARRYLINE_FORCE", " portable "), ("CARRYLINE_TEST_CHECK_FIRST", "1")]);
        assert!(String::from_utf8_lossy(&fine.stdout).contains("checked: Ok(())"), "{fine:?}");
    }
}
