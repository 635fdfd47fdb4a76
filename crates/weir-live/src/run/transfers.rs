//! The threads of the kernel's transfers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::places::Places;
use super::{LiveError, Thread, join, spawn, system};
use crate::clock::RunClock;
use crate::hosts::tcp::{self, KernelFlow, KernelTraffic, SentTransfer};
use crate::hosts::tcp_sink::{self, ReceivedTransfer};
use crate::report::TcpTrace;

/// A flow of the kernel with the threads of its ends.
struct RunningFlow {
    flow: usize,
    /// Whether it has one connection.
    single: bool,
    sender: Thread<Vec<SentTransfer>>,
    sink: Thread<Vec<ReceivedTransfer>>,
}

/// The threads of the kernel's transfers.
pub(super) struct Transfers {
    stop_senders: Arc<AtomicBool>,
    stop_sinks: Arc<AtomicBool>,
    flows: Vec<RunningFlow>,
}

impl Transfers {
    pub(super) fn start(flows: Vec<KernelFlow>, places: &Places, clock: RunClock) -> Result<Self, LiveError> {
        let (stop_senders, stop_sinks) = (Arc::default(), Arc::default());
        let mut all = Self { stop_senders, stop_sinks, flows: Vec::new() };
        let Places::Tun { hosts, of_end, ends, .. } = places else { return Ok(all) };
        for mut own in flows {
            let flow = own.life.flow;
            let single = matches!(own.traffic, KernelTraffic::Transfer(_));
            let [near, far] = of_end[flow];
            let to = ends[flow][1];
            let listener = hosts[far].enter(|| tcp::listen_at(to)).map_err(system("no listener for TCP"))?;
            let socket = hosts[near].enter(|| tcp::sending_socket(own.algorithm, to));
            let socket = socket.map_err(system("no socket for TCP"))?;
            let stop = Arc::clone(&all.stop_sinks);
            let sink = spawn("weir-tcp-sink", move || tcp_sink::receive(&listener, clock, &stop))?;
            let (stop, host) = (Arc::clone(&all.stop_senders), Arc::clone(&hosts[near]));
            let sender = spawn("weir-tcp-source", move || {
                host.enter_thread()?;
                tcp::send(&mut own, to, socket, clock, &stop)
            })?;
            all.flows.push(RunningFlow { flow, single, sender, sink });
        }
        Ok(all)
    }

    /// Stops the senders, then the sinks. The result is each connection, by flow and in order.
    pub(super) fn stop(mut self) -> Result<Vec<TcpTrace>, LiveError> {
        self.stop_senders.store(true, Ordering::Relaxed);
        let stopped = |RunningFlow { flow, single, sender, sink }| ((flow, single), join(sender), sink);
        let ended: Vec<_> = self.flows.drain(..).map(stopped).collect();
        self.stop_sinks.store(true, Ordering::Relaxed);
        let mut all = Vec::new();
        for (of, sent, sink) in ended {
            let received = join(sink)?;
            all.extend(traces(of, sent?, received));
        }
        Ok(all)
    }
}

/// The connections of a flow, both ends together.
fn traces(
    (flow, single): (usize, bool),
    sent: Vec<SentTransfer>,
    mut received: Vec<ReceivedTransfer>,
) -> Vec<TcpTrace> {
    let trace = |(index, sent): (usize, SentTransfer)| {
        let SentTransfer { started, size, port, states, completed } = sent;
        // The kernel may use a port again: of several connections the first belongs to the first.
        let place = received.iter().position(|own| Some(own.port) == port);
        let own = place.map(|place| received.remove(place));
        let bytes = own.map_or(0, |own| own.bytes);
        let is_whole = size.is_some_and(|size| bytes >= size.bytes());
        let arrived = own.filter(|_| is_whole).map(|own| own.last);
        let connection = if single { 0 } else { index as u32 + 1 };
        TcpTrace { flow, connection, started, size, states, received: bytes, arrived, completed }
    };
    sent.into_iter().enumerate().map(trace).collect()
}

impl Drop for Transfers {
    fn drop(&mut self) {
        self.stop_senders.store(true, Ordering::Relaxed);
        self.stop_sinks.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use weir_net::Time;
    use weir_units::DataSize;

    use super::*;

    fn sent(port: Option<u16>, completed: Option<u64>) -> SentTransfer {
        let (started, size) = (Time::ZERO, Some(DataSize::from_bytes(100)));
        SentTransfer { started, size, port, states: Vec::new(), completed: completed.map(Time::from_millis) }
    }

    fn received(port: u16, bytes: u64, last: u64) -> ReceivedTransfer {
        ReceivedTransfer { port, bytes, last: Time::from_millis(last) }
    }

    #[test]
    fn both_ends_of_a_connection_are_known_by_its_port() {
        let near =
            vec![sent(Some(7), Some(30)), sent(Some(9), None), sent(Some(7), Some(90)), sent(None, None)];
        // The second connection was never accepted.
        let far = vec![received(7, 100, 10), received(7, 100, 70)];
        let all = traces((4, false), near, far);
        let arrived: Vec<_> =
            all.iter().map(|trace| (trace.connection, trace.received, trace.arrived)).collect();
        let at = |ms| Some(Time::from_millis(ms));
        assert_eq!(arrived, [(1, 100, at(10)), (2, 0, None), (3, 100, at(70)), (4, 0, None)]);
        assert!(all.iter().all(|trace| trace.flow == 4));
    }

    #[test]
    fn a_transfer_that_is_not_whole_has_not_arrived() {
        let all = traces((0, true), vec![sent(Some(7), None)], vec![received(7, 99, 10)]);
        assert_eq!((all[0].connection, all[0].received, all[0].arrived), (0, 99, None));
    }
}
