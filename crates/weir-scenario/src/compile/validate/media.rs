//! Problems of media flows and audio.

use std::iter;

use weir_cc::RateLimits;
use weir_media::{AudioConfig, LADDER_RUNGS, RATE_STEPS};
use weir_units::{DataRate, DataSize, TimeDelta};

use super::Problems;
use crate::scenario::{BurstChoice, ChangedEncoder, EncoderChoice, Media, Step, Variant, is_one_name};
use weir_form::{KeyPath, advice};

/// Smallest and largest payload limit of a media packet.
const PAYLOAD_LIMITS: (DataSize, DataSize) = (DataSize::from_bytes(50), DataSize::from_bytes(9000));
/// Largest frame.
const LARGEST_FRAME: DataSize = DataSize::from_bytes(1_000_000);
/// Shortest RTCP interval; with a shorter one, RTCP would be most of the traffic.
const SHORTEST_RTCP_INTERVAL: TimeDelta = TimeDelta::from_millis(1);
/// Shortest interval of audio packets.
const SHORTEST_AUDIO: TimeDelta = TimeDelta::from_micros(2500);

impl Problems<'_> {
    pub(super) fn media(&mut self, media: &Media, path: &KeyPath) {
        self.encoder(media, &path.with("encoder"));
        if let Some(audio) = media.audio {
            self.audio(audio.config(), &path.with("audio"));
        }
        self.climb(media, &path.with("climb"));
        self.key_frame_requests(media, &path.with("key_frame_requests"));
        self.size(&path.with("payload_limit"), media.payload_limit, PAYLOAD_LIMITS);
        if media.rtcp_interval < SHORTEST_RTCP_INTERVAL {
            let message = format!("reports every {} are too many", media.rtcp_interval);
            let advice = format!("write at least {SHORTEST_RTCP_INTERVAL}");
            self.value(&path.with("rtcp_interval"), message).push_str(&advice);
        }
        let limits = match media.limits() {
            Ok(limits) => Some(limits),
            Err(error) => {
                let (min, start, max) = (media.rates.min, media.rates.start, media.max_rate());
                let path = path.with("rates");
                self.value(&path, format!("{error}; they are min {min}, start {start}, max {max}"))
                    .push_str("let `min`, `start` and `max` be in this order");
                None
            }
        };
        if self.controller_name(&media.controller, &path.with("controller"), iter::empty())
            && let Some(limits) = limits
        {
            self.controller(media, limits, path);
        }
    }

    fn climb(&mut self, media: &Media, path: &KeyPath) {
        if media.climb.is_some() && !media.encoder.config().has_layers() {
            self.key(path, format!("`{path}` has no meaning: the encoder makes one stream"))
                .push_str("leave it out, or take the encoder `simulcast`");
        }
    }

    fn key_frame_requests(&mut self, media: &Media, path: &KeyPath) {
        self.positive(path, media.key_frame_requests);
        if media.key_frame_requests.is_some() && !media.encoder.config().has_key_frames() {
            self.key(path, format!("`{path}` has no meaning: the encoder makes no key frames"))
                .push_str("leave it out, or let the encoder have `key_frames` or a `burst`");
        }
    }

    /// Whether there is a controller of this name.
    pub(super) fn controller_name<'n>(
        &mut self,
        name: &str,
        path: &KeyPath,
        variants: impl Iterator<Item = &'n str>,
    ) -> bool {
        let known = self.registry.known_names().any(|known| known == name);
        if !known {
            let mut names: Vec<&str> = variants.collect();
            self.registry.controller_names().for_each(|known| names.push(known));
            let advice = advice(name, names);
            self.value(path, format!("there is no controller `{name}`")).push_str(&advice);
        }
        known
    }

    /// A controller with options of its own.
    pub(super) fn variant(&mut self, name: &str, variant: &Variant, path: &KeyPath) {
        if self.registry.known_names().any(|known| known == name) {
            self.key(path, format!("`{name}` is the name of a controller"))
                .push_str("give the variant a name of its own");
        }
        if name.trim().is_empty()
            || !is_one_name(name)
            || name.contains('/')
            || name.contains(char::is_control)
        {
            self.key(path, format!("`{}` cannot be the name of a variant", name.escape_debug()))
                .push_str("write letters and digits, without commas and slashes");
        }
        let known = self.controller_name(&variant.controller, &path.with("controller"), iter::empty());
        // Any rates will do here: the flows' own rates are tried before any run.
        let kbps = DataRate::from_kbps;
        if let (true, Ok(limits)) = (known, RateLimits::new(kbps(150), kbps(300), kbps(2500)))
            && let Err(error) =
                self.registry.build(&variant.controller, Some(&variant.options.0), limits, 1.0)
        {
            let advice = format!("see the options of `{}`", variant.controller);
            self.value(&path.with("options"), error.to_string()).push_str(&advice);
        }
    }

    fn controller(&mut self, media: &Media, limits: RateLimits, path: &KeyPath) {
        let options = media.options.as_ref().map(|options| &options.0);
        if let Err(error) = self.registry.build(&media.controller, options, limits, media.priority) {
            let advice = format!("see the options of `{}`", media.controller);
            self.value(&path.with("options"), error.to_string()).push_str(&advice);
        }
    }

    fn encoder(&mut self, media: &Media, path: &KeyPath) {
        let config = media.encoder.config();
        let (min, max) = (config.min_rate, config.max_rate);
        if min.is_zero() || min > max {
            self.value(path, format!("the encoder's rates are out of order: from {min} to {max}"))
                .push_str("let 0 < `min_rate` ≤ `max_rate`");
        }
        self.not_negative(&path.with("reaction"), Some(config.reaction));
        self.positive(&path.with("skip_above"), config.skip_above);
        for key in media.encoder.meaningless() {
            let path = path.with(key);
            self.key(&path, format!("`{path}` has no meaning for this preset"))
                .push_str("leave it out, or take a `preset` that has it");
        }
        let EncoderChoice::Changed(changed) = &media.encoder else { return };
        if let Some(steps) = &changed.max_rates {
            self.max_rates(steps, changed, min, &path.with("max_rates"));
        }
        if let Some(size) = changed.packet_size {
            self.size(&path.with("packet_size"), size, (DataSize::from_bytes(1), media.payload_limit));
        }
        if let Some(BurstChoice::At(burst)) = changed.burst {
            let limits = (DataSize::from_bytes(1), LARGEST_FRAME);
            self.size(&path.with("burst").with("first"), burst.first, limits);
        }
        if let Some(ladder) = &changed.ladder {
            let rising = ladder.windows(2).all(|pair| pair[0] < pair[1]);
            let some = ladder.first().is_some_and(|rate| !rate.is_zero());
            if !some || !rising || ladder.len() > LADDER_RUNGS {
                let path = path.with("ladder");
                let advice = format!("write one to {LADDER_RUNGS} rates above 0bps that rise");
                self.value(&path, format!("`{path}` is no ladder")).push_str(&advice);
            }
        }
    }

    /// The highest rates of an encoder whose lowest rate is `min`.
    fn max_rates(&mut self, steps: &[Step], changed: &ChangedEncoder, min: DataRate, path: &KeyPath) {
        if changed.max_rate.is_some() {
            self.key(path, format!("`{path}` stands beside `max_rate`")).push_str("leave out one of them");
        }
        self.steps(steps, path);
        if steps.len() > RATE_STEPS {
            let message = format!("`{path}` has {} steps", steps.len());
            *self.value(path, message) = format!("write at most {RATE_STEPS}");
        }
        for (i, step) in steps.iter().enumerate().filter(|(_, step)| step.rate < min) {
            let message = format!("the highest rate of {} is below the lowest, {min}", step.rate);
            self.value(&path.item(i).with("rate"), message).push_str("let it be at least `min_rate`");
        }
    }

    pub(super) fn audio(&mut self, audio: AudioConfig, path: &KeyPath) {
        self.some_rate(&path.with("rate"), audio.rate);
        if audio.interval < SHORTEST_AUDIO {
            let message = format!("`{}` is {}", path.with("interval"), audio.interval);
            let advice = format!("write at least {SHORTEST_AUDIO}");
            self.value(&path.with("interval"), message).push_str(&advice);
        } else if audio.payload() > PAYLOAD_LIMITS.1 {
            let message = format!("a packet of audio would have {}", audio.payload());
            let advice = format!("let rate and interval make at most {} a packet", PAYLOAD_LIMITS.1);
            self.value(&path.with("rate"), message).push_str(&advice);
        }
    }
}
