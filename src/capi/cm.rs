// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_cm_*`.

use std::ffi::{CStr, c_char, c_void};

use super::ffi::{self, guard, guard_on};
use crate::core::adopt::vbn_adopt_attr;
use crate::core::cm::{CmChannel, vbn_cm_channel_attr, vbn_cm_channel_info};
use crate::core::cm_addr::vbn_cm_addr;
use crate::core::cm_conn::vbn_cm_conn_attr;
use crate::core::cm_event::vbn_cm_event;
use crate::core::cm_id::{CmId, vbn_cm_id_attr, vbn_cm_id_info};
use crate::core::context::vbn_context_attr;
use crate::core::error::{Error, Reason, Result};
use crate::core::handle::{vbn_cm_channel, vbn_cm_id, vbn_context, vbn_pd, vbn_qp};
use crate::core::op::Op;
use crate::core::pd::vbn_pd_attr;
use crate::core::qp_create::vbn_qp_init_attr;
use crate::core::slab::Slot;
use crate::core::status::vbn_status;
use crate::sys::os;
use crate::sys::rdmacm::{rdma_cm_id, rdma_event_channel};

/// An address that may be NULL.
fn source_of<'a>(source: *const vbn_cm_addr) -> Result<Option<&'a vbn_cm_addr>> {
    if source.is_null() { Ok(None) } else { ffi::required(source, "source").map(Some) }
}

/// The bytes of private data.
fn private_data<'a>(pointer: *const c_void, length: u64) -> Result<&'a [u8]> {
    ffi::array(pointer.cast::<u8>(), usize::try_from(length).unwrap_or(usize::MAX), "private_data")
}

/// Creates an event channel of the connection manager (rdma_cm): ids made on it report to it. librdmacm.so.1 is opened for the
/// first one; see VBN_LIBRARY_RDMACM.
///
/// The descriptor is non-blocking from the start. `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_cm_channel_close.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded, and for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_NOT_SUPPORTED
///   (no device, or the kernel's module rdma_ucm is missing), VBN_ERR_DRIVER (errno EACCES: no access to /dev/infiniband/rdma_cm),
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_create_event_channel(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_channel_create(
    attr: *const vbn_cm_channel_attr,
    out: *mut *mut vbn_cm_channel,
) -> vbn_status {
    guard(Op::CmChannelCreate, || {
        let out = ffi::out_handle(out)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, CmChannel::create(&attr)?);
        Ok(())
    })
}

/// Closes an event channel and sets `*channel` to NULL. With ids left on it, or a thread waiting, the call succeeds and the last of
/// them destroys the channel. It does not wake the waiting thread.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_destroy_event_channel(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_channel_close(channel: *mut *mut vbn_cm_channel) -> vbn_status {
    ffi::close(Op::CmChannelClose, channel)
}

/// Tells what is known of an event channel.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set. The descriptor in it stays the channel's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_channel_query(
    channel: *const vbn_cm_channel,
    info: *mut vbn_cm_channel_info,
) -> vbn_status {
    guard_on(Op::CmChannelQuery, channel, || ffi::output(info, &ffi::pin(channel)?.info()))
}

/// The file descriptor, readable when there is an event; -1 for NULL or a handle that can't be used.
///
/// For poll, epoll and the like. When it is readable, vbn_cm_channel_get_event takes the event.
///
/// - Ownership: borrowed; don't read from it and don't close it.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_channel_fd(channel: *const vbn_cm_channel) -> i32 {
    ffi::slot(channel).ok().and_then(Slot::live).map_or(-1, CmChannel::fd)
}

