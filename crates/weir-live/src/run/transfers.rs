//! The threads of the kernel's transfers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use weir_net::Time;
use weir_units::DataSize;
use weir_world::host::Life;

use super::places::Places;
use super::{LiveError, Thread, join, spawn, system};
use crate::clock::RunClock;
use crate::hosts::tcp::{self, Transfer};
use crate::report::{TcpInfo, TcpTrace};

/// The threads of the kernel's transfers.
pub(super) struct Transfers {
    stop_senders: Arc<AtomicBool>,
    stop_sinks: Arc<AtomicBool>,
    #[expect(clippy::type_complexity, reason = "what the two threads of a transfer return")]
    threads: Vec<(usize, Thread<Vec<(Time, TcpInfo)>>, Thread<(u64, Option<Time>)>)>,
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
            let sender = spawn("weir-tcp-source", move || tcp::send(&transfer, socket, clock, &stop))?;
            all.threads.push((life.flow, sender, sink));
        }
        Ok(all)
    }

    pub(super) fn stop(mut self) -> Result<Vec<TcpTrace>, LiveError> {
        self.stop_senders.store(true, Ordering::Relaxed);
        let mut traces = Vec::new();
        for (flow, sender, sink) in self.threads.drain(..) {
            let states = join(sender)?;
            self.stop_sinks.store(true, Ordering::Relaxed);
            let (received, completed) = join(sink)?;
            traces.push(TcpTrace { flow, states, received, completed });
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
