//! Results without what identifies a machine or its user.

use crate::text::{shell, shell_words};
use crate::units::Unit;
use carryline_results::RunResult;
use carryline_results::gather::{Gathered, Situation};
use carryline_results::round::RoundRecord;
use carryline_variants::Family;
use serde_json::Value;

/// The fields of an environment that identify a machine or reveal its owner's choices. Fields that affect
/// figures stay: the CPU's family, model and features, caches, clock, pages, C library and build.
const IDENTIFYING: [(&str, &[&str]); 4] = [
    ("cpu", &["brand", "stepping", "microcode", "hypervisor", "logical_cpus", "allowed_cpus"]),
    ("memory", &["total_bytes", "available_bytes"]),
    ("system", &["kernel", "load_average", "busy_cpus", "cpu_quota"]),
    ("clock", &["hz"]),
];

/// The forms of sizes that name a file.
const SOURCES: [&str; 2] = ["histogram:", "capture:"];

/// Redacts the JSON of any command and marks it as redacted: removes identifying fields from every
/// `environment`, folders from command lines, plug-ins and the names of sizes, and numbers of runs in a store.
#[must_use]
pub fn redacted(mut value: Value) -> Value {
    Redaction::of(&value).json(&mut value);
    if let Value::Object(object) = &mut value {
        object.insert("redacted".to_owned(), true.into());
    }
    value
}

/// What stands for names with folders in some results.
#[derive(Clone, Debug, Default)]
pub struct Redaction {
    /// The names and what stands for them, the longest first: one may be part of another.
    names: Vec<(String, String)>,
}

impl Redaction {
    /// Finds the names of sizes and of the files in commands in any JSON. Files of one name in several folders get numbers, so
    /// that what was measured with them stays apart.
    #[must_use]
    pub fn of(value: &Value) -> Redaction {
        let mut found = Vec::new();
        names_in(value, &mut found);
        found.sort();
        found.dedup();
        let mut names: Vec<(String, String)> = Vec::new();
        for name in found {
            let short = without_folder(&name);
            let taken = |short: &str| names.iter().any(|(_, taken)| taken == short);
            let short = match taken(&short) {
                false => short,
                true => (2..).map(|n| format!("{short}#{n}")).find(|other| !taken(other)).unwrap_or(short),
            };
            names.push((name, short));
        }
        // Warnings name the file alone.
        let files: Vec<(String, String)> =
            names.iter().filter_map(|(name, short)| Some((file_of(name)?, file_of(short)?))).collect();
        names.extend(files);
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Redaction { names }
    }

    /// A text without the folders of these names.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, short) in &self.names {
            if text.contains(name.as_str()) {
                text = text.replace(name.as_str(), short);
            }
        }
        strip_sources(&text)
    }

    /// Redacts the texts of a run and its numbers; its environment as that of any JSON.
    pub fn result(&self, result: &mut RunResult) {
        result.run_id = None;
        environment(&mut result.environment);
        for cell in &mut result.cells {
            cell.situation = self.text(&cell.situation);
            cell.condition.sizes.label = self.text(&cell.condition.sizes.label);
            cell.detail = cell.detail.take().map(|detail| self.text(&detail));
        }
        for warning in &mut result.warnings {
            warning.cause = self.text(&warning.cause);
            warning.remedy = self.text(&warning.remedy);
        }
        for (situation, _) in result.noise_floor.iter_mut().flat_map(|floor| &mut floor.by_situation) {
            *situation = self.text(situation);
        }
    }

    /// Redacts the names of rounds' situations.
    pub fn rounds(&self, rounds: &mut [RoundRecord]) {
        for record in rounds {
            record.situation = self.text(&record.situation);
        }
    }

    /// Redacts the names of situations.
    pub fn gathered(&self, gathered: &mut [Gathered]) {
        for Gathered { situation: Situation { name, condition, .. }, .. } in gathered {
            *name = self.text(name);
            condition.sizes.label = self.text(&condition.sizes.label);
        }
    }

    fn json(&self, value: &mut Value) {
        match value {
            Value::Array(values) => values.iter_mut().for_each(|value| self.json(value)),
            Value::Object(object) => {
                *object = std::mem::take(object)
                    .into_iter()
                    .map(|(key, mut value)| {
                        self.field(&key, &mut value);
                        (self.text(&key), value)
                    })
                    .collect();
            }
            Value::String(text) => *text = self.text(text),
            _ => {}
        }
    }

    fn field(&self, key: &str, value: &mut Value) {
        match key {
            "environment" => environment(value),
            "command" | "command_line" | "made_by" | "file" | "against" => {
                self.words(value, key == "command")
            }
            "plugins" => self.words(value, false),
            // The ids of experiments, claims and documents are words.
            "run_id" | "id" if value.is_number() => *value = Value::Null,
            _ => self.json(value),
        }
    }

    /// Reduces each path to its last part: every string is a word, or with `is_line` one that is not in an array a line
    /// of a shell.
    fn words(&self, value: &mut Value, is_line: bool) {
        match value {
            Value::String(text) if is_line => *text = self.line(text),
            Value::String(text) => *text = self.word(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.words(value, false)),
            Value::Object(_) => self.json(value),
            _ => {}
        }
    }

    /// A command as a shell reads it, without folders.
    #[must_use]
    pub fn line(&self, line: &str) -> String {
        let words = shell_words(line).unwrap_or_else(|| line.split(' ').map(str::to_owned).collect());
        let words: Vec<String> = words.iter().map(|word| self.word(word)).collect();
        shell(words.iter().map(String::as_str))
    }

    /// Removes the folder from `--plugin=/home/me/mine.so:my_sum:checksum`. Words with a slash that are no paths, such as
    /// variants with their families or a unit, stay.
    fn word(&self, word: &str) -> String {
        let text = self.text(word);
        if SOURCES.iter().any(|source| text.contains(source)) || text.split(',').all(is_no_path) {
            return text;
        }
        let (option, path) = split_path(&text);
        format!("{option}{}", path.trim_end_matches('/').rsplit('/').next().unwrap_or_default())
    }
}

