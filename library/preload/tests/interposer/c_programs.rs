//! Tests the interposer with C programs that check every function.

use crate::support::{Place, SETTINGS, interposed, interposer, plain, run, succeeds, texts};
use carryline::internals::tuning::{Models, Profile, built_in};
use carryline_served::{Function, Served, Snapshot};
use carryline_variants::{Family, of};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

/// Checks every function with each of these settings.
fn check_functions(settings: &[Vec<(&str, &str)>]) {
    let place = Place::new();
    let program = place.compile("semantics.c", "semantics", &["-ldl"]);
    assert!(!run(plain(&program, &[])).status.success(), "the program detects who serves");
    for setting in settings {
        succeeds(interposed(&program, &[], setting), "right\n");
    }
}

#[test]
fn every_function_is_right_with_every_setting() {
    let mut settings: Vec<Vec<(&str, &str)>> = SETTINGS.iter().map(|setting| setting.to_vec()).collect();
    for mask in ["avx512f", "avx2,erms"] {
        settings.push(vec![("CARRYLINE_MASK", mask)]);
    }
    for profile in ["amd-zen5", "amd-zen3", "intel-sapphire-rapids", "intel-emerald-rapids", "unmeasured"] {
        settings.push(vec![("CARRYLINE_TUNING", ["builtin:", profile].concat().leak())]);
    }
    for families in ["zero", "copy", "copy, zero"] {
        settings.push(vec![("CARRYLINE_PRELOAD", families)]);
    }
    assert!(settings.len() >= 12, "{settings:?}");
    check_functions(&settings);
}

#[test]
fn every_function_is_right_by_every_variant() {
    let mut settings = Vec::new();
    let forces = [(Family::Zero, "CARRYLINE_FORCE_ZERO"), (Family::Copy, "CARRYLINE_FORCE_COPY")];
    for (family, variable) in forces {
        settings.extend(["carryline", "libc"].map(|name| vec![(variable, name)]));
        let usable = of(family).iter().filter(|variant| variant.can_interpose() && variant.runs_here());
        settings.extend(usable.map(|variant| vec![(variable, variant.name)]));
    }
    assert!(settings.len() > 4, "more than ours and the C library's: {settings:?}");
    check_functions(&settings);
}

#[test]
fn checked_forms_end_a_program_that_overflows_its_buffer() {
    let place = Place::new();
    let program = place.compile("overflow.c", "overflow", &[]);
    succeeds(interposed(&program, &["0"], &[]), "went on\n");
    for case in ["1", "2", "3", "4", "5", "6"] {
        let output = run(interposed(&program, &[case], &[]));
        let (out, err) = texts(&output);
        let aborted = output.status.signal() == Some(6);
        assert!(aborted && out.is_empty(), "case {case}: {}\n{out}{err}", output.status);
        assert!(!cfg!(target_env = "gnu") || err.contains("buffer overflow detected"), "case {case}: {err}");
    }
}

#[test]
fn calls_before_main_and_before_relocation_are_served() {
    let place = Place::new();
    let library = place.compile("early.c", "libearly.so", &["-shared", "-fPIC", "-DLIBRARY"]);
    let folder = place.path().to_str().expect("a name of ours");
    let link = [library.to_str().expect("a name of ours"), "-Wl,-rpath", folder];
    for (name, flags) in [("lazy", "-Wl,-z,lazy"), ("now", "-Wl,-z,now")] {
        let program = place.compile("early.c", name, &[link[0], link[1], "-Xlinker", link[2], flags]);
        succeeds(plain(&program, &[]), "right\n");
        for setting in SETTINGS {
            succeeds(interposed(&program, &[], setting), "right\n");
            let bind_now = [setting, &[("LD_BIND_NOW", "1")][..]].concat();
            succeeds(interposed(&program, &[], &bind_now), "right\n");
        }
    }
}

