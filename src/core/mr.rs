// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory regions: registration, the addresses and keys of a region, and cutting ranges of it into segments.

use std::ffi::c_void;
use std::fmt::Write;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use super::adopt::{self, Ownership, VBN_ADOPT_SET_IOVA, vbn_adopt_attr};
use super::cold::cold_structs;
use super::context::Context;
use super::dm::Dm;
use super::error::{Error, Reason, Result};
use super::gpu::{VBN_GPU_KIND_ANY, VBN_GPU_KIND_ROCM};
use super::lock::Lock;
use super::pd::Pd;
use super::post::vbn_sge;
use super::slab::{Kind, Object, Ref, Slab, Slot};
use super::status::*;
use super::topology::Root;
use crate::sys::ibv::{IBV_ODP_SUPPORT, ibv_mr, ibv_pd};
use crate::sys::{convert, os};

/// The device may write to the region for this process: receives, and the results of READ and of atomics.
pub const VBN_ACCESS_LOCAL_WRITE: u64 = 1;
/// Peers may write. Needs VBN_ACCESS_LOCAL_WRITE.
pub const VBN_ACCESS_REMOTE_WRITE: u64 = 1 << 1;
/// Peers may read.
pub const VBN_ACCESS_REMOTE_READ: u64 = 1 << 2;
/// Peers may do atomics. Needs VBN_ACCESS_LOCAL_WRITE.
pub const VBN_ACCESS_REMOTE_ATOMIC: u64 = 1 << 3;
/// Memory windows may be bound to the region.
pub const VBN_ACCESS_MW_BIND: u64 = 1 << 4;
/// Addresses in the region count from 0. Drivers ignore this flag for ordinary memory or refuse it, so libverbena also
/// registers such a region at iova 0; VBN_MR_SET_IOVA with iova 0, without the flag, does the same on every device.
pub const VBN_ACCESS_ZERO_BASED: u64 = 1 << 5;
/// Pages are not pinned but fetched when the device touches them. With `addr` NULL and `length` UINT64_MAX the region
/// is the whole address space of the process.
pub const VBN_ACCESS_ON_DEMAND: u64 = 1 << 6;
/// The memory consists of huge pages, for VBN_ACCESS_ON_DEMAND.
pub const VBN_ACCESS_HUGETLB: u64 = 1 << 7;
/// Peers may flush to global visibility.
pub const VBN_ACCESS_FLUSH_GLOBAL: u64 = 1 << 8;
/// Peers may flush to persistence.
pub const VBN_ACCESS_FLUSH_PERSISTENT: u64 = 1 << 9;
/// Writes may reach memory in any order. A device or kernel that doesn't know this flag ignores it.
pub const VBN_ACCESS_RELAXED_ORDERING: u64 = 1 << 20;

/// All of VBN_ACCESS_*.
/// cbindgen:ignore
pub const ACCESS_KNOWN: u64 = 0x3ff | VBN_ACCESS_RELAXED_ORDERING;

/// `vbn_mr_attr.set`: `iova` counts.
pub const VBN_MR_SET_IOVA: u64 = 1;

/// Memory of this process, given by address.
pub const VBN_MR_HOST: i32 = 0;
/// A dma-buf, given by file descriptor.
pub const VBN_MR_DMABUF: i32 = 1;
/// Registered by raw verbs and taken in.
pub const VBN_MR_ADOPTED: i32 = 2;
/// No memory: of vbn_mr_alloc_null.
pub const VBN_MR_NULL: i32 = 3;
/// Another process's: of vbn_mr_import.
pub const VBN_MR_IMPORTED: i32 = 4;
/// The device's own: of vbn_mr_reg_dm.
pub const VBN_MR_DM: i32 = 5;
/// A GPU's, given by address, which a peer-memory module resolves: of vbn_gpu_mr_reg.
pub const VBN_MR_PEER: i32 = 6;

/// Largest segment that `vbn_mr_segments` makes unless told: 1 GiB. InfiniBand's messages end at 2 GiB, EFA's at 1 GiB,
/// and mlx5 keeps the highest bit of a segment's length for itself.
pub const VBN_MR_SEGMENT_DEFAULT: u32 = 1 << 30;

