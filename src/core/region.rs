// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one side tells the other about memory that may be read and written, as a record that can grow: for each of its NICs where
//! the memory is and under which keys, and where it lives, so that nobody guesses from an address.

use super::cold::{Cold, cold_structs};
use super::container::{self, RecordItem, RecordKind, RecordWriter, Unknown};
use super::endpoint_info::{Gids, vbn_endpoint_info};
use super::error::{Error, Reason, Result};
use super::mr::{VBN_ACCESS_REMOTE_ATOMIC, VBN_ACCESS_REMOTE_READ, VBN_ACCESS_REMOTE_WRITE, check_part};
use super::mr_set::{MrSet, Place, VBN_MEMORY_UNKNOWN, VBN_PLACE_SET_GPU, VBN_PLACE_SET_NUMA, VBN_PLACE_SET_PCI};
use super::slab::Ref;
use super::split::{Cursor, Range};
use super::status::*;

/// How many NICs a vbn_region_info has room for.
pub const VBN_REGION_MAX_NICS: usize = 8;
/// How many entries, of all NICs together. So many fit into a record whatever else is in it.
pub const VBN_REGION_MAX_ENTRIES: usize = 30;

/// `vbn_region_info.set`: access.
pub const VBN_REGION_SET_ACCESS: u64 = 1;

const SET: u64 = 1;

const REMOTE: u64 = VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ | VBN_ACCESS_REMOTE_ATOMIC;

/// A piece of memory as one NIC knows it. Frozen.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct vbn_region_entry {
    /// Where it begins for peers.
    pub addr: u64,
    /// Bytes.
    pub length: u64,
    /// The key for peers.
    pub rkey: u32,
    /// The NIC: its place in `nics`.
    pub nic: u32,
}

/// A NIC that memory is registered with. Frozen.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct vbn_region_nic {
    /// A GID of its port, as in its endpoints' records; all zero where none is known.
    pub gid: [u8; 16],
}

/// What one side tells the other about memory of its own.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct vbn_region_info {
    /// sizeof(vbn_region_info).
    pub struct_size: usize,
    /// VBN_REGION_SET_*: what is known.
    pub set: u64,
    /// VBN_PLACE_SET_*: what is known of where the memory lives.
    pub place_set: u64,
    /// Bytes. The entries of each NIC, one after the other, cover them.
    pub length: u64,
    /// What the peer may do with it: VBN_ACCESS_REMOTE_WRITE, VBN_ACCESS_REMOTE_READ, VBN_ACCESS_REMOTE_ATOMIC.
    pub access: u64,
    /// VBN_MEMORY_*: where the memory lives. 0: not told.
    pub memory: i32,
    /// The GPU's ordinal in its process.
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
    /// How many of `nics` there are: 1 to 8.
    pub num_nics: u8,
    /// How many of `entries` there are: 1 to 30.
    pub num_entries: u8,
    /// 0.
    pub reserved0: [u8; 3],
    /// The NICs.
    pub nics: [vbn_region_nic; 8],
    /// Where each NIC finds the memory. The entries of one NIC are in the memory's order.
    pub entries: [vbn_region_entry; 30],
}

/// What vbn_region_info_local may be told. All-zero is the default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_region_info_attr {
    /// sizeof(vbn_region_info_attr).
    pub struct_size: usize,
    /// Where in the sets the region begins.
    pub offset: u64,
    /// Its bytes. 0: all behind offset.
    pub length: u64,
    /// The port whose GID tells the NICs apart, from 1. 0: 1.
    pub port_num: u8,
    /// 0.
    pub reserved0: [u8; 7],
}
cold_structs!(vbn_region_info, vbn_region_info_attr);

const _: () = assert!(size_of::<vbn_region_entry>() == 24 && size_of::<vbn_region_nic>() == 16);

/// The items of a region's record; those of endpoints end at 31. A number is never used for something else, and an item never changes
/// its length: what is new gets a new number.
/// cbindgen:ignore
mod number {
    pub const LENGTH: u16 = 32;
    pub const NIC: u16 = 33;
    pub const ENTRY: u16 = 34;
    pub const MEMORY: u16 = 35;
    pub const GPU: u16 = 36;
    pub const NUMA: u16 = 37;
    pub const PCI: u16 = 38;
    pub const ACCESS: u16 = 39;
}

impl vbn_region_info {
    /// The entries that count.
    pub fn entries(&self) -> &[vbn_region_entry] {
        self.entries.get(..self.num_entries.into()).unwrap_or(&self.entries)
    }

