//! Wrong input: exit status 2, the word that was wrong, and the remedy.

use crate::support::{Place, short};

#[test]
fn a_wrong_word_is_named_with_the_nearest_right_one() {
    let place = Place::new();
    for (arguments, wanted) in [
        (&["measure", "--variants", "carrylin"][..], &["'carrylin'", "'carryline'"][..]),
        (&["verify", "rep_stosx"], &["'rep_stosx'", "'rep_stosb'"]),
        (&["verify", "zero/adc_1_stream"], &["'zero/adc_1_stream'"]),
        (&["list", "--family", "chksum"], &["'chksum'", "'checksum'"]),
        (&["measure", "--sizes", "fleet:memcpy-Z"], &["fleet:memcpy-Z", "fleet:memcpy-A"]),
        (&["measure", "--sizes", "4Q"], &["4Q"]),
        (&["measure", "--sizes", "9..3"], &["9..3"]),
        (&["measure", "--cache", "cold:clflsh"], &["'cold:clflsh'", "'cold:clflush'"]),
        (&["measure", "--cache", "warm"], &["'warm'", "cold:clflush"]),
        (&["measure", "--cache", "mixed:100"], &["'mixed:100'", "mixed:P"]),
        (&["measure", "--cache", "cold:clflush:single:single"], &["cold:METHOD:single"]),
        (&["measure", "--beside", "steam"], &["'steam'", "'stream'"]),
        (&["measure", "--family", "checksum", "--offsets", "alias"], &["--offsets alias", "checksum"]),
        (&["measure", "--family", "zero", "--offsets", "1:2"], &["--offsets 1:2", "zero", "two buffers"]),
        (&["measure", "--segments", "1,3", "--sizes", "40"], &["--segments", "--sizes"]),
        (&["measure", "--sizes", "capture:"], &["'capture:'", "capture:FILE"]),
        (&["measure", "--label", " "], &["--label", "empty"]),
        (&["history", "--full"], &["--full", "--show RUN"]),
        (&["history", "--unit", "ns"], &["--unit", "--show RUN"]),
        (&["history", "--show", "1", "--most", "2"], &["--most", "--show RUN"]),
        (&["measure", "--report", "-"], &["--report -", "name a file"]),
        (&["measure", "--cache", "cold"], &["cold:clflush, cold:evict or cold:arena"]),
        (&["measure", "--then", "read-later:0"], &["'read-later:0'", "at least 1"]),
        (&["explain", "W01", "zzz"], &["'zzz'"]),
        (&["watch", "--rounds", "0"], &["'0'", "1 or more"]),
        (&["measure", "--dependence", "chaned"], &["'chaned'", "'chained'"]),
        (&["measure", "--offsets", "5000"], &["'5000'", "0 to 4095"]),
        (&["measure", "--offsets", "-1"], &["'-1'", "0 to 4095"]),
        (&["measure", "--cache", "mixed:101"], &["'mixed:101'", "1 to 99"]),
        (&["measure", "--budget", "-5s"], &["'-5s'", "100ms to a day"]),
        (&["measure", "--seed", "x"], &["'x'", "whole number"]),
        (&["verify", "--patience", "x"], &["'x'", "1 to 3600"]),
        (&["history", "--most", "-1"], &["'-1'", "1 to"]),
        (&["measure", "--replicates", "1e9"], &["'1e9'", "1 to 64"]),
        (&["critical", "adc_1_stream", "--size", "5KB"], &["unknown unit 'KB'", "K, M or G"]),
        (&["critical", "adc_1_stream", "--size", "1e9"], &["'1e9'", "number of bytes"]),
        (&["critical", "adc_1_stream", "--size", "-4"], &["'-4'", "negative"]),
        (&["measure", "--then", "later"], &["'later'", "read-later"]),
        (&["measure", "--pages", "2k"], &["'2k'", "huge"]),
        (&["measure", "--segments", "1,0,3"], &["'0'"]),
        (&["measure", "--family", "zero", "--segments", "1,3"], &["--segments", "zero"]),
        (&["measure", "--family", "checksum", "--then", "read"], &["--then read", "checksum"]),
        (&["measure", "--unit", "furlongs"], &["'furlongs'", "GB/s"]),
        (&["measure", "--cpu", "9999"], &["9999"]),
        (&["critical"], &["VARIANT", "--bytes"]),
        (&["critical", "adc_1_strem"], &["'adc_1_strem'", "'adc_1_stream'"]),
        (&["critical", "two_streams_article", "--size", "41"], &["41", "exactly 40"]),
        (&["critical", "adc_1_stream", "--microarchitecture", "zen9"], &["'zen9'", "zen4"]),
        (&["critical", "--bytes", "c3", "--size", "40"], &["--bytes", "--size"]),
        (&["critical", "--bytes", "48 0g"], &["'g'", "character 5"]),
        (&["critical", "--bytes", "480"], &["3"]),
        (&["critical", "--bytes", "90 06"], &["0x1", "06"]),
        (&["critical", "--bytes", "4801f8"], &["0x3", "c3"]),
        (&["critical", "--bytes", "ebfe"], &["0x0", "return"]),
        (&["critical", "--object", "nowhere.o", "--symbol", "f"], &["nowhere.o"]),
        (&["critical", "--bytes", "c3", "--draw", "loop", "--svg", "f.svg"], &["no loop"]),
        (&["critical", "--bytes", "c3", "--svg", "no/such/folder/f.svg"], &["no/such/folder/f.svg"]),
        (&["explain", "gros"], &["'gros'", "'gross'"]),
        (&["explain", "evans-2004"], &["'evans-2004'", "'evans-2003'"]),
        (&["reproduce", "--from", "12345"], &["12345"]),
        (&["reproduce", "--from", "nowhere.json"], &["nowhere.json"]),
        (&["history", "--show", "12345"], &["12345"]),
        (&["worker"], &["internal"]),
        (&["measure", "--plugin", "nowhere.so"], &["nowhere.so"]),
        (&["verify", "--family", "zero", "checksum/avx2"], &["'checksum/avx2'", "which --family excludes"]),
        (
            &["measure", "--family", "zero", "--variants", "checksum/avx2"],
            &["'checksum/avx2'", "of family checksum, which --family excludes"],
        ),
        (&["tune", "--libc", "--family", "checksum"], &["--family checksum", "zero and copy only"]),
        (&["tune", "--libc", "--family", "zero,copy_checksum"], &["copy_checksum", "zero and copy only"]),
        (&["measure", "--plugin", "nowhere.so:f:checksums"], &["checksums", "checksum"]),
        (&["run", "--budget", "soon"], &["soon"]),
    ] {
        let (out, err) = place.expect(arguments, 2);
        assert_eq!(out, "", "{arguments:?} prints a result");
        for word in wanted {
            assert!(err.contains(word), "{arguments:?}: no {word} in: {err}");
        }
    }
}

