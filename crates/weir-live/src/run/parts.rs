//! The hosts of a run, built from its description.

use weir_media::SenderSeeds;
use weir_world::Monitor;
use weir_world::host::{Clock, ConstantSource, Couplings, Life, MediaSink, MediaSource};
use weir_world::random::DownloadDraws;
use weir_world::{RunSpec, Side, Traffic, purpose, stream};

use super::places::Places;
use super::{LiveError, PACER_LATENESS, system};
use crate::hosts::LiveNetwork;
use crate::hosts::receivers::Receivers;
use crate::hosts::senders::{Sender, Senders};
use crate::hosts::tcp::{KernelFlow, KernelTraffic, kernel_name};
use crate::log::HostLog;

/// The hosts of a run, by the threads that serve them.
pub(super) struct Parts {
    pub(super) senders: Senders,
    pub(super) receivers: Receivers,
    /// Flows of the kernel's TCP.
    pub(super) transfers: Vec<KernelFlow>,
}

/// A flow of the kernel. An algorithm that kernels do not have was refused before.
fn kernel_flow(life: Life, algorithm: &str, traffic: KernelTraffic) -> Option<KernelFlow> {
    kernel_name(algorithm).map(|algorithm| KernelFlow { life, algorithm, traffic })
}

impl Parts {
    pub(super) fn build(
        spec: RunSpec,
        places: &mut Places,
        owners: &[usize],
        monitor: &impl Monitor,
    ) -> Result<Self, LiveError> {
        let RunSpec { seed, flows, couplings, .. } = spec;
        let count = flows.len();
        let log = || HostLog::new(monitor, 2 * count);
        let couplings = Couplings::new(couplings, &flows);
        let mut senders = Senders {
            hosts: Vec::new(),
            of_flow: vec![None; count],
            network: LiveNetwork::new(2 * count, couplings, log()),
        };
        let mut receivers = Receivers {
            hosts: Vec::new(),
            of_flow: vec![None; count],
            network: LiveNetwork::new(2 * count, Couplings::default(), log()),
        };
        let mut transfers = Vec::new();
        let socket = |places: &mut Places, flow, side| {
            places.socket(flow, side).map_err(system("no socket for a host"))
        };
        for (flow, spec) in flows.into_iter().enumerate() {
            let life = Life::of(flow, &spec);
            let random = |purpose| stream(seed, &spec.name, purpose);
            let constant = match spec.traffic {
                Traffic::Media(mut media) => {
                    media.config.pacer_lateness = PACER_LATENESS;
                    if let Some(controller) = media.sender {
                        let host = senders.of_flow[owners[flow]].unwrap_or_else(|| {
                            senders.hosts.push(Sender::Media(Box::new(MediaSource::new(Clock::new(
                                spec.sender_clock,
                            )))));
                            senders.hosts.len() - 1
                        });
                        senders.of_flow[flow] = Some(host);
                        let seeds = SenderSeeds {
                            encoder: random(purpose::ENCODER),
                            rtcp: random(purpose::SENDER_RTCP),
                        };
                        if let Sender::Media(source) = &mut senders.hosts[host] {
                            source.add(life, controller, &media.config, seeds, spec.pauses, spec.coupled);
                        }
                        senders.network.add(flow, Side::Sender, socket(places, flow, Side::Sender)?);
                    }
                    if let Some(receiver) = media.receiver {
                        let host = receivers.of_flow[owners[flow]].unwrap_or_else(|| {
                            receivers.hosts.push(MediaSink::new(Clock::new(spec.receiver_clock)));
                            receivers.hosts.len() - 1
                        });
                        receivers.of_flow[flow] = Some(host);
                        receivers.hosts[host].add(
                            life,
                            receiver,
                            &media.config,
                            random(purpose::RECEIVER_RTCP),
                        );
                        receivers.network.add(flow, Side::Receiver, socket(places, flow, Side::Receiver)?);
                    }
                    continue;
                }
                Traffic::Constant { rate, packet_size } => {
                    ConstantSource::steady(life, rate, packet_size, spec.pauses)
                }
                Traffic::Unresponsive(traffic) => ConstantSource::new(life, &traffic, spec.pauses),
                Traffic::Tcp { name, size, .. } => {
                    transfers.extend(kernel_flow(life, &name, KernelTraffic::Transfer(size)));
                    continue;
                }
                Traffic::Downloads { algorithms, downloads, .. } => {
                    let draws = DownloadDraws::new(seed, &spec.name, downloads);
                    transfers.extend(kernel_flow(life, algorithms.name(), KernelTraffic::Downloads(draws)));
                    continue;
                }
                // Refused before.
                Traffic::ChromiumTcp { .. } | Traffic::Web { .. } => continue,
            };
            senders.of_flow[flow] = Some(senders.hosts.len());
            senders.hosts.push(Sender::Constant(constant));
            senders.network.add(flow, Side::Sender, socket(places, flow, Side::Sender)?);
            receivers.network.add(flow, Side::Receiver, socket(places, flow, Side::Receiver)?);
        }
        Ok(Self { senders, receivers, transfers })
    }
}
