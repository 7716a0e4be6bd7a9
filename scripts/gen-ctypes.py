#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""gen-ctypes.py HEADER OUT.py: makes the ctypes declarations of the Python binding from the header."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cheader  # noqa: E402

PLAIN = {
    "int8_t": "c_int8", "uint8_t": "c_uint8", "int16_t": "c_int16", "uint16_t": "c_uint16", "int32_t": "c_int32",
    "uint32_t": "c_uint32", "int64_t": "c_int64", "uint64_t": "c_uint64", "size_t": "c_size_t", "int": "c_int",
    "char": "c_char",
}

TOP = '''# SPDX-License-Identifier: MIT OR Apache-2.0
"""libverbena for ctypes. Made from include/verbena.h by scripts/gen-ctypes.py; don't edit it.

    import verbena_ctypes as v
    lib = v.load()
    v.check(lib, lib.vbn_context_open(None, None, ctypes.byref(context)))

Names, structs and functions are those of the header, which is the reference. A struct that begins with struct_size gets
it by itself. Handles are typed pointers: `qp = POINTER(vbn_qp)()`, and byref(qp) where C wants a vbn_qp **.

A call made through ctypes gives up the interpreter's lock meanwhile. What the device reads or writes later (the memory of
a region) must be kept alive by the caller; requests, segments and completions are only read or written during the call."""
import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_int, c_int32, c_int64, c_size_t
from ctypes import c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

__all__ = ["load", "check", "VerbenaError"]  # and everything named vbn_ or VBN_, see the end


class _Sized(Structure):
    """A struct that begins with its own size."""

    def __init__(self, **fields):
        super().__init__(struct_size=ctypes.sizeof(type(self)), **fields)

'''

END = '''

class VerbenaError(Exception):
    """A call failed. `info` is the vbn_error_info: status, sys_errno, op, value, limit..."""

    def __init__(self, info):
        super().__init__(info.message.decode(errors="replace"))
        self.info = info
        self.status = info.status


def check(lib, status):
    """Raises VerbenaError unless `status`, which a call has just returned on this thread, is VBN_OK."""
    if status != VBN_OK:
        info = vbn_error_info()
        lib.vbn_last_error(ctypes.byref(info))
        raise VerbenaError(info)
    return status


def load(path="libverbena.so.0"):
    """Opens the library and declares its functions."""
    lib = ctypes.CDLL(path)
    for name, (result, params) in _FUNCTIONS.items():
        function = getattr(lib, name)
        function.restype = result
        function.argtypes = params
    return lib


__all__ += [name for name in globals() if name.lower().startswith("vbn_")]
'''


class Types:
    def __init__(self, header):
        self.h = header

    def plain(self, name):
        if name in PLAIN:
            return PLAIN[name]
        if name in self.h.structs or name in self.h.opaque or name in self.h.aliases or name in self.h.callbacks:
            return name
        raise cheader.NotUnderstood(f"type {name}")

    def of(self, text):
        """The ctypes expression of a C type."""
        base = cheader.base_of(text)
        stars = text.count("*")
        if base == "void":
            if not stars:
                return "None"
            base, stars = "c_void_p", stars - 1
        elif base.startswith("struct "):  # libibverbs' own, whose layout is not ours
            base, stars = "c_void_p", stars - 1
        elif base == "char" and stars:
            base, stars = "c_char_p", stars - 1
        else:
            base = self.plain(base)
        return "POINTER(" * stars + base + ")" * stars

    def field(self, f):
        t = self.of(f.type)
        return f'("{f.name}", {t} * {f.length})' if f.length else f'("{f.name}", {t})'


def generate(h):
    t = Types(h)
    out = [TOP]
    out += [f"{name} = {value}\n" for name, value in h.constants.items()]
    out.append("\n")
    out += [f"{name} = {PLAIN[base]}\n" for name, base in h.aliases.items()]
    for name in h.opaque:
        out.append(f"\n\nclass {name}(Structure):\n    pass\n")
    out.append("\n\n")
    for c in h.callbacks.values():
        args = "".join(", " + t.of(p.type) for p in c.params)
        out.append(f"{c.name} = CFUNCTYPE({t.of(c.result)}{args})\n")
    for s in cheader.by_need(h.structs):
        base = "_Sized" if s.fields[0].name == "struct_size" else "Structure"
        out.append(f"\n\nclass {s.name}({base}):\n    _fields_ = [\n")
        out += [f"        {t.field(f)},\n" for f in s.fields]
        out.append("    ]\n")
    out.append("\n\n_FUNCTIONS = {\n")
    for f in h.functions.values():
        params = ", ".join(t.of(p.type) for p in f.params)
        out.append(f'    "{f.name}": ({t.of(f.result)}, [{params}]),\n')
    out.append("}\n")
    out.append(END)
    return "".join(out)


def main():
    header = cheader.read(sys.argv[1])
    pathlib.Path(sys.argv[2]).write_text(generate(header))


main()
