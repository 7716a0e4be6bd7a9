/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * libverbena: RDMA for C, C++, Go and Julia.
 *
 * This header is the reference. It is made from the sources by cbindgen; don't edit it.
 *
 * Conventions
 *   - A call returns a vbn_status: VBN_OK (0) or a negative VBN_ERR_* code. vbn_last_error() tells the rest, per thread.
 *     "Errors" of each call names those that are its own. Besides these:
 *     any call on a handle may answer VBN_ERR_CLOSED, VBN_ERR_FORKED (the handle is the parent process's), VBN_ERR_DEVICE_GONE,
 *     VBN_ERR_BUSY (another thread was trying to close it), VBN_ERR_LIMIT (8 million children and calls at once) and
 *     VBN_ERR_INTERNAL (a defect of this library was caught on it).
 *     Only close, and calls that say so, work on a handle whose device is gone or that had a defect;
 *     any call may answer VBN_ERR_INTERNAL when a defect is caught in it;
 *     a call that names VBN_ERR_DRIVER may answer VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED and VBN_ERR_DEVICE_GONE
 *     instead, where the driver's errno means that. sys_errno of the record has it in any case.
 *   - The object comes first, outputs come last. Outputs are written on success only, except where a function says more;
 *     a constructor sets *out to NULL first.
 *   - A struct that begins with struct_size is set to zero and given its sizeof; all zero means default. Later versions
 *     append fields. Where zero is itself a setting, a `set` mask says which fields count.
 *   - vbn_sge, vbn_send_wr, vbn_recv_wr, vbn_wc, vbn_path and vbn_rc_record never change.
 *   - Time-outs are nanoseconds: negative waits for ever, 0 does not wait.
 *   - All numbers are in host byte order; GIDs and encoded records are bytes as on the wire.
 *   - vbn_x_close(&x) sets x to NULL; closing NULL is fine. Children keep their parents: any order is safe.
 *   - Threads: "MT-safe" means that any threads may call at once, on the same object too. No call is a cancellation point:
 *     give waits a time-out.
 */

#ifndef VERBENA_H
#define VERBENA_H

#include <stddef.h>
#include <stdint.h>
#if !defined(__LP64__) && !defined(_LP64)
#error "libverbena supports 64-bit Linux only"
#endif

/* libibverbs' types, for the functions that lend, release and adopt its objects. Include <infiniband/verbs.h> to use them. */
struct ibv_context;
struct ibv_pd;
struct ibv_mr;
struct ibv_comp_channel;
struct ibv_cq;
struct ibv_qp;

/// Major version of this header.
#define VBN_VERSION_MAJOR 0

/// Minor version of this header.
#define VBN_VERSION_MINOR 1

/// Patch version of this header.
#define VBN_VERSION_PATCH 0

/// The version of this header as one number, as vbn_version() gives that of the library.
#define VBN_VERSION ((VBN_VERSION_MAJOR << 16) | (VBN_VERSION_MINOR << 8) | VBN_VERSION_PATCH)


/// The caller keeps the object and destroys it after the handle is closed. Several handles may borrow one object.
#define VBN_ADOPT_BORROW 0

/// The object becomes the handle's: close destroys it with the libibverbs function of its type. That function waits until
/// all events that raw verbs read of the object are acknowledged.
#define VBN_ADOPT_OWN 1

/// Close calls `destroy(native, destroy_arg)` instead of libibverbs (rdma_destroy_qp, a framework's own, ...). Like
/// VBN_ADOPT_OWN it is refused for an object that has a handle already which will destroy it.
#define VBN_ADOPT_CUSTOM 2

/// `vbn_adopt_attr.set`: `iova` counts. For vbn_mr_adopt only.
#define VBN_ADOPT_SET_IOVA 1

/// `index` of an error that is not about one element of an array.
#define VBN_INDEX_NONE UINT64_MAX

/// `vendor_domain`: there is no vendor code.
#define VBN_VENDOR_NONE 0

/// `vendor_domain`: `vendor_code` is the `vendor_err` of a work completion, and `value` its `VBN_WC_*` status.
#define VBN_VENDOR_WC 1

/// Longest device or object name kept, its terminating zero included (the kernel's limit for device names is 64).
#define VBN_NAME_SIZE 64

/// `vbn_port_attr.state`: nothing is known.
#define VBN_PORT_NOP 0

/// `vbn_port_attr.state`: no link.
#define VBN_PORT_DOWN 1

/// `vbn_port_attr.state`: there is a link, and no subnet manager has been there yet.
#define VBN_PORT_INIT 2

/// `vbn_port_attr.state`: configured, not yet enabled.
#define VBN_PORT_ARMED 3

/// `vbn_port_attr.state`: usable.
#define VBN_PORT_ACTIVE 4

/// `vbn_port_attr.state`: the link is lost for a moment.
#define VBN_PORT_ACTIVE_DEFER 5

/// `vbn_port_attr.link_layer`: not told (EFA).
#define VBN_LINK_LAYER_UNSPECIFIED 0

/// `vbn_port_attr.link_layer`: InfiniBand.
#define VBN_LINK_LAYER_INFINIBAND 1

/// `vbn_port_attr.link_layer`: Ethernet: RoCE or iWARP.
#define VBN_LINK_LAYER_ETHERNET 2

/// `vbn_port_attr.valid`: `port_cap_flags2` says something.
#define VBN_PORT_VALID_CAP_FLAGS2 1

/// `vbn_port_attr.valid`: `active_speed_ex` says something, and `active_speed` is only the part of it that fits 8 bits.
#define VBN_PORT_VALID_SPEED_EX 2

/// `vbn_port_attr.valid`: `speed_100mbps` says something.
#define VBN_PORT_VALID_SPEED 4

/// `node_type`: not known.
#define VBN_NODE_UNKNOWN -1

/// `node_type`: channel adapter: InfiniBand or RoCE.
#define VBN_NODE_CA 1

/// `node_type`: switch.
#define VBN_NODE_SWITCH 2

/// `node_type`: router.
#define VBN_NODE_ROUTER 3

/// `node_type`: iWARP.
#define VBN_NODE_RNIC 4

/// `node_type`: usNIC.
#define VBN_NODE_USNIC 5

/// `node_type`: usNIC over UDP.
#define VBN_NODE_USNIC_UDP 6

/// `node_type`: none of these (EFA).
#define VBN_NODE_UNSPECIFIED 7

/// `transport_type`: not known.
#define VBN_TRANSPORT_UNKNOWN -1

/// `transport_type`: InfiniBand or RoCE.
#define VBN_TRANSPORT_IB 0

/// `transport_type`: iWARP.
#define VBN_TRANSPORT_IWARP 1

/// `transport_type`: usNIC.
#define VBN_TRANSPORT_USNIC 2

/// `transport_type`: usNIC over UDP.
#define VBN_TRANSPORT_USNIC_UDP 3

/// `transport_type`: none of these (EFA).
#define VBN_TRANSPORT_UNSPECIFIED 4

/// `vbn_device_list_reason_info.reason`: there are devices, and at least one can be opened.
#define VBN_REASON_NONE 0

/// There are devices, but none can be opened, for another reason than those below; `sys_errno` is that of the first.
#define VBN_REASON_CANNOT_OPEN 1

/// libibverbs.so.1 could not be loaded.
#define VBN_REASON_LIBRARY_MISSING 2

/// The libibverbs that was found is too old, or something else of that name.
#define VBN_REASON_LIBRARY_UNUSABLE 3

/// The kernel's RDMA modules are not loaded.
#define VBN_REASON_NO_MODULE 4

/// The kernel knows of no RDMA device.
#define VBN_REASON_NO_DEVICE 5

/// There is a device, but its node in /dev/infiniband is missing.
#define VBN_REASON_NO_NODE 6

/// There is a device, but this process may not open its node in /dev/infiniband.
#define VBN_REASON_NOT_PERMITTED 7

/// The kernel has a device, but libibverbs found no provider library for it.
#define VBN_REASON_NO_PROVIDER 8

/// libibverbs failed to list the devices.
#define VBN_REASON_LIST_FAILED 9

/// `kind` of an event: an event type that this library doesn't know; `number` is 0.
#define VBN_ELEMENT_NONE 0

/// A completion queue; `number` is the kernel's handle of it.
#define VBN_ELEMENT_CQ 1

/// A queue pair; `number` is the QP number.
#define VBN_ELEMENT_QP 2

/// A shared receive queue; `number` is the kernel's handle of it.
#define VBN_ELEMENT_SRQ 3

/// A receive work queue that raw verbs made; `number` is 0.
#define VBN_ELEMENT_WQ 4

/// A port; `number` is the port's.
#define VBN_ELEMENT_PORT 5

/// The device; `number` is 0.
#define VBN_ELEMENT_DEVICE 6

/// A completion queue overflowed, or its memory can't be reached. It and its QPs are lost.
#define VBN_EVENT_CQ_ERR 0

/// A QP failed and went to the error state.
#define VBN_EVENT_QP_FATAL 1

/// The peer sent a request that this QP can't serve.
#define VBN_EVENT_QP_REQ_ERR 2

/// The peer reached for memory that it may not use.
#define VBN_EVENT_QP_ACCESS_ERR 3

/// The first message came in before the QP was made ready to send.
#define VBN_EVENT_COMM_EST 4

/// A QP on its way to the SQD state has nothing under way any more.
#define VBN_EVENT_SQ_DRAINED 5

/// The QP moved to its alternate path.
#define VBN_EVENT_PATH_MIG 6

/// The QP could not move to its alternate path.
#define VBN_EVENT_PATH_MIG_ERR 7

/// The device is lost. Every handle on it answers VBN_ERR_DEVICE_GONE from now on; close still works.
#define VBN_EVENT_DEVICE_FATAL 8

/// The port came up.
#define VBN_EVENT_PORT_ACTIVE 9

/// The port went down.
#define VBN_EVENT_PORT_ERR 10

/// The LID of the port changed.
#define VBN_EVENT_LID_CHANGE 11

/// The P_Key table of the port changed.
#define VBN_EVENT_PKEY_CHANGE 12

/// The subnet manager changed.
#define VBN_EVENT_SM_CHANGE 13

/// A shared receive queue failed.
#define VBN_EVENT_SRQ_ERR 14

/// A shared receive queue fell below its limit.
#define VBN_EVENT_SRQ_LIMIT_REACHED 15

/// A QP in the error state will take nothing more from its shared receive queue.
#define VBN_EVENT_QP_LAST_WQE_REACHED 16

/// The subnet manager wants all subscriptions anew.
#define VBN_EVENT_CLIENT_REREGISTER 17

/// The GID table of the port changed.
#define VBN_EVENT_GID_CHANGE 18

/// A receive work queue failed.
#define VBN_EVENT_WQ_FATAL 19

/// The speed of the port changed (rdma-core 62 and newer).
#define VBN_EVENT_DEVICE_SPEED_CHANGE 20

/// InfiniBand, or a device with addresses of its own.
#define VBN_GID_TYPE_IB 0

/// RoCE version 1: Ethernet frames, not routable.
#define VBN_GID_TYPE_ROCE_V1 1

/// RoCE version 2: UDP.
#define VBN_GID_TYPE_ROCE_V2 2

/// Not an IP address, or in an attribute: any.
#define VBN_GID_FAMILY_ANY 0

/// An IPv4 address, written as ::ffff:a.b.c.d.
#define VBN_GID_FAMILY_IPV4 1

/// An IPv6 address.
#define VBN_GID_FAMILY_IPV6 2

/// `vbn_gid_select_attr.set`: `index` counts.
#define VBN_GID_SET_INDEX 1

/// `vbn_gid_select_attr.set`: `type` counts.
#define VBN_GID_SET_TYPE 2

/// Verdict: this entry is used.
#define VBN_GID_CHOSEN 0

/// Verdict: would do, but another one comes first.
#define VBN_GID_USABLE 1

/// Verdict: a last resort, since the address is good on one link or host only.
#define VBN_GID_LAST_RESORT 2

/// Verdict: RoCE version 1, which is used only when asked for.
#define VBN_GID_ROCE_V1_UNASKED 3

/// Verdict: not the type asked for.
#define VBN_GID_OTHER_TYPE 4

/// Verdict: not the address family asked for.
#define VBN_GID_OTHER_FAMILY 5

/// Verdict: not the index asked for.
#define VBN_GID_OTHER_INDEX 6

/// Verdict: not of the net device asked for.
#define VBN_GID_OTHER_NETDEV 7

/// Verdict: the link doesn't use such entries.
#define VBN_GID_UNUSED 8

/// libibverbs.so.1 of rdma-core. The only library that this version loads.
#define VBN_LIBRARY_IBVERBS 0

/// `vbn_library_info.source`: libibverbs.so.1, where the dynamic linker looks for it.
#define VBN_LIBRARY_FROM_DEFAULT 0

/// `vbn_library_info.source`: the environment variable VBN_IBVERBS_LIBRARY.
#define VBN_LIBRARY_FROM_ENV 1

/// `vbn_library_info.source`: the path given to vbn_library_init.
#define VBN_LIBRARY_FROM_PATH 2

/// `vbn_library_info.source`: the open library given to vbn_library_init.
#define VBN_LIBRARY_FROM_HANDLE 3

/// `vbn_library_info.source`: the lookup function given to vbn_library_init.
#define VBN_LIBRARY_FROM_LOOKUP 4

/// `fork_state`: the library is too old to tell, or not loaded.
#define VBN_FORK_UNKNOWN -1

/// `fork_state`: a fork() may cut the parent's registered memory off; call vbn_fork_init() first.
#define VBN_FORK_DISABLED 0

/// `fork_state`: vbn_fork_init(), or ibv_fork_init(), has been called.
#define VBN_FORK_ENABLED 1

/// `fork_state`: the kernel copies registered memory at fork(), nothing has to be done.
#define VBN_FORK_UNNEEDED 2

/// The device may write to the region for this process: receives, and the results of READ and of atomics.
#define VBN_ACCESS_LOCAL_WRITE 1

/// Peers may write. Needs VBN_ACCESS_LOCAL_WRITE.
#define VBN_ACCESS_REMOTE_WRITE (1 << 1)

/// Peers may read.
#define VBN_ACCESS_REMOTE_READ (1 << 2)

/// Peers may do atomics. Needs VBN_ACCESS_LOCAL_WRITE.
#define VBN_ACCESS_REMOTE_ATOMIC (1 << 3)

/// Memory windows may be bound to the region.
#define VBN_ACCESS_MW_BIND (1 << 4)

/// Addresses in the region count from 0. Drivers ignore this flag for ordinary memory or refuse it, so libverbena also
/// registers such a region at iova 0; VBN_MR_SET_IOVA with iova 0, without the flag, does the same on every device.
#define VBN_ACCESS_ZERO_BASED (1 << 5)

/// Pages are not pinned but fetched when the device touches them. With `addr` NULL and `length` UINT64_MAX the region
/// is the whole address space of the process.
#define VBN_ACCESS_ON_DEMAND (1 << 6)

/// The memory consists of huge pages, for VBN_ACCESS_ON_DEMAND.
#define VBN_ACCESS_HUGETLB (1 << 7)

/// Peers may flush to global visibility.
#define VBN_ACCESS_FLUSH_GLOBAL (1 << 8)

/// Peers may flush to persistence.
#define VBN_ACCESS_FLUSH_PERSISTENT (1 << 9)

/// Writes may reach memory in any order. A device or kernel that doesn't know this flag ignores it.
#define VBN_ACCESS_RELAXED_ORDERING (1 << 20)

/// `vbn_mr_attr.set`: `iova` counts.
#define VBN_MR_SET_IOVA 1

/// Memory of this process, given by address.
#define VBN_MR_HOST 0

/// A dma-buf, given by file descriptor.
#define VBN_MR_DMABUF 1

/// Registered by raw verbs and taken in.
#define VBN_MR_ADOPTED 2

/// Largest segment that `vbn_mr_segments` makes unless told: 1 GiB. InfiniBand's messages end at 2 GiB, EFA's at 1 GiB,
/// and mlx5 keeps the highest bit of a segment's length for itself.
#define VBN_MR_SEGMENT_DEFAULT (1 << 30)

/// Write into the peer's memory.
#define VBN_WR_RDMA_WRITE 0

/// The same, and use up one of the peer's receives for a completion with an immediate value.
#define VBN_WR_RDMA_WRITE_WITH_IMM 1

/// Send into one of the peer's receives.
#define VBN_WR_SEND 2

/// The same with an immediate value.
#define VBN_WR_SEND_WITH_IMM 3

/// Read from the peer's memory.
#define VBN_WR_RDMA_READ 4

/// Start only after all earlier reads and atomics of this queue pair are done.
#define VBN_SEND_FENCE 1

/// Report success too. Without it only failures complete (unless the queue pair has sq_sig_all).
#define VBN_SEND_SIGNALED 2

/// Wake a receiver that waits for solicited completions only.
#define VBN_SEND_SOLICITED 4

/// Copy the data while posting: the buffers are free at once and need no lkey.
#define VBN_SEND_INLINE 8

/// Reliable connected.
#define VBN_QPT_RC 2

/// Unreliable connected.
#define VBN_QPT_UC 3

/// Unreliable datagram.
#define VBN_QPT_UD 4

/// Raw Ethernet.
#define VBN_QPT_RAW_PACKET 8

/// Extended reliable connected, sending side.
#define VBN_QPT_XRC_SEND 9

/// Extended reliable connected, receiving side.
#define VBN_QPT_XRC_RECV 10

/// The driver's own type; on EFA, SRD.
#define VBN_QPT_DRIVER 255

/// `send_ops`: VBN_WR_RDMA_WRITE.
#define VBN_QP_OP_RDMA_WRITE (1 << VBN_WR_RDMA_WRITE)

/// `send_ops`: VBN_WR_RDMA_WRITE_WITH_IMM.
#define VBN_QP_OP_RDMA_WRITE_WITH_IMM (1 << VBN_WR_RDMA_WRITE_WITH_IMM)

/// `send_ops`: VBN_WR_SEND.
#define VBN_QP_OP_SEND (1 << VBN_WR_SEND)

/// `send_ops`: VBN_WR_SEND_WITH_IMM.
#define VBN_QP_OP_SEND_WITH_IMM (1 << VBN_WR_SEND_WITH_IMM)

/// `send_ops`: VBN_WR_RDMA_READ.
#define VBN_QP_OP_RDMA_READ (1 << VBN_WR_RDMA_READ)

/// `vbn_qp_init_attr.set`: max_send_wr counts even if it is 0.
#define VBN_QP_INIT_SET_MAX_SEND_WR 1

/// `vbn_qp_init_attr.set`: max_recv_wr counts even if it is 0.
#define VBN_QP_INIT_SET_MAX_RECV_WR 2

/// `vbn_qp_init_attr.set`: max_recv_sge counts even if it is 0.
#define VBN_QP_INIT_SET_MAX_RECV_SGE 4

/// Not yet usable.
#define VBN_QPS_RESET 0

/// Receives may be posted.
#define VBN_QPS_INIT 1

/// Ready to receive.
#define VBN_QPS_RTR 2

/// Ready to send and receive.
#define VBN_QPS_RTS 3

/// The send queue drains.
#define VBN_QPS_SQD 4

/// The send queue failed (unreliable types).
#define VBN_QPS_SQE 5

/// Everything is flushed.
#define VBN_QPS_ERR 6

/// Path MTU of 256 bytes.
#define VBN_MTU_256 1

/// Path MTU of 512 bytes.
#define VBN_MTU_512 2

/// Path MTU of 1024 bytes.
#define VBN_MTU_1024 3

/// Path MTU of 2048 bytes.
#define VBN_MTU_2048 4

/// Path MTU of 4096 bytes.
#define VBN_MTU_4096 5

/// `vbn_qp_attr.set`: qp_state.
#define VBN_QP_STATE (1 << 0)

/// `vbn_qp_attr.set`: cur_qp_state.
#define VBN_QP_CUR_STATE (1 << 1)

/// `vbn_qp_attr.set`: en_sqd_async_notify.
#define VBN_QP_EN_SQD_ASYNC_NOTIFY (1 << 2)

/// `vbn_qp_attr.set`: qp_access_flags.
#define VBN_QP_ACCESS_FLAGS (1 << 3)

/// `vbn_qp_attr.set`: pkey_index.
#define VBN_QP_PKEY_INDEX (1 << 4)

/// `vbn_qp_attr.set`: port_num.
#define VBN_QP_PORT (1 << 5)

/// `vbn_qp_attr.set`: qkey.
#define VBN_QP_QKEY (1 << 6)

/// `vbn_qp_attr.set`: path.
#define VBN_QP_AV (1 << 7)

/// `vbn_qp_attr.set`: path_mtu.
#define VBN_QP_PATH_MTU (1 << 8)

/// `vbn_qp_attr.set`: timeout.
#define VBN_QP_TIMEOUT (1 << 9)

/// `vbn_qp_attr.set`: retry_cnt.
#define VBN_QP_RETRY_CNT (1 << 10)

/// `vbn_qp_attr.set`: rnr_retry.
#define VBN_QP_RNR_RETRY (1 << 11)

/// `vbn_qp_attr.set`: rq_psn.
#define VBN_QP_RQ_PSN (1 << 12)

/// `vbn_qp_attr.set`: max_rd_atomic.
#define VBN_QP_MAX_QP_RD_ATOMIC (1 << 13)

/// `vbn_qp_attr.set`: alt_path, alt_pkey_index, alt_timeout.
#define VBN_QP_ALT_PATH (1 << 14)

/// `vbn_qp_attr.set`: min_rnr_timer.
#define VBN_QP_MIN_RNR_TIMER (1 << 15)

/// `vbn_qp_attr.set`: sq_psn.
#define VBN_QP_SQ_PSN (1 << 16)

/// `vbn_qp_attr.set`: max_dest_rd_atomic.
#define VBN_QP_MAX_DEST_RD_ATOMIC (1 << 17)

/// `vbn_qp_attr.set`: path_mig_state.
#define VBN_QP_PATH_MIG_STATE (1 << 18)

/// `vbn_qp_attr.set`: max_send_wr to max_inline_data.
#define VBN_QP_CAP (1 << 19)

/// `vbn_qp_attr.set`: dest_qp_num.
#define VBN_QP_DEST_QPN (1 << 20)

/// `vbn_qp_attr.set`: rate_limit.
#define VBN_QP_RATE_LIMIT (1 << 25)

/// Bytes of an encoded record.
#define VBN_RC_RECORD_SIZE 28

/// `vbn_rc_attr.set`: pkey_index.
#define VBN_RC_SET_PKEY_INDEX (1 << 0)

/// `vbn_rc_attr.set`: access.
#define VBN_RC_SET_ACCESS (1 << 1)

/// `vbn_rc_attr.set`: path_mtu.
#define VBN_RC_SET_PATH_MTU (1 << 2)

/// `vbn_rc_attr.set`: sgid_index.
#define VBN_RC_SET_SGID_INDEX (1 << 3)

/// `vbn_rc_attr.set`: hop_limit.
#define VBN_RC_SET_HOP_LIMIT (1 << 4)

/// `vbn_rc_attr.set`: is_global.
#define VBN_RC_SET_IS_GLOBAL (1 << 5)

/// `vbn_rc_attr.set`: min_rnr_timer.
#define VBN_RC_SET_MIN_RNR_TIMER (1 << 6)

/// `vbn_rc_attr.set`: max_dest_rd_atomic.
#define VBN_RC_SET_MAX_DEST_RD_ATOMIC (1 << 7)

/// `vbn_rc_attr.set`: timeout.
#define VBN_RC_SET_TIMEOUT (1 << 8)

/// `vbn_rc_attr.set`: retry_cnt.
#define VBN_RC_SET_RETRY_CNT (1 << 9)

/// `vbn_rc_attr.set`: rnr_retry.
#define VBN_RC_SET_RNR_RETRY (1 << 10)

/// `vbn_rc_attr.set`: max_rd_atomic.
#define VBN_RC_SET_MAX_RD_ATOMIC (1 << 11)

/// `vbn_rc_attr.set`: psn.
#define VBN_RC_SET_PSN (1 << 12)

/// The operation succeeded.
#define VBN_WC_SUCCESS 0

/// A message is longer than the receive buffer, or than the port allows.
#define VBN_WC_LOC_LEN_ERR 1

/// The request is malformed for this queue pair.
#define VBN_WC_LOC_QP_OP_ERR 2

/// Reliable datagram only.
#define VBN_WC_LOC_EEC_OP_ERR 3

/// A local segment is outside its region, or its lkey is wrong.
#define VBN_WC_LOC_PROT_ERR 4

/// The queue pair went into the error state before this request was done. Another completion has the cause.
#define VBN_WC_WR_FLUSH_ERR 5

/// A memory window could not be bound.
#define VBN_WC_MW_BIND_ERR 6

/// The peer's answer made no sense.
#define VBN_WC_BAD_RESP_ERR 7

/// Access to local memory failed while a write with immediate came in.
#define VBN_WC_LOC_ACCESS_ERR 8

/// The peer found the request invalid (receive buffer too small, operation not allowed, ...).
#define VBN_WC_REM_INV_REQ_ERR 9

/// The peer refused access to its memory: wrong rkey, range, or access flags.
#define VBN_WC_REM_ACCESS_ERR 10

/// The peer could not complete the operation.
#define VBN_WC_REM_OP_ERR 11

/// The peer did not answer within the retries.
#define VBN_WC_RETRY_EXC_ERR 12

/// The peer had no receive posted within the RNR retries.
#define VBN_WC_RNR_RETRY_EXC_ERR 13

/// Reliable datagram only.
#define VBN_WC_LOC_RDD_VIOL_ERR 14

/// Reliable datagram only; EFA: bad destination queue pair.
#define VBN_WC_REM_INV_RD_REQ_ERR 15

/// The peer aborted the operation.
#define VBN_WC_REM_ABORT_ERR 16

/// Reliable datagram only.
#define VBN_WC_INV_EECN_ERR 17

/// Reliable datagram only.
#define VBN_WC_INV_EEC_STATE_ERR 18

/// The device failed.
#define VBN_WC_FATAL_ERR 19

/// The peer did not answer.
#define VBN_WC_RESP_TIMEOUT_ERR 20

/// Something else; vendor_err says what.
#define VBN_WC_GENERAL_ERR 21

/// Tag matching failed.
#define VBN_WC_TM_ERR 22

/// Tag matching: the rendezvous must be completed in software.
#define VBN_WC_TM_RNDV_INCOMPLETE 23

/// A send completed.
#define VBN_WC_SEND 0

/// An RDMA write completed.
#define VBN_WC_RDMA_WRITE 1

/// An RDMA read completed.
#define VBN_WC_RDMA_READ 2

/// A compare-and-swap completed.
#define VBN_WC_COMP_SWAP 3

/// A fetch-and-add completed.
#define VBN_WC_FETCH_ADD 4

/// A memory window was bound.
#define VBN_WC_BIND_MW 5

/// A local invalidate completed.
#define VBN_WC_LOCAL_INV 6

/// A segmentation offload send completed.
#define VBN_WC_TSO 7

/// A flush completed.
#define VBN_WC_FLUSH 8

/// An atomic write completed.
#define VBN_WC_ATOMIC_WRITE 9

/// A receive completed. Every receive opcode has this bit.
#define VBN_WC_RECV 128

/// An RDMA write with immediate came in.
#define VBN_WC_RECV_RDMA_WITH_IMM 129

/// The receive buffer begins with a 40-byte global route header.
#define VBN_WC_GRH 1

/// `imm` holds an immediate value.
#define VBN_WC_WITH_IMM 2

/// The checksum was right.
#define VBN_WC_IP_CSUM_OK 4

/// `imm` holds an invalidated rkey.
#define VBN_WC_WITH_INV 8

/// A completion channel: a file descriptor that becomes readable when an armed completion queue has news.
typedef struct vbn_channel vbn_channel;

/// An open device.
typedef struct vbn_context vbn_context;

/// A completion queue.
typedef struct vbn_cq vbn_cq;

/// Memory that the device may read or write.
typedef struct vbn_mr vbn_mr;

/// A protection domain: ties memory regions to the queue pairs that may use them.
typedef struct vbn_pd vbn_pd;

/// A destination of connectionless queue pairs. Not yet offered; requests carry NULL.
typedef struct vbn_peer vbn_peer;

/// A queue pair.
typedef struct vbn_qp vbn_qp;

/// Result of a call: `VBN_OK` (0) or one of the negative `VBN_ERR_*` codes. The codes start at -1001, so that none can
/// be taken for an errno. `vbn_last_error()` tells the rest.
typedef int32_t vbn_status;

/// What `vbn_channel_create` may be told. All-zero is the default.
typedef struct vbn_channel_attr {
    /// sizeof(vbn_channel_attr).
    size_t struct_size;
    /// Comes back in queries.
    uint64_t user_data;
} vbn_channel_attr;

/// What `vbn_channel_query` tells.
typedef struct vbn_channel_info {
    /// sizeof(vbn_channel_info), set by the caller.
    size_t struct_size;
    /// As given at creation.
    uint64_t user_data;
    /// Becomes readable when there is an event. For poll, epoll and the like; don't read from it and don't close it.
    int32_t fd;
    /// 0.
    uint32_t reserved0;
} vbn_channel_info;

/// A completion queue that was armed has something. A copy: nothing is to be acknowledged or freed.
typedef struct vbn_cq_event {
    /// sizeof(vbn_cq_event), set by the caller.
    size_t struct_size;
    /// The user_data of the completion queue; 0 if it isn't known.
    uint64_t user_data;
    /// VBN_ELEMENT_CQ.
    int32_t kind;
    /// The kernel's number of the completion queue, the `handle` of its query.
    uint32_t number;
    /// 1 if the completion queue has a handle of this library; 0 if raw verbs made it on the lent channel.
    uint8_t known;
    /// 0.
    uint8_t reserved0[7];
} vbn_cq_event;

/// Destroys an adopted object: 0, or a positive errno, and then the object still exists.
typedef int (*vbn_destroy_fn)(void *native, void *arg);

/// How an object made by raw verbs is taken in. All-zero: borrowed, no user data.
typedef struct vbn_adopt_attr {
    /// sizeof(vbn_adopt_attr).
    size_t struct_size;
    /// Which of the optional fields count: VBN_ADOPT_SET_*.
    uint64_t set;
    /// VBN_ADOPT_BORROW, VBN_ADOPT_OWN or VBN_ADOPT_CUSTOM.
    int32_t ownership;
    /// Must be 0.
    uint32_t reserved0;
    /// For VBN_ADOPT_CUSTOM. Called on the thread that closes the last user of the object; must not call back in.
    vbn_destroy_fn destroy;
    /// Handed to `destroy`.
    void *destroy_arg;
    /// Comes back in events and queries.
    uint64_t user_data;
    /// Memory regions only, with VBN_ADOPT_SET_IOVA: the address that peers must use. Default: the region's address.
    uint64_t iova;
} vbn_adopt_attr;

/// What `vbn_context_open` may be told. All-zero is the default.
typedef struct vbn_context_attr {
    /// sizeof(vbn_context_attr).
    size_t struct_size;
    /// Comes back in queries, and in events about the device and its ports.
    uint64_t user_data;
} vbn_context_attr;

/// What `vbn_context_query` tells.
typedef struct vbn_context_info {
    /// sizeof(vbn_context_info), set by the caller.
    size_t struct_size;
    /// As given when it was opened or adopted.
    uint64_t user_data;
    /// Name of the device.
    char name[64];
    /// Name of its node below /dev/infiniband.
    char uverbs_name[64];
    /// VBN_NODE_*: libibverbs' numbers.
    int32_t node_type;
    /// VBN_TRANSPORT_*: libibverbs' numbers.
    int32_t transport_type;
    /// VBN_ADOPT_*: what close does to the context. VBN_ADOPT_OWN for one that was opened here.
    int32_t ownership;
    /// Completion vectors 0 .. num_comp_vectors - 1 can be asked for.
    uint32_t num_comp_vectors;
    /// Readable when an asynchronous event waits; -1 if there is none. For poll(), not for read().
    int32_t async_fd;
    /// VBN_FORK_*: what fork() does to registered memory.
    int32_t fork_state;
    /// How many ports the device has.
    uint32_t num_ports;
    /// The kernel's uverbs ABI of the device, or -1 if sysfs doesn't tell.
    int32_t uverbs_abi_version;
    /// 1 if the extended verbs can be reached (every rdma-core since 17).
    uint8_t extended;
    /// 0.
    uint8_t reserved0[7];
} vbn_context_info;

/// What a device can do: `ibv_device_attr_ex`, flattened, in host byte order.
typedef struct vbn_device_attr {
    /// sizeof(vbn_device_attr), set by the caller.
    size_t struct_size;
    /// Firmware version.
    char fw_ver[64];
    /// Number of the node, in host byte order.
    uint64_t node_guid;
    /// Number of the system image, in host byte order.
    uint64_t sys_image_guid;
    /// Largest memory region.
    uint64_t max_mr_size;
    /// Page sizes that can be used, a bit each.
    uint64_t page_size_cap;
    /// Vendor.
    uint32_t vendor_id;
    /// Vendor's number of the part.
    uint32_t vendor_part_id;
    /// Hardware version.
    uint32_t hw_ver;
    /// IBV_DEVICE_* of libibverbs.
    uint32_t device_cap_flags;
    /// Queue pairs.
    int32_t max_qp;
    /// Requests on a send or receive queue.
    int32_t max_qp_wr;
    /// Segments of a request.
    int32_t max_sge;
    /// Segments of a READ.
    int32_t max_sge_rd;
    /// Completion queues.
    int32_t max_cq;
    /// Entries of a completion queue.
    int32_t max_cqe;
    /// Memory regions.
    int32_t max_mr;
    /// Protection domains.
    int32_t max_pd;
    /// READs and atomics that a QP can serve at once.
    int32_t max_qp_rd_atom;
    /// The same for an end-to-end context.
    int32_t max_ee_rd_atom;
    /// READs and atomics that the device can serve at once.
    int32_t max_res_rd_atom;
    /// READs and atomics that a QP can have under way.
    int32_t max_qp_init_rd_atom;
    /// The same for an end-to-end context.
    int32_t max_ee_init_rd_atom;
    /// 0 none, 1 atomic among this device's QPs, 2 atomic with the CPU too.
    int32_t atomic_cap;
    /// End-to-end contexts.
    int32_t max_ee;
    /// Reliable datagram domains.
    int32_t max_rdd;
    /// Memory windows.
    int32_t max_mw;
    /// Raw IPv6 QPs.
    int32_t max_raw_ipv6_qp;
    /// Raw Ethertype QPs.
    int32_t max_raw_ethy_qp;
    /// Multicast groups.
    int32_t max_mcast_grp;
    /// QPs in a multicast group.
    int32_t max_mcast_qp_attach;
    /// QPs in all multicast groups.
    int32_t max_total_mcast_qp_attach;
    /// Address handles.
    int32_t max_ah;
    /// Fast memory regions (obsolete).
    int32_t max_fmr;
    /// Remaps of a fast memory region (obsolete).
    int32_t max_map_per_fmr;
    /// Shared receive queues.
    int32_t max_srq;
    /// Requests on a shared receive queue.
    int32_t max_srq_wr;
    /// Segments of a request on a shared receive queue.
    int32_t max_srq_sge;
    /// Partition keys of a port.
    uint16_t max_pkeys;
    /// How long the device may take to acknowledge: 4.096 us * 2^n.
    uint8_t local_ca_ack_delay;
    /// Ports, as an 8-bit number; see `phys_port_cnt_ex`.
    uint8_t phys_port_cnt;
    /// 1 if the driver filled in any of the fields below.
    uint8_t has_extended;
    /// RSS: hash functions, a bit each.
    uint8_t rss_rx_hash_function;
    /// 0.
    uint8_t reserved0[6];
    /// On-demand paging: IBV_ODP_SUPPORT and so on.
    uint64_t odp_general_caps;
    /// On-demand paging with RC.
    uint32_t odp_rc_caps;
    /// On-demand paging with UC.
    uint32_t odp_uc_caps;
    /// On-demand paging with UD.
    uint32_t odp_ud_caps;
    /// On-demand paging with XRC.
    uint32_t odp_xrc_caps;
    /// Bits of a completion timestamp that count; 0: none.
    uint64_t completion_timestamp_mask;
    /// Clock of the timestamps in kHz.
    uint64_t hca_core_clock;
    /// IBV_DEVICE_* of libibverbs, 64 bits of them.
    uint64_t device_cap_flags_ex;
    /// Segmentation offload: largest message.
    uint32_t tso_max;
    /// Segmentation offload: QP types, a bit each.
    uint32_t tso_supported_qpts;
    /// RSS: hash fields, a bit each.
    uint64_t rss_rx_hash_fields_mask;
    /// RSS: QP types, a bit each.
    uint32_t rss_supported_qpts;
    /// RSS: indirection tables.
    uint32_t rss_max_rwq_indirection_tables;
    /// RSS: entries of an indirection table.
    uint32_t rss_max_rwq_indirection_table_size;
    /// Receive work queues.
    uint32_t max_wq_type_rq;
    /// Rate limit: lowest, in kbit/s.
    uint32_t rate_limit_min;
    /// Rate limit: highest, in kbit/s.
    uint32_t rate_limit_max;
    /// Rate limit: QP types, a bit each.
    uint32_t rate_limit_supported_qpts;
    /// IBV_RAW_PACKET_CAP_* of libibverbs.
    uint32_t raw_packet_caps;
    /// Tag matching: largest rendezvous header.
    uint32_t tm_max_rndv_hdr_size;
    /// Tag matching: tags.
    uint32_t tm_max_num_tags;
    /// Tag matching: flags.
    uint32_t tm_flags;
    /// Tag matching: operations under way.
    uint32_t tm_max_ops;
    /// Tag matching: segments.
    uint32_t tm_max_sge;
    /// Completion moderation: completions for one event.
    uint16_t cq_moderation_max_count;
    /// Completion moderation: microseconds.
    uint16_t cq_moderation_max_period;
    /// Bytes of device memory.
    uint64_t max_dm_size;
    /// PCI atomics: fetch and add, sizes.
    uint16_t pci_atomic_fetch_add;
    /// PCI atomics: swap, sizes.
    uint16_t pci_atomic_swap;
    /// PCI atomics: compare and swap, sizes.
    uint16_t pci_atomic_compare_swap;
    /// 0.
    uint16_t reserved1;
    /// Ports.
    uint32_t phys_port_cnt_ex;
    /// 0.
    uint32_t reserved2;
} vbn_device_attr;

/// State of a port: `ibv_port_attr`.
typedef struct vbn_port_attr {
    /// sizeof(vbn_port_attr), set by the caller.
    size_t struct_size;
    /// VBN_PORT_VALID_*: which of the fields that not every library and device has are filled in.
    uint64_t valid;
    /// VBN_PORT_*: libibverbs' numbers.
    int32_t state;
    /// VBN_MTU_*: libibverbs' numbers.
    int32_t max_mtu;
    /// VBN_MTU_*: libibverbs' numbers.
    int32_t active_mtu;
    /// VBN_LINK_LAYER_*: libibverbs' numbers.
    int32_t link_layer;
    /// Entries of the GID table, empty ones included.
    int32_t gid_tbl_len;
    /// IBV_PORT_* capability bits of libibverbs.
    uint32_t port_cap_flags;
    /// Largest message.
    uint32_t max_msg_sz;
    /// Count of bad partition keys.
    uint32_t bad_pkey_cntr;
    /// Count of Q_Key violations.
    uint32_t qkey_viol_cntr;
    /// The link's speed as IBV_SPEED_* bits, wider than `active_speed`.
    uint32_t active_speed_ex;
    /// Speed of the port in units of 100 Mbit/s.
    uint64_t speed_100mbps;
    /// Entries of the partition key table.
    uint16_t pkey_tbl_len;
    /// Local identifier; 0 on Ethernet.
    uint16_t lid;
    /// Local identifier of the subnet manager.
    uint16_t sm_lid;
    /// Second set of capability bits.
    uint16_t port_cap_flags2;
    /// Number of low LID bits that choose a path.
    uint8_t lmc;
    /// Virtual lanes.
    uint8_t max_vl_num;
    /// Service level of the subnet manager.
    uint8_t sm_sl;
    /// Subnet propagation delay: 4.096 us * 2^n.
    uint8_t subnet_timeout;
    /// What the subnet manager did at start.
    uint8_t init_type_reply;
    /// Lanes: 1 is 1, 2 is 4, 4 is 8, 8 is 12, 16 is 2.
    uint8_t active_width;
    /// Speed of a lane.
    uint8_t active_speed;
    /// Physical state.
    uint8_t phys_state;
    /// Bit 0: every address needs a GRH.
    uint8_t flags;
    /// 0.
    uint8_t reserved0[7];
} vbn_port_attr;

/// An entry of a GID table.
typedef struct vbn_gid_entry {
    /// The GID, as it goes over the wire.
    uint8_t gid[16];
    /// Place in the table of its port.
    uint32_t index;
    /// Port, counted from 1.
    uint32_t port_num;
    /// VBN_GID_TYPE_*.
    int32_t type;
    /// VBN_GID_FAMILY_*: what the bytes look like on RoCE.
    int32_t family;
    /// Number of the net device that the GID belongs to; 0: none.
    uint32_t ifindex;
    /// 0.
    uint32_t reserved0;
    /// Name of that net device; empty: none, or not visible from here.
    char ndev[16];
} vbn_gid_entry;

/// An event, as `vbn_context_get_async_event` tells it.
typedef struct vbn_async_event {
    /// sizeof(vbn_async_event), set by the caller.
    size_t struct_size;
    /// VBN_EVENT_*, or a number that a newer kernel sent.
    int32_t type;
    /// What it happened to: VBN_ELEMENT_*.
    int32_t kind;
    /// As given when the object was made or adopted; that of the context for a port or the device; 0 when `known` is 0.
    uint64_t user_data;
    /// QP number, port number and so on: see VBN_ELEMENT_*.
    uint32_t number;
    /// 1 if the object has a handle of this library, 0 if raw verbs made it.
    uint8_t known;
    /// 0.
    uint8_t reserved0[3];
} vbn_async_event;

/// The objects of a context. "Closed" ones wait for their last user; "refused" ones could not be destroyed yet.
typedef struct vbn_live_info {
    /// sizeof(vbn_live_info), set by the caller.
    size_t struct_size;
    /// Open vbn_pd handles.
    uint32_t pd_open;
    /// Closed, but regions or queue pairs are left in it.
    uint32_t pd_closed;
    /// Closed, but the driver refused to deallocate it.
    uint32_t pd_refused;
    /// Open vbn_mr handles.
    uint32_t mr_open;
    /// Open vbn_channel handles.
    uint32_t channel_open;
    /// Closed, but completion queues report to it.
    uint32_t channel_closed;
    /// Closed, but libibverbs refused to destroy it.
    uint32_t channel_refused;
    /// Open vbn_cq handles.
    uint32_t cq_open;
    /// Closed, but queue pairs complete to it.
    uint32_t cq_closed;
    /// Closed, but the driver refused to destroy it.
    uint32_t cq_refused;
    /// Open vbn_qp handles.
    uint32_t qp_open;
    /// 0.
    uint32_t reserved0;
} vbn_live_info;

/// What `vbn_gid_select` is to look for. All-zero: the best entry by the rule of the link.
typedef struct vbn_gid_select_attr {
    /// sizeof(vbn_gid_select_attr).
    size_t struct_size;
    /// VBN_GID_SET_*: which of `index` and `type` count.
    uint64_t set;
    /// Only this place of the table.
    uint32_t index;
    /// Only VBN_GID_TYPE_*.
    int32_t type;
    /// Only VBN_GID_FAMILY_*; VBN_GID_FAMILY_ANY for all.
    int32_t family;
    /// Must be 0.
    uint32_t reserved0;
    /// Only GIDs of this net device; empty for all.
    char ndev[16];
} vbn_gid_select_attr;

/// The entry that `vbn_gid_select` chose.
typedef struct vbn_gid_choice {
    /// sizeof(vbn_gid_choice), set by the caller.
    size_t struct_size;
    /// The GID, as it goes over the wire.
    uint8_t gid[16];
    /// Place in the table of its port: the sgid_index.
    uint32_t index;
    /// Port.
    uint32_t port_num;
    /// VBN_GID_TYPE_*.
    int32_t type;
    /// VBN_GID_FAMILY_*.
    int32_t family;
    /// Number of its net device; 0: none.
    uint32_t ifindex;
    /// 1 if it is a last resort, whose reach `text` explains.
    uint8_t last_resort;
    /// 0.
    uint8_t reserved0[3];
    /// Name of its net device.
    char ndev[16];
    /// Why this one.
    char text[96];
} vbn_gid_choice;

/// What `vbn_gid_select` thought of an entry.
typedef struct vbn_gid_verdict {
    /// The GID, as it goes over the wire.
    uint8_t gid[16];
    /// Place in the table of its port.
    uint32_t index;
    /// Port, counted from 1.
    uint32_t port_num;
    /// VBN_GID_TYPE_*.
    int32_t type;
    /// VBN_GID_FAMILY_*.
    int32_t family;
    /// Number of the net device that the GID belongs to; 0: none.
    uint32_t ifindex;
    /// VBN_GID_CHOSEN and so on.
    int32_t code;
    /// Name of that net device.
    char ndev[16];
    /// The verdict in words.
    char text[96];
} vbn_gid_verdict;

/// What `vbn_cq_create` is told.
typedef struct vbn_cq_attr {
    /// sizeof(vbn_cq_attr).
    size_t struct_size;
    /// Comes back in events and queries.
    uint64_t user_data;
    /// Where armed notifications go; NULL: none. It is kept alive.
    vbn_channel *channel;
    /// Room for at least so many completions; the device may round up. Required.
    uint32_t cqe;
    /// Interrupt vector, below the context's num_comp_vectors.
    uint32_t comp_vector;
} vbn_cq_attr;

/// What `vbn_cq_query` tells.
typedef struct vbn_cq_info {
    /// sizeof(vbn_cq_info), set by the caller.
    size_t struct_size;
    /// As given at creation.
    uint64_t user_data;
    /// Room for so many completions.
    uint32_t cqe;
    /// The kernel's number of the queue; events carry it.
    uint32_t handle;
    /// 1 if it has a channel.
    uint8_t has_channel;
    /// 0.
    uint8_t reserved0[7];
} vbn_cq_info;

/// A completion. The layout is ibv_wc's; see `imm` for the one difference. Frozen.
typedef struct vbn_wc {
    /// The request's wr_id.
    uint64_t wr_id;
    /// VBN_WC_SUCCESS or another VBN_WC_* status. After an error only wr_id, status, vendor_err and qp_num count.
    int32_t status;
    /// VBN_WC_SEND, VBN_WC_RECV, ...
    int32_t opcode;
    /// The device's own code of an error.
    uint32_t vendor_err;
    /// Bytes received (receives) or transferred.
    uint32_t byte_len;
    /// With VBN_WC_WITH_IMM the immediate value in host byte order; with VBN_WC_WITH_INV the rkey that was invalidated.
    uint32_t imm;
    /// Number of the queue pair that the completion is of.
    uint32_t qp_num;
    /// UD: number of the sender's queue pair.
    uint32_t src_qp;
    /// VBN_WC_GRH, VBN_WC_WITH_IMM, ...
    uint32_t wc_flags;
    /// UD on InfiniBand.
    uint16_t pkey_index;
    /// UD on InfiniBand: the sender's LID.
    uint16_t slid;
    /// UD: service level.
    uint8_t sl;
    /// UD on InfiniBand: path bits of the destination LID.
    uint8_t dlid_path_bits;
    /// Not written.
    uint16_t reserved0;
} vbn_wc;

/// A device, as `vbn_device_list` tells it.
typedef struct vbn_device_info {
    /// Name, such as "mlx5_0"; to be given to vbn_context_open.
    char name[64];
    /// Name of its node below /dev/infiniband, such as "uverbs0".
    char uverbs_name[64];
    /// Its directory in sysfs.
    char sysfs_path[256];
    /// Globally unique number of the device, in host byte order; 0 if it has none.
    uint64_t guid;
    /// VBN_NODE_*: libibverbs' numbers.
    int32_t node_type;
    /// VBN_TRANSPORT_*: libibverbs' numbers.
    int32_t transport_type;
    /// Place in the list.
    uint32_t index;
    /// VBN_OK if this process can open it, else why not: VBN_ERR_*.
    int32_t open_status;
    /// errno of the attempt to open it, or 0.
    int32_t open_errno;
    /// 0.
    uint32_t reserved0;
} vbn_device_info;

/// Why the list of devices is empty.
typedef struct vbn_device_list_reason_info {
    /// sizeof(vbn_device_list_reason_info), set by the caller.
    size_t struct_size;
    /// VBN_REASON_*.
    int32_t reason;
    /// The errno behind it, or 0.
    int32_t sys_errno;
    /// How many devices libibverbs lists.
    uint32_t count;
    /// 0.
    uint32_t reserved0;
    /// The same as a sentence with the remedy.
    char message[512];
} vbn_device_list_reason_info;

/// The last failure of a thread. Meaningful only after a call that failed: success doesn't clear it.
typedef struct vbn_error_info {
    /// sizeof(vbn_error_info), set by the caller.
    size_t struct_size;
    /// What the call returned: VBN_ERR_*.
    int32_t status;
    /// The errno behind it, or 0.
    int32_t sys_errno;
    /// Number of the function that failed; its name is in `op_name`. 0: none has failed yet.
    int32_t op;
    /// VBN_VENDOR_*: what `vendor_code` is.
    int32_t vendor_domain;
    /// What the driver or the device said.
    int64_t vendor_code;
    /// Which element of an array, or VBN_INDEX_NONE.
    uint64_t index;
    /// The value that was refused, where there is one.
    uint64_t value;
    /// The limit that it broke, where there is one.
    uint64_t limit;
    /// Name of the function that failed.
    char op_name[48];
    /// Device, file or name that it was about; may be empty.
    char object[64];
    /// 0.
    uint64_t reserved[4];
    /// The whole as a sentence with the remedy.
    char message[1024];
} vbn_error_info;

/// Finds a function of a library: its address, or NULL. Called with a lock held: must not call libverbena.
typedef void *(*vbn_lookup_fn)(const char *symbol, const char *version, void *arg);

/// Where a library comes from. All-zero: VBN_IBVERBS_LIBRARY from the environment if it is set and the program runs
/// with no more rights than its caller, else libibverbs.so.1. Set at most one of `path`, `handle` and `lookup`.
typedef struct vbn_library_attr {
    /// sizeof(vbn_library_attr).
    size_t struct_size;
    /// VBN_LIBRARY_IBVERBS.
    int32_t library;
    /// Must be 0.
    uint32_t reserved0;
    /// What to give to dlopen. Copied.
    const char *path;
    /// What dlopen returned. Must stay open for ever.
    void *handle;
    /// Called for each symbol and its version, at the first call that needs the library.
    vbn_lookup_fn lookup;
    /// Handed to `lookup`.
    void *lookup_arg;
} vbn_library_attr;

/// What is known of a library that is loaded at run time.
typedef struct vbn_library_info {
    /// sizeof(vbn_library_info), set by the caller.
    size_t struct_size;
    /// VBN_LIBRARY_*.
    int32_t library;
    /// 1 if the library is loaded and in use.
    uint8_t loaded;
    /// 0.
    uint8_t reserved0[3];
    /// VBN_LIBRARY_FROM_*: where it was looked for.
    int32_t source;
    /// VBN_FORK_*: what fork() does to registered memory.
    int32_t fork_state;
    /// The rdma-core release that it is at least, judged by its symbols; 0 when none was loaded.
    uint32_t release_min;
    /// It is older than this rdma-core release, whose symbols it lacks; 0 when none is known to be newer.
    uint32_t release_below;
    /// How many symbols it lacks; vbn_library_missing tells which. None of them is required if `loaded` is 1.
    uint32_t missing_count;
    /// 0.
    uint32_t reserved1;
    /// The file, as the dynamic linker knows it; before loading, what was looked for.
    char path[512];
    /// Why it could not be loaded; empty when it is.
    char error[512];
} vbn_library_info;

/// A function that the loaded library lacks.
typedef struct vbn_symbol_info {
    /// sizeof(vbn_symbol_info), set by the caller.
    size_t struct_size;
    /// Its name.
    char name[64];
    /// Its symbol version.
    char version[32];
    /// The rdma-core release that brought it.
    char since[16];
    /// The functions of this library that need it, or what is lost without it. Empty: nothing.
    char needed_by[128];
    /// 1 if nothing works without it.
    uint8_t required;
    /// 0.
    uint8_t reserved0[7];
} vbn_symbol_info;

/// What `vbn_mr_reg` may be told. All-zero is the default.
typedef struct vbn_mr_attr {
    /// sizeof(vbn_mr_attr).
    size_t struct_size;
    /// Which of the optional fields count: VBN_MR_SET_*.
    uint64_t set;
    /// With VBN_MR_SET_IOVA: the address at which the region begins for requests, one's own and the peers'. It must
    /// equal `addr` modulo the page size. Default: `addr`. Not for vbn_mr_reg_dmabuf, which has a parameter for it.
    uint64_t iova;
    /// Whatever keeps the memory alive. Not looked at; vbn_mr_query returns it until a close has succeeded.
    void *owner;
    /// Comes back in queries.
    uint64_t user_data;
} vbn_mr_attr;

/// What `vbn_mr_query` tells.
typedef struct vbn_mr_info {
    /// sizeof(vbn_mr_info), set by the caller.
    size_t struct_size;
    /// As given at registration.
    uint64_t user_data;
    /// As given at registration; NULL for an adopted region.
    void *owner;
    /// Where this process sees the memory; NULL for a dma-buf. For an adopted region ibv_mr.addr.
    void *memory;
    /// Where the region begins in a vbn_sge, beside `lkey`.
    uint64_t addr;
    /// Where the region begins for peers, beside `rkey`.
    uint64_t remote_addr;
    /// Bytes.
    uint64_t length;
    /// VBN_ACCESS_* as given at registration; 0 for an adopted region, whose access isn't known.
    uint64_t access;
    /// The key for one's own requests.
    uint32_t lkey;
    /// The key for peers.
    uint32_t rkey;
    /// The kernel's number of the region.
    uint32_t handle;
    /// VBN_MR_HOST, VBN_MR_DMABUF or VBN_MR_ADOPTED.
    int32_t kind;
} vbn_mr_info;

/// A piece of registered memory. The layout is ibv_sge's. Frozen.
typedef struct vbn_sge {
    /// Where it begins, inside the region that lkey belongs to.
    uint64_t addr;
    /// Bytes.
    uint32_t length;
    /// The region's lkey.
    uint32_t lkey;
} vbn_sge;

/// What `vbn_pd_alloc` may be told. All-zero is the default.
typedef struct vbn_pd_attr {
    /// sizeof(vbn_pd_attr).
    size_t struct_size;
    /// Comes back in queries.
    uint64_t user_data;
} vbn_pd_attr;

/// What `vbn_pd_query` tells.
typedef struct vbn_pd_info {
    /// sizeof(vbn_pd_info), set by the caller.
    size_t struct_size;
    /// As given at creation.
    uint64_t user_data;
    /// The kernel's number of the PD.
    uint32_t handle;
    /// 0.
    uint32_t reserved0;
} vbn_pd_info;

/// What `vbn_qp_create` is told.
typedef struct vbn_qp_init_attr {
    /// sizeof(vbn_qp_init_attr).
    size_t struct_size;
    /// VBN_QP_INIT_SET_*: fields whose zero is meant.
    uint64_t set;
    /// Comes back in events and queries.
    uint64_t user_data;
    /// Where sends complete. Required; kept alive.
    vbn_cq *send_cq;
    /// Where receives complete. NULL: send_cq. Kept alive.
    vbn_cq *recv_cq;
    /// VBN_QPT_*. 0: RC.
    int32_t qp_type;
    /// Requests that the send queue holds. 0: 128, or the device's limit if lower.
    uint32_t max_send_wr;
    /// Requests that the receive queue holds. 0: likewise.
    uint32_t max_recv_wr;
    /// Segments of a send request. 0: 1.
    uint32_t max_send_sge;
    /// Segments of a receive request. 0: 1.
    uint32_t max_recv_sge;
    /// Bytes that VBN_SEND_INLINE may carry. 0: none asked for; the device may grant some.
    uint32_t max_inline_data;
    /// VBN_QP_OP_*: the operations that will be posted. 0: all that the type and device have.
    uint64_t send_ops;
    /// 1: every request completes, as if it had VBN_SEND_SIGNALED.
    uint8_t sq_sig_all;
    /// 0.
    uint8_t reserved0[7];
} vbn_qp_init_attr;

/// The way to a peer. Frozen.
typedef struct vbn_path {
    /// The peer's GID. Counts if is_global.
    uint8_t dgid[16];
    /// 20 bits.
    uint32_t flow_label;
    /// The peer's LID (InfiniBand).
    uint16_t dlid;
    /// Index of one's own GID.
    uint8_t sgid_index;
    /// Routers that a packet may pass.
    uint8_t hop_limit;
    /// Traffic class (DSCP and ECN on RoCE).
    uint8_t traffic_class;
    /// 1: packets carry the global route header. Always so on RoCE.
    uint8_t is_global;
    /// Service level.
    uint8_t sl;
    /// InfiniBand, with several LIDs a port.
    uint8_t src_path_bits;
    /// Rate limit as libibverbs' enum ibv_rate.
    uint8_t static_rate;
    /// One's own port.
    uint8_t port_num;
    /// 0.
    uint8_t reserved0[2];
} vbn_path;

/// What `vbn_qp_query` tells.
typedef struct vbn_qp_info {
    /// sizeof(vbn_qp_info), set by the caller.
    size_t struct_size;
    /// As given at creation.
    uint64_t user_data;
    /// VBN_QP_OP_*: operations that may be posted.
    uint64_t send_ops;
    /// Its number, which peers need.
    uint32_t qp_num;
    /// VBN_QPT_*.
    int32_t qp_type;
    /// VBN_QPS_*, as the device has it.
    int32_t qp_state;
    /// VBN_MTU_*.
    int32_t path_mtu;
    /// 0 migrated, 1 rearm, 2 armed.
    int32_t path_mig_state;
    /// UD.
    uint32_t qkey;
    /// 24 bits.
    uint32_t rq_psn;
    /// 24 bits.
    uint32_t sq_psn;
    /// 24 bits.
    uint32_t dest_qp_num;
    /// VBN_ACCESS_REMOTE_*.
    uint32_t qp_access_flags;
    /// Granted: requests that the send queue holds.
    uint32_t max_send_wr;
    /// Granted: requests that the receive queue holds.
    uint32_t max_recv_wr;
    /// Granted: segments of a send request.
    uint32_t max_send_sge;
    /// Granted: segments of a receive request.
    uint32_t max_recv_sge;
    /// Granted: bytes that VBN_SEND_INLINE may carry.
    uint32_t max_inline_data;
    /// Largest message in bytes.
    uint32_t max_message;
    /// kbit/s.
    uint32_t rate_limit;
    /// Index in the port's pkey table.
    uint16_t pkey_index;
    /// Likewise for the alternate path.
    uint16_t alt_pkey_index;
    /// The way to the peer.
    vbn_path path;
    /// The alternate way.
    vbn_path alt_path;
    /// 1: every request completes.
    uint8_t sq_sig_all;
    /// 1: the send queue drains.
    uint8_t sq_draining;
    /// See vbn_qp_attr.
    uint8_t max_rd_atomic;
    /// See vbn_qp_attr.
    uint8_t max_dest_rd_atomic;
    /// See vbn_qp_attr.
    uint8_t min_rnr_timer;
    /// See vbn_qp_attr.
    uint8_t port_num;
    /// See vbn_qp_attr.
    uint8_t timeout;
    /// See vbn_qp_attr.
    uint8_t retry_cnt;
    /// See vbn_qp_attr.
    uint8_t rnr_retry;
    /// See vbn_qp_attr.
    uint8_t alt_timeout;
    /// 0.
    uint8_t reserved0[6];
} vbn_qp_info;

/// Attributes to change; `set` says which.
typedef struct vbn_qp_attr {
    /// sizeof(vbn_qp_attr).
    size_t struct_size;
    /// VBN_QP_*: the fields that count.
    uint64_t set;
    /// VBN_QPS_* to go to.
    int32_t qp_state;
    /// VBN_QPS_* that the caller assumes.
    int32_t cur_qp_state;
    /// VBN_MTU_*.
    int32_t path_mtu;
    /// 0 migrated, 1 rearm, 2 armed.
    int32_t path_mig_state;
    /// UD: the key that senders must show.
    uint32_t qkey;
    /// 24 bits: where the peer's numbering starts.
    uint32_t rq_psn;
    /// 24 bits: where one's own numbering starts.
    uint32_t sq_psn;
    /// 24 bits.
    uint32_t dest_qp_num;
    /// VBN_ACCESS_REMOTE_*: what the peer may do.
    uint32_t qp_access_flags;
    /// With VBN_QP_CAP: resizes the queues where the device can.
    uint32_t max_send_wr;
    /// With VBN_QP_CAP.
    uint32_t max_recv_wr;
    /// With VBN_QP_CAP.
    uint32_t max_send_sge;
    /// With VBN_QP_CAP.
    uint32_t max_recv_sge;
    /// With VBN_QP_CAP.
    uint32_t max_inline_data;
    /// kbit/s.
    uint32_t rate_limit;
    /// Index in the port's pkey table.
    uint16_t pkey_index;
    /// Likewise for the alternate path.
    uint16_t alt_pkey_index;
    /// The way to the peer.
    vbn_path path;
    /// The alternate way.
    vbn_path alt_path;
    /// 1: an event tells when the send queue has drained.
    uint8_t en_sqd_async_notify;
    /// Reads and atomics that this side may have in flight.
    uint8_t max_rd_atomic;
    /// Reads and atomics that the peer may have in flight here.
    uint8_t max_dest_rd_atomic;
    /// Code of the time that a peer without posted receive asks for (12: 0.64 ms).
    uint8_t min_rnr_timer;
    /// Port, from 1.
    uint8_t port_num;
    /// Code of the time until a retry: 4.096 us * 2^timeout; 0 waits for ever.
    uint8_t timeout;
    /// Retries after a time-out, 0 to 7.
    uint8_t retry_cnt;
    /// Retries when the peer has no receive posted, 0 to 6; 7: for ever.
    uint8_t rnr_retry;
    /// As timeout, for the alternate path.
    uint8_t alt_timeout;
    /// 0.
    uint8_t reserved0[7];
} vbn_qp_attr;

/// A request to send, write or read: one struct for all transports. Frozen; fields that an operation does not use are
/// not looked at, and get a meaning only by a new opcode or flag.
typedef struct vbn_send_wr {
    /// Comes back in the completion.
    uint64_t wr_id;
    /// VBN_SEND_SIGNALED, ...
    uint64_t flags;
    /// VBN_WR_SEND, VBN_WR_RDMA_WRITE, ...
    uint32_t opcode;
    /// Number of segments.
    uint32_t num_sge;
    /// The segments. NULL with num_sge 1 means the segment in `sge`.
    const vbn_sge *sg_list;
    /// The only segment, if sg_list is NULL and num_sge is 1.
    vbn_sge sge;
    /// Write and read: where in the peer's memory.
    uint64_t remote_addr;
    /// Write and read: the key of the peer's region.
    uint32_t rkey;
    /// With the *_WITH_IMM operations: a value for the receiver's completion, in host byte order.
    uint32_t imm;
    /// Connectionless queue pairs: the destination. Not used by RC.
    vbn_peer *peer;
    /// Reserved for the operations that invalidate a key.
    uint32_t invalidate_rkey;
    /// Reserved for XRC.
    uint32_t remote_srqn;
    /// Reserved for atomics.
    uint64_t compare_add;
    /// Reserved for atomics.
    uint64_t swap;
    /// For opcodes that say so.
    const void *ext;
    /// Reserved.
    uint64_t reserved[3];
} vbn_send_wr;

/// Room for one incoming message. Frozen.
typedef struct vbn_recv_wr {
    /// Comes back in the completion.
    uint64_t wr_id;
    /// Must be 0.
    uint64_t flags;
    /// The segments. NULL with num_sge 1 means the segment in `sge`.
    const vbn_sge *sg_list;
    /// The only segment, if sg_list is NULL and num_sge is 1.
    vbn_sge sge;
    /// Number of segments. 0 is fine for a receive that only takes an RDMA write with immediate.
    uint32_t num_sge;
    /// Reserved.
    uint32_t reserved0;
    /// Reserved.
    const void *ext;
    /// Reserved.
    uint64_t reserved1;
} vbn_recv_wr;

/// Everything about a connection that has a default. A field counts only if its VBN_RC_SET_* bit is in `set`; those
/// without a bit count always, with 0 as the default.
typedef struct vbn_rc_attr {
    /// sizeof(vbn_rc_attr).
    size_t struct_size;
    /// VBN_RC_SET_*.
    uint64_t set;
    /// VBN_ACCESS_REMOTE_*: what the peer may do. Default: write and read.
    uint32_t access;
    /// 24 bits: where one's own numbering starts, for vbn_rc_record_local. Default: random.
    uint32_t psn;
    /// VBN_MTU_*. Default: the smaller of the port's active MTU and the peer's.
    int32_t path_mtu;
    /// 20 bits, 0 without a bit in set.
    uint32_t flow_label;
    /// Default 0.
    uint16_t pkey_index;
    /// Port, from 1. 0: 1, or the port of the local record.
    uint8_t port_num;
    /// Index of one's own GID. Default: that of the local record's GID; for vbn_rc_record_local, what vbn_gid_select picks.
    uint8_t sgid_index;
    /// Default 64.
    uint8_t hop_limit;
    /// 0 without a bit in set.
    uint8_t traffic_class;
    /// 0 without a bit in set.
    uint8_t sl;
    /// 0 without a bit in set.
    uint8_t src_path_bits;
    /// 0 without a bit in set.
    uint8_t static_rate;
    /// Whether packets carry the global header. Default: 1 on RoCE; on InfiniBand where the port requires it or the
    /// subnets differ.
    uint8_t is_global;
    /// Default 12 (0.64 ms).
    uint8_t min_rnr_timer;
    /// Default: the device's limit, at most 16.
    uint8_t max_dest_rd_atomic;
    /// Default 14 (67 ms).
    uint8_t timeout;
    /// Default 6. (7 means for ever on soft-RoCE.)
    uint8_t retry_cnt;
    /// Default 7: for ever.
    uint8_t rnr_retry;
    /// Default: the device's limit, at most 16. Must not exceed the peer's max_dest_rd_atomic.
    uint8_t max_rd_atomic;
} vbn_rc_attr;

/// What one side of an RC connection tells the other. Frozen.
typedef struct vbn_rc_record {
    /// The queue pair's number, 24 bits.
    uint32_t qp_num;
    /// Where its send numbering starts, 24 bits.
    uint32_t psn;
    /// The port's LID (InfiniBand; 0 on RoCE).
    uint16_t lid;
    /// The port, from 1.
    uint8_t port_num;
    /// VBN_MTU_* that the port can do.
    uint8_t mtu;
    /// The GID that the peer shall send to.
    uint8_t gid[16];
    /// 0.
    uint32_t reserved0;
} vbn_rc_record;

/// Success.
#define VBN_OK 0

/// An argument is wrong: NULL, out of range, unknown flag, struct_size 0, handles that don't belong together.
#define VBN_ERR_ARGUMENT -1001

/// The handle has been closed.
#define VBN_ERR_CLOSED -1002

/// The object is in use: the driver or another thread still holds it. The handle stays valid.
#define VBN_ERR_BUSY -1003

/// The queue is full. `posted` says how many requests are on it; poll completions, then post the rest.
#define VBN_ERR_QUEUE_FULL -1004

/// The time given has passed.
#define VBN_ERR_TIMEOUT -1005

/// Out of memory, in this library or in the driver (errno ENOMEM; the message tells about the memlock limit).
#define VBN_ERR_NO_MEMORY -1006

/// The device, its driver or the kernel does not offer this.
#define VBN_ERR_NOT_SUPPORTED -1007

/// A library that is loaded at run time (libibverbs.so.1, ...) was not found.
#define VBN_ERR_LIBRARY_MISSING -1008

/// The library is there but too old: it lacks the symbol that this function needs.
#define VBN_ERR_SYMBOL_MISSING -1009

/// The device has been removed. Close still works.
#define VBN_ERR_DEVICE_GONE -1010

/// The handle was made before fork() and this is the child. Close frees memory and leaves the device alone.
#define VBN_ERR_FORKED -1011

/// The peer's record, or a caller's struct, is newer than this library and says something it can't know.
#define VBN_ERR_TOO_NEW -1012

/// A work completion reports a failure.
#define VBN_ERR_COMPLETION -1013

/// The driver failed without naming a request: some of the requests may be on the queue and may run later.
#define VBN_ERR_UNCERTAIN -1014

/// The driver or the kernel refused; `sys_errno` says how.
#define VBN_ERR_DRIVER -1015

/// A defect in this library (a caught panic). The handle it happened on answers this from now on; close still works.
#define VBN_ERR_INTERNAL -1016

/// Nothing of that name or number exists.
#define VBN_ERR_NOT_FOUND -1017

/// The value is well-formed but beyond what this device offers; `value` and `limit` say by how much.
#define VBN_ERR_LIMIT -1018





#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// Creates a completion channel: completion queues made with it announce completions on its file descriptor.
///
/// The descriptor is non-blocking from the start. `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_channel_close. It keeps `context` alive.
/// - Threads: MT-safe.
/// - Blocks: for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_create_comp_channel(3)
vbn_status vbn_channel_create(vbn_context *context,
                              const vbn_channel_attr *attr,
                              vbn_channel **out);

/// Closes a completion channel and sets `*channel` to NULL.
///
/// With completion queues of this library left on it, or a thread waiting, the call succeeds and the last of them
/// destroys the channel. It does not wake the waiting thread, so threads that wait on a channel that may be closed
/// should do so with a time-out. When the driver refuses (completion queues made by raw verbs are left), the error is
/// returned and the handle stays valid.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_destroy_comp_channel(3)
vbn_status vbn_channel_close(vbn_channel **channel);

/// Tells what is known of a completion channel.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set. The descriptor in it stays the channel's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_channel_query(const vbn_channel *channel,
                             vbn_channel_info *info);

