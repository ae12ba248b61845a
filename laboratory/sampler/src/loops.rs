//! The timed loops. They have no branch on the condition: dependence, source of arguments and follow-up are
//! compile-time parameters. A routine is called through a pointer, as by a user of a dispatched library,
//! directly at its landing (see [`carryline_variants::landing`]), and all routines of a family from the same
//! loop (see `invoke.rs`).
//!
//! Every loop exists at four code alignments ([`PLACEMENTS`]); a worker process chooses one by its layout
//! seed, so that no figure depends on an accidental placement.

use super::invoke::{CopyCall, Invoke, ZeroCall};
use carryline_machine::clock;
use carryline_variants::Routine;
use carryline_variants::landing::Landing;
use carryline_verification::Verified;
use std::hint::black_box;

/// The arguments of one call, relative to the operands' bases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Call {
    /// The length in bytes.
    pub len: u64,
    /// The offset of the destination from its base.
    pub dst: u32,
    /// The offset of the source from its base.
    pub src: u32,
}

/// The number of code alignments of each loop.
pub const PLACEMENTS: usize = 4;

/// The dependence as a const parameter.
pub const CHAINED: u8 = 0;
/// See [`CHAINED`].
pub const INDEPENDENT: u8 = 1;
/// See [`CHAINED`].
pub const FENCED: u8 = 2;

/// The action after each call, with resolved addresses.
#[derive(Clone, Copy, Debug)]
pub enum Follow {
    /// No action.
    Nothing,
    /// Read the destination of the call `lag` calls ago; the first `lag` calls of a batch read those of the same routine's
    /// untimed calls before it, which have the batch's own list from its second entry on.
    Read {
        /// The number of calls ago; 0 for the call itself.
        lag: usize,
    },
    /// Read an unrelated buffer.
    Victim {
        /// The start of the buffer.
        base: *const u8,
        /// Its length in bytes.
        len: usize,
    },
}

/// A batch: `count` calls.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The base of the destinations.
    pub dst: *mut u8,
    /// The base of the sources.
    pub src: *const u8,
    /// The arguments of every call if they are the same; otherwise one entry per call is used.
    pub fixed: Option<Call>,
    /// The list of arguments; empty if they are fixed.
    pub calls: &'a [Call],
    /// The number of calls, or of messages.
    pub count: usize,
    /// The buffers per message: 1 except for segmented checksums, where `count` counts messages.
    pub segments: usize,
    /// The seed of the first sum.
    pub seed: u32,
    /// [`CHAINED`], [`INDEPENDENT`] or [`FENCED`].
    pub dependence: u8,
    /// The action after each call.
    pub follow: Follow,
    /// The code alignment of the loop, modulo [`PLACEMENTS`].
    pub placement: usize,
}

/// Reads a byte of every line of `len` bytes at `base` and folds them into one by exclusive or, so that each
/// line takes at least a cycle: a reader that uses the data.
///
/// # Safety
/// `base` must be valid for reads of `len` bytes.
#[inline(always)]
unsafe fn read_lines(base: *const u8, len: usize) -> u8 {
    let mut sink = 0;
    let mut at = 0;
    while at < len {
        // SAFETY: at < len. Volatile, to keep the read.
        sink ^= unsafe { base.add(at).read_volatile() };
        at += 64;
    }
    sink
}

/// Times a batch; returns ticks, including the cost of the clock.
///
/// # Safety
/// For every call of the batch, its arguments added to the bases must meet the routine's contract; without
/// fixed arguments, the list must have at least `count * segments` entries, and more than the lag of what is read later; the
/// follow-up's buffers must be readable.
///
/// Only verified routines are accepted:
///
/// ```compile_fail,E0308
/// use carryline_sampler::loops::{Batch, time};
/// use carryline_variants::{Family, find};
/// fn unverified(batch: &Batch<'_>) -> u64 {
///     unsafe { time(&find(Family::Zero, "carryline").unwrap().landing(), batch) }
/// }
/// ```
pub unsafe fn time(verified: &Verified<'_>, batch: &Batch<'_>) -> u64 {
    // SAFETY: the caller is responsible for the arguments, the list and the follow-up; they are passed on
    // unchanged.
    unsafe { time_landing(&verified.landing(), batch) }
}

