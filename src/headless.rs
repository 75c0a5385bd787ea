//! `run`, `check`, `init` and `report`: the same engine without a terminal.

mod baseline;
mod check;
mod gate;
mod init;
mod output;
mod progress;
mod report;
mod run;
mod text;
mod turns;
mod voice;

pub use baseline::{BaselineError, baseline};
pub use check::{check, list};
pub use gate::{Gates, Verdict};
pub use init::{InitFailure, InitSource, init};
pub use report::{ReportError, ReportPlan, report};
pub use run::{Ended, Form, RunError, Task, run};
pub use voice::{Voice, say};
