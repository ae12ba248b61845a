//! Fusion: instructions that the front end merges with the conditional jump after them into one operation.
//!
//! The pair takes one slot and does the work of the jump; a memory operand is still loaded. Which pairs are fused differs between
//! CPUs, so that each table lists its own.

use crate::effects::Effects;
use crate::table::Table;
use iced_x86::{ConditionCode, Instruction};

/// The conditions of jumps that read the same flags, by the letter that the tables use.
pub(crate) fn letter(condition: ConditionCode) -> Option<char> {
    use ConditionCode as C;
    Some(match condition {
        C::o | C::no => 'o',
        C::s | C::ns => 's',
        C::p | C::np => 'p',
        C::b | C::ae => 'b',
        C::be | C::a => 'a',
        C::e | C::ne => 'e',
        C::l | C::ge => 'l',
        C::le | C::g => 'g',
        C::None => return None,
    })
}

/// The letters of all conditions.
pub(crate) const LETTERS: &str = "ospbaelg";

/// Marks the instructions of a function, in the order of their addresses, that are fused with the next one.
pub(crate) fn mark(instructions: &[Instruction], effects: &mut [Effects], table: &Table) {
    for (pair, effects) in instructions.windows(2).zip(effects) {
        let [first, jump] = pair else { continue };
        effects.is_fused = first.next_ip() == jump.ip()
            && letter(jump.condition_code())
                .is_some_and(|letter| jump.is_jcc_short_or_near() && table.fuses(&effects.form, letter));
    }
}

#[cfg(test)]
mod tests {
    use crate::form::Form;
    use crate::table::by_name;
    use iced_x86::code_asm::*;

    #[test]
    fn pairs_are_fused_as_the_tables_say() {
        let form = |write: &dyn Fn(&mut CodeAssembler) -> Result<(), IcedError>| {
            let mut a = CodeAssembler::new(64).expect("an assembler");
            write(&mut a).expect("an instruction");
            Form::of(&a.instructions()[0])
        };
        let dec = form(&|a| a.dec(rdi));
        let sub = form(&|a| a.sub(rdi, 1));
        let or = form(&|a| a.or(rdi, rsi));
        let compare = form(&|a| a.cmp(rdi, ptr(rcx)));
        let constant = form(&|a| a.cmp(qword_ptr(rcx), 5));
        let fuses =
            |name: &str, form: &Form, letter: char| by_name(name).expect("a table").fuses(form, letter);
        for (name, dec_e, dec_b, sub_b, sub_s, or_e, memory) in [
            ("golden_cove", true, false, true, false, false, true),
            ("ice_lake", false, false, true, false, false, false),
            ("skylake_x", true, false, true, false, false, true),
            ("zen2", false, false, false, false, false, true),
            ("zen5", true, true, true, true, true, true),
            ("generic", false, false, false, false, false, false),
        ] {
            assert_eq!(fuses(name, &dec, 'e'), dec_e, "{name}: dec, jne");
            assert_eq!(fuses(name, &dec, 'b'), dec_b, "{name}: dec, jb");
            assert_eq!(fuses(name, &sub, 'b'), sub_b, "{name}: sub, jb");
            assert_eq!(fuses(name, &sub, 's'), sub_s, "{name}: sub, js");
            assert_eq!(fuses(name, &or, 'e'), or_e, "{name}: or, jne");
            assert_eq!(fuses(name, &compare, 'e'), memory, "{name}: cmp with memory, jne");
            assert!(!fuses(name, &constant, 'e'), "{name}: cmp of memory with a constant, jne");
        }
    }
}