/// The file descriptor, readable when there is an event; -1 for NULL or a handle that can't be used.
///
/// For poll, epoll and the like. When it is readable, vbn_channel_get_event takes the event.
///
/// - Ownership: borrowed; don't read from it and don't close it.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
int32_t vbn_channel_fd(const vbn_channel *channel);

/// Waits for an event of one of the channel's completion queues, takes it and acknowledges it.
///
/// `timeout_ns`: 0 doesn't wait, a negative one waits for ever. The event says which queue has something; that queue
/// is no longer armed. Arm it again and poll it once more before the next wait, or use vbn_cq_wait, which does. An
/// event of a queue that raw verbs made on the lent channel has `known` 0. On an adopted channel whose descriptor
/// blocks, two threads that wait at the same time can overrun the time-out: make it non-blocking first.
///
/// - Ownership: fills the caller's `*event`, whose struct_size must be set; a copy, nothing to acknowledge or free.
/// - Threads: MT-safe; each event goes to one thread. Closing the channel doesn't wake the waiters.
/// - Blocks: up to `timeout_ns`. Signals don't end the wait.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TIMEOUT, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_get_cq_event(3), ibv_ack_cq_events(3)
vbn_status vbn_channel_get_event(vbn_channel *channel,
                                 int64_t timeout_ns,
                                 vbn_cq_event *event);

