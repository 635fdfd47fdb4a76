//! Media senders and receivers as black boxes: sessions of every controller, over a path that loses, repeats,
//! delays and corrupts packets. Clocks are set meanwhile, and reports arrive that no honest receiver makes.

mod call;
mod flow;
mod forge;
mod path;

use crate::input::Input;
use call::FuzzedCall;

/// Most steps of an input.
const MOST_STEPS: usize = 1000;

pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let mut call = FuzzedCall::any(&mut input);
    for _ in 0..MOST_STEPS {
        if input.is_empty() {
            break;
        }
        call.step(&mut input);
    }
}
