//! `carryline audit`: faults planted in shared objects and programs, and what the adapters of `vectors/adapters` find.

use crate::support::{Place, RIGHT_SUM, assert_described, texts};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Checksums with a fault each, in forms of their own, and a copy that is wrong where buffers overlap.
const FAULTY: &str = r#"
#include <stddef.h>
#include <stdint.h>

/* One fold only: a carry out of it is lost. */
uint16_t one_fold(int len, const void *data) {
    const unsigned char *p = data;
    uint32_t sum = 0;
    for (int i = 0; i + 1 < len; i += 2) sum += p[i] << 8 | p[i + 1];
    if (len & 1) sum += p[len - 1] << 8;
    sum = (sum & 0xffff) + (sum >> 16);
    return ~sum;
}

/* An odd last byte taken for the second of its word. */
uint16_t odd_byte(const void *data, size_t len) {
    const unsigned char *p = data;
    uint64_t sum = 0;
    for (size_t i = 0; i + 1 < len; i += 2) sum += (uint64_t)p[i] | (uint64_t)p[i + 1] << 8;
    if (len & 1) sum += (uint64_t)p[len - 1] << 8;
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return ~sum;
}

/* RFC 1141: the checksum of data that sums to ffff becomes ffff. */
uint16_t rfc_1141(uint16_t check, uint16_t old, uint16_t new) {
    uint32_t sum = (uint32_t)check + old + (uint16_t)~new;
    sum = (sum & 0xffff) + (sum >> 16);
    return sum + (sum >> 16);
}

void *forwards(void *dst, const void *src, size_t len) {
    volatile unsigned char *to = dst;
    const volatile unsigned char *from = src;
    while (len--) *to++ = *from++;
    return dst;
}

int no_checksum(int number) { return number + 1; }
"#;

/// Gives the answer of its first argument to every line. It reads by blocks: `sed -u` would read byte by byte, for half a
/// minute.
const ANSWERS_ALL: &str = r"
#define _GNU_SOURCE
#include <stdio.h>
int main(int count, char **words) {
    char *line = NULL;
    size_t room = 0;
    while (count == 2 && getline(&line, &room, stdin) > 0) {
        puts(words[1]);
        fflush(stdout);
    }
    return 0;
}
";

/// A shell script that answers the greeting of the protocol, then runs `body`.
fn script(place: &Place, name: &str, body: &str) -> String {
    let path = place.write(name, format!("read a; echo {name} 1; {body}\n").as_bytes());
    format!("sh {}", path.display())
}

fn row<'v>(found: &'v Value, name: &str) -> &'v Value {
    let rows = found["implementations"].as_array().unwrap_or_else(|| panic!("{found}"));
    rows.iter()
        .find(|row| row["name"].as_str().is_some_and(|known| known.ends_with(name)))
        .unwrap_or_else(|| panic!("no {name} in {found}"))
}

fn classes(row: &Value) -> Vec<&str> {
    row["faults"].as_array().into_iter().flatten().filter_map(|fault| fault["class"].as_str()).collect()
}

#[test]
fn a_right_checksum_of_an_unnamed_form_is_recognised() {
    let place = Place::new();
    place.shared_object("mine", RIGHT_SUM);
    let found = place.json(&["audit", "--plugin", "mine.so:my_sum", "--seed", "1"]);
    let row = row(&found, "my_sum");
    assert_eq!((&row["status"], &row["form"]), (&"right".into(), &"partial/ptr,len,seed".into()), "{row}");
    assert!(row["vectors"]["passed"].as_u64() > Some(200) && row["vectors"]["failed"] == 0, "{row}");
    assert!(row["calls"].as_u64() > Some(10_000), "{row}");
}

/// What is found in some of the faulty functions.
fn found_in(functions: &[&str]) -> Value {
    let place = Place::new();
    place.shared_object("faulty", FAULTY);
    let plugins: Vec<String> = functions.iter().map(|plugin| format!("faulty.so:{plugin}")).collect();
    let mut arguments = vec!["audit", "--seed", "1"];
    plugins.iter().for_each(|plugin| arguments.extend(["--plugin", plugin]));
    place.json_with_status(&arguments, 3)
}

#[test]
fn planted_faults_of_sums_are_found_reduced_and_named() {
    let found = found_in(&["one_fold", "odd_byte"]);
    let one = row(&found, "one_fold");
    assert_eq!(one["form"], "checksum-host/len,ptr");
    let lost = &one["faults"][0];
    assert_eq!(classes(one), ["lost_carry"], "{one}");
    assert!(lost["input_hex"].as_str().is_some_and(|hex| hex.len() <= 16), "{lost}");
    assert_ne!(lost["expected"], lost["got"]);
    assert!(lost["report"].as_str().is_some_and(|line| line.contains("RFC 1071")), "{lost}");

    let odd = row(&found, "odd_byte");
    assert_eq!(odd["form"], "checksum/ptr,len", "{odd}");
    assert_eq!(classes(odd), ["odd_length"], "{odd}");
    assert_eq!(odd["faults"][0]["input_hex"].as_str().map(str::len), Some(2), "{odd}");
}

