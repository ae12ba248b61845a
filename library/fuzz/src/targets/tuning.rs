//! `tuning`: valid and damaged texts of profiles. A text that is accepted must be the same after writing and
//! reading it again. It is then put in force, and the checks of `zero_copy` and `copy_and_sum` must still
//! pass.

use super::{copy_and_sum, zero_copy};
use crate::input::Input;
use carryline::internals::tuning::{Decision, Profile, built_in, built_in_names, parse};
use carryline::tuning::apply;

pub(super) fn check(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let kind = input.byte();
    let names: Vec<_> = built_in_names().collect();
    let profile = built_in(names[usize::from(kind) % names.len()]).expect("a name of the list");
    let mut profile = Profile { cpu: None, ..*profile };
    for decision in Decision::ALL {
        let word = usize::from(input.word());
        let bytes = match decision.word() {
            Some((_, of_word)) if word % 8 == 0 => of_word,
            _ => decision.bounds().start() + word / 8,
        };
        profile.decisions = profile.decisions.with(*decision, bytes).unwrap_or(profile.decisions);
    }
    let mut text = profile.to_string().into_bytes();
    for _ in 0..kind / 64 {
        let place = input.below(text.len());
        text[place] = input.byte();
    }
    let Ok(text) = std::str::from_utf8(&text) else { return };
    match parse(text) {
        Ok(read) => assert_eq!(parse(&read.to_string()), Ok(read), "{text}"),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    // A profile with kernels that this CPU cannot run is rejected.
    let _ = apply(text);
    zero_copy::check(bytes);
    copy_and_sum::check(bytes);
}
