// SPDX-License-Identifier: MIT OR Apache-2.0
//! `softnic run` and `softnic devices`.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::disallowed_macros)]

use softnic::run::{self, devices, options};
use std::io::Write;
use std::process::ExitCode;

/// A usage error, or a run that could not start: as `env` and shells do.
const CANNOT_RUN: u8 = 125;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        Some(("run" | "devices", [word])) if word == "--help" || word == "-h" => print(options::USAGE),
        Some(("run", rest)) => match options::parse(rest).and_then(|options| run::run(&options)) {
            Ok(status) => ExitCode::from(status as u8),
            Err(error) => fail(&error),
        },
        Some(("devices", [])) => print(&devices::list()),
        Some(("--help" | "-h" | "help", _)) => print(options::USAGE),
        Some(("--version", [])) => print(concat!("softnic ", env!("CARGO_PKG_VERSION"), "\n")),
        Some((word, _)) => fail(&format!("unknown command '{word}'; see softnic --help")),
        None => fail("no command; see softnic --help"),
    }
}

fn print(text: &str) -> ExitCode {
    // A closed pipe (`softnic devices | head`) is no error.
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

fn fail(error: &str) -> ExitCode {
    eprintln!("softnic: {}", error.replace('\n', " "));
    ExitCode::from(CANNOT_RUN)
}
