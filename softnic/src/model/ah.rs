// SPDX-License-Identifier: MIT OR Apache-2.0
//! Address handles. The device keeps one number per PD and GID, however many handles name it.

use super::host::{ContextId, Errno, Gid, Host};
use super::table::Table;
use super::types::errno::{EINVAL, ENOENT, ENOMEM};
use super::types::{AhInfo, AhSpec};
use super::{Device, numbers};
use std::collections::BTreeMap;

#[derive(Debug)]
struct Ah {
    ctx: ContextId,
    number: u16,
}

#[derive(Debug)]
struct Shared {
    ctx: ContextId,
    pd: u32,
    gid: Gid,
    handles: u32,
}

#[derive(Debug, Default)]
pub(super) struct Ahs {
    handles: BTreeMap<u32, Ah>,
    numbers: Table<u16, Shared>,
    by_gid: Table<(u32, Gid), u16>,
    last_handle: u32,
    last_number: u32,
}

impl Ahs {
    /// Where requests of a QP in `pd` go with address handle `number`.
    pub fn dest(&self, number: u16, pd: u32) -> Option<Gid> {
        self.numbers.get(&number).filter(|s| s.pd == pd).map(|s| s.gid)
    }

    /// Did somebody make an address handle for this peer in this PD? RDMA is refused to strangers.
    pub fn knows(&self, pd: u32, gid: &Gid) -> bool {
        self.by_gid.contains_key(&(pd, *gid))
    }

    /// The number that a receive completion shows for a sender: one of the same PD, else of the same context.
    pub fn number_for(&self, ctx: ContextId, pd: u32, gid: &Gid) -> Option<u16> {
        let same_pd = self.by_gid.get(&(pd, *gid)).copied();
        same_pd.or_else(|| self.numbers.iter().find(|(_, s)| s.ctx == ctx && s.gid == *gid).map(|(n, _)| n))
    }

    pub fn handles_of(&self, ctx: ContextId) -> Vec<u32> {
        self.handles.iter().filter(|(_, a)| a.ctx == ctx).map(|(h, _)| *h).collect()
    }
}

impl Device {
    pub fn ah_create(&mut self, _host: &mut dyn Host, ctx: ContextId, spec: &AhSpec) -> Result<AhInfo, Errno> {
        self.run("create_ah", |d| {
            d.pd(ctx, spec.pd)?;
            if !spec.is_global || spec.port != 1 || spec.dgid == Gid::default() {
                return Err(EINVAL);
            }
            let max = d.profile.max_ah.value as usize;
            let handle = numbers::next(&mut d.ahs.last_handle, 1..=u32::MAX - 1, |n| d.ahs.handles.contains_key(&n))
                .ok_or(ENOMEM)?;
            let number = match d.ahs.by_gid.get(&(spec.pd, spec.dgid)) {
                Some(number) => *number,
                None if d.ahs.numbers.len() >= max => return Err(ENOMEM),
                None => {
                    let taken = |n: u32| d.ahs.numbers.contains_key(&(n as u16));
                    let number = numbers::next(&mut d.ahs.last_number, 1..=0xfffe, taken).ok_or(ENOMEM)? as u16;
                    d.ahs.by_gid.insert((spec.pd, spec.dgid), number);
                    d.ahs.numbers.insert(number, Shared { ctx, pd: spec.pd, gid: spec.dgid, handles: 0 });
                    number
                }
            };
            if let Some(shared) = d.ahs.numbers.get_mut(&number) {
                shared.handles += 1;
            }
            d.ahs.handles.insert(handle, Ah { ctx, number });
            d.pd_users(spec.pd, true);
            Ok(AhInfo { handle, number })
        })
    }

    /// Aborts every request in flight to the same peer in the same PD, whoever's handle it was posted with: so does the device.
    pub fn ah_destroy(&mut self, host: &mut dyn Host, ctx: ContextId, ah: u32) -> Result<(), Errno> {
        self.run_destroy("destroy_ah", |d| {
            let number = d.ahs.handles.get(&ah).filter(|a| a.ctx == ctx).ok_or(ENOENT)?.number;
            d.ahs.handles.remove(&ah);
            let Some(shared) = d.ahs.numbers.get_mut(&number) else { return Ok(()) };
            shared.handles = shared.handles.saturating_sub(1);
            let (pd, gid, unused) = (shared.pd, shared.gid, shared.handles == 0);
            d.flush_ah(host, pd, number);
            if unused {
                d.ahs.numbers.remove(&number);
                d.ahs.by_gid.remove(&(pd, gid));
            }
            d.pd_users(pd, false);
            Ok(())
        })
    }
}