#[test]
fn sizes_beyond_memory_say_what_there_is() {
    let (_, err) = Place::new().expect(&["measure", "--sizes", "100000G"], 2);
    assert!(err.contains("MiB") && err.contains("available"), "{err}");
}

#[test]
fn a_file_that_is_no_capture_is_refused_with_file_position_and_reason() {
    let place = Place::new();
    place.write("empty.pcap", b"");
    place.write("text.pcap", b"this is no capture at all, but long enough to be one");
    place.write("cut.pcap", &crate::support::capture()[..20]);
    for name in ["empty.pcap", "text.pcap", "cut.pcap", "absent.pcap"] {
        let (_, err) = place.expect(&["measure", "--sizes", &format!("capture:{name}")], 2);
        assert!(err.contains(name), "{err}");
    }
    let (_, err) = place.expect(&["measure", "--sizes", "capture:text.pcap"], 2);
    assert!(err.contains("byte 0"), "{err}");
}

#[test]
fn two_plugins_do_not_share_a_name() {
    let place = Place::new();
    place.shared_object(
        "fills",
        "#include <string.h>\nvoid *right(void *to, int byte, size_t len) { return memset(to, byte, len); }\n\
         void *wrong(void *to, int byte, size_t len) { return memset(to, byte, len / 2); }\n",
    );
    let (right, wrong) = ("a=./fills.so:right:fill", "a=./fills.so:wrong:fill");
    let (_, err) = place.expect(&["verify", "--plugin", right, "--plugin", wrong], 2);
    assert!(err.contains("name 'a' is given twice"), "{err}");
}

