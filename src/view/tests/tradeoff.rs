//! The trade-off and the panel beside the missing table, over answers made by hand.

mod claims;
mod random;

use super::*;
use crate::app::fixture as fx;
use crate::domain::{Ab, HedgeDelay, Mode, PlayState, Reason, Settings, Variant};
use crate::whatif::advice::{Sentence, Weight};
use crate::whatif::arms::{ArmSeen, Arms};
use crate::whatif::budget::{BudgetCurve, BudgetPoint};
use crate::whatif::hedge::{HedgeRow, HedgeSeen, HedgeStatus, HedgeStudy};
use crate::whatif::outlook::{Outlook, Status};
use crate::whatif::quantile::{Quantile, Trust};
use crate::whatif::quorum::{QuorumPoint, QuorumRow, QuorumStudy};
use crate::whatif::shares::Difference;
use std::sync::Arc;
use std::time::Duration;

fn ms(ms: u32) -> Duration {
    Duration::from_millis(ms.into())
}

/// Shares that answer by 20, 40, … 360 ms.
const ANSWERED: [f64; 18] = [
    0.02, 0.14, 0.28, 0.42, 0.558, 0.68, 0.78, 0.852, 0.892, 0.92, 0.937, 0.949, 0.959, 0.967, 0.974, 0.976,
    0.977, 0.978,
];

fn point(step: u32) -> BudgetPoint {
    let known = ANSWERED.get(step as usize - 1).copied();
    let (status, at_risk) = match step {
        ..=10 => (Status::Exact, 0),
        11..=14 => (Status::Estimated, [71, 52, 36, 22][step as usize - 11]),
        15..=18 => (Status::Thin, [11, 8, 6, 5][step as usize - 15]),
        _ => (Status::NotObserved, 22 - step as usize),
    };
    let exact = status == Status::Exact;
    BudgetPoint {
        budget: ms(step * 20),
        status,
        n: if exact { 600 } else { 99 },
        at_risk,
        completeness: known,
        interval: known.map(|share| (share - 0.005, share + 0.005)),
        next_minute: known.map(|share| (share - 0.02, (share + 0.02).min(1.0))),
        bounds: None,
        all: known.map(|share| (share * share * share - 0.3).max(0.0)),
        at_least_k: known,
        missing: if exact { vec![(Reason::Deadline, 350), (Reason::ConnectRefused, 64)] } else { Vec::new() },
    }
}

fn sentence(pieces: &[(&str, Weight)]) -> Sentence {
    Sentence(pieces.iter().map(|&(text, weight)| (text.to_owned(), weight)).collect())
}

fn quorum_row(k: usize) -> QuorumRow {
    let (middle, width) = (
        [32.0, 48.0, 62.0, 84.0, 103.0, 122.0, 145.0, 205.0][k - 1],
        4.0 + f64::from(u8::try_from(k).unwrap()) * 2.0,
    );
    let met = |t: f64| 1.0 / (1.0 + (-(t - middle) / width).exp());
    let curve = (0_u32..=50).map(|i| QuorumPoint {
        time: ms(i * 4),
        at_risk: 600,
        met: met(f64::from(i) * 4.0),
        impossible: 0.0,
        pending: 1.0 - met(f64::from(i) * 4.0),
        independent: met(f64::from(i) * 4.0),
    });
    QuorumRow {
        k,
        n: 600,
        by_budget: Some(met(200.0)),
        interval: Some((met(200.0) - 0.03, (met(200.0) + 0.03).min(1.0))),
        status: Status::Exact,
        independent: Some((met(200.0) - 0.004).max(0.0)),
        correlated: false,
        times: [Quantile::default(); 3],
        curve: curve.collect(),
    }
}

fn hedge_row(delay: Option<f64>, time: u32, load: f64, ok: f64) -> HedgeRow {
    HedgeRow {
        delay: delay.map(HedgeDelay::Percentile),
        time: delay.map(|_| ms(time)),
        extra_load: load,
        ok_by_budget: Some(ok),
        thin: false,
        p99: None,
        p99_thin: false,
        status: HedgeStatus::Model,
    }
}

