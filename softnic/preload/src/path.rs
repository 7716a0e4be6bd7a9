// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which paths are softnic's: the RDMA parts of /sys and /dev/infiniband, found in the run's own tree.

use crate::sys;
use libc::{c_char, c_int};
use std::cell::UnsafeCell;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

const PATH_MAX: usize = libc::PATH_MAX as usize;

/// The run directory from the environment. Kept as it was at the start of the process: programs may change their environment.
struct Run {
    state: AtomicU8,
    text: UnsafeCell<[u8; PATH_MAX]>,
}

// SAFETY: `text` is written once, by the thread that moves `state` from UNKNOWN to READING, and read only after that.
unsafe impl Sync for Run {}

const UNKNOWN: u8 = 0;
const READING: u8 = 1;
const PRESENT: u8 = 2;
const ABSENT: u8 = 3;

static RUN: Run = Run { state: AtomicU8::new(UNKNOWN), text: UnsafeCell::new([0; PATH_MAX]) };

/// The run directory, without a trailing slash. None: this process is none of softnic's business.
pub fn run_dir() -> Option<&'static CStr> {
    let mut state = RUN.state.load(Ordering::Acquire);
    if state == UNKNOWN && RUN.state.compare_exchange(UNKNOWN, READING, Ordering::AcqRel, Ordering::Acquire).is_ok() {
        state = if read_environment() { PRESENT } else { ABSENT };
        RUN.state.store(state, Ordering::Release);
    }
    if state != PRESENT {
        return None;
    }
    // SAFETY: PRESENT says that nobody writes any more.
    CStr::from_bytes_until_nul(unsafe { &*RUN.text.get() }).ok()
}

fn read_environment() -> bool {
    // SAFETY: getauxval has no preconditions.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        sys::say(format_args!(
            "refused: this program runs with raised privileges (AT_SECURE); real devices stay visible"
        ));
        return false;
    }
    // SAFETY: the name is a C string; the value is copied before anyone can change the environment.
    let value = unsafe { libc::getenv(c"SOFTNIC_DIR".as_ptr()) };
    if value.is_null() {
        return false;
    }
    // SAFETY: getenv returned a C string.
    let bytes = unsafe { CStr::from_ptr(value) }.to_bytes();
    // SAFETY: READING makes this thread the only one at `text`.
    let text = unsafe { &mut *RUN.text.get() };
    match text.get_mut(..bytes.len()) {
        Some(room) if bytes.first() == Some(&b'/') && bytes.len() < PATH_MAX / 2 => {
            room.copy_from_slice(bytes);
            true
        }
        _ => {
            sys::say(format_args!("SOFTNIC_DIR is not a usable absolute path; it is set by `softnic run`"));
            false
        }
    }
}

pub enum Target<'a> {
    /// Not ours: the program's own path.
    Foreign,
    /// A file of the run's tree.
    Tree(&'a CStr),
    /// The device file of this number; the path is its stand-in in the tree.
    Uverbs(u8, &'a CStr),
}

pub struct Buffer([u8; PATH_MAX]);

impl Buffer {
    pub fn new() -> Buffer {
        Buffer([0; PATH_MAX])
    }
}

/// Whether `target` needs to look at all: five bytes decide for nearly every path that is absolute, a word for the others.
///
/// # Safety
/// `path` is null or a C string.
pub unsafe fn worth_a_look(path: *const c_char) -> bool {
    if path.is_null() {
        return false;
    }
    // SAFETY: the caller's contract; all stop at the string's end.
    unsafe {
        if *path as u8 != b'/' {
            return [c"infiniband", c"5af7:"].iter().any(|word| !libc::strstr(path, word.as_ptr()).is_null());
        }
        libc::strncmp(path, c"/sys/".as_ptr(), 5) == 0 || libc::strncmp(path, c"/dev/".as_ptr(), 5) == 0
    }
}

/// Where `path` leads, beginning at `dir` if it is relative.
///
/// # Safety
/// `path` is a C string.
pub unsafe fn target(dir: c_int, path: *const c_char, buffer: &mut Buffer) -> Target<'_> {
    // SAFETY: the caller's contract.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    let Some(run) = run_dir() else { return Target::Foreign };
    if path.first() == Some(&b'/') {
        return absolute(path, run, buffer);
    }
    let mut room = [0u8; PATH_MAX];
    match at(dir, path, &mut room) {
        // From within the tree the kernel finds the way itself.
        Some(whole) if !whole.starts_with(run.to_bytes()) => absolute(whole, run, buffer),
        _ => Target::Foreign,
    }
}

