//! Snapshots of each controller over a minute with changes of the path, one line per second. A change of behaviour
//! shows in review.

use core::fmt::Write as _;

use super::CONTROLLERS;
use crate::decision::ChangeReason;
use crate::testing::properties::{CAPACITY, change_path, flow};
use crate::testing::{PacketSource, TestedController, usual_limits};

/// One line per second: the target rate, the queuing delay, the packets that the full queue dropped, and the number of
/// decisions for each reason.
fn course(controller: &TestedController) -> String {
    let mut path = flow(controller, usual_limits(), PacketSource::VIDEO, CAPACITY);
    let mut course = String::new();
    for second in 1..=60 {
        let (dropped, mut decided) = (path.dropped, [0; ChangeReason::ALL.len()]);
        for ms in (second - 1) * 1000..second * 1000 {
            change_path(&mut path, ms);
            path.tick();
            let Some(decision) = path.take_decision() else { continue };
            decided[ChangeReason::ALL.iter().position(|&why| why == decision.why).unwrap()] += 1;
        }
        let (kbps, wait) = (path.target_rate() / 1e3, path.queuing_delay().millis_f64());
        write!(course, "{second:2} s {kbps:5.0} kbit/s {wait:4.0} ms").unwrap();
        let dropped = path.dropped - dropped;
        if dropped > 0 {
            write!(course, ", {dropped} dropped").unwrap();
        }
        for (why, times) in ChangeReason::ALL.iter().zip(decided).filter(|(_, times)| *times > 0) {
            write!(course, ", {times} {}", why.name()).unwrap();
        }
        course.push('\n');
    }
    course
}

#[test]
fn the_course_of_each_controller_equals_its_snapshot() {
    for controller in CONTROLLERS.iter().map(|line| line.controller) {
        insta::assert_snapshot!(controller.name.replace(' ', "-"), course(&controller));
    }
}
