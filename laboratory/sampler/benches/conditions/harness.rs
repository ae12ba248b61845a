//! The second harness, with its own memory, lists, loops and methods of establishing a cache state.

use carryline_machine::clock;
use carryline_variants::landing::{Landing, MoveFn, SetFn};
use carryline_variants::{ChecksumFn, CopyFn, Family, Routine, ZeroFn, find};
use std::alloc::{Layout, alloc, handle_alloc_error};
use std::arch::asm;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

pub const PAGE: usize = 4096;
/// The bytes of a cache line.
pub const LINE: usize = 64;
/// The maximum number of samples, and the time for them.
pub const SAMPLES: usize = 60;
pub const TIME: Duration = Duration::from_millis(150);
/// The calls of a hot batch.
pub const HOT_CALLS: usize = 400;

pub fn anywhere(random: &mut Random) -> (usize, usize) {
    (random.below(PAGE), random.below(PAGE))
}

pub fn near(random: &mut Random) -> (usize, usize) {
    let (src, distance) = (random.below(PAGE), 1 + random.below(63));
    let above = random.below(2) == 1;
    ((if above { src + distance } else { src + PAGE - distance }) % PAGE, src)
}

/// A generator other than the sampler's: splitmix64.
pub struct Random(u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as usize % bound
    }
}

/// The addresses and length of a call.
#[derive(Clone, Copy)]
pub struct Call {
    pub dst: usize,
    pub src: usize,
    pub len: usize,
}

#[derive(Clone, Copy)]
pub enum Kernel {
    Set(SetFn),
    Zero(ZeroFn),
    Move(MoveFn),
    Copy(CopyFn),
    Sum(ChecksumFn),
}

impl Kernel {
    pub fn of(family: Family, name: &str) -> Option<Kernel> {
        match find(family, name)?.landing() {
            Landing::Set(f) => Some(Kernel::Set(f)),
            Landing::Move(f) => Some(Kernel::Move(f)),
            Landing::Routine(Routine::Zero(f)) => Some(Kernel::Zero(f)),
            Landing::Routine(Routine::Copy(f)) => Some(Kernel::Copy(f)),
            Landing::Routine(Routine::Checksum(f)) => Some(Kernel::Sum(f)),
            Landing::Routine(_) => None,
        }
    }

    #[inline(always)]
    pub fn call(self, call: Call, seed: u32) -> u32 {
        let (dst, src) = (call.dst as *mut u8, call.src as *const u8);
        // SAFETY: every call uses `len` bytes inside regions of the world, which nothing else uses, and
        // source and destination are different regions; the routine is verified.
        unsafe {
            match self {
                Kernel::Set(f) => drop(f(dst.cast(), 0, call.len)),
                Kernel::Zero(f) => f(dst, call.len),
                Kernel::Move(f) => drop(f(dst.cast(), src.cast(), call.len)),
                Kernel::Copy(f) => f(dst, src, call.len),
                Kernel::Sum(f) => return f(src, call.len, seed),
            }
        }
        0
    }
}

/// The usual action after a call. It is one type, and so [`time`] one function: with a closure at each place,
/// the untimed calls would teach the branch predictors another copy of the loop than the timed one.
pub fn nothing() {}

#[inline(never)]
pub fn time(kernel: Kernel, calls: &[Call], after: impl Fn()) -> f64 {
    let begin = clock::start();
    let mut sink = 0;
    for call in calls {
        sink ^= kernel.call(*call, 1);
        after();
    }
    let ticks = clock::stop().wrapping_sub(begin);
    black_box(sink);
    ticks as f64
}

/// Page-aligned memory on base pages, written once and never freed.
#[derive(Clone, Copy)]
pub struct Region {
    pub start: usize,
    pub len: usize,
}

impl Region {
    fn new(len: usize) -> Region {
        let layout = Layout::from_size_align(len, PAGE).expect("a page is a power of two");
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: advice on the memory just allocated, in whole pages.
        unsafe { libc::madvise(start.cast(), len, libc::MADV_NOHUGEPAGE) };
        for at in (0..len).step_by(8) {
            // SAFETY: at + 8 <= len, a multiple of a page.
            unsafe { start.add(at).cast::<usize>().write(at.wrapping_mul(0x9e37_79b9_7f4a_7c15)) };
        }
        Region { start: start as usize, len }
    }

