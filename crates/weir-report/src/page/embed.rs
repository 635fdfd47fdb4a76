//! Compressed text that the page inflates itself.

use std::io::{self, Write};
use std::sync::OnceLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;

/// `text` in zlib's format (RFC 1950), in base64.
pub(super) fn compress(text: &str) -> String {
    let deflate = || -> io::Result<Vec<u8>> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text.as_bytes())?;
        encoder.finish()
    };
    // Writing to memory does not fail.
    STANDARD.encode(deflate().unwrap_or_default())
}

/// The plotting library, compressed; it takes a moment once per process.
pub(super) fn library() -> &'static str {
    static COMPRESSED: OnceLock<String> = OnceLock::new();
    COMPRESSED.get_or_init(|| compress(include_str!("vendor/uplot/uPlot.iife.min.js")))
}

#[cfg(test)]
pub(super) fn decompress(text: &str) -> String {
    use std::io::Read;
    let bytes = STANDARD.decode(text).unwrap();
    let mut inflated = String::new();
    flate2::read::ZlibDecoder::new(bytes.as_slice()).read_to_string(&mut inflated).unwrap();
    inflated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_data_can_be_inflated() {
        let text = "weir ".repeat(1000);
        let compressed = compress(&text);
        assert!(compressed.len() < 100);
        assert_eq!(decompress(&compressed), text);
    }

    #[test]
    fn the_library_is_uplot_and_small() {
        let script = decompress(library());
        assert!(script.contains("uPlot (v1.6.32)"), "{}", &script[..60]);
        assert!(!script.contains("</script"));
        assert!(library().len() < 40_000, "{}", library().len());
    }
}