/// What `vbn_mr_reg` may be told. All-zero is the default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_mr_attr {
    /// sizeof(vbn_mr_attr).
    pub struct_size: usize,
    /// Which of the optional fields count: VBN_MR_SET_*.
    pub set: u64,
    /// With VBN_MR_SET_IOVA: the address at which the region begins for requests, one's own and the peers'. It must
    /// equal `addr` modulo the page size. Default: `addr`. Not for vbn_mr_reg_dmabuf, which has a parameter for it.
    pub iova: u64,
    /// Whatever keeps the memory alive. Not looked at; vbn_mr_query returns it until a close has succeeded.
    pub owner: *mut c_void,
    /// Comes back in queries.
    pub user_data: u64,
}

/// What `vbn_mr_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_mr_info {
    /// sizeof(vbn_mr_info), set by the caller.
    pub struct_size: usize,
    /// As given at registration.
    pub user_data: u64,
    /// As given at registration; NULL for an adopted region.
    pub owner: *mut c_void,
    /// Where this process sees the memory; NULL for a dma-buf and a GPU's. For an adopted region ibv_mr.addr.
    pub memory: *mut c_void,
    /// Where the region begins in a vbn_sge, beside `lkey`.
    pub addr: u64,
    /// Where the region begins for peers, beside `rkey`.
    pub remote_addr: u64,
    /// Bytes.
    pub length: u64,
    /// VBN_ACCESS_* as given at registration; 0 for an adopted region, whose access isn't known.
    pub access: u64,
    /// The key for one's own requests.
    pub lkey: u32,
    /// The key for peers.
    pub rkey: u32,
    /// The kernel's number of the region.
    pub handle: u32,
    /// VBN_MR_*: what memory it is.
    pub kind: i32,
    /// 1: vbn_mr_rereg failed in a way that leaves nothing known of the region. It can only be closed.
    pub lost: u8,
    /// 0.
    pub reserved0: [u8; 7],
}
cold_structs!(vbn_mr_attr, vbn_mr_info);

/// A range of memory that the device may use, and its keys.
pub struct Mr {
    native: NonNull<ibv_mr>,
    context: Ref<Context>,
    /// What it is in, kept alive. Held while it is registered anew.
    pub(super) pd: Lock<Ref<Pd>>,
    ownership: Ownership,
    pub(super) kind: i32,
    user_data: u64,
    pub(super) state: State,
    /// The device's memory behind it, kept alive.
    #[allow(dead_code, reason = "only its end counts")]
    pub(super) dm: Option<Ref<Dm>>,
}

/// What a re-registration changes. The keys and addresses are copies: reading them after a close touches no memory of the
/// driver's.
pub(super) struct State {
    pub native_pd: AtomicPtr<ibv_pd>,
    pub iova: AtomicU64,
    pub length: AtomicU64,
    pub lkey: AtomicU32,
    pub rkey: AtomicU32,
    pub access: AtomicU64,
    pub owner: AtomicPtr<c_void>,
    pub lost: AtomicBool,
}

// SAFETY: libibverbs' control calls are thread-safe, and `owner` is only handed back.
unsafe impl Send for Mr {}
// SAFETY: as above.
unsafe impl Sync for Mr {}

pub(super) static SLAB: Slab<Mr> = Slab::new();

impl Object for Mr {
    const KIND: Kind = Kind::Mr;
    const LEAF: bool = true;

    fn slab() -> &'static Slab<Self> {
        &SLAB
    }

    fn context(&self) -> Option<&Context> {
        Some(&self.context)
    }

    fn native_address(&self) -> *const c_void {
        self.native.as_ptr().cast()
    }

    fn destroy(&self) -> Result<()> {
        let context = &self.context;
        self.ownership.destroy(self.native.as_ptr(), || {
            if self.kind == VBN_MR_IMPORTED {
                if let Some(unimport) = context.verbs().unimport_mr {
                    // SAFETY: the region was imported, and its handle is being closed.
                    unsafe { unimport(self.native.as_ptr()) };
                }
                return Ok(());
            }
            // SAFETY: the region is ours, and its handle is being closed.
            context.ret("ibv_dereg_mr", || unsafe { (context.verbs().dereg_mr)(self.native.as_ptr()) }).map_err(
                |error| match error.errno {
                    // Soft-RoCE of Linux 6.1 says EINVAL, and nothing else can be invalid about a region that there is.
                    libc::EBUSY | libc::EINVAL => Error { status: VBN_ERR_BUSY, ..error }.hint(
                        "a memory window is still bound to the region; until it is taken back or closed the memory must stay",
                    ),
                    _ => error,
                },
            )
        })
    }

    fn ownership(&self) -> Ownership {
        self.ownership
    }
}

