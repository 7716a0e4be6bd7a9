// SPDX-License-Identifier: MIT OR Apache-2.0
//! The process as its devices see it: memory, packets to others, events, trace.

use crate::channel::Channels;
use crate::shared::Shared;
use crate::{memory, pump, sys};
use nic::fabric::{self, Fabric, Place};
use nic::model::host::{Address, AsyncEvent, ContextId, Gid, Host, Sent};
use nic::model::packet::{Kind, Packet};
use nic::model::window::Window;
use nic::run::address;
use std::cell::RefCell;
use std::collections::VecDeque;

pub struct World {
    pub host: u16,
    pub slot: u8,
    pub fabric: Option<Fabric>,
    /// How many devices the run has.
    pub devices: usize,
    /// The memory of each open context: device, number, place in the table of contexts.
    pub maps: Vec<(usize, ContextId, u16, Shared)>,
    /// Packets between devices of this process, delivered after the step that made them.
    pub outbox: VecDeque<Packet<'static>>,
    pub trace: Option<crate::trace::Trace>,
    /// The time of the running call or pass.
    pub now_ms: u64,
}

impl World {
    pub fn new(host: u16, slot: u8, fabric: Fabric, devices: usize) -> World {
        World {
            host,
            slot,
            fabric: Some(fabric),
            devices,
            maps: Vec::new(),
            outbox: VecDeque::new(),
            trace: None,
            now_ms: sys::now_ms(),
        }
    }

    /// The device of this process that a GID names.
    pub fn local_device(&self, gid: Gid) -> Option<usize> {
        let (host, device) = address::place(gid)?;
        (host == self.host && usize::from(device) < self.devices).then_some(usize::from(device))
    }

    fn slot_of(qpn: u32) -> Option<u8> {
        u8::try_from(qpn >> 12).ok().filter(|slot| usize::from(*slot) < fabric::SLOTS)
    }

    /// What a dead process means for requests to `to`.
    pub fn verdict(gone: Place, to: &Address) -> Option<Sent> {
        let (host, _) = address::place(to.gid)?;
        (host == gone.host && World::slot_of(to.qpn) == Some(gone.slot)).then_some(Sent::Dead)
    }

    fn map(&mut self, device: usize, ctx: ContextId) -> Option<&mut Shared> {
        self.maps.iter_mut().find(|(d, c, ..)| *d == device && *c == ctx).map(|(.., map)| map)
    }

    fn send_away(&mut self, device: usize, packet: &Packet<'_>, place: Place) -> Sent {
        let Some(fabric) = &mut self.fabric else { return Sent::Unreachable };
        let length = packet.encoded_len();
        let fill = |room: &mut [u8]| packet.encode(room, &mut memory::read).is_ok();
        let sent = match packet.kind {
            Kind::Send { .. } => fabric.send_for_receipt(place, (device as u8, packet.request), length, fill),
            _ => fabric.send_with(place, length, fill),
        };
        if sent == fabric::Sent::Ok { Sent::Ok } else { World::not_sent(sent, place, length) }
    }

    #[cold]
    fn not_sent(why: fabric::Sent, place: Place, length: usize) -> Sent {
        match why {
            fabric::Sent::Ok => Sent::Ok,
            fabric::Sent::Refused => Sent::Fault,
            fabric::Sent::Failed(libc::EMSGSIZE) => {
                sys::say_once(1, format_args!("a packet of {length} bytes is too long for the fabric"));
                Sent::Unreachable
            }
            fabric::Sent::Full => Sent::Full,
            fabric::Sent::NoSuchHost => Sent::Unreachable,
            fabric::Sent::NoSuchProcess => Sent::NoQp,
            fabric::Sent::Dead => Sent::Dead,
            fabric::Sent::Failed(errno) => {
                let why = std::io::Error::from_raw_os_error(errno);
                sys::say_once(2, format_args!("fabric: sending to host {} slot {}: {why}", place.host, place.slot));
                Sent::Unreachable
            }
        }
    }
}

/// The world as one device sees it.
pub struct HostOf<'a> {
    pub world: &'a mut World,
    pub channels: &'a RefCell<Channels>,
    pub device: usize,
}

impl Host for HostOf<'_> {
    fn read(&mut self, addr: u64, out: &mut [u8]) -> bool {
        memory::read(addr, out)
    }

    fn write(&mut self, addr: u64, data: &[u8]) -> bool {
        memory::write(addr, data)
    }

    fn copy(&mut self, from: u64, to: u64, len: usize) -> bool {
        memory::copy(from, to, len)
    }

    fn shm_alloc(&mut self, ctx: ContextId, bytes: u64) -> Option<u64> {
        self.world.map(self.device, ctx)?.alloc(bytes)
    }

    fn shm_free(&mut self, ctx: ContextId, offset: u64, bytes: u64) {
        if let Some(map) = self.world.map(self.device, ctx) {
            map.free(offset, bytes);
        }
    }

    fn shm(&self, ctx: ContextId) -> Window<'_> {
        let map = self.world.maps.iter().find(|(d, c, ..)| *d == self.device && *c == ctx);
        map.map_or(Window::default(), |(.., map)| map.window())
    }

    fn is_local(&mut self, dest: &Address) -> bool {
        self.world.local_device(dest.gid).is_some() && World::slot_of(dest.qpn) == Some(self.world.slot)
    }

    fn send(&mut self, packet: &Packet<'_>) -> Sent {
        let Some((host, device)) = address::place(packet.dest.gid) else { return Sent::Unreachable };
        let Some(slot) = World::slot_of(packet.dest.qpn) else { return Sent::NoQp };
        let here = host == self.world.host;
        if here && usize::from(device) >= self.world.devices {
            return Sent::Unreachable;
        }
        if !here || slot != self.world.slot {
            return self.world.send_away(self.device, packet, Place { host, slot });
        }
        self.world.outbox.push_back(packet.clone().into_owned());
        Sent::Ok
    }

    fn completion_event(&mut self, channel: u64, cq_user_handle: u64) {
        self.channels.borrow_mut().completion_event(channel, cq_user_handle);
    }

    fn async_event(&mut self, ctx: ContextId, event: AsyncEvent) {
        let found = self.world.maps.iter().find(|(d, c, ..)| *d == self.device && *c == ctx);
        let Some(context) = found.map(|(_, _, context, _)| *context) else { return };
        let (element, kind) = event.record();
        let mut channels = self.channels.borrow_mut();
        channels.async_event(context, element, kind);
        if event == AsyncEvent::DeviceFatal {
            channels.hang_up(context);
        }
    }

    fn now_ms(&mut self) -> u64 {
        self.world.now_ms
    }

    fn program_passes(&mut self) -> u32 {
        pump::passes()
    }

    fn tracing(&self) -> bool {
        self.world.trace.is_some()
    }

    fn trace(&mut self, line: &str) {
        if let Some(trace) = &mut self.world.trace {
            trace.line(self.device, line);
        }
    }
}
