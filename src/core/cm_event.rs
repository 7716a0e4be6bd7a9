// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the connection manager reports, as copies.

use super::cold::{Cold, cold_structs};
use super::error::{Error, Reason, Result};
use super::qp_attr::vbn_path;
use super::status::*;
use crate::sys::ibv;
use crate::sys::rdmacm::*;

/// The address was resolved: the id has a device. Next: vbn_cm_id_resolve_route.
pub const VBN_CM_EVENT_ADDR_RESOLVED: i32 = 0;
/// The address could not be resolved; `status` is a negated errno.
pub const VBN_CM_EVENT_ADDR_ERROR: i32 = 1;
/// The route is known. Next: make a queue pair and connect.
pub const VBN_CM_EVENT_ROUTE_RESOLVED: i32 = 2;
/// The route could not be resolved; `status` is a negated errno.
pub const VBN_CM_EVENT_ROUTE_ERROR: i32 = 3;
/// A client wants to connect to a listening id: there is a new id for it.
pub const VBN_CM_EVENT_CONNECT_REQUEST: i32 = 4;
/// The server has accepted an id that has no queue pair of librdmacm's.
pub const VBN_CM_EVENT_CONNECT_RESPONSE: i32 = 5;
/// The connection could not be established; `status` is a negated errno.
pub const VBN_CM_EVENT_CONNECT_ERROR: i32 = 6;
/// The server did not answer, or, for datagrams, offers no such service; `status` tells.
pub const VBN_CM_EVENT_UNREACHABLE: i32 = 7;
/// The server refused; `status` is the reason, as InfiniBand numbers them: 28 if the program there refused, 8 if nobody listens.
pub const VBN_CM_EVENT_REJECTED: i32 = 8;
/// The connection is up; for datagrams, the peer is known.
pub const VBN_CM_EVENT_ESTABLISHED: i32 = 9;
/// The peer has disconnected, or one's own vbn_cm_id_disconnect is through.
pub const VBN_CM_EVENT_DISCONNECTED: i32 = 10;
/// The device goes away: close everything that is on it.
pub const VBN_CM_EVENT_DEVICE_REMOVAL: i32 = 11;
/// Joined a multicast group (by raw librdmacm).
pub const VBN_CM_EVENT_MULTICAST_JOIN: i32 = 12;
/// Could not join a multicast group, or lost it.
pub const VBN_CM_EVENT_MULTICAST_ERROR: i32 = 13;
/// The network's address of the id has changed.
pub const VBN_CM_EVENT_ADDR_CHANGE: i32 = 14;
/// The queue pair has left the time-wait state: its number may be used again.
pub const VBN_CM_EVENT_TIMEWAIT_EXIT: i32 = 15;

/// The names of the event types, for C.
pub const NAMES: &[(i32, &str)] = &[
    (VBN_CM_EVENT_ADDR_RESOLVED, "CM_ADDR_RESOLVED\0"),
    (VBN_CM_EVENT_ADDR_ERROR, "CM_ADDR_ERROR\0"),
    (VBN_CM_EVENT_ROUTE_RESOLVED, "CM_ROUTE_RESOLVED\0"),
    (VBN_CM_EVENT_ROUTE_ERROR, "CM_ROUTE_ERROR\0"),
    (VBN_CM_EVENT_CONNECT_REQUEST, "CM_CONNECT_REQUEST\0"),
    (VBN_CM_EVENT_CONNECT_RESPONSE, "CM_CONNECT_RESPONSE\0"),
    (VBN_CM_EVENT_CONNECT_ERROR, "CM_CONNECT_ERROR\0"),
    (VBN_CM_EVENT_UNREACHABLE, "CM_UNREACHABLE\0"),
    (VBN_CM_EVENT_REJECTED, "CM_REJECTED\0"),
    (VBN_CM_EVENT_ESTABLISHED, "CM_ESTABLISHED\0"),
    (VBN_CM_EVENT_DISCONNECTED, "CM_DISCONNECTED\0"),
    (VBN_CM_EVENT_DEVICE_REMOVAL, "CM_DEVICE_REMOVAL\0"),
    (VBN_CM_EVENT_MULTICAST_JOIN, "CM_MULTICAST_JOIN\0"),
    (VBN_CM_EVENT_MULTICAST_ERROR, "CM_MULTICAST_ERROR\0"),
    (VBN_CM_EVENT_ADDR_CHANGE, "CM_ADDR_CHANGE\0"),
    (VBN_CM_EVENT_TIMEWAIT_EXIT, "CM_TIMEWAIT_EXIT\0"),
];

