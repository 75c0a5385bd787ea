//! Which of several addresses is dialled first. Must not know names.

use super::{Answer, some};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Orders as getaddrinfo would: addresses that this host has a route to first, IPv6 before IPv4 among them.
pub(super) fn by_route(mut found: Vec<IpAddr>) -> Answer {
    found.sort_by_key(|ip| (!routed(*ip), ip.is_ipv4()));
    some(found)
}

/// Whether there is a route. Connecting a datagram socket asks the routing table and sends nothing.
fn routed(ip: IpAddr) -> bool {
    let any: IpAddr = if ip.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    UdpSocket::bind((any, 0)).and_then(|socket| socket.connect((ip, 9))).is_ok()
}

/// Addresses that a dial was given first and waited for in vain.
///
/// Dials try their addresses one after another, and one that swallows packets would take the whole budget of
/// every round. So it goes to the end for the next dial, until another one fails in turn.
#[derive(Debug, Default)]
pub(super) struct Shunned(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    turn: u64,
    failed: HashMap<IpAddr, u64>,
}

/// Addresses that are remembered; beyond, all is forgotten.
const MOST: usize = 4096;

impl Shunned {
    /// A dial that was given this address first waited for it and did not connect to it.
    pub(super) fn add(&self, ip: IpAddr) {
        let mut state = self.state();
        if state.failed.len() >= MOST {
            state.failed.clear();
        }
        state.turn = state.turn.saturating_add(1);
        let turn = state.turn;
        state.failed.insert(ip, turn);
    }

    /// These addresses, those that failed last at the end.
    pub(super) fn last(&self, found: &[IpAddr]) -> Vec<IpAddr> {
        let state = self.state();
        let mut found = found.to_vec();
        found.sort_by_key(|ip| state.failed.get(ip).copied().unwrap_or_default());
        found
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_has_its_turn() {
        let ips: Vec<IpAddr> = (1..=3).map(|n| Ipv4Addr::new(192, 0, 2, n).into()).collect();
        let shunned = Shunned::default();
        assert_eq!(shunned.last(&ips), ips);
        // As often as there are lanes, and it is still one.
        for _ in 0..8 {
            shunned.add(ips[0]);
        }
        assert_eq!(shunned.last(&ips), [ips[1], ips[2], ips[0]]);
        shunned.add(ips[1]);
        assert_eq!(shunned.last(&ips), [ips[2], ips[0], ips[1]]);
        shunned.add(ips[2]);
        assert_eq!(shunned.last(&ips), ips);
        assert!(shunned.last(&[]).is_empty());
    }
}
