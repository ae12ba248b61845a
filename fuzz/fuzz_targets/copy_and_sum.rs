//! See `library/fuzz/src/targets/copy_and_sum.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| carryline_fuzz::check("copy_and_sum", data));
