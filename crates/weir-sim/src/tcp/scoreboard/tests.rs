//! The scoreboard against a literal implementation of RFC 6675 that checks every segment every time.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Copy, Default)]
struct Outstanding {
    sacked: bool,
    resent: bool,
    given_up: bool,
}

/// RFC 6675 §4 by loops over all outstanding segments.
#[derive(Default)]
struct Reference {
    first: u32,
    segments: Vec<Outstanding>,
    high_rxt: u32,
}

impl Reference {
    fn next(&self) -> u32 {
        self.first + self.segments.len() as u32
    }

    fn numbered(&self) -> impl DoubleEndedIterator<Item = (u32, Outstanding)> {
        (self.first..self.next()).zip(self.segments.iter().copied())
    }

    fn at(&mut self, number: u32) -> Option<&mut Outstanding> {
        number.checked_sub(self.first).and_then(|index| self.segments.get_mut(index as usize))
    }

    /// RFC 6675's `IsLost`, computed literally.
    fn is_lost(&self, number: u32) -> bool {
        let above = &self.segments[(number + 1 - self.first) as usize..];
        let sacked = above.iter().filter(|segment| segment.sacked).count();
        let runs = above.iter().zip(above.iter().skip(1)).filter(|(a, b)| !a.sacked && b.sacked).count()
            + usize::from(above.first().is_some_and(|segment| segment.sacked));
        let given_up = self.segments[(number - self.first) as usize].given_up;
        given_up || runs >= 3 || sacked > 2
    }

    fn pipe(&self) -> u32 {
        let unsacked = self.numbered().filter(|(_, segment)| !segment.sacked);
        unsacked.map(|(number, segment)| u32::from(!self.is_lost(number)) + u32::from(segment.resent)).sum()
    }

    fn highest_sacked(&self) -> Option<u32> {
        self.numbered().rev().find(|(_, segment)| segment.sacked).map(|(number, _)| number)
    }

    /// The first lost segment below `limit` that was not retransmitted.
    fn next_lost(&self, limit: u32) -> Option<u32> {
        self.numbered()
            .find(|&(n, segment)| !segment.sacked && n >= self.high_rxt && n < limit && self.is_lost(n))
            .map(|(n, _)| n)
    }

    fn next_hole(&self) -> Option<u32> {
        let highest = self.highest_sacked()?;
        self.numbered().find(|&(n, s)| !s.sacked && n >= self.high_rxt && n < highest).map(|(n, _)| n)
    }

    fn last_hole(&self) -> Option<u32> {
        self.numbered().rev().find(|(_, segment)| !segment.sacked).map(|(n, _)| n)
    }

    /// Removes the segments below `cumulative`.
    fn acknowledge(&mut self, cumulative: u32) {
        if (self.first..=self.next()).contains(&cumulative) {
            self.segments.drain(..(cumulative - self.first) as usize);
            self.first = cumulative;
        }
    }

    /// Marks the segments of `blocks` as acknowledged selectively.
    fn sack(&mut self, blocks: &[SackBlock; 3]) {
        for number in blocks.iter().flat_map(|block| block.start..block.end) {
            if number != self.first
                && let Some(segment) = self.at(number)
            {
                segment.sacked = true;
            }
        }
    }

    fn resend(&mut self, number: u32) {
        if let Some(segment) = self.at(number) {
            segment.resent = true;
        }
        self.high_rxt = self.high_rxt.max(number + 1);
    }

    /// Marks all segments as lost, after a timeout.
    fn lose_all(&mut self) {
        for segment in &mut self.segments {
            *segment = Outstanding { given_up: true, resent: false, ..*segment };
        }
        self.high_rxt = self.first;
    }
}

#[derive(Clone, Debug)]
enum Step {
    Send(u32),
    /// Blocks by their offset from the first outstanding segment and their length.
    Sack([(u32, u32); 3]),
    /// The first block of the acknowledgement before grows, as when segments keep arriving.
    GrowBlock(u32),
    Acknowledge(u32),
    ResendLost,
    ResendHole,
    LoseAll,
}

