// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_peer_*`.

use super::ffi::{self, guard_on};
use crate::core::cm_event::vbn_cm_event;
use crate::core::endpoint::vbn_endpoint;
use crate::core::endpoint_info::vbn_endpoint_info;
use crate::core::error::{Error, Reason};
use crate::core::handle::{vbn_pd, vbn_peer, vbn_qp};
use crate::core::op::Op;
use crate::core::peer::{Peer, vbn_peer_attr, vbn_peer_info};
use crate::core::status::vbn_status;

/// Makes a peer of an address handle: the destination that a request on a UD or SRD queue pair names. `attr` tells handle,
/// queue pair number and QKEY.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_peer_close; NULL after a failure. It keeps `pd` and the address
///   handle alive.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_BUSY (the address handle is being closed), VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_peer_create(
    pd: *mut vbn_pd,
    attr: *const vbn_peer_attr,
    out: *mut *mut vbn_peer,
) -> vbn_status {
    guard_on(Op::PeerCreate, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let attr = ffi::required_input(attr)?;
        if attr.ah.is_null() {
            return Err(
                Error::argument(Reason::Null("ah")).hint("vbn_peer_from_endpoint makes the address handle itself")
            );
        }
        ffi::give(out, Peer::of_ah(&pd, ffi::pin(attr.ah)?, &attr)?);
        Ok(())
    })
}

/// Makes a peer of the record that it sent: address handle included.
///
/// `attr` may be NULL; its ah, qp_num and qkey must be 0. On RoCE and InfiniBand its `path` may say more about the way.
///
/// - Ownership: reads `*endpoint`. `*out` is the caller's, to be given to vbn_peer_close; NULL after a failure. It keeps
///   `pd` alive.
/// - Threads: MT-safe.
/// - Blocks: for a system call; on RoCE until the peer's address is resolved (seconds).
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (port_num, sgid_index; references), VBN_ERR_NOT_FOUND (no usable GID of
///   one's own), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER (EINVAL: no way to that GID), VBN_ERR_NO_MEMORY (the device is full),
///   VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_create_ah(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_peer_from_endpoint(
    pd: *mut vbn_pd,
    endpoint: *const vbn_endpoint,
    attr: *const vbn_peer_attr,
    out: *mut *mut vbn_peer,
) -> vbn_status {
    guard_on(Op::PeerFromEndpoint, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let endpoint = ffi::required(endpoint, "endpoint")?;
        ffi::give(out, Peer::at(pd, endpoint, &ffi::input(attr)?)?);
        Ok(())
    })
}

/// Makes a peer of the versioned record that it sent, after comparing it with one's own queue pair: what would not work
/// (another transport, unsolicited receives on one side only, an EFA generation that can't be read from...) is named here,
/// and not by a failed completion.
///
/// `attr` as for vbn_peer_from_endpoint.
///
/// - Ownership: reads `*remote`. `*out` is the caller's, to be given to vbn_peer_close; NULL after a failure. It keeps the
///   queue pair's PD alive, not the queue pair.
/// - Threads: MT-safe.
/// - Blocks: for system calls; on RoCE until the peer's address is resolved (seconds).
/// - Errors: VBN_ERR_ARGUMENT (a mismatch; the message names it), VBN_ERR_LIMIT (port_num, sgid_index; references),
///   VBN_ERR_NOT_FOUND (no pair of GIDs), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_peer_from_info(
    qp: *mut vbn_qp,
    remote: *const vbn_endpoint_info,
    attr: *const vbn_peer_attr,
    out: *mut *mut vbn_peer,
) -> vbn_status {
    guard_on(Op::PeerFromInfo, qp, || {
        let out = ffi::out_handle(out)?;
        let qp = ffi::pin(qp)?;
        let remote = ffi::required_input(remote)?;
        ffi::give(out, Peer::of_info(&qp, &remote, &ffi::input(attr)?)?);
        Ok(())
    })
}

/// Makes a peer of what the connection manager's event tells: the server of a datagram connection, with VBN_CM_EVENT_ESTABLISHED.
///
/// `attr` may be NULL; only its user_data counts, the rest must be 0.
///
/// - Ownership: reads `*event`. `*out` is the caller's, to be given to vbn_peer_close; NULL after a failure. It keeps `pd`
///   alive.
/// - Threads: MT-safe.
/// - Blocks: for a system call; on RoCE until the peer's address is resolved (seconds).
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (port_num; references), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_create_ah(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_peer_from_cm(
    pd: *mut vbn_pd,
    event: *const vbn_cm_event,
    attr: *const vbn_peer_attr,
    out: *mut *mut vbn_peer,
) -> vbn_status {
    guard_on(Op::PeerFromCm, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let event = ffi::required_input(event)?;
        ffi::give(out, Peer::of_cm(pd, &event, &ffi::input(attr)?)?);
        Ok(())
    })
}

/// Closes a peer and sets `*peer` to NULL. Requests on their way to it go on: on EFA the address handle stays, idle. A
/// request that names it afterwards is refused.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle, and no post that names it, may be under way or start afterwards.
/// - Blocks: for a system call, but not on EFA.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_destroy_ah(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_peer_close(peer: *mut *mut vbn_peer) -> vbn_status {
    ffi::close(Op::PeerClose, peer)
}

/// Tells what is known of a peer.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_peer_query(peer: *const vbn_peer, info: *mut vbn_peer_info) -> vbn_status {
    guard_on(Op::PeerQuery, peer, || ffi::output(info, &ffi::pin(peer)?.info()))
}
