//! Memory, kernel, C library, load and build.

use super::load::busy_cpus;
use super::{line, number};
use crate::arena::page_bytes;
use crate::c_library::{self, RepThresholds};
use object::Object;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Main memory and how it is mapped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The memory of the machine.
    pub total_bytes: u64,
    /// The memory that this process can still get: free or reclaimable, within the limits of its control
    /// groups and its address space.
    pub available_bytes: u64,
    /// The size of a base page.
    pub page_bytes: u64,
    /// The setting for transparent huge pages: `always`, `madvise`, `never`.
    pub transparent_huge_pages: Option<String>,
}

impl Memory {
    pub(super) fn here() -> Memory {
        let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let kib = |key| super::cpu::value_in(&meminfo, key).and_then(|value| kib_in(&value));
        let info = rustix::system::sysinfo();
        let physical = info.totalram as u64 * u64::from(info.mem_unit);
        let total_bytes = kib("MemTotal").unwrap_or(physical);
        let free = kib("MemAvailable").or_else(|| kib("MemFree")).unwrap_or(total_bytes);
        let within_groups = left_in_groups(&groups(), Path::new(GROUPS)).unwrap_or(u64::MAX);
        let within_space = left_in_address_space().unwrap_or(u64::MAX);
        let page_bytes = page_bytes() as u64;
        let huge = line("/sys/kernel/mm/transparent_hugepage/enabled");
        Memory {
            total_bytes,
            available_bytes: free.min(within_groups).min(within_space).min(total_bytes),
            page_bytes,
            transparent_huge_pages: huge.and_then(|setting| chosen(&setting)),
        }
    }
}

/// The mount point of control groups.
const GROUPS: &str = "/sys/fs/cgroup";

/// The control groups of this process.
fn groups() -> String {
    std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default()
}

/// `16384 kB` in bytes.
fn kib_in(value: &str) -> Option<u64> {
    value.strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The word in brackets, as in `always [madvise] never`.
fn chosen(setting: &str) -> Option<String> {
    Some(setting.split_once('[')?.1.split_once(']')?.0.to_owned())
}

/// The memory left in the control groups of `/proc/self/cgroup`, including all ancestors; `None` without a
/// limit. Cached files count as used, but the kernel evicts them before it refuses memory.
fn left_in_groups(groups: &str, root: &Path) -> Option<u64> {
    let left = group_folders(groups, root, "memory").into_iter().filter_map(|(folder, version)| {
        let (limit, usage, cached) = match version {
            Version::Two => ("memory.max", "memory.current", ["inactive_file", "active_file"]),
            Version::One => (
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                ["total_inactive_file", "total_active_file"],
            ),
        };
        let read = |name: &str| number(&folder.join(name).to_string_lossy());
        let limit = read(limit)?;
        let statistics = line(&folder.join("memory.stat").to_string_lossy()).unwrap_or_default();
        let cached: u64 = cached.iter().filter_map(|key| statistic(&statistics, key)).sum();
        Some(limit.saturating_sub(read(usage).unwrap_or(0).saturating_sub(cached)))
    });
    left.min()
}

/// A value from `key value` lines.
fn statistic(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

/// The address space left by `ulimit -v`; `None` without a limit.
fn left_in_address_space() -> Option<u64> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current?;
    let pages: u64 = line("/proc/self/statm")?.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(pages.saturating_mul(page_bytes() as u64)))
}

/// Kernel, C library, load and permissions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct System {
    /// The kernel release.
    pub kernel: String,
    /// The C library with its version, such as `glibc 2.36`.
    pub libc: String,
    /// Its thresholds for string instructions; `None` in results stored before they were recorded.
    #[serde(default)]
    pub rep_thresholds: Option<RepThresholds>,
    /// The mean number of runnable processes over the last minute.
    pub load_average: Option<f64>,
    /// The CPUs that other processes kept busy at the start; `None` if the load average is low, or not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_cpus: Option<f64>,
    /// Why a thread cannot be pinned to a CPU; `None` if it can.
    pub no_pinning: Option<String>,
    /// The CPU time that the control group allows, in CPUs; `None` without a limit.
    pub cpu_quota: Option<f64>,
}

impl System {
    /// `cpus` is the number of logical CPUs.
    pub(super) fn here(cpus: u32) -> System {
        let load = line("/proc/loadavg");
        let load_average = load.and_then(|load| load.split_whitespace().next()?.parse().ok());
        System {
            // Only the release: other fields of uname contain the host name.
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
            libc: libc_name(),
            rep_thresholds: Some(c_library::here().clone()),
            load_average,
            busy_cpus: load_average.filter(|load| is_high(*load, cpus)).and_then(|_| busy_cpus()),
            no_pinning: may_pin().err(),
            cpu_quota: cpu_quota(&groups(), Path::new(GROUPS)),
        }
    }
}

