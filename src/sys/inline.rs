// SPDX-License-Identifier: MIT OR Apache-2.0
//! The verbs which `infiniband/verbs.h` has as `static inline` C only, reached through the same tables with the same
//! checks. Results are C's own, in the convention that each function names; `convert` turns them into `Result`s.
//!
//! # Safety
//! All pointers are what the C function asks for: objects of one libibverbs that are alive during the call, arrays as
//! long as their counts say. Functions of the data path call the provider's pointer without a look at it, as C does:
//! whoever makes or adopts a QP, CQ or SRQ checks once that it is there.

use super::convert::{EINVAL, ENOSYS, EOPNOTSUPP, EPERM};
use super::ibv::*;
use super::os::set_errno;
use super::verbs::Verbs;
use core::ffi::{c_int, c_void};
use core::mem::{offset_of, size_of};
use core::ptr::null_mut;

/// C's `verbs_get_ctx`: whether `ctx` is the last field of a `verbs_context`.
///
/// # Safety
/// See the module.
#[inline(always)]
pub unsafe fn is_extended(ctx: *const ibv_context) -> bool {
    // SAFETY: the caller's `ctx` is a live context.
    unsafe { (*ctx).abi_compat as usize == __VERBS_ABI_IS_EXTENDED }
}

/// C's `verbs_get_ctx_op`: the operation at `offset` of `verbs_context`, if this context has one. The library's own
/// struct may be shorter than ours at its beginning, so everything is counted back from `ctx`. `_same` gives the type.
///
/// # Safety
/// See the module; `offset` and `_same` belong to the same field.
#[inline(always)]
unsafe fn op<F>(ctx: *const ibv_context, offset: usize, _same: fn(&verbs_context) -> &Option<F>) -> Option<F> {
    const CONTEXT: usize = offset_of!(verbs_context, context);
    // SAFETY: an extended context has `sz` right before it, and `sz` says that the slot lies in the same object.
    unsafe {
        if !is_extended(ctx) {
            return None;
        }
        let sz = ctx.byte_sub(CONTEXT - offset_of!(verbs_context, sz)).cast::<usize>().read();
        if sz < size_of::<verbs_context>() - offset {
            return None;
        }
        ctx.byte_sub(CONTEXT - offset).cast::<Option<F>>().read()
    }
}

/// The operation with this name of `verbs_context`; must stand in an unsafe block.
macro_rules! op {
    ($ctx:expr, $name:ident) => {
        op($ctx, offset_of!(verbs_context, $name), |table| &table.$name)
    };
}

/// What C does where a function that returns a pointer is not there.
fn unsupported<T>() -> *mut T {
    set_errno(EOPNOTSUPP);
    null_mut()
}

// ---- Data path ----

/// `ibv_post_send`: 0 or errno; on failure `*bad_wr` is the first request that was not posted (by most providers).
///
/// # Safety
/// See the module.
#[inline(always)]
pub unsafe fn post_send(qp: *mut ibv_qp, wr: *mut ibv_send_wr, bad_wr: *mut *mut ibv_send_wr) -> c_int {
    // SAFETY: a live QP whose provider has the operation: the caller's duty.
    unsafe { (*(*qp).context).ops.post_send.unwrap_unchecked()(qp, wr, bad_wr) }
}

/// `ibv_post_recv`: 0 or errno; `*bad_wr` as in [`post_send`].
///
/// # Safety
/// See the module.
#[inline(always)]
pub unsafe fn post_recv(qp: *mut ibv_qp, wr: *mut ibv_recv_wr, bad_wr: *mut *mut ibv_recv_wr) -> c_int {
    // SAFETY: a live QP whose provider has the operation: the caller's duty.
    unsafe { (*(*qp).context).ops.post_recv.unwrap_unchecked()(qp, wr, bad_wr) }
}

