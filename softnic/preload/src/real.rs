// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions behind the hooks: the next definition in the loader's search order (libasan's or libc's).
//!
//! Each is looked up at its first call, which may come before any constructor ran. A function that this C library does not
//! have answers ENOSYS.

use libc::{DIR, FILE, c_char, c_int, c_uint, c_ulong, c_void, mode_t, size_t, ssize_t};
use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering};

pub fn find(slot: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let known = slot.load(Ordering::Acquire);
    if !known.is_null() {
        return known;
    }
    // SAFETY: `name` is a C string, RTLD_NEXT needs nothing else.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    slot.store(found, Ordering::Release);
    found
}

macro_rules! originals {
    ($abi:literal: $($name:ident ( $($arg:ident : $type:ty),* ) -> $result:ty, $missing:expr;)*) => {$(
        /// # Safety
        /// As the C function of this name.
        pub unsafe fn $name($($arg: $type),*) -> $result {
            static SLOT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
            const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            };
            let function = find(&SLOT, NAME);
            if function.is_null() {
                crate::sys::set_errno(libc::ENOSYS);
                return $missing;
            }
            type Function = unsafe extern $abi fn($($type),*) -> $result;
            // SAFETY: the loader found it under the name whose C prototype this is.
            let function: Function = unsafe { std::mem::transmute::<*mut c_void, Function>(function) };
            // SAFETY: the caller keeps the C function's contract.
            unsafe { function($($arg),*) }
        }
    )*};
}

originals! { "C":
    open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int, -1;
    openat(dir: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int, -1;
    close(fd: c_int) -> c_int, -1;
    close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int, -1;
    dup(fd: c_int) -> c_int, -1;
    dup2(old: c_int, new: c_int) -> c_int, -1;
    dup3(old: c_int, new: c_int, flags: c_int) -> c_int, -1;
    fcntl(fd: c_int, command: c_int, argument: c_ulong) -> c_int, -1;
    ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int, -1;
    socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int, -1;
    access(path: *const c_char, mode: c_int) -> c_int, -1;
    chdir(path: *const c_char) -> c_int, -1;
    getcwd(out: *mut c_char, size: size_t) -> *mut c_char, std::ptr::null_mut();
    getxattr(path: *const c_char, name: *const c_char, out: *mut c_void, size: size_t) -> ssize_t, -1;
    lgetxattr(path: *const c_char, name: *const c_char, out: *mut c_void, size: size_t) -> ssize_t, -1;
    listxattr(path: *const c_char, out: *mut c_char, size: size_t) -> ssize_t, -1;
    llistxattr(path: *const c_char, out: *mut c_char, size: size_t) -> ssize_t, -1;
    faccessat(dir: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int, -1;
    opendir(path: *const c_char) -> *mut DIR, std::ptr::null_mut();
    fopen(path: *const c_char, mode: *const c_char) -> *mut FILE, std::ptr::null_mut();
    readlink(path: *const c_char, out: *mut c_char, size: size_t) -> ssize_t, -1;
    readlinkat(dir: c_int, path: *const c_char, out: *mut c_char, size: size_t) -> ssize_t, -1;
    realpath(path: *const c_char, out: *mut c_char) -> *mut c_char, std::ptr::null_mut();
    scandir(path: *const c_char, list: *mut c_void, filter: *mut c_void, compare: *mut c_void) -> c_int, -1;
    statx(dir: c_int, path: *const c_char, flags: c_int, mask: c_uint, out: *mut libc::statx) -> c_int, -1;
    write(fd: c_int, data: *const c_void, size: size_t) -> ssize_t, -1;
    execve(path: *const c_char, arguments: *const *const c_char, environment: *const *const c_char) -> c_int, -1;
    execv(path: *const c_char, arguments: *const *const c_char) -> c_int, -1;
    execvp(file: *const c_char, arguments: *const *const c_char) -> c_int, -1;
    execvpe(file: *const c_char, arguments: *const *const c_char, environment: *const *const c_char) -> c_int, -1;
    sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int, -1;
    signal(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t, libc::SIG_ERR;
    __sysv_signal(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t, libc::SIG_ERR;
    pthread_sigmask(how: c_int, set: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int, libc::ENOSYS;
    sigprocmask(how: c_int, set: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int, -1;
    pthread_spin_lock(lock: *mut c_void) -> c_int, libc::ENOSYS;
    pthread_spin_unlock(lock: *mut c_void) -> c_int, libc::ENOSYS;
}

// Threads that wait for events are cancelled in it, which unwinds.
originals! { "C-unwind":
    read(fd: c_int, data: *mut c_void, size: size_t) -> ssize_t, -1;
}

/// stat by descriptor or path, straight from the kernel: before 2.33 glibc has no function of that name to find.
///
/// # Safety
/// `path` is a C string and `out` a writable stat.
pub unsafe fn fstatat(dir: c_int, path: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
    // SAFETY: the caller's contract; on 64-bit Linux the kernel's struct stat is glibc's.
    unsafe { libc::syscall(libc::SYS_newfstatat, dir, path, out, flags) as c_int }
}
