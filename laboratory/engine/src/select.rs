//! Selects the subjects of a run: by family, by name, and the user's plug-ins.

use crate::failure::{Failure, usage};
use crate::pattern::Pattern;
use crate::protocol::{LoadAnswer, LoadJob};
use crate::supervise::{End, Supervisor};
use carryline_machine::nearest::{did_you_mean, nearest};
use carryline_variants::{Family, Role, Variant};
use carryline_verification::plugin::PluginSpec;
use carryline_verification::subject::SubjectId;
use std::path::PathBuf;

/// The subjects of a run.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The families.
    pub families: Vec<Family>,
    /// The variants of the collection, in list order.
    pub variants: Vec<&'static Variant>,
    /// Plug-ins as on the command line, with their subjects.
    pub plugins: Vec<(String, SubjectId)>,
    /// True if the user named variants.
    pub named: bool,
}

/// Parses `--family a,b`.
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

/// The variants that names and [patterns](Pattern) select: `avx2` in every wanted family, `zero/avx2` in one,
/// `zero/avx*`. A word may also mean one of the plug-ins, all of which take part in any case.
///
/// # Errors
/// A word that selects nothing, or only variants of other families.
pub fn variants(
    names: &[String],
    families: &[Family],
    plugins: &[(String, SubjectId)],
) -> Result<Vec<&'static Variant>, Failure> {
    let mut found: Vec<&'static Variant> = Vec::new();
    for word in names {
        let pattern = Pattern::parse(word)?;
        let is_plugin = plugins.iter().any(|(_, id)| pattern.matches(id.family, &id.name));
        if is_plugin && matches!(pattern, Pattern::Name(_)) {
            continue;
        }
        if let (Pattern::Name(_), Some((family, _))) = (&pattern, word.split_once('/')) {
            // An unknown family is reported as such.
            self::families(&[family.to_owned()])?;
        }
        let (meant, elsewhere): (Vec<&'static Variant>, Vec<_>) = carryline_variants::all()
            .filter(|variant| pattern.matches(variant.family(), variant.name))
            .partition(|variant| families.contains(&variant.family()));
        if meant.is_empty() && !is_plugin {
            return Err(match elsewhere.is_empty() {
                true => unknown(word, &pattern, families, plugins),
                false => excluded(word, &families_of(&elsewhere)),
            });
        }
        for variant in meant {
            if !found.iter().any(|known| std::ptr::eq(*known, variant)) {
                found.push(variant);
            }
        }
    }
    Ok(found)
}

/// The families of some variants, without duplicates.
fn families_of(variants: &[&'static Variant]) -> Vec<Family> {
    Family::ALL.into_iter().filter(|family| variants.iter().any(|v| v.family() == *family)).collect()
}

/// The error for a word that means no variant.
fn unknown(word: &str, pattern: &Pattern, families: &[Family], plugins: &[(String, SubjectId)]) -> Failure {
    if !matches!(pattern, Pattern::Name(_)) {
        return usage(format!("no variant matches '{word}' ('carryline list' shows all)"));
    }
    let name = word.split_once('/').map_or(word, |(_, name)| name);
    let near = match plugins.iter().find(|(_, id)| id.name.strip_prefix("plugin:") == Some(name)) {
        Some((_, id)) => did_you_mean(&[&id.name]),
        None => {
            let plugins = plugins.iter().map(|(_, id)| id.name.as_str());
            did_you_mean(&nearest(name, names_of(families).into_iter().chain(plugins)))
        }
    };
    let among = families.iter().map(|f| f.name()).collect::<Vec<_>>().join(", ");
    usage(format!("unknown variant '{word}' in {among}{near} ('carryline list' shows all)"))
}

/// The error for a word that means only variants of families that the user's families exclude.
fn excluded(word: &str, excluded: &[Family]) -> Failure {
    let names: Vec<&str> = excluded.iter().map(|family| family.name()).collect();
    let noun = if names.len() == 1 { "family" } else { "families" };
    usage(format!("variant '{word}' is of {noun} {}, which --family excludes", names.join(" and ")))
}

/// Fails if a plug-in is of a family that the user's families exclude.
///
/// # Errors
/// The first such plug-in.
pub fn require_families(plugins: &[(String, SubjectId)], families: &[Family]) -> Result<(), Failure> {
    match plugins.iter().find(|(_, id)| !families.contains(&id.family)) {
        None => Ok(()),
        Some((word, id)) => {
            Err(usage(format!("plug-in '{word}' is of family {}, which --family excludes", id.family)))
        }
    }
}

/// Parses plug-in words and loads each plug-in in a worker process. A file that is not a shared object and a
/// missing symbol are usage errors.
pub fn plugins(words: &[String], supervisor: &Supervisor) -> Result<Vec<(String, SubjectId)>, Failure> {
    let mut specs: Vec<PluginSpec> = Vec::new();
    for word in words {
        let spec = PluginSpec::parse(word).map_err(|error| usage(error.to_string()))?;
        if specs.contains(&spec) {
            return Err(usage(format!("plug-in '{word}' is given twice")));
        }
        if specs.iter().any(|other| have_one_name(other, &spec)) {
            let name = spec.label.as_ref().unwrap_or(&spec.symbol);
            return Err(usage(format!(
                "plug-in '{word}': name '{name}' is given twice; give each plug-in a NAME= of its own"
            )));
        }
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
                    "plug-in '{word}': the process that loaded it ended {}; try again",
                    lost.how()
                )));
            }
            (End::Crashed { signal, .. }, None) => {
                return Err(usage(format!("plug-in '{word}': loading it crashes with signal {signal}")));
            }
            (End::TimedOut { .. }, None) => {
                let waited = supervisor.patience.as_secs();
                return Err(usage(format!("plug-in '{word}': loading it did not finish within {waited} s")));
            }
            (End::Exited { code, .. }, None) => {
                return Err(usage(format!(
                    "plug-in '{word}': loading it ends the process with status {code}"
                )));
            }
            (End::Stopped, None) => return Err(usage("interrupted while loading plug-ins")),
        }
        specs.push(spec);
    }
    Ok(words.iter().cloned().zip(ids(&specs)).collect())
}

