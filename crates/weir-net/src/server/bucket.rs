//! Service by tokens.

use weir_units::DataRate;

use super::steps::Steps;
use super::{Slot, work};
use crate::service::TokenBucket;
use crate::time::Time;

/// A token bucket, and perhaps a second one for the peak rate. Tokens in nanobits.
#[derive(Clone, Debug)]
pub(super) struct BucketServer {
    rates: Steps,
    state: Tokens,
    peak: Option<(Steps, Tokens)>,
    /// The states after the packet offered last.
    offered: (Tokens, Option<Tokens>),
}

#[derive(Clone, Copy, Debug)]
struct Tokens {
    /// When there were so many, ns.
    at: u64,
    level: u64,
    most: u64,
}

impl Tokens {
    fn full(bytes: u64) -> Self {
        let most = bytes.saturating_mul(crate::service::NANOBITS_PER_BYTE);
        Self { at: 0, level: most, most }
    }

    /// The state at `now`.
    fn at(self, now: u64, rates: &Steps) -> Self {
        let level = self.level.saturating_add(rates.done(self.at, now)).min(self.most);
        Self { at: now, level, ..self }
    }

    /// When, from this state on, there are `wanted` tokens, or `None` if never.
    fn reaches(self, wanted: u64, rates: &mut Steps) -> Option<u64> {
        match wanted.saturating_sub(self.level) {
            0 => Some(self.at),
            missing => rates.end_of(self.at, missing),
        }
    }

    fn spend(self, tokens: u64) -> Self {
        Self { level: self.level.saturating_sub(tokens), ..self }
    }
}

impl BucketServer {
    pub(super) fn new(config: &TokenBucket) -> Self {
        let state = Tokens::full(config.burst.bytes());
        let peak = config
            .peak
            .map(|peak| (Steps::new(&[(Time::ZERO, peak)]), Tokens::full(TokenBucket::MTU.bytes())));
        let offered = (state, peak.as_ref().map(|&(_, tokens)| tokens));
        Self { rates: Steps::new(&config.rates), state, peak, offered }
    }

    pub(super) fn rate_at(&self, now: u64) -> DataRate {
        self.rates.rate_at(now)
    }

    /// The slot, or `None` for a packet larger than the bucket, or if its tokens never come.
    pub(super) fn serve(&mut self, arrival: u64, start: u64, size: u32) -> Option<Slot> {
        let wanted = work(size);
        if wanted > self.state.most {
            return None;
        }
        let at_start = self.state.at(start, &self.rates);
        let mut departure = at_start.reaches(wanted, &mut self.rates)?;
        if let Some((rate, tokens)) = &mut self.peak {
            let at_start = tokens.at(start, rate);
            // A packet larger than the bucket of the peak rate empties it.
            departure = departure.max(at_start.reaches(wanted.min(at_start.most), rate)?);
            self.offered.1 = Some(at_start.at(departure, rate).spend(wanted));
        }
        self.offered.0 = at_start.at(departure, &self.rates).spend(wanted);
        Some(Slot { departure, wait: departure.saturating_sub(arrival), position: departure })
    }

    /// When `size` bytes in several packets have passed that begin at `start`, or `None` if never.
    pub(super) fn forecast(&mut self, start: u64, size: u32) -> Option<u64> {
        let end = self.state.at(start, &self.rates).reaches(work(size), &mut self.rates)?;
        let Some((rate, tokens)) = &mut self.peak else { return Some(end) };
        let at_peak = tokens.at(start, rate).reaches(work(size), rate)?;
        Some(end.max(at_peak))
    }

    /// Takes the packet that was offered last.
    pub(super) fn take(&mut self) {
        self.state = self.offered.0;
        if let (Some((_, tokens)), Some(offered)) = (&mut self.peak, self.offered.1) {
            *tokens = offered;
        }
    }
}
