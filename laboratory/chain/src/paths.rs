//! The longest path from each input to the outputs, and the choice of outputs.

use crate::effects::Location;
use crate::graph::{Graph, MachineState, Vertex, VertexId, Via};
use crate::signature::Signature;

/// An instruction on a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathStep {
    /// The step, in the order of execution.
    pub step: usize,
    /// The instruction, as an index into the function.
    pub instruction: usize,
    /// The register, flag or memory through which it depends on the previous step.
    pub via: Via,
    /// The latency of that dependency.
    pub cycles: f64,
}

/// The longest path from an input to the outputs.
#[derive(Clone, Debug)]
pub struct InputPath {
    /// The name of the input.
    pub name: String,
    /// Its register.
    pub register: String,
    /// The length in cycles; `None` if no output depends on the input.
    pub path_cycles: Option<f64>,
    /// The output at the end of the path.
    pub output: Option<String>,
    /// The instructions on the path.
    pub steps: Vec<PathStep>,
    /// The vertices on the path, the input first.
    pub vertices: Vec<VertexId>,
}

/// The outputs: the results that the states at the ends of the code hold.
pub(crate) fn outputs(signature: &Signature, ends: &[MachineState]) -> Vec<(VertexId, String)> {
    let rax = Location::at(0);
    let vector = Location::of(iced_x86::Register::XMM0);
    let mut found: Vec<(VertexId, String)> = Vec::new();
    let mut add = |vertex: Option<VertexId>, name: &str| {
        if let Some(vertex) = vertex
            && !found.iter().any(|(known, _)| *known == vertex)
        {
            found.push((vertex, name.to_owned()));
        }
    };
    for end in ends {
        if signature.returns {
            add(end.value(rax), "rax");
            if signature.inputs.is_empty() {
                add(vector.and_then(|vector| end.value(vector)), "zmm0");
            }
        }
        if signature.stores {
            for vertex in end.stores() {
                add(Some(vertex), "memory");
            }
        }
    }
    if found.is_empty() {
        // Code without a result: every caller-saved register that it writes.
        for end in ends {
            for location in (0..Location::COUNT).map(Location::at) {
                let is_result = !location.is_flag() && !location.is_callee_saved();
                if let Some(vertex) = end.value(location).filter(|_| is_result) {
                    found.push((vertex, location.name()));
                }
            }
        }
    }
    found
}

/// The longest path of each argument in order, then of every other register that leads to an output.
pub(crate) fn of_inputs(
    graph: &Graph,
    outputs: &[(VertexId, String)],
    signature: &Signature,
) -> Vec<InputPath> {
    let mut found = Vec::new();
    // An argument is listed even if nothing depends on it.
    let mut locations: Vec<Location> =
        signature.inputs.iter().filter_map(|(register, _)| Location::of(*register)).collect();
    for location in graph.inputs.keys() {
        if !locations.contains(location) {
            locations.push(*location);
        }
    }
    for location in locations {
        let Some(name) = signature.name(location) else { continue };
        let mut path = InputPath {
            name,
            register: location.name(),
            path_cycles: None,
            output: None,
            steps: Vec::new(),
            vertices: Vec::new(),
        };
        if let Some(source) = graph.inputs.get(&location) {
            let paths = graph.longest_from(*source);
            let reached =
                outputs.iter().filter_map(|(vertex, name)| Some((paths.cycles[*vertex]?, *vertex, name)));
            if let Some((cycles, vertex, output)) = reached.max_by(|a, b| a.0.total_cmp(&b.0)) {
                path.path_cycles = Some(cycles);
                path.output = Some(output.clone());
                for (vertex, edge) in paths.to(vertex) {
                    path.vertices.push(vertex);
                    if let (Vertex::Value { step, instruction, .. }, Some(edge)) =
                        (graph.vertices[vertex], edge)
                    {
                        path.steps.push(PathStep { step, instruction, via: edge.via, cycles: edge.cycles });
                    }
                }
            }
        }
        // Other registers are listed only if an output depends on them.
        if path.path_cycles.is_some() || !signature.inputs.is_empty() {
            found.push(path);
        }
    }
    found
}
