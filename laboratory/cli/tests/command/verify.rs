//! `carryline verify`: its totals and statuses.

use crate::support::Place;

#[test]
fn the_tables_count_every_call() {
    let found = Place::new().json(&["verify", "zero/sse2"]);
    let tried = found["coverage"]["tried"].as_array().expect("a list");
    let sum: u64 = tried.iter().filter_map(|row| row["calls"].as_u64()).sum();
    let detail = found["results"][0]["detail"].as_str().expect("a sentence");
    let (calls, _) = detail.split_once(" calls in ").expect("a number of calls");
    assert_eq!(calls.replace(' ', ""), sum.to_string(), "{detail}");
    assert!(calls.contains(' '), "digits in groups: {detail}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_variant_that_cannot_run_here_is_not_verified() {
    let place = Place::new();
    let mask = |arguments: &[&str]| {
        let output = place.command(arguments).env("CARRYLINE_MASK", "avx2").output().expect("it starts");
        let (out, err) = crate::support::texts(&output);
        (output.status.code(), out, err)
    };
    let (status, out, err) = mask(&["verify", "zero/avx2"]);
    assert_eq!(status, Some(1), "{out}\n{err}");
    assert!(out.ends_with("1 variant: no failures, 1 not usable here\n"), "{out}");
    let (status, out, err) = mask(&["verify", "zero/avx2", "zero/sse2"]);
    assert_eq!(status, Some(0), "{out}\n{err}");
    assert!(out.ends_with("2 variants: no failures, 1 not usable here\n"), "{out}");
}
