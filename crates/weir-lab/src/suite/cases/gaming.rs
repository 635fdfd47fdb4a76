//! Cloud gaming.

use super::checks::GAMING;
use super::{Case, case};

/// For 30 to 50 Mbit/s where the papers have 1 to 3: what is a rate grows by 20.
const GAMING_OPTIONS: &[(&str, &str)] = &[
    ("dccc", "utility_weight = '400kbps'"),
    ("dccc-at-sender", "utility_weight = '400kbps'"),
    ("scream", "ramp_up_speed = '4Mbps'"),
];

const fn game(name: &'static str, title: &'static str, scenario: &'static str) -> Case {
    Case { options: GAMING_OPTIONS, ..case(name, title, scenario, &[], GAMING) }
}

pub(super) const CASES: &[Case] = &[
    game("steady", "60 frames/s on 40 Mbit/s", "gaming/steady"),
    game("120 frames", "120 frames/s on 50 Mbit/s", "gaming/120-frames"),
    game("step", "50, 30, 50 Mbit/s", "gaming/step"),
    game("beside cubic", "beside a CUBIC download", "gaming/beside-cubic"),
    game("l4s", "over L4S, beside a CUBIC download", "gaming/l4s"),
];
