//! Profiles as files: what loads, what does not, and what is said about it.

use fanscope::domain::{HedgeContract, HedgeDelay, HedgeSettings, Mode, Settings};
use fanscope::profile::{
    self, Distribution, Endpoint, Expect, Fault, FaultKind, HttpChoice, Profile, Proxy, Resolver, Slow,
    Target, Template, Tls,
};
use proptest::prelude::*;
use std::path::Path;
use std::time::Duration;

/// An environment for tests: never that of the machine.
fn env(name: &str) -> Option<String> {
    match name {
        "EMPTY" => Some(String::new()),
        "HOST" => Some("shop.example".to_owned()),
        "BARE" => Some("10".to_owned()),
        "TOKEN" => Some("s3cr3t-from-env".to_owned()),
        "BROKEN" => Some("line\nbreak".to_owned()),
        _ => None,
    }
}

/// Every bad profile is refused, and what is said about it is reviewed word by word.
#[test]
fn bad_profiles_are_explained() {
    let folder = Path::new("tests/bad_profiles");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| Path::new(name).extension().is_some_and(|e| e == "toml"))
        .collect();
    names.sort();
    assert!(names.len() >= 35, "{} bad profiles", names.len());
    for name in names {
        let text = std::fs::read_to_string(folder.join(&name)).unwrap();
        let errors = profile::parse(&name, &text, folder, &env).expect_err(&name).to_string();
        let stem = name.trim_end_matches(".toml");
        insta::with_settings!({ snapshot_path => "bad_profiles", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(stem, errors);
        });
        assert!(!errors.contains("s3cr3t"), "{name} shows a secret:\n{errors}");
        assert!(
            !errors.chars().any(|c| c.is_control() && c != '\n'),
            "{name} lets a control character through"
        );
    }
}

fn parse(text: &str) -> Profile {
    profile::parse("test.toml", text, Path::new("."), &env).unwrap_or_else(|e| panic!("{e}"))
}

fn refuse(text: &str) -> String {
    profile::parse("test.toml", text, Path::new("."), &env).expect_err(text).to_string()
}

#[test]
fn h15_what_http2_cannot_keep_apart_is_refused_with_its_line() {
    let text = |http: &str| {
        format!(
            "[[endpoint]]\nname = 'a'\nurl = 'https://a.example:9443/'\nhttp = '{http}'\nconnect_to = '10.0.0.7:8443'\n"
        )
    };
    for http in ["2", "auto"] {
        let errors = refuse(&text(http));
        assert!(errors.contains("over HTTP/2 the authority's port is the one that is dialled"), "{errors}");
        assert!(errors.contains("4 |") && errors.contains("`http = \"1.1\"` can"), "{errors}");
    }
    parse(&text("1.1"));
    parse(&text("2").replace(":9443", ""));
}

#[test]
fn h29_insecure_matters_where_there_may_be_tls() {
    for (keys, unverified) in [
        ("url = 'https://a.example/'", true),
        ("replicas = ['http://a.example/', 'https://a.example/']", true),
        ("url = 'http://a.example/'\nfollow = 1", true),
        ("url = 'http://a.example/'", false),
        ("url = 'https://a.example/'\ntls = false", false),
        ("simulate = {}", false),
    ] {
        let found =
            parse(&format!("[defaults]\ntls = {{ insecure = true }}\n[[endpoint]]\nname = 'a'\n{keys}\n"));
        assert_eq!(profile::is_unverified(&found.endpoints[0], &found), unverified, "{keys}");
    }
}

