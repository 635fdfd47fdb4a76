//! The thread of the sending hosts.

use std::io;
use std::sync::Arc;

use nix::sys::eventfd::EventFd;
use nix::time::ClockId;
use weir_net::Time;
use weir_units::TimeDelta;
use weir_world::Side;
use weir_world::host::{ConstantSource, MediaSource};

use super::{BATCH, HOST_PRIORITY, LiveNetwork, polled, watched};
use crate::clock::nanos_of;
use crate::emulator::route_of;
use crate::inbox::{FORGIVEN, Inbox, LONGEST_WORK, is_readable};
use crate::lateness::Lateness;
use crate::realtime::{be_exact, be_realtime};

/// A sending host.
#[derive(Debug)]
pub(crate) enum Sender {
    Media(Box<MediaSource>),
    Constant(ConstantSource),
}

impl Sender {
    fn first_wake(&self) -> Time {
        match self {
            Self::Media(source) => source.first_wake(),
            Self::Constant(source) => source.first_wake(),
        }
    }

    fn wake(&mut self, now: Time, network: &mut LiveNetwork) -> Time {
        match self {
            Self::Media(source) => source.wake(now, network),
            Self::Constant(source) => source.wake(now, network),
        }
    }
}

/// The sending hosts of a run.
#[derive(Debug)]
pub(crate) struct Senders {
    pub(crate) hosts: Vec<Sender>,
    /// Host of each flow, by its index; `None` where another thread has it.
    pub(crate) of_flow: Vec<Option<usize>>,
    pub(crate) network: LiveNetwork,
}

/// The result of a thread of hosts.
#[derive(Debug)]
pub(crate) struct Hosted {
    pub(crate) network: LiveNetwork,
    /// Lateness of the wake-ups, and at senders of reading reports.
    pub(crate) lateness: Lateness,
    /// Why the thread had no real-time priority, if it asked for one.
    pub(crate) not_realtime: Option<String>,
    /// When the thread stopped; every packet that had arrived by then was read.
    pub(crate) stopped: Time,
    /// Steps of the wall clock, and receive stamps that were discarded.
    pub(crate) clock: [u64; 2],
    /// Processor time of the thread.
    pub(crate) cpu: TimeDelta,
}

impl Hosted {
    /// The result of a thread that stops now, after it has logged the packets that have arrived at `flows`, by socket.
    pub(super) fn stop(
        mut inbox: Inbox,
        mut network: LiveNetwork,
        flows: impl Iterator<Item = (usize, Side)>,
        lateness: Lateness,
        not_realtime: Option<String>,
    ) -> io::Result<Self> {
        let stopped = inbox.now();
        for (socket, (flow, from)) in flows.enumerate() {
            while let Some(arrived) = inbox.read(&network.sockets[socket].socket)? {
                let (at, late) = (arrived.at, arrived.read > stopped + LONGEST_WORK);
                network.log.arrival(at, route_of(flow, from));
                if late {
                    break;
                }
            }
            inbox.rest()?;
        }
        let cpu = TimeDelta::from_nanos(nanos_of(ClockId::CLOCK_THREAD_CPUTIME_ID));
        Ok(Self { network, lateness, not_realtime, stopped, clock: inbox.clock_figures(), cpu })
    }
}

/// Lets the calling thread be punctual. The result is why it has no real-time priority, if it was to have one.
pub(super) fn punctual(realtime: bool) -> io::Result<Option<String>> {
    be_exact()?;
    let refusal = realtime.then(|| be_realtime(HOST_PRIORITY).err()).flatten();
    Ok(refusal.map(|error| error.to_string()))
}

impl Senders {
    /// Serves the hosts until the flag is set.
    pub(crate) fn serve(
        mut self,
        mut inbox: Inbox,
        stop: &Arc<EventFd>,
        realtime: bool,
    ) -> io::Result<Hosted> {
        let not_realtime = punctual(realtime)?;
        let mut lateness = Lateness::default();
        let mut wakes: Vec<Time> = self.hosts.iter().map(Sender::first_wake).collect();
        let flows: Vec<(usize, usize)> = self.flows_of_sockets();
        let watched = watched(&self.network.sockets)?;
        let mut polled = polled(stop, &watched);
        let mut served = Time::ZERO;
        loop {
            let next = wakes.iter().copied().min().unwrap_or(Time::MAX);
            let next = next.min(self.network.next_coupler_event(served));
            if !inbox.wait(next, &mut polled)? {
                break;
            }
            for socket in (0..watched.len()).filter(|&socket| is_readable(&polled[1 + socket])) {
                let (flow, host) = flows[socket];
                for _ in 0..BATCH {
                    let Some(arrived) = inbox.read(&self.network.sockets[socket].socket)? else { break };
                    self.network.log.arrival(arrived.at, route_of(flow, Side::Receiver));
                    let Sender::Media(source) = &mut self.hosts[host] else { continue };
                    let late = arrived.read - arrived.at;
                    lateness.record(late);
                    // A reaction cannot leave earlier than the report was read.
                    let at = if late < FORGIVEN { arrived.at } else { arrived.read };
                    source.on_rtcp(at, flow, arrived.bytes, &mut self.network.log);
                    wakes[host] = source.poll(at, &mut self.network);
                    inbox.advance(at);
                    served = at;
                    self.serve_couplers(at, &mut wakes);
                }
                inbox.rest()?;
            }
            for host in 0..self.hosts.len() {
                // A host may fall behind by many packets; each has a time of its own.
                for _ in 0..BATCH {
                    let Some((at, late)) = inbox.serve_at(wakes[host]) else { break };
                    lateness.record(late);
                    wakes[host] = self.hosts[host].wake(at, &mut self.network);
                    served = at;
                    self.serve_couplers(at, &mut wakes);
                }
                inbox.rest()?;
            }
            if let Some((at, _)) = inbox.serve_at(self.network.next_coupler_event(served)) {
                served = at;
                self.serve_couplers(at, &mut wakes);
            }
        }
        let from = flows.iter().map(|&(flow, _)| (flow, Side::Receiver));
        Hosted::stop(inbox, self.network, from, lateness, not_realtime)
    }

    /// Flow and host of each socket.
    fn flows_of_sockets(&self) -> Vec<(usize, usize)> {
        let mut found = vec![(0, 0); self.network.sockets.len()];
        for (flow, host) in self.of_flow.iter().enumerate() {
            if let (Some(host), Some(socket)) = (*host, self.network.socket_of(flow, Side::Sender)) {
                found[socket] = (flow, host);
            }
        }
        found
    }

    /// Passes the couplers' actions that are due at `now` to their flows.
    fn serve_couplers(&mut self, now: Time, wakes: &mut [Time]) {
        while let Some((flow, action)) = self.network.next_action(now) {
            let Some(host) = self.of_flow[flow] else { continue };
            if let Sender::Media(source) = &mut self.hosts[host] {
                source.apply(now, flow, &action, &mut self.network);
                wakes[host] = source.wake(now, &mut self.network);
            }
        }
    }
}
