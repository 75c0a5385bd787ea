//! Composes the rooms: a profile becomes a running engine and one stream of events.
