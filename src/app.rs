//! The screen's state and its transitions, Elm style. Knows no terminal, no runtime, no engine and no clock:
//! time comes in with each message.
