//! Plans for every built-in profile.

use super::*;
use crate::profile::{Profile, built_in, built_in_names};

const SHARE: usize = 2 << 20;
const LAST_LEVEL: usize = 8 << 20;
const COPY: Job = Job::Copy { is_near: false };
const EVERY_NEXT: [Next; 5] =
    [Next::Unknown, Next::ReadHere, Next::ReadElsewhere, Next::NotSoon, Next::Device];

fn profiles() -> impl Iterator<Item = &'static Profile<'static>> {
    built_in_names().filter_map(built_in)
}

fn unmeasured() -> &'static Profile<'static> {
    built_in("unmeasured").expect("a built-in profile")
}

/// The plan for a profile on a CPU with these caches, with AVX2 and fast string instructions.
fn plan(profile: &Profile<'_>, intent: impl Into<Intent>, len: usize, job: Job) -> Plan {
    let decided = |decision| match decision {
        Decision::CacheShare => SHARE,
        Decision::LastLevel => LAST_LEVEL,
        _ => profile.decisions.get(decision),
    };
    Plan::of(intent.into(), len, job, decided)
}

fn way(profile: &Profile<'_>, intent: impl Into<Intent>, len: usize, job: Job) -> Way {
    plan(profile, intent, len, job).way
}

#[test]
fn every_intent_has_its_threshold_in_every_profile() {
    for profile in profiles() {
        for (next, job, from) in [
            (Next::Unknown, Job::Zero, SHARE),
            (Next::Unknown, COPY, SHARE / 2),
            (Next::ReadElsewhere, Job::Zero, LAST_LEVEL),
            (Next::ReadElsewhere, COPY, LAST_LEVEL / 2),
            (Next::NotSoon, Job::Zero, profile.decisions.get(Decision::ZeroNonTemporal)),
            (Next::NotSoon, COPY, profile.decisions.get(Decision::CopyNonTemporal)),
            (Next::Device, COPY, profile.decisions.get(Decision::CopyNonTemporal)),
        ] {
            let is_non_temporal = |len| way(profile, next, len, job).is_non_temporal();
            assert!(!is_non_temporal(0) && !is_non_temporal(from - 1), "{} {next:?} {job:?}", profile.name);
            assert!(
                is_non_temporal(from) && is_non_temporal(usize::MAX),
                "{} {next:?} {job:?}",
                profile.name
            );
        }
        for job in [Job::Zero, COPY] {
            assert!(!way(profile, Next::ReadHere, usize::MAX, job).is_non_temporal());
        }
    }
}

#[test]
fn string_instructions_start_at_their_thresholds() {
    for profile in profiles() {
        for (next, job, decision) in [
            (Next::Unknown, Job::Zero, Decision::RepStosb),
            (Next::ReadHere, Job::Zero, Decision::RepStosbReadHere),
            (Next::NotSoon, Job::Zero, Decision::RepStosbNotSoon),
            (Next::Unknown, COPY, Decision::RepMovsb),
            (Next::NotSoon, COPY, Decision::RepMovsbNotSoon),
        ] {
            let at = format!("{} {}", profile.name, decision.name());
            match profile.decisions.get(decision) {
                usize::MAX => {
                    for len in (0..40).map(|bits| 1 << bits) {
                        assert_ne!(way(profile, next, len, job), Way::String, "{at}: {len}");
                    }
                }
                from => {
                    assert_eq!(way(profile, next, from - 1, job), Way::Loop, "{at}");
                    assert_eq!(way(profile, next, from, job), Way::String, "{at}");
                }
            }
        }
    }
}

#[test]
fn loops_prefetch_from_their_thresholds_on() {
    let granite_rapids = built_in("intel-granite-rapids").expect("a built-in profile");
    for (job, decision) in [(Job::Zero, Decision::ZeroPrefetch), (COPY, Decision::CopyPrefetch)] {
        let from = granite_rapids.decisions.get(decision);
        for next in [Next::Unknown, Next::ReadHere, Next::ReadElsewhere] {
            let fetched = |profile, len| plan(profile, next, len, job).fetched;
            assert!(!fetched(granite_rapids, from - 1) && fetched(granite_rapids, from), "{next:?}");
            assert!(!fetched(unmeasured(), from), "{next:?}");
        }
        assert!(!plan(granite_rapids, Next::NotSoon, from, job).fetched, "its stores are non-temporal");
    }
}

