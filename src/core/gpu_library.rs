// SPDX-License-Identifier: MIT OR Apache-2.0
//! The GPUs' own libraries. Memory of a GPU exists only where something has loaded its library, so that copy is taken; else the
//! dynamic linker looks for one. Nothing is initialised. As with libibverbs, success is kept for ever and a failure is tried again.

use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

use super::error::{Error, Reason, Result};
use super::library::*;
use super::lock::Lock;
use super::status::*;
use super::text::{Name, chars, tail, until_zero};
use crate::sys::cuda::{self, Cuda};
use crate::sys::dl::{self, Handle};
use crate::sys::rocm::{self, Hsa};
use crate::sys::verbs::{MissingSet, Symbol};

type Load<T> =
    unsafe fn(&mut dyn FnMut(&CStr, &CStr) -> *mut c_void) -> (std::result::Result<T, &'static Symbol>, MissingSet);

/// A library, and what is known of it.
pub struct Loader<T: 'static> {
    library: i32,
    soname: &'static CStr,
    environment: &'static CStr,
    /// How the names of its files begin.
    stem: &'static [u8],
    symbols: &'static [Symbol],
    load: Load<T>,
    absent: &'static str,
    remedy: &'static str,
    foreign: &'static str,
    busy: &'static str,
    state: Lock<State>,
    /// The loaded functions: set once, under the lock.
    functions: OnceLock<T>,
}

/// NVIDIA's.
pub static CUDA: Loader<Cuda> = Loader {
    library: VBN_LIBRARY_CUDA,
    soname: c"libcuda.so.1",
    environment: c"VBN_CUDA_LIBRARY",
    stem: b"libcuda",
    symbols: cuda::SYMBOLS,
    load: Cuda::load,
    absent: "the dynamic linker could not load libcuda.so.1",
    remedy: "it comes with NVIDIA's driver, not with the toolkit (Debian, Ubuntu: libcuda1 or libnvidia-compute-*; containers: \
             NVIDIA_DRIVER_CAPABILITIES=compute), or name the file in VBN_CUDA_LIBRARY; vbn_library_query has the linker's own words",
    foreign: "none of the CUDA driver's functions is in the library",
    busy: "libcuda is already loaded from elsewhere",
    state: Lock::new(State::NEW),
    functions: OnceLock::new(),
};

/// AMD's.
pub static ROCM: Loader<Hsa> = Loader {
    library: VBN_LIBRARY_ROCM,
    soname: c"libhsa-runtime64.so.1",
    environment: c"VBN_ROCM_LIBRARY",
    stem: b"libhsa-runtime64",
    symbols: rocm::SYMBOLS,
    load: Hsa::load,
    absent: "the dynamic linker could not load libhsa-runtime64.so.1",
    remedy: "install ROCm's HSA runtime (Debian, Ubuntu: libhsa-runtime64-1; AMD's packages: hsa-rocr) or name the file in \
             VBN_ROCM_LIBRARY; vbn_library_query has the linker's own words",
    foreign: "none of the HSA runtime's functions is in the library",
    busy: "libhsa-runtime64 is already loaded from elsewhere",
    state: Lock::new(State::NEW),
    functions: OnceLock::new(),
};

struct State {
    origin: Origin,
    source: i32,
    missing: MissingSet,
    /// An address in the library.
    anchor: usize,
    path: [u8; PATH_SIZE],
    error: [u8; PATH_SIZE],
}

impl State {
    const NEW: State = State {
        origin: Origin::Default,
        source: VBN_LIBRARY_FROM_DEFAULT,
        missing: MissingSet::new(),
        anchor: 0,
        path: [0; PATH_SIZE],
        error: [0; PATH_SIZE],
    };
}

// SAFETY: the pointers in the origin are the caller's, compared and handed back only.
unsafe impl Send for State {}

