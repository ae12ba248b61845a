//! Finds the interposer's file, and sets up its environment.

use super::STDERR;
use crate::failure::{Failure, usage};
use carryline_machine::c_library::TUNABLES_VARIABLE;
use carryline_machine::nearest::{did_you_mean, nearest};
use carryline_variants::{Family, Variant};
use serde::Serialize;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The families that the interposer serves.
pub const FAMILIES: [Family; 2] = [Family::Zero, Family::Copy];

/// The interposer's file name when installed, and as built by cargo.
const INSTALLED: &str = "libcarryline-preload.so";
const BUILT: &str = "libcarryline_preload.so";

/// Names accepted besides those of variants: the library's best kernel, and the C library's own function.
const BESIDE_VARIANTS: [&str; 2] = ["carryline", "libc"];

/// The interposer and its settings.
#[derive(Clone, Debug)]
pub struct Interposer {
    file: PathBuf,
    /// The routine for each of [`FAMILIES`].
    routines: [String; 2],
    /// The value of `GLIBC_TUNABLES` in [`Form::Tuned`].
    tunables: Option<String>,
}

/// The names of the routines that serve each family.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServedBy {
    pub zero: String,
    pub copy: String,
}

/// A form of a run.
pub enum Form<'a> {
    /// Without the interposer.
    Without,
    /// With the interposer.
    With,
    /// Without the interposer, with other tunables of the C library.
    Tuned,
    /// With the interposer, which counts calls on this page.
    Counted(&'a Path),
}

impl Interposer {
    /// The interposer at `file`, or in its usual places. `families` are the families to serve (all if empty),
    /// `variants` are words `FAMILY=NAME`.
    pub fn new(file: Option<&Path>, families: &[String], variants: &[String]) -> Result<Interposer, Failure> {
        if !cfg!(target_os = "linux") {
            return Err(usage("the interposer is for Linux only"));
        }
        for word in families {
            family(word, "--family")?;
        }
        let default = |family: Family| {
            let served = families.is_empty() || families.iter().any(|word| word == family.name());
            BESIDE_VARIANTS[usize::from(!served)].to_owned()
        };
        let mut routines = FAMILIES.map(default);
        let mut named = [false; 2];
        for word in variants {
            let (index, name) = variant(word)?;
            if std::mem::replace(&mut named[index], true) {
                return Err(usage(format!("--variant {word}: a second variant for {}", FAMILIES[index])));
            }
            if !families.is_empty() && !families.iter().any(|family| family == FAMILIES[index].name()) {
                return Err(usage(format!("--variant {word}: {} is not among --family", FAMILIES[index])));
            }
            routines[index] = name;
        }
        Ok(Interposer { file: find(file)?, routines, tunables: None })
    }

    /// Adds a form with this value of `GLIBC_TUNABLES`.
    #[must_use]
    pub fn with_tunables(self, tunables: Option<String>) -> Interposer {
        Interposer { tunables, ..self }
    }

    /// The value of `GLIBC_TUNABLES` of the form with other tunables, if there is one.
    pub(super) fn tunables(&self) -> Option<&str> {
        self.tunables.as_deref()
    }

    /// The names of the routines that serve.
    pub fn served_by(&self) -> ServedBy {
        let [zero, copy] = self.routines.clone();
        ServedBy { zero, copy }
    }

    /// Sets the environment of a form. The form without has the same number of bytes, under unused names.
    pub(super) fn set_environment(&self, command: &mut Command, form: &Form<'_>) {
        let before = std::env::var_os("LD_PRELOAD").filter(|value| !value.is_empty());
        let mut preload = self.file.clone().into_os_string();
        if let Some(others) = &before {
            preload.push(":");
            preload.push(others);
        }
        let settings: [(&str, &OsStr); 3] = [
            ("CARRYLINE_FORCE_ZERO", OsStr::new(&self.routines[0])),
            ("CARRYLINE_FORCE_COPY", OsStr::new(&self.routines[1])),
            ("LD_PRELOAD", &preload),
        ];
        for name in ["CARRYLINE_PRELOAD", "CARRYLINE_PRELOAD_RECORD"] {
            command.env_remove(name);
        }
        match form {
            Form::Without | Form::Tuned => {
                for (name, value) in settings {
                    command.env_remove(name).env(unread(name), value);
                }
                if let Some(others) = before {
                    command.env("LD_PRELOAD", others);
                }
            }
            Form::With | Form::Counted(_) => {
                command.envs(settings);
            }
        }
        if let Some(tunables) = &self.tunables {
            let read = matches!(form, Form::Tuned);
            let name = if read { TUNABLES_VARIABLE.to_owned() } else { unread(TUNABLES_VARIABLE) };
            command.env(name, tunables);
        }
        if let Form::Counted(page) = form {
            command.env("CARRYLINE_PRELOAD_RECORD", page);
        }
    }

