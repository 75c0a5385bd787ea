//! Arguments and what they override. No logic of other rooms: words become values here, nothing more.

mod address;

use crate::domain::{Ab, HedgeDelay, Mode, Speed};
use crate::profile::{Overrides, durations, quantities, variants};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  fanscope                                     eight built-in shops
  fanscope demo                                deadline, quorum and hedge, told in seven chapters
  fanscope page                                another built-in profile
  fanscope my.toml -m quorum -k 3              a profile of your own, as a quorum
  fanscope -b 150ms https://a.example https://b.example
  fanscope run my.toml -n 50 --format json     the same engine without a terminal
  fanscope replay incident.ndjson              the dashboard on a recording
  fanscope report monday.ndjson --html a.html  what recordings show, as text and as a page
  fanscope check my.toml                       what is wrong with it, or what it would do";

const GATES: &str = "\
Gates are METRIC OP VALUE; all of them have to hold:
  shares     completeness, partial, failed, ok.ENDPOINT, hedges.extra_load:
             completeness>=0.98, partial<=5%
  counts     rounds, skipped, missing, missing.ENDPOINT, missing.ENDPOINT.REASON and,
             of all endpoints, missing.*.REASON: missing.shop-3.deadline==0
  times      p50 to p99.9 of the rounds' time, and p99.ENDPOINT of an endpoint's answers,
             with the calls that were cut taken into account: p99<=250ms, p95.shop-3<1s
  operators  >=  <=  >  <  ==  !=
  names      with dots or odd characters stand in double quotes: missing.\"a.b\".deadline==0
  baseline   with --baseline FILE: completeness>=baseline-1%, p99<=baseline+20ms;
             times and counts also p99<=baseline*1.1
Quote an expression, or the shell takes > and < for its own.

Exit code: 0 all gates hold, 1 one does not, 3 none failed and one had no data,
2 usage or profile. Ended by a signal, the summary is written and the signal ends it.";

/// Shows live how a fan-out does against its deadline: who answered in time, who is missing and why.
#[derive(Debug, Parser)]
#[command(name = "fanscope", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do; without one, the dashboard.
    #[command(subcommand)]
    pub command: Option<CliCommand>,
    /// What to observe.
    #[command(flatten)]
    pub observe: Observe,
    /// How it looks.
    #[command(flatten)]
    pub look: Look,
}

/// What else it can do.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Run rounds without a terminal and print the result
    Run(Box<Run>),
    /// Tell the story of the budget in seven chapters, live
    Demo(Demo),
    /// Show a recording on the dashboard
    Replay(Replay),
    /// Check profiles and explain what they would do
    Check(Check),
    /// Sum up recordings
    Report(Report),
}

/// `fanscope run`
#[derive(Debug, Args)]
#[command(after_help = "--help says how gates are written.", after_long_help = GATES)]
pub struct Run {
    /// What to observe.
    #[command(flatten)]
    pub observe: Observe,
    /// Rounds to complete; without it and --for 20
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: Option<u64>,
    /// Start rounds for so long, at most -n of them
    #[arg(long = "for", value_name = "TIME", value_parser = some_time)]
    pub time: Option<Duration>,
    /// What is printed on standard output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Print with 7-bit characters only
    #[arg(long)]
    pub ascii: bool,
    /// What has to hold, such as 'completeness>=0.98'; repeatable
    #[arg(long = "gate", value_name = "EXPR")]
    pub gates: Vec<String>,
    /// A recording whose values gates may name: 'p99<=baseline+20ms'
    #[arg(long, value_name = "FILE", requires = "gates")]
    pub baseline: Option<PathBuf>,
}

impl Run {
    /// Rounds to complete: those asked for, or 20 where nothing else ends the run.
    #[must_use]
    pub fn goal(&self) -> Option<u64> {
        self.rounds.or(self.time.is_none().then_some(20))
    }
}

