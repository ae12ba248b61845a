//! Special measurements: what the cells of a matrix cannot hold, such as a page fault, a task switch or a system
//! call.

pub mod bandwidth;
mod chains;
pub mod dirty_check;
pub mod first_touch;
pub mod four_numbers;
pub mod inlined40;
pub mod latency;
pub mod neighbour;
pub mod page_colour;
mod planted;
pub mod pollution;
pub mod prezero;
pub mod simd_switch;
pub mod small_copy;
pub mod string_startup;
pub mod syscall;

#[cfg(test)]
use carryline_engine::probe::Setup;
use carryline_engine::probe::Special;
#[cfg(test)]
use carryline_machine::environment::CacheSizes;
#[cfg(test)]
use carryline_verification::status::StatusPage;
#[cfg(test)]
use std::time::Duration;

/// The list.
pub static SPECIALS: &[&Special] = &[
    &chains::SPECIAL,
    &bandwidth::SPECIAL,
    &dirty_check::SPECIAL,
    &page_colour::SPECIAL,
    &string_startup::SPECIAL,
    &small_copy::SPECIAL,
    &syscall::SPECIAL,
    &latency::SPECIAL,
    &first_touch::SPECIAL,
    &four_numbers::SPECIAL,
    &inlined40::SPECIAL,
    &neighbour::SPECIAL,
    &planted::SPECIAL,
    &pollution::SPECIAL,
    &prezero::SPECIAL,
    &simd_switch::SPECIAL,
];

#[cfg(test)]
/// What the tests set a special up with; they look at what is made and not at times.
pub(crate) fn setup_for_test<'a>(status: &'a StatusPage, seed: u64, caches: CacheSizes) -> Setup<'a> {
    Setup {
        parameters: &serde_json::Value::Null,
        seed,
        replicate: 0,
        caches,
        cpu: None,
        ticks_per_ns: 1.0,
        time: Duration::ZERO,
        status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_file_is_on_the_list_under_its_name() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/special");
        let names: BTreeSet<&str> = SPECIALS.iter().map(|special| special.name).collect();
        assert_eq!(names.len(), SPECIALS.len(), "a name is there twice");
        for entry in std::fs::read_dir(folder).expect("the folder of specials") {
            let file = entry.expect("an entry").path();
            let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
            // A folder holds the parts of the special of its name.
            if stem != "mod" && !file.is_dir() {
                assert!(names.contains(stem.as_str()), "{stem} is on no list");
            }
        }
    }
}
