// SPDX-License-Identifier: MIT OR Apache-2.0
//! Structs that grow: they begin with `struct_size`, and all-zero means default.

use std::mem::MaybeUninit;

/// A struct of the ABI that begins with `struct_size`.
///
/// # Safety
/// The type must be `repr(C)`, begin with a `usize`, consist of integers, arrays of them and raw or optional function
/// pointers only, so that all bytes zero is a valid value.
pub unsafe trait Cold: Copy {
    const NAME: &'static str;

    fn zeroed() -> Self {
        // SAFETY: the implementor vouches for it.
        unsafe { MaybeUninit::zeroed().assume_init() }
    }
}

/// Largest size of such a struct, and of an element of an array: whatever is larger is no size, and nothing is written there.
/// cbindgen:ignore
pub const MOST: usize = 4096;

/// Declares that a struct keeps the promise of `Cold`, and checks what can be checked.
macro_rules! cold_structs {
    ($($name:ident),* $(,)?) => {$(
        // SAFETY: repr(C), plain numbers and pointers, struct_size first (asserted below).
        unsafe impl $crate::core::cold::Cold for $name {
            const NAME: &'static str = stringify!($name);
        }
        const _: () = assert!(
            std::mem::offset_of!($name, struct_size) == 0
                && std::mem::size_of::<$name>() % 8 == 0
                && std::mem::size_of::<$name>() <= $crate::core::cold::MOST / 2,
            concat!(stringify!($name), " must begin with struct_size, be a multiple of 8 bytes, and leave room to grow")
        );
    )*};
}
pub(crate) use cold_structs;
