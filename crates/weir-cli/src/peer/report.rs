//! Output of a session: a line each second, and the report at its end.

use std::io::{self, Write};

use weir_live::conclusive::SENDER_P99;
use weir_net::Time;
use weir_peer::drive::DriveFigures;
use weir_peer::end::PeerEnd;
use weir_peer::results::{FlowResults, PeerResults};
use weir_units::TimeDelta;

use crate::args::SessionArgs;
use crate::failure::Failure;
use crate::{table, terminal};

/// Counters of a flow at the last line.
#[derive(Clone, Copy, Debug, Default)]
struct CountersBefore {
    sent: u64,
    received: u64,
    arrived: u64,
    lost: u64,
}

/// The live lines.
#[derive(Debug)]
pub(super) struct LiveLines {
    wanted: bool,
    interval: TimeDelta,
    /// Start of the session, and time of the last line.
    times: Option<[Time; 2]>,
    /// Time of the peer's report that the last line used.
    reported_before: Option<Time>,
    /// Counters by the index of the flow.
    before: Vec<CountersBefore>,
}

impl LiveLines {
    pub(super) fn new(args: &SessionArgs) -> Self {
        let wanted = !args.quiet && !args.json;
        Self { wanted, interval: args.interval, times: None, reported_before: None, before: Vec::new() }
    }

    /// Prints the lines that are due.
    pub(super) fn show(&mut self, now: Time, end: &mut PeerEnd) {
        let [start, last] = *self.times.get_or_insert([now, now]);
        if !self.wanted || now - last < self.interval {
            return;
        }
        self.times = Some([start, now]);
        let span = (now - last).secs_f64();
        let reported = end.reported();
        // The peer's reports have times of their own.
        let reported_at = end.reported_at();
        let reported_span =
            reported_at.map_or(span, |at| (at - self.reported_before.unwrap_or(start)).secs_f64().max(1e-3));
        self.reported_before = reported_at;
        let received = end.received();
        let rtt = end.rtt().map_or_else(|| "–".to_owned(), |rtt| format!("{:.0} ms", rtt.millis_f64()));
        let mut lines = Vec::new();
        let base = end.first_sent();
        for (flow, sent) in end.sent().iter().enumerate().map(|(own, sent)| (base + own, sent)) {
            let figures = reported.iter().find(|(index, _)| *index == flow).map(|(_, figures)| *figures);
            let figures = figures.unwrap_or_default();
            let before = self.counters(flow);
            let arrived = figures.packets.saturating_sub(before.arrived);
            let lost = figures.lost.saturating_sub(before.lost);
            lines.push(format!(
                "flow {flow}: target {}, sent {}, received {} Mbit/s, loss {}, delay +{:.0} ms, rtt {rtt}",
                mbps(sent.target.bps_f64()),
                mbps(sent.bytes.saturating_sub(before.sent) as f64 * 8.0 / span),
                mbps(figures.bytes.saturating_sub(before.received) as f64 * 8.0 / reported_span),
                percent(lost, arrived),
                figures.delay_now.millis_f64(),
            ));
            *before = CountersBefore {
                sent: sent.bytes,
                received: figures.bytes,
                arrived: figures.packets,
                lost: figures.lost,
            };
        }
        for (flow, figures) in received {
            let before = self.counters(flow);
            let arrived = figures.packets.saturating_sub(before.arrived);
            let lost = figures.lost.saturating_sub(before.lost);
            lines.push(format!(
                "flow {flow}: received {} Mbit/s, loss {}, delay +{:.0} ms",
                mbps(figures.bytes.saturating_sub(before.received) as f64 * 8.0 / span),
                percent(lost, arrived),
                figures.delay_now.millis_f64(),
            ));
            *before = CountersBefore {
                sent: 0,
                received: figures.bytes,
                arrived: figures.packets,
                lost: figures.lost,
            };
        }
        let mut out = terminal::stderr();
        for line in lines {
            // If standard error is closed, the session goes on.
            let _: io::Result<()> = writeln!(out, "{:5.1} s  {line}", (now - start).secs_f64());
        }
    }

    fn counters(&mut self, flow: usize) -> &mut CountersBefore {
        if self.before.len() <= flow {
            self.before.resize(flow + 1, CountersBefore::default());
        }
        &mut self.before[flow]
    }
}

fn mbps(rate: f64) -> String {
    format!("{:.2}", rate / 1e6)
}

fn percent(lost: u64, arrived: u64) -> String {
    // Both may be figures of a peer that lies.
    let all = lost.saturating_add(arrived);
    format!("{:.1} %", if all == 0 { 0.0 } else { 100.0 * lost as f64 / all as f64 })
}

