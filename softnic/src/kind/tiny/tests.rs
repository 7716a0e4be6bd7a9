// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the second kind does with its traits, through a session as a provider would.

use super::*;
use crate::abi::errno::{EFAULT, EINVAL, ENOENT, EOPNOTSUPP};
use crate::abi::structs::{
    ChannelResp, CreateAh, IoctlHeader, ModifyQp, MrResp, PdResp, PostSend, QpCap, QpDest, QueryQp, QueryQpResp, RegMr,
    ReqNotifyCq, WriteHeader,
};
use crate::abi::tests::builder::Ioctl;
use crate::abi::tests::fake::{FakeEnv, Memory, PEER};
use crate::abi::{OnModel, Session};
use crate::fault::Faults;
use crate::model::host::{ContextId, Gid};
use crate::model::tests::world::{MEMORY, Proc};
use crate::model::types::{access, qp_mask};
use crate::model::{Device, DeviceConfig};
use crate::run::config::Peermem;

struct Rig {
    session: Session,
    memory: Memory,
    env: FakeEnv,
    device: Device,
    host: Proc,
    ctx: ContextId,
}

impl Rig {
    fn new() -> Rig {
        Rig::seeded(0)
    }

    fn seeded(seed: u64) -> Rig {
        Rig::of(seed, 0)
    }

    /// One of two processes.
    fn of(seed: u64, slot: u8) -> Rig {
        let gids = [Gid(*b"\xfe\x80\0\0\0\0\0\0tinytiny"), Gid(*b"\xfe\x80\0\0\0\0\0\0tinyTINY")];
        let gid = gids[usize::from(slot)];
        let (name, faults) = ("tiny_0".into(), Faults::default());
        let mut device = Device::new(DeviceConfig { name, profile: &PROFILE, gid, slot, seed, faults });
        let ctx = device.context_open().unwrap();
        let (local_gids, all_gids) = (vec![gid], gids.to_vec());
        let host = Proc { mem: vec![0; MEMORY], room: 8, local_gids, all_gids, ..Proc::default() };
        let session = Session::new(PROFILE.kind.calls());
        let mut rig = Rig { session, memory: Memory::new(), env: FakeEnv::default(), device, host, ctx };
        rig.run(&mut Ioctl::new(0, 3)).unwrap();
        rig
    }

    fn run(&mut self, call: &mut Ioctl) -> Result<(), i32> {
        call.header = IoctlHeader { driver: 99, ..call.header.clone() };
        let mut nic = OnModel { device: &mut self.device, host: &mut self.host, ctx: self.ctx };
        let mut bytes = call.bytes();
        let result = self.session.ioctl(&mut bytes, &mut self.memory, &mut self.env, &mut nic);
        for (index, attr) in call.attrs.iter_mut().enumerate() {
            *attr = crate::abi::wire::Field::get(&bytes, 24 + index * 16);
        }
        result
    }

    fn command(&mut self, number: u64, core: &[u8], out: usize, private: usize) -> (Vec<u8>, Vec<u8>) {
        let mut call = Ioctl::new(0, 0);
        call.u64(2, number);
        call.input(&mut self.memory, 0, core);
        if out > 0 {
            call.out(&mut self.memory, 1, out);
        }
        if private > 0 {
            call.out(&mut self.memory, 0x1001, private);
        }
        self.run(&mut call).unwrap_or_else(|e| panic!("{e}: {}", self.session.line()));
        (self.out(&call, 1), self.out(&call, 0x1001))
    }

    fn out(&self, call: &Ioctl, id: u16) -> Vec<u8> {
        let found = call.attrs.iter().find(|attr| attr.id == id);
        found.map_or_else(Vec::new, |attr| self.memory.get(attr.data, usize::from(attr.len)))
    }

    /// A region of so many bytes: where it is, and its key.
    fn region(&mut self, pd: u32, length: usize) -> (u64, u32) {
        let start = self.memory.alloc(length);
        let access = access::LOCAL_WRITE | access::REMOTE_WRITE | access::REMOTE_READ;
        let reg = RegMr { start, length: length as u64, iova: start, pd, access };
        (start, MrResp::read(&self.command(9, &reg.bytes(), 12, 0).0).lkey)
    }

    /// A CQ: its handle, its ring, and the room that is answered.
    fn cq(&mut self, cqe: u32) -> (u64, Ring, u32) {
        self.cq_with(cqe, None)
    }

