// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_explain` and `vbn_explain_error`.

use std::ffi::{CStr, c_char};

use super::error::vbn_error_info;
use super::ffi::{self, guard};
use crate::core::error::Result;
use crate::core::explain::{self, Failure, VBN_DRIVER_UNKNOWN, VBN_EXPLAIN_TEXT_SIZE, vbn_explain_attr};
use crate::core::op::Op;
use crate::core::status::vbn_status;
use crate::core::text;

/// Explains a failed completion, or that none comes: what happened, likely causes, and for each what to do. It needs no
/// device and no libibverbs, so it can explain on one machine what was seen on another.
///
/// On EFA the vendor's code is explained, and the status only in its absence: rdma-core names the codes 14, 15 and 18
/// since releases 52, 55 and 62, code 7 since 52, and code 13 since 40. Codes and statuses that aren't known are called so.
///
/// Writes at most `capacity` bytes to `text`, always with a zero at the end, and to `*needed` the room that the whole
/// takes: more than `capacity` if the text was cut. VBN_EXPLAIN_TEXT_SIZE is enough for every text of this version. With
/// `capacity` 0, `text` may be NULL. `needed` may be NULL. The text is for people: its words may change in any release.
///
/// - Ownership: fills the caller's buffer; nothing is kept.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, and of `context`: VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT
///   (references); VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma-core 65.0, providers/efa/efa_io_defs.h; InfiniBand Architecture Specification 10.7.3 and 11.6.2
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_explain(
    attr: *const vbn_explain_attr,
    text: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> vbn_status {
    guard(Op::Explain, || {
        let attr = ffi::required_input(attr)?;
        write_text(attr, text, capacity, needed, explain::explain)
    })
}

/// Explains a failed call from its record: the sentence, what the errno means from such a call, likely causes, and for each
/// what to do. It knows transitions of queue pairs (ETIMEDOUT, EINVAL, ENETUNREACH ...), registrations (ENOMEM with the limit
/// on locked memory, how much is pinned, and the size asked for; EFAULT, EPERM ...), address handles, creation and opening; of
/// other calls what the errno or the status means in general. vbn_wc_check's record is explained as vbn_explain does.
///
/// `error` is what vbn_last_error filled, or a copy of it. One filled by hand is fine: `op_name` with the function's name,
/// which may be raw verbs' ("ibv_modify_qp"), and `sys_errno`; all else may be zero. `more` tells what else is known, and may
/// be NULL: driver or context, the peer's GID; its status and vendor_err don't count.
///
/// `text`, `capacity` and `needed` are as for vbn_explain. The limit on locked memory and what is pinned are those of the
/// calling process, now.
///
/// - Ownership: fills the caller's buffer; nothing is kept.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, and of `more->context`: VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT
///   (references); VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library; Linux 6.1, drivers/infiniband/core (verbs.c, addr.c, umem.c, uverbs_cmd.c)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_explain_error(
    error: *const vbn_error_info,
    more: *const vbn_explain_attr,
    text: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> vbn_status {
    guard(Op::ExplainError, || {
        let error = ffi::required_input(error)?;
        let more = ffi::input(more)?;
        let failure = Failure {
            status: error.status,
            errno: error.sys_errno,
            vendor_domain: error.vendor_domain,
            vendor_code: error.vendor_code,
            value: error.value,
            limit: error.limit,
            function: text::text(&error.op_name),
            message: text::text(&error.message),
        };
        write_text(more, text, capacity, needed, |more, name, buffer| {
            explain::explain_error(&failure, more, name, buffer)
        })
    })
}

/// What both have in common: the driver, and the caller's buffer.
fn write_text(
    mut attr: vbn_explain_attr,
    text: *mut c_char,
    capacity: usize,
    needed: *mut usize,
    explain: impl FnOnce(&vbn_explain_attr, Option<&[u8]>, &mut [u8]) -> Result<usize>,
) -> Result<()> {
    let needed = ffi::optional(needed, "needed")?;
    // No text is longer, so no more of the buffer is touched.
    let buffer = ffi::array_mut(text.cast::<u8>(), capacity.min(VBN_EXPLAIN_TEXT_SIZE), "text")?;
    // SAFETY: the caller says that it is a C string, or NULL.
    let name = (!attr.driver_name.is_null()).then(|| unsafe { CStr::from_ptr(attr.driver_name) }.to_bytes());
    if attr.driver == VBN_DRIVER_UNKNOWN && name.is_none() && !attr.context.is_null() {
        attr.driver = ffi::slot(attr.context)?.pin_any()?.driver();
    }
    let size = explain(&attr, name, buffer)?;
    if let Some(needed) = needed {
        *needed = size;
    }
    Ok(())
}
