// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a method's attributes must look like, as data. The checks that the kernel makes before a method runs come from here.

use super::call::Call;
use super::errno::Res;

pub const UHW_IN: u16 = 0x1000;
pub const UHW_OUT: u16 = 0x1001;

/// How an attribute carries its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Input of `min` to `max` bytes: in the attribute itself up to 8 bytes, behind its pointer beyond. A `max` of `u16::MAX`
    /// lets the caller's struct be longer than ours.
    In { min: u16, max: u16 },
    /// Output behind a pointer; the caller's length must be in the range.
    Out { min: u16, max: u16 },
    /// Flag bits, 4 or 8 bytes.
    Flags,
    /// A file descriptor of any kind, given as a number of 4 or 8 bytes or as the kernel's fd attributes are.
    RawFd,
    /// The handle of an object of this kind (`names::object`).
    Object(u16),
    /// Where the handle of a new object goes.
    NewObject,
    /// The descriptor of a completion channel or an async event file of this session.
    Fd,
    /// Where the number of a new descriptor goes.
    NewFd,
}

impl Kind {
    pub const U32: Kind = Kind::In { min: 4, max: 4 };
    pub const U64: Kind = Kind::In { min: 8, max: 8 };
    /// rdma-core gives these as 8-byte constants, the kernel's headers say 4 bytes.
    pub const U32_OR_U64: Kind = Kind::In { min: 4, max: 8 };
    pub const OUT_U16: Kind = Kind::Out { min: 2, max: 2 };
    pub const OUT_U32: Kind = Kind::Out { min: 4, max: 4 };
    pub const OUT_U64: Kind = Kind::Out { min: 8, max: 8 };
    pub const OUT_ANY: Kind = Kind::Out { min: 0, max: u16::MAX };

    /// The kernel's `UVERBS_ATTR_STRUCT`: at least `min` bytes, and a longer one of a later version is fine.
    pub const fn in_struct(min: u16) -> Kind {
        Kind::In { min, max: u16::MAX }
    }

    pub const fn out_struct(min: u16) -> Kind {
        Kind::Out { min, max: u16::MAX }
    }

    /// May the attribute's `len` be this?
    pub fn takes(self, len: u16) -> bool {
        match self {
            Kind::In { min, max } | Kind::Out { min, max } => (min..=max).contains(&len),
            Kind::Flags => len == 4 || len == 8,
            Kind::RawFd => matches!(len, 0 | 4 | 8),
            Kind::Object(_) | Kind::NewObject | Kind::Fd | Kind::NewFd => len == 0,
        }
    }
}

#[derive(Debug)]
pub struct AttrSpec {
    pub id: u16,
    pub name: &'static str,
    pub kind: Kind,
    /// The method does not run without it.
    pub required: bool,
}

pub const fn required(id: u16, name: &'static str, kind: Kind) -> AttrSpec {
    AttrSpec { id, name, kind, required: true }
}

pub const fn optional(id: u16, name: &'static str, kind: Kind) -> AttrSpec {
    AttrSpec { id, name, kind, required: false }
}

/// The driver's private structs.
pub const UHW: [AttrSpec; 2] =
    [optional(UHW_IN, "UHW_IN", Kind::in_struct(0)), optional(UHW_OUT, "UHW_OUT", Kind::OUT_ANY)];

pub struct MethodSpec {
    pub object: u16,
    pub method: u16,
    pub attrs: &'static [AttrSpec],
    /// May carry the driver's private structs.
    pub uhw: bool,
    /// Needs GET_CONTEXT first.
    pub needs_context: bool,
    pub run: fn(&mut Call<'_>) -> Res<()>,
}

impl MethodSpec {
    pub fn attr(&self, id: u16) -> Option<&'static AttrSpec> {
        let uhw: &'static [AttrSpec] = if self.uhw { &UHW } else { &[] };
        self.attrs.iter().chain(uhw).find(|spec| spec.id == id)
    }
}
