//! What help says beside the options: examples, the environment, the grammar of gates.

/// After the short help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fanscope                                     eight built-in shops
  fanscope demo                                deadline, quorum and hedge, told in seven chapters
  fanscope init -o my.toml                     a first profile of your own, with comments
  fanscope my.toml -m quorum -k 3              watch it, as a quorum
  fanscope -b 150ms https://a.example https://b.example
  fanscope run my.toml -n 50 --format json     the same engine without a terminal

--help says more.";

/// After the long help.
pub(super) const MORE: &str = "\
Examples:
  fanscope                                     eight built-in shops
  fanscope demo                                deadline, quorum and hedge, told in seven chapters
  fanscope page                                another built-in profile
  fanscope my.toml -m quorum -k 3              a profile of your own, as a quorum
  fanscope -b 150ms https://a.example https://b.example
  fanscope run my.toml -n 50 --format json     the same engine without a terminal
  fanscope replay incident.ndjson              the dashboard on a recording
  fanscope report monday.ndjson --html a.html  what recordings show, as text and as a page
  fanscope check my.toml                       what is wrong with it, or what it would do
  fanscope init -o my.toml                     a first profile, with comments

Environment:
  FANSCOPE_CONFIG                       the configuration file; empty: none
  NO_COLOR, CLICOLOR_FORCE, COLORTERM   whether there are colours, and how many; --color beats them
  LC_ALL, LC_CTYPE, LANG                a locale without UTF-8 gets 7-bit characters
  what a profile names as ${VAR}        values that are not to stand in a file

Exit code: 0 done, 2 usage, profile or output, 70 a fault of fanscope itself. `fanscope run` has more.
In the dashboard ? lists all keys and q quits.";

/// After the help of `run`.
pub(super) const RUN: &str = "\
Examples:
  fanscope run my.toml -n 50
  fanscope run my.toml --for 30s --warmup 5 --gate 'completeness>=0.98' --gate 'p99<=250ms'
  fanscope run my.toml --for 24h --metrics 9184

--help says how gates are written.";

/// After the long help of `run`.
pub(super) const GATES: &str = "\
Examples:
  fanscope run my.toml -n 50
  fanscope run my.toml --for 30s --warmup 5 --gate 'completeness>=0.98' --gate 'p99<=250ms'
  fanscope run my.toml --baseline monday.ndjson --gate 'p99<=baseline+20ms'
  fanscope run my.toml --for 24h --metrics 9184

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

/// After the help of `demo`.
pub(super) const DEMO: &str = "\
Examples:
  fanscope demo                        Enter turns to the next chapter, PageUp back, q quits
  fanscope demo --theme high-contrast  for a projector";

/// After the help of `replay`.
pub(super) const REPLAY: &str = "\
Examples:
  fanscope replay monday.ndjson.gz             space plays and pauses, < > change the speed, ? has the rest
  fanscope replay incident.ndjson --speed 4    also while it is still being written
  zstdcat a.zst | fanscope replay -";

/// After the help of `report`.
pub(super) const REPORT: &str = "\
Examples:
  fanscope report monday.ndjson.gz --html monday.html
  fanscope report fra.ndjson nyc.ndjson                   one observation from two places
  fanscope report --compare monday.ndjson tuesday.ndjson  what is more than chance
  fanscope report monday.ndjson --at 150ms,300ms -k 3     other budgets, another quorum";

/// After the help of `check`.
pub(super) const CHECK: &str = "\
Examples:
  fanscope check my.toml     every error with its place, or what the profile would do
  fanscope check --list";

/// After the help of `completions`.
pub(super) const COMPLETIONS: &str = "\
Examples:
  fanscope completions bash > ~/.local/share/bash-completion/completions/fanscope
  fanscope completions zsh > ~/.zfunc/_fanscope            with ~/.zfunc in $fpath
  fanscope completions fish > ~/.config/fish/completions/fanscope.fish
  fanscope completions powershell >> $PROFILE";

/// After the help of `man`.
pub(super) const MAN: &str = "\
Examples:
  fanscope man | man -l -
  fanscope man run > fanscope-run.1";
