// SPDX-License-Identifier: MIT OR Apache-2.0
//! libibverbs' public ABI (`infiniband/verbs.h`) under its C names: 64-bit Linux, rdma-core 33 and newer.
//!
//! How C becomes Rust here:
//! - An enum is an integer alias plus constants. The values come from a driver, and a Rust enum with an unknown value
//!   would be undefined behaviour.
//! - An anonymous union gets a type of its own, named after its struct. The union of `imm_data` and a rkey, both 32
//!   bits wide, is one `u32` called `imm_or_rkey`: an immediate is big-endian in it, a rkey is in host order.
//! - A field that older releases lack is there, marked `since`. It lies at the end of its struct (`verbs_context`
//!   grows at its beginning), so it may be read only after the size or the capability was checked.
//! - A type which only ever stands behind a pointer of the library's is opaque.
//!
//! This file and its modules use nothing outside `core`: systest expands them alone and compares them with the headers.

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
compile_error!("libibverbs' ABI is described for 64-bit Linux only");

mod cq;
mod device;
mod flow;
mod mr;
mod qp;
mod wr;

pub use cq::*;
pub use device::*;
pub use flow::*;
pub use mr::*;
pub use qp::*;
pub use wr::*;

use core::ffi::c_long;

/// A big-endian `u16`.
pub type __be16 = u16;
/// A big-endian `u32`.
pub type __be32 = u32;
/// A big-endian `u64`.
pub type __be64 = u64;

/// Types for which all bytes zero is a valid value: every struct here that a caller fills in.
///
/// # Safety
/// Implement it only for types without references, `NonNull` or other niches.
pub unsafe trait Zeroed: Sized {
    #[inline(always)]
    fn zeroed() -> Self {
        // SAFETY: the trait's contract says that zero bytes are a valid `Self`.
        unsafe { core::mem::zeroed() }
    }
}

/// Marks types as [`Zeroed`].
macro_rules! zeroed {
    ($($t:ty),* $(,)?) => {
        // SAFETY: integers, raw pointers, `Option`s of function pointers, and arrays, structs and unions of these.
        $(unsafe impl $crate::sys::ibv::Zeroed for $t {})*
    };
}
pub(crate) use zeroed;

/// glibc's size of the type; never touched from here, but it lies in the middle of `ibv_qp` and others.
#[repr(C, align(8))]
pub struct pthread_mutex_t {
    size: [u8; if cfg!(target_arch = "aarch64") { 48 } else { 40 }],
}

/// See [`pthread_mutex_t`].
#[repr(C, align(8))]
pub struct pthread_cond_t {
    size: [u8; 48],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct timespec {
    pub tv_sec: i64,
    pub tv_nsec: c_long,
}

/// The two halves of a GID.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ibv_gid_global {
    pub subnet_prefix: __be64,
    pub interface_id: __be64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union ibv_gid {
    pub raw: [u8; 16],
    pub global: ibv_gid_global,
}

pub type ibv_gid_type = u32;
pub const IBV_GID_TYPE_IB: ibv_gid_type = 0;
pub const IBV_GID_TYPE_ROCE_V1: ibv_gid_type = 1;
pub const IBV_GID_TYPE_ROCE_V2: ibv_gid_type = 2;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_gid_entry {
    pub gid: ibv_gid,
    pub gid_index: u32,
    pub port_num: u32,
    /// An [`ibv_gid_type`].
    pub gid_type: u32,
    pub ndev_ifindex: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_global_route {
    pub dgid: ibv_gid,
    pub flow_label: u32,
    pub sgid_index: u8,
    pub hop_limit: u8,
    pub traffic_class: u8,
}

/// The 40 bytes in front of each datagram's payload.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_grh {
    pub version_tclass_flow: __be32,
    pub paylen: __be16,
    pub next_hdr: u8,
    pub hop_limit: u8,
    pub sgid: ibv_gid,
    pub dgid: ibv_gid,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_ah_attr {
    pub grh: ibv_global_route,
    pub dlid: u16,
    pub sl: u8,
    pub src_path_bits: u8,
    pub static_rate: u8,
    pub is_global: u8,
    pub port_num: u8,
}

pub type ibv_rate = u32;
pub const IBV_RATE_MAX: ibv_rate = 0;
pub const IBV_RATE_2_5_GBPS: ibv_rate = 2;
pub const IBV_RATE_5_GBPS: ibv_rate = 5;
pub const IBV_RATE_10_GBPS: ibv_rate = 3;
pub const IBV_RATE_20_GBPS: ibv_rate = 6;
pub const IBV_RATE_30_GBPS: ibv_rate = 4;
pub const IBV_RATE_40_GBPS: ibv_rate = 7;
pub const IBV_RATE_60_GBPS: ibv_rate = 8;
pub const IBV_RATE_80_GBPS: ibv_rate = 9;
pub const IBV_RATE_120_GBPS: ibv_rate = 10;
pub const IBV_RATE_14_GBPS: ibv_rate = 11;
pub const IBV_RATE_56_GBPS: ibv_rate = 12;
pub const IBV_RATE_112_GBPS: ibv_rate = 13;
pub const IBV_RATE_168_GBPS: ibv_rate = 14;
pub const IBV_RATE_25_GBPS: ibv_rate = 15;
pub const IBV_RATE_100_GBPS: ibv_rate = 16;
pub const IBV_RATE_200_GBPS: ibv_rate = 17;
pub const IBV_RATE_300_GBPS: ibv_rate = 18;
pub const IBV_RATE_28_GBPS: ibv_rate = 19;
pub const IBV_RATE_50_GBPS: ibv_rate = 20;
pub const IBV_RATE_400_GBPS: ibv_rate = 21;
pub const IBV_RATE_600_GBPS: ibv_rate = 22;
/// since 39
pub const IBV_RATE_800_GBPS: ibv_rate = 23;
/// since 39
pub const IBV_RATE_1200_GBPS: ibv_rate = 24;

zeroed!(timespec, ibv_gid_global, ibv_gid, ibv_gid_entry, ibv_global_route, ibv_grh, ibv_ah_attr,);
