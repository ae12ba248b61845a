//! `carryline audit capture`: rows, statuses, files that cannot be read. The verdicts on packets have tests where they are made.

use crate::support::{Place, capture, texts};
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

/// The capture that all tests share, with a byte of its third packet changed: the payload of UDP.
fn with_a_fault() -> Vec<u8> {
    let mut file = capture();
    // A header of 24 bytes, records of 16, frames of 74 and 142 bytes, and one of 542 that is changed in its last byte.
    let at = 24 + (16 + 74) + (16 + 142) + 16 + 541;
    assert_eq!(file[at], 0x5a);
    file[at] = 0x5b;
    file
}

fn row(place: &Place, files: &[&str], status: i32) -> Value {
    let arguments: Vec<&str> = ["audit", "capture"].iter().chain(files).copied().collect();
    place.json_with_status(&arguments, status)
}

#[test]
fn a_right_capture_has_status_0_and_a_row_with_every_figure() {
    let place = Place::new();
    place.write("traffic.pcap", &capture());
    let rows = row(&place, &["traffic.pcap"], 0);
    let none = json!({"good": 0, "minus_zero": 0, "bad": 0, "offload": 0, "unverified": 0});
    let good = json!({"good": 4, "minus_zero": 0, "bad": 0, "offload": 0, "unverified": 0});
    let mut udp = good.clone();
    for field in ["none", "illegal", "illegal_in_tunnel"] {
        udp[field] = json!(0);
    }
    let protocols = json!({"ipv4": good, "tcp": none, "udp": udp, "icmp": none, "icmpv6": none});
    let expected = json!([{
        "file": "traffic.pcap", "readable": "yes", "reason": null, "format": "pcap", "packets": 6,
        "truncated_packets": 0, "fragments": 0, "outer": protocols, "all": protocols, "wrong": 0,
        "first_bad": [], "offload": [], "skipped": {"contradictory header lengths": 1, "not IP": 1},
    }]);
    assert_eq!(rows, expected);
    let (out, err) = place.expect(&["audit", "capture", "traffic.pcap"], 0);
    assert!(
        out.contains("6 packets") && out.contains("UDP") && !out.contains("TCP") && err.is_empty(),
        "{out}{err}"
    );
}

#[test]
fn a_wrong_checksum_is_named_and_has_status_3() {
    let place = Place::new();
    place.write("bad.pcap", &with_a_fault());
    let rows = row(&place, &["bad.pcap"], 3);
    assert_eq!(rows[0]["outer"]["udp"]["bad"], 1);
    assert_eq!(rows[0]["wrong"], 1);
    let finding = &rows[0]["first_bad"][0];
    assert_eq!((&finding["packet"], &finding["protocol"]), (&json!(3), &json!("udp")));
    let (found, expected) =
        (finding["found"].as_str().expect("text"), finding["expected"].as_str().expect("text"));
    let (out, _) = place.expect(&["audit", "capture", "bad.pcap"], 3);
    assert!(found != expected && out.contains(found) && out.contains(expected), "{out}");
    let (out, _) = place.expect(&["audit", "capture", "bad.pcap", "--most", "0"], 3);
    assert!(!out.contains(found), "{out}");
}