    fn cq_with(&mut self, cqe: u32, channel: Option<u32>) -> (u64, Ring, u32) {
        let mut call = Ioctl::new(3, 0);
        if let Some(channel) = channel {
            call.object(3, u64::from(channel));
        }
        call.object(0, 0);
        call.u32(1, cqe);
        call.u64(2, 5);
        call.u32(4, 0);
        call.out(&mut self.memory, 6, 4);
        call.out(&mut self.memory, 0x1001, Place::SIZE);
        self.run(&mut call).unwrap();
        let room = u32::from_ne_bytes(array_at(&self.out(&call, 6), 0));
        let place = Place::read(&self.out(&call, 0x1001));
        (call.attr(0).data, Ring::new(self, &place), room)
    }

    fn qp(&mut self, kind: u64, pd: u32, cq: u64, cap: &QpCap) -> Qp {
        let mut call = Ioctl::new(4, 0);
        call.object(0, 0);
        call.object(2, u64::from(pd));
        call.object(4, cq);
        call.object(5, cq);
        call.u64(7, 6);
        call.input(&mut self.memory, 8, &cap.bytes());
        call.u64(9, kind);
        call.out(&mut self.memory, 13, 20);
        call.out(&mut self.memory, 14, 4);
        call.out(&mut self.memory, 0x1001, 32);
        self.run(&mut call).unwrap();
        let rings = self.out(&call, 0x1001);
        Qp {
            handle: call.attr(0).data as u32,
            qpn: u32::from_ne_bytes(array_at(&self.out(&call, 14), 0)),
            caps: QpCap::read(&self.out(&call, 13)),
            send: Ring::new(self, &Place::read(&rings)),
            recv: Ring::new(self, &Place::read(&rings[16..])),
        }
    }

    /// What the words say by which a program's doings are noticed.
    fn words(&mut self, tracing: bool) -> Vec<u32> {
        let mut words = Vec::new();
        self.device.doorbells(tracing, &mut |ctx, offset, _| words.push((ctx, offset)));
        words.into_iter().map(|(ctx, offset)| self.host.shm(ctx).load32(offset)).collect()
    }

    fn steps(&mut self) {
        while self.device.step(&mut self.host).busy {}
    }

    /// The next completion {status, QP number, id}.
    fn poll(&mut self, cq: &mut Ring) -> Option<(u32, u32, u64)> {
        let e = cq.take(self)?;
        let word = |at| u32::from_be_bytes(array_at(&e, at));
        Some((word(0), word(4), u64::from_be_bytes(array_at(&e, 8))))
    }
}

/// Address, length and key.
type Piece = (u64, u32, u32);

/// The provider's side of a queue.
struct Ring {
    at: u64,
    stride: u32,
    mask: u32,
    /// What the provider fills or reads next.
    next: u32,
}

impl Ring {
    fn new(rig: &mut Rig, place: &Place) -> Ring {
        let (at, shm) = (place.offset, rig.host.shm(rig.ctx));
        let (stride, mask) = (shm.load32(at), shm.load32(at + 4));
        assert!(DATA + u64::from(stride * (mask + 1)) <= place.bytes);
        Ring { at, stride, mask, next: 0 }
    }

    /// Puts an entry in, if there is a place.
    fn put(&mut self, rig: &mut Rig, bytes: &[u8]) -> bool {
        let after = (self.next + 1) & self.mask;
        if after == rig.host.shm(rig.ctx).load32(self.at + CONSUMER) {
            return false;
        }
        assert!(bytes.len() <= self.stride as usize);
        rig.host.shm(rig.ctx).write(self.at + DATA + u64::from(self.next * self.stride), bytes);
        self.next = after;
        rig.host.shm(rig.ctx).store32(self.at + u64::from(PRODUCER), after);
        true
    }

    /// Takes one out, if there is one.
    fn take(&mut self, rig: &mut Rig) -> Option<Vec<u8>> {
        if self.next == rig.host.shm(rig.ctx).load32(self.at + u64::from(PRODUCER)) {
            return None;
        }
        let e = entry(rig.host.shm(rig.ctx), self.at, self.next, self.stride);
        self.next = (self.next + 1) & self.mask;
        rig.host.shm(rig.ctx).store32(self.at + CONSUMER, self.next);
        Some(e)
    }
}

struct Qp {
    handle: u32,
    qpn: u32,
    caps: QpCap,
    send: Ring,
    recv: Ring,
}

