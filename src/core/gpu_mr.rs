// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of a GPU, registered: one dma-buf, one for each segment, or by address with a peer-memory module; what came of each, and whether
//! the memory is still the one that was registered.

use std::ffi::{c_char, c_void};
use std::fmt::{self, Write};
use std::os::fd::AsRawFd;

use super::alloc;
use super::cold::{Cold, cold_structs};
use super::detail::{self, Detail};
use super::error::{self, Error, Reason, Result, VBN_INDEX_NONE, VBN_VENDOR_NONE};
use super::gpu::{self, *};
use super::mr::*;
use super::mr_set::*;
use super::pd::Pd;
use super::slab::{Ref, Slot};
use super::status::*;
use super::text::{Writer, chars, text, until_zero};

/// `paths`, and `path` of reports: one dma-buf of all of the memory.
pub const VBN_GPU_PATH_DMABUF: u32 = 1;
/// `paths`, and `path` of reports: a dma-buf for each segment of VMM memory.
pub const VBN_GPU_PATH_SEGMENTS: u32 = 2;
/// `paths`, and `path` of reports: registered by its address, which a peer-memory module of the kernel resolves (nvidia_peermem; on EFA the
/// driver's own, efa_nv_peermem).
pub const VBN_GPU_PATH_PEER: u32 = 4;

const PATHS: [u32; MOST] = [VBN_GPU_PATH_DMABUF, VBN_GPU_PATH_SEGMENTS, VBN_GPU_PATH_PEER];
const ALL_PATHS: u32 = 7;
const MOST: usize = 3;

/// `outcome` of a path: it was not tried, for `reason`.
pub const VBN_GPU_ATTEMPT_NONE: i32 = 0;
/// `outcome` of a path: it failed, for `reason`.
pub const VBN_GPU_ATTEMPT_FAILED: i32 = 1;
/// `outcome` of a path: the memory is registered this way.
pub const VBN_GPU_ATTEMPT_WON: i32 = 2;

/// `*state` of vbn_gpu_mr_validate: it can't be told, as with ROCm.
pub const VBN_GPU_MR_UNKNOWN: i32 = 0;
/// `*state` of vbn_gpu_mr_validate: the memory is what was registered.
pub const VBN_GPU_MR_VALID: i32 = 1;
/// `*state` of vbn_gpu_mr_validate: at least a part of the memory has been freed. What comes in goes nowhere, or into pages that nobody sees.
pub const VBN_GPU_MR_FREED: i32 = 2;
/// `*state` of vbn_gpu_mr_validate: at least a part of the memory has been freed, and its address is another allocation's now.
pub const VBN_GPU_MR_REPLACED: i32 = 3;

/// What `vbn_gpu_mr_reg` and `vbn_mr_reg_dltensor` may be told. All-zero is the default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_gpu_mr_attr {
    /// sizeof(vbn_gpu_mr_attr).
    pub struct_size: usize,
    /// VBN_GPU_DMABUF_*, for dma-bufs. (Peer memory always leads over PCIe.)
    pub flags: u64,
    /// Whatever keeps the memory alive. Not looked at; vbn_mr_set_query returns it until a close has succeeded.
    pub owner: *mut c_void,
    /// Comes back in queries of the set.
    pub user_data: u64,
    /// VBN_GPU_PATH_* that may be tried. One alone forces it; 0: all.
    pub paths: u32,
    /// VBN_GPU_KIND_*: whose memory it is. 0: whoever knows the address. vbn_mr_reg_dltensor goes by the tensor, and this must be 0.
    pub kind: i32,
}

/// What came of one path. Frozen.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_gpu_attempt {
    /// VBN_GPU_PATH_*.
    pub path: u32,
    /// VBN_GPU_ATTEMPT_*.
    pub outcome: i32,
    /// VBN_ERR_* of what failed, else VBN_OK.
    pub status: i32,
    /// errno of what failed, else 0.
    pub sys_errno: i32,
    /// VBN_VENDOR_*: whose number `vendor_code` is.
    pub vendor_domain: i32,
    /// At which of the segments it failed, from 0, where each is exported by itself; else 0.
    pub segment: u32,
    /// What the GPU's library answered.
    pub vendor_code: i64,
    /// A sentence: why it failed or was not tried. Empty for the path that won.
    pub reason: [c_char; 320],
}

