// SPDX-License-Identifier: MIT OR Apache-2.0
//! The runner: makes the run directory, starts the command with the preloaded object, waits, cleans up.

pub mod address;
pub mod config;
pub mod devices;
pub mod directory;
pub mod options;
pub mod preload;
pub mod tree;

use crate::fabric;
use config::{Config, DeviceLine};
use directory::RunDirectory;
use options::Options;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering};

/// Runs the command and returns its exit status (128 + N when signal N ended it).
pub fn run(options: &Options) -> Result<i32, String> {
    let object = preload::object()?;
    let program = options.command.first().ok_or("no command")?;
    preload::refuse_privileged(program)?;
    let names = options::device_names(&options.devices)?;
    if let Some(file) = &options.fault {
        let text = config::fault_rules(file).map_err(|e| format!("--fault {file}: {e}"))?;
        crate::fault::Faults::parse(&text, 0, options.seed).map_err(|e| format!("--fault {file}: {e}"))?;
    }
    let trace = options.trace.as_deref().map(writable).transpose()?;

    let mut directory = RunDirectory::create(options.fabric.as_deref())?;
    let host = fabric::HostClaim::create(&directory.fabric, directory.run).map_err(|e| e.to_string())?;
    let device = |(n, (name, option)): (usize, &(String, &options::DeviceOption))| DeviceLine {
        name: name.clone(),
        kind: option.profile.kind.name().into(),
        profile: option.profile.name.into(),
        gid: address::gid(host.id(), n as u8),
        peermem: option.peermem,
    };
    let config = Config {
        seed: options.seed,
        fabric: directory.fabric.display().to_string(),
        run: directory.run,
        host: host.id(),
        peer_timeout_ms: options.peer_timeout_ms,
        fault: options.fault.as_deref().map(absolute).transpose()?,
        trace,
        devices: names.iter().enumerate().map(device).collect(),
    };
    directory.fill(&config)?;
    let object = preload::name(&object, &directory.path)?;
    mention_hidden_devices();

    let status = spawn_and_wait(&options.command, &object, &directory);
    if directory.is_in_use() {
        // As if the runner had been killed: what is left is removed by a later run.
        let path = directory.leave();
        eprintln!(
            "softnic: processes of the run live on, so {} stays; a run after their end removes it",
            path.display()
        );
        std::mem::forget(host);
    }
    status
}

fn spawn_and_wait(command: &[String], object: &str, run: &RunDirectory) -> Result<i32, String> {
    let (program, arguments) = command.split_first().ok_or("no command")?;
    let mut child = Command::new(program);
    child.args(arguments).env("SOFTNIC_DIR", &run.path);
    let lock = run.lock();
    child.env("LD_PRELOAD", preload::in_front(object, &std::env::var("LD_PRELOAD").unwrap_or_default()));
    forward_signals();
    // SAFETY: the closure makes a few system calls and touches no memory.
    unsafe {
        child.pre_exec(move || {
            // The runner ignores these; the command starts as the caller's shell would start it.
            for signal in [libc::SIGINT, libc::SIGQUIT] {
                libc::signal(signal, libc::SIG_DFL);
            }
            directory::pass_on(lock)
        })
    };
    let mut child = match child.spawn() {
        Ok(child) => child,
        Err(error) => {
            // As shells and `env` answer.
            eprintln!("softnic: {program}: {error}");
            return Ok(if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 });
        }
    };
    CHILD.store(child.id() as i32, Ordering::SeqCst);
    let status = child.wait().map_err(|e| format!("{program}: {e}"))?;
    CHILD.store(0, Ordering::SeqCst);
    Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)))
}

static CHILD: AtomicI32 = AtomicI32::new(0);

extern "C" fn forward(signal: libc::c_int) {
    let child = CHILD.load(Ordering::SeqCst);
    if child > 0 {
        // SAFETY: kill is safe in a signal handler.
        unsafe { libc::kill(child, signal) };
    }
}

/// A terminal sends its signals to the command by itself; those sent to the runner alone are passed on.
fn forward_signals() {
    // SAFETY: the handler only loads an atomic and calls kill.
    unsafe {
        libc::signal(libc::SIGINT, libc::SIG_IGN);
        libc::signal(libc::SIGQUIT, libc::SIG_IGN);
        for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2] {
            libc::signal(signal, forward as extern "C" fn(libc::c_int) as libc::sighandler_t);
        }
    }
}

fn mention_hidden_devices() {
    // Within another run they are softnic's own, and what that one hides it has told.
    let is_real = |entry: &std::fs::DirEntry| {
        let device = std::fs::read_link(entry.path()).unwrap_or_default();
        !device.components().any(|part| part.as_os_str() == tree::PCI_ROOT)
    };
    let entries = std::fs::read_dir("/sys/class/infiniband").into_iter().flatten().flatten();
    let real = entries.filter(is_real).count();
    if real > 0 {
        eprintln!("softnic: hides {real} real device(s)");
    }
}

fn absolute(file: &str) -> Result<String, String> {
    let path = std::path::absolute(file).map_err(|e| format!("{file}: {e}"))?;
    let text = path.to_str().ok_or_else(|| format!("{file}: not UTF-8"))?;
    if text.contains('\n') { Err(format!("{file}: the path holds a newline")) } else { Ok(text.into()) }
}

fn writable(file: &str) -> Result<String, String> {
    use std::os::unix::fs::OpenOptionsExt;
    // O_NONBLOCK: a fifo that nobody reads is an error, not a wait.
    let opened = std::fs::OpenOptions::new().append(true).create(true).custom_flags(libc::O_NONBLOCK).open(file);
    opened.map_err(|e| format!("--trace {file}: {e}"))?;
    absolute(file)
}
