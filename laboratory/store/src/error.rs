//! What can be wrong with the store, each naming the file and what to do.

use super::RunId;
use rusqlite::{ErrorCode, ffi};
use std::path::{Path, PathBuf};

/// Why the store could not do what was asked. Nothing was changed, unless the message says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no location for the store.
    #[error(
        "no location for the store: neither XDG_DATA_HOME nor HOME is an absolute path; give one with --db PATH, or measure with --no-save"
    )]
    NoDataDirectory,
    /// A folder of the default path cannot be made.
    #[error("cannot create the folder {}: {source}; give another path with --db PATH, or measure with --no-save", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file cannot be opened or made.
    #[error("cannot open the store {}: {reason}; check the folder and its permissions, give another path with --db PATH, or measure with --no-save", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There is no store to read.
    #[error("there is no store {}; 'carryline run' makes one, and --db PATH names another", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The path leads to a folder, a device or a pipe.
    #[error("{} is not a regular file, so it cannot be the store; give another path with --db PATH", path.display())]
    NotAFile {
        /// What the path leads to.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{} is not an SQLite database, so it is not a store of carryline; it was left untouched; give another path with --db PATH", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The file is some other program's database.
    #[error("{} is an SQLite database of another program (application id {application_id:#x}); it was left untouched; give another path with --db PATH", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// The other program's mark.
        application_id: u32,
    },
    /// The store was written by a later carryline.
    #[error("the store {} has schema version {found}, this carryline knows up to {known}; it was left untouched; use a newer carryline, or another store with --db PATH", path.display())]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        found: i32,
        /// The newest version known here.
        known: i32,
    },
    /// Bytes are missing or are not those that were written.
    #[error("the store {} is damaged: {what}; move it away (a new one is then made) or give another path with --db PATH; 'sqlite3 FILE .recover' may rescue the rest", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Another process holds the store.
    #[error("the store {} is busy: another process has been writing for {waited_s} s; wait for it, or give another path with --db PATH", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
        /// For how long it was tried, in seconds.
        waited_s: u64,
    },
    /// The file or its folder may not be written.
    #[error("the store {} cannot be written: the file or its folder is read-only; give another path with --db PATH, or measure with --no-save", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// No room.
    #[error("the store {} cannot grow: {reason}; free some space (what was stored before is intact) or give another path with --db PATH", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The file was removed or replaced while it was open.
    #[error("the store {} was removed or replaced while in use; what this run stored there is lost; run again, or give another path with --db PATH", path.display())]
    Gone {
        /// Where it was.
        path: PathBuf,
    },
    /// The store has no run of that number.
    #[error("the store {} has no run {run}; 'carryline history' lists those it has", path.display())]
    UnknownRun {
        /// The file.
        path: PathBuf,
        /// The number requested.
        run: RunId,
    },
    /// The run never ended, so it has no result.
    #[error("run {run} in {} has no result: it was killed or is still running; its finished rounds are available", path.display())]
    Unfinished {
        /// The file.
        path: PathBuf,
        /// The run.
        run: RunId,
    },
    /// The run has ended: nothing can be added.
    #[error("run {run} in {} has ended; nothing can be added to it", path.display())]
    Ended {
        /// The file.
        path: PathBuf,
        /// The run.
        run: RunId,
    },
    /// What was to be stored could not be read back.
    #[error("nothing was stored in {}: {what}", path.display())]
    Unstorable {
        /// The file.
        path: PathBuf,
        /// What cannot be kept.
        what: String,
    },
    /// Anything else that SQLite reports.
    #[error("the store {} failed: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
}

/// Turns SQLite's errors about a file into ours.
pub(super) fn about(path: &Path, waited_s: u64) -> impl Fn(rusqlite::Error) -> StoreError + Copy + '_ {
    move |source| of_sqlite(path, waited_s, source)
}

fn of_sqlite(path: &Path, waited_s: u64, source: rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    let damaged = |path, what: &str| StoreError::Damaged { path, what: what.to_owned() };
    let (code, extended) = match &source {
        rusqlite::Error::SqliteFailure(failure, _) => (failure.code, failure.extended_code),
        // The schema was compared on opening: what a statement does not find or find otherwise has rotted.
        rusqlite::Error::SqlInputError { .. }
        | rusqlite::Error::QueryReturnedNoRows
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::Utf8Error(..)
        | rusqlite::Error::FromSqlConversionFailure(..) => return damaged(path, &source.to_string()),
        _ => return StoreError::Sqlite { path, source },
    };
    match code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
            StoreError::Busy { path, waited_s }
        }
        ErrorCode::ReadOnly if extended == ffi::SQLITE_READONLY_DBMOVED => StoreError::Gone { path },
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreError::ReadOnly { path },
        ErrorCode::DiskFull => StoreError::Full { path, reason: "the disk is full".to_owned() },
        ErrorCode::SystemIoFailure => match extended {
            ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_DATA | ffi::SQLITE_IOERR_CORRUPTFS => {
                damaged(path, &source.to_string())
            }
            ffi::SQLITE_IOERR_WRITE
            | ffi::SQLITE_IOERR_FSYNC
            | ffi::SQLITE_IOERR_TRUNCATE
            | ffi::SQLITE_IOERR_SHMSIZE
            | ffi::SQLITE_IOERR_SHMMAP => {
                let reason =
                    format!("writing failed ({source}): a full disk, a quota or a limit on file sizes");
                StoreError::Full { path, reason }
            }
            _ => StoreError::Sqlite { path, source },
        },
        ErrorCode::DatabaseCorrupt | ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch => {
            damaged(path, &source.to_string())
        }
        ErrorCode::NotADatabase => damaged(path, "its header is not that of SQLite"),
        ErrorCode::CannotOpen => StoreError::Open { path, reason: source.to_string() },
        // The generic error: a table or column that is no longer there.
        ErrorCode::Unknown => damaged(path, &source.to_string()),
        _ => StoreError::Sqlite { path, source },
    }
}
