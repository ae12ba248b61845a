//! See `library/fuzz/src/targets/partial.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| carryline_fuzz::check("partial", data));
