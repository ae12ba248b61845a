//! Rules for sources: `# Safety` on every unsafe function, private ones too, and comments that discharge
//! obligations instead of referring to other comments; no unused code; whole tables in documentation.
//!
//! Clippy's `missing_safety_doc` with private items mistakes safe functions with `#[target_feature]` for
//! unsafe ones.

use std::path::{Path, PathBuf};

/// The folders of our crates.
const FOLDERS: [&str; 4] = ["fuzz", "library", "laboratory", "tools"];

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry of the folder").path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn declares_unsafe_function(line: &str) -> bool {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ").map_or("", |(_, rest)| rest),
        Some(rest) => rest.trim_start(),
        None => line,
    };
    let line = line.strip_prefix("const ").unwrap_or(line);
    let names = |prefix: &str| line.strip_prefix(prefix).is_some_and(|rest| !rest.starts_with('('));
    names("unsafe fn ") || names("unsafe extern \"C\" fn ")
}

/// Whether it is a method of a trait implementation (the trait documents its requirements) or a declaration
/// in a block `extern "C" { ... }` (a function of another language).
fn is_documented_elsewhere(lines: &[&str], at: usize) -> bool {
    let around =
        lines[..at].iter().rev().find(|line| !line.trim().is_empty() && indent(line) < indent(lines[at]));
    around.is_some_and(|line| {
        line.contains("impl") && line.contains(" for ") || line.contains("extern \"C\" {")
    })
}

fn all_sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in FOLDERS {
        sources(&root.join(folder), &mut files);
    }
    files
}

/// Unused code must be removed; only other processors, other systems and files shared by several test
/// programs are accepted as reasons for `allow(dead_code)`.
#[test]
fn dead_code_is_not_allowed() {
    let excuse = concat!("allow(", "dead_code");
    let mut wrong = Vec::new();
    for file in all_sources() {
        let text = std::fs::read_to_string(&file).expect("a source file");
        let lines: Vec<&str> = text.lines().collect();
        for (at, _) in lines.iter().enumerate().filter(|(_, line)| line.contains(excuse)) {
            let around = lines[at.saturating_sub(3)..=at].join(" ");
            let elsewhere = around.contains("cfg_attr(") && around.contains("not(");
            if !elsewhere && !is_shared(&file, lines.get(at + 1).copied()) {
                wrong.push(format!("{}:{}", file.display(), at + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether a file is under `tests/`, or the next line includes one from there.
fn is_shared(file: &Path, next: Option<&str>) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let inside = file.strip_prefix(root).expect("a file of the repository");
    inside.components().any(|part| part.as_os_str() == "tests")
        || next.is_some_and(|line| line.contains("/tests/"))
}

/// A row that is wrapped, or a paragraph without an empty line before it, becomes a row of its own.
#[test]
fn tables_in_documentation_have_one_row_a_line() {
    let (mut rows, mut wrong) = (0, Vec::new());
    for file in all_sources() {
        let text = std::fs::read_to_string(&file).expect("a source file");
        let mut is_after_row = false;
        for (at, line) in text.lines().map(str::trim_start).enumerate() {
            let documentation = line.strip_prefix("//!").or_else(|| line.strip_prefix("///"));
            let words = documentation.unwrap_or_default().trim();
            let is_row = words.starts_with("| ");
            if is_after_row && !is_row && !words.is_empty() {
                wrong.push(format!("{}:{}: {words}", file.display(), at + 1));
            }
            rows += usize::from(is_row);
            is_after_row = is_row;
        }
    }
    assert!(rows > 20, "only {rows} rows found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn unsafe_code_is_documented() {
    let (mut functions, mut wrong) = (0, Vec::new());
    for file in all_sources() {
        let text = std::fs::read_to_string(&file).expect("a source file");
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let place = || format!("{}:{}", file.display(), at + 1);
            if let Some((_, said)) = line.split_once("// SAFETY: ")
                && ["as above", "as below", "the caller's obligation"]
                    .iter()
                    .any(|stamp| said.starts_with(stamp))
            {
                wrong.push(format!("{}: {said}", place()));
            }
            if !declares_unsafe_function(line) || is_documented_elsewhere(&lines, at) {
                continue;
            }
            functions += 1;
            let above = lines[..at].iter().rev().map(|line| line.trim_start());
            let mut above =
                above.take_while(|line| ["///", "#[", "$(#["].iter().any(|start| line.starts_with(start)));
            if !above.any(|line| line.starts_with("/// # Safety")) {
                wrong.push(format!("{}: no `# Safety`", place()));
            }
        }
    }
    assert!(functions > 300, "only {functions} unsafe functions found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
