//! Files with recorded calls.

use weir_import::calls::{CallForm, CallOptions, CallUses, EndSelection, read, sniff, write};
use weir_world::RecordedCall;

use super::refused;
use crate::input::Input;

/// The first byte chooses the direction of the media, and the form of a file whose begin does not tell it.
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
    }
}
