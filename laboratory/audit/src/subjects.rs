//! What can be audited, by the words that name it.

use crate::serve::CRATES;
use carryline_machine::nearest::{did_you_mean, nearest};
use carryline_variants::{Family, Variant};
use carryline_verification::forms::Form;
use carryline_verification::plugin::PluginSpec;
use carryline_verification::standard::Standard;
use carryline_verification::subject::SubjectId;
use std::ffi::CStr;
use std::path::PathBuf;

/// Something to audit.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A crate of the collection that computes checksums: its name, and the variant that is verified in memory.
    Crate {
        /// As the registry has it.
        name: &'static str,
        /// Its name in the checksum family.
        variant: &'static str,
    },
    /// A crate of the collection that copies or fills.
    Memory {
        /// As the registry has it.
        name: &'static str,
        /// Its version.
        version: &'static str,
        /// What is verified.
        variant: SubjectId,
    },
    /// Another checksum of the collection.
    Variant(&'static Variant),
    /// A function of the C library.
    Libc(Standard),
    /// A checksum in a shared library.
    Object {
        /// The file.
        file: PathBuf,
        /// The function's name.
        symbol: String,
        /// Its form; `None` to find it by trial.
        form: Option<Form>,
    },
    /// A function in a shared library that copies or fills, as for `--plugin` of the other commands.
    Plugin(PluginSpec),
    /// A program that speaks the line protocol.
    Command(String),
}

/// The crates of the collection with the names of their variants.
const VARIANTS: [(&str, &str); 6] = [
    ("carryline", "carryline"),
    ("internet-checksum", "internet_checksum"),
    ("smoltcp", "smoltcp"),
    ("etherparse", "etherparse"),
    ("s2n-quic-core", "s2n_quic"),
    ("pnet_packet", "pnet"),
];

/// A word that names nothing that can be audited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubjectError {
    /// Nothing has this name.
    #[error(
        "there is nothing named '{word}' to audit{near} (names: {known}, and the checksums of 'carryline list')"
    )]
    Unknown {
        /// What was written.
        word: String,
        /// The nearest name, as a question.
        near: String,
        /// All names.
        known: String,
    },
    /// No such form.
    #[error(
        "unknown form '{word}'{near} (forms: RESULT/ARGUMENTS, as in {examples}; memcpy, memmove, memset)"
    )]
    Form {
        /// What was written.
        word: String,
        /// The nearest form, as a question.
        near: String,
        /// Some forms.
        examples: String,
    },
    /// Not of the form `FILE.so:SYMBOL[:FORM]`.
    #[error("'{0}' is no plug-in: the form is FILE.so:SYMBOL or FILE.so:SYMBOL:FORM")]
    Plugin(String),
}

/// The crates of the collection.
#[must_use]
pub fn collection() -> Vec<Subject> {
    let sums = CRATES.iter().filter_map(|&(name, ..)| {
        let (_, variant) = VARIANTS.iter().find(|(known, _)| *known == name)?;
        Some(Subject::Crate { name, variant })
    });
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

/// What words on the command line name.
///
/// # Errors
/// [`SubjectError::Unknown`], naming the word.
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
    // Captures are audited by a command of that name.
    let mut words: Vec<&str> = known.iter().copied().chain(variants).chain(["capture"]).collect();
    words.sort_unstable();
    words.dedup();
    let near = did_you_mean(&nearest(word, words));
    SubjectError::Unknown { word: word.to_owned(), near, known: known.join(", ") }
}

/// A shared library's symbol: `FILE.so:SYMBOL` or `FILE.so:SYMBOL:FORM`. `form` is for symbols that name none.
///
/// # Errors
/// [`SubjectError`], naming what is missing or unknown.
pub fn object(text: &str, form: Option<&str>) -> Result<Subject, SubjectError> {
    let malformed = || SubjectError::Plugin(text.to_owned());
    let (front, last) = text.rsplit_once(':').ok_or_else(malformed)?;
    // With a third part, the middle one is the symbol: a file's name may hold colons, but hardly without a slash behind them.
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
        // The words of the other commands, for the forms of the families.
        Ok(spec) if spec.family == Family::Checksum => Ok(object(Form::from_name("csum_partial"))),
        Ok(spec) if spec.family == Family::CopyChecksum => {
            Ok(object(Form::from_name("partial/dst,src,len,seed")))
        }
        Ok(spec) => Ok(Subject::Plugin(spec)),
        Err(_) => {
            let standard = Standard::ALL.into_iter().map(|standard| standard.to_string());
            let forms: Vec<String> = Form::all().map(|form| form.to_string()).chain(standard).collect();
            let near = did_you_mean(&nearest(word, forms.iter().map(String::as_str)));
            let examples =
                "csum_partial, checksum/ptr,len, checksum-host/len,ptr, checksum/check,old,new".to_owned();
            Err(SubjectError::Form { word: word.to_owned(), near, examples })
        }
    }
}

/// The file that this process's C library was loaded from; `None` where it is linked statically.
#[must_use]
pub fn libc_file() -> Option<PathBuf> {
    // SAFETY: null is a value of each of its pointers.
    let mut about: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the place lives through the call; `getpid` is a function of the C library's.
    let found = unsafe { libc::dladdr(libc::getpid as *const libc::c_void, &raw mut about) };
    if found == 0 || about.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a string of the dynamic linker's, which stays as long as the library is loaded.
    let name = unsafe { CStr::from_ptr(about.dli_fname) };
    let path = PathBuf::from(name.to_str().ok()?);
    (path.is_absolute() && path.to_string_lossy().contains(".so")).then_some(path)
}

/// The C library's name and version.
#[must_use]
pub fn libc_version() -> Option<String> {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: it takes nothing and returns a string of the library's own.
        let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
        version.to_str().ok().map(|version| format!("glibc {version}"))
    }
    #[cfg(not(target_env = "gnu"))]
    None
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
    fn symbols_are_named_with_or_without_a_form() {
        assert_eq!(of("a.so:f", None), "./a.so f by trial");
        assert_eq!(of("/x/a.so:f:checksum-host/len,ptr", None), "/x/a.so f checksum-host/len,ptr");
        assert_eq!(of("./a.so:f", Some("sum/ptr,len")), "./a.so f sum/ptr,len");
        assert_eq!(of("./a.so:f:csum_partial", Some("sum/ptr,len")), "./a.so f partial/ptr,len,seed");
        assert_eq!(of("./a.so:f:checksum", None), "./a.so f partial/ptr,len,seed");
        assert_eq!(of("./a.so:f:memmove", None), "./a.so:f:memmove");
        for wrong in ["a.so", ":f", "a.so:", "a.so:f:", "a.so::checksum"] {
            assert!(of(wrong, None).contains("is no plug-in"), "{wrong}: {}", of(wrong, None));
        }
        assert!(of("a.so:f:checksum-host/ptr,lne", None).contains("did you mean 'checksum-host/ptr,len'"));
    }

    #[test]
    fn names_are_those_of_crates_and_variants() {
        let words = |words: &[&str]| {
            named(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>()).map(|found| found.len())
        };
        assert_eq!(words(&["carryline", "libc", "checksum/words16_c"]), Ok(5));
        let error = words(&["carrylien"]).expect_err("misspelt");
        assert!(error.to_string().contains("did you mean 'carryline'?"), "{error}");
    }

    #[test]
    fn the_c_library_is_a_file_here() {
        if let Some(file) = libc_file() {
            assert!(file.exists(), "{}", file.display());
        }
    }
}
