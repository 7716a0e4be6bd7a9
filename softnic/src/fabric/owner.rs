// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who holds a claim, in one 64-bit word, so that claiming is one compare-and-swap and never half done.

use super::sys;
use std::ffi::CString;
use std::sync::atomic::{AtomicU32, Ordering};

const PID_BITS: u32 = 22;
const IMAGE_BITS: u32 = 10;

/// Process id (22 bits, the kernel's limit), image (10 bits) and start time (32 bits, clock ticks since boot).
///
/// Pid and start time tell a process from a later one with the same pid. The image, a random number, differs after an
/// exec, which changes neither of the two. Zero is nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(pub u64);

/// What `/proc/PID/stat` says of a process.
struct Stat {
    start: u32,
    dead: bool,
}

impl Owner {
    pub const NOBODY: Self = Self(0);

    /// This process. Without `/proc` the start time is 0, which matches any.
    pub fn this() -> Self {
        let pid = sys::process_id();
        Self::new(pid, image(), stat(pid).map_or(0, |stat| stat.start))
    }

    pub fn new(pid: u32, image: u32, start: u32) -> Self {
        let pid = u64::from(pid) & ((1 << PID_BITS) - 1);
        let image = u64::from(image) & ((1 << IMAGE_BITS) - 1);
        Self(u64::from(start) << 32 | image << PID_BITS | pid)
    }

    pub fn pid(self) -> u32 {
        (self.0 & ((1 << PID_BITS) - 1)) as u32
    }

    fn start(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The same process before or after an exec.
    pub fn same_process(self, other: Self) -> bool {
        self.pid() == other.pid() && self.start() == other.start()
    }

    /// Asks the kernel: some microseconds. A zombie is dead.
    pub fn is_alive(self) -> bool {
        if self == Self::NOBODY {
            return false;
        }
        match stat(self.pid()) {
            Some(stat) => !stat.dead && (self.start() == 0 || stat.start == 0 || self.start() == stat.start),
            // No such process, or no /proc here: signals know the difference.
            None => sys::process_exists(self.pid()),
        }
    }
}

/// Chosen once per image of this program.
fn image() -> u32 {
    static IMAGE: AtomicU32 = AtomicU32::new(0);
    let fresh = sys::random() | 1 << 31;
    match IMAGE.compare_exchange(0, fresh, Ordering::SeqCst, Ordering::SeqCst) {
        Ok(_) => fresh,
        Err(chosen) => chosen,
    }
}

fn stat(pid: u32) -> Option<Stat> {
    let path = CString::new(format!("/proc/{pid}/stat")).ok()?;
    let mut text = [0u8; 1024];
    let length = sys::File::open(&path, libc::O_RDONLY, 0).ok()?.read(&mut text).ok()?;
    parse(text.get(..length)?)
}

fn parse(text: &[u8]) -> Option<Stat> {
    // The name, in parentheses, may hold anything: fields are counted from behind its last one. The first is number 3.
    let name_end = text.iter().rposition(|byte| *byte == b')')?;
    let text = std::str::from_utf8(text.get(name_end + 1..)?).ok()?;
    let mut fields = text.split_ascii_whitespace();
    let state = fields.next()?;
    let threads: u32 = fields.nth(16)?.parse().ok()?;
    let start: u64 = fields.nth(1)?.parse().ok()?;
    // A first thread that has ended while others run shows as a zombie, too.
    let dead = matches!(state, "X" | "x") || (state == "Z" && threads <= 1);
    Some(Stat { start: start as u32, dead })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_another_start_time_is_not() {
        let me = Owner::this();
        assert_eq!(me.pid(), std::process::id());
        assert!(me.start() != 0 && me.is_alive());
        assert!(!Owner::new(me.pid(), 0, me.start().wrapping_add(1)).is_alive());
        assert!(!Owner::NOBODY.is_alive());
        assert!(Owner::new(me.pid(), 77, me.start()).same_process(me));
    }

    #[test]
    fn a_zombie_is_dead() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let owner = Owner::new(child.id(), 0, stat(child.id()).unwrap().start);
        let patience = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while owner.is_alive() && std::time::Instant::now() < patience {
            std::thread::yield_now();
        }
        assert!(sys::process_exists(child.id()), "not a zombie, the test says nothing");
        assert!(!owner.is_alive());
        child.wait().unwrap();
        assert!(!owner.is_alive());
    }

    #[test]
    fn stat_lines() {
        let fields = |state: &str, threads: u32| {
            format!("7 (a) R (b) {state} 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 {threads} 0 4294967301 18 19")
        };
        assert_eq!(parse(fields("S", 3).as_bytes()).unwrap().start, 5);
        assert!(!parse(fields("S", 3).as_bytes()).unwrap().dead);
        assert!(parse(fields("Z", 1).as_bytes()).unwrap().dead);
        assert!(!parse(fields("Z", 2).as_bytes()).unwrap().dead, "only its first thread has ended");
        assert!(parse(b"7 (a) S 1 2").is_none());
        assert!(parse(b"nonsense").is_none());
    }
}
