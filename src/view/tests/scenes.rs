//! The states a screen can be in, played event by event.

use super::tradeoff::{answered, outlook};
use crate::app::fixture::{self as fx, Fate};
use crate::app::{Action, App, Message, Options, Panel, update};
use crate::domain::{
    EndedBy, EndpointId, HedgeDelay, Mode, Outcome, PlayState, Playback, Reason, Round, Settings, Speed,
    Suppression,
};
use std::sync::Arc;
use std::time::Duration;

/// Rounds behind each scene.
const BEFORE: u64 = 300;

fn typical(mode: Mode) -> Round {
    fx::round(BEFORE + 1, fx::at(BEFORE + 1), &Arc::new(fx::settings(mode)), &fx::TYPICAL)
}

pub(crate) fn running(options: Options) -> App {
    let mut app = answered(fx::page(Mode::Deadline, BEFORE, options), outlook());
    fx::play(&mut app, &typical(Mode::Deadline), fx::ms(187.0));
    app
}

pub(crate) fn cut(options: Options) -> App {
    let mut app = answered(fx::page(Mode::Deadline, BEFORE, options), outlook());
    let round = typical(Mode::Deadline);
    fx::play(&mut app, &round, fx::ms(187.0));
    fx::finish(&mut app, round);
    app
}

pub(crate) fn quorum(options: Options) -> App {
    let mut app = fx::page(Mode::Quorum, BEFORE, options);
    let fates = [140.0, 47.0, 120.0, 0.0, 74.0, 160.0, 58.0, 99.0].map(|t| match t {
        0.0 => Fate::Fails(2.2, Reason::ConnectRefused, None),
        t => Fate::Answers(t),
    });
    let round = fx::round(BEFORE + 1, fx::at(BEFORE + 1), &Arc::new(fx::settings(Mode::Quorum)), &fates);
    fx::play(&mut app, &round, fx::ms(60.0));
    fx::finish(&mut app, round);
    app
}

/// A round in which six of eight fail, three answers being asked for.
fn lost_round() -> Round {
    let fails = |t| Fate::Fails(t, Reason::HttpStatus, Some(500));
    let fates = [20.0, 31.0, 44.0, 52.0, 63.0, 71.0].map(fails).into_iter();
    let fates: Vec<Fate> = fates.chain([Fate::Answers(90.0), Fate::Answers(120.0)]).collect();
    let mut round = fx::round(41, fx::at(41), &Arc::new(fx::settings(Mode::Quorum)), &fates);
    round.quorum_impossible_at = Some(fx::ms(71.0));
    round
}

/// That round, still running after so many milliseconds.
pub(crate) fn quorum_lost(elapsed: f64) -> App {
    let mut app = fx::page(Mode::Quorum, 40, Options::default());
    fx::play(&mut app, &lost_round(), fx::ms(elapsed));
    app
}

pub(crate) fn quorum_impossible() -> App {
    let mut app = quorum_lost(100.0);
    fx::finish(&mut app, lost_round());
    app
}

/// Five endpoints with three replicas each.
fn replicas(options: Options) -> App {
    let mut setup = fx::setup(&["search", "user", "cart", "feed", "tax"], fx::settings(Mode::Hedge), options);
    setup.profile = "replicas".to_owned();
    setup.hosts = 15;
    for endpoint in &mut setup.endpoints {
        endpoint.replicas = 3;
        let url = |letter| format!("GET https://{0}-{letter}.example/{0}?token=<redacted>", endpoint.name);
        endpoint.requests = ["a", "b", "c"].map(url).to_vec();
    }
    App::new(setup)
}

/// Each with its delay.
const DELAYS: [f64; 5] = [104.0, 48.0, 75.0, 134.0, 59.0];

