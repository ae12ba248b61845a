//! `carryline export RUN --to FORMAT`: writes a stored run for other programs.

use crate::cli::{Common, Export};
use crate::output;
use carryline_engine::failure::{Failure, usage};
use carryline_engine::kept;
use carryline_report::export::{Exported, FORMATS};

/// Writes the run.
pub fn run(args: &Export, common: &Common) -> Result<u8, Failure> {
    if args.raw && !args.to.raw {
        let with: Vec<&str> = FORMATS.iter().filter(|format| format.raw).map(|format| format.word).collect();
        return Err(usage(format!(
            "--to {} cannot hold every sample; use --raw with {}",
            args.to.word,
            with.join(", ")
        )));
    }
    let stored = kept::stored(&args.run, common.db.as_deref())?;
    if let Some(path) = &args.output {
        output::check_writable(path)?;
    }
    let stored = if common.redact { stored.redacted() } else { stored };
    let gathered = stored.gathered();
    let exported = Exported {
        head: &output::head("run"),
        about: &stored.about(),
        run: &stored.result,
        plan: &stored.header.plan,
        rounds: &stored.rounds,
        gathered: &gathered,
        raw: args.raw,
        redact: common.redact,
    };
    let text = args.to.render(&exported).map_err(|error| usage(error.to_string()))?;
    output::write_to(args.output.as_deref(), &text).map(|()| 0)
}
