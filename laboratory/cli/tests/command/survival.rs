//! The command survives its workers, the store survives the command, and the results survive the store.

use crate::support::{Place, RIGHT_SUM, refused_a_few_bytes, short, texts, three_at_a_time};
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Plug-ins that misbehave: name, body, the status of their row, a word of its reason.
const MISBEHAVING: [(&str, &str, &str, &str); 10] = [
    ("segv", "*(volatile int *)8 = 1; return 0;", "crashed", "SIGSEGV"),
    ("ill", "__builtin_trap();", "crashed", "SIGILL"),
    ("gives_up", "abort();", "crashed", "SIGABRT"),
    ("hang", "for (;;) __asm__ volatile(\"\"); return 0;", "timed_out", ""),
    ("leave", "exit(0);", "crashed", "status 0"),
    ("stop", "raise(SIGSTOP); return 0;", "timed_out", ""),
    (
        "forks",
        "static int n; if (n++ < 3 && fork() == 0) return 1; return sum(data, len, seed);",
        "wrong",
        "",
    ),
    // Only when it is timed is it called so often with the same buffer.
    (
        "changes",
        "static const void *last; static size_t n, same; same = data == last && len == n ? same + 1 : 0; \
         last = data; n = len; static int changed; changed |= same > 100; return sum(data, len, seed) + changed;",
        "wrong",
        "right when verified, but its result was wrong after it was timed (checksum",
    ),
    ("closes", "for (int i = 0; i < 11; i++) close(i); return sum(data, len, seed);", "ok", ""),
    (
        "prints",
        "printf(\"{\\\"done\\\"}\\n\"); fprintf(stderr, \"x\\n\"); return sum(data, len, seed);",
        "ok",
        "",
    ),
];

/// The exit status of a command that measured a routine with such a row.
fn exit_status(row: &str) -> i32 {
    match row {
        "ok" => 0,
        "timed_out" => 5,
        _ => 3,
    }
}

fn plugin_source(name: &str, body: &str) -> String {
    let sum = RIGHT_SUM.replace("my_sum", "sum").replace("uint32_t sum", "static uint32_t sum");
    format!(
        "#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n{sum}\n\
         uint32_t {name}(const void *data, size_t len, uint32_t seed) {{ (void)sum; {body} }}\n"
    )
}

#[test]
fn a_misbehaving_routine_costs_only_its_own_row() {
    let place = Place::new();
    three_at_a_time(&MISBEHAVING, |&(name, body, status, reason)| {
        place.shared_object(name, &plugin_source(name, body));
        let plugin = format!("./{name}.so:{name}:checksum");
        let mut arguments = short(&["measure", "--plugin", &plugin, "--variants", "checksum/avx2"]);
        // A short timeout only where it expires anyway: on a busy machine a call that returns may be slow.
        if status == "timed_out" {
            arguments.extend(["--patience", "1"]);
        }
        arguments.extend(["--format", "json"]);
        let output = place.run(&arguments);
        let (out, err) = texts(&output);
        let run: serde_json::Value =
            serde_json::from_str(&out).unwrap_or_else(|e| panic!("{name}: {e}\n{out}\n{err}"));
        let cell = |variant: &str| {
            run["cells"].as_array().and_then(|cells| cells.iter().find(|c| c["variant"] == variant).cloned())
        };
        let own = cell(&format!("plugin:{name}")).unwrap_or_else(|| panic!("{name}: no row in {out}"));
        assert_eq!(own["status"], status, "{name}: {own}\n{err}");
        assert_eq!(output.status.code(), Some(exit_status(status)), "{name}: {err}");
        assert!(own["detail"].as_str().unwrap_or_default().contains(reason), "{name}: {own}");
        assert_eq!(cell("avx2").map(|c| c["status"].clone()), Some("ok".into()), "{name}: {out}");
    });
}

/// The base was measured with a right one under the same name.
#[test]
fn a_gate_tells_of_a_routine_that_is_wrong_after_it_was_timed() {
    let place = Place::new();
    let (name, body, ..) = MISBEHAVING.into_iter().find(|(name, ..)| *name == "changes").expect("a plug-in");
    place.shared_object(name, &plugin_source(name, "return sum(data, len, seed);"));
    place.json(&short(&[
        "measure",
        "--plugin",
        "./changes.so:changes:checksum",
        "--variants",
        "checksum/avx2",
    ]));
    place.shared_object(name, &plugin_source(name, body));
    let (_, err) = place.expect(&["gate", "1", "--budget", "3s"], 3);
    assert!(err.contains("plugin:changes is wrong: right when verified"), "{err}");
}

