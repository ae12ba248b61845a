//! Checks with a counting allocator that the sampler does not allocate inside rounds of any kind.

use carryline_conditions::Condition;
use carryline_machine::environment::CacheSizes;
use carryline_results::round::Round;
use carryline_sampler::{Bench, Buffers};
use carryline_variants::{Family, Role, of};
use carryline_verification::status::StatusPage;
use carryline_verification::subject::Subject;
use carryline_verification::{Depth, prove};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: passes everything to the system's allocator unchanged; counting only changes a thread-local
// integer.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller meets the contract of `GlobalAlloc::alloc`, which is also the system
        // allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller passes a pointer from `alloc`, hence from the system's allocator, with its
        // layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn rounds_do_not_allocate() {
    let caches = CacheSizes { l1: 32 << 10, l2: 512 << 10, l3: 4 << 20, l3_held: None };
    let status = StatusPage::create().expect("a page");
    for family in Family::ALL {
        let subjects: Vec<Subject> = of(family)
            .iter()
            .filter(|variant| matches!(variant.role, Role::Ours | Role::Baseline))
            .map(|variant| Subject::of_variant(variant))
            .collect();
        let verified: Vec<_> = subjects
            .iter()
            .enumerate()
            .map(|(index, subject)| match prove(subject, Depth::Replicate, 1, &status, index as u64) {
                Ok((verified, _)) => verified,
                Err(failure) => panic!("{}: {failure}", subject.id()),
            })
            .collect();
        let members: Vec<_> = verified.iter().zip(0..).collect();
        for (sizes, offsets, cache, dependence) in [
            ("1500", "0", "hot", "independent"),
            ("1..1500", "random", "hot", "chained"),
            ("fleet:memcpy-A", "random", "cold:clflush", "fenced"),
            ("1500", "13", "cold:arena", "independent"),
            ("1..1500", "alias", "mixed:50", "independent"),
            ("1500", "random", "cold:clflush:single", "fenced"),
            ("1500", "random-line", "cold:evict", "independent"),
            ("1500", "alias", "hot", "independent"),
        ] {
            if offsets == "alias" && !(family.reads() && family.writes()) {
                continue;
            }
            let condition = Condition {
                sizes: carryline_conditions::sizes::Sizes::parse_list(sizes).expect("sizes").remove(0),
                offsets: offsets.parse().expect("offsets"),
                cache: cache.parse().expect("a cache state"),
                dependence: dependence.parse().expect("a dependence"),
                ..Condition::plain(0)
            };
            let mut buffers = Buffers::new(3);
            let mut bench =
                Bench::new(family, &condition, &members, &mut buffers, &caches, 5, &status).expect("memory");
            bench.calibrate(Duration::from_millis(20), 1.0, &status);
            let mut round = Round::of(bench.members());
            let before = ALLOCATIONS.with(Cell::get);
            for _ in 0..4 {
                bench.round(&mut round, None, &status);
            }
            let made = ALLOCATIONS.with(Cell::get) - before;
            assert_eq!(made, 0, "{family} {sizes} {offsets} {cache} {dependence}");
            assert!(round.samples.iter().all(|ticks| ticks.is_finite() && *ticks > 0.0), "{round:?}");
            assert!(bench.recheck(&status).is_empty());
        }
    }
    // The counter itself works.
    let before = ALLOCATIONS.with(Cell::get);
    std::hint::black_box(Vec::<u8>::with_capacity(100));
    assert!(ALLOCATIONS.with(Cell::get) > before);
}
