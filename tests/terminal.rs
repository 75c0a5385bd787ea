//! The dashboard in a real pseudo-terminal: it draws, answers keys, and gives the terminal back on every
//! way out.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "support/full.rs"]
mod full;
#[path = "support/pty.rs"]
mod pty;

use pty::{Stalled, Terminal};

#[test]
fn the_demo_shows_its_lanes_without_a_key_and_q_leaves() {
    let mut term = Terminal::start(120, 40, &[], &[]);
    for shop in 0..8 {
        term.wait_text(&format!("shop-{shop}"));
    }
    term.wait_text("connect_refused");
    term.wait_text("deadline 200 ms");
    term.keys("q");
    let (status, text) = term.end();
    assert!(status.success(), "{status:?}");
    assert!(text.starts_with("fanscope shops: deadline 200 ms, "), "{text}");
}

#[test]
fn keys_change_the_mode_the_budget_and_the_number() {
    let mut term = Terminal::start(120, 40, &[], &[]);
    term.wait_text("Round 1");
    term.keys("2");
    term.wait_text("quorum 5 of 8");
    term.keys("[[");
    term.wait_text("quorum 3 of 8");
    term.wait_text("not needed");
    term.keys("1");
    term.wait_text("deadline 200 ms");
    term.keys("-");
    term.wait_text("deadline 175 ms");
    term.keys("?");
    term.wait_text("Keys and signs");
    term.keys("\x1b");
    // A key right behind Esc would be taken for one with Alt.
    term.wait("the help is gone", |screen| !screen.contents().contains("Keys and signs"));
    term.keys(" ");
    term.wait_text("paused");
    term.keys("\x03");
    assert!(term.end().0.success());
}

#[test]
fn every_signal_restores_the_terminal_and_ends_the_process_by_itself() {
    for (name, says) in [("TERM", "Terminated"), ("HUP", "Hangup"), ("INT", "Interrupt"), ("QUIT", "Quit")] {
        let mut term = Terminal::start(80, 24, &["page"], &[]);
        term.wait_text("Round 1");
        term.signal(name);
        let (status, text) = term.end();
        assert!(status.signal().is_some_and(|s| s.contains(says)), "{name}: {status:?}");
        assert!(text.starts_with("fanscope page: deadline 200 ms, "), "{name}: {text}");
    }
}

#[cfg(debug_assertions)]
#[test]
fn a_panic_while_drawing_restores_the_terminal_and_is_shown() {
    let mut term = Terminal::start(80, 24, &[], &[("FANSCOPE_TEST_PANIC", "draw")]);
    let (status, text) = term.end();
    assert!(!status.success());
    assert!(text.contains("planted panic"), "{text}");
}

#[cfg(debug_assertions)]
#[test]
fn r3_a_panic_in_a_call_is_its_own_lanes_affair() {
    let mut term = Terminal::start(120, 40, &["shops"], &[("FANSCOPE_TEST_PANIC", "call")]);
    term.wait_text("internal");
    term.wait_text("Round 2");
    term.wait("other calls answer", |screen| screen.contents().contains(" ok 200"));
    term.keys("q");
    let (status, text) = term.end();
    assert!(status.success(), "{status:?}");
    assert!(!text.contains("panicked"), "{text}");
}

#[test]
fn a_dumb_terminal_is_refused_with_the_way_out() {
    let mut term = Terminal::start(80, 24, &[], &[("TERM", "dumb")]);
    let (status, text) = term.end();
    assert_eq!(status.exit_code(), 2, "{text}");
    assert!(text.contains("fanscope run"), "{text}");
}

#[test]
fn the_mouse_is_asked_for_presses_only_and_a_paste_is_not_keys() {
    let mut term = Terminal::start(120, 40, &[], &[]);
    term.wait_text("Round 1");
    term.wait("mouse and paste modes", |screen| {
        screen.mouse_protocol_mode() == vt100::MouseProtocolMode::PressRelease
            && screen.mouse_protocol_encoding() == vt100::MouseProtocolEncoding::Sgr
            && screen.bracketed_paste()
    });
    term.keys("\x1b[<0;5;5M\x1b[<0;5;5m\x1b[<64;5;5M\x1b[<65;5;5M\x1b[<2;999;999M");
    // As keys it would change the mode, show the help and quit.
    term.keys("\x1b[200~4?\x03q\r\x1b[201~");
    term.keys("2");
    term.wait_text("quorum 5 of 8");
    assert!(!term.text().contains("Keys and signs"));
    term.keys("q");
    assert!(term.end().0.success());
}

#[test]
fn an_error_after_the_start_restores_the_terminal_and_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let pem = "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n";
    std::fs::write(dir.path().join("ca.pem"), pem).unwrap();
    let text = "[[endpoint]]\nname = \"a\"\nurl = \"https://127.0.0.1:9/\"\ntls = { ca = \"ca.pem\" }\n";
    let path = dir.path().join("p.toml");
    std::fs::write(&path, text).unwrap();
    let mut term = Terminal::start(80, 24, &[path.to_str().unwrap()], &[]);
    let (status, text) = term.end();
    assert_eq!(status.exit_code(), 2, "{text}");
    assert!(text.contains("endpoint a: tls.ca"), "{text}");
}

#[test]
fn a_bad_profile_never_touches_the_terminal() {
    let mut term = Terminal::start(80, 24, &["nowhere.toml"], &[]);
    let (status, text) = term.end();
    assert_eq!(status.exit_code(), 2);
    assert!(text.contains("nowhere.toml"), "{text}");
}

