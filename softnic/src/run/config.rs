// SPDX-License-Identifier: MIT OR Apache-2.0
//! The run's `config` file: written by the runner, read by every process of the run. One `key value` per line.

use crate::kind::Sysfs;
use crate::model::host::Gid;
use std::fmt::Write as _;
use std::io::Read as _;

/// Written first; another version's file is refused instead of misread.
const VERSION: &str = "softnic 1";

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Config {
    pub seed: u64,
    /// The directory through which the processes of the fabric find each other.
    pub fabric: String,
    /// What the run's processes join the fabric as, and the host id that the runner got for it.
    pub run: u64,
    pub host: u16,
    /// A peer that stands still for so long is unresponsive; 0: never.
    pub peer_timeout_ms: u64,
    pub fault: Option<String>,
    pub trace: Option<String>,
    pub devices: Vec<DeviceLine>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceLine {
    pub name: String,
    pub kind: String,
    pub profile: String,
    pub gid: Gid,
    pub peermem: Peermem,
}

/// Which peer-memory module there is for a device: what the kernel asks when memory to be registered is none of the program's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Peermem {
    #[default]
    None,
    /// nvidia_peermem, which the devices of MLNX_OFED use.
    Nvidia,
    /// EFA's own, efa_nv_peermem.
    Efa,
}

impl Peermem {
    pub const ALL: [Peermem; 3] = [Peermem::None, Peermem::Nvidia, Peermem::Efa];

    pub fn name(self) -> &'static str {
        match self {
            Peermem::None => "none",
            Peermem::Nvidia => "nvidia",
            Peermem::Efa => "efa",
        }
    }

    pub fn find(name: &str) -> Option<Peermem> {
        Peermem::ALL.into_iter().find(|module| module.name() == name)
    }

    /// Whether the driver of a device uses it.
    pub fn serves(self, sysfs: &Sysfs) -> bool {
        self.module() == Some(sysfs.peer_module)
    }

    /// Its module, as /sys/module has it.
    pub fn module(self) -> Option<&'static str> {
        match self {
            Peermem::None => None,
            Peermem::Nvidia => Some("nvidia_peermem"),
            Peermem::Efa => Some("efa_nv_peermem"),
        }
    }
}

impl Config {
    pub fn to_text(&self) -> String {
        let mut text =
            format!("{VERSION}\nseed {}\nfabric {}\nrun {}\nhost {}\n", self.seed, self.fabric, self.run, self.host);
        let _ = writeln!(text, "peer_timeout_ms {}", self.peer_timeout_ms);
        for (key, value) in [("fault", &self.fault), ("trace", &self.trace)] {
            if let Some(value) = value {
                let _ = writeln!(text, "{key} {value}");
            }
        }
        for d in &self.devices {
            let _ = write!(text, "device {} {} {} ", d.name, d.kind, d.profile);
            for byte in d.gid.0 {
                let _ = write!(text, "{byte:02x}");
            }
            let _ = writeln!(text, " {}", d.peermem.name());
        }
        text
    }

    pub fn parse(text: &str) -> Result<Config, String> {
        let mut lines = text.lines();
        if lines.next() != Some(VERSION) {
            return Err(format!("the run's config is not of this softnic's version (\"{VERSION}\")"));
        }
        let mut config = Config::default();
        for line in lines {
            let (key, value) = line.split_once(' ').ok_or_else(|| format!("config line without a value: {line}"))?;
            match key {
                "seed" => config.seed = value.parse().map_err(|_| format!("bad seed {value}"))?,
                "fabric" => config.fabric = value.into(),
                "run" => config.run = value.parse().map_err(|_| format!("bad run {value}"))?,
                "host" => config.host = value.parse().map_err(|_| format!("bad host {value}"))?,
                "peer_timeout_ms" => {
                    config.peer_timeout_ms = value.parse().map_err(|_| format!("bad peer_timeout_ms {value}"))?
                }
                "fault" => config.fault = Some(value.into()),
                "trace" => config.trace = Some(value.into()),
                "device" => {
                    config.devices.push(DeviceLine::parse(value).ok_or_else(|| format!("bad device line: {line}"))?)
                }
                _ => return Err(format!("unknown config key {key}")),
            }
        }
        Ok(config)
    }
}

/// The longest fault file.
const FAULT_BYTES: u64 = 1 << 20;

/// The text of a fault file. Each process of a run reads it anew: it must be one that can be read again, and has an end.
pub fn fault_rules(file: &str) -> Result<String, String> {
    let status = std::fs::metadata(file).map_err(|e| e.to_string())?;
    if !status.is_file() {
        return Err("not a regular file".into());
    }
    let mut text = String::new();
    let opened = std::fs::File::open(file).map_err(|e| e.to_string())?;
    opened.take(FAULT_BYTES + 1).read_to_string(&mut text).map_err(|e| e.to_string())?;
    if text.len() as u64 > FAULT_BYTES { Err(format!("longer than {FAULT_BYTES} bytes")) } else { Ok(text) }
}

impl DeviceLine {
    fn parse(value: &str) -> Option<DeviceLine> {
        let mut words = value.split(' ');
        let (name, kind, profile, gid) = (words.next()?, words.next()?, words.next()?, words.next()?);
        if gid.len() != 32 || !gid.is_ascii() {
            return None;
        }
        let mut bytes = [0u8; 16];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(gid.get(2 * i..2 * i + 2)?, 16).ok()?;
        }
        let peermem = Peermem::find(words.next()?)?;
        Some(DeviceLine { name: name.into(), kind: kind.into(), profile: profile.into(), gid: Gid(bytes), peermem })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Config {
        let mut gid = [0; 16];
        gid[0] = 0xfe;
        gid[15] = 7;
        Config {
            seed: 42,
            fabric: "/dev/shm/a b".into(),
            run: u64::MAX,
            host: 3,
            peer_timeout_ms: 1500,
            fault: None,
            trace: Some("/tmp/t".into()),
            devices: vec![DeviceLine {
                name: "efa_0".into(),
                kind: "efa".into(),
                profile: "p5".into(),
                gid: Gid(gid),
                peermem: Peermem::Efa,
            }],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Config::parse(&sample().to_text()), Ok(sample()));
    }

    #[test]
    fn foreign_text_is_refused() {
        assert!(Config::parse("softnic 2\nseed 1\n").is_err());
        assert!(Config::parse(&sample().to_text().replace("host 3", "host x")).is_err());
        assert!(Config::parse(&sample().to_text().replace("efa p5 fe", "efa p5 zz")).is_err());
        assert!(Config::parse(&sample().to_text().replace("seed", "sead")).is_err());
        assert!(Config::parse(&sample().to_text().replace(" efa\n", " amd\n")).is_err());
        assert!(Config::parse(&sample().to_text().replace(" efa\n", "\n")).is_err());
    }
}
