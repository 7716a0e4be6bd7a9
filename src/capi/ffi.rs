// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every exported function needs: the guard, and the checks of pointers, handles and structs that come from C.

use std::any::Any;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use crate::core::cold::{self, Cold};
use crate::core::error::{self, Error, Reason, Result};
use crate::core::handle::Handle;
use crate::core::op::Op;
use crate::core::slab::{Object, Ref, Slot};
use crate::core::status::*;
use crate::sys::os;

/// Largest `struct_size` that is taken for one: beyond it the caller passed something else.
const MAX_STRUCT: usize = cold::MOST;

/// Runs the body of an exported function: a failure becomes the thread's error record, a panic `VBN_ERR_INTERNAL`. The call is
/// no cancellation point.
pub fn guard(op: Op, body: impl FnOnce() -> Result<()>) -> vbn_status {
    guard_then(op, body, || ())
}

/// `guard` for a call on a handle: after a panic the object behind it is not to be relied on. (A call that only reports
/// that another object is so doesn't count.)
pub fn guard_on<H: Handle>(op: Op, handle: *const H, body: impl FnOnce() -> Result<()>) -> vbn_status {
    guard_then(op, body, || {
        if let Ok(slot) = slot(handle) {
            slot.poison();
        }
    })
}

fn guard_then(op: Op, body: impl FnOnce() -> Result<()>, after_panic: impl FnOnce()) -> vbn_status {
    super::quiet::panics();
    let _whole = os::Uncancelled::hold();
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => VBN_OK,
        Ok(Err(error)) => error::record(op, error),
        Err(payload) => {
            forget_payload(payload);
            after_panic();
            error::record(
                op,
                Error::new(VBN_ERR_INTERNAL, Reason::Panic).hint("please report it with the call that led here"),
            )
        }
    }
}

/// The payload's own destructor could panic again, so it is leaked.
fn forget_payload(payload: Box<dyn Any + Send>) {
    std::mem::forget(payload);
}

/// The guard of the data path. Nothing in there can panic, so the net below costs nothing; it is there in case that is
/// wrong.
#[inline(always)]
pub fn hot(op: Op, body: impl FnOnce() -> vbn_status) -> vbn_status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(status) => status,
        Err(payload) => {
            forget_payload(payload);
            error::record(op, Error::new(VBN_ERR_INTERNAL, Reason::Panic))
        }
    }
}

/// The body of a live handle, without counting a reference. `None` leads to `hot_refused`.
#[inline(always)]
pub fn hot_live<'a, H: Handle>(handle: *const H) -> Option<&'a H::Body> {
    // SAFETY: a handle that this library gave out points to a slot, and slots live for ever.
    let slot: &'static Slot<H::Body> = unsafe { handle.cast::<Slot<H::Body>>().as_ref() }?;
    slot.live()
}

/// `hot_live` by `Slot::live_short`.
#[inline(always)]
pub fn hot_live_short<'a, H: Handle>(handle: *const H) -> Option<&'a H::Body> {
    // SAFETY: as in `hot_live`.
    let slot: &'static Slot<H::Body> = unsafe { handle.cast::<Slot<H::Body>>().as_ref() }?;
    slot.live_short()
}

/// Why a call of the data path can't go on: a handle that is no use, or else the pointer that is NULL.
#[cold]
#[inline(never)]
pub fn hot_refused<H: Handle>(op: Op, handle: *const H, null: Option<&'static str>) -> vbn_status {
    let error = match (slot(handle), null) {
        (Err(error), _) => error,
        (Ok(slot), Some(null)) if slot.live().is_some() => Error::argument(Reason::Null(null)),
        (Ok(slot), _) => slot.refusal(),
    };
    error::record(op, error)
}

/// The slot behind a handle. Its type is checked when it is used.
pub fn slot<H: Handle>(handle: *const H) -> Result<&'static Slot<H::Body>> {
    if handle.is_null() {
        return Err(Error::argument(Reason::Null(H::Body::KIND.name())));
    }
    if !handle.cast::<Slot<H::Body>>().is_aligned() {
        return Err(Error::argument(Reason::NotAHandle(H::Body::KIND.name())));
    }
    // SAFETY: a handle that this library gave out points to a slot, and slots live for ever.
    Ok(unsafe { &*handle.cast() })
}

