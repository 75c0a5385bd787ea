//! Reading a record: cut anywhere, packed, of a newer schema, or no record at all.

#![expect(clippy::unwrap_used, reason = "in a test a missing value is a failure, helpers included")]

use fanscope::domain::{EndedBy, Mode, Outcome, Reason, Round};
use fanscope::recording::{ReadError, Reader, Record, unpacked};
use std::io::{BufRead, Cursor, Write};
use std::time::Duration;

const SESSION: &str = r#"{"type":"session","schema":1,"fanscope":"0.1.0","profile":"two","started":"2026-02-03T04:05:06Z","endpoints":[{"name":"a","required":true,"replicas":1},{"name":"b","required":false,"replicas":2,"breaker":true}],"settings":{"mode":"deadline","budget_ms":200,"request_budget_ms":1000,"quorum":1,"every_ms":500,"hedge":{"delay":"p95","max":1}}}"#;
const SETTINGS: &str =
    r#"{"type":"settings","at_ms":900,"settings":{"mode":"hedge","budget_ms":150,"hedge":{"delay":"20ms"}}}"#;
const NOTE: &str = r#"{"type":"note","at_ms":950.5,"text":"deployed\u001b[31m 1.2"}"#;
const SUMMARY: &str = r#"{"type":"summary","rounds":2}"#;

fn round(no: u64) -> String {
    format!(
        r#"{{"type":"round","round":{no},"at_ms":{},"mode":"deadline","budget_ms":200,"ended_by":"deadline","took_ms":200.125,"ok":true,"partial":true,"skipped":3,"answered":1,"completeness":0.5,"missing":{{"b":"deadline"}},"calls":[{{"endpoint":"a","outcome":"ok","phase":"body","end_ms":40.5,"attempts":[{{"kind":"primary","end_ms":40.5,"outcome":"ok","phases":{{"queued":0.5,"waiting":30,"body":10}}}}]}},{{"endpoint":"b","outcome":"missing","reason":"deadline","phase":"waiting","end_ms":200,"attempts":[]}}]}}"#,
        no * 500,
    )
}

