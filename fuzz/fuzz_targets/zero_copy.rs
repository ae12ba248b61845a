//! See `library/fuzz/src/targets/zero_copy.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| carryline_fuzz::check("zero_copy", data));
