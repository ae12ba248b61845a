//! What was found out about a compiler earlier: one small file for each in the user's cache folder.
//!
//! A file is believed only if it says that it is about exactly this compiler (its file, size, time of change and version)
//! and these probes; anything else in it is a miss. Nothing that failed is kept: what was missing may be there by now.

use super::compilers::Compiler;
use super::probes;
use carryline_report::inlining::{InliningRow, LimitRow};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

/// What is kept of one compiler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// What it is about.
    key: String,
    /// Rows by flags.
    pub rows: BTreeMap<String, Vec<InliningRow>>,
    /// What a limit costs, by limit and machine.
    pub limits: BTreeMap<String, Vec<LimitRow>>,
}

/// The folder, or nowhere.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
}

/// `carryline/inlining` in the user's cache folder: `XDG_CACHE_HOME`, or `.cache` in `HOME`. Relative values are
/// ignored, as the XDG specification has it.
pub fn default_folder() -> Option<PathBuf> {
    user_folder("inlining")
}

/// `carryline/NAME` in the user's cache folder, as above.
pub fn user_folder(name: &str) -> Option<PathBuf> {
    let absolute =
        |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("carryline").join(name))
}

impl Cache {
    /// Keeps files in this folder; without one, nothing is kept.
    pub fn new(folder: Option<PathBuf>) -> Cache {
        Cache { folder }
    }

    /// What is known of a compiler; nothing, if nothing is.
    pub fn look_up(&self, compiler: &Compiler) -> Known {
        let key = key(compiler);
        let known: Option<Known> = self
            .file(&key)
            .and_then(|file| std::fs::read(file).ok())
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        known.filter(|known| known.key == key).unwrap_or_else(|| Known { key, ..Known::default() })
    }

    /// Keeps what is known of a compiler. A reader sees the old file or the new one, never a part.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep(&self, known: &Known) -> std::io::Result<()> {
        let Some(file) = self.file(&known.key) else { return Ok(()) };
        let folder = file.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(folder)?;
        let mut fresh = tempfile::NamedTempFile::new_in(folder)?;
        fresh.write_all(&serde_json::to_vec(known)?)?;
        fresh.persist(file)?;
        Ok(())
    }

    fn file(&self, key: &str) -> Option<PathBuf> {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        self.folder.as_ref().map(|folder| folder.join(format!("{:016x}.json", hasher.finish())))
    }
}

fn key(compiler: &Compiler) -> String {
    format!("{}|{}", probes::VERSION, compiler.identity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use probes::Language;

    fn compiler(identity: &str) -> Compiler {
        Compiler {
            name: "gcc".into(),
            path: "/usr/bin/gcc".into(),
            language: Language::C,
            version: "1.0".into(),
            identity: identity.into(),
        }
    }

    #[test]
    fn what_is_kept_is_found_again_for_the_same_compiler_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(Some(folder.path().join("below/it")));
        let mut known = cache.look_up(&compiler("one"));
        assert!(known.rows.is_empty());
        known.rows.insert("-O2".into(), vec![]);
        cache.keep(&known).expect("a folder that can be written");
        assert_eq!(cache.look_up(&compiler("one")), known);
        assert!(cache.look_up(&compiler("another")).rows.is_empty());
    }

    #[test]
    fn a_damaged_or_foreign_file_is_a_miss() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(Some(folder.path().to_owned()));
        let mut known = cache.look_up(&compiler("one"));
        known.rows.insert("-O2".into(), vec![]);
        cache.keep(&known).expect("a folder that can be written");
        let file = cache.file(&known.key).expect("a folder");
        let whole = std::fs::read(&file).expect("the file");
        std::fs::write(&file, &whole[..whole.len() / 2]).expect("half of it");
        assert!(cache.look_up(&compiler("one")).rows.is_empty());
        let text = String::from_utf8(whole).expect("JSON").replace("|one", "|two");
        std::fs::write(&file, text).expect("another's");
        assert!(cache.look_up(&compiler("one")).rows.is_empty());
    }

    #[test]
    fn without_a_folder_nothing_is_kept() {
        let cache = Cache::new(None);
        cache.keep(&cache.look_up(&compiler("one"))).expect("nothing to do");
    }
}
