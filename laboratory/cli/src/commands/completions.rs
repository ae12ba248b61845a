//! `carryline completions SHELL` and `carryline man`.

use crate::cli::{Cli, Completions};
use carryline_engine::failure::Failure;
use clap::CommandFactory;
use std::io::Write;

/// Prints the completion script.
pub fn completions(args: &Completions) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "carryline", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(0)
}

/// Prints the manual page, with a section for every command.
pub fn man() -> Result<u8, Failure> {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let man = clap_mangen::Man::new(sub.clone());
        writeln!(page, ".SH \"CARRYLINE {}\"", sub.get_name().to_uppercase())?;
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    std::io::stdout().write_all(&page)?;
    Ok(0)
}
