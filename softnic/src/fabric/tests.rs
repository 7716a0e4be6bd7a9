// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests of claims, within one process and with forked children that stop half-way.

use super::owner::Owner;
use super::registry::{LIVE, Registry};
use super::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// A fabric directory of a test, removed at its end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("/dev/shm/softnic-test-{}-{}", std::process::id(), COUNT.fetch_add(1, SeqCst));
        prepare_directory(Path::new(&name)).unwrap();
        Self(name.into())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn rings(scratch: &Scratch) -> usize {
    let names = std::fs::read_dir(scratch.path()).unwrap();
    names.filter(|name| name.as_ref().unwrap().file_name().to_string_lossy().starts_with("ring-")).count()
}

fn receive(fabric: &mut Fabric) -> Option<(Place, Vec<u8>)> {
    let mut packet = Vec::new();
    let from = fabric.receive(&mut packet)?;
    Some((from, packet))
}

/// Runs `child` in a forked child that then dies of SIGKILL.
fn in_killed_child(child: impl FnOnce()) {
    // SAFETY: the child runs `child` and kills itself; it returns to nothing of the parent's.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        let signal = match std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)) {
            Ok(()) => libc::SIGKILL,
            Err(_) => libc::SIGABRT,
        };
        // SAFETY: ends the child at once.
        unsafe { libc::kill(libc::getpid(), signal) };
    }
    let mut status = 0;
    // SAFETY: `status` is a valid place.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    assert_eq!(libc::WTERMSIG(status), libc::SIGKILL, "the child did not get as far as its end: status {status:#x}");
}

#[test]
fn two_places_exchange_packets_and_learn_that_one_left() {
    let scratch = Scratch::new();
    let mut a = Fabric::join(scratch.path(), 1, true).unwrap();
    let mut b = Fabric::join(scratch.path(), 1, false).unwrap();
    assert_eq!((a.place().slot, b.place().slot, a.place().host), (0, 1, b.place().host));
    assert_eq!(a.peers(), [PeerInfo { place: b.place(), pid: std::process::id() }]);
    assert_eq!(a.send(b.place(), b"one"), Sent::Ok);
    assert_eq!(a.send_parts(b.place(), &[b"tw", b"", b"o"]), Sent::Ok);
    assert_eq!(b.send(a.place(), b""), Sent::Ok);
    assert_eq!(a.send(b.place(), &vec![0; MAX_PACKET + 1]), Sent::Failed(libc::EMSGSIZE));
    let (at, bt) = (a.place(), b.place());
    assert_eq!(receive(&mut b), Some((at, b"one".to_vec())));
    assert_eq!(receive(&mut a), Some((bt, Vec::new())));
    assert_eq!(rings(&scratch), 2);
    assert_eq!(a.send(bt, b"three"), Sent::Ok);
    a.leave();
    assert_eq!(b.send(at, b"?"), Sent::Dead);
    assert_eq!(b.next_event(), None, "there are packets left");
    assert_eq!(receive(&mut b), Some((at, b"two".to_vec())));
    assert_eq!(receive(&mut b), Some((at, b"three".to_vec())));
    assert_eq!(receive(&mut b), None);
    assert_eq!(b.send(at, b"?"), Sent::Dead, "until the event is collected");
    assert_eq!(b.next_event(), Some(Event::Gone(at)));
    assert_eq!(b.next_event(), None);
    assert_eq!(b.send(at, b"?"), Sent::NoSuchProcess);
    assert_eq!(rings(&scratch), 0);
}

/// Takes the next packet and says so, with a receipt or without.
fn take(fabric: &mut Fabric, receipt: bool) {
    let loan = fabric.borrow().unwrap();
    fabric.give_back(loan, receipt);
}

fn write_x(room: &mut [u8]) -> bool {
    room.fill(b'x');
    true
}

