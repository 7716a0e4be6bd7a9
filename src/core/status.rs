// SPDX-License-Identifier: MIT OR Apache-2.0
//! Status codes: the whole vocabulary of outcomes. `abi/status-codes` lists them; a number is never used twice.

/// Result of a call: `VBN_OK` (0) or one of the negative `VBN_ERR_*` codes. The codes start at -1001, so that none can
/// be taken for an errno. `vbn_last_error()` tells the rest.
pub type vbn_status = i32;

/// Success.
pub const VBN_OK: vbn_status = 0;
/// An argument is wrong: NULL, out of range, unknown flag, struct_size 0, handles that don't belong together.
pub const VBN_ERR_ARGUMENT: vbn_status = -1001;
/// The handle has been closed.
pub const VBN_ERR_CLOSED: vbn_status = -1002;
/// The object is in use: the driver or another thread still holds it. The handle stays valid.
pub const VBN_ERR_BUSY: vbn_status = -1003;
/// The queue is full. `posted` says how many requests are on it; poll completions, then post the rest.
pub const VBN_ERR_QUEUE_FULL: vbn_status = -1004;
/// The time given has passed.
pub const VBN_ERR_TIMEOUT: vbn_status = -1005;
/// Out of memory, in this library or in the driver (errno ENOMEM; the message tells about the memlock limit).
pub const VBN_ERR_NO_MEMORY: vbn_status = -1006;
/// The device, its driver or the kernel does not offer this.
pub const VBN_ERR_NOT_SUPPORTED: vbn_status = -1007;
/// A library that is loaded at run time (libibverbs.so.1, ...) was not found.
pub const VBN_ERR_LIBRARY_MISSING: vbn_status = -1008;
/// The library is there but too old: it lacks the symbol that this function needs.
pub const VBN_ERR_SYMBOL_MISSING: vbn_status = -1009;
/// The device has been removed. Close still works.
pub const VBN_ERR_DEVICE_GONE: vbn_status = -1010;
/// The handle was made before fork() and this is the child. Close frees memory and leaves the device alone.
pub const VBN_ERR_FORKED: vbn_status = -1011;
/// The peer's record, or a caller's struct, is newer than this library and says something it can't know.
pub const VBN_ERR_TOO_NEW: vbn_status = -1012;
/// A work completion reports a failure.
pub const VBN_ERR_COMPLETION: vbn_status = -1013;
/// The driver failed without naming a request: some of the requests may be on the queue and may run later.
pub const VBN_ERR_UNCERTAIN: vbn_status = -1014;
/// The driver or the kernel refused; `sys_errno` says how, or `vendor_code` where `vendor_domain` isn't 0.
pub const VBN_ERR_DRIVER: vbn_status = -1015;
/// A defect in this library (a caught panic). The handle it happened on answers this from now on; close still works.
pub const VBN_ERR_INTERNAL: vbn_status = -1016;
/// Nothing of that name or number exists.
pub const VBN_ERR_NOT_FOUND: vbn_status = -1017;
/// The value is well-formed but beyond what this device offers; `value` and `limit` say by how much.
pub const VBN_ERR_LIMIT: vbn_status = -1018;

/// All codes with their names and one sentence each.
pub(crate) const STATUS_TABLE: &[(vbn_status, &str, &str)] = &[
    (VBN_OK, "VBN_OK\0", "success\0"),
    (VBN_ERR_ARGUMENT, "VBN_ERR_ARGUMENT\0", "an argument is wrong\0"),
    (VBN_ERR_CLOSED, "VBN_ERR_CLOSED\0", "the handle has been closed\0"),
    (VBN_ERR_BUSY, "VBN_ERR_BUSY\0", "the object is in use\0"),
    (VBN_ERR_QUEUE_FULL, "VBN_ERR_QUEUE_FULL\0", "the queue is full\0"),
    (VBN_ERR_TIMEOUT, "VBN_ERR_TIMEOUT\0", "the time given has passed\0"),
    (VBN_ERR_NO_MEMORY, "VBN_ERR_NO_MEMORY\0", "out of memory\0"),
    (VBN_ERR_NOT_SUPPORTED, "VBN_ERR_NOT_SUPPORTED\0", "not supported by device\0"),
    (VBN_ERR_LIBRARY_MISSING, "VBN_ERR_LIBRARY_MISSING\0", "a library needed at run time was not found\0"),
    (VBN_ERR_SYMBOL_MISSING, "VBN_ERR_SYMBOL_MISSING\0", "the loaded library is too old for this function\0"),
    (VBN_ERR_DEVICE_GONE, "VBN_ERR_DEVICE_GONE\0", "the device has been removed\0"),
    (VBN_ERR_FORKED, "VBN_ERR_FORKED\0", "the handle belongs to the parent process\0"),
    (VBN_ERR_TOO_NEW, "VBN_ERR_TOO_NEW\0", "the input is newer than this library\0"),
    (VBN_ERR_COMPLETION, "VBN_ERR_COMPLETION\0", "a work request completed with an error\0"),
    (VBN_ERR_UNCERTAIN, "VBN_ERR_UNCERTAIN\0", "requests may or may not be on the queue\0"),
    (VBN_ERR_DRIVER, "VBN_ERR_DRIVER\0", "the driver or the kernel refused\0"),
    (VBN_ERR_INTERNAL, "VBN_ERR_INTERNAL\0", "a defect in libverbena\0"),
    (VBN_ERR_NOT_FOUND, "VBN_ERR_NOT_FOUND\0", "no such thing\0"),
    (VBN_ERR_LIMIT, "VBN_ERR_LIMIT\0", "beyond the limits of the device\0"),
];

/// The status class of an errno that a driver call failed with.
pub(crate) fn of_errno(errno: i32) -> vbn_status {
    match errno {
        libc::ENOMEM => VBN_ERR_NO_MEMORY,
        libc::EBUSY => VBN_ERR_BUSY,
        libc::EOPNOTSUPP | libc::ENOSYS | libc::EPROTONOSUPPORT => VBN_ERR_NOT_SUPPORTED,
        libc::ENODEV => VBN_ERR_DEVICE_GONE,
        _ => VBN_ERR_DRIVER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_below_errno_range() {
        for (i, (code, name, _)) in STATUS_TABLE.iter().enumerate() {
            assert!(*code == 0 || *code <= -1001, "{name}");
            assert!(STATUS_TABLE.iter().skip(i + 1).all(|(other, ..)| other != code), "{name} is used twice");
        }
    }
}
