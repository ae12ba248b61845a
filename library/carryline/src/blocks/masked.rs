//! Masked 64-byte accesses: where they are slow, and where they begin instead.

use super::LINE_BYTES;
use core::arch::asm;

/// Whether a masked 64-byte access at `address` may be slow: if it would reach into the next page, or is at
/// the start of the address space, where null and the pointer of an empty slice without memory point.
///
/// The access is correct, because inactive lanes never fault. But if the page of an inactive lane is not
/// mapped, or not yet touched, the CPU resolves this in microcode, which takes hundreds of cycles. Kernels
/// with masked accesses check first and use a fallback. 4096 is the smallest page of the architecture, so
/// larger pages are covered. This also saves a separate branch for empty buffers, which would be mispredicted
/// if sizes vary.
#[inline(always)]
pub(crate) fn is_mask_slow(address: *const u8) -> bool {
    is_near_page_end(address) | is_in_first_line(address)
}

/// Whether a 64-byte access at `address` reaches into the next page: [`is_mask_slow`] for addresses inside a
/// buffer.
#[inline(always)]
pub(crate) fn is_near_page_end(address: *const u8) -> bool {
    address.addr() & 4095 > 4096 - 64
}

/// [`is_mask_slow`] for two addresses, in less code than two calls: if the last byte is in another page, the
/// lowest bit of the page number differs.
#[inline(always)]
pub(crate) fn is_mask_slow_at_either(one: *const u8, other: *const u8) -> bool {
    let (one, other) = (one.addr(), other.addr());
    let differ = (one ^ one.wrapping_add(63)) | (other ^ other.wrapping_add(63));
    (differ & 4096 != 0) | (one < 64) | (other < 64)
}

/// Whether `address` is at the start of the address space, where null and the pointer of an empty slice
/// without memory point: a masked access there is slow; see [`is_mask_slow`].
#[inline(always)]
pub(crate) fn is_in_first_line(address: *const u8) -> bool {
    address.addr() < 64
}

/// How many bytes before each address a masked 64-byte access to its `len` bytes should begin so as not to be
/// slow: 0, or, if one of them may reach into the next page, the number that makes it end with the data.
///
/// ```text
///          data          page end                      data       page end
/// [ active ][ inactive ......|.. ]   becomes   [ inactive ... ][ active ]  |
/// ```
///
/// There is no branch, because it would be mispredicted if buffers lie at arbitrary addresses: one address in
/// 64 took the other path, which cost a fifth of the total time (Zen 5, copies of 1 to 128 bytes: 6.6 ticks
/// with a branch, 4.9 without).
///
/// An address is in the last line of its page if the bits between the line and the page are all set. These
/// bits of several addresses are combined before they are tested, which is shorter, so the result may also be
/// nonzero if no access reaches into the next page. That is harmless: an access reaches into the previous page
/// only from the first line of a page, where all these bits are clear, so that the other address must have
/// them all set. Such a pair, one in thousands, is correct too, and slow only if the previous page is not
/// mapped.
#[inline(always)]
pub(crate) fn back_from_page_end<const N: usize>(addresses: [*const u8; N], len: usize) -> usize {
    let mut line_in_page = 0;
    for address in addresses {
        line_in_page |= address.addr();
    }
    core::hint::select_unpredictable(
        !line_in_page & (4096 - LINE_BYTES) == 0,
        64_usize.saturating_sub(len),
        0,
    )
}

/// Copies those of 64 bytes whose bits are set in `mask`, by one masked load and one masked store. Assembly, because the functions
/// of `core::arch` return a vector of initialised bytes, which those of a source need not be; in a register after which no
/// `vzeroupper` is needed.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); the bytes whose bits are set are valid for reads at
/// `src` and for writes at `dst`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(crate) unsafe fn copy_masked(dst: *mut u8, src: *const u8, mask: u64) {
    // SAFETY: inactive lanes are not accessed; the others are valid by contract.
    unsafe {
        asm!(
            "vmovdqu8 zmm16 {{{mask}}} {{z}}, [{src}]",
            "vmovdqu8 [{dst}] {{{mask}}}, zmm16",
            dst = in(reg) dst,
            src = in(reg) src,
            mask = in(kreg) mask,
            out("zmm16") _,
            options(nostack, preserves_flags),
        );
    }
}

/// [`copy_masked`] by two moves of 32 bytes. Both loads come before both stores.
///
/// # Safety
/// As [`copy_masked`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(crate) unsafe fn copy_masked_by_halves(dst: *mut u8, src: *const u8, mask: u64) {
    // SAFETY: inactive lanes are not accessed; the others are valid by contract.
    unsafe {
        asm!(
            "vmovdqu8 ymm16 {{{low}}} {{z}}, [{src}]",
            "vmovdqu8 ymm17 {{{high}}} {{z}}, [{src} + 32]",
            "vmovdqu8 [{dst}] {{{low}}}, ymm16",
            "vmovdqu8 [{dst} + 32] {{{high}}}, ymm17",
            dst = in(reg) dst,
            src = in(reg) src,
            low = in(kreg) mask as u32,
            high = in(kreg) (mask >> 32) as u32,
            out("ymm16") _,
            out("ymm17") _,
            options(nostack, preserves_flags),
        );
    }
}