/// `fanscope report`
#[derive(Debug, Args)]
pub struct Report {
    /// Recordings of one profile, also packed (.gz, .zst); `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Set two recordings side by side, the older first
    #[arg(long, conflicts_with_all = ["html", "at", "quorum"])]
    pub compare: bool,
    /// Budgets to recount, such as 50ms,100ms; by default steps up to twice the one that ran
    #[arg(long, value_name = "TIME,...", value_delimiter = ',', value_parser = durations::parse)]
    pub at: Vec<Duration>,
    /// Answers that are enough; by default as recorded
    #[arg(short = 'k', long, value_name = "K")]
    pub quorum: Option<usize>,
    /// What is printed on standard output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write a page as well; nothing in it is loaded from elsewhere
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Let the page replace a file
    #[arg(long, requires = "html")]
    pub force: bool,
    /// Draw with 7-bit characters only
    #[arg(long)]
    pub ascii: bool,
}

/// `fanscope replay`
#[derive(Debug, Args)]
pub struct Replay {
    /// A recording, perhaps still being written, or packed as .gz or .zst; - is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// How fast it is played: 1/4 to 64, in powers of two
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = speed)]
    pub speed: Speed,
    /// How it looks.
    #[command(flatten)]
    pub look: Look,
}

/// `fanscope demo`
#[derive(Debug, Args)]
pub struct Demo {
    /// How it looks.
    #[command(flatten)]
    pub look: Look,
}

/// `fanscope check`
#[derive(Debug, Args)]
pub struct Check {
    /// Paths, or names of built-in profiles
    #[arg(value_name = "PROFILE", required_unless_present = "list")]
    pub profiles: Vec<String>,
    /// List the built-in profiles
    #[arg(long)]
    pub list: bool,
}

/// What to observe, and how it differs from the profile.
#[derive(Debug, Args)]
pub struct Observe {
    /// A profile (path or name of a built-in one), or URLs; without any, the built-in `shops`
    #[arg(value_name = "PROFILE|URL")]
    pub targets: Vec<String>,
    /// How long the optional calls of a round may take
    #[arg(short, long, value_name = "TIME", value_parser = durations::parse)]
    pub budget: Option<Duration>,
    /// The contract: deadline, quorum, hedge, wait-all or fail-fast
    #[arg(short, long, value_parser = mode)]
    pub mode: Option<Mode>,
    /// Answers that are enough in quorum mode
    #[arg(short = 'k', long, value_name = "K")]
    pub quorum: Option<usize>,
    /// When a hedge is sent in hedge mode: a time, a percentile such as p95, or 0ms for a race
    #[arg(long, value_name = "DELAY", value_parser = quantities::hedge_delay)]
    pub hedge_delay: Option<HedgeDelay>,
    /// From one round's start to the next; 0ms: when the last has ended
    #[arg(long, value_name = "TIME", value_parser = durations::parse)]
    pub every: Option<Duration>,
    /// Share of the rounds whose stragglers are watched past the budget, such as 5%
    #[arg(long, value_name = "SHARE", value_parser = quantities::percent)]
    pub probe: Option<f64>,
    /// Two variants that rounds have in turn: budget=150ms,250ms, or mode, quorum, hedge
    #[arg(long, value_name = "KEY=A,B", value_parser = variants::parse)]
    pub ab: Option<Ab>,
    /// A header for every request, repeatable
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// Accept any TLS certificate
    #[arg(long)]
    pub insecure: bool,
    /// Seed of the embedded upstreams and of the choice of probe rounds
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// First rounds that are shown and recorded, and left out of every statistic
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub warmup: u64,
    /// Write every round down, a JSON object a line; packed where it ends in .gz or .zst
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Overwrite the file that --record names
    #[arg(long, requires = "record")]
    pub force: bool,
    /// Serve Prometheus metrics at this port (of loopback) or address
    #[arg(long, value_name = "ADDR", value_parser = address::parse)]
    pub metrics: Option<SocketAddr>,
}

