// SPDX-License-Identifier: MIT OR Apache-2.0
//! What fork() means here: in the child every object of the parent answers "forked", and its close touches no device.
//! The handlers are registered when the first device is opened, so a program that uses no device pays nothing.

use std::sync::atomic::{AtomicBool, Ordering};

use super::error::{Error, Result};
use super::slab::Object;
use super::{channel::Channel, context::Context, cq::Cq, library, mr::Mr, pd::Pd, qp::Qp};
use crate::sys::os;

static REGISTERED: AtomicBool = AtomicBool::new(false);

/// Registers the handlers once. Two threads at once may both register: the handlers must bear that, so the loser
/// waits for nothing and the flag is taken before.
pub fn guard() -> Result<()> {
    if REGISTERED.swap(true, Ordering::AcqRel) {
        return Ok(());
    }
    // SAFETY: this library is never unloaded, and the handlers use only the locks that `before` takes.
    unsafe { os::at_fork(before, after_in_parent, after_in_child) }.map_err(|errno| {
        REGISTERED.store(false, Ordering::Release);
        Error::call("pthread_atfork", errno)
    })
}

extern "C" fn before() {
    library::before_fork();
    Context::slab().before_fork();
    Pd::slab().before_fork();
    Mr::slab().before_fork();
    Channel::slab().before_fork();
    Cq::slab().before_fork();
    Qp::slab().before_fork();
}

extern "C" fn after_in_parent() {
    after(false);
}

extern "C" fn after_in_child() {
    after(true);
}

fn after(child: bool) {
    Qp::slab().after_fork(child);
    Cq::slab().after_fork(child);
    Channel::slab().after_fork(child);
    Mr::slab().after_fork(child);
    Pd::slab().after_fork(child);
    Context::slab().after_fork(child);
    library::after_fork();
}
