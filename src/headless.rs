//! `run` and `check`: the same engine without a terminal.

mod check;
pub mod gate;
mod output;
mod run;
mod text;

pub use check::{check, list};
pub use run::{Ended, Form, RunError, run};
