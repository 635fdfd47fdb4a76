//! Problems of TCP and of flows that use it.

use weir_units::DataSize;
use weir_world::tcp::TcpConfig;

use super::{Problems, SEGMENT_LIMITS};
use crate::registry::{self, TcpProfile};
use crate::scenario::{
    DelayRange, Downloads, NEEDS_COUNTS, SizeRange, Tcp, TcpEcn, TcpOptions, Web, WebSizes,
};
use weir_form::{KeyPath, advice};

impl Problems<'_> {
    pub(super) fn tcp(&mut self, tcp: &Tcp, path: &KeyPath) {
        self.window_algorithm(tcp.algorithm(), path);
        if tcp.size.is_some_and(|size| size == DataSize::ZERO) {
            self.value(&path.with("size"), format!("`{}` is nothing", path.with("size")))
                .push_str("write a size above 0B, or leave it out for a flow without end");
        }
        if let Some(downloads) = &tcp.downloads {
            self.downloads(downloads, tcp, &path.with("downloads"));
        }
        let options = tcp.options.unwrap_or_default();
        self.tcp_options(options, tcp.profile, tcp.algorithm(), path);
        if tcp.profile == TcpProfile::Chromium2015 {
            self.chromium(tcp, options, path);
        }
    }

    pub(super) fn web(&mut self, web: &Web, path: &KeyPath) {
        self.window_algorithm(&web.algorithm, path);
        self.some_rate(&path.with("load"), web.load);
        self.not_negative(&path.with("think"), Some(web.think));
        if let Some(DelayRange { min, max }) = web.extra_delay {
            let path = path.with("extra_delay");
            self.not_negative(&path.with("min"), Some(min));
            if max < min {
                self.value(&path, format!("delays from {min} to {max} are none"))
                    .push_str("let `min` ≤ `max`");
            }
        }
        let sizes = path.with("sizes");
        for (key, size) in
            [("median", web.sizes.median), ("tail_from", web.sizes.tail_from), ("largest", web.sizes.largest)]
        {
            if size == DataSize::ZERO {
                let path = sizes.with(key);
                self.value(&path, format!("`{path}` is nothing")).push_str("write a size above 0B");
            }
        }
        let WebSizes { tail, tail_from, largest, .. } = web.sizes;
        if tail > 0.0 && tail_from > largest {
            self.value(&sizes, format!("a tail from {tail_from} to {largest} is none"))
                .push_str("let `tail_from` ≤ `largest`, or `tail` be 0");
        }
        self.tcp_options(web.options.unwrap_or_default(), web.profile, &web.algorithm, path);
    }

    fn window_algorithm(&mut self, name: &str, path: &KeyPath) {
        let algorithms = || registry::window_algorithms().iter().map(|algorithm| algorithm.name);
        if !algorithms().any(|known| known == name) {
            let advice = advice(name, algorithms());
            self.value(&path.with("algorithm"), format!("there is no TCP algorithm `{name}`"))
                .push_str(&advice);
        }
    }

    fn tcp_options(&mut self, options: TcpOptions, profile: TcpProfile, algorithm: &str, path: &KeyPath) {
        let at = path.with("options");
        if algorithm == NEEDS_COUNTS && options.ecn.is_some_and(|ecn| ecn != TcpEcn::Accurate) {
            self.value(&at.with("ecn"), format!("`{NEEDS_COUNTS}` goes by exact counts of marks"))
                .push_str("write `accurate`, or leave it out");
        }
        if let Some(mss) = options.mss {
            self.size(&at.with("mss"), mss, SEGMENT_LIMITS);
        }
        for (key, time) in options.times() {
            self.positive(&at.with(key), time);
        }
        if options.header.is_some_and(|header| !header.is_multiple_of(4)) {
            let path = at.with("header");
            self.value(&path, format!("`{path}` is no number of 32-bit words"))
                .push_str("write a multiple of 4 from 40 to 80");
        }
        let TcpConfig { min_rto, max_rto, .. } = options.config(profile, algorithm);
        if min_rto > max_rto {
            let key = if options.min_rto.is_some() { "min_rto" } else { "max_rto" };
            self.value(&at.with(key), format!("timeouts from {min_rto} to {max_rto} are none"))
                .push_str("let `min_rto` ≤ `max_rto`");
        }
    }

    fn chromium(&mut self, tcp: &Tcp, options: TcpOptions, path: &KeyPath) {
        if tcp.algorithm.is_some() {
            self.value(
                &path.with("algorithm"),
                "the stack `chromium-2015` has an algorithm of its own".to_owned(),
            )
            .push_str("leave `algorithm` out");
        }
        if tcp.downloads.is_some() {
            let message = "the stack `chromium-2015` makes no downloads".to_owned();
            self.key(&path.with("downloads"), message).push_str("give a `size`, or take another stack");
        }
        if (TcpOptions { mss: None, header: None, ..options }) != TcpOptions::default() {
            let message = "the stack `chromium-2015` has no such options".to_owned();
            self.key(&path.with("options"), message).push_str("only `mss` and `header` are known to it");
        }
    }

    fn downloads(&mut self, downloads: &Downloads, tcp: &Tcp, path: &KeyPath) {
        if tcp.size.is_some() {
            self.key(path, "a TCP flow has either one `size` or `downloads`".to_owned())
                .push_str("leave out one of them");
        }
        let SizeRange { min, max } = downloads.size;
        if min == DataSize::ZERO || min > max {
            self.value(&path.with("size"), format!("sizes from {min} to {max} are none"))
                .push_str("let 0B < `min` ≤ `max`");
        }
        self.not_negative(&path.with("idle"), Some(downloads.idle));
    }
}
