// SPDX-License-Identifier: MIT OR Apache-2.0
//! The objects of one session and their handles. The user's handles are ours: they are never given twice in a session
//! until the counter wraps, so that a stale one is noticed.

use super::env::{Env, EventSource, Nic};
use super::errno::{EINVAL, ENOENT, ENOMEM, Res, fail};
use super::names::object;
use std::collections::BTreeMap;

/// More objects than any device has; bounds what a wild caller can make us hold.
const MAX_OBJECTS: usize = 1 << 20;

/// `nic` is the device's handle of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    Pd {
        nic: u32,
    },
    /// `mapping`: address and length of a dma-buf, or of a GPU's memory, that the session mapped for it.
    Mr {
        nic: u32,
        mapping: Option<(u64, u64)>,
    },
    Ah {
        nic: u32,
    },
    Cq {
        nic: u32,
        user_handle: u64,
        channel: Option<u64>,
    },
    Qp {
        nic: u32,
        user_handle: u64,
    },
}

impl Object {
    /// The object number of uverbs.
    pub fn kind(&self) -> u16 {
        match self {
            Object::Pd { .. } => object::PD,
            Object::Mr { .. } => object::MR,
            Object::Ah { .. } => object::AH,
            Object::Cq { .. } => object::CQ,
            Object::Qp { .. } => object::QP,
        }
    }

    pub fn nic(&self) -> u32 {
        match self {
            Object::Pd { nic }
            | Object::Mr { nic, .. }
            | Object::Ah { nic }
            | Object::Cq { nic, .. }
            | Object::Qp { nic, .. } => *nic,
        }
    }
}

/// What `ibv_destroy_*` must have acknowledged before it returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reported {
    pub completions: u32,
    pub asynchronous: u32,
}

#[derive(Default)]
pub struct Objects {
    live: BTreeMap<u32, Object>,
    last: u32,
}

impl Objects {
    /// Is there room for one more?
    pub fn reserve(&self) -> Res<()> {
        if self.live.len() >= MAX_OBJECTS {
            return fail(ENOMEM, format!("{MAX_OBJECTS} objects are open: close some"));
        }
        Ok(())
    }

    pub fn add(&mut self, object: Object) -> u32 {
        // Ends: `reserve` keeps the table far smaller than the number of handles.
        loop {
            self.last = self.last.wrapping_add(1);
            if !self.live.contains_key(&self.last) {
                self.live.insert(self.last, object);
                return self.last;
            }
        }
    }

    /// ENOENT for a handle that is not open, EINVAL for one of another kind.
    pub fn get(&self, handle: u64, kind: u16) -> Res<(u32, Object)> {
        if i64::try_from(handle).is_err() {
            return fail(EINVAL, format!("handle {} is negative", handle.cast_signed()));
        }
        let found = u32::try_from(handle).ok().and_then(|handle| Some((handle, *self.live.get(&handle)?)));
        match found {
            None => fail(ENOENT, format!("handle {handle} is not open")),
            Some((_, object)) if object.kind() != kind => {
                fail(EINVAL, format!("handle {handle} is of object kind {}, not {kind}", object.kind()))
            }
            Some(found) => Ok(found),
        }
    }

    pub fn len(&self) -> usize {
        self.live.len()
    }

    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// Destroys one object. If the device refuses (EBUSY), it stays as it is.
    pub fn destroy(&mut self, handle: u32, env: &mut dyn Env, nic: &mut dyn Nic) -> Res<Reported> {
        let Some(object) = self.live.get(&handle).copied() else {
            return fail(ENOENT, format!("handle {handle} is not open"));
        };
        match object {
            Object::Pd { nic: id } => nic.pd_free(id)?,
            Object::Mr { nic: id, .. } => nic.mr_dereg(id)?,
            Object::Ah { nic: id } => nic.ah_destroy(id)?,
            Object::Cq { nic: id, .. } => nic.cq_destroy(id)?,
            Object::Qp { nic: id, .. } => nic.qp_destroy(id)?,
        }
        self.live.remove(&handle);
        Ok(release(&object, env))
    }

    /// Destroys everything, users before what they use. What the device refuses is let go all the same: the session ends.
    pub fn destroy_all(&mut self, env: &mut dyn Env, nic: &mut dyn Nic) {
        for kind in [object::QP, object::CQ, object::AH, object::MR, object::PD] {
            let handles: Vec<u32> =
                self.live.iter().filter(|(_, object)| object.kind() == kind).map(|(handle, _)| *handle).collect();
            for handle in handles {
                if self.destroy(handle, env, nic).is_err()
                    && let Some(object) = self.live.remove(&handle)
                {
                    release(&object, env);
                }
            }
        }
    }
}

/// Gives back what the process holds for an object that the device has let go.
fn release(object: &Object, env: &mut dyn Env) -> Reported {
    match *object {
        Object::Mr { mapping: Some((addr, length)), .. } => {
            env.dmabuf_unmap(addr, length);
            Reported::default()
        }
        Object::Cq { user_handle, channel, .. } => Reported {
            completions: channel.map_or(0, |channel| env.channel_forget(channel, user_handle)),
            asynchronous: env.async_forget(EventSource::Cq { user_handle }),
        },
        Object::Qp { user_handle, .. } => {
            Reported { completions: 0, asynchronous: env.async_forget(EventSource::Qp { user_handle }) }
        }
        _ => Reported::default(),
    }
}
