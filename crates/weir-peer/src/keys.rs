//! Keys of sessions, from a key that both ends share (HKDF-SHA-256, RFC 5869).

use hkdf::Hkdf;
use sha2::Sha256;

use crate::protection::PacketKey;

/// Bytes of a nonce.
pub const NONCE_LENGTH: usize = 16;

/// Random bytes that an end draws for one handshake.
pub type HandshakeNonce = [u8; NONCE_LENGTH];

/// Fewest bytes of a shared key.
pub const KEY_LENGTH: usize = 32;

/// A key that both ends have, of at least [`KEY_LENGTH`] bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct SharedKey(Vec<u8>);

impl core::fmt::Debug for SharedKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("SharedKey(..)")
    }
}

impl SharedKey {
    /// A key of these bytes; `None` if there are too few.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        (bytes.len() >= KEY_LENGTH).then(|| Self(bytes.to_vec()))
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The keys that an end knows: none, one, or during a rotation two.
#[derive(Clone, Debug, Default)]
pub struct KeyRing {
    keys: Vec<SharedKey>,
}

impl KeyRing {
    /// No key. A reader of the handshake can compute the tags; only the return path is proved.
    pub const fn open() -> Self {
        Self { keys: Vec::new() }
    }

    /// A key, and during a rotation another one that is accepted as well. The first one is used for calls.
    pub fn new(first: SharedKey, second: Option<SharedKey>) -> Self {
        Self { keys: std::iter::once(first).chain(second).collect() }
    }

    /// Whether there is no key.
    pub fn is_open(&self) -> bool {
        self.keys.is_empty()
    }

    /// The secrets to try, in order; without a key an empty one.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &[u8]> {
        let without: Option<&[u8]> = self.is_open().then_some(&[]);
        self.keys.iter().map(SharedKey::bytes).chain(without)
    }

    /// The secret of calls.
    pub(crate) fn first(&self) -> &[u8] {
        self.keys.first().map_or(&[], SharedKey::bytes)
    }
}

/// The keys of both directions.
#[derive(Clone, Debug)]
pub struct DirectionKeys {
    /// The key of packets of the caller.
    pub caller: PacketKey,
    /// The key of packets of the listener.
    pub listener: PacketKey,
}

/// The keys of the handshake, before the listener has drawn a nonce.
pub(crate) fn hello_keys(secret: &[u8], caller: &HandshakeNonce) -> DirectionKeys {
    derive(secret, caller, "hello")
}

/// The keys of a session with these nonces. `secret` is empty in a session without a key.
pub fn session_keys(secret: &[u8], caller: &HandshakeNonce, listener: &HandshakeNonce) -> DirectionKeys {
    let mut salt = [0; 2 * NONCE_LENGTH];
    salt[..NONCE_LENGTH].copy_from_slice(caller);
    salt[NONCE_LENGTH..].copy_from_slice(listener);
    derive(secret, &salt, "session")
}

fn derive(secret: &[u8], salt: &[u8], purpose: &str) -> DirectionKeys {
    let extracted = Hkdf::<Sha256>::new(Some(salt), secret);
    let key = |direction: &str| {
        let mut bytes = [0; 32];
        let info = [b"weir peer 1, ", purpose.as_bytes(), b", ", direction.as_bytes()];
        extracted.expand_multi_info(&info, &mut bytes).expect("HKDF gives up to 255 times 32 bytes");
        PacketKey::new(&bytes)
    };
    DirectionKeys { caller: key("caller"), listener: key("listener") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_direction_session_purpose_and_secret_has_a_key_of_its_own() {
        let (a, b) = ([1; NONCE_LENGTH], [2; NONCE_LENGTH]);
        let all = [
            hello_keys(&[9; 32], &a),
            hello_keys(&[8; 32], &a),
            hello_keys(&[], &a),
            session_keys(&[9; 32], &a, &b),
            session_keys(&[9; 32], &b, &a),
            session_keys(&[9; 32], &a, &a),
            session_keys(&[8; 32], &a, &b),
            session_keys(&[], &a, &b),
        ];
        let tags: Vec<_> =
            all.iter().flat_map(|keys| [&keys.caller, &keys.listener].map(|key| key.hash(&[b"x"]))).collect();
        for (place, tag) in tags.iter().enumerate() {
            assert!(!tags[place + 1..].contains(tag), "{place}");
        }
    }

    #[test]
    fn a_short_key_is_none() {
        assert_eq!(SharedKey::new(&[1; 31]), None);
        let ring = KeyRing::new(SharedKey::new(&[1; 32]).unwrap(), SharedKey::new(&[2; 40]));
        assert_eq!(ring.secrets().map(<[u8]>::len).collect::<Vec<_>>(), [32, 40]);
        assert_eq!((ring.first(), ring.is_open()), (&[1; 32][..], false));
        assert_eq!((KeyRing::open().first(), KeyRing::open().secrets().count()), (&[][..], 1));
        assert!(!format!("{ring:?}").contains('1'), "{ring:?}");
    }
}
