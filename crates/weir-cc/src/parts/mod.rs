//! Parts shared by several controllers.
//!
//! * [`base_delay`], [`filters`], [`receive_rate`]: delays and rates of arrivals;
//! * [`loss_intervals`], [`loss_reports`], and the detection of losses by per-packet feedback;
//! * the smoothed round-trip time, the clocks of missing feedback and of drains;
//! * the backlog at the sender, the encoder's rate beside a backlog, and the window that lets the lowest rate
//!   through;
//! * the packet numbers that a receiver half follows;
//! * the scale of feedback older than coupling's allocations, and memory of queues.

pub(crate) mod allocation_history;
pub(crate) mod backlog;
pub(crate) mod base_delay;
pub(crate) mod drain;
pub(crate) mod feedback_timeout;
pub(crate) mod filters;
pub(crate) mod least_queued;
pub(crate) mod least_window;
pub(crate) mod loss_detection;
pub(crate) mod loss_intervals;
pub(crate) mod loss_reports;
pub(crate) mod number_gate;
pub(crate) mod path_step;
pub(crate) mod queue_memory;
pub(crate) mod receive_rate;
pub(crate) mod relative;
pub(crate) mod rtt_estimate;
