//! Hosts of short TCP flows: successive downloads, each over its own connection, with idle times between them (RFC
//! 8868 §4.1).

use rand_pcg::Pcg64Mcg;
use weir_cc::SendTime;
use weir_net::Time;
use weir_units::{DataSize, TimeDelta};
use weir_world::tcp::TcpConfig;
use weir_world::{ConnectionKey, DownloadTraffic, Monitor, TransferMeta, WindowAlgorithms};

use super::connection::SendingEnd;
use crate::network::Network;
use crate::packet::{Body, SimPacket};
use crate::random::{exponential, unit};
use crate::tcp::TcpSender;
use weir_world::host::{Clock, Life};

/// The host that sends the downloads.
#[derive(Debug)]
pub(crate) struct DownloadSource {
    life: Life,
    clock: Clock,
    downloads: DownloadTraffic,
    rng: Pcg64Mcg,
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
        laws: &WindowAlgorithms,
        config: TcpConfig,
        downloads: DownloadTraffic,
        mut rng: Pcg64Mcg,
    ) -> Self {
        let idle =
            if downloads.begins_idle { exponential(&mut rng, downloads.idle) } else { TimeDelta::ZERO };
        let sender = TcpSender::new(config, laws.make(), Some(DataSize::ZERO));
        Self {
            connection: SendingEnd { flow: life.flow, config, sender, key: ConnectionKey::default() },
            life,
            clock,
            downloads,
            rng,
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
        let size = uniform(&mut self.rng, self.downloads.smallest, self.downloads.largest);
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
                self.next = now + exponential(&mut self.rng, self.downloads.idle);
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

/// A size in whole bytes, uniformly distributed from `smallest` to `largest`.
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
