/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * libverbena: RDMA for C, C++, Go and Julia.
 *
 * This header is the reference. It is made from the sources by cbindgen; don't edit it.
 *
 * Conventions
 *   - A call returns a vbn_status: VBN_OK (0) or a negative VBN_ERR_* code. vbn_last_error() tells the rest, per thread.
 *     "Errors" of each call names every code that it can return. Those that many share:
 *     VBN_ERR_CLOSED: the handle is closed; VBN_ERR_FORKED: it is the parent process's; VBN_ERR_DEVICE_GONE: its device has been
 *     removed, and only close and calls that say so still work; VBN_ERR_LIMIT (references): 8 million children and calls use it;
 *     VBN_ERR_BUSY from a close that needs to be alone on it, or from a post or poll that met such a close;
 *     VBN_ERR_INTERNAL: a defect of this library was caught in the call, or earlier on the handle;
 *     VBN_ERR_DRIVER: the driver failed with an errno; where the errno has a meaning of its own the code is VBN_ERR_NO_MEMORY,
 *     VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED or VBN_ERR_DEVICE_GONE instead. sys_errno of the record has it in any case.
 *   - The object comes first, outputs come last. Outputs are written on success only, except where a function says more;
 *     a constructor sets *out to NULL first.
 *   - A struct that begins with struct_size is set to zero and given its sizeof; all zero means default. Later versions
 *     append fields. Where zero is itself a setting, a `set` mask says which fields count.
 *   - vbn_sge, vbn_send_wr, vbn_recv_wr, vbn_bind_mw_ext, vbn_flush_ext, vbn_wc, vbn_wc_ext, vbn_path, vbn_rc_record, vbn_endpoint,
 *     vbn_endpoint_gid, vbn_region_entry, vbn_region_nic and vbn_cm_addr never change.
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
struct ibv_mw;
struct ibv_dm;
struct ibv_td;
struct ibv_flow;
struct ibv_counters;
struct ibv_comp_channel;
struct ibv_cq;
struct ibv_qp;
struct ibv_ah;
struct rdma_event_channel;
struct rdma_cm_id;
struct ibv_srq;
struct ibv_xrcd;

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

/// `vendor_domain`: `vendor_code` is the CUresult of a function of the CUDA driver.
#define VBN_VENDOR_CUDA 2

/// `vendor_domain`: `vendor_code` is the hsa_status_t of a function of AMD's HSA runtime (ROCm).
#define VBN_VENDOR_HSA 3

/// Longest device or object name kept, its terminating zero included (the kernel's limit for device names is 64).
#define VBN_NAME_SIZE 64

/// `vbn_caps.caps`: reliable connected queue pairs.
#define VBN_CAP_RC (1ull << 0)

/// `vbn_caps.caps`: unreliable connected queue pairs.
#define VBN_CAP_UC (1ull << 1)

/// `vbn_caps.caps`: unreliable datagram queue pairs.
#define VBN_CAP_UD (1ull << 2)

/// `vbn_caps.caps`: EFA's scalable reliable datagram queue pairs.
#define VBN_CAP_SRD (1ull << 3)

/// `vbn_caps.caps`: extended reliable connected queue pairs.
#define VBN_CAP_XRC (1ull << 4)

/// `vbn_caps.caps`: SEND. Operations are those of the reliable transport, RC or SRD.
#define VBN_CAP_SEND (1ull << 8)

/// `vbn_caps.caps`: SEND with immediate.
#define VBN_CAP_SEND_IMM (1ull << 9)

/// `vbn_caps.caps`: RDMA WRITE.
#define VBN_CAP_WRITE (1ull << 10)

/// `vbn_caps.caps`: RDMA WRITE with immediate.
#define VBN_CAP_WRITE_IMM (1ull << 11)

/// `vbn_caps.caps`: RDMA READ.
#define VBN_CAP_READ (1ull << 12)

/// `vbn_caps.caps`: compare-and-swap and fetch-and-add, atomic among requests of this device.
#define VBN_CAP_ATOMICS (1ull << 13)

/// `vbn_caps.caps`: the same, atomic with the CPU and other devices too.
#define VBN_CAP_ATOMICS_GLOBAL (1ull << 14)

/// `vbn_caps.caps`: atomic WRITE of 8 bytes.
#define VBN_CAP_ATOMIC_WRITE (1ull << 15)

/// `vbn_caps.caps`: FLUSH of remote memory to global visibility.
#define VBN_CAP_FLUSH (1ull << 16)

/// `vbn_caps.caps`: SEND that invalidates a remote key, and local invalidation.
#define VBN_CAP_INVALIDATE (1ull << 17)

/// `vbn_caps.caps`: requests that complete without a completion when they succeed.
#define VBN_CAP_UNSIGNALED (1ull << 20)

/// `vbn_caps.caps`: requests that wait for earlier READs and atomics.
#define VBN_CAP_FENCE (1ull << 21)

/// `vbn_caps.caps`: requests that raise a solicited event at the receiver.
#define VBN_CAP_SOLICITED (1ull << 22)

/// `vbn_caps.caps`: SENDs whose data is copied when they are posted.
#define VBN_CAP_INLINE (1ull << 23)

/// `vbn_caps.caps`: WRITEs whose data is copied when they are posted.
#define VBN_CAP_INLINE_WRITE (1ull << 24)

/// `vbn_caps.caps`: requests of a queue pair take effect at the peer in the order in which they were posted.
#define VBN_CAP_ORDERED (1ull << 25)

/// `vbn_caps.caps`: how often to try again while the receiver has no receive posted can be set.
#define VBN_CAP_RNR_RETRY (1ull << 26)

/// `vbn_caps.caps`: WRITEs with immediate that take no receive at the peer.
#define VBN_CAP_UNSOLICITED_WRITE_RECV (1ull << 27)

/// `vbn_caps.caps`: a failed request leaves the queue pair and its other requests alone.
#define VBN_CAP_ERRORS_ISOLATED (1ull << 28)

/// `vbn_caps.caps`: hints to the device in a request.
#define VBN_CAP_PROCESSING_HINTS (1ull << 29)

/// `vbn_caps.caps`: completion queues that report to a channel.
#define VBN_CAP_NOTIFY (1ull << 32)

/// `vbn_caps.caps`: the same for solicited completions alone.
#define VBN_CAP_NOTIFY_SOLICITED (1ull << 33)

/// `vbn_caps.caps`: completions that tell the GID of a sender who has no address handle here.
#define VBN_CAP_WC_SGID (1ull << 34)

/// `vbn_caps.caps`: completions with a time stamp of the device.
#define VBN_CAP_WC_TIMESTAMP (1ull << 35)

/// `vbn_caps.caps`: counters of completions instead of queues.
#define VBN_CAP_COMP_CNTR (1ull << 36)

/// `vbn_caps.caps`: completion queues in a dma-buf.
#define VBN_CAP_CQ_DMABUF (1ull << 37)

/// `vbn_caps.caps`: regions in a dma-buf. Whether an exporter's memory is within reach, registering it tells.
#define VBN_CAP_DMABUF (1ull << 40)

/// `vbn_caps.caps`: regions with relaxed PCIe ordering. No device has this bit, and each VBN_ABSENCE_UNKNOWN: no query of
/// rdma-core 33 to 65 tells, and VBN_ACCESS_RELAXED_ORDERING is accepted where it changes nothing.
#define VBN_CAP_RELAXED_ORDERING (1ull << 41)

/// `vbn_caps.caps`: regions that are not pinned but paged in on demand.
#define VBN_CAP_ODP (1ull << 42)

/// `vbn_caps.caps`: memory windows.
#define VBN_CAP_MW (1ull << 43)

/// `vbn_caps.caps`: memory of the device's own.
#define VBN_CAP_DEVICE_MEMORY (1ull << 44)

/// `vbn_caps.caps`: receive queues that queue pairs share.
#define VBN_CAP_SRQ (1ull << 48)

/// `vbn_caps.caps`: multicast.
#define VBN_CAP_MULTICAST (1ull << 49)

/// `vbn_caps.absence`: the capability is there, or this library doesn't know it.
#define VBN_ABSENCE_NONE 0

/// `vbn_caps.absence`: nothing tells, or the attempt failed for another reason; `detail` is its errno, or 0. Try it.
#define VBN_ABSENCE_UNKNOWN 1

/// `vbn_caps.absence`: the device's transport has no such thing.
#define VBN_ABSENCE_TRANSPORT 2

/// `vbn_caps.absence`: the device doesn't report it.
#define VBN_ABSENCE_DEVICE 3

/// `vbn_caps.absence`: the loaded rdma-core is too old to know it; `detail` is the release that brought it. Whether the
/// device has it can't be told before.
#define VBN_ABSENCE_LIBRARY 4

/// `vbn_caps.absence`: the device doesn't report it, or the loaded rdma-core is older than release `detail`.
#define VBN_ABSENCE_LIBRARY_OR_DEVICE 5

/// `vbn_caps.absence`: the driver or the kernel refused to try it; `detail` is the errno.
#define VBN_ABSENCE_DRIVER 6

/// `vbn_rt_values.valid`: raw_clock_sec and raw_clock_nsec.
#define VBN_RT_RAW_CLOCK 1

/// `vbn_cm_conn_attr.set`: responder_resources.
#define VBN_CM_CONN_SET_RESPONDER_RESOURCES 1

/// `vbn_cm_conn_attr.set`: initiator_depth.
#define VBN_CM_CONN_SET_INITIATOR_DEPTH 2

/// `vbn_cm_conn_attr.set`: retry_count.
#define VBN_CM_CONN_SET_RETRY_COUNT 4

/// `vbn_cm_conn_attr.set`: rnr_retry_count.
#define VBN_CM_CONN_SET_RNR_RETRY_COUNT 8

/// The address was resolved: the id has a device. Next: vbn_cm_id_resolve_route.
#define VBN_CM_EVENT_ADDR_RESOLVED 0

/// The address could not be resolved; `status` is a negated errno.
#define VBN_CM_EVENT_ADDR_ERROR 1

/// The route is known. Next: make a queue pair and connect.
#define VBN_CM_EVENT_ROUTE_RESOLVED 2

/// The route could not be resolved; `status` is a negated errno.
#define VBN_CM_EVENT_ROUTE_ERROR 3

/// A client wants to connect to a listening id: there is a new id for it.
#define VBN_CM_EVENT_CONNECT_REQUEST 4

/// The server has accepted an id that has no queue pair of librdmacm's.
#define VBN_CM_EVENT_CONNECT_RESPONSE 5

/// The connection could not be established; `status` is a negated errno.
#define VBN_CM_EVENT_CONNECT_ERROR 6

/// The server did not answer, or, for datagrams, offers no such service; `status` tells.
#define VBN_CM_EVENT_UNREACHABLE 7

/// The server refused; `status` is the reason, as InfiniBand numbers them: 28 if the program there refused, 8 if nobody listens.
#define VBN_CM_EVENT_REJECTED 8

/// The connection is up; for datagrams, the peer is known.
#define VBN_CM_EVENT_ESTABLISHED 9

/// The peer has disconnected, or one's own vbn_cm_id_disconnect is through.
#define VBN_CM_EVENT_DISCONNECTED 10

/// The device goes away: close everything that is on it.
#define VBN_CM_EVENT_DEVICE_REMOVAL 11

/// Joined a multicast group (by raw librdmacm).
#define VBN_CM_EVENT_MULTICAST_JOIN 12

/// Could not join a multicast group, or lost it.
#define VBN_CM_EVENT_MULTICAST_ERROR 13

/// The network's address of the id has changed.
#define VBN_CM_EVENT_ADDR_CHANGE 14

/// The queue pair has left the time-wait state: its number may be used again.
#define VBN_CM_EVENT_TIMEWAIT_EXIT 15

/// Connections: RC queue pairs, with the port numbers of TCP's kind (but apart from TCP's).
#define VBN_CM_PS_TCP 262

/// Datagrams: UD queue pairs.
#define VBN_CM_PS_UDP 273

/// InfiniBand's own service ids.
#define VBN_CM_PS_IB 319

/// `vbn_cm_id_attr.set`: tos.
#define VBN_CM_ID_SET_TOS 1

/// `vbn_cm_id_attr.set`: reuse_addr.
#define VBN_CM_ID_SET_REUSE_ADDR 2

/// `vbn_cm_id_attr.set`: only_v6.
#define VBN_CM_ID_SET_ONLY_V6 4

/// `vbn_cm_id_attr.set`: ack_timeout.
#define VBN_CM_ID_SET_ACK_TIMEOUT 8

/// Largest record that grows, in bytes, whatever its kind: a slot of this size holds any.
#define VBN_RECORD_MAX_SIZE 1024

/// Bytes of its header, which tell how long it is: bytes 4 and 5, big-endian, are the length of the whole.
#define VBN_RECORD_HEADER_SIZE 8

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

/// `counter` of vbn_counters_attach: packets.
#define VBN_COUNTER_PACKETS 0

/// `counter` of vbn_counters_attach: bytes.
#define VBN_COUNTER_BYTES 1

/// `flags` of vbn_counters_read: what the driver knows already is fresh enough.
#define VBN_COUNTERS_PREFER_CACHED 1

/// `wait_mode`: it sleeps between polls, longer and longer up to a millisecond: the queue has no channel (of this library's).
#define VBN_CQ_WAIT_SLEEP 0

/// `wait_mode`: it sleeps until the device's event comes.
#define VBN_CQ_WAIT_EVENT 1

/// `vbn_cq_modify_attr.set`: moderation_count and moderation_period_us.
#define VBN_CQ_SET_MODERATION 1

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

/// `vbn_dltensor.device_type`: memory of the host (DLPack's kDLCPU).
#define VBN_DL_CPU 1

/// `vbn_dltensor.device_type`: CUDA (kDLCUDA).
#define VBN_DL_CUDA 2

/// `vbn_dltensor.device_type`: memory of the host that CUDA has pinned (kDLCUDAHost).
#define VBN_DL_CUDA_HOST 3

/// `vbn_dltensor.device_type`: ROCm (kDLROCM).
#define VBN_DL_ROCM 10

/// `vbn_dltensor.device_type`: memory of the host that ROCm has pinned (kDLROCMHost).
#define VBN_DL_ROCM_HOST 11

/// `vbn_dltensor.device_type`: CUDA's managed memory (kDLCUDAManaged), which no NIC can be given.
#define VBN_DL_CUDA_MANAGED 13

/// SRD queue pairs can READ.
#define VBN_EFA_CAP_RDMA_READ 1

/// rnr_retry can be set at the transition to RTS.
#define VBN_EFA_CAP_RNR_RETRY (1 << 1)

/// Completions can tell the GID of a sender that has no address handle here.
#define VBN_EFA_CAP_CQ_WITH_SGID (1 << 2)

/// SRD queue pairs can WRITE. libefa tells it, and can do it, since rdma-core 46.
#define VBN_EFA_CAP_RDMA_WRITE (1 << 3)

/// WRITE with immediate can arrive without consuming a receive. libefa tells it since rdma-core 52.
#define VBN_EFA_CAP_UNSOLICITED_WRITE_RECV (1 << 4)

/// A completion queue can lie in a dma-buf. libefa tells it since rdma-core 59.
#define VBN_EFA_CAP_CQ_WITH_EXT_MEM_DMABUF (1 << 5)

/// There are counters of completions. libefa tells it since rdma-core 65.
#define VBN_EFA_CAP_COMP_CNTR (1 << 6)

/// `vbn_efa_sq_attr.flags`: inline data in WRITE.
#define VBN_EFA_SQ_INLINE_WRITE 1

/// `vbn_efa_wq_info.caps`: request ids have 64 bits. libefa tells it since rdma-core 65.
#define VBN_EFA_WQ_64_BIT_REQ_ID 1

/// `vbn_efa_mr_info.valid`: recv_ic_id counts.
#define VBN_EFA_MR_RECV_IC_ID 1

/// `vbn_efa_mr_info.valid`: rdma_read_ic_id counts.
#define VBN_EFA_MR_RDMA_READ_IC_ID (1 << 1)

/// `vbn_efa_mr_info.valid`: rdma_recv_ic_id counts.
#define VBN_EFA_MR_RDMA_RECV_IC_ID (1 << 2)

/// Bytes of an encoded endpoint.
#define VBN_ENDPOINT_SIZE 24

/// How many GIDs a vbn_endpoint_info has room for.
#define VBN_ENDPOINT_MAX_GIDS 8

/// `vbn_endpoint_info.set`: psn. Needed for RC and UC.
#define VBN_ENDPOINT_SET_PSN (1 << 0)

/// `vbn_endpoint_info.set`: qkey. Needed for UD and SRD.
#define VBN_ENDPOINT_SET_QKEY (1 << 1)

/// `vbn_endpoint_info.set`: lid.
#define VBN_ENDPOINT_SET_LID (1 << 2)

/// `vbn_endpoint_info.set`: port_num.
#define VBN_ENDPOINT_SET_PORT_NUM (1 << 3)

/// `vbn_endpoint_info.set`: mtu.
#define VBN_ENDPOINT_SET_MTU (1 << 4)

/// `vbn_endpoint_info.set`: max_message.
#define VBN_ENDPOINT_SET_MAX_MESSAGE (1 << 5)

/// `vbn_endpoint_info.set`: max_rd_atomic and max_dest_rd_atomic.
#define VBN_ENDPOINT_SET_READ_DEPTH (1 << 6)

/// `vbn_endpoint_info.set`: unsolicited.
#define VBN_ENDPOINT_SET_UNSOLICITED (1 << 7)

/// `vbn_endpoint_info.set`: efa_generation.
#define VBN_ENDPOINT_SET_EFA_GENERATION (1 << 8)

/// `vbn_endpoint_info.set`: ece_vendor_id, ece_options and ece_comp_mask.
#define VBN_ENDPOINT_SET_ECE (1 << 9)

/// `vbn_endpoint_info.set`: incarnation.
#define VBN_ENDPOINT_SET_INCARNATION (1 << 10)

/// `vbn_endpoint_info_attr.set`: psn.
#define VBN_ENDPOINT_ATTR_SET_PSN (1 << 0)

/// `vbn_endpoint_info_attr.set`: sgid_index.
#define VBN_ENDPOINT_ATTR_SET_SGID_INDEX (1 << 1)

/// `vbn_endpoint_info_attr.set`: max_rd_atomic.
#define VBN_ENDPOINT_ATTR_SET_MAX_RD_ATOMIC (1 << 2)

/// `vbn_endpoint_info_attr.set`: max_dest_rd_atomic.
#define VBN_ENDPOINT_ATTR_SET_MAX_DEST_RD_ATOMIC (1 << 3)

/// `vbn_endpoint_info_attr.set`: unsolicited.
#define VBN_ENDPOINT_ATTR_SET_UNSOLICITED (1 << 4)

/// Mismatch: the queue pairs are of different types.
#define VBN_MISMATCH_TRANSPORT (1 << 0)

/// Mismatch: VBN_QP_UNSOLICITED_WRITE_RECV is set on one side only.
#define VBN_MISMATCH_UNSOLICITED (1 << 1)

/// Mismatch: generations of EFA that can't READ from each other.
#define VBN_MISMATCH_EFA_GENERATION (1 << 2)

/// Mismatch: no GID of this side reaches one of the peer's.
#define VBN_MISMATCH_GID (1 << 3)

/// Mismatch: both sides have vendor options for connections (ECE), of different vendors.
#define VBN_MISMATCH_ECE (1 << 4)

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

/// `driver`: not known, or one that nothing special is known of.
#define VBN_DRIVER_UNKNOWN 0

/// `driver`: mlx5 (NVIDIA ConnectX-4 and later).
#define VBN_DRIVER_MLX5 1

/// `driver`: soft-RoCE.
#define VBN_DRIVER_RXE 14

/// `driver`: AWS EFA.
#define VBN_DRIVER_EFA 17

/// `vbn_explain_attr.status`: no completion has come. Not a status that completions have.
#define VBN_EXPLAIN_SILENCE 65536

/// `vbn_explain_attr.set`: `opcode` counts.
#define VBN_EXPLAIN_SET_OPCODE 1

/// Room for every text of this version, its terminating zero included.
#define VBN_EXPLAIN_TEXT_SIZE 8192

/// `type` of vbn_flow_attr: what the specs say.
#define VBN_FLOW_NORMAL 0

/// `type` of vbn_flow_attr: all that no other rule takes.
#define VBN_FLOW_ALL_DEFAULT 1

/// `type` of vbn_flow_attr: all multicast packets that no other rule takes.
#define VBN_FLOW_MC_DEFAULT 2

/// `type` of vbn_flow_attr: everything that the port receives, whoever else gets it.
#define VBN_FLOW_SNIFFER 3

/// `flags` of vbn_flow_attr: packets go on to rules of lower priority, too.
#define VBN_FLOW_DONT_TRAP (1 << 1)

/// `flags` of vbn_flow_attr: a rule for what is sent.
#define VBN_FLOW_EGRESS (1 << 2)

/// Ethernet: dst_mac, src_mac, ether_type, vlan_tag.
#define VBN_FLOW_SPEC_ETH 32

/// IPv4: src_ip, dst_ip.
#define VBN_FLOW_SPEC_IPV4 48

/// IPv6: src_ip, dst_ip, flow_label, protocol, tos, ttl.
#define VBN_FLOW_SPEC_IPV6 49

/// IPv4: src_ip, dst_ip, protocol, tos, ttl, ip_flags.
#define VBN_FLOW_SPEC_IPV4_EXT 50

/// IPsec: esp_spi, esp_seq.
#define VBN_FLOW_SPEC_ESP 52

/// TCP: src_port, dst_port.
#define VBN_FLOW_SPEC_TCP 64

/// UDP: src_port, dst_port.
#define VBN_FLOW_SPEC_UDP 65

/// VXLAN: tunnel_id.
#define VBN_FLOW_SPEC_VXLAN 80

/// GRE: gre_flags, gre_protocol, gre_key.
#define VBN_FLOW_SPEC_GRE 81

/// MPLS: mpls_label.
#define VBN_FLOW_SPEC_MPLS 96

/// To be added to the type of a header: the one inside the tunnel.
#define VBN_FLOW_SPEC_INNER 256

/// The completions of such packets have `tag` (VBN_WC_EX_FLOW_TAG).
#define VBN_FLOW_SPEC_ACTION_TAG 4096

/// Such packets are dropped.
#define VBN_FLOW_SPEC_ACTION_DROP 4097

/// Such packets are counted in `counters`.
#define VBN_FLOW_SPEC_ACTION_COUNT 4099

/// Specs that a rule may have.
#define VBN_FLOW_MAX_SPECS 16

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

/// `kind`: whichever of the libraries below knows the address. Only those that the process has loaded are asked, since no other can
/// have made it.
#define VBN_GPU_KIND_ANY 0

/// `kind`: NVIDIA, by libcuda.so.1.
#define VBN_GPU_KIND_CUDA 1

/// `kind`: AMD, by libhsa-runtime64.so.1.
#define VBN_GPU_KIND_ROCM 2

/// Of fields that say yes (1) or no (0), and of some others: the driver doesn't tell.
#define VBN_GPU_UNKNOWN -1

/// `vbn_gpu_pointer_info.memory`: the GPU's library doesn't know the address. It is ordinary memory of the host, or nothing (any more).
#define VBN_GPU_MEMORY_UNKNOWN 0

/// `vbn_gpu_pointer_info.memory`: memory of the host that the GPU's library allocated or was told of.
#define VBN_GPU_MEMORY_HOST 1

/// `vbn_gpu_pointer_info.memory`: memory of a GPU.
#define VBN_GPU_MEMORY_DEVICE 2

/// `vbn_gpu_pointer_info.memory`: managed memory, which the driver moves between host and GPU. No NIC can be given it.
#define VBN_GPU_MEMORY_MANAGED 3

/// `vbn_gpu_pointer_info.allocation`: it can't be told.
#define VBN_GPU_ALLOCATION_UNKNOWN 0

/// `vbn_gpu_pointer_info.allocation`: one block, as of cuMemAlloc, cudaMalloc, hipMalloc.
#define VBN_GPU_ALLOCATION_PLAIN 1

/// `vbn_gpu_pointer_info.allocation`: made by cuMemCreate and mapped by cuMemMap, perhaps of several segments.
#define VBN_GPU_ALLOCATION_VMM 2

/// `vbn_gpu_pointer_info.allocation`: from a pool, as of cuMemAllocAsync, cudaMallocAsync.
#define VBN_GPU_ALLOCATION_POOL 3

/// `vbn_gpu_device_info.writes_ordering`: what a NIC has written must be flushed before work on a GPU reads it.
#define VBN_GPU_ORDERING_NONE 0

/// `vbn_gpu_device_info.writes_ordering`: the GPU that owns the memory sees it without a flush.
#define VBN_GPU_ORDERING_OWNER 100

/// `vbn_gpu_device_info.writes_ordering`: every GPU sees it without a flush.
#define VBN_GPU_ORDERING_ALL_DEVICES 200

/// `vbn_gpu_device_info.flush_options`: vbn_gpu_flush_writes works.
#define VBN_GPU_FLUSH_OPTION_HOST 1

/// `vbn_gpu_device_info.flush_options`: a stream can flush (cuStreamWaitValue32 and the like).
#define VBN_GPU_FLUSH_OPTION_MEMOPS 2

/// `scope` of vbn_gpu_flush_writes: for work on the GPU that owns the memory.
#define VBN_GPU_FLUSH_OWNER 100

/// `scope` of vbn_gpu_flush_writes: for work on any GPU.
#define VBN_GPU_FLUSH_ALL_DEVICES 200

/// `*done` of vbn_gpu_flush_writes: nothing had to be done, since the device orders such writes by itself.
#define VBN_GPU_FLUSH_NOT_NEEDED 0

/// `*done` of vbn_gpu_flush_writes: flushed.
#define VBN_GPU_FLUSH_DONE 1

/// `device` of vbn_gpu_flush_writes and vbn_gpu_synchronize: the device of the calling thread's current context.
#define VBN_GPU_DEVICE_CURRENT -2

/// `vbn_gpu_dmabuf_attr.flags`: the dma-buf shall lead over PCIe (the GPU's BAR1) where the GPU has another way to the host's memory
/// as well (Grace Hopper, Grace Blackwell). CUDA 12.8; refused where there is no choice.
#define VBN_GPU_DMABUF_PCIE 1

/// `paths`, and `path` of reports: one dma-buf of all of the memory.
#define VBN_GPU_PATH_DMABUF 1

/// `paths`, and `path` of reports: a dma-buf for each segment of VMM memory.
#define VBN_GPU_PATH_SEGMENTS 2

/// `paths`, and `path` of reports: registered by its address, which a peer-memory module of the kernel resolves (nvidia_peermem; on EFA the
/// driver's own, efa_nv_peermem).
#define VBN_GPU_PATH_PEER 4

/// `outcome` of a path: it was not tried, for `reason`.
#define VBN_GPU_ATTEMPT_NONE 0

/// `outcome` of a path: it failed, for `reason`.
#define VBN_GPU_ATTEMPT_FAILED 1

/// `outcome` of a path: the memory is registered this way.
#define VBN_GPU_ATTEMPT_WON 2

/// `*state` of vbn_gpu_mr_validate: it can't be told, as with ROCm.
#define VBN_GPU_MR_UNKNOWN 0

