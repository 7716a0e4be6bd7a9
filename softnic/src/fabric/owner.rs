// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who holds a claim, in one 64-bit word, so that claiming is one compare-and-swap and never half done.

use super::sys;
use std::ffi::CString;
use std::sync::atomic::{AtomicU32, Ordering};

const PID_BITS: u32 = 22;
const IMAGE_BITS: u32 = 14;
const START_BITS: u32 = 28;

/// Process id (22 bits, the kernel's limit), image (14 bits) and start time (28 bits, clock ticks since boot).
///
/// Pid and start time tell a process from a later one with the same pid. The image differs after an exec, which changes
/// neither of the two: it is made from where the kernel put the stack, which others can see too. Zero is nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(pub u64);

/// What `/proc/PID/stat` says of a process.
struct Stat {
    start: u32,
    /// 0: it is not for our eyes.
    image: u32,
    dead: bool,
}

impl Owner {
    pub const NOBODY: Self = Self(0);

    /// This process. Without `/proc` the start time is 0, which matches any.
    pub fn this() -> Self {
        let pid = sys::process_id();
        let stat = stat(pid);
        let image = stat.as_ref().map_or(0, |stat| stat.image);
        Self::new(pid, if image == 0 { random_image() } else { image }, stat.map_or(0, |stat| stat.start))
    }

    pub fn new(pid: u32, image: u32, start: u32) -> Self {
        let pid = u64::from(pid) & ((1 << PID_BITS) - 1);
        let image = u64::from(image) & ((1 << IMAGE_BITS) - 1);
        let start = u64::from(start) & ((1 << START_BITS) - 1);
        Self(start << (PID_BITS + IMAGE_BITS) | image << PID_BITS | pid)
    }

    pub fn pid(self) -> u32 {
        (self.0 & ((1 << PID_BITS) - 1)) as u32
    }

    fn start(self) -> u32 {
        (self.0 >> (PID_BITS + IMAGE_BITS)) as u32
    }

    fn image(self) -> u32 {
        (self.0 >> PID_BITS) as u32 & ((1 << IMAGE_BITS) - 1)
    }

    /// The same process before or after an exec.
    pub fn same_process(self, other: Self) -> bool {
        self.pid() == other.pid() && self.start() == other.start()
    }

    /// Asks the kernel: some microseconds. A zombie is dead, and so is a process that has become another program.
    pub fn is_alive(self) -> bool {
        if self == Self::NOBODY {
            return false;
        }
        match stat(self.pid()) {
            Some(stat) => {
                let same = |ours: u32, theirs: u32| ours == 0 || theirs == 0 || ours == theirs;
                !stat.dead && same(self.start(), stat.start) && same(self.image(), stat.image)
            }
            // No such process, or no /proc here: signals know the difference.
            None => sys::process_exists(self.pid()),
        }
    }
}

/// Without `/proc` nobody can look either; chosen once per image of this program.
fn random_image() -> u32 {
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
    // Number 28: where the stack begins, 0 to those who may not look into the process.
    let stack: u64 = fields.nth(5).and_then(|field| field.parse().ok()).unwrap_or(0);
    // A first thread that has ended while others run shows as a zombie, too.
    let dead = matches!(state, "X" | "x") || (state == "Z" && threads <= 1);
    Some(Stat { start: start as u32 & ((1 << START_BITS) - 1), image: image_of(stack), dead })
}

/// Never 0 for a stack that can be seen.
fn image_of(stack: u64) -> u32 {
    if stack == 0 {
        return 0;
    }
    let mixed = (stack >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed >> (64 - IMAGE_BITS)) as u32).max(1)
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
        let before_exec = Owner::new(me.pid(), me.image() ^ 1, me.start());
        assert!(before_exec.same_process(me) && !before_exec.is_alive());
        assert!(Owner::new(me.pid(), 0, me.start()).is_alive());
    }

    /// The process as others see it, before and after it has become another program.
    #[test]
    fn exec_makes_another_image() {
        use std::io::{Read, Write};
        use std::process::{Command, Stdio};
        let mut child = Command::new("sh");
        child.args(["-c", "read a; exec sh -c 'echo; read b'"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = child.spawn().unwrap();
        // Its own exec is nearly over when spawn returns: there may be no stack yet.
        let of_child = || stat(child.id()).map(|stat| (stat.start, stat.image)).unwrap();
        let (start, image) = std::iter::repeat_with(of_child).find(|(_, image)| *image != 0).unwrap();
        child.stdin.as_mut().unwrap().write_all(b"a\n").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let (start_now, image_now) = stat(child.id()).map(|stat| (stat.start, stat.image)).unwrap();
        assert_eq!(start, start_now);
        assert!(
            image_now != image || std::fs::read_to_string("/proc/sys/kernel/randomize_va_space").unwrap().trim() == "0"
        );
        child.kill().unwrap();
        child.wait().unwrap();
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
            format!(
                "7 (a) R (b) {state} 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 {threads} 0 4294967301 18 19 20 21 22 65536 24"
            )
        };
        let parsed = parse(fields("S", 3).as_bytes()).unwrap();
        assert_eq!((parsed.start, parsed.image), (5, image_of(65536)));
        assert!(image_of(65536) != image_of(65536 + 16) && image_of(1) > 0);
        assert!(!parse(fields("S", 3).as_bytes()).unwrap().dead);
        assert!(parse(fields("Z", 1).as_bytes()).unwrap().dead);
        assert!(!parse(fields("Z", 2).as_bytes()).unwrap().dead, "only its first thread has ended");
        assert!(parse(b"7 (a) S 1 2").is_none());
        assert!(parse(b"nonsense").is_none());
    }
}
