// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of simulated GPUs (tests-c/simcuda), which no processor may touch: where its bytes are, and word when it is freed. A real GPU's
//! memory is out of reach of a device in user space.

use crate::glue;
use crate::hooks::guarded;
use libc::{c_char, c_int, c_void};
use std::sync::OnceLock;

type MapRange = unsafe extern "C" fn(u64, u64, c_int) -> i64;
type MapDmabuf = unsafe extern "C" fn(c_int, u64, u64, c_int) -> i64;
type Watch = unsafe extern "C" fn(u64, u64, extern "C" fn(*mut c_void), *mut c_void) -> i64;
type Unwatch = unsafe extern "C" fn(i64);

/// What the simulation exports for softnic; simcuda.h says what each does.
struct Simulation {
    map_range: MapRange,
    map_dmabuf: MapDmabuf,
    watch: Watch,
    unwatch: Unwatch,
}

/// The simulation, once the program has loaded it.
fn simulation() -> Option<&'static Simulation> {
    static FOUND: OnceLock<Simulation> = OnceLock::new();
    if let Some(found) = FOUND.get() {
        return Some(found);
    }
    // SAFETY: a C string; nothing is loaded, so no code of the library runs. The handle stays: the functions are kept.
    let library = unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
    if library.is_null() {
        return None;
    }
    let symbol = |name: *const c_char| {
        // SAFETY: a live handle and a C string.
        let address = unsafe { libc::dlsym(library, name) };
        (!address.is_null()).then_some(address)
    };
    let map_range = symbol(c"simcuda_map_range".as_ptr())?;
    let map_dmabuf = symbol(c"simcuda_map_dmabuf".as_ptr())?;
    let (watch, unwatch) = (symbol(c"simcuda_watch".as_ptr())?, symbol(c"simcuda_unwatch".as_ptr())?);
    // SAFETY: the functions of these names have these types.
    let found = unsafe {
        Simulation {
            map_range: std::mem::transmute::<*mut c_void, MapRange>(map_range),
            map_dmabuf: std::mem::transmute::<*mut c_void, MapDmabuf>(map_dmabuf),
            watch: std::mem::transmute::<*mut c_void, Watch>(watch),
            unwatch: std::mem::transmute::<*mut c_void, Unwatch>(unwatch),
        }
    };
    Some(FOUND.get_or_init(|| found))
}

/// Maps a dma-buf whose bytes the simulation keeps elsewhere. None: it is another kind of file.
pub fn map_dmabuf(fd: c_int, offset: u64, length: u64, writable: bool) -> Option<Result<u64, c_int>> {
    let simulation = simulation()?;
    // SAFETY: numbers only.
    match unsafe { (simulation.map_dmabuf)(fd, offset, length, writable.into()) } {
        failed if failed == -i64::from(libc::ENOENT) => None,
        failed @ ..=0 => Some(Err(c_int::try_from(-failed).unwrap_or(libc::EINVAL))),
        address => Some(Ok(address.cast_unsigned())),
    }
}

/// A region of peer memory.
struct Region {
    id: usize,
    device: usize,
    /// Where its bytes are mapped.
    mapped: u64,
    watch: i64,
}

#[derive(Default)]
pub struct Regions {
    list: Vec<Region>,
    last: usize,
}

impl Regions {
    /// Maps a range of device addresses as a peer-memory module would pin it. None: it is none.
    pub fn map(&mut self, device: usize, start: u64, length: u64, writable: bool) -> Option<u64> {
        let simulation = simulation()?;
        // SAFETY: numbers only.
        let mapped = unsafe { (simulation.map_range)(start, length, writable.into()) };
        let mapped = u64::try_from(mapped).ok().filter(|mapped| *mapped > 0)?;
        self.last += 1;
        let id = self.last;
        // SAFETY: the function stays loaded; its argument is a number. It is called with no lock of the simulation held.
        let watch = unsafe { (simulation.watch)(start, length, freed, id as *mut c_void) };
        if watch <= 0 {
            unmap(mapped, length);
            return None;
        }
        self.list.push(Region { id, device, mapped, watch });
        Some(mapped)
    }

    /// The region at this mapping, if there is one, is no more.
    pub fn forget(&mut self, mapped: u64) {
        let Some(place) = self.list.iter().position(|region| region.mapped == mapped) else { return };
        let region = self.list.swap_remove(place);
        if let Some(simulation) = simulation() {
            // SAFETY: a number.
            unsafe { (simulation.unwatch)(region.watch) };
        }
    }

    /// The device and the mapping of a region whose memory was freed.
    pub fn find(&self, id: usize) -> Option<(usize, u64)> {
        self.list.iter().find(|region| region.id == id).map(|region| (region.device, region.mapped))
    }
}

/// Undoes a mapping of `length` bytes from `address`, which may begin within a page.
pub fn unmap(address: u64, length: u64) {
    const PAGE: u64 = 4096;
    let within = address % PAGE;
    // SAFETY: exactly a mapping that was made for the device.
    unsafe { libc::munmap((address - within) as *mut c_void, (length + within) as usize) };
}

extern "C" fn freed(arg: *mut c_void) {
    guarded("cuMemFree", || {
        glue::gpu_memory_freed(arg as usize);
        0
    });
}
