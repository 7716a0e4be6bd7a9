// SPDX-License-Identifier: MIT OR Apache-2.0
//! Methods of the device object and of the async event file.

use super::call::Call;
use super::errno::{EINVAL, ENODATA, Res, fail};
use super::names::object;
use super::spec::{Kind, MethodSpec, UHW_OUT, optional, required};
use super::structs::{ExPortResp, GidEntry};

/// `IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS | IB_UVERBS_CORE_SUPPORT_ROBUST_UDATA`
const CORE_SUPPORT: u64 = 3;
/// The device has one port.
pub const PORT: u64 = 1;

const NUM_COMP_VECTORS: u16 = 0;
const CORE_SUPPORT_ATTR: u16 = 1;
const FD_ARR: u16 = 2;

pub const GET_CONTEXT: MethodSpec = MethodSpec {
    object: object::DEVICE,
    method: 3,
    attrs: &[
        optional(NUM_COMP_VECTORS, "NUM_COMP_VECTORS", Kind::OUT_U32),
        optional(CORE_SUPPORT_ATTR, "CORE_SUPPORT", Kind::OUT_U64),
        // Descriptors to import; since rdma-core 57, and no kind has use for them.
        optional(FD_ARR, "FD_ARR", Kind::in_struct(4)),
    ],
    uhw: true,
    needs_context: false,
    run: get_context,
};

fn get_context(call: &mut Call<'_>) -> Res<()> {
    if *call.context {
        return fail(EINVAL, "this descriptor has a context already");
    }
    call.nic.command("get_context")?;
    call.driver.context_told(call)?;
    let vectors = call.nic.profile().comp_vectors.value;
    call.output(NUM_COMP_VECTORS, &vectors.to_ne_bytes())?;
    call.output(CORE_SUPPORT_ATTR, &CORE_SUPPORT.to_ne_bytes())?;
    let private = call.len(UHW_OUT);
    call.note(|| format!(" private answer {private} bytes"));
    *call.context = true;
    Ok(())
}

const PORT_NUM: u16 = 0;
const PORT_RESP: u16 = 1;

pub const QUERY_PORT: MethodSpec = MethodSpec {
    object: object::DEVICE,
    method: 2,
    attrs: &[
        required(PORT_NUM, "PORT_NUM", Kind::U64),
        // The kernel's struct grew once after the legacy part: its first form ends at port_cap_flags2.
        required(PORT_RESP, "RESP", Kind::out_struct(42)),
    ],
    uhw: false,
    needs_context: true,
    run: query_port,
};

pub fn check_port(port: u64) -> Res<()> {
    if port != PORT {
        return fail(EINVAL, format!("port {port}: the device has port {PORT} only"));
    }
    Ok(())
}

fn query_port(call: &mut Call<'_>) -> Res<()> {
    let port = call.u64(PORT_NUM)?;
    call.note(|| format!(" port={port}"));
    check_port(port)?;
    call.nic.command("query_port")?;
    let answer = ExPortResp { legacy: call.nic.port(), ..ExPortResp::default() };
    call.output(PORT_RESP, &answer.bytes())
}

const SPEED_PORT: u16 = 0;
const SPEED_RESP: u16 = 1;

/// Since rdma-core 62.
pub const QUERY_PORT_SPEED: MethodSpec = MethodSpec {
    object: object::DEVICE,
    method: 7,
    attrs: &[required(SPEED_PORT, "PORT_NUM", Kind::U32_OR_U64), required(SPEED_RESP, "RESP", Kind::OUT_U64)],
    uhw: false,
    needs_context: true,
    run: query_port_speed,
};

/// In units of 100 Mb/s.
fn query_port_speed(call: &mut Call<'_>) -> Res<()> {
    let port = call.u64(SPEED_PORT)?;
    call.note(|| format!(" port={port}"));
    check_port(port)?;
    call.nic.command("query_port_speed")?;
    let speed = u64::from(call.nic.profile().link_gbps.value) * 10;
    call.output(SPEED_RESP, &speed.to_ne_bytes())
}

const GID_PORT: u16 = 0;
const GID_INDEX: u16 = 1;
const GID_FLAGS: u16 = 2;
const GID_RESP: u16 = 3;

