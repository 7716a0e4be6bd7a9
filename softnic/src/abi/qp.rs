// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queue pairs: create and destroy are methods, modify and query are write commands.

use super::call::Call;
use super::device::check_port;
use super::env::Nic;
use super::errno::{EINVAL, EOPNOTSUPP, Res, fail};
use super::names::object;
use super::objects::{Object, Objects};
use super::spec::{Kind, MethodSpec, optional, required};
use super::structs::{DestroyQpResp, ModifyQp, PostSend, QpCap, QpDest, QueryQp, QueryQpResp, WriteHeader};
use super::write::{CORE_IN, CORE_OUT};
use crate::model::host::Gid;
use crate::model::types::{Path, QpAttr, QpSpec, QpState, qp_mask};

const HANDLE: u16 = 0;
const XRCD_HANDLE: u16 = 1;
const PD_HANDLE: u16 = 2;
const SRQ_HANDLE: u16 = 3;
const SEND_CQ_HANDLE: u16 = 4;
const RECV_CQ_HANDLE: u16 = 5;
const IND_TABLE_HANDLE: u16 = 6;
const USER_HANDLE: u16 = 7;
const CAP: u16 = 8;
const TYPE: u16 = 9;
const FLAGS: u16 = 10;
const SOURCE_QPN: u16 = 11;
const EVENT_FD: u16 = 12;
const RESP_CAP: u16 = 13;
const RESP_QP_NUM: u16 = 14;

/// `IB_UVERBS_QP_CREATE_SQ_SIG_ALL`
const SQ_SIG_ALL: u32 = 1 << 12;
/// All flags of `enum ib_uverbs_qp_create_flags`
const KNOWN_FLAGS: u32 = 1 << 1 | 1 << 8 | 1 << 9 | 1 << 11 | SQ_SIG_ALL;

pub const CREATE: MethodSpec = MethodSpec {
    object: object::QP,
    method: 0,
    attrs: &[
        required(HANDLE, "HANDLE", Kind::NewObject),
        // Objects that the device doesn't have: no handle of theirs can be open.
        optional(XRCD_HANDLE, "XRCD_HANDLE", Kind::Object(object::XRCD)),
        optional(PD_HANDLE, "PD_HANDLE", Kind::Object(object::PD)),
        optional(SRQ_HANDLE, "SRQ_HANDLE", Kind::Object(object::SRQ)),
        optional(SEND_CQ_HANDLE, "SEND_CQ_HANDLE", Kind::Object(object::CQ)),
        optional(RECV_CQ_HANDLE, "RECV_CQ_HANDLE", Kind::Object(object::CQ)),
        optional(IND_TABLE_HANDLE, "IND_TABLE_HANDLE", Kind::Object(object::RWQ_IND_TBL)),
        required(USER_HANDLE, "USER_HANDLE", Kind::U64),
        required(CAP, "CAP", Kind::in_struct(QpCap::SIZE as u16)),
        required(TYPE, "TYPE", Kind::U64),
        optional(FLAGS, "FLAGS", Kind::Flags),
        optional(SOURCE_QPN, "SOURCE_QPN", Kind::U32),
        optional(EVENT_FD, "EVENT_FD", Kind::Fd),
        required(RESP_CAP, "RESP_CAP", Kind::out_struct(QpCap::SIZE as u16)),
        required(RESP_QP_NUM, "RESP_QP_NUM", Kind::OUT_U32),
    ],
    uhw: true,
    needs_context: true,
    run: create,
};

fn create(call: &mut Call<'_>) -> Res<()> {
    for (id, kind) in [(XRCD_HANDLE, object::XRCD), (SRQ_HANDLE, object::SRQ), (IND_TABLE_HANDLE, object::RWQ_IND_TBL)]
    {
        if call.has(id) {
            call.object(id, kind)?;
        }
    }
    let spec = spec(call)?;
    call.note(|| format!(" {:?} caps={:?}", spec.kind, spec.caps));
    call.check_async_fd(EVENT_FD)?;
    call.objects.reserve()?;
    let info = call.nic.qp_create(&spec)?;
    let handle = call.adopt(Object::Qp { nic: info.handle, user_handle: spec.user_handle });
    call.note(|| format!(" handle={handle} qpn={:#x}", info.qpn));
    call.driver.qp_made(call, &info)?;
    call.output(RESP_CAP, &QpCap::from(info.caps).bytes())?;
    call.output(RESP_QP_NUM, &info.qpn.to_ne_bytes())?;
    call.answer(HANDLE, u64::from(handle))
}

