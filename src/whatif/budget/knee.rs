//! Where a curve bends most. Pure.

use super::BudgetPoint;
use std::time::Duration;

/// Different values that a curve must have to have a bend.
const VALUES: usize = 5;

/// How far the bend must be from the chord, both axes taken from 0 to 1, to be called one.
const DISTANCE: f64 = 0.1;

/// The knee as Satopaa, Albrecht, Irwin and Raghavan (2011), "Finding a 'kneedle' in a haystack", have it for a curve
/// that flattens: the point that is farthest above the chord, over the part that is known, from where anything
/// answers. Their smoothing is not needed: a distribution's curve has no noise that goes back.
pub(super) fn of(points: &[BudgetPoint]) -> Option<Duration> {
    let known = points.iter().filter_map(|p| Some((p.budget, p.completeness?)));
    let mut known: Vec<(Duration, f64)> = known.collect();
    let idle = known.iter().take_while(|(_, share)| *share <= 0.0).count();
    known.drain(..idle.saturating_sub(1));
    let mut values: Vec<f64> = known.iter().map(|(_, share)| *share).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    let (&(from, low), &(to, high)) = (known.first()?, known.last()?);
    let (width, height) = (to.saturating_sub(from).as_secs_f64(), high - low);
    if values.len() < VALUES || width <= 0.0 || height <= 0.0 {
        return None;
    }
    let above = |&(at, share): &(Duration, f64)| {
        let along = at.saturating_sub(from).as_secs_f64() / width;
        (at, (share - low) / height - along)
    };
    let farthest = known.iter().map(above).reduce(|best, next| if next.1 > best.1 { next } else { best });
    farthest.filter(|(_, distance)| *distance >= DISTANCE).map(|(at, _)| at)
}
