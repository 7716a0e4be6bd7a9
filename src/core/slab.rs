// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where every object behind a handle lives: slots that keep their type for ever and are reused first in, first out.
//! A handle is a pointer to a slot, so using one after close reads valid memory of the right type and is usually told
//! "closed". A slot is also the counted pointer by which children keep their parents alive.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::adopt::Ownership;
use super::alloc;
use super::context::Context;
use super::error::{Error, Reason, Result};
use super::lock::Lock;
use super::status::*;
use crate::sys::os;

/// The types of handles. The numbers are part of the state word only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Context = 1,
    Pd = 2,
    Mr = 3,
    Channel = 4,
    Cq = 5,
    Qp = 6,
    Ah = 7,
    Peer = 8,
    Srq = 9,
    CmChannel = 11,
    CmId = 12,
    Mw = 10,
    Td = 13,
    Dm = 14,
    Flow = 15,
    Counters = 16,
    MrSet = 17,
}

impl Kind {
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Context => "vbn_context",
            Kind::Pd => "vbn_pd",
            Kind::Mr => "vbn_mr",
            Kind::Channel => "vbn_channel",
            Kind::Cq => "vbn_cq",
            Kind::Qp => "vbn_qp",
            Kind::Ah => "vbn_ah",
            Kind::Peer => "vbn_peer",
            Kind::CmChannel => "vbn_cm_channel",
            Kind::CmId => "vbn_cm_id",
            Kind::Srq => "vbn_srq",
            Kind::Mw => "vbn_mw",
            Kind::Td => "vbn_td",
            Kind::Dm => "vbn_dm",
            Kind::Flow => "vbn_flow",
            Kind::Counters => "vbn_counters",
            Kind::MrSet => "vbn_mr_set",
        }
    }

    /// Low half of the state word of a live handle: a tag in the upper 24 bits, no flag set.
    pub const fn tag(self) -> u32 {
        0x5662_0000 | (self as u32) << 8
    }
}

// The state word. Low half: tag (24 bits) and flags (8). High half: instance (8 bits) and references (24).
const TAG_MASK: u32 = 0xffff_ff00;
/// The user has closed the handle; the object lives on for its children, or its slot is free.
const CLOSED: u32 = 1;
/// A close is under way.
const CLOSING: u32 = 2;
/// A panic was caught in a call on the handle.
const POISONED: u32 = 4;
/// The device has been removed.
const GONE: u32 = 8;
/// This is a forked child, and the object is the parent process's.
const FORKED: u32 = 16;
/// The driver refused the deferred destroy; it is tried again at later closes.
const PENDING: u32 = 32;

const ONE_REF: u64 = 1 << 32;
const REFS: u64 = 0x00ff_ffff << 32;
const ONE_INSTANCE: u64 = 1 << 56;
/// Where counting stops; clones may go on to twice as many.
const MOST_REFS: u64 = refs(REFS) / 2;

const fn refs(word: u64) -> u64 {
    (word & REFS) >> 32
}

const fn has(word: u64, flag: u32) -> bool {
    word & flag as u64 != 0
}

/// Deferred destroys that the driver has refused so far, in the whole process.
static PENDING_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Something that a handle stands for.
pub trait Object: Sized + Send + Sync + 'static {
    const KIND: Kind;
    /// Whether closing the handle destroys the object at once (memory or queues of the caller are behind it).
    const LEAF: bool;
    fn slab() -> &'static Slab<Self>;
    /// The context that this object belongs to, if it is a device's.
    fn context(&self) -> Option<&Context>;
    /// Where the native object is, to compare.
    fn native_address(&self) -> *const c_void;
    /// A number to tell objects apart by; only queue pairs have a use for it.
    fn number(&self) -> u32 {
        0
    }
    /// Who destroys the native object.
    fn ownership(&self) -> Ownership {
        Ownership::Own
    }
    /// Whether the native object stays somebody else's.
    fn is_borrowed(&self) -> bool {
        self.ownership().is_borrowed()
    }
    /// Destroys the native object. On failure nothing has changed.
    fn destroy(&self) -> Result<()>;
    /// After a destroy, or when the native object leaves the handle: what else knew of it forgets it.
    fn forget(&self) {}
    /// Whether the kernel has taken the device away, and this object with it. Asked when a destroy failed with an errno that
    /// says so, since a device that is well can answer it too. `told`: an event has already said so.
    fn device_is_gone(&self, told: bool) -> bool {
        self.ownership().is_own() && self.context().is_some_and(|context| told || context.is_gone())
    }
}

