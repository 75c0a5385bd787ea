//! The same choice read once more, while what was chosen before goes on: a session is made ready beside the one that
//! runs, and takes its place only once its first round has begun.

use super::{Choice, Plan, Recording, Session, SessionError, choose};
use crate::domain::Event;
use std::error::Error;
use std::mem;

impl Choice {
    /// Whether something outside of the program says what is observed: not with URLs and built-in profiles.
    #[must_use]
    pub fn can_change(&self) -> bool {
        matches!(self.targets.as_slice(), [one] if !one.contains("://") && !crate::profile::is_built_in(one))
    }
}

impl Session {
    /// Starts what is chosen now and waits for its first round. Blocks; not for a thread that draws.
    ///
    /// # Errors
    /// All that is wrong with the profile, or why it can't be observed, in words for the screen.
    pub fn prepare(choice: &Choice, plan: Plan) -> Result<Self, String> {
        let profile = choose(choice).map_err(|error| error.to_string())?;
        let mut session = Self::start(profile, plan).map_err(|error| words(&error))?;
        match session.engine.events.blocking_recv() {
            Some(Event::Failed(why)) => Err(why),
            Some(first) => {
                session.outside.push_back(first);
                Ok(session)
            }
            None => Err("the engine stopped: a fault of fanscope".to_owned()),
        }
    }

    /// Goes on as this one: it has the metrics' listener and the files of recordings that were ended. The recording that
    /// went on ends here, with its summary: lines of two profiles don't belong into one file. How it stood, where there
    /// was one.
    pub fn go_on_as(&mut self, next: Self) -> Option<Recording> {
        let ended = self.end_recording(Vec::new());
        let mut old = mem::replace(self, next);
        self.recordings = mem::take(&mut old.recordings);
        if let Some((_, listener)) = old.metrics.take() {
            let metrics = self.counts();
            listener.serve(metrics.exposition());
            self.metrics = Some((metrics, listener));
        }
        // Its upstreams are waited for, which nobody here has the time for. Without a thread it is dropped here.
        drop(std::thread::Builder::new().name("fanscope-before".to_owned()).spawn(move || drop(old)));
        ended
    }

    /// What it is to do.
    #[must_use]
    pub const fn plan(&self) -> Plan {
        self.plan
    }
}

fn words(error: &SessionError) -> String {
    let cause = error.source().map_or_else(String::new, |cause| format!(": {cause}"));
    format!("{error}{cause}")
}
