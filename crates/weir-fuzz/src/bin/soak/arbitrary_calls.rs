//! Either half of a controller through ten million arbitrary calls: no panic, rates within the limits, increasing
//! timeouts, no infinite signal, no growth of memory.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use weir_cc::testing::CheckedSender;
use weir_fuzz::Input;
use weir_fuzz::controllers::{Calls, Receiving, halves, limits};

use crate::PartOutcome;
use crate::memory::Memory;

const CALLS: u64 = 10_000_000;
/// Number of bytes that choose calls at a time.
const BYTES: usize = 1 << 16;
/// Largest allowed growth of memory, in KiB: what the allocator may keep for the largest reports.
const MOST_GROWTH_KIB: i64 = 256;

/// Random bytes, without end.
struct RandomBytes {
    random: Pcg64Mcg,
    bytes: Vec<u8>,
}

impl RandomBytes {
    fn new() -> Self {
        Self { random: Pcg64Mcg::seed_from_u64(1), bytes: vec![0; BYTES] }
    }

    fn more(&mut self) -> Input<'_> {
        self.random.fill_bytes(&mut self.bytes);
        Input::new(&self.bytes)
    }

    /// Makes all calls.
    fn call(mut self, mut call: impl FnMut(&mut Input<'_>)) -> Memory {
        let (mut done, mut memory) = (0, None);
        while done < CALLS {
            let mut input = self.more();
            while !input.is_empty() && done < CALLS {
                call(&mut input);
                done += 1;
            }
            // Memory counts only after a warm-up, in which buffers reach their size.
            if done >= CALLS / 10 {
                memory.get_or_insert_with(Memory::early).look();
            }
        }
        memory.unwrap_or_else(Memory::early)
    }
}

/// The sender half: departures, reports of all kinds, events, time.
pub(crate) fn sender(controller: &str) -> PartOutcome {
    let mut bytes = RandomBytes::new();
    let limits = limits(&mut bytes.more());
    let mut checked_sender = CheckedSender::new(halves(controller, limits).controller, limits);
    let (mut calls, mut decisions) = (Calls::default(), 0_u64);
    let memory =
        bytes.call(|input| decisions += u64::from(checked_sender.call(&calls.next(input)).is_some()));
    PartOutcome {
        done: format!("{CALLS} calls, {decisions} decisions"),
        memory,
        most_growth_kib: MOST_GROWTH_KIB,
    }
}

/// The receiver half: arrivals in any order, with a receiver clock that is stepped.
pub(crate) fn receiver(controller: &str) -> PartOutcome {
    let mut bytes = RandomBytes::new();
    let limits = limits(&mut bytes.more());
    let mut receiving = Receiving::new(halves(controller, limits).receiver, limits);
    let memory = bytes.call(|input| receiving.call(input));
    assert!(receiving.reports() > 0, "it never reports");
    let done = format!("{CALLS} arrivals, {} reports", receiving.reports());
    // Its timers still run when packets come no more.
    receiving.wait();
    PartOutcome { done, memory, most_growth_kib: MOST_GROWTH_KIB }
}
