//! The AVX-512 kernels on a CPU that is emulated, instruction by instruction, so that they are tested on every
//! machine, also on those that cannot run them.
//!
//! The emulated CPU executes the machine code of the kernels in this program. It has the few instructions that they
//! need, and rejects all others: a new one is added to `scalar` or `vector`. Every load and store must lie within the
//! buffers of the call, the program or the stack, byte by byte and lane by lane; and no masked one may reach into a page
//! of none of these, which would be slow.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod machine;
mod scalar;
mod vector;

use carryline::internals::cpu::Features;
use carryline::internals::dispatch::Kernel;
use carryline::internals::kernels;
use carryline::internals::plan::LOOPS_BELOW_BYTES;
use machine::Machine;
use std::ops::Range;

const PAGE_BYTES: usize = 4096;

/// The kernels that need AVX-512.
fn wide<F>(list: &'static [Kernel<F>]) -> impl Iterator<Item = &'static Kernel<F>> {
    let found = list.iter().filter(|kernel| kernel.needs.contains(Features::AVX512));
    assert!(found.clone().count() > 0);
    found
}

/// Lengths at which kernels change their code, and some between.
fn lengths() -> impl Iterator<Item = usize> {
    (0..=530).chain((540..2200).step_by(61)).chain([1023, 1024, 1536, 2048, 4095, 4096])
}

/// The number of offsets for each length, and of what is combined with them.
const OFFSETS: usize = 9;

/// The offset of the other buffer for each of [`offsets`].
const OTHERS: [usize; OFFSETS] = [17, 1, 40, 63, 0, 4000, 64, 200, 4070];

/// The seed for each of [`offsets`].
const SEEDS: [u32; OFFSETS] = [0, u32::MAX, 1, 0xffff, 0x1_0000, 0, 9, u32::MAX, 0x8000_0000];

/// Offsets in a page: at and around lines, and such that the data ends with the page, near it, or crosses into the
/// next one.
fn offsets(len: usize) -> [usize; OFFSETS] {
    let back = |from_end: usize| (4 * PAGE_BYTES - len - from_end) % PAGE_BYTES;
    [0, 1, 31, 63, 64 + len * 7 % 64, back(0), back(1), back(len / 2), PAGE_BYTES - 1 - len / 2]
}

/// A buffer of several pages that begins with one.
struct Pages {
    memory: Vec<u8>,
    start: usize,
}

impl Pages {
    const BYTES: usize = 4 * PAGE_BYTES;

    fn new(seed: u8) -> Pages {
        let byte = |at: usize| (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0] ^ seed;
        let memory: Vec<u8> = (0..Pages::BYTES + PAGE_BYTES).map(byte).collect();
        let start = memory.as_ptr().align_offset(PAGE_BYTES);
        Pages { memory, start }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + Pages::BYTES]
    }

    /// The addresses of a part.
    fn addresses(&mut self, part: Range<usize>) -> Range<usize> {
        let range = self.bytes()[part].as_mut_ptr_range();
        range.start.expose_provenance()..range.end.expose_provenance()
    }
}

#[test]
fn zeroing_writes_the_buffer_alone() {
    let mut machine = Machine::new();
    for kernel in wide(kernels::ZERO) {
        for start in [kernel.function.zero as usize, kernel.function.read_here as usize] {
            for len in lengths() {
                for offset in offsets(len) {
                    let mut pages = Pages::new(0xff);
                    let range = pages.addresses(offset..offset + len);
                    machine.call(start, &[range.start as u64, len as u64], &[], &[range]);
                    assert!(len == 0 || machine.slow_masks == 0, "{} {len} at {offset}: slow", kernel.name);
                    assert!(
                        pages.bytes()[offset..][..len].iter().all(|byte| *byte == 0),
                        "{} {len}",
                        kernel.name
                    );
                }
            }
        }
    }
}