/// An endpoint with these keys, under these defaults.
fn endpoint(defaults: &str, keys: &str) -> Endpoint {
    let text =
        format!("[defaults]\n{defaults}\n[[endpoint]]\nname = 'a'\nurl = 'https://a.example/'\n{keys}\n");
    parse(&text).endpoints.remove(0)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const PAGE: &str = include_str!("good_profiles/page.toml");

/// Where the good profiles and the files that they name are. Relative, so that messages are the same everywhere.
const GOOD: &str = "tests/good_profiles";

#[test]
fn the_example_of_the_contract_parses() {
    let page = profile::parse("page.toml", PAGE, Path::new(GOOD), &env).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(page.name, "page");
    let expected = Settings {
        mode: Mode::Deadline,
        budget: ms(200),
        request_budget: ms(500),
        every: ms(500),
        quorum: Some(2),
        quorum_fail_fast: false,
        probe: 0.0,
        ab: None,
        hedge: HedgeSettings {
            delay: HedgeDelay::Percentile(0.95),
            max: Some(1),
            load_budget: 0.05,
            on_error: true,
        },
        grace: ms(50),
        spin: true,
        max_overlap: 4,
    };
    assert_eq!(page.settings, expected);
    assert_eq!((page.max_rps, page.resolver, page.settings.probe), (Some(50.0), Resolver::Async, 0.0));
    let shop = &page.endpoints[0];
    assert_eq!(shop.target, Target::Urls(vec![Template::fixed("https://shop0.example/price?sku=42")]));
    assert_eq!(shop.headers, [("accept".to_owned(), Template::fixed("application/json"))]);
    assert_eq!((shop.method.as_str(), &shop.body, shop.required), ("GET", &Template::default(), false));
    assert_eq!((shop.timeout, shop.concurrency), (Some(ms(150)), Some(16)));
    assert_eq!(shop.expect.status.0, [(200, 299)]);
    assert_eq!((shop.expect.body_contains.as_deref(), shop.expect.max_body), (Some("price"), 16 << 20));
    assert_eq!(
        (shop.dependency.as_deref(), shop.breaker, shop.idempotent),
        (Some("pricing-db"), true, false)
    );
    assert_eq!((shop.http, &shop.proxy, shop.follow), (HttpChoice::Http11, &Proxy::None, 0));
    assert_eq!(shop.connect_to, Some(("10.0.0.7".to_owned(), 8443)));
    assert_eq!(shop.tls.ca.as_deref(), Some(&*Path::new(GOOD).join("ca.pem")));
    assert_eq!((shop.tls.insecure, &shop.tls.sni, shop.trace), (false, &None, true));
    let Target::Simulated(sims) = &page.endpoints[1].target else { panic!("{:?}", page.endpoints[1]) };
    assert_eq!(sims[0].latency, Distribution::LogNormal { median: ms(45), p99: ms(300) });
    assert_eq!(sims[0].fail, Some(Fault { rate: 0.05, kind: FaultKind::Status(503) }));
    // The table of defaults names no connection, and the embedded upstream takes none.
    assert_eq!((&page.endpoints[1].connect_to, &page.endpoints[1].tls), (&None, &Tls::default()));
}

#[test]
fn defaults_are_those_of_the_contract() {
    let plain = parse("[[endpoint]]\nname = 'a'\nurl = 'http://a'\n");
    assert_eq!(plain.settings, Settings::default());
    assert_eq!(
        (plain.name.as_str(), plain.max_rps, plain.settings.probe, plain.rows),
        ("test", None, 0.0, None)
    );
    assert_eq!(plain.what_if_rounds, 600);
    let what_if = |n: &str| {
        let text = format!("[round]\nwhat_if_rounds = {n}\n[[endpoint]]\nname = 'a'\nurl = 'http://a'\n");
        profile::parse("p", &text, Path::new("."), &env).map(|p| p.what_if_rounds)
    };
    assert_eq!([what_if("10").ok(), what_if("100000").ok()], [Some(10), Some(100_000)]);
    for n in ["9", "100001", "-1", "'600'", "1.5"] {
        let error = what_if(n).expect_err(n).to_string();
        assert!(error.contains("what_if_rounds"), "{n}: {error}");
    }
    let one = &plain.endpoints[0];
    assert_eq!(
        (one.expect.clone(), one.timeout, one.hedge),
        (Expect::default(), None, HedgeContract::ByMode)
    );
    assert!(one.trace && !one.breaker && !one.required && !one.idempotent);
}

/// A key, its default, its override, and whether an endpoint with it is as expected.
type Override = (&'static str, &'static str, &'static str, fn(&Endpoint) -> bool);

#[test]
fn r12_being_awake_before_a_cut_can_be_switched_off() {
    let spin = |key: &str| {
        let text = format!("[round]\n{key}\n[[endpoint]]\nname = \"a\"\nurl = \"http://a.example\"");
        parse(&text).settings.spin
    };
    assert!(spin("") && spin("spin = true") && !spin("spin = false"));
}

#[test]
fn c09_every_key_can_be_overridden_both_ways() {
    let cases: &[Override] = &[
        ("required", "true", "false", |e| !e.required),
        ("required", "false", "true", |e| e.required),
        ("breaker", "true", "false", |e| !e.breaker),
        ("breaker", "false", "true", |e| e.breaker),
        ("idempotent", "true", "false", |e| !e.idempotent),
        ("idempotent", "false", "true", |e| e.idempotent),
        ("trace", "false", "true", |e| e.trace),
        ("trace", "true", "false", |e| !e.trace),
        ("hedge", "false", "true", |e| e.hedge == HedgeContract::ByMode),
        ("hedge", "true", "false", |e| e.hedge == HedgeContract::Off),
        ("hedge", "{ max = 2 }", "false", |e| e.hedge == HedgeContract::Off),
        ("hedge", "{ max = 2 }", "true", |e| e.hedge == HedgeContract::ByMode),
        ("hedge", "false", "{ max = 2 }", |e| own(e).is_some_and(|h| h.max == Some(2))),
        ("hedge", "{ max = 2 }", "{ delay = '9ms' }", |e| {
            own(e).is_some_and(|h| h.max == Some(2) && h.delay == HedgeDelay::Fixed(ms(9)))
        }),
        ("hedge", "{ on_error = false }", "{ on_error = true }", |e| own(e).is_some_and(|h| h.on_error)),
        ("hedge", "{ on_error = true }", "{ on_error = false }", |e| own(e).is_some_and(|h| !h.on_error)),
        ("tls", "{ insecure = true }", "{ insecure = false }", |e| !e.tls.insecure),
        ("tls", "{ insecure = false }", "{ insecure = true }", |e| e.tls.insecure),
        ("tls", "{ sni = 'x.example' }", "{ insecure = true }", |e| {
            e.tls.sni.as_deref() == Some("x.example")
        }),
        ("tls", "{ sni = 'x.example' }", "{ sni = '' }", |e| e.tls.sni.is_none()),
        ("tls", "{ insecure = true }", "false", |e| e.tls == Tls::default()),
        ("timeout", "'50ms'", "false", |e| e.timeout.is_none()),
        ("timeout", "'50ms'", "'60ms'", |e| e.timeout == Some(ms(60))),
        ("follow", "3", "false", |e| e.follow == 0),
        ("follow", "3", "0", |e| e.follow == 0),
        ("follow", "0", "3", |e| e.follow == 3),
        ("concurrency", "3", "false", |e| e.concurrency.is_none()),
        ("dependency", "'db'", "false", |e| e.dependency.is_none()),
        ("connect_to", "'h:1'", "false", |e| e.connect_to.is_none()),
        ("connect_to", "'h:1'", "'[::1]:2'", |e| e.connect_to == Some(("::1".to_owned(), 2))),
        ("proxy", "'env'", "'none'", |e| e.proxy == Proxy::None),
        ("proxy", "'none'", "'env'", |e| e.proxy == Proxy::Env),
        ("proxy", "'socks5h://p:1'", "false", |e| e.proxy == Proxy::None),
        ("http", "'2'", "'1.1'", |e| e.http == HttpChoice::Http11),
        ("http", "'2'", "'auto'", |e| e.http == HttpChoice::Auto),
        ("method", "'POST'", "'get'", |e| e.method == "GET"),
        ("body", "'x'", "''", |e| e.body == Template::default()),
        ("expect", "{ status = 204, body_contains = 'x' }", "{ body_contains = false }", |e| {
            e.expect.status.0 == [(204, 204)] && e.expect.body_contains.is_none()
        }),
        ("expect", "{ max_body = '1KiB' }", "{ max_body = '2KiB' }", |e| e.expect.max_body == 2048),
        ("expect", "{ max_body = '1KiB' }", "false", |e| e.expect == Expect::default()),
        ("simulate", "{ latency = '5ms' }", "false", |e| matches!(e.target, Target::Urls(_))),
        ("replicas", "['http://x']", "false", |e| matches!(&e.target, Target::Urls(u) if u.len() == 1)),
    ];
    for (key, default, own, holds) in cases {
        let found = endpoint(&format!("{key} = {default}"), &format!("{key} = {own}"));
        assert!(holds(&found), "{key}: {default} overridden by {own} gives {found:?}");
    }
}

fn own(endpoint: &Endpoint) -> Option<HedgeSettings> {
    match endpoint.hedge {
        HedgeContract::Own(own) => Some(own),
        _ => None,
    }
}

#[test]
fn h30_headers_merge_by_name_without_case() {
    let found = endpoint(
        "headers = { Accept = 'a', x-one = '1', x-two = '2' }",
        "headers = { accept = ['b', 'c'], X-Two = false, x-none = [], x-row = 'r${round}' }",
    );
    let headers: Vec<_> = found.headers.iter().map(|(n, v)| format!("{n}: {}", v.fill(7, &[]))).collect();
    assert_eq!(headers, ["x-one: 1", "accept: b", "accept: c", "x-row: r7"]);
    assert_eq!(endpoint("headers = { a = 'b' }", "headers = false").headers, []);
}

#[test]
fn c08_variables_expand_in_every_text() {
    let found = endpoint("", "body = 'pa$$word ${HOST}'\ndependency = '${DB:-db}'\ntimeout = '${BARE}ms'");
    assert_eq!(found.body.fill(1, &[]), "pa$word shop.example");
    assert_eq!((found.dependency.as_deref(), found.timeout), (Some("db"), Some(ms(10))));
    assert!(refuse("[[endpoint]]\nname = 'a'\nurl = 'http://${NOPE}'\n").contains("`NOPE` is not set"));
}

#[test]
fn rows_fill_requests() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("skus.csv"), "\u{feff}sku,shop\r\n42,\"a,b\"\r\n43,c\r\n").unwrap();
    let text =
        "[round]\nrows = 'skus.csv'\n[[endpoint]]\nname = 'a'\nurl = 'http://a/${rows.sku}?r=${round}'\n";
    let found = profile::parse("p", text, folder.path(), &env).unwrap();
    let rows = found.rows.unwrap();
    assert_eq!((rows.columns.len(), rows.rows.len()), (2, 2));
    let Target::Urls(urls) = &found.endpoints[0].target else { panic!() };
    assert_eq!(urls[0].fill(9, &rows.rows[1]), "http://a/43?r=9");
}

