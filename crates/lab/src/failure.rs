//! Why a command ends without having done its job, and the exit status that says so.

use std::fmt;

/// Exit statuses, as documented in the help.
pub mod status {
    /// Unusable arguments or input.
    pub const USAGE: u8 = 2;
    /// Something was proved wrong.
    pub const WRONG: u8 = 3;
    /// Interrupted.
    pub const INTERRUPTED: u8 = 130;
}

/// An error with its exit status.
#[derive(Debug)]
pub enum Failure {
    /// The user can mend it: exit 2.
    Usage(String),
    /// Anything else: exit 1.
    Other(anyhow::Error),
}

impl Failure {
    /// The exit status.
    pub fn status(&self) -> u8 {
        match self {
            Failure::Usage(_) => status::USAGE,
            Failure::Other(_) => 1,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(text) => f.write_str(text),
            Failure::Other(error) => write!(f, "{error:#}"),
        }
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Other(error.into())
    }
}

/// A usage error with this text.
pub fn usage(text: impl Into<String>) -> Failure {
    Failure::Usage(text.into())
}

/// `; did you mean 'X' or 'Y'?` for the known words nearest to a wrong one, or nothing.
pub fn did_you_mean<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut near: Vec<(f64, &str)> = known
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.75)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    near.dedup_by_key(|(_, candidate)| *candidate);
    let words: Vec<String> = near.iter().take(3).map(|(_, candidate)| format!("'{candidate}'")).collect();
    if words.is_empty() { String::new() } else { format!("; did you mean {}?", words.join(" or ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_words_come_first() {
        let known = ["rep_movsb", "rep_movsq", "avx2", "reference"];
        assert_eq!(did_you_mean("rep_movsbb", known.into_iter()), "; did you mean 'rep_movsb' or 'rep_movsq'?");
        assert_eq!(did_you_mean("zzz", known.into_iter()), "");
    }
}
