//! Hosts of web-like traffic: clients that send requests, at the receiving end, and a server that answers over TCP.
//!
//! A request travels from the receiver to the sender; the server answers it over a connection of its own. A client
//! without a response repeats its request after a second, and after twice as long each time (RFC 6298 §2.1, §5.5). Each
//! client has an additional delay of its own, for which its packets wait before they leave.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_pcg::Pcg64Mcg;
use weir_cc::{ArrivalTime, SendTime};
use weir_net::Time;
use weir_units::{DataSize, TimeDelta};
use weir_world::tcp::{Segment, TcpConfig};
use weir_world::{ConnectionKey, Monitor, Side, TransferMeta, WebTraffic, WindowAlgorithms};

use super::connection::SendingEnd;
use crate::network::Network;
use crate::packet::{Body, SimPacket};
use crate::random::{response_size, session_requests};
use crate::schedule::WakeUpSchedule;
use crate::tcp::{TcpReceiver, TcpSender};
use weir_world::host::{Clock, Life, packet_meta};
use weir_world::random::{exponential, unit};

/// Bytes of a request on the wire: headers and the request itself.
const REQUEST_SIZE: u32 = 400;
/// Time after which a client repeats its request for the first time.
const FIRST_REPEAT: TimeDelta = TimeDelta::from_secs(1);
/// Greatest number of times that a client sends one request.
const MAX_ATTEMPTS: u32 = 6;

/// The host of the web server.
#[derive(Debug)]
pub(crate) struct WebServer {
    life: Life,
    clock: Clock,
    algorithms: WindowAlgorithms,
    config: TcpConfig,
    /// Connections by client number. The next request of a client reuses the connection's memory.
    connections: Vec<Connection>,
    /// Time of each connection's next timer.
    timers: WakeUpSchedule,
}

#[derive(Debug)]
struct Connection {
    /// The sending end; its connection number is that of the request it answers.
    end: SendingEnd,
    busy: bool,
}

impl WebServer {
    pub(crate) fn new(life: Life, clock: Clock, algorithms: WindowAlgorithms, config: TcpConfig) -> Self {
        Self { life, clock, algorithms, config, connections: Vec::new(), timers: WakeUpSchedule::new(1) }
    }

    pub(crate) fn wake<M: Monitor>(&mut self, now: Time, network: &mut Network<M>) -> Time {
        let local = SendTime::from_nanos(self.clock.read(now));
        loop {
            let (due, index) = self.timers.first();
            if due > now {
                return due;
            }
            self.connections[index].end.sender.on_timeout(local);
            self.drain(now, local, index, network);
        }
    }

    pub(crate) fn deliver<M: Monitor>(
        &mut self,
        now: Time,
        packet: &SimPacket,
        network: &mut Network<M>,
    ) -> Time {
        let local = SendTime::from_nanos(self.clock.read(now));
        match &packet.body {
            Body::Request(key, size) => {
                self.answer(local, *key, *size);
                self.drain(now, local, key.client as usize, network);
            }
            Body::Acknowledgement(key, ack) => {
                let index = key.client as usize;
                let connection = self.connections.get_mut(index).filter(|c| c.busy && c.end.key == *key);
                let Some(connection) = connection else { return self.timers.first().0 };
                connection.end.on_ack(now, local, ack, network);
                connection.busy = !connection.end.sender.is_complete();
                self.drain(now, local, index, network);
            }
            _ => {}
        }
        self.timers.first().0
    }

    /// Opens the connection for a request, unless it is open already.
    fn answer(&mut self, local: SendTime, key: ConnectionKey, size: DataSize) {
        let index = key.client as usize;
        while self.connections.len() <= index {
            let sender = TcpSender::new(self.config, self.algorithms.make(), Some(DataSize::ZERO));
            let key = ConnectionKey { client: self.connections.len() as u32, connection: 0 };
            let end = SendingEnd { flow: self.life.flow, config: self.config, sender, key };
            self.connections.push(Connection { end, busy: false });
        }
        self.timers.grow(self.connections.len());
        let Connection { end, busy } = &mut self.connections[index];
        if key.connection > end.key.connection {
            end.key = key;
            end.sender.reset(Some(size));
            end.sender.start(local);
            *busy = true;
        }
    }

