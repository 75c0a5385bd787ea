//! A little name server on loopback, UDP and TCP on one port.
#![expect(clippy::unwrap_used, reason = "a helper of tests: a surprise here is a failed test")]

use hickory_resolver::proto::op::{Message, MessageType, OpCode, ResponseCode};
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};

/// What it answers, by the question's name and type.
pub type Answers = dyn Fn(&str, RecordType) -> Said + Send + Sync;

/// One answer.
#[derive(Debug, Clone)]
pub enum Said {
    /// Nothing at all.
    Silence,
    /// This code, and no record.
    Code(ResponseCode),
    /// These records with this time to live. None of them: the name has no such record.
    Records(u32, Vec<(String, RData)>),
    /// No such name, for so many seconds.
    Denied(u32),
    /// Over UDP only the notice that it doesn't fit; over TCP these records.
    TooLong(u32, Vec<(String, RData)>),
}

/// Questions in the order in which they came.
pub type Asked = Arc<Mutex<Vec<(String, RecordType)>>>;

/// Starts one.
pub async fn name_server(
    answers: impl Fn(&str, RecordType) -> Said + Send + Sync + 'static,
) -> (SocketAddr, Asked) {
    let answers: Arc<Answers> = Arc::new(answers);
    let asked: Asked = Arc::default();
    // One port for both: another process may have taken the one that UDP gave.
    let (tcp, udp) = loop {
        let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()).await {
            break (tcp, udp);
        }
    };
    let address = udp.local_addr().unwrap();
    let (say, log) = (Arc::clone(&answers), Arc::clone(&asked));
    tokio::spawn(async move {
        let mut packet = [0; 2048];
        loop {
            let (size, from) = udp.recv_from(&mut packet).await.unwrap();
            if let Some(answer) = answer(&packet[..size], &*say, &log, false) {
                udp.send_to(&answer, from).await.unwrap();
            }
        }
    });
    let log = Arc::clone(&asked);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = tcp.accept().await.unwrap();
            let (answers, log) = (Arc::clone(&answers), Arc::clone(&log));
            tokio::spawn(async move {
                while let Ok(size) = stream.read_u16().await {
                    let mut packet = vec![0; usize::from(size)];
                    stream.read_exact(&mut packet).await.unwrap();
                    if let Some(answer) = answer(&packet, &*answers, &log, true) {
                        stream.write_u16(u16::try_from(answer.len()).unwrap()).await.unwrap();
                        stream.write_all(&answer).await.unwrap();
                    }
                }
            });
        }
    });
    (address, asked)
}

/// Address records of a name, as the question's type asks.
pub fn addresses(name: &str, of: RecordType, ips: &[IpAddr]) -> Vec<(String, RData)> {
    let record = |ip: &IpAddr| match (ip, of) {
        (IpAddr::V4(ip), RecordType::A) => Some((name.to_owned(), RData::A((*ip).into()))),
        (IpAddr::V6(ip), RecordType::AAAA) => Some((name.to_owned(), RData::AAAA((*ip).into()))),
        _ => None,
    };
    ips.iter().filter_map(record).collect()
}

fn answer(packet: &[u8], answers: &Answers, log: &Asked, tcp: bool) -> Option<Vec<u8>> {
    let question = Message::from_vec(packet).unwrap();
    let query = question.queries.first().unwrap().clone();
    let (name, of) = (query.name().to_ascii().to_ascii_lowercase(), query.query_type());
    log.lock().unwrap().push((name.clone(), of));
    let mut message = Message::new(question.metadata.id, MessageType::Response, OpCode::Query);
    message.add_query(query.clone());
    message.metadata.recursion_available = true;
    let mut add = |ttl: u32, records: Vec<(String, RData)>| {
        for (name, data) in records {
            message.add_answer(Record::from_rdata(Name::from_str(&name).unwrap(), ttl, data));
        }
    };
    match answers(&name, of) {
        Said::Silence => return None,
        Said::Code(code) => message.metadata.response_code = code,
        Said::Records(ttl, records) => add(ttl, records),
        Said::TooLong(ttl, records) if tcp => add(ttl, records),
        Said::TooLong(..) => message.metadata.truncation = true,
        Said::Denied(seconds) => {
            message.metadata.response_code = ResponseCode::NXDomain;
            let soa = hickory_resolver::proto::rr::rdata::SOA::new(
                Name::from_str("ns.example.").unwrap(),
                Name::from_str("root.example.").unwrap(),
                1,
                3600,
                600,
                86400,
                seconds,
            );
            message.add_authority(Record::from_rdata(
                Name::from_str("example.").unwrap(),
                seconds,
                RData::SOA(soa),
            ));
        }
    }
    Some(message.to_vec().unwrap())
}