/// The answers that the picture of the screen shows.
pub(in crate::view) fn outlook() -> Outlook {
    use Weight::{Plain, Strong};
    let quantile = |time: Option<u32>, above: Option<u32>| Quantile {
        time: time.map(ms),
        trust: if time.is_some() { Trust::Solid } else { Trust::Censored },
        above: above.map(ms),
    };
    let rows = vec![
        hedge_row(None, 0, 0.0, 0.92),
        hedge_row(Some(0.95), 190, 0.11, 0.9203),
        hedge_row(Some(0.9), 160, 0.14, 0.9204),
        hedge_row(Some(0.8), 120, 0.23, 0.933),
        hedge_row(Some(0.6), 90, 0.4, 0.9342),
    ];
    Outlook {
        rounds: 301,
        calls: 2408,
        probes: 15,
        budget: ms(200),
        budgets: BudgetCurve {
            points: (1..=21).map(point).collect(),
            exact_until: Some(ms(200)),
            errors: Some(0.019),
            knee: Some(ms(160)),
            ..BudgetCurve::default()
        },
        round: [quantile(Some(204), None), quantile(Some(268), None), quantile(None, Some(340))],
        quorum: QuorumStudy { k: 8, rows: (1..=8).map(quorum_row).collect() },
        hedge: Some(HedgeStudy {
            rows,
            load_budget: 0.05,
            best: None,
            real: 0,
            observed: None,
            n: 2400,
            assumes_independence: false,
        }),
        arms: None,
        advice: vec![
            sentence(&[
                ("280 ms", Strong),
                (" would answer ", Plain),
                ("96.7 %", Strong),
                (" (96.2 to 97.2, n 99) instead of ", Plain),
                ("92.0 %", Strong),
                (": 4.7 points for 80 ms.", Plain),
            ]),
            sentence(&[
                ("95 %", Strong),
                (" is reached at ", Plain),
                ("242 ms", Strong),
                ("; 99 % is ", Plain),
                ("unreachable: 1.9 % errors", Strong),
                (" at any budget.", Plain),
            ]),
            sentence(&[
                ("recs", Strong),
                (
                    " alone is 84 % of what the deadline cuts. Without it a round is complete 79 % of the time instead of 47 %.",
                    Plain,
                ),
            ]),
        ],
    }
}

/// These answers on the screen.
pub(in crate::view) fn answered(mut app: App, outlook: Outlook) -> App {
    update(&mut app, Message::Outlook(Box::new(outlook)));
    app
}

/// The trade-off with the marker so many steps after the budget that holds.
fn tradeoff(app: App, outlook: Outlook, steps: usize) -> App {
    let mut app = answered(app, outlook);
    update(&mut app, Message::Action(Action::Tradeoff));
    for _ in 0..steps {
        update(&mut app, Message::Action(Action::BudgetUp));
    }
    app
}

/// As the picture has it.
pub(in crate::view) fn scene(options: Options) -> App {
    tradeoff(scenes::cut(options), outlook(), 4)
}

/// Calls that are slow together, real hedges, and two variants in turn.
pub(in crate::view) fn full() -> App {
    let mut outlook = outlook();
    for (row, share) in outlook.quorum.rows.iter_mut().skip(5).zip([0.93, 0.8, 0.3]) {
        (row.correlated, row.independent) = (true, Some(share));
    }
    if let Some(study) = &mut outlook.hedge {
        study.real = 420;
        study.best = Some(ms(190));
        study.observed = Some(HedgeSeen {
            delay: HedgeDelay::Percentile(0.95),
            calls: 8400,
            hedges: 420,
            extra_load: 0.05,
            ok_by_budget: 0.9933,
            interval: (0.99, 0.995),
            p99: Some(ms(188)),
            p99_interval: (Some(ms(180)), None),
        });
        study.rows[4].status = HedgeStatus::Extrapolated;
    }
    let arm = |budget, completeness: f64, partial: f64| ArmSeen {
        variant: Variant::Budget(ms(budget)),
        rounds: 150,
        completeness,
        interval: (completeness - 0.01, completeness + 0.01),
        partial,
        partial_interval: (partial - 0.08, partial + 0.08),
        p50: ms(budget),
        p99: ms(budget + 1),
    };
    outlook.arms = Some(Arms {
        a: arm(150, 0.82, 0.9),
        b: arm(250, 0.955, 0.31),
        completeness: Difference { value: 0.135, interval: (0.12, 0.15) },
        partial: Difference { value: -0.59, interval: (-0.68, -0.49) },
    });
    tradeoff(scenes::cut(Options::default()), outlook, 2)
}

