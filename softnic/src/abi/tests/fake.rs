// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fakes of memory, process and device. They keep the rules that the dispatcher relies on and record what it did.

use super::*;
use crate::model::host::Errno;
use crate::model::types::*;
use std::collections::BTreeMap;

const BASE: u64 = 0x10_0000;
pub const PEER: u64 = 0x7f00_0000_0000;

/// One mapped range; everything else faults.
pub struct Memory {
    bytes: Vec<u8>,
    /// Addresses from here on can't be written.
    pub readonly_from: u64,
}

impl Memory {
    pub fn new() -> Self {
        Memory { bytes: Vec::new(), readonly_from: u64::MAX }
    }

    pub fn alloc(&mut self, len: usize) -> u64 {
        let at = self.bytes.len().next_multiple_of(8);
        self.bytes.resize(at + len, 0);
        BASE + at as u64
    }

    pub fn put(&mut self, bytes: &[u8]) -> u64 {
        let addr = self.alloc(bytes.len());
        let at = (addr - BASE) as usize;
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        addr
    }

    pub fn get(&self, addr: u64, len: usize) -> Vec<u8> {
        let at = (addr - BASE) as usize;
        self.bytes[at..at + len].to_vec()
    }

    fn range(&self, addr: u64, len: usize) -> Option<std::ops::Range<usize>> {
        let at = usize::try_from(addr.checked_sub(BASE)?).ok()?;
        let end = at.checked_add(len)?;
        (end <= self.bytes.len()).then_some(at..end)
    }
}

impl UserMemory for Memory {
    fn read(&mut self, addr: u64, out: &mut [u8]) -> bool {
        self.range(addr, out.len()).map(|range| out.copy_from_slice(&self.bytes[range])).is_some()
    }

    fn write(&mut self, addr: u64, data: &[u8]) -> bool {
        match self.range(addr, data.len()) {
            Some(range) if addr < self.readonly_from => {
                self.bytes[range].copy_from_slice(data);
                true
            }
            _ => false,
        }
    }

    fn pin(&mut self, addr: u64, length: u64, writable: bool) -> bool {
        let mapped = self.range(addr, length as usize).is_some();
        mapped && !(writable && addr + length > self.readonly_from)
    }
}

#[derive(Default)]
pub struct FakeEnv {
    next_fd: i32,
    pub channels: Vec<i32>,
    pub asyncs: Vec<i32>,
    /// Events that the user has read, by (channel, user handle) and by user handle.
    pub read_events: BTreeMap<(u64, u64), u32>,
    pub read_async: BTreeMap<u64, u32>,
    pub forgotten: Vec<EventSource>,
    /// Live mappings: address to length.
    pub mapped: BTreeMap<u64, u64>,
    /// Whether there is a peer-memory module, and a peer with memory from PEER on.
    pub peer: bool,
    pub discarded: Vec<i32>,
}

impl FakeEnv {
    fn fd(&mut self) -> i32 {
        self.next_fd += 1;
        100 + self.next_fd
    }
}

impl Env for FakeEnv {
    fn channel_open(&mut self) -> Result<(i32, u64), Errno> {
        let fd = self.fd();
        self.channels.push(fd);
        Ok((fd, fd as u64 * 10))
    }
    fn channel_of(&mut self, fd: i32) -> Option<u64> {
        self.channels.contains(&fd).then_some(fd as u64 * 10)
    }
    fn channel_forget(&mut self, channel: u64, cq_user_handle: u64) -> u32 {
        self.read_events.remove(&(channel, cq_user_handle)).unwrap_or_default()
    }
    fn async_open(&mut self) -> Result<i32, Errno> {
        let fd = self.fd();
        self.asyncs.push(fd);
        Ok(fd)
    }
    fn is_async(&mut self, fd: i32) -> bool {
        self.asyncs.contains(&fd)
    }
    fn discard_fd(&mut self, fd: i32) {
        self.channels.retain(|open| *open != fd);
        self.asyncs.retain(|open| *open != fd);
        self.discarded.push(fd);
    }
    fn async_forget(&mut self, source: EventSource) -> u32 {
        self.forgotten.push(source);
        let (EventSource::Cq { user_handle } | EventSource::Qp { user_handle }) = source;
        self.read_async.remove(&user_handle).unwrap_or_default()
    }
    fn dmabuf_map(&mut self, fd: i32, offset: u64, length: u64, _writable: bool) -> Result<u64, Errno> {
        if fd != 7 {
            return Err(EBADF);
        }
        if offset + length > 0x10_0000 {
            return Err(EINVAL);
        }
        let addr = 0x7000_0000 + 0x100_0000 * self.fd() as u64 + offset;
        self.mapped.insert(addr, length);
        Ok(addr)
    }
    fn dmabuf_unmap(&mut self, addr: u64, length: u64) {
        assert_eq!(self.mapped.remove(&addr), Some(length), "unmapped something else");
    }
    fn peer_map(&mut self, start: u64, length: u64, _writable: bool) -> Option<u64> {
        if !self.peer || start < PEER || start.checked_add(length)? > PEER + 0x10_0000 {
            return None;
        }
        let addr = 0x6000_0000 + start - PEER;
        self.mapped.insert(addr, length);
        Some(addr)
    }
}

#[derive(Default)]
pub struct FakeNic {
    next: u32,
    /// Live objects of all kinds: handle to the handles that it uses.
    pub live: BTreeMap<u32, Vec<u32>>,
    pub cqs: BTreeMap<u32, CqSpec>,
    pub qps: BTreeMap<u32, QpQuery>,
    pub mrs: Vec<MrSpec>,
    pub modified: Vec<(u32, QpAttr)>,
    pub commands: Vec<&'static str>,
    /// The next call fails with this.
    pub fail: Option<Errno>,
    /// CQs whose provider has no doorbell.
    pub without_doorbell: u32,
}

