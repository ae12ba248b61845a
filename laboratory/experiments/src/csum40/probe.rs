//! The article's own way to time 40 bytes: the sum is inlined into the loop, not called through a pointer.
//!
//! Eight kernels and an empty one, at an even and an odd address, in three loops: each sum is the seed of the
//! next call (as in the article's program), the same seed every time (as its readers expect), and with a
//! fence on both sides. Series are `KERNEL, MODE, ADDRESS`; from the fenced ones the empty kernel of the same
//! round is subtracted, as in the article. Every kernel is the body of a variant, which is verified first.
//!
//! The facts give the error rates of the two incorrect forms of the article, over random data and seeds.

use carryline_engine::probe::{Impossible, Probe, Rounds, Setup};
use serde::{Deserialize, Serialize};

/// See the module.
pub static PROBE: Probe =
    Probe { name: "inlined40", what: "sums of 40 bytes inlined into the timed loop", start };

/// The kernels' names, in the order of the article; the first is the empty one.
pub const KERNELS: [&str; 9] = [
    "null",
    "baseline",
    "specialised",
    "odd removed",
    "dead code",
    "adx",
    "two streams",
    "train 32",
    "zero sum",
];
/// The variants whose bodies the other kernels are.
pub const VARIANTS: [&str; 8] = [
    "odd_address_swap",
    "specialised_40",
    "no_odd_40",
    "dead_code_40",
    "adx_40",
    "two_streams_40",
    "train32_40",
    "zero_sum_40",
];
/// The loops' names.
pub const MODES: [&str; 3] = ["chained", "independent", "fenced"];
/// The addresses' names.
pub const ADDRESSES: [&str; 2] = ["even", "odd"];
/// Random trials of the known-bad forms.
pub const TRIALS: u32 = 10_000;

/// The share of random trials in which each of the two incorrect forms of the article is wrong.
#[derive(Deserialize, Serialize)]
pub(super) struct Facts {
    /// Of its baseline, at odd addresses.
    pub wrong_at_odd_addresses: f64,
    /// Of its listing of two streams, at any address.
    pub wrong_two_streams: f64,
}

#[cfg(not(target_arch = "x86_64"))]
fn start(_setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    Err(Impossible("the kernels are x86-64 code".to_owned()))
}

