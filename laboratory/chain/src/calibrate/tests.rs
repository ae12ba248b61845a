use super::program::{self, LINKS};
use super::run::{self, ChainTimer};
use super::{Clock, calibrate, closers, keys, units};
use crate::analysis::{self, Options};
use crate::decode;
use crate::image::Image;
use crate::latencies::Latencies;
use crate::latency::{Key, Port, Source};
use crate::signature::Signature;
use crate::table::{self, HighBytes};
use iced_x86::Instruction;
use std::collections::BTreeSet;

/// Instructions of every kind that the variants use.
const CODE: &str = "
    48 01 f8                    add rax, rdi            48 11 f8             adc rax, rdi
    48 83 d0 00                 adc rax, 0              48 13 47 08          adc rax, [rdi+8]
    66 48 0f 38 f6 c7           adcx rax, rdi           f3 48 0f 38 f6 c7    adox rax, rdi
    c4 e2 fb f6 c6              mulx rax, rax, rsi      48 f7 e6             mul rsi
    48 0f af c7                 imul rax, rdi           48 8d 44 37 10       lea rax, [rdi+rsi+n]
    48 8d 04 37                 lea rax, [rdi+rsi]      48 c1 e8 20          shr rax, n
    
    48 d3 e0                    shl rax, cl             66 c1 c0 08          rol ax, 8
    f3 48 0f b8 c7              popcnt rax, rdi         48 0f 42 c7          cmovb rax, rdi
    0f 92 c0                    setb al                 48 39 f8             cmp rax, rdi
    0f b6 47 01                 movzx eax, byte [rdi+1] 0f b7 c7             movzx eax, di
    48 8b 07                    mov rax, [rdi]          48 89 07             mov [rdi], rax
    88 07                       mov [rdi], al           48 01 07             add [rdi], rax
    48 19 c0                    sbb rax, rax            48 ff c7             inc rdi
    c5 fd fe c1                 vpaddd ymm0, ymm0, ymm1 c5 fd f5 c1          vpmaddwd ymm0, ymm0, ymm1
    c5 fd f6 c1                 vpsadbw ymm0,ymm0,ymm1  c5 fe 6f 07          vmovdqu ymm0, [rdi]
    c5 fe 7f 07                 vmovdqu [rdi], ymm0     c4 e3 7d 39 c1 01    vextracti128 xmm1, ymm0, 1
    c4 e1 f9 7e c0              vmovq rax, xmm0         c4 e1 f9 6e c0       vmovq xmm0, rax
    c5 fd fe 07                 vpaddd ymm0, ymm0, [rdi]
    62 f2 75 48 52 c2           vpdpwssd zmm0, zmm1, zmm2
    62 f1 7f c9 6f 07           vmovdqu8 zmm0{k1}{z}, [rdi]
    62 f1 7f 49 7f 07           vmovdqu8 [rdi]{k1}, zmm0
    c4 e1 fb 92 c8              kmovq k1, rax           c4 e1 fb 93 c1       kmovq rax, k1
    c3                          ret
";

/// The bytes in the text above.
fn bytes() -> Vec<u8> {
    let is_byte = |word: &&str| word.len() == 2 && word.chars().all(|c| c.is_ascii_hexdigit());
    // No mnemonic or number in the text consists of two hexadecimal digits.
    CODE.split_whitespace().filter(is_byte).filter_map(|word| u8::from_str_radix(word, 16).ok()).collect()
}

fn keys() -> BTreeSet<Key> {
    let image = Image::from_bytes(bytes()).expect("code");
    keys::of_function(&decode::follow(&image).expect("instructions"), HighBytes::Merged)
}

fn clock() -> Clock {
    fn start() -> u64 {
        use core::arch::x86_64::{_mm_lfence, _rdtsc};
        // SAFETY: RDTSC and LFENCE are part of every x86-64 CPU.
        unsafe {
            _mm_lfence();
            let ticks = _rdtsc();
            _mm_lfence();
            ticks
        }
    }
    Clock { start, stop: start, overhead_ticks: 0.0 }
}

#[test]
fn the_test_code_decodes_completely() {
    let image = Image::from_bytes(bytes()).expect("code");
    let function = decode::follow(&image).expect("instructions");
    assert_eq!(function.instructions.len(), 41);
    assert!(keys().len() > 80, "{}", keys().len());
}

/// The instructions of a chain's loop.
fn instructions(key: &Key) -> Result<Vec<Instruction>, &'static str> {
    Ok(program::links(key)?.into_iter().flat_map(|link| link.instructions).collect())
}

/// The machine code of the instructions, if the machine supports them.
fn machine_code(key: &Key, instructions: &[Instruction]) -> Option<Vec<u8>> {
    run::assemble(instructions, units::needs_cl(key)).ok()
}

