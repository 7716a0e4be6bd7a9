// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completion queues: the ring, what waits for room in it, and events.

use super::efa::{self, CqDoorbell};
use super::host::{AsyncEvent, ContextId, Errno, Host};
use super::request::Completion;
use super::types::errno::{EBUSY, EINVAL, ENOENT, ENOMEM, EOPNOTSUPP};
use super::types::{CqInfo, CqSpec};
use super::{Device, PAGE, numbers};
use crate::profile::caps;
use std::collections::VecDeque;

/// Completions that wait for room. Requests are bounded by their rings; more than this only a broken user can have.
const BACKLOG: usize = 1 << 17;

#[derive(Debug)]
pub(super) struct Cq {
    pub ctx: ContextId,
    pub spec: CqSpec,
    pub info: CqInfo,
    /// Completions written, ever.
    produced: u32,
    backlog: VecDeque<Completion>,
    /// The command number (`cmd_sn`) for which the event was already sent.
    event_sent: Option<u8>,
    /// The provider never tells how far it has read (rdma-core before 34), so nothing can be held back for it.
    blind: bool,
    pub users: u32,
}

impl Device {
    pub fn cq_create(&mut self, host: &mut dyn Host, ctx: ContextId, spec: &CqSpec) -> Result<CqInfo, Errno> {
        self.run("create_cq", |d| {
            d.check_context(ctx)?;
            let p = d.profile;
            if spec.cqe == 0 || !spec.cqe.is_power_of_two() || spec.cqe > p.max_cqe.value {
                return Err(EINVAL);
            }
            let sizes_ok = spec.entry_size == 16 && !spec.with_sgid || spec.entry_size == 32;
            if !sizes_ok || spec.sub_cqs != 1 || spec.comp_vector >= p.comp_vectors.value {
                return Err(EINVAL);
            }
            if spec.channel.is_some() && !p.has(caps::CQ_NOTIFICATIONS) || spec.with_sgid && !p.has(caps::CQ_WITH_SGID)
            {
                return Err(EOPNOTSUPP);
            }
            if d.cqs.len() >= p.max_cq.value as usize {
                return Err(ENOMEM);
            }
            let number = numbers::next(&mut d.last_cq, 0..=0xfffe, |n| d.cqs.contains_key(&n)).ok_or(ENOMEM)?;
            let ring_bytes = (u64::from(spec.cqe) * u64::from(spec.entry_size)).next_multiple_of(PAGE);
            let ring_offset = host.shm_alloc(ctx, ring_bytes).ok_or(ENOMEM)?;
            let Some(doorbell_offset) = host.shm_alloc(ctx, PAGE) else {
                host.shm_free(ctx, ring_offset, ring_bytes);
                return Err(ENOMEM);
            };
            let info = CqInfo {
                handle: number,
                number: number as u16,
                cqe: spec.cqe,
                ring_offset,
                ring_bytes,
                doorbell_offset,
                doorbell_bytes: PAGE,
            };
            let cq = Cq {
                ctx,
                spec: *spec,
                info,
                produced: 0,
                backlog: VecDeque::new(),
                event_sent: None,
                blind: false,
                users: 0,
            };
            d.cqs.insert(number, cq);
            Ok(info)
        })
    }

    pub fn cq_destroy(&mut self, host: &mut dyn Host, ctx: ContextId, cq: u32) -> Result<(), Errno> {
        self.run_destroy("destroy_cq", |d| {
            let c = d.cq(ctx, cq)?;
            if c.users > 0 {
                return Err(EBUSY);
            }
            let info = c.info;
            host.shm_free(ctx, info.ring_offset, info.ring_bytes);
            host.shm_free(ctx, info.doorbell_offset, info.doorbell_bytes);
            d.cqs.remove(&cq);
            Ok(())
        })
    }

    /// For a provider that knows of no doorbell: completions are written as they come, the ring must be large enough.
    pub fn cq_without_doorbell(&mut self, ctx: ContextId, cq: u32) -> Result<(), Errno> {
        self.cqs.get_mut(&cq).filter(|c| c.ctx == ctx).ok_or(ENOENT)?.blind = true;
        Ok(())
    }

    pub(super) fn cq(&self, ctx: ContextId, cq: u32) -> Result<&Cq, Errno> {
        self.cqs.get(&cq).filter(|c| c.ctx == ctx).ok_or(ENOENT)
    }