/// `*state` of vbn_gpu_mr_validate: the memory is what was registered.
#define VBN_GPU_MR_VALID 1

/// `*state` of vbn_gpu_mr_validate: at least a part of the memory has been freed. What comes in goes nowhere, or into pages that nobody sees.
#define VBN_GPU_MR_FREED 2

/// `*state` of vbn_gpu_mr_validate: at least a part of the memory has been freed, and its address is another allocation's now.
#define VBN_GPU_MR_REPLACED 3

/// libibverbs.so.1 of rdma-core.
#define VBN_LIBRARY_IBVERBS 0

/// libefa.so.1 of rdma-core, the provider of EFA devices. libibverbs loads it when it sees such a device, and libverbena
/// takes its functions from just that instance: no other copy accepts the device.
#define VBN_LIBRARY_EFA 1

/// librdmacm.so.1 of rdma-core, the connection manager. It uses the libibverbs that its own NEEDED entry finds, which must be
/// the one in use here.
#define VBN_LIBRARY_RDMACM 2

/// libcuda.so.1 of NVIDIA's driver, for the memory of its GPUs. The one that the process has loaded already, if any; it is never
/// initialised here (cuInit).
#define VBN_LIBRARY_CUDA 3

/// libhsa-runtime64.so.1 of AMD's ROCm, for the memory of its GPUs. The one that the process has loaded already, if any; it is
/// never initialised here (hsa_init).
#define VBN_LIBRARY_ROCM 4

/// `vbn_library_info.source`: libibverbs.so.1, where the dynamic linker looks for it; libefa.so.1 if something else has
/// loaded it.
#define VBN_LIBRARY_FROM_DEFAULT 0

/// `vbn_library_info.source`: the environment variable VBN_IBVERBS_LIBRARY, VBN_EFA_LIBRARY, VBN_RDMACM_LIBRARY, VBN_CUDA_LIBRARY
/// or VBN_ROCM_LIBRARY.
#define VBN_LIBRARY_FROM_ENV 1

/// `vbn_library_info.source`: the path given to vbn_library_init.
#define VBN_LIBRARY_FROM_PATH 2

/// `vbn_library_info.source`: the open library given to vbn_library_init.
#define VBN_LIBRARY_FROM_HANDLE 3

/// `vbn_library_info.source`: the lookup function given to vbn_library_init.
#define VBN_LIBRARY_FROM_LOOKUP 4

/// `vbn_library_info.source`: libibverbs, as the provider of a device. The usual for VBN_LIBRARY_EFA.
#define VBN_LIBRARY_FROM_PROVIDER 5

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

/// No memory: of vbn_mr_alloc_null.
#define VBN_MR_NULL 3

/// Another process's: of vbn_mr_import.
#define VBN_MR_IMPORTED 4

/// The device's own: of vbn_mr_reg_dm.
#define VBN_MR_DM 5

/// A GPU's, given by address, which a peer-memory module resolves: of vbn_gpu_mr_reg.
#define VBN_MR_PEER 6

/// Largest segment that `vbn_mr_segments` makes unless told: 1 GiB. InfiniBand's messages end at 2 GiB, EFA's at 1 GiB,
/// and mlx5 keeps the highest bit of a segment's length for itself.
#define VBN_MR_SEGMENT_DEFAULT (1 << 30)

/// `vbn_mr_rereg_attr.set`: addr, length and owner. Where the region begins for peers moves to `addr`, too.
#define VBN_MR_REREG_TRANSLATION 1

/// `vbn_mr_rereg_attr.set`: pd.
#define VBN_MR_REREG_PD 2

/// `vbn_mr_rereg_attr.set`: access.
#define VBN_MR_REREG_ACCESS 4

/// `advice`: fetch the pages to be read.
#define VBN_ADVISE_PREFETCH 0

/// `advice`: fetch the pages to be written.
#define VBN_ADVISE_PREFETCH_WRITE 1

/// `advice`: tell the device of the pages that are there already.
#define VBN_ADVISE_PREFETCH_NO_FAULT 2

/// `flags` of vbn_mr_advise: come back when it is done, and tell how it went.
#define VBN_ADVISE_FLUSH 1

/// Nobody told where the memory lives.
#define VBN_MEMORY_UNKNOWN 0

/// The host's memory.
#define VBN_MEMORY_HOST 1

/// A GPU's, of CUDA.
#define VBN_MEMORY_CUDA 2

/// A GPU's, of ROCm.
#define VBN_MEMORY_ROCM 3

/// `place_set` of structs that tell where memory lives: `gpu`.
#define VBN_PLACE_SET_GPU 1

/// `place_set`: `numa_node`.
#define VBN_PLACE_SET_NUMA (1 << 1)

/// `place_set`: `pci_domain`, `pci_bus`, `pci_device` and `pci_function`.
#define VBN_PLACE_SET_PCI (1 << 2)

/// Bound by vbn_mw_bind; open to every queue pair of its PD.
#define VBN_MW_TYPE_1 1

/// Bound by VBN_WR_BIND_MW, and on most devices open only to the peer of the queue pair that it was bound on (type 2B); taken
/// back by VBN_WR_LOCAL_INV or the peer's VBN_WR_SEND_WITH_INV.
#define VBN_MW_TYPE_2 2

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

/// SRD, with VBN_QP_PROCESSING_HINTS: the request belongs to a burst of many small ones.
#define VBN_SEND_BURST 4294967296

/// Compare the peer's 8 bytes at `remote_addr` with `compare_add` and, if they are equal, put `swap` there. What was there
/// before comes into the segment, of 8 bytes too. `remote_addr` must be a multiple of 8. All are numbers in host byte
/// order, as a uint64_t lies in memory. RC, where the device has atomics (VBN_CAP_ATOMICS says among whom they are atomic);
/// the peer's region and queue pair must have VBN_ACCESS_REMOTE_ATOMIC, the latter not by default (vbn_rc_attr.access).
#define VBN_WR_ATOMIC_CMP_AND_SWP 5

/// Add `compare_add` to the peer's 8 bytes at `remote_addr`, modulo 2^64. For the rest as VBN_WR_ATOMIC_CMP_AND_SWP.
#define VBN_WR_ATOMIC_FETCH_AND_ADD 6

/// Take back the key `invalidate_rkey`, of a window of type 2 that this queue pair has bound: the peer's access through it
/// is refused from then on. No segments.
#define VBN_WR_LOCAL_INV 7

/// Bind a window of type 2, as the vbn_bind_mw_ext at `ext` says. No segments. Requests behind it may name the new key.
#define VBN_WR_BIND_MW 8

/// Send, and take back the peer's key `invalidate_rkey` when the message has arrived. The receive's completion has
/// VBN_WC_WITH_INV and the key in `imm`. A key that can't be taken back ends the connection.
#define VBN_WR_SEND_WITH_INV 9

/// Wait until what was written to `remote_addr` is visible, or persistent, as the vbn_flush_ext at `ext` says. No segments.
/// The peer's region must have VBN_ACCESS_FLUSH_GLOBAL or VBN_ACCESS_FLUSH_PERSISTENT. Only where send_ops asked for it.
#define VBN_WR_FLUSH 14

/// Write the 8 bytes at `ext`, of any alignment and free after the post, to the peer's `remote_addr`, a multiple of 8, so that
/// nobody sees a part of them. No segments. Only where send_ops asked for it.
#define VBN_WR_ATOMIC_WRITE 15

/// `vbn_flush_ext.type`: what was written is visible to all.
#define VBN_FLUSH_GLOBAL 1

/// `vbn_flush_ext.type`: what was written survives a loss of power.
#define VBN_FLUSH_PERSISTENT 2

/// `vbn_flush_ext.level`: `length` bytes at remote_addr.
#define VBN_FLUSH_RANGE 0

/// `vbn_flush_ext.level`: the whole region.
#define VBN_FLUSH_MR 1

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

/// EFA's scalable reliable datagrams: VBN_QPT_DRIVER by the name of what it is there.
#define VBN_QPT_SRD 255

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

/// `vbn_qp_init_attr.flags`, SRD: RDMA writes with immediate that come in use up no receive. Both peers must have it, and
/// recv_cq must have VBN_WC_EX_UNSOLICITED. Nothing paces such completions: size the queue for all that may come.
#define VBN_QP_UNSOLICITED_WRITE_RECV 1

/// `vbn_qp_init_attr.flags`, SRD: RDMA writes may be inline too. Halves the depth of the send queue (rdma-core 63).
#define VBN_QP_INLINE_WRITE 2

/// `vbn_qp_init_attr.flags`, SRD: requests may carry VBN_SEND_BURST (rdma-core 64).
#define VBN_QP_PROCESSING_HINTS 4

/// `vbn_qp_init_attr.post_path`: what is proven for the driver: ibv_post_send, and ibv_wr_* on EFA.
#define VBN_POST_PATH_AUTO 0

/// `vbn_qp_init_attr.post_path`: ibv_post_send. Not for SRD.
#define VBN_POST_PATH_POST_SEND 1

/// `vbn_qp_init_attr.post_path`: ibv_wr_*. Not every driver's can be trusted: up to rdma-core 63.0 soft-RoCE's sends wrong
/// data from segment lists and inline data, with success.
#define VBN_POST_PATH_WR 2

/// `flags` of vbn_qp_data_in_order: ask for the device's part alone, whatever the processor may reorder (rdma-core 60).
#define VBN_IN_ORDER_DEVICE_ONLY 2

/// `*caps_out` of vbn_qp_data_in_order: all bytes of a message are visible in order: who sees the last one sees all.
#define VBN_IN_ORDER_WHOLE_MSG 1

/// `*caps_out` of vbn_qp_data_in_order: so are those of each aligned block of 128 bytes.
#define VBN_IN_ORDER_ALIGNED_128_BYTES 2

/// `send_ops`: VBN_WR_ATOMIC_CMP_AND_SWP.
#define VBN_QP_OP_ATOMIC_CMP_AND_SWP (1 << VBN_WR_ATOMIC_CMP_AND_SWP)

/// `send_ops`: VBN_WR_ATOMIC_FETCH_AND_ADD.
#define VBN_QP_OP_ATOMIC_FETCH_AND_ADD (1 << VBN_WR_ATOMIC_FETCH_AND_ADD)

/// `send_ops`: VBN_WR_LOCAL_INV.
#define VBN_QP_OP_LOCAL_INV (1 << VBN_WR_LOCAL_INV)

/// `send_ops`: VBN_WR_BIND_MW.
#define VBN_QP_OP_BIND_MW (1 << VBN_WR_BIND_MW)

/// `send_ops`: VBN_WR_SEND_WITH_INV.
#define VBN_QP_OP_SEND_WITH_INV (1 << VBN_WR_SEND_WITH_INV)

/// `send_ops`: VBN_WR_FLUSH. Not among what 0 stands for: it must be asked for.
#define VBN_QP_OP_FLUSH (1 << VBN_WR_FLUSH)

/// `send_ops`: VBN_WR_ATOMIC_WRITE. Must be asked for, too.
#define VBN_QP_OP_ATOMIC_WRITE (1 << VBN_WR_ATOMIC_WRITE)

/// `vbn_qp_prepare_attr.set`: qkey. Required.
#define VBN_QP_PREPARE_SET_QKEY (1 << 0)

/// `vbn_qp_prepare_attr.set`: rnr_retry.
#define VBN_QP_PREPARE_SET_RNR_RETRY (1 << 1)

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

/// How many NICs a vbn_region_info has room for.
#define VBN_REGION_MAX_NICS 8

/// How many entries, of all NICs together. So many fit into a record whatever else is in it.
#define VBN_REGION_MAX_ENTRIES 30

/// `vbn_region_info.set`: access.
#define VBN_REGION_SET_ACCESS 1

/// A plain shared receive queue, for RC, UC and UD queue pairs.
#define VBN_SRQT_BASIC 0

/// For extended reliable connected queue pairs.
#define VBN_SRQT_XRC 1

/// One that matches tags. The tags themselves are posted by ibv_post_srq_ops on what vbn_srq_native lends.
#define VBN_SRQT_TM 2

/// `vbn_srq_modify_attr.set`: max_wr.
#define VBN_SRQ_SET_MAX_WR 1

/// `vbn_srq_modify_attr.set`: limit.
#define VBN_SRQ_SET_LIMIT 2

/// `distance`: behind one PCIe switch, or functions of one card: the data don't come near the processor.
#define VBN_DISTANCE_SWITCH 10

/// `distance`: behind several PCIe switches below one port of the processor.
#define VBN_DISTANCE_SWITCHES 20

/// `distance`: through one host bridge (root complex) of the processor.
#define VBN_DISTANCE_HOST_BRIDGE 30

/// `distance`: between host bridges of one NUMA node.
#define VBN_DISTANCE_NUMA_NODE 40

/// `distance`: between NUMA nodes of one processor package.
#define VBN_DISTANCE_PACKAGE 50

/// `distance`: between processor packages (sockets), or between NUMA nodes of which sysfs doesn't tell the package.
#define VBN_DISTANCE_SYSTEM 70

/// `distance`: sysfs doesn't tell.
#define VBN_DISTANCE_UNKNOWN 200

/// Longest path of a sysfs tree, its terminating zero included.
#define VBN_SYSFS_PATH_SIZE 200

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

/// `imm` holds an invalidated rkey. (Soft-RoCE of Linux 6.1 sets VBN_WC_IP_CSUM_OK instead.)
#define VBN_WC_WITH_INV 8

/// `fields`: wc.byte_len.
#define VBN_WC_EX_BYTE_LEN (1 << 0)

/// `fields`: wc.imm.
#define VBN_WC_EX_IMM (1 << 1)

/// `fields`: wc.qp_num.
#define VBN_WC_EX_QP_NUM (1 << 2)

/// `fields`: wc.src_qp.
#define VBN_WC_EX_SRC_QP (1 << 3)

/// `fields`: wc.slid.
#define VBN_WC_EX_SLID (1 << 4)

/// `fields`: wc.sl.
#define VBN_WC_EX_SL (1 << 5)

/// `fields`: wc.dlid_path_bits.
#define VBN_WC_EX_DLID_PATH_BITS (1 << 6)

/// `fields`: all that a vbn_wc holds.
#define VBN_WC_EX_STANDARD 127

/// `fields`: timestamp.
#define VBN_WC_EX_TIMESTAMP (1 << 7)

/// `fields`: cvlan.
#define VBN_WC_EX_CVLAN (1 << 8)

/// `fields`: flow_tag.
#define VBN_WC_EX_FLOW_TAG (1 << 9)

/// `fields`: wallclock_ns.
#define VBN_WC_EX_WALLCLOCK (1 << 11)

/// `fields`: sgid, on EFA, for receives of senders that have no address handle here.
#define VBN_WC_EX_SGID 4294967296

/// `fields`: unsolicited (EFA).
#define VBN_WC_EX_UNSOLICITED 8589934592

/// An address handle: the way to a port, without a queue pair. Peers have one.
typedef struct vbn_ah vbn_ah;

/// A completion channel: a file descriptor that becomes readable when an armed completion queue has news.
typedef struct vbn_channel vbn_channel;

/// A channel on which connection managers' events come in.
typedef struct vbn_cm_channel vbn_cm_channel;

/// One end of a connection in the making, as a socket is: it resolves addresses, listens, connects, and has the queue pair.
typedef struct vbn_cm_id vbn_cm_id;

/// An open device.
typedef struct vbn_context vbn_context;

/// Counters of the device, for what flow steering rules see.
typedef struct vbn_counters vbn_counters;

/// A completion queue.
typedef struct vbn_cq vbn_cq;

/// Memory on the device.
typedef struct vbn_dm vbn_dm;

/// A flow steering rule: which packets of a port go to a queue pair.
typedef struct vbn_flow vbn_flow;

/// Memory that the device may read or write.
typedef struct vbn_mr vbn_mr;

/// Memory regions in a row, used as one.
typedef struct vbn_mr_set vbn_mr_set;

/// A memory window: a part of a region with a key of its own, given to a peer and taken back.
typedef struct vbn_mw vbn_mw;

/// A protection domain: ties memory regions to the queue pairs that may use them.
typedef struct vbn_pd vbn_pd;

/// A destination of connectionless queue pairs: the way there, the number of the queue pair, and its QKEY.
typedef struct vbn_peer vbn_peer;

/// A queue pair.
typedef struct vbn_qp vbn_qp;

/// A shared receive queue: receives that several queue pairs take from.
typedef struct vbn_srq vbn_srq;

/// A thread domain: what is made in it is used by one thread at a time.
typedef struct vbn_td vbn_td;

/// Result of a call: `VBN_OK` (0) or one of the negative `VBN_ERR_*` codes. The codes start at -1001, so that none can
/// be taken for an errno. `vbn_last_error()` tells the rest.
typedef int32_t vbn_status;

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
    /// Rate limit as libibverbs' enum ibv_rate (vbn_rate_name).
    uint8_t static_rate;
    /// One's own port.
    uint8_t port_num;
    /// 0.
    uint8_t reserved0[2];
} vbn_path;

/// What `vbn_ah_create` is told.
typedef struct vbn_ah_attr {
    /// sizeof(vbn_ah_attr).
    size_t struct_size;
    /// Comes back in queries.
    uint64_t user_data;
    /// The way. port_num 0: 1. EFA looks at dgid alone, and the rest may be 0.
    vbn_path path;
} vbn_ah_attr;

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

/// What `vbn_ah_query` tells.
typedef struct vbn_ah_info {
    /// sizeof(vbn_ah_info), set by the caller.
    size_t struct_size;
    /// As given at creation.
    uint64_t user_data;
    /// As given at creation, port_num filled in; all zero for an adopted one.
    vbn_path path;
    /// The kernel's number of the address handle.
    uint32_t handle;
    /// 1 on EFA: one `ibv_ah` is shared by all of the same PD and GID.
    uint8_t is_shared;
    /// 0.
    uint8_t reserved0[3];
} vbn_ah_info;

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

/// What a device can do, whatever its kind. Limits that don't apply or aren't known are 0.
typedef struct vbn_caps {
    /// sizeof(vbn_caps), set by the caller.
    size_t struct_size;
    /// VBN_CAP_*: what is there for certain.
    uint64_t caps;
    /// VBN_CAP_*: what this library has looked for.
    uint64_t asked;
    /// Largest SEND of RC or SRD, of port 1.
    uint64_t max_send_size;
    /// Largest SEND of UD, of port 1.
    uint64_t max_datagram_size;
    /// Largest READ and WRITE.
    uint64_t max_rdma_size;
    /// Largest memory region.
    uint64_t max_mr_size;
    /// Name of the device.
    char name[64];
    /// VBN_TRANSPORT_*: libibverbs' numbers.
    int32_t transport_type;
    /// VBN_LINK_LAYER_* of port 1.
    int32_t link_layer;
    /// The rdma-core release of the library that knows the device's own capabilities (libefa) is this or newer...
    uint32_t release_min;
    /// ...and older than this; 0: no newer one is known. Both 0: there is no such library.
    uint32_t release_below;
    /// Inline data that a request can carry: on EFA without making the send queue's entries wider, elsewhere what a queue
    /// pair got that asked for 32 bytes (more may be possible).
    uint32_t max_inline;
    /// The same on EFA with wider entries, which halve the depth. Elsewhere as `max_inline`.
    uint32_t max_inline_ex;
    /// Segments of a SEND.
    uint32_t max_send_sge;
    /// Segments of a receive.
    uint32_t max_recv_sge;
    /// Local segments of a WRITE.
    uint32_t max_write_sge;
    /// Local segments of a READ.
    uint32_t max_read_sge;
    /// Requests on a send queue.
    uint32_t max_sq_depth;
    /// The same with `max_inline_ex` or inline WRITEs.
    uint32_t max_sq_depth_ex;
    /// Requests on a receive queue, with one segment each.
    uint32_t max_rq_depth;
    /// Bytes of a receive's segment that count.
    uint32_t max_recv_segment;
    /// Entries of a completion queue.
    uint32_t max_cqe;
    /// Completion queues.
    uint32_t max_cq;
    /// Queue pairs.
    uint32_t max_qp;
    /// Memory regions.
    uint32_t max_mr;
    /// Protection domains.
    uint32_t max_pd;
    /// Address handles.
    uint32_t max_ah;
    /// READs and atomics that a queue pair can have under way.
    uint32_t max_rd_atomic;
    /// READs and atomics that a queue pair can serve at once.
    uint32_t max_dest_rd_atomic;
    /// Completion vectors.
    uint32_t num_comp_vectors;
    /// Ports.
    uint32_t num_ports;
    /// What VBN_ABSENCE_LIBRARY and so on say more, an element for each bit of `caps`.
    uint16_t detail[64];
    /// VBN_ABSENCE_*: why a capability is absent, an element for each bit of `caps`.
    uint8_t absence[64];
    /// 1 if the device is an EFA.
    uint8_t efa;
    /// 0.
    uint8_t reserved0[7];
} vbn_caps;

/// A device, as `vbn_device_find` judges it.
typedef struct vbn_device_match {
    /// Name, to be given to vbn_context_open.
    char name[64];
    /// VBN_CAP_*: what it has for certain.
    uint64_t caps;
    /// VBN_CAP_*: what was required and isn't there, or isn't certain.
    uint64_t missing;
    /// Those of `missing` of which nothing tells: they may be there.
    uint64_t unknown;
    /// Place in the list of vbn_device_list.
    uint32_t index;
    /// VBN_TRANSPORT_*: libibverbs' numbers.
    int32_t transport_type;
    /// VBN_OK if it could be opened and asked, else why not: VBN_ERR_*. Then nothing is known of it.
    int32_t open_status;
    /// errno of the attempt, or 0.
    int32_t open_errno;
    /// 1 if it has all that is required.
    uint8_t matches;
    /// 1 if it is an EFA.
    uint8_t efa;
    /// 0.
    uint8_t reserved0[6];
    /// Why it was left out, a sentence for each thing missing; empty if it matches.
    char reason[512];
} vbn_device_match;

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

/// What `vbn_cm_channel_create` may be told. All-zero is the default.
typedef struct vbn_cm_channel_attr {
    /// sizeof(vbn_cm_channel_attr).
    size_t struct_size;
    /// Comes back in queries.
    uint64_t user_data;
} vbn_cm_channel_attr;

/// What `vbn_cm_channel_query` tells.
typedef struct vbn_cm_channel_info {
    /// sizeof(vbn_cm_channel_info), set by the caller.
    size_t struct_size;
    /// As given at creation.
    uint64_t user_data;
    /// Becomes readable when there is an event. For poll, epoll and the like; don't read from it and don't close it.
    int32_t fd;
    /// Ids whose events come in here, those closed but still used by their queue pair included.
    uint32_t id_count;
} vbn_cm_channel_info;

/// An event, as `vbn_cm_channel_get_event` tells it. A copy: nothing is to be acknowledged.
typedef struct vbn_cm_event {
    /// sizeof(vbn_cm_event), set by the caller.
    size_t struct_size;
    /// VBN_CM_EVENT_*, or a number that a newer librdmacm sent.
    int32_t type;
    /// 0, or why it failed: see the types. vbn_cm_event_check makes a sentence of it.
    int32_t status;
    /// That of the id; for VBN_CM_EVENT_CONNECT_REQUEST that of the listening one. 0 when `known` is 0.
    uint64_t user_data;
    /// 1 if the id (the listening one) has a handle of this library.
    uint8_t known;
    /// RDMA reads that the peer takes at a time (CONNECT_REQUEST, ESTABLISHED, not of datagrams; as the others down to `srq`).
    uint8_t responder_resources;
    /// RDMA reads that the peer will have under way at a time.
    uint8_t initiator_depth;
    /// Whether the peer's hardware has end-to-end flow control.
    uint8_t flow_control;
    /// Retries that the peer asks for (CONNECT_REQUEST).
    uint8_t retry_count;
    /// Retries when the receiver isn't ready that the peer asks for.
    uint8_t rnr_retry_count;
    /// Whether the peer's queue pair has a shared receive queue.
    uint8_t srq;
    /// 1 if `path`, `qp_num` and `qkey` tell where to send datagrams (ESTABLISHED of VBN_CM_PS_UDP): see vbn_peer_from_cm.
    uint8_t has_peer;
    /// Number of the peer's queue pair, where it told.
    uint32_t qp_num;
    /// Its QKEY (datagrams).
    uint32_t qkey;
    /// The way to it (datagrams).
    vbn_path path;
    /// Bytes of `private_data`. InfiniBand and RoCE always deliver their whole field (56 bytes from a client, 196 from a server, 148 with
    /// a refusal; of datagrams 180 and 136), with zeros behind what the peer gave.
    uint32_t private_data_len;
    /// What the peer gave.
    uint8_t private_data[256];
    /// 0.
    uint32_t reserved0;
} vbn_cm_event;

/// What `vbn_cm_id_create` may be told. All-zero is the default.
typedef struct vbn_cm_id_attr {
    /// sizeof(vbn_cm_id_attr).
    size_t struct_size;
    /// VBN_CM_ID_SET_*: options that count.
    uint64_t set;
    /// Comes back in the id's events and queries.
    uint64_t user_data;
    /// VBN_CM_PS_*. 0: VBN_CM_PS_TCP.
    int32_t port_space;
    /// Type of service of the packets (DSCP and ECN).
    uint8_t tos;
    /// 1: the port may be another id's too, as with SO_REUSEADDR.
    uint8_t reuse_addr;
    /// 1: an id bound to the IPv6 wildcard takes no IPv4 connections.
    uint8_t only_v6;
    /// How long the peer's acknowledgements are waited for: 4.096 us * 2^n, 5 bits.
    uint8_t ack_timeout;
} vbn_cm_id_attr;

/// A socket address: what `struct sockaddr_in`, `sockaddr_in6` or `sockaddr_ib` hold. vbn_cm_addr_parse makes one of a numeric
/// address; C programs may copy what getaddrinfo(3) gave. All-zero: none.
typedef struct vbn_cm_addr {
    /// Bytes of `sockaddr` that count. 0: there is no address.
    uint32_t length;
    /// 0.
    uint32_t reserved0;
    /// The `struct sockaddr`, in the system's own form.
    uint8_t sockaddr[128];
} vbn_cm_addr;

/// What `vbn_cm_id_query` tells.
typedef struct vbn_cm_id_info {
    /// sizeof(vbn_cm_id_info), set by the caller.
    size_t struct_size;
    /// As given at creation or by vbn_cm_id_set_user_data.
    uint64_t user_data;
    /// VBN_CM_PS_*.
    int32_t port_space;
    /// VBN_QPT_*: the type of its queue pair.
    int32_t qp_type;
    /// Number of its queue pair; 0 if it has none.
    uint32_t qp_num;
    /// The device's port; 0 before there is a device.
    uint8_t port_num;
    /// 1 if it has a device: resolved, bound to an address of a device, or a client's request.
    uint8_t has_device;
    /// 1 if it has a queue pair.
    uint8_t has_qp;
    /// 0.
    uint8_t reserved0;
    /// Name of the device.
    char device[64];
    /// One's own address.
    vbn_cm_addr local;
    /// The peer's.
    vbn_cm_addr peer;
    /// Bytes of private data that vbn_cm_id_connect takes.
    uint32_t max_connect_data;
    /// The same of vbn_cm_id_accept.
    uint32_t max_accept_data;
    /// The same of vbn_cm_id_reject.
    uint32_t max_reject_data;
    /// 0.
    uint32_t reserved1;
} vbn_cm_id_info;

