//! Memory of a recorder.
#![expect(unsafe_code, reason = "a global allocator that counts is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use weir_measure::metrics::{FlowPlan, LinkPlan, MeasurePlan, Recorder};
use weir_measure::results::FlowKind;
use weir_net::{Service, Time};
use weir_units::{DataRate, TimeDelta};
use weir_world::{FrameMeta, Loss, Monitor, PacketMeta};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Negative where a thread frees what another one allocated.
    static LIVE_BYTES: Cell<i64> = const { Cell::new(0) };
}

// SAFETY: every call is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        LIVE_BYTES.with(|live| live.set(live.get() + layout.size() as i64));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE_BYTES.with(|live| live.set(live.get() - layout.size() as i64));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const FLOWS: usize = 100;
const PACKETS_PER_FRAME: u32 = 4;

/// A recorder of [`FLOWS`] flows over a link of 100 Mbit/s.
fn recorder(series: bool) -> Recorder {
    let end = Time::from_millis(200_000);
    let flow = |i: usize| FlowPlan {
        propagation: TimeDelta::from_millis(25),
        sender_signals: vec!["A".to_owned()],
        ..FlowPlan::new(&format!("video-{i}"), FlowKind::Media)
    };
    let service = Service::Constant(DataRate::from_mbps(100));
    let links = vec![LinkPlan::bottleneck("bottleneck", service)];
    let flows = (0..FLOWS).map(flow).collect();
    Recorder::new(MeasurePlan { series, ..MeasurePlan::new(end, flows, links) })
}

/// A frame of each flow, with delays that go through 0 to 300 ms within ten seconds.
fn frame(recorder: &mut Recorder, number: u32) {
    let captured = Time::from_millis(33 * u64::from(number));
    let wait = TimeDelta::from_millis(i64::from(number % 300));
    for flow in 0..FLOWS {
        let meta = FrameMeta { number, packets: PACKETS_PER_FRAME as u16, bytes: 4000, key: false };
        recorder.frame(captured, flow, &meta);
        for k in 0..PACKETS_PER_FRAME {
            let packet = PacketMeta {
                sent_at: captured,
                wait,
                wire_size: 1028,
                payload: 1000,
                frame: number,
                control: false,
            };
            let arrival = captured + TimeDelta::from_millis(26) + wait;
            recorder.sent(captured, flow, &packet);
            if k == 0 && number.is_multiple_of(50) {
                recorder.dropped(captured, flow, 0, &packet, Loss::Random);
                continue;
            }
            recorder.link_exit(arrival, 0, packet.wire_size, wait);
            recorder.delivered(arrival, flow, &packet);
        }
        recorder.rtt(captured, flow, TimeDelta::from_millis(50) + wait);
        recorder.signals(captured, flow, weir_world::Side::Sender, &[f64::from(number)]);
    }
}

#[test]
fn a_packet_allocates_nothing_once_delays_have_reached_their_range() {
    for series in [false, true] {
        let mut recorder = recorder(series);
        (0..300).for_each(|number| frame(&mut recorder, number));
        let before = ALLOCATIONS.with(Cell::get);
        assert!(before > 0, "the counter counts");
        (300..2000).for_each(|number| frame(&mut recorder, number));
        assert_eq!(ALLOCATIONS.with(Cell::get), before);
    }
}

#[test]
fn a_hundred_flows_over_200_s_take_less_than_10_mb() {
    let before = LIVE_BYTES.with(Cell::get);
    let mut recorder = recorder(false);
    (0..6000).for_each(|number| frame(&mut recorder, number));
    let bytes = LIVE_BYTES.with(Cell::get) - before;
    assert!((1_000_000..10_000_000).contains(&bytes), "{bytes} bytes");
    assert!(recorder.finish().metrics.flows.iter().all(|flow| flow.frames_complete == Some(5880.0)));
}
