// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the errno of a failed call means: of transitions, registrations, address handles, and in general. Linux 6.1 and 6.12, rdma-core 65.

use super::super::status::*;
use super::{ANY, Case, any, case};

/// What a call does, as far as its errno depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Transition,
    Registration,
    Address,
    Creation,
    Opening,
    Other,
}

/// `Case.ops` of a transition: the state that it leads to.
const INIT: u8 = 1;
const RTR: u8 = 2;
const RTS: u8 = 4;
/// `Case.ops` of a registration: of what.
const HOST: u8 = 1;
const DMABUF: u8 = 2;

/// What a function does, and which cases can apply to it. Raw verbs' names are as good as libverbena's.
pub fn kind_of(function: &[u8]) -> (Kind, u8) {
    const NAMES: &[(&[u8], Kind, u8)] = &[
        (b"vbn_qp_to_init", Kind::Transition, INIT),
        (b"vbn_qp_to_rtr", Kind::Transition, RTR),
        (b"vbn_qp_to_rts", Kind::Transition, RTS),
        (b"vbn_qp_modify", Kind::Transition, ANY),
        (b"vbn_qp_prepare", Kind::Transition, ANY),
        (b"vbn_qp_connect", Kind::Transition, ANY),
        (b"vbn_qp_connect_rc", Kind::Transition, ANY),
        (b"ibv_modify_qp", Kind::Transition, ANY),
        (b"vbn_mr_reg", Kind::Registration, HOST),
        (b"vbn_mr_rereg", Kind::Registration, HOST),
        (b"vbn_mr_reg_dmabuf", Kind::Registration, DMABUF),
        (b"ibv_reg_mr", Kind::Registration, HOST),
        (b"ibv_reg_mr_iova", Kind::Registration, HOST),
        (b"ibv_reg_mr_iova2", Kind::Registration, HOST),
        (b"ibv_rereg_mr", Kind::Registration, HOST),
        (b"ibv_reg_dmabuf_mr", Kind::Registration, DMABUF),
        (b"vbn_ah_create", Kind::Address, ANY),
        (b"vbn_ah_from_wc", Kind::Address, ANY),
        (b"vbn_peer_create", Kind::Address, ANY),
        (b"vbn_peer_from_endpoint", Kind::Address, ANY),
        (b"vbn_peer_from_info", Kind::Address, ANY),
        (b"vbn_peer_from_cm", Kind::Address, ANY),
        (b"ibv_create_ah", Kind::Address, ANY),
        (b"vbn_qp_create", Kind::Creation, ANY),
        (b"vbn_cm_id_create_qp", Kind::Creation, ANY),
        (b"vbn_cq_create", Kind::Creation, ANY),
        (b"vbn_srq_create", Kind::Creation, ANY),
        (b"vbn_pd_alloc", Kind::Creation, ANY),
        (b"vbn_mw_alloc", Kind::Creation, ANY),
        (b"ibv_create_qp", Kind::Creation, ANY),
        (b"ibv_create_qp_ex", Kind::Creation, ANY),
        (b"ibv_create_cq", Kind::Creation, ANY),
        (b"ibv_create_srq", Kind::Creation, ANY),
        (b"ibv_alloc_pd", Kind::Creation, ANY),
        (b"vbn_context_open", Kind::Opening, ANY),
        (b"ibv_open_device", Kind::Opening, ANY),
    ];
    NAMES.iter().find(|(name, ..)| *name == function).map_or((Kind::Other, ANY), |(_, kind, ops)| (*kind, *ops))
}

/// An errno.
pub struct Fact {
    pub kind: Kind,
    pub errnos: &'static [i32],
    /// What it means from such a call.
    pub says: &'static str,
    pub cases: &'static [Case],
}

const fn fact(kind: Kind, errnos: &'static [i32], says: &'static str, cases: &'static [Case]) -> Fact {
    Fact { kind, errnos, says, cases }
}

const NO_ANSWER: &str = "Nobody answers at the peer's address: it is down, dgid is wrong, or the two are not on one link, where the kernel looks for an \
     IPv4 address without a route, too.";