/// What registration is about, after the checks.
pub(super) struct Request {
    pub iova: u64,
    pub length: u64,
    pub access: u64,
    pub kind: i32,
    /// VBN_GPU_KIND_* of VBN_MR_PEER, else 0.
    pub gpu: i32,
    pub owner: *mut c_void,
    pub user_data: u64,
}

impl Mr {
    /// Registers memory of this process. `addr` is a number here: nothing is read from it or written to it.
    pub fn reg(pd: Ref<Pd>, addr: u64, length: u64, access: u64, attr: &vbn_mr_attr) -> Result<&'static Slot<Mr>> {
        if attr.set & !VBN_MR_SET_IOVA != 0 {
            return Err(Error::unknown_bits("set", attr.set, VBN_MR_SET_IOVA));
        }
        let iova = match (attr.set & VBN_MR_SET_IOVA != 0, access & VBN_ACCESS_ZERO_BASED != 0) {
            (true, _) => attr.iova,
            (false, true) => 0,
            (false, false) => addr,
        };
        if addr == 0 && access & VBN_ACCESS_ON_DEMAND == 0 {
            return Err(Error::argument(Reason::Null("addr")));
        }
        check_range("the room from addr to 2^64", addr, length)?;
        let request = Request::new(iova, length, access, VBN_MR_HOST, attr);
        request.check(&pd)?;
        check_congruent(addr, iova)?;
        Self::reg_addr(pd, addr, request)
    }

    /// Registers a GPU's memory by its address; `gpu` is its VBN_GPU_KIND_*. `attr` has no iova.
    pub fn reg_peer(
        pd: Ref<Pd>,
        gpu: i32,
        addr: u64,
        length: u64,
        access: u64,
        attr: &vbn_mr_attr,
    ) -> Result<&'static Slot<Mr>> {
        let request = Request { gpu, ..Request::new(addr, length, access, VBN_MR_PEER, attr) };
        request.check(&pd)?;
        Self::reg_addr(pd, addr, request)
    }

    /// What has been checked.
    fn reg_addr(pd: Ref<Pd>, addr: u64, request: Request) -> Result<&'static Slot<Mr>> {
        let (iova, length, access) = (request.iova, request.length, request.access);
        let vacant = SLAB.take()?;
        os::set_errno(0);
        // The C header's ibv_reg_mr() calls this one whenever the flags are not a compile-time constant: only it drops
        // the optional flags for kernels that would refuse them.
        // SAFETY: the PD is live; whether the memory is there is the kernel's to check.
        let native = unsafe {
            (pd.context().verbs().reg_mr_iova2)(pd.native(), addr as *mut c_void, length as usize, iova, access as u32)
        };
        let native = convert::pointer(native, os::errno())
            .map_err(|errno| reg_error("ibv_reg_mr_iova2", errno, &request, &pd))?;
        Ok(vacant.publish(request.finish(native, pd)))
    }

    /// Registers a part of a dma-buf. `fd` stays the caller's.
    pub fn reg_dmabuf(
        pd: Ref<Pd>,
        fd: i32,
        offset: u64,
        length: u64,
        iova: u64,
        access: u64,
        attr: &vbn_mr_attr,
    ) -> Result<&'static Slot<Mr>> {
        if attr.set != 0 {
            return Err(Error::unknown_bits("set", attr.set, 0).hint("iova is a parameter of vbn_mr_reg_dmabuf"));
        }
        let request = Request::new(iova, length, access, VBN_MR_DMABUF, attr);
        request.check(&pd)?;
        if fd < 0 {
            return Err(Error::range_signed("fd", fd.into(), "an open dma-buf"));
        }
        check_range("the room from offset to 2^64", offset, length)?;
        check_congruent(offset, iova)?;
        let Some(reg) = pd.context().verbs().reg_dmabuf_mr else {
            return Err(Error::new(VBN_ERR_SYMBOL_MISSING, Reason::Symbol("ibv_reg_dmabuf_mr", "34"))
                .hint("update rdma-core, or use vbn_mr_reg with a peer-memory module of the GPU's vendor"));
        };

        let vacant = SLAB.take()?;
        os::set_errno(0);
        // SAFETY: the PD is live; whether fd is a dma-buf is the kernel's to check.
        let native = unsafe { reg(pd.native(), offset, length as usize, iova, fd, access as i32) };
        let native = convert::pointer(native, os::errno())
            .map_err(|errno| reg_error("ibv_reg_dmabuf_mr", errno, &request, &pd))?;
        Ok(vacant.publish(request.finish(native, pd)))
    }

    /// Takes in a region that raw verbs registered in the same PD.
    pub fn adopt(pd: Ref<Pd>, native: *mut ibv_mr, attr: &vbn_adopt_attr) -> Result<&'static Slot<Mr>> {
        let (native, ownership) = adopt::check::<Mr, _>(native, attr, VBN_ADOPT_SET_IOVA)?;
        // SAFETY: the caller says that this is a live ibv_mr.
        let mr = unsafe { native.as_ref() };
        if mr.context != pd.context().native() {
            return Err(Error::argument(Reason::Unrelated("the ibv_mr", "ibv_context")));
        }
        if mr.pd != pd.native() {
            return Err(Error::argument(Reason::Unrelated("the ibv_mr", "ibv_pd")));
        }
        let iova = if attr.set & VBN_ADOPT_SET_IOVA != 0 { attr.iova } else { mr.addr as u64 };
        let length = mr.length as u64;
        check_range("the room from iova to 2^64", iova, length)?;
        let vacant = SLAB.take()?;
        let request = Request {
            iova,
            length,
            access: 0,
            kind: VBN_MR_ADOPTED,
            gpu: VBN_GPU_KIND_ANY,
            owner: ptr::null_mut(),
            user_data: attr.user_data,
        };
        Ok(vacant.publish(Mr { ownership, ..request.finish(native, pd) }))
    }

    /// The native PD that the region is in now.
    pub fn native_pd(&self) -> *mut ibv_pd {
        self.state.native_pd.load(Ordering::Relaxed)
    }

    /// Bytes.
    pub fn length(&self) -> u64 {
        self.state.length.load(Ordering::Relaxed)
    }

    /// VBN_ACCESS_* as given at registration; none for an adopted region.
    pub fn known_access(&self) -> Option<u64> {
        if matches!(self.kind, VBN_MR_ADOPTED | VBN_MR_IMPORTED) {
            None
        } else {
            Some(self.state.access.load(Ordering::Relaxed))
        }
    }

    /// The device that the region is on.
    pub fn device(&self) -> &Ref<Context> {
        &self.context
    }

    pub fn native(&self) -> *mut ibv_mr {
        self.native.as_ptr()
    }

    pub fn lkey(&self) -> u32 {
        self.state.lkey.load(Ordering::Relaxed)
    }

    pub fn rkey(&self) -> u32 {
        self.state.rkey.load(Ordering::Relaxed)
    }

    /// Where the region begins in requests: lkey and rkey share one address space.
    pub fn remote_addr(&self) -> u64 {
        self.state.iova.load(Ordering::Relaxed)
    }

    /// Whether it was registered in a way that doesn't need memory which the CPU can read where requests address it.
    pub fn is_unseen(&self) -> bool {
        matches!(self.kind, VBN_MR_DMABUF | VBN_MR_PEER)
    }

    pub fn info(&self) -> vbn_mr_info {
        // SAFETY: the region lives as long as this object.
        let native = unsafe { self.native.as_ref() };
        vbn_mr_info {
            struct_size: size_of::<vbn_mr_info>(),
            user_data: self.user_data,
            owner: self.state.owner.load(Ordering::Relaxed),
            // rdma-core puts the offset within the dma-buf there.
            memory: if self.is_unseen() { ptr::null_mut() } else { native.addr },
            addr: self.remote_addr(),
            remote_addr: self.remote_addr(),
            length: self.length(),
            access: self.state.access.load(Ordering::Relaxed),
            lkey: self.lkey(),
            rkey: self.rkey(),
            handle: native.handle,
            kind: self.kind,
            lost: self.state.lost.load(Ordering::Relaxed).into(),
            reserved0: [0; 7],
        }
    }

    /// Cuts a range of the region into segments. Returns how many were written and how many bytes they cover.
    pub fn segments(&self, offset: u64, length: u64, max_segment: u32, sges: &mut [vbn_sge]) -> Result<(u32, u64)> {
        check_part(self.length(), offset, length, sges.len())?;
        let most = if max_segment == 0 { VBN_MR_SEGMENT_DEFAULT } else { max_segment };
        // Both sums stay inside the region, whose end was checked at registration.
        Ok(cut(self.remote_addr().wrapping_add(offset), length, most, self.lkey(), sges))
    }
}

