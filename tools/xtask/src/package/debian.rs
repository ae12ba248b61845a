//! Debian's packages: `carryline`, `libcarryline0`, `libcarryline-dev`.

use super::VERSION;
use super::archives::{ar, below, gzip, hexadecimal, tarball};
use super::elf::Needs;
use super::{licences, of_commit};
use crate::install::{Built, Layout, SONAME, lay_out_command, lay_out_library, naming, put, read};
use md5::{Digest, Md5};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// The Debian revision, after the upstream version.
const REVISION: u32 = 1;

/// A binary package.
struct Package {
    name: &'static str,
    section: &'static str,
    /// Whether packages of several architectures can be installed together.
    is_multi_arch: bool,
    summary: &'static str,
    /// Lines of the description, without the leading blank.
    description: &'static str,
    /// Whether it contains an installed file, given by its path below `/usr`.
    has: fn(&Path, &str) -> bool,
    /// The workspace packages linked into it.
    linked: &'static [&'static str],
}

const PACKAGES: [Package; 3] = [
    Package {
        name: "carryline",
        section: "utils",
        is_multi_arch: false,
        summary: "measure ways to zero, copy and checksum memory",
        description: "A laboratory for the three things that every program does with memory.
Historical and modern ways of each are verified, measured under stated
conditions, ranked, and compared with the hardware's limits; the run opens
with a recommendation for the machine at hand. Includes an interposer that
serves the memory functions of unmodified programs.",
        has: |path, _| ["bin", "lib/carryline", "share"].iter().any(|part| path.starts_with(part)),
        linked: &["carryline-cli", "carryline-preload"],
    },
    Package {
        name: "libcarryline0",
        section: "libs",
        is_multi_arch: true,
        summary: "zeroing, copying and Internet checksums - shared library",
        description: "Zeroing, copying and Internet checksums (RFC 1071) with kernels for SSE2,
AVX2 and AVX-512 that are chosen for the CPU at run time.
.
This package contains the shared library.",
        has: |path, libraries| path == Path::new(libraries).join(SONAME),
        linked: &["carryline-capi"],
    },
    Package {
        name: "libcarryline-dev",
        section: "libdevel",
        is_multi_arch: true,
        summary: "zeroing, copying and Internet checksums - development files",
        description: "Zeroing, copying and Internet checksums (RFC 1071) with kernels for SSE2,
AVX2 and AVX-512 that are chosen for the CPU at run time.
.
This package contains the header, the static library, and the pkg-config file.",
        has: |path, libraries| {
            path.starts_with("include")
                || path.starts_with(libraries) && path != Path::new(libraries).join(SONAME)
        },
        linked: &["carryline-capi"],
    },
];

/// Writes the packages into a folder; returns their files.
pub(crate) fn packages(
    built: &Built,
    workspace: &Path,
    folder: &Path,
    seconds: u64,
    of_command: &Needs,
    of_library: &Needs,
) -> io::Result<Vec<PathBuf>> {
    let stage = tempfile::tempdir()?;
    let libraries = format!("lib/{}-linux-gnu", std::env::consts::ARCH);
    let usr = Layout { root: stage.path().join("all"), prefix: "/usr".to_owned(), libraries };
    lay_out_command(built, &usr)?;
    lay_out_library(&built.shared, &built.archive, &usr)?;
    // Debian's folder for completions from packages.
    let zsh = usr.root.join("share/zsh");
    let vendor = zsh.join("vendor-completions");
    fs::rename(zsh.join("site-functions"), &vendor).map_err(|error| naming(&vendor, &error))?;

    let mut files = Vec::new();
    for package in &PACKAGES {
        let root = stage.path().join(package.name);
        for file in below(&usr.root)? {
            let inside = file.strip_prefix(&usr.root).unwrap_or(&file);
            if (package.has)(inside, &usr.libraries) && !fs::symlink_metadata(&file)?.is_dir() {
                take(&file, &root.join("usr").join(inside))?;
            }
        }
        document(package, workspace, &root, seconds)?;
        let depends = match package.name {
            "carryline" => on(of_command)?,
            "libcarryline0" => on(of_library)?,
            _ => format!("libcarryline0 (= {VERSION}-{REVISION})"),
        };
        let control = stage.path().join(format!("{}.control", package.name));
        control_files(package, workspace, &root, &control, &depends)?;
        let file = folder.join(format!("{}_{VERSION}-{REVISION}_{}.deb", package.name, architecture()));
        let (control, data) = (tarball(&control, seconds)?, tarball(&root, seconds)?);
        let members: [(&str, &[u8]); 3] = [
            ("debian-binary", b"2.0\n"),
            ("control.tar.gz", &gzip(&control)?),
            ("data.tar.gz", &gzip(&data)?),
        ];
        put(&file, &ar(&members, seconds), 0o644)?;
        files.push(file);
    }
    Ok(files)
}

