// SPDX-License-Identifier: MIT OR Apache-2.0

// Two queue pairs of one device write into each other's memory, from Go. Run: go run . [DEVICE]
// EXAMPLE_NO_DATA=1 leaves out the look at the data, for a device that moves none.
package main

// #cgo pkg-config: verbena
// #include "shim.h"
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"unsafe"
)

const depth, message = 16, 4096

// try ends the program when a call of the shim has failed; the shim has fetched the reason on the thread of the call.
func try(status C.vbn_status, e *C.vbn_error_info) {
	if status != C.VBN_OK {
		panic(errors.New(C.GoString(&e.message[0])))
	}
}

func main() {
	var e C.vbn_error_info // what went wrong
	device := C.CString("")
	if len(os.Args) > 1 {
		device = C.CString(os.Args[1])
	}
	// The struct of handles and the memory belong to C: the device and the library may keep pointers to them.
	p := (*C.pair)(C.calloc(1, C.sizeof_pair))
	memory := C.calloc(2*depth, message)
	try(C.pair_open(p, device, memory, 2*depth*message, depth, &e), &e)
	data := unsafe.Slice((*byte)(memory), 2*depth*message)
	for i := range data[:depth*message] {
		data[i] = byte(i * 7)
	}

	// Requests hold no Go pointer: each has its one segment inside. So Go's own arrays will do.
	var recvs [depth]C.vbn_recv_wr
	var sends [depth]C.vbn_send_wr
	for i := range sends {
		recvs[i].wr_id = C.uint64_t(i)
		s, at := &sends[i], C.uint64_t(i*message)
		s.wr_id, s.flags, s.opcode, s.num_sge = C.uint64_t(depth+i), C.VBN_SEND_SIGNALED, C.VBN_WR_RDMA_WRITE_WITH_IMM, 1
		s.sge = C.vbn_sge{addr: p.base + at, length: message, lkey: p.lkey}
		s.remote_addr, s.rkey, s.imm = p.base+depth*message+at, p.rkey, C.uint32_t(1000+i)
	}
	var received, posted, got C.uint32_t
	try(C.post_recv(p.qp[1], &recvs[0], depth, &received, &e), &e)
	try(C.post_send(p.qp[0], &sends[0], depth, &posted, &e), &e)
	fmt.Println("posted", received, "receives and", posted, "writes")

	var done [2 * depth]C.vbn_wc
	seen, imms := 0, 0
	for seen < 2*depth {
		try(C.wait_cq(p.cq, &done[0], 2*depth, 60e9, &got, &e), &e)
		for i := range done[:got] {
			try(C.wc_check(&done[i], &e), &e)
			if done[i].opcode&C.VBN_WC_RECV != 0 && done[i].imm == C.uint32_t(1000+imms) {
				imms++
			}
		}
		seen += int(got)
	}
	fmt.Println("polled", seen, "completions")
	if os.Getenv("EXAMPLE_NO_DATA") != "1" {
		if imms != depth || !bytes.Equal(data[:depth*message], data[depth*message:]) {
			panic("the data differ")
		}
		fmt.Println("verified", depth*message, "bytes")
	}
	sends[3].num_sge = 99
	if C.post_send(p.qp[0], &sends[0], depth, &posted, &e) == C.VBN_OK || e.index != 3 {
		panic("99 segments were taken")
	}
	fmt.Println("as expected:", C.GoString(&e.message[0]))
	try(C.pair_close(p, &e), &e)
	C.free(memory)
	C.free(unsafe.Pointer(p))
	fmt.Println("ok")
}
