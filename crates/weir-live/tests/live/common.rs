//! Links, options and skips of the tests.

use std::time::Duration;

use weir_live::capabilities::{Availability, Capabilities};
use weir_live::drive::{DriveOptions, Driven};
use weir_live::emulator::EventKind;
use weir_net::{LinkConfig, QueueConfig, Service, Time};
use weir_units::{DataRate, TimeDelta};
use weir_world::LinkSpec;

/// Time within which anything in a test must happen.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

pub(crate) fn link(name: &str, mbps: u64, delay_ms: i64, limit_packets: Option<u32>) -> LinkSpec {
    let service = Service::Constant(DataRate::from_mbps(mbps));
    let queue = QueueConfig { limit_packets, ..QueueConfig::default() };
    LinkSpec::bottleneck(
        name,
        LinkConfig { queue, ..LinkConfig::new(service, TimeDelta::from_millis(delay_ms)) },
    )
}

pub(crate) fn options() -> DriveOptions {
    DriveOptions { priority: None, end: Time::from_millis(60_000), log: 1 << 14, buffers: 1 << 10 }
}

/// Whether something that is needed is there; if not, the reason is printed. `WEIR_REQUIRE=tun,tcp,ipv6` makes each of
/// these a failure.
pub(crate) fn has(what: &str, availability: &Availability) -> bool {
    if let Err(reason) = availability {
        let required = std::env::var("WEIR_REQUIRE").unwrap_or_default();
        assert!(!required.split(',').any(|one| one.trim() == what), "WEIR_REQUIRE={what}: {reason}");
        println!("SKIPPED, without {what}: {reason}");
    }
    availability.is_ok()
}

pub(crate) fn capabilities() -> Capabilities {
    Capabilities::probe(&["cubic", "no-such-algorithm"])
}

/// Everything that entered came out, was dropped by a link, or is still inside; the log agrees with the counts.
pub(crate) fn assert_balanced(driven: &Driven) {
    assert_eq!(driven.entered, driven.delivered + driven.dropped + driven.inside + driven.refused);
    assert_eq!(driven.lost_outside(), 0, "{driven:?}");
    assert!(driven.log.is_sorted_by_key(|event| event.at));
    let count = |of: fn(&EventKind) -> bool| driven.log.iter().filter(|event| of(&event.kind)).count() as u64;
    assert_eq!(count(|kind| matches!(kind, EventKind::Delivered { .. })), driven.delivered);
    assert_eq!(count(|kind| matches!(kind, EventKind::Dropped { .. })), driven.dropped);
    assert_eq!(driven.lateness.count(), driven.delivered);
}