#[test]
fn a_plugin_that_cannot_be_loaded_is_a_usage_error() {
    let place = Place::new();
    place.write("text.so", b"this is no shared object");
    place.shared_object("right", RIGHT_SUM);
    place.shared_object(
        "early",
        "__attribute__((constructor)) static void at_load(void) { *(volatile int *)8 = 1; }\nint f;",
    );
    place.shared_object(
        "late",
        "__attribute__((constructor)) static void at_load(void) { for (;;) __asm__ volatile(\"\"); }\nint f;",
    );
    for (plugin, word) in [
        ("./text.so:my_sum:checksum", "text.so"),
        ("./absent.so:my_sum:checksum", "absent.so"),
        ("./right.so:your_sum:checksum", "your_sum"),
        ("./early.so:f:checksum", "crashes"),
        ("./late.so:f:checksum", "did not finish"),
    ] {
        let (_, err) = place.expect(&["verify", "--plugin", plugin, "--patience", "1"], 2);
        assert!(err.contains(word), "{plugin}: {err}");
    }
}

#[test]
fn a_right_plugin_is_verified_and_measured_like_the_others() {
    let place = Place::new();
    place.shared_object("right", RIGHT_SUM);
    let proofs = place.json(&["verify", "--plugin", "./right.so:my_sum:checksum"]);
    assert_eq!(proofs["results"].as_array().map(Vec::len), Some(1));
    assert_eq!(proofs["results"][0]["verdict"], "right", "{proofs}");
    let run = place.json(&short(&["run", "--plugin", "right.so:my_sum:checksum"]));
    let rows = run["cells"].as_array().expect("cells");
    assert!(rows.iter().any(|c| c["variant"] == "plugin:my_sum"), "{rows:?}");
    assert!(rows.iter().all(|c| c["family"] == "checksum"));
}

