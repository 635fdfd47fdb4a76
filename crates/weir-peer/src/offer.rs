//! Terms of a session: the flows that an end offers to send, and the ceilings within which it receives.

use weir_cc::{Ecn, RateLimits, Receiver};
use weir_media::chromium::ChromiumConfig;
use weir_media::{AudioConfig, BottleneckDetection, CountedBytes, DetectionSide, EncoderConfig, MediaConfig};
use weir_registry::Registry;
use weir_units::{DataRate, TimeDelta};

use crate::protection::TRAILER_LENGTH;
use crate::wire::{PEER_MTU, RTP_HEADER, WireReader, put_span, put_text};

/// Most flows of one end.
pub const MOST_FLOWS: usize = 8;
/// Longest name of a controller, and longest options, in bytes.
const LONGEST: [usize; 2] = [64, 600];
/// Most bytes of the headers of a media packet: IP, UDP and RTP, and the trailer.
const PACKET_HEADERS: usize = 48 + TRAILER_LENGTH + RTP_HEADER;
/// Bytes of a full packet on the wire, as a multiple of its payload.
const FULL_PACKET: f64 = PEER_MTU as f64 / (PEER_MTU - PACKET_HEADERS) as f64;
/// The lowest rates of all flows together that need no consent.
pub const MOST_FLOOR: DataRate = DataRate::from_kbps(150);

/// A flow as the receiving end needs to know it.
#[derive(Clone, Debug, PartialEq)]
pub enum OfferedFlow {
    /// Media under a controller.
    Media(Box<OfferedMedia>),
    /// Packets that nothing controls, at most at this rate on the wire.
    Constant(DataRate),
}

/// A media flow as the receiving end needs to know it.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedMedia {
    /// Name of the controller.
    pub controller: String,
    /// Its options, as a JSON object; empty for none.
    pub options: String,
    /// Bounds of its rate.
    pub limits: RateLimits,
    /// The endpoint. Of encoder and audio only their presence is transferred, and the payload limit not at all.
    pub config: MediaConfig,
}

/// A receiver half, and the endpoint around it.
pub type ReceivingHalf = (Box<dyn Receiver>, MediaConfig);

/// Limits within which an end receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiveCeilings {
    /// Highest rate of all flows together.
    pub rate: Option<DataRate>,
    /// Longest duration of a session.
    pub duration: Option<TimeDelta>,
    /// Whether flows are welcome that do not react to congestion, or not below [`MOST_FLOOR`].
    pub unresponsive: bool,
}

/// The terms of one end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionTerms {
    /// The flows that it sends.
    pub flows: Vec<OfferedFlow>,
    /// Whether it wants flows of the other end, or none.
    pub receives: bool,
    /// Its ceilings.
    pub ceilings: ReceiveCeilings,
}

/// A reason why flows are not welcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TermsFault {
    /// Flows that do not react to congestion.
    #[error(
        "flows without congestion control, or with a lowest rate above {MOST_FLOOR} together, need `weir recv --allow-unresponsive`"
    )]
    Unresponsive,
    /// The lowest rates are above the ceiling.
    #[error("the flows need at least {floor}, and the receiver takes {ceiling} at most (--max-rate)")]
    AboveCeiling {
        /// Lowest rate of all flows.
        floor: DataRate,
        /// The ceiling.
        ceiling: DataRate,
    },
    /// A controller that this end cannot make.
    #[error("{0}")]
    Controller(String),
    /// The other end began anew with other flows.
    #[error("the other end began anew with other flows; start both ends again")]
    OtherFlows,
    /// Only one of the ends sends, or only one receives.
    #[error("the ends do not fit together: {0}")]
    Direction(&'static str),
}

impl OfferedFlow {
    /// The lowest rate to which the flow goes down.
    fn floor(&self) -> DataRate {
        match self {
            Self::Media(media) => media.limits.min(),
            Self::Constant(rate) => *rate,
        }
    }