pub const QUERY_GID_ENTRY: MethodSpec = MethodSpec {
    object: object::DEVICE,
    method: 6,
    attrs: &[
        required(GID_PORT, "PORT", Kind::U32_OR_U64),
        required(GID_INDEX, "GID_INDEX", Kind::U32_OR_U64),
        required(GID_FLAGS, "FLAGS", Kind::Flags),
        required(GID_RESP, "RESP_ENTRY", Kind::out_struct(GidEntry::SIZE as u16)),
    ],
    uhw: false,
    needs_context: true,
    run: query_gid_entry,
};

fn gid_entry(call: &Call<'_>, gid: [u8; 16]) -> GidEntry {
    GidEntry { gid, index: 0, port: PORT as u32, gid_type: call.driver.gid_type(), ifindex: 0 }
}

fn query_gid_entry(call: &mut Call<'_>) -> Res<()> {
    let (port, index) = (call.u64(GID_PORT)?, call.u64(GID_INDEX)?);
    call.note(|| format!(" port={port} index={index}"));
    call.flags(GID_FLAGS, 0)?;
    check_port(port)?;
    let table = call.nic.port().gid_tbl_len;
    if index >= u64::from(table) {
        return fail(EINVAL, format!("GID index {index}: the table has {table}"));
    }
    call.nic.command("query_gid")?;
    let gid = call.nic.gid();
    if gid == [0; 16] {
        return fail(ENODATA, "the port has no GID");
    }
    call.output(GID_RESP, &gid_entry(call, gid).bytes())
}

const TABLE_ENTRY_SIZE: u16 = 0;
const TABLE_FLAGS: u16 = 1;
const TABLE_RESP: u16 = 2;
const TABLE_COUNT: u16 = 3;

pub const QUERY_GID_TABLE: MethodSpec = MethodSpec {
    object: object::DEVICE,
    method: 5,
    attrs: &[
        required(TABLE_ENTRY_SIZE, "ENTRY_SIZE", Kind::U64),
        optional(TABLE_FLAGS, "FLAGS", Kind::Flags),
        required(TABLE_RESP, "RESP_ENTRIES", Kind::OUT_ANY),
        required(TABLE_COUNT, "RESP_NUM_ENTRIES", Kind::OUT_U64),
    ],
    uhw: false,
    needs_context: true,
    run: query_gid_table,
};

fn query_gid_table(call: &mut Call<'_>) -> Res<()> {
    let size = call.u64(TABLE_ENTRY_SIZE)?;
    call.flags(TABLE_FLAGS, 0)?;
    let room = call.len(TABLE_RESP);
    if size == 0 {
        return fail(EINVAL, "an entry size of 0");
    }
    call.nic.command("query_gid_table")?;
    let gid = call.nic.gid();
    let count = u64::from(gid != [0; 16]);
    let Some(bytes) = usize::try_from(size.saturating_mul(count)).ok().filter(|bytes| *bytes <= room) else {
        return fail(EINVAL, format!("{count} entries of {size} bytes don't fit into {room}"));
    };
    let mut entries = if count == 0 { Vec::new() } else { gid_entry(call, gid).bytes().to_vec() };
    entries.resize(bytes, 0);
    call.output(TABLE_RESP, &entries)?;
    call.note(|| format!(" entries={count}"));
    call.output(TABLE_COUNT, &count.to_ne_bytes())
}

const ASYNC_FD: u16 = 0;

pub const ASYNC_EVENT_ALLOC: MethodSpec = MethodSpec {
    object: object::ASYNC_EVENT,
    method: 0,
    attrs: &[required(ASYNC_FD, "FD_HANDLE", Kind::NewFd)],
    uhw: false,
    needs_context: true,
    run: async_event_alloc,
};

fn async_event_alloc(call: &mut Call<'_>) -> Res<()> {
    call.nic.command("alloc_async_fd")?;
    let fd = call.env.async_open()?;
    call.made.fd = Some(fd);
    call.note(|| format!(" fd={fd}"));
    // A descriptor is never negative.
    call.answer(ASYNC_FD, u64::try_from(fd).unwrap_or_default())
}
