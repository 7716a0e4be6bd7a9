# SPDX-License-Identifier: MIT OR Apache-2.0
"""What check-julia and check-compat, which run Julia each in its way, want of the Julia binding."""
import pathlib

import cfacts
import cheader

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = [*(ROOT / "bindings/julia").glob("*.jl"), ROOT / "scripts/facts.jl"]
RC = ["posted 16 receives and 16 writes", "polled 32 completions", "as expected: vbn_qp_post_send: [3]: num_sge 99 ", "ok"]
RC_DATA = [*RC, "verified 65536 bytes"]
SRD = ["message received: true", "as expected: vbn_qp_post_send: [0]: peer is NULL", "ok"]
# libibverbs lists nothing; what the library then finds in sysfs is softnic's, unless it goes past LD_PRELOAD.
NO_DEVICE = ["ERROR: LoadError: no device: the kernel has uverbs0 (efa_0), driver efa, "]
NULL_RC_ENV = {"NULLV_POLL_N": "4", "EXAMPLE_NO_DATA": "1"}
NO_DEVICE_ENV = {"NULLV_DEVICES": "0"}


def command(program, *args):
    return ["julia", "--startup-file=no", str(program), *map(str, args)]


def judge(status, text, wanted):
    """Problems of a run: its status, and beginnings of lines that it should have printed."""
    lines = text.splitlines()
    missing = [line for line in wanted if not any(said.startswith(line) for said in lines)]
    problems = [f"it didn't say '{line}'" for line in missing]
    if (status != 0) != (wanted is NO_DEVICE):
        problems.insert(0, f"status {status}")
    return problems + [f"it said: {' | '.join(lines[-15:])}"] * bool(problems)


def declarations(status, text):
    """Problems of what facts.jl printed, compared with the C compiler's; and how many things were compared."""
    h = cheader.read(ROOT / "include/verbena.h")
    c = {**cfacts.layout(h), **cfacts.signatures(h)}
    if status != 0:
        return [f"status {status}: {' | '.join(text.splitlines()[-8:])}"], len(c)
    julia = dict(line.rsplit(" ", 1) for line in text.splitlines() if " " in line)
    found = cfacts.differences(c, julia, "Julia")
    return found[:10] + [f"and {len(found) - 10} more"] * (len(found) > 10), len(c)
