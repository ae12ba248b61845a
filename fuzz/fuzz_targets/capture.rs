//! See `library/fuzz/src/targets/capture.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| carryline_fuzz::check("capture", data));
