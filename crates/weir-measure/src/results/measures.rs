//! The metrics of a run. `V` is [`Value`] for one run and `Option<Statistic>` over several.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_cc::LimitingFactor;

use super::flow_kind::FlowKind;
use super::over_runs::{NamedMetrics, OverRuns, Statistic, TakeValue, Value, add_names_of, over_runs};

/// Everything measured within the measurement window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measures<V> {
    /// The flows, in the scenario's order.
    pub flows: Vec<FlowMeasures<V>>,
    /// All media flows together.
    pub media: Pooled<V>,
    /// The links, in the scenario's order.
    pub links: Vec<LinkMeasures<V>>,
    /// Fairness among the flows of a bottleneck.
    pub jain: Jain<V>,
    /// The same within each further window, by its name; left out where there is none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub windows: BTreeMap<String, Self>,
}

/// The metrics of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowMeasures<V> {
    /// Its name.
    pub name: String,
    /// Kind of its traffic.
    pub kind: FlowKind,
    /// Bits received per second of activity, on the wire.
    pub rate_bps: V,
    /// Bits of payload received per second of activity.
    pub payload_rate_bps: V,
    /// Bits sent per second of activity, on the wire.
    pub sent_rate_bps: V,
    /// Time average of the controller's target sending rate.
    pub target_rate_bps: V,
    /// Standard deviation of the received rate over whole seconds.
    pub rate_sd_bps: V,
    /// Payload rate over the fair share of the bottleneck.
    pub fair_share: V,
    /// Bytes lost over bytes sent whose fate is known.
    pub loss_ratio: V,
    /// Packets lost over packets sent whose fate is known.
    pub packet_loss_ratio: V,
    /// Bytes and packets sent.
    pub sent: Tally<V>,
    /// Bytes and packets received.
    pub received: Tally<V>,
    /// One-way delay less propagation.
    pub owd_excess_ms: DelayStatistics<V>,
    /// Waiting time in the queues of bottlenecks.
    pub queue_wait_ms: DelayStatistics<V>,
    /// Round-trip time minus the least of the run.
    pub rtt_excess_ms: DelayStatistics<V>,
    /// The least round-trip time of the run.
    pub min_rtt_ms: V,
    /// Delay from a frame's capture to the arrival of its last packet.
    pub frame_delay_ms: DelayStatistics<V>,
    /// Frames captured.
    pub frames_sent: V,
    /// Frames that the encoder skipped because its backlog was too long.
    pub frames_skipped: V,
    /// Key frames captured.
    pub key_frames: V,
    /// Frames captured of which all packets arrived.
    pub frames_complete: V,
    /// Frames captured of which a packet was lost.
    pub frames_lost: V,
    /// Payload of frames that were complete within 150 ms of their capture, in bits per second of activity.
    pub useful_rate_bps: V,
    /// Freezes of the picture.
    pub freezes: V,
    /// Their total length.
    pub freeze_seconds: V,
    /// The length of the longest one.
    pub longest_freeze_seconds: V,
    /// Quality of the picture that a viewer sees.
    pub pictures: Pictures<V>,
    /// Seconds for which each factor limited the rate.
    pub time_per_limiting_factor: PerLimitingFactor<V>,
    /// Rates that the controller computed: its decisions, whether they moved the rate or not.
    pub decisions: V,
    /// Bits of feedback per second of activity, on the wire.
    pub feedback_rate_bps: V,
    /// Packets of feedback per second of activity.
    pub feedback_packet_rate: V,
    /// Bytes of feedback over bytes sent.
    pub feedback_share: V,
    /// Time from the start of a finite transfer to its end.
    pub completion_seconds: V,
    /// When a circuit breaker stopped its media, in seconds of the run.
    pub stopped: Stopped<V>,
    /// The transfers of a TCP flow, one or many.
    pub transfers: CompletedTransfers<V>,
    /// Each change of the flow's share and how long it took to follow.
    pub convergence: Vec<Convergence<V>>,
    /// Its part of the bytes that the flows of its coupling sent; like the next three only for flows in a
    /// coupling.
    pub share_sent: V,
    /// Its part of the bytes that they received.
    pub share_received: V,
    /// Its part by weight.
    pub share_wanted: V,
    /// Messages to its coupler that were refused.
    #[serde(alias = "refused_words")]
    pub refused_messages: V,
}

/// A value for each circuit breaker (RFC 8083) that can stop media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stopped<V> {
    /// No feedback on the media arrived (§4.2).
    pub rtcp_timeout: V,
    /// Reports arrived without a newer packet (§4.1).
    pub media_timeout: V,
    /// Far more was sent than the losses allow (§4.3).
    pub congestion: V,
}

