//! How fast a recording is reported, and in how much memory: writes one of made-up rounds to a temporary file,
//! reports a quarter of it and then all of it. Asserts nothing about the numbers; fails only where something can't be
//! measured.
//!
//! `cargo bench --bench report -- [--megabytes N] [--lanes N]`

use fanscope::domain::{
    Attempt, AttemptKind, AttemptOutcome, Call, CallSpec, EndedBy, EndpointId, HedgeCounts, HttpVersion,
    Outcome, Phase, Phases, Reason, Round, RoundNo, Settings, TraceId,
};
use fanscope::headless::{Form, ReportPlan, report};
use fanscope::recording::{EndpointLine, Line};
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Measured<T> = Result<T, Box<dyn Error>>;

const BUDGET: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error that is gone leaves the exit code.
            let _ = writeln!(io::stderr(), "report: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Measured<()> {
    let megabytes = option("--megabytes")?.unwrap_or(200);
    let lanes = usize::try_from(option("--lanes")?.unwrap_or(8))?;
    let folder = tempfile::tempdir()?;
    let mut out = io::stdout().lock();
    writeln!(out, "{:>12} {:>10} {:>10} {:>12}", "recording", "time", "MB/s", "peak memory")?;
    for size in [megabytes / 4, megabytes] {
        let path = folder.path().join(format!("{size}.ndjson"));
        let written = record(&path, size * 1_000_000, lanes)?;
        let plan = ReportPlan {
            files: vec![path],
            compare: false,
            at: Vec::new(),
            quorum: None,
            form: Form::Text,
            html: None,
            force: false,
            ascii: false,
        };
        let began = Instant::now();
        report(&plan, &mut io::sink(), &mut io::sink())?;
        let took = began.elapsed();
        #[expect(clippy::cast_precision_loss, reason = "a file's size")]
        let mb = written as f64 / 1e6;
        writeln!(
            out,
            "{:>12} {:>10} {:>10.0} {:>12}",
            format!("{mb:.0} MB"),
            format!("{:.2} s", took.as_secs_f64()),
            mb / took.as_secs_f64(),
            peak()?
        )?;
    }
    Ok(())
}

fn option(name: &str) -> Measured<Option<u64>> {
    let mut words = std::env::args().skip_while(|word| word != name).skip(1);
    Ok(words.next().map(|word| word.parse()).transpose()?)
}

/// The most memory that this process has had resident, as the kernel counts it.
fn peak() -> Measured<String> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(line.ok_or("no VmHWM")?.trim().to_owned())
}

/// Numbers that are always the same.
struct Dice(u64);

impl Dice {
    /// Below `end`.
    fn roll(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end.max(1)
    }
}

/// Writes a recording of at least so many bytes.
fn record(path: &Path, bytes: u64, lanes: usize) -> Measured<u64> {
    let names: Vec<String> = (0..lanes).map(|i| format!("shop-{i}")).collect();
    let endpoint = |name: &String| EndpointLine::of(name, &CallSpec::default(), false);
    let settings = Arc::new(Settings { budget: BUDGET, ..Settings::default() });
    let mut file = BufWriter::new(File::create(path)?);
    let started = "2026-02-03T04:05:06Z";
    let first = Line::session("shops", started, names.iter().map(endpoint).collect(), &settings);
    let mut written = 0;
    let mut put = |line: &Line| -> Measured<u64> {
        let text = line.to_json_line()?;
        file.write_all(text.as_bytes())?;
        Ok(text.len() as u64)
    };
    written += put(&first)?;
    let mut dice = Dice(7);
    let mut no = 0;
    while written < bytes {
        no += 1;
        written += put(&Line::round(&round(no, &settings, lanes, &mut dice), &names))?;
    }
    file.flush()?;
    Ok(written)
}

fn round(no: u64, settings: &Arc<Settings>, lanes: usize, dice: &mut Dice) -> Round {
    let calls: Vec<Call> = (0..lanes).map(|i| call(i, dice)).collect();
    let cut = calls.iter().any(|call| call.outcome == Outcome::Missing(Reason::Deadline));
    let last = calls.iter().map(|call| call.end).max().unwrap_or_default();
    Round {
        no: RoundNo(no),
        at: Duration::from_millis(500 * no),
        start_lag: Duration::from_micros(dice.roll(900)),
        settings: Arc::clone(settings),
        budget: BUDGET,
        clamped: false,
        k: None,
        ended_by: if cut { EndedBy::Deadline } else { EndedBy::AllSettled },
        took: last + Duration::from_micros(dice.roll(600)),
        ok: true,
        quorum_impossible_at: None,
        quorum_at: None,
        overrun: None,
        lingering: 0,
        warmup: false,
        probe: None,
        arm: None,
        late: Vec::new(),
        answered_optional: calls.iter().filter(|call| call.outcome == Outcome::Ok).count(),
        failed: Vec::new(),
        calls,
    }
}

/// One in five is cut, one in twenty is reset.
fn call(endpoint: usize, dice: &mut Dice) -> Call {
    let (outcome, how, micros) = match dice.roll(20) {
        0..4 => (Outcome::Missing(Reason::Deadline), AttemptOutcome::Cancelled, 200_000 + dice.roll(300)),
        4 => (Outcome::Missing(Reason::ConnReset), AttemptOutcome::Failed, dice.roll(90_000)),
        _ => (Outcome::Ok, AttemptOutcome::Ok, 5_000 + dice.roll(170_000)),
    };
    let end = Duration::from_micros(micros);
    let mut phases = Phases::default();
    phases.add(Phase::Queued, Duration::from_micros(70));
    phases.add(Phase::Connect, Duration::from_micros(90));
    phases.add(Phase::Waiting, end.saturating_sub(Duration::from_micros(400)));
    phases.add(Phase::Body, Duration::from_micros(240));
    let failed = how == AttemptOutcome::Failed;
    let attempt = Attempt {
        replica: 0,
        kind: AttemptKind::Primary,
        start: Duration::ZERO,
        end,
        outcome: how,
        reason: outcome.reason().filter(|_| failed),
        detail: failed.then(|| "connection reset by peer (os error 104)".to_owned()),
        status: (how == AttemptOutcome::Ok).then_some(200),
        bytes: 512,
        wire_bytes: 512,
        server_timing: std::sync::Arc::default(),
        reused: Some(dice.roll(3) > 0),
        http: Some(HttpVersion::Http11),
        remote: Some(SocketAddr::from(([127, 0, 0, 1], 34_567))),
        phase: Phase::Body,
        phases,
        trace_id: TraceId::of_hex("4bf92f3577b34da6a3ce929d0e0e4736"),
        answer: None,
    };
    Call {
        endpoint: EndpointId(endpoint),
        outcome,
        end,
        phase: Phase::Waiting,
        status: None,
        late_by: None,
        hedge_delay: None,
        hedges: HedgeCounts::default(),
        winner: (outcome == Outcome::Ok).then_some(0),
        attempts: vec![attempt],
    }
}
