// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_qp_*`.

use std::slice;

use super::ffi::{self, guard_on};
use crate::core::adopt::vbn_adopt_attr;
use crate::core::error::{Error, Reason};
use crate::core::handle::{vbn_pd, vbn_qp};
use crate::core::op::Op;
use crate::core::post::{self, vbn_send_wr};
use crate::core::post_recv::{self, vbn_recv_wr};
use crate::core::qp::Qp;
use crate::core::qp_attr::{vbn_qp_attr, vbn_qp_info};
use crate::core::qp_create::vbn_qp_init_attr;
use crate::core::qp_ext::{vbn_ece, vbn_qp_rate_limit_attr};
use crate::core::qp_prepare::{self, vbn_qp_prepare_attr};
use crate::core::status::{VBN_ERR_NOT_FOUND, VBN_OK, vbn_status};
use crate::core::wc::vbn_wc;
use crate::sys::ibv::ibv_qp;

/// Creates a queue pair in the state RESET.
///
/// `attr` is required: it names at least `send_cq`. The device may grant more than was asked for; vbn_qp_query tells.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_qp_close; NULL after a failure. It keeps `pd` and the
///   queues alive.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (a depth or number of segments above the device's; references),
///   VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (type or operations), VBN_ERR_SYMBOL_MISSING (flags that need a newer libefa),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_create_qp(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_create(
    pd: *mut vbn_pd,
    attr: *const vbn_qp_init_attr,
    out: *mut *mut vbn_qp,
) -> vbn_status {
    guard_on(Op::QpCreate, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let attr = ffi::required_input(attr)?;
        if attr.send_cq.is_null() {
            return Err(Error::argument(Reason::Null("send_cq")));
        }
        let send_cq = ffi::pin(attr.send_cq)?;
        let recv_cq = ffi::pin_optional(attr.recv_cq)?.unwrap_or_else(|| send_cq.clone());
        let srq = ffi::pin_optional(attr.srq)?;
        ffi::give(out, Qp::create(pd, send_cq, recv_cq, srq, &attr)?);
        Ok(())
    })
}

/// Closes a queue pair, destroys it at once and sets `*qp` to NULL. Requests still on it never complete; their buffers
/// are free afterwards.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may be under way or start afterwards.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (another thread is inside a call, or the driver refuses: still attached to a multicast
///   group; the handle stays valid),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_destroy_qp(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_close(qp: *mut *mut vbn_qp) -> vbn_status {
    ffi::close(Op::QpClose, qp)
}

/// Tells the attributes as the device has them, the capacities that it granted, and what was given at creation.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_query_qp(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_query(qp: *const vbn_qp, info: *mut vbn_qp_info) -> vbn_status {
    guard_on(Op::QpQuery, qp, || {
        let qp = ffi::pin(qp)?;
        ffi::check_output(info)?;
        ffi::output(info, &qp.info()?)
    })
}

/// The queue pair's number, which peers need and completions carry; 0 for a handle that can't be used.
///
/// - Ownership: nothing changes hands.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_num(qp: *const vbn_qp) -> u32 {
    ffi::slot(qp).ok().and_then(|slot| slot.live()).map_or(0, Qp::qp_num)
}

/// Changes the attributes that `attr->set` names: raw ibv_modify_qp, for what vbn_qp_connect_rc does not do. To take a
/// queue pair to RESET or ERR, set VBN_QP_STATE alone. A refusal names the attribute at fault where it can be told.
///
/// - Ownership: reads the caller's `*attr`.
/// - Threads: MT-safe.
/// - Blocks: for a system call; going to RTR may wait for the peer's address (seconds).
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_DRIVER (sys_errno EINVAL, ETIMEDOUT, ENETUNREACH, ...),
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_modify(qp: *mut vbn_qp, attr: *const vbn_qp_attr) -> vbn_status {
    guard_on(Op::QpModify, qp, || {
        let qp = ffi::pin(qp)?;
        qp.modify(&ffi::required_input(attr)?)
    })
}