impl Qp {
    fn post_recv(&mut self, rig: &mut Rig, id: u64, pieces: &[Piece]) -> bool {
        let mut e = [id.to_le_bytes(), (pieces.len() as u64).to_le_bytes()].concat();
        e.extend(pieces.iter().flat_map(piece));
        self.recv.put(rig, &e)
    }

    fn post(&mut self, rig: &mut Rig, to: &Send<'_>) -> bool {
        let count = to.inline.map_or(to.pieces.len(), <[u8]>::len) as u32;
        let mut e = [to.id.to_le_bytes(), (u64::from(to.qpn) | u64::from(to.ah) << 32).to_le_bytes()].concat();
        (e[14], e[15]) = (to.op, u8::from(to.inline.is_some()));
        e.extend([to.remote.0.to_le_bytes(), (u64::from(to.remote.1) | u64::from(count) << 32).to_le_bytes()].concat());
        match to.inline {
            Some(bytes) => e.extend(bytes),
            None => e.extend(to.pieces.iter().flat_map(piece)),
        }
        self.send.put(rig, &e)
    }
}

#[derive(Default)]
struct Send<'a> {
    id: u64,
    op: u8,
    qpn: u32,
    ah: u16,
    pieces: &'a [Piece],
    inline: Option<&'a [u8]>,
    remote: (u64, u32),
}

fn piece((addr, len, key): &Piece) -> Vec<u8> {
    [addr.to_le_bytes(), (u64::from(*len) | u64::from(*key) << 32).to_le_bytes()].concat()
}

const CAP: QpCap = QpCap { max_send_wr: 3, max_recv_wr: 4, max_send_sge: 8, max_recv_sge: 5, max_inline_data: 0 };

struct World {
    rig: Rig,
    qp: Qp,
    cq: Ring,
    ah: u16,
    start: u64,
    key: u32,
}

/// A device with a queue pair that is up and 4096 bytes of memory.
fn world() -> World {
    let mut rig = Rig::new();
    let pd = PdResp::read(&rig.command(3, &[0; 8], 4, 0).0).handle;
    let (start, key) = rig.region(pd, 4096);
    let to = CreateAh { pd, dgid: rig.device.gid().0, is_global: 1, port: 1, ..CreateAh::default() };
    let ah = u16::from_ne_bytes(array_at(&rig.command(5, &to.bytes(), 4, 2).1, 0));
    let (handle, cq, _) = rig.cq(8);
    let qp = rig.qp(4, pd, handle, &CAP);
    let up = ModifyQp { qp: qp.handle, mask: qp_mask::STATE, state: QpState::Rts as u8, ..ModifyQp::default() };
    rig.command(26, &up.bytes(), 0, 0);
    World { rig, qp, cq, ah, start, key }
}

#[test]
fn another_kind_sends_and_receives() {
    let World { mut rig, mut qp, mut cq, ah, start, key } = world();
    let qpn = qp.qpn;
    for round in 0..100u32 {
        let text = [round as u8 ^ 0x5a; 100];
        rig.host.write(start, &text);
        let id = u64::from(round) << 40;
        assert!(qp.post_recv(&mut rig, id, &[(start + 2048, 256, key)]), "the device tells what it has taken");
        assert!(qp.post(&mut rig, &Send { id: 7, qpn, ah, pieces: &[(start, 100, key)], ..Send::default() }));
        rig.steps();
        let mut got = [rig.poll(&mut cq).unwrap(), rig.poll(&mut cq).unwrap()];
        got.sort_by_key(|c| c.2 != 7);
        assert_eq!(got, [(1000, qpn, 7), (1000, qpn, id)], "round {round}");
        let mut arrived = [0; 100];
        assert!(rig.host.read(start + 2048, &mut arrived) && arrived == text);
    }
    // And a status in the kind's own numbers: a key that is none.
    assert!(qp.post(&mut rig, &Send { id: 8, qpn, ah, pieces: &[(start, 100, key ^ 1)], ..Send::default() }));
    rig.steps();
    assert_eq!(rig.poll(&mut cq), Some((1005, qpn, 8)));
}

/// The words by which a program's posting is noticed lie in the queues, and move when it posts.
#[test]
fn doorbells_lie_in_the_queues() {
    let World { mut rig, mut qp, ah, start, key, .. } = world();
    assert_eq!(rig.words(true), [0, 0]);
    assert!(qp.post_recv(&mut rig, 1, &[(start + 2048, 256, key)]));
    assert_eq!(rig.words(true), [0, 1]);
    let qpn = qp.qpn;
    assert!(qp.post(&mut rig, &Send { qpn, ah, pieces: &[(start, 100, key)], ..Send::default() }));
    assert_eq!(rig.words(true), [1, 1]);
}

