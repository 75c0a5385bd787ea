//! What the words on the screen mean: one table for the palette, the mouse and the page of words.

use super::{App, Effect, Notice, Page};

/// A word with what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The word as it stands on the screen.
    pub word: &'static str,
    /// What it means, in one or two sentences.
    pub meaning: &'static str,
}

const fn entry(word: &'static str, meaning: &'static str) -> Entry {
    Entry { word, meaning }
}

/// Every word that is explained: first what becomes of rounds and calls, then why calls are missing.
pub const GLOSSARY: &[Entry] = &[
    entry("complete", "Every call of the round answered in time."),
    entry("partial", "The round ended with some calls missing; the rest was used."),
    entry("failed", "The round has no result: a required call is missing, or its mode gave up."),
    entry("ok", "The call answered, within its limit and as expected."),
    entry("cut", "The call was still running when its time was up. It may have answered a moment later."),
    entry("error", "The call failed by itself before its time was up; its reason says how."),
    entry("missing", "Calls without an answer, cut or failed, by reason."),
    entry(
        "not needed",
        "The round had enough answers without this call. It is counted neither as answered nor as missing.",
    ),
    entry(
        "given up",
        "The round was broken off, by quitting or because the process stood still. It counts nowhere.",
    ),
    entry("deadline", "When a round ends at the latest. As a reason: the call was cut at that moment."),
    entry("budget", "How long the optional calls of a round may take."),
    entry(
        "required",
        "Without this call there is no result. It has the request budget, not the smaller one of the others.",
    ),
    entry("quorum", "The first k answers are enough; the rest is not needed."),
    entry(
        "hedge",
        "A second attempt for a call that is late, on another replica where there is one. The first success wins.",
    ),
    entry("won", "Hedges that answered before the attempt they were sent for."),
    entry("wasted", "Hedges that were not needed after all: load without use."),
    entry("wait-all", "The round waits for every call, whatever the budget. For contrast."),
    entry("fail-fast", "The first failure fails the round. For contrast."),
    entry(
        "censored",
        "Cut off before it answered: how long it would have taken is not known, only that it is longer.",
    ),
    entry(
        "bounded",
        "Exact figures would need calls that were cut; these are the least and the most they can be.",
    ),
    entry("stale", "Worked out from settings or rounds that have changed since."),
    entry("thin", "From so few rounds that the figure may be far off."),
    entry("knee", "The budget from which more time brings few more answers."),
    entry(
        "correlated",
        "Calls that are late together more often than by chance: one cause may be behind them.",
    ),
    entry(
        "probe",
        "A round whose late calls are watched to their end, so that larger budgets can be judged. It ends on time all the same.",
    ),
    entry("straggler", "A call of a probe round that is watched past the end of its round."),
    entry(
        "overshoot",
        "How long after its deadline a round really ended. It should be well below a millisecond.",
    ),
    entry(
        "skipped",
        "Starts that did not happen because too many rounds were still running, or their rate was reached.",
    ),
    entry("lost", "Events that the screen was too slow for. Counts are not touched by it."),
    entry("lingering", "Cancelled attempts that are not gone yet."),
    entry("warming", "The first rounds, shown and recorded and counted nowhere."),
    entry("queued", "Waiting for a permit or a connection; nothing was sent yet."),
    entry("dns", "Resolving the name. As a reason: it did not resolve."),
    entry("connect", "Connecting by TCP."),
    entry("tls", "The TLS handshake. As a reason: it failed after TCP was up."),
    entry("waiting", "The request is sent; no answer yet."),
    entry("body", "The answer has begun and its body arrives."),
    entry(
        "invalid_request",
        "The request could not be built: a bad URL or header once its holes were filled.",
    ),
    entry("redirect", "Too many redirects, or one that may not be followed."),
    entry("connect_refused", "Nobody listens at the port: the service is down, or the port is wrong."),
    entry("connect_unreachable", "There is no route to the host or its network."),
    entry("connect_failed", "Connecting failed in some other way; the call's detail has the words."),
    entry(
        "local_fd_limit",
        "This process has no file descriptors left. Ours, not the upstream's: try `ulimit -n`.",
    ),
    entry("local_port_limit", "This host has no local ports left. Ours, not the upstream's."),
    entry("conn_reset", "The other side reset the connection."),
    entry("conn_closed", "The connection was closed before the answer was complete."),
    entry("goaway", "The server is closing its HTTP/2 connection."),
    entry("protocol", "What came back is not HTTP."),
    entry("body_truncated", "The body ended before the length it had announced."),
    entry("body_invalid", "The body's framing or encoding is broken."),
    entry("body_limit", "The body is larger than `max_body`."),
    entry(
        "http_status",
        "The status is not one that `expect` accepts; it stands in the word, such as http_503.",
    ),
    entry("check_failed", "The body does not contain what `expect` asks for."),
    entry("backing_off", "The server asked for a pause (Retry-After), so nothing was sent."),
    entry("timeout", "The endpoint's own timeout ran out before the round's deadline."),
    entry(
        "throttled",
        "Still waiting for one of its permits at the deadline: `concurrency` is too small for this load.",
    ),
    entry("breaker_open", "It failed so often that nothing is sent for a while."),
    entry(
        "quorum_impossible",
        "Too many calls had failed for a quorum, so the round did not wait for this one.",
    ),
    entry("sibling_failed", "Another call failed the round, so this one was cancelled."),
    entry("request_deadline", "Cut at the outer limit of the whole round."),
    entry("aborted", "The round was given up, by pausing or quitting."),
    entry("internal", "A fault of fanscope itself; please report it."),
];