#[cfg(target_arch = "x86_64")]
fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    x86::start(setup)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{ADDRESSES, Facts, KERNELS, MODES, TRIALS, VARIANTS};
    use carryline_engine::probe::{Impossible, Rounds, Series, Setup, Unusable};
    use carryline_machine::clock;
    use carryline_sampler::{PLACEMENTS, place};
    use carryline_statistics::{below, shuffle};
    use carryline_variants::checksum::reference::folded_sum;
    use carryline_variants::checksum::{
        adx_40, dead_code_40, no_odd_40, odd_address_swap, specialised_40, train32_40, two_streams_40,
        zero_sum_40,
    };
    use carryline_variants::{Family, Routine};
    use carryline_verification::status::StatusPage;
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// Calls per batch, which takes tens of microseconds.
    const CALLS: usize = 10_000;
    const WARM: usize = 64;
    const BYTES: usize = 40;
    const CHAINED: u8 = 0;
    const INDEPENDENT: u8 = 1;
    const FENCED: u8 = 2;
    /// The index in `KERNELS` of the kernel that is timed twice (A/A).
    const TWICE: usize = 4;

    /// A kernel inlined into a loop: takes the data and the number of calls, returns ticks.
    type Batch = unsafe fn(*const u8, usize) -> u64;

    pub(super) fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
        let mut unusable = Vec::new();
        for (place, name) in VARIANTS.iter().enumerate() {
            if let Err(reason) = setup.verified(Family::Checksum, name) {
                unusable.push((place + 1, reason.to_string()));
            }
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(setup.seed);
        // Heap memory with room for a line boundary and an odd start after it.
        let mut data = vec![0_u8; 64 + 64 + BYTES];
        rng.fill_bytes(&mut data);
        let wrong = wrong_share(&mut rng)?;
        Ok(Box::new(Inlined {
            unusable,
            start: data.as_ptr().addr().wrapping_neg() % 64,
            data,
            overhead_ticks: clock::overhead_ticks(),
            rng,
            wrong,
        }))
    }

    struct Inlined {
        /// Kernels that cannot be timed, with the reason.
        unusable: Vec<(usize, String)>,
        data: Vec<u8>,
        start: usize,
        overhead_ticks: f64,
        rng: Xoshiro256PlusPlus,
        wrong: [f64; 2],
    }

    impl Rounds for Inlined {
        fn series(&self) -> Vec<Series> {
            let mut series = Vec::new();
            for mode in MODES {
                for address in ADDRESSES {
                    for kernel in KERNELS {
                        series.push(Series::ticks(format!("{kernel}, {mode}, {address}")));
                    }
                    series.push(Series::ticks(format!("{} again, {mode}, {address}", KERNELS[TWICE])));
                }
            }
            series
        }

        fn twins(&self) -> Vec<(usize, usize)> {
            let group = KERNELS.len() + 1;
            // Those of the chained loop: the floor applies to the article's table.
            (0..ADDRESSES.len()).map(|g| (g * group + TWICE, g * group + KERNELS.len())).collect()
        }

        fn round(&mut self, _status: &StatusPage) -> Result<Vec<f64>, Impossible> {
            let mut samples = Vec::new();
            // Some of these figures depend on the placement of the loops, so it varies by round.
            let placement = below(&mut self.rng, PLACEMENTS);
            for mode in [CHAINED, INDEPENDENT, FENCED] {
                for address in 0..ADDRESSES.len() {
                    let data = self.data[self.start + address..].as_ptr();
                    let mut group = [f64::NAN; KERNELS.len() + 1];
                    let mut order: [usize; KERNELS.len() + 1] = std::array::from_fn(|place| place);
                    shuffle(&mut self.rng, &mut order);
                    for place in order {
                        let kernel = if place == KERNELS.len() { TWICE } else { place };
                        if self.unusable.iter().any(|(other, _)| *other == kernel) {
                            continue;
                        }
                        let batch = batch(kernel, mode, placement);
                        // SAFETY: 40 bytes of the vector follow the pointer; the kernel's instructions were
                        // verified to run here.
                        let ticks = unsafe {
                            batch(data, WARM);
                            batch(data, CALLS)
                        };
                        group[place] = (ticks as f64 - self.overhead_ticks) / CALLS as f64;
                    }
                    if mode == FENCED {
                        let null = group[0];
                        group.iter_mut().skip(1).for_each(|ticks| *ticks -= null);
                    }
                    samples.extend(group);
                }
            }
            Ok(samples)
        }

        fn facts(&mut self) -> serde_json::Value {
            let [wrong_at_odd_addresses, wrong_two_streams] = self.wrong;
            crate::json(&Facts { wrong_at_odd_addresses, wrong_two_streams })
        }

        fn unusable(&self) -> Vec<Unusable> {
            self.unusable.iter().map(|(place, why)| Unusable::new(KERNELS[*place], why)).collect()
        }
    }

    /// The share of random trials in which the article's baseline (at odd addresses) and its listing of two
    /// streams (at any address) differ from the reference.
    fn wrong_share(rng: &mut Xoshiro256PlusPlus) -> Result<[f64; 2], Impossible> {
        let mut shares = [0.0; 2];
        for (name, offset, share) in [("odd_address_baseline", 1, 0), ("two_streams_article", 0, 1)] {
            let variant = carryline_variants::find(Family::Checksum, name);
            let Some(Routine::Checksum(routine)) = variant.map(|variant| variant.routine) else {
                return Err(Impossible(format!("there is no checksum/{name}")));
            };
            let mut wrong = 0_u32;
            // Room for a message at an even address or the odd one after it.
            let mut words = [0_u16; BYTES / 2 + 1];
            for _ in 0..TRIALS {
                words.iter_mut().for_each(|word| *word = rng.next_u64() as u16);
                let seed = rng.next_u64() as u32;
                let start = words.as_ptr().cast::<u8>().wrapping_add(offset);
                // SAFETY: offset is 0 or 1, and 42 bytes follow the array's start.
                let message = unsafe { std::slice::from_raw_parts(start, BYTES) };
                // SAFETY: a message of the length that both are written for; they read nothing else.
                let sum = unsafe { routine(start, BYTES, seed) };
                wrong += u32::from(carryline::checksum::fold(sum) != folded_sum(message, seed));
            }
            shares[share] = f64::from(wrong) / f64::from(TRIALS);
        }
        Ok(shares)
    }

    /// A kernel as a type, so that each is compiled into its own loops.
    trait Kernel {
        /// # Safety
        /// 40 bytes are readable at `data`, and the CPU has the kernel's instructions.
        unsafe fn sum(data: *const u8, seed: u32) -> u32;
    }

    macro_rules! kernels {
        ($($name:ident = |$data:ident, $seed:ident| $sum:expr;)+) => {
            $(
                struct $name;
                impl Kernel for $name {
                    #[inline(always)]
                    unsafe fn sum($data: *const u8, $seed: u32) -> u32 {
                        // SAFETY: 40 readable bytes and the CPU's instructions are what the caller of `sum`
                        // gives.
                        unsafe { $sum }
                    }
                }
            )+
        };
    }

    kernels! {
        Baseline = |data, seed| odd_address_swap::sum(data, BYTES, seed);
        Specialised = |data, seed| specialised_40::sum(data, seed);
        NoOdd = |data, seed| no_odd_40::sum(data, seed);
        DeadCode = |data, seed| dead_code_40::sum(data, seed);
        Adx = |data, seed| adx_40::sum(data, seed);
        TwoStreams = |data, seed| two_streams_40::sum(data, seed);
        Train = |data, seed| train32_40::sum(data, seed);
        ZeroSum = |data, seed| zero_sum_40::sum(data, seed);
    }

    struct Null;
    impl Kernel for Null {
        #[inline(always)]
        unsafe fn sum(_data: *const u8, seed: u32) -> u32 {
            seed
        }
    }

    /// The loop of a kernel, by its index in `KERNELS`.
    fn batch(kernel: usize, mode: u8, placement: usize) -> Batch {
        match kernel {
            0 => in_mode::<Null>(mode, placement),
            1 => in_mode::<Baseline>(mode, placement),
            2 => in_mode::<Specialised>(mode, placement),
            3 => in_mode::<NoOdd>(mode, placement),
            4 => in_mode::<DeadCode>(mode, placement),
            5 => in_mode::<Adx>(mode, placement),
            6 => in_mode::<TwoStreams>(mode, placement),
            7 => in_mode::<Train>(mode, placement),
            _ => in_mode::<ZeroSum>(mode, placement),
        }
    }

    fn in_mode<K: Kernel>(mode: u8, placement: usize) -> Batch {
        match mode {
            CHAINED => placed::<K, CHAINED>(placement),
            FENCED => placed::<K, FENCED>(placement),
            _ => placed::<K, INDEPENDENT>(placement),
        }
    }

    fn placed<K: Kernel, const MODE: u8>(placement: usize) -> Batch {
        match placement % PLACEMENTS {
            0 => calls::<K, MODE, 64>,
            1 => calls::<K, MODE, 16>,
            2 => calls::<K, MODE, 32>,
            _ => calls::<K, MODE, 48>,
        }
    }

    /// # Safety
    /// As [`Kernel::sum`].
    #[inline(never)]
    unsafe fn calls<K: Kernel, const MODE: u8, const PAD: usize>(data: *const u8, count: usize) -> u64 {
        let mut sum = 1_u32;
        let (mut data, mut seed) = (data, 1_u32);
        place::<PAD>();
        let begin = clock::start();
        for _ in 0..count {
            // SAFETY: this emits no instruction. The compiler must assume that both values change, so it
            // keeps every call in the loop; the core sees neither an instruction nor a dependence.
            unsafe {
                core::arch::asm!("/* {0} {1:e} */", inout(reg) data, inout(reg) seed, options(nostack, preserves_flags));
            }
            if MODE == FENCED {
                clock::fence();
            }
            // SAFETY: the caller gives 40 readable bytes at `data`, which no instruction has changed, and the
            // CPU has the instructions.
            let result = unsafe { K::sum(data, if MODE == CHAINED { sum } else { seed }) };
            if MODE == CHAINED {
                sum = result;
            }
            // SAFETY: this emits no instruction; it marks the result as used.
            unsafe {
                core::arch::asm!("/* {0:e} */", in(reg) result, options(nostack, preserves_flags));
            }
            if MODE == FENCED {
                clock::fence();
            }
        }
        clock::stop().wrapping_sub(begin)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        type Sum = unsafe fn(*const u8, u32) -> u32;

        #[test]
        fn inlined_kernels_agree_with_the_reference() {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(40);
            let mut bytes = [0_u8; BYTES + 1];
            let kernels: [(&str, Sum); 7] = [
                ("baseline", Baseline::sum),
                ("specialised", Specialised::sum),
                ("no odd", NoOdd::sum),
                ("dead code", DeadCode::sum),
                ("two streams", TwoStreams::sum),
                ("train", Train::sum),
                ("zero sum", ZeroSum::sum),
            ];
            for _ in 0..200 {
                rng.fill_bytes(&mut bytes);
                for offset in [0, 1] {
                    let message = &bytes[offset..offset + BYTES];
                    for (name, sum) in kernels {
                        let seed = if name == "zero sum" { 0 } else { rng.next_u64() as u32 };
                        // SAFETY: 40 bytes; none of these needs more than baseline x86-64.
                        let got = carryline::checksum::fold(unsafe { sum(message.as_ptr(), seed) });
                        assert_eq!(got, folded_sum(message, seed), "{name} at {offset}, seed {seed:#x}");
                    }
                }
            }
        }

        #[test]
        fn both_known_bad_forms_are_often_wrong() {
            let shares = wrong_share(&mut Xoshiro256PlusPlus::seed_from_u64(1)).expect("both are there");
            assert!(shares.iter().all(|share| (0.2..1.0).contains(share)), "{shares:?}");
        }
    }
}
