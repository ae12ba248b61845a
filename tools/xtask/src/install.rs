//! The C library and the interposer: built, named as C names it, laid out under a prefix.

use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

/// Where the library goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Install {
    /// The folder it will be used from, an absolute path.
    pub prefix: PathBuf,
    /// A folder that replaces the root during installation, an absolute path.
    pub destdir: Option<PathBuf>,
}

/// What has been installed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Installed {
    /// The files, the folder `destdir` included.
    pub files: Vec<PathBuf>,
}

/// The name that programs ask the dynamic linker for, as `library/capi/build.rs` gives it to the library.
const SONAME: &str = "libcarryline.so.0";

/// The name of the interposer, as `carryline real` and people look for it.
const PRELOAD: &str = "libcarryline-preload.so";

/// Builds the C library and the interposer with the profile `capi` and without std, and puts header, libraries and
/// pkg-config file under `job.prefix`. What another version left there under the same names is replaced.
///
/// # Errors
/// A system other than Linux, a prefix that a pkg-config file cannot hold, a build that fails (cargo has said why on
/// standard error), a file that cannot be written. The message names the file.
pub fn install(job: &Install) -> io::Result<Installed> {
    if !cfg!(target_os = "linux") {
        return Err(io::Error::other("installing the C library is for Linux only"));
    }
    let prefix = for_pkg_config(&job.prefix)?;
    let workspace = workspace()?;
    let capi = workspace.join("library/capi");
    let built = build(&workspace, "carryline-capi", "carryline_c")?;
    let (shared, archive) = (with_extension(&built, "so")?, with_extension(&built, "a")?);
    let interposer = preload()?;

    let root = under(job.destdir.as_deref(), &job.prefix);
    let (include, lib) = (root.join("include"), root.join("lib"));
    let pkgconfig = lib.join("pkgconfig");
    for folder in [&include, &pkgconfig] {
        fs::create_dir_all(folder).map_err(|error| naming(folder, &error))?;
    }

    let header = include.join("carryline.h");
    replace(&header, &read(&capi.join("include/carryline.h"))?, 0o644)?;
    let object = lib.join(SONAME);
    replace(&object, &read(&shared)?, 0o755)?;
    let link = lib.join("libcarryline.so");
    replace_link(SONAME, &link)?;
    let static_library = lib.join("libcarryline.a");
    replace(&static_library, &read(&archive)?, 0o644)?;
    let preload = lib.join(PRELOAD);
    replace(&preload, &read(&interposer)?, 0o755)?;
    let package = pkgconfig.join("carryline.pc");
    let template = capi.join("carryline.pc.in");
    let text = fs::read_to_string(&template).map_err(|error| naming(&template, &error))?;
    let text = text.replace("@PREFIX@", &prefix).replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    replace(&package, text.as_bytes(), 0o644)?;

    Ok(Installed { files: vec![header, object, link, static_library, preload, package] })
}

pub(crate) fn naming(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// The folder above this crate's. The program runs where it was built.
pub(crate) fn workspace() -> io::Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().nth(2).filter(|root| root.join("library/capi/Cargo.toml").is_file());
    root.map(Path::to_path_buf).ok_or_else(|| {
        io::Error::other(format!("{}: the workspace has moved; rebuild xtask", here.display()))
    })
}

/// The prefix as a pkg-config file writes it.
fn for_pkg_config(prefix: &Path) -> io::Result<String> {
    let text = prefix.to_str().filter(|text| !text.contains(['\n', '\\', '"', '\'', '$', '#']));
    let text = text.ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{}: a pkg-config file cannot hold this prefix", prefix.display()),
        )
    })?;
    Ok(text.replace(' ', "\\ "))
}

/// `prefix` seen from inside `destdir`.
fn under(destdir: Option<&Path>, prefix: &Path) -> PathBuf {
    match destdir {
        Some(destdir) => destdir.join(prefix.strip_prefix("/").unwrap_or(prefix)),
        None => prefix.to_path_buf(),
    }
}

/// Builds the interposer with the profile `capi`, as it is installed: its path, wherever cargo is set up to put it.
///
/// # Errors
/// A system other than Linux, or a build that fails; cargo has said why on standard error.
pub fn preload() -> io::Result<PathBuf> {
    if !cfg!(target_os = "linux") {
        return Err(io::Error::other("the interposer is for Linux only"));
    }
    with_extension(&build(&workspace()?, "carryline-preload", "carryline_preload")?, "so")
}

/// Builds the library `target` of a package: the files that cargo has made of it.
fn build(workspace: &Path, package: &str, target: &str) -> io::Result<Vec<PathBuf>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let output = Command::new(cargo)
        .args(["build", "--package", package, "--lib", "--profile", "capi", "--no-default-features"])
        .arg("--message-format=json-render-diagnostics")
        .current_dir(workspace)
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("building {package} failed: {}", output.status)));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    Ok(messages.lines().flat_map(|message| library_files(message, target)).collect())
}

fn with_extension(files: &[PathBuf], extension: &str) -> io::Result<PathBuf> {
    let found = files.iter().find(|file| file.extension().is_some_and(|found| found == extension));
    found.cloned().ok_or_else(|| io::Error::other(format!("cargo has built no .{extension} of the library")))
}

/// The files that one of cargo's messages names as the library `target`.
fn library_files(message: &str, target: &str) -> Vec<PathBuf> {
    let Ok(message) = serde_json::from_str::<Value>(message) else { return Vec::new() };
    if message["reason"] != "compiler-artifact" || message["target"]["name"] != target {
        return Vec::new();
    }
    let files = message["filenames"].as_array().into_iter().flatten();
    files.filter_map(Value::as_str).map(PathBuf::from).collect()
}

pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path).map_err(|error| naming(path, &error))
}

/// Calls `make` with a name beside `path` and renames what it made, so that running programs keep the old file.
fn replace_by(path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    let beside = PathBuf::from(name);
    let made = make(&beside).and_then(|()| fs::rename(&beside, path));
    made.map_err(|error| {
        // It may not have come into being; what counts is the first error.
        let _ = fs::remove_file(&beside);
        naming(path, &error)
    })
}

#[cfg(unix)]
pub(crate) fn replace(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    replace_by(path, |beside| {
        fs::write(beside, content)?;
        fs::set_permissions(beside, fs::Permissions::from_mode(mode))
    })
}

#[cfg(unix)]
fn replace_link(target: &str, link: &Path) -> io::Result<()> {
    replace_by(link, |beside| std::os::unix::fs::symlink(target, beside))
}

#[cfg(not(unix))]
pub(crate) fn replace(path: &Path, content: &[u8], _: u32) -> io::Result<()> {
    replace_by(path, |beside| fs::write(beside, content))
}

#[cfg(not(unix))]
fn replace_link(target: &str, link: &Path) -> io::Result<()> {
    replace_by(link, |beside| fs::copy(link.with_file_name(target), beside).map(drop))
}
