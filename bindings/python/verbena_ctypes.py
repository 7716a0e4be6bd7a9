# SPDX-License-Identifier: MIT OR Apache-2.0
"""libverbena for ctypes. Made from include/verbena.h by scripts/gen-ctypes.py; don't edit it.

    import verbena_ctypes as v
    lib = v.load()
    v.check(lib, lib.vbn_context_open(None, None, ctypes.byref(context)))

Names, structs and functions are those of the header, which is the reference. A struct that begins with struct_size gets
it by itself. Handles are typed pointers: `qp = POINTER(vbn_qp)()`, and byref(qp) where C wants a vbn_qp **.

A call made through ctypes gives up the interpreter's lock meanwhile. What the device reads or writes later (the memory of
a region) must be kept alive by the caller; requests, segments and completions are only read or written during the call."""
import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_int, c_int32, c_int64, c_size_t
from ctypes import c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

__all__ = ["load", "check", "VerbenaError"]  # and everything named vbn_ or VBN_, see the end


class _Sized(Structure):
    """A struct that begins with its own size."""

    def __init__(self, **fields):
        super().__init__(struct_size=ctypes.sizeof(type(self)), **fields)

VBN_VERSION_MAJOR = 0
VBN_VERSION_MINOR = 1
VBN_VERSION_PATCH = 0
VBN_VERSION = 256
VBN_ADOPT_BORROW = 0
VBN_ADOPT_OWN = 1
VBN_ADOPT_CUSTOM = 2
VBN_ADOPT_SET_IOVA = 1
VBN_INDEX_NONE = 18446744073709551615
VBN_VENDOR_NONE = 0
VBN_VENDOR_WC = 1
VBN_VENDOR_CUDA = 2
VBN_VENDOR_HSA = 3
VBN_NAME_SIZE = 64
VBN_CAP_RC = 1
VBN_CAP_UC = 2
VBN_CAP_UD = 4
VBN_CAP_SRD = 8
VBN_CAP_XRC = 16
VBN_CAP_SEND = 256
VBN_CAP_SEND_IMM = 512
VBN_CAP_WRITE = 1024
VBN_CAP_WRITE_IMM = 2048
VBN_CAP_READ = 4096
VBN_CAP_ATOMICS = 8192
VBN_CAP_ATOMICS_GLOBAL = 16384
VBN_CAP_ATOMIC_WRITE = 32768
VBN_CAP_FLUSH = 65536
VBN_CAP_INVALIDATE = 131072
VBN_CAP_UNSIGNALED = 1048576
VBN_CAP_FENCE = 2097152
VBN_CAP_SOLICITED = 4194304
VBN_CAP_INLINE = 8388608
VBN_CAP_INLINE_WRITE = 16777216
VBN_CAP_ORDERED = 33554432
VBN_CAP_RNR_RETRY = 67108864
VBN_CAP_UNSOLICITED_WRITE_RECV = 134217728
VBN_CAP_ERRORS_ISOLATED = 268435456
VBN_CAP_PROCESSING_HINTS = 536870912
VBN_CAP_NOTIFY = 4294967296
VBN_CAP_NOTIFY_SOLICITED = 8589934592
VBN_CAP_WC_SGID = 17179869184
VBN_CAP_WC_TIMESTAMP = 34359738368
VBN_CAP_COMP_CNTR = 68719476736
VBN_CAP_CQ_DMABUF = 137438953472
VBN_CAP_DMABUF = 1099511627776
VBN_CAP_RELAXED_ORDERING = 2199023255552
VBN_CAP_ODP = 4398046511104
VBN_CAP_MW = 8796093022208
VBN_CAP_DEVICE_MEMORY = 17592186044416
VBN_CAP_SRQ = 281474976710656
VBN_CAP_MULTICAST = 562949953421312
VBN_ABSENCE_NONE = 0
VBN_ABSENCE_UNKNOWN = 1
VBN_ABSENCE_TRANSPORT = 2
VBN_ABSENCE_DEVICE = 3
VBN_ABSENCE_LIBRARY = 4
VBN_ABSENCE_LIBRARY_OR_DEVICE = 5
VBN_ABSENCE_DRIVER = 6
VBN_RT_RAW_CLOCK = 1
VBN_CM_CONN_SET_RESPONDER_RESOURCES = 1
VBN_CM_CONN_SET_INITIATOR_DEPTH = 2
VBN_CM_CONN_SET_RETRY_COUNT = 4
VBN_CM_CONN_SET_RNR_RETRY_COUNT = 8
VBN_CM_EVENT_ADDR_RESOLVED = 0
VBN_CM_EVENT_ADDR_ERROR = 1
VBN_CM_EVENT_ROUTE_RESOLVED = 2
VBN_CM_EVENT_ROUTE_ERROR = 3
VBN_CM_EVENT_CONNECT_REQUEST = 4
VBN_CM_EVENT_CONNECT_RESPONSE = 5
VBN_CM_EVENT_CONNECT_ERROR = 6
VBN_CM_EVENT_UNREACHABLE = 7
VBN_CM_EVENT_REJECTED = 8
VBN_CM_EVENT_ESTABLISHED = 9
VBN_CM_EVENT_DISCONNECTED = 10
VBN_CM_EVENT_DEVICE_REMOVAL = 11
VBN_CM_EVENT_MULTICAST_JOIN = 12
VBN_CM_EVENT_MULTICAST_ERROR = 13
VBN_CM_EVENT_ADDR_CHANGE = 14
VBN_CM_EVENT_TIMEWAIT_EXIT = 15
VBN_CM_PS_TCP = 262
VBN_CM_PS_UDP = 273
VBN_CM_PS_IB = 319
VBN_CM_ID_SET_TOS = 1
VBN_CM_ID_SET_REUSE_ADDR = 2
VBN_CM_ID_SET_ONLY_V6 = 4
VBN_CM_ID_SET_ACK_TIMEOUT = 8
VBN_RECORD_MAX_SIZE = 1024
VBN_RECORD_HEADER_SIZE = 8
VBN_PORT_NOP = 0
VBN_PORT_DOWN = 1
VBN_PORT_INIT = 2
VBN_PORT_ARMED = 3
VBN_PORT_ACTIVE = 4
VBN_PORT_ACTIVE_DEFER = 5
VBN_LINK_LAYER_UNSPECIFIED = 0
VBN_LINK_LAYER_INFINIBAND = 1
VBN_LINK_LAYER_ETHERNET = 2
VBN_PORT_VALID_CAP_FLAGS2 = 1
VBN_PORT_VALID_SPEED_EX = 2
VBN_PORT_VALID_SPEED = 4
VBN_COUNTER_PACKETS = 0
VBN_COUNTER_BYTES = 1
VBN_COUNTERS_PREFER_CACHED = 1
VBN_CQ_WAIT_SLEEP = 0
VBN_CQ_WAIT_EVENT = 1
VBN_CQ_SET_MODERATION = 1
VBN_NODE_UNKNOWN = -1
VBN_NODE_CA = 1
VBN_NODE_SWITCH = 2
VBN_NODE_ROUTER = 3
VBN_NODE_RNIC = 4
VBN_NODE_USNIC = 5
VBN_NODE_USNIC_UDP = 6
VBN_NODE_UNSPECIFIED = 7
VBN_TRANSPORT_UNKNOWN = -1
VBN_TRANSPORT_IB = 0
VBN_TRANSPORT_IWARP = 1
VBN_TRANSPORT_USNIC = 2
VBN_TRANSPORT_USNIC_UDP = 3
VBN_TRANSPORT_UNSPECIFIED = 4
VBN_REASON_NONE = 0
VBN_REASON_CANNOT_OPEN = 1
VBN_REASON_LIBRARY_MISSING = 2
VBN_REASON_LIBRARY_UNUSABLE = 3
VBN_REASON_NO_MODULE = 4
VBN_REASON_NO_DEVICE = 5
VBN_REASON_NO_NODE = 6
VBN_REASON_NOT_PERMITTED = 7
VBN_REASON_NO_PROVIDER = 8
VBN_REASON_LIST_FAILED = 9
VBN_DL_CPU = 1
VBN_DL_CUDA = 2
VBN_DL_CUDA_HOST = 3
VBN_DL_ROCM = 10
VBN_DL_ROCM_HOST = 11
VBN_DL_CUDA_MANAGED = 13
VBN_EFA_CAP_RDMA_READ = 1
VBN_EFA_CAP_RNR_RETRY = 2
VBN_EFA_CAP_CQ_WITH_SGID = 4
VBN_EFA_CAP_RDMA_WRITE = 8
VBN_EFA_CAP_UNSOLICITED_WRITE_RECV = 16
VBN_EFA_CAP_CQ_WITH_EXT_MEM_DMABUF = 32
VBN_EFA_CAP_COMP_CNTR = 64
VBN_EFA_SQ_INLINE_WRITE = 1
VBN_EFA_WQ_64_BIT_REQ_ID = 1
VBN_EFA_MR_RECV_IC_ID = 1
VBN_EFA_MR_RDMA_READ_IC_ID = 2
VBN_EFA_MR_RDMA_RECV_IC_ID = 4
VBN_ENDPOINT_SIZE = 24
VBN_ENDPOINT_MAX_GIDS = 8
VBN_ENDPOINT_SET_PSN = 1
VBN_ENDPOINT_SET_QKEY = 2
VBN_ENDPOINT_SET_LID = 4
VBN_ENDPOINT_SET_PORT_NUM = 8
VBN_ENDPOINT_SET_MTU = 16
VBN_ENDPOINT_SET_MAX_MESSAGE = 32
VBN_ENDPOINT_SET_READ_DEPTH = 64
VBN_ENDPOINT_SET_UNSOLICITED = 128
VBN_ENDPOINT_SET_EFA_GENERATION = 256
VBN_ENDPOINT_SET_ECE = 512
VBN_ENDPOINT_SET_INCARNATION = 1024
VBN_ENDPOINT_ATTR_SET_PSN = 1
VBN_ENDPOINT_ATTR_SET_SGID_INDEX = 2
VBN_ENDPOINT_ATTR_SET_MAX_RD_ATOMIC = 4
VBN_ENDPOINT_ATTR_SET_MAX_DEST_RD_ATOMIC = 8
VBN_ENDPOINT_ATTR_SET_UNSOLICITED = 16
VBN_MISMATCH_TRANSPORT = 1
VBN_MISMATCH_UNSOLICITED = 2
VBN_MISMATCH_EFA_GENERATION = 4
VBN_MISMATCH_GID = 8
VBN_MISMATCH_ECE = 16
VBN_ELEMENT_NONE = 0
VBN_ELEMENT_CQ = 1
VBN_ELEMENT_QP = 2
VBN_ELEMENT_SRQ = 3
VBN_ELEMENT_WQ = 4
VBN_ELEMENT_PORT = 5
VBN_ELEMENT_DEVICE = 6
VBN_EVENT_CQ_ERR = 0
VBN_EVENT_QP_FATAL = 1
VBN_EVENT_QP_REQ_ERR = 2
VBN_EVENT_QP_ACCESS_ERR = 3
VBN_EVENT_COMM_EST = 4
VBN_EVENT_SQ_DRAINED = 5
VBN_EVENT_PATH_MIG = 6
VBN_EVENT_PATH_MIG_ERR = 7
VBN_EVENT_DEVICE_FATAL = 8
VBN_EVENT_PORT_ACTIVE = 9
VBN_EVENT_PORT_ERR = 10
VBN_EVENT_LID_CHANGE = 11
VBN_EVENT_PKEY_CHANGE = 12
VBN_EVENT_SM_CHANGE = 13
VBN_EVENT_SRQ_ERR = 14
VBN_EVENT_SRQ_LIMIT_REACHED = 15
VBN_EVENT_QP_LAST_WQE_REACHED = 16
VBN_EVENT_CLIENT_REREGISTER = 17
VBN_EVENT_GID_CHANGE = 18
VBN_EVENT_WQ_FATAL = 19
VBN_EVENT_DEVICE_SPEED_CHANGE = 20
VBN_DRIVER_UNKNOWN = 0
VBN_DRIVER_MLX5 = 1
VBN_DRIVER_RXE = 14
VBN_DRIVER_EFA = 17
VBN_EXPLAIN_SILENCE = 65536
VBN_EXPLAIN_SET_OPCODE = 1
VBN_EXPLAIN_TEXT_SIZE = 8192
VBN_FLOW_NORMAL = 0
VBN_FLOW_ALL_DEFAULT = 1
VBN_FLOW_MC_DEFAULT = 2
VBN_FLOW_SNIFFER = 3
VBN_FLOW_DONT_TRAP = 2
VBN_FLOW_EGRESS = 4
VBN_FLOW_SPEC_ETH = 32
VBN_FLOW_SPEC_IPV4 = 48
VBN_FLOW_SPEC_IPV6 = 49
VBN_FLOW_SPEC_IPV4_EXT = 50
VBN_FLOW_SPEC_ESP = 52
VBN_FLOW_SPEC_TCP = 64
VBN_FLOW_SPEC_UDP = 65
VBN_FLOW_SPEC_VXLAN = 80
VBN_FLOW_SPEC_GRE = 81
VBN_FLOW_SPEC_MPLS = 96
VBN_FLOW_SPEC_INNER = 256
VBN_FLOW_SPEC_ACTION_TAG = 4096
VBN_FLOW_SPEC_ACTION_DROP = 4097
VBN_FLOW_SPEC_ACTION_COUNT = 4099
VBN_FLOW_MAX_SPECS = 16
VBN_GID_TYPE_IB = 0
VBN_GID_TYPE_ROCE_V1 = 1
VBN_GID_TYPE_ROCE_V2 = 2
VBN_GID_FAMILY_ANY = 0
VBN_GID_FAMILY_IPV4 = 1
VBN_GID_FAMILY_IPV6 = 2
VBN_GID_SET_INDEX = 1
VBN_GID_SET_TYPE = 2
VBN_GID_CHOSEN = 0
VBN_GID_USABLE = 1
VBN_GID_LAST_RESORT = 2
VBN_GID_ROCE_V1_UNASKED = 3
VBN_GID_OTHER_TYPE = 4
VBN_GID_OTHER_FAMILY = 5
VBN_GID_OTHER_INDEX = 6
VBN_GID_OTHER_NETDEV = 7
VBN_GID_UNUSED = 8
VBN_GPU_KIND_ANY = 0
VBN_GPU_KIND_CUDA = 1
VBN_GPU_KIND_ROCM = 2
VBN_GPU_UNKNOWN = -1
VBN_GPU_MEMORY_UNKNOWN = 0
VBN_GPU_MEMORY_HOST = 1
VBN_GPU_MEMORY_DEVICE = 2
VBN_GPU_MEMORY_MANAGED = 3
VBN_GPU_ALLOCATION_UNKNOWN = 0
VBN_GPU_ALLOCATION_PLAIN = 1
VBN_GPU_ALLOCATION_VMM = 2
VBN_GPU_ALLOCATION_POOL = 3
VBN_GPU_ORDERING_NONE = 0
VBN_GPU_ORDERING_OWNER = 100
VBN_GPU_ORDERING_ALL_DEVICES = 200
VBN_GPU_FLUSH_OPTION_HOST = 1
VBN_GPU_FLUSH_OPTION_MEMOPS = 2
VBN_GPU_FLUSH_OWNER = 100
VBN_GPU_FLUSH_ALL_DEVICES = 200
VBN_GPU_FLUSH_NOT_NEEDED = 0
VBN_GPU_FLUSH_DONE = 1
VBN_GPU_DEVICE_CURRENT = -2
VBN_GPU_DMABUF_PCIE = 1
VBN_GPU_PATH_DMABUF = 1
VBN_GPU_PATH_SEGMENTS = 2
VBN_GPU_PATH_PEER = 4
VBN_GPU_ATTEMPT_NONE = 0
VBN_GPU_ATTEMPT_FAILED = 1
VBN_GPU_ATTEMPT_WON = 2
VBN_GPU_MR_UNKNOWN = 0
VBN_GPU_MR_VALID = 1
VBN_GPU_MR_FREED = 2
VBN_GPU_MR_REPLACED = 3
VBN_LIBRARY_IBVERBS = 0
VBN_LIBRARY_EFA = 1
VBN_LIBRARY_RDMACM = 2
VBN_LIBRARY_CUDA = 3
VBN_LIBRARY_ROCM = 4
VBN_LIBRARY_FROM_DEFAULT = 0
VBN_LIBRARY_FROM_ENV = 1
VBN_LIBRARY_FROM_PATH = 2
VBN_LIBRARY_FROM_HANDLE = 3
VBN_LIBRARY_FROM_LOOKUP = 4
VBN_LIBRARY_FROM_PROVIDER = 5
VBN_FORK_UNKNOWN = -1
VBN_FORK_DISABLED = 0
VBN_FORK_ENABLED = 1
VBN_FORK_UNNEEDED = 2
VBN_ACCESS_LOCAL_WRITE = 1
VBN_ACCESS_REMOTE_WRITE = 2
VBN_ACCESS_REMOTE_READ = 4
VBN_ACCESS_REMOTE_ATOMIC = 8
VBN_ACCESS_MW_BIND = 16
VBN_ACCESS_ZERO_BASED = 32
VBN_ACCESS_ON_DEMAND = 64
VBN_ACCESS_HUGETLB = 128
VBN_ACCESS_FLUSH_GLOBAL = 256
VBN_ACCESS_FLUSH_PERSISTENT = 512
VBN_ACCESS_RELAXED_ORDERING = 1048576
VBN_MR_SET_IOVA = 1
VBN_MR_HOST = 0
VBN_MR_DMABUF = 1
VBN_MR_ADOPTED = 2
VBN_MR_NULL = 3
VBN_MR_IMPORTED = 4
VBN_MR_DM = 5
VBN_MR_PEER = 6
VBN_MR_SEGMENT_DEFAULT = 1073741824
VBN_MR_REREG_TRANSLATION = 1
VBN_MR_REREG_PD = 2
VBN_MR_REREG_ACCESS = 4
VBN_ADVISE_PREFETCH = 0
VBN_ADVISE_PREFETCH_WRITE = 1
VBN_ADVISE_PREFETCH_NO_FAULT = 2
VBN_ADVISE_FLUSH = 1
VBN_MEMORY_UNKNOWN = 0
VBN_MEMORY_HOST = 1
VBN_MEMORY_CUDA = 2
VBN_MEMORY_ROCM = 3
VBN_PLACE_SET_GPU = 1
VBN_PLACE_SET_NUMA = 2
VBN_PLACE_SET_PCI = 4
VBN_MW_TYPE_1 = 1
VBN_MW_TYPE_2 = 2
VBN_WR_RDMA_WRITE = 0
VBN_WR_RDMA_WRITE_WITH_IMM = 1
VBN_WR_SEND = 2
VBN_WR_SEND_WITH_IMM = 3
VBN_WR_RDMA_READ = 4
VBN_SEND_FENCE = 1
VBN_SEND_SIGNALED = 2
VBN_SEND_SOLICITED = 4
VBN_SEND_INLINE = 8
VBN_SEND_BURST = 4294967296
VBN_WR_ATOMIC_CMP_AND_SWP = 5
VBN_WR_ATOMIC_FETCH_AND_ADD = 6
VBN_WR_LOCAL_INV = 7
VBN_WR_BIND_MW = 8
VBN_WR_SEND_WITH_INV = 9
VBN_WR_FLUSH = 14
VBN_WR_ATOMIC_WRITE = 15
VBN_FLUSH_GLOBAL = 1
VBN_FLUSH_PERSISTENT = 2
VBN_FLUSH_RANGE = 0
VBN_FLUSH_MR = 1
VBN_QPS_RESET = 0
VBN_QPS_INIT = 1
VBN_QPS_RTR = 2
VBN_QPS_RTS = 3
VBN_QPS_SQD = 4
VBN_QPS_SQE = 5
VBN_QPS_ERR = 6
VBN_MTU_256 = 1
VBN_MTU_512 = 2
VBN_MTU_1024 = 3
VBN_MTU_2048 = 4
VBN_MTU_4096 = 5
VBN_QP_STATE = 1
VBN_QP_CUR_STATE = 2
VBN_QP_EN_SQD_ASYNC_NOTIFY = 4
VBN_QP_ACCESS_FLAGS = 8
VBN_QP_PKEY_INDEX = 16
VBN_QP_PORT = 32
VBN_QP_QKEY = 64
VBN_QP_AV = 128
VBN_QP_PATH_MTU = 256
VBN_QP_TIMEOUT = 512
VBN_QP_RETRY_CNT = 1024
VBN_QP_RNR_RETRY = 2048
VBN_QP_RQ_PSN = 4096
VBN_QP_MAX_QP_RD_ATOMIC = 8192
VBN_QP_ALT_PATH = 16384
VBN_QP_MIN_RNR_TIMER = 32768
VBN_QP_SQ_PSN = 65536
VBN_QP_MAX_DEST_RD_ATOMIC = 131072
VBN_QP_PATH_MIG_STATE = 262144
VBN_QP_CAP = 524288
VBN_QP_DEST_QPN = 1048576
VBN_QP_RATE_LIMIT = 33554432
VBN_QPT_RC = 2
VBN_QPT_UC = 3
VBN_QPT_UD = 4
VBN_QPT_RAW_PACKET = 8
VBN_QPT_XRC_SEND = 9
VBN_QPT_XRC_RECV = 10
VBN_QPT_DRIVER = 255
VBN_QPT_SRD = 255
VBN_QP_OP_RDMA_WRITE = 1
VBN_QP_OP_RDMA_WRITE_WITH_IMM = 2
VBN_QP_OP_SEND = 4
VBN_QP_OP_SEND_WITH_IMM = 8
VBN_QP_OP_RDMA_READ = 16
VBN_QP_INIT_SET_MAX_SEND_WR = 1
VBN_QP_INIT_SET_MAX_RECV_WR = 2
VBN_QP_INIT_SET_MAX_RECV_SGE = 4
VBN_QP_UNSOLICITED_WRITE_RECV = 1
VBN_QP_INLINE_WRITE = 2
VBN_QP_PROCESSING_HINTS = 4
VBN_POST_PATH_AUTO = 0
VBN_POST_PATH_POST_SEND = 1
VBN_POST_PATH_WR = 2
VBN_IN_ORDER_DEVICE_ONLY = 2
VBN_IN_ORDER_WHOLE_MSG = 1
VBN_IN_ORDER_ALIGNED_128_BYTES = 2
VBN_QP_OP_ATOMIC_CMP_AND_SWP = 32
VBN_QP_OP_ATOMIC_FETCH_AND_ADD = 64
VBN_QP_OP_LOCAL_INV = 128
VBN_QP_OP_BIND_MW = 256
VBN_QP_OP_SEND_WITH_INV = 512
VBN_QP_OP_FLUSH = 16384
VBN_QP_OP_ATOMIC_WRITE = 32768
VBN_QP_PREPARE_SET_QKEY = 1
VBN_QP_PREPARE_SET_RNR_RETRY = 2
VBN_RC_RECORD_SIZE = 28
VBN_RC_SET_PKEY_INDEX = 1
VBN_RC_SET_ACCESS = 2
VBN_RC_SET_PATH_MTU = 4
VBN_RC_SET_SGID_INDEX = 8
VBN_RC_SET_HOP_LIMIT = 16
VBN_RC_SET_IS_GLOBAL = 32
VBN_RC_SET_MIN_RNR_TIMER = 64
VBN_RC_SET_MAX_DEST_RD_ATOMIC = 128
VBN_RC_SET_TIMEOUT = 256
VBN_RC_SET_RETRY_CNT = 512
VBN_RC_SET_RNR_RETRY = 1024
VBN_RC_SET_MAX_RD_ATOMIC = 2048
VBN_RC_SET_PSN = 4096
VBN_REGION_MAX_NICS = 8
VBN_REGION_MAX_ENTRIES = 30
VBN_REGION_SET_ACCESS = 1
VBN_SRQT_BASIC = 0
VBN_SRQT_XRC = 1
VBN_SRQT_TM = 2
VBN_SRQ_SET_MAX_WR = 1
VBN_SRQ_SET_LIMIT = 2
VBN_DISTANCE_SWITCH = 10
VBN_DISTANCE_SWITCHES = 20
VBN_DISTANCE_HOST_BRIDGE = 30
VBN_DISTANCE_NUMA_NODE = 40
VBN_DISTANCE_PACKAGE = 50
VBN_DISTANCE_SYSTEM = 70
VBN_DISTANCE_UNKNOWN = 200
VBN_SYSFS_PATH_SIZE = 200
VBN_WC_SUCCESS = 0
VBN_WC_LOC_LEN_ERR = 1
VBN_WC_LOC_QP_OP_ERR = 2
VBN_WC_LOC_EEC_OP_ERR = 3
VBN_WC_LOC_PROT_ERR = 4
VBN_WC_WR_FLUSH_ERR = 5
VBN_WC_MW_BIND_ERR = 6
VBN_WC_BAD_RESP_ERR = 7
VBN_WC_LOC_ACCESS_ERR = 8
VBN_WC_REM_INV_REQ_ERR = 9
VBN_WC_REM_ACCESS_ERR = 10
VBN_WC_REM_OP_ERR = 11
VBN_WC_RETRY_EXC_ERR = 12
VBN_WC_RNR_RETRY_EXC_ERR = 13
VBN_WC_LOC_RDD_VIOL_ERR = 14
VBN_WC_REM_INV_RD_REQ_ERR = 15
VBN_WC_REM_ABORT_ERR = 16
VBN_WC_INV_EECN_ERR = 17
VBN_WC_INV_EEC_STATE_ERR = 18
VBN_WC_FATAL_ERR = 19
VBN_WC_RESP_TIMEOUT_ERR = 20
VBN_WC_GENERAL_ERR = 21
VBN_WC_TM_ERR = 22
VBN_WC_TM_RNDV_INCOMPLETE = 23
VBN_WC_SEND = 0
VBN_WC_RDMA_WRITE = 1
VBN_WC_RDMA_READ = 2
VBN_WC_COMP_SWAP = 3
VBN_WC_FETCH_ADD = 4
VBN_WC_BIND_MW = 5
VBN_WC_LOCAL_INV = 6
VBN_WC_TSO = 7
VBN_WC_FLUSH = 8
VBN_WC_ATOMIC_WRITE = 9
VBN_WC_RECV = 128
VBN_WC_RECV_RDMA_WITH_IMM = 129
VBN_WC_GRH = 1
VBN_WC_WITH_IMM = 2
VBN_WC_IP_CSUM_OK = 4
VBN_WC_WITH_INV = 8
VBN_WC_EX_BYTE_LEN = 1
VBN_WC_EX_IMM = 2
VBN_WC_EX_QP_NUM = 4
VBN_WC_EX_SRC_QP = 8
VBN_WC_EX_SLID = 16
VBN_WC_EX_SL = 32
VBN_WC_EX_DLID_PATH_BITS = 64
VBN_WC_EX_STANDARD = 127
VBN_WC_EX_TIMESTAMP = 128
VBN_WC_EX_CVLAN = 256
VBN_WC_EX_FLOW_TAG = 512
VBN_WC_EX_WALLCLOCK = 2048
VBN_WC_EX_SGID = 4294967296
VBN_WC_EX_UNSOLICITED = 8589934592
VBN_OK = 0
VBN_ERR_ARGUMENT = -1001
VBN_ERR_CLOSED = -1002
VBN_ERR_BUSY = -1003
VBN_ERR_QUEUE_FULL = -1004
VBN_ERR_TIMEOUT = -1005
VBN_ERR_NO_MEMORY = -1006
VBN_ERR_NOT_SUPPORTED = -1007
VBN_ERR_LIBRARY_MISSING = -1008
VBN_ERR_SYMBOL_MISSING = -1009
VBN_ERR_DEVICE_GONE = -1010
VBN_ERR_FORKED = -1011
VBN_ERR_TOO_NEW = -1012
VBN_ERR_COMPLETION = -1013
VBN_ERR_UNCERTAIN = -1014
VBN_ERR_DRIVER = -1015
VBN_ERR_INTERNAL = -1016
VBN_ERR_NOT_FOUND = -1017
VBN_ERR_LIMIT = -1018

