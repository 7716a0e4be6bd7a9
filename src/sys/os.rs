// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is needed of the operating system, in safe wrappers. `Err` holds an errno above 0.

use core::ffi::{CStr, c_char, c_int};

/// This thread's errno.
#[inline]
pub fn errno() -> i32 {
    // SAFETY: always a valid pointer of this thread's.
    unsafe { *libc::__errno_location() }
}

/// Sets this thread's errno: to 0 before a call that might fail without setting it.
#[inline]
pub fn set_errno(value: i32) {
    // SAFETY: always a valid pointer of this thread's.
    unsafe { *libc::__errno_location() = value }
}

/// Nanoseconds of the monotonic clock, which stands still while the machine sleeps.
pub fn monotonic_ns() -> i64 {
    let mut ts = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid clock and a valid place for the answer, so it can't fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut ts) };
    ts.tv_sec.saturating_mul(1_000_000_000).saturating_add(ts.tv_nsec)
}

/// When `timeout_ns` from now will be over; `None` for a negative one, which never is.
pub fn deadline(timeout_ns: i64) -> Option<i64> {
    (timeout_ns >= 0).then(|| monotonic_ns().saturating_add(timeout_ns))
}

/// Waits until `fd` has something to read: `Ok(true)` when it does, `Ok(false)` at the deadline (`None`: never). An
/// fd that reports an error or a hang-up counts as readable, so that the read that follows can tell which.
pub fn poll_readable(fd: c_int, deadline: Option<i64>) -> Result<bool, i32> {
    let mut entry = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    loop {
        let left = deadline.map(|end| {
            let ns = end.saturating_sub(monotonic_ns()).max(0);
            libc::timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 }
        });
        let timeout = left.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
        // SAFETY: one entry, a timeout that lives through the call or NULL, no signal mask.
        match unsafe { libc::ppoll(&mut entry, 1, timeout, core::ptr::null()) } {
            0 => return Ok(false),
            1.. if entry.revents & libc::POLLNVAL != 0 => return Err(libc::EBADF),
            1.. => return Ok(true),
            _ if errno() == libc::EINTR => {}
            _ => return Err(errno()),
        }
    }
}

/// Makes `fd` non-blocking.
pub fn set_nonblocking(fd: c_int) -> Result<(), i32> {
    // SAFETY: integers only.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    // SAFETY: integers only.
    if flags < 0 || unsafe { libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK) } < 0 {
        return Err(errno());
    }
    Ok(())
}

/// Has an open fd closed on exec.
pub fn set_cloexec(fd: c_int) {
    // SAFETY: integers only. FD_CLOEXEC is the only flag there is, so no other is lost; with an open fd this can't fail.
    unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
}

/// Whether this process may open a device node for reading and writing, which is tried.
pub fn probe_device(path: &CStr) -> Result<(), i32> {
    open(path, libc::O_RDWR).map(close)
}

/// Whether the path is there, whatever it is.
pub fn exists(path: &CStr) -> bool {
    // SAFETY: a NUL-terminated path.
    unsafe { libc::access(path.as_ptr(), libc::F_OK) == 0 }
}

/// The number of a network interface.
pub fn interface_index(name: &CStr) -> Option<u32> {
    // SAFETY: a NUL-terminated name.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    (index != 0).then_some(index)
}

/// What a small file (of sysfs) holds, as far as it fits into `buf`.
pub fn read_file<'a>(path: &CStr, buf: &'a mut [u8]) -> Result<&'a [u8], i32> {
    let fd = open(path, libc::O_RDONLY)?;
    let mut filled = 0;
    let result = loop {
        let Some(room) = buf.get_mut(filled..).filter(|room| !room.is_empty()) else {
            break Ok(());
        };
        // SAFETY: an open fd and a buffer of that length.
        match unsafe { libc::read(fd, room.as_mut_ptr().cast(), room.len()) } {
            0 => break Ok(()),
            got @ 1.. => filled += got.unsigned_abs(),
            _ if errno() == libc::EINTR => {}
            _ => break Err(errno()),
        }
    };
    close(fd);
    result.map(|()| buf.get(..filled).unwrap_or_default())
}

