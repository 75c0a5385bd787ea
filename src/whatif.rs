//! Honest answers from what was seen: survival maths on (time, outcome) pairs, recounts, shares and how sure one may
//! be of them. Knows no clock, no terminal and no runtime.

pub mod quantile;
pub mod recount;
pub mod shares;
pub mod survival;
