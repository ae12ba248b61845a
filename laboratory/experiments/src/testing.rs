//! The setup of probes in tests.

use carryline_engine::probe::Setup;
use carryline_machine::environment::CacheSizes;
use carryline_verification::status::StatusPage;

/// The caches of a small machine, so that buffers sized by them fill quickly.
const CACHES: CacheSizes = CacheSizes { l1: 32 << 10, l2: 256 << 10, l3: 1 << 20, l3_held: None };

/// The setup for tests, which check what a probe does and not its times.
pub(crate) fn setup<'a>(parameters: &'a serde_json::Value, status: &'a StatusPage) -> Setup<'a> {
    Setup { parameters, seed: 7, replicate: 0, caches: CACHES, cpu: None, ticks_per_ns: 1.0, status }
}
