//! The C library of worker processes: as installed, or with raised thresholds for string instructions.
//!
//! glibc reads `GLIBC_TUNABLES` only when a process starts. Rows that end in `_no_rep` are therefore verified
//! and timed in workers started with the variable, and all other rows that call the C library in workers
//! without it; see `c_library` in `carryline-variants`. The user's own settings stay in effect in both,
//! except for the two thresholds.

use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// The environment variable that glibc reads.
pub const TUNABLES_VARIABLE: &str = "GLIBC_TUNABLES";
/// glibc's name of the threshold for `rep movsb`.
pub const MOVSB: &str = "glibc.cpu.x86_rep_movsb_threshold";
/// glibc's name of the threshold for `rep stosb`.
pub const STOSB: &str = "glibc.cpu.x86_rep_stosb_threshold";
/// A threshold above the size of any call. Not more than 32 bits: glibc 2.39 keeps its threshold for `rep movsb`
/// in so many while it starts (`sysdeps/x86/dl-cacheinfo.h`). Of `1 << 62` it kept 0, and copied everything above
/// 128 bytes by `rep movsb`.
pub const NEVER: u64 = u32::MAX as u64;

/// The C library's thresholds for `rep movsb` and `rep stosb`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepThresholds {
    /// The size in bytes from which copies may use `rep movsb`; `None` if unknown.
    pub movsb: Option<u64>,
    /// The size in bytes from which fills may use `rep stosb`; `None` if unknown.
    pub stosb: Option<u64>,
    /// Why they cannot be raised; `None` if they can.
    pub not_raised: Option<String>,
    /// `GLIBC_TUNABLES` as set by the user.
    pub glibc_tunables: Option<String>,
}

/// The thresholds of this machine's C library, determined once.
pub fn here() -> &'static RepThresholds {
    static HERE: OnceLock<RepThresholds> = OnceLock::new();
    HERE.get_or_init(|| {
        let variable = std::env::var(TUNABLES_VARIABLE).ok().filter(|text| !text.is_empty());
        RepThresholds { glibc_tunables: variable, ..RepThresholds::of(listing()) }
    })
}

impl RepThresholds {
    /// Parses the output of `ld.so --list-tunables`, or takes the reason there is none.
    fn of(listing: Result<String, String>) -> RepThresholds {
        let read = listing.and_then(|text| Ok((tunable(&text, MOVSB)?, tunable(&text, STOSB)?)));
        match read {
            Err(reason) => RepThresholds { not_raised: Some(reason), ..RepThresholds::default() },
            Ok((movsb, stosb)) => {
                let most = movsb.most.min(stosb.most);
                let too_low =
                    || format!("its thresholds for rep movsb and rep stosb are limited to {most} bytes");
                RepThresholds {
                    movsb: Some(movsb.value),
                    stosb: Some(stosb.value),
                    not_raised: (most < NEVER).then(too_low),
                    glibc_tunables: None,
                }
            }
        }
    }

    /// A sentence about the C library called `libc` and the rows that it supports.
    #[must_use]
    pub fn sentence(&self, libc: &str) -> String {
        let own = self.glibc_tunables.as_ref().map_or(String::new(), |variable| {
            format!(" GLIBC_TUNABLES is set ({variable}); 'as installed' includes it.")
        });
        let text = match (&self.not_raised, self.movsb, self.stosb) {
            (None, Some(movsb), Some(stosb)) => format!(
                "The C library is {libc}; its thresholds ({movsb} bytes for rep movsb, {stosb} for rep stosb) can be \
                 raised by GLIBC_TUNABLES, so it is measured both as installed and, in the rows named ..._no_rep, with \
                 both disabled."
            ),
            (reason, ..) => format!(
                "The C library is {libc}, measured only as installed; the rows named ..._no_rep are unsupported: {}.",
                reason.as_deref().unwrap_or("its thresholds are not known")
            ),
        };
        text + &own
    }
}

/// The value of `GLIBC_TUNABLES` that raises the thresholds and keeps the user's other settings.
#[must_use]
pub fn raising(variable: Option<&str>) -> String {
    setting(variable, &[(MOVSB, NEVER), (STOSB, NEVER)])
}

/// The value of `GLIBC_TUNABLES` that sets these tunables and keeps the user's other settings.
///
/// ```
/// use carryline_machine::c_library::setting;
/// let own = Some("glibc.malloc.check=3:glibc.cpu.x86_non_temporal_threshold=4096");
/// let set = setting(own, &[("glibc.cpu.x86_non_temporal_threshold", 65_536)]);
/// assert_eq!(set, "glibc.malloc.check=3:glibc.cpu.x86_non_temporal_threshold=65536");
/// ```
#[must_use]
pub fn setting(variable: Option<&str>, tunables: &[(&str, u64)]) -> String {
    let is_set = |setting: &&str| tunables.iter().any(|(name, _)| setting.split('=').next() == Some(*name));
    let others = variable.unwrap_or("").split(':').filter(|setting| !setting.is_empty() && !is_set(setting));
    let settings =
        others.map(str::to_owned).chain(tunables.iter().map(|(name, value)| format!("{name}={value}")));
    settings.collect::<Vec<_>>().join(":")
}

/// A tunable of the C library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tunable {
    /// Its value in this process.
    pub value: u64,
    /// The smallest allowed value.
    pub least: u64,
    /// The largest allowed value.
    pub most: u64,
}

