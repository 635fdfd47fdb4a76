//! The same call begun when the clocks read 0, after a year, at the time of Unix, after 120 years, and a year
//! before 0. Every target is the same to the bit. The beginnings are whole multiples of 64 s, the period of times
//! on the wire.

use std::collections::VecDeque;

use weir_cc::{ArrivalTime, DataRate, RateLimits, SendTime, Target, TimeDelta};
use weir_fuzz::controllers::halves;
use weir_media::{EncoderConfig, MediaConfig, MediaPacket, MediaReceiver, MediaSender, SenderSeeds};
use weir_units::DataSize;

use crate::PartOutcome;
use crate::memory::Memory;

const YEAR: i64 = 365 * 86_400;
/// Start times in seconds; 1.7 · 10⁹ is in November 2023.
const BEGINNINGS: [i64; 5] = [0, YEAR, 1_700_000_000, 120 * YEAR, -YEAR];
const SPAN: TimeDelta = TimeDelta::from_secs(300);
const ONE_WAY: TimeDelta = TimeDelta::from_millis(25);
const QUEUE: TimeDelta = TimeDelta::from_millis(300);
const CAPACITY: DataRate = DataRate::from_mbps(1);
/// Offset of the receiver's clock ahead of the sender's.
const AHEAD: TimeDelta = TimeDelta::from_secs(64 * 300);
/// Memory that the allocator keeps of calls that have ended, in KiB.
const MOST_GROWTH_KIB: i64 = 512;

pub(crate) fn run(controller: &str) -> PartOutcome {
    let mut first = Vec::new();
    call(controller, BEGINNINGS[0], |at, target| first.push((at, target)));
    assert!(first.len() > 100, "{controller}: {} targets", first.len());
    let mut memory = None;
    for beginning in &BEGINNINGS[1..] {
        let mut place = 0;
        call(controller, *beginning, |at, target| {
            assert_eq!(
                first.get(place),
                Some(&(at, target)),
                "{controller}, begun at {beginning} s: target {place}"
            );
            place += 1;
        });
        assert_eq!(place, first.len(), "{controller}, begun at {beginning} s");
        memory.get_or_insert_with(Memory::early).look();
    }
    let done = format!("{} beginnings, {} targets each, all the same", BEGINNINGS.len(), first.len());
    PartOutcome { done, memory: memory.unwrap_or_else(Memory::early), most_growth_kib: MOST_GROWTH_KIB }
}

/// Passes each target of a call over a bottleneck, with its time since the beginning, to `observe`.
fn call(controller: &str, beginning: i64, mut observe: impl FnMut(TimeDelta, Target)) {
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(50), kbps(300), kbps(2500)).expect("they are in order");
    let halves = halves(controller, limits);
    let encoder = EncoderConfig::papers();
    let config = MediaConfig { packet_format: halves.packet_format, ..MediaConfig::new(limits, encoder) };
    let seeds = SenderSeeds { encoder: 1, rtcp: 2 };
    let mut sender = MediaSender::new(halves.controller, config, 1, seeds);
    let mut receiver = MediaReceiver::new(halves.receiver, config, 2, 1, 3);
    let begin = SendTime::ZERO + TimeDelta::from_secs(beginning);
    // The receiver runs ahead, so that the two clocks never agree by chance.
    let clock = |now: SendTime| ArrivalTime::ZERO + (now - SendTime::ZERO) + AHEAD;
    let (mut now, mut free, mut room) = (begin, begin, [0; 1472]);
    let mut there: VecDeque<(SendTime, MediaPacket)> = VecDeque::new();
    let [mut reports, mut back] = [const { VecDeque::<(SendTime, Vec<u8>)>::new() }; 2];
    sender.start(now);
    while now < begin + SPAN {
        while let Some(packet) = due(&mut there, now) {
            receiver.on_packet(clock(now), &packet.header, packet.payload, config.ecn);
        }
        while let Some(bytes) = due(&mut reports, now) {
            receiver.on_rtcp(clock(now), &bytes);
        }
        while let Some(length) = receiver.poll_rtcp(clock(now), &mut room) {
            back.push_back((now + ONE_WAY, room[..length].to_vec()));
        }
        while let Some(bytes) = due(&mut back, now) {
            sender.on_rtcp(now, &bytes);
        }
        sender.on_timeout(now);
        while sender.poll_frame(now).is_some() {}
        while let Some(packet) = sender.poll_packet(now) {
            let start = free.max(now);
            if start - now <= QUEUE {
                let bytes = packet.header.wire_len() as u64 + u64::from(packet.payload);
                free = start + DataSize::from_bytes(bytes) / CAPACITY;
                there.push_back((free + ONE_WAY, packet));
            }
        }
        while let Some(length) = sender.poll_rtcp(now, &mut room) {
            reports.push_back((now + ONE_WAY, room[..length].to_vec()));
        }
        if sender.take_target_change() {
            observe(now - begin, *sender.target());
        }
        let waits = [
            sender.next_timeout(),
            receiver.next_timeout().map(|at| now + (at - clock(now))),
            there.front().map(|(at, _)| *at),
            reports.front().map(|(at, _)| *at),
            back.front().map(|(at, _)| *at),
        ];
        let next = waits.into_iter().flatten().min();
        now = next.unwrap_or(begin + SPAN).max(now + TimeDelta::from_micros(10));
    }
}

/// The next packet or report that has arrived by `now`.
fn due<T>(way: &mut VecDeque<(SendTime, T)>, now: SendTime) -> Option<T> {
    way.front().is_some_and(|(at, _)| *at <= now).then(|| way.pop_front())?.map(|(_, what)| what)
}
