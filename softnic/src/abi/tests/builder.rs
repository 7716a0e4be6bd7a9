// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds an ioctl as libibverbs does: all attributes mandatory unless said otherwise, inputs of up to 8 bytes inline.

use super::*;

pub struct Ioctl {
    pub header: IoctlHeader,
    pub attrs: Vec<AttrHeader>,
}

impl Ioctl {
    pub fn new(object: u16, method: u16) -> Self {
        Ioctl {
            header: IoctlHeader { object, method, driver: efa::DRIVER_ID, ..IoctlHeader::default() },
            attrs: vec![],
        }
    }

    fn push(&mut self, id: u16, len: usize, data: u64) {
        self.attrs.push(AttrHeader { id, len: len as u16, flags: 1, aux: 0, data });
    }

    pub fn input(&mut self, memory: &mut Memory, id: u16, bytes: &[u8]) {
        let data = if bytes.len() <= 8 { u64::get(bytes, 0) } else { memory.put(bytes) };
        self.push(id, bytes.len(), data);
    }

    pub fn out(&mut self, memory: &mut Memory, id: u16, len: usize) {
        // Old contents, so that what is not written shows.
        let addr = memory.put(&vec![0xaa; len]);
        self.push(id, len, addr);
    }

    pub fn u64(&mut self, id: u16, value: u64) {
        self.push(id, 8, value);
    }

    pub fn u32(&mut self, id: u16, value: u32) {
        self.push(id, 4, u64::from(value));
    }

    /// An object or descriptor: the value itself, without a length.
    pub fn object(&mut self, id: u16, value: u64) {
        self.push(id, 0, value);
    }

    /// The last attribute becomes optional.
    pub fn optional(&mut self) {
        self.attrs.last_mut().unwrap().flags = 0;
    }

    pub fn attr(&mut self, id: u16) -> &mut AttrHeader {
        self.attrs.iter_mut().find(|attr| attr.id == id).unwrap()
    }

    pub fn remove(&mut self, id: u16) {
        self.attrs.retain(|attr| attr.id != id);
    }

    pub fn has(&self, id: u16) -> bool {
        self.attrs.iter().any(|attr| attr.id == id)
    }

    pub fn is_valid(&mut self, id: u16) -> bool {
        self.attr(id).flags & 2 != 0
    }

    /// The whole buffer behind an output; empty without it.
    pub fn output(&self, rig: &Rig, id: u16) -> Vec<u8> {
        self.attrs
            .iter()
            .find(|attr| attr.id == id)
            .map_or_else(Vec::new, |attr| rig.memory.get(attr.data, usize::from(attr.len)))
    }

    pub fn bytes(&self) -> Vec<u8> {
        let length = IoctlHeader::SIZE + self.attrs.len() * AttrHeader::SIZE;
        let header = IoctlHeader { length: length as u16, attrs: self.attrs.len() as u16, ..self.header.clone() };
        let mut bytes = header.bytes().to_vec();
        self.attrs.iter().for_each(|attr| bytes.extend(attr.bytes()));
        bytes
    }

    /// Runs the call by address and takes the answers over.
    pub fn run(&mut self, rig: &mut Rig) -> Result<(), i32> {
        let bytes = self.bytes();
        let addr = rig.memory.put(&bytes);
        let result = rig.session.ioctl_at(addr, &mut rig.memory, &mut rig.env, &mut rig.nic);
        let after = rig.memory.get(addr, bytes.len());
        for (index, attr) in self.attrs.iter_mut().enumerate() {
            *attr = AttrHeader::get(&after, IoctlHeader::SIZE + index * AttrHeader::SIZE);
        }
        assert_ne!(result, Err(ENOTTY), "ENOTTY turns every ioctl off");
        result
    }
}
