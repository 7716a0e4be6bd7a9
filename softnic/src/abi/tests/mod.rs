// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls are built byte by byte as libibverbs builds them and run against small fakes of memory, process and device.

pub(crate) mod builder;
mod device;
mod errors;
pub(crate) mod fake;
mod fuzz;
mod layout;
mod lifetime;
mod memory;
mod on_model;
mod queues;

use super::errno::*;
use super::names::object;
use super::structs::*;
use super::wire::Field;
use super::*;
use crate::kind::Kind as _;
use crate::kind::efa::{self as kind_efa, structs as efa};
use builder::Ioctl;
use fake::{FakeEnv, FakeNic, Memory, PEER};

const EFA: kind_efa::Efa = kind_efa::Efa;

/// A session with everything around it.
pub(crate) struct Rig {
    session: Session,
    memory: Memory,
    env: FakeEnv,
    nic: FakeNic,
}

impl Rig {
    /// Before GET_CONTEXT.
    fn closed() -> Self {
        let mut session = Session::new(EFA.calls());
        session.set_tracing(true);
        Rig { session, memory: Memory::new(), env: FakeEnv::default(), nic: FakeNic::default() }
    }

    fn new() -> Self {
        let mut rig = Rig::closed();
        let mut call = Ioctl::new(object::DEVICE, 3);
        call.out(&mut rig.memory, 0, 4);
        call.out(&mut rig.memory, 1, 8);
        call.input(&mut rig.memory, 0x1000, &[3, 0, 0, 0, 0, 0, 0, 0]);
        call.out(&mut rig.memory, 0x1001, 24);
        call.run(&mut rig).unwrap();
        rig
    }

    /// A write command with its core structs; gives the bytes of CORE_OUT and UHW_OUT.
    fn command(
        &mut self,
        number: u32,
        core: &[u8],
        core_out: usize,
        uhw_out: usize,
    ) -> Result<(Vec<u8>, Vec<u8>), i32> {
        let mut call = Ioctl::new(object::DEVICE, 0);
        call.u64(2, u64::from(number));
        if !core.is_empty() {
            call.input(&mut self.memory, 0, core);
        }
        if core_out > 0 {
            call.out(&mut self.memory, 1, core_out);
        }
        if uhw_out > 0 {
            call.out(&mut self.memory, 0x1001, uhw_out);
        }
        call.run(self)?;
        for id in [1, 0x1001] {
            assert!(
                !call.has(id) || call.is_valid(id),
                "attribute {id:#x} of command {number:#x} is not marked as written"
            );
        }
        Ok((call.output(self, 1), call.output(self, 0x1001)))
    }

    fn pd(&mut self) -> u32 {
        let (core, private) = self.command(3, &[0; 8], 4, 8).unwrap();
        assert_ne!(efa::AllocPdResp::read(&private).pdn, 0);
        PdResp::read(&core).handle
    }

    fn reg_mr(&mut self, request: &RegMr) -> Result<MrResp, i32> {
        Ok(MrResp::read(&self.command(9, &request.bytes(), 12, 0)?.0))
    }

    fn mr(&mut self, pd: u32) -> MrResp {
        let start = self.memory.alloc(4096);
        self.reg_mr(&RegMr { start, length: 4096, iova: start, pd, access: 1 }).unwrap()
    }

    fn ah(&mut self, pd: u32) -> Result<u32, i32> {
        let request = CreateAh { pd, dgid: [0xfe; 16], is_global: 1, port: 1, ..CreateAh::default() };
        let (core, private) = self.command(5, &request.bytes(), 4, 8)?;
        assert_ne!(efa::CreateAhResp::read(&private).ahn, 0);
        Ok(AhResp::read(&core).handle)
    }

    fn channel(&mut self) -> i32 {
        i32::get(&self.command(17, &[0; 8], 4, 0).unwrap().0, 0)
    }

    fn destroy(&mut self, kind: u16, handle: u32) -> Result<(), i32> {
        let method = u16::from(kind == object::MR);
        let mut call = Ioctl::new(kind, method);
        call.object(0, u64::from(handle));
        call.run(self)
    }
}
