//! The one registry of actions: dispatch, footer and help all come from [`BINDINGS`].

use super::key::{Key, KeyCode};
use crate::domain::Mode;

/// What a key can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Rounds of this mode from the next one on.
    Mode(Mode),
    /// The mode after this one.
    NextMode,
    /// A smaller budget.
    BudgetDown,
    /// A larger budget.
    BudgetUp,
    /// The mode's own number down: k, or the hedge delay.
    NumberDown,
    /// The mode's own number up.
    NumberUp,
    /// Rounds start more often.
    PeriodDown,
    /// Rounds start less often.
    PeriodUp,
    /// Pause, or go on.
    Pause,
    /// One round, then pause.
    Step,
    /// The lane above.
    Up,
    /// The lane below.
    Down,
    /// The first lane.
    First,
    /// The last lane.
    Last,
    /// Some lanes up.
    PageUp,
    /// Some lanes down.
    PageDown,
    /// The selected call, attempt by attempt.
    Detail,
    /// Hold the picture, or let it go on.
    Freeze,
    /// A round back in the history.
    Earlier,
    /// A round forward.
    Later,
    /// What another budget, quorum or hedge would have given, or back from it.
    Tradeoff,
    /// A smaller budget is looked at there.
    MarkerDown,
    /// A larger budget is looked at there.
    MarkerUp,
    /// The next share of probe rounds.
    Probe,
    /// The next panel.
    Panel,
    /// The next window of the counts.
    Window,
    /// The next order of the lanes.
    Sort,
    /// Choose lanes by typing.
    Filter,
    /// The next fault of the selected endpoint, where it is simulated.
    Fault,
    /// Forget the counts.
    Reset,
    /// Say something that is marked in the history and the recording.
    Note,
    /// Begin or end a recording.
    Record,
    /// Write the picture and its round to files.
    Export,
    /// The next theme.
    Theme,
    /// The selected call as a curl command, on the clipboard.
    Copy,
    /// Read the profile once more.
    Reload,
    /// What the words on the screen mean, or back from it.
    Glossary,
    /// Find an action or a word by typing.
    Palette,
    /// Show or hide the keys.
    Help,
    /// Back to the dashboard.
    Back,
    /// Play a recording slower.
    Slower,
    /// Play it faster.
    Faster,
    /// A short way back in it.
    ShortBack,
    /// A short way ahead.
    ShortAhead,
    /// A long way back.
    LongBack,
    /// A long way ahead.
    LongAhead,
    /// So many tenths of the whole from its beginning.
    Tenth(u8),
    /// Paint everything anew.
    Redraw,
    /// Give the terminal back to the shell for a while.
    Suspend,
    /// Leave.
    Quit,
}

/// An action's place in the footer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footer {
    /// The actions whose keys stand there: itself, perhaps together with its neighbours.
    pub actions: &'static [Action],
    /// What they do.
    pub label: &'static str,
    /// What stays when room is short: 0 always, then the lowest first.
    pub rank: u8,
}

/// An action with all that is shown of it.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// The action.
    pub action: Action,
    /// Its stable name.
    pub name: &'static str,
    /// What it does, for the help.
    pub help: &'static str,
    /// The keys it has by default.
    pub keys: &'static [Key],
    /// Its place in the footer, if it has one.
    pub footer: Option<Footer>,
    /// The kind of session that has it; `None`: every kind.
    pub only: Option<Kind>,
}

/// What is on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Rounds as they happen.
    Live,
    /// A recording.
    Replay,
}

const fn bind(action: Action, name: &'static str, keys: &'static [Key], help: &'static str) -> Binding {
    Binding { action, name, help, keys, footer: None, only: None }
}

impl Binding {
    const fn footer(self, rank: u8, actions: &'static [Action], label: &'static str) -> Self {
        Self { footer: Some(Footer { actions, label, rank }), ..self }
    }

    /// Only over the rounds themselves: a recording can't be told what to have done.
    const fn live(self) -> Self {
        Self { only: Some(Kind::Live), ..self }
    }

    /// Only over a recording.
    const fn replay(self) -> Self {
        Self { only: Some(Kind::Replay), ..self }
    }

    /// Whether this kind of session has it.
    #[must_use]
    pub fn is_for(&self, kind: Kind) -> bool {
        self.only.is_none_or(|only| only == kind)
    }
}

const fn plain(code: KeyCode) -> Key {
    Key::plain(code)
}

const fn c(c: char) -> Key {
    Key::char(c)
}

/// The ten digits.
const DIGITS: &[Key] = &[c('0'), c('1'), c('2'), c('3'), c('4'), c('5'), c('6'), c('7'), c('8'), c('9')];

/// The five modes.
const MODES: &[Action] = &[
    Action::Mode(Mode::Deadline),
    Action::Mode(Mode::Quorum),
    Action::Mode(Mode::Hedge),
    Action::Mode(Mode::WaitAll),
    Action::Mode(Mode::FailFast),
];

