//! Honest answers from what was seen: survival maths on (time, outcome) pairs. Knows no clock, no terminal and
//! no runtime.

pub mod survival;
