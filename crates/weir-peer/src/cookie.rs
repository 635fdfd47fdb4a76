//! Cookies: proofs that a caller receives what is sent to its address, without state for it.

use std::net::{IpAddr, SocketAddr};

use weir_net::Time;
use weir_units::TimeDelta;

use crate::keys::HandshakeNonce;
use crate::protection::PacketKey;
use crate::random::RandomBytes;

/// Time for which the key of new cookies is used. The key before it is still valid for as long.
pub const COOKIE_KEY_LIFE: TimeDelta = TimeDelta::from_secs(60);
/// Bytes of a cookie: its time, and a hash.
pub const COOKIE_LENGTH: usize = 8 + 32;

/// Makes and checks cookies: HMAC-SHA-256 over address, port, nonce and time, under a random key of the process.
#[derive(Debug)]
pub struct CookieJar {
    present: PacketKey,
    /// The time from which on the present key is used.
    since: Time,
    former: Option<PacketKey>,
}

impl CookieJar {
    /// A jar whose first key is drawn now.
    pub fn new(now: Time, random: &mut dyn RandomBytes) -> Self {
        Self { present: draw(random), since: now, former: None }
    }

    /// A cookie for the caller at `from` with this nonce.
    pub fn bake(
        &mut self,
        now: Time,
        from: SocketAddr,
        nonce: &HandshakeNonce,
        random: &mut dyn RandomBytes,
    ) -> [u8; COOKIE_LENGTH] {
        self.turn(now, random);
        let mut cookie = [0; COOKIE_LENGTH];
        let (time, hash) = cookie.split_at_mut(8);
        time.copy_from_slice(&now.nanos().to_be_bytes());
        hash.copy_from_slice(&self.present.hash(&parts(&place(from), nonce, time)));
        cookie
    }

    /// Whether this jar made `cookie` for the caller at `from` with this nonce, under a key that is still valid.
    pub fn accepts(
        &mut self,
        now: Time,
        from: SocketAddr,
        nonce: &HandshakeNonce,
        cookie: &[u8; COOKIE_LENGTH],
        random: &mut dyn RandomBytes,
    ) -> bool {
        self.turn(now, random);
        let (time, hash) = cookie.split_at(8);
        let place = place(from);
        let keys = std::iter::once(&self.present).chain(&self.former);
        keys.map(|key| key.verifies(&parts(&place, nonce, time), hash)).fold(false, |any, fits| any | fits)
    }

    /// Draws a new key if the life of the present one is over.
    fn turn(&mut self, now: Time, random: &mut dyn RandomBytes) {
        let age = now - self.since;
        if age < COOKIE_KEY_LIFE {
            return;
        }
        let before = core::mem::replace(&mut self.present, draw(random));
        // After a long rest the last key is too old, too.
        self.former = (age < COOKIE_KEY_LIFE * 2).then_some(before);
        self.since = now;
    }
}

fn draw(random: &mut dyn RandomBytes) -> PacketKey {
    let mut bytes = [0; 32];
    random.fill(&mut bytes);
    PacketKey::new(&bytes)
}

/// Address and port as bytes of one length.
fn place(from: SocketAddr) -> [u8; 18] {
    let mut place = [0; 18];
    let address = match from.ip() {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    place[..16].copy_from_slice(&address.octets());
    place[16..].copy_from_slice(&from.port().to_be_bytes());
    place
}

fn parts<'a>(place: &'a [u8], nonce: &'a HandshakeNonce, time: &'a [u8]) -> [&'a [u8]; 3] {
    [place, nonce, time]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::RepeatableRandom;

    const AT: fn(u64) -> Time = Time::from_millis;

    fn caller() -> SocketAddr {
        "192.0.2.7:5000".parse().unwrap()
    }

    #[test]
    fn a_cookie_is_valid_for_its_address_port_and_nonce_alone() {
        let random = &mut RepeatableRandom::new(1);
        let mut jar = CookieJar::new(AT(0), random);
        let cookie = jar.bake(AT(10), caller(), &[3; 16], random);
        assert!(jar.accepts(AT(20), caller(), &[3; 16], &cookie, random));
        for other in ["192.0.2.8:5000", "192.0.2.7:5001", "[2001:db8::7]:5000"] {
            assert!(!jar.accepts(AT(20), other.parse().unwrap(), &[3; 16], &cookie, random), "{other}");
        }
        assert!(!jar.accepts(AT(20), caller(), &[4; 16], &cookie, random));
        for bit in 0..8 * COOKIE_LENGTH {
            let mut other = cookie;
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(!jar.accepts(AT(20), caller(), &[3; 16], &other, random), "bit {bit}");
        }
        assert!(!CookieJar::new(AT(0), random).accepts(AT(20), caller(), &[3; 16], &cookie, random));
    }

    #[test]
    fn a_key_is_valid_until_the_one_after_it_is_over() {
        let random = &mut RepeatableRandom::new(2);
        let mut jar = CookieJar::new(AT(0), random);
        let early = jar.bake(AT(1), caller(), &[3; 16], random);
        let late = jar.bake(AT(59_999), caller(), &[3; 16], random);
        assert!(jar.accepts(AT(60_000), caller(), &[3; 16], &late, random), "the key before it is valid");
        assert!(jar.accepts(AT(119_999), caller(), &[3; 16], &early, random));
        let next = jar.bake(AT(119_999), caller(), &[3; 16], random);
        assert!(!jar.accepts(AT(120_000), caller(), &[3; 16], &late, random));
        assert!(jar.accepts(AT(120_000), caller(), &[3; 16], &next, random));
        assert!(
            !jar.accepts(AT(900_000), caller(), &[3; 16], &next, random),
            "nobody called for a long time"
        );
    }
}
