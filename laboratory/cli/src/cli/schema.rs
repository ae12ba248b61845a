//! The arguments of `carryline schema`.

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "\
The JSON of every command names its schema in 'schema'. Fields are added, never renamed.

Examples:
  carryline schema
  carryline schema run
  carryline schema compare > compare.schema.json")]
pub struct Schema {
    /// The schema's name; without one, all are listed.
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}
