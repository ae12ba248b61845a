//! Every function is correct with every profile at every length, and while the profile changes.

use crate::guarded::Guarded;
use crate::patterns::{expected, fill_random};
use crate::{active_value, alone, unmeasured};
use carryline::internals::cpu::{Features, features, mask};
use carryline::internals::dispatch::{Function, kernels};
use carryline::internals::tuning::{Decision, Profile};
use carryline::{Intent, Next, checksum, copy, drain, tuning, zero};
use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// The longest call: sums prefetch at this length, and it exceeds the smallest share of the caches.
const MOST_BYTES: usize = (2 << 20) + 100;

/// The largest threshold that a call can reach.
const MOST_THRESHOLD_BYTES: usize = 1 << 20;

const EVERY_NEXT: [Next; 5] =
    [Next::Unknown, Next::ReadHere, Next::ReadElsewhere, Next::NotSoon, Next::Device];

/// A value that the decision allows: a bound, the value of its word, or a power of two between plus an
/// offset.
fn value(decision: Decision) -> impl Strategy<Value = usize> {
    let (least, most) = decision.bounds().into_inner();
    let most = most.min(MOST_THRESHOLD_BYTES).max(least);
    let of_word = decision.word().map_or(most, |(_, of_word)| of_word);
    let between =
        (9_u32..=20, 0_usize..600).prop_map(move |(power, more)| ((1 << power) + more).clamp(least, most));
    prop_oneof![1 => Just(least), 1 => Just(of_word), 4 => between]
}

/// A profile with random values, and random kernels that this CPU can run.
fn profile() -> impl Strategy<Value = Profile<'static>> {
    if is_masked() {
        mask(Features::AVX2);
    }
    let values: Vec<_> = Decision::ALL.iter().map(|decision| value(*decision)).collect();
    let kernels = Function::ALL.map(|function| {
        let usable = kernels(function).filter(|(_, needs)| features().contains(*needs));
        proptest::sample::select(usable.map(|(name, _)| Some(name)).chain([None]).collect::<Vec<_>>())
    });
    (values, kernels).prop_map(|(values, kernels)| {
        let mut profile = Profile { name: "random", kernels, ..unmeasured() };
        for (decision, bytes) in Decision::ALL.iter().zip(values) {
            profile.decisions = profile.decisions.with(*decision, bytes).expect("an allowed value");
        }
        profile
    })
}

