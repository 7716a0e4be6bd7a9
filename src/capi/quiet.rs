// SPDX-License-Identifier: MIT OR Apache-2.0
//! Panics are caught and reported as statuses; nothing may be printed about them. Rust's hook prints, so the shared
//! library (that of scripts/link-so), which has a Rust runtime of its own, replaces it. The archive may share its runtime
//! with Rust code of the program, so there the hook is not ours to touch.

use std::ffi::{CStr, c_void};
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
    if inside_shared_library() == Some(true) {
        #[allow(clippy::disallowed_methods, reason = "a closure without content takes no memory")]
        std::panic::set_hook(Box::new(|_| {}));
    }
}

/// The version node of the exported symbols. Only the shared library has it, whatever its file is called.
const NODE: &CStr = c"VBN_0_1";

fn inside_shared_library() -> Option<bool> {
    let here = install as fn() as *const c_void;
    // SAFETY: the object that this code is in stays loaded.
    let (base, path) = unsafe { dl::addr_object(here) }?;
    let exported = dl::loaded(path)?.vsym(c"vbn_version", NODE);
    // SAFETY: an address of the same object, or of one that it is linked to; or NULL, which lies in none.
    let (other, _) = unsafe { dl::addr_object(exported) }?;
    Some(other == base)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_node_is_that_of_the_version_script() {
        assert_eq!(super::NODE.to_str().unwrap(), include_str!("../../abi/VERSION").trim());
    }
}
