//! Completions and man pages, written from the definition of the command line, so that they say what holds.

use super::{Cli, Shell};
use clap::{Command, CommandFactory};
use std::io::{self, Write};

/// Writes the completions for a shell.
///
/// # Errors
/// Where nothing can be written to `out`.
pub fn completions(shell: Shell, out: &mut impl Write) -> io::Result<()> {
    let mut text = Vec::new();
    let shell = match shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
        Shell::Powershell => clap_complete::Shell::PowerShell,
    };
    // It ends the program where it can't write, which a vector does not do.
    clap_complete::generate(shell, &mut Cli::command(), "fanscope", &mut text);
    out.write_all(&text)
}

/// Writes the man page of a command, or of the program, in roff. False where there is no such command.
///
/// # Errors
/// Where nothing can be written to `out`.
pub fn man(command: Option<&str>, out: &mut impl Write) -> io::Result<bool> {
    let mut whole = Cli::command().disable_help_subcommand(true);
    whole.build();
    let page = match command {
        None => Some(&whole),
        Some(name) => whole.find_subcommand(name),
    };
    let Some(page) = page else { return Ok(false) };
    clap_mangen::Man::new(page.clone()).render(out)?;
    Ok(true)
}

/// The names of all commands.
#[must_use]
pub fn commands() -> Vec<String> {
    Cli::command().get_subcommands().map(|c: &Command| c.get_name().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;
    use std::collections::BTreeMap;
    use std::path::Path;

    fn page(command: Option<&str>) -> String {
        let mut text = Vec::new();
        assert!(man(command, &mut text).unwrap(), "no page of {command:?}");
        String::from_utf8(text).unwrap()
    }

    fn completed(shell: Shell) -> String {
        let mut text = Vec::new();
        completions(shell, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    /// Every file that is kept, as it should be.
    fn papers() -> BTreeMap<String, String> {
        let mut papers = BTreeMap::from([("man/fanscope.1".to_owned(), page(None))]);
        for command in commands() {
            papers.insert(format!("man/fanscope-{command}.1"), page(Some(&command)));
        }
        let names = ["fanscope.bash", "_fanscope", "fanscope.fish", "_fanscope.ps1"];
        for (shell, name) in Shell::value_variants().iter().zip(names) {
            papers.insert(format!("completions/{name}"), completed(*shell));
        }
        papers
    }

    #[test]
    fn the_completions_and_man_pages_that_are_kept_are_those_of_the_definition() {
        let update = std::env::var_os("UPDATE_ASSETS").is_some();
        for (name, now) in papers() {
            let file = Path::new("assets").join(&name);
            if update {
                std::fs::write(&file, &now).unwrap();
            }
            let kept = std::fs::read_to_string(&file).unwrap_or_default();
            assert!(kept == now, "assets/{name} is old: run the tests with UPDATE_ASSETS=1 and commit it");
        }
    }

    #[test]
    fn every_command_and_every_option_is_completed_in_every_shell() {
        for shell in Shell::value_variants() {
            let text = completed(*shell);
            for command in commands() {
                assert!(text.contains(&command), "{shell:?} does not know {command}");
            }
            let options = Cli::command();
            for long in options.get_arguments().filter_map(|a| a.get_long()) {
                assert!(text.contains(long), "{shell:?} does not know --{long}");
            }
            assert!(text.contains("fail-fast"), "{shell:?} does not know the modes");
        }
    }

    #[test]
    fn a_page_has_the_options_and_their_long_explanations() {
        let main = page(None);
        for part in [".TH fanscope 1", "SYNOPSIS", "\\-\\-budget", "NO_COLOR", "fanscope\\-run(1)"] {
            assert!(main.contains(part), "{part} is missing from\n{main}");
        }
        assert!(page(Some("run")).contains("missing.shop"), "the grammar of gates is missing");
        assert!(!man(Some("rnu"), &mut Vec::new()).unwrap());
    }
}