/// What `vbn_gpu_mr_reg` tells of its way to a region.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_gpu_mr_report {
    /// sizeof(vbn_gpu_mr_report), set by the caller.
    pub struct_size: usize,
    /// The number of the allocation that the memory begins in; 0: not known.
    pub buffer_id: u64,
    /// VBN_GPU_PATH_* that won; 0: none.
    pub path: u32,
    /// How many regions the set has.
    pub count: u32,
    /// VBN_GPU_KIND_*: whose memory it is.
    pub kind: i32,
    /// The ordinal of the GPU.
    pub device: i32,
    /// VBN_GPU_ALLOCATION_*.
    pub allocation: i32,
    /// In how many allocations or segments the memory lies.
    pub segments: u32,
    /// How many of `attempts` there are: all paths that this release knows, 3.
    pub num_attempts: u32,
    /// 0.
    pub reserved0: u32,
    /// What came of each path, in the order in which they are tried: dma-buf, segments, peer memory. A path has one entry, however many regions
    /// it takes: it ends with the first that fails. What lies behind the last is zero, room for paths that come later.
    pub attempts: [vbn_gpu_attempt; 5],
}
cold_structs!(vbn_gpu_mr_attr, vbn_gpu_mr_report);

const _: () = assert!(size_of::<vbn_gpu_attempt>() == 352);

/// What came of one path.
#[derive(Clone, Copy)]
enum Attempt {
    NotTried(&'static str),
    Failed(Error),
    Won,
}

/// What came of each path.
#[derive(Clone, Copy)]
pub struct Attempts([Attempt; MOST]);

impl Attempts {
    /// One clause for each path. None may be so long that the others are cut.
    pub fn write(&self, out: &mut dyn Write) -> fmt::Result {
        // What a message has room for, without its beginning and the names.
        const ROOM: usize = 860;
        let names = ["dma-buf", "a dma-buf for each segment", "peer memory"];
        let mut clauses = [[0; 512]; MOST];
        for (clause, attempt) in clauses.iter_mut().zip(&self.0) {
            attempt.write(clause);
        }
        let whole: usize = clauses.iter().map(|clause| until_zero(clause).len()).sum();
        let most = if whole <= ROOM { ROOM } else { ROOM / MOST };
        for (index, (name, clause)) in names.into_iter().zip(&clauses).enumerate() {
            let clause = until_zero(clause);
            out.write_str(if index == 0 { ": " } else { " | " })?;
            write!(out, "{name}: ")?;
            super::text::write_bytes(out, clause.get(..most).unwrap_or(clause))?;
        }
        Ok(())
    }
}

impl Attempt {
    fn write(&self, buffer: &mut [u8]) {
        let mut out = Writer::new(buffer);
        // The writer cuts what does not fit and never fails.
        let _ = match self {
            Self::NotTried(why) => write!(out, "not tried, {why}"),
            Self::Failed(error) if error.index != VBN_INDEX_NONE => {
                write!(out, "[{}]: ", error.index).and_then(|()| error::write_error(error, &mut out))
            }
            Self::Failed(error) => error::write_error(error, &mut out),
            Self::Won => Ok(()),
        };
    }

