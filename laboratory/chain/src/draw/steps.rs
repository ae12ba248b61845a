//! Groups the instructions of a drawing by the steps of the computation.
//!
//! A *carry chain* is an addition and the additions with carry that consume its flag in sequence. A chain of
//! 32-bit additions to the upper half of a shifted register is a *fold*, together with the moves and the
//! shift before it. Other instructions are not grouped.

use crate::class::{Class, classes};
use crate::decode::Function;
use crate::draw::parts::{NodeKind, Picture};
use crate::effects::Effects;
use crate::form::Operand;
use iced_x86::{Instruction, Mnemonic};

/// Assigns the boxes of a picture to groups.
pub(crate) fn group(picture: &mut Picture, function: &Function, effects: &[Effects]) {
    let instructions: Vec<Option<usize>> = picture.nodes.iter().map(|node| node.instruction).collect();
    let takes_carry = |node: usize| {
        let instruction = instructions[node];
        instruction.is_some_and(|index| classes(&effects[index].form).contains(&Class::Carry))
    };
    let mut parent: Vec<usize> = (0..picture.nodes.len()).collect();
    let is_flag = |label: &String| label == "CF" || label == "OF";
    for arrow in picture.arrows.iter().filter(|arrow| !arrow.is_carried) {
        // A flag cleared by an idiom starts a chain, but is not part of it.
        let is_cleared = instructions[arrow.from].is_some_and(|index| effects[index].is_idiom);
        if takes_carry(arrow.to) && !is_cleared && arrow.labels.iter().any(is_flag) {
            let (a, b) = (root(&parent, arrow.from), root(&parent, arrow.to));
            parent[a.max(b)] = a.min(b);
        }
    }
    let code = |node: usize| -> Option<&Instruction> {
        instructions[node].map(|index| &function.instructions[index])
    };
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); picture.nodes.len()];
    for node in 0..picture.nodes.len() {
        members[root(&parent, node)].push(node);
    }
    let mut chains: Vec<(Vec<usize>, bool)> = Vec::new();
    for mut chain in members.into_iter().filter(|members| members.len() > 1) {
        let is_narrow = chain.iter().all(|node| code(*node).is_some_and(|found| width(found) == 32));
        let before = feeding(picture, &chain, &parent);
        let is_fold = is_narrow && before.iter().any(|node| code(*node).is_some_and(takes_upper_half));
        if is_fold {
            chain.extend(before.into_iter().filter(|node| {
                code(*node).is_some_and(|found| takes_upper_half(found) || found.mnemonic() == Mnemonic::Mov)
            }));
        }
        chains.push((chain, is_fold));
    }
    let count = chains.iter().filter(|(_, is_fold)| !is_fold).count();
    let mut number = 0;
    for (chain, is_fold) in chains {
        let name = match is_fold {
            true => "fold".to_owned(),
            false => {
                number += 1;
                if count > 1 { format!("chain {number}") } else { "chain".to_owned() }
            }
        };
        picture.groups.push(name);
        let group = picture.groups.len() - 1;
        for node in chain {
            picture.nodes[node].group = Some(group);
        }
    }
}

fn root(parent: &[usize], mut node: usize) -> usize {
    while parent[node] != node {
        node = parent[node];
    }
    node
}

/// Boxes outside every chain on which only this chain depends, directly or through each other.
fn feeding(picture: &Picture, chain: &[usize], parent: &[usize]) -> Vec<usize> {
    let alone = |node: usize| {
        picture.nodes[node].kind == NodeKind::Instruction
            && !picture.arrows.iter().any(|arrow| {
                let other = if arrow.from == node { arrow.to } else { arrow.from };
                (arrow.from == node || arrow.to == node) && root(parent, node) == root(parent, other)
            })
    };
    let mut found: Vec<usize> = Vec::new();
    loop {
        let inside = |node: usize| chain.contains(&node) || found.contains(&node);
        let next = (0..picture.nodes.len()).find(|node| {
            let mut after = picture.arrows.iter().filter(|arrow| arrow.from == *node && !arrow.is_carried);
            !inside(*node)
                && alone(*node)
                && picture.arrows.iter().any(|arrow| arrow.from == *node)
                && after.all(|arrow| inside(arrow.to))
        });
        match next {
            Some(node) => found.push(node),
            None => return found,
        }
    }
}

/// The operand size of an instruction in bits.
fn width(instruction: &Instruction) -> u16 {
    match Operand::of(instruction, 0) {
        Operand::General(bits) | Operand::Vector(bits) | Operand::Memory(bits) => bits,
        _ => 0,
    }
}

/// True for a shift that extracts the upper half of a register.
fn takes_upper_half(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    match instruction.mnemonic() {
        M::Shr => instruction.op_count() == 2 && instruction.immediate8() == 32,
        M::Ror | M::Rol | M::Rorx => instruction.immediate8() == 32,
        _ => false,
    }
}