/// Quality of the picture that a viewer sees.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pictures<V> {
    /// Frames completed per second.
    pub frame_rate: V,
    /// Intervals between complete frames over the sum of their squares: a frame rate that long gaps lower.
    pub harmonic_frame_rate: V,
    /// The part of the seconds in which fewer than 20 frames were completed.
    pub slow_seconds: V,
    /// The part of the frames that a playout 150 ms after capture shows on time …
    pub shown_on_time: V,
    /// … and late …
    pub shown_late: V,
    /// … and the part that was complete too late to be shown at all.
    pub discarded: V,
    /// The part of the frames that could be decoded; not defined without key frames.
    pub decodable: V,
}

/// The transfers that a flow completed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompletedTransfers<V> {
    /// Their number.
    pub completed: V,
    /// Their mean size.
    pub mean_bytes: V,
    /// Mean of the times from the opening of the connection to the last acknowledgement.
    pub mean_seconds: V,
    /// 95 % of these times lie below.
    pub p95_seconds: V,
    /// The longest of these times.
    pub max_seconds: V,
}

/// Bytes and packets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tally<V> {
    /// Bytes on the wire.
    pub bytes: V,
    /// Bytes of payload.
    pub payload_bytes: V,
    /// Packets.
    pub packets: V,
}

/// The distribution of a delay over packets or frames, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DelayStatistics<V> {
    /// Mean.
    pub mean: V,
    /// Standard deviation.
    pub sd: V,
    /// 5 % lie below.
    pub p5: V,
    /// Half lie below.
    pub p50: V,
    /// 95 % lie below.
    pub p95: V,
    /// 99 % lie below.
    pub p99: V,
    /// The largest value.
    pub max: V,
}

/// A value for each [`LimitingFactor`], by its name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct PerLimitingFactor<V> {
    /// [`LimitingFactor::RampUp`].
    pub ramp_up: V,
    /// [`LimitingFactor::Delay`].
    pub delay: V,
    /// [`LimitingFactor::Loss`].
    pub loss: V,
    /// [`LimitingFactor::Receiver`].
    pub receiver: V,
    /// [`LimitingFactor::Silence`].
    pub silence: V,
    /// [`LimitingFactor::Drain`].
    pub drain: V,
    /// [`LimitingFactor::Application`].
    pub application: V,
    /// [`LimitingFactor::Coupling`].
    pub coupling: V,
    /// [`LimitingFactor::Minimum`].
    pub minimum: V,
    /// [`LimitingFactor::Maximum`].
    pub maximum: V,
}

impl<V> PerLimitingFactor<V> {
    /// The value of each factor.
    pub fn from_fn(mut value: impl FnMut(LimitingFactor) -> V) -> Self {
        Self {
            ramp_up: value(LimitingFactor::RampUp),
            delay: value(LimitingFactor::Delay),
            loss: value(LimitingFactor::Loss),
            receiver: value(LimitingFactor::Receiver),
            silence: value(LimitingFactor::Silence),
            drain: value(LimitingFactor::Drain),
            application: value(LimitingFactor::Application),
            coupling: value(LimitingFactor::Coupling),
            minimum: value(LimitingFactor::Minimum),
            maximum: value(LimitingFactor::Maximum),
        }
    }

    /// The value of `factor`.
    pub const fn get(&self, factor: LimitingFactor) -> &V {
        match factor {
            LimitingFactor::RampUp => &self.ramp_up,
            LimitingFactor::Delay => &self.delay,
            LimitingFactor::Loss => &self.loss,
            LimitingFactor::Receiver => &self.receiver,
            LimitingFactor::Silence => &self.silence,
            LimitingFactor::Drain => &self.drain,
            LimitingFactor::Application => &self.application,
            LimitingFactor::Coupling => &self.coupling,
            LimitingFactor::Minimum => &self.minimum,
            LimitingFactor::Maximum => &self.maximum,
        }
    }
}

/// How long a flow took to reach its max-min share after the share changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Convergence<V> {
    /// When the share changed, in seconds of the run.
    pub at_seconds: V,
    /// The share since then.
    pub share_bps: V,
    /// How long it took; the time until the next change if it was not reached.
    pub seconds: V,
    /// 1 if it was not reached, else 0; over runs, the part of them in which it was not.
    pub not_converged: V,
}