#[test]
fn copies_read_the_source_and_write_the_destination_alone() {
    let mut machine = Machine::new();
    for kernel in wide(kernels::COPY) {
        let code = kernel.function;
        for start in [code.copy as usize, code.read_here as usize, code.overlapping as usize] {
            for len in lengths() {
                for (offset, other) in offsets(len).into_iter().zip(OTHERS) {
                    let (mut from, mut to) = (Pages::new(0), Pages::new(0xff));
                    let (src, dst) = (from.addresses(other..other + len), to.addresses(offset..offset + len));
                    let arguments = [dst.start as u64, src.start as u64, len as u64];
                    machine.call(start, &arguments, &[src], &[dst]);
                    assert!(len == 0 || machine.slow_masks == 0, "{} {len} at {offset}: slow", kernel.name);
                    let copied = &to.bytes()[offset..][..len];
                    assert!(copied == &from.bytes()[other..][..len], "{} {len}", kernel.name);
                }
            }
        }
    }
}

#[test]
fn overlapping_copies_move_the_bytes() {
    let mut machine = Machine::new();
    for kernel in wide(kernels::COPY) {
        let start = kernel.function.overlapping as usize;
        for len in lengths().step_by(3).chain([LOOPS_BELOW_BYTES / 4]) {
            for distance in [-2000, -300, -64, -31, -1, 1, 5, 64, 100, 511, 2000_isize] {
                let mut pages = Pages::new(0);
                let from = 2100 + len % 64;
                let to = from.strict_add_signed(distance);
                let expected = pages.bytes()[from..][..len].to_vec();
                let (src, dst) = (pages.addresses(from..from + len), pages.addresses(to..to + len));
                let arguments = [dst.start as u64, src.start as u64, len as u64];
                machine.call(start, &arguments, &[src], &[dst]);
                assert!(pages.bytes()[to..][..len] == expected, "{} {len} by {distance}", kernel.name);
            }
        }
    }
}

/// The kernels in assembly that return `dst` have the same code, and a part that is not.
#[test]
fn kernels_that_return_the_destination_do() {
    use kernels::returning::{avx512_branched, avx512_prefer_256};
    type Copy = unsafe extern "C" fn(*mut u8, *const u8, usize) -> *mut u8;
    type Zero = unsafe extern "C" fn(*mut u8, usize) -> *mut u8;
    let kernels: [(Copy, Zero); 2] = [
        (avx512_branched::overlapping, avx512_branched::zero),
        (avx512_prefer_256::overlapping, avx512_prefer_256::zero),
    ];
    let mut machine = Machine::new();
    for (copy, zero) in kernels.map(|(copy, zero)| (copy as *const () as usize, zero as *const () as usize)) {
        for len in lengths().step_by(7) {
            for offset in offsets(len) {
                let (mut from, mut to) = (Pages::new(0), Pages::new(0xff));
                let (src, dst) = (from.addresses(17..17 + len), to.addresses(offset..offset + len));
                let (arguments, allowed) = ([dst.start as u64, src.start as u64, len as u64], [dst]);
                assert_eq!(machine.call(copy, &arguments, &[src], &allowed), arguments[0], "copy {len}");
                assert!(to.bytes()[offset..][..len] == from.bytes()[17..][..len], "copy {len}");
                assert_eq!(
                    machine.call(zero, &[arguments[0], arguments[2]], &[], &allowed),
                    arguments[0],
                    "zero {len}"
                );
                assert!(to.bytes()[offset..][..len].iter().all(|byte| *byte == 0), "zero {len}");
            }
        }
    }
}

