//! Builds a web site from the documents with mdBook: the pages listed in `docs/SUMMARY.md`, laid out as in
//! the repository, so that links between them work.

use crate::install::{naming, put, read, workspace};
use crate::target_folder;
use pulldown_cmark::{Event, Parser, Tag};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// The folder with the list of pages and mdBook's settings.
const DOCS: &str = "docs";

/// Builds the site in a folder; returns its first page.
///
/// # Errors
/// If mdBook is missing or fails (it has printed the reason on standard error), or a file cannot be read or
/// written.
pub fn site(folder: &Path) -> io::Result<PathBuf> {
    let workspace = workspace()?;
    let (book, to) = (target_folder()?.join("site"), std::path::absolute(folder)?);
    if book.exists() {
        fs::remove_dir_all(&book).map_err(|error| naming(&book, &error))?;
    }
    let summary = text_of(&workspace, &summary_file())?;
    for file in files(&workspace, &summary)? {
        put(&book.join("src").join(&file), &read(&workspace.join(&file))?, 0o644)?;
    }
    put(&book.join("src/SUMMARY.md"), from_root(&summary).as_bytes(), 0o644)?;
    put(&book.join("book.toml"), &read(&workspace.join(DOCS).join("book.toml"))?, 0o644)?;
    let status = Command::new("mdbook").arg("build").arg("--dest-dir").arg(&to).arg(&book).status();
    let status = status.map_err(|error| {
        io::Error::other(format!("mdbook: {error}; `cargo install mdbook --locked` installs it"))
    })?;
    match status.success() {
        true => Ok(to.join("index.html")),
        false => Err(io::Error::other(format!("mdbook failed: {status}"))),
    }
}

fn summary_file() -> PathBuf {
    Path::new(DOCS).join("SUMMARY.md")
}

fn text_of(workspace: &Path, page: &Path) -> io::Result<String> {
    let path = workspace.join(page);
    fs::read_to_string(&path).map_err(|error| naming(&path, &error))
}

/// The pages of the site and the other files that they link to, relative to the root of the workspace.
fn files(workspace: &Path, summary: &str) -> io::Result<BTreeSet<PathBuf>> {
    let pages: BTreeSet<PathBuf> =
        linked(&summary_file(), summary).into_iter().map(|(file, _)| file).collect();
    let mut all = pages.clone();
    for page in &pages {
        let links = linked(page, &text_of(workspace, page)?);
        all.extend(links.into_iter().map(|(file, _)| file).filter(|file| workspace.join(file).is_file()));
    }
    Ok(all)
}

/// The list of pages with links relative to the root, because mdBook accepts only pages below the list.
fn from_root(summary: &str) -> String {
    let mut parts = summary.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (link, rest) = part.split_once(')').unwrap_or((part, ""));
        let link = normal(&Path::new(DOCS).join(link));
        text.push_str(&format!("]({}){rest}", link.display()));
    }
    text
}

/// The files of the workspace that a page links to or embeds, with the linked heading if there is one.
fn linked(page: &Path, text: &str) -> Vec<(PathBuf, Option<String>)> {
    let mut found = Vec::new();
    for event in Parser::new(text) {
        let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event else { continue };
        if dest_url.contains(':') {
            continue;
        }
        let (file, heading) =
            dest_url.split_once('#').map_or((&*dest_url, None), |(file, heading)| (file, Some(heading)));
        let folder = page.parent().unwrap_or(Path::new(""));
        let file = if file.is_empty() { page.to_path_buf() } else { normal(&folder.join(file)) };
        found.push((file, heading.map(str::to_owned)));
    }
    found
}

/// The path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulldown_cmark::TagEnd;

    /// The pages of the repository, relative to its root.
    fn documents() -> Vec<PathBuf> {
        fn look(workspace: &Path, folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(workspace.join(folder)).expect("a folder") {
                let entry = entry.expect("an entry");
                let (name, path) = (entry.file_name(), folder.join(entry.file_name()));
                let is_ours = !name.to_string_lossy().starts_with('.') && name != "target";
                match entry.file_type().expect("its type") {
                    kind if kind.is_dir() && is_ours => look(workspace, &path, found),
                    _ if path.extension().is_some_and(|extension| extension == "md") => found.push(path),
                    _ => {}
                }
            }
        }
        let mut found = Vec::new();
        look(&workspace().expect("the workspace"), Path::new(""), &mut found);
        found
    }

    /// The anchors of headings, as GitHub and mdBook form them.
    fn headings(text: &str) -> Vec<String> {
        let (mut found, mut heading) = (Vec::new(), None);
        for event in Parser::new(text) {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => found.extend(heading.take()),
                Event::Text(part) | Event::Code(part) => {
                    heading.iter_mut().for_each(|heading| heading.push_str(&part));
                }
                _ => {}
            }
        }
        let name = |heading: String| -> String {
            let kept = heading
                .to_lowercase()
                .chars()
                .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
                .collect::<String>();
            kept.replace(' ', "-")
        };
        found.into_iter().map(name).collect()
    }

    #[test]
    fn links_are_not_dead() {
        let workspace = workspace().expect("the workspace");
        let (mut links, mut dead) = (0, Vec::new());
        for page in documents() {
            let text = text_of(&workspace, &page).expect("a page");
            for (file, heading) in linked(&page, &text) {
                links += 1;
                let there = workspace.join(&file);
                let is_heading = heading.as_ref().is_none_or(|heading| {
                    fs::read_to_string(&there).is_ok_and(|text| headings(&text).contains(heading))
                });
                if !there.exists() || !is_heading {
                    dead.push(format!("{}: {} {heading:?}", page.display(), file.display()));
                }
            }
        }
        assert!(links > 50, "only {links} links found");
        assert!(dead.is_empty(), "{}", dead.join("\n"));
    }

    #[test]
    fn the_site_lists_every_linked_page_once() {
        let workspace = workspace().expect("the workspace");
        let summary = text_of(&workspace, &summary_file()).expect("the list of pages");
        let listed: Vec<PathBuf> =
            linked(&summary_file(), &summary).into_iter().map(|(file, _)| file).collect();
        let mut once = listed.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), listed.len(), "a page is listed twice");
        let is_page =
            |file: &&PathBuf| file.starts_with(DOCS) && file.file_name() != summary_file().file_name();
        let all = files(&workspace, &summary).expect("every page can be read");
        let of_docs = documents().into_iter().filter(|file| is_page(&file));
        let linked_to =
            all.into_iter().filter(|file| file.extension().is_some_and(|extension| extension == "md"));
        let missing: Vec<PathBuf> = of_docs.chain(linked_to).filter(|file| !listed.contains(file)).collect();
        assert!(missing.is_empty(), "not in {}: {missing:?}", summary_file().display());
    }

    #[test]
    fn links_of_the_list_become_relative_to_the_root() {
        let list = "[A](../README.md)\n- [B](gate.md)\n";
        assert_eq!(from_root(list), "[A](README.md)\n- [B](docs/gate.md)\n");
    }
}
