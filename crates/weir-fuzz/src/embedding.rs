//! Endpoints of embedders: calls in any order, with any times, packets, feedback and numbers, beside the RTCP of a far
//! end that gets their packets.

mod call;
mod far_end;
mod foreign;
mod group;
mod ledger;
mod settings;

use crate::input::Input;

/// Most calls of an input.
const MOST_CALLS: usize = 2000;

pub(crate) fn endpoints(data: &[u8]) {
    let mut input = Input::new(data);
    if input.seldom(4) {
        let mut group = group::FuzzedGroup::any(&mut input);
        for _ in 0..MOST_CALLS {
            if input.is_empty() {
                break;
            }
            group.step(&mut input);
        }
        return group.end();
    }
    let mut fuzzed = call::FuzzedEndpoint::any(&mut input);
    for _ in 0..MOST_CALLS {
        if input.is_empty() {
            break;
        }
        fuzzed.step(&mut input);
    }
    fuzzed.end();
}
