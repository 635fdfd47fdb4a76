//! Places of the ends of flows.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;

use weir_world::{RunSpec, Side};

use super::run_log::RunLog;
use super::{FaceKind, LiveError, MOST_HOSTS, system};
use crate::clock::RunClock;
use crate::drive::{DriveOptions, Driver};
use crate::emulator::Emulator;
use crate::face::tun::{TunFace, TunFlow};
use crate::face::udp::{UdpFace, prepare};
use crate::hosts::HostSocket;
use crate::namespace::Namespace;
use crate::report::is_of_kernel;

/// First port of the sending ends, and of the receiving ends.
const FIRST_PORTS: [u16; 2] = [40_000, 50_000];

/// Places of the ends of flows: sockets of the loopback interface, or namespaces.
pub(super) enum Places {
    Udp {
        face: UdpFace,
        sockets: Vec<[Option<UdpSocket>; 2]>,
    },
    /// Sockets whose packets go straight to the other end.
    Direct {
        sockets: Vec<[Option<UdpSocket>; 2]>,
        ends: Vec<[SocketAddr; 2]>,
    },
    Tun {
        hosts: Vec<Arc<Namespace>>,
        of_end: Vec<[usize; 2]>,
        ends: Vec<[SocketAddr; 2]>,
        flows: Vec<TunFlow>,
    },
}

impl Places {
    pub(super) fn of(
        spec: &RunSpec,
        face: FaceKind,
        ipv6: bool,
        owners: &[usize],
    ) -> Result<Self, LiveError> {
        match face {
            FaceKind::Udp => Self::loopback(spec.flows.len(), ipv6),
            FaceKind::Tun => Self::namespaces(spec, ipv6, owners),
        }
    }

    fn loopback(flows: usize, ipv6: bool) -> Result<Self, LiveError> {
        let (sockets, ends) = Self::pairs(flows, ipv6)?;
        let face = UdpFace::new(ends).map_err(system("no socket for the emulator"))?;
        Ok(Self::Udp { face, sockets })
    }

    /// Ends of so many flows without an emulator between them.
    pub(super) fn direct(flows: usize) -> Result<Self, LiveError> {
        let (sockets, ends) = Self::pairs(flows, false)?;
        Ok(Self::Direct { sockets, ends })
    }

    /// Sockets of both ends of so many flows, and their addresses.
    #[expect(clippy::type_complexity, reason = "two lists")]
    fn pairs(
        flows: usize,
        ipv6: bool,
    ) -> Result<(Vec<[Option<UdpSocket>; 2]>, Vec<[SocketAddr; 2]>), LiveError> {
        let address: IpAddr = if ipv6 { Ipv6Addr::LOCALHOST.into() } else { Ipv4Addr::LOCALHOST.into() };
        let open = || -> io::Result<UdpSocket> {
            let socket = UdpSocket::bind((address, 0))?;
            prepare(&socket)?;
            Ok(socket)
        };
        let pairs = (0..flows).map(|_| Ok([open()?, open()?]));
        let pairs: Vec<[UdpSocket; 2]> =
            pairs.collect::<io::Result<_>>().map_err(system("no socket of the loopback interface"))?;
        let ends = pairs.iter().map(|[near, far]| Ok([near.local_addr()?, far.local_addr()?]));
        let ends = ends.collect::<io::Result<_>>().map_err(system("no address of a socket"))?;
        Ok((pairs.into_iter().map(|pair| pair.map(Some)).collect(), ends))
    }

    fn namespaces(spec: &RunSpec, ipv6: bool, owners: &[usize]) -> Result<Self, LiveError> {
        // The flows of one call share a host at either end.
        let mut owning: Vec<usize> = owners.to_vec();
        owning.sort_unstable();
        owning.dedup();
        if 2 * owning.len() > MOST_HOSTS {
            return Err(LiveError::TooManyHosts(2 * owning.len()));
        }
        let hosts = (0..2 * owning.len()).map(|number| Namespace::new(number as u8 + 1).map(Arc::new));
        let hosts: Vec<_> =
            hosts.collect::<io::Result<_>>().map_err(system("no network namespace for a host"))?;
        let (mut of_end, mut ends, mut flows) = (Vec::new(), Vec::new(), Vec::new());
        for (flow, owner) in owners.iter().enumerate() {
            let first = 2 * owning.binary_search(owner).unwrap_or(0);
            let own = [first, first + 1];
            let address = |side: usize| {
                let ip = hosts[own[side]].address(ipv6).ok_or_else(|| LiveError::System {
                    what: "no address of a host",
                    error: io::Error::new(io::ErrorKind::Unsupported, "the kernel has no IPv6"),
                })?;
                Ok::<_, LiveError>(SocketAddr::new(ip, FIRST_PORTS[side] + flow as u16))
            };
            let mut both: [SocketAddr; 2] = [address(0)?, address(1)?];
            let by_kernel = is_of_kernel(&spec.flows[flow].traffic);
            of_end.push(own);
            ends.push(both);
            if by_kernel {
                // The kernel chooses the port of a connection's sender.
                both[0].set_port(0);
            }
            flows.push(TunFlow { hosts: own, ends: both, protocol: Some(if by_kernel { 6 } else { 17 }) });
        }
        Ok(Self::Tun { hosts, of_end, ends, flows })
    }

    /// The socket of the end of `flow` at `side`.
    pub(super) fn socket(&mut self, flow: usize, side: Side) -> io::Result<HostSocket> {
        let end = side as usize;
        let taken = |sockets: &mut Vec<[Option<UdpSocket>; 2]>| {
            let socket = sockets[flow][end].take();
            socket.ok_or_else(|| io::Error::other("the end of a flow was taken twice"))
        };
        match self {
            Self::Udp { face, sockets } => {
                Ok(HostSocket { socket: taken(sockets)?, peer: Some(face.address(flow)) })
            }
            Self::Direct { sockets, ends } => {
                Ok(HostSocket { socket: taken(sockets)?, peer: Some(ends[flow][1 - end]) })
            }
            Self::Tun { hosts, of_end, ends, .. } => {
                let own = ends[flow][end];
                let socket = hosts[of_end[flow][end]].enter(|| {
                    let socket = UdpSocket::bind(own)?;
                    prepare(&socket)?;
                    Ok(socket)
                })?;
                Ok(HostSocket { socket, peer: Some(ends[flow][1 - end]) })
            }
        }
    }

    /// Source and destination of the packets of each route, where packets come without IP and UDP headers.
    pub(super) fn ends_of_routes(&self) -> Option<Vec<[SocketAddr; 2]>> {
        if let Self::Udp { face, .. } = self { Some(face.ends_of_routes()) } else { None }
    }

    /// Starts the emulator between the ends.
    pub(super) fn drive(
        &mut self,
        emulator: Emulator,
        clock: RunClock,
        options: DriveOptions,
        log: RunLog,
    ) -> io::Result<Driver<RunLog>> {
        match self {
            Self::Udp { face, .. } => {
                let face = core::mem::replace(face, UdpFace::new(Vec::new())?);
                Driver::start_with(emulator, face, clock, options, log)
            }
            Self::Direct { .. } => Err(io::Error::other("the flows have no emulator")),
            Self::Tun { hosts, flows, .. } => {
                let face = TunFace::new(hosts.clone(), flows.clone())?;
                Driver::start_with(emulator, face, clock, options, log)
            }
        }
    }
}
