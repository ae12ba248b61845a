//! Runs a crate's own tests and records the result of each.

use std::collections::BTreeSet;
use std::io;
use std::process::Command;

/// The results of a crate's tests. A name consists of the program and the test's own name.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Tests {
    pub(super) passed: BTreeSet<String>,
    pub(super) failed: BTreeSet<String>,
    pub(super) ignored: BTreeSet<String>,
}

/// Runs the unit, integration and documentation tests.
///
/// # Errors
/// If cargo cannot be started, or the tests cannot be built.
pub(super) fn run(cargo: impl Fn() -> Command, more: &[&str]) -> io::Result<Tests> {
    let mut tests = Tests::default();
    for (program, which) in [("tests", &["--lib", "--tests"][..]), ("documentation", &["--doc"])] {
        let output = cargo()
            .args(["test", "--quiet", "--no-fail-fast"])
            .args(which)
            .args(more)
            .args(PRETTY)
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !text.contains("test result: ") {
            return Err(io::Error::other(format!("cargo test {}: {}", which.join(" "), output.status)));
        }
        tests.read(program, &text);
    }
    Ok(tests)
}

/// Makes a test program print a line for every test.
const PRETTY: [&str; 3] = ["--", "--format", "pretty"];

impl Tests {
    /// Parses the output of test programs.
    fn read(&mut self, program: &str, text: &str) {
        for line in text.lines() {
            let Some((name, result)) = line.strip_prefix("test ").and_then(|line| line.rsplit_once(" ... "))
            else {
                continue;
            };
            // Strips the marker of tests that should panic, and the line numbers of documentation tests,
            // which may change.
            let name = name.strip_suffix(" - should panic").unwrap_or(name);
            let name = name.split(" (line ").next().unwrap_or(name);
            let into = match result.split([',', ' ']).next() {
                Some("ok") => &mut self.passed,
                Some("ignored") => &mut self.ignored,
                _ => &mut self.failed,
            };
            // Two tests may have the same name, such as two examples of one function.
            let base = format!("{program}: {name}");
            let numbered = (2..).map(|number| format!("{base} ({number})"));
            let free = std::iter::once(base.clone()).chain(numbered).find(|name| !into.contains(name));
            into.extend(free);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Tests;

    #[test]
    fn tests_are_recorded_by_name() {
        let mut tests = Tests::default();
        let said = "\nrunning 3 tests\ntest a::b ... ok\ntest a::c - should panic ... ok\ntest a::d ... FAILED\ntest e ... ignored, deep\n\
                    test src/lib.rs - f (line 7) ... ok\ntest src/lib.rs - f (line 9) ... ok\n\
                    test result: FAILED. 4 passed; 1 failed; 1 ignored\n";
        tests.read("t", said);
        let names = |names: &std::collections::BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>();
        assert_eq!(
            names(&tests.passed),
            ["t: a::b", "t: a::c", "t: src/lib.rs - f", "t: src/lib.rs - f (2)"]
        );
        assert_eq!(names(&tests.failed), ["t: a::d"]);
        assert_eq!(names(&tests.ignored), ["t: e"]);
    }
}
