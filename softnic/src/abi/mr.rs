// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory regions: REG_MR (a write command), REG_DMABUF_MR and destroy.

use super::call::Call;
use super::errno::{EFAULT, EINVAL, Res, fail};
use super::names::object;
use super::objects::Object;
use super::spec::{Kind, MethodSpec, required};
use super::structs::{MrResp, RegMr};
use super::write::{CORE_IN, CORE_OUT};
use crate::model::types::{MrSpec, access};

const PAGE: u64 = 4096;
const LOCAL_WRITE: u32 = access::LOCAL_WRITE;
/// `IB_ACCESS_SUPPORTED` of the kernel: ten flags and the optional range.
const KNOWN_ACCESS: u32 = 0x3ff | access::OPTIONAL;
/// What a dma-buf may be registered for; relaxed ordering is bit 20.
const DMABUF_ACCESS: u32 =
    access::LOCAL_WRITE | access::REMOTE_WRITE | access::REMOTE_READ | access::REMOTE_ATOMIC | 1 << 20;

/// The checks that the kernel's core makes for every driver.
fn check_access(flags: u32, known: u32) -> Res<()> {
    if flags & !known != 0 {
        return fail(EINVAL, format!("access {flags:#x} has bits beyond {known:#x}"));
    }
    let remote = access::REMOTE_WRITE | access::REMOTE_ATOMIC;
    if flags & remote != 0 && flags & access::LOCAL_WRITE == 0 {
        return fail(EINVAL, format!("access {flags:#x}: REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE"));
    }
    Ok(())
}

/// The address that requests use must lie at the same place in its page as the memory.
fn check_page_offset(start: u64, iova: u64) -> Res<()> {
    if start % PAGE != iova % PAGE {
        return fail(EINVAL, format!("{start:#x} and iova {iova:#x} have different offsets in their pages"));
    }
    Ok(())
}

/// The write command `reg_mr`.
pub fn reg_mr(call: &mut Call<'_>) -> Res<()> {
    let request = RegMr::read(&call.input(CORE_IN, RegMr::SIZE)?);
    let RegMr { start, length, iova, pd, access } = request;
    call.note(|| format!(" pd={pd} addr={start:#x} length={length} iova={iova:#x} access={access:#x}"));
    check_page_offset(start, iova)?;
    check_access(access, KNOWN_ACCESS)?;
    let (_, pd) = call.objects.get(u64::from(pd), object::PD)?;
    call.uhw_in_none()?;
    call.objects.reserve()?;
    call.nic.is_there()?;
    let mapping = match check_memory(call, start, length, access & LOCAL_WRITE != 0) {
        Ok(()) => None,
        // What can't be pinned may be a peer's.
        Err(refused) => {
            let peer = call.env.peer_map(start, length, access & LOCAL_WRITE != 0);
            Some((peer.ok_or(refused)?, length))
        }
    };
    let spec = MrSpec { pd: pd.nic(), start: mapping.map_or(start, |(at, _)| at), length, iova, access, dmabuf: false };
    let info = match call.nic.mr_reg(&spec) {
        Ok(info) => info,
        Err(errno) => {
            if let Some((at, length)) = mapping {
                call.env.dmabuf_unmap(at, length);
            }
            return Err(errno.into());
        }
    };
    let handle = call.adopt(Object::Mr { nic: info.handle, mapping });
    call.note(|| format!(" handle={handle} key={:#x}", info.lkey));
    call.output(CORE_OUT, &MrResp { handle, lkey: info.lkey, rkey: info.rkey }.bytes())
}

/// The kernel pins every page.
fn check_memory(call: &mut Call<'_>, start: u64, length: u64, writable: bool) -> Res<()> {
    if length == 0 {
        // For the device to judge.
        return Ok(());
    }
    if start.checked_add(length - 1).is_none() {
        return fail(EINVAL, format!("{length} bytes from {start:#x} go beyond the end of the address space"));
    }
    if !call.user.pin(start, length, writable) {
        let how = if writable { "mapped and writable (LOCAL_WRITE)" } else { "mapped" };
        return fail(EFAULT, format!("{length} bytes from {start:#x} are not all {how}"));
    }
    Ok(())
}