    /// Reads a byte of every line, from the first to the last, and folds them into one, as the sampler's
    /// reader does: each line takes an iteration of the loop, at least a cycle. A loop that discards its
    /// loads takes about a third of that, and an unrolled one, with fewer instructions, overlaps the next call.
    /// The order counts: the last lines that were stored are in a cache last.
    pub fn read(self) {
        let (mut folded, mut at) = (0, 0);
        while at < self.len {
            // SAFETY: a line of the region.
            folded ^= unsafe { ((self.start + at) as *const u8).read_volatile() };
            at += LINE;
            // SAFETY: no instruction; the compiler has to compute `at` in every iteration, so it does not unroll.
            unsafe { asm!("/* {0} */", inout(reg) at, options(nomem, nostack, preserves_flags)) };
        }
        black_box(folded);
    }
}

pub struct World {
    pub kernel: Kernel,
    pub near: [Region; 2],
    pub far: [Region; 2],
    pub walk: Region,
    pub cursor: usize,
    pub random: Random,
    overhead: f64,
    streamer: usize,
}

impl World {
    /// Allocates `far_bytes` of uncacheable size and `walk_bytes` for evicting the caches; concurrent
    /// streaming runs on CPU `streamer`.
    pub fn new(kernel: Kernel, far_bytes: u64, walk_bytes: u64, streamer: usize) -> World {
        let far = far_bytes as usize;
        World {
            kernel,
            near: [Region::new(1 << 20), Region::new(1 << 20)],
            far: [Region::new(far), Region::new(far)],
            walk: Region::new(walk_bytes as usize),
            cursor: 0,
            random: Random(5),
            overhead: clock::overhead_ticks(),
            streamer,
        }
    }

    /// The median of as many samples as time allows; a sample is a number of ticks and of calls.
    pub fn median(&mut self, mut sample: impl FnMut(&mut World) -> (f64, usize)) -> f64 {
        let begin = Instant::now();
        let mut all = Vec::new();
        while all.len() < 5 || (all.len() < SAMPLES && begin.elapsed() < TIME) {
            let (ticks, calls) = sample(self);
            all.push((ticks - self.overhead).max(0.0) / calls as f64);
        }
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    }

    /// Other calls come first, so that predictors cannot know the order of the offsets.
    pub fn hot(&mut self, len: usize, mut offsets: impl FnMut(&mut Random) -> (usize, usize)) -> f64 {
        self.median(|world| {
            let mut drawn = || -> Vec<Call> {
                let call =
                    |(dst, src)| Call { dst: world.near[0].start + dst, src: world.near[1].start + src, len };
                (0..HOT_CALLS).map(|_| call(offsets(&mut world.random))).collect()
            };
            let (before, calls) = (drawn(), drawn());
            time(world.kernel, &before, nothing);
            (time(world.kernel, &calls, nothing), calls.len())
        })
    }

    fn drawn_sizes(&mut self, count: usize) -> Vec<Call> {
        (0..count)
            .map(|_| {
                let (dst, src) = anywhere(&mut self.random);
                let len = 1 + self.random.below(1500);
                Call { dst: self.near[0].start + dst, src: self.near[1].start + src, len }
            })
            .collect()
    }

    pub fn mixed_sizes(&mut self, period: Option<usize>) -> f64 {
        self.median(|world| match period {
            // Other calls come first, so that predictors cannot know the order.
            None => {
                let before = world.drawn_sizes(HOT_CALLS);
                time(world.kernel, &before, nothing);
                let calls = world.drawn_sizes(HOT_CALLS);
                (time(world.kernel, &calls, nothing), calls.len())
            }
            // A list for each sample. On Zen 5, twelve passes suffice for lists of 100, 1000 and 4096 sizes.
            Some(period) => {
                let list = world.drawn_sizes(period);
                for _ in 0..30 {
                    time(world.kernel, &list, nothing);
                }
                (time(world.kernel, &list, nothing), period)
            }
        })
    }

