//! When a number is left out, so that who tells of packets that he has not seen is found out.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use weir_cc::{Controller, ReportKind};

use crate::config::{MediaConfig, PacketFormat};
use crate::detection::Place;

/// One number in so many, by chance.
#[derive(Debug)]
pub(crate) struct LeavingOut {
    /// In so many on average.
    mean: u32,
    /// So many packets leave before the next.
    left: u32,
    rng: Pcg64Mcg,
}

impl LeavingOut {
    /// `None` where numbers are not left out, or a receiver would take a gap for a loss ([`MediaConfig::leave_out`]).
    pub(crate) fn new(config: &MediaConfig, controller: &dyn Controller, seed: u64) -> Option<Self> {
        use ReportKind::{Dccc, Nada, NadaDelay, Own, Packets, Tfrc};
        let at_receiver = [Nada, Dccc, Tfrc, NadaDelay, Own].into_iter().any(|kind| controller.hears(kind));
        let counted = config.detection.is_some_and(|detection| detection.at(Place::Receiver).is_some());
        let told = controller.hears(Packets) && config.packet_format == PacketFormat::TransportWide;
        let mean = config.leave_out.filter(|_| told && !at_receiver && !counted)?.max(2);
        let mut leaving_out = Self { mean, left: 0, rng: Pcg64Mcg::seed_from_u64(seed ^ SALT) };
        leaving_out.draw();
        Some(leaving_out)
    }

    /// A packet is about to leave: whether the next number stays without one.
    pub(crate) fn next(&mut self) -> bool {
        self.left -= 1;
        let now = self.left == 0;
        if now {
            self.draw();
        }
        now
    }

    fn draw(&mut self) {
        self.left = self.rng.random_range(1..self.mean.saturating_mul(2));
    }
}

/// The seed is that of other chances too.
const SALT: u64 = 0x6c65_6176_696e_6721;