/// The folded sum by its definition, RFC 1071: of 16-bit words in the order of memory.
fn folded(bytes: &[u8], seed: u32) -> u16 {
    let words = bytes.chunks(2).map(|pair| u16::from_le_bytes([pair[0], *pair.get(1).unwrap_or(&0)]));
    let mut sum = words.map(u64::from).sum::<u64>() + u64::from(seed);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Data at the limits of the carries, and arbitrary data.
fn contents() -> [Pages; 3] {
    let mut contents = [Pages::new(0), Pages::new(0), Pages::new(0)];
    contents[1].bytes().fill(0xff);
    contents[2].bytes().fill(0);
    contents
}

#[test]
fn sums_are_exact() {
    let mut machine = Machine::new();
    for kernel in wide(kernels::CHECKSUM) {
        for mut pages in contents() {
            for len in lengths() {
                for (offset, seed) in offsets(len).into_iter().zip(SEEDS) {
                    let data = pages.addresses(offset..offset + len);
                    let arguments = [data.start as u64, len as u64, u64::from(seed) | 0xaaaa_aaaa << 32];
                    let sum = machine.call(kernel.function as usize, &arguments, &[data], &[]) as u32;
                    assert!(len == 0 || machine.slow_masks == 0, "{} {len} at {offset}: slow", kernel.name);
                    let bytes = &pages.bytes()[offset..][..len];
                    let (expected, is_zero) =
                        (folded(bytes, seed), bytes.iter().all(|byte| *byte == 0) && seed == 0);
                    assert_eq!(folded(&sum.to_le_bytes(), 0), expected, "{} {len} at {offset}", kernel.name);
                    assert_eq!(sum == 0, is_zero, "{} {len} at {offset}", kernel.name);
                }
            }
        }
    }
}

#[test]
fn copies_with_sums_do_both() {
    let mut machine = Machine::new();
    for kernel in wide(kernels::COPY_AND_SUM) {
        // Above, this one is the kernel of AVX2, which is tested on the CPU itself.
        let most = if kernel.name == "avx512_prefer_256" { 2176 } else { usize::MAX };
        for mut from in contents() {
            for len in lengths().filter(|len| *len <= most) {
                for (offset, other) in offsets(len).into_iter().zip(OTHERS) {
                    let mut to = Pages::new(0x55);
                    let (src, dst) = (from.addresses(other..other + len), to.addresses(offset..offset + len));
                    let arguments = [dst.start as u64, src.start as u64, len as u64, 0xffff_0001];
                    let sum = machine.call(kernel.function as usize, &arguments, &[src], &[dst]) as u32;
                    assert!(len == 0 || machine.slow_masks == 0, "{} {len} at {offset}: slow", kernel.name);
                    let bytes = &from.bytes()[other..][..len];
                    assert!(&to.bytes()[offset..][..len] == bytes, "{} {len}", kernel.name);
                    assert_eq!(
                        folded(&sum.to_le_bytes(), 0),
                        folded(bytes, 0xffff_0001),
                        "{} {len}",
                        kernel.name
                    );
                }
            }
        }
    }
}

/// The emulation detects wrong code.
#[test]
fn wrong_code_is_detected() {
    use core::arch::naked_asm;
    #[unsafe(naked)]
    extern "C" fn one_byte_too_many() {
        naked_asm!(
            "mov rcx, -1",
            "bzhi rcx, rcx, rsi",
            "kmovq k1, rcx",
            "vpxor xmm0, xmm0, xmm0",
            "vmovdqu8 [rdi + 1] {{k1}}, zmm0",
            "ret"
        )
    }
    #[unsafe(naked)]
    extern "C" fn unknown() {
        naked_asm!("vaesenc xmm0, xmm0, xmm0", "ret")
    }
    #[unsafe(naked)]
    extern "C" fn register_not_restored() {
        naked_asm!("mov ebx, 1", "ret")
    }
    for wrong in [one_byte_too_many, unknown, register_not_restored] {
        let mut pages = Pages::new(0);
        let range = pages.addresses(0..40);
        let call = move || Machine::new().call(wrong as usize, &[range.start as u64, 40], &[], &[range]);
        std::panic::catch_unwind(call).expect_err("the code is wrong");
    }
}
