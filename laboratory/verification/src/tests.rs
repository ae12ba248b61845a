use super::*;
use crate::forked::record_and_exit_if_child;
use carryline_variants::{Family, Lengths, Routine, Variant};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

fn outcome_of(variant: &'static Variant, depth: Depth, seed: u64) -> Result<ProofSummary, Failure> {
    let subject = Subject::of_variant(variant);
    let status = StatusPage::create().expect("a page");
    prove(&subject, depth, seed, &status, 0).map(|(verified, summary)| {
        assert_eq!(verified.subject().name(), subject.name());
        summary
    })
}

fn subject(routine: Routine, lengths: Lengths) -> Subject {
    Subject::of_routine("test", routine).with_lengths(lengths)
}

fn verify_every_variant(depth: Depth) {
    for variant in carryline_variants::all().filter(|v| v.runs_here() && v.known_bad.is_none()) {
        let (family, name) = (variant.family(), variant.name);
        let summary = outcome_of(variant, depth, 1).unwrap_or_else(|e| panic!("{family} {name}: {e}"));
        let ms = summary.elapsed_ns / 1_000_000;
        let tried: u64 = summary.tried.iter().map(|tried| tried.calls).sum();
        assert_eq!(tried, summary.calls, "{family} {name}: the tables count every call");
        println!("{family:14} {name:20} {depth:?}: {} calls, {ms} ms {:?}", summary.calls, summary.notes);
    }
}

/// At full depth, `carryline verify` covers them all; it is one of the documented commands that the tests of
/// `cli` run.
#[test]
fn every_supported_variant_is_verified() {
    verify_every_variant(Depth::Replicate);
}

mod deep {
    #[test]
    #[ignore = "deep: every variant at full depth"]
    fn every_supported_variant_is_verified_at_full_depth() {
        super::verify_every_variant(super::Depth::Full);
    }
}

#[test]
fn known_bad_variants_are_caught() {
    // Without peers: with overflow checks, one of them panics across the C boundary, which ends the process.
    // The command's tests catch it in a worker.
    let ours = |v: &&carryline_variants::Variant| v.role != carryline_variants::Role::Peer;
    for variant in carryline_variants::all().filter(|v| v.runs_here() && v.known_bad.is_some()).filter(ours) {
        match outcome_of(variant, Depth::Full, 1) {
            Err(Failure::Wrong(example)) => {
                println!("{} {}: {example}", variant.family(), variant.name);
                assert!(variant.lengths.contains(example.len as usize), "{:?}", variant.lengths);
            }
            other => panic!("{} {}: {other:?}", variant.family(), variant.name),
        }
    }
}

/// The arguments of a routine's calls, and the contents of the status page at each.
#[derive(Default)]
struct Seen {
    lengths: BTreeSet<usize>,
    offsets: BTreeSet<(usize, usize)>,
    seeds: BTreeSet<u32>,
    patterns: BTreeSet<u64>,
    places: BTreeSet<u64>,
    at_guard: BTreeSet<(usize, usize)>,
}

static SEEN: Mutex<Option<(Seen, StatusPage)>> = Mutex::new(None);

extern "C" fn recording_sum(data: *const u8, len: usize, seed: u32) -> u32 {
    if let Some((seen, status)) = &mut *SEEN.lock().expect("no panic") {
        let now = status.now();
        assert_eq!((now.len, now.seed), (len as u64, u64::from(seed)), "the page is set before the call");
        seen.lengths.insert(len);
        seen.offsets.insert((len.min(301), data as usize % 64));
        seen.seeds.insert(seed);
        seen.patterns.insert(now.detail & 0xff);
        seen.places.insert(now.placement >> 8);
        let (starts, ends) =
            ((data as usize).is_multiple_of(4096), (data as usize + len).is_multiple_of(4096));
        // An empty range both starts and ends at its address.
        for (side, touches) in [starts, ends].into_iter().enumerate() {
            if len <= 300 && touches {
                seen.at_guard.insert((len, side));
            }
        }
    }
    // SAFETY: the caller passes a readable buffer.
    let bytes = if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, len) } };
    u32::from(images::checksum_of(bytes, seed))
}