#[test]
fn h21_urls_stay_as_they_are_written() {
    for url in ["http://a/%7Ex%2F/%CE%BB", "HTTP://A.example/Ä b?x=[1]", "http://[::1]:80/", "https://a:443"]
    {
        let found = parse(&format!("[[endpoint]]\nname = 'a'\nurl = '{url}'\n"));
        assert_eq!(found.endpoints[0].target, Target::Urls(vec![Template::fixed(url)]));
    }
}

#[test]
fn statuses_come_in_every_shape() {
    let status = |text: &str| endpoint("", &format!("expect = {{ status = {text} }}")).expect.status.0;
    assert_eq!(status("'2xx'"), [(200, 299)]);
    assert_eq!(status("200"), [(200, 200)]);
    assert_eq!(status("['2xx', 404]"), [(200, 299), (404, 404)]);
    assert_eq!(status("'200-204'"), [(200, 204)]);
}

#[test]
fn simulated_upstreams_take_every_law() {
    let sims = |text: &str| {
        let found = parse(&format!("[[endpoint]]\nname = 'a'\n{text}\n")).endpoints.remove(0);
        let Target::Simulated(sims) = found.target else { panic!("{text}") };
        sims
    };
    let law = |text: &str| sims(&format!("simulate = {{ latency = {text} }}")).remove(0).latency;
    assert_eq!(law("'5ms'"), Distribution::Fixed(ms(5)));
    assert_eq!(law("{ fixed = '5ms' }"), Distribution::Fixed(ms(5)));
    assert_eq!(law("{ uniform = ['5ms', '9ms'] }"), Distribution::Uniform(ms(5), ms(9)));
    assert_eq!(law("{ trace = ['5ms', '9ms'] }"), Distribution::Trace(vec![ms(5), ms(9)]));
    let bimodal = law("{ bimodal = { fast = '5ms', slow = { uniform = ['1s', '2s'] }, share = '10%' } }");
    let slow = Box::new(Distribution::Uniform(ms(1000), ms(2000)));
    let fast = Box::new(Distribution::Fixed(ms(5)));
    assert_eq!(bimodal, Distribution::Bimodal { fast, slow, slow_share: 0.1 });
    let two = sims(
        "[[endpoint.simulate]]\nfail = { as = 'hang' }\n[[endpoint.simulate]]\nbody = '2KiB'\nslow = { rate = '10%', add = '200ms', group = 'db' }",
    );
    assert_eq!((two[0].fail, two[0].body), (Some(Fault { rate: 1.0, kind: FaultKind::Hang }), 300));
    let slow = Slow { rate_ppm: 100_000, add: ms(200), group: Some("db".to_owned()) };
    assert_eq!((two[1].body, two[1].slow.clone()), (2048, Some(slow)));
    // A default table lies under an endpoint's own.
    let found = parse(
        "[defaults.simulate]\nlatency = '5ms'\nfail = { as = 'reset' }\n[[endpoint]]\nname = 'a'\nsimulate = { fail = false }\n",
    );
    let Target::Simulated(sims) = &found.endpoints[0].target else { panic!() };
    assert_eq!((&sims[0].latency, sims[0].fail), (&Distribution::Fixed(ms(5)), None));
}