/// Waits for an event of one of the channel's ids, takes it and acknowledges it.
///
/// `timeout_ns`: 0 doesn't wait, a negative one waits for ever. Of a failure (VBN_CM_EVENT_REJECTED, ...) the event tells, the call
/// succeeds; vbn_cm_event_check makes an error of it. With VBN_CM_EVENT_CONNECT_REQUEST `*id_out` is a new id for that client, with its
/// device, its addresses and user_data 0: give it a queue pair and vbn_cm_id_accept it, or vbn_cm_id_reject it, and close it. With
/// all other events, and after a failure, `*id_out` is NULL.
///
/// Reading an event does librdmacm's part of a connection: when the server has accepted, the client's queue pair becomes ready to send in
/// here. So events must be read for connections to come about.
///
/// - Ownership: fills the caller's `*event`, whose struct_size must be set; a copy, nothing to acknowledge. `*id_out`
///   is the caller's, to be given to vbn_cm_id_close; it keeps the channel alive.
/// - Threads: MT-safe; each event goes to one thread. An id's queue pair must not be made or closed while another
///   thread reads that id's events: librdmacm changes its state. Closing the channel doesn't wake the waiters.
/// - Blocks: up to `timeout_ns`. Signals don't end the wait.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TIMEOUT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_get_cm_event(3), rdma_ack_cm_event(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_channel_get_event(
    channel: *mut vbn_cm_channel,
    timeout_ns: i64,
    event: *mut vbn_cm_event,
    id_out: *mut *mut vbn_cm_id,
) -> vbn_status {
    guard_on(Op::CmChannelGetEvent, channel, || {
        // A wrong struct must not cost an event.
        ffi::check_output(event)?;
        let id_out = ffi::out_handle(id_out)?;
        let channel = ffi::pin(channel)?;
        let (value, new) = CmChannel::next_event(&channel, os::deadline(timeout_ns))?;
        if let Some(new) = new {
            ffi::give(id_out, new);
        }
        ffi::output(event, &value)
    })
}

/// Lends the `rdma_event_channel`. It stays this library's: don't destroy it, and don't use it after the handle is closed.
/// Works, too, when a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_channel_native(
    channel: *const vbn_cm_channel,
    native_out: *mut *mut rdma_event_channel,
) -> vbn_status {
    ffi::native(Op::CmChannelNative, channel, native_out, CmChannel::native)
}

/// Gives the `rdma_event_channel` away: the handle ends, the channel is the caller's to destroy. Its descriptor stays non-blocking.
///
/// - Ownership: `*native_out` becomes the caller's; `*channel` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (ids of this library use it), VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT
///   (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_channel_release(
    channel: *mut *mut vbn_cm_channel,
    native_out: *mut *mut rdma_event_channel,
) -> vbn_status {
    ffi::release(Op::CmChannelRelease, channel, native_out, CmChannel::native)
}

/// Makes a handle for an `rdma_event_channel` that raw librdmacm made. It must be of the very librdmacm that this library uses.
/// `attr` may be NULL: borrowed. Its descriptor is left as it is. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_channel_adopt(
    native: *mut rdma_event_channel,
    attr: *const vbn_adopt_attr,
    out: *mut *mut vbn_cm_channel,
) -> vbn_status {
    guard(Op::CmChannelAdopt, || {
        let out = ffi::out_handle(out)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, CmChannel::adopt(native, &attr)?);
        Ok(())
    })
}

/// Creates an id: one end of a connection to be. A client resolves its server's address with it and connects; a server binds and
/// listens, and gets a new id for each client. `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_cm_id_close. It keeps `channel` alive.
/// - Threads: MT-safe.
/// - Blocks: for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_create_id(3), rdma_set_option(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_id_create(
    channel: *mut vbn_cm_channel,
    attr: *const vbn_cm_id_attr,
    out: *mut *mut vbn_cm_id,
) -> vbn_status {
    guard_on(Op::CmIdCreate, channel, || {
        let out = ffi::out_handle(out)?;
        let channel = ffi::pin(channel)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, CmId::create(channel, &attr)?);
        Ok(())
    })
}