#[test]
fn non_temporal_copies_prefetch_far_from_their_threshold_on() {
    const FAR: usize = 4 << 20;
    let decided = |decision| match decision {
        Decision::CacheShare => SHARE,
        Decision::LastLevel => LAST_LEVEL,
        Decision::CopyPrefetchFar => FAR,
        _ => unmeasured().decisions.get(decision),
    };
    for next in EVERY_NEXT {
        let of = |intent: Intent, len, job| Plan::of(intent, len, job, decided);
        let is_far = next != Next::ReadHere;
        assert!(!of(next.into(), FAR - 1, COPY).fetched, "{next:?}");
        assert_eq!(of(next.into(), FAR, COPY).fetched, is_far, "{next:?}");
        assert_eq!(of(next.into(), FAR, COPY).unfenced(next.into()).fetched, is_far, "{next:?}");
        assert!(!of(Intent::new(next).source_done(), FAR, COPY).fetched, "{next:?}: the source is read once");
        assert!(!of(next.into(), FAR, Job::Zero).fetched, "{next:?}: nothing is read");
    }
    let short = Plan::of(Next::NotSoon.into(), PREFETCH_FAR_LEAST_BYTES - 1, COPY, |_| 0);
    assert!(short.way == Way::NonTemporal && !short.fetched);
}

#[test]
fn non_temporal_zeroing_uses_clzero_from_its_threshold_on() {
    const FROM: usize = 4096;
    let decided = |decision| match decision {
        Decision::CacheShare => SHARE,
        Decision::LastLevel => LAST_LEVEL,
        Decision::Clzero => FROM,
        Decision::ZeroNonTemporal | Decision::CopyNonTemporal => 1024,
        _ => unmeasured().decisions.get(decision),
    };
    let of = |intent: Intent, len, job| Plan::of(intent, len, job, decided).unfenced(intent).way;
    for next in [Next::NotSoon, Next::Device] {
        assert_eq!(of(next.into(), FROM - 1, Job::Zero), Way::NonTemporal, "{next:?}");
        assert_eq!(of(next.into(), FROM, Job::Zero), Way::Clzero, "{next:?}");
        assert_eq!(of(next.into(), FROM, COPY), Way::NonTemporal, "{next:?}");
        let part = Intent::new(next).part_of(SHARE);
        assert_eq!(of(part, FROM - 1, Job::Zero), Way::NonTemporal, "{next:?}: the length decides");
    }
    for next in [Next::Unknown, Next::ReadElsewhere] {
        assert_eq!(of(next.into(), FROM, Job::Zero), Way::Loop, "{next:?}");
        assert_eq!(of(next.into(), LAST_LEVEL, Job::Zero), Way::Clzero, "{next:?}");
    }
    assert_eq!(of(Next::ReadHere.into(), LAST_LEVEL, Job::Zero), Way::Loop);
}

#[test]
fn distances_and_single_reads_disable_string_instructions() {
    for profile in profiles() {
        for (len, next) in (9..30).flat_map(|bits| EVERY_NEXT.map(|next| (1 << bits, next))) {
            let near = way(profile, next, len, Job::Copy { is_near: true });
            let is_string = way(profile, next, len, COPY) == Way::String;
            let is_allowed =
                len < NEAR_STRINGS_BELOW_BYTES && len >= profile.decisions.get(Decision::RepMovsbNear);
            assert_eq!(near == Way::String, is_string && is_allowed, "{}: {len}", profile.name);
            let once = plan(profile, Intent::new(next).source_done(), len, COPY);
            assert!(once.way != Way::String || !once.source_done);
        }
    }
}

#[test]
fn strings_near_above_the_source_have_a_threshold_and_a_limit() {
    const NEAR: usize = 4096;
    let decided = |decision| match decision {
        Decision::RepMovsb => NARROW_LOOPS_BELOW_BYTES,
        Decision::RepMovsbNear => NEAR,
        _ => unmeasured().decisions.get(decision),
    };
    let is_string =
        |len, is_near| Plan::of(Intent::default(), len, Job::Copy { is_near }, decided).way == Way::String;
    for len in
        [NARROW_LOOPS_BELOW_BYTES, NEAR - 1, NEAR, NEAR_STRINGS_BELOW_BYTES - 1, NEAR_STRINGS_BELOW_BYTES]
    {
        assert!(is_string(len, false), "{len}");
        assert_eq!(is_string(len, true), (NEAR..NEAR_STRINGS_BELOW_BYTES).contains(&len), "{len}");
    }
}

