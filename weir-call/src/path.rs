//! The emulated path between the call's socket and the browser: a link each way, and cross traffic.

use std::fmt;
use std::net::SocketAddr;

use weir_net::{
    Fate, Link, LinkChange, LinkConfig, LossModel, Packet, QueueConfig, QueueLimits, Service, Time,
};
use weir_units::{DataRate, DataSize, TimeDelta};

/// Bytes of UDP and IP headers, by IP version.
const HEADERS_V4: u32 = 28;
const HEADERS_V6: u32 = 48;
/// Bytes of a packet of cross traffic.
const CROSS_PACKET: u32 = 1200;
/// Rate of the link back.
const RATE_BACK: DataRate = DataRate::from_mbps(20);
/// Limit of the queue of the link back, which bounds what anyone can put there.
const QUEUE_BACK: TimeDelta = TimeDelta::from_millis(500);
/// Seeds of the links' losses.
const SEEDS: [u64; 2] = [1, 2];

/// Settings of the path. Each has its range; [`PathSettings::validate`] names the first that is out of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathSettings {
    /// Rate of the link to the browser, headers included: 50 kbit/s to 100 Mbit/s.
    pub capacity: DataRate,
    /// Propagation delay each way: up to 2 s.
    pub delay: TimeDelta,
    /// Longest queuing delay on the way to the browser: 5 ms to 5 s.
    pub queue: TimeDelta,
    /// Random loss on the way to the browser, in [0, 0.5].
    pub loss: f64,
    /// Rate of the cross traffic: up to 100 Mbit/s.
    pub cross: DataRate,
}

impl Default for PathSettings {
    fn default() -> Self {
        Self {
            capacity: DataRate::from_kbps(2500),
            delay: TimeDelta::from_millis(25),
            queue: TimeDelta::from_millis(300),
            loss: 0.0,
            cross: DataRate::ZERO,
        }
    }
}

/// A setting of the path that is out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSettingError {
    /// Name of the setting.
    pub name: &'static str,
    /// The range.
    pub must: &'static str,
}

impl fmt::Display for PathSettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} must be {}", self.name, self.must)
    }
}

impl std::error::Error for PathSettingError {}

impl PathSettings {
    /// Checks all ranges.
    ///
    /// # Errors
    /// The first setting that is out of its range.
    pub fn validate(&self) -> Result<(), PathSettingError> {
        let (kbps, ms) = (DataRate::from_kbps, TimeDelta::from_millis);
        let highest = kbps(100_000);
        let checks = [
            ("capacity", "between 50kbps and 100Mbps", (kbps(50)..=highest).contains(&self.capacity)),
            ("delay", "between 0ms and 2s", (ms(0)..=ms(2000)).contains(&self.delay)),
            ("queue", "between 5ms and 5s", (ms(5)..=ms(5000)).contains(&self.queue)),
            ("loss", "between 0% and 50%", (0.0..=0.5).contains(&self.loss)),
            ("cross traffic", "between 0kbps and 100Mbps", self.cross <= highest),
        ];
        let wrong = checks.into_iter().find(|(_, _, holds)| !holds);
        wrong.map_or(Ok(()), |(name, must, _)| Err(PathSettingError { name, must }))
    }
}

/// A datagram on the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathDatagram {
    /// The browser's address: where it goes, or where it came from.
    pub peer: SocketAddr,
    /// Its content; empty for cross traffic.
    pub bytes: Vec<u8>,
    /// RTP sequence number of the media in it, also in a retransmission.
    pub(crate) media: Option<u16>,
    /// Payload bytes of RTP.
    pub(crate) payload: u32,
    is_cross: bool,
}

impl PathDatagram {
    /// A datagram without media.
    pub fn new(peer: SocketAddr, bytes: Vec<u8>) -> Self {
        Self { peer, bytes, media: None, payload: 0, is_cross: false }
    }
}

impl Packet for PathDatagram {
    fn wire_size(&self) -> u32 {
        if self.is_cross {
            return CROSS_PACKET;
        }
        let headers = if self.peer.is_ipv4() { HEADERS_V4 } else { HEADERS_V6 };
        u32::try_from(self.bytes.len()).unwrap_or(u32::MAX).saturating_add(headers)
    }
}

/// Counts of packets on the link to the browser, without cross traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathCounts {
    /// Packets that came out.
    pub delivered: u64,
    /// Packets that the full queue dropped.
    pub dropped: u64,
    /// Packets that random loss hit.
    pub lost: u64,
}

/// The links between the call's socket and the browser.
#[derive(Debug)]
pub struct CallPath {
    settings: PathSettings,
    there: Link<PathDatagram>,
    back: Link<PathDatagram>,
    /// When the next packet of cross traffic enters, if there is any.
    cross_due: Option<Time>,
    counts: PathCounts,
}

