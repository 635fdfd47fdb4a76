//! Jain's fairness index.

/// Jain's fairness index of the rates `x`: (Σx)² / (n·Σx²), from 1/n (one has all) to 1 (all have the same). `None` for fewer
/// than two rates or where all are zero. (Jain, Chiu and Hawe 1984, DEC-TR-301.)
pub fn jain(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|x| x * x).sum();
    (rates.len() > 1 && squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_falls_as_shares_part() {
        // (1.5, 1, 1): 3.5² / (3 · 4.25) = 12.25 / 12.75; (2, 1, 1): 16 / 18; (1.2, 0.8): 4 / (2 · 2.08) = 4 / 4.16.
        let cases: [(&[f64], f64); 5] = [
            (&[1.0, 1.0, 1.0], 1.0),
            (&[1.5, 1.0, 1.0], 0.9608),
            (&[2.0, 1.0, 1.0], 0.8889),
            (&[1.2, 0.8], 0.9615),
            (&[3.5, 0.0, 0.0], 0.3333),
        ];
        for (rates, expected) in cases {
            let index = jain(rates).unwrap();
            assert!((index - expected).abs() < 5e-5, "{rates:?}: {index}");
        }
    }

    #[test]
    fn the_index_ignores_the_unit() {
        let index = jain(&[2.0, 1.0, 1.0]).unwrap();
        assert!((jain(&[2e6, 1e6, 1e6]).unwrap() - index).abs() < 1e-12);
    }

    #[test]
    fn there_is_no_index_without_rates_to_compare() {
        assert_eq!(jain(&[]), None);
        assert_eq!(jain(&[1.0]), None);
        assert_eq!(jain(&[0.0, 0.0]), None);
    }
}