/// A counted reference to a live handle.
pub fn pin<H: Handle>(handle: *const H) -> Result<Ref<H::Body>> {
    slot(handle)?.pin()
}

/// The same where NULL means "none".
pub fn pin_optional<H: Handle>(handle: *const H) -> Result<Option<Ref<H::Body>>> {
    if handle.is_null() { Ok(None) } else { pin(handle).map(Some) }
}

/// The whole of every `vbn_*_close`. NULL, and a pointer to NULL, are fine. A panic in a destroy leaves the handle between
/// open and closed for good: it answers "closed", and the object stays.
pub fn close<H: Handle>(op: Op, handle: *mut *mut H) -> vbn_status {
    guard(op, || {
        if handle.is_null() {
            return Ok(());
        }
        let handle = out(handle, "handle")?;
        if handle.is_null() {
            return Ok(());
        }
        slot(*handle)?.close()?;
        *handle = ptr::null_mut();
        Ok(())
    })
}

/// The whole of every `vbn_*_release`.
pub fn release<H: Handle, N>(
    op: Op,
    handle: *mut *mut H,
    native: *mut *mut N,
    take: impl FnOnce(&H::Body) -> *mut N,
) -> vbn_status {
    guard(op, || {
        let native = out(native, "native")?;
        let handle = out(handle, "handle")?;
        *native = slot(*handle)?.release(take)?;
        *handle = ptr::null_mut();
        Ok(())
    })
}

/// The whole of every `vbn_*_native`.
pub fn native<H: Handle, N>(
    op: Op,
    handle: *const H,
    out_native: *mut *mut N,
    lend: impl FnOnce(&H::Body) -> *mut N,
) -> vbn_status {
    guard_on(op, handle, || {
        let out_native = out(out_native, "native")?;
        *out_native = lend(&*slot(handle)?.pin_any()?);
        Ok(())
    })
}

/// An output variable.
pub fn out<'a, T>(pointer: *mut T, what: &'static str) -> Result<&'a mut T> {
    if pointer.is_null() {
        return Err(Error::argument(Reason::Null(what)));
    }
    if !pointer.is_aligned() {
        return Err(Error::argument(Reason::Misaligned(what)));
    }
    // SAFETY: not NULL, aligned; that it is the caller's variable of type T is what C's type system promised.
    Ok(unsafe { &mut *pointer })
}

/// A fixed-size struct of the caller's that is only read.
pub fn required<'a, T>(pointer: *const T, what: &'static str) -> Result<&'a T> {
    check_array(pointer, 1, what)?;
    // SAFETY: not NULL and aligned; that a T is there is what C's type system promised.
    Ok(unsafe { &*pointer })
}

/// An output variable that may be NULL when the caller doesn't want it.
pub fn optional<'a, T>(pointer: *mut T, what: &'static str) -> Result<Option<&'a mut T>> {
    if pointer.is_null() { Ok(None) } else { out(pointer, what).map(Some) }
}

/// The output of a constructor: NULL until it succeeds.
pub fn out_handle<'a, H>(pointer: *mut *mut H) -> Result<&'a mut *mut H> {
    let variable = out(pointer, "out")?;
    *variable = ptr::null_mut();
    Ok(variable)
}

/// Hands a new object to the caller.
pub fn give<H: Handle>(variable: &mut *mut H, slot: &'static Slot<H::Body>) {
    *variable = ptr::from_ref(slot).cast_mut().cast();
}

/// An array of the caller's that is only read. An empty one may be NULL.
pub fn array<'a, T>(pointer: *const T, count: usize, what: &'static str) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    check_array(pointer, count, what)?;
    // SAFETY: checked for NULL, alignment and size; that `count` elements are there is the caller's word.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// An array of the caller's that is written.