/// `ibv_post_srq_recv`: 0 or errno; `*bad_wr` as in [`post_send`].
///
/// # Safety
/// See the module.
#[inline(always)]
pub unsafe fn post_srq_recv(srq: *mut ibv_srq, wr: *mut ibv_recv_wr, bad_wr: *mut *mut ibv_recv_wr) -> c_int {
    // SAFETY: a live SRQ whose provider has the operation: the caller's duty.
    unsafe { (*(*srq).context).ops.post_srq_recv.unwrap_unchecked()(srq, wr, bad_wr) }
}

/// `ibv_poll_cq`: the number of completions, or negative (mostly without errno).
///
/// # Safety
/// See the module; `wc` has room for `num_entries`.
#[inline(always)]
pub unsafe fn poll_cq(cq: *mut ibv_cq, num_entries: c_int, wc: *mut ibv_wc) -> c_int {
    // SAFETY: a live CQ whose provider has the operation: the caller's duty.
    unsafe { (*(*cq).context).ops.poll_cq.unwrap_unchecked()(cq, num_entries, wc) }
}

/// `ibv_req_notify_cq`: 0 or errno.
///
/// # Safety
/// See the module.
#[inline(always)]
pub unsafe fn req_notify_cq(cq: *mut ibv_cq, solicited_only: c_int) -> c_int {
    // SAFETY: a live CQ whose provider has the operation: the caller's duty.
    unsafe { (*(*cq).context).ops.req_notify_cq.unwrap_unchecked()(cq, solicited_only) }
}

