//! Transfers, and media that a circuit breaker stopped.

use weir_units::DataSize;
use weir_world::{Breaker, TransferMeta};

use super::*;

fn of_kind(kind: FlowKind) -> FlowPlan {
    FlowPlan { kind, ..media("a") }
}

#[test]
fn transfers_count_where_they_end_in_the_window() {
    let mut run = Run::within(plan(10_000, vec![of_kind(FlowKind::Downloads)]), 2000, 8000);
    // They take 1, 2, 3 and 4 s; the first ends before the window, the last after it.
    for (started, ended, bytes) in
        [(500, 1500, 7000), (1000, 3000, 1000), (4000, 7000, 2000), (5000, 9000, 9000)]
    {
        let transfer =
            TransferMeta { started: Time::from_millis(started), size: DataSize::from_bytes(bytes) };
        run.0.transferred(Time::from_millis(ended), 0, &transfer);
    }
    let transfers = &run.metrics().flows[0].transfers;
    assert_eq!((transfers.completed, transfers.mean_bytes), (Some(2.0), Some(1500.0)));
    assert_eq!((transfers.mean_seconds, transfers.max_seconds), (Some(2.5), Some(3.0)));
    // Type 7 on 2 and 3 s: 2.95, within a bin.
    near(transfers.p95_seconds, 2.95, 0.012);
}

#[test]
fn flows_without_a_completed_transfer_count_none_and_media_has_no_such_number() {
    for (kind, completed) in [
        (FlowKind::Tcp, Some(0.0)),
        (FlowKind::Downloads, Some(0.0)),
        (FlowKind::Web, Some(0.0)),
        (FlowKind::Media, None),
        (FlowKind::Audio, None),
        (FlowKind::Constant, None),
    ] {
        let transfers = Run::new(plan(1000, vec![of_kind(kind)])).metrics().flows.remove(0).transfers;
        assert_eq!((transfers.completed, transfers.mean_bytes), (completed, None), "{kind:?}");
        assert_eq!((transfers.mean_seconds, transfers.max_seconds), (None, None), "{kind:?}");
    }
}

#[test]
fn the_result_has_the_first_time_of_each_breaker() {
    let mut run = Run::within(plan(10_000, vec![media("a"), media("b")]), 5000, 6000);
    let congestion =
        Breaker::Congestion { rate: DataRate::from_mbps(2), limit: DataRate::from_kbps(50), loss_ratio: 0.5 };
    let silence = Breaker::RtcpTimeout { silence: TimeDelta::from_secs(5) };
    run.0.stopped(Time::from_millis(1500), 0, &congestion);
    run.0.stopped(Time::from_millis(7000), 0, &silence);
    run.0.stopped(Time::from_millis(8000), 0, &congestion);
    let flows = run.metrics().flows;
    let stopped = &flows[0].stopped;
    assert_eq!(
        (stopped.congestion, stopped.rtcp_timeout, stopped.media_timeout),
        (Some(1.5), Some(7.0), None)
    );
    assert_eq!((flows[1].stopped.congestion, flows[1].stopped.rtcp_timeout), (None, None));
}
