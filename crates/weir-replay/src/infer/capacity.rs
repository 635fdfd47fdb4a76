//! Capacity from packets that queued: bytes over the gaps between their arrivals.

use super::line::{PacketLine, second_of, service_us};
use super::packet::ServedPacket;
use super::path::{CapacitySecond, RatePiece};

/// Length of a bin in microseconds.
pub(super) const BIN_US: i64 = 50_000;
/// Bins in a second.
pub(super) const BINS_PER_SECOND: usize = 20;
/// Fewer pairs give no figure.
const LEAST_PAIRS: f64 = 5.0;
/// Less time in service gives no figure, in microseconds.
const LEAST_BUSY_US: f64 = 15_000.0;
/// Half of the narrowest band, as a share of the figure.
const NARROWEST: f64 = 0.03;
/// A figure with a wider half band is none.
const WIDEST: f64 = 0.5;
/// Standard errors in half a band.
const STANDARD_ERRORS: f64 = 2.6;
/// Part of the margin that is left where the end of service is predicted.
const MARGIN: f64 = 0.5;
/// Share of a correction of the predicted end of service by an arrival.
const CORRECTION: f64 = 0.2;

/// Service of a bin while packets queued.
#[derive(Clone, Copy, Debug, Default)]
struct ServiceBin {
    bytes: f64,
    busy_us: f64,
    pairs: f64,
    /// Spans of service without a break that end in the bin.
    ends: f64,
}

/// Service while packets queued, in bins from the begin of the call on.
#[derive(Clone, Debug)]
pub(super) struct ServiceBins {
    bins: Vec<ServiceBin>,
}

impl ServiceBins {
    /// The bins of pairs whose first packet was served more than `margin_us` after the second was sent.
    pub(super) fn of(line: &PacketLine, margin_us: i64) -> Self {
        let mut bins = Self::empty(line);
        let mut last_us = i64::MIN;
        for (first, second) in line.neighbours() {
            let queued = if line.is_weak() {
                second.continues_frame
            } else {
                first.served_us - margin_us > second.sent_us
            };
            if queued {
                bins.add(first, second, &mut last_us);
            }
        }
        bins
    }

    /// The same where the end of service follows from departures and the capacity of `seconds`, corrected by arrivals;
    /// `propagation_us` is that of [`PacketLine::propagation_us`].
    pub(super) fn served_by(
        line: &PacketLine,
        margin_us: i64,
        propagation_us: i64,
        seconds: &[CapacitySecond],
    ) -> Self {
        let mut bins = Self::empty(line);
        let mut last_us = i64::MIN;
        let mut end_us = 0.0f64;
        for (index, packet) in line.served.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| &line.served[before]);
            if let Some(before) = before
                && before.missing_before == packet.missing_before
                && end_us - MARGIN * margin_us as f64 > packet.sent_us as f64
                && before.served_us - propagation_us + margin_us > packet.sent_us
            {
                bins.add(before, packet, &mut last_us);
            }
            let second = second_of(packet.served_us).and_then(|second| seconds.get(second));
            let measured = (packet.served_us - propagation_us) as f64;
            end_us = match second.and_then(|second| second.bps) {
                Some(bps) => {
                    let predicted = end_us.max(packet.sent_us as f64) + service_us(packet.bytes, bps);
                    predicted + CORRECTION * (measured - predicted)
                }
                None => measured,
            };
        }
        bins
    }

    /// The time in each bin of a second in which packets were served that had queued, in microseconds.
    pub(super) fn busy_us(&self, second: usize) -> [f64; BINS_PER_SECOND] {
        let bins = self.bins.chunks(BINS_PER_SECOND).nth(second).unwrap_or_default();
        core::array::from_fn(|bin| bins.get(bin).map_or(0.0, |bin| bin.busy_us))
    }

    fn empty(line: &PacketLine) -> Self {
        let seconds = second_of(line.end_us().max(0)).unwrap_or(0) + 1;
        Self { bins: vec![ServiceBin::default(); seconds * BINS_PER_SECOND] }
    }

    /// Adds the service of `second`, which began when `first` had been served.
    fn add(&mut self, first: &ServedPacket, second: &ServedPacket, last_us: &mut i64) {
        let (from, to) = (first.served_us.max(0), second.served_us.max(0));
        let index = (to / BIN_US) as usize;
        let continues = *last_us == first.served_us;
        *last_us = second.served_us;
        let Some(bin) = self.bins.get_mut(index) else { return };
        bin.pairs += 1.0;
        if !continues {
            bin.ends += 1.0;
        }
        let bytes = f64::from(second.bytes);
        let gap = (to - from) as f64;
        if gap <= 0.0 {
            bin.bytes += bytes;
            return;
        }
        let mut at = from;
        while at < to {
            let index = at / BIN_US;
            let until = to.min((index + 1) * BIN_US);
            let part = (until - at) as f64;
            if let Some(bin) = self.bins.get_mut(index as usize) {
                bin.busy_us += part;
                bin.bytes += bytes * part / gap;
            }
            at = until;
        }
    }
}

