//! Stores runs in one SQLite file, with every raw sample.
//!
//! **Durable.** Each finished round is one transaction in a write-ahead log: once [`Store::add_round`]
//! returns, the round survives `kill -9` of the process. A power failure may lose the last rounds, but never
//! the file. A killed run is listed as incomplete, with all its finished rounds.
//!
//! **No wrong numbers.** All stored data has checksums that are verified on reading, and runs and rounds are
//! counted, so damage gives an error that names the file rather than a wrong figure. [`Store::check`] reads
//! everything.
//!
//! **No changes to other files.** A file that is not a store, or has a newer schema, is rejected by its
//! header alone.
//!
//! **Private.** Home directories are replaced in every stored string; the caller must leave host and user
//! names out of the environment.
//!
//! On network file systems without shared memory for the log, SQLite falls back to its rollback journal,
//! which is as durable but slower. One process writes at a time; others wait up to [`BUSY_S`] seconds.
//!
//! `round.rs` describes the blob of a round.

mod crc32;
mod error;
mod file;
mod privacy;
mod read;
mod round;
mod runs;
mod schema;
mod write;

pub use error::StoreError;
pub use runs::{RunHeader, RunId, RunStatus, RunSummary};

use error::about;
use file::Identity;
use privacy::Privacy;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time that a process waits for another one that is writing, in seconds, unless
/// [`Store::set_busy_s`] says otherwise.
pub const BUSY_S: u64 = 10;

/// An open store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    identity: Option<Identity>,
    privacy: Privacy,
    busy_s: u64,
}

impl Store {
    /// Opens the store, and creates it if the file is missing or empty. The folder must exist.
    ///
    /// # Errors
    /// [`StoreError`]. After [`StoreError::NewerSchema`], [`StoreError::NotADatabase`] and
    /// [`StoreError::NotAStore`], the file is unchanged to the byte.
    pub fn open(path: impl AsRef<Path>) -> Result<Store, StoreError> {
        // Absolute, so that no path is mistaken for one of SQLite's special names.
        let path = std::path::absolute(path.as_ref()).map_err(|source| StoreError::Open {
            path: path.as_ref().to_owned(),
            reason: source.to_string(),
        })?;
        let deadline = Instant::now() + Duration::from_secs(BUSY_S);
        loop {
            // SQLite reports some kinds of contention on opening without waiting.
            match Store::try_open(&path) {
                Err(StoreError::Busy { .. }) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                other => return other,
            }
        }
    }