/// Functions that hand all arguments to the operation `$field` of their first one.
macro_rules! forward {
    ($($(#[$doc:meta])* $name:ident = $object:ty, $field:ident($($arg:ident: $t:ty),*) $(-> $ret:ty)?;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// See the module.
            #[inline(always)]
            pub unsafe fn $name(object: *mut $object $(, $arg: $t)*) $(-> $ret)? {
                // SAFETY: a live object whose provider has the operation: the caller's duty.
                unsafe { (*object).$field.unwrap_unchecked()(object $(, $arg)*) }
            }
        )*
    };
}

forward! {
    /// `ibv_start_poll`: 0, ENOENT when the CQ is empty, or errno. `end_poll` must follow after 0 only.
    start_poll = ibv_cq_ex, start_poll(attr: *mut ibv_poll_cq_attr) -> c_int;
    /// `ibv_next_poll`: 0, ENOENT when the CQ is empty, or errno.
    next_poll = ibv_cq_ex, next_poll() -> c_int;
    /// `ibv_end_poll`
    end_poll = ibv_cq_ex, end_poll();
    /// `ibv_wc_read_opcode`
    wc_read_opcode = ibv_cq_ex, read_opcode() -> ibv_wc_opcode;
    /// `ibv_wc_read_vendor_err`
    wc_read_vendor_err = ibv_cq_ex, read_vendor_err() -> u32;
    /// `ibv_wc_read_byte_len`
    wc_read_byte_len = ibv_cq_ex, read_byte_len() -> u32;
    /// `ibv_wc_read_imm_data` and `ibv_wc_read_invalidated_rkey`: a big-endian immediate, or a rkey in host order.
    wc_read_imm_or_rkey = ibv_cq_ex, read_imm_data() -> u32;
    /// `ibv_wc_read_qp_num`
    wc_read_qp_num = ibv_cq_ex, read_qp_num() -> u32;
    /// `ibv_wc_read_src_qp`
    wc_read_src_qp = ibv_cq_ex, read_src_qp() -> u32;
    /// `ibv_wc_read_wc_flags`
    wc_read_wc_flags = ibv_cq_ex, read_wc_flags() -> ibv_wc_flags;
    /// `ibv_wc_read_slid`
    wc_read_slid = ibv_cq_ex, read_slid() -> u32;
    /// `ibv_wc_read_sl`
    wc_read_sl = ibv_cq_ex, read_sl() -> u8;
    /// `ibv_wc_read_dlid_path_bits`
    wc_read_dlid_path_bits = ibv_cq_ex, read_dlid_path_bits() -> u8;
    /// `ibv_wc_read_completion_ts`: in ticks of the device's clock.
    wc_read_completion_ts = ibv_cq_ex, read_completion_ts() -> u64;
    /// `ibv_wc_read_completion_wallclock_ns`
    wc_read_completion_wallclock_ns = ibv_cq_ex, read_completion_wallclock_ns() -> u64;
    /// `ibv_wc_read_cvlan`
    wc_read_cvlan = ibv_cq_ex, read_cvlan() -> u16;
    /// `ibv_wc_read_flow_tag`
    wc_read_flow_tag = ibv_cq_ex, read_flow_tag() -> u32;
    /// `ibv_wc_read_tm_info`
    wc_read_tm_info = ibv_cq_ex, read_tm_info(tm_info: *mut ibv_wc_tm_info);

    /// `ibv_wr_start`: takes the provider's lock. [`wr_complete`] or [`wr_abort`] must follow.
    wr_start = ibv_qp_ex, wr_start();
    /// `ibv_wr_complete`: 0 or errno; on failure none of the batch is posted.
    wr_complete = ibv_qp_ex, wr_complete() -> c_int;
    /// `ibv_wr_abort`
    wr_abort = ibv_qp_ex, wr_abort();
    /// `ibv_wr_send`
    wr_send = ibv_qp_ex, wr_send();
    /// `ibv_wr_send_imm`: `imm_data` is big-endian.
    wr_send_imm = ibv_qp_ex, wr_send_imm(imm_data: __be32);
    /// `ibv_wr_send_inv`
    wr_send_inv = ibv_qp_ex, wr_send_inv(invalidate_rkey: u32);
    /// `ibv_wr_send_tso`
    wr_send_tso = ibv_qp_ex, wr_send_tso(hdr: *mut c_void, hdr_sz: u16, mss: u16);
    /// `ibv_wr_rdma_read`
    wr_rdma_read = ibv_qp_ex, wr_rdma_read(rkey: u32, remote_addr: u64);
    /// `ibv_wr_rdma_write`
    wr_rdma_write = ibv_qp_ex, wr_rdma_write(rkey: u32, remote_addr: u64);
    /// `ibv_wr_rdma_write_imm`: `imm_data` is big-endian.
    wr_rdma_write_imm = ibv_qp_ex, wr_rdma_write_imm(rkey: u32, remote_addr: u64, imm_data: __be32);
    /// `ibv_wr_atomic_cmp_swp`
    wr_atomic_cmp_swp = ibv_qp_ex, wr_atomic_cmp_swp(rkey: u32, remote_addr: u64, compare: u64, swap: u64);
    /// `ibv_wr_atomic_fetch_add`
    wr_atomic_fetch_add = ibv_qp_ex, wr_atomic_fetch_add(rkey: u32, remote_addr: u64, add: u64);
    /// `ibv_wr_atomic_write`, since 44: the field is there only if the QP was made with `IBV_QP_EX_WITH_ATOMIC_WRITE`.
    wr_atomic_write = ibv_qp_ex, wr_atomic_write(rkey: u32, remote_addr: u64, atomic_wr: *const c_void);
    /// `ibv_wr_flush`, since 45: the field is there only if the QP was made with `IBV_QP_EX_WITH_FLUSH`.
    wr_flush = ibv_qp_ex, wr_flush(rkey: u32, remote_addr: u64, len: usize, kind: u8, level: u8);
    /// `ibv_wr_bind_mw`
    wr_bind_mw = ibv_qp_ex, wr_bind_mw(mw: *mut ibv_mw, rkey: u32, bind_info: *const ibv_mw_bind_info);
    /// `ibv_wr_local_inv`
    wr_local_inv = ibv_qp_ex, wr_local_inv(invalidate_rkey: u32);
    /// `ibv_wr_set_ud_addr`
    wr_set_ud_addr = ibv_qp_ex, wr_set_ud_addr(ah: *mut ibv_ah, remote_qpn: u32, remote_qkey: u32);
    /// `ibv_wr_set_xrc_srqn`
    wr_set_xrc_srqn = ibv_qp_ex, wr_set_xrc_srqn(remote_srqn: u32);
    /// `ibv_wr_set_inline_data`
    wr_set_inline_data = ibv_qp_ex, wr_set_inline_data(addr: *mut c_void, length: usize);
    /// `ibv_wr_set_inline_data_list`
    wr_set_inline_data_list = ibv_qp_ex, wr_set_inline_data_list(num_buf: usize, buf_list: *const ibv_data_buf);
    /// `ibv_wr_set_sge`
    wr_set_sge = ibv_qp_ex, wr_set_sge(lkey: u32, addr: u64, length: u32);
    /// `ibv_wr_set_sge_list`
    wr_set_sge_list = ibv_qp_ex, wr_set_sge_list(num_sge: usize, sg_list: *const ibv_sge);
}

// ---- Queries ----

/// `ibv_query_port`: 0 or errno. Fields that the library doesn't know are zero.
///
/// # Safety
/// See the module.
pub unsafe fn query_port(verbs: &Verbs, context: *mut ibv_context, port_num: u8, attr: *mut ibv_port_attr) -> c_int {
    // SAFETY: the caller's pointers are valid; the exported function writes only the beginning of `attr`.
    unsafe {
        if let Some(f) = op!(context, query_port) {
            return f(context, port_num, attr, size_of::<ibv_port_attr>());
        }
        attr.write(ibv_port_attr::zeroed());
        (verbs.query_port)(context, port_num, attr.cast())
    }
}

/// `ibv_query_device_ex`: 0 or errno. Without the extended query only `orig_attr` is filled in, the rest is zero.
///
/// # Safety
/// See the module; `input` may be NULL.
pub unsafe fn query_device_ex(
    verbs: &Verbs,
    context: *mut ibv_context,
    input: *const ibv_query_device_ex_input,
    attr: *mut ibv_device_attr_ex,
) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe {
        if !input.is_null() && (*input).comp_mask != 0 {
            return EINVAL;
        }
        if let Some(f) = op!(context, query_device_ex) {
            let ret = f(context, input, attr, size_of::<ibv_device_attr_ex>());
            if ret != EOPNOTSUPP && ret != ENOSYS {
                return ret;
            }
        }
        attr.write(ibv_device_attr_ex::zeroed());
        (verbs.query_device)(context, &raw mut (*attr).orig_attr)
    }
}

