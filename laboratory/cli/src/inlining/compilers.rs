//! Finds compilers and identifies them.
//!
//! Every command on `PATH` named like a gcc, clang or rustc for this architecture counts once, however many
//! names it has: two commands are the same compiler if they are the same file and report the same version.
//! Both tests are needed: one program may serve many names (ccache, rustup), and one compiler may be linked
//! under many.

use super::bounded;
use super::probes::Language;
use carryline_engine::failure::{Failure, usage};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

/// The time limit of a version query, unless the patience is less.
const VERSION_LIMIT: Duration = Duration::from_secs(10);

/// A command that may be a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The name that the user knows it by.
    pub name: String,
    /// Its path, symbolic links not resolved: some commands act by the name that they are called by.
    pub path: PathBuf,
    /// The language that it should compile.
    pub language: Language,
}

/// A compiler whose version is known.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// The name that the user knows it by.
    pub name: String,
    /// Its path.
    pub path: PathBuf,
    /// The language that it compiles.
    pub language: Language,
    /// Its version number, or the first line that it prints if there is no number in it.
    pub version: String,
    /// Distinguishes it from other versions at the same path.
    pub identity: String,
}

impl Candidate {
    fn new(name: String, path: PathBuf) -> Candidate {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let language = if file.contains("rustc") { Language::Rust } else { Language::C };
        Candidate { name, path, language }
    }

    /// Asks the command for its version.
    ///
    /// # Errors
    /// If it fails or does not end in time.
    pub fn identify(
        &self,
        scratch: &Path,
        patience: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<Compiler, bounded::RunError> {
        let flag = if self.language == Language::Rust { "-vV" } else { "--version" };
        let text =
            bounded::run(Command::new(&self.path).arg(flag), VERSION_LIMIT.min(patience), scratch, stop)?;
        let real = std::fs::canonicalize(&self.path)?;
        let metadata = std::fs::metadata(&real)?;
        let modified = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        // The output without the name that the command was called by.
        let rest = text.split_once(' ').map_or(text.as_str(), |(_, rest)| rest);
        Ok(Compiler {
            name: self.name.clone(),
            path: self.path.clone(),
            language: self.language,
            version: version(&text),
            identity: format!("{}|{}|{modified}|{rest}", real.display(), metadata.len()),
        })
    }
}

/// The version number in a compiler's output: the first number in the first line, after a package number in
/// parentheses if there is one.
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

/// True for names of gcc, clang and rustc for x86.
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

/// The compilers on `path`, those with the plainest names first.
pub fn on_path(path: &std::ffi::OsStr) -> Vec<Candidate> {
    // A name's first folder is the one that a shell uses.
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

/// The compilers that the user named by path, or by name on `PATH`.
///
/// # Errors
/// If there is no such program.
pub fn named(words: &[PathBuf], path: &std::ffi::OsStr) -> Result<Vec<Candidate>, Failure> {
    let find = |word: &PathBuf| {
        let has_slash = word.as_os_str().as_encoded_bytes().contains(&b'/');
        let places: Vec<PathBuf> = match has_slash {
            true => vec![word.clone()],
            false => std::env::split_paths(path).map(|folder| folder.join(word)).collect(),
        };
        let there = places.iter().find(|place| is_executable(place));
        there.map(|place| Candidate::new(word.display().to_string(), place.clone())).ok_or_else(|| {
            let problem = match (has_slash, word.is_dir(), word.exists()) {
                (true, true, _) => "a folder, not a program",
                (true, false, true) => "not an executable file",
                (true, false, false) => "no such file",
                (false, ..) => "no such program on PATH; give its path",
            };
            usage(format!("--compiler {}: {problem}", word.display()))
        })
    };
    words.iter().map(find).collect()
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Removes further names of the same compiler.
pub fn without_duplicates(compilers: Vec<Compiler>) -> Vec<Compiler> {
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
    fn compilers_for_this_architecture_are_recognised_by_name() {
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
    fn version_numbers_are_found() {
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
    fn an_error_for_a_missing_compiler_gives_the_reason() {
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
