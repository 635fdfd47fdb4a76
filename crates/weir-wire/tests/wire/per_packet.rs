//! Feedback on single packets is read as it was written.

use crate::rtcp::only_message;
use proptest::collection::vec;
use proptest::prelude::*;
use weir_wire::rtcp::{self, Message, MetricBlock, PacketStatus, Twcc, TwccHeader};

/// Packets in a row: how many were lost before each that arrived, and by how many ns it came after the one before.
fn arrivals() -> impl Strategy<Value = Vec<Option<i64>>> {
    let lost = prop_oneof![8 => Just(0), 2 => 0..4usize, 1 => 0..40usize, 1 => 0..9000usize];
    let after = prop_oneof![
        8 => 0..60_000_000i64,
        2 => -30_000_000..300_000_000i64,
        1 => -9_000_000_000..9_000_000_000i64,
    ];
    // Within 24 bits of 64 ms.
    (-500_000_000..500_000_000i64, vec((lost, after), 0..300)).prop_map(|(begin, steps)| {
        let mut at = begin * 1_000_000;
        let mut arrivals = Vec::new();
        for (lost, after) in steps {
            arrivals.resize(arrivals.len() + lost, None);
            at += after;
            arrivals.push(Some(at));
        }
        arrivals
    })
}

proptest! {
    #[test]
    fn transport_wide_feedback_is_read_as_written(
        (ssrc, source, mut base_sequence, mut number) in any::<(u32, u32, u16, u8)>(),
        arrivals in arrivals(),
        room in 24..1500usize,
    ) {
        let mut rest = &arrivals[..];
        let mut bytes = vec![0xEE; room];
        while !rest.is_empty() {
            let header = TwccHeader { ssrc, source, base_sequence, number };
            let written = Twcc::write(&header, rest.iter().copied(), &mut bytes).unwrap();
            prop_assert!(written.packets > 0 && written.length <= room.min(Twcc::MAX_LEN));
            let Message::Twcc(read) = only_message(&bytes[..written.length]) else { panic!("feedback") };
            prop_assert_eq!((read.ssrc, read.source, read.number), (ssrc, source, number));
            prop_assert_eq!((read.base_sequence, read.statuses().len()), (base_sequence, written.packets));
            let (written_now, after) = rest.split_at(written.packets);
            for ((sequence, reception), arrival) in read.statuses().zip(written_now) {
                prop_assert_eq!(sequence, base_sequence);
                match (reception, *arrival) {
                    (PacketStatus::Missing, None) => {}
                    (PacketStatus::At(_), Some(at)) => {
                        let seen = read.reference_nanos() + reception.nanos().unwrap();
                        prop_assert!((seen - at).abs() <= 125_000, "{} ns off", seen - at);
                    }
                    other => panic!("{other:?}"),
                }
                base_sequence = base_sequence.wrapping_add(1);
            }
            number = number.wrapping_add(1);
            rest = after;
        }
    }

    #[test]
    fn feedback_of_rfc_8888_is_read_as_written(
        (ssrc, timestamp) in any::<(u32, u32)>(),
        streams in vec((any::<(u32, u16)>(), vec(prop::option::of((0..4u8, 0..0x2000u16)), 0..60)), 0..5),
    ) {
        let streams: Vec<(u32, u16, Vec<Option<MetricBlock>>)> = streams
            .into_iter()
            .map(|((source, begin), metrics)| {
                let metric = |(ecn, offset)| MetricBlock { ecn, offset };
                (source, begin, metrics.into_iter().map(|written_now| written_now.map(metric)).collect())
            })
            .collect();
        let mut bytes = [0xEE; 1000];
        let mut writer = rtcp::CcfbWriter::new(&mut bytes);
        for (source, begin, metrics) in &streams {
            prop_assert_eq!(writer.stream(*source, *begin, metrics.iter().copied()), Ok(()));
        }
        let length = writer.finish(ssrc, timestamp).unwrap();
        let Message::Ccfb(read) = only_message(&bytes[..length]) else { panic!("feedback") };
        prop_assert_eq!((read.ssrc, read.timestamp), (ssrc, timestamp));
        let mut blocks = read.blocks();
        for (source, begin, metrics) in streams {
            let block = blocks.next().unwrap();
            prop_assert_eq!((block.source, block.begin_sequence), (source, begin));
            let expected: Vec<_> =
                metrics.into_iter().enumerate().map(|(n, written_now)| (begin.wrapping_add(n as u16), written_now)).collect();
            prop_assert_eq!(block.metrics().collect::<Vec<_>>(), expected);
        }
        prop_assert!(blocks.next().is_none());
    }
}
