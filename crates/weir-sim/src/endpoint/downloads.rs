//! Hosts of short TCP flows: one download after the other, each over a connection of its own, with idle times between.

use rand_pcg::Pcg64Mcg;
use weir_cc::{ArrivalTime, SendTime};
use weir_net::Time;
use weir_units::{DataSize, TimeDelta};
use weir_world::tcp::TcpConfig;
use weir_world::{Downloads, Monitor, Side, TransferMeta, WindowLaws};

use super::Life;
use crate::clock::Clock;
use crate::network::{Network, meta};
use crate::packet::{Body, SimPacket};
use crate::random::{exponential, unit};
use crate::tcp::{TcpReceiver, TcpSender};

/// The sending host.
#[derive(Debug)]
pub(crate) struct DownloadSource {
    life: Life,
    clock: Clock,
    config: TcpConfig,
    downloads: Downloads,
    rng: Pcg64Mcg,
    /// The connection of the present download, or of the last.
    sender: TcpSender,
    /// Its number, from 1; 0 before the first.
    connection: u32,
    download: Option<Download>,
    /// When the next download starts, if there is none.
    next: Time,
    stopped: bool,
}

/// A download under way.
#[derive(Clone, Copy, Debug)]
struct Download {
    started: Time,
    size: DataSize,
}

impl DownloadSource {
    pub(crate) fn new(
        life: Life,
        clock: Clock,
        laws: &WindowLaws,
        config: TcpConfig,
        downloads: Downloads,
        mut rng: Pcg64Mcg,
    ) -> Self {
        let idle =
            if downloads.begins_idle { exponential(&mut rng, downloads.idle) } else { TimeDelta::ZERO };
        Self {
            sender: TcpSender::new(config, laws.make(), Some(DataSize::ZERO)),
            life,
            clock,
            config,
            downloads,
            rng,
            connection: 0,
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
            self.sender.stop(local);
        }
        if self.download.is_none() && !self.stopped && now >= self.next {
            self.begin(now, local);
        }
        if self.download.is_some() && self.sender.next_timeout().is_some_and(|due| due <= local) {
            self.sender.on_timeout(local);
        }
        self.drain(now, local, network)
    }

    fn begin(&mut self, now: Time, local: SendTime) {
        let size = uniform(&mut self.rng, self.downloads.smallest, self.downloads.largest);
        self.connection = self.connection.wrapping_add(1);
        self.sender.reset(Some(size));
        self.sender.start(local);
        self.download = Some(Download { started: now, size });
    }

    pub(crate) fn deliver<M: Monitor>(
        &mut self,
        now: Time,
        packet: &SimPacket,
        network: &mut Network<M>,
    ) -> Time {
        let local = SendTime::from_nanos(self.clock.read(now));
        // What comes for an earlier connection is of no use any more.
        if let Body::NumberedAcknowledgement { connection, ack } = &packet.body
            && *connection == self.connection
            && let Some(download) = self.download
        {
            if let Some(rtt) = self.sender.on_ack(local, ack) {
                network.monitor.rtt(now, self.life.flow, rtt);
            }
            if self.sender.is_complete() {
                let Download { started, size } = download;
                network.monitor.transferred(now, self.life.flow, &TransferMeta { started, size });
                self.download = None;
                self.next = now + exponential(&mut self.rng, self.downloads.idle);
            }
        }
        self.drain(now, local, network)
    }

    fn drain<M: Monitor>(&mut self, now: Time, local: SendTime, network: &mut Network<M>) -> Time {
        if self.download.is_none() {
            return if self.stopped { Time::MAX } else { self.next.min(self.life.stop).max(now) };
        }
        while let Some(segment) = self.sender.poll_segment(local) {
            let wire_size = self.config.segment_size(&segment).bytes() as u32;
            let meta = meta(now, wire_size, u32::from(segment.payload), segment.syn);
            let body = Body::NumberedSegment { connection: self.connection, segment };
            network.send(now, self.life.flow, Side::Sender, meta, body);
        }
        let timer = self.sender.next_timeout().map_or(Time::MAX, |due| self.clock.when(due.nanos(), now));
        if self.stopped { timer } else { timer.min(self.life.stop) }
    }
}

