#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""example.py [DEVICE]: two queue pairs of one device write into each other's memory, through ctypes.

VERBENA_LIBRARY names the library (default libverbena.so.0). EXAMPLE_NO_DATA=1 leaves out the look at the data, for a
device that moves none. All arrays that the loop uses are made before it: each call is then one foreign call, no more."""
import ctypes
import mmap
import os
import sys

import verbena_ctypes as v
from ctypes import POINTER, byref, pointer

DEPTH, MESSAGE, SECOND = 16, 4096, 1_000_000_000
lib = v.load(os.environ.get("VERBENA_LIBRARY", "libverbena.so.0"))


def call(name, *args):
    v.check(lib, getattr(lib, name)(*args))


def make(kind, name, *args):
    """Calls a constructor, whose last argument is the place for the handle."""
    handle = POINTER(kind)()
    call(name, *args, byref(handle))
    return handle


def devices():
    count = ctypes.c_uint32()
    infos = (v.vbn_device_info * 16)()
    call("vbn_device_list", infos, ctypes.sizeof(v.vbn_device_info), len(infos), byref(count))
    if not count.value:
        why = v.vbn_device_list_reason_info()
        call("vbn_device_list_reason", byref(why))
        sys.exit("no device: " + why.message.decode())
    return [d.name.decode() for d in infos[: count.value]]


def main():
    print("libverbena", lib.vbn_version_string().decode(), "devices:", *devices())
    name = sys.argv[1].encode() if len(sys.argv) > 1 else None
    context = make(v.vbn_context, "vbn_context_open", name, None)
    pd = make(v.vbn_pd, "vbn_pd_alloc", context, None)
    channel = make(v.vbn_channel, "vbn_channel_create", context, None)
    cq = make(v.vbn_cq, "vbn_cq_create", context, byref(v.vbn_cq_attr(cqe=4 * DEPTH, channel=channel)))
    init = v.vbn_qp_init_attr(send_cq=cq, max_send_wr=DEPTH, max_recv_wr=DEPTH)
    qps = [make(v.vbn_qp, "vbn_qp_create", pd, byref(init)) for _ in range(2)]

    # One region: the first half is sent, the second half received into.
    memory = mmap.mmap(-1, 2 * DEPTH * MESSAGE)
    memory[: DEPTH * MESSAGE] = bytes(i * 7 & 255 for i in range(DEPTH * MESSAGE))
    hold = ctypes.c_char.from_buffer(memory)  # keeps the mapping from being closed
    access = v.VBN_ACCESS_LOCAL_WRITE | v.VBN_ACCESS_REMOTE_WRITE
    mr = make(v.vbn_mr, "vbn_mr_reg", pd, ctypes.addressof(hold), len(memory), access, None)
    base, lkey, rkey = lib.vbn_mr_remote_addr(mr), lib.vbn_mr_lkey(mr), lib.vbn_mr_rkey(mr)

    records = [v.vbn_rc_record() for _ in qps]
    for qp, record in zip(qps, records):
        call("vbn_rc_record_local", qp, None, byref(record))
    for i, qp in enumerate(qps):
        call("vbn_qp_connect_rc", qp, byref(records[i]), byref(records[1 - i]), None)

    recvs = (v.vbn_recv_wr * DEPTH)()  # no segments: each takes one write with immediate
    sends = (v.vbn_send_wr * DEPTH)()
    for i in range(DEPTH):
        recvs[i].wr_id = i
        s = sends[i]
        s.wr_id, s.flags, s.opcode, s.num_sge = DEPTH + i, v.VBN_SEND_SIGNALED, v.VBN_WR_RDMA_WRITE_WITH_IMM, 1
        s.sge = v.vbn_sge(addr=base + i * MESSAGE, length=MESSAGE, lkey=lkey)
        s.remote_addr, s.rkey, s.imm = base + (DEPTH + i) * MESSAGE, rkey, 1000 + i
    done = (v.vbn_wc * (2 * DEPTH))()
    posted, got = ctypes.c_uint32(), ctypes.c_uint32()

    call("vbn_qp_post_recv", qps[1], recvs, DEPTH, byref(posted))
    received = posted.value
    call("vbn_qp_post_send", qps[0], sends, DEPTH, byref(posted))
    print(f"posted {received} receives and {posted.value} writes")
    seen, imms = 0, []
    while seen < 2 * DEPTH:
        call("vbn_cq_wait", cq, len(done), done, 0, 60 * SECOND, byref(got))
        for wc in done[: got.value]:
            call("vbn_wc_check", pointer(wc))
            if wc.opcode & v.VBN_WC_RECV:
                imms.append(wc.imm)
        seen += got.value
    print(f"polled {seen} completions")
    if os.environ.get("EXAMPLE_NO_DATA") != "1":
        assert imms == [1000 + i for i in range(DEPTH)], imms
        assert memory[: DEPTH * MESSAGE] == memory[DEPTH * MESSAGE :], "the data differ"
        print(f"verified {DEPTH * MESSAGE} bytes")

    sends[3].num_sge = 99
    try:  # every refusal explains itself
        call("vbn_qp_post_send", qps[0], sends, DEPTH, byref(posted))
    except v.VerbenaError as e:
        assert posted.value == 0 and e.info.index == 3, (posted.value, e.info.index)
        print("as expected:", e)
    else:
        raise AssertionError("99 segments were taken")
    for kind, handle in ("qp", qps[0]), ("qp", qps[1]), ("mr", mr), ("cq", cq), ("channel", channel), ("pd", pd), ("context", context):
        call(f"vbn_{kind}_close", byref(handle))
    print("ok")


main()
