// SPDX-License-Identifier: MIT OR Apache-2.0
//! Between the hooks and the state: who owns it, and what fork does to it.

use crate::fdtab::{self, Tag};
use crate::guard;
use crate::lock::Lock;
use crate::pump;
use crate::state::State;
use crate::sys;
use libc::{c_int, c_ulong, c_void};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

pub static STATE: Lock<Option<Box<State>>> = Lock::new(None);

/// The process that opened a device. A vfork child shares our memory and must leave it alone.
static OWNER: AtomicU32 = AtomicU32::new(0);

pub fn owner() -> u32 {
    OWNER.load(Ordering::Relaxed)
}

pub fn is_owner() -> bool {
    owner() == sys::pid()
}

pub fn open_uverbs(device: u8, flags: c_int) -> c_int {
    static FORK: Once = Once::new();
    // SAFETY: the handlers are functions of this object, which is never unloaded.
    FORK.call_once(|| unsafe {
        libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child));
    });
    if owner() == 0 {
        OWNER.store(sys::pid(), Ordering::Relaxed);
    }
    if !is_owner() {
        return sys::fail(libc::EAGAIN);
    }
    guard::install();
    let mut guard = STATE.lock();
    if guard.is_none() {
        match State::join() {
            Ok(state) => *guard = Some(Box::new(state)),
            Err(error) => {
                sys::say(format_args!("open /dev/infiniband/uverbs{device}: {error}"));
                return sys::fail(libc::EIO);
            }
        }
    }
    let Some(state) = guard.as_mut() else { return sys::fail(libc::EIO) };
    let (context, fd) = match state.open(usize::from(device), flags & libc::O_CLOEXEC != 0) {
        Ok(opened) => opened,
        Err(errno) => return sys::fail(errno),
    };
    if !fdtab::set(fd, Tag::Uverbs { device, context }) {
        state.release(context);
        sys::close(fd);
        return sys::fail(libc::EMFILE);
    }
    let waiter = state.waiter();
    drop(guard);
    pump::find_provider();
    if let Some(waiter) = waiter {
        pump::start_thread(waiter);
    }
    fd
}

pub fn ioctl(context: u16, request: c_ulong, argument: *mut c_void) -> c_int {
    guard::look_after();
    let result = match STATE.lock().as_mut() {
        Some(state) => state.ioctl(context, request, argument as u64),
        None => Err(libc::EIO),
    };
    pump::look_soon();
    result.map_or_else(sys::fail, |()| 0)
}

pub fn write(context: u16, bytes: &[u8]) -> c_int {
    let result = STATE.lock().as_mut().map_or(Err(libc::EIO), |state| state.write(context, bytes));
    result.map_or_else(sys::fail, |()| bytes.len() as c_int)
}

/// Memory of a simulated GPU, of which a region was made, is freed.
pub fn gpu_memory_freed(region: usize) {
    // A forked child has the program's memory, and no devices.
    if is_owner()
        && let Some(state) = STATE.lock().as_mut()
    {
        state.gpu_memory_freed(region);
    }
}

/// A descriptor with this tag is being closed.
pub fn release(tag: Tag) -> c_int {
    if let Some(state) = STATE.lock().as_mut() {
        match tag {
            Tag::Uverbs { context, .. } => state.release(context),
            Tag::Channel { channel } => state.release_channel(channel),
            Tag::None | Tag::Internal | Tag::Dead { .. } => {}
        }
    }
    0
}

/// `new` is a copy of a descriptor with this tag.
pub fn share(tag: Tag, new: c_int) -> c_int {
    if !fdtab::set(new, tag) {
        sys::close(new);
        return sys::fail(libc::EMFILE);
    }
    if let Some(state) = STATE.lock().as_mut() {
        match tag {
            Tag::Uverbs { context, .. } => state.share(context),
            Tag::Channel { channel } => state.share_channel(channel),
            Tag::None | Tag::Internal | Tag::Dead { .. } => {}
        }
    }
    new
}

/// A descriptor without a tag that behaves like one of softnic's memfds. It came by exec, by a socket, or by a system call that was not
/// seen; one of this process's own contexts is what it is, one of another process's is dead here.
pub fn recognise(fd: c_int) -> Tag {
    const NAME: &[u8] = b"/memfd:softnic-uverbs-";
    let mut room = [0u8; 64];
    let errno = sys::errno();
    let digits = sys::link_of(fd, &mut room)
        .and_then(|n| room.get(..n))
        .and_then(|link| link.strip_prefix(NAME))
        .and_then(|rest| std::str::from_utf8(rest.split(|byte| !byte.is_ascii_digit()).next()?).ok());
    sys::set_errno(errno);
    let Some(device) = digits.and_then(|digits| digits.parse().ok()) else { return Tag::None };
    let own = if is_owner() { STATE.lock().as_ref().and_then(|state| state.by_inode(sys::inode(fd))) } else { None };
    match own {
        Some(context) => {
            let tag = Tag::Uverbs { device, context };
            share(tag, fd);
            tag
        }
        None => {
            let tag = Tag::Dead { device };
            fdtab::set(fd, tag);
            tag
        }
    }
}

pub fn at_exit() {
    at_end(State::leave);
}

/// At `_exit`, which may be called from a signal handler, in the midst of anything: what allocates or frees could hang there. Peers notice
/// by themselves that the process has gone.
pub fn at_quick_exit() {
    at_end(State::write_counters);
}

/// Not for any price: a thread may have died with the lock.
fn at_end(last: fn(&mut State)) {
    if !is_owner() {
        return;
    }
    for _ in 0..50 {
        if let Some(mut guard) = STATE.try_lock() {
            if let Some(state) = guard.as_mut() {
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| last(state)));
            }
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

pub fn before_exec() {
    if let Some(state) = STATE.lock().as_mut() {
        state.count(true);
        if let Some(fabric) = &mut state.world.fabric {
            fabric.before_exec();
        }
    }
}

pub fn after_failed_exec() {
    if let Some(fabric) = STATE.lock().as_mut().and_then(|state| state.world.fabric.as_mut()) {
        fabric.after_failed_exec();
    }
}

unsafe extern "C" fn before_fork() {
    STATE.acquire();
}

unsafe extern "C" fn after_fork() {
    STATE.release();
}

/// The child has the parent's descriptors but none of its devices: they answer EIO, and closing them touches nothing. It may open anew.
unsafe extern "C" fn in_child() {
    OWNER.store(sys::pid(), Ordering::Relaxed);
    guard::in_child();
    pump::in_child();
    STATE.release_in_child();
    let mut guard = STATE.lock();
    if let Some(mut state) = guard.take() {
        if let Some(fabric) = &mut state.world.fabric {
            fabric.disown_in_child();
        }
        // Its mappings are not here any more, so it must not be dropped.
        std::mem::forget(state);
    }
    for (fd, tag) in fdtab::tagged(0, c_int::MAX) {
        match tag {
            Tag::Uverbs { device, .. } => {
                fdtab::set(fd, Tag::Dead { device });
            }
            Tag::Internal => {
                fdtab::set(fd, Tag::None);
                sys::close(fd);
            }
            Tag::Channel { .. } | Tag::None => {
                fdtab::set(fd, Tag::None);
            }
            Tag::Dead { .. } => {}
        }
    }
}