    /// Opens an existing store for reading: nothing is created, and a read-only store is accepted.
    ///
    /// # Errors
    /// [`StoreError::Missing`] if it does not exist; otherwise as [`Store::open`].
    pub fn open_existing(path: impl AsRef<Path>) -> Result<Store, StoreError> {
        let path = path.as_ref();
        if std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() == 0) || !path.exists() {
            return Err(StoreError::Missing { path: path.to_owned() });
        }
        match Store::open(path) {
            Err(StoreError::ReadOnly { path } | StoreError::Open { path, .. }) => {
                Store::open_read_only(&path)
            }
            other => other,
        }
    }

    /// Opens a store in a read-only file or folder. SQLite keeps recent writes in a log, which cannot be read
    /// without creating files beside it; without a log, the file is complete and not changed by others.
    fn open_read_only(path: &Path) -> Result<Store, StoreError> {
        file::inspect(path)?;
        if file::beside(path, "-wal").metadata().is_ok_and(|log| log.len() > 0) {
            let reason =
                "it is read-only, and recent writes are in a log that can only be read with write access";
            return Err(StoreError::Open { path: path.to_owned(), reason: reason.to_owned() });
        }
        let failed = about(path, BUSY_S);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_EXRESCODE;
        let connection = Connection::open_with_flags(file::immutable(path), flags).map_err(failed)?;
        Store::settle(&connection, path)?;
        schema::check(&connection, path, BUSY_S)?;
        Ok(Store::of(connection, path))
    }

    /// Applies the settings of every connection.
    fn settle(connection: &Connection, path: &Path) -> Result<(), StoreError> {
        let failed = about(path, BUSY_S);
        connection.busy_timeout(Duration::from_secs(BUSY_S)).map_err(failed)?;
        // Until the version is checked, closing must not copy a log into the file.
        let config = |option, on| connection.set_db_config(option, on).map(|_| ()).map_err(failed);
        config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.pragma_update(None, "cell_size_check", true).map_err(failed)
    }

    fn of(connection: Connection, path: &Path) -> Store {
        let identity = Identity::of(path);
        Store {
            connection,
            path: path.to_owned(),
            identity,
            privacy: Privacy::of_environment(),
            busy_s: BUSY_S,
        }
    }

    fn try_open(path: &Path) -> Result<Store, StoreError> {
        file::inspect(path)?;
        let failed = about(path, BUSY_S);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_EXRESCODE;
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        Store::settle(&connection, path)?;
        schema::prepare(&connection, path, BUSY_S)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(failed)?;
        // Returns the resulting mode; a file system without shared memory keeps the rollback journal.
        connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())).map_err(failed)?;
        connection.pragma_update(None, "synchronous", "normal").map_err(failed)?;
        Ok(Store::of(connection, path))
    }

    /// `carryline/carryline.sqlite` in the user's data folder, which is created if missing: `XDG_DATA_HOME`,
    /// or `.local/share` in `HOME`. Relative values are ignored, as the XDG specification requires.
    ///
    /// # Errors
    /// [`StoreError::NoDataDirectory`] if neither variable is an absolute path, [`StoreError::Folder`] if a
    /// folder cannot be created.
    pub fn default_path() -> Result<PathBuf, StoreError> {
        let path = Store::default_place()?;
        if let Some(folder) = path.parent() {
            let mut builder = std::fs::DirBuilder::new();
            builder.recursive(true);
            // The specification requires that created folders are accessible only to the user.
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder
                .create(folder)
                .map_err(|source| StoreError::Folder { path: folder.to_owned(), source })?;
        }
        Ok(path)
    }

    /// As [`Store::default_path`], without creating anything.
    ///
    /// # Errors
    /// [`StoreError::NoDataDirectory`] if neither variable is an absolute path.
    pub fn default_place() -> Result<PathBuf, StoreError> {
        let variable = |name| std::env::var_os(name).map(PathBuf::from);
        path_in(variable("XDG_DATA_HOME"), variable("HOME")).ok_or(StoreError::NoDataDirectory)
    }

    /// Sets how long this store waits for another process that is writing, in seconds.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn set_busy_s(&mut self, seconds: u64) -> Result<(), StoreError> {
        self.connection.busy_timeout(Duration::from_secs(seconds)).map_err(self.failed())?;
        self.busy_s = seconds;
        Ok(())
    }

    /// The absolute path of the store.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads everything and verifies every checksum and count.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] with the first damage found.
    pub fn check(&self) -> Result<(), StoreError> {
        let verdict: String = self
            .connection
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
            .map_err(self.failed())?;
        if verdict != "ok" {
            return Err(self.damaged(verdict));
        }
        self.check_runs()
    }

    fn failed(&self) -> impl Fn(rusqlite::Error) -> StoreError + Copy + '_ {
        about(&self.path, self.busy_s)
    }

    fn damaged(&self, what: impl Into<String>) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what: what.into() }
    }

    /// Checks that the path still refers to the written file. SQLite continues to write to a removed file.
    fn still_there(&self) -> Result<(), StoreError> {
        if self.identity.is_some() && Identity::of(&self.path) == self.identity {
            return Ok(());
        }
        Err(StoreError::Gone { path: self.path.clone() })
    }
}

fn path_in(xdg_data_home: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let folder = xdg_data_home
        .filter(absolute)
        .or_else(|| home.filter(absolute).map(|home| home.join(".local").join("share")))?;
    Some(folder.join("carryline").join("carryline.sqlite"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_folder_follows_the_xdg_specification() {
        let path = |xdg: Option<&str>, home: Option<&str>| {
            path_in(xdg.map(PathBuf::from), home.map(PathBuf::from)).map(|p| p.display().to_string())
        };
        let of_home = Some("/h/.local/share/carryline/carryline.sqlite".to_owned());
        assert_eq!(path(Some("/x"), Some("/h")), Some("/x/carryline/carryline.sqlite".to_owned()));
        assert_eq!(path(None, Some("/h")), of_home);
        assert_eq!(path(Some("relative"), Some("/h")), of_home);
        assert_eq!(path(Some(""), Some("/h")), of_home);
        assert_eq!(path(Some("x"), Some("h")), None);
        assert_eq!(path(None, None), None);
    }
}
