//! Suggestions for misspelt words in error messages.

/// Up to three known words that resemble `word`, the most similar first.
///
/// Case is ignored. Two words are similar if few mistakes in typing (a third of the length, at least two)
/// turn one into the other, or if one is a prefix of the other.
///
/// ```
/// use carryline_machine::nearest::nearest;
/// assert_eq!(nearest("chaned", ["independent", "chained", "fenced"]), ["chained"]);
/// assert!(nearest("xyzzy", ["independent", "chained", "fenced"]).is_empty());
/// ```
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    const MOST: usize = 3;
    let word = word.to_lowercase();
    if word.is_empty() {
        return Vec::new();
    }
    let mut alike: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|candidate| {
            let lower = candidate.to_lowercase();
            let mistakes = strsim::osa_distance(&word, &lower);
            let begins = word.len() >= 3 && (lower.starts_with(&word) || word.starts_with(&lower));
            let tolerated = (lower.chars().count().max(word.chars().count()) / 3).max(2);
            let differs_wholly = mistakes >= lower.chars().count();
            (begins || mistakes <= tolerated && !differs_wholly).then_some((mistakes, candidate))
        })
        .collect();
    alike.sort_by_key(|(mistakes, _)| *mistakes);
    // If a word is nearly right, less similar ones are noise; if it is right except for case, so are all
    // others.
    let best = alike.first().map_or(0, |(mistakes, _)| *mistakes);
    let tolerated = if best == 0 { 0 } else { best + 1 };
    alike
        .into_iter()
        .filter(|(mistakes, _)| *mistakes <= tolerated)
        .map(|(_, word)| word)
        .take(MOST)
        .collect()
}

/// The end of an error message: `; did you mean 'a' or 'b'?`, or nothing.
#[must_use]
pub fn did_you_mean<S: AsRef<str>>(words: &[S]) -> String {
    if words.is_empty() {
        return String::new();
    }
    let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.as_ref())).collect();
    format!("; did you mean {}?", quoted.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_mistakes_and_prefixes_are_recognised() {
        let known = ["rep_stosb", "rep_stosl", "rep_stosq", "avx512_nontemporal", "zero"];
        assert_eq!(nearest("rep_stosd", known), ["rep_stosb", "rep_stosl", "rep_stosq"]);
        assert_eq!(nearest("REP_STOSB", known), ["rep_stosb"]);
        assert_eq!(nearest("avx512", known), ["avx512_nontemporal"]);
        assert_eq!(nearest("zreo", known), ["zero"]);
        assert!(nearest("", known).is_empty());
        assert!(nearest("q", known).is_empty());
    }

    #[test]
    fn the_question_lists_each_word() {
        assert_eq!(did_you_mean(&["a", "b"]), "; did you mean 'a' or 'b'?");
        assert_eq!(did_you_mean::<&str>(&[]), "");
    }
}
