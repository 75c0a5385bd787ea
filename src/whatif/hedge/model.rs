//! What a second attempt gives, if it does as it would alone: formulas over two laws, of the primary's time and of the
//! hedge's from its own start. Both may be defective: some attempts fail, some are never seen to end.
//!
//! With `F` the primary's and `R` the hedge's share of answers, and a hedge after `d`: for `t >= d`,
//! `P(t) = F_ok(t) + (1 - F_ok(t) - F_err(d)) R(t - d)`, and where errors hedge at once,
//! `+ sum over errors e <= min(d, t) of dF_err(e) R(t - e)`. Without errors that is `1 - S(t) S(t - d)` (Dean and
//! Barroso, "The tail at scale", 2013). A hedge is sent with `1 - F_ok(d)`, less `F_err(d)` where an error before the
//! delay settles the call. Times are in any one unit.

/// How the time of an attempt is distributed.
pub trait Law {
    /// Share that has answered by `t`.
    fn ok(&self, t: f64) -> f64;

    /// Share that has failed by `t`.
    fn failed(&self, t: f64) -> f64;

    /// When attempts fail, ascending, and which share of them at that time.
    fn errors(&self) -> &[(f64, f64)];
}

/// When a second attempt is sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Plan {
    /// Never.
    Alone,
    /// After a delay, and where `on_error` at once when the primary fails before.
    After {
        /// The delay.
        delay: f64,
        /// Whether an error hedges at once; else it settles the call.
        on_error: bool,
    },
    /// At the primary's start, and so many of them.
    Race(u8),
}

impl Plan {
    /// Share of the calls that have answered by `t`. `limit` is the call's own: it ends there, however many attempts
    /// are alive.
    #[must_use]
    pub fn ok(self, primary: &impl Law, hedge: &impl Law, limit: f64, t: f64) -> f64 {
        let t = t.min(limit);
        let alone = primary.ok(t);
        let ok = match self {
            Self::Alone => alone,
            Self::Race(hedges) => 1.0 - (1.0 - alone) * (1.0 - hedge.ok(t)).powi(i32::from(hedges)),
            Self::After { delay, on_error } => {
                let after_errors =
                    if on_error { retried(primary, hedge, delay.min(t), limit, t) } else { 0.0 };
                let slow = if t >= delay && delay < limit {
                    (1.0 - alone - primary.failed(delay)).max(0.0) * hedge.ok(t - delay)
                } else {
                    0.0
                };
                alone + after_errors + slow
            }
        };
        ok.clamp(0.0, 1.0)
    }

    /// Hedges by primaries.
    #[must_use]
    pub fn extra_load(self, primary: &impl Law, limit: f64) -> f64 {
        let load = match self {
            Self::Alone => 0.0,
            Self::Race(hedges) => return f64::from(hedges),
            // At its limit a call is over: only errors before it hedge.
            Self::After { delay, on_error: true } if delay >= limit => {
                primary.errors().iter().filter(|&&(at, _)| at < limit).map(|&(_, share)| share).sum()
            }
            Self::After { delay, .. } if delay >= limit => 0.0,
            Self::After { delay, on_error: true } => 1.0 - primary.ok(delay),
            Self::After { delay, on_error: false } => 1.0 - primary.ok(delay) - primary.failed(delay),
        };
        load.clamp(0.0, 1.0)
    }
}

/// Share of the calls whose primary failed by `until` and whose hedge, sent just then, has answered by `t`.
fn retried(primary: &impl Law, hedge: &impl Law, until: f64, limit: f64, t: f64) -> f64 {
    let errors = primary.errors().iter().take_while(|&&(at, _)| at <= until && at < limit);
    errors.map(|&(at, share)| share * hedge.ok(t - at)).sum()
}

/// The smallest time at which a share that never falls is at least `level`, to within `step` above it; `None` where it
/// is not by `until`.
pub fn first(level: f64, until: f64, step: f64, share: impl Fn(f64) -> f64) -> Option<f64> {
    let reached = |t: f64| share(t) >= level;
    if !reached(until) {
        return None;
    }
    let (mut below, mut there) = (0.0, until.max(0.0));
    if reached(below) {
        return Some(below);
    }
    while there - below > step {
        let middle = below.midpoint(there);
        if middle <= below || middle >= there {
            break;
        }
        if reached(middle) { there = middle } else { below = middle }
    }
    Some(there)
}
