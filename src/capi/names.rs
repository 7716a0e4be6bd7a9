// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_*_name`.

use std::ffi::c_char;

use crate::core::names;

/// Name of a VBN_QPT_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_create_qp(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_qp_type_name(value: i32) -> *const c_char {
    names::find(names::QP_TYPES, value).as_ptr().cast()
}

/// Name of a VBN_QPS_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_qp_state_name(value: i32) -> *const c_char {
    names::find(names::QP_STATES, value).as_ptr().cast()
}

/// Name of a VBN_MTU_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_port(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_mtu_name(value: i32) -> *const c_char {
    names::find(names::MTUS, value).as_ptr().cast()
}

/// Name of a VBN_PORT_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_port(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_port_state_name(value: i32) -> *const c_char {
    names::find(names::PORT_STATES, value).as_ptr().cast()
}

/// Name of a VBN_LINK_LAYER_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_port(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_link_layer_name(value: i32) -> *const c_char {
    names::find(names::LINK_LAYERS, value).as_ptr().cast()
}

/// Name of a VBN_NODE_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_get_device_list(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_node_type_name(value: i32) -> *const c_char {
    names::find(names::NODE_TYPES, value).as_ptr().cast()
}

/// Name of a VBN_TRANSPORT_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_get_device_list(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_transport_name(value: i32) -> *const c_char {
    names::find(names::TRANSPORTS, value).as_ptr().cast()
}

/// Name of a VBN_WC_* status value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_poll_cq(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_wc_status_name(value: i32) -> *const c_char {
    names::find(names::WC_STATUSES, value).as_ptr().cast()
}

/// Name of a VBN_WC_* opcode value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_poll_cq(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_wc_opcode_name(value: i32) -> *const c_char {
    names::find(names::WC_OPCODES, value).as_ptr().cast()
}

/// Name of a VBN_EVENT_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_get_async_event(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_event_type_name(value: i32) -> *const c_char {
    names::find(names::EVENT_TYPES, value).as_ptr().cast()
}

/// Name of a VBN_GID_TYPE_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_gid_ex(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_gid_type_name(value: i32) -> *const c_char {
    names::find(names::GID_TYPES, value).as_ptr().cast()
}

/// Name of a VBN_WR_* operation.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_post_send(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_wr_opcode_name(value: u32) -> *const c_char {
    names::find(names::WR_OPCODES, value as i32).as_ptr().cast()
}