/// True for words without a slash, units, variants with their families, and sizes with a period.
fn is_no_path(word: &str) -> bool {
    let word = word.split_once('=').filter(|(option, _)| option.starts_with("--")).map_or(word, |(_, of)| of);
    let Some((family, name)) = word.split_once('/') else { return true };
    let is_variant = Family::from_name(family).is_some() || family == "*";
    !name.contains('/') && (is_variant || word.contains("/period:") || word.parse::<Unit>().is_ok())
}

fn environment(value: &mut Value) {
    for (part, fields) in IDENTIFYING {
        let Some(part) = value.get_mut(part).and_then(Value::as_object_mut) else { continue };
        part.retain(|key, _| !fields.contains(&key.as_str()));
    }
}

/// The names of sizes that have files, and the files that commands name.
fn names_in(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.extend(sizes_in(text)),
        Value::Array(values) => values.iter().for_each(|value| names_in(value, found)),
        Value::Object(object) => {
            for (key, value) in object {
                match (key.as_str(), value) {
                    ("command", Value::String(line)) => {
                        shell_words(line).iter().flatten().for_each(|word| files_in(word, found));
                    }
                    ("command" | "command_line" | "made_by", Value::Array(words)) => {
                        words.iter().filter_map(Value::as_str).for_each(|word| files_in(word, found));
                    }
                    _ => names_in(value, found),
                }
            }
        }
        _ => {}
    }
}

/// The files and sizes with folders in a word of a command.
fn files_in(word: &str, found: &mut Vec<String>) {
    let sizes = sizes_in(word);
    let is_path = sizes.is_empty() && !word.split(',').all(is_no_path);
    let path = split_path(word).1.trim_end_matches('/');
    found.extend((is_path && path.contains('/')).then(|| path.to_owned()));
    found.extend(sizes);
}

/// An option or a name up to its `=`, and the path after it.
fn split_path(word: &str) -> (&str, &str) {
    let name = word.split('/').next().unwrap_or_default().rfind('=').map_or(0, |at| at + 1);
    word.split_at(name)
}

/// The sizes with files and folders in a word: a label or a list of sizes.
fn sizes_in(word: &str) -> Vec<String> {
    let list = word.strip_prefix("--sizes=").unwrap_or(word);
    match SOURCES.iter().any(|source| list.contains(source)) {
        true => {
            let items = list.split(',').map(str::trim);
            let has_folder = |item: &&str| {
                SOURCES.iter().any(|source| item.starts_with(source)) && folder_end(item).is_some()
            };
            items.filter(has_folder).map(str::to_owned).collect()
        }
        false => Vec::new(),
    }
}

/// Where the folder of a size with a file ends: at its last slash but that of a period.
fn folder_end(size: &str) -> Option<usize> {
    let file = size.rfind("/period:").map_or(size, |at| &size[..at]);
    file.rfind('/')
}

/// `capture:x.pcap` for `capture:/a b/x.pcap`, and `x.json` for `/a/x.json`.
fn without_folder(name: &str) -> String {
    let source = SOURCES.iter().find(|source| name.starts_with(*source)).unwrap_or(&"");
    folder_end(name).map_or_else(|| name.to_owned(), |end| format!("{source}{}", &name[end + 1..]))
}

