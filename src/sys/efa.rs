// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions that libefa exports, as `verbs` has libibverbs', and the inline functions of its header. Its types are
//! `efadv`'s, and here too.

pub use super::efadv::*;
use super::ibv::*;
use super::verbs::{Convention, MissingSet, Symbol, functions};
use core::ffi::{CStr, c_int, c_void};

functions! {
    /// libefa's functions. The names are C's without `efadv_`; `None` where this library has none.
    Efa
    required {
    }
    optional {
        create_driver_qp: fn(*mut ibv_pd, *mut ibv_qp_init_attr, u32) -> *mut ibv_qp, c"efadv_create_driver_qp", c"EFA_1.0", "24", NullErrno;
        create_qp_ex: fn(*mut ibv_context, *mut ibv_qp_init_attr_ex, *mut efadv_qp_init_attr, u32) -> *mut ibv_qp, c"efadv_create_qp_ex", c"EFA_1.1", "26", NullErrno;
        query_device: fn(*mut ibv_context, *mut efadv_device_attr, u32) -> c_int, c"efadv_query_device", c"EFA_1.1", "26", RetErrno;
        query_ah: fn(*mut ibv_ah, *mut efadv_ah_attr, u32) -> c_int, c"efadv_query_ah", c"EFA_1.1", "26", RetErrno;
        create_cq: fn(*mut ibv_context, *mut ibv_cq_init_attr_ex, *mut efadv_cq_init_attr, u32) -> *mut ibv_cq_ex, c"efadv_create_cq", c"EFA_1.2", "43", NullErrno;
        cq_from_ibv_cq_ex: fn(*mut ibv_cq_ex) -> *mut efadv_cq, c"efadv_cq_from_ibv_cq_ex", c"EFA_1.2", "43", Value;
        query_mr: fn(*mut ibv_mr, *mut efadv_mr_attr, u32) -> c_int, c"efadv_query_mr", c"EFA_1.3", "50", RetErrno;
        query_qp_wqs: fn(*mut ibv_qp, *mut efadv_wq_attr, *mut efadv_wq_attr, u32) -> c_int, c"efadv_query_qp_wqs", c"EFA_1.4", "59", RetErrno;
        query_cq: fn(*mut ibv_cq, *mut efadv_cq_attr, u32) -> c_int, c"efadv_query_cq", c"EFA_1.4", "59", RetErrno;
        get_max_sq_depth: fn(*mut ibv_context, *mut efadv_sq_depth_attr, u32) -> c_int, c"efadv_get_max_sq_depth", c"EFA_1.5", "63", NegErrno;
        get_max_rq_depth: fn(*mut ibv_context, *mut efadv_rq_depth_attr, u32) -> c_int, c"efadv_get_max_rq_depth", c"EFA_1.5", "63", NegErrno;
        qp_from_ibv_qp_ex: fn(*mut ibv_qp_ex) -> *mut efadv_qp, c"efadv_qp_from_ibv_qp_ex", c"EFA_1.6", "64", Value;
        create_comp_cntr: fn(*mut ibv_context, *mut ibv_comp_cntr_init_attr, *mut efadv_comp_cntr_init_attr, u32) -> *mut ibv_comp_cntr, c"efadv_create_comp_cntr", c"EFA_1.7", "65", NullErrno;
    }
}

/// `efadv_wc_read_sgid`: 0, or a negated errno; ENOENT when the sender has an address handle here.
///
/// # Safety
/// The queue was made with `EFADV_WC_EX_WITH_SGID`, and a completion is being read.
#[inline(always)]
pub unsafe fn wc_read_sgid(cq: *mut efadv_cq, sgid: *mut ibv_gid) -> c_int {
    // SAFETY: a queue made with the flag has the operation: the caller's duty.
    unsafe { (*cq).wc_read_sgid.unwrap_unchecked()(cq, sgid) }
}

/// `efadv_wc_is_unsolicited`.
///
/// # Safety
/// The queue was made with `EFADV_WC_EX_WITH_IS_UNSOLICITED`, and a completion is being read.
#[inline(always)]
pub unsafe fn wc_is_unsolicited(cq: *mut efadv_cq) -> bool {
    // SAFETY: a queue made with the flag has the operation: the caller's duty.
    unsafe { (*cq).wc_is_unsolicited.unwrap_unchecked()(cq) }
}

/// `efadv_wr_set_processing_hints`.
///
/// # Safety
/// The queue pair was made with `EFADV_WR_EX_WITH_PROCESSING_HINTS`, and a request is being built.
#[inline(always)]
pub unsafe fn wr_set_processing_hints(qp: *mut efadv_qp, hints: u32) {
    // SAFETY: a queue pair made with the flag has the operation: the caller's duty.
    unsafe { (*qp).wr_set_processing_hints.unwrap_unchecked()(qp, hints) }
}
