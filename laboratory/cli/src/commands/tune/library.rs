//! `carryline tune` without `--libc`: tunes the library.

use super::{TuneAnswer, screen};
use crate::cli::{Common, Format, Tune};
use crate::commands::verify;
use crate::commands::words::read_sizes;
use crate::output;
use carryline::internals::cpu::Model;
use carryline::internals::tuning::{
    self, Models, NAME_MOST_BYTES, Profile, built_in, built_in_for, built_in_names,
};
use carryline_engine::failure::{Failure, status, usage};
use carryline_engine::machine::Here;
use carryline_report::units::counted;
use carryline_tune::arms::Lab;
use carryline_tune::confirm::ChangeVerdict;
use carryline_tune::output::{confirmation, decisions};
use carryline_tune::settings::{Settings, VARIABLE};
use carryline_tune::{Tuned, check, tune};
use carryline_variants::Family;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The prefix of a built-in profile's name in place of a file.
const BUILT_IN: &str = "builtin:";

/// Searches for a better profile, or checks one.
pub fn run(
    args: &Tune,
    families: &[Family],
    lab: &Lab<'_>,
    here: &Here,
    common: &Common,
) -> Result<u8, Failure> {
    let (sizes, _) = read_sizes(&args.sizes, common)?;
    let emitted =
        args.emit.as_ref().map(|name| [format!("{name}.toml"), format!("{name}.json")].map(PathBuf::from));
    for path in args.write.iter().chain(emitted.iter().flatten()) {
        output::check_writable(path)?;
    }
    let in_force = in_force()?;
    let tuned = match &args.check {
        Some(word) => {
            let settings = of_this_cpu(word)?;
            // What the CPU gets without the file, even if CARRYLINE_TUNING names it.
            let built_in = Settings::from(built_in_for(Model::here()).1);
            check(lab, &built_in, &settings, &sizes, args.budget)?
        }
        None => {
            let base = args.from.as_deref().map_or(Ok(in_force), read)?;
            tune(lab, &base, families, &sizes, args.budget)?
        }
    };
    lab.progress.finish();
    let status = status_of(&tuned, args.check.is_some());
    let profile = file(&tuned, here, lab.seed);
    let kept = tuned.settings != tuned.base && status == 0;
    let json = TuneAnswer {
        decisions: decisions(&tuned),
        confirmation: confirmation(&tuned),
        measured: &tuned.measured,
        profile: kept.then_some(profile.as_str()),
        ..TuneAnswer::new(lab, here)?
    };
    output::print_result(
        "tune",
        &json,
        |style| screen::library(&tuned, args.check.is_some(), style),
        common,
    )?;
    if tuned.interrupted && common.format == Format::Json {
        output::end_of_partial(common)?;
    }
    for proof in tuned.wrong().chain(tuned.unverified()) {
        output::message(&verify::sentence(proof));
    }
    if let Some(path) = &args.write {
        match kept {
            true => {
                replace(path, &profile)?;
                output::note(
                    &format!("wrote {}; use it with {VARIABLE}={}", path.display(), path.display()),
                    common,
                );
            }
            false => output::note(&format!("{} is unchanged: nothing was kept", path.display()), common),
        }
    }
    if let (Some([toml, evidence]), 0) = (&emitted, status) {
        replace(toml, &profile)?;
        replace(evidence, &serde_json::to_string_pretty(&json)?)?;
        output::note(
            &format!(
                "wrote {} and {}; see CONTRIBUTING.md for the next steps",
                toml.display(),
                evidence.display()
            ),
            common,
        );
    }
    Ok(status)
}

fn status_of(tuned: &Tuned, is_check: bool) -> u8 {
    match () {
        () if tuned.interrupted => status::INTERRUPTED,
        () if tuned.wrong().next().is_some() => status::WRONG,
        () if tuned.unverified().next().is_some() => status::FAILED,
        () if tuned.is_undecided() => status::UNDECIDED,
        () if is_check && tuned.judged.iter().any(|judged| judged.verdict == ChangeVerdict::Slower) => {
            status::UNDECIDED
        }
        () => 0,
    }
}

