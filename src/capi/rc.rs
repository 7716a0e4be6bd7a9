// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_rc_record_*` and the functions that connect RC and UC queue pairs.

use super::ffi::{self, guard, guard_on};
use crate::core::connect;
use crate::core::endpoint_info::vbn_endpoint_info;
use crate::core::handle::vbn_qp;
use crate::core::op::Op;
use crate::core::rc::{self, VBN_RC_RECORD_SIZE, vbn_rc_attr, vbn_rc_record};
use crate::core::status::vbn_status;

/// Fills the record of one's own queue pair, to be sent to the peer: its number, a PSN (random unless `attr` gives one),
/// LID, GID, port and MTU. The same record is handed to vbn_qp_connect_rc, so the PSN is given once.
///
/// `attr` may be NULL. On RoCE the GID is what vbn_gid_select picks, unless `attr` names sgid_index.
///
/// - Ownership: fills the caller's `*record`.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (port, sgid_index; references), VBN_ERR_NOT_FOUND (no usable GID),
///   VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (iWARP), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_rc_record_local(
    qp: *const vbn_qp,
    attr: *const vbn_rc_attr,
    record: *mut vbn_rc_record,
) -> vbn_status {
    guard_on(Op::RcRecordLocal, qp, || {
        let record = ffi::out(record, "record")?;
        let qp = ffi::pin(qp)?;
        *record = vbn_rc_record::local(&qp, &ffi::input(attr)?)?;
        Ok(())
    })
}

/// Writes a record as VBN_RC_RECORD_SIZE (28) bytes, big-endian: qp_num, psn, lid, gid, port_num, mtu. The Python package
/// ibverbs (rdma4py) exchanges the same bytes.
///
/// - Ownership: reads `*record`, fills `bytes`, which must have room for `size` bytes.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (a field out of range, size not 28), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma4py 2026.10.22, QPInfo
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_rc_record_encode(record: *const vbn_rc_record, bytes: *mut u8, size: usize) -> vbn_status {
    guard(Op::RcRecordEncode, || {
        let record = ffi::required(record, "record")?;
        if size != VBN_RC_RECORD_SIZE {
            return Err(rc::wrong_size(size));
        }
        ffi::array_mut(bytes, size, "bytes")?.copy_from_slice(&record.encode()?);
        Ok(())
    })
}

/// Reads a record that came from a peer, and checks it.
///
/// - Ownership: reads `bytes`, fills the caller's `*record`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (size not 28, a field out of range), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma4py 2026.10.22, QPInfo
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_rc_record_decode(bytes: *const u8, size: usize, record: *mut vbn_rc_record) -> vbn_status {
    guard(Op::RcRecordDecode, || {
        let record = ffi::out(record, "record")?;
        *record = vbn_rc_record::decode(ffi::array(bytes, size, "bytes")?)?;
        Ok(())
    })
}

/// Takes an RC or UC queue pair from RESET (or INIT) to INIT: port, pkey index, and what the peer may do to memory. From here on
/// receives may be posted. vbn_qp_connect_rc does this too.
///
/// `attr` may be NULL.
///
/// - Ownership: reads the caller's structs.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (port, pkey_index; references), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_to_init(qp: *mut vbn_qp, attr: *const vbn_rc_attr) -> vbn_status {
    guard_on(Op::QpToInit, qp, || {
        let qp = ffi::pin(qp)?;
        rc::to_init(&qp, &ffi::input(attr)?)
    })
}

/// Takes an RC or UC queue pair from INIT to RTR, ready to receive from the peer of `remote`. One that is there already is
/// refused by the driver and stays as it is, whichever peer `remote` is; vbn_qp_connect_rc goes on from any state.
///
/// `attr` may be NULL.
///
/// - Ownership: reads the caller's structs.
/// - Threads: MT-safe.
/// - Blocks: for system calls; may wait for the peer's address (seconds).
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (port, path_mtu, max_dest_rd_atomic; references), VBN_ERR_NOT_FOUND (the
///   local record's GID is not in the port's table), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER (sys_errno ETIMEDOUT,
///   ENETUNREACH, EINVAL, ...), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_to_rtr(
    qp: *mut vbn_qp,
    local: *const vbn_rc_record,
    remote: *const vbn_rc_record,
    attr: *const vbn_rc_attr,
) -> vbn_status {
    guard_on(Op::QpToRtr, qp, || {
        let qp = ffi::pin(qp)?;
        rc::to_rtr(&qp, ffi::required(local, "local")?, ffi::required(remote, "remote")?, &ffi::input(attr)?)
    })
}

