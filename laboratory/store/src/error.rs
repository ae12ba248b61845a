//! The errors of the store; each names the file and the remedy.

use super::RunId;
use rusqlite::{ErrorCode, ffi};
use std::path::{Path, PathBuf};

/// The reason that an operation on the store failed. Nothing was changed unless the message states otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no location for the store.
    #[error(
        "no location for the store: neither XDG_DATA_HOME nor HOME is an absolute path; give one with --db PATH, or measure with --no-save"
    )]
    NoDataDirectory,
    /// A folder of the default path cannot be created.
    #[error("cannot create the folder {}: {source}; give another path with --db PATH, or measure with --no-save", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file cannot be opened or created.
    #[error("cannot open the store {}: {reason}; check the folder and its permissions, give another path with --db PATH, or measure with --no-save", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
    /// There is no store to read.
    #[error("there is no store {}; 'carryline run' creates one, and --db PATH selects another", path.display())]
    Missing {
        /// The missing file.
        path: PathBuf,
    },
    /// The path is that of a folder, a device or a pipe.
    #[error("{} is not a regular file, so it cannot be the store; give another path with --db PATH", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file is not an SQLite database.
    #[error("{} is not an SQLite database, so it is not a carryline store; it was not changed; give another path with --db PATH", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The file is a database of another program.
    #[error("{} is an SQLite database of another program (application id {application_id:#x}); it was not changed; give another path with --db PATH", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// The other program's application id.
        application_id: u32,
    },
    /// The store was written by a later version of carryline.
    #[error("the store {} has schema version {found}, this carryline supports up to {known}; it was not changed; use a newer carryline, or another store with --db PATH", path.display())]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        found: i32,
        /// The newest supported version.
        known: i32,
    },
    /// Bytes are missing or do not match their checksum.
    #[error("the store {} is damaged: {what}; move it away (a new one is then created) or give another path with --db PATH; 'sqlite3 FILE .recover' may rescue the rest", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damage.
        what: String,
    },
    /// Another process has locked the store.
    #[error("the store {} is busy: another process has been writing for {waited_s} s; wait for it, or give another path with --db PATH", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
        /// The time waited, in seconds.
        waited_s: u64,
    },
    /// The file or its folder is read-only.
    #[error("the store {} cannot be written: the file or its folder is read-only; give another path with --db PATH, or measure with --no-save", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// There is no space for the file to grow.
    #[error("the store {} cannot grow: {reason}; free some space (what was stored before is intact) or give another path with --db PATH", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        reason: String,
    },
    /// The file was removed or replaced while it was open.
    #[error("the store {} was removed or replaced while in use; the data that this run stored there is lost; run again, or give another path with --db PATH", path.display())]
    Gone {
        /// The previous path.
        path: PathBuf,
    },
    /// The store has no run with this number.
    #[error("the store {} has no run {run}; 'carryline history' lists its runs", path.display())]
    UnknownRun {
        /// The file.
        path: PathBuf,
        /// The requested number.
        run: RunId,
    },
    /// The run has not ended, so it has no result.
    #[error("run {run} in {} has no result: it was killed or is still running; its finished rounds are available", path.display())]
    Unfinished {
        /// The file.
        path: PathBuf,
        /// The run.
        run: RunId,
    },
    /// The run has ended: nothing can be added to it.
    #[error("run {run} in {} has ended; nothing can be added to it", path.display())]
    Ended {
        /// The file.
        path: PathBuf,
        /// The run.
        run: RunId,
    },
    /// The data could not be read back after storing.
    #[error("nothing was stored in {}: {what}", path.display())]
    Unstorable {
        /// The file.
        path: PathBuf,
        /// The reason.
        what: String,
    },
    /// Any other error that SQLite reports.
    #[error("the store {} failed: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
}

/// Converts SQLite's errors about a file into ours.
pub(super) fn about(path: &Path, waited_s: u64) -> impl Fn(rusqlite::Error) -> StoreError + Copy + '_ {
    move |source| of_sqlite(path, waited_s, source)
}

fn of_sqlite(path: &Path, waited_s: u64, source: rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    let damaged = |path, what: &str| StoreError::Damaged { path, what: what.to_owned() };
    let (code, extended) = match &source {
        rusqlite::Error::SqliteFailure(failure, _) => (failure.code, failure.extended_code),
        // The schema was checked on opening: if a statement finds something missing or different, it is
        // damaged.
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
        ErrorCode::NotADatabase => damaged(path, "it has no SQLite header"),
        ErrorCode::CannotOpen => StoreError::Open { path, reason: source.to_string() },
        // The generic error: a table or column no longer exists.
        ErrorCode::Unknown => damaged(path, &source.to_string()),
        _ => StoreError::Sqlite { path, source },
    }
}
