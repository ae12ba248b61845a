//! The subjects of an audit, and the words that select them.

use crate::serve::CRATES;
use carryline_machine::nearest::{did_you_mean, nearest};
use carryline_variants::{Family, Variant};
use carryline_verification::forms::Form;
use carryline_verification::plugin::PluginSpec;
use carryline_verification::standard::Standard;
use carryline_verification::subject::SubjectId;
use std::ffi::CStr;
use std::path::PathBuf;

/// A subject of an audit.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A crate under comparison that computes checksums: its name, and the variant that is verified in
    /// memory.
    Crate {
        /// The name in the registry.
        name: &'static str,
        /// The name of its variant.
        variant: &'static str,
    },
    /// A crate under comparison that copies or fills.
    Memory {
        /// The name in the registry.
        name: &'static str,
        /// Its version.
        version: &'static str,
        /// The variant that is verified.
        variant: SubjectId,
    },
    /// Another checksum variant.
    Variant(&'static Variant),
    /// A function of the C library.
    Libc(Standard),
    /// A checksum in a shared library.
    Object {
        /// The file.
        file: PathBuf,
        /// The name of the function.
        symbol: String,
        /// The form; `None` to find it by trial.
        form: Option<Form>,
    },
    /// A function of a shared library that copies or fills, as for `--plugin` of other commands.
    Plugin(PluginSpec),
    /// A program that speaks the line protocol.
    Command(String),
}

/// A word that does not select a subject.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubjectError {
    /// Nothing has this name.
    #[error(
        "nothing named '{word}' can be audited{near} (names: {known}, and the checksums of 'carryline list')"
    )]
    Unknown {
        /// The word.
        word: String,
        /// The nearest name, as a question.
        near: String,
        /// All names.
        known: String,
    },
    /// Unknown form.
    #[error(
        "unknown form '{word}'{near} (forms: RESULT/ARGUMENTS, as in {examples}; memcpy, memmove, memset)"
    )]
    Form {
        /// The word.
        word: String,
        /// The nearest form, as a question.
        near: String,
        /// Some forms.
        examples: String,
    },
    /// The text does not have the form `FILE.so:SYMBOL[:FORM]`.
    #[error("'{0}' is not a plug-in; write FILE.so:SYMBOL or FILE.so:SYMBOL:FORM")]
    Plugin(String),
}

/// Some forms of functions, for messages.
pub(crate) const FORM_EXAMPLES: &str =
    "csum_partial, checksum/ptr,len, checksum-host/len,ptr, checksum/check,old,new";

/// The crates under comparison.
#[must_use]
pub fn collection() -> Vec<Subject> {
    let sums = CRATES.iter().map(|&(name, variant, ..)| Subject::Crate { name, variant });
    let memory = [
        ("stringzilla", env!("CARRYLINE_AUDITED_STRINGZILLA"), Family::Copy, "stringzilla"),
        ("zeroize", env!("CARRYLINE_AUDITED_ZEROIZE"), Family::Zero, "zeroize"),
    ];
    let memory = memory.into_iter().filter_map(|(name, version, family, variant)| {
        carryline_variants::find(family, variant)?;
        Some(Subject::Memory { name, version, variant: SubjectId { family, name: variant.to_owned() } })
    });
    sums.chain(memory).collect()
}

/// The subjects that words on the command line select.
///
/// # Errors
/// [`SubjectError::Unknown`] with the unknown word.
pub fn named(words: &[String]) -> Result<Vec<Subject>, SubjectError> {
    let mut found = Vec::new();
    for word in words {
        if word == "libc" {
            found.extend(Standard::ALL.map(Subject::Libc));
            continue;
        }
        let collected = collection().into_iter().find(|subject| match subject {
            Subject::Crate { name, variant } => word == name || word == variant,
            Subject::Memory { name, .. } => word == name,
            _ => false,
        });
        let name = word.strip_prefix("checksum/").unwrap_or(word);
        let variant = || carryline_variants::find(Family::Checksum, name).map(Subject::Variant);
        found.push(collected.or_else(variant).ok_or_else(|| unknown(word))?);
    }
    Ok(found)
}

fn unknown(word: &str) -> SubjectError {
    let crates = collection();
    let mut known: Vec<&str> = crates
        .iter()
        .filter_map(|subject| match subject {
            Subject::Crate { name, .. } | Subject::Memory { name, .. } => Some(*name),
            _ => None,
        })
        .collect();
    known.push("libc");
    let variants = carryline_variants::of(Family::Checksum).iter().map(|variant| variant.name);
    // 'capture' is a subcommand that audits captures.
    let mut words: Vec<&str> = known.iter().copied().chain(variants).chain(["capture"]).collect();
    words.sort_unstable();
    words.dedup();
    let near = did_you_mean(&nearest(word, words));
    SubjectError::Unknown { word: word.to_owned(), near, known: known.join(", ") }
}