/// Lengths on both sides of every active decision, for one buffer and for two in the caches.
fn lengths() -> Vec<usize> {
    let thresholds =
        Decision::ALL.iter().flat_map(|decision| [active_value(*decision), active_value(*decision) / 2]);
    let mut lengths: Vec<usize> = [512, 16 << 10]
        .into_iter()
        .chain(thresholds)
        .filter(|threshold| (256..MOST_BYTES - 64).contains(threshold))
        .flat_map(|threshold| [threshold - 1, threshold, threshold + 1, threshold + 63])
        .chain([0, 1, 40, 100, 300, 1500, 9000])
        .collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// Two buffers next to guards, with their expected contents.
struct Buffers {
    dst: Guarded,
    src: Guarded,
    /// The initial bytes of both.
    image: [Vec<u8>; 2],
    zeros: Vec<u8>,
    /// For each offset in the source, the sums of the bytes before it at even and at odd offsets.
    before: Vec<[u64; 2]>,
}

impl Buffers {
    fn new() -> Buffers {
        let (mut dst, mut src) = (Guarded::new(MOST_BYTES + 256), Guarded::new(MOST_BYTES + 256));
        fill_random(src.all(), 7);
        let image = [dst.all().to_vec(), src.all().to_vec()];
        let mut sums = [0; 2];
        let mut before = vec![sums];
        for (place, byte) in image[1].iter().enumerate() {
            sums[place % 2] += u64::from(*byte);
            before.push(sums);
        }
        let zeros = vec![0; image[0].len()];
        Buffers { dst, src, image, zeros, before }
    }

    /// The sum of the words of the source's `len` bytes at `from`.
    fn sum(&self, from: usize, len: usize) -> u64 {
        let of = |parity: usize| self.before[from + len][parity] - self.before[from][parity];
        let [first, second] = [[1, 0], [0, 1]].map(|word| u64::from(u16::from_ne_bytes(word)));
        of(from % 2) * first + of((from + 1) % 2) * second
    }

    /// Makes every call with this length, with the buffers at these distances from the guards after them.
    fn check(&mut self, at: &str, len: usize, distances: [usize; 2]) {
        let (target, source) = (self.dst.ending(len, distances[0]), self.src.ending(len, distances[1]));
        let from = self.src.index_of(source);
        let copied = &self.image[1][from..from + len];
        let is_correct = |dst: &mut Guarded, expected: &[u8], what: &str, act: &dyn Fn()| {
            let wrong = dst.wrong_after(&self.image[0], target, expected, act);
            assert_eq!(wrong, None, "{at} {what}: len {len}, {distances:?} before the guards");
        };
        let (dst, zeros) = (&mut self.dst, &self.zeros[..len]);
        // SAFETY: for all these calls: the target and the source have len accessible bytes, in different
        // mappings; the unfenced call is followed by a drain, and no other thread reads the memory.
        unsafe {
            is_correct(dst, zeros, "zero", &|| zero::fill_raw(target, len));
            is_correct(dst, copied, "copy", &|| copy::bytes_raw(target, source, len));
            is_correct(dst, copied, "move", &|| copy::within_raw(target, source, len));
            for next in EVERY_NEXT {
                for intent in [next.into(), Intent::new(next).source_done().part_of(64 << 20)] {
                    let what = format!("{intent:?}");
                    is_correct(dst, zeros, &what, &|| zero::fill_raw_with(target, len, intent));
                    is_correct(dst, copied, &what, &|| copy::bytes_raw_with(target, source, len, intent));
                }
            }
            is_correct(dst, copied, "unfenced", &|| {
                copy::bytes_raw_unfenced(target, source, len, Next::NotSoon);
                drain();
            });
        }
        let sum = expected(self.sum(from, len), 1);
        // SAFETY: the source has len accessible, initialised bytes.
        let partial = unsafe { checksum::partial_raw(source, len, 1) };
        assert_eq!(checksum::fold(partial), sum, "{at} sum: len {len}");
        is_correct(&mut self.dst, copied, "copy and sum", &|| {
            // SAFETY: the target and the source have len accessible bytes, in different mappings.
            let partial = unsafe { checksum::copy_and_sum_raw(target, source, len, 1) };
            assert_eq!(checksum::fold(partial), sum, "{at} copy and sum: len {len}");
        });
        self.check_overlapping(at, len);
    }

    /// Moves within one buffer, up and down, by distances at which the ranges overlap.
    fn check_overlapping(&mut self, at: &str, len: usize) {
        for distance in [1, 63].into_iter().filter(|distance| len > 8 * distance) {
            let high = self.dst.ending(len, 0);
            let low = high.wrapping_sub(distance);
            let index = self.dst.index_of(low);
            for (target, source) in [(high, low), (low, high)] {
                let from = self.dst.index_of(source);
                self.dst.all()[index..index + len + distance]
                    .copy_from_slice(&self.image[0][index..index + len + distance]);
                let moved = &self.image[0][from..from + len];
                // SAFETY: the buffer has len accessible bytes at both pointers.
                unsafe { copy::within_raw(target, source, len) };
                assert!(self.dst.at(target, len) == moved, "{at} move by {distance}: len {len}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn functions_are_correct_with_random_profiles(profile in profile(), distances in [0_usize..64, 0_usize..64]) {
        let _alone = alone();
        tuning::apply(&profile.to_string()).expect("a valid profile");
        let mut buffers = Buffers::new();
        for len in lengths() {
            buffers.check(&profile.to_string(), len, distances);
        }
        if is_masked() && features().contains(Features::ERMS) {
            assert_eq!(active_value(Decision::RepMovsb), profile.decisions.get(Decision::RepMovsbNarrow));
        }
    }
}

/// The variable of the process that runs the test above without AVX2: string instructions are then used for shorter calls, by
/// other kernels.
const WITHOUT_AVX2: &str = "CARRYLINE_TEST_WITHOUT_AVX2";

fn is_masked() -> bool {
    std::env::var_os(WITHOUT_AVX2).is_some()
}

#[test]
fn functions_are_correct_with_random_profiles_without_avx2() {
    let child = std::process::Command::new(std::env::current_exe().expect("this program has a path"))
        .args(["--exact", "every_profile::functions_are_correct_with_random_profiles"])
        .env(WITHOUT_AVX2, "1")
        .output()
        .expect("a process of this program");
    let [out, err] = [child.stdout, child.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(child.status.success() && out.contains("1 passed"), "{out}{err}");
}

/// Loads profiles that differ in everything while other threads make calls.
#[test]
fn profiles_can_be_loaded_while_other_threads_call() {
    let _alone = alone();
    let mut profiles = vec![unmeasured().to_string()];
    for is_least in [true, false] {
        let mut profile = Profile { name: "of a thread", ..unmeasured() };
        for decision in Decision::ALL {
            let (least, most) = decision.bounds().into_inner();
            let bytes = if is_least { least } else { most };
            profile.decisions = profile.decisions.with(*decision, bytes).expect("an allowed value");
        }
        for function in Function::ALL.into_iter().filter(|_| is_least) {
            profile.kernels[function as usize] = Some("portable");
        }
        profiles.push(profile.to_string());
    }
    let is_done = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        for distance in [0, 17] {
            scope.spawn(move || {
                let mut buffers = Buffers::new();
                while !is_done.load(Ordering::Relaxed) {
                    for len in [100, 511, 600, 16_384, 40_000, 131_072, 300_000] {
                        buffers.check("while profiles change", len, [distance, 63 - distance]);
                    }
                }
            });
        }
        // Two loaders, so that loads are concurrent too.
        let loaders = [0, 1].map(|first| {
            let profiles = &profiles;
            scope.spawn(move || {
                for profile in profiles.iter().cycle().skip(first).take(3000) {
                    tuning::apply(profile).expect("a valid profile");
                    assert!(["of a thread", unmeasured().name].contains(&tuning::active().name()));
                }
            })
        });
        let results = loaders.map(std::thread::ScopedJoinHandle::join);
        is_done.store(true, Ordering::Relaxed);
        assert!(results.iter().all(Result::is_ok));
    });
}
