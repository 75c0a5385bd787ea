//! That what is printed reads back to the same, what beats what, and that every fault is told.

use super::*;
use crate::app::actions::BINDINGS;
use crate::app::{Action, ColorChoice, Key, Kind, ThemeName};
use crate::stats::Window;
use proptest::prelude::*;

fn file(text: &str) -> File {
    File::parse("c.toml", text).unwrap_or_else(|errors| panic!("{errors}"))
}

fn complaint(text: &str) -> String {
    File::parse("c.toml", text).expect_err("a fault").to_string()
}

fn held(flags: Flags, vars: &[(&str, &str)], text: &str) -> Settings {
    let env = |name: &str| vars.iter().find(|v| v.0 == name).map(|v| v.1.to_owned());
    Settings::resolve(flags, &env, Some(file(text)))
}

#[test]
fn a_flag_beats_the_environment_which_beats_the_file() {
    let text = "theme = \"dark\"\ncolor = \"always\"\nascii = false\nmouse = true\nwindow = '5m'";
    let from_file = held(Flags::default(), &[], text);
    assert_eq!(from_file.theme, Held { value: ThemeName::Dark, from: Origin::Line(1) });
    assert_eq!(from_file.color, Held { value: ColorChoice::Always, from: Origin::Line(2) });
    assert_eq!((from_file.ascii.value, from_file.mouse.value), (false, true));
    assert_eq!(from_file.window.value, Window::FiveMinutes);
    let from_env = held(Flags::default(), &[("NO_COLOR", "1"), ("LANG", "C")], text);
    assert_eq!(from_env.color, Held { value: ColorChoice::Never, from: Origin::Variable("NO_COLOR") });
    assert!(from_env.ascii.value);
    let flags =
        Flags { theme: Some(ThemeName::Light), color: Some(ColorChoice::Auto), ascii: true, no_mouse: true };
    let from_flags = held(flags, &[("NO_COLOR", "1")], text);
    assert_eq!(from_flags.theme, Held { value: ThemeName::Light, from: Origin::Flag("--theme") });
    assert_eq!(from_flags.color, Held { value: ColorChoice::Auto, from: Origin::Flag("--color") });
    assert_eq!((from_flags.ascii.value, from_flags.mouse.value), (true, false));
    let silent = Settings::resolve(Flags::default(), &|_| None, None);
    assert_eq!(silent.theme, Held { value: ThemeName::Terminal, from: Origin::Default });
    assert_eq!((silent.mouse.value, silent.max_rps.value, silent.file), (true, None, None));
}

#[test]
fn keys_of_the_file_hold() {
    let settings = held(Flags::default(), &[], "[keys]\nquit = 'Q'\nprobe = []\nwindow = ['W', 'ctrl-w']");
    let action = |key| settings.keymap.action_for(Kind::Live, key);
    assert_eq!((action(Key::char('Q')), action(Key::char('q'))), (Some(Action::Quit), None));
    assert_eq!((action(Key::char('p')), action(Key::char('w'))), (None, None));
    assert_eq!(action(Key::ctrl('w')), Some(Action::Window));
    assert_eq!(action(Key::ctrl('c')), Some(Action::Quit));
}

#[test]
fn every_fault_is_told_at_once_with_its_line_and_a_way_out() {
    let said = complaint(
        "theme = \"drak\"\nmuose = true\nascii = 'yes'\nmax_rps = 5\n\n[safety]\nmax_rps = 0\n\
         [keys]\nprobee = 'P'\nnote = 'ctrl-m'\nquit = []\nhelp = 'ctrl-c'\nrecord = 'spcae'\n",
    );
    for part in [
        "c.toml:1:9: `drak` is no theme",
        "1 | theme = \"drak\"\n  |         ^^^^^^",
        "did you mean `dark`?",
        "c.toml:2:1: `muose` is no key of the configuration",
        "did you mean `mouse`?",
        "`ascii` must be true or false",
        "it belongs in [safety]",
        "`max_rps` must be a number above 0",
        "`probee` is no action",
        "did you mean `probe`?",
        "`ctrl-m` is the same as `enter` to a terminal",
        "`quit` needs a key",
        "`ctrl-c` always quits, so it can't be a key of `help`",
        "`spcae` is no key",
        "did you mean `space`?",
        "10 errors in c.toml",
    ] {
        assert!(said.contains(part), "{part} is missing in\n{said}");
    }
}

#[test]
fn conflicts_name_both_actions_and_say_what_to_do() {
    let said = complaint("[keys]\nprobe = \"w\"\nnote = ['g']\nreset = ['g']\n");
    for part in [
        "c.toml:2:9: `w` would be the key of both `probe` and `window`",
        "`window` has it by default: give `window` another key, or none with `window = []`",
        "c.toml:4:9: `g` would be the key of both `reset` and `note`",
        "the other one",
    ] {
        assert!(said.contains(part), "{part} is missing in\n{said}");
    }
    // Exchanged keys are no conflict, and what an unreadable list would share is not known.
    file("[keys]\nprobe = 'w'\nwindow = 'p'");
    let said = complaint("[keys]\nprobe = 'w'\nwindow = 'nokey'");
    assert!(!said.contains("would be"), "{said}");
}

