// SPDX-License-Identifier: MIT OR Apache-2.0
//! A mutex that a fork handler can hold across the fork: std's can't be released without its guard, and poisons.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

const FREE: u32 = 0;
const HELD: u32 = 1;
/// A release looks for waiters without a barrier, which would take longer than all else that it does, so it may miss one that comes
/// in this very moment. That one looks again by itself.
static LOOK_AGAIN: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };

pub struct Lock<T> {
    word: AtomicU32,
    waiters: AtomicU32,
    /// The thread that holds it, by something of its own; 0: none, or not noted yet.
    holder: AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: `word` lets one thread at a time at `value`.
unsafe impl<T: Send> Sync for Lock<T> {}

pub struct Guard<'a, T> {
    lock: &'a Lock<T>,
}

impl<T> Lock<T> {
    pub const fn new(value: T) -> Self {
        Lock {
            word: AtomicU32::new(FREE),
            waiters: AtomicU32::new(0),
            holder: AtomicUsize::new(0),
            value: UnsafeCell::new(value),
        }
    }

    pub fn lock(&self) -> Guard<'_, T> {
        self.acquire();
        Guard { lock: self }
    }

    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        if !self.take() {
            return None;
        }
        self.holder.store(this_thread(), Ordering::Relaxed);
        Some(Guard { lock: self })
    }

    /// Whether this thread holds it.
    pub fn is_mine(&self) -> bool {
        self.holder.load(Ordering::Relaxed) == this_thread()
    }

    #[inline(always)]
    fn take(&self) -> bool {
        self.word.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    pub fn acquire(&self) {
        if !self.take() {
            self.wait();
        }
        self.holder.store(this_thread(), Ordering::Relaxed);
    }

    /// Until it is taken.
    #[cold]
    fn wait(&self) {
        for _ in 0..100 {
            if self.take() {
                return;
            }
            std::hint::spin_loop();
        }
        self.waiters.fetch_add(1, Ordering::SeqCst);
        while !self.take() {
            futex(&self.word, libc::FUTEX_WAIT, HELD);
        }
        self.waiters.fetch_sub(1, Ordering::Relaxed);
    }

    /// Only for the thread that holds the lock.
    #[inline(always)]
    pub fn release(&self) {
        self.holder.store(0, Ordering::Relaxed);
        self.word.store(FREE, Ordering::Release);
        if self.waiters.load(Ordering::Relaxed) != 0 {
            futex(&self.word, libc::FUTEX_WAKE, 1);
        }
    }

    /// In a forked child, whose only thread this is: whoever held it or waited is not here.
    pub fn release_in_child(&self) {
        self.waiters.store(0, Ordering::Relaxed);
        self.release();
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the guard exists only while this thread holds the lock.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`, and `&mut self` makes it the only reference.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.lock.release();
    }
}

/// A number that no other thread has, and that takes no call of the loader as a thread's own variable does in a shared object.
fn this_thread() -> usize {
    // SAFETY: takes nothing and can't fail.
    unsafe { libc::pthread_self() as usize }
}

#[cold]
fn futex(word: &AtomicU32, operation: libc::c_int, value: u32) {
    let errno = crate::sys::errno();
    // SAFETY: the futex word outlives the call, and so does the time-out, which waking passes over.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            operation | libc::FUTEX_PRIVATE_FLAG,
            value,
            &raw const LOOK_AGAIN,
        )
    };
    crate::sys::set_errno(errno);
}