/// `ibv_query_rt_values_ex`: 0 or errno.
///
/// # Safety
/// See the module.
pub unsafe fn query_rt_values_ex(context: *mut ibv_context, values: *mut ibv_values_ex) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!(context, query_rt_values).map_or(EOPNOTSUPP, |f| f(context, values)) }
}

// ---- Queues ----

/// `ibv_create_cq_ex`: NULL and errno on failure.
///
/// # Safety
/// See the module.
pub unsafe fn create_cq_ex(context: *mut ibv_context, attr: *mut ibv_cq_init_attr_ex) -> *mut ibv_cq_ex {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!(context, create_cq_ex).map_or_else(unsupported, |f| f(context, attr)) }
}

/// `ibv_modify_cq`: 0 or errno.
///
/// # Safety
/// See the module.
pub unsafe fn modify_cq(cq: *mut ibv_cq, attr: *mut ibv_modify_cq_attr) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!((*cq).context, modify_cq).map_or(EOPNOTSUPP, |f| f(cq, attr)) }
}

/// `ibv_create_qp_ex`: NULL and errno on failure.
///
/// # Safety
/// See the module.
pub unsafe fn create_qp_ex(verbs: &Verbs, context: *mut ibv_context, attr: *mut ibv_qp_init_attr_ex) -> *mut ibv_qp {
    // SAFETY: the caller's pointers are valid; the short struct is the beginning of the long one.
    unsafe {
        if (*attr).comp_mask == IBV_QP_INIT_ATTR_PD {
            return (verbs.create_qp)((*attr).pd, attr.cast());
        }
        op!(context, create_qp_ex).map_or_else(unsupported, |f| f(context, attr))
    }
}

