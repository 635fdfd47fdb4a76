//! Hosts of short TCP flows: successive downloads, each over its own connection, with idle times between them (RFC
//! 8868 §4.1).

use weir_cc::SendTime;
use weir_net::Time;
use weir_units::DataSize;
use weir_world::tcp::TcpConfig;
use weir_world::{ConnectionKey, Monitor, TransferMeta, WindowAlgorithms};

use super::connection::SendingEnd;
use crate::network::Network;
use crate::packet::{Body, SimPacket};
use crate::tcp::TcpSender;
use weir_world::host::{Clock, Life};
use weir_world::random::DownloadDraws;

/// The host that sends the downloads.
#[derive(Debug)]
pub(crate) struct DownloadSource {
    life: Life,
    clock: Clock,
    draws: DownloadDraws,
    /// Connection of the present download or of the last one. Connections are numbered from 1; the number is 0 before
    /// the first.
    connection: SendingEnd,
    download: Option<Download>,
    /// Start of the next download; used while no download is in progress.
    next: Time,
    stopped: bool,
}

/// A download in progress.
#[derive(Clone, Copy, Debug)]
struct Download {
    started: Time,
    size: DataSize,
}

impl DownloadSource {
    pub(crate) fn new(
        life: Life,
        clock: Clock,
        algorithms: &WindowAlgorithms,
        config: TcpConfig,
        mut draws: DownloadDraws,
    ) -> Self {
        let idle = draws.first_idle();
        let sender = TcpSender::new(config, algorithms.make(), Some(DataSize::ZERO));
        Self {
            connection: SendingEnd { flow: life.flow, config, sender, key: ConnectionKey::default() },
            life,
            clock,
            draws,
            download: None,
            next: life.start + idle,
            stopped: false,
        }
    }

    pub(crate) fn first_wake(&self) -> Time {
        self.next.min(self.life.stop)
    }

    pub(crate) fn wake<M: Monitor>(&mut self, now: Time, network: &mut Network<M>) -> Time {
        let local = SendTime::from_nanos(self.clock.read(now));
        if now >= self.life.stop && !self.stopped {
            self.stopped = true;
            self.connection.sender.stop(local);
        }
        if self.download.is_none() && !self.stopped && now >= self.next {
            self.begin(now, local);
        }
        if self.download.is_some() {
            self.connection.on_timer(now, local, network);
        }
        self.drain(now, local, network)
    }

    fn begin(&mut self, now: Time, local: SendTime) {
        let size = self.draws.size();
        self.connection.key.connection += 1;
        self.connection.sender.reset(Some(size));
        self.connection.sender.start(local);
        self.download = Some(Download { started: now, size });
    }

    pub(crate) fn deliver<M: Monitor>(
        &mut self,
        now: Time,
        packet: &SimPacket,
        network: &mut Network<M>,
    ) -> Time {
        let local = SendTime::from_nanos(self.clock.read(now));
        // Acknowledgements of an earlier connection are ignored.
        if let Body::Acknowledgement(key, ack) = &packet.body
            && *key == self.connection.key
            && let Some(download) = self.download
        {
            self.connection.on_ack(now, local, ack, network);
            if self.connection.sender.is_complete() {
                let Download { started, size } = download;
                network.monitor.transferred(now, self.life.flow, &TransferMeta { started, size });
                self.download = None;
                self.next = now + self.draws.idle();
            }
        }
        self.drain(now, local, network)
    }

    fn drain<M: Monitor>(&mut self, now: Time, local: SendTime, network: &mut Network<M>) -> Time {
        if self.download.is_none() {
            return if self.stopped { Time::MAX } else { self.next.min(self.life.stop).max(now) };
        }
        let timer = self.connection.flush(now, local, network);
        let timer = timer.map_or(Time::MAX, |due| self.clock.when(due.nanos(), now));
        if self.stopped { timer } else { timer.min(self.life.stop) }
    }
}
