// SPDX-License-Identifier: MIT OR Apache-2.0
//! Regions in a row that are used as one: memory that the device could only register in pieces.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use super::alloc;
use super::cold::cold_structs;
use super::context::Context;
use super::error::{Error, Reason, Result};
use super::gpu_mr::Source;
use super::handle::vbn_mr;
use super::lock::Lock;
use super::mr::{Mr, VBN_MR_NULL, VBN_MR_SEGMENT_DEFAULT, check_part};
use super::post::vbn_sge;
use super::slab::{Hold, Kind, Object, Ref, Slab, Slot};
use super::split::{Cursor, Range};
use super::status::*;
use crate::sys::ibv::ibv_pd;

/// Nobody told where the memory lives.
pub const VBN_MEMORY_UNKNOWN: i32 = 0;
/// The host's memory.
pub const VBN_MEMORY_HOST: i32 = 1;
/// A GPU's, of CUDA.
pub const VBN_MEMORY_CUDA: i32 = 2;
/// A GPU's, of ROCm.
pub const VBN_MEMORY_ROCM: i32 = 3;

/// `place_set` of structs that tell where memory lives: `gpu`.
pub const VBN_PLACE_SET_GPU: u64 = 1;
/// `place_set`: `numa_node`.
pub const VBN_PLACE_SET_NUMA: u64 = 1 << 1;
/// `place_set`: `pci_domain`, `pci_bus`, `pci_device` and `pci_function`.
pub const VBN_PLACE_SET_PCI: u64 = 1 << 2;

const PLACE_SET: u64 = 7;

/// What `vbn_mr_set_create` may be told. All-zero is the default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_mr_set_attr {
    /// sizeof(vbn_mr_set_attr).
    pub struct_size: usize,
    /// VBN_PLACE_SET_*: what is known of where the memory lives.
    pub place_set: u64,
    /// Whatever keeps the memory alive. Not looked at; vbn_mr_set_query returns it until a close has succeeded.
    pub owner: *mut c_void,
    /// Comes back in queries.
    pub user_data: u64,
    /// VBN_MEMORY_*: where the memory lives.
    pub memory: i32,
    /// The GPU's ordinal in this process.
    pub gpu: i32,
    /// The NUMA node that is nearest.
    pub numa_node: i32,
    /// The PCI address of the GPU: domain,
    pub pci_domain: u32,
    /// bus,
    pub pci_bus: u8,
    /// device,
    pub pci_device: u8,
    /// and function.
    pub pci_function: u8,
    /// 1: the set takes the regions. Their handles end, and closing the set deregisters them. 0: they stay the caller's.
    pub take: u8,
    /// 0.
    pub reserved0: [u8; 4],
}

/// What `vbn_mr_set_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_mr_set_info {
    /// sizeof(vbn_mr_set_info), set by the caller.
    pub struct_size: usize,
    /// VBN_PLACE_SET_*: what is known of where the memory lives.
    pub place_set: u64,
    /// As given at creation.
    pub owner: *mut c_void,
    /// As given at creation.
    pub user_data: u64,
    /// Bytes of all entries together.
    pub length: u64,
    /// How many entries it has.
    pub count: u32,
    /// VBN_MEMORY_*: where the memory lives.
    pub memory: i32,
    /// The GPU's ordinal in this process.
    pub gpu: i32,
    /// The NUMA node that is nearest.
    pub numa_node: i32,
    /// The PCI address of the GPU: domain,
    pub pci_domain: u32,
    /// bus,
    pub pci_bus: u8,
    /// device,
    pub pci_device: u8,
    /// and function.
    pub pci_function: u8,
    /// 1: the set has taken its regions and deregisters them when it is closed.
    pub takes: u8,
    /// 1: a close has deregistered some of the regions and was refused the others. The set can only be closed.
    pub lost: u8,
    /// 0.
    pub reserved0: [u8; 7],
}

