// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device: pure and deterministic. No libc, no files, no threads, no clock; the world is [`host::Host`].
//!
//! One [`Device`] is one device as one process sees it: only that process's objects live in it. All calls come one at a
//! time (the caller locks). The objects and the engine (`send`, `target`) speak of requests and completions; what a request looks like
//! in memory is the business of `wire`, which asks the device's kind.
//!
//! The control calls (errors are positive errno numbers; handles are unique per device and kind, and checked against the context):
//!
//! ```text
//! Device::new(DeviceConfig) -> Device
//! profile() -> &Profile, gid() -> Gid, name() -> &str, port() -> PortInfo, counters() -> &Counters, removed() -> bool
//! context_open() -> Result<ContextId>                 context_close(host, ctx)        destroys all that is left in it
//! pd_alloc(host, ctx) -> Result<PdInfo>               pd_free(host, ctx, pd) -> Result<()>           EBUSY while used
//! mr_reg(host, ctx, &MrSpec) -> Result<MrInfo>        mr_dereg(host, ctx, mr) -> Result<MrInfo>      mr_query(ctx, mr) -> Result<MrInfo>
//! ah_create(host, ctx, &AhSpec) -> Result<AhInfo>     ah_destroy(host, ctx, ah) -> Result<()>
//! cq_create(host, ctx, &CqSpec) -> Result<CqInfo>     cq_destroy(host, ctx, cq) -> Result<()>        EBUSY while a QP uses it
//! qp_create(host, ctx, &QpSpec) -> Result<QpInfo>     qp_destroy(host, ctx, qp) -> Result<()>
//! cq_arm(ctx, cq) -> Result<()>                       qp_rung(host, ctx, qp) -> Result<()>
//! qp_modify(host, ctx, qp, mask, &QpAttr) -> Result<()>     qp_query(ctx, qp) -> Result<QpQuery>
//! command(host, name) -> Result<()>                   for calls that need nothing of the model (query_device ...): counts them and lets
//!                                                     the fault file fail them; the calls above do it themselves
//! step(host) -> Progress                              looks at doorbells, executes, completes
//! rung(qp), work(host) -> Progress                    the same for who knows what was rung
//! receive(host, &Packet)                              a packet for this device came in (from Host::send of another one)
//! receive_for_receipt(host, &Packet) -> bool          as `receive`; true: a SEND was taken and all is well, and nobody was told so yet
//! receipt(host, request)                              another process took a SEND, and all is well: as a packet that says so
//! peer_gone(host, &mut dyn FnMut(&Address) -> Option<Sent>)      the host learned of dead peers: Dead, Unreachable or NoQp for those
//! peer_silent(host, &mut dyn FnMut(&Address) -> bool)    requests to those end with status 13; what arrives later all the same is carried out
//! remove(host)                                        the device is pulled: async event, then everything but destroy answers EIO
//! ```
//!
//! Arming a CQ is a store into its doorbell by the provider, or `cq_arm`, as the kind has it. `qp_rung` is for a kind whose provider rings
//! by a call.
#![forbid(unsafe_code)]

pub mod counters;
pub mod host;
pub mod packet;
pub mod request;
pub mod rng;
pub mod types;
pub mod window;
pub mod wire;

mod ah;
mod answered;
mod cq;
mod doorbells;
mod flight;
mod numbers;
mod pd_mr;
mod place;
mod qp;
mod send;
mod table;
mod target;

#[cfg(test)]
pub(crate) mod tests;

use crate::fault::{COMMANDS, DeviceFault, Faults};
use crate::profile::Profile;
use counters::Counters;
use host::{Address, AsyncEvent, ContextId, Errno, Gid, Host, Sent};
use packet::Packet;
use rng::Rng;
use send::Taking;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use table::Table;
use types::errno::{EINVAL, EIO, ENOMEM};
use types::{NEVER, Progress};

/// The unit in which memory is mapped.
pub const PAGE: u64 = 4096;
/// QP numbers of one process.
pub const QPNS: u32 = 4096;