const _: () = {
    assert!(VBN_CM_EVENT_ADDR_RESOLVED as u32 == RDMA_CM_EVENT_ADDR_RESOLVED);
    assert!(VBN_CM_EVENT_TIMEWAIT_EXIT as u32 == RDMA_CM_EVENT_TIMEWAIT_EXIT);
};

/// An event, as `vbn_cm_channel_get_event` tells it. A copy: nothing is to be acknowledged.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_cm_event {
    /// sizeof(vbn_cm_event), set by the caller.
    pub struct_size: usize,
    /// VBN_CM_EVENT_*, or a number that a newer librdmacm sent.
    pub r#type: i32,
    /// 0, or why it failed: see the types. vbn_cm_event_check makes a sentence of it.
    pub status: i32,
    /// That of the id; for VBN_CM_EVENT_CONNECT_REQUEST that of the listening one. 0 when `known` is 0.
    pub user_data: u64,
    /// 1 if the id (the listening one) has a handle of this library.
    pub known: u8,
    /// RDMA reads that the peer takes at a time (CONNECT_REQUEST, ESTABLISHED, not of datagrams; as the others down to `srq`).
    pub responder_resources: u8,
    /// RDMA reads that the peer will have under way at a time.
    pub initiator_depth: u8,
    /// Whether the peer's hardware has end-to-end flow control.
    pub flow_control: u8,
    /// Retries that the peer asks for (CONNECT_REQUEST).
    pub retry_count: u8,
    /// Retries when the receiver isn't ready that the peer asks for.
    pub rnr_retry_count: u8,
    /// Whether the peer's queue pair has a shared receive queue.
    pub srq: u8,
    /// 1 if `path`, `qp_num` and `qkey` tell where to send datagrams (ESTABLISHED of VBN_CM_PS_UDP): see vbn_peer_from_cm.
    pub has_peer: u8,
    /// Number of the peer's queue pair, where it told.
    pub qp_num: u32,
    /// Its QKEY (datagrams).
    pub qkey: u32,
    /// The way to it (datagrams).
    pub path: vbn_path,
    /// Bytes of `private_data`. InfiniBand and RoCE always deliver their whole field (56 bytes from a client, 196 from a server, 148 with
    /// a refusal; of datagrams 180 and 136), with zeros behind what the peer gave.
    pub private_data_len: u32,
    /// What the peer gave.
    pub private_data: [u8; 256],
    /// 0.
    pub reserved0: u32,
}
cold_structs!(vbn_cm_event);

impl vbn_cm_event {
    /// Copies what librdmacm tells.
    ///
    /// # Safety
    /// `native` is an event of librdmacm's that has not been acknowledged.
    pub unsafe fn copy(native: &rdma_cm_event) -> Self {
        let mut event = Self::zeroed();
        event.struct_size = size_of::<Self>();
        event.r#type = native.event as i32;
        event.status = native.status;
        // Of other types the parameters aren't set, or are something else.
        if !(RDMA_CM_EVENT_CONNECT_REQUEST..=RDMA_CM_EVENT_DISCONNECTED).contains(&native.event) {
            return event;
        }
        // SAFETY: an event's id lives until the acknowledgement.
        let is_ud = unsafe { (*native.id).qp_type } == ibv::IBV_QPT_UD;
        // SAFETY: librdmacm fills the parameters of these types, and zeroes them before; private data stand in the same place of both.
        let (conn, ud) = unsafe { (native.param.conn, native.param.ud) };
        if !conn.private_data.is_null() {
            // SAFETY: librdmacm says that so many bytes are there.
            let given =
                unsafe { std::slice::from_raw_parts(conn.private_data.cast::<u8>(), conn.private_data_len.into()) };
            for (to, from) in event.private_data.iter_mut().zip(given) {
                *to = *from;
            }
            event.private_data_len = conn.private_data_len.into();
        }
        match native.event {
            RDMA_CM_EVENT_ESTABLISHED if is_ud => {
                event.path = vbn_path::from_native(&ud.ah_attr);
                event.qp_num = ud.qp_num;
                event.qkey = ud.qkey;
                event.has_peer = 1;
            }
            RDMA_CM_EVENT_CONNECT_REQUEST if is_ud => event.qp_num = ud.qp_num,
            RDMA_CM_EVENT_CONNECT_REQUEST | RDMA_CM_EVENT_CONNECT_RESPONSE | RDMA_CM_EVENT_ESTABLISHED if !is_ud => {
                event.responder_resources = conn.responder_resources;
                event.initiator_depth = conn.initiator_depth;
                event.flow_control = conn.flow_control;
                event.retry_count = conn.retry_count;
                event.rnr_retry_count = conn.rnr_retry_count;
                event.srq = conn.srq;
                event.qp_num = conn.qp_num;
            }
            _ => {}
        }
        event
    }

