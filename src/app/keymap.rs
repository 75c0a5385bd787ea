//! The keys that hold: those of the registry, or what somebody gave an action instead.

use super::actions::{Action, BINDINGS, Binding, Kind, bindings};
use super::key::Key;
use std::fmt;

/// The key that always quits.
const ALWAYS: Key = Key::ctrl('c');

/// Keys of one action that are named one by one.
const MOST_NAMED: usize = 3;

/// Most keys of an action: a digit each for the tenths of a recording.
pub const MOST_KEYS: usize = 10;

/// Which keys ask for what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keymap {
    /// Actions that have other keys than by default, or none.
    changed: Vec<(Action, Vec<Key>)>,
}

/// Why keys can't be as somebody wants them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeymapFault {
    /// One key would ask for two actions; the first of them is one whose keys were changed.
    Twice(Key, &'static str, &'static str),
    /// Without a key for this action there would be no way on.
    Needed(&'static str),
    /// The key that always quits is wanted for this action.
    Taken(&'static str),
    /// This action has more keys than [`MOST_KEYS`].
    TooMany(&'static str),
}

impl KeymapFault {
    /// The action that was changed.
    #[must_use]
    pub const fn action(&self) -> &'static str {
        match self {
            Self::Twice(_, action, _)
            | Self::Needed(action)
            | Self::Taken(action)
            | Self::TooMany(action) => action,
        }
    }
}

impl fmt::Display for KeymapFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Twice(key, one, other) => {
                write!(f, "`{key}` would be the key of both `{one}` and `{other}`")
            }
            Self::Needed(action) => write!(f, "`{action}` needs a key"),
            Self::Taken(action) => write!(f, "`{ALWAYS}` always quits, so it can't be a key of `{action}`"),
            Self::TooMany(action) => write!(f, "`{action}` has more than {MOST_KEYS} keys"),
        }
    }
}

impl Keymap {
    /// The keys of the registry with these in the place of an action's own.
    ///
    /// # Errors
    /// Everything that can't be so.
    pub fn with(changed: Vec<(Action, Vec<Key>)>) -> Result<Self, Vec<KeymapFault>> {
        let mut keymap = Self { changed };
        let faults = keymap.faults();
        if !faults.is_empty() {
            return Err(faults);
        }
        // So that the help names it, too.
        let quit = keymap.changed.iter_mut().find(|changed| changed.0 == Action::Quit);
        if let Some((_, keys)) = quit.filter(|quit| !quit.1.contains(&ALWAYS)) {
            keys.push(ALWAYS);
        }
        Ok(keymap)
    }

    /// The keys of an action.
    #[must_use]
    pub fn keys<'a>(&'a self, binding: &'a Binding) -> &'a [Key] {
        self.own(binding.action).unwrap_or(binding.keys)
    }

    fn own(&self, action: Action) -> Option<&[Key]> {
        self.changed.iter().find(|changed| changed.0 == action).map(|changed| changed.1.as_slice())
    }

    /// The action of a key in this kind of session, if it has one.
    #[must_use]
    pub fn action_for(&self, kind: Kind, key: Key) -> Option<Action> {
        if key == ALWAYS {
            return Some(Action::Quit);
        }
        bindings(kind).find_map(|binding| {
            let place = self.keys(binding).iter().position(|&k| k == key)?;
            Some(match binding.action {
                // One entry for ten keys: which it is, the key's place says.
                Action::Tenth(_) => Action::Tenth(u8::try_from(place).unwrap_or(0)),
                action => action,
            })
        })
    }

    /// Adds the keys of one action to a text, as the screen names them; a row of characters is `0-9`. Nothing without a
    /// key.
    pub fn write_all(&self, binding: &Binding, ascii: bool, out: &mut String) {
        let keys = self.keys(binding).iter().copied();
        if !write_range(keys.clone(), out) {
            write_keys(keys.take(MOST_NAMED), ascii, out);
        }
    }

