// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sleeping until a packet comes, without a lost wake-up and without the lock that guards the [`Fabric`].
//!
//! [`Fabric`]: super::Fabric

use super::owner::Owner;
use super::registry::{Process, Registry};
use super::sys;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst, fence};
use std::time::Duration;

/// What the threads of a process share of its place in the fabric.
pub struct Shared {
    pub registry: Arc<Registry>,
    pub index: usize,
    pub me: Owner,
    /// The place is not this process's any more: it left, or this is a forked child, without the mapping.
    pub closed: AtomicBool,
}

impl Shared {
    /// This process's entry, while it is that.
    pub fn entry(&self) -> Option<&Process> {
        if self.closed.load(SeqCst) { None } else { self.registry.process(self.index) }
    }
}

/// Puts threads to sleep and wakes them; usable from any thread.
#[derive(Clone)]
pub struct Waiter(pub(super) Arc<Shared>);

/// Why a sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Somebody called: look for work.
    Called,
    TimedOut,
    /// The process has left the fabric: there will never be work.
    Closed,
}

impl Waiter {
    /// First half of going to sleep: from here on senders call. Then look for work once more
    /// ([`has_work`](super::Fabric::has_work)) and only if there is none, [`Sleep::wait`].
    pub fn announce(&self) -> Sleep<'_> {
        let entry = self.0.entry();
        let ticket = entry.map_or(0, |entry| {
            entry.sleeping.fetch_add(1, SeqCst);
            entry.wake.load(SeqCst)
        });
        fence(SeqCst);
        Sleep { shared: &self.0, announced: entry.is_some(), ticket }
    }

    /// Shows peers that this process lives, while what it does keeps it from looking for packets.
    pub fn beat(&self) {
        if let Some(entry) = self.0.entry() {
            entry.beat();
        }
    }

    /// A sleep that packets don't end, only `rouse`; none at all if `off` says so, which is asked when a call of `rouse` counts already.
    pub fn nap(&self, time: Duration, off: impl FnOnce() -> bool) {
        match self.0.entry() {
            Some(entry) => {
                let ticket = entry.wake.load(SeqCst);
                if !off() {
                    sys::futex_wait(&entry.wake, ticket, Some(time));
                }
            }
            None => std::thread::sleep(time),
        }
    }

    /// Ends naps and sleeps of this process.
    pub fn rouse(&self) {
        if let Some(entry) = self.0.entry() {
            sys::futex_wake(&entry.wake);
        }
    }

    /// Wakes this process's own sleepers.
    pub fn wake(&self) {
        if let Some(entry) = self.0.entry() {
            entry.wake_if_asleep();
        }
    }
}

/// A sleep that is announced; dropped, it is called off.
pub struct Sleep<'a> {
    shared: &'a Shared,
    announced: bool,
    ticket: u32,
}

impl Sleep<'_> {
    /// Sleeps until somebody calls, or `timeout` has passed (`None`: without limit).
    pub fn wait(self, timeout: Option<Duration>) -> Woken {
        let Some(entry) = self.shared.entry().filter(|_| self.announced) else { return Woken::Closed };
        let called = sys::futex_wait(&entry.wake, self.ticket, timeout);
        match (self.shared.closed.load(SeqCst), called) {
            (true, _) => Woken::Closed,
            (false, true) => Woken::Called,
            (false, false) => Woken::TimedOut,
        }
    }
}

impl Drop for Sleep<'_> {
    fn drop(&mut self) {
        // Also after `leave`, which waits for this. A forked child has no sleepers, nor the memory.
        if self.announced
            && sys::process_id() == self.shared.me.pid()
            && let Some(process) = self.shared.registry.process(self.shared.index)
        {
            process.sleeping.fetch_sub(1, SeqCst);
        }
    }
}
