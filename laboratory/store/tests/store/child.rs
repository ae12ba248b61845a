//! The other process: this test binary, with a role and a store in its environment.

use super::{header, record, result};
use carryline_store::{RunId, Store, StoreError};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const ROLE: &str = "CARRYLINE_TEST_STORE_ROLE";
const PATH: &str = "CARRYLINE_TEST_STORE_PATH";

/// Starts a child with a role; it reports through its stdout.
pub fn start(role: &str, path: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", "child::other_process", "--ignored", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(PATH, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a child")
}

/// The numbers after a word in a child's output. An incomplete last line is ignored.
pub fn reported(word: &str, output: &[u8]) -> Vec<i64> {
    let text = String::from_utf8_lossy(output);
    text.split_inclusive('\n')
        .filter_map(|line| line.strip_suffix('\n')?.strip_prefix(word)?.trim().parse().ok())
        .collect()
}

fn report_line(line: &str) {
    // One line at a time, flushed: nothing is reported before it is true, and nothing stays in a buffer.
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).expect("a reader");
}

#[test]
#[ignore = "started as a process by the tests in death.rs"]
fn other_process() {
    // Run manually with all ignored tests, it has no role.
    let Ok(role) = std::env::var(ROLE) else { return };
    let path = std::env::var_os(PATH).expect("a store");
    let path = Path::new(&path);
    // The test harness has begun a line.
    report_line("");
    match &*role {
        "write until killed" => {
            let (mut store, run) = begin(path).expect("a run");
            for index in 0.. {
                store.add_round(run, &record(index)).expect("a round");
                report_line(&format!("ack {index}"));
            }
        }
        "write and finish" => {
            let (mut store, run) = begin(path).expect("a run");
            for index in 0..100 {
                store.add_round(run, &record(index)).expect("a round");
            }
            store.finish_run(run, &result(1)).expect("an end");
            report_line("finished 1");
        }
        "write until full" => {
            limit_file_size(256 * 1024);
            report(begin(path).and_then(|(mut store, run)| {
                for index in 0.. {
                    store.add_round(run, &record(index))?;
                    report_line(&format!("ack {index}"));
                }
                Ok(())
            }));
        }
        "open when full" => {
            limit_file_size(2000);
            report(Store::open(path).map(|_| ()));
        }
        "write without permission" => {
            become_nobody();
            report(begin(path).map(|_| ()));
        }
        other => panic!("unknown role {other}"),
    }
}

fn begin(path: &Path) -> Result<(Store, RunId), StoreError> {
    let mut store = Store::open(path)?;
    let run = store.begin_run(&header(1))?;
    report_line(&format!("run {run}"));
    Ok((store, run))
}

/// Reports the kind of the error as a word, and its message.
fn report(outcome: Result<(), StoreError>) {
    let error = outcome.expect_err("a failure");
    let kind = format!("{error:?}");
    let kind: String = kind.chars().take_while(|c| c.is_alphanumeric()).collect();
    report_line(&format!("error {kind}: {error}"));
}

/// Makes writes beyond this file size fail, as on a full disk.
fn limit_file_size(bytes: u64) {
    // SAFETY: involves no handler; ignoring this signal makes the write return an error instead.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let limit = rustix::process::Rlimit { current: Some(bytes), maximum: Some(bytes) };
    rustix::process::setrlimit(rustix::process::Resource::Fsize, limit).expect("a limit");
}

/// Drops root's permissions, which allow writing anywhere; other users keep theirs.
fn become_nobody() {
    // SAFETY: plain system calls that affect only this process, which ends with the role.
    let done = unsafe { libc::geteuid() != 0 || (libc::setgid(65534) == 0 && libc::setuid(65534) == 0) };
    assert!(done, "cannot drop privileges");
}
