// SPDX-License-Identifier: MIT OR Apache-2.0
//! Protection domains, memory regions and windows, device memory, and the small domains around them.

use super::{ibv_context, zeroed};
use core::ffi::{c_int, c_void};

pub type ibv_access_flags = u32;
pub const IBV_ACCESS_LOCAL_WRITE: ibv_access_flags = 1;
pub const IBV_ACCESS_REMOTE_WRITE: ibv_access_flags = 1 << 1;
pub const IBV_ACCESS_REMOTE_READ: ibv_access_flags = 1 << 2;
pub const IBV_ACCESS_REMOTE_ATOMIC: ibv_access_flags = 1 << 3;
pub const IBV_ACCESS_MW_BIND: ibv_access_flags = 1 << 4;
pub const IBV_ACCESS_ZERO_BASED: ibv_access_flags = 1 << 5;
pub const IBV_ACCESS_ON_DEMAND: ibv_access_flags = 1 << 6;
pub const IBV_ACCESS_HUGETLB: ibv_access_flags = 1 << 7;
/// since 45
pub const IBV_ACCESS_FLUSH_GLOBAL: ibv_access_flags = 1 << 8;
/// since 45
pub const IBV_ACCESS_FLUSH_PERSISTENT: ibv_access_flags = 1 << 9;
pub const IBV_ACCESS_OPTIONAL_FIRST: ibv_access_flags = 1 << 20;
pub const IBV_ACCESS_RELAXED_ORDERING: ibv_access_flags = IBV_ACCESS_OPTIONAL_FIRST;
/// Bits 20 to 29: a kernel that doesn't know one of them ignores it. `ibv_reg_mr_iova2` drops them for old kernels;
/// the exported `ibv_reg_mr` and `ibv_reg_mr_iova` pass them on.
pub const IBV_ACCESS_OPTIONAL_RANGE: ibv_access_flags = 0x3ff0_0000;

