//! Histogram files: a user's own sizes and how often they occur.
//!
//! There are two forms, recognised by their content:
//! - one line of numbers separated by commas: the weights of sizes 0, 1, 2, ...;
//! - lines of `SIZE,COUNT` in any order; the counts of repeated sizes are added.
//!
//! Weights may have any scale. `#` begins a comment, blank lines are skipped, and a heading `size,count` is
//! allowed. A single line of two numbers is read as two weights if they add up to 1, otherwise as a size and
//! its count.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The largest file accepted.
const MOST_BYTES: u64 = 64 << 20;

/// The position of an error in a histogram file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorPosition {
    /// The whole file.
    File,
    /// A byte offset.
    Byte(u64),
    /// A line number, from 1.
    Line(usize),
}

impl fmt::Display for ErrorPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorPosition::File => Ok(()),
            ErrorPosition::Byte(offset) => write!(f, "byte {offset}: "),
            ErrorPosition::Line(line) => write!(f, "line {line}: "),
        }
    }
}

/// An error and its position.
type Fault = (ErrorPosition, String);

/// Reads a file: sizes with their weights, in ascending order without zeros.
pub(super) fn read(path: &Path) -> Result<Vec<(u64, f64)>, Fault> {
    let whole = |error: std::io::Error| (ErrorPosition::File, error.to_string());
    let file = File::open(path).map_err(whole)?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(whole)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err((ErrorPosition::Byte(MOST_BYTES), "too long for a histogram".to_owned()));
    }
    let text = std::str::from_utf8(&bytes)
        .map_err(|error| (ErrorPosition::Byte(error.valid_up_to() as u64), "not text".to_owned()))?;
    parse(text)
}

fn parse(text: &str) -> Result<Vec<(u64, f64)>, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines: Vec<(usize, Vec<&str>)> = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.split('#').next().unwrap_or("").trim()))
        .filter(|(_, line)| !line.is_empty())
        .map(|(number, line)| (number, line.split(',').map(str::trim).collect()))
        .collect();
    let weights = match lines.as_slice() {
        [] => return Err((ErrorPosition::File, "holds no numbers".to_owned())),
        [(number, fields)] if fields.len() != 2 => by_position(*number, fields)?,
        [(number, fields)] if adds_up_to_one(fields) => by_position(*number, fields)?,
        lines => by_size(lines)?,
    };
    let total: f64 = weights.values().sum();
    if total == 0.0 {
        return Err((ErrorPosition::File, "all weights are zero".to_owned()));
    }
    if !total.is_normal() {
        return Err((ErrorPosition::File, format!("the sum of the weights, {total}, is out of range")));
    }
    Ok(weights.into_iter().filter(|(_, weight)| *weight > 0.0).collect())
}

fn adds_up_to_one(fields: &[&str]) -> bool {
    let total: f64 = fields.iter().map(|field| field.parse().unwrap_or(f64::NAN)).sum();
    (total - 1.0).abs() < 0.01
}

fn by_position(line: usize, fields: &[&str]) -> Result<BTreeMap<u64, f64>, Fault> {
    if fields.len() == 1 {
        let reason = match fields[0].contains(char::is_whitespace) {
            true => "the weights of size 0, 1, 2, ... must be separated by commas",
            false => "only one number; expected the weights of size 0, 1, 2, ..., or 'size,count' lines",
        };
        return Err((ErrorPosition::Line(line), reason.to_owned()));
    }
    let mut weights = BTreeMap::new();
    for (size, field) in (0..).zip(fields) {
        weights.insert(size, weight(line, field).map_err(|(at, e)| (at, format!("{e} for size {size}")))?);
    }
    Ok(weights)
}

fn by_size(lines: &[(usize, Vec<&str>)]) -> Result<BTreeMap<u64, f64>, Fault> {
    let heading = |fields: &[&str]| {
        fields.len() == 2 && fields[0].eq_ignore_ascii_case("size") && fields[1].eq_ignore_ascii_case("count")
    };
    let mut weights = BTreeMap::new();
    for (index, (line, fields)) in lines.iter().enumerate() {
        if index == 0 && heading(fields) {
            continue;
        }
        let [size, count] = fields.as_slice() else {
            return Err((
                ErrorPosition::Line(*line),
                "not a size and its count, separated by a comma".to_owned(),
            ));
        };
        let size = carryline_machine::words::parse_bytes(size)
            .and_then(super::possible)
            .map_err(|reason| (ErrorPosition::Line(*line), reason))?;
        *weights.entry(size).or_insert(0.0) += weight(*line, count)?;
    }
    Ok(weights)
}

