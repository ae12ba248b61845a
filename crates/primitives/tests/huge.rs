//! One call over 1 GiB, beyond what any accumulator of 32 bits holds. The same 2 MiB of memory stand behind all of it.

#![cfg(target_os = "linux")]

use carryline::checksum::{Sum, fold, internet, partial};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const PIECE_BYTES: usize = 2 << 20;
const PIECES: usize = 512;

/// An address range of 1 GiB that shows one piece of memory again and again.
struct Repeated(*mut libc::c_void);

impl Repeated {
    fn new() -> Repeated {
        // SAFETY: a constant name; the descriptor, checked below, is nobody else's.
        let memory = unsafe {
            let descriptor = libc::memfd_create(c"repeated".as_ptr(), 0);
            assert!(descriptor >= 0, "memfd_create: {}", std::io::Error::last_os_error());
            OwnedFd::from_raw_fd(descriptor)
        };
        // SAFETY: the descriptor is open; the range is reserved before pieces of it are mapped over.
        unsafe {
            assert_eq!(libc::ftruncate(memory.as_raw_fd(), PIECE_BYTES as libc::off_t), 0);
            let whole = PIECE_BYTES * PIECES;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let start = libc::mmap(std::ptr::null_mut(), whole, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(start, libc::MAP_FAILED, "1 GiB of addresses: {}", std::io::Error::last_os_error());
            let repeated = Repeated(start);
            for piece in 0..PIECES {
                let access = libc::PROT_READ | libc::PROT_WRITE;
                let flags = libc::MAP_SHARED | libc::MAP_FIXED;
                let at = start.add(piece * PIECE_BYTES);
                let mapped = libc::mmap(at, PIECE_BYTES, access, flags, memory.as_raw_fd(), 0);
                assert_eq!(mapped, at, "piece {piece}: {}", std::io::Error::last_os_error());
            }
            repeated
        }
    }

    /// Writes the pattern to the one piece, hence to all.
    fn fill(&mut self, pattern: [u8; 4]) {
        // SAFETY: the first piece is mapped for writing, and `self` is borrowed mutably.
        let piece = unsafe { std::slice::from_raw_parts_mut(self.0.cast::<u8>(), PIECE_BYTES) };
        piece.chunks_exact_mut(4).for_each(|chunk| chunk.copy_from_slice(&pattern));
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: all pieces are mapped; `fill`, the only writer, needs a mutable borrow.
        unsafe { std::slice::from_raw_parts(self.0.cast::<u8>(), PIECE_BYTES * PIECES) }
    }
}

impl Drop for Repeated {
    fn drop(&mut self) {
        // SAFETY: the range is this value's own, and no borrow of it is left.
        unsafe { libc::munmap(self.0, PIECE_BYTES * PIECES) };
    }
}

/// The sum of a number of words in turn, by a product.
fn expected(pattern: [u8; 4], bytes: usize) -> [u8; 2] {
    let words = [0, 2].map(|at| u64::from(u16::from_be_bytes([pattern[at], pattern[at + 1]])));
    let total = (words[0] + words[1]) * (bytes as u64 / 4);
    (!(if total == 0 { 0 } else { ((total - 1) % 65535 + 1) as u16 })).to_be_bytes()
}

#[test]
fn one_call_over_a_gibibyte_is_exact() {
    let mut memory = Repeated::new();
    for pattern in [[0xff; 4], [0x80, 0, 0x80, 0], [0, 0x80, 0, 0x80], [0x12, 0x34, 0xff, 0xfe], [0; 4]] {
        memory.fill(pattern);
        let data = memory.bytes();
        assert_eq!(internet(data), expected(pattern, data.len()), "{pattern:02x?}");
        let of_seed = |seed| u64::from(fold(partial(data, seed)));
        let without = of_seed(0);
        assert_eq!(of_seed(0xffff_ffff), if without == 0 { 0xffff } else { without }, "{pattern:02x?}");
        // From an odd place on, and with the bytes of the words the other way round.
        let [first, rest @ ..] = data else { unreachable!("1 GiB") };
        assert_eq!(
            Sum::new().add(&[*first]).add(rest).finish(),
            expected(pattern, data.len()),
            "{pattern:02x?}"
        );
    }
}
