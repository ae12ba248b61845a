//! `carryline tune`: its answers' shape, what becomes of files, and what it refuses. No test looks at a time.

use crate::support::{Place, refused_a_few_bytes, texts};
use serde_json::Value;

/// A profile in the library's sources.
fn profile(name: &str) -> String {
    let path = format!("{}/../../library/carryline/profiles/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A search that is short.
const QUICK: [&str; 5] = ["tune", "--family", "copy_checksum", "--budget", "5s"];

/// The statuses of an answer: that of a machine too noisy to tell is one.
fn answered(status: Option<i32>) -> bool {
    matches!(status, Some(0 | 5))
}

fn rows<'v>(found: &'v Value, key: &str) -> &'v Vec<Value> {
    found[key].as_array().unwrap_or_else(|| panic!("no {key} in {found}"))
}

#[test]
fn every_decision_is_answered_for() {
    let place = Place::new();
    let output = place.run(&[&QUICK[..], &["--format", "json", "--seed", "3", "--sizes", "40"]].concat());
    let (out, err) = texts(&output);
    assert!(answered(output.status.code()), "{err}");
    let found: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&found["schema_version"], &found["seed"]), (&1.into(), &3.into()));
    let decisions = rows(&found, "decisions");
    for name in ["rep_movsb_from_bytes", "cache_share_bytes", "kernels.checksum", "kernels.copy_and_sum"] {
        let row =
            decisions.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}: {found}"));
        assert!(row["unit"].is_string() && !row["default"].is_null() && !row["found"].is_null(), "{row}");
        assert!(row["kept"] == false || row["verdict"] == "faster", "{row}");
    }
    assert!(found["libc"].is_null());
}