/// Lends the `ibv_comp_channel`. It stays this library's: don't destroy it, and don't use it after the handle is
/// closed.
///
/// Completion queues made on it by raw verbs must be destroyed before the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_channel_native(const vbn_channel *channel,
                              struct ibv_comp_channel **native_out);

/// Gives the `ibv_comp_channel` away: the handle ends, the channel lives on and is the caller's to destroy.
///
/// Its descriptor stays non-blocking.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*channel` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (completion queues or calls use it).
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_channel_release(vbn_channel **channel, struct ibv_comp_channel **native_out);

/// Makes a handle for an `ibv_comp_channel` that raw verbs made on the `ibv_context` of `context`.
///
/// `native` must be a live ibv_comp_channel. Its descriptor is left as it is, blocking or not. `attr` may be NULL:
/// borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_channel_adopt(vbn_context *context,
                             struct ibv_comp_channel *native,
                             const vbn_adopt_attr *attr,
                             vbn_channel **out);

/// Opens a device.
///
/// `name` is one that vbn_device_list tells; NULL or "" opens the first device that can be opened. `attr` may be NULL.
/// `*out` is NULL after a failure. The fd of its asynchronous events is non-blocking.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_context_close.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded, and for some system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_FOUND (`object` is the name, `limit` how many devices there
///   are), VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_open_device(3)
vbn_status vbn_context_open(const char *name,
                            const vbn_context_attr *attr,
                            vbn_context **out);