#[test]
fn receipts_are_heard_and_those_of_one_that_left_before_its_event() {
    let scratch = Scratch::new();
    let mut a = Fabric::join(scratch.path(), 1, true).unwrap();
    let mut b = Fabric::join(scratch.path(), 1, false).unwrap();
    let bt = b.place();
    for number in 1..=4 {
        assert_eq!(a.send_for_receipt(bt, (7, number), 100, write_x), Sent::Ok);
    }
    assert!(!a.has_packets() && a.next_receipt().is_none());
    take(&mut b, true);
    take(&mut b, false);
    assert!(a.has_packets() && a.has_work());
    assert_eq!((a.next_receipt(), a.next_receipt()), (Some((7, 1)), None));
    take(&mut b, true);
    b.leave();
    assert_eq!(a.send(bt, b"?"), Sent::Dead);
    assert!(a.has_packets());
    assert_eq!((a.next_receipt(), a.next_receipt()), (Some((7, 3)), None), "the last was never taken");
    assert_eq!(a.next_event(), Some(Event::Gone(bt)));
}

/// What `a` does must wake `b`, which sleeps for much longer than a test lasts.
fn wakes(act: impl FnOnce(&mut Fabric, Place), before: impl FnOnce(&mut Fabric, &mut Fabric)) {
    let scratch = Scratch::new();
    let mut a = Fabric::join(scratch.path(), 1, true).unwrap();
    let mut b = Fabric::join(scratch.path(), 1, false).unwrap();
    before(&mut a, &mut b);
    let bt = b.place();
    let asleep = std::thread::spawn(move || (b.wait(Some(Duration::from_secs(60))), b));
    let registry = Registry::open(scratch.path()).unwrap();
    let entry = registry.process(bt.index().unwrap()).unwrap();
    while entry.sleeping.load(SeqCst) == 0 {
        std::thread::yield_now();
    }
    act(&mut a, bt);
    assert_eq!(asleep.join().unwrap().0, Woken::Called);
}

#[test]
fn calls_that_are_held_come_at_last_and_long_packets_at_once() {
    let send = |a: &mut Fabric, to, length| assert_eq!(a.send(to, &vec![1; length]), Sent::Ok);
    wakes(|a, to| send(a, to, 1), |_, _| ());
    wakes(
        |a, to| {
            a.hold_calls();
            send(a, to, 1);
            a.call();
        },
        |_, _| (),
    );
    wakes(
        |a, to| {
            a.hold_calls();
            send(a, to, MAX_PACKET);
        },
        |_, _| (),
    );
    // `b` waits for a receipt.
    wakes(
        |a, _| {
            a.hold_calls();
            take(a, true);
            a.call();
        },
        |a, b| assert_eq!(b.send_for_receipt(a.place(), (0, 1), 8, write_x), Sent::Ok),
    );
}

#[test]
fn addresses_that_name_nobody() {
    let scratch = Scratch::new();
    let mut a = Fabric::join(scratch.path(), 1, true).unwrap();
    let Place { host, .. } = a.place();
    assert_eq!(a.send(Place { host, slot: 9 }, b"x"), Sent::NoSuchProcess);
    assert_eq!(a.send(Place { host, slot: 16 }, b"x"), Sent::NoSuchProcess);
    assert_eq!(a.send(Place { host: host + 1, slot: 0 }, b"x"), Sent::NoSuchHost);
    assert_eq!(a.send(Place { host: host + 16, slot: 0 }, b"x"), Sent::NoSuchHost, "another generation");
    assert!(!a.is_alive(Place { host, slot: 9 }) && a.is_alive(a.place()));
    let me = a.place();
    assert_eq!(a.send(me, b"self"), Sent::Ok);
    assert_eq!(receive(&mut a), Some((me, b"self".to_vec())));
}

