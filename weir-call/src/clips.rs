//! The picture: the same video at several rates, of which the target chooses.

use std::fmt;
use std::sync::Arc;

use weir_units::DataRate;

use crate::ivf::{ClipFrame, IvfClip, IvfError};

/// The clips that ship: 640×360, 30 pictures/s, a key frame a second.
const BUILT_IN: [&[u8]; 6] = [
    include_bytes!("../clips/100k.ivf"),
    include_bytes!("../clips/200k.ivf"),
    include_bytes!("../clips/400k.ivf"),
    include_bytes!("../clips/700k.ivf"),
    include_bytes!("../clips/1100k.ivf"),
    include_bytes!("../clips/1700k.ivf"),
];
/// Share of the target that a clip may have at most where one is chosen.
const CHOSEN_SHARE: f64 = 0.95;
/// Share of the target above which a clip is left before its next key frame.
const LEFT_SHARE: f64 = 1.15;

/// Why clips are no set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClipError {
    /// A file is no clip.
    File {
        /// Its place among the files, from 0 on.
        file: usize,
        /// Why.
        error: IvfError,
    },
    /// There is no clip.
    None,
    /// A clip has other frames, key frames or another frame rate than the first.
    Different {
        /// Its place among the files, from 0 on.
        file: usize,
    },
}

impl fmt::Display for ClipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { error, .. } => error.fmt(f),
            Self::None => f.write_str("there is no clip"),
            Self::Different { .. } => f.write_str(
                "it differs from the first clip in frame rate, number of frames or places of key frames; all must be the same video",
            ),
        }
    }
}

impl std::error::Error for ClipError {}

/// Clips of the same video, in order of their rates.
#[derive(Clone, Debug)]
pub struct ClipSet {
    clips: Arc<Vec<IvfClip>>,
}

impl ClipSet {
    /// The clips that ship.
    ///
    /// # Panics
    /// Never: a test reads them.
    pub fn built_in() -> Self {
        Self::read(BUILT_IN).expect("the clips that ship are clips")
    }

    /// The clips in these files.
    ///
    /// # Errors
    /// A file is no clip, or of another video.
    pub fn read<'a>(files: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, ClipError> {
        let clip = |(file, bytes): (usize, &[u8])| {
            IvfClip::read(bytes).map_err(|error| ClipError::File { file, error })
        };
        let mut clips = files.into_iter().enumerate().map(clip).collect::<Result<Vec<_>, _>>()?;
        let first = clips.first().ok_or(ClipError::None)?;
        let same = |clip: &IvfClip| {
            let keys = |clip: &IvfClip| clip.frames.iter().map(|frame| frame.key).collect::<Vec<_>>();
            clip.frame_rate == first.frame_rate && keys(clip) == keys(first)
        };
        if let Some(file) = clips.iter().position(|clip| !same(clip)) {
            return Err(ClipError::Different { file });
        }
        clips.sort_by(|one, other| one.rate().total_cmp(&other.rate()));
        Ok(Self { clips: Arc::new(clips) })
    }

    /// Pictures in a second.
    pub fn frame_rate(&self) -> f64 {
        self.clips[0].frame_rate
    }

    /// Rates of the clips in bit/s, in ascending order.
    pub fn rates(&self) -> impl Iterator<Item = f64> {
        self.clips.iter().map(IvfClip::rate)
    }
}

/// The place in a set of clips.
#[derive(Clone, Debug)]
pub struct ClipPlayer {
    clips: ClipSet,
    clip: usize,
    next: usize,
    key_wanted: bool,
}

impl ClipPlayer {
    /// A player before the first frame.
    pub fn new(clips: ClipSet) -> Self {
        Self { clips, clip: 0, next: 0, key_wanted: false }
    }

    /// Pictures in a second.
    pub fn frame_rate(&self) -> f64 {
        self.clips.frame_rate()
    }

    /// Lets the next frame be a key frame: the video jumps ahead to the next one.
    pub fn request_key_frame(&mut self) {
        self.key_wanted = true;
    }

