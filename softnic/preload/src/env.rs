// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the uverbs ABI needs of the process: memory, channels, dma-buf mappings.

use crate::channel::{Channels, Class};
use crate::fdtab::{self, Tag};
use crate::gpu::{self, Regions};
use crate::{memory, sys};
use libc::c_int;
use nic::abi::{Env, EventSource, UserMemory};
use nic::model::host::Errno;
use std::cell::RefCell;

pub struct Memory;

impl UserMemory for Memory {
    fn read(&mut self, addr: u64, out: &mut [u8]) -> bool {
        memory::read(addr, out)
    }

    fn write(&mut self, addr: u64, data: &[u8]) -> bool {
        memory::write(addr, data)
    }

    fn pin(&mut self, addr: u64, length: u64, writable: bool) -> bool {
        memory::pin(addr, length, writable)
    }
}

pub struct EnvOf<'a> {
    pub channels: &'a RefCell<Channels>,
    pub context: u16,
    pub device: usize,
    pub regions: &'a RefCell<Regions>,
    /// Whether the device has a peer-memory module for memory of GPUs.
    pub peer_memory: bool,
}

const PAGE: u64 = 4096;

impl Env for EnvOf<'_> {
    fn channel_open(&mut self) -> Result<(i32, u64), Errno> {
        self.channels.borrow_mut().open(self.context, false)
    }

    fn channel_of(&mut self, fd: i32) -> Option<u64> {
        self.channels.borrow_mut().name_of(fd, self.context, false)
    }

    fn channel_forget(&mut self, channel: u64, cq_user_handle: u64) -> u32 {
        self.channels.borrow_mut().forget(channel, cq_user_handle)
    }

    fn async_open(&mut self) -> Result<i32, Errno> {
        self.channels.borrow_mut().open(self.context, true).map(|(fd, _)| fd)
    }

    fn is_async(&mut self, fd: i32) -> bool {
        self.channels.borrow_mut().name_of(fd, self.context, true).is_some()
    }

    fn discard_fd(&mut self, fd: i32) {
        if let Tag::Channel { channel } = fdtab::take(fd) {
            sys::close(fd);
            self.channels.borrow_mut().release(channel);
        }
    }

    fn async_forget(&mut self, source: EventSource) -> u32 {
        let (element, class) = match source {
            EventSource::Cq { user_handle } => (user_handle, Class::Cq),
            EventSource::Qp { user_handle } => (user_handle, Class::Qp),
        };
        self.channels.borrow_mut().forget_async(self.context, element, class)
    }

    fn dmabuf_map(&mut self, fd: i32, offset: u64, length: u64, writable: bool) -> Result<u64, Errno> {
        if let Some(result) = gpu::map_dmabuf(fd, offset, length, writable) {
            return result;
        }
        let size = file_size(fd)?;
        if length == 0 || offset.checked_add(length).is_none_or(|end| size.is_some_and(|size| end > size)) {
            return Err(libc::EINVAL);
        }
        let within = offset % PAGE;
        let protection = libc::PROT_READ | if writable { libc::PROT_WRITE } else { 0 };
        let (bytes, start) = ((length + within) as usize, (offset - within) as libc::off_t);
        // SAFETY: a fresh mapping, chosen by the kernel.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, libc::MAP_SHARED, fd, start) };
        if base != libc::MAP_FAILED {
            return Ok(base as u64 + within);
        }
        // ENODEV would say that the RDMA device is gone; to a kernel such a file is just no dma-buf.
        Err(Some(sys::errno()).filter(|e| *e != libc::ENODEV).unwrap_or(libc::EINVAL))
    }

    fn dmabuf_unmap(&mut self, addr: u64, length: u64) {
        self.regions.borrow_mut().forget(addr);
        gpu::unmap(addr, length);
    }

    fn peer_map(&mut self, start: u64, length: u64, writable: bool) -> Option<u64> {
        self.peer_memory.then(|| self.regions.borrow_mut().map(self.device, start, length, writable)).flatten()
    }
}

/// The size of what is mapped; None when the descriptor can't say. A dma-buf tells it by seeking to its end.
fn file_size(fd: c_int) -> Result<Option<u64>, Errno> {
    // SAFETY: an all-zero stat is a valid value.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the struct is live, the path a C string.
    if unsafe { crate::real::fstatat(fd, c"".as_ptr(), &mut stat, libc::AT_EMPTY_PATH) } != 0 {
        return Err(sys::errno());
    }
    if stat.st_size > 0 {
        return Ok(Some(stat.st_size as u64));
    }
    if stat.st_mode & libc::S_IFMT == libc::S_IFREG {
        return Ok(Some(0));
    }
    // SAFETY: numbers only.
    let end = unsafe { libc::lseek(fd, 0, libc::SEEK_END) };
    Ok(u64::try_from(end).ok().filter(|end| *end > 0))
}
