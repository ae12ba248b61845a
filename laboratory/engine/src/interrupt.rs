//! Ctrl-C: the first ends the current measurement and keeps its results; the second ends the process
//! immediately.

use std::io::Write;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Starts listening for SIGINT and SIGTERM. Further calls do nothing: with two sets of handlers, the second would take
/// the first signal for the second one.
pub fn listen() {
    if INTERRUPTED.get().is_some() {
        return;
    }
    let flag = INTERRUPTED.get_or_init(|| Arc::new(AtomicBool::new(false)));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // In this order, the second signal finds the flag set and ends the process.
        let armed = signal_hook::flag::register_conditional_shutdown(
            signal,
            i32::from(crate::failure::status::INTERRUPTED),
            Arc::clone(flag),
        )
        .and_then(|_| signal_hook::flag::register(signal, Arc::clone(flag)));
        if let Err(error) = armed {
            // Nothing depends on this message, so a failure to write it is ignored.
            let _lost = writeln!(
                std::io::stderr(),
                "carryline: cannot handle signal {signal}: {error}; an interrupt will lose the summary"
            );
        }
    }
}

/// True once the user has interrupted the command.
pub fn requested() -> bool {
    INTERRUPTED.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}
