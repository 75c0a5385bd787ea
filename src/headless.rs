//! `run` and `check`: the same engine without a terminal.
