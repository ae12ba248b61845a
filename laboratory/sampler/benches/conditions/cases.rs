//! The checked conditions, and how the second harness establishes each.

use crate::cold::{Cold, any_line};
use crate::dependence::Between;
use crate::harness::{LINE, PAGE, World, anywhere, near};
use carryline_variants::Family;

/// A condition, and how the second harness establishes it.
pub struct Case {
    pub family: Family,
    pub variant: &'static str,
    pub sizes: &'static str,
    pub offsets: &'static str,
    pub cache: &'static str,
    pub dependence: &'static str,
    pub segments: &'static [u32],
    pub then: &'static str,
    pub beside: &'static str,
    /// The other members of the sampler's rounds. The second harness has none.
    pub others: &'static [&'static str],
    /// Ticks per call; the second argument is the number of calls in the sampler's batch.
    pub second: fn(&mut World, usize) -> f64,
}

fn case(
    family: Family,
    variant: &'static str,
    words: [&'static str; 3],
    second: fn(&mut World, usize) -> f64,
) -> Case {
    let [sizes, offsets, cache] = words;
    let (segments, others): (&[u32], &[&str]) = (&[], &[]);
    let (dependence, then, beside) = ("independent", "nothing", "nothing");
    Case { family, variant, sizes, offsets, cache, dependence, segments, then, beside, others, second }
}

pub fn cases() -> Vec<Case> {
    use Family::{Checksum, Copy, Zero};
    const STREAM: fn(&mut World, usize) -> f64 =
        |world, calls| world.flushed(4096, calls, any_line, Cold::Both);
    const SINGLE: fn(&mut World, usize) -> f64 = |world, _| world.flushed(4096, 1, any_line, Cold::Both);
    const CHAINED: fn(&mut World, usize) -> f64 = |world, _| world.apart_by(1500, Between::Result);
    const FENCED: fn(&mut World, usize) -> f64 = |world, _| world.apart_by(1500, Between::Fence);
    vec![
        case(Zero, "carryline", ["4K", "0", "hot"], |world, _| world.hot(4096, |_| (0, 0))),
        case(Copy, "carryline", ["4K", "0", "hot"], |world, _| world.hot(4096, |_| (0, 0))),
        case(Checksum, "carryline", ["1500", "0", "hot"], |world, _| world.hot(1500, |_| (0, 0))),
        case(Copy, "libc_memcpy", ["16K", "0", "hot"], |world, _| world.hot(16_384, |_| (0, 0))),
        case(Copy, "libc_memcpy", ["16K", "random", "hot"], |world, _| world.hot(16_384, anywhere)),
        case(Copy, "libc_memcpy", ["16K", "alias", "hot"], |world, _| world.hot(16_384, near)),
        case(Copy, "libc_memcpy", ["16K", "random-line", "hot"], |world, _| {
            world.hot(16_384, |random| (random.below(LINE), random.below(LINE)))
        }),
        case(Copy, "libc_memcpy", ["1500", "alias", "hot"], |world, _| world.hot(1500, near)),
        case(Copy, "libc_memcpy", ["1500", "random", "hot"], |world, _| world.hot(1500, anywhere)),
        case(Checksum, "carryline", ["1..1500", "random", "hot"], |world, _| world.mixed_sizes(None)),
        case(Checksum, "carryline", ["1..1500/period:100", "random", "hot"], |world, _| {
            world.mixed_sizes(Some(100))
        }),
        // Predictors must know the sizes although the others have been called since.
        Case {
            others: &["libc_memcpy", "rep_movsq", "int64_registers", "sse2", "carryline_read_here"],
            ..case(Copy, "carryline", ["1..1500/period:4096", "random", "hot"], |world, _| {
                world.mixed_sizes(Some(4096))
            })
        },
        case(Zero, "carryline", ["4K", "0", "cold:clflush"], STREAM),
        case(Zero, "carryline", ["4K", "0", "cold:clflush:single"], SINGLE),
        case(Zero, "libc_memset", ["4K", "0", "cold:clflush"], STREAM),
        case(Zero, "libc_memset", ["4K", "0", "cold:clflush:single"], SINGLE),
        case(Checksum, "carryline", ["1500", "0", "cold:clflush"], |world, calls| {
            world.flushed(1500, calls, any_line, Cold::Both)
        }),
        case(Checksum, "carryline", ["1500", "0", "cold:clflush:single"], |world, _| {
            world.flushed(1500, 1, any_line, Cold::Both)
        }),
        case(Copy, "carryline", ["1500", "random", "cold:clflush"], |world, calls| {
            world.flushed(1500, calls, anywhere, Cold::Both)
        }),
        case(Copy, "carryline", ["4K", "0", "cold:clflush:src"], |world, calls| {
            world.flushed(4096, calls, any_line, Cold::Source)
        }),
        case(Copy, "carryline", ["4K", "0", "cold:clflush:dst"], |world, calls| {
            world.flushed(4096, calls, any_line, Cold::Destination)
        }),
        case(Checksum, "carryline", ["1500", "random", "cold:arena"], |world, calls| {
            world.arena(1500, calls, anywhere, Cold::Both)
        }),
        case(Copy, "carryline", ["4K", "random", "cold:arena"], |world, calls| {
            world.arena(4096, calls, anywhere, Cold::Both)
        }),
        case(Copy, "carryline", ["4K", "alias", "cold:arena"], |world, calls| {
            world.arena(4096, calls, near, Cold::Both)
        }),
        case(Copy, "carryline", ["4K", "random", "cold:arena:src"], |world, calls| {
            world.arena(4096, calls, anywhere, Cold::Source)
        }),
        case(Copy, "carryline", ["4K", "random", "cold:arena:dst"], |world, calls| {
            world.arena(4096, calls, anywhere, Cold::Destination)
        }),
        case(Copy, "carryline", ["4K", "random", "cold:arena:single"], |world, _| {
            world.arena(4096, 1, anywhere, Cold::Both)
        }),
        case(Checksum, "carryline", ["1500", "0", "cold:evict"], |world, calls| {
            world.evicted(1500, calls, any_line)
        }),
        case(Checksum, "carryline", ["1500", "random", "cold:evict"], |world, calls| {
            world.evicted(1500, calls, anywhere)
        }),
        case(Checksum, "carryline", ["1500", "0", "cold:evict:single"], |world, _| {
            world.evicted(1500, 1, any_line)
        }),
        case(Copy, "carryline", ["4K", "random", "mixed:10"], |world, calls| {
            world.sometimes(4096, calls, 10)
        }),
        case(Copy, "carryline", ["4K", "random", "mixed:50"], |world, calls| {
            world.sometimes(4096, calls, 50)
        }),
        case(Copy, "carryline", ["4K", "random", "mixed:90"], |world, calls| {
            world.sometimes(4096, calls, 90)
        }),
        // Nothing is unmapped after these buffers, which makes no difference to a correct routine.
        case(Copy, "carryline", ["1500", "end", "hot"], |world, _| {
            world.hot(1500, |_| (PAGE - 1500, PAGE - 1500))
        }),
        Case { dependence: "chained", ..case(Checksum, "carryline", ["1500", "0", "hot"], CHAINED) },
        Case { dependence: "chained", ..case(Copy, "carryline", ["1500", "0", "hot"], CHAINED) },
        Case { dependence: "fenced", ..case(Checksum, "carryline", ["1500", "0", "hot"], FENCED) },
        Case { dependence: "fenced", ..case(Copy, "carryline", ["1500", "0", "hot"], FENCED) },
        Case {
            then: "read",
            ..case(Zero, "carryline", ["4K", "0", "hot"], |world, _| world.apart_by(4096, Between::Reading))
        },
        Case {
            then: "read-later:4M",
            ..case(Zero, "libc_memset", ["4K", "0", "hot"], |world, _| world.read_later(4096, 4 << 20))
        },
        Case {
            then: "read-later:4M",
            // Other routines leave other lines in the caches.
            others: &["libc_memset"],
            ..case(Zero, "movntps", ["4K", "0", "hot"], |world, _| world.read_later(4096, 4 << 20))
        },
        Case {
            segments: &[512, 1024, 64],
            ..case(Checksum, "carryline", ["1600", "random", "hot"], |world, _| {
                world.segments(&[512, 1024, 64])
            })
        },
        Case {
            then: "victim:16K",
            ..case(Copy, "carryline", ["1500", "0", "hot"], |world, _| world.with_victim(1500, 16_384))
        },
        Case {
            beside: "stream",
            ..case(Copy, "carryline", ["4K", "random", "cold:arena"], |world, calls| {
                world.beside_stream(|world| world.arena(4096, calls, anywhere, Cold::Both))
            })
        },
    ]
}
