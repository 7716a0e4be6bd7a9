// SPDX-License-Identifier: MIT OR Apache-2.0
//! The run's own directory, and the fabric's. Both in memory (/dev/shm); the first is removed with the run, the second by the last run that uses it.
//! What killed runs left the next run removes.

use super::config::Config;
use super::tree;
use crate::fabric;
use std::fs::{self, File};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub struct RunDirectory {
    pub path: PathBuf,
    /// The command inherits it: locked as long as the run lasts, whatever becomes of the runner.
    lock: File,
    /// Processes of the run outlive the runner.
    left: bool,
    pub fabric: PathBuf,
    /// Names the run in the fabric.
    pub run: u64,
}

const BASE: &str = "/dev/shm";
/// What a process that was sent a signal, or lost its peer, takes to end.
const PATIENCE: Duration = Duration::from_millis(500);

impl RunDirectory {
    pub fn create(fabric: Option<&str>) -> Result<RunDirectory, String> {
        // SAFETY: no arguments, can't fail.
        let (uid, pid) = (unsafe { libc::getuid() }, std::process::id());
        sweep(uid);
        let start = start_time(pid).unwrap_or(0);
        let path = Path::new(BASE).join(format!("softnic-{uid}-run-{pid}-{start}"));
        let failed = |e: std::io::Error| format!("{}: {e}", path.display());
        fs::DirBuilder::new().mode(0o700).create(&path).map_err(failed)?;
        let lock = File::open(&path).map_err(failed)?;
        if !try_lock(&lock) {
            return Err(failed(std::io::Error::last_os_error()));
        }
        let fabric = match fabric {
            Some(name) => Path::new(BASE).join(format!("softnic-{uid}-{name}")),
            None => path.join("fabric"),
        };
        let directory = RunDirectory { lock, left: false, path, fabric, run: start << 22 ^ u64::from(pid) };
        fabric::prepare_directory(&directory.fabric).map_err(|e| e.to_string())?;
        Ok(directory)
    }

    /// Config and trees. The config comes last and whole: a process that sees it sees everything.
    pub fn fill(&self, config: &Config) -> Result<(), String> {
        let failed = |e: std::io::Error| format!("{}: {e}", self.path.display());
        tree::build(&self.path, config).map_err(failed)?;
        fs::write(self.path.join("config.new"), config.to_text()).map_err(failed)?;
        fs::rename(self.path.join("config.new"), self.path.join("config")).map_err(failed)
    }
}

/// Lets the program that this process is about to become keep the lock, under a number that is in nobody's way. Safe between fork and exec.
pub fn pass_on(lock: RawFd) -> std::io::Result<()> {
    // SAFETY: both only make or change a descriptor of this process.
    let passed = unsafe { libc::fcntl(lock, libc::F_DUPFD, 500) >= 0 || libc::fcntl(lock, libc::F_SETFD, 0) == 0 };
    if passed { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

impl RunDirectory {
    pub fn lock(&self) -> RawFd {
        self.lock.as_raw_fd()
    }

    /// Whether the command, which has ended, has left processes. Those on their way out are waited for.
    pub fn is_in_use(&mut self) -> bool {
        let started = Instant::now();
        // Opened anew: the descriptor of before shares its lock with the command.
        while let Ok(own) = File::open(&self.path) {
            self.lock = own;
            if try_lock(&self.lock) && !has_processes(&self.path) {
                return false;
            }
            if started.elapsed() >= PATIENCE {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }

    /// Leaves all as it is, for the processes that use it.
    pub fn leave(&mut self) -> &Path {
        self.left = true;
        &self.path
    }
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        if self.left {
            return;
        }
        if self.fabric.starts_with(&self.path) {
            let _ = fabric::remove_if_unused(&self.fabric);
            let _ = fs::remove_dir_all(&self.path);
        } else {
            let _ = fs::remove_dir_all(&self.path);
            remove_fabric(&self.fabric);
        }
    }
}

/// Removes what killed runs left: their directories, then the fabrics that nobody uses any more.
fn sweep(uid: u32) {
    for run in entries(&run_prefix(uid)).filter(|path| is_abandoned(path)) {
        let _ = fs::remove_dir_all(run);
    }
    let runs = Path::new(BASE).join(run_prefix(uid));
    for path in entries(&format!("softnic-{uid}-")) {
        if !path.as_os_str().as_bytes().starts_with(runs.as_os_str().as_bytes()) {
            remove_fabric(&path);
        }
    }
}

fn run_prefix(uid: u32) -> String {
    format!("softnic-{uid}-run-")
}

fn entries(prefix: &str) -> impl Iterator<Item = PathBuf> {
    let found = fs::read_dir(BASE).into_iter().flatten().flatten();
    found.filter(move |entry| entry.file_name().as_bytes().starts_with(prefix.as_bytes())).map(|entry| entry.path())
}

/// If no process uses it and no run could: the command of a killed runner may not have opened its devices yet.
fn remove_fabric(fabric: &Path) {
    // SAFETY: no arguments, can't fail.
    let uid = unsafe { libc::getuid() };
    let line = format!("fabric {}", fabric.display());
    let names_it = |run: PathBuf| {
        fs::read_to_string(run.join("config")).is_ok_and(|config| config.lines().any(|found| found == line))
    };
    if !entries(&run_prefix(uid)).any(names_it) {
        let _ = fabric::remove_if_unused(fabric);
    }
}

fn is_abandoned(path: &Path) -> bool {
    // One that was just made may not be locked yet.
    let age = |m: fs::Metadata| m.modified().ok().and_then(|t| t.elapsed().ok());
    let old = fs::metadata(path).ok().and_then(age).is_some_and(|age| age.as_secs() >= 10);
    old && File::open(path).is_ok_and(|directory| try_lock(&directory)) && !has_processes(path)
}

/// Whether a process was started as one of the run. A program that closes all descriptors, as daemons do, has lost the lock.
fn has_processes(run: &Path) -> bool {
    let variable = [b"SOFTNIC_DIR=", run.as_os_str().as_bytes()].concat();
    fs::read_dir("/proc").into_iter().flatten().flatten().any(|process| {
        let environment = fs::read(process.path().join("environ"));
        environment.is_ok_and(|text| text.split(|byte| *byte == 0).any(|found| found == variable))
    })
}

fn try_lock(directory: &File) -> bool {
    // SAFETY: the descriptor is open.
    unsafe { libc::flock(directory.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) == 0 }
}

/// Field 22 of /proc/PID/stat: with it a process can be told from a later one of the same number. In the run's name it makes that unique.
fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(19)?.parse().ok()
}
