// SPDX-License-Identifier: MIT OR Apache-2.0
//! A mutex that a fork handler can hold across the fork: std's can't be released without its guard, and poisons.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

const FREE: u32 = 0;
const HELD: u32 = 1;
const AWAITED: u32 = 2;

pub struct Lock<T> {
    word: AtomicU32,
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
        Lock { word: AtomicU32::new(FREE), holder: AtomicUsize::new(0), value: UnsafeCell::new(value) }
    }

    pub fn lock(&self) -> Guard<'_, T> {
        self.acquire();
        Guard { lock: self }
    }

    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        self.word.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).ok()?;
        self.holder.store(this_thread(), Ordering::Relaxed);
        Some(Guard { lock: self })
    }

    /// Whether this thread holds it.
    pub fn is_mine(&self) -> bool {
        self.holder.load(Ordering::Relaxed) == this_thread()
    }

    pub fn acquire(&self) {
        self.wait();
        self.holder.store(this_thread(), Ordering::Relaxed);
    }

    fn wait(&self) {
        for _ in 0..100 {
            if self.word.compare_exchange_weak(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return;
            }
            std::hint::spin_loop();
        }
        while self.word.swap(AWAITED, Ordering::Acquire) != FREE {
            futex(&self.word, libc::FUTEX_WAIT, AWAITED);
        }
    }

    /// Only for the thread that holds the lock, or the only thread of a forked child.
    pub fn release(&self) {
        self.holder.store(0, Ordering::Relaxed);
        if self.word.swap(FREE, Ordering::Release) == AWAITED {
            futex(&self.word, libc::FUTEX_WAKE, 1);
        }
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

fn futex(word: &AtomicU32, operation: libc::c_int, value: u32) {
    let errno = crate::sys::errno();
    // SAFETY: the futex word outlives the call, and no time-out is passed.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            operation | libc::FUTEX_PRIVATE_FLAG,
            value,
            std::ptr::null::<libc::timespec>(),
        )
    };
    crate::sys::set_errno(errno);
}
