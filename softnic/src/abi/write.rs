// SPDX-License-Identifier: MIT OR Apache-2.0
//! INVOKE_WRITE: the commands of the old write(2) interface, carried by an ioctl.

use super::call::Call;
use super::device::check_port;
use super::errno::{EINVAL, ENOSPC, EOPNOTSUPP, Res, fail};
use super::names::{EX, object};
use super::objects::Object;
use super::private::Calls;
use super::spec::{Kind, MethodSpec, optional, required};
use super::structs::{
    AhResp, ChannelResp, CreateAh, DeviceResp, ExDevice, ExDeviceResp, ModifyQp, MrResp, PdResp, PortResp, QueryQp,
    QueryQpResp, RegMr,
};
use super::{mr, qp};
use crate::model::host::Gid;
use crate::model::types::AhSpec;

pub const CORE_IN: u16 = 0;
pub const CORE_OUT: u16 = 1;
const WRITE_CMD: u16 = 2;

pub const INVOKE_WRITE: MethodSpec = MethodSpec {
    object: object::DEVICE,
    method: 0,
    attrs: &[
        optional(CORE_IN, "CORE_IN", Kind::in_struct(4)),
        optional(CORE_OUT, "CORE_OUT", Kind::OUT_ANY),
        required(WRITE_CMD, "WRITE_CMD", Kind::U64),
    ],
    uhw: true,
    // Looked at below: the probe of libibverbs comes first of all and wants its ENOSPC.
    needs_context: false,
    run: invoke,
};

