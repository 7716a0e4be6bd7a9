// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies that fail instead of crashing: one function does them, and a handler of SIGSEGV and SIGBUS knows its instructions. Every other fault goes to
//! the program's own handler, as if softnic's were not there; `sigaction` and `signal` are interposed so that the program sees and sets
//! only that. Where any of it can't be had, the kernel copies (`memory`).

use crate::{glue, real, sys};
use libc::{c_int, c_void, sighandler_t, siginfo_t};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// In which process the handlers are in place; 0: in none.
static IN_PLACE: AtomicU32 = AtomicU32::new(0);

/// What the program wants done, as `sigaction` would store it.
#[derive(Clone, Copy)]
struct Action {
    handler: sighandler_t,
    flags: c_int,
    /// The kernel has 64 signals; glibc's set is larger, and the rest of it unused.
    mask: u64,
}

/// Written by `sigaction`, read by the handler, which may interrupt the writer.
struct Wanted {
    /// Odd while it is being written.
    version: AtomicUsize,
    handler: AtomicUsize,
    flags: AtomicU32,
    mask: AtomicU64,
}

impl Wanted {
    const fn new() -> Wanted {
        Wanted {
            version: AtomicUsize::new(0),
            handler: AtomicUsize::new(libc::SIG_DFL),
            flags: AtomicU32::new(0),
            mask: AtomicU64::new(0),
        }
    }

    fn get(&self) -> Action {
        // A writer that was interrupted by this reader never ends: what is there has to do.
        for _ in 0..1000 {
            let before = self.version.load(Ordering::SeqCst);
            let action = Action {
                handler: self.handler.load(Ordering::SeqCst),
                flags: self.flags.load(Ordering::SeqCst) as c_int,
                mask: self.mask.load(Ordering::SeqCst),
            };
            if before.is_multiple_of(2) && self.version.load(Ordering::SeqCst) == before {
                return action;
            }
        }
        Action { handler: libc::SIG_DFL, flags: 0, mask: 0 }
    }

    fn set(&self, action: Action) {
        self.version.fetch_add(1, Ordering::SeqCst);
        self.handler.store(action.handler, Ordering::SeqCst);
        self.flags.store(action.flags as u32, Ordering::SeqCst);
        self.mask.store(action.mask, Ordering::SeqCst);
        self.version.fetch_add(1, Ordering::SeqCst);
    }
}

static SEGV: Wanted = Wanted::new();
static BUS: Wanted = Wanted::new();

fn wanted(signal: c_int) -> Option<&'static Wanted> {
    match signal {
        libc::SIGSEGV => Some(&SEGV),
        libc::SIGBUS => Some(&BUS),
        _ => None,
    }
}

fn mask_of(set: &libc::sigset_t) -> u64 {
    // SAFETY: glibc's set begins with the kernel's 64 bits.
    unsafe { std::ptr::from_ref(set).cast::<u64>().read() }
}

fn set_of(mask: u64) -> libc::sigset_t {
    // SAFETY: a set is plain bits.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: as in `mask_of`.
    unsafe { std::ptr::from_mut(&mut set).cast::<u64>().write(mask) };
    set
}

const BOTH: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Puts the handlers in place, before the first copy of a process.
pub fn install() {
    static ONCE: AtomicU32 = AtomicU32::new(0);
    if HAS_COPIER && ONCE.swap(1, Ordering::AcqRel) == 0 {
        let done = BOTH.into_iter().all(|signal| in_effect(signal).is_some_and(|now| put(signal, now)));
        IN_PLACE.store(if done { sys::pid() } else { 0 }, Ordering::Release);
    }
}

/// Somebody may have replaced a handler behind the hooks' back, by a raw system call as runtimes make. To put it in front of that again
/// could have the two call each other for ever: from then on the kernel copies.
pub fn look_after() {
    let replaced = |signal| in_effect(signal).is_none_or(|now| now.sa_sigaction != ours());
    if is_in_place() && BOTH.into_iter().any(replaced) {
        IN_PLACE.store(0, Ordering::Release);
    }
}

fn in_effect(signal: c_int) -> Option<libc::sigaction> {
    // SAFETY: plain numbers, for which zero is valid.
    let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: `now` is a live struct.
    (unsafe { real::sigaction(signal, std::ptr::null(), &mut now) } == 0).then_some(now)
}

fn ours() -> sighandler_t {
    on_fault as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as sighandler_t
}

/// Notes what the program wants, and has the kernel call softnic with the same signals blocked.
fn put(signal: c_int, action: libc::sigaction) -> bool {
    let Some(wanted) = wanted(signal) else { return false };
    wanted.set(Action { handler: action.sa_sigaction, flags: action.sa_flags, mask: mask_of(&action.sa_mask) });
    let mut mine = action;
    mine.sa_sigaction = ours();
    mine.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | action.sa_flags & (libc::SA_NODEFER | libc::SA_RESTART);
    // SAFETY: a live struct with a handler that stays as long as the process.
    unsafe { real::sigaction(signal, &mine, std::ptr::null_mut()) == 0 }
}