/// `ibv_open_qp`: NULL and errno on failure.
///
/// # Safety
/// See the module.
pub unsafe fn open_qp(context: *mut ibv_context, attr: *mut ibv_qp_open_attr) -> *mut ibv_qp {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!(context, open_qp).map_or_else(unsupported, |f| f(context, attr)) }
}

/// `ibv_modify_qp_rate_limit`: 0 or errno.
///
/// # Safety
/// See the module.
pub unsafe fn modify_qp_rate_limit(qp: *mut ibv_qp, attr: *mut ibv_qp_rate_limit_attr) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!((*qp).context, modify_qp_rate_limit).map_or(EOPNOTSUPP, |f| f(qp, attr)) }
}

/// `ibv_create_srq_ex`: NULL and errno on failure.
///
/// # Safety
/// See the module.
pub unsafe fn create_srq_ex(verbs: &Verbs, context: *mut ibv_context, attr: *mut ibv_srq_init_attr_ex) -> *mut ibv_srq {
    // SAFETY: the caller's pointers are valid; the short struct is the beginning of the long one.
    unsafe {
        let mask = (*attr).comp_mask;
        let short = mask & !(IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE) == 0 && mask & IBV_SRQ_INIT_ATTR_PD != 0;
        if short && (mask & IBV_SRQ_INIT_ATTR_TYPE == 0 || (*attr).srq_type == IBV_SRQT_BASIC) {
            return (verbs.create_srq)((*attr).pd, attr.cast());
        }
        op!(context, create_srq_ex).map_or_else(unsupported, |f| f(context, attr))
    }
}

/// `ibv_get_srq_num`: 0 or errno.
///
/// # Safety
/// See the module.
pub unsafe fn get_srq_num(srq: *mut ibv_srq, srq_num: *mut u32) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!((*srq).context, get_srq_num).map_or(EOPNOTSUPP, |f| f(srq, srq_num)) }
}

/// `ibv_post_srq_ops`: 0 or errno.
///
/// # Safety
/// See the module.
pub unsafe fn post_srq_ops(srq: *mut ibv_srq, wr: *mut ibv_ops_wr, bad_wr: *mut *mut ibv_ops_wr) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe {
        let Some(f) = op!((*srq).context, post_srq_ops) else {
            bad_wr.write(wr);
            return EOPNOTSUPP;
        };
        f(srq, wr, bad_wr)
    }
}

// ---- Steering ----

/// `ibv_create_flow`: NULL and errno on failure.
///
/// # Safety
/// See the module; the specs that `attr` counts follow it.
pub unsafe fn create_flow(qp: *mut ibv_qp, attr: *mut ibv_flow_attr) -> *mut ibv_flow {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!((*qp).context, ibv_create_flow).map_or_else(unsupported, |f| f(qp, attr)) }
}

/// `ibv_destroy_flow`: 0 or errno.
///
/// # Safety
/// See the module.
pub unsafe fn destroy_flow(flow: *mut ibv_flow) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!((*flow).context, ibv_destroy_flow).map_or(EOPNOTSUPP, |f| f(flow)) }
}

/// `ibv_create_counters`: NULL and errno on failure.
///
/// # Safety
/// See the module.
pub unsafe fn create_counters(context: *mut ibv_context, attr: *mut ibv_counters_init_attr) -> *mut ibv_counters {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!(context, create_counters).map_or_else(unsupported, |f| f(context, attr)) }
}

/// `ibv_destroy_counters`: 0 or errno.
///
/// # Safety
/// See the module.
pub unsafe fn destroy_counters(counters: *mut ibv_counters) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!((*counters).context, destroy_counters).map_or(EOPNOTSUPP, |f| f(counters)) }
}

