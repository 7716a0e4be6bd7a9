// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peers: the destination of a request on a connectionless queue pair.

use std::ffi::c_void;
use std::ptr::NonNull;

use super::ah::{Address, Ah};
use super::cm_event::vbn_cm_event;
use super::cold::{Cold, cold_structs};
use super::context::Context;
use super::endpoint::vbn_endpoint;
use super::endpoint_info::{vbn_endpoint_info, vbn_endpoint_info_attr};
use super::endpoint_pair;
use super::error::{Error, Reason, Result};
use super::handle::vbn_ah;
use super::pd::Pd;
use super::qp::Qp;
use super::qp_attr::vbn_path;
use super::slab::{Kind, Object, Ref, Slab, Slot};
use crate::sys::ibv::{ibv_ah, ibv_pd};

/// What `vbn_peer_create` is told.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_peer_attr {
    /// sizeof(vbn_peer_attr).
    pub struct_size: usize,
    /// Comes back in queries.
    pub user_data: u64,
    /// The way to the peer's port. Required for vbn_peer_create; otherwise NULL. Kept alive.
    pub ah: *mut vbn_ah,
    /// Number of the peer's queue pair, 24 bits. For vbn_peer_create.
    pub qp_num: u32,
    /// The QKEY that the peer's queue pair expects. For vbn_peer_create.
    pub qkey: u32,
    /// RoCE and InfiniBand, for the functions that make the way from a record: everything but dgid. Zero: the port that
    /// `port_num` names (0: 1) with the GID that vbn_gid_select picks. EFA looks at none of it.
    pub path: vbn_path,
}

/// What `vbn_peer_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_peer_info {
    /// sizeof(vbn_peer_info), set by the caller.
    pub struct_size: usize,
    /// As given at creation.
    pub user_data: u64,
    /// Number of the peer's queue pair.
    pub qp_num: u32,
    /// Its QKEY.
    pub qkey: u32,
}
cold_structs!(vbn_peer_attr, vbn_peer_info);

/// What posting reads of a peer.
#[repr(C)]
pub struct Target {
    pub ah: NonNull<ibv_ah>,
    pub qp_num: u32,
    pub qkey: u32,
    /// Queue pairs of this PD only may send there.
    pub pd: *mut ibv_pd,
}

/// A peer. What posting needs comes first.
#[repr(C)]
pub struct Peer {
    target: Target,
    way: Way,
    user_data: u64,
}

/// Whose the address handle is.
enum Way {
    /// The peer's own, or a share of EFA's cache.
    Own(Address),
    /// That of a `vbn_ah`.
    Of(Ref<Ah>),
}

// SAFETY: the native pointers are handed to the provider and compared.
unsafe impl Send for Peer {}
// SAFETY: as above; nothing changes after publication.
unsafe impl Sync for Peer {}

static SLAB: Slab<Peer> = Slab::new();

impl Object for Peer {
    const KIND: Kind = Kind::Peer;
    const LEAF: bool = true;

    fn slab() -> &'static Slab<Self> {
        &SLAB
    }

    fn context(&self) -> Option<&Context> {
        Some(self.pd().context())
    }

    /// There is no native peer.
    fn native_address(&self) -> *const c_void {
        std::ptr::null()
    }

    fn destroy(&self) -> Result<()> {
        match &self.way {
            Way::Own(address) => address.destroy(),
            Way::Of(_) => Ok(()),
        }
    }

    fn is_borrowed(&self) -> bool {
        true
    }
}

