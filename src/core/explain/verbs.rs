// SPDX-License-Identifier: MIT OR Apache-2.0
//! What libibverbs' statuses mean on any device, and what is known of soft-RoCE and mlx5 besides.

use super::super::wc::*;
use super::{ATOMIC, Case, READ, RECV, SEND, WRITE, any, case};

/// A status.
pub struct Fact {
    pub status: i32,
    /// In a few words, and the first thing to look at: vbn_wc_check's sentence.
    pub what: &'static str,
    pub hint: &'static str,
    /// More of what it means; may be empty.
    pub says: &'static str,
    pub cases: &'static [Case],
}

/// For a status that isn't in the list.
/// cbindgen:ignore
pub const UNKNOWN: Fact = Fact {
    status: -1,
    what: "failed",
    hint: "vendor_code is the device's own code",
    says: "This version of libverbena doesn't know the status.",
    cases: &[any(
        "A driver or libibverbs newer than this library.",
        "Look it up in the driver's documentation, with the vendor code.",
    )],
};

/// Statuses of service types that no device offers.
const NEVER: &[Case] = &[any(
    "A defect of driver or firmware: the status belongs to a service that no device offers.",
    "Look at the kernel log, and report it to the driver's authors with the vendor code.",
)];

const OLD_SERVICE: &str = "vendor_code is the device's own code; vbn_explain tells more";

