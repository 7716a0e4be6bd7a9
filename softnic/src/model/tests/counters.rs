// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every counter that is shown, driven once, with its exact value.

use super::endpoint::*;
use super::world::*;
use crate::model::counters::Counters;
use crate::model::types::*;
use std::collections::BTreeMap;

/// What these count doesn't happen here: changes of the network's path, paths that are slowed down, the device's sign of life to its
/// driver, refused mappings of queues (any offset of a memfd can be mapped).
const NEVER: [&str; 4] = ["retrans_timeout_events", "impaired_remote_conn_events", "keep_alive_rcvd", "mmap_err"];

fn values(c: &Counters) -> BTreeMap<&'static str, u64> {
    let mut values = BTreeMap::new();
    c.each(|name, value| assert!(values.insert(name, value).is_none()));
    values
}

#[test]
fn each_has_the_value_that_it_should_have() {
    let faults = "fail command alloc_ucontext 2 errno 12 device 0\nfail command create_cq 2 errno 62 device 0
        fail command create_qp 2 errno 12 device 0\nfail command create_ah 3 errno 12 device 0
        fail command reg_mr 2 errno 12 device 0\nfail command alloc_pd 2 errno 12 device 0";
    let mut w = World::new(&Setup { procs: &[0, 1], faults, ..Setup::default() });
    let mut a = Ep::new(&mut w, 0, Opts { rnr_retry: Some(1), ..Opts::default() });
    let mut b = Ep::new(&mut w, 1, Opts::default());
    let ah = a.ah(&mut w, 1);
    b.ah(&mut w, 0);
    let before = *w.at(0).0.counters();

    // 100 bytes and 7 by SEND, the latter at the second attempt; 300 by READ, 5000 by WRITE.
    b.recv(&mut w, 1, &[(0, 4096)]);
    for (op, id, len) in [(0, 1, 100), (1, 2, 300), (2, 3, 5000)] {
        let wr = a.wr(op, id, ah, &b, 0, 0x2000, len);
        a.post(&mut w, &wr);
    }
    w.run();
    let wr = a.wr(0, 4, ah, &b, 0, 0, 7);
    a.post(&mut w, &wr);
    w.run();
    b.recv(&mut w, 2, &[(0, 4096)]);
    w.wait(50);
    assert_eq!(a.polls(&mut w).iter().map(|c| (c.id, c.status)).collect::<Vec<_>>(), [(1, 0), (2, 0), (3, 0), (4, 0)]);
    // Refused there, READ and WRITE; and a SEND without a second receiver, twice.
    for (op, id) in [(1, 5), (2, 6)] {
        let mut wr = a.wr(op, id, ah, &b, 0, 0, 8);
        wr.remote.2 ^= 1;
        a.post(&mut w, &wr);
    }
    w.run();
    let wr = a.wr(0, 7, ah, &b, 0, 0, 9);
    a.post(&mut w, &wr);
    w.wait(50);
    assert_eq!(a.polls(&mut w).iter().map(|c| (c.id, c.status)).collect::<Vec<_>>(), [(5, 7), (6, 7), (7, 10)]);
    // Nobody there.
    let nowhere = a.ah(&mut w, 9);
    let wr = a.wr(0, 8, nowhere, &b, 0, 0, 11);
    a.post(&mut w, &wr);
    w.run();
    assert_eq!(a.one(&mut w), (8, 15));
    // Each kind of command once more, and it fails.
    let (d, p) = w.at(0);
    assert!(d.context_open().is_err());
    assert!(d.pd_alloc(p, a.ctx).is_err());
    let mr = MrSpec { pd: a.pd.handle, start: BASE, length: 8, iova: BASE, access: 1, dmabuf: false };
    assert!(d.mr_reg(p, a.ctx, &mr).is_err());
    let cq =
        CqSpec { cqe: 16, entry_size: 32, sub_cqs: 1, user_handle: 0, channel: None, comp_vector: 0, with_sgid: false };
    assert_eq!(d.cq_create(p, a.ctx, &cq), Err(62), "the device never answers");
    assert!(d.qp_create(p, a.ctx, &qp_spec(&a.opts, a.pd.handle, a.cq.handle)).is_err());
    let to = AhSpec { pd: a.pd.handle, is_global: true, port: 1, dgid: gid(1) };
    assert!(d.ah_create(p, a.ctx, &to).is_err());

    let (asked, served) = (values(w.at(0).0.counters()), values(w.at(1).0.counters()));
    let expected = [
        // Two attempts of each SEND that had no receiver at first.
        ("tx_bytes", 100 + 5000 + 2 * 7 + 8 + 2 * 9, 300),
        // The receiver of the second SEND also says when it is ready.
        ("tx_pkts", 9, 10),
        ("rx_bytes", 300, 100 + 5000 + 2 * 7 + 8 + 2 * 9),
        ("rx_pkts", 10, 9),
        ("rx_drops", 0, 5),
        ("send_bytes", 107, 0),
        ("send_wrs", 2, 0),
        ("recv_bytes", 0, 107),
        ("recv_wrs", 0, 2),
        ("rdma_read_wrs", 1, 0),
        ("rdma_read_bytes", 300, 0),
        ("rdma_read_wr_err", 1, 0),
        ("rdma_read_resp_bytes", 0, 300),
        ("rdma_write_wrs", 1, 0),
        ("rdma_write_bytes", 5000, 0),
        ("rdma_write_wr_err", 1, 0),
        ("rdma_write_recv_bytes", 0, 5000),
        ("retrans_pkts", 2, 0),
        ("retrans_bytes", 7 + 9, 0),
        ("unresponsive_remote_events", 1, 0),
        ("submitted_cmds", before.submitted_cmds + 7, before.submitted_cmds),
        ("completed_cmds", before.submitted_cmds + 1, before.submitted_cmds),
        ("cmds_err", 6, 0),
        ("no_completion_cmds", 1, 0),
        ("alloc_pd_err", 1, 0),
        ("create_qp_err", 1, 0),
        ("create_cq_err", 1, 0),
        ("reg_mr_err", 1, 0),
        ("alloc_ucontext_err", 1, 0),
        ("create_ah_err", 1, 0),
    ];
    for (name, a, b) in expected {
        assert_eq!((asked[name], served[name]), (a, b), "{name}");
    }
    let named: Vec<_> = expected.iter().map(|e| e.0).chain(NEVER).collect();
    assert!(Counters::NAMES.iter().all(|name| named.contains(name)), "a counter without a value here");
    assert!(NEVER.iter().all(|name| asked[name] == 0 && served[name] == 0));
}

