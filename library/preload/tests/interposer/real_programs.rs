//! Runs installed programs with and without the interposer and compares output and exit status.
//!
//! Programs that are not installed are skipped with a remark on standard error.

use crate::support::{Place, SETTINGS, find, interposed, plain, run, texts};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a program in `folder` without the interposer, and with it under every setting; all must agree.
fn agrees(program: &Path, arguments: &[&str], folder: &Path) {
    let inside = |mut command: Command| {
        command.current_dir(folder).env("HOME", folder).env("LC_ALL", "C.UTF-8");
        command
    };
    let expected = run(inside(plain(program, arguments)));
    let (_, err) = texts(&expected);
    assert!(expected.status.success(), "{program:?} {arguments:?}: {}\n{err}", expected.status);
    for setting in SETTINGS {
        let found = run(inside(interposed(program, arguments, setting)));
        let what = format!("{program:?} {arguments:?} {setting:?}: {}\n{}", found.status, texts(&found).1);
        assert_eq!(found.status, expected.status, "{what}");
        assert!(found.stdout == expected.stdout, "{what}\n{}", texts(&found).0);
        assert_eq!(texts(&found).1, err, "{what}");
    }
}

fn shell(script: &str, folder: &Path) {
    agrees(Path::new("/bin/sh"), &["-c", script], folder);
}

/// The root of the repository, if this is one.
fn repository() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?.to_path_buf();
    root.join(".git").exists().then_some(root)
}

#[test]
fn ls_bash_sort_and_man() {
    let place = Place::new();
    shell("ls -laR /usr/share/doc 2>/dev/null | head -3000", place.path());
    shell("seq 1 60000 | sort -R --random-source=/bin/ls | sort -n | sha256sum", place.path());
    if find("bash").is_some() {
        let script = "s=; for i in {1..3000}; do s+=\"$i \"; done; a=($s); echo ${#a[@]} ${s:5000:40} ${s//1/xyz} | md5sum";
        agrees(Path::new("/bin/bash"), &["-c", script], place.path());
    }
    if find("man").is_some() {
        shell("man ls 2>/dev/null | head -20; true", place.path());
    }
}

#[test]
fn perl_and_sqlite() {
    let place = Place::new();
    if let Some(perl) = find("perl") {
        let script = "my %h; for (1..40000) { $h{$_ % 977} .= chr(65 + $_ % 26) x ($_ % 50) } my $s = join ',', map { \"$_=$h{$_}\" } sort keys %h; \
                      $s =~ s/AB+/<$&>/g; print length($s), ' ', unpack('%32C*', $s), ' ', substr($s, -60), qq{\\n}";
        agrees(&perl, &["-e", script], place.path());
    }
    if let Some(sqlite) = find("sqlite3") {
        let script = "create table t(a integer primary key, b text, c blob);
            with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
            insert into t select i, printf('%.*c', i % 90, 'x') || i, zeroblob(i % 300) from n;
            create index b on t(b); update t set b = b || b where a % 3 = 0; delete from t where a % 7 = 0;
            pragma integrity_check; select count(*), sum(length(b)), sum(length(c)), max(b) from t; vacuum;
            select group_concat(a) from (select a from t order by b desc limit 500);";
        agrees(&sqlite, &[":memory:", script], place.path());
    }
}

#[test]
fn python_and_its_tests() {
    let Some(python) = find("python3") else { return };
    let place = Place::new();
    let script = "import hashlib, json, zlib, re\n\
        words = [str(i * 7919 % 10007) * (i % 40) for i in range(30000)]\n\
        text = json.dumps({'words': words, 'bytes': list(bytearray(5000))})\n\
        packed = zlib.compress(text.encode(), 6)\n\
        assert zlib.decompress(packed).decode() == text\n\
        print(len(packed), hashlib.sha256(packed).hexdigest(), re.sub('1+', '<>', text)[:80], text.count('77'))";
    agrees(&python, &["-c", script], place.path());

    let tests = ["-m", "test", "test_bytes", "test_struct", "test_zlib"];
    let alone = |mut command: Command| {
        command.current_dir(place.path()).env("HOME", place.path());
        run(command)
    };
    if !alone(plain(&python, &["-c", "import test.test_bytes, test.test_struct, test.test_zlib"]))
        .status
        .success()
    {
        eprintln!("remark: python3 is installed without its tests; they are skipped");
        return;
    }
    // The output contains times; the verdict is one line of it.
    let verdict = |command: Command| {
        let output = alone(command);
        let (out, err) = texts(&output);
        let found = out
            .lines()
            .filter(|line| line.contains("tests OK") || line.contains("SUCCESS"))
            .collect::<Vec<_>>()
            .join("; ");
        assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
        found
    };
    let expected = verdict(plain(&python, &tests));
    assert!(expected.contains("All 3 tests OK"), "{expected}");
    assert_eq!(verdict(interposed(&python, &tests, &[])), expected);
}

#[test]
fn gcc_writes_the_same_object() {
    let Some(gcc) = find("gcc") else { return };
    let place = Place::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/semantics.c");
    let source = source.to_str().expect("the tests' folder has a readable name");
    let object = place.path().join("object.o");
    let compile = |command: Command| {
        let mut command = command;
        let output = run({
            command.current_dir(place.path());
            command
        });
        assert!(output.status.success(), "{}", texts(&output).1);
        std::fs::read(&object).expect("the object")
    };
    let arguments = ["-O2", "-g", "-c", source, "-o", "object.o"];
    let expected = compile(plain(&gcc, &arguments));
    for setting in SETTINGS {
        std::fs::remove_file(&object).expect("the object of the run before");
        assert!(compile(interposed(&gcc, &arguments, setting)) == expected, "{setting:?}");
    }
}

#[test]
fn git_reads_this_repository() {
    let (Some(git), Some(root)) = (find("git"), repository()) else {
        eprintln!("remark: no git or no repository; git is skipped");
        return;
    };
    let status = run({
        let mut command = plain(&git, &["log", "-1"]);
        command.current_dir(&root).env("HOME", &root);
        command
    });
    if !status.status.success() {
        eprintln!("remark: git cannot read this repository: {}", texts(&status).1);
        return;
    }
    agrees(&git, &["log", "--stat", "-M", "-n", "30"], &root);
    agrees(&git, &["rev-list", "--objects", "-n", "200", "HEAD"], &root);
    agrees(&git, &["archive", "--format=tar", "HEAD", "library/carryline"], &root);
}

#[test]
fn a_go_program_is_not_affected() {
    let Some(go) = find("go") else { return };
    // The Go tool is itself a Go program.
    let place = Place::new();
    agrees(&go, &["version"], place.path());
}

#[test]
fn a_program_with_elevated_privileges_runs() {
    // These are set-uid; the dynamic linker ignores the interposer for unprivileged users.
    let place = Place::new();
    for program in ["/bin/mount", "/usr/bin/passwd"] {
        if Path::new(program).is_file() {
            agrees(Path::new(program), &["--help"], place.path());
        }
    }
}
