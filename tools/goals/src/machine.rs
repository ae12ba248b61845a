//! The name of a machine: its CPU, from the environment stored with a run.

use crate::tier::Tier;
use serde::Deserialize;
use serde_json::Value;

/// The part of an environment used here. Every version has stored these fields under these names, if the
/// machine reported them.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Kept {
    cpu: Cpu,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cpu {
    vendor: Option<String>,
    brand: Option<String>,
    family: Option<u64>,
    model: Option<u64>,
    features: Vec<String>,
    masked_features: Vec<String>,
}

fn cpu(environment: &Value) -> Cpu {
    Kept::deserialize(environment).unwrap_or_default().cpu
}

/// The name of a machine in file names: `zen5-family26-model2`, `intel-family6-model143`. Machines with one
/// CPU model share it.
///
/// ```
/// use carryline_goals::machine::name;
/// let cpu = |vendor, family, model| serde_json::json!({"cpu": {"vendor": vendor, "family": family, "model": model}});
/// assert_eq!(name(&cpu("AuthenticAMD", 26, 2)), "zen5-family26-model2");
/// assert_eq!(name(&cpu("GenuineIntel", 6, 143)), "intel-family6-model143");
/// assert_eq!(name(&serde_json::json!({})), "unknown");
/// ```
#[must_use]
pub fn name(environment: &Value) -> String {
    let Cpu { vendor, brand, family, model, .. } = cpu(environment);
    let maker = match (vendor.as_deref(), family, model) {
        (Some("AuthenticAMD"), Some(family), Some(model)) => zen(family, model).unwrap_or("amd").to_owned(),
        (Some("AuthenticAMD"), ..) => "amd".to_owned(),
        (Some("GenuineIntel"), ..) => "intel".to_owned(),
        (Some(other), ..) => word(other),
        // Without CPUID the CPU may still have a name.
        (None, ..) => brand.as_deref().map(word).unwrap_or_default(),
    };
    let maker = if maker.is_empty() { "unknown".to_owned() } else { maker };
    let part = |key: &str, number: Option<u64>| number.map(|number| format!("-{key}{number}"));
    let (family, model) = (part("family", family), part("model", model));
    format!("{maker}{}{}", family.unwrap_or_default(), model.unwrap_or_default())
}

/// The name of the cores of a machine with this [`name`], such as `Zen 5`; the name itself if they have none.
///
/// ```
/// use carryline_goals::machine::core;
/// assert_eq!(core("zen5-family26-model2"), "Zen 5");
/// assert_eq!(core("intel-family6-model173"), "Granite Rapids");
/// assert_eq!(core("hygongenuine-family24-model1"), "hygongenuine-family24-model1");
/// ```
#[must_use]
pub fn core(name: &str) -> &str {
    let known = || {
        let mut parts = name.split('-');
        let vendor = match parts.next()? {
            "intel" => "GenuineIntel",
            maker if maker == "amd" || maker.starts_with("zen") => "AuthenticAMD",
            _ => return None,
        };
        let family = parts.next()?.strip_prefix("family")?.parse().ok()?;
        let model = parts.next()?.strip_prefix("model")?.parse().ok()?;
        carryline_machine::environment::core_of(vendor, family, model)
    };
    known().unwrap_or(name)
}

/// The CPU in a heading: its brand, family and model, and its hypervisor.
#[must_use]
pub fn words(cpu: &carryline_machine::environment::Cpu) -> String {
    let number = |number: Option<u32>| number.map_or("?".to_owned(), |number| number.to_string());
    let brand = cpu.brand.as_deref().unwrap_or("unknown");
    let guest = cpu.hypervisor.as_ref().map(|name| format!(", virtual machine ({name})")).unwrap_or_default();
    let reported = cpu.reported_model.map(|model| format!(" (reported as {model})")).unwrap_or_default();
    format!("{brand}, family {} model {}{reported}{guest}", number(cpu.family), number(cpu.model))
}

/// AMD's generation, if known from the numbers.
const fn zen(family: u64, model: u64) -> Option<&'static str> {
    Some(match (family, model) {
        (23, 0x00..=0x2f) => "zen",
        (23, _) => "zen2",
        (25, 0x10..=0x1f | 0x60..=0x7f | 0xa0..=0xaf) => "zen4",
        (25, _) => "zen3",
        (26, _) => "zen5",
        _ => return None,
    })
}

/// Only the letters and digits, in lower case.
fn word(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// The tier of an environment's features.
#[must_use]
pub fn tier(environment: &Value) -> Tier {
    Tier::of(&cpu(environment).features)
}

/// Features of the CPU that were masked in the run.
#[must_use]
pub fn masked(environment: &Value) -> Vec<String> {
    cpu(environment).masked_features
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_valid_file_names() {
        let cpu = |vendor: &str, family: u64, model: u64| {
            name(&json!({"cpu": {"vendor": vendor, "family": family, "model": model}}))
        };
        assert_eq!(cpu("AuthenticAMD", 25, 1), "zen3-family25-model1");
        assert_eq!(cpu("AuthenticAMD", 25, 97), "zen4-family25-model97");
        assert_eq!(cpu("AuthenticAMD", 23, 49), "zen2-family23-model49");
        assert_eq!(cpu("AuthenticAMD", 27, 0), "amd-family27-model0");
        assert_eq!(cpu("../evil vendor", 1, 2), "evilvendor-family1-model2");
        assert_eq!(name(&json!({"cpu": {"brand": "Some ARM (core)"}})), "somearmcore");
        assert_eq!(name(&json!({"cpu": {"vendor": "///"}})), "unknown");
    }

    #[test]
    fn masked_runs_belong_to_the_remaining_tier() {
        let run = json!({"cpu": {"features": ["sse2", "avx2"], "masked_features": ["avx512f"]}});
        assert_eq!((tier(&run), masked(&run)), (Tier::Avx2, vec!["avx512f".to_owned()]));
        assert_eq!(tier(&Value::Null), Tier::Sse2);
    }
}