/// Closes an id and sets `*id` to NULL. What is under way is given up; a connection ends, a client's request that was not answered is
/// refused.
///
/// With its queue pair left, or a thread inside a call, the call succeeds and the last of them destroys the id: the connection stays
/// until the queue pair is closed. Events of it that were not read are dropped with it.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for one system call, and until a thread that is reading an event of the id has copied it.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_destroy_id(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_id_close(id: *mut *mut vbn_cm_id) -> vbn_status {
    ffi::close(Op::CmIdClose, id)
}

/// Tells what is known of an id: device, addresses, queue pair, and how much private data its messages take.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_id_query(id: *const vbn_cm_id, info: *mut vbn_cm_id_info) -> vbn_status {
    guard_on(Op::CmIdQuery, id, || ffi::output(info, &ffi::pin(id)?.info()))
}

/// Changes the number that comes back in the id's events: for ids of connection requests, which begin with 0.
///
/// - Ownership: none.
/// - Threads: MT-safe; an event that is being read may have the old number.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_id_set_user_data(id: *mut vbn_cm_id, user_data: u64) -> vbn_status {
    guard_on(Op::CmIdSetUserData, id, || {
        ffi::pin(id)?.set_user_data(user_data);
        Ok(())
    })
}

/// Gives an id its own address. Port 0 takes any free one, which vbn_cm_id_query then tells; the wildcard address ("0.0.0.0", "::") stands
/// for all devices. These ports are rdma_cm's: TCP's are apart from them.
///
/// - Ownership: reads `*addr`.
/// - Threads: MT-safe.
/// - Blocks: for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER (errno EADDRINUSE, EADDRNOTAVAIL, EACCES...), VBN_ERR_NO_MEMORY,
///   VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_NOT_FOUND (no device has the address), VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_bind_addr(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_id_bind(id: *mut vbn_cm_id, addr: *const vbn_cm_addr) -> vbn_status {
    guard_on(Op::CmIdBind, id, || ffi::pin(id)?.bind(ffi::required(addr, "addr")?))
}

/// Lets clients connect: their requests come as VBN_CM_EVENT_CONNECT_REQUEST. `backlog` is how many may wait to be read; 0: as many as the
/// system allows (the kernel's net/rdma_ucm/max_backlog). Bind first.
///
/// - Ownership: none.
/// - Threads: MT-safe.
/// - Blocks: for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_listen(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_id_listen(id: *mut vbn_cm_id, backlog: u32) -> vbn_status {
    guard_on(Op::CmIdListen, id, || ffi::pin(id)?.listen(backlog))
}

/// Begins to find device and link address for a target. VBN_CM_EVENT_ADDR_RESOLVED or _ADDR_ERROR will say how it ended, the latter with
/// status -ETIMEDOUT after `timeout_ns` (rounded up to milliseconds; negative: not for 24 days).
///
/// `source` may be NULL or empty: the system chooses.
///
/// - Ownership: reads `*source` and `*target`.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER (errno ENETUNREACH, EADDRNOTAVAIL...), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_NOT_FOUND (no device leads there), VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_resolve_addr(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_id_resolve_addr(
    id: *mut vbn_cm_id,
    source: *const vbn_cm_addr,
    target: *const vbn_cm_addr,
    timeout_ns: i64,
) -> vbn_status {
    guard_on(Op::CmIdResolveAddr, id, || {
        let source = source_of(source)?;
        ffi::pin(id)?.resolve_addr(source, ffi::required(target, "target")?, timeout_ns)
    })
}

/// Begins to find the route to the resolved address. VBN_CM_EVENT_ROUTE_RESOLVED or _ROUTE_ERROR will say how it ended.
/// `timeout_ns` as for vbn_cm_id_resolve_addr.
///
/// - Ownership: none.
/// - Threads: MT-safe.
/// - Blocks: for a few system calls; where the daemon ibacm runs librdmacm asks it first, and waits for its answer.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_FOUND (no way over that interface), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT
///   (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_resolve_route(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_id_resolve_route(id: *mut vbn_cm_id, timeout_ns: i64) -> vbn_status {
    guard_on(Op::CmIdResolveRoute, id, || ffi::pin(id)?.resolve_route(timeout_ns))
}

