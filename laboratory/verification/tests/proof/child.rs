//! Verifies one plug-in in a separate process, and watches it.
//!
//! The process is this test executable again; the environment tells it to run the test that does the work.

use carryline_verification::plugin::{PluginSpec, load};
use carryline_verification::status::StatusPage;
use carryline_verification::{Counterexample, Depth, Ending, Failure, ProofSummary, describe, prove};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PLUGIN: &str = "CARRYLINE_TEST_PLUGIN";
const SCARCE: &str = "CARRYLINE_TEST_SCARCE";
const STATUS: &str = "CARRYLINE_TEST_STATUS";
const SEED: &str = "CARRYLINE_TEST_SEED";
const SILENCE: Duration = Duration::from_secs(5);
const MARK: &str = "outcome: ";

/// The outcome of a verification.
pub type ProofResult = Result<ProofSummary, Box<Counterexample>>;

/// The child's side; does nothing in the parent.
#[test]
fn child() {
    let (Ok(plugin), Ok(status)) = (std::env::var(PLUGIN), std::env::var(STATUS)) else { return };
    let fd = status.parse().expect("a descriptor's number");
    // SAFETY: the parent left this descriptor open for this process, and nothing else uses it.
    let status = StatusPage::open(unsafe { OwnedFd::from_raw_fd(fd) }).expect("the parent's page");
    let spec = PluginSpec::parse(&plugin).expect("the parent's spec");
    let subject = load(&spec).expect("a plug-in that can be loaded");
    if std::env::var_os(SCARCE).is_some() {
        make_scarce();
    }
    let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).expect("the verification's seed");
    let outcome: ProofResult = match prove(&subject, Depth::Full, seed, &status, 0) {
        Ok((_, summary)) => Ok(summary),
        Err(Failure::Wrong(example)) => Err(example),
        Err(other) => panic!("not verified: {other}"),
    };
    println!("\n{MARK}{}", serde_json::to_string(&outcome).expect("an outcome is JSON"));
}

/// Forbids files of any size, including memory files, and occupies the address 2^31.
fn make_scarce() {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    let address = std::ptr::with_exposed_provenance_mut(1 << 31);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: a limit and a signal's disposition of this process, which does nothing but verify; a new
    // mapping that is never removed.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &raw const none), 0);
        libc::mmap(address, 4096, libc::PROT_NONE, flags, -1, 0);
    }
}

/// Verifies the plug-in at full depth, with `folder` as the current folder.
pub fn verify_in_child(spec: &PluginSpec, folder: &Path) -> ProofResult {
    verify_with(spec, folder, 20, false)
}

/// As `verify_in_child`, with a seed; if `scarce`, files and addresses are unavailable.
pub fn verify_with(spec: &PluginSpec, folder: &Path, seed: u64, scarce: bool) -> ProofResult {
    let status = StatusPage::create().expect("a status page");
    rustix::io::fcntl_setfd(status.fd(), rustix::io::FdFlags::empty()).expect("our own descriptor");
    let mut command = Command::new(std::env::current_exe().expect("this executable"));
    if scarce {
        command.env(SCARCE, "1");
    }
    let mut child = command
        .args(["child::child", "--exact", "--nocapture", "--test-threads=1"])
        .current_dir(folder)
        .env(PLUGIN, spec.to_string())
        .env(SEED, seed.to_string())
        .env(STATUS, status.fd().as_raw_fd().to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("this executable runs");
    let family = spec.family;
    let (mut beat, mut since) = (0, Instant::now());
    let ended = loop {
        if let Some(ended) = child.try_wait().expect("our own child") {
            break ended;
        }
        let now = status.now();
        if now.beat != beat {
            (beat, since) = (now.beat, Instant::now());
        } else if since.elapsed() > SILENCE {
            child.kill().expect("our own child");
            child.wait().expect("our own child");
            return Err(Box::new(describe(&now, family, seed, Ending::TimedOut)));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let output = child.wait_with_output().expect("its output");
    let text = String::from_utf8_lossy(&output.stdout);
    if let Some(json) = text.lines().find_map(|line| line.strip_prefix(MARK)) {
        return serde_json::from_str(json).expect("the child's outcome");
    }
    let ending = match (ended.signal(), ended.code()) {
        (Some(signal), _) => Ending::Signal(signal),
        (None, code) => Ending::Exit(code.unwrap_or(-1)),
    };
    assert!(status.now().beat > 0, "{spec} ended before its first call: {text}");
    Err(Box::new(describe(&status.now(), family, seed, ending)))
}
