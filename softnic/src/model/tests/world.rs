// SPDX-License-Identifier: MIT OR Apache-2.0
//! A world for tests: processes with memory, devices wired together, and the provider's side of the rings.

use crate::fault::Faults;
use crate::model::host::{Address, AsyncEvent, ContextId, Gid, Host, Sent};
use crate::model::packet::Packet;
use crate::model::types::{NEVER, Progress};
use crate::model::window::Window;
use crate::model::{Device, DeviceConfig, PAGE};
use crate::profile::Profile;
use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::AtomicU64;

pub const BASE: u64 = 0x10_0000;
pub const MEMORY: usize = 1 << 20;

/// One process.
#[derive(Default)]
pub struct Proc {
    pub mem: Vec<u8>,
    /// Ranges that were unmapped.
    pub holes: Vec<(u64, u64)>,
    pub memfds: BTreeMap<ContextId, Vec<AtomicU64>>,
    pub freed: BTreeMap<ContextId, u64>,
    pub outgoing: VecDeque<Packet<'static>>,
    pub local_gids: Vec<Gid>,
    pub all_gids: Vec<Gid>,
    pub dead: Vec<Address>,
    /// Devices to which there is no room.
    pub jammed: Vec<Gid>,
    /// `send` says Full when so many packets wait.
    pub room: usize,
    pub comp_events: Vec<(u64, u64)>,
    pub async_events: Vec<AsyncEvent>,
    pub now: u64,
    pub passes: u32,
    pub lines: Vec<String>,
    /// Without a trace, for which each receive queue is looked at.
    pub untraced: bool,
    /// How often the shared memory was looked at.
    pub looks: Cell<u32>,
}

impl Proc {
    fn range(&self, addr: u64, len: usize) -> Option<std::ops::Range<usize>> {
        let start = addr.checked_sub(BASE)? as usize;
        let hole = self.holes.iter().any(|(a, l)| addr < a + l && *a < addr + len as u64);
        (!hole && start + len <= self.mem.len()).then_some(start..start + len)
    }
}

impl Host for Proc {
    fn read(&mut self, addr: u64, out: &mut [u8]) -> bool {
        self.range(addr, out.len()).map(|r| out.copy_from_slice(&self.mem[r])).is_some()
    }
    fn write(&mut self, addr: u64, data: &[u8]) -> bool {
        self.range(addr, data.len()).map(|r| self.mem[r].copy_from_slice(data)).is_some()
    }
    fn copy(&mut self, from: u64, to: u64, len: usize) -> bool {
        let (Some(from), Some(to)) = (self.range(from, len), self.range(to, len)) else { return false };
        self.mem.copy_within(from, to.start);
        true
    }
    fn shm_alloc(&mut self, ctx: ContextId, bytes: u64) -> Option<u64> {
        assert!(bytes > 0 && bytes.is_multiple_of(PAGE));
        let words = self.memfds.entry(ctx).or_default();
        let at = words.len();
        words.resize_with(at + bytes as usize / 8, AtomicU64::default);
        Some(at as u64 * 8)
    }
    fn shm_free(&mut self, ctx: ContextId, _: u64, bytes: u64) {
        *self.freed.entry(ctx).or_default() += bytes;
    }
    fn shm(&self, ctx: ContextId) -> Window<'_> {
        self.looks.set(self.looks.get() + 1);
        self.memfds.get(&ctx).map_or(Window::default(), |words| Window::new(words))
    }
    fn is_local(&mut self, dest: &Address) -> bool {
        self.local_gids.contains(&dest.gid)
    }
    fn send(&mut self, packet: &Packet<'_>) -> Sent {
        if !self.all_gids.contains(&packet.dest.gid) {
            return Sent::Unreachable;
        }
        if self.dead.contains(&packet.dest) {
            return Sent::Dead;
        }
        if self.outgoing.len() >= self.room || self.jammed.contains(&packet.dest.gid) {
            return Sent::Full;
        }
        if self.is_local(&packet.dest) {
            self.outgoing.push_back(packet.clone().into_owned());
            return Sent::Ok;
        }
        let mut bytes = vec![0; packet.encoded_len()];
        assert!(bytes.len() <= crate::model::packet::MAX_ENCODED);
        let this = &*self;
        let read = &mut |addr, out: &mut [u8]| {
            this.range(addr, out.len()).map(|r| out.copy_from_slice(&this.mem[r])).is_some()
        };
        match packet.encode(&mut bytes, read) {
            Ok(()) => self.outgoing.push_back(Packet::decode(&bytes).unwrap().into_owned()),
            Err(_) => return Sent::Fault,
        }
        Sent::Ok
    }
    fn completion_event(&mut self, channel: u64, cq_user_handle: u64) {
        self.comp_events.push((channel, cq_user_handle));
    }
    fn async_event(&mut self, _: ContextId, event: AsyncEvent) {
        self.async_events.push(event);
    }
    fn now_ms(&mut self) -> u64 {
        self.now
    }
    fn program_passes(&mut self) -> u32 {
        self.passes
    }
    fn tracing(&self) -> bool {
        !self.untraced
    }
    fn trace(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }
}

/// Devices, each with the index of its process.
pub struct World {
    pub procs: Vec<Proc>,
    pub devices: Vec<(Device, usize)>,
    /// What each device was like when it came to rest in `run`.
    rest: Vec<Option<Rest>>,
    /// What it was like before the last look of `run`.
    seen: Vec<Option<Rest>>,
}

/// While this stays so, and before the time, a step does nothing: what `Device::doorbells` promises.
#[derive(PartialEq, Debug)]
struct Rest {
    /// What each says, and whose send doorbell it is.
    doorbells: Vec<(u32, Option<u32>)>,
    commands: u64,
    until_ms: u64,
}

