// SPDX-License-Identifier: MIT OR Apache-2.0
//! Address handles: where connectionless queue pairs send to.

use std::ffi::c_void;
use std::ptr::NonNull;

use super::adopt::{self, Ownership, vbn_adopt_attr};
use super::ah_cache::{self, Key};
use super::cold::cold_structs;
use super::context::Context;
use super::error::{Error, Reason, Result};
use super::pd::Pd;
use super::qp_attr::vbn_path;
use super::slab::{Kind, Object, Ref, Slab, Slot};
use super::status::{VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED, VBN_ERR_SYMBOL_MISSING};
use super::wc::{VBN_WC_GRH, VBN_WC_RECV, VBN_WC_SUCCESS, vbn_wc};
use crate::sys::ibv::{IBV_LINK_LAYER_ETHERNET, Zeroed, ibv_ah, ibv_ah_attr, ibv_gid, ibv_grh, ibv_wc};

/// What `vbn_ah_create` is told.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_ah_attr {
    /// sizeof(vbn_ah_attr).
    pub struct_size: usize,
    /// Comes back in queries.
    pub user_data: u64,
    /// The way. port_num 0: 1. EFA looks at dgid alone, and the rest may be 0.
    pub path: vbn_path,
}

/// What `vbn_ah_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_ah_info {
    /// sizeof(vbn_ah_info), set by the caller.
    pub struct_size: usize,
    /// As given at creation.
    pub user_data: u64,
    /// As given at creation, port_num filled in; all zero for an adopted one.
    pub path: vbn_path,
    /// The kernel's number of the address handle.
    pub handle: u32,
    /// 1 on EFA: one `ibv_ah` is shared by all of the same PD and GID.
    pub is_shared: u8,
    /// 0.
    pub reserved0: [u8; 3],
}
cold_structs!(vbn_ah_attr, vbn_ah_info);

/// An `ibv_ah` made here, shared or not.
pub struct Address {
    pub native: NonNull<ibv_ah>,
    pd: Ref<Pd>,
    /// Set if it is one of the cache's.
    key: Option<Key>,
}

// SAFETY: libibverbs' control calls are thread-safe, and posting takes the handle from any thread.
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

impl Address {
    /// Makes one, or takes the one that EFA's cache has. `path` gets the defaults filled in.
    pub fn create(pd: Ref<Pd>, path: &mut vbn_path) -> Result<Self> {
        let context = pd.context().clone();
        path.port_num = path.port_num.max(1);
        if context.efa().is_some() {
            path.is_global = 1;
        }
        if path.is_global == 1 && path.dgid == [0; 16] {
            return Err(Error::argument(Reason::Text("dgid is all zero"))
                .hint("give the peer's GID, which is in its record (vbn_endpoint_local)"));
        }
        context.check_port(path.port_num.into())?;
        let mut attr = path.to_native()?;
        if context.efa().is_some() {
            attr.grh.dgid = ibv_gid { raw: path.dgid };
            let key = Key::new(&pd, path.dgid);
            let native = ah_cache::get(&pd, key, &mut attr).map_err(explain_efa)?;
            return Ok(Self { native, pd, key: Some(key) });
        }
        let context = pd.context();
        // SAFETY: the PD is live and the attributes are ours.
        let native =
            context.made("ibv_create_ah", || unsafe { (context.verbs().create_ah)(pd.native(), &mut attr) })?;
        Ok(Self { native, pd, key: None })
    }

    /// One more user of a shared one; `None` if it is not shared.
    pub fn share(&self) -> Option<Self> {
        let key = self.key?;
        ah_cache::share(key);
        Some(Self { native: self.native, pd: self.pd.clone(), key: Some(key) })
    }

    pub fn pd(&self) -> &Ref<Pd> {
        &self.pd
    }

