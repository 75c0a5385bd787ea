//! The NDJSON lines that `run --format json` prints: one schema for every record. Knows no terminal and no
//! network.
