//! Builds a row from a function's classification at every size.

use super::compilers::Compiler;
use super::object_code::Lowering;
use super::probes::{Function, LARGEST_BYTES, symbol};
use carryline_report::inlining::{InliningRow, ranges};
use std::collections::BTreeMap;

/// The rows of a compiler under one set of flags, one per function.
pub fn of_object(
    compiler: &Compiler,
    flags: &str,
    functions: &[Function],
    found: &BTreeMap<String, Lowering>,
) -> Vec<InliningRow> {
    let row = |function: &Function| {
        let by_size: Option<Vec<Lowering>> =
            (1..=LARGEST_BYTES).map(|size| found.get(&symbol(function, size)).copied()).collect();
        match by_size {
            Some(by_size) => InliningRow { function: Some(function.name.to_owned()), ..of_sizes(&by_size) },
            None => InliningRow {
                function: Some(function.name.to_owned()),
                ..failure("the object lacks some of the source's functions")
            },
        }
    };
    functions.iter().map(|function| named(compiler, flags, row(function))).collect()
}

/// The row of a compiler that failed under a set of flags.
pub fn of_failure(compiler: &Compiler, flags: &str, reason: &str) -> InliningRow {
    named(compiler, flags, failure(reason))
}

/// The row of a function that the compiler does not compile.
pub fn of_missing(compiler: &Compiler, flags: &str, function: &str, reason: &str) -> InliningRow {
    named(compiler, flags, InliningRow { function: Some(function.to_owned()), ..failure(reason) })
}

fn named(compiler: &Compiler, flags: &str, row: InliningRow) -> InliningRow {
    InliningRow {
        compiler: compiler.name.clone(),
        version: compiler.version.clone(),
        flags: flags.to_owned(),
        ..row
    }
}

/// The ranges of sizes, starting from 1.
fn of_sizes(by_size: &[Lowering]) -> InliningRow {
    let those = |wanted: &dyn Fn(Lowering) -> bool| {
        ranges((1..).zip(by_size).filter(|(_, how)| wanted(**how)).map(|(size, _)| size))
    };
    let in_place = |how| matches!(how, Lowering::Inlined | Lowering::Loop);
    let inlined_ranges = those(&in_place);
    let largest = inlined_ranges.last().map(|(_, last)| *last);
    let below = &by_size[..largest.unwrap_or(0) as usize];
    let gaps = (1..).zip(below).filter(|(_, how)| !in_place(**how)).map(|(size, _)| size);
    InliningRow {
        largest_inlined: largest,
        gap_ranges: ranges(gaps),
        inlined_ranges,
        loop_ranges: those(&|how| how == Lowering::Loop),
        rep_ranges: those(&|how| how == Lowering::Rep),
        call_ranges: those(&|how| how == Lowering::Call),
        status: "ok".to_owned(),
        reason: None,
        ..InliningRow::default()
    }
}

fn failure(reason: &str) -> InliningRow {
    let reason = Some(reason.to_owned());
    InliningRow { status: "failed".to_owned(), reason, ..InliningRow::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_gaps_and_the_largest_size() {
        use Lowering::{Call, Inlined, Loop, Rep};
        let row = of_sizes(&[Inlined, Inlined, Call, Loop, Loop, Rep, Call]);
        assert_eq!(row.inlined_ranges, [(1, 2), (4, 5)]);
        assert_eq!(row.loop_ranges, [(4, 5)]);
        assert_eq!((row.rep_ranges, row.call_ranges), (vec![(6, 6)], vec![(3, 3), (7, 7)]));
        assert_eq!((row.largest_inlined, row.gap_ranges), (Some(5), vec![(3, 3)]));
        assert_eq!((row.status.as_str(), row.reason), ("ok", None));
        let none = of_sizes(&[Call, Call]);
        assert_eq!((none.largest_inlined, none.call_ranges), (None, vec![(1, 2)]));
        assert!(none.inlined_ranges.is_empty() && none.gap_ranges.is_empty());
    }
}
