//! Unnamed network namespaces, each with a TUN device.
//!
//! A namespace lives as long as a descriptor or a socket of it. The end of the process, however sudden, removes it.

use std::ffi::CStr;
use std::fs::{File, OpenOptions, read_to_string};
use std::io::{self, Read as _, Seek as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use nix::libc::O_NONBLOCK;
use nix::sched::{CloneFlags, setns, unshare};

use crate::face::MTU;
use crate::sys;

/// Name of the TUN device in its namespace.
const DEVICE: &CStr = c"weir0";
/// Packets that a TUN device holds until they are read.
const QUEUE: u16 = 10_000;
/// Time within which an address of IPv6 must be usable.
const IPV6_LIMIT: Duration = Duration::from_secs(5);
/// The device from which TUN devices are made.
const TUN_PATH: &str = "/dev/net/tun";

/// An unnamed network namespace with its loopback device and a TUN device. Each namespace reaches the addresses of all
/// others by its TUN device, and nothing else.
#[derive(Debug)]
pub struct Namespace {
    handle: File,
    /// Counters of its devices, which stay readable without any right.
    counters: Mutex<File>,
    device: OwnedFd,
    ipv4: Ipv4Addr,
    ipv6: Option<Ipv6Addr>,
}

/// The error with a sentence before it.
fn explained(sentence: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{sentence} ({error})"))
}

/// Way to the rights that are missing.
fn remedy() -> &'static str {
    let limit = read_to_string("/proc/sys/user/max_user_namespaces").unwrap_or_default();
    let allowed = limit.trim().parse().is_ok_and(|limit: u64| limit > 0);
    if allowed { "run it as root, or within `unshare -Urn`" } else { "run it as root" }
}

impl Namespace {
    /// A namespace for the host of this number, which gives it the addresses 10.84.*n*.1 and fd84::*n*:1. The calling
    /// thread stays in its own namespace.
    ///
    /// # Errors
    /// A sentence that says what is missing: the right to make namespaces, or `/dev/net/tun`.
    pub fn new(number: u8) -> io::Result<Self> {
        in_thread(move || Self::make(number))
    }

    fn make(number: u8) -> io::Result<Self> {
        unshare(CloneFlags::CLONE_NEWNET).map_err(|error| {
            explained(&format!("a network namespace cannot be made: {}", remedy()), &error.into())
        })?;
        let handle = File::open("/proc/thread-self/ns/net")?;
        let device = OpenOptions::new().read(true).write(true).custom_flags(O_NONBLOCK).open(TUN_PATH);
        let device: OwnedFd = device
            .map_err(|error| explained(&format!("{TUN_PATH} cannot be opened: {}", tun_mode()), &error))?
            .into();
        sys::make_tun(&device, DEVICE).map_err(|error| explained("a TUN device cannot be made", &error))?;

        let ipv4 = Ipv4Addr::new(10, 84, number, 1);
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        sys::bring_up(&socket, c"lo")?;
        sys::set_mtu(&socket, DEVICE, MTU as u16)?;
        sys::set_queue_length(&socket, DEVICE, QUEUE)?;
        sys::add_ipv4(&socket, DEVICE, ipv4, 16)?;
        sys::bring_up(&socket, DEVICE)?;

        let ipv6 = Ipv6Addr::new(0xfd84, 0, 0, 0, 0, 0, u16::from(number), 1);
        let ipv6 = add_ipv6(ipv6)?.then_some(ipv6);
        let counters = Mutex::new(File::open("/proc/thread-self/net/dev")?);
        Ok(Self { handle, counters, device, ipv4, ipv6 })
    }

    /// Address of IPv4.
    pub fn ipv4(&self) -> Ipv4Addr {
        self.ipv4
    }

    /// Address of IPv6; `None` where the kernel has no IPv6.
    pub fn ipv6(&self) -> Option<Ipv6Addr> {
        self.ipv6
    }

    /// Address of IPv6 if `ipv6`, else of IPv4.
    pub fn address(&self, ipv6: bool) -> Option<IpAddr> {
        if ipv6 { self.ipv6.map(IpAddr::V6) } else { Some(self.ipv4.into()) }
    }

    /// The TUN device, whose reads and writes never block.
    ///
    /// # Errors
    /// If there are no descriptors left.
    pub fn device(&self) -> io::Result<OwnedFd> {
        self.device.try_clone()
    }

    /// Runs `f` in a thread inside of the namespace: its sockets stay there.
    ///
    /// # Errors
    /// If the namespace cannot be entered, or that of `f`.
    pub fn enter<T: Send>(&self, f: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        in_thread(|| {
            self.enter_thread()?;
            f()
        })
    }

    /// Moves the calling thread into the namespace for good.
    ///
    /// # Errors
    /// If the namespace cannot be entered.
    pub(crate) fn enter_thread(&self) -> io::Result<()> {
        Ok(setns(&self.handle, CloneFlags::CLONE_NEWNET)?)
    }

    /// Packets that the kernel dropped because the TUN device was full.
    ///
    /// # Errors
    /// If the counters cannot be read.
    pub fn drops(&self) -> io::Result<u64> {
        let mut counters = String::new();
        let mut file = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        file.rewind()?;
        file.read_to_string(&mut counters)?;
        let line = counters.lines().find_map(|line| {
            let (name, counters) = line.split_once(':')?;
            (name.trim().as_bytes() == DEVICE.to_bytes()).then_some(counters)
        });
        // Eight columns of what the device received are followed by those of what it sent: bytes, packets, errors, drops.
        let drops = line.and_then(|line| line.split_whitespace().nth(8 + 3)?.parse().ok());
        drops.ok_or_else(|| io::Error::other("the kernel counts no packets of the TUN device"))
    }
}

/// Gives the TUN device of the calling thread's namespace this address, and waits until it can be used: the kernel first
/// looks for duplicates, if only for a moment. The result is whether the kernel has IPv6.
fn add_ipv6(address: Ipv6Addr) -> io::Result<bool> {
    let Ok(socket) = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)) else { return Ok(false) };
    if sys::add_ipv6(&socket, DEVICE, address, 64).is_err() {
        return Ok(false);
    }
    let usable = || UdpSocket::bind((address, 0)).is_ok();
    for _ in 0..IPV6_LIMIT.as_millis() {
        if usable() {
            return Ok(true);
        }
        thread::sleep(Duration::from_millis(1));
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, format!("the address {address} does not become usable")))
}

/// The mode of the device, as a sentence with a remedy.
fn tun_mode() -> String {
    use std::os::unix::fs::PermissionsExt;
    match std::fs::metadata(TUN_PATH) {
        Ok(metadata) => {
            let mode = metadata.permissions().mode() & 0o777;
            format!("its mode is {mode:o}, so only root may; `chmod 666 {TUN_PATH}` opens it to all")
        }
        Err(_) => "the kernel has no TUN devices; `modprobe tun` loads them".to_owned(),
    }
}

/// The result of `f` in a thread of its own.
fn in_thread<T: Send>(f: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("weir-namespace".to_owned()).spawn_scoped(scope, f)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
