//! Random values, and the comparison of tokens.

use aws_lc_rs::constant_time::verify_slices_are_equal;

/// A random value of 128 bits in hexadecimal digits.
///
/// # Errors
/// A sentence, if the system gives no random numbers.
pub(crate) fn random() -> Result<String, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| format!("the system gives no random numbers: {error}"))?;
    Ok(bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}")))
}

/// Whether two tokens are equal, in a time that does not depend on where they differ.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    verify_slices_are_equal(one.as_bytes(), other.as_bytes()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_random_and_compared_whole() {
        let (one, other) = (random().unwrap(), random().unwrap());
        assert_eq!(one.len(), 32);
        assert!(is_same(&one, &one.clone()) && !is_same(&one, &other));
        assert!(!is_same(&one, &one[..31]) && !is_same(&one, ""));
    }
}
