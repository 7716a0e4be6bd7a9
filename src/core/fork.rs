// SPDX-License-Identifier: MIT OR Apache-2.0
//! What fork() means here: in the child every object of the parent answers "forked", and its close touches no device.
//! The handlers are registered when the first device is opened, so a program that uses no device pays nothing.

use super::error::{Error, Result};
use super::lock::Lock;
use super::slab::Object;
use super::{channel::Channel, context::Context, cq::Cq, library, mr::Mr, pd::Pd, qp::Qp};
use crate::sys::os;

static REGISTERED: Lock<bool> = Lock::new(false);

/// Registers the handlers once. Nobody passes before they are in place.
pub fn guard() -> Result<()> {
    let mut registered = REGISTERED.lock();
    if !*registered {
        // SAFETY: this library is never unloaded, and the handlers use only the locks that `before` takes.
        unsafe { os::at_fork(before, after_in_parent, after_in_child) }
            .map_err(|errno| Error::call("pthread_atfork", errno))?;
        *registered = true;
    }
    Ok(())
}

extern "C" fn before() {
    REGISTERED.hold_for_fork();
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
    REGISTERED.release_after_fork();
}
