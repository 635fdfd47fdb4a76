//! HTTP requests, judged by their header alone: one page, and one WebSocket.

use tungstenite::handshake::derive_accept_key;

use crate::refusals::RequestRefusal;

/// Bytes of a header at most.
pub(crate) const HEADER_LIMIT: usize = 8 * 1024;
/// Path of the WebSocket.
const SOCKET: &str = "/call";

/// The judgement of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestVerdict {
    /// The header is not complete.
    Incomplete,
    /// The page.
    Page,
    /// The WebSocket, whose handshake is complete with this key; `end` is the length of the header.
    Socket {
        /// Value of `Sec-WebSocket-Accept`.
        accept: String,
        /// Bytes of the header.
        end: usize,
    },
    /// Something that a browser asks for by itself and does not exist.
    Missing,
    /// A refusal.
    Refused(RequestRefusal),
}

/// Judges what has been read of a request to the server at `port`.
pub(crate) fn judge(bytes: &[u8], port: u16) -> RequestVerdict {
    let Some(end) = bytes.windows(4).take(HEADER_LIMIT).position(|window| window == b"\r\n\r\n") else {
        let too_long = bytes.len() > HEADER_LIMIT;
        return if too_long {
            RequestVerdict::Refused(RequestRefusal::Header)
        } else {
            RequestVerdict::Incomplete
        };
    };
    if end + 4 > HEADER_LIMIT {
        return RequestVerdict::Refused(RequestRefusal::Header);
    }
    let refused = RequestVerdict::Refused(RequestRefusal::Request);
    let Some(header) = RequestHeader::read(&bytes[..end]) else { return refused };
    let host = header.only("host");
    let own = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let Some(host) = host.filter(|host| own.iter().any(|own| own == host)) else {
        return RequestVerdict::Refused(RequestRefusal::Host);
    };
    let has_body = ["content-length", "transfer-encoding"].iter().any(|name| header.has(name));
    if header.method != "GET" || has_body {
        return refused;
    }
    match header.target {
        "/" if !header.has("upgrade") => RequestVerdict::Page,
        "/favicon.ico" => RequestVerdict::Missing,
        SOCKET => {
            if header.only("origin") != Some(&format!("http://{host}")) {
                return RequestVerdict::Refused(RequestRefusal::Origin);
            }
            let is = |name: &str, value: &str| {
                header.only(name).is_some_and(|own| own.eq_ignore_ascii_case(value))
            };
            let upgrades =
                header.only("connection").is_some_and(|own| own.to_ascii_lowercase().contains("upgrade"));
            match header.only("sec-websocket-key") {
                Some(key) if is("upgrade", "websocket") && is("sec-websocket-version", "13") && upgrades => {
                    RequestVerdict::Socket { accept: derive_accept_key(key.as_bytes()), end: end + 4 }
                }
                _ => refused,
            }
        }
        _ => refused,
    }
}

/// The header of a request.
struct RequestHeader<'a> {
    method: &'a str,
    target: &'a str,
    fields: Vec<(String, &'a str)>,
}

