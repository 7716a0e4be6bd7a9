// SPDX-License-Identifier: MIT OR Apache-2.0
//! libverbena: RDMA for C, C++, Go and Julia.
//!
//! The public face is the C ABI in [`capi`], described by `include/verbena.h`. Below it [`core`] holds the objects and
//! their rules, and [`sys`] the outside world. Imports point downward only.
#![allow(non_camel_case_types, reason = "types of the C ABI carry their C names")]
#![allow(missing_docs, reason = "required where the header is made from it: see capi")]
#![cfg_attr(test, allow(clippy::disallowed_types, clippy::disallowed_macros, clippy::disallowed_methods))]

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
compile_error!("libverbena supports 64-bit Linux only");

pub mod capi;
pub mod core;
/// cbindgen:ignore
pub mod sys;