/// Resolves address and route, and waits until both are known: vbn_cm_id_resolve_addr, vbn_cm_id_resolve_route and the reading of their
/// events in one. The id must be the only one on its channel, since it reads the events there. After a failure close the id.
///
/// `source` may be NULL or empty: the system chooses. `timeout_ns` is for all of it; a negative one waits for ever.
///
/// - Ownership: reads `*source` and `*target`.
/// - Threads: MT-safe; no other thread may read the channel's events meanwhile.
/// - Blocks: up to `timeout_ns`. Signals don't end the wait. As for vbn_cm_id_resolve_route where ibacm runs.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TIMEOUT (no host answers there), VBN_ERR_BUSY (other ids are on the channel),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_NOT_FOUND (no device leads there),
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_resolve_addr(3), rdma_resolve_route(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_id_resolve(
    id: *mut vbn_cm_id,
    source: *const vbn_cm_addr,
    target: *const vbn_cm_addr,
    timeout_ns: i64,
) -> vbn_status {
    guard_on(Op::CmIdResolve, id, || {
        let source = source_of(source)?;
        ffi::pin(id)?.resolve(source, ffi::required(target, "target")?, timeout_ns)
    })
}

/// Makes a handle for the device of an id: make PD and completion queues on it. librdmacm opens devices itself, so what vbn_context_open
/// gives won't do for its queue pairs. One handle serves all ids on that device; the native context is one as well.
///
/// `attr` may be NULL. `*out` is NULL after a failure. librdmacm opens all RDMA devices for this.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_context_close, which leaves the native context to librdmacm.
///   It doesn't keep the id.
/// - Threads: MT-safe.
/// - Blocks: for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT (no device yet; librdmacm uses another copy of libibverbs), VBN_ERR_TOO_NEW,
///   VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_get_devices(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_id_context(
    id: *mut vbn_cm_id,
    attr: *const vbn_context_attr,
    out: *mut *mut vbn_context,
) -> vbn_status {
    guard_on(Op::CmIdContext, id, || {
        let out = ffi::out_handle(out)?;
        let id = ffi::pin(id)?;
        ffi::give(out, id.lend_context(&ffi::input(attr)?)?);
        Ok(())
    })
}

/// Makes a handle for the PD that librdmacm has for all ids on the device. `context` is what vbn_cm_id_context gave for that device. Must
/// be called before a queue pair is made on the id. Often vbn_pd_alloc serves better. `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_pd_close, which leaves the native PD to librdmacm. It keeps
///   `context` alive.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_BUSY (a queue pair was made), VBN_ERR_NO_MEMORY,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_id_pd(
    id: *mut vbn_cm_id,
    context: *mut vbn_context,
    attr: *const vbn_pd_attr,
    out: *mut *mut vbn_pd,
) -> vbn_status {
    guard_on(Op::CmIdPd, id, || {
        let out = ffi::out_handle(out)?;
        let id = ffi::pin(id)?;
        let context = ffi::pin(context)?;
        ffi::give(out, id.lend_pd(context, &ffi::input(attr)?)?);
        Ok(())
    })
}

