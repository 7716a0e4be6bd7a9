// SPDX-License-Identifier: MIT OR Apache-2.0
//! Objects that come and go seldom, by number and in the order of their numbers. As a rule there is one: that is looked at first.

#[derive(Debug)]
pub(super) struct Table<K, T>(Vec<(K, T)>);

impl<K, T> Default for Table<K, T> {
    fn default() -> Table<K, T> {
        Table(Vec::new())
    }
}

impl<K: Copy + Ord, T> Table<K, T> {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(never)]
    fn search(&self, key: K) -> Result<usize, usize> {
        self.0.binary_search_by_key(&key, |(k, _)| *k)
    }

    #[inline(never)]
    fn get_other(&self, key: K) -> Option<&T> {
        self.at(self.search(key).ok()?).map(|(_, value)| value)
    }

    #[inline(always)]
    pub fn get(&self, key: &K) -> Option<&T> {
        match self.0.first() {
            Some((first, value)) if first == key => Some(value),
            _ => self.get_other(*key),
        }
    }

    #[inline(always)]
    pub fn get_mut(&mut self, key: &K) -> Option<&mut T> {
        let place = match self.0.first() {
            Some((first, _)) if first == key => 0,
            _ => self.search(*key).ok()?,
        };
        self.0.get_mut(place).map(|(_, value)| value)
    }

    pub fn contains_key(&self, key: &K) -> bool {
        self.get(key).is_some()
    }

    /// The object at this place; objects that come or go later shift it.
    #[inline]
    pub fn at(&self, place: usize) -> Option<(K, &T)> {
        self.0.get(place).map(|(key, value)| (*key, value))
    }

    pub fn insert(&mut self, key: K, value: T) {
        if self.0.last().is_some_and(|(last, _)| *last >= key) {
            self.remove(&key);
            let place = self.search(key).unwrap_or_else(|place| place);
            self.0.insert(place, (key, value));
        } else {
            self.0.push((key, value));
        }
    }

    pub fn remove(&mut self, key: &K) -> Option<T> {
        let place = self.search(*key).ok()?;
        Some(self.0.remove(place).1)
    }

    pub fn iter(&self) -> impl Iterator<Item = (K, &T)> {
        self.0.iter().map(|(key, value)| (*key, value))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (K, &mut T)> {
        self.0.iter_mut().map(|(key, value)| (*key, value))
    }

    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, value)| value)
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn objects_are_found_and_in_order_whatever_came_when() {
        let mut table = Table::default();
        for key in [5, 9, 2, 7, 2] {
            table.insert(key, key * 10);
        }
        let all = |table: &Table<i32, i32>| table.iter().map(|(key, value)| (key, *value)).collect::<Vec<_>>();
        assert_eq!(all(&table), [(2, 20), (5, 50), (7, 70), (9, 90)]);
        for key in 0..12 {
            let there = [2, 5, 7, 9].contains(&key).then_some(key * 10);
            assert_eq!((table.get(&key).copied(), table.get_mut(&key).copied()), (there, there));
        }
        assert_eq!((table.at(2), table.at(4)), (Some((7, &70)), None));
        assert_eq!((table.remove(&2), table.remove(&2), table.remove(&9)), (Some(20), None, Some(90)));
        table.insert(7, 1);
        assert_eq!((all(&table), table.len()), (vec![(5, 50), (7, 1)], 2));
    }
}