/// One place for a `T`. The data path wants the word first and the body behind it.
#[repr(C)]
pub struct Slot<T> {
    word: AtomicU64,
    body: UnsafeCell<MaybeUninit<T>>,
    /// What walks over all slots compare, so that they count references of the objects that they want and of no other: a
    /// counted reference, however short, would turn the close of a stranger's object into a deferred one.
    context: AtomicPtr<Slot<Context>>,
    native: AtomicPtr<c_void>,
    number: AtomicU32,
    borrowed: AtomicBool,
    /// How many of the references are a `Hold`.
    holders: AtomicU32,
    /// Next free slot, under the slab's lock.
    next: AtomicPtr<Slot<T>>,
}

// SAFETY: the body is `Sync`, reached by shared reference only while a reference is counted; the rest is atomic.
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

impl<T: Object> Slot<T> {
    /// For the data path: the body if the handle is live and of this type. No reference is counted: as in libibverbs,
    /// closing a queue while another thread posts or polls on it is the caller's mistake.
    #[inline(always)]
    pub fn live(&self) -> Option<&T> {
        if self.word.load(Ordering::Relaxed) as u32 != T::KIND.tag() {
            return None;
        }
        // SAFETY: a word without flags is published after the body was written.
        Some(unsafe { self.body() })
    }

    /// The same for calls whose last instruction counts: on x86-64 one comparison with memory, of which the compiler makes two
    /// instructions when the load is atomic.
    #[inline(always)]
    pub fn live_short(&self) -> Option<&T> {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: reads the low half of what an atomic load would read. The body as in `live`.
        unsafe {
            std::arch::asm!(
                "cmp dword ptr [{word}], {tag}",
                "jne {no}",
                word = in(reg) self.word.as_ptr(),
                tag = const T::KIND.tag(),
                no = label { return None },
                options(nostack, readonly)
            );
            Some(self.body())
        }
        #[cfg(any(not(target_arch = "x86_64"), miri))]
        self.live()
    }

    /// What `live` has shown to be there.
    ///
    /// # Safety
    /// The body must have been written.
    #[inline(always)]
    pub unsafe fn body(&self) -> &T {
        // SAFETY: the caller vouches for it.
        unsafe { (*self.body.get()).assume_init_ref() }
    }

    /// Why this handle can't be used, as an error.
    #[cold]
    pub fn refusal(&self) -> Error {
        Self::judge(self.word.load(Ordering::Relaxed))
    }

    /// Why a handle with this word can't be used.
    fn judge(word: u64) -> Error {
        let kind = T::KIND.name();
        if word as u32 & TAG_MASK != T::KIND.tag() {
            Error::argument(Reason::NotAHandle(kind))
        } else if has(word, FORKED) {
            Error::new(VBN_ERR_FORKED, Reason::Forked(kind)).hint("open the device anew in the child")
        } else if has(word, CLOSED | CLOSING) {
            Error::new(VBN_ERR_CLOSED, Reason::Closed(kind))
        } else if has(word, POISONED) {
            Error::new(VBN_ERR_INTERNAL, Reason::Poisoned(kind))
        } else if has(word, GONE) {
            Error::new(VBN_ERR_DEVICE_GONE, Reason::Gone(kind)).hint("close the handle")
        } else if refs(word) >= MOST_REFS {
            Error::limit("the number of children and calls", refs(word), MOST_REFS)
        } else {
            // It is live: what was in the way a moment ago, a close that the driver refused, is over.
            Error::text(VBN_ERR_BUSY, "another thread was trying to close the handle").hint("call again")
        }
    }

    /// A counted reference to a live handle, for the length of a call or for a child's life.
    pub fn pin(&'static self) -> Result<Ref<T>> {
        self.count(|word| word as u32 == T::KIND.tag()).map_err(Self::judge)
    }

    /// Like `pin`, but also for a handle whose device is gone or that is poisoned (release, look-ups).
    pub fn pin_any(&'static self) -> Result<Ref<T>> {
        self.count(|word| word as u32 & !(GONE | POISONED) == T::KIND.tag()).map_err(Self::judge)
    }