/// Closes a device and sets `*context` to NULL.
///
/// With objects of this library left on it, or a thread inside a call on it, the call succeeds and the last of them
/// closes the device.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_close_device(3)
vbn_status vbn_context_close(vbn_context **context);

/// Tells what is known of an open device: names, types, event fd, ownership.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set. The fd in it stays the context's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_context_query(const vbn_context *context, vbn_context_info *info);

/// Asks what the device can do.
///
/// - Ownership: fills the caller's `*attr`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NO_MEMORY, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_query_device(3), ibv_query_device_ex(3)
vbn_status vbn_context_query_device(const vbn_context *context, vbn_device_attr *attr);

/// Asks for the state of a port, as it is now. Ports are counted from 1.
///
/// - Ownership: fills the caller's `*attr`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for some system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (no such port), VBN_ERR_NO_MEMORY, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_query_port(3), ibv_query_port_speed(3)
vbn_status vbn_context_query_port(const vbn_context *context,
                                  uint32_t port_num,
                                  vbn_port_attr *attr);

/// Asks for one GID of a port, 16 bytes as they go over the wire. An empty place of the table gives zeros.
///
/// - Ownership: fills the caller's 16 bytes.
/// - Threads: MT-safe.
/// - Blocks: for some system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (no such port or index), VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_query_gid(3)
vbn_status vbn_context_query_gid(const vbn_context *context,
                                 uint32_t port_num,
                                 uint32_t index,
                                 uint8_t *gid_out);