/// `ibv_attach_counters_point_flow`: 0 or errno.
///
/// # Safety
/// See the module; `flow` may be NULL.
pub unsafe fn attach_counters_point_flow(
    counters: *mut ibv_counters,
    attr: *mut ibv_counter_attach_attr,
    flow: *mut ibv_flow,
) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!((*counters).context, attach_counters_point_flow).map_or(EOPNOTSUPP, |f| f(counters, attr, flow)) }
}

/// `ibv_read_counters`: 0 or errno.
///
/// # Safety
/// See the module; `values` has room for `count` numbers.
pub unsafe fn read_counters(counters: *mut ibv_counters, values: *mut u64, count: u32, flags: u32) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!((*counters).context, read_counters).map_or(EOPNOTSUPP, |f| f(counters, values, count, flags)) }
}

// ---- Memory ----

/// `ibv_alloc_mw`: NULL and errno on failure.
///
/// # Safety
/// See the module.
pub unsafe fn alloc_mw(pd: *mut ibv_pd, kind: ibv_mw_type) -> *mut ibv_mw {
    // SAFETY: the caller's pointers are valid.
    unsafe { (*(*pd).context).ops.alloc_mw.map_or_else(unsupported, |f| f(pd, kind)) }
}

/// `ibv_dealloc_mw`: 0 or errno.
///
/// # Safety
/// See the module.
pub unsafe fn dealloc_mw(mw: *mut ibv_mw) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { (*(*mw).context).ops.dealloc_mw.map_or(EOPNOTSUPP, |f| f(mw)) }
}

/// `ibv_bind_mw` (type 1 windows): 0 or errno.
///
/// # Safety
/// See the module.
pub unsafe fn bind_mw(qp: *mut ibv_qp, mw: *mut ibv_mw, bind: *mut ibv_mw_bind) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe {
        let info = &(*bind).bind_info;
        if (*mw).r#type != IBV_MW_TYPE_1 {
            return EINVAL;
        }
        if info.mr.is_null() {
            if info.addr != 0 || info.length != 0 {
                return EINVAL;
            }
        } else if (*mw).pd != (*info.mr).pd {
            return EPERM;
        }
        (*(*mw).context).ops.bind_mw.map_or(EOPNOTSUPP, |f| f(qp, mw, bind))
    }
}

/// `ibv_inc_rkey`: the next key of a type 2 window; only the low byte moves.
pub fn inc_rkey(rkey: u32) -> u32 {
    (rkey & !0xff) | (rkey.wrapping_add(1) & 0xff)
}

/// `ibv_advise_mr`: 0 or errno.
///
/// # Safety
/// See the module.
pub unsafe fn advise_mr(
    pd: *mut ibv_pd,
    advice: ibv_advise_mr_advice,
    flags: u32,
    sg_list: *mut ibv_sge,
    num_sge: u32,
) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!((*pd).context, advise_mr).map_or(EOPNOTSUPP, |f| f(pd, advice, flags, sg_list, num_sge)) }
}

/// `ibv_alloc_null_mr`: NULL and errno on failure.
///
/// # Safety
/// See the module.
pub unsafe fn alloc_null_mr(pd: *mut ibv_pd) -> *mut ibv_mr {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!((*pd).context, alloc_null_mr).map_or_else(unsupported, |f| f(pd)) }
}

/// `ibv_alloc_dm`: NULL and errno on failure.
///
/// # Safety
/// See the module.
pub unsafe fn alloc_dm(context: *mut ibv_context, attr: *mut ibv_alloc_dm_attr) -> *mut ibv_dm {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!(context, alloc_dm).map_or_else(unsupported, |f| f(context, attr)) }
}

/// `ibv_free_dm`: 0 or errno.
///
/// # Safety
/// See the module.
pub unsafe fn free_dm(dm: *mut ibv_dm) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!((*dm).context, free_dm).map_or(EOPNOTSUPP, |f| f(dm)) }
}

