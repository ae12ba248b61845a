//! Runs the release command for the measurements that goals need, one after the other.

use crate::goal::{Cells, Goal};
use crate::tier::Measured;
use anyhow::{Context, bail};
use carryline_conditions::Then;
use carryline_conditions::sizes::Sizes;
use carryline_variants::Family;
use carryline_verification::plugin::PluginSpec;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The variable that hides CPU features from the measured command.
pub const MASK: &str = "CARRYLINE_MASK";

/// The variable that restricts glibc to a tier.
pub const TUNABLES: &str = carryline_machine::c_library::TUNABLES_VARIABLE;

/// The environment variables of the measured command for a tier.
#[must_use]
pub fn settings(one: &Measured) -> Vec<(&'static str, String)> {
    let tunables = one.glibc_tunables(std::env::var(TUNABLES).ok().as_deref());
    one.mask
        .clone()
        .map(|words| (MASK, words))
        .into_iter()
        .chain(tunables.map(|words| (TUNABLES, words)))
        .collect()
}

/// The minimum time for the timing itself, in seconds, for all variants.
const LEAST: f64 = 4.0;
/// The same for a few variants.
const LEAST_OF_FEW: f64 = 2.0;

/// The matrices that goals need: cells that differ only in their sizes share one, as long as they take about
/// the same time, because the command divides its budget evenly.
#[must_use]
pub fn matrices(goals: &[Goal]) -> Vec<Cells> {
    let mut matrices: Vec<Cells> = Vec::new();
    for cells in goals.iter().map(|goal| &goal.cells) {
        for size in &cells.sizes {
            let alone = Cells { sizes: vec![size.clone()], ..cells.clone() };
            let fits = |known: &&mut Cells| {
                Cells { sizes: alone.sizes.clone(), ..(**known).clone() } == alone
                    && known.sizes.first().map(|first| seconds_for(known, first))
                        == Some(seconds_for(&alone, size))
            };
            match matrices.iter_mut().find(fits) {
                Some(known) if known.sizes.contains(size) => {}
                Some(known) => known.sizes.push(size.clone()),
                None => matrices.push(alone),
            }
        }
    }
    matrices
}

/// The time for one size of a matrix, in seconds.
fn seconds_for(cells: &Cells, size: &str) -> f64 {
    let is_short = !cells.variants.is_empty();
    let mean = Sizes::parse_list(size).ok().and_then(|sizes| Some(sizes.first()?.mean()));
    match mean.unwrap_or(0.0) {
        bytes if bytes >= f64::from(32 << 20) && is_short => 5.0,
        bytes if bytes > 4097.0 && is_short => 1.0,
        _ if is_short => 0.14,
        bytes if bytes >= f64::from(32 << 20) => 8.0,
        bytes if bytes >= f64::from(4 << 20) => 3.5,
        _ if !cells.condition.cache.is_hot() => 1.5,
        _ if cells.condition.then != Then::Nothing => 1.5,
        bytes if bytes > f64::from(512 << 10) => 2.0,
        _ => 0.8,
    }
}

/// The default time for a matrix, in seconds.
#[must_use]
pub fn seconds(cells: &Cells) -> f64 {
    let situations: f64 = cells.sizes.iter().map(|size| seconds_for(cells, size)).sum();
    // All timed variants are verified at the beginning, and by a sample in every replicate.
    let verification = |family: &Family| match (family, cells.variants.is_empty()) {
        (_, false) => 1.5,
        (Family::Zero | Family::Copy, true) => 5.0,
        (Family::Checksum | Family::CopyChecksum, true) => 3.0,
    };
    let least = if cells.variants.is_empty() { LEAST } else { LEAST_OF_FEW };
    let places = cells.families.len() * (1 + usize::from(cells.also_at.is_some()));
    cells.families.iter().map(verification).sum::<f64>() + (situations * places as f64).max(least)
}

