// SPDX-License-Identifier: MIT OR Apache-2.0
//! Panics are caught and reported as statuses; nothing may be printed about them. Rust's hook prints, so the shared
//! library, which has a Rust runtime of its own, replaces it. The archive may share its runtime with Rust code of the
//! program, so there the hook is not ours to touch.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::sys::dl;

static DONE: AtomicBool = AtomicBool::new(false);

/// Makes panics quiet, once, if this code is inside libverbena.so.
#[inline]
pub fn panics() {
    if !DONE.load(Ordering::Relaxed) {
        install();
    }
}

#[cold]
fn install() {
    if DONE.swap(true, Ordering::Relaxed) {
        return;
    }
    let here = install as fn() as *const std::ffi::c_void;
    // SAFETY: the object that this code is in stays loaded.
    let file = unsafe { dl::addr_object(here) }.map(|(_, path)| path.to_bytes());
    let name = file.and_then(|path| path.rsplit(|b| *b == b'/').next());
    if name.is_some_and(|name| name.starts_with(b"libverbena.so")) {
        #[allow(clippy::disallowed_methods, reason = "a closure without content takes no memory")]
        std::panic::set_hook(Box::new(|_| {}));
    }
}