impl<T: Sync + 'static> Loader<T> {
    /// The functions, which are loaded if that hasn't happened yet.
    pub fn functions(&'static self) -> Result<&'static T> {
        match self.functions.get() {
            Some(functions) => Ok(functions),
            None => self.load(&mut self.state.lock()),
        }
    }

    /// The functions if the process has the library already, or if the user has said where it is: no memory of it can exist
    /// otherwise. What the user has named and can't be loaded is an error.
    pub fn present(&'static self) -> Result<Option<&'static T>> {
        if let Some(functions) = self.functions.get() {
            return Ok(Some(functions));
        }
        let mut state = self.state.lock();
        let mut room = [0; PATH_SIZE];
        let named = state.origin != Origin::Default
            || wanted(&state.origin, self.environment, self.soname, &mut room).1 != VBN_LIBRARY_FROM_DEFAULT;
        if !named && dl::loaded(self.soname).is_none() {
            return Ok(None);
        }
        self.load(&mut state).map(Some)
    }

    /// Says where it shall come from. Once it is in use only the same again is accepted.
    pub fn init(&'static self, origin: Origin) -> Result<()> {
        let mut state = self.state.lock();
        if state.origin == origin {
            return Ok(());
        }
        if self.functions.get().is_some() {
            return Err(Error::text(VBN_ERR_BUSY, self.busy)
                .on(Name::new(tail(until_zero(&state.path))))
                .hint("call vbn_library_init before anything else"));
        }
        state.origin = origin;
        Ok(())
    }

    fn load(&'static self, state: &mut State) -> Result<&'static T> {
        // Another thread may have been faster.
        if let Some(functions) = self.functions.get() {
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
            Origin::Default | Origin::Path(_) => Symbols::Library(self.open(state)?),
        };
        let mut anchor = 0;
        let mut get = |name: &CStr, version: &CStr| {
            let address = symbols.get(name, version);
            if !address.is_null() {
                anchor = address as usize;
            }
            address
        };
        // SAFETY: a library of that name, by the promise of vbn_library_init's caller where it isn't the usual one: its symbols
        // have the types of the table.
        let (result, missing) = unsafe { (self.load)(&mut get) };
        state.missing = missing;
        state.anchor = anchor;
        match result {
            Ok(functions) if anchor != 0 => {
                state.error = [0; PATH_SIZE];
                if let Some((_, path)) = object(anchor as *const c_void) {
                    set(&mut state.path, path.to_bytes());
                }
                Ok(self.functions.get_or_init(|| functions))
            }
            _ => {
                set(&mut state.error, self.foreign.as_bytes());
                Err(Error::text(VBN_ERR_SYMBOL_MISSING, self.foreign)
                    .on(Name::new(tail(until_zero(&state.path))))
                    .hint(self.remedy))
            }
        }
    }

    /// Opens the library: the usual one as it is loaded already, before one is looked for.
    fn open(&self, state: &mut State) -> Result<Handle> {
        let mut room = [0; PATH_SIZE];
        let path;
        (path, state.source) = wanted(&state.origin, self.environment, self.soname, &mut room);
        set(&mut state.path, path.to_bytes());
        let loaded = if state.source == VBN_LIBRARY_FROM_DEFAULT { dl::loaded(path) } else { None };
        loaded.or_else(|| dl::open(path, dl::NOW_LOCAL)).ok_or_else(|| {
            dl::last_error(&mut state.error);
            Error::text(VBN_ERR_LIBRARY_MISSING, self.absent).on(Name::new(tail(path.to_bytes()))).hint(self.remedy)
        })
    }

    /// A function that this library may lack.
    pub fn need<F>(&self, function: Option<F>, name: &CStr) -> Result<F> {
        function.ok_or_else(|| {
            let symbol = self.symbols.iter().find(|symbol| symbol.name == name);
            let (name, since) = symbol.map_or(("", ""), |s| (s.name.to_str().unwrap_or_default(), s.since));
            Error::new(VBN_ERR_SYMBOL_MISSING, Reason::SymbolOf(name, since)).hint(
                if self.library == VBN_LIBRARY_CUDA {
                    "update NVIDIA's driver; vbn_library_query tells which file is in use"
                } else {
                    "update ROCm; vbn_library_query tells which file is in use"
                },
            )
        })
    }

    /// Tells where it stands; tries to load it first.
    pub fn query(&'static self) -> vbn_library_info {
        let loaded = self.functions().is_ok();
        let state = self.state.lock();
        let used = if loaded { object(state.anchor as *const c_void) } else { None };
        let (copies, other) = copies(used.map(|(base, _)| base).into_iter(), self.stem);
        let path = if until_zero(&state.path).is_empty() { self.soname.to_bytes() } else { until_zero(&state.path) };
        let why: [c_char; PATH_SIZE] = if loaded { [0; PATH_SIZE] } else { chars(&state.error) };
        vbn_library_info {
            struct_size: size_of::<vbn_library_info>(),
            library: self.library,
            loaded: loaded.into(),
            reserved0: [0; 3],
            source: state.source,
            fork_state: fork_state(),
            release_min: 0,
            release_below: 0,
            missing_count: state.missing.len() as u32,
            copies,
            path: chars(path),
            error: why,
            other_path: chars(until_zero(&other)),
        }
    }

    /// Its table and which of it are missing, for `vbn_library_missing`.
    pub fn table(&'static self) -> Result<(&'static [Symbol], MissingSet)> {
        if let Err(error) = self.functions()
            && error.status != VBN_ERR_SYMBOL_MISSING
        {
            return Err(error);
        }
        Ok((self.symbols, self.state.lock().missing))
    }
}

/// Before fork(): nobody shall be in the middle of loading.
pub fn before_fork() {
    CUDA.state.hold_for_fork();
    ROCM.state.hold_for_fork();
}

/// After fork(), in both processes.
pub fn after_fork() {
    ROCM.state.release_after_fork();
    CUDA.state.release_after_fork();
}
