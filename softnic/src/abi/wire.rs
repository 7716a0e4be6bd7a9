// SPDX-License-Identifier: MIT OR Apache-2.0
//! Structs of the kernel ABI as plain Rust structs that are read from and written to bytes by explicit offsets: no
//! `repr(C)`, no pointer casts, no padding that could leak.

/// A field of fixed size in host byte order.
pub trait Field: Sized {
    fn get(bytes: &[u8], at: usize) -> Self;
    fn put(&self, bytes: &mut [u8], at: usize);
}

/// `N` bytes at `at`; what lies beyond the end reads as zero, as the kernel extends a short struct.
pub fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    let tail = bytes.get(at..).unwrap_or_default();
    for (to, from) in out.iter_mut().zip(tail) {
        *to = *from;
    }
    out
}

fn put_at(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(tail) = bytes.get_mut(at..) {
        for (to, from) in tail.iter_mut().zip(value) {
            *to = *from;
        }
    }
}

macro_rules! number_field {
    ($($t:ty),*) => {$(
        impl Field for $t {
            fn get(bytes: &[u8], at: usize) -> Self {
                Self::from_ne_bytes(array_at(bytes, at))
            }
            fn put(&self, bytes: &mut [u8], at: usize) {
                put_at(bytes, at, &self.to_ne_bytes());
            }
        }
    )*};
}
number_field!(u8, u16, u32, u64, i32);

impl<const N: usize> Field for [u8; N] {
    fn get(bytes: &[u8], at: usize) -> Self {
        array_at(bytes, at)
    }
    fn put(&self, bytes: &mut [u8], at: usize) {
        put_at(bytes, at, self);
    }
}

/// Defines a struct, its size on the wire and where each field lies. Bytes that no field names are reserved: zero when
/// written, ignored when read.
macro_rules! wire {
    ($(#[$doc:meta])* $name:ident [$size:literal] { $($at:literal $field:ident: $t:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $(pub $field: $t,)*
        }

        impl $name {
            pub const SIZE: usize = $size;

            /// Of a short slice the missing fields are zero; bytes beyond `SIZE` are not looked at.
            pub fn read(bytes: &[u8]) -> Self {
                Self { $($field: $crate::abi::wire::Field::get(bytes, $at),)* }
            }

            pub fn bytes(&self) -> [u8; $size] {
                let mut out = [0; $size];
                $($crate::abi::wire::Field::put(&self.$field, &mut out, $at);)*
                out
            }
        }

        impl $crate::abi::wire::Field for $name {
            fn get(bytes: &[u8], at: usize) -> Self {
                Self::read(bytes.get(at..).unwrap_or_default())
            }
            fn put(&self, bytes: &mut [u8], at: usize) {
                $crate::abi::wire::Field::put(&self.bytes(), bytes, at);
            }
        }
    };
}
pub(crate) use wire;
