//! Video clips: VP8 in IVF, a file of frames with their sizes.
//!
//! A file has a header of 32 bytes and, before each frame, one of 12. Lengths in the file are compared with what is
//! there, and nothing is allocated by them.

use std::fmt;
use std::sync::Arc;

/// Bytes of the file's header.
const FILE_HEADER: usize = 32;
/// Bytes before each frame.
const FRAME_HEADER: usize = 12;
/// Largest frame, in bytes: a second at the highest rate of a call.
const LARGEST_FRAME: usize = 1_250_000;
/// Most frames of a clip.
const MOST_FRAMES: usize = 18_000;
/// RFC 6386 §9.1: the bytes behind the frame tag of a key frame.
const START_CODE: [u8; 3] = [0x9d, 0x01, 0x2a];

/// Why a file is no clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IvfError {
    /// The file does not begin as IVF does.
    NotIvf,
    /// Its codec is not VP8.
    NotVp8,
    /// The rate of pictures is not between 1 and 120 in a second.
    FrameRate,
    /// A frame goes beyond the end of the file, or is larger than a frame may be.
    Length {
        /// Number of the frame, from 0 on.
        frame: usize,
    },
    /// A frame is no frame of VP8.
    Frame {
        /// Number of the frame, from 0 on.
        frame: usize,
    },
    /// The first frame is no key frame.
    NoKeyFrame,
    /// There is no frame, or there are more than 18 000.
    Frames,
}

impl fmt::Display for IvfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotIvf => {
                f.write_str("it is no IVF file; `ffmpeg -i FILE -c:v libvpx clip.ivf` writes one")
            }
            Self::NotVp8 => {
                f.write_str("its video is not VP8; `ffmpeg -i FILE -c:v libvpx clip.ivf` makes it so")
            }
            Self::FrameRate => f.write_str("its frame rate is not between 1 and 120 pictures/s"),
            Self::Length { frame } => {
                write!(f, "frame {frame} is longer than the rest of the file, or than {LARGEST_FRAME} bytes")
            }
            Self::Frame { frame } => write!(f, "frame {frame} is no frame of VP8"),
            Self::NoKeyFrame => f.write_str("its first frame is no key frame"),
            Self::Frames => write!(f, "it must have 1 to {MOST_FRAMES} frames"),
        }
    }
}

impl std::error::Error for IvfError {}

/// A frame of a clip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClipFrame {
    /// The frame of VP8.
    pub bytes: Arc<[u8]>,
    /// Whether it is a key frame.
    pub key: bool,
}

/// A clip.
#[derive(Clone, Debug, PartialEq)]
pub struct IvfClip {
    /// Pictures in a second.
    pub frame_rate: f64,
    /// The frames; the first is a key frame.
    pub frames: Vec<ClipFrame>,
}

impl IvfClip {
    /// Reads a file.
    ///
    /// # Errors
    /// The file is no clip.
    pub fn read(file: &[u8]) -> Result<Self, IvfError> {
        let header =
            file.get(..FILE_HEADER).filter(|header| header.starts_with(b"DKIF")).ok_or(IvfError::NotIvf)?;
        if header[8..12] != *b"VP80" {
            return Err(IvfError::NotVp8);
        }
        let frame_rate = f64::from(word(header, 16)) / f64::from(word(header, 20));
        if !(1.0..=120.0).contains(&frame_rate) {
            return Err(IvfError::FrameRate);
        }
        let mut rest = file
            .get(usize::from(u16::from_le_bytes([header[6], header[7]])).max(FILE_HEADER)..)
            .unwrap_or(&[]);
        let mut frames = Vec::new();
        while !rest.is_empty() {
            let frame = frames.len();
            let beyond = IvfError::Length { frame };
            let size = word(rest.get(..FRAME_HEADER).ok_or(beyond)?, 0) as usize;
            let bytes = rest[FRAME_HEADER..].get(..size).filter(|_| size <= LARGEST_FRAME).ok_or(beyond)?;
            let key = is_key(bytes).ok_or(IvfError::Frame { frame })?;
            if frame == MOST_FRAMES {
                return Err(IvfError::Frames);
            }
            frames.push(ClipFrame { bytes: bytes.into(), key });
            rest = &rest[FRAME_HEADER + size..];
        }
        match frames.first() {
            None => Err(IvfError::Frames),
            Some(first) if !first.key => Err(IvfError::NoKeyFrame),
            Some(_) => Ok(Self { frame_rate, frames }),
        }
    }