#[test]
fn a_profile_of_other_decisions_is_compared_with_what_is_in_force() {
    let place = Place::new();
    // For every CPU, and with one decision that none of them has.
    let other = profile("unmeasured")
        .replace("copy_non_temporal_from_bytes = 16_384", "copy_non_temporal_from_bytes = 512")
        .replace("last_level_bytes = \"detected\"", "last_level_bytes = 67_108_864");
    place.write("other.toml", other.as_bytes());
    let output = place.run(&["tune", "--check", "other.toml", "--budget", "2s", "--format", "json"]);
    let (out, err) = texts(&output);
    assert!(answered(output.status.code()), "{err}");
    let found: Value = serde_json::from_str(&out).expect("JSON");
    let changed = rows(&found, "decisions").iter().find(|row| row["name"] == "copy_non_temporal_from_bytes");
    let changed = changed.expect("a row");
    assert_eq!(changed["found"], 512);
    assert!(changed["verdict"].is_string() && changed["gain"]["median"].as_f64() > Some(0.0), "{changed}");
    // Nothing measures it.
    let not_compared = rows(&found, "decisions").iter().find(|row| row["name"] == "last_level_bytes");
    let not_compared = not_compared.expect("a row");
    assert_eq!(
        (&not_compared["found"], &not_compared["verdict"]),
        (&67_108_864.into(), &"not_compared".into())
    );
    assert!(not_compared["floor"].is_null() && not_compared["gain"].is_null(), "{not_compared}");
    let confirmed = rows(&found, "confirmation");
    assert!(confirmed.iter().any(|cell| cell["variant"] == "carryline_not_soon"), "{found}");
    for cell in confirmed {
        let (low, high) = (cell["ratio"]["low"].as_f64(), cell["ratio"]["high"].as_f64());
        assert!(low <= high && low > Some(0.0) && cell["floor"].as_f64() > Some(0.0), "{cell}");
        assert!(["faster", "slower", "same"].contains(&cell["order"].as_str().unwrap_or("")), "{cell}");
    }
    // The same profile as the one in force says nothing new.
    let name = built_in(&place);
    place.write("same.toml", profile(&name).as_bytes());
    for same in ["same.toml".to_owned(), format!("builtin:{name}")] {
        let (out, _) = place.expect(&["tune", "--check", &same, "--budget", "2s"], 0);
        assert!(out.contains("makes the same decisions"), "{same}: {out}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_verified_is_not_kept() {
    let place = Place::new();
    let other =
        profile("unmeasured").replace("read_once_from_bytes = \"never\"", "read_once_from_bytes = 512");
    place.write("other.toml", other.as_bytes());
    let mut unverified = 0;
    // From hardly enough for the program to hardly enough for verification.
    for kib in [45_000, 55_000, 65_000] {
        let binary = env!("CARGO_BIN_EXE_carryline");
        let script = format!("ulimit -v {kib}; exec '{binary}' tune --check other.toml --budget 2s --quiet");
        let mut command = std::process::Command::new("sh");
        let output = command.args(["-c", &script]).current_dir(place.path()).output().expect("a shell");
        let (out, err) = texts(&output);
        let ended = matches!(output.status.code(), Some(0 | 1 | 5)) || refused_a_few_bytes(&output);
        assert!(ended, "{kib}: {}\n{out}\n{err}", output.status);
        if out.contains("could not be verified; nothing was kept") {
            assert_eq!(output.status.code(), Some(1), "{kib}: {out}\n{err}");
            assert!(err.contains("is not verified"), "{kib}: {err}");
            unverified += 1;
        }
    }
    assert!(unverified > 0, "memory was never short");
}

/// The name of the built-in profile of this CPU.
fn built_in(place: &Place) -> String {
    let (out, _) = place.expect(&["machine"], 0);
    let (_, name) = out.split_once("(built in as ").expect("the name of a profile");
    name.split_once(')').expect("its end").0.to_owned()
}

#[test]
fn files_are_left_alone_where_nothing_is_kept() {
    let place = Place::new();
    place.write("mine.toml", b"# mine");
    // What is in force, searched from: at most a kernel changes.
    let output = place.run(&[&QUICK[..], &["--write", "mine.toml"]].concat());
    let (out, err) = texts(&output);
    assert!(answered(output.status.code()), "{err}");
    let text = std::fs::read_to_string(place.file("mine.toml")).expect("the file");
    let wrote = err.contains("wrote mine.toml");
    assert_eq!(wrote, text.starts_with("version = 1"), "{out}\n{err}\n{text}");
    assert!(wrote || text == "# mine" && err.contains("mine.toml is unchanged"), "{out}\n{err}");
}

#[test]
fn bad_input_is_named_with_its_word() {
    let place = Place::new();
    place.write("text.toml", b"version = 1\nname = 7\n");
    let intel = profile("intel-sapphire-rapids").replace("family = 6", "family = 99");
    place.write("foreign.toml", intel.as_bytes());
    for (arguments, words) in [
        (&["--budget", "1s"][..], &["55 s", "--family"][..]),
        (&["--libc", "--budget", "1s"], &["40 s", "--family"]),
        (&["--family", "copy,sum"], &["'sum'"]),
        (&["--from", "builtin:zen"], &["'zen'", "amd-zen5"]),
        (&["--from", "absent.toml"], &["absent.toml"]),
        (&["--from", "text.toml"], &["text.toml", "line 2", "name"]),
        (&["--check", "foreign.toml"], &["foreign.toml", "family 99"]),
        (&["--check", "text.toml"], &["text.toml", "line 2"]),
        (&["--check", "builtin:zen"], &["'zen'", "amd-zen5"]),
        (&["--check", "/dev/zero"], &["/dev/zero", "larger than 16384 bytes"]),
        (&["--from", "/dev/zero"], &["/dev/zero", "larger than 16384 bytes"]),
        (&["--write", "no/such/folder.toml"], &["no/such/folder.toml"]),
        (&["--emit", "../mine"], &["lower-case"]),
        (&["--libc", "--write", "x.toml"], &["--write"]),
    ] {
        let (_, err) = place.expect(&[&["tune"], arguments].concat(), 2);
        for word in words {
            assert!(err.contains(word), "{arguments:?}: no {word} in {err}");
        }
    }
    // A variable that names no profile stops every command.
    let output =
        place.command(&["list"]).env("CARRYLINE_TUNING", "text.toml").output().expect("the command starts");
    let (_, err) = texts(&output);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("CARRYLINE_TUNING") && err.contains("line 2"), "{err}");
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn a_program_runs_with_tunables_beside_the_interposer() {
    let place = Place::new();
    xtask::preload().expect("the interposer can be built");
    let tunables = "glibc.malloc.arena_max=1";
    let real = ["real", "--runs", "2", "--tunables", tunables, "--format", "json", "--", "ls", "/"];
    let run: Value = serde_json::from_str(&place.expect(&real, 0).0).expect("JSON");
    let figures = rows(&run, "figures");
    assert!(figures.iter().all(|figure| figure["tuned"]["with"]["median"].is_number()), "{run}");
    for (wrong, word) in [("arena", "NAME=VALUE"), ("glibc.cpu.no_such_thing=1", "no_such_thing")] {
        let (_, err) = place.expect(&["real", "--tunables", wrong, "--", "ls"], 2);
        assert!(err.contains(word), "{wrong}: {err}");
    }
}