/// The masked 64-byte accesses at both ends of `N` buffers of one length: the first 64 bytes and the last. Up
/// to 64 bytes, both are the same.
#[derive(Clone, Copy)]
pub(crate) struct MaskedEnds<const N: usize> {
    /// Where the first access to each buffer begins: `back` bytes before the buffer.
    ///
    /// If there are no bytes, it begins on the stack, where no page is missing: a pointer to no bytes may be
    /// null, dangling, or the end of what is mapped, where an access is slow although no lane is active. Each
    /// buffer has a place of its own there, because a load waits for a masked store to the same place.
    pub(crate) first: [*mut u8; N],
    /// How many of the lowest lanes are inactive; see [`back_from_page_end`]. From 64 bytes on, 0.
    pub(crate) back: usize,
    /// How much further the last access begins.
    pub(crate) last: usize,
}

/// The instructions that compute `last` and `back`; the argument is the one that adds another address to `eax`.
macro_rules! last_and_back {
    ($another:literal) => {
        concat!(
            "xor {zero:e}, {zero:e}\n",
            "mov {last}, {len}\n",
            "sub {last}, 64\n",
            "cmovb {last}, {zero}\n",
            // 64 - len, or 0 from 64 on.
            "lea {back}, [{last} + 64]\n",
            "sub {back}, {len}\n",
            "mov eax, {one:e}\n",
            $another,
            "not eax\n",
            "test eax, 4096 - 64\n",
            "cmovnz {back}, {zero}\n",
        )
    };
}

// Written out, because LLVM branches to choose an address, and moves what only some lengths need behind the
// branch on the length.
impl MaskedEnds<1> {
    /// The accesses to one buffer, computed without a branch, before the first of a kernel.
    #[inline(always)]
    pub(crate) fn of(buffer: *mut u8, len: usize) -> MaskedEnds<1> {
        let (first, back, last): (usize, usize, usize);
        // SAFETY: only computes addresses and numbers.
        unsafe {
            asm!(
                last_and_back!(""),
                "lea {first}, [rsp - 64]",
                "test {len}, {len}",
                "cmovnz {first}, {one}",
                "sub {first}, {back}",
                len = in(reg) len,
                one = in(reg) buffer.addr(),
                first = out(reg) first,
                back = out(reg) back,
                last = out(reg) last,
                zero = out(reg) _,
                out("eax") _,
                options(nomem, nostack),
            );
        }
        MaskedEnds { first: [buffer.with_addr(first)], back, last }
    }
}

impl MaskedEnds<2> {
    /// The accesses to two buffers, computed without a branch, before the first of a kernel.
    #[inline(always)]
    pub(crate) fn of(one: *mut u8, other: *mut u8, len: usize) -> MaskedEnds<2> {
        let (first, second, back, last): (usize, usize, usize, usize);
        // SAFETY: only computes addresses and numbers.
        unsafe {
            asm!(
                last_and_back!("or eax, {other:e}\n"),
                "lea {first}, [rsp - 64]",
                "lea {second}, [rsp - 128]",
                "test {len}, {len}",
                "cmovnz {first}, {one}",
                "cmovnz {second}, {other}",
                "sub {first}, {back}",
                "sub {second}, {back}",
                len = in(reg) len,
                one = in(reg) one.addr(),
                other = in(reg) other.addr(),
                first = out(reg) first,
                second = out(reg) second,
                back = out(reg) back,
                last = out(reg) last,
                zero = out(reg) _,
                out("eax") _,
                options(nomem, nostack),
            );
        }
        MaskedEnds { first: [one.with_addr(first), other.with_addr(second)], back, last }
    }
}

/// A value that the compiler computes at this place, and not in the branches that use it.
#[inline(always)]
pub(crate) fn computed_here(mut value: usize) -> usize {
    // SAFETY: only a comment.
    unsafe { asm!("/* {} */", inout(reg) value, options(nomem, nostack, preserves_flags)) };
    value
}

/// Ends the code before a kernel's first branch: what follows begins with a cache line, and so does the kernel,
/// as in [`begin_on_a_line`](super::begin_on_a_line).
///
/// On Zen 5, a call takes a cycle less if a path of two lines of code has its first branch at the start of the
/// second. In core cycles per call, as one of thirty sizes in a process and in the mean of 32 processes: copies
/// of 1 to 128 bytes 7.1, with the branch at the start of the first line 8.1; zeroing of 1 to 255 bytes 7.2 and
/// 8.0; a call that does nothing 7.0. With sizes that never take the branch, half of the processes lose nothing.
/// Paths of one line lose the cycle less often; these are longer. Those of three lose it anyway, so all that
/// precedes must fit into one line, and so must the path from here to its return.
#[inline(always)]
pub(crate) fn straight_line_ends() {
    // SAFETY: only no-operation instructions.
    unsafe { asm!(".p2align 6", options(nomem, nostack, preserves_flags)) };
}
