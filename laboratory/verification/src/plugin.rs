//! A routine of the user's own, from a shared object.
//!
//! The routine has the plain C signature of its family (see [`carryline_variants`]), or that of `memset`; nothing else is
//! asked of the file.
//! Loading runs the file's constructors, and calling runs its code: both belong into a worker process.

use crate::subject::Subject;
use carryline_variants::landing::{Landing, SetFn};
use carryline_variants::{ChecksumFn, CopyChecksumFn, CopyFn, Family, Routine, ZeroFn};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// Which routine of which file does which family's job.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PluginSpec {
    /// The shared object.
    pub file: PathBuf,
    /// The function's name in it.
    pub symbol: String,
    /// The family's name.
    pub family: String,
    /// True for a zero routine with the signature of `memset`, which is passed the byte.
    #[serde(default)]
    pub fill: bool,
}

/// The word for a zero routine with the signature of `memset`.
const FILL: &str = "fill";

/// What may stand in the place of the family.
fn words() -> impl Iterator<Item = &'static str> {
    Family::ALL.into_iter().map(Family::name).chain([FILL])
}

/// A plug-in that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// Not of the form `FILE.so:SYMBOL:FAMILY`.
    #[error("'{text}' is no plug-in: {missing} is missing; the form is FILE.so:SYMBOL:FAMILY")]
    Incomplete {
        /// What was written.
        text: String,
        /// Which of the three parts.
        missing: &'static str,
    },
    /// No such family.
    #[error("unknown family '{word}' in '{text}'{}; known: {known}", nearest.map_or(String::new(), |name| format!(", did you mean {name}?")))]
    UnknownFamily {
        /// What was written in all.
        text: String,
        /// What was written for the family.
        word: String,
        /// The family whose name is most like it, if one is.
        nearest: Option<&'static str>,
        /// All families.
        known: String,
    },
    /// The file is not there or cannot be read.
    #[error("cannot read plug-in {file}: {source}", file = file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// The file is no shared object that this process can load.
    #[error("cannot load plug-in {file}: {reason}", file = file.display())]
    NotLoadable {
        /// The file.
        file: PathBuf,
        /// What the dynamic linker says.
        reason: String,
    },
    /// The file has no such function.
    #[error("plug-in {file} has no symbol '{symbol}': {reason}", file = file.display())]
    NoSymbol {
        /// The file.
        file: PathBuf,
        /// What was looked for.
        symbol: String,
        /// What the dynamic linker says.
        reason: String,
    },
}

impl PluginSpec {
    /// Reads `FILE.so:SYMBOL:FAMILY`; `fill` in the place of the family is the zero family by a routine like `memset`. The
    /// file's name may hold colons, the other two cannot.
    ///
    /// # Errors
    /// When a part is missing or the family is unknown; the message names the word.
    ///
    /// ```
    /// use carryline_verification::plugin::PluginSpec;
    /// let spec = PluginSpec::parse("./mine.so:my_sum:checksum").expect("three parts");
    /// assert_eq!((spec.symbol.as_str(), spec.family.as_str()), ("my_sum", "checksum"));
    /// let error = PluginSpec::parse("./mine.so:my_sum:chekcsum").expect_err("a misspelt family");
    /// assert!(error.to_string().contains("did you mean checksum?"));
    /// ```
    pub fn parse(text: &str) -> Result<PluginSpec, PluginError> {
        let incomplete = |missing| PluginError::Incomplete { text: text.to_owned(), missing };
        let mut parts = text.rsplitn(3, ':');
        let (last, symbol, file) = (parts.next().unwrap_or(""), parts.next(), parts.next());
        let (Some(symbol), Some(file)) = (symbol, file) else {
            return Err(incomplete(if symbol.is_none() { "':SYMBOL:FAMILY'" } else { "':FAMILY'" }));
        };
        if file.is_empty() {
            return Err(incomplete("the file"));
        }
        if symbol.is_empty() {
            return Err(incomplete("the symbol"));
        }
        if last.is_empty() {
            return Err(incomplete("the family"));
        }
        let fill = last == FILL;
        let Some(family) = Family::from_name(last).or(fill.then_some(Family::Zero)) else {
            let likeness = |name: &str| strsim::normalized_damerau_levenshtein(name, last);
            let nearest = words()
                .filter(|name| likeness(name) > 0.5)
                .max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
            return Err(PluginError::UnknownFamily {
                text: text.to_owned(),
                word: last.to_owned(),
                nearest,
                known: words().collect::<Vec<_>>().join(", "),
            });
        };
        Ok(PluginSpec {
            file: file.into(),
            symbol: symbol.to_owned(),
            family: family.name().to_owned(),
            fill,
        })
    }

    /// The name in listings and results.
    #[must_use]
    pub fn name(&self) -> String {
        format!("plugin:{}", self.symbol)
    }

    /// The path as the dynamic linker must get it: without a slash it would search its own folders instead of
    /// looking where the user stands.
    fn path(&self) -> PathBuf {
        let has_slash = self.file.as_os_str().as_encoded_bytes().contains(&b'/');
        if has_slash { self.file.clone() } else { Path::new(".").join(&self.file) }
    }
}

impl fmt::Display for PluginSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.fill { FILL } else { &self.family };
        write!(f, "{}:{}:{word}", self.file.display(), self.symbol)
    }
}

