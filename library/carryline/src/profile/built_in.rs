//! The built-in profiles: one file each in the folder `profiles`, and one line each in [`BUILT_IN`].
//!
//! A feature bit states that an instruction exists, not that it is fast. `rep movsb` copies 64 KiB on a Zen 3
//! in 3,200 or 52,900 ticks, depending on the distance between the buffers; that CPU reports ERMS, and so
//! does one on which it is faster than a loop at every distance. So every such decision is in a profile, one
//! per measured CPU, which names the source of its figures. Other CPUs get `unmeasured`: loops, never string
//! instructions, and non-temporal stores only at sizes at which they were faster on every CPU so far. Where the
//! best kernels of its relatives are known, a CPU gets those: `unmeasured-intel` and so on make the same
//! decisions.

use super::{Profile, parse};
use crate::cpu::Model;

/// Parses a file at compile time.
const fn compiled(text: &'static str) -> Profile<'static> {
    match parse(text) {
        Ok(profile) => profile,
        Err(error) => panic!("{}", error.summary()),
    }
}

/// Makes the list from the names of the files.
macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, {
            const PROFILE: Profile<'static> = compiled(include_str!(concat!("../../profiles/", $name, ".toml")));
            PROFILE
        })),*]
    };
}

/// Each profile with its name for `CARRYLINE_TUNING=builtin:NAME`. A CPU gets the first that is for its model,
/// so those for unmeasured CPUs come last.
static BUILT_IN: &[(&str, Profile<'static>)] = files! {
    "amd-zen5"
    "amd-zen4"
    "amd-zen3"
    "intel-sapphire-rapids"
    "intel-emerald-rapids"
    "intel-granite-rapids"
    "unmeasured-amd-zen4"
    "unmeasured-intel-older"
    "unmeasured-intel"
    "unmeasured"
};

/// The names of the built-in profiles, `unmeasured` last.
///
/// ```
/// use carryline::internals::tuning::{built_in, built_in_names};
/// assert_eq!(built_in_names().last(), Some("unmeasured"));
/// assert!(built_in_names().all(|name| built_in(name).is_some()));
/// ```
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// The built-in profile with this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Profile<'static>> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, profile)| profile)
}

/// The built-in profile for a model and its name; `unmeasured` if there is none.
///
/// ```
/// use carryline::internals::cpu::Model;
/// use carryline::internals::tuning::built_in_for;
/// let zen5 = Model { vendor: *b"AuthenticAMD", family: 26, model: 2 };
/// assert_eq!(built_in_for(Some(zen5)).0, "amd-zen5");
/// assert_eq!(built_in_for(None).0, "unmeasured");
/// ```
#[must_use]
pub fn of_model(model: Option<Model>) -> (&'static str, &'static Profile<'static>) {
    let is_for = |profile: &Profile<'_>| match (profile.cpu, model) {
        (Some(models), Some(model)) => models.contains(model),
        (cpu, _) => cpu.is_none(),
    };
    let found = BUILT_IN.iter().find(|(_, profile)| is_for(profile));
    let (name, profile) = found.unwrap_or(&BUILT_IN[BUILT_IN.len() - 1]);
    (name, profile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::Function;

    fn model(vendor: [u8; 12], family: u32, model: u32) -> Model {
        Model { vendor, family, model }
    }

    const AMD: [u8; 12] = *b"AuthenticAMD";
    const INTEL: [u8; 12] = *b"GenuineIntel";

    #[test]
    fn models_get_their_profiles() {
        let name = |model| of_model(Some(model)).0;
        assert_eq!(name(model(AMD, 26, 2)), "amd-zen5");
        assert_eq!(name(model(AMD, 25, 17)), "amd-zen4");
        assert_eq!(name(model(AMD, 25, 1)), "amd-zen3");
        assert_eq!(name(model(INTEL, 6, 0x8f)), "intel-sapphire-rapids");
        assert_eq!(name(model(INTEL, 6, 0xcf)), "intel-emerald-rapids");
        assert_eq!(name(model(INTEL, 6, 0xad)), "intel-granite-rapids");
        let others =
            [(*b"HygonGenuine", 26, 2), (AMD, 26, 8), (AMD, 26, 0x44), (AMD, 23, 1), ([0; 12], 0, 0)];
        for unknown in others.map(|(vendor, family, number)| model(vendor, family, number)) {
            assert_eq!(name(unknown), "unmeasured", "{unknown}");
        }
        assert_eq!(name(model(AMD, 25, 0x61)), "unmeasured-amd-zen4");
        assert_eq!(name(model(AMD, 25, 8)), "unmeasured-amd-zen4");
        // The last two: Nova Lake and Diamond Rapids, whose numbers start anew.
        let intel = [
            (6, 0x55, "-older"),
            (6, 0x8e, "-older"),
            (6, 0xae, ""),
            (6, 0xff, ""),
            (18, 1, ""),
            (19, 1, ""),
        ];
        for (family, number, profile) in intel {
            assert_eq!(
                name(model(INTEL, family, number)),
                ["unmeasured-intel", profile].concat(),
                "{number}"
            );
        }
    }

    /// A function whose kernel a profile does not name gets the first that the CPU can run.
    #[test]
    fn older_cpus_of_intel_get_no_wide_registers() {
        let older = named("unmeasured-intel-older").expect("a built-in profile");
        for function in Function::ALL {
            assert_eq!(older.kernel(function), Some("avx2"), "{}", function.name());
        }
    }

    #[test]
    fn profiles_of_measured_cpus_do_not_overlap_and_one_is_for_all_cpus() {
        let measured = BUILT_IN.iter().filter(|(name, _)| !name.starts_with("unmeasured"));
        for (name, profile) in BUILT_IN {
            assert_eq!(profile.cpu.is_none(), *name == "unmeasured");
            let Some(cpu) = profile.cpu.filter(|_| !name.starts_with("unmeasured")) else { continue };
            let (family, [first, last]) = cpu.family.zip(cpu.models).expect("a measured CPU's models");
            for number in first..=last {
                let model = model(cpu.vendor, family, number);
                let holders = measured.clone().filter(|(_, p)| p.cpu.is_some_and(|cpu| cpu.contains(model)));
                assert_eq!(holders.count(), 1, "{model}");
            }
        }
    }
}
