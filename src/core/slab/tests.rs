// SPDX-License-Identifier: MIT OR Apache-2.0
//! The life of a slot, on objects that only count what happens to them.

use super::*;
use std::sync::atomic::AtomicI32;

/// A parent (not a leaf) or a child of one; counts what happens to it.
struct Parent {
    refuse: &'static AtomicI32,
    destroyed: &'static AtomicI32,
}
struct Child {
    _parent: Ref<Parent>,
    refuse: &'static AtomicI32,
}
static PARENTS: Slab<Parent> = Slab::new();
static CHILDREN: Slab<Child> = Slab::new();

fn answer(refuse: &AtomicI32) -> Result<()> {
    match refuse.load(Ordering::Relaxed) {
        0 => Ok(()),
        errno => Err(Error::call("destroy", errno)),
    }
}

impl Object for Parent {
    const KIND: Kind = Kind::Pd;
    const LEAF: bool = false;
    fn slab() -> &'static Slab<Self> {
        &PARENTS
    }
    fn context(&self) -> Option<&Context> {
        None
    }
    fn native_address(&self) -> *const c_void {
        ptr::null()
    }
    fn destroy(&self) -> Result<()> {
        answer(self.refuse)?;
        self.destroyed.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
    fn device_is_gone(&self, told: bool) -> bool {
        told
    }
}

impl Object for Child {
    const KIND: Kind = Kind::Mr;
    const LEAF: bool = true;
    fn slab() -> &'static Slab<Self> {
        &CHILDREN
    }
    fn context(&self) -> Option<&Context> {
        None
    }
    fn native_address(&self) -> *const c_void {
        ptr::null()
    }
    fn destroy(&self) -> Result<()> {
        answer(self.refuse)
    }
    fn device_is_gone(&self, told: bool) -> bool {
        told
    }
}

struct Family {
    parent: &'static Slot<Parent>,
    refuse: &'static AtomicI32,
    destroyed: &'static AtomicI32,
}

impl Family {
    fn new() -> Self {
        let [refuse, destroyed] = [0, 0].map(|n| &*Box::leak(Box::new(AtomicI32::new(n))));
        let parent = PARENTS.take().unwrap().publish(Parent { refuse, destroyed });
        Self { parent, refuse, destroyed }
    }

