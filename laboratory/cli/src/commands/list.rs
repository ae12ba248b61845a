//! `carryline list`: the collection.

use crate::cli::{Common, List};
use crate::output;
use carryline_engine::failure::Failure;
use carryline_engine::{prove, select};
use carryline_report::listing::{VariantLine, VariantList};
use carryline_variants::Variant;
use carryline_variants::c_library::Thresholds;

/// The required CPU features, and a process of its own if it needs one.
fn needs(variant: &Variant) -> Vec<String> {
    let raised = variant.thresholds() == Some(Thresholds::Raised);
    let process = raised.then(|| "a process with GLIBC_TUNABLES".to_owned());
    variant.needs.names().map(str::to_owned).chain(process).collect()
}

/// Lists the variants of the chosen families.
pub fn run(args: &List, common: &Common) -> Result<u8, Failure> {
    let families = select::families(&args.family)?;
    let variants = families
        .into_iter()
        .flat_map(|family| carryline_variants::of(family).iter().copied())
        .map(|variant| VariantLine {
            name: variant.name.to_owned(),
            family: variant.family(),
            needs: needs(variant),
            provenance: variant.provenance.to_owned(),
            runs_here: prove::lacking(variant).is_none(),
            known_bad: variant.known_bad.is_some(),
            known_bad_reason: variant.known_bad.map(str::to_owned),
            summary: variant.summary.to_owned(),
        })
        .collect();
    let list = VariantList { variants };
    output::print_result("list", &list, |style| list.to_text(style), common).map(|()| 0)
}