/// Loads the file and finds the routine. The file stays loaded until the process ends.
///
/// # Errors
/// When the file cannot be read, is no shared object, or lacks the symbol.
pub fn load(spec: &PluginSpec) -> Result<Subject, PluginError> {
    let file = spec.path();
    let family = Family::from_name(&spec.family).ok_or_else(|| PluginError::UnknownFamily {
        text: spec.to_string(),
        word: spec.family.clone(),
        nearest: None,
        known: words().collect::<Vec<_>>().join(", "),
    })?;
    let library = open_library(&file)?;
    let routine = routine(&library, family, spec).map_err(|error| PluginError::NoSymbol {
        file: spec.file.clone(),
        symbol: spec.symbol.clone(),
        reason: reason(&error),
    });
    // Never unloaded: the subject holds the routine's bare address, a thread of the library's own may still
    // run its code, and the process that loads a plug-in lives for this one job.
    std::mem::forget(library);
    let routine = routine?;
    Ok(Subject::of_routine(spec.name(), routine))
}

/// Opens a shared object, which runs its constructors: in a process that is there to bear what they do.
///
/// # Errors
/// [`PluginError`], when the file cannot be read or opened.
pub fn open_library(file: &Path) -> Result<Library, PluginError> {
    // The linker's own message for a missing file speaks of "shared object file"; this one is plainer.
    std::fs::File::open(file)
        .and_then(|opened| opened.metadata())
        .and_then(|about| if about.is_dir() { Err(std::io::ErrorKind::IsADirectory.into()) } else { Ok(()) })
        .map_err(|source| PluginError::Unreadable { file: file.into(), source })?;
    // SAFETY: this runs the file's constructors, which is what the caller wants.
    unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|error| PluginError::NotLoadable { file: file.into(), reason: reason(&error) })
}

fn routine(library: &Library, family: Family, spec: &PluginSpec) -> Result<Landing, libloading::Error> {
    let symbol = &spec.symbol;
    // SAFETY: the user vouches for the signature by naming the family; a wrong one is what the proof is for.
    unsafe {
        if spec.fill {
            return Ok(Landing::Set(*library.get::<SetFn>(symbol)?));
        }
        Ok(Landing::Routine(match family {
            Family::Zero => Routine::Zero(*library.get::<ZeroFn>(symbol)?),
            Family::Copy => Routine::Copy(*library.get::<CopyFn>(symbol)?),
            Family::Checksum => Routine::Checksum(*library.get::<ChecksumFn>(symbol)?),
            Family::CopyChecksum => Routine::CopyChecksum(*library.get::<CopyChecksumFn>(symbol)?),
        }))
    }
}

/// The linker's words without the wrapper's.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        PluginSpec::parse(text).expect_err("not a plug-in").to_string()
    }

    #[test]
    fn a_spec_is_split_from_the_right() {
        let spec = PluginSpec::parse("/a:b/c.so:f:zero").expect("three parts");
        assert_eq!(spec.file, Path::new("/a:b/c.so"));
        assert_eq!(spec.to_string(), "/a:b/c.so:f:zero");
        assert_eq!(spec.name(), "plugin:f");
    }

    #[test]
    fn a_routine_like_memset_is_of_the_zero_family() {
        let spec = PluginSpec::parse("./mine.so:memset:fill").expect("three parts");
        assert_eq!((spec.family.as_str(), spec.fill), ("zero", true));
        assert_eq!(spec.to_string(), "./mine.so:memset:fill");
        assert!(message("mine.so:f:fil").contains("did you mean fill?"));
    }

    #[test]
    fn what_is_missing_is_named() {
        assert!(message("mine.so").contains("':SYMBOL:FAMILY' is missing"));
        assert!(message("mine.so:f").contains("':FAMILY' is missing"));
        assert!(message(":f:zero").contains("the file is missing"));
        assert!(message("mine.so::zero").contains("the symbol is missing"));
        assert!(message("mine.so:f:").contains("the family is missing"));
        assert!(message("mine.so:f:cpoy").contains("unknown family 'cpoy'"));
        assert!(message("mine.so:f:cpoy").contains("did you mean copy?"));
        assert!(!message("mine.so:f:xyz").contains("did you mean"));
    }

    #[test]
    fn a_bare_name_means_the_current_folder() {
        let path = |text: &str| PluginSpec::parse(text).expect("a spec").path();
        assert_eq!(path("mine.so:f:zero"), Path::new("./mine.so"));
        assert_eq!(path("sub/mine.so:f:zero"), Path::new("sub/mine.so"));
        assert_eq!(path("/mine.so:f:zero"), Path::new("/mine.so"));
    }

    #[test]
    fn files_that_are_no_plug_ins_are_errors() {
        let folder = tempfile::tempdir().expect("a folder");
        let spec = |file: &Path| PluginSpec {
            file: file.into(),
            symbol: "f".into(),
            family: "zero".into(),
            fill: false,
        };
        let missing = load(&spec(&folder.path().join("none.so"))).expect_err("no file");
        assert!(matches!(missing, PluginError::Unreadable { .. }), "{missing}");
        let error = load(&spec(folder.path())).expect_err("a folder");
        assert!(matches!(error, PluginError::Unreadable { .. }), "{error}");
        let text = folder.path().join("text.so");
        std::fs::write(&text, "no machine code").expect("a file");
        let error = load(&spec(&text)).expect_err("a text");
        assert!(matches!(error, PluginError::NotLoadable { .. }), "{error}");
    }
}
