use super::options;
use crate::init::{from_curl, from_urls};
use crate::profile::{self, Profile};
use proptest::prelude::*;
use std::path::Path;

/// The profile's text, and what its own reader makes of it with every variable set to `v`.
fn profile(input: &str) -> (String, Profile) {
    let written = from_curl(input).unwrap_or_else(|error| panic!("{input}: {error}"));
    let read = profile::parse("p", &written.text, Path::new("."), &|_| Some("v".to_owned()));
    (written.text, read.unwrap_or_else(|error| panic!("{error}")))
}

/// Method, URL, headers and body of the only endpoint.
fn sent(input: &str) -> (String, String, String, String) {
    let (_, profile) = profile(input);
    let [endpoint] = profile.endpoints.as_slice() else { panic!("{} endpoints", profile.endpoints.len()) };
    let profile::Target::Urls(urls) = &endpoint.target else { panic!("no URLs") };
    let headers: Vec<String> =
        endpoint.headers.iter().map(|(name, value)| format!("{name}: {}", value.fill(1, &[]))).collect();
    let body = endpoint.body.fill(1, &[]);
    (endpoint.method.clone(), urls[0].fill(1, &[]), headers.join("|"), body)
}

#[track_caller]
fn refused(input: &str, says: &str) {
    let error = from_curl(input).expect_err(input).to_string();
    assert!(error.contains(says), "{input}: {error}");
    assert!(!error.contains('\n'), "one sentence: {error}");
}

