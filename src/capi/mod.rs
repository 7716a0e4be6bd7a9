// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C ABI: check arguments, call core, translate errors. No logic. The doc block of a function is its contract,
//! and `include/verbena.h` is made from it.
#![allow(clippy::missing_safety_doc, reason = "the doc blocks speak to C: all of their text is the contract")]

mod ffi;
mod quiet;

pub mod channel;
pub mod context;
pub mod cq;
pub mod device;
pub mod error;
pub mod library;
pub mod mr;
pub mod names;
pub mod pd;
#[cfg(feature = "panic-probe")]
mod probe;
pub mod qp;
pub mod rc;
