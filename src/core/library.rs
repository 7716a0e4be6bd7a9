// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds and loads libibverbs, once and on first need. Success is kept for ever; after a failure the next call tries
//! again, since the library may have been installed or named meanwhile. Of libefa it tells what the devices brought.

use std::ffi::{CStr, c_char, c_void};
use std::fmt::Write;
use std::ptr::NonNull;
use std::sync::OnceLock;

use super::cm_library;
use super::cold::cold_structs;
use super::efa::Provider;
use super::error::{Error, Reason, Result};
use super::gpu_library;
use super::lock::Lock;
use super::status::*;
use super::text::{Name, Writer, chars, tail, until_zero, write_bytes};
use crate::sys::dl::{self, Handle};
use crate::sys::efa;
use crate::sys::ibv::{IBV_FORK_ENABLED, IBV_FORK_UNNEEDED};
use crate::sys::verbs::{MissingSet, SYMBOLS, Symbol, Verbs};
use crate::sys::{convert, os};

/// libibverbs.so.1 of rdma-core.
pub const VBN_LIBRARY_IBVERBS: i32 = 0;
/// libefa.so.1 of rdma-core, the provider of EFA devices. libibverbs loads it when it sees such a device, and libverbena
/// takes its functions from just that instance: no other copy accepts the device.
pub const VBN_LIBRARY_EFA: i32 = 1;
/// librdmacm.so.1 of rdma-core, the connection manager. It uses the libibverbs that its own NEEDED entry finds, which must be
/// the one in use here.
pub const VBN_LIBRARY_RDMACM: i32 = 2;

/// libcuda.so.1 of NVIDIA's driver, for the memory of its GPUs. The one that the process has loaded already, if any; it is never
/// initialised here (cuInit).
pub const VBN_LIBRARY_CUDA: i32 = 3;
/// libhsa-runtime64.so.1 of AMD's ROCm, for the memory of its GPUs. The one that the process has loaded already, if any; it is
/// never initialised here (hsa_init).
pub const VBN_LIBRARY_ROCM: i32 = 4;

/// `vbn_library_info.source`: libibverbs.so.1, where the dynamic linker looks for it; libefa.so.1 if something else has
/// loaded it.
pub const VBN_LIBRARY_FROM_DEFAULT: i32 = 0;
/// `vbn_library_info.source`: the environment variable VBN_IBVERBS_LIBRARY, VBN_EFA_LIBRARY, VBN_RDMACM_LIBRARY, VBN_CUDA_LIBRARY
/// or VBN_ROCM_LIBRARY.
pub const VBN_LIBRARY_FROM_ENV: i32 = 1;
/// `vbn_library_info.source`: the path given to vbn_library_init.
pub const VBN_LIBRARY_FROM_PATH: i32 = 2;
/// `vbn_library_info.source`: the open library given to vbn_library_init.
pub const VBN_LIBRARY_FROM_HANDLE: i32 = 3;
/// `vbn_library_info.source`: the lookup function given to vbn_library_init.
pub const VBN_LIBRARY_FROM_LOOKUP: i32 = 4;
/// `vbn_library_info.source`: libibverbs, as the provider of a device. The usual for VBN_LIBRARY_EFA.
pub const VBN_LIBRARY_FROM_PROVIDER: i32 = 5;

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
///
/// For VBN_LIBRARY_EFA this matters only where the provider that serves a device can't be found, as when it is linked
/// into the program. All-zero: VBN_EFA_LIBRARY from the environment, else the libefa.so.1 that something has loaded.
///
/// For VBN_LIBRARY_RDMACM as for libibverbs, with VBN_RDMACM_LIBRARY and librdmacm.so.1; for VBN_LIBRARY_CUDA with VBN_CUDA_LIBRARY and
/// libcuda.so.1, for VBN_LIBRARY_ROCM with VBN_ROCM_LIBRARY and libhsa-runtime64.so.1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_library_attr {
    /// sizeof(vbn_library_attr).
    pub struct_size: usize,
    /// VBN_LIBRARY_*.
    pub library: i32,
    /// Must be 0.
    pub reserved0: u32,
    /// What to give to dlopen. Copied.
    pub path: *const c_char,
    /// What dlopen returned. Must stay open for ever.
    pub handle: *mut c_void,
    /// Called for each symbol and its version ("" where the library's symbols have none), at the first call that needs the library.
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
    /// The rdma-core release that it is at least, judged by its symbols; 0 when none was loaded, and for a GPU's library.
    pub release_min: u32,
    /// It is older than this rdma-core release, whose symbols it lacks; 0 when none is known to be newer.
    pub release_below: u32,
    /// How many symbols it lacks; vbn_library_missing tells which. None of them is required if `loaded` is 1.
    pub missing_count: u32,
    /// How many copies of it this process has loaded: those in use here, and other files with a name of the library's.
    /// With more than 1, objects that raw verbs made may belong to another copy.
    pub copies: u32,
    /// The file, as the dynamic linker knows it; before loading, what was looked for.
    pub path: [c_char; 512],
    /// Why it could not be loaded; empty when it is.
    pub error: [c_char; 512],
    /// The file of another copy; empty if there is none.
    pub other_path: [c_char; 512],
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
    /// The rdma-core release that brought it; for a GPU's library the release of CUDA or ROCm, as "CUDA 11.7".
    pub since: [c_char; 16],
    /// The functions of this library that need it, or what is lost without it. Empty: nothing.
    pub needed_by: [c_char; 128],
    /// 1 if nothing works without it.
    pub required: u8,
    /// 0.
    pub reserved0: [u8; 7],
}
cold_structs!(vbn_library_attr, vbn_library_info, vbn_symbol_info);

