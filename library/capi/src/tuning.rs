//! Profiles: the decisions that depend on the CPU model.

use carryline::internals::tuning::{MOST_FILE_BYTES, apply_bytes};
use core::ffi::{CStr, c_char, c_int};
use core::fmt::{self, Write};

/// Puts the profile in a file in force: [`carryline::tuning::apply`]. If it is rejected, the previous profile
/// stays in force and the reason is written to `message`: at most `message_size` bytes, including the NUL at
/// its end.
///
/// # Safety
/// `path` must be null or point to a string that ends with NUL. `message` must be valid for writes of
/// `message_size` bytes; with `message_size` 0 it may be any pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_tuning_load(
    path: *const c_char,
    message: *mut c_char,
    message_size: usize,
) -> bool {
    let mut out = Message { to: message.cast(), left: message_size };
    let result = if path.is_null() {
        out.write_str("the path is null")
    } else {
        // SAFETY: by contract, the path ends with NUL if it is not null.
        let path = unsafe { CStr::from_ptr(path) };
        let mut buffer = [0; MOST_FILE_BYTES + 1];
        match read(path, &mut buffer).map(apply_bytes) {
            Ok(Ok(())) => {
                out.end();
                return true;
            }
            Ok(Err(error)) => write!(out, "{error}"),
            Err(errno) => out.write_error(errno),
        }
    };
    // A truncated message is no error.
    let _ = result;
    out.end();
    false
}

/// Writes as much of a text as fits into the caller's memory.
struct Message {
    to: *mut u8,
    /// The number of bytes that may be written from `to`, one of which is for the NUL.
    left: usize,
}

impl Message {
    /// Writes the C library's description of an error.
    fn write_error(&mut self, errno: c_int) -> fmt::Result {
        let mut text = [0; 128];
        if errno == 0 {
            return self.write_str("the file cannot be read");
        }
        // SAFETY: the buffer is writable for its length; the function writes a NUL at the end.
        unsafe { libc::strerror_r(errno, text.as_mut_ptr().cast(), text.len()) };
        let text = CStr::from_bytes_until_nul(&text).ok().and_then(|text| text.to_str().ok());
        self.write_str(text.unwrap_or("the file cannot be read"))
    }

    /// Writes the NUL at the end.
    fn end(&mut self) {
        if self.left > 0 {
            // SAFETY: at least one byte may be written.
            unsafe { self.to.write(0) };
        }
    }
}

impl Write for Message {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut len = text.len().min(self.left.saturating_sub(1));
        while !text.is_char_boundary(len) {
            len -= 1;
        }
        // SAFETY: `len` bytes are readable, and writable at `to`, because `len` is less than `left` or 0. The
        // caller's memory does not overlap our text. The rest of it begins after these bytes.
        unsafe {
            carryline::copy::bytes_raw(self.to, text.as_ptr(), len);
            self.to = self.to.add(len);
        }
        self.left -= len;
        if len < text.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

/// The error of the last system call; 0 if it is unknown.
fn errno() -> c_int {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: the address of this thread's errno is valid.
        unsafe { *libc::__errno_location() }
    }
    #[cfg(not(target_os = "linux"))]
    {
        0
    }
}

/// The bytes of a file, as many as fit into the buffer; fails with errno.
fn read<'a>(path: &CStr, buffer: &'a mut [u8]) -> Result<&'a [u8], c_int> {
    // A pipe without a writer must not block the program; it is empty.
    let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK;
    // SAFETY: the path ends with NUL.
    let file = unsafe { libc::open(path.as_ptr(), flags) };
    if file < 0 {
        return Err(errno());
    }
    let mut len = 0;
    let result = loop {
        let rest = &mut buffer[len..];
        // SAFETY: the file is open, and the rest of the buffer is writable.
        match unsafe { libc::read(file, rest.as_mut_ptr().cast(), rest.len()) } {
            0 => break Ok(()),
            read @ 1.. => len += read as usize,
            _ if errno() == libc::EINTR => {}
            _ => break Err(errno()),
        }
    };
    // SAFETY: the file was opened above and is used nowhere else.
    unsafe { libc::close(file) };
    result.map(|()| &buffer[..len])
}