/// What `vbn_context_open` may be told. All-zero is the default.
typedef struct vbn_context_attr {
    /// sizeof(vbn_context_attr).
    size_t struct_size;
    /// Comes back in queries, and in events about the device and its ports.
    uint64_t user_data;
} vbn_context_attr;

/// What `vbn_pd_alloc` may be told. All-zero is the default.
typedef struct vbn_pd_attr {
    /// sizeof(vbn_pd_attr).
    size_t struct_size;
    /// Comes back in queries.
    uint64_t user_data;
} vbn_pd_attr;

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
    /// VBN_QPT_RC, VBN_QPT_UC, VBN_QPT_UD, or on EFA VBN_QPT_SRD. 0: RC.
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
    /// VBN_QP_OP_*: the operations that will be posted. 0: all that the type and device have, but for VBN_QP_OP_FLUSH and
    /// VBN_QP_OP_ATOMIC_WRITE, and with VBN_POST_PATH_WR on RC the first five only.
    uint64_t send_ops;
    /// 1: every request completes, as if it had VBN_SEND_SIGNALED.
    uint8_t sq_sig_all;
    /// SRD: service level; 8 is EFA's low latency class (rdma-core 55). Otherwise 0.
    uint8_t sl;
    /// 0.
    uint8_t reserved0[2];
    /// VBN_POST_PATH_*.
    int32_t post_path;
    /// SRD: VBN_QP_UNSOLICITED_WRITE_RECV, ... Otherwise 0.
    uint64_t flags;
    /// RC, UC, UD: where receives are taken from, instead of a receive queue of its own; max_recv_wr and max_recv_sge must
    /// then be 0. Kept alive. NULL: none.
    vbn_srq *srq;
} vbn_qp_init_attr;

/// What `vbn_cm_id_connect` and `vbn_cm_id_accept` may be told. All-zero is the default.
typedef struct vbn_cm_conn_attr {
    /// sizeof(vbn_cm_conn_attr).
    size_t struct_size;
    /// VBN_CM_CONN_SET_*: fields that count.
    uint64_t set;
    /// Handed to the peer's program, which finds it in the event. Copied.
    const void *private_data;
    /// Bytes of it. On InfiniBand and RoCE at most 56 when connecting and 196 when accepting; 180 and 136 with VBN_CM_PS_UDP.
    uint64_t private_data_len;
    /// RDMA reads and atomics that this side takes at a time. Default: the device's limit; when accepting, not more than asked for.
    uint8_t responder_resources;
    /// The same that this side will have under way. Default: likewise.
    uint8_t initiator_depth;
    /// Connecting: how often a request is sent again when no answer comes, 0..7. Default: 6 (soft-RoCE takes 7 for "for ever").
    uint8_t retry_count;
    /// How often a request is sent again when the receiver isn't ready, 0..7; 7: for ever. Default: 7.
    uint8_t rnr_retry_count;
    /// 0.
    uint8_t reserved0[4];
} vbn_cm_conn_attr;

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
    uint8_t reserved0[3];
    /// VBN_DRIVER_*: whose rules and vendor codes hold.
    int32_t driver;
    /// What libibverbs' provider is called: "efa", "mlx5", "rxe", ...
    char driver_name[32];
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
    /// IBV_DEVICE_* of libibverbs (vbn_device_cap_name).
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
    uint8_t reserved0[10];
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
    /// IBV_DEVICE_* of libibverbs, 64 bits of them (vbn_device_cap_name).
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

/// What `vbn_context_query_rt_values` tells.
typedef struct vbn_rt_values {
    /// sizeof(vbn_rt_values), set by the caller.
    size_t struct_size;
    /// VBN_RT_*: what is known.
    uint64_t valid;
    /// The device's clock as the driver gives it. mlx4 and mlx5 (rdma-core 44 to 65) leave this 0...
    int64_t raw_clock_sec;
    /// ... and put the clock's ticks here, which count as those of VBN_WC_EX_TIMESTAMP (hca_core_clock: kHz).
    int64_t raw_clock_nsec;
} vbn_rt_values;

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
    /// IBV_PORT_* capability bits of libibverbs (vbn_port_cap_name).
    uint32_t port_cap_flags;
    /// Largest message.
    uint32_t max_msg_sz;
    /// Count of bad partition keys.
    uint32_t bad_pkey_cntr;
    /// Count of Q_Key violations.
    uint32_t qkey_viol_cntr;
    /// Speed of a lane, wider than `active_speed` (vbn_port_speed_name). rdma-core tells it since 49.
    uint32_t active_speed_ex;
    /// What the whole port carries now, in units of 100 Mbit/s. rdma-core tells it since 62, of some drivers.
    uint64_t speed_100mbps;
    /// Entries of the partition key table.
    uint16_t pkey_tbl_len;
    /// Local identifier; 0 on Ethernet.
    uint16_t lid;
    /// Local identifier of the subnet manager.
    uint16_t sm_lid;
    /// Second set of capability bits (vbn_port_cap2_name).
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
    /// Lanes: 1 is 1, 2 is 4, 4 is 8, 8 is 12, 16 is 2 (vbn_port_width_name).
    uint8_t active_width;
    /// Speed of a lane (vbn_port_speed_name).
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
    /// Open vbn_peer handles.
    uint32_t peer_open;
    /// Open vbn_ah handles.
    uint32_t ah_open;
    /// Closed, but peers use it.
    uint32_t ah_closed;
    /// Closed, but the driver refused to destroy it.
    uint32_t ah_refused;
    /// EFA: `ibv_ah`s that handles and peers share, in use.
    uint32_t ah_cached;
    /// EFA: the same, kept though nobody uses them; see vbn_pd_trim_ahs.
    uint32_t ah_idle;
    /// Open vbn_srq handles.
    uint32_t srq_open;
    /// Closed, but queue pairs take from it.
    uint32_t srq_closed;
    /// Closed, but the driver refused to destroy it.
    uint32_t srq_refused;
    /// Open vbn_mw handles.
    uint32_t mw_open;
    /// Open vbn_td handles.
    uint32_t td_open;
    /// Closed, but parent domains use it.
    uint32_t td_closed;
    /// Closed, but the driver refused to deallocate it.
    uint32_t td_refused;
    /// Open vbn_dm handles.
    uint32_t dm_open;
    /// Closed, but regions are on it.
    uint32_t dm_closed;
    /// Closed, but the driver refused to free it.
    uint32_t dm_refused;
    /// Open vbn_flow handles.
    uint32_t flow_open;
    /// Open vbn_counters handles.
    uint32_t counters_open;
    /// Closed, but rules use them.
    uint32_t counters_closed;
    /// Closed, but the driver refused to destroy them.
    uint32_t counters_refused;
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

/// What `vbn_counters_create` may be told. All-zero is the default.
typedef struct vbn_counters_attr {
    /// sizeof(vbn_counters_attr).
    size_t struct_size;
    /// Must be 0.
    uint64_t reserved0;
} vbn_counters_attr;

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
    /// VBN_WC_EX_*: what vbn_cq_poll_ext shall tell. 0: a plain queue, of which it tells what vbn_cq_poll does.
    uint64_t fields;
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
    /// VBN_CQ_WAIT_*: how vbn_cq_wait waits.
    uint8_t wait_mode;
    /// 0.
    uint8_t reserved0[6];
    /// VBN_WC_EX_*: as given at creation.
    uint64_t fields;
    /// At least so many completions were passed over, since their queue pairs had been destroyed (EFA). libefa drops one that
    /// comes behind good ones of the same vbn_cq_poll without a word. After one that stood in front vbn_cq_poll takes one
    /// completion: poll again.
    uint64_t skipped;
} vbn_cq_info;

/// What `vbn_cq_modify` is told.
typedef struct vbn_cq_modify_attr {
    /// sizeof(vbn_cq_modify_attr).
    size_t struct_size;
    /// Which of the fields count: VBN_CQ_SET_*. One at least.
    uint64_t set;
    /// An armed queue raises its event after so many completions at the latest... With moderation_period_us 0: off.
    uint32_t moderation_count;
    /// ... or so many microseconds after the first of them. With moderation_count 0: off.
    uint32_t moderation_period_us;
} vbn_cq_modify_attr;

/// A completion with everything that the queue was asked to tell. `fields` says what is valid; what lies behind it and has no
/// bit there is left as it was, but for sgid. Frozen; later versions append
/// fields, which is why the distance between two of them is an argument of vbn_cq_poll_ext.
typedef struct vbn_wc_ext {
    /// The completion. After an error only wr_id, status, vendor_err and qp_num count.
    vbn_wc wc;
    /// VBN_WC_EX_*: which of the fields below, and of those in `wc` that have a bit, hold something.
    uint64_t fields;
    /// In ticks of the device's clock.
    uint64_t timestamp;
    /// Nanoseconds since 1970.
    uint64_t wallclock_ns;
    /// The sender's GID.
    uint8_t sgid[16];
    /// Tag of the flow steering rule.
    uint32_t flow_tag;
    /// VLAN tag.
    uint16_t cvlan;
    /// 1: an RDMA write with immediate that used up no receive; its wr_id means nothing.
    uint8_t unsolicited;
    /// 0.
    uint8_t reserved0;
    /// 0.
    uint64_t reserved1[4];
} vbn_wc_ext;

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

/// What `vbn_dm_alloc` is told.
typedef struct vbn_dm_attr {
    /// sizeof(vbn_dm_attr).
    size_t struct_size;
    /// Bytes. Required.
    uint64_t length;
    /// Comes back in queries.
    uint64_t user_data;
    /// Alignment, as a power of two; 0: none wanted.
    uint32_t log_align;
    /// Must be 0.
    uint32_t reserved0;
} vbn_dm_attr;

/// What `vbn_dm_query` tells.
typedef struct vbn_dm_info {
    /// sizeof(vbn_dm_info), set by the caller.
    size_t struct_size;
    /// As given at allocation.
    uint64_t user_data;
    /// Bytes, as given at allocation.
    uint64_t length;
    /// The kernel's number of it; 0 where libibverbs doesn't tell (before rdma-core 35).
    uint32_t handle;
    /// 0.
    uint32_t reserved0;
} vbn_dm_info;

/// What `vbn_efa_query_device` tells: struct efadv_device_attr.
typedef struct vbn_efa_device_info {
    /// sizeof(vbn_efa_device_info), set by the caller.
    size_t struct_size;
    /// VBN_EFA_CAP_*: what the device and this libefa can do.
    uint64_t caps;
    /// Bytes of one READ or WRITE at most; 0 if it has neither.
    uint64_t max_rdma_size;
    /// Depth of a send queue at most.
    uint32_t max_sq_wr;
    /// Depth of a receive queue at most, with one segment a receive.
    uint32_t max_rq_wr;
    /// Segments of a SEND at most.
    uint32_t max_sq_sge;
    /// Segments of a receive at most.
    uint32_t max_rq_sge;
    /// Bytes that fit into a request of the usual size.
    uint32_t inline_buf_size;
    /// Bytes that fit into a large request, of which a queue holds half as many. 0 before rdma-core 63.
    uint32_t inline_buf_size_ex;
} vbn_efa_device_info;

/// The send queue that `vbn_efa_max_sq_depth` is asked about. All-zero: a plain one.
typedef struct vbn_efa_sq_attr {
    /// sizeof(vbn_efa_sq_attr).
    size_t struct_size;
    /// VBN_EFA_SQ_*.
    uint64_t flags;
    /// Segments of a SEND.
    uint32_t max_send_sge;
    /// Segments of a READ or WRITE.
    uint32_t max_rdma_sge;
    /// Bytes of inline data.
    uint32_t max_inline_data;
    /// Must be 0.
    uint32_t reserved0;
} vbn_efa_sq_attr;

/// The receive queue that `vbn_efa_max_rq_depth` is asked about.
typedef struct vbn_efa_rq_attr {
    /// sizeof(vbn_efa_rq_attr).
    size_t struct_size;
    /// Segments of a receive, 1 or more.
    uint32_t max_recv_sge;
    /// Must be 0.
    uint32_t reserved0;
} vbn_efa_rq_attr;

/// What `vbn_efa_query_cq` tells: the queue as it lies in this process's memory.
typedef struct vbn_efa_cq_info {
    /// sizeof(vbn_efa_cq_info), set by the caller.
    size_t struct_size;
    /// The entries, which the device writes.
    void *buffer;
    /// The register that arms it; NULL without notifications.
    uint32_t *doorbell;
    /// Bytes of an entry.
    uint32_t entry_size;
    /// How many entries there are.
    uint32_t num_entries;
} vbn_efa_cq_info;

/// What `vbn_efa_query_qp` tells of a send or receive queue, as it lies in this process's memory.
typedef struct vbn_efa_wq_info {
    /// sizeof(vbn_efa_wq_info), set by the caller.
    size_t struct_size;
    /// The descriptors. For a send queue memory of the device, to be written only.
    void *buffer;
    /// The register that tells the device of new ones.
    uint32_t *doorbell;
    /// Bytes of a descriptor.
    uint32_t entry_size;
    /// How many descriptors there are.
    uint32_t num_entries;
    /// How many may be written for one ring of the doorbell.
    uint32_t max_batch;
    /// VBN_EFA_WQ_*.
    uint32_t caps;
} vbn_efa_wq_info;

/// What `vbn_efa_query_mr` tells: by which interconnect the device reaches a region.
typedef struct vbn_efa_mr_info {
    /// sizeof(vbn_efa_mr_info), set by the caller.
    size_t struct_size;
    /// VBN_EFA_MR_*: which of the others count.
    uint32_t valid;
    /// For what receives write.
    uint32_t recv_ic_id;
    /// For what READs of this process write.
    uint32_t rdma_read_ic_id;
    /// For what WRITEs of peers write.
    uint32_t rdma_recv_ic_id;
} vbn_efa_mr_info;

/// Where requests of connectionless queue pairs (SRD, UD) go to. Frozen.
typedef struct vbn_endpoint {
    /// The GID of its port, as it goes over the wire.
    uint8_t gid[16];
    /// The queue pair's number, 24 bits.
    uint32_t qp_num;
    /// What its senders must show.
    uint32_t qkey;
} vbn_endpoint;

/// What vbn_endpoint_info_local is to put into the record. A field with a VBN_ENDPOINT_ATTR_SET_* bit counts only if that is in
/// `set`.
typedef struct vbn_endpoint_info_attr {
    /// sizeof(vbn_endpoint_info_attr).
    size_t struct_size;
    /// VBN_ENDPOINT_ATTR_SET_*.
    uint64_t set;
    /// 24 bits, for RC and UC: where one's own numbering starts. Default: random.
    uint32_t psn;
    /// Only this place of the port's GID table. Default: all that will do, the best first.
    uint32_t sgid_index;
    /// Port, from 1. 0: the queue pair's, or 1 if it has none yet.
    uint8_t port_num;
    /// For RC. Default: the device's limit, at most 16.
    uint8_t max_rd_atomic;
    /// For RC. Default: the device's limit, at most 16.
    uint8_t max_dest_rd_atomic;
    /// 1: the SRD queue pair has VBN_QP_UNSOLICITED_WRITE_RECV. Default: as vbn_qp_create was told; an adopted queue pair doesn't
    /// tell, and counts as made without.
    uint8_t unsolicited;
    /// 0.
    uint8_t reserved0[4];
} vbn_endpoint_info_attr;

/// One of the addresses of an endpoint. Frozen.
typedef struct vbn_endpoint_gid {
    /// The GID, as it goes over the wire.
    uint8_t gid[16];
    /// VBN_GID_TYPE_*.
    int32_t type;
    /// VBN_GID_FAMILY_*; VBN_GID_FAMILY_ANY unless on RoCE.
    int32_t family;
} vbn_endpoint_gid;

/// What one side tells the other about its queue pair, of type RC, UC, UD or SRD. qp_type, qp_num and gids count always, any
/// other field only if its VBN_ENDPOINT_SET_* bit is in `set`.
typedef struct vbn_endpoint_info {
    /// sizeof(vbn_endpoint_info).
    size_t struct_size;
    /// VBN_ENDPOINT_SET_*: what is known.
    uint64_t set;
    /// A random number that tells this endpoint from an earlier one of the same address and number.
    uint64_t incarnation;
    /// Largest message that the port takes in one request, in bytes.
    uint64_t max_message;
    /// VBN_QPT_RC, VBN_QPT_UC, VBN_QPT_UD or VBN_QPT_SRD.
    int32_t qp_type;
    /// The queue pair's number, 24 bits.
    uint32_t qp_num;
    /// Where its send numbering starts, 24 bits.
    uint32_t psn;
    /// What its senders must show.
    uint32_t qkey;
    /// The EFA's vendor_part_id. 0xefa0 can't READ from later ones, nor they from it.
    uint32_t efa_generation;
    /// Enhanced connection establishment: the vendor,
    uint32_t ece_vendor_id;
    /// its options,
    uint32_t ece_options;
    /// and which of them count.
    uint32_t ece_comp_mask;
    /// The port's LID (InfiniBand).
    uint16_t lid;
    /// The port, from 1.
    uint8_t port_num;
    /// VBN_MTU_* that the port has now.
    uint8_t mtu;
    /// Reads and atomics that this side may have in flight.
    uint8_t max_rd_atomic;
    /// Reads and atomics of the peer that this side answers at once.
    uint8_t max_dest_rd_atomic;
    /// 1: the queue pair was made with VBN_QP_UNSOLICITED_WRITE_RECV.
    uint8_t unsolicited;
    /// How many of `gids` there are.
    uint8_t num_gids;
    /// The addresses of its port, the best first.
    vbn_endpoint_gid gids[8];
} vbn_endpoint_info;

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

/// What `vbn_explain` is told. All that isn't known stays zero.
typedef struct vbn_explain_attr {
    /// sizeof(vbn_explain_attr).
    size_t struct_size;
    /// VBN_EXPLAIN_SET_*: fields whose zero is meant.
    uint64_t set;
    /// If `driver` is 0: the driver by name, such as "efa", "mlx5_core" or "rdma_rxe"; others are fine, and explained as unknown.
    const char *driver_name;
    /// VBN_DRIVER_*, the kernel's RDMA_DRIVER_* numbers; others are fine.
    int32_t driver;
    /// VBN_WC_*, or VBN_EXPLAIN_SILENCE. On EFA VBN_WC_SUCCESS beside a vendor_err means that only the latter is known.
    int32_t status;
    /// The completion's vendor_err.
    uint32_t vendor_err;
    /// With VBN_EXPLAIN_SET_OPCODE: VBN_WR_* of the request (a failed completion doesn't tell it), or VBN_WC_RECV for a
    /// receive. What can't apply to it is left out.
    uint32_t opcode;
    /// Number of one's own queue pair.
    uint32_t qp_num;
    /// Number of the peer's queue pair.
    uint32_t peer_qp_num;
    /// The peer's GID.
    uint8_t peer_gid[16];
    /// If `driver` and `driver_name` are 0: where it happened, if that is still open.
    const vbn_context *context;
} vbn_explain_attr;

/// What `vbn_flow_create` is told.
typedef struct vbn_flow_attr {
    /// sizeof(vbn_flow_attr).
    size_t struct_size;
    /// VBN_FLOW_NORMAL, ...
    int32_t type;
    /// VBN_FLOW_DONT_TRAP, VBN_FLOW_EGRESS.
    uint32_t flags;
    /// The rule with the lowest number is asked first.
    uint16_t priority;
    /// Port, from 1. 0: 1.
    uint8_t port_num;
    /// Must be 0.
    uint8_t reserved0[5];
} vbn_flow_attr;

/// Headers' fields. Addresses are bytes in the order of the wire, numbers are in the order of the host. Frozen.
typedef struct vbn_flow_fields {
    /// Ethernet: destination.
    uint8_t dst_mac[6];
    /// Ethernet: source.
    uint8_t src_mac[6];
    /// Ethernet: type.
    uint16_t ether_type;
    /// Ethernet: priority (3 bits), DEI (1 bit), VLAN (12 bits).
    uint16_t vlan_tag;
    /// IP: source; for IPv4 the first 4 bytes.
    uint8_t src_ip[16];
    /// IP: destination; for IPv4 the first 4 bytes.
    uint8_t dst_ip[16];
    /// IPv6: 20 bits.
    uint32_t flow_label;
    /// TCP, UDP: source.
    uint16_t src_port;
    /// TCP, UDP: destination.
    uint16_t dst_port;
    /// VXLAN: network identifier, 24 bits.
    uint32_t tunnel_id;
    /// IPsec: security parameters index.
    uint32_t esp_spi;
    /// IPsec: sequence number.
    uint32_t esp_seq;
    /// MPLS: the whole label.
    uint32_t mpls_label;
    /// GRE: key.
    uint32_t gre_key;
    /// GRE: the first 16 bits (C, K, S, version).
    uint16_t gre_flags;
    /// GRE: type of what is inside.
    uint16_t gre_protocol;
    /// IP: what follows: protocol, or next header.
    uint8_t protocol;
    /// IP: type of service, or traffic class.
    uint8_t tos;
    /// IP: time to live, or hop limit.
    uint8_t ttl;
    /// IPv4: flags.
    uint8_t ip_flags;
} vbn_flow_fields;

/// One header to match, or one thing to do. Frozen.
typedef struct vbn_flow_spec {
    /// VBN_FLOW_SPEC_*.
    int32_t type;
    /// For VBN_FLOW_SPEC_ACTION_TAG.
    uint32_t tag;
    /// For VBN_FLOW_SPEC_ACTION_COUNT. The rule keeps them alive.
    vbn_counters *counters;
    /// What the fields of the header must be, where `mask` has ones. Fields of other headers must be 0.
    vbn_flow_fields value;
    /// Which bits count.
    vbn_flow_fields mask;
    /// Must be 0.
    uint64_t reserved[4];
} vbn_flow_spec;

/// What `vbn_gpu_pointer_query` tells of an address.
typedef struct vbn_gpu_pointer_info {
    /// sizeof(vbn_gpu_pointer_info), set by the caller.
    size_t struct_size;
    /// Where the allocation begins: of VMM memory the segment that the address lies in. 0: not known.
    uint64_t base;
    /// Its bytes. 0: not known.
    uint64_t size;
    /// Where the whole range of addresses begins, of which VMM memory may have mapped several segments; else as `base`.
    uint64_t range_base;
    /// Its bytes; of VMM memory those that were reserved, whether mapped or not.
    uint64_t range_size;
    /// A number that the process never uses again for another allocation. 0: not known, as always with ROCm.
    uint64_t buffer_id;
    /// The CUcontext that the memory was allocated in; NULL for VMM memory, memory of pools, and ROCm.
    void *context;
    /// VBN_GPU_KIND_*: whose memory it is; with `memory` VBN_GPU_MEMORY_UNKNOWN whom was asked last.
    int32_t kind;
    /// VBN_GPU_MEMORY_*.
    int32_t memory;
    /// The ordinal of the GPU as its library counts; VBN_GPU_UNKNOWN for memory of the host.
    int32_t device;
    /// VBN_GPU_ALLOCATION_*.
    int32_t allocation;
    /// Whether a NIC may be given it: of VMM memory 0 says that it was made without allocFlags.gpuDirectRDMACapable. Or
    /// VBN_GPU_UNKNOWN.
    int32_t rdma_capable;
    /// 0: the address lies in a reserved range, and nothing is mapped there. Or VBN_GPU_UNKNOWN.
    int32_t mapped;
} vbn_gpu_pointer_info;

/// What `vbn_gpu_device_query` tells of a GPU.
typedef struct vbn_gpu_device_info {
    /// sizeof(vbn_gpu_device_info), set by the caller.
    size_t struct_size;
    /// Bytes of the largest range of memory that the GPU shows on the PCI bus (BAR1), by sysfs; 0: not known. Peer memory can't
    /// register more than that at a time, however much memory there is.
    uint64_t bar_size;
    /// VBN_GPU_KIND_*.
    int32_t kind;
    /// Its ordinal.
    int32_t device;
    /// Whether memory can be exported as dma-buf. Or VBN_GPU_UNKNOWN.
    int32_t dmabuf;
    /// Whether NICs can be given its memory (GPUDirect RDMA). Or VBN_GPU_UNKNOWN.
    int32_t gpudirect_rdma;
    /// The same for VMM memory, which must be created with allocFlags.gpuDirectRDMACapable. Or VBN_GPU_UNKNOWN.
    int32_t gpudirect_rdma_vmm;
    /// VBN_GPU_ORDERING_*, or VBN_GPU_UNKNOWN.
    int32_t writes_ordering;
    /// VBN_GPU_FLUSH_OPTION_* bits, or VBN_GPU_UNKNOWN.
    int32_t flush_options;
    /// The NUMA node that it hangs on, by sysfs; -1: none, or not known.
    int32_t numa_node;
    /// The driver's version: of CUDA 1000 * major + 10 * minor, such as 12080; 0: not known.
    int32_t driver_version;
    /// 0.
    uint32_t reserved0;
    /// Its PCI address as sysfs writes it, "0000:0f:00.0"; empty: not known.
    char pci_address[32];
    /// Its name; empty: not known.
    char name[128];
} vbn_gpu_device_info;

/// How `vbn_gpu_dmabuf_export` exports. All-zero is the default.
typedef struct vbn_gpu_dmabuf_attr {
    /// sizeof(vbn_gpu_dmabuf_attr).
    size_t struct_size;
    /// VBN_GPU_DMABUF_*.
    uint64_t flags;
} vbn_gpu_dmabuf_attr;

/// A dma-buf of GPU memory.
typedef struct vbn_gpu_dmabuf {
    /// sizeof(vbn_gpu_dmabuf), set by the caller.
    size_t struct_size;
    /// The descriptor, closed on exec; -1 after a failure.
    int32_t fd;
    /// VBN_GPU_KIND_*: whose memory it is.
    int32_t kind;
    /// Where the memory that was asked for begins in the dma-buf: the `offset` of vbn_mr_reg_dmabuf.
    uint64_t offset;
    /// The address that the dma-buf begins at.
    uint64_t base;
    /// Bytes that were exported, from `base` on.
    uint64_t length;
} vbn_gpu_dmabuf;

/// What `vbn_gpu_mr_reg` and `vbn_mr_reg_dltensor` may be told. All-zero is the default.
typedef struct vbn_gpu_mr_attr {
    /// sizeof(vbn_gpu_mr_attr).
    size_t struct_size;
    /// VBN_GPU_DMABUF_*, for dma-bufs. (Peer memory always leads over PCIe.)
    uint64_t flags;
    /// Whatever keeps the memory alive. Not looked at; vbn_mr_set_query returns it until a close has succeeded.
    void *owner;
    /// Comes back in queries of the set.
    uint64_t user_data;
    /// VBN_GPU_PATH_* that may be tried. One alone forces it; 0: all.
    uint32_t paths;
    /// VBN_GPU_KIND_*: whose memory it is. 0: whoever knows the address. vbn_mr_reg_dltensor goes by the tensor, and this must be 0.
    int32_t kind;
} vbn_gpu_mr_attr;

