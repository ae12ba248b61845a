//! `--calibrate`: measures the latencies of the code in question and of the whole collection.

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

/// How deep calls are followed: to a kernel and to helpers that it shares, but not into panics.
const DEPTH: u32 = 2;

/// Collects the latencies that occur in the code at an address and in its callees. Unreadable code has none.
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

/// Every latency that occurs in a variant's code.
pub fn keys_of_collection() -> BTreeSet<Key> {
    let (mut seen, mut keys) = (BTreeSet::new(), BTreeSet::new());
    for variant in carryline_variants::all() {
        collect(predict::entry(variant), DEPTH, &mut seen, &mut keys);
    }
    keys
}

/// Measures the latencies of the collection and `more`, on a CPU if one is given.
fn calibrate(
    more: BTreeSet<Key>,
    cpu: Option<usize>,
    progress: &Progress,
) -> Result<Calibration, CalibrateError> {
    let keys: BTreeSet<Key> = keys_of_collection().into_iter().chain(more).collect();
    let keys: Vec<Key> = keys.into_iter().collect();
    pinned(cpu, |clock| {
        calibrate::calibrate(&keys, clock, &mut |done, all| {
            progress.say(format!("measuring latencies ({done} of {all})"));
        })
    })
}

/// Measures on a CPU if one is given, in a separate thread, because the affinity persists.
pub fn pinned<T: Send>(cpu: Option<usize>, measure: impl FnOnce(Clock) -> T + Send) -> T {
    let pinned = || {
        // Measures in any case.
        let _may_fail = cpu.map(process::pin);
        measure(Clock { start: clock::start, stop: clock::stop, overhead_ticks: clock::overhead_ticks() })
    };
    std::thread::scope(|scope| match scope.spawn(pinned).join() {
        Ok(found) => found,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// The approximate time of a calibration.
const EXPECTED: Duration = Duration::from_secs(4);

/// Measures latencies and overlays them on the table. If nothing can be measured, or the method's own check
/// fails, prints a note and leaves the table unchanged.
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
    fn every_latency_is_measured_or_left_out_with_a_reason() {
        let keys = keys_of_collection();
        assert!(keys.len() > 100, "{}", keys.len());
        let calibration = match calibrate(BTreeSet::new(), None, &Progress::new(Duration::from_secs(5), true))
        {
            Ok(calibration) => calibration,
            Err(CalibrateError::Forbidden(_)) => return,
            Err(error) => panic!("{error}"),
        };
        let measured = calibration.measured.iter().map(|measured| &measured.key);
        let accounted: BTreeSet<&Key> =
            measured.chain(calibration.left_out.iter().map(|(key, _)| key)).collect();
        assert_eq!(accounted, keys.iter().collect());
    }
}