    /// Messages of several buffers; each sum is the seed of the next, byte-swapped after an odd length.
    pub fn segments(&mut self, lengths: &[u32]) -> f64 {
        self.median(|world| {
            let calls: Vec<Call> = (0..HOT_CALLS)
                .flat_map(|_| lengths.iter())
                .map(|len| {
                    let src = world.near[1].start + world.random.below(PAGE);
                    Call { dst: world.near[0].start, src, len: *len as usize }
                })
                .collect();
            time(world.kernel, &calls, nothing);
            let begin = clock::start();
            let mut sink = 0;
            for message in calls.chunks_exact(lengths.len()) {
                sink ^= message.iter().fold(1, |seed, call| {
                    let sum = world.kernel.call(*call, seed);
                    if call.len % 2 == 1 { sum.rotate_left(8) } else { sum }
                });
            }
            let ticks = clock::stop().wrapping_sub(begin) as f64;
            black_box(sink);
            (ticks, HOT_CALLS)
        })
    }

    pub fn with_victim(&mut self, len: usize, victim: usize) -> f64 {
        let foreign = Region { len: victim, ..self.walk };
        self.median(|world| {
            let call = Call { dst: world.near[0].start, src: world.near[1].start, len };
            let calls = [call; 64];
            time(world.kernel, &calls, || foreign.read());
            (time(world.kernel, &calls, || foreign.read()), calls.len())
        })
    }

    /// One endless walk around a ring of buffers: each call is followed by reading the next buffer, which was written when
    /// the walk was there last, `distance` bytes ago.
    pub fn read_later(&mut self, len: usize, distance: usize) -> f64 {
        let buffers = distance / len + 1;
        let start = self.far[0].start;
        assert!(buffers * len <= self.far[0].len, "the ring fits");
        let mut at = 0;
        let mut walk = move |world: &World, calls: usize| {
            let begin = clock::start();
            for _ in 0..calls {
                let call = Call { dst: start + at * len, src: world.near[1].start, len };
                world.kernel.call(call, 1);
                at = if at + 1 == buffers { 0 } else { at + 1 };
                Region { start: start + at * len, len }.read();
            }
            clock::stop().wrapping_sub(begin) as f64
        };
        walk(self, 2 * buffers);
        self.median(|world| (walk(world, HOT_CALLS), HOT_CALLS))
    }

    pub fn beside_stream(&mut self, work: impl FnOnce(&mut World) -> f64) -> f64 {
        let stop = Arc::new(AtomicBool::new(false));
        let (for_thread, cpu, words) = (Arc::clone(&stop), self.streamer, self.walk.len / 8);
        let (is_filled, filled) = channel();
        let thread = std::thread::spawn(move || {
            stay_on(cpu);
            let mut memory = vec![1_u64; words];
            is_filled.send(()).expect("the harness waits");
            let (begin, mut moved) = (Instant::now(), 0);
            while !for_thread.load(Ordering::Relaxed) {
                for chunk in memory.chunks_mut(1 << 16) {
                    chunk.iter_mut().for_each(|word| *word ^= 1);
                    moved += size_of_val(chunk) as u64;
                    if for_thread.load(Ordering::Relaxed) {
                        break;
                    }
                }
                black_box(&mut memory);
            }
            moved as f64 / begin.elapsed().as_nanos() as f64
        });
        filled.recv().expect("the streaming thread fills its memory");
        let ticks = work(self);
        stop.store(true, Ordering::Relaxed);
        println!("{:>91} streamed beside, second", rate(thread.join().expect("the streaming thread")));
        ticks
    }
}

pub fn stay_on(cpu: usize) {
    // SAFETY: a plain bit set for which all-zero is valid, filled by libc's functions and read by the kernel.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}

pub fn rate(bytes_per_ns: f64) -> String {
    format!("{bytes_per_ns:.1} GB/s")
}
