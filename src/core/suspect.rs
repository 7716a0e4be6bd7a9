// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a state transition was refused. The kernel says EINVAL and no more; the attribute at fault can often be told by
//! comparing what was asked with the rules of the transition and the limits of the device.

use super::context::Context;
use super::error::{Error, Reason};
use super::qp::Qp;
use super::qp_create::{VBN_QPT_RC, VBN_QPT_SRD, VBN_QPT_UC, VBN_QPT_UD};
use super::rc::MTU_CODES;
use crate::sys::ibv::{self, ibv_qp_attr};

const CALL: &str = "ibv_modify_qp";

/// A transition of a queue pair: from, to, and what must and what may be set besides the state.
struct Transition {
    from: u32,
    to: u32,
    required: i32,
    optional: i32,
}

const TO_INIT: i32 = ibv::IBV_QP_PKEY_INDEX | ibv::IBV_QP_PORT | ibv::IBV_QP_ACCESS_FLAGS;
const TO_RTR: i32 = ibv::IBV_QP_AV
    | ibv::IBV_QP_PATH_MTU
    | ibv::IBV_QP_DEST_QPN
    | ibv::IBV_QP_RQ_PSN
    | ibv::IBV_QP_MAX_DEST_RD_ATOMIC
    | ibv::IBV_QP_MIN_RNR_TIMER;
const TO_RTS: i32 = ibv::IBV_QP_TIMEOUT
    | ibv::IBV_QP_RETRY_CNT
    | ibv::IBV_QP_RNR_RETRY
    | ibv::IBV_QP_SQ_PSN
    | ibv::IBV_QP_MAX_QP_RD_ATOMIC;
const IN_RTS: i32 = ibv::IBV_QP_CUR_STATE
    | ibv::IBV_QP_ACCESS_FLAGS
    | ibv::IBV_QP_ALT_PATH
    | ibv::IBV_QP_PATH_MIG_STATE
    | ibv::IBV_QP_MIN_RNR_TIMER;

/// The table of the InfiniBand specification for RC, as the kernel has it. Any state may go to RESET and ERR.
const RC: &[Transition] = &[
    Transition { from: ibv::IBV_QPS_RESET, to: ibv::IBV_QPS_INIT, required: TO_INIT, optional: 0 },
    Transition { from: ibv::IBV_QPS_INIT, to: ibv::IBV_QPS_INIT, required: 0, optional: TO_INIT },
    Transition {
        from: ibv::IBV_QPS_INIT,
        to: ibv::IBV_QPS_RTR,
        required: TO_RTR,
        optional: ibv::IBV_QP_ALT_PATH | ibv::IBV_QP_ACCESS_FLAGS | ibv::IBV_QP_PKEY_INDEX,
    },
    Transition { from: ibv::IBV_QPS_RTR, to: ibv::IBV_QPS_RTS, required: TO_RTS, optional: IN_RTS },
    Transition { from: ibv::IBV_QPS_RTS, to: ibv::IBV_QPS_RTS, required: 0, optional: IN_RTS | ibv::IBV_QP_RATE_LIMIT },
    Transition { from: ibv::IBV_QPS_RTS, to: ibv::IBV_QPS_SQD, required: 0, optional: ibv::IBV_QP_EN_SQD_ASYNC_NOTIFY },
    Transition { from: ibv::IBV_QPS_SQD, to: ibv::IBV_QPS_SQD, required: 0, optional: !0 },
    Transition { from: ibv::IBV_QPS_SQD, to: ibv::IBV_QPS_RTS, required: 0, optional: IN_RTS },
    Transition { from: ibv::IBV_QPS_SQE, to: ibv::IBV_QPS_RTS, required: 0, optional: IN_RTS },
];

const UC_RTR: i32 = ibv::IBV_QP_AV | ibv::IBV_QP_PATH_MTU | ibv::IBV_QP_DEST_QPN | ibv::IBV_QP_RQ_PSN;
const UC_IN_RTS: i32 =
    ibv::IBV_QP_CUR_STATE | ibv::IBV_QP_ACCESS_FLAGS | ibv::IBV_QP_ALT_PATH | ibv::IBV_QP_PATH_MIG_STATE;