    /// Where one NIC finds the memory: how many ranges, and they.
    pub fn ranges(&self, nic: u32) -> Result<(usize, [Range; 30])> {
        if nic >= self.num_nics.into() {
            return Err(Error::range("nic", nic.into(), "one of the region's (limit: how many it has)")
                .value(nic.into(), self.num_nics.into()));
        }
        let mut ranges = [Range { addr: 0, length: 0, key: 0 }; 30];
        let mut count = 0;
        let own = self.entries().iter().filter(|entry| entry.nic == nic);
        for (place, entry) in ranges.iter_mut().zip(own) {
            *place = Range { addr: entry.addr, length: entry.length, key: entry.rkey };
            count += 1;
        }
        Ok((count, ranges))
    }

    /// Which of its NICs an endpoint is on, by the GIDs that both were told with.
    pub fn find_nic(&self, endpoint: &vbn_endpoint_info) -> Result<u32> {
        self.check()?;
        endpoint.check()?;
        // Of an endpoint none is all zero, as that of a NIC without any is.
        let same = |nic: &vbn_region_nic| endpoint.addresses().iter().any(|address| address.gid == nic.gid);
        let found = self.nics.iter().take(self.num_nics.into()).position(same);
        found.map(|index| index as u32).ok_or_else(|| {
            Error::text(VBN_ERR_NOT_FOUND, "none of the region's NICs has a GID of the endpoint")
                .value(endpoint.num_gids.into(), self.num_nics.into())
                .hint(
                    "the memory must be registered with the device of the endpoint too: give vbn_region_info_local a set of each device. \
                     A record without GIDs, as a link with LIDs alone has, doesn't tell: then nic is the place of the set in that call",
                )
        })
    }

    fn place(&self) -> Place {
        Place {
            set: self.place_set,
            memory: self.memory,
            gpu: self.gpu,
            numa_node: self.numa_node,
            pci_domain: self.pci_domain,
            pci: [self.pci_bus, self.pci_device, self.pci_function],
        }
    }

    /// What must hold of any such struct, made here, filled by a caller or received.
    pub fn check(&self) -> Result<()> {
        if self.set & !SET != 0 {
            return Err(Error::unknown_bits("set", self.set, SET));
        }
        self.place().check()?;
        if self.reserved0 != [0; 3] {
            return Err(Error::reserved());
        }
        if self.set & VBN_REGION_SET_ACCESS != 0 && self.access > u64::from(u32::MAX) {
            return Err(Error::range("access", self.access, "within 32 bits"));
        }
        if self.length == 0 {
            return Err(Error::range("length", 0, "at least 1"));
        }
        if !(1..=VBN_REGION_MAX_NICS).contains(&self.num_nics.into()) {
            return Err(Error::range("num_nics", self.num_nics.into(), "1..8"));
        }
        if !(1..=VBN_REGION_MAX_ENTRIES).contains(&self.num_entries.into()) {
            return Err(Error::range("num_entries", self.num_entries.into(), "1..30"));
        }
        let mut covered = [0u64; VBN_REGION_MAX_NICS];
        for (entry, index) in self.entries().iter().zip(0u64..) {
            self.check_entry(entry, &mut covered).map_err(|error| error.at(index))?;
        }
        for (covered, nic) in covered.iter().zip(0..self.num_nics) {
            if *covered != self.length {
                return Err(Error::text(
                    VBN_ERR_ARGUMENT,
                    "the entries of one of the region's NICs don't cover it (value: their bytes, limit: the region's)",
                )
                .value(*covered, self.length)
                .at(nic.into()));
            }
        }
        Ok(())
    }

    fn check_entry(&self, entry: &vbn_region_entry, covered: &mut [u64; VBN_REGION_MAX_NICS]) -> Result<()> {
        let own = if entry.nic < self.num_nics.into() { covered.get_mut(entry.nic as usize) } else { None };
        let Some(own) = own else {
            return Err(Error::range("nic", entry.nic.into(), "one of the region's (limit: how many it has)")
                .value(entry.nic.into(), self.num_nics.into()));
        };
        if entry.length == 0 {
            return Err(Error::range("length", 0, "at least 1"));
        }
        if entry.addr.checked_add(entry.length - 1).is_none() {
            return Err(Error::argument(Reason::ExceedsNamed("length", "the room from addr to 2^64"))
                .value(entry.length, entry.addr.wrapping_neg()));
        }
        *own = own.checked_add(entry.length).filter(|sum| *sum <= self.length).ok_or(
            Error::argument(Reason::ExceedsNamed("length", "what is left of the region,"))
                .value(entry.length, self.length - *own),
        )?;
        Ok(())
    }