    fn to_abi(self, path: u32) -> vbn_gpu_attempt {
        let mut reason = [0; 320];
        self.write(&mut reason);
        let outcome = match self {
            Self::NotTried(_) => VBN_GPU_ATTEMPT_NONE,
            Self::Failed(_) => VBN_GPU_ATTEMPT_FAILED,
            Self::Won => VBN_GPU_ATTEMPT_WON,
        };
        let error = if let Self::Failed(error) = self { Some(error) } else { None };
        vbn_gpu_attempt {
            path,
            outcome,
            status: error.map_or(VBN_OK, |error| error.status),
            sys_errno: error.map_or(0, |error| error.errno),
            vendor_domain: error.map_or(VBN_VENDOR_NONE, |error| error.vendor_domain),
            segment: error.map_or(0, |error| if error.index == VBN_INDEX_NONE { 0 } else { error.index as u32 }),
            vendor_code: error.map_or(0, |error| error.vendor_code),
            reason: chars(&reason),
        }
    }
}

/// The memory that a set was made of, to know it again.
pub struct Source {
    pub kind: i32,
    pub pieces: Vec<Piece>,
}

/// A part of it that has one allocation behind it.
#[derive(Clone, Copy)]
pub struct Piece {
    pub segment: Segment,
    pub buffer_id: u64,
}

impl Source {
    fn of(range: &Range) -> Result<Self> {
        let kind = range.info.kind;
        let mut pieces = Vec::new();
        let mut add = |segment: Segment| {
            let buffer_id = gpu::buffer_id(kind, segment.addr).unwrap_or(0);
            alloc::push(&mut pieces, Piece { segment, buffer_id }).map_err(Error::from)
        };
        if range.may_span() {
            range.segments(&mut add)?;
        } else {
            add(Segment { addr: range.ptr, length: range.length })?;
        }
        Ok(Self { kind, pieces })
    }

    /// VBN_GPU_MR_*: what has become of it. The worst of the pieces counts.
    pub fn state(&self) -> Result<i32> {
        let mut unknown = false;
        let mut state = VBN_GPU_MR_VALID;
        for piece in &self.pieces {
            let info = gpu::pointer(self.kind, piece.segment.addr)?;
            if info.memory != VBN_GPU_MEMORY_DEVICE || info.mapped == 0 {
                return Ok(VBN_GPU_MR_FREED);
            }
            if piece.buffer_id == 0 || info.buffer_id == 0 {
                unknown = true;
            } else if piece.buffer_id != info.buffer_id {
                state = VBN_GPU_MR_REPLACED;
            }
        }
        Ok(if unknown && state == VBN_GPU_MR_VALID { VBN_GPU_MR_UNKNOWN } else { state })
    }
}

/// Regions that are not in a set yet. Dropped, they are closed.
struct Regions(Vec<&'static Slot<Mr>>);

impl Regions {
    /// Room comes first: a region that finds none would be nobody's.
    fn add(&mut self, register: impl FnOnce() -> Result<&'static Slot<Mr>>) -> Result<()> {
        self.0.try_reserve(1).map_err(|_| Error::no_memory())?;
        alloc::push(&mut self.0, register()?)?;
        Ok(())
    }

    fn into_set(mut self, place: Place, attr: &vbn_gpu_mr_attr, source: Source) -> Result<&'static Slot<MrSet>> {
        let mut builder = Builder::new(true);
        for mr in &self.0 {
            builder.add(mr.pin()?)?;
        }
        let set = builder.finish(place, attr.owner, attr.user_data, Some(source))?;
        self.0.clear();
        Ok(set)
    }
}

impl Drop for Regions {
    fn drop(&mut self) {
        for mr in self.0.drain(..) {
            // They are new, and nothing can be in the way of their end. One that stays none the less is among those that
            // vbn_context_live counts.
            let _ = mr.close();
        }
    }
}

/// A registration under way.
struct Job<'a> {
    pd: &'a Ref<Pd>,
    range: &'a Range,
    pieces: &'a [Piece],
    access: u64,
    attr: &'a vbn_gpu_mr_attr,
}