#[test]
fn embedded_upstreams_ignore_inherited_connections() {
    let text = "[defaults]\nproxy = 'http://p:1'\nconnect_to = 'h:1'\ntls = { insecure = true }\n[[endpoint]]\nname = 'a'\nsimulate = {}\n";
    let found = &parse(text).endpoints[0];
    assert_eq!((&found.proxy, &found.connect_to, &found.tls), (&Proxy::None, &None, &Tls::default()));
}

#[test]
fn byte_order_mark_and_windows_line_ends_parse() {
    let text = format!("\u{feff}{}", PAGE.replace('\n', "\r\n"));
    let windows = profile::parse("page.toml", &text, Path::new(GOOD), &env).unwrap();
    assert_eq!(windows, profile::parse("page.toml", PAGE, Path::new(GOOD), &env).unwrap());
    let errors = refuse("\u{feff}[round]\r\nbudgt = '1ms'\r\n");
    assert!(errors.starts_with("test.toml:2:1: unknown key"), "{errors}");
}

#[test]
fn r30_a_post_may_be_hedged_when_idempotent_or_kept_from_it() {
    let post = "[round]\nmode = 'hedge'\n[[endpoint]]\nname = 'a'\nurl = 'http://a'\nmethod = 'POST'\n";
    assert!(refuse(post).contains("may not be sent twice"));
    parse(&format!("{post}idempotent = true"));
    parse(&format!("{post}hedge = false"));
}