/// In a vfork child the tables are the parent's.
fn is_in_place() -> bool {
    let process = IN_PLACE.load(Ordering::Acquire);
    process != 0 && process == sys::pid()
}

/// A forked child has the handlers too.
pub fn in_child() {
    if IN_PLACE.load(Ordering::Relaxed) != 0 {
        IN_PLACE.store(sys::pid(), Ordering::Release);
    }
}

/// # Safety
/// As `sigaction` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
    let Some(wanted) = wanted(signal).filter(|_| is_in_place()) else {
        // SAFETY: the caller's arguments.
        return unsafe { real::sigaction(signal, new, old) };
    };
    // SAFETY: null, or the caller's struct; read before `old` is written, which may be the same.
    let new = unsafe { new.as_ref() }.copied();
    let before = wanted.get();
    if let Some(new) = new
        && !put(signal, new)
    {
        return -1;
    }
    // SAFETY: null, or the caller's.
    if let Some(old) = unsafe { old.as_mut() } {
        old.sa_sigaction = before.handler;
        old.sa_flags = before.flags;
        old.sa_mask = set_of(before.mask);
        old.sa_restorer = None;
    }
    0
}

/// `signal` in one of its two meanings.
fn set_simply(signal: c_int, handler: sighandler_t, flags: c_int) -> sighandler_t {
    // SAFETY: plain numbers, for which zero is valid.
    let (mut new, mut old): (libc::sigaction, libc::sigaction) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    new.sa_sigaction = handler;
    new.sa_flags = flags;
    if flags & libc::SA_NODEFER == 0 {
        new.sa_mask = set_of(1 << (signal - 1));
    }
    // SAFETY: live structs; the handler is the caller's.
    if unsafe { sigaction(signal, &new, &mut old) } != 0 { libc::SIG_ERR } else { old.sa_sigaction }
}

/// # Safety
/// As `signal` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn signal(number: c_int, handler: sighandler_t) -> sighandler_t {
    if wanted(number).is_some() && is_in_place() {
        return set_simply(number, handler, libc::SA_RESTART);
    }
    // SAFETY: the caller's arguments.
    unsafe { real::signal(number, handler) }
}

/// # Safety
/// As `__sysv_signal` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sysv_signal(number: c_int, handler: sighandler_t) -> sighandler_t {
    if wanted(number).is_some() && is_in_place() {
        return set_simply(number, handler, libc::SA_RESETHAND | libc::SA_NODEFER);
    }
    // SAFETY: the caller's arguments.
    unsafe { real::__sysv_signal(number, handler) }
}

extern "C" fn on_fault(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    if is_a_copy(context) {
        return;
    }
    let Some(wanted) = wanted(signal) else { return };
    let action = wanted.get();
    // SAFETY: the kernel passes a live record.
    let sent_by_someone = unsafe { (*info).si_code } <= 0;
    match action.handler {
        libc::SIG_IGN if sent_by_someone => {}
        // The instruction faults again when this returns, and then the kernel does what it does by default.
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: plain numbers; zero is the default action.
            let default: libc::sigaction = unsafe { std::mem::zeroed() };
            // SAFETY: a live struct; the system calls touch no other memory.
            unsafe {
                real::sigaction(signal, &default, std::ptr::null_mut());
                if sent_by_someone {
                    libc::syscall(
                        libc::SYS_tgkill,
                        libc::syscall(libc::SYS_getpid),
                        libc::syscall(libc::SYS_gettid),
                        signal,
                    );
                }
            }
        }
        handler => {
            if action.flags & libc::SA_RESETHAND != 0 {
                wanted.set(Action { handler: libc::SIG_DFL, flags: 0, mask: 0 });
            }
            type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);
            // SAFETY: the program gave it as a handler. One that takes the number alone ignores the other two registers.
            let handler: Handler = unsafe { std::mem::transmute::<sighandler_t, Handler>(handler) };
            handler(signal, info, context);
        }
    }
}

/// Copies; false if either side is not there, or not for this. Parts may have been copied then. Overlapping bytes that move up are
/// not for this function.
pub fn copy(from: u64, to: u64, length: usize) -> Option<bool> {
    let process = IN_PLACE.load(Ordering::Relaxed);
    if process == 0 || process != glue::owner() || !faults_get_through() {
        return None;
    }
    // SAFETY: bad addresses fault in the function that `on_fault` knows; good ones are memory that the program has given to
    // the device, or softnic's own.
    Some(unsafe { copier(to as *mut u8, from as *const u8, length) } == 0)
}

