//! The quick verification of every variant that runs here, and checks of the collection.
//!
//! The laboratory's own verification goes further (guard pages, processes, processor state); this one takes
//! seconds and shows the author of a variant what is wrong with it.

use crate::ones_complement::fold;
use crate::{Family, Routine, Variant, all, of};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Bytes on either side of a buffer that must not change.
const MARGIN: usize = 128;
const LENGTHS_MOST: usize = 300;
const OFFSETS: usize = 64;
const SEEDS: [u32; 9] = [0, 1, 2, 0xffff, 0x1_0000, 0x8000_0000, 0xffff_0000, 0xffff_ffff, 0x1234_5678];

fn noise(at: usize) -> u8 {
    let mixed = (at as u64 ^ 0x5851_f42d_4c95_7f2d).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 56) as u8
}

/// Message bytes by position and length, adversarial ones first.
type Pattern = (&'static str, fn(at: usize, len: usize) -> u8);
const PATTERNS: [Pattern; 9] = [
    ("all zero", |_, _| 0),
    ("all ones", |_, _| 0xff),
    ("ones except for the middle byte", |at, len| if at == len / 2 { 0xfe } else { 0xff }),
    ("ones except for the last byte", |at, len| if at + 1 == len { 0 } else { 0xff }),
    ("only the first byte", |at, _| u8::from(at == 0)),
    ("only the last byte", |at, len| u8::from(at + 1 == len) << 7),
    ("one carry out of the top of every 128 bits", |at, _| match at % 64 {
        0..32 => 0xff,
        32 => 1,
        _ => 0,
    }),
    ("alternating words of 1 and ffff", |at, _| if at % 4 == 0 { 1 } else { 0xff * u8::from(at % 4 > 1) }),
    ("noise", |at, _| noise(at)),
];

/// Lengths at which main loops, blocks and folds begin and end.
const LONG: [usize; 23] = [
    511, 512, 513, 1023, 1024, 1025, 1087, 1500, 2047, 2048, 2111, 3135, 4096, 9000, 65_535, 65_536, 131_072,
    262_177, 524_288, 524_351, 1_048_577, 2_097_153, 4_194_369,
];

/// Memory in which byte `MARGIN + offset` lies `offset` bytes past a 64-byte line boundary.
struct Memory {
    bytes: Vec<u8>,
    line: usize,
}

impl Memory {
    fn new(len: usize) -> Memory {
        let bytes: Vec<u8> = (0..len + OFFSETS + 2 * MARGIN + 64).map(|at| noise(at) | 1).collect();
        let line = bytes.as_ptr().addr().wrapping_neg() % 64;
        Memory { bytes, line }
    }

    fn start(&self, offset: usize) -> usize {
        self.line + MARGIN + offset
    }

    fn at(&mut self, offset: usize) -> *mut u8 {
        let start = self.start(offset);
        // One pointer to the whole memory, so that a routine that goes too far hits these bytes.
        self.bytes.as_mut_ptr().wrapping_add(start)
    }

    fn put(&mut self, offset: usize, message: &[u8]) {
        let start = self.start(offset);
        self.bytes[start..start + message.len()].copy_from_slice(message);
    }
}

fn sound(family: Family) -> Vec<&'static Variant> {
    of(family).iter().copied().filter(|v| v.known_bad.is_none() && v.runs_here()).collect()
}

fn message(pattern: &Pattern, len: usize) -> Vec<u8> {
    (0..len).map(|at| pattern.1(at, len)).collect()
}

fn expected_sum(message: &[u8], seed: u32) -> u16 {
    let Routine::Checksum(reference) = crate::checksum::reference::VARIANT.routine else {
        panic!("the reference of checksum is a checksum")
    };
    // SAFETY: the message's own bytes.
    fold(unsafe { reference(message.as_ptr(), message.len(), seed) })
}

fn check_zero(variants: &[&Variant], memory: &mut Memory, len: usize, offset: usize) {
    let before = memory.bytes.clone();
    let mut wanted = before.clone();
    let start = memory.start(offset);
    wanted[start..start + len].fill(0);
    for variant in variants.iter().filter(|v| v.lengths.contains(len)) {
        let Routine::Zero(zero) = variant.routine else { panic!("{} is on the wrong list", variant.name) };
        memory.bytes.copy_from_slice(&before);
        // SAFETY: len bytes at the offset lie inside the memory.
        unsafe { zero(memory.at(offset), len) };
        let wrong = memory.bytes.iter().zip(&wanted).position(|(got, want)| got != want);
        let wrong = wrong.map(|at| at as i64 - start as i64);
        assert_eq!(wrong, None, "zero/{} length {len} offset {offset}: wrong byte", variant.name);
    }
    memory.bytes.copy_from_slice(&before);
}

#[test]
fn zeroing_is_exact() {
    let variants = sound(Family::Zero);
    let mut memory = Memory::new(LENGTHS_MOST);
    for len in 0..=LENGTHS_MOST {
        for offset in 0..OFFSETS {
            check_zero(&variants, &mut memory, len, offset);
        }
    }
    for len in LONG {
        let mut memory = Memory::new(len);
        for offset in [0, 1, 63] {
            check_zero(&variants, &mut memory, len, offset);
        }
    }
}

