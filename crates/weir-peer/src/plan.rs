//! Checks of a plan before a session.

use weir_world::Traffic;

use crate::hosts::{PlannedFlow, SendPlan};
use crate::message::{PEER_MTU, fits_hello};
use crate::offer::{MOST_FLOWS, OfferedFlow, SessionTerms};

/// A reason why a plan cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// There is no flow.
    #[error("there is no flow to send")]
    Empty,
    /// There are too many flows.
    #[error("there are {0} flows, and at most {MOST_FLOWS} can be sent")]
    TooMany(usize),
    /// The traffic of a flow has no form here.
    #[error("flow {0}: TCP and web traffic have no form here; `weir testbed` sends the kernel's TCP")]
    Traffic(String),
    /// The packets of a flow are too long.
    #[error("flow {0}: its packets have {1} bytes, and at most {PEER_MTU} are sent")]
    PacketSize(String, u64),
    /// The options of the controllers are too long.
    #[error("the options of the controllers do not fit into a packet; name fewer of them, or fewer flows")]
    Options,
}

impl SendPlan {
    /// Checks that an end can send the flows.
    ///
    /// # Errors
    /// The first reason why not.
    pub fn check(&self) -> Result<(), PlanError> {
        if self.flows.is_empty() {
            return Err(PlanError::Empty);
        }
        if self.flows.len() > MOST_FLOWS {
            return Err(PlanError::TooMany(self.flows.len()));
        }
        for PlannedFlow { spec, offered } in &self.flows {
            let size = match &spec.traffic {
                Traffic::Media(media)
                    if media.sender.is_some() && matches!(offered, OfferedFlow::Media(_)) =>
                {
                    continue;
                }
                Traffic::Constant { packet_size, .. } => packet_size,
                Traffic::Unresponsive(traffic) => &traffic.packet_size,
                _ => return Err(PlanError::Traffic(spec.name.clone())),
            };
            if size.bytes() > PEER_MTU as u64 {
                return Err(PlanError::PacketSize(spec.name.clone(), size.bytes()));
            }
        }
        let flows = self.flows.iter().map(|flow| flow.offered.clone()).collect();
        if fits_hello(&SessionTerms { flows, ..SessionTerms::default() }) {
            Ok(())
        } else {
            Err(PlanError::Options)
        }
    }
}
