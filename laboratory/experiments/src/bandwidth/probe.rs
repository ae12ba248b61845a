//! One core reads memory, writes it through the caches, and writes it bypassing them.
//!
//! Every pass covers one buffer that fits in no cache (its size is the parameter `bytes`), pre-faulted by
//! writing. A pass therefore starts with the end of the buffer in the last cache, as far as it fits, and the
//! beginning uncached. Copies go from the buffer's first half to its second, so that every pass reads and
//! writes as many bytes in total as the buffer has. Samples are the ticks of one pass.

use crate::batches::{Batches, Timed};
use carryline_engine::probe::{Impossible, Probe, Rounds, Setup, Unusable};
use carryline_machine::arena::{Arena, Pages};
use carryline_sampler::limits::{Kernel, TURN, kernels};
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// See the module.
pub static PROBE: Probe =
    Probe { name: "bandwidth", what: "reads, cached writes and non-temporal writes of memory", start };

/// The passes, in the order of the table.
pub const PASSES: [&str; 7] = [
    "read",
    "read with prefetch",
    "cached write",
    "rep stosb",
    "non-temporal write",
    "cached copy",
    "non-temporal copy",
];

/// Bytes that a pass moves over the memory bus. A cached write counts twice, because its line is read first;
/// if the core knows that the whole line will be overwritten and skips the read, this is too high.
#[must_use]
pub fn on_the_bus(pass: &str, buffer_bytes: u64) -> u64 {
    match pass {
        "cached write" | "rep stosb" => 2 * buffer_bytes,
        "cached copy" => buffer_bytes + buffer_bytes / 2,
        _ => buffer_bytes,
    }
}

/// The parameters of the probe.
#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    /// The size of the buffer; by default more than the caches hold.
    pub bytes: Option<u64>,
}

/// Facts about the probe.
#[derive(Deserialize, Serialize)]
struct Facts {
    /// The size of the buffer, a multiple of the step of every pass.
    bytes: usize,
}

fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    let bytes = setup.parameters::<Parameters>()?.bytes.unwrap_or(setup.caches.too_large());
    let bytes = (bytes as usize / (2 * TURN)).max(1) * 2 * TURN;
    let mut arena = Arena::new(bytes, Pages::Base)?;
    arena.prefault();
    setup.status.beat();
    let arena = Rc::new(arena);
    let kinds = kernels();
    let whole = |pass: &str, kernel: Kernel| {
        let arena = arena.clone();
        Timed::new(pass, 1, move |times| {
            for _ in 0..times {
                // SAFETY: `bytes` is a multiple of TURN within the arena, which starts at a page boundary;
                // nothing else accesses it.
                unsafe { kernel(arena.start(), bytes) };
            }
        })
        .without_warm_up()
    };
    let mut all = vec![whole(PASSES[0], kinds.loads[0]), whole("read again", kinds.loads[0])];
    let mut unusable = Vec::new();
    let lacks = "the CPU has no such instruction, or no fast one";
    for (pass, kernel) in [
        (PASSES[1], kinds.loads.get(1)),
        (PASSES[2], kinds.stores.first()),
        (PASSES[3], kinds.string_store.as_ref()),
    ] {
        match kernel {
            Some(kernel) => all.push(whole(pass, *kernel)),
            None => unusable.push(Unusable::new(pass, lacks)),
        }
    }
    // The portable list has a plain store in this place.
    if cfg!(target_arch = "x86_64") {
        all.push(whole(PASSES[4], kinds.nt_stores[0]));
    } else {
        unusable.push(Unusable::new(PASSES[4], lacks));
    }
    for (pass, copy) in [(PASSES[5], copies::cached as Copy), (PASSES[6], copies::non_temporal)] {
        if pass == PASSES[6] && !cfg!(target_arch = "x86_64") {
            unusable.push(Unusable::new(pass, lacks));
            continue;
        }
        let arena = arena.clone();
        all.push(
            Timed::new(pass, 1, move |times| {
                let half = bytes / 2;
                for _ in 0..times {
                    // SAFETY: both halves are in the arena, start at line boundaries, are a multiple of 512
                    // bytes long and disjoint.
                    unsafe { copy(arena.start().wrapping_add(half), arena.start(), half) };
                }
            })
            .without_warm_up(),
        );
    }
    Ok(Box::new(Batches::new(setup, all).twin(PASSES[0]).without(unusable).with_facts(&Facts { bytes })))
}

