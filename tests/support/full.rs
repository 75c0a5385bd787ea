//! Listeners at which a connect hangs.

use socket2::{Domain, Socket, Type};
use std::net::SocketAddr;
use std::time::Duration;

/// A listener whose queue is full: Linux drops what else would connect, as a firewall does. Returns its address and
/// what keeps it full.
pub fn full(address: SocketAddr) -> (SocketAddr, Vec<Socket>) {
    let socket = || Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    let listener = socket();
    listener.bind(&address.into()).expect("a port");
    listener.listen(0).expect("a listener");
    let address = listener.local_addr().expect("an address").as_socket().expect("an IP address");
    let mut held = vec![listener];
    loop {
        let guest = socket();
        let entered = guest.connect_timeout(&address.into(), Duration::from_millis(200));
        held.push(guest);
        if entered.is_err() {
            return (address, held);
        }
        assert!(held.len() < 64, "a queue of nothing never gets full");
    }
}
