//! Made-up results.

use carryline_conditions::Condition;
use carryline_conditions::sizes::Sizes;
use carryline_machine::environment::Level;
use carryline_results::gather::{Gathered, Replicate, Situation};
use carryline_results::round::Round;
use carryline_results::{Limit, Observed};
use carryline_variants::Family;

/// A machine.
pub fn environment() -> serde_json::Value {
    serde_json::from_str(include_str!("../environment.json")).expect("JSON")
}

/// What it allows.
pub fn limit() -> Limit {
    Limit {
        level: Level::L1,
        buffer_bytes: 24 << 10,
        load: 200.0,
        store: 100.0,
        nt_store: 30.0,
        load_by: None,
        store_by: None,
    }
}

/// Variants with their ticks, hot and independent, in five replicates that differ by a part in a thousand.
pub fn gathered(family: Family, size: &str, times: &[(&str, f64)]) -> Gathered {
    let sizes = Sizes::parse_list(size).expect("a size").remove(0);
    let bytes = sizes.mean();
    let situation = Situation {
        name: format!("{family} {size} hot independent"),
        family,
        condition: Condition { sizes, ..Condition::plain(0) },
        subjects: times.iter().map(|(name, _)| (*name).to_owned()).collect(),
        baseline: Some(0),
        twins: vec![0],
        weight: 1.0,
    };
    let mut gathered = Gathered::new(situation);
    for replicate in 0..5 {
        let wobble = |at: usize| 1.0 + 0.001 * ((replicate * 3 + at * 5) % 7) as f64 / 7.0;
        let mut samples: Vec<f64> =
            times.iter().enumerate().map(|(at, (_, ticks))| ticks * wobble(at)).collect();
        samples.push(times[0].1 * wobble(times.len()));
        let round = Round {
            number: 0,
            multiplier: 1,
            samples,
            null_ticks: 4.0,
            ticks_per_cycle: 0.6,
            counted: false,
        };
        let observed = Observed { size_mean: bytes, level: Level::L1, ..Observed::default() };
        let rounds = vec![round; 4];
        gathered.replicates.push(Replicate { rounds, observed: Some(observed), steady: true });
    }
    gathered
}
