// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of GPUs: whose an address is, what may be done with it, and its way to a NIC. Addresses are numbers here, nothing is
//! read from them. `gpu_cuda` and `gpu_rocm` ask the vendors' libraries.

use std::ffi::{c_char, c_void};
use std::os::fd::OwnedFd;

use super::cold::cold_structs;
use super::error::{Error, Reason, Result};
use super::gpu_cuda::{self, Entered};
use super::gpu_library::{CUDA, ROCM};
use super::gpu_rocm;
use super::status::*;

/// `kind`: whichever of the libraries below knows the address. Only those that the process has loaded are asked, since no other can
/// have made it.
pub const VBN_GPU_KIND_ANY: i32 = 0;
/// `kind`: NVIDIA, by libcuda.so.1.
pub const VBN_GPU_KIND_CUDA: i32 = 1;
/// `kind`: AMD, by libhsa-runtime64.so.1.
pub const VBN_GPU_KIND_ROCM: i32 = 2;

/// Of fields that say yes (1) or no (0), and of some others: the driver doesn't tell.
pub const VBN_GPU_UNKNOWN: i32 = -1;

/// `vbn_gpu_pointer_info.memory`: the GPU's library doesn't know the address. It is ordinary memory of the host, or nothing (any more).
pub const VBN_GPU_MEMORY_UNKNOWN: i32 = 0;
/// `vbn_gpu_pointer_info.memory`: memory of the host that the GPU's library allocated or was told of.
pub const VBN_GPU_MEMORY_HOST: i32 = 1;
/// `vbn_gpu_pointer_info.memory`: memory of a GPU.
pub const VBN_GPU_MEMORY_DEVICE: i32 = 2;
/// `vbn_gpu_pointer_info.memory`: managed memory, which the driver moves between host and GPU. No NIC can be given it.
pub const VBN_GPU_MEMORY_MANAGED: i32 = 3;

/// `vbn_gpu_pointer_info.allocation`: it can't be told.
pub const VBN_GPU_ALLOCATION_UNKNOWN: i32 = 0;
/// `vbn_gpu_pointer_info.allocation`: one block, as of cuMemAlloc, cudaMalloc, hipMalloc.
pub const VBN_GPU_ALLOCATION_PLAIN: i32 = 1;
/// `vbn_gpu_pointer_info.allocation`: made by cuMemCreate and mapped by cuMemMap, perhaps of several segments.
pub const VBN_GPU_ALLOCATION_VMM: i32 = 2;
/// `vbn_gpu_pointer_info.allocation`: from a pool, as of cuMemAllocAsync, cudaMallocAsync.
pub const VBN_GPU_ALLOCATION_POOL: i32 = 3;

/// `vbn_gpu_device_info.writes_ordering`: what a NIC has written must be flushed before work on a GPU reads it.
pub const VBN_GPU_ORDERING_NONE: i32 = 0;
/// `vbn_gpu_device_info.writes_ordering`: the GPU that owns the memory sees it without a flush.
pub const VBN_GPU_ORDERING_OWNER: i32 = 100;
/// `vbn_gpu_device_info.writes_ordering`: every GPU sees it without a flush.
pub const VBN_GPU_ORDERING_ALL_DEVICES: i32 = 200;

/// `vbn_gpu_device_info.flush_options`: vbn_gpu_flush_writes works.
pub const VBN_GPU_FLUSH_OPTION_HOST: i32 = 1;
/// `vbn_gpu_device_info.flush_options`: a stream can flush (cuStreamWaitValue32 and the like).
pub const VBN_GPU_FLUSH_OPTION_MEMOPS: i32 = 2;

/// `scope` of vbn_gpu_flush_writes: for work on the GPU that owns the memory.
pub const VBN_GPU_FLUSH_OWNER: i32 = 100;
/// `scope` of vbn_gpu_flush_writes: for work on any GPU.
pub const VBN_GPU_FLUSH_ALL_DEVICES: i32 = 200;

