// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds and loads libibverbs, once and on first need. Success is kept for ever; after a failure the next call tries
//! again, since the library may have been installed or named meanwhile.

use std::ffi::{CStr, c_char, c_void};
use std::fmt::Write;
use std::ptr::NonNull;
use std::sync::OnceLock;

use super::cold::cold_structs;
use super::error::{Error, Reason, Result};
use super::lock::Lock;
use super::status::*;
use super::text::{Name, Writer, chars, tail, until_zero, write_bytes};
use crate::sys::dl::{self, Handle};
use crate::sys::ibv::{IBV_FORK_ENABLED, IBV_FORK_UNNEEDED};
use crate::sys::verbs::{MissingSet, SYMBOLS, Symbol, Verbs};
use crate::sys::{convert, os};

/// libibverbs.so.1 of rdma-core. The only library that this version loads.
pub const VBN_LIBRARY_IBVERBS: i32 = 0;

/// `vbn_library_info.source`: libibverbs.so.1, where the dynamic linker looks for it.
pub const VBN_LIBRARY_FROM_DEFAULT: i32 = 0;
/// `vbn_library_info.source`: the environment variable VBN_IBVERBS_LIBRARY.
pub const VBN_LIBRARY_FROM_ENV: i32 = 1;
/// `vbn_library_info.source`: the path given to vbn_library_init.
pub const VBN_LIBRARY_FROM_PATH: i32 = 2;
/// `vbn_library_info.source`: the open library given to vbn_library_init.
pub const VBN_LIBRARY_FROM_HANDLE: i32 = 3;
/// `vbn_library_info.source`: the lookup function given to vbn_library_init.
pub const VBN_LIBRARY_FROM_LOOKUP: i32 = 4;

/// `fork_state`: the library is too old to tell, or not loaded.
pub const VBN_FORK_UNKNOWN: i32 = -1;
/// `fork_state`: a fork() may cut the parent's registered memory off; call vbn_fork_init() first.
pub const VBN_FORK_DISABLED: i32 = 0;
/// `fork_state`: vbn_fork_init(), or ibv_fork_init(), has been called.
pub const VBN_FORK_ENABLED: i32 = 1;
/// `fork_state`: the kernel copies registered memory at fork(), nothing has to be done.
pub const VBN_FORK_UNNEEDED: i32 = 2;

/// Finds a function of a library: its address, or NULL. Called with a lock held: must not call libverbena.
pub type vbn_lookup_fn =
    Option<unsafe extern "C" fn(symbol: *const c_char, version: *const c_char, arg: *mut c_void) -> *mut c_void>;

/// Where a library comes from. All-zero: VBN_IBVERBS_LIBRARY from the environment if it is set and the program runs
/// with no more rights than its caller, else libibverbs.so.1. Set at most one of `path`, `handle` and `lookup`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_library_attr {
    /// sizeof(vbn_library_attr).
    pub struct_size: usize,
    /// VBN_LIBRARY_IBVERBS.
    pub library: i32,
    /// Must be 0.
    pub reserved0: u32,
    /// What to give to dlopen. Copied.
    pub path: *const c_char,
    /// What dlopen returned. Must stay open for ever.
    pub handle: *mut c_void,
    /// Called for each symbol and its version, at the first call that needs the library.
    pub lookup: vbn_lookup_fn,
    /// Handed to `lookup`.
    pub lookup_arg: *mut c_void,
}

/// What is known of a library that is loaded at run time.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_library_info {
    /// sizeof(vbn_library_info), set by the caller.
    pub struct_size: usize,
    /// VBN_LIBRARY_*.
    pub library: i32,
    /// 1 if the library is loaded and in use.
    pub loaded: u8,
    /// 0.
    pub reserved0: [u8; 3],
    /// VBN_LIBRARY_FROM_*: where it was looked for.
    pub source: i32,
    /// VBN_FORK_*: what fork() does to registered memory.
    pub fork_state: i32,
    /// The rdma-core release that it is at least, judged by its symbols; 0 when none was loaded.
    pub release_min: u32,
    /// It is older than this rdma-core release, whose symbols it lacks; 0 when none is known to be newer.
    pub release_below: u32,
    /// How many symbols it lacks; vbn_library_missing tells which. None of them is required if `loaded` is 1.
    pub missing_count: u32,
    /// 0.
    pub reserved1: u32,
    /// The file, as the dynamic linker knows it; before loading, what was looked for.
    pub path: [c_char; 512],
    /// Why it could not be loaded; empty when it is.
    pub error: [c_char; 512],
}

