//! The controllers for which the properties must hold.

use weir_units::TimeDelta;

use crate::at_receiver::AtReceiver;
use crate::dccc::{self, Dccc, DcccObserver};
use crate::gcc::goog_cc::{self, GoogCc};
use crate::gcc::remb::{self, GccReceiver, GccSender};
use crate::gcc::send_side::{self, SendSideGcc};
use crate::gcc::simplified::{self, SimplifiedGccReceiver, SimplifiedGccSender};
use crate::ledbat::{self, Ledbat};
use crate::nada::v2016::{self, Nada2016, Nada2016Observer};
use crate::nada::zhu_03::{self, NadaZhu03, Zhu03Observer};
use crate::nada::{self, Nada, NadaObserver};
use crate::packet_feedback::PacketFeedback;
use crate::rap::{self, Rap};
use crate::scream::v1::Scream;
use crate::scream::v2::ScreamV2;
use crate::scream::{self, ScreamReceiver};
use crate::testing::{TestedController, controller_tests, halves};
use crate::tfrc::{self, Tfrc, TfrcObserver};

/// A controller of this crate.
pub(super) struct Line {
    pub(super) controller: TestedController,
    /// Properties of controllers over a whole path that this one cannot have by its own definition: each with the
    /// reason. `docs/controllers.md` prints them, and the tests of `weir-study` show that they fail.
    pub(super) cannot: &'static [Exception],
}

/// The name of a property in `docs/controllers.md`, and why a controller cannot have it.
pub(super) type Exception = (&'static str, &'static str);

const TWO_STREAMS: &str = "short round trips, simulcast, two streams";
const THREE_STREAMS: &str = "short round trips, simulcast, three streams";
const TWICE_WHAT_WAS_SENT: &str =
    "its target stays below twice what a limited source sends; the next stream needs 4.8 or 3.6 times";
const A_WINDOW_OF_WHAT_WAS_SENT: &str = "its window stays below twice the data in flight of a limited source: at 30 ms too little for the next stream";
const TRACES: &str = "short round trips, trace-driven";
const HYBRID: &str = "short round trips, hybrid";
const EVENLY: &str =
    "its packets leave evenly: of a source above the maximum for seconds 79 to 89 % are sent";
const WITHIN_THE_MAXIMUM: &str = "its window limits a source above the maximum for seconds to 82 to 90 %";
const LEDBAT: &[Exception] = &[
    (
        "two hours alone",
        "its base delay is the least of ten minutes (RFC 6817), so its own queue becomes the next base",
    ),
    (TRACES, WITHIN_THE_MAXIMUM),
    (HYBRID, WITHIN_THE_MAXIMUM),
    (TWO_STREAMS, A_WINDOW_OF_WHAT_WAS_SENT),
    (THREE_STREAMS, A_WINDOW_OF_WHAT_WAS_SENT),
];
const ONE_STREAM_ONLY: &[Exception] =
    &[(TWO_STREAMS, TWICE_WHAT_WAS_SENT), (THREE_STREAMS, TWICE_WHAT_WAS_SENT)];
const HALF_ABOVE_WHAT_ARRIVED: &str =
    "a source that offers less for a while lowers its rate, at most 1.5 times the receive rate";
const GCC_2016: &[Exception] = &[
    (TRACES, HALF_ABOVE_WHAT_ARRIVED),
    (HYBRID, HALF_ABOVE_WHAT_ARRIVED),
    (TWO_STREAMS, TWICE_WHAT_WAS_SENT),
    (THREE_STREAMS, TWICE_WHAT_WAS_SENT),
];
const GCC_SEND_SIDE: &[Exception] = &[
    (TRACES, HALF_ABOVE_WHAT_ARRIVED),
    (TWO_STREAMS, TWICE_WHAT_WAS_SENT),
    (THREE_STREAMS, TWICE_WHAT_WAS_SENT),
];
const SCREAM: &[Exception] = &[
    (SKEW, "the drift of a fast clock within its base delay's ten minutes (RFC 6817) ends its fast increase"),
    (TWO_STREAMS, TWICE_WHAT_WAS_SENT),
    (THREE_STREAMS, TWICE_WHAT_WAS_SENT),
];

const SCREAM_V2: &[Exception] = &[
    (
        "path 250 ms longer",
        "after two seconds it accepts the path, then at its minimum, and grows per round trip of 300 ms: 56 % after ten seconds",
    ),
    (THREE_STREAMS, A_WINDOW_OF_WHAT_WAS_SENT),
];

