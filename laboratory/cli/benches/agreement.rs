//! Measures cells of `carryline measure` with criterion, for comparison with another harness.
//!
//! ```sh
//! cargo bench -p carryline-cli --bench agreement
//! carryline measure --variants checksum/carryline,checksum/adc_1_stream,zero/carryline,zero/libc_memset \
//!     --sizes 1500,4K --unit ns
//! ```
//!
//! Compare criterion's time with the gross time: both are of a call through a pointer, hot, independent and
//! page-aligned. `hand-written null loop` is the least cost of a call; the gross time of the null call (in
//! JSON: `gross` minus `ticks_per_call`) should be within one tick of it.

#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use carryline_machine::arena::{Arena, Pages};
use carryline_variants::landing::Landing;
use carryline_variants::{Family, Routine, find};
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::{Duration, Instant};

fn cells(criterion: &mut Criterion) {
    let mut arena = Arena::new(1 << 16, Pages::Base).expect("64 KiB of memory");
    arena.prefault();
    let start = arena.start();
    for (family, name, len) in [
        (Family::Checksum, "carryline", 1500),
        (Family::Checksum, "adc_1_stream", 1500),
        (Family::Zero, "carryline", 4096),
        (Family::Zero, "libc_memset", 4096),
    ] {
        let variant = find(family, name).expect("in the collection");
        let id = format!("{family} {name} {len}");
        match black_box(variant.landing()) {
            Landing::Routine(Routine::Checksum(f)) => {
                // SAFETY: len bytes of the arena, which nothing else uses.
                let call = || unsafe { f(start, len, 1) };
                criterion.bench_function(&id, |bencher| bencher.iter_custom(|n| timed(n, call)));
            }
            Landing::Routine(Routine::Zero(f)) => {
                let call = || {
                    // SAFETY: len bytes of the arena, which nothing else uses.
                    unsafe { f(start, len) };
                    0
                };
                criterion.bench_function(&id, |bencher| bencher.iter_custom(|n| timed(n, call)));
            }
            Landing::Set(f) => {
                let call = || {
                    // SAFETY: len bytes of the arena, which nothing else uses.
                    unsafe { f(start.cast(), 0, len) };
                    0
                };
                criterion.bench_function(&id, |bencher| bencher.iter_custom(|n| timed(n, call)));
            }
            landing => unreachable!("not listed above: {landing:?}"),
        }
    }
}

/// Times `n` calls in a plain loop. Criterion's own loop passes every result through memory, which costs two
/// cycles more than a caller pays that keeps the result in a register.
fn timed(n: u64, call: impl Fn() -> u32) -> Duration {
    let begin = Instant::now();
    let mut sink = 0;
    for _ in 0..n {
        sink ^= call();
    }
    black_box(sink);
    begin.elapsed()
}

/// Times a thousand calls of the empty routine in a minimal loop.
#[cfg(target_arch = "x86_64")]
fn null_loop(criterion: &mut Criterion) {
    const CALLS: u64 = 1000;
    let Routine::Zero(null) = carryline_variants::null::routine(Family::Zero) else {
        unreachable!("the zero family")
    };
    criterion.bench_function("hand-written null loop, 1000 calls", |bencher| {
        bencher.iter(|| {
            // SAFETY: calls an empty function with the C calling convention; the ABI clobber names every
            // register that it may change, and the stack is aligned because `nostack` is not given.
            unsafe {
                core::arch::asm!(
                    "2:",
                    "mov rdi, r13",
                    "mov rsi, r14",
                    "call {null}",
                    "dec r12",
                    "jnz 2b",
                    null = in(reg) black_box(null),
                    inout("r12") CALLS => _,
                    in("r13") 0_u64,
                    in("r14") 0_u64,
                    out("rdi") _,
                    out("rsi") _,
                    clobber_abi("C"),
                );
            }
        });
    });
}

#[cfg(not(target_arch = "x86_64"))]
fn null_loop(_: &mut Criterion) {}

criterion_group!(benches, cells, null_loop);
criterion_main!(benches);
