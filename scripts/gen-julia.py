#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""gen-julia.py HEADER OUT.jl: makes the declarations of the Julia binding from the header."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cheader  # noqa: E402

PLAIN = {
    "int8_t": "Int8", "uint8_t": "UInt8", "int16_t": "Int16", "uint16_t": "UInt16", "int32_t": "Int32", "uint32_t": "UInt32", "int64_t": "Int64",
    "uint64_t": "UInt64", "size_t": "Csize_t", "int": "Cint", "char": "UInt8", "void": "Cvoid",
}
KEYWORDS = {
    "baremodule", "begin", "break", "catch", "const", "continue", "do", "else", "elseif", "end", "export", "false", "finally", "for", "function", "global",
    "if", "import", "let", "local", "macro", "module", "quote", "return", "struct", "true", "try", "using", "while",
}

TOP = """# SPDX-License-Identifier: MIT OR Apache-2.0
# The constants, structs and functions of include/verbena.h, which is the reference. Made by scripts/gen-julia.py; don't edit it.
# Verbena.jl includes it.

"""


def word(name):
    return f'var"{name}"' if name in KEYWORDS else name


def julia(h, text):
    """The Julia type of a C type."""
    base, stars = cheader.base_of(text), text.count("*")
    if base == "char" and stars and text.startswith("const"):
        name, stars = "Cstring", stars - 1
    elif base.startswith("struct "):  # libibverbs' own, whose layout is not ours
        name = "Cvoid"
    elif base in PLAIN:
        name = PLAIN[base]
    elif base in h.structs or base in h.opaque or base in h.aliases or base in h.callbacks:
        name = base
    else:
        raise cheader.NotUnderstood(f"type {text}")
    return "Ptr{" * stars + name + "}" * stars


def field(h, f):
    t = julia(h, f.type)
    return f"    {word(f.name)}::" + (f"NTuple{{{f.length}, {t}}}" if f.length else t)


def function(h, f):
    names = ", ".join(word(p.name) for p in f.params)
    params = ", ".join(f"{word(p.name)}::{julia(h, p.type)}" for p in f.params)
    return f"{f.name}({names}) = @ccall libverbena.{f.name}({params})::{julia(h, f.result)}\n"


def number(value):
    return f"{value:#x}" if value >= 2**63 else value  # UInt64 as that, where decimal digits would be an Int128


def generate(h):
    out = [TOP]
    out += [f"const {name} = {number(value)}\n" for name, value in h.constants.items()]
    out.append("\n")
    out += [f"const {name} = {PLAIN[base]}\n" for name, base in h.aliases.items()]
    out += [f"const {name} = Ptr{{Cvoid}}  # of @cfunction\n" for name in h.callbacks]
    out += [f"mutable struct {name} end\n" for name in h.opaque]
    for s in cheader.by_need(h.structs):
        out.append(f"\nstruct {s.name} <: Struct\n" + "".join(field(h, f) + "\n" for f in s.fields) + "end\n")
    out.append("\n")
    out += [function(h, f) for f in h.functions.values()]
    out.append("\n")
    names = [*h.constants, *h.aliases, *h.callbacks, *h.opaque, *h.structs, *h.functions]
    out += [f"export {name}\n" for name in names]
    return "".join(out)


def main():
    header = cheader.read(sys.argv[1])
    pathlib.Path(sys.argv[2]).write_text(generate(header))


main()
