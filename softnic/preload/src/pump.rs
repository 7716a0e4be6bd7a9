// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who drives the devices. Normally the program itself, inside libefa's post and poll calls; a thread does it for programs that
//! sleep, are only written to, or use the rings without libefa.

use crate::glue::STATE;
use crate::lock::Guard;
use crate::state::State;
use crate::sys;
use libc::{c_int, c_void, size_t};
use nic::fabric::{Waiter, Woken};
use nic::kind::KINDS;
use nic::model::types::{NEVER, Progress};
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

/// Where the code of the kinds' providers lies.
struct Code {
    start: AtomicUsize,
    size: AtomicUsize,
}
static PROVIDERS: [Code; KINDS.len()] =
    [const { Code { start: AtomicUsize::new(0), size: AtomicUsize::new(0) } }; KINDS.len()];
/// Counts the passes that the program made by itself, those included that were left out.
static PASSES: AtomicU32 = AtomicU32::new(0);
/// The last pass that the program made has left something that should not wait long, as a request that is held back.
static RESTLESS: AtomicBool = AtomicBool::new(false);
/// The last pass of the program has found a CQ armed: it may sleep from now on, and only the thread can receive what wakes it.
static ARMED: AtomicBool = AtomicBool::new(false);
/// The background thread leaves all to the program, for a while in which no packet wakes it.
static NAPPING: AtomicBool = AtomicBool::new(false);
/// The background thread sleeps for longer than a moment.
static ASLEEP: AtomicBool = AtomicBool::new(false);
/// Passes in vain, a few microseconds.
const YIELD_AFTER: u32 = 32;
static THREAD: AtomicBool = AtomicBool::new(false);

/// Some CQ has a channel. The doorbell of such a one is to be looked at before each poll, which may overwrite an "arm": a pass is not
/// left out then because another thread is at it.
pub static EVENTS: AtomicBool = AtomicBool::new(false);

/// A trace is written, in which each ring of a doorbell is to be a line of its own: no pass after a post is left out then either.
pub static TRACING: AtomicBool = AtomicBool::new(false);

/// Waits for the lock, but not for a pass that this very thread makes: a signal's handler may have come here.
fn insist() -> Option<Guard<'static, Option<Box<State>>>> {
    STATE.try_lock().or_else(|| (!STATE.is_mine()).then(|| STATE.lock()))
}

