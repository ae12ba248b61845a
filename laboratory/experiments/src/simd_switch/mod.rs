//! simd-switch: whether vector registers in use slow down task switches, and the size of copy that repays it.
//!
//! Two threads on one CPU pass a byte back and forth with their vector state clean or dirty. In 2000 the
//! state was switched only when it was used; kernels now save and restore at every switch what the CPU
//! reports as in use. Also measured are the instructions that do this, as far as user mode may execute them,
//! and copies by integer and by wide registers, whose difference must repay the added cost of a switch.

mod claims;
mod probe;

use super::{Basis, Context, Experiment, In, Measured, Outcome, Probed};
use carryline_conditions::Condition;
use carryline_engine::failure::Failure;
use carryline_results::claims::{Datum, Figure, Figures, TableResult, Unit, crossing, differences};
use carryline_results::sources::TORVALDS_2000;
use carryline_variants::Family;
use claims::CLAIMS;
use probe::{Facts, INSTRUCTIONS, PARTS, PIPE, STATES, saving, setting, switch};

/// See the module.
pub static EXPERIMENT: Experiment = Experiment {
    id: "simd-switch",
    source: &TORVALDS_2000,
    title: "Task switches with vector registers in use",
    weight: 0.8,
    claims: CLAIMS,
    probe: Some(&probe::PROBE),
    run,
};

/// The sizes of the copies, in bytes.
const SIZES: [u64; 10] = [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768];
const INTEGER: &str = "int64_registers";
const REP: &str = "rep_movsb";
/// The wide variants, the widest first.
const WIDE: [&str; 3] = ["avx512", "avx2", "sse2"];

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    let probed = context.probe("simd_switch", &(), 0.55)?;
    if let Some(reason) = probed.failed() {
        return Err(context.impossible(reason));
    }
    for state in STATES {
        outcome.figures.add_or_reason(switch(state), probed.ns(&switch(state)));
    }
    let widest = ["zmm", "ymm", "xmm"].into_iter().find(|state| probed.ns(&switch(state)).is_ok());
    let widest = widest.unwrap_or("xmm");
    outcome.figures.add_or_reason("switch, widest", probed.ns(&switch(widest)));
    outcome.tables.push(switches(context, &probed)?);
    outcome.tables.push(savings(&mut outcome.figures, &probed));
    if let Some(reason) = &probed.reason {
        outcome.notes.push(format!("Partly measured: {reason}."));
    }
    slowdown(&mut outcome, widest, context.seed);
    repay(context, &mut outcome)?;
    outcome.notes.push(format!(
        "The widest registers here are {widest}. The kernel's own XSAVES and XRSTORS are privileged, so \
         they are not timed separately. The document gives no figures for switches; its statement about \
         one task is applied to both: here both have their registers in the same state."
    ));
    Ok(outcome)
}