/// A command, and the least lengths of its core structs.
pub struct Command {
    pub number: u32,
    pub core_in: usize,
    pub core_out: usize,
    pub run: fn(&mut Call<'_>) -> Res<()>,
}

/// The response of `ex query_device` must reach to `response_length`.
const EX_DEVICE_MIN: usize = 184;

const COMMANDS: &[Command] = &[
    Command { number: 1, core_in: 8, core_out: DeviceResp::SIZE, run: query_device },
    Command { number: EX | 1, core_in: ExDevice::SIZE, core_out: EX_DEVICE_MIN, run: ex_query_device },
    Command { number: 2, core_in: 16, core_out: PortResp::SIZE, run: query_port },
    Command { number: 3, core_in: 8, core_out: PdResp::SIZE, run: alloc_pd },
    Command { number: 5, core_in: CreateAh::SIZE, core_out: AhResp::SIZE, run: create_ah },
    Command { number: 9, core_in: RegMr::SIZE, core_out: MrResp::SIZE, run: mr::reg_mr },
    Command { number: 17, core_in: 8, core_out: ChannelResp::SIZE, run: create_comp_channel },
    Command { number: 25, core_in: QueryQp::SIZE, core_out: QueryQpResp::SIZE, run: qp::query },
    Command { number: 26, core_in: ModifyQp::SIZE, core_out: 0, run: qp::modify },
];

/// The command of this number, as far as a device of this driver has it.
pub fn find(driver: &'static dyn Calls, number: u32) -> Option<&'static Command> {
    COMMANDS.iter().chain(driver.commands()).find(|command| command.number == number)
}

fn invoke(call: &mut Call<'_>) -> Res<()> {
    let number = call.u64(WRITE_CMD)?;
    let Ok(number) = u32::try_from(number) else {
        return fail(EINVAL, format!("write command {number:#x} is no 32-bit number"));
    };
    call.command = Some(number);
    let Some(command) = find(call.driver, number) else {
        return fail(EOPNOTSUPP, "softnic does not have this write command");
    };
    let (core_in, core_out) = (call.len(CORE_IN), call.len(CORE_OUT));
    if core_in < command.core_in || core_out < command.core_out {
        return fail(
            ENOSPC,
            format!("{core_in} bytes in and {core_out} out, {} and {} are needed", command.core_in, command.core_out),
        );
    }
    if !*call.context {
        return fail(EINVAL, "GET_CONTEXT must come first");
    }
    (command.run)(call)
}

fn query_device(call: &mut Call<'_>) -> Res<()> {
    call.nic.command("query_device")?;
    let answer = call.nic.device();
    call.output(CORE_OUT, &answer.bytes())
}

fn ex_query_device(call: &mut Call<'_>) -> Res<()> {
    let request = ExDevice::read(&call.input(CORE_IN, ExDevice::SIZE)?);
    if request != ExDevice::default() {
        return fail(EINVAL, format!("unknown bits: {request:?}"));
    }
    call.uhw_in_none()?;
    call.nic.command("query_device")?;
    let room = call.len(CORE_OUT).min(ExDeviceResp::SIZE);
    let answer = ExDeviceResp {
        base: call.nic.device(),
        comp_mask: 0,
        // At most 304.
        response_length: room as u32,
        device_cap_flags_ex: 0,
    };
    call.driver.device_told(call)?;
    call.output(CORE_OUT, &answer.bytes())
}

fn query_port(call: &mut Call<'_>) -> Res<()> {
    let port = call.input(CORE_IN, 16)?.get(8).copied().unwrap_or_default();
    check_port(u64::from(port))?;
    call.nic.command("query_port")?;
    let answer = call.nic.port();
    call.output(CORE_OUT, &answer.bytes())
}

fn alloc_pd(call: &mut Call<'_>) -> Res<()> {
    call.uhw_in_none()?;
    call.objects.reserve()?;
    let info = call.nic.pd_alloc()?;
    let handle = call.adopt(Object::Pd { nic: info.handle });
    call.note(|| format!(" handle={handle} pdn={}", info.number));
    call.driver.pd_made(call, &info)?;
    call.output(CORE_OUT, &PdResp { handle }.bytes())
}

fn create_ah(call: &mut Call<'_>) -> Res<()> {
    let request = CreateAh::read(&call.input(CORE_IN, CreateAh::SIZE)?);
    call.note(|| format!(" pd={} dgid={:?}", request.pd, Gid(request.dgid)));
    check_port(u64::from(request.port))?;
    let (_, pd) = call.objects.get(u64::from(request.pd), object::PD)?;
    call.uhw_in_none()?;
    call.objects.reserve()?;
    let info = call.nic.ah_create(&AhSpec {
        pd: pd.nic(),
        is_global: request.is_global != 0,
        port: request.port,
        dgid: Gid(request.dgid),
    })?;
    let handle = call.adopt(Object::Ah { nic: info.handle });
    call.note(|| format!(" handle={handle} ah={}", info.number));
    call.driver.ah_made(call, &info)?;
    call.output(CORE_OUT, &AhResp { handle }.bytes())
}

fn create_comp_channel(call: &mut Call<'_>) -> Res<()> {
    call.nic.command("create_comp_channel")?;
    let (fd, _) = call.env.channel_open()?;
    call.made.fd = Some(fd);
    call.note(|| format!(" fd={fd}"));
    call.output(CORE_OUT, &ChannelResp { fd: fd.cast_unsigned() }.bytes())
}

const DESTROY_HANDLE: u16 = 0;

pub const PD_DESTROY: MethodSpec = MethodSpec {
    object: object::PD,
    method: 0,
    attrs: &[required(DESTROY_HANDLE, "HANDLE", Kind::Object(object::PD))],
    uhw: false,
    needs_context: true,
    run: |call| mr::destroy_plain(call, DESTROY_HANDLE, object::PD),
};

pub const AH_DESTROY: MethodSpec = MethodSpec {
    object: object::AH,
    method: 0,
    attrs: &[required(DESTROY_HANDLE, "HANDLE", Kind::Object(object::AH))],
    uhw: false,
    needs_context: true,
    run: |call| mr::destroy_plain(call, DESTROY_HANDLE, object::AH),
};
