// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fabric between real processes: this test binary starts itself, as `helper`, with a role in the environment.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::disallowed_macros)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use softnic::fabric::{Event, Fabric, HostClaim, MAX_PACKET, Place, Sent, Woken, prepare_directory, remove_if_unused};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
const RUN: u64 = 0x1001;

/// A fabric of a test. The tests take turns: several of them use all processors.
struct Scene {
    directory: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

impl Scene {
    fn new() -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let count = COUNT.fetch_add(1, Ordering::SeqCst);
        let directory = PathBuf::from(format!("/dev/shm/softnic-test-fabric-{}-{count}", std::process::id()));
        prepare_directory(&directory).unwrap();
        Self { directory, _turn: turn }
    }

    fn start(&self, role: &str, run: u64, number: usize) -> Helper {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "helper", "--nocapture"])
            .env("FABRIC_ROLE", role)
            .env("FABRIC_DIRECTORY", &self.directory)
            .env("FABRIC_RUN", run.to_string())
            .env("FABRIC_NUMBER", number.to_string())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Helper(child)
    }

    fn join(&self) -> Fabric {
        Fabric::join(&self.directory, RUN, true).unwrap()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// A process that does not outlive the test.
struct Helper(Child);

impl Helper {
    fn succeed(mut self) {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "a helper does not end");
            std::thread::sleep(Duration::from_millis(1));
        };
        assert!(status.success(), "a helper failed: {status}");
    }

    /// Kill -9; stays a zombie until it is dropped.
    fn kill(&mut self) {
        self.0.kill().unwrap();
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "the other processes of the tests, started by them"]
fn helper() {
    let Ok(role) = std::env::var("FABRIC_ROLE") else {
        eprintln!("skipped: helper does something only for the other tests, which start it");
        return;
    };
    let directory = PathBuf::from(std::env::var("FABRIC_DIRECTORY").unwrap());
    let [run, number] = ["FABRIC_RUN", "FABRIC_NUMBER"].map(|name| std::env::var(name).unwrap().parse().unwrap());
    match role.as_str() {
        "everybody" => everybody(&directory, run, number as usize),
        "echo" => echo(&directory, run, number == 1),
        "flood" => flood(&directory, run),
        "guest" => guest(&directory, run),
        "parting" => parting(&directory, run, number == 1),
        "churn" => churn(&directory, run),
        "exec" => exec(&directory, run, number),
        "narrow" => narrow(&directory, run),
        "sink" => sink(&directory, run, number as usize),
        other => panic!("no role {other}"),
    }
}

/// Sleeps until there is something to do; a peer that never does anything fails the test.
fn rest(fabric: &mut Fabric, deadline: Instant) {
    let left = deadline.checked_duration_since(Instant::now()).expect("nothing happened for too long");
    fabric.wait(Some(left.min(Duration::from_millis(100))));
}

fn next_packet(fabric: &mut Fabric) -> (Place, Vec<u8>) {
    let deadline = Instant::now() + PATIENCE;
    let mut packet = Vec::new();
    loop {
        if let Some(from) = fabric.receive(&mut packet) {
            return (from, packet);
        }
        rest(fabric, deadline);
    }
}

fn send(fabric: &mut Fabric, to: Place, packet: &[u8]) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match fabric.send(to, packet) {
            Sent::Ok => return,
            Sent::Full => rest(fabric, deadline),
            other => panic!("{other:?}"),
        }
    }
}

fn first_peer(fabric: &mut Fabric) -> Place {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let [peer, ..] = fabric.peers()[..] {
            return peer.place;
        }
        rest(fabric, deadline);
    }
}

// ---- all to all

const MESSAGES: u32 = 1000;

fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ x >> 32
}

/// The messages of each ordered pair: number, and bytes that depend on the pair and the number; sizes from 4 to the
/// longest, most of them short.
struct Script(Vec<u8>);

