//! Traces a call in a worker process, and simulates successive calls like it.

use crate::cli::{Critical, Moves};
use carryline_chain::trace::{Trace, TraceStep};
use carryline_chain::window::{self, Binds, Calls, Ops, Simulated};
use carryline_chain::{Latencies, Signature};
use carryline_conditions::Dependence;
use carryline_engine::failure::Failure;
use carryline_engine::protocol::{TraceAnswer, TraceJob};
use carryline_engine::{prove, session};
use carryline_variants::Variant;
use carryline_variants::c_library::Thresholds;
use carryline_verification::subject::SubjectId;
use carryline_verification::trace::Executed;

/// Simulations of successive calls.
pub struct Overlapping {
    /// Each call waits for the previous one.
    pub chained: Following,
    /// No call waits.
    pub independent: Following,
}

/// A simulation of successive calls.
pub struct Following {
    /// The instructions of a call and of the calling loop.
    pub ops: Ops,
    /// The result.
    pub simulated: Simulated,
    /// The bottleneck, and the cycles of a call without it.
    pub binds: Option<(Binds, f64)>,
}

impl Overlapping {
    /// The simulation of this dependence; fenced calls do not overlap.
    pub fn of(&self, dependence: Dependence) -> Option<&Following> {
        match dependence {
            Dependence::Chained => Some(&self.chained),
            Dependence::Independent => Some(&self.independent),
            Dependence::Fenced => None,
        }
    }
}

/// Simulates successive calls like the traced one.
pub fn overlapping(
    trace: &Trace,
    signature: &Signature,
    size: usize,
    args: &Critical,
    latencies: &Latencies,
) -> Option<Overlapping> {
    if trace.is_cut {
        return None;
    }
    let table = latencies.table();
    let eliminates = args.moves.map_or(table.eliminates_moves, |moves| moves == Moves::Eliminated);
    let ports = table.port_names.len();
    let following = |calls: Calls| {
        let trace = window::called(trace, signature, calls, size).ok()?;
        let ops = Ops::of_trace(&trace, latencies, eliminates);
        let simulated = window::simulate(&ops, &table.core, ports, window::Limits::ALL);
        let binds = window::binds(&ops, &table.core, ports, simulated.cycles);
        Some(Following { ops, simulated, binds })
    };
    Some(Overlapping { chained: following(Calls::Chained)?, independent: following(Calls::Independent)? })
}

/// Traces a call of the variant in a worker process; the inner error is the reason why there is no trace.
pub fn traced(variant: &Variant, id: &SubjectId, size: usize) -> Result<Result<Trace, String>, Failure> {
    if let Some(reason) = prove::lacking(variant) {
        return Ok(Err(reason));
    }
    let thresholds = variant.thresholds().unwrap_or(Thresholds::AsInstalled);
    let job = TraceJob { subject: id.clone(), len: size };
    let mut outcome = None;
    let supervisor = session::supervisor(10)?;
    let end =
        supervisor.run_with(thresholds, job, 0, &carryline_engine::interrupt::requested, &mut |answer| {
            outcome = Some(match answer {
                TraceAnswer::Traced(executed) => Ok(trace(executed)),
                TraceAnswer::Failed { reason } => Err(reason),
            });
        })?;
    Ok(outcome.unwrap_or_else(|| Err(format!("the worker process ended {}, without an answer", end.how()))))
}

/// Converts the worker's record for the analysis.
fn trace(executed: Executed) -> Trace {
    let step = |step: &[u64; 17]| {
        let mut registers = [0; 16];
        registers.copy_from_slice(&step[1..]);
        TraceStep { address: step[0], registers }
    };
    Trace {
        steps: executed.steps.iter().map(step).collect(),
        code: executed.code.into_iter().collect(),
        is_cut: executed.is_cut,
    }
}
