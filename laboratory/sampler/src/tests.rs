//! Batches with routines that count their calls, or pass verification but fork when timed.

use super::*;
use carryline_conditions::sizes::Sizes;
use carryline_variants::Routine;
use carryline_verification::subject::Subject;
use carryline_verification::{Depth, prove};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

const TIMED: i32 = -1;
/// 0 while the routine is verified, [`TIMED`] before it is timed, then the child's id.
static CHILD: AtomicI32 = AtomicI32::new(0);

extern "C" fn zeroes(dst: *mut u8, len: usize) {
    // SAFETY: the caller passes a writable buffer; a null pointer comes with length 0, which writes nothing.
    unsafe { libc::memset(dst.cast(), 0, len) };
}

extern "C" fn forks_when_timed(dst: *mut u8, len: usize) {
    if CHILD.load(Ordering::Relaxed) == TIMED {
        // SAFETY: the child makes the remaining calls of a batch and exits.
        CHILD.store(unsafe { libc::fork() }, Ordering::Relaxed);
    }
    zeroes(dst, len);
}

#[test]
fn children_do_not_outlive_the_batch() {
    let subject = Subject::of_routine("test", Routine::Zero(forks_when_timed));
    let status = StatusPage::create().expect("a page");
    let (verified, _) = prove(&subject, Depth::Replicate, 1, &status, 0).expect("a correct routine");
    let condition = Condition::plain(64);
    let caches = CacheSizes { l1: 32 << 10, l2: 256 << 10, l3: 1 << 20, l3_held: None };
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

/// The pages where buffers began, one bit each of those that follow the first.
static PAGES_USED: AtomicU64 = AtomicU64::new(0);
static FIRST_PAGE: AtomicU64 = AtomicU64::new(0);

extern "C" fn notes_its_page(dst: *mut u8, len: usize) {
    let page = dst as u64 / 4096;
    let first = FIRST_PAGE.load(Ordering::Relaxed);
    if (first..first + 64).contains(&page) {
        PAGES_USED.fetch_or(1 << (page - first), Ordering::Relaxed);
    }
    zeroes(dst, len);
}

#[test]
fn all_members_of_a_round_use_its_page() {
    let subject = Subject::of_routine("test", Routine::Zero(notes_its_page));
    let status = StatusPage::create().expect("a page");
    let (verified, _) = prove(&subject, Depth::Replicate, 1, &status, 0).expect("a correct routine");
    let condition = Condition { offsets: Offsets::Random, ..Condition::plain(64) };
    let caches = CacheSizes { l1: 32 << 10, l2: 256 << 10, l3: 1 << 20, l3_held: None };
    let mut buffers = Buffers::new(1);
    let members = [(&verified, 0), (&verified, 0), (&verified, 0)];
    let mut bench =
        Bench::new(Family::Zero, &condition, &members, &mut buffers, &caches, 1, &status).expect("a bench");
    let arena = bench.dst_start.wrapping_sub(bench.start_page[0] * 4096);
    FIRST_PAGE.store(arena as u64 / 4096, Ordering::Relaxed);
    let mut rounds = Vec::new();
    for _ in 0..32 {
        PAGES_USED.store(0, Ordering::Relaxed);
        bench.round(&mut Round::of(3), None, &status);
        rounds.push(PAGES_USED.load(Ordering::Relaxed));
    }
    assert!(rounds.iter().all(|pages| pages.is_power_of_two()), "{rounds:x?}");
    assert_ne!(rounds[..16], rounds[16..], "they repeat");
}

/// `gate` and `tune` pair runs by their seeds.
#[test]
fn the_seed_alone_decides_what_a_round_draws() {
    let subject = Subject::of_routine("test", Routine::Zero(zeroes));
    let status = StatusPage::create().expect("a page");
    let (verified, _) = prove(&subject, Depth::Replicate, 1, &status, 0).expect("a correct routine");
    let condition = Condition {
        sizes: Sizes::parse_list("1..512").expect("sizes").remove(0),
        offsets: Offsets::Random,
        ..Condition::plain(64)
    };
    let caches = CacheSizes { l1: 32 << 10, l2: 256 << 10, l3: 1 << 20, l3_held: None };
    let drawn = |seed, batches_before: usize| {
        let mut buffers = Buffers::new(seed);
        let members = [(&verified, 0)];
        let mut bench = Bench::new(Family::Zero, &condition, &members, &mut buffers, &caches, seed, &status)
            .expect("a bench");
        bench.batch_calls = 50;
        (0..batches_before).for_each(|_| _ = bench.batch(1, 1, &status));
        (0..3).for_each(|_| bench.round(&mut Round::of(1), None, &status));
        bench.calls.iter().map(|call| (call.len, call.dst)).collect::<Vec<_>>()
    };
    assert_eq!(drawn(1, 0)[..50], drawn(1, 3)[..50]);
    assert_ne!(drawn(1, 0)[..50], drawn(2, 0)[..50]);
}

static CALLS: AtomicU64 = AtomicU64::new(0);

extern "C" fn counts(dst: *mut u8, len: usize) {
    CALLS.fetch_add(1, Ordering::Relaxed);
    zeroes(dst, len);
}

/// Execution units that start slowly need more untimed calls than caches and predictors do.
#[test]
fn untimed_calls_are_repeated_only_if_they_change_no_condition() {
    let subject = Subject::of_routine("test", Routine::Zero(counts));
    let status = StatusPage::create().expect("a page");
    let (verified, _) = prove(&subject, Depth::Replicate, 1, &status, 0).expect("a correct routine");
    let caches = CacheSizes { l1: 32 << 10, l2: 256 << 10, l3: 1 << 20, l3_held: None };
    let calls_of = |condition: &Condition| {
        let mut buffers = Buffers::new(1);
        let members = [(&verified, 0)];
        let mut bench = Bench::new(Family::Zero, condition, &members, &mut buffers, &caches, 1, &status)
            .expect("a bench");
        if bench.layout.stated {
            bench.batch_calls = bench.layout.most_calls;
        }
        let before = CALLS.load(Ordering::Relaxed);
        for _ in 0..10 {
            bench.round(&mut Round::of(1), None, &status);
        }
        CALLS.load(Ordering::Relaxed) - before
    };
    // A round has one or two timed calls and as many untimed ones; 10 microseconds suffice for hundreds.
    let hot = Condition::plain(64);
    assert!(calls_of(&hot) > 1000);
    // All destinations once, untimed.
    let later = Condition { then: Then::ReadLater(1 << 20), ..hot.clone() };
    assert_eq!(calls_of(&later), 10 * ((1 << 20) / 64 + 1) + 15);
    assert!(calls_of(&Condition { offsets: Offsets::Random, ..hot.clone() }) > 1000);
    // Of cold batches, those that are not flushed in between make these calls on other lines.
    let cold = |cache: &str| calls_of(&Condition { cache: cache.parse().expect("a state"), ..hot.clone() });
    let timed = 10 / 2 * 3 * 256;
    assert!(cold("cold:arena") > timed + 500);
    if cfg!(target_arch = "x86_64") {
        assert_eq!(cold("cold:clflush"), timed + 10 * WARM_CALLS as u64);
    }
}