impl Script {
    fn new() -> Self {
        Self((0..2 * MAX_PACKET as u64).map(|i| mix(i) as u8).collect())
    }

    fn message(&self, from: Place, to: Place, number: u32) -> (Vec<u8>, &[u8]) {
        let name = |place: Place| u64::from(place.host) << 8 | u64::from(place.slot);
        let random = mix(name(from) << 48 ^ name(to) << 24 ^ u64::from(number));
        let longest = if random.is_multiple_of(8) { MAX_PACKET - 4 } else { 500 };
        let length = (random >> 8) as usize % (longest + 1);
        let start = (random >> 32) as usize % (self.0.len() - length);
        (number.to_le_bytes().to_vec(), &self.0[start..start + length])
    }
}

/// Sends each other process all messages of the script, and wants all of theirs: complete, in order, nothing else.
fn everybody(directory: &Path, run: u64, processes: usize) {
    let mut fabric = Fabric::join(directory, run, false).unwrap();
    let deadline = Instant::now() + PATIENCE;
    while fabric.peers().len() < processes - 1 {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(2));
    }
    let (me, script) = (fabric.place(), Script::new());
    // Place, messages sent, messages received.
    let mut peers: Vec<(Place, u32, u32)> = fabric.peers().iter().map(|peer| (peer.place, 0, 0)).collect();
    let mut packet = Vec::new();
    loop {
        let mut moved = false;
        for (place, sent, _) in &mut peers {
            while *sent < MESSAGES {
                let (head, body) = script.message(me, *place, *sent);
                match fabric.send_parts(*place, &[&head, body]) {
                    Sent::Ok => (*sent, moved) = (*sent + 1, true),
                    Sent::Full => break,
                    other => panic!("{other:?} from {place:?}, {sent} sent"),
                }
            }
        }
        while let Some(from) = fabric.receive(&mut packet) {
            moved = true;
            let (_, _, received) = peers.iter_mut().find(|peer| peer.0 == from).expect("from a peer");
            let (head, body) = script.message(from, me, *received);
            assert_eq!(packet.len(), head.len() + body.len(), "message {received} of {from:?}");
            assert!(packet[..4] == head && packet[4..] == *body, "message {received} of {from:?}");
            *received += 1;
        }
        if peers.iter().all(|(_, sent, received)| (*sent, *received) == (MESSAGES, MESSAGES)) {
            return;
        }
        // Who has got and sent everything may leave; what it sent is in rings that are open here.
        while let Some(Event::Gone(place)) = fabric.next_event() {
            let peer = peers.iter().find(|peer| peer.0 == place).unwrap();
            assert_eq!((peer.1, peer.2), (MESSAGES, MESSAGES), "{place:?} left too early");
        }
        if !moved {
            rest(&mut fabric, deadline);
        }
    }
}

fn all_to_all(runs: &[(u64, usize)]) {
    let scene = Scene::new();
    let hosts: Vec<_> = runs.iter().map(|(run, _)| HostClaim::create(&scene.directory, *run).unwrap()).collect();
    let total = runs.iter().map(|(_, processes)| processes).sum();
    let begin = Instant::now();
    let start = |(run, processes): &(u64, usize)| -> Vec<Helper> {
        (0..*processes).map(|_| scene.start("everybody", *run, total)).collect()
    };
    let helpers: Vec<Helper> = runs.iter().flat_map(start).collect();
    helpers.into_iter().for_each(Helper::succeed);
    println!("{runs:?}: {} messages in {:?}", total * (total - 1) * MESSAGES as usize, begin.elapsed());
    drop(hosts);
    assert!(remove_if_unused(&scene.directory).unwrap());
}

#[test]
fn two_processes_all_to_all() {
    all_to_all(&[(RUN, 2)]);
}

#[test]
fn sixteen_processes_all_to_all() {
    all_to_all(&[(RUN, 16)]);
}