/// What a symbolic link says, as far as it fits into `buf`; `None` if the path is none.
pub fn read_link<'a>(path: &CStr, buf: &'a mut [u8]) -> Option<&'a [u8]> {
    // SAFETY: a NUL-terminated path, and a buffer of that length.
    let length = unsafe { libc::readlink(path.as_ptr(), buf.as_mut_ptr().cast(), buf.len()) };
    usize::try_from(length).ok().and_then(|length| buf.get(..length))
}

/// Shows the entries of a directory, but for those that begin with a dot, until `show` answers no.
pub fn each_entry(path: &CStr, mut show: impl FnMut(&CStr) -> bool) -> Result<(), i32> {
    // SAFETY: a NUL-terminated path.
    let directory = unsafe { libc::opendir(path.as_ptr()) };
    if directory.is_null() {
        return Err(errno());
    }
    let result = loop {
        set_errno(0);
        // SAFETY: an open directory; the entry is used before the next one is read.
        let name = unsafe {
            match libc::readdir(directory).as_ref() {
                None if errno() == 0 => break Ok(()),
                None => break Err(errno()),
                Some(entry) => CStr::from_ptr(entry.d_name.as_ptr()),
            }
        };
        if !name.to_bytes().starts_with(b".") && !show(name) {
            break Ok(());
        }
    };
    // SAFETY: opened above, and not used any more.
    unsafe { libc::closedir(directory) };
    result
}

fn open(path: &CStr, flags: c_int) -> Result<c_int, i32> {
    loop {
        // SAFETY: a NUL-terminated path.
        let fd = unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) };
        if fd >= 0 {
            return Ok(fd);
        }
        if errno() != libc::EINTR {
            return Err(errno());
        }
    }
}

/// A second descriptor for the same open file, closed on exec.
pub fn duplicate(fd: c_int) -> Result<c_int, i32> {
    // SAFETY: integers only.
    match unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) } {
        -1 => Err(errno()),
        new => Ok(new),
    }
}

/// Closes an fd of ours. Linux frees it in any case, so there is nothing to try again.
pub fn close(fd: c_int) {
    // SAFETY: integers only; the caller owns the fd.
    unsafe { libc::close(fd) };
}

/// Bytes per page.
pub fn page_size() -> usize {
    // SAFETY: no arguments that could be wrong.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// How many bytes this process may lock in memory (`ulimit -l`): the soft limit, or `None` if there is none.
pub fn memlock_limit() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a valid resource and a valid place for the answer, so it can't fail.
    unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &mut limit) };
    (limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Bytes of this process's memory that are pinned, by all drivers together; `None` if /proc doesn't tell.
pub fn pinned_memory() -> Option<u64> {
    let mut buffer = [0; 4096];
    let text = read_file(c"/proc/self/status", &mut buffer).ok()?;
    let line = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"VmPin:"))?;
    let number = str::from_utf8(line).ok()?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
    number.checked_mul(1024)
}

/// An environment variable, unless the program runs with more rights than its caller. The text is copied into
/// `buf`; `None` if it is unset, empty or does not fit, since half a path is worse than none.
pub fn secure_env<'a>(name: &CStr, buf: &'a mut [u8]) -> Option<&'a CStr> {
    unsafe extern "C" {
        fn secure_getenv(name: *const c_char) -> *const c_char;
    }
    // SAFETY: a NUL-terminated name; the answer is NULL or a string, and is copied at once.
    let value = unsafe {
        let raw = secure_getenv(name.as_ptr());
        if raw.is_null() {
            return None;
        }
        CStr::from_ptr(raw).to_bytes_with_nul()
    };
    if value.len() <= 1 {
        return None;
    }
    buf.get_mut(..value.len())?.copy_from_slice(value);
    CStr::from_bytes_until_nul(buf).ok()
}

