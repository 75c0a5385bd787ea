//! Both families of a name's addresses, asked for at once. Must not know where the name servers stand.

use super::{Answer, LookupError, order};
use futures_util::future::{Either, select};
use hickory_resolver::TokioResolver;
use hickory_resolver::config::LookupIpStrategy;
use hickory_resolver::lookup_ip::LookupIp;
use hickory_resolver::net::{DnsError, NetError, NoRecords};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::Name;
use std::net::IpAddr;
use std::pin::pin;
use std::time::Duration;

/// How long the second family is waited for where the first has an address that can be dialled (RFC 8305, section 3).
/// Some name servers never answer a question for IPv6.
const BEHIND: Duration = Duration::from_millis(50);

/// One resolver for each family, so that neither has to wait for the other.
pub(super) struct Pair {
    v4: TokioResolver,
    v6: TokioResolver,
    both: TokioResolver,
}

impl Pair {
    pub(super) fn new(
        build: impl Fn(LookupIpStrategy) -> Result<TokioResolver, NetError>,
    ) -> Result<Self, NetError> {
        Ok(Self {
            v4: build(LookupIpStrategy::Ipv4Only)?,
            v6: build(LookupIpStrategy::Ipv6Only)?,
            both: build(LookupIpStrategy::Ipv6AndIpv4)?,
        })
    }

    /// A family that fails is no failure while the other has addresses.
    pub(super) async fn lookup(&self, name: Name) -> Answer {
        let (v4, v6) = (pin!(self.v4.lookup_ip(name.clone())), pin!(self.v6.lookup_ip(name.clone())));
        let (Either::Left((first, other)) | Either::Right((first, other))) = select(v4, v6).await;
        let second = if first.as_ref().is_ok_and(|found| found.iter().any(order::routed)) {
            tokio::time::timeout(BEHIND, other).await.ok()
        } else {
            Some(other.await)
        };
        let (mut found, mut failed): (Vec<LookupIp>, Vec<NetError>) = (Vec::new(), Vec::new());
        for answer in std::iter::once(first).chain(second) {
            match answer {
                Ok(addresses) => found.push(addresses),
                Err(error) => failed.push(error),
            }
        }
        if let [one, other] = &found[..]
            && one.query().name() != other.query().name()
        {
            // Found under different suffixes of the search list: they are different hosts, and the first suffix counts.
            found = vec![self.both.lookup_ip(name).await.map_err(|e| error(&e))?];
        }
        let addresses: Vec<IpAddr> = found.iter().flat_map(LookupIp::iter).collect();
        match failed.iter().max_by_key(|error| weight(error)) {
            Some(failed) if addresses.is_empty() => Err(error(failed)),
            _ => order::by_route(addresses),
        }
    }
}

/// "It has no such address" is the answer only where nothing else went wrong.
fn weight(error: &NetError) -> u8 {
    match error {
        NetError::Dns(DnsError::NoRecordsFound(NoRecords {
            response_code: ResponseCode::NoError, ..
        })) => 0,
        NetError::Dns(DnsError::NoRecordsFound(NoRecords {
            response_code: ResponseCode::NXDomain, ..
        })) => 1,
        _ => 2,
    }
}

fn error(error: &NetError) -> LookupError {
    let answered = |code: &ResponseCode| LookupError::new(format!("name server answered: {code}"));
    match error {
        NetError::Dns(DnsError::NoRecordsFound(none)) => match none.response_code {
            ResponseCode::NXDomain => LookupError::new("no such name (NXDOMAIN)"),
            ResponseCode::NoError => LookupError::new("the name has no address"),
            ref code => answered(code),
        },
        NetError::Dns(DnsError::ResponseCode(code)) => answered(code),
        NetError::Timeout => LookupError::new("no name server answered"),
        NetError::Io(io) => LookupError::io(io).or_ours(),
        // The resolver's words for a socket that it didn't get.
        NetError::NoConnections => LookupError::new("no name server could be reached").or_ours(),
        other => LookupError::new(other.to_string()).or_ours(),
    }
}
