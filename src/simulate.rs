//! Embedded HTTP upstreams on loopback, with seeded latency laws and faults. Knows nothing of the engine.
