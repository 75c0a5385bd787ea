//! What the mouse did, in words that know no terminal.

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointerKind {
    /// The main button went down.
    Press,
    /// The wheel turned away from the hand.
    WheelUp,
    /// The wheel turned towards the hand.
    WheelDown,
}

/// A move of the mouse that means something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pointer {
    /// What was done.
    pub kind: PointerKind,
    /// The cell's column, from 0.
    pub column: u16,
    /// The cell's row, from 0.
    pub row: u16,
}
