//! Work on several CPUs at once.

use rayon::ThreadPoolBuilder;
use std::sync::Once;
use std::thread::{self, Builder};

/// Sees to it that parallel iterators work where no threads can be had, as with hardly any memory: then they use the calling
/// one. To be called before the first of them, which would panic there.
pub fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // The pool can be built only once, so whether there is memory for its threads is tried with others.
        let count = thread::available_parallelism().map_or(1, usize::from);
        let tried: Vec<_> = (0..count).map(|_| Builder::new().spawn(|| {})).collect();
        let enough = tried.iter().all(Result::is_ok);
        for thread in tried.into_iter().flatten() {
            let _ended = thread.join();
        }
        if !enough {
            let _built = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
        }
    });
}
