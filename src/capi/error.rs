// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_last_error` and the names of statuses.

use std::ffi::c_char;

use super::ffi::{self, guard};
use crate::core::cold::cold_structs;
use crate::core::error::{self, Error, Record};
use crate::core::op::Op;
use crate::core::status::{STATUS_TABLE, VBN_ERR_INTERNAL, vbn_status};
use crate::core::text::chars;

/// The last failure of a thread. Meaningful only after a call that failed: success doesn't clear it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_error_info {
    /// sizeof(vbn_error_info), set by the caller.
    pub struct_size: usize,
    /// What the call returned: VBN_ERR_*.
    pub status: i32,
    /// The errno behind it, or 0.
    pub sys_errno: i32,
    /// Number of the function that failed; its name is in `op_name`. 0: none has failed yet.
    pub op: i32,
    /// VBN_VENDOR_*: what `vendor_code` is.
    pub vendor_domain: i32,
    /// What the driver or the device said.
    pub vendor_code: i64,
    /// Which element of an array, or VBN_INDEX_NONE.
    pub index: u64,
    /// The value that was refused, where there is one.
    pub value: u64,
    /// The limit that it broke, where there is one.
    pub limit: u64,
    /// Name of the function that failed.
    pub op_name: [c_char; 48],
    /// Device, file or name that it was about; may be empty.
    pub object: [c_char; 64],
    /// 0.
    pub reserved: [u64; 4],
    /// The whole as a sentence with the remedy.
    pub message: [c_char; 1024],
}
cold_structs!(vbn_error_info);

/// Tells what went wrong in the last call that failed on this thread.
///
/// Call it on the thread of the failed call and before the next one. A failure of vbn_last_error itself is recorded
/// as well, in place of what was there.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe; every thread has a record of its own.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_last_error(info: *mut vbn_error_info) -> vbn_status {
    guard(Op::LastError, || {
        ffi::check_output(info)?;
        let ended = Error::text(VBN_ERR_INTERNAL, "the thread is ending and its last error is lost");
        ffi::output(info, &info_of(&error::last().unwrap_or(Record { op: Op::None, error: ended })))
    })
}

fn info_of(record: &Record) -> vbn_error_info {
    let error = &record.error;
    let mut message = [0; 1024];
    error::describe(record, &mut message);
    vbn_error_info {
        struct_size: size_of::<vbn_error_info>(),
        status: error.status,
        sys_errno: error.errno,
        op: record.op as i32,
        vendor_domain: error.vendor_domain,
        vendor_code: error.vendor_code,
        index: error.index,
        value: error.value,
        limit: error.limit,
        op_name: chars(record.op.name().as_bytes()),
        object: chars(error.object.bytes()),
        reserved: [0; 4],
        message: message.map(|byte| byte as c_char),
    }
}

/// The name of a status, such as "VBN_ERR_BUSY"; "VBN_ERR_?" for a number that this library doesn't know.
///
/// - Ownership: a constant; not to be freed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none; never NULL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_status_name(status: vbn_status) -> *const c_char {
    find(status).map_or("VBN_ERR_?\0", |(_, name, _)| name).as_ptr().cast()
}

/// What a status means, in a few words: "the object is in use". vbn_last_error has the details.
///
/// - Ownership: a constant; not to be freed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none; never NULL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_status_text(status: vbn_status) -> *const c_char {
    find(status).map_or("unknown status\0", |(_, _, text)| text).as_ptr().cast()
}

fn find(status: vbn_status) -> Option<&'static (vbn_status, &'static str, &'static str)> {
    STATUS_TABLE.iter().find(|(code, ..)| *code == status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::cold::Cold;
    use crate::core::status::*;
    use std::ffi::CStr;

    fn text(pointer: *const c_char) -> &'static str {
        // SAFETY: a constant with its terminating zero, which this test is about.
        unsafe { CStr::from_ptr(pointer) }.to_str().unwrap()
    }

    #[test]
    fn every_status_has_a_name_and_a_text() {
        for (code, ..) in STATUS_TABLE {
            assert!(text(vbn_status_name(*code)).starts_with("VBN_"));
            assert!(!text(vbn_status_text(*code)).is_empty());
        }
        assert_eq!(text(vbn_status_name(-5)), "VBN_ERR_?");
        assert_eq!(text(vbn_status_text(1)), "unknown status");
    }

    #[test]
    fn the_record_comes_back_as_numbers_and_as_a_sentence() {
        error::record(Op::QpCreate, Error::limit("max_send_wr", 5, 4));
        let mut info = vbn_error_info { struct_size: size_of::<vbn_error_info>(), ..vbn_error_info::zeroed() };
        // SAFETY: a struct with its size.
        assert_eq!(unsafe { vbn_last_error(&mut info) }, VBN_OK);
        assert_eq!((info.status, info.value, info.limit, info.op), (VBN_ERR_LIMIT, 5, 4, Op::QpCreate as i32));
        assert_eq!(info.index, u64::MAX);
        assert_eq!(text(info.op_name.as_ptr()), "vbn_qp_create");
        assert_eq!(text(info.message.as_ptr()), "vbn_qp_create: max_send_wr 5 exceeds 4");
        // SAFETY: NULL is one of the mistakes that are answered.
        assert_eq!(unsafe { vbn_last_error(std::ptr::null_mut()) }, VBN_ERR_ARGUMENT);
    }
}
