// SPDX-License-Identifier: MIT OR Apache-2.0
//! libefa's own functions. They must come from the provider instance that serves the device, which libibverbs may have
//! loaded from anywhere: so they are looked up in the object that the context's operations lie in. Only where that has
//! none (a provider inside the program) they come from elsewhere: see `library::efa_fallback`. A libefa refuses
//! contexts that it doesn't serve itself, so a wrong instance can't be taken.

use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::alloc;
use super::error::{Error, Reason, Result};
use super::library::{self, Symbols, VBN_LIBRARY_FROM_PROVIDER};
use super::status::VBN_ERR_SYMBOL_MISSING;
use crate::sys::dl;
use crate::sys::efa::{Efa, SYMBOLS, efadv_device_attr};
use crate::sys::ibv::{Zeroed, ibv_context};
use crate::sys::verbs::MissingSet;

/// A libefa that serves a device. Lives for ever, as the library does.
pub struct Provider {
    next: *const Provider,
    /// Where the object was loaded, to tell copies apart.
    pub base: *mut c_void,
    pub functions: Efa,
    pub missing: MissingSet,
    /// The file, as the dynamic linker knows it.
    pub path: &'static CStr,
    /// VBN_LIBRARY_FROM_*.
    pub source: i32,
}

/// An EFA device: its provider, and what the device said when it was opened.
#[derive(Clone, Copy)]
pub struct Device {
    pub provider: &'static Provider,
    pub attr: efadv_device_attr,
}

/// Why there is no RDMA WRITE, when the library may be the reason.
pub const WRITE_NEEDS: &str = "RDMA WRITE needs rdma-core 46 or newer, and the libefa in use is older than 50 (its symbols tell no more), and a device that has it";

/// All that served a device so far, the last one first.
static PROVIDERS: AtomicPtr<Provider> = AtomicPtr::new(ptr::null_mut());

impl Device {
    /// `None` if the context is not an EFA's.
    pub fn of(native: NonNull<ibv_context>) -> Result<Option<Device>> {
        // SAFETY: the context is open, and its provider stays loaded.
        let own = unsafe { native.as_ref().ops.poll_cq.and_then(|poll| dl::addr_object(poll as *const c_void)) };
        if let Some(library) = own.and_then(|(_, path)| dl::loaded(path))
            && let Some(device) = Self::by(Symbols::Library(library), VBN_LIBRARY_FROM_PROVIDER, native)?
        {
            return Ok(Some(device));
        }
        match library::efa_fallback() {
            Some((symbols, source)) => Self::by(symbols, source, native),
            None => Ok(None),
        }
    }

    /// `None` if there is no libefa, or one that doesn't serve the device.
    fn by(symbols: Symbols, source: i32, native: NonNull<ibv_context>) -> Result<Option<Device>> {
        // SAFETY: the versioned symbols of a libefa have the types of the table.
        let (functions, missing) = unsafe { Efa::load(&mut |name, version| symbols.get(name, version)) };
        let Ok(functions) = functions else { return Ok(None) };
        let Some(query) = functions.query_device else { return Ok(None) };
        let mut attr = efadv_device_attr::zeroed();
        // SAFETY: the context is open; a provider refuses contexts that are not its own.
        let ret = unsafe { query(native.as_ptr(), &mut attr, size_of::<efadv_device_attr>() as u32) };
        if ret != 0 {
            return Ok(None);
        }
        // SAFETY: it stays loaded: a device of it is open, and this library unloads nothing.
        let (base, path) = unsafe { dl::addr_object(query as *const c_void) }
            .unwrap_or((query as *mut c_void, c"the lookup function"));
        let provider = Provider { next: ptr::null(), base, functions, missing, path, source };
        Ok(Some(Device { provider: provider.publish()?, attr }))
    }

    /// Whether RDMA WRITE may be absent because libefa is too old to know of it (before rdma-core 46, judged by the next newer
    /// symbol).
    pub fn may_hide_write(&self) -> bool {
        self.provider.functions.query_mr.is_none()
    }

    /// A function that this libefa may lack.
    pub fn function<F>(&self, function: Option<F>, name: &'static str) -> Result<F> {
        function.ok_or_else(|| {
            let since = SYMBOLS.iter().find(|symbol| symbol.name.to_bytes() == name.as_bytes()).map_or("", |s| s.since);
            Error::new(VBN_ERR_SYMBOL_MISSING, Reason::Symbol(name, since))
        })
    }
}

impl Provider {
    /// The one that is known already, or this one from now on.
    fn publish(mut self) -> Result<&'static Provider> {
        let mut room: Option<NonNull<Provider>> = None;
        loop {
            let newest = PROVIDERS.load(Ordering::Acquire);
            // What was allocated for a race that was lost stays unused.
            if let Some(known) = Self::all().find(|provider| ptr::eq(provider.base, self.base)) {
                return Ok(known);
            }
            let room = match room {
                Some(room) => room,
                None => *room.insert(alloc::zeroed_forever()?),
            };
            self.next = newest;
            // SAFETY: memory for one of them, never given back, and not published yet.
            unsafe { room.copy_from_nonoverlapping(NonNull::from(&self), 1) };
            if PROVIDERS.compare_exchange(newest, room.as_ptr(), Ordering::AcqRel, Ordering::Acquire).is_ok() {
                // SAFETY: written above.
                return Ok(unsafe { room.as_ref() });
            }
        }
    }

    /// Every libefa that a device of this process was served by so far, the last one first.
    pub fn all() -> impl Iterator<Item = &'static Provider> + Clone {
        let mut at = PROVIDERS.load(Ordering::Acquire).cast_const();
        std::iter::from_fn(move || {
            // SAFETY: entries live for ever and are complete when published.
            let provider = unsafe { at.as_ref() }?;
            at = provider.next;
            Some(provider)
        })
    }
}
