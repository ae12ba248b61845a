//! A probe that fails as its parameters say: with it the tests check that a crash, a hang or an impossibility
//! costs only its own row.

use carryline_engine::probe::{Impossible, Probe, Rounds, Series, Setup, time};
use carryline_machine::clock;
use carryline_verification::status::StatusPage;
use serde::Deserialize;

/// See the module.
pub static PROBE: Probe = Probe { name: "planted", what: "nothing: it fails as its parameters say", start };

/// The parameters of the probe.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// `crash`, `hang` or `impossible`; anything else succeeds.
    fate: String,
}

fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    let Parameters { fate } = setup.parameters()?;
    if fate == "impossible" {
        return Err(Impossible("this was planted".to_owned()));
    }
    Ok(Box::new(Planted { fate, rounds: 0, overhead_ticks: clock::overhead_ticks() }))
}

struct Planted {
    fate: String,
    rounds: u32,
    overhead_ticks: f64,
}

impl Rounds for Planted {
    fn series(&self) -> Vec<Series> {
        ["one", "one again", "two"].map(Series::ticks).into()
    }

    fn twins(&self) -> Vec<(usize, usize)> {
        vec![(0, 1)]
    }

    fn round(&mut self, _status: &StatusPage) -> Result<Vec<f64>, Impossible> {
        self.rounds += 1;
        match self.fate.as_str() {
            "crash" if self.rounds > 2 => std::process::abort(),
            "hang" if self.rounds > 2 => loop {
                std::thread::sleep(std::time::Duration::from_secs(1));
            },
            _ => {}
        }
        let turns = |n: u32| {
            time(self.overhead_ticks, || {
                for turn in 0..n {
                    std::hint::black_box(turn);
                }
            })
        };
        Ok(vec![turns(1000), turns(1000), f64::NAN])
    }

    fn facts(&mut self) -> serde_json::Value {
        serde_json::json!({ "rounds": self.rounds })
    }

    fn most_rounds(&self) -> u32 {
        8
    }
}
