//! Instructions as text.

use iced_x86::{Formatter, GasFormatter, Instruction, NasmFormatter};

/// An instruction in Intel syntax, as NASM writes it.
#[must_use]
pub fn instruction(instruction: &Instruction) -> String {
    let mut formatter = NasmFormatter::new();
    let options = formatter.options_mut();
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_space_after_operand_separator(true);
    options.set_show_branch_size(false);
    options.set_branch_leading_zeros(false);
    // Integer constants are signed; shuffle selectors are not.
    options.set_signed_immediate_operands(!instruction.op0_register().is_vector_register());
    options.set_rip_relative_addresses(true);
    let mut text = String::new();
    formatter.format(instruction, &mut text);
    text
}

/// An instruction in AT&T syntax, as the GNU assembler reads it.
#[must_use]
pub fn gas(instruction: &Instruction) -> String {
    let mut formatter = GasFormatter::new();
    let mut text = String::new();
    formatter.format(instruction, &mut text);
    text
}

/// Cycles: whole numbers without decimals, others with two.
#[must_use]
pub fn cycles(cycles: f64) -> String {
    if (cycles - cycles.round()).abs() < 1e-9 { format!("{cycles:.0}") } else { format!("{cycles:.2}") }
}

/// Cycles with their unit: `1 cycle`, `9 cycles`.
#[must_use]
pub fn in_cycles(count: f64) -> String {
    format!("{} cycle{}", cycles(count), if count == 1.0 { "" } else { "s" })
}

/// True for jumps, calls and returns.
#[must_use]
pub fn is_branch(instruction: &Instruction) -> bool {
    instruction.flow_control() != iced_x86::FlowControl::Next
}
