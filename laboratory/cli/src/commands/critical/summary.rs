//! The summary: predictions next to measurements, the use of ports, and a sentence that names the bottleneck.

use super::measured::Measured;
use super::predict::Prediction;
use super::traced::Overlapping;
use carryline_chain::Analysis;
use carryline_chain::analysis::LoopBound;
use carryline_chain::effects::Effects;
use carryline_chain::table::Table as Microarchitecture;
use carryline_chain::window::Binds;
use carryline_conditions::Dependence;
use carryline_report::table::{ColumnKind, Emphasis, Table};
use carryline_report::units::{number, percent_signed};

/// A port is among the busiest if it starts at least this share of the operations of the busiest one.
const BUSY: f64 = 0.98;

/// Bounds, predictions and measurements by dependence.
pub fn calls(prediction: &Prediction, measured: Option<&Measured>, is_guess: bool) -> Table {
    let mut table = Table::new([
        ("calls", ColumnKind::Name),
        (if is_guess { "estimate" } else { "bound" }, ColumnKind::Number),
        ("predicted", ColumnKind::Number),
        ("measured", ColumnKind::Number),
        ("off", ColumnKind::Number),
        ("null call", ColumnKind::Number),
        ("bound by", ColumnKind::Name),
    ]);
    for dependence in Dependence::ALL {
        let found = measured.and_then(|measured| measured.of(dependence));
        let predicted = prediction.predicted(dependence);
        let off =
            predicted.zip(found).and_then(|(predicted, found)| off(dependence, predicted, found.compared()));
        let binds = prediction.overlapping.as_ref().and_then(|calls| calls.of(dependence)?.binds);
        let figure = |cycles: Option<f64>| cycles.map_or("-".to_owned(), number);
        table.push(
            vec![
                dependence.word().to_owned(),
                figure(prediction.bound(dependence)),
                figure(predicted),
                figure(found.map(|found| found.compared().max(0.0))),
                off.map_or("-".to_owned(), percent_signed),
                figure(found.map(|found| found.null)),
                binds.map_or("-".to_owned(), |(part, _)| part.word().to_owned()),
            ],
            Emphasis::None,
        );
    }
    table
}

/// The error of a prediction, as a share of the measurement. `None` for a fenced call that takes less than
/// predicted: its chain may overlap with the null call's return.
pub fn off(dependence: Dependence, predicted: f64, measured: f64) -> Option<f64> {
    let is_known = measured > 0.0 && (dependence != Dependence::Fenced || measured >= predicted);
    is_known.then(|| predicted / measured - 1.0)
}

/// True if fenced calls take less than their bound.
pub fn is_below_bound(prediction: &Prediction, measured: &Measured) -> bool {
    let found = measured.of(Dependence::Fenced).map(|found| found.compared());
    prediction.bound(Dependence::Fenced).zip(found).is_some_and(|(bound, net)| net < bound)
}

/// Operations of a call by port; `None` if nothing was simulated.
pub fn ports(prediction: &Prediction, microarchitecture: &Microarchitecture) -> Option<Table> {
    let found = prediction.overlapping.as_ref()?;
    let used = microarchitecture.port_names.iter().zip(&found.independent.simulated.ports);
    let used: Vec<(&String, &f64)> = used.filter(|(_, count)| **count > 0.0).collect();
    let most = used.iter().map(|(_, count)| **count).fold(0.0, f64::max);
    let mut columns = vec![("port".to_owned(), ColumnKind::Name)];
    columns.extend(used.iter().map(|(name, _)| ((*name).clone(), ColumnKind::Number)));
    let mut table = Table::new(columns);
    let counts = used.iter().map(|(_, count)| {
        let is_busiest = most > 0.0 && **count >= most * BUSY;
        format!("{}{}", number(**count), if is_busiest { "*" } else { "" })
    });
    table.push(std::iter::once("operations a call".to_owned()).chain(counts).collect(), Emphasis::None);
    Some(table)
}

/// The dependence to summarise and the other one: chained if chained calls are bound by their chain, which is
/// also returned.
fn main_calls(found: &Overlapping) -> (bool, Dependence, Dependence) {
    match found.chained.binds.is_some_and(|(part, _)| part == Binds::Chain) {
        true => (true, Dependence::Chained, Dependence::Independent),
        false => (false, Dependence::Independent, Dependence::Chained),
    }
}

/// The bottleneck of these calls.
pub fn main_binding(found: &Overlapping) -> Option<Binds> {
    let (_, dependence, _) = main_calls(found);
    found.of(dependence).and_then(|calls| calls.binds).map(|(part, _)| part)
}