vbn_status = c_int32


class vbn_ah(Structure):
    pass


class vbn_channel(Structure):
    pass


class vbn_cm_channel(Structure):
    pass


class vbn_cm_id(Structure):
    pass


class vbn_context(Structure):
    pass


class vbn_counters(Structure):
    pass


class vbn_cq(Structure):
    pass


class vbn_dm(Structure):
    pass


class vbn_flow(Structure):
    pass


class vbn_mr(Structure):
    pass


class vbn_mr_set(Structure):
    pass


class vbn_mw(Structure):
    pass


class vbn_pd(Structure):
    pass


class vbn_peer(Structure):
    pass


class vbn_qp(Structure):
    pass


class vbn_srq(Structure):
    pass


class vbn_td(Structure):
    pass


vbn_destroy_fn = CFUNCTYPE(c_int, c_void_p, c_void_p)
vbn_lookup_fn = CFUNCTYPE(c_void_p, c_char_p, c_char_p, c_void_p)


class vbn_path(Structure):
    _fields_ = [
        ("dgid", c_uint8 * 16),
        ("flow_label", c_uint32),
        ("dlid", c_uint16),
        ("sgid_index", c_uint8),
        ("hop_limit", c_uint8),
        ("traffic_class", c_uint8),
        ("is_global", c_uint8),
        ("sl", c_uint8),
        ("src_path_bits", c_uint8),
        ("static_rate", c_uint8),
        ("port_num", c_uint8),
        ("reserved0", c_uint8 * 2),
    ]


