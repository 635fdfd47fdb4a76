//! RTCP on a flow that no honest receiver makes: of each kind, with likely and unlikely numbers.

use weir_cc::{ArrivalTime, Record, Report};
use weir_media::feedback::FeedbackWriter;
use weir_units::TimeDelta;
use weir_wire::rtcp::{
    ControllerReport, DcccFeedback, NadaDelay, NadaFeedback, Pli, ReceiverReport, Remb, ReportBlock, Sbd,
    SenderInfo, SenderReport, TfrcFeedback,
};

use super::flow::{RECEIVER, SENDER};
use crate::input::Input;

/// A message to the sender of the flow `number`, whose newest packet is `newest`, from a receiver whose clock
/// reads `there`.
pub(super) fn message(number: u32, newest: u16, there: ArrivalTime, input: &mut Input<'_>) -> Vec<u8> {
    // Most numbers are those of the flow: a message of another flow is ignored before its content is read.
    let ssrc = if input.seldom(8) { input.u32() } else { RECEIVER + number };
    let source = if input.seldom(8) { input.u32() } else { SENDER + number };
    let sequence = if input.seldom(4) { input.u16() } else { newest.wrapping_sub(u16::from(input.byte())) };
    let (rate, held) = (input.rate().bps() as u32, input.below(1 << 20) as u32);
    let mut buffer = [0; 1472];
    let out = buffer.as_mut_slice();
    let length = match input.below(12) {
        0 | 1 => {
            let records = records(sequence, there, input);
            let mut writer = FeedbackWriter::transport_wide(ssrc, source);
            writer.write(&Report::packets(&records, input.byte()), out)
        }
        2 => {
            let records = records(sequence, there, input);
            let report = Report::Packets { records: &records, number: 0, at: Some(there) };
            FeedbackWriter::rfc_8888(ssrc, source).write(&report, out)
        }
        3 => ReceiverReport::write(ssrc, &blocks(source, input), out).ok(),
        4 => SenderReport::write(ssrc, &SenderInfo::default(), &blocks(source, input), out).ok(),
        5 => Remb::write(ssrc, input.rate().bps(), &[source], out).ok(),
        6 => Pli { ssrc, source }.write(out).ok(),
        7 => {
            let (ramp_up, congestion) = (input.flag(), input.u16());
            NadaFeedback {
                ssrc,
                source,
                ramp_up,
                congestion,
                transport_sequence: sequence,
                receive_rate: rate,
                held,
            }
            .write(out)
            .ok()
        }
        8 => {
            let loss_event_rate = input.u32();
            TfrcFeedback {
                ssrc,
                source,
                loss_event_rate,
                receive_rate: rate,
                held,
                transport_sequence: sequence,
            }
            .write(out)
            .ok()
        }
        9 => DcccFeedback {
            ssrc,
            source,
            delay_nanos: input.u64() as i64,
            made_nanos: if input.flag() { input.u64() as i64 } else { there.nanos() },
            interarrival: input.u32(),
            sending_rate: rate,
            packet_size: input.u16(),
            transport_sequence: sequence,
            held,
        }
        .write(out)
        .ok(),
        10 => {
            let (congestion, reference) = (input.u32(), input.u32());
            NadaDelay { ssrc, source, congestion, reference, transport_sequence: sequence, held }
                .write(out)
                .ok()
        }
        _ if input.flag() => {
            let (name, data) = (input.u32().to_be_bytes(), input.bytes(8));
            ControllerReport { ssrc, source, name, held, transport_sequence: sequence, data }.write(out).ok()
        }
        _ => statistics(ssrc, source, input).write(out).ok(),
    };
    buffer[..length.unwrap_or(0)].to_vec()
}

fn records(first: u16, there: ArrivalTime, input: &mut Input<'_>) -> Vec<Record> {
    let mut at = there + TimeDelta::from_micros(input.below(4_000_000) as i64 - 2_000_000);
    let every = input.byte() % 8 + 2;
    (0..input.byte())
        .map(|ahead| {
            at += TimeDelta::from_micros(i64::from(every) * 250);
            Record::new(first.wrapping_add(u16::from(ahead)), (ahead % every > 0).then_some(at))
        })
        .collect()
}

fn blocks(ssrc: u32, input: &mut Input<'_>) -> Vec<ReportBlock> {
    let block = |input: &mut Input<'_>| ReportBlock {
        ssrc,
        fraction_lost: input.byte(),
        cumulative_lost: if input.flag() { input.u32() as i32 >> 8 } else { i32::from(input.byte()) },
        highest_sequence: if input.seldom(4) { input.u32() } else { u32::from(input.u16()) },
        jitter: u32::from(input.u16()),
        last_sender_report: if input.flag() { input.u32() } else { 0 },
        delay_since_last_sender_report: input.u32() >> input.below(32),
    };
    (0..=input.below(3)).map(|_| block(input)).collect()
}

fn statistics(ssrc: u32, source: u32, input: &mut Input<'_>) -> Sbd {
    Sbd {
        ssrc,
        source,
        interval: input.u16(),
        defined: input.flag(),
        anew: input.flag(),
        bottleneck: input.flag(),
        skew: input.u16() as i16,
        frequency: input.u16(),
        variability: input.u32(),
        loss: input.u16(),
        samples: input.u16(),
        queuing: input.u32(),
    }
}
