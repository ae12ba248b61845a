//! Lists and reads runs. Data that does not match its checksum is never returned.

use super::round::decode;
use super::runs::{
    Progress, RUNNING, RunHeader, RunId, RunStatus, RunSummary, chained, header_crc, result_crc,
};
use super::schema::runs_counted;
use super::{Store, StoreError};
use carryline_results::RunResult;
use carryline_results::round::RoundRecord;
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior};
use std::collections::HashSet;

impl Store {
    /// The latest runs, latest first. A run that does not match its checksums is listed as damaged.
    ///
    /// # Errors
    /// [`StoreError`] if even their number does not match.
    pub fn runs(&self, limit: usize) -> Result<Vec<RunSummary>, StoreError> {
        self.reading(|| self.summaries(limit))
    }

    fn summaries(&self, limit: usize) -> Result<Vec<RunSummary>, StoreError> {
        if runs_counted(&self.connection).map_err(self.failed())?.is_none() {
            return Err(self.damaged("the number of runs does not match"));
        }
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let listed = |run| match self.summary(run) {
            Err(StoreError::Damaged { .. }) => Ok(RunSummary::damaged(run)),
            other => other,
        };
        self.ids("SELECT id FROM run ORDER BY id DESC LIMIT ?1", limit)?.into_iter().map(listed).collect()
    }