    /// Mean rate of the frames, in bit/s.
    pub fn rate(&self) -> f64 {
        let bytes: usize = self.frames.iter().map(|frame| frame.bytes.len()).sum();
        bytes as f64 * 8.0 * self.frame_rate / self.frames.len() as f64
    }
}

/// The little-endian word at `place`.
fn word(bytes: &[u8], place: usize) -> u32 {
    u32::from_le_bytes([bytes[place], bytes[place + 1], bytes[place + 2], bytes[place + 3]])
}

/// Whether a frame of VP8 is a key frame (RFC 6386 §9.1), or `None` for other bytes.
fn is_key(bytes: &[u8]) -> Option<bool> {
    let tag = bytes.get(..3)?;
    let key = tag[0] & 1 == 0;
    let first_partition = (u32::from(tag[0]) | u32::from(tag[1]) << 8 | u32::from(tag[2]) << 16) >> 5;
    let begin = if key { 10 } else { 3 };
    let starts = !key || bytes.get(3..6) == Some(&START_CODE);
    (starts && bytes.len() >= begin + first_partition as usize).then_some(key)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A frame of `size` bytes with an empty first partition.
    pub(crate) fn frame(key: bool, size: usize) -> Vec<u8> {
        let mut bytes = vec![7; size];
        bytes[..3].copy_from_slice(&[u8::from(!key), 0, 0]);
        if key {
            bytes[3..6].copy_from_slice(&START_CODE);
        }
        bytes
    }

    /// A file of 30 pictures/s with these frames.
    pub(crate) fn file(frames: &[Vec<u8>]) -> Vec<u8> {
        let mut file = b"DKIF\0\0\x20\0VP80\x80\x02\x68\x01".to_vec();
        file.extend_from_slice(&30_u32.to_le_bytes());
        file.extend_from_slice(&1_u32.to_le_bytes());
        file.extend_from_slice(&[0; 8]);
        for (number, frame) in frames.iter().enumerate() {
            file.extend_from_slice(&(frame.len() as u32).to_le_bytes());
            file.extend_from_slice(&(number as u64).to_le_bytes());
            file.extend_from_slice(frame);
        }
        file
    }

    #[test]
    fn a_file_gives_its_frames() {
        let frames = [frame(true, 100), frame(false, 20), frame(false, 30)];
        let clip = IvfClip::read(&file(&frames)).unwrap();
        assert_eq!(clip.frames.iter().map(|frame| frame.key).collect::<Vec<_>>(), [true, false, false]);
        assert!(clip.frames.iter().zip(&frames).all(|(read, written)| *read.bytes == **written));
        // 150 bytes in a tenth of a second.
        assert_eq!(clip.rate(), 12_000.0);
    }

    #[test]
    fn a_file_that_is_no_clip_is_refused_with_its_reason() {
        let good = file(&[frame(true, 100), frame(false, 20)]);
        let changed = |place: usize, byte| {
            let mut file = good.clone();
            file[place] = byte;
            IvfClip::read(&file)
        };
        assert_eq!(IvfClip::read(b"RIFF"), Err(IvfError::NotIvf));
        assert_eq!(changed(0, b'X'), Err(IvfError::NotIvf));
        assert_eq!(changed(11, b'8'), Err(IvfError::NotVp8));
        assert_eq!(changed(16, 0), Err(IvfError::FrameRate));
        assert_eq!(changed(20, 0), Err(IvfError::FrameRate));
        assert_eq!(changed(44 + 100 + 3, 0xff), Err(IvfError::Length { frame: 1 }));
        assert_eq!(changed(44 + 3, 0), Err(IvfError::Frame { frame: 0 }));
        assert_eq!(changed(44 + 2, 0xff), Err(IvfError::Frame { frame: 0 }));
        assert_eq!(IvfClip::read(&good[..32]), Err(IvfError::Frames));
        for cut in 33..good.len() {
            let expected =
                if cut == 44 + 100 { None } else { Some(IvfError::Length { frame: usize::from(cut > 144) }) };
            assert_eq!(IvfClip::read(&good[..cut]).err(), expected, "{cut} bytes");
        }
        assert_eq!(IvfClip::read(&file(&[frame(false, 20)])), Err(IvfError::NoKeyFrame));
    }
}