impl Observe {
    /// What the flags change.
    #[must_use]
    pub fn overrides(&self) -> Overrides {
        Overrides {
            budget: self.budget,
            mode: self.mode,
            quorum: self.quorum,
            hedge_delay: self.hedge_delay,
            every: self.every,
            probe: self.probe,
            ab: self.ab,
            seed: self.seed,
            insecure: self.insecure,
        }
    }
}

/// How the dashboard looks.
#[derive(Debug, Args)]
pub struct Look {
    /// Whether to use colour
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,
    /// Draw with 7-bit characters only
    #[arg(long)]
    pub ascii: bool,
}

/// `--color`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// As the terminal and the environment say
    Auto,
    /// Even where they say no
    Always,
    /// None
    Never,
}

/// `--format`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A summary for people
    Text,
    /// One JSON object a line
    Json,
}

fn some_time(word: &str) -> Result<Duration, String> {
    match durations::parse(word) {
        Ok(Duration::ZERO) => Err("no round starts within no time".to_owned()),
        Ok(time) => Ok(time),
        Err(complaint) => Err(complaint.to_string()),
    }
}

fn mode(word: &str) -> Result<Mode, String> {
    let known = || Mode::ALL.iter().map(|m| m.as_str()).collect::<Vec<_>>().join(", ");
    Mode::parse(word).ok_or_else(|| format!("the modes are {}", known()))
}

fn speed(word: &str) -> Result<Speed, String> {
    let known = || Speed::all().map(|s| s.to_string()).collect::<Vec<_>>().join(", ");
    Speed::parse(word).ok_or_else(|| format!("the speeds are {}", known()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn flags_become_values() {
        let cli = Cli::try_parse_from(["fanscope", "-b", "150ms", "-m", "quorum", "-k3", "a.toml"]).unwrap();
        let o = cli.observe.overrides();
        assert_eq!(
            (o.budget, o.mode, o.quorum),
            (Some(Duration::from_millis(150)), Some(Mode::Quorum), Some(3))
        );
        assert_eq!(cli.observe.targets, ["a.toml"]);
        let race = Cli::try_parse_from(["fanscope", "run", "replicas", "--hedge-delay", "0ms"]).unwrap();
        let Some(CliCommand::Run(run)) = race.command else { panic!("not run") };
        assert!(run.observe.hedge_delay.unwrap().is_race());
        let soon = Cli::try_parse_from(["fanscope", "--every", "0ms"]).unwrap();
        assert_eq!(soon.observe.every, Some(Duration::ZERO));
    }

    #[test]
    fn a_run_has_an_end() {
        let goal = |args: &[&str]| {
            let cli = Cli::try_parse_from(["fanscope", "run"].iter().chain(args)).unwrap();
            let Some(CliCommand::Run(run)) = cli.command else { panic!("not run") };
            (run.goal(), run.time)
        };
        assert_eq!(goal(&[]), (Some(20), None));
        assert_eq!(goal(&["--for", "30s"]), (None, Some(Duration::from_secs(30))));
        assert_eq!(goal(&["--for", "30s", "-n", "7"]), (Some(7), Some(Duration::from_secs(30))));
    }

    #[test]
    fn bad_values_say_what_they_should_be() {
        for (args, says) in [
            (["-b", "200"], "unit"),
            (["-b", "10ss"], "10ss"),
            (["-m", "quorm"], "deadline, quorum"),
            (["--hedge-delay", "p0"], "p0"),
            (["--metrics", "a.example:9184"], "an IP address"),
            (["--probe", "5"], "'5' for '--probe <SHARE>': `5` has no percent sign"),
            (["--ab", "budgt=1ms,2ms"], "'--ab <KEY=A,B>': `budgt` can't be varied; did you mean `budget`?"),
        ] {
            let error = Cli::try_parse_from(["fanscope"].into_iter().chain(args)).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
