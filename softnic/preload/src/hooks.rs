// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interposed functions of the C library. Each looks whether path or descriptor is softnic's and else passes on.
//!
//! `open`, `openat`, `fcntl` and `ioctl` are variadic in C; with the argument types at hand a fixed signature is called the same
//! way on x86-64 and aarch64 Linux. A panic can't leave a hook: `guarded` turns it into EIO.

use crate::fdtab::{self, Tag};
use crate::path::{self, Buffer, Target};
use crate::{glue, pump, real, sys};
use libc::{DIR, FILE, c_char, c_int, c_uint, c_ulong, c_void, mode_t, size_t, ssize_t};
use std::ffi::CStr;

/// Runs softnic's own code for a C caller.
pub fn guarded(call: &str, work: impl FnOnce() -> c_int) -> c_int {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
        Ok(result) => result,
        Err(_) => {
            sys::say(format_args!("{call}: internal error; please report it with the output of --trace"));
            sys::fail(libc::EIO)
        }
    }
}

/// Calls `$real` with the path where it really is; `$uverbs` says what a device file answers.
macro_rules! with_path {
    (at $dir:expr, $path:ident, $real:expr, |$device:ident, $stand_in:ident| $uverbs:expr) => {{
        // SAFETY: the caller passes a C string or null.
        if unsafe { !path::worth_a_look($path) } {
            // SAFETY: the arguments are the caller's own.
            return unsafe { $real($path) };
        }
        let mut buffer = Buffer::new();
        // SAFETY: `worth_a_look` saw a string.
        match unsafe { path::target($dir, $path, &mut buffer) } {
            // SAFETY: the arguments are the caller's own.
            Target::Foreign => unsafe { $real($path) },
            // SAFETY: only the path is replaced, by a C string that lives in `buffer`.
            Target::Tree(moved) => unsafe { $real(moved.as_ptr()) },
            Target::Uverbs($device, $stand_in) => $uverbs,
        }
    }};
    (at $dir:expr, $path:ident, $real:expr) => {
        // SAFETY: a device file has a stand-in in the tree.
        with_path!(at $dir, $path, $real, |_device, stand_in| unsafe { $real(stand_in.as_ptr()) })
    };
    ($path:ident, $($rest:tt)*) => { with_path!(at libc::AT_FDCWD, $path, $($rest)*) };
}

fn open_device(device: u8, stand_in: &CStr, flags: c_int) -> c_int {
    // SAFETY: a C string.
    if unsafe { real::access(stand_in.as_ptr(), libc::F_OK) } != 0 {
        return -1;
    }
    guarded("open", || glue::open_uverbs(device, flags))
}

/// # Safety
/// As `open` of the C library; so for all functions here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    with_path!(path, |p| real::open(p, flags, mode), |device, stand_in| open_device(device, stand_in, flags))
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn openat(dir: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    with_path!(at dir, path, |p| real::openat(dir, p, flags, mode), |device, stand_in| open_device(device, stand_in, flags))
}

macro_rules! same_as {
    ($($name:ident = $other:ident ( $($arg:ident : $type:ty),* ) $(, $fixed:expr)? => $result:ty;)*) => {$(
        /// # Safety
        /// As in C.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $type),*) -> $result {
            // SAFETY: the same function under another name (64-bit files, or with the fortifier's checks already made).
            unsafe { $other($($arg),* $(, $fixed)?) }
        }
    )*};
}

same_as! {
    open64 = open(path: *const c_char, flags: c_int, mode: mode_t) => c_int;
    __open_2 = open(path: *const c_char, flags: c_int), 0 => c_int;
    __open64_2 = open(path: *const c_char, flags: c_int), 0 => c_int;
    openat64 = openat(dir: c_int, path: *const c_char, flags: c_int, mode: mode_t) => c_int;
    __openat_2 = openat(dir: c_int, path: *const c_char, flags: c_int), 0 => c_int;
    __openat64_2 = openat(dir: c_int, path: *const c_char, flags: c_int), 0 => c_int;
    stat64 = stat(path: *const c_char, out: *mut libc::stat) => c_int;
    lstat64 = lstat(path: *const c_char, out: *mut libc::stat) => c_int;
    fstat64 = fstat(fd: c_int, out: *mut libc::stat) => c_int;
    fstatat64 = fstatat(dir: c_int, path: *const c_char, out: *mut libc::stat, flags: c_int) => c_int;
    fopen64 = fopen(path: *const c_char, mode: *const c_char) => *mut FILE;
    fcntl64 = fcntl(fd: c_int, command: c_int, argument: c_ulong) => c_int;
    scandir64 = scandir(path: *const c_char, list: *mut c_void, filter: *mut c_void, compare: *mut c_void) => c_int;
}