/// The name is one that resolvers know not to ask for.
#[test]
fn t20_a_host_that_does_not_exist_is_its_own_lanes_affair() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("nowhere.toml");
    let endpoints = "[[endpoint]]\nname = \"lost\"\nurl = \"http://nowhere.invalid./\"\n\
                     [[endpoint]]\nname = \"found\"\nsimulate = { latency = \"1ms\" }\n";
    let round = "[round]\nmode = \"wait-all\"\nevery = \"100ms\"\n";
    std::fs::write(&path, format!("{round}{endpoints}")).unwrap();
    let mut term = Terminal::start(100, 30, &[path.to_str().unwrap()], &[]);
    let is_told = |line: &str| line.contains("✕ lost") && line.contains(" dns");
    term.wait("its reason", |screen| screen.contents().lines().any(is_told));
    let goes_on = |line: &str| line.contains("● found") && line.contains("ok 200");
    term.wait("the other lane", |screen| screen.contents().lines().any(goes_on));
    term.keys("q");
    let (status, text) = term.end();
    assert!(status.success(), "{status:?}");
    assert!(text.contains("dns"), "{text}");
}

/// Ends calls that would go on for hours, in this phase of theirs, by `q`.
fn quits_at_once(endpoints: &str, phase: &str) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hang.toml");
    let round = "[round]\nbudget = \"2h\"\nrequest_budget = \"3h\"\n";
    std::fs::write(&path, format!("{round}{endpoints}")).unwrap();
    let mut term = Terminal::start(80, 24, &[path.to_str().unwrap()], &[]);
    term.wait("a round in this phase", |screen| {
        screen.contents().contains("Round 1") && screen.contents().contains(phase)
    });
    term.keys("q");
    // The budget is hours, and this waits for much less.
    let (status, text) = term.end();
    assert!(status.success(), "{status:?}");
    assert!(text.contains("0 rounds"), "{text}");
}

#[test]
fn quitting_does_not_wait_for_calls_that_hang() {
    let endpoint = |i| format!("[[endpoint]]\nname = \"h{i}\"\nsimulate = {{ latency = \"4h\" }}\n");
    quits_at_once(&(0..64).map(endpoint).collect::<String>(), "waiting");
}

#[test]
fn quitting_does_not_wait_for_a_handshake_that_hangs() {
    // The kernel accepts; nobody answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", silent.local_addr().unwrap());
    quits_at_once(&format!("[[endpoint]]\nname = \"t\"\nurl = \"{url}\"\n"), "tls");
}

#[test]
fn quitting_does_not_wait_for_a_connection_that_nobody_takes() {
    let (address, _queue) = full::full(([127, 0, 0, 1], 0).into());
    let url = format!("http://{address}/");
    quits_at_once(&format!("[[endpoint]]\nname = \"c\"\nurl = \"{url}\"\n"), "connect");
}

#[test]
fn any_size_is_survived_and_recovered_from() {
    let mut term = Terminal::start(120, 40, &["page"], &[]);
    term.wait_text("Round 1");
    for (width, height) in [(1, 1), (10, 3), (40, 10), (500, 200), (0, 0), (3, 70), (60, 16)] {
        term.resize(width, height);
    }
    for i in 0..100 {
        term.resize(1 + i, 1 + i * 37 % 60);
    }
    term.resize(100, 30);
    term.wait_text("vouchers");
    term.keys("q");
    assert!(term.end().0.success());
}

#[test]
fn without_colour_no_colour_is_sent() {
    let mut term = Terminal::start(80, 24, &[], &[("NO_COLOR", "1")]);
    term.wait_text("connect_refused");
    term.wait("cells without colour", |screen| {
        let (rows, cols) = screen.size();
        let cells = (0..rows).flat_map(|r| (0..cols).filter_map(move |c| screen.cell(r, c)));
        cells.into_iter().all(|c| c.fgcolor() == vt100::Color::Default)
    });
    term.keys("q");
    assert!(term.end().0.success());
}

#[test]
fn ascii_draws_with_7_bit_characters() {
    let mut term = Terminal::start(80, 24, &["--ascii"], &[]);
    term.wait_text("connect_refused");
    let text = term.text();
    assert!(text.is_ascii(), "{text}");
    term.keys("q");
    assert!(term.end().0.success());
}

#[test]
fn a_terminal_that_is_gone_ends_the_program() {
    // What is typed, or a new size, just before must not keep its reader busy for ever.
    for typed in ["", "\n\x04", "jjjj", "\x0c"] {
        let mut term = Stalled::start(80, 24, &[], "Round 1");
        term.keys(typed);
        let status = term.hang_up();
        assert!(status.signal().is_none_or(|s| s.contains("Hangup")), "{typed:?}: {status:?}");
    }
}

#[test]
fn a_terminal_that_nobody_reads_is_left_at_once_and_given_back() {
    for quit in ["q", "\x0cq", "\x03"] {
        let mut term = Stalled::start(250, 80, &["page", "--every", "0ms", "-b", "30ms"], "Round 2");
        // Every repaint is some kilobytes that nobody takes.
        for _ in 0..20 {
            term.keys("\x0c");
        }
        term.keys(quit);
        let (status, screen) = term.end();
        assert!(status.success(), "{quit:?}: {status:?}");
        assert!(!screen.alternate_screen() && !screen.hide_cursor(), "{quit:?}");
    }
}

#[test]
fn painting_anew_asks_the_terminal_for_nothing() {
    let mut term = Terminal::start(80, 24, &[], &[]);
    term.wait_text("Round 1");
    // This terminal answers no question. A program that waits for one would end, or answer nothing meanwhile.
    term.keys("\x0c");
    term.keys("2");
    term.wait_text("quorum 5 of 8");
    term.wait_text("Missing by reason");
    term.keys("q");
    assert!(term.end().0.success());
}
