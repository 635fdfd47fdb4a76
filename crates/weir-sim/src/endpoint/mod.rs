//! Hosts, the ends of flows. They send packets into the network and receive packets from it. Each host has one next
//! wake-up.

mod chromium;
mod connection;
mod downloads;
mod transport;
mod web;

use weir_cc::coupled::CouplerAction;
use weir_media::SenderSeeds;
use weir_net::Time;

use crate::network::Network;
use crate::packet::{Body, SimPacket};
use crate::seed::generator;

use chromium::{ChromiumSink, ChromiumSource};
use downloads::DownloadSource;
use transport::{TcpSink, TcpSource};
use web::{WebClients, WebServer};
use weir_world::host::{Clock, ConstantSource, Life, MediaSink, MediaSource};
use weir_world::random::DownloadDraws;
use weir_world::{FlowSpec, Monitor, PacketMeta, Traffic, purpose, stream};

/// One end of a flow, or of all flows of a call.
#[derive(Debug)]
pub(crate) enum HostEndpoint {
    Constant(ConstantSource),
    /// A host that discards packets, or receives none.
    Drain,
    MediaSource(Box<MediaSource>),
    MediaSink(Box<MediaSink>),
    TcpSource(Box<TcpSource>),
    TcpSink(Box<TcpSink>),
    DownloadSource(Box<DownloadSource>),
    WebServer(Box<WebServer>),
    WebClients(Box<WebClients>),
    ChromiumSource(Box<ChromiumSource>),
    ChromiumSink(ChromiumSink),
}

impl HostEndpoint {
    /// The two hosts of a flow: its sender and its receiver.
    pub(crate) fn pair(seed: u64, index: usize, spec: FlowSpec) -> [Self; 2] {
        let life = Life::of(index, &spec);
        let (near, far) = (Clock::new(spec.sender_clock), Clock::new(spec.receiver_clock));
        match spec.traffic {
            Traffic::Constant { rate, packet_size } => {
                let source = ConstantSource::steady(life, rate, packet_size, spec.pauses);
                [Self::Constant(source), Self::Drain]
            }
            Traffic::Unresponsive(traffic) => {
                [Self::Constant(ConstantSource::new(life, &traffic, spec.pauses)), Self::Drain]
            }
            Traffic::Media(_) => {
                let mut pair = [
                    Self::MediaSource(Box::new(MediaSource::new(near))),
                    Self::MediaSink(Box::new(MediaSink::new(far))),
                ];
                Self::join(&mut pair, seed, index, spec);
                pair
            }
            Traffic::Tcp { algorithm, config, size, .. } => {
                let measured = spec.coupled.as_ref().is_some_and(|coupled| coupled.statistics.is_some());
                let sink = TcpSink::new(life, far, config);
                // Statistics of the queuing delay need reports of the one-way delay, which TCP has not.
                let sink = if measured { sink.with_delay_reports() } else { sink };
                let source = TcpSource::new(life, near, algorithm, config, size, spec.coupled);
                [Self::TcpSource(Box::new(source)), Self::TcpSink(Box::new(sink))]
            }
            Traffic::Downloads { algorithms, config, downloads } => {
                let draws = DownloadDraws::new(seed, &spec.name, downloads);
                let source = DownloadSource::new(life, near, &algorithms, config, draws);
                let sink = TcpSink::new(life, far, config);
                [Self::DownloadSource(Box::new(source)), Self::TcpSink(Box::new(sink))]
            }
            Traffic::Web { algorithms, config, web } => {
                let random = generator(seed, &spec.name, purpose::WEB);
                let clients = WebClients::new(life, far, config, web, random);
                let server = WebServer::new(life, near, algorithms, config);
                [Self::WebServer(Box::new(server)), Self::WebClients(Box::new(clients))]
            }
            Traffic::ChromiumTcp { config, size } => [
                Self::ChromiumSource(Box::new(ChromiumSource::new(life, near, config, size))),
                Self::ChromiumSink(ChromiumSink::new(life, config)),
            ],
        }
    }

    /// Adds a media flow to the two hosts.
    pub(crate) fn join(pair: &mut [Self], seed: u64, index: usize, spec: FlowSpec) {
        let life = Life::of(index, &spec);
        let random = |purpose| stream(seed, &spec.name, purpose);
        let (Traffic::Media(media), [Self::MediaSource(source), Self::MediaSink(sink)]) =
            (spec.traffic, pair)
        else {
            return;
        };
        if let Some(controller) = media.sender {
            let seeds = SenderSeeds { encoder: random(purpose::ENCODER), rtcp: random(purpose::SENDER_RTCP) };
            source.add(life, controller, &media.config, seeds, spec.pauses, spec.coupled);
        }
        if let Some(controller) = media.receiver {
            sink.add(life, controller, &media.config, random(purpose::RECEIVER_RTCP));
        }
    }