#[test]
fn threads_signals_forks_and_plugins_are_served() {
    let place = Place::new();
    let program = place.compile("interrupted.c", "interrupted", &["-ldl", "-Wl,-z,now"]);
    let plugin = place.compile("plugin.c", "plugin.so", &["-shared", "-fPIC"]);
    let plugin = plugin.to_str().expect("a name of ours");
    for setting in SETTINGS {
        succeeds(interposed(&program, &[plugin], setting), "right\n");
    }
}

#[test]
fn another_preloaded_library_may_define_memcpy() {
    let place = Place::new();
    let program = place.compile("interrupted.c", "interrupted", &["-ldl", "-Wl,-z,now"]);
    let plugin = place.compile("plugin.c", "plugin.so", &["-shared", "-fPIC"]);
    let rival = place.compile("plugin.c", "rival.so", &["-shared", "-fPIC", "-DRIVAL"]);
    let ours = crate::support::interposer();
    for (first, second) in [(ours, rival.as_path()), (rival.as_path(), ours)] {
        for families in ["zero,copy", "zero", "copy"] {
            let mut command = plain(&program, &[plugin.to_str().expect("a name of ours")]);
            command.env("LD_PRELOAD", format!("{}:{}", first.display(), second.display()));
            command.env("CARRYLINE_PRELOAD", families);
            succeeds(command, "right\n");
        }
    }
}

/// A page of counters as `carryline real` makes it.
fn page(path: &Path) {
    let mut bytes = vec![0; Served::FILE_BYTES];
    bytes[..8].copy_from_slice(&Served::HEADER[0].to_ne_bytes());
    bytes[8..16].copy_from_slice(&Served::HEADER[1].to_ne_bytes());
    std::fs::write(path, bytes).expect("a file of ours");
}

#[test]
fn calls_are_counted_exactly_over_threads_and_processes() {
    let place = Place::new();
    let program = place.compile("calls.c", "calls", &[]);
    let file = place.path().join("page");
    page(&file);
    let file_name = file.to_str().expect("a name of ours");
    succeeds(interposed(&program, &[], &[("CARRYLINE_PRELOAD_RECORD", file_name)]), "");
    let bytes = std::fs::read(&file).expect("the page");
    let snapshot = Snapshot::new(&bytes).expect("a page");
    assert_eq!(snapshot.processes(), 1, "a forked child has its parent's mapping");
    for (function, size) in [
        (Function::Memcpy, 123),
        (Function::Memmove, 150),
        (Function::Mempcpy, 45),
        (Function::Bcopy, 0),
        (Function::MemsetZero, 10_001),
        (Function::MemsetOther, 199),
        (Function::Bzero, 31),
        (Function::ExplicitBzero, 33),
    ] {
        let class =
            snapshot.classes(function).find(|class| (class.from_bytes..=class.to_bytes).contains(&size));
        let class = class.unwrap_or_else(|| panic!("{} was not called", function.name()));
        assert_eq!((class.calls, class.bytes), (8000, 8000 * size), "{}", function.name());
    }
    assert_eq!(snapshot.overlapping(Function::Memmove), 8000);
    assert_eq!(snapshot.overlapping(Function::Memcpy), 0);
}

#[test]
fn a_static_program_is_not_affected() {
    let place = Place::new();
    let file = place.path().join("page");
    page(&file);
    let before = std::fs::read(&file).expect("the page");
    let variables = [("CARRYLINE_PRELOAD_RECORD", file.to_str().expect("a name of ours"))];
    for flags in [&["-static"][..], &["-static-pie"]] {
        match place.try_compile("overflow.c", "static", flags) {
            Ok(program) => succeeds(interposed(&program, &["0"], &variables), "went on\n"),
            Err(said) => eprintln!("remark: no static programs here; they are not tested: {said}"),
        }
    }
    assert_eq!(std::fs::read(&file).expect("the page"), before);
}

#[test]
fn a_file_that_is_not_a_page_is_not_modified() {
    let place = Place::new();
    let program = place.compile("calls.c", "calls", &[]);
    let file = place.path().join("notes");
    let notes = vec![b'n'; Served::FILE_BYTES];
    std::fs::write(&file, &notes).expect("a file of ours");
    for name in [file.to_str().expect("a name of ours"), "/nonexistent/page", "/dev/null", "/"] {
        succeeds(interposed(&program, &[], &[("CARRYLINE_PRELOAD_RECORD", name)]), "");
    }
    assert_eq!(std::fs::read(&file).expect("still there"), notes);
}

