//! The arrows between the rooms (`src/lib.rs`), held: reads every source file and fails with file, line and
//! the arrow that is not allowed.
//!
//! This is a reading of tokens, not of types: it knows comments, strings, `use` trees, qualified paths and
//! `super`. Names that a macro makes up escape it.

#[path = "layering/source.rs"]
mod source;

use source::{Path, paths, printing};
use std::fs;
use std::path::Path as FilePath;

/// A room, what it may know of this crate (prefixes of paths), and of the crates in [`GUARDED`].
struct Room {
    name: &'static str,
    inside: &'static [&'static str],
    outside: &'static [&'static str],
    /// Whether it may ask what time it is.
    clock: bool,
}

const fn room(
    name: &'static str,
    inside: &'static [&'static str],
    outside: &'static [&'static str],
    clock: bool,
) -> Room {
    Room { name, inside, outside, clock }
}

/// Crates that only some rooms may name.
const GUARDED: &[&str] = &[
    "clap",
    "clap_complete",
    "clap_mangen",
    "crossterm",
    "h2",
    "hickory_resolver",
    "http_body_util",
    "hyper",
    "hyper_util",
    "indicatif",
    "prometheus_client",
    "ratatui",
    "reqwest",
    "rustls",
    "tokio",
    "toml",
    "tower_layer",
    "tower_service",
];

const ROOMS: &[Room] = &[
    room("domain", &[], &[], false),
    room("profile", &["domain"], &["toml"], false),
    room("init", &["domain", "profile"], &[], false),
    room("whatif", &["domain"], &[], false),
    room("stats", &["domain", "whatif"], &[], false),
    room("recording", &["domain", "whatif"], &[], false),
    room(
        "metrics",
        &["domain"],
        &["tokio", "http_body_util", "hyper", "hyper_util", "prometheus_client"],
        false,
    ),
    room("engine", &["domain", "whatif"], &["tokio"], true),
    room(
        "http",
        &["domain", "profile", "engine::transport"],
        &[
            "tokio",
            "reqwest",
            "rustls",
            "h2",
            "hickory_resolver",
            "http_body_util",
            "hyper",
            "hyper_util",
            "tower_layer",
            "tower_service",
        ],
        true,
    ),
    room("simulate", &["domain", "profile"], &["tokio", "http_body_util", "hyper", "hyper_util"], true),
    room(
        "session",
        &["domain", "profile", "whatif", "stats", "recording", "metrics", "engine", "http", "simulate"],
        &["tokio"],
        true,
    ),
    room("app", &["domain", "stats", "whatif"], &[], false),
    room("view", &["app", "domain", "stats", "whatif"], &["ratatui"], false),
    room("picture", &[], &["ratatui"], false),
    room("config", &["domain", "profile", "stats", "app"], &["toml"], false),
    room(
        "tui",
        &[
            "app",
            "config",
            "domain",
            "engine",
            "http",
            "picture",
            "profile",
            "recording",
            "session",
            "simulate",
            "stats",
            "view",
            "whatif",
        ],
        &["tokio", "ratatui", "crossterm"],
        true,
    ),
    room(
        "headless",
        &[
            "cli",
            "domain",
            "engine",
            "http",
            "init",
            "profile",
            "recording",
            "session",
            "simulate",
            "stats",
            "whatif",
        ],
        &["tokio", "indicatif"],
        true,
    ),
    room("cli", &["domain", "profile", "app"], &["clap", "clap_complete", "clap_mangen"], false),
    room(
        "main",
        &["cli", "config", "domain", "headless", "profile", "recording", "session", "tui"],
        &["clap", "tokio"],
        true,
    ),
];

/// Most lines of a source file.
const LONGEST: usize = 450;

/// Types whose `now` asks what time it is.
const CLOCKS: &[&str] = &["Instant", "SystemTime", "Timestamp", "Zoned"];