const SKEW: &str = "clock skew of 50 ppm";
const LARGE_RANGE: &str = "large range";
const NADA: &[Exception] = &[
    (LARGE_RANGE, "by its equation x_curr = XREF·RMAX/r is 1 s at rest: the loss of a tenth of the packets"),
    (TWO_STREAMS, TWICE_WHAT_WAS_SENT),
    (THREE_STREAMS, TWICE_WHAT_WAS_SENT),
];
const NADA_AT_SENDER: &[Exception] = &[
    (
        "path 250 ms longer",
        "after two seconds it accepts the path, then at half its rate, and its reports return later: 73 % after ten seconds",
    ),
    NADA[0],
    NADA[1],
    NADA[2],
];
const AN_UNBOUNDED_BUFFER: &str =
    "its shaping buffer limits a source above its target for seconds to 69 to 80 %";
const NADA_2016: &[Exception] = &[
    (TRACES, AN_UNBOUNDED_BUFFER),
    (HYBRID, AN_UNBOUNDED_BUFFER),
    (
        LARGE_RANGE,
        "by its equation x = x_ref·R_max/R is 2 s at rest, and the loss of all packets adds only 1 s",
    ),
    (TWO_STREAMS, TWICE_WHAT_WAS_SENT),
    (THREE_STREAMS, TWICE_WHAT_WAS_SENT),
];
const LEAST_OVER_PRESENT_DELAY: &str = "the delay of a frame's own packets lowers its rate";
const NADA_ZHU_03: &[Exception] = &[
    (SKEW, "an hour of 50 ppm adds 180 ms to its absolute delay"),
    (LARGE_RANGE, "its rate is inverse to the delay, which cannot grow a hundredfold"),
    ("short round trips, papers", LEAST_OVER_PRESENT_DELAY),
    ("short round trips, gcc-2016", LEAST_OVER_PRESENT_DELAY),
    ("short round trips, statistical", LEAST_OVER_PRESENT_DELAY),
    ("short round trips, rfc8867", LEAST_OVER_PRESENT_DELAY),
    ("short round trips, interval-noise", LEAST_OVER_PRESENT_DELAY),
    ("short round trips, trace-driven", LEAST_OVER_PRESENT_DELAY),
    ("short round trips, hybrid", LEAST_OVER_PRESENT_DELAY),
    (THREE_STREAMS, LEAST_OVER_PRESENT_DELAY),
];

const DCCC: &[Exception] = &[
    (
        "clock set 250 ms ahead",
        "it accepts the clock at a third of its rate, and climbs by a constant per round trip: 59 % after ten seconds",
    ),
    (
        "path 250 ms longer",
        "it accepts the path at a third of its rate, and climbs by a constant per round trip of 300 ms",
    ),
    (TRACES, EVENLY),
    (HYBRID, EVENLY),
    (TWO_STREAMS, TWICE_WHAT_WAS_SENT),
    (THREE_STREAMS, TWICE_WHAT_WAS_SENT),
];

/// `of_name: TestedController::new(…), cannot […];` for each controller: all of them as [`CONTROLLERS`], and the tests
/// of each as the module `of_name`.
macro_rules! controllers {
    ($($name:ident: $controller:expr, cannot $cannot:expr;)*) => {
        pub(super) const CONTROLLERS: &[Line] = &[$(Line { controller: $controller, cannot: $cannot }),*];
        $(controller_tests!($name, $controller);)*
    };
}

