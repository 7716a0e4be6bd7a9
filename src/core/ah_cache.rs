// SPDX-License-Identifier: MIT OR Apache-2.0
//! EFA's address handles are shared: the device knows one per protection domain and GID, and destroying an `ibv_ah` takes
//! it away from every other one of the same PD and GID: requests in flight are flushed, and the peer's one-sided access
//! to this side ends. So there is one `ibv_ah` for each (context, PD of the kernel, GID), counted; the last close leaves
//! it idle. Idle ones go, oldest first, when the device has no room for a new one, on `vbn_pd_trim_ahs`, and with the PD.

use std::ptr::{self, NonNull};

use super::alloc;
use super::context::Context;
use super::error::{Error, Result};
use super::lock::Lock;
use super::pd::Pd;
use crate::sys::ibv::{ibv_ah, ibv_ah_attr, ibv_context};

/// What a handle is found by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key {
    context: *mut ibv_context,
    /// The kernel's number of the PD: several `ibv_pd` may be one.
    pd: u32,
    gid: [u8; 16],
}

struct Entry {
    key: Key,
    native: NonNull<ibv_ah>,
    users: u32,
    /// When it became idle, counted in closes.
    idle_since: u64,
}

struct Cache {
    entries: Vec<Entry>,
    clock: u64,
}

// SAFETY: the pointers are used under the lock, and libibverbs' control calls are thread-safe.
unsafe impl Send for Cache {}

static CACHE: Lock<Cache> = Lock::new(Cache { entries: Vec::new(), clock: 0 });

impl Key {
    pub fn new(pd: &Pd, gid: [u8; 16]) -> Self {
        Self { context: pd.context().native(), pd: pd.kernel_handle(), gid }
    }

    fn is_in(&self, context: *mut ibv_context, pd: Option<u32>) -> bool {
        ptr::eq(self.context, context) && pd.is_none_or(|pd| pd == self.pd)
    }
}

/// The handle for `key`: the one that is there, or a new one. It has one more user afterwards.
pub fn get(pd: &Pd, key: Key, attr: &mut ibv_ah_attr) -> Result<NonNull<ibv_ah>> {
    let mut cache = CACHE.lock();
    if let Some(entry) = cache.entries.iter_mut().find(|entry| entry.key == key) {
        entry.users = entry.users.checked_add(1).ok_or(Error::no_memory())?;
        return Ok(entry.native);
    }
    cache.entries.try_reserve(1).map_err(|_| Error::no_memory())?;
    let context = pd.context();
    let native = loop {
        let made = create(pd, attr);
        let full = made.as_ref().is_err_and(|error| error.errno == libc::ENOMEM);
        if !full || !cache.evict_oldest(context) {
            break made?;
        }
    };
    alloc::push(&mut cache.entries, Entry { key, native, users: 1, idle_since: 0 })?;
    Ok(native)
}

/// One more user of a handle that has users.
pub fn share(key: Key) {
    if let Some(entry) = CACHE.lock().entries.iter_mut().find(|entry| entry.key == key) {
        entry.users = entry.users.saturating_add(1);
    }
}

/// One user less. The last one leaves the handle idle.
pub fn put(key: Key) {
    let mut cache = CACHE.lock();
    cache.clock += 1;
    let now = cache.clock;
    if let Some(entry) = cache.entries.iter_mut().find(|entry| entry.key == key) {
        entry.users = entry.users.saturating_sub(1);
        entry.idle_since = now;
    }
}

/// Destroys the idle handles of a PD, but for the `keep` youngest; returns how many.
pub fn trim(pd: &Pd, keep: u32) -> Result<u32> {
    let mut cache = CACHE.lock();
    let (context, handle) = (pd.context(), pd.kernel_handle());
    let idle = cache.idle(context.native(), Some(handle)).count();
    let mut gone = 0;
    while idle.saturating_sub(gone) > keep as usize {
        let Some(at) = cache.oldest(context.native(), Some(handle)) else { break };
        cache.destroy(context, at)?;
        gone += 1;
    }
    Ok(gone as u32)
}

/// (in use, idle) handles of a context.
pub fn count(context: &Context) -> (u32, u32) {
    let cache = CACHE.lock();
    let all = cache.entries.iter().filter(|entry| entry.key.is_in(context.native(), None)).count();
    let idle = cache.idle(context.native(), None).count();
    ((all - idle) as u32, idle as u32)
}

/// Forgets what belonged to a context that is closed.
pub fn forget(context: *mut ibv_context) {
    CACHE.lock().entries.retain(|entry| !ptr::eq(entry.key.context, context));
}

fn create(pd: &Pd, attr: &mut ibv_ah_attr) -> Result<NonNull<ibv_ah>> {
    let context = pd.context();
    // Not in a parent domain, which may end before the handle does.
    // SAFETY: the PD is live and the attributes are ours.
    context.made("ibv_create_ah", || unsafe { (context.verbs().create_ah)(pd.root(), attr) })
}

impl Cache {
    fn idle(&self, context: *mut ibv_context, pd: Option<u32>) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries.iter().enumerate().filter(move |(_, entry)| entry.users == 0 && entry.key.is_in(context, pd))
    }

    fn oldest(&self, context: *mut ibv_context, pd: Option<u32>) -> Option<usize> {
        self.idle(context, pd).min_by_key(|(_, entry)| entry.idle_since).map(|(at, _)| at)
    }

    /// Makes room on a device that is full; `false` if nothing is idle, or the device keeps what is.
    fn evict_oldest(&mut self, context: &Context) -> bool {
        self.oldest(context.native(), None).is_some_and(|at| self.destroy(context, at).is_ok())
    }

    fn destroy(&mut self, context: &Context, at: usize) -> Result<()> {
        let Some(entry) = self.entries.get(at) else { return Ok(()) };
        let native = entry.native.as_ptr();
        // SAFETY: nobody uses the handle, and the lock keeps new users away.
        let done = context.ret("ibv_destroy_ah", || unsafe { (context.verbs().destroy_ah)(native) });
        match done {
            // The device is gone, and the handle with it.
            Err(error) if !matches!(error.errno, libc::EIO | libc::ENODEV) => Err(error),
            _ => {
                self.entries.swap_remove(at);
                Ok(())
            }
        }
    }
}

/// Before fork(): nobody shall be in the middle of a change.
pub fn before_fork() {
    CACHE.hold_for_fork();
}

/// After fork(), in both processes. What the child inherited is the parent's.
pub fn after_fork(child: bool) {
    CACHE.release_after_fork();
    if child {
        // The memory stays: freeing it is no business of the handlers'.
        std::mem::take(&mut CACHE.lock().entries).leak();
    }
}
