use super::operand::far_step;
use super::*;
use carryline_conditions::Cache;
use carryline_machine::arena::Pages;
use rand_core::SeedableRng;

const CACHES: CacheSizes = CacheSizes { l1: 48 << 10, l2: 1 << 20, l3: 32 << 20, l3_held: None };

fn condition(size: u64, cache: &str, offsets: &str) -> Condition {
    Condition {
        cache: cache.parse::<Cache>().expect("a cache state"),
        offsets: offsets.parse().expect("offsets"),
        pages: Pages::Base,
        ..Condition::plain(size)
    }
}

/// The number of batches after which the lines repeat.
fn batches_of(operand: &Operand) -> usize {
    operand.windows() * operand.turns.places
}

#[test]
fn calls_stay_inside_their_arena_and_cold_ones_share_no_line() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    for size in [0, 1, 40, 1500, 4096, 65_536, 8 << 20] {
        for cache in [
            "hot",
            "cold:clflush",
            "cold:evict:src",
            "cold:arena",
            "cold:arena:dst",
            "cold:clflush:single",
            "cold:arena:src:single",
            "mixed:40",
        ] {
            for offsets in ["0", "63", "100:4095", "random", "alias", "random-line", "end"] {
                let condition = condition(size, cache, offsets);
                for family in Family::ALL {
                    let layout = Layout::new(family, &condition, &CACHES);
                    let count = if layout.doubles { 2 } else { 1 } * layout.most_calls.min(LIST_CALLS);
                    let mut calls = vec![Call::default(); count];
                    draw_calls(&layout, &condition, &SizeSource::new(&condition.sizes), &mut rng, &mut calls);
                    for (operand, pick) in [
                        (&layout.dst, (|c: &Call| c.dst) as fn(&Call) -> u32),
                        (&layout.src, |c: &Call| c.src),
                    ] {
                        let Some(operand) = operand else { continue };
                        let hot_slot = usize::from(operand.hot_percent.is_some());
                        let end = operand.stride * (operand.window + hot_slot);
                        // The window and the place of a batch are independent: of all shifts, the largest is that
                        // of a window in the pass with the last place.
                        let windows = operand.windows();
                        let passes = (0..operand.turns.places).map(|pass| pass * windows);
                        let last_place = passes.max_by_key(|first| operand.shift(*first)).unwrap_or(0);
                        let farthest = (last_place..last_place + windows).map(|at| operand.shift(at)).max();
                        assert!(farthest.is_some_and(|shift| end + shift <= operand.span()));
                        let mut lines: Vec<(u64, u64)> = Vec::new();
                        for call in &calls {
                            let start = u64::from(pick(call));
                            assert!(start + call.len <= end as u64, "{family} {size} {cache} {offsets}");
                            if !operand.is_hot_slot(pick(call)) {
                                lines.push((start / 64, (start + call.len.max(1) - 1) / 64));
                            }
                        }
                        lines.sort_unstable();
                        if operand.cold {
                            assert!(lines.windows(2).all(|w| w[0].1 < w[1].0), "{size} {cache} {offsets}");
                        }
                    }
                }
            }
        }
    }
}

fn drawn(family: Family, condition: &Condition, count: usize) -> Vec<Call> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let layout = Layout::new(family, condition, &CACHES);
    let mut calls = vec![Call::default(); count];
    draw_calls(&layout, condition, &SizeSource::new(&condition.sizes), &mut rng, &mut calls);
    calls
}

/// The calls of as many batches as the arena's lines allow before they repeat, drawn anew for each.
fn moved(family: Family, condition: &Condition, caches: &CacheSizes) -> (Layout, Vec<Vec<Call>>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(17);
    let mut layout = Layout::new(family, condition, caches);
    layout.reseed(5);
    let sizes = SizeSource::new(&condition.sizes);
    let batches = layout.arenas(condition).map(batches_of).max().expect("an arena");
    let batch = |number: usize| {
        let mut calls = vec![Call::default(); layout.most_calls * if layout.doubles { 2 } else { 1 }];
        draw_calls(&layout, condition, &sizes, &mut rng, &mut calls);
        calls.iter().map(|call| layout.moved(call, layout.shifts(number))).collect()
    };
    let calls = (0..batches).map(batch).collect();
    (layout, calls)
}

