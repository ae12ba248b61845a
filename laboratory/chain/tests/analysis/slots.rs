//! Slots and ports: pushes and pops, instructions that store, fused jumps. What is measured is of Granite Rapids.

use crate::support::{analyse, assemble, assemble_loop};
use carryline_chain::Signature;
use carryline_chain::analysis::Analysis;
use carryline_chain::throughput::Throughput;
use iced_x86::code_asm::*;

fn of_loop(
    microarchitecture: &str,
    write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>,
) -> Analysis {
    let found = analyse(assemble_loop(write), microarchitecture, &Signature::unknown());
    assert_eq!(found.loops.len(), 1, "{:?}", found.loops);
    found
}

fn throughput(
    microarchitecture: &str,
    write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>,
) -> Throughput {
    of_loop(microarchitecture, write).loops[0].throughput.clone()
}

#[test]
fn pushes_store_and_pops_load() {
    // Measured: 4.14 to 4.57 cycles.
    let found = throughput("golden_cove", |a| {
        for register in [rbx, r12, r13, r14] {
            a.push(register)?;
        }
        for _ in 0..16 {
            a.xor(rax, 5)?;
        }
        for register in [r14, r13, r12, rbx] {
            a.pop(register)?;
        }
        a.dec(rdi)
    });
    assert_eq!((found.issued, found.port_cycles), (25.0, 17.0 / 5.0), "{found:?}");
    let only = analyse(
        assemble(|a| {
            a.push(rbx)?;
            a.pop(rbx)?;
            a.ret()
        }),
        "golden_cove",
        &Signature::unknown(),
    );
    let found = only.throughput;
    assert_eq!(
        (found.port_cycles, found.ports.join(" ").as_str()),
        (2.0 / 3.0, "p2 p3 p11"),
        "the pop and the return"
    );
}

#[test]
fn what_is_pushed_is_popped_at_no_cost_where_that_was_measured() {
    // Measured: 1.00 cycle, with the addition 1.03.
    let saved = |a: &mut CodeAssembler| {
        a.push(rbx)?;
        a.pop(rbx)?;
        a.dec(rdi)
    };
    assert_eq!(of_loop("golden_cove", saved).loops[0].recurrence_cycles, 1.0, "the counter");
    assert!(of_loop("skylake_x", saved).loops[0].recurrence_cycles >= 4.0, "a forwarded store");
    let added = |a: &mut CodeAssembler| {
        a.push(rbx)?;
        a.pop(rbx)?;
        a.add(rbx, rsi)?;
        a.add(rbx, rsi)?;
        a.dec(rdi)
    };
    assert_eq!(of_loop("golden_cove", added).loops[0].recurrence_cycles, 2.0);
}

#[test]
fn stores_of_parts_load_nothing() {
    let found = throughput("golden_cove", |a| {
        for offset in 0..6 {
            a.mov(rax, qword_ptr(rsi + 8 * offset))?;
        }
        for offset in 0..3 {
            a.movhps(qword_ptr(rdx + 8 * offset), xmm0)?;
        }
        a.vextracti128(xmmword_ptr(rdx + 64), ymm0, 1)?;
        a.dec(rdi)
    });
    assert_eq!(found.port_cycles, 2.0, "{found:?}");
    // What reads its destination does load it, and takes two slots on Intel's CPUs.
    let update = |a: &mut CodeAssembler| {
        a.add(qword_ptr(rsi), 5)?;
        a.add(rax, rdx)?;
        a.dec(rdi)
    };
    assert_eq!(throughput("golden_cove", update).issued, 4.0);
    assert_eq!(throughput("zen5", update).issued, 3.0);
}

#[test]
fn a_fused_counter_takes_no_slot_and_a_cycle() {
    // Measured on Granite Rapids: 2.00 cycles; with `jns`, which is not fused, 2.17.
    let counted = |a: &mut CodeAssembler| {
        for _ in 0..11 {
            a.nop()?;
        }
        a.dec(rdi)
    };
    let found = of_loop("golden_cove", counted);
    assert_eq!((found.loops[0].throughput.issued, found.loops[0].throughput.cycles), (12.0, 2.0));
    // Alone, the addition of a constant costs nothing there.
    assert_eq!(found.loops[0].recurrence_cycles, 1.0);
    assert_eq!(of_loop("ice_lake", counted).loops[0].throughput.issued, 13.0);
    let not_fused = assemble(|a| {
        let mut start = a.create_label();
        a.set_label(&mut start)?;
        a.dec(rdi)?;
        a.jns(start)?;
        a.ret()
    });
    let found = analyse(not_fused, "golden_cove", &Signature::unknown());
    assert_eq!((found.loops[0].throughput.issued, found.loops[0].recurrence_cycles), (2.0, 0.0));
    // A memory operand is still loaded.
    let compared = throughput("golden_cove", |a| a.cmp(rdi, qword_ptr(rsi)));
    assert_eq!((compared.issued, compared.ports.len()), (1.0, 2), "{compared:?}");
}