/// True if [`ids`] would give both one name, or the user named both alike.
fn have_one_name(one: &PluginSpec, other: &PluginSpec) -> bool {
    let one_label = one.label.is_some() && one.label == other.label;
    let one_name = one.name() == other.name() && one.file == other.file && one.shape == other.shape;
    one.family == other.family && (one_label || one_name)
}

/// The names of plug-ins: the user's name or the symbol, followed by as much of the file's path as is needed to
/// distinguish plug-ins of one family with the same name.
fn ids(specs: &[PluginSpec]) -> Vec<SubjectId> {
    let tail = |spec: &PluginSpec, count: usize| -> PathBuf {
        let parts: Vec<_> = spec.file.components().collect();
        parts[parts.len().saturating_sub(count)..].iter().collect()
    };
    let name = |spec: &PluginSpec| {
        let alike = |other: &&PluginSpec| other.family == spec.family && other.name() == spec.name();
        let others: Vec<&PluginSpec> =
            specs.iter().filter(alike).filter(|other| other.file != spec.file).collect();
        // The same function in several forms, for example as a zero routine and as one like memset.
        let both_ways = specs.iter().filter(alike).any(|other| other.shape != spec.shape);
        let word =
            spec.shape.word().filter(|_| both_ways).map_or_else(String::new, |word| format!(":{word}"));
        if others.is_empty() {
            return spec.name() + &word;
        }
        let most = spec.file.components().count();
        let apart = |count: &usize| others.iter().all(|other| tail(other, *count) != tail(spec, *count));
        let count = (1..most).find(apart).unwrap_or(most);
        format!("{}@{}{word}", spec.name(), tail(spec, count).display())
    };
    specs.iter().map(|spec| SubjectId { family: spec.family, name: name(spec) }).collect()
}

