//! Where events come from: a session that is live, or a recording. The loop cannot tell the difference.

use super::files;
use crate::app::{Effect, Message, Scene};
use crate::domain::Event;
use crate::engine::Command;
use crate::profile::CurlCall;
use crate::recording::Writer;
use crate::session::replay::{Past, Replay, Told};
use crate::session::{Recording, Session};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// How long quitting waits for the engine. Together with everything else it stays below 100 ms.
const PATIENCE: Duration = Duration::from_millis(60);

/// What the loop needs of what it shows.
pub(super) trait Source {
    /// What happens next; `None` once nothing ever will.
    async fn next(&mut self) -> Option<Message>;

    /// What has happened already.
    fn ready(&mut self) -> Option<Message>;

    /// What a frame has to know of the time.
    fn time(&self) -> Message;

    /// Does what the app asks of it.
    fn obey(&mut self, effect: Effect);

    /// A call as a curl command; why not, where there is none.
    fn curl(&self, call: &CurlCall) -> Result<String, &'static str>;

    /// Goes on as this session; how the recording stood that this ended.
    fn go_on_as(&mut self, next: Session) -> Option<Recording>;

    /// The process is about to be stopped: nothing more is to begin.
    fn hold(&mut self);

    /// Whether nothing is under way any more, after that.
    fn is_quiet(&self) -> bool;

    /// The process is stopped now.
    fn stops(&mut self);

    /// The process goes on after it was held; `paused` if it is paused for other reasons.
    fn go_on(&mut self, paused: bool);

    /// The process runs.
    fn is_awake(&mut self);

    /// It did not, and nobody had said so.
    fn was_stopped(&mut self);

    /// Writes down from now on what happens.
    fn record(&mut self, to: Writer) -> io::Result<()>;

    /// Ends what is written down; how it stood until then, where anything was.
    fn end_recording(&mut self) -> Option<Recording>;

    /// How the recording stands that goes on.
    fn recording(&self) -> Option<Recording>;

    /// Recordings that got into trouble after they were ended. Each once.
    fn trouble_of_ended_recordings(&mut self) -> Vec<Recording>;

    /// Told when a recording got into trouble.
    fn recording_news(&self) -> Arc<Notify>;

    /// Ends, with the terminal given back; what there is still to say.
    async fn quit(&mut self) -> Vec<String>;
}

impl Source for Session {
    async fn next(&mut self) -> Option<Message> {
        Session::next(self).await.map(Message::Engine)
    }

    fn ready(&mut self) -> Option<Message> {
        Session::ready(self).map(Message::Engine)
    }

    fn time(&self) -> Message {
        Message::Tick(self.elapsed())
    }

    fn obey(&mut self, effect: Effect) {
        // An engine that is gone or stuck says so by its events.
        let command = |command| drop(self.commands().try_send(command));
        match effect {
            Effect::Apply(settings) => command(Command::Apply(settings)),
            Effect::Pause(paused) => command(Command::Pause(paused)),
            Effect::Step => command(Command::Step),
            Effect::Fault(endpoint, switch) => {
                let simulated = self.switch(endpoint, switch);
                debug_assert!(simulated, "the app offers no switch over endpoints that are real");
            }
            Effect::Note(said) => self.note(&said),
            other => debug_assert!(false, "rounds as they happen can't do this: {other:?}"),
        }
    }

    fn curl(&self, call: &CurlCall) -> Result<String, &'static str> {
        Session::curl(self, call)
    }

    fn go_on_as(&mut self, next: Session) -> Option<Recording> {
        Session::go_on_as(self, next)
    }

    fn hold(&mut self) {
        self.obey(Effect::Pause(true));
    }

    fn is_quiet(&self) -> bool {
        Session::is_quiet(self)
    }

    fn stops(&mut self) {
        Session::stops(self);
    }

    fn go_on(&mut self, paused: bool) {
        self.goes_on();
        if !paused {
            self.obey(Effect::Pause(false));
        }
    }

    fn is_awake(&mut self) {
        Session::is_awake(self);
    }

    fn was_stopped(&mut self) {
        Session::was_stopped(self);
    }

    fn record(&mut self, to: Writer) -> io::Result<()> {
        Session::record(self, to)
    }

    fn end_recording(&mut self) -> Option<Recording> {
        Session::end_recording(self, Vec::new())
    }

    fn recording(&self) -> Option<Recording> {
        Session::recording(self)
    }

    fn trouble_of_ended_recordings(&mut self) -> Vec<Recording> {
        Session::trouble_of_ended_recordings(self)
    }

    fn recording_news(&self) -> Arc<Notify> {
        Session::recording_news(self)
    }

    async fn quit(&mut self) -> Vec<String> {
        Session::quit(self, PATIENCE).await;
        files::told(&self.finish_recordings()).collect()
    }
}

impl Past for Scene {
    fn take(&mut self, event: Event) {
        Scene::take(self, event);
    }

    fn slim(&mut self) {
        self.forget_rounds();
    }
}

/// What the recording tells, as the app takes it.
fn message(told: Told<Scene>, replay: &Replay<Scene>) -> Message {
    match told {
        Told::Event(event) => Message::Engine(event),
        Told::Jumped(scene, round) => Message::Jumped(scene, round),
        Told::Arrived(round) => Message::Arrived(round),
        Told::News => replay.time(),
    }
}

impl Source for Replay<Scene> {
    async fn next(&mut self) -> Option<Message> {
        let told = Replay::next(self).await;
        Some(message(told, self))
    }

    fn ready(&mut self) -> Option<Message> {
        let told = Replay::ready(self)?;
        Some(message(told, self))
    }

    fn time(&self) -> Message {
        Message::Played(self.playback())
    }

    fn obey(&mut self, effect: Effect) {
        match effect {
            Effect::Pause(paused) => self.pause(paused),
            Effect::Step => self.step_round(),
            Effect::Seek(to) => self.seek(to),
            Effect::Speed(speed) => self.set_speed(speed),
            other => debug_assert!(false, "a recording can't do this: {other:?}"),
        }
    }

    fn curl(&self, _: &CurlCall) -> Result<String, &'static str> {
        Err("a recording does not hold what was sent")
    }

    fn go_on_as(&mut self, _: Session) -> Option<Recording> {
        None
    }

    fn hold(&mut self) {
        Replay::hold(self, true);
    }

    fn is_quiet(&self) -> bool {
        true
    }

    fn stops(&mut self) {}

    fn go_on(&mut self, _: bool) {
        Replay::hold(self, false);
    }

    fn is_awake(&mut self) {
        Replay::is_awake(self);
    }

    fn was_stopped(&mut self) {
        Replay::was_stopped(self);
    }

    fn record(&mut self, _: Writer) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "it is a recording already"))
    }

    fn end_recording(&mut self) -> Option<Recording> {
        None
    }

    fn recording(&self) -> Option<Recording> {
        None
    }

    fn trouble_of_ended_recordings(&mut self) -> Vec<Recording> {
        Vec::new()
    }

    fn recording_news(&self) -> Arc<Notify> {
        Arc::default()
    }

    async fn quit(&mut self) -> Vec<String> {
        Vec::new()
    }
}