#[test]
fn joining_is_bounded_and_says_so() {
    let scratch = Scratch::new();
    let error = Fabric::join(scratch.path(), 7, false).err().unwrap();
    assert_eq!((error.errno, error.message.contains("run 0x7 has no host")), (libc::ENOENT, true), "{error}");
    let all: Vec<Fabric> = (0..SLOTS).map(|_| Fabric::join(scratch.path(), 7, true).unwrap()).collect();
    let error = Fabric::join(scratch.path(), 7, false).err().unwrap();
    assert_eq!((error.errno, error.message.contains("16 processes")), (libc::ENOSPC, true), "{error}");
    drop(all);
    let hosts: Vec<HostClaim> = (1..=16).map(|run| HostClaim::create(scratch.path(), run).unwrap()).collect();
    let error = HostClaim::create(scratch.path(), 17).err().unwrap();
    assert_eq!((error.errno, error.message.contains("16 hosts")), (libc::ENOSPC, true), "{error}");
    let ids: std::collections::BTreeSet<u16> = hosts.iter().map(HostClaim::id).collect();
    assert_eq!(ids.len(), 16);
    drop(hosts);
    let again = HostClaim::create(scratch.path(), 18).unwrap();
    assert!(!ids.contains(&again.id()), "an id is not used again at once");
}

#[test]
fn a_host_outlives_its_claim_while_a_process_is_in_it() {
    let scratch = Scratch::new();
    let claim = HostClaim::create(scratch.path(), 5).unwrap();
    let a = Fabric::join(scratch.path(), 5, false).unwrap();
    let id = claim.id();
    drop(claim);
    let b = Fabric::join(scratch.path(), 5, false).unwrap();
    assert_eq!((a.place().host, b.place().host), (id, id));
    assert!(!remove_if_unused(scratch.path()).unwrap());
    let others: Vec<_> = (6..21).map(|run| HostClaim::create(scratch.path(), run).unwrap()).collect();
    assert!(HostClaim::create(scratch.path(), 21).is_err());
    drop((a, b));
    assert_eq!(HostClaim::create(scratch.path(), 21).unwrap().id() & 15, id & 15);
    drop(others);
    assert!(remove_if_unused(scratch.path()).unwrap());
    assert!(!scratch.path().exists());
    assert!(!remove_if_unused(scratch.path()).unwrap());
}

#[test]
fn two_runs_on_one_fabric() {
    let scratch = Scratch::new();
    let mut a = Fabric::join(scratch.path(), 1, true).unwrap();
    let mut b = Fabric::join(scratch.path(), 2, true).unwrap();
    let (at, bt) = (a.place(), b.place());
    assert!(at.host != bt.host && at.slot == bt.slot);
    assert_eq!(a.send(bt, b"over"), Sent::Ok);
    assert_eq!(receive(&mut b), Some((at, b"over".to_vec())));
    drop(b);
    assert!(a.has_work(), "b told that it leaves");
    // A run that takes the place of the other is not spoken to under the other's address.
    let mut c = Fabric::join(scratch.path(), 3, true).unwrap();
    assert_eq!(c.place().host & 15, bt.host & 15);
    assert!(matches!(a.send(bt, b"late"), Sent::Dead));
    assert_eq!(a.next_event(), Some(Event::Gone(bt)));
    assert_eq!(a.send(bt, b"late"), Sent::NoSuchHost);
    assert_eq!(a.send(c.place(), b"new"), Sent::Ok);
    assert_eq!(a.send(bt, b"late"), Sent::NoSuchHost, "its successor has a ring");
    assert_eq!(receive(&mut c), Some((at, b"new".to_vec())));
    assert_eq!(receive(&mut c), None);
}

