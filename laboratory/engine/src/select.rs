//! Which subjects take part: by family, by name, and the user's own plug-ins.

use crate::failure::{Failure, usage};
use crate::protocol::{LoadAnswer, LoadJob};
use crate::supervise::{End, Supervisor};
use carryline_machine::nearest::{did_you_mean, nearest};
use carryline_variants::{Family, Role, Variant};
use carryline_verification::plugin::PluginSpec;
use carryline_verification::subject::SubjectId;

/// The subjects of a run.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Families that take part.
    pub families: Vec<Family>,
    /// Variants of the collection, in list order.
    pub variants: Vec<&'static Variant>,
    /// Plug-ins, as on the command line, with what they are.
    pub plugins: Vec<(String, SubjectId)>,
    /// True if the user named variants.
    pub named: bool,
}

/// Reads `--family a,b`.
pub fn families(words: &[String]) -> Result<Vec<Family>, Failure> {
    let mut found = Vec::new();
    for word in words {
        let known = || Family::ALL.into_iter().map(Family::name);
        let family = Family::from_name(word).ok_or_else(|| {
            let near = did_you_mean(&nearest(word, known()));
            usage(format!(
                "unknown family '{word}'{near} (families: {})",
                known().collect::<Vec<_>>().join(", ")
            ))
        })?;
        if !found.contains(&family) {
            found.push(family);
        }
    }
    Ok(if found.is_empty() { Family::ALL.to_vec() } else { found })
}

/// The variants that names mean: `avx2` in every family wanted, `zero/avx2` in one.
pub fn variants(names: &[String], families: &[Family]) -> Result<Vec<&'static Variant>, Failure> {
    let mut found: Vec<&'static Variant> = Vec::new();
    for word in names {
        let (family, name) = match word.split_once('/') {
            Some((family, name)) => (Some(self::families(&[family.to_owned()])?[0]), name),
            None => (None, word.as_str()),
        };
        let mut any = false;
        for variant in carryline_variants::all() {
            let wanted =
                family.map_or(families.contains(&variant.family()), |family| family == variant.family());
            if wanted && variant.name == name {
                any = true;
                if !found.iter().any(|known| std::ptr::eq(*known, variant)) {
                    found.push(variant);
                }
            }
        }
        if !any {
            let near = did_you_mean(&nearest(name, names_of(families)));
            let among = families.iter().map(|f| f.name()).collect::<Vec<_>>().join(", ");
            return Err(usage(format!(
                "unknown variant '{word}' in {among}{near} ('carryline list' shows all)"
            )));
        }
    }
    Ok(found)
}

/// Reads plug-in words and tries each in a worker process: a file that is no shared object, or a symbol that is not
/// there, is the user's to mend.
pub fn plugins(words: &[String], supervisor: &Supervisor) -> Result<Vec<(String, SubjectId)>, Failure> {
    let mut found: Vec<(String, SubjectId)> = Vec::new();
    for word in words {
        let spec = PluginSpec::parse(word).map_err(|error| usage(error.to_string()))?;
        let mut reason = None;
        let job = LoadJob { plugin: word.clone() };
        let end = supervisor.run(job, 0, &crate::interrupt::requested, &mut |answer| match answer {
            LoadAnswer::Loaded => {}
            LoadAnswer::Failed { reason: why } => reason = Some(why),
        })?;
        match (end, reason) {
            (_, Some(reason)) => return Err(usage(reason)),
            (End::Done, None) => {}
            (lost @ End::Lost { .. }, None) => {
                return Err(Failure::Other(anyhow::anyhow!(
                    "plug-in '{word}': the process that loaded it ended {}; nothing is known about it",
                    lost.how()
                )));
            }
            (End::Crashed { signal, .. }, None) => {
                return Err(usage(format!("plug-in '{word}': loading it crashes with signal {signal}")));
            }
            (End::TimedOut { .. }, None) => {
                let waited = supervisor.patience.as_secs();
                return Err(usage(format!("plug-in '{word}': loading it does not end within {waited} s")));
            }
            (End::Exited { code, .. }, None) => {
                return Err(usage(format!(
                    "plug-in '{word}': loading it ends the process with status {code}"
                )));
            }
            (End::Stopped, None) => return Err(usage("interrupted while loading plug-ins")),
        }
        let id = SubjectId { family: spec.family.clone(), name: spec.name() };
        if found.iter().any(|(_, known)| *known == id) {
            return Err(usage(format!(
                "plug-in '{word}': another plug-in of that family has the same symbol"
            )));
        }
        found.push((word.clone(), id));
    }
    Ok(found)
}

/// The names of a listing's variants, each once.
fn names_of(families: &[Family]) -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for variant in carryline_variants::all().filter(|variant| families.contains(&variant.family())) {
        if !names.contains(&variant.name) {
            names.push(variant.name);
        }
    }
    names
}

impl Selection {
    /// The subjects of a family, the baseline's index among them. Without names: every variant that is a candidate
    /// (no reference, no form kept for a seed's experiment, nothing known to be wrong); with names: those, with the baseline
    /// added, in both rows where it ends in the C library.
    pub fn subjects(&self, family: Family) -> (Vec<String>, Option<usize>) {
        let candidate = |variant: &&Variant| {
            !matches!(variant.role, Role::Reference | Role::Seed) && variant.known_bad.is_none()
        };
        let mut names: Vec<String> = self
            .variants
            .iter()
            .copied()
            .filter(|variant| variant.family() == family)
            .filter(|variant| self.named || candidate(variant))
            .map(|variant| variant.name.to_owned())
            .collect();
        for (_, id) in &self.plugins {
            if id.family == family.name() {
                names.push(id.name.clone());
            }
        }
        let baseline = carryline_variants::of(family).iter().find(|variant| variant.role == Role::Baseline);
        let rows = baseline.into_iter().flat_map(|one| [Some(*one), one.with_other_thresholds()]).flatten();
        for row in rows {
            if !names.is_empty() && !names.iter().any(|name| name == row.name) {
                names.push(row.name.to_owned());
            }
        }
        let place = baseline.and_then(|baseline| names.iter().position(|name| name == baseline.name));
        (names, place)
    }

    /// True if the user asked for this subject by name.
    pub fn asked_for(&self, id: &SubjectId) -> bool {
        let named = self.named
            && self
                .variants
                .iter()
                .any(|variant| variant.name == id.name && variant.family().name() == id.family);
        named || self.plugins.iter().any(|(_, plugin)| plugin == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_every_family_and_a_path_one() {
        let both = variants(&["carryline".into()], &[Family::Zero, Family::Copy]).expect("known");
        assert_eq!(both.iter().map(|v| v.family()).collect::<Vec<_>>(), [Family::Zero, Family::Copy]);
        let one = variants(&["checksum/carryline".into()], &Family::ALL).expect("known");
        assert_eq!(one.len(), 1);
    }

    #[test]
    fn a_wrong_name_is_repeated_with_the_nearest() {
        let error = variants(&["carrylin".into()], &Family::ALL).expect_err("unknown");
        assert!(
            error.to_string().contains("'carrylin'") && error.to_string().contains("'carryline'"),
            "{error}"
        );
        let error = families(&["chksum".into()]).expect_err("unknown");
        assert!(error.to_string().contains("'checksum'"), "{error}");
        assert_eq!(error.status(), 2);
    }
}
