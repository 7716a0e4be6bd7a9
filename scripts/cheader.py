# SPDX-License-Identifier: MIT OR Apache-2.0
"""Reads include/verbena.h: constants, types and functions, with their comments.

It knows what cbindgen writes with our settings and nothing more; whatever else turns up stops it with the line that it
did not understand, so that nothing is left out silently."""
import ast
import pathlib
import re
from dataclasses import dataclass, field

LIMITS = {"UINT64_MAX": 2**64 - 1, "INT64_MAX": 2**63 - 1, "UINT32_MAX": 2**32 - 1, "INT32_MAX": 2**31 - 1}


class NotUnderstood(Exception):
    pass


@dataclass
class Field:
    type: str  # "uint64_t", "const vbn_sge *", ...
    name: str
    length: int = 0  # of an array; 0: none


@dataclass
class Struct:
    name: str
    fields: list
    doc: str = ""


@dataclass
class Function:
    name: str
    result: str
    params: list
    doc: str = ""


@dataclass
class Header:
    constants: dict = field(default_factory=dict)  # name: number
    constant_docs: dict = field(default_factory=dict)
    opaque: list = field(default_factory=list)
    aliases: dict = field(default_factory=dict)  # typedef of a plain type: name: type
    callbacks: dict = field(default_factory=dict)  # typedef of a function pointer: name: Function
    structs: dict = field(default_factory=dict)
    functions: dict = field(default_factory=dict)
    foreign: list = field(default_factory=list)  # "struct ibv_qp;"


def number(text, known):
    """The value of a constant expression."""
    names = dict(LIMITS, **known)
    text = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text)
    tree = ast.parse(text.strip(), mode="eval")
    allowed = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.Name, ast.Load, ast.operator, ast.unaryop)
    for node in ast.walk(tree):
        if not isinstance(node, allowed):
            raise NotUnderstood(f"constant expression: {text}")
    return eval(compile(tree, "<header>", "eval"), {"__builtins__": {}}, names)


def declarator(text, constants=None):
    """"const vbn_sge *sg_list", "uint8_t gid[16]" to a Field. A length may be one of the constants."""
    m = re.fullmatch(r"(.*?[\s\*])(\w+)\s*(?:\[(\w+)\])?", text.strip(), re.S)
    if not m:
        raise NotUnderstood(f"declaration: {text}")
    return Field(canonical(m[1]), m[2], number(m[3], constants or {}) if m[3] else 0)


def canonical(type_text):
    return re.sub(r"\s*\*\s*", "*", " ".join(type_text.split())).replace("*", " *").replace("* *", "**").strip()


def base_of(text):
    """A C type without its pointers: "const vbn_sge *" is of vbn_sge."""
    return re.sub(r"\bconst\b|\*", "", text).strip()


def by_need(structs):
    """Structs in an order in which each comes after those that it contains or points to."""
    done, left = [], dict(structs)
    while left:
        ready = [s for s in left.values() if not any(base_of(f.type) in left for f in s.fields)]
        if not ready:
            raise NotUnderstood("structs that need each other: " + ", ".join(left))
        for s in ready:
            done.append(left.pop(s.name))
    return done


def parameters(text):
    text = text.strip()
    return [] if text in ("", "void") else [declarator(p) for p in text.split(",")]


def statements(text):
    """Yields (doc, statement): a #define, or text up to a semicolon outside braces."""
    doc, code, depth = [], [], 0
    for line in text.splitlines():
        stripped = line.strip()
        if depth == 0 and not code:
            if stripped.startswith("///"):
                doc.append(stripped[3:].removeprefix(" "))
                continue
            if stripped.startswith("#"):
                yield "\n".join(doc), stripped
                doc = []
                continue
            if not stripped:
                doc = []
                continue
            if re.fullmatch(r'extern "C" \{|\}\s*// extern "C"', stripped):
                continue
        if stripped.startswith("//"):
            continue
        code.append(line)
        depth += line.count("{") - line.count("}")
        if depth == 0 and stripped.endswith(";"):
            yield "\n".join(doc), "\n".join(code).strip()
            doc, code = [], []
    if code:
        raise NotUnderstood("\n".join(code))


def take(h, doc, statement):
    if statement.startswith("#"):
        m = re.fullmatch(r"#define\s+(VBN_\w+)\s+(.+)", statement)
        if m and not m[2].startswith('"'):
            h.constants[m[1]] = number(m[2], h.constants)
            h.constant_docs[m[1]] = doc
        elif not re.match(r"#(define VERBENA_H$|define VBN_\w+ \"|if|ifdef|ifndef|else|endif|include|error)", statement):
            raise NotUnderstood(statement)
    elif m := re.fullmatch(r"typedef struct (\w+) (\w+);", statement):
        h.opaque.append(m[2])
    elif m := re.fullmatch(r"struct (\w+);", statement):
        h.foreign.append(m[1])
    elif m := re.fullmatch(r"typedef struct(?: \w+)? \{(.*)\} (\w+);", statement, re.S):
        body = re.sub(r"^\s*//.*$", "", m[1], flags=re.M)
        h.structs[m[2]] = Struct(m[2], [declarator(f, h.constants) for f in body.split(";") if f.strip()], doc)
    elif m := re.fullmatch(r"typedef (.+?)\(\*(\w+)\)\((.*)\);", statement, re.S):
        h.callbacks[m[2]] = Function(m[2], canonical(m[1]), parameters(m[3]), doc)
    elif m := re.fullmatch(r"typedef (\w+) (\w+);", statement):
        h.aliases[m[2]] = m[1]
    elif m := re.fullmatch(r"([\w\s\*]+?[\s\*])(\w+)\(([^()]*)\);", statement, re.S):
        h.functions[m[2]] = Function(m[2], canonical(m[1]), parameters(m[3]), doc)
    else:
        raise NotUnderstood(statement)


def read(path):
    text = pathlib.Path(path).read_text()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    h = Header()
    for doc, statement in statements(text):
        take(h, doc, statement)
    return h
