// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_*_name`.

use std::ffi::c_char;

use crate::core::{cap_names, names};

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

/// Name of a VBN_GPU_KIND_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_gpu_kind_name(value: i32) -> *const c_char {
    names::find(names::GPU_KINDS, value).as_ptr().cast()
}

/// Name of a VBN_GPU_MEMORY_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_gpu_memory_name(value: i32) -> *const c_char {
    names::find(names::GPU_MEMORIES, value).as_ptr().cast()
}

/// Name of a VBN_GPU_ALLOCATION_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_gpu_allocation_name(value: i32) -> *const c_char {
    names::find(names::GPU_ALLOCATIONS, value).as_ptr().cast()
}

/// Name of a single VBN_GPU_PATH_* bit.
///
/// - Ownership: a constant text, never NULL; "unknown" for no bit, several, or an unknown one.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_gpu_path_name(bit: u64) -> *const c_char {
    names::find_bit(names::GPU_PATHS, bit).as_ptr().cast()
}

/// Name of a VBN_GPU_ATTEMPT_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_gpu_attempt_name(value: i32) -> *const c_char {
    names::find(names::GPU_ATTEMPTS, value).as_ptr().cast()
}

/// Name of a VBN_GPU_MR_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_gpu_mr_state_name(value: i32) -> *const c_char {
    names::find(names::GPU_MR_STATES, value).as_ptr().cast()
}

/// Name of a VBN_MEMORY_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_memory_name(value: i32) -> *const c_char {
    names::find(names::MEMORIES, value).as_ptr().cast()
}

/// Name of a VBN_ABSENCE_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_absence_name(value: i32) -> *const c_char {
    names::find(names::ABSENCES, value).as_ptr().cast()
}

/// Name of a single VBN_CAP_* bit.
///
/// - Ownership: a constant text, never NULL; "unknown" for no bit, several, or an unknown one.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_cap_name(bit: u64) -> *const c_char {
    names::find_bit(names::CAPS, bit).as_ptr().cast()
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

/// Name of a VBN_CM_EVENT_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: rdma_event_str(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_cm_event_name(value: i32) -> *const c_char {
    names::find(names::CM_EVENT_TYPES, value).as_ptr().cast()
}

/// Name of an atomic_cap value of vbn_device_attr.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_device(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_atomic_cap_name(value: i32) -> *const c_char {
    names::find(names::ATOMIC_CAPS, value).as_ptr().cast()
}

/// Name of a path_mig_state value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_mig_state_name(value: i32) -> *const c_char {
    names::find(names::MIG_STATES, value).as_ptr().cast()
}

/// Name of a phys_state value of vbn_port_attr.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_port(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_phys_state_name(value: i32) -> *const c_char {
    names::find(names::PHYS_STATES, value).as_ptr().cast()
}

/// Name of a VBN_MW_TYPE_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_alloc_mw(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_mw_type_name(value: i32) -> *const c_char {
    names::find(names::MW_TYPES, value).as_ptr().cast()
}

/// Name of a VBN_SRQT_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_create_srq_ex(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_srq_type_name(value: i32) -> *const c_char {
    names::find(names::SRQ_TYPES, value).as_ptr().cast()
}

/// Name of a VBN_ADVISE_PREFETCH* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_advise_mr(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_advice_name(value: i32) -> *const c_char {
    names::find(names::ADVICE, value).as_ptr().cast()
}

/// Name of a VBN_POST_PATH_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_post_path_name(value: i32) -> *const c_char {
    names::find(names::POST_PATHS, value).as_ptr().cast()
}

/// Name of a VBN_DRIVER_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_driver_name(value: i32) -> *const c_char {
    names::find(names::DRIVERS, value).as_ptr().cast()
}

/// Name of a single VBN_MISMATCH_* bit.
///
/// - Ownership: a constant text, never NULL; "unknown" for no bit, several, or an unknown one.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_mismatch_name(bit: u64) -> *const c_char {
    names::find_bit(names::MISMATCHES, bit).as_ptr().cast()
}

/// Name of a single VBN_EFA_CAP_* bit.
///
/// - Ownership: a constant text, never NULL; "unknown" for no bit, several, or an unknown one.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: efadv_query_device(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_efa_cap_name(bit: u64) -> *const c_char {
    names::find_bit(names::EFA_CAPS, bit).as_ptr().cast()
}

