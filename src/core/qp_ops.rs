// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which operations connected queue pairs have on a device, and why not the others.

use super::caps::{DEVICE_ATOMIC_WRITE, DEVICE_FLUSH_GLOBAL, DEVICE_FLUSH_PERSISTENT};
use super::context::Context;
use super::error::Result;
use super::mw::{self, VBN_MW_TYPE_2};
use super::post_ops::*;
use super::qp_create::*;
use crate::sys::ibv;

/// `send_ops`: VBN_WR_ATOMIC_CMP_AND_SWP.
pub const VBN_QP_OP_ATOMIC_CMP_AND_SWP: u64 = 1 << VBN_WR_ATOMIC_CMP_AND_SWP;
/// `send_ops`: VBN_WR_ATOMIC_FETCH_AND_ADD.
pub const VBN_QP_OP_ATOMIC_FETCH_AND_ADD: u64 = 1 << VBN_WR_ATOMIC_FETCH_AND_ADD;
/// `send_ops`: VBN_WR_LOCAL_INV.
pub const VBN_QP_OP_LOCAL_INV: u64 = 1 << VBN_WR_LOCAL_INV;
/// `send_ops`: VBN_WR_BIND_MW.
pub const VBN_QP_OP_BIND_MW: u64 = 1 << VBN_WR_BIND_MW;
/// `send_ops`: VBN_WR_SEND_WITH_INV.
pub const VBN_QP_OP_SEND_WITH_INV: u64 = 1 << VBN_WR_SEND_WITH_INV;
/// `send_ops`: VBN_WR_FLUSH. Not among what 0 stands for: it must be asked for.
pub const VBN_QP_OP_FLUSH: u64 = 1 << VBN_WR_FLUSH;
/// `send_ops`: VBN_WR_ATOMIC_WRITE. Must be asked for, too.
pub const VBN_QP_OP_ATOMIC_WRITE: u64 = 1 << VBN_WR_ATOMIC_WRITE;

/// libibverbs' opcode for segmentation offload, which no queue pair here has.
const TSO: u64 = 1 << ibv::IBV_WR_TSO;
const ATOMICS: u64 = VBN_QP_OP_ATOMIC_CMP_AND_SWP | VBN_QP_OP_ATOMIC_FETCH_AND_ADD;
const INVALIDATE: u64 = VBN_QP_OP_LOCAL_INV | VBN_QP_OP_SEND_WITH_INV;

/// All that `send_ops` may ask for, somewhere.
/// cbindgen:ignore
pub const KNOWN: u64 = RC_OPS | ATOMICS | INVALIDATE | VBN_QP_OP_BIND_MW | TSO | WR_ONLY;

/// What RC queue pairs have on the device, but for what must be asked for.
pub fn of_rc(context: &Context) -> u64 {
    let device = context.device();
    let when = |there: bool, ops: u64| if there { ops } else { 0 };
    RC_OPS
        | when(device.atomic_cap != ibv::IBV_ATOMIC_NONE, ATOMICS)
        | when(device.device_cap_flags & ibv::IBV_DEVICE_MEM_MGT_EXTENSIONS != 0, INVALIDATE)
        | when(mw::has_type(context, VBN_MW_TYPE_2), VBN_QP_OP_BIND_MW)
}

/// The same with what is asked for.
pub fn of_rc_asked(context: &Context, asked: u64) -> Result<u64> {
    let mut ops = of_rc(context);
    if asked & WR_ONLY != 0 {
        let flags = context.query_device()?.device_cap_flags_ex;
        if flags & DEVICE_FLUSH_GLOBAL != 0 {
            ops |= VBN_QP_OP_FLUSH;
        }
        if flags & DEVICE_ATOMIC_WRITE != 0 {
            ops |= VBN_QP_OP_ATOMIC_WRITE;
        }
    }
    Ok(ops)
}

/// Which flushes the device has: VBN_FLUSH_*.
pub fn flushes(context: &Context, ops: u64) -> Result<u32> {
    if ops & VBN_QP_OP_FLUSH == 0 {
        return Ok(0);
    }
    let persistent = context.query_device()?.device_cap_flags_ex & DEVICE_FLUSH_PERSISTENT != 0;
    Ok(VBN_FLUSH_GLOBAL | if persistent { VBN_FLUSH_PERSISTENT } else { 0 })
}

/// Why RC queue pairs of a device don't have the first of `lacking`.
pub fn absent(lacking: u64) -> &'static str {
    let reasons = [
        (ATOMICS, "the device reports no atomics (atomic_cap is VBN_ATOMIC_NONE)"),
        (INVALIDATE, "the device doesn't report that it can invalidate keys (VBN_CAP_INVALIDATE)"),
        (VBN_QP_OP_BIND_MW, "the device reports no memory windows of type 2"),
        (
            WR_ONLY,
            "the device doesn't report it: it takes a device, a kernel and an rdma-core that have it (soft-RoCE: Linux 6.2; \
             rdma-core 44 for atomic writes, 45 for flushes)",
        ),
        (TSO, "segmentation offload is for raw packets and IP over InfiniBand, which this library does not send"),
    ];
    reasons.iter().find(|(ops, _)| lacking & ops != 0).map_or("", |(_, reason)| reason)
}

/// Why a UC queue pair has not these.
pub fn absent_on_uc(lacking: u64) -> &'static str {
    if lacking & (ATOMICS | VBN_QP_OP_RDMA_READ) != 0 {
        "UC has no answers, so neither reads nor atomics: use RC"
    } else {
        "UC sends and writes; keys taken back, windows, flushes and atomic writes are RC's: use RC"
    }
}

/// The operations by libibverbs' numbers, which are the opcodes' but for the last two.
pub fn to_native(ops: u64) -> u64 {
    let when = |op: u64, native: u64| if ops & op != 0 { native } else { 0 };
    ops & !WR_ONLY
        | when(VBN_QP_OP_FLUSH, ibv::IBV_QP_EX_WITH_FLUSH)
        | when(VBN_QP_OP_ATOMIC_WRITE, ibv::IBV_QP_EX_WITH_ATOMIC_WRITE)
}

const _: () = {
    assert!(VBN_QP_OP_ATOMIC_CMP_AND_SWP == ibv::IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP);
    assert!(VBN_QP_OP_ATOMIC_FETCH_AND_ADD == ibv::IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD);
    assert!(VBN_QP_OP_LOCAL_INV == ibv::IBV_QP_EX_WITH_LOCAL_INV && TSO == ibv::IBV_QP_EX_WITH_TSO);
    assert!(VBN_QP_OP_BIND_MW == ibv::IBV_QP_EX_WITH_BIND_MW);
    assert!(VBN_QP_OP_SEND_WITH_INV == ibv::IBV_QP_EX_WITH_SEND_WITH_INV);
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_two_have_other_numbers_in_libibverbs() {
        assert_eq!(to_native(RC_OPS | ATOMICS | INVALIDATE), RC_OPS | ATOMICS | INVALIDATE);
        assert_eq!(to_native(VBN_QP_OP_FLUSH | VBN_QP_OP_SEND), 1 << 11 | VBN_QP_OP_SEND);
        assert_eq!(to_native(VBN_QP_OP_ATOMIC_WRITE), 1 << 12);
    }

    #[test]
    fn each_operation_that_may_be_absent_has_a_reason() {
        for bit in (0..64).filter(|bit| (KNOWN & !RC_OPS) >> bit & 1 == 1) {
            assert!(!absent(1 << bit).is_empty(), "bit {bit}");
        }
    }
}
