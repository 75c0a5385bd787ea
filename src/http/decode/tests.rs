//! Every coding, whole, cut at every byte, spoilt at every byte, and in chunks of every size.

use super::*;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::prelude::*;
use reqwest::header::HeaderValue;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zlib(text: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn deflate(text: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), level);
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// zstd with a checksum, as the programs write it.
fn zstd(text: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn each(text: &[u8]) -> [(Coding, Vec<u8>); 5] {
    [
        (Coding::Gzip, gzip(text)),
        (Coding::Deflate, zlib(text)),
        (Coding::Deflate, deflate(text, Compression::best())),
        (Coding::Deflate, deflate(text, Compression::none())),
        (Coding::Zstd, zstd(text)),
    ]
}

/// What comes of a body in chunks of this size.
fn decoded(coding: Coding, body: &[u8], chunk: usize) -> (io::Result<()>, Vec<u8>) {
    let mut out = Vec::new();
    let run = |out: &mut Vec<u8>| {
        let mut decoder = Decoder::new(coding, out);
        body.chunks(chunk.max(1)).try_for_each(|chunk| decoder.feed(chunk))?;
        decoder.finish()
    };
    (run(&mut out), out)
}

fn kind(coding: Coding, body: &[u8]) -> Option<ErrorKind> {
    decoded(coding, body, 7).0.err().map(|error| error.kind())
}

proptest! {
    #[test]
    fn every_coding_gives_back_what_went_in(
        text in prop::collection::vec(any::<u8>(), 0..3000), chunk in 1_usize..900
    ) {
        for (coding, body) in each(&text) {
            let (ended, out) = decoded(coding, &body, chunk);
            prop_assert!(ended.is_ok(), "{:?}: {:?}", coding, ended);
            prop_assert_eq!(&out, &text);
        }
    }

    #[test]
    fn rubbish_is_a_fault_and_never_more(body in prop::collection::vec(any::<u8>(), 0..400), chunk in 1_usize..99) {
        for coding in [Coding::Gzip, Coding::Deflate, Coding::Zstd] {
            let (_, out) = decoded(coding, &body, chunk);
            prop_assert!(out.len() < 1_000_000);
        }
    }
}

#[test]
fn a_body_that_is_cut_anywhere_is_one_that_ended_too_soon() {
    let text = b"the quick brown fox jumps over the lazy dog, the quick brown fox".repeat(3);
    for (coding, body) in each(&text) {
        for length in 1..body.len() {
            let cut = &body[..length];
            assert_eq!(kind(coding, cut), Some(ErrorKind::UnexpectedEof), "{coding:?} at {length}");
        }
        assert_eq!(kind(coding, &body), None);
    }
}

#[test]
fn what_is_spoilt_is_never_taken_for_whole() {
    let text = b"the quick brown fox jumps over the lazy dog".as_slice();
    // Behind the head, of which some bits say nothing; plain deflate has no checksum.
    for (coding, body, head) in
        [(Coding::Gzip, gzip(text), 10), (Coding::Deflate, zlib(text), 2), (Coding::Zstd, zstd(text), 6)]
    {
        for at in head..body.len() {
            let mut spoilt = body.clone();
            spoilt[at] ^= 0x55;
            let (ended, out) = decoded(coding, &spoilt, 5);
            assert!(ended.is_err() || out == text, "{coding:?} at {at}");
        }
    }
    let (checksum, length) = (gzip(text).len() - 8, gzip(text).len() - 1);
    for at in [checksum, length] {
        let mut spoilt = gzip(text);
        spoilt[at] ^= 1;
        assert_eq!(kind(Coding::Gzip, &spoilt), Some(ErrorKind::InvalidInput));
    }
}

#[test]
fn members_and_frames_may_follow_each_other_and_nothing_else_may() {
    for (coding, one, two) in
        [(Coding::Gzip, gzip(b"one "), gzip(b"two")), (Coding::Zstd, zstd(b"one "), zstd(b"two"))]
    {
        let (ended, out) = decoded(coding, &[one, two].concat(), 3);
        assert!(ended.is_ok() && out == b"one two", "{coding:?}: {ended:?}");
    }
    for (coding, body) in each(b"whole") {
        let ended = kind(coding, &[body.as_slice(), b"<html>and more</html>"].concat());
        assert!(ended.is_some_and(|kind| kind != ErrorKind::UnexpectedEof), "{coding:?}: {ended:?}");
    }
}

#[test]
fn a_sink_that_refuses_stops_a_bomb_within_one_buffer() {
    struct Most(usize);
    impl Write for Most {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            if self.0 > 100_000 { Err(io::Error::other("full")) } else { Ok(bytes.len()) }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    for (coding, body) in each(&vec![0; 2_000_000]) {
        let mut most = Most(0);
        let mut decoder = Decoder::new(coding, &mut most);
        assert_eq!(decoder.feed(&body).unwrap_err().kind(), ErrorKind::Other, "{coding:?}");
        drop(decoder);
        // Twice: on its way out a decoder offers what it still holds.
        assert!(most.0 <= 100_000 + 2 * (128 << 10), "{coding:?}: {}", most.0);
    }
}

#[test]
fn a_zstd_frame_may_not_ask_for_more_memory_than_browsers_give() {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(24).unwrap();
    encoder.write_all(&vec![7; 20_000_000]).unwrap();
    let body = encoder.finish().unwrap();
    assert!(kind(Coding::Zstd, &body).is_some());
}

#[test]
fn content_encodings_are_told_apart() {
    let of = |values: &[&'static str]| {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::CONTENT_ENCODING, HeaderValue::from_static(value));
        }
        Coding::of(&headers)
    };
    assert_eq!(of(&[]), Coding::Identity);
    for identity in ["", "identity", " , Identity,"] {
        assert_eq!(of(&[identity]), Coding::Identity, "{identity:?}");
    }
    for gzip in ["gzip", "x-gzip", "GZip", "identity, gzip", "\tgzip "] {
        assert_eq!(of(&[gzip]), Coding::Gzip, "{gzip:?}");
    }
    assert_eq!((of(&["deflate"]), of(&["zstd"])), (Coding::Deflate, Coding::Zstd));
    assert_eq!(of(&["br"]).name(), "br");
    assert_eq!(of(&["gzip, gzip"]), of(&["gzip", "br"]));
    assert_eq!(of(&["gzip", "br"]).name(), "several codings");
    // Not repeated: an upstream may send back what it was sent.
    assert_eq!(of(&["hunter2"]).name(), "an unknown coding");
}
