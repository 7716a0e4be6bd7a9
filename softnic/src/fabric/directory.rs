// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fabric's directory: who may use it, and the names in it.

use super::error::Error;
use super::registry::Registry;
use super::sys;
use std::path::{Path, PathBuf};

pub const REGISTRY: &str = "registry";
const RING: &str = "ring-";

/// Makes the directory if there is none, and refuses one that others could write to.
pub fn prepare_directory(path: &Path) -> Result<(), Error> {
    let shown = path.display();
    let name = sys::c_path(path).map_err(|e| Error::call(e, format_args!("fabric directory {shown:?}")))?;
    match sys::make_directory(&name) {
        Ok(()) | Err(libc::EEXIST) => {}
        Err(e) => return Err(Error::call(e, format_args!("can't make the fabric directory {shown}"))),
    }
    let status = sys::File::open(&name, libc::O_RDONLY | libc::O_DIRECTORY, 0)
        .and_then(|file| file.status())
        .map_err(|e| Error::call(e, format_args!("can't use the fabric directory {shown}")))?;
    let uid = sys::effective_uid();
    if status.uid != uid {
        return Err(Error::new(
            libc::EPERM,
            format!(
                "the fabric directory {shown} belongs to uid {}, this is uid {uid}: use another --fabric",
                status.uid
            ),
        ));
    }
    if status.mode & 0o077 != 0 {
        let mode = status.mode & 0o7777;
        return Err(Error::new(
            libc::EPERM,
            format!("the fabric directory {shown} has mode {mode:04o}, at most 0700 is safe: chmod 700, or remove it"),
        ));
    }
    Ok(())
}

/// Removes the directory if no run and no process uses it; says whether it did.
pub fn remove_if_unused(path: &Path) -> Result<bool, Error> {
    let registry = match Registry::open_existing(path) {
        Ok(registry) => registry,
        Err(e) if e.errno == libc::ENOENT => return Ok(false),
        Err(e) => return Err(e),
    };
    if !registry.close_if_unused() {
        return Ok(false);
    }
    let remove = |name: &str| {
        let _ = sys::c_path(&path.join(name)).and_then(|name| sys::remove_file(&name));
    };
    each_ring(path, |name, _, _| remove(name));
    remove(REGISTRY);
    // Fails if somebody has just made a new registry in it: then it is in use again, and that is fine.
    Ok(sys::c_path(path).and_then(|name| sys::remove_directory(&name)).is_ok())
}

/// One end of a ring: index in the process table and generation of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    pub index: usize,
    pub generation: u32,
}

fn ring_name(from: End, to: End) -> String {
    format!("{RING}{:02x}.{:08x}-{:02x}.{:08x}", from.index, from.generation, to.index, to.generation)
}

pub fn ring_path(directory: &Path, from: End, to: End) -> PathBuf {
    directory.join(ring_name(from, to))
}

fn parse_ring_name(name: &str) -> Option<(End, End)> {
    let end = |text: &str| {
        let (index, generation) = text.split_once('.')?;
        Some(End {
            index: usize::from_str_radix(index, 16).ok()?,
            generation: u32::from_str_radix(generation, 16).ok()?,
        })
    };
    let (from, to) = name.strip_prefix(RING)?.split_once('-')?;
    Some((end(from)?, end(to)?))
}

fn each_ring(directory: &Path, mut each: impl FnMut(&str, End, End)) {
    let Ok(path) = sys::c_path(directory) else { return };
    let Ok(file) = sys::File::open(&path, libc::O_RDONLY | libc::O_DIRECTORY, 0) else { return };
    // What can't be read is left lying: names with old generations hurt nobody.
    let _ = file.names(|name| {
        if let Some(name) = std::str::from_utf8(name).ok()
            && let Some((from, to)) = parse_ring_name(name)
        {
            each(name, from, to);
        }
    });
}

/// Removes the rings that earlier processes in this slot left.
pub fn remove_stale_rings(directory: &Path, mine: End) {
    let stale = |end: End| end.index == mine.index && end.generation != mine.generation;
    each_ring(directory, |name, from, to| {
        if stale(from) || stale(to) {
            let _ = sys::c_path(&directory.join(name)).and_then(|name| sys::remove_file(&name));
        }
    });
}

pub fn remove_ring(directory: &Path, from: End, to: End) {
    let _ = sys::c_path(&ring_path(directory, from, to)).and_then(|name| sys::remove_file(&name));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ring_names_survive_the_way_back() {
        let (from, to) = (End { index: 255, generation: u32::MAX }, End { index: 0, generation: 1 });
        assert_eq!(parse_ring_name(&ring_name(from, to)), Some((from, to)));
        for wrong in ["registry", "ring-", "ring-1.1", "ring-1.1-2", "ring-xx.1-2.2"] {
            assert_eq!(parse_ring_name(wrong), None, "{wrong}");
        }
    }
}
