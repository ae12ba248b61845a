//! The dependencies of a program or shared library, read from its dynamic section.

use object::read::elf::{Dyn, ElfFile64};
use object::{Endianness, elf};
use std::collections::BTreeSet;
use std::io;

/// The libraries that a file is linked with, and the symbol versions that it needs from them, such as
/// `GLIBC_2.17`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Needs {
    pub(crate) libraries: BTreeSet<String>,
    pub(crate) versions: BTreeSet<String>,
}

/// A version such as `2.17` as numbers; missing ones are zero.
pub(crate) fn version(text: &str) -> [u32; 3] {
    let mut numbers = text.split('.').map(|part| part.parse().unwrap_or(0));
    [0; 3].map(|_: u32| numbers.next().unwrap_or(0))
}

impl Needs {
    /// Reads a 64-bit ELF file.
    pub(crate) fn of(bytes: &[u8]) -> io::Result<Needs> {
        read(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))
    }

    /// The combined dependencies of two files.
    pub(crate) fn and(mut self, other: Needs) -> Needs {
        self.libraries.extend(other.libraries);
        self.versions.extend(other.versions);
        self
    }

    /// The newest glibc version whose symbols are used.
    pub(crate) fn glibc(&self) -> Option<[u32; 3]> {
        self.versions.iter().filter_map(|name| name.strip_prefix("GLIBC_")).map(version).max()
    }
}

fn read(bytes: &[u8]) -> object::read::Result<Needs> {
    let file = ElfFile64::<Endianness>::parse(bytes)?;
    let (endian, sections) = (file.endian(), file.elf_section_table());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut needs = Needs::default();
    if let Some((entries, link)) = sections.dynamic(endian, bytes)? {
        let strings = sections.strings(endian, bytes, link)?;
        for entry in entries.iter().filter(|entry| entry.tag(endian) == elf::DT_NEEDED) {
            needs.libraries.insert(text(entry.string(endian, strings)?));
        }
    }
    if let Some((mut files, link)) = sections.gnu_verneed(endian, bytes)? {
        let strings = sections.strings(endian, bytes, link)?;
        while let Some((_, mut versions)) = files.next()? {
            while let Some(version) = versions.next()? {
                needs.versions.insert(text(version.name(endian, strings)?));
            }
        }
    }
    Ok(needs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_as_numbers() {
        assert!(version("2.17") > version("2.4") && version("2.2.5") < version("2.17"));
        assert_eq!(version("2.2.5"), [2, 2, 5]);
    }

    /// The test program itself is linked with libc.
    #[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
    #[test]
    fn programs_need_the_libraries_they_are_linked_with() {
        let bytes =
            std::fs::read(std::env::current_exe().expect("a test has a path")).expect("it can be read");
        let needs = Needs::of(&bytes).expect("it is an ELF file");
        assert!(needs.libraries.contains("libc.so.6"), "{needs:?}");
        assert!(needs.glibc() >= Some([2, 2, 5]), "{needs:?}");
        assert!(Needs::of(b"#!/bin/sh\n").is_err());
    }
}