#[test]
fn what_is_no_configuration_is_told_as_such() {
    assert!(complaint("theme dark").contains("neither `key = value` nor a [table]"));
    assert!(complaint("theme = dark").contains("theme = \"dark\""));
    assert!(complaint("theme = 3").contains("`theme` must be text"));
    assert!(complaint("keys = 3").contains("`keys` must be a table"));
    assert!(complaint("[keys]\nquit = 3").contains("`quit` must be a key or a list of keys"));
    assert!(complaint("theme = 'dark'\ntheme = 'light'").contains("twice"));
    assert!(complaint("colour = 'auto'").contains("it is written `color`"));
    assert!(complaint("probe = 'P'").contains("keys of actions belong in [keys]"));
    assert!(!complaint("theme = '\u{1b}[2J'").contains('\u{1b}'));
    assert_eq!(file(""), File { name: "c.toml".to_owned(), ..File::default() });
}

/// A file that may be right, of parts that are.
fn some_file() -> impl Strategy<Value = String> {
    let word = |key: &'static str, words: Vec<&'static str>| {
        prop::option::of(prop::sample::select(words))
            .prop_map(move |word| word.map(|word| format!("{key} = \"{word}\"\n")).unwrap_or_default())
    };
    let flag = |key: &'static str| {
        prop::option::of(any::<bool>())
            .prop_map(move |on| on.map(|on| format!("{key} = {on}\n")).unwrap_or_default())
    };
    let rate = prop::option::of(0.001..100_000.0_f64)
        .prop_map(|rate| rate.map(|rate| format!("[safety]\nmax_rps = {rate}\n")).unwrap_or_default());
    let key = prop_oneof!["[A-QS-Z!#$%&*;:~\"\\\\]", "ctrl-[abdefgk]"]
        .prop_map(|key| format!("\"{}\"", key.replace('\\', "\\\\").replace('"', "\\\"")));
    let keys = prop::collection::btree_map(
        prop::sample::select(BINDINGS).prop_map(|binding| binding.name),
        prop::collection::vec(key, 1..3),
        0..4,
    );
    let keys = keys.prop_map(|keys| {
        let lines = keys.iter().map(|(name, keys)| format!("{name} = [{}]\n", keys.join(", ")));
        format!("[keys]\n{}", lines.collect::<String>())
    });
    (
        word("theme", ThemeName::ALL.map(ThemeName::as_str).to_vec()),
        word("color", ColorChoice::ALL.map(ColorChoice::as_str).to_vec()),
        flag("ascii"),
        flag("mouse"),
        word("window", Window::ALL.map(Window::word).to_vec()),
        rate,
        keys,
    )
        .prop_map(|(a, b, c, d, e, f, g)| [a, b, c, d, e, f, g].concat())
}

/// What somebody sees of the settings.
fn seen(settings: &Settings) -> impl PartialEq + std::fmt::Debug {
    (
        (settings.theme.value, settings.color.value, settings.ascii.value, settings.mouse.value),
        (settings.window.value, settings.max_rps.value),
        BINDINGS.iter().map(|binding| settings.keymap.keys(binding).to_vec()).collect::<Vec<_>>(),
    )
}

proptest! {
    #[test]
    fn what_is_printed_reads_back_to_the_same(
        text in some_file(), theme in prop::option::of(prop::sample::select(&ThemeName::ALL[..])),
        ascii: bool, no_mouse: bool, no_color: bool,
    ) {
        // Keys that meet by chance are told, and are no configuration.
        let Ok(file) = File::parse("c.toml", &text) else { return Ok(()) };
        let flags = Flags { theme, color: None, ascii, no_mouse };
        let env = |name: &str| (no_color && name == "NO_COLOR").then(|| "1".to_owned());
        let settings = Settings::resolve(flags, &env, Some(file));
        let printed = settings.print();
        let again = File::parse("printed", &printed);
        prop_assert!(again.is_ok(), "{}\n{printed}", again.unwrap_err());
        let again = Settings::resolve(Flags::default(), &|_| None, again.ok());
        prop_assert_eq!(seen(&settings), seen(&again), "{}", printed);
    }

    #[test]
    fn no_text_does_harm(text in "\\PC{0,200}|(theme|keys|\\[keys\\]|[ =\"'\\[\\]{}\n.a-z0-9-]){0,60}") {
        if let Err(errors) = File::parse("c.toml", &text) {
            prop_assert!(!errors.to_string().is_empty());
        }
    }
}