/// A figure with the half width of its band, in bytes per microsecond.
#[derive(Clone, Copy, Debug)]
struct RateFigure {
    rate: f64,
    half: f64,
}

/// Sums of bins.
#[derive(Clone, Copy, Debug, Default)]
struct BinSums {
    count: f64,
    pairs: f64,
    ends: f64,
    bytes: f64,
    busy: f64,
    /// Sum of squares of the rates, weighted by time.
    squares: f64,
    /// Sums of products of bytes and time, for the error of their ratio.
    bytes_bytes: f64,
    bytes_busy: f64,
    busy_busy: f64,
}

impl BinSums {
    fn of<'a>(bins: impl IntoIterator<Item = &'a ServiceBin>) -> Self {
        let mut sums = Self::default();
        for bin in bins {
            sums.pairs += bin.pairs;
            sums.ends += bin.ends;
            if bin.busy_us <= 0.0 {
                continue;
            }
            sums.count += 1.0;
            sums.bytes += bin.bytes;
            sums.busy += bin.busy_us;
            sums.squares += bin.bytes * bin.bytes / bin.busy_us;
            sums.bytes_bytes += bin.bytes * bin.bytes;
            sums.bytes_busy += bin.bytes * bin.busy_us;
            sums.busy_busy += bin.busy_us * bin.busy_us;
        }
        sums
    }

    fn has_figure(&self) -> bool {
        self.pairs >= LEAST_PAIRS && self.busy >= LEAST_BUSY_US
    }

    fn rate(&self) -> f64 {
        self.bytes / self.busy.max(1.0)
    }

    /// Squared deviations of the bins' rates from their mean, weighted by time.
    fn deviation(&self) -> f64 {
        (self.squares - self.rate() * self.bytes).max(0.0)
    }

    /// The figure, with the standard error of the ratio of two sums over bins, and the steps of the clocks at the
    /// ends of each span.
    fn figure(&self, resolution_us: f64) -> Option<RateFigure> {
        if !self.has_figure() {
            return None;
        }
        let rate = self.rate();
        let residuals = self.bytes_bytes - 2.0 * rate * self.bytes_busy + rate * rate * self.busy_busy;
        let few = if self.count > 1.0 { self.count / (self.count - 1.0) } else { 2.0 };
        let spread = (few * residuals.max(0.0)).sqrt() / self.busy;
        let clocks = rate * resolution_us * (0.33 * self.ends).sqrt() / self.busy;
        let half = STANDARD_ERRORS * (spread * spread + clocks * clocks).sqrt();
        let half = half.max(NARROWEST * rate);
        (half <= WIDEST * rate).then_some(RateFigure { rate, half })
    }
}

fn square(value: f64) -> f64 {
    value * value
}

/// Bits per second of bytes per microsecond.
const fn bps(rate: f64) -> f64 {
    rate * 8e6
}

