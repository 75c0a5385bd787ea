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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpStream};

    fn scraped(address: SocketAddr) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn metrics_are_served_at_the_same_address_and_are_of_the_new_profile() {
        let of = |name: &str| Choice { targets: vec![name.to_owned()], ..Choice::default() };
        let mut session = Session::prepare(&of("shops"), Plan::default()).unwrap();
        let address = session.serve_metrics("127.0.0.1:0".parse().unwrap()).unwrap();
        assert!(scraped(address).contains("shop-3"));
        let next = Session::prepare(&of("page"), Plan::default()).unwrap();
        assert_eq!(session.go_on_as(next), None, "nothing was recorded");
        let text = scraped(address);
        assert!(text.contains("vouchers") && !text.contains("shop-3"), "{text}");
        let begun = |event: &Event| matches!(event, Event::RoundStarted(started) if started.round.0 == 1);
        let mut events = std::iter::from_fn(|| session.ready());
        assert!(events.any(|event| begun(&event)), "its first round is not lost");
    }

    #[test]
    fn only_a_file_can_have_changed() {
        let of = |targets: &[&str]| Choice {
            targets: targets.iter().map(|&t| t.to_owned()).collect(),
            ..Choice::default()
        };
        assert!(of(&["my.toml"]).can_change());
        for fixed in
            [&[][..], &["shops"], &["http://a.example/"], &["http://a.example/", "http://b.example/"]]
        {
            assert!(!of(fixed).can_change(), "{fixed:?}");
        }
    }

    #[test]
    fn what_can_not_be_observed_is_an_error_and_no_session() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        std::fs::write(
            &path,
            "[[endpoint]]\nname = 'a'\nurl = 'https://a.example/'\ntls = { ca = 'none.pem' }\n",
        )
        .unwrap();
        let choice = Choice { targets: vec![path.to_str().unwrap().to_owned()], ..Choice::default() };
        let why = Session::prepare(&choice, Plan::default()).map(|_| ()).unwrap_err();
        assert!(why.contains("none.pem"), "{why}");
    }
}
