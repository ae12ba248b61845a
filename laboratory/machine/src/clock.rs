//! The clock: the time-stamp counter with fences, and the value of its ticks.
//!
//! On x86-64 a region is timed by `lfence; rdtsc; lfence` before it and `rdtscp; lfence` after it: no
//! instruction of the region starts before the first reading or is in flight at the second. Ticks are neither
//! core cycles nor nanoseconds. A chain of dependent additions, timed beside the samples, gives the ticks per
//! core cycle at that moment, and the kernel's monotonic clock those per nanosecond. On other architectures a
//! tick is a nanosecond of the monotonic clock.

use std::time::{Duration, Instant};

/// Reads the clock before a timed region.
#[inline(always)]
#[must_use]
pub fn start() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_mm_lfence, _rdtsc};
        // SAFETY: RDTSC and LFENCE are part of every x86-64 CPU; only CR4.TSD forbids reads in user mode,
        // which Linux sets only at the request of the process itself.
        unsafe {
            _mm_lfence();
            let ticks = _rdtsc();
            _mm_lfence();
            ticks
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        monotonic_ns()
    }
}

/// Reads the clock after a timed region.
#[inline(always)]
#[must_use]
pub fn stop() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{__rdtscp, _mm_lfence};
        let mut processor = 0;
        // SAFETY: RDTSC and LFENCE are part of every x86-64 CPU, and RDTSCP of every one with a usable
        // time-stamp counter in the last fifteen years; a process may use them unless it asked Linux to
        // forbid it.
        unsafe {
            let ticks = __rdtscp(&raw mut processor);
            _mm_lfence();
            ticks
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        monotonic_ns()
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn monotonic_ns() -> u64 {
    use std::sync::OnceLock;
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    ORIGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Waits until all preceding instructions have completed; the fence of fenced cells.
#[inline(always)]
pub fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: LFENCE is part of every x86-64 CPU.
    unsafe {
        core::arch::x86_64::_mm_lfence();
    }
    #[cfg(not(target_arch = "x86_64"))]
    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
}

/// The ticks of an empty timed region: the median of many.
#[must_use]
pub fn overhead_ticks() -> f64 {
    let mut readings = [0_u64; 101];
    for reading in &mut readings {
        let begin = start();
        *reading = stop().wrapping_sub(begin);
    }
    readings.sort_unstable();
    readings[readings.len() / 2] as f64
}

/// Ticks per nanosecond, from the kernel's monotonic clock over `window`.
#[must_use]
pub fn ticks_per_ns(window: Duration) -> f64 {
    let begin = Instant::now();
    let first = start();
    while begin.elapsed() < window {
        std::hint::spin_loop();
    }
    let last = stop();
    last.wrapping_sub(first) as f64 / begin.elapsed().as_nanos() as f64
}

/// The ticks of a region.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn timed(region: impl FnOnce()) -> u64 {
    let begin = start();
    region();
    stop().wrapping_sub(begin)
}

/// The core cycles of [`cycle_chain_ticks`].
pub const CHAIN_CYCLES: u32 = 20_000;

/// The ticks of a chain of [`CHAIN_CYCLES`] dependent additions; `None` if there is no such chain for the
/// architecture. The addends are registers, because newer cores eliminate additions of small constants.
#[must_use]
pub fn cycle_chain_ticks() -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: modifies only the named registers and flags.
        Some(timed(|| unsafe {
            core::arch::asm!(
                "2:",
                ".rept 100",
                "add {sum}, {step}",
                ".endr",
                "dec {turns:e}",
                "jnz 2b",
                sum = inout(reg) 1_u64 => _,
                step = in(reg) 3_u64,
                turns = inout(reg) CHAIN_CYCLES / 100 => _,
                options(nomem, nostack),
            );
        }))
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        None
    }
}

/// Ticks per core cycle at this moment; `None` if unknown.
#[must_use]
pub fn ticks_per_cycle() -> Option<f64> {
    // The faster of two: an interruption can only add time.
    let ticks = cycle_chain_ticks()?.min(cycle_chain_ticks()?);
    Some(ticks as f64 / f64::from(CHAIN_CYCLES))
}

/// The additions of [`independent_ticks`].
const INDEPENDENT_ADDITIONS: u32 = 64_000;

/// The ticks of [`INDEPENDENT_ADDITIONS`] additions in eight chains; `None` for architectures without them.
fn independent_ticks() -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: modifies only the named registers and flags.
        Some(timed(|| unsafe {
            core::arch::asm!(
                "2:",
                ".rept 4",
                "add {a}, {step}",
                "add {b}, {step}",
                "add {c}, {step}",
                "add {d}, {step}",
                "add {e}, {step}",
                "add {f}, {step}",
                "add {g}, {step}",
                "add {h}, {step}",
                ".endr",
                "dec {turns:e}",
                "jnz 2b",
                a = inout(reg) 1_u64 => _,
                b = inout(reg) 1_u64 => _,
                c = inout(reg) 1_u64 => _,
                d = inout(reg) 1_u64 => _,
                e = inout(reg) 1_u64 => _,
                f = inout(reg) 1_u64 => _,
                g = inout(reg) 1_u64 => _,
                h = inout(reg) 1_u64 => _,
                step = in(reg) 3_u64,
                turns = inout(reg) INDEPENDENT_ADDITIONS / 32 => _,
                options(nomem, nostack),
            );
        }))
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        None
    }
}

/// The independent additions that the core executes in a cycle at this moment; `None` if unknown. Each core has a
/// fastest rate, 4 on Zen 3. If another hardware thread of the core runs, the rate falls, and the chain of
/// [`ticks_per_cycle`] takes as long as before: nothing else shows a virtual machine that it shares the core.
#[must_use]
pub fn additions_per_cycle() -> Option<f64> {
    let ticks = independent_ticks()?.min(independent_ticks()?);
    Some(f64::from(INDEPENDENT_ADDITIONS) * ticks_per_cycle()? / ticks as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_does_not_decrease_and_reading_it_takes_time() {
        let first = start();
        let second = stop();
        assert!(second >= first);
        assert!(overhead_ticks() > 0.0);
        assert!(ticks_per_ns(Duration::from_millis(2)) > 0.01);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_cycle_is_a_plausible_number_of_ticks() {
        let ratio = ticks_per_cycle().expect("x86-64 has the chain");
        assert!((0.1..10.0).contains(&ratio), "{ratio}");
        let additions = additions_per_cycle().expect("x86-64 has them");
        assert!((0.1..20.0).contains(&additions), "{additions}");
    }
}
