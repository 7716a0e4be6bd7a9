// SPDX-License-Identifier: MIT OR Apache-2.0
//! The dynamic linker. Nothing is ever closed: pointers into a library that was opened stay good.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::{NonNull, null_mut};

/// How every library is opened: all symbols at once, none of them offered to others.
pub const NOW_LOCAL: c_int = libc::RTLD_NOW | libc::RTLD_LOCAL;

/// An open library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(*mut c_void);

// SAFETY: the dynamic linker's functions take handles from any thread.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

/// The beginning of glibc's and musl's `struct link_map`, which is public in both.
#[repr(C)]
struct LinkMap {
    base: usize,
    name: *const c_char,
}

/// `dlopen`. After `None`, [`last_error`] has the reason.
pub fn open(path: &CStr, flags: c_int) -> Option<Handle> {
    // SAFETY: a NUL-terminated path. The library's constructors run: that is what the caller asks for.
    let raw = unsafe { libc::dlopen(path.as_ptr(), flags) };
    (!raw.is_null()).then_some(Handle(raw))
}

/// The library if this process has loaded it already; doesn't load it.
pub fn loaded(path: &CStr) -> Option<Handle> {
    open(path, NOW_LOCAL | libc::RTLD_NOLOAD)
}

/// The linker's own words about the last failure on this thread, cut to fit `buf`. Empty if there was none.
pub fn last_error(buf: &mut [u8]) -> &CStr {
    // SAFETY: `dlerror` returns NULL or a string that lives until this thread's next call.
    let text = unsafe {
        let raw = libc::dlerror();
        if raw.is_null() { c"" } else { CStr::from_ptr(raw) }
    };
    copy(text, buf)
}

/// As much of `text` as fits into `buf`, with its NUL.
fn copy<'a>(text: &CStr, buf: &'a mut [u8]) -> &'a CStr {
    let room = buf.len().saturating_sub(1);
    for (to, from) in buf.iter_mut().zip(text.to_bytes().iter().take(room).chain(&[0])) {
        *to = *from;
    }
    CStr::from_bytes_until_nul(buf).unwrap_or(c"")
}

impl Handle {
    /// The global scope: what the program itself is linked against.
    pub const GLOBAL: Handle = Handle(libc::RTLD_DEFAULT);

    /// Takes a handle of the caller's.
    ///
    /// # Safety
    /// It comes from `dlopen` and is never closed.
    pub unsafe fn from_raw(raw: NonNull<c_void>) -> Handle {
        Handle(raw.as_ptr())
    }

    /// `dlsym`: the default version of a symbol, or NULL.
    pub fn sym(self, name: &CStr) -> *mut c_void {
        // SAFETY: a live handle and a NUL-terminated name.
        unsafe { libc::dlsym(self.0, name.as_ptr()) }
    }

    /// `dlvsym`: exactly this version of a symbol, or NULL. (libibverbs has two ABIs under the same names.)
    #[cfg(target_env = "gnu")]
    pub fn vsym(self, name: &CStr, version: &CStr) -> *mut c_void {
        // SAFETY: a live handle and NUL-terminated names.
        unsafe { libc::dlvsym(self.0, name.as_ptr(), version.as_ptr()) }
    }

    /// Other C libraries have no symbol versions.
    #[cfg(not(target_env = "gnu"))]
    pub fn vsym(self, name: &CStr, _version: &CStr) -> *mut c_void {
        self.sym(name)
    }

    /// The file that the library was loaded from, or `None` for the program itself and for [`Handle::GLOBAL`].
    #[cfg(target_env = "gnu")]
    pub fn path(self) -> Option<&'static CStr> {
        let mut map: *mut LinkMap = null_mut();
        if self == Handle::GLOBAL {
            return None;
        }
        // SAFETY: a live handle; the request writes one pointer.
        let failed = unsafe { libc::dlinfo(self.0, libc::RTLD_DI_LINKMAP, (&raw mut map).cast()) } != 0;
        if failed || map.is_null() {
            return None;
        }
        // SAFETY: the linker's entry and its name live as long as the library, which is never closed.
        let name = unsafe { CStr::from_ptr((*map).name) };
        (!name.is_empty()).then_some(name)
    }

    /// Other C libraries keep the handle's content to themselves, except musl, whose handle is its `link_map`.
    #[cfg(not(target_env = "gnu"))]
    pub fn path(self) -> Option<&'static CStr> {
        None
    }
}