impl Job<'_> {
    fn mr_attr(&self) -> vbn_mr_attr {
        vbn_mr_attr { owner: self.attr.owner, user_data: self.attr.user_data, ..vbn_mr_attr::zeroed() }
    }

    fn try_path(&self, path: u32) -> Result<Regions> {
        let mut regions = Regions(Vec::new());
        match path {
            VBN_GPU_PATH_DMABUF => {
                let whole = Segment { addr: self.range.ptr, length: self.range.length };
                regions.add(|| self.dmabuf(whole))?;
            }
            VBN_GPU_PATH_SEGMENTS => {
                for (piece, index) in self.pieces.iter().zip(0..) {
                    regions.add(|| self.dmabuf(piece.segment)).map_err(|error| error.at(index))?;
                }
            }
            _ => self.peer(&mut regions)?,
        }
        Ok(regions)
    }

    /// The region holds the dma-buf itself, so the descriptor goes in any case.
    fn dmabuf(&self, part: Segment) -> Result<&'static Slot<Mr>> {
        let buf = self.range.export_part(part, self.attr.flags)?;
        let Segment { addr, length } = part;
        Mr::reg_dmabuf(self.pd.clone(), buf.fd.as_raw_fd(), buf.offset, length, addr, self.access, &self.mr_attr())
    }

    /// As one if the module can, else piece by piece.
    fn peer(&self, regions: &mut Regions) -> Result<()> {
        // A module goes by the address, but some drivers want a context. Without one it may do as well.
        let _entered = self.range.enter().ok();
        let reg = |addr, length| {
            let kind = self.range.info.kind;
            Mr::reg_peer(self.pd.clone(), kind, addr, length, self.access, &self.mr_attr())
        };
        let Err(error) = regions.add(|| reg(self.range.ptr, self.range.length)) else { return Ok(()) };
        if self.pieces.len() < 2 {
            return Err(error);
        }
        for Piece { segment, .. } in self.pieces {
            // What it said of the whole says more.
            regions.add(|| reg(segment.addr, segment.length)).map_err(|_| error)?;
        }
        Ok(())
    }
}

impl vbn_gpu_mr_report {
    /// What is told when nothing has been looked at.
    pub fn unknown() -> Self {
        let mut report = Self { struct_size: size_of::<Self>(), device: VBN_GPU_UNKNOWN, ..Self::zeroed() };
        report.tell([Attempt::NotTried("the arguments were refused"); MOST]);
        report
    }

    fn tell(&mut self, attempts: [Attempt; MOST]) {
        self.num_attempts = MOST as u32;
        for ((told, attempt), path) in self.attempts.iter_mut().zip(attempts).zip(PATHS) {
            *told = attempt.to_abi(path);
        }
    }
}

impl vbn_gpu_mr_attr {
    pub fn check(&self) -> Result<()> {
        if self.flags & !VBN_GPU_DMABUF_PCIE != 0 {
            return Err(Error::unknown_bits("flags", self.flags, VBN_GPU_DMABUF_PCIE));
        }
        if self.paths & !ALL_PATHS != 0 {
            return Err(Error::unknown_bits("paths", self.paths.into(), ALL_PATHS.into()));
        }
        Ok(())
    }
}

/// What a GPU's memory can't be.
fn check_gpu_access(access: u64) -> Result<()> {
    const HOST_ONLY: u64 = VBN_ACCESS_ON_DEMAND | VBN_ACCESS_HUGETLB | VBN_ACCESS_ZERO_BASED;
    check_access(access)?;
    if access & HOST_ONLY == 0 {
        return Ok(());
    }
    Err(Error::text(
        VBN_ERR_ARGUMENT,
        "VBN_ACCESS_ON_DEMAND, VBN_ACCESS_HUGETLB and VBN_ACCESS_ZERO_BASED are for memory of the host",
    )
    .value(access & HOST_ONLY, 0)
    .hint("leave them out: a GPU's memory is pinned, and its region begins at its device address"))
}