/// The arguments of `carryline` that measure a matrix and the plug-ins of its families.
#[must_use]
pub fn arguments(cells: &Cells, plugins: &[PluginSpec], budget: Duration, db: &Path) -> Vec<OsString> {
    let families: Vec<&str> = cells.families.iter().map(|family| family.name()).collect();
    let condition = &cells.condition;
    let mut offsets = condition.offsets.to_string();
    if let Some(other) = cells.also_at {
        offsets = format!("{offsets},{other}");
    }
    let mut words: Vec<OsString> = ["measure", "--family"].map(OsString::from).into();
    words.push(families.join(",").into());
    let options = [
        ("--sizes", cells.sizes.join(",")),
        ("--offsets", offsets),
        ("--cache", condition.cache.to_string()),
        ("--dependence", condition.dependence.to_string()),
        ("--then", condition.then.to_string()),
        ("--variants", cells.variants.join(",")),
        ("--budget", format!("{}ms", budget.as_millis())),
        ("--format", "json".to_owned()),
    ];
    for (option, value) in options.into_iter().filter(|(_, value)| !value.is_empty()) {
        words.extend([option.into(), value.into()]);
    }
    for plugin in plugins.iter().filter(|plugin| cells.families.contains(&plugin.family)) {
        words.extend(["--plugin".into(), plugin.to_string().into()]);
    }
    words.extend(["--db".into(), db.into()]);
    words
}

/// Builds the release command with all available peers; returns its path.
///
/// # Errors
/// If the build fails; cargo has printed the reason on standard error.
pub fn build(workspace: &Path) -> anyhow::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let output = Command::new(cargo)
        .args(["build", "--release", "--package", "carryline-cli", "--bin", "carryline"])
        .args(if dpdk_is_here() { &["--features", "dpdk"][..] } else { &[] })
        .arg("--message-format=json-render-diagnostics")
        .current_dir(workspace)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        bail!("building the command failed: {}", output.status);
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let mut executables = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_ours = message["target"]["name"] == "carryline" && message["target"]["kind"][0] == "bin";
        is_ours.then(|| message["executable"].as_str().map(PathBuf::from))?
    });
    executables.next_back().context("cargo built no carryline")
}

/// Whether DPDK's headers are installed, so that its checksum can be among the peers.
fn dpdk_is_here() -> bool {
    Command::new("pkg-config").args(["--exists", "libdpdk"]).status().is_ok_and(|status| status.success())
}

/// Measures one matrix into the database, in the tier of `one`; returns the number of the run.
///
/// # Errors
/// If the command cannot be started, fails, or stores nothing. Its messages are on standard error.
pub fn measure(
    program: &Path,
    cells: &Cells,
    plugins: &[PluginSpec],
    budget: Duration,
    db: &Path,
    one: &Measured,
) -> anyhow::Result<i64> {
    let mut command = Command::new(program);
    command.envs(settings(one));
    command.args(arguments(cells, plugins, budget, db));
    if !std::io::stderr().is_terminal() {
        command.arg("--quiet");
    }
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;
    if !output.status.success() {
        bail!("carryline measure failed: {}", output.status);
    }
    let result: serde_json::Value =
        serde_json::from_slice(&output.stdout).context("the command printed no JSON")?;
    result["run_id"].as_i64().context("the command stored nothing")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goals;
    use crate::tier::Tier;

    #[test]
    fn every_cell_of_every_goal_is_in_one_matrix_once() {
        let goals = goals::all(Tier::Avx512);
        let matrices = matrices(&goals);
        for goal in &goals {
            for size in &goal.cells.sizes {
                let holding = matrices.iter().filter(|matrix| {
                    Cells { sizes: vec![], ..(*matrix).clone() }
                        == Cells { sizes: vec![], ..goal.cells.clone() }
                        && matrix.sizes.contains(size)
                });
                assert_eq!(holding.count(), 1, "{} at {size}", goal.id);
            }
        }
    }

    #[test]
    fn a_tier_takes_under_nine_minutes_and_any_goal_half_a_minute() {
        for tier in Tier::ALL {
            let goals = goals::all(tier);
            let total: f64 = matrices(&goals).iter().map(seconds).sum();
            assert!(total < 540.0, "{tier}: {total}");
            for goal in goals {
                let alone: f64 = matrices(std::slice::from_ref(&goal)).iter().map(seconds).sum();
                assert!(alone <= 30.0, "{tier}: {}: {alone}", goal.id);
            }
        }
    }

    #[test]
    fn arguments_match_the_command_line() {
        let goal = &goals::only(&["zero-read-later-4m".to_owned()], Tier::Avx512).expect("a goal")[0];
        let plugins =
            ["a=./a.so:f:copy", "b=./b.so:g:fill"].map(|text| PluginSpec::parse(text).expect("a plug-in"));
        let words = arguments(&goal.cells, &plugins, Duration::from_secs(7), Path::new("x.sqlite"));
        let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
        assert_eq!(
            words.join(" "),
            "measure --family zero --sizes 4K,64K --offsets 0 --cache hot --dependence independent \
             --then read-later:4194304 --budget 7000ms --format json --plugin b=./b.so:g:fill --db x.sqlite"
        );
    }
}
