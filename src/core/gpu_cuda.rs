// SPDX-License-Identifier: MIT OR Apache-2.0
//! NVIDIA's GPUs by the CUDA driver API. The driver is never initialised here and no context is created: what the caller has made
//! is used, for the length of a call. A thread's stack of contexts is as before when a call returns.

use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

use super::error::{Error, Reason, Result, VBN_VENDOR_CUDA};
use super::gpu::*;
use super::gpu_library::CUDA;
use super::pci;
use super::status::*;
use super::text::{chars, until_zero};
use crate::sys::cuda::*;
use crate::sys::os;

// The header's numbers are CUDA's.
const _: () = assert!(
    VBN_GPU_ORDERING_NONE == CU_GPU_DIRECT_RDMA_WRITES_ORDERING_NONE
        && VBN_GPU_ORDERING_OWNER == CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER
        && VBN_GPU_ORDERING_ALL_DEVICES == CU_GPU_DIRECT_RDMA_WRITES_ORDERING_ALL_DEVICES
        && VBN_GPU_FLUSH_OWNER as u32 == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER
        && VBN_GPU_FLUSH_ALL_DEVICES as u32 == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES
        && VBN_GPU_FLUSH_OPTION_HOST as u32 == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST
        && VBN_GPU_FLUSH_OPTION_MEMOPS as u32 == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_MEMOPS
        && VBN_GPU_DMABUF_PCIE == CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE
);

const UNINITIALISED: &str = "the CUDA driver is not initialised in this process, and libverbena never does that: call cuInit(0), or anything \
     of the CUDA runtime such as cudaFree(0), first";
const NO_CONTEXT: &str = "make a context of that GPU current in this thread first: cuCtxSetCurrent with one that cuCtxCreate has made \
     (vbn_gpu_pointer_query tells that of plain memory), or with the runtime cudaSetDevice and cudaFree(0)";

/// What a function of the driver answered.
fn call(function: &'static str, result: CUresult) -> Result<()> {
    if result == CUDA_SUCCESS { Ok(()) } else { Err(failure(function, result)) }
}

fn failure(function: &'static str, result: CUresult) -> Error {
    let (status, hint) = match result {
        CUDA_ERROR_OUT_OF_MEMORY => (VBN_ERR_NO_MEMORY, ""),
        CUDA_ERROR_NOT_INITIALIZED => (VBN_ERR_DRIVER, UNINITIALISED),
        CUDA_ERROR_DEINITIALIZED => (VBN_ERR_DRIVER, "the process is ending, and the driver has shut down"),
        CUDA_ERROR_STUB_LIBRARY => (
            VBN_ERR_LIBRARY_MISSING,
            "the library is the toolkit's stub, which is for linking only: take its folder (lib64/stubs) out of LD_LIBRARY_PATH, or \
             name the driver's own libcuda.so.1 in VBN_CUDA_LIBRARY",
        ),
        CUDA_ERROR_NO_DEVICE => {
            (VBN_ERR_NOT_FOUND, "the driver sees no GPU: look at nvidia-smi and CUDA_VISIBLE_DEVICES")
        }
        CUDA_ERROR_INVALID_DEVICE => {
            (VBN_ERR_NOT_FOUND, "ordinals count from 0 among those that CUDA_VISIBLE_DEVICES leaves")
        }
        CUDA_ERROR_NOT_SUPPORTED => (VBN_ERR_NOT_SUPPORTED, ""),
        CUDA_ERROR_INVALID_CONTEXT => (VBN_ERR_DRIVER, NO_CONTEXT),
        CUDA_ERROR_CONTEXT_IS_DESTROYED => {
            (VBN_ERR_DRIVER, "the memory's context has been destroyed, and the memory with it")
        }
        CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => {
            (VBN_ERR_DRIVER, "libcuda and the kernel module are of different releases: reboot after a driver update")
        }
        CUDA_ERROR_SYSTEM_NOT_READY => (VBN_ERR_DRIVER, "is the fabric manager running?"),
        CUDA_ERROR_ILLEGAL_ADDRESS | CUDA_ERROR_LAUNCH_FAILED | CUDA_ERROR_ECC_UNCORRECTABLE => {
            (VBN_ERR_DRIVER, "earlier work on the GPU has failed: its context can't be used any more")
        }
        _ => (VBN_ERR_DRIVER, ""),
    };
    Error {
        vendor_domain: VBN_VENDOR_CUDA,
        vendor_code: result.into(),
        hint,
        ..Error::new(status, Reason::Vendor(function))
    }
}

