use super::*;

fn figures(pairs: &[(&str, f64, f64)]) -> Figures {
    let mut figures = Figures::default();
    for (name, value, floor) in pairs {
        // Replicates that differ by a tenth of a percent.
        let samples = (0..5).map(|r| vec![value * (1.0 + 0.0005 * f64::from(r - 2)); 8]).collect();
        figures.add(*name, Figure::sampled(Unit::Ticks, samples, Some("one"), *floor, 1));
    }
    figures
}

fn verdict(rule: Rule, figures: &Figures) -> ClaimVerdict {
    rule.judge(figures, ClaimVerdict::DoesNotHoldHere, 1).verdict
}

#[test]
fn the_verdict_follows_from_ratio_and_noise_floor() {
    let figures = figures(&[("slow", 300.0, 0.01), ("fast", 100.0, 0.01), ("near", 100.5, 0.01)]);
    let at_least = |left, right, ratio| verdict(Rule::at_least(left, right, ratio), &figures);
    assert_eq!(at_least("slow", "fast", 2.0), ClaimVerdict::Holds);
    assert_eq!(at_least("slow", "fast", 4.0), ClaimVerdict::DoesNotHoldHere);
    assert_eq!(at_least("fast", "slow", 1.0), ClaimVerdict::Reversed);
    assert_eq!(at_least("slow", "fast", 3.0), ClaimVerdict::Undecided);
    // A difference of half a percent is within the noise floor of one percent, however narrow the
    // intervals.
    assert_eq!(at_least("near", "fast", 1.0), ClaimVerdict::Undecided);
    assert_eq!(verdict(Rule::at_most("slow", "fast", 1.0), &figures), ClaimVerdict::Reversed);
    assert_eq!(verdict(Rule::between("near", "fast", 0.9, 1.1), &figures), ClaimVerdict::Holds);
    assert_eq!(verdict(Rule::value_at_least("slow", 200.0), &figures), ClaimVerdict::Holds);
    assert_eq!(verdict(Rule::value_at_most("slow", 200.0), &figures), ClaimVerdict::DoesNotHoldHere);
}

#[test]
fn what_no_machine_can_change_fails() {
    let figures = figures(&[("slow", 300.0, 0.01), ("fast", 100.0, 0.01)]);
    const RULE: Rule = Rule::at_least("slow", "fast", 4.0);
    for rule in [RULE, Rule::value_at_most("slow", 200.0), Rule::All(&[RULE])] {
        let judged = rule.judge(&figures, ClaimVerdict::Fails, 1);
        assert_eq!(judged.verdict, ClaimVerdict::Fails);
        assert!(judged.why.ends_with(": fails"), "{}", judged.why);
    }
}

#[test]
fn a_missing_figure_gives_a_verdict_with_the_reason() {
    let mut figures = figures(&[("slow", 300.0, 0.01)]);
    figures.missing("fast", "one CPU alone");
    let judged = Rule::at_least("slow", "fast", 2.0).judge(&figures, ClaimVerdict::DoesNotHoldHere, 1);
    assert_eq!(judged.verdict, ClaimVerdict::CannotBeMeasured);
    assert!(judged.why.contains("one CPU alone"), "{}", judged.why);
    let judged = Rule::value_at_most("none", 1.0).judge(&figures, ClaimVerdict::DoesNotHoldHere, 1);
    assert!(judged.why.contains("'none'"), "{}", judged.why);
}

#[test]
fn the_worst_of_many_rules_decides() {
    const HOLDS: Rule = Rule::at_least("slow", "fast", 2.0);
    const FAILS: Rule = Rule::at_least("slow", "fast", 4.0);
    const REVERSED: Rule = Rule::at_least("fast", "slow", 1.0);
    const UNDECIDED: Rule = Rule::at_least("slow", "fast", 3.0);
    const MISSING: Rule = Rule::value_at_least("none", 1.0);
    let figures = figures(&[("slow", 300.0, 0.01), ("fast", 100.0, 0.01)]);
    for (rules, wanted) in [
        (&[HOLDS, HOLDS][..], ClaimVerdict::Holds),
        (&[HOLDS, FAILS, UNDECIDED], ClaimVerdict::DoesNotHoldHere),
        (&[HOLDS, REVERSED], ClaimVerdict::DoesNotHoldHere),
        (&[REVERSED, REVERSED], ClaimVerdict::Reversed),
        (&[HOLDS, UNDECIDED, MISSING], ClaimVerdict::Undecided),
        (&[HOLDS, MISSING], ClaimVerdict::CannotBeMeasured),
    ] {
        let all = all(
            rules.iter().map(|rule| rule.judge(&figures, ClaimVerdict::DoesNotHoldHere, 1)).collect(),
            ClaimVerdict::DoesNotHoldHere,
        );
        assert_eq!(all.verdict, wanted, "{}", all.why);
    }
}

#[test]
fn the_explanation_cites_both_figures_and_the_noise_floor() {
    let figures = figures(&[("slow", 300.0, 0.012), ("fast", 100.0, 0.01)]);
    let judged = Rule::at_least("slow", "fast", 2.0).judge(&figures, ClaimVerdict::DoesNotHoldHere, 1);
    for part in ["'slow' 300 ticks", "'fast' 100 ticks", "3.00", "1.2 %", "holds"] {
        assert!(judged.why.contains(part), "no {part} in: {}", judged.why);
    }
    assert_eq!(Rule::at_least("slow", "fast", 2.0).words(), "'slow' over 'fast' is at least 2");
}

#[test]
fn counts_are_whole_numbers_with_their_unit() {
    let shown = |unit, value| with_interval(&Figure::exact(unit, value).expect("a number"));
    assert_eq!(shown(Unit::Faults, 1.0), "1 fault");
    assert_eq!(shown(Unit::Draws, 0.0), "0 draws");
    assert_eq!(shown(Unit::Percent, 49.74), "49.7 %");
    assert_eq!(shown(Unit::None, 1.0), "1");
}

#[test]
fn a_denominator_that_may_be_zero_gives_no_upper_bound() {
    let mut figures = Figures::default();
    let samples: Vec<Vec<f64>> = [-0.1, 0.1, 0.2, 0.1, 0.0].map(|v| vec![v; 8]).into();
    figures.add("nothing", Figure::sampled(Unit::Ticks, samples, None, 0.01, 1));
    figures.add("some", Figure::exact(Unit::Ticks, 5.0));
    assert_eq!(verdict(Rule::at_most("some", "nothing", 100.0), &figures), ClaimVerdict::Undecided);
}
