// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_channel_*`.

use super::ffi::{self, guard_on};
use crate::core::adopt::vbn_adopt_attr;
use crate::core::channel::{Channel, vbn_channel_attr, vbn_channel_info, vbn_cq_event};
use crate::core::handle::{vbn_channel, vbn_context};
use crate::core::op::Op;
use crate::core::slab::Slot;
use crate::core::status::vbn_status;
use crate::sys::ibv::ibv_comp_channel;
use crate::sys::os;

/// Creates a completion channel: completion queues made with it announce completions on its file descriptor.
///
/// The descriptor is non-blocking from the start. `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_channel_close. It keeps `context` alive.
/// - Threads: MT-safe.
/// - Blocks: for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_create_comp_channel(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_channel_create(
    context: *mut vbn_context,
    attr: *const vbn_channel_attr,
    out: *mut *mut vbn_channel,
) -> vbn_status {
    guard_on(Op::ChannelCreate, context, || {
        let out = ffi::out_handle(out)?;
        let context = ffi::pin(context)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Channel::create(context, &attr)?);
        Ok(())
    })
}

/// Closes a completion channel and sets `*channel` to NULL.
///
/// With completion queues of this library left on it, or a thread waiting, the call succeeds and the last of them
/// destroys the channel. It does not wake the waiting thread, so threads that wait on a channel that may be closed
/// should do so with a time-out. When the driver refuses (completion queues made by raw verbs are left), the error is
/// returned and the handle stays valid.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (completion queues made by raw verbs use it), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_destroy_comp_channel(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_channel_close(channel: *mut *mut vbn_channel) -> vbn_status {
    ffi::close(Op::ChannelClose, channel)
}

/// Tells what is known of a completion channel.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set. The descriptor in it stays the channel's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_channel_query(channel: *const vbn_channel, info: *mut vbn_channel_info) -> vbn_status {
    guard_on(Op::ChannelQuery, channel, || ffi::output(info, &ffi::pin(channel)?.info()))
}

/// The file descriptor, readable when there is an event; -1 for NULL or a handle that can't be used.
///
/// For poll, epoll and the like. When it is readable, vbn_channel_get_event takes the event.
///
/// - Ownership: borrowed; don't read from it and don't close it.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_channel_fd(channel: *const vbn_channel) -> i32 {
    ffi::slot(channel).ok().and_then(Slot::live).map_or(-1, Channel::fd)
}

/// Waits for an event of one of the channel's completion queues, takes it and acknowledges it.
///
/// `timeout_ns`: 0 doesn't wait, a negative one waits for ever. The event says which queue has something; that queue
/// is no longer armed. Arm it again and poll it once more before the next wait, or use vbn_cq_wait, which does. An
/// event of a queue that raw verbs made on the lent channel has `known` 0. On an adopted channel whose descriptor
/// blocks, two threads that wait at the same time can overrun the time-out: make it non-blocking first.
///
/// - Ownership: fills the caller's `*event`, whose struct_size must be set; a copy, nothing to acknowledge or free.
/// - Threads: MT-safe; each event goes to one thread. Closing the channel doesn't wake the waiters.
/// - Blocks: up to `timeout_ns`. Signals don't end the wait.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TIMEOUT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_get_cq_event(3), ibv_ack_cq_events(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_channel_get_event(
    channel: *mut vbn_channel,
    timeout_ns: i64,
    event: *mut vbn_cq_event,
) -> vbn_status {
    guard_on(Op::ChannelGetEvent, channel, || {
        // A wrong struct must not cost an event.
        ffi::check_output(event)?;
        let channel = ffi::pin(channel)?;
        ffi::output(event, &channel.next_event(os::deadline(timeout_ns))?.to_abi())
    })
}

/// Lends the `ibv_comp_channel`. It stays this library's: don't destroy it, and don't use it after the handle is
/// closed.
///
/// Completion queues made on it by raw verbs must be destroyed before the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_channel_native(
    channel: *const vbn_channel,
    native_out: *mut *mut ibv_comp_channel,
) -> vbn_status {
    ffi::native(Op::ChannelNative, channel, native_out, Channel::native)
}

/// Gives the `ibv_comp_channel` away: the handle ends, the channel lives on and is the caller's to destroy.
///
/// Its descriptor stays non-blocking.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*channel` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (completion queues or calls use it), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_channel_release(
    channel: *mut *mut vbn_channel,
    native_out: *mut *mut ibv_comp_channel,
) -> vbn_status {
    ffi::release(Op::ChannelRelease, channel, native_out, Channel::native)
}

/// Makes a handle for an `ibv_comp_channel` that raw verbs made on the `ibv_context` of `context`.
///
/// `native` must be a live ibv_comp_channel. Its descriptor is left as it is, blocking or not. `attr` may be NULL:
/// borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_channel_adopt(
    context: *mut vbn_context,
    native: *mut ibv_comp_channel,
    attr: *const vbn_adopt_attr,
    out: *mut *mut vbn_channel,
) -> vbn_status {
    guard_on(Op::ChannelAdopt, context, || {
        let out = ffi::out_handle(out)?;
        let context = ffi::pin(context)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Channel::adopt(context, native, &attr)?);
        Ok(())
    })
}
