//! Batches with routines that count their calls, or pass verification but fork when timed.

use super::*;
use carryline_variants::Routine;
use carryline_verification::subject::Subject;
use carryline_verification::{Depth, prove};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

const TIMED: i32 = -1;
/// 0 while the routine is verified, [`TIMED`] before it is timed, then the child's id.
static CHILD: AtomicI32 = AtomicI32::new(0);

extern "C" fn forks_when_timed(dst: *mut u8, len: usize) {
    if CHILD.load(Ordering::Relaxed) == TIMED {
        // SAFETY: the child makes the remaining calls of a batch and exits.
        CHILD.store(unsafe { libc::fork() }, Ordering::Relaxed);
    }
    // SAFETY: the caller passes a writable buffer; a null pointer comes with length 0, which writes nothing.
    unsafe { libc::memset(dst.cast(), 0, len) };
}

#[test]
fn children_do_not_outlive_the_batch() {
    let subject = Subject::of_routine("test", Routine::Zero(forks_when_timed));
    let status = StatusPage::create().expect("a page");
    let (verified, _) = prove(&subject, Depth::Replicate, 1, &status, 0).expect("a correct routine");
    let condition = Condition::plain(64);
    let caches = CacheSizes { l1: 32 << 10, l2: 256 << 10, l3: 1 << 20 };
    let mut buffers = Buffers::new(1);
    let members = [(&verified, 0)];
    let mut bench =
        Bench::new(Family::Zero, &condition, &members, &mut buffers, &caches, 1, &status).expect("a bench");
    CHILD.store(TIMED, Ordering::Relaxed);
    bench.round(&mut Round::of(1), None, &status);
    let child = CHILD.load(Ordering::Relaxed);
    if child == 0 {
        // SAFETY: the child should have exited earlier; this ends it.
        unsafe { libc::_exit(9) };
    }
    assert!(child > 0, "it forked");
    let mut ending = 0;
    // SAFETY: our own child.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut ending, 0) }, child);
    assert!(libc::WIFEXITED(ending) && libc::WEXITSTATUS(ending) == 0, "{ending:#x}");
}

static CALLS: AtomicU64 = AtomicU64::new(0);

extern "C" fn counts(dst: *mut u8, len: usize) {
    CALLS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the caller passes a writable buffer; a null pointer comes with length 0, which writes nothing.
    unsafe { libc::memset(dst.cast(), 0, len) };
}

/// Execution units that start slowly need more untimed calls than caches and predictors do.
#[test]
fn untimed_calls_are_repeated_only_if_they_change_no_condition() {
    let subject = Subject::of_routine("test", Routine::Zero(counts));
    let status = StatusPage::create().expect("a page");
    let (verified, _) = prove(&subject, Depth::Replicate, 1, &status, 0).expect("a correct routine");
    let caches = CacheSizes { l1: 32 << 10, l2: 256 << 10, l3: 1 << 20 };
    let calls_of = |condition: &Condition| {
        let mut buffers = Buffers::new(1);
        let members = [(&verified, 0)];
        let mut bench = Bench::new(Family::Zero, condition, &members, &mut buffers, &caches, 1, &status)
            .expect("a bench");
        let before = CALLS.load(Ordering::Relaxed);
        for _ in 0..10 {
            bench.round(&mut Round::of(1), None, &status);
        }
        CALLS.load(Ordering::Relaxed) - before
    };
    // A round has one or two timed calls and as many untimed ones; 10 microseconds suffice for hundreds.
    let hot = Condition::plain(64);
    assert!(calls_of(&hot) > 1000);
    assert!(calls_of(&Condition { then: Then::ReadLater(1 << 20), ..hot.clone() }) <= 40);
    assert!(calls_of(&Condition { offsets: Offsets::Random, ..hot }) > 1000);
}