/// One of the regions of a set.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_mr_entry {
    /// sizeof(vbn_mr_entry), set by the caller.
    pub struct_size: usize,
    /// The region. The set keeps it: it can't be closed or released.
    pub mr: *mut vbn_mr,
    /// Where in the set it begins.
    pub offset: u64,
    /// Where it begins in requests, one's own and the peers'.
    pub addr: u64,
    /// Bytes.
    pub length: u64,
    /// The key for one's own requests.
    pub lkey: u32,
    /// The key for peers.
    pub rkey: u32,
}
cold_structs!(vbn_mr_set_attr, vbn_mr_set_info, vbn_mr_entry);

/// Where memory lives, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// VBN_PLACE_SET_*.
    pub set: u64,
    /// VBN_MEMORY_*.
    pub memory: i32,
    pub gpu: i32,
    pub numa_node: i32,
    pub pci_domain: u32,
    /// Bus, device, function.
    pub pci: [u8; 3],
}

impl Place {
    /// Whether a CPU that touched it would crash.
    pub fn is_gpu(&self) -> bool {
        matches!(self.memory, VBN_MEMORY_CUDA | VBN_MEMORY_ROCM)
    }

    pub fn check(&self) -> Result<()> {
        if self.set & !PLACE_SET != 0 {
            return Err(Error::unknown_bits("place_set", self.set, PLACE_SET));
        }
        if !(VBN_MEMORY_UNKNOWN..=0xff).contains(&self.memory) {
            return Err(Error::range_signed("memory", self.memory.into(), "one of VBN_MEMORY_*"));
        }
        if self.set & VBN_PLACE_SET_GPU != 0 && self.gpu < 0 {
            return Err(Error::range_signed("gpu", self.gpu.into(), "an ordinal, from 0"));
        }
        if self.set & VBN_PLACE_SET_NUMA != 0 && self.numa_node < 0 {
            return Err(Error::range_signed("numa_node", self.numa_node.into(), "a node, from 0")
                .hint("leave VBN_PLACE_SET_NUMA out where none is known"));
        }
        if self.set & VBN_PLACE_SET_PCI != 0 {
            let [_, device, function] = self.pci;
            if device > 31 {
                return Err(Error::range("pci_device", device.into(), "0..31"));
            }
            if function > 7 {
                return Err(Error::range("pci_function", function.into(), "0..7"));
            }
        }
        Ok(())
    }
}

/// Regions in a row.
pub struct MrSet {
    context: Ref<Context>,
    /// Where the entries are, under their lkeys.
    ranges: Vec<Range>,
    members: Vec<Member>,
    /// One for each member that isn't gone yet.
    holds: Lock<Vec<Option<Hold<Mr>>>>,
    length: u64,
    owner: *mut c_void,
    user_data: u64,
    place: Place,
    /// The GPU's memory that it was made of.
    source: Option<Source>,
    takes: bool,
    unseen: bool,
    lost: AtomicBool,
}

struct Member {
    slot: &'static Slot<Mr>,
    rkey: u32,
}

// SAFETY: `owner` is only handed back.
unsafe impl Send for MrSet {}
// SAFETY: as above.
unsafe impl Sync for MrSet {}

static SLAB: Slab<MrSet> = Slab::new();

impl Object for MrSet {
    const KIND: Kind = Kind::MrSet;
    const LEAF: bool = true;

    fn slab() -> &'static Slab<Self> {
        &SLAB
    }

    fn context(&self) -> Option<&Context> {
        Some(&self.context)
    }

    fn native_address(&self) -> *const c_void {
        std::ptr::null()
    }

    /// Lets the regions go. Of those that it has taken some may refuse: the others are gone then, and a later close tries again.
    fn destroy(&self) -> Result<()> {
        let mut first = None;
        let mut gone = false;
        for (place, index) in self.holds.lock().iter_mut().zip(0u64..) {
            let Some(hold) = place.take() else { continue };
            if !self.takes {
                drop(hold);
                continue;
            }
            match hold.close() {
                Ok(()) => gone = true,
                Err((_, None)) => {}
                Err((error, hold)) => {
                    *place = hold;
                    first = first.or(Some(error.at(index)));
                }
            }
        }
        let Some(error) = first else { return Ok(()) };
        if gone {
            self.lost.store(true, Ordering::Relaxed);
        }
        Err(error)
    }

    fn is_borrowed(&self) -> bool {
        !self.takes
    }
}