#[derive(Clone)]
pub struct Setup {
    pub profile: &'static str,
    pub seed: u64,
    pub faults: &'static str,
    /// The process of each device.
    pub procs: &'static [usize],
}

impl Default for Setup {
    fn default() -> Self {
        Setup { profile: "p5en", seed: 0, faults: "", procs: &[0] }
    }
}

pub fn gid(n: usize) -> Gid {
    let mut g = [0; 16];
    (g[0], g[1], g[15]) = (0xfe, 0x80, n as u8 + 1);
    Gid(g)
}

pub fn profile(name: &str) -> &'static Profile {
    crate::kind::find("efa", name).unwrap()
}

impl World {
    pub fn new(s: &Setup) -> World {
        let count = s.procs.iter().max().unwrap() + 1;
        let all_gids: Vec<Gid> = (0..s.procs.len()).map(gid).collect();
        let procs = (0..count)
            .map(|p| Proc {
                mem: vec![0; MEMORY],
                room: 8,
                local_gids: (0..s.procs.len()).filter(|d| s.procs[*d] == p).map(gid).collect(),
                all_gids: all_gids.clone(),
                ..Proc::default()
            })
            .collect();
        let device = |n: usize| {
            Device::new(DeviceConfig {
                name: format!("efa_{n}"),
                profile: profile(s.profile),
                gid: gid(n),
                slot: s.procs[n] as u8,
                seed: s.seed,
                faults: Faults::parse(s.faults, n as u32, s.seed).unwrap(),
            })
        };
        World {
            procs,
            devices: s.procs.iter().enumerate().map(|(n, p)| (device(n), *p)).collect(),
            rest: s.procs.iter().map(|_| None).collect(),
            seen: s.procs.iter().map(|_| None).collect(),
        }
    }

    /// A device and its process.
    pub fn at(&mut self, device: usize) -> (&mut Device, &mut Proc) {
        let (d, p) = &mut self.devices[device];
        (d, &mut self.procs[*p])
    }

    /// Steps and delivers until nothing moves.
    pub fn run(&mut self) {
        for _ in 0..100_000 {
            let mut busy = false;
            for (((d, p), rest), seen) in self.devices.iter_mut().zip(&mut self.rest).zip(&mut self.seen) {
                let p = &mut self.procs[*p];
                let now = at_rest(d, p, 0);
                let promised = rest.take().is_some_and(|r| p.now < r.until_ms && now == Rest { until_ms: 0, ..r });
                let events = p.comp_events.len();
                let progress = look(d, p, seen);
                let did = progress.busy || p.comp_events.len() > events;
                assert!(!(promised && did), "a step that was not to be: {now:?}");
                busy |= progress.busy;
                if !progress.more && !progress.restless {
                    *rest = Some(Rest { until_ms: progress.wake_at_ms, ..now });
                }
            }
            for from in 0..self.procs.len() {
                while let Some(packet) = self.procs[from].outgoing.pop_front() {
                    busy = true;
                    self.deliver(&packet);
                }
            }
            if !busy {
                return;
            }
        }
        panic!("never comes to rest");
    }

    fn deliver(&mut self, packet: &Packet<'_>) {
        let found = self.devices.iter_mut().position(|(d, _)| d.gid() == packet.dest.gid).unwrap();
        let (d, p) = &mut self.devices[found];
        let p = &mut self.procs[*p];
        let now = at_rest(d, p, 0);
        let rested = self.rest[found].take().is_some_and(|r| p.now < r.until_ms && now == Rest { until_ms: 0, ..r });
        d.receive(p, packet);
        if rested && d.is_calm(false) {
            stays_calm(d, p);
        }
    }

    /// Forgets what was promised: the test has called a device by itself.
    pub fn disturbed(&mut self) {
        self.rest.fill_with(|| None);
    }

    /// Lets time pass.
    pub fn wait(&mut self, ms: u64) {
        for _ in 0..ms {
            for p in &mut self.procs {
                p.now += 1;
            }
            self.run();
        }
    }
}

/// As a program's passes look: at the doorbells that have changed, and at all after a command.
fn look(d: &mut Device, p: &mut Proc, seen: &mut Option<Rest>) -> Progress {
    let now = at_rest(d, p, 0);
    let before = seen.replace(now);
    let now = seen.as_ref().unwrap();
    let Some(before) = before.filter(|before| before.commands == now.commands) else { return d.step(p) };
    let changed = now.doorbells.iter().zip(&before.doorbells).filter(|(now, before)| now != before);
    changed.filter_map(|((_, qpn), _)| *qpn).for_each(|qpn| d.rung(qpn));
    d.work(p)
}

/// A step of a device that says that it is calm does nothing.
fn stays_calm(d: &mut Device, p: &mut Proc) {
    let seen = |d: &Device, p: &Proc| {
        (p.lines.len(), p.outgoing.len(), p.comp_events.len(), p.async_events.len(), format!("{:?}", d.counters()))
    };
    let before = seen(d, p);
    let progress = d.step(p);
    assert_eq!(seen(d, p), before);
    let left = (progress.more, progress.restless, progress.held, progress.armed, progress.wake_at_ms);
    assert_eq!(left, (false, false, 0, false, NEVER));
}

fn at_rest(d: &Device, p: &mut Proc, until_ms: u64) -> Rest {
    let mut doorbells = Vec::new();
    d.doorbells(true, &mut |ctx, offset, qpn| doorbells.push((p.shm(ctx).load32(offset), qpn)));
    Rest { doorbells, commands: d.counters().submitted_cmds, until_ms }
}
