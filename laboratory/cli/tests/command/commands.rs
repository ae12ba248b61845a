//! The commands on valid input: what they print, store and return.

use crate::support::{Place, short, texts};
use serde_json::Value;

pub fn cells(run: &Value) -> &Vec<Value> {
    run["cells"].as_array().expect("cells")
}

#[test]
fn a_matrix_is_measured_stored_and_shown_again() {
    let place = Place::new();
    let run = place.json(&short(&[
        "measure",
        "--variants",
        "checksum/avx2,checksum/carryline",
        "--sizes",
        "40,1500",
    ]));
    assert_eq!(run["schema_version"], 1);
    assert_eq!(cells(&run).len(), 6, "two sizes, two variants and the baseline");
    for cell in cells(&run) {
        assert_eq!(cell["status"], "ok", "{cell}");
        assert_eq!(cell["family"], "checksum");
        let ticks = &cell["ticks_per_call"];
        let (low, median, high) = (&ticks["low"], &ticks["median"], &ticks["high"]);
        assert!(low.as_f64() <= median.as_f64() && median.as_f64() <= high.as_f64(), "{ticks}");
        assert!(cell["gross"]["median"].as_f64() > Some(0.0));
        for field in ["size", "offsets", "cache", "dependence", "pages", "segments"] {
            assert!(!cell["condition"][field].is_null(), "{field} in {cell}");
        }
        assert!(cell["bytes_per_call"].as_f64() == cell["condition"]["size"].as_f64());
    }
    assert!(run["noise_floor"]["relative"].as_f64() > Some(0.0));
    assert!(run["environment"]["cpu"].is_object());

    let history = place.json(&["history"]);
    let runs = history["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0]["status"], "complete");
    let id = runs[0]["id"].to_string();
    let again = place.json(&["history", "--show", &id]);
    assert_eq!(again["cells"], run["cells"]);
    let (table, _) = place.expect(&["history", "--show", &id, "--full"], 0);
    assert!(table.contains("adc_1_stream"), "{table}");
}

#[test]
fn a_rerun_has_the_seed_of_the_run() {
    let place = Place::new();
    let first =
        place.json(&short(&["measure", "--variants", "checksum/avx2", "--sizes", "1..64", "--seed", "77"]));
    let again = place.json(&["rerun", "1"]);
    assert_eq!((&first["seed"], &again["seed"]), (&77.into(), &77.into()));
    assert_eq!(cells(&first).len(), cells(&again).len());
    // How many rounds there is time for differs; what they test does not.
    for (one, other) in cells(&first).iter().zip(cells(&again)) {
        assert_eq!(one["condition"], other["condition"]);
    }
    let runs = place.json(&["history"]);
    assert_eq!(runs["runs"].as_array().map(Vec::len), Some(2));
    let (_, err) = place.expect(&["rerun", "9"], 2);
    assert!(err.contains('9'), "{err}");
}

#[test]
fn with_no_save_nothing_is_stored() {
    let place = Place::new();
    place.expect(&short(&["measure", "--variants", "zero/avx2", "--no-save"]), 0);
    assert_eq!(place.json(&["history"])["runs"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_capture_gives_its_sizes_and_counts_what_it_skips() {
    let place = Place::new();
    place.write("traffic.pcap", &crate::support::capture());
    let run =
        place.json(&short(&["measure", "--variants", "checksum/avx2", "--sizes", "capture:traffic.pcap"]));
    let seen = &cells(&run)[0]["observed"];
    assert_eq!((seen["size_min"].as_u64(), seen["size_max"].as_u64()), (Some(40), Some(1008)), "{seen}");
    let warnings = run["warnings"].to_string();
    assert!(warnings.contains("traffic.pcap") && warnings.contains('2'), "{warnings}");
}

#[test]
fn known_bad_variants_are_caught_and_wrong_ones_fail_the_command() {
    let place = Place::with_full_verification();
    let proofs = place.json(&[
        "verify",
        "odd_address_baseline",
        "two_streams_article",
        "checksum/avx2",
        "internet_checksum",
    ]);
    let verdicts: Vec<&str> =
        proofs["results"].as_array().expect("results").iter().filter_map(|r| r["verdict"].as_str()).collect();
    // The last one panics where overflow is checked, and answers wrong where it is not: caught either way.
    assert_eq!(verdicts, ["known-bad, caught", "known-bad, caught", "right", "known-bad, caught"]);
    let found = &proofs["results"][0]["counterexample"];
    for field in ["length", "src_offset", "seed", "bytes", "expected", "got"] {
        assert!(!found[field].is_null(), "{field} in {found}");
    }
    // Named on the command line of a measurement, it is wrong, is not timed, and is the exit status.
    let run = place.json_with_status(&short(&["measure", "--variants", "checksum/odd_address_baseline"]), 3);
    assert_eq!(cells(&run)[0]["status"], "wrong");
    assert!(cells(&run)[0]["ticks_per_call"].is_null());
    assert_eq!(cells(&run)[1]["status"], "ok", "the baseline beside it");
}

#[test]
fn a_variant_is_refused_beyond_what_its_authors_support() {
    let place = Place::new();
    let run = place.json(&short(&["measure", "--variants", "checksum/s2n_quic", "--sizes", "1500,128K"]));
    let of = |label: u64| {
        cells(&run).iter().find(|c| c["variant"] == "s2n_quic" && c["bytes_per_call"] == label as f64)
    };
    assert_eq!(of(1500).expect("a cell")["status"], "ok");
    let refused = of(128 << 10).expect("a cell");
    assert_eq!(refused["status"], "unsupported");
    assert!(refused["detail"].to_string().contains("65535"), "{refused}");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_weaker_cpu_has_fewer_variants_and_no_crash() {
    let place = Place::new();
    let output = place
        .command(&short(&[
            "measure",
            "--variants",
            "zero/avx512,zero/avx2,zero/sse2,zero/carryline",
            "--format",
            "json",
        ]))
        .env("CARRYLINE_MASK", "avx2")
        .output()
        .expect("the command starts");
    let (out, err) = crate::support::texts(&output);
    assert_eq!(output.status.code(), Some(0), "{err}");
    let run: Value = serde_json::from_str(&out).expect("JSON");
    let status = |name: &str| cells(&run).iter().find(|c| c["variant"] == name).map(|c| c["status"].clone());
    assert_eq!(status("avx512"), Some("unsupported".into()));
    assert_eq!(status("avx2"), Some("unsupported".into()));
    assert_eq!(status("sse2"), Some("ok".into()));
    assert_eq!(status("carryline"), Some("ok".into()));
    assert!(
        run["warnings"].to_string().contains("W17") || run["warnings"].to_string().contains("avx2"),
        "{}",
        run["warnings"]
    );

    // As with `verify`, a run of nothing else is a failure.
    let output = place
        .command(&short(&["measure", "--variants", "zero/avx512,zero/avx2"]))
        .env("CARRYLINE_MASK", "avx2")
        .output()
        .expect("the command starts");
    let (out, err) = crate::support::texts(&output);
    assert_eq!(output.status.code(), Some(1), "{out}\n{err}");
    assert!(err.contains("nothing that was asked for can be used here: zero/avx512 ("), "{err}");
    assert!(err.contains("), zero/avx2 ("), "{err}");

    let listed = place
        .command(&["list", "--format", "json"])
        .env("CARRYLINE_MASK", "avx512f")
        .output()
        .expect("starts");
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let avx512 = listed["variants"]
        .as_array()
        .expect("variants")
        .iter()
        .find(|v| v["name"] == "avx512_dot")
        .expect("listed");
    assert_eq!(avx512["runs_here"], false);
}

#[test]
fn the_librarys_environment_variables_are_recorded_with_the_machine() {
    let place = Place::new();
    let machine = |variables: &[(&str, &str)]| -> Value {
        let output = place
            .command(&["machine", "--format", "json"])
            .envs(variables.iter().copied())
            .output()
            .expect("the command starts");
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let tuning = &machine(&[])["environment"]["tuning"];
    assert!(tuning.is_object() && tuning["forced"].is_null(), "{tuning}");
    let told = machine(&[("CARRYLINE_FORCE", "portable"), ("CARRYLINE_TUNING", "builtin:unmeasured")]);
    let tuning = &told["environment"]["tuning"];
    assert_eq!(tuning["forced"], "portable");
    assert!(
        tuning["profile"].as_str().is_some_and(|text| text.ends_with("from CARRYLINE_TUNING")),
        "{tuning}"
    );
}

#[test]
fn one_cpu_and_a_small_budget_are_warnings_not_errors() {
    use std::os::unix::process::CommandExt;
    let place = Place::new();
    let mut command = place.command(&short(&["measure", "--variants", "zero/sse2", "--format", "json"]));
    // SAFETY: only async-signal-safe calls on a value of its own.
    unsafe {
        command.pre_exec(|| {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(0, &mut set);
            match libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
    let output = command.output().expect("the command starts");
    let (out, err) = crate::support::texts(&output);
    assert_eq!(output.status.code(), Some(0), "{err}");
    let run: Value = serde_json::from_str(&out).expect("JSON");
    let causes = run["warnings"].to_string();
    assert!(causes.contains("CPU"), "{causes}");
}

#[test]
fn lists_have_the_promised_fields() {
    let place = Place::new();
    let list = place.json(&["list"]);
    for variant in list["variants"].as_array().expect("variants") {
        for field in ["name", "family", "needs", "provenance", "runs_here", "known_bad"] {
            assert!(!variant[field].is_null(), "{field} in {variant}");
        }
    }
    let machine = place.json(&["machine"]);
    assert!(machine["environment"]["caches"].is_array());
    assert!(machine["not_measurable"].is_array());
    assert!(machine["assumed"].is_array());
    let word = place.json(&["explain", "W01"]);
    assert!(word["remedy"].is_string());
    let (page, _) = place.expect(&["man"], 0);
    assert!(page.contains(".TH carryline"));
    place.expect(&["man", "--pages", "pages"], 0);
    for name in ["carryline.1", "carryline-run.1", "carryline-audit-capture.1"] {
        assert!(place.file("pages").join(name).is_file(), "{name}");
    }
}

#[test]
fn a_completion_script_asks_the_command() {
    let place = Place::new();
    place.expect(
        &["measure", "--variants", "zero/sse2", "--budget", "300ms", "--replicates", "1", "--label", "mine"],
        0,
    );
    for (shell, calls) in [("zsh", "_carryline"), ("fish", "complete"), ("bash", "-F _carryline carryline")] {
        let (script, _) = place.expect(&["completions", shell], 0);
        assert!(script.contains("CARRYLINE_COMPLETE") && script.contains(calls), "{script}");
    }
    // As the script for bash asks for the last of three words.
    let mut asked = place.command(&["--", "carryline", "history", "--show", ""]);
    let output =
        asked.env("CARRYLINE_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "3").output().expect("an answer");
    assert_eq!(texts(&output).0, "1", "the stored run");
}

#[test]
fn a_plan_measures_nothing() {
    let place = Place::new();
    let begin = std::time::Instant::now();
    let (text, _) = place.expect(&["run", "--plan"], 0);
    assert!(text.contains("situations") && text.contains("checksum 1500 hot independent"), "{text}");
    assert!(!place.file("data").exists(), "nothing is stored after {:?}", begin.elapsed());
    let plan = place.json(&["measure", "--plan", "--sizes", "40,1500", "--variants", "zero/avx2"]);
    assert_eq!(plan["situations"].as_array().map(Vec::len), Some(2));
    assert_eq!(plan["forecast"]["holds"], true, "{plan}");
    let plan = place.json(&["measure", "--plan", "--variants", "zero/avx2", "--budget", "100ms"]);
    assert_eq!(plan["forecast"]["holds"], false, "{plan}");
    assert!(plan["forecast"]["total_s"].as_f64() > Some(0.1), "{plan}");
}

#[test]
fn a_page_is_written_where_asked() {
    let place = Place::new();
    place.expect(&short(&["run", "--family", "zero", "--variants", "avx2", "--report", "page.html"]), 0);
    let html = std::fs::read_to_string(place.file("page.html")).expect("a page");
    assert!(html.contains("avx2") && html.trim_end().ends_with("</html>"));
}

#[test]
fn peak_memory_is_at_most_the_largest_buffers_and_200_mib() {
    let place = Place::new();
    let mut command = place.command(&short(&["measure", "--variants", "copy/avx2", "--sizes", "64M"]));
    let quiet = std::process::Stdio::null;
    #[expect(clippy::zombie_processes, reason = "wait4 waits for it, and says what it used")]
    let child = command.stdout(quiet()).stderr(quiet()).spawn().expect("the command starts");
    // Of this child and its own alone: other tests have children too.
    // SAFETY: fills two values of this function's own; nothing else waits for the child.
    let peak_kib = unsafe {
        let (mut status, mut usage): (i32, libc::rusage) = std::mem::zeroed();
        assert_eq!(libc::wait4(child.id() as i32, &raw mut status, 0, &raw mut usage), child.id() as i32);
        assert_eq!(status, 0);
        usage.ru_maxrss
    };
    // Two operands of 64 MiB, and the limits' buffer, which is four times the last cache level where that is more.
    let machine = place.json(&["machine"]);
    let caches = machine["environment"]["caches"].as_array().expect("caches");
    let last = caches.iter().filter_map(|c| c["size_bytes"].as_u64()).max().unwrap_or(8 << 20);
    let largest = (128 << 20).max(4 * last + (64 << 20));
    assert!((peak_kib as u64) << 10 < largest + (200 << 20), "{peak_kib} KiB");
}
