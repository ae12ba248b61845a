//! Writes the built-in profiles for unmeasured CPUs from the data in `docs/profiles`, and prints how much each
//! decision loses on the measured CPUs. `cargo xtask profiles` runs it.

use carryline::internals::tuning::{Profile, built_in};
use carryline_tune::safe::{UNMEASURED, choose, read, with};
use carryline_tune::settings::{Settings, shown};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let choices = choose(&read(&root.join("docs/profiles"))?);
    for choice in &choices {
        let loss = choice.loss.map_or("not measured".to_owned(), |loss| {
            format!("at most {loss:.2} times the best method's time: {}", choice.place)
        });
        println!("{:<32} {:>8}   {loss}", choice.decision.name(), shown(choice.decision, choice.bytes));
    }
    for name in UNMEASURED {
        let before = built_in(name).ok_or_else(|| format!("no profile is named {name}"))?;
        let settings = with(Settings::from(before), &choices);
        let path = root.join(format!("library/carryline/profiles/{name}.toml"));
        let text = Profile { decisions: settings.decisions, ..*before }.to_string();
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("wrote {}", path.canonicalize().unwrap_or(path).display());
    }
    Ok(())
}
