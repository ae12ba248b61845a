//! Writes `data/fleet.txt`: the fleet's size distributions in the compact form shipped with the crate.
//!
//! `cargo run -p carryline-conditions --example compact_fleet FOLDER > laboratory/conditions/data/fleet.txt`,
//! where FOLDER holds the published files (`MemcpyGoogleA.csv` and so on: the probabilities of sizes 0, 1, 2,
//! ... on one line). The digits are copied as they are, so nothing is rounded.

use std::error::Error;
use std::path::Path;

const HEADER: &str = "\
# How often each call size occurs for memcpy, memmove and memset in six large services of one fleet.
# Figures: the LLVM project's libc benchmarks, Apache-2.0 WITH LLVM-exception, published with
# \"automemcpy\" (Guillaume Chatelet et al., ISMM 2021). Compacted by examples/compact_fleet.rs.
#
# Form: a line `[NAME]`, then the sizes that occur, ascending, separated by blanks or line ends. Each is
# `STEP:P` or, for a step of 1, `P`: STEP is the distance from the size before (from -1 at first), and P
# the probability, with its leading 0 left out.
";

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: compact_fleet FOLDER")?;
    print!("{HEADER}");
    for function in ["Memcpy", "Memmove", "Memset"] {
        for service in ["A", "B", "D", "L", "M", "Q"] {
            let file = Path::new(&folder).join(format!("{function}Google{service}.csv"));
            let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            println!("\n[{}-{service}]", function.to_lowercase());
            print!("{}", compact(&text)?);
        }
    }
    Ok(())
}

fn compact(probabilities: &str) -> Result<String, Box<dyn Error>> {
    const LINE_CHARS: usize = 108;
    let mut text = String::new();
    let mut line = String::new();
    let mut before: i64 = -1;
    for (size, probability) in (0_i64..).zip(probabilities.trim().split(',')) {
        let probability = probability.trim();
        if probability.parse::<f64>()? == 0.0 {
            continue;
        }
        let step = size - before;
        before = size;
        let digits = probability.trim_start_matches('0');
        let entry = if step == 1 { digits.to_owned() } else { format!("{step}:{digits}") };
        if !line.is_empty() && line.len() + 1 + entry.len() > LINE_CHARS {
            text.push_str(&line);
            text.push('\n');
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&entry);
    }
    text.push_str(&line);
    text.push('\n');
    Ok(text)
}
