// SPDX-License-Identifier: MIT OR Apache-2.0
//! The run's own directory, and the fabric's. Both in memory (/dev/shm); the first is removed with the run, the second by the last run that uses it.

use super::config::Config;
use super::tree;
use crate::fabric;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

pub struct RunDirectory {
    pub path: PathBuf,
    /// Locked as long as the run lasts, whatever becomes of the runner: an open lock says that the directory is somebody's.
    _lock: File,
    pub fabric: PathBuf,
    /// Names the run in the fabric.
    pub run: u64,
}

const BASE: &str = "/dev/shm";

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
        let directory = RunDirectory { _lock: lock, path, fabric, run: start << 22 ^ u64::from(pid) };
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

impl Drop for RunDirectory {
    fn drop(&mut self) {
        let _ = fabric::remove_if_unused(&self.fabric);
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes what runners left that were killed. Their locks went with them.
fn sweep(uid: u32) {
    let prefix = format!("softnic-{uid}-run-");
    for entry in fs::read_dir(BASE).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix)) && is_abandoned(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_abandoned(path: &Path) -> bool {
    // One that was just made may not be locked yet.
    let age = |m: fs::Metadata| m.modified().ok().and_then(|t| t.elapsed().ok());
    let old = fs::metadata(path).ok().and_then(age).is_some_and(|age| age.as_secs() >= 10);
    old && File::open(path).is_ok_and(|directory| try_lock(&directory))
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
