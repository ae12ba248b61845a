//! Installs the command, the C library and the interposer under a prefix.

use crate::build::{Toolchain, command, library, with_extension};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// The destination of an installation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Install {
    /// The final folder, an absolute path.
    pub prefix: PathBuf,
    /// A folder that replaces the root during installation, an absolute path.
    pub destdir: Option<PathBuf>,
}

/// The result of an installation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Installed {
    /// The files, including the folder `destdir`.
    pub files: Vec<PathBuf>,
}

/// The shared library's soname, as set in `library/capi/build.rs`.
pub(crate) const SONAME: &str = "libcarryline.so.0";

/// The interposer, where `carryline real` looks for it next to `bin`.
const PRELOAD: &str = "lib/carryline/libcarryline-preload.so";

/// The files built by cargo for installation.
pub(crate) struct Built {
    pub(crate) command: PathBuf,
    pub(crate) shared: PathBuf,
    pub(crate) archive: PathBuf,
    pub(crate) interposer: PathBuf,
}

impl Built {
    pub(crate) fn with(toolchain: Toolchain) -> io::Result<Built> {
        let workspace = workspace()?;
        let (shared, archive) = c_library(&workspace, toolchain)?;
        let interposer = interposer(&workspace, toolchain)?;
        Ok(Built { command: command(&workspace, toolchain)?, shared, archive, interposer })
    }
}

/// The folders of an installation.
pub(crate) struct Layout {
    /// The folder that represents the prefix during installation.
    pub(crate) root: PathBuf,
    /// The prefix in the pkg-config file.
    pub(crate) prefix: String,
    /// The folder of libraries under the prefix.
    pub(crate) libraries: String,
}

impl Layout {
    fn of(job: &Install) -> io::Result<Layout> {
        let root = under(job.destdir.as_deref(), &job.prefix);
        Ok(Layout { root, prefix: for_pkg_config(&job.prefix)?, libraries: "lib".to_owned() })
    }
}

/// Builds everything for release and installs it under `job.prefix`: the command with its manual pages and
/// completions, the interposer where `carryline real` finds it, the C library with header and pkg-config
/// file. Files of the same names are replaced.
///
/// # Errors
/// If the system is not Linux, a pkg-config file cannot represent the prefix, a build fails (cargo has
/// printed the reason on standard error), or a file cannot be written. The message names the file.
pub fn install(job: &Install) -> io::Result<Installed> {
    let layout = Layout::of(job)?;
    writable(&layout.root)?;
    let built = Built::with(Toolchain::Native)?;
    let mut files = lay_out_command(&built, &layout)?;
    files.extend(lay_out_library(&built.shared, &built.archive, &layout)?);
    Ok(Installed { files })
}

/// Installs only the C library.
///
/// # Errors
/// As [`install`].
pub fn install_library(job: &Install) -> io::Result<Installed> {
    let layout = Layout::of(job)?;
    let (shared, archive) = c_library(&workspace()?, Toolchain::Native)?;
    Ok(Installed { files: lay_out_library(&shared, &archive, &layout)? })
}

/// Instructions for programs to find the shared library.
#[must_use]
pub fn how_to_use(job: &Install) -> String {
    let prefix = job.prefix.display();
    format!(
        "Programs find the shared library if they are linked with its path,\n  \
         cc packet.c $(PKG_CONFIG_PATH={prefix}/lib/pkgconfig pkg-config --cflags --libs carryline) \
         -Wl,-rpath,{prefix}/lib\n\
         or, if {prefix}/lib is in /etc/ld.so.conf, after `ldconfig` (as root)."
    )
}

/// Installs the command, its manual pages and completions, and the interposer under a root.
pub(crate) fn lay_out_command(built: &Built, layout: &Layout) -> io::Result<Vec<PathBuf>> {
    let root = &layout.root;
    let mut files = vec![root.join("bin/carryline"), root.join(PRELOAD)];
    put(&files[0], &read(&built.command)?, 0o755)?;
    put(&files[1], &read(&built.interposer)?, 0o644)?;

    let pages = tempfile::tempdir()?;
    run(Command::new(&built.command).args(["man", "--pages"]).arg(pages.path()))?;
    let mut names: Vec<_> = fs::read_dir(&pages)?.collect::<Result<Vec<_>, _>>()?;
    names.sort_by_key(fs::DirEntry::file_name);
    for page in names {
        let to = root.join("share/man/man1").join(page.file_name());
        put(&to, &read(&page.path())?, 0o644)?;
        files.push(to);
    }
    for (shell, place) in [
        ("bash", "share/bash-completion/completions/carryline"),
        ("zsh", "share/zsh/site-functions/_carryline"),
        ("fish", "share/fish/vendor_completions.d/carryline.fish"),
    ] {
        let script = run(Command::new(&built.command).args(["completions", shell]))?;
        put(&root.join(place), &script, 0o644)?;
        files.push(root.join(place));
    }
    Ok(files)
}