/// Whether a range lies inside of a region, and there is room for a segment at least.
pub(super) fn check_part(whole: u64, offset: u64, length: u64, capacity: usize) -> Result<()> {
    if length == 0 {
        return Err(Error::range("length", 0, "at least 1"));
    }
    if offset >= whole {
        return Err(Error::range("offset", offset, "inside the region").value(offset, whole));
    }
    if length > whole - offset {
        return Err(Error::argument(Reason::Exceeds("length"))
            .value(length, whole - offset)
            .hint("the limit is what the region has left behind offset"));
    }
    if capacity == 0 {
        return Err(Error::range("capacity", 0, "at least 1"));
    }
    Ok(())
}

/// Fills `sges` from the front with pieces of `most` bytes, the last one shorter.
fn cut(addr: u64, length: u64, most: u32, lkey: u32, sges: &mut [vbn_sge]) -> (u32, u64) {
    let mut count = 0;
    let mut covered = 0;
    for sge in sges {
        if covered == length {
            break;
        }
        let piece = (length - covered).min(u64::from(most));
        *sge = vbn_sge { addr: addr.wrapping_add(covered), length: piece as u32, lkey };
        covered += piece;
        count += 1;
    }
    (count, covered)
}

impl Request {
    fn new(iova: u64, length: u64, access: u64, kind: i32, attr: &vbn_mr_attr) -> Self {
        Self { iova, length, access, kind, gpu: VBN_GPU_KIND_ANY, owner: attr.owner, user_data: attr.user_data }
    }

