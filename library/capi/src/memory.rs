//! Converts C pointers to Rust types: bytes, pieces, addresses.

use core::ffi::c_void;

/// POSIX' `struct iovec`: a piece of a packet.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct iovec {
    /// The first byte; may be null if there are none.
    pub iov_base: *mut c_void,
    /// The number of bytes.
    pub iov_len: usize,
}

/// A readable piece.
#[derive(Clone, Copy)]
pub(crate) struct Piece<'a>(pub(crate) &'a [u8]);

impl AsRef<[u8]> for Piece<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0
    }
}

/// The bytes at `data`, which may be null if `len` is 0.
///
/// # Safety
/// `data` must be valid for reads of `len` initialised bytes for as long as the slice is used; with `len` 0
/// it may be any pointer.
#[inline(always)]
pub(crate) unsafe fn bytes<'a>(data: *const c_void, len: usize) -> &'a [u8] {
    if len == 0 {
        return &[];
    }
    // SAFETY: readable and initialised by contract; a readable pointer is not null, and bytes have no
    // alignment requirement. No C object is larger than half of the address space.
    unsafe { core::slice::from_raw_parts(data.cast(), len) }
}

/// The pieces described by the `count` entries at `iov`.
///
/// # Safety
/// `iov` must be valid for reads of `count` entries, and each entry as in [`bytes`], while the iterator is
/// used; with `count` 0 it may be any pointer.
#[inline(always)]
pub(crate) unsafe fn pieces<'a>(iov: *const iovec, count: usize) -> impl Iterator<Item = Piece<'a>> + Clone {
    (0..count).map(move |index| {
        // SAFETY: index < count, and `count` entries are readable by contract.
        let iovec { iov_base, iov_len } = unsafe { iov.add(index).read() };
        // SAFETY: the bytes described by an entry are readable by contract.
        Piece(unsafe { bytes(iov_base, iov_len) })
    })
}

/// The `N` bytes at `data`, such as an address.
///
/// # Safety
/// `data` must be valid for reads of `N` initialised bytes, at any alignment.
#[inline(always)]
pub(crate) unsafe fn array<const N: usize>(data: *const c_void) -> [u8; N] {
    // SAFETY: `N` initialised bytes are readable by contract; an array of bytes has no alignment requirement.
    unsafe { data.cast::<[u8; N]>().read() }
}