/// What came of one path. Frozen.
typedef struct vbn_gpu_attempt {
    /// VBN_GPU_PATH_*.
    uint32_t path;
    /// VBN_GPU_ATTEMPT_*.
    int32_t outcome;
    /// VBN_ERR_* of what failed, else VBN_OK.
    int32_t status;
    /// errno of what failed, else 0.
    int32_t sys_errno;
    /// VBN_VENDOR_*: whose number `vendor_code` is.
    int32_t vendor_domain;
    /// At which of the segments it failed, from 0, where each is exported by itself; else 0.
    uint32_t segment;
    /// What the GPU's library answered.
    int64_t vendor_code;
    /// A sentence: why it failed or was not tried. Empty for the path that won.
    char reason[320];
} vbn_gpu_attempt;

/// What `vbn_gpu_mr_reg` tells of its way to a region.
typedef struct vbn_gpu_mr_report {
    /// sizeof(vbn_gpu_mr_report), set by the caller.
    size_t struct_size;
    /// The number of the allocation that the memory begins in; 0: not known.
    uint64_t buffer_id;
    /// VBN_GPU_PATH_* that won; 0: none.
    uint32_t path;
    /// How many regions the set has.
    uint32_t count;
    /// VBN_GPU_KIND_*: whose memory it is.
    int32_t kind;
    /// The ordinal of the GPU.
    int32_t device;
    /// VBN_GPU_ALLOCATION_*.
    int32_t allocation;
    /// In how many allocations or segments the memory lies.
    uint32_t segments;
    /// How many of `attempts` there are: all paths that this release knows, 3.
    uint32_t num_attempts;
    /// 0.
    uint32_t reserved0;
    /// What came of each path, in the order in which they are tried: dma-buf, segments, peer memory. A path has one entry, however many regions
    /// it takes: it ends with the first that fails. What lies behind the last is zero, room for paths that come later.
    vbn_gpu_attempt attempts[5];
} vbn_gpu_mr_report;

/// A tensor as DLPack describes it: the layout of its `DLTensor`, to which a pointer can be cast. Frozen.
typedef struct vbn_dltensor {
    /// Where the allocation begins, as the device sees it.
    void *data;
    /// VBN_DL_*: where it lives (DLDevice.device_type).
    int32_t device_type;
    /// Which of these devices (DLDevice.device_id). Not looked at: the GPU's library tells by `data` which it is.
    int32_t device_id;
    /// Dimensions.
    int32_t ndim;
    /// The kind of number (DLDataType.code).
    uint8_t dtype_code;
    /// Bits of an element's lane (DLDataType.bits).
    uint8_t dtype_bits;
    /// Lanes of an element (DLDataType.lanes).
    uint16_t dtype_lanes;
    /// Elements in each dimension; may be NULL without dimensions.
    const int64_t *shape;
    /// Elements from one to the next in each dimension; NULL: row by row, without gaps.
    const int64_t *strides;
    /// Bytes from `data` to the first element.
    uint64_t byte_offset;
} vbn_dltensor;

/// Finds a function of a library: its address, or NULL. Called with a lock held: must not call libverbena.
typedef void *(*vbn_lookup_fn)(const char *symbol, const char *version, void *arg);

/// Where a library comes from. All-zero: VBN_IBVERBS_LIBRARY from the environment if it is set and the program runs
/// with no more rights than its caller, else libibverbs.so.1. Set at most one of `path`, `handle` and `lookup`.
///
/// For VBN_LIBRARY_EFA this matters only where the provider that serves a device can't be found, as when it is linked
/// into the program. All-zero: VBN_EFA_LIBRARY from the environment, else the libefa.so.1 that something has loaded.
///
/// For VBN_LIBRARY_RDMACM as for libibverbs, with VBN_RDMACM_LIBRARY and librdmacm.so.1; for VBN_LIBRARY_CUDA with VBN_CUDA_LIBRARY and
/// libcuda.so.1, for VBN_LIBRARY_ROCM with VBN_ROCM_LIBRARY and libhsa-runtime64.so.1.
typedef struct vbn_library_attr {
    /// sizeof(vbn_library_attr).
    size_t struct_size;
    /// VBN_LIBRARY_*.
    int32_t library;
    /// Must be 0.
    uint32_t reserved0;
    /// What to give to dlopen. Copied.
    const char *path;
    /// What dlopen returned. Must stay open for ever.
    void *handle;
    /// Called for each symbol and its version ("" where the library's symbols have none), at the first call that needs the library.
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
    /// The rdma-core release that it is at least, judged by its symbols; 0 when none was loaded, and for a GPU's library.
    uint32_t release_min;
    /// It is older than this rdma-core release, whose symbols it lacks; 0 when none is known to be newer.
    uint32_t release_below;
    /// How many symbols it lacks; vbn_library_missing tells which. None of them is required if `loaded` is 1.
    uint32_t missing_count;
    /// How many copies of it this process has loaded: those in use here, and other files with a name of the library's.
    /// With more than 1, objects that raw verbs made may belong to another copy.
    uint32_t copies;
    /// The file, as the dynamic linker knows it; before loading, what was looked for.
    char path[512];
    /// Why it could not be loaded; empty when it is.
    char error[512];
    /// The file of another copy; empty if there is none.
    char other_path[512];
} vbn_library_info;

/// A function that the loaded library lacks.
typedef struct vbn_symbol_info {
    /// sizeof(vbn_symbol_info), set by the caller.
    size_t struct_size;
    /// Its name.
    char name[64];
    /// Its symbol version.
    char version[32];
    /// The rdma-core release that brought it; for a GPU's library the release of CUDA or ROCm, as "CUDA 11.7".
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

/// What `vbn_mr_rereg` is told.
typedef struct vbn_mr_rereg_attr {
    /// sizeof(vbn_mr_rereg_attr).
    size_t struct_size;
    /// What changes: VBN_MR_REREG_*. One at least.
    uint64_t set;
    /// The protection domain to move to, of the same context.
    vbn_pd *pd;
    /// The new memory...
    void *addr;
    /// ... its bytes...
    uint64_t length;
    /// ... and whatever keeps it alive, instead of what was given before.
    void *owner;
    /// VBN_ACCESS_*.
    uint64_t access;
} vbn_mr_rereg_attr;

/// A piece of registered memory. The layout is ibv_sge's. Frozen.
typedef struct vbn_sge {
    /// Where it begins, inside the region that lkey belongs to.
    uint64_t addr;
    /// Bytes.
    uint32_t length;
    /// The region's lkey.
    uint32_t lkey;
} vbn_sge;

/// What `vbn_mr_query` tells.
typedef struct vbn_mr_info {
    /// sizeof(vbn_mr_info), set by the caller.
    size_t struct_size;
    /// As given at registration.
    uint64_t user_data;
    /// As given at registration; NULL for an adopted region.
    void *owner;
    /// Where this process sees the memory; NULL for a dma-buf and a GPU's. For an adopted region ibv_mr.addr.
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
    /// VBN_MR_*: what memory it is.
    int32_t kind;
    /// 1: vbn_mr_rereg failed in a way that leaves nothing known of the region. It can only be closed.
    uint8_t lost;
    /// 0.
    uint8_t reserved0[7];
} vbn_mr_info;

/// What `vbn_mr_set_create` may be told. All-zero is the default.
typedef struct vbn_mr_set_attr {
    /// sizeof(vbn_mr_set_attr).
    size_t struct_size;
    /// VBN_PLACE_SET_*: what is known of where the memory lives.
    uint64_t place_set;
    /// Whatever keeps the memory alive. Not looked at; vbn_mr_set_query returns it until a close has succeeded.
    void *owner;
    /// Comes back in queries.
    uint64_t user_data;
    /// VBN_MEMORY_*: where the memory lives.
    int32_t memory;
    /// The GPU's ordinal in this process.
    int32_t gpu;
    /// The NUMA node that is nearest.
    int32_t numa_node;
    /// The PCI address of the GPU: domain,
    uint32_t pci_domain;
    /// bus,
    uint8_t pci_bus;
    /// device,
    uint8_t pci_device;
    /// and function.
    uint8_t pci_function;
    /// 1: the set takes the regions. Their handles end, and closing the set deregisters them. 0: they stay the caller's.
    uint8_t take;
    /// 0.
    uint8_t reserved0[4];
} vbn_mr_set_attr;

/// What `vbn_mr_set_query` tells.
typedef struct vbn_mr_set_info {
    /// sizeof(vbn_mr_set_info), set by the caller.
    size_t struct_size;
    /// VBN_PLACE_SET_*: what is known of where the memory lives.
    uint64_t place_set;
    /// As given at creation.
    void *owner;
    /// As given at creation.
    uint64_t user_data;
    /// Bytes of all entries together.
    uint64_t length;
    /// How many entries it has.
    uint32_t count;
    /// VBN_MEMORY_*: where the memory lives.
    int32_t memory;
    /// The GPU's ordinal in this process.
    int32_t gpu;
    /// The NUMA node that is nearest.
    int32_t numa_node;
    /// The PCI address of the GPU: domain,
    uint32_t pci_domain;
    /// bus,
    uint8_t pci_bus;
    /// device,
    uint8_t pci_device;
    /// and function.
    uint8_t pci_function;
    /// 1: the set has taken its regions and deregisters them when it is closed.
    uint8_t takes;
    /// 1: a close has deregistered some of the regions and was refused the others. The set can only be closed.
    uint8_t lost;
    /// 0.
    uint8_t reserved0[7];
} vbn_mr_set_info;

/// One of the regions of a set.
typedef struct vbn_mr_entry {
    /// sizeof(vbn_mr_entry), set by the caller.
    size_t struct_size;
    /// The region. The set keeps it: it can't be closed or released.
    vbn_mr *mr;
    /// Where in the set it begins.
    uint64_t offset;
    /// Where it begins in requests, one's own and the peers'.
    uint64_t addr;
    /// Bytes.
    uint64_t length;
    /// The key for one's own requests.
    uint32_t lkey;
    /// The key for peers.
    uint32_t rkey;
} vbn_mr_entry;

/// What `vbn_mw_alloc` may be told. All-zero is the default.
typedef struct vbn_mw_attr {
    /// sizeof(vbn_mw_attr).
    size_t struct_size;
    /// Comes back in queries.
    uint64_t user_data;
} vbn_mw_attr;

/// What `vbn_mw_query` tells.
typedef struct vbn_mw_info {
    /// sizeof(vbn_mw_info), set by the caller.
    size_t struct_size;
    /// As given at creation.
    uint64_t user_data;
    /// The key that the window got by the bind posted last, whether that has succeeded or not.
    uint32_t rkey;
    /// The kernel's number of the window.
    uint32_t handle;
    /// VBN_MW_TYPE_1 or VBN_MW_TYPE_2.
    int32_t mw_type;
    /// 0.
    uint32_t reserved0;
} vbn_mw_info;

/// What `vbn_mw_bind` is told.
typedef struct vbn_mw_bind_attr {
    /// sizeof(vbn_mw_bind_attr).
    size_t struct_size;
    /// Comes back in the completion, VBN_WC_BIND_MW.
    uint64_t wr_id;
    /// VBN_SEND_SIGNALED, VBN_SEND_FENCE.
    uint64_t flags;
    /// The region behind the window, of the same PD and with VBN_ACCESS_MW_BIND. Not kept alive.
    vbn_mr *mr;
    /// Where the window begins, as the region's own addresses count (vbn_mr_remote_addr).
    uint64_t addr;
    /// Bytes. 0 takes the window back.
    uint64_t length;
    /// VBN_ACCESS_REMOTE_WRITE, VBN_ACCESS_REMOTE_READ, VBN_ACCESS_REMOTE_ATOMIC.
    uint64_t access;
} vbn_mw_bind_attr;

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

/// What `vbn_peer_create` is told.
typedef struct vbn_peer_attr {
    /// sizeof(vbn_peer_attr).
    size_t struct_size;
    /// Comes back in queries.
    uint64_t user_data;
    /// The way to the peer's port. Required for vbn_peer_create; otherwise NULL. Kept alive.
    vbn_ah *ah;
    /// Number of the peer's queue pair, 24 bits. For vbn_peer_create.
    uint32_t qp_num;
    /// The QKEY that the peer's queue pair expects. For vbn_peer_create.
    uint32_t qkey;
    /// RoCE and InfiniBand, for the functions that make the way from a record: everything but dgid. Zero: the port that
    /// `port_num` names (0: 1) with the GID that vbn_gid_select picks. EFA looks at none of it.
    vbn_path path;
} vbn_peer_attr;

/// What `vbn_peer_query` tells.
typedef struct vbn_peer_info {
    /// sizeof(vbn_peer_info), set by the caller.
    size_t struct_size;
    /// As given at creation.
    uint64_t user_data;
    /// Number of the peer's queue pair.
    uint32_t qp_num;
    /// Its QKEY.
    uint32_t qkey;
} vbn_peer_info;

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
    /// UD and SRD.
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
    uint8_t reserved0[2];
    /// Most bytes of one RDMA request.
    uint32_t max_rdma;
    /// VBN_QP_UNSOLICITED_WRITE_RECV, ... as given at creation.
    uint64_t flags;
    /// VBN_POST_PATH_POST_SEND or VBN_POST_PATH_WR: how requests go to the driver.
    int32_t post_path;
    /// 1: receives come from a shared receive queue.
    uint8_t has_srq;
    /// 0.
    uint8_t reserved1[3];
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

/// What `vbn_qp_prepare` is told.
typedef struct vbn_qp_prepare_attr {
    /// sizeof(vbn_qp_prepare_attr).
    size_t struct_size;
    /// VBN_QP_PREPARE_SET_*.
    uint64_t set;
    /// The key that senders must show; vbn_qkey_random makes one. From 0x80000000 on it is for privileged users.
    uint32_t qkey;
    /// 24 bits: where one's own numbering starts. Default 0.
    uint32_t psn;
    /// Index in the port's pkey table. Default 0.
    uint16_t pkey_index;
    /// Port, from 1. 0: 1.
    uint8_t port_num;
    /// SRD: retries when the peer has no receive posted, 0 to 6; 7: for ever, which is the default.
    uint8_t rnr_retry;
    /// 0.
    uint32_t reserved0;
} vbn_qp_prepare_attr;

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
    /// Write, read, atomics and flush: where in the peer's memory.
    uint64_t remote_addr;
    /// Write, read, atomics and flush: the key of the peer's region, or of a window.
    uint32_t rkey;
    /// With the *_WITH_IMM operations: a value for the receiver's completion, in host byte order.
    uint32_t imm;
    /// Connectionless queue pairs: the destination. Not used by RC.
    vbn_peer *peer;
    /// VBN_WR_LOCAL_INV, VBN_WR_SEND_WITH_INV: the key to be taken back.
    uint32_t invalidate_rkey;
    /// XRC: number of the peer's shared receive queue. Otherwise not looked at.
    uint32_t remote_srqn;
    /// Atomics: the value to compare with, or to add.
    uint64_t compare_add;
    /// VBN_WR_ATOMIC_CMP_AND_SWP: the new value.
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
    /// Number of segments. 0 is fine for a receive that only takes an RDMA write with immediate, but not on EFA.
    uint32_t num_sge;
    /// Reserved.
    uint32_t reserved0;
    /// Reserved.
    const void *ext;
    /// Reserved.
    uint64_t reserved1;
} vbn_recv_wr;

/// Vendor options of a connection ("enhanced connection establishment"), which both sides must know.
typedef struct vbn_ece {
    /// sizeof(vbn_ece).
    size_t struct_size;
    /// Whose options they are; 0: none.
    uint32_t vendor_id;
    /// The vendor's bits.
    uint32_t options;
    /// The vendor's, too; so far 0.
    uint32_t comp_mask;
    /// 0.
    uint32_t reserved0;
} vbn_ece;

/// What `vbn_qp_modify_rate_limit` is told.
typedef struct vbn_qp_rate_limit_attr {
    /// sizeof(vbn_qp_rate_limit_attr).
    size_t struct_size;
    /// In kbit/s, between rate_limit_min and rate_limit_max of vbn_context_query_device; 0: none.
    uint32_t rate_limit;
    /// Bytes that may go out at once; 0: the device's choice.
    uint32_t max_burst_sz;
    /// Size of most packets in bytes; 0: unknown.
    uint16_t typical_pkt_sz;
    /// Must be 0.
    uint16_t reserved0;
    /// Must be 0.
    uint32_t reserved1;
} vbn_qp_rate_limit_attr;

/// Everything about a connection that has a default. A field counts only if its VBN_RC_SET_* bit is in `set`; those
/// without a bit count always, with 0 as the default. UC queue pairs refuse the bits of min_rnr_timer and all that follow it.
typedef struct vbn_rc_attr {
    /// sizeof(vbn_rc_attr).
    size_t struct_size;
    /// VBN_RC_SET_*.
    uint64_t set;
    /// VBN_ACCESS_REMOTE_*: what the peer may do. Default: write, and on RC read.
    uint32_t access;
    /// 24 bits: where one's own numbering starts, for vbn_rc_record_local. Default: random.
    uint32_t psn;
    /// VBN_MTU_*, at most that of the peer. Default: the smaller of the port's active MTU and the peer's.
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

/// What vbn_region_info_local may be told. All-zero is the default.
typedef struct vbn_region_info_attr {
    /// sizeof(vbn_region_info_attr).
    size_t struct_size;
    /// Where in the sets the region begins.
    uint64_t offset;
    /// Its bytes. 0: all behind offset.
    uint64_t length;
    /// The port whose GID tells the NICs apart, from 1. 0: 1.
    uint8_t port_num;
    /// 0.
    uint8_t reserved0[7];
} vbn_region_info_attr;

/// A NIC that memory is registered with. Frozen.
typedef struct vbn_region_nic {
    /// A GID of its port, as in its endpoints' records; all zero where none is known.
    uint8_t gid[16];
} vbn_region_nic;

/// A piece of memory as one NIC knows it. Frozen.
typedef struct vbn_region_entry {
    /// Where it begins for peers.
    uint64_t addr;
    /// Bytes.
    uint64_t length;
    /// The key for peers.
    uint32_t rkey;
    /// The NIC: its place in `nics`.
    uint32_t nic;
} vbn_region_entry;

/// What one side tells the other about memory of its own.
typedef struct vbn_region_info {
    /// sizeof(vbn_region_info).
    size_t struct_size;
    /// VBN_REGION_SET_*: what is known.
    uint64_t set;
    /// VBN_PLACE_SET_*: what is known of where the memory lives.
    uint64_t place_set;
    /// Bytes. The entries of each NIC, one after the other, cover them.
    uint64_t length;
    /// What the peer may do with it: VBN_ACCESS_REMOTE_WRITE, VBN_ACCESS_REMOTE_READ, VBN_ACCESS_REMOTE_ATOMIC.
    uint64_t access;
    /// VBN_MEMORY_*: where the memory lives. 0: not told.
    int32_t memory;
    /// The GPU's ordinal in its process.
    int32_t gpu;
    /// The NUMA node that is nearest.
    int32_t numa_node;
    /// The PCI address of the GPU: domain,
    uint32_t pci_domain;
    /// bus,
    uint8_t pci_bus;
    /// device,
    uint8_t pci_device;
    /// and function.
    uint8_t pci_function;
    /// How many of `nics` there are: 1 to 8.
    uint8_t num_nics;
    /// How many of `entries` there are: 1 to 30.
    uint8_t num_entries;
    /// 0.
    uint8_t reserved0[3];
    /// The NICs.
    vbn_region_nic nics[8];
    /// Where each NIC finds the memory. The entries of one NIC are in the memory's order.
    vbn_region_entry entries[30];
} vbn_region_info;

/// What `vbn_rdma_split` shall cut into requests.
typedef struct vbn_split_attr {
    /// sizeof(vbn_split_attr).
    size_t struct_size;
    /// wr_id of the transfer's first request; each further one's is 1 higher.
    uint64_t wr_id;
    /// VBN_SEND_* of every request.
    uint64_t flags;
    /// VBN_SEND_* that the transfer's last request has besides.
    uint64_t last_flags;
    /// The local memory. NULL: local_addr, local_length and lkey tell it.
    const vbn_mr *mr;
    /// Without mr: where the local memory begins, as requests address it.
    uint64_t local_addr;
    /// Without mr: its bytes.
    uint64_t local_length;
    /// Where in the local memory the transfer begins.
    uint64_t offset;
    /// Bytes to transfer.
    uint64_t length;
    /// Where the peer's memory begins, as the peer told.
    uint64_t remote_addr;
    /// Its bytes. 0: not known; then only the end of the address space is a limit.
    uint64_t remote_length;
    /// Where in the peer's memory the transfer begins.
    uint64_t remote_offset;
    /// Most bytes of a request. 0: the limit of device and queue pair.
    uint64_t chunk;
    /// Connectionless queue pairs: the destination.
    vbn_peer *peer;
    /// VBN_WR_RDMA_WRITE, VBN_WR_RDMA_READ or VBN_WR_RDMA_WRITE_WITH_IMM.
    uint32_t opcode;
    /// The key of the peer's memory.
    uint32_t rkey;
    /// Without mr: the key of the local memory.
    uint32_t lkey;
    /// With VBN_WR_RDMA_WRITE_WITH_IMM: the immediate value, of the last request.
    uint32_t imm;
    /// The local memory, as a set: instead of mr, local_addr, local_length and lkey.
    const vbn_mr_set *mr_set;
    /// The peer's memory, as the peer's record told: instead of remote_addr, remote_length and rkey.
    const vbn_region_info *region;
    /// With region: which of its NICs the queue pair leads to.
    uint32_t nic;
    /// 0.
    uint32_t reserved0;
} vbn_split_attr;

/// What `vbn_srq_create` may be told. All-zero is the default.
typedef struct vbn_srq_attr {
    /// sizeof(vbn_srq_attr).
    size_t struct_size;
    /// Comes back in events and queries.
    uint64_t user_data;
    /// Receives that it holds. 0: 128, or the device's limit if lower.
    uint32_t max_wr;
    /// Segments of a receive. 0: 1.
    uint32_t max_sge;
    /// VBN_EVENT_SRQ_LIMIT_REACHED comes when fewer receives are left, once. 0: never.
    uint32_t limit;
    /// VBN_SRQT_*.
    int32_t srq_type;
    /// XRC: an `ibv_xrcd` of the same device, which must outlive the queue. Otherwise NULL.
    struct ibv_xrcd *xrcd;
    /// XRC and TM: where its receives complete; kept alive. Otherwise NULL: each queue pair has its own.
    vbn_cq *cq;
    /// TM: tags that it holds.
    uint32_t max_num_tags;
    /// TM: operations on its tags that may be under way.
    uint32_t max_ops;
} vbn_srq_attr;

/// What `vbn_srq_query` tells.
typedef struct vbn_srq_info {
    /// sizeof(vbn_srq_info), set by the caller.
    size_t struct_size;
    /// As given at creation.
    uint64_t user_data;
    /// Receives that it holds, as the device has it.
    uint32_t max_wr;
    /// Segments of a receive, as the device has it.
    uint32_t max_sge;
    /// The limit whose event is still to come; 0: none.
    uint32_t limit;
    /// VBN_SRQT_*. An adopted one is taken for XRC if it has a number, and else for basic.
    int32_t srq_type;
    /// XRC: its number, which peers need. Otherwise 0.
    uint32_t srq_num;
    /// The kernel's number of the queue; events carry it.
    uint32_t handle;
} vbn_srq_info;

/// What `vbn_srq_modify` is told.
typedef struct vbn_srq_modify_attr {
    /// sizeof(vbn_srq_modify_attr).
    size_t struct_size;
    /// VBN_SRQ_SET_*: what to change.
    uint64_t set;
    /// Receives that it shall hold, where the device can resize it.
    uint32_t max_wr;
    /// As vbn_srq_attr.limit. The event takes the limit away: set it again for the next.
    uint32_t limit;
} vbn_srq_modify_attr;

/// What `vbn_td_alloc` may be told. All-zero is the default.
typedef struct vbn_td_attr {
    /// sizeof(vbn_td_attr).
    size_t struct_size;
    /// Must be 0.
    uint64_t reserved0;
} vbn_td_attr;

/// Which GPU and which NIC, for vbn_gpu_nic_distance and vbn_nic_nearest.
typedef struct vbn_distance_attr {
    /// sizeof(vbn_distance_attr), set by the caller.
    size_t struct_size;
    /// The GPU's PCI address, such as "0000:53:00.0" or "53:00.0", in any of the forms that CUDA, nvidia-smi and lspci print.
    /// NULL: `gpu_kind` and `gpu_device` say which GPU.
    const char *gpu;
    /// The NIC: the name of an RDMA device, such as "mlx5_0", or a PCI address. vbn_nic_nearest takes none.
    const char *nic;
    /// The NIC as an open device, instead of `nic`.
    const vbn_context *context;
    /// Where the sysfs to read is, such as a copy of another machine's; shorter than VBN_SYSFS_PATH_SIZE. NULL: what
    /// the environment's VBN_SYSFS says, or "/sys".
    const char *sysfs;
    /// VBN_GPU_KIND_*; 0 with `gpu`.
    int32_t gpu_kind;
    /// The ordinal of the GPU, as of vbn_gpu_device_query; 0 with `gpu`.
    int32_t gpu_device;
} vbn_distance_attr;

/// How far a GPU and a NIC are from each other.
typedef struct vbn_distance_info {
    /// sizeof(vbn_distance_info), set by the caller.
    size_t struct_size;
    /// VBN_DISTANCE_*; a larger number is farther.
    int32_t distance;
    /// NUMA node of the GPU; -1: not told.
    int32_t gpu_numa_node;
    /// NUMA node of the NIC; -1: not told.
    int32_t nic_numa_node;
    /// The kernel's distance between the two nodes (10: the same); 0: not told.
    uint32_t numa_distance;
    /// PCI bridges between the GPU and `common`, `common` not counted.
    uint32_t gpu_bridges;
    /// PCI bridges between the NIC and `common`, `common` not counted.
    uint32_t nic_bridges;
    /// PCI address of the GPU.
    char gpu[32];
    /// PCI address of the NIC; empty: it has none.
    char nic[32];
    /// What the two ways have in common last: the PCI address of a bridge, the name of a host bridge such as
    /// "pci0000:40", or empty.
    char common[32];
    /// Name of the RDMA device; empty if the NIC was given by address.
    char nic_name[64];
    /// The same as a sentence.
    char reason[256];
} vbn_distance_info;

/// What VBN_WR_BIND_MW finds at `ext`. Read while posting. Frozen.
typedef struct vbn_bind_mw_ext {
    /// The window, of type 2 and the queue pair's PD.
    vbn_mw *mw;
    /// The region behind it, of the same PD and with VBN_ACCESS_MW_BIND.
    vbn_mr *mr;
    /// Where the window begins, as the region's own addresses count.
    uint64_t addr;
    /// Bytes, at least 1.
    uint64_t length;
    /// VBN_ACCESS_REMOTE_WRITE, _READ, _ATOMIC, and VBN_ACCESS_ZERO_BASED for addresses that count from the window's begin.
    uint64_t access;
    /// The key that the window gets: its present one with another low byte. 0: the low byte goes up by one. vbn_mw_rkey tells
    /// it after the post.
    uint32_t rkey;
    /// 0.
    uint32_t reserved0;
} vbn_bind_mw_ext;

/// What VBN_WR_FLUSH finds at `ext`. Read while posting. Frozen.
typedef struct vbn_flush_ext {
    /// Bytes; not looked at with VBN_FLUSH_MR.
    uint64_t length;
    /// VBN_FLUSH_GLOBAL, VBN_FLUSH_PERSISTENT, or both.
    uint32_t type;
    /// VBN_FLUSH_RANGE or VBN_FLUSH_MR.
    uint32_t level;
} vbn_flush_ext;

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

/// The driver or the kernel refused; `sys_errno` says how, or `vendor_code` where `vendor_domain` isn't 0.
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

/// Creates an address handle: the way to a port, for peers (vbn_peer_create).
///
/// On EFA all handles and peers of one PD and GID share one `ibv_ah`, since destroying one there takes the others away,
/// flushes requests in flight and ends the peer's access to this side. The last close leaves it idle; see
/// vbn_pd_trim_ahs. A handle for a peer is also what lets the peer's RDMA in: both sides need one.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_ah_close; NULL after a failure. It keeps `pd` alive.
/// - Threads: MT-safe.
/// - Blocks: for a system call; on RoCE until the peer's address is resolved (seconds).
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (port_num; references), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER (EINVAL: no way
///   to that GID), VBN_ERR_NO_MEMORY (the device is full), VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_create_ah(3)
vbn_status vbn_ah_create(vbn_pd *pd,
                         const vbn_ah_attr *attr,
                         vbn_ah **out);

/// Creates an address handle that leads back to the sender of a datagram. `wc` is the completion of its receive, `grh` the first 40
/// bytes of the receive buffer (of any alignment), `port_num` the port of the queue pair. For an answer make a peer of it, with
/// wc->src_qp and the sender's QKEY (vbn_peer_create).
///
/// Without VBN_WC_GRH (InfiniBand, within a subnet) `grh` is not looked at and may be NULL. On EFA completions don't tell where a
/// datagram came from.
///
/// - Ownership: reads `*wc` and `grh`; `*out` is the caller's, to be given to vbn_ah_close; NULL after a failure. It keeps
///   `pd` alive.
/// - Threads: MT-safe.
/// - Blocks: for system calls; on RoCE until the sender's address is resolved (seconds).
/// - Errors: VBN_ERR_ARGUMENT (also: no completion of a datagram's receive, or no header), VBN_ERR_LIMIT (port_num; references),
///   VBN_ERR_NOT_SUPPORTED (EFA), VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER (the GRH names no address of this port, as that
///   of a multicast; EINVAL: no way back), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_init_ah_from_wc(3), ibv_create_ah_from_wc(3)
vbn_status vbn_ah_from_wc(vbn_pd *pd,
                          const vbn_wc *wc,
                          const void *grh,
                          uint32_t port_num,
                          vbn_ah **out);

/// Closes an address handle and sets `*ah` to NULL. Peers made of it go on; the last of them destroys it. On EFA the
/// shared `ibv_ah` stays, idle.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_destroy_ah(3)
vbn_status vbn_ah_close(vbn_ah **ah);

/// Tells what is known of an address handle.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_ah_query(const vbn_ah *ah,
                        vbn_ah_info *info);

/// Lends the `ibv_ah`. It stays this library's: don't destroy it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_ah_native(const vbn_ah *ah,
                         struct ibv_ah **native_out);

