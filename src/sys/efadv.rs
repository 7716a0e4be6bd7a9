// SPDX-License-Identifier: MIT OR Apache-2.0
//! libefa's public ABI (`infiniband/efadv.h`) under its C names, rdma-core 33 to 65. `ibv` says how C becomes Rust here;
//! like it, this file uses nothing but `core` and `ibv`. The functions are in `efa`.
//!
//! Every function that takes a length wants to know how much of the struct the caller knows. A longer struct than the
//! library's is fine while its tail is zero; outputs are filled as far as the library knows them. `comp_mask` is 0.

use super::ibv::*;
use core::ffi::c_int;

pub const EFADV_DEVICE_ATTR_CAPS_RDMA_READ: u32 = 1 << 0;
/// since 32
pub const EFADV_DEVICE_ATTR_CAPS_RNR_RETRY: u32 = 1 << 1;
/// since 43
pub const EFADV_DEVICE_ATTR_CAPS_CQ_WITH_SGID: u32 = 1 << 2;
/// since 46
pub const EFADV_DEVICE_ATTR_CAPS_RDMA_WRITE: u32 = 1 << 3;
/// since 52
pub const EFADV_DEVICE_ATTR_CAPS_UNSOLICITED_WRITE_RECV: u32 = 1 << 4;
/// since 59
pub const EFADV_DEVICE_ATTR_CAPS_CQ_WITH_EXT_MEM_DMABUF: u32 = 1 << 5;
/// since 65
pub const EFADV_DEVICE_ATTR_CAPS_COMP_CNTR: u32 = 1 << 6;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct efadv_device_attr {
    pub comp_mask: u64,
    pub max_sq_wr: u32,
    pub max_rq_wr: u32,
    pub max_sq_sge: u16,
    pub max_rq_sge: u16,
    pub inline_buf_size: u16,
    /// since 63; reserved before
    pub inline_buf_size_ex: u16,
    pub device_caps: u32,
    pub max_rdma_size: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct efadv_ah_attr {
    pub comp_mask: u64,
    pub ahn: u16,
    pub reserved: [u8; 6],
}

/// since 63
pub const EFADV_SQ_DEPTH_ATTR_INLINE_WRITE: u32 = 1 << 0;

/// since 63
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct efadv_sq_depth_attr {
    pub comp_mask: u64,
    pub flags: u32,
    pub max_send_sge: u32,
    pub max_rdma_sge: u32,
    pub max_inline_data: u32,
}

/// since 63
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct efadv_rq_depth_attr {
    pub comp_mask: u64,
    pub max_recv_sge: u32,
}

pub const EFADV_QP_DRIVER_TYPE_SRD: u32 = 0;

/// since 52
pub const EFADV_QP_FLAGS_UNSOLICITED_WRITE_RECV: u32 = 1 << 0;
/// since 63
pub const EFADV_QP_FLAGS_INLINE_WRITE: u32 = 1 << 1;

/// since 64
pub const EFADV_WR_EX_WITH_PROCESSING_HINTS: u32 = 1 << 0;

/// 16 bytes until 63.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct efadv_qp_init_attr {
    pub comp_mask: u64,
    pub driver_qp_type: u32,
    /// since 52; reserved before
    pub flags: u16,
    /// since 55; reserved before
    pub sl: u8,
    /// since 55; longer before
    pub reserved: u8,
    /// since 64
    pub wr_flags: u64,
}

/// since 65
pub const EFADV_WQ_CAPS_64_BIT_REQ_ID: u32 = 1 << 0;

/// since 59
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct efadv_wq_attr {
    pub comp_mask: u64,
    pub buffer: *mut u8,
    pub entry_size: u32,
    pub num_entries: u32,
    pub doorbell: *mut u32,
    pub max_batch: u32,
    /// since 65; reserved before
    pub caps: u16,
    /// since 65; longer before
    pub reserved: [u8; 2],
}

/// since 64
pub type efadv_wr_processing_hint = u32;
/// since 64
pub const EFADV_WR_PROCESSING_HINT_BURST_PPS_SENSITIVE: efadv_wr_processing_hint = 1 << 0;

/// since 64
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct efadv_qp {
    pub comp_mask: u64,
    pub wr_set_processing_hints: Option<unsafe extern "C" fn(efadv_qp: *mut efadv_qp, hints: u32)>,
}