/// Starts a long measurement, and waits until its first rounds are in the store.
fn under_way(place: &Place, more: &[&str]) -> Child {
    let arguments: Vec<&str> =
        ["measure", "--variants", "zero/avx2,zero/sse2", "--budget", "60s", "--replicates", "40"]
            .iter()
            .chain(more)
            .copied()
            .collect();
    let mut child = place
        .command(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("the command starts");
    let begin = Instant::now();
    loop {
        let history = place.json(&["history"]);
        if history["runs"][0]["rounds"].as_u64().unwrap_or(0) > 20 {
            return child;
        }
        if let Some(status) = child.try_wait().expect("a child") {
            panic!("it ended by itself: {status}");
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "no rounds: {history}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn after_kill_nine_the_finished_rounds_are_there() {
    let place = Place::new();
    let mut child = under_way(&place, &[]);
    child.kill().expect("killed");
    child.wait().expect("collected");
    let history = place.json(&["history"]);
    assert_eq!(history["runs"][0]["status"], "incomplete", "{history}");
    let rounds = history["runs"][0]["rounds"].as_u64().expect("a number");
    assert!(rounds > 20);
    let again = place.json(&["history", "--show", "1"]);
    assert_eq!(again["complete"], false);
    let cells = again["cells"].as_array().expect("cells");
    assert!(cells.iter().any(|cell| cell["status"] == "ok"), "{again}");
    // What the last run left behind does not disturb the next.
    place.expect(&short(&["measure", "--variants", "zero/avx2"]), 0);
}

#[test]
fn ctrl_c_ends_cleanly_with_the_results_so_far() {
    let place = Place::new();
    let mut child = under_way(&place, &["--format", "json"]);
    // SAFETY: a signal to a child of this test that has not been waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    let mut out = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut out).expect("text");
    let status = child.wait().expect("collected");
    assert_eq!((status.code(), status.signal()), (Some(130), None));
    let run: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(run["complete"], false);
    assert!(run["cells"].as_array().expect("cells").iter().any(|cell| cell["status"] == "ok"), "{out}");
    assert_eq!(place.json(&["history"])["runs"][0]["status"], "interrupted");
}

/// The worker processes of a command, by their parent and their one argument.
fn workers(command: &Child) -> Vec<i32> {
    let parent = command.id().to_string();
    let numbers = std::fs::read_dir("/proc").expect("processes").filter_map(|entry| {
        let number: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        // The name, in parentheses, may hold anything; state and parent follow it.
        let mut fields = stat.rsplit(')').next()?.split_whitespace();
        let (state, its_parent) = (fields.next()?, fields.next()?);
        let words = std::fs::read(format!("/proc/{number}/cmdline")).ok()?;
        (its_parent == parent && state != "Z" && words.ends_with(b"\0worker\0")).then_some(number)
    });
    numbers.collect()
}

/// Sends a signal to one worker of a command, as soon as there is one; false if the command ended before.
fn kill_a_worker(command: &mut Child, signal: i32) -> bool {
    let begin = Instant::now();
    while command.try_wait().expect("a child").is_none() {
        if let Some(worker) = workers(command).first() {
            // SAFETY: a signal to a process that has a child of this test for its parent.
            let sent = unsafe { libc::kill(*worker, signal) } == 0;
            // Not sent: that one was collected meanwhile, and another may follow.
            if sent {
                return true;
            }
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "no worker");
        std::thread::yield_now();
    }
    false
}

fn verifying(place: &Place, more: &[&str]) -> Child {
    let arguments: Vec<&str> =
        ["verify", "zero/avx2", "--format", "json"].iter().chain(more).copied().collect();
    let mut command = place.command(&arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts")
}

/// The status, and the verdict with its detail, of a command that verified one subject.
fn verdict(command: Child) -> (Option<i32>, String, String) {
    let output = command.wait_with_output().expect("it ends");
    let (out, err) = texts(&output);
    let list: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}\n{out}\n{err}"));
    let word = |field: &str| list["results"][0][field].as_str().unwrap_or_default().to_owned();
    (output.status.code(), word("verdict"), word("detail"))
}

#[test]
fn a_worker_killed_once_from_outside_blames_no_subject() {
    let place = Place::new();
    for (signal, name) in
        [(libc::SIGKILL, "SIGKILL"), (libc::SIGTERM, "SIGTERM"), (libc::SIGSTOP, "made no progress")]
    {
        // A short timeout only where it expires anyway.
        let more: &[&str] = if signal == libc::SIGSTOP { &["--patience", "2"] } else { &[] };
        let mut command = verifying(&place, more);
        assert!(kill_a_worker(&mut command, signal));
        let (status, verdict, detail) = verdict(command);
        assert_eq!((status, verdict.as_str()), (Some(0), "right"), "{name}: {detail}");
        assert!(detail.contains(name), "{detail}");
    }
    // Signals that the CPU raises too.
    for signal in [libc::SIGSEGV, libc::SIGABRT] {
        let mut command = verifying(&place, &[]);
        assert!(kill_a_worker(&mut command, signal));
        let (status, verdict, detail) = verdict(command);
        assert!(
            matches!((status, verdict.as_str()), (Some(0), "right") | (Some(1), "not verified")),
            "{detail}"
        );
    }
}

#[test]
fn workers_killed_every_time_leave_a_subject_unverified() {
    let place = Place::new();
    let mut command = verifying(&place, &[]);
    while kill_a_worker(&mut command, libc::SIGKILL) {}
    let (status, verdict, detail) = verdict(command);
    assert_eq!((status, verdict.as_str()), (Some(1), "not verified"), "{detail}");
    assert!(detail.contains("two worker processes") && detail.contains("SIGKILL"), "{detail}");
}

#[test]
fn a_worker_killed_while_it_measures_is_started_again() {
    let place = Place::new();
    let mut child = under_way(&place, &["--format", "json"]);
    let rounds = || place.json(&["history"])["runs"][0]["rounds"].as_u64().unwrap_or(0);
    assert!(kill_a_worker(&mut child, libc::SIGKILL));
    let (before, begin) = (rounds(), Instant::now());
    while rounds() < before + 40 {
        assert!(begin.elapsed() < Duration::from_secs(60), "no further rounds");
        std::thread::sleep(Duration::from_millis(50));
    }
    // SAFETY: a signal to a child of this test that has not been waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    let (out, err) = texts(&child.wait_with_output().expect("it ends"));
    let run: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}\n{err}"));
    let cells = run["cells"].as_array().expect("cells");
    for cell in cells {
        // libc without string instructions has processes of its own, of which none may have begun.
        if cell["variant"] != "libc_memset_no_rep" {
            assert_eq!(cell["status"], "ok", "{cell}");
        }
    }
    assert!(cells.len() >= 3, "{out}");
    assert!(run["warnings"].to_string().contains("SIGKILL"), "{}", run["warnings"]);
}

#[test]
fn running_out_of_memory_blames_no_subject() {
    let place = Place::new();
    let binary = env!("CARGO_BIN_EXE_carryline");
    let mut refused = 0;
    // From barely enough for the program to barely enough for verification.
    for kib in (45_000..=80_000).step_by(5000) {
        let script =
            format!("ulimit -v {kib}; exec '{binary}' verify copy/avx2 --quiet --format json --seed 7");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script]).current_dir(place.path()).stdin(Stdio::null());
        // A panic while threads start must not hang in the printing of its backtrace.
        command.env("RUST_BACKTRACE", "1");
        let output = command.output().expect("a shell");
        let (out, err) = texts(&output);
        let ended = matches!(output.status.code(), Some(0 | 1)) || refused_a_few_bytes(&output);
        assert!(ended, "{kib} KiB: {}\n{out}\n{err}", output.status);
        refused += i32::from(out.contains("\"not verified\"") && out.to_lowercase().contains("memory"));
    }
    assert!(refused > 0, "memory never ran out");
}