/// Gives the `ibv_ah` away: the handle ends, the object lives on and is the caller's to destroy. On EFA others share it, so
/// that it can't be given away.
///
/// - Ownership: `*native_out` becomes the caller's; `*ah` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (EFA), VBN_ERR_BUSY (peers use it), VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_ah_release(vbn_ah **ah,
                          struct ibv_ah **native_out);

/// Makes a handle for an `ibv_ah` that raw verbs made in the `ibv_pd` of `pd`. On EFA mind that destroying it takes every
/// other handle for the same GID in this PD away.
///
/// `native` must be a live ibv_ah. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_ah_adopt(vbn_pd *pd,
                        struct ibv_ah *native,
                        const vbn_adopt_attr *attr,
                        vbn_ah **out);

/// Destroys the `ibv_ah`s that EFA's cache holds for a PD though no handle or peer uses them, but for the `keep` youngest.
/// Requests still in flight to them are flushed, and their GIDs' RDMA to this side is refused from then on (status 14
/// there). The library does the same by itself, oldest first, when the device has no room for a new one, and for all when
/// the PD goes.
///
/// - Ownership: fills the caller's `*count`, which may be NULL, with how many went.
/// - Threads: MT-safe.
/// - Blocks: for a system call each.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_pd_trim_ahs(vbn_pd *pd,
                           uint32_t keep,
                           uint32_t *count);

/// Tells what a device can do, whatever its kind, its limits, and for each thing that it can't do the reason.
///
/// Nothing is concluded from names or PCI numbers. What no query tells is tried beside the handles: a channel with a
/// completion queue, the registration of a dma-buf that isn't there, a window where the kernel reports them, and on devices
/// other than EFA a queue pair of each type, and of RC with each reported operation that its driver may not know. These are
/// destroyed before the call returns. docs/capabilities.md has the way for each capability.
///
/// - Ownership: fills the caller's `*caps`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for some system calls and commands to the device.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_query_device_ex(3), ibv_query_port(3), efadv_query_device(3), efadv_get_max_sq_depth(3)
vbn_status vbn_context_caps(const vbn_context *context,
                            vbn_caps *caps);

/// Says in a sentence why a capability is absent, and what to do about it; or that it is there.
///
/// `cap` is one VBN_CAP_*. The text is cut to `capacity` and ends with a zero; `*needed_out` is the room that all of it
/// takes, the zero included. With `capacity` 0, `text` may be NULL; `needed_out` may be NULL.
///
/// - Ownership: reads `*caps`, which vbn_context_caps has filled in; fills the caller's text.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_caps_reason(const vbn_caps *caps,
                           uint64_t cap,
                           char *text,
                           size_t capacity,
                           size_t *needed_out);

/// Looks for the devices that can do all of `required`, a mask of VBN_CAP_*, and says of each other one why it was left
/// out, so that the caller can ask for less or choose another transport.
///
/// Opens and asks every device as vbn_context_caps does, and closes it again. Fills as many elements of `devices` as
/// there are devices and room, each `entry_size` bytes apart, those that match first, and says in `*count_out` how many
/// devices there are. With `capacity` 0, `devices` may be NULL. `required` 0 matches every device that can be opened. What
/// is not certain does not match: see `unknown`. No library, no RDMA in the kernel and no device give success and a count
/// of 0; vbn_device_list_reason tells which.
///
/// - Ownership: fills the caller's array. `entry_size` is sizeof(vbn_device_match).
/// - Threads: MT-safe.
/// - Blocks: for some system calls and commands to each device.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_device_find(uint64_t required,
                           vbn_device_match *devices,
                           size_t entry_size,
                           uint32_t capacity,
                           uint32_t *count_out);

/// Creates a completion channel: completion queues made with it announce completions on its file descriptor.
///
/// The descriptor is non-blocking from the start. `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_channel_close. It keeps `context` alive.
/// - Threads: MT-safe.
/// - Blocks: for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (completion queues made by raw verbs use it), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_destroy_comp_channel(3)
vbn_status vbn_channel_close(vbn_channel **channel);

/// Tells what is known of a completion channel.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set. The descriptor in it stays the channel's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TIMEOUT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (completion queues or calls use it), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_channel_release(vbn_channel **channel,
                               struct ibv_comp_channel **native_out);

/// Makes a handle for an `ibv_comp_channel` that raw verbs made on the `ibv_context` of `context`.
///
/// `native` must be a live ibv_comp_channel. Its descriptor is left as it is, blocking or not. `attr` may be NULL:
/// borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_channel_adopt(vbn_context *context,
                             struct ibv_comp_channel *native,
                             const vbn_adopt_attr *attr,
                             vbn_channel **out);

/// Creates an event channel of the connection manager (rdma_cm): ids made on it report to it. librdmacm.so.1 is opened for the
/// first one; see VBN_LIBRARY_RDMACM.
///
/// The descriptor is non-blocking from the start. `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_cm_channel_close.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded, and for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_NOT_SUPPORTED
///   (no device, or the kernel's module rdma_ucm is missing), VBN_ERR_DRIVER (errno EACCES: no access to /dev/infiniband/rdma_cm),
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_create_event_channel(3)
vbn_status vbn_cm_channel_create(const vbn_cm_channel_attr *attr,
                                 vbn_cm_channel **out);

/// Closes an event channel and sets `*channel` to NULL. With ids left on it, or a thread waiting, the call succeeds and the last of
/// them destroys the channel. It does not wake the waiting thread.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_destroy_event_channel(3)
vbn_status vbn_cm_channel_close(vbn_cm_channel **channel);

/// Tells what is known of an event channel.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set. The descriptor in it stays the channel's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_cm_channel_query(const vbn_cm_channel *channel,
                                vbn_cm_channel_info *info);

/// The file descriptor, readable when there is an event; -1 for NULL or a handle that can't be used.
///
/// For poll, epoll and the like. When it is readable, vbn_cm_channel_get_event takes the event.
///
/// - Ownership: borrowed; don't read from it and don't close it.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
int32_t vbn_cm_channel_fd(const vbn_cm_channel *channel);

/// Waits for an event of one of the channel's ids, takes it and acknowledges it.
///
/// `timeout_ns`: 0 doesn't wait, a negative one waits for ever. Of a failure (VBN_CM_EVENT_REJECTED, ...) the event tells, the call
/// succeeds; vbn_cm_event_check makes an error of it. With VBN_CM_EVENT_CONNECT_REQUEST `*id_out` is a new id for that client, with its
/// device, its addresses and user_data 0: give it a queue pair and vbn_cm_id_accept it, or vbn_cm_id_reject it, and close it. With
/// all other events, and after a failure, `*id_out` is NULL.
///
/// Reading an event does librdmacm's part of a connection: when the server has accepted, the client's queue pair becomes ready to send in
/// here. So events must be read for connections to come about.
///
/// - Ownership: fills the caller's `*event`, whose struct_size must be set; a copy, nothing to acknowledge. `*id_out`
///   is the caller's, to be given to vbn_cm_id_close; it keeps the channel alive.
/// - Threads: MT-safe; each event goes to one thread. An id's queue pair must not be made or closed while another
///   thread reads that id's events: librdmacm changes its state. Closing the channel doesn't wake the waiters.
/// - Blocks: up to `timeout_ns`. Signals don't end the wait.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TIMEOUT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_get_cm_event(3), rdma_ack_cm_event(3)
vbn_status vbn_cm_channel_get_event(vbn_cm_channel *channel,
                                    int64_t timeout_ns,
                                    vbn_cm_event *event,
                                    vbn_cm_id **id_out);

/// Lends the `rdma_event_channel`. It stays this library's: don't destroy it, and don't use it after the handle is closed.
/// Works, too, when a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_cm_channel_native(const vbn_cm_channel *channel,
                                 struct rdma_event_channel **native_out);

/// Gives the `rdma_event_channel` away: the handle ends, the channel is the caller's to destroy. Its descriptor stays non-blocking.
///
/// - Ownership: `*native_out` becomes the caller's; `*channel` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (ids of this library use it), VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT
///   (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_cm_channel_release(vbn_cm_channel **channel,
                                  struct rdma_event_channel **native_out);

/// Makes a handle for an `rdma_event_channel` that raw librdmacm made. It must be of the very librdmacm that this library uses.
/// `attr` may be NULL: borrowed. Its descriptor is left as it is. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_cm_channel_adopt(struct rdma_event_channel *native,
                                const vbn_adopt_attr *attr,
                                vbn_cm_channel **out);

/// Creates an id: one end of a connection to be. A client resolves its server's address with it and connects; a server binds and
/// listens, and gets a new id for each client. `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_cm_id_close. It keeps `channel` alive.
/// - Threads: MT-safe.
/// - Blocks: for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_create_id(3), rdma_set_option(3)
vbn_status vbn_cm_id_create(vbn_cm_channel *channel,
                            const vbn_cm_id_attr *attr,
                            vbn_cm_id **out);

/// Closes an id and sets `*id` to NULL. What is under way is given up; a connection ends, a client's request that was not answered is
/// refused.
///
/// With its queue pair left, or a thread inside a call, the call succeeds and the last of them destroys the id: the connection stays
/// until the queue pair is closed. Events of it that were not read are dropped with it.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for one system call, and until a thread that is reading an event of the id has copied it.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_destroy_id(3)
vbn_status vbn_cm_id_close(vbn_cm_id **id);

/// Tells what is known of an id: device, addresses, queue pair, and how much private data its messages take.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_cm_id_query(const vbn_cm_id *id,
                           vbn_cm_id_info *info);

/// Changes the number that comes back in the id's events: for ids of connection requests, which begin with 0.
///
/// - Ownership: none.
/// - Threads: MT-safe; an event that is being read may have the old number.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_cm_id_set_user_data(vbn_cm_id *id,
                                   uint64_t user_data);

/// Gives an id its own address. Port 0 takes any free one, which vbn_cm_id_query then tells; the wildcard address ("0.0.0.0", "::") stands
/// for all devices. These ports are rdma_cm's: TCP's are apart from them.
///
/// - Ownership: reads `*addr`.
/// - Threads: MT-safe.
/// - Blocks: for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER (errno EADDRINUSE, EADDRNOTAVAIL, EACCES...), VBN_ERR_NO_MEMORY,
///   VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_NOT_FOUND (no device has the address), VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_bind_addr(3)
vbn_status vbn_cm_id_bind(vbn_cm_id *id,
                          const vbn_cm_addr *addr);

/// Lets clients connect: their requests come as VBN_CM_EVENT_CONNECT_REQUEST. `backlog` is how many may wait to be read; 0: as many as the
/// system allows (the kernel's net/rdma_ucm/max_backlog). Bind first.
///
/// - Ownership: none.
/// - Threads: MT-safe.
/// - Blocks: for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_listen(3)
vbn_status vbn_cm_id_listen(vbn_cm_id *id,
                            uint32_t backlog);

/// Begins to find device and link address for a target. VBN_CM_EVENT_ADDR_RESOLVED or _ADDR_ERROR will say how it ended, the latter with
/// status -ETIMEDOUT after `timeout_ns` (rounded up to milliseconds; negative: not for 24 days).
///
/// `source` may be NULL or empty: the system chooses.
///
/// - Ownership: reads `*source` and `*target`.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER (errno ENETUNREACH, EADDRNOTAVAIL...), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_NOT_FOUND (no device leads there), VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_resolve_addr(3)
vbn_status vbn_cm_id_resolve_addr(vbn_cm_id *id,
                                  const vbn_cm_addr *source,
                                  const vbn_cm_addr *target,
                                  int64_t timeout_ns);

/// Begins to find the route to the resolved address. VBN_CM_EVENT_ROUTE_RESOLVED or _ROUTE_ERROR will say how it ended.
/// `timeout_ns` as for vbn_cm_id_resolve_addr.
///
/// - Ownership: none.
/// - Threads: MT-safe.
/// - Blocks: for a few system calls; where the daemon ibacm runs librdmacm asks it first, and waits for its answer.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_FOUND (no way over that interface), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT
///   (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_resolve_route(3)
vbn_status vbn_cm_id_resolve_route(vbn_cm_id *id,
                                   int64_t timeout_ns);

/// Resolves address and route, and waits until both are known: vbn_cm_id_resolve_addr, vbn_cm_id_resolve_route and the reading of their
/// events in one. The id must be the only one on its channel, since it reads the events there. After a failure close the id.
///
/// `source` may be NULL or empty: the system chooses. `timeout_ns` is for all of it; a negative one waits for ever.
///
/// - Ownership: reads `*source` and `*target`.
/// - Threads: MT-safe; no other thread may read the channel's events meanwhile.
/// - Blocks: up to `timeout_ns`. Signals don't end the wait. As for vbn_cm_id_resolve_route where ibacm runs.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TIMEOUT (no host answers there), VBN_ERR_BUSY (other ids are on the channel),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_NOT_FOUND (no device leads there),
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_resolve_addr(3), rdma_resolve_route(3)
vbn_status vbn_cm_id_resolve(vbn_cm_id *id,
                             const vbn_cm_addr *source,
                             const vbn_cm_addr *target,
                             int64_t timeout_ns);

/// Makes a handle for the device of an id: make PD and completion queues on it. librdmacm opens devices itself, so what vbn_context_open
/// gives won't do for its queue pairs. One handle serves all ids on that device; the native context is one as well.
///
/// `attr` may be NULL. `*out` is NULL after a failure. librdmacm opens all RDMA devices for this.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_context_close, which leaves the native context to librdmacm.
///   It doesn't keep the id.
/// - Threads: MT-safe.
/// - Blocks: for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT (no device yet; librdmacm uses another copy of libibverbs), VBN_ERR_TOO_NEW,
///   VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_get_devices(3)
vbn_status vbn_cm_id_context(vbn_cm_id *id,
                             const vbn_context_attr *attr,
                             vbn_context **out);

/// Makes a handle for the PD that librdmacm has for all ids on the device. `context` is what vbn_cm_id_context gave for that device. Must
/// be called before a queue pair is made on the id. Often vbn_pd_alloc serves better. `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_pd_close, which leaves the native PD to librdmacm. It keeps
///   `context` alive.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_BUSY (a queue pair was made), VBN_ERR_NO_MEMORY,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_cm_id_pd(vbn_cm_id *id,
                        vbn_context *context,
                        const vbn_pd_attr *attr,
                        vbn_pd **out);

/// Makes the id's queue pair: RC in INIT, so that receives can be posted, or UD (VBN_CM_PS_UDP) ready to send. `pd` and the completion
/// queues must be of the context that vbn_cm_id_context gives. qp_type 0: what the port space has; post_path must be 0. The rest of `attr`
/// is as for vbn_qp_create. librdmacm takes an RC one through its states as the connection comes about.
///
/// Close it with vbn_qp_close, which does what rdma_destroy_qp does. To end a connection in good order call vbn_cm_id_disconnect first.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_qp_close; NULL after a failure. It keeps `id`, `pd` and the
///   completion queues alive.
/// - Threads: MT-safe, but see vbn_cm_channel_get_event.
/// - Blocks: for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (beyond the device; references), VBN_ERR_BUSY (it has
///   one), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_create_qp(3)
vbn_status vbn_cm_id_create_qp(vbn_cm_id *id,
                               vbn_pd *pd,
                               const vbn_qp_init_attr *attr,
                               vbn_qp **out);

/// Asks the server for a connection. The route must be resolved, and for VBN_CM_PS_TCP the queue pair made. VBN_CM_EVENT_ESTABLISHED,
/// _REJECTED, _UNREACHABLE or _CONNECT_ERROR will say how it ended. With VBN_CM_PS_UDP the server tells its queue pair's number, and no queue
/// pair is needed for that.
///
/// How long the kernel tries isn't the caller's to say (about a minute). Give up by closing the id. `attr` may be NULL.
///
/// - Ownership: reads `*attr` and its private data.
/// - Threads: MT-safe, but see vbn_cm_channel_get_event.
/// - Blocks: for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (private_data_len; references), VBN_ERR_DRIVER (errno
///   EINVAL: not the time for it, or a depth beyond the device), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_connect(3)
vbn_status vbn_cm_id_connect(vbn_cm_id *id,
                             const vbn_cm_conn_attr *attr);

/// Accepts the connection request that `id` came with. Make its queue pair, and post receives, before. VBN_CM_EVENT_ESTABLISHED will say
/// that the client has heard of it; with VBN_CM_PS_UDP there is no such event here. `attr` may be NULL.
///
/// - Ownership: reads `*attr` and its private data.
/// - Threads: MT-safe, but see vbn_cm_channel_get_event.
/// - Blocks: for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (private_data_len; references), VBN_ERR_DRIVER (errno
///   EINVAL: not the time for it, or a depth beyond the device), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_accept(3)
vbn_status vbn_cm_id_accept(vbn_cm_id *id,
                            const vbn_cm_conn_attr *attr);

/// Refuses the connection request that `id` came with; close it then. `private_data`, which may be NULL, is told to the client, in 148
/// bytes at most (136 with VBN_CM_PS_UDP).
///
/// - Ownership: reads `private_data`.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (length; references), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_reject(3)
vbn_status vbn_cm_id_reject(vbn_cm_id *id,
                            const void *private_data,
                            uint64_t length);

/// Ends a connection: the queue pair goes to the error state, what is posted on it is flushed, and both sides get VBN_CM_EVENT_DISCONNECTED.
/// A side that gets the event should call this too, before it closes its queue pair.
///
/// - Ownership: none.
/// - Threads: MT-safe, but see vbn_cm_channel_get_event.
/// - Blocks: for a few system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER (errno EINVAL: not connected), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma_disconnect(3)
vbn_status vbn_cm_id_disconnect(vbn_cm_id *id);

/// Lends the `rdma_cm_id`. It stays this library's: don't destroy it, and don't use it after the handle is closed.
/// Works, too, when a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_cm_id_native(const vbn_cm_id *id,
                            struct rdma_cm_id **native_out);

/// Gives the `rdma_cm_id` away: the handle ends, the id is the caller's to destroy, before its channel. Events of it have `known` 0.
///
/// - Ownership: `*native_out` becomes the caller's; `*id` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (its queue pair has a handle), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_cm_id_release(vbn_cm_id **id,
                             struct rdma_cm_id **native_out);

/// Makes a handle for an `rdma_cm_id` that raw librdmacm made on the `rdma_event_channel` of `channel`. Its queue pair, if it has one, is
/// taken in by vbn_qp_adopt, with a destroy function that calls rdma_destroy_qp, and must be closed before the id. `attr` may be NULL:
/// borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's. It keeps `channel`
///   alive.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_cm_id_adopt(vbn_cm_channel *channel,
                           struct rdma_cm_id *native,
                           const vbn_adopt_attr *attr,
                           vbn_cm_id **out);

/// Makes an error of an event that tells of a failure: vbn_last_error then has the sentence, with errno and remedy. VBN_OK for any other.
///
/// - Ownership: reads `*event`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_DRIVER (errno ECONNREFUSED: the peer refused, `value` has the reason), VBN_ERR_TIMEOUT (the peer
///   did not answer), VBN_ERR_NOT_FOUND (no device leads there), VBN_ERR_DEVICE_GONE, VBN_ERR_TOO_NEW,
///   VBN_ERR_ARGUMENT, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_cm_event_check(const vbn_cm_event *event);

/// Makes an address of text: "192.0.2.1", "2001:db8::1", or "fe80::1%eth0" with the interface that link-local addresses need. `port` is in
/// host order. Names are not looked up, which may take any time: call getaddrinfo(3), and copy ai_addr and ai_addrlen into the struct.
///
/// - Ownership: reads `host`; fills the caller's `*addr`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_cm_addr_parse(const char *host,
                             uint32_t port,
                             vbn_cm_addr *addr);

/// Writes an address as text, zero-terminated: 64 bytes of `host` are enough for any. `port`, which may be NULL, gets the port in host order
/// (0 with AF_IB). An address of length 0 gives an empty text.
///
/// - Ownership: reads `*addr`; writes `host` and `*port`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (also if `size` is too small), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_cm_addr_format(const vbn_cm_addr *addr,
                              char *host,
                              size_t size,
                              uint32_t *port);

/// Opens a device.
///
/// `name` is one that vbn_device_list tells; NULL or "" opens the first device that can be opened. `attr` may be NULL.
/// `*out` is NULL after a failure. The fd of its asynchronous events is non-blocking.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_context_close.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded, and for some system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_FOUND (`object` is the name, `limit` how many devices
///   there are), VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (the driver refuses), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_close_device(3)
vbn_status vbn_context_close(vbn_context **context);

/// Tells what is known of an open device: names, types, event fd, ownership.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set. The fd in it stays the context's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_context_query(const vbn_context *context,
                             vbn_context_info *info);

/// Asks what the device can do.
///
/// - Ownership: fills the caller's `*attr`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_query_device(3), ibv_query_device_ex(3)
vbn_status vbn_context_query_device(const vbn_context *context, vbn_device_attr *attr);

/// Gives a file descriptor with which another process, that it is sent to (SCM_RIGHTS), can import this context.
///
/// - Ownership: `*fd_out` is the caller's to close; -1 after a failure. It doesn't keep the handle alive, but the kernel's side of it.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER (sys_errno EMFILE: no descriptor is free), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_import_device(3)
vbn_status vbn_context_export(const vbn_context *context,
                              int32_t *fd_out);

/// Opens a context that another process has opened already, by the descriptor of vbn_context_export. Objects that were made in it
/// can be imported then: vbn_pd_import, vbn_mr_import.
///
/// `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_context_close. `fd` stays the caller's, and may be closed at once. What
///   is made in the context ends with the last process that has it open.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the driver can't), VBN_ERR_LIBRARY_MISSING,
///   VBN_ERR_SYMBOL_MISSING (rdma-core before 31), VBN_ERR_DRIVER (sys_errno EINVAL: no descriptor of a device),
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_import_device(3)
vbn_status vbn_context_import(int32_t fd,
                              const vbn_context_attr *attr,
                              vbn_context **out);

/// Reads the device's clock, of which the timestamps of completions are (VBN_WC_EX_TIMESTAMP).
///
/// - Ownership: fills the caller's `*values`, whose struct_size must be set; `valid` says what is known.
/// - Threads: MT-safe.
/// - Blocks: no, or for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (the device has no clock to be read), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_query_rt_values_ex(3)
vbn_status vbn_context_query_rt_values(const vbn_context *context,
                                       vbn_rt_values *values);

/// Asks for the state of a port, as it is now. Ports are counted from 1.
///
/// - Ownership: fills the caller's `*attr`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for some system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (no such port; references), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (no such port or index; references), VBN_ERR_NOT_SUPPORTED (the port has
///   no GID table), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (no such port or index; references), VBN_ERR_NOT_SUPPORTED (the port has
///   no partition keys), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_TIMEOUT, VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (the device has no such events),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_context_live(const vbn_context *context, vbn_live_info *info);

/// Lends the `ibv_context`. It stays this library's: don't close it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (handles of this library use it), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_NOT_FOUND (none will do), VBN_ERR_NOT_SUPPORTED (iWARP), VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (no
///   such port; references), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
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

/// Makes a set of counters, each 0, on devices that have such (mlx5). vbn_counters_attach says what they count, a spec of type
/// VBN_FLOW_SPEC_ACTION_COUNT of which rule. `attr` may be NULL.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_counters_close; NULL after a failure. It keeps `context` alive.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the device has none), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_create_counters(3)
vbn_status vbn_counters_create(vbn_context *context,
                               const vbn_counters_attr *attr,
                               vbn_counters **out);

/// Closes a set of counters and sets `*counters` to NULL. With rules left that use it, the last of them destroys it.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (rules made by raw verbs use it), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_create_counters(3)
vbn_status vbn_counters_close(vbn_counters **counters);

/// Says that the place `index` of a set counts `counter` (VBN_COUNTER_PACKETS, VBN_COUNTER_BYTES): with `flow` NULL of the
/// rules that are made with it later, else of this rule. Two things in one place are added up.
///
/// What mlx5's driver can (rdma-core 65) is `flow` NULL, before the first rule.
///
/// - Ownership: nothing changes hands; `flow` keeps `counters` alive.
/// - Threads: MT-safe.
/// - Blocks: maybe for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (this isn't counted, or not for a rule that is there), VBN_ERR_BUSY (a
///   rule uses the set already), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_attach_counters_point_flow(3)
vbn_status vbn_counters_attach(vbn_counters *counters,
                               vbn_flow *flow,
                               int32_t counter,
                               uint32_t index);

