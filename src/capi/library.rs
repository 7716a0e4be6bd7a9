// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_version*`, `vbn_library_*` and `vbn_fork_init`.

use std::ffi::{CStr, c_char};

use super::ffi::{self, guard};
use crate::core::library::{self, Origin, vbn_library_attr, vbn_library_info, vbn_symbol_info};
use crate::core::op::Op;
use crate::core::status::vbn_status;

/// The version of this library: major << 16 | minor << 8 | patch.
///
/// - Ownership: none.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_version() -> u32 {
    library::VBN_VERSION
}

/// The version of this library as text, such as "0.1.0".
///
/// - Ownership: a constant; not to be freed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none; never NULL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_version_string() -> *const c_char {
    library::VERSION_TEXT.as_ptr().cast()
}

/// Says where libibverbs shall be loaded from. Optional: without it, VBN_IBVERBS_LIBRARY of the environment (unless
/// the program runs with more rights than its caller) or else libibverbs.so.1 is loaded when it is first needed.
///
/// For VBN_LIBRARY_RDMACM likewise with VBN_RDMACM_LIBRARY and librdmacm.so.1, which the connection manager's functions need.
/// For VBN_LIBRARY_CUDA with VBN_CUDA_LIBRARY and libcuda.so.1, for VBN_LIBRARY_ROCM with VBN_ROCM_LIBRARY and libhsa-runtime64.so.1.
///
/// For VBN_LIBRARY_EFA, where libefa's functions shall come from if the provider that serves an EFA device can't be
/// found. Where it can, which is the rule, this changes nothing.
///
/// Nothing is loaded by this call. Once the library is in use, only the same setting again is accepted.
///
/// - Ownership: the path is copied; `handle`, and what `lookup` returns, must stay valid for ever.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_BUSY (already loaded from elsewhere), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_library_init(attr: *const vbn_library_attr) -> vbn_status {
    guard(Op::LibraryInit, || {
        let attr = ffi::input(attr)?;
        // SAFETY: the caller says that it is a C string, or NULL.
        let path = (!attr.path.is_null()).then(|| unsafe { CStr::from_ptr(attr.path) }.to_bytes());
        library::init(attr.library, Origin::from_attr(&attr, path)?)
    })
}

/// Tells whether a library is loaded, from where and how old it is, or why it can't be loaded. Tries to load it first.
///
/// `library` is one of VBN_LIBRARY_*. That it can't be loaded is an answer, not an error.
/// libefa counts as loaded once an EFA device has been opened: it is not loaded for this call.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_library_query(library: i32, info: *mut vbn_library_info) -> vbn_status {
    guard(Op::LibraryQuery, || {
        ffi::check_output(info)?;
        ffi::output(info, &library::query(library)?)
    })
}

/// Tells one of the symbols that a library lacks: `index` is 0 .. missing_count - 1 of vbn_library_query.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_FOUND (it lacks fewer), VBN_ERR_LIBRARY_MISSING (for
///   VBN_LIBRARY_EFA: no EFA device was opened), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_library_missing(library: i32, index: u32, info: *mut vbn_symbol_info) -> vbn_status {
    guard(Op::LibraryMissing, || {
        ffi::check_output(info)?;
        ffi::output(info, &library::missing(library, index)?)
    })
}

/// Makes fork() safe for the parent's registered memory on kernels that don't do so by themselves (before 5.12). Where
/// the kernel does, or when it has been called before, it succeeds at once.
///
/// It costs every registration a system call, so it is the caller's choice. It must come before the first
/// registration of the process. Handles stay unusable in the child with or without it.
///
/// - Ownership: none.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded.
/// - Errors: VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER (errno EINVAL: too late, memory has been
///   registered), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_fork_init(3)
#[unsafe(no_mangle)]
pub extern "C" fn vbn_fork_init() -> vbn_status {
    guard(Op::ForkInit, library::fork_init)
}
