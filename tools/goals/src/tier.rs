//! Tiers: the widest registers that the library may use on a machine. Each has its own goals.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A tier. The order is from the strongest to the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// 512-bit registers with masks.
    Avx512,
    /// 256-bit registers.
    Avx2,
    /// 128-bit registers, which every x86-64 CPU has.
    Sse2,
}

impl Tier {
    /// All tiers, the strongest first.
    pub const ALL: [Tier; 3] = [Tier::Avx512, Tier::Avx2, Tier::Sse2];

    /// The tier of a CPU with these features, without the masked ones.
    ///
    /// ```
    /// use carryline_goals::tier::Tier;
    /// let of = |names: &str| Tier::of(&names.split(' ').map(str::to_owned).collect::<Vec<_>>());
    /// assert_eq!(of("sse2 avx2 bmi2 avx512f avx512bw avx512vl"), Tier::Avx512);
    /// assert_eq!(of("sse2 avx2 bmi2 avx512f"), Tier::Avx2);
    /// assert_eq!(of("sse2"), Tier::Sse2);
    /// ```
    #[must_use]
    pub fn of(features: &[String]) -> Tier {
        let has = |names: &[&str]| names.iter().all(|name| features.iter().any(|known| known == name));
        match () {
            () if has(&["avx512f", "avx512bw", "avx512vl", "bmi2"]) => Tier::Avx512,
            () if has(&["avx2"]) => Tier::Avx2,
            () => Tier::Sse2,
        }
    }

    /// The word on the command line and in file names.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Tier::Avx512 => "avx512",
            Tier::Avx2 => "avx2",
            Tier::Sse2 => "sse2",
        }
    }

    /// The tier in documents.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Tier::Avx512 => "AVX-512",
            Tier::Avx2 => "AVX2",
            Tier::Sse2 => "SSE2",
        }
    }

    /// The value of `CARRYLINE_MASK` that reduces a stronger machine to this tier.
    const fn mask(self) -> &'static str {
        match self {
            Tier::Avx512 => "",
            Tier::Avx2 => "avx512f",
            Tier::Sse2 => "avx2",
        }
    }

    /// The value of the tunable `glibc.cpu.hwcaps` that reduces glibc to this tier on a stronger machine.
    const fn glibc_hwcaps(self) -> &'static str {
        match self {
            Tier::Avx512 => "",
            Tier::Avx2 => "-AVX512F,-AVX512VL,-AVX512BW",
            Tier::Sse2 => "-AVX512F,-AVX512VL,-AVX512BW,-AVX2,-AVX_Fast_Unaligned_Load",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl FromStr for Tier {
    type Err = String;
    fn from_str(word: &str) -> Result<Tier, String> {
        Tier::ALL
            .into_iter()
            .find(|tier| tier.word() == word)
            .ok_or_else(|| format!("'{word}' is not a tier (known: avx512, avx2, sse2)"))
    }
}

/// A tier to measure, and the mask for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The tier.
    pub tier: Tier,
    /// The value of `CARRYLINE_MASK` for the measured command; `None` if the machine is of that tier.
    pub mask: Option<String>,
}

impl Measured {
    /// The value of `GLIBC_TUNABLES` that restricts the C library to the tier too, after the user's own
    /// settings `set`; `None` if nothing is masked.
    #[must_use]
    pub fn glibc_tunables(&self, set: Option<&str>) -> Option<String> {
        self.mask.as_ref()?;
        let own = format!("glibc.cpu.hwcaps={}", self.tier.glibc_hwcaps());
        let set = set.filter(|settings| !settings.is_empty()).map(str::to_owned);
        Some(set.into_iter().chain([own]).collect::<Vec<_>>().join(":"))
    }
}

/// The tiers to measure on a machine of tier `here`: the requested one, or its own, and on an AVX-512 machine
/// the AVX2 tier too, because most programs run on machines that have no more. Existing masks are kept.
///
/// # Errors
/// If the machine does not have the tier, in words.
pub fn to_measure(here: Tier, asked: Option<Tier>, masked: Option<&str>) -> Result<Vec<Measured>, String> {
    if let Some(asked) = asked.filter(|asked| *asked < here) {
        let known: Vec<&str> =
            Tier::ALL.iter().filter(|tier| **tier >= here).map(|tier| tier.word()).collect();
        return Err(format!("this machine has no {asked}; --tier takes {} here", known.join(" or ")));
    }
    let tiers = match (asked, here) {
        (Some(asked), _) => vec![asked],
        (None, Tier::Avx512) => vec![Tier::Avx512, Tier::Avx2],
        (None, here) => vec![here],
    };
    let mask = |tier: Tier| {
        let words = masked.filter(|words| !words.is_empty()).into_iter().chain([tier.mask()]);
        (tier != here).then(|| words.collect::<Vec<_>>().join(","))
    };
    Ok(tiers.into_iter().map(|tier| Measured { tier, mask: mask(tier) }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masks(here: Tier, asked: Option<Tier>, masked: Option<&str>) -> Vec<(Tier, Option<String>)> {
        let all = to_measure(here, asked, masked).expect("tiers");
        all.into_iter().map(|one| (one.tier, one.mask)).collect()
    }

    #[test]
    fn machines_measure_their_own_tier_and_avx512_machines_also_avx2() {
        let avx2_masked = (Tier::Avx2, Some("avx512f".to_owned()));
        assert_eq!(masks(Tier::Avx512, None, None), [(Tier::Avx512, None), avx2_masked.clone()]);
        assert_eq!(masks(Tier::Avx512, Some(Tier::Avx2), None), [avx2_masked]);
        assert_eq!(masks(Tier::Avx2, None, Some("avx512f")), [(Tier::Avx2, None)]);
        assert_eq!(
            masks(Tier::Avx2, Some(Tier::Sse2), Some("erms")),
            [(Tier::Sse2, Some("erms,avx2".to_owned()))]
        );
    }

    #[test]
    fn the_c_library_is_restricted_to_a_masked_tier() {
        let of = |mask: Option<&str>, set| {
            Measured { tier: Tier::Avx2, mask: mask.map(str::to_owned) }.glibc_tunables(set)
        };
        assert_eq!(of(None, Some("glibc.malloc.check=3")), None);
        let held = "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW";
        assert_eq!(of(Some("avx512f"), Some("")).as_deref(), Some(held));
        let both = of(Some("avx512f"), Some("glibc.malloc.check=3"));
        assert_eq!(both, Some(format!("glibc.malloc.check=3:{held}")));
    }

    #[test]
    fn missing_tiers_are_refused_with_the_available_ones() {
        let error = to_measure(Tier::Avx2, Some(Tier::Avx512), None).expect_err("not there");
        assert_eq!(error, "this machine has no avx512; --tier takes avx2 or sse2 here");
        assert!("avx3".parse::<Tier>().expect_err("no tier").contains("avx512, avx2, sse2"));
    }
}
