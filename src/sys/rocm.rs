// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is used of AMD's HSA runtime, libhsa-runtime64.so.1 (`hsa/hsa.h` and `hsa/hsa_ext_amd.h` of ROCm 6.1; names, numbers and
//! types compared with them by `scripts/check-gpu-headers`). Statuses are plain integers.

use super::verbs::{Convention, MissingSet, Symbol, functions};
use core::ffi::{CStr, c_int, c_uint, c_void};

/// The result of every function: 0, a note, or an error.
pub type hsa_status_t = c_uint;
pub type hsa_agent_info_t = c_uint;
pub type hsa_system_info_t = c_uint;
pub type hsa_amd_pointer_type_t = c_uint;

/// A CPU, a GPU or the like.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct hsa_agent_t {
    pub handle: u64,
}

pub const HSA_STATUS_SUCCESS: hsa_status_t = 0;
/// A callback's: enough.
pub const HSA_STATUS_INFO_BREAK: hsa_status_t = 1;
pub const HSA_STATUS_ERROR: hsa_status_t = 0x1000;
pub const HSA_STATUS_ERROR_INVALID_ARGUMENT: hsa_status_t = 0x1001;
pub const HSA_STATUS_ERROR_INVALID_ALLOCATION: hsa_status_t = 0x1003;
pub const HSA_STATUS_ERROR_INVALID_AGENT: hsa_status_t = 0x1004;
pub const HSA_STATUS_ERROR_OUT_OF_RESOURCES: hsa_status_t = 0x1008;
pub const HSA_STATUS_ERROR_NOT_INITIALIZED: hsa_status_t = 0x100b;

pub const HSA_AGENT_INFO_NAME: hsa_agent_info_t = 0;
pub const HSA_AGENT_INFO_DEVICE: hsa_agent_info_t = 17;
pub const HSA_AMD_AGENT_INFO_BDFID: hsa_agent_info_t = 0xa006;
pub const HSA_AMD_AGENT_INFO_PRODUCT_NAME: hsa_agent_info_t = 0xa009;
pub const HSA_AMD_AGENT_INFO_DOMAIN: hsa_agent_info_t = 0xa00f;
pub const HSA_DEVICE_TYPE_CPU: c_uint = 0;
pub const HSA_DEVICE_TYPE_GPU: c_uint = 1;
pub const HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED: hsa_system_info_t = 0x204;

pub const HSA_EXT_POINTER_TYPE_UNKNOWN: hsa_amd_pointer_type_t = 0;
pub const HSA_EXT_POINTER_TYPE_LOCKED: hsa_amd_pointer_type_t = 2;

/// An allocation. It grows at its end, and says by `size` how far it was filled.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hsa_amd_pointer_info_t {
    pub size: u32,
    pub r#type: hsa_amd_pointer_type_t,
    pub agentBaseAddress: *mut c_void,
    pub hostBaseAddress: *mut c_void,
    pub sizeInBytes: usize,
    pub userData: *mut c_void,
    pub agentOwner: hsa_agent_t,
    pub global_flags: u32,
}

/// Called for each agent; anything but success ends the round.
pub type hsa_agent_fn = Option<unsafe extern "C" fn(hsa_agent_t, *mut c_void) -> hsa_status_t>;
/// Allocates the list of agents, which is not asked for here.
pub type hsa_alloc_fn = Option<unsafe extern "C" fn(usize) -> *mut c_void>;

functions! {
    /// The runtime's functions, none of which is required. `hsa_init` is not among them: whoever uses ROCm has called it.
    /// (Their releases are those that were looked at: 5.2.3 has no export, 6.1.2 has it.)
    Hsa
    required {
    }
    optional {
        iterate_agents: fn(hsa_agent_fn, *mut c_void) -> hsa_status_t, c"hsa_iterate_agents", c"", "ROCm 5.2", Code;
        agent_get_info: fn(hsa_agent_t, hsa_agent_info_t, *mut c_void) -> hsa_status_t, c"hsa_agent_get_info", c"", "ROCm 5.2", Code;
        system_get_info: fn(hsa_system_info_t, *mut c_void) -> hsa_status_t, c"hsa_system_get_info", c"", "ROCm 5.2", Code;
        pointer_info: fn(*const c_void, *mut hsa_amd_pointer_info_t, hsa_alloc_fn, *mut u32, *mut *mut hsa_agent_t) -> hsa_status_t, c"hsa_amd_pointer_info", c"", "ROCm 5.2", Code;
        portable_export_dmabuf: fn(*const c_void, usize, *mut c_int, *mut u64) -> hsa_status_t, c"hsa_amd_portable_export_dmabuf", c"", "ROCm 6.1", Code;
    }
}

/// C's name of a status, if this list has it.
pub const fn status_name(status: i64) -> Option<&'static str> {
    macro_rules! names {
        ($($name:ident)*) => {
            $(if status == $name as i64 { return Some(stringify!($name)); })*
        };
    }
    names! {
        HSA_STATUS_ERROR HSA_STATUS_ERROR_INVALID_ARGUMENT HSA_STATUS_ERROR_INVALID_ALLOCATION HSA_STATUS_ERROR_INVALID_AGENT
        HSA_STATUS_ERROR_OUT_OF_RESOURCES HSA_STATUS_ERROR_NOT_INITIALIZED
    }
    None
}
