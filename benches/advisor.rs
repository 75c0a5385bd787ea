//! What it takes to answer what other budgets, quorums and hedges would have given, from as many rounds as are looked
//! at. To be well below the half second between two answers: 20 ms on one core.

#[path = "support/rounds.rs"]
mod rounds;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use fanscope::domain::{CallSpec, HedgeContract, Late, Mode, Outcome, Reason, Round, Settings};
use fanscope::whatif::outlook::Question;
use fanscope::whatif::seen::{ROUNDS, Sample};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rounds::{BUDGET, round, settings};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

/// Of so many rounds one is watched past its end.
const PROBES: u64 = 20;

/// One that is watched: what was cut answers within twice the budget more.
fn probe(mut round: Round, dice: &mut ChaCha8Rng) -> Round {
    round.probe = Some(round.settings.watch());
    let cut = round.calls.iter().filter(|call| call.outcome == Outcome::Missing(Reason::Deadline));
    let late = cut.map(|call| Late {
        endpoint: call.endpoint,
        outcome: Outcome::Ok,
        end: BUDGET + Duration::from_micros(u64::from(dice.next_u32() % 400_000)),
    });
    round.late = late.collect();
    round
}

/// A quorum of half the calls: whatever came after it was not needed.
fn quorum(mut round: Round) -> Round {
    round.settings = Arc::new(Settings { mode: Mode::Quorum, ..Settings::clone(&round.settings) });
    let ok = round.calls.iter().filter(|call| call.outcome == Outcome::Ok);
    let mut ends: Vec<Duration> = ok.map(|call| call.end).collect();
    ends.sort_unstable();
    let Some(&end) = ends.get(round.calls.len() / 2) else { return round };
    for call in round.calls.iter_mut().filter(|call| call.end > end) {
        (call.outcome, call.end) = (Outcome::NotNeeded, end);
        for attempt in &mut call.attempts {
            (attempt.end, attempt.outcome) = (end, fanscope::domain::AttemptOutcome::Cancelled);
        }
    }
    round
}

fn question(calls: usize, mode: Mode) -> Question {
    let (settings, mut dice) = (settings(), ChaCha8Rng::seed_from_u64(7));
    let mut sample = Sample::default();
    for no in 1..=ROUNDS as u64 {
        let mut round = round(no, calls, &settings, &mut dice);
        if no.is_multiple_of(PROBES) {
            round = probe(round, &mut dice);
        }
        sample.push(&if mode == Mode::Quorum { quorum(round) } else { round });
    }
    let hedge = HedgeContract::ByMode;
    let spec = CallSpec { required: false, timeout: None, replicas: 2, repeatable: true, hedge };
    Question {
        rounds: sample.rounds().iter().cloned().collect(),
        now: Duration::from_secs(600),
        settings: Settings { mode, ..Settings::clone(&settings) },
        names: (0..calls).map(|i| format!("endpoint-{i}")).collect(),
        specs: vec![spec; calls],
    }
}

fn answer(c: &mut Criterion) {
    let mut group = c.benchmark_group("answer");
    group.sample_size(30);
    for (calls, mode) in [(8, Mode::Deadline), (64, Mode::Deadline), (64, Mode::Quorum)] {
        let question = question(calls, mode);
        let name = BenchmarkId::from_parameter(format!("{ROUNDS} rounds of {calls} calls, {mode}"));
        group.bench_function(name, |b| b.iter(|| black_box(&question).answer()));
    }
    group.finish();
}

criterion_group!(advisor, answer);
criterion_main!(advisor);
