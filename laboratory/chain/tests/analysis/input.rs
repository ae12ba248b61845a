//! Invalid input is rejected with a reason and an offset; no input panics or hangs.

use carryline_chain::analysis::{self, Options};
use carryline_chain::latencies::Latencies;
use carryline_chain::{ChainError, Image, Signature, decode, draw, suggest, table};
use std::time::{Duration, Instant};

const FOLDED: draw::View<'_> = draw::View { full: false, hot: draw::Hot::Chain };

fn rejected(hex: &str) -> ChainError {
    match Image::from_hex(hex).and_then(|image| decode::follow(&image)) {
        Ok(function) => panic!("{hex} was accepted: {} instructions", function.instructions.len()),
        Err(error) => error,
    }
}

#[test]
fn invalid_code_is_rejected_with_offset_and_reason() {
    assert_eq!(rejected("48 0g"), ChainError::Hex { found: 'g', position: 5 });
    assert_eq!(rejected("480"), ChainError::HalfByte { digits: 3 });
    assert_eq!(rejected("  "), ChainError::Empty);
    // 06 is push es, which 64-bit code does not have.
    assert_eq!(rejected("90 06"), ChainError::NotAnInstruction { offset: 1, bytes: "06".into() });
    assert_eq!(rejected("48 01 f8"), ChainError::RunsOut { offset: 3 });
    assert_eq!(rejected("90 48 01"), ChainError::RunsOut { offset: 3 });
    assert_eq!(rejected("eb fe"), ChainError::Endless { offset: 0 });
    assert_eq!(rejected("90 eb 70 c3"), ChainError::JumpsOut { offset: 1, target: 0x73 });
    assert_eq!(rejected("eb 80 c3"), ChainError::JumpsOut { offset: 0, target: -126 });
    let text = rejected("90 06").to_string();
    assert!(text.contains("0x1") && text.contains("06"), "{text}");
}

#[test]
fn common_hexadecimal_notations_are_accepted() {
    for text in ["4801f8c3", "48 01 F8 C3", "0x48,0x01,0xf8,0xc3", "\\x48\\x01\\xf8\\xc3", "48\n01 f8\tc3"] {
        let image = Image::from_hex(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(decode::follow(&image).expect("add, ret").instructions.len(), 2, "{text}");
    }
}

#[test]
fn code_over_the_limit_is_rejected_at_the_limit() {
    let long = "90".repeat(carryline_chain::image::MOST_BYTES) + "c3";
    assert!(matches!(rejected(&long), ChainError::TooLong { offset: 65536, .. }));
    let longest = "90".repeat(carryline_chain::image::MOST_BYTES - 1) + "c3";
    assert!(Image::from_hex(&longest).and_then(|image| decode::follow(&image)).is_ok());
}

/// Splitmix64: the same bytes every time.
fn random(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    };
    (0..len.div_ceil(8)).flat_map(|_| next().to_le_bytes()).take(len).collect()
}

/// Runs every analysis on the bytes if they decode; true if they do.
fn survives(bytes: Vec<u8>, latencies: &Latencies) -> bool {
    let Ok(image) = Image::from_bytes(bytes) else { return false };
    let Ok(function) = decode::follow(&image) else { return false };
    let signature =
        if function.instructions.len() % 2 == 0 { Signature::unknown() } else { Signature::checksum() };
    let found = analysis::of_function(function, &signature, Options::new(latencies));
    let options = Options::new(latencies);
    for suggestion in suggest::for_call(&found, &signature, options) {
        assert!(!suggestion.what.is_empty());
    }
    let mut pictures = vec![draw::of_analysis(&found, "code", None, FOLDED)];
    for bound in found.loops.iter().take(3) {
        pictures.push(draw::of_loop(&found, bound, "loop", draw::Hot::Chain));
        assert!(suggest::for_loop(&found, bound, options).len() < 2);
    }
    for picture in pictures.iter().filter(|picture| picture.nodes.len() <= 120) {
        assert!(draw::to_svg(picture).ends_with("</svg>\n"));
        assert!(draw::to_dot(picture).ends_with("}\n"));
    }
    for input in &found.inputs {
        assert!(input.path_cycles.is_none_or(f64::is_finite));
        let sum: f64 = input.steps.iter().map(|step| step.cycles).sum();
        assert!((sum - input.path_cycles.unwrap_or(0.0)).abs() < 1e-6);
    }
    for found in &found.loops {
        assert!(found.recurrence_cycles.is_finite() && found.recurrence_cycles >= 0.0);
        if found.recurrence_cycles > 0.0 {
            let sum: f64 = found.chain.iter().map(|link| link.cycles).sum();
            let iterations = found.chain.iter().filter(|link| link.is_carried).count().max(1);
            assert!((sum / iterations as f64 - found.recurrence_cycles).abs() < 1e-6, "{found:?}");
        }
    }
    true
}

#[test]
fn random_bytes_neither_panic_nor_hang() {
    let latencies: Vec<Latencies> = table::all().iter().map(Latencies::of_table).collect();
    let begin = Instant::now();
    let (mut decoded, mut tried) = (0, 0);
    for seed in 0..20_000 {
        let len = [4, 16, 64, 256][seed as usize % 4];
        let mut bytes = random(seed, len);
        // Many returns, so that much of it is valid code.
        for at in (3..len).step_by(5 + seed as usize % 11) {
            bytes[at] = 0xc3;
        }
        decoded += usize::from(survives(bytes, &latencies[seed as usize % latencies.len()]));
        tried += 1;
        // Fewer suffice on a slow machine.
        if begin.elapsed() > Duration::from_secs(20) && tried > 1000 {
            break;
        }
    }
    assert!(decoded * 20 > tried, "only {decoded} of {tried} are valid code");
}

#[test]
fn large_code_with_many_short_branches_terminates() {
    // Short branches to nearby addresses, with additions between them: many blocks and overlapping loops.
    let latencies = Latencies::of_table(table::by_name("zen4").expect("a table"));
    for (seed, len) in [(0, 60_000), (1, 10_000), (2, 10_000)] {
        let noise = random(seed, len);
        let mut bytes = Vec::new();
        while bytes.len() < len {
            let pick = noise[bytes.len() % noise.len()];
            match pick % 4 {
                0 => bytes.extend([0x75, (pick & 0x7e).wrapping_sub(64) & !1]),
                1 => bytes.extend([0x01, 0xc0 | pick & 0x3f]),
                2 => bytes.extend([0x03, 0x07]),
                _ => bytes.extend([0xff, 0xc0 | pick & 7]),
            }
        }
        bytes.splice(0..0, [0x90; 64]);
        bytes.extend([0xc3; 128]);
        assert!(survives(bytes, &latencies));
    }
}
