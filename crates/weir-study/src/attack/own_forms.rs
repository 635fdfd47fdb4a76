//! Forged reports in the controllers' own report formats.

use weir_cc::SendTime;
use weir_wire::rtcp::{DcccFeedback, NadaDelay, NadaFeedback, Remb, TfrcFeedback};

use super::setting::{CLOCK, ONE_WAY, clock};

/// State of the path in a forged report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Path {
    /// Empty queues, no loss.
    Empty,
    /// Greatest congestion that the form can express; for a delay three seconds.
    Congested,
}

/// Writer of a report that echoes packet `number`; `ssrcs` has the source identifiers of the reporter and of the flow.
type EchoWriter = fn(Path, now: SendTime, number: u16, ssrcs: [u32; 2], out: &mut [u8]) -> Option<usize>;

/// Writers of all formats.
pub(super) const ALL: [EchoWriter; 5] = [nada, nada_delay, tfrc, dccc, remb];

/// Delay of three seconds.
const DELAY_NANOS: i64 = 3_000_000_000;

fn nada(path: Path, _: SendTime, number: u16, [ssrc, source]: [u32; 2], out: &mut [u8]) -> Option<usize> {
    let (ramp_up, congestion, receive_rate) = match path {
        Path::Empty => (true, 0, u32::MAX),
        Path::Congested => (false, (1 << 15) - 1, 0),
    };
    let report =
        NadaFeedback { ssrc, source, ramp_up, congestion, transport_sequence: number, receive_rate, held: 0 };
    report.write(out).ok()
}

fn nada_delay(
    path: Path,
    _: SendTime,
    number: u16,
    [ssrc, source]: [u32; 2],
    out: &mut [u8],
) -> Option<usize> {
    let congestion = if path == Path::Empty { 0 } else { 3_000_000 };
    let (transport_sequence, held) = (number, 0);
    NadaDelay { ssrc, source, congestion, reference: 25_000, transport_sequence, held }.write(out).ok()
}

fn tfrc(path: Path, _: SendTime, number: u16, [ssrc, source]: [u32; 2], out: &mut [u8]) -> Option<usize> {
    let (loss_event_rate, receive_rate) = if path == Path::Empty { (0, u32::MAX) } else { (u32::MAX, 0) };
    let (transport_sequence, held) = (number, 0);
    TfrcFeedback { ssrc, source, loss_event_rate, receive_rate, held, transport_sequence }.write(out).ok()
}

fn dccc(path: Path, now: SendTime, number: u16, [ssrc, source]: [u32; 2], out: &mut [u8]) -> Option<usize> {
    // Arrival interval of packets of 1200 bytes at the receiver: a millisecond, or a second.
    let (waiting, apart) = if path == Path::Empty { (0, 1_000_000) } else { (DELAY_NANOS, 1_000_000_000) };
    let report = DcccFeedback {
        ssrc,
        source,
        delay_nanos: ONE_WAY.nanos() + CLOCK.nanos() + waiting,
        made_nanos: clock(now).nanos(),
        interarrival: DcccFeedback::interarrival_from_nanos(apart),
        sending_rate: DcccFeedback::sending_rate_from_bps(5_000_000),
        packet_size: 1200,
        transport_sequence: number,
        held: 0,
    };
    report.write(out).ok()
}

fn remb(path: Path, _: SendTime, _: u16, [ssrc, source]: [u32; 2], out: &mut [u8]) -> Option<usize> {
    let rate = if path == Path::Empty { u64::MAX } else { 0 };
    Remb::write(ssrc, rate, &[source], out).ok()
}