/// A function that the loaded library lacks.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_symbol_info {
    /// sizeof(vbn_symbol_info), set by the caller.
    pub struct_size: usize,
    /// Its name.
    pub name: [c_char; 64],
    /// Its symbol version.
    pub version: [c_char; 32],
    /// The rdma-core release that brought it.
    pub since: [c_char; 16],
    /// The functions of this library that need it, or what is lost without it. Empty: nothing.
    pub needed_by: [c_char; 128],
    /// 1 if nothing works without it.
    pub required: u8,
    /// 0.
    pub reserved0: [u8; 7],
}
cold_structs!(vbn_library_attr, vbn_library_info, vbn_symbol_info);

const PATH_SIZE: usize = 512;
const DEFAULT_PATH: &CStr = c"libibverbs.so.1";
const ENVIRONMENT: &CStr = c"VBN_IBVERBS_LIBRARY";

/// Where the caller wants the library from.
#[allow(clippy::large_enum_variant, reason = "there is one of it, and a box needs memory")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Default,
    Path([u8; PATH_SIZE]),
    Handle(NonNull<c_void>),
    Lookup(usize, *mut c_void),
}

type Lookup = unsafe extern "C" fn(*const c_char, *const c_char, *mut c_void) -> *mut c_void;

impl Origin {
    /// Checks what the caller gave; `path` are the bytes of the C string in `attr`.
    pub fn from_attr(attr: &vbn_library_attr, path: Option<&[u8]>) -> Result<Self> {
        check_library(attr.library)?;
        if attr.reserved0 != 0 {
            return Err(Error::range("reserved0", attr.reserved0.into(), "0"));
        }
        match (path, NonNull::new(attr.handle), attr.lookup) {
            (None, None, None) => Ok(Self::Default),
            (Some(path), None, None) => copy_path(path).map(Self::Path),
            (None, Some(handle), None) => Ok(Self::Handle(handle)),
            (None, None, Some(lookup)) => Ok(Self::Lookup(lookup as usize, attr.lookup_arg)),
            _ => Err(Error::text(VBN_ERR_ARGUMENT, "more than one of path, handle and lookup is set")),
        }
    }
}

fn copy_path(path: &[u8]) -> Result<[u8; PATH_SIZE]> {
    let mut copy = [0; PATH_SIZE];
    match copy.get_mut(..path.len()) {
        Some(room) if path.len() < PATH_SIZE && !path.is_empty() => room.copy_from_slice(path),
        _ => return Err(Error::range("length of path", path.len() as u64, "1..511")),
    }
    Ok(copy)
}

fn check_library(library: i32) -> Result<()> {
    if library == VBN_LIBRARY_IBVERBS {
        return Ok(());
    }
    Err(Error::range_signed("library", library.into(), "VBN_LIBRARY_IBVERBS (0)"))
}

/// What is known besides the functions themselves.
struct State {
    origin: Origin,
    source: i32,
    missing: MissingSet,
    path: [u8; PATH_SIZE],
    error: [u8; PATH_SIZE],
}

// SAFETY: the pointers in `origin` are the caller's, compared and handed back only.
unsafe impl Send for State {}

static STATE: Lock<State> = Lock::new(State {
    origin: Origin::Default,
    source: VBN_LIBRARY_FROM_DEFAULT,
    missing: MissingSet::new(),
    path: [0; PATH_SIZE],
    error: [0; PATH_SIZE],
});

/// The loaded functions: set once, under the lock of `STATE`.
static VERBS: OnceLock<Verbs> = OnceLock::new();

/// libibverbs' functions, which are loaded if that hasn't happened yet.
pub fn verbs() -> Result<&'static Verbs> {
    match VERBS.get() {
        Some(verbs) => Ok(verbs),
        None => load(&mut STATE.lock()),
    }
}

