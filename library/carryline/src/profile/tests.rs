//! Profile files: written files parse back, errors are named, and the built-in files equal the writer's
//! output.

use super::*;
use crate::dispatch::kernels;
use std::path::Path;

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/profiles"))
}

fn zen5() -> String {
    built_in("amd-zen5").expect("a built-in profile").to_string()
}

#[test]
fn every_file_is_built_in_and_equals_the_writer_s_output() {
    let mut files = 0;
    for entry in std::fs::read_dir(folder()).expect("the folder of profiles") {
        let path = entry.expect("a file").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a UTF-8 name");
        let profile = built_in(name).unwrap_or_else(|| panic!("{name} is not in the list of built_in.rs"));
        let text = std::fs::read_to_string(&path).expect("a profile");
        assert_eq!(profile.to_string(), text, "{}", path.display());
        assert!(text.len() <= crate::tuning::checked::MOST_FILE_BYTES);
        files += 1;
    }
    assert_eq!(files, built_in_names().count());
}

#[test]
fn written_profiles_parse_back() {
    for name in built_in_names() {
        let profile = built_in(name).expect("a built-in profile");
        for source in ["one line", "two\nlines", "two lines\n", ""] {
            for run in [None, Some("2026-11-22 7")] {
                let mut profile = Profile { source, run, ..*profile };
                for decision in Decision::ALL {
                    let of_word = decision.word().map(|(_, of_word)| of_word);
                    for bytes in
                        [*decision.bounds().start(), *decision.bounds().end()].into_iter().chain(of_word)
                    {
                        profile.decisions =
                            profile.decisions.with(*decision, bytes).expect("an allowed value");
                        assert_eq!(parse(&profile.to_string()), Ok(profile));
                    }
                }
                for function in Function::ALL {
                    for kernel in kernel_names(function) {
                        profile.kernels[function as usize] = Some(kernel);
                        assert_eq!(parse(&profile.to_string()), Ok(profile));
                    }
                }
            }
        }
    }
}

#[test]
fn blanks_comments_and_line_endings_do_not_matter() {
    let profile = parse(&zen5()).map(|profile| profile.decisions);
    let text = zen5().replace(" = ", "\t=  ").replace("[2, 2]", "[ 2 ,2 ] # models");
    assert_eq!(parse(&text).map(|profile| profile.decisions), profile);
    let text = zen5().replace("\n\n", "\n \t \n# \u{e4}\n").replace("1_048_576", "1048576");
    assert_eq!(parse(text.trim_end()).map(|profile| profile.decisions), profile);
    let one_line = parse(&zen5()).map(|zen5| Profile { source: "", ..zen5 }.to_string()).expect("a profile");
    assert_eq!(parse(&one_line.replace('\n', "\r\n")).map(|profile| profile.decisions), profile);
}