/// Every action, in the order of footer and help.
pub const BINDINGS: &[Binding] = &[
    bind(Action::Mode(Mode::Deadline), "mode-deadline", &[c('1')], "deadline: what came in time")
        .footer(1, MODES, "mode")
        .live(),
    bind(Action::Mode(Mode::Quorum), "mode-quorum", &[c('2')], "quorum: the first k answers").live(),
    bind(Action::Mode(Mode::Hedge), "mode-hedge", &[c('3')], "hedge: a second try if late").live(),
    bind(Action::Mode(Mode::WaitAll), "mode-wait-all", &[c('4')], "wait-all: for contrast").live(),
    bind(Action::Mode(Mode::FailFast), "mode-fail-fast", &[c('5')], "fail-fast: for contrast").live(),
    bind(Action::NextMode, "mode-next", &[c('m')], "next mode").live(),
    bind(Action::BudgetDown, "budget-down", &[plain(KeyCode::Left), c('-')], "smaller budget")
        .footer(2, &[Action::BudgetDown, Action::BudgetUp], "budget")
        .live(),
    bind(Action::BudgetUp, "budget-up", &[plain(KeyCode::Right), c('+'), c('=')], "larger budget").live(),
    bind(Action::NumberDown, "number-down", &[c('[')], "fewer answers, earlier hedge")
        .footer(4, &[Action::NumberDown, Action::NumberUp], "k / delay")
        .live(),
    bind(Action::NumberUp, "number-up", &[c(']')], "more answers, later hedge").live(),
    bind(Action::PeriodDown, "period-down", &[c('<')], "rounds more often")
        .footer(11, &[Action::PeriodDown, Action::PeriodUp], "period")
        .live(),
    bind(Action::PeriodUp, "period-up", &[c('>')], "rounds less often").live(),
    bind(Action::Pause, "pause", &[c(' ')], "pause, or go on").footer(3, &[Action::Pause], "pause"),
    bind(Action::Slower, "slower", &[c('<')], "play slower")
        .footer(5, &[Action::Slower, Action::Faster], "speed")
        .replay(),
    bind(Action::Faster, "faster", &[c('>')], "play faster").replay(),
    bind(Action::ShortBack, "short-back", &[plain(KeyCode::Left)], "10 s back")
        .footer(4, &[Action::ShortBack, Action::ShortAhead], "10 s")
        .replay(),
    bind(Action::ShortAhead, "short-ahead", &[plain(KeyCode::Right)], "10 s ahead").replay(),
    bind(Action::LongBack, "long-back", &[c('[')], "60 s back")
        .footer(11, &[Action::LongBack, Action::LongAhead], "60 s")
        .replay(),
    bind(Action::LongAhead, "long-ahead", &[c(']')], "60 s ahead").replay(),
    bind(Action::Tenth(0), "tenth", DIGITS, "to so many tenths of it")
        .footer(10, &[Action::Tenth(0)], "jump")
        .replay(),
    bind(Action::Step, "step", &[c('s')], "one round, then pause").footer(16, &[Action::Step], "one round"),
    bind(Action::Up, "up", &[plain(KeyCode::Up), c('k')], "lane above").footer(
        9,
        &[Action::Up, Action::Down],
        "select",
    ),
    bind(Action::Down, "down", &[plain(KeyCode::Down), c('j')], "lane below"),
    bind(Action::PageUp, "page-up", &[plain(KeyCode::PageUp), plain(KeyCode::Backspace)], "ten lanes up"),
    bind(Action::PageDown, "page-down", &[plain(KeyCode::PageDown)], "ten lanes down"),
    bind(Action::First, "first", &[plain(KeyCode::Home)], "first lane"),
    bind(Action::Last, "last", &[plain(KeyCode::End)], "last lane"),
    bind(Action::Detail, "detail", &[plain(KeyCode::Enter)], "the call in detail").footer(
        5,
        &[Action::Detail],
        "detail",
    ),
    bind(Action::Earlier, "history-back", &[c(',')], "a round back in history").footer(
        6,
        &[Action::Earlier, Action::Later],
        "history",
    ),
    bind(Action::Later, "history-forward", &[c('.')], "a round ahead in history"),
    bind(Action::Freeze, "freeze", &[c('f')], "freeze the picture").footer(12, &[Action::Freeze], "freeze"),
    bind(Action::Tradeoff, "tradeoff", &[c('a')], "advisor: what if").footer(
        7,
        &[Action::Tradeoff],
        "what if",
    ),
    bind(Action::MarkerDown, "marker-down", &[c('-')], "what if: marker left").replay(),
    bind(Action::MarkerUp, "marker-up", &[c('+'), c('=')], "what if: marker right").replay(),
    bind(Action::Probe, "probe", &[c('p')], "watch some rounds to the end")
        .footer(20, &[Action::Probe], "probe")
        .live(),
    bind(Action::Panel, "panel", &[plain(KeyCode::Tab)], "next panel").footer(8, &[Action::Panel], "panel"),
    bind(Action::Window, "window", &[c('w')], "window of the counts").footer(10, &[Action::Window], "window"),
    bind(Action::Sort, "sort", &[c('o')], "order of the lanes").footer(14, &[Action::Sort], "sort"),
    bind(Action::Filter, "filter", &[c('/')], "lanes by name or reason").footer(
        13,
        &[Action::Filter],
        "filter",
    ),
    bind(Action::Fault, "fault", &[c('x')], "a fault, if it is simulated")
        .footer(15, &[Action::Fault], "faults")
        .live(),
    bind(Action::Reset, "reset", &[c('r')], "forget the counts").footer(17, &[Action::Reset], "reset"),
    bind(Action::Note, "note", &[c('n')], "a note, marked in history")
        .footer(18, &[Action::Note], "note")
        .live(),
    bind(Action::Record, "record", &[c('R')], "record to a file, or end it")
        .footer(19, &[Action::Record], "record")
        .live(),
    bind(Action::Export, "export", &[c('e')], "picture and round to files").footer(
        20,
        &[Action::Export],
        "export",
    ),
    bind(Action::Copy, "copy", &[c('y')], "copy the call as curl").footer(21, &[Action::Copy], "curl").live(),
    bind(Action::Reload, "reload", &[c('L')], "read the profile again")
        .footer(22, &[Action::Reload], "reload")
        .live(),
    bind(Action::Theme, "theme", &[c('t')], "next theme"),
    bind(Action::Redraw, "redraw", &[Key::ctrl('l')], "paint anew"),
    bind(Action::Suspend, "suspend", &[Key::ctrl('z')], "suspend; fg comes back"),
    bind(Action::Back, "back", &[plain(KeyCode::Esc)], "back to the dashboard"),
    bind(Action::Palette, "palette", &[c(':')], "find an action or a word").footer(
        9,
        &[Action::Palette],
        "find",
    ),
    bind(Action::Glossary, "glossary", &[c('g')], "what the words mean").footer(
        23,
        &[Action::Glossary],
        "words",
    ),
    bind(Action::Help, "help", &[c('?')], "these keys, or back").footer(0, &[Action::Help], "help"),
    bind(Action::Quit, "quit", &[c('q'), Key::ctrl('c')], "quit").footer(0, &[Action::Quit], "quit"),
];

