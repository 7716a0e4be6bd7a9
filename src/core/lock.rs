// SPDX-License-Identifier: MIT OR Apache-2.0
//! A mutex that can be held across fork(). std's can't: its guard has no way to be released by the atfork handlers.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};

/// Mutual exclusion around a `T` that stays where it is (a static, or the body of a slab slot) while it is in use.
pub struct Lock<T> {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    value: UnsafeCell<T>,
}

// SAFETY: `value` is reached only through a guard, and one guard exists at a time.
unsafe impl<T: Send> Sync for Lock<T> {}
// SAFETY: an unlocked mutex holds no thread's identity; it is only moved before its first use.
unsafe impl<T: Send> Send for Lock<T> {}

impl<T> Lock<T> {
    pub const fn new(value: T) -> Self {
        Self { mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER), value: UnsafeCell::new(value) }
    }

    pub fn lock(&self) -> Guard<'_, T> {
        // SAFETY: the mutex is initialised and in place; a default mutex can only fail to lock when it was never one.
        unsafe { libc::pthread_mutex_lock(self.mutex.get()) };
        Guard { lock: self }
    }

    /// Locks without a guard, for the handler that runs before fork().
    pub fn hold_for_fork(&self) {
        std::mem::forget(self.lock());
    }

    /// Ends `hold_for_fork`, in the parent and in the child.
    pub fn release_after_fork(&self) {
        // SAFETY: the handler before fork() locked it on this very thread.
        unsafe { libc::pthread_mutex_unlock(self.mutex.get()) };
    }
}

pub struct Guard<'a, T> {
    lock: &'a Lock<T>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: this guard holds the mutex.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard holds the mutex.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: this guard holds the mutex, on this thread.
        unsafe { libc::pthread_mutex_unlock(self.lock.mutex.get()) };
    }
}