#[test]
fn sizes_are_the_kinds_own() {
    let mut rig = Rig::new();
    for (asked, answered) in [(1, 1), (2, 3), (3, 3), (5, 7), (8, 15), (64, 127)] {
        let (handle, ring, room) = rig.cq(asked);
        assert_eq!((room, ring.mask), (answered, answered), "{asked} wanted");
        let mut destroy = Ioctl::new(3, 1);
        destroy.object(0, handle);
        destroy.out(&mut rig.memory, 1, 8);
        rig.run(&mut destroy).unwrap();
    }
    let w = world();
    let told = QpCap { max_send_wr: 3, max_recv_wr: 7, max_send_sge: 8, max_recv_sge: 5, max_inline_data: 224 };
    assert_eq!((w.qp.caps, w.qp.send.mask, w.qp.recv.mask), (told.clone(), 3, 7));
    let (mut rig, query) = (w.rig, QueryQp { qp: w.qp.handle, mask: 0 });
    let (answer, _) = rig.command(25, &query.bytes(), QueryQpResp::SIZE, 0);
    assert_eq!(QueryQpResp::read(&answer).cap, told);
}

/// More completions than the ring holds wait until the program has read some, as far as its word in the ring says.
#[test]
fn completions_wait_for_room() {
    let World { mut rig, mut qp, mut cq, ah, start, key } = world();
    let qpn = qp.qpn;
    let mut sent = 0;
    while sent < 20 {
        // Each fails at once: a completion without a receive.
        if !qp.post(&mut rig, &Send { id: sent, qpn, ah, pieces: &[(start, 100, key ^ 1)], ..Send::default() }) {
            panic!("the device doesn't take {sent}");
        }
        rig.steps();
        sent += 1;
    }
    let mut ids = Vec::new();
    while let Some((_, _, id)) = rig.poll(&mut cq) {
        ids.push(id);
        rig.steps();
    }
    assert_eq!(ids, (0..20).collect::<Vec<_>>());
}

/// Six pieces into five, inline data longer than the model keeps in a request, and READ and WRITE with several pieces.
#[test]
fn requests_have_more_pieces_and_bytes_than_efas() {
    let World { mut rig, mut qp, mut cq, ah, start, key } = world();
    let qpn = qp.qpn;
    let at = |n: u64| start + n;
    let bytes: Vec<u8> = (0..120).map(|n| n as u8 ^ 0x33).collect();
    let from: Vec<_> = (0..6).map(|n| (at(n * 40), 20, key)).collect();
    let to: Vec<_> = (0..5).map(|n| (at(1000 + n * 50), 24, key)).collect();
    let gather = |rig: &mut Rig, list: &[Piece]| {
        let mut all = Vec::new();
        for (addr, len, _) in list {
            let mut piece = vec![0; *len as usize];
            assert!(rig.host.read(*addr, &mut piece));
            all.extend(piece);
        }
        all
    };
    for (n, (addr, len, _)) in from.iter().enumerate() {
        rig.host.write(*addr, &bytes[n * 20..][..*len as usize]);
    }
    let operations: [(u8, &[Piece]); 4] = [(0, &from), (0, &[]), (2, &from), (1, &to)];
    for (op, pieces) in operations {
        let inline = pieces.is_empty().then_some(&bytes[..]);
        rig.host.write(at(1000), &[0; 300]);
        if op == 0 {
            assert!(qp.post_recv(&mut rig, 1, &to));
        }
        let remote = if op == 0 { (0, 0) } else { (at(2000), key) };
        assert!(qp.post(&mut rig, &Send { id: 2, op, qpn, ah, pieces, inline, remote }));
        rig.steps();
        while let Some(c) = rig.poll(&mut cq) {
            assert_eq!(c.0, 1000, "operation {op}");
        }
        let got = if op == 2 { gather(&mut rig, &[(at(2000), 120, 0)]) } else { gather(&mut rig, &to) };
        assert!(got == bytes, "operation {op}");
    }
}

/// Two connected queue pairs of one device, and a region for both.
struct Pair {
    rig: Rig,
    a: Qp,
    b: Qp,
    /// Theirs.
    cqs: [Ring; 2],
    start: u64,
    key: u32,
    pd: u32,
}