#[test]
fn a_successor_in_the_slot_is_not_taken_for_the_dead() {
    let scratch = Scratch::new();
    let _host = HostClaim::create(scratch.path(), 1).unwrap();
    let mut a = Fabric::join(scratch.path(), 1, false).unwrap();
    let at = a.place();
    for round in 0..3 * SLOTS {
        let mut b = Fabric::join(scratch.path(), 1, false).unwrap();
        let bt = b.place();
        assert_eq!(b.send(at, &[round as u8]), Sent::Ok);
        assert_eq!(a.send(bt, b"never read"), Sent::Ok);
        drop(b);
        // Takes the same slot at once, and sends before `a` has looked.
        Registry::open(scratch.path()).unwrap().host(0).unwrap().next_slot.store(bt.slot.into(), SeqCst);
        let mut c = Fabric::join(scratch.path(), 1, false).unwrap();
        assert_eq!(c.place(), bt);
        assert_eq!(c.send(at, b"from c"), Sent::Ok);
        assert_eq!(receive(&mut c), None, "what was meant for its predecessor");
        assert_eq!(a.send(bt, b"for c?"), Sent::Dead);
        while let Some((from, packet)) = receive(&mut a) {
            assert_eq!((from, packet), (bt, vec![round as u8]), "the old first, nothing of the new before the event");
        }
        assert_eq!(a.next_event(), Some(Event::Gone(bt)));
        assert_eq!(receive(&mut a), Some((bt, b"from c".to_vec())));
        assert_eq!(a.send(bt, b"for c"), Sent::Ok);
        assert_eq!(receive(&mut c), Some((at, b"for c".to_vec())));
        drop(c);
        while a.next_event().is_none() {
            assert_eq!(receive(&mut a), None);
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    assert_eq!(rings(&scratch), 0);
}

#[test]
fn a_full_ring_drains_and_wakes_the_writer() {
    let scratch = Scratch::new();
    let mut a = Fabric::join(scratch.path(), 1, true).unwrap();
    let mut b = Fabric::join(scratch.path(), 1, false).unwrap();
    let packet = vec![9u8; 32 * 1024];
    let mut sent = 0;
    while a.send(b.place(), &packet) == Sent::Ok {
        sent += 1;
    }
    assert!(sent > 3 && sent < 80, "{sent}");
    assert_eq!(a.send(b.place(), &packet), Sent::Full);
    assert!(!a.has_work());
    assert_eq!(a.wait(Some(Duration::from_millis(20))), Woken::TimedOut);
    let drained = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        (0..sent).for_each(|_| assert_eq!(receive(&mut b).unwrap().1.len(), 32 * 1024));
        assert_eq!(receive(&mut b), None);
        b
    });
    assert_eq!(a.wait(Some(Duration::from_secs(20))), Woken::Called);
    let b = drained.join().unwrap();
    assert_eq!(a.send(b.place(), &packet), Sent::Ok);
}

#[test]
fn a_process_killed_while_it_claims_leaves_nothing_behind() {
    let scratch = Scratch::new();
    let _host = HostClaim::create(scratch.path(), 1).unwrap();
    for round in 0..2 * SLOTS {
        // Each step that a claim has: owner only, then all but live, then live with a half-made ring.
        in_killed_child(|| {
            let registry = Registry::open(scratch.path()).unwrap();
            let entry = registry.process(round % SLOTS).unwrap();
            match round % 3 {
                0 => entry.owner.store(Owner::this().0, SeqCst),
                1 => assert!(entry.claim(Owner::this())),
                _ => {
                    assert!(entry.claim(Owner::this()));
                    entry.state.store(LIVE, SeqCst);
                    entry.sleeping.store(3, SeqCst);
                    entry.knock(77);
                    std::fs::write(scratch.path().join(format!("ring-{:02x}.00000001-50.00000001", round % SLOTS)), [])
                        .unwrap();
                }
            }
        });
    }
    let mut all: Vec<Fabric> = (0..SLOTS).map(|_| Fabric::join(scratch.path(), 1, false).unwrap()).collect();
    let places: Vec<Place> = all.iter().map(Fabric::place).collect();
    for from in 0..SLOTS {
        assert_eq!(all[from].send(places[(from + 1) % SLOTS], &[from as u8]), Sent::Ok);
    }
    for (to, fabric) in all.iter_mut().enumerate() {
        let from = (to + SLOTS - 1) % SLOTS;
        assert_eq!(receive(fabric), Some((places[from], vec![from as u8])));
        assert_eq!(receive(fabric), None);
    }
    assert_eq!(rings(&scratch), SLOTS);
}