/// `ibv_reg_dm_mr`: NULL and errno on failure.
///
/// # Safety
/// See the module.
pub unsafe fn reg_dm_mr(pd: *mut ibv_pd, dm: *mut ibv_dm, offset: u64, length: usize, access: u32) -> *mut ibv_mr {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!((*pd).context, reg_dm_mr).map_or_else(unsupported, |f| f(pd, dm, offset, length, access)) }
}

/// `ibv_memcpy_to_dm`: 0 or errno.
///
/// # Safety
/// See the module.
pub unsafe fn memcpy_to_dm(dm: *mut ibv_dm, offset: u64, host: *const c_void, length: usize) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { (*dm).memcpy_to_dm.map_or(EOPNOTSUPP, |f| f(dm, offset, host, length)) }
}

/// `ibv_memcpy_from_dm`: 0 or errno.
///
/// # Safety
/// See the module.
pub unsafe fn memcpy_from_dm(host: *mut c_void, dm: *mut ibv_dm, offset: u64, length: usize) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { (*dm).memcpy_from_dm.map_or(EOPNOTSUPP, |f| f(host, dm, offset, length)) }
}

// ---- Domains ----

/// `ibv_alloc_td`: NULL and errno on failure.
///
/// # Safety
/// See the module.
pub unsafe fn alloc_td(context: *mut ibv_context, attr: *mut ibv_td_init_attr) -> *mut ibv_td {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!(context, alloc_td).map_or_else(unsupported, |f| f(context, attr)) }
}

/// `ibv_dealloc_td`: 0 or errno.
///
/// # Safety
/// See the module.
pub unsafe fn dealloc_td(td: *mut ibv_td) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!((*td).context, dealloc_td).map_or(EOPNOTSUPP, |f| f(td)) }
}

/// `ibv_alloc_parent_domain`: NULL and errno on failure.
///
/// # Safety
/// See the module.
pub unsafe fn alloc_parent_domain(context: *mut ibv_context, attr: *mut ibv_parent_domain_init_attr) -> *mut ibv_pd {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!(context, alloc_parent_domain).map_or_else(unsupported, |f| f(context, attr)) }
}

/// `ibv_open_xrcd`: NULL and errno on failure.
///
/// # Safety
/// See the module.
pub unsafe fn open_xrcd(context: *mut ibv_context, attr: *mut ibv_xrcd_init_attr) -> *mut ibv_xrcd {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!(context, open_xrcd).map_or_else(unsupported, |f| f(context, attr)) }
}