/// [`time`] for a member of a bench: a verified routine or the null call.
///
/// # Safety
/// As for [`time`].
pub(crate) unsafe fn time_landing(landing: &Landing, batch: &Batch<'_>) -> u64 {
    // SAFETY: the caller is responsible for the arguments, the list and the follow-up; they are passed on
    // unchanged, and each arm has a routine with its family's signature.
    unsafe {
        match *landing {
            Landing::Set(f) => by_dependence(ZeroCall::of_libc(f), batch),
            Landing::Routine(Routine::Zero(f)) => by_dependence(ZeroCall::of_family(f), batch),
            Landing::Move(f) => by_dependence(CopyCall::of_libc(f), batch),
            Landing::Routine(Routine::Copy(f)) => by_dependence(CopyCall::of_family(f), batch),
            Landing::Routine(Routine::Checksum(f)) if batch.segments > 1 => placed_messages(f, batch),
            Landing::Routine(Routine::CopyChecksum(f)) if batch.segments > 1 => placed_messages(f, batch),
            Landing::Routine(Routine::Checksum(f)) => by_dependence(f, batch),
            Landing::Routine(Routine::CopyChecksum(f)) => by_dependence(f, batch),
        }
    }
}

/// Makes one untimed call, to verify the timed routine: returns the sum, or 0 for a family without one.
///
/// # Safety
/// The arguments must meet the routine's contract.
pub(crate) unsafe fn call(landing: &Landing, dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the caller meets the routine's contract; each arm has a routine with its family's signature.
    unsafe {
        match *landing {
            Landing::Set(f) => ZeroCall::of_libc(f).invoke(dst, src, len, seed),
            Landing::Routine(Routine::Zero(f)) => ZeroCall::of_family(f).invoke(dst, src, len, seed),
            Landing::Move(f) => CopyCall::of_libc(f).invoke(dst, src, len, seed),
            Landing::Routine(Routine::Copy(f)) => CopyCall::of_family(f).invoke(dst, src, len, seed),
            Landing::Routine(Routine::Checksum(f)) => f.invoke(dst, src, len, seed),
            Landing::Routine(Routine::CopyChecksum(f)) => f.invoke(dst, src, len, seed),
        }
    }
}

/// # Safety
/// As for [`time`].
unsafe fn by_dependence<F: Invoke>(f: F, batch: &Batch<'_>) -> u64 {
    // SAFETY: the callee's contract is this function's.
    unsafe {
        match batch.dependence {
            CHAINED => by_source::<F, CHAINED>(f, batch),
            FENCED => by_source::<F, FENCED>(f, batch),
            _ => by_source::<F, INDEPENDENT>(f, batch),
        }
    }
}

/// # Safety
/// As for [`time`].
unsafe fn by_source<F: Invoke, const DEPENDENCE: u8>(f: F, batch: &Batch<'_>) -> u64 {
    let follows = !matches!(batch.follow, Follow::Nothing);
    // SAFETY: the callee's contract is this function's.
    unsafe {
        match (batch.fixed.is_none(), follows) {
            (false, false) => by_placement::<F, DEPENDENCE, false, false>(f, batch),
            (false, true) => by_placement::<F, DEPENDENCE, false, true>(f, batch),
            (true, false) => by_placement::<F, DEPENDENCE, true, false>(f, batch),
            (true, true) => by_placement::<F, DEPENDENCE, true, true>(f, batch),
        }
    }
}