    fn ids(&self, sql: &str, limit: i64) -> Result<Vec<RunId>, StoreError> {
        let failed = self.failed();
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let rows = statement.query_map([limit], |row| row.get(0).map(RunId)).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    fn summary(&self, run: RunId) -> Result<RunSummary, StoreError> {
        let (started, header) = self.stored_header(run)?;
        let progress = self.progress(run)?;
        let (status, situations, cells) = match &*progress.status {
            "complete" => (RunStatus::Complete, progress.situations as u64, progress.cells as u64),
            "interrupted" => (RunStatus::Interrupted, progress.situations as u64, progress.cells as u64),
            _ => {
                let rounds = self.rounds_of(run)?;
                let situations: HashSet<&str> = rounds.iter().map(|round| &*round.situation).collect();
                let cells_of = |record: &RoundRecord| -> Vec<(String, usize)> {
                    let places = 0..record.round.samples.len();
                    places.map(|place| (record.situation.clone(), place)).collect()
                };
                let cells: HashSet<(String, usize)> = rounds.iter().flat_map(cells_of).collect();
                (RunStatus::Incomplete, situations.len() as u64, cells.len() as u64)
            }
        };
        let rounds = progress.rounds as u64;
        Ok(RunSummary { id: run, started, command: header.command, status, situations, cells, rounds })
    }

    /// The data that was known when the run began.
    ///
    /// # Errors
    /// [`StoreError::UnknownRun`], [`StoreError::Damaged`], or another [`StoreError`].
    pub fn header(&self, run: RunId) -> Result<RunHeader, StoreError> {
        self.reading(|| self.stored_header(run).map(|(_, header)| header))
    }

    /// The header and the start time in UTC: `2026-01-31T23:59:59Z`.
    ///
    /// # Errors
    /// As [`Store::header`].
    pub fn started(&self, run: RunId) -> Result<(String, RunHeader), StoreError> {
        self.reading(|| self.stored_header(run))
    }

    fn stored_header(&self, run: RunId) -> Result<(String, RunHeader), StoreError> {
        let sql = "SELECT started, crc, command, seed, environment, plan FROM run WHERE id = ?1";
        let row = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                let row = statement.query_row([run.0], |row| {
                    let texts = [row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?];
                    Ok((row.get::<_, String>(0)?, row.get::<_, u32>(1)?, texts))
                });
                row.optional()
            })
            .map_err(self.failed())?;
        let Some((started, crc, texts)) = row else { return Err(self.unknown(run)) };
        let parsed = (crc == header_crc(run, &started, &texts)).then(|| {
            let [command, seed, environment, plan] = &texts;
            Some(RunHeader {
                command: serde_json::from_str(command).ok()?,
                seed: seed.parse().ok()?,
                environment: serde_json::from_str(environment).ok()?,
                plan: serde_json::from_str(plan).ok()?,
            })
        });
        match parsed.flatten() {
            Some(header) => Ok((started, header)),
            None => Err(self.damaged(format!("the description of run {run} does not match its checksum"))),
        }
    }

    /// The result of an ended run.
    ///
    /// # Errors
    /// [`StoreError::Unfinished`] if it has not ended, [`StoreError::UnknownRun`], [`StoreError::Damaged`].
    pub fn load_run(&self, run: RunId) -> Result<RunResult, StoreError> {
        self.reading(|| self.result_of(run))
    }

    fn result_of(&self, run: RunId) -> Result<RunResult, StoreError> {
        if self.progress(run)?.status == RUNNING {
            return Err(StoreError::Unfinished { path: self.path.clone(), run });
        }
        let sql = "SELECT json, crc FROM result WHERE run = ?1";
        let row: Option<(String, u32)> = self
            .connection
            .query_row(sql, [run.0], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
            .map_err(self.failed())?;
        let Some((json, crc)) = row else {
            return Err(self.damaged(format!("the result of run {run} is missing")));
        };
        if crc != result_crc(run, &json) {
            return Err(self.damaged(format!("the result of run {run} does not match its checksum")));
        }
        serde_json::from_str(&json)
            .map_err(|error| self.damaged(format!("the result of run {run} is unreadable ({error})")))
    }

    /// The finished rounds of a run, in the order in which they were stored; also those of a killed run.
    ///
    /// # Errors
    /// [`StoreError::UnknownRun`], or [`StoreError::Damaged`] if any round is not as written.
    pub fn rounds(&self, run: RunId) -> Result<Vec<RoundRecord>, StoreError> {
        self.reading(|| self.rounds_of(run))
    }

    fn rounds_of(&self, run: RunId) -> Result<Vec<RoundRecord>, StoreError> {
        let failed = self.failed();
        let progress = self.progress(run)?;
        let sql = "SELECT sequence, body FROM round WHERE run = ?1 ORDER BY sequence";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let mut rows = statement.query([run.0]).map_err(failed)?;
        let (mut records, mut rounds_crc) = (Vec::new(), 0);
        while let Some(row) = rows.next().map_err(failed)? {
            let sequence: i64 = row.get(0).map_err(failed)?;
            let body = row.get_ref(1).map_err(failed)?.as_blob().unwrap_or_default();
            if sequence != records.len() as i64 {
                return Err(self.damaged(format!("round {} of run {run} is missing", records.len())));
            }
            rounds_crc = chained(rounds_crc, body);
            let record = decode(body, run.0, sequence)
                .map_err(|what| self.damaged(format!("round {sequence} of run {run}: {what}")))?;
            records.push(record);
        }
        if records.len() as i64 != progress.rounds || rounds_crc != progress.rounds_crc {
            let (found, stored) = (records.len(), progress.rounds);
            return Err(
                self.damaged(format!("the {found} rounds of run {run} do not match its record of {stored}"))
            );
        }
        Ok(records)
    }

    /// Reads the parts of every run, for [`Store::check`].
    pub(super) fn check_runs(&self) -> Result<(), StoreError> {
        self.reading(|| {
            let all = self.summaries(usize::MAX)?;
            for RunSummary { id, status, .. } in &all {
                self.stored_header(*id)?;
                self.rounds_of(*id)?;
                if *status != RunStatus::Incomplete {
                    self.result_of(*id)?;
                }
            }
            let sql =
                "SELECT run FROM round UNION SELECT run FROM progress UNION SELECT run FROM result LIMIT ?1";
            let known: HashSet<RunId> = all.iter().map(|summary| summary.id).collect();
            match self.ids(sql, -1)?.into_iter().find(|run| !known.contains(run)) {
                Some(run) => Err(self.damaged(format!("there is data of run {run}, which does not exist"))),
                None => Ok(()),
            }
        })
    }

    /// The progress of a run.
    pub(super) fn progress(&self, run: RunId) -> Result<Progress, StoreError> {
        let sql = "SELECT status, rounds, rounds_crc, situations, cells, crc FROM progress WHERE run = ?1";
        let row = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                let row = statement.query_row([run.0], |row| {
                    let progress = Progress {
                        status: row.get(0)?,
                        rounds: row.get(1)?,
                        rounds_crc: row.get(2)?,
                        situations: row.get(3)?,
                        cells: row.get(4)?,
                    };
                    Ok((progress, row.get::<_, u32>(5)?))
                });
                row.optional()
            })
            .map_err(self.failed())?;
        match row {
            Some((progress, crc)) if crc == progress.crc(run) => Ok(progress),
            Some(_) => Err(self.damaged(format!("the progress of run {run} does not match its checksum"))),
            None => Err(self.unknown(run)),
        }
    }

    /// The reason that a run was not found: it does not exist, or parts of it are missing.
    fn unknown(&self, run: RunId) -> StoreError {
        let part_of_it = "SELECT 1 WHERE EXISTS (SELECT 1 FROM run WHERE id = ?1) \
                          OR EXISTS (SELECT 1 FROM progress WHERE run = ?1) \
                          OR EXISTS (SELECT 1 FROM round WHERE run = ?1)";
        let part = self.connection.query_row(part_of_it, [run.0], |_| Ok(())).optional();
        match (part, runs_counted(&self.connection)) {
            (Ok(None), Ok(Some(_))) => StoreError::UnknownRun { path: self.path.clone(), run },
            (Err(error), _) | (_, Err(error)) => self.failed()(error),
            _ => self.damaged(format!("parts of run {run} are missing")),
        }
    }

    /// Runs several statements that see the same state, even if other processes write concurrently.
    fn reading<T>(&self, work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        let begin = Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred);
        let _snapshot = begin.map_err(self.failed())?;
        work()
    }
}