impl Drop for MrSet {
    /// In a forked child nothing was destroyed: the regions that are the set's end with it, without a word to the device.
    fn drop(&mut self) {
        for hold in self.holds.lock().iter_mut().filter_map(Option::take) {
            if self.takes {
                let _ = hold.close();
            }
        }
    }
}

/// A set in the making. Dropped, it lets go of the regions and leaves them as they were.
pub struct Builder {
    context: Option<Ref<Context>>,
    pd: *mut ibv_pd,
    ranges: Vec<Range>,
    members: Vec<Member>,
    holds: Vec<Option<Hold<Mr>>>,
    length: u64,
    takes: bool,
    unseen: bool,
}

impl Builder {
    pub fn new(takes: bool) -> Self {
        let (ranges, members, holds) = (Vec::new(), Vec::new(), Vec::new());
        Self { context: None, pd: std::ptr::null_mut(), ranges, members, holds, length: 0, takes, unseen: false }
    }

    /// Appends a region.
    pub fn add(&mut self, mr: Ref<Mr>) -> Result<()> {
        if mr.kind == VBN_MR_NULL {
            return Err(Error::text(VBN_ERR_ARGUMENT, "a region without memory can't be in a set"));
        }
        if mr.info().lost != 0 {
            return Err(
                Error::text(VBN_ERR_ARGUMENT, "an earlier vbn_mr_rereg has lost the region").hint("close the region")
            );
        }
        let unseen = mr.is_unseen();
        let pd = mr.pd.lock().root();
        match &self.context {
            None => (self.context, self.pd) = (Some(mr.device().clone()), pd),
            Some(_) if self.pd == pd => {}
            Some(_) => return Err(Error::argument(Reason::Unrelated("the region", "PD than the first"))),
        }
        let Some(length) = self.length.checked_add(mr.length()) else {
            return Err(Error::argument(Reason::Exceeds("the length of all regions together"))
                .value(mr.length(), u64::MAX - self.length));
        };
        alloc::push(&mut self.ranges, Range { addr: mr.remote_addr(), length: mr.length(), key: mr.lkey() })?;
        alloc::push(&mut self.members, Member { slot: mr.slot(), rkey: mr.rkey() })?;
        let hold = if self.takes { Hold::only(mr) } else { Some(Hold::new(mr)) };
        let Some(hold) = hold else {
            return Err(Error::new(VBN_ERR_BUSY, Reason::Held(Kind::Mr.name()))
                .hint("a set takes a region that is in no set, and once"));
        };
        alloc::push(&mut self.holds, Some(hold))?;
        self.length = length;
        self.unseen |= unseen;
        Ok(())
    }

    pub fn finish(
        self,
        place: Place,
        owner: *mut c_void,
        user_data: u64,
        source: Option<Source>,
    ) -> Result<&'static Slot<MrSet>> {
        place.check()?;
        let Some(context) = self.context else {
            return Err(Error::range("count", 0, "at least 1"));
        };
        let vacant = SLAB.take()?;
        Ok(vacant.publish(MrSet {
            context,
            ranges: self.ranges,
            members: self.members,
            holds: Lock::new(self.holds),
            length: self.length,
            owner,
            user_data,
            place,
            source,
            takes: self.takes,
            unseen: self.unseen,
            lost: AtomicBool::new(false),
        }))
    }
}

impl vbn_mr_set_attr {
    pub fn takes(&self) -> Result<bool> {
        if self.reserved0 != [0; 4] {
            return Err(Error::reserved());
        }
        match self.take {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Error::range("take", other.into(), "0 or 1")),
        }
    }

    pub fn place(&self) -> Place {
        Place {
            set: self.place_set,
            memory: self.memory,
            gpu: self.gpu,
            numa_node: self.numa_node,
            pci_domain: self.pci_domain,
            pci: [self.pci_bus, self.pci_device, self.pci_function],
        }
    }
}

