//! A whole call, second by second, so that a change of behaviour is seen in review.

use std::fmt::Write;

use weir_units::{DataRate, TimeDelta};

use crate::rig::{Call, config, gcc_2016};

/// After each second: the target in kbit/s and the packets sent in it.
fn course(call: &mut Call, seconds: u32) -> String {
    let mut lines = String::new();
    for second in 1..=seconds {
        let before = call.packets;
        call.run(TimeDelta::from_secs(1));
        writeln!(lines, "{second:2} s {:4.0} kbit/s {:3} packets", call.target_kbps(), call.packets - before)
            .unwrap();
    }
    lines
}

#[test]
fn a_call_of_gcc_2016_over_one_megabit_takes_this_course() {
    let mut call = Call::new(gcc_2016(), &config(), DataRate::from_mbps(1));
    insta::assert_snapshot!(course(&mut call, 20), @r"
      1 s  315 kbit/s  61 packets
      2 s  458 kbit/s  60 packets
      3 s  688 kbit/s  88 packets
      4 s  729 kbit/s 101 packets
      5 s  765 kbit/s  90 packets
      6 s  804 kbit/s  90 packets
      7 s  844 kbit/s  90 packets
      8 s  844 kbit/s  90 packets
      9 s  886 kbit/s 119 packets
     10 s  930 kbit/s 120 packets
     11 s  977 kbit/s 120 packets
     12 s  842 kbit/s  98 packets
     13 s  842 kbit/s  90 packets
     14 s  929 kbit/s 114 packets
     15 s  929 kbit/s 120 packets
     16 s  975 kbit/s 120 packets
     17 s  843 kbit/s 114 packets
     18 s  885 kbit/s  93 packets
     19 s  885 kbit/s 120 packets
     20 s  976 kbit/s 120 packets
    ");
}
