//! Hardware counters, if the kernel provides them: core cycles of this thread in user mode.
//!
//! With a counter, cycles are counted (`pmu`); without one they are estimated from ticks and a chain of
//! dependent additions (`est`). Most virtual machines have none; the reason is stored.

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
    /// The reason the kernel provides none, as a sentence.
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
            return Err(reason(error.raw_os_error().unwrap_or(0), &error.to_string()));
        }
        // SAFETY: the kernel has just created the descriptor, and nothing else owns it.
        let file = unsafe { File::from_raw_fd(fd) };
        let mut counter = CycleCounter { file };
        // Some hypervisors allow a counter to be opened that never counts.
        for spin in 0..10_000 {
            std::hint::black_box(spin);
        }
        match counter.read() {
            Ok(0) => Err("the kernel opens a cycle counter, but it does not count".to_owned()),
            Ok(_) => Ok(counter),
            Err(error) => Err(format!("the kernel opens a cycle counter, but it cannot be read: {error}")),
        }
    }

    /// The cycles counted so far.
    ///
    /// # Errors
    /// If the kernel withdraws the counter.
    pub fn read(&mut self) -> std::io::Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact(&mut bytes)?;
        Ok(u64::from_ne_bytes(bytes))
    }
}

/// The meaning of an error of `perf_event_open`, for the user.
fn reason(code: i32, message: &str) -> String {
    match code {
        libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP => {
            "the kernel has no hardware cycle counter here (usual in a virtual machine)".to_owned()
        }
        libc::EACCES | libc::EPERM => {
            let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
            let setting = paranoid.map_or_else(|_| String::new(), |level| format!(" = {}", level.trim()));
            format!("the kernel forbids it (kernel.perf_event_paranoid{setting}, or a sandbox)")
        }
        libc::ENOSYS => "the kernel has no perf events, or a sandbox hides them".to_owned(),
        libc::EBUSY => "another program holds the counters".to_owned(),
        _ => format!("the kernel refuses a cycle counter: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_distinguished() {
        assert!(reason(libc::ENOENT, "").contains("virtual machine"));
        assert!(reason(libc::EACCES, "").contains("perf_event_paranoid"));
        assert!(reason(libc::ENOSYS, "").contains("sandbox"));
        assert!(reason(libc::E2BIG, "Argument list too long").contains("Argument list too long"));
    }

    #[test]
    fn counts_or_has_a_reason() {
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
