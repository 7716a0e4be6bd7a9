// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completion channels and asynchronous event files: real descriptors, so read, poll, epoll and O_NONBLOCK need no help. The
//! program holds one end of a SOCK_SEQPACKET pair; softnic sends on the other and keeps a copy of the program's end to take back
//! what was not read.

use crate::fdtab::{self, Tag};
use crate::sys;
use libc::c_int;
use nic::model::host::Errno;
use std::collections::{HashMap, VecDeque};

/// One event as the program reads it: 8 bytes of a completion, 16 of an asynchronous one.
type Record = ([u8; 16], usize);

/// Element and counter that a record belongs to.
fn key_of((bytes, length): &Record) -> (u64, Class) {
    let [a, b, c, d, e, f, g, h, k0, k1, k2, k3, ..] = *bytes;
    let kind = u32::from_ne_bytes([k0, k1, k2, k3]);
    let class = if *length == 8 { Class::Completion } else { Class::of_async(kind) };
    (u64::from_ne_bytes([a, b, c, d, e, f, g, h]), class)
}

pub struct Channel {
    pub context: u16,
    pub is_async: bool,
    /// Descriptors of the program that lead here.
    references: u32,
    near: c_int,
    far: c_int,
    /// Not sent yet: the socket was full.
    waiting: VecDeque<Record>,
    /// How many events of each object went out; for asynchronous ones the key's lower half is the kind of object.
    sent: HashMap<(u64, Class), u32>,
    generation: u64,
}

/// Which counter of libibverbs an event belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    Completion,
    Cq,
    Qp,
    Port,
}

impl Class {
    fn of_async(kind: u32) -> Class {
        match kind {
            0 => Class::Cq,
            1..=7 | 16 => Class::Qp,
            _ => Class::Port,
        }
    }
}

#[derive(Default)]
pub struct Channels {
    slots: Vec<Option<Channel>>,
    generation: u64,
}

impl Channels {
    pub const fn new() -> Channels {
        Channels { slots: Vec::new(), generation: 0 }
    }

    /// The program's descriptor and the channel's name for the device, which no later channel has.
    pub fn open(&mut self, context: u16, is_async: bool) -> Result<(c_int, u64), Errno> {
        let index = match self.slots.iter().position(Option::is_none) {
            Some(free) => free,
            None if self.slots.len() < usize::from(u16::MAX) => {
                self.slots.push(None);
                self.slots.len() - 1
            }
            None => return Err(libc::EMFILE),
        };
        let (near, app, far) = pair().inspect_err(|errno| {
            sys::say_once(
                9,
                format_args!(
                    "a completion channel or file of events takes three descriptors: {}; raise their limit (ulimit -n)",
                    sys::why(*errno)
                ),
            );
        })?;
        if !fdtab::set(app, Tag::Channel { channel: index as u16 }) {
            [near, app, far].into_iter().for_each(sys::close_quietly);
            return Err(libc::EMFILE);
        }
        fdtab::set(near, Tag::Internal);
        fdtab::set(far, Tag::Internal);
        if !is_async {
            crate::pump::EVENTS.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        self.generation += 1;
        let generation = self.generation;
        let channel = Channel {
            context,
            is_async,
            references: 1,
            near,
            far,
            waiting: VecDeque::new(),
            sent: HashMap::new(),
            generation,
        };
        if let Some(slot) = self.slots.get_mut(index) {
            *slot = Some(channel);
        }
        Ok((app, generation << 16 | index as u64))
    }

    pub fn by_index(&mut self, index: u16) -> Option<&mut Channel> {
        self.slots.get_mut(usize::from(index))?.as_mut()
    }

    fn by_name(&mut self, name: u64) -> Option<&mut Channel> {
        self.by_index(name as u16).filter(|c| c.generation == name >> 16)
    }

    /// The name of the channel behind a descriptor of this context.
    pub fn name_of(&mut self, fd: c_int, context: u16, is_async: bool) -> Option<u64> {
        let Tag::Channel { channel: index } = fdtab::get(fd) else { return None };
        let channel = self.by_index(index)?;
        let right = channel.context == context && channel.is_async == is_async;
        right.then_some(channel.generation << 16 | u64::from(index))
    }

    pub fn share(&mut self, index: u16) -> bool {
        self.by_index(index).map(|c| c.references += 1).is_some()
    }

    /// One descriptor of the program less; with the last one the channel goes.
    pub fn release(&mut self, index: u16) {
        let Some(channel) = self.by_index(index) else { return };
        channel.references = channel.references.saturating_sub(1);
        if channel.references > 0 {
            return;
        }
        for fd in [channel.near, channel.far] {
            fdtab::set(fd, Tag::None);
            sys::close(fd);
        }
        if let Some(slot) = self.slots.get_mut(usize::from(index)) {
            *slot = None;
        }
    }

    pub fn completion_event(&mut self, name: u64, user_handle: u64) {
        if let Some(channel) = self.by_name(name) {
            channel.post((record(user_handle, 0), 8));
        }
    }

    /// To the context's first asynchronous event file. Nobody listening: nothing to tell.
    pub fn async_event(&mut self, context: u16, element: u64, kind: u32) {
        let is_it = |c: &&mut Channel| c.is_async && c.context == context;
        if let Some(channel) = self.slots.iter_mut().flatten().find(is_it) {
            channel.post((record(element, kind), 16));
        }
    }

    /// The object is gone: takes its unread events back and says how many the program did read.
    pub fn forget(&mut self, name: u64, element: u64) -> u32 {
        self.by_name(name).map_or(0, |c| c.forget(element, Class::Completion))
    }

    pub fn forget_async(&mut self, context: u16, element: u64, class: Class) -> u32 {
        let is_it = |c: &&mut Channel| c.is_async && c.context == context;
        self.slots.iter_mut().flatten().filter(is_it).map(|c| c.forget(element, class)).sum()
    }

    /// The device was pulled: readers of the context's channels must wake, now and later.
    pub fn hang_up(&mut self, context: u16) {
        for channel in self.slots.iter_mut().flatten().filter(|c| c.context == context) {
            // SAFETY: numbers only. What was sent before stays readable, then comes end of file, of which `read` makes EIO.
            unsafe { libc::shutdown(channel.near, libc::SHUT_WR) };
        }
    }

    /// Sends what did not fit before. True: something still waits.
    pub fn flush(&mut self) -> bool {
        let mut waits = false;
        for channel in self.slots.iter_mut().flatten().filter(|channel| !channel.waiting.is_empty()) {
            channel.flush();
            waits |= !channel.waiting.is_empty();
        }
        waits
    }
}

impl Channel {
    fn post(&mut self, record: Record) {
        *self.sent.entry(key_of(&record)).or_insert(0) += 1;
        self.waiting.push_back(record);
        self.flush();
    }

