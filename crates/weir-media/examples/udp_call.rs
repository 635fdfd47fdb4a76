//! A call over UDP with your own packets, here over loopback: `cargo run --release -p weir-media --example udp_call`.
#![expect(clippy::disallowed_methods, reason = "a call in real time reads the clock")]

use std::error::Error;
use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};

use weir_cc::gcc::goog_cc::{Config, GoogCc};
use weir_cc::{Controller, DataRate, Ecn, MonotonicClock, RateLimits, TimeDelta};
use weir_media::receiving::{IncomingStream, ReceivingConfig, ReceivingEndpoint};
use weir_media::{Endpoint, EndpointConfig, PacketMeta, RetransmissionStream, StreamConfig};

type Failure = Box<dyn Error + Send + Sync>;
const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 30);

fn main() -> Result<(), Failure> {
    let (near, far) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    near.connect(far.local_addr()?)?;
    let limits = RateLimits::new(DataRate::from_kbps(50), DataRate::from_mbps(1), DataRate::from_mbps(3))?;
    let controller = Box::new(GoogCc::new(Config::default(), limits)?);
    let sender = thread::spawn(move || send(&near, controller, limits, 11, 7));
    let seconds = receive(&far, 10)?;
    seconds.iter().enumerate().for_each(|(n, bytes)| println!("{n} s: {} kbit/s", bytes * 8 / 1000));
    sender.join().map_err(|_| "the sender panicked")?
}

/// Sends video at the controller's target for `seconds`, from the second `still` on a picture that does not move.
pub(crate) fn send(
    socket: &UdpSocket,
    controller: Box<dyn Controller>,
    limits: RateLimits,
    seconds: u64,
    still: u64,
) -> Result<(), Failure> {
    let (begin, mut frames, mut buffer) = (Instant::now(), 0, [0; 1500]);
    let clock = MonotonicClock::new(begin);
    // Read timeouts have steps of up to 10 ms; the pacer makes up for them.
    let config = EndpointConfig { pacer_lateness: TimeDelta::from_millis(12), ..EndpointConfig::new(limits) };
    let mut endpoint = Endpoint::new(controller, config, 1);
    let video = endpoint.add_stream(StreamConfig::video(1, 96).with_retransmissions(2, 97))?;
    while begin.elapsed().as_secs() < seconds {
        let now = clock.send_time(Instant::now());
        if begin.elapsed() >= FRAME * frames {
            let share = if begin.elapsed().as_secs() < still { 1 } else { 20 };
            let frame = vec![0; endpoint.target().media_rate.bps() as usize / 240 / share];
            for (n, payload) in frame.chunks(1200).enumerate() {
                let meta = PacketMeta::new(frames * 3000, (n + 1) * 1200 >= frame.len());
                endpoint.queue(now, video, payload.to_vec(), meta)?;
            }
            frames += 1;
        }
        endpoint.on_timeout(now)?;
        while let Some(packet) = endpoint.poll_packet(now, &mut buffer)? {
            socket.send(&buffer[..packet.length])?;
        }
        while let Some(length) = endpoint.poll_rtcp(now, &mut buffer)? {
            socket.send(&buffer[..length])?;
        }
        while endpoint.poll_event().is_some() {} // your encoder takes key frame requests from here
        let next = endpoint.next_timeout().map_or(begin + FRAME * frames, |due| clock.instant(due));
        let wait = next.min(begin + FRAME * frames).saturating_duration_since(Instant::now());
        socket.set_read_timeout(Some(wait.max(Duration::from_micros(100))))?;
        if let Ok(length) = socket.recv(&mut buffer) {
            endpoint.on_rtcp(clock.send_time(Instant::now()), &buffer[..length])?;
        }
    }
    Ok(())
}

/// Receives for some seconds; returns the bytes of each, with IP and UDP headers.
pub(crate) fn receive(socket: &UdpSocket, seconds: usize) -> Result<Vec<usize>, Failure> {
    let (begin, mut bytes, mut buffer) = (Instant::now(), vec![0; seconds], [0; 1500]);
    let clock = MonotonicClock::new(begin);
    let mut endpoint = ReceivingEndpoint::new(ReceivingConfig::new(3))?;
    let retransmission = Some(RetransmissionStream { ssrc: 2, payload_type: 97 });
    endpoint.add_stream(IncomingStream { retransmission, nack: true, ..IncomingStream::new(1, 90_000) })?;
    socket.connect(socket.peek_from(&mut buffer)?.1)?;
    socket.set_read_timeout(Some(Duration::from_millis(1)))?;
    while let Some(second) = bytes.get_mut(begin.elapsed().as_secs() as usize) {
        if let Ok(length) = socket.recv(&mut buffer) {
            *second += length + 28;
            // The bytes of a returned packet's payload go to your jitter buffer.
            endpoint.on_datagram(clock.arrival_time(Instant::now()), &buffer[..length], Ecn::NotEct)?;
        }
        while let Some(length) = endpoint.poll_report(clock.arrival_time(Instant::now()), &mut buffer) {
            socket.send(&buffer[..length])?;
        }
    }
    Ok(bytes)
}