#[test]
fn two_runs_on_one_fabric_all_to_all() {
    all_to_all(&[(RUN, 3), (RUN + 1, 4)]);
}

// ---- death

/// Sends numbered packets to its peer for ever, and never receives.
fn flood(directory: &Path, run: u64) {
    let mut fabric = Fabric::join(directory, run, false).unwrap();
    let peer = first_peer(&mut fabric);
    for number in 0u64.. {
        let mut packet = vec![number as u8; 8 + number as usize % 3000];
        packet[..8].copy_from_slice(&number.to_le_bytes());
        send(&mut fabric, peer, &packet);
    }
}

/// Introduces itself, and wants the answer to that before anything else.
fn guest(directory: &Path, run: u64) {
    let mut fabric = Fabric::join(directory, run, false).unwrap();
    let peer = first_peer(&mut fabric);
    let name = std::process::id().to_le_bytes();
    send(&mut fabric, peer, &name);
    assert_eq!(next_packet(&mut fabric), (peer, name.to_vec()));
}

/// Answers one packet, by the first that it ever sends, and is gone: in order, or without a word.
fn parting(directory: &Path, run: u64, in_order: bool) {
    let mut fabric = Fabric::join(directory, run, false).unwrap();
    let (peer, packet) = next_packet(&mut fabric);
    send(&mut fabric, peer, &packet);
    if !in_order {
        std::process::exit(0);
    }
}

/// A process that looks away meanwhile finds the answer all the same, and only then that its peer has gone.
fn last_word(in_order: bool) {
    let scene = Scene::new();
    let mut fabric = scene.join();
    for round in 0..20u32 {
        let helper = scene.start("parting", RUN, usize::from(in_order));
        let peer = first_peer(&mut fabric);
        send(&mut fabric, peer, &round.to_le_bytes());
        helper.succeed();
        assert_eq!(next_packet(&mut fabric), (peer, round.to_le_bytes().to_vec()));
        assert_eq!(gone(&mut fabric), peer);
    }
    drop(fabric);
    assert!(remove_if_unused(&scene.directory).unwrap());
}

#[test]
fn the_first_and_last_word_of_one_that_leaves_is_heard() {
    last_word(true);
}

#[test]
fn the_first_and_last_word_of_one_that_dies_is_heard() {
    last_word(false);
}

fn gone(fabric: &mut Fabric) -> Place {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(Event::Gone(place)) = fabric.next_event() {
            return place;
        }
        assert_eq!(fabric.receive_with(|from, packet| (from, packet.len())), None);
        rest(fabric, deadline);
    }
}

#[test]
fn kill_9_of_a_peer_is_noticed_and_its_slot_is_used_again() {
    let scene = Scene::new();
    let mut fabric = scene.join();
    let mut victim = scene.start("flood", RUN, 0);
    let (place, _) = next_packet(&mut fabric);
    let mut unread = 0;
    while fabric.send(place, b"nobody reads this") == Sent::Ok && unread < 5000 {
        unread += 1;
    }
    let mut next = 1u64;
    for _ in 0..500 {
        let (_, packet) = next_packet(&mut fabric);
        assert_eq!(packet[..8], next.to_le_bytes());
        next += 1;
    }
    victim.kill();
    let killed = Instant::now();
    // What it had sent comes complete and in order, then the event, once.
    let mut packet = Vec::new();
    let died = loop {
        while fabric.receive(&mut packet).is_some() {
            assert_eq!(packet[..8], next.to_le_bytes());
            assert_eq!(packet[8..], vec![next as u8; next as usize % 3000]);
            next += 1;
        }
        if let Some(Event::Gone(place)) = fabric.next_event() {
            break place;
        }
        assert!(killed.elapsed() < PATIENCE);
        fabric.wait(Some(Duration::from_millis(10)));
    };
    println!("kill -9 noticed after {:?}, {next} packets received", killed.elapsed());
    assert_eq!((died, fabric.next_event()), (place, None));
    assert!(matches!(fabric.send(place, b"x"), Sent::NoSuchProcess));
    // Others come and go, until one has had the dead one's slot.
    let mut places = Vec::new();
    while !places.contains(&place) {
        let guest = scene.start("guest", RUN, 0);
        let (from, name) = next_packet(&mut fabric);
        assert_eq!(name, guest.0.id().to_le_bytes(), "from nobody but the guest");
        assert_eq!(fabric.send(from, &name), Sent::Ok);
        guest.succeed();
        assert_eq!(gone(&mut fabric), from);
        places.push(from);
        assert!(places.len() <= 16, "{place:?} was not used again: {places:?}");
    }
}

