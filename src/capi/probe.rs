// SPDX-License-Identifier: MIT OR Apache-2.0
//! A panic on demand, by which scripts/check-panic shows that one is caught, silent and poisons its handle.

use super::ffi::guard_on;
use crate::core::handle::vbn_context;
use crate::core::op::Op;
use crate::core::status::vbn_status;

/// cbindgen:ignore
#[unsafe(no_mangle)]
#[allow(clippy::panic, reason = "that is what it is for")]
pub extern "C" fn vbn_probe_panic(context: *mut vbn_context) -> vbn_status {
    guard_on(Op::ContextQuery, context, || panic!("on purpose"))
}
