// SPDX-License-Identifier: MIT OR Apache-2.0
//! The only place where core takes memory. Everything here can fail and says so; std's forms abort the process.
//! Counted pointers are `slab::Ref`: every object that is shared lives in a slab slot.

use std::alloc::{Layout, alloc_zeroed};
use std::ptr::NonNull;

/// Memory ran out.
#[derive(Clone, Copy, Debug)]
pub struct NoMemory;

/// Zeroed room for one `T` that is never given back (slab chunks).
pub fn zeroed_forever<T>() -> Result<NonNull<T>, NoMemory> {
    let layout = Layout::new::<T>();
    debug_assert!(layout.size() > 0);
    // SAFETY: the layout of a slab chunk has a size above zero.
    NonNull::new(unsafe { alloc_zeroed(layout) }.cast()).ok_or(NoMemory)
}

/// `Vec::push` that can fail.
pub fn push<T>(list: &mut Vec<T>, value: T) -> Result<(), NoMemory> {
    list.try_reserve(1).map_err(|_| NoMemory)?;
    #[allow(clippy::disallowed_methods, reason = "room was reserved, so this can't allocate")]
    list.push(value);
    Ok(())
}

/// A `Vec` of `count` copies of `value`.
pub fn filled<T: Copy>(count: usize, value: T) -> Result<Vec<T>, NoMemory> {
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(|_| NoMemory)?;
    #[allow(clippy::disallowed_methods, reason = "room was reserved, so this can't allocate")]
    list.resize(count, value);
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_sizes_fail_instead_of_aborting() {
        assert!(filled(usize::MAX / 16, 0u64).is_err());
        let mut v = Vec::new();
        push(&mut v, 7).unwrap();
        assert_eq!(v, [7]);
        assert_eq!(filled(3, 1u8).unwrap(), [1, 1, 1]);
    }
}