/// Joins, sends and leaves for ever.
fn churn(directory: &Path, run: u64) {
    loop {
        let mut fabric = Fabric::join(directory, run, false).unwrap();
        for peer in fabric.peers() {
            let sent = fabric.send(peer.place, b"churn");
            assert!(!matches!(sent, Sent::Failed(_)), "{sent:?}");
        }
        fabric.receive_with(|_, packet| assert_eq!(packet, b"churn"));
    }
}

#[test]
fn processes_killed_at_any_moment_leave_a_fabric_that_works() {
    let scene = Scene::new();
    let mut fabric = scene.join();
    let mut received = 0;
    for round in 0..60u64 {
        let mut helpers: Vec<Helper> = (0..3).map(|_| scene.start("churn", RUN, 0)).collect();
        // They are killed some time after the first of them has been heard.
        let deadline = Instant::now() + PATIENCE;
        let mut until = None;
        while until.is_none_or(|until| Instant::now() < until) {
            assert!(Instant::now() < deadline, "round {round}: nobody got as far as to send");
            while let Some(length) = fabric.receive_with(|_, packet| packet.len()) {
                assert_eq!(length, 5);
                received += 1;
                until = until.or(Some(Instant::now() + Duration::from_micros(mix(round) % 20_000)));
            }
            while fabric.next_event().is_some() {}
            fabric.wait(Some(Duration::from_micros(200)));
        }
        helpers.iter_mut().for_each(Helper::kill);
    }
    println!("{received} packets of processes that were killed");
    while fabric.receive_with(|_, _| ()).is_some() || fabric.next_event().is_some() {}
    // Every slot can be had, and all that are there can be spoken to.
    let mut others: Vec<Fabric> = (0..15).map(|_| Fabric::join(&scene.directory, RUN, false).unwrap()).collect();
    let me = fabric.place();
    for other in &mut others {
        let at = other.place();
        while fabric.receive_with(|_, packet| assert_eq!(packet, b"churn")).is_some() || fabric.next_event().is_some() {
        }
        send(other, me, b"hello");
        let (mut packet, deadline) = (Vec::new(), Instant::now() + PATIENCE);
        let from = loop {
            if let Some(from) = fabric.receive(&mut packet) {
                break from;
            }
            // It may take this knock to notice that the slot's former process is dead, which must be collected first.
            if fabric.next_event().is_none() {
                rest(&mut fabric, deadline);
            }
        };
        assert_eq!((from, &packet[..]), (at, &b"hello"[..]));
        assert_eq!(fabric.send(at, b"welcome"), Sent::Ok);
        assert_eq!(next_packet(other), (me, b"welcome".to_vec()));
    }
    drop((others, fabric));
    let left: Vec<_> = std::fs::read_dir(&scene.directory).unwrap().map(|name| name.unwrap().file_name()).collect();
    let rings = left.iter().filter(|name| name.to_string_lossy().starts_with("ring-")).count();
    assert_eq!(rings, 0, "{left:?}");
}

