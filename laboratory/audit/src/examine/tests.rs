use super::*;
use crate::client::{BrokenPipesIgnored, Launch};
use crate::report::Status;
use crate::vectors;
use crate::wire::Data;
use std::time::Duration;

/// Longer than any answer of a test takes.
const PATIENT: Duration = Duration::from_secs(60);

/// Answers every request when it is repeated, and dies before.
const DIES_ONCE: &str =
    r#"while read a; do if [ -e "$0" ]; then rm "$0"; echo fffe; else : > "$0"; exit 7; fi; done"#;

/// The result after `count` vectors, for a shell script that runs `body` after its greeting. `$0` is the path of
/// a file that does not exist at first.
fn examined(body: &str, count: usize, timeout: Duration) -> Implementation {
    let _pipes = BrokenPipesIgnored::begin();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mark = folder.path().join("mark").display().to_string();
    let script = format!("read a; echo test 1; {body}");
    let arguments = ["-c", &script, &mark].map(Into::into).into();
    let mut client = Client::new(Launch { program: "/bin/sh".into(), arguments }, timeout);
    let sum = (Request::Sum(Data::literal(&[0, 1])), vec![Reply::Field([0xff, 0xfe])]);
    let case = Case { file: "sums", name: "sums: 00 01".to_owned(), requests: vec![sum] };
    let mut examiner = Examiner::new(&mut client, false, 1000);
    let mut row = Implementation::new("test", "command");
    examiner.vectors(&mut row, &vec![case; count]);
    row.faults = examiner.faults("test");
    row.notes.append(&mut examiner.notes);
    examiner.conclude(row)
}

#[test]
fn errors_that_do_not_recur_are_no_faults() {
    let row = examined(DIES_ONCE, 5, PATIENT);
    assert_eq!((row.vectors.passed, row.vectors.failed, row.faults.len()), (5, 0, 0), "{row:?}");
    assert_eq!((row.status, &row.reason, row.notes.len()), (Status::Right, &None, 5), "{row:?}");
}

#[test]
fn too_many_of_them_end_the_examination() {
    let row = examined(DIES_ONCE, MAX_FLUKES + 2, PATIENT);
    assert_eq!((row.vectors.passed, row.vectors.failed), (MAX_FLUKES as u32, 0), "{row:?}");
    assert_eq!((row.status, row.faults.len()), (Status::Incomplete, 0), "{row:?}");
    let reason = row.reason.unwrap_or_default();
    assert!(reason.starts_with("unreliable: 10 requests") && reason.contains("status 7"), "{reason}");
}

#[test]
fn the_reason_for_abandoning_states_what_happened() {
    let row = examined("sleep 1000", 5, Duration::from_secs(1));
    assert_eq!((row.status, row.vectors.failed), (Status::TimedOut, 1), "{row:?}");
    assert_eq!(row.reason.as_deref(), Some("abandoned after a request that timed out twice"));

    let row = examined("exit 7", 5, PATIENT);
    assert_eq!((row.status, row.vectors.failed), (Status::Crashed, 3), "{row:?}");
    let reason = row.reason.unwrap_or_default();
    assert!(reason.starts_with("abandoned after 3 requests without an answer; the last: "), "{reason}");
}

#[test]
fn what_answers_nothing_is_not_right() {
    let row = examined("while read a; do echo unsupported; done", 5, PATIENT);
    assert_eq!((row.status, row.vectors.skipped), (Status::Unusable, 5), "{row:?}");
    assert_eq!(row.reason.as_deref(), Some("it answered no request"));
}

#[test]
fn a_refusal_is_right_for_malformed_packets_only() {
    let refusal = Reply::Error("no IPv4 header".to_owned());
    let mut malformed = 0;
    for case in vectors::cases().into_iter().filter(|case| case.file == "packets") {
        let is_malformed = case.requests[0].1 == [Reply::None];
        malformed += usize::from(is_malformed);
        for (request, expected) in &case.requests {
            assert_eq!(is_right(request, &refusal, &expected[0]), is_malformed, "{}", case.name);
            assert!(is_right(request, &expected[0], &expected[0]), "{}", case.name);
        }
        assert_eq!(
            is_right(&case.requests[0].0, &Reply::Field([1, 2]), &case.requests[0].1[0]),
            is_malformed
        );
        assert!(!is_right(&case.requests[1].0, &Reply::Absent, &Reply::Damaged), "{}", case.name);
    }
    assert_eq!(malformed, 1);
}
