//! What tests set a probe up with.

use carryline_engine::probe::Setup;
use carryline_machine::environment::CacheSizes;
use carryline_verification::status::StatusPage;

/// The caches of a small machine: what is sized by them is quickly filled.
const CACHES: CacheSizes = CacheSizes { l1: 32 << 10, l2: 256 << 10, l3: 1 << 20 };

/// What the tests set a probe up with; they look at what is made and not at times.
pub(crate) fn setup<'a>(parameters: &'a serde_json::Value, status: &'a StatusPage) -> Setup<'a> {
    Setup { parameters, seed: 7, replicate: 0, caches: CACHES, cpu: None, ticks_per_ns: 1.0, status }
}