impl Peer {
    /// A peer behind an address handle.
    pub fn of_ah(pd: &Ref<Pd>, ah: Ref<Ah>, attr: &vbn_peer_attr) -> Result<&'static Slot<Peer>> {
        check_number(attr.qp_num)?;
        if !ah.address().pd().is(pd.slot()) {
            return Err(Error::argument(Reason::Unrelated("ah", "protection domain")));
        }
        if !attr.path.is_empty() {
            return Err(Error::argument(Reason::Text("path is set, but ah has the way")));
        }
        let vacant = SLAB.take()?;
        let way = match ah.address().share() {
            Some(address) => Way::Own(address),
            None => Way::Of(ah),
        };
        Ok(vacant.publish(Self::with(way, attr.qp_num, attr.qkey, attr.user_data)))
    }

    /// A peer with a way of its own.
    pub fn at(pd: Ref<Pd>, endpoint: &vbn_endpoint, attr: &vbn_peer_attr) -> Result<&'static Slot<Peer>> {
        check_number(endpoint.qp_num)?;
        if !attr.ah.is_null() || attr.qp_num != 0 || attr.qkey != 0 {
            return Err(Error::argument(Reason::Text("ah, qp_num or qkey is set, but the record has them")));
        }
        let vacant = SLAB.take()?;
        let mut path = attr.path;
        if path.dgid != [0; 16] {
            return Err(Error::argument(Reason::Text("path.dgid is set, but the record has the GID")));
        }
        path.dgid = endpoint.gid;
        complete(&pd, &mut path)?;
        let way = Way::Own(Address::create(pd, &mut path)?);
        Ok(vacant.publish(Self::with(way, endpoint.qp_num, endpoint.qkey, attr.user_data)))
    }

    /// The peer of a datagram connection, as the event of the connection manager tells.
    pub fn of_cm(pd: Ref<Pd>, event: &vbn_cm_event, attr: &vbn_peer_attr) -> Result<&'static Slot<Peer>> {
        if event.has_peer != 1 {
            return Err(Error::argument(Reason::Text("the event tells of no peer"))
                .hint("only VBN_CM_EVENT_ESTABLISHED of an id of VBN_CM_PS_UDP does"));
        }
        check_number(event.qp_num)?;
        if !attr.ah.is_null() || attr.qp_num != 0 || attr.qkey != 0 || !attr.path.is_empty() {
            return Err(Error::argument(Reason::Text("ah, qp_num, qkey or path is set, but the event has them")));
        }
        let vacant = SLAB.take()?;
        let way = Way::Own(Address::create(pd, &mut event.path.clone())?);
        Ok(vacant.publish(Self::with(way, event.qp_num, event.qkey, attr.user_data)))
    }

    /// A peer as its versioned record tells, if the two queue pairs can work together.
    pub fn of_info(qp: &Qp, remote: &vbn_endpoint_info, attr: &vbn_peer_attr) -> Result<&'static Slot<Peer>> {
        let local = vbn_endpoint_info::local(qp, &vbn_endpoint_info_attr::zeroed())?;
        endpoint_pair::check_pair(&local, remote)?;
        let (_, theirs) = endpoint_pair::pair_gids(&local, remote)?;
        let gid = remote.gids.get(theirs).map_or([0; 16], |entry| entry.gid);
        Self::at(qp.pd().clone(), &vbn_endpoint { gid, qp_num: remote.qp_num, qkey: remote.qkey }, attr)
    }

    fn with(way: Way, qp_num: u32, qkey: u32, user_data: u64) -> Self {
        let address = match &way {
            Way::Own(address) => address,
            Way::Of(ah) => ah.address(),
        };
        let target = Target { ah: address.native, qp_num, qkey, pd: address.pd().native() };
        Self { target, way, user_data }
    }

    fn pd(&self) -> &Ref<Pd> {
        match &self.way {
            Way::Own(address) => address.pd(),
            Way::Of(ah) => ah.address().pd(),
        }
    }

    /// What posting needs.
    #[inline(always)]
    pub fn target(&self) -> &Target {
        &self.target
    }

    pub fn info(&self) -> vbn_peer_info {
        vbn_peer_info {
            struct_size: size_of::<vbn_peer_info>(),
            user_data: self.user_data,
            qp_num: self.target.qp_num,
            qkey: self.target.qkey,
        }
    }
}

fn check_number(qp_num: u32) -> Result<()> {
    if qp_num > 0xff_ffff {
        return Err(Error::range("qp_num", qp_num.into(), "a 24-bit number"));
    }
    Ok(())
}

/// Fills in, on RoCE and InfiniBand, what a record doesn't tell of the way.
fn complete(pd: &Pd, path: &mut vbn_path) -> Result<()> {
    let context = pd.context();
    if context.efa().is_some() || path.is_global != 0 || path.dlid != 0 {
        return Ok(());
    }
    path.port_num = path.port_num.max(1);
    path.is_global = 1;
    if path.hop_limit == 0 {
        path.hop_limit = 64;
    }
    if path.sgid_index == 0 && context.port(path.port_num)?.link_layer == crate::sys::ibv::IBV_LINK_LAYER_ETHERNET {
        let index = super::gid::select_default(context, path.port_num)?;
        path.sgid_index = u8::try_from(index).map_err(|_| Error::limit("sgid_index", index.into(), 255))?;
    }
    Ok(())
}