/// Adds the figures of the drive, the reasons why the session does not count, and the requirements that are not met.
pub(super) fn judge(args: &SessionArgs, results: &mut PeerResults, figures: &DriveFigures, broke_off: bool) {
    results.timers_late_ms = figures.timers.summary_ms();
    results.lost_at_socket = figures.refused + figures.drops;
    let sends = results.flows.iter().any(|flow| flow.sent_here);
    let late = figures.timers.percentile(0.99);
    let mut reasons = Vec::new();
    if broke_off {
        reasons.push(results.outcome.clone());
    }
    if sends && late > SENDER_P99 {
        let limit = SENDER_P99.millis_f64();
        reasons.push(format!(
            "timers were late by {:.1} ms at the 99th percentile (limit {limit} ms)",
            late.millis_f64()
        ));
    }
    if results.lost_at_socket > 0 {
        reasons.push(format!("{} packets were lost at the socket", results.lost_at_socket));
    }
    let stopped = results.flows.iter().filter_map(|flow| Some((flow.flow, flow.stopped.as_ref()?)));
    reasons.extend(
        stopped.map(|(flow, breaker)| format!("flow {flow}: a circuit breaker stopped it: {breaker}")),
    );
    results.inconclusive = reasons;
    results.failed = failed(args, &results.flows);
}

/// The requirements of the command line that the flows do not meet.
fn failed(args: &SessionArgs, flows: &[FlowResults]) -> Vec<String> {
    let mut failed = Vec::new();
    let rate: f64 = flows.iter().filter_map(|flow| flow.received_rate_bps).map(|rate| rate as f64).sum();
    if let Some(least) = args.at_least.filter(|least| rate < least.bps_f64()) {
        failed.push(format!("received {} Mbit/s, and --at-least is {least}", mbps(rate)));
    }
    let most =
        |value: &dyn Fn(&FlowResults) -> Option<f64>| flows.iter().filter_map(value).fold(0.0, f64::max);
    let delay = most(&|flow| Some(flow.delay_ms?[1]));
    if let Some(limit) = args.delay_at_most.filter(|limit| delay > limit.millis_f64()) {
        failed.push(format!(
            "the 95th percentile of the delay is {delay:.1} ms, and --delay-at-most is {limit}"
        ));
    }
    let loss = most(&|flow| flow.loss_ratio);
    if let Some(limit) = args.loss_at_most.filter(|&limit| loss > limit) {
        failed.push(format!("{:.2} % are lost, and --loss-at-most is {:.2} %", 100.0 * loss, 100.0 * limit));
    }
    failed
}

/// Prints the report.
pub(super) fn print(args: &SessionArgs, results: &PeerResults) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    if args.json {
        serde_json::to_writer(&mut out, results).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(());
    }
    let head = [
        "flow",
        "controller",
        "direction",
        "target",
        "sent",
        "received",
        "media",
        "loss",
        "delay p50",
        "p95",
        "frames",
        "skipped",
    ];
    writeln!(out, "{}", table::plain(&head, results.flows.iter().map(row).collect()))?;
    let peer = results.peer.as_deref().unwrap_or("no peer");
    let outcome = terminal::printable(&results.outcome);
    let rtt = results
        .rtt_ms
        .map_or_else(String::new, |[p50, p95]| format!(", round trip {p50:.1} ms (95 %: {p95:.1} ms)"));
    writeln!(out, "{:.1} s with {peer}{rtt}: {outcome}", results.seconds)?;
    let dropped = &results.dropped;
    let all = dropped.forged + dropped.replayed + dropped.foreign + dropped.unreadable;
    if all > 0 {
        writeln!(
            out,
            "dropped: {} forged, {} replayed, {} of other addresses, {} unreadable",
            dropped.forged, dropped.replayed, dropped.foreign, dropped.unreadable
        )?;
    }
    for reason in &results.inconclusive {
        writeln!(out, "inconclusive: {}", terminal::printable(reason))?;
    }
    for requirement in &results.failed {
        writeln!(out, "not met: {requirement}")?;
    }
    Ok(())
}

fn row(flow: &FlowResults) -> Vec<String> {
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
    let rate = |value: Option<u64>| or_none(value.map(|rate| format!("{} Mbit/s", mbps(rate as f64))));
    let ms = |value: Option<f64>| or_none(value.map(|ms| format!("{ms:.1} ms")));
    vec![
        flow.flow.to_string(),
        terminal::printable(&flow.controller),
        if flow.sent_here { "sent" } else { "received" }.to_owned(),
        rate(flow.target_rate_bps),
        rate(flow.sent_rate_bps),
        rate(flow.received_rate_bps),
        rate(flow.media_rate_bps),
        or_none(flow.loss_ratio.map(|loss| format!("{:.2} %", 100.0 * loss))),
        ms(flow.delay_ms.map(|delay| delay[0])),
        ms(flow.delay_ms.map(|delay| delay[1])),
        or_none(flow.frames.map(|frames| frames[0].to_string())),
        or_none(flow.frames.map(|frames| frames[1].to_string())),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_a_peer_that_lies_have_a_ratio() {
        assert_eq!(percent(u64::MAX, u64::MAX), "100.0 %");
        assert_eq!((percent(0, 0), percent(1, 3)), ("0.0 %".to_owned(), "25.0 %".to_owned()));
    }
}
