//! A second opinion: llvm-mca, where it is installed. Its models are not ours, and are not right because they are
//! others': what it says is shown beside, never used.

use super::predict::Prediction;
use carryline_chain::table::Table;
use carryline_chain::{Analysis, Scope, text};
use std::io::Write;
use std::process::{Command, Stdio};

/// What it says.
#[derive(Clone, Debug)]
pub struct Opinion {
    /// The CPU whose model it took.
    pub model: String,
    /// Cycles of the call from beginning to end.
    pub call_cycles: Option<f64>,
    /// Cycles of an iteration of the main loop.
    pub loop_cycles: Option<f64>,
}

/// More instructions than this are not worth its time.
const MOST: usize = 1000;
/// How often a loop runs.
const ITERATIONS: u32 = 100;

/// Asks it; `None` where it is not installed or knows no model.
pub fn ask(prediction: &Prediction, table: &Table) -> Option<Opinion> {
    let models: &[&str] = match table.name.as_str() {
        "zen5" => &["znver5", "znver4", "znver3"],
        "zen4" => &["znver4", "znver3"],
        "skylake_x" => &["cascadelake", "skylake-avx512"],
        "haswell" => &["haswell"],
        _ => &["x86-64"],
    };
    let call = match prediction.call.scope {
        Scope::Branching => None,
        _ => listing(&prediction.call, &prediction.call.order),
    };
    let main = prediction.main_loop().and_then(|(code, found)| listing(code, &found.instructions));
    models.iter().find_map(|model| {
        let call_cycles = call.as_deref().and_then(|code| cycles(model, code, 1));
        let loop_cycles = main.as_deref().and_then(|code| cycles(model, code, ITERATIONS));
        let said = call_cycles.or(loop_cycles).is_some();
        said.then(|| Opinion { model: (*model).to_owned(), call_cycles, loop_cycles })
    })
}

/// Instructions as an assembler reads them, without branches.
fn listing(analysis: &Analysis, order: &[usize]) -> Option<String> {
    let code = order.iter().map(|index| &analysis.function.instructions[*index]);
    let lines: Vec<String> = code.filter(|found| !text::is_branch(found)).map(text::gas).collect();
    (!lines.is_empty() && lines.len() <= MOST).then(|| lines.join("\n") + "\n")
}

fn cycles(model: &str, code: &str, iterations: u32) -> Option<f64> {
    let mut child = Command::new("llvm-mca")
        .args(["-mtriple=x86_64", &format!("-mcpu={model}"), &format!("-iterations={iterations}")])
        .args(["-instruction-info=false", "-resource-pressure=false"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    // It reads everything before it says anything, so neither waits for the other.
    let written = child.stdin.take()?.write_all(code.as_bytes());
    let output = child.wait_with_output().ok()?;
    written.ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    let line = text.lines().find_map(|line| line.strip_prefix("Total Cycles:"))?;
    line.trim().parse::<f64>().ok().map(|total| total / f64::from(iterations))
}
