//! Cached results, one small file per compiler in the user's cache folder.
//!
//! A file is used only if its key matches this compiler (path, size, modification time and version) and these
//! probes; otherwise it is a miss. Failures are not cached: their cause may have gone.

use super::compilers::Compiler;
use super::probes;
use carryline_report::inlining::{InliningRow, LimitRow};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The cached results of one compiler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Identifies the compiler and the probes.
    key: String,
    /// Rows by flags.
    pub rows: BTreeMap<String, Vec<InliningRow>>,
    /// The cost of a limit, by limit and machine.
    pub limits: BTreeMap<String, Vec<LimitRow>>,
}

/// The cache; without a folder, it is always empty.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
}

/// `carryline/inlining` in the user's cache folder: `XDG_CACHE_HOME`, or `.cache` in `HOME`. Relative values
/// are ignored, as the XDG specification demands.
pub fn default_folder() -> Option<PathBuf> {
    user_folder("inlining")
}

/// `carryline/NAME` in the user's cache folder; see [`default_folder`].
pub fn user_folder(name: &str) -> Option<PathBuf> {
    let absolute =
        |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("carryline").join(name))
}

impl Cache {
    /// A cache in this folder; without one, nothing is stored.
    pub fn new(folder: Option<PathBuf>) -> Cache {
        Cache { folder }
    }

    /// The entry of a compiler; an empty one if there is none.
    pub fn look_up(&self, compiler: &Compiler) -> Entry {
        let key = key(compiler);
        let entry: Option<Entry> = self
            .file(&key)
            .and_then(|file| std::fs::read(file).ok())
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        entry.filter(|entry| entry.key == key).unwrap_or_else(|| Entry { key, ..Entry::default() })
    }

    /// Stores an entry atomically.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn store(&self, entry: &Entry) -> std::io::Result<()> {
        let Some(file) = self.file(&entry.key) else { return Ok(()) };
        let folder = file.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(folder)?;
        let mut fresh = tempfile::NamedTempFile::new_in(folder)?;
        fresh.write_all(&serde_json::to_vec(entry)?)?;
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
    fn an_entry_is_found_for_its_compiler_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(Some(folder.path().join("below/it")));
        let mut entry = cache.look_up(&compiler("one"));
        assert!(entry.rows.is_empty());
        entry.rows.insert("-O2".into(), vec![]);
        cache.store(&entry).expect("a writable folder");
        assert_eq!(cache.look_up(&compiler("one")), entry);
        assert!(cache.look_up(&compiler("another")).rows.is_empty());
    }

    #[test]
    fn a_damaged_file_or_another_compilers_is_a_miss() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(Some(folder.path().to_owned()));
        let mut entry = cache.look_up(&compiler("one"));
        entry.rows.insert("-O2".into(), vec![]);
        cache.store(&entry).expect("a writable folder");
        let file = cache.file(&entry.key).expect("a folder");
        let whole = std::fs::read(&file).expect("the file");
        std::fs::write(&file, &whole[..whole.len() / 2]).expect("half of it");
        assert!(cache.look_up(&compiler("one")).rows.is_empty());
        let text = String::from_utf8(whole).expect("JSON").replace("|one", "|two");
        std::fs::write(&file, text).expect("another's");
        assert!(cache.look_up(&compiler("one")).rows.is_empty());
    }

    #[test]
    fn without_a_folder_nothing_is_stored() {
        let cache = Cache::new(None);
        cache.store(&cache.look_up(&compiler("one"))).expect("nothing to do");
    }
}
