//! How an end meets the other one: addresses of names, keys, and sockets.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};

use weir_peer::drive::PeerSocket;
use weir_peer::key_file;
use weir_peer::keys::KeyRing;

use crate::args::SessionArgs;
use crate::failure::Failure;

/// The usual port of the end that is called.
const PORT: u16 = 5004;

/// How an end meets the other one.
#[derive(Debug)]
pub(super) enum MeetingPlace {
    /// It calls each of these addresses until one answers. There is at least one.
    Calls(Vec<SocketAddr>),
    /// It listens at this socket.
    Listens(PeerSocket),
}

impl MeetingPlace {
    /// The place that the options name, and the keys of its sessions.
    pub(super) fn find(
        args: &SessionArgs,
        address: Option<&str>,
        calls: bool,
    ) -> Result<(Self, KeyRing), Failure> {
        let trusted = args.key.is_some() || args.open;
        let addresses = match address {
            Some(address) => resolve(address)?,
            None if trusted => vec![(Ipv4Addr::UNSPECIFIED, PORT).into()],
            None => vec![(Ipv4Addr::LOCALHOST, PORT).into()],
        };
        let keys = keys(args, &addresses)?;
        let place = if calls { Self::Calls(addresses) } else { Self::Listens(listening(&addresses)?) };
        Ok((place, keys))
    }
}

pub(super) fn wrong(option: &str, problem: String) -> Failure {
    Failure::Option { option: option.to_owned(), problem }
}

/// The keys of the options, or an error if a network beyond this machine would be used without.
fn keys(args: &SessionArgs, addresses: &[SocketAddr]) -> Result<KeyRing, Failure> {
    if let Some(file) = &args.key {
        return key_file::read(file).map_err(|error| Failure::Machine(error.to_string()));
    }
    let beyond = addresses.iter().find(|address| !address.ip().is_loopback());
    let Some(beyond) = beyond.filter(|_| !args.open) else { return Ok(KeyRing::open()) };
    let problem = "beyond this machine a key is needed: `weir keygen FILE` writes one, and both ends take --key FILE; with --open only \
                   the return path is proved";
    Err(wrong(&beyond.to_string(), problem.to_owned()))
}

/// All addresses of HOST:PORT; the port may be left out.
fn resolve(text: &str) -> Result<Vec<SocketAddr>, Failure> {
    let with_port = |text: &str| text.to_socket_addrs().map(Vec::from_iter);
    let found = match with_port(text) {
        Err(_) if !text.contains(':') || text.ends_with(']') => with_port(&format!("{text}:{PORT}")),
        found => found,
    };
    let unknown =
        |problem: String| wrong(text, format!("{problem}; write HOST:PORT, such as 192.0.2.7:{PORT}"));
    let mut addresses = Vec::new();
    for address in found.map_err(|error| unknown(error.to_string()))? {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() { Err(unknown("there is no such host".to_owned())) } else { Ok(addresses) }
}

/// A socket at the first of the addresses that this machine has.
fn listening(addresses: &[SocketAddr]) -> Result<PeerSocket, Failure> {
    let mut failure = None;
    for address in addresses {
        match PeerSocket::bind(*address) {
            Ok(socket) => return Ok(socket),
            // Another address of the same name would hide that there are two receivers.
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                let problem = "the port is in use; end the other program, or name another port";
                return Err(wrong(&address.to_string(), problem.to_owned()));
            }
            Err(error) => failure = Some(wrong(&address.to_string(), error.to_string())),
        }
    }
    Err(failure.expect("a name has an address"))
}

/// A socket from which `to` is called.
///
/// # Errors
/// The system has no address of this family.
pub(super) fn calling(to: SocketAddr) -> io::Result<PeerSocket> {
    PeerSocket::bind((unspecified(to), 0).into())
}

/// Whether the system knows a route to `to`.
pub(super) fn has_route(to: SocketAddr) -> bool {
    UdpSocket::bind((unspecified(to), 0)).and_then(|socket| socket.connect(to)).is_ok()
}

/// The address that stands for all of this machine, of the family of `to`.
fn unspecified(to: SocketAddr) -> IpAddr {
    if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_name_has_all_its_addresses_once_each_and_the_usual_port() {
        assert_eq!(resolve("192.0.2.7").unwrap(), [address("192.0.2.7:5004")]);
        assert_eq!(resolve("[2001:db8::7]").unwrap(), [address("[2001:db8::7]:5004")]);
        let found = resolve("localhost:7").unwrap();
        let all: Vec<_> = "localhost:7".to_socket_addrs().unwrap().collect();
        assert!(all.iter().all(|address| found.iter().filter(|own| *own == address).count() == 1));
    }

    #[test]
    fn an_end_listens_at_the_first_address_of_this_machine() {
        // 192.0.2.0/24 is for documentation: no machine has an address of it.
        let listens = |addresses: &[&str]| {
            let addresses: Vec<_> = addresses.iter().map(|text| address(text)).collect();
            let own = |socket: PeerSocket| socket.local_addr().unwrap().ip().to_string();
            listening(&addresses).map(own).map_err(|error| error.to_string())
        };
        assert_eq!(listens(&["192.0.2.7:0", "127.0.0.1:0"]).unwrap(), "127.0.0.1");
        let taken = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let taken_socket = UdpSocket::bind(taken).unwrap();
        let error = listens(&[&taken.to_string(), "127.0.0.1:0"]).unwrap_err();
        assert!(error.contains("the port is in use"), "{error}");
        drop(taken_socket);
        let error = listens(&["192.0.2.7:0"]).unwrap_err();
        assert!(error.starts_with("192.0.2.7:0: "), "{error}");
    }
}
