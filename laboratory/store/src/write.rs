//! Begins, extends and ends runs.

use super::round::encode;
use super::runs::{Progress, RUNNING, RunHeader, RunId, chained, header_crc, result_crc};
use super::schema::{migrate, runs_counted, set_ledger};
use super::{Store, StoreError};
use carryline_results::RunResult;
use carryline_results::round::RoundRecord;
use rusqlite::{Transaction, TransactionBehavior};
use serde::Deserialize;
use std::collections::HashSet;

impl Store {
    /// Records the start of a run and returns its number. Until it ends, it is listed as incomplete.
    ///
    /// # Errors
    /// [`StoreError`]; nothing is stored in that case.
    pub fn begin_run(&mut self, header: &RunHeader) -> Result<RunId, StoreError> {
        let command: Vec<String> = header.command.iter().map(|word| self.privacy.text(word)).collect();
        let texts = [
            serde_json::Value::from(command).to_string(),
            header.seed.to_string(),
            self.privacy.json(&header.environment).to_string(),
            self.privacy.json(&header.plan).to_string(),
        ];
        self.writing(|store, transaction| {
            let failed = store.failed();
            let Some(runs) = runs_counted(transaction).map_err(failed)? else {
                return Err(store.damaged("the number of runs does not match"));
            };
            migrate(transaction).map_err(failed)?;
            let sql = "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')";
            let started: String = transaction.query_row(sql, [], |row| row.get(0)).map_err(failed)?;
            let [command, seed, environment, plan] = &texts;
            let sql = "INSERT INTO run (started, command, seed, environment, plan, crc) VALUES (?1, ?2, ?3, ?4, ?5, 0)";
            transaction.execute(sql, (&started, command, seed, environment, plan)).map_err(failed)?;
            let run = RunId(transaction.last_insert_rowid());
            let crc = header_crc(run, &started, &texts);
            transaction.execute("UPDATE run SET crc = ?1 WHERE id = ?2", (crc, run.0)).map_err(failed)?;
            let initial = Progress {
                status: RUNNING.to_owned(),
                rounds: 0,
                rounds_crc: 0,
                situations: 0,
                cells: 0,
            };
            set_progress(transaction, run, &initial).map_err(failed)?;
            set_ledger(transaction, runs + 1).map_err(failed)?;
            Ok(run)
        })
    }

    /// Stores a finished round. Once this returns, the round survives the death of the process.
    ///
    /// # Errors
    /// [`StoreError::Ended`] and [`StoreError::UnknownRun`]; [`StoreError::Gone`] if the file no longer
    /// exists; [`StoreError::Unstorable`] for a situation's name of more than 65,535 bytes. Data stored
    /// before is unaffected.
    pub fn add_round(&mut self, run: RunId, record: &RoundRecord) -> Result<(), StoreError> {
        let record = RoundRecord { situation: self.privacy.text(&record.situation), ..record.clone() };
        self.writing(|store, transaction| {
            let mut progress = store.running(transaction, run)?;
            let body = encode(&record, run.0, progress.rounds).ok_or_else(|| StoreError::Unstorable {
                path: store.path.clone(),
                what: format!("a situation's name has {} bytes", record.situation.len()),
            })?;
            let failed = store.failed();
            transaction
                .prepare_cached("INSERT INTO round (run, sequence, body) VALUES (?1, ?2, ?3)")
                .and_then(|mut statement| statement.execute((run.0, progress.rounds, &body)))
                .map_err(failed)?;
            progress.rounds += 1;
            progress.rounds_crc = chained(progress.rounds_crc, &body);
            set_progress(transaction, run, &progress).map_err(failed)
        })
    }

    /// Stores the result and marks the run complete.
    ///
    /// # Errors
    /// As [`Store::add_round`]; [`StoreError::Unstorable`] if a figure of the result is not finite.
    pub fn finish_run(&mut self, run: RunId, result: &RunResult) -> Result<(), StoreError> {
        self.end_run(run, result, "complete")
    }

    /// Stores the result so far and marks the run interrupted.
    ///
    /// # Errors
    /// As [`Store::finish_run`].
    pub fn mark_interrupted(&mut self, run: RunId, result: &RunResult) -> Result<(), StoreError> {
        self.end_run(run, result, "interrupted")
    }

    fn end_run(&mut self, run: RunId, result: &RunResult, status: &str) -> Result<(), StoreError> {
        let unstorable = |why: &str| StoreError::Unstorable {
            path: self.path.clone(),
            what: format!("the result of run {run} could not be read back ({why})"),
        };
        let result = RunResult { run_id: Some(run.0), ..result.clone() };
        let value = serde_json::to_value(&result).map_err(|error| unstorable(&error.to_string()))?;
        // JSON cannot represent NaN and infinities: detected now rather than when the result is read.
        match RunResult::deserialize(&value) {
            Ok(back) if back == result => {}
            Ok(_) => return Err(unstorable("a figure is not finite")),
            Err(error) => return Err(unstorable(&error.to_string())),
        }
        let situations: HashSet<&str> = result.cells.iter().map(|cell| &*cell.situation).collect();
        let json = self.privacy.json(&value).to_string();
        self.writing(|store, transaction| {
            let progress = Progress {
                status: status.to_owned(),
                situations: situations.len() as i64,
                cells: result.cells.len() as i64,
                ..store.running(transaction, run)?
            };
            let sql = "INSERT INTO result (run, json, crc) VALUES (?1, ?2, ?3)";
            transaction.execute(sql, (run.0, &json, result_crc(run, &json))).map_err(store.failed())?;
            set_progress(transaction, run, &progress).map_err(store.failed())
        })
    }

    /// The progress of a run that has not ended, as seen by the transaction.
    fn running(&self, _within: &Transaction<'_>, run: RunId) -> Result<Progress, StoreError> {
        let progress = self.progress(run)?;
        if progress.status == RUNNING {
            return Ok(progress);
        }
        Err(StoreError::Ended { path: self.path.clone(), run })
    }

    /// Runs one write transaction: all or nothing, waiting for other writers.
    fn writing<T>(
        &mut self,
        work: impl FnOnce(&Store, &Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let failed = self.failed();
        // `new_unchecked` takes a shared borrow of the connection; `&mut self` ensures that this is the only
        // transaction.
        let transaction =
            Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate).map_err(failed)?;
        let done = work(self, &transaction)?;
        transaction.commit().map_err(failed)?;
        self.still_there()?;
        Ok(done)
    }
}

fn set_progress(transaction: &Transaction<'_>, run: RunId, progress: &Progress) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO progress (run, status, rounds, rounds_crc, situations, cells, crc) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let Progress { status, rounds, rounds_crc, situations, cells } = progress;
    transaction
        .prepare_cached(sql)?
        .execute((run.0, status, rounds, rounds_crc, situations, cells, progress.crc(run)))
        .map(|_| ())
}
