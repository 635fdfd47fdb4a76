//! The thread of the receiving hosts.

use std::io;
use std::sync::Arc;

use nix::sys::eventfd::EventFd;
use weir_net::Time;
use weir_wire::media::MediaHeader;
use weir_wire::rtcp::is_rtcp;
use weir_world::Side;
use weir_world::host::MediaSink;

use super::senders::{Hosted, punctual};
use super::{BATCH, LiveNetwork, extensions, polled, watched};
use crate::emulator::route_of;
use crate::inbox::{Inbox, is_readable};
use crate::lateness::Lateness;

/// The receiving hosts of a run.
#[derive(Debug)]
pub(crate) struct Receivers {
    /// Hosts of media flows. Other flows have none: their packets are read and counted.
    pub(crate) hosts: Vec<MediaSink>,
    /// Host of each flow, by its index.
    pub(crate) of_flow: Vec<Option<usize>>,
    pub(crate) network: LiveNetwork,
}

impl Receivers {
    /// Serves the hosts until the flag is set.
    pub(crate) fn serve(
        mut self,
        mut inbox: Inbox,
        stop: &Arc<EventFd>,
        realtime: bool,
    ) -> io::Result<Hosted> {
        let not_realtime = punctual(realtime)?;
        let mut lateness = Lateness::default();
        let mut wakes = vec![Time::MAX; self.hosts.len()];
        let flows = self.flows_of_sockets();
        let watched = watched(&self.network.sockets)?;
        let mut polled = polled(stop, &watched);
        loop {
            let next = wakes.iter().copied().min().unwrap_or(Time::MAX);
            if !inbox.wait(next, &mut polled)? {
                break;
            }
            for socket in (0..watched.len()).filter(|&socket| is_readable(&polled[1 + socket])) {
                let flow = flows[socket];
                for _ in 0..BATCH {
                    let Some(arrived) = inbox.read(&self.network.sockets[socket].socket)? else { break };
                    let at = arrived.at;
                    self.network.log.arrival(at, route_of(flow, Side::Sender));
                    let Some(host) = self.of_flow[flow] else { continue };
                    let sink = &mut self.hosts[host];
                    if is_rtcp(arrived.bytes) {
                        sink.on_rtcp(at, flow, arrived.bytes, &mut self.network.log);
                    } else if let Ok(header) = MediaHeader::parse(arrived.bytes, &extensions()) {
                        let payload = arrived.bytes.len().saturating_sub(header.wire_len());
                        let log = &mut self.network.log;
                        sink.on_media(at, flow, (&header, payload as u16), arrived.ecn, log);
                    }
                    wakes[host] = sink.poll(at, flow, &mut self.network);
                }
                inbox.rest()?;
            }
            for (host, sink) in self.hosts.iter_mut().enumerate() {
                for _ in 0..BATCH {
                    let Some((at, late)) = inbox.serve_at(wakes[host]) else { break };
                    lateness.record(late);
                    wakes[host] = sink.wake(at, &mut self.network);
                }
                inbox.rest()?;
            }
        }
        let from = flows.iter().map(|&flow| (flow, Side::Sender));
        Hosted::stop(inbox, self.network, from, lateness, not_realtime)
    }

    /// Flow of each socket.
    fn flows_of_sockets(&self) -> Vec<usize> {
        let mut found = vec![0; self.network.sockets.len()];
        for flow in 0..self.of_flow.len() {
            if let Some(socket) = self.network.socket_of(flow, Side::Receiver) {
                found[socket] = flow;
            }
        }
        found
    }
}