/// After deadline rounds only: above the budget nothing is known but bounds.
pub(in crate::view) fn censored() -> App {
    let mut outlook = outlook();
    outlook.probes = 0;
    outlook.budgets.errors = None;
    for point in outlook.budgets.points.iter_mut().filter(|p| p.budget > ms(200)) {
        point.status = Status::Bounded;
        point.bounds = Some((0.92, 0.981));
        (point.completeness, point.interval, point.next_minute, point.all) = (None, None, None, None);
    }
    outlook.round = [Quantile { time: None, trust: Trust::Censored, above: Some(ms(200)) }; 3];
    outlook.hedge = None;
    outlook.advice.truncate(1);
    tradeoff(scenes::cut(Options::default()), outlook, 3)
}

const SIZES: [(u16, u16); 6] = [FULL, (200, 60), (80, 24), (60, 16), (60, 12), (40, 10)];

#[test]
fn w3_the_trade_off_at_every_size() {
    assert_scene("tradeoff", &scene(Options::default()), &SIZES);
}

#[test]
fn w4_w5_w9_what_is_correlated_hedged_and_in_turn_is_said() {
    let app = full();
    assert_scene("tradeoff-full", &app, &[FULL, (200, 60), (80, 24)]);
    for (width, height) in [FULL, (200, 60)] {
        let text = printed(&drawn(&app, width, height));
        for words in ["correlated", "seen", "420 real hedges", "extrapolated", "B less A"] {
            assert!(text.contains(words), "{words} at {width}x{height}");
        }
    }
}

#[test]
fn w3_beyond_what_was_seen_there_are_bounds_and_the_word_censored() {
    let app = censored();
    assert_scene("tradeoff-censored", &app, &[FULL, (80, 24), (60, 12), (40, 10)]);
    for (width, height) in [FULL, (80, 24), (60, 12), (40, 10)] {
        let text = printed(&drawn(&app, width, height));
        assert!(text.contains("92.0–98.1") && text.contains("censored"), "{width}x{height}:\n{text}");
    }
}

#[test]
fn the_trade_off_without_colour_and_in_7_bits() {
    let mono = Options { colour: Colour::Mono, ..Options::default() };
    assert_scene("mono-tradeoff", &scene(mono), &[FULL]);
    let ascii = Options { ascii: true, colour: Colour::Mono, theme: ThemeName::Terminal };
    assert_scene("ascii-tradeoff", &scene(ascii), &[FULL, (80, 24), (60, 12), (40, 10)]);
    for (width, height) in SIZES {
        let text = printed(&drawn(&scene(ascii), width, height));
        assert!(text.is_ascii(), "{text}");
    }
    let text = printed(&drawn(&scene(ascii), 60, 12));
    assert!(text.contains("budget") && text.contains("answered"), "a table where there is no room for both");
}

#[test]
fn the_trade_off_of_nothing() {
    let app = tradeoff(scenes::waiting(), Outlook::default(), 3);
    assert_scene("tradeoff-nothing", &app, &[(80, 24)]);
    let mut app = scenes::waiting();
    update(&mut app, Message::Action(Action::Tradeoff));
    for (width, height) in SIZES {
        drawn(&app, width, height);
    }
}

#[test]
fn a_recording_has_the_same_without_keys_for_rounds() {
    let app = tradeoff(scenes::replay(Options::default(), PlayState::Playing), outlook(), 0);
    let text = printed(&drawn(&app, 120, 40));
    assert!(text.contains("move the marker") && !text.contains("use this budget"), "{text}");
    assert_scene("replay-tradeoff", &app, &[(80, 24)]);
}