impl FakeNic {
    fn create(&mut self, uses: &[u32]) -> Result<u32, Errno> {
        if let Some(errno) = self.fail.take() {
            return Err(errno);
        }
        for used in uses {
            assert!(self.live.contains_key(used), "the device was given the dead handle {used}");
        }
        self.next += 1;
        // Far from the session's handles, so that a mix-up shows.
        let handle = 0x5000 + self.next;
        self.live.insert(handle, uses.to_vec());
        Ok(handle)
    }

    fn destroy(&mut self, handle: u32) -> Result<(), Errno> {
        if let Some(errno) = self.fail.take() {
            return Err(errno);
        }
        if self.live.values().any(|uses| uses.contains(&handle)) {
            return Err(EBUSY);
        }
        self.live.remove(&handle).map(|_| ()).ok_or(ENOENT)
    }
}

impl Nic for FakeNic {
    fn command(&mut self, name: &'static str) -> Result<(), Errno> {
        self.commands.push(name);
        self.fail.take().map_or(Ok(()), Err)
    }
    fn device(&mut self) -> DeviceResp {
        DeviceResp { vendor_id: 0x1d0f, max_qp: 1024, phys_port_cnt: 1, ..DeviceResp::default() }
    }
    fn port(&mut self) -> PortResp {
        PortResp { max_msg_sz: 8928, gid_tbl_len: 1, state: 4, active_mtu: 5, ..PortResp::default() }
    }
    fn gid(&mut self) -> [u8; 16] {
        *b"0123456789abcdef"
    }
    fn profile(&mut self) -> &'static crate::profile::Profile {
        crate::kind::find("efa", "p5").unwrap()
    }
    fn pd_alloc(&mut self) -> Result<PdInfo, Errno> {
        let handle = self.create(&[])?;
        Ok(PdInfo { handle, number: handle as u16 })
    }
    fn pd_free(&mut self, pd: u32) -> Result<(), Errno> {
        self.destroy(pd)
    }
    fn mr_reg(&mut self, spec: &MrSpec) -> Result<MrInfo, Errno> {
        let handle = self.create(&[spec.pd])?;
        self.mrs.push(*spec);
        Ok(MrInfo { handle, lkey: handle + 1, rkey: handle + 2, spec: *spec })
    }
    fn mr_dereg(&mut self, mr: u32) -> Result<(), Errno> {
        self.destroy(mr)
    }
    fn mr_query(&mut self, mr: u32) -> Result<MrInfo, Errno> {
        self.live.get(&mr).ok_or(ENOENT)?;
        Ok(MrInfo { handle: mr, lkey: mr + 1, rkey: mr + 2, spec: *self.mrs.last().unwrap() })
    }
    fn ah_create(&mut self, spec: &AhSpec) -> Result<AhInfo, Errno> {
        let handle = self.create(&[spec.pd])?;
        Ok(AhInfo { handle, number: handle as u16 })
    }
    fn ah_destroy(&mut self, ah: u32) -> Result<(), Errno> {
        self.destroy(ah)
    }
    fn cq_create(&mut self, spec: &CqSpec) -> Result<CqInfo, Errno> {
        let handle = self.create(&[])?;
        self.cqs.insert(handle, *spec);
        Ok(CqInfo {
            handle,
            number: 77,
            cqe: spec.cqe,
            ring_offset: 0x4000,
            ring_bytes: 0x2000,
            doorbell_offset: 0x9000,
            doorbell_bytes: 0x1000,
        })
    }
    fn cq_without_doorbell(&mut self, _: u32) -> Result<(), Errno> {
        self.without_doorbell += 1;
        Ok(())
    }
    fn cq_arm(&mut self, _: u32) -> Result<(), Errno> {
        Err(EOPNOTSUPP)
    }
    fn cq_destroy(&mut self, cq: u32) -> Result<(), Errno> {
        self.destroy(cq)
    }
    fn qp_create(&mut self, spec: &QpSpec) -> Result<QpInfo, Errno> {
        let handle = self.create(&[spec.pd, spec.send_cq, spec.recv_cq])?;
        self.qps.insert(handle, QpQuery { attr: QpAttr::default(), spec: *spec });
        Ok(QpInfo {
            handle,
            qpn: 0x1001,
            caps: spec.caps,
            sq_offset: 0x1_0000,
            sq_bytes: 0x1000,
            rq_offset: 0x2_0000,
            rq_bytes: 0x3000,
            doorbell_page: 0x3_0000,
            doorbell_bytes: 0x1000,
            sq_doorbell: 0x3_0000,
            rq_doorbell: 0x3_0040,
        })
    }
    fn qp_destroy(&mut self, qp: u32) -> Result<(), Errno> {
        self.destroy(qp)
    }
    fn qp_rung(&mut self, _: u32) -> Result<(), Errno> {
        Err(EOPNOTSUPP)
    }
    fn qp_modify(&mut self, qp: u32, mask: u32, attr: &QpAttr) -> Result<(), Errno> {
        if let Some(errno) = self.fail.take() {
            return Err(errno);
        }
        self.qps.get_mut(&qp).ok_or(ENOENT)?.attr = *attr;
        self.modified.push((mask, *attr));
        Ok(())
    }
    fn qp_query(&mut self, qp: u32) -> Result<QpQuery, Errno> {
        self.qps.get(&qp).copied().ok_or(ENOENT)
    }
}
