//! One or two plain sentences of what the figures say, and nothing that they do not carry.

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