    /// What holds for every kind of memory.
    pub(super) fn check(&self, pd: &Pd) -> Result<()> {
        check_access(self.access)?;
        if self.access & VBN_ACCESS_ZERO_BASED != 0 && self.iova != 0 {
            return Err(Error::text(VBN_ERR_ARGUMENT, "VBN_ACCESS_ZERO_BASED contradicts an iova other than 0")
                .value(self.iova, 0)
                .hint("leave out one of them"));
        }
        if self.length == 0 {
            return Err(Error::range("length", 0, "at least 1"));
        }
        check_range("the room from iova to 2^64", self.iova, self.length)?;
        let context = pd.context();
        // A device that tells no limit (0) has its kernel driver check. The whole address space isn't a size.
        let most = context.device().max_mr_size;
        let implicit = self.access & VBN_ACCESS_ON_DEMAND != 0 && self.length == u64::MAX;
        if most != 0 && self.length > most && !implicit {
            return Err(Error::limit("length", self.length, most)
                .on(context.name())
                .hint("register it in several regions"));
        }
        Ok(())
    }

    pub(super) fn finish(self, native: NonNull<ibv_mr>, pd: Ref<Pd>) -> Mr {
        // SAFETY: libibverbs has just filled it in.
        let (lkey, rkey) = unsafe { (native.as_ref().lkey, native.as_ref().rkey) };
        let state = State {
            native_pd: AtomicPtr::new(pd.native()),
            iova: AtomicU64::new(self.iova),
            length: AtomicU64::new(self.length),
            lkey: AtomicU32::new(lkey),
            rkey: AtomicU32::new(rkey),
            access: AtomicU64::new(self.access),
            owner: AtomicPtr::new(self.owner),
            lost: AtomicBool::new(false),
        };
        Mr {
            native,
            context: pd.context().clone(),
            pd: Lock::new(pd),
            ownership: Ownership::Own,
            kind: self.kind,
            user_data: self.user_data,
            state,
            dm: None,
        }
    }
}

