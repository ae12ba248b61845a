//! Hardware counters, where the kernel offers them: core cycles of this thread in user mode.
//!
//! With a counter, cycles are counted (`pmu`); without one they are estimated from ticks and a chain of dependent
//! additions (`est`). Most virtual machines offer none, and the reason is kept for the reader.

use perf_event_open_sys as sys;
use std::fs::File;
use std::io::Read;
use std::os::fd::FromRawFd;

/// A running counter of this thread's core cycles in user mode.
#[derive(Debug)]
pub struct CycleCounter {
    file: File,
}

impl CycleCounter {
    /// Opens and starts the counter.
    ///
    /// # Errors
    /// Why the kernel offers none, as a sentence.
    pub fn open() -> Result<CycleCounter, String> {
        let mut attributes = sys::bindings::perf_event_attr {
            size: size_of::<sys::bindings::perf_event_attr>() as u32,
            type_: sys::bindings::PERF_TYPE_HARDWARE,
            config: u64::from(sys::bindings::PERF_COUNT_HW_CPU_CYCLES),
            ..Default::default()
        };
        attributes.set_exclude_kernel(1);
        attributes.set_exclude_hv(1);
        // SAFETY: the attributes live through the call; this thread, any CPU, no group, close on exec.
        let fd = unsafe {
            sys::perf_event_open(
                &raw mut attributes,
                0,
                -1,
                -1,
                u64::from(sys::bindings::PERF_FLAG_FD_CLOEXEC) as _,
            )
        };
        if fd < 0 {
            let error = std::io::Error::last_os_error();
            return Err(match error.raw_os_error() {
                Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
                    "the CPU's counters are not visible here (usual in virtual machines)".to_owned()
                }
                Some(libc::EACCES | libc::EPERM) => {
                    "the kernel forbids it (see /proc/sys/kernel/perf_event_paranoid)".to_owned()
                }
                Some(libc::ENOSYS) => "the kernel is built without perf events".to_owned(),
                _ => format!("perf_event_open: {error}"),
            });
        }
        // SAFETY: a descriptor that the kernel just made and that nothing else owns.
        let file = unsafe { File::from_raw_fd(fd) };
        let mut counter = CycleCounter { file };
        counter.read().map_err(|error| format!("the counter cannot be read: {error}"))?;
        Ok(counter)
    }

    /// Cycles counted so far.
    ///
    /// # Errors
    /// When the kernel withdraws the counter.
    pub fn read(&mut self) -> std::io::Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact(&mut bytes)?;
        Ok(u64::from_ne_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_or_says_why_not() {
        match CycleCounter::open() {
            Ok(mut counter) => {
                let before = counter.read().expect("a counter that opened");
                let _ = crate::clock::cycle_chain_ticks();
                assert!(counter.read().expect("a counter that opened") > before);
            }
            Err(reason) => assert!(reason.len() > 10, "{reason}"),
        }
    }
}
