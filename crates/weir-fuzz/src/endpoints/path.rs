//! The packets in flight between the ends, by true time in nanoseconds.

use std::collections::VecDeque;

use weir_media::MediaPacket;

use crate::input::Input;

/// Capacity in packets; more are dropped.
const MOST: usize = 5000;

#[derive(Debug)]
pub(super) struct Path {
    /// The one-way delay.
    delay: i64,
    /// Counts of the next media packets and of the next reports to be lost.
    lost: [u32; 2],
    /// Whether departing packets are held back.
    held: bool,
    /// Packets with the index of their flow.
    there: VecDeque<(i64, (usize, MediaPacket))>,
    back: VecDeque<(i64, Vec<u8>)>,
    /// Sender reports.
    reports: VecDeque<(i64, Vec<u8>)>,
}

impl Default for Path {
    fn default() -> Self {
        let (there, back, reports) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        Self { delay: 25_000_000, lost: [0; 2], held: false, there, back, reports }
    }
}

impl Path {
    pub(super) fn send(&mut self, now: i64, flow: usize, packet: MediaPacket) {
        if !self.loses(0) && self.there.len() < MOST {
            self.there.push_back((now + self.delay, (flow, packet)));
        }
    }

    pub(super) fn report(&mut self, now: i64, bytes: &[u8]) {
        if !self.loses(1) && self.back.len() < MOST {
            self.back.push_back((now + self.delay, bytes.to_vec()));
        }
    }

    pub(super) fn report_of_sender(&mut self, now: i64, bytes: &[u8]) {
        if self.reports.len() < MOST {
            self.reports.push_back((now + self.delay, bytes.to_vec()));
        }
    }

    fn loses(&mut self, way: usize) -> bool {
        let lost = self.lost[way] > 0;
        self.lost[way] = self.lost[way].saturating_sub(1);
        lost
    }

    /// A packet that has arrived.
    pub(super) fn packet(&mut self, now: i64) -> Option<(usize, MediaPacket)> {
        Self::due(&mut self.there, now, self.held)
    }

    /// A report that has arrived.
    pub(super) fn answer(&mut self, now: i64) -> Option<Vec<u8>> {
        Self::due(&mut self.back, now, self.held)
    }

    /// A sender report that has arrived.
    pub(super) fn sender_report(&mut self, now: i64) -> Option<Vec<u8>> {
        Self::due(&mut self.reports, now, self.held)
    }

    fn due<T>(way: &mut VecDeque<(i64, T)>, now: i64, held: bool) -> Option<T> {
        let comes = !held && way.front().is_some_and(|(at, _)| *at <= now);
        comes.then(|| way.pop_front()).flatten().map(|(_, what)| what)
    }

    /// The time of the next arrival.
    pub(super) fn next(&self) -> Option<i64> {
        let at = |at: Option<&i64>| at.copied().filter(|_| !self.held);
        let (there, back) = (self.there.front().map(|(at, _)| at), self.back.front().map(|(at, _)| at));
        [at(there), at(back), at(self.reports.front().map(|(at, _)| at))].into_iter().flatten().min()
    }

    /// An impairment: losses, another delay, an outage or its end, reordering, a copy, changed bits.
    pub(super) fn befall(&mut self, input: &mut Input<'_>) {
        match input.below(7) {
            0 => self.lost[0] = input.below(300) as u32,
            1 => self.lost[1] = input.below(60) as u32,
            2 => self.delay = input.below(2_000_000_000) as i64,
            3 => self.held = !self.held,
            4 if self.there.len() > 1 => {
                let (one, other) =
                    (input.below(self.there.len() as u64), input.below(self.there.len() as u64));
                self.there.swap(one as usize, other as usize);
            }
            5 => self.there.extend(self.there.front().copied()),
            _ => self.garble(input),
        }
    }

    /// Bits of the oldest report change, or its end is missing.
    fn garble(&mut self, input: &mut Input<'_>) {
        let Some((_, bytes)) = self.back.front_mut() else { return };
        for _ in 0..=input.below(4) {
            let place = input.u16() as usize % bytes.len().max(1);
            if let Some(byte) = bytes.get_mut(place) {
                *byte ^= input.byte();
            }
        }
        if input.seldom(4) {
            bytes.truncate(input.u16() as usize);
        }
    }
}