    fn flush(&mut self) {
        while let Some(record) = self.waiting.front() {
            let (bytes, length) = record;
            // SAFETY: `length` is 8 or 16 and `bytes` has 16.
            let n = unsafe {
                libc::send(self.near, bytes.as_ptr().cast(), *length, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
            };
            if n < 0 && matches!(sys::errno(), libc::EAGAIN | libc::ENOBUFS | libc::EINTR) {
                return;
            }
            // After a hang-up nobody will read it, so nobody must wait for its acknowledgement.
            if let Some(sent) = self.sent.get_mut(&key_of(record)).filter(|_| n < 0) {
                *sent = sent.saturating_sub(1);
            }
            self.waiting.pop_front();
        }
    }

    fn forget(&mut self, element: u64, class: Class) -> u32 {
        let Some(sent) = self.sent.remove(&(element, class)) else { return 0 };
        let mut unread: VecDeque<Record> = VecDeque::new();
        let mut bytes = [0u8; 16];
        loop {
            // SAFETY: the buffer has 16 bytes.
            let n = unsafe { libc::recv(self.far, bytes.as_mut_ptr().cast(), 16, libc::MSG_DONTWAIT) };
            match usize::try_from(n) {
                Ok(n) if n > 0 => unread.push_back((bytes, n)),
                _ => break,
            }
        }
        unread.append(&mut self.waiting);
        let before = unread.len();
        unread.retain(|record| key_of(record) != (element, class));
        let dropped = (before - unread.len()) as u32;
        self.waiting = unread;
        self.flush();
        sent.saturating_sub(dropped)
    }
}

fn record(element: u64, kind: u32) -> [u8; 16] {
    let mut bytes = [0u8; 16];
    bytes.iter_mut().zip(element.to_ne_bytes()).for_each(|(to, from)| *to = from);
    bytes.iter_mut().skip(8).zip(kind.to_ne_bytes()).for_each(|(to, from)| *to = from);
    bytes
}

/// Our end, the program's end, and our copy of the program's end.
fn pair() -> Result<(c_int, c_int, c_int), Errno> {
    let mut fds = [-1 as c_int; 2];
    // SAFETY: two numbers are written.
    if unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, fds.as_mut_ptr()) } != 0 {
        return Err(sys::errno());
    }
    let [near, app] = fds;
    let far = sys::copy_high(app).inspect_err(|_| [near, app].into_iter().for_each(sys::close_quietly))?;
    // The pair was made before: the program should get the lower number, as from a kernel.
    Ok((sys::move_high(near), app, far))
}