/// Reads the first `count` places of a set. `flags` may be VBN_COUNTERS_PREFER_CACHED.
///
/// - Ownership: fills the caller's `values`. After a failure some may have been written.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER (no rule uses the set, or `count` is too small for it),
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_LIMIT (references), VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_read_counters(3)
vbn_status vbn_counters_read(vbn_counters *counters,
                             uint64_t *values,
                             size_t count,
                             uint32_t flags);

/// Lends the `ibv_counters`. They stay this library's: don't destroy them, and don't use them after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_counters_native(const vbn_counters *counters,
                               struct ibv_counters **native_out);

/// Gives the `ibv_counters` away: the handle ends, the counters live on and are the caller's to destroy. Refused while rules
/// use them. Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*counters` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (rules or calls use them), VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT
///   (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_counters_release(vbn_counters **counters,
                                struct ibv_counters **native_out);

/// Makes a handle for an `ibv_counters` that raw verbs made on the `ibv_context` of `context`.
///
/// `native` must be a live ibv_counters. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
/// There is no query that would tell `user_data`.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_counters_adopt(vbn_context *context,
                              struct ibv_counters *native,
                              const vbn_adopt_attr *attr,
                              vbn_counters **out);

/// Creates a completion queue.
///
/// `attr` is required: its `cqe` says how many completions the queue must hold. When more arrive than it holds, they
/// are lost and the queue fails; so make it as deep as all queues that complete into it together.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_cq_close; NULL after a failure. It keeps `context` and the
///   channel alive.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (cqe, comp_vector; references), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (queue pairs made by raw verbs use it; the handle stays valid), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_destroy_cq(3)
vbn_status vbn_cq_close(vbn_cq **cq);

/// Tells what is known of a completion queue, its granted capacity above all.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_cq_query(const vbn_cq *cq,
                        vbn_cq_info *info);

/// Changes a completion queue. `attr` is required: how many completions, or how long, an armed queue may hold back its event, so
/// that one event serves for several.
///
/// vbn_context_query_device tells what the device can do (cq_moderation_max_count, cq_moderation_max_period). Count and period
/// both 0 end the moderation. vbn_cq_wait then waits for the event, too, but never longer than its time-out.
///
/// - Ownership: reads the caller's `*attr`.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (more than the device offers; references),
///   VBN_ERR_NOT_SUPPORTED (the device has no moderation), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_cq(3)
vbn_status vbn_cq_modify(vbn_cq *cq,
                         const vbn_cq_modify_attr *attr);

/// Makes room for at least `cqe` completions. Those that wait in the queue stay; vbn_cq_query tells the new depth.
///
/// Not on every device: without this a queue must be made as deep as all that will complete into it. After a failure the queue
/// is as it was.
///
/// - Ownership: none.
/// - Threads: as the provider: those of rxe and mlx5 let other threads poll meanwhile (seen in rdma-core 44 to 65). Two
///   threads must not resize one queue.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (above the device's max_cqe; references), VBN_ERR_NOT_SUPPORTED (the device
///   can't), VBN_ERR_DRIVER (sys_errno EINVAL: more completions are waiting), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_resize_cq(3)
vbn_status vbn_cq_resize(vbn_cq *cq,
                         uint32_t cqe);

/// Asks for one event on the queue's channel at the next completion, or with `solicited_only` 1 at the next solicited
/// or failed one. Completions that are there already cause none: arm, then poll once more, then wait; vbn_cq_wait does
/// that.
///
/// - Ownership: nothing changes hands.
/// - Threads: MT-safe.
/// - Blocks: no (a system call on soft-RoCE).
/// - Errors: VBN_ERR_ARGUMENT (no channel, solicited_only above 1), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT (NULL), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_BUSY (a close that the driver then refused was under way),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_poll_cq(3)
vbn_status vbn_cq_poll(vbn_cq *cq,
                       uint32_t n,
                       vbn_wc *wcs,
                       uint32_t *got);

/// Takes up to `n` completions with the fields that the queue was created for. `out` is an array whose elements lie `stride`
/// bytes apart: sizeof(vbn_wc_ext). `*got` is always written; no completion is VBN_OK with `*got` 0. Of a queue without
/// fields it tells what vbn_cq_poll does.
///
/// Completions of queue pairs that were destroyed before are passed over and counted (EFA; `skipped` of vbn_cq_query).
/// When the queue itself fails behind the first one, what was taken before is returned with VBN_OK, and the failure is not kept: the
/// next call goes on where the provider does, and tells the failure if the provider meets it again.
///
/// - Ownership: fills the caller's array.
/// - Threads: as thread-safe as the driver; most lock inside. Not concurrently with closing the handle.
/// - Blocks: no. No allocation, lock or system call of this library's.
/// - Errors: VBN_ERR_ARGUMENT (NULL, stride), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_BUSY (a close that the driver then refused was under way),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_create_cq_ex(3), efadv_create_cq(3)
vbn_status vbn_cq_poll_ext(vbn_cq *cq,
                           uint32_t n,
                           vbn_wc_ext *out,
                           size_t stride,
                           uint32_t *got);

/// Waits until there is a completion, and takes up to `n`. For `busy_ns` nanoseconds it polls without sleeping, then it
/// arms the queue, polls once more and sleeps on the channel. A queue without channel (wait_mode of vbn_cq_query says so)
/// is polled on, with sleeps in between that grow from 10 microseconds to a millisecond. `timeout_ns`: negative waits for ever, 0 only looks. `*got` is always written.
///
/// The channel must serve this queue alone; events of other queues would be lost here.
///
/// - Ownership: fills the caller's array.
/// - Threads: one thread waits on a queue at a time. Closing the handle does not wake it: use a time-out.
/// - Blocks: until there is a completion or the time is up.
/// - Errors: VBN_ERR_TIMEOUT, VBN_ERR_ARGUMENT (n 0, NULL, a shared channel), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT
///   (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_COMPLETION, VBN_ERR_ARGUMENT, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_poll_cq(3), InfiniBand Architecture Specification 10.7.3
vbn_status vbn_wc_check(const vbn_wc *wc);

/// Lends the `ibv_cq`. It stays this library's: don't destroy it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (queue pairs of this library use it), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_cq_release(vbn_cq **cq,
                          struct ibv_cq **native_out);

/// Makes a handle for an `ibv_cq` that raw verbs made on the `ibv_context` of `context`.
///
/// `native` must be a live ibv_cq. If its channel has a handle, that is kept alive; otherwise vbn_cq_wait polls on, all the
/// time. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED (the driver can't poll),
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_device_list_reason(vbn_device_list_reason_info *info);

/// Allocates memory on the device, on devices that have such (max_dm_size of vbn_context_query_device). `attr` is required, with
/// its `length`. vbn_mr_reg_dm makes it a region.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_dm_close; NULL after a failure. It keeps `context` alive.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (length above the device's max_dm_size; references),
///   VBN_ERR_NOT_SUPPORTED (the device has none), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_alloc_dm(3)
vbn_status vbn_dm_alloc(vbn_context *context,
                        const vbn_dm_attr *attr,
                        vbn_dm **out);

/// Closes memory of the device and sets `*dm` to NULL. With regions left on it, the last of them frees it.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (regions made by raw verbs are on it), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_alloc_dm(3)
vbn_status vbn_dm_close(vbn_dm **dm);

/// Tells what is known of memory of the device.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_dm_query(const vbn_dm *dm, vbn_dm_info *info);

/// Copies `length` bytes at `from` to the device's memory, from `offset` on.
///
/// - Ownership: reads the caller's bytes.
/// - Threads: MT-safe; what two threads write to one place, or a peer at the same time, comes in any order.
/// - Blocks: while the bytes are copied.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER (the driver refuses offset or length),
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_LIMIT (references), VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_memcpy_to_dm(3)
vbn_status vbn_dm_copy_to(vbn_dm *dm,
                          uint64_t offset,
                          const void *from,
                          size_t length);

/// Copies `length` bytes of the device's memory, from `offset` on, to `to`.
///
/// - Ownership: fills the caller's bytes. After a failure some may have been written.
/// - Threads: MT-safe.
/// - Blocks: while the bytes are copied.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER (the driver refuses offset or length),
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_LIMIT (references), VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_memcpy_from_dm(3)
vbn_status vbn_dm_copy_from(vbn_dm *dm,
                            uint64_t offset,
                            void *to,
                            size_t length);

/// Lends the `ibv_dm`. It stays this library's: don't free it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_dm_native(const vbn_dm *dm, struct ibv_dm **native_out);

/// Gives the `ibv_dm` away: the handle ends, the memory lives on and is the caller's to free.
/// Works, too, when the device is gone or a defect was caught on the handle. Of imported memory ibv_unimport_dm is the end.
///
/// - Ownership: `*native_out` becomes the caller's; `*dm` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (regions or calls use it), VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT
///   (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_dm_release(vbn_dm **dm,
                          struct ibv_dm **native_out);

/// Makes a handle for an `ibv_dm` that raw verbs made on the `ibv_context` of `context`. Nothing else tells `length`:
/// it must be what the memory was allocated with.
///
/// `native` must be a live ibv_dm. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_dm_adopt(vbn_context *context,
                        struct ibv_dm *native,
                        uint64_t length,
                        const vbn_adopt_attr *attr,
                        vbn_dm **out);

/// Makes a handle for memory of the device that another process allocated in an imported context (vbn_context_import); `handle`
/// is what vbn_dm_query told there. `attr` is required, with the `length` that the memory was allocated with, since nothing
/// else tells it. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_dm_close, which leaves the memory as it is: the process that
///   allocated it frees it, and not while others use it. It keeps `context` alive.
/// - Threads: MT-safe.
/// - Blocks: maybe for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the driver can't), VBN_ERR_SYMBOL_MISSING (rdma-core
///   before 35), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_import_dm(3)
vbn_status vbn_dm_import(vbn_context *context,
                         uint32_t handle,
                         const vbn_dm_attr *attr,
                         vbn_dm **out);

/// Tells the limits and abilities of an EFA device, as they were when it was opened. vbn_context_caps tells them of any
/// device, with reasons.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (no EFA), VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: efadv_query_device(3)
vbn_status vbn_efa_query_device(const vbn_context *context,
                                vbn_efa_device_info *info);

/// Tells how many requests a send queue of an EFA holds at most. Large inline data, or any in WRITE, halve it.
///
/// `attr` may be NULL: a queue without inline data.
///
/// - Ownership: fills the caller's variable.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (no EFA), VBN_ERR_SYMBOL_MISSING (rdma-core before
///   63), VBN_ERR_LIMIT (max_send_sge, max_rdma_sge, max_inline_data; references), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_BUSY, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: efadv_get_max_sq_depth(3)
vbn_status vbn_efa_max_sq_depth(const vbn_context *context,
                                const vbn_efa_sq_attr *attr,
                                uint32_t *depth);

/// Tells how many receives a receive queue of an EFA holds at most.
///
/// - Ownership: fills the caller's variable.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (max_recv_sge 0 too), VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (no EFA),
///   VBN_ERR_SYMBOL_MISSING (rdma-core before 63), VBN_ERR_LIMIT (max_recv_sge; references), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: efadv_get_max_rq_depth(3)
vbn_status vbn_efa_max_rq_depth(const vbn_context *context,
                                const vbn_efa_rq_attr *attr,
                                uint32_t *depth);

/// Tells the device's number of an address handle, which completions show as `slid`. Two handles for the same GID in one
/// protection domain have the same.
///
/// - Ownership: fills the caller's variable.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (no EFA), VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: efadv_query_ah(3)
vbn_status vbn_efa_query_ah(const vbn_ah *ah,
                            uint16_t *ahn);

/// Tells where a completion queue of an EFA lies in this process's memory, for programs (or GPUs) that read it
/// themselves. Whoever does must not poll it by this library as well.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set. The addresses in it are borrowed: of use in
///   this process only, until the queue is closed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (no EFA), VBN_ERR_SYMBOL_MISSING (rdma-core before 59),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: efadv_query_cq(3)
vbn_status vbn_efa_query_cq(const vbn_cq *cq,
                            vbn_efa_cq_info *info);

/// Tells where the send queue and the receive queue of a queue pair of an EFA lie in this process's memory, for programs
/// (or GPUs) that write requests themselves. Whoever does must not post by this library as well.
///
/// - Ownership: fills the caller's `*sq` and `*rq`, whose struct_size must be set; either may be NULL. The addresses in
///   them are borrowed: of use in this process only, until the queue pair is closed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (no EFA), VBN_ERR_SYMBOL_MISSING (rdma-core before 59),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: efadv_query_qp_wqs(3)
vbn_status vbn_efa_query_qp(const vbn_qp *qp,
                            vbn_efa_wq_info *sq,
                            vbn_efa_wq_info *rq);

/// Tells by which interconnect an EFA reaches a memory region, for each kind of access. Regions with equal numbers share
/// a path.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (no EFA, or its kernel driver is too old),
///   VBN_ERR_SYMBOL_MISSING (rdma-core before 50), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: efadv_query_mr(3)
vbn_status vbn_efa_query_mr(const vbn_mr *mr,
                            vbn_efa_mr_info *info);

/// Fills in where one's own SRD or UD queue pair is reached: GID, number, QKEY. The peer makes a vbn_peer of it.
///
/// The GID is found by itself: on RoCE what vbn_gid_select picks, elsewhere the first of the port. The queue pair must have its
/// QKEY, so it must have left RESET (vbn_qp_prepare). An RC queue pair has none and is refused.
///
/// - Ownership: fills the caller's `*endpoint`.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT (also: no SRD or UD queue pair, or in RESET), VBN_ERR_LIMIT (references), VBN_ERR_NOT_FOUND
///   (no usable GID), VBN_ERR_NOT_SUPPORTED (iWARP), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_endpoint_local(const vbn_qp *qp,
                              vbn_endpoint *endpoint);

/// Writes an endpoint as VBN_ENDPOINT_SIZE (24) bytes, big-endian: gid, qp_num, qkey. The Python package efa (rdma4py)
/// exchanges the same bytes.
///
/// - Ownership: reads `*endpoint`, fills `bytes`, which must have room for `size` bytes.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (qp_num above 24 bits, size not 24), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma4py 2026.10.22, EndpointInfo
vbn_status vbn_endpoint_encode(const vbn_endpoint *endpoint,
                               uint8_t *bytes,
                               size_t size);

/// Reads an endpoint that came from a peer, and checks it.
///
/// - Ownership: reads `bytes`, fills the caller's `*endpoint`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (size not 24, qp_num above 24 bits), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma4py 2026.10.22, EndpointInfo
vbn_status vbn_endpoint_decode(const uint8_t *bytes, size_t size, vbn_endpoint *endpoint);

/// Fills in all that a peer may want to know of one's own queue pair, of type RC, UC, UD or SRD: addresses, numbers, limits,
/// and what must be the same on both sides.
///
/// Make it once for a queue pair and send the same to every peer: the PSN of an RC or UC queue pair and the incarnation are
/// drawn at random by each call. A UD or SRD queue pair must have its QKEY, so it must have left RESET (vbn_qp_prepare).
///
/// `attr` may be NULL. On RoCE the first of the GIDs is what vbn_gid_select picks, the others would do as well.
///
/// - Ownership: reads `*attr`, fills the caller's `*info`.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT (also: a UD or SRD queue pair in RESET), VBN_ERR_LIMIT (port_num, sgid_index,
///   max_rd_atomic, max_dest_rd_atomic; references), VBN_ERR_NOT_FOUND (no usable GID), VBN_ERR_NOT_SUPPORTED (iWARP;
///   another type of queue pair), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_endpoint_info_local(const vbn_qp *qp,
                                   const vbn_endpoint_info_attr *attr,
                                   vbn_endpoint_info *info);

/// Writes an endpoint as a record that can grow, of at most VBN_RECORD_MAX_SIZE (1024) bytes; docs/records.md has the format.
/// A field whose bit isn't in `set` is left out.
///
/// With a `capacity` of 0 nothing is written but `*size`; `bytes` may then be NULL.
///
/// - Ownership: reads `*info`, fills `bytes`, which must have room for `capacity` bytes, and `*size`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (a field out of range; capacity too small, which limit of the record of the error tells),
///   VBN_ERR_TOO_NEW, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_endpoint_info_encode(const vbn_endpoint_info *info,
                                    uint8_t *bytes,
                                    size_t capacity,
                                    size_t *size);

/// Reads an endpoint that came from a peer, and checks it. What the peer doesn't tell is not in `info->set`.
///
/// `size` may be more than the record has, as in a slot of fixed size: what lies behind the record isn't looked at. Items that
/// this library doesn't know are skipped, unless the peer says that they must be understood.
///
/// - Ownership: reads `bytes`, fills the caller's `*info`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (no record of an endpoint, or one that was cut; a field out of range or missing),
///   VBN_ERR_TOO_NEW (a later version of the format, or an item that must be understood and isn't: value has its number),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_endpoint_info_decode(const uint8_t *bytes,
                                    size_t size,
                                    vbn_endpoint_info *info);

/// Tells what went wrong in the last call that failed on this thread.
///
/// Call it on the thread of the failed call and before the next one. A failure of vbn_last_error itself is recorded
/// as well, in place of what was there.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe; every thread has a record of its own.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_INTERNAL.
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

/// Explains a failed completion, or that none comes: what happened, likely causes, and for each what to do. It needs no
/// device and no libibverbs, so it can explain on one machine what was seen on another.
///
/// On EFA the vendor's code is explained, and the status only in its absence: rdma-core names the codes 14, 15 and 18
/// since releases 52, 55 and 62, code 7 since 52, and code 13 since 40. Codes and statuses that aren't known are called so.
///
/// Writes at most `capacity` bytes to `text`, always with a zero at the end, and to `*needed` the room that the whole
/// takes: more than `capacity` if the text was cut. VBN_EXPLAIN_TEXT_SIZE is enough for every text of this version. With
/// `capacity` 0, `text` may be NULL. `needed` may be NULL. The text is for people: its words may change in any release.
///
/// - Ownership: fills the caller's buffer; nothing is kept.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, and of `context`: VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT
///   (references); VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma-core 65.0, providers/efa/efa_io_defs.h; InfiniBand Architecture Specification 10.7.3 and 11.6.2
vbn_status vbn_explain(const vbn_explain_attr *attr,
                       char *text,
                       size_t capacity,
                       size_t *needed);

/// Explains a failed call from its record: the sentence, what the errno means from such a call, likely causes, and for each
/// what to do. It knows transitions of queue pairs (ETIMEDOUT, EINVAL, ENETUNREACH ...), registrations (ENOMEM with the limit
/// on locked memory, how much is pinned, and the size asked for; EFAULT, EPERM ...), address handles, creation and opening; of
/// other calls what the errno or the status means in general. vbn_wc_check's record is explained as vbn_explain does.
///
/// `error` is what vbn_last_error filled, or a copy of it. One filled by hand is fine: `op_name` with the function's name,
/// which may be raw verbs' ("ibv_modify_qp"), and `sys_errno`; all else may be zero. `more` tells what else is known, and may
/// be NULL: driver or context, the peer's GID; its status and vendor_err don't count.
///
/// `text`, `capacity` and `needed` are as for vbn_explain. The limit on locked memory and what is pinned are those of the
/// calling process, now.
///
/// - Ownership: fills the caller's buffer; nothing is kept.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, and of `more->context`: VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT
///   (references); VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library; Linux 6.1, drivers/infiniband/core (verbs.c, addr.c, umem.c, uverbs_cmd.c)
vbn_status vbn_explain_error(const vbn_error_info *error,
                             const vbn_explain_attr *more,
                             char *text,
                             size_t capacity,
                             size_t *needed);

/// Makes a rule by which packets that come in on an Ethernet port go to `qp`, on devices that steer flows (mlx5, mlx4). The
/// kernel has rules for UD and raw packet queue pairs (those of raw verbs: vbn_qp_adopt), and wants CAP_NET_RAW.
///
/// The rule is the `count` specs at `specs`, from the outermost header on, and what to do beside. `specs` may be NULL if
/// `count` is 0; `attr` may be NULL.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_flow_close; NULL after a failure. It keeps the context and the
///   counters in its specs alive; the queue pair can't be closed before it. Reads the caller's specs.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT (index: of the spec), VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (specs, port, fields that have fewer bits;
///   references), VBN_ERR_NOT_SUPPORTED (the device steers no flows), VBN_ERR_DRIVER (it can't match this, or CAP_NET_RAW is
///   missing), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_create_flow(3)
vbn_status vbn_flow_create(vbn_qp *qp,
                           const vbn_flow_attr *attr,
                           const vbn_flow_spec *specs,
                           size_t count,
                           vbn_flow **out);

/// Closes a rule and sets `*flow` to NULL: from then on packets take another way.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may be under way or start afterwards.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (another thread is inside a call, or the driver refuses; the handle stays valid),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_destroy_flow(3)
vbn_status vbn_flow_close(vbn_flow **flow);

/// Lends the `ibv_flow`. It stays this library's: don't destroy it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_flow_native(const vbn_flow *flow,
                           struct ibv_flow **native_out);

/// Gives the `ibv_flow` away: the handle ends, the rule lives on and is the caller's to destroy, before its queue pair and its
/// counters. Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*flow` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (another thread is inside a call on it), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_flow_release(vbn_flow **flow,
                            struct ibv_flow **native_out);

/// Makes a handle for an `ibv_flow` that raw verbs made for the queue pair behind `qp`, which can't be closed before it. Counters in the rule
/// must outlive it.
///
/// `native` must be a live ibv_flow. `attr` may be NULL: borrowed. `*out` is NULL after a failure. There is no query that
/// would tell `user_data`.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_flow_adopt(vbn_qp *qp,
                          struct ibv_flow *native,
                          const vbn_adopt_attr *attr,
                          vbn_flow **out);

/// Tells what an address is: memory of a GPU, of the host, managed, or none that a GPU's library knows; and of which allocation.
///
/// `kind` is VBN_GPU_KIND_CUDA, VBN_GPU_KIND_ROCM, or VBN_GPU_KIND_ANY: whichever knows the address. That no library knows the
/// address is an answer, not an error. Nothing is read from the address, and nothing is initialised: the caller has called cuInit or hsa_init,
/// or what does so for him (the CUDA runtime, HIP, PyTorch).
///
/// A context of the memory's GPU is current in this thread during the call where one can be found, to tell the bounds of the
/// allocation; afterwards all is as before.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIBRARY_MISSING (of the kind, or of any), VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER
///   (vendor_code says what: not initialised, ...), VBN_ERR_NOT_FOUND (no GPU), VBN_ERR_NOT_SUPPORTED, VBN_ERR_NO_MEMORY,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: cuPointerGetAttribute, cuMemGetAddressRange, cuMemRetainAllocationHandle; hsa_amd_pointer_info
vbn_status vbn_gpu_pointer_query(int32_t kind,
                                 uint64_t ptr,
                                 vbn_gpu_pointer_info *info);

/// Counts the GPUs that a library shows. `kind` is VBN_GPU_KIND_CUDA or VBN_GPU_KIND_ROCM.
///
/// - Ownership: sets the caller's `*count`.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER (vendor_code says what: not
///   initialised, ...), VBN_ERR_NOT_FOUND, VBN_ERR_NOT_SUPPORTED, VBN_ERR_NO_MEMORY, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: cuDeviceGetCount; hsa_iterate_agents
vbn_status vbn_gpu_device_count(int32_t kind,
                                uint32_t *count);

/// Tells what a GPU can do for a NIC, and where it is. `kind` is VBN_GPU_KIND_CUDA or VBN_GPU_KIND_ROCM, `device` the ordinal among
/// those that the library shows. Needs no context.
///
/// What the attributes promise may still fail: the proof is a registration.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for reads of sysfs, and while the library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_FOUND (no such GPU), VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER
///   (vendor_code says what: not initialised, ...), VBN_ERR_NOT_SUPPORTED, VBN_ERR_NO_MEMORY, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: cuDeviceGetAttribute, cuDeviceGetPCIBusId; hsa_agent_get_info, hsa_system_get_info; sysfs
vbn_status vbn_gpu_device_query(int32_t kind,
                                int32_t device,
                                vbn_gpu_device_info *info);

/// Exports memory of a GPU as a dma-buf, for vbn_mr_reg_dmabuf or another program. `ptr` and `length` may have any alignment: the
/// host's pages around them are exported, and `out->offset` tells where `ptr` lies in the dma-buf. (The part of a page that was not
/// asked for is in the dma-buf too; a region of vbn_mr_reg_dmabuf lets nobody get there.) Register it by `vbn_mr_reg_dmabuf(pd, out->fd,
/// out->offset, length, ptr, access, NULL, &mr)`, and close the descriptor; vbn_gpu_mr_reg does all of it.
///
/// A range may span several segments of VMM memory if the driver exports such; else export them one by one: vbn_gpu_pointer_query tells their
/// bounds. `attr` may be NULL.
///
/// - Ownership: `out->fd` is the caller's, to be closed with close(2); a region stays without it. -1 after a failure. The dma-buf keeps the
///   memory, not its address: free it only after the regions are closed.
/// - Threads: MT-safe. A context of the memory's GPU is current in this thread during the call; afterwards all is as before.
/// - Blocks: while the library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT (length 0, no memory of a GPU, managed memory, past the allocation's end, a hole in the range),
///   VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (no dma-bufs from this driver, this memory or with this flag; the message says how to get memory that can be
///   exported), VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING (CUDA before 11.7), VBN_ERR_DRIVER (vendor_code says what:
///   not initialised, no context, ...), VBN_ERR_NOT_FOUND, VBN_ERR_NO_MEMORY, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: cuMemGetHandleForAddressRange; hsa_amd_portable_export_dmabuf
vbn_status vbn_gpu_dmabuf_export(int32_t kind,
                                 uint64_t ptr,
                                 uint64_t length,
                                 const vbn_gpu_dmabuf_attr *attr,
                                 vbn_gpu_dmabuf *out);

/// Makes what NICs have written into a GPU's memory visible to work that is started on GPUs afterwards. To be called after the
/// completion that announces the data, and before the kernel that reads it. Where the GPU orders such writes by itself the call does
/// nothing, and says so by `*done`: VBN_GPU_FLUSH_NOT_NEEDED or VBN_GPU_FLUSH_DONE. `done` may be NULL.
///
/// `kind` is VBN_GPU_KIND_CUDA (ROCm has no such call). `device` is the ordinal of the GPU with the memory, or VBN_GPU_DEVICE_CURRENT.
/// `scope` is VBN_GPU_FLUSH_OWNER or VBN_GPU_FLUSH_ALL_DEVICES: who shall see the data.
///
/// It takes a context of that GPU: the thread's current one, or else the primary one if somebody has made it. None is made. So a thread
/// without a context finds none where the program has only made some by cuCtxCreate, and must make one of them current.
///
/// Writes through dma-bufs with and without VBN_GPU_DMABUF_PCIE go different ways, and no flush orders one way after the other.
///
/// - Ownership: sets the caller's `*done`.
/// - Threads: MT-safe. A context of the GPU is current in this thread during the call; afterwards all is as before.
/// - Blocks: until the writes are visible.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (the GPU can't be flushed from the host; ROCm), VBN_ERR_LIBRARY_MISSING,
///   VBN_ERR_SYMBOL_MISSING (CUDA before 11.3), VBN_ERR_DRIVER (vendor_code says what: not initialised, no context, ...),
///   VBN_ERR_NOT_FOUND, VBN_ERR_NO_MEMORY, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: cuFlushGPUDirectRDMAWrites
vbn_status vbn_gpu_flush_writes(int32_t kind,
                                int32_t device,
                                int32_t scope,
                                int32_t *done);