const DMABUF_HANDLE: u16 = 0;
const DMABUF_PD: u16 = 1;
const DMABUF_OFFSET: u16 = 2;
const DMABUF_LENGTH: u16 = 3;
const DMABUF_IOVA: u16 = 4;
const DMABUF_FD: u16 = 5;
const DMABUF_ACCESS_FLAGS: u16 = 6;
const DMABUF_LKEY: u16 = 7;
const DMABUF_RKEY: u16 = 8;

pub const REG_DMABUF: MethodSpec = MethodSpec {
    object: object::MR,
    method: 4,
    attrs: &[
        required(DMABUF_HANDLE, "HANDLE", Kind::NewObject),
        required(DMABUF_PD, "PD_HANDLE", Kind::Object(object::PD)),
        required(DMABUF_OFFSET, "OFFSET", Kind::U64),
        required(DMABUF_LENGTH, "LENGTH", Kind::U64),
        required(DMABUF_IOVA, "IOVA", Kind::U64),
        required(DMABUF_FD, "FD", Kind::RawFd),
        required(DMABUF_ACCESS_FLAGS, "ACCESS_FLAGS", Kind::Flags),
        required(DMABUF_LKEY, "RESP_LKEY", Kind::OUT_U32),
        required(DMABUF_RKEY, "RESP_RKEY", Kind::OUT_U32),
    ],
    uhw: true,
    needs_context: true,
    run: reg_dmabuf,
};

fn reg_dmabuf(call: &mut Call<'_>) -> Res<()> {
    let (pd_handle, pd) = call.object(DMABUF_PD, object::PD)?;
    let (offset, length) = (call.u64(DMABUF_OFFSET)?, call.u64(DMABUF_LENGTH)?);
    let (iova, fd) = (call.u64(DMABUF_IOVA)?, call.fd(DMABUF_FD)?);
    let access = call.flags(DMABUF_ACCESS_FLAGS, u32::MAX)?;
    call.note(|| {
        format!(" pd={pd_handle} fd={fd} offset={offset:#x} length={length} iova={iova:#x} access={access:#x}")
    });
    check_page_offset(offset, iova)?;
    check_access(access, DMABUF_ACCESS)?;
    if length == 0 || offset.checked_add(length).is_none() {
        return fail(EINVAL, format!("{length} bytes at offset {offset:#x} are no range"));
    }
    call.uhw_in_none()?;
    call.objects.reserve()?;
    call.nic.is_there()?;
    let start = call.env.dmabuf_map(fd, offset, length, access & access::LOCAL_WRITE != 0)?;
    let spec = MrSpec { pd: pd.nic(), start, length, iova, access, dmabuf: true };
    let info = match call.nic.mr_reg(&spec) {
        Ok(info) => info,
        Err(errno) => {
            call.env.dmabuf_unmap(start, length);
            return Err(errno.into());
        }
    };
    let handle = call.adopt(Object::Mr { nic: info.handle, mapping: Some((start, length)) });
    call.note(|| format!(" handle={handle} key={:#x}", info.lkey));
    call.output(DMABUF_LKEY, &info.lkey.to_ne_bytes())?;
    call.output(DMABUF_RKEY, &info.rkey.to_ne_bytes())?;
    call.answer(DMABUF_HANDLE, u64::from(handle))
}

const DESTROY_HANDLE: u16 = 0;

pub const DESTROY: MethodSpec = MethodSpec {
    object: object::MR,
    method: 1,
    attrs: &[required(DESTROY_HANDLE, "HANDLE", Kind::Object(object::MR))],
    uhw: false,
    needs_context: true,
    run: |call| destroy_plain(call, DESTROY_HANDLE, object::MR),
};

/// Destroys an object whose events nobody counts.
pub fn destroy_plain(call: &mut Call<'_>, attr: u16, kind: u16) -> Res<()> {
    let (handle, _) = call.object(attr, kind)?;
    call.note(|| format!(" handle={handle}"));
    call.objects.destroy(handle, call.env, call.nic).map(|_| ())
}
