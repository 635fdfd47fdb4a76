//! A UDP forwarder over one link: a sender and a receiver on loopback, the emulator between them.
//!
//! `forward [MBPS [SECONDS [LOAD]]]` prints the rate that arrived, how late the emulator was and its processor time.

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    linux::run()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("{}", weir_live::NEEDS_LINUX);
}

#[cfg(target_os = "linux")]
mod linux {
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

    pub(super) fn run() -> Result<(), Box<dyn Error>> {
        let mut arguments = std::env::args().skip(1);
        let mut number = |default: f64| arguments.next().map_or(Ok(default), |text| text.parse());
        let (mbps, seconds, load) = (number(10.0)?, number(10.0)?, number(1.5)?);
        let rate = DataRate::from_bps_f64(mbps * 1e6);
        let queue = QueueConfig { limit_time: Some(TimeDelta::from_millis(300)), ..QueueConfig::default() };
        let config =
            LinkConfig { queue, ..LinkConfig::new(Service::Constant(rate), TimeDelta::from_millis(25)) };
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
        let driven = driver.stop()?;
        print(&driven, wake_ups, received, lost?);
        Ok(())
    }

    fn print(driven: &Driven, wake_ups: Lateness, received: u64, lost: u64) {
        let mut times = driven
            .log
            .iter()
            .filter_map(|&Event { at, kind, .. }| matches!(kind, EventKind::Delivered { .. }).then_some(at));
        let (first, last) = (times.clone().next().unwrap_or_default(), times.next_back().unwrap_or_default());
        let bits = (driven.delivered.max(1) - 1) as f64 * f64::from(PACKET) * 8.0;
        println!(
            "rate {:.4} Mbit/s between the first and the last delivery",
            bits / (last - first).secs_f64() / 1e6
        );
        println!(
            "packets: {} in, {received} received, {} dropped by the link, {} inside, {} lost outside",
            driven.entered,
            driven.dropped,
            driven.inside,
            driven.lost_outside() + lost
        );
        let late = |name: &str, lateness: &Lateness| {
            let [p50, p99] = [0.5, 0.99].map(|share| lateness.percentile(share).secs_f64() * 1e6);
            println!(
                "{name} late: p50 {p50:.0} us, p99 {p99:.0} us, max {:.0} us",
                lateness.max().secs_f64() * 1e6
            );
        };
        late("emulator", &driven.lateness);
        late("sender", &wake_ups);
        println!("processor: {:.1} % of a core", 100.0 * driven.cpu.secs_f64() / last.secs_f64());
        if let Some(why) = &driven.not_realtime {
            println!("without real-time priority: {why}");
        }
        let lost_outside = driven.lost_outside() + lost + driven.delivered - received;
        let evidence = VerdictFigures { emulator: driven.lateness.clone(), senders: wake_ups, lost_outside };
        for reason in reasons(&evidence) {
            println!("inconclusive: {reason}");
        }
    }
}
