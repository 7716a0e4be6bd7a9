// SPDX-License-Identifier: MIT OR Apache-2.0
//! `softnic devices`: kinds and profiles with every value and where it comes from.

use crate::kind;
use crate::profile::Source;
use std::fmt::Write as _;

pub fn list() -> String {
    let mut text = String::new();
    for p in kind::profiles() {
        let default = if p.kind.default_profile() == p { " (default)" } else { "" };
        let _ = writeln!(text, "{},profile={}{default}: {}", p.kind.name(), p.name, p.about);
        p.each(|name, value, source| {
            let source = match source {
                Source::Stated(source) => source.to_string(),
                Source::Design(why) => format!("softnic's own: {why}"),
                Source::Assumed => "assumed".into(),
            };
            let mut value = value.to_string();
            if let (true, Ok(number)) = (name.starts_with("pci_") || name.starts_with("cap_"), value.parse::<u64>()) {
                value = format!("{number:#x}");
            }
            let _ = writeln!(text, "  {name:26} {value:>12}  {source}");
        });
    }
    let _ = writeln!(text, "every kind");
    let _ = writeln!(
        text,
        "  {:26} {:>12}  assumed (--peer-timeout): how long a process may stand still until requests to it end with status 13",
        "peer_timeout_ms",
        super::options::PEER_TIMEOUT_MS
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each profile's rows: name, value, source.
    fn rows(profile: &str) -> Vec<(String, String, String)> {
        let text = list();
        let lines = text.lines().skip_while(|line| !line.starts_with(&format!("efa,profile={profile}"))).skip(1);
        let words = |line: &str| {
            let (name, rest) = line.trim_start().split_once(' ').unwrap();
            let (value, source) = rest.trim_start().split_once("  ").unwrap();
            (name.to_string(), value.to_string(), source.to_string())
        };
        lines.take_while(|line| line.starts_with(' ')).map(words).collect()
    }

    #[test]
    fn what_no_source_confirms_is_assumed_and_nothing_else() {
        for p in kind::profiles() {
            let mut rows = rows(p.name).into_iter();
            p.each(|name, _, source| {
                let (listed, _, whence) = rows.next().unwrap();
                assert_eq!(listed, name);
                assert!(!whence.is_empty(), "{} {name}", p.name);
                assert_eq!(whence == "assumed", source == Source::Assumed, "{} {name}: {whence}", p.name);
            });
            assert_eq!(rows.next(), None);
        }
    }

    #[test]
    fn what_a_source_says_of_one_device_is_assumed_of_the_others() {
        for (name, stated_by) in [
            ("max_sq_wr", &["p5"][..]),
            ("max_llq_size", &["p5"]),
            ("max_mr_pages", &["p5en"]),
            ("cap_rdma_read", &["p4d", "p5", "p5en"]),
            ("cap_rdma_write", &["p4d", "p5", "p5en"]),
            ("cap_rnr_retry", &[]),
            ("cap_cq_notifications", &[]),
            ("cap_cq_with_sgid", &[]),
            ("cap_unsolicited_write_recv", &[]),
            ("pci_device", &["p4d", "p5", "p5en"]),
        ] {
            for profile in ["p3dn", "p4d", "p5", "p5en"] {
                let row = rows(profile).into_iter().find(|row| row.0 == name).unwrap();
                assert_eq!(row.2 != "assumed", stated_by.contains(&profile), "{profile}: {row:?}");
            }
        }
    }
}
