// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_rdma_split`.

use super::ffi::{self, guard_on};
use crate::core::handle::vbn_qp;
use crate::core::op::Op;
use crate::core::post::vbn_send_wr;
use crate::core::split::{self, vbn_split_attr};
use crate::core::status::vbn_status;

/// Cuts an RDMA write or read of any length into requests of which each is within the limit of device and queue pair.
///
/// The transfer takes `*total_out` requests, numbered from 0; request i has wr_id `attr->wr_id + i`. From number `first`
/// on, up to `capacity` of them are written to `wrs`, and their number to `*count_out`. Nothing is remembered between
/// calls: to go on after an array that was too small, or a queue that was full, call again with `first` raised by what
/// was posted; for one request alone, that failed say, with its number and a capacity of 1. With a capacity of 0, when
/// `wrs` may be NULL, only the total is told. After a failure both numbers are 0.
///
/// The memory of either side may be in pieces: `mr_set` and `region` of `attr`. A request lies in one piece on both sides and has at
/// most `attr->chunk` bytes; with one piece each, all but the last have so many. What they aim at isn't looked up: that the local memory, the
/// peer and its memory are there is checked when they are posted and carried out. VBN_WR_RDMA_WRITE_WITH_IMM gives the immediate
/// value to the last request and makes the others plain writes. On a queue pair that isn't RC it is refused for more
/// than one request: there the last one may arrive first.
///
/// - Ownership: fills the caller's arrays; the requests name `attr->peer` and the memory, which must live until they
///   have completed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (a length of 0, a range that isn't inside its memory, a number or address beyond 2^64,
///   VBN_SEND_INLINE from a GPU's memory or a region of a dma-buf),
///   VBN_ERR_LIMIT (chunk above the limit; references), VBN_ERR_NOT_SUPPORTED (an operation that the queue pair lacks, or
///   the immediate value as above), VBN_ERR_TOO_NEW, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_rdma_split(
    qp: *const vbn_qp,
    attr: *const vbn_split_attr,
    first: u64,
    wrs: *mut vbn_send_wr,
    capacity: u32,
    count_out: *mut u32,
    total_out: *mut u64,
) -> vbn_status {
    guard_on(Op::RdmaSplit, qp, || {
        let count = ffi::out(count_out, "count_out")?;
        *count = 0;
        let total = ffi::out(total_out, "total_out")?;
        *total = 0;
        let qp = ffi::pin(qp)?;
        let attr = ffi::required_input(attr)?;
        let mr = ffi::pin_optional(attr.mr)?;
        let set = ffi::pin_optional(attr.mr_set)?;
        let region = if attr.region.is_null() { None } else { Some(ffi::required_input(attr.region)?) };
        let wrs = ffi::array_mut(wrs, capacity as usize, "wrs")?;
        (*count, *total) = split::split(&qp, mr.as_deref(), set.as_deref(), region.as_ref(), &attr, first, wrs)?;
        Ok(())
    })
}
