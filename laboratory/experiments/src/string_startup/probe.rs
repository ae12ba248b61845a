//! Inlined string instructions of growing length, one after the other: their start-up cost and rate.
//!
//! Buffers are hot in the first level, written before. Series are `INSTRUCTION, ALIGNMENT, BYTES`: aligned
//! means both buffers at a line boundary, misaligned the destination 7 and the source 13 bytes past one.
//! Besides the four instructions there are the pair of a kernel's bcopy (`movsq` for the words, then a
//! `movsb` that is empty if the length is a multiple of 8), `stosl`, instructions of length 0, and libc's
//! memcpy through a pointer.

use carryline_engine::probe::{Impossible, Probe, Rounds, Setup};

/// See the module.
pub static PROBE: Probe =
    Probe { name: "string_startup", what: "string instructions of growing length, inlined", start };

/// The instructions whose lines are fitted.
pub const INSTRUCTIONS: [&str; 4] = ["movsb", "movsq", "stosb", "stosq"];
/// A copy in two parts: words, then the remaining bytes, of which there are none.
pub const PAIR: &str = "movsq and movsb";
/// The names of the alignments.
pub const ALIGNMENTS: [&str; 2] = ["aligned", "misaligned"];
/// The lengths in bytes, multiples of 8.
pub const SIZES: [u32; 13] = [32, 64, 128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192];
/// The shortest length used for the fit: newer CPUs have a separate path for shorter ones.
pub const FIT_FROM: u32 = 256;

/// The name of a series.
#[must_use]
pub fn name(instruction: &str, alignment: &str, bytes: u32) -> String {
    format!("{instruction}, {alignment}, {bytes}")
}

#[cfg(not(target_arch = "x86_64"))]
fn start(_setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    Err(Impossible("string instructions are x86-64 code".to_owned()))
}

