//! Honest answers from what was seen: survival maths on (time, outcome) pairs, recounts, shares and how sure one may
//! be of them. Knows no clock, no terminal and no runtime.

pub mod advice;
pub mod arms;
pub mod budget;
pub mod hedge;
pub mod outlook;
pub mod quantile;
pub mod quorum;
pub mod recount;
pub mod seen;
pub mod shares;
pub mod spread;
pub mod survival;
