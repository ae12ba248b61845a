//! The rules of the graph: flags, partial registers, idioms, masks, memory, loops.

use crate::support::{analyse, analyse_with, assemble, assemble_loop, carry_loop, path};
use carryline_chain::analysis::Analysis;
use carryline_chain::latencies::Latencies;
use carryline_chain::latency::{Key, Source};
use carryline_chain::{Signature, table};
use iced_x86::code_asm::*;

/// Analyses code on a CPU with one-cycle additions; inputs are named by their registers.
fn unknown(write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Analysis {
    analyse(assemble(write), "skylake_x", &Signature::unknown())
}

fn cycles(analysis: &Analysis, register: &str) -> Option<f64> {
    analysis.input(register).and_then(|input| input.path_cycles)
}

#[test]
fn carry_and_overflow_form_separate_chains() {
    let write = |interleaved: bool| {
        move |a: &mut CodeAssembler| {
            a.xor(ecx, ecx)?;
            for _ in 0..5 {
                a.adcx(rdi, r8)?;
                if interleaved { a.adox(rsi, r8)? } else { a.adcx(rsi, r8)? }
            }
            a.lea(rax, ptr(rdi + rsi))?;
            a.ret()
        }
    };
    // Ten additions through one flag, or two chains of five.
    assert_eq!(cycles(&unknown(write(false)), "rdi"), Some(11.0));
    assert_eq!(cycles(&unknown(write(true)), "rdi"), Some(6.0));
}

#[test]
fn inc_preserves_the_carry() {
    let kept = unknown(|a| {
        a.add(rdi, rsi)?;
        a.inc(r8)?;
        a.adc(r9, 0)?;
        a.mov(rax, r9)?;
        a.ret()
    });
    assert_eq!(cycles(&kept, "rdi"), Some(2.0), "through CF past inc");
    assert_eq!(cycles(&kept, "r8"), None, "inc makes no carry");
    let made = unknown(|a| {
        a.add(rdi, rsi)?;
        a.add(r8, 1)?;
        a.adc(r9, 0)?;
        a.mov(rax, r9)?;
        a.ret()
    });
    assert_eq!(cycles(&made, "rdi"), None, "add makes a new carry");
    assert_eq!(cycles(&made, "r8"), Some(2.0));
}

#[test]
fn zero_idioms_break_chains() {
    let broken = unknown(|a| {
        a.add(rax, rdi)?;
        a.xor(eax, eax)?;
        a.adcx(rax, rsi)?;
        a.ret()
    });
    assert_eq!(cycles(&broken, "rdi"), None, "neither through rax nor through the carry");
    assert_eq!(cycles(&broken, "rsi"), Some(1.0));
    let kept = unknown(|a| {
        a.add(rax, rdi)?;
        a.and(eax, 0)?;
        a.ret()
    });
    assert_eq!(cycles(&kept, "rdi"), Some(2.0), "and with 0 is no idiom");
    let vector = unknown(|a| {
        a.vpaddd(ymm0, ymm1, ymm2)?;
        a.vpxor(xmm0, xmm0, xmm0)?;
        a.vpaddd(ymm0, ymm0, ymm3)?;
        a.ret()
    });
    assert_eq!((cycles(&vector, "zmm1"), cycles(&vector, "zmm3")), (None, Some(1.0)));
}

#[test]
fn partial_registers_merge_or_are_renamed() {
    // Writing al keeps the rest of rax, and so depends on it.
    let low = unknown(|a| {
        a.mov(rax, rdi)?;
        a.mov(al, sil)?;
        a.ret()
    });
    assert!(cycles(&low, "rdi").is_some(), "{low:?}");
    // A 32-bit write replaces the whole register.
    let whole = unknown(|a| {
        a.add(rax, rdi)?;
        a.mov(eax, esi)?;
        a.ret()
    });
    assert_eq!(cycles(&whole, "rdi"), None);
    // ah depends on al where both are one register, but not where it is renamed separately.
    let high = |a: &mut CodeAssembler| {
        a.mov(al, dil)?;
        a.mov(ah, 1)?;
        a.movzx(eax, ah)?;
        a.ret()
    };
    let merged = analyse(assemble(high), "zen4", &Signature::unknown());
    let renamed = analyse(assemble(high), "skylake_x", &Signature::unknown());
    assert!(cycles(&merged, "rdi").is_some());
    assert_eq!(cycles(&renamed, "rdi"), None);
}

#[test]
fn a_conditional_move_depends_on_both_operands_and_the_flag() {
    let found = unknown(|a| {
        a.cmp(rdx, rcx)?;
        a.mov(rax, rdi)?;
        a.cmovb(rax, rsi)?;
        a.ret()
    });
    assert_eq!(cycles(&found, "rdi"), Some(1.0), "the move is renamed");
    assert_eq!(cycles(&found, "rsi"), Some(1.0));
    assert_eq!(cycles(&found, "rdx"), Some(2.0));
}

#[test]
fn masks_are_registers() {
    let masked = |zeroing: bool| {
        move |a: &mut CodeAssembler| {
            a.kmovd(k1, edi)?;
            if zeroing {
                a.vmovdqu8(zmm0.k1().z(), zmm1)?;
            } else {
                a.vmovdqu8(zmm0.k1(), zmm1)?;
            }
            a.ret()
        }
    };
    let zeroing = unknown(masked(true));
    assert_eq!(cycles(&zeroing, "rdi"), Some(2.0 + 1.0), "kmov, then the move under the mask");
    assert_eq!(cycles(&zeroing, "zmm0"), None, "nothing is kept");
    assert_eq!(cycles(&unknown(masked(false)), "zmm0"), Some(1.0), "masked elements keep their values");
}

#[test]
fn a_load_depends_on_the_store_to_the_same_address() {
    let found = unknown(|a| {
        a.lea(r8, ptr(rsp - 32))?;
        a.mov(qword_ptr(rsp - 16), rdi)?;
        a.mov(rax, qword_ptr(r8 + 16))?;
        a.ret()
    });
    assert_eq!(cycles(&found, "rdi"), Some(5.0), "a forwarded store");
    let elsewhere = unknown(|a| {
        a.mov(qword_ptr(rsp - 16), rdi)?;
        a.mov(rax, qword_ptr(rsp - 24))?;
        a.ret()
    });
    assert_eq!(cycles(&elsewhere, "rdi"), None);
    let wider = unknown(|a| {
        a.mov(dword_ptr(rsp - 16), edi)?;
        a.mov(rax, qword_ptr(rsp - 16))?;
        a.ret()
    });
    assert!(wider.notes.iter().any(|note| note.contains("failed forwarding")), "{:?}", wider.notes);
}

#[test]
fn a_loop_with_four_accumulators_carries_one_addition_per_four_loads() {
    let code = assemble_loop(|a| {
        for (index, sum) in [zmm0, zmm1, zmm2, zmm3].into_iter().enumerate() {
            a.vmovdqu64(zmm4, zmmword_ptr(rdi + 64 * index))?;
            a.vpdpwssd(sum, zmm4, zmm5)?;
        }
        a.add(rdi, 256)?;
        a.sub(rsi, 256)
    });
    let found = analyse(code, "skylake_x", &Signature::unknown());
    let [only] = &found.loops[..] else { panic!("{:?}", found.loops) };
    assert_eq!(only.recurrence_cycles, 5.0, "one vpdpwssd");
    assert_eq!(only.chain.len(), 1);
    assert_eq!(only.bytes_per_iteration, Some(256));
    // Four loads take two cycles on two ports; eleven instructions take three cycles of four.
    assert!(only.throughput.cycles >= 2.0 && only.throughput.cycles < 5.0, "{:?}", only.throughput);
    assert_eq!((only.binding(), found.binding()), ("recurrence", "recurrence"));
}

#[test]
fn the_classic_loop_is_bound_by_its_carry_chain() {
    let code = carry_loop();
    let found = analyse(code, "skylake_x", &Signature::unknown());
    let only = found.main_loop().expect("a loop");
    assert_eq!(only.recurrence_cycles, 9.0);
    assert_eq!(only.chain.len(), 9);
    assert_eq!(only.chain.iter().filter(|link| link.is_carried).count(), 1);
    assert_eq!(only.bytes_per_iteration, Some(64));
    assert_eq!(only.cycles_per_byte(), Some(9.0 / 64.0));
}

#[test]
fn an_address_of_two_registers_moves_with_either() {
    let code = assemble_loop(|a| {
        a.mov(r8, rdi)?;
        a.add(r8, rcx)?;
        a.add(rax, qword_ptr(r8 + 8))?;
        a.add(rcx, 32)?;
        a.cmp(rcx, rsi)
    });
    let found = analyse(code, "skylake_x", &Signature::unknown());
    assert_eq!(found.loops[0].bytes_per_iteration, Some(32));
    let code = assemble_loop(|a| {
        a.add(rax, qword_ptr(rdi + rcx * 8))?;
        a.add(rcx, 2)?;
        a.cmp(rcx, rsi)
    });
    let found = analyse(code, "skylake_x", &Signature::unknown());
    assert_eq!(found.loops[0].bytes_per_iteration, Some(16));
}

#[test]
fn a_chain_through_memory_and_one_through_a_branch_are_carried() {
    // A counter in memory.
    let code = assemble_loop(|a| {
        a.add(qword_ptr(rsp - 8), 1)?;
        a.dec(rsi)
    });
    let found = analyse(code, "skylake_x", &Signature::unknown());
    assert_eq!(found.loops[0].recurrence_cycles, 6.0, "an addition and a forwarded store");
    // Two registers that are swapped: each is added to in every second iteration.
    let code = assemble_loop(|a| {
        a.mov(rcx, rax)?;
        a.imul_2(rdx, r8)?;
        a.mov(rax, rdx)?;
        a.mov(rdx, rcx)?;
        a.dec(rsi)
    });
    let found = analyse(code, "skylake_x", &Signature::unknown());
    assert_eq!(found.loops[0].recurrence_cycles, 1.5, "three cycles in two iterations");
}

#[test]
fn data_dependent_times_are_reported_and_not_estimated() {
    let found = unknown(|a| {
        a.mov(rcx, rsi)?;
        a.xor(eax, eax)?;
        a.rep().stosb()?;
        a.ret()
    });
    assert!(found.notes.iter().any(|note| note.contains("rep stosb") && note.contains("not modelled")));
}

#[test]
fn the_halves_of_a_product_have_their_own_latencies() {
    let found = unknown(|a| {
        a.mov(rax, rdi)?;
        a.mul(rsi)?;
        a.add(rax, rdx)?;
        a.adc(rax, 0)?;
        a.ret()
    });
    assert_eq!(cycles(&found, "rsi"), Some(4.0 + 2.0), "the upper half takes four cycles");
}

#[test]
fn moves_cost_a_cycle_where_they_are_not_eliminated() {
    let code = crate::support::article::dead_code();
    let latencies = Latencies::of_table(table::by_name("skylake_x").expect("a table"));
    let image = carryline_chain::Image::from_bytes(code).expect("some bytes");
    let function = carryline_chain::decode::follow(&image).expect("code with an end");
    let mut options = carryline_chain::Options::new(&latencies);
    options.eliminates_moves = Some(false);
    let found = carryline_chain::analysis::of_function(function, &Signature::checksum(), options);
    assert_eq!(path(&found, "sum"), Some(10.0));
}

#[test]
fn golden_cove_adds_constants_by_renaming() {
    let golden_cove = Latencies::of_table(table::by_name("golden_cove").expect("a table"));
    let skylake = Latencies::of_table(table::by_name("skylake_x").expect("a table"));
    let code = assemble(|a| {
        a.mov(rax, rdi)?;
        a.add(rax, 8)?;
        a.dec(rax)?;
        a.lea(rax, qword_ptr(rax + 64))?;
        a.add(eax, 8)?;
        a.lea(rdx, qword_ptr(0x1000))?;
        a.ret()
    });
    let found = analyse_with(code.clone(), &golden_cove, &Signature::unknown());
    assert_eq!(cycles(&found, "rdi"), Some(1.0), "all but the addition of 32 bits");
    assert_eq!(cycles(&analyse_with(code.clone(), &skylake, &Signature::unknown()), "rdi"), Some(4.0));
    let flags = assemble(|a| {
        a.add(rdi, 8)?;
        a.sbb(rax, rax)?;
        a.ret()
    });
    let found_flags = analyse_with(flags, &golden_cove, &Signature::unknown());
    assert_eq!(cycles(&found_flags, "rdi"), Some(2.0), "flags are computed");
    // That one and the address without a register take a port, of five, and the return one of two of these.
    assert_eq!(found.throughput.port_cycles, 3.0 / 5.0);
}

#[test]
fn a_store_takes_one_issue_slot_on_every_port_layout() {
    for name in ["golden_cove", "skylake_x", "zen5"] {
        let latencies = Latencies::of_table(table::by_name(name).expect("a table"));
        let code = assemble(|a| {
            a.mov(qword_ptr(rdi), rsi)?;
            a.ret()
        });
        assert_eq!(analyse_with(code, &latencies, &Signature::unknown()).throughput.issued, 2.0, "{name}");
    }
}

#[test]
fn measured_latencies_take_precedence_and_assumptions_are_marked() {
    let code = crate::support::article::dead_code();
    let mut latencies = Latencies::of_table(table::by_name("skylake_x").expect("a table"));
    let before = analyse_with(code.clone(), &latencies, &Signature::checksum());
    let slower: Vec<(Key, f64)> = before
        .latencies
        .iter()
        .filter(|(key, _)| key.to_string().starts_with("adc r64, m64: flags -> "))
        .map(|(key, _)| (key.clone(), 2.0))
        .collect();
    assert_eq!(slower.len(), 2, "{:?}", before.latencies.keys().map(Key::to_string).collect::<Vec<_>>());
    latencies.overlay(slower);
    let after = analyse_with(code, &latencies, &Signature::checksum());
    assert_eq!(path(&after, "sum"), Some(9.0 + 4.0));
    assert!(after.sources()["adc"].contains("measured here"), "{:?}", after.sources());
    let assumed = unknown(|a| {
        a.crc32(rax, rdi)?;
        a.ret()
    });
    let mut crc = assumed.latencies.iter().filter(|(key, _)| key.to_string().starts_with("crc32"));
    assert!(crc.all(|(_, latency)| matches!(latency.source, Source::Assumed(_))));
    assert!(assumed.sources()["crc32"].contains("assumed"));
}

#[test]
fn code_after_an_indirect_jump_or_in_a_callee_is_left_out_with_a_note() {
    let found = unknown(|a| {
        a.add(rdi, rsi)?;
        a.jmp(rax)
    });
    assert!(found.notes.iter().any(|note| note.contains("0x3") && note.contains("indirect jump")));
    let found = unknown(|a| {
        a.call(rax)?;
        a.add(rax, rdi)?;
        a.ret()
    });
    assert!(found.notes.iter().any(|note| note.contains("indirect call")), "{:?}", found.notes);
}

/// A trace distinguishes addresses that symbolic expressions cannot.
#[test]
fn a_trace_shows_which_load_reads_which_store() {
    use carryline_chain::trace::{Trace, TraceStep};
    let code = assemble(|a| {
        a.mov(qword_ptr(rdi), rdx)?;
        a.mov(rax, qword_ptr(rsi + rcx * 8))?;
        a.ret()
    });
    let follow = |second: u64| {
        let mut registers = [0; 16];
        // rcx, rsp, rsi, rdi by their numbers.
        (registers[1], registers[4], registers[6], registers[7]) = (4, 0x7fff_0000, second, 0x1000);
        let starts: Vec<u64> = {
            let image = carryline_chain::Image::from_bytes(code.clone()).expect("some bytes");
            let function = carryline_chain::decode::follow(&image).expect("code with an end");
            function.instructions.iter().map(iced_x86::Instruction::ip).collect()
        };
        let trace = Trace {
            steps: starts.iter().map(|address| TraceStep { address: *address, registers }).collect(),
            code: starts.iter().map(|at| (*at, code[*at as usize..].to_vec())).collect(),
            is_cut: false,
        };
        let latencies = Latencies::of_table(table::by_name("skylake_x").expect("a table"));
        let options = carryline_chain::Options::new(&latencies);
        carryline_chain::analysis::of_trace(&trace, &Signature::checksum(), options)
    };
    assert_eq!(path(&follow(0x1000 - 32), "sum"), Some(5.0), "the same address, written in two ways");
    assert_eq!(path(&follow(0x1000), "sum"), None);
}
