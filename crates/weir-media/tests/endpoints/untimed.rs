//! Marks of RFC 8888 whose packets have no arrival time.

use std::collections::VecDeque;

use weir_cc::history::SendHistory;
use weir_cc::ledbat::{self, Ledbat};
use weir_cc::rap::{self, Rap};
use weir_cc::scream::v1::{self, Scream};
use weir_cc::scream::v2::{self, ScreamV2};
use weir_cc::{Controller, Ecn, SendState, SendTime};
use weir_media::feedback::{FeedbackReader, StreamNumbers};
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_wire::rtcp::{self, Ccfb, MetricBlock};

use crate::rig::limits;

const SOURCE: u32 = 1;
/// Delay in one direction, in ms; there is no queuing delay.
const WAY: i64 = 25;
/// Time between reports, in ms.
const INTERVAL: i64 = 50;
/// Time in ms from which on every packet is marked.
const MARKED_FROM: i64 = 20_000;

/// The media rate after 20 s of marks on every packet; `timed`: whether reports have their arrival times.
fn rate_under_marks(mut controller: Box<dyn Controller>, timed: bool) -> DataRate {
    let mut history = SendHistory::new(TimeDelta::from_secs(5));
    history.set_ecn(Ecn::Ect1);
    let (mut reader, numbers) = (FeedbackReader::new(), StreamNumbers::same_as_history(SOURCE));
    let size = DataSize::from_bytes(1200);
    let (mut credit, mut on_way) = (DataSize::ZERO, VecDeque::new());
    let state = |history: &SendHistory| SendState { in_flight: history.in_flight(), ..SendState::default() };
    for ms in 1..=2 * MARKED_FROM {
        let now = SendTime::from_millis(ms);
        credit += controller.target().media_rate * TimeDelta::from_millis(1);
        while credit >= size {
            credit = credit.saturating_sub(size);
            let sent = history.on_media_sent(now, DataSize::ZERO, size);
            controller.on_sent(&sent, &state(&history));
            on_way.push_back((ms + WAY, sent.id as u16));
        }
        // A report made at `made` comes now.
        let made = ms - WAY;
        let arrived = on_way.iter().take_while(|(at, _)| *at <= made).count();
        if ms % INTERVAL == 0 && arrived > 0 {
            let reported: Vec<_> = on_way.drain(..arrived).collect();
            let marked = ms > MARKED_FROM;
            let metric = |&(at, _): &(i64, u16)| {
                let offset = MetricBlock::offset_from_nanos((made - at) * 1_000_000);
                Some(MetricBlock {
                    ecn: if marked { 3 } else { 1 },
                    offset: if marked && !timed { MetricBlock::UNAVAILABLE } else { offset },
                })
            };
            let mut out = [0; 1472];
            let stamp = (u128::from(made as u64) * 65_536 / 1000) as u32;
            let metrics = reported.iter().map(metric);
            let length = Ccfb::write(2, stamp, SOURCE, reported[0].1, metrics, &mut out).unwrap();
            for message in rtcp::messages(&out[..length]) {
                let before = state(&history);
                let report = reader.read(now, &message.unwrap(), &numbers, &history).unwrap();
                let feedback = history.join(now, &report).unwrap();
                controller.on_feedback(now, &feedback, &before);
            }
        }
        if controller.next_timeout().is_some_and(|due| due <= now) {
            controller.on_timeout(now, &state(&history));
        }
        while controller.poll_probe().is_some() {}
    }
    assert_eq!(history.refused().total(), 0);
    controller.target().media_rate
}

/// All controllers that use per-packet reports and reduce their rate by marks without queuing delay.
fn controllers() -> [(&'static str, Box<dyn Controller>); 4] {
    let limits = limits();
    [
        ("scream", Box::new(Scream::new(v1::Config::default(), limits).unwrap())),
        ("scream-v2", Box::new(ScreamV2::new(v2::Config::default(), limits).unwrap())),
        ("ledbat", Box::new(Ledbat::new(ledbat::Config::default(), limits).unwrap())),
        ("rap", Box::new(Rap::new(rap::Config::default(), limits).unwrap())),
    ]
}

#[test]
fn marks_weigh_the_same_where_their_packets_have_no_arrival_times() {
    for ((name, controller), (_, same)) in controllers().into_iter().zip(controllers()) {
        let (timed, untimed) = (rate_under_marks(controller, true), rate_under_marks(same, false));
        assert!(timed < limits().max().scale(0.9), "{name} does not answer to marks: {timed:?}");
        assert!(untimed <= timed.scale(2.0), "{name}: {timed:?} with times, {untimed:?} without");
    }
}