/// Copies a file or link of the installation; manual pages are compressed.
fn take(from: &Path, to: &Path) -> io::Result<()> {
    if let Ok(target) = fs::read_link(from) {
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder).map_err(|error| naming(folder, &error))?;
        }
        return std::os::unix::fs::symlink(target, to).map_err(|error| naming(to, &error));
    }
    if from.parent().is_some_and(|folder| folder.ends_with("man1")) {
        let mut name = to.as_os_str().to_owned();
        name.push(".gz");
        return put(Path::new(&name), &gzip(&read(from)?)?, 0o644);
    }
    let is_program = from.parent().is_some_and(|folder| folder.ends_with("bin"));
    put(to, &read(from)?, if is_program { 0o755 } else { 0o644 })
}

/// Writes the package's files in `/usr/share/doc`.
fn document(package: &Package, workspace: &Path, root: &Path, seconds: u64) -> io::Result<()> {
    let documents = root.join("usr/share/doc").join(package.name);
    let changes = format!(
        "carryline ({VERSION}-{REVISION}) unstable; urgency=medium\n\n  * Packaged by cargo xtask package; the changes are in \
         changelog.gz.\n\n -- {}  {}\n",
        maintainer(workspace),
        rfc_2822(seconds)
    );
    let mit = fs::read_to_string(workspace.join("LICENSE-MIT"))?;
    let copyright = format!(
        "carryline is licensed under MIT or Apache-2.0, at your option. On Debian systems the Apache License 2.0 is in\n\
         /usr/share/common-licenses/Apache-2.0. What it is linked with, and under which licences, is in\n\
         /usr/share/doc/{}/third-party.txt.gz.\n\n{mit}",
        package.name
    );
    let others = licences::of(workspace, package.linked)?;
    for (name, content) in [
        ("changelog.gz", gzip(&read(&workspace.join("CHANGELOG.md"))?)?),
        ("changelog.Debian.gz", gzip(changes.as_bytes())?),
        ("third-party.txt.gz", gzip(others.as_bytes())?),
        ("copyright", copyright.into_bytes()),
    ] {
        put(&documents.join(name), &content, 0o644)?;
    }
    Ok(())
}

/// Writes the control files for dpkg.
fn control_files(
    package: &Package,
    workspace: &Path,
    root: &Path,
    folder: &Path,
    depends: &str,
) -> io::Result<()> {
    let (mut sums, mut kibibytes) = (String::new(), 0);
    for file in below(root)? {
        let kind = fs::symlink_metadata(&file)?;
        // Like dpkg: files count in whole units, everything else as one.
        kibibytes += if kind.is_file() { kind.len().div_ceil(1024) } else { 1 };
        if kind.is_file() {
            let inside = file.strip_prefix(root).unwrap_or(&file).display();
            sums.push_str(&format!("{}  {inside}\n", hexadecimal(&Md5::digest(read(&file)?))));
        }
    }
    let lines: String = package.description.lines().map(|line| format!(" {line}\n")).collect();
    let multi_arch = if package.is_multi_arch { "Multi-Arch: same\n" } else { "" };
    let control = format!(
        "Package: {}\nSource: carryline\nVersion: {VERSION}-{REVISION}\nArchitecture: {}\nMaintainer: {}\n\
         Installed-Size: {kibibytes}\nDepends: {depends}\n{multi_arch}Section: {}\nPriority: optional\nDescription: {}\n{lines}",
        package.name,
        architecture(),
        maintainer(workspace),
        package.section,
        package.summary
    );
    put(&folder.join("control"), control.as_bytes(), 0o644)?;
    put(&folder.join("md5sums"), sums.as_bytes(), 0o644)?;
    if package.name == "libcarryline0" {
        put(
            &folder.join("shlibs"),
            format!("libcarryline 0 libcarryline0 (>= {VERSION})\n").as_bytes(),
            0o644,
        )?;
        put(&folder.join("triggers"), b"activate-noawait ldconfig\n", 0o644)?;
    }
    Ok(())
}

