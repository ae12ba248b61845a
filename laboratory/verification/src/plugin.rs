//! A user's routine, loaded from a shared object.
//!
//! The routine has the plain C signature of its family (see [`carryline_variants`]) or that of `memset`;
//! there are no other requirements. Loading runs the file's constructors, and calling runs its code: both
//! must happen in a worker process.

use crate::forms::{Bound, Form};
use crate::standard::Standard;
use crate::subject::Subject;
use carryline_variants::landing::{Landing, MoveFn, SetFn};
use carryline_variants::{ChecksumFn, CopyChecksumFn, CopyFn, Family, Routine, ZeroFn};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::fmt;
use std::path::{Path, PathBuf};

/// A routine in a file, and the family whose job it does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PluginSpec {
    /// The user's name for it; `None` for the symbol.
    pub label: Option<String>,
    /// The shared object.
    pub file: PathBuf,
    /// The function's name in it.
    pub symbol: String,
    /// The family.
    pub family: Family,
    /// Its signature.
    pub shape: Shape,
}

/// The arguments and result of a plug-in's function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// The family's own signature.
    Own,
    /// A zero routine with the signature of `memset`, which takes the byte.
    Fill,
    /// A function that must do everything that the C standard requires.
    Standard(Standard),
    /// A checksum in another form.
    Form(Form),
}

impl Shape {
    /// The word that replaces the family; `None` for the family's own signature.
    #[must_use]
    pub fn word(self) -> Option<String> {
        match self {
            Shape::Own => None,
            Shape::Fill => Some(FILL.to_owned()),
            Shape::Standard(standard) => Some(standard.to_string()),
            Shape::Form(form) => Some(form.to_string()),
        }
    }

    /// The family and the signature for a word.
    fn from_word(word: &str) -> Option<(Family, Shape)> {
        if let Some(family) = Family::from_name(word) {
            return Some((family, Shape::Own));
        }
        if word == FILL {
            return Some((Family::Zero, Shape::Fill));
        }
        if let Some(standard) = Standard::from_name(word) {
            let family = if standard == Standard::Memset { Family::Zero } else { Family::Copy };
            return Some((family, Shape::Standard(standard)));
        }
        let form = Form::from_name(word)?;
        Some((form.family()?, Shape::Form(form)))
    }
}

/// The word for a zero routine with the signature of `memset`.
const FILL: &str = "fill";

/// The words that may be given as the family.
fn words() -> impl Iterator<Item = &'static str> {
    let standard = Standard::ALL.into_iter().map(Standard::name);
    Family::ALL.into_iter().map(Family::name).chain([FILL]).chain(standard)
}

/// The reason that a plug-in cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// Not of the form `[NAME=]FILE.so:SYMBOL:FAMILY`.
    #[error("'{text}' is not a plug-in: {missing} is missing; expected [NAME=]FILE.so:SYMBOL:FAMILY")]
    Incomplete {
        /// The input.
        text: String,
        /// The missing part.
        missing: &'static str,
    },
    /// Unknown family.
    #[error("unknown family '{word}' in '{text}'{}; known: {known}", nearest.map_or(String::new(), |name| format!(", did you mean {name}?")))]
    UnknownFamily {
        /// The whole input.
        text: String,
        /// The word in place of the family.
        word: String,
        /// The family with the most similar name, if any.
        nearest: Option<&'static str>,
        /// All families.
        known: String,
    },
    /// The file does not exist or cannot be read.
    #[error("cannot read plug-in {file}: {source}", file = file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not a shared object that this process can load.
    #[error("cannot load plug-in {file}: {reason}", file = file.display())]
    NotLoadable {
        /// The file.
        file: PathBuf,
        /// The error of the dynamic linker.
        reason: String,
    },
    /// More routines of foreign forms than adapters.
    #[error("plug-in '{symbol}': too many checksums in one run with forms other than the family's own")]
    TooMany {
        /// The function's name.
        symbol: String,
    },
    /// The file has no such function.
    #[error("plug-in {file} has no symbol '{symbol}': {reason}", file = file.display())]
    NoSymbol {
        /// The file.
        file: PathBuf,
        /// The symbol.
        symbol: String,
        /// The error of the dynamic linker.
        reason: String,
    },
}