/// Brings a UD or SRD queue pair to RTS in one call: from RESET, INIT or RTR. One that is up already is fine if it has the
/// same QKEY. RC queue pairs are connected instead (vbn_qp_connect_rc).
///
/// `attr` is required: the QKEY has no default, since a key that is always the same lets late packets of a dead process in.
///
/// - Ownership: reads the caller's `*attr`.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (port_num; references), VBN_ERR_NOT_SUPPORTED (rnr_retry
///   where the device has none), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3); SRD.txt of the efa driver r3.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_prepare(qp: *mut vbn_qp, attr: *const vbn_qp_prepare_attr) -> vbn_status {
    guard_on(Op::QpPrepare, qp, || {
        let qp = ffi::pin(qp)?;
        qp_prepare::prepare(&qp, &ffi::required_input(attr)?)
    })
}

/// A random QKEY for vbn_qp_prepare: 31 bits, never 0. Queue pair numbers are used again soon, so a key of its own keeps
/// packets for a predecessor out.
///
/// - Ownership: nothing changes hands.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub extern "C" fn vbn_qkey_random() -> u32 {
    qp_prepare::random_qkey()
}

/// Attaches a UD queue pair to a multicast group: datagrams sent to it come in as well, each with VBN_WC_GRH. A sender needs an
/// address handle for the group's GID, and sends to queue pair number 0xffffff.
///
/// On InfiniBand the group must exist and be joined at the subnet manager, which tells its LID. On RoCE the LID is 0 and the group
/// that of an IP address, which the host must have joined as well, by a socket (IP_ADD_MEMBERSHIP, IPV6_JOIN_GROUP): soft-RoCE of
/// kernel 6.1 receives nothing otherwise. Detach before closing the queue pair: until then the close answers VBN_ERR_BUSY.
///
/// - Ownership: reads the 16 bytes of `gid`.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT (also: no UD queue pair, no multicast GID), VBN_ERR_NOT_SUPPORTED (the device has no
///   multicast), VBN_ERR_DRIVER (EINVAL: in RESET, wrong LID), VBN_ERR_NO_MEMORY (too many groups), VBN_ERR_BUSY,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_attach_mcast(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_attach_mcast(qp: *mut vbn_qp, gid: *const u8, lid: u16) -> vbn_status {
    guard_on(Op::QpAttachMcast, qp, || {
        let qp = ffi::pin(qp)?;
        qp.mcast(ffi::required(gid.cast::<[u8; 16]>(), "gid")?, lid, true)
    })
}

/// Detaches a UD queue pair from a multicast group.
///
/// - Ownership: reads the 16 bytes of `gid`.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT (also: no UD queue pair, no multicast GID), VBN_ERR_NOT_SUPPORTED (the device has no
///   multicast), VBN_ERR_DRIVER (EINVAL: it was not attached with this GID and LID), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_detach_mcast(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_detach_mcast(qp: *mut vbn_qp, gid: *const u8, lid: u16) -> vbn_status {
    guard_on(Op::QpDetachMcast, qp, || {
        let qp = ffi::pin(qp)?;
        qp.mcast(ffi::required(gid.cast::<[u8; 16]>(), "gid")?, lid, false)
    })
}

/// Posts `n` requests to the send queue. `*posted` is always written: `wrs[0..*posted)` are on the queue, and
/// `wrs[*posted]` is the first that is not. All requests are checked before the first is posted, so a request that is
/// wrong leaves `*posted` 0 and its index in the error record.
///
/// A full queue takes as many as fit: VBN_ERR_QUEUE_FULL; poll completions, then post the rest. VBN_ERR_UNCERTAIN means
/// that the driver failed without naming a request: `*posted` counts all that it was handed, and they may run later
/// (soft-RoCE does so when posting before RTS).
///
/// - Ownership: the requests and segment lists are the caller's and free after the call; the memory that they name must
///   stay until their completion (until return with VBN_SEND_INLINE).
/// - Threads: as thread-safe as the driver; most lock inside. Not concurrently with closing the handle. On EFA one thread at
///   a time, unless the queue can't become full: libefa (up to 65) reads a session's outcome after it has let its lock go, so
///   that two threads may get each other's, and requests be posted twice or lost.
/// - Blocks: no. No allocation, lock or system call of this library's.
/// - Errors: VBN_ERR_QUEUE_FULL, VBN_ERR_UNCERTAIN, VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (num_sge, inline or message
///   length), VBN_ERR_NOT_SUPPORTED (an operation that the queue pair does not have), VBN_ERR_DRIVER, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_BUSY (a close that the driver then refused was under way),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_post_send(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_post_send(
    qp: *mut vbn_qp,
    wrs: *const vbn_send_wr,
    n: u32,
    posted: *mut u32,
) -> vbn_status {
    ffi::hot(Op::QpPostSend, || {
        // SAFETY: NULL or the caller's variable.
        if let Some(posted) = unsafe { posted.as_mut() } {
            *posted = 0;
            if !wrs.is_null()
                && let Some(body) = ffi::hot_live(qp)
            {
                // SAFETY: not NULL; that n requests are there is the caller's word.
                return post::send(body, unsafe { slice::from_raw_parts(wrs, n as usize) }, posted);
            }
        }
        post_refused(Op::QpPostSend, qp, wrs.is_null(), n, posted.is_null())
    })
}