/// A relative path with the directory that it begins at.
fn at<'a>(dir: c_int, path: &[u8], room: &'a mut [u8; PATH_MAX]) -> Option<&'a [u8]> {
    let before = sys::errno();
    let n = if dir == libc::AT_FDCWD { sys::read_link(c"/proc/self/cwd", room) } else { sys::link_of(dir, room) };
    sys::set_errno(before);
    let n = n.filter(|_| room.first() == Some(&b'/'))?;
    *room.get_mut(n)? = b'/';
    let whole = n + 1 + path.len();
    room.get_mut(n + 1..whole)?.copy_from_slice(path);
    room.get(..whole)
}

fn absolute<'a>(path: &[u8], run: &CStr, buffer: &'a mut Buffer) -> Target<'a> {
    let mut flat = [0u8; PATH_MAX];
    let Some(path) = collapse(path, &mut flat) else { return Target::Foreign };
    if let Some(minor) = path.strip_prefix(b"/dev/char/231:") {
        return match number(minor) {
            Some(n) if n >= 192 => uverbs(n - 192, run, buffer),
            _ => Target::Foreign,
        };
    }
    if let Some(n) = path.strip_prefix(b"/dev/infiniband/uverbs").and_then(number) {
        return uverbs(n, run, buffer);
    }
    let ours = path.starts_with(b"/sys/class/infiniband")
        || path.starts_with(b"/sys/devices/pci5af7:")
        || path.starts_with(b"/sys/bus/pci/devices/5af7:")
        || path.starts_with(b"/sys/module/nvidia_peermem")
        || path.starts_with(b"/sys/module/efa_nv_peermem")
        || path.starts_with(b"/sys/module/nv_peer_mem")
        || path == b"/dev/infiniband"
        || path.starts_with(b"/dev/infiniband/");
    if ours {
        tell_of_lost_run(run, buffer);
    }
    match ours.then(|| join(run, path, buffer)).flatten() {
        Some(path) => Target::Tree(path),
        None => Target::Foreign,
    }
}

/// Once: why there are no devices, where the run's directory can't be used. rdma-core would call it a kernel without RDMA.
fn tell_of_lost_run(run: &CStr, buffer: &mut Buffer) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    let Some(config) = join(run, b"/config", buffer).filter(|_| !TOLD.load(Ordering::Relaxed)) else { return };
    let before = sys::errno();
    // SAFETY: an all-zero stat is a valid value.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: a C string and a live struct.
    let found = unsafe { crate::real::fstatat(libc::AT_FDCWD, config.as_ptr(), &mut stat, 0) } == 0;
    if !found && !TOLD.swap(true, Ordering::Relaxed) {
        let (why, run) = (sys::errno(), run.to_string_lossy());
        // SAFETY: takes nothing and can't fail.
        let uid = unsafe { libc::geteuid() };
        let remedy = match why {
            libc::EACCES => format!("it is for the user of the run alone, and this process has uid {uid}"),
            libc::ENOENT => "the run has ended, or this process has another root or /dev/shm than its runner".into(),
            _ => "it should be there as long as the run lasts".into(),
        };
        sys::say(format_args!("no devices: the run's directory {run}: {}; {remedy}", sys::why(why)));
    }
    sys::set_errno(before);
}

fn uverbs<'a>(n: u32, run: &CStr, buffer: &'a mut Buffer) -> Target<'a> {
    tell_of_lost_run(run, buffer);
    let mut name = [0u8; 40];
    let Some(path) = print(&mut name, format_args!("/dev/infiniband/uverbs{n}")) else { return Target::Foreign };
    match (u8::try_from(n), join(run, path, buffer)) {
        (Ok(n), Some(path)) => Target::Uverbs(n, path),
        (Err(_), Some(path)) => Target::Tree(path),
        (_, None) => Target::Foreign,
    }
}