/// The actions of a kind of session, in the order of footer and help.
pub fn bindings(kind: Kind) -> impl Iterator<Item = &'static Binding> {
    BINDINGS.iter().filter(move |binding| binding.is_for(kind))
}

/// Whether this kind of session has such an action.
#[must_use]
pub fn offers(kind: Kind, action: Action) -> bool {
    bindings(kind).any(|b| std::mem::discriminant(&b.action) == std::mem::discriminant(&action))
}

/// The action of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Binding> {
    BINDINGS.iter().find(|binding| binding.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_key_and_no_name_is_given_twice() {
        let mut names = BTreeSet::new();
        for binding in BINDINGS {
            assert!(names.insert(binding.name), "{} twice", binding.name);
            assert!(!binding.keys.is_empty() && !binding.help.is_empty(), "{}", binding.name);
        }
        for kind in [Kind::Live, Kind::Replay] {
            let mut keys = BTreeSet::new();
            for binding in bindings(kind) {
                for &key in binding.keys {
                    assert!(keys.insert(key), "{key} twice in {kind:?}");
                }
            }
        }
        for mode in Mode::ALL {
            assert!(BINDINGS.iter().any(|b| b.action == Action::Mode(*mode)), "no key for {mode}");
        }
    }

    #[test]
    fn a_recording_is_not_told_what_to_have_done_and_has_keys_of_its_own() {
        let asks = |kind: Kind| {
            bindings(kind).any(|b| {
                matches!(b.action, Action::Mode(_) | Action::BudgetUp | Action::PeriodUp | Action::Fault)
            })
        };
        assert!(asks(Kind::Live) && !asks(Kind::Replay));
        for shared in [Action::Quit, Action::Pause, Action::Earlier, Action::Detail, Action::Window] {
            assert!([Kind::Live, Kind::Replay].iter().all(|&k| bindings(k).any(|b| b.action == shared)));
        }
    }

    #[test]
    fn what_stands_in_the_footer_is_offered_and_has_7_bits() {
        for binding in BINDINGS {
            assert!(binding.keys.iter().all(|key| key.ascii().is_ascii()), "{}", binding.name);
            assert!(binding.help.is_ascii(), "{}", binding.name);
            let Some(footer) = binding.footer else { continue };
            assert!(footer.label.is_ascii() && footer.actions[0] == binding.action, "{}", binding.name);
            for &action in footer.actions {
                let neighbour = BINDINGS.iter().find(|b| b.action == action).expect("an action with keys");
                assert_eq!(neighbour.only, binding.only, "{}", neighbour.name);
            }
        }
        assert!(named("quit").is_some_and(|b| b.action == Action::Quit));
        assert!(named("Quit").is_none());
    }
}
