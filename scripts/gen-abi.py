#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""gen-abi.py HEADER ABI_DIR OUT_DIR: makes the files of abi/ from the header.

ABI_DIR/VERSION names the version node. ABI_DIR/libverbena.symbols keeps each symbol's node and state; a symbol that is new
in the header is added as provisional in the present node, and one that is gone from the header is dropped."""
import pathlib
import re
import sys

header = pathlib.Path(sys.argv[1]).read_text()
abi = pathlib.Path(sys.argv[2])
out = pathlib.Path(sys.argv[3]) / "abi"
node = (abi / "VERSION").read_text().strip()

symbols = sorted(set(re.findall(r"^[\w\s\*]*?\b(vbn_\w+)\(", header, re.M)))
known = {}
old = abi / "libverbena.symbols"
if old.exists():
    for line in old.read_text().splitlines():
        if line and not line.startswith("#"):
            name, its_node, state = line.split()
            known[name] = (its_node, state)

rows = [(name, *known.get(name, (node, "provisional"))) for name in symbols]
(out / "libverbena.symbols").write_text(
    "# Exported symbols: name, version node, state. Until 1.0 a provisional symbol may still change.\n"
    + "".join(f"{n} {v} {s}\n" for n, v, s in rows)
)

nodes = sorted({v for _, v, _ in rows}, key=lambda v: [int(x) for x in v.split("_")[1:]])
text = "/* SPDX-License-Identifier: MIT OR Apache-2.0 */\n/* Made from libverbena.symbols by scripts/gen-abi.py. */\n"
for i, v in enumerate(nodes):
    names = "".join(f"        {n};\n" for n, w, _ in rows if w == v)
    local = "    local:\n        *;\n" if i == 0 else ""
    parent = f" {nodes[i - 1]}" if i else ""
    text += f"{v} {{\n    global:\n{names}{local}}}{parent};\n"
(out / "libverbena.map").write_text(text)

codes = re.findall(r"((?:^///.*\n)+)#define (VBN_OK|VBN_ERR_\w+) (-?\d+)$", header, re.M)
lines = ["# Status codes. A number is never used again for something else.\n"]
for comment, name, value in sorted(codes, key=lambda c: -int(c[2])):
    sentence = " ".join(l.lstrip("/ ").strip() for l in comment.splitlines())
    lines.append(f"{value} {name} {sentence}\n")
(out / "status-codes").write_text("".join(lines))
