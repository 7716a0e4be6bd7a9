// SPDX-License-Identifier: MIT OR Apache-2.0
//! Protection domains and memory regions.

use super::host::{ContextId, Errno, Host, Segment};
use super::request::{Sge, status};
use super::table::Table;
use super::types::errno::{EBUSY, EINVAL, ENOENT, ENOMEM, EOPNOTSUPP};
use super::types::{MrInfo, MrSpec, PdInfo, access};
use super::{Device, PAGE, numbers};
use crate::profile::caps;

#[derive(Debug)]
pub(super) struct Pd {
    pub ctx: ContextId,
    /// Objects that hold it.
    pub users: u32,
}

#[derive(Debug)]
pub(super) struct Mr {
    pub ctx: ContextId,
    pub info: MrInfo,
    /// Its memory was freed by its owner, a GPU's driver: nobody has access any more.
    pub lost: bool,
}

/// The regions of a device, by key. A key is 16 bits of index and 8 bits of generation, so a stale key finds nothing.
#[derive(Debug, Default)]
pub(super) struct Mrs {
    pub by_key: Table<u32, Box<Mr>>,
    last_index: u32,
    generation: u32,
    pub pages: u64,
}

const INDEX_BITS: u32 = 16;

impl Mrs {
    fn new_key(&mut self) -> Option<u32> {
        for _ in 0..1 << (INDEX_BITS + 3) {
            self.last_index = (self.last_index + 1) & ((1 << INDEX_BITS) - 1);
            if self.last_index == 0 {
                self.generation = (self.generation + 1) & 0xff;
            }
            let key = self.generation << INDEX_BITS | self.last_index;
            if key != 0 && !self.by_key.contains_key(&key) {
                return Some(key);
            }
        }
        None
    }
}

impl Device {
    pub fn pd_alloc(&mut self, _host: &mut dyn Host, ctx: ContextId) -> Result<PdInfo, Errno> {
        self.run("alloc_pd", |d| {
            d.check_context(ctx)?;
            if d.pds.len() >= d.profile.max_pd.value as usize {
                return Err(ENOMEM);
            }
            let number = numbers::next(&mut d.last_pd, 1..=0xffff, |n| d.pds.contains_key(&n)).ok_or(ENOMEM)?;
            d.pds.insert(number, Pd { ctx, users: 0 });
            Ok(PdInfo { handle: number, number: number as u16 })
        })
    }

    pub fn pd_free(&mut self, _host: &mut dyn Host, ctx: ContextId, pd: u32) -> Result<(), Errno> {
        self.run_destroy("dealloc_pd", |d| {
            if d.pd(ctx, pd)?.users > 0 {
                return Err(EBUSY);
            }
            d.pds.remove(&pd);
            Ok(())
        })
    }

    pub(super) fn pd(&self, ctx: ContextId, pd: u32) -> Result<&Pd, Errno> {
        self.pds.get(&pd).filter(|p| p.ctx == ctx).ok_or(ENOENT)
    }

    /// One more (or fewer) object in a PD.
    pub(super) fn pd_users(&mut self, pd: u32, add: bool) {
        if let Some(p) = self.pds.get_mut(&pd) {
            p.users = if add { p.users.saturating_add(1) } else { p.users.saturating_sub(1) };
        }
    }