/// The functions if they are loaded.
pub fn loaded() -> Option<&'static Verbs> {
    VERBS.get()
}

/// Says where the library shall come from. Once it is loaded only the same again is accepted.
pub fn init(origin: Origin) -> Result<()> {
    let mut state = STATE.lock();
    if state.origin == origin {
        return Ok(());
    }
    if VERBS.get().is_some() {
        return Err(Error::text(VBN_ERR_BUSY, "libibverbs is already loaded from elsewhere")
            .on(Name::new(tail(until_zero(&state.path))))
            .hint("call vbn_library_init before anything else"));
    }
    state.origin = origin;
    Ok(())
}

fn load(state: &mut State) -> Result<&'static Verbs> {
    // Another thread may have been quicker.
    if let Some(verbs) = VERBS.get() {
        return Ok(verbs);
    }
    let (result, missing) = match state.origin {
        Origin::Lookup(function, arg) => load_by_lookup(state, function, arg),
        Origin::Handle(raw) => {
            state.source = VBN_LIBRARY_FROM_HANDLE;
            // SAFETY: the caller of vbn_library_init promised that it is an open library and stays so.
            let handle = unsafe { Handle::from_raw(raw) };
            set(&mut state.path, handle.path().unwrap_or(c"the open library").to_bytes());
            load_from(handle)
        }
        Origin::Default | Origin::Path(_) => load_from(open(state)?),
    };
    state.missing = missing;
    match result {
        Ok(verbs) => {
            state.error = [0; PATH_SIZE];
            note_path(state, verbs.open_device as *const c_void);
            Ok(VERBS.get_or_init(|| verbs))
        }
        Err(symbol) => Err(lacks(state, symbol)),
    }
}

