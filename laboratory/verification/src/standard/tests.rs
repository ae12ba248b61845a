use super::*;
use crate::Depth;
use crate::checker::Checker;
use crate::signals::Handlers;
use carryline_variants::Lengths;
use carryline_variants::landing::Landing;
use std::ffi::{c_int, c_void};

fn outcome(code: Landing, stage: impl FnOnce(&mut Verification<'_>) -> Result<(), Stop>) -> Option<Mismatch> {
    let _handlers = Handlers::install();
    let _watch = crate::forked::Watch::begin();
    let mut verification = Verification::new(Checker::new(code, None, 0), Lengths::Any, Depth::Full, 1);
    match stage(&mut verification) {
        Ok(()) => None,
        Err(Stop::Caught(caught)) => Some(caught.mismatch),
        Err(Stop::Memory(error)) => panic!("{error}"),
    }
}

#[test]
fn the_c_library_s_functions_pass() {
    assert_eq!(outcome(Landing::Move(libc::memmove), |verification| verification.small_overlaps()), None);
    assert_eq!(
        outcome(Landing::Move(libc::memmove), |verification| verification.overlaps_across_lines()),
        None
    );
    assert_eq!(outcome(Landing::Move(libc::memcpy), |verification| verification.returned()), None);
    assert_eq!(outcome(Landing::Set(libc::memset), |verification| verification.values()), None);
}

/// Copies upwards, byte by byte, like a wrong `memmove`.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `len` bytes.
unsafe extern "C" fn forwards(dst: *mut c_void, src: *const c_void, len: usize) -> *mut c_void {
    let (to, from) = (dst.cast::<u8>(), src.cast::<u8>());
    for at in 0..len {
        // SAFETY: the caller owns len bytes on both sides. Volatile, to keep the compiler from making it
        // a call of memmove.
        unsafe { to.add(at).write_volatile(from.add(at).read_volatile()) };
    }
    dst
}

/// # Safety
/// `src` is valid for reads and `dst` for writes of `len` bytes.
unsafe extern "C" fn returns_its_end(dst: *mut c_void, src: *const c_void, len: usize) -> *mut c_void {
    // SAFETY: the caller's buffers.
    unsafe { libc::memmove(dst, src, len) };
    dst.wrapping_byte_add(len)
}

/// # Safety
/// `src` is valid for reads and `dst` for writes of `len` bytes.
unsafe extern "C" fn signed_compare(dst: *mut c_void, src: *const c_void, len: usize) -> *mut c_void {
    let upwards = dst as isize as i32 > src as isize as i32;
    let (to, from) = (dst.cast::<u8>(), src.cast::<u8>());
    for step in 0..len {
        let at = if upwards { len - 1 - step } else { step };
        // SAFETY: the caller owns len bytes on both sides.
        unsafe { to.add(at).write_volatile(from.add(at).read_volatile()) };
    }
    dst
}

/// # Safety
/// `dst` is valid for writes of `len` bytes.
unsafe extern "C" fn sign_extends(dst: *mut c_void, byte: c_int, len: usize) -> *mut c_void {
    let to = dst.cast::<u8>();
    for at in 0..len {
        let value = if at % 8 == 7 { byte.min(0x7f) as u8 } else { byte as u8 };
        // SAFETY: the caller owns len bytes.
        unsafe { to.add(at).write_volatile(value) };
    }
    dst
}

#[test]
fn violations_of_the_standard_are_caught() {
    let found =
        outcome(Landing::Move(forwards), |verification| verification.small_overlaps()).expect("caught");
    assert_eq!(found.kind, FaultKind::WrongBytes);
    assert!(found.about.contains("upwards"), "{}", found.about);
    assert_eq!(outcome(Landing::Move(forwards), |verification| verification.returned()), None);
    let found =
        outcome(Landing::Move(returns_its_end), |verification| verification.returned()).expect("caught");
    assert_eq!(found.kind, FaultKind::ReturnValue);
    let found = outcome(Landing::Set(sign_extends), |verification| verification.values()).expect("caught");
    assert!(found.about.contains("set to 0x"), "{}", found.about);
}

#[test]
fn comparisons_that_overflow_at_2_gib_are_caught() {
    let region = Region::at((1 << 31) - ROOM, 2 * ROOM);
    if region.is_err() {
        return;
    }
    drop(region);
    let found = outcome(Landing::Move(signed_compare), |verification| verification.overlaps_across_lines())
        .expect("caught");
    assert_eq!(found.kind, FaultKind::WrongBytes);
}