/// Waits until all work that a GPU was given in a context is done: before its results are sent. `kind` is VBN_GPU_KIND_CUDA (with ROCm
/// call hipDeviceSynchronize), `device` an ordinal or VBN_GPU_DEVICE_CURRENT.
///
/// The context is the thread's current one if it is of that GPU, or else the GPU's primary one if somebody has made it: the only one with the
/// CUDA runtime. Work in others isn't waited for; a program that makes some by cuCtxCreate makes the right one current before the call.
///
/// - Ownership: none.
/// - Threads: MT-safe. A context of the GPU is current in this thread during the call; afterwards all is as before.
/// - Blocks: until the work is done.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (ROCm), VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER
///   (vendor_code says what: not initialised, no context, earlier work has failed, ...), VBN_ERR_NOT_FOUND, VBN_ERR_NO_MEMORY,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: cuCtxSynchronize
vbn_status vbn_gpu_synchronize(int32_t kind,
                               int32_t device);

/// Registers `length` bytes of a GPU's memory at the device address `ptr`, so that the device may use them as `access`
/// (VBN_ACCESS_*) says. Neither needs to be aligned. Requests address them from `ptr` on.
///
/// The ways there are tried in turn: one dma-buf of all of it; for VMM memory of several segments a dma-buf for each; by address, with a
/// peer-memory module of the kernel, which each NIC's driver has or lacks by itself. If none works, the error says why each
/// didn't. `*report`, which may be NULL, tells the same of a success, and is written after a failure, too, unless `pd`, `attr` or `out`
/// itself was refused. `attr` may be NULL.
///
/// The memory must stay until the set is closed: nothing stops it from being freed. After that, what comes in through a dma-buf goes into
/// pages that nobody sees any more, and peer memory is taken from the device, so that requests fail; vbn_gpu_mr_validate tells.
///
/// Never post a request with VBN_SEND_INLINE from such memory: the CPU would copy the data, and can't read it (the process
/// crashes). Nothing on the data path looks; vbn_rdma_split refuses it.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_mr_set_close; NULL after a failure. It keeps `pd` alive, and `owner` of
///   `attr` until a close has succeeded. No descriptor stays open.
/// - Threads: MT-safe. A context of the memory's GPU is current in this thread during the call; afterwards all is as before.
/// - Blocks: while the memory is exported and mapped, and while the GPU's library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT (length 0, memory of the host, managed or freed memory, past the allocation's end, a hole in the
///   range, access for the host's memory only), VBN_ERR_TOO_NEW, VBN_ERR_LIBRARY_MISSING (no GPU's library is loaded),
///   VBN_ERR_SYMBOL_MISSING, VBN_ERR_NOT_FOUND (no GPU), VBN_ERR_LIMIT (length above the device's max_mr_size; references),
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER (sys_errno or vendor_code say how: EFAULT where no peer-memory module knows the
///   address), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: cuMemGetHandleForAddressRange, hsa_amd_portable_export_dmabuf; ibv_reg_dmabuf_mr(3), ibv_reg_mr(3)
vbn_status vbn_gpu_mr_reg(vbn_pd *pd,
                          uint64_t ptr,
                          uint64_t length,
                          uint64_t access,
                          const vbn_gpu_mr_attr *attr,
                          vbn_mr_set **out,
                          vbn_gpu_mr_report *report);

/// Tells whether the memory of a set that vbn_gpu_mr_reg made is still what was registered. `*state` becomes one of VBN_GPU_MR_*.
///
/// The GPU's library gives each allocation a number that it never uses again, and that was kept. So memory that was freed, and
/// other memory at the same address, are found; memory that is freed a moment later is not.
///
/// - Ownership: sets the caller's `*state`.
/// - Threads: MT-safe. A context of the memory's GPU is current in this thread during the call; afterwards all is as before.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (a set of another origin), VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_NOT_FOUND,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER (vendor_code says what), VBN_ERR_NO_MEMORY, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: CU_POINTER_ATTRIBUTE_BUFFER_ID
vbn_status vbn_gpu_mr_validate(const vbn_mr_set *set,
                               int32_t *state);

/// Registers the bytes of a tensor in DLPack's form, of the host's memory or of a GPU's: as vbn_mr_reg or vbn_gpu_mr_reg would.
/// A `const DLTensor *` of dlpack.h is cast to `const vbn_dltensor *`; of a DLManagedTensor it is the member dl_tensor.
///
/// The tensor must be contiguous, row by row, and not empty; the error tells its shape and strides. `byte_offset` counts. `attr` may be NULL;
/// its `owner` is the place for the DLManagedTensor, to be deleted when the set is closed. `report` may be NULL; for memory of the
/// host its `path` is 0.
///
/// - Ownership: reads the caller's `*tensor`, its shape and strides, during the call only. `*out` is the caller's, to be given to
///   vbn_mr_set_close; NULL after a failure. It keeps `pd` alive. The memory must stay until the close has succeeded.
/// - Threads: MT-safe.
/// - Blocks: while the memory is pinned or exported and mapped.
/// - Errors: VBN_ERR_ARGUMENT (not contiguous, empty, managed memory; otherwise as vbn_gpu_mr_reg), VBN_ERR_TOO_NEW,
///   VBN_ERR_NOT_SUPPORTED (a device that isn't known here), VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING,
///   VBN_ERR_NOT_FOUND, VBN_ERR_LIMIT (length above the device's max_mr_size; references), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: DLPack 1.1, DLTensor
vbn_status vbn_mr_reg_dltensor(vbn_pd *pd,
                               const vbn_dltensor *tensor,
                               uint64_t access,
                               const vbn_gpu_mr_attr *attr,
                               vbn_mr_set **out,
                               vbn_gpu_mr_report *report);

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
/// For VBN_LIBRARY_RDMACM likewise with VBN_RDMACM_LIBRARY and librdmacm.so.1, which the connection manager's functions need.
/// For VBN_LIBRARY_CUDA with VBN_CUDA_LIBRARY and libcuda.so.1, for VBN_LIBRARY_ROCM with VBN_ROCM_LIBRARY and libhsa-runtime64.so.1.
///
/// For VBN_LIBRARY_EFA, where libefa's functions shall come from if the provider that serves an EFA device can't be
/// found. Where it can, which is the rule, this changes nothing.
///
/// Nothing is loaded by this call. Once the library is in use, only the same setting again is accepted.
///
/// - Ownership: the path is copied; `handle`, and what `lookup` returns, must stay valid for ever.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_BUSY (already loaded from elsewhere), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_library_init(const vbn_library_attr *attr);

/// Tells whether a library is loaded, from where and how old it is, or why it can't be loaded. Tries to load it first.
///
/// `library` is one of VBN_LIBRARY_*. That it can't be loaded is an answer, not an error.
/// libefa counts as loaded once an EFA device has been opened: it is not loaded for this call.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_library_query(int32_t library,
                             vbn_library_info *info);

/// Tells one of the symbols that a library lacks: `index` is 0 .. missing_count - 1 of vbn_library_query.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_FOUND (it lacks fewer), VBN_ERR_LIBRARY_MISSING (for
///   VBN_LIBRARY_EFA: no EFA device was opened), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER (errno EINVAL: too late, memory has been
///   registered), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (length above the device's max_mr_size; references), VBN_ERR_TOO_NEW,
///   VBN_ERR_DRIVER (sys_errno EFAULT: not mapped), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (length above the device's max_mr_size; references), VBN_ERR_TOO_NEW,
///   VBN_ERR_SYMBOL_MISSING (rdma-core before 34), VBN_ERR_NOT_SUPPORTED (the driver has no dma-buf), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
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

/// Makes a region without memory, on devices that have such: what is read through its key is 0, what is written is dropped. So a
/// receive can skip parts of a message.
///
/// Only vbn_mr_lkey counts, in a vbn_sge with any address. `attr` may be NULL; `set` must be 0. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_mr_close. It keeps `pd` alive.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the device has none), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_alloc_null_mr(3)
vbn_status vbn_mr_alloc_null(vbn_pd *pd,
                             const vbn_mr_attr *attr,
                             vbn_mr **out);

/// Registers `length` bytes from `offset` of a device's memory. In requests the region begins at address 0.
///
/// VBN_ACCESS_ZERO_BASED is added to `access`: the kernel takes no other. `attr` may be NULL; `set` must be 0. `*out` is NULL after
/// a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_mr_close. It keeps `pd` and `dm` alive.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the device can't), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_reg_dm_mr(3)
vbn_status vbn_mr_reg_dm(vbn_pd *pd,
                         vbn_dm *dm,
                         uint64_t offset,
                         uint64_t length,
                         uint64_t access,
                         const vbn_mr_attr *attr,
                         vbn_mr **out);

/// Makes a handle for a region of another process in an imported protection domain (vbn_pd_import); `handle` is what vbn_mr_query
/// told there. `attr` is needed, with VBN_MR_SET_IOVA and `iova`: the `addr` that vbn_mr_query told there, since nothing else says
/// where the region begins. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_mr_close, which leaves the region as it is: the process that made it
///   deregisters it. It keeps `pd` alive.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the driver can't), VBN_ERR_SYMBOL_MISSING (rdma-core
///   before 31), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_import_mr(3)
vbn_status vbn_mr_import(vbn_pd *pd,
                         uint32_t handle,
                         const vbn_mr_attr *attr,
                         vbn_mr **out);

/// Registers a region anew, under the same handle: with other memory, in another protection domain, with other access, as
/// `attr->set` says. Its keys may change.
///
/// No request may use the region meanwhile, and no other thread its addresses and keys. What a failure leaves is said in the
/// message: after a refused argument, VBN_ERR_NOT_SUPPORTED, and when fork protection of the new memory failed, the region is
/// as it was; when fork protection of the old memory could not be undone, all is changed as asked; when the kernel refused,
/// nothing is known of the region, `lost` of vbn_mr_query is 1 and it can only be closed.
///
/// - Ownership: reads the caller's `*attr`. A new PD is kept alive instead of the old one. Old memory is free when the call has
///   succeeded; after the region was lost, old and new must stay until the close has succeeded.
/// - Threads: not on one region at once; MT-safe otherwise.
/// - Blocks: while the kernel pins the pages.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (length above the device's max_mr_size; references),
///   VBN_ERR_NOT_SUPPORTED (the driver can't), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_rereg_mr(3)
vbn_status vbn_mr_rereg(vbn_mr *mr,
                        const vbn_mr_rereg_attr *attr);

/// Gives advice about parts of regions that were registered with VBN_ACCESS_ON_DEMAND: that the device should fetch their pages
/// now, before requests need them. `advice` is one of VBN_ADVISE_*.
///
/// vbn_mr_segments makes the segments. Without VBN_ADVISE_FLUSH in `flags` the advice is taken and may be followed later, or
/// not at all.
///
/// - Ownership: reads the caller's segments.
/// - Threads: MT-safe.
/// - Blocks: with VBN_ADVISE_FLUSH while pages are fetched, else for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (the device has no on-demand paging, or not this advice),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_advise_mr(3)
vbn_status vbn_mr_advise(vbn_pd *pd,
                         int32_t advice,
                         uint32_t flags,
                         const vbn_sge *sges,
                         uint32_t num_sge);

/// Deregisters a memory region and sets `*mr` to NULL.
///
/// Only after success may the memory be freed. When the driver refuses (a memory window is bound), the device may still
/// use the memory: the error is returned, the handle stays valid and keeps its `owner`.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (a window is bound, or another thread is inside a call on the handle), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_dereg_mr(3)
vbn_status vbn_mr_close(vbn_mr **mr);

/// Tells what is known of a memory region: its addresses, keys and owner.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT (a length or capacity of 0, or a range that is not inside the region), VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (another thread is inside a call on it), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_mr_release(vbn_mr **mr,
                          struct ibv_mr **native_out);

/// Makes a handle for an `ibv_mr` that raw verbs registered in the `ibv_pd` of `pd`.
///
/// `native` must be a live ibv_mr. Nothing in it says at which address requests find it: unless `attr` has
/// VBN_ADOPT_SET_IOVA, ibv_mr.addr is taken. That is wrong for a region registered with another iova, for a dma-buf
/// and for a zero-based one: give their iova. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_mr_adopt(vbn_pd *pd,
                        struct ibv_mr *native,
                        const vbn_adopt_attr *attr,
                        vbn_mr **out);

/// Makes a set of `count` regions of one protection domain, in the order of `mrs`: memory that is used as one, though the device has
/// it in pieces. A plain region is a set of one.
///
/// By default the regions stay the caller's, and none can be closed while the set has it. With `take` in `attr` they become the set's:
/// their variables in `mrs` are set to NULL, and vbn_mr_set_close deregisters them. `attr` may be NULL. Where the memory lives is told
/// to peers by vbn_region_info_local. `*out` is NULL after a failure, and nothing has changed then.
///
/// Don't register a region anew (vbn_mr_rereg) that is in a set: the set keeps the addresses and keys that it was made with.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_mr_set_close. It keeps the regions alive. `owner` of `attr` is kept
///   until a close has succeeded.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (count 0; a region of another PD, one without memory, one that is lost; index says which),
///   VBN_ERR_TOO_NEW, VBN_ERR_BUSY (a region to be taken is in a set, or here twice), VBN_ERR_NO_MEMORY, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_mr_set_create(vbn_mr **mrs,
                             uint32_t count,
                             const vbn_mr_set_attr *attr,
                             vbn_mr_set **out);

/// Closes a set and sets `*set` to NULL. Regions that it has taken are deregistered, the others are free to be closed.
///
/// Only after success may the memory of regions that it has taken be freed. When the driver refuses one of them (a memory window is
/// bound to it), the others are deregistered none the less, the error is returned with the place of the first in `index`, and the handle
/// stays valid, keeps its `owner`, and can be closed again. `lost` of vbn_mr_set_query tells that some are gone.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for a system call for each region that it has taken.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (a window is bound, or another thread is inside a call on the handle), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_mr_set_close(vbn_mr_set **set);

/// Tells what is known of a set.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_mr_set_query(const vbn_mr_set *set, vbn_mr_set_info *info);

/// Tells one of the entries of a set, from 0 to `count - 1` of vbn_mr_set_query.
///
/// - Ownership: fills the caller's `*entry`, whose struct_size must be set. The region in it is borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (also: the set is lost), VBN_ERR_NOT_FOUND (no such entry), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_mr_set_entry(const vbn_mr_set *set,
                            uint32_t index,
                            vbn_mr_entry *entry);

/// Cuts `length` bytes from `offset` of a set into segments, of which each lies in one region and has at most `max_segment` bytes
/// (0: 1 GiB).
///
/// Writes up to `capacity` segments to `sges`, their number to `*count_out` and the bytes they cover to `*covered_out`.
/// If that is less than `length`, go on at `offset + *covered_out`. After a failure both are 0.
///
/// - Ownership: none; the segments are good until the set is closed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (a length or capacity of 0, a range that is not inside the set, or a set that is lost),
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_mr_set_segment(const vbn_mr_set *set,
                              uint64_t offset,
                              uint64_t length,
                              uint32_t max_segment,
                              vbn_sge *sges,
                              uint32_t capacity,
                              uint32_t *count_out,
                              uint64_t *covered_out);

/// Allocates a memory window, bound to nothing yet. `type` is VBN_MW_TYPE_1 or VBN_MW_TYPE_2.
///
/// A window gives a peer access to a part of a region, by a key that can be taken back in one request. Windows of type 1 are
/// bound with vbn_mw_bind, those of type 2 with the request VBN_WR_BIND_MW. `attr` may be NULL.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_mw_close; NULL after a failure. It keeps `pd` alive.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the device has no windows of this type),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_alloc_mw(3)
vbn_status vbn_mw_alloc(vbn_pd *pd,
                        int32_t type,
                        const vbn_mw_attr *attr,
                        vbn_mw **out);

/// Closes a memory window and sets `*mw` to NULL. If it is bound, peers lose their access through it.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may be under way or start afterwards.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (another thread is inside a call, or the driver refuses; the handle stays valid),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_alloc_mw(3)
vbn_status vbn_mw_close(vbn_mw **mw);

/// Tells what is known of a memory window: its key, type and user data.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_mw_query(const vbn_mw *mw, vbn_mw_info *info);

/// The key for peers: that of the bind posted last, whether that has succeeded or not. 0 for NULL or a handle that can't
/// be used.
///
/// - Ownership: nothing changes hands.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
uint32_t vbn_mw_rkey(const vbn_mw *mw);

/// Puts back the key that a window had before a bind that failed (VBN_WC_MW_BIND_ERR, or a flush). Until that is done the
/// window can't be bound again. `rkey` may differ from the present one in its low byte only.
///
/// - Ownership: nothing changes hands.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_bind_mw(3)
vbn_status vbn_mw_set_rkey(vbn_mw *mw,
                           uint32_t rkey);

/// Posts the bind of a window of type 1 to the send queue of `qp`, of type RC (or XRC_SEND): from its completion on the peer has
/// the access that `attr` tells, by the key `*rkey_out`. A length of 0 takes the window back. An earlier key ends.
///
/// The bind is done when its completion (VBN_WC_BIND_MW, attr->wr_id) is there; without VBN_SEND_SIGNALED only a failure
/// completes. The key may be told at once in a SEND on the same queue pair. `rkey_out` may be NULL; vbn_mw_rkey tells, too.
///
/// - Ownership: reads the caller's `*attr`. The region must stay until the window is taken back or closed.
/// - Threads: as thread-safe as the driver's posting. Not two at once for one window.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_QUEUE_FULL, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER,
///   VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_bind_mw(3)
vbn_status vbn_mw_bind(vbn_qp *qp,
                       vbn_mw *mw,
                       const vbn_mw_bind_attr *attr,
                       uint32_t *rkey_out);

/// Lends the `ibv_mw`. It stays this library's: don't deallocate it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_mw_native(const vbn_mw *mw,
                         struct ibv_mw **native_out);

/// Gives the `ibv_mw` away: the handle ends, the window lives on and is the caller's to deallocate.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*mw` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (another thread is inside a call on it), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_mw_release(vbn_mw **mw,
                          struct ibv_mw **native_out);

/// Makes a handle for an `ibv_mw` that raw verbs made in the `ibv_pd` of `pd`.
///
/// `native` must be a live ibv_mw. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_mw_adopt(vbn_pd *pd,
                        struct ibv_mw *native,
                        const vbn_adopt_attr *attr,
                        vbn_mw **out);

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

/// Name of a VBN_GPU_KIND_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_gpu_kind_name(int32_t value);

/// Name of a VBN_GPU_MEMORY_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_gpu_memory_name(int32_t value);

/// Name of a VBN_GPU_ALLOCATION_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_gpu_allocation_name(int32_t value);

/// Name of a single VBN_GPU_PATH_* bit.
///
/// - Ownership: a constant text, never NULL; "unknown" for no bit, several, or an unknown one.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_gpu_path_name(uint64_t bit);

/// Name of a VBN_GPU_ATTEMPT_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_gpu_attempt_name(int32_t value);

/// Name of a VBN_GPU_MR_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_gpu_mr_state_name(int32_t value);

/// Name of a VBN_MEMORY_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_memory_name(int32_t value);

/// Name of a VBN_ABSENCE_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_absence_name(int32_t value);

/// Name of a single VBN_CAP_* bit.
///
/// - Ownership: a constant text, never NULL; "unknown" for no bit, several, or an unknown one.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_cap_name(uint64_t bit);

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

/// Name of a VBN_CM_EVENT_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: rdma_event_str(3)
const char *vbn_cm_event_name(int32_t value);

/// Name of an atomic_cap value of vbn_device_attr.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_device(3)
const char *vbn_atomic_cap_name(int32_t value);

/// Name of a path_mig_state value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
const char *vbn_mig_state_name(int32_t value);

/// Name of a phys_state value of vbn_port_attr.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_port(3)
const char *vbn_phys_state_name(int32_t value);

/// Name of a VBN_MW_TYPE_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_alloc_mw(3)
const char *vbn_mw_type_name(int32_t value);

/// Name of a VBN_SRQT_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_create_srq_ex(3)
const char *vbn_srq_type_name(int32_t value);

/// Name of a VBN_ADVISE_PREFETCH* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_advise_mr(3)
const char *vbn_advice_name(int32_t value);

/// Name of a VBN_POST_PATH_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_post_path_name(int32_t value);

/// Name of a VBN_DRIVER_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_driver_name(int32_t value);

/// Name of a single VBN_MISMATCH_* bit.
///
/// - Ownership: a constant text, never NULL; "unknown" for no bit, several, or an unknown one.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_mismatch_name(uint64_t bit);

/// Name of a single VBN_EFA_CAP_* bit.
///
/// - Ownership: a constant text, never NULL; "unknown" for no bit, several, or an unknown one.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: efadv_query_device(3)
const char *vbn_efa_cap_name(uint64_t bit);

/// Name of a single VBN_WC_EX_* bit.
///
/// - Ownership: a constant text, never NULL; "unknown" for no bit, several, or an unknown one.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_create_cq_ex(3), efadv_create_cq(3)
const char *vbn_wc_field_name(uint64_t bit);

/// Name of a VBN_DISTANCE_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_distance_name(int32_t value);

/// Name of an active_width of vbn_port_attr: "4X" is four lanes.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_port(3)
const char *vbn_port_width_name(int32_t value);

/// Name of an active_speed or active_speed_ex of vbn_port_attr, with what a lane carries.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_port(3)
const char *vbn_port_speed_name(uint32_t value);

/// Name of a single bit of device_cap_flags or device_cap_flags_ex of vbn_device_attr: that of libibverbs' IBV_DEVICE_*.
///
/// - Ownership: a constant text, never NULL; "bit 37" and the like for a bit without a name, "unknown" for no bit or several.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_device_ex(3)
const char *vbn_device_cap_name(uint64_t bit);

/// Name of a single bit of port_cap_flags of vbn_port_attr: that of libibverbs' IBV_PORT_*.
///
/// - Ownership: a constant text, never NULL; "bit 37" and the like for a bit without a name, "unknown" for no bit or several.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_port(3)
const char *vbn_port_cap_name(uint64_t bit);

/// Name of a single bit of port_cap_flags2 of vbn_port_attr: that of libibverbs' IBV_PORT_*.
///
/// - Ownership: a constant text, never NULL; "bit 37" and the like for a bit without a name, "unknown" for no bit or several.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_port(3)
const char *vbn_port_cap2_name(uint64_t bit);

/// Name of a VBN_FLOW_* rule type.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_create_flow(3)
const char *vbn_flow_type_name(int32_t value);

/// Name of a VBN_FLOW_SPEC_* value, with VBN_FLOW_SPEC_INNER too.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_create_flow(3)
const char *vbn_flow_spec_name(int32_t value);

/// Name of a VBN_COUNTER_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_attach_counters_point_flow(3)
const char *vbn_counter_name(int32_t value);

/// Name of a static_rate, such as "25 Gbit/s"; "MAX" is 0.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_rate_to_mbps(3)
const char *vbn_rate_name(int32_t value);

/// Name of a single bit of odp_rc_caps, odp_uc_caps, odp_ud_caps or odp_xrc_caps of vbn_device_attr.
///
/// - Ownership: a constant text, never NULL; "bit 37" and the like for a bit without a name, "unknown" for no bit or several.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: ibv_query_device_ex(3)
const char *vbn_odp_cap_name(uint64_t bit);

/// Name of a VBN_CM_PS_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: rdma_create_id(3)
const char *vbn_cm_ps_name(int32_t value);

/// Name of a library: VBN_LIBRARY_IBVERBS, VBN_LIBRARY_EFA, VBN_LIBRARY_RDMACM, VBN_LIBRARY_CUDA or VBN_LIBRARY_ROCM.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_library_name(int32_t value);

/// Name of a VBN_CQ_WAIT_* value.
///
/// - Ownership: a constant text, never NULL; "unknown" for an unknown value.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
const char *vbn_cq_wait_mode_name(int32_t value);

/// Allocates a protection domain, in which memory is registered and queue pairs are made.
///
/// `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_pd_close. It keeps `context` alive.
/// - Threads: MT-safe.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_alloc_pd(3)
vbn_status vbn_pd_alloc(vbn_context *context, const vbn_pd_attr *attr, vbn_pd **out);

/// Makes a parent domain: a second handle on the protection domain `pd`, through which what is made is in the thread domain `td`.
///
/// It is used like any vbn_pd, and shares its regions' keys with `pd`. Address handles, peers and windows must be made through the
/// handle that their queue pair was made through. `td` and `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_pd_close. It keeps `pd` and `td` alive.
/// - Threads: MT-safe. What is made in a thread domain isn't: one thread at a time may post, or poll.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (also a `pd` that is a parent domain), VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the driver has
///   none), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_alloc_parent_domain(3)
vbn_status vbn_pd_alloc_parent(vbn_pd *pd,
                               vbn_td *td,
                               const vbn_pd_attr *attr,
                               vbn_pd **out);

/// Makes a handle for a protection domain of another process in an imported context (vbn_context_import); `handle` is what
/// vbn_pd_query told there. `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_pd_close, which leaves the domain as it is: the process that made it
///   deallocates it, and not while others use it. It keeps `context` alive.
/// - Threads: MT-safe.
/// - Blocks: maybe for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the driver can't), VBN_ERR_SYMBOL_MISSING (rdma-core
///   before 31), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_import_pd(3)
vbn_status vbn_pd_import(vbn_context *context,
                         uint32_t handle,
                         const vbn_pd_attr *attr,
                         vbn_pd **out);

/// Closes a protection domain and sets `*pd` to NULL.
///
/// With regions or queue pairs of this library left in it, the call succeeds and the last of them deallocates it. When
/// the driver refuses (objects made by raw verbs are left), the error is returned and the handle stays valid.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (objects made by raw verbs are in it), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_dealloc_pd(3)
vbn_status vbn_pd_close(vbn_pd **pd);

/// Tells what is known of a protection domain.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_pd_query(const vbn_pd *pd,
                        vbn_pd_info *info);

/// Lends the `ibv_pd`. It stays this library's: don't deallocate it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (handles of this library use it), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_pd_adopt(vbn_context *context,
                        struct ibv_pd *native,
                        const vbn_adopt_attr *attr,
                        vbn_pd **out);

/// Makes a peer of an address handle: the destination that a request on a UD or SRD queue pair names. `attr` tells handle,
/// queue pair number and QKEY.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_peer_close; NULL after a failure. It keeps `pd` and the address
///   handle alive.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_BUSY (the address handle is being closed), VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_peer_create(vbn_pd *pd,
                           const vbn_peer_attr *attr,
                           vbn_peer **out);

