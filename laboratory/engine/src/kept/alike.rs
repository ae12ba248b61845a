//! Whether two runs are comparable.

use super::Kept;
use carryline_machine::environment::Environment;
use serde_json::Value;

/// The mean size of calls may differ by this fraction, because sizes are random.
const DRAWN: f64 = 0.1;
/// The prefix of a difference in the library's version, which is allowed: comparing versions is the purpose.
const OUR_VERSION: &str = "carryline: ";

/// The key of the calls in a cold batch, in a condition.
const BATCH: &str = "calls per batch";

/// A condition with the calls in a cold batch, which are part of it.
pub(super) fn with_batch(mut condition: Value, calls: Option<u64>) -> Value {
    if let (Some(fields), Some(calls)) = (condition.as_object_mut(), calls) {
        fields.insert(BATCH.to_owned(), calls.into());
    }
    condition
}

/// Why two runs are not comparable: each difference in machine, build or conditions, with both values. Empty
/// if they are comparable.
#[must_use]
pub fn unlike(base: &Kept, other: &Kept) -> Vec<String> {
    let mut found = machines(&base.environment, &other.environment);
    let common: Vec<&String> =
        base.conditions.keys().filter(|name| other.conditions.contains_key(*name)).collect();
    if common.is_empty() {
        found.push("situations: none is in both runs".to_owned());
    }
    for name in common {
        found.extend(conditions(name, &base.conditions[name], &other.conditions[name]));
        let mean = |run: &Kept| run.bytes_per_call.get(name).copied().unwrap_or(0.0);
        let (a, b) = (mean(base), mean(other));
        if (a - b).abs() > DRAWN * a.max(b) {
            found.push(format!("{name}: mean bytes of a call: {a:.1} against {b:.1}"));
        }
    }
    found
}

/// The differences between two machines and builds.
fn machines(base: &Value, other: &Value) -> Vec<String> {
    let read = |value: &Value| serde_json::from_value::<Environment>(value.clone());
    match (read(base), read(other)) {
        (Ok(base), Ok(other)) => {
            let mut found = base.differences(&other);
            found.retain(|difference| !difference.starts_with(OUR_VERSION));
            found
        }
        // Redacted, or written by another version.
        _ => vec!["machine: a description is incomplete (redacted, or from another version)".to_owned()],
    }
}

fn conditions(name: &str, base: &Value, other: &Value) -> Vec<String> {
    let (Some(base), Some(other)) = (base.as_object(), other.as_object()) else { return Vec::new() };
    let keys = base.keys().chain(other.keys().filter(|key| !base.contains_key(*key)));
    let plain = |value: Option<&Value>| match value {
        None => "unknown".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    // A cell that was not measured does not have it.
    let is_unknown = |key: &str| key == BATCH && !(base.contains_key(key) && other.contains_key(key));
    keys.filter(|key| base.get(*key) != other.get(*key) && !is_unknown(key))
        .map(|key| format!("{name}: {key}: {} against {}", plain(base.get(key)), plain(other.get(key))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    fn kept(environment: &Environment, size: u64) -> Kept {
        let name = "zero hot".to_owned();
        Kept {
            title: "run 1".to_owned(),
            id: Some(1),
            content_hash: None,
            label: None,
            started: "2026-01-31T23:59:59Z".to_owned(),
            environment: serde_json::to_value(environment).expect("a value"),
            plan: None,
            rows: Vec::new(),
            conditions: BTreeMap::from([(name.clone(), json!({"size": size, "cache": "hot"}))]),
            bytes_per_call: BTreeMap::from([(name, size as f64)]),
        }
    }

    #[test]
    fn fields_that_differ_are_named_with_both_values() {
        let here = Environment::here();
        let base = kept(&here, 40);
        assert_eq!(unlike(&base, &base), Vec::<String>::new());
        let mut there = here.clone();
        there.build.version = "99.0.0".to_owned();
        assert_eq!(unlike(&base, &kept(&there, 40)), Vec::<String>::new(), "another version is compared");
        there.build.compiler = "rustc 9".to_owned();
        there.cpu.brand = Some("Z80".to_owned());
        let found = unlike(&base, &kept(&there, 1500));
        let begins = |text: &str| found.iter().any(|found| found.starts_with(text));
        assert!(begins("CPU: ") && begins("compiler: "), "{found:?}");
        assert!(found.contains(&"zero hot: size: 40 against 1500".to_owned()), "{found:?}");
        assert!(begins("zero hot: mean bytes of a call: 40.0 against 1500.0"), "{found:?}");
        assert_eq!(base.name(), "run 1 (2026-01-31 23:59)");
    }

    #[test]
    fn batches_of_other_lengths_are_not_comparable() {
        let of = |calls: Option<u64>| {
            let mut kept = kept(&Environment::here(), 4096);
            kept.conditions
                .values_mut()
                .for_each(|condition| *condition = with_batch(condition.take(), calls));
            kept
        };
        assert_eq!(unlike(&of(Some(64)), &of(Some(32))), ["zero hot: calls per batch: 64 against 32"]);
        for calls in [Some(64), None] {
            assert_eq!(unlike(&of(Some(64)), &of(calls)), Vec::<String>::new());
        }
    }

    #[test]
    fn missing_data_is_not_comparable() {
        let base = kept(&Environment::here(), 40);
        let mut other = base.clone();
        other.environment = json!({"cpu": {"vendor": "x"}});
        other.conditions.clear();
        let found = unlike(&base, &other);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("machine: ") && found[1].starts_with("situations: "), "{found:?}");
    }
}
