//! `carryline critical --calibrate`: what is measured is used and said to be; where it cannot be, the table is.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use crate::support::{Place, texts};
use serde_json::Value;
use std::collections::HashMap;
use std::os::unix::process::CommandExt;

const ARGUMENTS: [&str; 4] = ["critical", "adc_2_streams", "--no-measure", "--calibrate"];

fn list<'a>(object: &'a Value, name: &str) -> &'a Vec<Value> {
    object[name].as_array().unwrap_or_else(|| panic!("{name} in {object}"))
}

#[test]
fn measured_latencies_win_over_the_table() {
    let place = Place::new();
    let found = place.json(&ARGUMENTS);
    let calibration = &found["calibration"];
    if calibration.is_null() {
        // No program may make memory executable here.
        return;
    }
    let measured: HashMap<&str, &Value> = list(calibration, "measured")
        .iter()
        .map(|one| (one["key"].as_str().expect("a key"), &one["cycles"]))
        .collect();
    assert!(measured.contains_key("adc r64, r64: flags -> flags"), "{:?}", measured.keys());
    assert!(list(calibration, "left_out").iter().all(|one| one["reason"].as_str() > Some("")));
    for check in ["add", "lea"] {
        assert!(calibration["checks"][check].as_f64() > Some(0.0), "{calibration}");
    }
    let used: Vec<&Value> =
        list(&found, "latency_keys").iter().filter(|one| one["source"] == "measured here").collect();
    // The method's own checks may fail on a machine that others use; then nothing measured is used.
    assert_eq!(calibration["used"] == true, !used.is_empty());
    for one in used {
        assert_eq!(measured.get(one["key"].as_str().expect("a key")), Some(&&one["cycles"]), "{one}");
    }
    let (table, _) = place.expect(&ARGUMENTS, 0);
    assert!(table.contains("latencies measured on this machine"), "{table}");
    let plain = place.json(&ARGUMENTS[..3]);
    assert!(plain["calibration"].is_null());
}

#[test]
fn where_executable_memory_is_forbidden_the_table_is_used() {
    const PR_SET_MDWE: libc::c_int = 65;
    let place = Place::new();
    let mut command = place.command(&ARGUMENTS);
    command.args(["--format", "json"]);
    // SAFETY: between fork and exec one system call on constants.
    unsafe {
        command.pre_exec(|| match libc::prctl(PR_SET_MDWE, 1, 0, 0, 0) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    // Kernels before 6.3 cannot forbid it.
    let Ok(output) = command.output() else { return };
    let (out, err) = texts(&output);
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert!(err.contains("executable") && err.contains("table"), "{err}");
    let found: Value = serde_json::from_str(&out).expect("JSON");
    assert!(found["calibration"].is_null());
    assert!(list(&found, "latency_keys").iter().all(|one| one["source"] != "measured here"));
}

#[test]
fn another_machines_table_and_this_ones_measurements_exclude_each_other() {
    let place = Place::new();
    let arguments: Vec<&str> = ARGUMENTS.into_iter().chain(["--microarchitecture", "haswell"]).collect();
    let (_, err) = place.expect(&arguments, 2);
    assert!(err.contains("--microarchitecture"), "{err}");
}
