//! The threads of the kernel's transfers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use weir_net::Time;
use weir_units::DataSize;
use weir_world::host::Life;

use super::places::Places;
use super::{LiveError, Thread, join, spawn, system};
use crate::clock::RunClock;
use crate::hosts::tcp::{self, SentTransfer, Transfer};
use crate::report::TcpTrace;

/// The threads of the kernel's transfers.
pub(super) struct Transfers {
    stop_senders: Arc<AtomicBool>,
    stop_sinks: Arc<AtomicBool>,
    #[expect(clippy::type_complexity, reason = "what the two threads of a transfer return")]
    threads: Vec<(Transfer, Thread<SentTransfer>, Thread<(u64, Option<Time>)>)>,
}

impl Transfers {
    pub(super) fn start(
        transfers: Vec<(Life, &'static str, Option<DataSize>)>,
        places: &Places,
        clock: RunClock,
    ) -> Result<Self, LiveError> {
        let (stop_senders, stop_sinks) = (Arc::default(), Arc::default());
        let mut all = Self { stop_senders, stop_sinks, threads: Vec::new() };
        let Places::Tun { hosts, of_end, ends, .. } = places else { return Ok(all) };
        for (life, algorithm, size) in transfers {
            let [near, far] = of_end[life.flow];
            let to = ends[life.flow][1];
            let transfer = Transfer { life, algorithm, size, to };
            let listener = hosts[far].enter(|| tcp::listen_at(to)).map_err(system("no listener for TCP"))?;
            let socket = hosts[near].enter(|| tcp::sending_socket(transfer.algorithm, to));
            let socket = socket.map_err(system("no socket for TCP"))?;
            let stop = Arc::clone(&all.stop_sinks);
            let sink = spawn("weir-tcp-sink", move || tcp::receive(&listener, size, clock, &stop))?;
            let stop = Arc::clone(&all.stop_senders);
            let own = transfer.clone();
            let sender = spawn("weir-tcp-source", move || tcp::send(&own, socket, clock, &stop))?;
            all.threads.push((transfer, sender, sink));
        }
        Ok(all)
    }

    pub(super) fn stop(mut self) -> Result<Vec<TcpTrace>, LiveError> {
        self.stop_senders.store(true, Ordering::Relaxed);
        let mut traces = Vec::new();
        let ended: Vec<_> =
            self.threads.drain(..).map(|(transfer, sender, sink)| (transfer, join(sender), sink)).collect();
        self.stop_sinks.store(true, Ordering::Relaxed);
        for (Transfer { life, size, .. }, sent, sink) in ended {
            let (received, arrived) = join(sink)?;
            let SentTransfer { states, completed } = sent?;
            traces.push(TcpTrace {
                flow: life.flow,
                started: life.start,
                size,
                states,
                received,
                arrived,
                completed,
            });
        }
        Ok(traces)
    }
}

impl Drop for Transfers {
    fn drop(&mut self) {
        self.stop_senders.store(true, Ordering::Relaxed);
        self.stop_sinks.store(true, Ordering::Relaxed);
    }
}
