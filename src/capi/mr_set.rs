// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_mr_set_*`.

use std::ptr;

use super::ffi::{self, guard, guard_on};
use crate::core::handle::{vbn_mr, vbn_mr_set};
use crate::core::mr_set::{Builder, vbn_mr_entry, vbn_mr_set_attr, vbn_mr_set_info};
use crate::core::op::Op;
use crate::core::post::vbn_sge;
use crate::core::status::vbn_status;

/// Makes a set of `count` regions of one protection domain, in the order of `mrs`: memory that is used as one, though the device has
/// it in pieces. A plain region is a set of one.
///
/// By default the regions stay the caller's, and none can be closed while the set has it. With `take` in `attr` they become the set's:
/// their variables in `mrs` are set to NULL, and vbn_mr_set_close deregisters them. `attr` may be NULL. Where the memory lives is told
/// to peers by vbn_region_info_local. `*out` is NULL after a failure, and nothing has changed then.
///
/// Don't register a region anew (vbn_mr_rereg) that is in a set: the set keeps the addresses and keys that it was made with.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_mr_set_close. It keeps the regions alive. `owner` of `attr` is kept
///   until a close has succeeded.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (count 0; a region of another PD, one without memory, one that is lost; index says which),
///   VBN_ERR_TOO_NEW, VBN_ERR_BUSY (a region to be taken is in a set, or here twice), VBN_ERR_NO_MEMORY, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mr_set_create(
    mrs: *mut *mut vbn_mr,
    count: u32,
    attr: *const vbn_mr_set_attr,
    out: *mut *mut vbn_mr_set,
) -> vbn_status {
    guard(Op::MrSetCreate, || {
        let out = ffi::out_handle(out)?;
        let mrs = ffi::array_mut(mrs, count as usize, "mrs")?;
        let attr = ffi::input(attr)?;
        let takes = attr.takes()?;
        let mut builder = Builder::new(takes);
        for (mr, index) in mrs.iter().zip(0u64..) {
            ffi::pin(*mr).and_then(|mr| builder.add(mr)).map_err(|error| error.at(index))?;
        }
        ffi::give(out, builder.finish(attr.place(), attr.owner, attr.user_data, None)?);
        if takes {
            mrs.fill(ptr::null_mut());
        }
        Ok(())
    })
}

/// Closes a set and sets `*set` to NULL. Regions that it has taken are deregistered, the others are free to be closed.
///
/// Only after success may the memory of regions that it has taken be freed. When the driver refuses one of them (a memory window is
/// bound to it), the others are deregistered none the less, the error is returned with the place of the first in `index`, and the handle
/// stays valid, keeps its `owner`, and can be closed again. `lost` of vbn_mr_set_query tells that some are gone.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for a system call for each region that it has taken.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (a window is bound, or another thread is inside a call on the handle), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mr_set_close(set: *mut *mut vbn_mr_set) -> vbn_status {
    ffi::close(Op::MrSetClose, set)
}

/// Tells what is known of a set.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mr_set_query(set: *const vbn_mr_set, info: *mut vbn_mr_set_info) -> vbn_status {
    guard_on(Op::MrSetQuery, set, || ffi::output(info, &ffi::slot(set)?.pin_any()?.info()))
}

/// Tells one of the entries of a set, from 0 to `count - 1` of vbn_mr_set_query.
///
/// - Ownership: fills the caller's `*entry`, whose struct_size must be set. The region in it is borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (also: the set is lost), VBN_ERR_NOT_FOUND (no such entry), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mr_set_entry(set: *const vbn_mr_set, index: u32, entry: *mut vbn_mr_entry) -> vbn_status {
    guard_on(Op::MrSetEntry, set, || {
        ffi::check_output(entry)?;
        ffi::output(entry, &ffi::pin(set)?.entry(index)?)
    })
}

/// Cuts `length` bytes from `offset` of a set into segments, of which each lies in one region and has at most `max_segment` bytes
/// (0: 1 GiB).
///
/// Writes up to `capacity` segments to `sges`, their number to `*count_out` and the bytes they cover to `*covered_out`.
/// If that is less than `length`, go on at `offset + *covered_out`. After a failure both are 0.
///
/// - Ownership: none; the segments are good until the set is closed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (a length or capacity of 0, a range that is not inside the set, or a set that is lost),
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "no fewer describe it, and C has no other way to take them")]
pub unsafe extern "C" fn vbn_mr_set_segment(
    set: *const vbn_mr_set,
    offset: u64,
    length: u64,
    max_segment: u32,
    sges: *mut vbn_sge,
    capacity: u32,
    count_out: *mut u32,
    covered_out: *mut u64,
) -> vbn_status {
    guard_on(Op::MrSetSegment, set, || {
        let count = ffi::out(count_out, "count_out")?;
        *count = 0;
        let covered = ffi::out(covered_out, "covered_out")?;
        *covered = 0;
        let sges = ffi::array_mut(sges, capacity as usize, "sges")?;
        (*count, *covered) = ffi::pin(set)?.segments(offset, length, max_segment, sges)?;
        Ok(())
    })
}
