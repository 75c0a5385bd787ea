//! What gates mean, and what is said of those that mean nothing.

use super::metric::Percentile;
use super::parse::Known;
use super::*;
use crate::domain::*;
use crate::recording::SummaryFold;
use proptest::prelude::*;
use std::sync::Arc;

fn names() -> Vec<String> {
    ["shop-0", "shop-3", "a.b", "9", "deadline", "*", "ünï \"x\\", "p99"].map(str::to_owned).into()
}

fn read(text: &str) -> Result<Gate, parse::Fault> {
    parse(text, Known { endpoints: &names(), baseline: true })
}

fn gate(text: &str) -> Gate {
    read(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"))
}

#[test]
fn the_examples_of_the_manual_are_read() {
    let share = |percent| Bound::Fixed(Amount::Percent(percent));
    let ms = |ms| Bound::Fixed(Amount::Time(Duration::from_millis(ms)));
    let missing =
        |endpoint: Option<&str>, reason| Metric::Missing { endpoint: endpoint.map(str::to_owned), reason };
    let none = Bound::Fixed(Amount::Count(0));
    let percentile = Percentile;
    for (text, metric, op, bound) in [
        ("completeness>=0.98", Metric::Completeness, Op::AtLeast, Bound::Fixed(Amount::Fraction(0.98))),
        ("partial<=5%", Metric::Partial, Op::AtMost, share(5.0)),
        ("p99<=250ms", Metric::Took(percentile(99.0)), Op::AtMost, ms(250)),
        ("missing.shop-3.deadline==0", missing(Some("shop-3"), Some(Reason::Deadline)), Op::Equal, none),
        ("missing.\"a.b\".deadline==0", missing(Some("a.b"), Some(Reason::Deadline)), Op::Equal, none),
        (
            "missing.\"a.b\u{fe0f}\".deadline==0",
            missing(Some("a.b"), Some(Reason::Deadline)),
            Op::Equal,
            none,
        ),
        (
            "missing.*.http_status < 3",
            missing(None, Some(Reason::HttpStatus)),
            Op::Below,
            Bound::Fixed(Amount::Count(3)),
        ),
        ("missing != 0", missing(None, None), Op::Unequal, none),
        // An endpoint comes first, also where it is called like a reason.
        ("missing.deadline==0", missing(Some("deadline"), None), Op::Equal, none),
        ("missing.\"*\"==0", missing(Some("*"), None), Op::Equal, none),
        ("p99.shop-3 < 1s", Metric::Latency(percentile(99.0), "shop-3".to_owned()), Op::Below, ms(1000)),
        ("p99.9<=2s", Metric::Took(percentile(99.9)), Op::AtMost, ms(2000)),
        ("p99.9.shop-3<=2s", Metric::Latency(percentile(99.9), "shop-3".to_owned()), Op::AtMost, ms(2000)),
        ("p99.\"9\"<=2s", Metric::Latency(percentile(99.0), "9".to_owned()), Op::AtMost, ms(2000)),
        ("ok.shop-0 > 90 %", Metric::Ok("shop-0".to_owned()), Op::Above, share(90.0)),
        ("hedges.extra_load<=150%", Metric::ExtraLoad, Op::AtMost, share(150.0)),
        ("rounds==baseline", Metric::Rounds, Op::Equal, Bound::Baseline(Change::None)),
        (
            "completeness>=baseline-1%",
            Metric::Completeness,
            Op::AtLeast,
            Bound::Baseline(Change::Less(Amount::Percent(1.0))),
        ),
        (
            "p50 <= baseline * 1.1",
            Metric::Took(percentile(50.0)),
            Op::AtMost,
            Bound::Baseline(Change::Times(1.1)),
        ),
    ] {
        let got = gate(text);
        assert_eq!((got.metric, got.op, got.bound), (metric, op, bound), "{text}");
        assert_eq!(got.text, text);
    }
}

/// Gate, what is marked, what is said.
const WRONG: [(&str, &str, &str); 38] = [
    ("", "", "expected a metric"),
    ("  ", "", "expected a metric"),
    (">=0.98", ">", "expected a metric"),
    ("completness>=0.99", "completness", "did you mean `completeness`?"),
    ("banana>=1", "banana", "the metrics are completeness"),
    ("shop-3==0", "shop-3", "missing.shop-3"),
    ("completeness", "", "shell"),
    ("completeness 0.98", "0", "expected an operator"),
    ("completeness=0.98", "=", "write `==`"),
    ("completeness=>0.98", "=>", "write `>=`"),
    ("completeness≥0.98", "≥", "write `>=`"),
    ("completeness~0.98", "~", "the operators are"),
    ("completeness>=", "", "expected a share such as 0.98 or 98%"),
    ("completeness>=98", "98", "did you mean 98%?"),
    ("completeness>=120%", "120%", "up to 100%"),
    ("completeness>=250ms", "250ms", "expected a share"),
    ("completeness>=-1%", "-1%", "expected a share"),
    ("completeness>=1e-3", "1e-3", "expected a share"),
    ("completeness>=NaN", "NaN", "expected a share"),
    ("completeness.shop-0>=1", "shop-0", "has no parts"),
    ("p99<=250", "250", "250ms"),
    ("p99<=98%", "98%", "expected a time"),
    ("p100<=1s", "p100", "between 0 and 100"),
    ("p0<=1s", "p0", "between 0 and 100"),
    ("rounds>=1.5", "1.5", "whole numbers"),
    ("missing==5%", "5%", "expected a count"),
    ("missing.shop-2==0", "shop-2", "did you mean `shop-"),
    ("missing.timeout==0", "timeout", "write missing.*.timeout"),
    ("missing.shop-3.deadlin==0", "deadlin", "did you mean `deadline`?"),
    ("missing.shop-3.http_503==0", "http_503", "http_status"),
    ("missing.a.b.deadline==0", "deadline", "double quotes"),
    ("missing.==0", "=", "expected a name after the dot"),
    ("missing.\"a.b==0", "\"a.b==0", "not closed"),
    ("ok>=1", "ok", "ok.ENDPOINT"),
    ("hedges>=1", "hedges", "hedges.extra_load"),
    ("completeness>=basline", "basline", "did you mean `baseline`?"),
    ("completeness>=baseline*2", "*", "not multiplied"),
    ("p99<=baseline/2", "/", "expected - or +"),
];

#[test]
fn what_is_wrong_is_marked_and_a_way_out_is_named() {
    for (text, marked, says) in WRONG {
        let fault = read(text).expect_err(text);
        assert_eq!(text.get(fault.span.clone()), Some(marked), "{text}: {fault:?}");
        let all = format!("{} {}", fault.message, fault.help.join(" "));
        assert!(all.contains(says), "{text}: {all}");
    }
}

#[test]
fn all_faults_are_told_together_with_their_columns() {
    let texts = ["p99<=250ms", "missing.shop-1.deadline==0", "partial<=5"].map(str::to_owned);
    let told = Gates::parse(&texts, &["shop-0".to_owned()], false).expect_err("two faults").to_string();
    let want = "--gate, column 9: there is no endpoint `shop-1`\n  |\n  | missing.shop-1.deadline==0\n  |         \
                ^^^^^^\n  = did you mean `shop-0`?\n\n--gate, column 10: expected a share such as 0.98 or 98%, found \
                `5`\n  |\n  | partial<=5\n  |          ^\n  = a share without a percent sign goes from 0 to 1: did \
                you mean 5%?\n\n2 errors in command line";
    assert_eq!(told, want);
}

#[test]
fn a_baseline_needs_a_file() {
    let fault = parse("partial<=baseline", Known { endpoints: &[], baseline: false }).expect_err("no file");
    assert!(fault.help[0].contains("--baseline FILE"), "{fault:?}");
}

/// A round that took so many ms: the first endpoint answered then, the second was cut.
fn round(took: u64) -> Round {
    let time = Duration::from_millis(took);
    let call = |endpoint, outcome, answer| Call {
        endpoint: EndpointId(endpoint),
        outcome,
        end: time,
        phase: Phase::Waiting,
        status: None,
        late_by: None,
        hedge_delay: None,
        hedges: HedgeCounts::default(),
        winner: None,
        attempts: vec![Attempt {
            replica: 0,
            kind: AttemptKind::Primary,
            start: Duration::ZERO,
            end: time,
            outcome: answer,
            reason: None,
            detail: None,
            status: None,
            bytes: 0,
            wire_bytes: 0,
            server_timing: std::sync::Arc::default(),
            reused: None,
            http: None,
            remote: None,
            phase: Phase::Waiting,
            phases: Phases::default(),
            trace_id: None,
            answer: None,
        }],
    };
    let calls = vec![
        call(0, Outcome::Ok, AttemptOutcome::Ok),
        call(1, Outcome::Missing(Reason::Deadline), AttemptOutcome::Cancelled),
    ];
    Round { took: time, calls, ..blank() }
}

fn blank() -> Round {
    Round {
        no: RoundNo(1),
        at: Duration::ZERO,
        start_lag: Duration::ZERO,
        settings: Arc::new(Settings::default()),
        budget: Duration::from_millis(200),
        clamped: false,
        k: None,
        ended_by: EndedBy::Deadline,
        took: Duration::ZERO,
        ok: true,
        quorum_impossible_at: None,
        quorum_at: None,
        overrun: None,
        lingering: 0,
        warmup: false,
        probe: None,
        arm: None,
        late: Vec::new(),
        answered_optional: 0,
        failed: Vec::new(),
        calls: Vec::new(),
    }
}

fn fold(rounds: impl IntoIterator<Item = u64>) -> SummaryFold {
    let mut fold = SummaryFold::new(&["shop-0".to_owned(), "shop-3".to_owned()]);
    rounds.into_iter().for_each(|took| fold.push(&round(took)));
    fold
}

/// Whether it holds, its value, and what is told of it.
fn judged(
    text: &str,
    seen: &SummaryFold,
    baseline: Option<&SummaryFold>,
) -> (Option<bool>, Option<f64>, String) {
    let one = judge(&Gates(vec![gate(text)]), seen, baseline).remove(0);
    (one.line.passed, one.line.value, one.told)
}

#[test]
fn gates_are_judged_and_say_by_how_much_they_are_off() {
    let seen = fold(1..=40);
    for (text, passed, value, told) in [
        ("completeness>=0.5", true, 0.5, "completeness 0.5"),
        ("completeness>=0.99", false, 0.5, "completeness 0.5, 0.49 below 0.99"),
        ("completeness>=99%", false, 0.5, "completeness 50 %, 49 points below 99 %"),
        ("completeness>0.5", false, 0.5, "completeness 0.5, equal to 0.5"),
        ("completeness!=50%", false, 0.5, "completeness 50 %, equal to 50 %"),
        ("completeness>=0.50001", false, 0.5, "completeness 0.5, 0.00001 below 0.50001"),
        ("partial<1", false, 1.0, "partial 1, equal to 1"),
        ("failed==0", true, 0.0, "failed 0"),
        ("rounds>=40", true, 40.0, "rounds 40"),
        ("missing.*.deadline==0", false, 40.0, "missing.*.deadline 40, 40 above 0"),
        ("missing.shop-0==0", true, 0.0, "missing.shop-0 0"),
        ("missing.shop-3.timeout==0", true, 0.0, "missing.shop-3.timeout 0"),
        ("ok.shop-0>=1", true, 1.0, "ok.shop-0 1"),
        ("p50<=20ms", true, 20.0, "p50 20 ms"),
        ("p99<=39.5ms", false, 40.0, "p99 40 ms, 0.5 ms above 39.5 ms"),
        ("p50.shop-0<=20ms", true, 20.0, "p50.shop-0 20 ms"),
        ("hedges.extra_load<=0", true, 0.0, "hedges.extra_load 0"),
    ] {
        assert_eq!(judged(text, &seen, None), (Some(passed), Some(value), told.to_owned()), "{text}");
    }
}

#[test]
fn a_share_that_equals_its_bound_up_to_rounding_counts_as_equal() {
    let mut seen = SummaryFold::new(&[]);
    // A tenth and a fifth are a little more than three tenths.
    for answered in [1, 2] {
        let mut made = round(1);
        made.calls = (0..10).map(|i| round(1).calls[usize::from(i >= answered)].clone()).collect();
        seen.push(&made);
    }
    let sum = seen.completeness().unwrap();
    for text in ["completeness>=0.15", "completeness<=0.15", "completeness==15%"] {
        assert_eq!(judged(text, &seen, None).0, Some(true), "{text}, {sum}");
    }
    assert_eq!(judged("completeness<0.15", &seen, None).0, Some(false));
}

#[test]
fn w6_without_data_a_gate_neither_passes_nor_fails() {
    let (nothing, few) = (fold([]), fold([1, 2, 3]));
    for (text, seen, why) in [
        ("completeness>=0", &nothing, "no round was completed"),
        ("completeness<2%", &nothing, "no round was completed"),
        ("missing==0", &nothing, "no round was completed"),
        ("skipped==0", &nothing, "no round was completed"),
        ("p99<=1h", &nothing, "no round was completed"),
        ("p99.shop-0<=1h", &nothing, "no round was completed"),
        ("p50.shop-0<=1h", &few, "only 2 calls were pending there, which is too few"),
        ("p50.shop-3<=1h", &few, "not reached: too many were cut, the first at 1.0 ms"),
    ] {
        assert_eq!(judged(text, seen, None), (None, None, why.to_owned()), "{text}");
    }
    assert_eq!(judged("rounds>=1", &nothing, None).0, Some(false), "how many there were is known");
    let one = |text: &str| judge(&Gates(vec![gate(text)]), &few, None).remove(0);
    let (pass, fail, none) = (one("rounds==3"), one("rounds==4"), one("p50.shop-3<=1s"));
    assert_eq!(verdict(&[]), Verdict::Passed);
    assert_eq!(verdict(std::slice::from_ref(&pass)), Verdict::Passed);
    assert_eq!(verdict(&[pass.clone(), none.clone()]), Verdict::NoData);
    assert_eq!(verdict(&[none.clone(), fail.clone()]), Verdict::Failed);
    let want = "✓ passed   rounds==3       rounds 3\n✗ FAILED   rounds==4       rounds 3, 1 below 4\n? no data  \
                p50.shop-3<=1s  not reached: too many were cut, the first at 1.0 ms\n";
    assert_eq!(table(&[pass, fail, none]), want);
}

#[test]
fn a_baseline_moves_the_bound() {
    let (seen, old, nothing) = (fold(1..=40), fold(11..=30), fold([]));
    let told = |text: &str, baseline| judged(text, &seen, Some(baseline));
    assert_eq!(
        told("p50<=baseline", &old),
        (Some(true), Some(20.0), "p50 20 ms (20 ms the baseline)".to_owned())
    );
    assert_eq!(told("p99<=baseline*1.1", &old).2, "p99 40 ms, 7 ms above 33 ms (by the baseline)");
    assert_eq!(told("p99<=baseline+10ms", &old).0, Some(true));
    assert_eq!(told("completeness>=baseline-1%", &old).2, "completeness 50 % (49 % by the baseline)");
    let none = told("completeness>=baseline-1%", &nothing);
    assert_eq!((none.0, none.1), (None, Some(0.5)));
    assert!(none.2.contains("the baseline has none: no round was completed"), "{}", none.2);
    // The baseline was of another profile.
    let other = {
        let mut fold = SummaryFold::new(&["x".to_owned()]);
        fold.push(&blank());
        fold
    };
    assert!(told("ok.shop-0>=baseline", &other).2.contains("no endpoint shop-0"));
}

fn any_amount(kind: metric::Kind) -> BoxedStrategy<String> {
    match kind {
        metric::Kind::Count => any::<u64>().prop_map(|n| n.to_string()).boxed(),
        metric::Kind::Time => prop_oneof![
            (0_u64..86_400_000_000_000).prop_map(|ns| durations::show(Duration::from_nanos(ns))),
            (0_u64..9_999_999_999).prop_map(|ns| format!("{ns}ns")),
        ]
        .boxed(),
        metric::Kind::Share { .. } => prop_oneof![
            (0_u32..=1_000_000).prop_map(|n| format!("{}", f64::from(n) / 1e6)),
            (0_u32..=1_000_000).prop_map(|n| format!("{}%", f64::from(n) / 1e4)),
        ]
        .boxed(),
    }
}

fn any_metric() -> impl Strategy<Value = Metric> {
    let name = || prop::sample::select(names());
    let reason = || prop::sample::select(Reason::ALL);
    let percentile = || (1_u32..1_000_000).prop_map(|n| Percentile(f64::from(n) / 1e4));
    prop_oneof![
        prop::sample::select(vec![
            Metric::Completeness,
            Metric::Partial,
            Metric::Failed,
            Metric::Skipped,
            Metric::Rounds,
            Metric::ExtraLoad,
        ]),
        (prop::option::of(name()), prop::option::of(reason()))
            .prop_map(|(endpoint, reason)| Metric::Missing { endpoint, reason }),
        name().prop_map(Metric::Ok),
        percentile().prop_map(Metric::Took),
        (percentile(), name()).prop_map(|(p, name)| Metric::Latency(p, name)),
    ]
}

proptest! {
    #[test]
    fn any_gate_prints_as_one_that_reads_the_same(
        (metric, amount) in any_metric().prop_flat_map(|m| { let kind = m.kind(); (Just(m), any_amount(kind)) }),
        op in prop::sample::select(&Op::ALL[..]),
        lead in prop::sample::select(vec!["", "baseline", "baseline+", "baseline - "]),
        space in prop::sample::select(vec!["", " ", "\t\n"]),
    ) {
        let amount = if lead == "baseline" { String::new() } else { amount };
        let text = format!("{metric}{space}{op}{space}{lead}{amount}{space}");
        let read_once = read(&text).map_err(|fault| TestCaseError::fail(format!("{text}: {fault:?}")))?;
        prop_assert_eq!(&read_once.metric, &metric);
        let printed = read_once.to_string();
        let again = read(&printed).map_err(|fault| TestCaseError::fail(format!("{printed}: {fault:?}")))?;
        prop_assert_eq!((&again.metric, again.op, again.bound), (&read_once.metric, read_once.op, read_once.bound));
    }

    #[test]
    fn any_text_is_a_gate_or_a_fault_that_can_be_shown(
        text in prop_oneof![
            any::<String>(),
            "[a-z.\"*0-9<>=!% \\\\-]{0,24}",
            "(missing|p99|completeness|ok|hedges)[.\"a-z0-9é*]{0,8}[<>=]{1,2}(baseline)?[-+* ]{0,2}[0-9.%mse]{0,8}",
        ],
        baseline in any::<bool>(),
    ) {
        match parse(&text, Known { endpoints: &names(), baseline }) {
            Ok(gate) => prop_assert_eq!(gate.text, text.trim()),
            Err(fault) => {
                prop_assert!(text.get(fault.span.clone()).is_some(), "{:?} in {:?}", fault, text);
                let told = Gates::parse(&[text], &names(), baseline).expect_err("a fault").to_string();
                prop_assert!(!told.chars().any(|c| c.is_control() && c != '\n'));
            }
        }
    }
}
