//! fanscope: a terminal dashboard for live fan-out.
//!
//! This page is the map of the house. Rooms and the way the arrows run; imports point downward only and
//! `tests/layering.rs` holds every file to it.
//!
//! | room | holds | may know |
//! |---|---|---|
//! | [`domain`] | the vocabulary: ids, settings, reasons, rounds, events | nothing else here |
//! | [`profile`] | TOML file to validated [`profile::Profile`] | `domain` |
//! | [`init`] | a first profile from URLs, curl, HAR or `OpenAPI`, its secrets as variables | `domain`, `profile` |
//! | [`whatif`] | survival maths and recounts, no clock and no terminal | `domain` |
//! | [`stats`] | rolling counters folded from settled rounds | `domain`, `whatif` |
//! | [`recording`] | the NDJSON lines, their summary and their files | `domain`, `whatif` |
//! | [`metrics`] | what a Prometheus scrapes, and the listener that serves it | `domain`, tokio, hyper |
//! | [`engine`] | rounds: pure policy, runner, pacer; the [`engine::transport::Transport`] seam | `domain`, `whatif`, tokio |
//! | [`http`] | `Transport` over reqwest; errors become reasons here, once | `domain`, `profile`, the seam |
//! | [`simulate`] | embedded HTTP upstreams on loopback | `domain`, `profile` |
//! | [`session`] | profile to running engine, or a recording to be played; one stream of events; writes it down | everything above |
//! | [`app`] | the screen's state and its transitions, Elm style | `domain`, `stats`, `whatif` |
//! | [`view`] | widgets: `&App` to cells | `app`, `domain`, `stats`, ratatui |
//! | [`picture`] | a screen's cells as SVG | nothing else here, ratatui |
//! | [`config`] | how somebody likes the dashboard: a TOML file under flags and environment | `domain`, `profile`, `stats`, `app` |
//! | [`tui`] | terminal guard, keymap, run loop | everything above, crossterm |
//! | [`headless`] | `run`, `check`, `init` and `report` without a terminal | everything but `app`, `view`, `picture`, `tui` |
//! | [`cli`] | arguments | `domain`, `profile`, the names of `app`, clap |
//!
//! The engine runs on a thread of its own and never waits for the screen. A key becomes an `Action`, an
//! `Action` changes the `App` and may return an effect, the effect becomes a command to the engine, and the
//! next round starts with the new settings and says so. No round changes its settings midway.

pub mod app;
pub mod cli;
pub mod config;
pub mod domain;
pub mod engine;
pub mod headless;
pub mod http;
pub mod init;
pub mod metrics;
pub mod picture;
pub mod profile;
pub mod recording;
pub mod session;
pub mod simulate;
pub mod stats;
pub mod tui;
pub mod view;
pub mod whatif;
