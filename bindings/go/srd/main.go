// SPDX-License-Identifier: MIT OR Apache-2.0

// An SRD queue pair of an EFA sends a message to itself. Run: softnic run --device efa -- go run ./srd [DEVICE]
package main

// #cgo pkg-config: verbena
// #include <stdlib.h>
// #include <verbena.h>
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"
)

const half = 4096

func try(status C.vbn_status) { // it is 0 or negative, so statuses joined by | are 0 only if all are
	if e := (C.vbn_error_info{struct_size: C.sizeof_vbn_error_info}); status != C.VBN_OK {
		C.vbn_last_error(&e)
		panic(C.GoString(&e.message[0]))
	}
}

func main() {
	runtime.LockOSThread() // the last error is that of the thread
	context, pd, mr, cq, qp, peer := new(*C.vbn_context), new(*C.vbn_pd), new(*C.vbn_mr), new(*C.vbn_cq), new(*C.vbn_qp), new(*C.vbn_peer)
	try(C.vbn_context_open(C.CString(append(os.Args, "")[1]), nil, context))
	try(C.vbn_pd_alloc(*context, nil, pd))
	data := unsafe.Slice((*byte)(C.calloc(2, half)), 2*half) // C's memory, since the device keeps the address
	try(C.vbn_mr_reg(*pd, unsafe.Pointer(&data[0]), 2*half, C.VBN_ACCESS_LOCAL_WRITE, nil, mr))
	try(C.vbn_cq_create(*context, &C.vbn_cq_attr{struct_size: C.sizeof_vbn_cq_attr, cqe: 256}, cq))
	attr := C.vbn_qp_init_attr{struct_size: C.sizeof_vbn_qp_init_attr, qp_type: C.VBN_QPT_SRD, send_cq: *cq, sq_sig_all: 1}
	try(C.vbn_qp_create(*pd, &attr, qp))
	prepare := C.vbn_qp_prepare_attr{struct_size: C.sizeof_vbn_qp_prepare_attr, set: C.VBN_QP_PREPARE_SET_QKEY, qkey: C.vbn_qkey_random()}
	try(C.vbn_qp_prepare(*qp, &prepare))
	var endpoint C.vbn_endpoint // what the other side needs; here the queue pair is its own peer
	try(C.vbn_endpoint_local(*qp, &endpoint))
	try(C.vbn_peer_from_endpoint(*pd, &endpoint, nil, peer))

	copy(data, "a message over SRD")
	out := C.vbn_sge{addr: C.vbn_mr_remote_addr(*mr), length: half, lkey: C.vbn_mr_lkey(*mr)}
	recv := C.vbn_recv_wr{wr_id: 1, num_sge: 1, sge: C.vbn_sge{addr: out.addr + half, length: half, lkey: out.lkey}}
	send := C.vbn_send_wr{wr_id: 2, opcode: C.VBN_WR_SEND, num_sge: 1, sge: out, peer: *peer}
	posted, got, wc := C.uint32_t(0), C.uint32_t(0), C.vbn_wc{}
	try(C.vbn_qp_post_recv(*qp, &recv, 1, &posted) | C.vbn_qp_post_send(*qp, &send, 1, &posted))
	for seen := C.uint64_t(0); seen != 1+2; seen += wc.wr_id { // in either order
		try(C.vbn_cq_wait(*cq, 1, &wc, 0, 60e9, &got))
		try(C.vbn_wc_check(&wc))
	}
	fmt.Println("message received:", string(data[:half]) == string(data[half:]))
	try(C.vbn_qp_close(qp) | C.vbn_peer_close(peer) | C.vbn_mr_close(mr) | C.vbn_cq_close(cq) | C.vbn_pd_close(pd) | C.vbn_context_close(context))
}
