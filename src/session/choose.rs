//! From the command line's words to a profile.

use crate::profile::{self, Overrides, Profile, ProfileErrors};

/// What the command line asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Choice {
    /// A profile, or URLs; empty: the built-in `shops`.
    pub targets: Vec<String>,
    /// Headers as `Name: value`, sent with every request.
    pub headers: Vec<String>,
    /// Everything else that flags change.
    pub overrides: Overrides,
}

/// Why there is no profile to observe.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// The profile is not right.
    #[error("{0}")]
    Profile(ProfileErrors),
    /// A flag contradicts the profile, or is wrong in itself.
    #[error("{}", .0.join("\n"))]
    Flags(Vec<String>),
    /// Several words that are not all URLs.
    #[error("one profile, or one or more URLs: `{0}` is not a URL\n  a URL begins with http:// or https://")]
    Mixed(String),
}

/// Loads the chosen profile and applies the flags.
///
/// # Errors
/// Everything that is wrong with the profile, the URLs or the flags.
pub fn choose(choice: &Choice) -> Result<Profile, ChoiceError> {
    let is_url = |word: &String| word.contains("://");
    let mut profile = match choice.targets.as_slice() {
        [] => load("shops", &choice.headers)?,
        [one] if !is_url(one) => load(one, &choice.headers)?,
        words => {
            if let Some(word) = words.iter().find(|w| !is_url(w)) {
                return Err(ChoiceError::Mixed(crate::domain::text::clean(word)));
            }
            profile::from_urls(words, &choice.headers).map_err(ChoiceError::Profile)?
        }
    };
    choice.overrides.apply(&mut profile).map_err(ChoiceError::Flags)?;
    Ok(profile)
}

/// Has no host asked more often than the configuration allows, in attempts a second. Says so where the profile asks for
/// more.
pub fn hold(profile: &mut Profile, most: f64) -> Option<String> {
    let asked = profile.hold_to(most)?;
    Some(format!(
        "the configuration allows {most} attempts a second to a host, the profile asks for {asked}: {most} holds"
    ))
}

fn load(target: &str, headers: &[String]) -> Result<Profile, ChoiceError> {
    let env = |name: &str| std::env::var(name).ok();
    let mut profile = profile::load(target, &env).map_err(ChoiceError::Profile)?;
    let (good, bad): (Vec<_>, Vec<_>) =
        headers.iter().map(|h| profile::parse_header(h)).partition(Result::is_ok);
    let bad: Vec<String> =
        bad.into_iter().filter_map(Result::err).map(|e| format!("--header: {e}")).collect();
    if !bad.is_empty() {
        return Err(ChoiceError::Flags(bad));
    }
    profile.set_headers(&good.into_iter().filter_map(Result::ok).collect::<Vec<_>>());
    Ok(profile)
}
