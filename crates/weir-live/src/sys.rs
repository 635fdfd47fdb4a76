//! System calls of Linux that `nix` lacks: the only unsafe code of this crate.
#![expect(unsafe_code, reason = "each call below is one that no safe library offers")]

use std::ffi::{CStr, c_int, c_short, c_uint, c_ulong};
use std::io;
use std::mem::{MaybeUninit, size_of, zeroed};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr::{null, null_mut};

use nix::libc;
use weir_units::TimeDelta;

use crate::report::TcpInfo;

/// The result of a system call that returns a negative number on failure.
fn checked(result: c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// An `ioctl` whose argument is a value that the kernel reads, and may overwrite.
///
/// # Safety
/// `T` is the type that the kernel expects for `request`.
unsafe fn ioctl<T>(fd: impl AsFd, request: c_ulong, argument: &mut T) -> io::Result<()> {
    // SAFETY: the descriptor is open while `fd` lives, and the argument is a valid `T` for the time of the call.
    checked(unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), request as _, std::ptr::from_mut(argument)) })
}

/// A request about the network device `name`.
fn request(name: &CStr) -> libc::ifreq {
    // SAFETY: `ifreq` is integers, addresses and pointers, for all of which zero is a value.
    let mut request: libc::ifreq = unsafe { zeroed() };
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name.iter_mut().take(room).zip(name.to_bytes()) {
        *to = *from as _;
    }
    request
}

