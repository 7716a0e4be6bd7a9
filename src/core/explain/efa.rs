// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an EFA device says. Codes and what libibverbs makes of them: rdma-core 65.0 (efa_io_defs.h, verbs.c) and its history;
//! causes: the same, the efa driver 3.1.0, libfabric's main branch of August 2026 and public issues.

use super::super::wc::*;
use super::{Case, READ, RECV, SEND, WRITE, any, case};

/// A completion status of the device's.
pub struct Code {
    pub code: u32,
    /// The name of EFA_IO_COMP_STATUS_*, without LOCAL_ERROR_ or REMOTE_ERROR_.
    pub name: &'static str,
    /// VBN_WC_* that libibverbs makes of it.
    pub status: i32,
    /// The release of rdma-core that does so first, where it isn't any: older ones say GENERAL_ERR.
    pub since: u32,
    pub says: &'static str,
    pub cases: &'static [Case],
}

/// The last code of the list as of rdma-core 65.0.
/// cbindgen:ignore
pub const LAST: u32 = 18;

/// What keeps packets from arriving at all.
const NO_WAY: &[Case] = &[
    any(
        "A security group doesn't let the traffic through. EFA needs a rule for all traffic from and to the group itself; a rule \
         for 0.0.0.0/0 doesn't count.",
        "Give both instances a security group with an inbound and an outbound rule that allow all traffic, with that same group as \
         source and destination.",
    ),
    any(
        "The instances are in different subnets or VPCs, between which EFA's traffic may not pass.",
        "Put both into one subnet: that is allowed everywhere.",
    ),
    any("The instances are in different Availability Zones (AZ).", "Put both into one Availability Zone."),
    any(
        "The address is of a secondary CIDR block of the VPC, such as 100.64.0.0/10: there everything was seen to be dropped without \
         an error (monarch issue 4734).",
        "Attach the device to a subnet of the VPC's primary CIDR block.",
    ),
    any(
        "The GID is a wrong or an old one: the peer runs on another instance or device now, or has ended.",
        "Exchange the records again. An EFA's GID can't be worked out from an IP address: it must come from the peer.",
    ),
];

/// Why no completion comes.
/// cbindgen:ignore
pub const SILENCE: &[Case] = &[
    case(
        RECV,
        "The peer hasn't sent yet, its program has ended, or its host is gone: a receive by itself never fails.",
        "Watch the connection over which the records were exchanged, which ends with the peer's program, and wait with a time-out.",
    ),
    NO_WAY_0,
    NO_WAY_1,
    NO_WAY_2,
    NO_WAY_3,
    case(
        SEND | WRITE,
        "The receiver has no receive posted, and rnr_retry is 7, SRD's default: the device tries for ever.",
        "Post receives before the peer sends, and set rnr_retry below 7 at vbn_qp_prepare to be told (VBN_WC_RNR_RETRY_EXC_ERR).",
    ),
    case(
        WRITE | RECV,
        "The wait is on the side that is written to: a plain RDMA write completes at the writer only.",
        "Use VBN_WR_RDMA_WRITE_WITH_IMM, or send a message once the writes have completed.",
    ),
    case(
        SEND | RECV,
        "The sender used another QKEY than that of the receiving queue pair, which then never sees the message.",
        "Take the number and the QKEY from one record of the peer's; a new queue pair has a new QKEY.",
    ),
    case(
        WRITE | RECV,
        "The completion queue overflowed. Unsolicited writes with immediate use no receive, so nothing paces them, and completions \
         that find no room are lost (libfabric issues 11337 and 11675).",
        "Make the completion queue as deep as all peers together may write before it is polled, or count what is under way.",
    ),
    case(
        READ | WRITE,
        "The request is longer than the device's max_rdma_size. That was seen to hang without a completion (NCCL issue 2333).",
        "Cut it with vbn_rdma_split.",
    ),
    any(
        "The completion is there, and nobody polls this completion queue, or a wait began without arming it.",
        "Poll the queue that the queue pair was made with until it is empty; vbn_cq_wait arms and polls in the right order. A device \
         without notifications must be polled.",
    ),
];

const NO_WAY_0: Case = at(NO_WAY, 0);
const NO_WAY_1: Case = at(NO_WAY, 1);
const NO_WAY_2: Case = at(NO_WAY, 2);
const NO_WAY_3: Case = at(NO_WAY, 3);

/// Evaluated when the library is compiled.
const fn at(cases: &[Case], index: usize) -> Case {
    #[allow(clippy::indexing_slicing, reason = "in a constant a wrong index doesn't compile")]
    cases[index]
}