/// A spin lock is about to be taken (`before`) or was left by code at `caller`.
#[inline(always)]
pub fn inline(caller: usize, before: bool) {
    let is_provider =
        |code: &Code| caller.wrapping_sub(code.start.load(Ordering::Relaxed)) < code.size.load(Ordering::Relaxed);
    if !PROVIDERS.iter().any(is_provider) {
        return;
    }
    PASSES.store(PASSES.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    let events = EVENTS.load(Ordering::Relaxed);
    // Only a packet can be new since the pass after the last lock, and the one after this lock looks for that. But what is held back
    // counts passes.
    if before && !events && !RESTLESS.load(Ordering::Relaxed) {
        return;
    }
    drive(if before { events } else { TRACING.load(Ordering::Relaxed) });
}

/// How often the program was about to take a lock of its provider, or had left one.
pub fn passes() -> u32 {
    PASSES.load(Ordering::Relaxed)
}

/// Does the work of a pass.
#[inline(never)]
fn drive(insisting: bool) {
    let guard = if insisting { insist() } else { STATE.try_lock() };
    let Some(mut guard) = guard else { return };
    let Some(state) = guard.as_mut() else { return };
    // Most passes find nothing, and nothing new for the thread.
    let quiet = state.is_quiet();
    if quiet && state.has_left(ARMED.load(Ordering::Relaxed), RESTLESS.load(Ordering::Relaxed)) {
        drop(guard);
        return let_others_run(false);
    }
    let errno = sys::errno();
    let mut left = state.left();
    if !quiet {
        left = Progress { busy: true, ..Progress::default() };
        pass(|| left = state.step());
    }
    drop(guard);
    RESTLESS.store(left.restless, Ordering::Relaxed);
    if left.armed != ARMED.load(Ordering::Relaxed) {
        ARMED.store(left.armed, Ordering::SeqCst);
        if left.armed && NAPPING.load(Ordering::SeqCst) {
            rouse();
        }
    }
    // The program may do something else now.
    if (left.busy || left.wake_at_ms != NEVER) && ASLEEP.load(Ordering::SeqCst) {
        look_soon();
    }
    let_others_run(left.busy);
    sys::set_errno(errno);
}

/// A program that polls in vain keeps a core from the peer that it waits for, when there are fewer cores than programs.
fn let_others_run(busy: bool) {
    static IDLE: AtomicU32 = AtomicU32::new(0);
    let idle = if busy { 0 } else { IDLE.load(Ordering::Relaxed).wrapping_add(1) };
    IDLE.store(idle, Ordering::Relaxed);
    if idle % YIELD_AFTER == YIELD_AFTER - 1 {
        std::thread::yield_now();
    }
}

fn pass(work: impl FnOnce()) {
    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err() {
        sys::say_once(
            6,
            format_args!("internal error while executing requests; please report it with the output of --trace"),
        );
    }
}

/// Looks for the providers among the loaded objects. Linked statically none is found, and the thread does all.
pub fn find_provider() {
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: size_t, _data: *mut c_void) -> c_int {
        // SAFETY: the loader passes a live record.
        let info = unsafe { &*info };
        if info.dlpi_name.is_null() {
            return 0;
        }
        // SAFETY: a C string of the loader.
        let path = unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes();
        let file = path.rsplit(|b| *b == b'/').next().unwrap_or(path);
        let kind = KINDS.iter().position(|kind| file.starts_with(kind.provider().as_bytes()));
        let Some(place) = kind.and_then(|kind| PROVIDERS.get(kind)).filter(|_| !info.dlpi_phdr.is_null()) else {
            return 0;
        };
        // SAFETY: the loader says how many headers there are.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        if let Some(code) = headers.iter().find(|h| h.p_type == libc::PT_LOAD && h.p_flags & libc::PF_X != 0) {
            place.start.store((info.dlpi_addr + code.p_vaddr) as usize, Ordering::Relaxed);
            place.size.store(code.p_memsz as usize, Ordering::Relaxed);
        }
        0
    }
    // SAFETY: the callback keeps nothing that it is shown.
    unsafe { libc::dl_iterate_phdr(Some(visit), std::ptr::null_mut()) };
}

static WAITER: crate::lock::Lock<Option<Waiter>> = crate::lock::Lock::new(None);

pub fn start_thread(waiter: Waiter) {
    *WAITER.lock() = Some(waiter.clone());
    if THREAD.swap(true, Ordering::AcqRel) {
        return;
    }
    // The program's signals are for the program's threads.
    // SAFETY: both sets are live; the mask of this thread is put back.
    let started = unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let started = std::thread::Builder::new().name("softnic".into()).spawn(move || work(&waiter));
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        started
    };
    if let Err(error) = started {
        THREAD.store(false, Ordering::Release);
        sys::say_once(7, format_args!("no background thread ({error}): progress only inside post and poll calls"));
    }
}

/// The thread's sleep may be longer than what just happened allows.
pub fn look_soon() {
    if let Some(waiter) = WAITER.try_lock().as_ref().and_then(|w| w.as_ref()) {
        waiter.wake();
    }
}

/// The program will not receive by itself any more.
fn rouse() {
    if let Some(waiter) = WAITER.try_lock().as_ref().and_then(|w| w.as_ref()) {
        waiter.rouse();
    }
}

pub fn in_child() {
    THREAD.store(false, Ordering::Release);
    WAITER.release_in_child();
    // The waiter's memory is the parent's: forgotten, not dropped.
    std::mem::forget(WAITER.lock().take());
}