    fn drain<M: Monitor>(&mut self, now: Time, local: SendTime, index: usize, network: &mut Network<M>) {
        let Some(connection) = self.connections.get_mut(index) else { return };
        if !connection.busy {
            return self.timers.set(index, Time::MAX);
        }
        let due = connection.end.flush(now, local, network);
        self.timers.set(index, due.map_or(Time::MAX, |due| self.clock.when(due.nanos(), now)));
    }
}

/// The host of all web clients.
#[derive(Debug)]
pub(crate) struct WebClients {
    life: Life,
    clock: Clock,
    config: TcpConfig,
    web: WebTraffic,
    rng: Pcg64Mcg,
    /// Mean time between the starts of sessions.
    between: TimeDelta,
    next_session: Time,
    clients: Vec<Client>,
    /// Time at which each client is next served.
    due: WakeUpSchedule,
    free: Vec<u32>,
    /// Packets that wait for their client's extra delay, the earliest first. The number keeps packets of equal times
    /// in order.
    leaving: BinaryHeap<Reverse<DelayedPacket>>,
    left: u64,
}

#[derive(Debug)]
struct Client {
    receiver: TcpReceiver,
    extra: TimeDelta,
    /// Number of requests in the session after the present one.
    requests_left: u32,
    /// Number of the present request.
    request: u32,
    size: DataSize,
    requested_at: Time,
    attempts: u32,
    state: ClientActivity,
}

/// Activity of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClientActivity {
    /// No session is in progress.
    Idle,
    /// The user reads until the next request at this time.
    Thinking(Time),
    /// The client waits for a response, and repeats the request at this time.
    Waiting(Time),
    /// The response arrives.
    Receiving,
}

/// A packet that waits for its client's extra delay.
#[derive(Debug)]
struct DelayedPacket {
    at: Time,
    number: u64,
    body: Body,
}

impl PartialEq for DelayedPacket {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.number) == (other.at, other.number)
    }
}

impl Eq for DelayedPacket {}

impl PartialOrd for DelayedPacket {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for DelayedPacket {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl WebClients {
    pub(crate) fn new(
        life: Life,
        clock: Clock,
        config: TcpConfig,
        web: WebTraffic,
        mut rng: Pcg64Mcg,
    ) -> Self {
        let between = TimeDelta::from_secs_f64((1.0 / web.sessions_per_second(&config)).min(1e6));
        let next_session = life.start + exponential(&mut rng, between);
        Self {
            life,
            clock,
            config,
            web,
            rng,
            between,
            next_session,
            clients: Vec::new(),
            due: WakeUpSchedule::new(1),
            free: Vec::new(),
            leaving: BinaryHeap::new(),
            left: 0,
        }
    }

    pub(crate) fn first_wake(&self) -> Time {
        self.next_session
    }

    pub(crate) fn wake<M: Monitor>(&mut self, now: Time, network: &mut Network<M>) -> Time {
        // A client that has just become free still has its last acknowledgement to send.
        self.serve_due(now);
        while self.next_session <= now && now < self.life.stop {
            self.begin_session(now);
            self.next_session += exponential(&mut self.rng, self.between).max(TimeDelta::from_nanos(1));
        }
        self.serve_due(now);
        while self.leaving.peek().is_some_and(|Reverse(first)| first.at <= now) {
            let Some(Reverse(DelayedPacket { body, .. })) = self.leaving.pop() else { break };
            let wire_size = match &body {
                Body::Acknowledgement(_, ack) => self.config.acknowledgement_size(ack).bytes() as u32,
                _ => REQUEST_SIZE,
            };
            network.send(now, self.life.flow, Side::Receiver, packet_meta(now, wire_size, 0, true), body);
        }
        let sessions = if self.next_session < self.life.stop { self.next_session } else { Time::MAX };
        let leaving = self.leaving.peek().map_or(Time::MAX, |Reverse(first)| first.at);
        self.due.first().0.min(sessions).min(leaving)
    }

    fn serve_due(&mut self, now: Time) {
        loop {
            let (due, index) = self.due.first();
            if due > now {
                return;
            }
            self.serve(now, index);
            self.due.set(index, self.next_service(now, index));
        }
    }

    /// Time at which client `index` is next served.
    fn next_service(&self, now: Time, index: usize) -> Time {
        let client = &self.clients[index];
        let own = match client.state {
            ClientActivity::Thinking(at) | ClientActivity::Waiting(at) => at,
            ClientActivity::Idle | ClientActivity::Receiving => Time::MAX,
        };
        let ack = client.receiver.next_timeout();
        own.min(ack.map_or(Time::MAX, |due| self.clock.when(due.nanos(), now)))
    }