#[test]
fn a_command_as_browsers_copy_it_becomes_a_profile() {
    let (text, profile) = profile(
        "curl 'https://shop.example/api/cart?sku=42&token=s3cr3t-t0ken' \\\n  -X 'POST' \\\n  -H 'accept: */*' \\\n  \
         -H 'authorization: Bearer s3cr3t-bearer' \\\n  -b 'sid=s3cr3t-cookie; theme=dark' \\\n  \
         -H 'content-type: application/json' \\\n  --data-raw $'{\"note\":\"it\\'s 5$\",\"password\":\"s3cr3t-word\"}' \\\n  \
         --compressed",
    );
    insta::assert_snapshot!(text);
    assert!(!text.contains("s3cr3t"));
    assert_eq!(profile.endpoints[0].body.fill(1, &[]), r#"{"note":"it's 5$","password":"v"}"#);
}

#[test]
fn options_are_those_of_curl() {
    let form = "content-type: application/x-www-form-urlencoded";
    for (input, method, url, headers, body) in [
        ("curl a.example", "GET", "http://a.example", "", ""),
        ("curl -I https://a/", "HEAD", "https://a/", "", ""),
        ("curl -d a=1 -d b=2 https://a/", "POST", "https://a/", form, "a=1&b=2"),
        ("curl -da=1 --url https://a/", "POST", "https://a/", form, "a=1"),
        ("curl --data=a=1 -XPUT https://a/", "PUT", "https://a/", form, "a=1"),
        (
            "curl -G -d a=1 --data-urlencode 'b=x y&é' https://a/?c",
            "GET",
            "https://a/?c&a=1&b=x+y%26%C3%A9",
            "",
            "",
        ),
        ("curl -GI -d a=1 https://a/", "HEAD", "https://a/?a=1", "", ""),
        ("curl --url-query 'a=b c' --url-query +d=%20 https://a/", "GET", "https://a/?a=b+c&d=%20", "", ""),
        ("curl --data-urlencode =a/b=c https://a/", "POST", "https://a/", form, "v"),
        ("curl --data-raw @a=1 https://a/", "POST", "https://a/", form, "@a=1"),
        (
            "curl --json '{\"a\":' --json 1} https://a/",
            "POST",
            "https://a/",
            "content-type: application/json|accept: application/json",
            "{\"a\":1}",
        ),
        ("curl --json {} -H accept:x -H 'Content-Type:' https://a/", "POST", "https://a/", "accept: x", "{}"),
        ("curl -H 'X-Empty;' -H 'X-None:' https://a/", "GET", "https://a/", "X-Empty: ", ""),
        (
            "curl -A curl/8.1 -e 'https://b/;auto' https://a/",
            "GET",
            "https://a/",
            "user-agent: curl/8.1|referer: https://b/",
            "",
        ),
        ("curl -A YWJj/ https://a/", "GET", "https://a/", "user-agent: v", ""),
        ("curl -b a=1 -b c=2 https://a/", "GET", "https://a/", "cookie: v", ""),
        ("curl -b a=$X https://a/", "GET", "https://a/", "cookie: a=v", ""),
        ("curl -r 0-9,20- https://a/", "GET", "https://a/", "range: bytes=0-9,20-", ""),
        ("curl -r abc https://a/", "GET", "https://a/", "", ""),
        ("curl -b jar https://a/", "GET", "https://a/", "", ""),
        ("curl -u me:pw https://a/b", "GET", "https://v:v@a/b", "", ""),
        ("curl --oauth2-bearer abc https://a/", "GET", "https://a/", "authorization: Bearer v", ""),
        ("curl \"https://$HOST/${P}?q=$Q\"", "GET", "https://v/v?q=v", "", ""),
        ("curl 'https://a/?price=5$'", "GET", "https://a/?price=5$", "", ""),
        ("curl -g 'https://[::1]/?a[b]={c}'", "GET", "https://[::1]/?a[b]={c}", "", ""),
        ("curl -sSLo /dev/null https://a/ 2>/dev/null | jq .", "GET", "https://a/", "", ""),
        ("$ TOKEN=x /usr/bin/curl --no-buffer -- https://a/#top", "GET", "https://a/", "", ""),
        (
            "curl -H 'Connection: close' -H 'Accept-Encoding: br' -H 'If-None-Match: x' https://a/",
            "GET",
            "https://a/",
            "",
            "",
        ),
    ] {
        let want = (method.to_owned(), url.to_owned(), headers.to_owned(), body.to_owned());
        assert_eq!(sent(input), want, "{input}");
    }
}

#[test]
fn what_says_how_it_is_reached_is_kept() {
    let endpoint = |input: &str| profile(input).1.endpoints.remove(0);
    assert_eq!(endpoint("curl -m 0.25 https://a/").timeout, Some(std::time::Duration::from_millis(250)));
    assert_eq!(endpoint("curl -m 0 https://a/").timeout, None);
    assert!(profile("curl -m 30 https://a/").0.contains("# timeout = \"30s\" would never strike"));
    assert_eq!(endpoint("curl -L https://a/").follow, 10);
    assert_eq!(endpoint("curl -L --max-redirs 3 https://a/").follow, 3);
    assert!(endpoint("curl -k https://a/").tls.insecure);
    assert!(!endpoint("curl -k http://a/").tls.insecure);
    let dialled = |options: &str| endpoint(&format!("curl {options} https://a.example/")).connect_to;
    let to = |host: &str, port| Some((host.to_owned(), port));
    assert_eq!(dialled("--resolve a.example:443:10.0.0.7,10.0.0.8"), to("10.0.0.7", 443));
    assert_eq!(dialled("--resolve '*:443:[2001:db8::7]'"), to("2001:db8::7", 443));
    assert_eq!(dialled("--resolve b.example:443:10.0.0.7"), None);
    assert_eq!(dialled("--connect-to a.example:443:b.example:8443"), to("b.example", 8443));
    assert_eq!(dialled("--connect-to ::b.example:"), to("b.example", 443));
    assert_eq!(dialled("--connect-to ::[2001:db8::7]:8443"), to("2001:db8::7", 8443));
}

#[test]
fn every_url_of_every_command_is_an_endpoint() {
    let (_, profile) = profile(
        "curl https://a/1 https://a/2 > out https://a/3; curl https://b/ && echo done\ncurl https://c/ &\ncurl https://d/ \
         | tee x | curl https://e/ || curl https://f/ #https://g/",
    );
    let names: Vec<&str> = profile.endpoints.iter().map(|endpoint| endpoint.name.as_str()).collect();
    assert_eq!(names, ["a/1", "a/2", "a/3", "b", "c", "d", "e", "f"]);
}

#[test]
fn what_is_left_out_is_named() {
    let (text, _) = profile("curl --limit-rate 1k -x proxy:1 --http3 --limit-rate 2k https://a/ > f; ls");
    assert!(text.contains("# left out of the curl command: --limit-rate, --proxy, --http3\n"), "{text}");
    assert!(text.contains("# left out: 1 command, not curl\n"), "{text}");
    assert!(text.contains("# redirections of curl's output are left out\n"), "{text}");
}

#[test]
fn what_no_profile_can_say_is_refused_with_what_to_do() {
    for (input, says) in [
        ("", "no curl command"),
        ("wget https://a/", "Copy as cURL"),
        ("curl", "has no URL"),
        ("curl -s", "has no URL"),
        ("curl nonsense", "no URL with http"),
        ("curl ftp://a/", "http:// or https://"),
        ("curl htp:/x", "URL"),
        ("curl 'https://a:b:c/'", "not valid"),
        ("curl https://a/{1,2}", "several URLs"),
        ("curl 'https://a/[1-3]'", "several URLs"),
        ("curl --urll https://a/", "did you mean --url?"),
        ("curl --frobnicate https://a/", "curl --help all"),
        ("curl -é https://a/", "one-letter option"),
        ("curl --silent=yes https://a/", "takes no value"),
        ("curl https://a/ -H", "--header lacks its value"),
        ("curl -d @f https://a/", "from a file"),
        ("curl --json @- https://a/", "from a file"),
        ("curl --data-urlencode a@f https://a/", "from a file"),
        ("curl -H @f https://a/", "from a file"),
        ("curl --url @f", "from a file"),
        ("curl -F a=b https://a/", "several parts"),
        ("curl -T f https://a/", "sends a file"),
        ("curl -K f https://a/", "options in a file"),
        ("curl https://a/ --next https://b/", "--next"),
        ("curl --variable a=b --expand-url '{{a}}'", "--variable"),
        ("curl --expand-url '{{a}}'", "own variables"),
        ("curl -m soon https://a/", "--max-time"),
        ("curl -m 99999999 https://a/", "--max-time"),
        ("curl --resolve a:b https://a/", "--resolve"),
        ("curl --resolve a:443:nowhere https://a/", "--resolve"),
        ("curl --connect-to a:b:c:d https://a/", "--connect-to"),
        ("curl --max-redirs x -L https://a/", "--max-redirs"),
        ("curl -X NONSENSE https://a/", "method"),
        ("curl -H nonsense https://a/", "colon"),
        ("curl -H 'a b: c' https://a/", "no header has"),
        ("\n\ncurl 'https://a/", "line 3"),
        ("curl https://a/\n-H 'X: y'", "line 2: this belongs"),
        ("curl -H 'X: y'; https://a/", "has no URL"),
        ("curl https://a/; https://b/", "line 1: this belongs"),
        ("curl https://a/ \\ \n-H 'X: y'", "a blank behind"),
    ] {
        refused(input, says);
    }
}

#[test]
fn a_secret_that_stands_again_elsewhere_is_hidden_there_too() {
    let (text, _) = profile(
        "curl -H 'Authorization: Bearer abcdefgh' 'https://a/abcdefgh?x=abcdefgh' -H 'X-A: abcdefgh'",
    );
    assert!(!text.contains("abcdefgh"), "{text}");
}

#[test]
fn urls_of_the_command_line_are_endpoints_and_wrong_ones_are_said() {
    let urls = |list: &[&str]| from_urls(&list.iter().map(|&url| url.to_owned()).collect::<Vec<_>>());
    let text = urls(&["https://me:pw@a.example/x?api_key=abc", "https://a.example/x"]).unwrap().text;
    assert!(
        text.contains("\"https://${AUTH_USER}:${AUTH_PASSWORD}@a.example/x?api_key=${API_KEY}\""),
        "{text}"
    );
    assert!(text.contains("name = \"a.example/x-2\""), "{text}");
    let error = urls(&["htp:/x", "example.com", "http://me:pw@h:x/"]).unwrap_err().to_string();
    assert!(error.contains("write \"https://example.com\""), "{error}");
    assert!(error.contains("URL 1") && !error.contains("pw"), "{error}");
}

/// Text as passwords and tokens are made of; it never looks like a host or an address.
fn secret() -> impl Strategy<Value = String> {
    "[A-Za-z0-9_+]{12,40}={0,2}"
}

fn shown(input: &str) -> String {
    match from_curl(input) {
        Ok(written) => written.text + &written.notes.concat() + &written.variables.concat(),
        Err(error) => error.to_string(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn a_secret_after_any_option_is_never_written(secret in secret()) {
        let mut inputs = Vec::new();
        for name in options::valued() {
            inputs.push(format!("curl --{name} '{secret}' https://a.example/"));
            inputs.push(format!("curl https://a.example/ --{name}='{secret}'"));
            inputs.push(format!("curl -G https://a.example/ --{name} '{secret}' -d a=b"));
        }
        for (letter, known) in options::letters() {
            inputs.push(format!("curl -{letter}'{secret}' https://a.example/"));
            if known.valued {
                inputs.push(format!("curl -s{letter} '{secret}' https://a.example/"));
            }
        }
        for input in inputs {
            let shown = shown(&input);
            prop_assert!(!shown.contains(&secret), "{}\n{}", input, shown);
        }
    }

    #[test]
    fn a_secret_where_secrets_stand_is_never_written_and_what_is_written_is_read(secret in secret()) {
        for rest in [
            "-u 'me:S' https://a/",
            "'https://me:S@a/'",
            "'https://a/?access_token=S&b=1'",
            "-H 'Authorization: Bearer S' https://a/",
            "-H 'Cookie: a=S' https://a/",
            "-H 'X-Api-Key: S' https://a/",
            "-H 'Referer: https://b/?token=S' https://a/",
            "-H 'X-Back: https://me:S@b/' https://a/",
            "-e 'https://b/x?session=S' https://a/",
            "-b 'a=S' https://a/",
            "-d 'user=me&password=S' https://a/",
            "-G --data-urlencode 'token=S' https://a/",
            "--json '{\"a\":{\"secret\":[\"S\"]}}' https://a/",
            "-H 'content-type: text/plain' -d 'any S' https://a/",
        ] {
            let (text, _) = profile(&format!("curl {}", rest.replace('S', &secret)));
            prop_assert!(!text.contains(&secret), "{}", text);
        }
    }

    #[test]
    fn whatever_is_pasted_is_read_or_refused(text in "(curl |-[HdXuGb] |--json |https://a/|'|\"|\\$|\\\\|[ -~]|\n|é){0,40}") {
        if let Ok(written) = from_curl(&text) {
            let read = profile::parse("p", &written.text, Path::new("."), &|_| Some("1".to_owned()));
            prop_assert!(read.is_ok());
        }
    }
}