class vbn_wc(Structure):
    _fields_ = [
        ("wr_id", c_uint64),
        ("status", c_int32),
        ("opcode", c_int32),
        ("vendor_err", c_uint32),
        ("byte_len", c_uint32),
        ("imm", c_uint32),
        ("qp_num", c_uint32),
        ("src_qp", c_uint32),
        ("wc_flags", c_uint32),
        ("pkey_index", c_uint16),
        ("slid", c_uint16),
        ("sl", c_uint8),
        ("dlid_path_bits", c_uint8),
        ("reserved0", c_uint16),
    ]


class vbn_adopt_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("ownership", c_int32),
        ("reserved0", c_uint32),
        ("destroy", vbn_destroy_fn),
        ("destroy_arg", c_void_p),
        ("user_data", c_uint64),
        ("iova", c_uint64),
    ]


class vbn_caps(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("caps", c_uint64),
        ("asked", c_uint64),
        ("max_send_size", c_uint64),
        ("max_datagram_size", c_uint64),
        ("max_rdma_size", c_uint64),
        ("max_mr_size", c_uint64),
        ("name", c_char * 64),
        ("transport_type", c_int32),
        ("link_layer", c_int32),
        ("release_min", c_uint32),
        ("release_below", c_uint32),
        ("max_inline", c_uint32),
        ("max_inline_ex", c_uint32),
        ("max_send_sge", c_uint32),
        ("max_recv_sge", c_uint32),
        ("max_write_sge", c_uint32),
        ("max_read_sge", c_uint32),
        ("max_sq_depth", c_uint32),
        ("max_sq_depth_ex", c_uint32),
        ("max_rq_depth", c_uint32),
        ("max_recv_segment", c_uint32),
        ("max_cqe", c_uint32),
        ("max_cq", c_uint32),
        ("max_qp", c_uint32),
        ("max_mr", c_uint32),
        ("max_pd", c_uint32),
        ("max_ah", c_uint32),
        ("max_rd_atomic", c_uint32),
        ("max_dest_rd_atomic", c_uint32),
        ("num_comp_vectors", c_uint32),
        ("num_ports", c_uint32),
        ("detail", c_uint16 * 64),
        ("absence", c_uint8 * 64),
        ("efa", c_uint8),
        ("reserved0", c_uint8 * 7),
    ]


class vbn_device_match(Structure):
    _fields_ = [
        ("name", c_char * 64),
        ("caps", c_uint64),
        ("missing", c_uint64),
        ("unknown", c_uint64),
        ("index", c_uint32),
        ("transport_type", c_int32),
        ("open_status", c_int32),
        ("open_errno", c_int32),
        ("matches", c_uint8),
        ("efa", c_uint8),
        ("reserved0", c_uint8 * 6),
        ("reason", c_char * 512),
    ]


class vbn_channel_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
    ]


class vbn_channel_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("fd", c_int32),
        ("reserved0", c_uint32),
    ]


class vbn_cq_event(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("kind", c_int32),
        ("number", c_uint32),
        ("known", c_uint8),
        ("reserved0", c_uint8 * 7),
    ]


class vbn_cm_channel_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
    ]


class vbn_cm_channel_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("fd", c_int32),
        ("id_count", c_uint32),
    ]


class vbn_cm_id_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("user_data", c_uint64),
        ("port_space", c_int32),
        ("tos", c_uint8),
        ("reuse_addr", c_uint8),
        ("only_v6", c_uint8),
        ("ack_timeout", c_uint8),
    ]


class vbn_cm_addr(Structure):
    _fields_ = [
        ("length", c_uint32),
        ("reserved0", c_uint32),
        ("sockaddr", c_uint8 * 128),
    ]


class vbn_context_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
    ]


class vbn_pd_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
    ]


class vbn_qp_init_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("user_data", c_uint64),
        ("send_cq", POINTER(vbn_cq)),
        ("recv_cq", POINTER(vbn_cq)),
        ("qp_type", c_int32),
        ("max_send_wr", c_uint32),
        ("max_recv_wr", c_uint32),
        ("max_send_sge", c_uint32),
        ("max_recv_sge", c_uint32),
        ("max_inline_data", c_uint32),
        ("send_ops", c_uint64),
        ("sq_sig_all", c_uint8),
        ("sl", c_uint8),
        ("reserved0", c_uint8 * 2),
        ("post_path", c_int32),
        ("flags", c_uint64),
        ("srq", POINTER(vbn_srq)),
    ]


class vbn_cm_conn_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("private_data", c_void_p),
        ("private_data_len", c_uint64),
        ("responder_resources", c_uint8),
        ("initiator_depth", c_uint8),
        ("retry_count", c_uint8),
        ("rnr_retry_count", c_uint8),
        ("reserved0", c_uint8 * 4),
    ]


class vbn_context_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("name", c_char * 64),
        ("uverbs_name", c_char * 64),
        ("node_type", c_int32),
        ("transport_type", c_int32),
        ("ownership", c_int32),
        ("num_comp_vectors", c_uint32),
        ("async_fd", c_int32),
        ("fork_state", c_int32),
        ("num_ports", c_uint32),
        ("uverbs_abi_version", c_int32),
        ("extended", c_uint8),
        ("reserved0", c_uint8 * 3),
        ("driver", c_int32),
        ("driver_name", c_char * 32),
    ]


class vbn_device_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("fw_ver", c_char * 64),
        ("node_guid", c_uint64),
        ("sys_image_guid", c_uint64),
        ("max_mr_size", c_uint64),
        ("page_size_cap", c_uint64),
        ("vendor_id", c_uint32),
        ("vendor_part_id", c_uint32),
        ("hw_ver", c_uint32),
        ("device_cap_flags", c_uint32),
        ("max_qp", c_int32),
        ("max_qp_wr", c_int32),
        ("max_sge", c_int32),
        ("max_sge_rd", c_int32),
        ("max_cq", c_int32),
        ("max_cqe", c_int32),
        ("max_mr", c_int32),
        ("max_pd", c_int32),
        ("max_qp_rd_atom", c_int32),
        ("max_ee_rd_atom", c_int32),
        ("max_res_rd_atom", c_int32),
        ("max_qp_init_rd_atom", c_int32),
        ("max_ee_init_rd_atom", c_int32),
        ("atomic_cap", c_int32),
        ("max_ee", c_int32),
        ("max_rdd", c_int32),
        ("max_mw", c_int32),
        ("max_raw_ipv6_qp", c_int32),
        ("max_raw_ethy_qp", c_int32),
        ("max_mcast_grp", c_int32),
        ("max_mcast_qp_attach", c_int32),
        ("max_total_mcast_qp_attach", c_int32),
        ("max_ah", c_int32),
        ("max_fmr", c_int32),
        ("max_map_per_fmr", c_int32),
        ("max_srq", c_int32),
        ("max_srq_wr", c_int32),
        ("max_srq_sge", c_int32),
        ("max_pkeys", c_uint16),
        ("local_ca_ack_delay", c_uint8),
        ("phys_port_cnt", c_uint8),
        ("has_extended", c_uint8),
        ("rss_rx_hash_function", c_uint8),
        ("reserved0", c_uint8 * 10),
        ("odp_general_caps", c_uint64),
        ("odp_rc_caps", c_uint32),
        ("odp_uc_caps", c_uint32),
        ("odp_ud_caps", c_uint32),
        ("odp_xrc_caps", c_uint32),
        ("completion_timestamp_mask", c_uint64),
        ("hca_core_clock", c_uint64),
        ("device_cap_flags_ex", c_uint64),
        ("tso_max", c_uint32),
        ("tso_supported_qpts", c_uint32),
        ("rss_rx_hash_fields_mask", c_uint64),
        ("rss_supported_qpts", c_uint32),
        ("rss_max_rwq_indirection_tables", c_uint32),
        ("rss_max_rwq_indirection_table_size", c_uint32),
        ("max_wq_type_rq", c_uint32),
        ("rate_limit_min", c_uint32),
        ("rate_limit_max", c_uint32),
        ("rate_limit_supported_qpts", c_uint32),
        ("raw_packet_caps", c_uint32),
        ("tm_max_rndv_hdr_size", c_uint32),
        ("tm_max_num_tags", c_uint32),
        ("tm_flags", c_uint32),
        ("tm_max_ops", c_uint32),
        ("tm_max_sge", c_uint32),
        ("cq_moderation_max_count", c_uint16),
        ("cq_moderation_max_period", c_uint16),
        ("max_dm_size", c_uint64),
        ("pci_atomic_fetch_add", c_uint16),
        ("pci_atomic_swap", c_uint16),
        ("pci_atomic_compare_swap", c_uint16),
        ("reserved1", c_uint16),
        ("phys_port_cnt_ex", c_uint32),
        ("reserved2", c_uint32),
    ]