/// The components that the CPU reported as in use.
fn in_use(facts: Option<&Facts>, state: &str) -> String {
    let Some(bits) = facts.and_then(|facts| facts.in_use.get(state)) else {
        return "the CPU does not say".to_owned();
    };
    let parts = PARTS.iter().filter(|(name, bit)| !name.starts_with("all") && bits & bit != 0);
    let names: Vec<&str> = parts.map(|(name, _)| *name).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

fn switches(context: &Context<'_>, probed: &Probed) -> Result<TableResult, Failure> {
    let mut table = TableResult::new(
        "A switch: a byte through a pipe to another thread on the same CPU, minus the preparation of the state",
        &[
            ("registers written", ""),
            ("in use, according to the CPU", ""),
            ("a switch", "ns"),
            ("a switch", "cycles"),
            ("times clean", ""),
            ("making the state", "ns"),
        ],
    );
    let facts: Option<Facts> = probed.first_facts()?;
    let clean = probed.ns(&switch(STATES[0]));
    for state in STATES {
        let ns = probed.ns(&switch(state));
        let cycles = probed.cycles(&switch(state));
        let times = ns
            .as_ref()
            .ok()
            .zip(clean.as_ref().ok())
            .and_then(|(ns, clean)| ns.ratio_to(clean, context.seed));
        table.push(vec![
            state.into(),
            in_use(facts.as_ref(), state).into(),
            ns.as_ref().ok().into(),
            cycles.as_ref().ok().into(),
            times.into(),
            probed.ns(&setting(state)).as_ref().ok().into(),
        ]);
    }
    let (ns, cycles) = (probed.ns(PIPE), probed.cycles(PIPE));
    table.push(vec![
        "(a write and a read without a switch)".into(),
        "".into(),
        ns.as_ref().ok().into(),
        cycles.as_ref().ok().into(),
        Datum::None,
        Datum::None,
    ]);
    Ok(table)
}

/// The instructions that save and restore, by component; adds the figure that a claim names.
fn savings(figures: &mut Figures, probed: &Probed) -> TableResult {
    let mut columns = vec![("component, dirty unless marked clean", "")];
    columns.extend(INSTRUCTIONS.map(|instruction| (instruction, "cycles")));
    let mut table =
        TableResult::new("Saving and restoring in user mode, repeatedly to the same place", &columns);
    for (part, _) in PARTS {
        let mut row: Vec<Datum> = vec![part.into()];
        for instruction in INSTRUCTIONS {
            let cycles = probed.cycles(&saving(instruction, part));
            row.push(cycles.as_ref().ok().into());
            figures.add_or_reason(saving(instruction, part), cycles);
        }
        table.push(row);
    }
    let pair =
        figures.look("XSAVE all").and_then(|save| Ok((save.clone(), figures.look("XRSTOR all")?.clone())));
    figures.add_or_reason("save and restore, all", pair.and_then(|(save, restore)| sum(&save, &restore)));
    table
}

/// The sum of two figures of the same rounds.
fn sum(a: &Figure, b: &Figure) -> Result<Figure, String> {
    let samples =
        a.samples().iter().zip(b.samples()).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect());
    Figure::sampled(a.unit(), samples.collect(), None, a.floor().max(b.floor()), 1)
        .ok_or_else(|| "nothing was sampled".to_owned())
}

/// The added cost of a switch with the widest registers in use, or its upper bound.
fn slowdown(outcome: &mut Outcome, widest: &str, seed: u64) {
    let pair = outcome
        .figures
        .look("switch, widest")
        .and_then(|wide| Ok((wide.clone(), outcome.figures.look("switch, clean")?.clone())));
    let more = pair.and_then(|(wide, clean)| {
        let samples: Vec<Vec<f64>> = wide
            .samples()
            .iter()
            .zip(clean.samples())
            .map(|(wide, clean)| wide.iter().zip(clean).map(|(wide, clean)| wide - clean).collect())
            .collect();
        let floor_ns = wide.floor() * clean.value();
        let more = Figure::sampled(Unit::Ns, samples, None, 0.0, seed).ok_or("nothing was sampled")?;
        Ok::<_, String>((more, floor_ns))
    });
    let more = more.and_then(|(more, floor_ns)| {
        let estimate = more.estimate();
        let most = estimate.high.max(floor_ns);
        outcome.figures.add("slowdown at most", Figure::exact(Unit::Ns, most));
        let (said, sure) = (
            format!("A switch with {widest} in use costs {:.0} ns more", more.value()),
            estimate.low > floor_ns,
        );
        if sure {
            outcome.notes.push(format!(
                "{said} ({:.0} to {:.0}); the noise floor is {floor_ns:.0} ns.",
                estimate.low, estimate.high
            ));
            return Ok(more);
        }
        outcome
            .notes
            .push(format!("{said}, not significant: at most {most:.0} ns (noise floor {floor_ns:.0} ns)."));
        Err(format!("the switch is slower by at most {most:.0} ns, and perhaps by nothing"))
    });
    outcome.figures.add_or_reason("slowdown", more);
}

