//! The options of `carryline schema`.

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "\
Every command's JSON names its schema in the field 'schema', except that of 'audit capture', which
is a list. Fields are added, never renamed.

Examples:
  carryline schema
  carryline schema run
  carryline schema compare > compare.schema.json")]
pub struct Schema {
    /// The schema's name [default: list all].
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}