class vbn_rt_values(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("valid", c_uint64),
        ("raw_clock_sec", c_int64),
        ("raw_clock_nsec", c_int64),
    ]


class vbn_port_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("valid", c_uint64),
        ("state", c_int32),
        ("max_mtu", c_int32),
        ("active_mtu", c_int32),
        ("link_layer", c_int32),
        ("gid_tbl_len", c_int32),
        ("port_cap_flags", c_uint32),
        ("max_msg_sz", c_uint32),
        ("bad_pkey_cntr", c_uint32),
        ("qkey_viol_cntr", c_uint32),
        ("active_speed_ex", c_uint32),
        ("speed_100mbps", c_uint64),
        ("pkey_tbl_len", c_uint16),
        ("lid", c_uint16),
        ("sm_lid", c_uint16),
        ("port_cap_flags2", c_uint16),
        ("lmc", c_uint8),
        ("max_vl_num", c_uint8),
        ("sm_sl", c_uint8),
        ("subnet_timeout", c_uint8),
        ("init_type_reply", c_uint8),
        ("active_width", c_uint8),
        ("active_speed", c_uint8),
        ("phys_state", c_uint8),
        ("flags", c_uint8),
        ("reserved0", c_uint8 * 7),
    ]


class vbn_gid_entry(Structure):
    _fields_ = [
        ("gid", c_uint8 * 16),
        ("index", c_uint32),
        ("port_num", c_uint32),
        ("type", c_int32),
        ("family", c_int32),
        ("ifindex", c_uint32),
        ("reserved0", c_uint32),
        ("ndev", c_char * 16),
    ]


class vbn_async_event(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("type", c_int32),
        ("kind", c_int32),
        ("user_data", c_uint64),
        ("number", c_uint32),
        ("known", c_uint8),
        ("reserved0", c_uint8 * 3),
    ]


class vbn_live_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("pd_open", c_uint32),
        ("pd_closed", c_uint32),
        ("pd_refused", c_uint32),
        ("mr_open", c_uint32),
        ("channel_open", c_uint32),
        ("channel_closed", c_uint32),
        ("channel_refused", c_uint32),
        ("cq_open", c_uint32),
        ("cq_closed", c_uint32),
        ("cq_refused", c_uint32),
        ("qp_open", c_uint32),
        ("peer_open", c_uint32),
        ("ah_open", c_uint32),
        ("ah_closed", c_uint32),
        ("ah_refused", c_uint32),
        ("ah_cached", c_uint32),
        ("ah_idle", c_uint32),
        ("srq_open", c_uint32),
        ("srq_closed", c_uint32),
        ("srq_refused", c_uint32),
        ("mw_open", c_uint32),
        ("td_open", c_uint32),
        ("td_closed", c_uint32),
        ("td_refused", c_uint32),
        ("dm_open", c_uint32),
        ("dm_closed", c_uint32),
        ("dm_refused", c_uint32),
        ("flow_open", c_uint32),
        ("counters_open", c_uint32),
        ("counters_closed", c_uint32),
        ("counters_refused", c_uint32),
        ("reserved0", c_uint32),
    ]


class vbn_gid_select_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("index", c_uint32),
        ("type", c_int32),
        ("family", c_int32),
        ("reserved0", c_uint32),
        ("ndev", c_char * 16),
    ]


class vbn_gid_choice(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("gid", c_uint8 * 16),
        ("index", c_uint32),
        ("port_num", c_uint32),
        ("type", c_int32),
        ("family", c_int32),
        ("ifindex", c_uint32),
        ("last_resort", c_uint8),
        ("reserved0", c_uint8 * 3),
        ("ndev", c_char * 16),
        ("text", c_char * 96),
    ]


class vbn_gid_verdict(Structure):
    _fields_ = [
        ("gid", c_uint8 * 16),
        ("index", c_uint32),
        ("port_num", c_uint32),
        ("type", c_int32),
        ("family", c_int32),
        ("ifindex", c_uint32),
        ("code", c_int32),
        ("ndev", c_char * 16),
        ("text", c_char * 96),
    ]


class vbn_counters_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("reserved0", c_uint64),
    ]


class vbn_cq_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("channel", POINTER(vbn_channel)),
        ("cqe", c_uint32),
        ("comp_vector", c_uint32),
        ("fields", c_uint64),
    ]


class vbn_cq_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("cqe", c_uint32),
        ("handle", c_uint32),
        ("has_channel", c_uint8),
        ("wait_mode", c_uint8),
        ("reserved0", c_uint8 * 6),
        ("fields", c_uint64),
        ("skipped", c_uint64),
    ]


class vbn_cq_modify_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("moderation_count", c_uint32),
        ("moderation_period_us", c_uint32),
    ]


class vbn_device_info(Structure):
    _fields_ = [
        ("name", c_char * 64),
        ("uverbs_name", c_char * 64),
        ("sysfs_path", c_char * 256),
        ("guid", c_uint64),
        ("node_type", c_int32),
        ("transport_type", c_int32),
        ("index", c_uint32),
        ("open_status", c_int32),
        ("open_errno", c_int32),
        ("reserved0", c_uint32),
    ]


class vbn_device_list_reason_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("reason", c_int32),
        ("sys_errno", c_int32),
        ("count", c_uint32),
        ("reserved0", c_uint32),
        ("message", c_char * 512),
    ]


class vbn_dm_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("length", c_uint64),
        ("user_data", c_uint64),
        ("log_align", c_uint32),
        ("reserved0", c_uint32),
    ]


class vbn_dm_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("length", c_uint64),
        ("handle", c_uint32),
        ("reserved0", c_uint32),
    ]


class vbn_efa_device_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("caps", c_uint64),
        ("max_rdma_size", c_uint64),
        ("max_sq_wr", c_uint32),
        ("max_rq_wr", c_uint32),
        ("max_sq_sge", c_uint32),
        ("max_rq_sge", c_uint32),
        ("inline_buf_size", c_uint32),
        ("inline_buf_size_ex", c_uint32),
    ]


class vbn_efa_sq_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("flags", c_uint64),
        ("max_send_sge", c_uint32),
        ("max_rdma_sge", c_uint32),
        ("max_inline_data", c_uint32),
        ("reserved0", c_uint32),
    ]


class vbn_efa_rq_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("max_recv_sge", c_uint32),
        ("reserved0", c_uint32),
    ]


class vbn_efa_cq_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("buffer", c_void_p),
        ("doorbell", POINTER(c_uint32)),
        ("entry_size", c_uint32),
        ("num_entries", c_uint32),
    ]


class vbn_efa_wq_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("buffer", c_void_p),
        ("doorbell", POINTER(c_uint32)),
        ("entry_size", c_uint32),
        ("num_entries", c_uint32),
        ("max_batch", c_uint32),
        ("caps", c_uint32),
    ]


class vbn_efa_mr_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("valid", c_uint32),
        ("recv_ic_id", c_uint32),
        ("rdma_read_ic_id", c_uint32),
        ("rdma_recv_ic_id", c_uint32),
    ]


class vbn_endpoint(Structure):
    _fields_ = [
        ("gid", c_uint8 * 16),
        ("qp_num", c_uint32),
        ("qkey", c_uint32),
    ]


class vbn_endpoint_info_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("psn", c_uint32),
        ("sgid_index", c_uint32),
        ("port_num", c_uint8),
        ("max_rd_atomic", c_uint8),
        ("max_dest_rd_atomic", c_uint8),
        ("unsolicited", c_uint8),
        ("reserved0", c_uint8 * 4),
    ]


class vbn_endpoint_gid(Structure):
    _fields_ = [
        ("gid", c_uint8 * 16),
        ("type", c_int32),
        ("family", c_int32),
    ]


class vbn_error_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("status", c_int32),
        ("sys_errno", c_int32),
        ("op", c_int32),
        ("vendor_domain", c_int32),
        ("vendor_code", c_int64),
        ("index", c_uint64),
        ("value", c_uint64),
        ("limit", c_uint64),
        ("op_name", c_char * 48),
        ("object", c_char * 64),
        ("reserved", c_uint64 * 4),
        ("message", c_char * 1024),
    ]


class vbn_explain_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("driver_name", c_char_p),
        ("driver", c_int32),
        ("status", c_int32),
        ("vendor_err", c_uint32),
        ("opcode", c_uint32),
        ("qp_num", c_uint32),
        ("peer_qp_num", c_uint32),
        ("peer_gid", c_uint8 * 16),
        ("context", POINTER(vbn_context)),
    ]


class vbn_flow_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("type", c_int32),
        ("flags", c_uint32),
        ("priority", c_uint16),
        ("port_num", c_uint8),
        ("reserved0", c_uint8 * 5),
    ]


class vbn_flow_fields(Structure):
    _fields_ = [
        ("dst_mac", c_uint8 * 6),
        ("src_mac", c_uint8 * 6),
        ("ether_type", c_uint16),
        ("vlan_tag", c_uint16),
        ("src_ip", c_uint8 * 16),
        ("dst_ip", c_uint8 * 16),
        ("flow_label", c_uint32),
        ("src_port", c_uint16),
        ("dst_port", c_uint16),
        ("tunnel_id", c_uint32),
        ("esp_spi", c_uint32),
        ("esp_seq", c_uint32),
        ("mpls_label", c_uint32),
        ("gre_key", c_uint32),
        ("gre_flags", c_uint16),
        ("gre_protocol", c_uint16),
        ("protocol", c_uint8),
        ("tos", c_uint8),
        ("ttl", c_uint8),
        ("ip_flags", c_uint8),
    ]


class vbn_gpu_pointer_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("base", c_uint64),
        ("size", c_uint64),
        ("range_base", c_uint64),
        ("range_size", c_uint64),
        ("buffer_id", c_uint64),
        ("context", c_void_p),
        ("kind", c_int32),
        ("memory", c_int32),
        ("device", c_int32),
        ("allocation", c_int32),
        ("rdma_capable", c_int32),
        ("mapped", c_int32),
    ]


class vbn_gpu_device_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("bar_size", c_uint64),
        ("kind", c_int32),
        ("device", c_int32),
        ("dmabuf", c_int32),
        ("gpudirect_rdma", c_int32),
        ("gpudirect_rdma_vmm", c_int32),
        ("writes_ordering", c_int32),
        ("flush_options", c_int32),
        ("numa_node", c_int32),
        ("driver_version", c_int32),
        ("reserved0", c_uint32),
        ("pci_address", c_char * 32),
        ("name", c_char * 128),
    ]


class vbn_gpu_dmabuf_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("flags", c_uint64),
    ]


class vbn_gpu_dmabuf(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("fd", c_int32),
        ("kind", c_int32),
        ("offset", c_uint64),
        ("base", c_uint64),
        ("length", c_uint64),
    ]


class vbn_gpu_mr_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("flags", c_uint64),
        ("owner", c_void_p),
        ("user_data", c_uint64),
        ("paths", c_uint32),
        ("kind", c_int32),
    ]


class vbn_gpu_attempt(Structure):
    _fields_ = [
        ("path", c_uint32),
        ("outcome", c_int32),
        ("status", c_int32),
        ("sys_errno", c_int32),
        ("vendor_domain", c_int32),
        ("segment", c_uint32),
        ("vendor_code", c_int64),
        ("reason", c_char * 320),
    ]


class vbn_dltensor(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("dtype_code", c_uint8),
        ("dtype_bits", c_uint8),
        ("dtype_lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class vbn_library_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("library", c_int32),
        ("reserved0", c_uint32),
        ("path", c_char_p),
        ("handle", c_void_p),
        ("lookup", vbn_lookup_fn),
        ("lookup_arg", c_void_p),
    ]


class vbn_library_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("library", c_int32),
        ("loaded", c_uint8),
        ("reserved0", c_uint8 * 3),
        ("source", c_int32),
        ("fork_state", c_int32),
        ("release_min", c_uint32),
        ("release_below", c_uint32),
        ("missing_count", c_uint32),
        ("copies", c_uint32),
        ("path", c_char * 512),
        ("error", c_char * 512),
        ("other_path", c_char * 512),
    ]