/// Installs header, libraries and pkg-config file under a root.
pub(crate) fn lay_out_library(shared: &Path, archive: &Path, layout: &Layout) -> io::Result<Vec<PathBuf>> {
    let capi = workspace()?.join("library/capi");
    let lib = layout.root.join(&layout.libraries);
    let header = layout.root.join("include/carryline.h");
    put(&header, &read(&capi.join("include/carryline.h"))?, 0o644)?;
    let object = lib.join(SONAME);
    put(&object, &read(shared)?, 0o644)?;
    let link = lib.join("libcarryline.so");
    replace_link(SONAME, &link)?;
    let static_library = lib.join("libcarryline.a");
    put(&static_library, &read(archive)?, 0o644)?;
    let package = lib.join("pkgconfig/carryline.pc");
    let template = capi.join("carryline.pc.in");
    let text = fs::read_to_string(&template).map_err(|error| naming(&template, &error))?;
    let text = text
        .replace("@PREFIX@", &layout.prefix)
        .replace("@LIBRARIES@", &layout.libraries)
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    put(&package, text.as_bytes(), 0o644)?;
    Ok(vec![header, object, link, static_library, package])
}

/// Builds the C library; returns the shared library and the archive.
fn c_library(workspace: &Path, toolchain: Toolchain) -> io::Result<(PathBuf, PathBuf)> {
    let built = library(workspace, "carryline-capi", "carryline_c", toolchain)?;
    Ok((with_extension(&built, "so")?, with_extension(&built, "a")?))
}

fn interposer(workspace: &Path, toolchain: Toolchain) -> io::Result<PathBuf> {
    with_extension(&library(workspace, "carryline-preload", "carryline_preload", toolchain)?, "so")
}

/// Builds the interposer with the profile `capi`, as for installation; returns its path.
///
/// # Errors
/// If the system is not Linux, or the build fails; cargo has printed the reason on standard error.
pub fn preload() -> io::Result<PathBuf> {
    interposer(&workspace()?, Toolchain::Native)
}

/// The output of a command that must succeed.
fn run(command: &mut Command) -> io::Result<Vec<u8>> {
    let output = command.output()?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(io::Error::other(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)))),
    }
}

/// Checks that a folder can be written, before time is spent on building.
fn writable(folder: &Path) -> io::Result<()> {
    let refused = |error: io::Error| naming(folder, &error);
    fs::create_dir_all(folder).map_err(refused)?;
    tempfile::tempfile_in(folder).map(drop).map_err(refused)
}

pub(crate) fn naming(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// The root of the workspace. The program runs where it was built.
pub(crate) fn workspace() -> io::Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().nth(2).filter(|root| root.join("library/capi/Cargo.toml").is_file());
    root.map(Path::to_path_buf).ok_or_else(|| {
        io::Error::other(format!("{}: the workspace has moved; rebuild xtask", here.display()))
    })
}

/// The prefix in the syntax of pkg-config files.
fn for_pkg_config(prefix: &Path) -> io::Result<String> {
    let text = prefix.to_str().filter(|text| !text.contains(['\n', '\\', '"', '\'', '$', '#']));
    let text = text.ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{}: a pkg-config file cannot represent this prefix", prefix.display()),
        )
    })?;
    Ok(text.replace(' ', "\\ "))
}

/// `prefix` inside `destdir`.
fn under(destdir: Option<&Path>, prefix: &Path) -> PathBuf {
    match destdir {
        Some(destdir) => destdir.join(prefix.strip_prefix("/").unwrap_or(prefix)),
        None => prefix.to_path_buf(),
    }
}

pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path).map_err(|error| naming(path, &error))
}

/// Calls `make` with a temporary name next to `path` and renames the result, so that running programs keep
/// the old file.
fn replace_by(path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    let beside = PathBuf::from(name);
    let made = make(&beside).and_then(|()| fs::rename(&beside, path));
    made.map_err(|error| {
        // The file may not exist; only the first error matters.
        let _ = fs::remove_file(&beside);
        naming(path, &error)
    })
}

/// [`replace`], creating the folder if necessary.
pub(crate) fn put(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| naming(folder, &error))?;
    }
    replace(path, content, mode)
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