    /// Counts a reference if the word admits it; if not, returns the word. Half of the range stays for clones, which can't
    /// be refused.
    fn count(&'static self, admit: impl Fn(u64) -> bool) -> std::result::Result<Ref<T>, u64> {
        let mut word = self.word.load(Ordering::Acquire);
        loop {
            if !admit(word) || refs(word) >= MOST_REFS {
                return Err(word);
            }
            match self.word.compare_exchange_weak(word, word + ONE_REF, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Ok(Ref { slot: self }),
                Err(now) => word = now,
            }
        }
    }

    /// Sets flags that are never taken back while the object lives.
    fn flag(&self, flags: u32) {
        self.word.fetch_or(u64::from(flags), Ordering::Relaxed);
    }

    /// After a caught panic: whatever the object's state is, nobody shall rely on it.
    pub fn poison(&self) {
        if self.word.load(Ordering::Relaxed) as u32 & TAG_MASK == T::KIND.tag() {
            self.flag(POISONED);
        }
    }

    /// Closes the handle: destroys the object, or leaves that to its last child. A refused destroy changes nothing.
    pub fn close(&'static self) -> Result<()> {
        self.end(!T::LEAF, |body| self.destroy(body))
    }

    /// Takes the object out of the handle without destroying it. Refused while anything else uses it.
    pub fn release<R>(&'static self, take: impl FnOnce(&T) -> R) -> Result<R> {
        drop(self.pin_any()?);
        let mut taken = None;
        self.end(false, |body| {
            body.forget();
            taken = Some(take(body));
            Ok(())
        })?;
        taken.ok_or(Error::new(VBN_ERR_CLOSED, Reason::Closed(T::KIND.name())))
    }

    /// Ends the handle. With other references left, `defer` leaves the object to them; without it that is an error.
    fn end(&'static self, defer: bool, destroy: impl FnOnce(&T) -> Result<()>) -> Result<()> {
        let mut word = self.word.load(Ordering::Relaxed);
        // Other threads' calls on a leaf are short (a query, a walk that counts), so they are given a moment.
        let mut patience = if T::LEAF { 1000_u32 } else { 0 };
        loop {
            if word as u32 & TAG_MASK != T::KIND.tag() || has(word, CLOSED | CLOSING) {
                return Err(Self::judge(word));
            }
            // The threads that were inside calls when the parent forked don't exist in the child, the objects that hold this
            // one do.
            let held = self.holders.load(Ordering::Relaxed) != 0;
            let alone = refs(word) == 1 || (T::LEAF && has(word, FORKED) && !held);
            if T::LEAF && held {
                return Err(self.in_use());
            }
            if !alone && !defer {
                patience = patience.checked_sub(1).ok_or_else(|| self.in_use())?;
                os::yield_now();
                word = self.word.load(Ordering::Relaxed);
                continue;
            }
            let next = if alone { word | u64::from(CLOSING) } else { (word | u64::from(CLOSED)) - ONE_REF };
            match self.word.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if alone => break,
                Ok(_) => {
                    retry_pending();
                    return Ok(());
                }
                Err(now) => word = now,
            }
        }
        // SAFETY: the handle was live and CLOSING keeps everybody else out.
        match destroy(unsafe { self.body() }) {
            Ok(()) => {
                self.recycle();
                retry_pending();
                Ok(())
            }
            Err(error) => {
                self.word.fetch_and(!u64::from(CLOSING), Ordering::Release);
                Err(error)
            }
        }
    }

    fn in_use(&self) -> Error {
        if T::LEAF && self.holders.load(Ordering::Relaxed) != 0 {
            Error::new(VBN_ERR_BUSY, Reason::Held(T::KIND.name())).hint("close the set first")
        } else if T::LEAF {
            Error::new(VBN_ERR_BUSY, Reason::InCall(T::KIND.name()))
        } else {
            Error::text(VBN_ERR_BUSY, "other objects or calls still use it").hint("close or release its children first")
        }
    }

    /// The last reference to a closed object has gone: destroys it now, or marks it for later tries.
    fn finish(&'static self) {
        // SAFETY: the object was published and nobody else holds it.
        let body = unsafe { self.body() };
        if self.destroy(body).is_ok() {
            self.recycle();
        } else {
            PENDING_COUNT.fetch_add(1, Ordering::Relaxed);
            self.flag(PENDING);
        }
    }

    /// Destroys the native object, or finds that there is nothing to destroy.
    fn destroy(&self, body: &T) -> Result<()> {
        // In a forked child the device is the parent's: destroying there would destroy the parent's objects.
        if has(self.word.load(Ordering::Relaxed), FORKED) {
            return Ok(());
        }
        let done = match body.destroy() {
            Err(error) if matches!(error.errno, libc::EIO | libc::ENODEV) && self.is_gone(body) => Ok(()),
            other => other,
        };
        if done.is_ok() {
            body.forget();
        }
        done
    }

    /// Whether the kernel has already destroyed the object, with its device.
    fn is_gone(&self, body: &T) -> bool {
        body.device_is_gone(has(self.word.load(Ordering::Relaxed), GONE))
    }

    /// Drops the body, which lets the parents go, and hands the slot back.
    fn recycle(&'static self) {
        // SAFETY: the destroy has succeeded and no reference is left, so the body is dropped once and not seen again.
        unsafe { (*self.body.get()).assume_init_drop() };
        let mut word = self.word.load(Ordering::Relaxed);
        word = (word & !(0xff | REFS)) | u64::from(CLOSED);
        self.word.store(word, Ordering::Release);
        T::slab().give_back(self);
    }

    /// One more try at a destroy that was refused.
    fn retry(&'static self) {
        let word = self.word.load(Ordering::Relaxed);
        if !has(word, PENDING) {
            return;
        }
        let taken = word & !u64::from(PENDING);
        if self.word.compare_exchange(word, taken, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            PENDING_COUNT.fetch_sub(1, Ordering::Relaxed);
            self.finish();
        }
    }
}