/// Joins and becomes another program without a word, `left` times; then plays the guest.
fn exec(directory: &Path, run: u64, left: u64) {
    use std::os::unix::process::CommandExt;
    if left == 0 {
        return guest(directory, run);
    }
    let mut fabric = Fabric::join(directory, run, false).unwrap();
    let peer = first_peer(&mut fabric);
    assert_eq!(fabric.send(peer, b"before exec"), Sent::Ok);
    let mut command = Command::new(std::env::current_exe().unwrap());
    let command = command.args(std::env::args_os().skip(1)).env("FABRIC_NUMBER", (left - 1).to_string());
    panic!("{}", command.exec());
}

#[test]
fn what_a_process_held_before_exec_it_takes_back_after() {
    let scene = Scene::new();
    let mut fabric = scene.join();
    // More often than there are slots: they are used again although their owner, by pid and start time, lives.
    let helper = scene.start("exec", RUN, 40);
    loop {
        let (from, packet) = next_packet(&mut fabric);
        while fabric.next_event().is_some() {}
        if packet != b"before exec" {
            send(&mut fabric, from, &packet);
            break;
        }
    }
    helper.succeed();
}

/// Uses a /dev/shm of its own that has no room for a ring, then little.
fn narrow(directory: &Path, run: u64) {
    let mount = |size: &str| {
        let path = std::ffi::CString::new(directory.to_str().unwrap()).unwrap();
        let options = std::ffi::CString::new(format!("mode=0700,size={size}")).unwrap();
        // SAFETY: all strings are terminated and outlive the call; the mount is in this process's own namespace.
        unsafe { libc::mount(c"none".as_ptr(), path.as_ptr(), c"tmpfs".as_ptr(), 0, options.as_ptr().cast()) }
    };
    let private = libc::MS_REC | libc::MS_PRIVATE;
    // SAFETY: as above; null where the kernel ignores the argument.
    let alone = unsafe {
        libc::unshare(libc::CLONE_NEWNS) == 0
            && libc::mount(c"none".as_ptr(), c"/".as_ptr(), std::ptr::null(), private, std::ptr::null()) == 0
    };
    if !alone || mount("100k") != 0 {
        eprintln!("skipped: a small /dev/shm needs the right to mount: {}", std::io::Error::last_os_error());
        return;
    }
    let mut a = Fabric::join(directory, run, true).unwrap();
    let me = a.place();
    assert_eq!(a.send(me, b"x"), Sent::Failed(libc::ENOSPC));
    drop(a);
    assert_eq!(mount("200k"), 0);
    let mut a = Fabric::join(directory, run, true).unwrap();
    let (me, packet) = (a.place(), vec![1u8; MAX_PACKET]);
    for _ in 0..20 {
        assert_eq!(a.send(me, &packet), Sent::Ok, "a smaller ring");
        assert_eq!(next_packet(&mut a), (me, packet.clone()));
    }
}

#[test]
fn a_full_dev_shm_is_an_error_and_not_a_signal() {
    let scene = Scene::new();
    scene.start("narrow", RUN, 0).succeed();
}

// ---- wake-ups and figures

/// Sends everything back; asleep in between, or not.
fn echo(directory: &Path, run: u64, sleeps: bool) {
    let mut fabric = Fabric::join(directory, run, false).unwrap();
    let mut packet = Vec::new();
    let deadline = Instant::now() + PATIENCE;
    while fabric.next_event().is_none() {
        if let Some(from) = fabric.receive(&mut packet) {
            while fabric.send(from, &packet) == Sent::Full {
                std::thread::yield_now();
            }
        } else if sleeps {
            assert!(Instant::now() < deadline);
            fabric.wait(None);
        } else {
            std::thread::yield_now();
        }
    }
}

