//! A second opinion from the newest installed llvm-mca. Its models differ from ours and have known faults;
//! its prediction is shown with these faults, and never used.

use super::predict::Prediction;
use carryline_chain::table::Table;
use carryline_chain::{Analysis, Scope, text};
use iced_x86::{Mnemonic, OpKind};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The prediction of llvm-mca.
#[derive(Clone, Debug)]
pub struct Opinion {
    /// Name and version: `llvm-mca 19`.
    pub tool: String,
    /// The CPU model used.
    pub model: String,
    /// The CPU's own model, if llvm-mca does not know it.
    pub unknown: Option<&'static str>,
    /// Cycles of the call from beginning to end.
    pub call_cycles: Option<f64>,
    /// Cycles of an iteration of the main loop.
    pub loop_cycles: Option<f64>,
    /// Cycles per call if each waits for the result of the previous one.
    pub chained: Option<f64>,
    /// Cycles per call if none waits.
    pub independent: Option<f64>,
    /// Known faults of the models that affect this code.
    pub misreads: Vec<&'static str>,
}

/// The maximum number of instructions of a prediction.
const MOST: usize = 1000;
/// The number of iterations of a loop, and the maximum number of instructions of repeated calls.
const ITERATIONS: usize = 100;
const MOST_REPEATED: usize = 20_000;

/// An installed llvm-mca.
struct Tool {
    path: PathBuf,
    version: u32,
}

/// The newest llvm-mca on PATH.
fn newest() -> Option<&'static Tool> {
    static FOUND: OnceLock<Option<Tool>> = OnceLock::new();
    let find = || {
        let path = std::env::var_os("PATH")?;
        let files = std::env::split_paths(&path).filter_map(|folder| std::fs::read_dir(folder).ok());
        let named = files.flatten().flatten().map(|entry| entry.path()).filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.strip_prefix("llvm-mca").is_some_and(|rest| {
                rest.is_empty() || rest.strip_prefix('-').is_some_and(|number| number.parse::<u32>().is_ok())
            })
        });
        let with_version = named.filter_map(|path| Some(Tool { version: version(&path)?, path }));
        with_version.max_by_key(|tool| tool.version)
    };
    FOUND.get_or_init(find).as_ref()
}

/// The major version, from `LLVM version 14.0.6`.
fn version(path: &std::path::Path) -> Option<u32> {
    let output = Command::new(path).arg("--version").stderr(Stdio::null()).output().ok()?;
    version_in(&String::from_utf8_lossy(&output.stdout))
}

fn version_in(text: &str) -> Option<u32> {
    let (_, after) = text.split_once("LLVM version ")?;
    after.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// LLVM's names of a microarchitecture, followed by those of its ancestors.
fn models(table: &Table) -> &'static [&'static str] {
    match table.family() {
        "zen5" => &["znver5", "znver4", "znver3"],
        "zen4" => &["znver4", "znver3"],
        "zen3" => &["znver3"],
        "zen2" => &["znver2"],
        "golden_cove" => &["sapphirerapids", "alderlake", "icelake-server"],
        "gracemont" => &["gracemont", "alderlake"],
        "ice_lake" => &["icelake-server", "icelake-client"],
        "skylake_x" => &["cascadelake", "skylake-avx512"],
        "haswell" => &["haswell"],
        _ => &[],
    }
}

/// Runs llvm-mca; `None` if it is not installed or has no model of this CPU or its ancestors.
pub fn of(prediction: &Prediction, table: &Table) -> Option<Opinion> {
    let tool = newest()?;
    let models = models(table);
    let is_branching = prediction.call.scope == Scope::Branching;
    let call = (!is_branching).then(|| listing(&prediction.call, &prediction.call.order)).flatten();
    let main = prediction.main_loop().and_then(|(code, found)| listing(code, &found.instructions));
    let is_sum = prediction.signature.chained == Some("sum");
    let repeated = |before: &str| {
        let lines = call.as_ref()?;
        let times = (MOST_REPEATED / lines.len()).clamp(4, ITERATIONS);
        let code = format!("movq %r14, %rdi\nmovq %r15, %rsi\n{before}\n{}", joined(lines));
        Some((code, times))
    };
    models.iter().find_map(|model| {
        let ask = |code: &str, times: usize| tool.cycles(model, code, times);
        let call_cycles = call.as_ref().and_then(|lines| ask(&joined(lines), 1));
        let loop_cycles = main.as_ref().and_then(|lines| ask(&joined(lines), ITERATIONS));
        call_cycles.or(loop_cycles)?;
        let of_calls = |before: &str| repeated(before).and_then(|(code, times)| ask(&code, times));
        let third = if is_sum { "movl %ebp, %edx" } else { "movq %r12, %rdx" };
        Some(Opinion {
            tool: format!("llvm-mca {}", tool.version),
            model: (*model).to_owned(),
            unknown: models.first().copied().filter(|own| own != model),
            call_cycles,
            loop_cycles,
            chained: if is_sum { of_calls("movl %eax, %edx") } else { None },
            independent: of_calls(third),
            misreads: misreads(&prediction.call),
        })
    })
}

/// Known faults of the models that affect this code.
fn misreads(call: &Analysis) -> Vec<&'static str> {
    let executed = || call.order.iter().map(|index| &call.function.instructions[*index]);
    let mut found = Vec::new();
    let carries = |i: &&iced_x86::Instruction| {
        matches!(i.mnemonic(), Mnemonic::Adc | Mnemonic::Sbb | Mnemonic::Adcx | Mnemonic::Adox)
    };
    if executed()
        .filter(carries)
        .any(|i| (0..i.op_count()).any(|operand| i.op_kind(operand) == OpKind::Memory))
    {
        found.push("the load of an adc from memory waits for the carry, not only for the address");
    }
    if executed().any(text::is_branch) {
        found.push("branches cost nothing");
    }
    found
}

/// Instructions in assembler syntax, without branches.
fn listing(analysis: &Analysis, order: &[usize]) -> Option<Vec<String>> {
    let code = order.iter().map(|index| &analysis.function.instructions[*index]);
    let lines: Vec<String> = code.filter(|found| !text::is_branch(found)).map(text::gas).collect();
    (!lines.is_empty() && lines.len() <= MOST).then_some(lines)
}

fn joined(lines: &[String]) -> String {
    lines.join("\n") + "\n"
}

impl Tool {
    /// Cycles per iteration of the code.
    fn cycles(&self, model: &str, code: &str, iterations: usize) -> Option<f64> {
        let mut child = Command::new(&self.path)
            .args(["-mtriple=x86_64", &format!("-mcpu={model}"), &format!("-iterations={iterations}")])
            .args(["-instruction-info=false", "-resource-pressure=false"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        // llvm-mca reads all its input before it writes, so neither side blocks.
        let written = child.stdin.take()?.write_all(code.as_bytes());
        let output = child.wait_with_output().ok()?;
        written.ok()?;
        let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
        let line = text.lines().find_map(|line| line.strip_prefix("Total Cycles:"))?;
        line.trim().parse::<f64>().ok().map(|total| total / iterations as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_found() {
        let text = "LLVM (http://llvm.org/):\n  LLVM version 14.0.6\n  Optimized build.";
        assert_eq!(version_in(text), Some(14));
        assert_eq!(version_in("Debian LLVM version 19.1.7"), Some(19));
        assert_eq!(version_in("no version"), None);
    }
}