pub(super) fn check_access(access: u64) -> Result<()> {
    if access & !ACCESS_KNOWN != 0 {
        return Err(Error::unknown_bits("access", access, ACCESS_KNOWN));
    }
    let writers = access & (VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_ATOMIC);
    if writers != 0 && access & VBN_ACCESS_LOCAL_WRITE == 0 {
        let what = "access has VBN_ACCESS_REMOTE_WRITE or VBN_ACCESS_REMOTE_ATOMIC without VBN_ACCESS_LOCAL_WRITE";
        return Err(Error::text(VBN_ERR_ARGUMENT, what).value(access, 0).hint("add VBN_ACCESS_LOCAL_WRITE"));
    }
    Ok(())
}

/// The last byte of `start..start + length` must have an address; `what` names the room behind `start`. `length` is above 0 or the range empty.
pub(super) fn check_range(what: &'static str, start: u64, length: u64) -> Result<()> {
    let last = length.saturating_sub(1);
    if start.checked_add(last).is_none() {
        return Err(Error::argument(Reason::ExceedsNamed("length", what)).value(length, start.wrapping_neg()));
    }
    Ok(())
}

/// The kernel maps whole pages, so a place within a page must stay the same.
fn check_congruent(start: u64, iova: u64) -> Result<()> {
    let page = os::page_size() as u64;
    let (inside, wanted) = (iova % page, start % page);
    if inside != wanted {
        return Err(Error::range("offset of iova within its page", inside, "equal to that of the memory")
            .value(inside, wanted)
            .hint("both must be equal modulo the page size, so iova 0 needs memory that starts on a page"));
    }
    Ok(())
}

/// What a refused registration means.
fn reg_error(function: &'static str, errno: i32, request: &Request, pd: &Pd) -> Error {
    let error = Error::call(function, errno);
    let error = match (errno, request.kind) {
        (libc::EINVAL | libc::EOPNOTSUPP | libc::EFAULT, VBN_MR_HOST) if lacks_paging(request.access, pd) => {
            Error { status: VBN_ERR_NOT_SUPPORTED, ..error }
                .hint("the device has no on-demand paging (odp_general_caps): leave out VBN_ACCESS_ON_DEMAND")
        }
        (libc::ENOMEM, VBN_MR_HOST) => memlock_error(function, errno, request.length),
        (libc::EPERM, VBN_MR_HOST) => error.hint(
            "the process may lock no memory at all (RLIMIT_MEMLOCK 0 without CAP_IPC_LOCK), or a sandbox refuses it: raise \
             the limit (ulimit -l, LimitMEMLOCK=, limits.conf)",
        ),
        (libc::EFAULT, VBN_MR_HOST) => error.hint(
            "not all of the memory is mapped, or it is read-only and VBN_ACCESS_LOCAL_WRITE was asked for, or it is a \
             GPU's and no peer-memory module is loaded: use vbn_gpu_mr_reg",
        ),
        (libc::EFAULT | libc::EINVAL | libc::EOPNOTSUPP, VBN_MR_PEER) => error.hint(peer_hint(pd.context(), request.gpu, errno)),
        (libc::ENOMEM, VBN_MR_PEER) => error.hint(BAR_HINT),
        (libc::EINVAL, VBN_MR_HOST) => {
            error.hint("the range may be more than the device can map, or one of the access flags unknown to it")
        }
        (libc::EBADF | libc::EINVAL, VBN_MR_DMABUF) => error.hint(
            "fd must be a dma-buf, offset and length must lie inside it, and access may hold only LOCAL_WRITE, \
             REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC and RELAXED_ORDERING",
        ),
        (libc::EOPNOTSUPP, VBN_MR_DMABUF) => error.hint(
            "the device's driver cannot register dma-bufs (Linux 5.12 or newer is needed): for GPU memory use \
             vbn_mr_reg with a peer-memory module",
        ),
        (libc::EOPNOTSUPP, _) => error.hint("the device does not offer one of the access flags"),
        _ => error,
    };
    if error.value == 0 {
        return error.value(request.length, pd.context().device().max_mr_size).on(pd.context().name());
    }
    error.on(pd.context().name())
}