#[test]
fn r20_quorum_may_be_every_optional_call() {
    let two = "[[endpoint]]\nname = 'a'\nurl = 'http://a'\n[[endpoint]]\nname = 'b'\nurl = 'http://b'\n";
    assert_eq!(parse(&format!("[round]\nquorum = 2\n{two}")).settings.quorum, Some(2));
    assert!(refuse(&format!("[round]\nquorum = 3\n{two}")).contains("2 optional endpoints"));
}

#[test]
fn flags_that_contradict_the_profile_are_told() {
    let mut shops = profile::load("shops", &env).unwrap();
    assert_eq!(profile::contradictions(&shops), Vec::<String>::new());
    shops.settings.budget = Duration::ZERO;
    shops.settings.quorum = Some(9);
    shops.settings.hedge.delay = HedgeDelay::Fixed(ms(5));
    assert_eq!(profile::contradictions(&shops).len(), 3);
}

#[test]
fn built_in_profiles_load() {
    for (name, _) in profile::BUILTINS {
        let found = profile::load(name, &|_| None).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(&found.name, name);
        assert_eq!(profile::warnings(&found), Vec::<String>::new());
        assert!(found.endpoints.iter().all(|e| matches!(e.target, Target::Simulated(_))));
    }
    let shops = profile::load("shops", &env).unwrap();
    let names: Vec<_> = shops.endpoints.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["shop-0", "shop-1", "shop-2", "shop-3", "shop-4", "shop-5", "shop-6", "shop-7"]);
    let page = profile::load("page", &env).unwrap();
    assert_eq!((page.endpoints.len(), page.optional()), (10, 8));
    assert!(profile::load("replicas", &env).unwrap().endpoints.iter().all(|e| e.replicas() == 3));
}

