//! A routine that is correct when verified and wrong afterwards is detected after the timing.

use carryline_conditions::Condition;
use carryline_machine::environment::CacheSizes;
use carryline_results::round::Round;
use carryline_sampler::{Bench, Buffers};
use carryline_variants::{Family, Routine, find};
use carryline_verification::status::StatusPage;
use carryline_verification::subject::Subject;
use carryline_verification::{Depth, prove};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

static CORRUPT: AtomicBool = AtomicBool::new(false);

/// # Safety
/// `len` bytes are readable at `data`.
unsafe extern "C" fn turncoat(data: *const u8, len: usize, seed: u32) -> u32 {
    let Some(Routine::Checksum(right)) =
        find(Family::Checksum, "adc_1_stream").map(|variant| variant.routine)
    else {
        unreachable!("in the collection on every architecture")
    };
    // SAFETY: the caller's contract is this routine's.
    let sum = unsafe { right(data, len, seed) };
    // A lost carry, as if an instruction had been overwritten.
    if CORRUPT.load(Ordering::Relaxed) { sum.wrapping_sub(1) } else { sum }
}

#[test]
fn routines_corrupted_after_verification_are_reported() {
    let subject = Subject::of_routine("turncoat", Routine::Checksum(turncoat));
    let honest = Subject::of_variant(find(Family::Checksum, "adc_1_stream").expect("in the collection"));
    let status = StatusPage::create().expect("a page");
    let verified = [&honest, &subject].map(|subject| match prove(subject, Depth::Replicate, 1, &status, 0) {
        Ok((verified, _)) => verified,
        Err(failure) => panic!("{}: {failure}", subject.id()),
    });
    let members: Vec<_> = verified.iter().zip(0..).collect();
    let caches = CacheSizes { l1: 32 << 10, l2: 512 << 10, l3: 4 << 20, l3_held: None };
    for (condition, name) in [
        (Condition::plain(1500), "one buffer"),
        (Condition { segments: vec![1, 3, 40], ..Condition::plain(44) }, "a chain of buffers"),
    ] {
        let mut buffers = Buffers::new(1);
        let mut bench = Bench::new(Family::Checksum, &condition, &members, &mut buffers, &caches, 2, &status)
            .expect("memory");
        bench.calibrate(Duration::from_millis(5), 1.0, &status);
        bench.round(&mut Round::of(bench.members()), None, &status);
        assert!(bench.recheck(&status).is_empty(), "{name}");
        CORRUPT.store(true, Ordering::Relaxed);
        assert_eq!(bench.recheck(&status), [1], "{name}");
        CORRUPT.store(false, Ordering::Relaxed);
    }
}