pub fn array_mut<'a, T>(pointer: *mut T, count: usize, what: &'static str) -> Result<&'a mut [T]> {
    if count == 0 {
        return Ok(&mut []);
    }
    check_array(pointer, count, what)?;
    // SAFETY: as for `array`.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer, count) })
}

fn check_array<T>(pointer: *const T, count: usize, what: &'static str) -> Result<()> {
    if pointer.is_null() {
        return Err(Error::argument(Reason::Null(what)));
    }
    if !pointer.is_aligned() {
        return Err(Error::argument(Reason::Misaligned(what)));
    }
    if count > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(Error::range(what, count as u64, "a possible number of elements"));
    }
    Ok(())
}

/// Reads a struct that begins with `struct_size`; NULL gives all defaults.
pub fn input<T: Cold>(pointer: *const T) -> Result<T> {
    if pointer.is_null() {
        return Ok(T::zeroed());
    }
    required_input(pointer)
}

/// Reads a struct that begins with `struct_size` and that must be there.
pub fn required_input<T: Cold>(pointer: *const T) -> Result<T> {
    let size = struct_size(pointer)?;
    let known = size_of::<T>();
    let mut value = MaybeUninit::<T>::zeroed();
    let bytes = pointer.cast::<u8>();
    // SAFETY: the caller's struct has `size` bytes, ours `known`.
    unsafe { ptr::copy_nonoverlapping(bytes, value.as_mut_ptr().cast(), size.min(known)) };
    for offset in known..size {
        // SAFETY: offset is below the size of the caller's struct.
        if unsafe { *bytes.add(offset) } != 0 {
            return Err(Error::new(VBN_ERR_TOO_NEW, Reason::StructTail(T::NAME))
                .value(offset as u64, known as u64)
                .hint("use a libverbena at least as new as the header"));
        }
    }
    // SAFETY: all-zero is valid for a Cold type, and the copied bytes are plain numbers and pointers.
    Ok(unsafe { value.assume_init() })
}

/// Writes a struct that begins with `struct_size`: what both sides know, zeros in what only the caller knows.
pub fn output<T: Cold>(pointer: *mut T, value: &T) -> Result<()> {
    let size = struct_size(pointer)?;
    let known = size_of::<T>();
    let header = size_of::<usize>();
    // SAFETY: the caller's struct has `size` bytes; struct_size itself is left alone.
    unsafe {
        let to = pointer.cast::<u8>();
        ptr::copy_nonoverlapping(
            ptr::from_ref(value).cast::<u8>().add(header),
            to.add(header),
            size.min(known) - header,
        );
        if size > known {
            ptr::write_bytes(to.add(known), 0, size - known);
        }
    }
    Ok(())
}

/// Checks an output struct before the work is done, so that a wrong one costs nothing.
pub fn check_output<T: Cold>(pointer: *mut T) -> Result<()> {
    struct_size(pointer).map(drop)
}

/// Whether the caller's struct goes up to `end` at least.
pub fn reaches<T: Cold>(pointer: *const T, end: usize) -> Result<bool> {
    struct_size(pointer).map(|size| size >= end)
}

fn struct_size<T: Cold>(pointer: *const T) -> Result<usize> {
    if pointer.is_null() {
        return Err(Error::argument(Reason::Null(T::NAME)));
    }
    if !pointer.is_aligned() {
        return Err(Error::argument(Reason::Misaligned(T::NAME)));
    }
    // SAFETY: every Cold type begins with its size.
    let size = unsafe { *pointer.cast::<usize>() };
    if (size_of::<usize>()..=MAX_STRUCT).contains(&size) {
        Ok(size)
    } else {
        Err(Error::argument(Reason::StructSize(T::NAME)).value(size as u64, size_of::<T>() as u64))
    }
}

/// Writes an array of structs whose element size is the caller's. Elements have no struct_size of their own.
///
/// # Safety
/// `array` must have room for `capacity` elements of `entry_size` bytes.
pub unsafe fn write_entry<T: Copy>(array: *mut T, entry_size: usize, index: usize, value: &T) {
    let known = size_of::<T>();
    // SAFETY: the caller vouches for the room; index is below its capacity.
    unsafe {
        let to = array.cast::<u8>().add(index * entry_size);
        ptr::copy_nonoverlapping(ptr::from_ref(value).cast::<u8>(), to, entry_size.min(known));
        if entry_size > known {
            ptr::write_bytes(to.add(known), 0, entry_size - known);
        }
    }
}