/// The result that an error was made of.
fn result_of(error: &Error) -> i64 {
    if error.vendor_domain == VBN_VENDOR_CUDA { error.vendor_code } else { 0 }
}

/// A value that the driver writes.
trait Plain: Copy {
    const ZERO: Self;
}
impl Plain for c_int {
    const ZERO: Self = 0;
}
impl Plain for u32 {
    const ZERO: Self = 0;
}
impl Plain for u64 {
    const ZERO: Self = 0;
}
impl Plain for *mut c_void {
    const ZERO: Self = ptr::null_mut();
}

/// An attribute of an address. `T` is as wide as the header says for it.
fn pointer_attribute<T: Plain>(cuda: &Cuda, attribute: CUpointer_attribute, ptr: u64) -> Result<T> {
    let get = CUDA.need(cuda.pointer_get_attribute, c"cuPointerGetAttribute")?;
    let mut value = T::ZERO;
    // SAFETY: the driver writes one value of the attribute's type, and looks the address up without using it.
    let result = unsafe { get((&raw mut value).cast(), attribute, ptr) };
    call("cuPointerGetAttribute", result).map(|()| value)
}

/// The same where an older driver doesn't know the attribute.
fn pointer_hint<T: Plain>(cuda: &Cuda, attribute: CUpointer_attribute, ptr: u64) -> Option<T> {
    pointer_attribute(cuda, attribute, ptr).ok()
}

pub fn pointer(cuda: &'static Cuda, ptr: u64) -> Result<vbn_gpu_pointer_info> {
    let mut info = vbn_gpu_pointer_info::unknown(VBN_GPU_KIND_CUDA);
    let memory = match pointer_attribute::<u32>(cuda, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ptr) {
        Ok(memory) => memory,
        Err(error) if result_of(&error) == CUDA_ERROR_INVALID_VALUE.into() => 0,
        Err(error) => return Err(error),
    };
    info.range_base = pointer_hint(cuda, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, ptr).unwrap_or(0);
    info.range_size = pointer_hint::<u64>(cuda, CU_POINTER_ATTRIBUTE_RANGE_SIZE, ptr).unwrap_or(0);
    info.mapped = pointer_hint(cuda, CU_POINTER_ATTRIBUTE_MAPPED, ptr).unwrap_or(VBN_GPU_UNKNOWN);
    if info.mapped == 0 && info.range_size == 0 {
        info.mapped = VBN_GPU_UNKNOWN;
    }
    if !matches!(memory, CU_MEMORYTYPE_HOST | CU_MEMORYTYPE_DEVICE) {
        return Ok(info);
    }
    let managed = pointer_hint::<u32>(cuda, CU_POINTER_ATTRIBUTE_IS_MANAGED, ptr).unwrap_or(0) & 0xff != 0;
    info.memory = match memory {
        _ if managed => VBN_GPU_MEMORY_MANAGED,
        CU_MEMORYTYPE_DEVICE => VBN_GPU_MEMORY_DEVICE,
        _ => VBN_GPU_MEMORY_HOST,
    };
    info.buffer_id = pointer_hint(cuda, CU_POINTER_ATTRIBUTE_BUFFER_ID, ptr).unwrap_or(0);
    info.context = pointer_hint(cuda, CU_POINTER_ATTRIBUTE_CONTEXT, ptr).unwrap_or(ptr::null_mut());
    if info.memory != VBN_GPU_MEMORY_HOST {
        // Without it no context would be found, and that would be told instead of what is wrong.
        info.device = match pointer_attribute(cuda, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, ptr) {
            Err(error) if result_of(&error) != CUDA_ERROR_INVALID_VALUE.into() => return Err(error),
            device => device.unwrap_or(VBN_GPU_UNKNOWN),
        };
    }
    if info.memory == VBN_GPU_MEMORY_DEVICE {
        allocation(cuda, ptr, &mut info);
        // Without a context the driver can't be asked; the range is as good unless the memory is VMM.
        let segment = enter(cuda, &info).and_then(|_entered| address_range(cuda, ptr));
        (info.base, info.size) = match segment {
            Ok(segment) => segment,
            Err(_) if info.allocation != VBN_GPU_ALLOCATION_VMM && info.mapped != 0 => {
                (info.range_base, info.range_size)
            }
            Err(_) => (0, 0),
        };
    } else {
        (info.base, info.size) = (info.range_base, info.range_size);
    }
    if info.range_size == 0 {
        (info.range_base, info.range_size) = (info.base, info.size);
    }
    Ok(info)
}

