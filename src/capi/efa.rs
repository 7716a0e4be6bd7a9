// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_efa_*`: what only an EFA can be asked.

use super::ffi::{self, guard_on};
use crate::core::efa_query::{self, *};
use crate::core::handle::{vbn_ah, vbn_context, vbn_cq, vbn_mr, vbn_qp};
use crate::core::op::Op;
use crate::core::status::vbn_status;

/// Tells the limits and abilities of an EFA device, as they were when it was opened. vbn_context_caps tells them of any
/// device, with reasons.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (no EFA), VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: efadv_query_device(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_efa_query_device(
    context: *const vbn_context,
    info: *mut vbn_efa_device_info,
) -> vbn_status {
    guard_on(Op::EfaQueryDevice, context, || {
        ffi::check_output(info)?;
        ffi::output(info, &efa_query::device_info(&*ffi::pin(context)?)?)
    })
}

/// Tells how many requests a send queue of an EFA holds at most. Large inline data, or any in WRITE, halve it.
///
/// `attr` may be NULL: a queue without inline data.
///
/// - Ownership: fills the caller's variable.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (no EFA), VBN_ERR_SYMBOL_MISSING (rdma-core before
///   63), VBN_ERR_LIMIT (max_send_sge, max_rdma_sge, max_inline_data; references), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_BUSY, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: efadv_get_max_sq_depth(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_efa_max_sq_depth(
    context: *const vbn_context,
    attr: *const vbn_efa_sq_attr,
    depth: *mut u32,
) -> vbn_status {
    guard_on(Op::EfaMaxSqDepth, context, || {
        let depth = ffi::out(depth, "depth")?;
        let context = ffi::pin(context)?;
        *depth = efa_query::max_sq_depth(&context, &ffi::input(attr)?)?;
        Ok(())
    })
}

/// Tells how many receives a receive queue of an EFA holds at most.
///
/// - Ownership: fills the caller's variable.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (max_recv_sge 0 too), VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (no EFA),
///   VBN_ERR_SYMBOL_MISSING (rdma-core before 63), VBN_ERR_LIMIT (max_recv_sge; references), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: efadv_get_max_rq_depth(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_efa_max_rq_depth(
    context: *const vbn_context,
    attr: *const vbn_efa_rq_attr,
    depth: *mut u32,
) -> vbn_status {
    guard_on(Op::EfaMaxRqDepth, context, || {
        let depth = ffi::out(depth, "depth")?;
        let context = ffi::pin(context)?;
        *depth = efa_query::max_rq_depth(&context, &ffi::required_input(attr)?)?;
        Ok(())
    })
}

/// Tells the device's number of an address handle, which completions show as `slid`. Two handles for the same GID in one
/// protection domain have the same.
///
/// - Ownership: fills the caller's variable.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (no EFA), VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: efadv_query_ah(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_efa_query_ah(ah: *const vbn_ah, ahn: *mut u16) -> vbn_status {
    guard_on(Op::EfaQueryAh, ah, || {
        let ahn = ffi::out(ahn, "ahn")?;
        *ahn = efa_query::ah_number(&*ffi::pin(ah)?)?;
        Ok(())
    })
}

/// Tells where a completion queue of an EFA lies in this process's memory, for programs (or GPUs) that read it
/// themselves. Whoever does must not poll it by this library as well.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set. The addresses in it are borrowed: of use in
///   this process only, until the queue is closed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (no EFA), VBN_ERR_SYMBOL_MISSING (rdma-core before 59),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: efadv_query_cq(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_efa_query_cq(cq: *const vbn_cq, info: *mut vbn_efa_cq_info) -> vbn_status {
    guard_on(Op::EfaQueryCq, cq, || {
        ffi::check_output(info)?;
        ffi::output(info, &efa_query::cq_info(&*ffi::pin(cq)?)?)
    })
}

/// Tells where the send queue and the receive queue of a queue pair of an EFA lie in this process's memory, for programs
/// (or GPUs) that write requests themselves. Whoever does must not post by this library as well.
///
/// - Ownership: fills the caller's `*sq` and `*rq`, whose struct_size must be set; either may be NULL. The addresses in
///   them are borrowed: of use in this process only, until the queue pair is closed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (no EFA), VBN_ERR_SYMBOL_MISSING (rdma-core before 59),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: efadv_query_qp_wqs(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_efa_query_qp(
    qp: *const vbn_qp,
    sq: *mut vbn_efa_wq_info,
    rq: *mut vbn_efa_wq_info,
) -> vbn_status {
    guard_on(Op::EfaQueryQp, qp, || {
        let wanted = [sq, rq].map(|info| !info.is_null());
        for info in [sq, rq].into_iter().filter(|info| !info.is_null()) {
            ffi::check_output(info)?;
        }
        let infos = efa_query::wq_infos(&*ffi::pin(qp)?)?;
        for ((info, value), wanted) in [(sq, infos.0), (rq, infos.1)].into_iter().zip(wanted) {
            if wanted {
                ffi::output(info, &value)?;
            }
        }
        Ok(())
    })
}

/// Tells by which interconnect an EFA reaches a memory region, for each kind of access. Regions with equal numbers share
/// a path.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (no EFA, or its kernel driver is too old),
///   VBN_ERR_SYMBOL_MISSING (rdma-core before 50), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: efadv_query_mr(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_efa_query_mr(mr: *const vbn_mr, info: *mut vbn_efa_mr_info) -> vbn_status {
    guard_on(Op::EfaQueryMr, mr, || {
        ffi::check_output(info)?;
        ffi::output(info, &efa_query::mr_info(&*ffi::pin(mr)?)?)
    })
}