/// Makes `device`, an open `/dev/net/tun`, the TUN device `name` of the present network namespace: whole IP packets
/// without further headers. (`nix` has no TUN.)
pub(crate) fn make_tun(device: &OwnedFd, name: &CStr) -> io::Result<()> {
    let mut request = request(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as c_short;
    // SAFETY: TUNSETIFF takes an `ifreq`.
    unsafe { ioctl(device, libc::TUNSETIFF as c_ulong, &mut request) }
}

/// Brings a network device up. `socket` is any socket of its namespace. (`nix` reads interfaces but does not change
/// them; the same holds for the calls below.)
pub(crate) fn bring_up(socket: impl AsFd, name: &CStr) -> io::Result<()> {
    let mut request = request(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as c_short;
    // SAFETY: SIOCSIFFLAGS takes an `ifreq`.
    unsafe { ioctl(socket, libc::SIOCSIFFLAGS, &mut request) }
}

/// Sets the largest packet of a network device.
pub(crate) fn set_mtu(socket: impl AsFd, name: &CStr, mtu: u16) -> io::Result<()> {
    let mut request = request(name);
    request.ifr_ifru.ifru_mtu = c_int::from(mtu);
    // SAFETY: SIOCSIFMTU takes an `ifreq`.
    unsafe { ioctl(socket, libc::SIOCSIFMTU, &mut request) }
}

/// Sets the packets that a network device holds until they are read.
pub(crate) fn set_queue_length(socket: impl AsFd, name: &CStr, packets: u16) -> io::Result<()> {
    let mut request = request(name);
    // The kernel reads an `int` here, for which this library has no field of its own name.
    request.ifr_ifru.ifru_metric = c_int::from(packets);
    // SAFETY: SIOCSIFTXQLEN takes an `ifreq`.
    unsafe { ioctl(socket, libc::SIOCSIFTXQLEN, &mut request) }
}

/// Gives a network device an IPv4 address. `socket` is one of IPv4.
pub(crate) fn add_ipv4(socket: impl AsFd, name: &CStr, address: Ipv4Addr, prefix: u32) -> io::Result<()> {
    let mask = Ipv4Addr::from_bits(u32::MAX.checked_shl(32 - prefix).unwrap_or(0));
    for (call, address) in [(libc::SIOCSIFADDR, address), (libc::SIOCSIFNETMASK, mask)] {
        let mut request = request(name);
        // SAFETY: `sockaddr_in` is integers, for all of which zero is a value.
        let mut socket_address: libc::sockaddr_in = unsafe { zeroed() };
        socket_address.sin_family = libc::AF_INET as libc::sa_family_t;
        socket_address.sin_addr.s_addr = u32::from_ne_bytes(address.octets());
        // SAFETY: both types have 16 bytes, and any bytes are a `sockaddr`.
        request.ifr_ifru.ifru_addr =
            unsafe { std::mem::transmute::<libc::sockaddr_in, libc::sockaddr>(socket_address) };
        // SAFETY: both calls take an `ifreq`.
        unsafe { ioctl(socket.as_fd(), call, &mut request)? };
    }
    Ok(())
}

/// Gives a network device an IPv6 address. `socket` is one of IPv6.
pub(crate) fn add_ipv6(socket: impl AsFd, name: &CStr, address: Ipv6Addr, prefix: u32) -> io::Result<()> {
    let mut device = request(name);
    // SAFETY: SIOCGIFINDEX takes an `ifreq`.
    unsafe { ioctl(socket.as_fd(), libc::SIOCGIFINDEX, &mut device)? };
    let mut request = libc::in6_ifreq {
        ifr6_addr: libc::in6_addr { s6_addr: address.octets() },
        ifr6_prefixlen: prefix,
        // SAFETY: the kernel has just written the index.
        ifr6_ifindex: unsafe { device.ifr_ifru.ifru_ifindex },
    };
    // SAFETY: on a socket of IPv6 this call takes an `in6_ifreq`.
    unsafe { ioctl(socket, libc::SIOCSIFADDR, &mut request) }
}

/// An option of a socket that is plain integers, as many bytes of it as the kernel knows. (`nix` has neither TCP_INFO
/// nor SO_MEMINFO.)
///
/// # Safety
/// Zero and whatever the kernel writes for this option are values of `T`.
unsafe fn option<T>(socket: impl AsFd, level: c_int, name: c_int) -> io::Result<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    let mut length = size_of::<T>() as libc::socklen_t;
    let socket = socket.as_fd().as_raw_fd();
    // SAFETY: the kernel writes at most `length` bytes, for which `value` has room.
    checked(unsafe { libc::getsockopt(socket, level, name, value.as_mut_ptr().cast(), &raw mut length) })?;
    // SAFETY: what was not written is zero, which the caller says is a value.
    Ok(unsafe { value.assume_init() })
}

/// Sets the DF bit of all packets of a socket of UDP, and lets no message of ICMP shorten them (IP_PMTUDISC_PROBE): anybody
/// can forge one. (`nix` lacks the option.)
pub(crate) fn set_df(socket: impl AsFd, ipv6: bool) -> io::Result<()> {
    let (level, name, value) = if ipv6 {
        (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_PROBE)
    } else {
        (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE)
    };
    let (socket, length) = (socket.as_fd().as_raw_fd(), size_of::<c_int>() as libc::socklen_t);
    // SAFETY: the kernel reads `length` bytes of an integer that lives as long as the call.
    checked(unsafe { libc::setsockopt(socket, level, name, (&raw const value).cast(), length) })
}

/// Packets that the kernel dropped at a socket so far, for lack of room or a wrong checksum. The counter is that of
/// SO_RXQ_OVFL, which however comes only with a later packet.
///
/// # Errors
/// If the descriptor is no socket.
pub fn socket_drops(socket: impl AsFd) -> io::Result<u64> {
    const COUNTERS: usize = libc::SK_MEMINFO_DROPS as usize + 1;
    // SAFETY: SO_MEMINFO is an array of integers.
    let counters: [u32; COUNTERS] = unsafe { option(socket, libc::SOL_SOCKET, libc::SO_MEMINFO)? };
    Ok(u64::from(counters[COUNTERS - 1]))
}

/// The state of a connection (TCP_INFO).
///
/// # Errors
/// If the socket is none of TCP.
pub fn tcp_info(socket: impl AsFd) -> io::Result<TcpInfo> {
    // SAFETY: `tcp_info` is integers.
    let info: libc::tcp_info = unsafe { option(socket, libc::IPPROTO_TCP, libc::TCP_INFO)? };
    Ok(TcpInfo {
        window: info.tcpi_snd_cwnd,
        threshold: info.tcpi_snd_ssthresh,
        segment: info.tcpi_snd_mss,
        rtt: TimeDelta::from_micros(i64::from(info.tcpi_rtt)),
        unacked: info.tcpi_unacked,
        retransmitted: info.tcpi_total_retrans,
        acked: info.tcpi_bytes_acked,
        received: info.tcpi_bytes_received,
        unsent: info.tcpi_notsent_bytes,
        marked: info.tcpi_delivered_ce,
    })
}

/// Schedules the calling thread by SCHED_FIFO. (`nix` has no scheduling policies.)
pub(crate) fn schedule_fifo(priority: u8) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: c_int::from(priority) };
    // SAFETY: the parameters are valid for the time of the call; process 0 is the calling thread.
    checked(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) })
}