#[test]
fn files_are_read_or_named_as_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(name), bytes).unwrap();
        profile::load(&path(name), &env)
    };
    let utf16 = |text: &str, big: bool| -> Vec<u8> {
        let mark = std::iter::once(0xfeff).chain(text.encode_utf16());
        mark.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    };
    let shown = |result: Result<Profile, profile::ProfileErrors>| result.unwrap_err().to_string();
    assert!(write("ok.toml", b"[[endpoint]]\nname = 'a'\nurl = 'http://a'\n").is_ok());
    assert!(shown(write("le.toml", &utf16("[round]", false))).contains("is UTF-16 (little endian)"));
    assert!(shown(write("be.toml", &utf16("[round]", true))).contains("is UTF-16 (big endian)"));
    assert!(shown(write("latin1.toml", b"a = 1\n# caf\xe9\n")).contains("not UTF-8: byte 0xe9 in line 2"));
    assert!(shown(write("empty.toml", b"")).contains("the file is empty"));
    assert!(shown(write("big.toml", &vec![b'#'; (4 << 20) + 1])).contains("larger than 4 MB"));
    assert!(shown(profile::load(&folder.path().to_string_lossy(), &env)).contains("is a directory"));
    let missing = shown(profile::load(&path("nope.toml"), &env));
    assert!(
        missing.contains("no such file") && missing.contains("shops, replicas, page, correlated, tail, demo"),
        "{missing}"
    );
    assert!(shown(profile::load(&path("ok"), &env)).contains("ok.toml?"));
    assert!(shown(profile::load("shop", &env)).contains("did you mean the built-in `shops`?"));
    assert!(shown(profile::load("https://a.example", &env)).contains("looks like a URL"));
    assert!(shown(profile::load("", &env)).contains("name a file"));
}

#[test]
fn t11_names_of_any_script_load_without_what_only_shapes_them() {
    for (written, name) in [
        ("\u{2601}\u{fe0f} cart", "\u{2601} cart"),
        ("\u{2764}\u{fe0f}", "\u{2764}"),
        ("\u{231a}\u{fe0e}", "\u{231a}"),
        ("\u{182d}\u{180b}\u{1820}", "\u{182d}\u{1820}"),
        ("\u{1112}\u{1160}\u{11ab}", "\u{1112}\u{11ab}"),
        ("\u{845b}\u{e0100}", "\u{845b}"),
        ("a  b", "a  b"),
    ] {
        let profile = parse(&format!("[[endpoint]]\nname = '{written}'\nurl = 'http://h.example'\n"));
        assert_eq!(profile.endpoints[0].name, name);
    }
    let one = |name: &str| format!("[[endpoint]]\nname = '{name}'\nurl = 'http://h.example'\n");
    assert!(refuse(&one("\u{1f469}\u{200d}\u{1f467}")).contains("emoji of one part"));
    assert!(refuse(&one("\u{3164}")).contains("is empty"));
    // A recording could not tell them apart.
    let both = one("\u{2601} cart") + &one("\u{2601}\u{fe0f}  cart");
    assert!(refuse(&both).contains("is taken by the endpoint of line 2"), "{}", refuse(&both));
}

#[test]
fn many_endpoints_are_fine() {
    let many = |n: usize| -> String {
        let one = |i| format!("[[endpoint]]\nname = 'e{i}'\nurl = 'http://h{i}.example'\n");
        (0..n).map(one).collect::<Vec<_>>().concat()
    };
    assert_eq!(parse(&many(5000)).endpoints.len(), 5000);
    assert!(refuse(&many(5001)).contains("the most is 5000"));
}

#[test]
fn faults_without_end_are_cut() {
    let many: Vec<String> = (0..50_000).map(|i| format!("k{i} = 1\n")).collect();
    let shown = refuse(&many.concat());
    assert!(
        shown.ends_with("errors in test.toml; the first 100 are shown"),
        "{}",
        &shown[shown.len() - 80..]
    );
    let list = "1,".repeat(200_000);
    refuse(&format!("[[endpoint]]\nname = 'a'\nsimulate = {{ latency = {{ trace = [{list}] }} }}\n"));
    refuse(&"[".repeat(100_000));
    refuse(&"a.".repeat(100_000));
    refuse(&format!("name = '{}'\n", "${".repeat(100_000)));
    refuse(&"a = 1\n".repeat(20_000));
}

#[test]
fn explanations_are_for_people() {
    let busy = include_str!("good_profiles/busy.toml");
    let profiles = [
        ("explain_shops", profile::load("shops", &env).unwrap()),
        ("explain_replicas", profile::load("replicas", &env).unwrap()),
        ("explain_page", profile::load("page", &env).unwrap()),
        ("explain_contract", profile::parse("page.toml", PAGE, Path::new(GOOD), &env).unwrap()),
        ("explain_busy", profile::parse("busy.toml", busy, Path::new(GOOD), &env).unwrap()),
    ];
    for (name, found) in profiles {
        let text = profile::explain(&found);
        assert!(!text.contains("s3cr3t"), "{text}");
        insta::with_settings!({ snapshot_path => "good_profiles", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, text);
        });
    }
}

