//! The shortest system call, and whether a copy of 48 bytes before it is visible.
//!
//! The calls use the instruction itself, so no library can answer from a cached value. For comparison there
//! are the same call through libc, a clock that the kernel provides without being entered (vDSO), the call
//! between fences, and the call after a copy of six arguments, by `rep movsb` and by registers, whose result
//! nothing waits for.

use crate::batches::{Batches, Timed};
use carryline_engine::probe::{Impossible, Probe, Rounds, Setup, Unusable};
use carryline_machine::clock;
use serde::{Deserialize, Serialize};

/// See the module.
pub static PROBE: Probe =
    Probe { name: "syscall", what: "getppid and similar calls, with and without a copy before them", start };

/// The timed calls, in the order of the table.
pub const CALLS: [&str; 9] = [
    "getppid",
    "getpid",
    "getppid through libc",
    "getppid between fences",
    "clock_gettime in the vDSO",
    "rep movsb, then getppid",
    "registers, then getppid",
    "rep movsb alone",
    "registers alone",
];

/// Facts about the process.
#[derive(Serialize, Deserialize)]
pub(super) struct Facts {
    /// Whether the process has a vDSO.
    pub vdso: bool,
    /// Whether the system call agrees with the standard library.
    pub answers_agree: bool,
}

/// Calls per batch, which takes at most some hundreds of microseconds.
const TIMES: u32 = 500;

fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    let (mut all, mut unusable) = (Vec::new(), Vec::new());
    for label in CALLS {
        if label.starts_with("rep movsb") && !cfg!(target_arch = "x86_64") {
            unusable.push(Unusable::new(label, "string instructions are x86-64 code"));
            continue;
        }
        if label == CALLS[0] {
            all.push(series(format!("{label} again"), label));
        }
        all.push(series(label.to_owned(), label));
    }
    // SAFETY: reads this process's auxiliary vector.
    let vdso = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } != 0;
    let answers_agree = parent() == i64::from(std::os::unix::process::parent_id());
    let batches = Batches::new(setup, all).twin(CALLS[0]).without(unusable);
    Ok(Box::new(batches.with_facts(&Facts { vdso, answers_agree })))
}

fn series(title: String, label: &'static str) -> Timed {
    // The copies' buffers: hot, and nothing reads what is copied.
    let (mut to, from) = ([1; 6], [1; 6]);
    Timed::new(title, TIMES, move |times| {
        macro_rules! each {
            ($action:expr) => {
                for _ in 0..times {
                    $action;
                }
            };
        }
        match label {
            "getpid" => each!(raw(libc::SYS_getpid)),
            // SAFETY: has no preconditions and cannot fail.
            "getppid through libc" => each!(unsafe { libc::getppid() }),
            "getppid between fences" => each!({
                clock::fence();
                parent();
                clock::fence();
            }),
            "clock_gettime in the vDSO" => {
                let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
                // SAFETY: writes only the given structure.
                each!(unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) });
            }
            #[cfg(target_arch = "x86_64")]
            "rep movsb, then getppid" => each!({
                by_string(&mut to, &from);
                parent();
            }),
            "registers, then getppid" => each!({
                by_registers(&mut to, &from);
                parent();
            }),
            #[cfg(target_arch = "x86_64")]
            "rep movsb alone" => each!(by_string(&mut to, &from)),
            "registers alone" => each!(by_registers(&mut to, &from)),
            _ => each!(parent()),
        }
    })
}

fn parent() -> i64 {
    raw(libc::SYS_getppid)
}

/// A system call without arguments.
#[inline(always)]
fn raw(number: libc::c_long) -> i64 {
    #[cfg(target_arch = "x86_64")]
    {
        let result: i64;
        // SAFETY: getpid and getppid have no side effects; the instruction clobbers rcx and r11.
        unsafe {
            core::arch::asm!(
                "syscall",
                inlateout("rax") number => result,
                lateout("rcx") _,
                lateout("r11") _,
                options(nostack)
            );
        }
        result
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        // SAFETY: getpid and getppid have no side effects.
        unsafe { libc::syscall(number) as i64 }
    }
}

/// The six arguments of a system call.
type Arguments = [u64; 6];

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn by_string(to: &mut Arguments, from: &Arguments) {
    let bytes = std::hint::black_box(size_of::<Arguments>());
    // SAFETY: two arrays of that many bytes, which are borrowed separately.
    unsafe { crate::small_copy::copies::movsb(to.as_mut_ptr().cast(), from.as_ptr().cast(), bytes) };
}

#[inline(always)]
fn by_registers(to: &mut Arguments, from: &Arguments) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: two arrays of 48 bytes, which are borrowed separately.
    unsafe {
        crate::small_copy::copies::registers_64(to.as_mut_ptr().cast(), from.as_ptr().cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    for (to, from) in to.iter_mut().zip(from) {
        *to = std::hint::black_box(*from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::setup;
    use carryline_verification::status::StatusPage;

    #[test]
    fn calls_reach_the_kernel() {
        assert_eq!(raw(libc::SYS_getpid), i64::from(std::process::id()));
        let status = StatusPage::create().expect("a page");
        let mut rounds = start(&setup(&serde_json::Value::Null, &status)).expect("every machine has them");
        let series = rounds.series();
        for label in CALLS {
            let there = series.iter().any(|one| one.name == label);
            assert!(there || rounds.unusable().iter().any(|unusable| unusable.series == label), "{label}");
        }
        assert_eq!(rounds.twins().len(), 1);
        assert_eq!(rounds.round(&status).expect("a round").len(), series.len());
        let facts: Facts = serde_json::from_value(rounds.facts()).expect("its own");
        assert!(facts.answers_agree);
    }
}