#[test]
fn an_arena_repeats_a_line_only_when_the_caches_have_forgotten_it() {
    let caches = CacheSizes { l3: 16 << 20, ..CACHES };
    for (size, cache, offsets) in [
        (40, "cold:arena", "random"),
        (576, "cold:arena", "random"),
        (1500, "cold:arena", "random"),
        (1500, "cold:arena", "7"),
        (1500, "cold:arena", "random-line"),
        (4096, "cold:arena", "random"),
        (4096, "cold:arena", "end"),
        (4096, "cold:arena", "64"),
        (65_536, "cold:arena", "0"),
        (1500, "cold:arena", "alias"),
        (1500, "cold:arena:single", "random"),
    ] {
        let condition = condition(size, cache, offsets);
        let (layout, batches) = moved(Family::Copy, &condition, &caches);
        let mut last_use = vec![0_u64; layout.src.map_or(0, |src| src.span() / 64)];
        let (mut lines, mut early) = (0, 0);
        // Two cycles, since the second one repeats the first one's lines.
        for call in batches.iter().chain(&batches).flatten() {
            for line in call.src / 64..=(call.src + call.len as u32 - 1) / 64 {
                lines += 1;
                let before = std::mem::replace(&mut last_use[line as usize], lines);
                early += u64::from(before > 0 && (lines - before) * 64 < caches.recent());
            }
        }
        // The first line differs between slots, so that the last place of one overlaps the first of the next.
        assert!(early * 20 <= lines, "{size} {cache} {offsets}: {early} of {lines} lines");
    }
}

#[test]
fn buffers_beside_each_other_move_alike() {
    let (_, batches) = moved(Family::Copy, &condition(1500, "cold:arena", "alias"), &CACHES);
    for call in batches.iter().flatten() {
        assert!((1..=63).contains(&distance(call)) || distance(call) > 4096 - 64, "{}", distance(call));
    }
}

#[test]
fn fixed_places_in_a_page_stay_there() {
    for (offsets, place) in [("100", 100), ("end", 4096 - 3000)] {
        let (layout, batches) = moved(Family::Zero, &condition(3000, "cold:arena", offsets), &CACHES);
        assert!(layout.dst.is_some_and(|dst| dst.turns.places > 1));
        assert!(batches.iter().flatten().all(|call| call.dst % 4096 == place), "{offsets}");
    }
}

#[test]
fn short_buffers_at_a_fixed_place_of_a_page_use_too_few_lines() {
    for (size, offsets, few) in
        [(64, "end", true), (1000, "100", true), (4096, "end", false), (64, "random", false)]
    {
        let condition = condition(size, "cold:arena", offsets);
        assert_eq!(uses_few_lines(Family::Zero, &condition, &CACHES), few, "{size} {offsets}");
    }
}

/// The distance of the destination above the source, modulo a page.
fn distance(call: &Call) -> u32 {
    (call.dst + 4096 - call.src % 4096) % 4096
}

#[test]
fn random_offsets_are_uniform_in_the_page_and_independent() {
    for cache in ["hot", "cold:clflush", "cold:arena", "cold:clflush:src", "cold:evict:dst"] {
        let condition = condition(1500, cache, "random");
        let calls: Vec<Call> = if cache == "cold:arena" {
            let calls: Vec<Call> = moved(Family::Copy, &condition, &CACHES).1.into_iter().flatten().collect();
            calls.into_iter().take(1 << 17).collect()
        } else {
            drawn(Family::Copy, &condition, 1 << 17)
        };
        for pick in [|c: &Call| c.dst % 4096, |c: &Call| c.src % 4096, distance] {
            let mut seen = [0_u32; 4096];
            calls.iter().for_each(|call| seen[pick(call) as usize] += 1);
            // 32 of each are expected, in an arena 21.
            let extremes = (seen.iter().min().copied(), seen.iter().max().copied());
            assert!(extremes.0 >= Some(3) && extremes.1 <= Some(80), "{cache}: {extremes:?}");
        }
    }
}

