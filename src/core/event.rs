// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous events: what happened to a device, a port, a queue. They are copies; nothing has to be acknowledged.

use super::cold::cold_structs;

/// `kind` of an event: an event type that this library doesn't know; `number` is 0.
pub const VBN_ELEMENT_NONE: i32 = 0;
/// A completion queue; `number` is the kernel's handle of it.
pub const VBN_ELEMENT_CQ: i32 = 1;
/// A queue pair; `number` is the QP number.
pub const VBN_ELEMENT_QP: i32 = 2;
/// A shared receive queue; `number` is the kernel's handle of it.
pub const VBN_ELEMENT_SRQ: i32 = 3;
/// A receive work queue that raw verbs made; `number` is 0.
pub const VBN_ELEMENT_WQ: i32 = 4;
/// A port; `number` is the port's.
pub const VBN_ELEMENT_PORT: i32 = 5;
/// The device; `number` is 0.
pub const VBN_ELEMENT_DEVICE: i32 = 6;

/// A completion queue overflowed, or its memory can't be reached. It and its QPs are lost.
pub const VBN_EVENT_CQ_ERR: i32 = 0;
/// A QP failed and went to the error state.
pub const VBN_EVENT_QP_FATAL: i32 = 1;
/// The peer sent a request that this QP can't serve.
pub const VBN_EVENT_QP_REQ_ERR: i32 = 2;
/// The peer reached for memory that it may not use.
pub const VBN_EVENT_QP_ACCESS_ERR: i32 = 3;
/// The first message came in before the QP was made ready to send.
pub const VBN_EVENT_COMM_EST: i32 = 4;
/// A QP on its way to the SQD state has nothing under way any more.
pub const VBN_EVENT_SQ_DRAINED: i32 = 5;
/// The QP moved to its alternate path.
pub const VBN_EVENT_PATH_MIG: i32 = 6;
/// The QP could not move to its alternate path.
pub const VBN_EVENT_PATH_MIG_ERR: i32 = 7;
/// The device is lost. Every handle on it answers VBN_ERR_DEVICE_GONE from now on; close still works.
pub const VBN_EVENT_DEVICE_FATAL: i32 = 8;
/// The port came up.
pub const VBN_EVENT_PORT_ACTIVE: i32 = 9;
/// The port went down.
pub const VBN_EVENT_PORT_ERR: i32 = 10;
/// The LID of the port changed.
pub const VBN_EVENT_LID_CHANGE: i32 = 11;
/// The P_Key table of the port changed.
pub const VBN_EVENT_PKEY_CHANGE: i32 = 12;
/// The subnet manager changed.
pub const VBN_EVENT_SM_CHANGE: i32 = 13;
/// A shared receive queue failed.
pub const VBN_EVENT_SRQ_ERR: i32 = 14;
/// A shared receive queue fell below its limit.
pub const VBN_EVENT_SRQ_LIMIT_REACHED: i32 = 15;
/// A QP in the error state will take nothing more from its shared receive queue.
pub const VBN_EVENT_QP_LAST_WQE_REACHED: i32 = 16;
/// The subnet manager wants all subscriptions anew.
pub const VBN_EVENT_CLIENT_REREGISTER: i32 = 17;
/// The GID table of the port changed.
pub const VBN_EVENT_GID_CHANGE: i32 = 18;
/// A receive work queue failed.
pub const VBN_EVENT_WQ_FATAL: i32 = 19;
/// The speed of the port changed (rdma-core 62 and newer).
pub const VBN_EVENT_DEVICE_SPEED_CHANGE: i32 = 20;

/// An event, as `vbn_context_get_async_event` tells it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_async_event {
    /// sizeof(vbn_async_event), set by the caller.
    pub struct_size: usize,
    /// VBN_EVENT_*, or a number that a newer kernel sent.
    pub r#type: i32,
    /// What it happened to: VBN_ELEMENT_*.
    pub kind: i32,
    /// As given when the object was made or adopted; that of the context for a port or the device; 0 when `known` is 0.
    pub user_data: u64,
    /// QP number, port number and so on: see VBN_ELEMENT_*.
    pub number: u32,
    /// 1 if the object has a handle of this library, 0 if raw verbs made it.
    pub known: u8,
    /// 0.
    pub reserved0: [u8; 3],
}
cold_structs!(vbn_async_event);