/// A counted reference to an object: a pin for the length of a call, or a child's hold on its parent.
pub struct Ref<T: Object> {
    slot: &'static Slot<T>,
}

impl<T: Object> Ref<T> {
    pub fn slot(&self) -> &'static Slot<T> {
        self.slot
    }

    pub fn is(&self, other: *const Slot<T>) -> bool {
        ptr::eq(self.slot, other)
    }
}

impl<T: Object> Clone for Ref<T> {
    fn clone(&self) -> Self {
        // Counting stops at half the range, and a clone is made from a pin, of which there are as many as threads.
        self.slot.word.fetch_add(ONE_REF, Ordering::Relaxed);
        Self { slot: self.slot }
    }
}

impl<T: Object> Deref for Ref<T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: a counted reference keeps the body.
        unsafe { self.slot.body() }
    }
}

impl<T: Object> Drop for Ref<T> {
    fn drop(&mut self) {
        let before = self.slot.word.fetch_sub(ONE_REF, Ordering::AcqRel);
        if refs(before) == 1 {
            self.slot.finish();
        }
    }
}

/// A reference to a leaf that another object keeps for its own life. While there is one, the leaf can't be closed.
pub struct Hold<T: Object> {
    of: Ref<T>,
}

impl<T: Object> Hold<T> {
    pub fn new(of: Ref<T>) -> Self {
        of.slot.holders.fetch_add(1, Ordering::Relaxed);
        Self { of }
    }

    /// The only one that there may be: `None` if something holds the object already.
    pub fn only(of: Ref<T>) -> Option<Self> {
        match of.slot.holders.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Some(Self { of }),
            Err(_) => None,
        }
    }

    /// Closes the object, which has a handle still. After a refusal it is held again, unless another thread has used the moment
    /// to close it.
    pub fn close(self) -> std::result::Result<(), (Error, Option<Self>)> {
        let slot = self.of.slot;
        drop(self);
        slot.close().map_err(|error| (error, slot.pin_any().ok().map(Self::new)))
    }
}

impl<T: Object> Deref for Hold<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.of
    }
}

impl<T: Object> Drop for Hold<T> {
    fn drop(&mut self) {
        self.of.slot.holders.fetch_sub(1, Ordering::Relaxed);
    }
}

const CHUNK: usize = 32;

struct Chunk<T> {
    next: *mut Chunk<T>,
    slots: [Slot<T>; CHUNK],
}

struct FreeList<T> {
    head: *mut Slot<T>,
    tail: *mut Slot<T>,
    length: usize,
}

/// All slots of one type. Chunks are added and never freed.
pub struct Slab<T> {
    chunks: AtomicPtr<Chunk<T>>,
    free: Lock<FreeList<T>>,
}

// SAFETY: the pointers lead to chunks that live for ever, and the list is used under its lock.
unsafe impl<T> Send for FreeList<T> {}

