//! Cloud gaming.

use super::checks::{GAMING, GAMING_BESIDE_TCP};
use super::{ShippedCase, case};

const fn game(name: &'static str, title: &'static str, scenario: &'static str) -> ShippedCase {
    ShippedCase { preset: Some("gaming"), ..case(name, title, scenario, &[], GAMING) }
}

const fn beside_tcp(name: &'static str, title: &'static str, scenario: &'static str) -> ShippedCase {
    ShippedCase { checks: GAMING_BESIDE_TCP, ..game(name, title, scenario) }
}

pub(super) const CASES: &[ShippedCase] = &[
    game("steady", "60 frames/s on 40 Mbit/s", "gaming/steady"),
    game("120 frames", "120 frames/s on 50 Mbit/s", "gaming/120-frames"),
    game("step", "50, 30, 50 Mbit/s", "gaming/step"),
    beside_tcp("beside cubic", "beside a CUBIC download", "gaming/beside-cubic"),
    beside_tcp("l4s", "over L4S, beside a CUBIC download", "gaming/l4s"),
    game("wifi", "over Wi-Fi", "gaming/wifi"),
    game("wifi upload", "over Wi-Fi, beside a CUBIC upload of another station", "gaming/wifi-upload"),
];