#[test]
fn replicate_depth_covers_every_length_and_offset() {
    for seed in [0, 1, u64::MAX] {
        let status = StatusPage::create().expect("a page");
        let other = StatusPage::open(status.fd().try_clone().expect("a descriptor")).expect("the same page");
        *SEEN.lock().expect("no panic") = Some((Seen::default(), other));
        let subject = subject(Routine::Checksum(recording_sum), Lengths::Any);
        prove(&subject, Depth::Replicate, seed, &status, 3).expect("a correct sum");
        assert_eq!((status.now().subject, status.now().phase), (3, crate::status::Phase::Prove as u64));
        let (seen, _) = SEEN.lock().expect("no panic").take().expect("what was seen");
        for len in 0..=300 {
            for offset in 0..64 {
                assert!(seen.offsets.contains(&(len, offset)), "{len} bytes at {offset}");
            }
        }
        for power in 3..=16 {
            for len in (1 << power) - 2..=(1 << power) + 2 {
                assert!(seen.lengths.contains(&len), "{len} bytes");
            }
        }
        assert!(seen.lengths.range((1 << 20) - 2..).next().is_some(), "a mebibyte");
        assert!(patterns::SEEDS.iter().all(|seed| seen.seeds.contains(seed)));
        assert!(seen.seeds.len() > 100, "random seeds too");
        assert_eq!(seen.patterns.len(), PATTERNS.len());
        assert!((1..=3).all(|spot| seen.places.contains(&spot)), "{:?}", seen.places);
        for len in 0..=300 {
            assert!(
                seen.at_guard.contains(&(len, 0)) && seen.at_guard.contains(&(len, 1)),
                "{len} bytes at guards"
            );
        }
    }
}

static LONGEST: AtomicU64 = AtomicU64::new(0);
static SHORTEST: AtomicU64 = AtomicU64::new(u64::MAX);

extern "C" fn recording_zero(dst: *mut u8, len: usize) {
    LONGEST.fetch_max(len as u64, Ordering::Relaxed);
    SHORTEST.fetch_min(len as u64, Ordering::Relaxed);
    // SAFETY: the caller passes a writable buffer; a null pointer comes with length 0, which writes nothing.
    unsafe { libc::memset(dst.cast(), 0, len) };
}

#[test]
fn unsupported_lengths_are_never_tried() {
    for (lengths, shortest, longest) in [
        (Lengths::Only(4096), 4096, 4096),
        (Lengths::UpTo(1500), 0, 1500),
        (Lengths::UpTo(65_535), 0, 65_535),
    ] {
        for depth in [Depth::Full, Depth::Replicate] {
            LONGEST.store(0, Ordering::Relaxed);
            SHORTEST.store(u64::MAX, Ordering::Relaxed);
            let status = StatusPage::create().expect("a page");
            let subject = subject(Routine::Zero(recording_zero), lengths);
            let (_, summary) = prove(&subject, depth, 5, &status, 0).expect("a correct routine");
            assert_eq!(SHORTEST.load(Ordering::Relaxed), shortest, "{lengths:?}");
            assert_eq!(LONGEST.load(Ordering::Relaxed), longest, "{lengths:?}");
            assert!(summary.calls > 150, "{lengths:?} {depth:?}: only {} calls", summary.calls);
        }
    }
}

extern "C" fn page_without_its_last_byte(dst: *mut u8, len: usize) {
    // SAFETY: the caller passes a writable buffer.
    unsafe { libc::memset(dst.cast(), 0, len - usize::from(dst as usize % 64 == 63)) };
}

extern "C" fn slow_zero(dst: *mut u8, len: usize) {
    std::thread::sleep(std::time::Duration::from_millis(1));
    // Not by `recording_zero`, whose record belongs to a test that may run at the same time.
    // SAFETY: the caller passes a writable buffer; a null pointer comes with length 0, which writes nothing.
    unsafe { libc::memset(dst.cast(), 0, len) };
}