#[test]
fn a_plugin_of_an_excluded_family_is_refused_by_verify_too() {
    let place = Place::new();
    place.shared_object("mine", crate::support::RIGHT_SUM);
    let (_, err) = place.expect(&["verify", "--family", "zero", "--plugin", "./mine.so:my_sum:checksum"], 2);
    assert!(err.contains("my_sum") && err.contains("which --family excludes"), "{err}");
}

#[test]
fn a_bad_histogram_is_refused_with_file_and_line() {
    let place = Place::new();
    place.write("bad.csv", b"40,10\n1500,many\n");
    let (_, err) = place.expect(&["measure", "--sizes", "histogram:bad.csv"], 2);
    assert!(err.contains("bad.csv") && err.contains('2'), "{err}");
}

#[test]
fn a_file_that_is_no_store_is_left_alone() {
    let place = Place::new();
    let path = place.write("notes.txt", b"not a database");
    let (_, err) = place.expect(&short(&["measure", "--variants", "avx2", "--db", "notes.txt"]), 2);
    assert!(err.contains("notes.txt"), "{err}");
    assert_eq!(std::fs::read(path).expect("still there"), b"not a database");
    let (_, err) = place.expect(&["history", "--db", "notes.txt"], 2);
    assert!(err.contains("--db"), "{err}");
}

#[test]
fn environment_variables_with_wrong_words_are_refused() {
    let place = Place::new();
    for (variable, value) in [
        ("CARRYLINE_MASK", "avx9"),
        ("CARRYLINE_FORCE", "fastest"),
        ("CARRYLINE_TUNING", "builtin:fastest"),
        ("CARRYLINE_TUNING", "/nonexistent/tuning.toml"),
    ] {
        let output = place.command(&["list"]).env(variable, value).output().expect("the command starts");
        let (_, err) = crate::support::texts(&output);
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains(variable) && err.contains(value), "{err}");
    }
}

#[test]
fn objects_that_cannot_be_analysed_are_refused_with_the_reason() {
    let place = Place::new();
    place.write("text.o", b"no object at all");
    place.shared_object("mine", crate::support::RIGHT_SUM);
    // The 64-bit ELF header of an empty object for AArch64.
    let mut elf = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 183, 0, 1, 0, 0, 0];
    elf.resize(64, 0);
    elf[52] = 64;
    elf[58] = 64;
    place.write("arm.o", &elf);
    for (object, symbol, wanted) in [
        ("text.o", "f", &["text.o", "not a readable object file"][..]),
        ("arm.o", "f", &["arm.o", "Aarch64", "x86-64"]),
        ("mine.so", "my_summ", &["mine.so", "'my_summ'", "my_sum"]),
    ] {
        let (_, err) = place.expect(&["critical", "--object", object, "--symbol", symbol], 2);
        for word in wanted {
            assert!(err.contains(word), "{object}: no {word} in: {err}");
        }
    }
}

#[test]
fn a_wrong_value_in_the_configuration_file_is_attributed_to_it() {
    let place = Place::new();
    place.write("carryline.toml", b"budget = \"5h\"\n");
    let (_, err) = place.expect(&["measure", "--variants", "zero/sse2"], 2);
    assert!(err.contains("carryline.toml: invalid value '5h' for '--budget"), "{err}");
    let (_, err) = place.expect(&["measure", "--budget", "6h"], 2);
    assert!(err.contains("'6h'") && !err.contains("carryline.toml"), "{err}");
    // Other commands do not have the option.
    place.expect(&["list"], 0);
}
