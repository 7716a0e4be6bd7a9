// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_context_*` and `vbn_gid_select`.

use std::ffi::{CStr, c_char};

use super::ffi::{self, guard, guard_on};
use crate::core::adopt::vbn_adopt_attr;
use crate::core::clock::vbn_rt_values;
use crate::core::context::{
    Context, vbn_context_attr, vbn_context_info, vbn_device_attr, vbn_live_info, vbn_port_attr,
};
use crate::core::event::vbn_async_event;
use crate::core::gid::{self, vbn_gid_choice, vbn_gid_entry, vbn_gid_select_attr, vbn_gid_verdict};
use crate::core::handle::vbn_context;
use crate::core::op::Op;
use crate::core::status::vbn_status;
use crate::sys::ibv::ibv_context;

/// Opens a device.
///
/// `name` is one that vbn_device_list tells; NULL or "" opens the first device that can be opened. `attr` may be NULL.
/// `*out` is NULL after a failure. The fd of its asynchronous events is non-blocking.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_context_close.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded, and for some system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_FOUND (`object` is the name, `limit` how many devices
///   there are), VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_open_device(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_context_open(
    name: *const c_char,
    attr: *const vbn_context_attr,
    out: *mut *mut vbn_context,
) -> vbn_status {
    guard(Op::ContextOpen, || {
        let out = ffi::out_handle(out)?;
        let attr = ffi::input(attr)?;
        // SAFETY: the caller says that it is a C string, or NULL.
        let name = if name.is_null() { &[][..] } else { unsafe { CStr::from_ptr(name) }.to_bytes() };
        ffi::give(out, Context::open(name, &attr)?);
        Ok(())
    })
}

/// Closes a device and sets `*context` to NULL.
///
/// With objects of this library left on it, or a thread inside a call on it, the call succeeds and the last of them
/// closes the device.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (the driver refuses), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_close_device(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_context_close(context: *mut *mut vbn_context) -> vbn_status {
    ffi::close(Op::ContextClose, context)
}

/// Tells what is known of an open device: names, types, event fd, ownership.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set. The fd in it stays the context's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_context_query(context: *const vbn_context, info: *mut vbn_context_info) -> vbn_status {
    guard_on(Op::ContextQuery, context, || {
        ffi::check_output(info)?;
        ffi::output(info, &ffi::pin(context)?.info())
    })
}

/// Asks what the device can do.
///
/// - Ownership: fills the caller's `*attr`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_query_device(3), ibv_query_device_ex(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_context_query_device(
    context: *const vbn_context,
    attr: *mut vbn_device_attr,
) -> vbn_status {
    guard_on(Op::ContextQueryDevice, context, || {
        ffi::check_output(attr)?;
        ffi::output(attr, &ffi::pin(context)?.query_device()?)
    })
}

/// Gives a file descriptor with which another process, that it is sent to (SCM_RIGHTS), can import this context.
///
/// - Ownership: `*fd_out` is the caller's to close; -1 after a failure. It doesn't keep the handle alive, but the kernel's side of it.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER (sys_errno EMFILE: no descriptor is free), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_import_device(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_context_export(context: *const vbn_context, fd_out: *mut i32) -> vbn_status {
    guard_on(Op::ContextExport, context, || {
        let fd_out = ffi::out(fd_out, "fd_out")?;
        *fd_out = -1;
        *fd_out = ffi::pin(context)?.export()?;
        Ok(())
    })
}

/// Opens a context that another process has opened already, by the descriptor of vbn_context_export. Objects that were made in it
/// can be imported then: vbn_pd_import, vbn_mr_import.
///
/// `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_context_close. `fd` stays the caller's, and may be closed at once. What
///   is made in the context ends with the last process that has it open.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the driver can't), VBN_ERR_LIBRARY_MISSING,
///   VBN_ERR_SYMBOL_MISSING (rdma-core before 31), VBN_ERR_DRIVER (sys_errno EINVAL: no descriptor of a device),
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_import_device(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_context_import(
    fd: i32,
    attr: *const vbn_context_attr,
    out: *mut *mut vbn_context,
) -> vbn_status {
    guard(Op::ContextImport, || {
        let out = ffi::out_handle(out)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Context::import(fd, &attr)?);
        Ok(())
    })
}