/// Posts `n` receives. `*posted` as for vbn_qp_post_send. Receives may be posted from INIT on.
///
/// - Ownership: the requests and segment lists are free after the call; the memory that they name belongs to the device
///   until their completion.
/// - Threads: as thread-safe as the driver; most lock inside. Not concurrently with closing the handle.
/// - Blocks: no. No allocation, lock or system call of this library's.
/// - Errors: VBN_ERR_QUEUE_FULL, VBN_ERR_UNCERTAIN, VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (num_sge), VBN_ERR_DRIVER,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_BUSY (a close that the
///   driver then refused was under way), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_post_recv(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_post_recv(
    qp: *mut vbn_qp,
    wrs: *const vbn_recv_wr,
    n: u32,
    posted: *mut u32,
) -> vbn_status {
    ffi::hot(Op::QpPostRecv, || {
        // SAFETY: NULL or the caller's variable.
        if let Some(posted) = unsafe { posted.as_mut() } {
            *posted = 0;
            if !wrs.is_null()
                && let Some(body) = ffi::hot_live(qp)
            {
                // SAFETY: not NULL; that n requests are there is the caller's word.
                return post_recv::post(body.path(), unsafe { slice::from_raw_parts(wrs, n as usize) }, posted);
            }
        }
        post_refused(Op::QpPostRecv, qp, wrs.is_null(), n, posted.is_null())
    })
}

/// The unusual ends of a post: NULL or an unusable handle; nothing to post is fine.
#[cold]
#[inline(never)]
fn post_refused(op: Op, qp: *const vbn_qp, no_wrs: bool, n: u32, no_posted: bool) -> vbn_status {
    let null = match (no_posted, no_wrs && n > 0) {
        (true, _) => Some("posted"),
        (false, true) => Some("wrs"),
        (false, false) => None,
    };
    if null.is_none() && ffi::hot_live(qp).is_some() {
        return VBN_OK;
    }
    ffi::hot_refused(op, qp, null)
}

/// The first failed completion of this queue pair that was not a flush (VBN_WC_WR_FLUSH_ERR): why it went into the error
/// state. It is noted when vbn_cq_poll or vbn_cq_wait return it, whatever flushes came before or after, and kept until the
/// queue pair goes to RESET. Completions of before RESET that are polled after it count like new ones: poll them first.
///
/// - Ownership: fills the caller's `*wc`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_NOT_FOUND (none so far), VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_first_error(qp: *const vbn_qp, wc: *mut vbn_wc) -> vbn_status {
    guard_on(Op::QpFirstError, qp, || {
        let qp = ffi::pin(qp)?;
        let wc = ffi::out(wc, "wc")?;
        *wc = qp.first_error().ok_or(NONE_SEEN)?;
        Ok(())
    })
}

const NONE_SEEN: Error =
    Error::text(VBN_ERR_NOT_FOUND, "no failed completion other than flushes was polled for this queue pair");

/// Tells the vendor options of a queue pair: those that it offers while it is new, those in force once it is connected.
///
/// The exchange: the side that begins queries and sends its options (the record of vbn_endpoint_info_local has them); the other
/// sets them before RTR, queries what is left of them and answers with that; the first sets the answer before its own RTR.
///
/// - Ownership: fills the caller's `*ece`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: maybe for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (the device has none), VBN_ERR_SYMBOL_MISSING (rdma-core before 31),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_query_ece(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_query_ece(qp: *const vbn_qp, ece: *mut vbn_ece) -> vbn_status {
    guard_on(Op::QpQueryEce, qp, || {
        let qp = ffi::pin(qp)?;
        ffi::check_output(ece)?;
        ffi::output(ece, &qp.ece()?)
    })
}