    /// Time of the host's first wake-up.
    pub(crate) fn first_wake(&self) -> Time {
        match self {
            Self::Constant(source) => source.first_wake(),
            Self::MediaSource(source) => source.first_wake(),
            Self::TcpSource(source) => source.first_wake(),
            Self::DownloadSource(source) => source.first_wake(),
            Self::WebClients(clients) => clients.first_wake(),
            Self::ChromiumSource(source) => source.first_wake(),
            Self::Drain
            | Self::MediaSink(_)
            | Self::TcpSink(_)
            | Self::WebServer(_)
            | Self::ChromiumSink(_) => Time::MAX,
        }
    }

    /// Serves the host's wake-up. Returns the time of the next one.
    #[inline]
    pub(crate) fn wake<M: Monitor>(&mut self, now: Time, network: &mut Network<M>) -> Time {
        match self {
            Self::Constant(source) => source.wake(now, network),
            Self::MediaSource(source) => source.wake(now, network),
            Self::MediaSink(sink) => sink.wake(now, network),
            Self::TcpSource(source) => source.wake(now, network),
            Self::TcpSink(sink) => sink.wake(now, network),
            Self::DownloadSource(source) => source.wake(now, network),
            Self::WebServer(server) => server.wake(now, network),
            Self::WebClients(clients) => clients.wake(now, network),
            Self::ChromiumSource(source) => source.wake(now, network),
            Self::Drain | Self::ChromiumSink(_) => Time::MAX,
        }
    }

    /// Delivers a packet. Returns the time of the host's next wake-up.
    pub(crate) fn deliver<M: Monitor>(
        &mut self,
        now: Time,
        packet: &SimPacket,
        network: &mut Network<M>,
    ) -> Time {
        if self.has_received(packet) {
            // Repeated data are no goodput (RFC 8868 §3).
            let again = PacketMeta { payload: 0, ..packet.meta };
            network.monitor.delivered(now, packet.flow as usize, &again);
        } else {
            network.monitor.delivered(now, packet.flow as usize, &packet.meta);
        }
        match self {
            Self::MediaSource(source) => {
                if let Body::Rtcp { slot } = packet.body {
                    source.on_rtcp(now, packet.flow as usize, network.rtcp.bytes(slot), &mut network.monitor);
                    network.rtcp.release(slot);
                }
                source.poll(now, network)
            }
            Self::MediaSink(sink) => {
                let flow = packet.flow as usize;
                match &packet.body {
                    Body::Media { header, payload, ecn } => {
                        sink.on_media(now, flow, (header, *payload), *ecn, &mut network.monitor);
                    }
                    &Body::Rtcp { slot } => {
                        sink.on_rtcp(now, flow, network.rtcp.bytes(slot), &mut network.monitor);
                        network.rtcp.release(slot);
                    }
                    _ => {}
                }
                sink.poll(now, flow, network)
            }
            Self::TcpSource(source) => source.deliver(now, packet, network),
            Self::TcpSink(sink) => sink.deliver(now, packet, network),
            Self::DownloadSource(source) => source.deliver(now, packet, network),
            Self::WebServer(server) => server.deliver(now, packet, network),
            Self::WebClients(clients) => clients.deliver(now, packet, network),
            Self::ChromiumSource(source) => source.deliver(now, packet, network),
            Self::ChromiumSink(sink) => sink.deliver(now, packet, network),
            Self::Constant(_) | Self::Drain => Time::MAX,
        }
    }
}

impl HostEndpoint {
    /// Whether the packet repeats data that the host has received, so that its payload does not count.
    #[inline]
    fn has_received(&self, packet: &SimPacket) -> bool {
        let Body::Segment(key, segment) = &packet.body else { return false };
        match self {
            Self::TcpSink(sink) => sink.has_received(*key, segment),
            Self::WebClients(clients) => clients.has_received(*key, segment),
            _ => false,
        }
    }

    /// Applies a coupler's action to one of the host's flows. The host is woken afterwards.
    pub(crate) fn apply<M: Monitor>(
        &mut self,
        now: Time,
        flow: usize,
        action: &CouplerAction,
        network: &mut Network<M>,
    ) {
        match self {
            Self::MediaSource(source) => source.apply(now, flow, action, network),
            Self::TcpSource(source) => source.apply(now, action, network),
            _ => {}
        }
    }
}