fn weight(line: usize, field: &str) -> Result<f64, Fault> {
    let reason = match field.parse::<f64>() {
        Ok(weight) if !weight.is_finite() => format!("weight '{field}' is not finite"),
        Ok(weight) if weight < 0.0 => format!("weight '{field}' is negative"),
        Ok(weight) => return Ok(weight),
        Err(_) if field.is_empty() => "an empty weight".to_owned(),
        Err(_) => format!("'{field}' is not a weight"),
    };
    Err((ErrorPosition::Line(line), reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        assert_eq!(parse("0.5,0,0.25,0.25\n"), Ok(vec![(0, 0.5), (2, 0.25), (3, 0.25)]));
        assert_eq!(parse("# mine\n 3, 0 , 1 # counts\r\n\n"), Ok(vec![(0, 3.0), (2, 1.0)]));
        let sizes = "size,count\n1500,7\n40,3 # small\n1500,1\n4K,0.5\n9,0\n";
        assert_eq!(parse(sizes), Ok(vec![(40, 3.0), (1500, 8.0), (4096, 0.5)]));
        assert_eq!(parse("\u{feff}64,1\n"), Ok(vec![(64, 1.0)]));
    }

    #[test]
    fn two_numbers_are_weights_if_they_add_up_to_one() {
        assert_eq!(parse("0.4,0.6"), Ok(vec![(0, 0.4), (1, 0.6)]));
        assert_eq!(parse("40,3"), Ok(vec![(40, 3.0)]));
    }

    #[test]
    fn errors_are_reported_with_their_line() {
        let cases = [
            ("", ErrorPosition::File, "no numbers"),
            ("# only\n\n", ErrorPosition::File, "no numbers"),
            ("0,0,0", ErrorPosition::File, "all weights are zero"),
            ("5,0\n6,0", ErrorPosition::File, "all weights are zero"),
            ("1,2,-3", ErrorPosition::Line(1), "negative for size 2"),
            ("1,nan,3", ErrorPosition::Line(1), "not finite"),
            ("1,2,inf", ErrorPosition::Line(1), "not finite"),
            ("1,,3", ErrorPosition::Line(1), "an empty weight for size 1"),
            ("1500", ErrorPosition::Line(1), "only one number"),
            ("#\n1,2\n3,4,5", ErrorPosition::Line(3), "not a size and its count, separated by a comma"),
            ("40 3\n1500 7", ErrorPosition::Line(1), "separated by a comma"),
            ("0.5 0.25 0.25", ErrorPosition::Line(1), "must be separated by commas"),
            ("1,2\nx,4", ErrorPosition::Line(2), "'x' is not a number"),
            ("1,2\n-3,4", ErrorPosition::Line(2), "'-3' is negative"),
            ("1,2\n3,many", ErrorPosition::Line(2), "'many' is not a weight"),
            ("1,1e308\n2,1e308", ErrorPosition::File, "inf, is out of range"),
            ("1,1e-320\n2,0", ErrorPosition::File, "is out of range"),
        ];
        for (text, place, reason) in cases {
            let (at, why) = parse(text).expect_err(text);
            assert_eq!(at, place, "{text}: {why}");
            assert!(why.contains(reason), "{text}: {why}");
        }
    }

    #[test]
    fn files_that_are_not_text_are_errors() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), b"1,2,\xff\xfe").expect("written");
        assert_eq!(read(file.path()).expect_err("not text").0, ErrorPosition::Byte(4));
        assert_eq!(read(Path::new("/dev/zero")).expect_err("endless").0, ErrorPosition::Byte(MOST_BYTES));
        assert_eq!(read(Path::new("/nonexistent/h")).expect_err("no file").0, ErrorPosition::File);
        assert_eq!(read(Path::new("/")).expect_err("a folder").0, ErrorPosition::File);
    }
}