/// Lists the GIDs of all ports with type and net device. Empty places are left out.
///
/// Fills as many elements of `entries` as there are GIDs and room, each `entry_size` bytes apart, and says in
/// `*count_out` how many GIDs there are. With `capacity` 0, `entries` may be NULL.
///
/// - Ownership: fills the caller's array. `entry_size` is sizeof(vbn_gid_entry).
/// - Threads: MT-safe.
/// - Blocks: for some system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_query_gid_table(3)
vbn_status vbn_context_gid_table(const vbn_context *context,
                                 vbn_gid_entry *entries,
                                 size_t entry_size,
                                 uint32_t capacity,
                                 uint32_t *count_out);

/// Asks for one partition key of a port, in host byte order.
///
/// - Ownership: fills the caller's variable.
/// - Threads: MT-safe.
/// - Blocks: for some system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (no such port or index), VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_query_pkey(3)
vbn_status vbn_context_query_pkey(const vbn_context *context,
                                  uint32_t port_num,
                                  uint32_t index,
                                  uint16_t *pkey_out);

/// Takes the next asynchronous event of the device. It is a copy and has been acknowledged.
///
/// `timeout_ns`: negative waits for ever, 0 not at all. After VBN_EVENT_DEVICE_FATAL every handle on the device answers
/// VBN_ERR_DEVICE_GONE, and can only be closed. The fd of an adopted context is never changed: if it is blocking and
/// another thread takes the event first, the call may wait longer than it was told to.
///
/// - Ownership: fills the caller's `*event`, whose struct_size must be set.
/// - Threads: MT-safe; every event goes to one caller.
/// - Blocks: until an event comes or the time is over. A close of the context meanwhile takes effect after that.
/// - Errors: VBN_ERR_TIMEOUT, VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (the device has no such events), VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_get_async_event(3), ibv_ack_async_event(3)
vbn_status vbn_context_get_async_event(vbn_context *context,
                                       int64_t timeout_ns,
                                       vbn_async_event *event);

