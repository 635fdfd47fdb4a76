//! Names of signals in ASCII, for the columns of files.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

/// Characters of papers' names, and what stands for them.
const IN_ASCII: [(char, &str); 31] = [
    ('α', "alpha"),
    ('β', "beta"),
    ('γ', "gamma"),
    ('δ', "delta"),
    ('ε', "epsilon"),
    ('ζ', "zeta"),
    ('η', "eta"),
    ('θ', "theta"),
    ('κ', "kappa"),
    ('λ', "lambda"),
    ('μ', "mu"),
    ('µ', "mu"),
    ('ν', "nu"),
    ('ξ', "xi"),
    ('π', "pi"),
    ('ρ', "rho"),
    ('σ', "sigma"),
    ('τ', "tau"),
    ('φ', "phi"),
    ('χ', "chi"),
    ('ψ', "psi"),
    ('ω', "omega"),
    ('Δ', "Delta"),
    ('Σ', "Sigma"),
    ('Φ', "Phi"),
    ('Ω', "Omega"),
    // Combining macron, tilde and circumflex.
    ('\u{304}', "_mean"),
    ('\u{303}', "_tilde"),
    ('\u{302}', "_hat"),
    ('′', "_prime"),
    ('²', "2"),
];

/// A signal's name in ASCII: `gamma` for `γ`, `C_mean` for `C̄`, `uXXXX` with the code of any other character.
pub fn ascii_name(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return Cow::Borrowed(name);
    }
    let spelt_out = |character: char| match IN_ASCII.iter().find(|(own, _)| *own == character) {
        Some((_, text)) => Cow::Borrowed(*text),
        None if character.is_ascii() => Cow::Owned(String::from(character)),
        None => Cow::Owned(format!("u{:04X}", u32::from(character))),
    };
    Cow::Owned(name.chars().map(spelt_out).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_papers_are_spelt_out() {
        for (name, ascii) in
            [("γ", "gamma"), ("C̄", "C_mean"), ("x_ref", "x_ref"), ("m̂, ж", "m_hat, u0436"), ("", "")]
        {
            assert_eq!(ascii_name(name), ascii);
        }
    }
}