/// Calls every copy, with or without a sum, and compares both buffers and the sum.
fn check_copy(variants: &[&Variant], dst: &mut Memory, src: &mut Memory, len: usize, to: usize, from: usize) {
    let before = dst.bytes.clone();
    let source = src.bytes.clone();
    let mut wanted = before.clone();
    let start = dst.start(to);
    let begin = src.start(from);
    let message = &source[begin..begin + len];
    wanted[start..start + len].copy_from_slice(message);
    let seed = SEEDS[(len + to) % SEEDS.len()];
    let sum = expected_sum(message, seed);
    for variant in variants.iter().filter(|v| v.lengths.contains(len)) {
        let place = || format!("{}/{} length {len} to {to} from {from}", variant.family(), variant.name);
        dst.bytes.copy_from_slice(&before);
        match variant.routine {
            // SAFETY: len bytes at both offsets lie inside two memories.
            Routine::Copy(copy) => unsafe { copy(dst.at(to), src.at(from), len) },
            Routine::CopyChecksum(copy) => {
                // SAFETY: len bytes at both offsets lie inside two memories, which are initialised.
                let got = unsafe { copy(dst.at(to), src.at(from), len, seed) };
                assert_eq!(fold(got), sum, "{} seed {seed:#x}", place());
            }
            _ => panic!("{} is on the wrong list", variant.name),
        }
        let wrong = dst.bytes.iter().zip(&wanted).position(|(got, want)| got != want);
        assert_eq!(wrong.map(|at| at as i64 - start as i64), None, "{}: wrong byte", place());
        assert!(src.bytes == source, "{}: the source was written", place());
    }
    dst.bytes.copy_from_slice(&before);
}

#[test]
fn copying_is_exact() {
    let variants = [sound(Family::Copy), sound(Family::CopyChecksum)].concat();
    let (mut dst, mut src) = (Memory::new(LENGTHS_MOST), Memory::new(LENGTHS_MOST));
    src.bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte = noise(at + 7777));
    for len in 0..=LENGTHS_MOST {
        for to in 0..OFFSETS {
            for from in [to, (7 * to + len) % OFFSETS] {
                check_copy(&variants, &mut dst, &mut src, len, to, from);
            }
        }
    }
    for len in LONG {
        let (mut dst, mut src) = (Memory::new(len), Memory::new(len));
        for (to, from) in [(0, 0), (1, 0), (0, 63), (33, 17)] {
            src.put(from, &message(&PATTERNS[(len + to) % PATTERNS.len()], len));
            check_copy(&variants, &mut dst, &mut src, len, to, from);
        }
    }
}

/// The first difference between a variant and the reference over `lengths`, if any.
fn wrong_sum(
    variant: &Variant,
    lengths: impl Iterator<Item = usize>,
    offsets: &[usize],
    seeds: &[u32],
) -> Option<String> {
    let Routine::Checksum(sum) = variant.routine else { panic!("{} is on the wrong list", variant.name) };
    for len in lengths.filter(|len| variant.lengths.contains(*len)) {
        let mut memory = Memory::new(len);
        for pattern in &PATTERNS {
            let message = message(pattern, len);
            let seeds: Vec<u32> = seeds.iter().map(|seed| variant.lengths.seed(*seed)).collect();
            let wanted: Vec<u16> = seeds.iter().map(|seed| expected_sum(&message, *seed)).collect();
            for offset in offsets {
                // The bytes next to the message must not matter.
                memory.bytes.fill(0xa5);
                memory.put(*offset, &message);
                for (seed, want) in seeds.iter().zip(&wanted) {
                    // SAFETY: len bytes at the offset lie inside the memory.
                    let got = fold(unsafe { sum(memory.at(*offset), len, *seed) });
                    if got != *want {
                        return Some(format!(
                            "checksum/{} length {len} offset {offset} seed {seed:#x}, {}: got {got:#06x}, expected \
                             {want:#06x}",
                            variant.name, pattern.0
                        ));
                    }
                }
            }
        }
        if memory.bytes.iter().filter(|byte| **byte != 0xa5).count() > len {
            return Some(format!("checksum/{} length {len}: wrote to memory", variant.name));
        }
    }
    None
}

#[test]
fn sums_are_exact() {
    let every: Vec<usize> = (0..OFFSETS).collect();
    for variant in sound(Family::Checksum) {
        assert_eq!(wrong_sum(variant, 0..=LENGTHS_MOST, &every, &SEEDS), None);
        assert_eq!(wrong_sum(variant, LONG.into_iter(), &[0, 1, 62], &[0, 0xffff_ffff]), None);
    }
}