/// Why a driver may have refused a GPU's address. An EFA's driver has its own way to the GPU's, and tells it; others share a module.
fn peer_hint(context: &Context, gpu: i32, errno: i32) -> &'static str {
    let efa = context.efa().is_some();
    let module = Root::new(None).is_ok_and(|root| {
        if efa {
            root.has_text(|out| write!(out, "/class/infiniband/{}/device/p2p", context.name()), b"NONE")
        } else {
            root.has(|out| out.write_str("/module/nvidia_peermem"))
                || root.has(|out| out.write_str("/module/nv_peer_mem"))
        }
    });
    peer_sentence(gpu, errno, efa, module)
}

fn peer_sentence(gpu: i32, errno: i32, efa: bool, module: bool) -> &'static str {
    match (gpu, module, efa) {
        (VBN_GPU_KIND_ROCM, ..) => {
            "the peer-memory modules nvidia_peermem and efa_nv_peermem know no AMD GPU's memory: use memory that can be exported as dma-buf"
        }
        (_, true, _) if errno == libc::EINVAL => BAR_HINT,
        (_, true, true) => {
            "the efa driver has a peer-memory provider (p2p in sysfs), which doesn't know this address: is the provider that of the \
             GPU's vendor, and the memory not freed?"
        }
        (_, true, false) => {
            "a peer-memory module is loaded, but it doesn't know this address, or the device's driver doesn't ask it"
        }
        (_, false, true) => {
            "the efa driver has no peer memory here: load efa_nv_peermem, rebuilt for this kernel and this NVIDIA driver (efa doesn't \
             use nvidia_peermem), or use memory that can be exported as dma-buf"
        }
        (_, false, false) => {
            "no peer-memory module is loaded: modprobe nvidia_peermem, or use memory that can be exported as dma-buf"
        }
    }
}

const BAR_HINT: &str = "the GPU may show less of its memory on the PCI bus (BAR1; bar_size of vbn_gpu_device_query, nvidia-smi -q) than is \
    registered by now: register less, or memory that can be exported as dma-buf";

/// Whether on-demand paging was asked for, and the device reports none.
fn lacks_paging(access: u64, pd: &Pd) -> bool {
    access & VBN_ACCESS_ON_DEMAND != 0
        && pd.context().query_device().is_ok_and(|device| device.odp_general_caps & IBV_ODP_SUPPORT == 0)
}

