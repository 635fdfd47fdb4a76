//! A flow as both of its ends know it: any controller, any limits, any valid configuration.

use std::sync::LazyLock;

use weir_cc::coupled::sbd;
use weir_cc::testing::check_target;
use weir_cc::{DataRate, Ecn, RateLimits, Target, TimeDelta};
use weir_media::chromium::ChromiumConfig;
use weir_media::{
    AudioConfig, BottleneckDetection, DetectionSide, EncoderConfig, FlowId, FrameTraces, MediaConfig,
    MediaReceiver, MediaSender, PacketFormat, SenderSeeds, Session,
};

use crate::controllers::{halves, names};
use crate::input::Input;

/// Source identifier of the first flow's sender, and of its receiver; the next flow has the next ones.
pub(super) const SENDER: u32 = 0x5EED_0001;
pub(super) const RECEIVER: u32 = 0x5EED_1001;
/// Highest rate, which bounds the output of a call.
const FASTEST: u64 = 20_000_000;

pub(super) struct Flow {
    pub(super) id: FlowId,
    pub(super) limits: RateLimits,
    pub(super) receiver: MediaReceiver,
    pub(super) ecn: Ecn,
    /// Most payload of its packets.
    payload: u16,
}

impl Flow {
    /// The flow `number` of `session`, not started.
    pub(super) fn any(number: u32, session: &mut Session, input: &mut Input<'_>) -> Self {
        let limits = limits(input);
        let controller = halves(input.one_of(names()), limits);
        let config = config(limits, controller.packet_format, input);
        let (source, reporter) = (SENDER + number, RECEIVER + number);
        let seeds = SenderSeeds { encoder: 1, rtcp: 2 };
        let mut sender = MediaSender::new(controller.controller, config, source, seeds);
        if input.flag() {
            sender.believe_only(&[reporter]);
        }
        let id = session.add(sender).expect("each has source identifiers of its own");
        let receiver = MediaReceiver::new(controller.receiver, config, reporter, source, 3);
        let audio = config.audio.map_or(0, |audio| audio.payload().bytes() as u16);
        // Padding has up to 255 bytes.
        Self { id, limits, receiver, ecn: config.ecn, payload: config.payload_limit.max(255).max(audio) }
    }

    pub(super) fn check_payload(&self, payload: u16) {
        assert!(payload <= self.payload, "{payload} bytes, where {} are allowed", self.payload);
    }

    pub(super) fn check_target(&self, target: &Target) {
        check_target(&self.limits, target);
    }

    pub(super) fn check_rate(&self, rate: DataRate) {
        assert!(self.limits.clamp(rate) == rate, "{rate:?} outside {:?}", self.limits);
    }
}

/// Limits up to 20 Mbit/s.
pub(super) fn limits(input: &mut Input<'_>) -> RateLimits {
    let mut bounds = [(); 3].map(|()| DataRate::from_bps(input.below(FASTEST) + 1));
    bounds.sort_unstable();
    let [min, start, max] = bounds;
    RateLimits::new(min, start, max).expect("they are in order")
}

fn config(limits: RateLimits, format: PacketFormat, input: &mut Input<'_>) -> MediaConfig {
    static TRACES: LazyLock<FrameTraces> = LazyLock::new(|| {
        FrameTraces::parse("150 600 2400\n9000 30000 90000\n600 2500 10000\n500 2400 9000\n")
            .expect("a trace")
    });
    let encoder = match input.below(11) {
        0 => EncoderConfig::gcc_2016(),
        1 => EncoderConfig::rfc8867(),
        2 => EncoderConfig::rfc8593_traces(&TRACES),
        3 => EncoderConfig::rfc8593_hybrid(&TRACES),
        4 => EncoderConfig::interval_noise(),
        5 => EncoderConfig::content_sharing(),
        6 => EncoderConfig::perfect(),
        7 => EncoderConfig::greedy(),
        8 => EncoderConfig::simulcast(),
        9 => EncoderConfig::chromium(),
        _ => EncoderConfig::papers(),
    };
    let skip_above = input.flag().then(|| TimeDelta::from_millis(200));
    let place = if input.flag() { DetectionSide::Sender } else { DetectionSide::Receiver };
    let detection = BottleneckDetection::new(place, &sbd::Config::DEFAULT).expect("the defaults");
    MediaConfig {
        audio: input.seldom(4).then(AudioConfig::default),
        key_frame_requests: input.seldom(4).then(|| TimeDelta::from_millis(300)),
        payload_limit: 200 + input.below(1200) as u16,
        rtcp_interval: TimeDelta::from_millis(10 + input.below(5000) as i64),
        rtcp_spread: f64::from(input.byte() % 100) / 100.0,
        ecn: input.one_of(&[Ecn::NotEct, Ecn::Ect0, Ecn::Ect1]),
        packet_format: input.one_of(&[format, PacketFormat::TransportWide, PacketFormat::Rfc8888]),
        additional_reports: input.seldom(4).then(|| TimeDelta::from_millis(100)),
        detection: input.seldom(4).then_some(detection),
        leave_out: input.flag().then(|| 2 + u32::from(input.byte())),
        breakers: input.flag(),
        chromium: input.seldom(4).then_some(ChromiumConfig::ALL),
        ..MediaConfig::new(limits, EncoderConfig { skip_above, ..encoder })
    }
}