/// Every warning that there is.
#[test]
fn r35_r36_r39_warnings_tell_what_is_probably_not_meant() {
    let busy = include_str!("good_profiles/busy.toml");
    let busy = profile::parse("busy.toml", busy, Path::new(GOOD), &env).unwrap();
    let told = profile::warnings(&busy).join("\n");
    for part in [
        "clamped to 145ms",
        "never strikes",
        "insecure",
        "no effect on http",
        "above 50/s: hedges of the race are suppressed",
        "uncapped",
    ] {
        assert!(told.contains(part), "{part} in\n{told}");
    }
    let loopback =
        "[round]\nevery = '1ms'\n[[endpoint]]\nname = 'a'\nurl = 'http://127.0.0.1:1/'\nconcurrency = 1\n";
    assert_eq!(profile::warnings(&parse(loopback)), Vec::<String>::new());
}

/// What is sent byte for byte needs no warning; what the client rewrites has one.
#[test]
fn h21_what_does_not_go_out_as_it_is_written_is_told() {
    let told = |url: &str| {
        let profile = parse(&format!("[[endpoint]]\nname = 'a'\nurl = '{url}'\nconcurrency = 1\n"));
        profile::warnings(&profile).into_iter().filter(|w| w.starts_with("a: ")).collect::<Vec<_>>()
    };
    for exact in [
        "http://127.0.0.1:1",
        "http://127.0.0.1:1?q",
        "HTTP://LOCALHOST:80/%7E%2F%CE%BB/%zz//a;b|c!x=[1]?a=%20+b&c=%26&d=*|/?:@",
        "http://user:pw@127.0.0.1:1/?",
        "http://127.0.0.1:1/a...b/.well-known/..x",
    ] {
        assert_eq!(told(exact), [""; 0], "{exact}");
    }
    for (url, part) in [
        ("http://127.0.0.1:1/a/../b?token=hunter2", "/a/../b?token=*** goes out as /b?token=***: "),
        ("http://127.0.0.1:1/a/%2e%2E/b", "/a/%2e%2E/b goes out as /b: "),
        ("http://127.0.0.1:1/./b", "/./b goes out as /b: "),
        ("http://127.0.0.1:1/a b/ä", "/a b/ä goes out as /a%20b/%C3%A4: "),
        ("http://127.0.0.1:1\\\\x", "\\\\x goes out as //x: "),
        ("http://127.0.0.1:1?<", "?< goes out as /?%3C: "),
        ("http://127.0.0.1:1/x#part", "`#`"),
    ] {
        let told = told(url);
        assert!(told.len() == 1 && told[0].contains(part), "{url}: {told:?}");
        assert!(!told[0].contains("hunter2"));
    }
}

