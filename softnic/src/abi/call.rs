// SPDX-License-Identifier: MIT OR Apache-2.0
//! One running uverbs call: how a method reads its attributes and answers.

use super::env::{Env, Nic, UserMemory};
use super::errno::{EBADF, EFAULT, EINVAL, EOPNOTSUPP, Res, fail};
use super::objects::{Object, Objects};
use super::private::Calls;
use super::request::{Attr, Request};
use super::spec::{UHW_IN, UHW_OUT};
use super::structs::QpCap;
use super::wire::array_at;

/// What a call has brought into being: taken back if it fails after all.
#[derive(Clone, Copy, Default)]
pub struct Made {
    pub object: Option<u32>,
    pub fd: Option<i32>,
}

pub struct Call<'a> {
    pub objects: &'a mut Objects,
    pub request: Request<'a>,
    pub user: &'a mut dyn UserMemory,
    pub env: &'a mut dyn Env,
    pub nic: &'a mut dyn Nic,
    pub driver: &'static dyn Calls,
    /// Set by GET_CONTEXT, needed by the rest.
    pub context: &'a mut bool,
    pub made: Made,
    /// The write command of an INVOKE_WRITE.
    pub command: Option<u32>,
    /// It asks for something that real devices have, and softnic hasn't.
    pub lacking: bool,
    /// What the trace shows of the call beside its name and result; None when nobody traces.
    pub note: Option<String>,
}

