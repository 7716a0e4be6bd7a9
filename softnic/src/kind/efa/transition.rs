// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which QP state changes are allowed, and with which attributes.

use super::SRD;
use crate::model::types::{QpState, QpType, qp_mask as m};

/// Bits that a change needs and bits that it may have, STATE and CUR_STATE aside. None: no such change.
pub fn rule(kind: &QpType, from: QpState, to: QpState) -> Option<(u32, u32)> {
    use QpState::{Err, Init, Reset, Rtr, Rts, Sqd, Sqe};
    let srd = *kind == SRD;
    Some(match (from, to) {
        (Reset, Err) => return None,
        (_, Reset | Err) => (0, 0),
        (Reset, Init) => (m::PKEY_INDEX | m::PORT | m::QKEY, 0),
        (Init, Init) => (0, m::PKEY_INDEX | m::PORT | m::QKEY),
        (Init, Rtr) => (0, m::PKEY_INDEX | m::QKEY),
        (Rtr, Rts) => (m::SQ_PSN, m::QKEY | if srd { m::RNR_RETRY } else { 0 }),
        (Rts, Rts) | (Sqd | Sqe, Rts) => (0, m::QKEY),
        (Rts, Sqd) => (0, m::EN_SQD_ASYNC_NOTIFY),
        (Sqd, Sqd) => (0, m::PKEY_INDEX | m::QKEY),
        _ => return None,
    })
}

/// May a change go from `from` to `to` with these mask bits?
pub fn allowed(kind: &QpType, from: QpState, to: QpState, mask: u32) -> bool {
    let Some((required, optional)) = rule(kind, from, to) else { return false };
    let mask = mask & !(m::STATE | m::CUR_STATE);
    mask & required == required && mask & !(required | optional) == 0
}

#[cfg(test)]
mod tests {
    use super::super::UD;
    use super::*;

    #[test]
    fn the_usual_way_up_and_its_mistakes() {
        use QpState::*;
        let init = m::STATE | m::PKEY_INDEX | m::PORT | m::QKEY;
        for kind in [&UD, &SRD] {
            assert!(allowed(kind, Reset, Init, init));
            assert!(!allowed(kind, Reset, Init, init & !m::QKEY));
            assert!(!allowed(kind, Reset, Init, init | m::SQ_PSN));
            assert!(allowed(kind, Init, Rtr, m::STATE));
            assert!(allowed(kind, Rtr, Rts, m::STATE | m::SQ_PSN));
            assert!(!allowed(kind, Rtr, Rts, m::STATE));
            assert!(!allowed(kind, Init, Rts, m::STATE | m::SQ_PSN));
            assert!(!allowed(kind, Reset, Err, m::STATE));
            assert!(allowed(kind, Rts, Err, m::STATE) && allowed(kind, Err, Reset, m::STATE));
            assert!(!allowed(kind, Err, Init, init));
        }
        let with_retry = m::STATE | m::SQ_PSN | m::RNR_RETRY;
        assert!(allowed(&SRD, Rtr, Rts, with_retry) && !allowed(&UD, Rtr, Rts, with_retry));
    }
}