impl MrSet {
    /// The entries, under their lkeys. Refused when a close has taken some away.
    pub fn ranges(&self) -> Result<&[Range]> {
        if self.lost.load(Ordering::Relaxed) {
            return Err(Error::text(
                VBN_ERR_ARGUMENT,
                "a close of the set has deregistered some of its regions and was refused the others",
            )
            .hint("close it again"));
        }
        Ok(&self.ranges)
    }

    pub fn device(&self) -> &Ref<Context> {
        &self.context
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Whether there is memory among it that the CPU may not be able to read where requests address it.
    pub fn is_unseen(&self) -> bool {
        self.unseen
    }

    /// The GPU's memory that it was made of, if it was by vbn_gpu_mr_reg.
    pub fn source(&self) -> Option<&Source> {
        self.source.as_ref()
    }

    /// The keys for peers, in the order of the entries.
    pub fn rkeys(&self) -> impl Iterator<Item = u32> {
        self.members.iter().map(|member| member.rkey)
    }

    /// What all members have been registered with, if every one tells.
    pub fn known_access(&self) -> Option<u64> {
        self.holds.lock().iter().flatten().try_fold(u64::MAX, |all, mr| Some(all & mr.known_access()?))
    }

    pub fn info(&self) -> vbn_mr_set_info {
        let [pci_bus, pci_device, pci_function] = self.place.pci;
        vbn_mr_set_info {
            struct_size: size_of::<vbn_mr_set_info>(),
            place_set: self.place.set,
            owner: self.owner,
            user_data: self.user_data,
            length: self.length,
            count: u32::try_from(self.ranges.len()).unwrap_or(u32::MAX),
            memory: self.place.memory,
            gpu: self.place.gpu,
            numa_node: self.place.numa_node,
            pci_domain: self.place.pci_domain,
            pci_bus,
            pci_device,
            pci_function,
            takes: self.takes.into(),
            lost: self.lost.load(Ordering::Relaxed).into(),
            reserved0: [0; 7],
        }
    }

    pub fn entry(&self, index: u32) -> Result<vbn_mr_entry> {
        let at = index as usize;
        let ranges = self.ranges()?;
        let (Some(range), Some(member)) = (ranges.get(at), self.members.get(at)) else {
            return Err(Error::new(
                VBN_ERR_NOT_FOUND,
                Reason::NotOneOf("index", "an entry of the set (limit: how many)"),
            )
            .value(index.into(), ranges.len() as u64));
        };
        Ok(vbn_mr_entry {
            struct_size: size_of::<vbn_mr_entry>(),
            mr: std::ptr::from_ref(member.slot).cast_mut().cast(),
            offset: ranges.iter().take(at).fold(0, |sum, range| sum.wrapping_add(range.length)),
            addr: range.addr,
            length: range.length,
            lkey: range.key,
            rkey: member.rkey,
        })
    }

    /// Cuts a range of the set into segments. Returns how many were written and how many bytes they cover.
    pub fn segments(&self, offset: u64, length: u64, max_segment: u32, sges: &mut [vbn_sge]) -> Result<(u32, u64)> {
        let ranges = self.ranges()?;
        check_part(self.length, offset, length, sges.len())?;
        Ok(cut(ranges, offset, length, max_segment, sges))
    }
}

/// Fills `sges` from the front. The range lies inside of the entries.
fn cut(ranges: &[Range], offset: u64, length: u64, max_segment: u32, sges: &mut [vbn_sge]) -> (u32, u64) {
    let most = if max_segment == 0 { VBN_MR_SEGMENT_DEFAULT } else { max_segment };
    let mut cursor = Cursor::at(ranges, offset);
    let (mut count, mut covered) = (0, 0u64);
    for sge in sges {
        let left = length - covered;
        let Some(here) = cursor.here().filter(|_| left > 0) else { break };
        let piece = here.length.min(left).min(most.into());
        *sge = vbn_sge { addr: here.addr, length: piece as u32, lkey: here.key };
        cursor.advance(piece);
        covered += piece;
        count += 1;
    }
    (count, covered)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;
    const NONE: vbn_sge = vbn_sge { addr: 0, length: 0, lkey: 0 };

    fn ranges(lengths: &[u64]) -> Vec<Range> {
        let key = 1u32..;
        lengths
            .iter()
            .zip(key)
            .map(|(length, key)| Range { addr: u64::from(key) << 40, length: *length, key })
            .collect()
    }

    /// The slow way: where byte `at` lies.
    fn place(ranges: &[Range], mut at: u64) -> (u64, u32) {
        for range in ranges {
            if at < range.length {
                return (range.addr + at, range.key);
            }
            at -= range.length;
        }
        panic!("beyond the last range");
    }

    #[test]
    fn each_byte_is_in_its_own_segment() {
        let set = ranges(&[10, 1, 7, 30]);
        for offset in 0..48 {
            for length in 1..=48 - offset {
                for most in [1, 3, 10, 0] {
                    let mut sges = [NONE; 64];
                    let (count, covered) = cut(&set, offset, length, most, &mut sges);
                    assert_eq!(covered, length);
                    let mut done = 0;
                    for sge in &sges[..count as usize] {
                        assert!(sge.length >= 1 && (most == 0 || sge.length <= most));
                        for byte in 0..u64::from(sge.length) {
                            assert_eq!((sge.addr + byte, sge.lkey), place(&set, offset + done));
                            done += 1;
                        }
                    }
                    assert_eq!(done, length);
                    assert_eq!(sges[count as usize].length, 0, "nothing is written behind the last segment");
                }
            }
        }
    }

    #[test]
    fn a_cut_resumes_where_capacity_ran_out() {
        let set = ranges(&[5 * GIB + 3, 1, 2 * GIB, (1 << 32) + 1]);
        let whole: u64 = set.iter().map(|range| range.length).sum();
        let mut all = [NONE; 32];
        let (count, covered) = cut(&set, 5, whole - 5, 0, &mut all);
        assert_eq!((count, covered), (5 + 1 + 2 + 5, whole - 5));
        let (mut done, mut pieces) = (0, Vec::new());
        while done < covered {
            let mut two = [NONE; 2];
            let (count, more) = cut(&set, 5 + done, covered - done, 0, &mut two);
            pieces.extend(two[..count as usize].iter().map(|sge| (sge.addr, sge.length, sge.lkey)));
            done += more;
        }
        let wanted: Vec<_> = all[..count as usize].iter().map(|sge| (sge.addr, sge.length, sge.lkey)).collect();
        assert_eq!(pieces, wanted);
    }

    #[test]
    fn places_are_checked() {
        let good = Place { set: 7, memory: VBN_MEMORY_CUDA, gpu: 3, numa_node: 1, pci_domain: 0, pci: [0xff, 31, 7] };
        assert!(good.check().is_ok() && good.is_gpu());
        assert!(Place::default().check().is_ok() && !Place::default().is_gpu());
        for (bad, value) in [
            (Place { set: 8, ..good }, 8),
            (Place { memory: -1, ..good }, -1i64 as u64),
            (Place { memory: 256, ..good }, 256),
            (Place { gpu: -1, ..good }, -1i64 as u64),
            (Place { numa_node: -1, ..good }, -1i64 as u64),
            (Place { pci: [0, 32, 0], ..good }, 32),
            (Place { pci: [0, 0, 8], ..good }, 8),
        ] {
            let error = bad.check().unwrap_err();
            assert_eq!((error.status, error.value), (VBN_ERR_ARGUMENT, value));
        }
        assert!(Place { set: 0, gpu: -1, numa_node: -1, pci: [0, 99, 99], ..good }.check().is_ok());
    }
}
