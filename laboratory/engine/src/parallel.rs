//! Work on several CPUs at once.

use rayon::ThreadPoolBuilder;
use std::sync::Once;

/// Sees to it that parallel iterators work where no threads can be had, as with hardly any memory: then they use the calling
/// one. To be called before the first of them, which would panic there.
pub fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // The pool of all can be built only once, so whether that works is tried with another.
        if ThreadPoolBuilder::new().build().is_err() {
            let _built = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
        }
    });
}
