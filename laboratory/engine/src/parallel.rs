//! Parallel work.

use rayon::ThreadPoolBuilder;
use std::sync::Once;
use std::thread::{self, Builder};

/// Makes parallel iterators fall back to the calling thread if no threads can be started, for example for
/// lack of memory. Must be called before the first parallel iterator, which would panic instead.
pub fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // The pool can be built only once, so other threads test whether there is enough memory.
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
