//! Which compilers there are, and what each of them is.
//!
//! Every command on `PATH` that is named like a gcc, a clang or a rustc for this kind of machine counts once, however
//! many names it has: commands are the same if they are the same file and call themselves the same version. Both are
//! needed: one program may answer to many names (ccache, rustup), and one compiler may be linked under many.

use super::bounded;
use super::probes::Language;
use carryline_engine::failure::{Failure, usage};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

/// Asking for the version takes no compiler longer, whatever the patience.
const VERSION_LIMIT: Duration = Duration::from_secs(10);

/// A command that should be a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What the user calls it.
    pub name: String,
    /// Where it is, links not followed: some commands act by the name they are called by.
    pub path: PathBuf,
    /// What it should compile.
    pub language: Language,
}

/// A compiler that says who it is.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// What the user calls it.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What it compiles.
    pub language: Language,
    /// Its version's number, or what it prints instead.
    pub version: String,
    /// Everything that distinguishes it from an older or newer self at the same place.
    pub identity: String,
}

impl Candidate {
    fn new(name: String, path: PathBuf) -> Candidate {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let language = if file.contains("rustc") { Language::Rust } else { Language::C };
        Candidate { name, path, language }
    }

    /// Asks the command who it is.
    ///
    /// # Errors
    /// Why it does not say so.
    pub fn ask(
        &self,
        scratch: &Path,
        patience: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<Compiler, bounded::NoResult> {
        let flag = if self.language == Language::Rust { "-vV" } else { "--version" };
        let text =
            bounded::run(Command::new(&self.path).arg(flag), VERSION_LIMIT.min(patience), scratch, stop)?;
        let real = std::fs::canonicalize(&self.path)?;
        let metadata = std::fs::metadata(&real)?;
        let modified = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        // The version without the name that the command was called by.
        let who = text.split_once(' ').map_or(text.as_str(), |(_, rest)| rest);
        Ok(Compiler {
            name: self.name.clone(),
            path: self.path.clone(),
            language: self.language,
            version: version(&text),
            identity: format!("{}|{}|{modified}|{who}", real.display(), metadata.len()),
        })
    }
}

/// The number in what a compiler prints about itself: the first word of the first line that is one, the last where a
/// distribution's package number stands before it in parentheses.
fn version(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    let outside = line.rfind(") ").map_or(line, |at| &line[at + 2..]);
    let is_number =
        |word: &&str| word.contains('.') && word.starts_with(|first: char| first.is_ascii_digit());
    match outside.split_whitespace().find(is_number).or_else(|| line.split_whitespace().find(is_number)) {
        Some(number) => number.to_owned(),
        None if line.is_empty() => "unknown".to_owned(),
        None => line.chars().take(40).collect(),
    }
}

/// True if a command of this name should be a gcc, clang or rustc for x86.
fn is_compiler(name: &str) -> bool {
    let base = match name.rsplit_once('-') {
        Some((base, number))
            if !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.') =>
        {
            base
        }
        _ => name,
    };
    let (target, base) = base.rsplit_once('-').unwrap_or(("", base));
    let x86 = target.is_empty() || target.starts_with("x86_64-") || target.starts_with("i686-");
    match base {
        "gcc" | "clang" => x86,
        "cc" | "rustc" => target.is_empty(),
        _ => false,
    }
}

/// The compilers on `path`, the plainest name of each first.
pub fn on_path(path: &std::ffi::OsStr) -> Vec<Candidate> {
    // The first folder that has a name is where a shell finds it.
    let mut found: BTreeMap<String, PathBuf> = BTreeMap::new();
    for folder in std::env::split_paths(path).filter(|folder| folder.is_absolute()) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            if is_compiler(&name) && is_executable(&entry.path()) {
                found.entry(name).or_insert_with(|| entry.path());
            }
        }
    }
    let mut found: Vec<Candidate> =
        found.into_iter().map(|(name, path)| Candidate::new(name, path)).collect();
    found.sort_by_key(|candidate| {
        let plain = matches!(candidate.name.as_str(), "gcc" | "clang" | "rustc");
        (candidate.language, !plain, candidate.name == "cc", candidate.name.len(), candidate.name.clone())
    });
    found
}

/// The compilers that the user named: a path, or a name to be found on `PATH`.
///
/// # Errors
/// When there is no such program.
pub fn named(words: &[PathBuf], path: &std::ffi::OsStr) -> Result<Vec<Candidate>, Failure> {
    let find = |word: &PathBuf| {
        let has_slash = word.as_os_str().as_encoded_bytes().contains(&b'/');
        let places: Vec<PathBuf> = match has_slash {
            true => vec![word.clone()],
            false => std::env::split_paths(path).map(|folder| folder.join(word)).collect(),
        };
        let there = places.iter().find(|place| is_executable(place));
        there.map(|place| Candidate::new(word.display().to_string(), place.clone())).ok_or_else(|| {
            let what = match (has_slash, word.is_dir(), word.exists()) {
                (true, true, _) => "a folder, not a program",
                (true, false, true) => "not an executable file",
                (true, false, false) => "no such file",
                (false, ..) => "no such program on PATH; give its path",
            };
            usage(format!("--compiler {}: {what}", word.display()))
        })
    };
    words.iter().map(find).collect()
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Takes out those that are another name of one before them.
pub fn without_twins(compilers: Vec<Compiler>) -> Vec<Compiler> {
    let mut kept: Vec<Compiler> = Vec::new();
    for compiler in compilers {
        if !kept
            .iter()
            .any(|known| known.identity == compiler.identity && known.language == compiler.language)
        {
            kept.push(compiler);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_compilers_for_this_kind_of_machine() {
        for name in
            ["cc", "gcc", "gcc-12", "clang", "clang-14", "rustc", "x86_64-linux-gnu-gcc-12", "gcc-4.2"]
        {
            assert!(is_compiler(name), "{name}");
        }
        for name in
            ["s390x-linux-gnu-gcc", "gcc-ar-12", "g++", "clang-cpp-14", "c99-gcc", "gcc-nm", "ccache", ""]
        {
            assert!(!is_compiler(name), "{name}");
        }
    }

    #[test]
    fn versions_as_compilers_print_them() {
        for (text, number) in [
            ("gcc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright", "12.2.0"),
            ("gcc-13 (Ubuntu 13.2.0-4ubuntu3) 13.2.0", "13.2.0"),
            ("gcc (GCC) 14.1.1 20240522 (Red Hat 14.1.1-4)", "14.1.1"),
            ("Debian clang version 14.0.6\nTarget: x86_64", "14.0.6"),
            ("clang version 18.1.3 (https://example.org 0123)", "18.1.3"),
            ("Apple clang version 15.0.0 (clang-1500.1.0.2.5)", "15.0.0"),
            ("rustc 1.95.0 (59807616e 2026-04-14)\nbinary: rustc", "1.95.0"),
            ("hello", "hello"),
            ("", "unknown"),
        ] {
            assert_eq!(version(text), number, "{text}");
        }
    }

    #[test]
    fn a_compiler_that_is_not_there_is_named_with_what_is_wrong() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("plain");
        std::fs::write(&file, "text").expect("a file");
        let path = folder.path().as_os_str().to_owned();
        let message = |word: &Path| named(&[word.to_owned()], &path).expect_err("no compiler").to_string();
        assert!(message(folder.path()).contains("a folder"));
        assert!(message(&file).contains("not an executable"));
        assert!(message(&folder.path().join("none")).contains("no such file"));
        assert!(message(Path::new("plain")).contains("on PATH"));
        assert!(on_path(&path).is_empty());
    }
}