#[test]
fn a_click_on_the_curve_or_the_table_moves_the_marker() {
    let mut app = scene(Options::default());
    update(&mut app, Message::Action(Action::First));
    let area = Rect::new(0, 0, 120, 40);
    let click = |app: &mut App, x, y| {
        let target = crate::view::target(app, area, x, y);
        update(app, Message::Pointed(crate::app::Gesture::Click, target));
        app.marked().map(|point| point.budget)
    };
    let (at_line, _) = (0..120)
        .map(|x| (x, crate::view::target(&app, area, x, 10)))
        .find(|(_, target)| matches!(target, crate::app::Target::Budget(b) if *b >= ms(200)))
        .unwrap();
    assert_eq!(click(&mut app, at_line, 10), Some(ms(200)));
    let rows = printed(&drawn(&app, 120, 40));
    let row = rows.lines().position(|line| line.contains(" 280 ms ")).unwrap();
    assert_eq!(click(&mut app, 100, u16::try_from(row).unwrap()), Some(ms(280)));
}

#[test]
fn w9_two_budgets_in_turn_hold_still() {
    let [a, b] = [150, 250].map(|n| Variant::Budget(ms(n)));
    let base = Settings { ab: Some(Ab { a, b }), ..fx::settings(Mode::Deadline) };
    let mut app = App::new(fx::setup(&fx::page_names(), base.clone(), Options::default()));
    let mut dice = fx::Dice::new(5);
    let mut axes = Vec::new();
    for no in 1..=20 {
        let (settings, arm) = base.of_round(no);
        let mut round = fx::round(no, fx::at(no), &Arc::new(settings), &fx::page_fates(&mut dice));
        round.arm = arm;
        fx::start(&mut app, &round);
        fx::finish(&mut app, round);
        assert!(!app.config.is_switching() && app.picture().marks.is_empty(), "round {no}");
        let rows = printed(&drawn(&app, 120, 40));
        let line = |row: usize| rows.lines().nth(row).unwrap_or_default().to_owned();
        assert!(line(0).contains("deadline A/B 150 | 250 ms"), "{}", line(0));
        assert!(line(3).contains(if no % 2 == 1 { "A 150 ms" } else { "B 250 ms" }), "{}", line(3));
        axes.push(Columns::of(&app, Rect::new(0, 0, 120, 40)));
        axes.dedup();
        assert_eq!(Axis::of(&app, &axes[0]).scale.span(), ms(300), "round {no}");
    }
    assert_eq!(axes.len(), 1);
    assert_scene("ab", &app, &[FULL, (80, 24), (40, 10)]);
    update(&mut app, Message::Action(Action::BudgetUp));
    assert_eq!((app.wanted().ab, app.wanted().budget), (None, ms(250)));
    assert!(printed(&drawn(&app, 120, 40)).contains("A/B budget 150 | 250 ms is over"));
}

#[test]
fn w7_w8_a_straggler_and_what_its_endpoint_cost() {
    let mut app = scenes::cut(Options::default());
    let late =
        |outcome| crate::domain::Late { endpoint: crate::domain::EndpointId(5), outcome, end: ms(340) };
    let no = app.round_no().unwrap();
    let told = |late| Message::Engine(crate::domain::Event::Late { round: no, late });
    update(&mut app, told(late(crate::domain::Outcome::Ok)));
    let row = |app: &App| {
        let text = printed(&drawn(app, 120, 40));
        text.lines().find(|line| line.contains("recs  ")).unwrap_or_default().to_owned()
    };
    assert!(row(&app).contains(">200 ms  came at 340 ms"), "{}", row(&app));
    update(&mut app, Message::Action(Action::Detail));
    update(&mut app, Message::Resized(120, 40));
    let text = printed(&drawn(&app, 120, 40));
    assert!(text.contains("watched came at 340 ms"), "{text}");
    assert!(text.contains("last in 42, cut in 49 of 120 rounds"), "{text}");
    assert!(text.contains("complete without it 60.0 % instead of 36.7 %"), "{text}");
}