/// Formats without allocation.
fn print<'a>(room: &'a mut [u8], text: std::fmt::Arguments<'_>) -> Option<&'a [u8]> {
    use std::io::Write;
    let size = room.len();
    let mut rest = &mut *room;
    rest.write_fmt(text).ok()?;
    let used = size - rest.len();
    room.get(..used)
}

fn join<'a>(run: &CStr, path: &[u8], buffer: &'a mut Buffer) -> Option<&'a CStr> {
    let (run, room) = (run.to_bytes(), &mut buffer.0);
    room.get_mut(..run.len())?.copy_from_slice(run);
    room.get_mut(run.len()..run.len() + path.len())?.copy_from_slice(path);
    *room.get_mut(run.len() + path.len())? = 0;
    CStr::from_bytes_until_nul(room).ok()
}

/// Directories without a link on the way: what stands before `..` behind them is where that leads.
const PLAIN: [&[u8]; 12] = [
    b"/sys",
    b"/sys/class",
    b"/sys/class/infiniband",
    b"/sys/class/infiniband_verbs",
    b"/sys/bus",
    b"/sys/bus/pci",
    b"/sys/bus/pci/devices",
    b"/sys/devices",
    b"/sys/module",
    b"/dev",
    b"/dev/char",
    b"/dev/infiniband",
];

/// Without repeated slashes and `.`, and without `..` where it is sure.
fn collapse<'a>(path: &[u8], out: &'a mut [u8; PATH_MAX]) -> Option<&'a [u8]> {
    let mut n = 0;
    for part in path.split(|byte| *byte == b'/') {
        if part.is_empty() || part == b"." {
            continue;
        }
        let before = out.get(..n)?;
        if part == b".." && PLAIN.contains(&before) {
            n = before.iter().rposition(|byte| *byte == b'/')?;
            continue;
        }
        *out.get_mut(n)? = b'/';
        out.get_mut(n + 1..n + 1 + part.len())?.copy_from_slice(part);
        n += 1 + part.len();
    }
    // Of a link the end says whether it or its target is meant.
    if path.ends_with(b"/") || path.ends_with(b"/.") {
        *out.get_mut(n)? = b'/';
        n += 1;
    }
    out.get(..n)
}

fn number(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || digits.len() > 6 || (digits.len() > 1 && digits.first() == Some(&b'0')) {
        return None;
    }
    digits.iter().try_fold(0u32, |n, d| d.is_ascii_digit().then(|| n * 10 + u32::from(d - b'0')))
}

/// The path as the program should see it: without the run directory in front. Works in place; returns the new length.
///
/// # Safety
/// `text` points at `length` writable bytes.
pub unsafe fn unwrap_in_place(text: *mut c_char, length: usize) -> usize {
    let Some(run) = run_dir() else { return length };
    // SAFETY: the caller's contract.
    let bytes = unsafe { std::slice::from_raw_parts_mut(text.cast::<u8>(), length) };
    let prefix = run.to_bytes();
    match bytes.strip_prefix(prefix) {
        Some(rest) if rest.starts_with(b"/sys") || rest.starts_with(b"/dev") => {
            let kept = rest.len();
            bytes.copy_within(prefix.len().., 0);
            kept
        }
        _ => length,
    }
}

/// Makes a stat of the stand-in file look like the device file.
pub fn as_char_device(stat: &mut libc::stat, device: u8) {
    stat.st_mode = libc::S_IFCHR | 0o666;
    stat.st_rdev = libc::makedev(231, 192 + u32::from(device));
    stat.st_size = 0;
    stat.st_blocks = 0;
}

pub fn as_char_device_x(stat: &mut libc::statx, device: u8) {
    stat.stx_mode = (libc::S_IFCHR | 0o666) as u16;
    stat.stx_rdev_major = 231;
    stat.stx_rdev_minor = 192 + u32::from(device);
    stat.stx_size = 0;
    stat.stx_blocks = 0;
}