    /// The lowest rate in bit/s on the wire, headers included.
    fn wire_floor(&self) -> f64 {
        let Self::Media(media) = self else { return self.floor().bps_f64() };
        // Of each frame one packet is not full.
        let audio = media.config.audio.map_or(0.0, |audio| 1.0 / audio.interval.secs_f64());
        let packets = media.config.encoder.frame_rate + audio;
        self.floor().bps_f64() * FULL_PACKET + packets * 8.0 * PACKET_HEADERS as f64
    }

    /// Name of its controller, or `constant`.
    pub fn name(&self) -> &str {
        match self {
            Self::Media(media) => &media.controller,
            Self::Constant(_) => "constant",
        }
    }

    /// The receiver half and the endpoint of the flow; `None` for a flow without feedback.
    ///
    /// # Errors
    /// A controller that `registry` does not have, or options that it refuses.
    pub fn receiver(&self, registry: &Registry) -> Result<Option<ReceivingHalf>, TermsFault> {
        let Self::Media(media) = self else { return Ok(None) };
        let options = match &*media.options {
            "" => None,
            text => {
                Some(serde_json::from_str(text).map_err(|error| TermsFault::Controller(error.to_string()))?)
            }
        };
        let name = &media.controller;
        let half = registry.build_receiver(name, options.as_ref(), media.limits, 1.0);
        let half = half.map_err(|error| TermsFault::Controller(error.to_string()))?;
        let packet_format = registry.packet_format(name).unwrap_or_default();
        Ok(Some((half, MediaConfig { packet_format, ..media.config })))
    }
}

impl ReceiveCeilings {
    /// Whether `flows` are welcome.
    ///
    /// # Errors
    /// The reason if not.
    pub fn judge(&self, flows: &[OfferedFlow]) -> Result<(), TermsFault> {
        let floor: DataRate = flows.iter().map(OfferedFlow::floor).sum();
        let fixed = flows.iter().any(|flow| matches!(flow, OfferedFlow::Constant(_)));
        if (fixed || floor > MOST_FLOOR) && !self.unresponsive {
            return Err(TermsFault::Unresponsive);
        }
        match self.rate.filter(|&ceiling| floor > ceiling) {
            Some(ceiling) => Err(TermsFault::AboveCeiling { floor, ceiling }),
            None => Ok(()),
        }
    }

    /// The bounds of each flow, `None` where nothing controls it. Media flows share the part of the ceiling that the lowest rates of
    /// all flows leave. The ceiling counts headers, the bounds do not.
    pub fn within(&self, flows: &[OfferedFlow]) -> Vec<Option<RateLimits>> {
        let media = |flow: &OfferedFlow| match flow {
            OfferedFlow::Media(media) => Some(media.limits),
            OfferedFlow::Constant(_) => None,
        };
        let Some(ceiling) = self.rate else { return flows.iter().map(media).collect() };
        let lowest = flows.iter().map(OfferedFlow::wire_floor).sum::<f64>();
        let count = flows.iter().filter_map(media).count().max(1);
        let rest = (ceiling.bps_f64() - lowest).max(0.0) / count as f64 / FULL_PACKET;
        let share = |limits: RateLimits| {
            let max = limits.min().bps().saturating_add(rest as u64);
            let max = limits.max().min(DataRate::from_bps(max));
            RateLimits::new(limits.min(), limits.start().min(max), max).unwrap_or(limits)
        };
        flows.iter().map(|flow| media(flow).map(share)).collect()
    }
}

const AUDIO: u16 = 1;
const RETRANSMISSIONS: u16 = 1 << 1;
const KEY_FRAME_REQUESTS: u16 = 1 << 2;
const ADDITIONAL_REPORTS: u16 = 1 << 3;
const DETECTION: u16 = 1 << 4;
const WITH_HEADERS: u16 = 1 << 5;
const ECT0: u16 = 1 << 6;
const ECT1: u16 = 1 << 7;
const KNOWN: u16 = (1 << 8) - 1;

const MEDIA: u8 = 1;
const CONSTANT: u8 = 2;

const RECEIVES: u8 = 1;
const UNRESPONSIVE: u8 = 1 << 1;

