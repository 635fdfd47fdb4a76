//! A part of many runs, for one of several machines.

use std::fmt;
use std::str::FromStr;

/// The runs of one shard out of `of`: every `of`-th, from `index` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    of: usize,
}

impl Shard {
    /// The only shard, with all runs.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// The elements of `runs` that belong to this shard.
    pub(crate) fn of<T>(self, runs: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
        runs.skip(self.index).step_by(self.of)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    /// `I/N`: the I-th of N, counted from 1.
    fn from_str(text: &str) -> Result<Self, String> {
        let parts =
            text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((index @ 1.., of)) if index <= of => Ok(Self { index: index - 1, of }),
            _ => Err(format!("`{text}` is no shard: write `I/N`, the I-th of N from 1 on, such as `2/8`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shards_have_every_run_once() {
        for of in 1..=7 {
            let shards: Vec<Shard> = (1..=of).map(|index| format!("{index}/{of}").parse().unwrap()).collect();
            let mut made: Vec<usize> = shards.iter().flat_map(|shard| shard.of(0..100)).collect();
            made.sort_unstable();
            assert!(made.into_iter().eq(0..100));
        }
        assert!(Shard::WHOLE.of(0..100).eq(0..100));
    }

    #[test]
    fn a_malformed_shard_is_refused() {
        for text in ["", "1", "0/3", "4/3", "a/b", "1/0", "-1/2", "1/2/3"] {
            assert!(text.parse::<Shard>().unwrap_err().contains("write `I/N`"), "{text}");
        }
        assert_eq!("2/8".parse::<Shard>().unwrap().to_string(), "2/8");
    }
}