fn recording() -> String {
    let (one, two) = (round(1), round(2));
    [SESSION, &one, "", r#"{"type":"later","of":["another","version"]}"#, SETTINGS, NOTE, &two, SUMMARY, ""]
        .join("\n")
}

fn reader(text: &[u8]) -> Reader<Box<dyn BufRead + Send>> {
    Reader::new(unpacked(Cursor::new(text.to_vec())).unwrap())
}

/// Everything that is read, what was left out, and why reading ended early.
fn read(bytes: &[u8]) -> (Vec<Record>, Option<String>, Option<ReadError>) {
    let mut reader = reader(bytes);
    let mut records = Vec::new();
    let error = loop {
        match reader.next_record() {
            Ok(Some(record)) => records.push(record),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    (records, reader.left_out().map(str::to_owned), error)
}

fn refused(bytes: &[u8]) -> String {
    read(bytes).2.expect("an error").to_string()
}

fn packed() -> [Vec<u8>; 2] {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(recording().as_bytes()).unwrap();
    [gz.finish().unwrap(), zstd::encode_all(recording().as_bytes(), 1).unwrap()]
}

#[test]
fn everything_a_record_says_is_read() {
    let (records, left_out, error) = read(recording().as_bytes());
    assert!(left_out.is_none() && error.is_none(), "{left_out:?} {error:?}");
    let [
        Record::Session(session),
        Record::Round(one, 3),
        Record::Settings(at, settings),
        Record::Note(noted, text),
        Record::Round(two, 3),
        Record::Summary(summary),
    ] = records.as_slice()
    else {
        panic!("{records:?}");
    };
    assert_eq!((session.profile.as_str(), session.endpoints.len(), summary.rounds), ("two", 2, 2));
    assert!(session.endpoints[1].breaker);
    assert_eq!(
        (settings.mode, settings.budget, *at),
        (Mode::Hedge, Duration::from_millis(150), Duration::from_millis(900))
    );
    assert_eq!(settings.hedge.delay.to_string(), "20ms");
    assert_eq!((text.as_str(), noted.as_micros()), ("deployed [31m 1.2", 950_500), "safe to show");
    let outcomes = |round: &Round| round.calls.iter().map(|c| c.outcome).collect::<Vec<_>>();
    assert_eq!(outcomes(one), [Outcome::Ok, Outcome::Missing(Reason::Deadline)]);
    assert_eq!((one.ended_by, one.took.as_micros(), one.answered_optional), (EndedBy::Deadline, 200_125, 0));
    assert_eq!(
        (one.settings.budget, one.settings.every),
        (Duration::from_millis(200), Duration::from_millis(500))
    );
    assert_eq!(two.settings.mode, Mode::Deadline, "the round's own, also when a key has changed it since");
    assert_eq!(one.calls[0].winner, Some(0));
}

#[test]
fn cut_at_any_byte_it_is_read_up_to_the_cut() {
    let whole = recording();
    let (all, ..) = read(whole.as_bytes());
    for cut in 0..whole.len() {
        let (records, left_out, error) = read(&whole.as_bytes()[..cut]);
        assert_eq!(records, all[..records.len()], "cut at {cut}");
        if cut < SESSION.len() {
            assert!(matches!(error, Some(ReadError::Empty | ReadError::Cut)), "{cut}: {error:?}");
            continue;
        }
        assert!(error.is_none(), "cut at {cut}: {error:?}");
        let lines = whole[..cut].lines().count();
        let last = whole[..cut].lines().next_back().unwrap_or_default();
        let complete = last.is_empty() || serde_json::from_str::<serde_json::Value>(last).is_ok();
        assert_eq!(left_out.is_none(), complete, "cut at {cut}: {left_out:?}");
        assert!(left_out.is_none_or(|said| said.contains(&format!("line {lines} "))), "cut at {cut}");
    }
}

#[test]
fn a_packed_record_reads_like_a_plain_one_also_where_it_is_cut() {
    let (all, ..) = read(recording().as_bytes());
    for bytes in packed() {
        assert_eq!(read(&bytes).0, all);
        for cut in 0..bytes.len() {
            let (records, left_out, error) = read(&bytes[..cut]);
            assert_eq!(records, all[..records.len()], "cut at {cut}");
            assert!(
                left_out.is_some() || error.is_some() || records.len() == all.len(),
                "cut at {cut}: a silent loss"
            );
        }
        // Written on by a second run of a packer.
        let twice: Vec<u8> = [bytes.clone(), bytes].concat();
        assert_eq!(read(&twice).0.len(), 2 * all.len());
    }
}

#[test]
fn something_else_at_the_end_of_a_packed_record_costs_nothing_but_a_word() {
    let (all, ..) = read(recording().as_bytes());
    for bytes in packed() {
        for tail in [&[0; 100][..], b"garbage that is no frame"] {
            let (records, left_out, error) = read(&[&bytes, tail].concat());
            assert_eq!(records, all);
            assert!(error.is_none(), "{error:?}");
            let said = left_out.unwrap();
            assert!(said.contains("cut or damaged after line 8"), "{said}");
        }
        let early = refused(&bytes[..bytes.len() / 8]);
        assert!(early.contains("within its first line"), "{early}");
    }
}

#[test]
fn joined_recordings_of_the_same_endpoints_are_read_on_and_others_are_refused() {
    let twice = recording() + &recording();
    assert_eq!(read(twice.as_bytes()).0.len(), 12);
    let other = recording() + &recording().replace(r#""name":"b""#, r#""name":"c""#);
    assert_eq!(refused(other.as_bytes()), "line 9: another recording begins here, of other endpoints");
}

#[test]
fn a_newer_schema_is_refused() {
    let newer = recording().replace(r#""schema":1"#, r#""schema":7"#);
    // Whatever else a later version may have changed in that line.
    let other = r#"{"type":"session","schema":7,"endpoints":{"a":{}},"settings":{"mode":"adaptive"}}"#;
    for bytes in [newer.as_bytes(), other.as_bytes()] {
        let said = refused(bytes);
        assert!(said.starts_with("line 1: it has schema 7") && said.contains("a newer fanscope"), "{said}");
    }
}

#[test]
fn what_is_no_record_is_named() {
    let long = vec![b'x'; 70 << 20];
    for (bytes, says) in [
        (&b""[..], "it is empty"),
        (b"\n\n", "it is empty"),
        (b"hello\nworld\n", "line 1: this is no recording: its lines are not JSON"),
        (b"\x7fELF\x02\x01\x01\0\xff\xfe\n", "line 1: this is no recording: it is binary"),
        (b"\xff\xfe{\0\n\0", "line 1: this is no recording: it is UTF-16, save it as UTF-8"),
        (b"name = \"page\"\n[round]\n", "line 1: this is no recording: it looks like a profile"),
        (b"# a profile\n", "it looks like a profile"),
        (b"{\"a\":1}\n", "missing field `type`"),
        (b"{\"type\":\"round\",\"round\":1}\n", "line 1: this is no recording"),
        (br#"{"type":"sess"#, "it ends within its first line"),
        (&long, "line 1: this is no recording: it has no lines"),
    ] {
        let said = refused(bytes);
        assert!(said.contains(says), "{said}\nnot: {says}");
    }
}

#[test]
fn a_wrong_line_is_named_by_its_number() {
    let session = SESSION.to_owned() + "\n";
    for (line, says) in [
        ("not json\n", "line 2: expected "),
        ("{\"type\":\"round\",\"round\":\"one\"}\n", "line 2: invalid type: string \"one\""),
        ("{\"type\":\"note\",\"at_ms\":-1,\"text\":\"\"}\n", "line 2: -1 is not a time in milliseconds"),
        (
            &(round(1).replace(r#""endpoint":"b""#, r#""endpoint":"x""#) + "\n"),
            "line 2: its session has no endpoint `x`",
        ),
        (
            &(round(1).replace(r#""reason":"deadline","phase""#, r#""phase""#) + "\n"),
            "line 2: a call is missing without a reason",
        ),
        (&(SETTINGS.replace("20ms", "soon") + "\n"), "line 2: `soon` is no hedge delay"),
        (
            &(SETTINGS.replace(r#""20ms""#, r#""20ms","load_budget":1.5"#) + "\n"),
            "line 2: 1.5 is no share of calls to hedge",
        ),
        (
            "{\"type\":\"late\",\"round\":1,\"endpoint\":\"x\",\"outcome\":\"ok\",\"end_ms\":9}\n",
            "line 2: its session has no endpoint `x`",
        ),
        (
            "{\"type\":\"late\",\"round\":1,\"endpoint\":\"a\",\"outcome\":\"missing\",\"end_ms\":9}\n",
            "line 2: a call is missing without a reason",
        ),
    ] {
        let said = refused((session.clone() + line).as_bytes());
        assert!(said.starts_with(says), "{said}\nnot: {says}");
    }
    let not_text = [session.as_bytes(), b"{\"type\":\"note\",\"text\":\"\xff\"}\n"].concat();
    assert_eq!(refused(&not_text), "line 2: it is not UTF-8");
}

#[test]
fn a_byte_order_mark_and_other_line_ends_do_no_harm() {
    let windows = format!("\u{feff}{}", recording().replace('\n', "\r\n"));
    assert_eq!(read(windows.as_bytes()).0.len(), 6);
}
