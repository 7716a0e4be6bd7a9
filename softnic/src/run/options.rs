// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line of `softnic run`. Every error is one sentence that names the word and the remedy.

use super::config::Peermem;
use crate::kind::{self, KINDS};
use crate::profile::Profile;
use std::collections::BTreeSet;

pub const MAX_DEVICES: usize = 32;
/// What a real device waits is not known. A peer that is only slow, on a machine with too much to do, must not be taken for dead.
pub const PEER_TIMEOUT_MS: u64 = 20_000;
/// A process that is idle is not seen to move more often than about every 100 ms.
const MIN_PEER_TIMEOUT: f64 = 0.5;

pub const USAGE: &str = "\
softnic: RDMA devices in user space, below the unmodified rdma-core

  softnic run [OPTIONS] -- COMMAND [ARGUMENT...]
      --device KIND[,profile=P][,count=N][,name=NAME][,peermem=none|nvidia|efa]   devices to show; may be repeated (default: efa)
      --fabric NAME    runs of this user with the same NAME reach each other (default: this run alone)
      --seed N         seed of everything random: order of requests, faults (default: 1; 0: all in order)
      --peer-timeout SECONDS   status 13 for requests to a process that stands still for so long (default: 20; 0: wait for ever)
      --fault FILE     misbehave as FILE says
      --trace FILE     append uverbs calls, doorbells, requests and completions to FILE
  softnic devices      kinds and profiles with their values; 'assumed' marks what no source confirms
  softnic --version
";

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceOption {
    pub profile: &'static Profile,
    pub count: usize,
    pub name: Option<String>,
    pub peermem: Peermem,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    pub devices: Vec<DeviceOption>,
    pub fabric: Option<String>,
    pub seed: u64,
    pub peer_timeout_ms: u64,
    pub fault: Option<String>,
    pub trace: Option<String>,
    pub command: Vec<String>,
}

/// The words after `softnic run`.
pub fn parse(words: &[String]) -> Result<Options, String> {
    let mut options = Options { seed: 1, peer_timeout_ms: PEER_TIMEOUT_MS, ..Options::default() };
    let mut words = words.iter();
    let mut given = BTreeSet::new();
    while let Some(word) = words.next() {
        if word == "--" {
            options.command = words.cloned().collect();
            break;
        }
        if !word.starts_with("--") {
            return Err(format!("'{word}' is no option; put -- in front of the command"));
        }
        let (key, value) = match word.split_once('=') {
            Some((key, value)) if key != "--device" => (key, Some(value.to_string())),
            _ if word.starts_with("--device=") => ("--device", word.get(9..).map(str::to_string)),
            _ => (word.as_str(), None),
        };
        if !["--device", "--fabric", "--seed", "--peer-timeout", "--fault", "--trace"].contains(&key) {
            return Err(format!("unknown option {key}; see softnic --help"));
        }
        let value = match value {
            Some(value) => value,
            None => match words.next() {
                Some(value) if value != "--" => value.clone(),
                _ => return Err(format!("{key} needs a value; see softnic --help")),
            },
        };
        if key != "--device" && !given.insert(key) {
            return Err(format!("{key} is given twice; see softnic --help"));
        }
        match key {
            "--device" => options.devices.push(device(&value)?),
            "--fabric" => options.fabric = Some(fabric(value)?),
            "--seed" => options.seed = value.parse().map_err(|_| format!("--seed {value}: not a number"))?,
            "--peer-timeout" => options.peer_timeout_ms = seconds(&value)?,
            "--fault" => options.fault = Some(value),
            _ => options.trace = Some(value),
        }
    }
    if options.command.is_empty() {
        return Err("no command: softnic run [OPTIONS] -- COMMAND [ARGUMENT...]".into());
    }
    if options.devices.is_empty() {
        options.devices.push(device("efa")?);
    }
    let count: usize = options.devices.iter().map(|d| d.count).sum();
    if count > MAX_DEVICES {
        return Err(format!("{count} devices asked for; a run has at most {MAX_DEVICES}"));
    }
    Ok(options)
}

/// Seconds, as a whole or decimal number, in milliseconds.
fn seconds(text: &str) -> Result<u64, String> {
    match text.parse::<f64>() {
        Ok(s) if (0.0..=1e6).contains(&s) && (s == 0.0 || s >= MIN_PEER_TIMEOUT) => Ok((s * 1000.0) as u64),
        _ => Err(format!("--peer-timeout {text}: it is 0, which is never, or {MIN_PEER_TIMEOUT} to 1000000 seconds")),
    }
}

fn fabric(name: String) -> Result<String, String> {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '.';
    if name.is_empty() || name.len() > 64 || !name.chars().all(good) || name.starts_with('.') {
        return Err(format!("--fabric {name}: a name is 1 to 64 letters, digits, '-', '_' or '.'"));
    }
    if name.starts_with("run-") {
        return Err(format!("--fabric {name}: names that begin with 'run-' are those of single runs; take another"));
    }
    Ok(name)
}

