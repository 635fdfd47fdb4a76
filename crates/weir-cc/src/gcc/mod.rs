//! Google Congestion Control.
//!
//! The blocks (`blocks/mod.rs`) exist once and have the names of the papers; a variant composes them:
//!
//! * [`remb`], the receiver-side form of gcc-2016 (Carlucci, De Cicco, Holmer, Mascolo: "Analysis and Design of the
//!   Google Congestion Control for Web Real-time Communication", MMSys 2016);
//! * [`goog_cc`], libwebrtc's controller of today;
//! * [`send_side`], the sender-side form of draft-ietf-rmcat-gcc-02, Kalman filter and all;
//! * [`simplified`], the form that dccc-2017 compares itself with (D'Aronco, Toni, Mena, Zhu, Frossard: "Improved
//!   Utility-based Congestion Control for Delay-Constrained Communication", 2017).

mod blocks;
pub mod goog_cc;
pub mod remb;
pub mod send_side;
pub mod simplified;
