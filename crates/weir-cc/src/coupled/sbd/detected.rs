//! A coupler whose groups follow from shared bottleneck detection.

use alloc::vec::Vec;

use weir_units::{DataSize, TimeDelta};

use super::config::Config;
use super::detector::Detector;
use crate::config_error::ConfigError;
use crate::coupled::coupler::{Aggregate, Coupler, Grouped, Refusal};
use crate::coupled::message::{CouplerAction, CouplingMessage, CwndUpdate, FlowId};
use crate::time::SendTime;

/// A coupler with a [`Detector`] in front of it. Each flow begins in a group of its own, or in that of its
/// five-tuple; [`CouplingMessage::Statistics`] change its group.
#[derive(Debug)]
pub struct Detected<C> {
    coupler: C,
    detector: Detector,
    bundles: Vec<(FlowId, u64)>,
    /// Segment size of each flow with a window, by member.
    segments: Vec<(FlowId, DataSize)>,
}

impl<C: Grouped> Detected<C> {
    /// `coupler`, whose groups are found with the parameters of `config`.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub fn new(coupler: C, config: Config) -> Result<Self, ConfigError> {
        Ok(Self { coupler, detector: Detector::new(config)?, bundles: Vec::new(), segments: Vec::new() })
    }

    /// Declares flows that will share a five-tuple, DSCP and ECN field: they are in one group without measurement.
    pub fn multiplexed(mut self, members: impl IntoIterator<Item = FlowId>) -> Self {
        let bundle = self.bundles.len() as u64;
        self.bundles.extend(members.into_iter().map(|member| (member, bundle)));
        self
    }

    /// The detector, for inspection.
    pub fn detector(&self) -> &Detector {
        &self.detector
    }

    /// The coupler, for inspection.
    pub fn coupler(&self) -> &C {
        &self.coupler
    }

    fn bundle(&self, member: FlowId) -> Option<u64> {
        self.bundles.iter().find(|(of, _)| *of == member).map(|&(_, bundle)| bundle)
    }

    fn remember_segment(&mut self, member: FlowId, segment: DataSize) {
        match self.segments.binary_search_by_key(&member, |&(of, _)| of) {
            Ok(known) => self.segments[known].1 = segment,
            Err(place) => self.segments.insert(place, (member, segment)),
        }
    }

    /// Takes a window as the rate of one window per round trip.
    fn on_window(&mut self, member: FlowId, cwnd_update: &CwndUpdate) {
        if let Ok(known) = self.segments.binary_search_by_key(&member, |&(of, _)| of)
            && let Some(srtt) = cwnd_update.srtt.filter(|srtt| *srtt > TimeDelta::ZERO)
        {
            let window = cwnd_update.after.cwnd * self.segments[known].1.bits_f64();
            self.detector.on_rate(member, window / srtt.secs_f64());
        }
    }

    fn move_flows(&mut self, now: SendTime) {
        while let Some((member, group)) = self.detector.poll() {
            self.coupler.set_group(now, member, group);
        }
    }
}

impl<C: Grouped> Coupler for Detected<C> {
    /// Passes a message on. A flow that pauses keeps its group, a flow that leaves does not.
    fn on_message(
        &mut self,
        now: SendTime,
        member: FlowId,
        message: &CouplingMessage,
    ) -> Result<(), Refusal> {
        match message {
            CouplingMessage::Statistics(statistics) => {
                let known = self.detector.group(member).is_some();
                self.detector.on_statistics(member, statistics);
                self.move_flows(now);
                if known { Ok(()) } else { Err(Refusal::UnknownFlow(member)) }
            }
            CouplingMessage::Join(join) => {
                self.coupler.on_message(now, member, message)?;
                if let Some(windowed) = &join.window {
                    self.remember_segment(member, windowed.segment);
                }
                let group = self.detector.join(member, self.bundle(member));
                self.coupler.set_group(now, member, group);
                Ok(())
            }
            CouplingMessage::Update(update) => {
                self.detector.on_rate(member, update.decision.rate.bps_f64());
                self.coupler.on_message(now, member, message)
            }
            CouplingMessage::Withdraw | CouplingMessage::Leave => {
                self.detector.leave(member);
                self.segments.retain(|&(of, _)| of != member);
                self.coupler.on_message(now, member, message)
            }
            CouplingMessage::Window(cwnd_update) => {
                self.on_window(member, cwnd_update);
                self.coupler.on_message(now, member, message)
            }
            CouplingMessage::FlowParameters(_) | CouplingMessage::Pause => {
                self.coupler.on_message(now, member, message)
            }
        }
    }

    fn poll_action(&mut self) -> Option<(FlowId, CouplerAction)> {
        self.coupler.poll_action()
    }

    fn next_timeout(&self) -> Option<SendTime> {
        self.coupler.next_timeout()
    }

    fn on_timeout(&mut self, now: SendTime) {
        self.coupler.on_timeout(now);
    }

    fn aggregate(&self, member: FlowId) -> Option<Aggregate> {
        self.coupler.aggregate(member)
    }
}
