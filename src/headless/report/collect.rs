//! Reads recordings, each in one pass, and folds them into one observation. What is kept does not grow with the
//! rounds: sums, curves in bounded memory, the worst rounds, columns of time, the first notes.

use super::error::ReportError;
use super::estimates::Estimates;
use super::history::History;
use super::sample::{self, Sample};
use super::worst::Worst;
use crate::domain::event::Vitals;
use crate::domain::{Arm, Round, Settings, text};
use crate::recording::{ReadError, Reader, Record, SessionLine, SummaryFold, SummaryLine, open};
use crate::stats::{Blame, Hint, Remedy, Stats, Window};
use crate::whatif::recount::Recount;
use crate::whatif::seen::Seen;
use crate::whatif::shares::Mean;
use std::cell::OnceCell;
use std::fs;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Steps of the budget table where none were asked for, and the multiple of the budget that they end at.
const STEPS: u32 = 20;
const UP_TO: u32 = 2;

/// Notes and changes of settings of a file that are kept.
const HAPPENINGS: usize = 200;

/// What is asked about the recordings.
#[derive(Debug, Clone, Default)]
pub(super) struct Question {
    /// Budgets to recount; by default steps up to twice the one that ran first.
    pub(super) at: Vec<Duration>,
    /// Answers that are enough; by default as the recording says.
    pub(super) quorum: Option<usize>,
}

/// What was said or changed in the course of a recording.
#[derive(Debug, Clone)]
pub(super) enum Happening {
    /// A note.
    Note(String),
    /// Settings from the next round on.
    Settings(Arc<Settings>),
}

/// What one file says of itself.
#[derive(Debug)]
pub(super) struct FilePart {
    /// Its name, safe to show.
    pub(super) name: String,
    /// Its first session.
    pub(super) session: Arc<SessionLine>,
    /// The settings that it began with.
    pub(super) settings: Arc<Settings>,
    /// Those that joined recordings in it began with, where they are others; the first [`HAPPENINGS`].
    pub(super) joined: Vec<Arc<Settings>>,
    /// Its own figures.
    pub(super) summary: SummaryLine,
    /// Rounds left out because they warm up.
    pub(super) warmup: u64,
    /// Rounds left out because they were given up.
    pub(super) aborted: u64,
    /// When its last round ended, from the session's start. Joined recordings follow one another, without the time
    /// that lay between them.
    pub(super) length: Duration,
    /// Its rounds over time.
    pub(super) history: History,
    /// What happened, the first [`HAPPENINGS`].
    pub(super) happenings: Vec<(Duration, Happening)>,
    /// What happened beside those.
    pub(super) more_happenings: usize,
    /// What is the matter with its last rounds.
    pub(super) hints: Vec<Hint>,
    /// What was left out at its cut end.
    pub(super) left_out: Option<String>,
}

/// Who held rounds up, by endpoint in profile order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// Rounds in which it was the last to answer and nothing was cut.
    pub(super) last: u64,
    /// Rounds in which it was cut.
    pub(super) cut: u64,
    /// Rounds in which nothing was missing but its call.
    pub(super) alone: u64,
}

/// Everything that was read, as one observation.
#[derive(Debug)]
pub(super) struct Collected {
    /// The files, in the order in which they were given; at least one.
    pub(super) files: Vec<FilePart>,
    /// The session of the first.
    pub(super) session: Arc<SessionLine>,
    /// What its first round was asked to do.
    pub(super) settings: Arc<Settings>,
    /// Endpoints that need not answer.
    pub(super) optional: usize,
    /// Answers asked about.
    pub(super) k: usize,
    /// All rounds.
    pub(super) fold: SummaryFold,
    /// Their figures.
    pub(super) summary: SummaryLine,
    /// Their completeness, with how sure one may be of it.
    pub(super) mean: Mean,
    /// What other budgets would have given.
    pub(super) recount: Recount,
    /// What estimates are made from.
    pub(super) sample: Sample,
    /// How far past their start rounds were watched, where any were.
    pub(super) watched: Option<Duration>,
    /// The worst of them.
    pub(super) worst: Worst,
    /// Who held them up, by endpoint.
    pub(super) held: Vec<Held>,
    /// Rounds in which nothing was missing.
    pub(super) complete: u64,
    /// What other budgets, quorums and hedges would have given, once somebody asked.
    estimates: OnceCell<Estimates>,
}

impl Collected {
    /// Reads the files one after the other.
    ///
    /// # Errors
    /// The first thing that is not as it should be.
    pub(super) fn read(paths: &[PathBuf], question: &Question) -> Result<Self, ReportError> {
        let mut all: Option<Self> = None;
        for path in paths {
            let name = text::source(path);
            let input = match open(path) {
                Ok(input) => input,
                Err(source) => return Err(ReportError::Open { file: name, source }),
            };
            let mut reader = Reader::new(input);
            let read = |source| ReportError::Read { file: name.clone(), source };
            let Some(Record::Session(session)) = reader.next_record().map_err(read)? else {
                return Err(read(ReadError::Empty));
            };
            let settings = Arc::clone(reader.context().settings());
            let whole = match &mut all {
                Some(whole) => {
                    whole.same_endpoints(&session, &name)?;
                    whole
                }
                none => none.insert(Self::begin(&session, &settings, question, &name)?),
            };
            let place = whole.files.len();
            let alone = paths.len() == 1;
            let part =
                whole.part(&mut reader, (place, alone), name.clone(), (session, settings)).map_err(read)?;
            whole.files.push(part);
        }
        let mut all = all.ok_or(ReportError::Nothing)?;
        all.end();
        Ok(all)
    }

