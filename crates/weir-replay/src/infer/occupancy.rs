//! The queue that each served packet met, in time and in bytes.

use super::line::PacketLine;
use super::packet::ServedPacket;

/// The queue that each served packet met, in the order of [`PacketLine::served`].
#[derive(Clone, Debug)]
pub(super) struct QueueOccupancy {
    /// Time in the queue and in service, in microseconds.
    pub(super) waits_us: Vec<f64>,
    /// Bytes of the call that were not served when the packet came, its own included.
    pub(super) backlogs: Vec<f64>,
}

impl QueueOccupancy {
    /// The queue of `line`, given the propagation delay as of [`PacketLine::propagation_us`].
    pub(super) fn of(line: &PacketLine, propagation_us: i64) -> Self {
        let wait = |packet: &ServedPacket| (packet.wait_us() - propagation_us) as f64;
        let waits_us = line.served.iter().map(wait).collect();
        Self { waits_us, backlogs: backlogs(line, propagation_us) }
    }

    /// Longest wait in microseconds.
    pub(super) fn longest_us(&self) -> f64 {
        largest(&self.waits_us)
    }

    /// Largest backlog in bytes.
    pub(super) fn most_bytes(&self) -> f64 {
        largest(&self.backlogs)
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// Bytes of the call at the bottleneck that were not served when each packet came, its own included.
fn backlogs(line: &PacketLine, propagation_us: i64) -> Vec<f64> {
    let mut first = 0;
    let mut bytes = 0.0;
    let end = |index: usize| (line.served[index].served_us - propagation_us) as f64;
    let backlog = |(index, packet): (usize, &ServedPacket)| {
        bytes += f64::from(packet.bytes);
        let now = packet.sent_us as f64;
        while first < index && end(first) <= now {
            bytes -= f64::from(line.served[first].bytes);
            first += 1;
        }
        if first == index {
            return bytes;
        }
        let begin = if first == 0 { line.served[0].sent_us as f64 } else { end(first - 1) };
        let begin = begin.max(line.served[first].sent_us as f64).min(now);
        let served = (now - begin) / (end(first) - begin).max(1.0);
        bytes - served * f64::from(line.served[first].bytes)
    };
    line.served.iter().enumerate().map(backlog).collect()
}