/// A thread that blocks the two signals would be killed by a fault. Blocked they are good for nothing else, so they are let through, once for
/// each thread; it would take a raw system call to block them again, or a handler that blocks them and posts requests.
fn faults_get_through() -> bool {
    thread_local! {
        static OPEN: Cell<bool> = const { Cell::new(false) };
    }
    OPEN.get() || {
        OPEN.set(let_faults_through());
        OPEN.get()
    }
}

#[cold]
fn let_faults_through() -> bool {
    let both = set_of(1 << (libc::SIGSEGV - 1) | 1 << (libc::SIGBUS - 1));
    // SAFETY: a live set.
    unsafe { real::pthread_sigmask(libc::SIG_UNBLOCK, &both, std::ptr::null_mut()) == 0 }
}

/// The program's set without the two, where that matters.
fn without_faults(how: c_int, set: *const libc::sigset_t) -> Option<libc::sigset_t> {
    // SAFETY: null, or the caller's set.
    let set = unsafe { set.as_ref() }?;
    let both = 1u64 << (libc::SIGSEGV - 1) | 1u64 << (libc::SIGBUS - 1);
    let blocks = how != libc::SIG_UNBLOCK && mask_of(set) & both != 0;
    (blocks && is_in_place()).then(|| set_of(mask_of(set) & !both))
}

/// # Safety
/// As `pthread_sigmask` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_sigmask(how: c_int, set: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int {
    match without_faults(how, set) {
        // SAFETY: the caller's arguments, but for the two signals.
        Some(other) => unsafe { real::pthread_sigmask(how, &other, old) },
        // SAFETY: the caller's arguments.
        None => unsafe { real::pthread_sigmask(how, set, old) },
    }
}

/// # Safety
/// As `sigprocmask` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigprocmask(how: c_int, set: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int {
    match without_faults(how, set) {
        // SAFETY: the caller's arguments, but for the two signals.
        Some(other) => unsafe { real::sigprocmask(how, &other, old) },
        // SAFETY: the caller's arguments.
        None => unsafe { real::sigprocmask(how, set, old) },
    }
}

#[cfg(target_arch = "x86_64")]
mod machine {
    use super::c_void;

    unsafe extern "C" {
        /// 0 when all is copied. Bytes that overlap may move down.
        #[link_name = "softnic_copier"]
        pub fn copier(to: *mut u8, from: *const u8, length: usize) -> usize;
        /// Where it goes on after a fault. It uses no stack and saves no registers, so that works from any of its instructions.
        fn softnic_copier_failed() -> usize;
    }

    // What is short is copied 16 bytes at a time, the last ones beforehand since the others may overlap them: rep movsb takes 30 cycles to
    // begin.
    core::arch::global_asm!(
        ".text",
        ".p2align 4",
        ".globl softnic_copier",
        ".hidden softnic_copier",
        ".type softnic_copier, @function",
        "softnic_copier:",
        "lea rcx, [rdx - 16]",
        "cmp rcx, 128 - 16",
        "ja 3f",
        "movdqu xmm1, [rsi + rcx]",
        "xor eax, eax",
        "2:",
        "movdqu xmm0, [rsi + rax]",
        "movdqu [rdi + rax], xmm0",
        "add rax, 16",
        "cmp rax, rcx",
        "jb 2b",
        "movdqu [rdi + rcx], xmm1",
        "xor eax, eax",
        "ret",
        "3:",
        "mov rcx, rdx",
        "rep movsb",
        "xor eax, eax",
        "ret",
        ".globl softnic_copier_failed",
        ".hidden softnic_copier_failed",
        ".type softnic_copier_failed, @function",
        "softnic_copier_failed:",
        "mov eax, 1",
        "ret",
    );

    pub const HAS_COPIER: bool = true;

    /// If the fault is one of a copy, lets that go on as failed.
    pub fn is_a_copy(context: *mut c_void) -> bool {
        type Copier = unsafe extern "C" fn(*mut u8, *const u8, usize) -> usize;
        let start = copier as Copier as usize;
        let failed = softnic_copier_failed as unsafe extern "C" fn() -> usize as usize;
        // SAFETY: the kernel passes the interrupted registers to a handler with SA_SIGINFO.
        let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
        match registers.get_mut(libc::REG_RIP as usize) {
            Some(next) if (start..failed).contains(&(*next as usize)) => {
                *next = failed as i64;
                true
            }
            _ => false,
        }
    }
}

/// Elsewhere the kernel copies.
#[cfg(not(target_arch = "x86_64"))]
mod machine {
    use super::c_void;

    pub unsafe extern "C" fn copier(_to: *mut u8, _from: *const u8, _length: usize) -> usize {
        1
    }
    pub const HAS_COPIER: bool = false;
    pub fn is_a_copy(_context: *mut c_void) -> bool {
        false
    }
}

use machine::{HAS_COPIER, copier, is_a_copy};
