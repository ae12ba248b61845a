//! Tests of the order of calls.

use super::*;
use carryline_conditions::sizes::Sizes;
use rand_core::SeedableRng;

const CACHES: CacheSizes = CacheSizes { l1: 48 << 10, l2: 1 << 20, l3: 32 << 20, l3_held: None };

/// A condition's layout, its calls as drawn, and reordered.
fn reordered(condition: &Condition) -> (Layout, Vec<Call>, Vec<Call>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(29);
    let layout = Layout::new(Family::Copy, condition, &CACHES);
    let segments = condition.segments.len();
    let mut drawn = vec![Call::default(); layout.listed(layout.most_calls * segments.max(1))];
    draw_calls(&layout, condition, &SizeSource::new(&condition.sizes), &mut rng, &mut drawn);
    let mut calls = drawn.clone();
    layout.reorder(segments, &mut rng, &mut calls);
    (layout, drawn, calls)
}

fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values
}

#[test]
fn calls_whose_result_is_read_later_are_reordered_but_keep_the_turns_of_their_slots() {
    let condition = Condition {
        sizes: Sizes::parse_list("1..1500").expect("sizes").remove(0),
        offsets: Offsets::Random,
        then: Then::ReadLater(64 << 10),
        ..Condition::plain(0)
    };
    let (layout, drawn, calls) = reordered(&condition);
    let dst = layout.dst.expect("a copy writes");
    assert!(layout.lag > 1 && dst.slots == layout.lag + 1);
    let lens = |calls: &[Call]| calls.iter().map(|call| call.len).collect::<Vec<_>>();
    assert_ne!(lens(&drawn), lens(&calls));
    let key = |call: &Call| (call.len, call.dst as usize % dst.stride, call.src);
    assert_eq!(sorted(drawn.iter().map(key)), sorted(calls.iter().map(key)));
    let slots = calls.iter().map(|call| call.dst as usize / dst.stride);
    assert!(slots.enumerate().all(|(index, slot)| slot == index % dst.slots));
}

/// Makes a batch's untimed and timed calls, and compares what each reads with what was written there last.
#[test]
fn what_is_read_later_was_written_that_many_calls_ago_by_the_same_routine() {
    for kib in [4, 64, 4 << 10] {
        let condition = Condition { then: Then::ReadLater(kib << 10), ..Condition::plain(2048) };
        let (layout, _, calls) = reordered(&condition);
        let lag = layout.lag;
        assert_eq!(lag as u64, kib / 2);
        for count in [1, lag, lag + 1, calls.len()] {
            let mut written_at = std::collections::BTreeMap::new();
            for now in 0..=lag + count {
                let index = if now <= lag { now } else { now - lag - 1 };
                written_at.insert(calls[index].dst, now);
                if now > lag {
                    let read = calls[crate::loops::read_later(index, lag)].dst;
                    assert_eq!(written_at[&read], now - lag, "{kib} KiB, call {index} of {count}");
                }
            }
        }
    }
}

#[test]
fn messages_of_segments_are_reordered_as_a_whole() {
    for cache in ["hot", "cold:clflush"] {
        let condition = Condition {
            segments: vec![512, 1024, 64],
            offsets: Offsets::Random,
            cache: cache.parse().expect("a cache state"),
            ..Condition::plain(1600)
        };
        let (_, drawn, calls) = reordered(&condition);
        let messages = |calls: &[Call]| -> Vec<Vec<(u64, u32, u32)>> {
            let key = |call: &Call| (call.len, call.dst, call.src);
            calls.chunks_exact(3).map(|message| message.iter().map(key).collect()).collect()
        };
        let (before, after) = (messages(&drawn), messages(&calls));
        assert_ne!(before, after, "{cache}");
        assert!(after.iter().all(|message| [message[0].0, message[1].0, message[2].0] == [512, 1024, 64]));
        assert_eq!(sorted(before.into_iter()), sorted(after.into_iter()), "{cache}");
    }
}

#[test]
fn cold_calls_take_their_lines_with_them() {
    for cache in ["cold:arena", "mixed:50", "cold:evict:dst"] {
        let condition = Condition {
            offsets: Offsets::Random,
            cache: cache.parse().expect("a cache state"),
            then: Then::ReadLater(16 << 10),
            ..Condition::plain(1500)
        };
        let (_, drawn, calls) = reordered(&condition);
        let key = |call: &Call| (call.dst, call.src);
        assert_ne!(drawn.iter().map(key).collect::<Vec<_>>(), calls.iter().map(key).collect::<Vec<_>>());
        assert_eq!(sorted(drawn.iter().map(key)), sorted(calls.iter().map(key)), "{cache}");
    }
}