fn device(text: &str) -> Result<DeviceOption, String> {
    let mut parts = text.split(',');
    let kind = parts.next().unwrap_or_default().to_string();
    let (mut wanted, mut count, mut name, mut peermem) = (None, 1usize, None, Peermem::None);
    let mut given = BTreeSet::new();
    for part in parts {
        let pair = part.split_once('=');
        if let Some((key, _)) = pair
            && !given.insert(key)
        {
            return Err(format!(
                "--device {text}: {key}= is there twice (several devices: count=, or --device for each)"
            ));
        }
        match pair {
            Some(("profile", value)) => wanted = Some(value.to_string()),
            Some(("count", value)) => match value.parse() {
                Ok(n) if (1..=MAX_DEVICES).contains(&n) => count = n,
                _ => return Err(format!("--device {text}: count={value} is not a number from 1 to {MAX_DEVICES}")),
            },
            Some(("name", value)) => {
                let good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                if value.is_empty() || value.len() > 40 || !value.chars().all(good) {
                    return Err(format!("--device {text}: name={value} must be 1 to 40 letters, digits, '_' or '-'"));
                }
                name = Some(value.to_string());
            }
            Some(("peermem", value)) => match Peermem::find(value) {
                Some(module) => peermem = module,
                None => return Err(format!("--device {text}: peermem={value} is not none, nvidia or efa")),
            },
            _ => return Err(format!("--device {text}: '{part}' is not profile=, count=, name= or peermem=")),
        }
    }
    let profile = choose(&kind, wanted.as_deref()).map_err(|e| format!("--device {text}: {e}"))?;
    Ok(DeviceOption { profile, count, name, peermem })
}

fn choose(kind: &str, wanted: Option<&str>) -> Result<&'static Profile, String> {
    let Some(known) = KINDS.iter().find(|k| k.name() == kind) else {
        let kinds: Vec<&str> = KINDS.iter().map(|k| k.name()).collect();
        return Err(format!("no kind '{kind}'; there is {}", kinds.join(", ")));
    };
    match wanted {
        None => Ok(known.default_profile()),
        Some(name) => kind::find(kind, name).ok_or_else(|| {
            let names: Vec<&str> = known.profiles().iter().map(|p| p.name).collect();
            format!("no profile '{name}'; {kind} has {}", names.join(", "))
        }),
    }
}

/// Names of all devices: `name` counted up when there are several, else `KIND_N`. Two of one name are an error.
pub fn device_names(devices: &[DeviceOption]) -> Result<Vec<(String, &DeviceOption)>, String> {
    let mut names: Vec<(String, &DeviceOption)> = Vec::new();
    let mut next = 0;
    for option in devices {
        for i in 0..option.count {
            let name = match &option.name {
                Some(name) if option.count == 1 => name.clone(),
                Some(name) => format!("{name}{i}"),
                None => format!("{}_{next}", option.profile.kind.name()),
            };
            next += 1;
            if names.iter().any(|(other, _)| *other == name) {
                return Err(format!("two devices are named {name}"));
            }
            names.push((name, option));
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_string).collect()
    }

    #[test]
    fn options_and_command_are_taken_apart() {
        let o =
            parse(&words("--device efa,profile=p4d,count=2 --device=efa,name=x --fabric f --seed 7 -- cmd --seed 9"))
                .unwrap();
        assert_eq!((o.devices.len(), o.seed, o.fabric.as_deref()), (2, 7, Some("f")));
        assert_eq!(o.command, words("cmd --seed 9"));
        let names: Vec<String> = device_names(&o.devices).unwrap().into_iter().map(|n| n.0).collect();
        assert_eq!(names, ["efa_0", "efa_1", "x"]);
        let peers = parse(&words("--device efa,peermem=efa,count=2 --device efa,peermem=nvidia -- true")).unwrap();
        assert_eq!((peers.devices[0].peermem, peers.devices[1].peermem), (Peermem::Efa, Peermem::Nvidia));
        let plain = parse(&words("-- true")).unwrap();
        assert_eq!(plain.devices[0].peermem, Peermem::None);
        assert_eq!((plain.devices[0].profile.name, plain.peer_timeout_ms), ("p5", PEER_TIMEOUT_MS));
        let timeout = |text: &str| parse(&words(&format!("--peer-timeout {text} -- true"))).map(|o| o.peer_timeout_ms);
        assert_eq!((timeout("1.5"), timeout("0")), (Ok(1500), Ok(0)));
    }

    #[test]
    fn each_error_names_the_word() {
        for (line, word) in [
            ("ls", "'ls'"),
            ("--device mlx -- x", "'mlx'"),
            ("--device efa,profile=p9 -- x", "p4d, p5, p5en"),
            ("--device efa,count=0 -- x", "count=0"),
            ("--device efa,colour=red -- x", "'colour=red'"),
            ("--seed x -- y", "--seed x"),
            ("--peer-timeout 0.1 -- y", "0.5 to"),
            ("--peer-timeout NaN -- y", "NaN"),
            ("--fabric ../a -- y", "../a"),
            ("--fabric run-1-2 -- y", "begin with 'run-'"),
            ("--trace -- y", "--trace needs"),
            ("--wrong -- y", "--wrong"),
            ("--device efa", "no command"),
            ("--device efa,count=20 --device efa,count=20 -- x", "40 devices"),
            ("--device efa,peermem=amd -- x", "peermem=amd is not none, nvidia or efa"),
            ("--device efa,name=a,name=b -- x", "efa,name=a,name=b: name= is there twice"),
            ("--device efa,profile=p4d,count=2,profile=p5 -- x", "profile= is there twice"),
            ("--device efa,count=2,count=2 -- x", "count= is there twice"),
            ("--device efa,peermem=efa,peermem=none -- x", "peermem= is there twice"),
            ("--seed 1 --seed 2 -- x", "--seed is given twice"),
            ("--fault a --trace t --fault=b -- x", "--fault is given twice"),
        ] {
            let error = parse(&words(line)).unwrap_err();
            assert!(error.contains(word), "{line}: {error}");
        }
    }

    #[test]
    fn two_devices_of_one_name_are_refused() {
        let o = parse(&words("--device efa,name=a --device efa,name=a -- x")).unwrap();
        assert!(device_names(&o.devices).unwrap_err().contains("named a"));
    }
}