/// cbindgen:ignore
pub const FACTS: &[Fact] = &[
    Fact {
        status: VBN_WC_SUCCESS,
        what: "succeeded",
        hint: "",
        says: "The operation is done. What that means for the peer depends on operation and transport.",
        cases: &[],
    },
    Fact {
        status: VBN_WC_LOC_LEN_ERR,
        what: "local length error",
        hint: "compare the message with the receive buffer and the port's max_msg_sz",
        says: "A message and the room for it don't fit.",
        cases: &[
            case(
                SEND | WRITE | READ,
                "The request is longer than the port's max_msg_sz.",
                "Cut it: vbn_context_query_port tells the limit, vbn_rdma_split cuts writes and reads.",
            ),
            case(
                RECV,
                "The message is longer than the receive that it met.",
                "Make every receive as long as the longest message. UD needs 40 bytes more, for the global route header.",
            ),
        ],
    },
    Fact {
        status: VBN_WC_LOC_QP_OP_ERR,
        what: "local queue pair operation error",
        hint: "look at the request's segments, lkey and inline size",
        says: "The device found the request malformed, or can't carry it out on this queue pair.",
        cases: &[
            any(
                "A number of segments, inline size, opcode or flag that the queue pair wasn't made for.",
                "Compare the request with what vbn_qp_query granted.",
            ),
            any(
                "A segment whose lkey or range is wrong, on drivers that report it so.",
                "Compare addr and length with vbn_mr_query, and take lkey from vbn_mr_lkey.",
            ),
            any(
                "The device failed on this queue pair.",
                "Look at the asynchronous events and the kernel log; make a new queue pair.",
            ),
        ],
    },
    Fact {
        status: VBN_WC_LOC_EEC_OP_ERR,
        what: "failed",
        hint: OLD_SERVICE,
        says: "An error of the reliable datagram service.",
        cases: NEVER,
    },
    Fact {
        status: VBN_WC_LOC_PROT_ERR,
        what: "local protection error",
        hint: "a segment lies outside its region, its lkey is wrong, or the region was closed",
        says: "A local segment isn't memory that this queue pair may use.",
        cases: &[
            any(
                "The region was closed before the request had completed.",
                "Keep regions open until all requests that use them have completed.",
            ),
            any(
                "The segment reaches beyond its region, or its lkey is another region's.",
                "Compare addr and length with vbn_mr_query, and take lkey from vbn_mr_lkey.",
            ),
            any(
                "The region is of another protection domain than the queue pair.",
                "Register the memory in the queue pair's protection domain.",
            ),
            case(
                READ | RECV | ATOMIC,
                "The region was registered without VBN_ACCESS_LOCAL_WRITE, which memory that is written to needs.",
                "Register it with VBN_ACCESS_LOCAL_WRITE.",
            ),
            any(
                "It is GPU memory that has been freed or moved, or a dma-buf registered with the wrong offset.",
                "Register whole allocations with the right offset, and close the region before you free the memory.",
            ),
        ],
    },
    Fact {
        status: VBN_WC_WR_FLUSH_ERR,
        what: "flushed, since the queue pair is in the error state",
        hint: "vbn_qp_first_error has the completion that caused it",
        says: "The queue pair went into the error state before this request was done. It is an echo: the cause is in another completion, \
               or in an asynchronous event.",
        cases: &[
            any(
                "An earlier request of this queue pair failed.",
                "vbn_qp_first_error has the first failure that wasn't a flush: explain that one.",
            ),
            any(
                "The peer found an error and gave up the connection; it alone knows why.",
                "Look at the peer's completions and vbn_qp_first_error there.",
            ),
            any(
                "The program took the queue pair to the error state, or the connection was ended: then this is how receives come back.",
                "Nothing to do: reclaim the buffers.",
            ),
        ],
    },
    Fact {
        status: VBN_WC_MW_BIND_ERR,
        what: "the memory window could not be bound",
        hint: "look at the region's access flags and the range",
        says: "",
        cases: &[any(
            "The region lacks VBN_ACCESS_MW_BIND, or the range isn't inside it, or the window is of another protection domain.",
            "Register the region with VBN_ACCESS_MW_BIND and compare the range with vbn_mr_query.",
        )],
    },
    Fact {
        status: VBN_WC_BAD_RESP_ERR,
        what: "the peer's answer made no sense",
        hint: "do both sides agree on queue pair numbers and PSNs?",
        says: "",
        cases: &[
            any(
                "Packets of another connection, or of an earlier one with the same number.",
                "Exchange the records again, with fresh random PSNs.",
            ),
            any(
                "A defect of device or firmware, on either side.",
                "Look at both kernel logs, and compare firmware versions.",
            ),
        ],
    },
    Fact {
        status: VBN_WC_LOC_ACCESS_ERR,
        what: "access to local memory failed",
        hint: "look at the access flags of the region written to",
        says: "A peer's write with immediate met memory here that it could not be written to.",
        cases: &[any(
            "The region was closed, or lacks the access, while the write came in.",
            "Keep the region open with VBN_ACCESS_LOCAL_WRITE and VBN_ACCESS_REMOTE_WRITE as long as the peer may write.",
        )],
    },
    Fact {
        status: VBN_WC_REM_INV_REQ_ERR,
        what: "the peer found the request invalid",
        hint: "is its receive buffer large enough, and the operation enabled in its access flags?",
        says: "The peer's queue pair is in the error state now, too.",
        cases: &[
            case(
                SEND,
                "The message is longer than the receive that it met.",
                "Let the peer make every receive as long as the longest message.",
            ),
            case(
                READ | WRITE | ATOMIC,
                "The peer's queue pair doesn't allow the operation.",
                "Enable it there: qp_access_flags at vbn_qp_to_init, or vbn_rc_attr.",
            ),
            case(
                READ | ATOMIC,
                "More reads or atomics at once than the peer's max_dest_rd_atomic.",
                "Let max_rd_atomic here be at most max_dest_rd_atomic there.",
            ),
            case(
                ATOMIC,
                "The address isn't a multiple of 8, or the device has no atomics.",
                "Align the address; ask for the device's atomic capability.",
            ),
        ],
    },
    Fact {
        status: VBN_WC_REM_ACCESS_ERR,
        what: "the peer refused access to its memory",
        hint: "check rkey, remote_addr and length, the region's and the queue pair's access flags",
        says: "On RC both queue pairs are in the error state now.",
        cases: &[
            any(
                "The peer's region isn't there any more: closed, or of a process that has ended; or the rkey is another region's.",
                "Exchange address and rkey again, and let the peer keep the region open until you say that you are done.",
            ),
            any(
                "remote_addr and length reach beyond the region.",
                "The peer's vbn_mr_remote_addr and vbn_mr_query tell where it begins and how long it is.",
            ),
            case(
                WRITE,
                "The peer's region or queue pair doesn't allow writes.",
                "Register with VBN_ACCESS_LOCAL_WRITE and VBN_ACCESS_REMOTE_WRITE, and allow them in qp_access_flags.",
            ),
            case(
                READ,
                "The peer's region or queue pair doesn't allow reads.",
                "Register with VBN_ACCESS_REMOTE_READ, and allow it in qp_access_flags.",
            ),
            case(
                ATOMIC,
                "The peer's region or queue pair doesn't allow atomics.",
                "Register with VBN_ACCESS_LOCAL_WRITE and VBN_ACCESS_REMOTE_ATOMIC, and allow them in qp_access_flags.",
            ),
            any(
                "The peer's region and queue pair are of different protection domains.",
                "Let the peer use one protection domain for both.",
            ),
        ],
    },
    Fact {
        status: VBN_WC_REM_OP_ERR,
        what: "the peer could not complete the operation",
        hint: "look for an error on the peer's queue pair",
        says: "The error is the peer's, and it has the details.",
        cases: &[
            any(
                "A receive of the peer's has a bad lkey or range, or its region was closed.",
                "Look at the peer's own completion: it names its receive.",
            ),
            any("The peer's device failed.", "Look at the peer's asynchronous events and kernel log."),
        ],
    },
    Fact {
        status: VBN_WC_RETRY_EXC_ERR,
        what: "the peer did not answer within the retries",
        hint: "is it in RTR with this queue pair's number, are both GIDs of one type and subnet, is the path MTU right on the way?",
        says: "Packets went out, and no acknowledgement came back. Whether the request was carried out isn't known.",
        cases: &[
            any(
                "The peer has ended, or its queue pair isn't in RTR or RTS, or isn't connected to this one's number.",
                "See whether the peer lives, and exchange the records again. Send only when both sides are connected.",
            ),
            any(
                "On RoCE, the two GIDs are of different types (RoCE version 1 and 2), address families or subnets, or there is no route.",
                "vbn_context_gid_table shows type and address of each; vbn_gid_select tells which it takes and why. Choose GIDs of one type and \
                 network on both sides.",
            ),
            any(
                "The path MTU is larger than a switch or network device on the way allows: small messages pass, large ones don't.",
                "Try path_mtu 1024, and compare the MTUs of the network devices.",
            ),
            any(
                "On RoCE, UDP port 4791 is blocked, or packets are lost under load.",
                "Open the port in firewalls; set up flow control (PFC or ECN) on switches and hosts. Raise timeout and retry_cnt only \
                 after that.",
            ),
            any(
                "A link is down or bad.",
                "Look at port states and error counters on both sides; if one local device is in all failures, suspect it.",
            ),
        ],
    },
    Fact {
        status: VBN_WC_RNR_RETRY_EXC_ERR,
        what: "the peer had no receive posted",
        hint: "post receives before the peer sends, or raise rnr_retry (7 is for ever)",
        says: "The receiver was not ready, and still wasn't after the retries.",
        cases: &[
            any(
                "The peer has no receive posted. A write with immediate uses one up as well.",
                "Let the peer post receives before you send, and tell you how many you may use.",
            ),
            any(
                "rnr_retry or the peer's min_rnr_timer is too low for the time that the peer takes.",
                "Raise rnr_retry (7 is for ever) here, or min_rnr_timer there.",
            ),
        ],
    },
    Fact {
        status: VBN_WC_LOC_RDD_VIOL_ERR,
        what: "failed",
        hint: OLD_SERVICE,
        says: "An error of the reliable datagram service.",
        cases: NEVER,
    },
    Fact {
        status: VBN_WC_REM_INV_RD_REQ_ERR,
        what: "the peer refused the request (EFA: it has no such queue pair)",
        hint: "on EFA, exchange the records again; vbn_explain tells more",
        says: "A status of the reliable datagram service, which no device offers. EFA's driver uses it for a queue pair that the peer doesn't have.",
        cases: &[any(
            "On EFA: the peer closed its queue pair or was started anew since it gave its record.",
            "Exchange the records again. With driver VBN_DRIVER_EFA, vbn_explain tells more.",
        )],
    },
    Fact {
        status: VBN_WC_REM_ABORT_ERR,
        what: "the peer aborted the operation",
        hint: "look for an error on the peer's side",
        says: "",
        cases: &[any(
            "The peer's queue pair was reset or closed meanwhile, or its device broke the operation off.",
            "Look for the cause on the peer's side: its process, completions and kernel log.",
        )],
    },
    Fact {
        status: VBN_WC_INV_EECN_ERR,
        what: "failed",
        hint: OLD_SERVICE,
        says: "An error of the reliable datagram service.",
        cases: NEVER,
    },
    Fact {
        status: VBN_WC_INV_EEC_STATE_ERR,
        what: "failed",
        hint: OLD_SERVICE,
        says: "An error of the reliable datagram service.",
        cases: NEVER,
    },
    Fact {
        status: VBN_WC_FATAL_ERR,
        what: "the device failed",
        hint: "look at the asynchronous events and the kernel log",
        says: "",
        cases: &[any(
            "The device or its firmware failed, or was reset or removed.",
            "Look at vbn_context_get_async_event and the kernel log. Close all and open the device anew.",
        )],
    },
    Fact {
        status: VBN_WC_RESP_TIMEOUT_ERR,
        what: "the peer did not answer in time",
        hint: "look at the network between the two; on EFA, at security group and subnet",
        says: "Whether the request was carried out isn't known.",
        cases: &[any(
            "The peer has ended, or the network between the two doesn't let the packets through.",
            "See whether the peer lives, and look at the network. On EFA, vbn_explain with the vendor code tells the two apart.",
        )],
    },
    Fact {
        status: VBN_WC_GENERAL_ERR,
        what: "failed for a reason that the vendor's code tells",
        hint: "vendor_code is the device's own code; vbn_explain knows EFA's",
        says: "libibverbs has no status for this error; the vendor code says what it is.",
        cases: &[any(
            "Something that this rdma-core has no name for, in a newer device or firmware.",
            "Update rdma-core, and look up the vendor code.",
        )],
    },
    Fact {
        status: VBN_WC_TM_ERR,
        what: "tag matching failed",
        hint: "vendor_code is the device's own code",
        says: "",
        cases: &[any(
            "The device could not carry out a tag matching operation.",
            "Look at the request that was posted to the tag matching queue.",
        )],
    },
    Fact {
        status: VBN_WC_TM_RNDV_INCOMPLETE,
        what: "the rendezvous must be completed in software",
        hint: "read the data that the header names",
        says: "Not an error: the device left the rendezvous to the program.",
        cases: &[any(
            "The device could not fetch the data of a rendezvous by itself.",
            "Read the data that the received header names.",
        )],
    },
];