/// The seconds of the call, with figures and bands where packets queued.
pub(super) fn seconds(bins: &ServiceBins, line: &PacketLine) -> Vec<CapacitySecond> {
    let resolution_us = line.resolution_us() as f64;
    let seconds = bins.bins.chunks(BINS_PER_SECOND).enumerate();
    let of_second = |(index, bins): (usize, &[ServiceBin])| {
        let from_us = index as i64 * 1_000_000;
        let sums = BinSums::of(bins);
        let mut second =
            CapacitySecond { from_us, pairs: sums.pairs as u32, is_open: true, ..CapacitySecond::default() };
        let mut parts = Vec::new();
        split(bins, 0, &mut parts);
        let figures: Option<Vec<RateFigure>> =
            parts.iter().map(|part| BinSums::of(&bins[part.clone()]).figure(resolution_us)).collect();
        match figures {
            Some(figures) if figures.len() > 1 => {
                let shares = parts.iter().map(|part| part.len() as f64 / BINS_PER_SECOND as f64);
                let (mean, variance) =
                    shares.zip(&figures).fold((0.0, 0.0), |(mean, variance), (share, figure)| {
                        (mean + share * figure.rate, variance + square(share * figure.half))
                    });
                // The place of a change is known to a bin.
                let jump = figures.windows(2).map(|two| (two[1].rate - two[0].rate).abs()).sum::<f64>();
                let half = (variance + square(jump / BINS_PER_SECOND as f64)).sqrt().max(NARROWEST * mean);
                set(&mut second, RateFigure { rate: mean, half });
                let piece = |(part, figure): (&core::ops::Range<usize>, &RateFigure)| RatePiece {
                    from_us: from_us + part.start as i64 * BIN_US,
                    bps: bps(figure.rate),
                };
                second.pieces = parts.iter().zip(&figures).map(piece).collect();
            }
            _ => {
                if let Some(figure) = sums.figure(resolution_us) {
                    set(&mut second, figure);
                }
            }
        }
        second
    };
    seconds.map(of_second).collect()
}

fn set(second: &mut CapacitySecond, RateFigure { rate, half }: RateFigure) {
    second.bps = Some(bps(rate));
    second.low_bps = bps(rate - half);
    second.high_bps = bps(rate + half);
    second.is_open = false;
}

/// Divides `bins`, which begin at the bin `from`, where their rates differ clearly.
fn split(bins: &[ServiceBin], from: usize, parts: &mut Vec<core::ops::Range<usize>>) {
    match best_split(bins) {
        Some(at) => {
            split(&bins[..at], from, parts);
            split(&bins[at..], from + at, parts);
        }
        None => parts.push(from..from + bins.len()),
    }
}

fn best_split(bins: &[ServiceBin]) -> Option<usize> {
    /// Least bins on each side.
    const LEAST: usize = 2;
    /// Gain over the variance that is left.
    const GAIN: f64 = 12.0;
    /// Least difference of the rates, as a share.
    const DIFFERENCE: f64 = 0.06;
    /// Noise of a bin, as a share of the rate.
    const NOISE: f64 = 0.02;
    let whole = BinSums::of(bins);
    let mut best: Option<(usize, f64)> = None;
    for at in LEAST..=bins.len().saturating_sub(LEAST) {
        let (left, right) = (BinSums::of(&bins[..at]), BinSums::of(&bins[at..]));
        if !left.has_figure() || !right.has_figure() {
            continue;
        }
        let rest = left.deviation() + right.deviation();
        let noise = square(NOISE * whole.rate()) * whole.busy / whole.count.max(1.0);
        let variance = (rest / (whole.count - 2.0).max(1.0)).max(noise);
        let gain = (whole.deviation() - rest) / variance;
        let differs = (left.rate() - right.rate()).abs() > DIFFERENCE * whole.rate();
        if differs && gain > GAIN && best.is_none_or(|(_, most)| gain > most) {
            best = Some((at, gain));
        }
    }
    best.map(|(at, _)| at)
}