#[test]
fn verifications_time_out() {
    let status = StatusPage::create().expect("a page");
    let subject = subject(Routine::Zero(slow_zero), Lengths::Any);
    let time_limit = std::time::Duration::from_millis(100);
    match prove_within(time_limit, &subject, Depth::Replicate, 5, &status, 0) {
        Err(Failure::Wrong(example)) => assert_eq!(example.kind, FaultKind::TimedOut, "{example}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn routines_for_one_length_are_caught_at_it() {
    for depth in [Depth::Full, Depth::Replicate] {
        let status = StatusPage::create().expect("a page");
        let subject = subject(Routine::Zero(page_without_its_last_byte), Lengths::Only(4096));
        match prove(&subject, depth, 5, &status, 0) {
            Err(Failure::Wrong(example)) => {
                assert_eq!((example.kind, example.len), (FaultKind::LeftBytesUnwritten, 4096), "{example}");
                assert_eq!(example.first_difference, Some(4095), "{example}");
                assert_eq!(example.dst_offset.map(|at| at % 64), Some(63), "{example}");
            }
            other => panic!("{other:?}"),
        }
    }
}

extern "C" fn sum_without_its_carry(data: *const u8, len: usize, seed: u32) -> u32 {
    let mut sum = u64::from(seed);
    for at in (0..len).step_by(8) {
        let mut word = [0; 8];
        // SAFETY: at most the buffer's remaining bytes.
        unsafe { std::ptr::copy_nonoverlapping(data.add(at), word.as_mut_ptr(), (len - at).min(8)) };
        sum = sum.wrapping_add(u64::from_ne_bytes(word));
    }
    u32::from(images::fold(sum))
}

#[test]
fn counterexamples_are_small_and_reproducible() {
    let examples: Vec<Counterexample> = [Depth::Full, Depth::Full, Depth::Replicate]
        .into_iter()
        .map(|depth| {
            let status = StatusPage::create().expect("a page");
            let subject = subject(Routine::Checksum(sum_without_its_carry), Lengths::Any);
            match prove(&subject, depth, 9, &status, 0) {
                Err(Failure::Wrong(example)) => *example,
                other => panic!("{other:?}"),
            }
        })
        .collect();
    assert_eq!(examples[0], examples[1]);
    for example in &examples {
        assert_eq!((example.kind, example.family), (FaultKind::WrongResult, Family::Checksum));
        assert!(example.len <= 9 && example.src_offset.map(|at| at % 64) == Some(0), "{example}");
        assert!(example.every_time);
        let json = serde_json::to_string(example).expect("JSON");
        assert_eq!(serde_json::from_str::<Counterexample>(&json).expect("the same"), *example);
    }
}

#[test]
fn children_end_and_are_detected() {
    // Not concurrently with a verification in another test: the child would be attributed to it.
    let _alone = Handlers::install();
    let watch = Watch::begin();
    record_and_exit_if_child();
    assert!(!watch.came_back() && !watch.left_behind(), "the process itself continues");
    // SAFETY: the child calls `record_and_exit_if_child` and, as a last resort, `_exit`, neither of which
    // needs a lock.
    let child = unsafe { libc::fork() };
    if child == 0 {
        record_and_exit_if_child();
        // SAFETY: ends the process.
        unsafe { libc::_exit(9) };
    }
    assert!(watch.left_behind());
    let mut status = 0;
    // SAFETY: our own child.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{status:#x}");
    assert!(watch.came_back() && !watch.left_behind());
    assert!(!Watch::begin().came_back(), "the next verification is unaffected");
}

/// The landing that a timed loop calls is verified too, not only the routine that forwards to it.
#[test]
fn wrong_landings_of_correct_routines_are_caught() {
    let variant = carryline_variants::find(Family::Checksum, "adc_1_stream").expect("in the collection");
    let right = carryline_variants::find(Family::Checksum, "reference").expect("in the collection");
    let of = |landing| {
        let mut subject = Subject::of_variant(variant);
        subject.landing = landing;
        subject
    };
    let status = StatusPage::create().expect("a page");
    prove(&of(right.landing()), Depth::Replicate, 1, &status, 0).expect("another correct routine");
    let wrong = Landing::Routine(Routine::Checksum(sum_without_its_carry));
    match prove(&of(wrong), Depth::Replicate, 1, &status, 0) {
        Err(Failure::Wrong(_)) => {}
        other => panic!("not caught: {other:?}"),
    }
}
