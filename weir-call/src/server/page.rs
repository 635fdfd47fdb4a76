//! The page: one document without external resources.

const DOCUMENT: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/page.css");
const SCRIPTS: [&str; 3] =
    [include_str!("../page/chart.js"), include_str!("../page/decisions.js"), include_str!("../page/call.js")];

/// The response with the page, whose style and script have the nonce.
pub(crate) fn page(nonce: &str) -> Vec<u8> {
    let document = DOCUMENT
        .replace("NONCE", nonce)
        .replace("/* style */", STYLE)
        .replace("/* script */", &SCRIPTS.concat());
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    response("200 OK", "text/html", &policy, document.as_bytes())
}

/// A response that is a sentence.
pub(crate) fn sentence(status: &str, text: &str) -> Vec<u8> {
    response(status, "text/plain", "default-src 'none'; frame-ancestors 'none'", text.as_bytes())
}

fn response(status: &str, kind: &str, policy: &str, body: &[u8]) -> Vec<u8> {
    let mut response = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\n\
         Content-Security-Policy: {policy}\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n\
         Cache-Control: no-store\r\nCross-Origin-Resource-Policy: same-origin\r\n\
         Cross-Origin-Opener-Policy: same-origin\r\nConnection: close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    response.extend_from_slice(body);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_whole_and_without_external_resources() {
        let page = String::from_utf8(page("abc")).unwrap();
        let (header, body) = page.split_once("\r\n\r\n").unwrap();
        assert!(header.contains("script-src 'nonce-abc'") && !header.contains("unsafe"), "{header}");
        assert_eq!(body.matches("nonce=\"abc\"").count(), 2);
        for missing in [
            "NONCE",
            "/* style */",
            "/* script */",
            "innerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "style=\"",
            "src=\"http",
            "@import",
            "url(",
        ] {
            assert!(!body.contains(missing), "{missing}");
        }
    }
}
