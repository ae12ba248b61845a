//! Unusual names, paths and pipes: each is accepted, or refused with a message that says what to do.

use crate::support::{Place, RIGHT_SUM, SHORT, short, texts};
use std::ffi::OsStr;
use std::fs::{OpenOptions, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn output(mut command: Command) -> Output {
    command.output().expect("the command starts")
}

/// A folder whose name is not UTF-8.
fn odd_folder(place: &Place) -> PathBuf {
    let folder = place.path().join(OsStr::from_bytes(b"odd\xff"));
    std::fs::create_dir(&folder).expect("a file system that takes any bytes");
    folder
}

#[test]
fn paths_that_are_not_utf_8_work_or_are_refused_by_name() {
    let place = Place::new();
    let folder = odd_folder(&place);
    let (db, page) = (folder.join("kept.sqlite"), folder.join("page.html"));
    let mut command = place.command(&short(&["measure", "--variants", "zero/avx2"]));
    command.arg("--db").arg(&db).arg("--report").arg(&page);
    let measured = output(command);
    assert_eq!(measured.status.code(), Some(0), "{}", texts(&measured).1);
    assert!(page.is_file() && db.is_file());
    let mut command = place.command(&["history"]);
    command.arg("--db").arg(&db);
    let (out, _) = texts(&output(command));
    assert!(out.contains("measure --variants zero/avx2") && out.contains('\u{fffd}'), "{out}");
    // The words stored with a run are text; its page and its database are not those of a rerun that names another.
    let mut command = place.command(&["rerun", "1"]);
    command.arg("--db").arg(&db);
    let rerun = output(command);
    assert_eq!(rerun.status.code(), Some(0), "{}", texts(&rerun).1);
    for before in [&["rerun"][..], &["export", "--to", "csv"], &["history", "--show"], &["report"], &["gate"]]
    {
        let mut command = place.command(before);
        command.arg(OsStr::from_bytes(b"\xff"));
        let refused = output(command);
        let (_, err) = texts(&refused);
        assert!(refused.status.code() == Some(2) && err.contains("UTF-8"), "{err}");
        assert!(["RUN", "BASE"].iter().any(|name| err.contains(name)), "{err}");
    }
    for (option, before, after) in
        [("--plugin", "", "/mine.so:f:zero"), ("--sizes", "capture:", "/packets.pcap")]
    {
        let word = [before.as_bytes(), folder.as_os_str().as_bytes(), after.as_bytes()].concat();
        let mut command = place.command(&["measure", option]);
        command.arg(OsStr::from_bytes(&word));
        let refused = output(command);
        let (_, err) = texts(&refused);
        assert_eq!(refused.status.code(), Some(2), "{err}");
        assert!(err.contains(option) && err.contains("UTF-8") && err.contains("link"), "{err}");
    }
}

#[test]
fn a_full_standard_error_changes_no_result_and_no_status() {
    let place = Place::new();
    for (arguments, status) in [
        (&short(&["measure", "--variants", "zero/avx2", "--no-save"])[..], 0),
        (&["measure", "--variants", "no_such"], 2),
        (&["measure", "--no-such-option"], 2),
        (&["history", "--show", "77"], 2),
    ] {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let mut command = place.command(arguments);
        command.stderr(full).stdout(Stdio::piped());
        let output = output(command);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
        assert_eq!(output.stdout.is_empty(), status != 0, "{arguments:?}");
    }
}

#[test]
fn a_page_that_cannot_be_written_is_refused_before_anything_is_measured() {
    let place = Place::new();
    for path in ["no/such/folder/page.html", "."] {
        let arguments = ["measure", "--variants", "zero/avx2", "--report", path];
        let (out, err) = place.expect(&short(&arguments), 2);
        assert!(out.is_empty() && err.contains(path), "{out}{err}");
    }
    assert!(!place.file("data").exists(), "no run was begun");
    // The check leaves an existing file as it is.
    let page = place.write("page.html", b"an older page");
    place.expect(&["measure", "--variants", "zero/avx2", "--plan", "--report", "page.html"], 0);
    assert_eq!(std::fs::read(page).expect("still there"), b"an older page");
    place.expect(&["measure", "--variants", "zero/avx2", "--plan", "--report", "new.html"], 0);
    assert!(!place.file("new.html").exists());
}

#[test]
fn looking_for_runs_makes_no_store() {
    let place = Place::new();
    for command in [
        &["history"][..],
        &["history", "--show", "1"],
        &["rerun", "1"],
        &["report", "1"],
        &["reproduce", "--from", "1"],
    ] {
        let named: Vec<&str> = command.iter().copied().chain(["--db", "absent.sqlite"]).collect();
        let (_, err) = place.expect(&named, 2);
        assert!(err.contains("there is no store") && err.contains("absent.sqlite"), "{err}");
        let status = if command.len() == 1 { 0 } else { 2 };
        let (out, err) = place.expect(command, status);
        assert!((out + &err).contains("no run is stored"), "{err}");
    }
    assert!(!place.file("absent.sqlite").exists() && !place.file("data").exists());
}

/// The command as a user without write permission: `nobody`, where this test runs as root. The program is copied to
/// where that user can read it.
fn unprivileged(place: &Place, arguments: &[&str]) -> Command {
    let program = place.file("program");
    if !program.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_carryline"), &program).expect("room for the program");
    }
    let mut command = Command::new(program);
    command.args(arguments).current_dir(place.path()).env("HOME", place.path());
    command.env("XDG_DATA_HOME", place.file("data")).stdin(Stdio::null());
    // SAFETY: asks for the number of this process's user.
    if unsafe { libc::geteuid() } == 0 {
        command.uid(65_534).gid(65_534);
    }
    command
}

