//! Builds the examples of `docs/plugins.md` with the documented commands, and verifies them.

use crate::child::{verify_in_child, verify_with};
use crate::compile;
use carryline_variants::Family;
use carryline_verification::plugin::PluginSpec;
use std::path::Path;

/// The fenced blocks of a page, each with the word after its fence.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks: Vec<(String, String)> = Vec::new();
    let mut open = false;
    for line in page.lines() {
        match (line.strip_prefix("```"), open) {
            (Some(word), false) => blocks.push((word.to_owned(), String::new())),
            (Some(_), true) => {}
            (None, true) => {
                let (_, text) = blocks.last_mut().expect("an open block");
                text.push_str(line);
                text.push('\n');
            }
            (None, false) => continue,
        }
        open ^= line.starts_with("```");
    }
    blocks
}

#[test]
fn documented_plug_ins_are_verified() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/plugins.md");
    let page = std::fs::read_to_string(page).expect("docs/plugins.md");
    let folder = tempfile::tempdir().expect("a folder");
    let mut verified = Vec::new();
    for (language, text) in blocks(&page) {
        match language.as_str() {
            // A source starts with its comment sign and its name.
            "c" | "asm" => {
                let name =
                    text.split(' ').nth(1).and_then(|word| word.strip_suffix(':')).expect("a file's name");
                std::fs::write(folder.path().join(name), &text).expect("a source");
            }
            "sh" => {
                for line in text.lines() {
                    let words: Vec<&str> = line.split(' ').collect();
                    match words[0] {
                        "cc" => compile(&words[1..], folder.path()),
                        "carryline" => {
                            let at = words.iter().position(|word| *word == "--plugin").expect("a plug-in");
                            let spec = PluginSpec::parse(words[at + 1]).expect("a spec");
                            let outcome = verify_in_child(&spec, folder.path());
                            let summary = outcome.unwrap_or_else(|example| panic!("{spec}: {example}"));
                            assert!(summary.notes.is_empty(), "{spec}: {:?}", summary.notes);
                            verified.push(spec.family);
                        }
                        other => panic!("the page runs {other}, which this test does not know"),
                    }
                }
            }
            _ => {}
        }
    }
    assert_eq!(verified, [Family::Checksum, Family::Zero, Family::Zero]);
}

#[test]
fn bare_file_names_are_in_the_current_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "#include <string.h>\nvoid z(void *dst, size_t len) { memset(dst, 0, len); }\n";
    std::fs::write(folder.path().join("bare.c"), source).expect("a source");
    compile(&["-O2", "-fPIC", "-shared", "-o", "bare.so", "bare.c"], folder.path());
    let spec = PluginSpec::parse("bare.so:z:zero").expect("a spec");
    assert!(verify_in_child(&spec, folder.path()).is_ok());
}

#[test]
fn missing_symbols_are_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("few.c"), "int present;\n").expect("a source");
    compile(&["-fPIC", "-shared", "-o", "few.so", "few.c"], folder.path());
    let text = format!("{}:absent:copy", folder.path().join("few.so").display());
    let spec = PluginSpec::parse(&text).expect("a spec");
    let error = carryline_verification::plugin::load(&spec).expect_err("no such symbol").to_string();
    assert!(error.contains("has no symbol 'absent'"), "{error}");
}

#[test]
fn verification_continues_if_memory_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "#include <stdint.h>\n#include <string.h>\n\
        uint32_t both(void *to, const void *from, size_t len, uint32_t seed)\n\
        { const uint8_t *p = from; uint64_t sum = seed; uint16_t w;\n\
          for (size_t i = 0; i + 1 < len; i += 2) { memcpy(&w, p + i, 2); sum += w; }\n\
          if (len & 1) sum += p[len - 1];\n\
          memcpy(to, from, len);\n\
          while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);\n\
          return (uint32_t)sum; }\n";
    std::fs::write(folder.path().join("both.c"), source).expect("a source");
    compile(&["-O2", "-fPIC", "-shared", "-o", "both.so", "both.c"], folder.path());
    let spec = PluginSpec::parse("both.so:both:copy_checksum").expect("a spec");
    let plenty = verify_with(&spec, folder.path(), 20, false).unwrap_or_else(|example| panic!("{example}"));
    let scarce = verify_with(&spec, folder.path(), 20, true).unwrap_or_else(|example| panic!("{example}"));
    assert!(plenty.notes.is_empty(), "{:?}", plenty.notes);
    // Shared memory is possible without a file; the address is not available.
    assert_eq!(scarce.notes, ["not tried: buffers across address 0x80000000, which is not free"]);
    assert!(scarce.calls > plenty.calls / 2, "the rest is a whole verification: {} calls", scarce.calls);
}