/// Registers memory of a GPU. The report is filled whatever comes of it.
pub fn reg(
    pd: &Ref<Pd>,
    ptr: u64,
    length: u64,
    access: u64,
    attr: &vbn_gpu_mr_attr,
    report: &mut vbn_gpu_mr_report,
) -> Result<&'static Slot<MrSet>> {
    attr.check()?;
    check_gpu_access(access)?;
    let range = Range::find(attr.kind, ptr, length)?;
    let source = Source::of(&range)?;
    (report.kind, report.device, report.allocation) = (range.info.kind, range.info.device, range.info.allocation);
    report.segments = u32::try_from(source.pieces.len()).unwrap_or(u32::MAX);
    report.buffer_id = source.pieces.first().map_or(0, |piece| piece.buffer_id);

    let paths = if attr.paths == 0 { ALL_PATHS } else { attr.paths };
    let job = Job { pd, range: &range, pieces: &source.pieces, access, attr };
    let mut attempts = [Attempt::NotTried("an earlier path has worked"); MOST];
    let mut made = None;
    for (attempt, path) in attempts.iter_mut().zip(PATHS) {
        if made.is_some() {
            break;
        }
        *attempt = if paths & path == 0 {
            Attempt::NotTried("since paths leaves it out")
        } else if path == VBN_GPU_PATH_SEGMENTS && source.pieces.len() < 2 && paths & VBN_GPU_PATH_DMABUF != 0 {
            Attempt::NotTried("since the memory is one segment, as above")
        } else {
            match job.try_path(path) {
                Ok(regions) => {
                    made = Some((regions, path));
                    Attempt::Won
                }
                Err(error) => Attempt::Failed(error),
            }
        };
    }
    let result = match made {
        None => Err(none_worked(attempts, length)),
        Some((regions, path)) => {
            let count = u32::try_from(regions.0.len()).unwrap_or(u32::MAX);
            let set = finish(regions, &range, attr, source);
            match set {
                Ok(_) => (report.path, report.count) = (path, count),
                Err(error) => lose(&mut attempts, error),
            }
            set
        }
    };
    report.tell(attempts);
    result
}

/// Makes a set of the regions, if the memory is still what they were registered for.
fn finish(regions: Regions, range: &Range, attr: &vbn_gpu_mr_attr, source: Source) -> Result<&'static Slot<MrSet>> {
    // Whoever freed the memory meanwhile has had it registered half, or somebody else's.
    if matches!(source.state(), Ok(VBN_GPU_MR_FREED | VBN_GPU_MR_REPLACED)) {
        return Err(Error::text(VBN_ERR_ARGUMENT, "the memory was freed while it was being registered")
            .value(range.ptr, 0)
            .hint("keep it until the set is closed"));
    }
    regions.into_set(place_of(range), attr, source)
}

/// The path that had won has come to nothing; those behind it were left alone.
fn lose(attempts: &mut [Attempt; MOST], error: Error) {
    let mut lost = false;
    for attempt in attempts {
        if lost {
            *attempt = Attempt::NotTried("since another would have met the same as the one before");
        } else if matches!(attempt, Attempt::Won) {
            *attempt = Attempt::Failed(error);
            lost = true;
        }
    }
}

/// Says of every path why it was none. The last one that was tried lends its codes.
fn none_worked(attempts: [Attempt; MOST], length: u64) -> Error {
    detail::keep(Detail::Paths(Attempts(attempts)));
    let failed = |attempt: &Attempt| if let Attempt::Failed(error) = attempt { Some(*error) } else { None };
    let last = attempts.iter().rev().find_map(failed);
    let error = Error::new(VBN_ERR_NOT_SUPPORTED, Reason::Detail("no path to the GPU's memory worked"));
    match last {
        None => error,
        Some(last) => Error {
            status: last.status,
            errno: last.errno,
            vendor_domain: last.vendor_domain,
            vendor_code: last.vendor_code,
            ..error
        }
        .value(if last.value != 0 { last.value } else { length }, last.limit),
    }
}

/// Where the memory lives, as far as the GPU's library and sysfs tell.
fn place_of(range: &Range) -> Place {
    let info = &range.info;
    let memory = if info.kind == VBN_GPU_KIND_CUDA { VBN_MEMORY_CUDA } else { VBN_MEMORY_ROCM };
    let mut place = Place { memory, ..Place::default() };
    if info.device < 0 {
        return place;
    }
    (place.set, place.gpu) = (VBN_PLACE_SET_GPU, info.device);
    let Ok(device) = gpu::device(info.kind, info.device) else { return place };
    if device.numa_node >= 0 {
        place.set |= VBN_PLACE_SET_NUMA;
        place.numa_node = device.numa_node;
    }
    if let Some((domain, pci)) = parse_pci(text(&device.pci_address)) {
        place.set |= VBN_PLACE_SET_PCI;
        (place.pci_domain, place.pci) = (domain, pci);
    }
    place
}