#[test]
fn a_file_that_cannot_be_read_costs_only_its_own_row() {
    let place = Place::new();
    place.write("good.pcap", &capture());
    place.write("empty.pcap", b"");
    place.write("text.pcap", b"no capture at all");
    place.write("packed.pcap.gz", &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);
    place.write("header.pcap", &capture()[..20]);
    place.write("cut.pcap", &capture()[..300]);
    let mut lie = capture();
    lie.extend([0xff; 16]);
    place.write("lie.pcap", &lie);
    let files = [
        "absent.pcap",
        "empty.pcap",
        "text.pcap",
        "packed.pcap.gz",
        "header.pcap",
        "cut.pcap",
        "lie.pcap",
        ".",
        "good.pcap",
    ];
    let rows = row(&place, &files, 2);
    let seen: Vec<(&str, u64)> = rows
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| (row["readable"].as_str().expect("a word"), row["packets"].as_u64().expect("a number")))
        .collect();
    let no = ("no", 0);
    assert_eq!(seen, [no, no, no, no, no, ("partial", 2), ("partial", 6), no, ("yes", 6)]);
    let reasons = [
        "No such file",
        "empty",
        "not a pcap",
        "gzip -d",
        "20 of 24",
        "in the middle",
        "impossible length",
        "directory",
    ];
    for (row, reason) in rows.as_array().expect("rows").iter().zip(reasons) {
        assert!(row["reason"].as_str().is_some_and(|text| text.contains(reason)), "{row}");
    }
    assert_eq!(rows[8]["outer"]["udp"]["good"], 4);
    // What is certainly wrong outweighs what could not be read.
    place.write("bad.pcap", &with_a_fault());
    let (out, _) = place.expect(&["audit", "capture", "absent.pcap", "bad.pcap"], 3);
    assert!(out.contains("absent.pcap") && out.contains("cannot be opened"), "{out}");
    let (_, err) = place.expect(&["audit", "capture"], 2);
    assert!(err.contains("FILE"), "{err}");
}

#[test]
fn standard_input_is_read_as_a_file() {
    let place = Place::new();
    let mut command = place.command(&["audit", "capture", "-", "--format", "json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(&with_a_fault()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(3));
    let rows: Value = serde_json::from_str(&texts(&output).0).expect("JSON");
    assert_eq!((&rows[0]["file"], &rows[0]["packets"]), (&json!("-"), &json!(6)));
}

/// Waits for a child that must end by itself.
fn end_of(mut child: Child) -> Output {
    let begin = Instant::now();
    while child.try_wait().expect("our child").is_none() {
        if begin.elapsed() > Duration::from_secs(60) {
            child.kill().expect("our child");
            panic!("it did not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("it has ended")
}

fn interrupt(child: &Child) {
    // SAFETY: a signal to a child of this test that has not been waited for.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
}

#[test]
fn one_interrupt_ends_a_wait_for_standard_input_and_prints_the_results_so_far() {
    let place = Place::new();
    let mut command = place.command(&["audit", "capture", "-", "--format", "json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(&capture()).expect("it reads");
    while rustix::io::ioctl_fionread(&input).expect("a pipe") > 0 {
        assert!(child.try_wait().expect("our child").is_none(), "it ended before the end of its input");
        std::thread::sleep(Duration::from_millis(1));
    }
    interrupt(&child);
    let output = end_of(child);
    drop(input);
    assert_eq!(output.status.code(), Some(130));
    let rows: Value = serde_json::from_str(&texts(&output).0).expect("JSON");
    assert_eq!((&rows[0]["readable"], &rows[0]["packets"]), (&json!("partial"), &json!(6)), "{rows}");
    assert!(rows[0]["reason"].as_str().is_some_and(|text| text.contains("interrupted")), "{rows}");
}

#[test]
fn one_interrupt_ends_a_wait_for_the_writer_of_a_fifo() {
    let place = Place::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, place.file("fifo"), rustix::fs::Mode::RUSR).expect("a FIFO");
    let mut command = place.command(&["audit", "capture", "fifo", "--format", "json"]);
    let child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    // Before it handles the signal, the signal would end it.
    let handled = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
        let digits = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?.trim().to_owned();
        u64::from_str_radix(&digits, 16).ok()
    };
    while handled().expect("its status") & (1 << (libc::SIGINT - 1)) == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(50));
    interrupt(&child);
    let output = end_of(child);
    assert_eq!(output.status.code(), Some(130));
    let rows: Value = serde_json::from_str(&texts(&output).0).expect("JSON");
    assert_eq!((&rows[0]["readable"], &rows[0]["packets"]), (&json!("no"), &json!(0)), "{rows}");
}
