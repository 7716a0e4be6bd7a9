// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random calls: wild bytes, and good calls with a few things wrong, over the fake device and over the model. Nothing may
//! panic or leak, and the device is never given a handle that it hasn't handed out (the fake asserts that).
//!
//! The rounds are the same in each run. `SOFTNIC_FUZZ_SECONDS=n` adds rounds with other seeds for that long; a round that fails
//! prints its seed.

use super::on_model::ModelRig;
use super::*;
use std::time::{Duration, Instant};

/// xorshift64*: repeatable without a dependency.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}

/// Runs `round` with the seeds 1 to `fixed`, then with more while there is time.
fn rounds(fixed: u64, mut round: impl FnMut(&mut Random)) {
    let seconds = std::env::var("SOFTNIC_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let end = Instant::now() + Duration::from_secs(seconds);
    for seed in 1.. {
        if seed > fixed && Instant::now() >= end {
            println!("{} rounds", seed - 1);
            break;
        }
        // Shown only if the test fails.
        println!("seed {seed}");
        round(&mut Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    }
}

#[test]
fn wild_bytes() {
    rounds(10, |random| {
        let mut rig = Rig::new();
        for _ in 0..2000 {
            let len = random.below(300) as usize;
            let mut bytes = random.bytes(len);
            // Half of them with a header that is let in.
            if random.below(2) == 0 && len >= 24 {
                let count = (len - 24) / 16;
                bytes.truncate(24 + count * 16);
                let header = IoctlHeader {
                    length: bytes.len() as u16,
                    object: random.below(21) as u16,
                    method: random.below(8) as u16,
                    attrs: count as u16,
                    driver: efa::DRIVER_ID,
                    ..IoctlHeader::default()
                };
                bytes[..24].copy_from_slice(&header.bytes());
            }
            let result = rig.session.ioctl(&mut bytes, &mut rig.memory, &mut rig.env, &mut rig.nic);
            assert_ne!(result, Err(ENOTTY));
            let _ = rig.session.write(&bytes, &mut rig.nic);
            assert!(rig.session.line().len() < 1000);
        }
    });
}

/// An attribute whose value is mostly plausible.
fn attribute(random: &mut Random, memory: &mut Memory, call: &mut Ioctl) {
    let driver = if random.below(4) == 0 { 0x1000 } else { 0 };
    let id = driver + random.below(15) as u16;
    match random.below(6) {
        0 => call.object(id, random.below(40)),
        1 => call.u32(id, random.below(300) as u32),
        2 => call.u64(id, random.below(300)),
        3 => {
            let len = random.below(130) as usize;
            let bytes = if random.below(2) == 0 { vec![0; len] } else { random.bytes(len) };
            call.input(memory, id, &bytes);
        }
        _ => {
            let len = random.below(130) as usize;
            call.out(memory, id, len);
        }
    }
    if random.below(8) == 0 {
        call.attr(id).data = random.next();
    }
}

/// A call that works, if the handles that it draws are open. `pd` and `cq` stay open.
fn template(random: &mut Random, memory: &mut Memory, pd: u32, cq: u32) -> Ioctl {
    let handle = random.below(60) as u32;
    let mut call = Ioctl::new(object::DEVICE, 0);
    let (number, core) = match random.below(9) {
        0 => (3, vec![0; 8]),
        1 => (5, CreateAh { pd, dgid: [7; 16], is_global: 1, port: 1, ..CreateAh::default() }.bytes().to_vec()),
        2 => {
            let start = memory.alloc(64);
            (9, RegMr { start, length: 64, iova: start, pd, access: 1 }.bytes().to_vec())
        }
        3 => (25, QueryQp { qp: handle, mask: 1 }.bytes().to_vec()),
        4 => {
            let (mask, state) = [(0x71, 1), (1, 2), (0x1_0001, 3), (1, 6), (1, 0)][random.below(5) as usize];
            (26, ModifyQp { qp: handle, mask, state, port: 1, ..ModifyQp::default() }.bytes().to_vec())
        }
        5 => return queues::cq_call(memory, 16, random.below(9), None, &queues::private_cq().bytes(), 40),
        6 => return queues::qp_call(memory, pd, cq, &queues::private_qp().bytes()),
        7 => {
            let kind = [object::PD, object::CQ, object::QP, object::AH, object::MR][random.below(5) as usize];
            call.header.object = kind;
            call.header.method = u16::from(kind != object::PD && kind != object::AH);
            call.object(0, u64::from(handle.max(cq + 1)));
            if kind == object::CQ || kind == object::QP {
                call.out(memory, 1, 8);
            }
            return call;
        }
        _ => (17, vec![0; 8]),
    };
    call.u64(2, number);
    call.input(memory, 0, &core);
    call.out(memory, 1, 128);
    call
}

/// A call with nothing, little or everything wrong.
fn any_call(random: &mut Random, memory: &mut Memory, pd: u32, cq: u32) -> Ioctl {
    let mut call = if random.below(6) == 0 {
        let mut call = Ioctl::new(random.below(20) as u16, random.below(7) as u16);
        (0..random.below(12)).for_each(|_| attribute(random, memory, &mut call));
        call
    } else {
        template(random, memory, pd, cq)
    };
    for _ in 0..random.below(3) {
        let index = random.below(call.attrs.len().max(1) as u64) as usize;
        let Some(attr) = call.attrs.get_mut(index) else { break };
        match random.below(8) {
            0 => attr.len = random.next() as u16,
            1 => attr.flags = random.next() as u16,
            2 => attr.data = random.next(),
            3 => attr.id = random.below(20) as u16,
            4 => attribute(random, memory, &mut call),
            _ => {}
        }
    }
    call
}

#[test]
fn good_calls_with_something_wrong() {
    let (mut good, mut bad) = (0, 0);
    rounds(20, |random| {
        let mut rig = Rig::new();
        let (pd, cq) = (rig.pd(), rig.cq(1, None));
        for _ in 0..500 {
            rig.nic.fail = (random.below(20) == 0).then_some(ENOMEM);
            match any_call(random, &mut rig.memory, pd, cq).run(&mut rig) {
                Ok(()) => good += 1,
                Err(_) => bad += 1,
            }
            rig.nic.fail = None;
            assert_eq!(rig.nic.live.len(), rig.session.open_objects(), "after {}", rig.session.line());
        }
        rig.session.close(&mut rig.env, &mut rig.nic);
        assert!(rig.nic.live.is_empty() && rig.env.mapped.is_empty());
    });
    assert!(good > 1000 && bad > 1000, "{good} calls worked and {bad} failed: both must be many to mean anything");
}

#[test]
fn the_model_survives_them_too() {
    let (mut good, mut bad) = (0, 0);
    rounds(10, |random| {
        let mut rig = ModelRig::new("p5en");
        let (pd, cq) = (rig.pd(), rig.cq().unwrap());
        let removed_at = random.below(1000);
        for turn in 0..500 {
            if turn == removed_at {
                rig.device.remove(&mut rig.host);
            }
            let mut call = any_call(random, &mut rig.memory, pd, cq);
            match rig.run(&mut call) {
                Ok(()) => good += 1,
                Err(_) => bad += 1,
            }
            rig.device.step(&mut rig.host);
        }
        let mut nic = OnModel { device: &mut rig.device, host: &mut rig.host, ctx: rig.ctx };
        rig.session.close(&mut rig.env, &mut nic);
        assert!(rig.host.pieces.is_empty(), "rings are left: {:?}", rig.host.pieces);
    });
    assert!(good > 500 && bad > 500, "{good} calls worked and {bad} failed: both must be many to mean anything");
}
