//! Prints which input is running, even if a signal ends the process: a kernel that accesses memory outside
//! its buffer causes SIGSEGV, which cannot unwind.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// The command that repeats the current input, up to the input's number.
static COMMAND: AtomicPtr<String> = AtomicPtr::new(std::ptr::null_mut());
/// The input's number plus one; 0 if it has none.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Sets the command for the inputs that follow: those of a target, numbered from `first` if they are
/// numbered.
pub fn set_command(target: &str, origin: &str, first: Option<u64>) {
    let end = if first.is_some() { " --runs 1 --first " } else { "" };
    let command = Box::new(format!("repeat it with: carryline-fuzz {target} {origin}{end}"));
    NUMBER.store(0, Ordering::Relaxed);
    // Never freed, because a signal handler may be reading it: one string per target.
    COMMAND.store(Box::into_raw(command), Ordering::Release);
    first.inspect(|first| set_number(*first));
}

/// Sets the number of the next input.
pub fn set_number(number: u64) {
    NUMBER.store(number.wrapping_add(1), Ordering::Relaxed);
}

/// Prints the command to standard error with async-signal-safe calls.
pub fn print() {
    // SAFETY: null, or a string made by `set_command`, which is never freed or changed.
    let Some(command) = (unsafe { COMMAND.load(Ordering::Acquire).as_ref() }) else { return };
    write(command.as_bytes());
    let mut digits = [b'\n'; 21];
    let (mut from, number) = (20, NUMBER.load(Ordering::Relaxed));
    if number > 0 {
        let mut left = number - 1;
        loop {
            from -= 1;
            digits[from] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                break;
            }
        }
    }
    write(&digits[from..]);
}

fn write(bytes: &[u8]) {
    // SAFETY: the pointer and length are those of a slice.
    unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
}

/// Installs handlers that print the command before a signal ends the process.
pub fn install_handlers() {
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT] {
        let handler: extern "C" fn(libc::c_int) = on_signal;
        // SAFETY: all zeros is a valid `sigaction`, whose fields are set before it is used. The handler makes
        // only async-signal-safe calls, and runs once: SA_RESETHAND restores the default.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as libc::sighandler_t;
            action.sa_flags = libc::SA_RESETHAND;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

extern "C" fn on_signal(signal: libc::c_int) {
    write(b"\nended by a signal\n");
    print();
    // SAFETY: raise is async-signal-safe. The signal is blocked until this returns, and then has the default
    // action.
    unsafe { libc::raise(signal) };
}
