//! "Did you mean": the candidate that a mistyped word was most likely meant to be.

/// The closest candidate, only where it is close.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = fold(word);
    let allowed = match folded.chars().count() {
        0 => return None,
        1..=3 => 1,
        4..=7 => 2,
        _ => 3,
    };
    candidates
        .into_iter()
        .map(|c| (strsim::damerau_levenshtein(&folded, &fold(c)), c))
        .filter(|&(distance, c)| distance <= allowed && distance < c.chars().count())
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, c)| c)
}

/// Spelling without case and without the difference between `-`, `_` and a space. A word longer than any
/// key is cut, so that a huge one costs nothing.
fn fold(word: &str) -> String {
    word.chars().take(80).map(|c| if matches!(c, '-' | ' ') { '_' } else { c.to_ascii_lowercase() }).collect()
}

/// `a, b or c`.
#[must_use]
pub fn list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [head @ .., last] => format!("{} or {last}", head.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_close_words_are_suggested() {
        assert_eq!(nearest("budgt", ["budget", "grace"]), Some("budget"));
        assert_eq!(nearest("Fail_Fast", ["wait-all", "fail-fast"]), Some("fail-fast"));
        assert_eq!(nearest("banana", ["budget", "grace"]), None);
        assert_eq!(nearest("", ["a"]), None);
    }
}
