//! Advice about misspelt names.

use std::cmp::Reverse;

/// The number of names that advice shows of many.
const SHOWN: usize = 8;

/// The name among `names` that `wrong` is a misspelling of, if any is near.
pub fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = wrong.to_lowercase();
    let first = wrong.chars().next().unwrap_or_default();
    names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&wrong, &name.to_lowercase()), name))
        .filter(|&(distance, name)| distance <= (name.len() / 3).max(1))
        // Rarely is the first letter the wrong one.
        .min_by_key(|&(distance, name)| (distance, !name.to_lowercase().starts_with(first)))
        .map(|(_, name)| name)
}

/// A sentence for a name that is not in `names`: the name that was probably meant, or else all names.
pub fn advice<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    if let Some(name) = nearest(wrong, names.iter().copied()) {
        return format!("did you mean `{name}`?");
    }
    match names.as_slice() {
        [] => "there are none here".to_owned(),
        [only] => format!("known here is only `{only}`"),
        _ => format!("known here are {}", list(&names)),
    }
}

/// [`advice`] for a long list of names: the nearest few, and `all`, a phrase that locates the whole list.
pub fn advice_of_many<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>, all: &str) -> String {
    let mut names: Vec<&str> = names.into_iter().collect();
    if names.len() <= SHOWN || nearest(wrong, names.iter().copied()).is_some() {
        return advice(wrong, names);
    }
    let count = names.len();
    let words = |name: &'a str| name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let own: Vec<&str> = wrong.split(|c: char| !c.is_alphanumeric()).collect();
    names.sort_by_cached_key(|name| {
        // A name with a part left out or added shares the other parts.
        let apart = !name.contains(wrong) && !wrong.contains(name);
        let shared = words(name).filter(|word| own.contains(word)).count();
        (apart, Reverse(shared), strsim::damerau_levenshtein(wrong, name))
    });
    names.truncate(SHOWN);
    format!("there are {count}, among them {}; {all}", list(&names))
}

/// `` `a`, `b` and `c` ``.
pub fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_near_or_none() {
        let names = ["delay", "rate", "queue"];
        assert_eq!(nearest("dealy", names), Some("delay"));
        assert_eq!(nearest("Rate", names), Some("rate"));
        assert_eq!(nearest("rat", ["at", "rate"]), Some("rate"), "the first letter decides");
        assert_eq!(nearest("colour", names), None);
        assert_eq!(advice("dealy", names), "did you mean `delay`?");
        assert_eq!(advice("colour", names), "known here are `delay`, `rate` and `queue`");
        assert_eq!(advice("colour", ["a"]), "known here is only `a`");
        assert_eq!(advice("colour", []), "there are none here");
        assert_eq!(advice_of_many("colour", names, "`list`"), advice("colour", names));
        let many: Vec<String> = (10..99).map(|number| format!("paper-a/fig{number}")).collect();
        let of_many = |wrong| advice_of_many(wrong, many.iter().map(String::as_str), "`list` has all");
        assert_eq!(of_many("paper-a/fig9"), "did you mean `paper-a/fig19`?");
        let advice = of_many("fig77");
        assert!(advice.starts_with("there are 89, among them `paper-a/fig77`, `paper-a/fig"), "{advice}");
        assert!(
            advice.ends_with("; `list` has all") && advice.matches("`paper").count() == SHOWN,
            "{advice}"
        );
    }
}
