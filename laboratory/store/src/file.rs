//! Inspects the file before SQLite opens it.
//!
//! Merely opening a database in WAL mode creates files beside it and may write to it. Files of other programs
//! or newer versions must not change, so the header is first checked with plain reads.

use super::StoreError;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The schema version, stored as `PRAGMA user_version`. Version 1 had the same tables; its rounds do not
/// state whether cycles were counted.
pub(super) const SCHEMA: i32 = 2;

/// "CLin", stored as `PRAGMA application_id`.
pub(super) const APPLICATION_ID: u32 = 0x434c_696e;

const HEADER_BYTES: usize = 100;
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Rejects files that are not stores. A missing or empty file may become one.
pub(super) fn inspect(path: &Path) -> Result<(), StoreError> {
    let open =
        |source: std::io::Error| StoreError::Open { path: path.to_owned(), reason: source.to_string() };
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return folder_exists(path),
        Err(error) => return Err(open(error)),
    };
    if !metadata.is_file() {
        return Err(StoreError::NotAFile { path: path.to_owned() });
    }
    if metadata.len() == 0 {
        return Ok(());
    }
    let mut header = [0; HEADER_BYTES];
    match File::open(path).and_then(|mut file| file.read_exact(&mut header)) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            return Err(StoreError::NotADatabase { path: path.to_owned() });
        }
        Err(error) => return Err(open(error)),
    }
    if header[..16] != MAGIC[..] {
        return Err(StoreError::NotADatabase { path: path.to_owned() });
    }
    known(path, number_at(&header, 60) as i32, number_at(&header, 68))?;
    whole(path, &header)
}

/// Rejects other programs' databases and those with a newer schema.
pub(super) fn known(path: &Path, version: i32, application_id: u32) -> Result<(), StoreError> {
    if application_id != APPLICATION_ID {
        return Err(StoreError::NotAStore { path: path.to_owned(), application_id });
    }
    if version > SCHEMA {
        return Err(StoreError::NewerSchema { path: path.to_owned(), found: version, known: SCHEMA });
    }
    if version < 1 {
        let what = format!("its schema version is {version}");
        return Err(StoreError::Damaged { path: path.to_owned(), what });
    }
    Ok(())
}

/// Rejects a file shorter than its header states, unless a write-ahead log may hold the rest.
fn whole(path: &Path, header: &[u8; HEADER_BYTES]) -> Result<(), StoreError> {
    let page_bytes = match u64::from(number_at(header, 16) >> 16) {
        1 => 65_536,
        bytes => bytes,
    };
    let expected = u64::from(number_at(header, 28)) * page_bytes;
    let mut length = 0;
    // If there is a journal, a crash interrupted the transaction that created the store; SQLite rolls it
    // back.
    if beside(path, "-journal").metadata().is_ok_and(|journal| journal.len() > 0) {
        return Ok(());
    }
    // Another process may just be copying its log into the file, and then remove the log.
    for _ in 0..3 {
        length = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        let log = beside(path, "-wal").metadata().is_ok_and(|log| log.len() > 0);
        if length >= expected || log {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let what = format!("it is truncated: {length} bytes instead of the {expected} stated in its header");
    Err(StoreError::Damaged { path: path.to_owned(), what })
}

fn folder_exists(path: &Path) -> Result<(), StoreError> {
    match path.parent() {
        Some(folder) if !folder.is_dir() => Err(StoreError::Open {
            path: path.to_owned(),
            reason: format!("the folder {} does not exist", folder.display()),
        }),
        _ => Ok(()),
    }
}

/// The file that SQLite keeps beside the database, with symbolic links resolved.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.canonicalize().unwrap_or_else(|_| path.to_owned()).into_os_string();
    name.push(suffix);
    name.into()
}

/// The URI with which SQLite opens the file without locks and without files beside it. Other bytes than those
/// of plain names are percent-encoded.
pub(super) fn immutable(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri + "?immutable=1"
}

/// A big-endian number in the header.
fn number_at(header: &[u8; HEADER_BYTES], offset: usize) -> u32 {
    header[offset..offset + 4].iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// The file that a path currently refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    #[cfg(unix)]
    device_and_inode: (u64, u64),
}

impl Identity {
    pub fn of(path: &Path) -> Option<Identity> {
        let metadata = std::fs::metadata(path).ok()?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Some(Identity { device_and_inode: (metadata.dev(), metadata.ino()) })
        }
        #[cfg(not(unix))]
        {
            // On other systems, an open file cannot be removed.
            let _ = metadata;
            Some(Identity {})
        }
    }
}