/// Everything that makes one device differ from another.
#[derive(Clone, Debug)]
pub struct DeviceConfig {
    pub name: String,
    pub profile: &'static Profile,
    pub gid: Gid,
    /// The process's place in the host: QP numbers are `slot << 12 | 1..=4095`.
    pub slot: u8,
    /// 0 = requests are executed in order and WRITEs placed in order; else SRD's freedom is used, repeatably.
    pub seed: u64,
    pub faults: Faults,
}

/// The port as query shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortInfo {
    pub active: bool,
    pub max_msg_size: u32,
    pub link_gbps: u32,
}

/// A device as this process sees it.
#[derive(Debug)]
pub struct Device {
    name: String,
    profile: &'static Profile,
    gid: Gid,
    qpn_base: u32,
    shuffle: bool,
    rng: Rng,
    faults: Faults,
    counters: Counters,
    removed: bool,
    port_up: bool,

    contexts: BTreeSet<ContextId>,
    last_context: u32,
    pds: BTreeMap<u32, pd_mr::Pd>,
    last_pd: u32,
    mrs: pd_mr::Mrs,
    ahs: ah::Ahs,
    cqs: Table<u32, cq::Cq>,
    last_cq: u32,
    qps: Table<u32, qp::Qp>,
    doorbells: doorbells::Doorbells,
    last_qpn: u32,
    /// What the next look is for, each once: QPs that were rung, hold requests back or wait, and CQs with a channel or completions that wait.
    due_qps: Vec<u32>,
    due_cqs: Vec<u32>,

    /// Requests under way, by number.
    flights: flight::Flights,
    /// Boxes for further ones.
    #[allow(clippy::vec_box)]
    spare: Vec<Box<flight::Flight>>,
    last_request: u64,
    /// Requests in a row that were posted when no other was under way.
    lonely: u8,
    /// When one of them needs to be looked at.
    flights_due_ms: u64,
    answered: answered::Answered,
    /// Peers that took a request, while others of ours may wait for them.
    progressed: Vec<Address>,
    /// Requests that were reported dead and place their data all the same (a fault), and when.
    late: Vec<(u64, Box<flight::Flight>)>,
    partial_writes: BTreeMap<(Address, u64), target::PartialWrite>,
    read_jobs: VecDeque<target::ReadJob>,
    /// Answers for which there was no room.
    outbox: VecDeque<Packet<'static>>,

    /// Of the call that is running.
    now_ms: u64,
    moved: bool,
    more: bool,
    restless: bool,
    armed: bool,
    wake_at_ms: u64,
    /// For how many steps the next one counts.
    steps: u8,
}

