// SPDX-License-Identifier: MIT OR Apache-2.0

// Two queue pairs of one device: one writes into the memory of the other. Run: go run . [DEVICE]
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

const depth, message, half = 16, 4096, 16 * 4096

func try(status C.vbn_status) { // it is 0 or negative, so statuses joined by | are 0 only if all are
	if e := (C.vbn_error_info{struct_size: C.sizeof_vbn_error_info}); status != C.VBN_OK {
		C.vbn_last_error(&e)
		panic(C.GoString(&e.message[0]))
	}
}

func main() {
	runtime.LockOSThread() // the last error is that of the thread
	context, pd, mr, cq := new(*C.vbn_context), new(*C.vbn_pd), new(*C.vbn_mr), new(*C.vbn_cq)
	try(C.vbn_context_open(C.CString(append(os.Args, "")[1]), nil, context))
	try(C.vbn_pd_alloc(*context, nil, pd))
	data := unsafe.Slice((*byte)(C.calloc(2, half)), 2*half) // C's memory, since the device keeps the address
	try(C.vbn_mr_reg(*pd, unsafe.Pointer(&data[0]), 2*half, C.VBN_ACCESS_LOCAL_WRITE|C.VBN_ACCESS_REMOTE_WRITE, nil, mr))
	try(C.vbn_cq_create(*context, &C.vbn_cq_attr{struct_size: C.sizeof_vbn_cq_attr, cqe: 4 * depth}, cq))
	qp, record := [2]*C.vbn_qp{}, [2]C.vbn_rc_record{}
	attr := C.vbn_qp_init_attr{struct_size: C.sizeof_vbn_qp_init_attr, send_cq: *cq, max_send_wr: depth, max_recv_wr: depth}
	for i := range qp {
		try(C.vbn_qp_create(*pd, &attr, &qp[i]))
		try(C.vbn_rc_record_local(qp[i], nil, &record[i]))
	}
	try(C.vbn_qp_connect_rc(qp[0], &record[0], &record[1], nil) | C.vbn_qp_connect_rc(qp[1], &record[1], &record[0], nil))

	sends, recvs, base := [depth]C.vbn_send_wr{}, [depth]C.vbn_recv_wr{}, C.vbn_mr_remote_addr(*mr)
	for i := range sends {
		copy(data[i*message:], fmt.Sprintf("message %d", i))
		from := C.vbn_sge{addr: base + C.uint64_t(i*message), length: message, lkey: C.vbn_mr_lkey(*mr)}
		sends[i] = C.vbn_send_wr{flags: C.VBN_SEND_SIGNALED, opcode: C.VBN_WR_RDMA_WRITE_WITH_IMM, num_sge: 1, sge: from,
			remote_addr: from.addr + half, rkey: C.vbn_mr_rkey(*mr)}
	}
	received, posted, got, wc := C.uint32_t(0), C.uint32_t(0), C.uint32_t(0), C.vbn_wc{}
	try(C.vbn_qp_post_recv(qp[1], &recvs[0], depth, &received) | C.vbn_qp_post_send(qp[0], &sends[0], depth, &posted))
	fmt.Println("posted", received, "receives and", posted, "writes")
	for i := 0; i < 2*depth; i++ {
		try(C.vbn_cq_wait(*cq, 1, &wc, 0, 60e9, &got))
		try(C.vbn_wc_check(&wc))
	}
	fmt.Println("polled", 2*depth, "completions")
	fmt.Println("data written:", string(data[:half]) == string(data[half:]))
	try(C.vbn_qp_close(&qp[0]) | C.vbn_qp_close(&qp[1]) | C.vbn_mr_close(mr) | C.vbn_cq_close(cq) | C.vbn_pd_close(pd) | C.vbn_context_close(context))
}