    /// A failed event as an error.
    pub fn check(&self) -> Result<()> {
        let errno = self.status.checked_neg().filter(|errno| *errno > 0).unwrap_or(0);
        let error = |what| {
            let status = match errno {
                libc::ETIMEDOUT => VBN_ERR_TIMEOUT,
                libc::ENODEV => VBN_ERR_NOT_FOUND,
                _ => VBN_ERR_DRIVER,
            };
            Error { errno, ..Error::new(status, Reason::Text(what)) }.value(i64::from(self.status) as u64, 0)
        };
        Err(match self.r#type {
            VBN_CM_EVENT_ADDR_ERROR => error("the address could not be resolved").hint(match errno {
                libc::ENODEV => "no RDMA device is on the network interface that leads there",
                libc::ETIMEDOUT | libc::EHOSTUNREACH => "no host answers at this address",
                libc::ENETUNREACH => "this machine has no route to that network",
                _ => "",
            }),
            VBN_CM_EVENT_ROUTE_ERROR => error("the route could not be resolved"),
            VBN_CM_EVENT_CONNECT_ERROR => error("the connection could not be established"),
            VBN_CM_EVENT_UNREACHABLE if errno == libc::ETIMEDOUT => {
                error("the peer's connection manager did not answer")
                    .hint("the host is down, or UDP port 4791 (RoCE) is filtered on the way")
            }
            VBN_CM_EVENT_UNREACHABLE => refused("the peer has no such service, or refused", self.status),
            VBN_CM_EVENT_REJECTED => self.rejected(),
            VBN_CM_EVENT_DEVICE_REMOVAL => {
                Error::text(VBN_ERR_DEVICE_GONE, "the device is being removed").hint("close everything that is on it")
            }
            VBN_CM_EVENT_MULTICAST_ERROR => error("the multicast group could not be joined"),
            _ if self.status != 0 => error("the event reports a failure"),
            _ => return Ok(()),
        })
    }

    fn rejected(&self) -> Error {
        match self.status {
            8 => refused("the peer refused: nobody listens on that port", 8)
                .hint("start the server first, and mind that RDMA ports are not TCP's"),
            28 => refused("the program there refused the connection", 28)
                .hint("private_data of the event has what it said"),
            10 => refused("the peer's connection manager refused: stale connection", 10).hint("connect again"),
            4 => {
                refused("the peer's connection manager refused: time-out", 4).hint("the server did not accept in time")
            }
            other => refused("the peer's connection manager refused", other)
                .hint("value has the reason's number in InfiniBand's list"),
        }
    }
}

fn refused(what: &'static str, status: i32) -> Error {
    let error = Error::text(VBN_ERR_DRIVER, what).value(i64::from(status) as u64, 0);
    Error { errno: libc::ECONNREFUSED, ..error }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(r#type: i32, status: i32) -> vbn_cm_event {
        vbn_cm_event { r#type, status, ..vbn_cm_event::zeroed() }
    }

    #[test]
    fn failures_become_errors_and_the_rest_does_not() {
        for good in [VBN_CM_EVENT_ADDR_RESOLVED, VBN_CM_EVENT_CONNECT_REQUEST, VBN_CM_EVENT_ESTABLISHED, 10, 15, 99] {
            assert!(event(good, 0).check().is_ok());
        }
        assert!(event(VBN_CM_EVENT_ESTABLISHED, -5).check().is_err());
        let timed_out = event(VBN_CM_EVENT_ADDR_ERROR, -libc::ETIMEDOUT).check().unwrap_err();
        assert_eq!((timed_out.status, timed_out.errno), (VBN_ERR_TIMEOUT, libc::ETIMEDOUT));
        let rejected = event(VBN_CM_EVENT_REJECTED, 28).check().unwrap_err();
        assert_eq!((rejected.status, rejected.errno, rejected.value), (VBN_ERR_DRIVER, libc::ECONNREFUSED, 28));
        assert_eq!(event(VBN_CM_EVENT_DEVICE_REMOVAL, 0).check().unwrap_err().status, VBN_ERR_DEVICE_GONE);
        assert!(event(VBN_CM_EVENT_CONNECT_ERROR, i32::MIN).check().is_err());
    }
}
