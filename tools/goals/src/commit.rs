//! The version of the code that was measured.
//!
//! The measured command does not know its own, so `benchmarks run` keeps it in a file beside the database, by the
//! numbers of the runs.

use anyhow::Context;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folders whose code is measured.
const MEASURED: [&str; 2] = ["library", "laboratory"];

/// The commit of a workspace, with `-dirty` if the measured code differs from it; none if git does not know.
#[must_use]
pub fn of(workspace: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(workspace).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success().then_some(text)
    };
    let commit = git(&["rev-parse", "--short=8", "HEAD"]).filter(|commit| !commit.is_empty())?;
    let changes = git(&[&["status", "--porcelain", "--"], &MEASURED[..]].concat())?;
    Some(if changes.is_empty() { commit } else { format!("{commit}-dirty") })
}

/// The commits of the runs in a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commits {
    by_run: BTreeMap<i64, String>,
}

impl Commits {
    /// Those of a database; none if it does not exist, or if no commit of its runs is known.
    ///
    /// # Errors
    /// If the file beside the database is not of this format; the error names it.
    pub fn load(db: &Path) -> anyhow::Result<Commits> {
        let path = beside(db);
        if !db.exists() || !path.exists() {
            return Ok(Commits::default());
        }
        let named = || format!("{}: not the commits of runs; remove it", path.display());
        let by_run = serde_json::from_str(&std::fs::read_to_string(&path).with_context(named)?);
        Ok(Commits { by_run: by_run.with_context(named)? })
    }

    /// Adds the commit of a run, if known, and writes the file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&mut self, run: i64, commit: Option<&str>, db: &Path) -> anyhow::Result<()> {
        let Some(commit) = commit else { return Ok(()) };
        self.by_run.insert(run, commit.to_owned());
        let path = beside(db);
        let text = serde_json::to_string(&self.by_run)?;
        std::fs::write(&path, text).with_context(|| path.display().to_string())
    }

    /// The commit of a run, if known.
    #[must_use]
    pub fn of(&self, run: i64) -> Option<String> {
        self.by_run.get(&run).cloned()
    }
}

fn beside(db: &Path) -> PathBuf {
    db.with_extension("commits.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_kept_beside_the_database_and_only_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let db = folder.path().join("benchmarks.sqlite");
        let mut commits = Commits::load(&db).expect("none");
        commits.add(3, Some("0123abcd"), &db).expect("written");
        commits.add(4, None, &db).expect("nothing to write");
        assert_eq!(Commits::load(&db).expect("no database").of(3), None);
        std::fs::write(&db, "").expect("written");
        let read = Commits::load(&db).expect("written above");
        assert_eq!((read.of(3).as_deref(), read.of(4)), (Some("0123abcd"), None));
        std::fs::write(beside(&db), "[]").expect("written");
        let error = format!("{:#}", Commits::load(&db).expect_err("no map"));
        assert!(error.contains("benchmarks.commits.json") && error.contains("remove it"), "{error}");
    }

    #[test]
    fn a_folder_without_a_repository_has_no_commit() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(of(folder.path()), None);
    }
}