/// What is wrong with a file; `file` is its path from the crate's root, such as `src/view/lanes.rs`.
fn faults(file: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let lines = text.lines().count();
    if lines > LONGEST {
        faults.push(format!("{file}: {lines} lines, at most {LONGEST}"));
    }
    for (line, name) in printing(text) {
        faults.push(format!("{file}:{line}: `{name}!` writes past whoever owns the terminal"));
    }
    let modules = modules_of(file);
    let Some(name) = modules.first().filter(|name| *name != "lib") else { return faults };
    let Some(room) = ROOMS.iter().find(|room| room.name == name) else {
        faults.push(format!("{file}: `{name}` is no room of the house"));
        return faults;
    };
    // `main` is a crate root of its own: its modules hang directly below it.
    let depth = if room.name == "main" { 0 } else { modules.len() };
    for path in paths(text, depth) {
        if let Some(fault) = fault(room, &path) {
            faults.push(format!("{file}:{}: {fault}", path.line));
        }
    }
    faults
}

fn modules_of(file: &str) -> Vec<String> {
    let inner = file.strip_prefix("src/").unwrap_or(file).trim_end_matches(".rs");
    inner.split('/').map(str::to_owned).collect()
}

fn fault(room: &Room, path: &Path) -> Option<String> {
    let words = path.segments.join("::");
    let name = room.name;
    if path.of_crate {
        let own = path.segments.first().is_some_and(|first| first == name);
        let known = |allowed: &str| words == allowed || words.starts_with(&format!("{allowed}::"));
        return (!own && !room.inside.iter().any(|allowed| known(allowed)))
            .then(|| format!("{name} may not know `crate::{words}`"));
    }
    if !room.clock
        && let [.., kind, last] = path.segments.as_slice()
        && last == "now"
        && CLOCKS.contains(&kind.as_str())
    {
        return Some(format!("{name} may not ask the time (`{words}`)"));
    }
    let foreign = path.segments.first().filter(|first| GUARDED.contains(&first.as_str()));
    // Reached through another crate it is the same thing.
    let through = path.segments.iter().find(|segment| *segment == "crossterm");
    let named = through.or(foreign)?;
    (!room.outside.contains(&named.as_str())).then(|| format!("{name} may not know `{named}` (`{words}`)"))
}

fn sources(folder: &FilePath, found: &mut Vec<(String, String)>) {
    let root = FilePath::new(env!("CARGO_MANIFEST_DIR"));
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let name = path.strip_prefix(root).expect("a path below the root").display().to_string();
            found.push((name.replace('\\', "/"), fs::read_to_string(&path).expect("UTF-8")));
        }
    }
}

#[test]
fn every_arrow_points_downward() {
    let mut files = Vec::new();
    sources(&FilePath::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 20, "only {} files found", files.len());
    files.sort();
    let found: Vec<String> = files.iter().flat_map(|(file, text)| faults(file, text)).collect();
    assert!(found.is_empty(), "{} forbidden:\n{}", found.len(), found.join("\n"));
}

/// Where wall time is asked for: what a session and what is exported are labelled with, and a date that an answer gives
/// without saying what time it is there. Every duration comes of the monotonic clock.
const LABELS: &[&str] = &["src/http/retry_after.rs", "src/session.rs", "src/tui/files.rs"];