    /// Destroys it; a shared one loses a user.
    pub fn destroy(&self) -> Result<()> {
        if let Some(key) = self.key {
            ah_cache::put(key);
            return Ok(());
        }
        let context = self.pd.context();
        // SAFETY: it is ours and its last user goes.
        context.ret("ibv_destroy_ah", || unsafe { (context.verbs().destroy_ah)(self.native.as_ptr()) })
    }
}

/// Bytes of a global route header.
/// cbindgen:ignore
pub const GRH: usize = 40;
const _: () = assert!(size_of::<ibv_grh>() == GRH && size_of::<ibv_wc>() == size_of::<vbn_wc>());

/// Whether a completion is one of a datagram that tells where it came from.
fn check_received(context: &Context, wc: &vbn_wc, has_grh: bool, port_num: u8) -> Result<()> {
    if wc.status != VBN_WC_SUCCESS || wc.opcode & VBN_WC_RECV == 0 {
        return Err(Error::text(VBN_ERR_ARGUMENT, "the completion is not that of a message that came in")
            .value(i64::from(wc.status) as u64, i64::from(wc.opcode) as u64)
            .hint("value is its status, limit its opcode"));
    }
    if wc.wc_flags & VBN_WC_GRH != 0 {
        return if has_grh {
            Ok(())
        } else {
            Err(Error::argument(Reason::Null("grh"))
                .hint("the completion has VBN_WC_GRH: pass the first 40 bytes of the receive buffer"))
        };
    }
    if context.efa().is_some() {
        return Err(Error::text(VBN_ERR_NOT_SUPPORTED, "EFA's completions don't tell where a datagram came from")
            .on(context.name())
            .hint("send one's own GID in the message (vbn_endpoint_local)"));
    }
    if context.port(port_num)?.link_layer == IBV_LINK_LAYER_ETHERNET {
        return Err(Error::text(
            VBN_ERR_ARGUMENT,
            "the completion has no VBN_WC_GRH, and on RoCE the GRH has the address",
        )
        .on(context.name())
        .hint("pass the completion of a UD receive as it was polled"));
    }
    Ok(())
}

/// What a refusal means on an EFA.
fn explain_efa(error: Error) -> Error {
    match error.errno {
        libc::EINVAL => error.hint(
            "the device knows no way to this GID: it must be an EFA's in the same subnet (or availability zone), and come from its \
             own record",
        ),
        libc::ENOMEM => error.hint("the device has no room for more address handles, and all are in use: close peers"),
        _ => error,
    }
}

/// An address handle.
pub struct Ah {
    address: Address,
    ownership: Ownership,
    user_data: u64,
    path: vbn_path,
}

static SLAB: Slab<Ah> = Slab::new();

impl Object for Ah {
    const KIND: Kind = Kind::Ah;
    /// Peers made of it keep it.
    const LEAF: bool = false;

    fn slab() -> &'static Slab<Self> {
        &SLAB
    }

    fn context(&self) -> Option<&Context> {
        Some(self.device())
    }

    fn native_address(&self) -> *const c_void {
        self.native().cast_const().cast()
    }

    fn destroy(&self) -> Result<()> {
        self.ownership.destroy(self.native(), || self.address.destroy())
    }

    fn ownership(&self) -> Ownership {
        self.ownership
    }

    fn is_borrowed(&self) -> bool {
        // A shared one has many handles, none of which destroys it.
        self.ownership.is_borrowed() || self.address.key.is_some()
    }
}

