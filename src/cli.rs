//! Arguments and what they override. No logic of other rooms: words become values here, nothing more.

mod address;
mod init;
pub mod papers;
mod texts;

pub use init::Init;

use crate::app::{ColorChoice, ThemeName};
use crate::domain::{Ab, HedgeDelay, Mode, Speed};
use crate::profile::{Overrides, durations, quantities, variants};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Shows live how a fan-out does against its deadline: who answered in time, who is missing and why.
#[derive(Debug, Parser)]
#[command(name = "fanscope", version, after_help = texts::EXAMPLES, after_long_help = texts::MORE, args_conflicts_with_subcommands = true)]
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
    /// Where the configuration is.
    #[command(flatten)]
    pub configure: Configure,
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
    /// Write a first profile: a starter, or one made of URLs, curl commands, a HAR or an API's description
    Init(Init),
    /// Print completions for a shell
    Completions(Completions),
    /// Print a man page
    Man(Man),
}

/// `fanscope run`
#[derive(Debug, Args)]
#[command(after_help = texts::RUN, after_long_help = texts::GATES)]
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
    #[arg(long, value_name = "FILE", requires = "gates", value_hint = ValueHint::FilePath)]
    pub baseline: Option<PathBuf>,
    /// Where the configuration is.
    #[command(flatten)]
    pub configure: Configure,
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
#[command(after_help = texts::REPORT)]
pub struct Report {
    /// Recordings of one profile, also packed (.gz, .zst); `-` is standard input
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
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
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Let the page replace a file
    #[arg(long, requires = "html")]
    pub force: bool,
    /// Draw with 7-bit characters only
    #[arg(long)]
    pub ascii: bool,
    /// Where the configuration is.
    #[command(flatten)]
    pub configure: Configure,
}

/// `fanscope replay`
#[derive(Debug, Args)]
#[command(after_help = texts::REPLAY)]
pub struct Replay {
    /// A recording, perhaps still being written, or packed as .gz or .zst; - is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// How fast it is played: 1/4 to 64, in powers of two
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = speed)]
    pub speed: Speed,
    /// How it looks.
    #[command(flatten)]
    pub look: Look,
    /// Where the configuration is.
    #[command(flatten)]
    pub configure: Configure,
}

/// `fanscope demo`
#[derive(Debug, Args)]
#[command(after_help = texts::DEMO)]
pub struct Demo {
    /// How it looks.
    #[command(flatten)]
    pub look: Look,
    /// Where the configuration is.
    #[command(flatten)]
    pub configure: Configure,
}

/// `fanscope check`
#[derive(Debug, Args)]
#[command(after_help = texts::CHECK)]
pub struct Check {
    /// Paths, or names of built-in profiles
    #[arg(value_name = "PROFILE", required_unless_present = "list", value_hint = ValueHint::FilePath)]
    pub profiles: Vec<String>,
    /// List the built-in profiles
    #[arg(long)]
    pub list: bool,
    /// Where the configuration is.
    #[command(flatten)]
    pub configure: Configure,
}