    /// Adds the first key of each of these actions to a text, as the screen names them: `q`, `[ ]`, `1-5`, `←→`. Nothing
    /// where none has a key.
    pub fn write_first(&self, actions: &[Action], ascii: bool, out: &mut String) {
        let bound = actions.iter().filter_map(|action| BINDINGS.iter().find(|b| b.action == *action));
        if let [Action::Tenth(_)] = actions {
            bound.for_each(|binding| self.write_all(binding, ascii, out));
            return;
        }
        let keys = bound.filter_map(|binding| preferred(self.keys(binding), ascii));
        if !write_range(keys.clone(), out) {
            write_keys(keys, ascii, out);
        }
    }

    fn faults(&self) -> Vec<KeymapFault> {
        let mut faults = Vec::new();
        for binding in BINDINGS {
            let Some(own) = self.own(binding.action) else { continue };
            let is_quit = binding.action == Action::Quit;
            if own.is_empty() && (is_quit || binding.action == Action::Back) {
                faults.push(KeymapFault::Needed(binding.name));
            }
            if own.contains(&ALWAYS) && !is_quit {
                faults.push(KeymapFault::Taken(binding.name));
            }
            if own.len() > MOST_KEYS {
                faults.push(KeymapFault::TooMany(binding.name));
            }
        }
        for (place, one) in BINDINGS.iter().enumerate() {
            for other in &BINDINGS[place + 1..] {
                faults.extend(self.shared(one, other));
            }
        }
        faults
    }

    /// The keys that two actions would have both, where one session offers both.
    fn shared(&self, one: &Binding, other: &Binding) -> Vec<KeymapFault> {
        if ![Kind::Live, Kind::Replay].iter().any(|&kind| one.is_for(kind) && other.is_for(kind)) {
            return Vec::new();
        }
        // That a key is taken which always quits is a fault of its own.
        let both = |key: &&Key| self.keys(other).contains(key) && **key != ALWAYS;
        let changed_first = self.own(one.action).is_some();
        let (a, b) = if changed_first { (one.name, other.name) } else { (other.name, one.name) };
        self.keys(one).iter().filter(both).map(|&key| KeymapFault::Twice(key, a, b)).collect()
    }
}

/// The first key; where only 7-bit characters are shown, the first that is one itself.
fn preferred(keys: &[Key], ascii: bool) -> Option<Key> {
    let is_short = |key: &&Key| key.seen().is_some_and(|c| c.is_ascii());
    keys.iter().find(is_short).filter(|_| ascii).or(keys.first()).copied()
}

/// Adds `0-9` for characters that follow each other, where there are more than a few. Returns whether it is so.
fn write_range(mut keys: impl Iterator<Item = Key> + Clone, out: &mut String) -> bool {
    let Some(first) = keys.next().and_then(Key::seen) else { return false };
    let (mut last, mut count) = (first, 1);
    for key in keys {
        match key.seen().filter(|&c| u32::from(last).checked_add(1) == Some(u32::from(c))) {
            Some(next) => (last, count) = (next, count + 1),
            None => return false,
        }
    }
    let is_range = count > MOST_NAMED;
    if is_range {
        out.extend([first, '-', last]);
    }
    is_range
}