    /// The next frame under a target. The clip changes at key frames alone; a target far below the clip's rate ends it at
    /// once, by a jump to the next key frame.
    pub fn next(&mut self, target: DataRate) -> ClipFrame {
        let clips = &self.clips.clips;
        let fits =
            |share: f64| clips.iter().rposition(|clip| clip.rate() <= target.bps_f64() * share).unwrap_or(0);
        let is_above = self.clip > fits(LEFT_SHARE);
        if self.key_wanted || is_above {
            while !clips[self.clip].frames[self.next].key {
                self.next = (self.next + 1) % clips[self.clip].frames.len();
            }
            self.key_wanted = false;
        }
        if clips[self.clip].frames[self.next].key {
            self.clip = fits(CHOSEN_SHARE);
        }
        let frames = &clips[self.clip].frames;
        let frame = frames[self.next].clone();
        self.next = (self.next + 1) % frames.len();
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ivf::tests::{file, frame};

    /// Two clips of four frames, of 24 and 240 kbit/s.
    fn two() -> ClipSet {
        let clip = |size: usize| {
            file(&[frame(true, size), frame(false, size), frame(true, size), frame(false, size)])
        };
        ClipSet::read([&*clip(1000), &*clip(100)]).unwrap()
    }

    fn sizes(player: &mut ClipPlayer, kbps: u64, count: usize) -> Vec<(usize, bool)> {
        let mut next = || player.next(DataRate::from_kbps(kbps));
        (0..count).map(|_| next()).map(|frame| (frame.bytes.len(), frame.key)).collect()
    }

    #[test]
    fn the_clip_changes_at_a_key_frame() {
        let mut player = ClipPlayer::new(two());
        assert_eq!(two().rates().collect::<Vec<_>>(), [24_000.0, 240_000.0]);
        assert_eq!(sizes(&mut player, 100, 1), [(100, true)]);
        assert_eq!(sizes(&mut player, 300, 3), [(100, false), (1000, true), (1000, false)]);
        // 240 kbit/s are below 1.15 · 210, and above 0.95 · 210.
        assert_eq!(sizes(&mut player, 210, 3), [(100, true), (100, false), (100, true)]);
    }

    #[test]
    fn a_fall_and_a_request_jump_to_the_next_key_frame() {
        let mut player = ClipPlayer::new(two());
        assert_eq!(sizes(&mut player, 300, 1), [(1000, true)]);
        assert_eq!(sizes(&mut player, 100, 2), [(100, true), (100, false)]);
        sizes(&mut player, 100, 1);
        player.request_key_frame();
        assert_eq!(sizes(&mut player, 100, 2), [(100, true), (100, false)]);
    }

    #[test]
    fn clips_of_different_videos_are_refused() {
        let good = file(&[frame(true, 50), frame(false, 50)]);
        let other = file(&[frame(true, 50), frame(true, 50)]);
        assert_eq!(ClipSet::read([&*good, &*other]).unwrap_err(), ClipError::Different { file: 1 });
        let broken = ClipError::File { file: 1, error: IvfError::NotIvf };
        assert_eq!(ClipSet::read([&*good, b"no"]).unwrap_err(), broken);
        assert_eq!(ClipSet::read([]).unwrap_err(), ClipError::None);
    }

    #[test]
    fn the_clips_that_ship_are_six_from_100_kbps_on() {
        let clips = ClipSet::built_in();
        let rates: Vec<f64> = clips.rates().collect();
        assert_eq!((rates.len(), clips.frame_rate()), (6, 30.0));
        assert!((80e3..=110e3).contains(&rates[0]) && rates[5] > 1.4e6, "{rates:?}");
        assert!(rates.windows(2).all(|pair| pair[1] > 1.3 * pair[0]), "{rates:?}");
        assert!(BUILT_IN.iter().map(|clip| clip.len()).sum::<usize>() <= 3_000_000);
        let gaps: Vec<usize> =
            (0..clips.clips[0].frames.len()).filter(|&n| clips.clips[0].frames[n].key).collect();
        assert!(gaps.windows(2).all(|pair| pair[1] - pair[0] == 30), "{gaps:?}");
    }
}