const TRY_ADDRESS: &str = "Ping the address that the peer's GID is made of, over the device's network interface. Exchange the records again if it is an old one.";
const LINK_LOCAL: Case = any(
    "A link-local GID (fe80::) on RoCE, which reaches only the same link; behind a router nobody answers.",
    "Choose routable GIDs on both sides: vbn_gid_select prefers them, vbn_context_gid_table shows all.",
);
const NO_ROUTE: Case = any(
    "No route leads from the local GID's address to the peer's: the two GIDs are of different subnets, or a route is missing.",
    "Choose GIDs of one subnet on both sides (vbn_gid_select), or add the route: \"ip route get PEER from LOCAL\" shows what the kernel would do.",
);
const NET_DOWN: Case = any(
    "The GID at sgid_index belongs to a network interface that is down, gone, or in another network namespace.",
    "Look at \"ip address\" and \"rdma link\"; vbn_context_gid_table tells each GID's interface.",
);
const EMPTY_GID: Case = any(
    "The place at sgid_index in the port's GID table is empty: the address that made it has been removed, or the number was never right.",
    "Let vbn_gid_select choose, or look into vbn_context_gid_table. Tables differ from host to host: never copy an index.",
);
const KINDS_DIFFER: Case = any(
    "The two GIDs are of different address families or RoCE types (an IPv4 GID with an IPv6 one, version 1 with version 2).",
    "Choose GIDs of one type and family on both sides; the functions that connect name what differs (VBN_MISMATCH_*).",
);
const FIRMWARE: Case = any(
    "The device or its firmware did not answer the driver's command (mlx5 and others report that so).",
    "Look at the kernel log (dmesg). Reset the device, and compare its firmware with the driver's notes.",
);
const CGROUP: Case = any(
    "The process is at its limit in the rdma control group.",
    "Compare rdma.current with rdma.max in the process's control group, and raise the latter.",
);
const TOO_MANY: Case = any(
    "The device has no room for one more of its kind, all processes together; those that are never closed add up.",
    "Close what isn't used: vbn_context_live counts what this process has open, \"rdma resource\" what all have.",
);
const DRIVER_MEMORY: Case = any(
    "The kernel could not allocate memory for it; large queues want large connected pieces.",
    "Ask for smaller queues, and look at the kernel log.",
);

