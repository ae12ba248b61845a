//! The state of a thread of this process: whether it is asleep, and how long it has used or waited for a CPU.
//!
//! Elapsed time is meaningless on a busy machine. A thread that computes for too long, or sleeps when it
//! should compute, is detected by the kernel's accounting.

use std::time::Duration;

/// The observed state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// Whether it waits for something other than a CPU.
    pub asleep: bool,
    /// The CPU time that it has used, in steps of 10 ms.
    pub cpu: Duration,
}

/// The id of the calling thread, for [`look`].
pub(super) fn this_thread() -> i32 {
    // libc's function requires glibc 2.30.
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// Observes a thread of this process; `None` if the system does not report it. It neither allocates nor
/// locks, so signal handlers may call it; it may change `errno`.
pub(super) fn look(thread: i32) -> Option<Seen> {
    let mut path = *b"/proc/self/task/0000000000/stat\0";
    let mut rest = thread.unsigned_abs();
    for digit in path[16..26].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    // The kernel accepts no leading zeros.
    let zeros = path[16..25].iter().take_while(|digit| **digit == b'0').count();
    path.copy_within(16 + zeros.., 16);
    let mut text = [0_u8; 512];
    // SAFETY: a path that ends with a zero byte (the copy preserved the end), and room for the requested
    // bytes; the descriptor is closed again.
    let read = unsafe {
        let file = libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return None;
        }
        let read = libc::read(file, text.as_mut_ptr().cast(), text.len());
        libc::close(file);
        read
    };
    parse(text.get(..usize::try_from(read).ok()?)?)
}

/// How long this thread has been ready to run without a CPU; 0 if the system does not report it.
pub(super) fn waited_for_a_cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').nth(1).and_then(|nanoseconds| nanoseconds.parse().ok()).unwrap_or(0))
}

fn parse(text: &[u8]) -> Option<Seen> {
    // The name, in parentheses, may contain anything.
    let fields = &text[text.iter().rposition(|byte| *byte == b')')? + 1..];
    let mut fields = fields.split(|byte| *byte == b' ').filter(|field| !field.is_empty());
    let asleep = fields.next()? == b"S";
    let number = |field: &[u8]| {
        field.iter().try_fold(0_u64, |number, digit| match digit {
            b'0'..=b'9' => Some(number * 10 + u64::from(digit - b'0')),
            _ => None,
        })
    };
    // The state is the third field; user and system time are the 14th and the 15th, in hundredths of a
    // second.
    let ticks = number(fields.nth(10)?)? + number(fields.next()?)?;
    Some(Seen { asleep, cpu: Duration::from_millis(ticks * 10) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_lines_parse() {
        let line = b"77 (a) b) S 1 77 77 0 -1 4194304 90 0 0 0 12 3 0 0 20 0 1 0 5 1 2 3";
        assert_eq!(parse(line), Some(Seen { asleep: true, cpu: Duration::from_millis(150) }));
        assert_eq!(parse(b"77 (a"), None);
    }

    #[test]
    fn running_threads_are_not_asleep() {
        let seen = look(this_thread()).expect("this thread");
        assert!(!seen.asleep);
        assert_eq!(look(i32::MAX), None);
    }
}