impl<'a> RequestHeader<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok().filter(|text| text.is_ascii())?;
        let mut lines = text.split("\r\n");
        let mut begin = lines.next()?.split(' ');
        let (method, target) = (begin.next()?, begin.next()?);
        if begin.next() != Some("HTTP/1.1") || begin.next().is_some() {
            return None;
        }
        let field = |line: &'a str| {
            let (name, value) = line.split_once(':')?;
            let is_token = !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
            let is_plain = value.bytes().all(|byte| byte == b'\t' || !byte.is_ascii_control());
            (is_token && is_plain).then(|| (name.to_ascii_lowercase(), value.trim()))
        };
        Some(Self { method, target, fields: lines.map(field).collect::<Option<_>>()? })
    }

    fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(own, _)| own == name)
    }

    /// The value of a field that occurs once.
    fn only(&self, name: &str) -> Option<&'a str> {
        let mut values = self.fields.iter().filter(|(own, _)| own == name).map(|&(_, value)| value);
        values.next().filter(|_| values.next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: fn(RequestRefusal) -> RequestVerdict = RequestVerdict::Refused;

    fn page(fields: &str) -> RequestVerdict {
        judge(format!("GET / HTTP/1.1\r\n{fields}\r\n\r\n").as_bytes(), 5000)
    }

    fn socket(host: &str, origin: &str) -> RequestVerdict {
        let upgrade = "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
        judge(
            format!("GET /call HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\n{upgrade}\r\n\r\n").as_bytes(),
            5000,
        )
    }

    #[test]
    fn the_host_is_exactly_that_of_the_page() {
        assert_eq!(page("Host: 127.0.0.1:5000"), RequestVerdict::Page);
        assert_eq!(page("host: localhost:5000"), RequestVerdict::Page);
        let foreign = [
            "Host: 127.0.0.1",
            "Host: 127.0.0.1:5001",
            "Host: localhost.example:5000",
            "Host: example.org:5000",
            "Host: LOCALHOST:5000",
            "Host: 127.0.0.1:5000.",
            "Host: [::1]:5000",
            "Host: 127.0.0.1:5000\r\nHost: example.org",
            "Accept: x",
        ];
        for fields in foreign {
            assert_eq!(page(fields), REFUSED(RequestRefusal::Host), "{fields}");
        }
    }

    #[test]
    fn the_origin_is_that_page() {
        // The example of RFC 6455 §1.3.
        let accepted = RequestVerdict::Socket { accept: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=".to_owned(), end: 200 };
        assert_eq!(socket("127.0.0.1:5000", "http://127.0.0.1:5000"), accepted);
        let foreign = [
            "null",
            "http://127.0.0.1:5001",
            "https://127.0.0.1:5000",
            "http://localhost:5000",
            "http://example.org",
            "http://127.0.0.1:5000.example.org",
        ];
        for origin in foreign {
            assert_eq!(socket("127.0.0.1:5000", origin), REFUSED(RequestRefusal::Origin), "{origin}");
        }
        assert_eq!(socket("example.org:5000", "http://example.org:5000"), REFUSED(RequestRefusal::Host));
    }

    #[test]
    fn all_else_is_refused() {
        let host = "Host: 127.0.0.1:5000";
        let refused = [
            format!("POST / HTTP/1.1\r\n{host}\r\n\r\n"),
            format!("GET / HTTP/1.0\r\n{host}\r\n\r\n"),
            format!("GET /other HTTP/1.1\r\n{host}\r\n\r\n"),
            format!("GET / HTTP/1.1\r\n{host}\r\nContent-Length: 5\r\n\r\n"),
            format!("GET / HTTP/1.1\r\n {host}\r\n\r\n"),
            format!("GET / HTTP/1.1\r\n{host}\r\nX: \u{e9}\r\n\r\n"),
            format!("GET /call HTTP/1.1\r\n{host}\r\nOrigin: http://127.0.0.1:5000\r\n\r\n"),
        ];
        for request in refused {
            assert_eq!(judge(request.as_bytes(), 5000), REFUSED(RequestRefusal::Request), "{request}");
        }
        assert_eq!(
            judge(format!("GET /favicon.ico HTTP/1.1\r\n{host}\r\n\r\n").as_bytes(), 5000),
            RequestVerdict::Missing
        );
    }

    #[test]
    fn a_header_has_an_end_and_a_limit() {
        assert_eq!(judge(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:5000\r\n", 5000), RequestVerdict::Incomplete);
        let long = |length: usize| page(&format!("Host: 127.0.0.1:5000\r\nX: {}", "x".repeat(length)));
        assert_eq!(long(8000), RequestVerdict::Page);
        assert_eq!(long(8200), REFUSED(RequestRefusal::Header));
        assert_eq!(judge(&vec![b'x'; HEADER_LIMIT + 1], 5000), REFUSED(RequestRefusal::Header));
        assert_eq!(judge(&vec![b'x'; HEADER_LIMIT], 5000), RequestVerdict::Incomplete);
    }
}
