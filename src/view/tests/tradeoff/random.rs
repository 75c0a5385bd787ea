//! Any answers at any size.

use super::*;
use proptest::prelude::*;

fn status() -> impl Strategy<Value = Status> {
    prop::sample::select(vec![
        Status::Exact,
        Status::Estimated,
        Status::Thin,
        Status::Bounded,
        Status::NotObserved,
    ])
}

fn time() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        Just(Duration::MAX),
        (0_u64..10_000_000).prop_map(Duration::from_micros)
    ]
}

fn share() -> impl Strategy<Value = Option<f64>> {
    prop::option::of(0.0..=1.0)
}

fn curve() -> impl Strategy<Value = BudgetCurve> {
    let point =
        (time(), status(), share(), share(), 0_usize..1000).prop_map(|(budget, status, a, b, at_risk)| {
            let pair = a.zip(b).map(|(a, b)| (a.min(b), a.max(b)));
            BudgetPoint {
                budget,
                status,
                n: 7,
                at_risk,
                completeness: a,
                interval: pair,
                next_minute: pair,
                bounds: pair.filter(|_| status == Status::Bounded),
                all: b,
                at_least_k: b,
                missing: vec![(Reason::Deadline, at_risk as u64)],
            }
        });
    (prop::collection::vec(point, 0..40), prop::option::of(time()), share(), prop::option::of(time()))
        .prop_map(|(mut points, exact_until, errors, knee)| {
            points.sort_by_key(|point| point.budget);
            points.dedup_by_key(|point| point.budget);
            BudgetCurve { points, exact_until, errors, knee, ..BudgetCurve::default() }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Any answers at any size, wherever the marker is.
    #[test]
    fn w3_any_answers_draw_without_a_panic(
        budgets in curve(), budget in time(), load in 0.0..=1.0_f64, ks in 0_usize..=8, hedged: bool, ascii: bool,
        sizes in prop::collection::vec((0_u16..=260, 0_u16..=90), 8),
        keys in prop::collection::vec(prop::sample::select(vec![
            Action::BudgetUp, Action::BudgetDown, Action::First, Action::Last, Action::Window, Action::Detail,
        ]), 0..12),
    ) {
        let full = full();
        let mut made = full.outlook().unwrap().clone();
        (made.budgets, made.budget) = (budgets, budget);
        made.quorum.rows.truncate(ks);
        made.hedge = made.hedge.filter(|_| hedged);
        if let Some(study) = &mut made.hedge {
            study.load_budget = load;
        }
        let options = Options { ascii, ..Options::default() };
        let mut app = tradeoff(scenes::named(&["a", "b"]), made, 0);
        app.options = options;
        for key in keys {
            update(&mut app, Message::Action(key));
        }
        for (width, height) in sizes {
            app.screen = crate::app::Screen::Tradeoff;
            drawn(&app, width, height);
            for (x, y) in [(0, 0), (width / 3, height / 3), (width, height)] {
                let _target = crate::view::target(&app, Rect::new(0, 0, width, height), x, y);
            }
            app.screen = crate::app::Screen::Dashboard;
            drawn(&scenes::asked(app.clone(), Panel::WhatIf), width, height);
        }
    }
}