/// Takes over the vendor options of the peer, in RESET or INIT; see vbn_qp_query_ece. They are in force from RTR on.
///
/// - Ownership: reads the caller's `*ece`.
/// - Threads: MT-safe.
/// - Blocks: maybe for a system call.
/// - Errors: VBN_ERR_ARGUMENT (also a vendor_id of 0: the peer has none), VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the device
///   has none), VBN_ERR_SYMBOL_MISSING (rdma-core before 31), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_set_ece(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_set_ece(qp: *mut vbn_qp, ece: *const vbn_ece) -> vbn_status {
    guard_on(Op::QpSetEce, qp, || {
        let qp = ffi::pin(qp)?;
        qp.set_ece(&ffi::required_input(ece)?)
    })
}

/// Tells in which order the data of a VBN_WR_* opcode becomes visible in the receiver's memory on a queue pair: with
/// VBN_IN_ORDER_WHOLE_MSG a program may watch the last byte of a message instead of polling for a completion.
///
/// `*caps_out` gets VBN_IN_ORDER_* bits; 0 means that nothing is promised, which is what devices answer that can't tell, and
/// libibverbs on other processors than x86 unless `flags` has VBN_IN_ORDER_DEVICE_ONLY. After a failure it is 0.
///
/// - Ownership: none.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_SYMBOL_MISSING (rdma-core before 36), VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_query_qp_data_in_order(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_data_in_order(
    qp: *const vbn_qp,
    opcode: u32,
    flags: u32,
    caps_out: *mut u32,
) -> vbn_status {
    guard_on(Op::QpDataInOrder, qp, || {
        let caps_out = ffi::out(caps_out, "caps_out")?;
        *caps_out = 0;
        *caps_out = ffi::pin(qp)?.data_in_order(opcode, flags)?;
        Ok(())
    })
}

/// Limits how fast a queue pair sends, on devices that pace packets, while it runs. `attr` is required.
///
/// vbn_context_query_device tells the limits and for which types of queue pairs (rate_limit_supported_qpts).
///
/// - Ownership: reads the caller's `*attr`.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (outside of what the device offers; references),
///   VBN_ERR_NOT_SUPPORTED (the device has none), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_qp_rate_limit(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_modify_rate_limit(qp: *mut vbn_qp, attr: *const vbn_qp_rate_limit_attr) -> vbn_status {
    guard_on(Op::QpModifyRateLimit, qp, || {
        let qp = ffi::pin(qp)?;
        qp.modify_rate_limit(&ffi::required_input(attr)?)
    })
}

/// Lends the `ibv_qp`. It stays this library's: don't destroy it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_native(qp: *const vbn_qp, native_out: *mut *mut ibv_qp) -> vbn_status {
    ffi::native(Op::QpNative, qp, native_out, Qp::native)
}

/// Gives the `ibv_qp` away: the handle ends, the queue pair lives on and is the caller's to destroy. Its PD and completion
/// queues must outlive it.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*qp` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (another thread is inside a call), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_release(qp: *mut *mut vbn_qp, native_out: *mut *mut ibv_qp) -> vbn_status {
    ffi::release(Op::QpRelease, qp, native_out, Qp::native)
}

/// Makes a handle for an `ibv_qp` that raw verbs made in the `ibv_pd` of `pd`, in whatever state it is: RC, UC, UD, on EFA SRD,
/// and where the device has it XRC (whose receiving side has no PD; any of the device will do) and RAW_PACKET, which sends and
/// receives whole Ethernet packets and goes through its states by vbn_qp_modify.
///
/// `native` must be a live ibv_qp. Queues of it that have handles are kept alive; vbn_qp_first_error sees only
/// what is polled through this library. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (type), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_adopt(
    pd: *mut vbn_pd,
    native: *mut ibv_qp,
    attr: *const vbn_adopt_attr,
    out: *mut *mut vbn_qp,
) -> vbn_status {
    guard_on(Op::QpAdopt, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Qp::adopt(pd, native, &attr)?);
        Ok(())
    })
}
