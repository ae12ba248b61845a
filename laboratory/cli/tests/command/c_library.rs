//! The C library in its two rows, as installed and with raised thresholds, each in worker processes of its own kind.
#![cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]

use crate::support::{Place, short, texts};
use serde_json::Value;

fn named<'a>(list: &'a Value, key: &str, name: &str) -> &'a Value {
    let items = list.as_array().expect("a list");
    items.iter().find(|item| item[key] == name).unwrap_or_else(|| panic!("no {name} in {list}"))
}

/// Whether the C library of this machine knows the thresholds.
fn can_be_raised(place: &Place) -> bool {
    let machine = place.json(&["machine"]);
    let note = machine["notes"][0].as_str().expect("a sentence on the C library").to_owned();
    let raised = machine["environment"]["system"]["rep_thresholds"]["not_raised"].is_null();
    assert_eq!(note.contains("are unsupported"), !raised, "{note}");
    raised
}

#[test]
fn both_rows_are_verified_and_stand_in_one_ranking() {
    let place = Place::new();
    let status = if can_be_raised(&place) { "ok" } else { "unsupported" };
    let proofs = place.json(&["verify", "copy/libc_memcpy", "copy/libc_memcpy_no_rep"]);
    assert_eq!(named(&proofs["results"], "variant", "libc_memcpy")["verdict"], "right");
    let verdict = if status == "ok" { "right" } else { "unsupported" };
    assert_eq!(named(&proofs["results"], "variant", "libc_memcpy_no_rep")["verdict"], verdict);

    // The baseline's rows are added to what is named.
    let run = place.json(&short(&["measure", "--variants", "copy/avx2", "--sizes", "4K"]));
    let cells = &run["cells"];
    assert_eq!(cells.as_array().map(Vec::len), Some(3));
    assert_eq!(named(cells, "variant", "libc_memcpy")["status"], "ok");
    assert_eq!(named(cells, "variant", "libc_memcpy_no_rep")["status"], status);
    let ours = named(cells, "variant", "avx2");
    let baseline = ours["baseline"].as_str().expect("a baseline");
    assert!(["libc_memcpy", "libc_memcpy_no_rep"].contains(&baseline), "{ours}");
    let of_itself = &named(cells, "variant", baseline)["ratio_to_baseline"];
    assert_eq!(of_itself["median"], 1.0, "{of_itself}");
    assert!(ours["ratio_to_baseline"]["median"].as_f64() > Some(0.0), "{ours}");
    let (table, _) = place.expect(&["history", "--show", "1", "--full"], 0);
    assert!(table.contains("libc_memcpy_no_rep"), "{table}");
}

#[test]
fn the_users_tunables_stay_in_force_and_are_named() {
    let place = Place::new();
    let mut command = place.command(&short(&["measure", "--variants", "zero/sse2", "--format", "json"]));
    let own = "glibc.malloc.arena_max=1:glibc.cpu.x86_rep_stosb_threshold=4096";
    let output = command.env("GLIBC_TUNABLES", own).output().expect("the command starts");
    let (out, err) = texts(&output);
    assert_eq!(output.status.code(), Some(0), "{err}");
    let run: Value = serde_json::from_str(&out).expect("JSON");
    let seen = &run["environment"]["system"]["rep_thresholds"];
    assert_eq!(seen["glibc_tunables"], own);
    assert!(seen["not_raised"].is_string() || seen["stosb"] == 4096, "{seen}");
    let warning = named(&run["warnings"], "code", "W28");
    assert!(warning["cause"].as_str().is_some_and(|cause| cause.contains(own)), "{warning}");
}

#[test]
fn the_list_says_what_the_row_needs() {
    let place = Place::new();
    let raised = can_be_raised(&place);
    let list = place.json(&["list", "--family", "zero"]);
    let row = named(&list["variants"], "name", "libc_memset_no_rep");
    assert_eq!(row["needs"], serde_json::json!(["a process with GLIBC_TUNABLES"]));
    assert_eq!(row["runs_here"], raised);
}