pub const FACTS: &[Fact] = &[
    // ---- transitions ----
    fact(
        Kind::Transition,
        &[libc::EINVAL],
        "The kernel or the driver found an attribute wrong, and doesn't say which. The sentence above names the suspect, if the rules and the device's limits show one.",
        &[
            any(
                "The queue pair isn't in the state that the transition begins in: another call moved it, or a failed request put it into ERR.",
                "vbn_qp_query tells the state. The way is RESET, INIT, RTR, RTS; from ERR only RESET helps.",
            ),
            any(
                "An attribute that the transition needs is not in the mask, or one that it doesn't take is. UC has other masks than RC.",
                "Use vbn_qp_to_init, vbn_qp_to_rtr and vbn_qp_to_rts, which set the right ones.",
            ),
            case(
                INIT,
                "port_num or pkey_index isn't one of this device's.",
                "vbn_context_query_port tells how many each has; ports count from 1.",
            ),
            case(
                INIT,
                "An access flag that the device doesn't offer, such as remote atomics.",
                "vbn_context_caps tells what it offers.",
            ),
            case(
                RTR,
                "On RoCE is_global is 0, or the GID at sgid_index and dgid don't go together (family, RoCE type), or are both of the loopback interface.",
                "Set is_global to 1 and let vbn_gid_select choose sgid_index; it says why.",
            ),
            case(
                RTR,
                "path_mtu is larger than the port's active MTU.",
                "Take the smaller of both ports' active_mtu (vbn_context_query_port); the connect functions do.",
            ),
            case(
                RTR | RTS,
                "max_dest_rd_atomic or max_rd_atomic is more than the device's max_qp_rd_atom or max_qp_init_rd_atom.",
                "vbn_context_query_device tells both limits.",
            ),
        ],
    ),
    fact(
        Kind::Transition,
        &[libc::ETIMEDOUT],
        "On RoCE the kernel resolves the peer's hardware address on the way to RTR (ARP or neighbour discovery), and got no answer.",
        &[case(RTR, NO_ANSWER, TRY_ADDRESS), LINK_LOCAL, FIRMWARE],
    ),
    fact(
        Kind::Transition,
        &[libc::ENETUNREACH, libc::EHOSTUNREACH],
        "On RoCE the kernel looks for a route to the peer's GID on the way to RTR, and found none.",
        &[NO_ROUTE, LINK_LOCAL, NET_DOWN],
    ),
    fact(Kind::Transition, &[libc::ENODATA], "There is no GID at sgid_index.", &[EMPTY_GID]),
    fact(
        Kind::Transition,
        &[libc::ENODEV, libc::EADDRNOTAVAIL, libc::ENETDOWN],
        "The way to the peer begins at a network interface, and that isn't there.",
        &[
            NET_DOWN,
            any(
                "The RDMA device itself has been removed or reset.",
                "Look at the asynchronous events (VBN_EVENT_DEVICE_FATAL) and the kernel log; close all and open it anew.",
            ),
        ],
    ),
    fact(
        Kind::Transition,
        &[libc::EPROTONOSUPPORT, libc::EAFNOSUPPORT],
        "The kernel knows no way between addresses of these kinds.",
        &[KINDS_DIFFER],
    ),
    fact(
        Kind::Transition,
        &[libc::EOPNOTSUPP, libc::ENOSYS],
        "The driver lacks an attribute or the transition.",
        &[any(
            "An attribute of another type of queue pair: an EFA's have no address, path MTU, RNR timer or atomics; rate limits and alternate paths are rare.",
            "On an EFA use vbn_qp_prepare, which sets what SRD and UD have; elsewhere leave the attribute out.",
        )],
    ),
    fact(
        Kind::Transition,
        &[libc::EPERM, libc::EACCES],
        "The kernel keeps an attribute to privileged programs.",
        &[
            any(
                "A QKEY whose highest bit is set: since 2023 (Linux 6.4, and older ones that were mended) it wants CAP_NET_RAW.",
                "Take a QKEY below 0x80000000: vbn_qkey_random does.",
            ),
            any("Raw packet queue pairs want CAP_NET_RAW.", "Run the program with it."),
        ],
    ),
    fact(
        Kind::Transition,
        &[libc::ENOMEM],
        "The kernel, the driver or the device had no room.",
        &[
            TOO_MANY,
            any(
                "max_rd_atomic or max_dest_rd_atomic took the device's last resources for reads and atomics.",
                "Ask for fewer of them for each queue pair.",
            ),
        ],
    ),
    // ---- registrations ----
    fact(
        Kind::Registration,
        &[libc::ENOMEM],
        "The memory could not be pinned, or the device has no room for its pages.",
        &[
            case(
                HOST,
                "The limit on locked memory: all regions of the process count against RLIMIT_MEMLOCK together, whole pages each.",
                "Raise it: \"ulimit -l unlimited\", LimitMEMLOCK=infinity (systemd), limits.conf, --ulimit memlock=-1 (containers), or the batch \
                 system's setting. CAP_IPC_LOCK lifts it.",
            ),
            case(
                HOST,
                "After vbn_fork_init, part of the range isn't mapped, or the process has reached vm.max_map_count, since each region splits mappings.",
                "Register mapped memory only, in few large regions, or raise vm.max_map_count.",
            ),
            any(
                "The device's page or key tables are full: many regions, or one of small pages.",
                "Register fewer and larger regions, from huge pages; close those that aren't used.",
            ),
        ],
    ),
    fact(
        Kind::Registration,
        &[libc::EFAULT],
        "The kernel could not get at the pages of the range.",
        &[
            case(
                HOST,
                "Not all of the range is mapped: it was unmapped or freed, or length reaches beyond the allocation.",
                "Compare address and length with /proc/self/maps.",
            ),
            case(
                HOST,
                "The memory is read-only, and the access asked for lets the device write (LOCAL_WRITE, REMOTE_WRITE or REMOTE_ATOMIC).",
                "Map it writable, or ask for VBN_ACCESS_REMOTE_READ or nothing only.",
            ),
            case(
                HOST,
                "It is a GPU's or another device's memory, and no peer-memory module serves it; each kernel update wants the module built anew.",
                "Export a dma-buf and use vbn_mr_reg_dmabuf, or load the module (nvidia_peermem; efa_nv_peermem for EFA).",
            ),
            case(
                HOST,
                "It is a mapping of a device's registers, or since Linux 6.5 a shared, writable mapping of a file on disk, which can't be pinned.",
                "Use anonymous memory, or files in tmpfs or hugetlbfs.",
            ),
            case(
                DMABUF,
                "The exporter could not map the buffer for this device.",
                "Look at the kernel log, and at the exporter's own driver.",
            ),
        ],
    ),
    fact(
        Kind::Registration,
        &[libc::EPERM, libc::EACCES],
        "The process may not pin memory at all.",
        &[
            case(
                HOST,
                "RLIMIT_MEMLOCK is 0 and the process lacks CAP_IPC_LOCK.",
                "Raise it: \"ulimit -l unlimited\", LimitMEMLOCK=infinity (systemd), --ulimit memlock=-1 (containers); or give it CAP_IPC_LOCK.",
            ),
            any(
                "A seccomp filter, a security module or a sandbox refuses it.",
                "Look at the audit log, and run it once without the sandbox.",
            ),
        ],
    ),
    fact(
        Kind::Registration,
        &[libc::EINVAL],
        "The kernel or the driver found an argument wrong, and doesn't say which.",
        &[
            any(
                "An access flag that the device or kernel doesn't know.",
                "Try without the optional ones; vbn_context_caps tells which it offers.",
            ),
            case(
                HOST,
                "The range is larger than what the device maps in one region.",
                "Compare it with max_mr_size (vbn_context_query_device), and cut it.",
            ),
            case(
                HOST,
                "iova and address differ in their offset within the page.",
                "Let iova equal the address modulo the page size.",
            ),
            case(
                DMABUF,
                "offset and length reach beyond the dma-buf, or aren't of the exporter's page size.",
                "Export the whole allocation, and take offset and length from it.",
            ),
        ],
    ),
    fact(
        Kind::Registration,
        &[libc::EOPNOTSUPP, libc::ENOSYS, libc::EPROTONOSUPPORT],
        "The driver can't register memory in this way.",
        &[
            case(
                DMABUF,
                "The device's driver has no dma-bufs: Linux 5.12 or newer is wanted, and not every driver has them.",
                "Use vbn_mr_reg with a peer-memory module.",
            ),
            any(
                "The driver lacks one of the access flags, such as ON_DEMAND or atomics.",
                "Leave it out; vbn_context_caps tells what the device offers.",
            ),
            case(
                HOST,
                "The memory is of a file system with direct access (DAX), which can't be pinned for long.",
                "Use memory that isn't, or VBN_ACCESS_ON_DEMAND where the device has it.",
            ),
        ],
    ),
    fact(
        Kind::Registration,
        &[libc::EBADF],
        "The file descriptor isn't what was wanted.",
        &[case(
            DMABUF,
            "fd is closed, or is no dma-buf.",
            "Pass the descriptor that the exporter gave, and close it after the registration only.",
        )],
    ),
    // ---- address handles ----
    fact(
        Kind::Address,
        &[libc::EINVAL],
        "The kernel, the driver or the device refused the address.",
        &[
            any(
                "On an EFA: the peer is in another Availability Zone (AZ) or VPC, its GID is no EFA's, or the instance of that GID is gone.",
                "Use instances of one AZ and subnet, and exchange the records again.",
            ),
            any(
                "sgid_index, port_num or is_global is wrong: on RoCE and EFA every address has the global header.",
                "Set is_global to 1, port_num from 1, and let vbn_gid_select choose sgid_index.",
            ),
            KINDS_DIFFER,
        ],
    ),
    fact(
        Kind::Address,
        &[libc::ETIMEDOUT],
        "The peer's hardware address could not be resolved (ARP or neighbour discovery).",
        &[any(NO_ANSWER, TRY_ADDRESS), LINK_LOCAL],
    ),
    fact(
        Kind::Address,
        &[libc::ENETUNREACH, libc::EHOSTUNREACH],
        "There is no route to the peer's GID.",
        &[NO_ROUTE, LINK_LOCAL, NET_DOWN],
    ),
    fact(Kind::Address, &[libc::ENODATA], "There is no GID at sgid_index.", &[EMPTY_GID]),
    fact(
        Kind::Address,
        &[libc::ENOMEM, libc::ENOSPC],
        "The device has no room for one more address.",
        &[TOO_MANY, CGROUP],
    ),
    // ---- creation ----
    fact(
        Kind::Creation,
        &[libc::ENOMEM, libc::ENOSPC],
        "The device, the driver or the kernel has no room for it.",
        &[
            TOO_MANY,
            DRIVER_MEMORY,
            any(
                "The driver pins the queues' own memory, which counts against RLIMIT_MEMLOCK on many devices.",
                "Raise it: \"ulimit -l unlimited\", LimitMEMLOCK=infinity (systemd), --ulimit memlock=-1 (containers).",
            ),
        ],
    ),
    fact(
        Kind::Creation,
        &[libc::EINVAL],
        "The driver refused the combination of what was asked.",
        &[
            any(
                "Each number is within its limit, but not all at once: inline data, segments and depth share the room of a queue.",
                "Ask for less inline data, fewer segments or a shorter queue; begin with the defaults.",
            ),
            any(
                "A flag or type that the device doesn't have.",
                "vbn_context_caps tells what it offers, and vbn_caps_reason why not.",
            ),
        ],
    ),
    fact(
        Kind::Creation,
        &[libc::EOPNOTSUPP, libc::ENOSYS, libc::EPROTONOSUPPORT],
        "The driver lacks this kind of object, or something that was asked of it.",
        &[any(
            "A type of queue pair that the device doesn't have: an EFA has SRD and UD only, most others no SRD; or extended features of a newer release.",
            "vbn_context_caps tells what it offers, and vbn_caps_reason why not.",
        )],
    ),
    fact(Kind::Creation, &[libc::EAGAIN], "A limit was reached.", &[CGROUP]),
    fact(
        Kind::Creation,
        &[libc::EPERM, libc::EACCES],
        "The kernel keeps this kind of object to privileged programs.",
        &[any("Raw packet queue pairs want CAP_NET_RAW.", "Run the program with it, or use another type.")],
    ),
    // ---- opening ----
    fact(
        Kind::Opening,
        &[libc::EACCES, libc::EPERM],
        "The device's node may not be opened.",
        &[
            any(
                "The user may not write to /dev/infiniband/uverbs*.",
                "Look at the nodes' owner and mode, and at the udev rules of rdma-core.",
            ),
            any(
                "In a container the node isn't among the devices that it may use.",
                "Start it with --device /dev/infiniband/uverbsN, or the device plugin of the orchestrator.",
            ),
        ],
    ),
    fact(
        Kind::Opening,
        &[libc::ENOENT, libc::ENXIO, libc::ENODEV],
        "The kernel shows the device, and its node isn't there.",
        &[
            any("A container without /dev/infiniband.", "Start it with --device /dev/infiniband/uverbsN."),
            any(
                "The module ib_uverbs isn't loaded, or the device has just been removed.",
                "Load it (modprobe ib_uverbs), and look at the kernel log.",
            ),
        ],
    ),
    // ---- any call ----
    fact(
        Kind::Other,
        &[libc::EMFILE, libc::ENFILE],
        "There are no more file descriptors.",
        &[any(
            "The process has as many files open as it may, or leaks them.",
            "Raise \"ulimit -n\", and count /proc/self/fd.",
        )],
    ),
    fact(Kind::Other, &[libc::ENOMEM], "There was no memory.", &[DRIVER_MEMORY]),
    fact(Kind::Other, &[libc::EAGAIN], "A limit was reached, or it can't be done now.", &[CGROUP]),
    fact(
        Kind::Other,
        &[libc::EBUSY],
        "The object is in use.",
        &[any(
            "Something else still uses it: objects made from it, requests under way, windows bound to it.",
            "Close in the order opposite to creation, and drain the queues before.",
        )],
    ),
    fact(
        Kind::Other,
        &[libc::EINVAL],
        "The kernel or the driver found an argument wrong, and doesn't say which.",
        &[any(
            "A value that this device doesn't take.",
            "Compare with vbn_context_query_device, vbn_context_query_port and vbn_context_caps.",
        )],
    ),
    fact(
        Kind::Other,
        &[libc::EOPNOTSUPP, libc::ENOSYS, libc::EPROTONOSUPPORT],
        "The device, its driver or the kernel doesn't offer this.",
        &[any(
            "A feature that this device, kernel or rdma-core lacks.",
            "vbn_context_caps tells what it offers, and vbn_caps_reason why not.",
        )],
    ),
    fact(
        Kind::Other,
        &[libc::EPERM, libc::EACCES],
        "The process may not do this.",
        &[any(
            "A capability is missing, or a container or security module refuses it.",
            "Run it once as root outside of the container to tell the two apart.",
        )],
    ),
    fact(
        Kind::Other,
        &[libc::ENODEV, libc::EIO],
        "The device failed, or is gone.",
        &[any(
            "It was removed or reset, or its firmware failed.",
            "Look at the asynchronous events and the kernel log; close all and open it anew.",
        )],
    ),
    fact(
        Kind::Other,
        &[libc::ETIMEDOUT],
        "Nobody answered in time.",
        &[
            FIRMWARE,
            any(
                "The peer or the network didn't answer.",
                "See whether the peer lives, and whether its address can be reached.",
            ),
        ],
    ),
    fact(Kind::Other, &[libc::ENETUNREACH, libc::EHOSTUNREACH], "There is no route to the peer.", &[NO_ROUTE]),
];