/// Pinned pages count against a limit of the process, by far the most frequent cause of ENOMEM.
pub(super) fn memlock_error(function: &'static str, errno: i32, length: u64) -> Error {
    let limit = os::memlock_limit();
    let hint = if limit.is_none() {
        "locked memory is not limited here: the device or the kernel has run out, or, after vbn_fork_init, part of the \
         memory is not mapped"
    } else {
        "all regions of the process count against RLIMIT_MEMLOCK: raise it (ulimit -l, LimitMEMLOCK=, limits.conf); \
         after vbn_fork_init, unmapped memory gives this too"
    };
    Error { errno, ..Error::new(VBN_ERR_NO_MEMORY, Reason::Memlock(function)) }
        .value(length, limit.unwrap_or(u64::MAX))
        .hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;
    const NONE: vbn_sge = vbn_sge { addr: 0, length: 0, lkey: 0 };

    fn lengths(sges: &[vbn_sge]) -> Vec<u32> {
        sges.iter().map(|sge| sge.length).collect()
    }

    #[test]
    fn ranges_above_4_gib_are_cut_without_gap_or_overlap() {
        let start = 0x7000_0000_1234;
        for length in [1, GIB, GIB + 1, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, 9 * GIB + 17] {
            for most in [VBN_MR_SEGMENT_DEFAULT, u32::MAX, 0x8000_0000, 4096 * 1001] {
                let mut sges = [NONE; 4096];
                let (count, covered) = cut(start, length, most, 7, &mut sges);
                assert_eq!(covered, length);
                let used = &sges[..count as usize];
                let mut next = start;
                for (i, sge) in used.iter().enumerate() {
                    assert_eq!((sge.addr, sge.lkey), (next, 7));
                    assert!(sge.length == most || (i + 1 == used.len() && sge.length > 0));
                    next += u64::from(sge.length);
                }
                assert_eq!(next, start + length);
                assert_eq!(sges[count as usize].length, 0, "nothing is written behind the last segment");
            }
        }
    }

    #[test]
    fn exact_pieces_at_the_edge_of_32_bits() {
        let mut sges = [NONE; 8];
        assert_eq!(cut(0, 1 << 32, u32::MAX, 0, &mut sges), (2, 1 << 32));
        assert_eq!(lengths(&sges[..2]), [u32::MAX, 1]);
        assert_eq!(cut(0, 1 << 32, 1 << 30, 0, &mut sges), (4, 1 << 32));
        assert_eq!(lengths(&sges[..4]), [1 << 30; 4]);
    }

    #[test]
    fn a_cut_resumes_where_capacity_ran_out() {
        let (start, length) = (4096, 5 * GIB + 3);
        let mut all = [NONE; 6];
        assert_eq!(cut(start, length, 1 << 30, 1, &mut all), (6, length));
        let (mut done, mut pieces) = (0, Vec::new());
        while done < length {
            let mut two = [NONE; 2];
            let (count, covered) = cut(start + done, length - done, 1 << 30, 1, &mut two);
            pieces.extend(two[..count as usize].iter().map(|sge| (sge.addr, sge.length)));
            done += covered;
        }
        assert_eq!(pieces, all.map(|sge| (sge.addr, sge.length)));
    }

    #[test]
    fn a_region_may_end_at_the_last_address_and_no_further() {
        assert!(check_range("the room from addr to 2^64", u64::MAX - 4095, 4096).is_ok());
        let error = check_range("the room from addr to 2^64", u64::MAX - 4094, 4096).unwrap_err();
        assert_eq!((error.status, error.value, error.limit), (VBN_ERR_ARGUMENT, 4096, 4095));
        assert!(
            check_range("the room from addr to 2^64", 0, u64::MAX).is_ok(),
            "the whole address space, for on-demand paging"
        );
    }

    #[test]
    fn access_flags_are_checked() {
        assert_eq!(check_access(1 << 10).unwrap_err().value, 1 << 10);
        assert!(check_access(1 << 40).is_err());
        for writer in [VBN_ACCESS_REMOTE_WRITE, VBN_ACCESS_REMOTE_ATOMIC] {
            assert!(check_access(writer).is_err());
            assert!(check_access(writer | VBN_ACCESS_LOCAL_WRITE).is_ok());
        }
        assert!(check_access(0).is_ok() && check_access(VBN_ACCESS_REMOTE_READ).is_ok());
    }

    #[test]
    fn iova_keeps_the_place_within_a_page() {
        let page = os::page_size() as u64;
        assert!(check_congruent(3 * page + 5, 5).is_ok());
        let error = check_congruent(0, page + 8).unwrap_err();
        assert_eq!((error.value, error.limit), (8, 0));
    }

    #[test]
    fn a_refused_address_of_a_gpu_gets_the_remedy_that_helps() {
        const CUDA: i32 = crate::core::gpu::VBN_GPU_KIND_CUDA;
        for (gpu, errno, efa, module, text) in [
            (CUDA, libc::EFAULT, false, false, "modprobe nvidia_peermem"),
            (CUDA, libc::EINVAL, false, false, "modprobe nvidia_peermem"),
            (CUDA, libc::EFAULT, false, true, "a peer-memory module is loaded, but"),
            (CUDA, libc::EOPNOTSUPP, true, true, "has a peer-memory provider (p2p"),
            (CUDA, libc::EFAULT, true, false, "load efa_nv_peermem"),
            (CUDA, libc::EINVAL, false, true, "BAR1"),
            (CUDA, libc::EINVAL, true, true, "BAR1"),
        ] {
            let told = peer_sentence(gpu, errno, efa, module);
            assert!(told.contains(text), "{told}");
        }
        for (efa, module) in [(false, false), (false, true), (true, false), (true, true)] {
            let told = peer_sentence(VBN_GPU_KIND_ROCM, libc::EFAULT, efa, module);
            assert!(told.contains("no AMD GPU") && !told.contains("modprobe") && !told.contains("load "), "{told}");
        }
    }

    #[test]
    fn lack_of_memory_tells_the_limit_on_locked_memory() {
        let error = memlock_error("ibv_reg_mr_iova2", libc::ENOMEM, 12345);
        assert_eq!((error.status, error.errno, error.value), (VBN_ERR_NO_MEMORY, libc::ENOMEM, 12345));
        assert_eq!(error.limit, os::memlock_limit().unwrap_or(u64::MAX));
    }
}
