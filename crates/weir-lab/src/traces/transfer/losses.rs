//! What was lost, by gaps in sequence numbers.

use std::collections::BTreeMap;

/// Most gaps of TCP that are open at a time; more are taken for losses at once.
const MOST_GAPS: usize = 100_000;
/// A gap of TCP that fills within so many ns was a change of order.
const ORDER: i64 = 3_000_000;

/// What was lost of a stream.
#[derive(Clone, Debug)]
pub(super) enum Losses {
    Rtp(RtpLosses),
    Tcp(TcpLosses),
}

impl Losses {
    /// Share of what was sent.
    pub(super) fn share(&self) -> Option<f64> {
        match self {
            Self::Rtp(rtp) => rtp.share(),
            Self::Tcp(tcp) => tcp.share(),
        }
    }
}

/// Numbers of RTP packets that did not come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RtpLosses {
    last: Option<i64>,
    least: i64,
    most: i64,
    came: i64,
}

impl RtpLosses {
    pub(super) fn see(&mut self, sequence: u16) {
        let number = match self.last {
            None => {
                (self.least, self.most) = (i64::from(sequence), i64::from(sequence));
                i64::from(sequence)
            }
            Some(last) => last + i64::from(sequence.wrapping_sub(last as u16) as i16),
        };
        self.last = Some(number);
        (self.least, self.most) = (self.least.min(number), self.most.max(number));
        self.came += 1;
    }

    fn share(&self) -> Option<f64> {
        let sent = self.most - self.least + 1;
        self.last.map(|_| ((sent - self.came) as f64 / sent as f64).max(0.0))
    }
}

/// Bytes of TCP that came only after later ones, or, seen before they were lost, came twice.
#[derive(Clone, Debug, Default)]
pub(super) struct TcpLosses {
    first: Option<i64>,
    next: i64,
    /// Bytes that are missing: their end, and since when.
    gaps: BTreeMap<i64, (i64, i64)>,
    lost: i64,
    twice: i64,
}

impl TcpLosses {
    pub(super) fn see(&mut self, nanos: i64, sequence: u32, data: u32) {
        if data == 0 {
            return;
        }
        let from = match self.first {
            None => {
                (self.first, self.next) = (Some(i64::from(sequence)), i64::from(sequence));
                i64::from(sequence)
            }
            Some(_) => self.next + i64::from(sequence.wrapping_sub(self.next as u32) as i32),
        };
        let to = from + i64::from(data);
        if from > self.next {
            self.gaps.insert(self.next, (from, nanos));
            if self.gaps.len() > MOST_GAPS
                && let Some((begin, (end, _))) = self.gaps.pop_first()
            {
                self.lost += end - begin;
            }
        }
        let old = to.min(self.next) - from;
        self.next = self.next.max(to);
        if old <= 0 {
            return;
        }
        let mut filled = 0;
        while let Some((&begin, &(end, since))) =
            self.gaps.range(..from + old).next_back().filter(|(_, (end, _))| *end > from)
        {
            self.gaps.remove(&begin);
            let (low, high) = (begin.max(from), end.min(from + old));
            filled += high - low;
            self.lost += if nanos - since > ORDER { high - low } else { 0 };
            if end > high {
                self.gaps.insert(high, (end, since));
            }
            if begin < low {
                self.gaps.insert(begin, (low, since));
            }
        }
        self.twice += old - filled;
    }

    fn share(&self) -> Option<f64> {
        let missing: i64 = self.gaps.iter().map(|(begin, (end, _))| end - begin).sum();
        let lost = self.lost + missing;
        let bytes = self.next - self.first?;
        let lost = if lost > 0 { lost } else { self.twice };
        (bytes > 0).then(|| lost as f64 / (bytes + lost) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_missing_are_lost_also_around_their_end() {
        let mut rtp = RtpLosses::default();
        (0..200_u16).filter(|n| n % 10 != 3).for_each(|n| rtp.see(n.wrapping_add(65_500)));
        assert_eq!(rtp.share(), Some(0.1));
    }

    #[test]
    fn gaps_that_fill_late_are_losses_and_those_that_fill_at_once_are_not() {
        let share = |late: i64, number: u32| {
            let mut tcp = TcpLosses::default();
            let first = u32::MAX - 3000;
            let at = |n: u32| first.wrapping_add(1000 * n);
            (0..9).filter(|n| *n != number).for_each(|n| tcp.see(0, at(n), 1000));
            tcp.see(late, at(number), 1000);
            tcp.share()
        };
        assert_eq!((share(50_000_000, 4), share(1_000_000, 4)), (Some(0.1), Some(0.0)));
        let mut before = TcpLosses::default();
        for from in [0, 1000, 2000, 1000] {
            before.see(0, from, 1000);
        }
        assert_eq!(before.share(), Some(0.25), "seen before it was lost");
        let mut open = TcpLosses::default();
        for from in [0, 2000] {
            open.see(0, from, 1000);
        }
        assert_eq!(open.share(), Some(0.25));
    }
}