class vbn_symbol_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char * 64),
        ("version", c_char * 32),
        ("since", c_char * 16),
        ("needed_by", c_char * 128),
        ("required", c_uint8),
        ("reserved0", c_uint8 * 7),
    ]


class vbn_mr_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("iova", c_uint64),
        ("owner", c_void_p),
        ("user_data", c_uint64),
    ]


class vbn_mr_rereg_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("pd", POINTER(vbn_pd)),
        ("addr", c_void_p),
        ("length", c_uint64),
        ("owner", c_void_p),
        ("access", c_uint64),
    ]


class vbn_sge(Structure):
    _fields_ = [
        ("addr", c_uint64),
        ("length", c_uint32),
        ("lkey", c_uint32),
    ]


class vbn_mr_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("owner", c_void_p),
        ("memory", c_void_p),
        ("addr", c_uint64),
        ("remote_addr", c_uint64),
        ("length", c_uint64),
        ("access", c_uint64),
        ("lkey", c_uint32),
        ("rkey", c_uint32),
        ("handle", c_uint32),
        ("kind", c_int32),
        ("lost", c_uint8),
        ("reserved0", c_uint8 * 7),
    ]


class vbn_mr_set_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("place_set", c_uint64),
        ("owner", c_void_p),
        ("user_data", c_uint64),
        ("memory", c_int32),
        ("gpu", c_int32),
        ("numa_node", c_int32),
        ("pci_domain", c_uint32),
        ("pci_bus", c_uint8),
        ("pci_device", c_uint8),
        ("pci_function", c_uint8),
        ("take", c_uint8),
        ("reserved0", c_uint8 * 4),
    ]


class vbn_mr_set_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("place_set", c_uint64),
        ("owner", c_void_p),
        ("user_data", c_uint64),
        ("length", c_uint64),
        ("count", c_uint32),
        ("memory", c_int32),
        ("gpu", c_int32),
        ("numa_node", c_int32),
        ("pci_domain", c_uint32),
        ("pci_bus", c_uint8),
        ("pci_device", c_uint8),
        ("pci_function", c_uint8),
        ("takes", c_uint8),
        ("lost", c_uint8),
        ("reserved0", c_uint8 * 7),
    ]


class vbn_mr_entry(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("mr", POINTER(vbn_mr)),
        ("offset", c_uint64),
        ("addr", c_uint64),
        ("length", c_uint64),
        ("lkey", c_uint32),
        ("rkey", c_uint32),
    ]


class vbn_mw_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
    ]


class vbn_mw_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("rkey", c_uint32),
        ("handle", c_uint32),
        ("mw_type", c_int32),
        ("reserved0", c_uint32),
    ]


class vbn_mw_bind_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("wr_id", c_uint64),
        ("flags", c_uint64),
        ("mr", POINTER(vbn_mr)),
        ("addr", c_uint64),
        ("length", c_uint64),
        ("access", c_uint64),
    ]


class vbn_pd_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("handle", c_uint32),
        ("reserved0", c_uint32),
    ]


class vbn_peer_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("qp_num", c_uint32),
        ("qkey", c_uint32),
    ]


class vbn_qp_prepare_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("qkey", c_uint32),
        ("psn", c_uint32),
        ("pkey_index", c_uint16),
        ("port_num", c_uint8),
        ("rnr_retry", c_uint8),
        ("reserved0", c_uint32),
    ]


class vbn_ece(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("vendor_id", c_uint32),
        ("options", c_uint32),
        ("comp_mask", c_uint32),
        ("reserved0", c_uint32),
    ]


class vbn_qp_rate_limit_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("rate_limit", c_uint32),
        ("max_burst_sz", c_uint32),
        ("typical_pkt_sz", c_uint16),
        ("reserved0", c_uint16),
        ("reserved1", c_uint32),
    ]


class vbn_rc_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("access", c_uint32),
        ("psn", c_uint32),
        ("path_mtu", c_int32),
        ("flow_label", c_uint32),
        ("pkey_index", c_uint16),
        ("port_num", c_uint8),
        ("sgid_index", c_uint8),
        ("hop_limit", c_uint8),
        ("traffic_class", c_uint8),
        ("sl", c_uint8),
        ("src_path_bits", c_uint8),
        ("static_rate", c_uint8),
        ("is_global", c_uint8),
        ("min_rnr_timer", c_uint8),
        ("max_dest_rd_atomic", c_uint8),
        ("timeout", c_uint8),
        ("retry_cnt", c_uint8),
        ("rnr_retry", c_uint8),
        ("max_rd_atomic", c_uint8),
    ]


class vbn_rc_record(Structure):
    _fields_ = [
        ("qp_num", c_uint32),
        ("psn", c_uint32),
        ("lid", c_uint16),
        ("port_num", c_uint8),
        ("mtu", c_uint8),
        ("gid", c_uint8 * 16),
        ("reserved0", c_uint32),
    ]


class vbn_region_info_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("offset", c_uint64),
        ("length", c_uint64),
        ("port_num", c_uint8),
        ("reserved0", c_uint8 * 7),
    ]


class vbn_region_nic(Structure):
    _fields_ = [
        ("gid", c_uint8 * 16),
    ]


class vbn_region_entry(Structure):
    _fields_ = [
        ("addr", c_uint64),
        ("length", c_uint64),
        ("rkey", c_uint32),
        ("nic", c_uint32),
    ]


class vbn_srq_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("max_wr", c_uint32),
        ("max_sge", c_uint32),
        ("limit", c_uint32),
        ("srq_type", c_int32),
        ("xrcd", c_void_p),
        ("cq", POINTER(vbn_cq)),
        ("max_num_tags", c_uint32),
        ("max_ops", c_uint32),
    ]


class vbn_srq_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("max_wr", c_uint32),
        ("max_sge", c_uint32),
        ("limit", c_uint32),
        ("srq_type", c_int32),
        ("srq_num", c_uint32),
        ("handle", c_uint32),
    ]


class vbn_srq_modify_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("max_wr", c_uint32),
        ("limit", c_uint32),
    ]


class vbn_td_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("reserved0", c_uint64),
    ]


class vbn_distance_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("gpu", c_char_p),
        ("nic", c_char_p),
        ("context", POINTER(vbn_context)),
        ("sysfs", c_char_p),
        ("gpu_kind", c_int32),
        ("gpu_device", c_int32),
    ]


class vbn_distance_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("distance", c_int32),
        ("gpu_numa_node", c_int32),
        ("nic_numa_node", c_int32),
        ("numa_distance", c_uint32),
        ("gpu_bridges", c_uint32),
        ("nic_bridges", c_uint32),
        ("gpu", c_char * 32),
        ("nic", c_char * 32),
        ("common", c_char * 32),
        ("nic_name", c_char * 64),
        ("reason", c_char * 256),
    ]


class vbn_bind_mw_ext(Structure):
    _fields_ = [
        ("mw", POINTER(vbn_mw)),
        ("mr", POINTER(vbn_mr)),
        ("addr", c_uint64),
        ("length", c_uint64),
        ("access", c_uint64),
        ("rkey", c_uint32),
        ("reserved0", c_uint32),
    ]


class vbn_flush_ext(Structure):
    _fields_ = [
        ("length", c_uint64),
        ("type", c_uint32),
        ("level", c_uint32),
    ]


class vbn_ah_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("path", vbn_path),
    ]


class vbn_ah_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("path", vbn_path),
        ("handle", c_uint32),
        ("is_shared", c_uint8),
        ("reserved0", c_uint8 * 3),
    ]


class vbn_cm_event(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("type", c_int32),
        ("status", c_int32),
        ("user_data", c_uint64),
        ("known", c_uint8),
        ("responder_resources", c_uint8),
        ("initiator_depth", c_uint8),
        ("flow_control", c_uint8),
        ("retry_count", c_uint8),
        ("rnr_retry_count", c_uint8),
        ("srq", c_uint8),
        ("has_peer", c_uint8),
        ("qp_num", c_uint32),
        ("qkey", c_uint32),
        ("path", vbn_path),
        ("private_data_len", c_uint32),
        ("private_data", c_uint8 * 256),
        ("reserved0", c_uint32),
    ]


class vbn_cm_id_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("port_space", c_int32),
        ("qp_type", c_int32),
        ("qp_num", c_uint32),
        ("port_num", c_uint8),
        ("has_device", c_uint8),
        ("has_qp", c_uint8),
        ("reserved0", c_uint8),
        ("device", c_char * 64),
        ("local", vbn_cm_addr),
        ("peer", vbn_cm_addr),
        ("max_connect_data", c_uint32),
        ("max_accept_data", c_uint32),
        ("max_reject_data", c_uint32),
        ("reserved1", c_uint32),
    ]


class vbn_wc_ext(Structure):
    _fields_ = [
        ("wc", vbn_wc),
        ("fields", c_uint64),
        ("timestamp", c_uint64),
        ("wallclock_ns", c_uint64),
        ("sgid", c_uint8 * 16),
        ("flow_tag", c_uint32),
        ("cvlan", c_uint16),
        ("unsolicited", c_uint8),
        ("reserved0", c_uint8),
        ("reserved1", c_uint64 * 4),
    ]


class vbn_endpoint_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("incarnation", c_uint64),
        ("max_message", c_uint64),
        ("qp_type", c_int32),
        ("qp_num", c_uint32),
        ("psn", c_uint32),
        ("qkey", c_uint32),
        ("efa_generation", c_uint32),
        ("ece_vendor_id", c_uint32),
        ("ece_options", c_uint32),
        ("ece_comp_mask", c_uint32),
        ("lid", c_uint16),
        ("port_num", c_uint8),
        ("mtu", c_uint8),
        ("max_rd_atomic", c_uint8),
        ("max_dest_rd_atomic", c_uint8),
        ("unsolicited", c_uint8),
        ("num_gids", c_uint8),
        ("gids", vbn_endpoint_gid * 8),
    ]


class vbn_flow_spec(Structure):
    _fields_ = [
        ("type", c_int32),
        ("tag", c_uint32),
        ("counters", POINTER(vbn_counters)),
        ("value", vbn_flow_fields),
        ("mask", vbn_flow_fields),
        ("reserved", c_uint64 * 4),
    ]


class vbn_gpu_mr_report(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("buffer_id", c_uint64),
        ("path", c_uint32),
        ("count", c_uint32),
        ("kind", c_int32),
        ("device", c_int32),
        ("allocation", c_int32),
        ("segments", c_uint32),
        ("num_attempts", c_uint32),
        ("reserved0", c_uint32),
        ("attempts", vbn_gpu_attempt * 5),
    ]


class vbn_peer_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("ah", POINTER(vbn_ah)),
        ("qp_num", c_uint32),
        ("qkey", c_uint32),
        ("path", vbn_path),
    ]


class vbn_qp_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("send_ops", c_uint64),
        ("qp_num", c_uint32),
        ("qp_type", c_int32),
        ("qp_state", c_int32),
        ("path_mtu", c_int32),
        ("path_mig_state", c_int32),
        ("qkey", c_uint32),
        ("rq_psn", c_uint32),
        ("sq_psn", c_uint32),
        ("dest_qp_num", c_uint32),
        ("qp_access_flags", c_uint32),
        ("max_send_wr", c_uint32),
        ("max_recv_wr", c_uint32),
        ("max_send_sge", c_uint32),
        ("max_recv_sge", c_uint32),
        ("max_inline_data", c_uint32),
        ("max_message", c_uint32),
        ("rate_limit", c_uint32),
        ("pkey_index", c_uint16),
        ("alt_pkey_index", c_uint16),
        ("path", vbn_path),
        ("alt_path", vbn_path),
        ("sq_sig_all", c_uint8),
        ("sq_draining", c_uint8),
        ("max_rd_atomic", c_uint8),
        ("max_dest_rd_atomic", c_uint8),
        ("min_rnr_timer", c_uint8),
        ("port_num", c_uint8),
        ("timeout", c_uint8),
        ("retry_cnt", c_uint8),
        ("rnr_retry", c_uint8),
        ("alt_timeout", c_uint8),
        ("reserved0", c_uint8 * 2),
        ("max_rdma", c_uint32),
        ("flags", c_uint64),
        ("post_path", c_int32),
        ("has_srq", c_uint8),
        ("reserved1", c_uint8 * 3),
    ]


