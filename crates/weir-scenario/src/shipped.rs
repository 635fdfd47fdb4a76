//! The scenarios that ship with Weir, part of the binary.

/// A scenario that ships.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// Its name: the path of its file in `scenarios/`, without the extension.
    pub name: &'static str,
    /// Its file.
    pub text: &'static str,
}

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        [$(Shipped { name: $name, text: include_str!(concat!("../scenarios/", $name, ".toml")) }),*]
    };
}

/// Every scenario that ships, sorted by name.
pub const SCENARIOS: &[Shipped] = &shipped![
    "bench/calls-1000",
    "bench/cbr",
    "bench/tcp",
    "cellular/att-lte-uplink-2016",
    "cellular/att-lte-uplink-2016-beside-cubic",
    "cellular/lte-drive",
    "cellular/lte-drive-beside-cubic",
    "cellular/lte-drive-downlink",
    "cellular/verizon-lte-downlink",
    "coupling/access-point",
    "coupling/ledbat-and-tcp",
    "coupling/media-and-data",
    "coupling/media-and-data-4mbps",
    "coupling/media-and-data-5mbps",
    "coupling/pair",
    "coupling/pause",
    "coupling/tcp-two-paths",
    "dccc-2017/bandwidth-steps",
    "dccc-2017/one-flow",
    "dccc-2017/one-flow-gcc",
    "dccc-2017/one-flow-ledbat",
    "dccc-2017/one-flow-nada",
    "dccc-2017/three-flows-delay",
    "dccc-2017/three-flows-loss",
    "gaming/120-frames",
    "gaming/beside-cubic",
    "gaming/l4s",
    "gaming/steady",
    "gaming/step",
    "gaming/wifi",
    "gaming/wifi-upload",
    "gcc-2016/short-queue-adaptive",
    "gcc-2016/short-queue-static",
    "gcc-2016/tcp-99",
    "gcc-2016/tcp-one-adaptive",
    "gcc-2016/tcp-one-static",
    "gcc-2016/tcp-reverse",
    "gcc-2016/tcp-short",
    "gcc-2016/three-flows",
    "gcc-2016/two-flows-variable",
    "gcc-2016/variable-capacity",
    "nada-vs-gcc-2016/tcp-one",
    "nada-vs-gcc-2016/tcp-one-gcc",
    "nada-vs-gcc-2016/three-flows",
    "nada-vs-gcc-2016/three-flows-gcc",
    "nada-vs-gcc-2016/two-flows-variable",
    "nada-vs-gcc-2016/two-flows-variable-gcc",
    "nada-vs-gcc-2016/variable-capacity",
    "nada-vs-gcc-2016/variable-capacity-gcc",
    "network/parking-lot",
    "network/two-paths",
    "quality/beside-cubic",
    "quality/fall",
    "quality/four-times",
    "quality/handover",
    "quality/late-camera",
    "quality/loss-20",
    "quality/loss-5",
    "quality/narrow",
    "quality/satellite",
    "quality/single-flow",
    "quality/steady",
    "quality/step",
    "quality/three-flows",
    "rfc8867/congested-feedback",
    "rfc8867/congested-feedback-cross-traffic",
    "rfc8867/long-tcp",
    "rfc8867/pause",
    "rfc8867/round-trip-times",
    "rfc8867/short-tcp",
    "rfc8867/three-flows",
    "rfc8867/two-bottlenecks",
    "rfc8867/variable-capacity",
    "rfc8867/variable-capacity-two",
    "rfc8867/variable-cross-traffic",
    "rfc8867/variable-cross-traffic-two",
    "rfc8869/downlink",
    "rfc8869/uplink",
    "rfc8869/wifi-bidirectional",
    "rfc8869/wifi-cross-traffic",
    "rfc8869/wifi-downlink",
    "rfc8869/wifi-tcp",
    "rfc8869/wifi-uplink",
    "rfc8869/wifi-varying",
    "rfc8869/wired-bidirectional",
    "rfc8869/wired-cross-traffic",
    "rfc8869/wired-tcp",
    "rfc8869/wired-uplink",
    "sharing/calls",
    "sharing/late-source",
    "sharing/late-starters",
    "sharing/round-trips",
    "sharing/two-controllers",
];

/// The scenario that ships under the name `name`.
pub fn find(name: &str) -> Option<&'static Shipped> {
    SCENARIOS.iter().find(|scenario| scenario.name == name)
}