/// Copies `len` bytes, a multiple of 64, between line boundaries.
type Copy = unsafe fn(*mut u8, *const u8, usize);

#[cfg(target_arch = "x86_64")]
mod copies {
    use std::arch::asm;

    macro_rules! copy {
        ($name:ident, $store:literal, $after:literal) => {
            /// # Safety
            /// `len` is a multiple of 64 and not 0; `src` and `dst` are at line boundaries, readable and
            /// writable for `len` bytes, and disjoint.
            pub(super) unsafe fn $name(dst: *mut u8, src: *const u8, len: usize) {
                // SAFETY: each iteration copies one line until `src` reaches its end, by the caller's
                // contract.
                unsafe {
                    asm!(
                        "2:",
                        ".set carryline_at, 0",
                        ".rept 4",
                        "movdqa {a}, [{src} + carryline_at]",
                        concat!($store, " [{dst} + carryline_at], {a}"),
                        ".set carryline_at, carryline_at + 16",
                        ".endr",
                        "add {src}, 64",
                        "add {dst}, 64",
                        "cmp {src}, {end}",
                        "jb 2b",
                        $after,
                        src = inout(reg) src => _,
                        dst = inout(reg) dst => _,
                        end = in(reg) src.wrapping_add(len),
                        a = out(xmm_reg) _,
                        options(nostack)
                    );
                }
            }
        };
    }

    copy!(cached, "movdqa", "");
    copy!(non_temporal, "movntdq", "sfence");
}

#[cfg(not(target_arch = "x86_64"))]
mod copies {
    /// # Safety
    /// `len` bytes, a multiple of 8, readable at `src` and writable at `dst`, not overlapping and aligned.
    pub(super) unsafe fn cached(dst: *mut u8, src: *const u8, len: usize) {
        for at in (0..len).step_by(8) {
            // SAFETY: at + 8 <= len, by the caller's contract.
            unsafe { dst.add(at).cast::<u64>().write_volatile(src.add(at).cast::<u64>().read_volatile()) };
        }
    }

    pub(super) use cached as non_temporal;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::setup;
    use carryline_verification::status::StatusPage;

    #[test]
    fn copies_copy_every_line_and_no_other() {
        let mut arena = Arena::new(16 << 10, Pages::Base).expect("16 KiB");
        for copy in [copies::cached as Copy, copies::non_temporal] {
            arena.prefault();
            // SAFETY: 2 KiB from one page to another of the arena.
            unsafe { copy(arena.start().wrapping_add(8192), arena.start(), 2048) };
            // SAFETY: the arena's own bytes.
            let bytes = unsafe { std::slice::from_raw_parts(arena.start(), arena.len()) };
            assert_eq!(bytes[..2048], bytes[8192..8192 + 2048]);
            assert_ne!(bytes[2048..2048 + 64], bytes[8192 + 2048..8192 + 2048 + 64]);
        }
    }

    #[test]
    fn every_pass_is_a_series_or_has_a_reason() {
        let status = StatusPage::create().expect("a page");
        let parameters = crate::json(&Parameters { bytes: Some(100_000) });
        let mut rounds = start(&setup(&parameters, &status)).expect("100 KB");
        let series = rounds.series();
        let samples = rounds.round(&status).expect("a round");
        assert_eq!(samples.len(), series.len());
        let facts: Facts = serde_json::from_value(rounds.facts()).expect("its own");
        assert_eq!(facts.bytes % (2 * TURN), 0);
        let unusable = rounds.unusable();
        for pass in PASSES {
            assert!(
                series.iter().any(|one| one.name == pass) || unusable.iter().any(|one| one.series == pass),
                "{pass}"
            );
        }
        assert_eq!((on_the_bus("cached copy", 200), on_the_bus("read", 200)), (300, 200));
    }
}