impl Call<'_> {
    pub fn note(&mut self, text: impl FnOnce() -> String) {
        if let Some(note) = &mut self.note {
            note.push_str(&text());
        }
    }

    fn attr(&self, id: u16) -> Res<Attr> {
        // Only a method that asks for an optional attribute without looking first comes here.
        self.request.find(id).map_or_else(|| fail(EINVAL, format!("attribute {id:#x} is missing")), Ok)
    }

    pub fn has(&self, id: u16) -> bool {
        self.request.find(id).is_some()
    }

    /// How long the caller's buffer is; 0 without the attribute.
    pub fn len(&self, id: u16) -> usize {
        self.request.find(id).map_or(0, |attr| attr.len)
    }

    /// An input of up to `size` bytes. What the caller has beyond must be zero: it would be a field that we don't know.
    pub fn input(&mut self, id: u16, size: usize) -> Res<Vec<u8>> {
        let attr = self.attr(id)?;
        let mut bytes = vec![0; attr.len];
        match self.request.inline(&attr) {
            Some(data) => bytes.copy_from_slice(data.get(..attr.len).unwrap_or_default()),
            None if self.user.read(attr.data, &mut bytes) => {}
            None => return fail(EFAULT, format!("{} at {:#x} can't be read", attr.spec.name, attr.data)),
        }
        if bytes.iter().skip(size).any(|byte| *byte != 0) {
            return fail(EOPNOTSUPP, format!("{} has fields beyond {size} bytes that are unknown", attr.spec.name));
        }
        bytes.truncate(size);
        Ok(bytes)
    }

    pub fn u32(&mut self, id: u16) -> Res<u32> {
        Ok(u32::from_ne_bytes(array_at(&self.input(id, 4)?, 0)))
    }

    pub fn u64(&mut self, id: u16) -> Res<u64> {
        Ok(u64::from_ne_bytes(array_at(&self.input(id, 8)?, 0)))
    }

    /// Flag bits; 0 without the attribute. A bit that is not in `known` is EINVAL.
    pub fn flags(&mut self, id: u16, known: u32) -> Res<u32> {
        let Some(attr) = self.request.find(id) else { return Ok(0) };
        let bytes = self.input(id, 8)?;
        let flags = u64::from_ne_bytes(array_at(&bytes, 0));
        match u32::try_from(flags) {
            Ok(flags) if flags & !known == 0 => Ok(flags),
            _ => fail(EINVAL, format!("{} {flags:#x} has bits beyond {known:#x}", attr.spec.name)),
        }
    }

    /// The open object whose handle is in the attribute: our handle, and the object.
    pub fn object(&self, id: u16, kind: u16) -> Res<(u32, Object)> {
        self.objects.get(self.attr(id)?.data, kind)
    }

    /// A descriptor given as an fd attribute or as a number.
    pub fn fd(&self, id: u16) -> Res<i32> {
        let attr = self.attr(id)?;
        // Given as four bytes, the upper half is not the caller's.
        let data = if attr.len == 4 { i64::from((attr.data as u32).cast_signed()) } else { attr.data.cast_signed() };
        match i32::try_from(data) {
            Ok(fd) if fd >= 0 => Ok(fd),
            _ => fail(EBADF, format!("{} {data} is no descriptor", attr.spec.name)),
        }
    }

    /// The async event file named by the attribute must be one of this session; without the attribute there is a default.
    pub fn check_async_fd(&mut self, id: u16) -> Res<()> {
        if !self.has(id) {
            return Ok(());
        }
        let fd = self.fd(id)?;
        if !self.env.is_async(fd) {
            return fail(EBADF, format!("descriptor {fd} is no async event file of this session"));
        }
        Ok(())
    }

    /// The private request of the driver, zero-extended to `size`; at least `min` bytes must be there.
    pub fn uhw_in(&mut self, min: usize, size: usize) -> Res<Vec<u8>> {
        let len = self.len(UHW_IN);
        if len < min {
            return fail(EINVAL, format!("the driver's private request has {len} bytes, at least {min} are needed"));
        }
        let mut bytes = if len == 0 {
            Vec::new()
        } else {
            self.input(UHW_IN, size).map_err(|mut error| {
                // Drivers answer EINVAL where the core would say EOPNOTSUPP.
                if error.errno == EOPNOTSUPP {
                    error.errno = EINVAL;
                }
                error
            })?
        };
        bytes.resize(size, 0);
        Ok(bytes)
    }

    /// For calls whose driver takes no private request: what is there must be zero.
    pub fn uhw_in_none(&mut self) -> Res<()> {
        self.uhw_in(0, 0).map(|_| ())
    }

    /// Writes an output as far as the caller has room, zeroes the rest of the buffer and marks it valid. Nothing
    /// happens without the attribute.
    pub fn output(&mut self, id: u16, bytes: &[u8]) -> Res<()> {
        let Some(attr) = self.request.find(id) else { return Ok(()) };
        let mut whole = bytes.get(..attr.len).unwrap_or(bytes).to_vec();
        whole.resize(attr.len, 0);
        if !whole.is_empty() && !self.user.write(attr.data, &whole) {
            return fail(EFAULT, format!("{} at {:#x} can't be written", attr.spec.name, attr.data));
        }
        self.request.set_valid(&attr);
        Ok(())
    }

    pub fn uhw_out(&mut self, bytes: &[u8]) -> Res<()> {
        self.output(UHW_OUT, bytes)
    }

    /// Puts a new handle or descriptor into its attribute.
    pub fn answer(&mut self, id: u16, value: u64) -> Res<()> {
        let attr = self.attr(id)?;
        self.request.set_data(&attr, value);
        Ok(())
    }

    /// Enters an object that the device has just made; a later failure of the call destroys it again.
    pub fn adopt(&mut self, object: Object) -> u32 {
        let handle = self.objects.add(object);
        self.made.object = Some(handle);
        handle
    }
}

impl From<crate::model::types::QpCaps> for QpCap {
    fn from(caps: crate::model::types::QpCaps) -> Self {
        QpCap {
            max_send_wr: caps.max_send_wr,
            max_recv_wr: caps.max_recv_wr,
            max_send_sge: caps.max_send_sge,
            max_recv_sge: caps.max_recv_sge,
            max_inline_data: caps.max_inline_data,
        }
    }
}

impl From<QpCap> for crate::model::types::QpCaps {
    fn from(caps: QpCap) -> Self {
        crate::model::types::QpCaps {
            max_send_wr: caps.max_send_wr,
            max_recv_wr: caps.max_recv_wr,
            max_send_sge: caps.max_send_sge,
            max_recv_sge: caps.max_recv_sge,
            max_inline_data: caps.max_inline_data,
        }
    }
}