    pub fn mr_reg(&mut self, _host: &mut dyn Host, ctx: ContextId, spec: &MrSpec) -> Result<MrInfo, Errno> {
        self.run("reg_mr", |d| {
            d.pd(ctx, spec.pd)?;
            let mut allowed = access::LOCAL_WRITE | access::OPTIONAL;
            if d.profile.has(caps::RDMA_READ) {
                allowed |= access::REMOTE_READ;
            }
            if d.profile.has(caps::RDMA_WRITE) {
                allowed |= access::REMOTE_WRITE;
            }
            let remote_change = access::REMOTE_WRITE | access::REMOTE_ATOMIC;
            if spec.access & remote_change != 0 && spec.access & access::LOCAL_WRITE == 0 {
                return Err(EINVAL);
            }
            if spec.access & !allowed != 0 {
                return Err(EOPNOTSUPP);
            }
            let end = spec.start.checked_add(spec.length).ok_or(EINVAL)?;
            spec.iova.checked_add(spec.length).ok_or(EINVAL)?;
            if spec.length == 0 || !(spec.start ^ spec.iova).is_multiple_of(PAGE) {
                return Err(EINVAL);
            }
            let pages = pages(spec.start, end);
            if d.mrs.pages.saturating_add(pages) > d.profile.max_mr_pages.value
                || d.mrs.by_key.len() >= d.profile.max_mr.value as usize
            {
                return Err(ENOMEM);
            }
            let key = d.mrs.new_key().ok_or(ENOMEM)?;
            let info = MrInfo { handle: key, lkey: key, rkey: key, spec: *spec };
            d.mrs.pages += pages;
            d.mrs.by_key.insert(key, Box::new(Mr { ctx, info, lost: false }));
            d.pd_users(spec.pd, true);
            Ok(info)
        })
    }

    pub fn mr_query(&self, ctx: ContextId, mr: u32) -> Result<MrInfo, Errno> {
        self.mrs.by_key.get(&mr).filter(|m| m.ctx == ctx).map(|m| m.info).ok_or(ENOENT)
    }

    /// Requests that still use the region fail from now on (5 here, 7 at peers), as on the device: in use or not is nobody's question.
    pub fn mr_dereg(&mut self, _host: &mut dyn Host, ctx: ContextId, mr: u32) -> Result<MrInfo, Errno> {
        self.run_destroy("dereg_mr", |d| {
            let info = d.mr_query(ctx, mr)?;
            d.mrs.by_key.remove(&mr);
            d.mrs.pages =
                d.mrs.pages.saturating_sub(pages(info.spec.start, info.spec.start.saturating_add(info.spec.length)));
            d.pd_users(info.spec.pd, false);
            Ok(info)
        })
    }

    /// The memory from `start` was freed behind the program's back. Requests that use its regions fail as if these were deregistered;
    /// that is still to be done, and will succeed. Tells their keys.
    pub fn mr_lost(&mut self, start: u64) -> Vec<u32> {
        let lost = self.mrs.by_key.iter_mut().filter(|(_, mr)| mr.info.spec.start == start);
        lost.map(|(key, mr)| {
            mr.lost = true;
            key
        })
        .collect()
    }

    /// Where a key's range lies in memory. None: no such key, another PD, out of range, or without `need`ed access.
    pub(super) fn translate(&self, key: u32, pd: u32, addr: u64, len: u32, need: u32) -> Option<Segment> {
        let spec = &self.mrs.by_key.get(&key).filter(|mr| !mr.lost)?.info.spec;
        let offset = addr.checked_sub(spec.iova)?;
        let inside = offset.checked_add(u64::from(len))? <= spec.length;
        (spec.pd == pd && inside && spec.access & need == need).then(|| Segment { addr: spec.start + offset, len })
    }

    /// Local pieces to memory; `out` is as long as `sges`. An empty piece needs no key. Mostly there is one.
    #[inline(always)]
    pub(super) fn translate_all(&self, pd: u32, sges: &[Sge], need: u32, out: &mut [Segment]) -> Result<(), u8> {
        match (sges, out) {
            ([sge], [out]) => self.translate_sge(pd, sge, need, out),
            (sges, out) => self.translate_several(pd, sges, need, out),
        }
    }

    #[inline(never)]
    fn translate_several(&self, pd: u32, sges: &[Sge], need: u32, out: &mut [Segment]) -> Result<(), u8> {
        sges.iter().zip(out).try_for_each(|(sge, out)| self.translate_sge(pd, sge, need, out))
    }

    #[inline(never)]
    fn translate_sge(&self, pd: u32, sge: &Sge, need: u32, out: &mut Segment) -> Result<(), u8> {
        *out = if sge.len == 0 {
            Segment { addr: 0, len: 0 }
        } else {
            self.translate(sge.lkey, pd, sge.addr, sge.len, need).ok_or(status::INVALID_LKEY)?
        };
        Ok(())
    }
}

fn pages(start: u64, end: u64) -> u64 {
    end.div_ceil(PAGE).saturating_sub(start / PAGE)
}
