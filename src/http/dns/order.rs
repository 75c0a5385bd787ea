//! Which of several addresses is dialled first. Must not know names.

use super::{Answer, some};
use crate::http::dial::Fate;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Orders as getaddrinfo would: addresses that this host has a route to first, IPv6 before IPv4 among them.
pub(super) fn by_route(found: Vec<IpAddr>) -> Answer {
    some(sorted(found, routed))
}

/// Each address is asked about once: a route may come and go meanwhile, and without a free descriptor there is none.
fn sorted(mut found: Vec<IpAddr>, routed: impl Fn(IpAddr) -> bool) -> Vec<IpAddr> {
    found.sort_by_cached_key(|ip| (!routed(*ip), ip.is_ipv4()));
    found
}

/// Whether there is a route. Connecting a datagram socket asks the routing table and sends nothing.
pub(super) fn routed(ip: IpAddr) -> bool {
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
    /// How long the last dial that got through took to connect.
    usual: HashMap<IpAddr, Duration>,
}

/// Addresses that are remembered; beyond, all is forgotten.
const MOST: usize = 4096;

/// A shorter wait than this says nothing of an address that was connected to before.
const SHORT: Duration = Duration::from_millis(5);

impl Shunned {
    /// What became of a dial that was given this address first.
    ///
    /// Dials are also cut because their answers are no longer needed. Where such a one had waited less than twice as
    /// long as the address usually takes, nothing is held against it: no answer would have come in that time either.
    pub(super) fn tell(&self, ip: IpAddr, fate: Fate) {
        match fate {
            Fate::Connected(took) => {
                let usual = &mut self.state().usual;
                if usual.len() >= MOST {
                    usual.clear();
                }
                usual.insert(ip, took);
            }
            Fate::Passed => self.add(ip),
            Fate::Cut(waited) => {
                let usual = self.state().usual.get(&ip).copied();
                if usual.is_none_or(|usual| waited >= usual.saturating_mul(2).max(SHORT)) {
                    self.add(ip);
                }
            }
        }
    }

    /// This address was waited for in vain.
    fn add(&self, ip: IpAddr) {
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
    fn the_routes_of_many_addresses_may_change_while_they_are_ordered() {
        let ips: Vec<IpAddr> = (0..=255).map(|n| Ipv4Addr::new(192, 0, 2, n).into()).collect();
        let asked = std::cell::Cell::new(0_u32);
        let mut found = sorted(ips.clone(), |_| {
            asked.set(asked.get() + 1);
            asked.get().wrapping_mul(0x9e37_79b9) >> 31 == 0
        });
        assert_eq!(asked.get(), 256);
        found.sort();
        assert_eq!(found, ips);
    }

    #[test]
    fn a_cut_is_held_against_an_address_only_where_it_was_waited_for_longer_than_usual() {
        let ips: Vec<IpAddr> = (1..=2).map(|n| Ipv4Addr::new(192, 0, 2, n).into()).collect();
        let (ms, shunned) = (Duration::from_millis, Shunned::default());
        let first = |fate| {
            let first = shunned.last(&ips)[0];
            shunned.tell(first, fate);
            shunned.last(&ips)[0]
        };
        assert_eq!(first(Fate::Connected(ms(30))), ips[0]);
        // The answers of others were enough.
        for _ in 0..8 {
            assert_eq!(first(Fate::Cut(ms(25))), ips[0]);
        }
        // It swallows now, and is waited for as long as any budget lasts.
        assert_eq!(first(Fate::Cut(ms(60))), ips[1]);
        // Never connected to: each wait counts.
        assert_eq!(first(Fate::Cut(ms(25))), ips[0]);
        assert_eq!(first(Fate::Passed), ips[1]);
        assert_eq!(first(Fate::Connected(ms(0))), ips[1]);
        assert_eq!(first(Fate::Cut(ms(1))), ips[1]);
    }

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
