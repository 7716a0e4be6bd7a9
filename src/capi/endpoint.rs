// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_endpoint_*`: records of queue pairs, of 24 bytes and of the kind that grows.

use super::ffi::{self, guard, guard_on};
use crate::core::endpoint::{self, VBN_ENDPOINT_SIZE, vbn_endpoint};
use crate::core::endpoint_info::{vbn_endpoint_info, vbn_endpoint_info_attr};
use crate::core::handle::vbn_qp;
use crate::core::op::Op;
use crate::core::status::vbn_status;

/// Fills in where one's own SRD or UD queue pair is reached: GID, number, QKEY. The peer makes a vbn_peer of it.
///
/// The GID is found by itself: on RoCE what vbn_gid_select picks, elsewhere the first of the port. The queue pair must have its
/// QKEY, so it must have left RESET (vbn_qp_prepare). An RC queue pair has none and is refused.
///
/// - Ownership: fills the caller's `*endpoint`.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT (also: no SRD or UD queue pair, or in RESET), VBN_ERR_LIMIT (references), VBN_ERR_NOT_FOUND
///   (no usable GID), VBN_ERR_NOT_SUPPORTED (iWARP), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_endpoint_local(qp: *const vbn_qp, endpoint: *mut vbn_endpoint) -> vbn_status {
    guard_on(Op::EndpointLocal, qp, || {
        let endpoint = ffi::out(endpoint, "endpoint")?;
        *endpoint = vbn_endpoint::local(&*ffi::pin(qp)?)?;
        Ok(())
    })
}

/// Writes an endpoint as VBN_ENDPOINT_SIZE (24) bytes, big-endian: gid, qp_num, qkey. The Python package efa (rdma4py)
/// exchanges the same bytes.
///
/// - Ownership: reads `*endpoint`, fills `bytes`, which must have room for `size` bytes.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (qp_num above 24 bits, size not 24), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma4py 2026.10.22, EndpointInfo
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_endpoint_encode(endpoint: *const vbn_endpoint, bytes: *mut u8, size: usize) -> vbn_status {
    guard(Op::EndpointEncode, || {
        let endpoint = ffi::required(endpoint, "endpoint")?;
        if size != VBN_ENDPOINT_SIZE {
            return Err(endpoint::wrong_size(size));
        }
        ffi::array_mut(bytes, size, "bytes")?.copy_from_slice(&endpoint.encode()?);
        Ok(())
    })
}

/// Reads an endpoint that came from a peer, and checks it.
///
/// - Ownership: reads `bytes`, fills the caller's `*endpoint`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (size not 24, qp_num above 24 bits), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma4py 2026.10.22, EndpointInfo
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_endpoint_decode(bytes: *const u8, size: usize, endpoint: *mut vbn_endpoint) -> vbn_status {
    guard(Op::EndpointDecode, || {
        let endpoint = ffi::out(endpoint, "endpoint")?;
        *endpoint = vbn_endpoint::decode(ffi::array(bytes, size, "bytes")?)?;
        Ok(())
    })
}

/// Fills in all that a peer may want to know of one's own queue pair, of type RC, UC, UD or SRD: addresses, numbers, limits,
/// and what must be the same on both sides.
///
/// Make it once for a queue pair and send the same to every peer: the PSN of an RC or UC queue pair and the incarnation are
/// drawn at random by each call. A UD or SRD queue pair must have its QKEY, so it must have left RESET (vbn_qp_prepare).
///
/// `attr` may be NULL. On RoCE the first of the GIDs is what vbn_gid_select picks, the others would do as well.
///
/// - Ownership: reads `*attr`, fills the caller's `*info`.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT (also: a UD or SRD queue pair in RESET), VBN_ERR_LIMIT (port_num, sgid_index,
///   max_rd_atomic, max_dest_rd_atomic; references), VBN_ERR_NOT_FOUND (no usable GID), VBN_ERR_NOT_SUPPORTED (iWARP;
///   another type of queue pair), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_endpoint_info_local(
    qp: *const vbn_qp,
    attr: *const vbn_endpoint_info_attr,
    info: *mut vbn_endpoint_info,
) -> vbn_status {
    guard_on(Op::EndpointInfoLocal, qp, || {
        ffi::check_output(info)?;
        let qp = ffi::pin(qp)?;
        ffi::output(info, &vbn_endpoint_info::local(&qp, &ffi::input(attr)?)?)
    })
}

/// Writes an endpoint as a record that can grow, of at most VBN_RECORD_MAX_SIZE (1024) bytes; docs/records.md has the format.
/// A field whose bit isn't in `set` is left out.
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
pub unsafe extern "C" fn vbn_endpoint_info_encode(
    info: *const vbn_endpoint_info,
    bytes: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> vbn_status {
    guard(Op::EndpointInfoEncode, || {
        let size = ffi::out(size, "size")?;
        let room = ffi::array_mut(bytes, capacity, "bytes")?;
        *size = ffi::required_input(info)?.encode()?.copy_to(room)?;
        Ok(())
    })
}

/// Reads an endpoint that came from a peer, and checks it. What the peer doesn't tell is not in `info->set`.
///
/// `size` may be more than the record has, as in a slot of fixed size: what lies behind the record isn't looked at. Items that
/// this library doesn't know are skipped, unless the peer says that they must be understood.
///
/// - Ownership: reads `bytes`, fills the caller's `*info`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (no record of an endpoint, or one that was cut; a field out of range or missing),
///   VBN_ERR_TOO_NEW (a later version of the format, or an item that must be understood and isn't: value has its number),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_endpoint_info_decode(
    bytes: *const u8,
    size: usize,
    info: *mut vbn_endpoint_info,
) -> vbn_status {
    guard(Op::EndpointInfoDecode, || {
        ffi::check_output(info)?;
        ffi::output(info, &vbn_endpoint_info::decode(ffi::array(bytes, size, "bytes")?)?)
    })
}