    /// The dynamic linker's message if it did not load the interposer, or the interposer's if it ignored a
    /// setting, in the run whose outputs are in `outputs`.
    pub(super) fn refused(&self, outputs: &Path) -> io::Result<Option<String>> {
        let bytes = std::fs::read(outputs.join(STDERR))?;
        let text = String::from_utf8_lossy(&bytes);
        let of_ours = |line: &&str| {
            line.starts_with("libcarryline-preload: ignored:")
                || line.contains("from LD_PRELOAD cannot be preloaded")
                    && line.contains(&*self.file.to_string_lossy())
        };
        Ok(text.lines().find(of_ours).map(str::to_owned))
    }
}

/// An unused name of the same length.
fn unread(name: &str) -> String {
    format!("{}_", &name[..name.len() - 1])
}

fn family(word: &str, option: &str) -> Result<usize, Failure> {
    FAMILIES.iter().position(|family| family.name() == word).ok_or_else(|| {
        let near = did_you_mean(&nearest(word, FAMILIES.map(Family::name)));
        usage(format!("{option}: '{word}' is not a family that the interposer serves (zero, copy){near}"))
    })
}

/// Parses `zero=movntps`: the index in [`FAMILIES`] and the name.
fn variant(word: &str) -> Result<(usize, String), Failure> {
    let Some((family_word, name)) = word.split_once('=') else {
        return Err(usage(format!("--variant {word}: write FAMILY=NAME, as in zero=movntps")));
    };
    let index = family(family_word, "--variant")?;
    if BESIDE_VARIANTS.contains(&name) {
        return Ok((index, name.to_owned()));
    }
    let known = carryline_variants::find(FAMILIES[index], name);
    if known.is_some_and(Variant::is_c_library_function) {
        return Ok((index, "libc".to_owned()));
    }
    let usable = || carryline_variants::of(FAMILIES[index]).iter().filter(|variant| variant.can_interpose());
    let names = || BESIDE_VARIANTS.into_iter().chain(usable().map(|variant| variant.name));
    match usable().find(|variant| variant.name == name) {
        Some(variant) if variant.runs_here() => Ok((index, name.to_owned())),
        Some(variant) => Err(usage(format!("--variant {word}: this CPU lacks {}", lacking(variant)))),
        None => {
            let usable = names().collect::<Vec<_>>().join(", ");
            Err(usage(match known.and_then(Variant::cannot_interpose) {
                Some(why) => {
                    format!(
                        "--variant {word}: that variant cannot serve {family_word}: it {why} (usable: {usable})"
                    )
                }
                None => {
                    let near = did_you_mean(&nearest(name, names()));
                    format!(
                        "--variant: '{name}' is not a variant that can serve {family_word}{near} ({usable})"
                    )
                }
            }))
        }
    }
}

fn lacking(variant: &Variant) -> String {
    let missing = variant.needs.without(carryline::internals::cpu::features());
    missing.names().collect::<Vec<_>>().join(", ")
}

/// Finds the interposer's file.
fn find(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let found = match given {
        Some(file) if file.is_file() => file.canonicalize()?,
        Some(file) => return Err(usage(format!("--preload {}: no such file", file.display()))),
        None => {
            let program = std::env::current_exe()?;
            let folder = program.parent().unwrap_or(Path::new("."));
            let places = [
                folder.join(INSTALLED),
                folder.join("../lib/carryline").join(INSTALLED),
                folder.join(BUILT),
                folder.join("../capi").join(BUILT),
            ];
            let found = places.into_iter().find(|file| file.is_file());
            let Some(found) = found else {
                return Err(usage(format!(
                    "{INSTALLED} is neither next to the program ({}) nor in ../lib/carryline; 'cargo build -p carryline-preload' \
                     or 'cargo xtask install --prefix DIR' builds it, --preload PATH names it",
                    folder.display()
                )));
            };
            found.canonicalize()?
        }
    };
    // Both are separators in LD_PRELOAD.
    if found.to_string_lossy().contains([' ', ':']) {
        return Err(usage(format!(
            "{}: LD_PRELOAD cannot hold a path with a space or a colon; copy the file elsewhere and pass it with \
             --preload",
            found.display()
        )));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_word_is_named_with_the_valid_ones() {
        for (word, parts) in [
            ("movntps", &["FAMILY=NAME"][..]),
            ("checksum=adc", &["'checksum'", "zero, copy"]),
            ("zer=movntps", &["'zer'", "'zero'"]),
            ("zero=rep_movsb", &["'rep_movsb'", "carryline", "libc"]),
            ("copy=libc_memmove_no_rep", &["GLIBC_TUNABLES", "libc"]),
            ("zero=x87_fstl", &["kept for an experiment"]),
            ("zero=", &["''"]),
        ] {
            let error = variant(word).expect_err(word);
            assert_eq!(error.status(), 2);
            assert!(parts.iter().all(|part| error.to_string().contains(part)), "{error}");
        }
        assert_eq!(variant("copy=libc").ok(), Some((1, "libc".to_owned())));
        assert_eq!(variant("copy=libc_memmove").ok(), Some((1, "libc".to_owned())));
        assert_eq!(variant("zero=reference").ok(), Some((0, "reference".to_owned())));
    }

    #[test]
    fn unused_names_have_the_same_length() {
        assert_eq!(unread("LD_PRELOAD"), "LD_PRELOA_");
    }
}