    fn begin_session(&mut self, now: Time) {
        let index = self.free.pop().unwrap_or_else(|| {
            self.clients.push(Client {
                receiver: TcpReceiver::new(self.config),
                extra: TimeDelta::ZERO,
                requests_left: 0,
                request: 0,
                size: DataSize::ZERO,
                requested_at: now,
                attempts: 0,
                state: ClientActivity::Idle,
            });
            self.clients.len() as u32 - 1
        });
        let range = self.web.most_extra - self.web.least_extra;
        let client = &mut self.clients[index as usize];
        client.extra = self.web.least_extra + range.scale(1.0 - unit(&mut self.rng));
        client.requests_left = session_requests(&mut self.rng, &self.web);
        client.state = ClientActivity::Thinking(now);
        self.due.grow(self.clients.len());
        self.due.set(index as usize, now);
    }

    /// Serves client `index` at `now`.
    fn serve(&mut self, now: Time, index: usize) {
        let client = &mut self.clients[index];
        match client.state {
            ClientActivity::Thinking(until) if until <= now => {
                if now >= self.life.stop {
                    client.state = ClientActivity::Idle;
                    return;
                }
                client.requests_left -= 1;
                client.request += 1;
                client.size = response_size(&mut self.rng, &self.web.sizes);
                client.receiver.reset();
                (client.requested_at, client.attempts) = (now, 0);
                self.send_request(now, index);
            }
            ClientActivity::Waiting(until) if until <= now => {
                if client.attempts < MAX_ATTEMPTS {
                    self.send_request(now, index);
                } else {
                    client.state = ClientActivity::Idle;
                    self.free.push(index as u32);
                }
            }
            _ => {}
        }
        let local = ArrivalTime::from_nanos(self.clock.read(now));
        while let Some(ack) = self.clients[index].receiver.poll_ack(local) {
            let body = Body::Acknowledgement(self.key(index), ack);
            self.leave(now, index, body);
        }
    }

    fn send_request(&mut self, now: Time, index: usize) {
        let client = &mut self.clients[index];
        client.state = ClientActivity::Waiting(now + client.extra + FIRST_REPEAT * (1i64 << client.attempts));
        client.attempts += 1;
        let size = client.size;
        let body = Body::Request(self.key(index), size);
        self.leave(now, index, body);
    }

    /// The connection of client `index` for its present request.
    fn key(&self, index: usize) -> ConnectionKey {
        ConnectionKey { client: index as u32, connection: self.clients[index].request }
    }

    /// Whether a segment has arrived before. All segments of a complete response count as arrived.
    pub(crate) fn has_received(&self, key: ConnectionKey, segment: &Segment) -> bool {
        let client = self.clients.get(key.client as usize);
        client.is_none_or(|client| {
            client.request != key.connection || client.receiver.has_received(segment.number)
        })
    }

    fn leave(&mut self, now: Time, index: usize, body: Body) {
        self.left += 1;
        let at = now + self.clients[index].extra;
        self.leaving.push(Reverse(DelayedPacket { at, number: self.left, body }));
    }

    pub(crate) fn deliver<M: Monitor>(
        &mut self,
        now: Time,
        packet: &SimPacket,
        network: &mut Network<M>,
    ) -> Time {
        if let Body::Segment(ConnectionKey { client: index, connection }, segment) = packet.body
            && let Some(client) = self.clients.get_mut(index as usize)
            && client.request == connection
        {
            self.due.set(index as usize, now);
            client.receiver.on_segment(ArrivalTime::from_nanos(self.clock.read(now)), &segment);
            if matches!(client.state, ClientActivity::Waiting(_)) {
                client.state = ClientActivity::Receiving;
            }
            if client.state == ClientActivity::Receiving && client.receiver.delivered() >= client.size {
                let transfer = TransferMeta { started: client.requested_at, size: client.size };
                network.monitor.transferred(now, self.life.flow, &transfer);
                if client.requests_left > 0 && now < self.life.stop {
                    let think = exponential(&mut self.rng, self.web.think);
                    client.state = ClientActivity::Thinking(now + think);
                } else {
                    client.state = ClientActivity::Idle;
                    self.free.push(index);
                }
            }
        }
        self.wake(now, network)
    }
}