impl PluginSpec {
    /// Parses `FILE.so:SYMBOL:FAMILY`, or `NAME=FILE.so:SYMBOL:FAMILY` with a name of letters, digits, `_`
    /// and `-`. In place of the family, `fill` selects the zero family with a routine like `memset`;
    /// `memcpy`, `memmove`, `memset` and the [forms](crate::forms) of checksums are also possible. The file's
    /// name may contain colons, the other parts may not.
    ///
    /// # Errors
    /// If a part is missing or the family is unknown; the message names the word.
    ///
    /// ```
    /// use carryline_verification::plugin::PluginSpec;
    /// let spec = PluginSpec::parse("./mine.so:my_sum:checksum").expect("three parts");
    /// assert_eq!((spec.symbol.as_str(), spec.family.name()), ("my_sum", "checksum"));
    /// assert_eq!(PluginSpec::parse("aocl=./lib.so:memcpy:copy").expect("named").name(), "plugin:aocl");
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
        let (label, file) = match file.split_once('=') {
            Some((label, file)) if is_label(label) => (Some(label.to_owned()), file),
            _ => (None, file),
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
        let Some((family, shape)) = Shape::from_word(last) else {
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
        Ok(PluginSpec { label, file: file.into(), symbol: symbol.to_owned(), family, shape })
    }

    /// The name in listings and results.
    #[must_use]
    pub fn name(&self) -> String {
        format!("plugin:{}", self.label.as_deref().unwrap_or(&self.symbol))
    }

    /// The path for the dynamic linker: without a slash, it would search its own folders instead of the
    /// current one.
    fn path(&self) -> PathBuf {
        let has_slash = self.file.as_os_str().as_encoded_bytes().contains(&b'/');
        if has_slash { self.file.clone() } else { Path::new(".").join(&self.file) }
    }
}

impl fmt::Display for PluginSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.shape.word().unwrap_or_else(|| self.family.name().to_owned());
        let label = self.label.as_ref().map_or_else(String::new, |label| format!("{label}="));
        write!(f, "{label}{}:{}:{word}", self.file.display(), self.symbol)
    }
}

/// Whether the text is valid as a name before `=`; otherwise it belongs to the file's path.
fn is_label(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// Loads the file and finds the routine. The file stays loaded until the process ends.
///
/// # Errors
/// If the file cannot be read, is not a shared object, or lacks the symbol.
pub fn load(spec: &PluginSpec) -> Result<Subject, PluginError> {
    let file = spec.path();
    let library = open_library(&file)?;
    let routine = routine(&library, spec).map_err(|error| PluginError::NoSymbol {
        file: spec.file.clone(),
        symbol: spec.symbol.clone(),
        reason: reason(&error),
    });
    // Never unloaded: the subject holds the routine's address, a thread of the library may still run its
    // code, and the process that loads a plug-in exists only for this job.
    std::mem::forget(library);
    let Some(routine) = routine? else {
        return Err(PluginError::TooMany { symbol: spec.symbol.clone() });
    };
    let subject = Subject::of_routine(spec.name(), routine);
    Ok(match spec.shape {
        Shape::Standard(standard) => subject.of_standard(standard),
        _ => subject,
    })
}

/// Opens a shared object, which runs its constructors. Call this only in a process that can bear their
/// effects.
///
/// # Errors
/// [`PluginError`] if the file cannot be read or opened.
pub fn open_library(file: &Path) -> Result<Library, PluginError> {
    // The linker's message for a missing file mentions a "shared object file"; this one is plainer.
    std::fs::File::open(file)
        .and_then(|opened| opened.metadata())
        .and_then(|about| if about.is_dir() { Err(std::io::ErrorKind::IsADirectory.into()) } else { Ok(()) })
        .map_err(|source| PluginError::Unreadable { file: file.into(), source })?;
    // SAFETY: this runs the file's constructors, as the caller intends.
    unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|error| PluginError::NotLoadable { file: file.into(), reason: reason(&error) })
}

/// The address of a symbol.
///
/// # Errors
/// [`libloading::Error`] if there is no such symbol.
pub fn address(library: &Library, symbol: &str) -> Result<*const (), libloading::Error> {
    // SAFETY: only the address is taken; a call needs unsafe code of its own, which vouches for the signature.
    let function = unsafe { *library.get::<unsafe extern "C" fn()>(symbol)? };
    Ok(function as *const ())
}