/// Takes an RC or UC queue pair from RTR to RTS, ready to send. One that is there already is refused by the driver and stays
/// as it is.
///
/// `attr` may be NULL.
///
/// - Ownership: reads the caller's structs.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (max_rd_atomic; references), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_to_rts(
    qp: *mut vbn_qp,
    local: *const vbn_rc_record,
    attr: *const vbn_rc_attr,
) -> vbn_status {
    guard_on(Op::QpToRts, qp, || {
        let qp = ffi::pin(qp)?;
        rc::to_rts(&qp, ffi::required(local, "local")?, &ffi::input(attr)?)
    })
}

/// Connects an RC or UC queue pair to its peer: from wherever it is to RTS. `local` is what vbn_rc_record_local made and the peer
/// was sent, `remote` what the peer sent. Every parameter can be overridden by `attr`, which may be NULL.
///
/// A queue pair that is already connected is fine if it shows the same peer. After a failure the call may be repeated. Two
/// threads that connect one queue pair do so one after the other.
///
/// - Ownership: reads the caller's structs.
/// - Threads: MT-safe.
/// - Blocks: for system calls; may wait for the peer's address (seconds). It does not wait for the peer itself.
/// - Errors: VBN_ERR_ARGUMENT (also: connected to another peer, or in a state from which there is no way),
///   VBN_ERR_LIMIT (port, pkey_index, path_mtu, max_rd_atomic, max_dest_rd_atomic; references), VBN_ERR_NOT_FOUND
///   (the local record's GID is not in the port's table), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER (sys_errno ETIMEDOUT,
///   ENETUNREACH, EINVAL, ...), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_connect_rc(
    qp: *mut vbn_qp,
    local: *const vbn_rc_record,
    remote: *const vbn_rc_record,
    attr: *const vbn_rc_attr,
) -> vbn_status {
    guard_on(Op::QpConnectRc, qp, || {
        let qp = ffi::pin(qp)?;
        rc::connect(&qp, ffi::required(local, "local")?, ffi::required(remote, "remote")?, &ffi::input(attr)?, None)
    })
}

/// Connects an RC or UC queue pair to its peer by the records that can grow: from wherever it is to RTS. `local` is what
/// vbn_endpoint_info_local made for this queue pair and the peer was sent, `remote` what the peer sent.
///
/// Everything that keeps the two from working together is named before the first step: other types of queue pair, no GIDs that
/// fit together. The GIDs are chosen from both records, so that both sides come to the same pair; the smaller MTU counts, and
/// no more reads are asked of the peer than it answers. If both records have vendor options (ECE), the peer's are taken over
/// before RTR; of different vendors they are a mismatch. Every parameter can be overridden by `attr`, which may be NULL; the
/// VBN_RC_SET_* bits of what UC doesn't have are refused there.
///
/// A queue pair that is already connected is fine if it shows the same peer. After a failure the call may be repeated. Two
/// threads that connect one queue pair do so one after the other.
///
/// - Ownership: reads the caller's structs.
/// - Threads: MT-safe.
/// - Blocks: for system calls; may wait for the peer's address (seconds). It does not wait for the peer itself.
/// - Errors: VBN_ERR_ARGUMENT (also: the records don't fit together, and then value of the error record has the
///   VBN_MISMATCH_* bits; connected to another peer; in a state from which there is no way), VBN_ERR_LIMIT (port,
///   pkey_index, path_mtu, max_rd_atomic, max_dest_rd_atomic; references), VBN_ERR_NOT_FOUND (the local record's GID is
///   not in the port's table), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER (sys_errno ETIMEDOUT, ENETUNREACH, EINVAL, ...),
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED (also: the device refuses the peer's vendor options),
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3), ibv_set_ece(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_qp_connect(
    qp: *mut vbn_qp,
    local: *const vbn_endpoint_info,
    remote: *const vbn_endpoint_info,
    attr: *const vbn_rc_attr,
) -> vbn_status {
    guard_on(Op::QpConnect, qp, || {
        let qp = ffi::pin(qp)?;
        let (local, remote) = (ffi::required_input(local)?, ffi::required_input(remote)?);
        connect::connect(&qp, &local, &remote, &ffi::input(attr)?)
    })
}