/// Counts the objects on a context: open handles, closed ones that others still use, and refused destroys.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe. The numbers are those of no single moment while other threads open and close.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_context_live(const vbn_context *context, vbn_live_info *info);

/// Lends the `ibv_context`. It stays this library's: don't close it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_context_native(const vbn_context *context,
                              struct ibv_context **native_out);

/// Gives the `ibv_context` away: the handle ends, the device stays open and is the caller's to close. The fd of its
/// asynchronous events stays non-blocking.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*context` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (handles of this library use it).
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_context_release(vbn_context **context,
                               struct ibv_context **native_out);

/// Makes a handle for an `ibv_context` that raw verbs opened.
///
/// `native` must be open and come from the very libibverbs that this library uses; one of another copy in the process
/// is refused, with the other file's path in the error's `object`. `attr` may be NULL: borrowed. `*out` is NULL after a
/// failure. The fd of its asynchronous events is left as it is. An event goes to whoever reads first, raw verbs or this
/// library; only this library's objects are known to it by their user_data.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded, and for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_NO_MEMORY,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_context_adopt(struct ibv_context *native,
                             const vbn_adopt_attr *attr,
                             vbn_context **out);

/// Chooses the GID of a port to connect with, and says of each entry why, or why not.
///
/// RoCE: version 2 only, unless version 1 is asked for; routable IPv4 first, then routable IPv6, then loopback, then
/// link-local addresses, which are a last resort. InfiniBand, and devices with an address of their own (EFA): entry 0.
/// `attr` may be NULL. `choice` may be NULL when only the verdicts are wanted.
///
/// Fills as many elements of `verdicts` as the port has GIDs and there is room, each `entry_size` bytes apart, and says
/// in `*count_out` how many GIDs the port has, also when none of them will do. With `capacity` 0, `verdicts` may be NULL;
/// `count_out` may be NULL.
///
/// - Ownership: fills the caller's structs; the struct_size of `*choice` must be set. `entry_size` is
///   sizeof(vbn_gid_verdict).
/// - Threads: MT-safe.
/// - Blocks: for some system calls.
/// - Errors: VBN_ERR_NOT_FOUND (none will do), VBN_ERR_NOT_SUPPORTED (iWARP), VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (no such
///   port), VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_gid_select(const vbn_context *context,
                          uint32_t port_num,
                          const vbn_gid_select_attr *attr,
                          vbn_gid_choice *choice,
                          vbn_gid_verdict *verdicts,
                          size_t entry_size,
                          uint32_t capacity,
                          uint32_t *count_out);

/// Creates a completion queue.
///
/// `attr` is required: its `cqe` says how many completions the queue must hold. When more arrive than it holds, they
/// are lost and the queue fails; so make it as deep as all queues that complete into it together.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_cq_close; NULL after a failure. It keeps `context` and the
///   channel alive.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (cqe, comp_vector), VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_create_cq(3)
vbn_status vbn_cq_create(vbn_context *context,
                         const vbn_cq_attr *attr,
                         vbn_cq **out);