/// The same for UC, which has no acknowledgements and so nothing that is about them.
const UC: &[Transition] = &[
    Transition { from: ibv::IBV_QPS_RESET, to: ibv::IBV_QPS_INIT, required: TO_INIT, optional: 0 },
    Transition { from: ibv::IBV_QPS_INIT, to: ibv::IBV_QPS_INIT, required: 0, optional: TO_INIT },
    Transition {
        from: ibv::IBV_QPS_INIT,
        to: ibv::IBV_QPS_RTR,
        required: UC_RTR,
        optional: ibv::IBV_QP_ALT_PATH | ibv::IBV_QP_ACCESS_FLAGS | ibv::IBV_QP_PKEY_INDEX,
    },
    Transition { from: ibv::IBV_QPS_RTR, to: ibv::IBV_QPS_RTS, required: ibv::IBV_QP_SQ_PSN, optional: UC_IN_RTS },
    Transition {
        from: ibv::IBV_QPS_RTS,
        to: ibv::IBV_QPS_RTS,
        required: 0,
        optional: UC_IN_RTS | ibv::IBV_QP_RATE_LIMIT,
    },
    Transition { from: ibv::IBV_QPS_RTS, to: ibv::IBV_QPS_SQD, required: 0, optional: ibv::IBV_QP_EN_SQD_ASYNC_NOTIFY },
    Transition {
        from: ibv::IBV_QPS_SQD,
        to: ibv::IBV_QPS_SQD,
        required: 0,
        optional: ibv::IBV_QP_AV | ibv::IBV_QP_PKEY_INDEX | UC_IN_RTS,
    },
    Transition { from: ibv::IBV_QPS_SQD, to: ibv::IBV_QPS_RTS, required: 0, optional: UC_IN_RTS },
    Transition { from: ibv::IBV_QPS_SQE, to: ibv::IBV_QPS_RTS, required: 0, optional: UC_IN_RTS },
];

const DATAGRAM_INIT: i32 = ibv::IBV_QP_PKEY_INDEX | ibv::IBV_QP_PORT | ibv::IBV_QP_QKEY;
const DATAGRAM_KEYS: i32 = ibv::IBV_QP_PKEY_INDEX | ibv::IBV_QP_QKEY;
const DATAGRAM_RTS: i32 = ibv::IBV_QP_CUR_STATE | ibv::IBV_QP_QKEY;

/// The same for queue pairs without a connection; `to_rts` is what only some of them may set on the way to RTS.
const fn datagram(to_rts: i32) -> [Transition; 9] {
    use ibv::{IBV_QPS_INIT, IBV_QPS_RESET, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_SQE};
    const fn rule(from: u32, to: u32, required: i32, optional: i32) -> Transition {
        Transition { from, to, required, optional }
    }
    [
        rule(IBV_QPS_RESET, IBV_QPS_INIT, DATAGRAM_INIT, 0),
        rule(IBV_QPS_INIT, IBV_QPS_INIT, 0, DATAGRAM_INIT),
        rule(IBV_QPS_INIT, IBV_QPS_RTR, 0, DATAGRAM_KEYS),
        rule(IBV_QPS_RTR, IBV_QPS_RTS, ibv::IBV_QP_SQ_PSN, DATAGRAM_RTS | to_rts),
        rule(IBV_QPS_RTS, IBV_QPS_RTS, 0, DATAGRAM_RTS),
        rule(IBV_QPS_RTS, IBV_QPS_SQD, 0, ibv::IBV_QP_EN_SQD_ASYNC_NOTIFY),
        rule(IBV_QPS_SQD, IBV_QPS_SQD, 0, DATAGRAM_KEYS),
        rule(IBV_QPS_SQD, IBV_QPS_RTS, 0, DATAGRAM_RTS),
        rule(IBV_QPS_SQE, IBV_QPS_RTS, 0, DATAGRAM_RTS),
    ]
}

const UD: &[Transition] = &datagram(0);
/// SRD has UD's states and adds RNR_RETRY (SRD.txt of the efa driver r3.1.0).
const SRD: &[Transition] = &datagram(ibv::IBV_QP_RNR_RETRY);