    fn child(&self, refuse: &'static AtomicI32) -> &'static Slot<Child> {
        CHILDREN.take().unwrap().publish(Child { _parent: self.parent.pin().unwrap(), refuse })
    }

    fn destroyed(&self) -> i32 {
        self.destroyed.load(Ordering::Relaxed)
    }
}

static WILLING: AtomicI32 = AtomicI32::new(0);

#[test]
fn a_parent_lives_until_its_last_child_is_closed() {
    let family = Family::new();
    let (one, two) = (family.child(&WILLING), family.child(&WILLING));
    family.parent.close().unwrap();
    assert_eq!(family.parent.close().unwrap_err().status, VBN_ERR_CLOSED);
    assert!(family.parent.live().is_none());
    one.close().unwrap();
    assert_eq!(family.destroyed(), 0);
    two.close().unwrap();
    assert_eq!(family.destroyed(), 1);
    assert_eq!(two.close().unwrap_err().status, VBN_ERR_CLOSED);
}

#[test]
fn a_refused_destroy_keeps_the_handle() {
    let family = Family::new();
    let refuse: &'static AtomicI32 = Box::leak(Box::new(AtomicI32::new(libc::EBUSY)));
    let child = family.child(refuse);
    assert_eq!(child.close().unwrap_err().status, VBN_ERR_BUSY);
    assert!(child.live().is_some());
    refuse.store(0, Ordering::Relaxed);
    child.close().unwrap();
    family.refuse.store(libc::EBUSY, Ordering::Relaxed);
    assert_eq!(family.parent.close().unwrap_err().status, VBN_ERR_BUSY);
    assert!(family.parent.pin().is_ok());
    family.refuse.store(0, Ordering::Relaxed);
    family.parent.close().unwrap();
    assert_eq!(family.destroyed(), 1);
}

#[test]
fn a_deferred_destroy_that_is_refused_is_tried_again() {
    let family = Family::new();
    let child = family.child(&WILLING);
    family.parent.close().unwrap();
    family.refuse.store(libc::EBUSY, Ordering::Relaxed);
    child.close().unwrap();
    assert!(has(family.parent.word.load(Ordering::Relaxed), PENDING));
    PARENTS.retry_pending();
    assert_eq!(family.destroyed(), 0);
    family.refuse.store(0, Ordering::Relaxed);
    PARENTS.retry_pending();
    assert_eq!(family.destroyed(), 1);
}

#[test]
fn a_device_that_is_gone_has_destroyed_its_objects() {
    let family = Family::new();
    family.refuse.store(libc::EIO, Ordering::Relaxed);
    assert_eq!(family.parent.close().unwrap_err().errno, libc::EIO, "a device that is there may say EIO too");
    family.parent.flag(GONE);
    assert_eq!(family.parent.pin().err().unwrap().status, VBN_ERR_DEVICE_GONE);
    assert!(family.parent.pin_any().is_ok());
    family.parent.close().unwrap();
    assert!(family.parent.live().is_none());
}

#[test]
fn a_forked_child_frees_and_destroys_nothing() {
    let family = Family::new();
    let child = family.child(&WILLING);
    family.parent.flag(FORKED);
    child.flag(FORKED);
    assert_eq!(child.pin().err().unwrap().status, VBN_ERR_FORKED);
    child.close().unwrap();
    family.parent.close().unwrap();
    assert_eq!(family.destroyed(), 0);
    assert!(family.parent.live().is_none());
}

#[test]
fn a_poisoned_handle_can_be_closed_and_nothing_else() {
    let family = Family::new();
    family.parent.poison();
    assert_eq!(family.parent.pin().err().unwrap().status, VBN_ERR_INTERNAL);
    family.parent.close().unwrap();
    assert_eq!(family.destroyed(), 1);
}

#[test]
fn a_leaf_inside_a_call_is_busy_and_a_release_needs_it_alone() {
    let family = Family::new();
    let child = family.child(&WILLING);
    let pin = child.pin().unwrap();
    assert_eq!(child.close().unwrap_err().status, VBN_ERR_BUSY);
    assert_eq!(family.parent.release(|_| ()).unwrap_err().status, VBN_ERR_BUSY);
    drop(pin);
    child.close().unwrap();
    family.parent.release(|_| ()).unwrap();
    assert_eq!(family.destroyed(), 0);
    assert!(family.parent.live().is_none());
}

#[test]
fn a_leaf_that_a_set_has_stays() {
    let family = Family::new();
    let child = family.child(&WILLING);
    let hold = Hold::new(child.pin().unwrap());
    assert!(Hold::only(child.pin().unwrap()).is_none());
    for forked in [0, FORKED] {
        child.flag(forked);
        let error = child.close().unwrap_err();
        assert!(error.status == VBN_ERR_BUSY && matches!(error.reason, Reason::Held(_)));
    }
    drop(hold);
    child.close().unwrap();

    let child = family.child(&WILLING);
    let hold = Hold::only(child.pin().unwrap()).unwrap();
    assert_eq!(child.release(|_| ()).unwrap_err().status, VBN_ERR_BUSY);
    assert!(hold.close().is_ok());
    assert!(child.live().is_none());
    family.parent.close().unwrap();
    assert_eq!(family.destroyed(), 1);
}

#[test]
fn a_closed_slot_is_not_reused_at_once() {
    let family = Family::new();
    family.parent.close().unwrap();
    for _ in 0..CHUNK / 4 {
        let other = Family::new();
        assert!(!ptr::eq(other.parent, family.parent));
        other.parent.close().unwrap();
    }
}

#[test]
fn a_handle_of_another_type_is_told() {
    let family = Family::new();
    // SAFETY: both are slots: only the word is looked at, and it says that the type is another.
    let wrong: &'static Slot<Child> = unsafe { &*ptr::from_ref(family.parent).cast() };
    assert_eq!(wrong.pin().err().unwrap().status, VBN_ERR_ARGUMENT);
    assert_eq!(wrong.close().unwrap_err().status, VBN_ERR_ARGUMENT);
    family.parent.close().unwrap();
}

#[test]
fn many_threads_open_and_close() {
    let threads: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(|| {
                for _ in 0..500 {
                    let family = Family::new();
                    let child = family.child(&WILLING);
                    family.parent.close().unwrap();
                    child.close().unwrap();
                    assert_eq!(family.destroyed(), 1);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