/// Lets the child of `command` become the first process of its process namespace, and the program its child. When the
/// first process ends, the kernel ends all others of the namespace. The first process ends with the program, and with
/// the thread that spawned it. With `user` both run as this user and group, without other groups or capabilities. (A
/// program that is itself the first process would ignore most signals.)
pub(crate) fn become_first_process(command: &mut Command, user: Option<(u32, u32)>) {
    // SAFETY: the closure runs in the only thread of a forked child, and makes plain system calls alone.
    unsafe { command.pre_exec(move || first_process(user)) };
}

/// Returns in the child of the first process alone.
///
/// # Safety
/// The process has one thread, and is the first one of its namespace.
unsafe fn first_process(user: Option<(u32, u32)>) -> io::Result<()> {
    const READ: [c_int; 4] = [libc::SIGCHLD, libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
    // SAFETY: all pointers are null, or to values that live as long as the call. Zero is a signal set.
    unsafe {
        // A process list of its own. Without the right to mount one the program sees that of the machine.
        if libc::unshare(libc::CLONE_NEWNS) == 0 {
            let (root, proc) = (c"/".as_ptr(), c"proc".as_ptr());
            // A mount that other namespaces share would replace their process list, too.
            if libc::mount(null(), root, null(), libc::MS_REC | libc::MS_PRIVATE, null()) == 0 {
                let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
                libc::mount(proc, c"/proc".as_ptr(), proc, flags, null());
            }
        }
        if let Some((uid, gid)) = user {
            checked(libc::setgroups(0, null()))?;
            checked(libc::setgid(gid))?;
            checked(libc::setuid(uid))?;
        }
        // A change of the user would clear this.
        checked(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        // The soft limit is that of the emulator's thread.
        let mut limit: libc::rlimit = zeroed();
        checked(libc::getrlimit(libc::RLIMIT_RTTIME, &raw mut limit))?;
        limit.rlim_cur = limit.rlim_max;
        checked(libc::setrlimit(libc::RLIMIT_RTTIME, &raw const limit))?;
        let (mut none, mut read): (libc::sigset_t, libc::sigset_t) = (zeroed(), zeroed());
        for signal in READ {
            libc::sigaddset(&raw mut read, signal);
        }
        checked(libc::sigprocmask(libc::SIG_SETMASK, &raw const read, null_mut()))?;
        let program = libc::fork();
        if program == 0 {
            libc::sigemptyset(&raw mut none);
            return checked(libc::sigprocmask(libc::SIG_SETMASK, &raw const none, null_mut()));
        }
        checked(program)?;
        // Among them is the pipe on which the spawning thread waits for the program.
        libc::syscall(libc::SYS_close_range, 0, c_uint::MAX, 0);
        loop {
            let mut info: libc::siginfo_t = zeroed();
            let signal = libc::sigwaitinfo(&raw const read, &raw mut info);
            if signal != libc::SIGCHLD {
                // To all others of the namespace, as a terminal does; the signals of the terminal itself have reached them.
                if signal > 0 && info.si_code == libc::SI_USER {
                    libc::kill(-1, signal);
                }
                continue;
            }
            let mut status = 0;
            loop {
                let ended = libc::waitpid(-1, &raw mut status, libc::WNOHANG);
                if ended <= 0 {
                    break;
                }
                if ended == program {
                    let by_signal = 128 + libc::WTERMSIG(status);
                    let exited = libc::WIFEXITED(status);
                    libc::_exit(if exited { libc::WEXITSTATUS(status) } else { by_signal });
                }
            }
        }
    }
}
