//! The C library's own functions, for families that are not served. The constructor looks them up once
//! through the dynamic linker; the functions only follow a pointer.

use carryline_variants::Family;
use core::ffi::{CStr, c_int, c_void};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

type Memmove = unsafe extern "C" fn(dst: *mut c_void, src: *const c_void, len: usize) -> *mut c_void;
type Memset = unsafe extern "C" fn(dst: *mut c_void, byte: c_int, len: usize) -> *mut c_void;

static MEMMOVE: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static MEMSET: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// Looks up the family's function in the libraries after this one. The functions below may be called only if
/// it returned true.
pub(crate) fn find(family: Family) -> bool {
    let (place, name): (_, &CStr) = match family {
        Family::Copy => (&MEMMOVE, c"memmove"),
        _ => (&MEMSET, c"memset"),
    };
    // SAFETY: the name ends with NUL, and the constructor may call dlsym.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    place.store(found, Ordering::Relaxed);
    !found.is_null()
}

/// # Safety
/// [`find`] returned true for the copying family; `src` is valid for reads and `dst` for writes of `len`
/// bytes.
pub(crate) unsafe extern "C" fn copy(dst: *mut u8, src: *const u8, len: usize) -> *mut u8 {
    // SAFETY: by contract, the pointer is not null and both buffers are valid for `len` bytes; the function
    // has this type.
    unsafe {
        let memmove = transmute::<*mut c_void, Memmove>(MEMMOVE.load(Ordering::Relaxed));
        memmove(dst.cast(), src.cast(), len).cast()
    }
}

/// # Safety
/// [`find`] returned true for the zeroing family; `dst` is valid for writes of `len` bytes.
pub(crate) unsafe extern "C" fn fill(dst: *mut u8, byte: u8, len: usize) -> *mut u8 {
    // SAFETY: by contract, the pointer is not null and `dst` is valid for writes of `len` bytes; the function
    // has this type.
    unsafe {
        let memset = transmute::<*mut c_void, Memset>(MEMSET.load(Ordering::Relaxed));
        memset(dst.cast(), c_int::from(byte), len).cast()
    }
}

/// # Safety
/// As [`fill`].
pub(crate) unsafe extern "C" fn zero(dst: *mut u8, len: usize) -> *mut u8 {
    // SAFETY: by contract, `find` returned true for the family and `dst` is valid for writes of `len` bytes.
    unsafe { fill(dst, 0, len) }
}