    pub(super) fn cq_users(&mut self, cq: u32, add: bool) {
        if let Some(c) = self.cqs.get_mut(&cq) {
            c.users = if add { c.users.saturating_add(1) } else { c.users.saturating_sub(1) };
        }
    }

    /// Writes a completion, or keeps it until the user has made room. Unsolicited ones have no request that paces them: without
    /// room they are lost, as the device's are.
    pub(super) fn complete(&mut self, host: &mut dyn Host, cq: u32, c: Completion) {
        self.moved = true;
        let overflow = self.faults.completion(c.qpn);
        let Some(q) = self.cqs.get_mut(&cq) else { return };
        if host.tracing() {
            let lost = if overflow.is_some() { " LOST (fault: CQ overflow)" } else { "" };
            host.trace(&format!("{} cq {cq}: {c}{lost}", self.name));
        }
        if let Some(event) = overflow {
            if event {
                host.async_event(q.ctx, AsyncEvent::CqError { user_handle: q.spec.user_handle });
            }
            return;
        }
        let doorbell = q.doorbell(host);
        let room = q.backlog.is_empty() && q.room(doorbell);
        if room {
            q.write(host, &c);
            q.notify(host, doorbell, true);
        } else if c.recv.is_some_and(|r| r.unsolicited) || q.backlog.len() >= BACKLOG {
            host.trace(&format!("{} cq {cq}: completion of QP {} LOST: the CQ is full", self.name, c.qpn));
        } else {
            q.backlog.push_back(c);
        }
    }

    /// Moves waiting completions into the ring and looks whether the user armed it.
    pub(super) fn pump_cq(&mut self, host: &mut dyn Host, cq: u32) {
        let Some(q) = self.cqs.get_mut(&cq) else { return };
        if q.backlog.is_empty() && q.spec.channel.is_none() {
            return;
        }
        let doorbell = q.doorbell(host);
        let mut wrote = false;
        while q.room(doorbell) {
            let Some(c) = q.backlog.pop_front() else { break };
            q.write(host, &c);
            wrote = true;
        }
        q.notify(host, doorbell, wrote);
        self.moved |= wrote;
        self.restless |= !q.backlog.is_empty();
    }
}

impl Cq {
    fn doorbell(&self, host: &mut dyn Host) -> CqDoorbell {
        CqDoorbell::from_word(host.shm_load32(self.ctx, self.info.doorbell_offset))
    }

    fn room(&self, doorbell: CqDoorbell) -> bool {
        self.blind || u32::from((self.produced as u16).wrapping_sub(doorbell.consumer)) < self.info.cqe
    }

    fn write(&mut self, host: &mut dyn Host, c: &Completion) {
        let cqe = self.info.cqe;
        let phase = self.produced & cqe == 0;
        let at = self.info.ring_offset + u64::from(self.produced & (cqe - 1)) * u64::from(self.spec.entry_size);
        let bytes = efa::cqe::encode(c, phase, self.spec.with_sgid);
        let (first, rest) = bytes.split_at(8);
        // The phase bit is in the first word: it goes last, and releases the rest.
        host.shm_write(self.ctx, at + 8, rest.get(..self.spec.entry_size as usize - 8).unwrap_or(rest));
        host.shm_store64_release(self.ctx, at, u64::from_le_bytes(first.try_into().unwrap_or([0; 8])));
        self.produced = self.produced.wrapping_add(1);
    }

    /// The doorbell holds only the last thing said, so an "arm" may have been overwritten by a poll before anybody looked. The
    /// rule that loses no event: one event per command number; it is sent when a completion is written, armed or not, and when
    /// "armed" is seen with completions unread. An early event is the price, and verbs programs must bear those anyway. Before the
    /// first completion is read no poll can have overwritten anything: then only "armed" counts.
    fn notify(&mut self, host: &mut dyn Host, doorbell: CqDoorbell, wrote: bool) {
        let Some(channel) = self.spec.channel else { return };
        if self.event_sent == Some(doorbell.cmd_sn) {
            return;
        }
        let unread = self.produced as u16 != doorbell.consumer;
        let untouched = doorbell.consumer == 0 && self.produced <= self.info.cqe;
        if wrote && !untouched || doorbell.arm && unread {
            self.event_sent = Some(doorbell.cmd_sn);
            host.completion_event(channel, self.spec.user_handle);
        }
    }
}