/// cbindgen:ignore
pub const CODES: &[Code] = &[
    Code {
        code: 0,
        name: "OK",
        status: VBN_WC_SUCCESS,
        since: 0,
        says: "The responder's device acknowledged the request. For a write that means that the data are at the peer's memory; not that \
               a kernel running on its GPU sees them, and not that the peer knows. It says nothing about other requests.",
        cases: &[],
    },
    Code {
        code: 1,
        name: "FLUSHED",
        status: VBN_WC_WR_FLUSH_ERR,
        since: 0,
        says: "The request was given up on this side. On EFA the error of another request flushes nothing, so there is no earlier error to \
               look for. Whether it was carried out at the peer isn't known.",
        cases: &[
            any(
                "The queue pair was closed or reset while the request was on it.",
                "Wait for the completions of all requests before you close or reset the queue pair.",
            ),
            any(
                "An address handle for the same GID in the same protection domain was destroyed. The device shares it among all handles \
                 to that GID, and gives up the requests of all (libfabric issue 11013).",
                "Leave handles to this library: vbn_ah and vbn_peer count their users. Don't destroy an ibv_ah of your own while \
                 requests to its GID are under way.",
            ),
        ],
    },
    Code {
        code: 2,
        name: "QP_INTERNAL_ERROR",
        status: VBN_WC_LOC_QP_OP_ERR,
        since: 0,
        says: "The device met an internal error on this queue pair.",
        cases: &[any(
            "A fault of device, firmware or driver, not of the request.",
            "Close the queue pair, make a new one and tell the peers its record. If it comes again, look at the kernel log, update the \
             efa driver, and report it to AWS with this code.",
        )],
    },
    Code {
        code: 3,
        name: "UNSUPPORTED_OP",
        status: VBN_WC_LOC_QP_OP_ERR,
        since: 0,
        says: "The device or this queue pair can't do the operation.",
        cases: &[
            case(
                WRITE,
                "The device has no RDMA write: the first generation has RDMA read only (p4d), or neither.",
                "Ask vbn_context_caps before. Let the other side read, or send.",
            ),
            case(READ, "The device has no RDMA read.", "Ask vbn_context_caps before. Send instead."),
            any(
                "The queue pair was made without the operation.",
                "Name it in send_ops when the queue pair is made; 0 takes all that the device has.",
            ),
        ],
    },
    Code {
        code: 4,
        name: "INVALID_AH",
        status: VBN_WC_LOC_QP_OP_ERR,
        since: 0,
        says: "The device doesn't know the address handle of the request.",
        cases: &[
            any(
                "The handle was destroyed before the request was carried out.",
                "Keep the peer open until its requests have completed.",
            ),
            any(
                "The handle is of another protection domain than the queue pair.",
                "Make the peer from the queue pair's own protection domain.",
            ),
        ],
    },
    Code {
        code: 5,
        name: "INVALID_LKEY",
        status: VBN_WC_LOC_PROT_ERR,
        since: 0,
        says: "A local segment isn't memory that this queue pair may use.",
        cases: &[
            any(
                "The region was closed before the request had completed.",
                "Keep regions open until all requests that use them have completed. Nothing stops a close before.",
            ),
            any(
                "The segment reaches beyond its region, or its lkey is another region's.",
                "Compare addr and length with vbn_mr_query, and take lkey from vbn_mr_lkey.",
            ),
            any(
                "The region is of another protection domain than the queue pair.",
                "Register the memory in the queue pair's protection domain: each device and domain has its own keys.",
            ),
            any(
                "It is GPU memory that has been freed: with a peer-memory module the driver then takes the region away by itself.",
                "Close the region before you free the memory.",
            ),
            case(
                READ | RECV,
                "The region was registered without VBN_ACCESS_LOCAL_WRITE, which memory that is written to needs.",
                "Register it with VBN_ACCESS_LOCAL_WRITE.",
            ),
        ],
    },
    Code {
        code: 6,
        name: "BAD_LENGTH",
        status: VBN_WC_LOC_LEN_ERR,
        since: 0,
        says: "The request is longer than the device allows.",
        cases: &[
            case(
                SEND,
                "A message is longer than the port's max_msg_sz (8928 bytes are usual). EFA doesn't cut messages into packets.",
                "vbn_context_query_port tells max_msg_sz. Cut the message, or move the data by write or read.",
            ),
            case(
                READ | WRITE,
                "A write or read is longer than the device's max_rdma_size (1 GiB on devices seen so far).",
                "vbn_context_caps tells the limit; vbn_rdma_split cuts a transfer to it.",
            ),
        ],
    },
    Code {
        code: 7,
        name: "BAD_ADDRESS",
        status: VBN_WC_REM_ACCESS_ERR,
        since: 52,
        says: "The peer's device refused access to its memory. The peer isn't told.",
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
                "The peer registered the region without VBN_ACCESS_REMOTE_WRITE.",
                "Register it with VBN_ACCESS_LOCAL_WRITE and VBN_ACCESS_REMOTE_WRITE.",
            ),
            case(
                READ,
                "The peer registered the region without VBN_ACCESS_REMOTE_READ.",
                "Register it with VBN_ACCESS_REMOTE_READ.",
            ),
            any(
                "The peer's region and queue pair are of different protection domains.",
                "Let the peer use one protection domain for both.",
            ),
            any(
                "It is GPU memory that the peer has freed.",
                "Let the peer close the region before it frees the memory, and that after the last access.",
            ),
        ],
    },
    Code {
        code: 8,
        name: "ABORT",
        status: VBN_WC_REM_ABORT_ERR,
        since: 0,
        says: "The peer's side broke the operation off. It may have been carried out in part.",
        cases: &[any(
            "The peer's queue pair was reset or closed meanwhile.",
            "Let both sides agree that all requests have completed before one closes. If the peer did not mean to: see why its process \
             ended, then exchange the records of new queue pairs.",
        )],
    },
    Code {
        code: 9,
        name: "BAD_DEST_QPN",
        status: VBN_WC_REM_INV_RD_REQ_ERR,
        since: 0,
        says: "The peer's device answered that it has no such queue pair, or that it is in the error state. (libibverbs' words for this status, \
               \"remote invalid RD request\", mislead.)",
        cases: &[
            any(
                "The peer closed its queue pair or was started anew since it gave its record.",
                "Exchange the records again.",
            ),
            any(
                "The number is of another device or process than the GID: records were mixed up.",
                "Take GID, number and QKEY from one record. Each pair of devices needs its own peer.",
            ),
            any(
                "The peer's queue pair isn't ready: it must be in RTR or RTS.",
                "Let the peer call vbn_qp_prepare before it gives away its record.",
            ),
        ],
    },
    Code {
        code: 10,
        name: "RNR",
        status: VBN_WC_RNR_RETRY_EXC_ERR,
        since: 0,
        says: "The receiver was not ready, and still wasn't after the retries.",
        cases: &[
            any(
                "The peer has no receive posted. A write with immediate uses one up as well, unless it is unsolicited.",
                "Let the peer post receives before you send, and tell you how many you may use.",
            ),
            any(
                "rnr_retry is too low for the time that the peer takes.",
                "Set it higher at vbn_qp_prepare; 7 is for ever, and then a peer that never posts is never told.",
            ),
        ],
    },
    Code {
        code: 11,
        name: "BAD_LENGTH",
        status: VBN_WC_REM_INV_REQ_ERR,
        since: 0,
        says: "The message didn't fit into the peer's receive.",
        cases: &[
            any(
                "The receive that it met is shorter. SRD keeps no order, so any message may meet any receive.",
                "Let the peer make every receive as long as the longest message.",
            ),
            any(
                "The peer's receive has a segment above 65535 bytes: rdma-core cuts it, before 57 one of 64 KiB to nothing.",
                "Use segments of at most 65535 bytes in receives.",
            ),
        ],
    },
    Code {
        code: 12,
        name: "BAD_STATUS",
        status: VBN_WC_BAD_RESP_ERR,
        since: 0,
        says: "The peer's device answered with a status that this one doesn't understand.",
        cases: &[any(
            "The two devices or their firmware don't go together. RDMA read works among devices of the first generation, and among later ones, \
             not between the two (libfabric, main branch of August 2026).",
            "Compare the devices' generations. Look at the peer's kernel log, and report it to AWS with this code.",
        )],
    },
    Code {
        code: 13,
        name: "UNRESP_REMOTE",
        status: VBN_WC_RESP_TIMEOUT_ERR,
        since: 40,
        says: "The peer has answered before and doesn't any more. Whether this request was carried out isn't known, and its data may still arrive.",
        cases: &[
            any(
                "The peer's process or host has died, or its instance was stopped.",
                "See whether the peer lives. If not, give up its peer object and exchange the records of a new one. Don't use the memory \
                 of the request for something else before that is certain.",
            ),
            any(
                "The network between the two was cut: a security group, a route or a subnet was changed meanwhile.",
                "Look at what changed; other traffic between the two tells whether the network is up.",
            ),
        ],
    },
    Code {
        code: 14,
        name: "UNKNOWN_PEER",
        status: VBN_WC_REM_OP_ERR,
        since: 52,
        says: "The peer's device has no address handle for this one. RDMA read and write need one on both sides, plain sends don't.",
        cases: &[
            any(
                "The peer never made a handle for you: the records went in one direction only.",
                "Exchange records both ways. Let both sides make the peer (vbn_peer_from_endpoint) before the first read or write, \
                 also when both ends are on one device.",
            ),
            any(
                "The peer made its handle for another GID: an old record, or another of your devices.",
                "Let it make one for each device that you use, from its present record.",
            ),
            any(
                "The peer has closed its handle: closed its protection domain or trimmed its handles.",
                "Let the peer keep it as long as you read and write.",
            ),
        ],
    },
    Code {
        code: 15,
        name: "UNREACH_REMOTE",
        status: VBN_WC_RESP_TIMEOUT_ERR,
        since: 55,
        says: "The peer never answered. As good as always that is the network's configuration, not the program.",
        cases: NO_WAY,
    },
    Code {
        code: 18,
        name: "FEATURE_MISMATCH",
        status: VBN_WC_REM_INV_REQ_ERR,
        since: 62,
        says: "The two queue pairs don't have the same features.",
        cases: &[any(
            "One side was made to take unsolicited writes with immediate, and the other was not.",
            "Make both queue pairs alike. The record of vbn_endpoint_info_local carries the setting, so that the difference is told \
             when the peer is made.",
        )],
    },
];
