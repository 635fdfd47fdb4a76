//! RTCP packets are read as they were written.

use proptest::collection::vec;
use proptest::prelude::*;
use weir_wire::NtpTime;
use weir_wire::rtcp::{
    self, ControllerReport, DcccFeedback, Message, NadaFeedback, ReceiverReport, Remb, ReportBlock, Sbd,
    SenderInfo, SenderReport, TfrcFeedback,
};

pub(crate) fn any_block() -> impl Strategy<Value = ReportBlock> {
    (any::<(u32, u8, u32, u32, u32, u32)>(), -0x80_0000..=0x7F_FFFF).prop_map(
        |((ssrc, fraction_lost, highest_sequence, jitter, lsr, dlsr), cumulative_lost)| ReportBlock {
            ssrc,
            fraction_lost,
            cumulative_lost,
            highest_sequence,
            jitter,
            last_sender_report: lsr,
            delay_since_last_sender_report: dlsr,
        },
    )
}

/// The only message in `bytes`.
pub(crate) fn only_message(bytes: &[u8]) -> Message<'_> {
    let mut messages = rtcp::messages(bytes);
    let message = messages.next().expect("a message").expect("a readable one");
    assert!(messages.next().is_none());
    message
}

proptest! {
    #[test]
    fn sender_reports_are_read_as_written(
        (ssrc, ntp, rtp_timestamp, packet_count, octet_count) in any::<(u32, u64, u32, u32, u32)>(),
        blocks in vec(any_block(), 0..=31),
    ) {
        let info = SenderInfo { ntp: NtpTime(ntp), rtp_timestamp, packet_count, octet_count };
        let mut bytes = vec![0; SenderReport::wire_len(blocks.len())];
        prop_assert_eq!(SenderReport::write(ssrc, &info, &blocks, &mut bytes), Ok(bytes.len()));
        let Message::SenderReport(report) = only_message(&bytes) else { panic!("a sender report") };
        prop_assert_eq!((report.ssrc, report.info), (ssrc, info));
        prop_assert_eq!(report.blocks().collect::<Vec<_>>(), blocks);
    }

    #[test]
    fn receiver_reports_are_read_as_written(ssrc: u32, blocks in vec(any_block(), 0..=31)) {
        let mut bytes = vec![0; ReceiverReport::wire_len(blocks.len())];
        prop_assert_eq!(ReceiverReport::write(ssrc, &blocks, &mut bytes), Ok(bytes.len()));
        let Message::ReceiverReport(report) = only_message(&bytes) else { panic!("a receiver report") };
        prop_assert_eq!(report.ssrc, ssrc);
        prop_assert_eq!(report.blocks().collect::<Vec<_>>(), blocks);
    }

    #[test]
    fn own_reports_are_read_as_written(
        (ssrc, source, name, held, transport_sequence) in any::<(u32, u32, [u8; 4], u32, u16)>(),
        data in vec(any::<u8>(), 0..=ControllerReport::MAX_DATA),
    ) {
        let report = ControllerReport { ssrc, source, name, held, transport_sequence, data: &data };
        let mut bytes = vec![0xEE; ControllerReport::wire_len(data.len())];
        prop_assert_eq!(report.write(&mut bytes), Ok(bytes.len()));
        prop_assert_eq!(only_message(&bytes), Message::Own(report));
    }

    #[test]
    fn remb_keeps_18_bits_of_the_rate(ssrc: u32, rate: u64, shift in 1..64u32, ssrcs in vec(any::<u32>(), 0..20)) {
        let rate = rate >> shift;
        let mut bytes = vec![0; Remb::wire_len(ssrcs.len())];
        prop_assert_eq!(Remb::write(ssrc, rate, &ssrcs, &mut bytes), Ok(bytes.len()));
        let Message::Remb(remb) = only_message(&bytes) else { panic!("a REMB") };
        prop_assert_eq!(remb.sender_ssrc, ssrc);
        prop_assert_eq!(remb.ssrcs().collect::<Vec<_>>(), ssrcs);
        prop_assert!(remb.bitrate <= rate && rate - remb.bitrate <= rate >> 17);
    }

    #[test]
    fn nada_reports_are_read_as_written(
        (ssrc, source, ramp_up, transport_sequence) in any::<(u32, u32, bool, u16)>(),
        (receive_rate, held) in any::<(u32, u32)>(),
        congestion in 0..=NadaFeedback::MAX_CONGESTION,
    ) {
        let report = NadaFeedback { ssrc, source, ramp_up, congestion, transport_sequence, receive_rate, held };
        let mut bytes = [0; NadaFeedback::WIRE_LEN];
        prop_assert_eq!(report.write(&mut bytes), Ok(bytes.len()));
        prop_assert_eq!(only_message(&bytes), Message::Nada(report));
        prop_assert_eq!(NadaFeedback::congestion_from_nanos(report.congestion_nanos()), congestion);
        prop_assert_eq!(NadaFeedback::held_from_nanos(report.held_nanos()), held);
    }

    #[test]
    fn tfrc_reports_are_read_as_written(
        (ssrc, source, loss_event_rate, transport_sequence) in any::<(u32, u32, u32, u16)>(),
        (receive_rate, held) in any::<(u32, u32)>(),
    ) {
        let report = TfrcFeedback { ssrc, source, loss_event_rate, receive_rate, held, transport_sequence };
        let mut bytes = [0; TfrcFeedback::WIRE_LEN];
        prop_assert_eq!(report.write(&mut bytes), Ok(bytes.len()));
        prop_assert_eq!(only_message(&bytes), Message::Tfrc(report));
        prop_assert_eq!(TfrcFeedback::loss_event_rate_from(report.loss_event_rate()), loss_event_rate);
    }

    #[test]
    fn dccc_reports_are_read_as_written(
        (ssrc, source, packet_size, transport_sequence) in any::<(u32, u32, u16, u16)>(),
        (delay_nanos, made_nanos, interarrival, sending_rate, held) in any::<(i64, i64, u32, u32, u32)>(),
    ) {
        let report = DcccFeedback {
            ssrc,
            source,
            delay_nanos,
            made_nanos,
            interarrival,
            sending_rate,
            packet_size,
            transport_sequence,
            held,
        };
        let mut bytes = [0; DcccFeedback::WIRE_LEN];
        prop_assert_eq!(report.write(&mut bytes), Ok(bytes.len()));
        prop_assert_eq!(only_message(&bytes), Message::Dccc(report));
        prop_assert_eq!(DcccFeedback::held_from_nanos(report.held_nanos()), held);
    }

    #[test]
    fn statistics_of_a_bottleneck_are_read_as_written(
        (ssrc, source, interval, samples) in any::<(u32, u32, u16, u16)>(),
        (defined, anew, bottleneck) in any::<(bool, bool, bool)>(),
        (skew, frequency, loss, variability, queuing) in any::<(i16, u16, u16, u32, u32)>(),
    ) {
        let report = Sbd {
            ssrc, source, interval, defined, anew, bottleneck, skew, frequency, variability, loss, samples, queuing,
        };
        let mut bytes = [0; Sbd::WIRE_LEN];
        prop_assert_eq!(report.write(&mut bytes), Ok(bytes.len()));
        prop_assert_eq!(only_message(&bytes), Message::Sbd(report));
        prop_assert_eq!(Sbd::skew_from(report.skew_ratio()), skew.clamp(-16_384, 16_384));
        prop_assert_eq!(Sbd::ratio_from(report.loss_ratio()), loss.min(32_768));
        prop_assert_eq!(Sbd::ratio_from(report.frequency_ratio()), frequency.min(32_768));
    }
}
