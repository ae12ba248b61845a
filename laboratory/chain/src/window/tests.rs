//! Hand-written calls whose times follow from the core's parameters.

use super::{Assigns, Binds, Calls, Core, Front, Leaves, Limits, Ops, binds, called, simulate};
use crate::latencies::Latencies;
use crate::signature::Signature;
use crate::table;
use crate::trace::{Trace, TraceStep};
use iced_x86::{Decoder, DecoderOptions, Register};

/// A call of the code, which has no branches, followed by a return.
fn trace(code: &[&[u8]]) -> Trace {
    let mut found = Trace::default();
    let mut registers = [0x1_0000; 16];
    registers[Register::RSP.number()] = 0x7fff_0000;
    let bytes: Vec<u8> = code.iter().copied().flatten().copied().chain([0xc3]).collect();
    for instruction in Decoder::with_ip(64, &bytes, 0x40_0000, DecoderOptions::NONE) {
        let begin = (instruction.ip() - 0x40_0000) as usize;
        found.code.insert(instruction.ip(), bytes[begin..begin + instruction.len()].to_vec());
        found.steps.push(TraceStep { address: instruction.ip(), registers });
    }
    found
}

fn cycles(code: &[&[u8]], signature: &Signature, calls: Calls, limits: Limits) -> (f64, Option<Binds>) {
    let table = table::by_name("zen4").expect("a table");
    let latencies = Latencies::of_table(table);
    let trace = called(&trace(code), signature, calls, 64).expect("a loop");
    let ops = Ops::of_trace(&trace, &latencies, true);
    let count = table.port_names.len();
    // Not the front end and the choice of ports of the table, which are fitted to measurements.
    let mut core = Core { front: Front::UNLIMITED, ..table.core.clone() };
    core.schedulers.iter_mut().for_each(|scheduler| scheduler.assigns = Assigns::First);
    let found = simulate(&ops, &core, count, limits).cycles;
    (found, binds(&ops, &core, count, found).map(|(part, _)| part))
}

const ADD_TO_ITSELF: &[u8] = &[0x01, 0xc0]; // add eax, eax
const RESULT_OF_SUM: &[u8] = &[0x89, 0xd0]; // mov eax, edx
const MULTIPLY: &[u8] = &[0x0f, 0xaf, 0xcf]; // imul ecx, edi

#[test]
fn chained_calls_take_the_latency_of_the_chain_and_independent_calls_do_not() {
    let mut code = vec![RESULT_OF_SUM];
    code.extend([ADD_TO_ITSELF; 24]);
    let sum = Signature::checksum();
    let (chained, binding) = cycles(&code, &sum, Calls::Chained, Limits::ALL);
    assert_eq!((chained, binding), (24.0, Some(Binds::Chain)));
    let (independent, _) = cycles(&code, &sum, Calls::Independent, Limits::ALL);
    // Some 33 instructions, 6 slots per cycle.
    assert!((5.0..12.0).contains(&independent), "{independent}");
}

#[test]
fn operations_wait_for_their_only_port() {
    // One multiplication per cycle: eight independent ones, each with its own destination.
    let code: Vec<[u8; 4]> = (0..8).map(|n| [0x6b, 0xc7 | (n & 3) << 3, 5, 0x90]).collect();
    let code: Vec<&[u8]> = code.iter().map(<[u8; 4]>::as_slice).collect();
    let (found, binding) = cycles(&code, &Signature::checksum(), Calls::Independent, Limits::ALL);
    assert_eq!((found, binding), (8.0, Some(Binds::Ports)));
    let without = Limits { ports: false, ..Limits::ALL };
    let (free, _) = cycles(&code, &Signature::checksum(), Calls::Independent, without);
    assert!(free < 8.0, "{free}");
}

#[test]
fn a_long_chain_in_every_call_fills_the_window() {
    // 300 dependent additions fill nearly all of the reorder buffer of 320, so that calls hardly overlap.
    let mut code = vec![RESULT_OF_SUM];
    code.extend([ADD_TO_ITSELF; 300]);
    let sum = Signature::checksum();
    let (found, _) = cycles(&code, &sum, Calls::Independent, Limits::ALL);
    let (endless, _) = cycles(&code, &sum, Calls::Independent, Limits { window: false, ..Limits::ALL });
    assert!(found > 150.0 && endless < 100.0, "{found} {endless}");
}

#[test]
fn a_load_of_the_last_byte_waits_for_the_store_that_wrote_it() {
    // mov [rdi+0x38], rcx: the last of 64 bytes, which the caller reads to compute the next address.
    let code: [&[u8]; 1] = [&[0x48, 0x89, 0x4f, 0x38]];
    let (chained, _) = cycles(&code, &Signature::zero(), Calls::Chained, Limits::ALL);
    let (independent, _) = cycles(&code, &Signature::zero(), Calls::Independent, Limits::ALL);
    // A forwarded store, an `and`, and the address.
    assert!(chained >= independent + 2.0, "{chained} {independent}");
    assert!(cycles(&[MULTIPLY], &Signature::zero(), Calls::Chained, Limits::ALL).0 < chained + 1.0);
}

#[test]
fn an_indirect_jump_with_one_target_is_like_a_direct_one_and_the_loops_call_is_not() {
    let latencies = Latencies::of_table(table::by_name("zen5").expect("a table"));
    // jmp rax, and a nop that it skips in the second trace.
    let mut trace = trace(&[&[0xff, 0xe0], &[0x90]]);
    let jumps = |trace: &Trace| {
        let called = called(trace, &Signature::checksum(), Calls::Independent, 64).expect("a loop");
        let ops = Ops::of_trace(&called, &latencies, true);
        let of_jump = ops.0.iter().filter(|op| op.address == 0x40_0000).map(|op| op.leaves);
        let indirect = ops.0.iter().filter(|op| op.leaves == Leaves::Indirect).count();
        (of_jump.collect::<Vec<_>>(), indirect)
    };
    assert_eq!(jumps(&trace), (vec![Leaves::Taken], 1));
    let (jump, end) = (trace.steps[0], trace.steps[2]);
    trace.steps = vec![jump, end, jump, trace.steps[1], end];
    assert_eq!(jumps(&trace), (vec![Leaves::Indirect; 2], 3));
}