fn pair(seed: u64, access: u32) -> Pair {
    let mut rig = Rig::seeded(seed);
    let pd = PdResp::read(&rig.command(3, &[0; 8], 4, 0).0).handle;
    let (start, key) = rig.region(pd, 4096);
    let ((first, cq_a, _), (second, cq_b, _)) = (rig.cq(64), rig.cq(64));
    let cap = QpCap { max_send_wr: 15, max_recv_wr: 15, ..CAP };
    let (a, b) = (rig.qp(2, pd, first, &cap), rig.qp(2, pd, second, &cap));
    rig.connect(&a, b.qpn, access).unwrap();
    rig.connect(&b, a.qpn, access).unwrap();
    Pair { rig, a, b, cqs: [cq_a, cq_b], start, key, pd }
}

impl Rig {
    /// From RESET to RTS, with a peer of this device.
    fn connect(&mut self, qp: &Qp, dest_qpn: u32, access: u32) -> Result<(), i32> {
        self.connect_to(qp, self.device.gid(), dest_qpn, access)
    }

    fn connect_to(&mut self, qp: &Qp, gid: Gid, dest_qpn: u32, access: u32) -> Result<(), i32> {
        let mask = qp_mask::STATE | qp_mask::PATH | qp_mask::DEST_QPN | qp_mask::ACCESS;
        let dest = QpDest { dgid: gid.0, is_global: 1, port: 1, hop_limit: 3, ..QpDest::default() };
        let (qp, state) = (qp.handle, QpState::Rts as u8);
        self.modify(&ModifyQp { qp, mask, state, dest, dest_qpn, access, ..ModifyQp::default() })
    }

    fn modify(&mut self, request: &ModifyQp) -> Result<(), i32> {
        let mut call = Ioctl::new(0, 0);
        call.u64(2, 26);
        call.input(&mut self.memory, 0, &request.bytes());
        self.run(&mut call)
    }

    fn query(&mut self, qp: &Qp) -> QueryQpResp {
        let query = QueryQp { qp: qp.handle, mask: 0 };
        QueryQpResp::read(&self.command(25, &query.bytes(), QueryQpResp::SIZE, 0).0)
    }

    fn polls(&mut self, cq: &mut Ring) -> Vec<(u32, u64)> {
        std::iter::from_fn(|| self.poll(cq).map(|(status, _, id)| (status, id))).collect()
    }
}

#[test]
fn a_connected_queue_pair_has_its_peer_from_modify() {
    let Pair { mut rig, mut a, mut b, mut cqs, start, key, pd } = pair(0, 0);
    let found = rig.query(&a);
    assert_eq!((found.dest_qpn, found.dest.dgid, found.dest.hop_limit), (b.qpn, rig.device.gid().0, 3));
    // No request names anybody.
    rig.host.write(start, b"to b");
    assert!(b.post_recv(&mut rig, 1, &[(start + 100, 10, key)]));
    assert!(a.post(&mut rig, &Send { id: 2, pieces: &[(start, 4, key)], ..Send::default() }));
    rig.steps();
    assert_eq!((rig.polls(&mut cqs[0]), rig.polls(&mut cqs[1])), (vec![(1000, 2)], vec![(1000, 1)]));
    let mut got = [0; 4];
    assert!(rig.host.read(start + 100, &mut got) && got == *b"to b");
    // A third one says that b is its peer; b knows better.
    let (handle, mut cq, _) = rig.cq(8);
    let mut c = rig.qp(2, pd, handle, &CAP);
    let alone = ModifyQp { qp: c.handle, mask: qp_mask::STATE, state: QpState::Rts as u8, ..ModifyQp::default() };
    assert_eq!(rig.modify(&alone), Err(EINVAL), "without a peer");
    rig.connect(&c, b.qpn, 0).unwrap();
    assert!(b.post_recv(&mut rig, 3, &[(start + 100, 10, key)]));
    assert!(c.post(&mut rig, &Send { id: 4, pieces: &[(start, 4, key)], ..Send::default() }));
    rig.steps();
    assert_eq!((rig.polls(&mut cq), rig.polls(&mut cqs[1])), (vec![(1009, 4)], vec![]));
}

