// SPDX-License-Identifier: MIT OR Apache-2.0
//! From native pointers to what the user knows: an event names an `ibv_qp *`, and the user wants the number he gave.
//! A hash table with linear probing and growth that can fail. Removing moves the followers up, so no tombstones remain.

use std::ffi::c_void;

use super::alloc::{self, NoMemory};

/// What is kept of an object that events can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// VBN_ELEMENT_*.
    pub kind: i32,
    /// The slot of the handle, to compare: two handles may have been made for one native object.
    pub slot: *const (),
    pub user_data: u64,
}

// SAFETY: the pointer is compared and never followed.
unsafe impl Send for Entry {}

/// The table. A place is reserved before the native object is made, so that `insert` can't fail after.
pub struct Table {
    /// Power of two, or empty. A zero key is a free place.
    places: Vec<(usize, Entry)>,
    used: usize,
    reserved: usize,
}

const SMALLEST: usize = 16;
const FREE: (usize, Entry) = (0, Entry { kind: 0, slot: std::ptr::null(), user_data: 0 });

impl Table {
    pub const fn empty() -> Self {
        Self { places: Vec::new(), used: 0, reserved: 0 }
    }

    /// Makes sure of room for one more entry.
    pub fn reserve(&mut self) -> Result<(), NoMemory> {
        let wanted = self.used + self.reserved + 1;
        // At least a quarter stays free: probing ends at a free place.
        if wanted > self.places.len() / 4 * 3 {
            self.grow((self.places.len() * 2).max(SMALLEST))?;
        }
        self.reserved += 1;
        Ok(())
    }

    /// Gives back a reservation that was not used.
    pub fn unreserve(&mut self) {
        self.reserved = self.reserved.saturating_sub(1);
    }

    /// Uses up a reservation. An entry of the same pointer is replaced: its object must be gone, or has a new handle.
    pub fn insert(&mut self, native: *const c_void, entry: Entry) {
        self.unreserve();
        let key = native as usize;
        let place = self.place(key);
        if let Some(found) = self.places.get_mut(place) {
            self.used += usize::from(found.0 == 0);
            *found = (key, entry);
        }
    }

    pub fn find(&self, native: *const c_void) -> Option<Entry> {
        let key = native as usize;
        let (found, entry) = self.places.get(self.place(key))?;
        (*found == key && key != 0).then_some(*entry)
    }

    /// How many entries there are.
    pub fn count(&self) -> usize {
        self.used
    }

    /// Changes the user's number of an entry, if there is one.
    pub fn set_user_data(&mut self, native: *const c_void, user_data: u64) {
        if let Some(entry) = self.find(native) {
            let place = self.place(native as usize);
            self.set(place, (native as usize, Entry { user_data, ..entry }));
        }
    }

    /// Removes the entry of `native` if it is still that of `slot`.
    pub fn remove(&mut self, native: *const c_void, slot: *const ()) {
        if self.find(native).is_some_and(|entry| std::ptr::eq(entry.slot, slot)) {
            let place = self.place(native as usize);
            self.close_gap(place);
            self.used -= 1;
        }
    }

    /// Moves up those entries behind `gap` that would not be found past a free place.
    fn close_gap(&mut self, mut gap: usize) {
        let mask = self.places.len() - 1;
        let mut next = gap;
        loop {
            next = (next + 1) & mask;
            let Some(&(key, entry)) = self.places.get(next) else { return };
            if key == 0 {
                break;
            }
            // The distance from its home says whether the entry may move back as far as the gap.
            if next.wrapping_sub(self.home(key)) & mask >= next.wrapping_sub(gap) & mask {
                self.set(gap, (key, entry));
                gap = next;
            }
        }
        self.set(gap, FREE);
    }

    fn set(&mut self, place: usize, value: (usize, Entry)) {
        if let Some(found) = self.places.get_mut(place) {
            *found = value;
        }
    }

    /// Where `key` is, or the free place where it would go. Any number when the table has no places.
    fn place(&self, key: usize) -> usize {
        let mut place = self.home(key);
        while self.places.get(place).is_some_and(|(found, _)| *found != 0 && *found != key) {
            place = (place + 1) & (self.places.len() - 1);
        }
        place
    }

    /// Where the search for `key` begins: the upper bits of a multiplicative hash.
    fn home(&self, key: usize) -> usize {
        let bits = self.places.len().trailing_zeros();
        let hash = (key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash.checked_shr(64 - bits).unwrap_or(0) as usize
    }

    fn grow(&mut self, size: usize) -> Result<(), NoMemory> {
        let old = std::mem::replace(&mut self.places, alloc::filled(size, FREE)?);
        for (key, entry) in old.into_iter().filter(|(key, _)| *key != 0) {
            let place = self.place(key);
            self.set(place, (key, entry));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(n: u64) -> Entry {
        Entry { kind: 1, slot: n as *const (), user_data: n }
    }

    fn pointer(n: u64) -> *const c_void {
        (n * 16) as *const c_void
    }

    #[test]
    fn behaves_like_a_map_through_growth_and_removal() {
        let mut table = Table::empty();
        let mut model = [None; 301];
        let mut random = 12345u64;
        for round in 0..20_000u64 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let n = 1 + (random >> 33) % 300;
            if random >> 63 == 0 {
                table.reserve().unwrap();
                table.insert(pointer(n), entry(round));
                model[n as usize] = Some(round);
            } else {
                let slot = model[n as usize].take().unwrap_or(0);
                table.remove(pointer(n), slot as *const ());
            }
            assert_eq!(table.used, model.iter().flatten().count());
        }
        for n in 1..=300 {
            assert_eq!(table.find(pointer(n)).map(|e| e.user_data), model[n as usize], "{n}");
        }
        assert!(table.used > 50 && table.places.len() <= 1024);
    }

    #[test]
    fn an_entry_is_removed_by_its_own_handle_only() {
        let mut table = Table::empty();
        assert_eq!(table.find(pointer(1)), None);
        table.remove(pointer(1), std::ptr::null());
        table.reserve().unwrap();
        table.insert(pointer(1), entry(1));
        table.reserve().unwrap();
        table.insert(pointer(1), entry(2));
        table.remove(pointer(1), entry(1).slot);
        assert_eq!(table.find(pointer(1)).unwrap().user_data, 2);
        table.set_user_data(pointer(1), 7);
        table.set_user_data(pointer(3), 7);
        assert_eq!((table.find(pointer(1)), table.count()), (Some(Entry { user_data: 7, ..entry(2) }), 1));
        table.remove(pointer(1), entry(2).slot);
        assert_eq!(table.find(pointer(1)), None);
        assert_eq!(table.find(std::ptr::null()), None);
    }

    #[test]
    fn reservations_of_several_threads_add_up() {
        let mut table = Table::empty();
        for _ in 0..100 {
            table.reserve().unwrap();
        }
        let size = table.places.len();
        for n in 1..=100 {
            table.insert(pointer(n), entry(n));
        }
        assert_eq!((table.places.len(), table.used, table.reserved), (size, 100, 0));
        table.reserve().unwrap();
        table.unreserve();
        assert_eq!(table.reserved, 0);
    }
}
