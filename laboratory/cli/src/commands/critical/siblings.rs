//! Variants that make a suggested change, so that measured times support the suggestion.

use super::measured::Measurements;
use super::predict::Prediction;
use crate::cli::Critical;
use carryline_chain::Latencies;
use carryline_chain::suggest::{Remedy, Suggestion};
use carryline_conditions::Dependence;
use carryline_engine::failure::Failure;
use carryline_engine::prove;
use carryline_report::units::number;
use carryline_variants::Variant;

/// Checksum variants that make the change; those for 40 bytes come first.
const fn names(kind: Remedy) -> &'static [&'static str] {
    match kind {
        Remedy::SplitTheChain => &["two_streams_40", "adc_2_streams", "adc_4_streams"],
        Remedy::KeepTheCarry => &[],
        Remedy::WidenTheLoad => &["dead_code_40", "adc_1_stream"],
        Remedy::UseVectors => &["avx2"],
        Remedy::DropABranch => &["dead_code_40"],
        Remedy::AddLessAfterTheLoop => &["adc_2_streams"],
    }
}

/// The variant that makes the change to another one, at the same size.
fn of(kind: Remedy, prediction: &Prediction) -> Option<&'static Variant> {
    let (own, size) = (prediction.variant?, prediction.size?);
    let named = names(kind).iter().filter_map(|name| carryline_variants::find(own.family(), name));
    named.into_iter().find(|variant| {
        variant.name != own.name && variant.lengths.contains(size) && prove::lacking(variant).is_none()
    })
}

/// Predicts the variants that make the suggested changes, each once.
pub fn predict(
    prediction: &Prediction,
    suggestions: &[Suggestion],
    args: &Critical,
    latencies: &Latencies,
) -> Result<Vec<Prediction>, Failure> {
    let mut found: Vec<Prediction> = Vec::new();
    for suggestion in suggestions {
        if let Some(variant) = of(suggestion.kind, prediction)
            && !found.iter().any(|known| known.name == variant.name)
        {
            found.push(Prediction::of_variant(variant, args, latencies)?);
        }
    }
    Ok(found)
}

/// The times of a variant that makes the change: `adc_2_streams, which does it, takes chained 117 (measured),
/// ...`.
pub fn beside(
    kind: Remedy,
    prediction: &Prediction,
    siblings: &[&Prediction],
    measurements: &Measurements,
) -> Option<String> {
    let variant = of(kind, prediction)?;
    let sibling = siblings.iter().find(|known| known.name == variant.name)?;
    let measured = measurements.of(sibling);
    let figures = [Dependence::Chained, Dependence::Independent].into_iter().filter_map(|dependence| {
        let cycles = measured.as_ref().and_then(|measured| measured.of(dependence)).map(|found| found.gross);
        let (cycles, how) = match (cycles, sibling.predicted(dependence)) {
            (Some(cycles), _) => (cycles, "measured"),
            (None, cycles) => (cycles?, "predicted"),
        };
        Some(format!("{} {} ({how})", dependence.word(), number(cycles)))
    });
    let figures: Vec<String> = figures.collect();
    (!figures.is_empty()).then(|| format!("{}, which does this, takes {}", variant.name, figures.join(", ")))
}