// Before 2.33 programs reach stat through these; the first argument names the struct's version, 1 or 0 on 64-bit machines.
macro_rules! versioned {
    ($($name:ident = $other:ident ( $($arg:ident : $type:ty),* );)*) => {$(
        /// # Safety
        /// As in C.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(_version: c_int, $($arg: $type),*) -> c_int {
            // SAFETY: the same function.
            unsafe { $other($($arg),*) }
        }
    )*};
}

versioned! {
    __xstat = stat(path: *const c_char, out: *mut libc::stat);
    __xstat64 = stat(path: *const c_char, out: *mut libc::stat);
    __lxstat = lstat(path: *const c_char, out: *mut libc::stat);
    __lxstat64 = lstat(path: *const c_char, out: *mut libc::stat);
    __fxstat = fstat(fd: c_int, out: *mut libc::stat);
    __fxstat64 = fstat(fd: c_int, out: *mut libc::stat);
    __fxstatat = fstatat(dir: c_int, path: *const c_char, out: *mut libc::stat, flags: c_int);
    __fxstatat64 = fstatat(dir: c_int, path: *const c_char, out: *mut libc::stat, flags: c_int);
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stat(path: *const c_char, out: *mut libc::stat) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { fstatat(libc::AT_FDCWD, path, out, 0) }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lstat(path: *const c_char, out: *mut libc::stat) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { fstatat(libc::AT_FDCWD, path, out, libc::AT_SYMLINK_NOFOLLOW) }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fstat(fd: c_int, out: *mut libc::stat) -> c_int {
    // SAFETY: an empty path with this flag means the descriptor itself.
    unsafe { fstatat(fd, c"".as_ptr(), out, libc::AT_EMPTY_PATH) }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fstatat(dir: c_int, path: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
    // SAFETY: an empty path is a C string of one byte.
    if flags & libc::AT_EMPTY_PATH != 0 && !path.is_null() && unsafe { *path } == 0 {
        // SAFETY: the caller's arguments.
        let result = unsafe { real::fstatat(dir, path, out, flags) };
        if result == 0 {
            // SAFETY: the call filled it.
            let out = unsafe { &mut *out };
            if let Tag::Uverbs { device, .. } | Tag::Dead { device } =
                tag_of(dir, out.st_nlink == 0, out.st_size as u64)
            {
                path::as_char_device(out, device);
            }
        }
        return result;
    }
    with_path!(at dir, path, |p| real::fstatat(dir, p, out, flags), |device, stand_in| {
        // SAFETY: `out` is the caller's.
        let result = unsafe { real::fstatat(dir, stand_in.as_ptr(), out, flags) };
        if result == 0 {
            // SAFETY: the call filled it.
            path::as_char_device(unsafe { &mut *out }, device);
        }
        result
    })
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statx(
    dir: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    out: *mut libc::statx,
) -> c_int {
    // SAFETY: an empty path is a C string of one byte.
    if flags & libc::AT_EMPTY_PATH != 0 && !path.is_null() && unsafe { *path } == 0 {
        // SAFETY: the caller's arguments.
        let result = unsafe { real::statx(dir, path, flags, mask, out) };
        if result == 0 {
            // SAFETY: the call filled it.
            let out = unsafe { &mut *out };
            if let Tag::Uverbs { device, .. } | Tag::Dead { device } = tag_of(dir, out.stx_nlink == 0, out.stx_size) {
                path::as_char_device_x(out, device);
            }
        }
        return result;
    }
    with_path!(at dir, path, |p| real::statx(dir, p, flags, mask, out), |device, stand_in| {
        // SAFETY: `out` is the caller's.
        let result = unsafe { real::statx(dir, stand_in.as_ptr(), flags, mask, out) };
        if result == 0 {
            // SAFETY: the call filled it.
            path::as_char_device_x(unsafe { &mut *out }, device);
        }
        result
    })
}

/// A descriptor's tag; one without that looks like a memfd of softnic's gets one.
fn tag_of(fd: c_int, nameless: bool, size: u64) -> Tag {
    match fdtab::get(fd) {
        Tag::None if nameless && crate::shared::SIZES.contains(&size) => glue::recognise(fd),
        tag => tag,
    }
}

macro_rules! by_path {
    ($($name:ident ( $path:ident $(, $arg:ident : $type:ty)* ) -> $result:ty;)*) => {$(
        /// # Safety
        /// As in C.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($path: *const c_char $(, $arg: $type)*) -> $result {
            with_path!($path, |p| real::$name(p $(, $arg)*))
        }
    )*};
}

by_path! {
    chdir(path) -> c_int;
    getxattr(path, name: *const c_char, out: *mut c_void, size: size_t) -> ssize_t;
    lgetxattr(path, name: *const c_char, out: *mut c_void, size: size_t) -> ssize_t;
    listxattr(path, out: *mut c_char, size: size_t) -> ssize_t;
    llistxattr(path, out: *mut c_char, size: size_t) -> ssize_t;
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getcwd(out: *mut c_char, size: size_t) -> *mut c_char {
    // SAFETY: the caller's arguments.
    let result = unsafe { real::getcwd(out, size) };
    if !result.is_null() && path::run_dir().is_some() {
        // SAFETY: getcwd returned a writable C string, its terminator included.
        unsafe {
            let length = path::unwrap_in_place(result, libc::strlen(result));
            *result.add(length) = 0;
        }
    }
    result
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __getcwd_chk(out: *mut c_char, size: size_t, room: size_t) -> *mut c_char {
    // SAFETY: the caller's arguments, no longer than the buffer.
    unsafe { getcwd(out, size.min(room)) }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn access(path: *const c_char, mode: c_int) -> c_int {
    with_path!(path, |p| real::access(p, mode))
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn faccessat(dir: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int {
    with_path!(at dir, path, |p| real::faccessat(dir, p, mode, flags))
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn opendir(path: *const c_char) -> *mut DIR {
    with_path!(path, |p| real::opendir(p))
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scandir(
    path: *const c_char,
    list: *mut c_void,
    filter: *mut c_void,
    compare: *mut c_void,
) -> c_int {
    with_path!(path, |p| real::scandir(p, list, filter, compare))
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fopen(path: *const c_char, mode: *const c_char) -> *mut FILE {
    with_path!(path, |p| real::fopen(p, mode))
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn readlink(path: *const c_char, out: *mut c_char, size: size_t) -> ssize_t {
    with_path!(path, |p| real::readlink(p, out, size))
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn readlinkat(dir: c_int, path: *const c_char, out: *mut c_char, size: size_t) -> ssize_t {
    with_path!(at dir, path, |p| real::readlinkat(dir, p, out, size))
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realpath(path: *const c_char, out: *mut c_char) -> *mut c_char {
    let result = resolved(path, out);
    if !result.is_null() {
        // SAFETY: realpath returned a writable C string, its terminator included.
        unsafe {
            let length = path::unwrap_in_place(result, libc::strlen(result));
            *result.add(length) = 0;
        }
    }
    result
}

fn resolved(path: *const c_char, out: *mut c_char) -> *mut c_char {
    with_path!(path, |p| real::realpath(p, out))
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn canonicalize_file_name(path: *const c_char) -> *mut c_char {
    // SAFETY: the same function with a fresh buffer.
    unsafe { realpath(path, std::ptr::null_mut()) }
}

// The fortifier's forms carry the size of the caller's buffer. Too small a one is the caller's defect, which glibc punishes by
// an abort; here the real call is refused.

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __realpath_chk(path: *const c_char, out: *mut c_char, size: size_t) -> *mut c_char {
    if size < libc::PATH_MAX as size_t && !out.is_null() {
        sys::fail(libc::ENAMETOOLONG);
        return std::ptr::null_mut();
    }
    // SAFETY: the caller's arguments.
    unsafe { realpath(path, out) }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __readlink_chk(path: *const c_char, out: *mut c_char, size: size_t, room: size_t) -> ssize_t {
    // SAFETY: the caller's arguments, no longer than the buffer.
    unsafe { readlink(path, out, size.min(room)) }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __readlinkat_chk(
    dir: c_int,
    path: *const c_char,
    out: *mut c_char,
    size: size_t,
    room: size_t,
) -> ssize_t {
    // SAFETY: the caller's arguments, no longer than the buffer.
    unsafe { readlinkat(dir, path, out, size.min(room)) }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    const NETLINK_RDMA: c_int = 20;
    // The kernel's answer would list the host's devices, or none: without it rdma-core reads the tree.
    if domain == libc::AF_NETLINK && protocol == NETLINK_RDMA && path::run_dir().is_some() {
        return sys::fail(libc::EPROTONOSUPPORT);
    }
    // SAFETY: the caller's arguments.
    unsafe { real::socket(domain, kind, protocol) }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    match fdtab::get(fd) {
        Tag::Uverbs { context, .. } if glue::is_owner() => guarded("ioctl", || glue::ioctl(context, request, argument)),
        Tag::Uverbs { .. } | Tag::Dead { .. } => sys::fail(libc::EIO),
        Tag::None if request == c_ulong::from(nic::abi::RDMA_VERBS_IOCTL) => match glue::recognise(fd) {
            // SAFETY: the caller's arguments.
            Tag::None => unsafe { real::ioctl(fd, request, argument) },
            // SAFETY: the caller's arguments; the descriptor has a tag now.
            Tag::Uverbs { .. } => unsafe { ioctl(fd, request, argument) },
            _ => {
                sys::say_once(
                    8,
                    format_args!(
                        "descriptor {fd} is a uverbs file that another process opened (it came by exec or a socket); \
                         softnic's contexts stay in their process"
                    ),
                );
                sys::fail(libc::EIO)
            }
        },
        // SAFETY: the caller's arguments.
        _ => unsafe { real::ioctl(fd, request, argument) },
    }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(fd: c_int, data: *const c_void, size: size_t) -> ssize_t {
    match fdtab::get(fd) {
        Tag::Uverbs { context, .. } if glue::is_owner() => {
            let mut command = [0u8; 4096];
            let Some(room) = command.get_mut(..size) else { return sys::fail(libc::EINVAL) as ssize_t };
            if !crate::memory::read(data as u64, room) {
                return sys::fail(libc::EFAULT) as ssize_t;
            }
            guarded("write", || glue::write(context, room)) as ssize_t
        }
        Tag::Uverbs { .. } | Tag::Dead { .. } => sys::fail(libc::EIO) as ssize_t,
        // SAFETY: the caller's arguments.
        _ => unsafe { real::write(fd, data, size) },
    }
}

/// A channel ends with its device, which is EIO from a kernel and the end of file from a socket.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn read(fd: c_int, data: *mut c_void, size: size_t) -> ssize_t {
    // SAFETY: the caller's arguments.
    let result = unsafe { real::read(fd, data, size) };
    if result == 0 && size > 0 && matches!(fdtab::get(fd), Tag::Channel { .. }) {
        return sys::fail(libc::EIO) as ssize_t;
    }
    result
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __read_chk(fd: c_int, data: *mut c_void, size: size_t, room: size_t) -> ssize_t {
    // SAFETY: the caller's arguments, no longer than the buffer.
    unsafe { read(fd, data, size.min(room)) }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(fd: c_int) -> c_int {
    match fdtab::get(fd) {
        Tag::None => {}
        // The program can't have got this number from anyone.
        Tag::Internal if glue::is_owner() => return sys::fail(libc::EBADF),
        _ => forget(fd),
    }
    // SAFETY: the caller's argument.
    unsafe { real::close(fd) }
}

/// `fd` is about to be closed. In a vfork child the table is the parent's and stays.
fn forget(fd: c_int) {
    if glue::is_owner() {
        let tag = fdtab::take(fd);
        guarded("close", || glue::release(tag));
    }
}

fn share(old: c_int, new: c_int) -> c_int {
    let tag = fdtab::get(old);
    if new >= 0 && !matches!(tag, Tag::None | Tag::Internal) && glue::is_owner() {
        return guarded("dup", || glue::share(tag, new));
    }
    new
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dup(fd: c_int) -> c_int {
    // SAFETY: the caller's argument.
    share(fd, unsafe { real::dup(fd) })
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dup2(old: c_int, new: c_int) -> c_int {
    if old == new || !replaceable(new) {
        // SAFETY: nothing changes when the numbers are the same; a bad `old` gets its error.
        return if old == new { unsafe { real::dup2(old, new) } } else { sys::fail(libc::EBUSY) };
    }
    replace(old, new);
    // SAFETY: the caller's arguments.
    share(old, unsafe { real::dup2(old, new) })
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dup3(old: c_int, new: c_int, flags: c_int) -> c_int {
    if old != new {
        if !replaceable(new) {
            return sys::fail(libc::EBUSY);
        }
        replace(old, new);
    }
    // SAFETY: the caller's arguments.
    share(old, unsafe { real::dup3(old, new, flags) })
}

fn replaceable(fd: c_int) -> bool {
    fdtab::get(fd) != Tag::Internal || !glue::is_owner()
}

/// `new` is closed by a dup, if `old` is open at all.
fn replace(old: c_int, new: c_int) {
    // SAFETY: only looks.
    if fdtab::get(new) != Tag::None && unsafe { real::fcntl(old, libc::F_GETFD, 0) } >= 0 {
        forget(new);
    }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: c_ulong) -> c_int {
    // SAFETY: the caller's arguments.
    let result = unsafe { real::fcntl(fd, command, argument) };
    if command == libc::F_DUPFD || command == libc::F_DUPFD_CLOEXEC { share(fd, result) } else { result }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    const CLOSE_RANGE_CLOEXEC: c_int = 4;
    if flags & CLOSE_RANGE_CLOEXEC != 0 || first > last || !glue::is_owner() {
        // SAFETY: the caller's arguments.
        return unsafe { real::close_range(first, last, flags) };
    }
    let mut from = first;
    let (low, high) = (c_int::try_from(first).unwrap_or(c_int::MAX), c_int::try_from(last).unwrap_or(c_int::MAX));
    for (fd, tag) in fdtab::tagged(low, high) {
        if tag != Tag::Internal {
            forget(fd);
            continue;
        }
        // softnic's own descriptors stay open: close up to this one and go on behind it.
        let fd = fd as c_uint;
        // SAFETY: numbers only.
        if fd > from && unsafe { real::close_range(from, fd - 1, flags) } != 0 {
            return -1;
        }
        from = fd + 1;
    }
    // SAFETY: numbers only.
    if from <= last { unsafe { real::close_range(from, last, flags) } } else { 0 }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn closefrom(first: c_int) {
    let first = first.max(0) as c_uint;
    // SAFETY: numbers only.
    if unsafe { close_range(first, c_uint::MAX, 0) } != 0 {
        // SAFETY: as above, for kernels without close_range.
        let top = unsafe { libc::sysconf(libc::_SC_OPEN_MAX) }.clamp(0, 65536) as c_int;
        for fd in first as c_int..top {
            // SAFETY: closing a number.
            unsafe { close(fd) };
        }
    }
}

// libefa takes a spin lock on the way into each post and poll. These two pass their return address on, to be compared with where
// libefa's code lies; Rust has no other way to ask for it.

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn pthread_spin_lock(lock: *mut c_void) -> c_int {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!("mov rsi, [rsp]", "jmp {inner}", inner = sym spin_lock);
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!("mov x1, x30", "b {inner}", inner = sym spin_lock);
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn pthread_spin_unlock(lock: *mut c_void) -> c_int {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!("mov rsi, [rsp]", "jmp {inner}", inner = sym spin_unlock);
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!("mov x1, x30", "b {inner}", inner = sym spin_unlock);
}

unsafe extern "C" fn spin_lock(lock: *mut c_void, caller: usize) -> c_int {
    pump::inline(caller, true);
    // SAFETY: the caller's argument.
    unsafe { real::pthread_spin_lock(lock) }
}

unsafe extern "C" fn spin_unlock(lock: *mut c_void, caller: usize) -> c_int {
    // SAFETY: the caller's argument.
    let result = unsafe { real::pthread_spin_unlock(lock) };
    pump::inline(caller, false);
    result
}
