//! Audio, video and data of one peer under one coupler, with packets of your own, over a link of 2 Mbit/s in memory:
//! `cargo run --release -p weir-media --example peer_group`.

use std::collections::VecDeque;
use std::error::Error;

use weir_cc::coupled::fse::{self, Fse, InitialGrouping};
use weir_cc::gcc::goog_cc::{Config, GoogCc};
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{Arrival, ArrivalTime, DataRate, DataSize, RateLimits, Receiver, SendTime, TimeDelta};
use weir_media::feedback::FeedbackWriter;
use weir_media::{
    DesiredRate, Endpoint, EndpointConfig, EndpointGroup, PacketMeta, PacketNumbering, PayloadHandle,
};
use weir_media::{FlowId, StreamConfig, StreamId};
use weir_wire::seq::Unwrapper;

/// Name, weight, highest rate in kbit/s, payload of a packet.
const FLOWS: [(&str, f64, u64, u16); 3] =
    [("audio", 8.0, 64, 160), ("video", 2.0, 3000, 1100), ("data", 1.0, 3000, 1200)];
const KINDS: [fn(u32, u8) -> StreamConfig; 3] =
    [StreamConfig::audio, StreamConfig::video, StreamConfig::data];
const AUDIO: usize = 0;
const VIDEO: usize = 1;
const CAPACITY: DataRate = DataRate::from_mbps(2);
const DELAY: TimeDelta = TimeDelta::from_millis(25);

fn main() -> Result<(), Box<dyn Error>> {
    let (rates, wait) = call()?;
    for ((name, weight, ..), rate) in FLOWS.iter().zip(rates) {
        println!("{name:<6} weight {weight}: {rate}");
    }
    println!("a packet waited {:.0} ms in the queue at most in the last 20 s", wait.millis_f64());
    Ok(())
}

/// Rate of each flow over the last 20 s of 40 s, and the longest wait in the link's queue there.
pub(crate) fn call() -> Result<(Vec<DataRate>, TimeDelta), Box<dyn Error>> {
    let mut now = SendTime::ZERO;
    // The ten lines: one coupler, and an endpoint for each flow.
    let mut group =
        EndpointGroup::new(Box::new(Fse::new(fse::Config::rfc8699_active(), InitialGrouping::Together)?));
    let mut flows: Vec<(FlowId, StreamId)> = Vec::new();
    for ((ssrc, (_, weight, most, _)), kind) in (1..).zip(FLOWS).zip(KINDS) {
        let limits =
            RateLimits::new(DataRate::from_kbps(30), DataRate::from_kbps(60), DataRate::from_kbps(most))?;
        let config = EndpointConfig { numbering: PacketNumbering::Given, ..EndpointConfig::new(limits) };
        let controller =
            GoogCc::new(Config { report_patience: TimeDelta::ZERO, ..Config::default() }, limits)?;
        let mut endpoint = Endpoint::new(Box::new(controller), config, ssrc.into());
        let stream = endpoint.add_stream(kind(ssrc, 96))?;
        flows.push((group.add(now, endpoint, weight, DesiredRate::Limits)?, stream));
    }
    let (mut link, mut back) =
        (VecDeque::<(SendTime, u16, usize)>::new(), VecDeque::<(SendTime, Vec<u8>)>::new());
    let mut numbers = Unwrapper::new();
    let (mut reports, mut writer) =
        (PacketFeedback::new(TimeDelta::from_millis(50)), FeedbackWriter::transport_wide(99, 1));
    let (mut free, mut sent, mut longest) = (now, [0_usize; 3], TimeDelta::ZERO);
    let mut out = [0; 1500];
    for ms in 0..40_000 {
        now = SendTime::from_millis(ms);
        for (place, &(flow, stream)) in flows.iter().enumerate() {
            let Some(endpoint) = group.endpoint_mut(flow) else { continue };
            let payload = FLOWS[place].3;
            let packets = match place {
                AUDIO => u64::from(ms % 20 == 0),
                VIDEO if ms % 33 == 0 => endpoint.target().media_rate.bps() / 30 / 8 / u64::from(payload) + 1,
                VIDEO => 0,
                // Data always has a packet ready.
                _ => u64::from(endpoint.queued().is_zero()),
            };
            for packet in 1..=packets {
                let meta = PacketMeta::new(ms as u32 * 90, packet == packets);
                endpoint.queue(now, stream, PayloadHandle { place: 0, size: payload }, meta)?;
            }
        }
        group.on_timeout(now)?;
        while let Some((flow, departure)) = group.poll_packet(now, &mut out)? {
            let begin = free.max(now);
            free = begin + DataSize::from_bytes(departure.length as u64) / CAPACITY;
            link.push_back((free + DELAY, departure.transport_sequence, departure.length));
            if ms >= 20_000 {
                sent[flow.number()] += departure.length;
                longest = longest.max(begin - now);
            }
        }
        while group.poll_event(now)?.is_some() {}
        while group.poll_rtcp(now, &mut out)?.is_some() {}
        let there = ArrivalTime::from_millis(ms);
        while let Some(&(_, number, length)) = link.front().filter(|(at, ..)| *at <= now) {
            link.pop_front();
            let size = DataSize::from_bytes(length as u64);
            reports.on_arrival(&Arrival::new(numbers.unwrap(number), SendTime::ZERO, there, size));
        }
        while let Some(report) = reports.poll_report(there) {
            let mut written = writer.write(&report, &mut out);
            while let Some(length) = written {
                back.push_back((now + DELAY, out[..length].to_vec()));
                written = writer.write_rest(&mut out);
            }
        }
        while let Some((_, bytes)) = back.front().filter(|(at, _)| *at <= now) {
            group.on_rtcp(now, bytes)?;
            back.pop_front();
        }
    }
    let rate = |bytes: usize| DataSize::from_bytes(bytes as u64) / TimeDelta::from_secs(20);
    Ok((sent.map(rate).to_vec(), longest))
}
