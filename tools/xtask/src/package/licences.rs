//! The licences of the crates linked into a program, as their texts require.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

/// A list of the crates linked into some packages of the workspace, and the text of each distinct licence.
pub(crate) fn of(workspace: &Path, packages: &[&str]) -> io::Result<String> {
    let mut command = crate::cargo(workspace);
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    command.args(["metadata", "--format-version=1", "--locked", "--filter-platform", &target]);
    let output = command.output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let linked = linked(&metadata, packages);

    let mut list = String::new();
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let all = metadata["packages"].as_array().into_iter().flatten();
    // Workspace packages have no source.
    for package in
        all.filter(|package| linked.contains(text(&package["id"])) && package["source"].is_string())
    {
        let name = format!("{} {}", text(&package["name"]), text(&package["version"]));
        let licence = package["license"].as_str().unwrap_or("see its licence file");
        list.push_str(&format!("{name}: {licence}\n"));
        let Some(folder) = Path::new(text(&package["manifest_path"])).parent() else { continue };
        for licence in licence_files(folder)? {
            texts.entry(licence).or_default().insert(name.clone());
        }
    }
    let mut whole = format!(
        "Linked with carryline, under these licences (A OR B: at your option), in addition to the Rust standard library \
         (MIT OR Apache-2.0):\n\n{list}"
    );
    for (licence, names) in texts {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        whole.push_str(&format!("\n{}\n{names}:\n\n{}\n", "-".repeat(72), licence.trim_end()));
    }
    Ok(whole)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The ids of the crates linked into workspace packages, without build and test dependencies.
fn linked<'m>(metadata: &'m Value, packages: &[&str]) -> BTreeSet<&'m str> {
    let list = |value: &'m Value| value.as_array().into_iter().flatten();
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"]["nodes"]).map(|node| (text(&node["id"]), node)).collect();
    let is_wanted =
        |package: &&'m Value| package["source"].is_null() && packages.contains(&text(&package["name"]));
    let mut left: Vec<&str> =
        list(&metadata["packages"]).filter(is_wanted).map(|package| text(&package["id"])).collect();
    let mut found = BTreeSet::new();
    while let Some(id) = left.pop() {
        if !found.insert(id) {
            continue;
        }
        let dependencies = nodes.get(id).into_iter().flat_map(|node| list(&node["deps"]));
        let is_linked = |one: &&'m Value| list(&one["dep_kinds"]).any(|kind| kind["kind"].is_null());
        left.extend(dependencies.filter(is_linked).map(|one| text(&one["pkg"])));
    }
    found
}

/// The texts of the licence files in a crate's folder.
fn licence_files(folder: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        let is_licence = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"]
            .iter()
            .any(|start| name.starts_with(start));
        if is_licence && entry.file_type()?.is_file() {
            found.push(String::from_utf8_lossy(&fs::read(entry.path())?).replace("\r\n", "\n"));
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn build_and_test_dependencies_are_not_linked() {
        let dependency = |name: &str, kind: Value| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [{"id": "ours", "name": "ours", "source": null}, {"id": "a", "name": "a", "source": "registry"}],
            "resolve": {"nodes": [
                {"id": "ours", "deps": [dependency("a", Value::Null), dependency("cc", json!("build"))]},
                {"id": "a", "deps": [dependency("b", Value::Null), dependency("proptest", json!("dev"))]},
                {"id": "b", "deps": []},
            ]},
        });
        assert_eq!(linked(&metadata, &["ours"]), BTreeSet::from(["ours", "a", "b"]));
    }
}
