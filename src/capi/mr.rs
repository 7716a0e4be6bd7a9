// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_mr_*`.

use std::ffi::c_void;

use super::ffi::{self, guard_on};
use crate::core::adopt::vbn_adopt_attr;
use crate::core::handle::{vbn_mr, vbn_pd};
use crate::core::mr::{Mr, vbn_mr_attr, vbn_mr_info};
use crate::core::op::Op;
use crate::core::post::vbn_sge;
use crate::core::status::vbn_status;
use crate::sys::ibv::ibv_mr;

/// Registers `length` bytes at `addr`, so that the device may use them as `access` (VBN_ACCESS_*) says.
///
/// Neither needs to be page-aligned. Optional flags (VBN_ACCESS_RELAXED_ORDERING) are dropped for kernels that don't
/// know them. When the device or the process's limit on locked memory does not allow it, the error says the size asked
/// for (`value`) and the limit (`limit`). `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_mr_close. It keeps `pd` alive. The memory stays the
///   caller's and must stay mapped until the close has succeeded.
/// - Threads: MT-safe.
/// - Blocks: while the kernel pins the pages, the longer the more there are.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (length above the device's max_mr_size), VBN_ERR_TOO_NEW,
///   VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER (sys_errno EFAULT: not mapped).
/// - Since: 0.1
/// - Source: ibv_reg_mr(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mr_reg(
    pd: *mut vbn_pd,
    addr: *mut c_void,
    length: u64,
    access: u64,
    attr: *const vbn_mr_attr,
    out: *mut *mut vbn_mr,
) -> vbn_status {
    guard_on(Op::MrReg, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Mr::reg(pd, addr as u64, length, access, &attr)?);
        Ok(())
    })
}

/// Registers `length` bytes from `offset` of the dma-buf `fd`, which requests then address from `iova` on.
///
/// `iova` and `offset` must be equal modulo the page size. For GPU memory `iova` is usually the device pointer. `attr`
/// may be NULL; VBN_MR_SET_IOVA is refused in it. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_mr_close. It keeps `pd` alive. `fd` stays the caller's and
///   may be closed at once: the region holds the dma-buf itself.
/// - Threads: MT-safe.
/// - Blocks: while the exporter maps the memory.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (length above the device's max_mr_size), VBN_ERR_TOO_NEW,
///   VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED (the driver has no dma-buf), VBN_ERR_SYMBOL_MISSING (rdma-core before
///   34), VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_reg_dmabuf_mr(3)
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "no fewer describe it, and C has no other way to take them")]
pub unsafe extern "C" fn vbn_mr_reg_dmabuf(
    pd: *mut vbn_pd,
    fd: i32,
    offset: u64,
    length: u64,
    iova: u64,
    access: u64,
    attr: *const vbn_mr_attr,
    out: *mut *mut vbn_mr,
) -> vbn_status {
    guard_on(Op::MrRegDmabuf, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Mr::reg_dmabuf(pd, fd, offset, length, iova, access, &attr)?);
        Ok(())
    })
}

/// Deregisters a memory region and sets `*mr` to NULL.
///
/// Only after success may the memory be freed. When the driver refuses (a memory window is bound), the device may still
/// use the memory: the error is returned, the handle stays valid and keeps its `owner`.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (also: another thread is inside a call on the handle), VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_dereg_mr(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mr_close(mr: *mut *mut vbn_mr) -> vbn_status {
    ffi::close(Op::MrClose, mr)
}

/// Tells what is known of a memory region: its addresses, keys and owner.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mr_query(mr: *const vbn_mr, info: *mut vbn_mr_info) -> vbn_status {
    guard_on(Op::MrQuery, mr, || ffi::output(info, &ffi::slot(mr)?.pin_any()?.info()))
}

/// The key for one's own requests; 0 for NULL or a handle that can't be used.
///
/// - Ownership: none.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mr_lkey(mr: *const vbn_mr) -> u32 {
    live(mr).map_or(0, Mr::lkey)
}

/// The key for peers; 0 for NULL or a handle that can't be used.
///
/// - Ownership: none.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mr_rkey(mr: *const vbn_mr) -> u32 {
    live(mr).map_or(0, Mr::rkey)
}

/// Where the region begins for peers, and in a vbn_sge; 0 for NULL or a handle that can't be used.
///
/// - Ownership: none.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mr_remote_addr(mr: *const vbn_mr) -> u64 {
    live(mr).map_or(0, Mr::remote_addr)
}

/// Getters don't touch the error record: a handle that can't be used simply has no value.
fn live(mr: *const vbn_mr) -> Option<&'static Mr> {
    ffi::slot(mr).ok()?.live()
}

/// Cuts `length` bytes from `offset` of a region into segments of at most `max_segment` bytes (0: 1 GiB), since the
/// length of a vbn_sge has 32 bits only.
///
/// Writes up to `capacity` segments to `sges`, their number to `*count_out` and the bytes they cover to `*covered_out`.
/// If that is less than `length`, go on at `offset + *covered_out`. After a failure both are 0.
///
/// - Ownership: none; the segments are good until the region is closed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (a length or capacity of 0, or a range that is not inside the region).
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "no fewer describe it, and C has no other way to take them")]
pub unsafe extern "C" fn vbn_mr_segments(
    mr: *const vbn_mr,
    offset: u64,
    length: u64,
    max_segment: u32,
    sges: *mut vbn_sge,
    capacity: u32,
    count_out: *mut u32,
    covered_out: *mut u64,
) -> vbn_status {
    guard_on(Op::MrSegments, mr, || {
        let count = ffi::out(count_out, "count_out")?;
        *count = 0;
        let covered = ffi::out(covered_out, "covered_out")?;
        *covered = 0;
        let sges = ffi::array_mut(sges, capacity as usize, "sges")?;
        (*count, *covered) = ffi::pin(mr)?.segments(offset, length, max_segment, sges)?;
        Ok(())
    })
}

/// Lends the `ibv_mr`. It stays this library's: don't deregister it, and don't use it after the handle is closed.
///
/// For a dma-buf region `ibv_mr.addr` is the offset within the dma-buf; requests use vbn_mr_remote_addr.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mr_native(mr: *const vbn_mr, native_out: *mut *mut ibv_mr) -> vbn_status {
    ffi::native(Op::MrNative, mr, native_out, Mr::native)
}

/// Gives the `ibv_mr` away: the handle ends, the registration lives on and is the caller's to deregister.
///
/// The handle's `owner` is forgotten: keep the memory until the region is deregistered.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*mr` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (another thread is inside a call on it).
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mr_release(mr: *mut *mut vbn_mr, native_out: *mut *mut ibv_mr) -> vbn_status {
    ffi::release(Op::MrRelease, mr, native_out, Mr::native)
}

/// Makes a handle for an `ibv_mr` that raw verbs registered in the `ibv_pd` of `pd`.
///
/// `native` must be a live ibv_mr. Nothing in it says at which address requests find it: unless `attr` has
/// VBN_ADOPT_SET_IOVA, ibv_mr.addr is taken. That is wrong for a region registered with another iova, for a dma-buf
/// and for a zero-based one: give their iova. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mr_adopt(
    pd: *mut vbn_pd,
    native: *mut ibv_mr,
    attr: *const vbn_adopt_attr,
    out: *mut *mut vbn_mr,
) -> vbn_status {
    guard_on(Op::MrAdopt, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Mr::adopt(pd, native, &attr)?);
        Ok(())
    })
}
