//! Packets of a call: Chromium's dumps of decrypted packets, as text in its log or as rtpdump, and captures.
//!
//! A capture of unencrypted RTP, and a dump, have readable RTCP. A single capture of SRTP has departures or arrivals,
//! and sizes. Two captures, one at each end, are joined by source identifier and sequence number. Transport-wide
//! numbers need the identifier of their header extension, which no packet states; without it packets are joined by RTP
//! sequence numbers.

mod assemble;
mod capture;
mod choice;
mod clock;
mod datagram;
mod join;
mod log;
mod rtp;
mod rtpdump;
#[cfg(test)]
mod tests;

use std::io::{BufReader, Cursor, Read};

use weir_units::TimeDelta;
use weir_world::RecordedCall;
use weir_world::recorded::{ArrivalClock, RecordingSource, RemarkSentence};

use self::assemble::{AssembledCall, CallAssembler};
use self::clock::ClockDifference;
use self::datagram::{FileDatagram, FormFacts};
use self::join::{ArrivalJoin, make_feedback};
use self::rtp::{RtpRecord, is_rtcp};
use super::{CallImportError, CallOptions, CapturePairError, ExtensionOverrides};
use crate::traces::packets::CAPTURES;

/// Default interval of synthesised feedback.
const FEEDBACK_INTERVAL: TimeDelta = TimeDelta::from_millis(50);
/// Least number of common packets that shows that two captures are of one call.
const FEWEST_SHARED: usize = 10;

/// The form of a file with packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PacketForm {
    Capture,
    Log,
    Dump,
}

impl PacketForm {
    fn of(head: &[u8]) -> Self {
        if CAPTURES.iter().any(|begin| head.starts_with(begin)) {
            Self::Capture
        } else if head.starts_with(rtpdump::FIRST_LINE) {
            Self::Dump
        } else {
            Self::Log
        }
    }

    const fn facts(self) -> FormFacts {
        match self {
            Self::Capture => FormFacts { knows_end: false, decrypted: false, one_way: false },
            Self::Log => FormFacts { knows_end: true, decrypted: true, one_way: false },
            Self::Dump => FormFacts { knows_end: false, decrypted: true, one_way: true },
        }
    }
}

/// Whether a file that begins with `head` is of one of these forms.
pub fn sniff(head: &[u8]) -> bool {
    let has = |word: &[u8]| head.windows(word.len()).any(|window| window == word);
    // Chromium's log: process, thread, time and severity in brackets.
    let is_log = matches!(head, [b'[', b'0'..=b'9', ..])
        && [&b":VERBOSE"[..], b":INFO:", b":WARNING:", b":ERROR:"].into_iter().any(has);
    PacketForm::of(head) != PacketForm::Log || has(log::MARK) || is_log
}

/// Reads one direction of a call from a dump of packets or one capture.
///
/// # Errors
/// The file cannot be read, is of another form, has no RTP, several calls, or no packet with an extension of `options`.
pub fn read(input: impl Read, options: &CallOptions) -> Result<RecordedCall, CallImportError> {
    Ok(assemble(input, false, options)?.call)
}

/// Reads a call from two captures, one at the sender's end and one at the receiver's. Where the sender's has no
/// per-packet feedback, feedback is synthesised.
///
/// # Errors
/// A file cannot be read, is of another form, has no RTP or several calls, or the two share no packets.
pub fn read_two(
    sender: impl Read,
    receiver: impl Read,
    options: &CallOptions,
) -> Result<RecordedCall, CapturePairError> {
    let AssembledCall { mut call, sources, first_us, hops } =
        assemble(sender, true, options).map_err(CapturePairError::of_sender)?;
    let mut join = ArrivalJoin::new(&mut call, &sources);
    let (_, _, truncated) = visit_all(receiver, |datagram, _| {
        if !is_rtcp(datagram.bytes)
            && let Some(record) = RtpRecord::read(datagram, ExtensionOverrides::default())
        {
            join.add(datagram, &record);
        }
        Ok(())
    })
    .map_err(CapturePairError::of_receiver)?;
    let joined = join.joined();
    let doubts = join.doubts(hops);
    let times = call.packets.sent_us.iter().zip(&call.packets.arrived_us);
    let pairs = times.filter_map(|(sent, arrived)| Some((sent.get()?, arrived.get()?)));
    let Some(clock) = ClockDifference::of(pairs).filter(|_| joined >= FEWEST_SHARED) else {
        return Err(CapturePairError::of_receiver(CallImportError::Lacking(format!(
            "the two files share {joined} RTP packets by source identifier, sequence number and timestamp; they are \
             not of one call, or something between them changes these"
        ))));
    };
    call.source = RecordingSource::TwoCaptures;
    call.arrival_clock = ArrivalClock::Receiver;
    call.remarks.retain(|remark| !RemarkSentence::ENCRYPTED_DEPARTURES.is(remark));
    call.remarks.extend(truncated);
    call.remarks.extend(doubts);
    let packets = &mut call.packets;
    for (sent, arrived) in packets.sent_us.iter().zip(&mut packets.arrived_us) {
        let corrected = sent.get().zip(arrived.get()).map(|(sent, arrived)| clock.correct(sent, arrived));
        *arrived = corrected.into();
    }
    call.remarks.extend(clock.sentences(first_us));
    if !call.has_feedback() {
        let interval = options.feedback_interval.unwrap_or(FEEDBACK_INTERVAL);
        let interval_us = (interval.nanos() / 1000).max(1);
        make_feedback(&mut call, interval_us);
        call.remarks.push(RemarkSentence::MADE_FEEDBACK.with(&[&(interval_us as f64 / 1e3)]));
    }
    Ok(call)
}

fn assemble(input: impl Read, sender: bool, options: &CallOptions) -> Result<AssembledCall, CallImportError> {
    let mut assembler = None;
    let (form, any, truncated) = visit_all(input, |datagram, form| {
        let assembler = assembler.get_or_insert_with(|| CallAssembler::new(form.facts(), sender, options));
        assembler.add(datagram)
    })?;
    let assembler = match assembler {
        Some(assembler) => assembler,
        None if !any => return Err(CallImportError::UnknownForm("the file is empty".to_owned())),
        None if form == PacketForm::Log => {
            let problem = "the file has no line with the mark RTP_DUMP; Chromium writes them with --enable-logging \
                           --v=1 --force-fieldtrials=WebRTC-Debugging-RtpDump/Enabled/";
            return Err(CallImportError::Lacking(problem.to_owned()));
        }
        None => CallAssembler::new(form.facts(), sender, options),
    };
    let mut assembled = assembler.finish()?;
    assembled.call.remarks.extend(truncated);
    Ok(assembled)
}

/// Passes all datagrams to `visit`. The result is the form, whether the file has any byte, and a remark if the file is
/// truncated.
fn visit_all(
    mut input: impl Read,
    mut visit: impl FnMut(&FileDatagram<'_>, PacketForm) -> Result<(), CallImportError>,
) -> Result<(PacketForm, bool, Option<String>), CallImportError> {
    let mut head = Vec::new();
    input.by_ref().take(rtpdump::FIRST_LINE.len() as u64).read_to_end(&mut head)?;
    let form = PacketForm::of(&head);
    let any = !head.is_empty();
    let input = BufReader::new(Cursor::new(head).chain(input));
    let visit = |datagram: &FileDatagram<'_>| visit(datagram, form);
    let truncated = match form {
        PacketForm::Capture => capture::each(input, visit)?,
        PacketForm::Log => log::each(input, visit)?,
        PacketForm::Dump => rtpdump::each(input, visit)?,
    };
    Ok((form, any, truncated))
}