/// Checks what docs/interposer.md states about programs built with GCC's address sanitizer.
#[test]
fn the_runtime_of_the_address_sanitizer_must_come_first() {
    let place = Place::new();
    let runtime = Command::new("gcc").arg("-print-file-name=libasan.so").output();
    let runtime = runtime.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    // GCC prints the name unchanged if there is no such file.
    let Some(runtime) = runtime.ok().filter(|file| Path::new(file).is_absolute()) else { return };
    let program = place.path().join("checked");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/overflow.c");
    let mut compiler = Command::new("gcc");
    compiler.args(["-O1", "-fno-builtin", "-fsanitize=address", "-o"]).arg(&program).arg(source);
    assert!(compiler.status().is_ok_and(|status| status.success()), "{compiler:?}");
    let output = run(interposed(&program, &["0"], &[]));
    let (out, err) = texts(&output);
    assert!(!output.status.success() && out.is_empty(), "{}: {out}", output.status);
    assert!(err.contains("does not come first"), "{err}");
    let mut both = interposed(&program, &["0"], &[]);
    both.env("LD_PRELOAD", format!("{runtime} {}", interposer().display()));
    succeeds(both, "went on\n");
}

#[test]
fn an_unknown_name_is_reported_and_the_program_continues() {
    let place = Place::new();
    let program = place.compile("overflow.c", "program", &[]);
    for (variable, value, words) in [
        ("CARRYLINE_PRELOAD", "zero,copies", &["copies", "zero copy"][..]),
        ("CARRYLINE_PRELOAD", ",", &["CARRYLINE_PRELOAD=, names no family", "zero copy"]),
        ("CARRYLINE_FORCE_ZERO", "movntpz", &["movntpz", "movntps", "carryline"]),
        ("CARRYLINE_FORCE_ZERO", "write_bytes", &["write_bytes", "calls the functions", "libc"]),
        ("CARRYLINE_FORCE_ZERO", "libc_memset_no_rep", &["GLIBC_TUNABLES", "libc"]),
        ("CARRYLINE_FORCE_COPY", "rep_movsw", &["rep_movsw", "kept for an experiment", "libc"]),
        ("CARRYLINE_FORCE_COPY", "movntps", &["movntps", "rep_movsb"]),
        ("CARRYLINE_MASK", "avx9", &["avx9", "avx512f"]),
        ("CARRYLINE_TUNING", "builtin:zen", &["builtin:zen", "amd-zen5", "unmeasured"]),
        ("CARRYLINE_TUNING", "/nonexistent/tuning.toml", &["/nonexistent/tuning.toml", "no such file"]),
        // The value is the path as it is, and the one that the message shows.
        ("CARRYLINE_TUNING", " /dev/null ", &["CARRYLINE_TUNING= /dev/null : there is no such file"]),
        ("CARRYLINE_TUNING", " ", &["CARRYLINE_TUNING= : there is no such file"]),
        ("CARRYLINE_TUNING", "/", &["cannot be read"]),
        ("CARRYLINE_TUNING", "/dev/zero", &["/dev/zero", "16384 bytes"]),
        ("CARRYLINE_TUNING", "/dev/null", &["line 1", "version"]),
    ] {
        if cfg!(not(target_arch = "x86_64")) && words.contains(&"rep_movsb") {
            continue;
        }
        let output = run(interposed(&program, &["0"], &[(variable, value)]));
        let (out, err) = texts(&output);
        assert_eq!((output.status.code(), out.as_str()), (Some(0), "went on\n"), "{variable}={value}: {err}");
        assert!(words.iter().all(|word| err.contains(word)) && err.contains(variable), "{err}");
        assert!(err.starts_with("libcarryline-preload: ignored: ") && err.lines().count() == 1, "{err}");
    }
    // The C library's functions may be given by their names in listings.
    for (variable, value) in [
        ("CARRYLINE_FORCE_ZERO", "libc_memset"),
        ("CARRYLINE_FORCE_COPY", "libc_memcpy"),
        ("CARRYLINE_FORCE_COPY", "libc_memmove"),
    ] {
        succeeds(interposed(&program, &["0"], &[(variable, value)]), "went on\n");
    }
    // Empty variables count as not set.
    let empty = [("CARRYLINE_PRELOAD", ""), ("CARRYLINE_FORCE_ZERO", ""), ("CARRYLINE_MASK", " ")];
    succeeds(interposed(&program, &["0"], &empty), "went on\n");
    succeeds(interposed(&program, &["0"], &[("CARRYLINE_TUNING", "")]), "went on\n");
}