/// # Safety
/// As for [`time`].
unsafe fn by_placement<F: Invoke, const DEPENDENCE: u8, const LISTED: bool, const FOLLOWS: bool>(
    f: F,
    batch: &Batch<'_>,
) -> u64 {
    // SAFETY: the callee's contract is this function's.
    unsafe {
        match batch.placement % PLACEMENTS {
            0 => calls::<F, DEPENDENCE, LISTED, FOLLOWS, 64>(f, batch),
            1 => calls::<F, DEPENDENCE, LISTED, FOLLOWS, 16>(f, batch),
            2 => calls::<F, DEPENDENCE, LISTED, FOLLOWS, 32>(f, batch),
            _ => calls::<F, DEPENDENCE, LISTED, FOLLOWS, 48>(f, batch),
        }
    }
}

/// Aligns the following code to `PAD` bytes past a cache line (the assembler rejects 0; 64 replaces it).
#[inline(always)]
pub fn place<const PAD: usize>() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: only no-operation instructions.
    unsafe {
        core::arch::asm!(".p2align 6", ".nops {pad}", pad = const PAD, options(nomem, nostack, preserves_flags));
    }
}

/// # Safety
/// As for [`time`].
#[inline(never)]
unsafe fn calls<
    F: Invoke,
    const DEPENDENCE: u8,
    const LISTED: bool,
    const FOLLOWS: bool,
    const PAD: usize,
>(
    f: F,
    batch: &Batch<'_>,
) -> u64 {
    let (dst_base, src_base, count) = (batch.dst, batch.src, batch.count);
    let fixed = batch.fixed.unwrap_or_default();
    let list = batch.calls.as_ptr();
    let mut seed = batch.seed;
    let mut link = 0_usize;
    // Zero, but unknown to the compiler: the loaded value has no effect, yet the next address depends on it.
    let no_bits = black_box(0_usize);
    let mut sink = 0_u32;

    place::<PAD>();
    let begin = clock::start();
    let mut index = 0;
    while index < count {
        // SAFETY: index < count entries, by the caller's contract.
        let call = if LISTED { unsafe { *list.add(index) } } else { fixed };
        let len = call.len as usize;
        let dst = dst_base.wrapping_add(call.dst as usize).wrapping_add(link);
        let src = src_base.wrapping_add(call.src as usize).wrapping_add(link);
        if DEPENDENCE == FENCED {
            clock::fence();
        }
        // SAFETY: the caller's arguments, added to the bases, meet the contract; link is zero.
        let result = unsafe { f.invoke(dst, src, len, seed) };
        if DEPENDENCE == FENCED {
            clock::fence();
        }
        if F::SUMS {
            if DEPENDENCE == CHAINED {
                seed = result;
            } else {
                sink ^= result;
            }
        } else if DEPENDENCE == CHAINED {
            // SAFETY: the destination's last byte, or the first if the call is empty: inside a mapped buffer.
            link = usize::from(unsafe { dst.add(len.saturating_sub(1)).read_volatile() }) & no_bits;
        }
        if FOLLOWS {
            // SAFETY: the follow-up's buffers are readable, by the caller's contract.
            sink ^= unsafe { follow::<LISTED>(batch, index, dst, len) };
        }
        index += 1;
    }
    let ticks = clock::stop().wrapping_sub(begin);
    black_box((seed, link, sink));
    ticks
}

/// # Safety
/// As for [`time`]; `dst` and `len` are the destination of the call just made.
#[inline(always)]
unsafe fn follow<const LISTED: bool>(batch: &Batch<'_>, index: usize, dst: *mut u8, len: usize) -> u32 {
    match batch.follow {
        Follow::Nothing => 0,
        Follow::Read { lag } if LISTED && lag > 0 => {
            let earlier = batch.calls[read_later(index, lag)];
            // SAFETY: a destination of this batch's list.
            unsafe { read_lines(batch.dst.add(earlier.dst as usize), earlier.len as usize) }.into()
        }
        // SAFETY: the destination of the call just made.
        Follow::Read { .. } => unsafe { read_lines(dst, len) }.into(),
        // SAFETY: readable by the caller's contract.
        Follow::Victim { base, len } => unsafe { read_lines(base, len) }.into(),
    }
}

