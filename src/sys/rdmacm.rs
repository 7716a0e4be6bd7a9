// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions that librdmacm exports, as `verbs` has libibverbs'. Its types are `rdma_cma`'s, and here too.

use super::ibv::*;
pub use super::rdma_cma::*;
use super::verbs::{Convention, MissingSet, Symbol, functions};
use core::ffi::{CStr, c_int, c_void};

functions! {
    /// librdmacm's functions. The names are C's without `rdma_`; `None` where this library has none.
    RdmaCm
    required {
        create_event_channel: fn() -> *mut rdma_event_channel, c"rdma_create_event_channel", c"RDMACM_1.0", "12", NullErrno;
        destroy_event_channel: fn(*mut rdma_event_channel), c"rdma_destroy_event_channel", c"RDMACM_1.0", "12", Value;
        get_cm_event: fn(*mut rdma_event_channel, *mut *mut rdma_cm_event) -> c_int, c"rdma_get_cm_event", c"RDMACM_1.0", "12", RetMinus1Errno;
        ack_cm_event: fn(*mut rdma_cm_event) -> c_int, c"rdma_ack_cm_event", c"RDMACM_1.0", "12", RetMinus1Errno;
        create_id: fn(*mut rdma_event_channel, *mut *mut rdma_cm_id, *mut c_void, rdma_port_space) -> c_int, c"rdma_create_id", c"RDMACM_1.0", "12", RetMinus1Errno;
        destroy_id: fn(*mut rdma_cm_id) -> c_int, c"rdma_destroy_id", c"RDMACM_1.0", "12", RetMinus1Errno;
        bind_addr: fn(*mut rdma_cm_id, *mut sockaddr) -> c_int, c"rdma_bind_addr", c"RDMACM_1.0", "12", RetMinus1Errno;
        resolve_addr: fn(*mut rdma_cm_id, *mut sockaddr, *mut sockaddr, c_int) -> c_int, c"rdma_resolve_addr", c"RDMACM_1.0", "12", RetMinus1Errno;
        resolve_route: fn(*mut rdma_cm_id, c_int) -> c_int, c"rdma_resolve_route", c"RDMACM_1.0", "12", RetMinus1Errno;
        listen: fn(*mut rdma_cm_id, c_int) -> c_int, c"rdma_listen", c"RDMACM_1.0", "12", RetMinus1Errno;
        create_qp: fn(*mut rdma_cm_id, *mut ibv_pd, *mut ibv_qp_init_attr) -> c_int, c"rdma_create_qp", c"RDMACM_1.0", "12", RetMinus1Errno;
        destroy_qp: fn(*mut rdma_cm_id), c"rdma_destroy_qp", c"RDMACM_1.0", "12", Value;
        connect: fn(*mut rdma_cm_id, *mut rdma_conn_param) -> c_int, c"rdma_connect", c"RDMACM_1.0", "12", RetMinus1Errno;
        accept: fn(*mut rdma_cm_id, *mut rdma_conn_param) -> c_int, c"rdma_accept", c"RDMACM_1.0", "12", RetMinus1Errno;
        reject: fn(*mut rdma_cm_id, *const c_void, u8) -> c_int, c"rdma_reject", c"RDMACM_1.0", "12", RetMinus1Errno;
        disconnect: fn(*mut rdma_cm_id) -> c_int, c"rdma_disconnect", c"RDMACM_1.0", "12", RetMinus1Errno;
        get_devices: fn(*mut c_int) -> *mut *mut ibv_context, c"rdma_get_devices", c"RDMACM_1.0", "12", NullErrno;
        free_devices: fn(*mut *mut ibv_context), c"rdma_free_devices", c"RDMACM_1.0", "12", Value;
        set_option: fn(*mut rdma_cm_id, c_int, c_int, *mut c_void, usize) -> c_int, c"rdma_set_option", c"RDMACM_1.0", "12", RetMinus1Errno;
    }
    optional {
    }
}