type Loaded = (std::result::Result<Verbs, &'static Symbol>, MissingSet);

fn load_from(handle: Handle) -> Loaded {
    // SAFETY: the handle is that of a libibverbs, whose versioned symbols have the types of the table.
    unsafe { Verbs::load(&mut |name, version| handle.vsym(name, version)) }
}

fn load_by_lookup(state: &mut State, function: usize, arg: *mut c_void) -> Loaded {
    state.source = VBN_LIBRARY_FROM_LOOKUP;
    set(&mut state.path, b"the lookup function");
    // SAFETY: `Origin::from_attr` made the number from a function pointer of this type.
    let lookup = unsafe { std::mem::transmute::<usize, Lookup>(function) };
    // SAFETY: the caller of vbn_library_init promised libibverbs' functions, or NULL.
    unsafe { Verbs::load(&mut |name, version| lookup(name.as_ptr(), version.as_ptr(), arg)) }
}

/// Opens the file that was asked for, or else the one in the environment, or else the usual one.
fn open(state: &mut State) -> Result<Handle> {
    let mut room = [0; PATH_SIZE];
    let path = match &state.origin {
        Origin::Path(path) => {
            state.source = VBN_LIBRARY_FROM_PATH;
            room = *path;
            CStr::from_bytes_until_nul(&room).unwrap_or(DEFAULT_PATH)
        }
        _ => match os::secure_env(ENVIRONMENT, &mut room) {
            Some(path) => {
                state.source = VBN_LIBRARY_FROM_ENV;
                path
            }
            None => {
                state.source = VBN_LIBRARY_FROM_DEFAULT;
                DEFAULT_PATH
            }
        },
    };
    set(&mut state.path, path.to_bytes());
    dl::open(path, dl::NOW_LOCAL).ok_or_else(|| {
        dl::last_error(&mut state.error);
        let name = Name::new(tail(path.to_bytes()));
        Error::text(VBN_ERR_LIBRARY_MISSING, "the dynamic linker could not load libibverbs").on(name).hint(
            "install rdma-core's libibverbs (Debian, Ubuntu: libibverbs1 ibverbs-providers) or name the file in \
             VBN_IBVERBS_LIBRARY; vbn_library_query has the linker's own words",
        )
    })
}

fn lacks(state: &mut State, symbol: &'static Symbol) -> Error {
    let name = symbol.name.to_str().unwrap_or_default();
    let mut out = Writer::new(&mut state.error);
    // The writer cuts what does not fit and never fails.
    let _ = write_bytes(&mut out, until_zero(&state.path));
    let _ = write!(out, " lacks {name}, which every libibverbs since rdma-core 33 has");
    Error::new(VBN_ERR_SYMBOL_MISSING, Reason::Symbol(name, symbol.since))
        .on(Name::new(tail(until_zero(&state.path))))
        .hint("libverbena needs rdma-core 33 or newer")
}

/// Replaces what was asked for by what the linker really loaded.
fn note_path(state: &mut State, function: *const c_void) {
    // SAFETY: libraries are never unloaded here; one that came by a handle stays open by the caller's promise.
    if let Some((_, path)) = unsafe { dl::addr_object(function) } {
        set(&mut state.path, path.to_bytes());
    }
}

fn set(room: &mut [u8; PATH_SIZE], text: &[u8]) {
    room.fill(0);
    for (to, from) in room.iter_mut().take(PATH_SIZE - 1).zip(text) {
        *to = *from;
    }
}

/// Tells where the library stands; tries to load it first.
pub fn query(library: i32) -> Result<vbn_library_info> {
    check_library(library)?;
    let loaded = verbs().is_ok();
    let state = STATE.lock();
    let (release_min, release_below) = release(&state.missing, loaded);
    Ok(vbn_library_info {
        struct_size: size_of::<vbn_library_info>(),
        library,
        loaded: loaded.into(),
        reserved0: [0; 3],
        source: state.source,
        fork_state: fork_state(),
        release_min,
        release_below,
        missing_count: state.missing.len() as u32,
        reserved1: 0,
        path: state.path.map(|b| b as c_char),
        error: if loaded { [0; 512] } else { state.error.map(|b| b as c_char) },
    })
}

/// Between which releases of rdma-core a library lies that lacks `missing`.
fn release(missing: &MissingSet, loaded: bool) -> (u32, u32) {
    if !loaded {
        return (0, 0);
    }
    let since = |symbol: &Symbol| symbol.since.parse().unwrap_or(0);
    let present = SYMBOLS.iter().enumerate().filter(|(index, _)| !missing.contains(*index));
    let newest = present.map(|(_, symbol)| since(symbol)).max().unwrap_or(0);
    (newest, missing.iter().map(since).filter(|release| *release > newest).min().unwrap_or(0))
}

/// One of the symbols that the library lacks.
pub fn missing(library: i32, index: u32) -> Result<vbn_symbol_info> {
    check_library(library)?;
    // A library that lacks required symbols is refused, and just then the list is wanted.
    if let Err(error) = verbs()
        && error.status != VBN_ERR_SYMBOL_MISSING
    {
        return Err(error);
    }
    let set = STATE.lock().missing;
    let symbol = set.iter().nth(index as usize).ok_or(
        Error::text(VBN_ERR_NOT_FOUND, "the library lacks fewer symbols than that")
            .value(index.into(), set.len() as u64),
    )?;
    Ok(vbn_symbol_info {
        struct_size: size_of::<vbn_symbol_info>(),
        name: chars(symbol.name.to_bytes()),
        version: chars(symbol.version.to_bytes()),
        since: chars(symbol.since.as_bytes()),
        needed_by: chars(needed_by(symbol).as_bytes()),
        required: symbol.required.into(),
        reserved0: [0; 7],
    })
}

fn needed_by(symbol: &Symbol) -> &'static str {
    if symbol.required {
        return "everything";
    }
    match symbol.name.to_bytes() {
        b"ibv_fork_init" => "vbn_fork_init",
        b"ibv_is_fork_initialized" => "fork_state in vbn_library_query and vbn_context_query",
        b"ibv_reg_dmabuf_mr" => "vbn_mr_reg_dmabuf",
        b"ibv_query_port_speed" => "speed_100mbps in vbn_context_query_port",
        b"_ibv_query_gid_table" => "nothing: vbn_context_gid_table reads sysfs instead",
        _ => "",
    }
}