/// The explanation says of each endpoint what holds it back, and the warnings what that leads to.
#[test]
fn r36_r37_r39_what_holds_calls_back_is_said() {
    let told = |round: &str, own: &[&str]| {
        let one =
            |(i, own): (usize, &&str)| format!("[[endpoint]]\nname = 'e{i}'\nurl = 'http://a/{i}'\n{own}\n");
        let endpoints: String = own.iter().enumerate().map(one).collect();
        let found = parse(&format!("[round]\n{round}\n{endpoints}"));
        let text = profile::explain(&found).split_whitespace().collect::<Vec<_>>().join(" ");
        (text, profile::warnings(&found).join("\n"))
    };
    let (text, warnings) = told("", &["concurrency = 3\ndependency = 'db'\nbreaker = true"]);
    assert!(text.contains("dependency db, 3 permits, breaker, at most 50 attempts/s"), "{text}");
    assert_eq!(warnings, "");
    let (text, warnings) = told("max_rps = 7", &[""]);
    assert!(text.contains("uncapped, at most 7 attempts/s"), "{text}");
    assert_eq!(warnings, "uncapped: no `concurrency` limits the attempts in flight to e0");

    // One dependency, and not everybody says the same of it.
    let (text, warnings) = told("", &["concurrency = 5", "", "concurrency = 1"]);
    assert_eq!(text.matches("1 permit,").count(), 3, "{text}");
    assert_eq!(warnings, "e0, e1, e2 share their permits and differ in `concurrency`: the smallest holds, 1");

    let limited = "concurrency = 1";
    let (_, warnings) = told("every = '10ms'", &[limited]);
    assert_eq!(warnings, "a:80: 1 attempts a round every 10ms are 100/s, above 50/s: rounds are skipped");
    let (_, warnings) = told("every = '0ms'", &[limited]);
    assert_eq!(warnings, "a:80: rounds without a pause, held to 50 attempts/s");
    let (_, warnings) = told("max_rps = 2", &[limited; 3]);
    let wide = "a:80: 3 attempts in one round are above 2/s: a round goes out at most every 1.5s, the others are \
                skipped";
    assert_eq!(warnings, wide);
    assert_eq!(told("max_rps = 2\nevery = '2s'", &[limited; 3]).1, "");
    let race = "concurrency = 1\nhedge = { delay = '0ms' }";
    let (_, warnings) = told("max_rps = 5\nevery = '250ms'", &[race]);
    let suppressed =
        "a:80: 2 attempts a round every 250ms are 8/s, above 5/s: hedges of the race are suppressed";
    assert_eq!(warnings, suppressed);
    let (text, warnings) = told("probe = '5%'\nbudget = '300ms'\nwhat_if_rounds = 100", &[limited]);
    assert!(text.contains("stragglers of 5% of the rounds watched to 1.5s"), "{text}");
    assert!(text.contains("what-if over the last 100 rounds"), "{text}");
    assert_eq!(warnings, "");
    let (text, warnings) = told("probe = '5%'\nmode = 'wait-all'", &[limited]);
    assert!(!text.contains("watched"), "{text}");
    assert_eq!(warnings, "probe has no effect: wait-all cuts nothing at the budget");
    let (_, warnings) = told("probe = '5%'\nbudget = '11s'\nrequest_budget = '20s'", &[limited]);
    assert_eq!(warnings, "probe has no effect: nothing is watched for longer than 10s");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = profile::parse("p.toml", &text, Path::new("."), &env).map_err(|e| e.to_string());
    }

    #[test]
    fn no_mutation_makes_it_panic(
        which in 0_usize..5,
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), 0_usize..12, "[ -~\n\t\"'\\[\\]{}$=\u{1b}é日]{0,6}"), 1..6),
    ) {
        let busy = include_str!("good_profiles/busy.toml");
        let texts = [PAGE, busy, profile::BUILTINS[0].1, profile::BUILTINS[1].1, profile::BUILTINS[2].1];
        let mut chars: Vec<char> = texts[which].chars().collect();
        for (at, remove, insert) in cuts {
            let at = at.index(chars.len() + 1);
            let end = (at + remove).min(chars.len());
            chars.splice(at..end, insert.chars());
        }
        let text: String = chars.into_iter().collect();
        if let Err(errors) = profile::parse("p.toml", &text, Path::new("."), &env) {
            let shown = errors.to_string();
            prop_assert!(!shown.chars().any(|c| c.is_control() && c != '\n'));
            prop_assert!(!errors.errors().is_empty());
        }
    }

    #[test]
    fn r24_a_delay_prints_as_it_was_written(micros in 1_u64..=9_999_000) {
        let digits = format!("{}.{:03}", micros / 1000, micros % 1000);
        let written = format!("{}ms", digits.trim_end_matches('0').trim_end_matches('.'));
        let delay = profile::quantities::hedge_delay(&written).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(delay.to_string(), written);
    }

    #[test]
    fn what_flags_say_never_makes_it_panic(text in "\\PC{0,40}") {
        let args = [text.clone()];
        let _ = profile::from_urls(&args, &args).map_err(|e| e.to_string());
        let _ = profile::durations::parse(&text);
        let _ = profile::quantities::percent(&text);
        let _ = profile::quantities::size(&text);
        let _ = profile::quantities::hedge_delay(&text);
        let _ = profile::secrets::redact_url(&text);
    }
}

#[test]
fn the_readmes_profile_loads() {
    let readme = include_str!("../README.md");
    let text = readme.split("```toml").nth(1).and_then(|rest| rest.split("```").next()).expect("a profile");
    let env = |name: &str| (name == "API_TOKEN").then(|| "t".to_owned());
    let profile = profile::parse("README", text, Path::new("."), &env).expect("it is right");
    assert_eq!((profile.endpoints.len(), profile.optional()), (4, 3));
    assert!(
        profile::parse("README", text, Path::new("."), &|_| None).is_err(),
        "an unset variable is an error"
    );
}
