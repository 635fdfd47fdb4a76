//! The bottleneck: a rate that may change, or the delivery opportunities of a recorded cellular link.

use std::collections::VecDeque;
use std::rc::Rc;

use weir_cc::{DataRate, DataSize, SendTime, TimeDelta};

/// Largest number of bytes that a delivery opportunity carries.
const OPPORTUNITY: u64 = 1500;

/// A cellular link with a queue that counts bytes.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// Its delivery opportunities, from the beginning of the recording, which repeats.
    pub(crate) opportunities: Rc<[TimeDelta]>,
    pub(crate) period: TimeDelta,
    /// Where in the recording the call begins.
    pub(crate) offset: TimeDelta,
    pub(crate) queue: DataSize,
}

/// A link with a queue, in closed form.
#[derive(Debug)]
pub(crate) enum Link {
    Rate {
        capacity: DataRate,
        free: SendTime,
        /// Length of the queue, at the present capacity.
        queue: TimeDelta,
    },
    Cell {
        cell: Cell,
        /// The opportunity that is used next, counted from the beginning of the recording, and the bytes left of
        /// the one before.
        next: u64,
        left: u64,
        /// When packets leave, and their bytes.
        waiting: VecDeque<(SendTime, u64)>,
        queued: u64,
    },
}

impl Link {
    pub(crate) fn of_rate(capacity: DataRate, queue: TimeDelta) -> Self {
        Self::Rate { capacity, free: SendTime::ZERO, queue }
    }

    pub(crate) fn of_cell(cell: Cell) -> Self {
        Self::Cell { cell, next: 0, left: 0, waiting: VecDeque::new(), queued: 0 }
    }

    /// How long a packet that arrives now would wait.
    pub(crate) fn wait(&self, now: SendTime) -> TimeDelta {
        let free = match self {
            Self::Rate { free, .. } => *free,
            Self::Cell { waiting, .. } => waiting.back().map_or(SendTime::ZERO, |&(out, _)| out),
        };
        (free - now).max(TimeDelta::ZERO)
    }

    /// When a packet that arrives now has been sent, or `None` if the queue is full.
    pub(crate) fn take(&mut self, now: SendTime, size: DataSize) -> Option<SendTime> {
        let wait = self.wait(now);
        match self {
            Self::Rate { capacity, free, queue } => (wait <= *queue).then(|| {
                *free = now + wait + size / *capacity;
                *free
            }),
            Self::Cell { cell, next, left, waiting, queued } => {
                while let Some(&(out, bytes)) = waiting.front()
                    && out <= now
                {
                    waiting.pop_front();
                    *queued -= bytes;
                }
                let bytes = size.bytes();
                if *queued + bytes > cell.queue.bytes() {
                    return None;
                }
                let out = cell.deliver(now, bytes, next, left);
                waiting.push_back((out, bytes));
                *queued += bytes;
                Some(out)
            }
        }
    }
}

impl Cell {
    /// When `bytes` that arrive at `now` have been delivered: by the bytes `left` of the opportunity before
    /// `next`, and those from there on.
    fn deliver(&self, now: SendTime, mut bytes: u64, next: &mut u64, left: &mut u64) -> SendTime {
        loop {
            let gone = *next > 0 && self.at(*next - 1) < now;
            if *left == 0 || gone {
                // Opportunities without waiting packets are lost.
                while self.at(*next) < now {
                    *next += 1;
                }
                (*next, *left) = (*next + 1, OPPORTUNITY);
            }
            let used = bytes.min(*left);
            bytes -= used;
            *left -= used;
            if bytes == 0 {
                return self.at(*next - 1);
            }
        }
    }

    /// When the opportunity of this number comes.
    fn at(&self, number: u64) -> SendTime {
        let len = self.opportunities.len() as u64;
        let (cycle, place) = ((number / len) as i64, (number % len) as usize);
        SendTime::ZERO + self.period * cycle + self.opportunities[place] - self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_delivers_at_its_opportunities_and_holds_so_many_bytes() {
        let ms = TimeDelta::from_millis;
        let opportunities = [ms(10), ms(10), ms(30)].into();
        let queue = DataSize::from_bytes(3000);
        let mut link = Link::of_cell(Cell { opportunities, period: ms(30), offset: ms(0), queue });
        let at = SendTime::from_millis;
        let size = DataSize::from_bytes(1000);
        let out: Vec<_> = (0..4).map(|_| link.take(at(5), size)).collect();
        // 500 bytes of the second are in the first of 10 ms, and 500 in the second.
        assert_eq!(out, [Some(at(10)), Some(at(10)), Some(at(10)), None]);
        assert_eq!(link.take(at(12), DataSize::from_bytes(1600)), Some(at(40)));
    }
}
