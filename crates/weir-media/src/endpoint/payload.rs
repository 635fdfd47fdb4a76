//! Payloads of an embedder's packets.

use std::rc::Rc;
use std::sync::Arc;

/// Payload of an RTP packet. The endpoint keeps it until the packet has left and, for retransmissions, for a second
/// more, so a clone should be cheap.
pub trait Payload: Clone {
    /// Length in bytes.
    fn size(&self) -> usize;

    /// The bytes, which the endpoint writes behind the header. Empty where the embedder writes them itself.
    fn bytes(&self) -> &[u8];
}

impl Payload for Vec<u8> {
    fn size(&self) -> usize {
        self.len()
    }

    fn bytes(&self) -> &[u8] {
        self
    }
}

impl Payload for Rc<[u8]> {
    fn size(&self) -> usize {
        self.len()
    }

    fn bytes(&self) -> &[u8] {
        self
    }
}

impl Payload for Arc<[u8]> {
    fn size(&self) -> usize {
        self.len()
    }

    fn bytes(&self) -> &[u8] {
        self
    }
}

/// Payload that the embedder keeps, known by its place. The embedder writes it behind the header
/// ([`Departure::header`](crate::Departure::header)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PayloadHandle {
    /// Place of the payload in the embedder's memory.
    pub place: u64,
    /// Length in bytes.
    pub size: u16,
}

impl Payload for PayloadHandle {
    fn size(&self) -> usize {
        usize::from(self.size)
    }

    fn bytes(&self) -> &[u8] {
        &[]
    }
}
