//! The two sets of glyphs. Every state has one of its own, so that none depends on colour.

use crate::domain::Phase;

/// A set of glyphs, each one column wide.
#[derive(Debug)]
pub struct Glyphs {
    /// Answered.
    pub ok: &'static str,
    /// Missing for a reason that is no cut; also where its bar ends.
    pub error: &'static str,
    /// Cut at a time limit.
    pub cut: &'static str,
    /// Not needed, or lost to another attempt.
    pub not_needed: &'static str,
    /// Running.
    pub running: &'static str,
    /// A hedge, or the winner among attempts.
    pub hedge: &'static str,
    /// The deadline and other lines through all lanes.
    pub line: &'static str,
    /// A line that did not end the round.
    pub other_line: &'static str,
    /// The line where it cut a bar.
    pub line_hit: &'static str,
    /// The hedge delay.
    pub delay: &'static str,
    /// Where a curve crosses the deadline, and another line.
    pub cross: [&'static str; 2],
    /// A dot of a plot where there is no braille, and one of its band.
    pub plotted: [&'static str; 2],
    /// A dot of a plot's grid.
    pub point: &'static str,
    /// Give or take.
    pub about: &'static str,
    /// From one number to another.
    pub to: &'static str,
    /// Grid lines.
    pub grid: &'static str,
    /// Phases in the order of [`Phase::ALL`], for rows with room between them.
    pub phases: [&'static str; 6],
    /// Phases for rows that touch.
    pub low_phases: [&'static str; 6],
    /// Left eighths of a cell, 1 to 7; empty where there are none.
    pub eighths: &'static [&'static str],
    /// The bar of a call that was not needed, and its half.
    pub thin: [&'static str; 2],
    /// A meter: what is filled, and the rest.
    pub meter: [&'static str; 2],
    /// Nothing here.
    pub nothing: &'static str,
    /// Heights, the lowest first.
    pub levels: &'static [&'static str],
    /// A round that met its contract.
    pub kept: &'static str,
    /// Counts of a round: 1, 2, more.
    pub counts: &'static [&'static str],
    /// Heights of a hill in one row; empty where braille draws it.
    pub hills: &'static [char],
    /// A hill, for the legend.
    pub hill: &'static str,
    /// A dot low, in the middle and high in its cell.
    pub dots: [&'static str; 3],
    /// The selected lane.
    pub selected: &'static str,
    /// A hedge's row under its call.
    pub branch: &'static str,
    /// A panel's rule.
    pub rule: &'static str,
    /// Where text was cut.
    pub ellipsis: &'static str,
    /// From one value to another; also what to do.
    pub arrow: &'static str,
    /// Between parts of a title.
    pub dot: &'static str,
    /// No number.
    pub none: &'static str,
    /// A mark in the history.
    pub mark: &'static str,
    /// A round in the history that does not count.
    pub left_out: &'static str,
    /// The session is recorded.
    pub recorded: &'static str,
    /// Where one is in the history.
    pub here: &'static str,
    /// The line's place, at the end of its label.
    pub down: &'static str,
}

impl Glyphs {
    /// The set for a terminal.
    #[must_use]
    pub const fn of(ascii: bool) -> &'static Self {
        if ascii { &ASCII } else { &UNICODE }
    }

    /// The glyph of a phase; `low` for rows that touch.
    #[must_use]
    pub const fn phase(&self, phase: Phase, low: bool) -> &'static str {
        if low { self.low_phases[phase as usize] } else { self.phases[phase as usize] }
    }
}

static UNICODE: Glyphs = Glyphs {
    ok: "●",
    error: "✕",
    cut: "■",
    not_needed: "○",
    running: "▸",
    hedge: "◆",
    line: "┃",
    other_line: "│",
    line_hit: "┫",
    delay: "╎",
    cross: ["╋", "┼"],
    plotted: ["•", "·"],
    point: "·",
    about: "±",
    to: "–",
    grid: "┊",
    phases: ["·", "░", "▒", "▓", "█", "█"],
    low_phases: ["·", "░", "▒", "▓", "▇", "▇"],
    eighths: &["▏", "▎", "▍", "▌", "▋", "▊", "▉"],
    thin: ["━", "╸"],
    meter: ["━", "─"],
    nothing: "⣀",
    levels: &["▂", "▃", "▄", "▅", "▆", "▇", "█"],
    kept: "▄",
    counts: &["▄", "▆", "█"],
    hills: &[],
    hill: "⣀⣤⣶⣤⣀",
    dots: ["⣤", "⠶", "⠛"],
    selected: "▌",
    branch: "└",
    rule: "─",
    ellipsis: "…",
    arrow: "→",
    dot: "·",
    none: "–",
    mark: "▴",
    left_out: "─",
    recorded: "◉",
    here: "▲",
    down: "▾",
};

static ASCII: Glyphs = Glyphs {
    ok: "o",
    error: "x",
    cut: "]",
    not_needed: "-",
    running: ">",
    hedge: "*",
    line: "|",
    other_line: "|",
    line_hit: "]",
    delay: "!",
    cross: ["+", "+"],
    plotted: ["*", ":"],
    point: ".",
    about: "+-",
    to: "-",
    grid: ":",
    phases: ["_", ".", ":", "%", "=", "#"],
    low_phases: ["_", ".", ":", "%", "=", "#"],
    eighths: &[],
    thin: ["-", "-"],
    meter: ["=", "-"],
    nothing: ".",
    levels: &["-", "=", "+", "*", "#"],
    kept: "#",
    counts: &["1", "2", "3", "4", "5", "6", "7", "8", "9"],
    hills: &['.', '-', '-', ':'],
    hill: ".---.",
    dots: ["o", "o", "o"],
    selected: ">",
    branch: "`",
    rule: "-",
    ellipsis: "~",
    arrow: "->",
    dot: "-",
    none: "-",
    mark: "^",
    left_out: "-",
    recorded: "*",
    here: "^",
    down: "|",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::text::width;

    #[test]
    fn states_differ_without_colour_and_every_glyph_is_one_column_wide() {
        for set in [&UNICODE, &ASCII] {
            let states = [set.ok, set.error, set.cut, set.not_needed, set.running, set.hedge];
            for (i, a) in states.iter().enumerate() {
                assert_eq!(width(a), 1);
                assert!(states.iter().skip(i + 1).all(|b| a != b), "{a} twice");
            }
            let single = [set.line, set.line_hit, set.delay, set.grid, set.nothing, set.kept, set.selected];
            assert!(
                single.iter().chain(&set.phases).chain(set.levels).chain(set.counts).all(|g| width(g) == 1)
            );
        }
    }

    #[test]
    fn the_ascii_set_is_ascii() {
        let debug = format!("{ASCII:?}");
        assert!(debug.is_ascii());
    }
}