/// The file of a size.
fn file_of(size: &str) -> Option<String> {
    let source = SOURCES.iter().find(|source| size.starts_with(*source))?;
    let file = &size[source.len()..];
    Some(file.rfind("/period:").map_or(file, |at| &file[..at]).to_owned())
}

/// Removes the folders of sizes that are not known by name. In the name of a situation no other slash follows; in a
/// sentence a file ends at a space.
fn strip_sources(text: &str) -> String {
    let Some(at) = SOURCES.iter().filter_map(|source| Some(text.find(source)? + source.len())).min() else {
        return text.to_owned();
    };
    let (before, rest) = text.split_at(at);
    let source = SOURCES.iter().find(|source| before.ends_with(*source)).map_or(0, |source| source.len());
    let head = &before[..at - source];
    let is_name = head.is_empty() || Family::from_name(head.trim_end()).is_some();
    let end = match is_name {
        true => rest.find(',').unwrap_or(rest.len()),
        false => rest.find([',', ' ', '\'']).unwrap_or(rest.len()),
    };
    let (file, rest) = rest.split_at(end);
    let file = folder_end(file).map_or(file, |slash| &file[slash + 1..]);
    format!("{before}{file}{}", strip_sources(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn identifying_fields_are_removed_and_those_that_affect_figures_stay() {
        let value = json!({
            "run_id": 7,
            "command": ["/opt/x/carryline", "measure", "--variants", "zero/avx2,copy/*", "--unit", "GB/s", "--plugin=/home/me/mine.so:f:zero"],
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
                "command": ["carryline", "measure", "--variants", "zero/avx2,copy/*", "--unit", "GB/s", "--plugin=mine.so:f:zero"],
                "environment": {"cpu": {"vendor": "AMD", "model": 2}, "system": {"libc": "glibc 2.36"}},
                "plan": {"plugins": [["mine.so:f:zero", {"family": "zero", "name": "f"}]]},
                "base": {"run_id": null},
                "experiments": [{"id": "zeroing"}],
            })
        );
    }

    #[test]
    fn folders_with_spaces_are_removed_from_commands() {
        let command = "carryline measure --db '/tmp/Acme Jane Doe/r.sqlite' --report 'Jane Doe/p.html'";
        let value = redacted(json!({
            "runs": [{"command": command}],
            "base": {"name": "Jane Doe/old.json"},
            "cells": [{"run": "Jane Doe/old.json"}],
            "command_line": ["carryline", "compare", "Jane Doe/old.json", "--db", "/tmp/Acme Jane Doe/r.sqlite", "--sizes=capture:Jane Doe/a.pcap,40"],
        }));
        assert_eq!(value["runs"][0]["command"], "carryline measure --db r.sqlite --report p.html");
        assert!(!value.to_string().contains("Jane"), "the names of runs from files: {value}");
        assert_eq!(
            value["command_line"],
            json!(["carryline", "compare", "old.json", "--db", "r.sqlite", "--sizes=capture:a.pcap,40"])
        );
    }

    #[test]
    fn folders_are_removed_from_the_names_of_sizes_wherever_they_are() {
        let (one, two) = ("capture:/tmp/a b/secret/x.pcap", "capture:/tmp/other/x.pcap");
        let value = json!({
            "cells": [
                {"situation": format!("zero {one} hot independent"), "condition": {"size": one}},
                {"situation": format!("zero {two} hot independent"), "condition": {"size": two}},
                {"situation": "copy histogram:/tmp/se cret/h.csv/period:8 hot"},
            ],
            "noise_floor": {"by_situation": {
                format!("zero {one} hot independent"): 0.1,
                format!("zero {two} hot independent"): 0.2,
            }},
            "warnings": [{"cause": "/tmp/a b/secret/x.pcap: 2 packets of 4 were skipped (see docs/cli.md)"}],
        });
        let value = redacted(value);
        let text = value.to_string();
        for word in ["secret", "a b", "other", "tmp", "se cret"] {
            assert!(!text.contains(word), "{word} in {text}");
        }
        assert_eq!(value["noise_floor"]["by_situation"].as_object().map(serde_json::Map::len), Some(2));
        assert_eq!(value["cells"][0]["situation"], "zero capture:x.pcap hot independent");
        assert_eq!(value["cells"][1]["condition"]["size"], "capture:x.pcap#2");
        assert_eq!(value["cells"][2]["situation"], "copy histogram:h.csv/period:8 hot");
        assert_eq!(value["warnings"][0]["cause"], "x.pcap: 2 packets of 4 were skipped (see docs/cli.md)");
    }
}
