//! What may be said of a budget depends on whether rounds end at it, and of a number on what it rests on.

use super::*;

const ENDS_ELSEWHERE: [Mode; 3] = [Mode::Quorum, Mode::WaitAll, Mode::FailFast];

fn of(mode: Mode, outlook: Outlook) -> App {
    tradeoff(fx::page(mode, 30, Options::default()), outlook, 0)
}

#[test]
fn w3_where_rounds_do_not_end_at_the_budget_the_curve_is_what_they_would_give_if_they_were_cut_there() {
    for mode in ENDS_ELSEWHERE {
        let mut app = of(mode, outlook());
        for (width, height) in SIZES {
            let text = printed(&drawn(&app, width, height));
            assert!(text.contains("nswered if cut at the budget"), "{mode} at {width}x{height}:\n{text}");
            assert!(!text.contains("What if the budget were different"), "{mode}");
        }
        let text = printed(&drawn(&app, 120, 40));
        let head = text.lines().find(|line| line.contains("interval")).unwrap();
        assert!(text.contains("if cut at 200 ms") && head.contains("  cut at answered "), "{mode}:\n{text}");
        update(&mut app, Message::Action(Action::Tradeoff));
        let text = printed(&drawn(&app, 120, 40));
        let head = text.lines().find(|line| line.contains("What if")).unwrap();
        assert!(head.contains("if cut at the budget"), "{mode}: {head}");
        assert!(!text.contains(", now 92.0 %"), "{mode}: no point of the curve is what rounds do now");
    }
    for mode in [Mode::Deadline, Mode::Hedge] {
        let mut app = of(mode, outlook());
        assert!(!printed(&drawn(&app, 120, 40)).contains("if cut at"), "{mode}");
        update(&mut app, Message::Action(Action::Tradeoff));
        assert!(!printed(&drawn(&app, 120, 40)).contains("if cut at"), "{mode}");
    }
    assert_scene("tradeoff-quorum", &of(Mode::Quorum, outlook()), &[FULL, (80, 24), (40, 10)]);
}

#[test]
fn w9_of_two_modes_in_turn_both_have_to_end_at_the_budget() {
    for (other, cuts) in [(Mode::Hedge, true), (Mode::WaitAll, false)] {
        let ab = Ab { a: Variant::Mode(Mode::Deadline), b: Variant::Mode(other) };
        let settings = Settings { ab: Some(ab), ..fx::settings(Mode::Deadline) };
        let app = App::new(fx::setup(&fx::page_names(), settings, Options::default()));
        assert_eq!(app.cuts_at_budget(), cuts, "{other}");
    }
}

/// Nothing was watched and nothing is guessed above the budget.
fn unseen() -> Outlook {
    let mut outlook = outlook();
    outlook.probes = 0;
    outlook.budgets.points.retain(|point| matches!(point.status, Status::Exact | Status::NotObserved));
    outlook
}

#[test]
fn w7_probe_rounds_are_named_only_where_they_see_more() {
    let has = |mode, outlook, words| printed(&drawn(&of(mode, outlook), 120, 40)).contains(words);
    assert!(has(Mode::Deadline, unseen(), "nothing was seen; probe rounds would."));
    for mode in ENDS_ELSEWHERE {
        assert!(
            has(mode, unseen(), "nothing was seen.") && !has(mode, unseen(), "probe rounds would"),
            "{mode}"
        );
        assert!(!has(mode, outlook(), "A cut call has not taken 200 ms"), "{mode}");
    }
    assert!(has(Mode::Deadline, outlook(), "from probes"));
    let guessed = || Outlook { probes: 0, ..outlook() };
    assert!(has(Mode::Deadline, guessed(), "some cut") && !has(Mode::Deadline, guessed(), "from probes"));
}

#[test]
fn w6_a_p99_that_errors_keep_away_is_no_later_time() {
    let p99 = |change: fn(&mut Outlook)| {
        let mut outlook = outlook();
        change(&mut outlook);
        let text = printed(&drawn(&of(Mode::Hedge, outlook), 120, 40));
        let row = text.lines().find(|line| line.contains("92.00 %")).unwrap().trim_end();
        row.rsplit("92.00 %").next().unwrap().trim().to_owned()
    };
    assert_eq!(p99(|_| {}), "–", "all was seen, and 1.9 % of it are errors");
    assert_eq!(p99(|outlook| outlook.budgets.errors = None), "–", "what was seen by the budget is enough");
    let cut = |outlook: &mut Outlook| {
        outlook.budgets.errors = None;
        outlook.budgets.points.iter_mut().for_each(|point| point.missing = vec![(Reason::Deadline, 350)]);
    };
    assert_eq!(p99(cut), ">200 ms");
    assert_eq!(p99(|outlook| outlook.hedge.as_mut().unwrap().rows[0].p99 = Some(ms(231))), "231 ms");
}

#[test]
fn w5_what_was_seen_has_its_intervals_and_a_quorum_its_rounds() {
    let text = printed(&drawn(&full(), 200, 60));
    for words in ["99.0–99.5", ">180", "n 600", "interval"] {
        assert!(text.contains(words), "{words}:\n{text}");
    }
    assert!(printed(&drawn(&full(), 120, 40)).contains("n 600"));
    let mut outlook = outlook();
    outlook.quorum.rows[7].n = 420;
    assert!(printed(&drawn(&of(Mode::Quorum, outlook), 120, 40)).contains("n 420–600"));
}
