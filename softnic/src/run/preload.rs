// SPDX-License-Identifier: MIT OR Apache-2.0
//! The object that goes in front of the C library, and when it can't.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const NAME: &str = "libsoftnic.so";

/// Beside the runner (a build), or in the library folder of its prefix (an installation).
pub fn object() -> Result<PathBuf, String> {
    // SAFETY: getauxval has no preconditions.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        return Err("refused: the runner has raised privileges (AT_SECURE), under which preloading is ignored".into());
    }
    let program = std::env::current_exe().map_err(|e| format!("where am I: {e}"))?;
    let folder = program.parent().unwrap_or(Path::new("/"));
    let mut places = vec![folder.join(NAME)];
    for library in ["lib", "lib/softnic", "lib64", &format!("lib/{}-linux-gnu", std::env::consts::ARCH)] {
        places.push(folder.join("..").join(library).join(NAME));
    }
    let found = places.iter().find_map(|p| p.canonicalize().ok());
    found.ok_or(format!("{NAME} is neither beside {} nor in ../lib; build or install both", program.display()))
}

/// The object's name for LD_PRELOAD. What the loader would take for several names, or for something to fill in, gets another in the run's directory.
pub fn name(object: &Path, run: &Path) -> Result<String, String> {
    if let Some(name) = object.to_str().filter(|name| !name.contains([':', ' ', '$'])) {
        return Ok(name.into());
    }
    let link = run.join(NAME);
    std::os::unix::fs::symlink(object, &link).map_err(|e| format!("{}: {e}", link.display()))?;
    Ok(link.display().to_string())
}

/// LD_PRELOAD with `object` in front, but behind the sanitizers, which insist on being first.
pub fn in_front(object: &str, present: &str) -> String {
    let is_sanitizer = |p: &&str| {
        let file = p.rsplit('/').next().unwrap_or(p);
        ["libasan.so", "libtsan.so", "liblsan.so", "libubsan.so", "libclang_rt."].iter().any(|s| file.starts_with(s))
    };
    let present: Vec<&str> = present.split([':', ' ']).filter(|p| !p.is_empty() && *p != object).collect();
    let sanitizers = present.iter().copied().filter(is_sanitizer);
    let others = present.iter().copied().filter(|p| !is_sanitizer(p));
    let all: Vec<&str> = sanitizers.chain(std::iter::once(object)).chain(others).collect();
    all.join(":")
}

/// A program that gains rights by its file runs without preloaded objects and would see the real devices.
pub fn refuse_privileged(program: &str) -> Result<(), String> {
    let found: Option<PathBuf> = if program.contains('/') {
        Some(program.into())
    } else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).map(|dir| dir.join(program)).find(|file| file.is_file())
    };
    let Some(found) = found else { return Ok(()) };
    let mode = found.metadata().map_or(0, |m| m.permissions().mode());
    if mode & 0o6000 != 0 {
        return Err(format!("{program} is set-user-ID or set-group-ID: the loader ignores preloaded objects for it"));
    }
    // Root has the capabilities anyway and gains nothing.
    // SAFETY: no arguments, can't fail.
    if unsafe { libc::geteuid() } != 0 && has_capabilities(&found) {
        return Err(format!("{program} has file capabilities: the loader ignores preloaded objects for it"));
    }
    Ok(())
}

fn has_capabilities(file: &Path) -> bool {
    let Ok(path) = CString::new(file.as_os_str().as_bytes()) else { return false };
    // SAFETY: two C strings; no buffer, only the length is asked for.
    unsafe { libc::getxattr(path.as_ptr(), c"security.capability".as_ptr(), std::ptr::null_mut(), 0) > 0 }
}

#[cfg(test)]
mod tests {
    use super::{in_front, name};
    use std::path::Path;

    #[test]
    fn a_name_that_the_loader_would_take_apart_gets_another() {
        let run = std::env::temp_dir().join(format!("softnic-name-{}", std::process::id()));
        std::fs::create_dir(&run).unwrap();
        assert_eq!(name(Path::new("/usr/lib/libsoftnic.so"), &run).as_deref(), Ok("/usr/lib/libsoftnic.so"));
        for object in ["/a b/libsoftnic.so", "/a:b/libsoftnic.so", "/a/$LIB/libsoftnic.so"] {
            let link = run.join("libsoftnic.so");
            assert_eq!(name(Path::new(object), &run).as_deref(), Ok(link.to_str().unwrap()));
            assert_eq!(std::fs::read_link(&link).unwrap(), Path::new(object));
            std::fs::remove_file(&link).unwrap();
        }
        std::fs::remove_dir(&run).unwrap();
    }

    #[test]
    fn the_object_goes_first_but_behind_sanitizers() {
        assert_eq!(in_front("/s.so", ""), "/s.so");
        assert_eq!(in_front("/s.so", "/a.so:/s.so /b.so"), "/s.so:/a.so:/b.so");
        assert_eq!(in_front("/s.so", "x.so:/usr/lib/libasan.so.8"), "/usr/lib/libasan.so.8:/s.so:x.so");
    }
}