/// The names of the event types, for C.
pub const NAMES: &[(i32, &str)] = &[
    (VBN_EVENT_CQ_ERR, "CQ_ERR\0"),
    (VBN_EVENT_QP_FATAL, "QP_FATAL\0"),
    (VBN_EVENT_QP_REQ_ERR, "QP_REQ_ERR\0"),
    (VBN_EVENT_QP_ACCESS_ERR, "QP_ACCESS_ERR\0"),
    (VBN_EVENT_COMM_EST, "COMM_EST\0"),
    (VBN_EVENT_SQ_DRAINED, "SQ_DRAINED\0"),
    (VBN_EVENT_PATH_MIG, "PATH_MIG\0"),
    (VBN_EVENT_PATH_MIG_ERR, "PATH_MIG_ERR\0"),
    (VBN_EVENT_DEVICE_FATAL, "DEVICE_FATAL\0"),
    (VBN_EVENT_PORT_ACTIVE, "PORT_ACTIVE\0"),
    (VBN_EVENT_PORT_ERR, "PORT_ERR\0"),
    (VBN_EVENT_LID_CHANGE, "LID_CHANGE\0"),
    (VBN_EVENT_PKEY_CHANGE, "PKEY_CHANGE\0"),
    (VBN_EVENT_SM_CHANGE, "SM_CHANGE\0"),
    (VBN_EVENT_SRQ_ERR, "SRQ_ERR\0"),
    (VBN_EVENT_SRQ_LIMIT_REACHED, "SRQ_LIMIT_REACHED\0"),
    (VBN_EVENT_QP_LAST_WQE_REACHED, "QP_LAST_WQE_REACHED\0"),
    (VBN_EVENT_CLIENT_REREGISTER, "CLIENT_REREGISTER\0"),
    (VBN_EVENT_GID_CHANGE, "GID_CHANGE\0"),
    (VBN_EVENT_WQ_FATAL, "WQ_FATAL\0"),
    (VBN_EVENT_DEVICE_SPEED_CHANGE, "DEVICE_SPEED_CHANGE\0"),
];

/// The element that events of a type are about.
pub fn element_of(event_type: i32) -> i32 {
    match event_type {
        VBN_EVENT_CQ_ERR => VBN_ELEMENT_CQ,
        VBN_EVENT_QP_FATAL
        | VBN_EVENT_QP_REQ_ERR
        | VBN_EVENT_QP_ACCESS_ERR
        | VBN_EVENT_COMM_EST
        | VBN_EVENT_SQ_DRAINED
        | VBN_EVENT_PATH_MIG
        | VBN_EVENT_PATH_MIG_ERR
        | VBN_EVENT_QP_LAST_WQE_REACHED => VBN_ELEMENT_QP,
        VBN_EVENT_SRQ_ERR | VBN_EVENT_SRQ_LIMIT_REACHED => VBN_ELEMENT_SRQ,
        VBN_EVENT_WQ_FATAL => VBN_ELEMENT_WQ,
        VBN_EVENT_PORT_ACTIVE
        | VBN_EVENT_PORT_ERR
        | VBN_EVENT_LID_CHANGE
        | VBN_EVENT_PKEY_CHANGE
        | VBN_EVENT_SM_CHANGE
        | VBN_EVENT_CLIENT_REREGISTER
        | VBN_EVENT_GID_CHANGE
        | VBN_EVENT_DEVICE_SPEED_CHANGE => VBN_ELEMENT_PORT,
        VBN_EVENT_DEVICE_FATAL => VBN_ELEMENT_DEVICE,
        _ => VBN_ELEMENT_NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_type_is_about_something() {
        assert!(NAMES.iter().all(|(event_type, _)| element_of(*event_type) != VBN_ELEMENT_NONE));
        assert_eq!(element_of(NAMES.len() as i32), VBN_ELEMENT_NONE);
        assert_eq!(element_of(-1), VBN_ELEMENT_NONE);
    }
}