/// `*done` of vbn_gpu_flush_writes: nothing had to be done, since the device orders such writes by itself.
pub const VBN_GPU_FLUSH_NOT_NEEDED: i32 = 0;
/// `*done` of vbn_gpu_flush_writes: flushed.
pub const VBN_GPU_FLUSH_DONE: i32 = 1;

/// `device` of vbn_gpu_flush_writes and vbn_gpu_synchronize: the device of the calling thread's current context.
pub const VBN_GPU_DEVICE_CURRENT: i32 = -2;

/// `vbn_gpu_dmabuf_attr.flags`: the dma-buf shall lead over PCIe (the GPU's BAR1) where the GPU has another way to the host's memory
/// as well (Grace Hopper, Grace Blackwell). CUDA 12.8; refused where there is no choice.
pub const VBN_GPU_DMABUF_PCIE: u64 = 1;

/// What `vbn_gpu_pointer_query` tells of an address.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vbn_gpu_pointer_info {
    /// sizeof(vbn_gpu_pointer_info), set by the caller.
    pub struct_size: usize,
    /// Where the allocation begins: of VMM memory the segment that the address lies in. 0: not known.
    pub base: u64,
    /// Its bytes. 0: not known.
    pub size: u64,
    /// Where the whole range of addresses begins, of which VMM memory may have mapped several segments; else as `base`.
    pub range_base: u64,
    /// Its bytes; of VMM memory those that were reserved, whether mapped or not.
    pub range_size: u64,
    /// A number that the process never uses again for another allocation. 0: not known, as always with ROCm.
    pub buffer_id: u64,
    /// The CUcontext that the memory was allocated in; NULL for VMM memory, memory of pools, and ROCm.
    pub context: *mut c_void,
    /// VBN_GPU_KIND_*: whose memory it is; with `memory` VBN_GPU_MEMORY_UNKNOWN whom was asked last.
    pub kind: i32,
    /// VBN_GPU_MEMORY_*.
    pub memory: i32,
    /// The ordinal of the GPU as its library counts; VBN_GPU_UNKNOWN for memory of the host.
    pub device: i32,
    /// VBN_GPU_ALLOCATION_*.
    pub allocation: i32,
    /// Whether a NIC may be given it: of VMM memory 0 says that it was made without allocFlags.gpuDirectRDMACapable. Or
    /// VBN_GPU_UNKNOWN.
    pub rdma_capable: i32,
    /// 0: the address lies in a reserved range, and nothing is mapped there. Or VBN_GPU_UNKNOWN.
    pub mapped: i32,
}

/// What `vbn_gpu_device_query` tells of a GPU.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_gpu_device_info {
    /// sizeof(vbn_gpu_device_info), set by the caller.
    pub struct_size: usize,
    /// Bytes of the largest range of memory that the GPU shows on the PCI bus (BAR1), by sysfs; 0: not known. Peer memory can't
    /// register more than that at a time, however much memory there is.
    pub bar_size: u64,
    /// VBN_GPU_KIND_*.
    pub kind: i32,
    /// Its ordinal.
    pub device: i32,
    /// Whether memory can be exported as dma-buf. Or VBN_GPU_UNKNOWN.
    pub dmabuf: i32,
    /// Whether NICs can be given its memory (GPUDirect RDMA). Or VBN_GPU_UNKNOWN.
    pub gpudirect_rdma: i32,
    /// The same for VMM memory, which must be created with allocFlags.gpuDirectRDMACapable. Or VBN_GPU_UNKNOWN.
    pub gpudirect_rdma_vmm: i32,
    /// VBN_GPU_ORDERING_*, or VBN_GPU_UNKNOWN.
    pub writes_ordering: i32,
    /// VBN_GPU_FLUSH_OPTION_* bits, or VBN_GPU_UNKNOWN.
    pub flush_options: i32,
    /// The NUMA node that it hangs on, by sysfs; -1: none, or not known.
    pub numa_node: i32,
    /// The driver's version: of CUDA 1000 * major + 10 * minor, such as 12080; 0: not known.
    pub driver_version: i32,
    /// 0.
    pub reserved0: u32,
    /// Its PCI address as sysfs writes it, "0000:0f:00.0"; empty: not known.
    pub pci_address: [c_char; 32],
    /// Its name; empty: not known.
    pub name: [c_char; 128],
}