/// The library which `address` lies in: its base address and file (`dladdr`).
///
/// # Safety
/// That library is not unloaded while the path is in use.
pub unsafe fn addr_object(address: *const c_void) -> Option<(*mut c_void, &'static CStr)> {
    let mut info = libc::Dl_info {
        dli_fname: core::ptr::null(),
        dli_fbase: null_mut(),
        dli_sname: core::ptr::null(),
        dli_saddr: null_mut(),
    };
    // SAFETY: `dladdr` takes any address, and only fills in `info`.
    if unsafe { libc::dladdr(address, &mut info) } == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a string of the linker's that lives as long as the library.
    Some((info.dli_fbase, unsafe { CStr::from_ptr(info.dli_fname) }))
}

/// Calls `visit` with base address (as [`addr_object`] has it) and file of everything that is loaded. The dynamic linker
/// is locked meanwhile: `visit` must not call it, and the path is gone afterwards.
pub fn each_object(visit: &mut dyn FnMut(*mut c_void, &CStr)) {
    type Visit<'a> = &'a mut dyn FnMut(*mut c_void, &CStr);

    unsafe extern "C" fn one(info: *mut libc::dl_phdr_info, _size: usize, visit: *mut c_void) -> c_int {
        // SAFETY: the linker's description of an object, and `visit` as it was handed over below.
        let (info, visit) = unsafe { (&*info, &mut *visit.cast::<Visit<'_>>()) };
        if !info.dlpi_name.is_null() && !info.dlpi_phdr.is_null() {
            // SAFETY: the headers of a loaded object.
            let headers = unsafe { core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
            let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
            let first = loaded.map(|header| header.p_vaddr & !(header.p_align.max(1) - 1)).min().unwrap_or(0);
            let base = info.dlpi_addr.wrapping_add(first) as *mut c_void;
            // SAFETY: a string of the linker's.
            visit(base, unsafe { CStr::from_ptr(info.dlpi_name) });
        }
        0
    }

    let mut visit: Visit<'_> = visit;
    // SAFETY: the function gets the pointer as its last argument, while `visit` lives.
    unsafe { libc::dl_iterate_phdr(Some(one), (&raw mut visit).cast()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sees_what_is_loaded() {
        let getenv = loaded(c"libc.so.6").unwrap().sym(c"getenv");
        // SAFETY: libc is never unloaded.
        let (base, path) = unsafe { addr_object(getenv) }.unwrap();
        let mut seen = 0;
        each_object(&mut |at, name| seen += u32::from(at == base && name == path));
        assert_eq!(seen, 1);
    }

    #[test]
    fn finds_what_is_loaded() {
        let libc = loaded(c"libc.so.6").unwrap();
        assert!(libc.path().unwrap().to_bytes().ends_with(b"libc.so.6"));
        let getenv = libc.sym(c"getenv");
        assert!(!getenv.is_null());
        assert!(libc.vsym(c"getenv", c"NO_SUCH_VERSION").is_null());
        assert!(!Handle::GLOBAL.sym(c"getenv").is_null());
        // SAFETY: libc is never unloaded.
        let (base, path) = unsafe { addr_object(getenv) }.unwrap();
        assert!(base.cast_const() < getenv.cast_const() && path.to_bytes().ends_with(b"libc.so.6"));
        // SAFETY: nothing lies there.
        assert!(unsafe { addr_object(8 as *const c_void) }.is_none());
    }

    #[test]
    fn says_why_not() {
        assert!(loaded(c"libno-such-thing.so.7").is_none());
        assert!(open(c"libno-such-thing.so.7", NOW_LOCAL).is_none());
        let mut buf = [0xff_u8; 24];
        assert_eq!(last_error(&mut buf), c"libno-such-thing.so.7: ");
        assert_eq!(last_error(&mut buf), c"", "dlerror reports once");
        assert_eq!(copy(c"abc", &mut []), c"");
        assert_eq!(copy(c"abc", &mut [1, 1, 1]), c"ab");
        assert_eq!(copy(c"abc", &mut [1, 1, 1, 1, 1]), c"abc");
    }
}
