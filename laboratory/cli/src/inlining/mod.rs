//! Where compilers write a copy or a fill of constant size in place, read from the code that they make.
//!
//! **Path**: [`compilers`] (which are there) -> [`probes`] (what each is asked, under which flags) -> [`bounded`] (asking
//! it) -> [`object_code`] (what the answer is) -> [`rows`] -> [`limit`] (what a hard-coded limit on the size costs, timed).
//! A compiler is run once for each set of flags, with every function and every size in one file, and not at all where
//! [`cache`] knows the answer.
//!
//! When not to use it: for sizes that are not constants, which always become a call or a loop.

pub mod cache;
pub mod compilers;
pub mod limit;

mod bounded;
mod object_code;
mod probes;
mod rows;
mod survey;

pub use probes::Language;
pub use survey::{Question, survey};

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Does something with every item, on as many threads as there are CPUs, and returns the results in the items' order.
/// `waiting` is called meanwhile, with how many are done.
fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    action: impl Fn(usize, &T) -> R + Sync,
    waiting: &dyn Fn(usize),
) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let store = |slot: &Mutex<Option<R>>, result| {
        *slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(result);
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    store(&results[index], action(index, item));
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        while done.load(Ordering::Relaxed) < items.len() {
            waiting(done.load(Ordering::Relaxed));
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let taken = |slot: Mutex<Option<R>>| slot.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.into_iter().filter_map(taken).collect()
}
