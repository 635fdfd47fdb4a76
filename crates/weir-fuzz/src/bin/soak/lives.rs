//! A sender half lives through arbitrary calls: nothing panics, rates are within the limits, timeouts ask for later ones, no
//! signal is infinite, memory does not grow.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use weir_cc::testing::Life;
use weir_fuzz::Input;
use weir_fuzz::laws::{Calls, halves, limits};

use crate::Outcome;
use crate::memory::Memory;

const CALLS: u64 = 10_000_000;
/// Calls are chosen by so many bytes at a time.
const BYTES: usize = 1 << 16;
/// What the allocator may keep of the largest reports.
const MOST_GROWTH_KIB: i64 = 256;

pub(crate) fn run(law: &str) -> Outcome {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut bytes = vec![0; BYTES];
    random.fill_bytes(&mut bytes);
    let limits = limits(&mut Input::new(&bytes));
    let mut life = Life::new(halves(law, limits).controller, limits);
    let (mut calls, mut memory) = (Calls::default(), None);
    let (mut done, mut decisions) = (0, 0_u64);
    while done < CALLS {
        random.fill_bytes(&mut bytes);
        let mut input = Input::new(&bytes);
        while !input.is_empty() && done < CALLS {
            decisions += u64::from(life.live(&calls.next(&mut input)).is_some());
            done += 1;
        }
        if done >= CALLS / 10 {
            memory.get_or_insert_with(Memory::early).look();
        }
    }
    let done = format!("{CALLS} calls, {decisions} decisions");
    Outcome { done, memory: memory.unwrap_or_else(Memory::early), most_growth_kib: MOST_GROWTH_KIB }
}
