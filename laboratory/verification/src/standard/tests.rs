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
    let standard = if matches!(code, Landing::Set(_)) { Standard::Memset } else { Standard::Memmove };
    let mut verification = Verification::new(Checker::new(code, None, 0), Lengths::Any, Depth::Full, 1)
        .of_standard(Some(standard));
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
    assert_eq!(outcome(Landing::Move(libc::memcpy), |verification| verification.same_buffer()), None);
    assert_eq!(outcome(Landing::Move(libc::memmove), |verification| verification.large_overlaps()), None);
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
    assert_eq!(outcome(Landing::Move(forwards), |verification| verification.same_buffer()), None);
    let found =
        outcome(Landing::Move(returns_its_end), |verification| verification.same_buffer()).expect("caught");
    assert_eq!(found.kind, FaultKind::ReturnValue);
    let found = outcome(Landing::Set(sign_extends), |verification| verification.values()).expect("caught");
    assert!(found.about.contains("is 7f"), "{}", found.about);
}

/// Right up to 20 KiB and from 60 KiB.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `len` bytes.
unsafe extern "C" fn forwards_at_32_kib(dst: *mut c_void, src: *const c_void, len: usize) -> *mut c_void {
    // SAFETY: the caller's buffers.
    unsafe {
        if (20 << 10..60 << 10).contains(&len) {
            forwards(dst, src, len)
        } else {
            libc::memmove(dst, src, len)
        }
    }
}

/// Right except by 40 bytes, which no list of distances has.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `len` bytes.
unsafe extern "C" fn forwards_by_40(dst: *mut c_void, src: *const c_void, len: usize) -> *mut c_void {
    let by = dst.addr().wrapping_sub(src.addr());
    // SAFETY: the caller's buffers.
    unsafe { if by == 40 && len > 66 { forwards(dst, src, len) } else { libc::memmove(dst, src, len) } }
}

#[test]
fn small_buffers_overlap_by_every_distance() {
    let found =
        outcome(Landing::Move(forwards_by_40), |verification| verification.small_overlaps()).expect("caught");
    assert_eq!(found.kind, FaultKind::WrongBytes);
    assert!(found.about.contains("copied 40 bytes upwards"), "{}", found.about);
}

/// # Safety
/// `src` is valid for reads and `dst` for writes of `len` bytes.
unsafe extern "C" fn length_as_an_int(dst: *mut c_void, src: *const c_void, len: usize) -> *mut c_void {
    if len as c_int > 0 {
        // SAFETY: the caller's buffers.
        unsafe { libc::memmove(dst, src, len) };
    }
    dst
}

/// # Safety
/// `dst` is valid for writes of `len` bytes.
unsafe extern "C" fn zeroes_if_huge(dst: *mut c_void, byte: c_int, len: usize) -> *mut c_void {
    let huge = len > 1 << 31;
    // SAFETY: the caller owns len bytes. A huge buffer is the same 2 MiB again and again.
    unsafe { libc::memset(dst, if huge { 0 } else { byte }, if huge { UNIT } else { len }) }
}

#[test]
fn large_buffers_are_tried_with_wrong_functions() {
    let found = outcome(Landing::Move(forwards_at_32_kib), |verification| verification.large_overlaps())
        .expect("caught");
    assert_eq!(found.kind, FaultKind::WrongBytes);
    assert!(found.about.contains("upwards"), "{}", found.about);
    for (code, kind) in [
        (Landing::Move(length_as_an_int), FaultKind::WrongBytes),
        (Landing::Move(returns_its_end), FaultKind::ReturnValue),
        (Landing::Set(zeroes_if_huge), FaultKind::WrongBytes),
    ] {
        let found = outcome(code, |verification| verification.gibibytes()).expect("caught");
        assert_eq!(found.kind, kind, "{}", found.about);
    }
}

/// # Safety
/// `src` is valid for reads and `dst` for writes of `len` bytes.
unsafe extern "C" fn by_halves(dst: *mut c_void, src: *const c_void, len: usize) -> *mut c_void {
    if dst.cast_const() == src && len > 1 {
        // SAFETY: the caller's buffer.
        unsafe { dst.cast::<u8>().write_bytes(0, len / 2) };
    }
    // SAFETY: the caller's buffers.
    unsafe { libc::memmove(dst, src, len) }
}

#[test]
fn copies_to_the_same_buffer_are_tried() {
    let found = outcome(Landing::Move(by_halves), |verification| verification.same_buffer()).expect("caught");
    assert_eq!(found.kind, FaultKind::WrongBytes, "{}", found.about);
}

#[test]
fn comparisons_that_overflow_at_2_gib_are_caught() {
    let region = Region::at((1 << 31) - PAGE, 2 * PAGE);
    if region.is_err() {
        return;
    }
    drop(region);
    let found = outcome(Landing::Move(signed_compare), |verification| verification.overlaps_across_lines())
        .expect("caught");
    assert_eq!(found.kind, FaultKind::WrongBytes);
}