/// Turns a failed `ibv_modify_qp` into an error that names the suspect, if there is one.
pub fn explain(qp: &Qp, attr: &ibv_qp_attr, mask: i32, errno: i32) -> Error {
    let context = qp.device();
    let plain = Error::call(CALL, errno);
    let error = match errno {
        // EFA's driver answers EOPNOTSUPP to attributes that it doesn't have.
        libc::EINVAL | libc::EOPNOTSUPP => {
            let from = qp.state().unwrap_or(ibv::IBV_QPS_UNKNOWN);
            let rules = match qp.qp_type() {
                VBN_QPT_RC => RC,
                VBN_QPT_UC => UC,
                VBN_QPT_UD => UD,
                VBN_QPT_SRD => SRD,
                _ => &[],
            };
            transition(rules, from, attr, mask).or_else(|| limits(context, attr, mask)).unwrap_or(plain)
        }
        libc::ENODATA if mask & ibv::IBV_QP_AV != 0 => {
            because("the place at sgid_index in the port's GID table is empty")
                .value(attr.ah_attr.grh.sgid_index.into(), 0)
                .hint("vbn_gid_select picks one that is not")
        }
        _ => plain.hint(address_hint(mask, errno)),
    };
    Error { errno, status: plain.status, ..error }.on(context.name())
}

fn because(why: &'static str) -> Error {
    Error::argument(Reason::CallBecause(CALL, why))
}

/// Whether the transition exists, and whether its attributes are complete and allowed.
fn transition(rules: &[Transition], from: u32, attr: &ibv_qp_attr, mask: i32) -> Option<Error> {
    let to = if mask & ibv::IBV_QP_STATE != 0 { attr.qp_state } else { from };
    if rules.is_empty() || from == ibv::IBV_QPS_UNKNOWN || to == ibv::IBV_QPS_RESET || to == ibv::IBV_QPS_ERR {
        return None;
    }
    let given = mask & !ibv::IBV_QP_STATE;
    let Some(rule) = rules.iter().find(|rule| rule.from == from && rule.to == to) else {
        return Some(
            because("no such transition exists from the state that it is in")
                .value(to.into(), from.into())
                .hint("the way is RESET, INIT, RTR, RTS; value is the state asked for, limit the present one"),
        );
    };
    if let Some(name) = first_name(rule.required & !given) {
        return Some(
            Error::argument(Reason::CallWants(CALL, name)).hint("the transition needs it: set its bit and field"),
        );
    }
    first_name(given & !(rule.required | rule.optional)).map(|name| {
        Error::argument(Reason::CallRejects(CALL, name)).hint("the transition does not take it: clear its bit")
    })
}

/// Which attribute the lowest bit is about.
fn first_name(bits: i32) -> Option<&'static str> {
    const NAMES: &[(i32, &str)] = &[
        (ibv::IBV_QP_CUR_STATE, "VBN_QP_CUR_STATE"),
        (ibv::IBV_QP_EN_SQD_ASYNC_NOTIFY, "VBN_QP_EN_SQD_ASYNC_NOTIFY"),
        (ibv::IBV_QP_ACCESS_FLAGS, "VBN_QP_ACCESS_FLAGS"),
        (ibv::IBV_QP_PKEY_INDEX, "VBN_QP_PKEY_INDEX"),
        (ibv::IBV_QP_PORT, "VBN_QP_PORT"),
        (ibv::IBV_QP_QKEY, "VBN_QP_QKEY"),
        (ibv::IBV_QP_AV, "VBN_QP_AV"),
        (ibv::IBV_QP_PATH_MTU, "VBN_QP_PATH_MTU"),
        (ibv::IBV_QP_TIMEOUT, "VBN_QP_TIMEOUT"),
        (ibv::IBV_QP_RETRY_CNT, "VBN_QP_RETRY_CNT"),
        (ibv::IBV_QP_RNR_RETRY, "VBN_QP_RNR_RETRY"),
        (ibv::IBV_QP_RQ_PSN, "VBN_QP_RQ_PSN"),
        (ibv::IBV_QP_MAX_QP_RD_ATOMIC, "VBN_QP_MAX_QP_RD_ATOMIC"),
        (ibv::IBV_QP_ALT_PATH, "VBN_QP_ALT_PATH"),
        (ibv::IBV_QP_MIN_RNR_TIMER, "VBN_QP_MIN_RNR_TIMER"),
        (ibv::IBV_QP_SQ_PSN, "VBN_QP_SQ_PSN"),
        (ibv::IBV_QP_MAX_DEST_RD_ATOMIC, "VBN_QP_MAX_DEST_RD_ATOMIC"),
        (ibv::IBV_QP_PATH_MIG_STATE, "VBN_QP_PATH_MIG_STATE"),
        (ibv::IBV_QP_CAP, "VBN_QP_CAP"),
        (ibv::IBV_QP_DEST_QPN, "VBN_QP_DEST_QPN"),
        (ibv::IBV_QP_RATE_LIMIT, "VBN_QP_RATE_LIMIT"),
    ];
    NAMES.iter().find(|(bit, _)| bits & bit != 0).map(|(_, name)| *name)
}