#[test]
fn copies_with_sums_are_exact_for_every_pattern_and_seed() {
    for variant in sound(Family::CopyChecksum) {
        let Routine::CopyChecksum(copy) = variant.routine else { panic!("{} is misplaced", variant.name) };
        for len in (0..=LENGTHS_MOST).filter(|len| variant.lengths.contains(*len)) {
            let mut dst = vec![0_u8; len + 1];
            for pattern in &PATTERNS {
                let message = message(pattern, len);
                for seed in SEEDS {
                    // SAFETY: len bytes in two vectors.
                    let got = fold(unsafe { copy(dst.as_mut_ptr(), message.as_ptr(), len, seed) });
                    let want = expected_sum(&message, seed);
                    assert_eq!(got, want, "{} length {len} seed {seed:#x}, {}", variant.name, pattern.0);
                    assert_eq!(dst[..len], message);
                }
            }
        }
    }
}

#[test]
fn length_zero_accepts_null_pointers() {
    use core::ptr::{null, null_mut};
    for variant in Family::ALL.into_iter().flat_map(sound).filter(|v| v.lengths.contains(0)) {
        // SAFETY: the families' contracts allow any pointer if the length is 0.
        unsafe {
            match variant.routine {
                Routine::Zero(zero) => zero(null_mut(), 0),
                Routine::Copy(copy) => copy(null_mut(), null(), 0),
                Routine::Checksum(sum) => assert_eq!(fold(sum(null(), 0, 0x1_0001)), 2, "{}", variant.name),
                Routine::CopyChecksum(copy) => {
                    assert_eq!(fold(copy(null_mut(), null(), 0, 0x1_0001)), 2, "{}", variant.name);
                }
            }
        }
    }
}

const KNOWN_BAD: &str = "CARRYLINE_VARIANTS_TEST_KNOWN_BAD";
const FOUND_WRONG: i32 = 42;

/// A known-bad variant may end the process instead of returning, so each is run in a process of its own: this
/// test, started again with the variant's name in the environment.
#[test]
fn known_bad_variants_are_wrong_somewhere() {
    let every: Vec<usize> = (0..OFFSETS).collect();
    if let Ok(name) = std::env::var(KNOWN_BAD) {
        let variant = crate::find(Family::Checksum, &name).expect("the parent took it from the list");
        if let Some(difference) = wrong_sum(variant, 0..=LENGTHS_MOST, &every, &SEEDS) {
            eprintln!("{difference}");
            std::process::exit(FOUND_WRONG);
        }
        return;
    }
    let bad: Vec<&Variant> = all().filter(|v| v.known_bad.is_some() && v.runs_here()).collect();
    assert!(bad.iter().any(|v| v.name == "odd_address_baseline"));
    for variant in bad {
        assert_eq!(variant.family(), Family::Checksum, "{}: extend this test", variant.name);
        let child = std::process::Command::new(std::env::current_exe().expect("this test's own file"))
            .args(["--exact", "tests::known_bad_variants_are_wrong_somewhere", "--nocapture"])
            .env(KNOWN_BAD, variant.name)
            .output()
            .expect("a process of this test");
        let caught = child.status.code() == Some(FOUND_WRONG) || child.status.code().is_none();
        assert!(caught, "{} was right everywhere ({})", variant.name, child.status);
    }
}

fn family_folder(family: Family) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(family.name())
}

#[test]
fn names_are_unique_and_match_their_files() {
    for family in Family::ALL {
        let mut names = BTreeSet::new();
        for variant in of(family) {
            assert_eq!(variant.family(), family, "{}", variant.name);
            assert!(names.insert(variant.name), "{family}/{} is listed twice", variant.name);
            let file = family_folder(family).join(format!("{}.rs", variant.name));
            assert!(file.is_file(), "{family}/{} has no {}", variant.name, file.display());
            assert!(variant.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'));
            assert!(!variant.summary.is_empty() && !variant.provenance.is_empty(), "{}", variant.name);
        }
    }
}

/// Reads the text of `mod.rs`, because the lists differ by architecture and feature.
#[test]
fn every_file_is_in_its_list() {
    for family in Family::ALL {
        let folder = family_folder(family);
        let list = std::fs::read_to_string(folder.join("mod.rs")).expect("the family's module");
        let lines: BTreeSet<&str> = list.lines().map(str::trim).collect();
        for entry in std::fs::read_dir(&folder).expect("the family's folder") {
            let file = entry.expect("an entry of the folder").path();
            let stem = file.file_stem().and_then(|stem| stem.to_str()).expect("a plain name");
            // Besides variants, a folder holds its module and C code that a variant needs.
            if stem == "mod" || file.extension().is_some_and(|extension| extension == "c") {
                continue;
            }
            assert!(lines.contains(format!("{stem};").as_str()), "{family}: {stem} is not in the list");
            let text = std::fs::read_to_string(&file).expect("a source file");
            assert!(text.contains(&format!("name: \"{stem}\",")), "{family}: {stem} has another name");
        }
    }
}

#[test]
fn each_family_has_one_reference_one_baseline_and_ours() {
    use crate::Role::{Baseline, Ours, Reference};
    use crate::c_library::Thresholds;
    for family in Family::ALL {
        for role in [Reference, Baseline, Ours] {
            // The baseline's second row is the same function in other processes.
            let counts = |v: &&&Variant| {
                v.role == role && v.known_bad.is_none() && v.thresholds() != Some(Thresholds::Raised)
            };
            assert_eq!(of(family).iter().filter(counts).count(), 1, "{family}: {role:?}");
        }
    }
}
