//! Web-like traffic: sizes, frequency and load of requests.
//!
//! Sessions begin as a Poisson process. In each, requests follow one another with times to think in between, each over a
//! connection of its own. Sizes have a log-normal body and a Pareto tail (Barford and Crovella, *Generating Representative
//! Web Workloads for Network and Server Performance Evaluation*, SIGMETRICS 1998, whose values are the defaults), cut off
//! so that the mean does not depend on the rarest of them.

use weir_units::{DataRate, TimeDelta};

use crate::tcp::TcpConfig;

/// Sizes of responses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WebSizes {
    /// Median of the body, in bytes: e to the power of its `μ`.
    pub median: f64,
    /// `σ` of the body.
    pub sigma: f64,
    /// Share of the responses that is drawn from the tail.
    pub tail: f64,
    /// The tail's smallest size, in bytes.
    pub tail_from: f64,
    /// The tail's exponent `α`, greater than 1.
    pub tail_exponent: f64,
    /// Maximum size, to which larger ones are cut, in bytes.
    pub largest: f64,
}

impl Default for WebSizes {
    /// Barford and Crovella 1998, table 1: body `μ` = 9.357, `σ` = 1.318, 93 % of the files; tail from 133 kB with
    /// `α` = 1.1. Cut off at 10 MB.
    fn default() -> Self {
        Self {
            median: 11_579.0,
            sigma: 1.318,
            tail: 0.07,
            tail_from: 133e3,
            tail_exponent: 1.1,
            largest: 1e7,
        }
    }
}

/// Background web traffic: sessions of requests and responses over TCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WebTraffic {
    /// Mean offered load of the responses, on the wire, without retransmissions.
    pub load: DataRate,
    /// Mean number of requests in a session, at least 1; geometrically distributed.
    pub requests: f64,
    /// Mean time from a response's end to the session's next request; exponentially distributed.
    pub think: TimeDelta,
    /// Lower bound of a session's additional round-trip time over the path's, which is drawn uniformly.
    pub least_extra: TimeDelta,
    /// Upper bound of it.
    pub most_extra: TimeDelta,
    /// Sizes of the responses.
    pub sizes: WebSizes,
}

impl WebSizes {
    /// The mean size, in bytes.
    pub fn mean(&self) -> f64 {
        (1.0 - self.tail) * self.body_mean() + self.tail * self.tail_mean()
    }

    /// E[min(X, c)] of the log-normal body.
    fn body_mean(&self) -> f64 {
        let normal = |x: f64| 0.5 * (1.0 + libm::erf(x / core::f64::consts::SQRT_2));
        let (c, sigma) = (self.largest, self.sigma);
        if sigma <= 0.0 {
            return self.median.min(c);
        }
        let place = libm::log(c / self.median) / sigma;
        self.median * libm::exp(sigma * sigma / 2.0) * normal(place - sigma) + c * (1.0 - normal(place))
    }

    /// E[min(X, c)] of the Pareto tail: k + ∫ (k/x)^α dx from k to c.
    fn tail_mean(&self) -> f64 {
        let (k, c, alpha) = (self.tail_from, self.largest, self.tail_exponent);
        if c <= k {
            return c;
        }
        k + (k - c * libm::pow(k / c, alpha)) / (alpha - 1.0)
    }
}

impl WebTraffic {
    /// Sessions per second that offer the load: each response takes, besides its bytes, a header for each segment (half a
    /// segment more than the bytes fill, on average) and the SYN.
    pub fn sessions_per_second(&self, tcp: &TcpConfig) -> f64 {
        let bytes = self.sizes.mean();
        let segments = bytes / f64::from(tcp.mss.max(1)) + 0.5;
        let on_wire = bytes + (segments + 1.0) * f64::from(tcp.header);
        self.load.bps_f64() / 8.0 / on_wire / self.requests.max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_size_is_that_of_the_formula() {
        let sizes = WebSizes::default();
        // Body: 11 579 · e^(0.8686) = 27.6 kB; tail: 133 + (133 − 10 000 · (0.0133)^1.1) / 0.1 kB = 600 kB.
        assert!((sizes.body_mean() - 27.6e3).abs() < 100.0, "{}", sizes.body_mean());
        assert!((sizes.tail_mean() - 600e3).abs() < 5e3, "{}", sizes.tail_mean());
    }

    #[test]
    fn sessions_offer_the_load() {
        let web = WebTraffic {
            load: DataRate::from_mbps(1),
            requests: 4.0,
            think: TimeDelta::from_secs(1),
            least_extra: TimeDelta::ZERO,
            most_extra: TimeDelta::ZERO,
            sizes: WebSizes::default(),
        };
        let tcp = TcpConfig::default();
        let bytes = web.sizes.mean();
        let expected = 125_000.0 / (bytes + (bytes / 1448.0 + 1.5) * 52.0) / 4.0;
        assert!((web.sessions_per_second(&tcp) - expected).abs() < 1e-9);
    }
}