/// Compares the attributes with what device and port offer.
fn limits(context: &Context, attr: &ibv_qp_attr, mask: i32) -> Option<Error> {
    let device = context.device();
    let has = |bit: i32| mask & bit != 0;
    let exceeds = |what: &'static str, value: u64, limit: u64| {
        (value > limit).then(|| Error::argument(Reason::CallExceeds(CALL, what)).value(value, limit))
    };
    let mut found = None;
    if has(ibv::IBV_QP_PORT) {
        found = exceeds("port_num", attr.port_num.into(), context.ports().into());
        if attr.port_num == 0 {
            found = Some(because("port_num is 0").hint("ports count from 1"));
        }
    }
    if has(ibv::IBV_QP_MAX_QP_RD_ATOMIC) {
        let limit = device.max_qp_init_rd_atom as u64;
        found = found.or_else(|| exceeds("max_rd_atomic", attr.max_rd_atomic.into(), limit));
    }
    if has(ibv::IBV_QP_MAX_DEST_RD_ATOMIC) {
        let limit = device.max_qp_rd_atom as u64;
        found = found.or_else(|| exceeds("max_dest_rd_atomic", attr.max_dest_rd_atomic.into(), limit));
    }
    let port = if has(ibv::IBV_QP_AV) { attr.ah_attr.port_num } else { attr.port_num };
    if found.is_some() || port == 0 {
        return found;
    }
    let port = context.port(port).ok()?;
    if has(ibv::IBV_QP_PKEY_INDEX) {
        found = exceeds("pkey_index", attr.pkey_index.into(), u64::from(port.pkey_tbl_len).saturating_sub(1));
    }
    if has(ibv::IBV_QP_PATH_MTU) {
        found = found
            .or_else(|| exceeds("path_mtu", attr.path_mtu.into(), port.active_mtu.into()).map(|e| e.hint(MTU_CODES)));
    }
    if has(ibv::IBV_QP_AV) {
        let last = (port.gid_tbl_len as u64).saturating_sub(1);
        found = found.or_else(|| exceeds("sgid_index", attr.ah_attr.grh.sgid_index.into(), last));
        if port.link_layer == ibv::IBV_LINK_LAYER_ETHERNET && attr.ah_attr.is_global == 0 {
            found = found.or(Some(
                because("is_global is 0").hint("on RoCE every packet carries the global header: set it to 1"),
            ));
        }
    }
    found.or_else(|| {
        has(ibv::IBV_QP_AV).then(|| {
            because("the kernel finds no way from the GID at sgid_index to dgid")
                .hint("are both GIDs of one address family and RoCE type, is the entry at sgid_index not empty? vbn_gid_select tells")
        })
    })
}

/// What the errno of a refused address means.
fn address_hint(mask: i32, errno: i32) -> &'static str {
    if mask & ibv::IBV_QP_AV == 0 {
        return "";
    }
    match errno {
        libc::ETIMEDOUT => {
            "the peer's address did not answer (ARP or ND): is dgid right, and a link-local GID on one link with its peer?"
        }
        libc::ENETUNREACH | libc::EHOSTUNREACH => {
            "there is no route to the peer's address: do both GIDs belong to one subnet or a routed one?"
        }
        libc::ENODEV | libc::EADDRNOTAVAIL => {
            "the GID at sgid_index has no net device that is up: see vbn_context_gid_table"
        }
        libc::EPROTONOSUPPORT | libc::EAFNOSUPPORT => "the two GIDs are of different address families or RoCE types",
        _ => "",
    }
}