class vbn_qp_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("qp_state", c_int32),
        ("cur_qp_state", c_int32),
        ("path_mtu", c_int32),
        ("path_mig_state", c_int32),
        ("qkey", c_uint32),
        ("rq_psn", c_uint32),
        ("sq_psn", c_uint32),
        ("dest_qp_num", c_uint32),
        ("qp_access_flags", c_uint32),
        ("max_send_wr", c_uint32),
        ("max_recv_wr", c_uint32),
        ("max_send_sge", c_uint32),
        ("max_recv_sge", c_uint32),
        ("max_inline_data", c_uint32),
        ("rate_limit", c_uint32),
        ("pkey_index", c_uint16),
        ("alt_pkey_index", c_uint16),
        ("path", vbn_path),
        ("alt_path", vbn_path),
        ("en_sqd_async_notify", c_uint8),
        ("max_rd_atomic", c_uint8),
        ("max_dest_rd_atomic", c_uint8),
        ("min_rnr_timer", c_uint8),
        ("port_num", c_uint8),
        ("timeout", c_uint8),
        ("retry_cnt", c_uint8),
        ("rnr_retry", c_uint8),
        ("alt_timeout", c_uint8),
        ("reserved0", c_uint8 * 7),
    ]


class vbn_send_wr(Structure):
    _fields_ = [
        ("wr_id", c_uint64),
        ("flags", c_uint64),
        ("opcode", c_uint32),
        ("num_sge", c_uint32),
        ("sg_list", POINTER(vbn_sge)),
        ("sge", vbn_sge),
        ("remote_addr", c_uint64),
        ("rkey", c_uint32),
        ("imm", c_uint32),
        ("peer", POINTER(vbn_peer)),
        ("invalidate_rkey", c_uint32),
        ("remote_srqn", c_uint32),
        ("compare_add", c_uint64),
        ("swap", c_uint64),
        ("ext", c_void_p),
        ("reserved", c_uint64 * 3),
    ]


class vbn_recv_wr(Structure):
    _fields_ = [
        ("wr_id", c_uint64),
        ("flags", c_uint64),
        ("sg_list", POINTER(vbn_sge)),
        ("sge", vbn_sge),
        ("num_sge", c_uint32),
        ("reserved0", c_uint32),
        ("ext", c_void_p),
        ("reserved1", c_uint64),
    ]


class vbn_region_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("place_set", c_uint64),
        ("length", c_uint64),
        ("access", c_uint64),
        ("memory", c_int32),
        ("gpu", c_int32),
        ("numa_node", c_int32),
        ("pci_domain", c_uint32),
        ("pci_bus", c_uint8),
        ("pci_device", c_uint8),
        ("pci_function", c_uint8),
        ("num_nics", c_uint8),
        ("num_entries", c_uint8),
        ("reserved0", c_uint8 * 3),
        ("nics", vbn_region_nic * 8),
        ("entries", vbn_region_entry * 30),
    ]


class vbn_split_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("wr_id", c_uint64),
        ("flags", c_uint64),
        ("last_flags", c_uint64),
        ("mr", POINTER(vbn_mr)),
        ("local_addr", c_uint64),
        ("local_length", c_uint64),
        ("offset", c_uint64),
        ("length", c_uint64),
        ("remote_addr", c_uint64),
        ("remote_length", c_uint64),
        ("remote_offset", c_uint64),
        ("chunk", c_uint64),
        ("peer", POINTER(vbn_peer)),
        ("opcode", c_uint32),
        ("rkey", c_uint32),
        ("lkey", c_uint32),
        ("imm", c_uint32),
        ("mr_set", POINTER(vbn_mr_set)),
        ("region", POINTER(vbn_region_info)),
        ("nic", c_uint32),
        ("reserved0", c_uint32),
    ]