/// While the program makes progress itself, the thread only looks now and then whether that is still so.
const APP_IS_ACTIVE: Duration = Duration::from_millis(1);
const APP_LEFT_SOMETHING: Duration = Duration::from_micros(200);
/// Rings and doorbells of programs that bypass libefa can only be looked at. The longest pause between two looks, for a program
/// that was never seen inside libefa, and for one that was. Packets and timers end a pause early.
const LONGEST_BYPASS_US: u64 = 20_000;
const LONGEST_US: u64 = 100_000;
/// And for one that has rung without libefa just now: whoever does may do it again.
const LONGEST_AFTER_BYPASS_US: u64 = 500;
const JUST_NOW_MS: u64 = 1000;
const SPINS: u32 = 50;
/// What an armed CQ waits for wakes the thread, and who armed it may have become busy elsewhere.
const SPINS_FOR_EVENTS: u32 = 2;
/// Between two looks whether the lock is free.
const WHILE_LOCKED: Duration = Duration::from_micros(200);

/// A command may hold the state for long (to touch all of a large region): peers must not take that for a standstill.
fn lock(waiter: &Waiter) -> Guard<'static, Option<Box<State>>> {
    loop {
        if let Some(guard) = STATE.try_lock() {
            return guard;
        }
        waiter.beat();
        std::thread::sleep(WHILE_LOCKED);
    }
}

fn work(waiter: &Waiter) {
    let mut passes = PASSES.load(Ordering::Relaxed);
    let mut pause_us: u64 = 50;
    let (mut idle, mut spins) = (0u32, SPINS);
    let mut bypassed_ms: Option<u64> = None;
    loop {
        let now = PASSES.load(Ordering::Relaxed);
        if now != passes {
            ASLEEP.store(false, Ordering::SeqCst);
            passes = now;
            (pause_us, idle) = (50, 0);
            let time = if RESTLESS.load(Ordering::Relaxed) { APP_LEFT_SOMETHING } else { APP_IS_ACTIVE };
            NAPPING.store(true, Ordering::SeqCst);
            waiter.nap(time, || ARMED.load(Ordering::SeqCst));
            NAPPING.store(false, Ordering::SeqCst);
            if !ARMED.load(Ordering::SeqCst) {
                continue;
            }
        }
        ASLEEP.store(true, Ordering::SeqCst);
        // Only before a sleep: senders make a system call for each packet while it is announced.
        let sleep = (idle + 1 >= spins).then(|| waiter.announce());
        let mut progress: Option<Progress> = None;
        let mut rung = false;
        let mut guard = lock(waiter);
        if let Some(state) = guard.as_mut() {
            pass(|| {
                progress = Some(state.step());
                rung = state.was_rung();
                state.count(false);
            });
        }
        drop(guard);
        let progress = progress.unwrap_or_default();
        if rung && PASSES.load(Ordering::Relaxed) == passes {
            bypassed_ms = Some(sys::now_ms());
        }
        if progress.busy {
            (pause_us, idle) = (50, 0);
            continue;
        }
        idle += 1;
        spins = if progress.armed { SPINS_FOR_EVENTS } else { SPINS };
        let Some(sleep) = sleep.filter(|_| idle >= spins) else {
            std::thread::yield_now();
            continue;
        };
        let timer_us = match progress.wake_at_ms {
            NEVER => u64::MAX,
            at => at.saturating_sub(sys::now_ms()).max(1) * 1000,
        };
        let pause = Duration::from_micros(pause_us.min(timer_us));
        if sleep.wait(Some(pause)) == Woken::Closed {
            std::thread::sleep(pause);
        }
        if bypassed_ms.is_some_and(|then| sys::now_ms() - then >= JUST_NOW_MS) {
            bypassed_ms = None;
        }
        let longest = match (bypassed_ms, passes) {
            (Some(_), _) => LONGEST_AFTER_BYPASS_US,
            (None, 0) => LONGEST_BYPASS_US,
            (None, _) => LONGEST_US,
        };
        pause_us = (pause_us * 2).min(longest);
    }
}