#[cfg(target_arch = "x86_64")]
fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    x86::start(setup)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{ALIGNMENTS, INSTRUCTIONS, PAIR, SIZES, name};
    use crate::batches::{Batches, Timed};
    use carryline_engine::probe::{Impossible, Rounds, Setup};
    use carryline_machine::arena::{Arena, Pages};
    use std::arch::asm;
    use std::hint::black_box;
    use std::rc::Rc;

    /// Repeats an instruction: destination, source, bytes, times.
    type Repeat = unsafe fn(*mut u8, *const u8, usize, u32);

    /// The offset of the source: half a page past a page boundary, so that no load waits for a store because
    /// their addresses agree in the low 12 bits.
    const SOURCE: usize = (16 << 10) + 2048;
    const ROOM: usize = 32 << 10;
    /// The offsets of the misaligned destination and source past a line boundary.
    const PAST: (usize, usize) = (7, 13);

    pub(super) fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
        let mut arena = Arena::new(ROOM, Pages::Base)?;
        arena.prefault();
        let arena = Rc::new(arena);
        let series = |label: String, repeat: Repeat, alignment: &str, bytes: u32| {
            let (to, from) = if alignment == ALIGNMENTS[0] { (0, 0) } else { PAST };
            let arena = arena.clone();
            // A batch takes some microseconds, and has at least 16 calls.
            let calls = (200_000 / (bytes + 400)).max(16);
            Timed::new(label, calls, move |times| {
                let destination = arena.start().wrapping_add(to);
                let source = arena.start().wrapping_add(SOURCE + from);
                // SAFETY: at most 8192 bytes from 7 bytes past the arena's start, and as many from 13 bytes
                // past SOURCE: both inside the arena and disjoint. Nothing else uses the arena.
                unsafe { repeat(destination, source, bytes as usize, times) };
            })
        };
        let mut all = Vec::new();
        for (instruction, repeat) in INSTRUCTIONS
            .into_iter()
            .zip([movsb as Repeat, movsq, stosb, stosq])
            .chain([(PAIR, pair as Repeat)])
        {
            for alignment in ALIGNMENTS {
                all.extend(
                    SIZES.map(|bytes| series(name(instruction, alignment, bytes), repeat, alignment, bytes)),
                );
            }
            all.push(series(name(instruction, "aligned", 0), repeat, "aligned", 0));
        }
        all.push(series("movsb, aligned, 1024 again".to_owned(), movsb, "aligned", 1024));
        for bytes in [1024, 4096] {
            all.push(series(name("stosl", "aligned", bytes), stosl, "aligned", bytes));
        }
        for bytes in SIZES {
            all.push(series(name("libc", "aligned", bytes), libc_memcpy, "aligned", bytes));
        }
        Ok(Box::new(Batches::new(setup, all).twin("movsb, aligned, 1024")))
    }

    macro_rules! copies {
        ($($name:ident $shift:literal $instruction:literal)+) => {
            $(
                /// # Safety
                /// `bytes` bytes are readable at `src` and writable at `dst`, not overlapping.
                unsafe fn $name(dst: *mut u8, src: *const u8, bytes: usize, times: u32) {
                    for _ in 0..times {
                        // SAFETY: the caller gives that many bytes on both sides; DF is clear by the ABI.
                        unsafe {
                            asm!(
                                $instruction,
                                inout("rdi") dst => _,
                                inout("rsi") src => _,
                                inout("rcx") bytes >> $shift => _,
                                options(nostack, preserves_flags)
                            );
                        }
                    }
                }
            )+
        };
    }

    macro_rules! stores {
        ($($name:ident $shift:literal $instruction:literal)+) => {
            $(
                /// # Safety
                /// `bytes` bytes are writable at `dst`.
                unsafe fn $name(dst: *mut u8, _src: *const u8, bytes: usize, times: u32) {
                    for _ in 0..times {
                        // SAFETY: the caller gives that many bytes; DF is clear by the ABI.
                        unsafe {
                            asm!(
                                $instruction,
                                inout("rdi") dst => _,
                                inout("rcx") bytes >> $shift => _,
                                in("rax") 0_u64,
                                options(nostack, preserves_flags)
                            );
                        }
                    }
                }
            )+
        };
    }

    copies! {
        movsb 0 "rep movsb"
        movsq 3 "rep movsq"
    }

    stores! {
        stosb 0 "rep stosb"
        stosl 2 "rep stosd"
        stosq 3 "rep stosq"
    }

    /// # Safety
    /// `bytes` bytes are readable at `src` and writable at `dst`, not overlapping.
    unsafe fn pair(dst: *mut u8, src: *const u8, bytes: usize, times: u32) {
        for _ in 0..times {
            // SAFETY: words, then the remaining bytes: in total the caller's bytes on both sides; DF is clear
            // by the ABI.
            unsafe {
                asm!(
                    "rep movsq",
                    "mov rcx, {rest}",
                    "rep movsb",
                    rest = in(reg) bytes & 7,
                    inout("rdi") dst => _,
                    inout("rsi") src => _,
                    inout("rcx") bytes >> 3 => _,
                    options(nostack, preserves_flags)
                );
            }
        }
    }

    /// # Safety
    /// `bytes` bytes are readable at `src` and writable at `dst`, not overlapping.
    unsafe fn libc_memcpy(dst: *mut u8, src: *const u8, bytes: usize, times: u32) {
        let copy: unsafe extern "C" fn(*mut libc::c_void, *const libc::c_void, usize) -> *mut libc::c_void =
            black_box(libc::memcpy);
        for _ in 0..times {
            // SAFETY: the caller's bytes on both sides, which do not overlap.
            unsafe { copy(dst.cast(), src.cast(), bytes) };
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn every_instruction_moves_its_bytes_and_no_other() {
            let copies: [Repeat; 4] = [movsb, movsq, pair, libc_memcpy];
            let stores: [Repeat; 3] = [stosb, stosl, stosq];
            for (place, repeat) in copies.into_iter().chain(stores).enumerate() {
                for bytes in [0, 32, 1024] {
                    let source: Vec<u8> = (0..1100_u32).map(|n| (n % 251) as u8 + 1).collect();
                    let mut got = vec![0xee_u8; 1100];
                    // SAFETY: 1100 bytes on both sides, not overlapping.
                    unsafe { repeat(got[7..].as_mut_ptr(), source[13..].as_ptr(), bytes, 2) };
                    let mut wanted = vec![0xee_u8; 1100];
                    match place {
                        0..4 => wanted[7..7 + bytes].copy_from_slice(&source[13..13 + bytes]),
                        _ => wanted[7..7 + bytes].fill(0),
                    }
                    assert_eq!(got, wanted, "{place}: {bytes}");
                }
            }
        }
    }
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests {
    use super::*;
    use crate::testing::setup;
    use carryline_verification::status::StatusPage;

    #[test]
    fn every_length_of_every_line_is_a_series() {
        let status = StatusPage::create().expect("a page");
        let mut rounds = start(&setup(&serde_json::Value::Null, &status)).expect("x86-64 has them");
        let series = rounds.series();
        for instruction in INSTRUCTIONS.into_iter().chain([PAIR]) {
            for alignment in ALIGNMENTS {
                for bytes in SIZES {
                    let wanted = name(instruction, alignment, bytes);
                    assert!(series.iter().any(|one| one.name == wanted), "{wanted}");
                }
            }
        }
        assert_eq!(rounds.twins().len(), 1);
        let samples = rounds.round(&status).expect("a round");
        assert!(samples.len() == series.len() && samples.iter().all(|sample| sample.is_finite()));
    }
}
