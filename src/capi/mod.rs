// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C ABI: check arguments, call core, translate errors. No logic. The doc block of a function is its contract,
//! and `include/verbena.h` is made from it.
#![allow(clippy::missing_safety_doc, reason = "the doc blocks speak to C: all of their text is the contract")]

mod ffi;
mod quiet;

pub mod ah;
pub mod caps;
pub mod channel;
pub mod cm;
pub mod context;
pub mod counters;
pub mod cq;
pub mod device;
pub mod dm;
pub mod efa;
pub mod endpoint;
pub mod error;
pub mod explain;
pub mod flow;
pub mod gpu;
pub mod gpu_mr;
pub mod library;
pub mod mr;
pub mod mr_set;
pub mod mw;
pub mod names;
pub mod pd;
pub mod peer;
#[cfg(feature = "panic-probe")]
mod probe;
pub mod qp;
pub mod rc;
pub mod region;
pub mod split;
pub mod srq;
pub mod td;
pub mod topology;