/// `fanscope completions`
#[derive(Debug, Args)]
#[command(after_help = texts::COMPLETIONS)]
pub struct Completions {
    /// For which shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// `fanscope man`
#[derive(Debug, Args)]
#[command(after_help = texts::MAN)]
pub struct Man {
    /// The page of this command; without one, of the whole program
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

/// A shell that can be told how to complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// bash, with bash-completion
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
    /// PowerShell, also on Linux and macOS
    Powershell,
}

/// What to observe, and how it differs from the profile.
#[derive(Debug, Args)]
pub struct Observe {
    /// A profile (path or name of a built-in one), or URLs; without any, the built-in `shops`
    #[arg(value_name = "PROFILE|URL", value_hint = ValueHint::FilePath)]
    pub targets: Vec<String>,
    /// How long the optional calls of a round may take
    ///
    /// What has not answered by then is cut and missing, never waited for; required calls may take up to `request_budget`.
    /// A time has a unit: 200ms, 0.5s.
    #[arg(short, long, value_name = "TIME", value_parser = durations::parse)]
    pub budget: Option<Duration>,
    /// The contract: deadline, quorum, hedge, wait-all or fail-fast
    ///
    /// deadline: whatever arrived within the budget. quorum: the first k answers. hedge: a late call gets a second
    /// attempt and the first success wins. wait-all waits for everything and fail-fast ends at the first failure: both
    /// are there for contrast.
    #[arg(short, long, value_parser = mode())]
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
    ///
    /// Their results are what they would be without, at the same moment; what would have come a little later is seen, so
    /// that larger budgets can be estimated.
    #[arg(long, value_name = "SHARE", value_parser = quantities::percent)]
    pub probe: Option<f64>,
    /// Two variants that rounds have in turn: budget=150ms,250ms, or mode, quorum, hedge
    #[arg(long, value_name = "KEY=A,B", value_parser = variants::parse)]
    pub ab: Option<Ab>,
    /// A header for every request, repeatable
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// Accept any TLS certificate
    ///
    /// The header of the dashboard says so as long as it holds.
    #[arg(long)]
    pub insecure: bool,
    /// Seed of the embedded upstreams and of the choice of probe rounds
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// First rounds that are shown and recorded, and left out of every statistic
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub warmup: u64,
    /// Write every round down, a JSON object a line; packed where it ends in .gz or .zst
    ///
    /// `fanscope replay` and `fanscope report` read it. Secrets and what failed answers said are not written.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub record: Option<PathBuf>,
    /// Overwrite the file that --record names
    #[arg(long, requires = "record")]
    pub force: bool,
    /// Serve Prometheus metrics at this port (of loopback) or address
    ///
    /// A bare port listens on 127.0.0.1; 0.0.0.0:9184 is open to everybody who can reach it, without TLS or password.
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
    /// Whether to use colour: auto is as the terminal and the environment say
    #[arg(long, value_name = "WHEN", value_parser = one_of(ColorChoice::ALL.map(ColorChoice::as_str), ColorChoice::parse))]
    pub color: Option<ColorChoice>,
    /// Draw with 7-bit characters only
    #[arg(long)]
    pub ascii: bool,
    /// The theme at the start; the key t goes to the next
    #[arg(long, value_name = "NAME", value_parser = one_of(ThemeName::ALL.map(ThemeName::as_str), ThemeName::parse))]
    pub theme: Option<ThemeName>,
    /// Leave the mouse to the terminal
    #[arg(long)]
    pub no_mouse: bool,
    /// Print the configuration that holds, as a file that --config takes, and end
    #[arg(long)]
    pub print_config: bool,
}

/// What `--config` is.
const CONFIG: &str =
    "The configuration; else the file that FANSCOPE_CONFIG names, else ~/.config/fanscope/config.toml";

/// Where the configuration is.
#[derive(Debug, Args)]
pub struct Configure {
    /// The configuration file.
    #[arg(long, value_name = "FILE", help = CONFIG)]
    pub config: Option<PathBuf>,
}

/// A parser of one of these words.
fn one_of<T: Clone + Send + Sync + 'static, const N: usize>(
    words: [&'static str; N],
    parse: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words).try_map(move |word| parse(&word).ok_or("unknown"))
}

/// `--format`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A summary for people
    Text,
    /// JSON for programs: of a run one object a line, of a report one object
    Json,
}

fn some_time(word: &str) -> Result<Duration, String> {
    match durations::parse(word) {
        Ok(Duration::ZERO) => Err("no round starts within no time".to_owned()),
        Ok(time) => Ok(time),
        Err(complaint) => Err(complaint.to_string()),
    }
}

/// A mode, with names that shells complete and errors suggest.
fn mode() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.iter().map(|m| m.as_str()))
        .try_map(|word| Mode::parse(&word).ok_or("no mode has this name"))
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
