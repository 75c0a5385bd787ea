//! The selected call as a command for a shell: what is asked for, and where it stays to be read.

use super::detail::AnswerLine;
use super::{App, Effect};
use crate::domain::{EndpointId, RoundNo};

/// A call that somebody wants as a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Whose.
    pub endpoint: EndpointId,
    /// To which of its URLs.
    pub replica: usize,
    /// In which round.
    pub round: RoundNo,
}

/// What was copied last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// Whose call.
    pub endpoint: EndpointId,
    /// The command.
    pub command: String,
}

impl App {
    /// Asks for the selected call as a command.
    pub(super) fn copy(&mut self) -> Vec<Effect> {
        let seen = self.lineup.lanes().contains(&self.selected);
        if !seen {
            return Vec::new();
        }
        let endpoint = EndpointId(self.selected);
        let round = self.round_no().unwrap_or(RoundNo(1));
        vec![Effect::Copy(Wanted { endpoint, replica: self.decisive_replica(), round })]
    }

    /// The command that was copied of the selected call, in lines of at most `room` columns.
    pub(super) fn command_lines(&self, room: u16) -> Vec<AnswerLine> {
        let of = EndpointId(self.selected);
        let Some(copied) = self.copied.as_ref().filter(|c| c.endpoint == of) else { return Vec::new() };
        let mut lines = vec![AnswerLine::Note("copied, without secrets:".to_owned())];
        lines.extend(AnswerLine::body(&copied.command, room));
        lines
    }
}
