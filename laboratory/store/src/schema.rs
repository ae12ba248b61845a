//! The tables, and the check that a database is a store.
//!
//! Every row has a CRC-32 over its key and values (see [`super::crc32`]), `progress` counts a run's rounds
//! and chains their checksums, and `ledger` counts the runs. So a damaged byte causes a wrong checksum or
//! count, even if SQLite itself finds the database well-formed.

use super::StoreError;
use super::crc32::Crc32;
use super::error::about;
use super::file::{APPLICATION_ID, SCHEMA, known};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::Path;

/// The name and definition of each table, as SQLite stores them.
const TABLES: &[(&str, &str)] = &[
    (
        "ledger",
        "CREATE TABLE ledger (one INTEGER PRIMARY KEY CHECK (one = 1), runs INTEGER NOT NULL, crc INTEGER NOT NULL) STRICT",
    ),
    (
        "progress",
        "CREATE TABLE progress (run INTEGER PRIMARY KEY, status TEXT NOT NULL, rounds INTEGER NOT NULL, \
         rounds_crc INTEGER NOT NULL, situations INTEGER NOT NULL, cells INTEGER NOT NULL, crc INTEGER NOT NULL) STRICT",
    ),
    (
        "result",
        "CREATE TABLE result (run INTEGER PRIMARY KEY, json TEXT NOT NULL, crc INTEGER NOT NULL) STRICT",
    ),
    (
        "round",
        "CREATE TABLE round (run INTEGER NOT NULL, sequence INTEGER NOT NULL, body BLOB NOT NULL, \
         PRIMARY KEY (run, sequence)) STRICT, WITHOUT ROWID",
    ),
    (
        "run",
        "CREATE TABLE run (id INTEGER PRIMARY KEY AUTOINCREMENT, started TEXT NOT NULL, command TEXT NOT NULL, \
         seed TEXT NOT NULL, environment TEXT NOT NULL, plan TEXT NOT NULL, crc INTEGER NOT NULL) STRICT",
    ),
];

/// Creates the tables if there are none, and rejects a database whose tables differ from the schema.
///
/// The tables are created before the database is switched to WAL mode, in one transaction of the file itself.
/// So the version and the application id are in the file's header, where the next opening checks them first.
pub(super) fn prepare(connection: &Connection, path: &Path, waited_s: u64) -> Result<(), StoreError> {
    let failed = about(path, waited_s);
    if is_empty(connection).map_err(failed)? {
        let transaction =
            Transaction::new_unchecked(connection, TransactionBehavior::Immediate).map_err(failed)?;
        // Another process may have been first.
        if is_empty(&transaction).map_err(failed)? {
            create(&transaction).map_err(failed)?;
        }
        transaction.commit().map_err(failed)?;
    }
    check(connection, path, waited_s)
}

/// Rejects a database whose tables differ from the schema.
pub(super) fn check(connection: &Connection, path: &Path, waited_s: u64) -> Result<(), StoreError> {
    let failed = about(path, waited_s);
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let version = pragma("user_version").map_err(failed)?;
    known(path, version, pragma("application_id").map_err(failed)? as u32)?;
    if tables(connection)
        .map_err(failed)?
        .iter()
        .map(|(name, sql)| (&**name, &**sql))
        .ne(TABLES.iter().copied())
    {
        return Err(StoreError::Damaged {
            path: path.to_owned(),
            what: "its tables do not match the schema".into(),
        });
    }
    Ok(())
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    let count: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let version: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let application_id: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    Ok(count == 0 && version == 0 && application_id == 0)
}

fn create(connection: &Connection) -> rusqlite::Result<()> {
    for (_, sql) in TABLES {
        connection.execute(sql, [])?;
    }
    set_ledger(connection, 0)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID as i32)?;
    connection.pragma_update(None, "user_version", SCHEMA)
}

/// Gives a store of an earlier version the current version before the first new run is added: a carryline
/// that does not support the new rounds then rejects the store instead of calling it damaged.
pub(super) fn migrate(connection: &Connection) -> rusqlite::Result<()> {
    let version: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version < SCHEMA {
        connection.pragma_update(None, "user_version", SCHEMA)?;
    }
    Ok(())
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let mut statement = connection.prepare(
        "SELECT name, coalesce(sql, type) FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    )?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn ledger_crc(runs: i64) -> u32 {
    Crc32::new().field(b"ledger").number(runs).sum()
}

/// Stores the number of runs.
pub(super) fn set_ledger(connection: &Connection, runs: i64) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO ledger (one, runs, crc) VALUES (1, ?1, ?2)";
    connection.execute(sql, (runs, ledger_crc(runs))).map(|_| ())
}

/// The number of runs, if the ledger agrees with the count; otherwise `None`.
pub(super) fn runs_counted(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let ledger = connection.query_row("SELECT runs, crc FROM ledger WHERE one = 1", [], |row| {
        Ok((row.get(0)?, row.get::<_, u32>(1)?))
    });
    let (runs, crc): (i64, u32) = match ledger {
        Err(rusqlite::Error::QueryReturnedNoRows) => return Ok(None),
        other => other?,
    };
    let counted: i64 = connection.query_row("SELECT count(*) FROM run", [], |row| row.get(0))?;
    Ok((crc == ledger_crc(runs) && counted == runs).then_some(runs))
}
