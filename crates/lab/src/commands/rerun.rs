//! `carryline rerun ID`: a run of the history again, with its seed.

use crate::cli::{Cli, Common, Format, Rerun};
use crate::engine::session::open_store;
use crate::failure::{Failure, usage};
use crate::output;
use carryline_measure::store::RunId;
use clap::Parser;

/// Reads the run's command line and seed out of the store and makes the run again.
pub fn run(args: &Rerun, common: &Common) -> Result<u8, Failure> {
    let store = open_store(common.db.as_deref()).map_err(|error| usage(error.to_string()))?;
    let header = store.header(RunId(args.id)).map_err(|error| usage(error.to_string()))?;
    drop(store);
    let mut words = vec!["carryline".to_owned()];
    words.extend(header.command.iter().cloned());
    // Paths in a home folder are not stored, lest a name be.
    if let Some(word) = words.iter().find(|word| word.contains("~/") || word.contains("/home/*")) {
        return Err(usage(format!(
            "run {} names '{word}', which is not kept in full; repeat it by hand: {} --seed {}",
            args.id,
            words.join(" "),
            header.seed
        )));
    }
    // The last of two equal options counts; what stands behind '--' is no option.
    let mut options = vec!["--seed".to_owned(), header.seed.to_string()];
    if let Some(db) = &common.db {
        options.extend(["--db".to_owned(), db.display().to_string()]);
    }
    if common.format == Format::Json {
        options.extend(["--format".to_owned(), "json".to_owned()]);
    }
    if common.quiet {
        options.push("--quiet".to_owned());
    }
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.splice(end..end, options);
    let cli = Cli::try_parse_from(&words)
        .map_err(|error| usage(format!("run {} is of another version of the command: {error}", args.id)))?;
    output::note(&words.join(" "), common);
    crate::run(&cli)
}
