//! Basic blocks, their visiting order, and natural loops.

use crate::decode::Function;
use iced_x86::FlowControl;
use std::collections::{BTreeSet, HashMap};

/// A basic block.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Its instructions, as indices into the function.
    pub instructions: Vec<usize>,
    /// Blocks that may follow.
    pub successors: Vec<usize>,
    /// Blocks that it may follow.
    pub predecessors: Vec<usize>,
}

/// A natural loop: the blocks that reach a back edge without passing the header.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The first block of every iteration.
    pub header: usize,
    /// The blocks that jump back to the header.
    pub latches: Vec<usize>,
    /// All its blocks, in visiting order.
    pub blocks: Vec<usize>,
    /// True if it contains no other loop.
    pub is_innermost: bool,
}

/// The control flow of a function.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// The blocks; the first is the entry.
    pub blocks: Vec<Block>,
    /// Reverse postorder: except for retreating edges, a block comes after all its predecessors.
    pub order: Vec<usize>,
    /// The loops, outermost first.
    pub loops: Vec<Loop>,
    /// The position of each block in the order.
    position: Vec<usize>,
}

impl Blocks {
    /// The control flow of a function.
    #[must_use]
    pub fn of(function: &Function) -> Blocks {
        let blocks = split(function);
        let order = reverse_postorder(&blocks);
        let mut position = vec![usize::MAX; blocks.len()];
        for (place, block) in order.iter().enumerate() {
            position[*block] = place;
        }
        let mut found = Blocks { blocks, order, loops: Vec::new(), position };
        found.loops = found.find_loops();
        found
    }

    /// True if the edge leads backwards in the order.
    #[must_use]
    pub fn is_retreating(&self, from: usize, to: usize) -> bool {
        self.position[from] >= self.position[to]
    }

    /// The immediate dominator of each block (the algorithm of Cooper, Harvey and Kennedy).
    fn dominators(&self) -> Vec<usize> {
        const NONE: usize = usize::MAX;
        let mut dominator = vec![NONE; self.blocks.len()];
        dominator[self.order[0]] = self.order[0];
        let meet = |dominator: &[usize], mut a: usize, mut b: usize| {
            while a != b {
                while self.position[a] > self.position[b] {
                    a = dominator[a];
                }
                while self.position[b] > self.position[a] {
                    b = dominator[b];
                }
            }
            a
        };
        let mut changed = true;
        while changed {
            changed = false;
            for block in &self.order[1..] {
                let known = self.blocks[*block].predecessors.iter().filter(|p| dominator[**p] != NONE);
                let new = known.copied().reduce(|a, b| meet(&dominator, a, b)).unwrap_or(NONE);
                if dominator[*block] != new {
                    dominator[*block] = new;
                    changed = true;
                }
            }
        }
        dominator
    }

    fn find_loops(&self) -> Vec<Loop> {
        let dominator = self.dominators();
        let dominates = |above: usize, mut block: usize| {
            while self.position[block] > self.position[above] {
                block = dominator[block];
            }
            block == above
        };
        let mut latches: HashMap<usize, Vec<usize>> = HashMap::new();
        for block in &self.order {
            for next in &self.blocks[*block].successors {
                if self.is_retreating(*block, *next) && dominates(*next, *block) {
                    latches.entry(*next).or_default().push(*block);
                }
            }
        }
        let mut loops: Vec<Loop> = latches
            .into_iter()
            .map(|(header, latches)| {
                let mut body = BTreeSet::from([header]);
                let mut open = latches.clone();
                while let Some(block) = open.pop() {
                    if body.insert(block) {
                        open.extend(&self.blocks[block].predecessors);
                    }
                }
                let mut blocks: Vec<usize> = body.into_iter().collect();
                blocks.sort_unstable_by_key(|block| self.position[*block]);
                Loop { header, latches, blocks, is_innermost: true }
            })
            .collect();
        loops.sort_unstable_by_key(|found| (self.position[found.header], found.blocks.len()));
        let headers: Vec<usize> = loops.iter().map(|found| found.header).collect();
        for found in &mut loops {
            found.is_innermost =
                !headers.iter().any(|header| *header != found.header && found.blocks.contains(header));
        }
        loops
    }
}

/// Splits a function at branches and their targets.
fn split(function: &Function) -> Vec<Block> {
    let is_end = |flow| !matches!(flow, FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall);
    let mut leaders = BTreeSet::from([function.entry]);
    // With overlapping instructions, two can fall through to the same address.
    let mut falls_into: HashMap<u64, usize> = HashMap::new();
    for instruction in &function.instructions {
        match instruction.flow_control() {
            FlowControl::UnconditionalBranch => {
                leaders.insert(instruction.near_branch_target());
            }
            FlowControl::ConditionalBranch => {
                leaders.extend([instruction.near_branch_target(), instruction.next_ip()]);
            }
            FlowControl::XbeginXabortXend => {
                leaders.insert(instruction.next_ip());
            }
            _ => {}
        }
        if !is_end(instruction.flow_control()) {
            *falls_into.entry(instruction.next_ip()).or_default() += 1;
        }
    }
    leaders.extend(falls_into.iter().filter(|(_, count)| **count > 1).map(|(address, _)| *address));
    let mut starts: Vec<u64> =
        leaders.into_iter().filter(|address| function.index_of(*address).is_some()).collect();
    // The entry block comes first, whatever its address.
    starts.sort_unstable_by_key(|address| (*address != function.entry, *address));
    let number: HashMap<u64, usize> = starts.iter().enumerate().map(|(n, address)| (*address, n)).collect();
    let mut blocks: Vec<Block> = Vec::with_capacity(starts.len());
    for start in &starts {
        let mut block = Block::default();
        let mut address = *start;
        while let Some(index) = function.index_of(address) {
            if address != *start && number.contains_key(&address) {
                block.successors.push(number[&address]);
                break;
            }
            block.instructions.push(index);
            let instruction = &function.instructions[index];
            let target = number.get(&instruction.near_branch_target()).copied();
            let next = number.get(&instruction.next_ip()).copied();
            match instruction.flow_control() {
                flow if !is_end(flow) => {
                    address = instruction.next_ip();
                    continue;
                }
                FlowControl::UnconditionalBranch => block.successors.extend(target),
                FlowControl::ConditionalBranch => {
                    block.successors.extend(next);
                    block.successors.extend(target.filter(|target| Some(*target) != next));
                }
                FlowControl::XbeginXabortXend => block.successors.extend(next),
                _ => {}
            }
            break;
        }
        blocks.push(block);
    }
    for from in 0..blocks.len() {
        for to in blocks[from].successors.clone() {
            blocks[to].predecessors.push(from);
        }
    }
    blocks
}

fn reverse_postorder(blocks: &[Block]) -> Vec<usize> {
    let mut order = Vec::with_capacity(blocks.len());
    let mut seen = vec![false; blocks.len()];
    seen[0] = true;
    let mut stack = vec![(0, 0)];
    while let Some((block, next)) = stack.pop() {
        match blocks[block].successors.get(next) {
            Some(successor) => {
                stack.push((block, next + 1));
                if !seen[*successor] {
                    seen[*successor] = true;
                    stack.push((*successor, 0));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    order
}