#[test]
fn a_runner_killed_while_it_claims_a_host_leaves_it_free() {
    let scratch = Scratch::new();
    drop(Registry::open(scratch.path()).unwrap());
    for index in 0..HOSTS {
        in_killed_child(|| {
            let registry = Registry::open(scratch.path()).unwrap();
            let host = registry.host(index).unwrap();
            host.owner.store(Owner::this().0, SeqCst);
            if index % 2 == 0 {
                host.generation.store(1, SeqCst);
                host.run_id.store(100 + index as u64, SeqCst);
            }
        });
    }
    let all: Vec<_> = (0..HOSTS).map(|i| HostClaim::create(scratch.path(), 1 + i as u64).unwrap()).collect();
    assert!(all.iter().all(|claim| claim.registry().host_id(usize::from(claim.id() & 15)) == Some(claim.id())));
}

#[test]
fn a_remover_that_died_does_not_close_the_fabric() {
    let scratch = Scratch::new();
    drop(Registry::open(scratch.path()).unwrap());
    in_killed_child(|| assert!(Registry::open(scratch.path()).unwrap().close_if_unused()));
    let a = Fabric::join(scratch.path(), 1, true).unwrap();
    assert!(!remove_if_unused(scratch.path()).unwrap());
    drop(a);
    assert!(remove_if_unused(scratch.path()).unwrap());
}

#[test]
fn a_child_disowns_and_the_parent_goes_on() {
    let scratch = Scratch::new();
    let mut a = Fabric::join(scratch.path(), 1, true).unwrap();
    let mut b = Fabric::join(scratch.path(), 1, false).unwrap();
    let (at, bt) = (a.place(), b.place());
    assert_eq!(a.send(bt, b"before"), Sent::Ok);
    assert_eq!(b.send(at, b"before"), Sent::Ok);
    let waiter = a.waiter();
    in_killed_child(|| {
        a.disown_in_child();
        assert_eq!(a.send(bt, b"child"), Sent::NoSuchProcess);
        assert_eq!(receive(&mut a), None);
        assert_eq!(a.next_event(), None);
        assert!(!a.has_work() && a.peers().is_empty() && !a.is_alive(bt));
        waiter.wake();
        assert_eq!(waiter.announce().wait(None), Woken::Closed);
        assert_eq!(a.wait(None), Woken::Closed);
        // The child may have a place of its own.
        let mut own = Fabric::join(scratch.path(), 1, false).unwrap();
        assert_eq!(own.send(bt, b"own"), Sent::Ok);
        drop(own);
    });
    assert_eq!(receive(&mut b).unwrap(), (at, b"before".to_vec()));
    assert_eq!(receive(&mut a), Some((bt, b"before".to_vec())));
    assert_eq!(a.send(bt, b"after"), Sent::Ok);
    assert_eq!(receive(&mut b), Some((at, b"after".to_vec())));
}

#[test]
fn a_process_is_gone_before_exec_and_new_after_one_that_failed() {
    for looked in [true, false] {
        let scratch = Scratch::new();
        let mut a = Fabric::join(scratch.path(), 1, true).unwrap();
        let mut b = Fabric::join(scratch.path(), 1, false).unwrap();
        let (at, bt) = (a.place(), b.place());
        assert_eq!(b.send(at, b"old"), Sent::Ok);
        assert_eq!(a.send(bt, b"old"), Sent::Ok);
        assert_eq!(receive(&mut b), Some((at, b"old".to_vec())));
        a.before_exec();
        if looked {
            assert_eq!(b.send(at, b"x"), Sent::Dead);
            assert_eq!(b.next_event(), Some(Event::Gone(at)));
            assert_eq!(b.send(at, b"x"), Sent::NoSuchProcess);
        }
        a.after_failed_exec();
        assert_eq!(receive(&mut a), None, "what was under way is lost");
        assert_eq!(a.send(bt, b"x"), Sent::Dead);
        assert_eq!((a.next_event(), a.next_event()), (Some(Event::Gone(bt)), None));
        assert_eq!(a.send(bt, b"new"), Sent::Ok);
        if !looked {
            assert_eq!(receive(&mut b), None, "not before the event");
            assert_eq!(b.send(at, b"x"), Sent::Dead);
            assert_eq!(b.next_event(), Some(Event::Gone(at)));
        }
        assert_eq!(receive(&mut b), Some((at, b"new".to_vec())));
        assert_eq!(b.send(at, b"new"), Sent::Ok);
        assert_eq!(receive(&mut a), Some((bt, b"new".to_vec())));
        assert_eq!(rings(&scratch), 2);
    }
}

