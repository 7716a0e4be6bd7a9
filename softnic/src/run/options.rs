// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line of `softnic run`. Every error is one sentence that names the word and the remedy.

use crate::profile::{self, Profile};

pub const MAX_DEVICES: usize = 32;

pub const USAGE: &str = "\
softnic: RDMA devices in user space, below the unmodified rdma-core

  softnic run [OPTIONS] -- COMMAND [ARGUMENT...]
      --device KIND[,profile=P][,count=N][,name=NAME]   devices to show; may be repeated (default: efa)
      --fabric NAME    runs of this user with the same NAME reach each other (default: this run alone)
      --seed N         seed of everything random: order of requests, faults (default: 1; 0: all in order)
      --fault FILE     misbehave as FILE says
      --trace FILE     append uverbs calls, requests and completions to FILE
  softnic devices      kinds and profiles with their values; 'assumed' marks what no source confirms
  softnic --version
";

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceOption {
    pub profile: &'static Profile,
    pub count: usize,
    pub name: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    pub devices: Vec<DeviceOption>,
    pub fabric: Option<String>,
    pub seed: u64,
    pub fault: Option<String>,
    pub trace: Option<String>,
    pub command: Vec<String>,
}

/// The words after `softnic run`.
pub fn parse(words: &[String]) -> Result<Options, String> {
    let mut options = Options { seed: 1, ..Options::default() };
    let mut words = words.iter();
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
        if !["--device", "--fabric", "--seed", "--fault", "--trace"].contains(&key) {
            return Err(format!("unknown option {key}; see softnic --help"));
        }
        let value = match value {
            Some(value) => value,
            None => match words.next() {
                Some(value) if value != "--" => value.clone(),
                _ => return Err(format!("{key} needs a value; see softnic --help")),
            },
        };
        match key {
            "--device" => options.devices.push(device(&value)?),
            "--fabric" => options.fabric = Some(fabric(value)?),
            "--seed" => options.seed = value.parse().map_err(|_| format!("--seed {value}: not a number"))?,
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

fn fabric(name: String) -> Result<String, String> {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '.';
    if name.is_empty() || name.len() > 64 || !name.chars().all(good) || name.starts_with('.') {
        return Err(format!("--fabric {name}: a name is 1 to 64 letters, digits, '-', '_' or '.'"));
    }
    Ok(name)
}

fn device(text: &str) -> Result<DeviceOption, String> {
    let mut parts = text.split(',');
    let kind = parts.next().unwrap_or_default().to_string();
    let (mut wanted, mut count, mut name) = (None, 1usize, None);
    for part in parts {
        match part.split_once('=') {
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
            _ => return Err(format!("--device {text}: '{part}' is not profile=, count= or name=")),
        }
    }
    let profile = choose(&kind, wanted.as_deref()).map_err(|e| format!("--device {text}: {e}"))?;
    Ok(DeviceOption { profile, count, name })
}

fn choose(kind: &str, wanted: Option<&str>) -> Result<&'static Profile, String> {
    let of_kind: Vec<&Profile> = profile::PROFILES.iter().filter(|p| p.kind.name() == kind).collect();
    let Some(first) = of_kind.first() else {
        let mut kinds: Vec<&str> = profile::PROFILES.iter().map(|p| p.kind.name()).collect();
        kinds.dedup();
        return Err(format!("no kind '{kind}'; there is {}", kinds.join(", ")));
    };
    match wanted {
        None => Ok(profile::default_profile(first.kind)),
        Some(name) => profile::find(kind, name).ok_or_else(|| {
            let names: Vec<&str> = of_kind.iter().map(|p| p.name).collect();
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
        assert_eq!(parse(&words("-- true")).unwrap().devices[0].profile.name, "p5");
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
            ("--fabric ../a -- y", "../a"),
            ("--trace -- y", "--trace needs"),
            ("--wrong -- y", "--wrong"),
            ("--device efa", "no command"),
            ("--device efa,count=20 --device efa,count=20 -- x", "40 devices"),
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
