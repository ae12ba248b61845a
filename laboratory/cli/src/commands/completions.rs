//! `carryline completions SHELL` and `carryline man`; also answers the requests of completion scripts.

use crate::cli::{Cli, Completions, Man, completing};
use crate::output;
use carryline_engine::failure::{Failure, usage};
use clap::{Command, CommandFactory};
use clap_complete::CompleteEnv;
use clap_complete::env::Shells;
use std::io::Write;
use std::path::Path;

/// The variable in which a completion script passes its shell when it requests candidates.
const VARIABLE: &str = "CARRYLINE_COMPLETE";

/// Zsh loads the file as the body of a function at the first request, so the script must answer that request
/// too.
const FIRST_OF_ZSH: &str =
    "if [ \"$funcstack[1]\" = \"_carryline\" ]; then\n    _clap_dynamic_completer_carryline \"$@\"\nfi\n";

/// Replaces the registration that clap writes for bash.
const COLONS_IN_BASH: &str = include_str!("completions/colons.bash");

/// If a completion script requests candidates, prints them and exits.
pub fn answer() {
    CompleteEnv::with_factory(|| completing(Cli::command())).var(VARIABLE).complete();
}

/// Prints the completion script.
pub fn completions(args: &Completions) -> Result<u8, Failure> {
    let name = args.shell.to_string();
    let shell = Shells::builtins();
    let shell = shell.completer(&name).ok_or_else(|| usage(format!("no completion script for {name}")))?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "carryline", "carryline", "carryline", &mut script)?;
    match name.as_str() {
        "bash" => script.extend_from_slice(COLONS_IN_BASH.as_bytes()),
        "zsh" => script.extend_from_slice(FIRST_OF_ZSH.as_bytes()),
        _ => {}
    }
    std::io::stdout().write_all(&script)?;
    Ok(0)
}

/// Prints one manual page for all commands, or writes a page for each.
pub fn man(args: &Man) -> Result<u8, Failure> {
    // A page of `help` would be empty.
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    if let Some(folder) = &args.pages {
        let refused = |error| usage(format!("--pages {}: {error}", folder.display()));
        std::fs::create_dir_all(folder).map_err(refused)?;
        let mut written = String::new();
        pages(&command, folder, &mut written).map_err(refused)?;
        return output::print(&written).map(|()| 0);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let man = clap_mangen::Man::new(sub.clone());
        writeln!(page, ".SH \"CARRYLINE {}\"", sub.get_name().to_uppercase())?;
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    output::print(&String::from_utf8_lossy(&page))?;
    Ok(0)
}

/// Writes the pages of a command and its subcommands, and lists their paths.
fn pages(command: &Command, folder: &Path, written: &mut String) -> std::io::Result<()> {
    let page = clap_mangen::Man::new(command.clone()).generate_to(folder)?;
    written.push_str(&format!("{}\n", page.display()));
    command.get_subcommands().filter(|sub| !sub.is_hide_set()).try_for_each(|sub| pages(sub, folder, written))
}