/// Why no completion comes.
/// cbindgen:ignore
pub const SILENCE: &[Case] = &[
    case(
        RECV,
        "The peer hasn't sent yet, its program has ended, or its host is gone: a receive by itself never fails.",
        "Watch the connection over which the records were exchanged, which ends with the peer's program, and wait with a time-out.",
    ),
    case(
        SEND | WRITE | READ | ATOMIC,
        "The request isn't signaled: success then completes nothing.",
        "Give it VBN_SEND_SIGNALED, or make the queue pair with sq_sig_all.",
    ),
    any(
        "The completion is there, and nobody polls this completion queue, or a wait began without arming it.",
        "Poll the queue that the queue pair was made with until it is empty; vbn_cq_wait arms and polls in the right order.",
    ),
    case(
        SEND | WRITE,
        "The receiver has no receive posted, and rnr_retry is 7: the device tries for ever.",
        "Post receives before the peer sends, and set rnr_retry below 7 to be told.",
    ),
    case(
        WRITE | RECV,
        "The wait is on the side that is written to: a plain RDMA write completes at the writer only.",
        "Use VBN_WR_RDMA_WRITE_WITH_IMM, or send a message after the write.",
    ),
    case(
        SEND | RECV,
        "UD and UC lose messages without a word: no receive posted, one that is too short (UD needs 40 bytes more), or another QKEY.",
        "Post receives in time and of the right length, and take number and QKEY from one record of the peer's.",
    ),
    any(
        "The queue pair isn't in RTS, or its peer isn't connected to it yet.",
        "vbn_qp_query tells the state. Send when both sides are connected.",
    ),
    any(
        "The completion queue overflowed, and lost completions.",
        "Make it as deep as all queues that complete to it together; VBN_EVENT_CQ_ERR tells of it on most devices.",
    ),
];

