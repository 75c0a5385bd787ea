//! `proxy = "env"`: which variables are read, and whom they leave alone. The program is run, because variables
//! belong to a process.
#![expect(clippy::unwrap_used, reason = "also in helpers of tests: a surprise there is a failed test")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};

/// Answers 200, and tells the first line of each request: a proxy is asked for a whole URL, a server for a path.
fn answering() -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
                head.push(byte[0]);
            }
            let line = String::from_utf8_lossy(&head).lines().next().unwrap_or_default().to_owned();
            let _ = tell.send(line);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
        }
    });
    (address, told)
}

/// Whether a round of one call with these variables asks the proxy.
fn is_proxied(host: &str, variables: &[(&str, &str)]) -> bool {
    let (address, told) = answering();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.toml");
    let url = format!("http://{host}:{}/", address.port());
    std::fs::write(
        &path,
        format!("[round]\nbudget = '9s'\n[[endpoint]]\nname = 'a'\nurl = '{url}'\nproxy = 'env'\n"),
    )
    .unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanscope"));
    command.args(["run", "-n", "1", "--format", "json"]).arg(&path).env("RUST_BACKTRACE", "0");
    for name in ["http_proxy", "https_proxy", "all_proxy", "no_proxy"] {
        command.env_remove(name).env_remove(name.to_uppercase());
    }
    for (name, value) in variables {
        command.env(
            name,
            value.replace("PROXY", &address.to_string()).replace("PORT", &address.port().to_string()),
        );
    }
    let output = command.output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(!text.contains("hunter2"), "{text}");
    let line = told.recv_timeout(std::time::Duration::from_secs(30)).unwrap_or_else(|_| panic!("{text}"));
    let whole = line == format!("GET {} HTTP/1.1", url.to_lowercase());
    assert!(whole || line == "GET / HTTP/1.1", "{line}");
    whole
}

#[test]
fn each_variable_is_read_in_either_case() {
    for (variables, proxied) in [
        (&[] as &[(&str, &str)], false),
        (&[("http_proxy", "http://PROXY")], true),
        (&[("HTTP_PROXY", "PROXY")], true),
        (&[("all_proxy", "http://user:hunter2@PROXY")], true),
        (&[("ALL_PROXY", "http://PROXY")], true),
        // For https only.
        (&[("HTTPS_PROXY", "http://PROXY")], false),
        // A CGI program's variables come from its client.
        (&[("HTTP_PROXY", "http://PROXY"), ("REQUEST_METHOD", "GET")], false),
    ] {
        assert_eq!(is_proxied("127.0.0.1", variables), proxied, "{variables:?}");
    }
}

#[test]
fn no_proxy_leaves_hosts_domains_addresses_and_networks_alone() {
    for (host, none, proxied) in [
        ("127.0.0.1", "127.0.0.1", false),
        ("127.0.0.1", "10.0.0.0/8, 127.0.0.0/8", false),
        ("127.0.0.1", "*", false),
        ("127.0.0.1", "10.0.0.0/8,example.com", true),
        ("127.0.0.1", "127.0.0.1:PORT", false),
        ("localhost", "localhost:1", true),
        ("localhost", "localhost", false),
        ("localhost", ".localhost", false),
        ("localhost", "ocalhost", true),
        ("LOCALHOST", "Localhost", false),
        // A name is not looked up to be compared.
        ("localhost", "127.0.0.1", true),
    ] {
        for name in ["NO_PROXY", "no_proxy"] {
            let variables = [("HTTP_PROXY", "http://PROXY"), (name, none)];
            assert_eq!(is_proxied(host, &variables), proxied, "{host} {name}={none}");
        }
    }
}