/// `ibv_close_xrcd`: 0 or errno.
///
/// # Safety
/// See the module.
pub unsafe fn close_xrcd(xrcd: *mut ibv_xrcd) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!((*xrcd).context, close_xrcd).map_or(EOPNOTSUPP, |f| f(xrcd)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::os::errno;
    use core::ffi::CStr;

    unsafe extern "C" fn create_cq(_: *mut ibv_context, _: *mut ibv_cq_init_attr_ex) -> *mut ibv_cq_ex {
        core::ptr::dangling_mut()
    }

    unsafe extern "C" fn port(_: *mut ibv_context, num: u8, attr: *mut ibv_port_attr, len: usize) -> c_int {
        assert_eq!(len, size_of::<ibv_port_attr>());
        // SAFETY: the test's own struct.
        unsafe { (*attr).lid = num.into() };
        0
    }

    unsafe extern "C" fn old_port(_: *mut ibv_context, num: u8, attr: *mut _compat_ibv_port_attr) -> c_int {
        // SAFETY: the test's own struct.
        unsafe { (*attr.cast::<ibv_port_attr>()).sm_lid = num.into() };
        0
    }

    unsafe extern "C" fn no_device_ex(
        _: *mut ibv_context,
        _: *const ibv_query_device_ex_input,
        attr: *mut ibv_device_attr_ex,
        _: usize,
    ) -> c_int {
        // SAFETY: the test's own struct.
        unsafe { (*attr).max_dm_size = 1 };
        ENOSYS
    }

    unsafe extern "C" fn device(_: *mut ibv_context, attr: *mut ibv_device_attr) -> c_int {
        // SAFETY: the test's own struct.
        unsafe { (*attr).max_qp = 7 };
        0
    }

    fn verbs() -> Verbs {
        let mut lookup = |name: &CStr, _: &CStr| match name.to_bytes() {
            b"ibv_query_port" => old_port as *mut c_void,
            b"ibv_query_device" => device as *mut c_void,
            _ => core::ptr::dangling_mut(),
        };
        // SAFETY: only these two are called.
        unsafe { Verbs::load(&mut lookup) }.0.unwrap()
    }

    fn extended() -> verbs_context {
        let mut v = verbs_context::zeroed();
        v.context.abi_compat = core::ptr::without_provenance_mut(__VERBS_ABI_IS_EXTENDED);
        v.sz = size_of::<verbs_context>();
        v.create_cq_ex = Some(create_cq);
        v.query_port = Some(port);
        v.query_device_ex = Some(no_device_ex);
        v
    }

    /// A pointer to the context inside that may also be used to look at what lies before it.
    fn context(v: &mut verbs_context) -> *mut ibv_context {
        // SAFETY: stays inside of `v`.
        unsafe { &raw mut (*core::ptr::from_mut(v)).context }
    }

    #[test]
    fn an_operation_is_used_only_where_the_library_has_it() {
        let mut v = extended();
        let mut attr = ibv_cq_init_attr_ex::zeroed();
        // SAFETY: all pointers are the test's own.
        let mut call = |v: &mut verbs_context| unsafe {
            set_errno(0);
            let cq = create_cq_ex(context(v), &mut attr);
            (!cq.is_null(), errno())
        };
        assert_eq!(call(&mut v), (true, 0));
        // Exactly long enough, and one slot too short.
        v.sz = size_of::<verbs_context>() - offset_of!(verbs_context, create_cq_ex);
        assert_eq!(call(&mut v), (true, 0));
        v.sz -= 8;
        assert_eq!(call(&mut v), (false, EOPNOTSUPP));
        v = extended();
        v.create_cq_ex = None;
        assert_eq!(call(&mut v), (false, EOPNOTSUPP));
        v = extended();
        v.context.abi_compat = null_mut();
        assert_eq!(call(&mut v), (false, EOPNOTSUPP));
    }

    #[test]
    fn queries_fall_back_and_leave_no_garbage() {
        let (verbs, mut v) = (verbs(), extended());
        // SAFETY: all pointers are the test's own.
        unsafe {
            let mut attr = ibv_port_attr { lid: 9, sm_lid: 9, active_speed_ex: 9, ..ibv_port_attr::zeroed() };
            assert_eq!(query_port(&verbs, context(&mut v), 2, &mut attr), 0);
            assert_eq!((attr.lid, attr.sm_lid), (2, 9));
            v.query_port = None;
            assert_eq!(query_port(&verbs, context(&mut v), 3, &mut attr), 0);
            assert_eq!((attr.lid, attr.sm_lid, attr.active_speed_ex), (0, 3, 0));

            let mut attr = ibv_device_attr_ex::zeroed();
            let mut input = ibv_query_device_ex_input { comp_mask: 1 };
            assert_eq!(query_device_ex(&verbs, context(&mut v), &input, &mut attr), EINVAL);
            input.comp_mask = 0;
            assert_eq!(query_device_ex(&verbs, context(&mut v), &input, &mut attr), 0);
            assert_eq!((attr.orig_attr.max_qp, attr.max_dm_size), (7, 0));
        }
    }

    #[test]
    fn window_keys_turn_over_in_the_low_byte() {
        assert_eq!(inc_rkey(0x1234_5601), 0x1234_5602);
        assert_eq!(inc_rkey(0xffff_ffff), 0xffff_ff00);
    }
}
