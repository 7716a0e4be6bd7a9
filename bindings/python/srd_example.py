#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""srd_example.py [DEVICE]: an SRD queue pair of an EFA sends a message to itself, through ctypes.

VERBENA_LIBRARY names the library (default libverbena.so.0). Without DEVICE the first one that has SRD is taken."""
import ctypes
import mmap
import os
import sys

import verbena_ctypes as v
from ctypes import POINTER, byref

HALF, SECOND = 4096, 1_000_000_000
lib = v.load(os.environ.get("VERBENA_LIBRARY", "libverbena.so.0"))


def call(name, *args):
    v.check(lib, getattr(lib, name)(*args))


def make(kind, name, *args):
    """Calls a constructor, whose last argument is the place for the handle."""
    handle = POINTER(kind)()
    call(name, *args, byref(handle))
    return handle


def find():
    count, found = ctypes.c_uint32(), (v.vbn_device_match * 16)()
    call("vbn_device_find", v.VBN_CAP_SRD, found, ctypes.sizeof(v.vbn_device_match), len(found), byref(count))
    if not found[0].matches:  # those that match come first
        none = v.vbn_device_list_reason_info()
        call("vbn_device_list_reason", byref(none))
        sys.exit("; ".join(d.reason.decode() for d in found[: count.value]) or "no device: " + none.message.decode())
    return found[0].name


def main():
    context = make(v.vbn_context, "vbn_context_open", sys.argv[1].encode() if len(sys.argv) > 1 else find(), None)
    pd = make(v.vbn_pd, "vbn_pd_alloc", context, None)
    cq = make(v.vbn_cq, "vbn_cq_create", context, byref(v.vbn_cq_attr(cqe=256)))
    init = v.vbn_qp_init_attr(qp_type=v.VBN_QPT_SRD, send_cq=cq, sq_sig_all=1)
    qp = make(v.vbn_qp, "vbn_qp_create", pd, byref(init))
    call("vbn_qp_prepare", qp, byref(v.vbn_qp_prepare_attr(set=v.VBN_QP_PREPARE_SET_QKEY, qkey=lib.vbn_qkey_random())))
    endpoint = v.vbn_endpoint()  # what the other side needs; here the queue pair is its own peer
    call("vbn_endpoint_local", qp, byref(endpoint))
    peer = make(v.vbn_peer, "vbn_peer_from_endpoint", pd, byref(endpoint), None)

    memory = mmap.mmap(-1, 2 * HALF)
    memory[:HALF] = bytes(i * 7 & 255 for i in range(HALF))
    hold = ctypes.c_char.from_buffer(memory)  # keeps the mapping from being closed
    mr = make(v.vbn_mr, "vbn_mr_reg", pd, ctypes.addressof(hold), len(memory), v.VBN_ACCESS_LOCAL_WRITE, None)
    base, lkey = lib.vbn_mr_remote_addr(mr), lib.vbn_mr_lkey(mr)

    recv = v.vbn_recv_wr(wr_id=1, num_sge=1, sge=v.vbn_sge(addr=base + HALF, length=HALF, lkey=lkey))
    send = v.vbn_send_wr(wr_id=2, opcode=v.VBN_WR_SEND, num_sge=1, sge=v.vbn_sge(addr=base, length=HALF, lkey=lkey), peer=peer)
    posted, got, done = ctypes.c_uint32(), ctypes.c_uint32(), v.vbn_wc()
    call("vbn_qp_post_recv", qp, byref(recv), 1, byref(posted))
    call("vbn_qp_post_send", qp, byref(send), 1, byref(posted))
    seen = set()
    while seen != {1, 2}:  # in either order
        call("vbn_cq_wait", cq, 1, byref(done), 0, 60 * SECOND, byref(got))
        call("vbn_wc_check", byref(done))
        seen.add(done.wr_id)
    print("message received:", memory[:HALF] == memory[HALF:])

    send.peer = None
    try:  # every refusal explains itself
        call("vbn_qp_post_send", qp, byref(send), 1, byref(posted))
    except v.VerbenaError as e:
        print("as expected:", e)
    else:
        raise AssertionError("a request without a peer was taken")
    for kind, handle in ("qp", qp), ("peer", peer), ("mr", mr), ("cq", cq), ("pd", pd), ("context", context):
        call(f"vbn_{kind}_close", byref(handle))
    print("ok")


main()