impl<T: Object> Slab<T> {
    #[allow(clippy::new_without_default, reason = "only statics hold one, and they need a const")]
    pub const fn new() -> Self {
        Self {
            chunks: AtomicPtr::new(ptr::null_mut()),
            free: Lock::new(FreeList { head: ptr::null_mut(), tail: ptr::null_mut(), length: 0 }),
        }
    }

    /// Takes a slot, before the native object is made: so a lack of memory never has to undo anything.
    pub fn take(&'static self) -> Result<Vacant<T>> {
        let mut free = self.free.lock();
        // A few slots stay free, so that a handle that was just closed is not at once another object's.
        if free.length <= CHUNK / 4 {
            self.grow(&mut free)?;
        }
        let slot = free.head;
        // SAFETY: the list is not empty and its slots live for ever.
        let slot = unsafe { &*slot };
        free.head = slot.next.load(Ordering::Relaxed);
        free.length -= 1;
        Ok(Vacant { slot })
    }

    fn grow(&'static self, free: &mut FreeList<T>) -> Result<()> {
        let chunk: NonNull<Chunk<T>> = alloc::zeroed_forever()?;
        // SAFETY: zeroed memory is a valid chunk: null pointers, zero words, uninitialised bodies.
        let content = unsafe { &mut *chunk.as_ptr() };
        content.next = self.chunks.load(Ordering::Relaxed);
        for slot in &content.slots {
            slot.word.store(u64::from(T::KIND.tag() | CLOSED), Ordering::Relaxed);
            Self::append(free, slot);
        }
        self.chunks.store(chunk.as_ptr(), Ordering::Release);
        Ok(())
    }

    fn append(free: &mut FreeList<T>, slot: &Slot<T>) {
        let pointer = ptr::from_ref(slot).cast_mut();
        slot.next.store(ptr::null_mut(), Ordering::Relaxed);
        if free.length == 0 {
            free.head = pointer;
        } else {
            // SAFETY: a non-empty list has a tail, and slots live for ever.
            unsafe { (*free.tail).next.store(pointer, Ordering::Relaxed) };
        }
        free.tail = pointer;
        free.length += 1;
    }

    fn give_back(&'static self, slot: &'static Slot<T>) {
        Self::append(&mut self.free.lock(), slot);
    }