#[test]
fn hot_buffers_anywhere_in_a_page_draw_their_pages_for_every_round_and_others_stay() {
    /// The rounds that are expected for each pair of pages.
    const EACH: usize = 32;
    let pages = |cache, offsets| -> Vec<[usize; 2]> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(23);
        let layout = Layout::new(Family::Copy, &condition(40, cache, offsets), &CACHES);
        (0..EACH * START_PAGES * START_PAGES).map(|_| layout.start_pages([3, 5], &mut rng)).collect()
    };
    for offsets in ["random", "alias"] {
        let drawn = pages("hot", offsets);
        let mut pairs = [[0; START_PAGES]; START_PAGES];
        drawn.iter().for_each(|[dst, src]| pairs[*dst][*src] += 1);
        assert!(pairs.as_flattened().iter().all(|count| (8..=64).contains(count)), "{offsets}: {pairs:?}");
        // Every second round has a batch of twice the calls; pages must not alternate with it, or repeat.
        for lag in [1, 2, START_PAGES] {
            let same = drawn.windows(lag + 1).filter(|rounds| rounds[0][0] == rounds[lag][0]).count();
            assert!((400..625).contains(&same), "{offsets} {lag}: {same} of {}", drawn.len());
        }
        for others in ["cold:arena", "mixed:40"] {
            assert!(pages(others, offsets).iter().all(|both| *both == [3, 5]));
        }
    }
    for offsets in ["0", "random-line", "end"] {
        assert!(pages("hot", offsets).iter().all(|both| *both == [3, 5]));
    }
}

#[test]
fn alias_offsets_are_1_to_63_bytes_above_or_below_modulo_a_page() {
    for family in [Family::Copy, Family::CopyChecksum] {
        for cache in ["hot", "cold:clflush", "cold:arena:src"] {
            let calls = drawn(family, &condition(1500, cache, "alias"), 1 << 17);
            let mut distances = [0_u32; 4096];
            let mut starts = [0_u32; 4096];
            for call in &calls {
                distances[distance(call) as usize] += 1;
                starts[call.src as usize % 4096] += 1;
            }
            for (distance, count) in distances.into_iter().enumerate() {
                let near = (1..=63).contains(&distance) || (4096 - 63..4096).contains(&distance);
                // 1040 of each are expected.
                assert!(if near { (850..1250).contains(&count) } else { count == 0 }, "{distance}: {count}");
            }
            assert!(starts.iter().all(|count| *count > 0), "{cache}");
        }
    }
}

#[test]
fn random_line_offsets_keep_hot_buffers_in_the_first_line() {
    let calls = drawn(Family::Copy, &condition(1500, "hot", "random-line"), 1 << 12);
    assert!(calls.iter().all(|call| call.dst < 64 && call.src < 64));
}

#[test]
fn mixed_buffers_are_hot_independently_with_the_given_probability() {
    for percent in [1_u32, 30, 99] {
        let condition = condition(1500, &format!("mixed:{percent}"), "random");
        let layout = Layout::new(Family::Copy, &condition, &CACHES);
        let (dst, src) = (layout.dst.expect("it writes"), layout.src.expect("it reads"));
        let calls = drawn(Family::Copy, &condition, 100_000);
        let share = |hot: &dyn Fn(&Call) -> bool| {
            calls.iter().filter(|call| hot(call)).count() as f64 / calls.len() as f64
        };
        let wanted = f64::from(percent) / 100.0;
        for (found, wanted) in [
            (share(&|call| dst.is_hot_slot(call.dst)), wanted),
            (share(&|call| src.is_hot_slot(call.src)), wanted),
            (share(&|call| dst.is_hot_slot(call.dst) && src.is_hot_slot(call.src)), wanted * wanted),
        ] {
            assert!((found - wanted).abs() < 0.01, "{percent}: {found} for {wanted}");
        }
    }
}

