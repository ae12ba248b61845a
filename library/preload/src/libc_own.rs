//! The C library's own functions, for families that are not served.
//! The constructor looks them up once through the dynamic linker; the functions only follow a pointer.

use carryline_variants::Family;
use core::ffi::{CStr, c_int, c_void};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

type Memmove = unsafe extern "C" fn(dst: *mut c_void, src: *const c_void, len: usize) -> *mut c_void;
type Memset = unsafe extern "C" fn(dst: *mut c_void, byte: c_int, len: usize) -> *mut c_void;

static MEMMOVE: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static MEMSET: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// Looks the family's function up, behind this library. True if it is there; only then may the functions below be
/// called.
pub(crate) fn find(family: Family) -> bool {
    let (place, name): (_, &CStr) = match family {
        Family::Copy => (&MEMMOVE, c"memmove"),
        _ => (&MEMSET, c"memset"),
    };
    // SAFETY: a name that ends with NUL; called from the constructor.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    place.store(found, Ordering::Relaxed);
    !found.is_null()
}

/// # Safety
/// [`find`] has found the copying family; `src` is valid for reads and `dst` for writes of `len` bytes.
pub(crate) unsafe extern "C" fn copy(dst: *mut u8, src: *const u8, len: usize) -> *mut u8 {
    // SAFETY: not null by contract, and the function of that name has this type; both are valid for `len` bytes.
    unsafe {
        let memmove = transmute::<*mut c_void, Memmove>(MEMMOVE.load(Ordering::Relaxed));
        memmove(dst.cast(), src.cast(), len).cast()
    }
}

/// # Safety
/// [`find`] has found the zeroing family; `dst` is valid for writes of `len` bytes.
pub(crate) unsafe extern "C" fn fill(dst: *mut u8, byte: u8, len: usize) -> *mut u8 {
    // SAFETY: not null by contract, and the function of that name has this type; `dst` is valid for writes of `len` bytes.
    unsafe {
        let memset = transmute::<*mut c_void, Memset>(MEMSET.load(Ordering::Relaxed));
        memset(dst.cast(), c_int::from(byte), len).cast()
    }
}

/// # Safety
/// As [`fill`].
pub(crate) unsafe extern "C" fn zero(dst: *mut u8, len: usize) -> *mut u8 {
    // SAFETY: `find` has found the family and `dst` is valid for writes of `len` bytes, by contract.
    unsafe { fill(dst, 0, len) }
}
