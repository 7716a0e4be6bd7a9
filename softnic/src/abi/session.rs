// SPDX-License-Identifier: MIT OR Apache-2.0
//! One open uverbs descriptor: takes calls apart, runs them, remembers the last one for the trace.

use super::call::{Call, Made};
use super::env::{Env, Nic, UserMemory};
use super::errno::{EFAULT, EINVAL, EOPNOTSUPP, EPROTONOSUPPORT, Fail, Res, errno_name, fail};
use super::names;
use super::objects::Objects;
use super::private::Calls;
use super::request::{self, MAX_REQUEST, Request};
use super::spec::MethodSpec;
use super::structs::{IoctlHeader, WriteHeader};
use super::{cq, device, mr, qp, write};
use crate::model::host::Errno;

const METHODS: &[&MethodSpec] = &[
    &write::INVOKE_WRITE,
    &device::GET_CONTEXT,
    &device::QUERY_PORT,
    &device::QUERY_PORT_SPEED,
    &device::QUERY_GID_ENTRY,
    &device::QUERY_GID_TABLE,
    &device::ASYNC_EVENT_ALLOC,
    &cq::CREATE,
    &cq::DESTROY,
    &qp::CREATE,
    &qp::DESTROY,
    &mr::REG_DMABUF,
    &mr::DESTROY,
    &write::PD_DESTROY,
    &write::AH_DESTROY,
];

/// The last call, as far as it was understood.
#[derive(Default)]
struct Last {
    name: String,
    note: String,
    failure: Option<Fail>,
    /// softnic lacks what was asked for, as opposed to refusing it.
    unknown: bool,
    /// And rdma-core asks for it without counting on it.
    probe: bool,
    made: Made,
}

pub struct Session {
    driver: &'static dyn Calls,
    objects: Objects,
    context: bool,
    tracing: bool,
    last: Last,
}

impl Session {
    /// `driver` is that of the device's kind.
    pub fn new(driver: &'static dyn Calls) -> Self {
        Session { driver, objects: Objects::default(), context: false, tracing: false, last: Last::default() }
    }

    /// Whether calls leave details for `line`.
    pub fn set_tracing(&mut self, tracing: bool) {
        self.tracing = tracing;
    }

    /// The last call in one line: name, details if tracing, result.
    pub fn line(&self) -> String {
        let Last { name, note, failure, .. } = &self.last;
        match failure {
            None => format!("uverbs {name}{note} -> ok"),
            Some(Fail { errno, why }) => format!("uverbs {name}{note} -> {} ({errno}): {why}", errno_name(*errno)),
        }
    }

    /// What should be told the user of the last call: it asked for something that softnic doesn't have, and was no probe of rdma-core's.
    pub fn complaint(&self) -> Option<String> {
        (self.last.unknown && !self.last.probe).then(|| format!("unknown call: {}", self.line()))
    }

    /// How many objects are open.
    pub fn open_objects(&self) -> usize {
        self.objects.len()
    }

    /// One RDMA_VERBS_IOCTL whose argument lies at `addr` of the caller.
    pub fn ioctl_at(
        &mut self,
        addr: u64,
        user: &mut dyn UserMemory,
        env: &mut dyn Env,
        nic: &mut dyn Nic,
    ) -> Result<(), Errno> {
        let mut bytes = match fetch(addr, user) {
            Ok(bytes) => bytes,
            Err(failure) => return self.finish("ioctl".into(), Err(failure)),
        };
        let before = bytes.clone();
        self.ioctl(&mut bytes, user, env, nic)?;
        // Only what was answered goes back; a request without answers may lie in read-only memory.
        if bytes != before && !user.write(addr, &bytes) {
            // The handle went nowhere, so nobody could ever destroy the object.
            self.undo(env, nic);
            let name = core::mem::take(&mut self.last.name);
            return self.finish(name, fail(EFAULT, format!("the request at {addr:#x} can't be written")));
        }
        Ok(())
    }

    /// The same on a copy of the request; handles, descriptors and flags are answered in `bytes`.
    pub fn ioctl(
        &mut self,
        bytes: &mut [u8],
        user: &mut dyn UserMemory,
        env: &mut dyn Env,
        nic: &mut dyn Nic,
    ) -> Result<(), Errno> {
        self.last = Last::default();
        let header = match request::header(bytes) {
            Ok(header) => header,
            Err(failure) => return self.finish("ioctl".into(), Err(failure)),
        };
        let own = self.driver.method_name(header.object, header.method);
        let mut name = own.map_or_else(|| names::method(header.object, header.method), str::to_string);
        let result = self.dispatch(&header, bytes, user, env, nic, &mut name);
        self.finish(name, result)
    }