    /// Every slot there is. Takes no lock.
    fn slots(&'static self) -> impl Iterator<Item = &'static Slot<T>> {
        let mut chunk = self.chunks.load(Ordering::Acquire);
        std::iter::from_fn(move || {
            // SAFETY: chunks live for ever and are complete when published.
            let content = unsafe { chunk.as_ref() }?;
            chunk = content.next;
            Some(content.slots.iter())
        })
        .flatten()
    }

    /// The slots in use by objects of `context`, without counting references: they may be another's a moment later.
    fn of_context(&'static self, context: *const Slot<Context>) -> impl Iterator<Item = (&'static Slot<T>, u64)> {
        self.slots().filter_map(move |slot| {
            // The word first: what it publishes is at least as new as it is.
            let word = slot.word.load(Ordering::Acquire);
            let used = refs(word) > 0 || has(word, PENDING);
            (used && ptr::eq(slot.context.load(Ordering::Relaxed), context)).then_some((slot, word))
        })
    }

    /// The object of `context` at `native`, if it has a handle: for adopted children, whose parents may have one.
    pub fn find(&'static self, context: *const Slot<Context>, native: *const c_void) -> Option<Ref<T>> {
        let is_it = |slot: &Slot<T>| ptr::eq(slot.native.load(Ordering::Relaxed), native);
        self.of_context(context).filter(|(slot, _)| is_it(slot)).find_map(|(slot, seen)| {
            // The same instance as was seen, so that what was compared is true of what is counted.
            slot.count(|word| word as u32 == T::KIND.tag() && word >> 56 == seen >> 56).ok()
        })
    }

    /// Whether a handle, open or closed, will destroy the object at `native`. One whose close is under way doesn't count:
    /// its object may be gone, and the address another's by now.
    pub fn has_owner(&'static self, native: *const c_void) -> bool {
        self.slots().any(|slot| {
            let word = slot.word.load(Ordering::Acquire);
            let lives = (refs(word) > 0 || has(word, PENDING)) && !has(word, CLOSING | FORKED);
            lives && !slot.borrowed.load(Ordering::Relaxed) && ptr::eq(slot.native.load(Ordering::Relaxed), native)
        })
    }

    /// The live objects of `context` with that number, without counting references, as on the data path: whoever closes one
    /// meanwhile finds no reference in his way.
    pub fn live_with(&'static self, context: *const Slot<Context>, number: u32) -> impl Iterator<Item = &'static T> {
        self.of_context(context)
            .filter(move |(slot, _)| slot.number.load(Ordering::Relaxed) == number)
            .filter_map(|(slot, _)| slot.live())
    }

    /// How many objects of `context` there are: (open handles, closed but still used, destroy refused).
    pub fn live(&'static self, context: *const Slot<Context>) -> (u32, u32, u32) {
        let mut counts = (0, 0, 0);
        for (_, word) in self.of_context(context) {
            match (has(word, PENDING), has(word, CLOSED)) {
                (true, _) => counts.2 += 1,
                (false, true) => counts.1 += 1,
                (false, false) => counts.0 += 1,
            }
        }
        counts
    }

    /// Marks every object of a removed device.
    pub fn mark_gone(&'static self, context: *const Slot<Context>) {
        for (slot, mut word) in self.of_context(context) {
            let seen = word >> 56;
            // Only while it is the same instance: a slot reused meanwhile may be another device's.
            while word >> 56 == seen && refs(word) > 0 {
                let gone = word | u64::from(GONE);
                match slot.word.compare_exchange_weak(word, gone, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => break,
                    Err(now) => word = now,
                }
            }
        }
    }

    fn mark_forked(&'static self) {
        for slot in self.slots() {
            let word = slot.word.load(Ordering::Relaxed);
            if refs(word) > 0 || has(word, PENDING) {
                slot.flag(FORKED);
            }
        }
    }

    fn retry_pending(&'static self) {
        self.slots().for_each(Slot::retry);
    }

    /// Before fork(): nobody shall be in the middle of a change of the free list.
    pub fn before_fork(&'static self) {
        self.free.hold_for_fork();
    }

    /// After fork(), in both processes.
    pub fn after_fork(&'static self, child: bool) {
        self.free.release_after_fork();
        if child {
            self.mark_forked();
        }
    }
}

/// Tries the refused destroys again: what stood in the way may just have been closed.
fn retry_pending() {
    if PENDING_COUNT.load(Ordering::Relaxed) == 0 {
        return;
    }
    super::qp::Qp::slab().retry_pending();
    super::mw::Mw::slab().retry_pending();
    super::mr_set::MrSet::slab().retry_pending();
    super::mr::Mr::slab().retry_pending();
    super::peer::Peer::slab().retry_pending();
    super::ah::Ah::slab().retry_pending();
    super::srq::Srq::slab().retry_pending();
    super::cq::Cq::slab().retry_pending();
    super::channel::Channel::slab().retry_pending();
    super::pd::Pd::slab().retry_pending();
    super::td::Td::slab().retry_pending();
    super::dm::Dm::slab().retry_pending();
    super::counters::Counters::slab().retry_pending();
    Context::slab().retry_pending();
    super::cm_id::CmId::slab().retry_pending();
    super::cm::CmChannel::slab().retry_pending();
}

/// A slot that was taken and not filled yet; dropped, it goes back.
pub struct Vacant<T: Object> {
    slot: &'static Slot<T>,
}

impl<T: Object> Vacant<T> {
    /// Where the object will be.
    pub fn slot(&self) -> &'static Slot<T> {
        self.slot
    }

    /// Fills the slot and makes the handle live, with the user's reference counted.
    pub fn publish(self, body: T) -> &'static Slot<T> {
        let slot = self.slot;
        std::mem::forget(self);
        let context = body.context().map_or(ptr::null(), |context| ptr::from_ref(context.slot()));
        slot.context.store(context.cast_mut(), Ordering::Relaxed);
        slot.native.store(body.native_address().cast_mut(), Ordering::Relaxed);
        slot.number.store(body.number(), Ordering::Relaxed);
        slot.borrowed.store(body.is_borrowed(), Ordering::Relaxed);
        // SAFETY: the slot is ours alone until the word is stored.
        unsafe { (*slot.body.get()).write(body) };
        let instance = slot.word.load(Ordering::Relaxed).wrapping_add(ONE_INSTANCE) & !(ONE_INSTANCE - 1);
        slot.word.store(instance | ONE_REF | u64::from(T::KIND.tag()), Ordering::Release);
        slot
    }
}

impl<T: Object> Drop for Vacant<T> {
    fn drop(&mut self) {
        T::slab().give_back(self.slot);
    }
}

#[cfg(test)]
mod tests;
