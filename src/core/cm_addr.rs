// SPDX-License-Identifier: MIT OR Apache-2.0
//! Socket addresses for the connection manager, in a form that every language can hold by value.

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::error::{Error, Reason, Result};
use super::text::Writer;
use crate::sys::os;
use crate::sys::rdmacm::sockaddr_storage;

/// A socket address: what `struct sockaddr_in`, `sockaddr_in6` or `sockaddr_ib` hold. vbn_cm_addr_parse makes one of a numeric
/// address; C programs may copy what getaddrinfo(3) gave. All-zero: none.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct vbn_cm_addr {
    /// Bytes of `sockaddr` that count. 0: there is no address.
    pub length: u32,
    /// 0.
    pub reserved0: u32,
    /// The `struct sockaddr`, in the system's own form.
    pub sockaddr: [u8; 128],
}

/// cbindgen:ignore
const AF_IB: u16 = 27;
/// cbindgen:ignore
const AF_INET: u16 = libc::AF_INET as u16;
/// cbindgen:ignore
const AF_INET6: u16 = libc::AF_INET6 as u16;

const _: () = assert!(size_of::<sockaddr_storage>() == 128 && size_of::<vbn_cm_addr>() == 136);

impl vbn_cm_addr {
    pub const NONE: Self = Self { length: 0, reserved0: 0, sockaddr: [0; 128] };

    /// The family and the bytes that it needs.
    fn shape(&self) -> (u16, u32) {
        let family = u16::from_ne_bytes(self.field(0));
        let needs = match family {
            AF_INET => size_of::<libc::sockaddr_in>(),
            AF_INET6 => size_of::<libc::sockaddr_in6>(),
            AF_IB => 48,
            _ => 0,
        };
        (family, needs as u32)
    }

    fn field<const N: usize>(&self, at: usize) -> [u8; N] {
        self.sockaddr.get(at..at + N).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; N])
    }

    fn set(&mut self, at: usize, bytes: &[u8]) {
        if let Some(room) = self.sockaddr.get_mut(at..at + bytes.len()) {
            room.copy_from_slice(bytes);
        }
    }

    /// Checks an address of the caller's; `None` for an empty one.
    pub fn check(&self, what: &'static str) -> Result<Option<sockaddr_storage>> {
        if self.reserved0 != 0 {
            return Err(Error::reserved());
        }
        if self.length == 0 {
            return Ok(None);
        }
        let (family, needs) = self.shape();
        if needs == 0 {
            let error = Error::range(what, family.into(), "of family AF_INET (2), AF_INET6 (10) or AF_IB (27)");
            return Err(error.hint("vbn_cm_addr_parse makes an address of text"));
        }
        if self.length < needs || self.length > 128 {
            let error = Error::argument(Reason::Text("length of the address is not that of its sockaddr"));
            return Err(error.value(self.length.into(), needs.into()));
        }
        // SAFETY: the same size, and every pattern of bytes is one.
        Ok(Some(unsafe { std::mem::transmute::<[u8; 128], sockaddr_storage>(self.sockaddr) }))
    }

    /// An address as librdmacm has it; none while it is all zero.
    pub fn of(native: &sockaddr_storage) -> Self {
        // SAFETY: as in `check`.
        let sockaddr = unsafe { std::mem::transmute::<sockaddr_storage, [u8; 128]>(*native) };
        let mut addr = Self { length: 0, reserved0: 0, sockaddr };
        addr.length = addr.shape().1;
        if addr.length == 0 { Self::NONE } else { addr }
    }

    pub fn is_ib(native: &sockaddr_storage) -> bool {
        native.ss_family == AF_IB
    }

    /// Reads "192.0.2.1", "2001:db8::1" or "fe80::1%eth0". Names are not looked up: that may take any time.
    pub fn parse(host: &[u8], port: u32) -> Result<Self> {
        let port = u16::try_from(port).map_err(|_| Error::range("port", port.into(), "0..65535"))?;
        let bad = Error::argument(Reason::Text("host is not a numeric IPv4 or IPv6 address"))
            .hint("resolve names with getaddrinfo(3) and copy the result into the struct");
        let text = std::str::from_utf8(host).map_err(|_| bad)?;
        let (text, zone) = text.split_once('%').map_or((text, None), |(text, zone)| (text, Some(zone)));
        let mut addr = Self::NONE;
        match text.parse().map_err(|_| bad)? {
            IpAddr::V4(ip) if zone.is_none() => {
                addr.set(0, &AF_INET.to_ne_bytes());
                addr.set(2, &port.to_be_bytes());
                addr.set(4, &ip.octets());
            }
            IpAddr::V4(_) => return Err(bad),
            IpAddr::V6(ip) => {
                addr.set(0, &AF_INET6.to_ne_bytes());
                addr.set(2, &port.to_be_bytes());
                addr.set(8, &ip.octets());
                if let Some(zone) = zone {
                    addr.set(24, &scope(zone)?.to_ne_bytes());
                }
            }
        }
        addr.length = addr.shape().1;
        Ok(addr)
    }

    /// Writes the address as text, zero-terminated, and gives the port.
    pub fn format(&self, host: &mut [u8]) -> Result<u16> {
        self.check("addr")?;
        let mut writer = Writer::new(host);
        let (family, _) = self.shape();
        // The writer cuts what does not fit and never fails.
        let _ = match family {
            _ if self.length == 0 => Ok(()),
            AF_INET => write!(writer, "{}", Ipv4Addr::from(self.field::<4>(4))),
            AF_INET6 => {
                let scope = u32::from_ne_bytes(self.field(24));
                let _ = write!(writer, "{}", Ipv6Addr::from(self.field::<16>(8)));
                if scope == 0 { Ok(()) } else { write!(writer, "%{scope}") }
            }
            _ => write!(writer, "{}", Ipv6Addr::from(self.field::<16>(8))),
        };
        let wanted = writer.wanted();
        if wanted >= host.len() {
            return Err(Error::argument(Reason::Below("size of host"))
                .value(host.len() as u64, wanted as u64 + 1)
                .hint("64 bytes hold every address"));
        }
        let port = if matches!(family, AF_INET | AF_INET6) { self.field(2) } else { [0; 2] };
        Ok(u16::from_be_bytes(port))
    }
}

