//! A UDP forwarder over one link: a sender and a receiver on loopback, the emulator between them.

use std::error::Error;
use std::net::{Ipv4Addr, UdpSocket};
use std::thread;
use std::time::Duration;

use weir_live::clock::RunClock;
use weir_live::conclusive::{VerdictFigures, reasons};
use weir_live::drive::{DriveOptions, Driven, Driver};
use weir_live::emulator::{Emulator, Event, EventKind};
use weir_live::face::udp::{UdpFace, prepare};
use weir_live::lateness::Lateness;
use weir_live::realtime::{EMULATOR_PRIORITY, be_exact};
use weir_live::sys::socket_drops;
use weir_net::{LinkConfig, QueueConfig, Service, Time};
use weir_units::{DataRate, TimeDelta};
use weir_world::LinkSpec;

/// Bytes of a packet, headers included.
const PACKET: u32 = 1200;

/// A forwarder that has ended.
pub(crate) struct ForwardFigures {
    driven: Driven,
    wake_ups: Lateness,
    received: u64,
    /// Packets that the receiver's socket dropped.
    dropped: u64,
}

/// Sends packets over a link of `mbps` for `seconds`, at `load` times its rate.
pub(crate) fn forward(mbps: f64, seconds: f64, load: f64) -> Result<ForwardFigures, Box<dyn Error>> {
    let rate = DataRate::from_bps_f64(mbps * 1e6);
    let queue = QueueConfig { limit_time: Some(TimeDelta::from_millis(300)), ..QueueConfig::default() };
    let config = LinkConfig { queue, ..LinkConfig::new(Service::Constant(rate), TimeDelta::from_millis(25)) };
    let emulator = Emulator::new(1, &[LinkSpec::bottleneck("link", config)], &[[0], [0]])?;

    let [sender, receiver] = [(); 2].map(|()| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)));
    let (sender, receiver) = (sender?, receiver?);
    prepare(&receiver)?;
    receiver.set_nonblocking(false)?;
    receiver.set_read_timeout(Some(Duration::from_secs(1)))?;
    let face = UdpFace::new(vec![[sender.local_addr()?, receiver.local_addr()?]])?;
    let address = face.address(0);
    let clock = RunClock::start();
    let sent_until = Time::from_nanos((seconds * 1e9) as u64);
    let packets = (seconds * mbps * 1e6 * load / 8.0 / f64::from(PACKET)) as u64;
    let options = DriveOptions {
        priority: Some(EMULATOR_PRIORITY),
        end: sent_until + TimeDelta::from_secs(1),
        log: 4 * packets as usize,
        buffers: 4096,
    };
    let driver = Driver::start(emulator, face, clock, options)?;

    let counting = thread::spawn(move || {
        let mut bytes = [0; 2048];
        let received = std::iter::from_fn(|| receiver.recv(&mut bytes).ok()).count() as u64;
        (received, socket_drops(&receiver))
    });
    let sending = thread::spawn(move || -> std::io::Result<Lateness> {
        be_exact()?;
        let mut wake_ups = Lateness::default();
        for packet in 0..packets {
            let at = Time::from_nanos((packet as f64 / packets as f64 * seconds * 1e9) as u64);
            let wait = at - clock.now();
            if wait > TimeDelta::ZERO {
                thread::sleep(Duration::from_nanos(wait.nanos() as u64));
                wake_ups.record(clock.now() - at);
            }
            sender.send_to(&[0; PACKET as usize - 28], address)?;
        }
        Ok(wake_ups)
    });
    let wake_ups = sending.join().expect("the sender does not panic")?;
    let (received, lost) = counting.join().expect("the receiver does not panic");
    Ok(ForwardFigures { driven: driver.stop()?, wake_ups, received, dropped: lost? })
}

impl ForwardFigures {
    /// How late the deliveries were.
    pub(crate) fn lateness(&self) -> &Lateness {
        &self.driven.lateness
    }

    /// Packets lost outside of the link.
    pub(crate) fn lost_outside(&self) -> u64 {
        let arrived = self.received + self.dropped;
        self.driven.lost_outside() + self.dropped + self.driven.delivered.saturating_sub(arrived)
    }

    /// Times of the first and the last delivery.
    fn ends(&self) -> [Time; 2] {
        let delivered = |event: &&Event| matches!(event.kind, EventKind::Delivered { .. });
        let mut times = self.driven.log.iter().filter(delivered).map(|event| event.at);
        let first = times.next().unwrap_or_default();
        [first, times.next_back().unwrap_or(first)]
    }

    /// Rate between the first and the last delivery.
    pub(crate) fn rate_mbps(&self) -> f64 {
        let [first, last] = self.ends();
        let bits = (self.driven.delivered.max(1) - 1) as f64 * f64::from(PACKET) * 8.0;
        bits / (last - first).secs_f64().max(1e-9) / 1e6
    }

    /// Processor time as a share of one core.
    pub(crate) fn cpu_share(&self) -> f64 {
        self.driven.cpu.secs_f64() / self.ends()[1].secs_f64().max(1e-9)
    }

    pub(crate) fn print(&self) {
        let Self { driven, wake_ups, received, .. } = self;
        println!("rate {:.4} Mbit/s between the first and the last delivery", self.rate_mbps());
        println!(
            "packets: {} in, {received} received, {} dropped by the link, {} inside, {} lost outside",
            driven.entered,
            driven.dropped,
            driven.inside,
            self.lost_outside()
        );
        for (name, lateness) in [("emulator", &driven.lateness), ("sender", wake_ups)] {
            let [p50, p99, max] = lateness.summary_ms().map(|ms| 1e3 * ms);
            println!("{name} late: p50 {p50:.0} us, p99 {p99:.0} us, max {max:.0} us");
        }
        println!("processor: {:.1} % of a core", 100.0 * self.cpu_share());
        if let Some(why) = &driven.not_realtime {
            println!("without real-time priority: {why}");
        }
        let (emulator, senders) = (driven.lateness.clone(), wake_ups.clone());
        for reason in reasons(&VerdictFigures { emulator, senders, lost_outside: self.lost_outside() }) {
            println!("inconclusive: {reason}");
        }
    }
}
