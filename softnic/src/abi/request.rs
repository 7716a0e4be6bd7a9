// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bytes of one RDMA_VERBS_IOCTL: a header and its attributes, checked against the method's specification in the
//! order and with the errors of the kernel.

use super::errno::{EINVAL, EPROTONOSUPPORT, Res, fail};
use super::spec::{AttrSpec, Kind, MethodSpec};
use super::structs::{AttrHeader, IoctlHeader};
use super::wire::Field;

/// `RDMA_VERBS_IOCTL`
pub const RDMA_VERBS_IOCTL: u32 = 0xc018_1b01;
/// The kernel takes at most a page.
pub const MAX_REQUEST: usize = 4096;

/// `UVERBS_ATTR_F_MANDATORY`
const MANDATORY: u16 = 1;
/// `UVERBS_ATTR_F_VALID_OUTPUT`
const VALID_OUTPUT: u16 = 2;

/// An attribute that the method knows.
#[derive(Clone, Copy)]
pub struct Attr {
    pub spec: &'static AttrSpec,
    /// Where its header lies in the request.
    at: usize,
    pub len: usize,
    pub data: u64,
}

pub struct Request<'a> {
    bytes: &'a mut [u8],
    attrs: Vec<Attr>,
}

/// The header, if `bytes` can be a request.
pub fn header(bytes: &[u8]) -> Res<IoctlHeader> {
    if bytes.len() < IoctlHeader::SIZE || bytes.len() > MAX_REQUEST {
        return fail(EINVAL, format!("a request of {} bytes: 24 to {MAX_REQUEST} are possible", bytes.len()));
    }
    let header = IoctlHeader::read(bytes);
    let length = IoctlHeader::SIZE + usize::from(header.attrs) * AttrHeader::SIZE;
    if usize::from(header.length) != length || bytes.len() != length {
        return fail(
            EINVAL,
            format!("{} attributes make {length} bytes, the header says {}", header.attrs, header.length),
        );
    }
    if header.reserved1 != 0 || header.reserved2 != 0 {
        return fail(EPROTONOSUPPORT, "a reserved field of the header is not zero");
    }
    Ok(header)
}

impl<'a> Request<'a> {
    /// `bytes` passed `header`.
    pub fn parse(bytes: &'a mut [u8], method: &MethodSpec) -> Res<Self> {
        let mut attrs: Vec<Attr> = Vec::new();
        let count = bytes.len().saturating_sub(IoctlHeader::SIZE) / AttrHeader::SIZE;
        for at in (0..count).map(|index| IoctlHeader::SIZE + index * AttrHeader::SIZE) {
            let header = AttrHeader::get(bytes, at);
            let Some(spec) = method.attr(header.id) else {
                if header.flags & MANDATORY != 0 {
                    return fail(EPROTONOSUPPORT, format!("mandatory attribute {:#x} is unknown", header.id));
                }
                continue;
            };
            if header.aux != 0 {
                return fail(EINVAL, format!("the reserved field of {} is not zero", spec.name));
            }
            if !spec.kind.takes(header.len) {
                return fail(EINVAL, format!("{} can't have {} bytes ({:?})", spec.name, header.len, spec.kind));
            }
            if attrs.iter().any(|attr| attr.spec.id == spec.id) {
                return fail(EINVAL, format!("{} is given twice", spec.name));
            }
            attrs.push(Attr { spec, at, len: usize::from(header.len), data: header.data });
        }
        for spec in method.attrs.iter().filter(|spec| spec.required) {
            if !attrs.iter().any(|attr| attr.spec.id == spec.id) {
                return fail(EINVAL, format!("{} (attribute {:#x}) is missing", spec.name, spec.id));
            }
        }
        Ok(Request { bytes, attrs })
    }

    pub fn find(&self, id: u16) -> Option<Attr> {
        self.attrs.iter().find(|attr| attr.spec.id == id).copied()
    }

    /// The input's bytes if it is carried in the attribute itself.
    pub fn inline(&self, attr: &Attr) -> Option<[u8; 8]> {
        let inline = match attr.spec.kind {
            Kind::In { .. } | Kind::Flags => attr.len <= 8,
            _ => false,
        };
        inline.then(|| Field::get(self.bytes, attr.at + 8))
    }

    /// A new handle or descriptor goes into the attribute.
    pub fn set_data(&mut self, attr: &Attr, value: u64) {
        value.put(self.bytes, attr.at + 8);
    }

    /// Tells the caller that the output behind this attribute was written.
    pub fn set_valid(&mut self, attr: &Attr) {
        let flags: u16 = Field::get(self.bytes, attr.at + 4);
        (flags | VALID_OUTPUT).put(self.bytes, attr.at + 4);
    }
}