impl CallPath {
    /// An idle path.
    ///
    /// # Errors
    /// A setting out of its range.
    ///
    /// # Panics
    /// Never: settings in their ranges make links.
    pub fn new(settings: PathSettings) -> Result<Self, PathSettingError> {
        settings.validate()?;
        let queue = |limit_time| QueueConfig { limit_time: Some(limit_time), ..QueueConfig::default() };
        let there = LinkConfig {
            queue: queue(settings.queue),
            loss: LossModel::Bernoulli(settings.loss),
            ..LinkConfig::new(Service::Constant(settings.capacity), settings.delay)
        };
        let back = LinkConfig {
            queue: queue(QUEUE_BACK),
            ..LinkConfig::new(Service::Constant(RATE_BACK), settings.delay)
        };
        let link = |config, seed| Link::new(&config, seed).expect("valid settings make a link");
        Ok(Self {
            there: link(there, SEEDS[0]),
            back: link(back, SEEDS[1]),
            cross_due: (!settings.cross.is_zero()).then_some(Time::ZERO),
            settings,
            counts: PathCounts::default(),
        })
    }

    /// The present settings.
    pub fn settings(&self) -> &PathSettings {
        &self.settings
    }

    /// Counts on the link to the browser.
    pub fn counts(&self) -> PathCounts {
        self.counts
    }

    /// Changes the settings at `now`. Packets on the path stay there.
    ///
    /// # Errors
    /// A setting out of its range. Then nothing changes.
    ///
    /// # Panics
    /// Never: settings in their ranges are changes of a link.
    pub fn change(&mut self, now: Time, settings: PathSettings) -> Result<(), PathSettingError> {
        settings.validate()?;
        self.advance(now);
        let before = std::mem::replace(&mut self.settings, settings);
        if settings.capacity != before.capacity {
            self.there.set_rate(now, settings.capacity);
        }
        let delay = (settings.delay != before.delay).then_some(settings.delay);
        let loss = (settings.loss != before.loss).then_some(LossModel::Bernoulli(settings.loss));
        let time = Some(settings.queue);
        let limits =
            (settings.queue != before.queue).then_some(QueueLimits { time, ..QueueLimits::default() });
        let valid = "valid settings are changes of a link";
        self.there.apply(&LinkChange { at: now, delay, loss, limits }).expect(valid);
        self.back.apply(&LinkChange { at: now, delay, loss: None, limits: None }).expect(valid);
        if settings.cross.is_zero() {
            self.cross_due = None;
        } else if settings.cross != before.cross {
            // A time by the rate before may be hours away.
            let next = now + cross_interval(settings.cross);
            self.cross_due = Some(self.cross_due.map_or(now, |due| due.min(next)));
        }
        Ok(())
    }

    /// Puts a datagram to the browser on the path.
    pub fn send(&mut self, now: Time, datagram: PathDatagram) {
        self.advance(now);
        self.counts.dropped += u64::from(self.there.enqueue(now, datagram).is_err());
    }

    /// Puts a datagram of the browser on the path.
    pub fn receive(&mut self, now: Time, datagram: PathDatagram) {
        // What the full link back drops is lost.
        let _dropped = self.back.enqueue(now, datagram);
    }

    /// The next datagram that has come to the browser's end by `now`.
    pub fn pop_there(&mut self, now: Time) -> Option<PathDatagram> {
        self.advance(now);
        loop {
            let exit = self.there.pop(now)?;
            if exit.packet.is_cross {
                continue;
            }
            if exit.fate == Fate::Arrived {
                self.counts.delivered += 1;
                return Some(exit.packet);
            }
            self.counts.lost += 1;
        }
    }

    /// The next datagram that has come to the call's end by `now`.
    pub fn pop_back(&mut self, now: Time) -> Option<PathDatagram> {
        loop {
            let exit = self.back.pop(now)?;
            if exit.fate == Fate::Arrived {
                return Some(exit.packet);
            }
        }
    }

    /// When a datagram comes out, or cross traffic enters.
    pub fn next_event(&self) -> Option<Time> {
        [self.there.next_departure(), self.back.next_departure(), self.cross_due].into_iter().flatten().min()
    }

    /// Bytes that wait on the way to the browser.
    pub fn queued(&mut self, now: Time) -> DataSize {
        self.there.backlog(now).bytes
    }

