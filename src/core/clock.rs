// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a device tells of itself at this moment: its clock.

use super::cold::cold_structs;
use super::context::Context;
use super::error::Result;
use crate::sys::ibv::{IBV_VALUES_MASK_RAW_CLOCK, Zeroed, ibv_values_ex};
use crate::sys::inline;

/// `vbn_rt_values.valid`: raw_clock_sec and raw_clock_nsec.
pub const VBN_RT_RAW_CLOCK: u64 = 1;

/// What `vbn_context_query_rt_values` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_rt_values {
    /// sizeof(vbn_rt_values), set by the caller.
    pub struct_size: usize,
    /// VBN_RT_*: what is known.
    pub valid: u64,
    /// The device's clock as the driver gives it. mlx4 and mlx5 (rdma-core 44 to 65) leave this 0...
    pub raw_clock_sec: i64,
    /// ... and put the clock's ticks here, which count as those of VBN_WC_EX_TIMESTAMP (hca_core_clock: kHz).
    pub raw_clock_nsec: i64,
}
cold_structs!(vbn_rt_values);

impl Context {
    pub fn query_rt_values(&self) -> Result<vbn_rt_values> {
        let mut native = ibv_values_ex { comp_mask: IBV_VALUES_MASK_RAW_CLOCK, ..ibv_values_ex::zeroed() };
        // SAFETY: the context is open, and the struct is ours.
        self.ret("ibv_query_rt_values_ex", || unsafe { inline::query_rt_values_ex(self.native(), &mut native) })
            .map_err(|error| match error.errno {
                libc::EOPNOTSUPP => error.hint("the device has no clock that can be read: use the system's"),
                _ => error,
            })?;
        let known = native.comp_mask & IBV_VALUES_MASK_RAW_CLOCK != 0;
        let when = |value: i64| if known { value } else { 0 };
        Ok(vbn_rt_values {
            struct_size: size_of::<vbn_rt_values>(),
            valid: if known { VBN_RT_RAW_CLOCK } else { 0 },
            raw_clock_sec: when(native.raw_clock.tv_sec),
            raw_clock_nsec: when(native.raw_clock.tv_nsec),
        })
    }
}
