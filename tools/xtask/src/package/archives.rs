//! Archive formats of packages: tar, gzip, and the `ar` of Debian packages. The same input gives the same
//! bytes.

use flate2::{Compression, GzBuilder};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};

/// Everything below a folder as a tar file, sorted by name, owned by root.
pub(crate) fn tarball(folder: &Path, seconds: u64) -> io::Result<Vec<u8>> {
    let mut archive = Builder::new(Vec::new());
    for path in below(folder)? {
        let kind = fs::symlink_metadata(&path)?;
        let inside = path.strip_prefix(folder).unwrap_or(&path);
        let name = inside.to_string_lossy();
        let mut header = Header::new_gnu();
        header.set_mtime(seconds);
        header.set_uid(0);
        header.set_gid(0);
        header.set_username("root")?;
        header.set_groupname("root")?;
        if kind.is_dir() {
            header.set_entry_type(EntryType::Directory);
            header.set_mode(0o755);
            header.set_size(0);
            archive.append_data(&mut header, format!("{name}/"), io::empty())?;
        } else if kind.is_symlink() {
            header.set_entry_type(EntryType::Symlink);
            header.set_mode(0o777);
            header.set_size(0);
            archive.append_link(&mut header, &*name, fs::read_link(&path)?)?;
        } else {
            let content = fs::read(&path)?;
            header.set_mode(kind.permissions().mode() & 0o777);
            header.set_size(content.len() as u64);
            archive.append_data(&mut header, &*name, content.as_slice())?;
        }
    }
    archive.into_inner()
}

/// Everything below a folder, sorted by name, with folders before their contents.
pub(crate) fn below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut here: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    here.sort();
    let mut found = Vec::new();
    for path in here {
        let is_folder = fs::symlink_metadata(&path)?.is_dir();
        found.push(path.clone());
        if is_folder {
            found.extend(below(&path)?);
        }
    }
    Ok(found)
}

/// Compresses with gzip at the highest level, without name and time.
pub(crate) fn gzip(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut packed = GzBuilder::new().write(Vec::new(), Compression::best());
    packed.write_all(content)?;
    packed.finish()
}

/// An `ar` file in the format of dpkg.
pub(crate) fn ar(members: &[(&str, &[u8])], seconds: u64) -> Vec<u8> {
    let mut file = b"!<arch>\n".to_vec();
    for (name, content) in members {
        let size = content.len();
        file.extend_from_slice(
            format!("{name:<16}{seconds:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, "100644").as_bytes(),
        );
        file.extend_from_slice(content);
        if size % 2 == 1 {
            file.push(b'\n');
        }
    }
    file
}

/// A digest as text.
pub(crate) fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_depend_only_on_their_contents() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("bin")).expect("a folder");
        fs::write(folder.path().join("bin/program"), "odd").expect("a file");
        fs::set_permissions(folder.path().join("bin/program"), fs::Permissions::from_mode(0o755))
            .expect("a mode");
        std::os::unix::fs::symlink("program", folder.path().join("bin/again")).expect("a link");
        let file = tarball(folder.path(), 1).expect("a tar file");
        assert_eq!(file, tarball(folder.path(), 1).expect("again"));
        let mut archive = tar::Archive::new(file.as_slice());
        let entries: Vec<(String, u32, u64)> = archive
            .entries()
            .expect("entries")
            .map(|entry| {
                let entry = entry.expect("an entry");
                let (header, path) = (entry.header(), entry.path().expect("a path"));
                (path.display().to_string(), header.mode().expect("a mode"), header.size().expect("a size"))
            })
            .collect();
        let expected = [("bin/", 0o755, 0), ("bin/again", 0o777, 0), ("bin/program", 0o755, 3)];
        assert_eq!(entries, expected.map(|(name, mode, size)| (name.to_owned(), mode, size)));
    }

    #[test]
    fn ar_members_begin_at_even_offsets() {
        let file = ar(&[("a", b"odd"), ("b", b"even")], 0);
        assert_eq!(file.len(), 8 + 60 + 4 + 60 + 4);
        assert_eq!(&file[8 + 60 + 4..][..2], b"b ");
        assert_eq!(&file[8 + 48..][..12], b"3         `\n");
    }
}
