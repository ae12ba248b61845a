//! Calls beyond 32-bit counts: sums of 1 GiB, more than any 32-bit accumulator holds, and 5 GiB of zeros and
//! copies. A few pieces of 2 MiB back the whole range.

#![cfg(target_os = "linux")]

use carryline::checksum::{Sum, fold, internet, partial};
use carryline::{Next, copy, zero};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const PIECE_BYTES: usize = 2 << 20;

/// An address range that maps one piece of memory repeatedly, except for some pieces with memory of their
/// own.
struct Repeated {
    start: *mut libc::c_void,
    pieces: usize,
}

impl Repeated {
    fn new(pieces: usize, own: &[usize]) -> Repeated {
        // SAFETY: a constant name; the descriptor, checked below, is not shared.
        let memory = unsafe {
            let descriptor = libc::memfd_create(c"repeated".as_ptr(), 0);
            assert!(descriptor >= 0, "memfd_create: {}", std::io::Error::last_os_error());
            OwnedFd::from_raw_fd(descriptor)
        };
        // SAFETY: the descriptor is open; the range is reserved before pieces of it are mapped over.
        unsafe {
            let distinct = (1 + own.len()) * PIECE_BYTES;
            assert_eq!(libc::ftruncate(memory.as_raw_fd(), distinct as libc::off_t), 0);
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let start = libc::mmap(std::ptr::null_mut(), PIECE_BYTES * pieces, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(start, libc::MAP_FAILED, "addresses: {}", std::io::Error::last_os_error());
            let repeated = Repeated { start, pieces };
            for piece in 0..pieces {
                let access = libc::PROT_READ | libc::PROT_WRITE;
                let flags = libc::MAP_SHARED | libc::MAP_FIXED;
                let at = start.add(piece * PIECE_BYTES);
                let source = own.iter().position(|own| *own == piece).map_or(0, |index| index + 1);
                let offset = (source * PIECE_BYTES) as libc::off_t;
                let mapped = libc::mmap(at, PIECE_BYTES, access, flags, memory.as_raw_fd(), offset);
                assert_eq!(mapped, at, "piece {piece}: {}", std::io::Error::last_os_error());
            }
            repeated
        }
    }

    /// The address of a piece.
    fn at(&self, piece: usize) -> *mut u8 {
        assert!(piece < self.pieces);
        self.start.cast::<u8>().wrapping_add(piece * PIECE_BYTES)
    }

    /// The bytes of one piece.
    fn piece(&mut self, piece: usize) -> &mut [u8] {
        // SAFETY: mapped for reading and writing, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.at(piece), PIECE_BYTES) }
    }

    /// Writes the pattern to all pieces, none of which may have memory of its own.
    fn fill(&mut self, pattern: [u8; 4]) {
        self.piece(0).chunks_exact_mut(4).for_each(|chunk| chunk.copy_from_slice(&pattern));
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: all pieces are mapped; the writers need a mutable borrow.
        unsafe { std::slice::from_raw_parts(self.start.cast::<u8>(), PIECE_BYTES * self.pieces) }
    }
}

impl Drop for Repeated {
    fn drop(&mut self) {
        // SAFETY: this value owns the range, and no borrow of it is left.
        unsafe { libc::munmap(self.start, PIECE_BYTES * self.pieces) };
    }
}

/// The checksum of two alternating words, by multiplication.
fn expected(pattern: [u8; 4], bytes: usize) -> [u8; 2] {
    let words = [0, 2].map(|at| u64::from(u16::from_be_bytes([pattern[at], pattern[at + 1]])));
    let total = (words[0] + words[1]) * (bytes as u64 / 4);
    (!(if total == 0 { 0 } else { ((total - 1) % 65535 + 1) as u16 })).to_be_bytes()
}

#[test]
fn one_call_over_a_gibibyte_is_exact() {
    let mut memory = Repeated::new(512, &[]);
    for pattern in [[0xff; 4], [0x80, 0, 0x80, 0], [0, 0x80, 0, 0x80], [0x12, 0x34, 0xff, 0xfe], [0; 4]] {
        memory.fill(pattern);
        let data = memory.bytes();
        assert_eq!(internet(data), expected(pattern, data.len()), "{pattern:02x?}");
        let of_seed = |seed| u64::from(fold(partial(data, seed)));
        let without = of_seed(0);
        assert_eq!(of_seed(0xffff_ffff), if without == 0 { 0xffff } else { without }, "{pattern:02x?}");
        // From an odd offset, with the bytes of the words swapped.
        let [first, rest @ ..] = data else { unreachable!("1 GiB") };
        assert_eq!(
            Sum::new().add(&[*first]).add(rest).finish(),
            expected(pattern, data.len()),
            "{pattern:02x?}"
        );
    }
}

/// 5 GiB, and the pieces with memory of their own: the first, the last, and those at which a 31-bit or 32-bit
/// length or offset overflows.
const PIECES: usize = 5 << 9;
const OWN: [usize; 7] = [0, 1023, 1024, 2047, 2048, 2049, PIECES - 1];

#[test]
#[cfg(target_pointer_width = "64")]
fn one_call_zeroes_five_gibibytes() {
    let mut memory = Repeated::new(PIECES, &OWN);
    for next in [Next::Unknown, Next::ReadHere, Next::NotSoon] {
        for piece in OWN {
            memory.piece(piece).fill(0xff);
        }
        // SAFETY: all but the first and the last byte; all pieces that share memory are zeroed.
        unsafe { zero::fill_raw_with(memory.at(0).wrapping_add(1), PIECES * PIECE_BYTES - 2, next) };
        for piece in OWN {
            let (first, last) = (usize::from(piece == 0), PIECE_BYTES - usize::from(piece == PIECES - 1));
            let bytes = memory.piece(piece);
            assert!(bytes[first..last].iter().all(|byte| *byte == 0), "piece {piece}, {next:?}");
            assert!(
                bytes[..first].iter().chain(&bytes[last..]).all(|byte| *byte == 0xff),
                "{piece}, {next:?}"
            );
        }
    }
}

#[test]
#[cfg(target_pointer_width = "64")]
fn one_call_copies_five_gibibytes() {
    let (mut src, mut dst) = (Repeated::new(PIECES, &OWN), Repeated::new(PIECES, &OWN));
    for piece in OWN {
        src.piece(piece)
            .iter_mut()
            .enumerate()
            .for_each(|(at, byte)| *byte = (at * 31 + piece) as u8 ^ (at >> 9) as u8);
    }
    for next in [Next::Unknown, Next::ReadHere, Next::NotSoon] {
        for piece in OWN {
            dst.piece(piece).fill(0xa5);
        }
        // SAFETY: all but the last byte of the source, all but the first of the destination; two mappings.
        unsafe {
            copy::bytes_raw_with(dst.at(0).wrapping_add(1), src.at(0), PIECES * PIECE_BYTES - 1, next);
        }
        for piece in OWN {
            let (copied, original) = (dst.piece(piece), src.piece(piece));
            assert!(copied[1..] == original[..PIECE_BYTES - 1], "piece {piece}, {next:?}");
        }
        assert_eq!(dst.piece(0)[0], 0xa5, "{next:?}");
    }
}