#[test]
fn sources_are_read_once_above_a_length_and_with_non_temporal_stores() {
    for profile in profiles() {
        let from = profile.decisions.get(Decision::ReadOnce);
        let is_once = |intent: Intent, len| plan(profile, intent, len, COPY).source_done;
        let done = |next| Intent::new(next).source_done();
        assert!(!is_once(done(Next::ReadHere), from - 1) && is_once(done(Next::ReadHere), from));
        assert!(is_once(done(Next::Unknown).part_of(SHARE), 600));
        assert!(!is_once(Next::Unknown.into(), usize::MAX));
        let unfenced = plan(profile, done(Next::NotSoon), 600, COPY).unfenced(done(Next::NotSoon));
        assert!(unfenced.source_done);
    }
}

#[test]
fn calls_below_the_limit_use_loops() {
    for profile in profiles() {
        for next in [Next::Unknown, Next::ReadHere] {
            for len in [0, 511, LOOPS_BELOW_BYTES - 1] {
                assert_eq!(way(profile, next, len, Job::Zero), Way::Loop);
                assert_eq!(way(profile, next, len, COPY), Way::Loop);
            }
        }
    }
}

#[test]
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
fn what_is_known_to_be_by_string_is_planned_so() {
    for len in (0..40).flat_map(|bits| [(1 << bits) - 1, 1 << bits, 3 << bits]) {
        let is_planned = Plan::of_zero(Intent::default(), len).way == Way::String;
        // Known by now; above a share of the caches, the plan decides.
        assert_eq!(Plan::is_zero_by_string(len), is_planned && len < *SHARE_BYTES.start(), "{len}");
        for distance in [0, 1, 63, 64, 4097] {
            let (dst, src) = (((1 << 30) + distance) as *const u8, (1 << 20) as *const u8);
            let is_planned = Plan::of_copy(Intent::default(), dst, src, len).way == Way::String;
            let is_short = (NARROW_LOOPS_BELOW_BYTES..LOOPS_BELOW_BYTES).contains(&len);
            if len < LOOPS_BELOW_BYTES {
                let known = Plan::is_short_copy_by_string::<u128>(dst, src, len);
                assert_eq!(known, is_planned && is_short, "{len} {distance}");
            }
            assert!(!Plan::is_short_copy_by_string::<[u128; 2]>(dst, src, len), "{len} {distance}");
        }
    }
}

#[test]
fn the_job_size_replaces_the_length() {
    let from = unmeasured().decisions.get(Decision::ZeroNonTemporal);
    for (len, job, expected) in
        [(1, 1 << 20, true), (600, from - 1, false), (1 << 16, 1, true), (0, 0, false)]
    {
        let way = way(unmeasured(), Intent::new(Next::NotSoon).part_of(job), len, Job::Zero);
        assert_eq!(way.is_non_temporal(), expected, "{len} of {job}");
    }
    let large = Intent::default().part_of(2 << 20);
    assert_eq!(way(unmeasured(), large, 64, Job::Zero), Way::NonTemporal);
}

#[test]
fn unfenced_stores_not_read_soon_are_non_temporal() {
    for next in EVERY_NEXT {
        let plan = Plan::default().unfenced(next.into());
        assert_eq!(plan.way == Way::NonTemporal, matches!(next, Next::NotSoon | Next::Device));
    }
}

#[test]
fn cache_sizes_are_read_only_where_they_matter() {
    let no_cache = |decision| match decision {
        Decision::CacheShare | Decision::LastLevel => unreachable!("cache size read"),
        _ => unmeasured().decisions.get(decision),
    };
    for next in EVERY_NEXT {
        Plan::of(next.into(), SHARE_BYTES.start() - 1, Job::Zero, no_cache);
    }
    Plan::of(Next::ReadHere.into(), usize::MAX, COPY, no_cache);
}

#[test]
fn extreme_thresholds_work() {
    for threshold in [0, 1, usize::MAX] {
        for next in [Next::Unknown, Next::ReadElsewhere] {
            let is_non_temporal =
                |len| Plan::of(next.into(), len, Job::Zero, |_| threshold).way.is_non_temporal();
            assert!(!is_non_temporal(0));
            assert_eq!(is_non_temporal(1 << 40), threshold <= 1 << 40);
            assert!(is_non_temporal(usize::MAX));
        }
    }
}

#[test]
fn distances_that_look_like_overlaps_are_detected() {
    let src: usize = (1 << 40) + 77;
    for pages in [0, 4096, 1 << 20, 1 << 32, usize::MAX - 4095] {
        let is_near = |distance: usize| is_near_above(src.wrapping_add(pages).wrapping_add(distance), src);
        for near in [1, 2, 31, 32, 63] {
            assert!(is_near(near), "{pages} + {near}");
        }
        for far in [0, 64, 65, 2048, 4032, 4095] {
            assert!(!is_near(far), "{pages} + {far}");
        }
    }
}