#[test]
fn m03_wall_time_is_asked_for_as_a_label_only() {
    let mut files = Vec::new();
    sources(&FilePath::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    files.sort();
    let asks =
        |text: &str| ["Timestamp::now", "Zoned::now", "SystemTime"].iter().any(|name| text.contains(name));
    let found: Vec<&str> =
        files.iter().filter(|(_, text)| asks(text)).map(|(file, _)| file.as_str()).collect();
    assert_eq!(found, LABELS);
}

#[test]
fn every_room_stands_in_the_map() {
    let map = include_str!("../src/lib.rs");
    for room in ROOMS.iter().filter(|room| room.name != "main") {
        assert!(map.contains(&format!("pub mod {};", room.name)), "{} is not declared", room.name);
        assert!(map.contains(&format!("[`{}`]", room.name)), "{} is not on the map", room.name);
    }
    assert_eq!(map.matches("pub mod ").count(), ROOMS.len() - 1, "a module without a room");
}

#[test]
fn no_arrow_leads_round_in_a_circle() {
    // Rooms are listed so that each knows only those above it; `main`, `tui` and `headless` know all.
    let above = |limit: usize, name: &str| ROOMS[..limit].iter().any(|room| room.name == name);
    for (i, room) in ROOMS.iter().enumerate() {
        for allowed in room.inside {
            let target = allowed.split("::").next().unwrap_or(allowed);
            let fine = above(i, target) || (target == "cli" && matches!(room.name, "tui" | "headless"));
            assert!(fine, "{} knows {target}, which stands below it", room.name);
        }
    }
}

/// The one fault of a file with this text, without the file's name.
#[track_caller]
fn planted(file: &str, text: &str) -> String {
    let found = faults(file, text);
    assert_eq!(found.len(), 1, "{found:?} in {text}");
    found[0].strip_prefix(file).expect("the file's name first").trim_start_matches(':').trim().to_owned()
}

#[test]
fn a_planted_arrow_is_found() {
    let found = |text| planted("src/view/lanes.rs", text);
    assert_eq!(found("\nuse crate::engine::Engine;"), "2: view may not know `crate::engine::Engine`");
    assert_eq!(found("use crate::{app::App, engine};"), "1: view may not know `crate::engine`");
    assert_eq!(
        found("use crate::{\n app::App,\n session::{\nSession},\n};"),
        "4: view may not know `crate::session::Session`"
    );
    assert_eq!(found("fn f(e: &crate::engine::Engine) {}"), "1: view may not know `crate::engine::Engine`");
    assert_eq!(found("use super::super::engine;"), "1: view may not know `crate::engine`");
    assert_eq!(
        found("mod tests { use super::super::super::http::X; }"),
        "1: view may not know `crate::http::X`"
    );
    assert_eq!(found("use crate::*;"), "1: view may not know `crate::*`");
    assert_eq!(found("use tokio::time;"), "1: view may not know `tokio` (`tokio::time`)");
    assert_eq!(found("use tokio as t;"), "1: view may not know `tokio` (`tokio`)");
    assert_eq!(found("fn f() { ::reqwest::get() }"), "1: view may not know `reqwest` (`reqwest::get`)");
    assert_eq!(
        found("use ratatui::crossterm::event;"),
        "1: view may not know `crossterm` (`ratatui::crossterm::event`)"
    );
    assert_eq!(
        found("fn f() { let t = std::time::Instant::now(); }"),
        "1: view may not ask the time (`std::time::Instant::now`)"
    );
    assert_eq!(
        found("fn f() { println!(\"{}\", 1); }"),
        "1: `println!` writes past whoever owns the terminal"
    );
    assert_eq!(planted("src/main.rs", "use fanscope::engine::X;"), "1: main may not know `crate::engine::X`");
    assert_eq!(
        planted("src/http/dial.rs", "use crate::engine::round::X;"),
        "1: http may not know `crate::engine::round::X`"
    );
    assert_eq!(planted("src/cellar.rs", ""), "`cellar` is no room of the house");
    assert_eq!(planted("src/app.rs", &"\n".repeat(LONGEST + 1)), "451 lines, at most 450");
}

#[test]
fn what_is_no_import_is_left_alone() {
    for text in [
        "// use crate::engine::X;\n/* use tokio; /* nested: println!() */ use crate::http; */",
        "//! See [`crate::engine`] and tokio::time.\n/// `Instant::now`",
        r##"const A: &str = "use crate::engine"; const B: &str = r#"tokio::x "quoted" println!()"#;"##,
        "fn f<'a>(c: char) -> bool { c == '\"' || c == '\\'' } // \" tokio::x",
        "use crate::app::App; use crate::view::scale; use super::theme; use self::x; use std::time::Instant;",
        "use ratatui::{buffer::Buffer, layout::Rect}; pub(crate) fn tokio() {}",
        "fn f() -> impl Iterator<Item = u8> + use<> { let now = x.now(); let http = http::Y::new(); now }",
    ] {
        assert_eq!(faults("src/view/lanes.rs", text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(faults("src/http/dial.rs", "use crate::engine::transport::{Trace, Transport};"), [""; 0]);
    assert_eq!(faults("src/engine/x.rs", "fn f() { std::time::Instant::now(); }"), [""; 0]);
}