#[test]
fn planted_faults_of_updates_and_moves_are_found_and_named() {
    let found = found_in(&["rfc_1141", "forwards:memmove"]);
    let update = row(&found, "rfc_1141");
    assert_eq!(update["form"], "checksum/check,old,new", "{update}");
    assert_eq!(classes(update), ["two_zeros"], "{update}");

    let moved = row(&found, "forwards");
    assert_eq!(classes(moved), ["wrong_bytes"], "{moved}");
    assert!(moved["faults"][0]["report"].as_str().is_some_and(|line| line.contains("overlap")), "{moved}");
}

#[test]
fn a_subject_that_cannot_be_audited_costs_only_its_own_row() {
    let place = Place::new();
    place.shared_object("faulty", FAULTY);
    place.write("text.so", b"no machine code");
    let arguments = [
        "audit",
        "--plugin",
        "faulty.so:no_checksum",
        "--plugin",
        "faulty.so:missing",
        "--plugin",
        "text.so:f",
        "--plugin",
        "none.so:f:csum_partial",
        "--command",
        "no-such-command-at-all",
        "--command",
        "echo hello",
        "--plugin",
        "none.so:f:memcpy",
        "checksum/words16_c",
        "--patience",
        "2",
    ];
    let found = place.json_with_status(&arguments, 2);
    for (name, reason) in [
        ("no_checksum", "--form FORM or FILE.so:no_checksum:FORM, as in csum_partial, checksum/ptr,len"),
        ("missing", "no symbol 'missing'"),
        ("text.so:f", "cannot load"),
        ("none.so:f", "cannot read"),
        ("no-such-command-at-all", "not found"),
        ("echo hello", "does not speak the protocol"),
    ] {
        let row = row(&found, name);
        assert_eq!(row["status"], "unusable", "{row}");
        assert!(row["reason"].as_str().is_some_and(|text| text.contains(reason)), "{name}: {row}");
    }
    assert_eq!(row(&found, "words16_c")["status"], "right");
    assert_eq!(found["implementations"].as_array().map(Vec::len), Some(8));
}

#[test]
fn programs_that_crash_hang_or_send_garbage_cost_only_their_own_row() {
    let place = Place::new();
    place.program("answers_all", ANSWERS_ALL);
    let commands = [
        script(&place, "dies", "read a; kill -SEGV $$"),
        script(&place, "hangs", "read a; sleep 1000"),
        script(&place, "babbles", "exec ./answers_all perhaps"),
        script(&place, "refuses", "exec ./answers_all unsupported"),
        script(&place, "gives_up", "exec ./answers_all 'error I am tired'"),
    ];
    let mut arguments = vec!["audit", "--patience", "1"];
    commands.iter().for_each(|command| arguments.extend(["--command", command]));
    let found = place.json_with_status(&arguments, 3);
    for (name, status, class) in [
        ("dies", "crashed", Some("crash")),
        ("hangs", "timed_out", Some("timed_out")),
        ("babbles", "garbage", Some("garbage")),
        ("refuses", "unusable", None),
        ("gives_up", "wrong", Some("error")),
    ] {
        let row = row(&found, name);
        assert_eq!(row["status"], status, "{row}");
        assert_eq!(classes(row).first().copied(), class, "{row}");
    }
    assert_eq!(row(&found, "refuses")["reason"], "it answered no request");
}