/// Closes a completion queue and sets `*cq` to NULL.
///
/// With queue pairs of this library still completing into it, the call succeeds and the last of them destroys it.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (queue pairs made by raw verbs use it; the handle stays valid),
///   VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_destroy_cq(3)
vbn_status vbn_cq_close(vbn_cq **cq);

/// Tells what is known of a completion queue, its granted capacity above all.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_cq_query(const vbn_cq *cq, vbn_cq_info *info);

/// Asks for one event on the queue's channel at the next completion, or with `solicited_only` 1 at the next solicited
/// or failed one. Completions that are there already cause none: arm, then poll once more, then wait; vbn_cq_wait does
/// that.
///
/// - Ownership: nothing changes hands.
/// - Threads: MT-safe.
/// - Blocks: no (a system call on soft-RoCE).
/// - Errors: VBN_ERR_ARGUMENT (no channel, solicited_only above 1), VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_req_notify_cq(3)
vbn_status vbn_cq_arm(vbn_cq *cq,
                      uint8_t solicited_only);

/// Takes up to `n` completions (at most 2147483647) from the queue into `wcs`. `*got` is always written. No completion is VBN_OK with
/// `*got` 0. A failed request is a completion like any other: look at `status`, or use vbn_wc_check.
///
/// - Ownership: fills the caller's array.
/// - Threads: as thread-safe as the driver; most lock inside. Not concurrently with closing the handle.
/// - Blocks: no. No allocation, lock or system call of this library's.
/// - Errors: VBN_ERR_ARGUMENT (NULL), VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_poll_cq(3)
vbn_status vbn_cq_poll(vbn_cq *cq,
                       uint32_t n,
                       vbn_wc *wcs,
                       uint32_t *got);

/// Waits until there is a completion, and takes up to `n`. For `busy_ns` nanoseconds it polls without sleeping, then it
/// arms the queue, polls once more and sleeps on the channel. A queue without channel is polled all the time, giving the
/// processor to other threads in between. `timeout_ns`: negative waits for ever, 0 only looks. `*got` is always written.
///
/// The channel must serve this queue alone; events of other queues would be lost here.
///
/// - Ownership: fills the caller's array.
/// - Threads: one thread waits on a queue at a time. Closing the handle does not wake it: use a time-out.
/// - Blocks: until there is a completion or the time is up.
/// - Errors: VBN_ERR_TIMEOUT, VBN_ERR_ARGUMENT (n 0, NULL, a shared channel), VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_req_notify_cq(3), ibv_get_cq_event(3)
vbn_status vbn_cq_wait(vbn_cq *cq,
                       uint32_t n,
                       vbn_wc *wcs,
                       int64_t busy_ns,
                       int64_t timeout_ns,
                       uint32_t *got);

/// VBN_OK for a successful completion; for a failed one VBN_ERR_COMPLETION, and vbn_last_error tells the status, the
/// vendor's code, what it means and what to look at. In its record `value` is the status and `vendor_code` the vendor_err.
///
/// - Ownership: reads the caller's `*wc`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_COMPLETION, VBN_ERR_ARGUMENT.
/// - Since: 0.1
/// - Source: ibv_poll_cq(3), InfiniBand Architecture Specification 10.7.3
vbn_status vbn_wc_check(const vbn_wc *wc);

/// Lends the `ibv_cq`. It stays this library's: don't destroy it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_cq_native(const vbn_cq *cq,
                         struct ibv_cq **native_out);

/// Gives the `ibv_cq` away: the handle ends, the queue lives on and is the caller's to destroy. A channel that it has
/// must outlive it.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*cq` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (queue pairs of this library use it).
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_cq_release(vbn_cq **cq,
                          struct ibv_cq **native_out);

/// Makes a handle for an `ibv_cq` that raw verbs made on the `ibv_context` of `context`.
///
/// `native` must be a live ibv_cq. If its channel has a handle, that is kept alive; otherwise vbn_cq_wait polls all the
/// time. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_cq_adopt(vbn_context *context,
                        struct ibv_cq *native,
                        const vbn_adopt_attr *attr,
                        vbn_cq **out);

/// Lists the RDMA devices.
///
/// Fills as many elements of `devices` as there are devices and room, each `entry_size` bytes apart, and says in
/// `*count_out` how many devices there are. With `capacity` 0, `devices` may be NULL. No library, no RDMA in the
/// kernel and no device give success and a count of 0; vbn_device_list_reason tells which. A device that can't be
/// opened is listed with the reason in `open_status`.
///
/// - Ownership: fills the caller's array. `entry_size` is sizeof(vbn_device_info).
/// - Threads: MT-safe.
/// - Blocks: for some system calls per device.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NO_MEMORY, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_get_device_list(3)
vbn_status vbn_device_list(vbn_device_info *devices,
                           size_t entry_size,
                           uint32_t capacity,
                           uint32_t *count_out);

/// Tells why vbn_device_list lists no device, or none that can be opened, as a code and as a sentence with the remedy.
///
/// It looks afresh: at the library, the kernel's modules, sysfs, the nodes in /dev/infiniband and the provider
/// libraries, in this order. VBN_REASON_NONE: there is a device that can be opened.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for some system calls.
/// - Errors: VBN_ERR_ARGUMENT.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_device_list_reason(vbn_device_list_reason_info *info);

/// Tells what went wrong in the last call that failed on this thread.
///
/// Call it on the thread of the failed call and before the next one. A failure of vbn_last_error itself is recorded
/// as well, in place of what was there.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe; every thread has a record of its own.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_last_error(vbn_error_info *info);

/// The name of a status, such as "VBN_ERR_BUSY"; "VBN_ERR_?" for a number that this library doesn't know.
///
/// - Ownership: a constant; not to be freed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none; never NULL.
/// - Since: 0.1
/// - Source: this library
const char *vbn_status_name(vbn_status status);

/// What a status means, in a few words: "the object is in use". vbn_last_error has the details.
///
/// - Ownership: a constant; not to be freed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none; never NULL.
/// - Since: 0.1
/// - Source: this library
const char *vbn_status_text(vbn_status status);

/// The version of this library: major << 16 | minor << 8 | patch.
///
/// - Ownership: none.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
uint32_t vbn_version(void);

/// The version of this library as text, such as "0.1.0".
///
/// - Ownership: a constant; not to be freed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none; never NULL.
/// - Since: 0.1
/// - Source: this library
const char *vbn_version_string(void);

/// Says where libibverbs shall be loaded from. Optional: without it, VBN_IBVERBS_LIBRARY of the environment (unless
/// the program runs with more rights than its caller) or else libibverbs.so.1 is loaded when it is first needed.
///
/// Nothing is loaded by this call. Once the library is loaded, only the same setting again is accepted.
///
/// - Ownership: the path is copied; `handle`, and what `lookup` returns, must stay valid for ever.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_BUSY (already loaded from elsewhere).
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_library_init(const vbn_library_attr *attr);

/// Tells whether a library is loaded, from where and how old it is, or why it can't be loaded. Tries to load it first.
///
/// `library` is VBN_LIBRARY_IBVERBS. That it can't be loaded is an answer, not an error.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_library_query(int32_t library,
                             vbn_library_info *info);

/// Tells one of the symbols that a library lacks: `index` is 0 .. missing_count - 1 of vbn_library_query.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_FOUND (it lacks fewer), VBN_ERR_LIBRARY_MISSING.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_library_missing(int32_t library, uint32_t index, vbn_symbol_info *info);

/// Makes fork() safe for the parent's registered memory on kernels that don't do so by themselves (before 5.12). Where
/// the kernel does, or when it has been called before, it succeeds at once.
///
/// It costs every registration a system call, so it is the caller's choice. It must come before the first
/// registration of the process. Handles stay unusable in the child with or without it.
///
/// - Ownership: none.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded.
/// - Errors: VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER
///   (errno EINVAL: too late, memory has been registered).
/// - Since: 0.1
/// - Source: ibv_fork_init(3)
vbn_status vbn_fork_init(void);

/// Registers `length` bytes at `addr`, so that the device may use them as `access` (VBN_ACCESS_*) says.
///
/// Neither needs to be page-aligned. Optional flags (VBN_ACCESS_RELAXED_ORDERING) are dropped for kernels that don't
/// know them. When the device or the process's limit on locked memory does not allow it, the error says the size asked
/// for (`value`) and the limit (`limit`). `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_mr_close. It keeps `pd` alive. The memory stays the
///   caller's and must stay mapped until the close has succeeded.
/// - Threads: MT-safe.
/// - Blocks: while the kernel pins the pages, the longer the more there are.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (length above the device's max_mr_size), VBN_ERR_TOO_NEW,
///   VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER (sys_errno EFAULT: not mapped).
/// - Since: 0.1
/// - Source: ibv_reg_mr(3)
vbn_status vbn_mr_reg(vbn_pd *pd,
                      void *addr,
                      uint64_t length,
                      uint64_t access,
                      const vbn_mr_attr *attr,
                      vbn_mr **out);

/// Registers `length` bytes from `offset` of the dma-buf `fd`, which requests then address from `iova` on.
///
/// `iova` and `offset` must be equal modulo the page size. For GPU memory `iova` is usually the device pointer. `attr`
/// may be NULL; VBN_MR_SET_IOVA is refused in it. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_mr_close. It keeps `pd` alive. `fd` stays the caller's and
///   may be closed at once: the region holds the dma-buf itself.
/// - Threads: MT-safe.
/// - Blocks: while the exporter maps the memory.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (length above the device's max_mr_size), VBN_ERR_TOO_NEW,
///   VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED (the driver has no dma-buf), VBN_ERR_SYMBOL_MISSING (rdma-core before
///   34), VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_reg_dmabuf_mr(3)
vbn_status vbn_mr_reg_dmabuf(vbn_pd *pd,
                             int32_t fd,
                             uint64_t offset,
                             uint64_t length,
                             uint64_t iova,
                             uint64_t access,
                             const vbn_mr_attr *attr,
                             vbn_mr **out);

/// Deregisters a memory region and sets `*mr` to NULL.
///
/// Only after success may the memory be freed. When the driver refuses (a memory window is bound), the device may still
/// use the memory: the error is returned, the handle stays valid and keeps its `owner`.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (also: another thread is inside a call on the handle), VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_dereg_mr(3)
vbn_status vbn_mr_close(vbn_mr **mr);

/// Tells what is known of a memory region: its addresses, keys and owner.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_mr_query(const vbn_mr *mr, vbn_mr_info *info);

/// The key for one's own requests; 0 for NULL or a handle that can't be used.
///
/// - Ownership: none.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
uint32_t vbn_mr_lkey(const vbn_mr *mr);

/// The key for peers; 0 for NULL or a handle that can't be used.
///
/// - Ownership: none.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
uint32_t vbn_mr_rkey(const vbn_mr *mr);

/// Where the region begins for peers, and in a vbn_sge; 0 for NULL or a handle that can't be used.
///
/// - Ownership: none.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
uint64_t vbn_mr_remote_addr(const vbn_mr *mr);

/// Cuts `length` bytes from `offset` of a region into segments of at most `max_segment` bytes (0: 1 GiB), since the
/// length of a vbn_sge has 32 bits only.
///
/// Writes up to `capacity` segments to `sges`, their number to `*count_out` and the bytes they cover to `*covered_out`.
/// If that is less than `length`, go on at `offset + *covered_out`. After a failure both are 0.
///
/// - Ownership: none; the segments are good until the region is closed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (a length or capacity of 0, or a range that is not inside the region).
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_mr_segments(const vbn_mr *mr,
                           uint64_t offset,
                           uint64_t length,
                           uint32_t max_segment,
                           vbn_sge *sges,
                           uint32_t capacity,
                           uint32_t *count_out,
                           uint64_t *covered_out);

/// Lends the `ibv_mr`. It stays this library's: don't deregister it, and don't use it after the handle is closed.
///
/// For a dma-buf region `ibv_mr.addr` is the offset within the dma-buf; requests use vbn_mr_remote_addr.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_mr_native(const vbn_mr *mr,
                         struct ibv_mr **native_out);

/// Gives the `ibv_mr` away: the handle ends, the registration lives on and is the caller's to deregister.
///
/// The handle's `owner` is forgotten: keep the memory until the region is deregistered.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*mr` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (another thread is inside a call on it).
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_mr_release(vbn_mr **mr, struct ibv_mr **native_out);

/// Makes a handle for an `ibv_mr` that raw verbs registered in the `ibv_pd` of `pd`.
///
/// `native` must be a live ibv_mr. Nothing in it says at which address requests find it: unless `attr` has
/// VBN_ADOPT_SET_IOVA, ibv_mr.addr is taken. That is wrong for a region registered with another iova, for a dma-buf
/// and for a zero-based one: give their iova. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_mr_adopt(vbn_pd *pd,
                        struct ibv_mr *native,
                        const vbn_adopt_attr *attr,
                        vbn_mr **out);

/// Name of a VBN_QPT_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_create_qp(3)
const char *vbn_qp_type_name(int32_t value);

/// Name of a VBN_QPS_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
const char *vbn_qp_state_name(int32_t value);

/// Name of a VBN_MTU_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_port(3)
const char *vbn_mtu_name(int32_t value);

/// Name of a VBN_PORT_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_port(3)
const char *vbn_port_state_name(int32_t value);

/// Name of a VBN_LINK_LAYER_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_port(3)
const char *vbn_link_layer_name(int32_t value);

/// Name of a VBN_NODE_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_get_device_list(3)
const char *vbn_node_type_name(int32_t value);

