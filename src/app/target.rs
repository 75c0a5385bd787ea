//! What the mouse can point at. The view says what stands where, the terminal says where it was clicked.

use crate::domain::RoundNo;
use std::time::Duration;

/// Something on the screen that can be pointed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A lane, by its endpoint's index.
    Lane(usize),
    /// A round in the history.
    Round(RoundNo),
    /// A place in a recording, in thousandths of the whole.
    Scrubber(u16),
    /// What other budgets would have given.
    WhatIf,
    /// A budget on their curve.
    Budget(Duration),
    /// A word that can be explained, by its place in the glossary.
    Word(usize),
    /// Anything else.
    Elsewhere,
}

/// What the mouse did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gesture {
    /// A press of the main button.
    Click,
    /// A press of the other button.
    Explain,
    /// The wheel, up.
    WheelUp,
    /// The wheel, down.
    WheelDown,
}
