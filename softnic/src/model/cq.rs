// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completion queues: the ring, what waits for room in it, and events.

use super::flight::wake;
use super::host::{AsyncEvent, ContextId, Errno, Host};
use super::qp::{alloc_all, free_all};
use super::request::Completion;
use super::types::errno::{EBUSY, EINVAL, ENOENT, ENOMEM, EOPNOTSUPP};
use super::types::{CqInfo, CqSpec, QpSpec};
use super::window::Window;
use super::wire::{CqDoorbell, CqRing, Shape};
use super::{Device, PAGE, numbers};
use crate::profile::caps;
use std::collections::VecDeque;

/// Completions that wait for room. Requests are bounded by their rings; more than this only a broken user can have.
const BACKLOG: usize = 1 << 17;
/// A program that leaves completions unread for so long may be asleep on its channel. One that is only kept from running, by others on its
/// processor, must not be taken for that.
pub(super) const UNREAD_MS: u64 = 100;
/// How long a CQ may seem full while its doorbell stands still, until that is not believed any more: if the program took or left a lock of its
/// provider so often meanwhile (a post does both once), and if it did not.
pub(super) const PATIENCE_MS: u64 = UNREAD_MS;
pub(super) const PATIENCE_PASSES: u32 = 1000;
pub(super) const LONG_PATIENCE_MS: u64 = 2000;
/// Of a longer time between two looks only this much counts: the process may have been stopped, its threads and this device alike.
pub(super) const LOOK_MS: u64 = 100;

/// Completions wait for room, and the doorbell stands still.
#[derive(Debug)]
struct Standstill {
    /// What the host counted at first.
    passes: u32,
    looked_ms: u64,
    waited_ms: u64,
}

#[derive(Debug)]
pub(super) struct Cq {
    pub ctx: ContextId,
    pub spec: CqSpec,
    pub info: CqInfo,
    ring: CqRing,
    /// Completions written, ever.
    produced: u32,
    backlog: VecDeque<Completion>,
    /// The command number (`cmd_sn`) for which the event was already sent.
    event_sent: Option<u8>,
    /// The command number for which "armed" was seen, whatever the doorbell says since.
    armed: Option<u8>,
    /// Where a call arms: whether one has asked for an event since the last.
    asked: Option<bool>,
    /// What the doorbell said when completions were first seen unread without a reason for an event, and when that was.
    unread: Option<(CqDoorbell, u64)>,
    standstill: Option<Standstill>,
    /// The provider doesn't tell how far it has read (rdma-core before 34 never does), so nothing can be held back for it.
    blind: bool,
    /// Every program tells, so a doorbell that stands still is right.
    always_told: bool,
    /// Entries of all queues that have ever led here: so many completions can at most be unread, if a place in a queue is used again only
    /// once its completion has been read. Without limit once there can be completions that have no place.
    entries_of_users: u64,
    pub users: u32,
}