    fn dispatch(
        &mut self,
        header: &IoctlHeader,
        bytes: &mut [u8],
        user: &mut dyn UserMemory,
        env: &mut dyn Env,
        nic: &mut dyn Nic,
        name: &mut String,
    ) -> Res<()> {
        let mut methods = METHODS.iter().chain(self.driver.methods());
        let known = methods.find(|spec| spec.object == header.object && spec.method == header.method);
        let Some(method) = known else {
            self.last.unknown = true;
            self.last.probe = names::is_probe(header.object, header.method);
            return fail(EPROTONOSUPPORT, "softnic does not have this method");
        };
        let driver = self.driver.driver_id();
        if header.driver != driver {
            return fail(EINVAL, format!("the caller speaks to driver {}, this is {driver}", header.driver));
        }
        let request = Request::parse(bytes, method).inspect_err(|failure| {
            // The errno of a mandatory attribute that is not in the table, and of nothing else there.
            self.last.unknown = failure.errno == EPROTONOSUPPORT;
        })?;
        if method.needs_context && !self.context {
            return fail(EINVAL, "GET_CONTEXT must come first");
        }
        let mut call = Call {
            objects: &mut self.objects,
            request,
            user,
            env,
            nic,
            driver: self.driver,
            context: &mut self.context,
            made: Made::default(),
            command: None,
            lacking: false,
            note: self.tracing.then(String::new),
        };
        let result = (method.run)(&mut call);
        self.last.made = call.made;
        self.last.unknown = call.lacking;
        if let Some(command) = call.command {
            *name = names::command(command);
            self.last.unknown =
                matches!(&result, Err(Fail { errno: EOPNOTSUPP, .. }) if write::find(self.driver, command).is_none());
        }
        self.last.note = call.note.take().unwrap_or_default();
        if result.is_err() {
            self.undo(env, nic);
        }
        result
    }

    /// Takes back what the last call has made.
    fn undo(&mut self, env: &mut dyn Env, nic: &mut dyn Nic) {
        let made = core::mem::take(&mut self.last.made);
        if let Some(fd) = made.fd {
            env.discard_fd(fd);
        }
        if let Some(handle) = made.object {
            // Nothing uses it yet, so only the fault file can refuse; then it lives until the session is closed.
            let _ = self.objects.destroy(handle, env, nic);
        }
    }

    fn finish(&mut self, name: String, result: Res<()>) -> Result<(), Errno> {
        self.last.name = name;
        self.last.failure = result.err();
        self.last.failure.as_ref().map_or(Ok(()), |failure| Err(failure.errno))
    }

    /// A plain write(2) command. The old interface is never needed once the ioctls answer: what the kind doesn't want by it is refused by
    /// name.
    pub fn write(&mut self, bytes: &[u8], nic: &mut dyn Nic) -> Result<(), Errno> {
        self.last = Last::default();
        if bytes.len() < WriteHeader::SIZE {
            return self.finish(
                "write".into(),
                fail(EINVAL, format!("a write of {} bytes: a command has at least 8", bytes.len())),
            );
        }
        let header = WriteHeader::read(bytes);
        let body = bytes.get(WriteHeader::SIZE..).unwrap_or_default();
        let result = if self.context { self.driver.write(&header, body, &self.objects, nic) } else { None };
        self.last.unknown = result.is_none();
        let refused = || fail(EOPNOTSUPP, "commands by write(2) are not supported, use RDMA_VERBS_IOCTL");
        self.finish(format!("write(2) {}", names::command(header.command)), result.unwrap_or_else(refused))
    }

    /// The descriptor is closed: everything still open is destroyed, users before what they use.
    pub fn close(&mut self, env: &mut dyn Env, nic: &mut dyn Nic) {
        self.objects.destroy_all(env, nic);
        self.context = false;
    }
}

/// The request at `addr`: its length is in the header.
fn fetch(addr: u64, user: &mut dyn UserMemory) -> Res<Vec<u8>> {
    let unreadable = || fail(EFAULT, format!("the request at {addr:#x} can't be read"));
    let mut bytes = vec![0; IoctlHeader::SIZE];
    if !user.read(addr, &mut bytes) {
        return unreadable();
    }
    let length = usize::from(IoctlHeader::read(&bytes).length);
    if !(IoctlHeader::SIZE..=MAX_REQUEST).contains(&length) {
        return fail(EINVAL, format!("a request of {length} bytes: 24 to {MAX_REQUEST} are possible"));
    }
    bytes.resize(length, 0);
    if !user.read(addr, &mut bytes) {
        return unreadable();
    }
    Ok(bytes)
}
