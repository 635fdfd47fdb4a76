//! The explanation of a call: the rate that the viewer got, each fall of the rate with its cause, and the moments to look at.