fn step() -> impl Strategy<Value = Step> {
    let block = (0u32..150, 0u32..20);
    prop_oneof![
        4 => (1u32..60).prop_map(Step::Send),
        6 => [block.clone(), block.clone(), block].prop_map(Step::Sack),
        4 => (1u32..5).prop_map(Step::GrowBlock),
        3 => (0u32..40).prop_map(Step::Acknowledge),
        6 => Just(Step::ResendLost),
        2 => Just(Step::ResendHole),
        1 => Just(Step::LoseAll),
    ]
}

fn resend(board: &mut Scoreboard, reference: &mut Reference, number: Option<u32>) {
    if let Some(number) = number {
        board.resend(number);
        reference.resend(number);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn the_scoreboard_agrees_with_a_literal_rfc_6675(steps in proptest::collection::vec(step(), 1..80)) {
        let (mut board, mut reference) = (Scoreboard::new(), Reference::default());
        let mut blocks = [SackBlock::EMPTY; 3];
        for step in steps {
            match step {
                Step::Send(count) => for _ in 0..count {
                    prop_assert_eq!(board.send_new(), reference.next());
                    reference.segments.push(Outstanding::default());
                },
                Step::Sack(drawn) => {
                    let first = board.first();
                    blocks = drawn.map(|(start, length)| SackBlock {
                        start: first + start,
                        end: first + start + length,
                    });
                    board.sack(&blocks);
                    if !blocks[0].is_empty() {
                        reference.sack(&blocks);
                    }
                }
                Step::GrowBlock(by) => if !blocks[0].is_empty() {
                    blocks[0].end += by;
                    board.sack(&blocks);
                    reference.sack(&blocks);
                },
                Step::Acknowledge(count) => {
                    let cumulative = board.first() + count;
                    let acknowledged = board.acknowledge(cumulative);
                    prop_assert_eq!(acknowledged, if cumulative <= reference.next() { count } else { 0 });
                    reference.acknowledge(cumulative);
                }
                Step::ResendLost => {
                    let number = board.next_lost(u32::MAX);
                    resend(&mut board, &mut reference, number);
                }
                Step::ResendHole => {
                    let number = board.next_hole();
                    resend(&mut board, &mut reference, number);
                }
                Step::LoseAll => {
                    board.lose_all();
                    reference.lose_all();
                }
            }
            prop_assert_eq!(board.pipe(), reference.pipe());
            prop_assert_eq!(board.next_lost(u32::MAX), reference.next_lost(u32::MAX));
            let limit = board.first() + 40;
            prop_assert_eq!(board.next_lost(limit), reference.next_lost(limit));
            prop_assert_eq!(board.next_hole(), reference.next_hole());
            prop_assert_eq!(board.last_hole(), reference.last_hole());
            prop_assert_eq!(board.has_sacked(), reference.highest_sacked().is_some());
            let first_is_lost = board.flight() > 0 && reference.is_lost(reference.first);
            prop_assert_eq!(board.flight() > 0 && board.first_is_lost(), first_is_lost);
        }
    }
}

#[test]
fn three_segments_sacked_above_prove_a_loss() {
    let mut board = Scoreboard::new();
    for _ in 0..10 {
        board.send_new();
    }
    let sack = |start, end| [SackBlock { start, end }, SackBlock::EMPTY, SackBlock::EMPTY];
    assert!(board.sack(&sack(1, 3)));
    assert!(!board.first_is_lost());
    assert_eq!(board.pipe(), 8);
    assert!(!board.sack(&sack(1, 3)));
    assert!(board.sack(&sack(1, 4)));
    // Of 10, 3 are SACKed and 1 is lost.
    assert!(board.first_is_lost());
    assert_eq!(board.pipe(), 6);
    board.resend(0);
    assert_eq!(board.pipe(), 7);
}