    fn begin(
        session: &Arc<SessionLine>,
        settings: &Arc<Settings>,
        question: &Question,
        file: &str,
    ) -> Result<Self, ReportError> {
        let names: Vec<String> = session.endpoints.iter().map(|e| e.name.clone()).collect();
        let required: Vec<bool> = session.endpoints.iter().map(|e| e.required).collect();
        let optional = required.iter().filter(|required| !**required).count();
        let k = match question.quorum {
            Some(k) if k < 1 || k > optional => {
                return Err(ReportError::Quorum { k, optional, file: file.to_owned() });
            }
            Some(k) => k,
            None => settings.quorum_of(optional),
        };
        let step = |i: u32| settings.budget.saturating_mul(UP_TO * i) / STEPS;
        // Two budgets that take turns need not be among the steps about a third.
        let in_turn = Arm::ALL.iter().map(|&arm| settings.of_arm(arm).budget);
        let steps: Vec<Duration> = if question.at.is_empty() {
            (1..=STEPS).map(step).chain(in_turn).collect()
        } else {
            question.at.clone()
        };
        Ok(Self {
            files: Vec::new(),
            session: Arc::clone(session),
            settings: Arc::clone(settings),
            optional,
            k,
            fold: SummaryFold::new(&names),
            summary: SummaryLine::default(),
            mean: Mean::default(),
            recount: Recount::new(&steps, k, &required),
            sample: Sample::new(names.len(), sample::CALLS),
            watched: None,
            worst: Worst::default(),
            held: vec![Held::default(); names.len()],
            complete: 0,
            estimates: OnceCell::new(),
        })
    }

    fn same_endpoints(&self, session: &SessionLine, file: &str) -> Result<(), ReportError> {
        let Some(difference) = difference(&self.session, session) else { return Ok(()) };
        let first = self.files.first().map(|f| f.name.clone()).unwrap_or_default();
        Err(ReportError::Endpoints { first, other: file.to_owned(), difference })
    }

    /// Reads the rest of a file; `alone` where there is no other one, so that its figures are those of all.
    fn part(
        &mut self,
        reader: &mut Reader<Box<dyn BufRead + Send>>,
        (place, alone): (usize, bool),
        name: String,
        (session, settings): (Arc<SessionLine>, Arc<Settings>),
    ) -> Result<FilePart, ReadError> {
        let names: Vec<String> = session.endpoints.iter().map(|e| e.name.clone()).collect();
        let mut own = (!alone).then(|| SummaryFold::new(&names));
        let mut stats = Stats::new(names.len());
        let mut part = FilePart {
            name,
            session,
            settings,
            joined: Vec::new(),
            summary: SummaryLine::default(),
            warmup: 0,
            aborted: 0,
            length: Duration::ZERO,
            history: History::default(),
            happenings: Vec::new(),
            more_happenings: 0,
            hints: Vec::new(),
            left_out: None,
        };
        let mut held = Arc::clone(&part.settings);
        // Where the session that is read began.
        let mut begun = Duration::ZERO;
        // Each place skips and connects for itself.
        self.fold.begin();
        while let Some(record) = reader.next_record()? {
            match record {
                Record::Round(mut round, total) => {
                    self.sample.reached(round.at.saturating_add(round.took));
                    let seen = round.counts().then(|| Seen::of(&round));
                    round.at = round.at.saturating_add(begun);
                    for fold in own.iter_mut().chain([&mut self.fold]) {
                        fold.skipped(total);
                        fold.push(&round);
                    }
                    part.length = part.length.max(round.at.saturating_add(round.took));
                    if let Some(seen) = seen {
                        stats.fold(&round, Vitals::default());
                        part.history.push(&round);
                        self.round(place, round, seen);
                    } else {
                        part.warmup += u64::from(round.warmup);
                        part.aborted += u64::from(!round.warmup);
                    }
                }
                Record::Settings(at, settings) => {
                    // A session may begin by saying once more what holds.
                    if settings != held {
                        part.happened(begun.saturating_add(at), Happening::Settings(Arc::clone(&settings)));
                    }
                    held = settings;
                }
                Record::Late(round, late) => {
                    own.iter_mut().chain([&mut self.fold]).for_each(|fold| fold.late(round, &late));
                    self.sample.late(round, late);
                }
                Record::Note(at, text) => part.happened(begun.saturating_add(at), Happening::Note(text)),
                // Recordings that were joined.
                Record::Session(_) => {
                    own.iter_mut().chain([&mut self.fold]).for_each(SummaryFold::begin);
                    self.sample.end();
                    begun = part.length;
                    held = Arc::clone(reader.context().settings());
                    part.joins(&held);
                }
                Record::Summary(_) => {}
            }
        }
        self.sample.end();
        part.summary = own.as_ref().unwrap_or(&self.fold).summary(Vec::new());
        part.left_out = reader.left_out().map(str::to_owned);
        part.hints = stats.hints();
        part.hints.retain(|hint| !has_breaker(&part.session, hint));
        self.blame(&stats.blame(Window::Start));
        Ok(part)
    }

