//! An [`Observer`] mounted at the receiver of a flow.

use crate::controller::{Observer, Receiver, Signal};
use crate::packet::Arrival;
use crate::parts::number_gate::NumberGate;
use crate::report::{Echo, Report};
use crate::time::ArrivalTime;

/// An [`Observer`] mounted at the receiver, which is a controller's receiver half. Sequence numbers are validated as
/// in RFC 3550 §A.1: a number far from the others counts only if the next one continues from it.
#[derive(Debug)]
pub struct AtReceiver<O> {
    observer: O,
    numbers: NumberGate,
    /// Arrival time of the newest packet.
    newest_at: Option<ArrivalTime>,
}

impl<O: Observer> AtReceiver<O> {
    /// Mounts `observer` at the receiver.
    pub fn new(observer: O) -> Self {
        Self { observer, numbers: NumberGate::default(), newest_at: None }
    }
}

impl<O: Observer> Receiver for AtReceiver<O> {
    fn on_arrival(&mut self, packet: &Arrival) {
        let before = self.numbers.newest();
        let admitted = self.numbers.admit(packet);
        if self.numbers.newest() != before {
            self.newest_at = Some(packet.at);
        }
        for packet in admitted.iter().flatten() {
            self.observer.on_arrival(packet);
        }
    }

    fn next_timeout(&self) -> Option<ArrivalTime> {
        self.observer.next_report()
    }

    fn poll_report(&mut self, now: ArrivalTime) -> Option<Report<'_>> {
        let report = self.observer.report(now)?;
        let (sequence, arrived) = (self.numbers.newest()? as u16, self.newest_at?);
        Some(Report::Native { report, echo: Echo { sequence, held: now - arrived } })
    }

    fn on_route_changed(&mut self) {
        self.observer.on_route_changed();
    }

    fn signals(&self) -> &'static [Signal] {
        self.observer.signals()
    }

    fn read_signals(&self, out: &mut [f64]) {
        self.observer.read_signals(out);
    }
}

#[cfg(test)]
mod tests {
    use weir_units::DataSize;

    use super::*;
    use crate::nada::{Config, NadaObserver};
    use crate::time::SendTime;

    /// Number echoed by NADA's receiver after packets 0 to 99, one of number `far` and `more` further ones, 10 ms apart.
    fn echoed(far: u64, more: u64) -> Option<u16> {
        const FIRST: u64 = 1 << 32;
        let mut receiver = AtReceiver::new(NadaObserver::new(Config::default()).unwrap());
        let mut at = ArrivalTime::ZERO;
        let mut echo = None;
        for id in (0..100).chain([far]).chain(100..100 + more) {
            at += weir_units::TimeDelta::from_millis(10);
            receiver.on_arrival(&Arrival::new(FIRST + id, SendTime::ZERO, at, DataSize::from_bytes(1000)));
            if let Some(Report::Native { echo: Echo { sequence, .. }, .. }) = receiver.poll_report(at) {
                echo = Some(sequence);
            }
        }
        echo
    }

    #[test]
    fn one_packet_with_a_number_far_ahead_does_not_hold_the_echo() {
        for ahead in [200, 2000, 4000, 20_000, 32_000] {
            let echo = echoed(100 + ahead, 50);
            assert!(echo.is_some_and(|echo| (100..150).contains(&echo)), "{ahead}: {echo:?}");
        }
    }
}
