//! Assembles the code of the tests with iced, and analyses it.

use carryline_chain::analysis::{self, Analysis, Options};
use carryline_chain::latencies::Latencies;
use carryline_chain::{Image, Signature, decode, table};
use iced_x86::code_asm::{CodeAssembler, IcedError, qword_ptr, rax, rdi, rsi};

/// The bytes of the code that `write` assembles.
pub fn assemble(write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<u8> {
    let mut assembler = CodeAssembler::new(64).expect("64 bits are supported");
    write(&mut assembler).expect("instructions that exist");
    assembler.assemble(0).expect("code that can be encoded")
}

/// The bytes of a loop: the body that `write` assembles, `jne` back to its start, and a return.
pub fn assemble_loop(write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<u8> {
    assemble(|a| {
        let mut start = a.create_label();
        a.set_label(&mut start)?;
        write(a)?;
        a.jne(start)?;
        a.ret()
    })
}

/// A loop that adds eight words with carry, and the last carry, in each iteration.
pub fn carry_loop() -> Vec<u8> {
    assemble_loop(|a| {
        a.add(rax, qword_ptr(rdi))?;
        for offset in 1..8 {
            a.adc(rax, qword_ptr(rdi + 8 * offset))?;
        }
        a.adc(rax, 0)?;
        a.add(rdi, 64)?;
        a.dec(rsi)
    })
}

/// The analysis of code on a microarchitecture.
pub fn analyse(bytes: Vec<u8>, microarchitecture: &str, signature: &Signature) -> Analysis {
    let latencies = Latencies::of_table(table::by_name(microarchitecture).expect("a table"));
    analyse_with(bytes, &latencies, signature)
}

/// The analysis of code with these latencies.
pub fn analyse_with(bytes: Vec<u8>, latencies: &Latencies, signature: &Signature) -> Analysis {
    let image = Image::from_bytes(bytes).expect("some bytes");
    let function = decode::follow(&image).expect("code with an end");
    analysis::of_function(function, signature, Options::new(latencies))
}

/// The length of the path from the input called `name`.
pub fn path(analysis: &Analysis, name: &str) -> Option<f64> {
    analysis.input(name).unwrap_or_else(|| panic!("no input {name}")).path_cycles
}

/// The routines of the article, written by hand: `rdi` data, `rsi` length, `edx` sum.
pub mod article {
    use super::assemble;
    use iced_x86::code_asm::*;

    type Result = std::result::Result<(), IcedError>;

    /// Folds the 64-bit `sum` to 32 bits in `eax`.
    pub fn fold(a: &mut CodeAssembler, sum: AsmRegister64, low: AsmRegister32) -> Result {
        a.mov(rax, sum)?;
        a.shr(rax, 32)?;
        a.add(eax, low)?;
        a.adc(eax, 0)?;
        a.ret()
    }

    /// One chain of six additions, and the fold.
    pub fn dead_code() -> Vec<u8> {
        assemble(|a| {
            a.add(rdx, qword_ptr(rdi))?;
            for offset in [8, 16, 24, 32] {
                a.adc(rdx, qword_ptr(rdi + offset))?;
            }
            a.adc(rdx, 0)?;
            fold(a, rdx, edx)
        })
    }

    /// Two chains, the second of which adds the result of the first.
    pub fn two_streams() -> Vec<u8> {
        assemble(|a| {
            a.xor(r9d, r9d)?;
            a.mov(rcx, qword_ptr(rdi))?;
            a.add(rcx, qword_ptr(rdi + 8))?;
            a.adc(rcx, qword_ptr(rdi + 16))?;
            a.adc(rcx, qword_ptr(rdi + 24))?;
            a.adc(rcx, r9)?;
            a.add(rdx, qword_ptr(rdi + 32))?;
            a.adc(rdx, rcx)?;
            a.adc(rdx, r9)?;
            fold(a, rdx, edx)
        })
    }

    /// Two chains, one through CF and one through OF.
    pub fn adx() -> Vec<u8> {
        assemble(|a| {
            a.xor(r9, r9)?;
            a.mov(rcx, qword_ptr(rdi))?;
            a.adcx(rcx, qword_ptr(rdi + 8))?;
            a.adcx(rcx, qword_ptr(rdi + 16))?;
            a.adcx(rcx, qword_ptr(rdi + 24))?;
            a.adcx(rcx, r9)?;
            a.adox(rdx, qword_ptr(rdi + 32))?;
            a.adox(rdx, rcx)?;
            a.adox(rdx, r9)?;
            fold(a, rdx, edx)
        })
    }

    /// Three 32-bit chains, added by a fourth.
    pub fn train32() -> Vec<u8> {
        assemble(|a| {
            a.mov(r9d, dword_ptr(rdi))?;
            a.mov(r11d, dword_ptr(rdi + 4))?;
            a.mov(ecx, dword_ptr(rdi + 8))?;
            for (sum, first) in [(r9d, 12), (r11d, 20), (ecx, 28)] {
                a.add(sum, dword_ptr(rdi + first))?;
                a.adc(sum, dword_ptr(rdi + first + 4))?;
                a.adc(sum, 0)?;
            }
            a.add(edx, dword_ptr(rdi + 36))?;
            a.adc(edx, r9d)?;
            a.adc(edx, r11d)?;
            a.adc(edx, ecx)?;
            a.adc(edx, 0)?;
            a.mov(eax, edx)?;
            a.ret()
        })
    }

    /// Two chains without the sum.
    pub fn zero_sum() -> Vec<u8> {
        assemble(|a| {
            a.mov(rcx, qword_ptr(rdi))?;
            a.add(rcx, qword_ptr(rdi + 8))?;
            a.adc(rcx, qword_ptr(rdi + 16))?;
            a.adc(rcx, 0)?;
            a.mov(rdx, qword_ptr(rdi + 24))?;
            a.add(rdx, qword_ptr(rdi + 32))?;
            a.adc(rdx, rcx)?;
            a.adc(rdx, 0)?;
            fold(a, rdx, edx)
        })
    }
}