impl Ah {
    pub fn create(pd: Ref<Pd>, attr: &vbn_ah_attr) -> Result<&'static Slot<Ah>> {
        let vacant = SLAB.take()?;
        let mut path = attr.path;
        let address = Address::create(pd, &mut path)?;
        Ok(vacant.publish(Ah { address, ownership: Ownership::Own, user_data: attr.user_data, path }))
    }

    /// The way back to the sender of a datagram.
    pub fn from_wc(pd: Ref<Pd>, wc: &vbn_wc, grh: Option<[u8; GRH]>, port_num: u32) -> Result<&'static Slot<Ah>> {
        let context = pd.context().clone();
        let port_num = context.check_port(port_num)?;
        check_received(&context, wc, grh.is_some(), port_num)?;
        let init = context
            .verbs()
            .init_ah_from_wc
            .ok_or(Error::new(VBN_ERR_SYMBOL_MISSING, Reason::Symbol("ibv_init_ah_from_wc", "12")))?;
        // SAFETY: both are 48 bytes of numbers, with the same fields in the same places.
        let mut native_wc = unsafe { std::mem::transmute::<vbn_wc, ibv_wc>(*wc) };
        // SAFETY: a GRH is 40 bytes of numbers.
        let mut native_grh = unsafe { std::mem::transmute::<[u8; GRH], ibv_grh>(grh.unwrap_or([0; GRH])) };
        let mut attr = ibv_ah_attr::zeroed();
        context
            .minus1("ibv_init_ah_from_wc", || {
                // SAFETY: the context is open and the three structs are ours.
                unsafe { init(context.native(), port_num, &mut native_wc, &mut native_grh, &mut attr) }
            })
            .map_err(|error| {
                if error.errno == libc::EPROTONOSUPPORT {
                    let text = "grh begins neither with a header of IPv6 or InfiniBand nor has one of IPv4 at its end";
                    let why = Error::argument(Reason::CallBecause("ibv_init_ah_from_wc", text)).on(context.name());
                    return Error { errno: error.errno, ..why }.hint("pass the first 40 bytes of the receive buffer");
                }
                error.hint(
                    "the GRH names no address of this port: was the datagram a multicast, or the address removed? Then make the way \
                     from the sender's GID (vbn_ah_create)",
                )
            })?;
        let path = vbn_path::from_native(&attr);
        Self::create(pd, &vbn_ah_attr { struct_size: size_of::<vbn_ah_attr>(), user_data: 0, path })
    }

    /// Takes in an address handle made by raw verbs in the same PD.
    pub fn adopt(pd: Ref<Pd>, native: *mut ibv_ah, attr: &vbn_adopt_attr) -> Result<&'static Slot<Ah>> {
        let (native, ownership) = adopt::check::<Ah, _>(native, attr, 0)?;
        // SAFETY: the caller says that this is a live ibv_ah.
        if unsafe { native.as_ref() }.pd != pd.native() {
            return Err(Error::argument(Reason::Unrelated("the ibv_ah", "ibv_pd")));
        }
        let vacant = SLAB.take()?;
        let address = Address { native, pd, key: None };
        Ok(vacant.publish(Ah {
            address,
            ownership,
            user_data: attr.user_data,
            path: vbn_path::from_native(&ibv_ah_attr::zeroed()),
        }))
    }

    pub fn address(&self) -> &Address {
        &self.address
    }

    pub fn native(&self) -> *mut ibv_ah {
        self.address.native.as_ptr()
    }

    /// One that others share can't be.
    pub fn may_be_given_away(&self) -> Result<()> {
        match self.address.key {
            None => Ok(()),
            Some(_) => {
                Err(Error::text(VBN_ERR_NOT_SUPPORTED, "the ibv_ah is shared by all handles of this PD and GID")
                    .on(self.device().name())
                    .hint("use vbn_ah_native, or make one of your own with ibv_create_ah"))
            }
        }
    }

    pub fn device(&self) -> &Ref<Context> {
        self.address.pd.context()
    }

    pub fn info(&self) -> vbn_ah_info {
        vbn_ah_info {
            struct_size: size_of::<vbn_ah_info>(),
            user_data: self.user_data,
            path: self.path,
            // SAFETY: it lives as long as this object.
            handle: unsafe { self.address.native.as_ref() }.handle,
            is_shared: self.address.key.is_some().into(),
            reserved0: [0; 3],
        }
    }
}
