//! Sketches of suggested rewrites: a few instructions, simulated like any other call to predict its cycles.
//!
//! Scaling the cycles of the original code would predict too much gain, because the replacement of a loop has
//! its own chain and its own window.

use crate::latencies::Latencies;
use crate::signature::Signature;
use crate::trace::{Registers, Trace, TraceStep};
use crate::window::{Calls, Limits, Ops, called, simulate};
use iced_x86::code_asm::{
    AsmRegisterYmm, CodeAssembler, eax, ecx, edx, ptr, rax, rcx, rdi, rdx, rsi, xmm0, xmm1, ymm0, ymm1, ymm2,
    ymm3, ymm4, ymm5, ymm6,
};
use iced_x86::{Decoder, DecoderOptions, IcedError, Register};

/// The predicted cycles of a call of a sketch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prediction {
    /// Of calls chained through the sum.
    pub chained: f64,
    /// Of independent calls.
    pub independent: f64,
}

/// The addresses of the code, the data and the stack.
const CODE: u64 = 0x40_0000;
const DATA: u64 = 0x80_0000;
const STACK: u64 = 0x7fff_0000;

/// A sum of 8 bytes at a time with carry, 64 per iteration.
pub(crate) fn carried(bytes: usize, latencies: &Latencies) -> Option<Prediction> {
    predict(carried_trace(bytes).ok()?, bytes, latencies)
}

/// A sum of 32 bytes at a time, with the words multiplied by one and added in pairs, 128 per iteration.
pub(crate) fn vectors(bytes: usize, latencies: &Latencies) -> Option<Prediction> {
    predict(vectors_trace(bytes).ok()?, bytes, latencies)
}

/// Simulates calls of the code.
pub(crate) fn predict(trace: Trace, bytes: usize, latencies: &Latencies) -> Option<Prediction> {
    let table = latencies.table();
    let cycles = |calls: Calls| {
        let trace = called(&trace, &Signature::checksum(), calls, bytes).ok()?;
        let ops = Ops::of_trace(&trace, latencies, table.eliminates_moves);
        Some(simulate(&ops, &table.core, table.port_names.len(), Limits::ALL).cycles)
    };
    Some(Prediction { chained: cycles(Calls::Chained)?, independent: cycles(Calls::Independent)? })
}

fn carried_trace(bytes: usize) -> Result<Trace, IcedError> {
    let mut begin = CodeAssembler::new(64)?;
    begin.mov(eax, edx)?;
    begin.mov(rcx, rsi)?;
    begin.shr(rcx, 6)?;
    let mut turn = CodeAssembler::new(64)?;
    let mut start = turn.create_label();
    turn.set_label(&mut start)?;
    turn.add(rax, ptr(rdi))?;
    for word in 1..8 {
        turn.adc(rax, ptr(rdi + 8 * word))?;
    }
    turn.adc(rax, 0)?;
    turn.add(rdi, 64)?;
    turn.dec(rcx)?;
    turn.jne(start)?;
    let mut end = CodeAssembler::new(64)?;
    for word in 0..(bytes % 64).div_ceil(8) as i32 {
        match word {
            0 => end.add(rax, ptr(rdi))?,
            _ => end.adc(rax, ptr(rdi + 8 * word))?,
        }
    }
    end.adc(rax, 0)?;
    fold(&mut end)?;
    executed(begin, turn, bytes / 64, end)
}

