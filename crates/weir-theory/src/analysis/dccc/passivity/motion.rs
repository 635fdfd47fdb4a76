//! Integration of dccc-2017's equations (2) and (15) without delay.

use super::{State, System};

impl System {
    pub(super) fn velocity(&self, state: &State) -> State {
        let growth = self.growth(state);
        let rate_imbalance = self.rate_imbalance(state, &growth);
        let rates = rate_imbalance
            .iter()
            .zip(&self.gains)
            .zip(&state.rates)
            .map(|((rate_imbalance, gain), x)| gain * x * rate_imbalance);
        State { rates: rates.collect(), queues: growth }
    }

    /// The state after `step` seconds, by the classical Runge–Kutta method of fourth order; queues do not fall below 0.
    pub(super) fn after(&self, state: &State, step: f64) -> State {
        let one = self.velocity(state);
        let two = self.velocity(&state.moved(&one, step / 2.0));
        let three = self.velocity(&state.moved(&two, step / 2.0));
        let four = self.velocity(&state.moved(&three, step));
        let weighted = state
            .moved(&one, step / 6.0)
            .moved(&two, step / 3.0)
            .moved(&three, step / 3.0)
            .moved(&four, step / 6.0);
        let queues = weighted.queues.iter().map(|queue| queue.max(0.0)).collect();
        State { queues, ..weighted }
    }
}

impl State {
    pub(super) fn moved(&self, velocity: &Self, by: f64) -> Self {
        let sum = |own: &[f64], velocity: &[f64]| {
            own.iter().zip(velocity).map(|(own, velocity)| own + by * velocity).collect()
        };
        Self { rates: sum(&self.rates, &velocity.rates), queues: sum(&self.queues, &velocity.queues) }
    }
}
