//! Reads a profile from a file with plain system calls: nothing is allocated, and the caller preserves errno.

use carryline::internals::tuning::{MOST_FILE_BYTES, apply_bytes};
use carryline::tuning::TuningError;
use core::ffi::{CStr, c_int};
use core::fmt;

/// Why a profile was not put in force.
pub(crate) enum Fault {
    /// The file cannot be read, with errno.
    Unreadable(c_int),
    Refused(TuningError),
}

impl Fault {
    /// True if there is no such file.
    pub(crate) fn is_absence(&self) -> bool {
        matches!(self, Fault::Unreadable(libc::ENOENT | libc::ENOTDIR))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Unreadable(libc::ENOENT) => f.write_str("there is no such file"),
            Fault::Unreadable(errno) => write!(f, "the file cannot be read (errno {errno})"),
            Fault::Refused(error) => error.fmt(f),
        }
    }
}

fn errno() -> c_int {
    // SAFETY: the address of this thread's errno is valid.
    unsafe { *libc::__errno_location() }
}

/// Puts the profile in a file in force.
pub(crate) fn apply(path: &CStr) -> Result<(), Fault> {
    // O_NONBLOCK: a pipe without a writer must not block the program.
    let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK;
    // SAFETY: the path ends with NUL.
    let file = unsafe { libc::open(path.as_ptr(), flags) };
    if file < 0 {
        return Err(Fault::Unreadable(errno()));
    }
    let result = apply_open(file);
    // SAFETY: the file was opened above and is used nowhere else.
    unsafe { libc::close(file) };
    result
}

/// Not inlined: most machines have no file, and then no stack space for the buffer is needed.
#[inline(never)]
fn apply_open(file: c_int) -> Result<(), Fault> {
    // One byte more than the largest profile, so that a larger file is detected.
    let mut buffer = [0; MOST_FILE_BYTES + 1];
    let mut len = 0;
    loop {
        let rest = &mut buffer[len..];
        // SAFETY: the file is open, and the rest of the buffer is writable.
        match unsafe { libc::read(file, rest.as_mut_ptr().cast(), rest.len()) } {
            0 => return apply_bytes(&buffer[..len]).map_err(Fault::Refused),
            read @ 1.. => len += read as usize,
            _ if errno() == libc::EINTR => {}
            _ => return Err(Fault::Unreadable(errno())),
        }
    }
}