/// For an errno that isn't in the list.
pub const UNKNOWN: Fact = fact(
    Kind::Other,
    &[],
    "libverbena knows nothing special of this error from this call.",
    &[any(
        "Something that the driver, the kernel or the device alone knows.",
        "Look at the kernel log (dmesg), and at the driver's documentation.",
    )],
);

/// What a status means from a function about GPUs, where it differs.
pub const GPU_STATUSES: &[(i32, Case)] = &[
    (
        VBN_ERR_LIBRARY_MISSING,
        any(
            "The GPU's driver library isn't installed, or not where the loader looks (a container without the driver's files).",
            "NVIDIA: the driver, not the toolkit, brings libcuda.so.1; containers want NVIDIA_DRIVER_CAPABILITIES=compute. AMD: ROCm's \
             HSA runtime. VBN_CUDA_LIBRARY and VBN_ROCM_LIBRARY name another file.",
        ),
    ),
    (
        VBN_ERR_SYMBOL_MISSING,
        any(
            "The GPU's driver is older than this function needs.",
            "The sentence names the release; vbn_library_query tells which file was loaded. A newer toolkit doesn't help, a newer driver does.",
        ),
    ),
    (
        VBN_ERR_DRIVER,
        any(
            "The GPU's driver refused; vendor_code has its own code.",
            "Initialise the driver and have a context of the GPU before the call: libverbena does neither.",
        ),
    ),
    (
        VBN_ERR_NOT_SUPPORTED,
        any(
            "The GPU, its driver or this kind of memory lacks it.",
            "vbn_gpu_device_query tells what the GPU offers, vbn_gpu_pointer_query what the memory is.",
        ),
    ),
    (
        VBN_ERR_NOT_FOUND,
        any(
            "The driver shows no such GPU.",
            "Ordinals count from 0 among those that CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES leaves.",
        ),
    ),
];

