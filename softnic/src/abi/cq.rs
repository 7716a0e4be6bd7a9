// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completion queues.

use super::call::Call;
use super::errno::{EBADF, EINVAL, EOPNOTSUPP, Res, fail};
use super::names::object;
use super::objects::Object;
use super::spec::{Kind, MethodSpec, optional, required};
use super::structs::{DestroyCqResp, ReqNotifyCq};
use super::write::{CORE_IN, Command};
use crate::model::types::CqSpec;

const HANDLE: u16 = 0;
const CQE: u16 = 1;
const USER_HANDLE: u16 = 2;
const COMP_CHANNEL: u16 = 3;
const COMP_VECTOR: u16 = 4;
const FLAGS: u16 = 5;
const RESP_CQE: u16 = 6;
const EVENT_FD: u16 = 7;
const BUFFER_VA: u16 = 8;
const BUFFER_LENGTH: u16 = 9;
const BUFFER_FD: u16 = 10;
const BUFFER_OFFSET: u16 = 11;

/// `IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN`
const KNOWN_FLAGS: u32 = 3;

pub const CREATE: MethodSpec = MethodSpec {
    object: object::CQ,
    method: 0,
    attrs: &[
        required(HANDLE, "HANDLE", Kind::NewObject),
        required(CQE, "CQE", Kind::U32),
        required(USER_HANDLE, "USER_HANDLE", Kind::U64),
        optional(COMP_CHANNEL, "COMP_CHANNEL", Kind::Fd),
        required(COMP_VECTOR, "COMP_VECTOR", Kind::U32),
        optional(FLAGS, "FLAGS", Kind::Flags),
        required(RESP_CQE, "RESP_CQE", Kind::OUT_U32),
        optional(EVENT_FD, "EVENT_FD", Kind::Fd),
        // Known only to be refused as a request: an unknown attribute would turn the whole method off in libibverbs.
        optional(BUFFER_VA, "BUFFER_VA", Kind::U64),
        optional(BUFFER_LENGTH, "BUFFER_LENGTH", Kind::U64),
        optional(BUFFER_FD, "BUFFER_FD", Kind::RawFd),
        optional(BUFFER_OFFSET, "BUFFER_OFFSET", Kind::U64),
    ],
    uhw: true,
    needs_context: true,
    run: create,
};

fn create(call: &mut Call<'_>) -> Res<()> {
    let (cqe, user_handle, comp_vector) = (call.u32(CQE)?, call.u64(USER_HANDLE)?, call.u32(COMP_VECTOR)?);
    call.note(|| format!(" cqe={cqe} vector={comp_vector}"));
    if call.flags(FLAGS, KNOWN_FLAGS)? != 0 {
        return fail(EOPNOTSUPP, "the device has no CQ with timestamps or ignored overrun");
    }
    if [BUFFER_VA, BUFFER_LENGTH, BUFFER_FD, BUFFER_OFFSET].into_iter().any(|id| call.has(id)) {
        call.lacking = true;
        return fail(EOPNOTSUPP, "softnic has no CQ in memory of the program's, and offers none (CQ_WITH_EXT_MEM)");
    }
    let vectors = call.nic.profile().comp_vectors.value;
    if comp_vector >= vectors {
        return fail(EINVAL, format!("completion vector {comp_vector}: the device has {vectors}"));
    }
    call.check_async_fd(EVENT_FD)?;
    let channel = channel(call)?;
    let private = call.driver.cq_request(call)?;
    call.objects.reserve()?;

    let info = call.nic.cq_create(&CqSpec {
        cqe,
        entry_size: private.entry_size,
        sub_cqs: private.sub_cqs,
        user_handle,
        channel,
        comp_vector,
        with_sgid: private.with_sgid,
    })?;
    let handle = call.adopt(Object::Cq { nic: info.handle, user_handle, channel });
    call.note(|| format!(" handle={handle} cq={} entries={}x{}", info.number, info.cqe, private.entry_size));
    call.driver.cq_made(call, &info)?;
    call.output(RESP_CQE, &info.cqe.to_ne_bytes())?;
    call.answer(HANDLE, u64::from(handle))
}

fn channel(call: &mut Call<'_>) -> Res<Option<u64>> {
    if !call.has(COMP_CHANNEL) {
        return Ok(None);
    }
    let fd = call.fd(COMP_CHANNEL)?;
    match call.env.channel_of(fd) {
        Some(channel) => Ok(Some(channel)),
        None => fail(EBADF, format!("descriptor {fd} is no completion channel of this session")),
    }
}

/// `req_notify_cq`, for kinds whose CQs are armed by it.
pub const REQ_NOTIFY: Command = Command { number: 23, core_in: ReqNotifyCq::SIZE, core_out: 0, run: req_notify };

/// An event for a completion that was not asked for is allowed, so "solicited only" is not told apart.
fn req_notify(call: &mut Call<'_>) -> Res<()> {
    let request = ReqNotifyCq::read(&call.input(CORE_IN, ReqNotifyCq::SIZE)?);
    call.note(|| format!(" handle={} solicited_only={}", request.cq, request.solicited_only));
    let (_, cq) = call.objects.get(u64::from(request.cq), object::CQ)?;
    Ok(call.nic.cq_arm(cq.nic())?)
}

const DESTROY_HANDLE: u16 = 0;
const DESTROY_RESP: u16 = 1;

pub const DESTROY: MethodSpec = MethodSpec {
    object: object::CQ,
    method: 1,
    attrs: &[
        required(DESTROY_HANDLE, "HANDLE", Kind::Object(object::CQ)),
        required(DESTROY_RESP, "RESP", Kind::out_struct(DestroyCqResp::SIZE as u16)),
    ],
    uhw: false,
    needs_context: true,
    run: destroy,
};

fn destroy(call: &mut Call<'_>) -> Res<()> {
    let (handle, _) = call.object(DESTROY_HANDLE, object::CQ)?;
    let reported = call.objects.destroy(handle, call.env, call.nic)?;
    call.note(|| format!(" handle={handle} events={}", reported.completions));
    let answer = DestroyCqResp { comp_events: reported.completions, async_events: reported.asynchronous };
    call.output(DESTROY_RESP, &answer.bytes())
}