    fn round(&mut self, file: usize, round: Box<Round>, seen: Seen) {
        self.mean.push(round.answered(), round.calls.len());
        self.recount.add(&seen);
        self.watched = self.watched.max(round.probe);
        self.sample.push(&round, seen);
        self.worst.push(file, round);
    }

    fn blame(&mut self, blame: &Blame) {
        self.complete += blame.complete;
        for row in &blame.rows {
            if let Some(held) = self.held.get_mut(row.endpoint.index()) {
                held.last += row.last;
                held.cut += row.cut;
                held.alone += row.alone;
            }
        }
    }

    fn end(&mut self) {
        self.summary = self.fold.summary(Vec::new());
    }

    /// What other budgets, quorums and hedges would have given. Asked for once everything has been read.
    pub(super) fn estimates(&self) -> &Estimates {
        self.estimates.get_or_init(|| Estimates::of(self))
    }

    /// Rounds left out because they warm up, and because they were given up.
    pub(super) fn not_counted(&self) -> (u64, u64) {
        let sum = |of: fn(&FilePart) -> u64| self.files.iter().map(of).sum();
        (sum(|f| f.warmup), sum(|f| f.aborted))
    }
}

impl FilePart {
    fn joins(&mut self, settings: &Arc<Settings>) {
        let known = *settings == self.settings || self.joined.contains(settings);
        if !known && self.joined.len() < HAPPENINGS {
            self.joined.push(Arc::clone(settings));
        }
    }

    fn happened(&mut self, at: Duration, what: Happening) {
        if self.happenings.len() < HAPPENINGS {
            self.happenings.push((at, what));
        } else {
            self.more_happenings += 1;
        }
    }
}

/// Whether a hint asks for a breaker that is there already.
fn has_breaker(session: &SessionLine, hint: &Hint) -> bool {
    hint.remedy == Remedy::AddBreaker
        && session.endpoints.get(hint.endpoint.index()).is_some_and(|endpoint| endpoint.breaker)
}

/// Checks that no file stands there twice, under whatever names.
///
/// # Errors
/// Which does.
pub(super) fn each_once(paths: &[PathBuf]) -> Result<(), ReportError> {
    let mut seen: Vec<(PathBuf, &PathBuf)> = Vec::new();
    for path in paths {
        // What can't be found is said when it is opened; `-` is no file.
        let found = if path == Path::new("-") { None } else { fs::canonicalize(path).ok() };
        let place = found.unwrap_or_else(|| path.clone());
        if let Some((_, first)) = seen.iter().find(|(known, _)| *known == place) {
            let (first, other) = (text::source(first), text::source(path));
            return Err(if first == other {
                ReportError::Twice(first)
            } else {
                ReportError::Same { first, other }
            });
        }
        seen.push((place, path));
    }
    Ok(())
}

/// How the endpoints of two recordings differ.
fn difference(one: &SessionLine, other: &SessionLine) -> Option<String> {
    let names = |session: &SessionLine| session.endpoints.iter().map(|e| e.name.clone()).collect::<Vec<_>>();
    let (ours, theirs) = (names(one), names(other));
    let (lacking, added) = (without(&ours, &theirs), without(&theirs, &ours));
    if !lacking.is_empty() || !added.is_empty() {
        let parts = [("it has no ", lacking), ("it also has ", added)];
        let parts = parts.iter().filter(|(_, names)| !names.is_empty());
        return Some(
            parts.map(|(what, names)| format!("{what}{}", names.join(", "))).collect::<Vec<_>>().join("; "),
        );
    }
    if ours != theirs {
        return Some("they stand in another order".to_owned());
    }
    let mut pairs = one.endpoints.iter().zip(&other.endpoints);
    let differs = pairs.find(|(a, b)| a.required != b.required)?;
    let word = if differs.1.required { "is required in it" } else { "is not required in it" };
    Some(format!("{} {word}", differs.1.name))
}

/// The names of the first list that the second lacks: a few, and how many more.
pub(super) fn without(names: &[String], others: &[String]) -> Vec<String> {
    const SHOWN: usize = 3;
    let lacking: Vec<&String> = names.iter().filter(|name| !others.contains(name)).collect();
    let mut shown: Vec<String> = lacking.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if lacking.len() > SHOWN {
        shown.push(format!("{} more", lacking.len() - SHOWN));
    }
    shown
}
