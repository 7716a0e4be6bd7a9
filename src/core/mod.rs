// SPDX-License-Identifier: MIT OR Apache-2.0
//! Objects, their ownership and their rules. Knows no C strings and no out-pointers; unsafe stands where native calls
//! are made and in `slab`, `lock`.

pub mod adopt;
pub mod alloc;
pub mod cold;
pub mod error;
pub mod fork;
pub mod handle;
pub mod lock;
pub mod op;
pub mod slab;
pub mod status;
pub mod text;

pub mod channel;
pub mod context;
pub mod cq;
pub mod device;
pub mod event;
pub mod gid;
pub mod library;
pub mod mr;
pub mod names;
pub mod pd;
pub mod post;
pub mod qp;
pub mod qp_attr;
pub mod rc;
pub mod suspect;
pub mod sysfs;
pub mod table;
pub mod wait;
pub mod wc;
