//! The second harness, with its own memory, lists, loops and methods of establishing a cache state.

use carryline_machine::clock;
use carryline_variants::landing::{Landing, MoveFn, SetFn};
use carryline_variants::{ChecksumFn, CopyFn, Family, Routine, ZeroFn, find};
use std::alloc::{Layout, alloc, handle_alloc_error};
use std::arch::asm;
use std::arch::x86_64::{_mm_clflush, _mm_mfence};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

const PAGE: usize = 4096;
/// The bytes of a cache line.
pub const LINE: usize = 64;
/// The maximum number of samples, and the time for them.
pub const SAMPLES: usize = 60;
pub const TIME: Duration = Duration::from_millis(150);
/// The calls of a hot batch.
const HOT_CALLS: usize = 400;

pub fn anywhere(random: &mut Random) -> (usize, usize) {
    (random.below(PAGE), random.below(PAGE))
}

/// The distance between buffers that share no line. It is also the sampler's: it determines how many buffers
/// share a line of the page table, which is part of what a cold call waits for.
fn spacing(len: usize) -> usize {
    len.next_multiple_of(PAGE) + 2 * PAGE
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
struct Call {
    dst: usize,
    src: usize,
    len: usize,
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
    fn call(self, call: Call, seed: u32) -> u32 {
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
fn nothing() {}

#[inline(never)]
fn time(kernel: Kernel, calls: &[Call], after: impl Fn()) -> f64 {
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
struct Region {
    start: usize,
    len: usize,
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

    /// Reads a byte of every line, from the last to the first, and folds them into one, as the sampler's
    /// reader does: each line takes an iteration of the loop, at least a cycle. A loop that discards its
    /// loads takes about a third of that, and an unrolled one, with fewer instructions, overlaps the next call.
    fn read(self) {
        let (mut folded, mut at) = (0, self.len);
        while at >= LINE {
            at -= LINE;
            // SAFETY: a line of the region.
            folded ^= unsafe { ((self.start + at) as *const u8).read_volatile() };
            // SAFETY: no instruction; the compiler has to compute `at` in every iteration, so it does not unroll.
            unsafe { asm!("/* {0} */", inout(reg) at, options(nomem, nostack, preserves_flags)) };
        }
        black_box(folded);
    }
}

pub struct World {
    pub kernel: Kernel,
    near: [Region; 2],
    far: [Region; 2],
    walk: Region,
    cursor: usize,
    random: Random,
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
    fn median(&mut self, mut sample: impl FnMut(&mut World) -> (f64, usize)) -> f64 {
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

    /// Runs the routine somewhere in far memory, whose lines are cold too, to warm its code.
    fn warm_code(&mut self, len: usize) {
        let at = self.random.below(self.far[0].len - len) / PAGE * PAGE;
        let call = Call { dst: self.far[0].start + at, src: self.far[1].start + at, len };
        time(self.kernel, &[call; 16], nothing);
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.random.below(last + 1));
        }
    }

    /// Buffers that share no cache line, in random order of addresses.
    fn apart(&mut self, len: usize, count: usize) -> Vec<Call> {
        let stride = spacing(len);
        let mut places: Vec<usize> = (0..count).collect();
        self.shuffle(&mut places);
        places
            .into_iter()
            .map(|place| {
                let mut at =
                    |region: Region| region.start + place * stride + self.random.below(PAGE / LINE) * LINE;
                Call { dst: at(self.far[0]), src: at(self.far[1]), len }
            })
            .collect()
    }

    pub fn flushed(&mut self, len: usize, count: usize) -> f64 {
        self.median(|world| {
            let calls = world.apart(len, count);
            time(world.kernel, &calls, nothing);
            world.warm_code(len);
            for call in &calls {
                for start in [call.dst, call.src] {
                    for line in (start / LINE * LINE..start + len).step_by(LINE) {
                        // SAFETY: a line of a region; flushing does not change contents.
                        unsafe { _mm_clflush(line as *const u8) };
                    }
                }
            }
            // SAFETY: part of every x86-64 CPU.
            unsafe { _mm_mfence() };
            (time(world.kernel, &calls, nothing), count)
        })
    }

    pub fn evicted(&mut self, len: usize, count: usize) -> f64 {
        self.median(|world| {
            let calls = world.apart(len, count);
            time(world.kernel, &calls, nothing);
            // The buffers were used a moment ago; the sampler's were last used several evictions ago. With two
            // passes here, the streams are up to a quarter faster than the sampler's; with four they agree.
            for _ in 0..4 {
                world.walk.read();
            }
            world.warm_code(len);
            // The list was evicted too, and a call by itself would wait for it: copied, it is cached.
            let calls = calls.clone();
            (time(world.kernel, &calls, nothing), count)
        })
    }

    /// The next calls of a walk through memory too large to cache, in random order; a call by itself is at a
    /// random place of it, so that no prefetcher expects it and its page-table entries are not cached either.
    fn fresh(&mut self, len: usize, count: usize) -> Vec<Call> {
        let stride = spacing(len);
        let mut calls: Vec<Call> = (0..count)
            .map(|_| {
                let step = if count == 1 { self.random.below(self.far[0].len) } else { stride };
                self.cursor = (self.cursor + step) % (self.far[0].len - 2 * stride);
                let at = self.cursor / PAGE * PAGE;
                let (dst, src) = anywhere(&mut self.random);
                Call { dst: self.far[0].start + at + dst, src: self.far[1].start + at + src, len }
            })
            .collect();
        self.shuffle(&mut calls);
        calls
    }

    /// Writes to every page of the far memory, whose lines stay uncached. A virtual machine's host may have taken pages
    /// back, and returns them at the first access: on one host after a tenth of a millisecond.
    fn bring_back(&mut self) {
        for region in self.far {
            for at in (0..region.len).step_by(PAGE) {
                let word = (region.start + at) as *mut usize;
                // SAFETY: a word of the region, which starts with a page.
                unsafe { word.write_volatile(word.read_volatile()) };
            }
        }
        self.walk.read();
    }

    pub fn arena(&mut self, len: usize, count: usize) -> f64 {
        self.bring_back();
        self.median(|world| {
            let calls = world.fresh(len, count);
            world.warm_code(len);
            (time(world.kernel, &calls, nothing), count)
        })
    }

    /// Each buffer is near or far at random.
    pub fn sometimes(&mut self, len: usize, count: usize) -> f64 {
        self.bring_back();
        self.median(|world| {
            let mut calls = world.fresh(len, count);
            for call in &mut calls {
                if world.random.below(2) == 0 {
                    call.dst = world.near[0].start + call.dst % PAGE;
                }
                if world.random.below(2) == 0 {
                    call.src = world.near[1].start + call.src % PAGE;
                }
            }
            world.warm_code(len);
            (time(world.kernel, &calls, nothing), count)
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