impl Device {
    pub fn new(config: DeviceConfig) -> Device {
        Device {
            name: config.name,
            profile: config.profile,
            gid: config.gid,
            qpn_base: u32::from(config.slot & 0xf) * QPNS,
            shuffle: config.seed != 0,
            rng: Rng::new(config.seed),
            faults: config.faults,
            counters: Counters::default(),
            removed: false,
            port_up: true,
            contexts: BTreeSet::new(),
            last_context: 0,
            pds: BTreeMap::new(),
            last_pd: 0,
            mrs: pd_mr::Mrs::default(),
            ahs: ah::Ahs::default(),
            cqs: Table::default(),
            last_cq: 0xffff,
            qps: Table::default(),
            doorbells: doorbells::Doorbells::default(),
            last_qpn: 0,
            due_qps: Vec::new(),
            due_cqs: Vec::new(),
            flights: flight::Flights::default(),
            spare: Vec::new(),
            last_request: 0,
            lonely: 0,
            flights_due_ms: NEVER,
            answered: answered::Answered::default(),
            progressed: Vec::new(),
            late: Vec::new(),
            partial_writes: BTreeMap::new(),
            read_jobs: VecDeque::new(),
            outbox: VecDeque::new(),
            now_ms: 0,
            moved: false,
            more: false,
            restless: false,
            armed: false,
            wake_at_ms: NEVER,
            steps: 1,
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn profile(&self) -> &'static Profile {
        self.profile
    }

    pub fn gid(&self) -> Gid {
        self.gid
    }

    pub fn port(&self) -> PortInfo {
        let p = self.profile;
        PortInfo { active: self.port_up && !self.removed, max_msg_size: p.mtu.value, link_gbps: p.link_gbps.value }
    }

    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    pub fn removed(&self) -> bool {
        self.removed
    }

    pub fn context_open(&mut self) -> Result<ContextId, Errno> {
        self.run("alloc_ucontext", |d| {
            let n =
                numbers::next(&mut d.last_context, 1..=0xffff, |n| d.contexts.contains(&ContextId(n))).ok_or(ENOMEM)?;
            d.contexts.insert(ContextId(n));
            Ok(ContextId(n))
        })
    }

    /// Destroys all that the context still has, in an order that always works. The host's memfd may go afterwards.
    pub fn context_close(&mut self, host: &mut dyn Host, ctx: ContextId) {
        // What fails here was not the context's, or is gone already.
        for qp in numbers_of(self.qps.iter(), |q| q.ctx == ctx) {
            let _ = self.qp_destroy(host, ctx, qp);
        }
        for cq in numbers_of(self.cqs.iter(), |c| c.ctx == ctx) {
            let _ = self.cq_destroy(host, ctx, cq);
        }
        for ah in self.ahs.handles_of(ctx) {
            let _ = self.ah_destroy(host, ctx, ah);
        }
        for mr in numbers_of(self.mrs.by_key.iter(), |m| m.ctx == ctx) {
            let _ = self.mr_dereg(host, ctx, mr);
        }
        for pd in numbers_of(self.pds.iter().map(|(n, p)| (*n, p)), |p| p.ctx == ctx) {
            let _ = self.pd_free(host, ctx, pd);
        }
        self.contexts.remove(&ctx);
    }

    fn check_context(&self, ctx: ContextId) -> Result<(), Errno> {
        if self.contexts.contains(&ctx) { Ok(()) } else { Err(EINVAL) }
    }

    /// A call that needs nothing of the model (`query_device`, `query_port`...): it is counted, and may be made to fail.
    pub fn command(&mut self, _host: &mut dyn Host, name: &str) -> Result<(), Errno> {
        self.run(name, |_| Ok(()))
    }

    /// Every call goes through here: device gone, the fault file, counters.
    fn run<T>(&mut self, name: &str, call: impl FnOnce(&mut Device) -> Result<T, Errno>) -> Result<T, Errno> {
        if self.removed {
            return Err(EIO);
        }
        self.run_destroy(name, call)
    }

    /// As `run`, for calls that work on a device that is gone.
    fn run_destroy<T>(&mut self, name: &str, call: impl FnOnce(&mut Device) -> Result<T, Errno>) -> Result<T, Errno> {
        debug_assert!(COMMANDS.contains(&name), "{name} can't be named in a fault file");
        self.counters.submitted_cmds += 1;
        let result = match self.faults.command(name) {
            Some(errno) => Err(errno),
            None => call(self),
        };
        match &result {
            Ok(_) => self.counters.completed_cmds += 1,
            Err(errno) => self.counters.failed(name, *errno),
        }
        result
    }

    /// Looks at all doorbells and does what is due, see `work`.
    pub fn step(&mut self, host: &mut dyn Host) -> Progress {
        for place in 0..self.qps.len() {
            let Some((qpn, q)) = self.qps.at(place) else { break };
            if q.is_rung(host) {
                self.rung(qpn);
            }
        }
        self.work(host)
    }

    /// The send doorbell of a QP has changed.
    pub fn rung(&mut self, qpn: u32) {
        if let Some(q) = self.qps.get_mut(&qpn)
            && !std::mem::replace(&mut q.is_due, true)
        {
            self.due_qps.push(qpn);
        }
    }

    /// Looks at timers, at the QPs that were rung, and at what is left from before, and does what is due. Call it when a doorbell was rung,
    /// when packets came in, and at `Progress::wake_at_ms`.
    pub fn work(&mut self, host: &mut dyn Host) -> Progress {
        self.now_ms = host.now_ms();
        (self.restless, self.armed) = (false, false);
        self.wake_at_ms = NEVER;
        if !self.faults.is_empty() {
            self.tick(host);
        }
        if self.removed {
            return Progress::default();
        }
        if host.tracing() {
            self.trace_receives(host);
        }
        if !self.is_settled() {
            self.resume_answers(host);
        }
        let held = self.attend_to_qps(host);
        self.steps = 1;
        if !self.is_settled() {
            self.resume_sends(host);
        }
        if !self.due_cqs.is_empty() {
            self.pump_cqs(host);
        }
        let unsent = !self.outbox.is_empty() || !self.read_jobs.is_empty() || self.flights_due_ms <= self.now_ms;
        self.moved |= held > 0;
        let (restless, held) = if self.restless || unsent { (true, 0) } else { (held > 0, held) };
        let more = std::mem::take(&mut self.more) || !self.progressed.is_empty();
        let (busy, armed) = (std::mem::take(&mut self.moved), self.armed);
        Progress { busy, more, restless, held, armed, wake_at_ms: self.wake_at_ms }
    }

    /// Faults that have their time.
    fn tick(&mut self, host: &mut dyn Host) {
        self.wake_at_ms = self.faults.next_tick_ms().unwrap_or(NEVER);
        let fault = self.faults.tick(self.now_ms);
        if fault != DeviceFault::default() {
            self.device_fault(host, fault);
        }
    }

    /// The QPs that are due; those stay so that have something left. Answers after how many steps the first request goes that is held back.
    #[inline(always)]
    fn attend_to_qps(&mut self, host: &mut dyn Host) -> u8 {
        let mut held = None;
        let mut due = std::mem::take(&mut self.due_qps);
        let mut place = 0;
        while let Some(qpn) = due.get(place).copied() {
            self.attend_to(host, qpn);
            let Some(q) = self.qps.get_mut(&qpn) else {
                due.swap_remove(place);
                continue;
            };
            if !q.pending.is_empty() {
                held = held.into_iter().chain(q.held()).min();
            }
            self.restless |= q.is_restless();
            q.is_due = q.is_restless() || !q.pending.is_empty();
            if q.is_due {
                place += 1;
            } else {
                due.swap_remove(place);
            }
        }
        // Those that became due meanwhile.
        due.append(&mut self.due_qps);
        self.due_qps = due;
        held.unwrap_or(0)
    }

    #[inline(always)]
    fn attend_to(&mut self, host: &mut dyn Host, qpn: u32) {
        let Some(q) = self.qps.get(&qpn) else { return };
        let (waiters, pending) = (!q.rnr_waiters.is_empty(), !q.pending.is_empty());
        if waiters {
            self.wake_waiters(host, qpn);
        }
        if pending {
            self.count_down_holds(qpn);
        }
        self.take_sends(host, qpn, Taking::Begin);
        if self.qps.get(&qpn).is_some_and(|q| !q.pending.is_empty()) {
            self.begin_sends(host, qpn);
        }
        self.flush_if_dead(host, qpn);
    }

    fn pump_cqs(&mut self, host: &mut dyn Host) {
        let mut due = std::mem::take(&mut self.due_cqs);
        due.retain(|cq| {
            self.pump_cq(host, *cq);
            self.cqs.get(cq).is_some_and(cq::Cq::has_work)
        });
        due.append(&mut self.due_cqs);
        self.due_cqs = due;
    }

    /// Whether `work` would do nothing.
    #[inline(always)]
    pub fn is_calm(&self, tracing: bool) -> bool {
        self.due_qps.is_empty() && self.due_cqs.is_empty() && self.faults.is_empty() && !tracing && self.is_settled()
    }

    /// No answer waits for room or its turn, and no request for room or a time.
    #[inline(always)]
    fn is_settled(&self) -> bool {
        self.flights_due_ms == NEVER
            && self.outbox.is_empty()
            && self.read_jobs.is_empty()
            && self.progressed.is_empty()
            && self.late.is_empty()
    }

    /// The next step counts for so many, see `Progress::held`.
    pub fn count_steps(&mut self, steps: u32) {
        self.steps = u8::try_from(steps).unwrap_or(u8::MAX);
    }

    /// The words of shared memory that the provider writes when it wants something, and the QP whose send doorbell it is. While none of them
    /// has changed, no packet has come and no timer is due, `work` after one that had no more to do and was not restless would do nothing.
    /// Receives matter to the trace alone.
    pub fn doorbells(&self, tracing: bool, visit: &mut dyn FnMut(ContextId, u64, Option<u32>)) {
        for (qpn, q) in self.qps.iter() {
            visit(q.ctx, q.rings.send_word(), Some(qpn));
            if tracing {
                visit(q.ctx, q.rings.recv_word(), None);
            }
        }
        for q in self.cqs.values().filter(|q| q.spec.channel.is_some()) {
            visit(q.ctx, q.word(), None);
        }
    }

    /// Requests that were posted into a QP in the error state.
    fn flush_if_dead(&mut self, host: &mut dyn Host, qpn: u32) {
        if self.qps.get(&qpn).is_some_and(|q| q.attr.state == types::QpState::Err) {
            self.flush_qp(host, qpn);
        }
    }

    fn is_mine(&self, a: &Address) -> bool {
        a.gid == self.gid && a.qpn & !(QPNS - 1) == self.qpn_base
    }

    /// Sends a packet: to this very device by a call, else through the host.
    #[inline(always)]
    fn route(&mut self, host: &mut dyn Host, p: &Packet<'_>) -> Sent {
        let sent = if self.is_mine(&p.dest) {
            self.deliver(host, p, false);
            Sent::Ok
        } else {
            host.send(p)
        };
        if sent == Sent::Ok {
            self.moved = true;
            self.counters.tx_pkts += 1;
            self.counters.tx_bytes += p.payload.len();
        }
        sent
    }

    /// The host learned that peers are gone; `fate` says what to answer for an address, None = it lives.
    pub fn peer_gone(&mut self, host: &mut dyn Host, fate: &mut dyn FnMut(&Address) -> Option<Sent>) {
        self.now_ms = host.now_ms();
        let lost: Vec<(u64, Sent)> =
            self.flights.iter().filter_map(|(id, f)| fate(&f.dest).map(|sent| (id, sent))).collect();
        for (id, sent) in lost {
            let code = self.gone_status(id, sent);
            self.verdict(host, id, code);
        }
        self.read_jobs.retain(|j| fate(&j.peer).is_none());
        self.outbox.retain(|p| fate(&p.dest).is_none());
        self.partial_writes.retain(|(peer, _), _| fate(peer).is_none());
        for q in self.qps.values_mut() {
            q.rnr_waiters.retain(|peer| fate(peer).is_none());
        }
    }

    /// Peers have not moved for longer than is waited. They may wake up later and carry out what they find; its sender has stopped
    /// waiting for the answer.
    pub fn peer_silent(&mut self, host: &mut dyn Host, silent: &mut dyn FnMut(&Address) -> bool) {
        self.now_ms = host.now_ms();
        let lost: Vec<u64> = self.flights.iter().filter(|(_, f)| silent(&f.dest)).map(|(id, _)| id).collect();
        for id in lost {
            let code = self.gone_status(id, Sent::Dead);
            self.verdict(host, id, code);
        }
    }

    /// The device is pulled. Waiters wake by the event; from now on only destroying works.
    pub fn remove(&mut self, host: &mut dyn Host) {
        if self.removed {
            return;
        }
        self.removed = true;
        host.trace(&format!("{}: device removed", self.name));
        self.tell_all(host, AsyncEvent::DeviceFatal);
        for q in self.cqs.values() {
            if let Some(channel) = q.spec.channel {
                host.completion_event(channel, q.spec.user_handle);
            }
        }
    }

    fn device_fault(&mut self, host: &mut dyn Host, fault: DeviceFault) {
        if let Some(up) = fault.port
            && up != self.port_up
        {
            self.port_up = up;
            host.trace(&format!("{}: port {}", self.name, if up { "up" } else { "down" }));
            self.tell_all(
                host,
                if up { AsyncEvent::PortActive { port: 1 } } else { AsyncEvent::PortError { port: 1 } },
            );
        }
        if fault.remove {
            self.remove(host);
        }
    }

    fn tell_all(&mut self, host: &mut dyn Host, event: AsyncEvent) {
        for ctx in &self.contexts {
            host.async_event(*ctx, event);
        }
    }
}

fn numbers_of<'a, V: 'a>(all: impl Iterator<Item = (u32, &'a V)>, wanted: impl Fn(&V) -> bool) -> Vec<u32> {
    all.filter(|(_, v)| wanted(v)).map(|(n, _)| n).collect()
}