/// How `vbn_gpu_dmabuf_export` exports. All-zero is the default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_gpu_dmabuf_attr {
    /// sizeof(vbn_gpu_dmabuf_attr).
    pub struct_size: usize,
    /// VBN_GPU_DMABUF_*.
    pub flags: u64,
}

/// A dma-buf of GPU memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_gpu_dmabuf {
    /// sizeof(vbn_gpu_dmabuf), set by the caller.
    pub struct_size: usize,
    /// The descriptor, closed on exec; -1 after a failure.
    pub fd: i32,
    /// VBN_GPU_KIND_*: whose memory it is.
    pub kind: i32,
    /// Where the memory that was asked for begins in the dma-buf: the `offset` of vbn_mr_reg_dmabuf.
    pub offset: u64,
    /// The address that the dma-buf begins at.
    pub base: u64,
    /// Bytes that were exported, from `base` on.
    pub length: u64,
}
cold_structs!(vbn_gpu_pointer_info, vbn_gpu_device_info, vbn_gpu_dmabuf_attr, vbn_gpu_dmabuf);

impl vbn_gpu_pointer_info {
    /// Nothing is known yet.
    pub(super) fn unknown(kind: i32) -> Self {
        Self {
            struct_size: size_of::<Self>(),
            base: 0,
            size: 0,
            range_base: 0,
            range_size: 0,
            buffer_id: 0,
            context: std::ptr::null_mut(),
            kind,
            memory: VBN_GPU_MEMORY_UNKNOWN,
            device: VBN_GPU_UNKNOWN,
            allocation: VBN_GPU_ALLOCATION_UNKNOWN,
            rdma_capable: VBN_GPU_UNKNOWN,
            mapped: VBN_GPU_UNKNOWN,
        }
    }
}

/// A dma-buf, closed when it is dropped.
pub struct Dmabuf {
    pub fd: OwnedFd,
    /// Where what was asked for begins in it.
    pub offset: u64,
    /// The address that it begins at.
    pub base: u64,
    /// Its bytes.
    pub length: u64,
}

/// A piece of a range that has one allocation behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub addr: u64,
    pub length: u64,
}

/// Whom to ask: one library, or an error that says why it can't be.
fn check_kind(kind: i32, any: bool) -> Result<()> {
    match kind {
        VBN_GPU_KIND_CUDA | VBN_GPU_KIND_ROCM => Ok(()),
        VBN_GPU_KIND_ANY if any => Ok(()),
        _ if any => Err(Error::range_signed("kind", kind.into(), "one of VBN_GPU_KIND_ANY (0), _CUDA (1), _ROCM (2)")),
        _ => Err(Error::range_signed("kind", kind.into(), "one of VBN_GPU_KIND_CUDA (1), _ROCM (2)")),
    }
}

/// What is known of an address.
pub fn pointer(kind: i32, ptr: u64) -> Result<vbn_gpu_pointer_info> {
    check_kind(kind, true)?;
    match kind {
        VBN_GPU_KIND_CUDA => gpu_cuda::pointer(CUDA.functions()?, ptr),
        VBN_GPU_KIND_ROCM => gpu_rocm::pointer(ROCM.functions()?, ptr),
        _ => any_pointer(ptr),
    }
}

/// The library that knows the address, or an answer that none does.
fn any_pointer(ptr: u64) -> Result<vbn_gpu_pointer_info> {
    let mut answer = CUDA.present()?.map(|cuda| gpu_cuda::pointer(cuda, ptr));
    if !matches!(&answer, Some(Ok(info)) if info.memory != VBN_GPU_MEMORY_UNKNOWN || info.mapped == 0)
        && let Some(rocm) = ROCM.present()?
    {
        let second = gpu_rocm::pointer(rocm, ptr);
        // What one says counts for more than what the other can't say.
        answer = match (answer, second) {
            (Some(Ok(first)), Err(_)) => Some(Ok(first)),
            (_, second) => Some(second),
        };
    }
    answer.unwrap_or(Err(Error::text(
        VBN_ERR_LIBRARY_MISSING,
        "neither libcuda.so.1 nor libhsa-runtime64.so.1 is loaded in this process, so no address can be a GPU's",
    )
    .hint(
        "memory of the host is registered by vbn_mr_reg; name the GPU's library with vbn_library_init if it is another",
    )))
}