/// All media flows of a run together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pooled<V> {
    /// Sum of the flows' received rates, on the wire.
    pub rate_bps: V,
    /// Bytes lost over bytes sent whose fate is known.
    pub loss_ratio: V,
    /// Packets lost over packets sent whose fate is known.
    pub packet_loss_ratio: V,
    /// One-way delay less propagation.
    pub owd_excess_ms: DelayStatistics<V>,
    /// Waiting time in the queues of bottlenecks.
    pub queue_wait_ms: DelayStatistics<V>,
    /// Round-trip time minus the flow's least of the run.
    pub rtt_excess_ms: DelayStatistics<V>,
    /// Delay from a frame's capture to the arrival of its last packet.
    pub frame_delay_ms: DelayStatistics<V>,
}

/// The metrics of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkMeasures<V> {
    /// Its name.
    pub name: String,
    /// Whether it is some flow's bottleneck.
    pub bottleneck: bool,
    /// How much of its capacity was used.
    pub utilisation: Utilisation<V>,
    /// Packets lost, in the queue or by chance, over packets that came to the link.
    pub loss_ratio: V,
    /// Waiting time in its queue, over the packets that came through it.
    pub queue_ms: DelayStatistics<V>,
    /// Packets that wait in its queue.
    pub queue_packets: QueuePackets<V>,
    /// Times when its queue overflowed; like the next one only if queues are recorded.
    pub overflows: V,
    /// Times when its queue did not get empty between two overflows.
    pub failed_drains: V,
}

/// Packets that wait in a queue, the one in service not counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueuePackets<V> {
    /// Mean over time.
    pub mean: V,
    /// The most; only if queues are recorded.
    pub max: V,
}

/// How much of a link's capacity was used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Utilisation<V> {
    /// Mean over whole seconds of carried over possible bits.
    pub time_mean: V,
    /// Standard deviation of the same.
    pub time_sd: V,
    /// Carried bits over possible bits.
    pub bits: V,
    /// Mean over the flows that it is the bottleneck of: payload rate over fair share.
    pub fair_share: V,
}

/// Jain's index of the rates of the adaptive flows that share a bottleneck with the first of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Jain<V> {
    /// The index of the mean rates.
    pub of_means: V,
    /// The mean of the index over the whole seconds in which all of these flows are active.
    pub mean_of_instant: V,
    /// The index of the mean rates sent.
    pub sent_of_means: V,
    /// The mean of the index of the rates sent, over the same seconds; only where flows are coupled.
    pub sent_mean_of_instant: V,
}

/// The key of a field of [`PerLimitingFactor`].
fn in_kebab_case(field: &str) -> String {
    field.replace('_', "-")
}

over_runs!(Measures {; flows, media, links, jain, windows });
over_runs!(FlowMeasures { name, kind;
    rate_bps, payload_rate_bps, sent_rate_bps, target_rate_bps, rate_sd_bps, fair_share, loss_ratio,
    packet_loss_ratio, sent, received, owd_excess_ms, queue_wait_ms, rtt_excess_ms, min_rtt_ms, frame_delay_ms,
    frames_sent, frames_skipped, key_frames, frames_complete, frames_lost, useful_rate_bps, freezes, freeze_seconds, longest_freeze_seconds, pictures, time_per_limiting_factor,
    decisions, feedback_rate_bps, feedback_packet_rate, feedback_share, completion_seconds, stopped, transfers, convergence,
    share_sent, share_received, share_wanted, refused_messages,
});
over_runs!(Pictures {;
    frame_rate, harmonic_frame_rate, slow_seconds, shown_on_time, shown_late, discarded, decodable
});
over_runs!(Stopped {; rtcp_timeout, media_timeout, congestion });
over_runs!(CompletedTransfers {; completed, mean_bytes, mean_seconds, p95_seconds, max_seconds });
over_runs!(Tally {; bytes, payload_bytes, packets });
over_runs!(DelayStatistics {; mean, sd, p5, p50, p95, p99, max });
over_runs!(PerLimitingFactor, in_kebab_case; {;
    ramp_up, delay, loss, receiver, silence, drain, application, coupling, minimum, maximum
});
over_runs!(Convergence {; at_seconds, share_bps, seconds, not_converged });
over_runs!(Pooled {;
    rate_bps, loss_ratio, packet_loss_ratio, owd_excess_ms, queue_wait_ms, rtt_excess_ms, frame_delay_ms
});
over_runs!(LinkMeasures { name, bottleneck;
    utilisation, loss_ratio, queue_ms, queue_packets, overflows, failed_drains,
});
over_runs!(QueuePackets {; mean, max });
over_runs!(Utilisation {; time_mean, time_sd, bits, fair_share });
over_runs!(Jain {; of_means, mean_of_instant, sent_of_means, sent_mean_of_instant });
