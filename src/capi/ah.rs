// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_ah_*`.

use std::ffi::c_void;

use super::ffi::{self, guard, guard_on};
use crate::core::adopt::vbn_adopt_attr;
use crate::core::ah::{Ah, GRH, vbn_ah_attr, vbn_ah_info};
use crate::core::ah_cache;
use crate::core::handle::{vbn_ah, vbn_pd};
use crate::core::op::Op;
use crate::core::status::vbn_status;
use crate::core::wc::vbn_wc;
use crate::sys::ibv::ibv_ah;

/// Creates an address handle: the way to a port, for peers (vbn_peer_create).
///
/// On EFA all handles and peers of one PD and GID share one `ibv_ah`, since destroying one there takes the others away,
/// flushes requests in flight and ends the peer's access to this side. The last close leaves it idle; see
/// vbn_pd_trim_ahs. A handle for a peer is also what lets the peer's RDMA in: both sides need one.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_ah_close; NULL after a failure. It keeps `pd` alive.
/// - Threads: MT-safe.
/// - Blocks: for a system call; on RoCE until the peer's address is resolved (seconds).
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (port_num; references), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER (EINVAL: no way
///   to that GID), VBN_ERR_NO_MEMORY (the device is full), VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_create_ah(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_ah_create(pd: *mut vbn_pd, attr: *const vbn_ah_attr, out: *mut *mut vbn_ah) -> vbn_status {
    guard_on(Op::AhCreate, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        ffi::give(out, Ah::create(pd, &ffi::required_input(attr)?)?);
        Ok(())
    })
}

/// Creates an address handle that leads back to the sender of a datagram. `wc` is the completion of its receive, `grh` the first 40
/// bytes of the receive buffer (of any alignment), `port_num` the port of the queue pair. For an answer make a peer of it, with
/// wc->src_qp and the sender's QKEY (vbn_peer_create).
///
/// Without VBN_WC_GRH (InfiniBand, within a subnet) `grh` is not looked at and may be NULL. On EFA completions don't tell where a
/// datagram came from.
///
/// - Ownership: reads `*wc` and `grh`; `*out` is the caller's, to be given to vbn_ah_close; NULL after a failure. It keeps
///   `pd` alive.
/// - Threads: MT-safe.
/// - Blocks: for system calls; on RoCE until the sender's address is resolved (seconds).
/// - Errors: VBN_ERR_ARGUMENT (also: no completion of a datagram's receive, or no header), VBN_ERR_LIMIT (port_num; references),
///   VBN_ERR_NOT_SUPPORTED (EFA), VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER (the GRH names no address of this port, as that
///   of a multicast; EINVAL: no way back), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_init_ah_from_wc(3), ibv_create_ah_from_wc(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_ah_from_wc(
    pd: *mut vbn_pd,
    wc: *const vbn_wc,
    grh: *const c_void,
    port_num: u32,
    out: *mut *mut vbn_ah,
) -> vbn_status {
    guard_on(Op::AhFromWc, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let wc = ffi::required(wc, "wc")?;
        // SAFETY: NULL, or 40 bytes, as the caller says; bytes have no alignment.
        let grh = unsafe { grh.cast::<[u8; GRH]>().as_ref() }.copied();
        ffi::give(out, Ah::from_wc(pd, wc, grh, port_num)?);
        Ok(())
    })
}

/// Closes an address handle and sets `*ah` to NULL. Peers made of it go on; the last of them destroys it. On EFA the
/// shared `ibv_ah` stays, idle.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_destroy_ah(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_ah_close(ah: *mut *mut vbn_ah) -> vbn_status {
    ffi::close(Op::AhClose, ah)
}

/// Tells what is known of an address handle.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_ah_query(ah: *const vbn_ah, info: *mut vbn_ah_info) -> vbn_status {
    guard_on(Op::AhQuery, ah, || ffi::output(info, &ffi::pin(ah)?.info()))
}

/// Lends the `ibv_ah`. It stays this library's: don't destroy it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_ah_native(ah: *const vbn_ah, native_out: *mut *mut ibv_ah) -> vbn_status {
    ffi::native(Op::AhNative, ah, native_out, Ah::native)
}

/// Gives the `ibv_ah` away: the handle ends, the object lives on and is the caller's to destroy. On EFA others share it, so
/// that it can't be given away.
///
/// - Ownership: `*native_out` becomes the caller's; `*ah` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (EFA), VBN_ERR_BUSY (peers use it), VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_ah_release(ah: *mut *mut vbn_ah, native_out: *mut *mut ibv_ah) -> vbn_status {
    guard(Op::AhRelease, || {
        let native_out = ffi::out(native_out, "native")?;
        let ah = ffi::out(ah, "handle")?;
        let slot = ffi::slot(*ah)?;
        slot.pin_any()?.may_be_given_away()?;
        *native_out = slot.release(Ah::native)?;
        *ah = std::ptr::null_mut();
        Ok(())
    })
}

/// Makes a handle for an `ibv_ah` that raw verbs made in the `ibv_pd` of `pd`. On EFA mind that destroying it takes every
/// other handle for the same GID in this PD away.
///
/// `native` must be a live ibv_ah. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_ah_adopt(
    pd: *mut vbn_pd,
    native: *mut ibv_ah,
    attr: *const vbn_adopt_attr,
    out: *mut *mut vbn_ah,
) -> vbn_status {
    guard_on(Op::AhAdopt, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Ah::adopt(pd, native, &attr)?);
        Ok(())
    })
}

/// Destroys the `ibv_ah`s that EFA's cache holds for a PD though no handle or peer uses them, but for the `keep` youngest.
/// Requests still in flight to them are flushed, and their GIDs' RDMA to this side is refused from then on (status 14
/// there). The library does the same by itself, oldest first, when the device has no room for a new one, and for all when
/// the PD goes.
///
/// - Ownership: fills the caller's `*count`, which may be NULL, with how many went.
/// - Threads: MT-safe.
/// - Blocks: for a system call each.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_pd_trim_ahs(pd: *mut vbn_pd, keep: u32, count: *mut u32) -> vbn_status {
    guard_on(Op::PdTrimAhs, pd, || {
        let count = ffi::optional(count, "count")?;
        let gone = ah_cache::trim(&*ffi::pin(pd)?, keep)?;
        if let Some(count) = count {
            *count = gone;
        }
        Ok(())
    })
}