fn spec(call: &mut Call<'_>) -> Res<QpSpec> {
    let qp_type = call.u64(TYPE)?;
    let flags = call.flags(FLAGS, KNOWN_FLAGS)?;
    if flags & !SQ_SIG_ALL != 0 || call.has(SOURCE_QPN) {
        return fail(EOPNOTSUPP, format!("create flags {flags:#x}: the device knows none but SQ_SIG_ALL"));
    }
    let (_, pd) = call.object(PD_HANDLE, object::PD)?;
    let (_, send_cq) = call.object(SEND_CQ_HANDLE, object::CQ)?;
    let (_, recv_cq) = call.object(RECV_CQ_HANDLE, object::CQ)?;
    let private = call.driver.qp_request(call, qp_type)?;
    Ok(QpSpec {
        kind: private.kind,
        pd: pd.nic(),
        send_cq: send_cq.nic(),
        recv_cq: recv_cq.nic(),
        user_handle: call.u64(USER_HANDLE)?,
        caps: QpCap::read(&call.input(CAP, QpCap::SIZE)?).into(),
        sq_ring_bytes: private.sq_ring_bytes,
        rq_ring_bytes: private.rq_ring_bytes,
        unsolicited_write_recv: private.unsolicited_write_recv,
        sl: private.sl,
        sq_sig_all: flags & SQ_SIG_ALL != 0,
    })
}

const DESTROY_HANDLE: u16 = 0;
const DESTROY_RESP: u16 = 1;

pub const DESTROY: MethodSpec = MethodSpec {
    object: object::QP,
    method: 1,
    attrs: &[
        required(DESTROY_HANDLE, "HANDLE", Kind::Object(object::QP)),
        required(DESTROY_RESP, "RESP", Kind::out_struct(DestroyQpResp::SIZE as u16)),
    ],
    uhw: false,
    needs_context: true,
    run: destroy,
};

fn destroy(call: &mut Call<'_>) -> Res<()> {
    let (handle, _) = call.object(DESTROY_HANDLE, object::QP)?;
    call.note(|| format!(" handle={handle}"));
    let reported = call.objects.destroy(handle, call.env, call.nic)?;
    call.output(DESTROY_RESP, &DestroyQpResp { events_reported: reported.asynchronous }.bytes())
}

/// The masks that the plain modify command can carry, `IB_QP_ATTR_STANDARD_BITS`.
const STANDARD_MASK: u32 = (1 << 21) - 1;

/// A state number, looked at only if the mask names it.
fn state(wanted: bool, value: u8) -> Res<QpState> {
    match QpState::from_verbs(u32::from(value)) {
        Some(state) if wanted => Ok(state),
        None if wanted => fail(EINVAL, format!("QP state {value} does not exist")),
        _ => Ok(QpState::Reset),
    }
}