impl Tunable {
    /// True for a value that the C library accepts.
    #[must_use]
    pub const fn contains(&self, value: u64) -> bool {
        self.least <= value && value <= self.most
    }
}

/// The tunables with these names, in order; `None` for those that this C library does not have.
///
/// # Errors
/// The reason the C library cannot be queried.
pub fn tunables(names: &[&str]) -> Result<Vec<Option<Tunable>>, String> {
    let text = listing()?;
    Ok(names.iter().map(|name| tunable(&text, name).ok()).collect())
}

/// Parses a line such as `NAME: 0x840 (min: 0x200, max: 0xffffffffffffffff)`.
fn tunable(listing: &str, name: &str) -> Result<Tunable, String> {
    let line = listing.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let line = line.ok_or_else(|| format!("it has no tunable {name}"))?;
    let read = || {
        let (value, rest) = line.split_once(' ')?;
        let (least, most) = rest.strip_prefix("(min: ")?.split_once(", max: ")?;
        Some(Tunable { value: number(value)?, least: number(least)?, most: number(most.strip_suffix(')')?)? })
    };
    read().ok_or_else(|| format!("it lists {name} in an unknown format: '{line}'"))
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The list of tunables from the dynamic linker of this process.
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
fn listing() -> Result<String, String> {
    use std::process::{Command, Stdio};
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let linker = linker(&maps).ok_or("this process has no dynamic linker to query")?;
    let asked =
        Command::new(linker).arg("--list-tunables").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = asked.map_err(|error| format!("{linker} cannot be queried for its tunables: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{linker} does not list its tunables; glibc does from 2.33 on")),
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")))]
fn listing() -> Result<String, String> {
    Err("only glibc on x86-64 has such thresholds".to_owned())
}

/// The dynamic linker among the mapped files of a process.
#[cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")),
    allow(dead_code, reason = "other C libraries are not queried")
)]
fn linker(maps: &str) -> Option<&str> {
    let mut files =
        maps.lines().filter_map(|line| line.split_once('/').map(|(before, _)| &line[before.len()..]));
    files.find(|file| file.rsplit('/').next().is_some_and(|name| name.starts_with("ld-")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "glibc.rtld.nns: 0x4 (min: 0x1, max: 0x10)\n\
        glibc.cpu.x86_rep_movsb_threshold: 0x840 (min: 0x200, max: 0xffffffffffffffff)\n\
        glibc.cpu.x86_rep_stosb_threshold: 0x800 (min: 0x1, max: 0xffffffffffffffff)\n";

    #[test]
    fn the_linkers_list_is_parsed() {
        let seen = RepThresholds::of(Ok(LISTING.to_owned()));
        assert_eq!((seen.movsb, seen.stosb, seen.not_raised.clone()), (Some(0x840), Some(0x800), None));
        let sentence = seen.sentence("glibc 2.36");
        assert!(sentence.contains("glibc 2.36; its thresholds (2112 bytes for rep movsb"), "{sentence}");
    }

    #[test]
    fn a_library_without_the_tunables_is_measured_only_as_installed() {
        let without = |text: &str| RepThresholds::of(Ok(text.to_owned()));
        let older = without("glibc.malloc.check: 0 (min: 0, max: 3)\n");
        let sentence = older.sentence("glibc 2.31");
        assert!(sentence.contains("unsupported: it has no tunable glibc.cpu.x86_rep_movsb"), "{sentence}");
        let low = without(&LISTING.replace("0xffffffffffffffff", "0x100000"));
        assert!(low.not_raised.is_some_and(|reason| reason.contains("1048576")));
        let odd = without(&LISTING.replace("max: ", "up to "));
        assert!(odd.not_raised.is_some_and(|reason| reason.contains("unknown format")));
        let musl = RepThresholds::of(Err("only glibc on x86-64 has such thresholds".to_owned()));
        assert!(musl.sentence("musl").starts_with("The C library is musl, measured only as installed;"));
    }

    #[test]
    fn settings_of_the_user_are_kept() {
        let ours = format!("{MOVSB}={NEVER}:{STOSB}={NEVER}");
        assert_eq!(raising(None), ours);
        assert_eq!(raising(Some("")), ours);
        let set = format!("glibc.malloc.check=3:{MOVSB}=4096:glibc.pthread.rseq=0");
        assert_eq!(raising(Some(&set)), format!("glibc.malloc.check=3:glibc.pthread.rseq=0:{ours}"));
        let own = RepThresholds { glibc_tunables: Some(set), ..RepThresholds::of(Ok(LISTING.to_owned())) };
        assert!(own.sentence("glibc 2.36").ends_with("'as installed' includes it."));
    }

    #[test]
    fn the_linker_is_found_among_the_mapped_files() {
        let maps = "5581-5582 r--p 00000000 08:01 12 /usr/bin/true\n\
                    7f01-7f02 r--p 00000000 08:01 13 /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2\n\
                    7ffd-7ffe rw-p 00000000 00:00 0 [stack]\n";
        assert_eq!(linker(maps), Some("/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"));
        assert_eq!(linker("7ffd-7ffe rw-p 00000000 00:00 0 [stack]\n"), None);
    }

    #[test]
    #[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
    fn this_machines_library_has_thresholds_or_a_reason() {
        let here = here();
        assert!(here.not_raised.is_some() || here.movsb.is_some() && here.stosb.is_some(), "{here:?}");
    }
}
