//! Parallel work.

use rayon::ThreadPoolBuilder;
use std::hint::black_box;
use std::sync::Once;
use std::thread::{self, Builder};

/// More than a thread takes when it starts: 2 MiB of stack, its guard, and the stack of its signal handler.
const THREAD_BYTES: usize = 3 << 20;

/// Makes parallel iterators fall back to the calling thread if no threads can be started, for example for
/// lack of memory. Must be called before the first parallel iterator, which would panic instead.
pub fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // The pool can be built only once, so other threads are tried first.
        if !can_start(thread::available_parallelism().map_or(1, usize::from)) {
            let _built = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
        }
    });
}

/// True if that many threads can be started.
fn can_start(count: usize) -> bool {
    // Memory is tried before threads are: a thread for which there is a stack but no stack for its signal
    // handler panics, and two that panic so with `RUST_BACKTRACE` set wait for each other for ever.
    let mut memory = Vec::<u8>::new();
    if memory.try_reserve_exact(count.saturating_mul(THREAD_BYTES)).is_err() {
        return false;
    }
    // Otherwise the compiler may leave out an allocation that nobody uses.
    drop(black_box(memory));
    let tried: Vec<_> = (0..count).map(|_| Builder::new().spawn(|| {})).collect();
    let all = tried.iter().all(Result::is_ok);
    for thread in tried.into_iter().flatten() {
        let _ended = thread.join();
    }
    all
}