/// since 43
pub const EFADV_WC_EX_WITH_SGID: u32 = 1 << 0;
/// since 52
pub const EFADV_WC_EX_WITH_IS_UNSOLICITED: u32 = 1 << 1;

/// since 59
pub const EFADV_CQ_INIT_FLAGS_EXT_MEM_DMABUF: u32 = 1 << 0;

/// C's anonymous struct in [`efadv_cq_init_attr`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct efadv_cq_init_attr_ext_mem_dmabuf {
    pub buffer: *mut u8,
    pub length: u64,
    pub offset: u64,
    pub fd: i32,
    pub reserved: [u8; 4],
}

/// since 43; 16 bytes until 58
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct efadv_cq_init_attr {
    pub comp_mask: u64,
    pub wc_flags: u64,
    /// since 59
    pub flags: u64,
    /// since 59
    pub ext_mem_dmabuf: efadv_cq_init_attr_ext_mem_dmabuf,
}

/// since 59
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct efadv_cq_attr {
    pub comp_mask: u64,
    pub buffer: *mut u8,
    pub entry_size: u32,
    pub num_entries: u32,
    pub doorbell: *mut u32,
}

/// since 43
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct efadv_cq {
    pub comp_mask: u64,
    pub wc_read_sgid: Option<unsafe extern "C" fn(efadv_cq: *mut efadv_cq, sgid: *mut ibv_gid) -> c_int>,
    /// since 52
    pub wc_is_unsolicited: Option<unsafe extern "C" fn(efadv_cq: *mut efadv_cq) -> bool>,
}

/// since 65
pub const EFADV_MEMORY_LOCATION_VA: u32 = 0;
/// since 65
pub const EFADV_MEMORY_LOCATION_DMABUF: u32 = 1;

/// C's anonymous struct in [`efadv_memory_location`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct efadv_memory_location_dmabuf {
    pub offset: u64,
    pub fd: i32,
    pub reserved: u32,
}

/// since 65
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct efadv_memory_location {
    pub ptr: *mut u8,
    pub dmabuf: efadv_memory_location_dmabuf,
    pub r#type: u8,
    pub reserved: [u8; 7],
}

/// since 65
pub const EFADV_COMP_CNTR_INIT_WITH_COMP_EXTERNAL_MEM: u32 = 1 << 0;
/// since 65
pub const EFADV_COMP_CNTR_INIT_WITH_ERR_EXTERNAL_MEM: u32 = 1 << 1;

/// since 65
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct efadv_comp_cntr_init_attr {
    pub comp_mask: u64,
    pub flags: u32,
    pub reserved: u32,
    pub comp_cntr_ext_mem: efadv_memory_location,
    pub err_cntr_ext_mem: efadv_memory_location,
}

/// libibverbs' counter of completions, since 65. Nothing here looks inside.
#[repr(C)]
pub struct ibv_comp_cntr {
    _opaque: [u8; 0],
}

/// What libibverbs is told of a counter, since 65. Nothing here looks inside.
#[repr(C)]
pub struct ibv_comp_cntr_init_attr {
    _opaque: [u8; 0],
}

/// since 50
pub const EFADV_MR_ATTR_VALIDITY_RECV_IC_ID: u32 = 1 << 0;
/// since 50
pub const EFADV_MR_ATTR_VALIDITY_RDMA_READ_IC_ID: u32 = 1 << 1;
/// since 50
pub const EFADV_MR_ATTR_VALIDITY_RDMA_RECV_IC_ID: u32 = 1 << 2;

/// since 50
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct efadv_mr_attr {
    pub comp_mask: u64,
    pub ic_id_validity: u16,
    pub recv_ic_id: u16,
    pub rdma_read_ic_id: u16,
    pub rdma_recv_ic_id: u16,
}

zeroed!(
    efadv_device_attr,
    efadv_ah_attr,
    efadv_sq_depth_attr,
    efadv_rq_depth_attr,
    efadv_qp_init_attr,
    efadv_wq_attr,
    efadv_cq_init_attr,
    efadv_cq_attr,
    efadv_memory_location,
    efadv_comp_cntr_init_attr,
    efadv_mr_attr,
);