/// How many GPUs there are.
pub fn device_count(kind: i32) -> Result<u32> {
    check_kind(kind, false)?;
    if kind == VBN_GPU_KIND_CUDA {
        gpu_cuda::device_count(CUDA.functions()?)
    } else {
        gpu_rocm::device_count(ROCM.functions()?)
    }
}

/// What is known of a GPU.
pub fn device(kind: i32, device: i32) -> Result<vbn_gpu_device_info> {
    check_kind(kind, false)?;
    if device < 0 {
        return Err(Error::range_signed("device", device.into(), "an ordinal, 0 or more"));
    }
    if kind == VBN_GPU_KIND_CUDA {
        gpu_cuda::device(CUDA.functions()?, device)
    } else {
        gpu_rocm::device(ROCM.functions()?, device)
    }
}

/// Makes what NICs have written visible to work on GPUs: VBN_GPU_FLUSH_NOT_NEEDED or _DONE.
pub fn flush_writes(kind: i32, device: i32, scope: i32) -> Result<i32> {
    check_kind(kind, false)?;
    check_device(device)?;
    if !matches!(scope, VBN_GPU_FLUSH_OWNER | VBN_GPU_FLUSH_ALL_DEVICES) {
        let all = "one of VBN_GPU_FLUSH_OWNER (100), _ALL_DEVICES (200)";
        return Err(Error::range_signed("scope", scope.into(), all));
    }
    if kind == VBN_GPU_KIND_CUDA {
        gpu_cuda::flush_writes(CUDA.functions()?, device, scope)
    } else {
        gpu_rocm::flush_writes()
    }
}

/// Waits until everything that the GPU was given in the context is done.
pub fn synchronize(kind: i32, device: i32) -> Result<()> {
    check_kind(kind, false)?;
    check_device(device)?;
    if kind == VBN_GPU_KIND_CUDA { gpu_cuda::synchronize(CUDA.functions()?, device) } else { gpu_rocm::synchronize() }
}

fn check_device(device: i32) -> Result<()> {
    if device >= 0 || device == VBN_GPU_DEVICE_CURRENT {
        return Ok(());
    }
    let error = Error::range_signed("device", device.into(), "an ordinal or VBN_GPU_DEVICE_CURRENT (-2)");
    if device != VBN_GPU_UNKNOWN {
        return Err(error);
    }
    Err(error.hint("-1 is VBN_GPU_UNKNOWN, as vbn_gpu_pointer_query says of memory that is no GPU's"))
}

/// The number of the allocation that an address lies in now; 0 where the library has none.
pub fn buffer_id(kind: i32, ptr: u64) -> Result<u64> {
    match kind {
        VBN_GPU_KIND_CUDA => gpu_cuda::buffer_id(CUDA.functions()?, ptr),
        _ => pointer(kind, ptr).map(|info| info.buffer_id),
    }
}

/// A range of GPU memory that was found to be whole: every byte of it belongs to a GPU and is mapped.
#[derive(Clone, Copy)]
pub struct Range {
    pub ptr: u64,
    pub length: u64,
    /// What is known of its first byte.
    pub info: vbn_gpu_pointer_info,
}