#[test]
fn sizes_and_caches_determine_the_calls_of_cold_batches() {
    let calls = |size, cache: &str| {
        let layout = Layout::new(Family::Zero, &condition(size, cache, "0"), &CACHES);
        assert!(layout.stated);
        (layout.most_calls, layout.doubles)
    };
    assert_eq!(calls(40, "cold:clflush"), (256, true));
    assert_eq!(calls(4096, "cold:clflush"), (64, true));
    assert_eq!(calls(4096, "cold:arena"), (64, true));
    assert_eq!(calls(4096, "mixed:50"), (64, true));
    assert_eq!(calls(8 << 20, "cold:clflush"), (1, false));
    for cache in ["cold:clflush:single", "cold:evict:single", "cold:arena:single"] {
        assert_eq!(calls(40, cache), (1, false));
    }
    assert!(!Layout::new(Family::Zero, &condition(40, "hot", "0"), &CACHES).stated);
}

#[test]
fn all_cold_operands_of_a_double_batch_fill_at_most_half_of_the_second_level() {
    let calls = |family, cache| {
        let layout = Layout::new(family, &condition(4096, cache, "0"), &CACHES);
        assert!(layout.doubles);
        layout.most_calls as u64
    };
    let cases = [
        (Family::Zero, "cold:arena", 1),
        (Family::Copy, "cold:arena", 2),
        (Family::CopyChecksum, "mixed:50", 2),
        (Family::Copy, "cold:clflush:src", 1),
        (Family::Copy, "cold:clflush:dst", 1),
    ];
    for (family, cache, operands) in cases {
        assert_eq!(2 * calls(family, cache) * operands * 4096, CACHES.l2 / 2, "{family} {cache}");
    }
}

#[test]
fn footprints_include_the_page_of_random_offsets() {
    let hot = |offsets| {
        Layout::new(Family::Copy, &condition(16 << 10, "hot", offsets), &CACHES).hot_bytes(16 << 10)
    };
    assert_eq!((hot("0"), hot("random-line"), hot("random")), (32 << 10, 32 << 10, 40 << 10));
}

#[test]
fn periods_repeat_their_arguments_if_possible() {
    let sizes = carryline_conditions::sizes::Sizes::parse_list("1..64/period:100").expect("sizes").remove(0);
    let condition = |cache: &str| Condition { sizes: sizes.clone(), ..condition(0, cache, "random") };
    let hot = condition("hot");
    let layout = Layout::new(Family::Copy, &hot, &CACHES);
    assert_eq!((layout.period, layout.most_calls), (Some(100), 100));
    let mut calls = vec![Call::default(); 200];
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    draw_calls(&layout, &hot, &SizeSource::new(&sizes), &mut rng, &mut calls);
    let key = |call: &Call| (call.len, call.dst, call.src);
    assert!((0..100).all(|at| key(&calls[at]) == key(&calls[at + 100])));
    assert!((1..100).any(|at| key(&calls[at]) != key(&calls[0])));
    let cold = condition("cold:arena");
    assert!(!cold.can_repeat() && Layout::new(Family::Copy, &cold, &CACHES).period.is_none());
}

#[test]
fn arenas_exceed_the_caches_and_have_several_windows() {
    let layout = Layout::new(Family::Checksum, &condition(1500, "cold:arena", "0"), &CACHES);
    let src = layout.src.expect("a checksum reads");
    assert!(src.windows() >= 2 && src.turns.places >= 5);
    assert!(src.shift(batches_of(&src)) == src.shift(0) && src.shift(src.windows()) != src.shift(0));
    assert!((src.stride * src.slots) as u64 >= CACHES.too_large() / 2);
}

#[test]
fn untimed_calls_after_an_eviction_have_lines_of_their_own() {
    /// The bytes whose page-table entries share a line.
    const TRANSLATED: usize = 8 * PAGE;
    for (cache, apart) in [("cold:evict", 1), ("cold:evict:src", 1), ("cold:evict:single", TRANSLATED)] {
        for size in [40, 1500, 65_536] {
            let layout = Layout::new(Family::Copy, &condition(size, cache, "0"), &CACHES);
            let src = layout.src.expect("a copy reads");
            for batch in 1..100 {
                let distance = src.shift(batch).abs_diff(src.shift(batch - 1));
                assert!(distance >= (src.window * src.stride).max(apart), "{cache} {size} {batch}");
            }
        }
    }
}