/// The size from which one wide copy gains as much as a switch costs more.
fn repay(context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Failure> {
    let variants: Vec<&str> = [INTEGER, REP]
        .into_iter()
        .chain(WIDE)
        .filter(|name| carryline_variants::find(Family::Copy, name).is_some())
        .collect();
    let situations = SIZES.map(|size| context.situation(Family::Copy, Condition::plain(size), &variants));
    let measured = context.measure(situations.into(), 0.4)?;
    let wide = WIDE.into_iter().find(|name| measured.time(0, name, Basis::Gross, In::Ns).is_ok());
    let wide = wide.unwrap_or("sse2");
    let slowdown = outcome.figures.look("slowdown").cloned();
    let most = outcome.figures.look("slowdown at most").cloned();
    let mut table = TableResult::new(
        format!("A copy, hot: the gain of {wide} over integer registers, and the added cost of a switch"),
        &[
            ("size", "bytes"),
            (INTEGER, "ns"),
            (REP, "ns"),
            (wide, "ns"),
            ("gained", "ns"),
            ("switches repaid by one copy", ""),
        ],
    );
    let time = |place: usize, name: &str| measured.time(place, name, Basis::Gross, In::Ns);
    for (place, size) in SIZES.into_iter().enumerate() {
        let (integer, wide) = (time(place, INTEGER), time(place, wide));
        let gained = integer.as_ref().ok().zip(wide.as_ref().ok()).map(|(a, b)| a.value() - b.value());
        let repaid = gained.zip(slowdown.as_ref().ok()).map(|(gained, slowdown)| gained / slowdown.value());
        table.push(vec![
            (size as f64).into(),
            integer.as_ref().ok().into(),
            time(place, REP).as_ref().ok().into(),
            wide.as_ref().ok().into(),
            gained.into(),
            repaid.into(),
        ]);
    }
    outcome.tables.push(table);
    let crossing_at = |narrow: &str, cost: &Result<Figure, String>| {
        cost.clone().and_then(|cost| crossing_of(&measured, [narrow, wide], &cost, context.seed))
    };
    for (name, narrow, cost) in [
        ("copy that repays a switch", INTEGER, &slowdown),
        ("copy that repays a switch at most", INTEGER, &most),
        ("copy that repays a switch at most, against rep", REP, &most),
    ] {
        let found = crossing_at(narrow, cost);
        outcome.notes.push(match &found {
            Ok(size) => {
                let estimate = size.estimate();
                format!(
                    "The {name} ({wide} for {narrow}): {:.0} bytes ({:.0} to {:.0}).",
                    size.value(),
                    estimate.low,
                    estimate.high
                )
            }
            Err(reason) => format!("The {name} ({wide} for {narrow}) is unknown: {reason}."),
        });
        outcome.figures.add_or_reason(name, found);
    }
    Ok(())
}

/// The size at which the gain of the wide copy over the narrow one equals the cost, interpolated.
fn crossing_of(
    measured: &Measured,
    [narrow, wide]: [&str; 2],
    cost: &Figure,
    seed: u64,
) -> Result<Figure, String> {
    let curve = |name: &str| -> Result<Vec<Figure>, String> {
        (0..SIZES.len()).map(|place| measured.time(place, name, Basis::Gross, In::Ns)).collect()
    };
    let (narrow, wide) = (curve(narrow)?, curve(wide)?);
    let gains = differences(&narrow.iter().collect::<Vec<_>>(), &wide.iter().collect::<Vec<_>>());
    let estimate = cost.estimate();
    // Gains and costs come from different processes, so the cost's median and interval bounds are combined
    // with the gains in turn.
    let costs = [estimate.median, estimate.low, estimate.high];
    let less = |gains: &[f64], cost: f64| gains.iter().map(|gain| gain - cost).collect::<Vec<f64>>();
    let curves: Vec<Vec<f64>> =
        gains.iter().zip(costs.into_iter().cycle()).map(|(gains, cost)| less(gains, cost)).collect();
    if curves.iter().all(|curve| curve.last().is_some_and(|last| *last < 0.0)) {
        return Err("the wide copy does not gain that much at any size up to 32768 bytes".to_owned());
    }
    let points = SIZES.map(|size| size as f64);
    if curves.iter().flatten().all(|more| *more > 0.0) {
        // Even the smallest size measured repays it; a smaller one might too.
        return Figure::exact(Unit::Bytes, points[0]).ok_or_else(|| "no size was measured".to_owned());
    }
    crossing(&points, &curves, Unit::Bytes, seed)
        .map_err(|reason| format!("of the gain and the cost, from 64 to 32768 bytes, {reason}"))
}
