//! `run`, `check` and `report`: the same engine without a terminal.

mod check;
pub mod gate;
mod output;
mod report;
mod run;
mod text;

pub use check::{check, list};
pub use report::{ReportError, ReportPlan, report};
pub use run::{Ended, Form, RunError, run};
