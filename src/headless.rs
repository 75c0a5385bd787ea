//! `run` and `check`: the same engine without a terminal.

mod check;
mod output;
mod run;
mod text;

pub use check::{check, list};
pub use run::{Ended, Form, RunError, run};