/// Name of a single VBN_WC_EX_* bit.
///
/// - Ownership: a constant text, never NULL; "unknown" for no bit, several, or an unknown one.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_create_cq_ex(3), efadv_create_cq(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_wc_field_name(bit: u64) -> *const c_char {
    names::find_bit(names::WC_FIELDS, bit).as_ptr().cast()
}

/// Name of a VBN_DISTANCE_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_distance_name(value: i32) -> *const c_char {
    names::find(names::DISTANCES, value).as_ptr().cast()
}

/// Name of an active_width of vbn_port_attr: "4X" is four lanes.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_port(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_port_width_name(value: i32) -> *const c_char {
    names::find(cap_names::PORT_WIDTHS, value).as_ptr().cast()
}

/// Name of an active_speed or active_speed_ex of vbn_port_attr, with what a lane carries.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_port(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_port_speed_name(value: u32) -> *const c_char {
    names::find(cap_names::PORT_SPEEDS, value as i32).as_ptr().cast()
}

/// Name of a single bit of device_cap_flags or device_cap_flags_ex of vbn_device_attr: that of libibverbs' IBV_DEVICE_*.
///
/// - Ownership: a constant text, never NULL; "bit 37" and the like for a bit without a name, "unknown" for no bit or several.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_device_ex(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_device_cap_name(bit: u64) -> *const c_char {
    cap_names::find_or_number(cap_names::DEVICE_CAPS, bit).as_ptr().cast()
}

/// Name of a single bit of port_cap_flags of vbn_port_attr: that of libibverbs' IBV_PORT_*.
///
/// - Ownership: a constant text, never NULL; "bit 37" and the like for a bit without a name, "unknown" for no bit or several.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_port(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_port_cap_name(bit: u64) -> *const c_char {
    cap_names::find_or_number(cap_names::PORT_CAPS, bit).as_ptr().cast()
}

/// Name of a single bit of port_cap_flags2 of vbn_port_attr: that of libibverbs' IBV_PORT_*.
///
/// - Ownership: a constant text, never NULL; "bit 37" and the like for a bit without a name, "unknown" for no bit or several.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_port(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_port_cap2_name(bit: u64) -> *const c_char {
    cap_names::find_or_number(cap_names::PORT_CAPS2, bit).as_ptr().cast()
}

/// Name of a VBN_FLOW_* rule type.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_create_flow(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_flow_type_name(value: i32) -> *const c_char {
    names::find(names::FLOW_TYPES, value).as_ptr().cast()
}

/// Name of a VBN_FLOW_SPEC_* value, with VBN_FLOW_SPEC_INNER too.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_create_flow(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_flow_spec_name(value: i32) -> *const c_char {
    names::find(names::FLOW_SPECS, value).as_ptr().cast()
}

/// Name of a VBN_COUNTER_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_attach_counters_point_flow(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_counter_name(value: i32) -> *const c_char {
    names::find(names::COUNTERS, value).as_ptr().cast()
}

/// Name of a static_rate, such as "25 Gbit/s"; "MAX" is 0.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_rate_to_mbps(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_rate_name(value: i32) -> *const c_char {
    names::find(cap_names::RATES, value).as_ptr().cast()
}

/// Name of a single bit of odp_rc_caps, odp_uc_caps, odp_ud_caps or odp_xrc_caps of vbn_device_attr.
///
/// - Ownership: a constant text, never NULL; "bit 37" and the like for a bit without a name, "unknown" for no bit or several.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_device_ex(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_odp_cap_name(bit: u64) -> *const c_char {
    cap_names::find_or_number(cap_names::ODP_CAPS, bit).as_ptr().cast()
}

/// Name of a VBN_CM_PS_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: rdma_create_id(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_cm_ps_name(value: i32) -> *const c_char {
    names::find(names::PORT_SPACES, value).as_ptr().cast()
}

/// Name of a library: VBN_LIBRARY_IBVERBS, VBN_LIBRARY_EFA, VBN_LIBRARY_RDMACM, VBN_LIBRARY_CUDA or VBN_LIBRARY_ROCM.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_library_name(value: i32) -> *const c_char {
    names::find(names::LIBRARIES, value).as_ptr().cast()
}

/// Name of a VBN_CQ_WAIT_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_cq_wait_mode_name(value: i32) -> *const c_char {
    names::find(names::WAIT_MODES, value).as_ptr().cast()
}
