// SPDX-License-Identifier: MIT OR Apache-2.0
//! `softnic devices`: kinds and profiles with every value and where it comes from.

use crate::profile::{self, Source};
use std::fmt::Write as _;

pub fn list() -> String {
    let mut text = String::new();
    for p in profile::PROFILES {
        let default = if profile::default_profile(p.kind) == p { " (default)" } else { "" };
        let _ = writeln!(text, "{},profile={}{default}: {}", p.kind.name(), p.name, p.about);
        p.each(|name, value, source| {
            let source = match source {
                Source::Stated(source) => source.to_string(),
                Source::Design(why) => format!("softnic's own: {why}"),
                Source::Assumed => "assumed".into(),
            };
            let mut value = value.to_string();
            if let (true, Ok(number)) = (name.starts_with("pci_") || name.ends_with("_caps"), value.parse::<u64>()) {
                value = format!("{number:#x}");
            }
            let _ = writeln!(text, "  {name:20} {value:>12}  {source}");
        });
    }
    text
}