/// Packets of a WRITE are repeated as the device likes, and all of it when a receiver of immediate data was not ready. What was written counts once.
#[test]
fn a_write_counts_once_however_often_it_is_sent() {
    let mut again = 0;
    for seed in 1..30 {
        let mut w = World::new(&Setup { procs: &[0, 1], seed, ..Setup::default() });
        let mut a = Ep::new(&mut w, 0, Opts::default());
        let mut b = Ep::new(&mut w, 1, Opts::default());
        let ah = a.ah(&mut w, 1);
        b.ah(&mut w, 0);
        for id in 0..8u16 {
            let mut wr = a.wr(2, id, ah, &b, 0, 0x2000, 70_000);
            wr.imm = (id == 7).then_some(7);
            a.post(&mut w, &wr);
        }
        w.wait(20);
        b.recv(&mut w, 1, &[(0, 8)]);
        w.wait(50);
        assert_eq!((a.polls(&mut w).len(), b.polls(&mut w).len()), (8, 1));
        let (asked, served) = (*w.at(0).0.counters(), *w.at(1).0.counters());
        assert_eq!((asked.rdma_write_wrs, asked.rdma_write_bytes), (8, 560_000), "seed {seed}");
        assert_eq!(served.rdma_write_recv_bytes, 560_000, "seed {seed}");
        assert_eq!(asked.tx_bytes, 560_000 + asked.retrans_bytes, "seed {seed}");
        assert_eq!((served.rx_bytes, served.rx_pkts), (asked.tx_bytes, asked.tx_pkts), "seed {seed}");
        assert!(asked.retrans_bytes >= 70_000 && asked.retrans_pkts >= 4, "seed {seed}: the last one was sent again");
        again += u64::from(asked.retrans_bytes % 70_000 != 0);
    }
    assert!(again > 15, "pieces were sent again with {again} of 29 seeds");
}