/// Makes fork() safe for registered memory where the kernel doesn't.
pub fn fork_init() -> Result<()> {
    let verbs = verbs()?;
    if matches!(fork_state(), VBN_FORK_ENABLED | VBN_FORK_UNNEEDED) {
        return Ok(());
    }
    let fork_init = verbs.fork_init.ok_or(Error::new(VBN_ERR_SYMBOL_MISSING, Reason::Symbol("ibv_fork_init", "12")))?;
    os::set_errno(0);
    // SAFETY: takes nothing.
    let ret = unsafe { fork_init() };
    convert::ret_errno(ret, os::errno()).map_err(|errno| {
        let error = Error::call("ibv_fork_init", errno);
        if errno == libc::EINVAL {
            error.hint("it is too late: call it before the first memory is registered")
        } else {
            error
        }
    })
}

/// VBN_FORK_*, without loading the library.
pub fn fork_state() -> i32 {
    let Some(query) = VERBS.get().and_then(|verbs| verbs.is_fork_initialized) else { return VBN_FORK_UNKNOWN };
    // SAFETY: takes nothing.
    match unsafe { query() } {
        IBV_FORK_ENABLED => VBN_FORK_ENABLED,
        IBV_FORK_UNNEEDED => VBN_FORK_UNNEEDED,
        _ => VBN_FORK_DISABLED,
    }
}

/// The version number in parts, checked by the compiler.
const fn part(text: &str) -> u32 {
    match u32::from_str_radix(text, 10) {
        Ok(number) => number,
        Err(_) => 0,
    }
}

/// This library's version: major << 16 | minor << 8 | patch.
pub const VBN_VERSION: u32 = part(env!("CARGO_PKG_VERSION_MAJOR")) << 16
    | part(env!("CARGO_PKG_VERSION_MINOR")) << 8
    | part(env!("CARGO_PKG_VERSION_PATCH"));

/// The same as zero-terminated text.
pub const VERSION_TEXT: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// Before fork(): nobody shall be in the middle of loading.
pub fn before_fork() {
    STATE.hold_for_fork();
}

/// After fork(), in both processes.
pub fn after_fork() {
    STATE.release_after_fork();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::cold::Cold;

    #[test]
    fn version_agrees_with_the_package() {
        let parts = VERSION_TEXT.trim_end_matches('\0').split('.').map(|part| part.parse().unwrap());
        assert_eq!(parts.fold(0, |sum, part: u32| sum << 8 | part), VBN_VERSION);
    }

    #[test]
    fn release_is_told_by_symbols() {
        let mut missing = MissingSet::new();
        assert_eq!(release(&missing, false), (0, 0));
        let newest = SYMBOLS.iter().map(|s| s.since.parse::<u32>().unwrap()).max().unwrap();
        assert_eq!(release(&missing, true), (newest, 0));
        for (index, symbol) in SYMBOLS.iter().enumerate() {
            if symbol.since.parse::<u32>().unwrap() > 36 {
                missing.insert(index);
            }
        }
        assert_eq!(release(&missing, true), (36, 59));
    }

    #[test]
    fn origins_are_checked() {
        let mut attr = vbn_library_attr::zeroed();
        assert!(Origin::from_attr(&attr, None).is_ok_and(|o| o == Origin::Default));
        assert!(Origin::from_attr(&attr, Some(&[b'x'; PATH_SIZE])).is_err());
        assert!(Origin::from_attr(&attr, Some(b"")).is_err());
        assert!(Origin::from_attr(&attr, Some(&[b'x'; PATH_SIZE - 1])).is_ok());
        attr.handle = 8 as *mut c_void;
        assert!(Origin::from_attr(&attr, Some(b"x")).is_err());
        attr.library = 1;
        assert_eq!(Origin::from_attr(&attr, None).err().unwrap().value, 1);
    }

    #[test]
    fn text_is_cut_and_terminated() {
        assert_eq!(chars::<4>(b"abcdef").map(|c| c as u8), *b"abc\0");
        assert_eq!(chars::<4>(b"a\0b").map(|c| c as u8), *b"a\0\0\0");
        assert_eq!(tail(&[b'x'; 100]).len(), 63);
        assert_eq!(tail(b"abc"), b"abc");
    }
}