/// Soft-RoCE's own habits (Linux 6.1 and 6.12).
/// cbindgen:ignore
pub const RXE: &[(i32, Case)] = &[
    (
        VBN_WC_LOC_QP_OP_ERR,
        any(
            "Soft-RoCE (Linux 6.1) reports a wrong lkey so, and a receive that is too short for its message.",
            "Look at the segments first: keys, ranges, and the length of the receives.",
        ),
    ),
    (
        VBN_WC_WR_FLUSH_ERR,
        any(
            "Soft-RoCE of Linux 6.12 reports a wrong lkey so.",
            "If there is no earlier failure, compare the segments with vbn_mr_query and vbn_mr_lkey.",
        ),
    ),
    (
        VBN_WC_RETRY_EXC_ERR,
        any(
            "The network device below the soft-RoCE device is down, or has lost its address.",
            "Look at \"rdma link\" and \"ip address\": port state, MTU, and the address that the GID is made of.",
        ),
    ),
    (
        super::VBN_EXPLAIN_SILENCE,
        any(
            "retry_cnt is 7, which soft-RoCE (Linux 6.1) takes for ever: a peer that is gone is never told.",
            "Use a retry_cnt of at most 6.",
        ),
    ),
];

/// What mlx5's codes have been seen with. The vendor publishes no list.
/// cbindgen:ignore
pub const MLX5: &[(u32, &str)] = &[
    (
        0x81,
        "Public reports show it with RETRY_EXC_ERR: no acknowledgement came (NCCL issue 426, solved by another GID index).",
    ),
    (0x88, "Public reports show it with REM_ACCESS_ERR: the peer refused access (libfabric issue 4283)."),
    (0x8a, "Public reports show it with REM_INV_REQ_ERR (charm++ issue 2532)."),
    (0x93, "A page fault of on-demand paging (mlx5dv.h of rdma-core 65)."),
    (0xf9, "Public reports show it with WR_FLUSH_ERR: the echo of an earlier error."),
];
