// SPDX-License-Identifier: MIT OR Apache-2.0
//! The opaque types of the ABI. A pointer to one is a pointer to a slab slot; nobody ever looks inside.

use super::ah::Ah;
use super::channel::Channel;
use super::cm::CmChannel;
use super::cm_id::CmId;
use super::context::Context;
use super::counters::Counters;
use super::cq::Cq;
use super::dm::Dm;
use super::flow::Flow;
use super::mr::Mr;
use super::mr_set::MrSet;
use super::mw::Mw;
use super::pd::Pd;
use super::peer::Peer;
use super::qp::Qp;
use super::slab::Object;
use super::srq::Srq;
use super::td::Td;

/// An opaque type of the ABI and the object behind it.
pub trait Handle: Sized {
    type Body: Object;
}

macro_rules! handles {
    ($($name:ident => $body:ty),* $(,)?) => {$(
        impl Handle for $name {
            type Body = $body;
        }
    )*};
}

/// An open device.
pub struct vbn_context {
    _opaque: [u8; 0],
}

/// A protection domain: ties memory regions to the queue pairs that may use them.
pub struct vbn_pd {
    _opaque: [u8; 0],
}

/// Memory that the device may read or write.
pub struct vbn_mr {
    _opaque: [u8; 0],
}

/// A memory window: a part of a region with a key of its own, given to a peer and taken back.
pub struct vbn_mw {
    _opaque: [u8; 0],
}

/// A completion channel: a file descriptor that becomes readable when an armed completion queue has news.
pub struct vbn_channel {
    _opaque: [u8; 0],
}

/// A completion queue.
pub struct vbn_cq {
    _opaque: [u8; 0],
}

/// A queue pair.
pub struct vbn_qp {
    _opaque: [u8; 0],
}

/// An address handle: the way to a port, without a queue pair. Peers have one.
pub struct vbn_ah {
    _opaque: [u8; 0],
}

/// A destination of connectionless queue pairs: the way there, the number of the queue pair, and its QKEY.
pub struct vbn_peer {
    _opaque: [u8; 0],
}

/// A channel on which connection managers' events come in.
pub struct vbn_cm_channel {
    _opaque: [u8; 0],
}

/// One end of a connection in the making, as a socket is: it resolves addresses, listens, connects, and has the queue pair.
pub struct vbn_cm_id {
    _opaque: [u8; 0],
}

/// A shared receive queue: receives that several queue pairs take from.
pub struct vbn_srq {
    _opaque: [u8; 0],
}

/// A thread domain: what is made in it is used by one thread at a time.
pub struct vbn_td {
    _opaque: [u8; 0],
}

/// Memory on the device.
pub struct vbn_dm {
    _opaque: [u8; 0],
}

/// A flow steering rule: which packets of a port go to a queue pair.
pub struct vbn_flow {
    _opaque: [u8; 0],
}

/// Counters of the device, for what flow steering rules see.
pub struct vbn_counters {
    _opaque: [u8; 0],
}

/// Memory regions in a row, used as one.
pub struct vbn_mr_set {
    _opaque: [u8; 0],
}

handles! {
    vbn_context => Context,
    vbn_pd => Pd,
    vbn_mr => Mr,
    vbn_mw => Mw,
    vbn_channel => Channel,
    vbn_cq => Cq,
    vbn_qp => Qp,
    vbn_ah => Ah,
    vbn_peer => Peer,
    vbn_cm_channel => CmChannel,
    vbn_cm_id => CmId,
    vbn_srq => Srq,
    vbn_td => Td,
    vbn_dm => Dm,
    vbn_flow => Flow,
    vbn_counters => Counters,
    vbn_mr_set => MrSet,
}
