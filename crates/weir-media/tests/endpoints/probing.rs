//! Probes, seen in the packets that leave the sender and their times.

use std::sync::{Arc, Mutex};

use weir_cc::{
    AllocatedRate, Controller, Decision, Feedback, PathEvent, Probe, ProbeId, SendState, SendTime,
    SentPacket, Target,
};
use weir_media::MediaSender;
use weir_units::{DataRate, DataSize};

use crate::rig::{config, media_sender};
use crate::sender::target;

/// A controller of 300 kbit/s, as fast as the encoder makes packets, that requests probes at the start and records the
/// packets sent.
#[derive(Debug)]
pub(crate) struct Probing {
    pub(crate) probes: Vec<Probe>,
    /// Probe requested at each event, with increasing numbers.
    pub(crate) on_event: Option<Probe>,
    pub(crate) sent: Arc<Mutex<Vec<SentPacket>>>,
}

impl Controller for Probing {
    fn on_sent(&mut self, packet: &SentPacket, _: &SendState) {
        self.sent.lock().unwrap().push(*packet);
    }

    fn on_feedback(&mut self, _: SendTime, _: &Feedback<'_>, _: &SendState) -> Option<Decision> {
        None
    }

    fn on_event(&mut self, _: SendTime, _: PathEvent) -> Option<Decision> {
        let probe = self.on_event.as_mut()?;
        self.probes.push(*probe);
        probe.id = probe.id.checked_add(1).unwrap();
        None
    }

    fn target(&self) -> Target {
        target(300)
    }

    fn poll_probe(&mut self) -> Option<Probe> {
        self.probes.pop()
    }

    fn apply_allocation(&mut self, _: SendTime, share: AllocatedRate) -> DataRate {
        share.rate
    }
}

pub(crate) fn probe(id: u16, kbps: u64, packets: u32, bytes: u64) -> Probe {
    let id = ProbeId::new(id).unwrap();
    Probe { id, rate: DataRate::from_kbps(kbps), packets, size: DataSize::from_bytes(bytes) }
}

/// Packets that leave within 100 ms if each call is `late_ms` late: time in µs, payload, probe.
fn departures(mut probes: Vec<Probe>, late_ms: i64) -> Vec<(i64, i64, Option<u16>)> {
    probes.reverse();
    let sent = Arc::new(Mutex::new(Vec::new()));
    let controller = Probing { probes, on_event: None, sent: Arc::clone(&sent) };
    let mut sender: MediaSender = media_sender(Box::new(controller), &config());
    sender.start(SendTime::ZERO);
    let end = SendTime::from_millis(90);
    let mut now = SendTime::ZERO;
    while let Some(due) = sender.next_timeout().filter(|&due| due <= end) {
        now = now.max(due + weir_units::TimeDelta::from_millis(late_ms));
        while sender.poll_frame(now).is_some() {}
        while sender.poll_packet(now).is_some() {}
    }
    let sent = sent.lock().unwrap();
    sent.iter().map(|p| (p.at.nanos() / 1000, p.payload.bytes() as i64, p.probe.map(ProbeId::get))).collect()
}

#[test]
fn a_probe_leaves_at_its_rate_media_first_and_padding_afterwards() {
    let left = departures(vec![probe(7, 900, 5, 1700)], 0);
    let frame: Vec<i64> = left.iter().map(|packet| packet.1).filter(|&payload| payload != 255).collect();
    // Bytes sent before, at 900 kbit/s: 112.5 bytes per ms.
    let mut before = 0;
    for (n, &(at, payload, id)) in left[..5].iter().enumerate() {
        assert_eq!(at, before * 80 / 9, "packet {n}");
        assert_eq!(id, Some(7));
        before += payload;
        let of_the_first_frame = n < left.iter().position(|packet| packet.1 == 255).unwrap();
        assert_eq!(payload == 255, !of_the_first_frame);
    }
    assert!(before >= 1700 && !frame.is_empty());
    assert!(left[5..].iter().all(|&(_, payload, id)| payload != 255 && id.is_none()), "{left:?}");
    assert_eq!(left[5].0, 33_333, "the next frame leaves as it always does");
}

#[test]
fn two_probes_leave_one_after_the_other() {
    let left = departures(vec![probe(1, 900, 5, 1700), probe(2, 1800, 5, 3400)], 0);
    let ids: Vec<u16> = left.iter().map_while(|packet| packet.2).collect();
    let second = ids.iter().position(|&id| id == 2).unwrap();
    assert!(second == 5 && ids[second..].iter().all(|&id| id == 2));
    let bytes = |ids: core::ops::Range<usize>| left[ids].iter().map(|packet| packet.1).sum::<i64>();
    let (first_bytes, second_bytes) = (bytes(0..second), bytes(second..ids.len()));
    assert!(second_bytes >= 3400, "{second_bytes}");
    // The first is paid for at 112.5 bytes per ms, then the second at 225, but for its last packet.
    let last = first_bytes * 80 / 9 + (second_bytes - left[ids.len() - 1].1) * 40 / 9;
    assert!((left[ids.len() - 1].0 - last).abs() <= 1);
}

#[test]
fn a_sender_that_wakes_too_late_gives_the_probe_up() {
    let left = departures(vec![probe(7, 900, 5, 1700)], 20);
    assert_eq!(left.iter().filter(|packet| packet.2.is_some()).count(), 1, "{left:?}");
    assert!(left.iter().all(|packet| packet.1 != 255));
}
