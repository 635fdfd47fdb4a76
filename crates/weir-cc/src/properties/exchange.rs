//! A flow that shares with nobody is as if there were no Flow State Exchange: every law under every form of it, bit by bit.

use weir_units::DataRate;

use super::coupling::{CAPACITY, befall, flow};
use super::{LAWS, Law, usual_limits};
use crate::closed_loop::Source;
use crate::controller::Target;
use crate::coupled::fse::{Config, Fse, Grouping, Updates};
use crate::coupled::{Coupler, Join, Member, Order, Update, Wishes, Word};
use crate::time::SendTime;

const FLOW: Member = Member(0);

fn forms() -> [Config; 8] {
    [
        Config::rtp_2014_active(),
        Config::rtp_2014_conservative(),
        Config { increase_div_n: true, timer_exempts_initiator: true, ..Config::rtp_2014_conservative() },
        Config::rfc8699_active(),
        Config::rfc8699_conservative(),
        Config::rfc8699_passive_in_a_testbed(),
        Config::passive_simple_in_a_testbed(),
        Config { updates: Updates::OnChange, literal_dr: true, ..Config::passive_simple_in_a_testbed() },
    ]
}

/// The exchange's clock starts elsewhere than the flow's.
fn at(ms: i64) -> SendTime {
    SendTime::from_millis(5_000_000 + ms)
}

fn joined(config: Config) -> Fse {
    let mut fse = Fse::new(config, Grouping::Together).unwrap();
    let limits = usual_limits();
    let wishes = Wishes { priority: 0.3, desired: None, least: limits.min() };
    let join = Join { wishes, start: limits.start(), present: limits.start(), window: None };
    fse.on_word(at(0), FLOW, &Word::Join(join)).unwrap();
    fse
}

/// A minute of ups and downs: what the law wants after each ms. Without an exchange nobody couples it.
fn course(law: &Law, mut fse: Option<Fse>) -> Vec<Target> {
    let mut path = flow(law, usual_limits(), Source::VIDEO, CAPACITY);
    let mut epoch = 0;
    let tell = |ms: i64| {
        befall(&mut path, ms);
        path.tick();
        let decision = path.take_decision();
        if let Some(fse) = &mut fse {
            if fse.next_timeout().is_some_and(|due| due <= at(ms)) {
                fse.on_timeout(at(ms));
            }
            if let Some(decision) = decision {
                let update = Update { decision, window: None, epoch, heard: true };
                fse.on_word(at(ms), FLOW, &Word::Update(update)).unwrap();
            }
            while let Some((_, order)) = fse.poll_order() {
                let Order::Rate { rate, epoch: number } = order else { panic!("{order:?}") };
                if number > 0 {
                    path.adopt(rate);
                    epoch = number;
                }
            }
            let told = fse.aggregate(FLOW).map(|told| DataRate::from_bps_f64(told.sum));
            assert!(decision.is_none_or(|decision| told == Some(decision.rate)), "{}", law.name);
        }
        path.target()
    };
    (0..60_000).map(tell).collect()
}

#[test]
fn alone_in_an_exchange_a_flow_is_as_if_it_were_not_coupled() {
    for law in LAWS {
        let alone = course(law, None);
        for config in forms() {
            assert!(course(law, Some(joined(config))) == alone, "{}: {config:?}", law.name);
        }
    }
}