/// "0000:0f:00.0" as numbers.
fn parse_pci(address: &[u8]) -> Option<(u32, [u8; 3])> {
    let (domain, rest) = str::from_utf8(address).ok()?.split_once(':')?;
    let (bus, rest) = rest.split_once(':')?;
    let (device, function) = rest.split_once('.')?;
    let hex = |digits| u8::from_str_radix(digits, 16).ok();
    let pci = [hex(bus)?, hex(device).filter(|device| *device < 32)?, hex(function).filter(|function| *function < 8)?];
    Some((u32::from_str_radix(domain, 16).ok()?, pci))
}

/// VBN_GPU_MR_*: what has become of the memory of a set.
pub fn validate(set: &MrSet) -> Result<i32> {
    match set.source() {
        Some(source) => source.state(),
        None => Err(Error::text(VBN_ERR_ARGUMENT, "the set was not made by vbn_gpu_mr_reg")
            .hint("memory of the host has no number that would tell it from later memory at its address")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::{Record, describe};
    use super::super::op::Op;
    use super::*;

    fn sentence(error: Error) -> String {
        let mut buffer = [0u8; 1024];
        describe(&Record { op: Op::GpuMrReg, error }, &mut buffer);
        String::from_utf8(until_zero(&buffer).to_vec()).unwrap()
    }

    #[test]
    fn every_reason_is_told_and_none_cuts_another() {
        const LONG: &str = "a very long remedy, a very long remedy, a very long remedy, a very long remedy, a very long remedy, a very \
            long remedy, a very long remedy, a very long remedy, a very long remedy, a very long remedy, a very long remedy, a very long \
            remedy, a very long remedy, a very long remedy, a very long remedy, a very long remedy, a very long remedy, a very long remedy";
        let first = Error::call("ibv_reg_dmabuf_mr", libc::EOPNOTSUPP).hint(LONG);
        let last = Error::call("ibv_reg_mr_iova2", libc::EFAULT).hint(LONG);
        let error = none_worked([Attempt::Failed(first), Attempt::NotTried("for a reason"), Attempt::Failed(last)], 77);
        assert_eq!((error.status, error.errno, error.value), (VBN_ERR_DRIVER, libc::EFAULT, 77));
        let text = sentence(error);
        for part in [
            "vbn_gpu_mr_reg: no path to the GPU's memory worked: dma-buf: ibv_reg_dmabuf_mr failed: Operation not supported (errno 95); a very",
            " | a dma-buf for each segment: not tried, for a reason | peer memory: ibv_reg_mr_iova2 failed: Bad address (errno 14); a very",
        ] {
            assert!(text.contains(part), "{text}");
        }
        let error = none_worked([Attempt::Failed(first); 3], 1);
        assert!(sentence(error).matches("(errno 95)").count() == 3);
    }

    #[test]
    fn pci_addresses() {
        assert_eq!(parse_pci(b"0000:0f:1e.7"), Some((0, [0x0f, 0x1e, 7])));
        assert_eq!(parse_pci(b"10000:ff:00.0"), Some((0x10000, [0xff, 0, 0])));
        for bad in [
            &b""[..],
            b"0000",
            b"0000:0f",
            b"0000:0f:00",
            b"0000:0f:20.0",
            b"0000:0f:00.8",
            b"x:0f:00.0",
            b"0:100:0.0",
            b"\xff:0:0.0",
        ] {
            assert_eq!(parse_pci(bad), None);
        }
    }

    #[test]
    fn what_only_host_memory_can_be_is_refused() {
        for access in [VBN_ACCESS_ON_DEMAND, VBN_ACCESS_HUGETLB, VBN_ACCESS_ZERO_BASED] {
            let error = check_gpu_access(access | VBN_ACCESS_LOCAL_WRITE).unwrap_err();
            assert_eq!((error.status, error.value), (VBN_ERR_ARGUMENT, access));
        }
        assert!(check_gpu_access(VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_RELAXED_ORDERING).is_ok());
        assert!(check_gpu_access(1 << 50).is_err());
    }
}