/// Makes a peer of the record that it sent: address handle included.
///
/// `attr` may be NULL; its ah, qp_num and qkey must be 0. On RoCE and InfiniBand its `path` may say more about the way.
///
/// - Ownership: reads `*endpoint`. `*out` is the caller's, to be given to vbn_peer_close; NULL after a failure. It keeps
///   `pd` alive.
/// - Threads: MT-safe.
/// - Blocks: for a system call; on RoCE until the peer's address is resolved (seconds).
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (port_num, sgid_index; references), VBN_ERR_NOT_FOUND (no usable GID of
///   one's own), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER (EINVAL: no way to that GID), VBN_ERR_NO_MEMORY (the device is full),
///   VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_create_ah(3)
vbn_status vbn_peer_from_endpoint(vbn_pd *pd,
                                  const vbn_endpoint *endpoint,
                                  const vbn_peer_attr *attr,
                                  vbn_peer **out);

/// Makes a peer of the versioned record that it sent, after comparing it with one's own queue pair: what would not work
/// (another transport, unsolicited receives on one side only, an EFA generation that can't be read from...) is named here,
/// and not by a failed completion.
///
/// `attr` as for vbn_peer_from_endpoint.
///
/// - Ownership: reads `*remote`. `*out` is the caller's, to be given to vbn_peer_close; NULL after a failure. It keeps the
///   queue pair's PD alive, not the queue pair.
/// - Threads: MT-safe.
/// - Blocks: for system calls; on RoCE until the peer's address is resolved (seconds).
/// - Errors: VBN_ERR_ARGUMENT (a mismatch; the message names it), VBN_ERR_LIMIT (port_num, sgid_index; references),
///   VBN_ERR_NOT_FOUND (no pair of GIDs), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_peer_from_info(vbn_qp *qp,
                              const vbn_endpoint_info *remote,
                              const vbn_peer_attr *attr,
                              vbn_peer **out);

/// Makes a peer of what the connection manager's event tells: the server of a datagram connection, with VBN_CM_EVENT_ESTABLISHED.
///
/// `attr` may be NULL; only its user_data counts, the rest must be 0.
///
/// - Ownership: reads `*event`. `*out` is the caller's, to be given to vbn_peer_close; NULL after a failure. It keeps `pd`
///   alive.
/// - Threads: MT-safe.
/// - Blocks: for a system call; on RoCE until the peer's address is resolved (seconds).
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (port_num; references), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_create_ah(3)
vbn_status vbn_peer_from_cm(vbn_pd *pd,
                            const vbn_cm_event *event,
                            const vbn_peer_attr *attr,
                            vbn_peer **out);

/// Closes a peer and sets `*peer` to NULL. Requests on their way to it go on: on EFA the address handle stays, idle. A
/// request that names it afterwards is refused.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle, and no post that names it, may be under way or start afterwards.
/// - Blocks: for a system call, but not on EFA.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_destroy_ah(3)
vbn_status vbn_peer_close(vbn_peer **peer);

/// Tells what is known of a peer.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_peer_query(const vbn_peer *peer,
                          vbn_peer_info *info);

/// Creates a queue pair in the state RESET.
///
/// `attr` is required: it names at least `send_cq`. The device may grant more than was asked for; vbn_qp_query tells.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_qp_close; NULL after a failure. It keeps `pd` and the
///   queues alive.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (a depth or number of segments above the device's; references),
///   VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (type or operations), VBN_ERR_SYMBOL_MISSING (flags that need a newer libefa),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (another thread is inside a call, or the driver refuses: still attached to a multicast
///   group; the handle stays valid),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_destroy_qp(3)
vbn_status vbn_qp_close(vbn_qp **qp);

/// Tells the attributes as the device has them, the capacities that it granted, and what was given at creation.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_DRIVER (sys_errno EINVAL, ETIMEDOUT, ENETUNREACH, ...),
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
vbn_status vbn_qp_modify(vbn_qp *qp,
                         const vbn_qp_attr *attr);

/// Brings a UD or SRD queue pair to RTS in one call: from RESET, INIT or RTR. One that is up already is fine if it has the
/// same QKEY. RC queue pairs are connected instead (vbn_qp_connect_rc).
///
/// `attr` is required: the QKEY has no default, since a key that is always the same lets late packets of a dead process in.
///
/// - Ownership: reads the caller's `*attr`.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (port_num; references), VBN_ERR_NOT_SUPPORTED (rnr_retry
///   where the device has none), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3); SRD.txt of the efa driver r3.1.0
vbn_status vbn_qp_prepare(vbn_qp *qp,
                          const vbn_qp_prepare_attr *attr);

/// A random QKEY for vbn_qp_prepare: 31 bits, never 0. Queue pair numbers are used again soon, so a key of its own keeps
/// packets for a predecessor out.
///
/// - Ownership: nothing changes hands.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
uint32_t vbn_qkey_random(void);

/// Attaches a UD queue pair to a multicast group: datagrams sent to it come in as well, each with VBN_WC_GRH. A sender needs an
/// address handle for the group's GID, and sends to queue pair number 0xffffff.
///
/// On InfiniBand the group must exist and be joined at the subnet manager, which tells its LID. On RoCE the LID is 0 and the group
/// that of an IP address, which the host must have joined as well, by a socket (IP_ADD_MEMBERSHIP, IPV6_JOIN_GROUP): soft-RoCE of
/// kernel 6.1 receives nothing otherwise. Detach before closing the queue pair: until then the close answers VBN_ERR_BUSY.
///
/// - Ownership: reads the 16 bytes of `gid`.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT (also: no UD queue pair, no multicast GID), VBN_ERR_NOT_SUPPORTED (the device has no
///   multicast), VBN_ERR_DRIVER (EINVAL: in RESET, wrong LID), VBN_ERR_NO_MEMORY (too many groups), VBN_ERR_BUSY,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_attach_mcast(3)
vbn_status vbn_qp_attach_mcast(vbn_qp *qp,
                               const uint8_t *gid,
                               uint16_t lid);

/// Detaches a UD queue pair from a multicast group.
///
/// - Ownership: reads the 16 bytes of `gid`.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT (also: no UD queue pair, no multicast GID), VBN_ERR_NOT_SUPPORTED (the device has no
///   multicast), VBN_ERR_DRIVER (EINVAL: it was not attached with this GID and LID), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_detach_mcast(3)
vbn_status vbn_qp_detach_mcast(vbn_qp *qp,
                               const uint8_t *gid,
                               uint16_t lid);

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
/// - Threads: as thread-safe as the driver; most lock inside. Not concurrently with closing the handle. On EFA one thread at
///   a time, unless the queue can't become full: libefa (up to 65) reads a session's outcome after it has let its lock go, so
///   that two threads may get each other's, and requests be posted twice or lost.
/// - Blocks: no. No allocation, lock or system call of this library's.
/// - Errors: VBN_ERR_QUEUE_FULL, VBN_ERR_UNCERTAIN, VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (num_sge, inline or message
///   length), VBN_ERR_NOT_SUPPORTED (an operation that the queue pair does not have), VBN_ERR_DRIVER, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_BUSY (a close that the driver then refused was under way),
///   VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_QUEUE_FULL, VBN_ERR_UNCERTAIN, VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (num_sge), VBN_ERR_DRIVER,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_BUSY (a close that the
///   driver then refused was under way), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_NOT_FOUND (none so far), VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_qp_first_error(const vbn_qp *qp,
                              vbn_wc *wc);

/// Tells the vendor options of a queue pair: those that it offers while it is new, those in force once it is connected.
///
/// The exchange: the side that begins queries and sends its options (the record of vbn_endpoint_info_local has them); the other
/// sets them before RTR, queries what is left of them and answers with that; the first sets the answer before its own RTR.
///
/// - Ownership: fills the caller's `*ece`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: maybe for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (the device has none), VBN_ERR_SYMBOL_MISSING (rdma-core before 31),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_query_ece(3)
vbn_status vbn_qp_query_ece(const vbn_qp *qp,
                            vbn_ece *ece);

/// Takes over the vendor options of the peer, in RESET or INIT; see vbn_qp_query_ece. They are in force from RTR on.
///
/// - Ownership: reads the caller's `*ece`.
/// - Threads: MT-safe.
/// - Blocks: maybe for a system call.
/// - Errors: VBN_ERR_ARGUMENT (also a vendor_id of 0: the peer has none), VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the device
///   has none), VBN_ERR_SYMBOL_MISSING (rdma-core before 31), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_set_ece(3)
vbn_status vbn_qp_set_ece(vbn_qp *qp,
                          const vbn_ece *ece);

/// Tells in which order the data of a VBN_WR_* opcode becomes visible in the receiver's memory on a queue pair: with
/// VBN_IN_ORDER_WHOLE_MSG a program may watch the last byte of a message instead of polling for a completion.
///
/// `*caps_out` gets VBN_IN_ORDER_* bits; 0 means that nothing is promised, which is what devices answer that can't tell, and
/// libibverbs on other processors than x86 unless `flags` has VBN_IN_ORDER_DEVICE_ONLY. After a failure it is 0.
///
/// - Ownership: none.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_SYMBOL_MISSING (rdma-core before 36), VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_query_qp_data_in_order(3)
vbn_status vbn_qp_data_in_order(const vbn_qp *qp,
                                uint32_t opcode,
                                uint32_t flags,
                                uint32_t *caps_out);

/// Limits how fast a queue pair sends, on devices that pace packets, while it runs. `attr` is required.
///
/// vbn_context_query_device tells the limits and for which types of queue pairs (rate_limit_supported_qpts).
///
/// - Ownership: reads the caller's `*attr`.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (outside of what the device offers; references),
///   VBN_ERR_NOT_SUPPORTED (the device has none), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_qp_rate_limit(3)
vbn_status vbn_qp_modify_rate_limit(vbn_qp *qp,
                                    const vbn_qp_rate_limit_attr *attr);

/// Lends the `ibv_qp`. It stays this library's: don't destroy it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (another thread is inside a call), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_qp_release(vbn_qp **qp,
                          struct ibv_qp **native_out);

/// Makes a handle for an `ibv_qp` that raw verbs made in the `ibv_pd` of `pd`, in whatever state it is: RC, UC, UD, on EFA SRD,
/// and where the device has it XRC (whose receiving side has no PD; any of the device will do) and RAW_PACKET, which sends and
/// receives whole Ethernet packets and goes through its states by vbn_qp_modify.
///
/// `native` must be a live ibv_qp. Queues of it that have handles are kept alive; vbn_qp_first_error sees only
/// what is polled through this library. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (type), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (port, sgid_index; references), VBN_ERR_NOT_FOUND (no usable GID),
///   VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (iWARP), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT (a field out of range, size not 28), VBN_ERR_INTERNAL.
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
/// - Errors: VBN_ERR_ARGUMENT (size not 28, a field out of range), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: rdma4py 2026.10.22, QPInfo
vbn_status vbn_rc_record_decode(const uint8_t *bytes, size_t size, vbn_rc_record *record);

/// Takes an RC or UC queue pair from RESET (or INIT) to INIT: port, pkey index, and what the peer may do to memory. From here on
/// receives may be posted. vbn_qp_connect_rc does this too.
///
/// `attr` may be NULL.
///
/// - Ownership: reads the caller's structs.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (port, pkey_index; references), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
vbn_status vbn_qp_to_init(vbn_qp *qp,
                          const vbn_rc_attr *attr);

/// Takes an RC or UC queue pair from INIT to RTR, ready to receive from the peer of `remote`. One that is there already is
/// refused by the driver and stays as it is, whichever peer `remote` is; vbn_qp_connect_rc goes on from any state.
///
/// `attr` may be NULL.
///
/// - Ownership: reads the caller's structs.
/// - Threads: MT-safe.
/// - Blocks: for system calls; may wait for the peer's address (seconds).
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (port, path_mtu, max_dest_rd_atomic; references), VBN_ERR_NOT_FOUND (the
///   local record's GID is not in the port's table), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER (sys_errno ETIMEDOUT,
///   ENETUNREACH, EINVAL, ...), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
vbn_status vbn_qp_to_rtr(vbn_qp *qp,
                         const vbn_rc_record *local,
                         const vbn_rc_record *remote,
                         const vbn_rc_attr *attr);

/// Takes an RC or UC queue pair from RTR to RTS, ready to send. One that is there already is refused by the driver and stays
/// as it is.
///
/// `attr` may be NULL.
///
/// - Ownership: reads the caller's structs.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (max_rd_atomic; references), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
vbn_status vbn_qp_to_rts(vbn_qp *qp,
                         const vbn_rc_record *local,
                         const vbn_rc_attr *attr);

/// Connects an RC or UC queue pair to its peer: from wherever it is to RTS. `local` is what vbn_rc_record_local made and the peer
/// was sent, `remote` what the peer sent. Every parameter can be overridden by `attr`, which may be NULL.
///
/// A queue pair that is already connected is fine if it shows the same peer. After a failure the call may be repeated. Two
/// threads that connect one queue pair do so one after the other.
///
/// - Ownership: reads the caller's structs.
/// - Threads: MT-safe.
/// - Blocks: for system calls; may wait for the peer's address (seconds). It does not wait for the peer itself.
/// - Errors: VBN_ERR_ARGUMENT (also: connected to another peer, or in a state from which there is no way),
///   VBN_ERR_LIMIT (port, pkey_index, path_mtu, max_rd_atomic, max_dest_rd_atomic; references), VBN_ERR_NOT_FOUND
///   (the local record's GID is not in the port's table), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER (sys_errno ETIMEDOUT,
///   ENETUNREACH, EINVAL, ...), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3)
vbn_status vbn_qp_connect_rc(vbn_qp *qp,
                             const vbn_rc_record *local,
                             const vbn_rc_record *remote,
                             const vbn_rc_attr *attr);

/// Connects an RC or UC queue pair to its peer by the records that can grow: from wherever it is to RTS. `local` is what
/// vbn_endpoint_info_local made for this queue pair and the peer was sent, `remote` what the peer sent.
///
/// Everything that keeps the two from working together is named before the first step: other types of queue pair, no GIDs that
/// fit together. The GIDs are chosen from both records, so that both sides come to the same pair; the smaller MTU counts, and
/// no more reads are asked of the peer than it answers. If both records have vendor options (ECE), the peer's are taken over
/// before RTR; of different vendors they are a mismatch. Every parameter can be overridden by `attr`, which may be NULL; the
/// VBN_RC_SET_* bits of what UC doesn't have are refused there.
///
/// A queue pair that is already connected is fine if it shows the same peer. After a failure the call may be repeated. Two
/// threads that connect one queue pair do so one after the other.
///
/// - Ownership: reads the caller's structs.
/// - Threads: MT-safe.
/// - Blocks: for system calls; may wait for the peer's address (seconds). It does not wait for the peer itself.
/// - Errors: VBN_ERR_ARGUMENT (also: the records don't fit together, and then value of the error record has the
///   VBN_MISMATCH_* bits; connected to another peer; in a state from which there is no way), VBN_ERR_LIMIT (port,
///   pkey_index, path_mtu, max_rd_atomic, max_dest_rd_atomic; references), VBN_ERR_NOT_FOUND (the local record's GID is
///   not in the port's table), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER (sys_errno ETIMEDOUT, ENETUNREACH, EINVAL, ...),
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED (also: the device refuses the peer's vendor options),
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_qp(3), ibv_set_ece(3)
vbn_status vbn_qp_connect(vbn_qp *qp,
                          const vbn_endpoint_info *local,
                          const vbn_endpoint_info *remote,
                          const vbn_rc_attr *attr);

/// Fills in what a peer needs to read and write memory of one's own: for each NIC that it is registered with where it is and under
/// which keys, and where it lives, as the first set was told.
///
/// `sets` has the same memory `count` times, each registered with another NIC. A plain region is a set of one (vbn_mr_set_create).
/// `attr` may be NULL: all of the memory. A set of many regions is told in parts: `offset` and `length` of `attr`.
///
/// - Ownership: reads the sets, fills the caller's `*info`, whose struct_size must be set. It is good until a set is closed.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT (count not 1..8; sets of different length, a lost one; a part that isn't inside of them; more than 30
///   entries), VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (port_num; references), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_region_info_local(const vbn_mr_set *const *sets,
                                 uint32_t count,
                                 const vbn_region_info_attr *attr,
                                 vbn_region_info *info);

/// Writes a region as a record that can grow, of at most VBN_RECORD_MAX_SIZE (1024) bytes; docs/records.md has the format.
///
/// With a `capacity` of 0 nothing is written but `*size`; `bytes` may then be NULL.
///
/// - Ownership: reads `*info`, fills `bytes`, which must have room for `capacity` bytes, and `*size`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (a field out of range; capacity too small, which limit of the record of the error tells),
///   VBN_ERR_TOO_NEW, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_region_info_encode(const vbn_region_info *info,
                                  uint8_t *bytes,
                                  size_t capacity,
                                  size_t *size);

/// Reads a region that came from a peer, and checks it: what it gives names no byte beyond the peer's entries, and each NIC's
/// entries cover the region. What the peer doesn't tell is not in `set` and `place_set`.
///
/// `size` may be more than the record has, as in a slot of fixed size: what lies behind the record isn't looked at. Items that
/// this library doesn't know are skipped, unless the peer says that they must be understood.
///
/// - Ownership: reads `bytes`, fills the caller's `*info`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (no record of a region, or one that was cut; a field out of range or missing),
///   VBN_ERR_TOO_NEW (a later version of the format, or an item that must be understood and isn't: value has its number),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_region_info_decode(const uint8_t *bytes,
                                  size_t size,
                                  vbn_region_info *info);

/// Finds which NIC of a peer's region is the one of an endpoint of the peer's: the `nic` of vbn_split_attr, for the queue pair that leads to that
/// endpoint. Both records are the peer's, and both tell GIDs.
///
/// - Ownership: reads `*info` and `*endpoint`, sets the caller's `*nic`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (a field out of range), VBN_ERR_NOT_FOUND (the region isn't registered with the endpoint's device, or one
///   of the two tells no GID), VBN_ERR_TOO_NEW, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_region_info_find_nic(const vbn_region_info *info,
                                    const vbn_endpoint_info *endpoint,
                                    uint32_t *nic);

/// Cuts an RDMA write or read of any length into requests of which each is within the limit of device and queue pair.
///
/// The transfer takes `*total_out` requests, numbered from 0; request i has wr_id `attr->wr_id + i`. From number `first`
/// on, up to `capacity` of them are written to `wrs`, and their number to `*count_out`. Nothing is remembered between
/// calls: to go on after an array that was too small, or a queue that was full, call again with `first` raised by what
/// was posted; for one request alone, that failed say, with its number and a capacity of 1. With a capacity of 0, when
/// `wrs` may be NULL, only the total is told. After a failure both numbers are 0.
///
/// The memory of either side may be in pieces: `mr_set` and `region` of `attr`. A request lies in one piece on both sides and has at
/// most `attr->chunk` bytes; with one piece each, all but the last have so many. What they aim at isn't looked up: that the local memory, the
/// peer and its memory are there is checked when they are posted and carried out. VBN_WR_RDMA_WRITE_WITH_IMM gives the immediate
/// value to the last request and makes the others plain writes. On a queue pair that isn't RC it is refused for more
/// than one request: there the last one may arrive first.
///
/// - Ownership: fills the caller's arrays; the requests name `attr->peer` and the memory, which must live until they
///   have completed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (a length of 0, a range that isn't inside its memory, a number or address beyond 2^64,
///   VBN_SEND_INLINE from a GPU's memory or a region of a dma-buf),
///   VBN_ERR_LIMIT (chunk above the limit; references), VBN_ERR_NOT_SUPPORTED (an operation that the queue pair lacks, or
///   the immediate value as above), VBN_ERR_TOO_NEW, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_rdma_split(const vbn_qp *qp,
                          const vbn_split_attr *attr,
                          uint64_t first,
                          vbn_send_wr *wrs,
                          uint32_t capacity,
                          uint32_t *count_out,
                          uint64_t *total_out);

/// Creates a shared receive queue: receives from which several queue pairs take (vbn_qp_init_attr.srq), in the order in which
/// messages come in. They complete on the receiving queue pair's own completion queue.
///
/// `attr` may be NULL. The device may grant more than was asked for; vbn_srq_query tells. Post receives by vbn_srq_post_recv;
/// with a limit, VBN_EVENT_SRQ_LIMIT_REACHED says when to post more.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_srq_close; NULL after a failure. It keeps `pd` alive.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (max_wr, max_sge, tags; references), VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED
///   (EFA; a type that the device lacks), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_create_srq(3), ibv_create_srq_ex(3)
vbn_status vbn_srq_create(vbn_pd *pd,
                          const vbn_srq_attr *attr,
                          vbn_srq **out);

/// Closes a shared receive queue and sets `*srq` to NULL. Queue pairs on it go on; the last of them destroys it. Receives still
/// on it then never complete.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may be under way or start afterwards.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (queue pairs of raw verbs are on it; the handle stays valid), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_destroy_srq(3)
vbn_status vbn_srq_close(vbn_srq **srq);

/// Tells depth, segments and limit as the device has them, and what was given at creation.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_query_srq(3)
vbn_status vbn_srq_query(const vbn_srq *srq, vbn_srq_info *info);

/// Sets the limit of a shared receive queue, or resizes it where the device can: `attr->set` says which.
///
/// The limit's event comes once, when fewer receives are left than the limit; then the limit is gone and may be set again.
/// Setting one that is above what is left raises the event with the next message.
///
/// - Ownership: reads the caller's `*attr`.
/// - Threads: MT-safe. Resizing not concurrently with posting to the queue.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT (also: a limit above max_wr), VBN_ERR_LIMIT (max_wr above the device's; references),
///   VBN_ERR_TOO_NEW, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_srq(3)
vbn_status vbn_srq_modify(vbn_srq *srq,
                          const vbn_srq_modify_attr *attr);

/// Posts `n` receives for whichever queue pair needs one next. `*posted` as for vbn_qp_post_send.
///
/// - Ownership: the requests and segment lists are free after the call; the memory that they name belongs to the device
///   until their completion.
/// - Threads: as thread-safe as the driver; most lock inside. Not concurrently with closing the handle.
/// - Blocks: no. No allocation, lock or system call of this library's.
/// - Errors: VBN_ERR_QUEUE_FULL, VBN_ERR_UNCERTAIN, VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (num_sge), VBN_ERR_DRIVER,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_BUSY (a close that the
///   driver then refused was under way), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_post_srq_recv(3)
vbn_status vbn_srq_post_recv(vbn_srq *srq,
                             const vbn_recv_wr *wrs,
                             uint32_t n,
                             uint32_t *posted);

/// Lends the `ibv_srq`. It stays this library's: don't destroy it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_srq_native(const vbn_srq *srq,
                          struct ibv_srq **native_out);

/// Gives the `ibv_srq` away: the handle ends, the queue lives on and is the caller's to destroy. Its PD must outlive it.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*srq` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (queue pairs are on it), VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT
///   (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_srq_release(vbn_srq **srq,
                           struct ibv_srq **native_out);

/// Makes a handle for an `ibv_srq` that raw verbs made in the `ibv_pd` of `pd`.
///
/// `native` must be a live ibv_srq. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_srq_adopt(vbn_pd *pd,
                         struct ibv_srq *native,
                         const vbn_adopt_attr *attr,
                         vbn_srq **out);

/// Allocates a thread domain: what is made in it, through a protection domain of vbn_pd_alloc_parent, is used by one thread at
/// a time, which the caller promises, so that the driver can leave out its locks.
///
/// Drivers of mlx5, and libefa since rdma-core 59, have such; soft-RoCE has none. `attr` may be NULL.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_td_close; NULL after a failure. It keeps `context` alive.
/// - Threads: MT-safe.
/// - Blocks: maybe for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the driver has none), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_alloc_td(3)
vbn_status vbn_td_alloc(vbn_context *context,
                        const vbn_td_attr *attr,
                        vbn_td **out);

/// Closes a thread domain and sets `*td` to NULL. With parent domains left in it, the last of them deallocates it.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: maybe for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (parent domains made by raw verbs are in it), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_alloc_td(3)
vbn_status vbn_td_close(vbn_td **td);

/// Lends the `ibv_td`. It stays this library's: don't deallocate it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_td_native(const vbn_td *td,
                         struct ibv_td **native_out);

/// Gives the `ibv_td` away: the handle ends, the thread domain lives on and is the caller's to deallocate.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*td` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (parent domains or calls use it), VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT
///   (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_td_release(vbn_td **td,
                          struct ibv_td **native_out);

/// Makes a handle for an `ibv_td` that raw verbs made on the `ibv_context` of `context`.
///
/// `native` must be a live ibv_td. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
/// There is no query that would tell `user_data`.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
vbn_status vbn_td_adopt(vbn_context *context,
                        struct ibv_td *native,
                        const vbn_adopt_attr *attr,
                        vbn_td **out);

/// Tells how far a GPU and a NIC are from each other: behind one PCIe switch, at one host bridge, at one NUMA node, or across
/// processors; what their ways have in common; and their NUMA nodes.
///
/// It is read from sysfs: the links of /sys/bus/pci/devices, `numa_node`, and the tables of the nodes. Nothing is opened or asked,
/// so that it works for devices that this process may not use. A virtual machine often shows another tree than the
/// hardware has: there a greater distance may be a hidden switch. A NIC that is no PCI device (soft-RoCE), and
/// one whose place sysfs doesn't tell, is at VBN_DISTANCE_UNKNOWN, with the cause in `reason`.
///
/// - Ownership: reads `*attr`; fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for reads of some small files, and while a GPU's library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_FOUND (no such GPU, or no such PCI or RDMA device in this sysfs; `object`
///   is its name), of `gpu_device` as of vbn_gpu_device_query: VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER
///   (vendor_code says what), VBN_ERR_NOT_SUPPORTED, VBN_ERR_NO_MEMORY; and of `context`: VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references); VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: Linux, Documentation/ABI/testing/sysfs-bus-pci and stable/sysfs-devices-node
vbn_status vbn_gpu_nic_distance(const vbn_distance_attr *attr,
                                vbn_distance_info *info);

/// Lists the kernel's RDMA devices by their distance from a GPU, the nearest first; of those at the same distance the ones with
/// fewer bridges between, then by name.
///
/// `attr` says which GPU, by PCI address or by ordinal; its `nic` and `context` must be NULL. Fills as many elements of `nics` as there are devices
/// and room, each `entry_size` bytes apart, which each has as its struct_size, and says in `*count_out` how many
/// devices there are. With `capacity` 0, `nics` may be NULL. No RDMA in the kernel and no device give success and a count
/// of 0. Whether a device can be opened is not looked at: see vbn_device_find.
///
/// Several may be equally near, as the four EFAs beside each GPU of a p5.48xlarge: an application spreads over those with
/// the `distance` of the first.
///
/// - Ownership: reads `*attr`; fills the caller's array. `entry_size` is sizeof(vbn_distance_info).
/// - Threads: MT-safe.
/// - Blocks: for reads of some small files for each device, and while a GPU's library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_FOUND (no such GPU, or no such PCI device in this sysfs; `object` is its
///   address), of `gpu_device` as of vbn_gpu_device_query, or because sysfs can't be listed: VBN_ERR_LIBRARY_MISSING,
///   VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE;
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: Linux, Documentation/ABI/testing/sysfs-bus-pci and stable/sysfs-class-infiniband
vbn_status vbn_nic_nearest(const vbn_distance_attr *attr,
                           vbn_distance_info *nics,
                           size_t entry_size,
                           uint32_t capacity,
                           uint32_t *count_out);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* VERBENA_H */
