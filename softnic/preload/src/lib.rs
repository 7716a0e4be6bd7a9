// SPDX-License-Identifier: MIT OR Apache-2.0
//! `libsoftnic.so`, loaded in front of the C library by `softnic run`: answers for /sys/class/infiniband and
//! /dev/infiniband/uverbsN, so that the unmodified rdma-core finds devices, which live in this process.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::disallowed_macros)]

mod channel;
mod counters;
mod env;
mod exec;
mod fdtab;
mod glue;
mod gpu;
mod guard;
mod hooks;
mod lock;
mod memory;
mod path;
mod pump;
mod real;
mod shared;
mod state;
mod sys;
mod trace;
mod world;

/// Runs when the object is loaded. Nearly nothing: each child of a run passes here, shells included.
extern "C" fn loaded() {
    path::run_dir();
}

extern "C" fn unloaded() {
    glue::at_exit();
}

#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

#[used]
#[unsafe(link_section = ".fini_array")]
static UNLOADED: extern "C" fn() = unloaded;
