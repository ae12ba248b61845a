//! No variant uses an instruction above the level that it declares, not even on rare paths: the machine code
//! of each is followed from its entry through every direct jump and call, and the CPU feature of each
//! instruction is checked.
//!
//! Indirect calls and jumps are not followed; they belong to dispatchers (`carryline`, libc, peers) and to
//! panics.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use carryline::internals::cpu::Features;
use carryline_variants::{Role, all};
use iced_x86::{CpuidFeature, Decoder, DecoderOptions, FlowControl, Instruction};
use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;
use std::ops::Range;

/// The code of this program, which can be read as data.
struct Program {
    /// The executable sections.
    text: Vec<Range<usize>>,
    /// The end addresses of all functions.
    ends: BTreeSet<usize>,
}

impl Program {
    fn this() -> Self {
        let path = std::env::current_exe().expect("this program has a path");
        let own = path.display().to_string();
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux says what is mapped");
        let hex = |text: &str| usize::from_str_radix(text, 16).expect("an address");
        // The permissions and the addresses of each mapping of the program's file.
        let mapped = maps.lines().filter(|line| line.ends_with(&own)).filter_map(|line| {
            let mut fields = line.split_whitespace();
            let (low, high) = fields.next()?.split_once('-')?;
            Some((fields.next()?, hex(low)..hex(high)))
        });
        let mapped: Vec<_> = mapped.collect();
        let base = mapped.first().expect("the program is mapped").1.start;
        let bytes = std::fs::read(&path).expect("this program's file");
        let file = object::File::parse(&*bytes).expect("an executable");
        let functions = file.symbols().filter(|symbol| symbol.kind() == object::SymbolKind::Text);
        let end = |symbol: object::Symbol<'_, '_>| base + (symbol.address() + symbol.size()) as usize;
        let text = mapped.into_iter().filter(|(permissions, _)| *permissions == "r-xp");
        Self { ends: functions.map(end).collect(), text: text.map(|(_, range)| range).collect() }
    }
}

/// Every instruction that can be reached from `start` by direct jumps and calls.
fn reachable(start: usize, program: &Program) -> Vec<Instruction> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![start];
    while let Some(address) = open.pop() {
        let Some(range) = program.text.iter().find(|range| range.contains(&address)) else { continue };
        if !seen.insert(address) {
            continue;
        }
        // SAFETY: a mapped, readable range of this program's code, which does not change.
        let bytes =
            unsafe { std::slice::from_raw_parts(address as *const u8, (range.end - address).min(15)) };
        let instruction = Decoder::with_ip(64, bytes, address as u64, DecoderOptions::NONE).decode();
        assert!(!instruction.is_invalid(), "no instruction at {address:#x}, reached from {start:#x}");
        let next = instruction.next_ip() as usize;
        let target = instruction.near_branch_target() as usize;
        match instruction.flow_control() {
            // A call at the end of a function never returns: what follows is another function.
            FlowControl::IndirectCall if program.ends.contains(&next) => {}
            FlowControl::Call if program.ends.contains(&next) => open.push(target),
            FlowControl::Next | FlowControl::IndirectCall => open.push(next),
            FlowControl::UnconditionalBranch => open.push(target),
            FlowControl::ConditionalBranch | FlowControl::Call => open.extend([next, target]),
            FlowControl::Return
            | FlowControl::IndirectBranch
            | FlowControl::Interrupt
            | FlowControl::XbeginXabortXend
            | FlowControl::Exception => {}
        }
        found.push(instruction);
    }
    found
}

/// True if a CPU with these features has the instructions of `wanted`.
fn has(features: Features, wanted: CpuidFeature) -> bool {
    use CpuidFeature as F;
    let needs = match wanted {
        // On every x86-64 CPU. CET's markers and prefetches are no-operations on CPUs that lack them.
        F::INTEL8086
        | F::INTEL186
        | F::INTEL286
        | F::INTEL386
        | F::INTEL486
        | F::X64
        | F::CPUID
        | F::CMOV
        | F::SSE
        | F::SSE2
        | F::FXSR
        | F::MULTIBYTENOP
        | F::PAUSE
        | F::CET_IBT
        | F::CLFSH
        | F::CX8
        | F::TSC
        | F::FPU
        | F::FPU287
        | F::FPU387
        | F::MMX => Features::NONE,
        F::SSSE3 | F::SSE3 => Features::SSSE3,
        // A CPU with AVX2 has everything before it.
        F::AVX | F::AVX2 | F::SSE4_1 | F::SSE4_2 | F::POPCNT => Features::AVX2,
        F::BMI2 | F::BMI1 => Features::BMI2,
        F::ADX => Features::ADX,
        F::AVX512F => Features::AVX512F,
        F::AVX512BW | F::AVX512DQ => Features::AVX512BW,
        F::AVX512VL => Features::AVX512VL,
        F::AVX512_VNNI => Features::AVX512VNNI,
        F::AVX_VNNI => Features::AVXVNNI,
        F::CLZERO => Features::CLZERO,
        _ => return false,
    };
    // AVX-512 implies AVX2, and AVX2 implies SSSE3.
    let below = match features {
        f if f.contains(Features::AVX512F) => Features::AVX2.union(Features::SSSE3),
        f if f.contains(Features::AVX2) => Features::SSSE3,
        _ => Features::NONE,
    };
    features.union(below).contains(needs)
}

/// The instructions of a variant that these features do not cover.
fn above(start: usize, features: Features, program: &Program) -> Vec<String> {
    reachable(start, program)
        .iter()
        .filter_map(|instruction| {
            let wanted = instruction.cpuid_features().iter();
            let missing: Vec<_> = wanted.filter(|wanted| !has(features, **wanted)).collect();
            (!missing.is_empty()).then(|| format!("{:?} needs {missing:?}", instruction.code()))
        })
        .collect()
}

#[test]
fn no_variant_uses_more_than_it_declares() {
    let program = Program::this();
    assert!(!program.text.is_empty() && !program.ends.is_empty());
    for variant in all().filter(|variant| variant.role != Role::Peer) {
        let found = above(variant.routine.address(), variant.needs, &program);
        assert!(found.is_empty(), "{}/{}: {found:?}", variant.family(), variant.name);
    }
}

#[test]
fn undeclared_features_are_found() {
    let program = Program::this();
    let mut checked = 0;
    for (feature, names) in [
        (Features::AVX2, &["avx2"][..]),
        (Features::AVX512F, &["avx512", "avx512_dot", "avx512_nontemporal", "fused_avx512"]),
        (Features::ADX, &["adx_2_streams"]),
        (Features::CLZERO, &["clzero"]),
    ] {
        for variant in all().filter(|variant| names.contains(&variant.name)) {
            let found = above(variant.routine.address(), variant.needs.masked(feature), &program);
            assert!(!found.is_empty(), "{}/{} without {feature:?}", variant.family(), variant.name);
            checked += 1;
        }
    }
    assert_eq!(checked, 3 + 6 + 1 + 1);
}