/// The settings of this process's library.
fn in_force() -> Result<Settings, Failure> {
    match std::env::var(VARIABLE) {
        // Valid, because `main` has checked it.
        Ok(word) if !word.trim().is_empty() => read(word.trim()),
        _ => Ok(Settings::from(built_in_for(Model::here()).1)),
    }
}

/// The settings of a file or a built-in profile, for any CPU.
fn read(word: &str) -> Result<Settings, Failure> {
    if let Some(name) = word.strip_prefix(BUILT_IN) {
        return built_in_settings(name);
    }
    let path = Path::new(word);
    let bytes = bytes_of(path)?;
    let text = tuning::text_of(&bytes).map_err(|error| refused(path, &error))?;
    let profile = tuning::parse(text).map_err(|error| refused(path, &error))?;
    Ok(Settings::from(&profile))
}

/// The settings of a built-in profile, or of a file; fails if the file is not for this CPU.
fn of_this_cpu(path: &Path) -> Result<Settings, Failure> {
    if let Some(name) = path.to_str().and_then(|word| word.strip_prefix(BUILT_IN)) {
        return built_in_settings(name);
    }
    let bytes = bytes_of(path)?;
    // The same checks as in a program that loads the file.
    let profile = tuning::read(&bytes).map_err(|error| refused(path, &error))?;
    Ok(Settings::from(&profile))
}

/// The settings of the built-in profile with this name.
fn built_in_settings(name: &str) -> Result<Settings, Failure> {
    built_in(name).map(Settings::from).ok_or_else(|| {
        let known: Vec<&str> = built_in_names().collect();
        usage(format!("no built-in profile is named '{name}' (known: {})", known.join(", ")))
    })
}

/// The bytes of a file, up to one more than a profile may have: then the library refuses it.
fn bytes_of(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(tuning::MOST_FILE_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| refused(path, &error))?;
    Ok(bytes)
}

fn refused(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    usage(format!("{}: {error}", path.display()))
}

/// The text of the found profile.
fn file(tuned: &Tuned, here: &Here, seed: u64) -> String {
    let models = Model::here().map(Models::from);
    let plain = |text: &str| -> String {
        text.chars().filter(|c| !c.is_control() && !['"', '\\'].contains(c)).take(NAME_MOST_BYTES).collect()
    };
    let brand = plain(here.environment.cpu.brand.as_deref().unwrap_or_default());
    let name = match (Model::here(), brand.trim()) {
        (Some(model), brand) => plain(&format!("{brand} family {} model {}", model.family, model.model)),
        (None, "") => "this CPU".to_owned(),
        (None, brand) => brand.to_owned(),
    };
    let date = humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
    let mut source =
        format!("carryline tune on {}, {}.", plain(&here.environment.system.kernel), &date[..10]);
    for judged in tuned.judged.iter().filter(|judged| judged.verdict == ChangeVerdict::Faster) {
        if let Some(gain) = judged.gain {
            source.push_str(&format!(
                "\n{}: {} instead of {}, {:.2} times as fast [{:.2}, {:.2}] over {}.",
                judged.change.name,
                judged.change.shown[1],
                judged.change.shown[0],
                1.0 / gain.median,
                1.0 / gain.high,
                1.0 / gain.low,
                counted(judged.cells.len() as u64, "cell")
            ));
        }
    }
    let run = format!("carryline {} tune --seed {seed}", env!("CARGO_PKG_VERSION"));
    let settings = &tuned.settings;
    let profile = Profile {
        name: name.trim(),
        source: &source,
        run: Some(&run),
        cpu: models,
        kernels: settings.kernels,
        decisions: settings.decisions,
    };
    profile.to_string()
}

/// Replaces a file atomically.
fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        // Temporary files are readable by their owner only; use the usual mode.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
        }
        file.persist(path).map_err(|error| error.error)
    });
    written
        .map(|_| ())
        .map_err(|error| Failure::Other(anyhow::anyhow!("cannot write {}: {error}", path.display())))
}
