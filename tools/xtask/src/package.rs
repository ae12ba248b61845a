//! Packages for people who do not build: three for Debian, and a tarball for every other Linux with glibc.
//!
//! All contain the same programs, compiled and linked by Zig for [`OLDEST_GLIBC`]; their dependencies are
//! read from them.

mod archives;
mod debian;
mod elf;
mod licences;

use crate::build::{OLDEST_GLIBC, Toolchain};
use crate::install::{Built, Layout, lay_out_command, lay_out_library, naming, put, read, workspace};
use archives::{gzip, tarball};
use elf::Needs;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, io};

/// Builds the packages into a folder, with their checksums in `SHA256SUMS`; returns the files.
///
/// # Errors
/// If the system is not Linux, cargo-zigbuild is missing, a build fails, a program needs a newer glibc than
/// the oldest supported one, or a file cannot be written.
pub fn package(folder: &Path) -> io::Result<Vec<PathBuf>> {
    has_zigbuild()?;
    fs::create_dir_all(folder).map_err(|error| naming(folder, &error))?;
    let built = Built::with(Toolchain::Zig)?;
    let needs = [&built.command, &built.shared, &built.interposer].map(|file| old_enough(file));
    let [command, shared, interposer] = needs;
    let (of_command, of_library) = (command?.and(interposer?), shared?);

    let workspace = workspace()?;
    let seconds = date(&workspace)?;
    let mut files = vec![tar_of_all(&built, &workspace, folder, seconds)?];
    files.extend(debian::packages(&built, &workspace, folder, seconds, &of_command, &of_library)?);
    files.push(sums(&files, folder)?);
    Ok(files)
}

/// The version, from cargo.
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn has_zigbuild() -> io::Result<()> {
    let asked =
        Command::new("cargo-zigbuild").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    match asked.is_ok_and(|status| status.success()) {
        true => Ok(()),
        false => Err(io::Error::other(
            "cargo-zigbuild, which links for an old glibc, is not on PATH; `pip install cargo-zigbuild` installs it and Zig",
        )),
    }
}

/// The dependencies of a file; an error if it needs a newer glibc than [`OLDEST_GLIBC`].
fn old_enough(file: &Path) -> io::Result<Needs> {
    let needs = Needs::of(&read(file)?).map_err(|error| naming(file, &error))?;
    match needs.glibc() {
        Some(version) if version > elf::version(OLDEST_GLIBC) => Err(io::Error::other(format!(
            "{}: needs glibc {}, not {OLDEST_GLIBC}",
            file.display(),
            version.map(|number| number.to_string()).join(".")
        ))),
        _ => Ok(needs),
    }
}

/// The time stamp of packages: `SOURCE_DATE_EPOCH`, or the time of the commit, so that two builds of a commit
/// are identical.
fn date(workspace: &Path) -> io::Result<u64> {
    if let Some(seconds) = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok()) {
        return Ok(seconds);
    }
    let committed = of_commit(workspace, "%ct").and_then(|text| text.parse().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_secs());
    committed.map_or_else(|| now().map_err(io::Error::other), Ok)
}

/// A field of the last commit; `None` without git or a repository.
fn of_commit(workspace: &Path, format: &str) -> Option<String> {
    let mut git = Command::new("git");
    git.args(["log", "-1", &format!("--format={format}")]).current_dir(workspace).stderr(Stdio::null());
    let output = git.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Builds the tarball: a prefix to unpack anywhere, with licences.
fn tar_of_all(built: &Built, workspace: &Path, folder: &Path, seconds: u64) -> io::Result<PathBuf> {
    let name = format!("carryline-{VERSION}-{}-linux-glibc{OLDEST_GLIBC}", std::env::consts::ARCH);
    let stage = tempfile::tempdir()?;
    let layout = Layout {
        root: stage.path().join(&name),
        prefix: "${pcfiledir}/../..".to_owned(),
        libraries: "lib".to_owned(),
    };
    lay_out_command(built, &layout)?;
    lay_out_library(&built.shared, &built.archive, &layout)?;
    let documents = layout.root.join("share/doc/carryline");
    for document in ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        put(&documents.join(document), &read(&workspace.join(document))?, 0o644)?;
    }
    let others = licences::of(workspace, &["carryline-cli", "carryline-capi", "carryline-preload"])?;
    put(&documents.join("third-party.txt"), others.as_bytes(), 0o644)?;
    let file = folder.join(format!("{name}.tar.gz"));
    put(&file, &gzip(&tarball(stage.path(), seconds)?)?, 0o644)?;
    Ok(file)
}

/// Writes the checksums in the format of `sha256sum --check`.
fn sums(files: &[PathBuf], folder: &Path) -> io::Result<PathBuf> {
    let mut text = String::new();
    for file in files {
        let digest = Sha256::digest(read(file)?);
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        text.push_str(&format!("{}  {name}\n", archives::hexadecimal(&digest)));
    }
    let sums = folder.join("SHA256SUMS");
    put(&sums, text.as_bytes(), 0o644)?;
    Ok(sums)
}