/// What the peer may do is said by the queue pair's own bits, whatever the region allows. No address handle is needed.
#[test]
fn a_connected_queue_pair_has_its_own_access_bits() {
    for (access, write, read) in
        [(0, 1007, 1007), (access::REMOTE_WRITE, 1000, 1007), (access::REMOTE_READ, 1007, 1000)]
    {
        for (op, status) in [(2, write), (1, read)] {
            let Pair { mut rig, mut a, mut cqs, start, key, .. } = pair(3, access);
            let (pieces, remote) = (&[(start, 600, key), (start + 700, 500, key)][..], (start + 2000, key));
            assert!(a.post(&mut rig, &Send { id: 5, op, pieces, remote, ..Send::default() }));
            rig.steps();
            assert_eq!(rig.polls(&mut cqs[0]), [(status, 5)], "operation {op}, access {access:#x}");
        }
    }
}

/// With a seed that shuffles everything else, and a receiver that is mostly not ready.
#[test]
fn a_queue_pair_that_keeps_the_order_keeps_it() {
    for seed in 1..6 {
        let Pair { mut rig, mut a, mut b, mut cqs, start, key, .. } = pair(seed, 0);
        let (mut sent, mut ended, mut came, mut posted) = (0, Vec::new(), Vec::new(), 0);
        while came.len() < 60 {
            while sent < 60
                && a.post(&mut rig, &Send { id: sent, pieces: &[(start + sent, 1, key)], ..Send::default() })
            {
                rig.host.write(start + sent, &[sent as u8]);
                sent += 1;
            }
            rig.steps();
            rig.host.now += 30;
            rig.steps();
            for _ in 0..2 {
                assert!(b.post_recv(&mut rig, posted, &[(start + 1000 + posted, 1, key)]));
                posted += 1;
            }
            rig.steps();
            ended.extend(rig.polls(&mut cqs[0]));
            came.extend(rig.polls(&mut cqs[1]));
        }
        let all: Vec<_> = (0..60).map(|id| (1000, id)).collect();
        assert!(ended == all && came == all, "seed {seed}: {ended:?} {came:?}");
        let mut bytes = [0; 60];
        assert!(rig.host.read(start + 1000, &mut bytes) && (0..60).eq(bytes), "seed {seed}: {bytes:?}");
    }
}

/// The two ends of a connection.
struct End {
    rig: Rig,
    qp: Qp,
    cq: Ring,
    start: u64,
    key: u32,
}

fn two_processes(seed: u64) -> [End; 2] {
    let mut ends = [0, 1].map(|slot| {
        let mut rig = Rig::of(seed, slot);
        let pd = PdResp::read(&rig.command(3, &[0; 8], 4, 0).0).handle;
        let (start, key) = rig.region(pd, 1 << 14);
        let (handle, cq, _) = rig.cq(64);
        let qp = rig.qp(2, pd, handle, &QpCap { max_send_wr: 15, max_recv_wr: 15, ..CAP });
        End { rig, qp, cq, start, key }
    });
    let address = [0, 1].map(|n: usize| (ends[n].rig.device.gid(), ends[n].qp.qpn));
    for (n, end) in ends.iter_mut().enumerate() {
        let (gid, qpn) = address[1 - n];
        end.rig.connect_to(&end.qp, gid, qpn, access::REMOTE_WRITE).unwrap();
    }
    ends
}

/// Answers come late, and the receiver is mostly not ready.
#[test]
fn order_is_kept_between_processes() {
    for seed in 1..4 {
        let [mut a, mut b] = two_processes(seed);
        let (mut sent, mut posted, mut ended, mut came) = (0, 0, Vec::new(), Vec::new());
        for round in 0..4000u64 {
            let (op, inline) = (if sent % 3 == 2 { 2 } else { 0 }, [sent as u8; 1]);
            let remote = if op == 2 { (b.start + 100, b.key) } else { (0, 0) };
            let send = Send { id: sent, op, inline: Some(&inline), remote, ..Send::default() };
            sent += u64::from(sent < 60 && a.qp.post(&mut a.rig, &send));
            if round % 7 == 0 {
                posted += u64::from(b.qp.post_recv(&mut b.rig, posted, &[(b.start + posted, 1, b.key)]));
            }
            a.rig.host.now += 1;
            b.rig.host.now += 1;
            a.rig.device.step(&mut a.rig.host);
            b.rig.device.step(&mut b.rig.host);
            // One packet each way, at most.
            if let Some(p) = a.rig.host.outgoing.pop_front() {
                b.rig.device.receive(&mut b.rig.host, &p);
            }
            if let Some(p) = b.rig.host.outgoing.pop_front() {
                a.rig.device.receive(&mut a.rig.host, &p);
            }
            ended.extend(a.rig.polls(&mut a.cq));
            came.extend(b.rig.polls(&mut b.cq));
        }
        let all: Vec<_> = (0..60).map(|id| (1000, id)).collect();
        assert_eq!((&ended, &came[..]), (&all, &all[..40]), "seed {seed}");
        let mut bytes = [0; 40];
        assert!(b.rig.host.read(b.start, &mut bytes));
        assert!((0..60).filter(|n| n % 3 != 2).eq(bytes), "seed {seed}: {bytes:?}");
        assert!(b.rig.host.read(b.start + 100, &mut bytes[..1]) && bytes[0] == 59, "the last WRITE counts");
    }
}