/// Reads the device's clock, of which the timestamps of completions are (VBN_WC_EX_TIMESTAMP).
///
/// - Ownership: fills the caller's `*values`, whose struct_size must be set; `valid` says what is known.
/// - Threads: MT-safe.
/// - Blocks: no, or for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (the device has no clock to be read), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_query_rt_values_ex(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_context_query_rt_values(
    context: *const vbn_context,
    values: *mut vbn_rt_values,
) -> vbn_status {
    guard_on(Op::ContextQueryRtValues, context, || {
        let context = ffi::pin(context)?;
        ffi::check_output(values)?;
        ffi::output(values, &context.query_rt_values()?)
    })
}

/// Asks for the state of a port, as it is now. Ports are counted from 1.
///
/// - Ownership: fills the caller's `*attr`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for some system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (no such port; references), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_query_port(3), ibv_query_port_speed(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_context_query_port(
    context: *const vbn_context,
    port_num: u32,
    attr: *mut vbn_port_attr,
) -> vbn_status {
    guard_on(Op::ContextQueryPort, context, || {
        ffi::check_output(attr)?;
        ffi::output(attr, &ffi::pin(context)?.query_port(port_num)?)
    })
}

/// Asks for one GID of a port, 16 bytes as they go over the wire. An empty place of the table gives zeros.
///
/// - Ownership: fills the caller's 16 bytes.
/// - Threads: MT-safe.
/// - Blocks: for some system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (no such port or index; references), VBN_ERR_NOT_SUPPORTED (the port has
///   no GID table), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_query_gid(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_context_query_gid(
    context: *const vbn_context,
    port_num: u32,
    index: u32,
    gid_out: *mut u8,
) -> vbn_status {
    guard_on(Op::ContextQueryGid, context, || {
        let gid_out = ffi::array_mut(gid_out, 16, "gid_out")?;
        gid_out.copy_from_slice(&ffi::pin(context)?.query_gid(port_num, index)?);
        Ok(())
    })
}

/// Lists the GIDs of all ports with type and net device. Empty places are left out.
///
/// Fills as many elements of `entries` as there are GIDs and room, each `entry_size` bytes apart, and says in
/// `*count_out` how many GIDs there are. With `capacity` 0, `entries` may be NULL.
///
/// - Ownership: fills the caller's array. `entry_size` is sizeof(vbn_gid_entry).
/// - Threads: MT-safe.
/// - Blocks: for some system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_query_gid_table(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_context_gid_table(
    context: *const vbn_context,
    entries: *mut vbn_gid_entry,
    entry_size: usize,
    capacity: u32,
    count_out: *mut u32,
) -> vbn_status {
    guard_on(Op::ContextGidTable, context, || {
        let count_out = ffi::out(count_out, "count_out")?;
        ffi::check_entries(entries, entry_size, capacity as usize, "entries")?;
        let table = gid::table(&*ffi::pin(context)?, None)?;
        *count_out = fill(entries, entry_size, capacity, &table);
        Ok(())
    })
}

/// Writes as many elements as there is room for, and says how many there are. The array has been checked.
fn fill<T: Copy>(array: *mut T, entry_size: usize, capacity: u32, values: &[T]) -> u32 {
    for (index, value) in values.iter().enumerate().take(capacity as usize) {
        // SAFETY: the caller says that there is room for `capacity` elements.
        unsafe { ffi::write_entry(array, entry_size, index, value) };
    }
    values.len() as u32
}

/// Asks for one partition key of a port, in host byte order.
///
/// - Ownership: fills the caller's variable.
/// - Threads: MT-safe.
/// - Blocks: for some system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (no such port or index; references), VBN_ERR_NOT_SUPPORTED (the port has
///   no partition keys), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_query_pkey(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_context_query_pkey(
    context: *const vbn_context,
    port_num: u32,
    index: u32,
    pkey_out: *mut u16,
) -> vbn_status {
    guard_on(Op::ContextQueryPkey, context, || {
        let pkey_out = ffi::out(pkey_out, "pkey_out")?;
        *pkey_out = ffi::pin(context)?.query_pkey(port_num, index)?;
        Ok(())
    })
}

/// Takes the next asynchronous event of the device. It is a copy and has been acknowledged.
///
/// `timeout_ns`: negative waits for ever, 0 not at all. After VBN_EVENT_DEVICE_FATAL every handle on the device answers
/// VBN_ERR_DEVICE_GONE, and can only be closed. The fd of an adopted context is never changed: if it is blocking and
/// another thread takes the event first, the call may wait longer than it was told to.
///
/// - Ownership: fills the caller's `*event`, whose struct_size must be set.
/// - Threads: MT-safe; every event goes to one caller.
/// - Blocks: until an event comes or the time is over. A close of the context meanwhile takes effect after that.
/// - Errors: VBN_ERR_TIMEOUT, VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (the device has no such events),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_get_async_event(3), ibv_ack_async_event(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_context_get_async_event(
    context: *mut vbn_context,
    timeout_ns: i64,
    event: *mut vbn_async_event,
) -> vbn_status {
    guard_on(Op::ContextGetAsyncEvent, context, || {
        ffi::check_output(event)?;
        ffi::output(event, &ffi::pin(context)?.get_async_event(timeout_ns)?)
    })
}

