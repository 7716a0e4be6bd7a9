// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the last failure of a thread has to tell beyond what an error has room for. It is written when the failure is made and read with the
//! error that says `Reason::Detail`: since a later failure replaces that error, the two always belong together.

use std::cell::Cell;
use std::fmt::{self, Write};

use super::dltensor::Shape;
use super::gpu_mr::Attempts;

/// The rest of a sentence.
#[allow(clippy::large_enum_variant, reason = "there is one for each thread, and no heap to put it on")]
#[derive(Clone, Copy)]
pub enum Detail {
    None,
    /// What came of each way to register memory.
    Paths(Attempts),
    /// What a tensor looks like.
    Tensor(Shape),
}

thread_local! {
    static LAST: Cell<Detail> = const { Cell::new(Detail::None) };
}

/// Keeps it for the error that is about to be recorded.
pub fn keep(detail: Detail) {
    // A thread whose storage is being torn down loses the text, not the status.
    let _ = LAST.try_with(|last| last.set(detail));
}

pub fn write(out: &mut dyn Write) -> fmt::Result {
    match LAST.try_with(Cell::get).unwrap_or(Detail::None) {
        Detail::None => Ok(()),
        Detail::Paths(attempts) => attempts.write(out),
        Detail::Tensor(shape) => shape.write(out),
    }
}
