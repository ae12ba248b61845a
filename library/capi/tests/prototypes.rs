//! Tests that `carryline.h` matches the code: its prototypes and types are those that cbindgen reads from the
//! source, and its version is that of the package.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text without comments and preprocessor lines.
fn bare(header: &str) -> String {
    let mut code = String::new();
    let mut rest = header;
    while let Some((before, after)) = rest.split_once("/*") {
        code.push_str(before);
        rest = after.split_once("*/").expect("a comment ends").1;
    }
    code.push_str(rest);
    let mut continued = false;
    let code = code.lines().filter(|line| {
        let preprocessor = continued || line.trim_start().starts_with('#');
        continued = preprocessor && line.ends_with('\\');
        !preprocessor
    });
    code.collect::<Vec<_>>().join("\n")
}

/// A prototype as a list of words, without the header's additions for compilers.
fn normalised(prototype: &str) -> String {
    let mut spaced = String::new();
    for character in prototype.chars() {
        match character {
            '*' | '(' | ')' | ',' => spaced.extend([' ', character, ' ']),
            _ => spaced.push(character),
        }
    }
    let words = spaced.split_whitespace().filter(|word| !ADDED.contains(word));
    words.collect::<Vec<_>>().join(" ").replace("( void )", "( )")
}

/// The header's attributes for compilers, and the tags that only C needs.
const ADDED: [&str; 5] = ["CARRYLINE_PURE", "CARRYLINE_CONST", "CARRYLINE_USE", "struct", "enum"];

/// The types defined with `typedef`, each with its members, except POSIX's `struct iovec`.
fn types(header: &str) -> BTreeSet<String> {
    let code = bare(header);
    let mut found = BTreeSet::new();
    for definition in code.split("typedef ").skip(1) {
        let Some((name, body)) = definition.split_once('{') else { continue };
        let members = body.split_once('}').expect("a body ends").0.trim().trim_end_matches(',');
        let (name, members) = (normalised(name), normalised(members));
        if name != "iovec" && !name.contains("carryline_private_") {
            found.insert(format!("{name} {{ {members} }}"));
        }
    }
    found
}

/// The functions that are declared but not defined, except private ones. Parameter names count.
fn prototypes(header: &str) -> BTreeSet<String> {
    let code = bare(header);
    let code = code.replace("extern \"C\" {", "");
    let mut found = BTreeSet::new();
    let (mut depth, mut statement) = (0_usize, String::new());
    for character in code.chars() {
        match character {
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                statement.clear();
            }
            ';' if depth == 0 => {
                let prototype = normalised(&std::mem::take(&mut statement));
                if prototype.contains(" ( ") && !prototype.contains("carryline_private_") {
                    found.insert(prototype);
                }
            }
            _ if depth == 0 => statement.push(character),
            _ => {}
        }
    }
    found
}

/// The source files of the library.
fn sources() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let entries = std::fs::read_dir(folder).expect("the source of this crate");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files
}

/// The prototypes and types of the code. Lengths are `usize`, which cbindgen writes as `size_t`.
fn generated() -> String {
    let config = cbindgen::Config {
        language: cbindgen::Language::C,
        usize_is_size_t: true,
        documentation: false,
        ..cbindgen::Config::default()
    };
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in sources() {
        builder = builder.with_src(source);
    }
    let bindings = builder.generate();
    let mut text = Vec::new();
    bindings.expect("cbindgen can parse the source").write(&mut text);
    String::from_utf8(text).expect("C is ASCII")
}

#[test]
fn the_header_declares_what_the_code_defines() {
    let (of_header, of_code) = (prototypes(&file("include/carryline.h")), prototypes(&generated()));
    let texts = sources().into_iter().map(|path| std::fs::read_to_string(path).expect("source text"));
    let defined = texts.map(|text| text.matches("#[unsafe(no_mangle)]").count()).sum::<usize>();
    assert_eq!(of_code.len(), defined, "cbindgen sees every function: {of_code:#?}");
    let (missing, stale): (Vec<_>, Vec<_>) =
        (of_code.difference(&of_header).collect(), of_header.difference(&of_code).collect());
    assert!(
        missing.is_empty() && stale.is_empty(),
        "only in the code: {missing:#?}\nonly in the header: {stale:#?}"
    );
    let (of_header, of_code) = (types(&file("include/carryline.h")), types(&generated()));
    assert_eq!(of_header, of_code, "types of the header, types of the code");
    assert_eq!(of_header.len(), 5);
    assert!(
        of_header.contains("carryline_intent { uint32_t next; uint32_t source_done; size_t job_bytes; }")
    );
}

/// The values of the constants of the enumeration, in the forms `NAME = 1` and `#define NAME 1`.
fn numbers(text: &str) -> BTreeSet<(String, u32)> {
    text.lines()
        .map(|line| line.trim().trim_start_matches("#define "))
        .filter(|line| line.starts_with("CARRYLINE_NEXT_"))
        .map(|line| line.replace([',', '='], " "))
        .map(|line| {
            let mut words = line.split_whitespace();
            let name = words.next().expect("the line has a name").to_owned();
            (name, words.next().and_then(|word| word.parse().ok()).expect("a number after the name"))
        })
        .collect()
}

#[test]
fn the_constants_of_intents_match() {
    let of_header = numbers(&file("include/carryline.h"));
    assert_eq!(of_header, numbers(&generated()));
    assert_eq!(of_header.len(), 5);
}

#[test]
fn a_difference_is_detected() {
    let header = file("include/carryline.h");
    for (from, to) in [
        ("void carryline_zero(void *dst, size_t len);", "void carryline_zero(void *dst, uint32_t len);"),
        ("uint32_t carryline_copy_and_sum(", "uint64_t carryline_copy_and_sum("),
        ("void carryline_copy(void *dst, const void *src", "void carryline_copy(void *dst, void *src"),
        ("const char *carryline_version(void);", ""),
        ("bool carryline_sum_verify(carryline_sum sum)", "bool carryline_sum_verify(carryline_csum sum)"),
        ("    uint32_t acc;", "    uint64_t acc;"),
        ("    uint8_t b[2];", "    uint8_t b[4];"),
        ("CARRYLINE_UDP_INTACT = 1", "CARRYLINE_UDP_INTACT = 3"),
    ] {
        assert!(header.contains(from), "{from}");
        let changed = header.replacen(from, to, 1);
        let same = prototypes(&changed) == prototypes(&generated()) && types(&changed) == types(&generated());
        assert!(!same, "{from} -> {to}");
    }
}

#[test]
fn the_header_has_the_version_of_the_package() {
    let line = format!("#define CARRYLINE_VERSION \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(file("include/carryline.h").lines().any(|found| found == line), "{line}");
}