#[test]
fn every_key_has_a_chain_or_a_known_reason() {
    let known = [
        "the time at which a store's address is ready does not affect its value",
        "the timing loop needs the flags",
        "its own stored value, not its address, is the bottleneck",
    ];
    let mut chains = 0;
    for key in keys() {
        match program::links(&key) {
            Ok(links) => {
                assert_eq!(links.len(), LINKS);
                chains += 1;
            }
            Err(reason) => assert!(known.contains(&reason), "{key}: {reason}"),
        }
    }
    assert!(chains > 80, "{chains}");
}

/// Decodes every chain and analyses it: with 1000 cycles for the key and 1 for everything else, an iteration
/// must carry at least 1000 per link. The chain therefore leads through that input and output in every link,
/// and from iteration to iteration.
#[test]
fn chains_decode_as_written_and_carry_the_latency() {
    for key in keys() {
        let Ok(mut meant) = instructions(&key) else { continue };
        let Some(code) = machine_code(&key, &meant) else { continue };
        let function = decode::follow(&Image::from_bytes(code).expect("code")).expect("a whole function");
        // Equal except for addresses.
        let read = &function.instructions;
        assert!(read.windows(meant.len()).any(|window| window == meant), "{key}: {meant:?}");

        // One address in two registers; the graph would treat them as two addresses.
        for instruction in &mut meant {
            if instruction.memory_base() == closers::BUFFER_AGAIN {
                instruction.set_memory_base(closers::BUFFER);
            }
        }
        let code = machine_code(&key, &meant).expect("as before");
        let function =
            || decode::follow(&Image::from_bytes(code.clone()).expect("code")).expect("a function");
        let mut latencies = Latencies::of_table(table::by_name("generic").expect("a table"));
        let plain = analysis::of_function(function(), &Signature::unknown(), Options::new(&latencies));
        latencies.overlay(plain.latencies.keys().map(|other| (other.clone(), 1.0)));
        latencies.overlay([(key.clone(), 1000.0)]);
        let analysis = analysis::of_function(function(), &Signature::unknown(), Options::new(&latencies));
        let carried = analysis.loops.iter().map(|one| one.recurrence_cycles).fold(0.0, f64::max);
        assert!(carried >= 1000.0 * LINKS as f64, "{key}: {carried} cycles per iteration");
    }
}

#[test]
fn chains_return_the_same_number_each_time() {
    for key in keys() {
        let Some(code) = instructions(&key).ok().and_then(|meant| machine_code(&key, &meant)) else {
            continue;
        };
        let Ok(mapping) = super::mapping::Mapping::new(&code) else { return };
        let mut timer = ChainTimer::new(&mapping, clock());
        let first = timer.call_anew(0, 3);
        assert!((0..3).all(|_| timer.call_anew(0, 3) == first), "{key}");
    }
}

#[test]
fn a_calibration_accounts_for_every_key() {
    let keys: Vec<Key> = keys().into_iter().collect();
    let mut told = 0;
    let found = match calibrate(&keys, clock(), &mut |done, all| {
        assert!(done <= all);
        told += 1;
    }) {
        Ok(found) => found,
        Err(super::CalibrateError::Forbidden(_)) => return,
        Err(error) => panic!("{error}"),
    };
    assert!(told >= keys.len());
    assert_eq!(found.measured.len() + found.left_out.len(), keys.len());
    assert_eq!(found.checks.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["add", "lea"]);
    for measured in &found.measured {
        assert!(measured.cycles.is_finite() && measured.cycles >= 0.0, "{}", measured.key);
        let interval = &measured.interval;
        assert!(interval.start <= measured.median && measured.median <= interval.end, "{}", measured.key);
    }
    for (key, reason) in &found.left_out {
        assert!(!reason.is_empty(), "{key}");
    }
    let mut latencies = Latencies::of_table(table::by_name("generic").expect("a table"));
    latencies.overlay(found.overlay());
    for measured in &found.measured {
        let latency = latencies.of(&measured.key);
        assert_eq!((latency.cycles, latency.source), (measured.cycles, Source::Measured), "{}", measured.key);
    }
}

#[test]
fn keys_without_a_chain_have_a_reason() {
    let reason = |key: &Key| units::unit(key, 0).expect_err("no chain");
    let store = keys().into_iter().find(|key| key.from == Port::Address && key.to == Port::Memory);
    assert!(reason(&store.expect("a store")).contains("address"));
    let [add, _] = run::checks();
    assert!(reason(&Key { to: Port::Operand(7), ..add.clone() }).contains("no such operand"));
    assert!(reason(&Key { to: Port::Address, ..add }).contains("not a result"));
}