fn hedge_round(no: u64, times: [f64; 5], settings: &Arc<Settings>) -> Round {
    let limit = settings.budget;
    let calls = times.iter().zip(DELAYS).enumerate().map(|(i, (&time, delay))| {
        let at_limit = Outcome::Missing(Reason::Deadline);
        let mut call = fx::call(i, Fate::Answers(time), limit, at_limit);
        if let Some(primary) = call.attempts.first_mut() {
            primary.replica = (i + usize::try_from(no).unwrap_or_default()) % 3;
        }
        if time <= delay {
            fx::delayed(call, delay)
        } else if time < delay + 12.0 {
            fx::hedged(call, delay, time, false, false)
        } else {
            fx::hedged(call, delay, (delay + 34.0).min(time), true, true)
        }
    });
    let budget = settings.effective_budget();
    fx::assemble(no, fx::at(no), settings, budget, None, calls.collect())
}

fn hedge_history(options: Options) -> (App, Arc<Settings>) {
    let (mut app, settings) = (replicas(options), Arc::new(fx::settings(Mode::Hedge)));
    let mut dice = fx::Dice::new(11);
    for no in 1..=BEFORE {
        let times = [65.0, 29.0, 44.0, 81.0, 37.0].map(|median| dice.latency(median, 0.3));
        let round = hedge_round(no, times, &settings);
        fx::start(&mut app, &round);
        fx::finish(&mut app, round);
    }
    (app, settings)
}

const HEDGED: [f64; 5] = [190.0, 27.0, 49.0, 145.0, 41.0];

pub(crate) fn hedge(options: Options) -> App {
    let (mut app, settings) = hedge_history(options);
    let round = hedge_round(BEFORE + 1, HEDGED, &settings);
    fx::play(&mut app, &round, fx::ms(140.0));
    fx::finish(&mut app, round);
    app
}

/// Hedges of which one endpoint's are held back: its late calls are cut.
pub(crate) fn hedge_held(options: Options) -> App {
    let (mut app, settings) = hedge_history(options);
    let mut dice = fx::Dice::new(23);
    for no in BEFORE + 1..=BEFORE + 120 {
        let times = [65.0, 29.0, 44.0, 101.0, 37.0].map(|median| dice.latency(median, 0.35));
        let mut round = hedge_round(no, times, &settings);
        let feed = &mut round.calls[3];
        if feed.hedges.sent > 0 && dice.roll() < 0.7 {
            let cause = if dice.roll() < 0.8 { Suppression::Budget } else { Suppression::Permit };
            let late = Outcome::Missing(Reason::Deadline);
            *feed = fx::delayed(fx::call(3, Fate::Answers(times[3]), settings.budget, late), DELAYS[3]);
            feed.hedges.suppressed.add(cause);
        }
        fx::start(&mut app, &round);
        fx::finish(&mut app, round);
    }
    app
}

/// Two replicas at once for every call.
pub(crate) fn race() -> App {
    let mut settings = fx::settings(Mode::Hedge);
    settings.hedge.delay = HedgeDelay::Fixed(Duration::ZERO);
    settings.hedge.max = Some(1);
    let mut app = replicas(Options::default());
    let (settings, mut dice) = (Arc::new(settings), fx::Dice::new(31));
    for no in 1..=60 {
        let calls = [65.0, 29.0, 44.0, 81.0, 37.0].into_iter().enumerate().map(|(i, median)| {
            let [mine, other] = [dice.latency(median, 0.4), dice.latency(median, 0.4)];
            let late = Outcome::Missing(Reason::Deadline);
            let call = fx::call(i, Fate::Answers(mine), settings.budget, late);
            fx::hedged(call, 0.0, mine.min(other), other < mine, false)
        });
        let calls: Vec<_> = calls.collect();
        let round = fx::assemble(no, fx::at(no), &settings, settings.effective_budget(), None, calls);
        fx::start(&mut app, &round);
        fx::finish(&mut app, round);
    }
    app
}

/// The same with another panel asked for.
pub(crate) fn asked(mut app: App, panel: Panel) -> App {
    for _ in Panel::ALL {
        update(&mut app, Message::Action(Action::Panel));
        if app.panel() == panel {
            break;
        }
    }
    app
}

