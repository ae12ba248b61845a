//! See `library/fuzz/src/targets/sum_pieces.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| carryline_fuzz::check("sum_pieces", data));
