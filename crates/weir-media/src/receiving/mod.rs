//! The receiving end of applications with packets and sockets of their own.

mod core;
mod departures;
mod packet;
mod stream;

pub use packet::{ArrivedPacket, PacketDeparture};

pub(crate) use self::core::{CoreParts, PacketAdmission, ReceivingCore};
pub(crate) use stream::ReceivedStream;