#[test]
fn no_wake_up_is_lost_in_10_000_rounds() {
    let scene = Scene::new();
    let mut fabric = scene.join();
    let helper = scene.start("echo", RUN, 1);
    let peer = first_peer(&mut fabric);
    let begin = Instant::now();
    for round in 0..10_000u32 {
        assert_eq!(fabric.send(peer, &round.to_le_bytes()), Sent::Ok);
        loop {
            let woken = fabric.wait(Some(Duration::from_secs(20)));
            assert_eq!(woken, Woken::Called, "round {round}: either side slept through a packet");
            if let Some(answer) = fabric.receive_with(|_, packet| packet.to_vec()) {
                assert_eq!(answer, round.to_le_bytes());
                break;
            }
        }
    }
    println!("both asleep between packets: {:.0} round trips per second", 10_000.0 / begin.elapsed().as_secs_f64());
    // Leaving wakes the helper, too, which waits without limit.
    fabric.leave();
    helper.succeed();
}

/// An idle process must not use the processor.
#[test]
fn an_idle_process_uses_no_processor_time() {
    let scene = Scene::new();
    let mut fabric = scene.join();
    let helper = scene.start("echo", RUN, 1);
    let peer = first_peer(&mut fabric);
    assert_eq!(fabric.send(peer, b"x"), Sent::Ok);
    assert_eq!(next_packet(&mut fabric).0, peer);
    let ticks = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", helper.0.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    std::thread::sleep(Duration::from_millis(100));
    let before = ticks();
    std::thread::sleep(Duration::from_secs(1));
    assert!(ticks() - before <= 1, "{} ticks of 10 ms in a second", ticks() - before);
    fabric.leave();
    helper.succeed();
}

/// Receives so many packets of 32 KiB, then answers.
fn sink(directory: &Path, run: u64, count: usize) {
    let mut fabric = Fabric::join(directory, run, false).unwrap();
    let mut copy = vec![0u8; MAX_PACKET];
    let mut peer = None;
    let mut received = 0;
    while received < count {
        let from = fabric.receive_with(|from, packet| {
            copy[..packet.len()].copy_from_slice(packet);
            from
        });
        match from {
            Some(from) => (peer, received) = (Some(from), received + 1),
            None => std::thread::yield_now(),
        }
    }
    send(&mut fabric, peer.unwrap(), b"done");
    while fabric.next_event().is_none() {
        fabric.receive_with(|_, _| ());
        fabric.wait(Some(Duration::from_millis(10)));
    }
}

#[test]
fn figures() {
    let scene = Scene::new();
    let mut fabric = scene.join();
    let (packet, mut answer) = ([3u8; 64], Vec::new());
    let helper = scene.start("echo", RUN, 0);
    let peer = first_peer(&mut fabric);
    let mut rates = BTreeMap::new();
    for rounds in [1000, 50_000] {
        let begin = Instant::now();
        for _ in 0..rounds {
            assert_eq!(fabric.send(peer, &packet), Sent::Ok);
            while fabric.receive(&mut answer).is_none() {
                std::thread::yield_now();
            }
            assert_eq!(answer, packet);
        }
        rates.insert(rounds, f64::from(rounds) / begin.elapsed().as_secs_f64());
    }
    println!("polling, 64 B: {:.0} round trips per second", rates[&50_000]);
    fabric.leave();
    helper.succeed();

    let (mut fabric, count) = (scene.join(), 50_000);
    let helper = scene.start("sink", RUN, count);
    let peer = first_peer(&mut fabric);
    let block = vec![7u8; 32 * 1024];
    let begin = Instant::now();
    let mut full = 0u64;
    for number in 0..count as u64 {
        while fabric.send_parts(peer, &[&number.to_le_bytes(), &block]) == Sent::Full {
            full += 1;
            std::thread::yield_now();
        }
    }
    assert_eq!(next_packet(&mut fabric), (peer, b"done".to_vec()));
    let bytes = (count * block.len()) as f64;
    println!("32 KiB packets: {:.2} GB/s, full {full} times", bytes / begin.elapsed().as_secs_f64() / 1e9);
    fabric.leave();
    helper.succeed();
}
