// SPDX-License-Identifier: MIT OR Apache-2.0
//! Giving out numbers: round and round, so that a number is reused as late as possible.

use std::ops::RangeInclusive;

pub(super) fn next(last: &mut u32, range: RangeInclusive<u32>, taken: impl Fn(u32) -> bool) -> Option<u32> {
    let mut n = *last;
    for _ in range.clone() {
        n = if range.contains(&n) && n < *range.end() { n + 1 } else { *range.start() };
        if !taken(n) {
            *last = n;
            return Some(n);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #[test]
    fn goes_round_and_ends_when_all_are_taken() {
        let mut last = 0;
        let mut next = |taken: &[u32]| super::next(&mut last, 3..=5, |n| taken.contains(&n));
        assert_eq!([next(&[]), next(&[]), next(&[]), next(&[])], [Some(3), Some(4), Some(5), Some(3)]);
        assert_eq!(next(&[4]), Some(5));
        assert_eq!(next(&[3, 4, 5]), None);
    }
}
