// SPDX-License-Identifier: MIT OR Apache-2.0
//! AMD's GPUs by the HSA runtime, which lies below HIP. Its ordinals are those of the GPU agents in its own order, which HIP's are
//! too unless HIP_VISIBLE_DEVICES reorders them. There are no contexts.

use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

use super::error::{Error, Reason, Result, VBN_VENDOR_HSA};
use super::gpu::*;
use super::gpu_library::ROCM;
use super::pci;
use super::status::*;
use super::text::{chars, until_zero};
use crate::sys::os;
use crate::sys::rocm::*;

fn call(function: &'static str, status: hsa_status_t) -> Result<()> {
    if matches!(status, HSA_STATUS_SUCCESS | HSA_STATUS_INFO_BREAK) {
        return Ok(());
    }
    let (class, hint) = match status {
        HSA_STATUS_ERROR_NOT_INITIALIZED => (
            VBN_ERR_DRIVER,
            "the HSA runtime is not initialised in this process, and libverbena never does that: call hsa_init, or anything of HIP such \
             as hipFree(0), first",
        ),
        HSA_STATUS_ERROR_OUT_OF_RESOURCES => (VBN_ERR_NO_MEMORY, "is the limit of open files (ulimit -n) reached?"),
        HSA_STATUS_ERROR_INVALID_ALLOCATION => (VBN_ERR_ARGUMENT, "the range must lie in one allocation"),
        HSA_STATUS_ERROR_INVALID_AGENT => (VBN_ERR_NOT_SUPPORTED, "the memory is on a device that exports none"),
        _ => (VBN_ERR_DRIVER, ""),
    };
    Err(Error {
        vendor_domain: VBN_VENDOR_HSA,
        vendor_code: status.into(),
        ..Error::new(class, Reason::Vendor(function)).hint(hint)
    })
}

pub fn pointer(hsa: &'static Hsa, ptr: u64) -> Result<vbn_gpu_pointer_info> {
    let get = ROCM.need(hsa.pointer_info, c"hsa_amd_pointer_info")?;
    let mut raw = hsa_amd_pointer_info_t {
        size: size_of::<hsa_amd_pointer_info_t>() as u32,
        r#type: HSA_EXT_POINTER_TYPE_UNKNOWN,
        agentBaseAddress: ptr::null_mut(),
        hostBaseAddress: ptr::null_mut(),
        sizeInBytes: 0,
        userData: ptr::null_mut(),
        agentOwner: hsa_agent_t { handle: 0 },
        global_flags: 0,
    };
    // SAFETY: a struct that says its size; the address is looked up, not used; the list of agents is not asked for.
    let status = unsafe { get(ptr as *const c_void, &mut raw, None, ptr::null_mut(), ptr::null_mut()) };
    call("hsa_amd_pointer_info", status)?;
    let mut info = vbn_gpu_pointer_info::unknown(VBN_GPU_KIND_ROCM);
    if raw.r#type == HSA_EXT_POINTER_TYPE_UNKNOWN {
        return Ok(info);
    }
    info.mapped = 1;
    let host =
        raw.r#type == HSA_EXT_POINTER_TYPE_LOCKED || agent_type(hsa, raw.agentOwner) == Some(HSA_DEVICE_TYPE_CPU);
    info.memory = if host { VBN_GPU_MEMORY_HOST } else { VBN_GPU_MEMORY_DEVICE };
    let base = if host { raw.hostBaseAddress } else { raw.agentBaseAddress };
    (info.base, info.size) = (base as u64, raw.sizeInBytes as u64);
    (info.range_base, info.range_size) = (info.base, info.size);
    if !host {
        let round = Round::over(hsa, |_, agent| agent == raw.agentOwner)?;
        info.device = round.found.map_or(VBN_GPU_UNKNOWN, |_| round.index);
    }
    Ok(info)
}

/// An attribute of an agent, of type u32.
fn agent_number(hsa: &Hsa, agent: hsa_agent_t, attribute: hsa_agent_info_t) -> Option<u32> {
    let mut value = 0u32;
    // SAFETY: an agent of the runtime's own, and the attribute is of this type.
    let status = unsafe { hsa.agent_get_info?(agent, attribute, (&raw mut value).cast()) };
    (status == HSA_STATUS_SUCCESS).then_some(value)
}

fn agent_type(hsa: &Hsa, agent: hsa_agent_t) -> Option<u32> {
    agent_number(hsa, agent, HSA_AGENT_INFO_DEVICE)
}

/// A round over the GPU agents, until one is wanted.
struct Round<'a> {
    hsa: &'a Hsa,
    wanted: &'a dyn Fn(i32, hsa_agent_t) -> bool,
    /// How many were passed: the ordinal of the one that was found, or the number of all.
    index: i32,
    found: Option<hsa_agent_t>,
}

impl Round<'_> {
    fn over(hsa: &Hsa, wanted: impl Fn(i32, hsa_agent_t) -> bool) -> Result<Round<'_>> {
        unsafe extern "C" fn one(agent: hsa_agent_t, round: *mut c_void) -> hsa_status_t {
            // SAFETY: the round below, which is handed through.
            let round = unsafe { &mut *round.cast::<Round<'_>>() };
            if agent_type(round.hsa, agent) != Some(HSA_DEVICE_TYPE_GPU) {
                return HSA_STATUS_SUCCESS;
            }
            if (round.wanted)(round.index, agent) {
                round.found = Some(agent);
                return HSA_STATUS_INFO_BREAK;
            }
            round.index = round.index.saturating_add(1);
            HSA_STATUS_SUCCESS
        }
        let iterate = ROCM.need(hsa.iterate_agents, c"hsa_iterate_agents")?;
        ROCM.need(hsa.agent_get_info, c"hsa_agent_get_info")?;
        let mut round = Round { hsa, wanted: &wanted, index: 0, found: None };
        // SAFETY: the callback gets the round, which lives through the call.
        let status = unsafe { iterate(Some(one), (&raw mut round).cast()) };
        call("hsa_iterate_agents", status)?;
        let (index, found) = (round.index, round.found);
        Ok(Round { hsa, wanted: &|_, _| false, index, found })
    }
}