/// The receiving host.
#[derive(Debug)]
pub(crate) struct DownloadSink {
    life: Life,
    clock: Clock,
    config: TcpConfig,
    receiver: TcpReceiver,
    connection: u32,
}

impl DownloadSink {
    pub(crate) fn new(life: Life, clock: Clock, config: TcpConfig) -> Self {
        Self { life, clock, config, receiver: TcpReceiver::new(config), connection: 0 }
    }

    pub(crate) fn deliver<M: Monitor>(
        &mut self,
        now: Time,
        packet: &SimPacket,
        network: &mut Network<M>,
    ) -> Time {
        if let Body::NumberedSegment { connection, segment } = &packet.body {
            if *connection > self.connection {
                self.connection = *connection;
                self.receiver.reset();
            }
            if *connection == self.connection {
                self.receiver.on_segment(ArrivalTime::from_nanos(self.clock.read(now)), segment);
            }
        }
        self.wake(now, network)
    }

    pub(crate) fn wake<M: Monitor>(&mut self, now: Time, network: &mut Network<M>) -> Time {
        let local = ArrivalTime::from_nanos(self.clock.read(now));
        while let Some(ack) = self.receiver.poll_ack(local) {
            let wire_size = self.config.acknowledgement_size(&ack).bytes() as u32;
            let body = Body::NumberedAcknowledgement { connection: self.connection, ack };
            network.send(now, self.life.flow, Side::Receiver, meta(now, wire_size, 0, true), body);
        }
        self.receiver.next_timeout().map_or(Time::MAX, |due| self.clock.when(due.nanos(), now))
    }
}

/// Uniformly distributed over the whole bytes from `smallest` to `largest`.
fn uniform(rng: &mut Pcg64Mcg, smallest: DataSize, largest: DataSize) -> DataSize {
    let choices = (largest.bytes().saturating_sub(smallest.bytes())).saturating_add(1);
    let drawn = ((1.0 - unit(rng)) * choices as f64) as u64;
    DataSize::from_bytes(smallest.bytes() + drawn.min(choices - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::generator;

    #[test]
    fn sizes_are_uniform_and_idle_times_exponential() {
        let mut rng = generator(1, "short", "downloads");
        let (smallest, largest) = (DataSize::from_bytes(100_000), DataSize::from_bytes(1_000_000));
        let n = 20_000;
        let sizes: Vec<f64> = (0..n).map(|_| uniform(&mut rng, smallest, largest).bytes_f64()).collect();
        assert!(sizes.iter().all(|size| (100e3..=1000e3).contains(size)));
        // Mean 550 kB, standard deviation 900 / √12 = 259.8 kB; of the mean 1.84 kB.
        let mean = sizes.iter().sum::<f64>() / f64::from(n);
        assert!((mean - 550e3).abs() < 6e3, "{mean}");
        let below = sizes.iter().filter(|&&size| size < 325e3).count() as f64 / f64::from(n);
        assert!((below - 0.25).abs() < 0.01, "a quarter of the range has a quarter: {below}");
        let idle: Vec<f64> =
            (0..n).map(|_| exponential(&mut rng, TimeDelta::from_secs(10)).secs_f64()).collect();
        // Mean and standard deviation 10 s; of the mean 0.07 s. Above 30 s lie e⁻³ = 4.98 %.
        let mean = idle.iter().sum::<f64>() / f64::from(n);
        assert!((mean - 10.0).abs() < 0.21, "{mean}");
        let above = idle.iter().filter(|&&t| t > 30.0).count() as f64 / f64::from(n);
        assert!((above - 0.0498).abs() < 0.005, "{above}");
        assert_eq!(uniform(&mut rng, smallest, smallest), smallest);
    }
}
