//! Predictions held against what then really runs: whole sessions over the embedded upstreams, some minutes each.
//! `cargo test --release --test predictions -- --ignored --nocapture` prints the tables that the docs quote.

#![expect(clippy::unwrap_used, reason = "in a test a missing value is a failure, helpers included")]
#![expect(clippy::print_stdout, reason = "the tables are what is asked for")]

use fanscope::domain::{Event, HedgeDelay, Mode, Round, Settings};
use fanscope::engine::Command;
use fanscope::profile;
use fanscope::session::{Plan, Session};
use fanscope::whatif::budget::{BudgetCurve, BudgetPoint};
use fanscope::whatif::outlook::{Question, Status};
use fanscope::whatif::seen::Sample;
use fanscope::whatif::shares::Mean;
use std::sync::Arc;
use std::time::Duration;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A session and what was seen of it.
struct Lab {
    session: Session,
    settings: Settings,
    sample: Sample,
    probes: usize,
}

impl Lab {
    fn start(name: &str, every: Duration, seed: u64) -> Self {
        let mut profile = profile::load(name, &|_| None).unwrap();
        profile.settings.every = every;
        profile.settings.max_overlap = 32;
        profile.seed = seed;
        let settings = profile.settings.clone();
        let session = Session::start(profile, Plan::default()).unwrap();
        Self { session, settings, sample: Sample::default(), probes: 0 }
    }

