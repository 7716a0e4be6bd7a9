# SPDX-License-Identifier: MIT OR Apache-2.0
"""What qemu boots, made from a Debian kernel and kept in the cache: the bare ELF kernel and an initramfs.

Both are keyed by what they are made from, written under another name and renamed, so that two runs at once
do no harm."""

import hashlib
import os
import shutil
import struct
import subprocess
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent

# Loaded in this order, each after what it depends on. `boot` is what the root file system and the streams
# need. The crc32 modules are looked up by name when rxe makes a link: its dependencies don't say so.
MODULES = {
    "boot": ["virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_console"],
    "net": ["virtio_net", "veth", "dummy", "sch_netem"],
    "rdma": ["crc32_generic", "crc32c_generic", "ib_uverbs", "ib_umad", "rdma_ucm", "rdma_rxe"],
}
APPLETS = "sh mount mkdir insmod ln cat chmod hostname mkfifo setsid chroot sync sleep".split()
UNPACK = {b"\xfd7zX": ["xz", "-dc"], b"\x1f\x8b": ["gzip", "-dc"], b"\x28\xb5\x2f\xfd": ["zstd", "-qdc"]}


class BootError(Exception):
    pass


def unpack(data):
    """Decompresses by magic number; what bears none of them is returned as it is."""
    for magic, command in UNPACK.items():
        if data.startswith(magic):
            # A kernel's payload is followed by its length: the tools complain of that, after the data.
            return subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return data


def cached(path, make):
    """Returns path, after make() has given its content if it isn't there."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        fd, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(fd, "wb") as f:
            f.write(make())
        os.replace(name, path)
        drop_old(path.parent)
    return path


def drop_old(folder):
    """Removes what no run has made anew for 30 days; it is made again when it is wanted."""
    for f in folder.iterdir():
        if time.time() - f.stat().st_mtime > 30 * 86400:
            f.unlink(missing_ok=True)


def stamp(path):
    s = path.stat()
    return f"{path.resolve()} {s.st_size} {s.st_mtime_ns}\n"


def vmlinux(kernel, cache):
    """The ELF kernel inside a bzImage: qemu starts it at its PVH entry, and nothing is decompressed in the guest."""
    key = hashlib.sha256(stamp(kernel).encode()).hexdigest()[:16]
    return cached(cache / f"vmlinux-{key}", lambda: extract(kernel))


def extract(kernel):
    image = kernel.read_bytes()
    if image[0x202:0x206] != b"HdrS":
        raise BootError(f"{kernel} is no bzImage: an x86-64 Linux kernel is wanted")
    # The boot protocol's header: sectors before the protected-mode code, then where the payload lies in it.
    start = ((image[0x1F1] or 4) + 1) * 512
    offset, length = struct.unpack_from("<II", image, 0x248)
    elf = unpack(image[start + offset : start + offset + length])
    if not elf.startswith(b"\x7fELF"):
        raise BootError(f"{kernel}: its payload can't be unpacked; xz, gzip and zstd are known")
    return elf


def initramfs(kernel, moddir, cache):
    busybox = shutil.which("busybox") or "/bin/busybox"
    inputs = stamp(kernel) + stamp(Path(busybox)) + (HERE / "init").read_text() + Path(__file__).read_text()
    key = hashlib.sha256(inputs.encode()).hexdigest()[:16]
    return cached(cache / f"initramfs-{key}.cpio", lambda: pack(moddir, Path(busybox)))


def pack(moddir, busybox):
    files = {d: None for d in ("bin", "dev", "proc", "sys", "m")}
    files["bin/busybox"] = busybox.read_bytes()
    for applet in APPLETS:
        files[f"bin/{applet}"] = "busybox"
    files["init"] = (HERE / "init").read_bytes()
    files.update(module_files(moddir))
    return b"".join(cpio_entry(n, name, content) for n, (name, content) in enumerate(files.items())) + cpio_entry(0, "TRAILER!!!", b"")


def cpio_entry(inode, name, content):
    """One entry of a newc archive: bytes are an executable file, a string is a link, None is a folder."""
    if content is None:
        mode, data = 0o040755, b""
    elif isinstance(content, str):
        mode, data = 0o120777, content.encode()
    else:
        mode, data = 0o100755, content
    path = name.encode() + b"\0"
    fields = [inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0]
    entry = b"070701" + b"".join(b"%08X" % f for f in fields) + path
    entry += b"\0" * (-len(entry) % 4) + data
    return entry + b"\0" * (-len(entry) % 4)


def module_files(moddir):
    """The modules of MODULES with all that they depend on, and one list per group in loading order."""
    where = {plain(f.name): f for f in moddir.glob("kernel/**/*.ko*")}
    builtin = {plain(Path(line).name) for line in (moddir / "modules.builtin").read_text().splitlines()}
    files, seen = {}, set()

    def add(name, order):
        if name in seen or name in builtin:
            return
        seen.add(name)
        if name not in where:
            raise BootError(f"module {name} is not in {moddir}: a Debian amd64 kernel is wanted, not the cloud flavour")
        content = unpack(where[name].read_bytes())
        for dependency in depends(content):
            add(dependency, order)
        files[f"m/{name}.ko"] = content
        order.append(name)

    for group, names in MODULES.items():
        order = []
        for name in names:
            add(name, order)
        files[f"m/{group}"] = "".join(f"{name}\n" for name in order).encode()
    return files


def plain(filename):
    return filename.split(".ko")[0].replace("-", "_")


def depends(module):
    """A module names its dependencies in its .modinfo section: NUL-terminated `depends=a,b`."""
    start = module.find(b"\0depends=")
    if start < 0:
        return []
    value = module[start + 9 : module.index(b"\0", start + 9)].decode()
    return [plain(d) for d in value.split(",") if d]