#[test]
fn a_fault_seen_only_once_is_no_verdict() {
    let place = Place::new();
    // Fails in the first process that calls it, at its 1000th call.
    let faults = [("aborts", "abort();"), ("faults", "*(volatile int *)8 = 1;"), ("leaves", "exit(0);")];
    three_at_a_time(&faults, |(name, fault)| {
        let file = place.file(name);
        let body = format!(
            "static int n; if (++n == 1000 && access(\"{0}\", F_OK) != 0) {{ fclose(fopen(\"{0}\", \"w\")); {fault} }} \
             return sum(data, len, seed);",
            file.display()
        );
        place.shared_object(name, &plugin_source(name, &body));
        let plugin = format!("./{name}.so:{name}:checksum");
        let list = place.json_with_status(&["verify", "--plugin", &plugin], 1);
        assert_eq!(list["results"][0]["verdict"], "not verified", "{list}");
        let run = place.json(&short(&["measure", "--plugin", &plugin, "--variants", "checksum/avx2"]));
        let row =
            run["cells"].as_array().and_then(|c| c.iter().find(|c| c["variant"] == format!("plugin:{name}")));
        assert_eq!(row.map(|row| row["status"].clone()), Some("ok".into()), "the file is there now: {run}");
    });
}

#[test]
fn a_subject_that_could_not_be_verified_is_not_measured_and_the_status_is_1() {
    let place = Place::new();
    let file = place.file("odd");
    // Crashes in every other process.
    let body = format!(
        "static int n; if (++n == 1000) {{ if (access(\"{0}\", F_OK) != 0) {{ fclose(fopen(\"{0}\", \"w\")); abort(); }} \
         unlink(\"{0}\"); }} return sum(data, len, seed);",
        file.display()
    );
    place.shared_object("odd_sum", &plugin_source("odd_sum", &body));
    let arguments = ["measure", "--plugin", "./odd_sum.so:odd_sum:checksum", "--variants", "checksum/avx2"];
    let run = place.json_with_status(&short(&arguments), 1);
    let cell = |variant: &str| {
        run["cells"]
            .as_array()
            .and_then(|cells| cells.iter().find(|cell| cell["variant"] == variant).cloned())
    };
    let own = cell("plugin:odd_sum").unwrap_or_else(|| panic!("no row in {run}"));
    assert_eq!(own["status"], "not_verified", "{own}");
    assert!(own["detail"].as_str().is_some_and(|why| why.contains("signal 6")), "{own}");
    assert_eq!(cell("avx2").map(|cell| cell["status"].clone()), Some("ok".into()), "{run}");
}

#[test]
fn with_a_full_disk_results_are_printed_and_the_status_is_1() {
    let place = Place::new();
    let binary = env!("CARGO_BIN_EXE_carryline");
    // The limit (in blocks of 512 bytes) is above the 1 MiB of shared memory that a verification takes, and below the rounds'
    // log. A shell sets it, and ignores the signal.
    let script = format!("trap '' XFSZ; ulimit -f 2100; exec '{binary}' \"$@\"");
    let mut command = std::process::Command::new("sh");
    command.args([
        "-c",
        &script,
        "sh",
        "measure",
        "--variants",
        "zero/avx2,zero/sse2,zero/carryline",
        "--budget",
        "8s",
    ]);
    command.args(["--replicates", "4", "--sizes", "40,80,160,320,640,1280", "--format", "json"]);
    command.current_dir(place.path()).env("XDG_DATA_HOME", place.file("data")).stdin(Stdio::null());
    let output = command.output().expect("a shell");
    let (out, err) = texts(&output);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("carryline.sqlite"), "the file is not named in: {err}");
    let run: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert!(run["cells"].as_array().expect("cells").iter().all(|cell| cell["status"] == "ok"), "{out}");
}

#[test]
fn a_closed_pipe_or_a_full_device_causes_no_panic() {
    let place = Place::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let output = place
        .command(&["list"])
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .and_then(Child::wait_with_output);
    let output = output.expect("the command starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
    let mut child =
        place.command(&["list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ends");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}
