// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which devices have what is needed, and why the others don't.

use std::fmt::{self, Write};

use super::*;
use crate::core::alloc;
use crate::core::device::{Device, List, VBN_TRANSPORT_UNKNOWN};
use crate::core::error::{Error, write_errno};
use crate::core::fork;
use crate::core::status::*;
use crate::core::text::{Name, Writer, write_bytes};

/// A device, as `vbn_device_find` judges it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_device_match {
    /// Name, to be given to vbn_context_open.
    pub name: [c_char; 64],
    /// VBN_CAP_*: what it has for certain.
    pub caps: u64,
    /// VBN_CAP_*: what was required and isn't there, or isn't certain.
    pub missing: u64,
    /// Those of `missing` of which nothing tells: they may be there.
    pub unknown: u64,
    /// Place in the list of vbn_device_list.
    pub index: u32,
    /// VBN_TRANSPORT_*: libibverbs' numbers.
    pub transport_type: i32,
    /// VBN_OK if it could be opened and asked, else why not: VBN_ERR_*. Then nothing is known of it.
    pub open_status: i32,
    /// errno of the attempt, or 0.
    pub open_errno: i32,
    /// 1 if it has all that is required.
    pub matches: u8,
    /// 1 if it is an EFA.
    pub efa: u8,
    /// 0.
    pub reserved0: [u8; 6],
    /// Why it was left out, a sentence for each thing missing; empty if it matches.
    pub reason: [c_char; 512],
}

/// Shows the first `capacity` devices, those that have all of `required` first, and returns how many there are.
pub fn find(required: u64, capacity: usize, mut show: impl FnMut(usize, &vbn_device_match)) -> Result<usize> {
    if required & !ALL != 0 {
        return Err(Error::unknown_bits("required", required, ALL));
    }
    let Some(list) = List::present()? else { return Ok(0) };
    fork::guard()?;
    let mut found = Vec::new();
    for (index, device) in list.devices().enumerate() {
        alloc::push(&mut found, judge(&list, &device, index as u32, required))?;
    }
    let (matching, others) = (found.iter().filter(|m| m.matches == 1), found.iter().filter(|m| m.matches == 0));
    matching.chain(others).take(capacity).enumerate().for_each(|(place, found)| show(place, found));
    Ok(found.len())
}

fn judge(list: &List, device: &Device<'_>, index: u32, required: u64) -> vbn_device_match {
    let caps = Context::open_listed(list, device).and_then(|slot| {
        let caps = slot.pin().and_then(|context| of(&context));
        // It is nobody else's, and if the driver won't close it, a later close tries again.
        let _ = slot.close();
        caps
    });
    match caps {
        Ok(caps) => compare(&caps, index, required),
        Err(error) => left_out(device.name(), &error, index, required),
    }
}

fn compare(caps: &vbn_caps, index: u32, required: u64) -> vbn_device_match {
    let missing = required & !caps.caps;
    let absence = caps.absence.iter().enumerate();
    let unknown =
        absence.filter(|(_, why)| **why == VBN_ABSENCE_UNKNOWN).fold(0, |all, (place, _)| all | 1u64 << place);
    let mut reason = [0; 512];
    // The writer cuts what does not fit and never fails.
    let _ = reasons(caps, missing, &mut Writer::new(&mut reason));
    vbn_device_match {
        name: caps.name,
        caps: caps.caps,
        missing,
        unknown: missing & unknown,
        index,
        transport_type: caps.transport_type,
        open_status: VBN_OK,
        open_errno: 0,
        matches: (missing == 0).into(),
        efa: caps.efa,
        reserved0: [0; 6],
        reason: reason.map(|b| b as c_char),
    }
}

fn reasons(caps: &vbn_caps, missing: u64, out: &mut Writer<'_>) -> fmt::Result {
    for cap in (0..64).map(|place| 1u64 << place).filter(|cap| missing & cap != 0) {
        if !out.is_empty() {
            out.write_str("; ")?;
        }
        sentence(caps, cap, out)?;
    }
    Ok(())
}

/// One that can't be asked.
fn left_out(name: Name, error: &Error, index: u32, required: u64) -> vbn_device_match {
    let mut reason = [0; 512];
    // As above.
    let _ = cannot(name, error, &mut Writer::new(&mut reason));
    vbn_device_match {
        name: chars(name.bytes()),
        caps: 0,
        missing: required,
        unknown: required,
        index,
        transport_type: VBN_TRANSPORT_UNKNOWN,
        open_status: error.status,
        open_errno: error.errno,
        matches: 0,
        efa: 0,
        reserved0: [0; 6],
        reason: reason.map(|b| b as c_char),
    }
}

fn cannot(name: Name, error: &Error, out: &mut Writer<'_>) -> fmt::Result {
    write_bytes(out, name.bytes())?;
    out.write_str(" can't be opened or asked: ")?;
    match error.errno {
        0 => out.write_str(meaning(error.status))?,
        errno => write_errno(errno, out)?,
    }
    if error.hint.is_empty() { Ok(()) } else { write!(out, "; {}", error.hint) }
}

fn meaning(status: vbn_status) -> &'static str {
    STATUS_TABLE.iter().find(|(code, ..)| *code == status).map_or("", |(_, _, text)| text.trim_end_matches('\0'))
}
