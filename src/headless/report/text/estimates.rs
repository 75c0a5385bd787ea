//! What other budgets, quorums and hedges would give, in plain text.

use super::Page;
use crate::domain::numbers;
use crate::headless::report::words::{self, BudgetLine, fit};
use crate::headless::turns;
use crate::whatif::quorum::QuorumRow;
use std::fmt::Write;

/// k's that the table of quorums has rows for, the one that was asked about among them.
const QUORUMS: usize = 8;

/// Widest bar.
const MOST_BAR: usize = 28;

/// Writing to a String cannot fail.
macro_rules! line {
    ($out:expr) => { let _ = writeln!($out); };
    ($out:expr, $($arg:tt)*) => { let _ = writeln!($out, $($arg)*); };
}

impl Page<'_> {
    /// The part as a whole.
    pub(super) fn what_if(&self, out: &mut String) {
        line!(out);
        let based_on = words::based_on(self.all).map(|based_on| format!(", estimates {based_on}"));
        line!(out, "what if{}", based_on.unwrap_or_default());
        self.budgets(out);
        self.quorums(out);
        self.hedges(out);
        self.in_turn(out);
        for (i, sentence) in self.all.estimates().outlook.advice.iter().enumerate() {
            if i == 0 {
                line!(out);
            }
            // A number stays with its unit.
            let said = sentence.to_string().replace(" ms", "\u{a0}ms").replace(" %", "\u{a0}%");
            line!(out, "{} {said}", self.set.arrow);
        }
    }

    fn budgets(&self, out: &mut String) {
        let bar = self.look.width.saturating_sub(65).clamp(8, MOST_BAR);
        line!(
            out,
            "{:>10} {} {:>7} {:>11} {:>7} {:>7} {:>6} ",
            words::budget_head(self.all),
            fit("answered", bar),
            "",
            "95 %",
            "all",
            format!("≥{}", self.all.k),
            "rounds",
        );
        let ran = words::ran(self.all);
        for line in words::budget_lines(self.all) {
            match line {
                BudgetLine::Known(point, completeness) => {
                    let mark = if ran.contains(&point.budget) { self.set.arrow } else { "" };
                    let share = |share: Option<f64>| {
                        share.map_or_else(|| words::NONE.to_owned(), numbers::share_percent)
                    };
                    line!(
                        out,
                        "{mark:<2}{:>8} {} {:>7} {:>11} {:>7} {:>7} {:>6} {}",
                        numbers::setting_ms(point.budget),
                        self.set.bar(completeness, bar),
                        numbers::share_percent(completeness),
                        words::interval(point.interval),
                        share(point.all),
                        share(point.at_least_k),
                        point.n,
                        words::status(point.status),
                    );
                }
                BudgetLine::Unknown { from, to, bounds, why } => {
                    let bounds = bounds.map(|known| format!("{}, n {}, ", known.within, known.n));
                    line!(out, "{:>10} {}{why}", words::stretch(from, to), bounds.unwrap_or_default());
                }
            }
        }
        if let Some(out_by) = words::out_by(self.all) {
            line!(out, "{out_by}");
        }
        if let Some(watched) = words::watched(self.all) {
            line!(out, "{watched}");
        }
    }

    fn quorums(&self, out: &mut String) {
        let rows = words::quorums(self.all, QUORUMS);
        if rows.is_empty() {
            return;
        }
        let by = numbers::setting_ms(self.all.estimates().outlook.budget);
        line!(out);
        line!(
            out,
            "{:>10} {:>10} {:>11} {:>11} {:>7} {:>7} {:>7}",
            "quorum",
            format!("by {by}"),
            "95 %",
            "independent",
            "p50",
            "p90",
            "p99",
        );
        for row in rows {
            let ran = if row.k == self.all.k { self.set.arrow } else { "" };
            let QuorumRow { k, by_budget, interval, independent, correlated, times, .. } = row;
            let share =
                |share: Option<f64>| share.map_or_else(|| words::NONE.to_owned(), numbers::share_percent);
            line!(
                out,
                "{ran:<2}{:>8} {:>10} {:>11} {:>11} {:>7} {:>7} {:>7}{}",
                format!("{k} of {}", self.all.optional),
                share(*by_budget),
                words::interval(*interval),
                share(*independent),
                words::quantile(times[0]),
                words::quantile(times[1]),
                words::quantile(times[2]),
                if *correlated { " correlated" } else { "" },
            );
        }
    }

    fn hedges(&self, out: &mut String) {
        let rows = words::hedges(self.all);
        if rows.is_empty() {
            return;
        }
        let by = numbers::setting_ms(self.all.estimates().outlook.budget);
        line!(out);
        line!(
            out,
            "{:>18} {:>10} {:>11} {:>11} {:>8}",
            "hedge after",
            "extra load",
            format!("by {by}"),
            "95 %",
            "p99"
        );
        for row in rows {
            let best = if row.best { self.set.arrow } else { "" };
            line!(
                out,
                "{best:<2}{:>16} {:>10} {:>11} {:>11} {:>8} {}",
                row.delay,
                row.extra_load,
                row.ok_by_budget,
                row.interval,
                row.p99,
                row.status,
            );
        }
        if let Some(basis) = words::hedge_basis(self.all) {
            line!(out, "{basis}");
        }
    }

    fn in_turn(&self, out: &mut String) {
        if let Some(ab) = &self.all.summary.ab {
            line!(out);
            *out += &turns::text(ab);
        }
    }
}
