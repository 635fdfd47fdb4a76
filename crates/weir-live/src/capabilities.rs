//! Capabilities of the machine, found by trying, with a sentence for each thing that is missing.

/// Whether a thing can be had; if not, a sentence that says what is missing.
pub type Availability = Result<(), String>;

/// Capabilities of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The UDP face over IPv4.
    pub udp: Availability,
    /// The UDP face over IPv6.
    pub udp_ipv6: Availability,
    /// The TUN face over IPv4.
    pub tun: Availability,
    /// The TUN face over IPv6.
    pub tun_ipv6: Availability,
    /// Real-time priority.
    pub realtime: Availability,
    /// The kernel's TCP algorithms of these names, in the namespaces of the TUN face.
    pub tcp: Vec<(String, Availability)>,
}

impl Capabilities {
    /// Tries everything, with these TCP algorithms.
    pub fn probe(algorithms: &[&str]) -> Self {
        system::probe(algorithms)
    }

    /// The sentences of what is missing, each with the name of the thing.
    pub fn missing(&self) -> Vec<String> {
        let named = [
            ("UDP over IPv4", &self.udp),
            ("UDP over IPv6", &self.udp_ipv6),
            ("TUN over IPv4", &self.tun),
            ("TUN over IPv6", &self.tun_ipv6),
            ("real-time priority", &self.realtime),
        ];
        let tcp = self.tcp.iter().map(|(name, found)| (format!("TCP algorithm {name}"), found));
        let all = named.into_iter().map(|(name, found)| (name.to_owned(), found)).chain(tcp);
        all.filter_map(|(name, found)| Some(format!("{name}: {}", found.as_ref().err()?))).collect()
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::ffi::OsString;
    use std::io;
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
    use std::thread;

    use nix::sys::socket::sockopt::TcpCongestion;
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socket};

    use super::{Availability, Capabilities};
    use crate::face::udp::prepare;
    use crate::namespace::Namespace;
    use crate::realtime::{EMULATOR_PRIORITY, be_realtime};

    pub(super) fn probe(algorithms: &[&str]) -> Capabilities {
        let namespace = Namespace::new(1).map_err(|error| error.to_string());
        let tcp = |&name: &&str| (name.to_owned(), tcp(namespace.as_ref(), name));
        Capabilities {
            udp: udp(Ipv4Addr::LOCALHOST.into()),
            udp_ipv6: udp(Ipv6Addr::LOCALHOST.into()),
            tcp: algorithms.iter().map(tcp).collect(),
            tun_ipv6: match &namespace {
                Ok(namespace) => namespace.ipv6().map(drop).ok_or("the kernel has no IPv6".to_owned()),
                Err(error) => Err(error.clone()),
            },
            tun: namespace.map(drop),
            realtime: realtime(),
        }
    }

    fn udp(loopback: IpAddr) -> Availability {
        let made = UdpSocket::bind((loopback, 0)).and_then(|socket| prepare(&socket));
        made.map_err(|error| format!("a socket on {loopback} cannot be used ({error})"))
    }

    fn tcp(namespace: Result<&Namespace, &String>, name: &str) -> Availability {
        let choose = || {
            let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
            Ok(setsockopt(&socket, TcpCongestion, &OsString::from(name))?)
        };
        let chosen = namespace.map_err(String::clone)?.enter(choose);
        chosen.map_err(|error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => "this kernel does not have it".to_owned(),
            io::ErrorKind::PermissionDenied => "this kernel allows it to root only".to_owned(),
            _ => error.to_string(),
        })
    }

    fn realtime() -> Availability {
        let tried = thread::spawn(|| be_realtime(EMULATOR_PRIORITY)).join();
        let tried = tried.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        tried.map_err(|error| format!("it needs CAP_SYS_NICE or a limit RLIMIT_RTPRIO ({error})"))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::Capabilities;
    use crate::NEEDS_LINUX;

    pub(super) fn probe(algorithms: &[&str]) -> Capabilities {
        let missing = || Err(NEEDS_LINUX.to_owned());
        Capabilities {
            udp: missing(),
            udp_ipv6: missing(),
            tun: missing(),
            tun_ipv6: missing(),
            realtime: missing(),
            tcp: algorithms.iter().map(|&name| (name.to_owned(), missing())).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_capabilities_are_named_with_their_sentence() {
        let capabilities = Capabilities {
            udp: Ok(()),
            udp_ipv6: Ok(()),
            tun: Err("run it as root".to_owned()),
            tun_ipv6: Ok(()),
            realtime: Ok(()),
            tcp: vec![("vegas".to_owned(), Err("this kernel does not have it".to_owned()))],
        };
        assert_eq!(
            capabilities.missing(),
            ["TUN over IPv4: run it as root", "TCP algorithm vegas: this kernel does not have it"]
        );
    }
}
