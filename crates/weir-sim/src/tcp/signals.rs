//! Signals of a TCP sender, the values that a report can plot.

use weir_cc::Signal;
use weir_world::tcp::TCP_SIGNALS;

use crate::tcp::TcpSender;

impl TcpSender {
    /// The signals that [`Self::read_signals`] writes.
    pub fn signals() -> &'static [Signal] {
        &TCP_SIGNALS
    }

    /// Writes the present values of [`Self::signals`]; NaN for unknown ones. Values that do not fit into `out` are left
    /// out.
    pub fn read_signals(&self, out: &mut [f64]) {
        let window = self.window();
        let rtt = self.last_rtt().map_or(f64::NAN, |rtt| rtt.secs_f64() * 1e3);
        let values = [window.cwnd, window.ssthresh, rtt, self.acknowledged().bytes_f64()];
        for (slot, value) in out.iter_mut().zip(values) {
            *slot = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use weir_cc::window::NewReno;
    use weir_cc::{ArrivalTime, SendTime};
    use weir_units::DataSize;

    use super::*;
    use weir_world::tcp::{Acknowledgement, SackBlock, TcpConfig, Timestamps};

    #[test]
    fn signals_follow_the_acknowledgements() {
        // 2000 bytes are a full segment of 1448 and a short one.
        let size = Some(DataSize::from_bytes(2000));
        let mut sender = TcpSender::new(TcpConfig::default(), Box::new(NewReno::new()), size);
        let mut values = [0.0; 4];
        sender.read_signals(&mut values);
        assert_eq!((values[0], values[1], values[3]), (10.0, f64::INFINITY, 0.0));
        assert!(values[2].is_nan());
        sender.start(SendTime::ZERO);
        while sender.poll_segment(SendTime::ZERO).is_some() {}
        let sacks = [SackBlock::EMPTY; 3];
        let stamps = Timestamps::new(SendTime::ZERO, ArrivalTime::ZERO);
        let syn_ack = Acknowledgement { cumulative: 0, syn: true, sacks, stamps, ece: false, marked: 0 };
        sender.on_ack(SendTime::from_millis(50), &syn_ack);
        while sender.poll_segment(SendTime::from_millis(50)).is_some() {}
        let mut acked = |cumulative, ms| {
            sender.on_ack(SendTime::from_millis(ms), &Acknowledgement { cumulative, syn: false, ..syn_ack });
            sender.read_signals(&mut values);
            (values[2], values[3])
        };
        assert_eq!(acked(1, 120), (120.0, 1448.0));
        assert_eq!(acked(2, 130), (130.0, 2000.0));
    }
}
