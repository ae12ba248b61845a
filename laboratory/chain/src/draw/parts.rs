//! A drawing before layout: boxes, arrows and groups.

/// The kind of a box.
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
    /// Its text.
    pub text: String,
    /// The cycle in which the value is ready if all arguments are ready at 0.
    pub ready: Option<f64>,
    /// Its kind.
    pub kind: NodeKind,
    /// Its group.
    pub group: Option<usize>,
    /// True if it is on the critical chain.
    pub is_critical: bool,
    /// The instruction, as an index into the function.
    pub instruction: Option<usize>,
}

/// An arrow for all dependencies between two boxes.
#[derive(Clone, Debug)]
pub struct Arrow {
    /// The box that is waited for.
    pub from: usize,
    /// The box that waits.
    pub to: usize,
    /// The registers, flags and memory that the dependencies go through.
    pub labels: Vec<String>,
    /// The largest latency.
    pub cycles: f64,
    /// True if it is on the critical chain.
    pub is_critical: bool,
    /// True if it leads to the next iteration.
    pub is_carried: bool,
}

/// A drawing before layout.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The title.
    pub title: String,
    /// The boxes, in the order of execution.
    pub nodes: Vec<Node>,
    /// The arrows.
    pub arrows: Vec<Arrow>,
    /// The names of groups.
    pub groups: Vec<String>,
    /// The text below the drawing: the prediction, the measurement, the bottleneck.
    pub remark: String,
    /// Instructions that are not drawn because no result depends on them.
    pub left_out: usize,
    /// Instructions that are not drawn because the drawing would be too wide; none is on the critical chain.
    pub beside: usize,
}