impl Device {
    pub fn cq_create(&mut self, host: &mut dyn Host, ctx: ContextId, spec: &CqSpec) -> Result<CqInfo, Errno> {
        self.run("create_cq", |d| {
            d.check_context(ctx)?;
            let p = d.profile;
            if spec.cqe == 0 || spec.cqe > p.max_cqe.value {
                return Err(EINVAL);
            }
            let layout = p.kind.queues().cq_layout(p, spec).ok_or(EINVAL)?;
            if spec.comp_vector >= p.comp_vectors.value {
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
            let pieces = [layout.bytes, layout.doorbell_bytes].map(|bytes| bytes.next_multiple_of(PAGE));
            let [ring_offset, doorbell_offset] = alloc_all(host, ctx, pieces).ok_or(ENOMEM)?;
            let [ring_bytes, doorbell_bytes] = pieces;
            let info = CqInfo {
                handle: number,
                number: number as u16,
                cqe: layout.cqe,
                ring_offset,
                ring_bytes,
                doorbell_offset,
                doorbell_bytes,
            };
            let ring = CqRing {
                kind: p.kind.queues(),
                ctx,
                offset: ring_offset,
                doorbell_offset,
                entries: layout.entries,
                entry_size: spec.entry_size,
                with_sgid: spec.with_sgid,
            };
            ring.kind.begin_cq(host.shm(ctx), &ring);
            let cq = Cq {
                ctx,
                spec: *spec,
                info,
                ring,
                produced: 0,
                backlog: VecDeque::new(),
                event_sent: None,
                armed: None,
                asked: layout.armed_by_call.then_some(false),
                unread: None,
                standstill: None,
                blind: false,
                always_told: layout.always_told,
                entries_of_users: 0,
                users: 0,
            };
            d.cqs.insert(number, cq);
            if spec.channel.is_some() {
                d.due_cqs.push(number);
            }
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
            free_all(host, ctx, [(info.ring_offset, info.ring_bytes), (info.doorbell_offset, info.doorbell_bytes)]);
            d.cqs.remove(&cq);
            d.due_cqs.retain(|due| *due != cq);
            Ok(())
        })
    }

    /// For a provider that knows of no doorbell: completions are written as they come, the ring must be large enough.
    pub fn cq_without_doorbell(&mut self, ctx: ContextId, cq: u32) -> Result<(), Errno> {
        self.cqs.get_mut(&cq).filter(|c| c.ctx == ctx).ok_or(ENOENT)?.blind = true;
        Ok(())
    }

    /// The next completion makes an event. A program polls once more after that: what is there already makes none.
    pub fn cq_arm(&mut self, ctx: ContextId, cq: u32) -> Result<(), Errno> {
        self.run("req_notify_cq", |d| {
            let c = d.cqs.get_mut(&cq).filter(|c| c.ctx == ctx).ok_or(ENOENT)?;
            *c.asked.as_mut().ok_or(EOPNOTSUPP)? = true;
            Ok(())
        })
    }

    pub(super) fn cq(&self, ctx: ContextId, cq: u32) -> Result<&Cq, Errno> {
        self.cqs.get(&cq).filter(|c| c.ctx == ctx).ok_or(ENOENT)
    }

    pub(super) fn cq_users(&mut self, cq: u32, add: bool) {
        if let Some(c) = self.cqs.get_mut(&cq) {
            c.users = if add { c.users.saturating_add(1) } else { c.users.saturating_sub(1) };
        }
    }

    /// The queues of a QP begin at their start, and their completions go to its CQs.
    pub(super) fn cqs_expect(&mut self, spec: &QpSpec, shape: Shape) {
        let receives = if spec.unsolicited_write_recv { u64::MAX } else { u64::from(shape.rq_depth) };
        for (cq, places) in [(spec.send_cq, u64::from(shape.sq_depth)), (spec.recv_cq, receives)] {
            if let Some(c) = self.cqs.get_mut(&cq) {
                c.entries_of_users = c.entries_of_users.saturating_add(places);
            }
        }
    }

    /// Writes a completion, or keeps it until there is room.
    #[inline(always)]
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
        let shm = host.shm(q.ctx);
        if q.is_never_full() && !q.has_work() {
            return q.write(shm, &c);
        }
        let doorbell = q.doorbell(shm);
        if q.backlog.is_empty() && q.room(doorbell) {
            q.write(shm, &c);
            if let Some(at) = q.notify(host, doorbell, true, self.now_ms) {
                wake(&mut self.wake_at_ms, at);
            }
        } else if q.backlog.len() >= BACKLOG {
            host.trace(&format!("{} cq {cq}: completion of QP {} LOST: the CQ is full", self.name, c.qpn));
        } else {
            if !q.has_work() {
                self.due_cqs.push(cq);
            }
            q.backlog.push_back(c);
        }
    }

    /// Moves waiting completions into the ring and looks whether the user armed it.
    pub(super) fn pump_cq(&mut self, host: &mut dyn Host, cq: u32) {
        let Some(q) = self.cqs.get_mut(&cq) else { return };
        let doorbell = q.doorbell(host.shm(q.ctx));
        if q.is_out_of_patience(host, doorbell, self.now_ms) {
            host.trace(&format!(
                "{} cq {cq}: full if its doorbell is right, which stands still: no longer believed",
                self.name
            ));
            q.blind = true;
        }
        let mut wrote = false;
        while q.room(doorbell) {
            let Some(c) = q.backlog.pop_front() else { break };
            q.write(host.shm(q.ctx), &c);
            wrote = true;
        }
        if let Some(at) = q.notify(host, doorbell, wrote, self.now_ms) {
            wake(&mut self.wake_at_ms, at);
        }
        self.moved |= wrote;
        self.restless |= !q.backlog.is_empty();
        self.armed |= q.armed.is_some() || q.asked == Some(true);
    }
}