/// The routine; `None` if no adapter is left for its form.
fn routine(library: &Library, spec: &PluginSpec) -> Result<Option<Landing>, libloading::Error> {
    let symbol = &spec.symbol;
    // SAFETY: the user states the signature by naming the family; verification finds out if it is wrong.
    unsafe {
        Ok(Some(match (spec.shape, spec.family) {
            (Shape::Form(form), _) => {
                return Ok(Bound::new(address(library, symbol)?, form).routine().map(Landing::Routine));
            }
            (Shape::Fill | Shape::Standard(Standard::Memset), _) => {
                Landing::Set(*library.get::<SetFn>(symbol)?)
            }
            (Shape::Standard(_), _) => Landing::Move(*library.get::<MoveFn>(symbol)?),
            (Shape::Own, Family::Zero) => Landing::Routine(Routine::Zero(*library.get::<ZeroFn>(symbol)?)),
            (Shape::Own, Family::Copy) => Landing::Routine(Routine::Copy(*library.get::<CopyFn>(symbol)?)),
            (Shape::Own, Family::Checksum) => {
                Landing::Routine(Routine::Checksum(*library.get::<ChecksumFn>(symbol)?))
            }
            (Shape::Own, Family::CopyChecksum) => {
                Landing::Routine(Routine::CopyChecksum(*library.get::<CopyChecksumFn>(symbol)?))
            }
        }))
    }
}

/// The linker's message without the wrapper's.
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
    fn specs_are_split_from_the_right() {
        let spec = PluginSpec::parse("/a:b/c.so:f:zero").expect("three parts");
        assert_eq!(spec.file, Path::new("/a:b/c.so"));
        assert_eq!(spec.to_string(), "/a:b/c.so:f:zero");
        assert_eq!(spec.name(), "plugin:f");
    }

    #[test]
    fn a_name_may_precede_the_file() {
        let spec = PluginSpec::parse("aocl_5-3=/a/b.so:memcpy:copy").expect("named");
        assert_eq!((spec.name().as_str(), spec.file.as_path()), ("plugin:aocl_5-3", Path::new("/a/b.so")));
        assert_eq!(spec.to_string(), "aocl_5-3=/a/b.so:memcpy:copy");
        let path = PluginSpec::parse("./x=1/b.so:f:copy").expect("a path");
        assert_eq!((path.name().as_str(), path.file.as_path()), ("plugin:f", Path::new("./x=1/b.so")));
        assert!(message("aocl=:f:zero").contains("the file is missing"));
    }

    #[test]
    fn routines_like_memset_belong_to_the_zero_family() {
        let spec = PluginSpec::parse("./mine.so:memset:fill").expect("three parts");
        assert_eq!((spec.family, spec.shape), (Family::Zero, Shape::Fill));
        assert_eq!(spec.to_string(), "./mine.so:memset:fill");
        assert!(message("mine.so:f:fil").contains("did you mean fill?"));
    }

    #[test]
    fn standard_functions_and_checksum_forms_parse() {
        for (word, family) in [
            ("memcpy", Family::Copy),
            ("memmove", Family::Copy),
            ("memset", Family::Zero),
            ("checksum-host/len,ptr", Family::Checksum),
            ("sum/src,dst,len", Family::CopyChecksum),
        ] {
            let spec = PluginSpec::parse(&format!("mine.so:f:{word}")).expect("three parts");
            assert_eq!((spec.family, spec.to_string()), (family, format!("mine.so:f:{word}")));
        }
        assert!(message("mine.so:f:memmov").contains("did you mean memmove?"));
    }

    #[test]
    fn errors_name_the_missing_part() {
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
    fn bare_names_are_in_the_current_folder() {
        let path = |text: &str| PluginSpec::parse(text).expect("a spec").path();
        assert_eq!(path("mine.so:f:zero"), Path::new("./mine.so"));
        assert_eq!(path("sub/mine.so:f:zero"), Path::new("sub/mine.so"));
        assert_eq!(path("/mine.so:f:zero"), Path::new("/mine.so"));
    }

    #[test]
    fn files_that_are_not_plug_ins_are_errors() {
        let folder = tempfile::tempdir().expect("a folder");
        let spec = |file: &Path| PluginSpec {
            label: None,
            file: file.into(),
            symbol: "f".into(),
            family: Family::Zero,
            shape: Shape::Own,
        };
        let missing = load(&spec(&folder.path().join("none.so"))).expect_err("no file");
        assert!(matches!(missing, PluginError::Unreadable { .. }), "{missing}");
        let error = load(&spec(folder.path())).expect_err("a folder");
        assert!(matches!(error, PluginError::Unreadable { .. }), "{error}");
        let text = folder.path().join("text.so");
        std::fs::write(&text, "not machine code").expect("a file");
        let error = load(&spec(&text)).expect_err("a text");
        assert!(matches!(error, PluginError::NotLoadable { .. }), "{error}");
    }
}