fn allow(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("a file of ours");
}

#[test]
fn a_read_only_store_is_read_and_the_error_of_measuring_names_no_save() {
    let place = Place::new();
    place.expect(&short(&["measure", "--variants", "zero/avx2"]), 0);
    let folder = place.file("data").join("carryline");
    let store = folder.join("carryline.sqlite");
    let before = std::fs::read(&store).expect("a store");
    allow(place.path(), 0o755);
    allow(&place.file("data"), 0o555);
    allow(&store, 0o444);
    allow(&folder, 0o555);
    let listed = output(unprivileged(&place, &["history"]));
    let (out, err) = texts(&listed);
    let shown = output(unprivileged(&place, &["history", "--show", "1", "--format", "json"]));
    let refused = output(unprivileged(&place, &short(&["measure", "--variants", "zero/avx2"])));
    // So that the folder can be removed.
    allow(&place.file("data"), 0o755);
    allow(&folder, 0o755);
    assert_eq!(listed.status.code(), Some(0), "{err}");
    assert!(out.contains("measure --variants zero/avx2"), "{out}");
    assert_eq!(shown.status.code(), Some(0), "{}", texts(&shown).1);
    assert_eq!(refused.status.code(), Some(2));
    assert!(texts(&refused).1.contains("--no-save"), "{}", texts(&refused).1);
    assert_eq!(std::fs::read(&store).expect("a store"), before);
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 1, "no file beside it");
}

#[test]
fn without_a_home_the_error_names_no_save_and_db_and_no_save_works() {
    let place = Place::new();
    let without = |arguments: &[&str], home: Option<&str>| {
        let mut command = place.command(arguments);
        command.env_remove("XDG_DATA_HOME").env_remove("HOME");
        command.envs(home.map(|home| ("HOME", home)));
        output(command)
    };
    let arguments = short(&["measure", "--variants", "zero/avx2"]);
    for home in [None, Some("/proc/nowhere")] {
        let refused = without(&arguments, home);
        let (_, err) = texts(&refused);
        assert_eq!(refused.status.code(), Some(2), "{err}");
        assert!(err.contains("--no-save") && err.contains("--db"), "{err}");
        let more: Vec<&str> = arguments.iter().copied().chain(["--no-save"]).collect();
        assert_eq!(without(&more, home).status.code(), Some(0));
    }
}

#[test]
fn two_builds_of_one_function_are_two_rows() {
    let place = Place::new();
    place.shared_object("old", RIGHT_SUM);
    place.shared_object("new", &RIGHT_SUM.replace("seed) {", "seed) { __asm__ volatile(\"\");"));
    let plugins = ["--plugin", "./old.so:my_sum:checksum", "--plugin", "./new.so:my_sum:checksum"];
    let proofs = place.json(&["verify", plugins[0], plugins[1], plugins[2], plugins[3]]);
    let names: Vec<_> =
        proofs["results"].as_array().expect("rows").iter().map(|row| row["variant"].clone()).collect();
    assert_eq!(names, ["plugin:my_sum@old.so", "plugin:my_sum@new.so"]);
    let measure = [&["measure"], &plugins[..], &["--variants", "checksum/avx2"], &SHORT].concat();
    let run = place.json(&measure);
    for name in &names {
        let row = run["cells"].as_array().expect("cells").iter().find(|cell| cell["variant"] == *name);
        assert_eq!(row.map(|row| row["status"].clone()), Some("ok".into()), "{name}: {run}");
    }
    // Both take part in any case; so named, they are compared with the baseline alone.
    let alone = [&["measure"], &plugins[..], &["--variants", "plugin:my_sum@new.so"], &SHORT].concat();
    let run = place.json(&alone);
    let mut rows: Vec<_> =
        run["cells"].as_array().expect("cells").iter().map(|cell| cell["variant"].clone()).collect();
    rows.dedup();
    assert_eq!(rows, [&names[..], &["adc_1_stream".into()]].concat());
    let (_, err) = place.expect(&["verify", plugins[0], plugins[1], plugins[0], plugins[1]], 2);
    assert!(err.contains("given twice"), "{err}");
}

#[test]
fn a_plan_names_a_budget_that_is_too_short_and_sizes_that_do_not_fit() {
    let place = Place::new();
    let plan = |more: &[&str]| {
        let arguments: Vec<&str> =
            ["measure", "--variants", "zero/avx2", "--plan"].iter().chain(more).copied().collect();
        place.expect(&arguments, 0)
    };
    let (_, err) = plan(&["--budget", "100ms"]);
    assert!(err.contains("the budget of 0.1 s is too short") && err.contains("--replicates"), "{err}");
    // The default suffices for whatever is planned, and the plan says how long that takes.
    let (out, err) = place.expect(&["measure", "--plan"], 0);
    assert!(!err.contains("is too short") && out.contains("about "), "{out}{err}");
    let (out, err) = plan(&["--replicates", "64"]);
    assert!(
        !err.contains("is too short") && out.contains("about ") && !out.contains("more than"),
        "{out}{err}"
    );
    let (out, _) = plan(&["--sizes", "40", "--sizes", "64,80"]);
    assert!(
        ["zero 40 ", "zero 64 ", "zero 80 "].iter().all(|name| out.contains(name)),
        "every --sizes: {out}"
    );
    let (_, err) = plan(&["--budget", "5m"]);
    assert!(!err.contains("is too short"), "{err}");
    let (out, err) = place.expect(&["run", "--family", "zero", "--sizes", "100000G", "--plan"], 0);
    assert!(err.contains("left out: zero 100000G"), "{err}");
    assert!(out.contains("zero 4K") && !out.contains("100000G"), "{out}");
}
