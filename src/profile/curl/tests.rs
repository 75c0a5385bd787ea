use super::*;
use crate::profile::parse;
use proptest::prelude::*;

fn env(name: &str) -> Option<String> {
    match name {
        "API_TOKEN" => Some("s3cr3t".to_owned()),
        "HOST" => Some("shop.example".to_owned()),
        _ => None,
    }
}

fn command(keys: &str) -> String {
    let text = format!("[[endpoint]]\nname = 'a'\n{keys}");
    let profile = parse("t.toml", &text, Path::new("."), &env).unwrap_or_else(|e| panic!("{e}"));
    of(&profile).unwrap()
}

fn of(profile: &Profile) -> Result<String, &'static str> {
    let call = CurlCall { endpoint: EndpointId(0), replica: 0, round: RoundNo(7) };
    curl(profile, &profile.settings, &call, None)
}

#[test]
fn a_call_is_a_command_with_its_method_headers_body_and_limit() {
    assert_eq!(command("url = 'http://a.example/x'"), "curl -sS -i --max-time 0.2 -g http://a.example/x");
    assert_eq!(
        command(
            "url = 'https://a.example/${round}?q=a b'\nmethod = 'post'\ntimeout = '50ms'\nbody = '{\"n\":1}'\n\
             headers = { accept = 'text/plain', x-none = '' }\ntls = { insecure = true }\nfollow = 3\n\
             connect_to = '[::1]:8443'",
        ),
        "curl -sS -iX POST -H 'accept: text/plain' -H 'x-none;' -H content-type: --data-raw '{\"n\":1}' \
         --max-time 0.05 --http1.1 -k --connect-to '::[::1]:8443' -L --max-redirs 3 -g 'https://a.example/7?q=a b'"
    );
    assert!(command("url = 'http://a.example/'\nmethod = 'HEAD'").contains(" -I "));
    assert!(
        command("url = 'http://a.example/'\nmethod = 'PUT'").contains(" -H content-type: --data-raw '' ")
    );
}

#[test]
fn a_required_call_has_the_time_of_the_request() {
    assert!(command("url = 'http://a.example/'\nrequired = true").contains("--max-time 10 "));
}

#[test]
fn what_comes_of_the_environment_stands_as_its_variable_and_every_other_secret_is_redacted() {
    let said = command(
        "url = 'http://me:${API_TOKEN}@${HOST}/?token=abc&key=${API_TOKEN}&q=1'\nmethod = 'POST'\n\
         body = '{\"password\":\"hunter2\",\"n\":\"${API_TOKEN}\"}'\n\
         headers = { authorization = 'Bearer ${API_TOKEN}', cookie = 'sid=123', x-api-key = 'k1', x = 'see http://u:pw@h/' }",
    );
    for secret in ["s3cr3t", "abc", "hunter2", "123", "k1", "pw@", "shop.example"] {
        assert!(!said.contains(secret), "{secret} in {said}");
    }
    for shown in [
        r#"'http://REDACTED:'"${API_TOKEN}"'@'"${HOST}"'/?token=REDACTED&key='"${API_TOKEN}"'&q=1'"#,
        r#"-H 'authorization: Bearer '"${API_TOKEN}""#,
        "-H 'cookie: REDACTED'",
        "-H 'x-api-key: REDACTED'",
        r#"'{"password":"REDACTED","n":"'"${API_TOKEN}"'"}'"#,
    ] {
        assert!(said.contains(shown), "{shown} in {said}");
    }
}

#[test]
fn a_default_of_the_profile_is_a_text_like_any_other() {
    let said = command(
        "url = 'http://a.example/'\nheaders = { x-token = '${NOT_SET:-fallback}', x = '${NOT_SET:-b}' }",
    );
    assert!(said.contains("'x-token: REDACTED'") && said.contains("'x: b'"), "{said}");
}

#[test]
fn a_nul_is_refused_and_said() {
    let mut endpoint =
        Endpoint::plain("a".to_owned(), Target::Urls(vec![Template::fixed("http://a.example/")]));
    endpoint.body = Template::fixed("a\0b");
    assert_eq!(of(&Profile::plain("p".to_owned(), vec![endpoint])), Err(NUL));
}

/// What a curl of our own is given as its arguments, through a real shell.
#[cfg(unix)]
fn arguments(command: &str) -> Vec<String> {
    let script = format!("curl() {{ for a; do printf '%s\\0' \"$a\"; done; }}\n{command}\n");
    let out = std::process::Command::new("sh")
        .args(["-c", &script])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("V", "it's \"$(echo out)\" `x`")
        .output()
        .expect("a shell");
    assert!(out.status.success() && out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).expect("UTF-8");
    text.split_terminator('\0').map(str::to_owned).collect()
}

#[cfg(unix)]
proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_shell_gives_curl_exactly_what_is_meant_and_runs_nothing(
        path in "[^\0]{0,24}", body in "(?s)[^\0]{0,24}", value in "['\"$`\\\\;&|<>(){}!*?~# \n\t\r\x1b\x7f\u{202e}a-c]{0,24}",
    ) {
        let mut endpoint =
            Endpoint::plain("a".to_owned(), Target::Urls(vec![Template::fixed(format!("http://h/{path}"))]));
        "POST".clone_into(&mut endpoint.method);
        endpoint.headers = vec![("x-a".to_owned(), Template::fixed(format!("v{value}")))];
        let variable = Piece::Variable { name: "V".to_owned(), value: String::new() };
        endpoint.body = Template(vec![Piece::Text(body.clone()), variable, Piece::Text("\n".to_owned())]);
        let profile = Profile::plain("p".to_owned(), vec![endpoint]);
        let given = arguments(&of(&profile).unwrap());
        let after = |option: &str| {
            let at = given.iter().position(|a| a == option).expect("the option");
            given[at + 1].clone()
        };
        // What looks like a secret is not what was meant.
        prop_assume!(!given.iter().any(|a| a.contains(SECRET)));
        prop_assert_eq!(given.len(), 13, "{:?}", given);
        prop_assert_eq!(after("-H"), format!("x-a: v{value}"));
        prop_assert_eq!(after("--data-raw"), format!("{body}it's \"$(echo out)\" `x`\n"));
        prop_assert_eq!(after("-g"), format!("http://h/{path}"));
    }
}