/// The package dependencies for the libraries and symbols that programs need.
fn on(needs: &Needs) -> io::Result<String> {
    let glibc = ["libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1"];
    let is_glibc = |name: &str| glibc.contains(&name) || name.starts_with("ld-linux");
    let mut found = Vec::new();
    for library in &needs.libraries {
        match library.as_str() {
            name if is_glibc(name) => {}
            "libgcc_s.so.1" => found.push("libgcc-s1 | libgcc1".to_owned()),
            other => {
                return Err(io::Error::other(format!("{other}: unknown which Debian package contains it")));
            }
        }
    }
    if let Some([major, minor, _]) = needs.glibc() {
        found.insert(0, format!("libc6 (>= {major}.{minor})"));
    }
    Ok(found.join(", "))
}

/// Debian's name of the architecture.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// The maintainer of the packages: `DEBFULLNAME` and `DEBEMAIL`, as for Debian's own tools, or the committer
/// of the last commit.
fn maintainer(workspace: &Path) -> String {
    let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    let name = variable("DEBFULLNAME").or_else(|| of_commit(workspace, "%cn"));
    let address = variable("DEBEMAIL").or_else(|| of_commit(workspace, "%ce"));
    format!(
        "{} <{}>",
        name.unwrap_or_else(|| "the carryline authors".to_owned()),
        address.unwrap_or_else(|| "root@localhost".to_owned())
    )
}

/// A UTC time in the format of mail and changelogs, which differs from HTTP's only in the name of the zone.
fn rfc_2822(seconds: u64) -> String {
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds)).replace("GMT", "+0000")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn dates_have_the_changelog_format() {
        assert_eq!(rfc_2822(951_782_400), "Tue, 29 Feb 2000 00:00:00 +0000");
    }

    #[test]
    fn dependencies_follow_from_symbols() {
        let set = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<BTreeSet<_>>();
        let needs = Needs {
            libraries: set(&["libc.so.6", "ld-linux-x86-64.so.2", "libgcc_s.so.1"]),
            versions: set(&["GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.3", "GCC_3.0"]),
        };
        assert_eq!(on(&needs).expect("known libraries"), "libc6 (>= 2.17), libgcc-s1 | libgcc1");
        let strange = Needs { libraries: set(&["libstrange.so.1"]), ..Needs::default() };
        assert!(on(&strange).is_err_and(|error| error.to_string().contains("libstrange.so.1")));
    }

    #[test]
    fn every_installed_file_is_in_one_package() {
        let libraries = "lib/x86_64-linux-gnu";
        for (file, package) in [
            ("bin/carryline", "carryline"),
            ("lib/carryline/libcarryline-preload.so", "carryline"),
            ("share/man/man1/carryline.1", "carryline"),
            ("lib/x86_64-linux-gnu/libcarryline.so.0", "libcarryline0"),
            ("lib/x86_64-linux-gnu/libcarryline.so", "libcarryline-dev"),
            ("lib/x86_64-linux-gnu/libcarryline.a", "libcarryline-dev"),
            ("lib/x86_64-linux-gnu/pkgconfig/carryline.pc", "libcarryline-dev"),
            ("include/carryline.h", "libcarryline-dev"),
        ] {
            let of: Vec<&str> = PACKAGES
                .iter()
                .filter(|package| (package.has)(Path::new(file), libraries))
                .map(|package| package.name)
                .collect();
            assert_eq!(of, [package], "{file}");
        }
    }
}