/// The symbol of a shared library, from `FILE.so:SYMBOL` or `FILE.so:SYMBOL:FORM`. `form` applies to the
/// former.
///
/// # Errors
/// [`SubjectError`], if a part is missing or unknown.
pub fn object(text: &str, form: Option<&str>) -> Result<Subject, SubjectError> {
    let malformed = || SubjectError::Plugin(text.to_owned());
    let (front, last) = text.rsplit_once(':').ok_or_else(malformed)?;
    // With three parts, the middle one is the symbol. File names can contain colons, but rarely with no slash
    // after them.
    let (file, symbol, form) = match front.rsplit_once(':') {
        Some((file, symbol)) if !symbol.contains('/') => (file, symbol, Some(last)),
        _ => (front, last, form),
    };
    if file.is_empty() || symbol.is_empty() || form.is_some_and(str::is_empty) {
        return Err(malformed());
    }
    let object = |form| {
        let slash = file.contains('/');
        let file = if slash { PathBuf::from(file) } else { PathBuf::from(".").join(file) };
        Subject::Object { file, symbol: symbol.to_owned(), form }
    };
    let Some(word) = form else { return Ok(object(None)) };
    if let Some(form) = Form::from_name(word) {
        return Ok(object(Some(form)));
    }
    match PluginSpec::parse(&format!("{file}:{symbol}:{word}")) {
        // The names of families that other commands accept.
        Ok(spec) if spec.family == Family::Checksum => Ok(object(Form::from_name("csum_partial"))),
        Ok(spec) if spec.family == Family::CopyChecksum => {
            Ok(object(Form::from_name("partial/dst,src,len,seed")))
        }
        Ok(spec) => Ok(Subject::Plugin(spec)),
        Err(_) => {
            let standard = Standard::ALL.into_iter().map(|standard| standard.to_string());
            let forms: Vec<String> = Form::all().map(|form| form.to_string()).chain(standard).collect();
            let near = did_you_mean(&nearest(word, forms.iter().map(String::as_str)));
            Err(SubjectError::Form { word: word.to_owned(), near, examples: FORM_EXAMPLES.to_owned() })
        }
    }
}

/// The file from which the C library of this process was loaded; `None` if it is linked statically.
#[must_use]
pub fn libc_file() -> Option<PathBuf> {
    // SAFETY: all fields are integers or pointers, for which zero is valid.
    let mut about: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the result lives through the call; `getpid` is a function of the C library.
    let found = unsafe { libc::dladdr(libc::getpid as *const libc::c_void, &raw mut about) };
    if found == 0 || about.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a string of the dynamic linker, which lives as long as the library is loaded.
    let name = unsafe { CStr::from_ptr(about.dli_fname) };
    let path = PathBuf::from(name.to_str().ok()?);
    (path.is_absolute() && path.to_string_lossy().contains(".so")).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, form: Option<&str>) -> String {
        match object(text, form) {
            Ok(Subject::Object { file, symbol, form }) => {
                let form = form.map_or_else(|| "by trial".to_owned(), |form| form.to_string());
                format!("{} {symbol} {form}", file.display())
            }
            Ok(Subject::Plugin(spec)) => spec.to_string(),
            Ok(_) => "another".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn symbols_are_accepted_with_or_without_a_form() {
        assert_eq!(of("a.so:f", None), "./a.so f by trial");
        assert_eq!(of("/x/a.so:f:checksum-host/len,ptr", None), "/x/a.so f checksum-host/len,ptr");
        assert_eq!(of("./a.so:f", Some("sum/ptr,len")), "./a.so f sum/ptr,len");
        assert_eq!(of("./a.so:f:csum_partial", Some("sum/ptr,len")), "./a.so f partial/ptr,len,seed");
        assert_eq!(of("./a.so:f:checksum", None), "./a.so f partial/ptr,len,seed");
        assert_eq!(of("./a.so:f:memmove", None), "./a.so:f:memmove");
        for wrong in ["a.so", ":f", "a.so:", "a.so:f:", "a.so::checksum"] {
            assert!(of(wrong, None).contains("is not a plug-in"), "{wrong}: {}", of(wrong, None));
        }
        assert!(of("a.so:f:checksum-host/ptr,lne", None).contains("did you mean 'checksum-host/ptr,len'"));
    }

    #[test]
    fn crates_and_variants_are_selected_by_name() {
        let words = |words: &[&str]| {
            named(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>()).map(|found| found.len())
        };
        assert_eq!(words(&["carryline", "libc", "checksum/words16_c"]), Ok(5));
        let error = words(&["carrylien"]).expect_err("misspelt");
        assert!(error.to_string().contains("did you mean 'carryline'?"), "{error}");
    }

    #[test]
    fn the_c_library_file_exists() {
        if let Some(file) = libc_file() {
            assert!(file.exists(), "{}", file.display());
        }
    }
}
