//! A few plain sentences of what the figures say, and nothing that they do not carry. Names no keys: how the reader
//! changes a budget is not its business. Pure.

mod says;

use self::says::View;
use super::outlook::{Outlook, Question};
use crate::domain::{Mode, numbers};

/// A sentence in pieces, some of which are to be read first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sentence(pub Vec<(String, Weight)>);

/// How a piece of a sentence is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Weight {
    /// As the rest.
    Plain,
    /// First.
    Strong,
}

impl std::fmt::Display for Sentence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|(piece, _)| f.write_str(piece))
    }
}

impl Sentence {
    fn plain(mut self, text: impl Into<String>) -> Self {
        self.0.push((text.into(), Weight::Plain));
        self
    }

    fn strong(mut self, text: impl Into<String>) -> Self {
        self.0.push((text.into(), Weight::Strong));
        self
    }
}

/// Sentences, at most.
const SENTENCES: usize = 3;

/// Rounds under which nothing is advised.
const ENOUGH: u64 = 20;

/// What follows from the answers, the most useful first; nothing without rounds.
#[must_use]
pub fn advise(question: &Question, outlook: &Outlook) -> Vec<Sentence> {
    match outlook.rounds {
        0 => return Vec::new(),
        n @ 1..ENOUGH => return vec![too_few(n)],
        _ => {}
    }
    let view = View::of(question, outlook);
    let quorum = question.settings.mode == Mode::Quorum;
    // Where a budget that no round has is looked at, or rounds don't end at theirs, nothing is made of another.
    let budgets = view.is_cut_at_budget();
    let (targets, reached) = view.targets().filter(|_| budgets).unzip();
    let reached = reached.unwrap_or(false);
    let sentences = [
        view.correlated().filter(|_| quorum),
        view.larger().or_else(|| view.smaller()).filter(|_| budgets),
        view.hedge(),
        view.censored().filter(|_| budgets),
        targets.clone().filter(|_| reached),
        view.culprit(),
        targets.filter(|_| !reached),
        view.correlated().filter(|_| !quorum),
    ];
    let mut sentences: Vec<Sentence> = sentences.into_iter().flatten().take(SENTENCES).collect();
    if sentences.is_empty() {
        sentences.extend(view.content().filter(|_| budgets));
    }
    sentences
}

fn too_few(n: u64) -> Sentence {
    Sentence::default()
        .strong(format!("Only {} so far", numbers::counted(n, "round", "rounds")))
        .plain(format!(": too thin for advice, which takes {ENOUGH}."))
}
