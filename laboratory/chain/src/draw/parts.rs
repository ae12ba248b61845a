//! A picture before anything has a place: boxes, arrows, groups.

/// What a box stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// An argument.
    Input,
    /// An instruction.
    Instruction,
    /// A result.
    Output,
}

/// A box.
#[derive(Clone, Debug)]
pub struct Node {
    /// What is written in it.
    pub text: String,
    /// The cycle in which it is ready, if everything could start at once.
    pub ready: Option<f64>,
    /// What it stands for.
    pub kind: NodeKind,
    /// Its group.
    pub group: Option<usize>,
    /// On the critical chain.
    pub is_critical: bool,
    /// The instruction it stands for, by its place in the function.
    pub instruction: Option<usize>,
}

/// An arrow; all that one instruction waits for another for.
#[derive(Clone, Debug)]
pub struct Arrow {
    /// What is waited for.
    pub from: usize,
    /// Who waits.
    pub to: usize,
    /// Through what: registers, flags, memory.
    pub labels: Vec<String>,
    /// For how long.
    pub cycles: f64,
    /// On the critical chain.
    pub is_critical: bool,
    /// From one iteration to the next.
    pub is_carried: bool,
}

/// A picture without places.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// What it shows.
    pub title: String,
    /// The boxes, in the order of execution.
    pub nodes: Vec<Node>,
    /// The arrows.
    pub arrows: Vec<Arrow>,
    /// The names of groups.
    pub groups: Vec<String>,
    /// What is written below it: the prediction, what was measured, what binds.
    pub remark: String,
    /// How many instructions are not drawn, because no result waits for them.
    pub left_out: usize,
    /// How many are not drawn, because there are too many beside the critical chain.
    pub beside: usize,
}
