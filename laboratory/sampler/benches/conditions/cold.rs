//! How the second harness makes buffers cold.

use crate::harness::{Call, LINE, PAGE, Random, Region, World, nothing, time};
use std::arch::x86_64::{_mm_clflush, _mm_mfence};

/// The offsets of destination and source in their pages.
pub type Offsets = fn(&mut Random) -> (usize, usize);

/// Which buffers are cold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cold {
    Both,
    Source,
    Destination,
}

/// Both buffers begin with a line, any of its page.
pub fn any_line(random: &mut Random) -> (usize, usize) {
    (random.below(PAGE / LINE) * LINE, random.below(PAGE / LINE) * LINE)
}

/// The distance between buffers that share no line. It is also the sampler's: it determines how many buffers
/// share a line of the page table, which is part of what a cold call waits for.
fn spacing(len: usize) -> usize {
    len.next_multiple_of(PAGE) + 2 * PAGE
}

impl World {
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

    /// The same calls with the buffers near that are not cold.
    fn partly_near(&self, mut calls: Vec<Call>, cold: Cold) -> Vec<Call> {
        for call in &mut calls {
            match cold {
                Cold::Both => {}
                Cold::Source => call.dst = self.near[0].start + call.dst % PAGE,
                Cold::Destination => call.src = self.near[1].start + call.src % PAGE,
            }
        }
        calls
    }

    /// Buffers that share no cache line, in random order of addresses.
    fn apart(&mut self, len: usize, count: usize, offsets: Offsets) -> Vec<Call> {
        let stride = spacing(len);
        let mut places: Vec<usize> = (0..count).collect();
        self.shuffle(&mut places);
        places
            .into_iter()
            .map(|place| {
                let (dst, src) = offsets(&mut self.random);
                let at = place * stride;
                Call { dst: self.far[0].start + at + dst, src: self.far[1].start + at + src, len }
            })
            .collect()
    }

    pub fn flushed(&mut self, len: usize, count: usize, offsets: Offsets, cold: Cold) -> f64 {
        self.median(|world| {
            let calls = world.apart(len, count, offsets);
            let calls = world.partly_near(calls, cold);
            time(world.kernel, &calls, nothing);
            world.warm_code(len);
            for call in &calls {
                for (start, near) in [(call.dst, Cold::Source), (call.src, Cold::Destination)] {
                    let lines = (start / LINE * LINE..start + len).step_by(LINE);
                    for line in lines.filter(|_| cold != near) {
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

    pub fn evicted(&mut self, len: usize, count: usize, offsets: Offsets) -> f64 {
        self.median(|world| {
            let mut calls = world.apart(len, count, offsets);
            // Elsewhere every time: what is used again and again stays in some caches, its page tables too.
            let further = world.random.below((world.far[0].len - count * spacing(len)) / PAGE) * PAGE;
            calls.iter_mut().for_each(|call| (call.dst, call.src) = (call.dst + further, call.src + further));
            time(world.kernel, &calls, nothing);
            // The buffers were used a moment ago; the sampler's were last used several evictions ago. With two
            // passes here, streams of the same buffers every time were up to a quarter faster than the sampler's.
            for _ in 0..4 {
                // Pages that rest may be taken back by a virtual machine's host.
                for page in
                    calls.iter().flat_map(|call| [call.dst, call.src]).map(|start| start / PAGE * PAGE)
                {
                    // SAFETY: the first byte of a page of the far memory.
                    unsafe { (page as *const u8).read_volatile() };
                }
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
    fn fresh(&mut self, len: usize, count: usize, offsets: Offsets) -> Vec<Call> {
        let stride = spacing(len);
        let mut calls: Vec<Call> = (0..count)
            .map(|_| {
                let step = if count == 1 { self.random.below(self.far[0].len) } else { stride };
                self.cursor = (self.cursor + step) % (self.far[0].len - 2 * stride);
                let at = self.cursor / PAGE * PAGE;
                let (dst, src) = offsets(&mut self.random);
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

    pub fn arena(&mut self, len: usize, count: usize, offsets: Offsets, cold: Cold) -> f64 {
        self.bring_back();
        self.median(|world| {
            let calls = world.fresh(len, count, offsets);
            let calls = world.partly_near(calls, cold);
            world.warm_code(len);
            if cold != Cold::Both {
                // The near buffers may have been evicted meanwhile.
                world.near.iter().for_each(|near| Region { len: len + PAGE, ..*near }.read());
            }
            (time(world.kernel, &calls, nothing), count)
        })
    }

    /// Each buffer is near with this probability, otherwise far.
    pub fn sometimes(&mut self, len: usize, count: usize, percent: usize) -> f64 {
        self.bring_back();
        self.median(|world| {
            let mut calls = world.fresh(len, count, crate::harness::anywhere);
            for call in &mut calls {
                if world.random.below(100) < percent {
                    call.dst = world.near[0].start + call.dst % PAGE;
                }
                if world.random.below(100) < percent {
                    call.src = world.near[1].start + call.src % PAGE;
                }
            }
            world.warm_code(len);
            (time(world.kernel, &calls, nothing), count)
        })
    }
}
