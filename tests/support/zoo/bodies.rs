//! What is wrong or odd with an answer's body: framing, size, encoding.

use super::steps::{Animal, Step, answer, head, hello, send};
use Step::{Close, Flood, Hang};
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

pub fn all() -> Vec<Animal> {
    [framing(), chunked(), endless(), encoded()].concat()
}

const OK: &[&str] = &["ok/200"];
const INVALID: &[&str] = &["body_invalid/body/200"];
const TRUNCATED: &[&str] = &["body_truncated/body/200"];

fn framing() -> Vec<Animal> {
    vec![
        Animal::new(
            "length-too-long",
            TRUNCATED,
            [send("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello"), Close],
        ),
        // What is too much is the next answer's beginning: the connection is not used again.
        Animal::new(
            "length-too-short",
            OK,
            [send("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello, and more than was said")],
        ),
        Animal::new(
            "status-204-body",
            &["ok/204"],
            [send("HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello")],
        ),
        Animal::new("two-answers", OK, [hello(), hello()]),
        Animal::new("empty", OK, [answer("200 OK", "", "")]),
    ]
}

fn chunked() -> Vec<Animal> {
    let chunked = |name, expected, body: &str, last| {
        Animal::new(name, expected, [head("transfer-encoding: chunked\r\n"), send(body), last])
    };
    let tiny: String = "1\r\nx\r\n".repeat(300) + "0\r\n\r\n";
    let fine = || Step::Wait(std::time::Duration::ZERO);
    vec![
        chunked("chunked", OK, "5\r\nhello\r\n0\r\n\r\n", fine()),
        chunked("chunked-tiny", OK, &tiny, fine()),
        chunked("chunked-trailers", OK, "5\r\nhello\r\n0\r\nx-trailer: done\r\n\r\n", fine()),
        chunked("chunked-ext", OK, "5;zoo=\"x y\";n\r\nhello\r\n0\r\n\r\n", fine()),
        chunked("chunked-bad-size", INVALID, "5\r\nhello\r\nzz;not-hex\r\nhello\r\n", Hang).says("chunk"),
        chunked("chunked-huge-size", INVALID, "5\r\nhello\r\nFFFFFFFFFFFFFFFFFF\r\nhello\r\n", Hang),
        chunked("chunked-bad-crlf", INVALID, "5\r\nhelloXX5\r\nhello\r\n", Hang),
        chunked("chunked-no-end", TRUNCATED, "5\r\nhello\r\n", Close),
        chunked("chunked-cut", TRUNCATED, "ff\r\nhello\r\n", Close),
        // hyper takes the end of the connection for the last zero's: no; it is missing.
        chunked("chunked-half-end", TRUNCATED, "5\r\nhello\r\n0\r\n", Close),
        chunked("chunked-hang", &["deadline/body/200"], "5\r\nhello\r\n", Hang),
        Animal::new(
            "chunked-endless-trailers",
            INVALID,
            [
                head("transfer-encoding: chunked\r\n"),
                send("0\r\n"),
                Flood(b"x-trailer: and so on\r\n".repeat(100), u64::MAX),
            ],
        ),
        Animal::new(
            "chunked-endless-ext",
            INVALID,
            [head("transfer-encoding: chunked\r\n"), send("5;"), Flood(vec![b'e'; 4000], u64::MAX)],
        ),
    ]
}

/// Without an end, or far beyond what is allowed.
fn endless() -> Vec<Animal> {
    let limit: &[_] = &["body_limit/body/200"];
    let block = || vec![b'x'; 65_536];
    let chunk = || [b"1000\r\n".as_slice(), &[b'x'; 4096], b"\r\n"].concat();
    vec![
        Animal::new("huge-body", limit, [head("content-length: 67108864\r\n"), Flood(block(), 1024)])
            .says("larger than"),
        Animal::new("endless-body", limit, [head(""), Flood(block(), u64::MAX)]),
        Animal::new(
            "endless-chunks",
            limit,
            [head("transfer-encoding: chunked\r\n"), Flood(chunk(), u64::MAX)],
        ),
        Animal::new(
            "endless-refusal",
            &["http_status/body/500"],
            [send("HTTP/1.1 500 X\r\n\r\n"), Flood(block(), u64::MAX)],
        ),
    ]
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// Ten thousand bytes that don't compress to nothing.
fn plain() -> Vec<u8> {
    (0..10_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn encoded() -> Vec<Animal> {
    let encoded = |name, expected, body: &[u8]| {
        Animal::new(name, expected, [answer("200 OK", "content-encoding: gzip\r\n", body)])
    };
    let whole = gzip(&plain());
    let mut corrupt = whole.clone();
    let middle = corrupt.len() / 2;
    corrupt[middle..middle + 12].iter_mut().for_each(|byte| *byte ^= 0xa5);
    let mut sum = whole.clone();
    let last = sum.len() - 8;
    sum[last] ^= 0xff;
    let unknown = answer("200 OK", "content-encoding: x-zoo\r\n", "hello");
    vec![
        encoded("gzip", OK, &whole),
        encoded("gzip-corrupt", INVALID, &corrupt),
        encoded("gzip-truncated", TRUNCATED, &whole[..middle]),
        encoded("gzip-bad-crc", INVALID, &sum),
        encoded("gzip-lie", INVALID, b"this was never compressed at all"),
        encoded("gzip-bomb", &["body_limit/body/200"], &gzip(&vec![0; 32 << 20])),
        Animal::new("encoding-unknown", OK, [unknown]),
    ]
}