#[test]
fn isolated_calls_visit_every_window_and_none_adjacent_to_the_last() {
    for count in [1, 2, 3, 8, 100, 5461, 35_840] {
        let step = far_step(count);
        let mut seen: Vec<usize> = (0..count).map(|batch| batch * step % count).collect();
        if count > 8 {
            assert!(seen.windows(2).all(|pair| pair[0].abs_diff(pair[1]) > count / 4), "{count}");
        }
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..count), "{count}");
    }
}

#[test]
fn memory_matches_a_worker_s_buffers() {
    let copy = |bytes: u64, cache: &str| condition(bytes, cache, "0");
    let used = |cells: &[(Family, &Condition)]| memory_bytes(cells.iter().copied(), &CACHES);
    let room = |operand: &Option<Operand>| operand.map_or(0, |operand| operand.bytes() as u64);
    let large = copy(256 << 20, "hot");
    let layout = Layout::new(Family::Copy, &large, &CACHES);
    assert_eq!(used(&[(Family::Copy, &large)]), room(&layout.dst) + room(&layout.src));
    // The buffer of the limits is that of the destination, and may be the larger one.
    let in_memory = copy(CACHES.l3 + (1 << 20), "hot");
    let layout = Layout::new(Family::Copy, &in_memory, &CACHES);
    assert!(room(&layout.dst) < CACHES.too_large());
    assert_eq!(used(&[(Family::Copy, &in_memory)]), CACHES.too_large() + room(&layout.src));
    // Buffers are kept from cell to cell, each as large as any cell needs.
    let evicting = copy(4096, "cold:evict");
    let together = used(&[(Family::Copy, &large), (Family::Copy, &evicting), (Family::Zero, &in_memory)]);
    assert_eq!(together, used(&[(Family::Copy, &large)]) + CACHES.eviction());
}

#[test]
fn members_process_a_minimum_of_calls() {
    let least = |condition: &Condition| least_bytes(Family::Zero, condition, &CACHES);
    assert_eq!(least(&condition(8 << 30, "hot", "0")), 8 * (8 << 30));
    let (hot, cold) = (condition(4096, "hot", "0"), condition(4096, "cold:clflush", "0"));
    assert!(least(&cold) > least(&hot), "a cold batch has a stated number of calls");
    let evicting = least(&condition(4096, "cold:evict", "0"));
    assert!(evicting > least(&cold) + CACHES.eviction());
}

/// Their memory is computed before they are refused. A stride that wrapped to 0 let routines run without memory.
#[test]
fn sizes_near_the_end_of_the_address_space_need_more_memory_than_there_is() {
    use carryline_conditions::sizes::{Draw, Sizes};
    for size in [u64::MAX, u64::MAX - 615, 1 << 63, 1 << 47] {
        let mixed = Sizes::new("w", Draw::Weighted(vec![(40, 3.0), (size, 1e-12)]));
        for cache in ["hot", "cold:clflush", "cold:arena", "cold:evict:src", "mixed:40"] {
            for offsets in ["0", "63", "random", "alias", "random-line", "end"] {
                for then in [Then::Nothing, Then::ReadLater(1 << 40)] {
                    let fixed = Condition { then, ..condition(size, cache, offsets) };
                    let drawn = Condition { sizes: mixed.clone(), ..fixed.clone() };
                    for condition in [fixed, drawn] {
                        let bytes = memory_bytes([(Family::Copy, &condition)], &CACHES);
                        assert!(bytes >= size, "{bytes} for {condition:?}");
                        let _ = (
                            level_of(Family::Copy, &condition, &CACHES),
                            least_bytes(Family::Copy, &condition, &CACHES),
                        );
                        let _ = uses_few_lines(Family::Copy, &condition, &CACHES);
                    }
                }
            }
        }
    }
}
