//! Runs rounds. Knows no HTTP and no terminal: calls go out through [`transport::Transport`], time comes
//! from [`clock::Clock`], and what happens leaves as [`crate::domain::Event`]s.

pub mod transport;