/// Makes the id's queue pair: RC in INIT, so that receives can be posted, or UD (VBN_CM_PS_UDP) ready to send. `pd` and the completion
/// queues must be of the context that vbn_cm_id_context gives. qp_type 0: what the port space has; post_path must be 0. The rest of `attr`
/// is as for vbn_qp_create. librdmacm takes an RC one through its states as the connection comes about.
///
/// Close it with vbn_qp_close, which does what rdma_destroy_qp does. To end a connection in good order call vbn_cm_id_disconnect first.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_qp_close; NULL after a failure. It keeps `id`, `pd` and the
///   completion queues alive.
/// - Threads: MT-safe, but see vbn_cm_channel_get_event.
/// - Blocks: for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (beyond the device; references), VBN_ERR_BUSY (it has
///   one), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_create_qp(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_id_create_qp(
    id: *mut vbn_cm_id,
    pd: *mut vbn_pd,
    attr: *const vbn_qp_init_attr,
    out: *mut *mut vbn_qp,
) -> vbn_status {
    guard_on(Op::CmIdCreateQp, id, || {
        let out = ffi::out_handle(out)?;
        let id = ffi::pin(id)?;
        let pd = ffi::pin(pd)?;
        let attr = ffi::required_input(attr)?;
        if attr.send_cq.is_null() {
            return Err(Error::argument(Reason::Null("send_cq")));
        }
        let send_cq = ffi::pin(attr.send_cq)?;
        let recv_cq = ffi::pin_optional(attr.recv_cq)?.unwrap_or_else(|| send_cq.clone());
        let srq = ffi::pin_optional(attr.srq)?;
        ffi::give(out, CmId::create_qp(id, pd, send_cq, recv_cq, srq, &attr)?);
        Ok(())
    })
}

/// Asks the server for a connection. The route must be resolved, and for VBN_CM_PS_TCP the queue pair made. VBN_CM_EVENT_ESTABLISHED,
/// _REJECTED, _UNREACHABLE or _CONNECT_ERROR will say how it ended. With VBN_CM_PS_UDP the server tells its queue pair's number, and no queue
/// pair is needed for that.
///
/// How long the kernel tries isn't the caller's to say (about a minute). Give up by closing the id. `attr` may be NULL.
///
/// - Ownership: reads `*attr` and its private data.
/// - Threads: MT-safe, but see vbn_cm_channel_get_event.
/// - Blocks: for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (private_data_len; references), VBN_ERR_DRIVER (errno
///   EINVAL: not the time for it, or a depth beyond the device), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_connect(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_id_connect(id: *mut vbn_cm_id, attr: *const vbn_cm_conn_attr) -> vbn_status {
    guard_on(Op::CmIdConnect, id, || {
        let id = ffi::pin(id)?;
        let attr = ffi::input(attr)?;
        id.connect(&attr, private_data(attr.private_data, attr.private_data_len)?)
    })
}

/// Accepts the connection request that `id` came with. Make its queue pair, and post receives, before. VBN_CM_EVENT_ESTABLISHED will say
/// that the client has heard of it; with VBN_CM_PS_UDP there is no such event here. `attr` may be NULL.
///
/// - Ownership: reads `*attr` and its private data.
/// - Threads: MT-safe, but see vbn_cm_channel_get_event.
/// - Blocks: for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (private_data_len; references), VBN_ERR_DRIVER (errno
///   EINVAL: not the time for it, or a depth beyond the device), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_accept(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_id_accept(id: *mut vbn_cm_id, attr: *const vbn_cm_conn_attr) -> vbn_status {
    guard_on(Op::CmIdAccept, id, || {
        let id = ffi::pin(id)?;
        let attr = ffi::input(attr)?;
        id.accept(&attr, private_data(attr.private_data, attr.private_data_len)?)
    })
}

/// Refuses the connection request that `id` came with; close it then. `private_data`, which may be NULL, is told to the client, in 148
/// bytes at most (136 with VBN_CM_PS_UDP).
///
/// - Ownership: reads `private_data`.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (length; references), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_reject(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_id_reject(id: *mut vbn_cm_id, private_data: *const c_void, length: u64) -> vbn_status {
    guard_on(Op::CmIdReject, id, || ffi::pin(id)?.reject(self::private_data(private_data, length)?))
}

/// Ends a connection: the queue pair goes to the error state, what is posted on it is flushed, and both sides get VBN_CM_EVENT_DISCONNECTED.
/// A side that gets the event should call this too, before it closes its queue pair.
///
/// - Ownership: none.
/// - Threads: MT-safe, but see vbn_cm_channel_get_event.
/// - Blocks: for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER (errno EINVAL: not connected), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_disconnect(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_id_disconnect(id: *mut vbn_cm_id) -> vbn_status {
    guard_on(Op::CmIdDisconnect, id, || ffi::pin(id)?.disconnect())
}