/// The write command `modify_qp`.
pub fn modify(call: &mut Call<'_>) -> Res<()> {
    let request = ModifyQp::read(&call.input(CORE_IN, ModifyQp::SIZE)?);
    let mask = request.mask;
    call.note(|| format!(" handle={} mask={mask:#x} state={}", request.qp, request.state));
    let (_, qp) = call.objects.get(u64::from(request.qp), object::QP)?;
    if mask & !STANDARD_MASK != 0 {
        return fail(EOPNOTSUPP, format!("attribute mask {mask:#x} has bits beyond {STANDARD_MASK:#x}"));
    }
    if mask & qp_mask::PORT != 0 {
        check_port(u64::from(request.port))?;
    }
    let attr = QpAttr {
        state: state(mask & qp_mask::STATE != 0, request.state)?,
        cur_state: state(mask & qp_mask::CUR_STATE != 0, request.cur_state)?,
        qkey: request.qkey,
        sq_psn: request.sq_psn,
        pkey_index: request.pkey_index,
        port: request.port,
        rnr_retry: request.rnr_retry,
        en_sqd_async_notify: request.en_sqd_async_notify != 0,
        access: request.access,
        path: request.dest.into(),
        dest_qpn: request.dest_qpn,
        rq_psn: request.rq_psn,
        path_mtu: request.path_mtu,
        timeout: request.timeout,
        retry_cnt: request.retry_cnt,
        max_rd_atomic: request.max_rd_atomic,
        max_dest_rd_atomic: request.max_dest_rd_atomic,
        min_rnr_timer: request.min_rnr_timer,
    };
    call.uhw_in_none()?;
    call.nic.qp_modify(qp.nic(), mask, &attr)?;
    Ok(())
}

/// The write(2) command `post_send` without requests in it, for kinds whose provider rings so.
pub fn ring_by_write(header: &WriteHeader, body: &[u8], objects: &Objects, nic: &mut dyn Nic) -> Res<()> {
    let request = PostSend::read(body);
    let whole = WriteHeader::SIZE + PostSend::SIZE;
    if usize::from(header.in_words) * 4 != whole || body.len() != PostSend::SIZE || request.wr_count != 0 {
        return fail(
            EINVAL,
            format!("{} requests, {} bytes: a doorbell has 0 and 32", request.wr_count, body.len() + 8),
        );
    }
    let (_, qp) = objects.get(u64::from(request.qp), object::QP)?;
    Ok(nic.qp_rung(qp.nic())?)
}

/// The write command `query_qp`.
pub fn query(call: &mut Call<'_>) -> Res<()> {
    let request = QueryQp::read(&call.input(CORE_IN, QueryQp::SIZE)?);
    call.note(|| format!(" handle={} mask={:#x}", request.qp, request.mask));
    let (_, qp) = call.objects.get(u64::from(request.qp), object::QP)?;
    let found = call.nic.qp_query(qp.nic())?;
    let attr = found.attr;
    let answer = QueryQpResp {
        cap: found.spec.caps.into(),
        qkey: attr.qkey,
        sq_psn: attr.sq_psn,
        pkey_index: attr.pkey_index,
        state: attr.state as u8,
        cur_state: attr.state as u8,
        port: attr.port,
        rnr_retry: attr.rnr_retry,
        dest: attr.path.into(),
        dest_qpn: attr.dest_qpn,
        rq_psn: attr.rq_psn,
        access: attr.access,
        path_mtu: attr.path_mtu,
        timeout: attr.timeout,
        retry_cnt: attr.retry_cnt,
        max_rd_atomic: attr.max_rd_atomic,
        max_dest_rd_atomic: attr.max_dest_rd_atomic,
        min_rnr_timer: attr.min_rnr_timer,
        sq_sig_all: u8::from(found.spec.sq_sig_all),
        ..QueryQpResp::default()
    };
    call.output(CORE_OUT, &answer.bytes())
}

impl From<QpDest> for Path {
    fn from(d: QpDest) -> Path {
        Path {
            dgid: Gid(d.dgid),
            flow_label: d.flow_label,
            dlid: d.dlid,
            sgid_index: d.sgid_index,
            hop_limit: d.hop_limit,
            traffic_class: d.traffic_class,
            sl: d.sl,
            src_path_bits: d.src_path_bits,
            static_rate: d.static_rate,
            is_global: d.is_global != 0,
            port: d.port,
        }
    }
}

impl From<Path> for QpDest {
    fn from(p: Path) -> QpDest {
        QpDest {
            dgid: p.dgid.0,
            flow_label: p.flow_label,
            dlid: p.dlid,
            sgid_index: p.sgid_index,
            hop_limit: p.hop_limit,
            traffic_class: p.traffic_class,
            sl: p.sl,
            src_path_bits: p.src_path_bits,
            static_rate: p.static_rate,
            is_global: u8::from(p.is_global),
            port: p.port,
        }
    }
}
