//! Whether the kernel lets a thread count its own core cycles.

/// Opens a cycle counter for the calling thread, counts a little, and closes it again.
///
/// # Errors
/// Why there is none, in words for the user.
#[cfg(target_os = "linux")]
pub fn counters_available() -> Result<(), String> {
    use perf_event_open_sys::{bindings, perf_event_open};
    use std::io::Read;
    use std::os::fd::FromRawFd;

    let mut attributes = bindings::perf_event_attr {
        type_: bindings::PERF_TYPE_HARDWARE,
        config: u64::from(bindings::PERF_COUNT_HW_CPU_CYCLES),
        size: size_of::<bindings::perf_event_attr>() as u32,
        ..Default::default()
    };
    attributes.set_exclude_kernel(1);
    attributes.set_exclude_hv(1);
    // SAFETY: the attributes are initialised and outlive the call, which reads `size` bytes of them; pid 0 and cpu -1
    // are the calling thread on any CPU; there is no group (-1).
    let fd = unsafe {
        perf_event_open(&mut attributes, 0, -1, -1, bindings::PERF_FLAG_FD_CLOEXEC as std::ffi::c_ulong)
    };
    if fd < 0 {
        let error = std::io::Error::last_os_error();
        return Err(reason(error.raw_os_error().unwrap_or(0), &error.to_string()));
    }
    // SAFETY: the call has just returned this descriptor, and nobody else has it.
    let mut counter = unsafe { std::fs::File::from_raw_fd(fd) };
    for spin in 0..10_000 {
        std::hint::black_box(spin);
    }
    let mut count = [0; 8];
    match counter.read_exact(&mut count) {
        Ok(()) if u64::from_ne_bytes(count) > 0 => Ok(()),
        Ok(()) => Err("the kernel opens a cycle counter, but it does not count".to_owned()),
        Err(error) => Err(format!("the kernel opens a cycle counter, but it cannot be read: {error}")),
    }
}

/// Opens a cycle counter for the calling thread; there is no way here.
///
/// # Errors
/// Always: hardware counters are read through Linux' perf events.
#[cfg(not(target_os = "linux"))]
pub fn counters_available() -> Result<(), String> {
    Err("hardware counters are read through Linux' perf events".to_owned())
}

/// What an error of `perf_event_open` means to a user.
#[cfg(target_os = "linux")]
fn reason(code: i32, message: &str) -> String {
    match code {
        libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP => {
            "the kernel has no hardware cycle counter here (usual in a virtual machine)".to_owned()
        }
        libc::EACCES | libc::EPERM => {
            let paranoid = super::line("/proc/sys/kernel/perf_event_paranoid");
            let setting = paranoid.map_or_else(String::new, |level| format!(" = {level}"));
            format!("the kernel forbids it (kernel.perf_event_paranoid{setting}, or a sandbox)")
        }
        libc::ENOSYS => "the kernel has no perf events, or a sandbox hides them".to_owned(),
        libc::EBUSY => "another program holds the counters".to_owned(),
        _ => format!("the kernel refuses a cycle counter: {message}"),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_the_same_twice_and_never_without_a_reason() {
        let first = counters_available();
        assert_eq!(first.is_ok(), counters_available().is_ok());
        assert_ne!(first.err().as_deref(), Some(""));
    }

    #[test]
    fn refusals_are_told_apart() {
        assert!(reason(libc::ENOENT, "").contains("virtual machine"));
        assert!(reason(libc::EACCES, "").contains("perf_event_paranoid"));
        assert!(reason(libc::ENOSYS, "").contains("sandbox"));
        assert!(reason(libc::E2BIG, "Argument list too long").contains("Argument list too long"));
    }
}