#[repr(C)]
pub struct ibv_pd {
    pub context: *mut ibv_context,
    pub handle: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_td_init_attr {
    pub comp_mask: u32,
}

#[repr(C)]
pub struct ibv_td {
    pub context: *mut ibv_context,
}

pub const IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS: u32 = 1 << 0;
pub const IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT: u32 = 1 << 1;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_parent_domain_init_attr {
    pub pd: *mut ibv_pd,
    pub td: *mut ibv_td,
    pub comp_mask: u32,
    pub alloc: Option<
        unsafe extern "C" fn(
            pd: *mut ibv_pd,
            pd_context: *mut c_void,
            size: usize,
            alignment: usize,
            resource_type: u64,
        ) -> *mut c_void,
    >,
    pub free:
        Option<unsafe extern "C" fn(pd: *mut ibv_pd, pd_context: *mut c_void, ptr: *mut c_void, resource_type: u64)>,
    pub pd_context: *mut c_void,
}

pub const IBV_XRCD_INIT_ATTR_FD: u32 = 1 << 0;
pub const IBV_XRCD_INIT_ATTR_OFLAGS: u32 = 1 << 1;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_xrcd_init_attr {
    pub comp_mask: u32,
    pub fd: c_int,
    pub oflags: c_int,
}

#[repr(C)]
pub struct ibv_xrcd {
    pub context: *mut ibv_context,
}

#[repr(C)]
pub struct ibv_mr {
    pub context: *mut ibv_context,
    pub pd: *mut ibv_pd,
    pub addr: *mut c_void,
    pub length: usize,
    pub handle: u32,
    pub lkey: u32,
    pub rkey: u32,
}

pub const IBV_REREG_MR_CHANGE_TRANSLATION: u32 = 1 << 0;
pub const IBV_REREG_MR_CHANGE_PD: u32 = 1 << 1;
pub const IBV_REREG_MR_CHANGE_ACCESS: u32 = 1 << 2;
pub const IBV_REREG_MR_FLAGS_SUPPORTED: u32 = 7;

/// What `ibv_rereg_mr` returns on failure, errno besides: -1 to -3 leave a usable MR, -4 and -5 don't.
pub type ibv_rereg_mr_err_code = c_int;
pub const IBV_REREG_MR_ERR_INPUT: ibv_rereg_mr_err_code = -1;
pub const IBV_REREG_MR_ERR_DONT_FORK_NEW: ibv_rereg_mr_err_code = -2;
pub const IBV_REREG_MR_ERR_DO_FORK_OLD: ibv_rereg_mr_err_code = -3;
pub const IBV_REREG_MR_ERR_CMD: ibv_rereg_mr_err_code = -4;
pub const IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW: ibv_rereg_mr_err_code = -5;

/// since 59
pub const IBV_REG_MR_MASK_IOVA: u64 = 1 << 0;
/// since 59
pub const IBV_REG_MR_MASK_ADDR: u64 = 1 << 1;
/// since 59
pub const IBV_REG_MR_MASK_FD: u64 = 1 << 2;
/// since 59
pub const IBV_REG_MR_MASK_FD_OFFSET: u64 = 1 << 3;
/// since 59
pub const IBV_REG_MR_MASK_DMAH: u64 = 1 << 4;
/// since 64
pub const IBV_REG_MR_MASK_BUF: u64 = 1 << 5;

/// since 59
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_mr_init_attr {
    pub length: usize,
    pub access: c_int,
    /// `IBV_REG_MR_MASK_*`: a field is read only if its bit is set.
    pub comp_mask: u64,
    pub iova: u64,
    pub addr: *mut c_void,
    pub fd: c_int,
    pub fd_offset: u64,
    pub dmah: *mut ibv_dmah,
    /// since 64
    pub buf: *mut ibv_buf,
}

/// since 59
#[repr(C)]
pub struct ibv_dmah {
    pub context: *mut ibv_context,
}

/// since 59
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_dmah_init_attr {
    pub comp_mask: u32,
    pub cpu_id: u32,
    pub ph: u8,
    pub tph_mem_type: u8,
}

/// since 64; opaque in C too
#[repr(C)]
pub struct ibv_buf {
    _opaque: [u8; 0],
}

pub type ibv_mw_type = u32;
pub const IBV_MW_TYPE_1: ibv_mw_type = 1;
pub const IBV_MW_TYPE_2: ibv_mw_type = 2;

#[repr(C)]
pub struct ibv_mw {
    pub context: *mut ibv_context,
    pub pd: *mut ibv_pd,
    pub rkey: u32,
    pub handle: u32,
    pub r#type: ibv_mw_type,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_mw_bind_info {
    pub mr: *mut ibv_mr,
    pub addr: u64,
    pub length: u64,
    pub mw_access_flags: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_mw_bind {
    pub wr_id: u64,
    pub send_flags: u32,
    pub bind_info: ibv_mw_bind_info,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_alloc_dm_attr {
    pub length: usize,
    pub log_align_req: u32,
    pub comp_mask: u32,
}

/// since 35
pub const IBV_DM_MASK_HANDLE: u32 = 1 << 0;

#[repr(C)]
pub struct ibv_dm {
    pub context: *mut ibv_context,
    pub memcpy_to_dm:
        Option<unsafe extern "C" fn(dm: *mut ibv_dm, dm_offset: u64, host_addr: *const c_void, length: usize) -> c_int>,
    pub memcpy_from_dm:
        Option<unsafe extern "C" fn(host_addr: *mut c_void, dm: *mut ibv_dm, dm_offset: u64, length: usize) -> c_int>,
    pub comp_mask: u32,
    /// since 35, valid only with `IBV_DM_MASK_HANDLE` in `comp_mask`
    pub handle: u32,
}

pub type ibv_advise_mr_advice = u32;
pub const IBV_ADVISE_MR_ADVICE_PREFETCH: ibv_advise_mr_advice = 0;
pub const IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE: ibv_advise_mr_advice = 1;
pub const IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT: ibv_advise_mr_advice = 2;
pub const IBV_ADVISE_MR_FLAG_FLUSH: u32 = 1 << 0;

zeroed!(
    ibv_td_init_attr,
    ibv_parent_domain_init_attr,
    ibv_xrcd_init_attr,
    ibv_mr_init_attr,
    ibv_dmah_init_attr,
    ibv_mw_bind_info,
    ibv_mw_bind,
    ibv_alloc_dm_attr,
    // Also the objects, since fake providers in tests build them.
    ibv_pd,
    ibv_td,
    ibv_xrcd,
    ibv_mr,
    ibv_dmah,
    ibv_mw,
    ibv_dm,
);
