//! Ctrl-C: the first ends the current measurement and keeps its results; the second ends the process immediately.

use std::io::Write;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Starts listening for SIGINT and SIGTERM.
pub fn listen() {
    let flag = INTERRUPTED.get_or_init(|| Arc::new(AtomicBool::new(false)));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // In this order a second signal meets a raised flag and ends the process.
        let armed = signal_hook::flag::register_conditional_shutdown(
            signal,
            i32::from(crate::failure::status::INTERRUPTED),
            Arc::clone(flag),
        )
        .and_then(|_| signal_hook::flag::register(signal, Arc::clone(flag)));
        if let Err(error) = armed {
            // What standard error does not take is lost: it decides nothing.
            let _lost = writeln!(
                std::io::stderr(),
                "carryline: cannot listen for signal {signal}: {error}; an interrupt will lose the summary"
            );
        }
    }
}

/// True once the user has interrupted.
pub fn requested() -> bool {
    INTERRUPTED.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}
