//! `--calibrate`: measuring the latencies that the code in question, and all of the collection, is made of.

use super::predict;
use crate::cli::Common;
use crate::output;
use carryline_chain::calibrate::{self, CalibrateError, Calibration, Clock, keys};
use carryline_chain::decode::{self, Stop};
use carryline_chain::table::HighBytes;
use carryline_chain::{Key, Latencies};
use carryline_engine::progress::Progress;
use carryline_machine::{clock, process};
use std::collections::BTreeSet;
use std::time::Duration;

/// How deep calls are followed: to a kernel and to what it shares with others, not into what panics.
const DEPTH: u32 = 2;

/// Adds every latency that occurs in the code at an address, and in what it calls. Code that cannot be read adds none.
fn collect(address: u64, depth: u32, seen: &mut BTreeSet<u64>, keys: &mut BTreeSet<Key>) {
    if !seen.insert(address) {
        return;
    }
    let Ok(image) = predict::code_at(address) else { return };
    let Ok(function) = decode::follow(&image) else { return };
    keys.extend(keys::of_function(&function, HighBytes::Merged));
    for stop in function.stops.iter().filter(|_| depth > 0) {
        let Stop::Call(offset) = stop else { continue };
        let called = function.index_of(function.entry.wrapping_add_signed(*offset));
        if let Some(call) = called.map(|index| &function.instructions[index]) {
            let target = function.offset(call.near_branch_target());
            collect(address.wrapping_add_signed(target), depth - 1, seen, keys);
        }
    }
}

/// Every latency that occurs in the code of a variant.
fn keys_of_collection() -> BTreeSet<Key> {
    let (mut seen, mut keys) = (BTreeSet::new(), BTreeSet::new());
    for variant in carryline_variants::all() {
        collect(predict::entry(variant), DEPTH, &mut seen, &mut keys);
    }
    keys
}

/// Measures them, and these besides, on a CPU if one is named.
fn calibrate(
    more: BTreeSet<Key>,
    cpu: Option<usize>,
    progress: &Progress,
) -> Result<Calibration, CalibrateError> {
    let keys: BTreeSet<Key> = keys_of_collection().into_iter().chain(more).collect();
    let keys: Vec<Key> = keys.into_iter().collect();
    // In a separate thread, because the affinity persists.
    let measure = || {
        let _measured_all_the_same = cpu.map(process::pin);
        let clock = Clock { start: clock::start, stop: clock::stop, overhead_ticks: clock::overhead_ticks() };
        calibrate::calibrate(&keys, clock, &mut |done, all| {
            progress.say(format!("measuring latencies ({done} of {all})"));
        })
    };
    std::thread::scope(|scope| match scope.spawn(measure).join() {
        Ok(found) => found,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// What a calibration takes, roughly.
const EXPECTED: Duration = Duration::from_secs(4);

/// Measures, and lays what was measured over the table. Where nothing can be measured, or the method's own check fails, a
/// remark says so and the table stands alone.
pub fn overlay(
    latencies: &mut Latencies,
    keys: BTreeSet<Key>,
    cpu: Option<usize>,
    common: &Common,
) -> Option<Calibration> {
    let progress = Progress::new(EXPECTED, common.quiet);
    let found = calibrate(keys, cpu, &progress);
    progress.finish();
    match found {
        Err(error) => {
            output::note(&error.to_string(), common);
            None
        }
        Ok(calibration) => {
            let problems = calibration.problems();
            match problems.is_empty() {
                true => latencies.overlay(calibration.overlay()),
                false => {
                    let why = problems.join("; ");
                    output::note(&format!("{why}: the measured latencies are not used"), common);
                }
            }
            Some(calibration)
        }
    }
}

#[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn every_latency_of_the_collection_is_measured_or_left_out_with_a_reason() {
        let keys = keys_of_collection();
        assert!(keys.len() > 100, "{}", keys.len());
        let calibration = match calibrate(BTreeSet::new(), None, &Progress::new(Duration::from_secs(5), true))
        {
            Ok(calibration) => calibration,
            Err(CalibrateError::Forbidden(_)) => return,
            Err(error) => panic!("{error}"),
        };
        let measured = calibration.measured.iter().map(|measured| &measured.key);
        let answered: BTreeSet<&Key> =
            measured.chain(calibration.left_out.iter().map(|(key, _)| key)).collect();
        assert_eq!(answered, keys.iter().collect());
    }
}