/// A function that runs at a fork.
pub type ForkHandler = unsafe extern "C" fn();

/// Has `before` called before every fork of this process (by `fork`, not by a raw `clone`), and the others after it in the
/// two processes.
///
/// # Safety
/// The handlers stay loaded. `in_child` does only what is allowed after a fork of a threaded process: it allocates
/// nothing and takes no lock that `before` does not hold.
pub unsafe fn at_fork(before: ForkHandler, in_parent: ForkHandler, in_child: ForkHandler) -> Result<(), i32> {
    // SAFETY: the caller vouches for the handlers.
    match unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) } {
        0 => Ok(()),
        errno => Err(errno),
    }
}

/// A number that nobody guesses, from the kernel; from the clock where the kernel has none to give.
pub fn random_u32() -> u32 {
    let mut bytes = [0u8; 4];
    // SAFETY: room for four bytes.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), libc::GRND_NONBLOCK) };
    if got == 4 {
        u32::from_ne_bytes(bytes)
    } else {
        (monotonic_ns() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as u32
    }
}

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
}

/// While it lives, this thread can't be cancelled: cancellation unwinds the stack without running Rust's destructors, so
/// references and locks would stay behind.
pub struct Uncancelled {
    before: c_int,
}

impl Uncancelled {
    pub fn hold() -> Self {
        const PTHREAD_CANCEL_DISABLE: c_int = 1;
        let mut before = 0;
        // SAFETY: a valid state, and a variable for the old one.
        unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut before) };
        Self { before }
    }
}

impl Drop for Uncancelled {
    fn drop(&mut self) {
        let mut disabled = 0;
        // SAFETY: the state that this thread had before.
        unsafe { pthread_setcancelstate(self.before, &mut disabled) };
    }
}

/// Sleeps for that many milliseconds, or until a signal.
pub fn sleep_ms(ms: i32) {
    // SAFETY: no descriptors, so nothing is read or written.
    unsafe { libc::poll(std::ptr::null_mut(), 0, ms) };
}

/// Sleeps for so many nanoseconds, or less if a signal comes.
pub fn sleep_ns(ns: i64) {
    let ns = ns.max(0);
    let time = libc::timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 };
    // SAFETY: the time is ours, and the rest is not asked for.
    unsafe { libc::nanosleep(&time, core::ptr::null_mut()) };
}

