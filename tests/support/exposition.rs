//! Reads exposition text strictly: what it does not understand is a failure.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::collections::{BTreeMap, BTreeSet};

/// One line of values.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub value: f64,
}

/// A scrape.
#[derive(Debug, Default)]
pub struct Scrape {
    pub samples: Vec<Sample>,
    /// By family, as its TYPE line says.
    pub types: BTreeMap<String, String>,
}

impl Scrape {
    /// Reads a whole answer; `OpenMetrics` text has to end with its mark.
    #[track_caller]
    pub fn of(text: &str) -> Self {
        let mut scrape = Self::default();
        let mut seen = BTreeSet::new();
        assert!(text.ends_with('\n'), "the last line ends too");
        for line in text.lines() {
            if let Some(comment) = line.strip_prefix("# ") {
                let words: Vec<&str> = comment.splitn(3, ' ').collect();
                match words.as_slice() {
                    ["HELP" | "UNIT", name, text] => assert!(is_name(name) && !text.is_empty(), "{line}"),
                    ["TYPE", name, kind] => {
                        let before = scrape.types.insert((*name).to_owned(), (*kind).to_owned());
                        assert!(before.is_none(), "a family twice: {line}");
                    }
                    ["EOF"] => assert!(text.ends_with("# EOF\n"), "EOF in the midst"),
                    _ => panic!("not understood: {line:?}"),
                }
                continue;
            }
            let sample = sample(line).unwrap_or_else(|| panic!("not understood: {line:?}"));
            assert!(seen.insert((sample.name.clone(), sample.labels.clone())), "a series twice: {line}");
            scrape.samples.push(sample);
        }
        scrape
    }

    /// The sum of the series of this name that carry these labels.
    pub fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let fits = |s: &&Sample| {
            s.name == name && labels.iter().all(|(k, v)| s.labels.get(*k).is_some_and(|have| have == v))
        };
        self.samples.iter().filter(fits).map(|s| s.value).sum()
    }

    /// Every name with its labels' names.
    pub fn shapes(&self) -> BTreeMap<&str, Vec<&str>> {
        let shape = |s: &'_ Sample| s.labels.keys().map(String::as_str).collect::<Vec<_>>().join(",");
        let mut shapes: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for s in &self.samples {
            shapes.entry(&s.name).or_default().insert(shape(s));
        }
        assert!(shapes.values().all(|s| s.len() == 1), "series of one name have the same labels: {shapes:?}");
        self.samples
            .iter()
            .map(|s| (s.name.as_str(), s.labels.keys().map(String::as_str).collect()))
            .collect()
    }
}

fn is_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':')
}

fn sample(line: &str) -> Option<Sample> {
    let end = line.find(['{', ' '])?;
    let (name, mut rest) = line.split_at(end);
    let mut labels = BTreeMap::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        while !rest.starts_with('}') {
            let (label, quoted) = rest.split_once("=\"")?;
            let (value, left) = unquote(quoted)?;
            rest = left.strip_prefix(',').unwrap_or(left);
            if !is_name(label) || labels.insert(label.to_owned(), value).is_some() {
                return None;
            }
        }
        rest = &rest[1..];
    }
    let value: f64 = rest.strip_prefix(' ')?.parse().ok()?;
    (is_name(name) && value.is_finite()).then(|| Sample { name: name.to_owned(), labels, value })
}

/// Up to the closing quote, and what follows it.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    loop {
        match chars.next()?.1 {
            '"' => return Some((out, chars.as_str())),
            '\\' => out.push(match chars.next()?.1 {
                'n' => '\n',
                c @ ('\\' | '"') => c,
                _ => return None,
            }),
            c => out.push(c),
        }
    }
}