/// Other processes that keep fewer CPUs busy than this are the usual background.
const BACKGROUND_CPUS: f64 = 0.25;

/// True for a load average above half of the CPUs. One of 1 may be this process itself.
fn is_high(load_average: f64, cpus: u32) -> bool {
    load_average > 0.5 * f64::from(cpus).max(2.0)
}

impl System {
    /// The load average if it is high and other processes still run. Results stored before their CPUs were counted have
    /// the load average alone.
    #[must_use]
    pub fn other_load(&self, cpus: u32) -> Option<f64> {
        let load = self.load_average.filter(|load| is_high(*load, cpus))?;
        self.busy_cpus.is_none_or(|busy| busy >= BACKGROUND_CPUS).then_some(load)
    }
}

/// Tests whether the calling thread may choose its CPUs by requesting those that it already has.
///
/// # Errors
/// The reason it may not.
pub fn may_pin() -> Result<(), String> {
    let allowed = rustix::thread::sched_getaffinity(None)
        .map_err(|error| format!("the kernel does not report the allowed CPUs: {error}"))?;
    rustix::thread::sched_setaffinity(None, &allowed)
        .map_err(|error| format!("the kernel does not allow pinning: {error}"))
}

/// The CPU time allowed by the control groups of `/proc/self/cgroup`, in CPUs, including all ancestors;
/// `None` without a limit.
fn cpu_quota(groups: &str, root: &Path) -> Option<f64> {
    let quotas = group_folders(groups, root, "cpu").into_iter().filter_map(|(folder, version)| {
        let read = |name: &str| line(&folder.join(name).to_string_lossy());
        // One file in version 2; two in version 1, where -1 is no limit.
        let (quota, period) = match version {
            Version::Two => {
                let text = read("cpu.max")?;
                let (quota, period) = text.split_once(' ')?;
                (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?)
            }
            Version::One => {
                (read("cpu.cfs_quota_us")?.parse().ok()?, read("cpu.cfs_period_us")?.parse().ok()?)
            }
        };
        (quota > 0.0 && period > 0.0).then_some(quota / period)
    });
    quotas.reduce(f64::min)
}

/// The versions of control groups, whose files have different names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// The folders of the groups in `/proc/self/cgroup` for a controller, with all ancestors below `root`. In a
/// container the path may be outside of the mount; the mount itself is then the group.
fn group_folders(groups: &str, root: &Path, controller: &str) -> Vec<(PathBuf, Version)> {
    let mut folders = Vec::new();
    for entry in groups.lines() {
        let mut fields = entry.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (root, version) = if controllers.is_empty() {
            (root.to_owned(), Version::Two)
        } else if controllers.split(',').any(|known| known == controller) {
            (root.join(controller), Version::One)
        } else {
            continue;
        };
        let own = root.join(path.trim_start_matches('/'));
        let within = own.ancestors().take_while(|folder| folder.starts_with(&root));
        folders.extend(within.map(|folder| (folder.to_owned(), version)));
    }
    folders
}

/// The C library with its version, such as `glibc 2.36`.
#[cfg(target_env = "gnu")]
#[must_use]
pub fn libc_name() -> String {
    // SAFETY: the function takes no arguments and returns a static string with a terminator.
    let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    format!("glibc {}", version.to_string_lossy())
}

/// The C library, without a version.
#[cfg(not(target_env = "gnu"))]
#[must_use]
pub fn libc_name() -> String {
    if cfg!(target_env = "musl") { "musl".to_owned() } else { "unknown".to_owned() }
}

/// The build of this program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The version of carryline.
    pub version: String,
    /// The output of `rustc -V`.
    pub compiler: String,
    /// `release` or `debug`.
    pub profile: String,
    /// The optimisation level: `0` to `3`, `s`, `z`.
    pub opt_level: String,
    /// The target triple.
    pub target: String,
    /// True if debug assertions are compiled in.
    pub debug_assertions: bool,
    /// The build ID of this program in hexadecimal; `None` if the linker did not add one.
    #[serde(default)]
    pub id: Option<String>,
}

impl Build {
    pub(super) fn here() -> Build {
        Build {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            compiler: env!("CARRYLINE_COMPILER").to_owned(),
            profile: env!("CARRYLINE_PROFILE").to_owned(),
            opt_level: env!("CARRYLINE_OPT_LEVEL").to_owned(),
            target: env!("CARRYLINE_TARGET").to_owned(),
            debug_assertions: cfg!(debug_assertions),
            id: id_of_this_program(),
        }
    }
}

/// The build ID in this program's file, which differs between builds of different code.
fn id_of_this_program() -> Option<String> {
    // This link leads to the running file even if another has its path by now.
    let file = std::fs::File::open("/proc/self/exe").ok()?;
    let cache = object::ReadCache::new(file);
    let program = object::File::parse(&cache).ok()?;
    let id = program.build_id().ok()??;
    Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The time that a hypervisor gave to other guests while a CPU of this machine had work, since boot. The
/// difference between two readings shows whether a run was disturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steal {
    /// Stolen time, in ticks of the kernel's user interface (usually 10 ms).
    pub stolen_ticks: u64,
    /// The time of all CPUs, including idle time, in the same ticks.
    pub all_ticks: u64,
}