pub(crate) fn hedge_running() -> App {
    let (mut app, settings) = hedge_history(Options::default());
    fx::play(&mut app, &hedge_round(BEFORE + 1, HEDGED, &settings), fx::ms(125.0));
    app
}

pub(crate) fn required_failed() -> App {
    let settings = fx::settings(Mode::Deadline);
    let mut setup =
        fx::setup(&["user", "cart", "price", "recs", "ads"], settings.clone(), Options::default());
    let user = &mut setup.endpoints[0];
    (user.required, user.replicas, user.simulated) = (true, 2, false);
    let mut app = App::new(setup);
    let limit = fx::ms(38.0);
    let fates = [
        Fate::Fails(38.0, Reason::ConnectRefused, None),
        Fate::Answers(22.0),
        Fate::Answers(35.0),
        Fate::Dials(140.0),
        Fate::Answers(90.0),
    ];
    let stopped = Outcome::Missing(Reason::SiblingFailed);
    let calls = fates.iter().enumerate().map(|(i, &f)| fx::call(i, f, limit, stopped)).collect();
    let budget = settings.effective_budget();
    let mut round = fx::assemble(1, fx::at(1), &Arc::new(settings), budget, None, calls);
    (round.ok, round.failed, round.ended_by) = (false, vec![EndpointId(0)], EndedBy::RequiredFailed);
    fx::play(&mut app, &round, fx::ms(30.0));
    fx::finish(&mut app, round);
    app
}

/// A required call that takes longer than the budget, and one optional call that is cut there.
pub(crate) fn both_limits() -> App {
    let settings = Settings { request_budget: fx::ms(500.0), ..fx::settings(Mode::Deadline) };
    let mut setup = fx::setup(&["user", "recs", "ads"], settings.clone(), Options::default());
    setup.endpoints[0].required = true;
    let mut app = App::new(setup);
    let late = Outcome::Missing(Reason::Deadline);
    let calls = vec![
        fx::call(0, Fate::Answers(320.0), fx::ms(500.0), late),
        fx::call(1, Fate::Answers(260.0), fx::ms(200.0), late),
        fx::call(2, Fate::Answers(35.0), fx::ms(200.0), late),
    ];
    let budget = settings.effective_budget();
    let mut round = fx::assemble(1, fx::at(1), &Arc::new(settings), budget, None, calls);
    (round.ended_by, round.took) = (EndedBy::AllSettled, fx::ms(320.2));
    fx::play(&mut app, &round, fx::ms(290.0));
    fx::finish(&mut app, round);
    app
}

pub(crate) fn wait_all() -> App {
    let mut app = fx::page(Mode::WaitAll, 30, Options::default());
    let settings = Arc::new(fx::settings(Mode::WaitAll));
    let fates = fx::TYPICAL.map(|f| if let Fate::Dials(_) = f { Fate::Dials(331.0) } else { f });
    let round = fx::round(31, fx::at(31), &settings, &fates);
    fx::play(&mut app, &round, fx::ms(260.0));
    fx::finish(&mut app, round);
    app
}

pub(crate) fn paused() -> App {
    let mut app = cut(Options::default());
    update(&mut app, Message::Action(Action::Pause));
    app
}

pub(crate) fn pending() -> App {
    let mut app = running(Options::default());
    for action in [Action::Mode(Mode::Quorum), Action::NumberUp, Action::BudgetUp, Action::PeriodDown] {
        update(&mut app, Message::Action(action));
    }
    app
}

