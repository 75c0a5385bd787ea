//! Faults in other words of the command line, shown like those of a profile: the argument itself, a mark under
//! what is wrong, what to do about it.

use super::error::{Problem, Problems, ProfileErrors};
use super::source::{Source, Span};

/// What is wrong with an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentFault {
    /// Which argument of those that were looked at, from 0.
    pub argument: usize,
    /// Where in it, in bytes; empty for a place at which something is lacking.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What to do about it; may be empty.
    pub help: Vec<String>,
}

/// Renders the faults of arguments to one option, such as `--gate`; `None` where there are none.
#[must_use]
pub fn argument_faults(
    option: &str,
    arguments: &[String],
    faults: &[ArgumentFault],
) -> Option<ProfileErrors> {
    // A line each, so a line break within one must not look like the end of it.
    let lines: Vec<String> = arguments.iter().map(|text| text.replace(['\n', '\r'], " ")).collect();
    let starts: Vec<usize> = lines
        .iter()
        .scan(0, |at, line| {
            let start = *at;
            *at += line.len() + 1;
            Some(start)
        })
        .collect();
    let column = |fault: &ArgumentFault| {
        let line = lines.get(fault.argument).map_or("", String::as_str);
        line.get(..fault.span.start).map_or(line.len(), |before| before.chars().count()) + 1
    };
    let text = lines.join("\n");
    let labels = (0..lines.len()).map(|i| {
        let first = faults.iter().find(|fault| fault.argument == i);
        first.map_or_else(|| option.to_owned(), |fault| format!("{option}, column {}", column(fault)))
    });
    let source = Source::arguments(labels.collect(), &text);
    let mut problems = Problems::default();
    for fault in faults {
        let start = starts.get(fault.argument).copied().unwrap_or(0);
        let span = start + fault.span.start..start + fault.span.end;
        let problem = Problem::at(&span, fault.message.clone());
        problems.push(fault.help.iter().fold(problem, |problem, help| problem.help(help.clone())));
    }
    (!problems.is_empty()).then(|| problems.render(&source))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(argument: usize, span: Span, message: &str) -> ArgumentFault {
        ArgumentFault { argument, span, message: message.to_owned(), help: vec!["do better".to_owned()] }
    }

    #[test]
    fn every_fault_is_shown_under_its_argument() {
        let arguments = ["good".to_owned(), "ü\nbad \u{1b}".to_owned(), "end".to_owned()];
        let faults = [fault(1, 3..6, "this is bad"), fault(2, 3..3, "this is short")];
        let shown = argument_faults("--gate", &arguments, &faults).unwrap().to_string();
        let want = "--gate, column 3: this is bad\n  |\n  | ü bad \\x1b\n  |   ^^^\n  = do better\n\n--gate, column 4: \
                    this is short\n  |\n  | end\n  |    ^\n  = do better\n\n2 errors in command line";
        assert_eq!(shown, want);
        assert_eq!(argument_faults("--gate", &arguments, &[]), None);
    }
}