/// What kind of allocation it is, and whether a NIC may have it.
fn allocation(cuda: &Cuda, ptr: u64, info: &mut vbn_gpu_pointer_info) {
    let capable = pointer_hint::<u32>(cuda, CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, ptr);
    // The header says "a boolean": an int as the runtime takes it, or a byte of it.
    info.rdma_capable = capable.map_or(VBN_GPU_UNKNOWN, |value| (value & 0xff != 0).into());
    let pool = pointer_hint::<*mut c_void>(cuda, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, ptr);
    let (Some(retain), Some(release)) = (cuda.mem_retain_allocation_handle, cuda.mem_release) else { return };
    let mut handle: CUmemGenericAllocationHandle = 0;
    // SAFETY: the driver writes a handle; the address is looked up, not used.
    let result = unsafe { retain(&mut handle, ptr as *mut c_void) };
    info.allocation = match (pool, result) {
        (Some(pool), _) if !pool.is_null() => VBN_GPU_ALLOCATION_POOL,
        (_, CUDA_SUCCESS) => VBN_GPU_ALLOCATION_VMM,
        (_, CUDA_ERROR_INVALID_VALUE) => VBN_GPU_ALLOCATION_PLAIN,
        _ => VBN_GPU_ALLOCATION_UNKNOWN,
    };
    if result != CUDA_SUCCESS {
        return;
    }
    if let (VBN_GPU_UNKNOWN, Some(get)) = (info.rdma_capable, cuda.mem_get_allocation_properties) {
        let mut properties = CUmemAllocationProp {
            r#type: 0,
            requestedHandleTypes: 0,
            location: CUmemLocation { r#type: 0, id: 0 },
            win32HandleMetaData: ptr::null_mut(),
            compressionType: 0,
            gpuDirectRDMACapable: 0,
            usage: 0,
            reserved: [0; 4],
        };
        // SAFETY: a handle that was just retained, and a struct of the header's layout.
        if unsafe { get(&mut properties, handle) } == CUDA_SUCCESS {
            info.rdma_capable = (properties.gpuDirectRDMACapable != 0).into();
        }
    }
    // SAFETY: gives back what was retained.
    unsafe { release(handle) };
}

pub fn buffer_id(cuda: &Cuda, ptr: u64) -> Result<u64> {
    pointer_attribute(cuda, CU_POINTER_ATTRIBUTE_BUFFER_ID, ptr)
}

/// A context that is current until this is dropped.
pub struct Entered {
    cuda: Option<&'static Cuda>,
    /// Whether one was pushed.
    pushed: bool,
    /// The device whose primary context was retained.
    primary: Option<CUdevice>,
}

impl Entered {
    /// What was current stays so.
    pub const fn nothing() -> Entered {
        Entered { cuda: None, pushed: false, primary: None }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let Some(cuda) = self.cuda else { return };
        if self.pushed
            && let Some(pop) = cuda.ctx_pop_current
        {
            let mut popped = ptr::null_mut();
            // SAFETY: takes the context off that was pushed on this thread.
            unsafe { pop(&mut popped) };
        }
        if let (Some(device), Some(release)) = (self.primary, cuda.primary_ctx_release) {
            // SAFETY: gives back what was retained.
            unsafe { release(device) };
        }
    }
}

/// Makes a context current in which the memory can be used: the one it was allocated in, this thread's own if it is on that GPU, the
/// GPU's primary context if somebody has made it, or else this thread's own whatever it is. None is created.
pub fn enter(cuda: &'static Cuda, info: &vbn_gpu_pointer_info) -> Result<Entered> {
    if !info.context.is_null() {
        return push(cuda, info.context, None);
    }
    enter_device(cuda, info.device, true)
}

/// The same for a device, `VBN_GPU_DEVICE_CURRENT`: any. `other`: a context of another device will do.
fn enter_device(cuda: &'static Cuda, device: i32, other: bool) -> Result<Entered> {
    let current = current_device(cuda)?;
    if device < 0 {
        return match current {
            Some(_) => Ok(Entered::nothing()),
            None => Err(no_context("this thread has no current CUDA context")),
        };
    }
    if current == Some(device) {
        return Ok(Entered::nothing());
    }
    if let Some(entered) = enter_primary(cuda, device)? {
        return Ok(entered);
    }
    if other && current.is_some() {
        return Ok(Entered::nothing());
    }
    Err(no_context("this thread has no CUDA context of the GPU, and nobody has made its primary one")
        .value(device as u64, 0))
}

fn no_context(text: &'static str) -> Error {
    Error {
        vendor_domain: VBN_VENDOR_CUDA,
        vendor_code: CUDA_ERROR_INVALID_CONTEXT.into(),
        ..Error::text(VBN_ERR_DRIVER, text).hint(NO_CONTEXT)
    }
}

/// The device of this thread's current context.
fn current_device(cuda: &Cuda) -> Result<Option<CUdevice>> {
    let current = CUDA.need(cuda.ctx_get_current, c"cuCtxGetCurrent")?;
    let device_of = CUDA.need(cuda.ctx_get_device, c"cuCtxGetDevice")?;
    let mut context = ptr::null_mut();
    // SAFETY: the driver writes one pointer.
    call("cuCtxGetCurrent", unsafe { current(&mut context) })?;
    if context.is_null() {
        return Ok(None);
    }
    let mut device = 0;
    // SAFETY: the driver writes one number.
    call("cuCtxGetDevice", unsafe { device_of(&mut device) })?;
    Ok(Some(device))
}

fn push(cuda: &'static Cuda, context: CUcontext, primary: Option<CUdevice>) -> Result<Entered> {
    let mut entered = Entered { cuda: Some(cuda), pushed: false, primary };
    let push = CUDA.need(cuda.ctx_push_current, c"cuCtxPushCurrent_v2")?;
    CUDA.need(cuda.ctx_pop_current, c"cuCtxPopCurrent_v2")?;
    // SAFETY: a context of the driver's own, that memory is in or that was just retained.
    call("cuCtxPushCurrent", unsafe { push(context) })?;
    entered.pushed = true;
    Ok(entered)
}

/// The device's primary context, if it is there already.
fn enter_primary(cuda: &'static Cuda, device: CUdevice) -> Result<Option<Entered>> {
    let (Some(state), Some(retain), Some(_)) =
        (cuda.primary_ctx_get_state, cuda.primary_ctx_retain, cuda.primary_ctx_release)
    else {
        return Ok(None);
    };
    let (mut flags, mut active) = (0, 0);
    // SAFETY: the driver writes two numbers.
    call("cuDevicePrimaryCtxGetState", unsafe { state(device, &mut flags, &mut active) })?;
    if active == 0 {
        return Ok(None);
    }
    let mut context = ptr::null_mut();
    // SAFETY: the driver writes one pointer; the reference is given back when `Entered` is dropped.
    call("cuDevicePrimaryCtxRetain", unsafe { retain(&mut context, device) })?;
    push(cuda, context, Some(device)).map(Some)
}

/// The allocation that an address lies in: of VMM memory one segment. A context is current.
fn address_range(cuda: &Cuda, ptr: u64) -> Result<(u64, u64)> {
    let get = CUDA.need(cuda.mem_get_address_range, c"cuMemGetAddressRange_v2")?;
    let (mut base, mut size) = (0, 0);
    // SAFETY: the driver writes two numbers; the address is looked up, not used.
    call("cuMemGetAddressRange", unsafe { get(&mut base, &mut size, ptr) })?;
    Ok((base, size as u64))
}

pub fn segments(cuda: &'static Cuda, range: &Range, visit: &mut dyn FnMut(Segment) -> Result<()>) -> Result<()> {
    let _entered = enter(cuda, &range.info)?;
    let end = range.ptr.saturating_add(range.length);
    let mut at = range.ptr;
    while at < end {
        let unmapped = Error::argument(Reason::Address("nothing is mapped at", ", which is in the range"))
            .value(at, 0)
            .hint("map every part of the range before it is registered, or register the mapped parts by themselves");
        let (base, size) = address_range(cuda, at).map_err(|error| match result_of(&error) {
            code if code == i64::from(CUDA_ERROR_INVALID_VALUE) || code == i64::from(CUDA_ERROR_NOT_FOUND) => {
                Error { vendor_domain: VBN_VENDOR_CUDA, vendor_code: code, ..unmapped }
            }
            _ => error,
        })?;
        let next = base.saturating_add(size).min(end);
        if base > at || next <= at {
            return Err(unmapped);
        }
        visit(Segment { addr: at, length: next - at })?;
        at = next;
    }
    Ok(())
}

/// Exports the pages that a part of a range lies in.
pub fn export(cuda: &'static Cuda, range: &Range, part: Segment, flags: u64) -> Result<Dmabuf> {
    let get = CUDA.need(cuda.mem_get_handle_for_address_range, c"cuMemGetHandleForAddressRange").map_err(|error| {
        error.hint(
            "update NVIDIA's driver to 515 or newer, or register by address with a peer-memory module (vbn_mr_reg)",
        )
    })?;
    if let Ok(device) = device_of(cuda, range.info.device)
        && attribute(cuda, device, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED) == Some(0)
    {
        return Err(no_dmabuf(range.info.device));
    }
    let page = os::page_size() as u64;
    let base = part.addr - part.addr % page;
    let Some(length) = part.addr.checked_add(part.length).and_then(|end| (end - base).checked_next_multiple_of(page))
    else {
        return Err(Error::range("length", part.length, "a size that ends below 2^64"));
    };
    let entered = enter(cuda, &range.info)?;
    let mut fd: c_int = -1;
    let kind = CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;
    // SAFETY: for this type of handle the driver writes an int; the range is looked up, not used.
    let result = unsafe { get((&raw mut fd).cast(), base, length as usize, kind, flags) };
    drop(entered);
    if result != CUDA_SUCCESS {
        return Err(why_not_exported(range, part, flags, result));
    }
    if fd < 0 {
        return Err(Error::text(VBN_ERR_DRIVER, "cuMemGetHandleForAddressRange succeeded without a descriptor"));
    }
    // SAFETY: a new descriptor, and nobody else's.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    os::set_cloexec(fd.as_raw_fd());
    Ok(Dmabuf { fd, offset: part.addr - base, base, length })
}

fn no_dmabuf(device: i32) -> Error {
    Error::text(
        VBN_ERR_NOT_SUPPORTED,
        "the GPU's driver exports no dma-bufs (CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED is 0)",
    )
    .value(device as u64, 0)
    .hint(
        "load NVIDIA's open kernel modules (driver 515 or newer, Linux 5.12 or newer), or register by address with a \
             peer-memory module: nvidia_peermem, for EFA efa_nv_peermem",
    )
}

/// The driver says hardly more than no, so what it wants is said here.
fn why_not_exported(range: &Range, part: Segment, flags: u64, result: CUresult) -> Error {
    let error = failure("cuMemGetHandleForAddressRange", result);
    if !matches!(result, CUDA_ERROR_INVALID_VALUE | CUDA_ERROR_NOT_SUPPORTED | CUDA_ERROR_NOT_PERMITTED) {
        return error;
    }
    let info = &range.info;
    let several = info.size != 0 && info.base.saturating_add(info.size) < part.addr.saturating_add(part.length);
    let hint = if flags & VBN_GPU_DMABUF_PCIE != 0 {
        "without VBN_GPU_DMABUF_PCIE it may succeed: only a GPU with two ways to the host's memory and CUDA 12.8 or newer take that flag"
    } else if info.rdma_capable == 0 && info.allocation != VBN_GPU_ALLOCATION_POOL {
        "the memory was made without allocFlags.gpuDirectRDMACapable: set it to 1 for cuMemCreate"
    } else {
        match info.allocation {
            VBN_GPU_ALLOCATION_VMM if several => {
                "the driver doesn't export several segments at once: export each by itself; all must be on one GPU and of one kind"
            }
            VBN_GPU_ALLOCATION_VMM => "is all of the range mapped, on one GPU, and its device's dma-buf attribute set?",
            VBN_GPU_ALLOCATION_POOL => {
                "memory of a pool (cudaMallocAsync) can't be exported by this driver: allocate with cuMemCreate and cuMemMap, \
                 with allocFlags.gpuDirectRDMACapable = 1"
            }
            _ => {
                "this driver doesn't export memory of cuMemAlloc or cudaMalloc: allocate VMM memory, that is with cuMemCreate and \
                 cuMemMap and with allocFlags.gpuDirectRDMACapable = 1 (PyTorch: \
                 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True before CUDA starts)"
            }
        }
    };
    Error { status: VBN_ERR_NOT_SUPPORTED, ..error }.value(part.addr, part.length).hint(hint)
}

/// The driver's name for an ordinal.
fn device_of(cuda: &Cuda, ordinal: i32) -> Result<CUdevice> {
    let get = CUDA.need(cuda.device_get, c"cuDeviceGet")?;
    let mut device = 0;
    // SAFETY: the driver writes one number.
    call("cuDeviceGet", unsafe { get(&mut device, ordinal) })?;
    Ok(device)
}

/// An attribute of a device, unless the driver is too old to know it.
fn attribute(cuda: &Cuda, device: CUdevice, attribute: CUdevice_attribute) -> Option<i32> {
    let mut value = 0;
    // SAFETY: the driver writes one number.
    let result = unsafe { cuda.device_get_attribute?(&mut value, attribute, device) };
    (result == CUDA_SUCCESS).then_some(value)
}

pub fn device_count(cuda: &Cuda) -> Result<u32> {
    let get = CUDA.need(cuda.device_get_count, c"cuDeviceGetCount")?;
    let mut count = 0;
    // SAFETY: the driver writes one number.
    match unsafe { get(&mut count) } {
        CUDA_ERROR_NO_DEVICE => Ok(0),
        result => call("cuDeviceGetCount", result).map(|()| count.max(0) as u32),
    }
}

pub fn device(cuda: &Cuda, ordinal: i32) -> Result<vbn_gpu_device_info> {
    let device = device_of(cuda, ordinal).map_err(|error| match device_count(cuda) {
        Ok(count) if error.status == VBN_ERR_NOT_FOUND => error.value(ordinal as u64, count.into()),
        _ => error,
    })?;
    let get = |number| attribute(cuda, device, number);
    let exports = if cuda.mem_get_handle_for_address_range.is_some() {
        get(CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED)
    } else {
        Some(0)
    };
    let mut address = [0; 32];
    pci_address(cuda, device, &mut address);
    let text = str::from_utf8(until_zero(&address)).unwrap_or("");
    let mut name = [0u8; 128];
    if let Some(get) = cuda.device_get_name {
        let room = name.len() as c_int - 1;
        // SAFETY: room for that many bytes; its last byte stays 0.
        unsafe { get(name.as_mut_ptr().cast(), room, device) };
    }
    let mut version = 0;
    if let Some(get) = cuda.driver_get_version {
        // SAFETY: the driver writes one number.
        unsafe { get(&mut version) };
    }
    Ok(vbn_gpu_device_info {
        struct_size: size_of::<vbn_gpu_device_info>(),
        bar_size: pci::bar_size(text),
        kind: VBN_GPU_KIND_CUDA,
        device: ordinal,
        dmabuf: exports.unwrap_or(VBN_GPU_UNKNOWN),
        gpudirect_rdma: get(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED).unwrap_or(VBN_GPU_UNKNOWN),
        gpudirect_rdma_vmm: get(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED).unwrap_or(VBN_GPU_UNKNOWN),
        writes_ordering: get(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING).unwrap_or(VBN_GPU_UNKNOWN),
        flush_options: get(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS).unwrap_or(VBN_GPU_UNKNOWN),
        numa_node: pci::numa_node(text),
        driver_version: version,
        reserved0: 0,
        pci_address: chars(until_zero(&address)),
        name: chars(&name),
    })
}

/// The device's PCI address as sysfs writes it; nothing if the driver doesn't tell.
fn pci_address(cuda: &Cuda, device: CUdevice, address: &mut [u8; 32]) {
    if let Some(get) = cuda.device_get_pci_bus_id {
        let room = address.len() as c_int - 1;
        // SAFETY: room for that many bytes; the last byte stays 0.
        if unsafe { get(address.as_mut_ptr().cast(), room, device) } == CUDA_SUCCESS {
            // The driver writes capital letters.
            address.make_ascii_lowercase();
            return;
        }
        address.fill(0);
    }
    let get = |number| attribute(cuda, device, number).and_then(|value| u32::try_from(value).ok());
    let domain = get(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID).unwrap_or(0);
    if let (Some(bus), Some(slot)) = (get(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID), get(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)) {
        pci::write_address(address, domain, bus, slot, 0);
    }
}

pub fn flush_writes(cuda: &'static Cuda, device: i32, scope: i32) -> Result<i32> {
    let _entered = enter_device(cuda, device, false)?;
    let device = match device {
        0.. => device,
        _ => current_device(cuda)?.unwrap_or(0),
    };
    if attribute(cuda, device, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING)
        .is_some_and(|native| native >= scope)
    {
        return Ok(VBN_GPU_FLUSH_NOT_NEEDED);
    }
    const READ_INSTEAD: &str =
        "let the NIC read a byte of the memory back by RDMA READ from itself, which orders what it wrote before";
    let flush = CUDA.need(cuda.flush_gpu_direct_rdma_writes, c"cuFlushGPUDirectRDMAWrites").map_err(|error| {
        error.hint("update NVIDIA's driver to 465 or newer, or let the NIC read a byte of the memory back by RDMA READ")
    })?;
    let options = attribute(cuda, device, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS);
    if options.is_some_and(|options| options & VBN_GPU_FLUSH_OPTION_HOST == 0) {
        return Err(Error::text(
            VBN_ERR_NOT_SUPPORTED,
            "the GPU can't be told by the host to flush (flush_options lacks VBN_GPU_FLUSH_OPTION_HOST)",
        )
        .hint(READ_INSTEAD));
    }
    // SAFETY: numbers only.
    let result = unsafe { flush(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX, scope as u32) };
    call("cuFlushGPUDirectRDMAWrites", result).map(|()| VBN_GPU_FLUSH_DONE).map_err(|error| match result {
        CUDA_ERROR_NOT_SUPPORTED => error.hint(READ_INSTEAD),
        _ => error,
    })
}

pub fn synchronize(cuda: &'static Cuda, device: i32) -> Result<()> {
    let wait = CUDA.need(cuda.ctx_synchronize, c"cuCtxSynchronize")?;
    let _entered = enter_device(cuda, device, false)?;
    // SAFETY: takes nothing; a context is current.
    call("cuCtxSynchronize", unsafe { wait() })
}