fn vectors_trace(bytes: usize) -> Result<Trace, IcedError> {
    let mut begin = CodeAssembler::new(64)?;
    begin.mov(rcx, rsi)?;
    begin.shr(rcx, 7)?;
    for sum in [ymm0, ymm1, ymm2, ymm3] {
        begin.vpxor(sum, sum, sum)?;
    }
    let add = |code: &mut CodeAssembler, place: i32, sum: AsmRegisterYmm| {
        code.vpxor(ymm4, ymm5, ptr(rdi + 32 * place))?;
        code.vpmaddwd(ymm4, ymm4, ymm6)?;
        code.vpaddd(sum, sum, ymm4)
    };
    let mut turn = CodeAssembler::new(64)?;
    let mut start = turn.create_label();
    turn.set_label(&mut start)?;
    for (place, sum) in [ymm0, ymm1, ymm2, ymm3].into_iter().enumerate() {
        add(&mut turn, place as i32, sum)?;
    }
    turn.add(rdi, 128)?;
    turn.dec(rcx)?;
    turn.jne(start)?;
    let mut end = CodeAssembler::new(64)?;
    for place in 0..(bytes % 128).div_ceil(32) as i32 {
        add(&mut end, place, ymm0)?;
    }
    end.vpaddd(ymm0, ymm0, ymm1)?;
    end.vpaddd(ymm2, ymm2, ymm3)?;
    end.vpaddd(ymm0, ymm0, ymm2)?;
    end.vextracti128(xmm1, ymm0, 1)?;
    end.vpaddd(xmm0, xmm0, xmm1)?;
    for half in [0x4e, 0xb1] {
        end.vpshufd(xmm1, xmm0, half)?;
        end.vpaddd(xmm0, xmm0, xmm1)?;
    }
    end.vmovd(eax, xmm0)?;
    end.add(rax, rdx)?;
    fold(&mut end)?;
    end.vzeroupper()?;
    executed(begin, turn, bytes / 128, end)
}

/// Folds 64 bits to 32.
fn fold(code: &mut CodeAssembler) -> Result<(), IcedError> {
    code.mov(ecx, eax)?;
    code.shr(rax, 32)?;
    code.add(eax, ecx)?;
    code.adc(eax, 0)
}

/// The trace of a prologue, a number of iterations of a loop, and an epilogue, which returns.
fn executed(
    mut begin: CodeAssembler,
    mut turn: CodeAssembler,
    turns: usize,
    mut end: CodeAssembler,
) -> Result<Trace, IcedError> {
    end.ret()?;
    let mut registers: Registers = [0; 16];
    registers[Register::RDI.number()] = DATA;
    registers[Register::RSP.number()] = STACK;
    let mut trace = Trace::default();
    let mut at = CODE;
    for (code, times) in [(&mut begin, 1), (&mut turn, turns), (&mut end, 1)] {
        let assembled = code.assemble(at)?;
        let mut steps = Vec::new();
        for instruction in Decoder::with_ip(64, &assembled, at, DecoderOptions::NONE) {
            let from = (instruction.ip() - at) as usize;
            trace.code.insert(instruction.ip(), assembled[from..from + instruction.len()].to_vec());
            steps.push(TraceStep { address: instruction.ip(), registers });
        }
        for _ in 0..times {
            trace.steps.extend(&steps);
        }
        at += assembled.len() as u64;
    }
    Ok(trace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    fn latencies(name: &str) -> Latencies {
        Latencies::of_table(table::by_name(name).expect("a table"))
    }

    #[test]
    fn a_sum_with_carry_takes_at_least_a_cycle_per_eight_bytes() {
        for name in ["zen4", "zen5", "ice_lake"] {
            let found = carried(1500, &latencies(name)).expect("a prediction");
            // 187 additions, the carry of each of 23 iterations, the fold.
            assert!((187.0..230.0).contains(&found.chained), "{name}: {found:?}");
            assert!(found.independent <= found.chained + 1.0, "{name}: {found:?}");
        }
    }

    #[test]
    fn vectors_are_bound_by_ports_and_the_final_reduction() {
        let found = vectors(1500, &latencies("zen5")).expect("a prediction");
        // 47 loads and multiplications, two per cycle, and the reduction.
        assert!((24.0..70.0).contains(&found.independent), "{found:?}");
        let short = vectors(160, &latencies("zen5")).expect("a prediction");
        assert!(short.independent < found.independent, "{short:?}");
    }

    #[test]
    fn fewer_bytes_than_an_iteration_are_summed_without_the_loop() {
        let found = carried(40, &latencies("zen5")).expect("a prediction");
        assert!((6.0..14.0).contains(&found.chained), "{found:?}");
    }
}
