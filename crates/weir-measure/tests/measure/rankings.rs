//! Rankings of runs that were made once: the demo's drives, a recorded drive, and every case of three suites.
//! `data/candidates.json` holds the results of eight controllers in each run, in the drives of all fifteen;
//! `tools/candidates.sh` writes it. The demo's drives, `cellular/lte-drive`, are those of commit cedacc75. All
//! others were made with the controllers of commit ed399fe0 and are kept as they were: the tests cover the
//! ranking, not the controllers.

use std::collections::BTreeMap;

use weir_measure::results::ranking::{Criterion, MARGIN, RankedController, Ranking};

const CALL: &str = "cellular/att-lte-uplink-2016";
/// The controllers in the tests of subsets.
const EIGHT: [&str; 8] =
    ["gcc", "nada", "nada-at-sender", "scream-v2", "scream", "ledbat", "rap", "gcc-2016"];

fn stored() -> BTreeMap<String, Vec<RankedController>> {
    serde_json::from_str(include_str!("../data/candidates.json")).unwrap()
}

#[test]
fn of_the_call_three_lead_and_one_is_recommended_and_no_other_controller_changes_that() {
    let all = &stored()[CALL];
    assert_eq!(all.len(), 15);
    let three = ["nada", "nada-at-sender", "scream-v2"];
    let (leaders, others): (Vec<RankedController>, Vec<RankedController>) =
        all.iter().cloned().partition(|ranked| three.contains(&ranked.name.as_str()));
    for present in 0..1_u32 << others.len() {
        let with =
            others.iter().enumerate().filter(|(at, _)| present >> at & 1 == 1).map(|(_, ranked)| ranked);
        let candidates: Vec<RankedController> = leaders.iter().chain(with).cloned().collect();
        let ranking = Ranking::of(&candidates);
        assert_eq!(ranking.leading, three);
        assert_eq!(ranking.recommended, ["scream-v2"]);
    }
    let two: Vec<RankedController> =
        leaders.into_iter().filter(|leader| leader.name != "nada-at-sender").collect();
    let ranking = Ranking::of(&two);
    assert_eq!(
        (ranking.leading, ranking.recommended.as_slice()),
        (vec!["nada".to_owned(), "scream-v2".to_owned()], &["scream-v2".to_owned()][..])
    );
}

#[test]
fn on_the_drives_of_the_demo_one_leads() {
    let all = &stored()["cellular/lte-drive"];
    assert_eq!((all.len(), all[0].useful_rate_kbps.len()), (15, 10));
    let ranking = Ranking::of(all);
    assert_eq!(
        (ranking.leading, ranking.recommended),
        (vec!["ledbat".to_owned()], vec!["ledbat".to_owned()])
    );
}

#[test]
fn a_beaten_controller_changes_no_other_and_does_not_return() {
    for (place, all) in stored() {
        let eight: Vec<RankedController> =
            all.into_iter().filter(|ranked| EIGHT.contains(&ranked.name.as_str())).collect();
        assert_eq!(eight.len(), EIGHT.len(), "{place}");
        let of = |present: u32| {
            let there = eight.iter().enumerate().filter(|(at, _)| present >> at & 1 == 1);
            Ranking::of(&there.map(|(_, ranked)| ranked.clone()).collect::<Vec<_>>())
        };
        let rankings: Vec<Ranking> = (0..1 << eight.len()).map(of).collect();
        for present in (0..1_u32 << eight.len()).filter(|present| present.count_ones() >= 3) {
            let whole = &rankings[present as usize];
            for (at, ranked) in eight.iter().enumerate().filter(|(at, _)| present >> at & 1 == 1) {
                let without = &rankings[(present & !(1 << at)) as usize];
                let (name, what) =
                    (&ranked.name, format!("{place}: {} of {:?}", ranked.name, whole.candidates));
                if !whole.leading.contains(name) {
                    assert_eq!(
                        (&whole.leading, &whole.recommended),
                        (&without.leading, &without.recommended),
                        "{what}"
                    );
                }
                for other in eight.iter().filter(|other| other.name != *name) {
                    let was_out = |of: fn(&Ranking) -> &Vec<String>| {
                        let there = without.candidate(&other.name).is_some();
                        there && !of(without).contains(&other.name)
                    };
                    assert!(
                        !was_out(|ranked| &ranked.leading) || !whole.leading.contains(&other.name),
                        "{what}"
                    );
                    let returns =
                        was_out(|ranked| &ranked.recommended) && whole.recommended.contains(&other.name);
                    // Only a newcomer that beats the dominating member has this effect.
                    let dominated =
                        without.candidate(&other.name).map_or(&[][..], |ranked| &ranked.dominated_by);
                    let freed = eight.iter().any(|by| {
                        dominated.contains(&by.name) && ranked.beats(by, Criterion::UsefulRate, MARGIN)
                    });
                    assert!(!returns || freed, "{what}: {} comes back", other.name);
                }
            }
        }
    }
}
