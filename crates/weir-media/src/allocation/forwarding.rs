//! Choice of the layers that a forwarder (an SFU) sends to one subscriber.
//!
//! Tracks go by priority, equal ones in turn. The lowest layer of each track comes before the higher layers of any.
//! Higher layers go to the track of the highest priority first; among equal ones, the next step of the lowest comes
//! first.
//!
//! Tracks go down at once, as far as the rate demands. If the rate is enough for all present layers, one track goes up
//! by one step in a call, so that the controller sees the effect. For this step, tracks of lower priority may go down.
//! The interval of the calls is the pace of the steps.

use std::cmp::Reverse;

use weir_units::DataRate;

use super::margin::SwitchMargin;
use super::track::{ForwardedTrack, LayerChoice, LayerCoding, TrackSteps};

/// The layer of a track that a subscriber gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TrackSelection {
    /// Place of the track in the list.
    pub track: usize,
    /// The highest layer to forward; `None` to pause the track. The caller keeps it in [`ForwardedTrack::present`].
    pub layer: Option<LayerChoice>,
    /// Rate of the track with this layer.
    pub rate: DataRate,
    /// Whether the subscriber needs a key frame: the track resumes, goes up to another spatial layer, or goes down to
    /// another stream of simulcast.
    pub needs_key_frame: bool,
    steps: TrackSteps,
    /// Place of `layer`.
    place: Option<usize>,
}

impl TrackSelection {
    fn paused(track: usize, steps: TrackSteps) -> Self {
        Self { track, layer: None, rate: DataRate::ZERO, needs_key_frame: false, steps, place: None }
    }

    /// Number of steps taken so far.
    fn level(&self) -> u32 {
        self.place.map_or(0, |place| self.steps.below(place) + 1)
    }

    /// Whether the track has all that it had.
    fn is_whole(&self) -> bool {
        self.place == self.steps.kept
    }
}

/// The next step up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NextStep {
    /// Place of the track in the list.
    pub track: usize,
    /// The layer that it would get.
    pub layer: LayerChoice,
    /// Rate that the step adds to the track.
    pub added: DataRate,
    /// Lowest rate for all tracks at which a step is taken, with its margin. If the present rate is not below it, the
    /// next call takes a step.
    pub at: DataRate,
}

/// Rule by which a forwarder chooses layers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct LayerForwarding {
    /// Margin above the rate of a track with its new layer at which it goes up.
    pub margin: SwitchMargin,
}

impl LayerForwarding {
    /// Chooses the layers of `tracks` that one subscriber gets at `rate`; `out` has one selection for each track, in
    /// the order of the list. Returns the next step up; `None` if all tracks have their highest layers. The rates of
    /// the selections are at most `rate` together. Equal arguments have equal results.
    pub fn select(
        &self,
        rate: DataRate,
        tracks: &[ForwardedTrack],
        out: &mut Vec<TrackSelection>,
    ) -> Option<NextStep> {
        out.clear();
        let selections = tracks.iter().enumerate();
        out.extend(selections.map(|(at, track)| TrackSelection::paused(at, TrackSteps::of(track))));
        out.sort_unstable_by_key(|selection| (Reverse(tracks[selection.track].priority), selection.track));
        let mut kept = out.iter().filter_map(|selection| {
            let (_, rate) = TrackSteps::choice(&tracks[selection.track], selection.steps.kept?);
            Some(rate.bps())
        });
        let fits = kept.try_fold(0_u64, u64::checked_add).is_some_and(|sum| sum <= rate.bps());
        if !fits {
            for selection in &mut *out {
                selection.steps.leave_crossed(&tracks[selection.track]);
            }
        }
        Filling { rule: *self, tracks, rate, left: rate, may_climb: fits, next: None }.fill(out);
        for selection in &mut *out {
            let track = &tracks[selection.track];
            selection.needs_key_frame = match (track.present, selection.layer) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(before), Some(after)) => {
                    after.spatial > before.spatial
                        || track.coding == LayerCoding::Simulcast && after.spatial < before.spatial
                }
            };
        }
        let next = self.next_step(rate, tracks, out);
        out.sort_unstable_by_key(|selection| selection.track);
        next
    }

    /// The next step up from `selections`, which come in order of priority.
    fn next_step(
        &self,
        rate: DataRate,
        tracks: &[ForwardedTrack],
        selections: &mut [TrackSelection],
    ) -> Option<NextStep> {
        let mut filling = Filling { rule: *self, tracks, rate, left: rate, may_climb: false, next: None };
        for selection in &mut *selections {
            let TrackSelection { track, needs_key_frame, place, .. } = *selection;
            let steps = TrackSteps::keeping(&tracks[track], place);
            *selection = TrackSelection { needs_key_frame, ..TrackSelection::paused(track, steps) };
        }
        filling.fill(selections);
        filling.next
    }
}

/// Distribution of a rate over tracks, step by step.
struct Filling<'a> {
    rule: LayerForwarding,
    tracks: &'a [ForwardedTrack],
    rate: DataRate,
    /// The part of `rate` that no track has.
    left: DataRate,
    /// Whether a track may still go up.
    may_climb: bool,
    /// The step up that needs the lowest rate, of those not taken.
    next: Option<NextStep>,
}

impl Filling<'_> {
    /// Fills tracks that come in order of priority, from nothing.
    fn fill(&mut self, selections: &mut [TrackSelection]) {
        let tracks = self.tracks;
        let is_equal =
            |a: &TrackSelection, b: &TrackSelection| tracks[a.track].priority == tracks[b.track].priority;
        for equal in selections.chunk_by_mut(is_equal) {
            self.fill_level(0, equal);
        }
        for equal in selections.chunk_by_mut(is_equal) {
            let mut level = 1;
            while equal.iter().any(|selection| selection.level() == level) {
                self.fill_level(level, equal);
                level += 1;
            }
        }
    }

    /// Gives a step to tracks that have taken `level` steps: first back to those that had it, then to one more.
    fn fill_level(&mut self, level: u32, equal: &mut [TrackSelection]) {
        for climbing in [false, true] {
            for selection in &mut *equal {
                if selection.level() == level && selection.is_whole() == climbing {
                    self.step(selection, climbing);
                }
            }
        }
    }

    fn step(&mut self, selection: &mut TrackSelection, climbing: bool) {
        let track = &self.tracks[selection.track];
        let Some(place) = selection.steps.after(selection.place) else { return };
        let (layer, rate) = TrackSteps::choice(track, place);
        let available = self.left + selection.rate;
        let needed = if climbing { self.rule.margin.above(rate) } else { rate };
        if needed <= available && (self.may_climb || !climbing) {
            self.left = available.saturating_sub(rate);
            if climbing {
                self.may_climb = false;
                selection.steps.kept = Some(place);
            }
            (selection.layer, selection.rate, selection.place) = (Some(layer), rate, Some(place));
        } else if climbing {
            let at = self.rate.saturating_sub(available) + needed;
            if self.next.is_none_or(|next| at < next.at) {
                let added = rate.saturating_sub(selection.rate);
                self.next = Some(NextStep { track: selection.track, layer, added, at });
            }
        }
    }
}

#[cfg(test)]
mod tests;
