//! JSON without what identifies a machine or its user.

use serde_json::Value;

/// The fields of an environment that identify a machine or reveal its owner's choices. Fields that affect
/// figures stay: the CPU's family, model and features, caches, clock, pages, C library and build.
const IDENTIFYING: [(&str, &[&str]); 4] = [
    ("cpu", &["brand", "stepping", "microcode", "hypervisor", "logical_cpus", "allowed_cpus"]),
    ("memory", &["total_bytes", "available_bytes"]),
    ("system", &["kernel", "load_average", "busy_cpus", "cpu_quota"]),
    ("clock", &["hz"]),
];

/// Redacts the JSON of any command and marks it as redacted: removes identifying fields from every
/// `environment`, folders from command lines and plug-ins, and numbers of runs in a store.
#[must_use]
pub fn redacted(mut value: Value) -> Value {
    redact(&mut value);
    if let Value::Object(object) = &mut value {
        object.insert("redacted".to_owned(), true.into());
    }
    value
}

fn redact(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(redact),
        Value::Object(object) => {
            for (key, value) in object.iter_mut() {
                match key.as_str() {
                    "environment" => environment(value),
                    "command" | "command_line" | "made_by" | "plugins" => strip_folders(value),
                    // The ids of experiments, claims and documents are words.
                    "run_id" | "id" if value.is_number() => *value = Value::Null,
                    _ => redact(value),
                }
            }
        }
        _ => {}
    }
}

fn environment(value: &mut Value) {
    for (part, fields) in IDENTIFYING {
        let Some(part) = value.get_mut(part).and_then(Value::as_object_mut) else { continue };
        part.retain(|key, _| !fields.contains(&key.as_str()));
    }
}

/// Reduces each path in a text to its last part.
fn strip_folders(value: &mut Value) {
    match value {
        Value::String(text) => {
            let words: Vec<String> = text.split(' ').map(strip_folder).collect();
            *text = words.join(" ");
        }
        Value::Array(values) => values.iter_mut().for_each(strip_folders),
        Value::Object(object) => object.values_mut().for_each(strip_folders),
        _ => {}
    }
}

/// Removes the folder from `--plugin=/home/me/mine.so:my_sum:checksum`. Words with a single slash that are no
/// paths, such as a variant with its family or a unit, stay.
fn strip_folder(word: &str) -> String {
    let path = word.find(['=', ':']).filter(|_| word.starts_with("--")).map_or(0, |at| at + 1);
    let (option, path) = word.split_at(path);
    let is_path = path.starts_with(['/', '~', '.']) || path.matches('/').count() > 1;
    match path.rfind('/').filter(|_| is_path) {
        Some(slash) => format!("{option}{}", &path[slash + 1..]),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn identifying_fields_are_removed_and_those_that_affect_figures_stay() {
        let value = json!({
            "run_id": 7,
            "command": ["/opt/x/carryline", "measure", "--variants", "zero/avx2", "--unit", "GB/s", "--plugin=/home/me/mine.so:f:zero"],
            "environment": {"cpu": {"vendor": "AMD", "brand": "EPYC 1", "model": 2, "microcode": "0x1"}, "system": {"kernel": "6.1", "libc": "glibc 2.36"}},
            "plan": {"plugins": [["/home/me/mine.so:f:zero", {"family": "zero", "name": "f"}]]},
            "base": {"run_id": 3},
            "experiments": [{"id": "zeroing"}],
        });
        let value = redacted(value);
        assert_eq!(
            value,
            json!({
                "redacted": true,
                "run_id": null,
                "command": ["carryline", "measure", "--variants", "zero/avx2", "--unit", "GB/s", "--plugin=mine.so:f:zero"],
                "environment": {"cpu": {"vendor": "AMD", "model": 2}, "system": {"libc": "glibc 2.36"}},
                "plan": {"plugins": [["mine.so:f:zero", {"family": "zero", "name": "f"}]]},
                "base": {"run_id": null},
                "experiments": [{"id": "zeroing"}],
            })
        );
    }
}
