// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_region_*`: records of memory.

use super::ffi::{self, guard};
use crate::core::endpoint_info::vbn_endpoint_info;
use crate::core::handle::vbn_mr_set;
use crate::core::op::Op;
use crate::core::region::{vbn_region_info, vbn_region_info_attr};
use crate::core::status::vbn_status;

/// Fills in what a peer needs to read and write memory of one's own: for each NIC that it is registered with where it is and under
/// which keys, and where it lives, as the first set was told.
///
/// `sets` has the same memory `count` times, each registered with another NIC. A plain region is a set of one (vbn_mr_set_create).
/// `attr` may be NULL: all of the memory. A set of many regions is told in parts: `offset` and `length` of `attr`.
///
/// - Ownership: reads the sets, fills the caller's `*info`, whose struct_size must be set. It is good until a set is closed.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT (count not 1..8; sets of different length, a lost one; a part that isn't inside of them; more than 30
///   entries), VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (port_num; references), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_region_info_local(
    sets: *const *const vbn_mr_set,
    count: u32,
    attr: *const vbn_region_info_attr,
    info: *mut vbn_region_info,
) -> vbn_status {
    guard(Op::RegionInfoLocal, || {
        ffi::check_output(info)?;
        let attr = ffi::input(attr)?;
        let sets = ffi::array(sets, count as usize, "sets")?;
        let mut region = vbn_region_info::begin(&attr)?;
        for (set, index) in sets.iter().zip(0u64..) {
            ffi::pin(*set).and_then(|set| region.add(&set, &attr)).map_err(|error| error.at(index))?;
        }
        region.check()?;
        ffi::output(info, &region)
    })
}

/// Writes a region as a record that can grow, of at most VBN_RECORD_MAX_SIZE (1024) bytes; docs/records.md has the format.
///
/// With a `capacity` of 0 nothing is written but `*size`; `bytes` may then be NULL.
///
/// - Ownership: reads `*info`, fills `bytes`, which must have room for `capacity` bytes, and `*size`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (a field out of range; capacity too small, which limit of the record of the error tells),
///   VBN_ERR_TOO_NEW, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_region_info_encode(
    info: *const vbn_region_info,
    bytes: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> vbn_status {
    guard(Op::RegionInfoEncode, || {
        let size = ffi::out(size, "size")?;
        let room = ffi::array_mut(bytes, capacity, "bytes")?;
        *size = ffi::required_input(info)?.encode()?.copy_to(room)?;
        Ok(())
    })
}

/// Reads a region that came from a peer, and checks it: what it gives names no byte beyond the peer's entries, and each NIC's
/// entries cover the region. What the peer doesn't tell is not in `set` and `place_set`.
///
/// `size` may be more than the record has, as in a slot of fixed size: what lies behind the record isn't looked at. Items that
/// this library doesn't know are skipped, unless the peer says that they must be understood.
///
/// - Ownership: reads `bytes`, fills the caller's `*info`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (no record of a region, or one that was cut; a field out of range or missing),
///   VBN_ERR_TOO_NEW (a later version of the format, or an item that must be understood and isn't: value has its number),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_region_info_decode(
    bytes: *const u8,
    size: usize,
    info: *mut vbn_region_info,
) -> vbn_status {
    guard(Op::RegionInfoDecode, || {
        ffi::check_output(info)?;
        ffi::output(info, &vbn_region_info::decode(ffi::array(bytes, size, "bytes")?)?)
    })
}

/// Finds which NIC of a peer's region is the one of an endpoint of the peer's: the `nic` of vbn_split_attr, for the queue pair that leads to that
/// endpoint. Both records are the peer's, and both tell GIDs.
///
/// - Ownership: reads `*info` and `*endpoint`, sets the caller's `*nic`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (a field out of range), VBN_ERR_NOT_FOUND (the region isn't registered with the endpoint's device, or one
///   of the two tells no GID), VBN_ERR_TOO_NEW, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_region_info_find_nic(
    info: *const vbn_region_info,
    endpoint: *const vbn_endpoint_info,
    nic: *mut u32,
) -> vbn_status {
    guard(Op::RegionInfoFindNic, || {
        let nic = ffi::out(nic, "nic")?;
        *nic = ffi::required_input(info)?.find_nic(&ffi::required_input(endpoint)?)?;
        Ok(())
    })
}
