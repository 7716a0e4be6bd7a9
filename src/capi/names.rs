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

/// Name of a VBN_ELEMENT_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_element_name(value: i32) -> *const c_char {
    names::find(names::ELEMENTS, value).as_ptr().cast()
}

/// Name of a VBN_REASON_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_device_list_reason_name(value: i32) -> *const c_char {
    names::find(names::LIST_REASONS, value).as_ptr().cast()
}

/// Name of a VBN_GID_* verdict value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_gid_verdict_name(value: i32) -> *const c_char {
    names::find(names::GID_VERDICTS, value).as_ptr().cast()
}

/// Name of a VBN_GID_FAMILY_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_gid_family_name(value: i32) -> *const c_char {
    names::find(names::GID_FAMILIES, value).as_ptr().cast()
}

/// Name of a VBN_MR_* kind value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_mr_kind_name(value: i32) -> *const c_char {
    names::find(names::MR_KINDS, value).as_ptr().cast()
}

/// Name of a VBN_FORK_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_is_fork_initialized(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_fork_state_name(value: i32) -> *const c_char {
    names::find(names::FORK_STATES, value).as_ptr().cast()
}

/// Name of a VBN_LIBRARY_FROM_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_library_origin_name(value: i32) -> *const c_char {
    names::find(names::LIBRARY_ORIGINS, value).as_ptr().cast()
}

/// Name of VBN_ADOPT_BORROW, VBN_ADOPT_OWN or VBN_ADOPT_CUSTOM.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_ownership_name(value: i32) -> *const c_char {
    names::find(names::OWNERSHIPS, value).as_ptr().cast()
}

/// Name of a VBN_VENDOR_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_vendor_domain_name(value: i32) -> *const c_char {
    names::find(names::VENDOR_DOMAINS, value).as_ptr().cast()
}

/// Name of a single VBN_ACCESS_* bit.
///
/// - Ownership: a constant text, never NULL; "unknown" for no bit, several, or an unknown one.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_reg_mr(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_access_flag_name(bit: u64) -> *const c_char {
    names::find_bit(names::ACCESS_FLAGS, bit).as_ptr().cast()
}

/// Name of a single VBN_SEND_* bit.
///
/// - Ownership: a constant text, never NULL; "unknown" for no bit, several, or an unknown one.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_post_send(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_send_flag_name(bit: u64) -> *const c_char {
    names::find_bit(names::SEND_FLAGS, bit).as_ptr().cast()
}

/// Name of a single VBN_WC_* flag bit.
///
/// - Ownership: a constant text, never NULL; "unknown" for no bit, several, or an unknown one.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_poll_cq(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_wc_flag_name(bit: u64) -> *const c_char {
    names::find_bit(names::WC_FLAGS, bit).as_ptr().cast()
}

/// Name of a single VBN_QP_* attribute bit.
///
/// - Ownership: a constant text, never NULL; "unknown" for no bit, several, or an unknown one.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_qp_attr_name(bit: u64) -> *const c_char {
    names::find_bit(names::QP_ATTRS, bit).as_ptr().cast()
}