impl OfferedMedia {
    fn write(&self, out: &mut Vec<u8>) {
        let Self { controller, options, limits, config } = self;
        put_text(out, controller);
        put_text(out, options);
        for rate in [limits.min(), limits.start(), limits.max()] {
            out.extend_from_slice(&rate.bps().to_be_bytes());
        }
        let detects = config.detection.is_some_and(|detection| detection.place() == DetectionSide::Receiver);
        let flags = [
            (AUDIO, config.audio.is_some()),
            (RETRANSMISSIONS, config.chromium.is_some_and(|chromium| chromium.retransmissions)),
            (KEY_FRAME_REQUESTS, config.key_frame_requests.is_some()),
            (ADDITIONAL_REPORTS, config.additional_reports.is_some()),
            (DETECTION, detects),
            (WITH_HEADERS, matches!(config.counted, CountedBytes::WithHeaders(_))),
            (ECT0, config.ecn == Ecn::Ect0),
            (ECT1, config.ecn == Ecn::Ect1),
        ];
        let flags = flags.iter().filter(|(_, set)| *set).fold(0, |all, (flag, _)| all | flag);
        out.extend_from_slice(&flags.to_be_bytes());
        let headers = if let CountedBytes::WithHeaders(bytes) = config.counted { bytes } else { 0 };
        out.push(headers);
        put_span(out, config.rtcp_interval);
        put_span(out, config.key_frame_requests.unwrap_or_default());
        put_span(out, config.additional_reports.unwrap_or_default());
    }

    fn read(from: &mut WireReader<'_>) -> Option<Self> {
        let controller = from.text(LONGEST[0])?.to_owned();
        let options = from.text(LONGEST[1])?.to_owned();
        let mut rate = || from.u64().map(DataRate::from_bps);
        let limits = RateLimits::new(rate()?, rate()?, rate()?).ok()?;
        let flags = from.u16().filter(|flags| flags & !KNOWN == 0)?;
        let has = |flag| flags & flag != 0;
        let headers = from.u8()?;
        let [rtcp_interval, key_frames, additional_reports] = [from.span()?, from.span()?, from.span()?];
        if rtcp_interval < SHORTEST_INTERVAL
            || (has(ADDITIONAL_REPORTS) && additional_reports < SHORTEST_INTERVAL)
        {
            return None;
        }
        let detection =
            BottleneckDetection::new(DetectionSide::Receiver, &weir_cc::coupled::sbd::Config::DEFAULT);
        let config = MediaConfig {
            audio: has(AUDIO).then(AudioConfig::default),
            key_frame_requests: has(KEY_FRAME_REQUESTS).then_some(key_frames),
            rtcp_interval,
            ecn: match (has(ECT0), has(ECT1)) {
                (false, false) => Ecn::NotEct,
                (true, false) => Ecn::Ect0,
                (false, true) => Ecn::Ect1,
                (true, true) => return None,
            },
            additional_reports: has(ADDITIONAL_REPORTS).then_some(additional_reports),
            detection: detection.ok().filter(|_| has(DETECTION)),
            counted: if has(WITH_HEADERS) {
                CountedBytes::WithHeaders(headers)
            } else {
                CountedBytes::Payload
            },
            chromium: has(RETRANSMISSIONS)
                .then_some(ChromiumConfig { retransmissions: true, ..ChromiumConfig::NONE }),
            ..MediaConfig::new(limits, EncoderConfig::papers())
        };
        Some(Self { controller, options, limits, config })
    }
}

/// Shortest interval of reports that a peer may ask for.
const SHORTEST_INTERVAL: TimeDelta = TimeDelta::from_millis(5);