/// What a failure without an errno means: what libverbena found by itself.
pub const STATUSES: &[(vbn_status, Case)] = &[
    (
        VBN_ERR_ARGUMENT,
        any(
            "An argument breaks a rule; the call was refused before anything happened.",
            "The sentence names value and rule; the function's comment in verbena.h has all of them.",
        ),
    ),
    (
        VBN_ERR_CLOSED,
        any(
            "The handle was closed before, here or in another thread.",
            "Look for the close; a handle set to NULL by it is a copy's only warning.",
        ),
    ),
    (
        VBN_ERR_BUSY,
        any(
            "Another thread is inside a call on the object, or the driver still uses it.",
            "Let the other calls end, close what was made from it, and close again: the handle stays valid.",
        ),
    ),
    (
        VBN_ERR_QUEUE_FULL,
        any(
            "More requests are on the queue than were taken off by polling.",
            "Poll completions, then post the rest: `posted` says where it stopped. Signaled requests alone free the others.",
        ),
    ),
    (
        VBN_ERR_TIMEOUT,
        any(
            "What was waited for didn't come in the time given.",
            "Wait longer, or see why: vbn_explain with VBN_EXPLAIN_SILENCE lists the causes.",
        ),
    ),
    (
        VBN_ERR_NO_MEMORY,
        any(
            "The process is out of memory, or at its limit of address space (ulimit -v).",
            "Free some; nothing was changed by the call.",
        ),
    ),
    (
        VBN_ERR_NOT_SUPPORTED,
        any(
            "The device, its driver, rdma-core or the kernel lacks it.",
            "vbn_context_caps tells what the device offers, and vbn_caps_reason why not.",
        ),
    ),
    (
        VBN_ERR_LIBRARY_MISSING,
        any(
            "rdma-core's library isn't installed, or not where the loader looks (a container, a wheel).",
            "Install libibverbs1, ibverbs-providers or librdmacm1; vbn_library_missing and VBN_IBVERBS_LIBRARY help.",
        ),
    ),
    (
        VBN_ERR_SYMBOL_MISSING,
        any(
            "The rdma-core that was loaded is older than this function needs.",
            "The sentence names the release; vbn_library_query tells which file was loaded.",
        ),
    ),
    (
        VBN_ERR_DEVICE_GONE,
        any(
            "The device was removed, reset, or its driver unloaded.",
            "Look at the kernel log. Close all that belongs to it, and open it anew when it is back.",
        ),
    ),
    (
        VBN_ERR_FORKED,
        any(
            "The object was made before fork(), and this is the child.",
            "Open the device anew in the child; close frees the child's memory only.",
        ),
    ),
    (
        VBN_ERR_TOO_NEW,
        any(
            "The peer or the program was built with a newer libverbena.",
            "Update this one, or let the other side use what both know.",
        ),
    ),
    (
        VBN_ERR_UNCERTAIN,
        any(
            "The driver failed without naming a request: some may be on the queue.",
            "Don't post them again. Move the queue pair to ERR, poll until all are flushed, and begin anew.",
        ),
    ),
    (
        VBN_ERR_COMPLETION,
        any(
            "A request failed on the device or at the peer.",
            "Look at the completion: vbn_explain with its status and vendor_err.",
        ),
    ),
    (VBN_ERR_DRIVER, any("The driver refused, and gave no reason.", "Look at the kernel log (dmesg).")),
    (
        VBN_ERR_INTERNAL,
        any(
            "A defect in libverbena.",
            "Close the object, and report the sentence with the version (vbn_version_string).",
        ),
    ),
    (
        VBN_ERR_NOT_FOUND,
        any(
            "Nothing of that name or number is there, or not in this container or namespace.",
            "vbn_device_list shows what is, and vbn_device_list_reason why something isn't.",
        ),
    ),
    (
        VBN_ERR_LIMIT,
        any(
            "The value is beyond what the device or this library offers.",
            "Take at most the limit that the sentence names; vbn_context_query_device has the device's.",
        ),
    ),
];