/// Lends the `rdma_cm_id`. It stays this library's: don't destroy it, and don't use it after the handle is closed.
/// Works, too, when a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_id_native(id: *const vbn_cm_id, native_out: *mut *mut rdma_cm_id) -> vbn_status {
    ffi::native(Op::CmIdNative, id, native_out, CmId::native)
}

/// Gives the `rdma_cm_id` away: the handle ends, the id is the caller's to destroy, before its channel. Events of it have `known` 0.
///
/// - Ownership: `*native_out` becomes the caller's; `*id` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (its queue pair has a handle), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_id_release(id: *mut *mut vbn_cm_id, native_out: *mut *mut rdma_cm_id) -> vbn_status {
    ffi::release(Op::CmIdRelease, id, native_out, CmId::native)
}

/// Makes a handle for an `rdma_cm_id` that raw librdmacm made on the `rdma_event_channel` of `channel`. Its queue pair, if it has one, is
/// taken in by vbn_qp_adopt, with a destroy function that calls rdma_destroy_qp, and must be closed before the id. `attr` may be NULL:
/// borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's. It keeps `channel`
///   alive.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_id_adopt(
    channel: *mut vbn_cm_channel,
    native: *mut rdma_cm_id,
    attr: *const vbn_adopt_attr,
    out: *mut *mut vbn_cm_id,
) -> vbn_status {
    guard_on(Op::CmIdAdopt, channel, || {
        let out = ffi::out_handle(out)?;
        let channel = ffi::pin(channel)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, CmId::adopt(channel, native, &attr)?);
        Ok(())
    })
}

/// Makes an error of an event that tells of a failure: vbn_last_error then has the sentence, with errno and remedy. VBN_OK for any other.
///
/// - Ownership: reads `*event`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_DRIVER (errno ECONNREFUSED: the peer refused, `value` has the reason), VBN_ERR_TIMEOUT (the peer
///   did not answer), VBN_ERR_NOT_FOUND (no device leads there), VBN_ERR_DEVICE_GONE, VBN_ERR_TOO_NEW,
///   VBN_ERR_ARGUMENT, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_event_check(event: *const vbn_cm_event) -> vbn_status {
    guard(Op::CmEventCheck, || ffi::required_input(event)?.check())
}

/// Makes an address of text: "192.0.2.1", "2001:db8::1", or "fe80::1%eth0" with the interface that link-local addresses need. `port` is in
/// host order. Names are not looked up, which may take any time: call getaddrinfo(3), and copy ai_addr and ai_addrlen into the struct.
///
/// - Ownership: reads `host`; fills the caller's `*addr`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_addr_parse(host: *const c_char, port: u32, addr: *mut vbn_cm_addr) -> vbn_status {
    guard(Op::CmAddrParse, || {
        let addr = ffi::out(addr, "addr")?;
        if host.is_null() {
            return Err(Error::argument(Reason::Null("host")));
        }
        // SAFETY: the caller says that it is a C string.
        *addr = vbn_cm_addr::parse(unsafe { CStr::from_ptr(host) }.to_bytes(), port)?;
        Ok(())
    })
}

/// Writes an address as text, zero-terminated: 64 bytes of `host` are enough for any. `port`, which may be NULL, gets the port in host order
/// (0 with AF_IB). An address of length 0 gives an empty text.
///
/// - Ownership: reads `*addr`; writes `host` and `*port`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (also if `size` is too small), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cm_addr_format(
    addr: *const vbn_cm_addr,
    host: *mut c_char,
    size: usize,
    port: *mut u32,
) -> vbn_status {
    guard(Op::CmAddrFormat, || {
        let addr = ffi::required(addr, "addr")?;
        let host = ffi::array_mut(host.cast::<u8>(), size, "host")?;
        let port = ffi::optional(port, "port")?;
        let number = addr.format(host)?;
        if let Some(port) = port {
            *port = number.into();
        }
        Ok(())
    })
}