_FUNCTIONS = {
    "vbn_ah_create": (vbn_status, [POINTER(vbn_pd), POINTER(vbn_ah_attr), POINTER(POINTER(vbn_ah))]),
    "vbn_ah_from_wc": (vbn_status, [POINTER(vbn_pd), POINTER(vbn_wc), c_void_p, c_uint32, POINTER(POINTER(vbn_ah))]),
    "vbn_ah_close": (vbn_status, [POINTER(POINTER(vbn_ah))]),
    "vbn_ah_query": (vbn_status, [POINTER(vbn_ah), POINTER(vbn_ah_info)]),
    "vbn_ah_native": (vbn_status, [POINTER(vbn_ah), POINTER(c_void_p)]),
    "vbn_ah_release": (vbn_status, [POINTER(POINTER(vbn_ah)), POINTER(c_void_p)]),
    "vbn_ah_adopt": (vbn_status, [POINTER(vbn_pd), c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_ah))]),
    "vbn_pd_trim_ahs": (vbn_status, [POINTER(vbn_pd), c_uint32, POINTER(c_uint32)]),
    "vbn_context_caps": (vbn_status, [POINTER(vbn_context), POINTER(vbn_caps)]),
    "vbn_caps_reason": (vbn_status, [POINTER(vbn_caps), c_uint64, c_char_p, c_size_t, POINTER(c_size_t)]),
    "vbn_device_find": (vbn_status, [c_uint64, POINTER(vbn_device_match), c_size_t, c_uint32, POINTER(c_uint32)]),
    "vbn_channel_create": (vbn_status, [POINTER(vbn_context), POINTER(vbn_channel_attr), POINTER(POINTER(vbn_channel))]),
    "vbn_channel_close": (vbn_status, [POINTER(POINTER(vbn_channel))]),
    "vbn_channel_query": (vbn_status, [POINTER(vbn_channel), POINTER(vbn_channel_info)]),
    "vbn_channel_fd": (c_int32, [POINTER(vbn_channel)]),
    "vbn_channel_get_event": (vbn_status, [POINTER(vbn_channel), c_int64, POINTER(vbn_cq_event)]),
    "vbn_channel_native": (vbn_status, [POINTER(vbn_channel), POINTER(c_void_p)]),
    "vbn_channel_release": (vbn_status, [POINTER(POINTER(vbn_channel)), POINTER(c_void_p)]),
    "vbn_channel_adopt": (vbn_status, [POINTER(vbn_context), c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_channel))]),
    "vbn_cm_channel_create": (vbn_status, [POINTER(vbn_cm_channel_attr), POINTER(POINTER(vbn_cm_channel))]),
    "vbn_cm_channel_close": (vbn_status, [POINTER(POINTER(vbn_cm_channel))]),
    "vbn_cm_channel_query": (vbn_status, [POINTER(vbn_cm_channel), POINTER(vbn_cm_channel_info)]),
    "vbn_cm_channel_fd": (c_int32, [POINTER(vbn_cm_channel)]),
    "vbn_cm_channel_get_event": (vbn_status, [POINTER(vbn_cm_channel), c_int64, POINTER(vbn_cm_event), POINTER(POINTER(vbn_cm_id))]),
    "vbn_cm_channel_native": (vbn_status, [POINTER(vbn_cm_channel), POINTER(c_void_p)]),
    "vbn_cm_channel_release": (vbn_status, [POINTER(POINTER(vbn_cm_channel)), POINTER(c_void_p)]),
    "vbn_cm_channel_adopt": (vbn_status, [c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_cm_channel))]),
    "vbn_cm_id_create": (vbn_status, [POINTER(vbn_cm_channel), POINTER(vbn_cm_id_attr), POINTER(POINTER(vbn_cm_id))]),
    "vbn_cm_id_close": (vbn_status, [POINTER(POINTER(vbn_cm_id))]),
    "vbn_cm_id_query": (vbn_status, [POINTER(vbn_cm_id), POINTER(vbn_cm_id_info)]),
    "vbn_cm_id_set_user_data": (vbn_status, [POINTER(vbn_cm_id), c_uint64]),
    "vbn_cm_id_bind": (vbn_status, [POINTER(vbn_cm_id), POINTER(vbn_cm_addr)]),
    "vbn_cm_id_listen": (vbn_status, [POINTER(vbn_cm_id), c_uint32]),
    "vbn_cm_id_resolve_addr": (vbn_status, [POINTER(vbn_cm_id), POINTER(vbn_cm_addr), POINTER(vbn_cm_addr), c_int64]),
    "vbn_cm_id_resolve_route": (vbn_status, [POINTER(vbn_cm_id), c_int64]),
    "vbn_cm_id_resolve": (vbn_status, [POINTER(vbn_cm_id), POINTER(vbn_cm_addr), POINTER(vbn_cm_addr), c_int64]),
    "vbn_cm_id_context": (vbn_status, [POINTER(vbn_cm_id), POINTER(vbn_context_attr), POINTER(POINTER(vbn_context))]),
    "vbn_cm_id_pd": (vbn_status, [POINTER(vbn_cm_id), POINTER(vbn_context), POINTER(vbn_pd_attr), POINTER(POINTER(vbn_pd))]),
    "vbn_cm_id_create_qp": (vbn_status, [POINTER(vbn_cm_id), POINTER(vbn_pd), POINTER(vbn_qp_init_attr), POINTER(POINTER(vbn_qp))]),
    "vbn_cm_id_connect": (vbn_status, [POINTER(vbn_cm_id), POINTER(vbn_cm_conn_attr)]),
    "vbn_cm_id_accept": (vbn_status, [POINTER(vbn_cm_id), POINTER(vbn_cm_conn_attr)]),
    "vbn_cm_id_reject": (vbn_status, [POINTER(vbn_cm_id), c_void_p, c_uint64]),
    "vbn_cm_id_disconnect": (vbn_status, [POINTER(vbn_cm_id)]),
    "vbn_cm_id_native": (vbn_status, [POINTER(vbn_cm_id), POINTER(c_void_p)]),
    "vbn_cm_id_release": (vbn_status, [POINTER(POINTER(vbn_cm_id)), POINTER(c_void_p)]),
    "vbn_cm_id_adopt": (vbn_status, [POINTER(vbn_cm_channel), c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_cm_id))]),
    "vbn_cm_event_check": (vbn_status, [POINTER(vbn_cm_event)]),
    "vbn_cm_addr_parse": (vbn_status, [c_char_p, c_uint32, POINTER(vbn_cm_addr)]),
    "vbn_cm_addr_format": (vbn_status, [POINTER(vbn_cm_addr), c_char_p, c_size_t, POINTER(c_uint32)]),
    "vbn_context_open": (vbn_status, [c_char_p, POINTER(vbn_context_attr), POINTER(POINTER(vbn_context))]),
    "vbn_context_close": (vbn_status, [POINTER(POINTER(vbn_context))]),
    "vbn_context_query": (vbn_status, [POINTER(vbn_context), POINTER(vbn_context_info)]),
    "vbn_context_query_device": (vbn_status, [POINTER(vbn_context), POINTER(vbn_device_attr)]),
    "vbn_context_export": (vbn_status, [POINTER(vbn_context), POINTER(c_int32)]),
    "vbn_context_import": (vbn_status, [c_int32, POINTER(vbn_context_attr), POINTER(POINTER(vbn_context))]),
    "vbn_context_query_rt_values": (vbn_status, [POINTER(vbn_context), POINTER(vbn_rt_values)]),
    "vbn_context_query_port": (vbn_status, [POINTER(vbn_context), c_uint32, POINTER(vbn_port_attr)]),
    "vbn_context_query_gid": (vbn_status, [POINTER(vbn_context), c_uint32, c_uint32, POINTER(c_uint8)]),
    "vbn_context_gid_table": (vbn_status, [POINTER(vbn_context), POINTER(vbn_gid_entry), c_size_t, c_uint32, POINTER(c_uint32)]),
    "vbn_context_query_pkey": (vbn_status, [POINTER(vbn_context), c_uint32, c_uint32, POINTER(c_uint16)]),
    "vbn_context_get_async_event": (vbn_status, [POINTER(vbn_context), c_int64, POINTER(vbn_async_event)]),
    "vbn_context_live": (vbn_status, [POINTER(vbn_context), POINTER(vbn_live_info)]),
    "vbn_context_native": (vbn_status, [POINTER(vbn_context), POINTER(c_void_p)]),
    "vbn_context_release": (vbn_status, [POINTER(POINTER(vbn_context)), POINTER(c_void_p)]),
    "vbn_context_adopt": (vbn_status, [c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_context))]),
    "vbn_gid_select": (vbn_status, [POINTER(vbn_context), c_uint32, POINTER(vbn_gid_select_attr), POINTER(vbn_gid_choice), POINTER(vbn_gid_verdict), c_size_t, c_uint32, POINTER(c_uint32)]),
    "vbn_counters_create": (vbn_status, [POINTER(vbn_context), POINTER(vbn_counters_attr), POINTER(POINTER(vbn_counters))]),
    "vbn_counters_close": (vbn_status, [POINTER(POINTER(vbn_counters))]),
    "vbn_counters_attach": (vbn_status, [POINTER(vbn_counters), POINTER(vbn_flow), c_int32, c_uint32]),
    "vbn_counters_read": (vbn_status, [POINTER(vbn_counters), POINTER(c_uint64), c_size_t, c_uint32]),
    "vbn_counters_native": (vbn_status, [POINTER(vbn_counters), POINTER(c_void_p)]),
    "vbn_counters_release": (vbn_status, [POINTER(POINTER(vbn_counters)), POINTER(c_void_p)]),
    "vbn_counters_adopt": (vbn_status, [POINTER(vbn_context), c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_counters))]),
    "vbn_cq_create": (vbn_status, [POINTER(vbn_context), POINTER(vbn_cq_attr), POINTER(POINTER(vbn_cq))]),
    "vbn_cq_close": (vbn_status, [POINTER(POINTER(vbn_cq))]),
    "vbn_cq_query": (vbn_status, [POINTER(vbn_cq), POINTER(vbn_cq_info)]),
    "vbn_cq_modify": (vbn_status, [POINTER(vbn_cq), POINTER(vbn_cq_modify_attr)]),
    "vbn_cq_resize": (vbn_status, [POINTER(vbn_cq), c_uint32]),
    "vbn_cq_arm": (vbn_status, [POINTER(vbn_cq), c_uint8]),
    "vbn_cq_poll": (vbn_status, [POINTER(vbn_cq), c_uint32, POINTER(vbn_wc), POINTER(c_uint32)]),
    "vbn_cq_poll_ext": (vbn_status, [POINTER(vbn_cq), c_uint32, POINTER(vbn_wc_ext), c_size_t, POINTER(c_uint32)]),
    "vbn_cq_wait": (vbn_status, [POINTER(vbn_cq), c_uint32, POINTER(vbn_wc), c_int64, c_int64, POINTER(c_uint32)]),
    "vbn_wc_check": (vbn_status, [POINTER(vbn_wc)]),
    "vbn_cq_native": (vbn_status, [POINTER(vbn_cq), POINTER(c_void_p)]),
    "vbn_cq_release": (vbn_status, [POINTER(POINTER(vbn_cq)), POINTER(c_void_p)]),
    "vbn_cq_adopt": (vbn_status, [POINTER(vbn_context), c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_cq))]),
    "vbn_device_list": (vbn_status, [POINTER(vbn_device_info), c_size_t, c_uint32, POINTER(c_uint32)]),
    "vbn_device_list_reason": (vbn_status, [POINTER(vbn_device_list_reason_info)]),
    "vbn_dm_alloc": (vbn_status, [POINTER(vbn_context), POINTER(vbn_dm_attr), POINTER(POINTER(vbn_dm))]),
    "vbn_dm_close": (vbn_status, [POINTER(POINTER(vbn_dm))]),
    "vbn_dm_query": (vbn_status, [POINTER(vbn_dm), POINTER(vbn_dm_info)]),
    "vbn_dm_copy_to": (vbn_status, [POINTER(vbn_dm), c_uint64, c_void_p, c_size_t]),
    "vbn_dm_copy_from": (vbn_status, [POINTER(vbn_dm), c_uint64, c_void_p, c_size_t]),
    "vbn_dm_native": (vbn_status, [POINTER(vbn_dm), POINTER(c_void_p)]),
    "vbn_dm_release": (vbn_status, [POINTER(POINTER(vbn_dm)), POINTER(c_void_p)]),
    "vbn_dm_adopt": (vbn_status, [POINTER(vbn_context), c_void_p, c_uint64, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_dm))]),
    "vbn_dm_import": (vbn_status, [POINTER(vbn_context), c_uint32, POINTER(vbn_dm_attr), POINTER(POINTER(vbn_dm))]),
    "vbn_efa_query_device": (vbn_status, [POINTER(vbn_context), POINTER(vbn_efa_device_info)]),
    "vbn_efa_max_sq_depth": (vbn_status, [POINTER(vbn_context), POINTER(vbn_efa_sq_attr), POINTER(c_uint32)]),
    "vbn_efa_max_rq_depth": (vbn_status, [POINTER(vbn_context), POINTER(vbn_efa_rq_attr), POINTER(c_uint32)]),
    "vbn_efa_query_ah": (vbn_status, [POINTER(vbn_ah), POINTER(c_uint16)]),
    "vbn_efa_query_cq": (vbn_status, [POINTER(vbn_cq), POINTER(vbn_efa_cq_info)]),
    "vbn_efa_query_qp": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_efa_wq_info), POINTER(vbn_efa_wq_info)]),
    "vbn_efa_query_mr": (vbn_status, [POINTER(vbn_mr), POINTER(vbn_efa_mr_info)]),
    "vbn_endpoint_local": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_endpoint)]),
    "vbn_endpoint_encode": (vbn_status, [POINTER(vbn_endpoint), POINTER(c_uint8), c_size_t]),
    "vbn_endpoint_decode": (vbn_status, [POINTER(c_uint8), c_size_t, POINTER(vbn_endpoint)]),
    "vbn_endpoint_info_local": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_endpoint_info_attr), POINTER(vbn_endpoint_info)]),
    "vbn_endpoint_info_encode": (vbn_status, [POINTER(vbn_endpoint_info), POINTER(c_uint8), c_size_t, POINTER(c_size_t)]),
    "vbn_endpoint_info_decode": (vbn_status, [POINTER(c_uint8), c_size_t, POINTER(vbn_endpoint_info)]),
    "vbn_last_error": (vbn_status, [POINTER(vbn_error_info)]),
    "vbn_status_name": (c_char_p, [vbn_status]),
    "vbn_status_text": (c_char_p, [vbn_status]),
    "vbn_explain": (vbn_status, [POINTER(vbn_explain_attr), c_char_p, c_size_t, POINTER(c_size_t)]),
    "vbn_explain_error": (vbn_status, [POINTER(vbn_error_info), POINTER(vbn_explain_attr), c_char_p, c_size_t, POINTER(c_size_t)]),
    "vbn_flow_create": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_flow_attr), POINTER(vbn_flow_spec), c_size_t, POINTER(POINTER(vbn_flow))]),
    "vbn_flow_close": (vbn_status, [POINTER(POINTER(vbn_flow))]),
    "vbn_flow_native": (vbn_status, [POINTER(vbn_flow), POINTER(c_void_p)]),
    "vbn_flow_release": (vbn_status, [POINTER(POINTER(vbn_flow)), POINTER(c_void_p)]),
    "vbn_flow_adopt": (vbn_status, [POINTER(vbn_qp), c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_flow))]),
    "vbn_gpu_pointer_query": (vbn_status, [c_int32, c_uint64, POINTER(vbn_gpu_pointer_info)]),
    "vbn_gpu_device_count": (vbn_status, [c_int32, POINTER(c_uint32)]),
    "vbn_gpu_device_query": (vbn_status, [c_int32, c_int32, POINTER(vbn_gpu_device_info)]),
    "vbn_gpu_dmabuf_export": (vbn_status, [c_int32, c_uint64, c_uint64, POINTER(vbn_gpu_dmabuf_attr), POINTER(vbn_gpu_dmabuf)]),
    "vbn_gpu_flush_writes": (vbn_status, [c_int32, c_int32, c_int32, POINTER(c_int32)]),
    "vbn_gpu_synchronize": (vbn_status, [c_int32, c_int32]),
    "vbn_gpu_mr_reg": (vbn_status, [POINTER(vbn_pd), c_uint64, c_uint64, c_uint64, POINTER(vbn_gpu_mr_attr), POINTER(POINTER(vbn_mr_set)), POINTER(vbn_gpu_mr_report)]),
    "vbn_gpu_mr_validate": (vbn_status, [POINTER(vbn_mr_set), POINTER(c_int32)]),
    "vbn_mr_reg_dltensor": (vbn_status, [POINTER(vbn_pd), POINTER(vbn_dltensor), c_uint64, POINTER(vbn_gpu_mr_attr), POINTER(POINTER(vbn_mr_set)), POINTER(vbn_gpu_mr_report)]),
    "vbn_version": (c_uint32, []),
    "vbn_version_string": (c_char_p, []),
    "vbn_library_init": (vbn_status, [POINTER(vbn_library_attr)]),
    "vbn_library_query": (vbn_status, [c_int32, POINTER(vbn_library_info)]),
    "vbn_library_missing": (vbn_status, [c_int32, c_uint32, POINTER(vbn_symbol_info)]),
    "vbn_fork_init": (vbn_status, []),
    "vbn_mr_reg": (vbn_status, [POINTER(vbn_pd), c_void_p, c_uint64, c_uint64, POINTER(vbn_mr_attr), POINTER(POINTER(vbn_mr))]),
    "vbn_mr_reg_dmabuf": (vbn_status, [POINTER(vbn_pd), c_int32, c_uint64, c_uint64, c_uint64, c_uint64, POINTER(vbn_mr_attr), POINTER(POINTER(vbn_mr))]),
    "vbn_mr_alloc_null": (vbn_status, [POINTER(vbn_pd), POINTER(vbn_mr_attr), POINTER(POINTER(vbn_mr))]),
    "vbn_mr_reg_dm": (vbn_status, [POINTER(vbn_pd), POINTER(vbn_dm), c_uint64, c_uint64, c_uint64, POINTER(vbn_mr_attr), POINTER(POINTER(vbn_mr))]),
    "vbn_mr_import": (vbn_status, [POINTER(vbn_pd), c_uint32, POINTER(vbn_mr_attr), POINTER(POINTER(vbn_mr))]),
    "vbn_mr_rereg": (vbn_status, [POINTER(vbn_mr), POINTER(vbn_mr_rereg_attr)]),
    "vbn_mr_advise": (vbn_status, [POINTER(vbn_pd), c_int32, c_uint32, POINTER(vbn_sge), c_uint32]),
    "vbn_mr_close": (vbn_status, [POINTER(POINTER(vbn_mr))]),
    "vbn_mr_query": (vbn_status, [POINTER(vbn_mr), POINTER(vbn_mr_info)]),
    "vbn_mr_lkey": (c_uint32, [POINTER(vbn_mr)]),
    "vbn_mr_rkey": (c_uint32, [POINTER(vbn_mr)]),
    "vbn_mr_remote_addr": (c_uint64, [POINTER(vbn_mr)]),
    "vbn_mr_segments": (vbn_status, [POINTER(vbn_mr), c_uint64, c_uint64, c_uint32, POINTER(vbn_sge), c_uint32, POINTER(c_uint32), POINTER(c_uint64)]),
    "vbn_mr_native": (vbn_status, [POINTER(vbn_mr), POINTER(c_void_p)]),
    "vbn_mr_release": (vbn_status, [POINTER(POINTER(vbn_mr)), POINTER(c_void_p)]),
    "vbn_mr_adopt": (vbn_status, [POINTER(vbn_pd), c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_mr))]),
    "vbn_mr_set_create": (vbn_status, [POINTER(POINTER(vbn_mr)), c_uint32, POINTER(vbn_mr_set_attr), POINTER(POINTER(vbn_mr_set))]),
    "vbn_mr_set_close": (vbn_status, [POINTER(POINTER(vbn_mr_set))]),
    "vbn_mr_set_query": (vbn_status, [POINTER(vbn_mr_set), POINTER(vbn_mr_set_info)]),
    "vbn_mr_set_entry": (vbn_status, [POINTER(vbn_mr_set), c_uint32, POINTER(vbn_mr_entry)]),
    "vbn_mr_set_segment": (vbn_status, [POINTER(vbn_mr_set), c_uint64, c_uint64, c_uint32, POINTER(vbn_sge), c_uint32, POINTER(c_uint32), POINTER(c_uint64)]),
    "vbn_mw_alloc": (vbn_status, [POINTER(vbn_pd), c_int32, POINTER(vbn_mw_attr), POINTER(POINTER(vbn_mw))]),
    "vbn_mw_close": (vbn_status, [POINTER(POINTER(vbn_mw))]),
    "vbn_mw_query": (vbn_status, [POINTER(vbn_mw), POINTER(vbn_mw_info)]),
    "vbn_mw_rkey": (c_uint32, [POINTER(vbn_mw)]),
    "vbn_mw_set_rkey": (vbn_status, [POINTER(vbn_mw), c_uint32]),
    "vbn_mw_bind": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_mw), POINTER(vbn_mw_bind_attr), POINTER(c_uint32)]),
    "vbn_mw_native": (vbn_status, [POINTER(vbn_mw), POINTER(c_void_p)]),
    "vbn_mw_release": (vbn_status, [POINTER(POINTER(vbn_mw)), POINTER(c_void_p)]),
    "vbn_mw_adopt": (vbn_status, [POINTER(vbn_pd), c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_mw))]),
    "vbn_qp_type_name": (c_char_p, [c_int32]),
    "vbn_qp_state_name": (c_char_p, [c_int32]),
    "vbn_mtu_name": (c_char_p, [c_int32]),
    "vbn_port_state_name": (c_char_p, [c_int32]),
    "vbn_link_layer_name": (c_char_p, [c_int32]),
    "vbn_node_type_name": (c_char_p, [c_int32]),
    "vbn_transport_name": (c_char_p, [c_int32]),
    "vbn_wc_status_name": (c_char_p, [c_int32]),
    "vbn_wc_opcode_name": (c_char_p, [c_int32]),
    "vbn_event_type_name": (c_char_p, [c_int32]),
    "vbn_gid_type_name": (c_char_p, [c_int32]),
    "vbn_wr_opcode_name": (c_char_p, [c_uint32]),
    "vbn_element_name": (c_char_p, [c_int32]),
    "vbn_device_list_reason_name": (c_char_p, [c_int32]),
    "vbn_gid_verdict_name": (c_char_p, [c_int32]),
    "vbn_gid_family_name": (c_char_p, [c_int32]),
    "vbn_mr_kind_name": (c_char_p, [c_int32]),
    "vbn_fork_state_name": (c_char_p, [c_int32]),
    "vbn_library_origin_name": (c_char_p, [c_int32]),
    "vbn_ownership_name": (c_char_p, [c_int32]),
    "vbn_vendor_domain_name": (c_char_p, [c_int32]),
    "vbn_gpu_kind_name": (c_char_p, [c_int32]),
    "vbn_gpu_memory_name": (c_char_p, [c_int32]),
    "vbn_gpu_allocation_name": (c_char_p, [c_int32]),
    "vbn_gpu_path_name": (c_char_p, [c_uint64]),
    "vbn_gpu_attempt_name": (c_char_p, [c_int32]),
    "vbn_gpu_mr_state_name": (c_char_p, [c_int32]),
    "vbn_memory_name": (c_char_p, [c_int32]),
    "vbn_absence_name": (c_char_p, [c_int32]),
    "vbn_cap_name": (c_char_p, [c_uint64]),
    "vbn_access_flag_name": (c_char_p, [c_uint64]),
    "vbn_send_flag_name": (c_char_p, [c_uint64]),
    "vbn_wc_flag_name": (c_char_p, [c_uint64]),
    "vbn_qp_attr_name": (c_char_p, [c_uint64]),
    "vbn_cm_event_name": (c_char_p, [c_int32]),
    "vbn_atomic_cap_name": (c_char_p, [c_int32]),
    "vbn_mig_state_name": (c_char_p, [c_int32]),
    "vbn_phys_state_name": (c_char_p, [c_int32]),
    "vbn_mw_type_name": (c_char_p, [c_int32]),
    "vbn_srq_type_name": (c_char_p, [c_int32]),
    "vbn_advice_name": (c_char_p, [c_int32]),
    "vbn_post_path_name": (c_char_p, [c_int32]),
    "vbn_driver_name": (c_char_p, [c_int32]),
    "vbn_mismatch_name": (c_char_p, [c_uint64]),
    "vbn_efa_cap_name": (c_char_p, [c_uint64]),
    "vbn_wc_field_name": (c_char_p, [c_uint64]),
    "vbn_distance_name": (c_char_p, [c_int32]),
    "vbn_port_width_name": (c_char_p, [c_int32]),
    "vbn_port_speed_name": (c_char_p, [c_uint32]),
    "vbn_device_cap_name": (c_char_p, [c_uint64]),
    "vbn_port_cap_name": (c_char_p, [c_uint64]),
    "vbn_port_cap2_name": (c_char_p, [c_uint64]),
    "vbn_flow_type_name": (c_char_p, [c_int32]),
    "vbn_flow_spec_name": (c_char_p, [c_int32]),
    "vbn_counter_name": (c_char_p, [c_int32]),
    "vbn_rate_name": (c_char_p, [c_int32]),
    "vbn_odp_cap_name": (c_char_p, [c_uint64]),
    "vbn_cm_ps_name": (c_char_p, [c_int32]),
    "vbn_library_name": (c_char_p, [c_int32]),
    "vbn_cq_wait_mode_name": (c_char_p, [c_int32]),
    "vbn_pd_alloc": (vbn_status, [POINTER(vbn_context), POINTER(vbn_pd_attr), POINTER(POINTER(vbn_pd))]),
    "vbn_pd_alloc_parent": (vbn_status, [POINTER(vbn_pd), POINTER(vbn_td), POINTER(vbn_pd_attr), POINTER(POINTER(vbn_pd))]),
    "vbn_pd_import": (vbn_status, [POINTER(vbn_context), c_uint32, POINTER(vbn_pd_attr), POINTER(POINTER(vbn_pd))]),
    "vbn_pd_close": (vbn_status, [POINTER(POINTER(vbn_pd))]),
    "vbn_pd_query": (vbn_status, [POINTER(vbn_pd), POINTER(vbn_pd_info)]),
    "vbn_pd_native": (vbn_status, [POINTER(vbn_pd), POINTER(c_void_p)]),
    "vbn_pd_release": (vbn_status, [POINTER(POINTER(vbn_pd)), POINTER(c_void_p)]),
    "vbn_pd_adopt": (vbn_status, [POINTER(vbn_context), c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_pd))]),
    "vbn_peer_create": (vbn_status, [POINTER(vbn_pd), POINTER(vbn_peer_attr), POINTER(POINTER(vbn_peer))]),
    "vbn_peer_from_endpoint": (vbn_status, [POINTER(vbn_pd), POINTER(vbn_endpoint), POINTER(vbn_peer_attr), POINTER(POINTER(vbn_peer))]),
    "vbn_peer_from_info": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_endpoint_info), POINTER(vbn_peer_attr), POINTER(POINTER(vbn_peer))]),
    "vbn_peer_from_cm": (vbn_status, [POINTER(vbn_pd), POINTER(vbn_cm_event), POINTER(vbn_peer_attr), POINTER(POINTER(vbn_peer))]),
    "vbn_peer_close": (vbn_status, [POINTER(POINTER(vbn_peer))]),
    "vbn_peer_query": (vbn_status, [POINTER(vbn_peer), POINTER(vbn_peer_info)]),
    "vbn_qp_create": (vbn_status, [POINTER(vbn_pd), POINTER(vbn_qp_init_attr), POINTER(POINTER(vbn_qp))]),
    "vbn_qp_close": (vbn_status, [POINTER(POINTER(vbn_qp))]),
    "vbn_qp_query": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_qp_info)]),
    "vbn_qp_num": (c_uint32, [POINTER(vbn_qp)]),
    "vbn_qp_modify": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_qp_attr)]),
    "vbn_qp_prepare": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_qp_prepare_attr)]),
    "vbn_qkey_random": (c_uint32, []),
    "vbn_qp_attach_mcast": (vbn_status, [POINTER(vbn_qp), POINTER(c_uint8), c_uint16]),
    "vbn_qp_detach_mcast": (vbn_status, [POINTER(vbn_qp), POINTER(c_uint8), c_uint16]),
    "vbn_qp_post_send": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_send_wr), c_uint32, POINTER(c_uint32)]),
    "vbn_qp_post_recv": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_recv_wr), c_uint32, POINTER(c_uint32)]),
    "vbn_qp_first_error": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_wc)]),
    "vbn_qp_query_ece": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_ece)]),
    "vbn_qp_set_ece": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_ece)]),
    "vbn_qp_data_in_order": (vbn_status, [POINTER(vbn_qp), c_uint32, c_uint32, POINTER(c_uint32)]),
    "vbn_qp_modify_rate_limit": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_qp_rate_limit_attr)]),
    "vbn_qp_native": (vbn_status, [POINTER(vbn_qp), POINTER(c_void_p)]),
    "vbn_qp_release": (vbn_status, [POINTER(POINTER(vbn_qp)), POINTER(c_void_p)]),
    "vbn_qp_adopt": (vbn_status, [POINTER(vbn_pd), c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_qp))]),
    "vbn_rc_record_local": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_rc_attr), POINTER(vbn_rc_record)]),
    "vbn_rc_record_encode": (vbn_status, [POINTER(vbn_rc_record), POINTER(c_uint8), c_size_t]),
    "vbn_rc_record_decode": (vbn_status, [POINTER(c_uint8), c_size_t, POINTER(vbn_rc_record)]),
    "vbn_qp_to_init": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_rc_attr)]),
    "vbn_qp_to_rtr": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_rc_record), POINTER(vbn_rc_record), POINTER(vbn_rc_attr)]),
    "vbn_qp_to_rts": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_rc_record), POINTER(vbn_rc_attr)]),
    "vbn_qp_connect_rc": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_rc_record), POINTER(vbn_rc_record), POINTER(vbn_rc_attr)]),
    "vbn_qp_connect": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_endpoint_info), POINTER(vbn_endpoint_info), POINTER(vbn_rc_attr)]),
    "vbn_region_info_local": (vbn_status, [POINTER(POINTER(vbn_mr_set)), c_uint32, POINTER(vbn_region_info_attr), POINTER(vbn_region_info)]),
    "vbn_region_info_encode": (vbn_status, [POINTER(vbn_region_info), POINTER(c_uint8), c_size_t, POINTER(c_size_t)]),
    "vbn_region_info_decode": (vbn_status, [POINTER(c_uint8), c_size_t, POINTER(vbn_region_info)]),
    "vbn_region_info_find_nic": (vbn_status, [POINTER(vbn_region_info), POINTER(vbn_endpoint_info), POINTER(c_uint32)]),
    "vbn_rdma_split": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_split_attr), c_uint64, POINTER(vbn_send_wr), c_uint32, POINTER(c_uint32), POINTER(c_uint64)]),
    "vbn_srq_create": (vbn_status, [POINTER(vbn_pd), POINTER(vbn_srq_attr), POINTER(POINTER(vbn_srq))]),
    "vbn_srq_close": (vbn_status, [POINTER(POINTER(vbn_srq))]),
    "vbn_srq_query": (vbn_status, [POINTER(vbn_srq), POINTER(vbn_srq_info)]),
    "vbn_srq_modify": (vbn_status, [POINTER(vbn_srq), POINTER(vbn_srq_modify_attr)]),
    "vbn_srq_post_recv": (vbn_status, [POINTER(vbn_srq), POINTER(vbn_recv_wr), c_uint32, POINTER(c_uint32)]),
    "vbn_srq_native": (vbn_status, [POINTER(vbn_srq), POINTER(c_void_p)]),
    "vbn_srq_release": (vbn_status, [POINTER(POINTER(vbn_srq)), POINTER(c_void_p)]),
    "vbn_srq_adopt": (vbn_status, [POINTER(vbn_pd), c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_srq))]),
    "vbn_td_alloc": (vbn_status, [POINTER(vbn_context), POINTER(vbn_td_attr), POINTER(POINTER(vbn_td))]),
    "vbn_td_close": (vbn_status, [POINTER(POINTER(vbn_td))]),
    "vbn_td_native": (vbn_status, [POINTER(vbn_td), POINTER(c_void_p)]),
    "vbn_td_release": (vbn_status, [POINTER(POINTER(vbn_td)), POINTER(c_void_p)]),
    "vbn_td_adopt": (vbn_status, [POINTER(vbn_context), c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_td))]),
    "vbn_gpu_nic_distance": (vbn_status, [POINTER(vbn_distance_attr), POINTER(vbn_distance_info)]),
    "vbn_nic_nearest": (vbn_status, [POINTER(vbn_distance_attr), POINTER(vbn_distance_info), c_size_t, c_uint32, POINTER(c_uint32)]),
}


class VerbenaError(Exception):
    """A call failed. `info` is the vbn_error_info: status, sys_errno, op, value, limit..."""

    def __init__(self, info):
        super().__init__(info.message.decode(errors="replace"))
        self.info = info
        self.status = info.status


def check(lib, status):
    """Raises VerbenaError unless `status`, which a call has just returned on this thread, is VBN_OK."""
    if status != VBN_OK:
        info = vbn_error_info()
        lib.vbn_last_error(ctypes.byref(info))
        raise VerbenaError(info)
    return status


def load(path="libverbena.so.0"):
    """Opens the library and declares its functions."""
    lib = ctypes.CDLL(path)
    for name, (result, params) in _FUNCTIONS.items():
        function = getattr(lib, name)
        function.restype = result
        function.argtypes = params
    return lib


__all__ += [name for name in globals() if name.lower().startswith("vbn_")]