#[test]
fn the_first_failure_stops_a_queue_pair_of_that_type() {
    let Pair { mut rig, mut a, mut b, mut cqs, start, key, .. } = pair(0, 0);
    for id in 0..3 {
        assert!(b.post_recv(&mut rig, id, &[(start + 100, 10, key)]));
        let key = if id == 1 { key ^ 1 } else { key };
        assert!(a.post(&mut rig, &Send { id, pieces: &[(start, 4, key)], ..Send::default() }));
    }
    rig.steps();
    assert_eq!(rig.polls(&mut cqs[0]), [(1000, 0), (1005, 1), (1001, 2)]);
    assert_eq!(rig.polls(&mut cqs[1]), [(1000, 0)]);
    assert_eq!((rig.query(&a).state, rig.query(&b).state), (QpState::Err as u8, QpState::Rts as u8));
    // Back to the beginning, with empty queues.
    let back = ModifyQp { qp: a.handle, mask: qp_mask::STATE, ..ModifyQp::default() };
    rig.modify(&back).unwrap();
    a.send.next = 0;
    rig.connect(&a, b.qpn, 0).unwrap();
    assert!(a.post(&mut rig, &Send { id: 9, pieces: &[(start, 4, key)], ..Send::default() }));
    rig.steps();
    assert_eq!((rig.polls(&mut cqs[0]), rig.polls(&mut cqs[1])), (vec![(1000, 9)], vec![(1000, 1)]));
}

/// A plain write(2).
fn write(rig: &mut Rig, command: u32, body: &[u8]) -> Result<(), i32> {
    let header = WriteHeader { command, in_words: (8 + body.len() as u16) / 4, out_words: 1 };
    let mut nic = OnModel { device: &mut rig.device, host: &mut rig.host, ctx: rig.ctx };
    rig.session.write(&[&header.bytes()[..], body].concat(), &mut nic)
}

#[test]
fn a_doorbell_by_write_begins_what_was_posted() {
    let Pair { mut rig, mut a, mut b, mut cqs, start, key, pd } = pair(0, 0);
    let bell = |qp: u32| PostSend { qp, wqe_size: 128, ..PostSend::default() };
    for id in 0..40 {
        assert!(b.post_recv(&mut rig, id, &[(start + 100, 10, key)]));
        assert!(a.post(&mut rig, &Send { id, pieces: &[(start, 4, key)], ..Send::default() }));
        write(&mut rig, 28, &bell(a.handle).bytes()).unwrap();
        assert_eq!(rig.session.line(), "uverbs write(2) post_send -> ok");
        // Nobody has stepped the device.
        assert_eq!((rig.polls(&mut cqs[0]), rig.polls(&mut cqs[1])), (vec![(1000, id)], vec![(1000, id)]));
    }
    let with_requests = PostSend { wr_count: 1, ..bell(a.handle) };
    assert_eq!(write(&mut rig, 28, &with_requests.bytes()), Err(EINVAL));
    assert_eq!(write(&mut rig, 28, &bell(a.handle).bytes()[..20]), Err(EINVAL));
    assert_eq!(write(&mut rig, 28, &bell(999).bytes()), Err(ENOENT));
    assert_eq!(write(&mut rig, 28, &bell(pd).bytes()), Err(EINVAL), "no queue pair");
    assert_eq!(rig.session.complaint(), None);
    let (handle, ..) = rig.cq(8);
    let idle = rig.qp(2, pd, handle, &CAP);
    assert_eq!(write(&mut rig, 28, &bell(idle.handle).bytes()), Err(EINVAL), "in RESET");
    assert_eq!(write(&mut rig, 29, &bell(a.handle).bytes()), Err(EOPNOTSUPP));
    assert!(rig.session.complaint().unwrap().contains("write(2) post_recv"), "{}", rig.session.line());
}