/// The names of the variants of some families, without duplicates.
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
    /// The subjects of a family, and the index of the baseline among them. By default every candidate: no
    /// reference, no routine kept only for an experiment, none known to be wrong. If the user named variants:
    /// those and the baseline, in both of its rows if it is a C library function.
    pub fn subjects(&self, family: Family) -> (Vec<String>, Option<usize>) {
        let candidate = |variant: &&Variant| {
            !matches!(variant.role, Role::Reference | Role::Historical) && variant.known_bad.is_none()
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
            if id.family == family {
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

    /// True if the user requested this subject by name.
    pub fn asked_for(&self, id: &SubjectId) -> bool {
        let named = self.named
            && self.variants.iter().any(|variant| variant.name == id.name && variant.family() == id.family);
        named || self.plugins.iter().any(|(_, plugin)| plugin == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_selects_every_family_and_a_path_one() {
        let both = variants(&["carryline".into()], &[Family::Zero, Family::Copy], &[]).expect("known");
        assert_eq!(both.iter().map(|v| v.family()).collect::<Vec<_>>(), [Family::Zero, Family::Copy]);
        let one = variants(&["checksum/carryline".into()], &Family::ALL, &[]).expect("known");
        assert_eq!(one.len(), 1);
    }

    #[test]
    fn a_plugin_is_named_as_its_row_is() {
        let id = SubjectId { family: Family::Copy, name: "plugin:f@old/x.so".into() };
        let plugins = [("old/x.so:f:copy".to_owned(), id)];
        let named = |word: &str| variants(&[word.into()], &Family::ALL, &plugins);
        for word in ["plugin:f@old/x.so", "copy/plugin:f@old/x.so", "plugin:*", "/plugin:.*/"] {
            assert!(named(word).expect(word).is_empty(), "{word}");
        }
        for wrong in ["f@old/x.so", "zero/plugin:f@old/x.so", "plugin:g"] {
            assert_eq!(named(wrong).expect_err(wrong).status(), 2);
        }
        let short = [("x.so:f:copy".to_owned(), SubjectId { family: Family::Copy, name: "plugin:f".into() })];
        let error = variants(&["f".into()], &Family::ALL, &short).expect_err("a symbol").to_string();
        assert!(error.contains("did you mean 'plugin:f'"), "{error}");
    }

    #[test]
    fn a_variant_of_an_excluded_family_is_refused_with_the_family() {
        for word in ["checksum/avx2", "adc_1_stream", "checksum/*", "/adc_.*/"] {
            let error = variants(&[word.into()], &[Family::Zero], &[]).expect_err(word).to_string();
            assert!(error.contains(word) && error.contains("of family checksum, which --family"), "{error}");
        }
        let mine = ("m.so:f:copy".to_owned(), SubjectId { family: Family::Copy, name: "plugin:f".into() });
        assert!(require_families(std::slice::from_ref(&mine), &Family::ALL).is_ok());
        let error = require_families(&[mine], &[Family::Zero]).expect_err("excluded").to_string();
        assert!(error.contains("'m.so:f:copy'") && error.contains("copy"), "{error}");
    }

    #[test]
    fn plugins_with_the_same_symbol_are_distinguished_by_their_files() {
        let names = |words: &[&str]| -> Vec<String> {
            let specs: Vec<PluginSpec> =
                words.iter().map(|word| PluginSpec::parse(word).expect("three parts")).collect();
            ids(&specs).into_iter().map(|id| id.name).collect()
        };
        assert_eq!(names(&["a/x.so:f:zero", "a/x.so:g:zero"]), ["plugin:f", "plugin:g"]);
        assert_eq!(names(&["x.so:f:zero", "x.so:f:copy"]), ["plugin:f", "plugin:f"], "two families");
        assert_eq!(names(&["./O1.so:f:zero", "b/O2.so:f:zero"]), ["plugin:f@O1.so", "plugin:f@O2.so"]);
        let twins = names(&["/p/old/x.so:f:zero", "/p/new/x.so:f:zero", "/q/y.so:f:zero"]);
        assert_eq!(twins, ["plugin:f@old/x.so", "plugin:f@new/x.so", "plugin:f@y.so"]);
        assert_eq!(names(&["x.so:f:zero", "d/x.so:f:zero"]), ["plugin:f@x.so", "plugin:f@d/x.so"]);
        let fill = names(&["x.so:f:zero", "x.so:f:fill"]);
        assert_ne!(fill[0], fill[1]);
    }

    #[test]
    fn two_plugins_of_a_family_have_two_names() {
        let alike = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|word| PluginSpec::parse(word).expect("three parts"));
            have_one_name(&one, &other)
        };
        assert!(alike("a=p.so:x:fill", "a=p.so:y:fill"));
        assert!(alike("a=p.so:x:zero", "a=q.so:x:zero"), "the user's names do not tell them apart");
        assert!(alike("x=p.so:y:zero", "p.so:x:zero"), "a name like the other's symbol");
        assert!(!alike("a=p.so:x:fill", "b=p.so:x:fill"));
        assert!(!alike("a=p.so:x:fill", "a=p.so:y:copy"), "two families");
        assert!(!alike("p.so:x:zero", "q.so:x:zero") && !alike("p.so:x:zero", "p.so:x:fill"));
    }

    #[test]
    fn an_unknown_name_is_reported_with_the_nearest() {
        let error = variants(&["carrylin".into()], &Family::ALL, &[]).expect_err("unknown");
        assert!(
            error.to_string().contains("'carrylin'") && error.to_string().contains("'carryline'"),
            "{error}"
        );
        let error = families(&["chksum".into()]).expect_err("unknown");
        assert!(error.to_string().contains("'checksum'"), "{error}");
        assert_eq!(error.status(), 2);
    }
}