/// Counts the objects on a context: open handles, closed ones that others still use, and refused destroys.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe. The numbers are those of no single moment while other threads open and close.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_context_live(context: *const vbn_context, info: *mut vbn_live_info) -> vbn_status {
    guard_on(Op::ContextLive, context, || {
        ffi::check_output(info)?;
        ffi::output(info, &ffi::slot(context)?.pin_any()?.live())
    })
}

/// Lends the `ibv_context`. It stays this library's: don't close it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_context_native(
    context: *const vbn_context,
    native_out: *mut *mut ibv_context,
) -> vbn_status {
    ffi::native(Op::ContextNative, context, native_out, Context::native)
}

/// Gives the `ibv_context` away: the handle ends, the device stays open and is the caller's to close. The fd of its
/// asynchronous events stays non-blocking.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*context` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (handles of this library use it), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_context_release(
    context: *mut *mut vbn_context,
    native_out: *mut *mut ibv_context,
) -> vbn_status {
    ffi::release(Op::ContextRelease, context, native_out, Context::native)
}

/// Makes a handle for an `ibv_context` that raw verbs opened.
///
/// `native` must be open and come from the very libibverbs that this library uses; one of another copy in the process
/// is refused, with the other file's path in the error's `object`. `attr` may be NULL: borrowed. `*out` is NULL after a
/// failure. The fd of its asynchronous events is left as it is. An event goes to whoever reads first, raw verbs or this
/// library; only this library's objects are known to it by their user_data.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded, and for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_context_adopt(
    native: *mut ibv_context,
    attr: *const vbn_adopt_attr,
    out: *mut *mut vbn_context,
) -> vbn_status {
    guard(Op::ContextAdopt, || {
        let out = ffi::out_handle(out)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Context::adopt(native, &attr)?);
        Ok(())
    })
}

/// Chooses the GID of a port to connect with, and says of each entry why, or why not.
///
/// RoCE: version 2 only, unless version 1 is asked for; routable IPv4 first, then routable IPv6, then loopback, then
/// link-local addresses, which are a last resort. InfiniBand, and devices with an address of their own (EFA): entry 0.
/// `attr` may be NULL. `choice` may be NULL when only the verdicts are wanted.
///
/// Fills as many elements of `verdicts` as the port has GIDs and there is room, each `entry_size` bytes apart, and says
/// in `*count_out` how many GIDs the port has, also when none of them will do. With `capacity` 0, `verdicts` may be NULL;
/// `count_out` may be NULL.
///
/// - Ownership: fills the caller's structs; the struct_size of `*choice` must be set. `entry_size` is
///   sizeof(vbn_gid_verdict).
/// - Threads: MT-safe.
/// - Blocks: for some system calls.
/// - Errors: VBN_ERR_NOT_FOUND (none will do), VBN_ERR_NOT_SUPPORTED (iWARP), VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (no
///   such port; references), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_gid_select(
    context: *const vbn_context,
    port_num: u32,
    attr: *const vbn_gid_select_attr,
    choice: *mut vbn_gid_choice,
    verdicts: *mut vbn_gid_verdict,
    entry_size: usize,
    capacity: u32,
    count_out: *mut u32,
) -> vbn_status {
    guard_on(Op::GidSelect, context, || {
        let attr = ffi::input(attr)?;
        let count_out = ffi::optional(count_out, "count_out")?;
        ffi::check_entries(verdicts, entry_size, capacity as usize, "verdicts")?;
        if !choice.is_null() {
            ffi::check_output(choice)?;
        }
        let context = ffi::pin(context)?;
        let selection = gid::select(&context, port_num, &attr)?;
        let count = fill(verdicts, entry_size, capacity, &selection.verdicts);
        if let Some(count_out) = count_out {
            *count_out = count;
        }
        let chosen = selection.choice().map_err(|error| error.on(context.name()))?;
        if choice.is_null() { Ok(()) } else { ffi::output(choice, &chosen) }
    })
}
