//! Files with recorded calls.

use weir_import::calls::{CallForm, CallOptions, CallUses, EndSelection, read, sniff, write};
use weir_replay::explain::explain;
use weir_replay::infer::{InferOptions, infer};
use weir_replay::replay::{ReplayOptions, replay};
use weir_scenario::registry::Registry;
use weir_world::RecordedCall;
use weir_world::recorded::OptionalInteger;

use super::refused;
use crate::input::Input;

/// Length of calls that are replayed, explained and inferred: ten minutes.
const LONGEST_US: i64 = 600_000_000;
/// Most packets of these.
const MOST_PACKETS: usize = 10_000;

/// The first byte chooses the direction of the media, and the form of a file whose beginning does not identify it.
pub(crate) fn calls(data: &[u8]) {
    let (how, content) = data.split_at(data.len().min(1));
    let mut input = Input::new(how);
    let choice = input.byte();
    let direction = match choice & 3 {
        0 | 1 => EndSelection::Larger,
        2 => EndSelection::Sent,
        _ => EndSelection::Received,
    };
    let otherwise = if choice & 4 > 0 { CallForm::Recorded } else { CallForm::EventLog };
    let form = sniff(content).unwrap_or(otherwise);
    let options = match form {
        CallForm::Recorded => CallOptions::default(),
        _ => CallOptions { direction, ..CallOptions::default() },
    };
    match read(content, form, &options) {
        Ok(call) => written(&call),
        Err(error) => refused(&error),
    }
}

/// Checks that a call that was read has no fault, and is written and read the same.
fn written(call: &RecordedCall) {
    call.check().expect("a reader gives calls without faults");
    let uses = CallUses::of(call);
    assert!(!uses.replay.extent.is_empty());
    let mut json = Vec::new();
    write(call, &mut json).expect("there is room in memory");
    let again = read(&json[..], CallForm::Recorded, &CallOptions::default()).expect("it was written so");
    // A counter may be a number that JSON does not have.
    if call.counters.is_empty() {
        assert_eq!(&again, call);
    }
    if is_short(call) {
        used(call);
    }
}

/// Whether the uses of the call take little time. Arrivals may be of a clock of their own.
fn is_short(call: &RecordedCall) -> bool {
    let packets = &call.packets;
    let columns = [&packets.sent_us, &packets.arrived_us, &packets.reported_us];
    let spans = columns.map(|column| span_us(column.iter().copied().filter_map(OptionalInteger::get)));
    let events = span_us(call.feedback.time_us.iter().copied().chain([0, call.duration_us]));
    spans.into_iter().chain([events]).all(|span| span < LONGEST_US) && packets.len() <= MOST_PACKETS
}

fn span_us(times: impl Iterator<Item = i64> + Clone) -> i64 {
    times.clone().max().zip(times.min()).map_or(0, |(last, first)| last - first)
}

/// Replays, explains and infers, each of which the call may lack something for.
fn used(call: &RecordedCall) {
    if let Err(error) = explain(call) {
        refused(&error);
    }
    if let Ok(options) = ReplayOptions::of(call, None, None)
        && let Err(error) = replay(call, &Registry::standard(), ("gcc", None), &options)
    {
        refused(&error);
    }
    if let Err(error) = infer(call, &InferOptions::default()) {
        refused(&error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inputs_that_are_kept_are_read() {
        let kept = |input: &[u8]| {
            let form = sniff(&input[1..]).expect("a known form");
            read(&input[1..], form, &CallOptions::default()).map_err(|error| error.to_string())
        };
        let log = kept(include_bytes!("../../../../fuzz/corpus/calls/event-log")).unwrap();
        assert!(log.packets.len() > 30 && log.has_feedback() && log.loss_estimates.len() > 5);
        assert!(!log.probe_outcomes.is_empty() && !log.application_limits.is_empty());
        let call = kept(include_bytes!("../../../../fuzz/corpus/calls/recorded")).unwrap();
        assert!(call.packets.len() > 1);
        for call in [log, call] {
            assert!(is_short(&call), "{} µs are not replayed, explained and inferred", call.duration_us);
        }
    }
}
