//! Profiles that come with fanscope, embedded at build.

/// Name and text of each.
pub const BUILTINS: &[(&str, &str)] = &[
    ("shops", include_str!("../../profiles/shops.toml")),
    ("replicas", include_str!("../../profiles/replicas.toml")),
    ("page", include_str!("../../profiles/page.toml")),
    ("correlated", include_str!("../../profiles/correlated.toml")),
    ("tail", include_str!("../../profiles/tail.toml")),
    ("demo", include_str!("../../profiles/demo.toml")),
];

/// The text of the built-in with this name.
pub(super) fn find(name: &str) -> Option<&'static str> {
    BUILTINS.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}
