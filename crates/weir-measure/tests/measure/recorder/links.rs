//! Utilisation, loss and queue of links.

use super::*;
use weir_net::DropReason;
use weir_world::Loss;

fn stepped(steps: &[(u64, u64)]) -> Service {
    let step = |&(at, kbps): &(u64, u64)| (Time::from_millis(at), DataRate::from_kbps(kbps));
    Service::Steps(steps.iter().map(step).collect())
}

#[test]
fn utilisation_is_a_mean_of_ratios_or_a_ratio_of_totals() {
    let mut plan = plan(2500, vec![media("a")]);
    plan.links[0].service = stepped(&[(0, 1000), (1000, 3000), (2000, 2000)]);
    let mut run = Run::new(plan);
    // 125 000 bytes in the first second, all it can carry, and in the second, a third; in the rest 62 500.
    for ms in [300, 1500] {
        run.0.link_exit(Time::from_millis(ms), 0, 125_000, TimeDelta::ZERO);
    }
    run.0.link_exit(Time::from_millis(2400), 0, 62_500, TimeDelta::ZERO);
    let utilisation = &run.metrics().links[0].utilisation;
    // Over whole seconds (1 + 1/3) / 2, standard deviation √(2 · (1/3)²) = 0.4714.
    near(utilisation.time_mean, 2.0 / 3.0, 1e-9);
    near(utilisation.time_sd, 0.4714, 1e-4);
    // 2.5 Mbit of 1 + 3 + 1 Mbit.
    near(utilisation.bits, 0.5, 1e-9);
}

#[test]
fn an_outage_has_no_utilisation() {
    let mut plan = plan(2000, vec![media("a")]);
    plan.links[0].service = stepped(&[(0, 1000), (1000, 0)]);
    let mut run = Run::new(plan);
    run.0.link_exit(Time::from_millis(500), 0, 62_500, TimeDelta::ZERO);
    let utilisation = &run.metrics().links[0].utilisation;
    assert_eq!((utilisation.time_mean, utilisation.bits), (Some(0.5), Some(0.5)));
}

#[test]
fn overflow_and_random_losses_are_both_losses() {
    let mut run = Run::within(plan(4000, vec![media("a"), media("b")]), 1000, 3000);
    for (at, wait) in [(500, 90), (1500, 10), (1600, 20), (1700, 30), (3500, 80)] {
        run.0.link_exit(Time::from_millis(at), 0, 1000, TimeDelta::from_millis(wait));
    }
    // Refused before, in and after the window; the packet that chance takes at 1.7 s has come through the queue.
    let refused = Loss::Queue(DropReason::QueueBytes);
    for (flow, at, loss) in
        [(0, 900, refused), (1, 2000, refused), (0, 1700, Loss::Random), (0, 3000, refused)]
    {
        run.0.dropped(Time::from_millis(at), flow, 0, &data(at - 10, 1000), loss);
    }
    let link = &run.metrics().links[0];
    // In the window 2 of 3 + 1; waits 10, 20 and 30 ms.
    assert_eq!(link.loss_ratio, Some(0.5));
    assert_eq!((link.queue_ms.mean, link.queue_ms.max), (Some(20.0), Some(30.0)));
    near(link.queue_ms.p50, 20.0, 0.08);
    assert!(link.bottleneck);
}

#[test]
fn an_unused_link_has_utilisation_zero_and_no_delay() {
    let link = Run::new(plan(2000, vec![media("a")])).metrics().links.remove(0);
    assert_eq!((link.utilisation.time_mean, link.utilisation.bits), (Some(0.0), Some(0.0)));
    assert_eq!((link.loss_ratio, link.queue_ms.p95), (None, None));
}
