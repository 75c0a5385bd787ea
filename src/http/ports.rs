//! Whether this host has a local port left. The system says the same (EADDRNOTAVAIL) where it has none for a
//! connection and where it has no address of the other end's family, as in a container without IPv6.

use socket2::{Domain, Socket, Type};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

/// Whether no port is left to be had: then connecting fails for want of one, and else for another reason.
pub(super) fn are_gone() -> bool {
    // One that fits no connection of either family; where there is no IPv6, of the other.
    let both = take(Domain::IPV6, (Ipv6Addr::UNSPECIFIED, 0).into());
    let taken = both.or_else(|_| take(Domain::IPV4, (Ipv4Addr::UNSPECIFIED, 0).into()));
    taken.is_err_and(|error| is_for_want_of_ports(&error))
}

/// Takes any port for a moment; nobody listens there.
fn take(domain: Domain, any: SocketAddr) -> io::Result<()> {
    Socket::new(domain, Type::STREAM, None)?.bind(&any.into())
}

/// Whether this is how the system refuses a port of any number.
pub(super) fn is_for_want_of_ports(error: &io::Error) -> bool {
    error.kind() == ErrorKind::AddrInUse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l03_a_host_with_ports_is_not_short_of_them() {
        assert!(!are_gone());
        assert!(is_for_want_of_ports(&io::Error::from(ErrorKind::AddrInUse)));
        assert!(!is_for_want_of_ports(&io::Error::from(ErrorKind::AddrNotAvailable)), "no IPv6");
    }

    #[test]
    fn l03_any_port_is_taken_without_sharing_it() {
        let taken = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap_or_else(|e| panic!("{e}"));
        let bound = taken.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into());
        let port = bound.and_then(|()| taken.local_addr()).ok().and_then(|a| a.as_socket()).map(|a| a.port());
        let port = port.unwrap_or_else(|| panic!("a port"));
        let again = take(Domain::IPV4, (Ipv4Addr::UNSPECIFIED, port).into());
        assert!(again.is_err_and(|error| is_for_want_of_ports(&error)));
    }
}