#[rustfmt::skip]
controllers! {
    of_gcc_2016: TestedController::new("gcc-2016", |limits| halves(GccSender::new(remb::Config::default(), limits).unwrap(), GccReceiver::new(remb::Config::default(), limits).unwrap())).bounded_when_limited(), cannot GCC_2016;
    // 8 % per second: ln 50 / ln 1.08 = 51 s, and some additive growth near the estimated link capacity.
    of_gcc_send_side: TestedController::new("gcc-send-side", |limits| halves(SendSideGcc::new(send_side::Config::default(), limits).unwrap(), PacketFeedback::new(send_side::Config::default().feedback_interval))).recovering_within(750).bounded_when_limited().cutting_to(0.8), cannot GCC_SEND_SIDE;
    of_gcc_dccc: TestedController::new("gcc-dccc", |limits| halves(SimplifiedGccSender::new(simplified::Config::default(), limits).unwrap(), SimplifiedGccReceiver::new(simplified::Config::default(), limits).unwrap())).bounded_when_limited(), cannot ONE_STREAM_ONLY;
    // After heavy loss it may hold its rate for 60 s; then 8 % per second: ln 50 / ln 1.08 = 51 s.
    of_gcc: TestedController::new("gcc", |limits| halves(GoogCc::new(goog_cc::Config::default(), limits).unwrap(), PacketFeedback::new(goog_cc::Config::default().feedback_interval))).recovering_within(1500).bounded_when_limited().cutting_to(0.8), cannot ONE_STREAM_ONLY;
    // RFC 8298 §4.1.3 lets the rate grow by 200 kbit/s per second, by a fifth of that near the rate of the last
    // congestion.
    of_scream: TestedController::new("scream", |limits| halves(Scream::new(scream::v1::Config::default(), limits).unwrap(), ScreamReceiver::v1())).recovering_within(600).by_the_smallest_delay().bounded_when_limited(), cannot SCREAM;
    of_scream_v2: TestedController::new("scream-v2", |limits| halves(ScreamV2::new(scream::v2::Config::default(), limits).unwrap(), ScreamReceiver::v2())).by_the_smallest_delay().bounded_by_a_window_when_limited(), cannot SCREAM_V2;
    // x_curr = XREF·RMAX/r ends at 500 ms: with RMAX = 100 Mbit/s no rate below 2 Mbit/s is in equilibrium.
    of_nada_2016: TestedController::new("nada-2016", |limits| halves(Nada2016::new(v2016::Config::default(), limits).unwrap(), AtReceiver::new(Nada2016Observer::new(v2016::Config::default()).unwrap()))).starting_at_most(10_000).bounded_when_limited(), cannot NADA_2016;
    of_nada: TestedController::new("nada", |limits| halves(Nada::new(nada::Config::default(), limits).unwrap(), AtReceiver::new(NadaObserver::new(nada::Config::default()).unwrap()))).starting_at_most(10_000).by_the_smallest_delay().bounded_when_limited(), cannot NADA;
    of_nada_at_the_sender: TestedController::new("nada at the sender", |limits| halves(nada::at_sender(nada::Config::default(), limits).unwrap(), PacketFeedback::new(TimeDelta::from_millis(50)))).starting_at_most(10_000).by_the_smallest_delay().bounded_when_limited(), cannot NADA_AT_SENDER;
    // It rises by 8 kbit/s with each report, whatever its rate: (2500 − 50)/8 = 306 of them.
    of_dccc: TestedController::new("dccc", |limits| halves(Dccc::new(dccc::Config::default(), limits).unwrap(), AtReceiver::new(DcccObserver::new(dccc::Config::default()).unwrap()))).recovering_within(320).by_the_smallest_delay().bounded_when_limited(), cannot DCCC;
    // As above; at the sender the packets of the rounds are its feedback too.
    of_dccc_at_the_sender: TestedController::new("dccc at the sender", |limits| halves(dccc::at_sender(dccc::Config::default(), limits).unwrap(), PacketFeedback::new(dccc::Config::default().min_interval))).recovering_within(320).by_the_smallest_delay().bounded_when_limited(), cannot DCCC;
    of_ledbat: TestedController::new("ledbat", |limits| halves(Ledbat::new(ledbat::Config::default(), limits).unwrap(), ledbat::receiver(&ledbat::Config::default()).unwrap())).by_the_smallest_delay().bounded_by_a_window_when_limited(), cannot LEDBAT;
    of_rap: TestedController::new("rap", |limits| halves(Rap::new(rap::Config::default(), limits).unwrap(), rap::receiver(&rap::Config::default()).unwrap())).bounded_by_a_window_when_limited().cutting_to(0.5), cannot &[("large range", "a loss is reported a full queue late: on 500 kbit/s it then sends a sixth too much"), (THREE_STREAMS, A_WINDOW_OF_WHAT_WAS_SENT), (TRACES, EVENLY), (HYBRID, EVENLY)];
    // Before the first loss the rate is at least W_init in a round trip (RFC 5348 §4.3), here twice the start rate,
    // whatever is sent.
    of_tfrc: TestedController::new("tfrc", |limits| halves(Tfrc::new(tfrc::Config::default(), limits).unwrap(), AtReceiver::new(TfrcObserver::new(tfrc::Config::default()).unwrap()))).forgetting_shares(), cannot &[("two hours alone", "only loss lowers its rate: in the fifth minute the queue of 2 s is not yet full"), (THREE_STREAMS, "it sends at most twice the receive rate (RFC 5348 §4.3); the third stream needs 3.6 times"), (TRACES, EVENLY), (HYBRID, EVENLY)];
    // Slow start rises with time, and then an empty queue means the maximum, whatever is sent.
    of_nada_dccc: TestedController::new("nada-dccc", |limits| halves(NadaZhu03::new(zhu_03::Config::default(), limits).unwrap(), AtReceiver::new(Zhu03Observer::new(zhu_03::Config::default()).unwrap()))).by_absolute_delays(), cannot NADA_ZHU_03;
}
