# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the C compiler makes of the header, for comparing with what the declarations of other languages say."""
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def layout(h):
    """{name: number} of every constant, {struct: size} and {struct.field: place+size}."""
    lines = []
    for s in h.structs.values():
        lines.append(f'printf("{s.name} %zu\\n", sizeof({s.name}));')
        for f in s.fields:
            lines.append(f'printf("{s.name}.{f.name} %zu+%zu\\n", offsetof({s.name}, {f.name}), sizeof((({s.name} *)0)->{f.name}));')
    for name in h.constants:
        lines.append(f'if ({name} < 0) printf("{name} %lld\\n", (long long)({name})); else printf("{name} %llu\\n", (unsigned long long)({name}));')
    return told(lines)


def signatures(h):
    """{function(): kinds of the result and of each parameter}: p for a pointer, i or u and the size for a number, v for nothing."""
    types = {t for f in h.functions.values() for t in [f.result, *(p.type for p in f.params)]}
    numbers = {t for t in types if "*" not in t and t != "void" and t not in h.callbacks}
    kinds = told(f'printf("{t} %c%zu\\n", ({t})-1 < 0 ? \'i\' : \'u\', sizeof({t}));' for t in sorted(numbers))
    return {f"{f.name}()": ",".join(kinds.get(t, "v" if t == "void" else "p") for t in [f.result, *(p.type for p in f.params)])
            for f in h.functions.values()}


def told(lines):
    """What a C program of these lines prints, {first word: second}."""
    text = "\n".join(["#include <stdio.h>", "#include <stddef.h>", "#include <verbena.h>", "int main(void) {", *lines, "return 0; }"])
    with tempfile.TemporaryDirectory() as tmp:
        source = pathlib.Path(tmp) / "facts.c"
        source.write_text(text)
        command = [os.environ.get("CC", "cc"), "-w", f"-I{ROOT}/include", str(source), "-o", f"{tmp}/facts"]
        subprocess.run(command, check=True)
        printed = subprocess.run([f"{tmp}/facts"], check=True, capture_output=True, text=True).stdout
    return dict(line.rsplit(" ", 1) for line in printed.splitlines())


def differences(c, other, language):
    return [f"{n}: C has {c.get(n, 'none')}, {language} {other.get(n, 'none')}" for n in sorted({*c, *other}) if c.get(n) != other.get(n)]