/// Lets another thread run.
pub fn yield_now() {
    // SAFETY: always succeeds on Linux.
    unsafe { libc::sched_yield() };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn pipe() -> [c_int; 2] {
        let mut fds = [0; 2];
        // SAFETY: room for two fds.
        assert_eq!(unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) }, 0);
        fds
    }

    #[test]
    fn poll_waits_as_long_as_it_says() {
        let [rx, tx] = pipe();
        let start = monotonic_ns();
        assert_eq!(poll_readable(rx, deadline(0)), Ok(false));
        assert_eq!(poll_readable(rx, deadline(20_000_000)), Ok(false));
        assert!(monotonic_ns() - start >= 20_000_000);
        // SAFETY: one byte.
        assert_eq!(unsafe { libc::write(tx, [1_u8].as_ptr().cast(), 1) }, 1);
        assert_eq!(poll_readable(rx, None), Ok(true));
        close(rx);
        close(tx);
        assert_eq!(poll_readable(1 << 20, None), Err(libc::EBADF));
    }

    #[test]
    fn a_hung_up_pipe_is_readable() {
        let [rx, tx] = pipe();
        close(tx);
        assert_eq!(poll_readable(rx, None), Ok(true));
        close(rx);
    }

    #[test]
    fn poll_outlives_signals() {
        static SIGNALS: AtomicU32 = AtomicU32::new(0);
        extern "C" fn count(_: c_int) {
            SIGNALS.fetch_add(1, Ordering::Relaxed);
        }
        let [rx, tx] = pipe();
        // SAFETY: the handler touches an atomic only; no SA_RESTART, so that poll is really interrupted.
        let me = unsafe {
            let mut action: libc::sigaction = core::mem::zeroed();
            action.sa_sigaction = count as *const () as usize;
            assert_eq!(libc::sigaction(libc::SIGUSR1, &action, core::ptr::null_mut()), 0);
            libc::pthread_self()
        };
        let sender = std::thread::spawn(move || {
            for _ in 0..5 {
                std::thread::sleep(std::time::Duration::from_millis(5));
                // SAFETY: the thread waits for this one below.
                unsafe { libc::pthread_kill(me, libc::SIGUSR1) };
            }
        });
        let start = monotonic_ns();
        assert_eq!(poll_readable(rx, deadline(80_000_000)), Ok(false));
        assert!(monotonic_ns() - start >= 80_000_000);
        sender.join().unwrap();
        assert!(SIGNALS.load(Ordering::Relaxed) > 0);
        close(rx);
        close(tx);
    }

    #[test]
    fn nonblocking() {
        let [rx, tx] = pipe();
        assert_eq!(set_nonblocking(rx), Ok(()));
        // SAFETY: one byte of room.
        assert_eq!(unsafe { libc::read(rx, [0_u8].as_mut_ptr().cast(), 1) }, -1);
        assert_eq!(errno(), libc::EAGAIN);
        close(rx);
        close(tx);
        assert_eq!(set_nonblocking(1 << 20), Err(libc::EBADF));
    }

    #[test]
    fn files() {
        let mut buf = [0; 4096];
        assert!(read_file(c"/proc/self/status", &mut buf).unwrap().starts_with(b"Name:"));
        assert_eq!(read_file(c"/proc/self/status", &mut [0; 3]), Ok(&b"Nam"[..]));
        assert_eq!(read_file(c"/no/such/file", &mut buf), Err(libc::ENOENT));
        assert_eq!(read_file(c"/proc", &mut buf), Err(libc::EISDIR));
        assert!(exists(c"/dev/null") && !exists(c"/no/such/file"));
        assert_eq!(probe_device(c"/dev/null"), Ok(()));
        assert_eq!(probe_device(c"/no/such/file"), Err(libc::ENOENT));
    }

    #[test]
    fn environment() {
        let path = std::env::var("PATH").unwrap();
        let mut buf = [0; 8192];
        assert_eq!(secure_env(c"PATH", &mut buf).unwrap().to_str().unwrap(), path);
        assert_eq!(secure_env(c"PATH", &mut [0; 2]), None);
        assert_eq!(secure_env(c"VBN_NO_SUCH_VARIABLE", &mut buf), None);
        assert!(page_size().is_power_of_two());
        assert_ne!(memlock_limit(), Some(0));
        assert!(pinned_memory().is_some_and(|pinned| pinned % 1024 == 0));
    }

    #[test]
    fn a_forked_child_is_told() {
        static FORKED: AtomicU32 = AtomicU32::new(0);
        unsafe extern "C" fn before() {}
        unsafe extern "C" fn child() {
            FORKED.store(1, Ordering::Relaxed);
        }
        // SAFETY: the handlers touch an atomic only.
        assert_eq!(unsafe { at_fork(before, before, child) }, Ok(()));
        // SAFETY: the child does nothing but exit.
        let status = unsafe {
            let pid = libc::fork();
            if pid == 0 {
                libc::_exit(FORKED.load(Ordering::Relaxed).cast_signed());
            }
            let mut status = 0;
            libc::waitpid(pid, &mut status, 0);
            status
        };
        assert_eq!(libc::WEXITSTATUS(status), 1);
        assert_eq!(FORKED.load(Ordering::Relaxed), 0);
        yield_now();
    }
}
