//! `carryline machine`: what results are measured on, and what cannot be measured there.

use crate::cli::{Common, Format};
use crate::engine::machine::Here;
use crate::failure::Failure;
use crate::output;
use carryline_measure::environment::Cpu;
use carryline_report::listing::{Machine, NotMeasurable, to_json};

/// What `carryline machine` prints.
pub fn describe(here: &Here) -> Result<Machine, Failure> {
    let not_measurable =
        here.environment.limits_here().into_iter().map(|(what, why)| NotMeasurable { what, why }).collect();
    let assumed = here.environment.assumed();
    let system = &here.environment.system;
    let c_library = system.rep_thresholds.as_ref().map(|seen| seen.sentence(&system.libc));
    let notes = c_library.into_iter().chain(library_here(&here.environment.cpu)).collect();
    Ok(Machine { environment: serde_json::to_value(&here.environment)?, notes, not_measurable, assumed })
}

/// What the library makes of this CPU model beyond its features, in a sentence; `None` where there is nothing to say.
fn library_here(_cpu: &Cpu) -> Option<String> {
    None
}

/// Prints the machine.
pub fn run(common: &Common) -> Result<u8, Failure> {
    let machine = describe(&Here::look())?;
    match common.format {
        Format::Table => output::print(&machine.to_text(output::style()))?,
        Format::Json => output::print(&to_json(&machine)?)?,
    }
    Ok(0)
}
