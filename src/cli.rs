//! Arguments and what they override. No logic of other rooms: words become values here, nothing more.

use crate::domain::{HedgeDelay, Mode, Speed};
use crate::profile::{Overrides, durations, quantities};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  fanscope                                     the built-in demo
  fanscope page                                another built-in profile
  fanscope my.toml -m quorum -k 3              a profile of your own, as a quorum
  fanscope -b 150ms https://a.example https://b.example
  fanscope run my.toml -n 50 --format json     the same engine without a terminal
  fanscope replay incident.ndjson              the dashboard on a recording
  fanscope check my.toml                       what is wrong with it, or what it would do";

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
    Run(Run),
    /// Show a recording on the dashboard
    Replay(Replay),
    /// Check profiles and explain what they would do
    Check(Check),
}

/// `fanscope run`
#[derive(Debug, Args)]
pub struct Run {
    /// What to observe.
    #[command(flatten)]
    pub observe: Observe,
    /// Rounds to complete
    #[arg(short = 'n', long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: u64,
    /// What is printed on standard output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
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
    /// A header for every request, repeatable
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// Accept any TLS certificate
    #[arg(long)]
    pub insecure: bool,
    /// Seed of the embedded upstreams
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
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
    fn bad_values_say_what_they_should_be() {
        for (args, says) in [
            (["-b", "200"], "unit"),
            (["-b", "10ss"], "10ss"),
            (["-m", "quorm"], "deadline, quorum"),
            (["--hedge-delay", "p0"], "p0"),
        ] {
            let error = Cli::try_parse_from(["fanscope"].into_iter().chain(args)).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