#[test]
fn directories_of_others_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let mode = |mode| std::fs::set_permissions(scratch.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o770);
    let error = Fabric::join(scratch.path(), 1, true).err().unwrap();
    assert!(error.errno == libc::EPERM && error.message.contains("mode 0770"), "{error}");
    mode(0o700);
    let link = scratch.path().join("link");
    std::os::unix::fs::symlink(scratch.path(), &link).unwrap();
    assert!(prepare_directory(&link).is_err(), "a link is not followed");
    std::fs::write(scratch.path().join("registry"), b"short").unwrap();
    let error = Fabric::join(scratch.path(), 1, true).err().unwrap();
    assert!(error.errno == libc::EPROTO && error.message.contains("has 5 bytes"), "{error}");
    if sys::effective_uid() == 0 {
        std::os::unix::fs::chown(scratch.path(), Some(12345), None).unwrap();
        let error = Fabric::join(scratch.path(), 1, true).err().unwrap();
        assert!(error.errno == libc::EPERM && error.message.contains("uid 12345"), "{error}");
    } else {
        eprintln!("skipped: a directory of another uid can be made by root only");
    }
}

#[test]
fn a_peer_that_stands_still_is_silent_and_one_that_moves_is_not() {
    let scratch = Scratch::new();
    let mut a = Fabric::join(scratch.path(), 1, true).unwrap();
    let mut b = Fabric::join(scratch.path(), 1, false).unwrap();
    assert_eq!(a.send(b.place(), b"one"), Sent::Ok);
    let mut watch = |b: &mut Fabric, looks: u32, pause_ms: u64, moves: bool| {
        let mut found = Vec::new();
        for _ in 0..looks {
            std::thread::sleep(Duration::from_millis(pause_ms));
            if moves {
                receive(b);
            }
            receive(&mut a);
            found.extend(a.silent_peers(3 * LIVENESS_MS));
        }
        found
    };
    assert_eq!(watch(&mut b, 6, LIVENESS_MS + 10, true), []);
    // Two looks with a long time between: who did not watch has seen nothing.
    assert_eq!(watch(&mut b, 1, 10 * LIVENESS_MS, false), []);
    let found = watch(&mut b, 5, LIVENESS_MS + 10, false);
    assert!(!found.is_empty() && found.iter().all(|place| *place == b.place()));
    assert_eq!(watch(&mut b, 4, LIVENESS_MS + 10, true), [], "it has come back");
}

#[test]
fn waiting_ends_with_the_time_with_a_call_and_with_leaving() {
    let scratch = Scratch::new();
    let mut a = Fabric::join(scratch.path(), 1, true).unwrap();
    let start = Instant::now();
    assert_eq!(a.wait(Some(Duration::from_millis(30))), Woken::TimedOut);
    assert!(start.elapsed() >= Duration::from_millis(30));
    let waiter = a.waiter();
    let sleeper = |waiter: Waiter| std::thread::spawn(move || waiter.announce().wait(Some(Duration::from_secs(20))));
    let asleep = |waiter: &Waiter| {
        while waiter.0.entry().is_some_and(|entry| entry.sleeping.load(SeqCst) == 0) {
            std::thread::yield_now();
        }
    };
    let thread = sleeper(waiter.clone());
    asleep(&waiter);
    waiter.wake();
    assert_eq!(thread.join().unwrap(), Woken::Called);
    let thread = sleeper(waiter.clone());
    asleep(&waiter);
    drop(a);
    assert_eq!(thread.join().unwrap(), Woken::Closed);
    assert_eq!(waiter.announce().wait(None), Woken::Closed);
    assert_eq!(waiter.0.registry.process(waiter.0.index).unwrap().sleeping.load(SeqCst), 0);
}