impl Steal {
    /// Reads `/proc/stat`; `None` if it does not report stolen time.
    #[must_use]
    pub fn now() -> Option<Steal> {
        Steal::in_stat(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    fn in_stat(stat: &str) -> Option<Steal> {
        let fields = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        // user nice system idle iowait irq softirq steal. Guest time is included in user time.
        let ticks: Vec<u64> =
            fields.split_whitespace().take(8).map_while(|field| field.parse().ok()).collect();
        (ticks.len() == 8).then(|| Steal { stolen_ticks: ticks[7], all_ticks: ticks.iter().sum() })
    }

    /// The fraction of the machine's time that was stolen since an earlier reading; 0 if no time has passed.
    #[must_use]
    pub fn share_since(&self, earlier: &Steal) -> f64 {
        let stolen = self.stolen_ticks.saturating_sub(earlier.stolen_ticks);
        let all = self.all_ticks.saturating_sub(earlier.all_ticks);
        if all == 0 { 0.0 } else { (stolen as f64 / all as f64).min(1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_kernel_are_parsed() {
        assert_eq!(kib_in("16384 kB"), Some(16 << 20));
        assert_eq!(kib_in("16384"), None);
        assert_eq!(chosen("always [madvise] never"), Some("madvise".to_owned()));
        assert_eq!(chosen("always"), None);
    }

    #[test]
    fn stolen_time_is_parsed_and_compared() {
        let stat = |user: u64, steal: u64| format!("cpu  {user} 0 40 200 5 0 1 {steal} 7 0\ncpu0 1 2 3\n");
        let before = Steal::in_stat(&stat(100, 10)).expect("a reading");
        let after = Steal::in_stat(&stat(190, 20)).expect("a reading");
        assert_eq!(before, Steal { stolen_ticks: 10, all_ticks: 356 });
        assert!((after.share_since(&before) - 0.1).abs() < 1e-12);
        assert_eq!(before.share_since(&after), 0.0);
        assert_eq!(Steal::in_stat("cpu  1 2 3\n"), None);
        assert_eq!(Steal::in_stat("intr 5\n"), None);
        assert!(Steal::now().is_some_and(|steal| steal.all_ticks >= steal.stolen_ticks));
    }

    #[test]
    fn the_tightest_group_limits_memory() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("written");
        };
        assert_eq!(left_in_groups("0::/a/b\n", root.path()), None);
        write("a/memory.max", "1000\n");
        write("a/memory.current", "400\n");
        write("a/b/memory.max", "max\n");
        assert_eq!(left_in_groups("0::/a/b\n", root.path()), Some(600));
        write("a/memory.stat", "anon 100\nfile 250\ninactive_file 200\nactive_file 50\n");
        assert_eq!(left_in_groups("0::/a/b\n", root.path()), Some(850), "cached files can be evicted");
        write("memory/c/memory.limit_in_bytes", "500\n");
        assert_eq!(left_in_groups("4:memory:/c\n3:cpuset:/\n0::/a/b\n", root.path()), Some(500));
    }

    #[test]
    fn the_tightest_group_limits_cpu_time_in_both_versions() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("written");
        };
        let nested = "5:cpu,cpuacct:/outer/inner\n";
        assert_eq!(cpu_quota(nested, root.path()), None);
        for folder in ["cpu", "cpu/outer", "cpu/outer/inner"] {
            write(&format!("{folder}/cpu.cfs_quota_us"), "-1\n");
            write(&format!("{folder}/cpu.cfs_period_us"), "100000\n");
        }
        assert_eq!(cpu_quota(nested, root.path()), None, "-1 is no limit");
        write("cpu/outer/inner/cpu.cfs_quota_us", "150000\n");
        assert_eq!(cpu_quota(nested, root.path()), Some(1.5));
        write("cpu/outer/cpu.cfs_quota_us", "50000\n");
        assert_eq!(cpu_quota(nested, root.path()), Some(0.5), "an ancestor's limit applies too");
        let second = "0::/a/b\n";
        write("a/b/cpu.max", "max 100000\n");
        assert_eq!(cpu_quota(second, root.path()), None);
        write("a/cpu.max", "25000 100000\n");
        assert_eq!(cpu_quota(second, root.path()), Some(0.25));
    }

    #[test]
    fn testing_for_pinning_changes_nothing() {
        let before = rustix::thread::sched_getaffinity(None).expect("an affinity");
        assert_eq!(may_pin(), Ok(()));
        assert_eq!(rustix::thread::sched_getaffinity(None).expect("an affinity"), before);
    }
}
