//! Which input it was, said also when the process dies of it: a kernel that leaves its buffer ends in SIGSEGV, where
//! nothing can unwind.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// The command that repeats what is under way, up to the input's number.
static COMMAND: AtomicPtr<String> = AtomicPtr::new(std::ptr::null_mut());
/// The input's number, plus one; 0 where the input has none.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// What is under way from here on: inputs of a target, numbered from `first` if they are numbered.
pub fn now(target: &str, origin: &str, first: Option<u64>) {
    let end = if first.is_some() { " --runs 1 --first " } else { "" };
    let command = Box::new(format!("repeat it with: carryline-fuzz {target} {origin}{end}"));
    NUMBER.store(0, Ordering::Relaxed);
    // Never freed, as a signal may be reading it: one line per target.
    COMMAND.store(Box::into_raw(command), Ordering::Release);
    first.inspect(|first| number(*first));
}

/// The number of the input that comes now.
pub fn number(number: u64) {
    NUMBER.store(number.wrapping_add(1), Ordering::Relaxed);
}

/// Says it on standard error, by calls that a signal handler may make.
pub fn print() {
    // SAFETY: null, or a string that `now` made and nobody frees or changes.
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
    // SAFETY: a slice's pointer and length.
    unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
}

/// Has the signals of crashes say it before they end the process.
pub fn listen() {
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT] {
        let handler: extern "C" fn(libc::c_int) = dying;
        // SAFETY: all zero is a valid `sigaction`, whose fields are set before it is used; the handler makes only calls
        // that are allowed in one. It runs once: then the default is back.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as libc::sighandler_t;
            action.sa_flags = libc::SA_RESETHAND;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

extern "C" fn dying(signal: libc::c_int) {
    write(b"\na signal ends this\n");
    print();
    // SAFETY: allowed in a handler. The signal waits until this returns, and then finds the default.
    unsafe { libc::raise(signal) };
}