    async fn apply(&mut self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.settings);
        self.session.commands().send(Command::Apply(self.settings.clone())).await.unwrap();
    }

    /// The next round that has the settings of now, with everything before it taken in.
    async fn round(&mut self) -> Arc<Round> {
        loop {
            match self.session.next().await.unwrap() {
                Event::RoundSettled { round, .. } => {
                    self.sample.push(&round);
                    self.probes += usize::from(round.probe.is_some());
                    if *round.settings == self.settings {
                        return round;
                    }
                }
                Event::Late { round, late } => self.sample.late(round, late),
                _ => {}
            }
        }
    }

    async fn rounds(&mut self, count: usize) -> Vec<Arc<Round>> {
        let mut rounds = Vec::new();
        for _ in 0..count {
            rounds.push(self.round().await);
        }
        rounds
    }

    fn question(&self) -> Question {
        Question {
            rounds: self.sample.rounds().iter().cloned().collect(),
            now: self.session.elapsed(),
            settings: self.settings.clone(),
            names: self.session.names(),
            specs: self.session.specs(),
        }
    }

    fn at(&self, budget: Duration) -> BudgetPoint {
        BudgetCurve::at(&self.question(), &[budget]).remove(0)
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Rounds of the minute that is predicted: what `every = "500ms"` gives.
const MINUTE: usize = 120;

#[test]
#[ignore = "some minutes of rounds in real time"]
fn w3_the_next_minute_is_as_predicted() {
    block_on(async {
        let mut lab = Lab::start("shops", ms(60), 7);
        let mut held = 0;
        println!("budget  predicted (next minute)   observed");
        for budget in [190, 175, 160, 150, 125, 110, 100, 80, 60, 40] {
            lab.apply(|s| (s.budget, s.every) = (ms(200), ms(60))).await;
            lab.rounds(400).await;
            let mut question = lab.question();
            // The minute has as many rounds as it has in the demo; here they only follow one another faster.
            question.settings.every = Duration::from_secs(60) / u32::try_from(MINUTE).unwrap();
            let point = BudgetCurve::at(&question, &[ms(budget)]).remove(0);
            assert_eq!(point.status, Status::Exact);
            let (lo, hi) = point.next_minute.unwrap();
            lab.apply(|s| s.budget = ms(budget)).await;
            let rounds = lab.rounds(MINUTE).await;
            let seen = rounds.iter().map(|r| r.completeness()).sum::<f64>()
                / f64::from(u32::try_from(MINUTE).unwrap());
            let within = (lo..=hi).contains(&seen);
            held += u32::from(within);
            println!(
                "{budget:>3} ms  {:>7} ({} to {})  {:>7}  {}",
                percent(point.completeness.unwrap()),
                percent(lo),
                percent(hi),
                percent(seen),
                if within { "within" } else { "outside" },
            );
        }
        println!("{held} of 10 within");
        assert!(held >= 9, "{held} of 10");
    });
}

#[test]
#[ignore = "some minutes of rounds in real time"]
fn w5_a_hedge_does_what_the_model_says() {
    block_on(async {
        let mut lab = Lab::start("tail", ms(100), 11);
        lab.rounds(600).await;
        let study = lab.question().answer().hedge.unwrap();
        assert_eq!((study.real, study.observed), (0, None), "a model and nothing else");
        let row = study.rows.iter().find(|r| r.delay == Some(HedgeDelay::Percentile(0.95))).copied().unwrap();
        let none = study.rows.iter().find(|r| r.delay.is_none()).copied().unwrap();
        lab.apply(|s| s.mode = Mode::Hedge).await;
        lab.rounds(600).await;
        let observed = lab.question().answer().hedge.unwrap().observed.unwrap();
        let word = |time: Option<Duration>| {
            time.map_or("-".to_owned(), |t| format!("{:.1} ms", t.as_secs_f64() * 1e3))
        };
        println!("          p99       extra load");
        println!("no hedge  {:>8}  {}", word(none.p99), percent(none.extra_load));
        println!("model     {:>8}  {}", word(row.p99), percent(row.extra_load));
        println!(
            "observed  {:>8}  {}  ({} to {}, {} calls, {} hedges)",
            word(observed.p99),
            percent(observed.extra_load),
            word(observed.p99_interval.0),
            word(observed.p99_interval.1),
            observed.calls,
            observed.hedges,
        );
        let (lo, hi) = observed.p99_interval;
        let p99 = row.p99.unwrap();
        assert!(lo.is_none_or(|lo| lo <= p99) && hi.is_none_or(|hi| p99 <= hi), "{p99:?} in {lo:?}..{hi:?}");
        assert!((row.extra_load - observed.extra_load).abs() <= 0.01);
        assert!(p99 < none.p99.unwrap(), "a hedge is worth it here");
    });
}

#[test]
#[ignore = "some minutes of rounds in real time"]
fn w7_probe_rounds_see_past_the_deadline() {
    block_on(async {
        let mut lab = Lab::start("shops", ms(60), 3);
        lab.rounds(200).await;
        let before = lab.at(ms(300));
        println!("without probes: {} {:?}", before.status.as_str(), before.bounds.unwrap());
        assert_eq!((before.status, before.completeness), (Status::Bounded, None));
        lab.apply(|s| s.probe = 1.0).await;
        while lab.probes < 60 {
            lab.round().await;
        }
        let after = lab.at(ms(300));
        println!(
            "after 60 probe rounds: {} {} {:?}, {} at risk",
            after.status.as_str(),
            percent(after.completeness.unwrap()),
            after.interval.unwrap(),
            after.at_risk,
        );
        assert_eq!(after.status, Status::Estimated);
        let (lo, hi) = before.bounds.unwrap();
        assert!((lo..=hi).contains(&after.completeness.unwrap()));
        // What then really runs: both are known only so well, and must agree as well as that.
        lab.apply(|s| (s.probe, s.budget) = (0.0, ms(300))).await;
        let mut seen = Mean::default();
        for round in lab.rounds(400).await {
            seen.push(round.answered(), round.calls.len());
        }
        let seen = seen.share().unwrap();
        let (from, to) = seen.interval();
        println!("at 300 ms: {} ({} to {})", percent(seen.value), percent(from), percent(to));
        let (lo, hi) = after.interval.unwrap();
        assert!(lo <= to && from <= hi, "{from}..{to} and {lo}..{hi} have nothing in common");
    });
}

#[test]
#[ignore = "some minutes of rounds in real time"]
fn w4_calls_that_are_slow_together_are_said_to_be() {
    block_on(async {
        let mut lab = Lab::start("correlated", ms(60), 5);
        lab.rounds(600).await;
        let study = lab.question().answer().quorum;
        println!("k  observed  independent");
        for row in &study.rows {
            let word = if row.correlated { "correlated" } else { "" };
            println!(
                "{}  {:>8}  {:>8}  {word}",
                row.k,
                percent(row.by_budget.unwrap()),
                percent(row.independent.unwrap())
            );
        }
        let all = study.rows.last().unwrap();
        assert!(all.correlated && all.by_budget.unwrap() > all.independent.unwrap() + 0.1);
        let few = &study.rows[2];
        assert!(few.correlated && few.by_budget.unwrap() < few.independent.unwrap() - 0.02);

        // The demo without that is not accused of it in every row.
        let mut lab = Lab::start("tail", ms(60), 5);
        lab.rounds(400).await;
        assert!(lab.question().answer().quorum.rows.iter().all(|row| !row.correlated));
    });
}
