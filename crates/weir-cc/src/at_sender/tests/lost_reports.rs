//! Packets of missing reports count for nothing.

use super::*;

/// Reports of ten packets each, 5 ms apart; each third one is lost.
fn reports_lost<L: Controller, O: Observer>(mut sender: AtSender<O, L>) -> AtSender<O, L> {
    let state = SendState::default();
    for round in 0..300_u64 {
        let packets: Vec<SentPacket> =
            (0..10).map(|n| sent(10 * round + n, (50 * round + 5 * n) as i64)).collect();
        for packet in &packets {
            sender.on_sent(packet, &state);
        }
        if round % 3 == 2 {
            continue;
        }
        let fate = |packet: &SentPacket| PacketFate::Arrived {
            at: Some(ArrivalTime::ZERO + (packet.at - SendTime::ZERO) + TimeDelta::from_millis(25)),
            ecn: Ecn::NotEct,
        };
        let results: Vec<PacketResult> =
            packets.iter().map(|packet| PacketResult { sent: *packet, fate: fate(packet) }).collect();
        let now = ms(50 * round as i64 + 100);
        let rtt = Some(TimeDelta::from_millis(50));
        let feedback =
            Feedback::Packets { results: &results, at: None, rtt, missed_reports: u8::from(round % 3 == 0) };
        sender.on_feedback(now, &feedback, &state);
    }
    sender
}

/// The value of the signal `name`.
fn shown<O: Observer, L: Controller>(sender: &AtSender<O, L>, name: &str) -> f64 {
    let mut values = vec![0.0; sender.signals().len()];
    sender.read_signals(&mut values);
    values[sender.signals().iter().position(|signal| signal.name == name).unwrap()]
}

#[test]
fn a_lost_report_is_no_lost_packet() {
    let limits = RateLimits::new(kbps(50), kbps(1000), kbps(20_000)).unwrap();
    let nada = reports_lost(nada::at_sender(nada::Config::default(), limits).unwrap());
    assert_eq!(shown(&nada, "p_loss"), 0.0);
    // Packets of the size that `sent` gives, each 5 ms.
    let offered = sent(0, 0).payload.bits_f64() / 0.005;
    let received = shown(&nada, "r_recv");
    assert!((received / offered - 1.0).abs() < 0.1, "{received} of {offered} bit/s");
    let dccc = reports_lost(dccc::at_sender(dccc::Config::default(), limits).unwrap());
    assert!(shown(&dccc, "g").abs() < 1e-3, "{}", shown(&dccc, "g"));
    let known = shown(&dccc, "x_recv");
    assert!((known / offered - 1.0).abs() < 0.01, "{known} of {offered} bit/s");
}
