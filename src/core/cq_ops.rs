// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be changed of a completion queue: how often it raises events, and its depth.

use super::cold::cold_structs;
use super::cq::Cq;
use super::error::{Error, Reason, Result};
use super::status::VBN_ERR_ARGUMENT;
use crate::sys::ibv::{IBV_CQ_ATTR_MODERATE, ibv_moderate_cq, ibv_modify_cq_attr};
use crate::sys::inline;

/// `vbn_cq_modify_attr.set`: moderation_count and moderation_period_us.
pub const VBN_CQ_SET_MODERATION: u64 = 1;

/// What `vbn_cq_modify` is told.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_cq_modify_attr {
    /// sizeof(vbn_cq_modify_attr).
    pub struct_size: usize,
    /// Which of the fields count: VBN_CQ_SET_*. One at least.
    pub set: u64,
    /// An armed queue raises its event after so many completions at the latest... With moderation_period_us 0: off.
    pub moderation_count: u32,
    /// ... or so many microseconds after the first of them. With moderation_count 0: off.
    pub moderation_period_us: u32,
}
cold_structs!(vbn_cq_modify_attr);

impl Cq {
    /// Sets how long the queue holds back events.
    pub fn modify(&self, attr: &vbn_cq_modify_attr) -> Result<()> {
        if attr.set & !VBN_CQ_SET_MODERATION != 0 {
            return Err(Error::unknown_bits("set", attr.set, VBN_CQ_SET_MODERATION));
        }
        if attr.set == 0 {
            return Err(Error::text(VBN_ERR_ARGUMENT, "set is 0, so there is nothing to change")
                .hint("name the fields that count: VBN_CQ_SET_MODERATION"));
        }
        let context = self.context();
        let device = context.query_device()?;
        let most = |of_device: u16| if of_device == 0 { u16::MAX } else { of_device };
        let count = below("moderation_count", attr.moderation_count, most(device.cq_moderation_max_count));
        let period = below("moderation_period_us", attr.moderation_period_us, most(device.cq_moderation_max_period));
        let (cq_count, cq_period) =
            (count.map_err(|error| error.on(context.name()))?, period.map_err(|error| error.on(context.name()))?);
        let mut native =
            ibv_modify_cq_attr { attr_mask: IBV_CQ_ATTR_MODERATE, moderate: ibv_moderate_cq { cq_count, cq_period } };
        // SAFETY: the queue is live, and the struct is ours.
        context.ret("ibv_modify_cq", || unsafe { inline::modify_cq(self.native(), &mut native) }).map_err(|error| {
            if error.errno == libc::EOPNOTSUPP {
                return error.hint("the device doesn't moderate completion events: arm the queue less often, or poll");
            }
            error
        })
    }

    /// Makes the queue deeper or shallower.
    pub fn resize(&self, cqe: u32) -> Result<()> {
        let context = self.context();
        let most = context.device().max_cqe as u32;
        if cqe == 0 {
            return Err(Error::range("cqe", 0, "at least 1"));
        }
        if cqe > most {
            return Err(Error::limit("cqe", cqe.into(), most.into()).on(context.name()));
        }
        // SAFETY: the queue is live.
        context.ret("ibv_resize_cq", || unsafe { (context.verbs().resize_cq)(self.native(), cqe as i32) }).map_err(
            |error| match error.errno {
                libc::EOPNOTSUPP => error.hint("the device can't resize completion queues: create it deep enough"),
                libc::EINVAL => {
                    let why = "more completions wait in the queue than that";
                    Error { reason: Reason::CallBecause("ibv_resize_cq", why), ..error }.hint("poll them first")
                }
                _ => error,
            },
        )
    }
}

fn below(what: &'static str, value: u32, most: u16) -> Result<u16> {
    match u16::try_from(value) {
        Ok(value) if value <= most => Ok(value),
        _ => Err(Error::limit(what, value.into(), most.into())),
    }
}