#[test]
fn a_command_arms_a_cq_for_the_next_completion() {
    let mut rig = Rig::new();
    let pd = PdResp::read(&rig.command(3, &[0; 8], 4, 0).0).handle;
    let (start, key) = rig.region(pd, 4096);
    let channel = ChannelResp::read(&rig.command(17, &[0; 8], 4, 0).0).fd;
    let (handle, mut cq, _) = rig.cq_with(8, Some(channel));
    let mut qp = rig.qp(2, pd, handle, &CAP);
    rig.connect(&qp, qp.qpn, 0).unwrap();
    let event = (u64::from(channel) * 10, 5);
    let arm = ReqNotifyCq { cq: handle as u32, solicited_only: 0 }.bytes();
    let mut message = |rig: &mut Rig| {
        assert!(qp.post_recv(rig, 1, &[(start + 100, 10, key)]));
        assert!(qp.post(rig, &Send { id: 2, pieces: &[(start, 4, key)], ..Send::default() }));
        rig.steps();
        // Also later nobody takes unread completions for a missed "arm".
        rig.host.now += 1000;
        rig.steps();
        std::mem::take(&mut rig.host.comp_events)
    };
    assert_eq!(message(&mut rig), [], "nobody has asked");
    rig.command(23, &arm, 0, 0);
    assert!(rig.device.step(&mut rig.host).armed);
    assert_eq!(rig.host.comp_events, [], "what is there makes no event");
    assert_eq!(message(&mut rig), [event], "one of two completions");
    assert!(!rig.device.step(&mut rig.host).armed);
    assert_eq!(message(&mut rig), []);
    // The ring is full: a completion makes its event when there is room for it.
    while rig.poll(&mut cq).is_some() {}
    for _ in 0..8 {
        assert_eq!(message(&mut rig), []);
    }
    rig.command(23, &arm, 0, 0);
    rig.steps();
    assert_eq!(rig.host.comp_events, []);
    let before = rig.words(false);
    assert!(rig.poll(&mut cq).is_some());
    assert_ne!(rig.words(false), before, "reading is seen");
    rig.steps();
    assert_eq!(rig.host.comp_events, [event]);
    let wrong = ReqNotifyCq { cq: 999, solicited_only: 0 }.bytes();
    let mut call = Ioctl::new(0, 0);
    call.u64(2, 23);
    call.input(&mut rig.memory, 0, &wrong);
    assert_eq!(rig.run(&mut call), Err(ENOENT));
}

/// A GPU's address is resolved where the module is the one that this kind of device asks: nvidia_peermem, which no EFA does.
#[test]
fn peer_memory_by_nvidia_peermem() {
    for (module, served) in [(Peermem::None, false), (Peermem::Nvidia, true), (Peermem::Efa, false)] {
        let efa = crate::kind::find("efa", "p5").unwrap();
        assert_eq!(module.serves(&efa.kind.sysfs(efa)), module == Peermem::Efa);
        let mut rig = Rig::new();
        rig.env.peer = module.serves(&Tiny.sysfs(&PROFILE));
        let pd = PdResp::read(&rig.command(3, &[0; 8], 4, 0).0).handle;
        let mut call = Ioctl::new(0, 0);
        call.u64(2, 9);
        let request = RegMr { start: PEER + 16, length: 100, iova: 16, pd, access: 1 };
        call.input(&mut rig.memory, 0, &request.bytes());
        call.out(&mut rig.memory, 1, 12);
        assert_eq!(rig.run(&mut call), if served { Ok(()) } else { Err(EFAULT) }, "{module:?}");
        assert_eq!(rig.env.mapped.contains_key(&0x6000_0010), served);
    }
}

#[test]
fn its_calls_are_its_own() {
    let mut rig = Rig::new();
    let mut call = Ioctl::new(7, 0x1000);
    assert!(rig.run(&mut call).is_err());
    assert_eq!(rig.session.line().split(" -> ").next(), Some("uverbs MR.method 0x1000"), "EFA's query is no call here");
    let (device, _) = rig.command(1, &[0; 8], 176, 0);
    assert_eq!(DeviceResp::read(&device).vendor_id, 0xff_ffff);
    let other = Ioctl::new(0, 2);
    let mut nic = OnModel { device: &mut rig.device, host: &mut rig.host, ctx: rig.ctx };
    let mut bytes = other.bytes();
    assert!(rig.session.ioctl(&mut bytes, &mut rig.memory, &mut rig.env, &mut nic).is_err());
    assert!(rig.session.line().contains("driver 17, this is 99"), "{}", rig.session.line());
}
