use super::*;
use carryline_variants::Variant;

fn summary_of(variant: &'static Variant, depth: Depth, seed: u64) -> Result<ProofSummary, Failure> {
    let subject = Subject::of_variant(variant);
    let status = StatusPage::create().expect("a page");
    prove(&subject, depth, seed, &status, 0).map(|(verified, summary)| {
        assert_eq!(verified.subject().name, subject.name);
        summary
    })
}

#[test]
fn every_variant_that_runs_here_is_proved() {
    for variant in carryline_variants::all().filter(|v| v.runs_here() && v.known_bad.is_none()) {
        for depth in [Depth::Full, Depth::Replicate] {
            let summary = summary_of(variant, depth, 1)
                .unwrap_or_else(|e| panic!("{} {}: {e}", variant.family(), variant.name));
            println!(
                "{:14} {:16} {depth:?}: {} calls, {} ms {:?}",
                variant.family(),
                variant.name,
                summary.calls,
                summary.elapsed_ns / 1_000_000,
                summary.notes
            );
        }
    }
}