/// The entry of a list whose destination was written `lag` calls before call `index` of a batch. The destinations are a
/// ring of `lag + 1`, so it is the one after the call's own.
#[inline(always)]
pub(crate) fn read_later(index: usize, lag: usize) -> usize {
    if index >= lag { index - lag } else { index + 1 }
}

/// # Safety
/// As for [`time`].
unsafe fn placed_messages<F: Invoke>(f: F, batch: &Batch<'_>) -> u64 {
    // SAFETY: the callee's contract is this function's.
    unsafe {
        match batch.placement % PLACEMENTS {
            0 => messages::<F, 64>(f, batch),
            1 => messages::<F, 16>(f, batch),
            2 => messages::<F, 32>(f, batch),
            _ => messages::<F, 48>(f, batch),
        }
    }
}

/// Chains of buffers, each checksummed as one message: after a buffer of odd length, the bytes of the sum
/// change places. A rotation by eight bits does this for all routines (2^8 is the byte swap modulo 2^16 - 1).
///
/// # Safety
/// As for [`time`].
#[inline(never)]
unsafe fn messages<F: Invoke, const PAD: usize>(f: F, batch: &Batch<'_>) -> u64 {
    let mut seed = batch.seed;
    let mut sink = 0_u32;
    let list = batch.calls.as_ptr();

    place::<PAD>();
    let begin = clock::start();
    let mut index = 0;
    for _message in 0..batch.count {
        if batch.dependence == FENCED {
            clock::fence();
        }
        let mut sum = seed;
        for _segment in 0..batch.segments {
            // SAFETY: index < count * segments entries, by the caller's contract.
            let call = unsafe { *list.add(index) };
            let dst = batch.dst.wrapping_add(call.dst as usize);
            let src = batch.src.wrapping_add(call.src as usize);
            // SAFETY: the caller's arguments, added to the bases, meet the contract.
            sum = unsafe { f.invoke(dst, src, call.len as usize, sum) };
            sum = if call.len & 1 == 1 { sum.rotate_left(8) } else { sum };
            index += 1;
        }
        if batch.dependence == FENCED {
            clock::fence();
        }
        if batch.dependence == CHAINED {
            seed = sum;
        } else {
            sink ^= sum;
        }
    }
    let ticks = clock::stop().wrapping_sub(begin);
    black_box((seed, sink));
    ticks
}

/// The folded sum of one message over the calls of its segments, which verification of a segmented cell
/// compares with the sum of the joined bytes.
///
/// # Safety
/// As [`time`]; the routine must be of a family that sums.
pub unsafe fn message_sum(verified: &Verified<'_>, batch: &Batch<'_>) -> u16 {
    // SAFETY: the caller is responsible for the arguments, the list and the family; they are passed on
    // unchanged.
    unsafe { message_sum_of(&verified.landing(), batch) }
}

/// [`message_sum`] for a member of a bench.
///
/// # Safety
/// As for [`message_sum`].
pub(crate) unsafe fn message_sum_of(landing: &Landing, batch: &Batch<'_>) -> u16 {
    let mut sum = 0;
    let mut swapped = false;
    for call in &batch.calls[..batch.segments] {
        let dst = batch.dst.wrapping_add(call.dst as usize);
        let src = batch.src.wrapping_add(call.src as usize);
        // SAFETY: the caller's arguments, added to the bases, meet the contract.
        sum = unsafe { self::call(landing, dst, src, call.len as usize, sum) };
        if call.len & 1 == 1 {
            sum = sum.rotate_left(8);
            swapped = !swapped;
        }
    }
    let folded = carryline::checksum::fold(sum);
    if swapped { folded.swap_bytes() } else { folded }
}