/// Errors name the line, the word, and what is expected.
#[test]
fn errors_name_the_line_and_the_word() {
    let header = "version = 1\nname = \"a\"\nsource = \"b\"\n";
    for (text, message) in [
        ("", "line 1: missing version in the part before the first [section]"),
        ("version = 1", "line 1: missing name in the part before the first [section]"),
        ("version = 2", "line 1: found 2; version must be 1, the only one this library supports"),
        ("version = \"1\"", "line 1: found \"1\"; version must be 1, the only one this library supports"),
        (
            "\n\nversoin = 1",
            "line 3: unknown key versoin in the part before the first [section]; known: version name source run",
        ),
        ("version = 1\nversion = 1", "line 2: duplicate version"),
        ("version 1", "line 1: found 1, expected '=' and a value"),
        (
            "version =",
            "line 1: found the end of the line, expected a number, a quoted string or [first, last]",
        ),
        ("version = true", "line 1: found true, expected a number, a quoted string or [first, last]"),
        ("version = 01", "line 1: found 01, expected a number like 65536 or 65_536"),
        ("version = 1_", "line 1: found 1_, expected a number like 65536 or 65_536"),
        ("version = 1__0", "line 1: found 1__0, expected a number like 65536 or 65_536"),
        ("version = 1.0", "line 1: found .0, expected a comment or the end of the line"),
        ("version = 1 name = 2", "line 1: found name, expected a comment or the end of the line"),
        ("= 1", "line 1: found =, expected a key, a [section] or a # comment"),
        ("name = \"\"", "line 1: found \"\"; name must be a quoted single-line string of 1 to 64 bytes"),
        ("name = \"a", "line 1: found the end of the line, expected a closing quotation mark"),
        ("name = \"a\\n\"", "line 1: found \\n\", expected a string without backslashes"),
        ("name = \"a\u{7}\"", "line 1: found \\u{7}\", expected a string without control characters"),
        (
            "name = \"\"\"\na\nb\"\"\"",
            "line 1: found \"\"\"\\na\\nb\"\"\"; name must be a quoted single-line string of 1 to 64 bytes",
        ),
        (
            "source = \"\"\"\na\n\n",
            "line 4: found the end of the line, expected three closing quotation marks",
        ),
        (
            "source = \"\"\"\na \" b\"\"\"",
            "line 2: found \", expected three closing quotation marks, and none inside the string",
        ),
        ("# \u{7}", "line 1: found \\u{7}, expected a comment or the end of the line"),
        ("[cpu]\n[cpu]", "line 2: duplicate cpu"),
        ("[cp]", "line 1: unknown section [cp]; known: [cpu] [kernels] [decisions]"),
        ("[the-beginning]", "line 1: unknown section [the-beginning]; known: [cpu] [kernels] [decisions]"),
        ("[cpu", "line 1: found the end of the line, expected ']'"),
        (
            "[cpu]\nvendor = \"amd\"",
            "line 2: found \"amd\"; vendor must be the 12 characters of vendor_id in /proc/cpuinfo",
        ),
        ("[cpu]\nfamily = 65536", "line 2: found 65536; family must be a number up to 65535"),
        (
            "[cpu]\nmodels = [15, 0]",
            "line 2: found [15, 0]; models must be the first and the last model, like [0, 15]",
        ),
        ("[cpu]\nmodels = 3", "line 2: found 3; models must be the first and the last model, like [0, 15]"),
        ("[cpu]\nmodels = [3]", "line 2: found ], expected ',' and a second number"),
        (
            "[kernels]\nzero = \"adc\"",
            "line 2: found \"adc\"; the kernels of zero are \"avx512\" \"avx512_branched\" \"avx512_prefer_256\" \"avx2\" \"sse2\" \"portable\"",
        ),
        (
            "[kernels]\nset = \"avx2\"",
            "line 2: unknown key set in [kernels]; known: zero copy checksum copy_and_sum",
        ),
        (
            "[decisions]\nrep_movsb_from_bytes = 100",
            "line 2: found 100; rep_movsb_from_bytes must be 16384 to 1073741824 bytes, or \"never\"",
        ),
        (
            "[decisions]\nrep_movsb_from_bytes = 99999999999999999999",
            "line 2: found 99999999999999999999; rep_movsb_from_bytes must be 16384 to 1073741824 bytes, or \"never\"",
        ),
        (
            "[decisions]\nrep_movsb_from_bytes = \"detected\"",
            "line 2: found \"detected\"; rep_movsb_from_bytes must be 16384 to 1073741824 bytes, or \"never\"",
        ),
        (
            "[decisions]\ncache_share_bytes = 0",
            "line 2: found 0; cache_share_bytes must be 2097152 to 33554432 bytes, or \"detected\"",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), message, "{text}");
    }
    let missing = parse(header).unwrap_err().to_string();
    assert_eq!(missing, "line 4: missing rep_stosb_from_bytes in [decisions]");
    let (zen5, missing) = (zen5(), "last_level_bytes = \"detected\"\n");
    let line = zen5.lines().position(|line| line == "[decisions]").expect("the section") + 1;
    let error =
        parse(&zen5.replace(missing, "")).map(|profile| profile.name.to_owned()).unwrap_err().to_string();
    assert_eq!(error, format!("line {line}: missing last_level_bytes in [decisions]"));
    for (key, rest) in [
        ("family = 26\n", "missing family in [cpu]"),
        ("vendor = \"AuthenticAMD\"\n", "missing vendor in [cpu]"),
    ] {
        let error = parse(&zen5.replace(key, "")).map(|_| ()).unwrap_err().to_string();
        assert!(error.ends_with(rest), "{error}");
    }
}

#[test]
fn kernel_names_match_the_lists() {
    for function in Function::ALL {
        let here: Vec<_> = kernels(function).map(|(name, _)| name).collect();
        if cfg!(target_arch = "x86_64") {
            assert_eq!(kernel_names(function), here);
        }
        assert!(here.iter().all(|name| kernel_names(function).contains(name)));
    }
}

#[test]
fn decisions_are_complete_and_unambiguous() {
    for (index, decision) in Decision::ALL.iter().enumerate() {
        assert_eq!(*decision as usize, index);
        assert!(Decision::ALL[index + 1..].iter().all(|other| other.name() != decision.name()));
        assert!(decision.meaning().ends_with('.') && !decision.meaning().contains('\n'), "{decision:?}");
        // 0 means "not yet known", and the value of a word is outside the bounds.
        assert!(*decision.bounds().start() > 0);
        assert!(decision.word().is_none_or(|(_, of_word)| !decision.bounds().contains(&of_word)));
    }
}