/// The number of a network interface, given as such or by name.
fn scope(zone: &str) -> Result<u32> {
    if let Ok(number) = zone.parse() {
        return Ok(number);
    }
    let mut name = [0; libc::IF_NAMESIZE];
    match name.get_mut(..zone.len()) {
        Some(room) if zone.len() < libc::IF_NAMESIZE => room.copy_from_slice(zone.as_bytes()),
        _ => return Err(NO_INTERFACE),
    }
    let name = std::ffi::CStr::from_bytes_until_nul(&name).map_err(|_| NO_INTERFACE)?;
    os::interface_index(name).ok_or(NO_INTERFACE)
}

const NO_INTERFACE: Error =
    Error::argument(Reason::Text("host names a network interface (behind %) that this machine doesn't have"));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::text::until_zero;

    fn text(addr: &vbn_cm_addr) -> (String, u16) {
        let mut host = [0xff; 64];
        let port = addr.format(&mut host).unwrap();
        (String::from_utf8(until_zero(&host).to_vec()).unwrap(), port)
    }

    #[test]
    fn text_comes_back_as_it_was() {
        for (host, length) in [("192.0.2.1", 16), ("0.0.0.0", 16), ("2001:db8::1", 28), ("fe80::7%3", 28), ("::", 28)] {
            let addr = vbn_cm_addr::parse(host.as_bytes(), 7471).unwrap();
            assert_eq!((addr.length, text(&addr)), (length, (host.to_owned(), 7471)));
            let native = addr.check("addr").unwrap().unwrap();
            assert!(vbn_cm_addr::of(&native) == addr);
        }
        let lo = vbn_cm_addr::parse(b"fe80::1%lo", 0).unwrap();
        assert!(text(&lo).0.starts_with("fe80::1%"));
        assert_eq!(text(&vbn_cm_addr::NONE), (String::new(), 0));
    }

    #[test]
    fn what_is_no_numeric_address_is_refused() {
        for host in ["", "localhost", "192.0.2", "192.0.2.1%1", "fe80::1%no-such-interface-name", "fe80::1%", "\u{e9}"]
        {
            assert!(vbn_cm_addr::parse(host.as_bytes(), 1).is_err(), "{host}");
        }
        assert_eq!(vbn_cm_addr::parse(b"::1", 65536).err().unwrap().value, 65536);
        assert!(vbn_cm_addr::parse(b"\xff", 1).is_err());
        let mut addr = vbn_cm_addr::parse(b"::1", 1).unwrap();
        assert!(addr.format(&mut [0; 3]).is_err());
        addr.length = 16;
        assert!(addr.check("addr").is_err(), "too short for its family");
        addr.length = 129;
        assert!(addr.check("addr").is_err());
        addr = vbn_cm_addr::NONE;
        addr.length = 28;
        assert!(addr.check("addr").is_err(), "no family");
    }
}