impl SessionTerms {
    /// Writes the terms behind `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        let Self { flows, receives, ceilings } = self;
        let flags =
            (if *receives { RECEIVES } else { 0 }) | (if ceilings.unresponsive { UNRESPONSIVE } else { 0 });
        out.push(flags);
        // Zero stands for no ceiling.
        out.extend_from_slice(&ceilings.rate.map_or(0, DataRate::bps).to_be_bytes());
        let duration = ceilings.duration.map_or(0, |duration| (duration.nanos() / 1_000_000).max(1) as u64);
        out.extend_from_slice(&duration.to_be_bytes());
        out.push(flows.len() as u8);
        for flow in flows {
            match flow {
                OfferedFlow::Media(media) => {
                    out.push(MEDIA);
                    media.write(out);
                }
                OfferedFlow::Constant(rate) => {
                    out.push(CONSTANT);
                    out.extend_from_slice(&rate.bps().to_be_bytes());
                }
            }
        }
    }

    /// The terms at the start of `bytes`; `None` if there are none.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        Self::read(&mut WireReader::new(bytes))
    }

    /// The terms at the start of `from`; `None` if there are none.
    pub(crate) fn read(from: &mut WireReader<'_>) -> Option<Self> {
        let flags = from.u8().filter(|flags| flags & !(RECEIVES | UNRESPONSIVE) == 0)?;
        let rate = from.u64()?;
        let duration = from.u64().filter(|&ms| ms <= i64::MAX as u64 / 1_000_000)?;
        let count = usize::from(from.u8()?);
        if count > MOST_FLOWS {
            return None;
        }
        let flow = |_| match from.u8()? {
            MEDIA => OfferedMedia::read(from).map(|media| OfferedFlow::Media(Box::new(media))),
            CONSTANT => from.u64().map(|bps| OfferedFlow::Constant(DataRate::from_bps(bps))),
            _ => None,
        };
        let flows = (0..count).map(flow).collect::<Option<Vec<_>>>()?;
        let ceilings = ReceiveCeilings {
            rate: (rate > 0).then(|| DataRate::from_bps(rate)),
            duration: (duration > 0).then(|| TimeDelta::from_millis(duration as i64)),
            unresponsive: flags & UNRESPONSIVE != 0,
        };
        Some(Self { flows, receives: flags & RECEIVES != 0, ceilings })
    }

    /// Whether the terms of the other end fit to these.
    ///
    /// # Errors
    /// The reason if not.
    pub fn judge(&self, other: &Self) -> Result<(), TermsFault> {
        let direction = |text| Err(TermsFault::Direction(text));
        match (self.flows.is_empty(), other.flows.is_empty()) {
            (true, true) => return direction("neither end sends"),
            (false, _) if !other.receives => {
                return direction("this end sends, and the other one does not receive");
            }
            (_, false) if !self.receives => {
                return direction("the other end sends, and this one does not receive; give both --bidir");
            }
            _ => {}
        }
        self.ceilings.judge(&other.flows)?;
        other.ceilings.judge(&self.flows)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn gcc(min: u64, start: u64, max: u64) -> OfferedFlow {
        let kbps = DataRate::from_kbps;
        let limits = RateLimits::new(kbps(min), kbps(start), kbps(max)).unwrap();
        let config = MediaConfig::new(limits, EncoderConfig::papers());
        OfferedFlow::Media(Box::new(OfferedMedia {
            controller: "gcc".to_owned(),
            options: String::new(),
            limits,
            config,
        }))
    }

    fn written(terms: &SessionTerms) -> Vec<u8> {
        let mut bytes = Vec::new();
        terms.write(&mut bytes);
        bytes
    }

    #[test]
    fn terms_are_read_as_they_were_written() {
        let OfferedFlow::Media(mut media) = gcc(50, 300, 2500) else { panic!("media") };
        media.options = r#"{"trendline":{"window":40}}"#.to_owned();
        media.config = MediaConfig {
            audio: Some(AudioConfig::default()),
            ecn: Ecn::Ect1,
            additional_reports: Some(TimeDelta::from_millis(100)),
            key_frame_requests: Some(TimeDelta::from_millis(300)),
            counted: CountedBytes::WithHeaders(28),
            chromium: Some(ChromiumConfig { retransmissions: true, ..ChromiumConfig::NONE }),
            ..media.config
        };
        let terms = SessionTerms {
            flows: vec![OfferedFlow::Media(media), OfferedFlow::Constant(DataRate::from_kbps(100))],
            receives: true,
            ceilings: ReceiveCeilings {
                rate: Some(DataRate::from_mbps(5)),
                duration: Some(TimeDelta::from_secs(60)),
                unresponsive: true,
            },
        };
        let bytes = written(&terms);
        assert_eq!(SessionTerms::read(&mut WireReader::new(&bytes)), Some(terms));
        for length in 0..bytes.len() {
            assert_eq!(SessionTerms::read(&mut WireReader::new(&bytes[..length])), None, "{length} bytes");
        }
        assert_eq!(
            SessionTerms::read(&mut WireReader::new(&written(&SessionTerms::default()))),
            Some(SessionTerms::default())
        );
    }

    #[test]
    fn flows_that_do_not_react_need_consent() {
        let constant = [OfferedFlow::Constant(DataRate::from_kbps(10))];
        let (usual, open) = (
            ReceiveCeilings::default(),
            ReceiveCeilings { unresponsive: true, ..ReceiveCeilings::default() },
        );
        assert_eq!(usual.judge(&constant), Err(TermsFault::Unresponsive));
        assert_eq!(open.judge(&constant), Ok(()));
        assert_eq!(usual.judge(&[gcc(150, 300, 1000)]), Ok(()));
        // The floors of all flows count together.
        assert_eq!(usual.judge(&[gcc(100, 300, 1000), gcc(51, 300, 1000)]), Err(TermsFault::Unresponsive));
    }

    #[test]
    fn flows_share_a_ceiling() {
        let within = |kbps: u64, flows: &[OfferedFlow]| {
            let rate = Some(DataRate::from_kbps(kbps));
            let limits = ReceiveCeilings { rate, ..ReceiveCeilings::default() }.within(flows);
            limits.into_iter().map(|limits| limits.map(|limits| limits.max().bps())).collect::<Vec<_>>()
        };
        // 102 bytes of headers for each of 30 frames, and full packets of 1098 bytes of payload in 1200.
        let headers = 30 * 8 * 102;
        assert_eq!(within(600, &[gcc(50, 400, 2500)]), [Some((600_000 - headers) * 1098 / 1200)]);
        let both = (600_000 - 2 * headers) / 2 * 1098 / 1200;
        assert_eq!(within(600, &[gcc(50, 400, 2500), gcc(50, 60, 2500)]), [Some(both), Some(both)]);
        assert_eq!(within(9000, &[gcc(50, 400, 2500)]), [Some(2_500_000)]);
        // A flow without control has its own rate, and other flows at least their lowest.
        let constant = OfferedFlow::Constant(DataRate::from_kbps(300));
        let rest = (400_000 - 300_000 - headers) * 1098 / 1200;
        assert_eq!(within(400, &[constant.clone(), gcc(50, 400, 2500)]), [None, Some(rest)]);
        assert_eq!(within(310, &[constant, gcc(50, 400, 2500)]), [None, Some(50_000)]);
        let limits = ReceiveCeilings::default().within(&[gcc(50, 400, 2500)]);
        let start = limits[0].map(|limits| [limits.start(), limits.max()].map(|rate| rate.bps() / 1000));
        assert_eq!(start, Some([400, 2500]));
        let narrow = ReceiveCeilings { rate: Some(DataRate::from_kbps(100)), ..ReceiveCeilings::default() };
        let floor = DataRate::from_kbps(120);
        let flows = [gcc(60, 60, 100), gcc(60, 60, 100)];
        let ceiling = DataRate::from_kbps(100);
        assert_eq!(narrow.judge(&flows), Err(TermsFault::AboveCeiling { floor, ceiling }));
    }

    #[test]
    fn a_receiver_half_is_made_by_name_with_options() {
        let registry = Registry::standard();
        let with = |controller: &str, options: &str| {
            let OfferedFlow::Media(mut media) = gcc(50, 300, 2500) else { panic!("media") };
            (media.controller, media.options) = (controller.to_owned(), options.to_owned());
            OfferedFlow::Media(media).receiver(&registry).map(|half| half.is_some())
        };
        assert_eq!(with("gcc", ""), Ok(true));
        assert_eq!(with("nada", r#"{"kappa":0.25}"#), Ok(true));
        for (controller, options) in [("gccc", ""), ("gcc", "{"), ("gcc", r#"{"nothing":1}"#)] {
            assert!(
                matches!(with(controller, options), Err(TermsFault::Controller(_))),
                "{controller} {options}"
            );
        }
    }
}
