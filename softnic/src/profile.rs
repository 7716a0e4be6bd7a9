// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a profile is: the limits of one device model, as data; each kind in `kind` has its own. Each value carries where it comes from, so
//! that `softnic devices` can print `assumed` beside everything that was not read somewhere.

use crate::kind::Kind;
use std::any::Any;
use std::fmt::{Debug, Display};

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Public source code, a manual or a public issue that states it.
    Stated(&'static str),
    /// softnic's own design needs this value; a real device has another one.
    Design(&'static str),
    /// Plausible, and unconfirmed.
    Assumed,
}

/// A value and its source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fact<T> {
    pub value: T,
    pub source: Source,
}

pub const fn stated<T>(value: T, whence: &'static str) -> Fact<T> {
    Fact { value, source: Source::Stated(whence) }
}

pub const fn assumed<T>(value: T) -> Fact<T> {
    Fact { value, source: Source::Assumed }
}

pub const fn design<T>(value: T, why: &'static str) -> Fact<T> {
    Fact { value, source: Source::Design(why) }
}

/// A struct of facts, beside other fields, with a visitor of all facts.
macro_rules! facts {
    ($(#[$top:meta])* $name:ident { $($plain:ident: $kind:ty,)* } { $($(#[$doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$top])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            $(pub $plain: $kind,)*
            $($(#[$doc])* pub $field: $crate::profile::Fact<$type>,)*
        }

        impl $name {
            /// Every value with its name and source, in the order of the declaration.
            pub fn facts(&self, visit: $crate::profile::Visitor<'_>) {
                $(visit(stringify!($field), &self.$field.value, self.$field.source);)*
            }
        }
    };
}
pub(crate) use facts;

/// What a device can do, of what the model knows. How its provider is told is the kind's business.
pub mod caps {
    use super::Fact;

    pub const RDMA_READ: u32 = 1;
    pub const RNR_RETRY: u32 = 1 << 1;
    pub const CQ_NOTIFICATIONS: u32 = 1 << 2;
    pub const CQ_WITH_SGID: u32 = 1 << 3;
    pub const DATA_POLLING_128: u32 = 1 << 4;
    pub const RDMA_WRITE: u32 = 1 << 5;
    pub const UNSOLICITED_WRITE_RECV: u32 = 1 << 6;

    super::facts! {
        /// Bit by bit: a source that tells of one seldom tells of the others. Each is the bit, or 0.
        Caps {} {
        cap_rdma_read: u32,
        cap_rnr_retry: u32,
        cap_cq_notifications: u32,
        cap_cq_with_sgid: u32,
        cap_data_polling_128: u32,
        cap_rdma_write: u32,
        cap_unsolicited_write_recv: u32,
        }
    }

    impl Caps {
        pub fn bits(&self) -> u32 {
            let each: [Fact<u32>; 7] = [
                self.cap_rdma_read,
                self.cap_rnr_retry,
                self.cap_cq_notifications,
                self.cap_cq_with_sgid,
                self.cap_data_polling_128,
                self.cap_rdma_write,
                self.cap_unsolicited_write_recv,
            ];
            each.iter().fold(0, |bits, cap| bits | cap.value)
        }
    }
}

/// Is shown name, value and source of a fact.
pub type Visitor<'a> = &'a mut dyn FnMut(&'static str, &dyn Display, Source);

/// The values that only devices of one kind have.
pub trait Own: Sync + Debug {
    fn each(&self, visit: Visitor<'_>);
    fn as_any(&self) -> &dyn Any;
}

facts! {
    /// The numbers of one device model.
    Profile { kind: &'static dyn Kind, name: &'static str, about: &'static str, own: &'static dyn Own, caps: caps::Caps, } {
    max_qp: u32,
    max_cq: u32,
    max_mr: u32,
    max_pd: u32,
    max_ah: u32,
    /// Entries of a CQ.
    max_cqe: u32,
    max_sq_wr: u32,
    max_rq_wr: u32,
    max_sq_sge: u16,
    max_rq_sge: u16,
    /// Local pieces of a READ or WRITE.
    max_rdma_sge: u16,
    max_rdma_size: u32,
    /// The longest SEND.
    mtu: u32,
    max_mr_pages: u64,
    comp_vectors: u32,
    /// For `rate` and the port's speed.
    link_gbps: u32,
    /// Between two attempts after "receiver not ready".
    rnr_timer_ms: u32,
    }
}

impl PartialEq for Profile {
    /// A kind has each name once.
    fn eq(&self, other: &Profile) -> bool {
        (self.kind.name(), self.name) == (other.kind.name(), other.name)
    }
}

impl Eq for Profile {}

impl Profile {
    /// All facts, those that only this kind has at first.
    pub fn each(&self, mut visit: impl FnMut(&'static str, &dyn Display, Source)) {
        self.own.each(&mut visit);
        self.caps.facts(&mut visit);
        self.facts(&mut visit);
    }

    pub fn has(&self, cap: u32) -> bool {
        self.caps.bits() & cap == cap
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{find, profiles};

    #[test]
    fn profiles_are_found_by_name_and_list_their_sources() {
        let p = find("efa", "p4d").unwrap();
        assert!(p.has(caps::RDMA_READ) && !p.has(caps::RDMA_WRITE));
        assert!(find("efa", "p9").is_none() && find("rxe", "p5").is_none());
        assert!(find("efa", "p5en").unwrap().has(caps::UNSOLICITED_WRITE_RECV));
        let (mut n, mut unconfirmed) = (0, 0);
        p.each(|name, value, source| {
            assert!(!name.is_empty() && !value.to_string().is_empty());
            n += 1;
            unconfirmed += usize::from(source == Source::Assumed);
        });
        assert!(n > 20 && unconfirmed > 0 && unconfirmed < n);
    }

    #[test]
    fn rings_of_every_profile_are_addressable_by_16_bit_counters() {
        for p in profiles() {
            assert!(p.max_cqe.value <= 32768 && p.max_sq_wr.value <= 32768 && p.max_rq_wr.value <= 32768, "{}", p.name);
        }
    }
}
