// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_mr_*`.

use std::ffi::c_void;

use super::ffi::{self, guard_on};
use crate::core::adopt::vbn_adopt_attr;
use crate::core::handle::{vbn_dm, vbn_mr, vbn_pd};
use crate::core::mr::{Mr, vbn_mr_attr, vbn_mr_info};
use crate::core::mr_ops::{self, VBN_MR_REREG_PD, vbn_mr_rereg_attr};
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (length above the device's max_mr_size; references), VBN_ERR_TOO_NEW,
///   VBN_ERR_DRIVER (sys_errno EFAULT: not mapped), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (length above the device's max_mr_size; references), VBN_ERR_TOO_NEW,
///   VBN_ERR_SYMBOL_MISSING (rdma-core before 34), VBN_ERR_NOT_SUPPORTED (the driver has no dma-buf), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
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

/// Makes a region without memory, on devices that have such: what is read through its key is 0, what is written is dropped. So a
/// receive can skip parts of a message.
///
/// Only vbn_mr_lkey counts, in a vbn_sge with any address. `attr` may be NULL; `set` must be 0. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_mr_close. It keeps `pd` alive.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the device has none), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_alloc_null_mr(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mr_alloc_null(
    pd: *mut vbn_pd,
    attr: *const vbn_mr_attr,
    out: *mut *mut vbn_mr,
) -> vbn_status {
    guard_on(Op::MrAllocNull, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Mr::alloc_null(pd, &attr)?);
        Ok(())
    })
}

/// Registers `length` bytes from `offset` of a device's memory. In requests the region begins at address 0.
///
/// VBN_ACCESS_ZERO_BASED is added to `access`: the kernel takes no other. `attr` may be NULL; `set` must be 0. `*out` is NULL after
/// a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_mr_close. It keeps `pd` and `dm` alive.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the device can't), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_reg_dm_mr(3)
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "no fewer describe it, and C has no other way to take them")]
pub unsafe extern "C" fn vbn_mr_reg_dm(
    pd: *mut vbn_pd,
    dm: *mut vbn_dm,
    offset: u64,
    length: u64,
    access: u64,
    attr: *const vbn_mr_attr,
    out: *mut *mut vbn_mr,
) -> vbn_status {
    guard_on(Op::MrRegDm, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let dm = ffi::pin(dm)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Mr::reg_dm(pd, dm, offset, length, access, &attr)?);
        Ok(())
    })
}

/// Makes a handle for a region of another process in an imported protection domain (vbn_pd_import); `handle` is what vbn_mr_query
/// told there. `attr` is needed, with VBN_MR_SET_IOVA and `iova`: the `addr` that vbn_mr_query told there, since nothing else says
/// where the region begins. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_mr_close, which leaves the region as it is: the process that made it
///   deregisters it. It keeps `pd` alive.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the driver can't), VBN_ERR_SYMBOL_MISSING (rdma-core
///   before 31), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_import_mr(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mr_import(
    pd: *mut vbn_pd,
    handle: u32,
    attr: *const vbn_mr_attr,
    out: *mut *mut vbn_mr,
) -> vbn_status {
    guard_on(Op::MrImport, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let attr = ffi::required_input(attr)?;
        ffi::give(out, Mr::import(pd, handle, &attr)?);
        Ok(())
    })
}

/// Registers a region anew, under the same handle: with other memory, in another protection domain, with other access, as
/// `attr->set` says. Its keys may change.
///
/// No request may use the region meanwhile, and no other thread its addresses and keys. What a failure leaves is said in the
/// message: after a refused argument, VBN_ERR_NOT_SUPPORTED, and when fork protection of the new memory failed, the region is
/// as it was; when fork protection of the old memory could not be undone, all is changed as asked; when the kernel refused,
/// nothing is known of the region, `lost` of vbn_mr_query is 1 and it can only be closed.
///
/// - Ownership: reads the caller's `*attr`. A new PD is kept alive instead of the old one. Old memory is free when the call has
///   succeeded; after the region was lost, old and new must stay until the close has succeeded.
/// - Threads: not on one region at once; MT-safe otherwise.
/// - Blocks: while the kernel pins the pages.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (length above the device's max_mr_size; references),
///   VBN_ERR_NOT_SUPPORTED (the driver can't), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_rereg_mr(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mr_rereg(mr: *mut vbn_mr, attr: *const vbn_mr_rereg_attr) -> vbn_status {
    guard_on(Op::MrRereg, mr, || {
        let mr = ffi::pin(mr)?;
        let attr = ffi::required_input(attr)?;
        let pd = if attr.set & VBN_MR_REREG_PD != 0 { ffi::pin_optional(attr.pd)? } else { None };
        mr.rereg(pd, &attr)
    })
}

/// Gives advice about parts of regions that were registered with VBN_ACCESS_ON_DEMAND: that the device should fetch their pages
/// now, before requests need them. `advice` is one of VBN_ADVISE_*.
///
/// vbn_mr_segments makes the segments. Without VBN_ADVISE_FLUSH in `flags` the advice is taken and may be followed later, or
/// not at all.
///
/// - Ownership: reads the caller's segments.
/// - Threads: MT-safe.
/// - Blocks: with VBN_ADVISE_FLUSH while pages are fetched, else for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (the device has no on-demand paging, or not this advice),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_advise_mr(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mr_advise(
    pd: *mut vbn_pd,
    advice: i32,
    flags: u32,
    sges: *const vbn_sge,
    num_sge: u32,
) -> vbn_status {
    guard_on(Op::MrAdvise, pd, || {
        let pd = ffi::pin(pd)?;
        mr_ops::advise(&pd, advice, flags, ffi::array(sges, num_sge as usize, "sges")?)
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (a window is bound, or another thread is inside a call on the handle), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT (a length or capacity of 0, or a range that is not inside the region), VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (another thread is inside a call on it), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