pub fn device_count(hsa: &Hsa) -> Result<u32> {
    Round::over(hsa, |_, _| false).map(|round| round.index.max(0) as u32)
}

pub fn device(hsa: &Hsa, ordinal: i32) -> Result<vbn_gpu_device_info> {
    let round = Round::over(hsa, |index, _| index == ordinal)?;
    let Some(agent) = round.found else {
        return Err(Error::text(VBN_ERR_NOT_FOUND, "the HSA runtime has no such GPU")
            .value(ordinal as u64, round.index as u64)
            .hint("ordinals count from 0 among those that ROCR_VISIBLE_DEVICES leaves"));
    };
    let mut address = [0; 32];
    if let Some(bdf) = agent_number(hsa, agent, HSA_AMD_AGENT_INFO_BDFID) {
        let domain = agent_number(hsa, agent, HSA_AMD_AGENT_INFO_DOMAIN).unwrap_or(0);
        pci::write_address(&mut address, domain, bdf >> 8 & 0xff, bdf >> 3 & 0x1f, bdf & 7);
    }
    let text = str::from_utf8(until_zero(&address)).unwrap_or("");
    let mut name = [0u8; 128];
    for attribute in [HSA_AMD_AGENT_INFO_PRODUCT_NAME, HSA_AGENT_INFO_NAME] {
        if let Some(get) = hsa.agent_get_info
            && until_zero(&name).is_empty()
        {
            // SAFETY: an agent of the runtime's own; both attributes are of at most 64 bytes.
            unsafe { get(agent, attribute, name.as_mut_ptr().cast()) };
        }
    }
    let dmabuf = exports(hsa);
    Ok(vbn_gpu_device_info {
        struct_size: size_of::<vbn_gpu_device_info>(),
        bar_size: pci::bar_size(text),
        kind: VBN_GPU_KIND_ROCM,
        device: ordinal,
        dmabuf: dmabuf.unwrap_or(VBN_GPU_UNKNOWN),
        gpudirect_rdma: VBN_GPU_UNKNOWN,
        gpudirect_rdma_vmm: VBN_GPU_UNKNOWN,
        writes_ordering: VBN_GPU_UNKNOWN,
        flush_options: VBN_GPU_UNKNOWN,
        numa_node: pci::numa_node(text),
        driver_version: 0,
        reserved0: 0,
        pci_address: chars(until_zero(&address)),
        name: chars(&name),
    })
}

/// Whether the runtime exports dma-bufs, as far as it tells.
fn exports(hsa: &Hsa) -> Option<i32> {
    if hsa.portable_export_dmabuf.is_none() {
        return Some(0);
    }
    let mut supported = false;
    // SAFETY: the attribute is a bool.
    let status = unsafe { hsa.system_get_info?(HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED, (&raw mut supported).cast()) };
    (status == HSA_STATUS_SUCCESS).then_some(supported.into())
}

/// Exports a range. The runtime wants no alignment, and tells the offset.
pub fn export(hsa: &Hsa, part: Segment, flags: u64) -> Result<Dmabuf> {
    if flags & VBN_GPU_DMABUF_PCIE != 0 {
        return Err(Error::text(VBN_ERR_NOT_SUPPORTED, "VBN_GPU_DMABUF_PCIE is CUDA's")
            .hint("leave it out: ROCm's dma-bufs lead over PCIe"));
    }
    let get = ROCM.need(hsa.portable_export_dmabuf, c"hsa_amd_portable_export_dmabuf")?;
    if exports(hsa) == Some(0) {
        return Err(Error::text(
            VBN_ERR_NOT_SUPPORTED,
            "the kernel's amdgpu driver exports no dma-bufs (HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED is 0)",
        )
        .hint("the kernel needs CONFIG_DMABUF_MOVE_NOTIFY and CONFIG_PCI_P2PDMA, or AMD's own amdgpu-dkms"));
    }
    let (mut fd, mut offset): (c_int, u64) = (-1, 0);
    // SAFETY: the runtime writes two numbers; the range is looked up, not used.
    let status = unsafe { get(part.addr as *const c_void, part.length as usize, &mut fd, &mut offset) };
    call("hsa_amd_portable_export_dmabuf", status)?;
    if fd < 0 {
        return Err(Error::text(VBN_ERR_DRIVER, "hsa_amd_portable_export_dmabuf succeeded without a descriptor"));
    }
    // SAFETY: a new descriptor, and nobody else's.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    os::set_cloexec(fd.as_raw_fd());
    let (Some(base), Some(length)) = (part.addr.checked_sub(offset), offset.checked_add(part.length)) else {
        return Err(Error::text(VBN_ERR_DRIVER, "hsa_amd_portable_export_dmabuf gave an impossible offset")
            .value(offset, part.addr));
    };
    Ok(Dmabuf { fd, offset, base, length })
}

pub fn flush_writes() -> Result<i32> {
    Err(Error::text(VBN_ERR_NOT_SUPPORTED, "the HSA runtime has no call that flushes what a NIC has written")
        .hint("allocate fine-grained memory, or let the NIC read a byte of the memory back by RDMA READ from itself"))
}

pub fn synchronize() -> Result<()> {
    Err(Error::text(VBN_ERR_NOT_SUPPORTED, "the HSA runtime has no call that waits for a whole GPU")
        .hint("call hipDeviceSynchronize"))
}
