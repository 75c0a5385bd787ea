//! Runs rounds. Knows no HTTP and no terminal: calls go out through [`transport::Transport`], time comes
//! from [`clock::Clock`], and what happens leaves as [`crate::domain::Event`]s.
//!
//! [`policy`] decides and is pure; [`round`] carries one round out, and may hand on what is watched past its end;
//! [`probe`] says of which rounds; [`pacer`] starts rounds; [`limits`] holds what outlives a round;
//! [`gaps`] finds times in which nothing ran; [`spawn`] puts all
//! of it on a thread of its own.

pub mod clock;
pub mod gaps;
pub mod limits;
pub mod pacer;
pub mod policy;
pub mod probe;
pub mod round;
pub mod sink;
mod spawn;
mod task;
pub mod transport;

pub use pacer::Command;
pub use spawn::{Engine, EngineConfig, THREAD_NAME, spawn};
