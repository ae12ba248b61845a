//! A program with more rights than its user ignores the environment: a copy of this test program, owned by another user
//! and started with that user's rights.

use carryline::internals::cpu::{Features, features};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;
use std::process::Command;

/// A user without rights.
const NOBODY: u32 = 65534;

/// The child: says whether the kernel gave it more rights, and whether the mask is in force.
#[test]
#[ignore = "started by the other test"]
fn child() {
    // SAFETY: reads an entry of the auxiliary vector.
    let more_rights = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    println!("rights={more_rights} masked={}", !features().contains(Features::SSE2));
}

fn answer(program: &Path) -> String {
    let run = Command::new(program)
        .args(["--exact", "rights::child", "--ignored", "--nocapture"])
        .env("CARRYLINE_MASK", "sse2")
        .env("CARRYLINE_TUNING", "/etc/shadow")
        .output()
        .expect("the copy starts");
    let [out, error] = [run.stdout, run.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(run.status.success(), "{out}{error}");
    out + &error
}

#[test]
fn a_program_with_more_rights_than_its_user_ignores_the_environment() {
    // SAFETY: has no conditions.
    if unsafe { libc::geteuid() } != 0 {
        println!("not tested: only root may give a file to another user");
        return;
    }
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rights");
    fs::copy(std::env::current_exe().expect("a path"), &copy).expect("a copy");
    chown(&copy, Some(NOBODY), None).expect("another owner");
    fs::set_permissions(&copy, Permissions::from_mode(0o755)).expect("other permissions");
    assert!(answer(&copy).contains("rights=false masked=true"));
    fs::set_permissions(&copy, Permissions::from_mode(0o4755)).expect("other permissions");
    let elevated = answer(&copy);
    fs::remove_file(&copy).expect("the copy is there");
    if elevated.contains("rights=false") {
        println!("not tested: this file system gives no rights");
        return;
    }
    assert!(elevated.contains("rights=true masked=false"), "{elevated}");
}
