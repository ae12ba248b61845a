//! Concurrent work on another core while calls are timed (`--beside stream`): a thread pinned to a CPU that
//! does not measure reads and writes a buffer too large to cache from start to end, repeatedly.
//!
//! It starts before a bench is calibrated and ends with the bench: dropping a [`Streamer`] waits for the
//! thread.

use super::BenchError;
use carryline_machine::arena::{Arena, Pages};
use carryline_machine::{process, second_core};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The bytes read and written between checks of the stop flag.
const BLOCK: usize = 64 << 10;
/// The time limit for the thread to start working.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The streamed memory, kept between benches while no thread uses it.
pub(super) type Kept = Arc<Mutex<Option<Arena>>>;

/// A thread streaming on another core; dropping it ends the thread.
#[derive(Debug)]
pub(super) struct Streamer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Arena>>,
    kept: Kept,
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    /// The number of blocks read and written so far.
    blocks: AtomicU64,
}

impl Streamer {
    /// Lets one of the `allowed` CPUs other than the measuring one stream through `bytes` of its own memory,
    /// and returns when it has started. `measuring` is `None` if this thread is not pinned.
    pub fn stream(
        measuring: Option<usize>,
        allowed: &[usize],
        bytes: u64,
        kept: &Kept,
    ) -> Result<Streamer, BenchError> {
        let unsupported =
            |why: &dyn std::fmt::Display| BenchError::Unsupported(format!("--beside stream: {why}"));
        let (_, other, _) = second_core::choose(measuring, allowed, &second_core::siblings)
            .map_err(|why| unsupported(&why))?;
        let bytes = (bytes as usize).next_multiple_of(BLOCK);
        let last = kept.lock().ok().and_then(|mut kept| kept.take()).filter(|arena| arena.len() >= bytes);
        let mut own = match last {
            Some(arena) => arena,
            None => {
                let mut arena = Arena::new(bytes, Pages::Huge)?;
                arena.prefault();
                arena
            }
        };
        let shared = Arc::new(Shared::default());
        let for_thread = Arc::clone(&shared);
        let (pinned, waiting) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("beside".to_owned())
            .spawn(move || {
                let outcome = process::pin(other);
                let failed = outcome.is_err();
                // The other side waits for this message.
                let _ = pinned.send(outcome);
                if !failed {
                    work(&for_thread, &mut own);
                }
                own
            })
            .map_err(|error| unsupported(&error))?;
        let streamer = Streamer { shared, thread: Some(thread), kept: Arc::clone(kept) };
        let pin = waiting.recv().unwrap_or_else(|_| Err("the second thread ended".to_owned()));
        pin.map_err(|why| unsupported(&why))?;
        let begin = Instant::now();
        while streamer.bytes() == 0 {
            if begin.elapsed() > TIMEOUT {
                return Err(unsupported(&format!("CPU {other} did not start working")));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(streamer)
    }

    /// The number of bytes read and written so far.
    pub fn bytes(&self) -> u64 {
        self.shared.blocks.load(Ordering::Relaxed) * BLOCK as u64
    }
}

impl Drop for Streamer {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        // A thread that panicked has also ended, which is all that matters here; its memory is unmapped.
        if let Some(Ok(arena)) = self.thread.take().map(JoinHandle::join)
            && let Ok(mut kept) = self.kept.lock()
        {
            *kept = Some(arena);
        }
    }
}

fn work(shared: &Shared, own: &mut Arena) {
    // SAFETY: the arena's whole length, mapped and written by `prefault`, and not shared while it is
    // borrowed. It starts at a page boundary, and its length is a multiple of a block.
    let words =
        unsafe { std::slice::from_raw_parts_mut(own.start().cast::<u64>(), own.len() / size_of::<u64>()) };
    loop {
        for block in words.chunks_exact_mut(BLOCK / size_of::<u64>()) {
            if shared.stop.load(Ordering::Acquire) {
                return;
            }
            for word in &mut *block {
                *word = word.wrapping_add(1);
            }
            std::hint::black_box(block);
            shared.blocks.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_core_works_until_the_streamer_is_dropped() {
        let allowed = process::allowed_cpus();
        let kept = Kept::default();
        let start = || Streamer::stream(allowed.first().copied(), &allowed, 1 << 20, &kept);
        if allowed.len() < 2 {
            let rejected = start().expect_err("one CPU").to_string();
            assert!(rejected.contains("--beside stream") && rejected.contains("two cores"), "{rejected}");
            return;
        }
        let streamer = start().expect("a second CPU");
        let (shared, before) = (Arc::clone(&streamer.shared), streamer.bytes());
        while streamer.bytes() < before + (4 << 20) {
            std::thread::yield_now();
        }
        drop(streamer);
        assert_eq!(Arc::strong_count(&shared), 1, "the thread has ended");
        assert!(kept.lock().expect("no thread has it").is_some(), "its memory is kept for the next one");
    }

    #[test]
    fn one_cpu_is_rejected_with_the_reason() {
        let rejected =
            Streamer::stream(Some(3), &[3], 1 << 20, &Kept::default()).expect_err("one CPU").to_string();
        assert!(rejected.contains("--beside stream") && rejected.contains("two cores"), "{rejected}");
    }
}
