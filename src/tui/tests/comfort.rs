//! A call copied, a profile read again, words asked for: through the loop.

use super::*;
use crate::session::Choice;
use crate::tui::reload::Reload;
use std::cell::RefCell as Cell;
use std::fs;

thread_local! {
    /// What a test would have read again.
    pub(super) static CHOSEN: Cell<Option<Choice>> = const { Cell::new(None) };
}

pub(super) fn planted() -> Option<Reload> {
    CHOSEN.take().map(|choice| Reload::of(choice, Plan::default()))
}

fn profile_of(names: &[&str]) -> String {
    let endpoint =
        |name: &&str| format!("[[endpoint]]\nname = \"{name}\"\nsimulate = {{ latency = \"5ms\" }}\n");
    let endpoints: String = names.iter().map(endpoint).collect();
    format!("name = \"mine\"\n[round]\nevery = \"50ms\"\n{endpoints}")
}

/// Plays a script against a file of these endpoints.
fn play_file(
    names: &[&str],
    record: bool,
    steps: impl FnOnce(&Path) -> Vec<Step>,
) -> (Leave, Vec<String>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    fs::write(&path, profile_of(names)).unwrap();
    let choice = Choice { targets: vec![path.to_str().unwrap().to_owned()], ..Choice::default() };
    CHOSEN.set(Some(choice.clone()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let profile = crate::session::choose(&choice).unwrap();
        let app = App::new(crate::tui::setup(&profile, Options::default()));
        let mut session = Session::start(profile, Plan::default()).unwrap();
        if record {
            session
                .record(crate::recording::Writer::create(&folder.path().join("a.ndjson"), false).unwrap())
                .unwrap();
        }
        let played = play_on(app, &mut session, folder.path(), steps(&path)).await;
        let kept = session.finish_recordings();
        assert_eq!(kept.len(), usize::from(record));
        assert!(kept.iter().all(|kept| kept.closed && kept.lines > 3), "its file is whole: {kept:?}");
        played
    })
}

#[test]
fn an_edited_profile_is_read_again_and_the_recording_ends_with_the_old_one() {
    let (why, _, last) = play_file(&["old-a", "old-b"], true, |path| {
        let path = path.to_owned();
        vec![
            resized(),
            when(
                move |screen| {
                    let shown = screen.contains("old-b") && screen.contains("3 rounds,");
                    if shown {
                        fs::write(&path, profile_of(&["new-a", "new-b", "new-c"])).unwrap();
                    }
                    shown
                },
                char('L'),
            ),
            on("reloaded mine, counts begin anew; the recording ended", char('1')),
            on("2 rounds,", char('q')),
        ]
    });
    assert_eq!(why, Leave::Quit);
    assert!(last.contains("new-c") && !last.contains("old-a"), "{last}");
}

#[test]
fn a_profile_with_faults_is_not_taken_and_all_of_them_are_shown() {
    let (why, _, last) = play_file(&["old-a"], false, |path| {
        let path = path.to_owned();
        vec![
            resized(),
            when(
                move |screen| {
                    let shown = screen.contains("2 rounds,");
                    if shown {
                        fs::write(
                            &path,
                            "[round]\nbudgt = '1s'\n[[endpoint]]\nname = 'x'\nurl = 'ftp://a/'\n",
                        )
                        .unwrap();
                    }
                    shown
                },
                char('L'),
            ),
            when(
                |screen| {
                    screen.contains("Not reloaded") && screen.contains("budgt") && screen.contains("ftp")
                },
                key(KeyCode::Esc),
            ),
            on("6 rounds,", char('q')),
        ]
    });
    assert_eq!(why, Leave::Quit);
    assert!(last.contains("old-a"), "what was read before goes on: {last}");
}

#[test]
fn a_built_in_profile_has_nothing_to_read_again() {
    let (why, ..) = play(vec![resized(), on("1-5 mode", char('L')), on("nothing to read again", char('q'))]);
    assert_eq!(why, Leave::Quit);
}

#[test]
fn a_call_is_copied_through_the_terminal_and_stands_in_its_detail() {
    let (why, _, last) = play(vec![
        resized(),
        on("1 round,", char('y')),
        on("copied as curl", key(KeyCode::Enter)),
        on("curl -sS -i --max-time 0.2 -g", char('q')),
    ]);
    assert_eq!(why, Leave::Quit);
    assert!(last.contains("http://127.0.0.1:"), "where the embedded upstream is: {last}");
}

#[test]
fn what_the_app_says_by_itself_is_said_for_a_moment_only() {
    // A/B ends by a key; nobody types anything after it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (why, ..) = runtime.block_on(async {
        let mut profile = profile::load("shops", &|_| None).unwrap();
        profile.settings.ab = crate::profile::variants::parse("budget=150ms,250ms").ok();
        let app = App::new(crate::tui::setup(&profile, Options::default()));
        let mut session = Session::start(profile, Plan::default()).unwrap();
        let said = std::rc::Rc::new(std::cell::Cell::new(false));
        let heard = std::rc::Rc::clone(&said);
        let steps = vec![
            resized(),
            on("1-5 mode", char('+')),
            when(
                move |screen| {
                    heard.set(heard.get() || screen.contains("is over: set by key"));
                    heard.get() && !screen.contains("is over: set by key")
                },
                char('q'),
            ),
        ];
        play_on(app, &mut session, Path::new(""), steps).await
    });
    assert_eq!(why, Leave::Quit);
}