/// Rounds whose settings changed three times, the last within a tight request budget.
pub(crate) fn changed() -> App {
    let mut settings = fx::settings(Mode::Quorum);
    settings.quorum = Some(4);
    let mut app = App::new(fx::setup(&fx::page_names(), settings.clone(), Options::default()));
    let mut dice = fx::Dice::new(5);
    for no in 1..=90 {
        match no {
            30 => settings.quorum = Some(3),
            50 => (settings.mode, settings.budget) = (Mode::Deadline, fx::ms(150.0)),
            80 => settings.request_budget = fx::ms(120.0),
            _ => {}
        }
        let round = fx::round(no, fx::at(no), &Arc::new(settings.clone()), &fx::page_fates(&mut dice));
        fx::start(&mut app, &round);
        fx::finish(&mut app, round);
    }
    app
}

pub(crate) fn waiting() -> App {
    App::new(fx::setup(&fx::page_names(), fx::settings(Mode::Deadline), Options::default()))
}

/// An app with these endpoints, each of which answered once.
pub(crate) fn named(names: &[&str]) -> App {
    let settings = fx::settings(Mode::Deadline);
    let mut app = App::new(fx::setup(names, settings.clone(), Options::default()));
    let fates: Vec<Fate> =
        [20.0, 60.0, 100.0, 140.0, 180.0].iter().take(names.len()).map(|&t| Fate::Answers(t)).collect();
    let round = fx::round(1, fx::at(1), &Arc::new(settings), &fates);
    fx::start(&mut app, &round);
    fx::finish(&mut app, round);
    app
}

pub(crate) fn many() -> App {
    let names: Vec<String> = (0..60).map(|i| format!("shop-{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let settings = fx::settings(Mode::Deadline);
    let mut app = App::new(fx::setup(&names, settings.clone(), Options::default()));
    let (settings, mut dice) = (Arc::new(settings), fx::Dice::new(3));
    for no in 1..=25 {
        let mut fate = |i: usize| match dice.latency(90.0, 0.35) {
            t if i % 17 == 3 => Fate::Fails(t / 20.0, Reason::ConnectRefused, None),
            t => Fate::Answers(t),
        };
        let fates: Vec<Fate> = (0..60).map(&mut fate).collect();
        let round = fx::round(no, fx::at(no), &settings, &fates);
        fx::start(&mut app, &round);
        fx::finish(&mut app, round);
    }
    app.selected = 40;
    app
}

/// The picture of a round three before the last, while rounds go on.
pub(crate) fn frozen(options: Options) -> App {
    let mut app = cut(options);
    for _ in 0..3 {
        update(&mut app, Message::Action(Action::Earlier));
    }
    app
}

/// Upstreams that were made to fail.
pub(crate) fn switched(options: Options, endpoints: &[usize]) -> App {
    let mut app = fx::page(Mode::Deadline, 20, options);
    for &endpoint in endpoints {
        app.selected = endpoint;
        update(&mut app, Message::Action(Action::Fault));
        update(&mut app, Message::Action(Action::Fault));
    }
    let round = fx::round(21, fx::at(21), &Arc::new(fx::settings(Mode::Deadline)), &fx::TYPICAL);
    fx::start(&mut app, &round);
    fx::finish(&mut app, round);
    app
}

/// The filter being typed.
pub(crate) fn filtering(options: Options) -> App {
    let mut app = cut(options);
    update(&mut app, Message::Action(Action::Filter));
    update(&mut app, Message::Pasted("re".to_owned()));
    app
}

/// A filter and an order in force.
pub(crate) fn chosen(options: Options) -> App {
    let mut app = filtering(options);
    update(&mut app, Message::Typed(crate::app::Key::plain(crate::app::KeyCode::Enter)));
    update(&mut app, Message::Action(Action::Sort));
    update(&mut app, Message::Action(Action::Window));
    app
}

/// A recording in its middle.
pub(crate) fn replay(options: Options, state: PlayState) -> App {
    let playback = Playback {
        position: Duration::from_millis(60_300),
        length: Duration::from_millis(125_400),
        speed: Speed::default().faster(),
        state,
        ..Playback::default()
    };
    fx::recorded(fx::page(Mode::Deadline, 120, options), playback)
}
