// SPDX-License-Identifier: MIT OR Apache-2.0
//! The opaque types of the ABI. A pointer to one is a pointer to a slab slot; nobody ever looks inside.

use super::channel::Channel;
use super::context::Context;
use super::cq::Cq;
use super::mr::Mr;
use super::pd::Pd;
use super::qp::Qp;
use super::slab::Object;

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

/// A destination of connectionless queue pairs. Not yet offered; requests carry NULL.
pub struct vbn_peer {
    _opaque: [u8; 0],
}

handles! {
    vbn_context => Context,
    vbn_pd => Pd,
    vbn_mr => Mr,
    vbn_channel => Channel,
    vbn_cq => Cq,
    vbn_qp => Qp,
}