/// Adds the names of keys. Two arrows stand together.
fn write_keys(keys: impl Iterator<Item = Key> + Clone, ascii: bool, out: &mut String) {
    let together = !ascii && keys.clone().count() == 2 && keys.clone().all(Key::is_arrow);
    for (place, key) in keys.enumerate() {
        if place > 0 && !together {
            out.push(' ');
        }
        key.write(ascii, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::actions::named;

    fn with(action: Action, keys: &[&str]) -> Result<Keymap, Vec<String>> {
        let keys = keys.iter().map(|key| Key::parse(key).unwrap()).collect();
        Keymap::with(vec![(action, keys)]).map_err(|f| f.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn by_default_every_key_asks_for_its_action() {
        let keymap = Keymap::with(Vec::new()).expect("no conflict by default");
        for kind in [Kind::Live, Kind::Replay] {
            for binding in bindings(kind).filter(|b| !matches!(b.action, Action::Tenth(_))) {
                for &key in binding.keys {
                    assert_eq!(keymap.action_for(kind, key), Some(binding.action), "{key}");
                }
            }
        }
        for (digit, tenth) in ('0'..='9').zip(0..) {
            assert_eq!(keymap.action_for(Kind::Replay, Key::char(digit)), Some(Action::Tenth(tenth)));
        }
        assert_eq!(keymap.action_for(Kind::Live, Key::char('<')), Some(Action::PeriodDown));
        assert_eq!(keymap.action_for(Kind::Replay, Key::char('<')), Some(Action::Slower));
        assert_eq!(keymap.action_for(Kind::Replay, Key::char('m')), None);
    }

    #[test]
    fn a_changed_action_has_its_new_keys_and_not_the_old_ones() {
        let keymap = with(Action::Probe, &["P", "ctrl-p"]).unwrap();
        let action = |key| keymap.action_for(Kind::Live, key);
        assert_eq!(
            (action(Key::char('P')), action(Key::ctrl('p'))),
            (Some(Action::Probe), Some(Action::Probe))
        );
        assert_eq!(action(Key::char('p')), None);
        assert_eq!(first(&keymap, &[Action::Probe], false), "P");
        let none = with(Action::Probe, &[]).unwrap();
        assert_eq!(first(&none, &[Action::Probe], false), "");
    }

    #[test]
    fn one_key_for_two_actions_of_one_session_is_a_fault_and_of_two_sessions_is_none() {
        assert_eq!(
            with(Action::Probe, &["w", "x"]).unwrap_err(),
            [
                "`w` would be the key of both `probe` and `window`",
                "`x` would be the key of both `probe` and `fault`"
            ]
        );
        // `[` goes a long way back in a recording, which has no period.
        assert!(with(Action::PeriodDown, &["d"]).is_ok());
        assert!(with(Action::LongBack, &["1"]).is_err(), "a digit goes to a tenth of a recording");
        assert!(with(Action::LongBack, &["m"]).is_ok(), "the next mode is for live rounds");
    }

    #[test]
    fn there_is_always_a_way_out() {
        assert_eq!(with(Action::Quit, &[]).unwrap_err(), ["`quit` needs a key"]);
        assert_eq!(with(Action::Back, &[]).unwrap_err(), ["`back` needs a key"]);
        assert_eq!(
            with(Action::Help, &["ctrl-c"]).unwrap_err(),
            ["`ctrl-c` always quits, so it can't be a key of `help`"]
        );
        let keymap = with(Action::Quit, &["Q"]).unwrap();
        for (key, action) in [
            (Key::ctrl('c'), Some(Action::Quit)),
            (Key::char('Q'), Some(Action::Quit)),
            (Key::char('q'), None),
        ] {
            assert_eq!(keymap.action_for(Kind::Live, key), action);
        }
        let mut shown = String::new();
        keymap.write_all(named("quit").unwrap(), false, &mut shown);
        assert_eq!(shown, "Q Ctrl-C");
        let many: Vec<String> = ('A'..='K').map(String::from).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(
            with(Action::Probe, &many).unwrap_err().contains(&"`probe` has more than 10 keys".to_owned())
        );
    }

    fn first(keymap: &Keymap, actions: &[Action], ascii: bool) -> String {
        let mut out = String::new();
        keymap.write_first(actions, ascii, &mut out);
        out
    }

    #[test]
    fn keys_are_shown_short() {
        let keymap = Keymap::default();
        let both = |actions: &[Action]| (first(&keymap, actions, false), first(&keymap, actions, true));
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(both(&[Action::BudgetDown, Action::BudgetUp]), pair("←→", "- +"));
        assert_eq!(both(&[Action::ShortBack, Action::ShortAhead]), pair("←→", "Left Right"));
        assert_eq!(both(&[Action::NumberDown, Action::NumberUp]), pair("[ ]", "[ ]"));
        assert_eq!(both(&[Action::Tenth(0)]), pair("0-9", "0-9"));
        assert_eq!(both(&[Action::Pause]), pair("space", "space"));
        let modes = crate::domain::Mode::ALL.iter().map(|m| Action::Mode(*m)).collect::<Vec<_>>();
        assert_eq!(both(&modes), pair("1-5", "1-5"));
        let moved = with(modes[2], &["ctrl-left"]).unwrap();
        assert_eq!(first(&moved, &modes, false), "1 2 Ctrl-← 4 5");
        assert_eq!(first(&moved, &modes[2..3], true), "Ctrl-Left");
    }
}