#[test]
fn an_interrupted_audit_is_incomplete_and_replaces_no_report() {
    let place = Place::new();
    let command = script(&place, "waits", "read a; : > asked; exec sleep 1000");
    place.write("old.md", b"an earlier report");
    let arguments = ["audit", "--command", &command, "--patience", "60", "--report", "old.md"];
    let mut child = place
        .command(&arguments)
        .args(["--format", "json"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    while !place.file("asked").exists() {
        assert!(child.try_wait().expect("our child").is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    // SAFETY: a signal to a child of this test that has not been waited for.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let found: Value = serde_json::from_str(&texts(&output).0).expect("JSON");
    assert_described(&found);
    let row = row(&found, "waits");
    assert_eq!((&row["status"], &row["reason"]), (&"incomplete".into(), &"interrupted".into()), "{row}");
    assert_eq!((&row["vectors"]["passed"], &row["vectors"]["failed"]), (&0.into(), &0.into()), "{row}");
    assert_eq!(std::fs::read(place.file("old.md")).expect("still there"), b"an earlier report");
    assert!(!place.file("old.json").exists());
}

#[cfg(feature = "peers")]
#[test]
fn the_collections_known_faults_are_found() {
    let place = Place::new();
    let arguments = ["audit", "internet-checksum", "smoltcp", "pnet_packet", "--seed", "1"];
    let found = place.json_with_status(&arguments, 3);
    // With overflow checks it panics where the carry is lost.
    let lost = row(&found, "internet-checksum");
    assert_eq!(lost["version"], "0.2.1");
    assert!(classes(lost).iter().any(|class| ["lost_carry", "error"].contains(class)), "{lost}");
    for (name, least, most) in [("smoltcp", 131_074, 131_076), ("pnet_packet", 131_074, 131_076)] {
        let row = row(&found, name);
        let long =
            row["faults"].as_array().into_iter().flatten().find(|fault| fault["class"] == "long_input");
        let bytes = long.and_then(|fault| fault["input_hex"].as_str()).map_or(0, |hex| hex.len() / 2);
        assert!((least..=most).contains(&bytes), "{name}: {bytes}: {:?}", classes(row));
    }
}

#[test]
fn a_report_is_a_document_and_its_data() {
    let place = Place::new();
    place.expect(&["audit", "checksum/reference", "--report", "audit.md"], 0);
    let text = std::fs::read_to_string(place.file("audit.md")).expect("written");
    assert!(text.contains("| reference |"), "{text}");
    let data = std::fs::read_to_string(place.file("audit.json")).expect("written beside it");
    assert!(data.contains("\"implementations\""), "{data}");
}

#[test]
fn wrong_words_are_named_with_the_remedy() {
    let place = Place::new();
    for (arguments, expected) in [
        (&["audit", "carrylien"][..], "did you mean 'carryline'?"),
        (&["audit", "captrue", "a.pcap"], "did you mean 'capture'?"),
        (&["audit", "--plugin", "mine.so"], "FILE.so:SYMBOL"),
        (&["audit", "--plugin", "mine.so:f:checksum-hots/ptr,len"], "did you mean 'checksum-host/ptr,len'"),
        (&["audit", "--form", "csum_partial"], "--plugin"),
        (&["audit", "carryline", "--report", "no/such/folder/a.md"], "no/such/folder/a.md"),
        (&["audit", "carryline", "--report", "a.json"], "audit.md"),
    ] {
        let (out, err) = place.expect(arguments, 2);
        assert!(out.is_empty() && err.contains(expected), "{arguments:?}: {err}");
    }
}

fn adapters() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/adapters")
}

/// True if the command runs and succeeds; nothing is fetched from anywhere.
fn succeeds(program: &str, arguments: &[&str], folder: &Path) -> bool {
    Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("GOPROXY", "off")
        .output()
        .is_ok_and(|output| output.status.success())
}

/// The commands of the adapters that this machine can run; the others are named on standard error.
fn adapter_commands(place: &Place) -> Vec<(&'static str, String)> {
    let folder = adapters();
    let at = |name: &str| folder.join(name).display().to_string();
    let mut commands = Vec::new();
    let mut offer = |name: &'static str, runs: bool, command: String| match runs {
        true => commands.push((name, command)),
        false => {
            eprintln!("skipped: the adapter of {name}, which this machine lacks the tool or the package for")
        }
    };
    for (name, module, file) in
        [("scapy", "scapy.utils", "scapy_adapter.py"), ("dpkt", "dpkt", "dpkt_adapter.py")]
    {
        let python = std::env::var("CARRYLINE_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let runs = succeeds(&python, &["-c", &format!("import {module}")], place.path());
        offer(name, runs, format!("{python} {}", at(file)));
    }
    let gopacket = place.file("gopacket");
    let output = gopacket.display().to_string();
    offer("gopacket", succeeds("go", &["build", "-o", &output, "."], &folder.join("gopacket")), output);
    let node = succeeds("node", &["-e", "require('raw-socket')"], place.path());
    offer("raw-socket", node, format!("node {}", at("raw_socket_adapter.js")));
    let java =
        succeeds("javac", &["-d", &place.path().display().to_string(), &at("Pcap4jAdapter.java")], &folder);
    let path = format!("{}:{}", place.path().display(), std::env::var("CLASSPATH").unwrap_or_default());
    offer("pcap4j", java, format!("java -cp {path} Pcap4jAdapter"));
    let libnet = place.file("libnet").display().to_string();
    offer(
        "libnet",
        succeeds("cc", &["-o", &libnet, &at("libnet_adapter.c"), "-lnet"], &folder),
        libnet.clone(),
    );
    commands
}

#[test]
fn the_adapters_speak_the_protocol() {
    let place = Place::new();
    let commands = adapter_commands(&place);
    let mut arguments = vec!["audit", "--format", "json", "--patience", "60"];
    commands.iter().for_each(|(_, command)| arguments.extend(["--command", command.as_str()]));
    if commands.is_empty() {
        return;
    }
    let output = place.run(&arguments);
    let (out, err) = texts(&output);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{out}{err}");
    let found: Value = serde_json::from_str(&out).expect("JSON");
    for (name, _) in commands {
        let row = row(&found, name);
        let version = row["version"].as_str().unwrap_or_default();
        assert!(version.contains(|c: char| c.is_ascii_digit()), "{row}");
        // Every adapter repeats patterns itself: sums of 16 MiB are among those that are asked.
        let sums = &row["vectors"]["by_file"][0];
        let asked = sums["passed"].as_u64().unwrap_or(0) + sums["failed"].as_u64().unwrap_or(0);
        assert!(sums["file"] == "sums" && asked > 240, "{row}");
        assert!(row["vectors"]["passed"].as_u64() > Some(150), "{row}");
    }
}