/// Whether the busiest ports start an instruction, by its index in the function.
pub fn busy(prediction: &Prediction, microarchitecture: &Microarchitecture) -> Vec<bool> {
    let counts = prediction.overlapping.as_ref().map(|found| found.independent.simulated.ports.as_slice());
    let counts = counts.unwrap_or_default();
    let most = counts.iter().copied().fold(0.0, f64::max);
    let is_busiest = |bit: usize| counts.get(bit).is_some_and(|count| most > 0.0 && *count >= most * BUSY);
    let busiest = (0..counts.len()).filter(|bit| is_busiest(*bit)).fold(0_u32, |ports, bit| ports | 1 << bit);
    let starts = |effects: &Effects| {
        !effects.is_idiom && microarchitecture.work(effects).iter().any(|work| work.ports & busiest != 0)
    };
    prediction.call.effects.iter().map(starts).collect()
}

/// Whether the busiest ports start an instruction of a loop, by its index in the function.
pub fn busy_in_loop(code: &Analysis, found: &LoopBound, microarchitecture: &Microarchitecture) -> Vec<bool> {
    let is_busiest = |ports: u32| {
        microarchitecture.names_of(ports).iter().all(|name| found.throughput.ports.contains(name))
    };
    let starts = |effects: &Effects| {
        !effects.is_idiom && microarchitecture.work(effects).iter().any(|work| is_busiest(work.ports))
    };
    code.effects.iter().map(starts).collect()
}

/// The bottleneck of a loop's iteration, in a sentence.
pub fn of_loop(found: &LoopBound) -> String {
    let (part, cycles) = match found.binding() {
        "recurrence" => ("the dependences carried between iterations".to_owned(), found.recurrence_cycles),
        _ => (format!("the {}", found.throughput.binding()), found.throughput.cycles),
    };
    let (recurrence, throughput) = (found.recurrence_cycles, found.throughput.cycles);
    format!(
        "An iteration is bound by {part}: {} cycles ({} carried, {} of work).",
        number(cycles),
        number(recurrence),
        number(throughput)
    )
}

/// The bottleneck of chained calls if their chain binds, otherwise of independent calls, in a sentence.
pub fn sentence(prediction: &Prediction, measured: Option<&Measured>) -> Option<String> {
    let found = prediction.overlapping.as_ref()?;
    let (is_chain, dependence, other) = main_calls(found);
    let main = found.of(dependence)?;
    let predicted = prediction.predicted(dependence)?;
    let part = match (main.binds.map(|(part, _)| part), prediction.signature.chained) {
        (Some(Binds::Chain), Some(name)) if is_chain => format!("the chain through {name}"),
        (Some(Binds::Chain), _) => "the chains within each call".to_owned(),
        (Some(Binds::Ports), _) => "the ports".to_owned(),
        (Some(Binds::Issue), _) => "the issue width".to_owned(),
        (Some(Binds::FrontEnd), _) => "the front end, which follows taken branches".to_owned(),
        (Some(Binds::Window), _) => "the window, which holds too little of the following calls".to_owned(),
        (None, _) => "no single part of the core".to_owned(),
    };
    let mut text = format!("{} calls are bound by {part}: {} cycles", dependence.word(), number(predicted));
    if let Some(cycles) = measured.and_then(|measured| measured.of(dependence)).map(|found| found.compared())
    {
        let off = off(dependence, predicted, cycles)
            .map_or(String::new(), |off| format!(" ({})", percent_signed(-off / (1.0 + off))));
        text.push_str(&format!("; measured {}{off}", number(cycles)));
    }
    text.push('.');
    if let Some((_, without)) = main.binds {
        text.push_str(&format!(" Without this bound they would take {}", number(without)));
        match prediction.predicted(other) {
            Some(cycles) => text.push_str(&format!("; {} calls take {}.", other.word(), number(cycles))),
            None => text.push('.'),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_shares_of_the_measurement() {
        assert_eq!(off(Dependence::Chained, 110.0, 100.0).map(|off| (off * 100.0).round()), Some(10.0));
        assert_eq!(off(Dependence::Independent, 90.0, 100.0).map(|off| (off * 100.0).round()), Some(-10.0));
        assert_eq!(off(Dependence::Fenced, 12.0, 10.0), None);
        assert_eq!(off(Dependence::Chained, 12.0, 0.0), None);
        assert_eq!(percent_signed(0.05), "+5 %");
    }
}