impl Cq {
    /// A step has something to look at.
    pub fn has_work(&self) -> bool {
        !self.backlog.is_empty() || self.spec.channel.is_some()
    }

    fn doorbell(&self, shm: Window<'_>) -> CqDoorbell {
        self.ring.doorbell(shm, self.produced)
    }

    /// The program says that it has read all that was written.
    pub fn is_read(&self, host: &dyn Host) -> bool {
        self.produced as u16 == self.doorbell(host.shm(self.ctx)).consumer
    }

    /// The word by which the user says how far it has read.
    pub fn word(&self) -> u64 {
        self.ring.word()
    }

    /// The doorbell says how far the program has read at least, not at most: libefa rings when a poll by `ibv_poll_cq` has found something and at the
    /// end of an extended one that is ended early, but never for one that goes on to ENOENT (44 to 65), and programs that poll the ring
    /// themselves need not ring at all. A device writes on in any case. So a CQ is full only if the doorbell says so and the queues
    /// can have filled it. When both are so, a program may still have read all in silence: see `is_out_of_patience`.
    fn room(&self, doorbell: CqDoorbell) -> bool {
        self.is_never_full() || u32::from((self.produced as u16).wrapping_sub(doorbell.consumer)) < self.info.cqe
    }

    /// Whatever the doorbell says.
    fn is_never_full(&self) -> bool {
        self.blind || self.entries_of_users <= u64::from(self.info.cqe) && !self.always_told
    }

    /// Completions have waited for room too long. Whoever polls with `ibv_poll_cq` moves the doorbell of a full CQ by the first poll; whoever goes
    /// on without moving it reads in silence, and would wait for ever. Or it never polls this CQ: then a device has overrun it long ago.
    fn is_out_of_patience(&mut self, host: &mut dyn Host, doorbell: CqDoorbell, now: u64) -> bool {
        if self.backlog.is_empty() || self.always_told || self.room(doorbell) {
            self.standstill = None;
            return false;
        }
        let passes = host.program_passes();
        let s = self.standstill.get_or_insert(Standstill { passes, looked_ms: now, waited_ms: 0 });
        s.waited_ms += now.saturating_sub(s.looked_ms).min(LOOK_MS);
        s.looked_ms = now;
        let polled = passes.wrapping_sub(s.passes) >= PATIENCE_PASSES;
        s.waited_ms >= if polled { PATIENCE_MS } else { LONG_PATIENCE_MS }
    }

    #[inline(always)]
    fn write(&mut self, shm: Window<'_>, c: &Completion) {
        self.ring.write(shm, self.produced, c);
        self.produced = self.produced.wrapping_add(1);
    }

    /// At most one event per command number: at once when a completion is written into a CQ that is armed. The doorbell holds only
    /// the last thing said, so an "arm" may have been overwritten by a poll before anybody looked, or may have come between a
    /// completion and the poll that takes it. Both look like completions that nobody takes: those get their event when that has lasted
    /// a moment, so that a program which is about to poll is not sent to poll again in vain. Before the first completion is read no
    /// poll can have overwritten anything: then only "armed" counts. Answers when to look again.
    fn notify(&mut self, host: &mut dyn Host, doorbell: CqDoorbell, wrote: bool, now: u64) -> Option<u64> {
        let channel = self.spec.channel?;
        if let Some(asked) = &mut self.asked {
            if wrote && std::mem::take(asked) {
                host.completion_event(channel, self.spec.user_handle);
            }
            return None;
        }
        if self.event_sent == Some(doorbell.cmd_sn) {
            return None;
        }
        if doorbell.arm {
            self.armed = Some(doorbell.cmd_sn);
        }
        let armed = self.armed == Some(doorbell.cmd_sn);
        let untouched = doorbell.consumer == 0 && self.produced <= self.info.cqe;
        if self.produced as u16 == doorbell.consumer || untouched && !armed {
            self.unread = None;
            return None;
        }
        if !(wrote && armed) {
            let since = match self.unread {
                Some((seen, since)) if seen == doorbell => since,
                _ => {
                    self.unread = Some((doorbell, now));
                    now
                }
            };
            if now < since + UNREAD_MS {
                return Some(since + UNREAD_MS);
            }
        }
        (self.unread, self.armed) = (None, None);
        self.event_sent = Some(doorbell.cmd_sn);
        host.completion_event(channel, self.spec.user_handle);
        None
    }
}