/// Checks the pointer and element size of an output array.
pub fn check_entries<T>(array: *mut T, entry_size: usize, capacity: usize, what: &'static str) -> Result<()> {
    if capacity == 0 {
        return Ok(());
    }
    if array.is_null() {
        return Err(Error::argument(Reason::Null(what)));
    }
    if !array.is_aligned() || !entry_size.is_multiple_of(align_of::<T>()) {
        return Err(Error::argument(Reason::Misaligned(what)));
    }
    if entry_size == 0 || entry_size > MAX_STRUCT {
        return Err(
            Error::range("entry_size", entry_size as u64, "the size of one element").hint("pass sizeof(array[0])")
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::cold::cold_structs;

    #[repr(C)]
    #[derive(Clone, Copy)]
    struct vbn_probe {
        struct_size: usize,
        first: u64,
        second: u64,
    }
    cold_structs!(vbn_probe);

    #[repr(C)]
    struct Newer {
        known: vbn_probe,
        tail: [u8; 8],
    }

    fn probe(size: usize) -> vbn_probe {
        vbn_probe { struct_size: size, first: 7, second: 8 }
    }

    #[test]
    fn a_panic_becomes_a_status_and_poisons() {
        let mut poisoned = false;
        let of_another = Error::new(VBN_ERR_INTERNAL, Reason::Poisoned("vbn_cq"));
        assert_eq!(guard_then(Op::QpCreate, || Err(of_another), || poisoned = true), VBN_ERR_INTERNAL);
        assert!(!poisoned, "only another handle was");
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        assert_eq!(guard_then(Op::QpCreate, || panic!("on purpose"), || poisoned = true), VBN_ERR_INTERNAL);
        std::panic::set_hook(hook);
        assert!(poisoned);
        let record = error::last().unwrap();
        assert_eq!((record.op, record.error.status), (Op::QpCreate, VBN_ERR_INTERNAL));
    }

    #[test]
    fn an_older_struct_reads_as_zero_behind_its_end() {
        let value = required_input(&probe(16)).unwrap();
        assert_eq!((value.first, value.second), (7, 0));
    }

    #[test]
    fn a_newer_struct_is_fine_while_its_tail_is_zero() {
        let mut newer = Newer { known: probe(size_of::<Newer>()), tail: [0; 8] };
        assert_eq!(required_input((&raw const newer).cast::<vbn_probe>()).unwrap().second, 8);
        newer.tail[3] = 1;
        let error = required_input((&raw const newer).cast::<vbn_probe>()).err().unwrap();
        assert_eq!((error.status, error.value), (VBN_ERR_TOO_NEW, 27));
    }

    #[test]
    fn impossible_sizes_are_refused() {
        for size in [0, 1, 7, MAX_STRUCT + 1, usize::MAX] {
            assert_eq!(required_input(&probe(size)).err().unwrap().value, size as u64);
        }
        assert!(required_input(std::ptr::null::<vbn_probe>()).is_err());
        assert_eq!(input(std::ptr::null::<vbn_probe>()).unwrap().first, 0);
    }

    #[test]
    fn outputs_fill_what_the_caller_knows_and_zero_the_rest() {
        let mut old = probe(16);
        output(&mut old, &vbn_probe { struct_size: 24, first: 1, second: 2 }).unwrap();
        assert_eq!((old.struct_size, old.first, old.second), (16, 1, 8));
        let mut newer = Newer { known: probe(size_of::<Newer>()), tail: [9; 8] };
        output((&raw mut newer).cast::<vbn_probe>(), &vbn_probe { struct_size: 24, first: 1, second: 2 }).unwrap();
        assert_eq!((newer.known.second, newer.tail), (2, [0; 8]));
    }
}
