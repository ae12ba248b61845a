//! The C library that worker processes get: as installed, or with its thresholds for string instructions raised.
//!
//! glibc reads `GLIBC_TUNABLES` once, when a process starts. So the rows that end in `_no_rep` are verified and timed in
//! workers that are started with the variable, and all others that end in the C library in workers without; see
//! `c_library` of `carryline-variants`. What the user has set stays in force in both, but for the two thresholds.

use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// The environment variable that glibc reads.
pub const TUNABLES_VARIABLE: &str = "GLIBC_TUNABLES";
/// What glibc calls the two thresholds.
pub const MOVSB: &str = "glibc.cpu.x86_rep_movsb_threshold";
/// See [`MOVSB`].
pub const STOSB: &str = "glibc.cpu.x86_rep_stosb_threshold";
/// What they are raised to, in bytes: more than any call has, and within what glibc accepts.
const RAISED: u64 = 1 << 62;

/// What is known of the C library's thresholds for `rep movsb` and `rep stosb`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepThresholds {
    /// Copies of at least this many bytes may go by `rep movsb` here; `None` where it is not known.
    pub movsb: Option<u64>,
    /// The same for filling and `rep stosb`.
    pub stosb: Option<u64>,
    /// Why they cannot be raised; `None` where they can.
    pub not_raised: Option<String>,
    /// `GLIBC_TUNABLES` as the user has set it.
    pub glibc_tunables: Option<String>,
}

/// The C library of this machine, examined once.
pub fn here() -> &'static RepThresholds {
    static HERE: OnceLock<RepThresholds> = OnceLock::new();
    HERE.get_or_init(|| {
        let variable = std::env::var(TUNABLES_VARIABLE).ok().filter(|text| !text.is_empty());
        RepThresholds { glibc_tunables: variable, ..RepThresholds::of(listing()) }
    })
}

impl RepThresholds {
    /// From what `ld.so --list-tunables` prints, or from the reason why it cannot be asked.
    fn of(listing: Result<String, String>) -> RepThresholds {
        let read = listing.and_then(|text| Ok((tunable(&text, MOVSB)?, tunable(&text, STOSB)?)));
        match read {
            Err(reason) => RepThresholds { not_raised: Some(reason), ..RepThresholds::default() },
            Ok((movsb, stosb)) => {
                let most = movsb.most.min(stosb.most);
                let too_low = || format!("its thresholds for rep movsb and rep stosb end at {most} bytes");
                RepThresholds {
                    movsb: Some(movsb.value),
                    stosb: Some(stosb.value),
                    not_raised: (most < RAISED).then(too_low),
                    glibc_tunables: None,
                }
            }
        }
    }

    /// One sentence on the C library of that name, and on what follows for the rows.
    #[must_use]
    pub fn sentence(&self, libc: &str) -> String {
        let own = self.glibc_tunables.as_ref().map_or(String::new(), |variable| {
            format!(" GLIBC_TUNABLES is set ({variable}): 'as installed' means with it.")
        });
        let text = match (&self.not_raised, self.movsb, self.stosb) {
            (None, Some(movsb), Some(stosb)) => format!(
                "The C library is {libc}; its thresholds ({movsb} bytes for rep movsb, {stosb} for rep stosb) can be \
                 raised by GLIBC_TUNABLES, so it is measured both as installed and, in the rows named ..._no_rep, with \
                 both out of reach."
            ),
            (reason, ..) => format!(
                "The C library is {libc}, measured only as installed; the rows named ..._no_rep are unsupported: {}.",
                reason.as_deref().unwrap_or("its thresholds are not known")
            ),
        };
        text + &own
    }
}

/// The value of `GLIBC_TUNABLES` that raises the thresholds and leaves everything else of the user's in force.
#[must_use]
pub fn raising(variable: Option<&str>) -> String {
    setting(variable, &[(MOVSB, RAISED), (STOSB, RAISED)])
}

/// The value of `GLIBC_TUNABLES` that sets these tunables and leaves everything else of the user's in force.
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
    /// The least that it can be set to.
    pub least: u64,
    /// The most that it can be set to.
    pub most: u64,
}

/// The tunables of these names, in order; `None` for one that this C library does not have.
///
/// # Errors
/// Why the C library cannot be asked.
pub fn tunables(names: &[&str]) -> Result<Vec<Option<Tunable>>, String> {
    let text = listing()?;
    Ok(names.iter().map(|name| tunable(&text, name).ok()).collect())
}

/// Reads a line such as `NAME: 0x840 (min: 0x200, max: 0xffffffffffffffff)`.
fn tunable(listing: &str, name: &str) -> Result<Tunable, String> {
    let line = listing.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let line = line.ok_or_else(|| format!("it has no tunable {name}"))?;
    let read = || {
        let (value, rest) = line.split_once(' ')?;
        let (least, most) = rest.strip_prefix("(min: ")?.split_once(", max: ")?;
        Some(Tunable { value: number(value)?, least: number(least)?, most: number(most.strip_suffix(')')?)? })
    };
    read().ok_or_else(|| format!("it describes {name} in an unknown format: '{line}'"))
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// What the dynamic linker of this process says of its tunables.
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

/// The dynamic linker among the files that a process has mapped.
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
    fn the_linkers_listing_is_read() {
        let seen = RepThresholds::of(Ok(LISTING.to_owned()));
        assert_eq!((seen.movsb, seen.stosb, seen.not_raised.clone()), (Some(0x840), Some(0x800), None));
        let sentence = seen.sentence("glibc 2.36");
        assert!(sentence.contains("glibc 2.36; its thresholds (2112 bytes for rep movsb"), "{sentence}");
    }

    #[test]
    fn a_library_without_the_tunables_is_measured_as_installed_alone() {
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
    fn what_the_user_has_set_stays_in_force() {
        let ours = format!("{MOVSB}={RAISED}:{STOSB}={RAISED}");
        assert_eq!(raising(None), ours);
        assert_eq!(raising(Some("")), ours);
        let set = format!("glibc.malloc.check=3:{MOVSB}=4096:glibc.pthread.rseq=0");
        assert_eq!(raising(Some(&set)), format!("glibc.malloc.check=3:glibc.pthread.rseq=0:{ours}"));
        let own = RepThresholds { glibc_tunables: Some(set), ..RepThresholds::of(Ok(LISTING.to_owned())) };
        assert!(own.sentence("glibc 2.36").ends_with("'as installed' means with it."));
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
