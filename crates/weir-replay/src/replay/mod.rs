//! Replay of a call: the decisions that another controller would have made on the recorded feedback.