    /// Lets the cross traffic until `now` enter.
    fn advance(&mut self, now: Time) {
        while let Some(due) = self.cross_due.filter(|&due| due <= now) {
            let nobody = SocketAddr::from(([0, 0, 0, 0], 0));
            let packet = PathDatagram { is_cross: true, ..PathDatagram::new(nobody, Vec::new()) };
            // The queue may be full for cross traffic, too.
            let _dropped = self.there.enqueue(due, packet);
            self.cross_due = Some(due + cross_interval(self.settings.cross));
        }
    }
}

/// Time between packets of cross traffic at this rate.
fn cross_interval(rate: DataRate) -> TimeDelta {
    DataSize::from_bytes(u64::from(CROSS_PACKET)) / rate
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> PathSettings {
        PathSettings { capacity: DataRate::from_mbps(1), ..PathSettings::default() }
    }

    /// A datagram of 1250 bytes on the wire.
    fn datagram() -> PathDatagram {
        PathDatagram::new(SocketAddr::from(([192, 0, 2, 1], 9)), vec![0; 1222])
    }

    fn ms(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// Times in ms at which datagrams come to the browser.
    fn exits(path: &mut CallPath, until: u64) -> Vec<u64> {
        let mut exits = Vec::new();
        for now in 0..until {
            exits.extend(std::iter::from_fn(|| path.pop_there(ms(now))).map(|_| now));
        }
        exits
    }

    #[test]
    fn datagrams_wait_for_the_capacity_and_take_the_delay() {
        let mut path = CallPath::new(settings()).unwrap();
        for _ in 0..40 {
            path.send(ms(0), datagram());
        }
        path.receive(ms(0), datagram());
        // 10 ms for each, of which 30 fit into 300 ms.
        assert_eq!(exits(&mut path, 400), (1..=30).map(|number| 25 + 10 * number).collect::<Vec<_>>());
        assert_eq!(path.counts(), PathCounts { delivered: 30, dropped: 10, lost: 0 });
        // 10 000 bits at 20 Mbit/s.
        assert_eq!(path.next_event(), Some(Time::from_nanos(25_500_000)));
        assert!(path.pop_back(ms(25)).is_none() && path.pop_back(ms(26)).is_some());
    }

    #[test]
    fn cross_traffic_takes_its_share_and_ends() {
        let cross = DataRate::from_kbps(480);
        let mut path = CallPath::new(PathSettings { cross, ..settings() }).unwrap();
        // 1200 bytes each 20 ms: after one of them a datagram waits for 9.6 ms.
        path.send(ms(100), datagram());
        assert_eq!(exits(&mut path, 150), [145]);
        path.change(ms(150), settings()).unwrap();
        path.send(ms(200), datagram());
        assert_eq!(path.pop_there(ms(234)), None);
        assert!(path.pop_there(ms(235)).is_some());
        assert_eq!(path.next_event(), None);
    }

    #[test]
    fn cross_traffic_takes_a_new_rate_at_once() {
        let of = |cross| PathSettings { cross, ..settings() };
        let mut path = CallPath::new(of(DataRate::from_bps(1))).unwrap();
        assert!(path.pop_there(ms(0)).is_none());
        path.change(ms(100), of(DataRate::from_kbps(480))).unwrap();
        // The next packet enters at 120 ms; the first one has been out for long.
        path.send(ms(121), datagram());
        assert_eq!(path.pop_there(ms(164)), None);
        assert!(path.pop_there(ms(165)).is_some());
    }

    #[test]
    fn settings_change_while_datagrams_wait() {
        let mut path = CallPath::new(settings()).unwrap();
        for _ in 0..3 {
            path.send(ms(0), datagram());
        }
        let delay = TimeDelta::from_millis(5);
        path.change(ms(15), PathSettings { capacity: DataRate::from_mbps(10), delay, ..settings() }).unwrap();
        // The first is on its way for 35 ms; the second has 5 ms left of ten, which become 0.5.
        assert_eq!(exits(&mut path, 100), [35, 35, 35]);
        path.change(ms(100), PathSettings { loss: 0.5, ..settings() }).unwrap();
        for now in 0..1000 {
            path.send(ms(100 + 20 * now), datagram());
            while path.pop_there(ms(100 + 20 * now)).is_some() {}
        }
        assert!((430..=570).contains(&path.counts().lost), "{:?}", path.counts());
    }

    #[test]
    fn settings_out_of_range_change_nothing() {
        let mut path = CallPath::new(settings()).unwrap();
        let wrong = PathSettings { loss: f64::NAN, ..settings() };
        let error = path.change(ms(1), wrong).unwrap_err();
        assert_eq!(error.to_string(), "the loss must be between 0% and 50%");
        assert_eq!(path.settings(), &settings());
        let slow = PathSettings { capacity: DataRate::from_kbps(10), ..settings() };
        assert_eq!(CallPath::new(slow).unwrap_err().name, "capacity");
    }
}