#[test]
fn a_message_that_nobody_reads_does_not_end_the_program() {
    let place = Place::new();
    let program = place.compile("overflow.c", "program", &[]);
    for disposition in ["", "trap '' PIPE; "] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        // Rust ignores SIGPIPE but not in the programs that it starts; a shell can ignore it for another.
        let script = format!("{disposition}exec \"$0\" 0");
        let name = program.to_str().expect("a name of ours");
        let mut command =
            interposed(Path::new("/bin/sh"), &["-c", &script, name], &[("CARRYLINE_MASK", "avx9")]);
        command.stderr(writer);
        succeeds(command, "went on\n");
    }
}

/// Tests a file named by the environment, and the machine's own; for the latter, the program sees another
/// `/etc`.
#[test]
fn a_profile_in_a_file_is_used_or_its_error_is_reported() {
    let place = Place::new();
    let program = place.compile("overflow.c", "program", &[]);
    let right = built_in("unmeasured").expect("it is built in").to_string();
    let wrong = right.replace("rep_movsb_from_bytes = \"never\"", "rep_movsb_from_bytes = 1");
    // Spaces are part of a name.
    let file = place.path().join("tuning.toml ");
    let file_name = file.to_str().expect("a name of ours");
    let says = |command: Command, from: &str, expected: Option<&str>| {
        let (out, err) = texts(&run(command));
        assert_eq!(out, "went on\n", "{err}");
        match expected {
            None => assert_eq!(err, "", "{from}"),
            Some(words) => {
                let start = format!("libcarryline-preload: ignored: {from}: ");
                assert!(err.starts_with(&start) && err.contains(words) && err.lines().count() == 1, "{err}");
            }
        }
    };
    let other_cpu = Models { vendor: *b"NobodysCPUs ", family: Some(1), models: Some([2, 3]) };
    let others = Profile { cpu: Some(other_cpu), ..*built_in("unmeasured").expect("it is built in") };
    for (text, expected) in [
        (right, None),
        (wrong, Some("found 1; rep_movsb_from_bytes must be 16384 to")),
        (others.to_string(), Some("is for NobodysCPUs  family 1 models 2 to 3; this CPU")),
    ] {
        std::fs::write(&file, text).expect("a file of ours");
        let variable = format!("CARRYLINE_TUNING={file_name}");
        says(interposed(&program, &["0"], &[("CARRYLINE_TUNING", file_name)]), &variable, expected);

        const SYSTEM: &str = "mount -t tmpfs none /etc && mkdir /etc/carryline && cp \"$1\" /etc/carryline/tuning.toml && \
                              LD_PRELOAD=\"$2\" exec \"$3\" 0";
        let mut command = plain(Path::new("unshare"), &["-rm", "sh", "-c", SYSTEM, "sh", file_name]);
        command.args([interposer(), &program]);
        let can_mount = run(plain(Path::new("unshare"), &["-rm", "mount", "-t", "tmpfs", "none", "/etc"]));
        if !can_mount.status.success() {
            eprintln!(
                "remark: no file systems can be mounted here; /etc/carryline/tuning.toml is not tested"
            );
            continue;
        }
        says(command, "/etc/carryline/tuning.toml", expected);
    }
}