/// cbindgen:ignore
pub(super) const PATH_SIZE: usize = 512;
const DEFAULT_PATH: &CStr = c"libibverbs.so.1";
const ENVIRONMENT: &CStr = c"VBN_IBVERBS_LIBRARY";
const EFA_PATH: &CStr = c"libefa.so.1";
const EFA_ENVIRONMENT: &CStr = c"VBN_EFA_LIBRARY";

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
    if matches!(library, VBN_LIBRARY_IBVERBS..=VBN_LIBRARY_ROCM) {
        return Ok(());
    }
    let all = "one of VBN_LIBRARY_IBVERBS (0), _EFA (1), _RDMACM (2), _CUDA (3), _ROCM (4)";
    Err(Error::range_signed("library", library.into(), all))
}

/// What is known besides the functions themselves.
struct State {
    origin: Origin,
    source: i32,
    missing: MissingSet,
    path: [u8; PATH_SIZE],
    error: [u8; PATH_SIZE],
    efa_origin: Origin,
    /// Why what was set for libefa could not be loaded.
    efa_error: [u8; PATH_SIZE],
}

// SAFETY: the pointers in the origins are the caller's, compared and handed back only.
unsafe impl Send for State {}

static STATE: Lock<State> = Lock::new(State {
    origin: Origin::Default,
    source: VBN_LIBRARY_FROM_DEFAULT,
    missing: MissingSet::new(),
    path: [0; PATH_SIZE],
    error: [0; PATH_SIZE],
    efa_origin: Origin::Default,
    efa_error: [0; PATH_SIZE],
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

/// Says where a library shall come from. Once it is in use only the same again is accepted.
pub fn init(library: i32, origin: Origin) -> Result<()> {
    match library {
        VBN_LIBRARY_RDMACM => return cm_library::init(origin),
        VBN_LIBRARY_CUDA => return gpu_library::CUDA.init(origin),
        VBN_LIBRARY_ROCM => return gpu_library::ROCM.init(origin),
        _ => {}
    }
    let mut state = STATE.lock();
    let busy = |what, path: &[u8]| {
        let hint = "call vbn_library_init before anything else";
        Err(Error::text(VBN_ERR_BUSY, what).on(Name::new(tail(path))).hint(hint))
    };
    if library == VBN_LIBRARY_EFA {
        return match Provider::all().next() {
            _ if state.efa_origin == origin => Ok(()),
            Some(provider) => busy("a libefa is already in use", provider.path.to_bytes()),
            None => {
                state.efa_origin = origin;
                Ok(())
            }
        };
    }
    if state.origin == origin {
        return Ok(());
    }
    if VERBS.get().is_some() {
        return busy("libibverbs is already loaded from elsewhere", until_zero(&state.path));
    }
    state.origin = origin;
    Ok(())
}

/// Where symbols are looked up.
#[derive(Clone, Copy)]
pub enum Symbols {
    Library(Handle),
    Function(usize, *mut c_void),
}

impl Symbols {
    /// The address, or NULL.
    pub fn get(&self, name: &CStr, version: &CStr) -> *mut c_void {
        match *self {
            Self::Library(library) if version.is_empty() => library.sym(name),
            Self::Library(library) => library.vsym(name, version),
            Self::Function(function, arg) => {
                // SAFETY: `Origin::from_attr` made the number from a function pointer of this type.
                let lookup = unsafe { std::mem::transmute::<usize, Lookup>(function) };
                // SAFETY: the caller of vbn_library_init gave the two together.
                unsafe { lookup(name.as_ptr(), version.as_ptr(), arg) }
            }
        }
    }
}

/// Where libefa's functions come from when the provider of a device has none to find, and VBN_LIBRARY_FROM_*. Only what
/// was set by the caller is loaded.
pub fn efa_fallback() -> Option<(Symbols, i32)> {
    let mut state = STATE.lock();
    let mut room = [0; PATH_SIZE];
    let (path, source) = match state.efa_origin {
        Origin::Lookup(function, arg) => return Some((Symbols::Function(function, arg), VBN_LIBRARY_FROM_LOOKUP)),
        Origin::Handle(raw) => {
            // SAFETY: the caller of vbn_library_init promised that it is an open library and stays so.
            return Some((Symbols::Library(unsafe { Handle::from_raw(raw) }), VBN_LIBRARY_FROM_HANDLE));
        }
        Origin::Path(path) => {
            room = path;
            (CStr::from_bytes_until_nul(&room).unwrap_or(EFA_PATH), VBN_LIBRARY_FROM_PATH)
        }
        Origin::Default => match os::secure_env(EFA_ENVIRONMENT, &mut room) {
            Some(path) => (path, VBN_LIBRARY_FROM_ENV),
            None => return Some((Symbols::Library(dl::loaded(EFA_PATH)?), VBN_LIBRARY_FROM_DEFAULT)),
        },
    };
    let library = dl::open(path, dl::NOW_LOCAL);
    if library.is_none() {
        dl::last_error(&mut state.efa_error);
    }
    library.map(|library| (Symbols::Library(library), source))
}

fn load(state: &mut State) -> Result<&'static Verbs> {
    // Another thread may have been quicker.
    if let Some(verbs) = VERBS.get() {
        return Ok(verbs);
    }
    let (result, missing) = match state.origin {
        Origin::Lookup(function, arg) => {
            state.source = VBN_LIBRARY_FROM_LOOKUP;
            set(&mut state.path, b"the lookup function");
            load_from(Symbols::Function(function, arg))
        }
        Origin::Handle(raw) => {
            state.source = VBN_LIBRARY_FROM_HANDLE;
            // SAFETY: the caller of vbn_library_init promised that it is an open library and stays so.
            let handle = unsafe { Handle::from_raw(raw) };
            set(&mut state.path, handle.path().unwrap_or(c"the open library").to_bytes());
            load_from(Symbols::Library(handle))
        }
        Origin::Default | Origin::Path(_) => load_from(Symbols::Library(open(state)?)),
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

fn load_from(symbols: Symbols) -> Loaded {
    // SAFETY: a libibverbs, by the promise of vbn_library_init's caller where it isn't the usual one: its versioned
    // symbols have the types of the table.
    unsafe { Verbs::load(&mut |name, version| symbols.get(name, version)) }
}

/// The file that was asked for, or else the one in the environment, or else the usual one; and VBN_LIBRARY_FROM_*.
pub fn wanted<'a>(
    origin: &Origin,
    environment: &CStr,
    usual: &'static CStr,
    room: &'a mut [u8; PATH_SIZE],
) -> (&'a CStr, i32) {
    if let Origin::Path(path) = origin {
        *room = *path;
        return (CStr::from_bytes_until_nul(room).unwrap_or(usual), VBN_LIBRARY_FROM_PATH);
    }
    match os::secure_env(environment, room) {
        Some(path) => (path, VBN_LIBRARY_FROM_ENV),
        None => (usual, VBN_LIBRARY_FROM_DEFAULT),
    }
}

/// Opens the library.
fn open(state: &mut State) -> Result<Handle> {
    let mut room = [0; PATH_SIZE];
    let path;
    (path, state.source) = wanted(&state.origin, ENVIRONMENT, DEFAULT_PATH, &mut room);
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

pub(super) fn set(room: &mut [u8; PATH_SIZE], text: &[u8]) {
    room.fill(0);
    for (to, from) in room.iter_mut().take(PATH_SIZE - 1).zip(text) {
        *to = *from;
    }
}

/// Tells where a library stands; tries to load libibverbs first.
pub fn query(library: i32) -> Result<vbn_library_info> {
    check_library(library)?;
    match library {
        VBN_LIBRARY_EFA => return Ok(query_efa()),
        VBN_LIBRARY_RDMACM => return Ok(cm_library::query()),
        VBN_LIBRARY_CUDA => return Ok(gpu_library::CUDA.query()),
        VBN_LIBRARY_ROCM => return Ok(gpu_library::ROCM.query()),
        _ => {}
    }
    let verbs = verbs().ok();
    let used = verbs.and_then(|verbs| object(verbs.open_device as *const c_void)).map(|(base, _)| base);
    let (copies, other) = copies(used.into_iter(), b"libibverbs");
    let state = STATE.lock();
    let (release_min, release_below) = release(SYMBOLS, &state.missing, verbs.is_some());
    Ok(vbn_library_info {
        struct_size: size_of::<vbn_library_info>(),
        library,
        loaded: verbs.is_some().into(),
        reserved0: [0; 3],
        source: state.source,
        fork_state: fork_state(),
        release_min,
        release_below,
        missing_count: state.missing.len() as u32,
        copies,
        path: state.path.map(|b| b as c_char),
        error: if verbs.is_some() { [0; PATH_SIZE] } else { state.error.map(|b| b as c_char) },
        other_path: other.map(|b| b as c_char),
    })
}

/// The libefa of the first EFA device that was opened, or why there is none.
fn query_efa() -> vbn_library_info {
    let first = Provider::all().last();
    let used = Provider::all().map(|provider| provider.base);
    let (copies, met) = copies(used, b"libefa");
    let second = Provider::all().find(|provider| first.is_some_and(|first| !std::ptr::eq(first, *provider)));
    let missing = first.map(|provider| provider.missing).unwrap_or_default();
    let (release_min, release_below) = release(efa::SYMBOLS, &missing, first.is_some());
    let met = Some(until_zero(&met)).filter(|path| !path.is_empty());
    let path = first.map(|provider| provider.path.to_bytes()).or(met).unwrap_or(EFA_PATH.to_bytes());
    let other = second.map(|provider| provider.path.to_bytes()).or(first.and(met)).unwrap_or_default();
    let why: [c_char; PATH_SIZE] = match first {
        Some(_) => [0; PATH_SIZE],
        None => match until_zero(&STATE.lock().efa_error) {
            b"" => chars(NO_EFA.as_bytes()),
            linker => chars(linker),
        },
    };
    vbn_library_info {
        struct_size: size_of::<vbn_library_info>(),
        library: VBN_LIBRARY_EFA,
        loaded: first.is_some().into(),
        reserved0: [0; 3],
        source: first.map_or(VBN_LIBRARY_FROM_PROVIDER, |provider| provider.source),
        fork_state: fork_state(),
        release_min,
        release_below,
        missing_count: missing.len() as u32,
        copies,
        path: chars(path),
        error: why,
        other_path: chars(other),
    }
}

const NO_EFA: &str = "no EFA device has been opened yet, and its provider is what is used";

/// The library that a function lies in: its base address and file.
pub(super) fn object(function: *const c_void) -> Option<(*mut c_void, &'static CStr)> {
    // SAFETY: nothing that this library looked up is ever unloaded: it keeps what it finds open.
    unsafe { dl::addr_object(function) }
}

/// How many copies of a library are loaded, and the file of one that isn't in use: those in use, and whatever has a name
/// of the library's, such as libefa.so.1 or libefa-rdmav34.so.
pub(super) fn copies(used: impl Iterator<Item = *mut c_void> + Clone, stem: &[u8]) -> (u32, [u8; PATH_SIZE]) {
    let mut count = used.clone().fold(0, |count: u32, _| count.saturating_add(1));
    let mut other = [0; PATH_SIZE];
    dl::each_object(&mut |base, path| {
        if is_named(path.to_bytes(), stem) && !used.clone().any(|known| known == base) {
            count = count.saturating_add(1);
            if until_zero(&other).is_empty() {
                set(&mut other, path.to_bytes());
            }
        }
    });
    (count, other)
}

/// Whether the file's name is `stem` with a suffix.
fn is_named(path: &[u8], stem: &[u8]) -> bool {
    let file = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    file.strip_prefix(stem).is_some_and(|rest| matches!(rest.first(), Some(b'.' | b'-')))
}

/// Between which releases of rdma-core a library lies that lacks `missing` of `table`.
pub fn release(table: &'static [Symbol], missing: &MissingSet, loaded: bool) -> (u32, u32) {
    if !loaded {
        return (0, 0);
    }
    let since = |symbol: &Symbol| symbol.since.parse().unwrap_or(0);
    let present = table.iter().enumerate().filter(|(index, _)| !missing.contains(*index));
    let newest = present.map(|(_, symbol)| since(symbol)).max().unwrap_or(0);
    (newest, missing.of(table).map(since).filter(|release| *release > newest).min().unwrap_or(0))
}

/// One of the symbols that the library lacks.
pub fn missing(library: i32, index: u32) -> Result<vbn_symbol_info> {
    check_library(library)?;
    let (table, set) = if library == VBN_LIBRARY_EFA {
        let first = Provider::all().last().ok_or(Error::text(VBN_ERR_LIBRARY_MISSING, NO_EFA))?;
        (efa::SYMBOLS, first.missing)
    } else if library == VBN_LIBRARY_RDMACM {
        cm_library::table()?
    } else if library == VBN_LIBRARY_CUDA {
        gpu_library::CUDA.table()?
    } else if library == VBN_LIBRARY_ROCM {
        gpu_library::ROCM.table()?
    } else {
        // A library that lacks required symbols is refused, and just then the list is wanted.
        if let Err(error) = verbs()
            && error.status != VBN_ERR_SYMBOL_MISSING
        {
            return Err(error);
        }
        (SYMBOLS, STATE.lock().missing)
    };
    let symbol = set.of(table).nth(index as usize).ok_or(
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
        b"ibv_import_dm" | b"ibv_unimport_dm" => "vbn_dm_import",
        b"ibv_query_qp_data_in_order" => "vbn_qp_data_in_order",
        b"_ibv_query_gid_table" => "nothing: vbn_context_gid_table reads sysfs instead",
        b"efadv_create_qp_ex" => "queue pairs of type VBN_QPT_SRD",
        b"efadv_create_cq" | b"efadv_cq_from_ibv_cq_ex" => "completions with the sender's GID, unsolicited receives",
        b"efadv_query_ah" => "vbn_efa_query_ah",
        b"efadv_query_mr" => "vbn_efa_query_mr",
        b"efadv_query_qp_wqs" => "vbn_efa_query_qp",
        b"efadv_query_cq" => "vbn_efa_query_cq",
        b"efadv_get_max_sq_depth" => "vbn_efa_max_sq_depth",
        b"efadv_get_max_rq_depth" => "vbn_efa_max_rq_depth",
        b"efadv_qp_from_ibv_qp_ex" => "processing hints of requests",
        b"cuPointerGetAttribute" | b"hsa_amd_pointer_info" => "everything about GPU memory",
        b"cuMemGetAddressRange_v2" => "the bounds of allocations, and so vbn_gpu_dmabuf_export",
        b"cuMemGetHandleForAddressRange" | b"hsa_amd_portable_export_dmabuf" => "vbn_gpu_dmabuf_export",
        b"cuFlushGPUDirectRDMAWrites" => "vbn_gpu_flush_writes",
        b"cuCtxSynchronize" => "vbn_gpu_synchronize",
        b"cuMemRetainAllocationHandle" | b"cuMemGetAllocationPropertiesFromHandle" | b"cuMemRelease" => {
            "allocation in vbn_gpu_pointer_query"
        }
        b"cuCtxGetCurrent" | b"cuCtxGetDevice" | b"cuCtxPushCurrent_v2" | b"cuCtxPopCurrent_v2" => {
            "what needs a current context: vbn_gpu_dmabuf_export, vbn_gpu_flush_writes, vbn_gpu_synchronize"
        }
        b"cuDevicePrimaryCtxGetState" | b"cuDevicePrimaryCtxRetain" | b"cuDevicePrimaryCtxRelease_v2" => {
            "the same in threads without a context of their own"
        }
        b"cuDeviceGet" | b"cuDeviceGetAttribute" | b"hsa_iterate_agents" | b"hsa_agent_get_info" => {
            "vbn_gpu_device_query"
        }
        b"cuDeviceGetCount" => "the number of GPUs in messages",
        b"cuDeviceGetName" | b"cuDeviceGetPCIBusId" | b"cuDriverGetVersion" | b"hsa_system_get_info" => {
            "a field of vbn_gpu_device_query"
        }
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
    gpu_library::before_fork();
    cm_library::before_fork();
    STATE.hold_for_fork();
}

/// After fork(), in both processes.
pub fn after_fork() {
    STATE.release_after_fork();
    cm_library::after_fork();
    gpu_library::after_fork();
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
        assert_eq!(release(SYMBOLS, &missing, false), (0, 0));
        let newest = SYMBOLS.iter().map(|s| s.since.parse::<u32>().unwrap()).max().unwrap();
        assert_eq!(release(SYMBOLS, &missing, true), (newest, 0));
        for (index, symbol) in SYMBOLS.iter().enumerate() {
            if symbol.since.parse::<u32>().unwrap() > 36 {
                missing.insert(index);
            }
        }
        assert_eq!(release(SYMBOLS, &missing, true), (36, 59));
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
        attr.library = VBN_LIBRARY_EFA;
        assert!(Origin::from_attr(&attr, None).is_ok());
        attr.library = 5;
        assert_eq!(Origin::from_attr(&attr, None).err().unwrap().value, 5);
    }

    #[test]
    fn copies_are_known_by_name() {
        assert!(is_named(b"/usr/lib/libibverbs/libefa-rdmav34.so", b"libefa") && is_named(b"libefa.so.1", b"libefa"));
        assert!(!is_named(b"/opt/libefa/libefab.so", b"libefa") && !is_named(b"libefa", b"libefa"));
        let any = |base: usize| copies([base as *mut c_void].into_iter(), b"libc");
        // libc.so.6 itself, and something that isn't it.
        let (count, path) = any(8);
        assert!(count == 2 && until_zero(&path).ends_with(b"libc.so.6"));
        let libc = object(libc::getenv as *const c_void).unwrap().0;
        assert_eq!(any(libc as usize), (1, [0; PATH_SIZE]));
    }

    #[test]
    fn text_is_cut_and_terminated() {
        assert_eq!(chars::<4>(b"abcdef").map(|c| c as u8), *b"abc\0");
        assert_eq!(chars::<4>(b"a\0b").map(|c| c as u8), *b"a\0\0\0");
        assert_eq!(tail(&[b'x'; 100]).len(), 63);
        assert_eq!(tail(b"abc"), b"abc");
    }
}
