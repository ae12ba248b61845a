//! Repeated bodies in a trace: iterations of a loop that execute the same instructions.

use crate::form::Form;
use iced_x86::{FlowControl, Instruction, Mnemonic};

/// Consecutive steps, and how often they are repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    /// The first step.
    pub first: usize,
    /// Steps per iteration.
    pub length: usize,
    /// Iterations.
    pub times: usize,
}

/// The longest body that is searched for, in steps.
const LONGEST: usize = 400;

/// Splits the steps (instruction indices) into consecutive bodies. Steps that are not repeated form a body
/// with one iteration.
#[must_use]
pub fn bodies(steps: &[usize]) -> Vec<Body> {
    let mut found: Vec<Body> = Vec::new();
    let mut at = 0;
    while at < steps.len() {
        let best = repeated(steps, at);
        match (best, found.last_mut()) {
            (Some(body), _) => {
                found.push(body);
                at += body.length * body.times;
            }
            (None, Some(last)) if last.times == 1 => {
                last.length += 1;
                at += 1;
            }
            (None, _) => {
                found.push(Body { first: at, length: 1, times: 1 });
                at += 1;
            }
        }
    }
    found
}

/// The shortest body that is repeated from step `first` on.
fn repeated(steps: &[usize], first: usize) -> Option<Body> {
    let rest = &steps[first..];
    let longest = LONGEST.min(rest.len() / 2);
    let again = (1..=longest).filter(|length| rest[*length] == rest[0]);
    again.into_iter().find_map(|length| {
        let iteration = &rest[..length];
        let times = rest.chunks_exact(length).take_while(|next| *next == iteration).count();
        (times > 1).then_some(Body { first, length, times })
    })
}

/// True for instructions that only update pointers and counters or branch, without accessing memory.
#[must_use]
pub fn is_housekeeping(instruction: &Instruction) -> bool {
    let form = Form::of(instruction);
    let is_counting = matches!(
        instruction.mnemonic(),
        Mnemonic::Add
            | Mnemonic::Sub
            | Mnemonic::Inc
            | Mnemonic::Dec
            | Mnemonic::Cmp
            | Mnemonic::Test
            | Mnemonic::Lea
            | Mnemonic::Mov
            | Mnemonic::Nop
    );
    let is_branch = instruction.flow_control() != FlowControl::Next;
    is_branch || is_counting && form.memory().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_are_folded_and_other_steps_are_kept() {
        let steps = [0, 1, 2, 3, 2, 3, 2, 3, 4, 5];
        let expected = [
            Body { first: 0, length: 2, times: 1 },
            Body { first: 2, length: 2, times: 3 },
            Body { first: 8, length: 2, times: 1 },
        ];
        assert_eq!(bodies(&steps), expected);
        let of = |steps: &[usize]| bodies(steps).iter().map(|body| body.length * body.times).sum::<usize>();
        assert_eq!(of(&[7, 7, 7]), 3);
        assert_eq!(bodies(&[7, 7, 7])[0].times, 3);
        assert!(bodies(&[]).is_empty());
    }
}