    /// As a record. A reader must know what traffic can't do without.
    pub fn encode(&self) -> Result<RecordWriter> {
        use Unknown::{Refuse, Skip};
        self.check()?;
        let mut out = RecordWriter::new(RecordKind::Region)?;
        out.item(number::LENGTH, Refuse, &[&self.length.to_be_bytes()])?;
        for (nic, index) in self.nics.iter().zip(0..self.num_nics) {
            out.item(number::NIC, Refuse, &[&[index], &nic.gid])?;
        }
        for entry in self.entries() {
            let parts = [&entry.addr.to_be_bytes()[..], &entry.length.to_be_bytes(), &entry.rkey.to_be_bytes()];
            let [addr, length, rkey] = parts;
            out.item(number::ENTRY, Refuse, &[&[entry.nic as u8], addr, length, rkey])?;
        }
        let (memory, gpu, numa) = ([self.memory as u8], self.gpu.to_be_bytes(), self.numa_node.to_be_bytes());
        let pci = [self.pci_bus, self.pci_device, self.pci_function];
        let access = (self.access as u32).to_be_bytes();
        let has = |bit: u64| self.place_set & bit != 0;
        let rest: [(bool, u16, [&[u8]; 2]); 5] = [
            (self.memory != VBN_MEMORY_UNKNOWN, number::MEMORY, [&memory, &[]]),
            (has(VBN_PLACE_SET_GPU), number::GPU, [&gpu, &[]]),
            (has(VBN_PLACE_SET_NUMA), number::NUMA, [&numa, &[]]),
            (has(VBN_PLACE_SET_PCI), number::PCI, [&self.pci_domain.to_be_bytes(), &pci]),
            (self.set & VBN_REGION_SET_ACCESS != 0, number::ACCESS, [&access, &[]]),
        ];
        for (known, number, parts) in rest {
            if known {
                out.item(number, Skip, &parts)?;
            }
        }
        Ok(out)
    }

    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut info = Self { struct_size: size_of::<Self>(), ..Self::zeroed() };
        let mut nics = 0u32;
        let mut seen = 0u16;
        for item in container::open(bytes, RecordKind::Region)? {
            let item = item?;
            match item.number {
                number::NIC => info.take_nic(&item, &mut nics)?,
                number::ENTRY => info.take_entry(&item)?,
                number::LENGTH | number::MEMORY..=number::ACCESS => {
                    let bit = 1u16 << (item.number - number::LENGTH);
                    if seen & bit != 0 {
                        return Err(item.twice());
                    }
                    seen |= bit;
                    info.take(&item)?;
                }
                _ => item.pass_over()?,
            }
        }
        // The first so many, each once.
        info.num_nics = nics.count_ones() as u8;
        if nics.trailing_ones() != nics.count_ones() {
            return Err(Error::text(
                VBN_ERR_ARGUMENT,
                "the record's NICs (item 33) aren't numbered from 0 without a gap",
            )
            .value(nics.into(), 0));
        }
        info.check()?;
        Ok(info)
    }

    fn take_nic(&mut self, item: &RecordItem<'_>, nics: &mut u32) -> Result<()> {
        let [index, gid @ ..]: [u8; 17] = item.exactly()?;
        let Some(place) = self.nics.get_mut(usize::from(index)) else {
            return Err(Error::range("the number of a NIC in the record (item 33)", index.into(), "0..7"));
        };
        if *nics & 1 << index != 0 {
            return Err(item.twice());
        }
        *nics |= 1 << index;
        *place = vbn_region_nic { gid };
        Ok(())
    }

    fn take_entry(&mut self, item: &RecordItem<'_>) -> Result<()> {
        let Some(place) = self.entries.get_mut(usize::from(self.num_entries)) else {
            return Err(Error::text(VBN_ERR_ARGUMENT, "the record has more than 30 entries (item 34)"));
        };
        let [nic, a0, a1, a2, a3, a4, a5, a6, a7, rest @ ..]: [u8; 21] = item.exactly()?;
        let [l0, l1, l2, l3, l4, l5, l6, l7, k0, k1, k2, k3] = rest;
        *place = vbn_region_entry {
            addr: u64::from_be_bytes([a0, a1, a2, a3, a4, a5, a6, a7]),
            length: u64::from_be_bytes([l0, l1, l2, l3, l4, l5, l6, l7]),
            rkey: u32::from_be_bytes([k0, k1, k2, k3]),
            nic: nic.into(),
        };
        self.num_entries += 1;
        Ok(())
    }

    fn take(&mut self, item: &RecordItem<'_>) -> Result<()> {
        match item.number {
            number::LENGTH => self.length = u64::from_be_bytes(item.exactly()?),
            number::MEMORY => self.memory = u8::from_be_bytes(item.exactly()?).into(),
            number::GPU => {
                self.gpu = i32::from_be_bytes(item.exactly()?);
                self.place_set |= VBN_PLACE_SET_GPU;
            }
            number::NUMA => {
                self.numa_node = i32::from_be_bytes(item.exactly()?);
                self.place_set |= VBN_PLACE_SET_NUMA;
            }
            number::PCI => {
                let [d0, d1, d2, d3, bus, device, function] = item.exactly()?;
                self.pci_domain = u32::from_be_bytes([d0, d1, d2, d3]);
                (self.pci_bus, self.pci_device, self.pci_function) = (bus, device, function);
                self.place_set |= VBN_PLACE_SET_PCI;
            }
            _ => {
                self.access = u32::from_be_bytes(item.exactly()?).into();
                self.set |= VBN_REGION_SET_ACCESS;
            }
        }
        Ok(())
    }

    /// The region that begins; `add` gives it its NICs.
    pub fn begin(attr: &vbn_region_info_attr) -> Result<Self> {
        if attr.reserved0 != [0; 7] {
            return Err(Error::reserved());
        }
        Ok(Self { struct_size: size_of::<Self>(), ..Self::zeroed() })
    }

    /// One more NIC, with the set of the memory on it.
    pub fn add(&mut self, set: &Ref<MrSet>, attr: &vbn_region_info_attr) -> Result<()> {
        let ranges = set.ranges()?;
        let length = match attr.length {
            0 => set.length().saturating_sub(attr.offset),
            length => length,
        };
        if attr.offset >= set.length() {
            return Err(Error::range("offset", attr.offset, "inside the set").value(attr.offset, set.length()));
        }
        check_part(set.length(), attr.offset, length, 1)?;
        let nic = self.num_nics;
        let Some(place) = self.nics.get_mut(usize::from(nic)) else {
            return Err(Error::argument(Reason::Exceeds("count")).value(u64::from(nic) + 1, VBN_REGION_MAX_NICS as u64));
        };
        place.gid = gid_of(set, attr.port_num)?;
        let access = set.known_access().map(|access| access & REMOTE);
        if nic == 0 {
            let place = set.place();
            self.length = length;
            (self.place_set, self.memory, self.gpu) = (place.set, place.memory, place.gpu);
            (self.numa_node, self.pci_domain) = (place.numa_node, place.pci_domain);
            [self.pci_bus, self.pci_device, self.pci_function] = place.pci;
            (self.access, self.set) = access.map_or((0, 0), |access| (access, VBN_REGION_SET_ACCESS));
        } else {
            if self.length != length {
                return Err(Error::argument(Reason::ExceedsNamed("length", "that of the first set,"))
                    .value(length, self.length)
                    .hint("all sets of a region have the same memory, registered with one NIC each"));
            }
            // What all of them allow.
            self.access &= access.unwrap_or(0);
            self.set &= access.map_or(0, |_| SET);
        }
        self.num_nics += 1;
        self.append(nic, ranges, set.rkeys(), attr.offset, length)
    }

    fn append(
        &mut self,
        nic: u8,
        ranges: &[Range],
        rkeys: impl Iterator<Item = u32>,
        offset: u64,
        length: u64,
    ) -> Result<()> {
        let (mut skip, mut left, mut needed) = (offset, length, u64::from(self.num_entries));
        for (range, rkey) in ranges.iter().zip(rkeys) {
            let one = [*range];
            let Some(here) = Cursor::at(&one, skip).here().filter(|_| left > 0) else {
                skip = skip.saturating_sub(range.length);
                continue;
            };
            skip = 0;
            let piece = here.length.min(left);
            left -= piece;
            needed += 1;
            if let Some(place) = self.entries.get_mut(usize::from(self.num_entries)) {
                *place = vbn_region_entry { addr: here.addr, length: piece, rkey, nic: nic.into() };
                self.num_entries += 1;
            }
        }
        if needed > VBN_REGION_MAX_ENTRIES as u64 {
            return Err(Error::argument(Reason::Exceeds("the number of entries"))
                .value(needed, VBN_REGION_MAX_ENTRIES as u64)
                .hint("make several regions: offset and length of the attr take a part of the sets"));
        }
        Ok(())
    }
}

/// What tells the NIC from others. A device without GIDs has none to tell.
fn gid_of(set: &MrSet, port_num: u8) -> Result<[u8; 16]> {
    match Gids::of(set.device(), port_num.max(1), None) {
        Ok(gids) => Ok(gids.first()),
        Err(error) if matches!(error.status, VBN_ERR_NOT_FOUND | VBN_ERR_NOT_SUPPORTED) => Ok([0; 16]),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
