// SPDX-License-Identifier: MIT OR Apache-2.0
//! What fork() means here: in the child every object of the parent answers "forked", and its close touches no device.
//! The handlers are registered when the first device is opened, so a program that uses no device pays nothing.

use super::error::{Error, Result};
use super::lock::Lock;
use super::slab::Object;
use super::{
    ah::Ah, ah_cache, channel::Channel, cm::CmChannel, cm_id::CmId, context::Context, counters::Counters, cq::Cq,
    dm::Dm, flow::Flow, library, mr::Mr, mr_set::MrSet, mw::Mw, pd::Pd, peer::Peer, qp::Qp, srq::Srq, td::Td,
};
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
    ah_cache::before_fork();
    Context::slab().before_fork();
    Pd::slab().before_fork();
    Mr::slab().before_fork();
    MrSet::slab().before_fork();
    Mw::slab().before_fork();
    Channel::slab().before_fork();
    Cq::slab().before_fork();
    Qp::slab().before_fork();
    Ah::slab().before_fork();
    Peer::slab().before_fork();
    CmChannel::slab().before_fork();
    CmId::slab().before_fork();
    Srq::slab().before_fork();
    Td::slab().before_fork();
    Dm::slab().before_fork();
    Flow::slab().before_fork();
    Counters::slab().before_fork();
}

extern "C" fn after_in_parent() {
    after(false);
}

extern "C" fn after_in_child() {
    after(true);
}

fn after(child: bool) {
    Counters::slab().after_fork(child);
    Flow::slab().after_fork(child);
    Dm::slab().after_fork(child);
    Td::slab().after_fork(child);
    CmId::slab().after_fork(child);
    CmChannel::slab().after_fork(child);
    Srq::slab().after_fork(child);
    Peer::slab().after_fork(child);
    Ah::slab().after_fork(child);
    Qp::slab().after_fork(child);
    Cq::slab().after_fork(child);
    Channel::slab().after_fork(child);
    Mw::slab().after_fork(child);
    MrSet::slab().after_fork(child);
    Mr::slab().after_fork(child);
    Pd::slab().after_fork(child);
    Context::slab().after_fork(child);
    ah_cache::after_fork(child);
    library::after_fork();
    REGISTERED.release_after_fork();
}