impl Range {
    /// Looks at memory that a NIC shall be given, and refuses what none can be given.
    pub fn find(kind: i32, ptr: u64, length: u64) -> Result<Range> {
        check_kind(kind, true)?;
        if ptr == 0 {
            return Err(Error::argument(Reason::Null("ptr")));
        }
        if length == 0 {
            return Err(Error::range("length", 0, "at least 1"));
        }
        if length > u64::MAX - ptr {
            return Err(Error::argument(Reason::ExceedsNamed("length", "the room from ptr to 2^64"))
                .value(length, u64::MAX - ptr));
        }
        let info = pointer(kind, ptr)?;
        let refused = |text, hint| Err(Error::argument(Reason::Address("the address", text)).value(ptr, 0).hint(hint));
        let reserved = info.mapped == 0 && info.size == 0;
        match info.memory {
            VBN_GPU_MEMORY_DEVICE if !reserved => {}
            VBN_GPU_MEMORY_HOST => return refused(" is memory of the host", "register it with vbn_mr_reg"),
            VBN_GPU_MEMORY_MANAGED => {
                return refused(
                    " is managed memory, which the driver moves between host and GPU",
                    "no NIC can be given it: allocate with cuMemCreate, cuMemAlloc or cudaMalloc instead of cudaMallocManaged",
                );
            }
            _ if reserved => {
                return refused(
                    " lies in a range that was reserved (cuMemAddressReserve), with nothing mapped there",
                    "map memory (cuMemMap) before it is registered",
                );
            }
            _ => {
                return refused(
                    " is none of a GPU's: memory of the host, or freed",
                    "register memory of the host with vbn_mr_reg; is it a tensor's data pointer, and the tensor still there?",
                );
            }
        }
        let range = Range { ptr, length, info };
        range.check_bounds()?;
        Ok(range)
    }

    /// What the allocation has from `ptr` on; 0 also where its bounds aren't known.
    fn left(&self) -> u64 {
        self.info.base.saturating_add(self.info.size).saturating_sub(self.ptr)
    }

    /// Whether it may be of several allocations, as segments of VMM memory are, and memory of which it can't be told.
    pub fn may_span(&self) -> bool {
        let info = &self.info;
        let may_be_vmm = matches!(info.allocation, VBN_GPU_ALLOCATION_VMM | VBN_GPU_ALLOCATION_UNKNOWN);
        info.kind == VBN_GPU_KIND_CUDA && may_be_vmm && self.length > self.left()
    }

    /// What lies behind the end of an allocation is somebody else's, or nothing.
    fn check_bounds(&self) -> Result<()> {
        if self.may_span() {
            return self.segments(&mut |_| Ok(()));
        }
        let left = self.left();
        if self.length <= left || self.info.size == 0 {
            return Ok(());
        }
        Err(Error::argument(Reason::ExceedsNamed("length", "what the allocation has left behind ptr,"))
            .value(self.length, left)
            .hint("a range may span several allocations only where they are segments of VMM memory"))
    }

    /// Has a context current in which the memory can be used, until the answer is dropped. Nothing with ROCm.
    pub fn enter(&self) -> Result<Entered> {
        match self.info.kind {
            VBN_GPU_KIND_CUDA => gpu_cuda::enter(CUDA.functions()?, &self.info),
            _ => Ok(Entered::nothing()),
        }
    }

    /// Calls `visit` for each piece that has an allocation of its own, in order. A hole is an error.
    pub fn segments(&self, visit: &mut dyn FnMut(Segment) -> Result<()>) -> Result<()> {
        match self.info.kind {
            VBN_GPU_KIND_CUDA => gpu_cuda::segments(CUDA.functions()?, self, visit),
            // HSA exports nothing that spans two allocations, and tells of none.
            _ => visit(Segment { addr: self.ptr, length: self.length }),
        }
    }

    /// Exports all of it as one dma-buf. `flags` are VBN_GPU_DMABUF_*.
    pub fn export(&self, flags: u64) -> Result<Dmabuf> {
        self.export_part(Segment { addr: self.ptr, length: self.length }, flags)
    }

    /// Exports a part of it, as `segments` has them.
    pub fn export_part(&self, part: Segment, flags: u64) -> Result<Dmabuf> {
        if flags & !VBN_GPU_DMABUF_PCIE != 0 {
            return Err(Error::unknown_bits("flags", flags, VBN_GPU_DMABUF_PCIE));
        }
        match self.info.kind {
            VBN_GPU_KIND_CUDA => gpu_cuda::export(CUDA.functions()?, self, part, flags),
            _ => gpu_rocm::export(ROCM.functions()?, part, flags),
        }
    }
}
