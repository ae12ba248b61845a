//! JSON without what identifies a machine or its user.

use serde_json::Value;

/// What of an environment tells machines of one model apart, or names their owner's choices. What figures depend on stays:
/// the CPU's family, model and features, caches, clock, pages, C library and build.
const IDENTIFYING: [(&str, &[&str]); 4] = [
    ("cpu", &["brand", "stepping", "microcode", "hypervisor", "logical_cpus", "allowed_cpus"]),
    ("memory", &["total_bytes", "available_bytes"]),
    ("system", &["kernel", "load_average", "cpu_quota"]),
    ("clock", &["hz"]),
];

/// The value of any command's JSON without that, wherever it stands, and marked: `environment` without identifying fields,
/// command lines and plug-ins without folders, no number of the run in its store.
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

/// Leaves of every path in a text its last part.
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

/// `--plugin=/home/me/mine.so:my_sum:checksum` without the folder. What has a slash and no folder, such as a variant with
/// its family or a unit, stays.
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
    fn what_identifies_goes_and_what_figures_depend_on_stays() {
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
