//! Arguments and what they override.