/// The entry of a word as it stands on the screen: `http_503` and plurals are known as well.
#[must_use]
pub fn find(word: &str) -> Option<usize> {
    let word = word.to_lowercase();
    let status = word.strip_prefix("http_").is_some_and(|code| code.bytes().all(|b| b.is_ascii_digit()));
    let word = if status { "http_status" } else { &word };
    let place = |word: &str| GLOSSARY.iter().position(|entry| entry.word == word);
    place(word).or_else(|| place(word.strip_suffix('s')?))
}

impl Entry {
    /// The word and what it means.
    #[must_use]
    pub fn said(&self) -> String {
        format!("{}: {}", self.word, self.meaning)
    }
}

impl App {
    /// Explains a word until the next key.
    pub(super) fn explain(&mut self, place: usize) -> Vec<Effect> {
        self.notice = GLOSSARY.get(place).map(|entry| Notice::Explained(entry.said()));
        Vec::new()
    }

    /// All words, to be read.
    pub(super) fn open_glossary(&mut self) {
        let said: Vec<String> = GLOSSARY.iter().map(Entry::said).collect();
        self.read(Page { title: "What the words mean".to_owned(), text: said.join("\n") });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Mode, Phase, Reason};

    #[test]
    fn every_reason_phase_and_mode_and_every_word_of_the_panels_is_explained() {
        let closed = Reason::ALL.iter().map(|r| r.as_str()).chain(Phase::ALL.iter().map(|p| p.as_str()));
        let modes = Mode::ALL.iter().map(|m| m.as_str());
        // Words that verdict, lanes and panels use beside the closed sets.
        let panels = [
            "complete",
            "partial",
            "failed",
            "ok",
            "error",
            "cut",
            "not needed",
            "given up",
            "missing",
            "won",
            "wasted",
            "censored",
            "bounded",
            "stale",
            "thin",
            "knee",
            "correlated",
            "probe",
            "overshoot",
            "skipped",
            "lost",
            "lingering",
            "warming",
            "straggler",
            "required",
            "budget",
        ];
        for word in closed.chain(modes).chain(panels) {
            assert!(find(word).is_some(), "{word} is not explained");
        }
    }

    #[test]
    fn a_word_stands_once_and_is_explained_in_one_or_two_sentences() {
        for (place, entry) in GLOSSARY.iter().enumerate() {
            assert_eq!(find(entry.word), Some(place), "{} twice", entry.word);
            assert!(entry.meaning.ends_with('.') && entry.meaning.is_ascii(), "{}", entry.word);
            assert!(entry.meaning.matches(". ").count() <= 1, "{}", entry.word);
        }
    }

    #[test]
    fn a_status_and_a_plural_are_known_and_other_words_are_not() {
        let word = |word| find(word).map(|place| GLOSSARY[place].word);
        assert_eq!(word("http_503"), Some("http_status"));
        assert_eq!(word("hedges"), Some("hedge"));
        assert_eq!(word("Deadline"), Some("deadline"));
        assert_eq!(["shop-1", "http_", "", "s"].map(find).map(|w| w.is_some()), [false, true, false, false]);
    }
}
