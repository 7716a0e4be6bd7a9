// SPDX-License-Identifier: MIT OR Apache-2.0
//! librdmacm, loaded when the first connection manager object is made. As with libibverbs, success is kept for ever and a
//! failure is tried again.

use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

use super::error::{Error, Reason, Result};
use super::library::{self, *};
use super::lock::Lock;
use super::status::*;
use super::text::{Name, chars, tail, until_zero};
use crate::sys::dl::{self, Handle};
use crate::sys::rdmacm::{RdmaCm, SYMBOLS};
use crate::sys::verbs::{MissingSet, Symbol};

const DEFAULT_PATH: &CStr = c"librdmacm.so.1";
const ENVIRONMENT: &CStr = c"VBN_RDMACM_LIBRARY";

/// What is known besides the functions themselves.
struct State {
    origin: Origin,
    source: i32,
    missing: MissingSet,
    path: [u8; PATH_SIZE],
    error: [u8; PATH_SIZE],
}

// SAFETY: the pointers in the origin are the caller's, compared and handed back only.
unsafe impl Send for State {}

static STATE: Lock<State> = Lock::new(State {
    origin: Origin::Default,
    source: VBN_LIBRARY_FROM_DEFAULT,
    missing: MissingSet::new(),
    path: [0; PATH_SIZE],
    error: [0; PATH_SIZE],
});

/// The loaded functions: set once, under the lock of `STATE`.
static FUNCTIONS: OnceLock<RdmaCm> = OnceLock::new();

/// librdmacm's functions, which are loaded if that hasn't happened yet; libibverbs' come first, so that librdmacm finds that
/// very copy loaded.
pub fn functions() -> Result<&'static RdmaCm> {
    library::verbs()?;
    match FUNCTIONS.get() {
        Some(functions) => Ok(functions),
        None => load(&mut STATE.lock()),
    }
}

/// Says where it shall come from. Once it is in use only the same again is accepted.
pub fn init(origin: Origin) -> Result<()> {
    let mut state = STATE.lock();
    if state.origin == origin {
        return Ok(());
    }
    if FUNCTIONS.get().is_some() {
        return Err(Error::text(VBN_ERR_BUSY, "librdmacm is already loaded from elsewhere")
            .on(Name::new(tail(until_zero(&state.path))))
            .hint("call vbn_library_init before anything else"));
    }
    state.origin = origin;
    Ok(())
}

fn load(state: &mut State) -> Result<&'static RdmaCm> {
    // Another thread may have been faster.
    if let Some(functions) = FUNCTIONS.get() {
        return Ok(functions);
    }
    let symbols = match state.origin {
        Origin::Lookup(function, arg) => {
            state.source = VBN_LIBRARY_FROM_LOOKUP;
            set(&mut state.path, b"the lookup function");
            Symbols::Function(function, arg)
        }
        Origin::Handle(raw) => {
            state.source = VBN_LIBRARY_FROM_HANDLE;
            // SAFETY: the caller of vbn_library_init promised that it is an open library and stays so.
            let handle = unsafe { Handle::from_raw(raw) };
            set(&mut state.path, handle.path().unwrap_or(c"the open library").to_bytes());
            Symbols::Library(handle)
        }
        Origin::Default | Origin::Path(_) => Symbols::Library(open(state)?),
    };
    // SAFETY: a librdmacm, by the promise of vbn_library_init's caller where it isn't the usual one: its versioned symbols
    // have the types of the table.
    let (result, missing) = unsafe { RdmaCm::load(&mut |name, version| symbols.get(name, version)) };
    state.missing = missing;
    match result {
        Ok(functions) => {
            state.error = [0; PATH_SIZE];
            if let Some((_, path)) = object(functions.create_id as *const c_void) {
                set(&mut state.path, path.to_bytes());
            }
            Ok(FUNCTIONS.get_or_init(|| functions))
        }
        Err(symbol) => {
            let name = symbol.name.to_str().unwrap_or_default();
            set(&mut state.error, LACKS.as_bytes());
            Err(Error::new(VBN_ERR_SYMBOL_MISSING, Reason::Symbol(name, symbol.since))
                .on(Name::new(tail(until_zero(&state.path))))
                .hint("libverbena needs rdma-core 33 or newer"))
        }
    }
}

const LACKS: &str = "it lacks symbols that every librdmacm since rdma-core 33 has";

/// Opens the library.
fn open(state: &mut State) -> Result<Handle> {
    let mut room = [0; PATH_SIZE];
    let path;
    (path, state.source) = wanted(&state.origin, ENVIRONMENT, DEFAULT_PATH, &mut room);
    set(&mut state.path, path.to_bytes());
    dl::open(path, dl::NOW_LOCAL).ok_or_else(|| {
        dl::last_error(&mut state.error);
        let name = Name::new(tail(path.to_bytes()));
        Error::text(VBN_ERR_LIBRARY_MISSING, "the dynamic linker could not load librdmacm").on(name).hint(
            "install rdma-core's librdmacm (Debian, Ubuntu: librdmacm1) or name the file in VBN_RDMACM_LIBRARY; \
             vbn_library_query has the linker's own words",
        )
    })
}

/// Tells where it stands; tries to load it first.
pub fn query() -> vbn_library_info {
    let (error, functions) = match functions() {
        Ok(functions) => (None, Some(functions)),
        Err(error) => (Some(error), None),
    };
    let used = functions.and_then(|functions| object(functions.create_id as *const c_void)).map(|(base, _)| base);
    let (copies, other) = copies(used.into_iter(), b"librdmacm");
    let state = STATE.lock();
    let path = if until_zero(&state.path).is_empty() { DEFAULT_PATH.to_bytes() } else { until_zero(&state.path) };
    let (release_min, release_below) = release(SYMBOLS, &state.missing, functions.is_some());
    let why: [c_char; PATH_SIZE] = match (error, until_zero(&state.error)) {
        (None, _) => [0; PATH_SIZE],
        (Some(_), b"") => chars(b"it needs libibverbs, which could not be loaded"),
        (Some(_), why) => chars(why),
    };
    vbn_library_info {
        struct_size: size_of::<vbn_library_info>(),
        library: VBN_LIBRARY_RDMACM,
        loaded: functions.is_some().into(),
        reserved0: [0; 3],
        source: state.source,
        fork_state: fork_state(),
        release_min,
        release_below,
        missing_count: state.missing.len() as u32,
        copies,
        path: chars(path),
        error: why,
        other_path: chars(until_zero(&other)),
    }
}

/// Its table and which of it are missing, for `vbn_library_missing`.
pub fn table() -> Result<(&'static [Symbol], MissingSet)> {
    // As with libibverbs, the list is wanted just when the library is refused.
    if let Err(error) = functions()
        && error.status != VBN_ERR_SYMBOL_MISSING
    {
        return Err(error);
    }
    Ok((SYMBOLS, STATE.lock().missing))
}

/// Before fork(): nobody shall be in the middle of loading.
pub fn before_fork() {
    STATE.hold_for_fork();
}

/// After fork(), in both processes.
pub fn after_fork() {
    STATE.release_after_fork();
}