/// Name of a VBN_TRANSPORT_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_get_device_list(3)
const char *vbn_transport_name(int32_t value);

/// Name of a VBN_WC_* status value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_poll_cq(3)
const char *vbn_wc_status_name(int32_t value);

/// Name of a VBN_WC_* opcode value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_poll_cq(3)
const char *vbn_wc_opcode_name(int32_t value);

/// Name of a VBN_EVENT_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_get_async_event(3)
const char *vbn_event_type_name(int32_t value);

/// Name of a VBN_GID_TYPE_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_gid_ex(3)
const char *vbn_gid_type_name(int32_t value);

/// Name of a VBN_WR_* operation.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_post_send(3)
const char *vbn_wr_opcode_name(uint32_t value);

/// Name of a VBN_ELEMENT_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_element_name(int32_t value);

/// Name of a VBN_REASON_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_device_list_reason_name(int32_t value);

/// Name of a VBN_GID_* verdict value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_gid_verdict_name(int32_t value);

/// Name of a VBN_GID_FAMILY_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_gid_family_name(int32_t value);

/// Name of a VBN_MR_* kind value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_mr_kind_name(int32_t value);

/// Name of a VBN_FORK_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_is_fork_initialized(3)
const char *vbn_fork_state_name(int32_t value);

/// Name of a VBN_LIBRARY_FROM_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_library_origin_name(int32_t value);

/// Name of VBN_ADOPT_BORROW, VBN_ADOPT_OWN or VBN_ADOPT_CUSTOM.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_ownership_name(int32_t value);

/// Name of a VBN_VENDOR_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_vendor_domain_name(int32_t value);

/// Name of a single VBN_ACCESS_* bit.
///
/// - Ownership: a constant text, never NULL; "unknown" for no bit, several, or an unknown one.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_reg_mr(3)
const char *vbn_access_flag_name(uint64_t bit);

/// Name of a single VBN_SEND_* bit.
///
/// - Ownership: a constant text, never NULL; "unknown" for no bit, several, or an unknown one.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_post_send(3)
const char *vbn_send_flag_name(uint64_t bit);

/// Name of a single VBN_WC_* flag bit.
///
/// - Ownership: a constant text, never NULL; "unknown" for no bit, several, or an unknown one.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_poll_cq(3)
const char *vbn_wc_flag_name(uint64_t bit);

/// Name of a single VBN_QP_* attribute bit.
///
/// - Ownership: a constant text, never NULL; "unknown" for no bit, several, or an unknown one.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
const char *vbn_qp_attr_name(uint64_t bit);

/// Allocates a protection domain, in which memory is registered and queue pairs are made.
///
/// `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_pd_close. It keeps `context` alive.
/// - Threads: MT-safe.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_alloc_pd(3)
vbn_status vbn_pd_alloc(vbn_context *context, const vbn_pd_attr *attr, vbn_pd **out);

/// Closes a protection domain and sets `*pd` to NULL.
///
/// With regions or queue pairs of this library left in it, the call succeeds and the last of them deallocates it. When
/// the driver refuses (objects made by raw verbs are left), the error is returned and the handle stays valid.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_dealloc_pd(3)
vbn_status vbn_pd_close(vbn_pd **pd);

/// Tells what is known of a protection domain.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_pd_query(const vbn_pd *pd, vbn_pd_info *info);

/// Lends the `ibv_pd`. It stays this library's: don't deallocate it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_pd_native(const vbn_pd *pd,
                         struct ibv_pd **native_out);

/// Gives the `ibv_pd` away: the handle ends, the object lives on and is the caller's to deallocate.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*pd` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (handles of this library use it).
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_pd_release(vbn_pd **pd, struct ibv_pd **native_out);

/// Makes a handle for an `ibv_pd` that raw verbs made on the `ibv_context` of `context`.
///
/// `native` must be a live ibv_pd. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_pd_adopt(vbn_context *context,
                        struct ibv_pd *native,
                        const vbn_adopt_attr *attr,
                        vbn_pd **out);

/// Creates a queue pair in the state RESET.
///
/// `attr` is required: it names at least `send_cq`. The device may grant more than was asked for; vbn_qp_query tells.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_qp_close; NULL after a failure. It keeps `pd` and the
///   completion queues alive.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (a depth or number of segments above the device's), VBN_ERR_TOO_NEW,
///   VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED (type or operations), VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_create_qp(3)
vbn_status vbn_qp_create(vbn_pd *pd,
                         const vbn_qp_init_attr *attr,
                         vbn_qp **out);

/// Closes a queue pair, destroys it at once and sets `*qp` to NULL. Requests still on it never complete; their buffers
/// are free afterwards.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may be under way or start afterwards.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (another thread is inside a call, or the driver refuses; the handle stays
///   valid), VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_destroy_qp(3)
vbn_status vbn_qp_close(vbn_qp **qp);

/// Tells the attributes as the device has them, the capacities that it granted, and what was given at creation.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_query_qp(3)
vbn_status vbn_qp_query(const vbn_qp *qp,
                        vbn_qp_info *info);

/// The queue pair's number, which peers need and completions carry; 0 for a handle that can't be used.
///
/// - Ownership: nothing changes hands.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
uint32_t vbn_qp_num(const vbn_qp *qp);

/// Changes the attributes that `attr->set` names: raw ibv_modify_qp, for what vbn_qp_connect_rc does not do. To take a
/// queue pair to RESET or ERR, set VBN_QP_STATE alone. A refusal names the attribute at fault where it can be told.
///
/// - Ownership: reads the caller's `*attr`.
/// - Threads: MT-safe.
/// - Blocks: for a system call; going to RTR may wait for the peer's address (seconds).
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER (sys_errno
///   EINVAL, ETIMEDOUT, ENETUNREACH, ...).
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
vbn_status vbn_qp_modify(vbn_qp *qp,
                         const vbn_qp_attr *attr);

/// Posts `n` requests to the send queue. `*posted` is always written: `wrs[0..*posted)` are on the queue, and
/// `wrs[*posted]` is the first that is not. All requests are checked before the first is posted, so a request that is
/// wrong leaves `*posted` 0 and its index in the error record.
///
/// A full queue takes as many as fit: VBN_ERR_QUEUE_FULL; poll completions, then post the rest. VBN_ERR_UNCERTAIN means
/// that the driver failed without naming a request: `*posted` counts all that it was handed, and they may run later
/// (soft-RoCE does so when posting before RTS).
///
/// - Ownership: the requests and segment lists are the caller's and free after the call; the memory that they name must
///   stay until their completion (until return with VBN_SEND_INLINE).
/// - Threads: as thread-safe as the driver; most lock inside. Not concurrently with closing the handle.
/// - Blocks: no. No allocation, lock or system call of this library's.
/// - Errors: VBN_ERR_QUEUE_FULL, VBN_ERR_UNCERTAIN, VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (num_sge, inline or message
///   length), VBN_ERR_NOT_SUPPORTED (an operation that the queue pair does not have), VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_post_send(3)
vbn_status vbn_qp_post_send(vbn_qp *qp,
                            const vbn_send_wr *wrs,
                            uint32_t n,
                            uint32_t *posted);

/// Posts `n` receives. `*posted` as for vbn_qp_post_send. Receives may be posted from INIT on.
///
/// - Ownership: the requests and segment lists are free after the call; the memory that they name belongs to the device
///   until their completion.
/// - Threads: as thread-safe as the driver; most lock inside. Not concurrently with closing the handle.
/// - Blocks: no. No allocation, lock or system call of this library's.
/// - Errors: VBN_ERR_QUEUE_FULL, VBN_ERR_UNCERTAIN, VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (num_sge), VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_post_recv(3)
vbn_status vbn_qp_post_recv(vbn_qp *qp,
                            const vbn_recv_wr *wrs,
                            uint32_t n,
                            uint32_t *posted);

/// The first failed completion of this queue pair that was not a flush (VBN_WC_WR_FLUSH_ERR): why it went into the error
/// state. It is noted when vbn_cq_poll or vbn_cq_wait return it, whatever flushes came before or after, and kept until the
/// queue pair goes to RESET. Completions of before RESET that are polled after it count like new ones: poll them first.
///
/// - Ownership: fills the caller's `*wc`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_NOT_FOUND (none so far), VBN_ERR_ARGUMENT.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_qp_first_error(const vbn_qp *qp,
                              vbn_wc *wc);

/// Lends the `ibv_qp`. It stays this library's: don't destroy it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_qp_native(const vbn_qp *qp,
                         struct ibv_qp **native_out);

/// Gives the `ibv_qp` away: the handle ends, the queue pair lives on and is the caller's to destroy. Its PD and completion
/// queues must outlive it.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*qp` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (another thread is inside a call).
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_qp_release(vbn_qp **qp,
                          struct ibv_qp **native_out);

/// Makes a handle for an RC `ibv_qp` that raw verbs made in the `ibv_pd` of `pd`, in whatever state it is.
///
/// `native` must be a live ibv_qp. Completion queues of it that have handles are kept alive; vbn_qp_first_error sees only
/// what is polled through this library. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED (not RC), VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_qp_adopt(vbn_pd *pd,
                        struct ibv_qp *native,
                        const vbn_adopt_attr *attr,
                        vbn_qp **out);

/// Fills the record of one's own queue pair, to be sent to the peer: its number, a PSN (random unless `attr` gives one),
/// LID, GID, port and MTU. The same record is handed to vbn_qp_connect_rc, so the PSN is given once.
///
/// `attr` may be NULL. On RoCE the GID is what vbn_gid_select picks, unless `attr` names sgid_index.
///
/// - Ownership: fills the caller's `*record`.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (port, sgid_index), VBN_ERR_NOT_FOUND (no usable GID), VBN_ERR_TOO_NEW,
///   VBN_ERR_NO_MEMORY, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_rc_record_local(const vbn_qp *qp,
                               const vbn_rc_attr *attr,
                               vbn_rc_record *record);

/// Writes a record as VBN_RC_RECORD_SIZE (28) bytes, big-endian: qp_num, psn, lid, gid, port_num, mtu. The Python package
/// ibverbs (rdma4py) exchanges the same bytes.
///
/// - Ownership: reads `*record`, fills `bytes`, which must have room for `size` bytes.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (a field out of range, size not 28).
/// - Since: 0.1
/// - Source: rdma4py 2026.10.22, QPInfo
vbn_status vbn_rc_record_encode(const vbn_rc_record *record,
                                uint8_t *bytes,
                                size_t size);

/// Reads a record that came from a peer, and checks it.
///
/// - Ownership: reads `bytes`, fills the caller's `*record`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (size not 28, a field out of range).
/// - Since: 0.1
/// - Source: rdma4py 2026.10.22, QPInfo
vbn_status vbn_rc_record_decode(const uint8_t *bytes, size_t size, vbn_rc_record *record);

/// Takes an RC queue pair from RESET (or INIT) to INIT: port, pkey index, and what the peer may do to memory. From here on
/// receives may be posted. vbn_qp_connect_rc does this too.
///
/// `attr` may be NULL.
///
/// - Ownership: reads the caller's structs.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (port, pkey_index), VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
vbn_status vbn_qp_to_init(vbn_qp *qp,
                          const vbn_rc_attr *attr);

/// Takes an RC queue pair from INIT to RTR, ready to receive from the peer of `remote`.
///
/// `attr` may be NULL.
///
/// - Ownership: reads the caller's structs.
/// - Threads: MT-safe.
/// - Blocks: for system calls; may wait for the peer's address (seconds).
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (port, path_mtu, max_dest_rd_atomic), VBN_ERR_NOT_FOUND (the local
///   record's GID is not in the port's table), VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_DRIVER (sys_errno ETIMEDOUT,
///   ENETUNREACH, EINVAL, ...).
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
vbn_status vbn_qp_to_rtr(vbn_qp *qp,
                         const vbn_rc_record *local,
                         const vbn_rc_record *remote,
                         const vbn_rc_attr *attr);

/// Takes an RC queue pair from RTR to RTS, ready to send.
///
/// `attr` may be NULL.
///
/// - Ownership: reads the caller's structs.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (max_rd_atomic), VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_DRIVER.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
vbn_status vbn_qp_to_rts(vbn_qp *qp,
                         const vbn_rc_record *local,
                         const vbn_rc_attr *attr);

/// Connects an RC queue pair to its peer: from wherever it is to RTS. `local` is what vbn_rc_record_local made and the peer
/// was sent, `remote` what the peer sent. Every parameter can be overridden by `attr`, which may be NULL.
///
/// A queue pair that is already connected is fine if it shows the same peer. After a failure the call may be repeated. Two
/// threads that connect one queue pair do so one after the other.
///
/// - Ownership: reads the caller's structs.
/// - Threads: MT-safe.
/// - Blocks: for system calls; may wait for the peer's address (seconds). It does not wait for the peer itself.
/// - Errors: VBN_ERR_ARGUMENT (also: connected to another peer, or in a state from which there is no way),
///   VBN_ERR_LIMIT (port, pkey_index, path_mtu, max_rd_atomic, max_dest_rd_atomic), VBN_ERR_NOT_FOUND (the local
///   record's GID is not in the port's table), VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_DRIVER (sys_errno ETIMEDOUT,
///   ENETUNREACH, EINVAL, ...).
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
vbn_status vbn_qp_connect_rc(vbn_qp *qp,
                             const vbn_rc_record *local,
                             const vbn_rc_record *remote,
                             const vbn_rc_attr *attr);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* VERBENA_H */
