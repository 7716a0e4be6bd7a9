# SPDX-License-Identifier: MIT OR Apache-2.0
# The constants, structs and functions of include/verbena.h, which is the reference. Made by scripts/gen-julia.py; don't edit it.
# Verbena.jl includes it.

const VBN_VERSION_MAJOR = 0
const VBN_VERSION_MINOR = 1
const VBN_VERSION_PATCH = 0
const VBN_VERSION = 256
const VBN_ADOPT_BORROW = 0
const VBN_ADOPT_OWN = 1
const VBN_ADOPT_CUSTOM = 2
const VBN_ADOPT_SET_IOVA = 1
const VBN_INDEX_NONE = 0xffffffffffffffff
const VBN_VENDOR_NONE = 0
const VBN_VENDOR_WC = 1
const VBN_VENDOR_CUDA = 2
const VBN_VENDOR_HSA = 3
const VBN_NAME_SIZE = 64
const VBN_CAP_RC = 1
const VBN_CAP_UC = 2
const VBN_CAP_UD = 4
const VBN_CAP_SRD = 8
const VBN_CAP_XRC = 16
const VBN_CAP_SEND = 256
const VBN_CAP_SEND_IMM = 512
const VBN_CAP_WRITE = 1024
const VBN_CAP_WRITE_IMM = 2048
const VBN_CAP_READ = 4096
const VBN_CAP_ATOMICS = 8192
const VBN_CAP_ATOMICS_GLOBAL = 16384
const VBN_CAP_ATOMIC_WRITE = 32768
const VBN_CAP_FLUSH = 65536
const VBN_CAP_INVALIDATE = 131072
const VBN_CAP_UNSIGNALED = 1048576
const VBN_CAP_FENCE = 2097152
const VBN_CAP_SOLICITED = 4194304
const VBN_CAP_INLINE = 8388608
const VBN_CAP_INLINE_WRITE = 16777216
const VBN_CAP_ORDERED = 33554432
const VBN_CAP_RNR_RETRY = 67108864
const VBN_CAP_UNSOLICITED_WRITE_RECV = 134217728
const VBN_CAP_ERRORS_ISOLATED = 268435456
const VBN_CAP_PROCESSING_HINTS = 536870912
const VBN_CAP_NOTIFY = 4294967296
const VBN_CAP_NOTIFY_SOLICITED = 8589934592
const VBN_CAP_WC_SGID = 17179869184
const VBN_CAP_WC_TIMESTAMP = 34359738368
const VBN_CAP_COMP_CNTR = 68719476736
const VBN_CAP_CQ_DMABUF = 137438953472
const VBN_CAP_DMABUF = 1099511627776
const VBN_CAP_RELAXED_ORDERING = 2199023255552
const VBN_CAP_ODP = 4398046511104
const VBN_CAP_MW = 8796093022208
const VBN_CAP_DEVICE_MEMORY = 17592186044416
const VBN_CAP_SRQ = 281474976710656
const VBN_CAP_MULTICAST = 562949953421312
const VBN_ABSENCE_NONE = 0
const VBN_ABSENCE_UNKNOWN = 1
const VBN_ABSENCE_TRANSPORT = 2
const VBN_ABSENCE_DEVICE = 3
const VBN_ABSENCE_LIBRARY = 4
const VBN_ABSENCE_LIBRARY_OR_DEVICE = 5
const VBN_ABSENCE_DRIVER = 6
const VBN_RT_RAW_CLOCK = 1
const VBN_CM_CONN_SET_RESPONDER_RESOURCES = 1
const VBN_CM_CONN_SET_INITIATOR_DEPTH = 2
const VBN_CM_CONN_SET_RETRY_COUNT = 4
const VBN_CM_CONN_SET_RNR_RETRY_COUNT = 8
const VBN_CM_EVENT_ADDR_RESOLVED = 0
const VBN_CM_EVENT_ADDR_ERROR = 1
const VBN_CM_EVENT_ROUTE_RESOLVED = 2
const VBN_CM_EVENT_ROUTE_ERROR = 3
const VBN_CM_EVENT_CONNECT_REQUEST = 4
const VBN_CM_EVENT_CONNECT_RESPONSE = 5
const VBN_CM_EVENT_CONNECT_ERROR = 6
const VBN_CM_EVENT_UNREACHABLE = 7
const VBN_CM_EVENT_REJECTED = 8
const VBN_CM_EVENT_ESTABLISHED = 9
const VBN_CM_EVENT_DISCONNECTED = 10
const VBN_CM_EVENT_DEVICE_REMOVAL = 11
const VBN_CM_EVENT_MULTICAST_JOIN = 12
const VBN_CM_EVENT_MULTICAST_ERROR = 13
const VBN_CM_EVENT_ADDR_CHANGE = 14
const VBN_CM_EVENT_TIMEWAIT_EXIT = 15
const VBN_CM_PS_TCP = 262
const VBN_CM_PS_UDP = 273
const VBN_CM_PS_IB = 319
const VBN_CM_ID_SET_TOS = 1
const VBN_CM_ID_SET_REUSE_ADDR = 2
const VBN_CM_ID_SET_ONLY_V6 = 4
const VBN_CM_ID_SET_ACK_TIMEOUT = 8
const VBN_RECORD_MAX_SIZE = 1024
const VBN_RECORD_HEADER_SIZE = 8
const VBN_PORT_NOP = 0
const VBN_PORT_DOWN = 1
const VBN_PORT_INIT = 2
const VBN_PORT_ARMED = 3
const VBN_PORT_ACTIVE = 4
const VBN_PORT_ACTIVE_DEFER = 5
const VBN_LINK_LAYER_UNSPECIFIED = 0
const VBN_LINK_LAYER_INFINIBAND = 1
const VBN_LINK_LAYER_ETHERNET = 2
const VBN_PORT_VALID_CAP_FLAGS2 = 1
const VBN_PORT_VALID_SPEED_EX = 2
const VBN_PORT_VALID_SPEED = 4
const VBN_COUNTER_PACKETS = 0
const VBN_COUNTER_BYTES = 1
const VBN_COUNTERS_PREFER_CACHED = 1
const VBN_CQ_WAIT_SLEEP = 0
const VBN_CQ_WAIT_EVENT = 1
const VBN_CQ_SET_MODERATION = 1
const VBN_NODE_UNKNOWN = -1
const VBN_NODE_CA = 1
const VBN_NODE_SWITCH = 2
const VBN_NODE_ROUTER = 3
const VBN_NODE_RNIC = 4
const VBN_NODE_USNIC = 5
const VBN_NODE_USNIC_UDP = 6
const VBN_NODE_UNSPECIFIED = 7
const VBN_TRANSPORT_UNKNOWN = -1
const VBN_TRANSPORT_IB = 0
const VBN_TRANSPORT_IWARP = 1
const VBN_TRANSPORT_USNIC = 2
const VBN_TRANSPORT_USNIC_UDP = 3
const VBN_TRANSPORT_UNSPECIFIED = 4
const VBN_REASON_NONE = 0
const VBN_REASON_CANNOT_OPEN = 1
const VBN_REASON_LIBRARY_MISSING = 2
const VBN_REASON_LIBRARY_UNUSABLE = 3
const VBN_REASON_NO_MODULE = 4
const VBN_REASON_NO_DEVICE = 5
const VBN_REASON_NO_NODE = 6
const VBN_REASON_NOT_PERMITTED = 7
const VBN_REASON_NO_PROVIDER = 8
const VBN_REASON_LIST_FAILED = 9
const VBN_DL_CPU = 1
const VBN_DL_CUDA = 2
const VBN_DL_CUDA_HOST = 3
const VBN_DL_ROCM = 10
const VBN_DL_ROCM_HOST = 11
const VBN_DL_CUDA_MANAGED = 13
const VBN_EFA_CAP_RDMA_READ = 1
const VBN_EFA_CAP_RNR_RETRY = 2
const VBN_EFA_CAP_CQ_WITH_SGID = 4
const VBN_EFA_CAP_RDMA_WRITE = 8
const VBN_EFA_CAP_UNSOLICITED_WRITE_RECV = 16
const VBN_EFA_CAP_CQ_WITH_EXT_MEM_DMABUF = 32
const VBN_EFA_CAP_COMP_CNTR = 64
const VBN_EFA_SQ_INLINE_WRITE = 1
const VBN_EFA_WQ_64_BIT_REQ_ID = 1
const VBN_EFA_MR_RECV_IC_ID = 1
const VBN_EFA_MR_RDMA_READ_IC_ID = 2
const VBN_EFA_MR_RDMA_RECV_IC_ID = 4
const VBN_ENDPOINT_SIZE = 24
const VBN_ENDPOINT_MAX_GIDS = 8
const VBN_ENDPOINT_SET_PSN = 1
const VBN_ENDPOINT_SET_QKEY = 2
const VBN_ENDPOINT_SET_LID = 4
const VBN_ENDPOINT_SET_PORT_NUM = 8
const VBN_ENDPOINT_SET_MTU = 16
const VBN_ENDPOINT_SET_MAX_MESSAGE = 32
const VBN_ENDPOINT_SET_READ_DEPTH = 64
const VBN_ENDPOINT_SET_UNSOLICITED = 128
const VBN_ENDPOINT_SET_EFA_GENERATION = 256
const VBN_ENDPOINT_SET_ECE = 512
const VBN_ENDPOINT_SET_INCARNATION = 1024
const VBN_ENDPOINT_ATTR_SET_PSN = 1
const VBN_ENDPOINT_ATTR_SET_SGID_INDEX = 2
const VBN_ENDPOINT_ATTR_SET_MAX_RD_ATOMIC = 4
const VBN_ENDPOINT_ATTR_SET_MAX_DEST_RD_ATOMIC = 8
const VBN_ENDPOINT_ATTR_SET_UNSOLICITED = 16
const VBN_MISMATCH_TRANSPORT = 1
const VBN_MISMATCH_UNSOLICITED = 2
const VBN_MISMATCH_EFA_GENERATION = 4
const VBN_MISMATCH_GID = 8
const VBN_MISMATCH_ECE = 16
const VBN_ELEMENT_NONE = 0
const VBN_ELEMENT_CQ = 1
const VBN_ELEMENT_QP = 2
const VBN_ELEMENT_SRQ = 3
const VBN_ELEMENT_WQ = 4
const VBN_ELEMENT_PORT = 5
const VBN_ELEMENT_DEVICE = 6
const VBN_EVENT_CQ_ERR = 0
const VBN_EVENT_QP_FATAL = 1
const VBN_EVENT_QP_REQ_ERR = 2
const VBN_EVENT_QP_ACCESS_ERR = 3
const VBN_EVENT_COMM_EST = 4
const VBN_EVENT_SQ_DRAINED = 5
const VBN_EVENT_PATH_MIG = 6
const VBN_EVENT_PATH_MIG_ERR = 7
const VBN_EVENT_DEVICE_FATAL = 8
const VBN_EVENT_PORT_ACTIVE = 9
const VBN_EVENT_PORT_ERR = 10
const VBN_EVENT_LID_CHANGE = 11
const VBN_EVENT_PKEY_CHANGE = 12
const VBN_EVENT_SM_CHANGE = 13
const VBN_EVENT_SRQ_ERR = 14
const VBN_EVENT_SRQ_LIMIT_REACHED = 15
const VBN_EVENT_QP_LAST_WQE_REACHED = 16
const VBN_EVENT_CLIENT_REREGISTER = 17
const VBN_EVENT_GID_CHANGE = 18
const VBN_EVENT_WQ_FATAL = 19
const VBN_EVENT_DEVICE_SPEED_CHANGE = 20
const VBN_DRIVER_UNKNOWN = 0
const VBN_DRIVER_MLX5 = 1
const VBN_DRIVER_RXE = 14
const VBN_DRIVER_EFA = 17
const VBN_EXPLAIN_SILENCE = 65536
const VBN_EXPLAIN_SET_OPCODE = 1
const VBN_EXPLAIN_TEXT_SIZE = 8192
const VBN_FLOW_NORMAL = 0
const VBN_FLOW_ALL_DEFAULT = 1
const VBN_FLOW_MC_DEFAULT = 2
const VBN_FLOW_SNIFFER = 3
const VBN_FLOW_DONT_TRAP = 2
const VBN_FLOW_EGRESS = 4
const VBN_FLOW_SPEC_ETH = 32
const VBN_FLOW_SPEC_IPV4 = 48
const VBN_FLOW_SPEC_IPV6 = 49
const VBN_FLOW_SPEC_IPV4_EXT = 50
const VBN_FLOW_SPEC_ESP = 52
const VBN_FLOW_SPEC_TCP = 64
const VBN_FLOW_SPEC_UDP = 65
const VBN_FLOW_SPEC_VXLAN = 80
const VBN_FLOW_SPEC_GRE = 81
const VBN_FLOW_SPEC_MPLS = 96
const VBN_FLOW_SPEC_INNER = 256
const VBN_FLOW_SPEC_ACTION_TAG = 4096
const VBN_FLOW_SPEC_ACTION_DROP = 4097
const VBN_FLOW_SPEC_ACTION_COUNT = 4099
const VBN_FLOW_MAX_SPECS = 16
const VBN_GID_TYPE_IB = 0
const VBN_GID_TYPE_ROCE_V1 = 1
const VBN_GID_TYPE_ROCE_V2 = 2
const VBN_GID_FAMILY_ANY = 0
const VBN_GID_FAMILY_IPV4 = 1
const VBN_GID_FAMILY_IPV6 = 2
const VBN_GID_SET_INDEX = 1
const VBN_GID_SET_TYPE = 2
const VBN_GID_CHOSEN = 0
const VBN_GID_USABLE = 1
const VBN_GID_LAST_RESORT = 2
const VBN_GID_ROCE_V1_UNASKED = 3
const VBN_GID_OTHER_TYPE = 4
const VBN_GID_OTHER_FAMILY = 5
const VBN_GID_OTHER_INDEX = 6
const VBN_GID_OTHER_NETDEV = 7
const VBN_GID_UNUSED = 8
const VBN_GPU_KIND_ANY = 0
const VBN_GPU_KIND_CUDA = 1
const VBN_GPU_KIND_ROCM = 2
const VBN_GPU_UNKNOWN = -1
const VBN_GPU_MEMORY_UNKNOWN = 0
const VBN_GPU_MEMORY_HOST = 1
const VBN_GPU_MEMORY_DEVICE = 2
const VBN_GPU_MEMORY_MANAGED = 3
const VBN_GPU_ALLOCATION_UNKNOWN = 0
const VBN_GPU_ALLOCATION_PLAIN = 1
const VBN_GPU_ALLOCATION_VMM = 2
const VBN_GPU_ALLOCATION_POOL = 3
const VBN_GPU_ORDERING_NONE = 0
const VBN_GPU_ORDERING_OWNER = 100
const VBN_GPU_ORDERING_ALL_DEVICES = 200
const VBN_GPU_FLUSH_OPTION_HOST = 1
const VBN_GPU_FLUSH_OPTION_MEMOPS = 2
const VBN_GPU_FLUSH_OWNER = 100
const VBN_GPU_FLUSH_ALL_DEVICES = 200
const VBN_GPU_FLUSH_NOT_NEEDED = 0
const VBN_GPU_FLUSH_DONE = 1
const VBN_GPU_DEVICE_CURRENT = -2
const VBN_GPU_DMABUF_PCIE = 1
const VBN_GPU_PATH_DMABUF = 1
const VBN_GPU_PATH_SEGMENTS = 2
const VBN_GPU_PATH_PEER = 4
const VBN_GPU_ATTEMPT_NONE = 0
const VBN_GPU_ATTEMPT_FAILED = 1
const VBN_GPU_ATTEMPT_WON = 2
const VBN_GPU_MR_UNKNOWN = 0
const VBN_GPU_MR_VALID = 1
const VBN_GPU_MR_FREED = 2
const VBN_GPU_MR_REPLACED = 3
const VBN_LIBRARY_IBVERBS = 0
const VBN_LIBRARY_EFA = 1
const VBN_LIBRARY_RDMACM = 2
const VBN_LIBRARY_CUDA = 3
const VBN_LIBRARY_ROCM = 4
const VBN_LIBRARY_FROM_DEFAULT = 0
const VBN_LIBRARY_FROM_ENV = 1
const VBN_LIBRARY_FROM_PATH = 2
const VBN_LIBRARY_FROM_HANDLE = 3
const VBN_LIBRARY_FROM_LOOKUP = 4
const VBN_LIBRARY_FROM_PROVIDER = 5
const VBN_FORK_UNKNOWN = -1
const VBN_FORK_DISABLED = 0
const VBN_FORK_ENABLED = 1
const VBN_FORK_UNNEEDED = 2
const VBN_ACCESS_LOCAL_WRITE = 1
const VBN_ACCESS_REMOTE_WRITE = 2
const VBN_ACCESS_REMOTE_READ = 4
const VBN_ACCESS_REMOTE_ATOMIC = 8
const VBN_ACCESS_MW_BIND = 16
const VBN_ACCESS_ZERO_BASED = 32
const VBN_ACCESS_ON_DEMAND = 64
const VBN_ACCESS_HUGETLB = 128
const VBN_ACCESS_FLUSH_GLOBAL = 256
const VBN_ACCESS_FLUSH_PERSISTENT = 512
const VBN_ACCESS_RELAXED_ORDERING = 1048576
const VBN_MR_SET_IOVA = 1
const VBN_MR_HOST = 0
const VBN_MR_DMABUF = 1
const VBN_MR_ADOPTED = 2
const VBN_MR_NULL = 3
const VBN_MR_IMPORTED = 4
const VBN_MR_DM = 5
const VBN_MR_PEER = 6
const VBN_MR_SEGMENT_DEFAULT = 1073741824
const VBN_MR_REREG_TRANSLATION = 1
const VBN_MR_REREG_PD = 2
const VBN_MR_REREG_ACCESS = 4
const VBN_ADVISE_PREFETCH = 0
const VBN_ADVISE_PREFETCH_WRITE = 1
const VBN_ADVISE_PREFETCH_NO_FAULT = 2
const VBN_ADVISE_FLUSH = 1
const VBN_MEMORY_UNKNOWN = 0
const VBN_MEMORY_HOST = 1
const VBN_MEMORY_CUDA = 2
const VBN_MEMORY_ROCM = 3
const VBN_PLACE_SET_GPU = 1
const VBN_PLACE_SET_NUMA = 2
const VBN_PLACE_SET_PCI = 4
const VBN_MW_TYPE_1 = 1
const VBN_MW_TYPE_2 = 2
const VBN_WR_RDMA_WRITE = 0
const VBN_WR_RDMA_WRITE_WITH_IMM = 1
const VBN_WR_SEND = 2
const VBN_WR_SEND_WITH_IMM = 3
const VBN_WR_RDMA_READ = 4
const VBN_SEND_FENCE = 1
const VBN_SEND_SIGNALED = 2
const VBN_SEND_SOLICITED = 4
const VBN_SEND_INLINE = 8
const VBN_SEND_BURST = 4294967296
const VBN_WR_ATOMIC_CMP_AND_SWP = 5
const VBN_WR_ATOMIC_FETCH_AND_ADD = 6
const VBN_WR_LOCAL_INV = 7
const VBN_WR_BIND_MW = 8
const VBN_WR_SEND_WITH_INV = 9
const VBN_WR_FLUSH = 14
const VBN_WR_ATOMIC_WRITE = 15
const VBN_FLUSH_GLOBAL = 1
const VBN_FLUSH_PERSISTENT = 2
const VBN_FLUSH_RANGE = 0
const VBN_FLUSH_MR = 1
const VBN_QPS_RESET = 0
const VBN_QPS_INIT = 1
const VBN_QPS_RTR = 2
const VBN_QPS_RTS = 3
const VBN_QPS_SQD = 4
const VBN_QPS_SQE = 5
const VBN_QPS_ERR = 6
const VBN_MTU_256 = 1
const VBN_MTU_512 = 2
const VBN_MTU_1024 = 3
const VBN_MTU_2048 = 4
const VBN_MTU_4096 = 5
const VBN_QP_STATE = 1
const VBN_QP_CUR_STATE = 2
const VBN_QP_EN_SQD_ASYNC_NOTIFY = 4
const VBN_QP_ACCESS_FLAGS = 8
const VBN_QP_PKEY_INDEX = 16
const VBN_QP_PORT = 32
const VBN_QP_QKEY = 64
const VBN_QP_AV = 128
const VBN_QP_PATH_MTU = 256
const VBN_QP_TIMEOUT = 512
const VBN_QP_RETRY_CNT = 1024
const VBN_QP_RNR_RETRY = 2048
const VBN_QP_RQ_PSN = 4096
const VBN_QP_MAX_QP_RD_ATOMIC = 8192
const VBN_QP_ALT_PATH = 16384
const VBN_QP_MIN_RNR_TIMER = 32768
const VBN_QP_SQ_PSN = 65536
const VBN_QP_MAX_DEST_RD_ATOMIC = 131072
const VBN_QP_PATH_MIG_STATE = 262144
const VBN_QP_CAP = 524288
const VBN_QP_DEST_QPN = 1048576
const VBN_QP_RATE_LIMIT = 33554432
const VBN_QPT_RC = 2
const VBN_QPT_UC = 3
const VBN_QPT_UD = 4
const VBN_QPT_RAW_PACKET = 8
const VBN_QPT_XRC_SEND = 9
const VBN_QPT_XRC_RECV = 10
const VBN_QPT_DRIVER = 255
const VBN_QPT_SRD = 255
const VBN_QP_OP_RDMA_WRITE = 1
const VBN_QP_OP_RDMA_WRITE_WITH_IMM = 2
const VBN_QP_OP_SEND = 4
const VBN_QP_OP_SEND_WITH_IMM = 8
const VBN_QP_OP_RDMA_READ = 16
const VBN_QP_INIT_SET_MAX_SEND_WR = 1
const VBN_QP_INIT_SET_MAX_RECV_WR = 2
const VBN_QP_INIT_SET_MAX_RECV_SGE = 4
const VBN_QP_UNSOLICITED_WRITE_RECV = 1
const VBN_QP_INLINE_WRITE = 2
const VBN_QP_PROCESSING_HINTS = 4
const VBN_POST_PATH_AUTO = 0
const VBN_POST_PATH_POST_SEND = 1
const VBN_POST_PATH_WR = 2
const VBN_IN_ORDER_DEVICE_ONLY = 2
const VBN_IN_ORDER_WHOLE_MSG = 1
const VBN_IN_ORDER_ALIGNED_128_BYTES = 2
const VBN_QP_OP_ATOMIC_CMP_AND_SWP = 32
const VBN_QP_OP_ATOMIC_FETCH_AND_ADD = 64
const VBN_QP_OP_LOCAL_INV = 128
const VBN_QP_OP_BIND_MW = 256
const VBN_QP_OP_SEND_WITH_INV = 512
const VBN_QP_OP_FLUSH = 16384
const VBN_QP_OP_ATOMIC_WRITE = 32768
const VBN_QP_PREPARE_SET_QKEY = 1
const VBN_QP_PREPARE_SET_RNR_RETRY = 2
const VBN_RC_RECORD_SIZE = 28
const VBN_RC_SET_PKEY_INDEX = 1
const VBN_RC_SET_ACCESS = 2
const VBN_RC_SET_PATH_MTU = 4
const VBN_RC_SET_SGID_INDEX = 8
const VBN_RC_SET_HOP_LIMIT = 16
const VBN_RC_SET_IS_GLOBAL = 32
const VBN_RC_SET_MIN_RNR_TIMER = 64
const VBN_RC_SET_MAX_DEST_RD_ATOMIC = 128
const VBN_RC_SET_TIMEOUT = 256
const VBN_RC_SET_RETRY_CNT = 512
const VBN_RC_SET_RNR_RETRY = 1024
const VBN_RC_SET_MAX_RD_ATOMIC = 2048
const VBN_RC_SET_PSN = 4096
const VBN_REGION_MAX_NICS = 8
const VBN_REGION_MAX_ENTRIES = 30
const VBN_REGION_SET_ACCESS = 1
const VBN_SRQT_BASIC = 0
const VBN_SRQT_XRC = 1
const VBN_SRQT_TM = 2
const VBN_SRQ_SET_MAX_WR = 1
const VBN_SRQ_SET_LIMIT = 2
const VBN_DISTANCE_SWITCH = 10
const VBN_DISTANCE_SWITCHES = 20
const VBN_DISTANCE_HOST_BRIDGE = 30
const VBN_DISTANCE_NUMA_NODE = 40
const VBN_DISTANCE_PACKAGE = 50
const VBN_DISTANCE_SYSTEM = 70
const VBN_DISTANCE_UNKNOWN = 200
const VBN_SYSFS_PATH_SIZE = 200
const VBN_WC_SUCCESS = 0
const VBN_WC_LOC_LEN_ERR = 1
const VBN_WC_LOC_QP_OP_ERR = 2
const VBN_WC_LOC_EEC_OP_ERR = 3
const VBN_WC_LOC_PROT_ERR = 4
const VBN_WC_WR_FLUSH_ERR = 5
const VBN_WC_MW_BIND_ERR = 6
const VBN_WC_BAD_RESP_ERR = 7
const VBN_WC_LOC_ACCESS_ERR = 8
const VBN_WC_REM_INV_REQ_ERR = 9
const VBN_WC_REM_ACCESS_ERR = 10
const VBN_WC_REM_OP_ERR = 11
const VBN_WC_RETRY_EXC_ERR = 12
const VBN_WC_RNR_RETRY_EXC_ERR = 13
const VBN_WC_LOC_RDD_VIOL_ERR = 14
const VBN_WC_REM_INV_RD_REQ_ERR = 15
const VBN_WC_REM_ABORT_ERR = 16
const VBN_WC_INV_EECN_ERR = 17
const VBN_WC_INV_EEC_STATE_ERR = 18
const VBN_WC_FATAL_ERR = 19
const VBN_WC_RESP_TIMEOUT_ERR = 20
const VBN_WC_GENERAL_ERR = 21
const VBN_WC_TM_ERR = 22
const VBN_WC_TM_RNDV_INCOMPLETE = 23
const VBN_WC_SEND = 0
const VBN_WC_RDMA_WRITE = 1
const VBN_WC_RDMA_READ = 2
const VBN_WC_COMP_SWAP = 3
const VBN_WC_FETCH_ADD = 4
const VBN_WC_BIND_MW = 5
const VBN_WC_LOCAL_INV = 6
const VBN_WC_TSO = 7
const VBN_WC_FLUSH = 8
const VBN_WC_ATOMIC_WRITE = 9
const VBN_WC_RECV = 128
const VBN_WC_RECV_RDMA_WITH_IMM = 129
const VBN_WC_GRH = 1
const VBN_WC_WITH_IMM = 2
const VBN_WC_IP_CSUM_OK = 4
const VBN_WC_WITH_INV = 8
const VBN_WC_EX_BYTE_LEN = 1
const VBN_WC_EX_IMM = 2
const VBN_WC_EX_QP_NUM = 4
const VBN_WC_EX_SRC_QP = 8
const VBN_WC_EX_SLID = 16
const VBN_WC_EX_SL = 32
const VBN_WC_EX_DLID_PATH_BITS = 64
const VBN_WC_EX_STANDARD = 127
const VBN_WC_EX_TIMESTAMP = 128
const VBN_WC_EX_CVLAN = 256
const VBN_WC_EX_FLOW_TAG = 512
const VBN_WC_EX_WALLCLOCK = 2048
const VBN_WC_EX_SGID = 4294967296
const VBN_WC_EX_UNSOLICITED = 8589934592
const VBN_OK = 0
const VBN_ERR_ARGUMENT = -1001
const VBN_ERR_CLOSED = -1002
const VBN_ERR_BUSY = -1003
const VBN_ERR_QUEUE_FULL = -1004
const VBN_ERR_TIMEOUT = -1005
const VBN_ERR_NO_MEMORY = -1006
const VBN_ERR_NOT_SUPPORTED = -1007
const VBN_ERR_LIBRARY_MISSING = -1008
const VBN_ERR_SYMBOL_MISSING = -1009
const VBN_ERR_DEVICE_GONE = -1010
const VBN_ERR_FORKED = -1011
const VBN_ERR_TOO_NEW = -1012
const VBN_ERR_COMPLETION = -1013
const VBN_ERR_UNCERTAIN = -1014
const VBN_ERR_DRIVER = -1015
const VBN_ERR_INTERNAL = -1016
const VBN_ERR_NOT_FOUND = -1017
const VBN_ERR_LIMIT = -1018

const vbn_status = Int32
const vbn_destroy_fn = Ptr{Cvoid}  # of @cfunction
const vbn_lookup_fn = Ptr{Cvoid}  # of @cfunction
mutable struct vbn_ah end
mutable struct vbn_channel end
mutable struct vbn_cm_channel end
mutable struct vbn_cm_id end
mutable struct vbn_context end
mutable struct vbn_counters end
mutable struct vbn_cq end
mutable struct vbn_dm end
mutable struct vbn_flow end
mutable struct vbn_mr end
mutable struct vbn_mr_set end
mutable struct vbn_mw end
mutable struct vbn_pd end
mutable struct vbn_peer end
mutable struct vbn_qp end
mutable struct vbn_srq end
mutable struct vbn_td end

struct vbn_path <: Struct
    dgid::NTuple{16, UInt8}
    flow_label::UInt32
    dlid::UInt16
    sgid_index::UInt8
    hop_limit::UInt8
    traffic_class::UInt8
    is_global::UInt8
    sl::UInt8
    src_path_bits::UInt8
    static_rate::UInt8
    port_num::UInt8
    reserved0::NTuple{2, UInt8}
end

struct vbn_wc <: Struct
    wr_id::UInt64
    status::Int32
    opcode::Int32
    vendor_err::UInt32
    byte_len::UInt32
    imm::UInt32
    qp_num::UInt32
    src_qp::UInt32
    wc_flags::UInt32
    pkey_index::UInt16
    slid::UInt16
    sl::UInt8
    dlid_path_bits::UInt8
    reserved0::UInt16
end

struct vbn_adopt_attr <: Struct
    struct_size::Csize_t
    set::UInt64
    ownership::Int32
    reserved0::UInt32
    destroy::vbn_destroy_fn
    destroy_arg::Ptr{Cvoid}
    user_data::UInt64
    iova::UInt64
end

struct vbn_caps <: Struct
    struct_size::Csize_t
    caps::UInt64
    asked::UInt64
    max_send_size::UInt64
    max_datagram_size::UInt64
    max_rdma_size::UInt64
    max_mr_size::UInt64
    name::NTuple{64, UInt8}
    transport_type::Int32
    link_layer::Int32
    release_min::UInt32
    release_below::UInt32
    max_inline::UInt32
    max_inline_ex::UInt32
    max_send_sge::UInt32
    max_recv_sge::UInt32
    max_write_sge::UInt32
    max_read_sge::UInt32
    max_sq_depth::UInt32
    max_sq_depth_ex::UInt32
    max_rq_depth::UInt32
    max_recv_segment::UInt32
    max_cqe::UInt32
    max_cq::UInt32
    max_qp::UInt32
    max_mr::UInt32
    max_pd::UInt32
    max_ah::UInt32
    max_rd_atomic::UInt32
    max_dest_rd_atomic::UInt32
    num_comp_vectors::UInt32
    num_ports::UInt32
    detail::NTuple{64, UInt16}
    absence::NTuple{64, UInt8}
    efa::UInt8
    reserved0::NTuple{7, UInt8}
end

struct vbn_device_match <: Struct
    name::NTuple{64, UInt8}
    caps::UInt64
    missing::UInt64
    unknown::UInt64
    index::UInt32
    transport_type::Int32
    open_status::Int32
    open_errno::Int32
    matches::UInt8
    efa::UInt8
    reserved0::NTuple{6, UInt8}
    reason::NTuple{512, UInt8}
end

struct vbn_channel_attr <: Struct
    struct_size::Csize_t
    user_data::UInt64
end

struct vbn_channel_info <: Struct
    struct_size::Csize_t
    user_data::UInt64
    fd::Int32
    reserved0::UInt32
end

struct vbn_cq_event <: Struct
    struct_size::Csize_t
    user_data::UInt64
    kind::Int32
    number::UInt32
    known::UInt8
    reserved0::NTuple{7, UInt8}
end

struct vbn_cm_channel_attr <: Struct
    struct_size::Csize_t
    user_data::UInt64
end

struct vbn_cm_channel_info <: Struct
    struct_size::Csize_t
    user_data::UInt64
    fd::Int32
    id_count::UInt32
end

struct vbn_cm_id_attr <: Struct
    struct_size::Csize_t
    set::UInt64
    user_data::UInt64
    port_space::Int32
    tos::UInt8
    reuse_addr::UInt8
    only_v6::UInt8
    ack_timeout::UInt8
end

struct vbn_cm_addr <: Struct
    length::UInt32
    reserved0::UInt32
    sockaddr::NTuple{128, UInt8}
end

struct vbn_context_attr <: Struct
    struct_size::Csize_t
    user_data::UInt64
end

struct vbn_pd_attr <: Struct
    struct_size::Csize_t
    user_data::UInt64
end

struct vbn_qp_init_attr <: Struct
    struct_size::Csize_t
    set::UInt64
    user_data::UInt64
    send_cq::Ptr{vbn_cq}
    recv_cq::Ptr{vbn_cq}
    qp_type::Int32
    max_send_wr::UInt32
    max_recv_wr::UInt32
    max_send_sge::UInt32
    max_recv_sge::UInt32
    max_inline_data::UInt32
    send_ops::UInt64
    sq_sig_all::UInt8
    sl::UInt8
    reserved0::NTuple{2, UInt8}
    post_path::Int32
    flags::UInt64
    srq::Ptr{vbn_srq}
end

struct vbn_cm_conn_attr <: Struct
    struct_size::Csize_t
    set::UInt64
    private_data::Ptr{Cvoid}
    private_data_len::UInt64
    responder_resources::UInt8
    initiator_depth::UInt8
    retry_count::UInt8
    rnr_retry_count::UInt8
    reserved0::NTuple{4, UInt8}
end

struct vbn_context_info <: Struct
    struct_size::Csize_t
    user_data::UInt64
    name::NTuple{64, UInt8}
    uverbs_name::NTuple{64, UInt8}
    node_type::Int32
    transport_type::Int32
    ownership::Int32
    num_comp_vectors::UInt32
    async_fd::Int32
    fork_state::Int32
    num_ports::UInt32
    uverbs_abi_version::Int32
    extended::UInt8
    reserved0::NTuple{3, UInt8}
    driver::Int32
    driver_name::NTuple{32, UInt8}
end

struct vbn_device_attr <: Struct
    struct_size::Csize_t
    fw_ver::NTuple{64, UInt8}
    node_guid::UInt64
    sys_image_guid::UInt64
    max_mr_size::UInt64
    page_size_cap::UInt64
    vendor_id::UInt32
    vendor_part_id::UInt32
    hw_ver::UInt32
    device_cap_flags::UInt32
    max_qp::Int32
    max_qp_wr::Int32
    max_sge::Int32
    max_sge_rd::Int32
    max_cq::Int32
    max_cqe::Int32
    max_mr::Int32
    max_pd::Int32
    max_qp_rd_atom::Int32
    max_ee_rd_atom::Int32
    max_res_rd_atom::Int32
    max_qp_init_rd_atom::Int32
    max_ee_init_rd_atom::Int32
    atomic_cap::Int32
    max_ee::Int32
    max_rdd::Int32
    max_mw::Int32
    max_raw_ipv6_qp::Int32
    max_raw_ethy_qp::Int32
    max_mcast_grp::Int32
    max_mcast_qp_attach::Int32
    max_total_mcast_qp_attach::Int32
    max_ah::Int32
    max_fmr::Int32
    max_map_per_fmr::Int32
    max_srq::Int32
    max_srq_wr::Int32
    max_srq_sge::Int32
    max_pkeys::UInt16
    local_ca_ack_delay::UInt8
    phys_port_cnt::UInt8
    has_extended::UInt8
    rss_rx_hash_function::UInt8
    reserved0::NTuple{10, UInt8}
    odp_general_caps::UInt64
    odp_rc_caps::UInt32
    odp_uc_caps::UInt32
    odp_ud_caps::UInt32
    odp_xrc_caps::UInt32
    completion_timestamp_mask::UInt64
    hca_core_clock::UInt64
    device_cap_flags_ex::UInt64
    tso_max::UInt32
    tso_supported_qpts::UInt32
    rss_rx_hash_fields_mask::UInt64
    rss_supported_qpts::UInt32
    rss_max_rwq_indirection_tables::UInt32
    rss_max_rwq_indirection_table_size::UInt32
    max_wq_type_rq::UInt32
    rate_limit_min::UInt32
    rate_limit_max::UInt32
    rate_limit_supported_qpts::UInt32
    raw_packet_caps::UInt32
    tm_max_rndv_hdr_size::UInt32
    tm_max_num_tags::UInt32
    tm_flags::UInt32
    tm_max_ops::UInt32
    tm_max_sge::UInt32
    cq_moderation_max_count::UInt16
    cq_moderation_max_period::UInt16
    max_dm_size::UInt64
    pci_atomic_fetch_add::UInt16
    pci_atomic_swap::UInt16
    pci_atomic_compare_swap::UInt16
    reserved1::UInt16
    phys_port_cnt_ex::UInt32
    reserved2::UInt32
end

struct vbn_rt_values <: Struct
    struct_size::Csize_t
    valid::UInt64
    raw_clock_sec::Int64
    raw_clock_nsec::Int64
end

struct vbn_port_attr <: Struct
    struct_size::Csize_t
    valid::UInt64
    state::Int32
    max_mtu::Int32
    active_mtu::Int32
    link_layer::Int32
    gid_tbl_len::Int32
    port_cap_flags::UInt32
    max_msg_sz::UInt32
    bad_pkey_cntr::UInt32
    qkey_viol_cntr::UInt32
    active_speed_ex::UInt32
    speed_100mbps::UInt64
    pkey_tbl_len::UInt16
    lid::UInt16
    sm_lid::UInt16
    port_cap_flags2::UInt16
    lmc::UInt8
    max_vl_num::UInt8
    sm_sl::UInt8
    subnet_timeout::UInt8
    init_type_reply::UInt8
    active_width::UInt8
    active_speed::UInt8
    phys_state::UInt8
    flags::UInt8
    reserved0::NTuple{7, UInt8}
end

struct vbn_gid_entry <: Struct
    gid::NTuple{16, UInt8}
    index::UInt32
    port_num::UInt32
    type::Int32
    family::Int32
    ifindex::UInt32
    reserved0::UInt32
    ndev::NTuple{16, UInt8}
end

struct vbn_async_event <: Struct
    struct_size::Csize_t
    type::Int32
    kind::Int32
    user_data::UInt64
    number::UInt32
    known::UInt8
    reserved0::NTuple{3, UInt8}
end

struct vbn_live_info <: Struct
    struct_size::Csize_t
    pd_open::UInt32
    pd_closed::UInt32
    pd_refused::UInt32
    mr_open::UInt32
    channel_open::UInt32
    channel_closed::UInt32
    channel_refused::UInt32
    cq_open::UInt32
    cq_closed::UInt32
    cq_refused::UInt32
    qp_open::UInt32
    peer_open::UInt32
    ah_open::UInt32
    ah_closed::UInt32
    ah_refused::UInt32
    ah_cached::UInt32
    ah_idle::UInt32
    srq_open::UInt32
    srq_closed::UInt32
    srq_refused::UInt32
    mw_open::UInt32
    td_open::UInt32
    td_closed::UInt32
    td_refused::UInt32
    dm_open::UInt32
    dm_closed::UInt32
    dm_refused::UInt32
    flow_open::UInt32
    counters_open::UInt32
    counters_closed::UInt32
    counters_refused::UInt32
    reserved0::UInt32
end

struct vbn_gid_select_attr <: Struct
    struct_size::Csize_t
    set::UInt64
    index::UInt32
    type::Int32
    family::Int32
    reserved0::UInt32
    ndev::NTuple{16, UInt8}
end

struct vbn_gid_choice <: Struct
    struct_size::Csize_t
    gid::NTuple{16, UInt8}
    index::UInt32
    port_num::UInt32
    type::Int32
    family::Int32
    ifindex::UInt32
    last_resort::UInt8
    reserved0::NTuple{3, UInt8}
    ndev::NTuple{16, UInt8}
    text::NTuple{96, UInt8}
end

struct vbn_gid_verdict <: Struct
    gid::NTuple{16, UInt8}
    index::UInt32
    port_num::UInt32
    type::Int32
    family::Int32
    ifindex::UInt32
    code::Int32
    ndev::NTuple{16, UInt8}
    text::NTuple{96, UInt8}
end

struct vbn_counters_attr <: Struct
    struct_size::Csize_t
    reserved0::UInt64
end

struct vbn_cq_attr <: Struct
    struct_size::Csize_t
    user_data::UInt64
    channel::Ptr{vbn_channel}
    cqe::UInt32
    comp_vector::UInt32
    fields::UInt64
end

struct vbn_cq_info <: Struct
    struct_size::Csize_t
    user_data::UInt64
    cqe::UInt32
    handle::UInt32
    has_channel::UInt8
    wait_mode::UInt8
    reserved0::NTuple{6, UInt8}
    fields::UInt64
    skipped::UInt64
end

struct vbn_cq_modify_attr <: Struct
    struct_size::Csize_t
    set::UInt64
    moderation_count::UInt32
    moderation_period_us::UInt32
end

struct vbn_device_info <: Struct
    name::NTuple{64, UInt8}
    uverbs_name::NTuple{64, UInt8}
    sysfs_path::NTuple{256, UInt8}
    guid::UInt64
    node_type::Int32
    transport_type::Int32
    index::UInt32
    open_status::Int32
    open_errno::Int32
    reserved0::UInt32
end

struct vbn_device_list_reason_info <: Struct
    struct_size::Csize_t
    reason::Int32
    sys_errno::Int32
    count::UInt32
    reserved0::UInt32
    message::NTuple{512, UInt8}
end

struct vbn_dm_attr <: Struct
    struct_size::Csize_t
    length::UInt64
    user_data::UInt64
    log_align::UInt32
    reserved0::UInt32
end

struct vbn_dm_info <: Struct
    struct_size::Csize_t
    user_data::UInt64
    length::UInt64
    handle::UInt32
    reserved0::UInt32
end

struct vbn_efa_device_info <: Struct
    struct_size::Csize_t
    caps::UInt64
    max_rdma_size::UInt64
    max_sq_wr::UInt32
    max_rq_wr::UInt32
    max_sq_sge::UInt32
    max_rq_sge::UInt32
    inline_buf_size::UInt32
    inline_buf_size_ex::UInt32
end

struct vbn_efa_sq_attr <: Struct
    struct_size::Csize_t
    flags::UInt64
    max_send_sge::UInt32
    max_rdma_sge::UInt32
    max_inline_data::UInt32
    reserved0::UInt32
end

struct vbn_efa_rq_attr <: Struct
    struct_size::Csize_t
    max_recv_sge::UInt32
    reserved0::UInt32
end

struct vbn_efa_cq_info <: Struct
    struct_size::Csize_t
    buffer::Ptr{Cvoid}
    doorbell::Ptr{UInt32}
    entry_size::UInt32
    num_entries::UInt32
end

struct vbn_efa_wq_info <: Struct
    struct_size::Csize_t
    buffer::Ptr{Cvoid}
    doorbell::Ptr{UInt32}
    entry_size::UInt32
    num_entries::UInt32
    max_batch::UInt32
    caps::UInt32
end

struct vbn_efa_mr_info <: Struct
    struct_size::Csize_t
    valid::UInt32
    recv_ic_id::UInt32
    rdma_read_ic_id::UInt32
    rdma_recv_ic_id::UInt32
end

struct vbn_endpoint <: Struct
    gid::NTuple{16, UInt8}
    qp_num::UInt32
    qkey::UInt32
end

struct vbn_endpoint_info_attr <: Struct
    struct_size::Csize_t
    set::UInt64
    psn::UInt32
    sgid_index::UInt32
    port_num::UInt8
    max_rd_atomic::UInt8
    max_dest_rd_atomic::UInt8
    unsolicited::UInt8
    reserved0::NTuple{4, UInt8}
end

struct vbn_endpoint_gid <: Struct
    gid::NTuple{16, UInt8}
    type::Int32
    family::Int32
end

struct vbn_error_info <: Struct
    struct_size::Csize_t
    status::Int32
    sys_errno::Int32
    op::Int32
    vendor_domain::Int32
    vendor_code::Int64
    index::UInt64
    value::UInt64
    limit::UInt64
    op_name::NTuple{48, UInt8}
    object::NTuple{64, UInt8}
    reserved::NTuple{4, UInt64}
    message::NTuple{1024, UInt8}
end

struct vbn_explain_attr <: Struct
    struct_size::Csize_t
    set::UInt64
    driver_name::Cstring
    driver::Int32
    status::Int32
    vendor_err::UInt32
    opcode::UInt32
    qp_num::UInt32
    peer_qp_num::UInt32
    peer_gid::NTuple{16, UInt8}
    context::Ptr{vbn_context}
end

struct vbn_flow_attr <: Struct
    struct_size::Csize_t
    type::Int32
    flags::UInt32
    priority::UInt16
    port_num::UInt8
    reserved0::NTuple{5, UInt8}
end

struct vbn_flow_fields <: Struct
    dst_mac::NTuple{6, UInt8}
    src_mac::NTuple{6, UInt8}
    ether_type::UInt16
    vlan_tag::UInt16
    src_ip::NTuple{16, UInt8}
    dst_ip::NTuple{16, UInt8}
    flow_label::UInt32
    src_port::UInt16
    dst_port::UInt16
    tunnel_id::UInt32
    esp_spi::UInt32
    esp_seq::UInt32
    mpls_label::UInt32
    gre_key::UInt32
    gre_flags::UInt16
    gre_protocol::UInt16
    protocol::UInt8
    tos::UInt8
    ttl::UInt8
    ip_flags::UInt8
end

struct vbn_gpu_pointer_info <: Struct
    struct_size::Csize_t
    base::UInt64
    size::UInt64
    range_base::UInt64
    range_size::UInt64
    buffer_id::UInt64
    context::Ptr{Cvoid}
    kind::Int32
    memory::Int32
    device::Int32
    allocation::Int32
    rdma_capable::Int32
    mapped::Int32
end

struct vbn_gpu_device_info <: Struct
    struct_size::Csize_t
    bar_size::UInt64
    kind::Int32
    device::Int32
    dmabuf::Int32
    gpudirect_rdma::Int32
    gpudirect_rdma_vmm::Int32
    writes_ordering::Int32
    flush_options::Int32
    numa_node::Int32
    driver_version::Int32
    reserved0::UInt32
    pci_address::NTuple{32, UInt8}
    name::NTuple{128, UInt8}
end

struct vbn_gpu_dmabuf_attr <: Struct
    struct_size::Csize_t
    flags::UInt64
end

struct vbn_gpu_dmabuf <: Struct
    struct_size::Csize_t
    fd::Int32
    kind::Int32
    offset::UInt64
    base::UInt64
    length::UInt64
end

struct vbn_gpu_mr_attr <: Struct
    struct_size::Csize_t
    flags::UInt64
    owner::Ptr{Cvoid}
    user_data::UInt64
    paths::UInt32
    kind::Int32
end

struct vbn_gpu_attempt <: Struct
    path::UInt32
    outcome::Int32
    status::Int32
    sys_errno::Int32
    vendor_domain::Int32
    segment::UInt32
    vendor_code::Int64
    reason::NTuple{320, UInt8}
end

struct vbn_dltensor <: Struct
    data::Ptr{Cvoid}
    device_type::Int32
    device_id::Int32
    ndim::Int32
    dtype_code::UInt8
    dtype_bits::UInt8
    dtype_lanes::UInt16
    shape::Ptr{Int64}
    strides::Ptr{Int64}
    byte_offset::UInt64
end

struct vbn_library_attr <: Struct
    struct_size::Csize_t
    library::Int32
    reserved0::UInt32
    path::Cstring
    handle::Ptr{Cvoid}
    lookup::vbn_lookup_fn
    lookup_arg::Ptr{Cvoid}
end

struct vbn_library_info <: Struct
    struct_size::Csize_t
    library::Int32
    loaded::UInt8
    reserved0::NTuple{3, UInt8}
    source::Int32
    fork_state::Int32
    release_min::UInt32
    release_below::UInt32
    missing_count::UInt32
    copies::UInt32
    path::NTuple{512, UInt8}
    error::NTuple{512, UInt8}
    other_path::NTuple{512, UInt8}
end

struct vbn_symbol_info <: Struct
    struct_size::Csize_t
    name::NTuple{64, UInt8}
    version::NTuple{32, UInt8}
    since::NTuple{16, UInt8}
    needed_by::NTuple{128, UInt8}
    required::UInt8
    reserved0::NTuple{7, UInt8}
end

struct vbn_mr_attr <: Struct
    struct_size::Csize_t
    set::UInt64
    iova::UInt64
    owner::Ptr{Cvoid}
    user_data::UInt64
end

struct vbn_mr_rereg_attr <: Struct
    struct_size::Csize_t
    set::UInt64
    pd::Ptr{vbn_pd}
    addr::Ptr{Cvoid}
    length::UInt64
    owner::Ptr{Cvoid}
    access::UInt64
end

struct vbn_sge <: Struct
    addr::UInt64
    length::UInt32
    lkey::UInt32
end

struct vbn_mr_info <: Struct
    struct_size::Csize_t
    user_data::UInt64
    owner::Ptr{Cvoid}
    memory::Ptr{Cvoid}
    addr::UInt64
    remote_addr::UInt64
    length::UInt64
    access::UInt64
    lkey::UInt32
    rkey::UInt32
    handle::UInt32
    kind::Int32
    lost::UInt8
    reserved0::NTuple{7, UInt8}
end

struct vbn_mr_set_attr <: Struct
    struct_size::Csize_t
    place_set::UInt64
    owner::Ptr{Cvoid}
    user_data::UInt64
    memory::Int32
    gpu::Int32
    numa_node::Int32
    pci_domain::UInt32
    pci_bus::UInt8
    pci_device::UInt8
    pci_function::UInt8
    take::UInt8
    reserved0::NTuple{4, UInt8}
end

struct vbn_mr_set_info <: Struct
    struct_size::Csize_t
    place_set::UInt64
    owner::Ptr{Cvoid}
    user_data::UInt64
    length::UInt64
    count::UInt32
    memory::Int32
    gpu::Int32
    numa_node::Int32
    pci_domain::UInt32
    pci_bus::UInt8
    pci_device::UInt8
    pci_function::UInt8
    takes::UInt8
    lost::UInt8
    reserved0::NTuple{7, UInt8}
end

struct vbn_mr_entry <: Struct
    struct_size::Csize_t
    mr::Ptr{vbn_mr}
    offset::UInt64
    addr::UInt64
    length::UInt64
    lkey::UInt32
    rkey::UInt32
end

struct vbn_mw_attr <: Struct
    struct_size::Csize_t
    user_data::UInt64
end

struct vbn_mw_info <: Struct
    struct_size::Csize_t
    user_data::UInt64
    rkey::UInt32
    handle::UInt32
    mw_type::Int32
    reserved0::UInt32
end

struct vbn_mw_bind_attr <: Struct
    struct_size::Csize_t
    wr_id::UInt64
    flags::UInt64
    mr::Ptr{vbn_mr}
    addr::UInt64
    length::UInt64
    access::UInt64
end

struct vbn_pd_info <: Struct
    struct_size::Csize_t
    user_data::UInt64
    handle::UInt32
    reserved0::UInt32
end

struct vbn_peer_info <: Struct
    struct_size::Csize_t
    user_data::UInt64
    qp_num::UInt32
    qkey::UInt32
end

struct vbn_qp_prepare_attr <: Struct
    struct_size::Csize_t
    set::UInt64
    qkey::UInt32
    psn::UInt32
    pkey_index::UInt16
    port_num::UInt8
    rnr_retry::UInt8
    reserved0::UInt32
end

struct vbn_ece <: Struct
    struct_size::Csize_t
    vendor_id::UInt32
    options::UInt32
    comp_mask::UInt32
    reserved0::UInt32
end

struct vbn_qp_rate_limit_attr <: Struct
    struct_size::Csize_t
    rate_limit::UInt32
    max_burst_sz::UInt32
    typical_pkt_sz::UInt16
    reserved0::UInt16
    reserved1::UInt32
end

struct vbn_rc_attr <: Struct
    struct_size::Csize_t
    set::UInt64
    access::UInt32
    psn::UInt32
    path_mtu::Int32
    flow_label::UInt32
    pkey_index::UInt16
    port_num::UInt8
    sgid_index::UInt8
    hop_limit::UInt8
    traffic_class::UInt8
    sl::UInt8
    src_path_bits::UInt8
    static_rate::UInt8
    is_global::UInt8
    min_rnr_timer::UInt8
    max_dest_rd_atomic::UInt8
    timeout::UInt8
    retry_cnt::UInt8
    rnr_retry::UInt8
    max_rd_atomic::UInt8
end

struct vbn_rc_record <: Struct
    qp_num::UInt32
    psn::UInt32
    lid::UInt16
    port_num::UInt8
    mtu::UInt8
    gid::NTuple{16, UInt8}
    reserved0::UInt32
end

struct vbn_region_info_attr <: Struct
    struct_size::Csize_t
    offset::UInt64
    length::UInt64
    port_num::UInt8
    reserved0::NTuple{7, UInt8}
end

struct vbn_region_nic <: Struct
    gid::NTuple{16, UInt8}
end

struct vbn_region_entry <: Struct
    addr::UInt64
    length::UInt64
    rkey::UInt32
    nic::UInt32
end

struct vbn_srq_attr <: Struct
    struct_size::Csize_t
    user_data::UInt64
    max_wr::UInt32
    max_sge::UInt32
    limit::UInt32
    srq_type::Int32
    xrcd::Ptr{Cvoid}
    cq::Ptr{vbn_cq}
    max_num_tags::UInt32
    max_ops::UInt32
end

struct vbn_srq_info <: Struct
    struct_size::Csize_t
    user_data::UInt64
    max_wr::UInt32
    max_sge::UInt32
    limit::UInt32
    srq_type::Int32
    srq_num::UInt32
    handle::UInt32
end

struct vbn_srq_modify_attr <: Struct
    struct_size::Csize_t
    set::UInt64
    max_wr::UInt32
    limit::UInt32
end

struct vbn_td_attr <: Struct
    struct_size::Csize_t
    reserved0::UInt64
end

struct vbn_distance_attr <: Struct
    struct_size::Csize_t
    gpu::Cstring
    nic::Cstring
    context::Ptr{vbn_context}
    sysfs::Cstring
    gpu_kind::Int32
    gpu_device::Int32
end

struct vbn_distance_info <: Struct
    struct_size::Csize_t
    distance::Int32
    gpu_numa_node::Int32
    nic_numa_node::Int32
    numa_distance::UInt32
    gpu_bridges::UInt32
    nic_bridges::UInt32
    gpu::NTuple{32, UInt8}
    nic::NTuple{32, UInt8}
    common::NTuple{32, UInt8}
    nic_name::NTuple{64, UInt8}
    reason::NTuple{256, UInt8}
end

struct vbn_bind_mw_ext <: Struct
    mw::Ptr{vbn_mw}
    mr::Ptr{vbn_mr}
    addr::UInt64
    length::UInt64
    access::UInt64
    rkey::UInt32
    reserved0::UInt32
end

struct vbn_flush_ext <: Struct
    length::UInt64
    type::UInt32
    level::UInt32
end

struct vbn_ah_attr <: Struct
    struct_size::Csize_t
    user_data::UInt64
    path::vbn_path
end

struct vbn_ah_info <: Struct
    struct_size::Csize_t
    user_data::UInt64
    path::vbn_path
    handle::UInt32
    is_shared::UInt8
    reserved0::NTuple{3, UInt8}
end

struct vbn_cm_event <: Struct
    struct_size::Csize_t
    type::Int32
    status::Int32
    user_data::UInt64
    known::UInt8
    responder_resources::UInt8
    initiator_depth::UInt8
    flow_control::UInt8
    retry_count::UInt8
    rnr_retry_count::UInt8
    srq::UInt8
    has_peer::UInt8
    qp_num::UInt32
    qkey::UInt32
    path::vbn_path
    private_data_len::UInt32
    private_data::NTuple{256, UInt8}
    reserved0::UInt32
end

struct vbn_cm_id_info <: Struct
    struct_size::Csize_t
    user_data::UInt64
    port_space::Int32
    qp_type::Int32
    qp_num::UInt32
    port_num::UInt8
    has_device::UInt8
    has_qp::UInt8
    reserved0::UInt8
    device::NTuple{64, UInt8}
    var"local"::vbn_cm_addr
    peer::vbn_cm_addr
    max_connect_data::UInt32
    max_accept_data::UInt32
    max_reject_data::UInt32
    reserved1::UInt32
end

struct vbn_wc_ext <: Struct
    wc::vbn_wc
    fields::UInt64
    timestamp::UInt64
    wallclock_ns::UInt64
    sgid::NTuple{16, UInt8}
    flow_tag::UInt32
    cvlan::UInt16
    unsolicited::UInt8
    reserved0::UInt8
    reserved1::NTuple{4, UInt64}
end

struct vbn_endpoint_info <: Struct
    struct_size::Csize_t
    set::UInt64
    incarnation::UInt64
    max_message::UInt64
    qp_type::Int32
    qp_num::UInt32
    psn::UInt32
    qkey::UInt32
    efa_generation::UInt32
    ece_vendor_id::UInt32
    ece_options::UInt32
    ece_comp_mask::UInt32
    lid::UInt16
    port_num::UInt8
    mtu::UInt8
    max_rd_atomic::UInt8
    max_dest_rd_atomic::UInt8
    unsolicited::UInt8
    num_gids::UInt8
    gids::NTuple{8, vbn_endpoint_gid}
end

struct vbn_flow_spec <: Struct
    type::Int32
    tag::UInt32
    counters::Ptr{vbn_counters}
    value::vbn_flow_fields
    mask::vbn_flow_fields
    reserved::NTuple{4, UInt64}
end

struct vbn_gpu_mr_report <: Struct
    struct_size::Csize_t
    buffer_id::UInt64
    path::UInt32
    count::UInt32
    kind::Int32
    device::Int32
    allocation::Int32
    segments::UInt32
    num_attempts::UInt32
    reserved0::UInt32
    attempts::NTuple{5, vbn_gpu_attempt}
end

struct vbn_peer_attr <: Struct
    struct_size::Csize_t
    user_data::UInt64
    ah::Ptr{vbn_ah}
    qp_num::UInt32
    qkey::UInt32
    path::vbn_path
end

struct vbn_qp_info <: Struct
    struct_size::Csize_t
    user_data::UInt64
    send_ops::UInt64
    qp_num::UInt32
    qp_type::Int32
    qp_state::Int32
    path_mtu::Int32
    path_mig_state::Int32
    qkey::UInt32
    rq_psn::UInt32
    sq_psn::UInt32
    dest_qp_num::UInt32
    qp_access_flags::UInt32
    max_send_wr::UInt32
    max_recv_wr::UInt32
    max_send_sge::UInt32
    max_recv_sge::UInt32
    max_inline_data::UInt32
    max_message::UInt32
    rate_limit::UInt32
    pkey_index::UInt16
    alt_pkey_index::UInt16
    path::vbn_path
    alt_path::vbn_path
    sq_sig_all::UInt8
    sq_draining::UInt8
    max_rd_atomic::UInt8
    max_dest_rd_atomic::UInt8
    min_rnr_timer::UInt8
    port_num::UInt8
    timeout::UInt8
    retry_cnt::UInt8
    rnr_retry::UInt8
    alt_timeout::UInt8
    reserved0::NTuple{2, UInt8}
    max_rdma::UInt32
    flags::UInt64
    post_path::Int32
    has_srq::UInt8
    reserved1::NTuple{3, UInt8}
end

struct vbn_qp_attr <: Struct
    struct_size::Csize_t
    set::UInt64
    qp_state::Int32
    cur_qp_state::Int32
    path_mtu::Int32
    path_mig_state::Int32
    qkey::UInt32
    rq_psn::UInt32
    sq_psn::UInt32
    dest_qp_num::UInt32
    qp_access_flags::UInt32
    max_send_wr::UInt32
    max_recv_wr::UInt32
    max_send_sge::UInt32
    max_recv_sge::UInt32
    max_inline_data::UInt32
    rate_limit::UInt32
    pkey_index::UInt16
    alt_pkey_index::UInt16
    path::vbn_path
    alt_path::vbn_path
    en_sqd_async_notify::UInt8
    max_rd_atomic::UInt8
    max_dest_rd_atomic::UInt8
    min_rnr_timer::UInt8
    port_num::UInt8
    timeout::UInt8
    retry_cnt::UInt8
    rnr_retry::UInt8
    alt_timeout::UInt8
    reserved0::NTuple{7, UInt8}
end

struct vbn_send_wr <: Struct
    wr_id::UInt64
    flags::UInt64
    opcode::UInt32
    num_sge::UInt32
    sg_list::Ptr{vbn_sge}
    sge::vbn_sge
    remote_addr::UInt64
    rkey::UInt32
    imm::UInt32
    peer::Ptr{vbn_peer}
    invalidate_rkey::UInt32
    remote_srqn::UInt32
    compare_add::UInt64
    swap::UInt64
    ext::Ptr{Cvoid}
    reserved::NTuple{3, UInt64}
end

struct vbn_recv_wr <: Struct
    wr_id::UInt64
    flags::UInt64
    sg_list::Ptr{vbn_sge}
    sge::vbn_sge
    num_sge::UInt32
    reserved0::UInt32
    ext::Ptr{Cvoid}
    reserved1::UInt64
end

struct vbn_region_info <: Struct
    struct_size::Csize_t
    set::UInt64
    place_set::UInt64
    length::UInt64
    access::UInt64
    memory::Int32
    gpu::Int32
    numa_node::Int32
    pci_domain::UInt32
    pci_bus::UInt8
    pci_device::UInt8
    pci_function::UInt8
    num_nics::UInt8
    num_entries::UInt8
    reserved0::NTuple{3, UInt8}
    nics::NTuple{8, vbn_region_nic}
    entries::NTuple{30, vbn_region_entry}
end

struct vbn_split_attr <: Struct
    struct_size::Csize_t
    wr_id::UInt64
    flags::UInt64
    last_flags::UInt64
    mr::Ptr{vbn_mr}
    local_addr::UInt64
    local_length::UInt64
    offset::UInt64
    length::UInt64
    remote_addr::UInt64
    remote_length::UInt64
    remote_offset::UInt64
    chunk::UInt64
    peer::Ptr{vbn_peer}
    opcode::UInt32
    rkey::UInt32
    lkey::UInt32
    imm::UInt32
    mr_set::Ptr{vbn_mr_set}
    region::Ptr{vbn_region_info}
    nic::UInt32
    reserved0::UInt32
end

vbn_ah_create(pd, attr, out) = @ccall libverbena.vbn_ah_create(pd::Ptr{vbn_pd}, attr::Ptr{vbn_ah_attr}, out::Ptr{Ptr{vbn_ah}})::vbn_status
vbn_ah_from_wc(pd, wc, grh, port_num, out) = @ccall libverbena.vbn_ah_from_wc(pd::Ptr{vbn_pd}, wc::Ptr{vbn_wc}, grh::Ptr{Cvoid}, port_num::UInt32, out::Ptr{Ptr{vbn_ah}})::vbn_status
vbn_ah_close(ah) = @ccall libverbena.vbn_ah_close(ah::Ptr{Ptr{vbn_ah}})::vbn_status
vbn_ah_query(ah, info) = @ccall libverbena.vbn_ah_query(ah::Ptr{vbn_ah}, info::Ptr{vbn_ah_info})::vbn_status
vbn_ah_native(ah, native_out) = @ccall libverbena.vbn_ah_native(ah::Ptr{vbn_ah}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_ah_release(ah, native_out) = @ccall libverbena.vbn_ah_release(ah::Ptr{Ptr{vbn_ah}}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_ah_adopt(pd, native, attr, out) = @ccall libverbena.vbn_ah_adopt(pd::Ptr{vbn_pd}, native::Ptr{Cvoid}, attr::Ptr{vbn_adopt_attr}, out::Ptr{Ptr{vbn_ah}})::vbn_status
vbn_pd_trim_ahs(pd, keep, count) = @ccall libverbena.vbn_pd_trim_ahs(pd::Ptr{vbn_pd}, keep::UInt32, count::Ptr{UInt32})::vbn_status
vbn_context_caps(context, caps) = @ccall libverbena.vbn_context_caps(context::Ptr{vbn_context}, caps::Ptr{vbn_caps})::vbn_status
vbn_caps_reason(caps, cap, text, capacity, needed_out) = @ccall libverbena.vbn_caps_reason(caps::Ptr{vbn_caps}, cap::UInt64, text::Ptr{UInt8}, capacity::Csize_t, needed_out::Ptr{Csize_t})::vbn_status
vbn_device_find(required, devices, entry_size, capacity, count_out) = @ccall libverbena.vbn_device_find(required::UInt64, devices::Ptr{vbn_device_match}, entry_size::Csize_t, capacity::UInt32, count_out::Ptr{UInt32})::vbn_status
vbn_channel_create(context, attr, out) = @ccall libverbena.vbn_channel_create(context::Ptr{vbn_context}, attr::Ptr{vbn_channel_attr}, out::Ptr{Ptr{vbn_channel}})::vbn_status
vbn_channel_close(channel) = @ccall libverbena.vbn_channel_close(channel::Ptr{Ptr{vbn_channel}})::vbn_status
vbn_channel_query(channel, info) = @ccall libverbena.vbn_channel_query(channel::Ptr{vbn_channel}, info::Ptr{vbn_channel_info})::vbn_status
vbn_channel_fd(channel) = @ccall libverbena.vbn_channel_fd(channel::Ptr{vbn_channel})::Int32
vbn_channel_get_event(channel, timeout_ns, event) = @ccall libverbena.vbn_channel_get_event(channel::Ptr{vbn_channel}, timeout_ns::Int64, event::Ptr{vbn_cq_event})::vbn_status
vbn_channel_native(channel, native_out) = @ccall libverbena.vbn_channel_native(channel::Ptr{vbn_channel}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_channel_release(channel, native_out) = @ccall libverbena.vbn_channel_release(channel::Ptr{Ptr{vbn_channel}}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_channel_adopt(context, native, attr, out) = @ccall libverbena.vbn_channel_adopt(context::Ptr{vbn_context}, native::Ptr{Cvoid}, attr::Ptr{vbn_adopt_attr}, out::Ptr{Ptr{vbn_channel}})::vbn_status
vbn_cm_channel_create(attr, out) = @ccall libverbena.vbn_cm_channel_create(attr::Ptr{vbn_cm_channel_attr}, out::Ptr{Ptr{vbn_cm_channel}})::vbn_status
vbn_cm_channel_close(channel) = @ccall libverbena.vbn_cm_channel_close(channel::Ptr{Ptr{vbn_cm_channel}})::vbn_status
vbn_cm_channel_query(channel, info) = @ccall libverbena.vbn_cm_channel_query(channel::Ptr{vbn_cm_channel}, info::Ptr{vbn_cm_channel_info})::vbn_status
vbn_cm_channel_fd(channel) = @ccall libverbena.vbn_cm_channel_fd(channel::Ptr{vbn_cm_channel})::Int32
vbn_cm_channel_get_event(channel, timeout_ns, event, id_out) = @ccall libverbena.vbn_cm_channel_get_event(channel::Ptr{vbn_cm_channel}, timeout_ns::Int64, event::Ptr{vbn_cm_event}, id_out::Ptr{Ptr{vbn_cm_id}})::vbn_status
vbn_cm_channel_native(channel, native_out) = @ccall libverbena.vbn_cm_channel_native(channel::Ptr{vbn_cm_channel}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_cm_channel_release(channel, native_out) = @ccall libverbena.vbn_cm_channel_release(channel::Ptr{Ptr{vbn_cm_channel}}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_cm_channel_adopt(native, attr, out) = @ccall libverbena.vbn_cm_channel_adopt(native::Ptr{Cvoid}, attr::Ptr{vbn_adopt_attr}, out::Ptr{Ptr{vbn_cm_channel}})::vbn_status
vbn_cm_id_create(channel, attr, out) = @ccall libverbena.vbn_cm_id_create(channel::Ptr{vbn_cm_channel}, attr::Ptr{vbn_cm_id_attr}, out::Ptr{Ptr{vbn_cm_id}})::vbn_status
vbn_cm_id_close(id) = @ccall libverbena.vbn_cm_id_close(id::Ptr{Ptr{vbn_cm_id}})::vbn_status
vbn_cm_id_query(id, info) = @ccall libverbena.vbn_cm_id_query(id::Ptr{vbn_cm_id}, info::Ptr{vbn_cm_id_info})::vbn_status
vbn_cm_id_set_user_data(id, user_data) = @ccall libverbena.vbn_cm_id_set_user_data(id::Ptr{vbn_cm_id}, user_data::UInt64)::vbn_status
vbn_cm_id_bind(id, addr) = @ccall libverbena.vbn_cm_id_bind(id::Ptr{vbn_cm_id}, addr::Ptr{vbn_cm_addr})::vbn_status
vbn_cm_id_listen(id, backlog) = @ccall libverbena.vbn_cm_id_listen(id::Ptr{vbn_cm_id}, backlog::UInt32)::vbn_status
vbn_cm_id_resolve_addr(id, source, target, timeout_ns) = @ccall libverbena.vbn_cm_id_resolve_addr(id::Ptr{vbn_cm_id}, source::Ptr{vbn_cm_addr}, target::Ptr{vbn_cm_addr}, timeout_ns::Int64)::vbn_status
vbn_cm_id_resolve_route(id, timeout_ns) = @ccall libverbena.vbn_cm_id_resolve_route(id::Ptr{vbn_cm_id}, timeout_ns::Int64)::vbn_status
vbn_cm_id_resolve(id, source, target, timeout_ns) = @ccall libverbena.vbn_cm_id_resolve(id::Ptr{vbn_cm_id}, source::Ptr{vbn_cm_addr}, target::Ptr{vbn_cm_addr}, timeout_ns::Int64)::vbn_status
vbn_cm_id_context(id, attr, out) = @ccall libverbena.vbn_cm_id_context(id::Ptr{vbn_cm_id}, attr::Ptr{vbn_context_attr}, out::Ptr{Ptr{vbn_context}})::vbn_status
vbn_cm_id_pd(id, context, attr, out) = @ccall libverbena.vbn_cm_id_pd(id::Ptr{vbn_cm_id}, context::Ptr{vbn_context}, attr::Ptr{vbn_pd_attr}, out::Ptr{Ptr{vbn_pd}})::vbn_status
vbn_cm_id_create_qp(id, pd, attr, out) = @ccall libverbena.vbn_cm_id_create_qp(id::Ptr{vbn_cm_id}, pd::Ptr{vbn_pd}, attr::Ptr{vbn_qp_init_attr}, out::Ptr{Ptr{vbn_qp}})::vbn_status
vbn_cm_id_connect(id, attr) = @ccall libverbena.vbn_cm_id_connect(id::Ptr{vbn_cm_id}, attr::Ptr{vbn_cm_conn_attr})::vbn_status
vbn_cm_id_accept(id, attr) = @ccall libverbena.vbn_cm_id_accept(id::Ptr{vbn_cm_id}, attr::Ptr{vbn_cm_conn_attr})::vbn_status
vbn_cm_id_reject(id, private_data, length) = @ccall libverbena.vbn_cm_id_reject(id::Ptr{vbn_cm_id}, private_data::Ptr{Cvoid}, length::UInt64)::vbn_status
vbn_cm_id_disconnect(id) = @ccall libverbena.vbn_cm_id_disconnect(id::Ptr{vbn_cm_id})::vbn_status
vbn_cm_id_native(id, native_out) = @ccall libverbena.vbn_cm_id_native(id::Ptr{vbn_cm_id}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_cm_id_release(id, native_out) = @ccall libverbena.vbn_cm_id_release(id::Ptr{Ptr{vbn_cm_id}}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_cm_id_adopt(channel, native, attr, out) = @ccall libverbena.vbn_cm_id_adopt(channel::Ptr{vbn_cm_channel}, native::Ptr{Cvoid}, attr::Ptr{vbn_adopt_attr}, out::Ptr{Ptr{vbn_cm_id}})::vbn_status
vbn_cm_event_check(event) = @ccall libverbena.vbn_cm_event_check(event::Ptr{vbn_cm_event})::vbn_status
vbn_cm_addr_parse(host, port, addr) = @ccall libverbena.vbn_cm_addr_parse(host::Cstring, port::UInt32, addr::Ptr{vbn_cm_addr})::vbn_status
vbn_cm_addr_format(addr, host, size, port) = @ccall libverbena.vbn_cm_addr_format(addr::Ptr{vbn_cm_addr}, host::Ptr{UInt8}, size::Csize_t, port::Ptr{UInt32})::vbn_status
vbn_context_open(name, attr, out) = @ccall libverbena.vbn_context_open(name::Cstring, attr::Ptr{vbn_context_attr}, out::Ptr{Ptr{vbn_context}})::vbn_status
vbn_context_close(context) = @ccall libverbena.vbn_context_close(context::Ptr{Ptr{vbn_context}})::vbn_status
vbn_context_query(context, info) = @ccall libverbena.vbn_context_query(context::Ptr{vbn_context}, info::Ptr{vbn_context_info})::vbn_status
vbn_context_query_device(context, attr) = @ccall libverbena.vbn_context_query_device(context::Ptr{vbn_context}, attr::Ptr{vbn_device_attr})::vbn_status
vbn_context_export(context, fd_out) = @ccall libverbena.vbn_context_export(context::Ptr{vbn_context}, fd_out::Ptr{Int32})::vbn_status
vbn_context_import(fd, attr, out) = @ccall libverbena.vbn_context_import(fd::Int32, attr::Ptr{vbn_context_attr}, out::Ptr{Ptr{vbn_context}})::vbn_status
vbn_context_query_rt_values(context, values) = @ccall libverbena.vbn_context_query_rt_values(context::Ptr{vbn_context}, values::Ptr{vbn_rt_values})::vbn_status
vbn_context_query_port(context, port_num, attr) = @ccall libverbena.vbn_context_query_port(context::Ptr{vbn_context}, port_num::UInt32, attr::Ptr{vbn_port_attr})::vbn_status
vbn_context_query_gid(context, port_num, index, gid_out) = @ccall libverbena.vbn_context_query_gid(context::Ptr{vbn_context}, port_num::UInt32, index::UInt32, gid_out::Ptr{UInt8})::vbn_status
vbn_context_gid_table(context, entries, entry_size, capacity, count_out) = @ccall libverbena.vbn_context_gid_table(context::Ptr{vbn_context}, entries::Ptr{vbn_gid_entry}, entry_size::Csize_t, capacity::UInt32, count_out::Ptr{UInt32})::vbn_status
vbn_context_query_pkey(context, port_num, index, pkey_out) = @ccall libverbena.vbn_context_query_pkey(context::Ptr{vbn_context}, port_num::UInt32, index::UInt32, pkey_out::Ptr{UInt16})::vbn_status
vbn_context_get_async_event(context, timeout_ns, event) = @ccall libverbena.vbn_context_get_async_event(context::Ptr{vbn_context}, timeout_ns::Int64, event::Ptr{vbn_async_event})::vbn_status
vbn_context_live(context, info) = @ccall libverbena.vbn_context_live(context::Ptr{vbn_context}, info::Ptr{vbn_live_info})::vbn_status
vbn_context_native(context, native_out) = @ccall libverbena.vbn_context_native(context::Ptr{vbn_context}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_context_release(context, native_out) = @ccall libverbena.vbn_context_release(context::Ptr{Ptr{vbn_context}}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_context_adopt(native, attr, out) = @ccall libverbena.vbn_context_adopt(native::Ptr{Cvoid}, attr::Ptr{vbn_adopt_attr}, out::Ptr{Ptr{vbn_context}})::vbn_status
vbn_gid_select(context, port_num, attr, choice, verdicts, entry_size, capacity, count_out) = @ccall libverbena.vbn_gid_select(context::Ptr{vbn_context}, port_num::UInt32, attr::Ptr{vbn_gid_select_attr}, choice::Ptr{vbn_gid_choice}, verdicts::Ptr{vbn_gid_verdict}, entry_size::Csize_t, capacity::UInt32, count_out::Ptr{UInt32})::vbn_status
vbn_counters_create(context, attr, out) = @ccall libverbena.vbn_counters_create(context::Ptr{vbn_context}, attr::Ptr{vbn_counters_attr}, out::Ptr{Ptr{vbn_counters}})::vbn_status
vbn_counters_close(counters) = @ccall libverbena.vbn_counters_close(counters::Ptr{Ptr{vbn_counters}})::vbn_status
vbn_counters_attach(counters, flow, counter, index) = @ccall libverbena.vbn_counters_attach(counters::Ptr{vbn_counters}, flow::Ptr{vbn_flow}, counter::Int32, index::UInt32)::vbn_status
vbn_counters_read(counters, values, count, flags) = @ccall libverbena.vbn_counters_read(counters::Ptr{vbn_counters}, values::Ptr{UInt64}, count::Csize_t, flags::UInt32)::vbn_status
vbn_counters_native(counters, native_out) = @ccall libverbena.vbn_counters_native(counters::Ptr{vbn_counters}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_counters_release(counters, native_out) = @ccall libverbena.vbn_counters_release(counters::Ptr{Ptr{vbn_counters}}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_counters_adopt(context, native, attr, out) = @ccall libverbena.vbn_counters_adopt(context::Ptr{vbn_context}, native::Ptr{Cvoid}, attr::Ptr{vbn_adopt_attr}, out::Ptr{Ptr{vbn_counters}})::vbn_status
vbn_cq_create(context, attr, out) = @ccall libverbena.vbn_cq_create(context::Ptr{vbn_context}, attr::Ptr{vbn_cq_attr}, out::Ptr{Ptr{vbn_cq}})::vbn_status
vbn_cq_close(cq) = @ccall libverbena.vbn_cq_close(cq::Ptr{Ptr{vbn_cq}})::vbn_status
vbn_cq_query(cq, info) = @ccall libverbena.vbn_cq_query(cq::Ptr{vbn_cq}, info::Ptr{vbn_cq_info})::vbn_status
vbn_cq_modify(cq, attr) = @ccall libverbena.vbn_cq_modify(cq::Ptr{vbn_cq}, attr::Ptr{vbn_cq_modify_attr})::vbn_status
vbn_cq_resize(cq, cqe) = @ccall libverbena.vbn_cq_resize(cq::Ptr{vbn_cq}, cqe::UInt32)::vbn_status
vbn_cq_arm(cq, solicited_only) = @ccall libverbena.vbn_cq_arm(cq::Ptr{vbn_cq}, solicited_only::UInt8)::vbn_status
vbn_cq_poll(cq, n, wcs, got) = @ccall libverbena.vbn_cq_poll(cq::Ptr{vbn_cq}, n::UInt32, wcs::Ptr{vbn_wc}, got::Ptr{UInt32})::vbn_status
vbn_cq_poll_ext(cq, n, out, stride, got) = @ccall libverbena.vbn_cq_poll_ext(cq::Ptr{vbn_cq}, n::UInt32, out::Ptr{vbn_wc_ext}, stride::Csize_t, got::Ptr{UInt32})::vbn_status
vbn_cq_wait(cq, n, wcs, busy_ns, timeout_ns, got) = @ccall libverbena.vbn_cq_wait(cq::Ptr{vbn_cq}, n::UInt32, wcs::Ptr{vbn_wc}, busy_ns::Int64, timeout_ns::Int64, got::Ptr{UInt32})::vbn_status
vbn_wc_check(wc) = @ccall libverbena.vbn_wc_check(wc::Ptr{vbn_wc})::vbn_status
vbn_cq_native(cq, native_out) = @ccall libverbena.vbn_cq_native(cq::Ptr{vbn_cq}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_cq_release(cq, native_out) = @ccall libverbena.vbn_cq_release(cq::Ptr{Ptr{vbn_cq}}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_cq_adopt(context, native, attr, out) = @ccall libverbena.vbn_cq_adopt(context::Ptr{vbn_context}, native::Ptr{Cvoid}, attr::Ptr{vbn_adopt_attr}, out::Ptr{Ptr{vbn_cq}})::vbn_status
vbn_device_list(devices, entry_size, capacity, count_out) = @ccall libverbena.vbn_device_list(devices::Ptr{vbn_device_info}, entry_size::Csize_t, capacity::UInt32, count_out::Ptr{UInt32})::vbn_status
vbn_device_list_reason(info) = @ccall libverbena.vbn_device_list_reason(info::Ptr{vbn_device_list_reason_info})::vbn_status
vbn_dm_alloc(context, attr, out) = @ccall libverbena.vbn_dm_alloc(context::Ptr{vbn_context}, attr::Ptr{vbn_dm_attr}, out::Ptr{Ptr{vbn_dm}})::vbn_status
vbn_dm_close(dm) = @ccall libverbena.vbn_dm_close(dm::Ptr{Ptr{vbn_dm}})::vbn_status
vbn_dm_query(dm, info) = @ccall libverbena.vbn_dm_query(dm::Ptr{vbn_dm}, info::Ptr{vbn_dm_info})::vbn_status
vbn_dm_copy_to(dm, offset, from, length) = @ccall libverbena.vbn_dm_copy_to(dm::Ptr{vbn_dm}, offset::UInt64, from::Ptr{Cvoid}, length::Csize_t)::vbn_status
vbn_dm_copy_from(dm, offset, to, length) = @ccall libverbena.vbn_dm_copy_from(dm::Ptr{vbn_dm}, offset::UInt64, to::Ptr{Cvoid}, length::Csize_t)::vbn_status
vbn_dm_native(dm, native_out) = @ccall libverbena.vbn_dm_native(dm::Ptr{vbn_dm}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_dm_release(dm, native_out) = @ccall libverbena.vbn_dm_release(dm::Ptr{Ptr{vbn_dm}}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_dm_adopt(context, native, length, attr, out) = @ccall libverbena.vbn_dm_adopt(context::Ptr{vbn_context}, native::Ptr{Cvoid}, length::UInt64, attr::Ptr{vbn_adopt_attr}, out::Ptr{Ptr{vbn_dm}})::vbn_status
vbn_dm_import(context, handle, attr, out) = @ccall libverbena.vbn_dm_import(context::Ptr{vbn_context}, handle::UInt32, attr::Ptr{vbn_dm_attr}, out::Ptr{Ptr{vbn_dm}})::vbn_status
vbn_efa_query_device(context, info) = @ccall libverbena.vbn_efa_query_device(context::Ptr{vbn_context}, info::Ptr{vbn_efa_device_info})::vbn_status
vbn_efa_max_sq_depth(context, attr, depth) = @ccall libverbena.vbn_efa_max_sq_depth(context::Ptr{vbn_context}, attr::Ptr{vbn_efa_sq_attr}, depth::Ptr{UInt32})::vbn_status
vbn_efa_max_rq_depth(context, attr, depth) = @ccall libverbena.vbn_efa_max_rq_depth(context::Ptr{vbn_context}, attr::Ptr{vbn_efa_rq_attr}, depth::Ptr{UInt32})::vbn_status
vbn_efa_query_ah(ah, ahn) = @ccall libverbena.vbn_efa_query_ah(ah::Ptr{vbn_ah}, ahn::Ptr{UInt16})::vbn_status
vbn_efa_query_cq(cq, info) = @ccall libverbena.vbn_efa_query_cq(cq::Ptr{vbn_cq}, info::Ptr{vbn_efa_cq_info})::vbn_status
vbn_efa_query_qp(qp, sq, rq) = @ccall libverbena.vbn_efa_query_qp(qp::Ptr{vbn_qp}, sq::Ptr{vbn_efa_wq_info}, rq::Ptr{vbn_efa_wq_info})::vbn_status
vbn_efa_query_mr(mr, info) = @ccall libverbena.vbn_efa_query_mr(mr::Ptr{vbn_mr}, info::Ptr{vbn_efa_mr_info})::vbn_status
vbn_endpoint_local(qp, endpoint) = @ccall libverbena.vbn_endpoint_local(qp::Ptr{vbn_qp}, endpoint::Ptr{vbn_endpoint})::vbn_status
vbn_endpoint_encode(endpoint, bytes, size) = @ccall libverbena.vbn_endpoint_encode(endpoint::Ptr{vbn_endpoint}, bytes::Ptr{UInt8}, size::Csize_t)::vbn_status
vbn_endpoint_decode(bytes, size, endpoint) = @ccall libverbena.vbn_endpoint_decode(bytes::Ptr{UInt8}, size::Csize_t, endpoint::Ptr{vbn_endpoint})::vbn_status
vbn_endpoint_info_local(qp, attr, info) = @ccall libverbena.vbn_endpoint_info_local(qp::Ptr{vbn_qp}, attr::Ptr{vbn_endpoint_info_attr}, info::Ptr{vbn_endpoint_info})::vbn_status
vbn_endpoint_info_encode(info, bytes, capacity, size) = @ccall libverbena.vbn_endpoint_info_encode(info::Ptr{vbn_endpoint_info}, bytes::Ptr{UInt8}, capacity::Csize_t, size::Ptr{Csize_t})::vbn_status
vbn_endpoint_info_decode(bytes, size, info) = @ccall libverbena.vbn_endpoint_info_decode(bytes::Ptr{UInt8}, size::Csize_t, info::Ptr{vbn_endpoint_info})::vbn_status
vbn_last_error(info) = @ccall libverbena.vbn_last_error(info::Ptr{vbn_error_info})::vbn_status
vbn_status_name(status) = @ccall libverbena.vbn_status_name(status::vbn_status)::Cstring
vbn_status_text(status) = @ccall libverbena.vbn_status_text(status::vbn_status)::Cstring
vbn_explain(attr, text, capacity, needed) = @ccall libverbena.vbn_explain(attr::Ptr{vbn_explain_attr}, text::Ptr{UInt8}, capacity::Csize_t, needed::Ptr{Csize_t})::vbn_status
vbn_explain_error(error, more, text, capacity, needed) = @ccall libverbena.vbn_explain_error(error::Ptr{vbn_error_info}, more::Ptr{vbn_explain_attr}, text::Ptr{UInt8}, capacity::Csize_t, needed::Ptr{Csize_t})::vbn_status
vbn_flow_create(qp, attr, specs, count, out) = @ccall libverbena.vbn_flow_create(qp::Ptr{vbn_qp}, attr::Ptr{vbn_flow_attr}, specs::Ptr{vbn_flow_spec}, count::Csize_t, out::Ptr{Ptr{vbn_flow}})::vbn_status
vbn_flow_close(flow) = @ccall libverbena.vbn_flow_close(flow::Ptr{Ptr{vbn_flow}})::vbn_status
vbn_flow_native(flow, native_out) = @ccall libverbena.vbn_flow_native(flow::Ptr{vbn_flow}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_flow_release(flow, native_out) = @ccall libverbena.vbn_flow_release(flow::Ptr{Ptr{vbn_flow}}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_flow_adopt(qp, native, attr, out) = @ccall libverbena.vbn_flow_adopt(qp::Ptr{vbn_qp}, native::Ptr{Cvoid}, attr::Ptr{vbn_adopt_attr}, out::Ptr{Ptr{vbn_flow}})::vbn_status
vbn_gpu_pointer_query(kind, ptr, info) = @ccall libverbena.vbn_gpu_pointer_query(kind::Int32, ptr::UInt64, info::Ptr{vbn_gpu_pointer_info})::vbn_status
vbn_gpu_device_count(kind, count) = @ccall libverbena.vbn_gpu_device_count(kind::Int32, count::Ptr{UInt32})::vbn_status
vbn_gpu_device_query(kind, device, info) = @ccall libverbena.vbn_gpu_device_query(kind::Int32, device::Int32, info::Ptr{vbn_gpu_device_info})::vbn_status
vbn_gpu_dmabuf_export(kind, ptr, length, attr, out) = @ccall libverbena.vbn_gpu_dmabuf_export(kind::Int32, ptr::UInt64, length::UInt64, attr::Ptr{vbn_gpu_dmabuf_attr}, out::Ptr{vbn_gpu_dmabuf})::vbn_status
vbn_gpu_flush_writes(kind, device, scope, done) = @ccall libverbena.vbn_gpu_flush_writes(kind::Int32, device::Int32, scope::Int32, done::Ptr{Int32})::vbn_status
vbn_gpu_synchronize(kind, device) = @ccall libverbena.vbn_gpu_synchronize(kind::Int32, device::Int32)::vbn_status
vbn_gpu_mr_reg(pd, ptr, length, access, attr, out, report) = @ccall libverbena.vbn_gpu_mr_reg(pd::Ptr{vbn_pd}, ptr::UInt64, length::UInt64, access::UInt64, attr::Ptr{vbn_gpu_mr_attr}, out::Ptr{Ptr{vbn_mr_set}}, report::Ptr{vbn_gpu_mr_report})::vbn_status
vbn_gpu_mr_validate(set, state) = @ccall libverbena.vbn_gpu_mr_validate(set::Ptr{vbn_mr_set}, state::Ptr{Int32})::vbn_status
vbn_mr_reg_dltensor(pd, tensor, access, attr, out, report) = @ccall libverbena.vbn_mr_reg_dltensor(pd::Ptr{vbn_pd}, tensor::Ptr{vbn_dltensor}, access::UInt64, attr::Ptr{vbn_gpu_mr_attr}, out::Ptr{Ptr{vbn_mr_set}}, report::Ptr{vbn_gpu_mr_report})::vbn_status
vbn_version() = @ccall libverbena.vbn_version()::UInt32
vbn_version_string() = @ccall libverbena.vbn_version_string()::Cstring
vbn_library_init(attr) = @ccall libverbena.vbn_library_init(attr::Ptr{vbn_library_attr})::vbn_status
vbn_library_query(library, info) = @ccall libverbena.vbn_library_query(library::Int32, info::Ptr{vbn_library_info})::vbn_status
vbn_library_missing(library, index, info) = @ccall libverbena.vbn_library_missing(library::Int32, index::UInt32, info::Ptr{vbn_symbol_info})::vbn_status
vbn_fork_init() = @ccall libverbena.vbn_fork_init()::vbn_status
vbn_mr_reg(pd, addr, length, access, attr, out) = @ccall libverbena.vbn_mr_reg(pd::Ptr{vbn_pd}, addr::Ptr{Cvoid}, length::UInt64, access::UInt64, attr::Ptr{vbn_mr_attr}, out::Ptr{Ptr{vbn_mr}})::vbn_status
vbn_mr_reg_dmabuf(pd, fd, offset, length, iova, access, attr, out) = @ccall libverbena.vbn_mr_reg_dmabuf(pd::Ptr{vbn_pd}, fd::Int32, offset::UInt64, length::UInt64, iova::UInt64, access::UInt64, attr::Ptr{vbn_mr_attr}, out::Ptr{Ptr{vbn_mr}})::vbn_status
vbn_mr_alloc_null(pd, attr, out) = @ccall libverbena.vbn_mr_alloc_null(pd::Ptr{vbn_pd}, attr::Ptr{vbn_mr_attr}, out::Ptr{Ptr{vbn_mr}})::vbn_status
vbn_mr_reg_dm(pd, dm, offset, length, access, attr, out) = @ccall libverbena.vbn_mr_reg_dm(pd::Ptr{vbn_pd}, dm::Ptr{vbn_dm}, offset::UInt64, length::UInt64, access::UInt64, attr::Ptr{vbn_mr_attr}, out::Ptr{Ptr{vbn_mr}})::vbn_status
vbn_mr_import(pd, handle, attr, out) = @ccall libverbena.vbn_mr_import(pd::Ptr{vbn_pd}, handle::UInt32, attr::Ptr{vbn_mr_attr}, out::Ptr{Ptr{vbn_mr}})::vbn_status
vbn_mr_rereg(mr, attr) = @ccall libverbena.vbn_mr_rereg(mr::Ptr{vbn_mr}, attr::Ptr{vbn_mr_rereg_attr})::vbn_status
vbn_mr_advise(pd, advice, flags, sges, num_sge) = @ccall libverbena.vbn_mr_advise(pd::Ptr{vbn_pd}, advice::Int32, flags::UInt32, sges::Ptr{vbn_sge}, num_sge::UInt32)::vbn_status
vbn_mr_close(mr) = @ccall libverbena.vbn_mr_close(mr::Ptr{Ptr{vbn_mr}})::vbn_status
vbn_mr_query(mr, info) = @ccall libverbena.vbn_mr_query(mr::Ptr{vbn_mr}, info::Ptr{vbn_mr_info})::vbn_status
vbn_mr_lkey(mr) = @ccall libverbena.vbn_mr_lkey(mr::Ptr{vbn_mr})::UInt32
vbn_mr_rkey(mr) = @ccall libverbena.vbn_mr_rkey(mr::Ptr{vbn_mr})::UInt32
vbn_mr_remote_addr(mr) = @ccall libverbena.vbn_mr_remote_addr(mr::Ptr{vbn_mr})::UInt64
vbn_mr_segments(mr, offset, length, max_segment, sges, capacity, count_out, covered_out) = @ccall libverbena.vbn_mr_segments(mr::Ptr{vbn_mr}, offset::UInt64, length::UInt64, max_segment::UInt32, sges::Ptr{vbn_sge}, capacity::UInt32, count_out::Ptr{UInt32}, covered_out::Ptr{UInt64})::vbn_status
vbn_mr_native(mr, native_out) = @ccall libverbena.vbn_mr_native(mr::Ptr{vbn_mr}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_mr_release(mr, native_out) = @ccall libverbena.vbn_mr_release(mr::Ptr{Ptr{vbn_mr}}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_mr_adopt(pd, native, attr, out) = @ccall libverbena.vbn_mr_adopt(pd::Ptr{vbn_pd}, native::Ptr{Cvoid}, attr::Ptr{vbn_adopt_attr}, out::Ptr{Ptr{vbn_mr}})::vbn_status
vbn_mr_set_create(mrs, count, attr, out) = @ccall libverbena.vbn_mr_set_create(mrs::Ptr{Ptr{vbn_mr}}, count::UInt32, attr::Ptr{vbn_mr_set_attr}, out::Ptr{Ptr{vbn_mr_set}})::vbn_status
vbn_mr_set_close(set) = @ccall libverbena.vbn_mr_set_close(set::Ptr{Ptr{vbn_mr_set}})::vbn_status
vbn_mr_set_query(set, info) = @ccall libverbena.vbn_mr_set_query(set::Ptr{vbn_mr_set}, info::Ptr{vbn_mr_set_info})::vbn_status
vbn_mr_set_entry(set, index, entry) = @ccall libverbena.vbn_mr_set_entry(set::Ptr{vbn_mr_set}, index::UInt32, entry::Ptr{vbn_mr_entry})::vbn_status
vbn_mr_set_segment(set, offset, length, max_segment, sges, capacity, count_out, covered_out) = @ccall libverbena.vbn_mr_set_segment(set::Ptr{vbn_mr_set}, offset::UInt64, length::UInt64, max_segment::UInt32, sges::Ptr{vbn_sge}, capacity::UInt32, count_out::Ptr{UInt32}, covered_out::Ptr{UInt64})::vbn_status
vbn_mw_alloc(pd, type, attr, out) = @ccall libverbena.vbn_mw_alloc(pd::Ptr{vbn_pd}, type::Int32, attr::Ptr{vbn_mw_attr}, out::Ptr{Ptr{vbn_mw}})::vbn_status
vbn_mw_close(mw) = @ccall libverbena.vbn_mw_close(mw::Ptr{Ptr{vbn_mw}})::vbn_status
vbn_mw_query(mw, info) = @ccall libverbena.vbn_mw_query(mw::Ptr{vbn_mw}, info::Ptr{vbn_mw_info})::vbn_status
vbn_mw_rkey(mw) = @ccall libverbena.vbn_mw_rkey(mw::Ptr{vbn_mw})::UInt32
vbn_mw_set_rkey(mw, rkey) = @ccall libverbena.vbn_mw_set_rkey(mw::Ptr{vbn_mw}, rkey::UInt32)::vbn_status
vbn_mw_bind(qp, mw, attr, rkey_out) = @ccall libverbena.vbn_mw_bind(qp::Ptr{vbn_qp}, mw::Ptr{vbn_mw}, attr::Ptr{vbn_mw_bind_attr}, rkey_out::Ptr{UInt32})::vbn_status
vbn_mw_native(mw, native_out) = @ccall libverbena.vbn_mw_native(mw::Ptr{vbn_mw}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_mw_release(mw, native_out) = @ccall libverbena.vbn_mw_release(mw::Ptr{Ptr{vbn_mw}}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_mw_adopt(pd, native, attr, out) = @ccall libverbena.vbn_mw_adopt(pd::Ptr{vbn_pd}, native::Ptr{Cvoid}, attr::Ptr{vbn_adopt_attr}, out::Ptr{Ptr{vbn_mw}})::vbn_status
vbn_qp_type_name(value) = @ccall libverbena.vbn_qp_type_name(value::Int32)::Cstring
vbn_qp_state_name(value) = @ccall libverbena.vbn_qp_state_name(value::Int32)::Cstring
vbn_mtu_name(value) = @ccall libverbena.vbn_mtu_name(value::Int32)::Cstring
vbn_port_state_name(value) = @ccall libverbena.vbn_port_state_name(value::Int32)::Cstring
vbn_link_layer_name(value) = @ccall libverbena.vbn_link_layer_name(value::Int32)::Cstring
vbn_node_type_name(value) = @ccall libverbena.vbn_node_type_name(value::Int32)::Cstring
vbn_transport_name(value) = @ccall libverbena.vbn_transport_name(value::Int32)::Cstring
vbn_wc_status_name(value) = @ccall libverbena.vbn_wc_status_name(value::Int32)::Cstring
vbn_wc_opcode_name(value) = @ccall libverbena.vbn_wc_opcode_name(value::Int32)::Cstring
vbn_event_type_name(value) = @ccall libverbena.vbn_event_type_name(value::Int32)::Cstring
vbn_gid_type_name(value) = @ccall libverbena.vbn_gid_type_name(value::Int32)::Cstring
vbn_wr_opcode_name(value) = @ccall libverbena.vbn_wr_opcode_name(value::UInt32)::Cstring
vbn_element_name(value) = @ccall libverbena.vbn_element_name(value::Int32)::Cstring
vbn_device_list_reason_name(value) = @ccall libverbena.vbn_device_list_reason_name(value::Int32)::Cstring
vbn_gid_verdict_name(value) = @ccall libverbena.vbn_gid_verdict_name(value::Int32)::Cstring
vbn_gid_family_name(value) = @ccall libverbena.vbn_gid_family_name(value::Int32)::Cstring
vbn_mr_kind_name(value) = @ccall libverbena.vbn_mr_kind_name(value::Int32)::Cstring
vbn_fork_state_name(value) = @ccall libverbena.vbn_fork_state_name(value::Int32)::Cstring
vbn_library_origin_name(value) = @ccall libverbena.vbn_library_origin_name(value::Int32)::Cstring
vbn_ownership_name(value) = @ccall libverbena.vbn_ownership_name(value::Int32)::Cstring
vbn_vendor_domain_name(value) = @ccall libverbena.vbn_vendor_domain_name(value::Int32)::Cstring
vbn_gpu_kind_name(value) = @ccall libverbena.vbn_gpu_kind_name(value::Int32)::Cstring
vbn_gpu_memory_name(value) = @ccall libverbena.vbn_gpu_memory_name(value::Int32)::Cstring
vbn_gpu_allocation_name(value) = @ccall libverbena.vbn_gpu_allocation_name(value::Int32)::Cstring
vbn_gpu_path_name(bit) = @ccall libverbena.vbn_gpu_path_name(bit::UInt64)::Cstring
vbn_gpu_attempt_name(value) = @ccall libverbena.vbn_gpu_attempt_name(value::Int32)::Cstring
vbn_gpu_mr_state_name(value) = @ccall libverbena.vbn_gpu_mr_state_name(value::Int32)::Cstring
vbn_memory_name(value) = @ccall libverbena.vbn_memory_name(value::Int32)::Cstring
vbn_absence_name(value) = @ccall libverbena.vbn_absence_name(value::Int32)::Cstring
vbn_cap_name(bit) = @ccall libverbena.vbn_cap_name(bit::UInt64)::Cstring
vbn_access_flag_name(bit) = @ccall libverbena.vbn_access_flag_name(bit::UInt64)::Cstring
vbn_send_flag_name(bit) = @ccall libverbena.vbn_send_flag_name(bit::UInt64)::Cstring
vbn_wc_flag_name(bit) = @ccall libverbena.vbn_wc_flag_name(bit::UInt64)::Cstring
vbn_qp_attr_name(bit) = @ccall libverbena.vbn_qp_attr_name(bit::UInt64)::Cstring
vbn_cm_event_name(value) = @ccall libverbena.vbn_cm_event_name(value::Int32)::Cstring
vbn_atomic_cap_name(value) = @ccall libverbena.vbn_atomic_cap_name(value::Int32)::Cstring
vbn_mig_state_name(value) = @ccall libverbena.vbn_mig_state_name(value::Int32)::Cstring
vbn_phys_state_name(value) = @ccall libverbena.vbn_phys_state_name(value::Int32)::Cstring
vbn_mw_type_name(value) = @ccall libverbena.vbn_mw_type_name(value::Int32)::Cstring
vbn_srq_type_name(value) = @ccall libverbena.vbn_srq_type_name(value::Int32)::Cstring
vbn_advice_name(value) = @ccall libverbena.vbn_advice_name(value::Int32)::Cstring
vbn_post_path_name(value) = @ccall libverbena.vbn_post_path_name(value::Int32)::Cstring
vbn_driver_name(value) = @ccall libverbena.vbn_driver_name(value::Int32)::Cstring
vbn_mismatch_name(bit) = @ccall libverbena.vbn_mismatch_name(bit::UInt64)::Cstring
vbn_efa_cap_name(bit) = @ccall libverbena.vbn_efa_cap_name(bit::UInt64)::Cstring
vbn_wc_field_name(bit) = @ccall libverbena.vbn_wc_field_name(bit::UInt64)::Cstring
vbn_distance_name(value) = @ccall libverbena.vbn_distance_name(value::Int32)::Cstring
vbn_port_width_name(value) = @ccall libverbena.vbn_port_width_name(value::Int32)::Cstring
vbn_port_speed_name(value) = @ccall libverbena.vbn_port_speed_name(value::UInt32)::Cstring
vbn_device_cap_name(bit) = @ccall libverbena.vbn_device_cap_name(bit::UInt64)::Cstring
vbn_port_cap_name(bit) = @ccall libverbena.vbn_port_cap_name(bit::UInt64)::Cstring
vbn_port_cap2_name(bit) = @ccall libverbena.vbn_port_cap2_name(bit::UInt64)::Cstring
vbn_flow_type_name(value) = @ccall libverbena.vbn_flow_type_name(value::Int32)::Cstring
vbn_flow_spec_name(value) = @ccall libverbena.vbn_flow_spec_name(value::Int32)::Cstring
vbn_counter_name(value) = @ccall libverbena.vbn_counter_name(value::Int32)::Cstring
vbn_rate_name(value) = @ccall libverbena.vbn_rate_name(value::Int32)::Cstring
vbn_odp_cap_name(bit) = @ccall libverbena.vbn_odp_cap_name(bit::UInt64)::Cstring
vbn_cm_ps_name(value) = @ccall libverbena.vbn_cm_ps_name(value::Int32)::Cstring
vbn_library_name(value) = @ccall libverbena.vbn_library_name(value::Int32)::Cstring
vbn_cq_wait_mode_name(value) = @ccall libverbena.vbn_cq_wait_mode_name(value::Int32)::Cstring
vbn_pd_alloc(context, attr, out) = @ccall libverbena.vbn_pd_alloc(context::Ptr{vbn_context}, attr::Ptr{vbn_pd_attr}, out::Ptr{Ptr{vbn_pd}})::vbn_status
vbn_pd_alloc_parent(pd, td, attr, out) = @ccall libverbena.vbn_pd_alloc_parent(pd::Ptr{vbn_pd}, td::Ptr{vbn_td}, attr::Ptr{vbn_pd_attr}, out::Ptr{Ptr{vbn_pd}})::vbn_status
vbn_pd_import(context, handle, attr, out) = @ccall libverbena.vbn_pd_import(context::Ptr{vbn_context}, handle::UInt32, attr::Ptr{vbn_pd_attr}, out::Ptr{Ptr{vbn_pd}})::vbn_status
vbn_pd_close(pd) = @ccall libverbena.vbn_pd_close(pd::Ptr{Ptr{vbn_pd}})::vbn_status
vbn_pd_query(pd, info) = @ccall libverbena.vbn_pd_query(pd::Ptr{vbn_pd}, info::Ptr{vbn_pd_info})::vbn_status
vbn_pd_native(pd, native_out) = @ccall libverbena.vbn_pd_native(pd::Ptr{vbn_pd}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_pd_release(pd, native_out) = @ccall libverbena.vbn_pd_release(pd::Ptr{Ptr{vbn_pd}}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_pd_adopt(context, native, attr, out) = @ccall libverbena.vbn_pd_adopt(context::Ptr{vbn_context}, native::Ptr{Cvoid}, attr::Ptr{vbn_adopt_attr}, out::Ptr{Ptr{vbn_pd}})::vbn_status
vbn_peer_create(pd, attr, out) = @ccall libverbena.vbn_peer_create(pd::Ptr{vbn_pd}, attr::Ptr{vbn_peer_attr}, out::Ptr{Ptr{vbn_peer}})::vbn_status
vbn_peer_from_endpoint(pd, endpoint, attr, out) = @ccall libverbena.vbn_peer_from_endpoint(pd::Ptr{vbn_pd}, endpoint::Ptr{vbn_endpoint}, attr::Ptr{vbn_peer_attr}, out::Ptr{Ptr{vbn_peer}})::vbn_status
vbn_peer_from_info(qp, remote, attr, out) = @ccall libverbena.vbn_peer_from_info(qp::Ptr{vbn_qp}, remote::Ptr{vbn_endpoint_info}, attr::Ptr{vbn_peer_attr}, out::Ptr{Ptr{vbn_peer}})::vbn_status
vbn_peer_from_cm(pd, event, attr, out) = @ccall libverbena.vbn_peer_from_cm(pd::Ptr{vbn_pd}, event::Ptr{vbn_cm_event}, attr::Ptr{vbn_peer_attr}, out::Ptr{Ptr{vbn_peer}})::vbn_status
vbn_peer_close(peer) = @ccall libverbena.vbn_peer_close(peer::Ptr{Ptr{vbn_peer}})::vbn_status
vbn_peer_query(peer, info) = @ccall libverbena.vbn_peer_query(peer::Ptr{vbn_peer}, info::Ptr{vbn_peer_info})::vbn_status
vbn_qp_create(pd, attr, out) = @ccall libverbena.vbn_qp_create(pd::Ptr{vbn_pd}, attr::Ptr{vbn_qp_init_attr}, out::Ptr{Ptr{vbn_qp}})::vbn_status
vbn_qp_close(qp) = @ccall libverbena.vbn_qp_close(qp::Ptr{Ptr{vbn_qp}})::vbn_status
vbn_qp_query(qp, info) = @ccall libverbena.vbn_qp_query(qp::Ptr{vbn_qp}, info::Ptr{vbn_qp_info})::vbn_status
vbn_qp_num(qp) = @ccall libverbena.vbn_qp_num(qp::Ptr{vbn_qp})::UInt32
vbn_qp_modify(qp, attr) = @ccall libverbena.vbn_qp_modify(qp::Ptr{vbn_qp}, attr::Ptr{vbn_qp_attr})::vbn_status
vbn_qp_prepare(qp, attr) = @ccall libverbena.vbn_qp_prepare(qp::Ptr{vbn_qp}, attr::Ptr{vbn_qp_prepare_attr})::vbn_status
vbn_qkey_random() = @ccall libverbena.vbn_qkey_random()::UInt32
vbn_qp_attach_mcast(qp, gid, lid) = @ccall libverbena.vbn_qp_attach_mcast(qp::Ptr{vbn_qp}, gid::Ptr{UInt8}, lid::UInt16)::vbn_status
vbn_qp_detach_mcast(qp, gid, lid) = @ccall libverbena.vbn_qp_detach_mcast(qp::Ptr{vbn_qp}, gid::Ptr{UInt8}, lid::UInt16)::vbn_status
vbn_qp_post_send(qp, wrs, n, posted) = @ccall libverbena.vbn_qp_post_send(qp::Ptr{vbn_qp}, wrs::Ptr{vbn_send_wr}, n::UInt32, posted::Ptr{UInt32})::vbn_status
vbn_qp_post_recv(qp, wrs, n, posted) = @ccall libverbena.vbn_qp_post_recv(qp::Ptr{vbn_qp}, wrs::Ptr{vbn_recv_wr}, n::UInt32, posted::Ptr{UInt32})::vbn_status
vbn_qp_first_error(qp, wc) = @ccall libverbena.vbn_qp_first_error(qp::Ptr{vbn_qp}, wc::Ptr{vbn_wc})::vbn_status
vbn_qp_query_ece(qp, ece) = @ccall libverbena.vbn_qp_query_ece(qp::Ptr{vbn_qp}, ece::Ptr{vbn_ece})::vbn_status
vbn_qp_set_ece(qp, ece) = @ccall libverbena.vbn_qp_set_ece(qp::Ptr{vbn_qp}, ece::Ptr{vbn_ece})::vbn_status
vbn_qp_data_in_order(qp, opcode, flags, caps_out) = @ccall libverbena.vbn_qp_data_in_order(qp::Ptr{vbn_qp}, opcode::UInt32, flags::UInt32, caps_out::Ptr{UInt32})::vbn_status
vbn_qp_modify_rate_limit(qp, attr) = @ccall libverbena.vbn_qp_modify_rate_limit(qp::Ptr{vbn_qp}, attr::Ptr{vbn_qp_rate_limit_attr})::vbn_status
vbn_qp_native(qp, native_out) = @ccall libverbena.vbn_qp_native(qp::Ptr{vbn_qp}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_qp_release(qp, native_out) = @ccall libverbena.vbn_qp_release(qp::Ptr{Ptr{vbn_qp}}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_qp_adopt(pd, native, attr, out) = @ccall libverbena.vbn_qp_adopt(pd::Ptr{vbn_pd}, native::Ptr{Cvoid}, attr::Ptr{vbn_adopt_attr}, out::Ptr{Ptr{vbn_qp}})::vbn_status
vbn_rc_record_local(qp, attr, record) = @ccall libverbena.vbn_rc_record_local(qp::Ptr{vbn_qp}, attr::Ptr{vbn_rc_attr}, record::Ptr{vbn_rc_record})::vbn_status
vbn_rc_record_encode(record, bytes, size) = @ccall libverbena.vbn_rc_record_encode(record::Ptr{vbn_rc_record}, bytes::Ptr{UInt8}, size::Csize_t)::vbn_status
vbn_rc_record_decode(bytes, size, record) = @ccall libverbena.vbn_rc_record_decode(bytes::Ptr{UInt8}, size::Csize_t, record::Ptr{vbn_rc_record})::vbn_status
vbn_qp_to_init(qp, attr) = @ccall libverbena.vbn_qp_to_init(qp::Ptr{vbn_qp}, attr::Ptr{vbn_rc_attr})::vbn_status
vbn_qp_to_rtr(qp, var"local", remote, attr) = @ccall libverbena.vbn_qp_to_rtr(qp::Ptr{vbn_qp}, var"local"::Ptr{vbn_rc_record}, remote::Ptr{vbn_rc_record}, attr::Ptr{vbn_rc_attr})::vbn_status
vbn_qp_to_rts(qp, var"local", attr) = @ccall libverbena.vbn_qp_to_rts(qp::Ptr{vbn_qp}, var"local"::Ptr{vbn_rc_record}, attr::Ptr{vbn_rc_attr})::vbn_status
vbn_qp_connect_rc(qp, var"local", remote, attr) = @ccall libverbena.vbn_qp_connect_rc(qp::Ptr{vbn_qp}, var"local"::Ptr{vbn_rc_record}, remote::Ptr{vbn_rc_record}, attr::Ptr{vbn_rc_attr})::vbn_status
vbn_qp_connect(qp, var"local", remote, attr) = @ccall libverbena.vbn_qp_connect(qp::Ptr{vbn_qp}, var"local"::Ptr{vbn_endpoint_info}, remote::Ptr{vbn_endpoint_info}, attr::Ptr{vbn_rc_attr})::vbn_status
vbn_region_info_local(sets, count, attr, info) = @ccall libverbena.vbn_region_info_local(sets::Ptr{Ptr{vbn_mr_set}}, count::UInt32, attr::Ptr{vbn_region_info_attr}, info::Ptr{vbn_region_info})::vbn_status
vbn_region_info_encode(info, bytes, capacity, size) = @ccall libverbena.vbn_region_info_encode(info::Ptr{vbn_region_info}, bytes::Ptr{UInt8}, capacity::Csize_t, size::Ptr{Csize_t})::vbn_status
vbn_region_info_decode(bytes, size, info) = @ccall libverbena.vbn_region_info_decode(bytes::Ptr{UInt8}, size::Csize_t, info::Ptr{vbn_region_info})::vbn_status
vbn_region_info_find_nic(info, endpoint, nic) = @ccall libverbena.vbn_region_info_find_nic(info::Ptr{vbn_region_info}, endpoint::Ptr{vbn_endpoint_info}, nic::Ptr{UInt32})::vbn_status
vbn_rdma_split(qp, attr, first, wrs, capacity, count_out, total_out) = @ccall libverbena.vbn_rdma_split(qp::Ptr{vbn_qp}, attr::Ptr{vbn_split_attr}, first::UInt64, wrs::Ptr{vbn_send_wr}, capacity::UInt32, count_out::Ptr{UInt32}, total_out::Ptr{UInt64})::vbn_status
vbn_srq_create(pd, attr, out) = @ccall libverbena.vbn_srq_create(pd::Ptr{vbn_pd}, attr::Ptr{vbn_srq_attr}, out::Ptr{Ptr{vbn_srq}})::vbn_status
vbn_srq_close(srq) = @ccall libverbena.vbn_srq_close(srq::Ptr{Ptr{vbn_srq}})::vbn_status
vbn_srq_query(srq, info) = @ccall libverbena.vbn_srq_query(srq::Ptr{vbn_srq}, info::Ptr{vbn_srq_info})::vbn_status
vbn_srq_modify(srq, attr) = @ccall libverbena.vbn_srq_modify(srq::Ptr{vbn_srq}, attr::Ptr{vbn_srq_modify_attr})::vbn_status
vbn_srq_post_recv(srq, wrs, n, posted) = @ccall libverbena.vbn_srq_post_recv(srq::Ptr{vbn_srq}, wrs::Ptr{vbn_recv_wr}, n::UInt32, posted::Ptr{UInt32})::vbn_status
vbn_srq_native(srq, native_out) = @ccall libverbena.vbn_srq_native(srq::Ptr{vbn_srq}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_srq_release(srq, native_out) = @ccall libverbena.vbn_srq_release(srq::Ptr{Ptr{vbn_srq}}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_srq_adopt(pd, native, attr, out) = @ccall libverbena.vbn_srq_adopt(pd::Ptr{vbn_pd}, native::Ptr{Cvoid}, attr::Ptr{vbn_adopt_attr}, out::Ptr{Ptr{vbn_srq}})::vbn_status
vbn_td_alloc(context, attr, out) = @ccall libverbena.vbn_td_alloc(context::Ptr{vbn_context}, attr::Ptr{vbn_td_attr}, out::Ptr{Ptr{vbn_td}})::vbn_status
vbn_td_close(td) = @ccall libverbena.vbn_td_close(td::Ptr{Ptr{vbn_td}})::vbn_status
vbn_td_native(td, native_out) = @ccall libverbena.vbn_td_native(td::Ptr{vbn_td}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_td_release(td, native_out) = @ccall libverbena.vbn_td_release(td::Ptr{Ptr{vbn_td}}, native_out::Ptr{Ptr{Cvoid}})::vbn_status
vbn_td_adopt(context, native, attr, out) = @ccall libverbena.vbn_td_adopt(context::Ptr{vbn_context}, native::Ptr{Cvoid}, attr::Ptr{vbn_adopt_attr}, out::Ptr{Ptr{vbn_td}})::vbn_status
vbn_gpu_nic_distance(attr, info) = @ccall libverbena.vbn_gpu_nic_distance(attr::Ptr{vbn_distance_attr}, info::Ptr{vbn_distance_info})::vbn_status
vbn_nic_nearest(attr, nics, entry_size, capacity, count_out) = @ccall libverbena.vbn_nic_nearest(attr::Ptr{vbn_distance_attr}, nics::Ptr{vbn_distance_info}, entry_size::Csize_t, capacity::UInt32, count_out::Ptr{UInt32})::vbn_status

export VBN_VERSION_MAJOR
export VBN_VERSION_MINOR
export VBN_VERSION_PATCH
export VBN_VERSION
export VBN_ADOPT_BORROW
export VBN_ADOPT_OWN
export VBN_ADOPT_CUSTOM
export VBN_ADOPT_SET_IOVA
export VBN_INDEX_NONE
export VBN_VENDOR_NONE
export VBN_VENDOR_WC
export VBN_VENDOR_CUDA
export VBN_VENDOR_HSA
export VBN_NAME_SIZE
export VBN_CAP_RC
export VBN_CAP_UC
export VBN_CAP_UD
export VBN_CAP_SRD
export VBN_CAP_XRC
export VBN_CAP_SEND
export VBN_CAP_SEND_IMM
export VBN_CAP_WRITE
export VBN_CAP_WRITE_IMM
export VBN_CAP_READ
export VBN_CAP_ATOMICS
export VBN_CAP_ATOMICS_GLOBAL
export VBN_CAP_ATOMIC_WRITE
export VBN_CAP_FLUSH
export VBN_CAP_INVALIDATE
export VBN_CAP_UNSIGNALED
export VBN_CAP_FENCE
export VBN_CAP_SOLICITED
export VBN_CAP_INLINE
export VBN_CAP_INLINE_WRITE
export VBN_CAP_ORDERED
export VBN_CAP_RNR_RETRY
export VBN_CAP_UNSOLICITED_WRITE_RECV
export VBN_CAP_ERRORS_ISOLATED
export VBN_CAP_PROCESSING_HINTS
export VBN_CAP_NOTIFY
export VBN_CAP_NOTIFY_SOLICITED
export VBN_CAP_WC_SGID
export VBN_CAP_WC_TIMESTAMP
export VBN_CAP_COMP_CNTR
export VBN_CAP_CQ_DMABUF
export VBN_CAP_DMABUF
export VBN_CAP_RELAXED_ORDERING
export VBN_CAP_ODP
export VBN_CAP_MW
export VBN_CAP_DEVICE_MEMORY
export VBN_CAP_SRQ
export VBN_CAP_MULTICAST
export VBN_ABSENCE_NONE
export VBN_ABSENCE_UNKNOWN
export VBN_ABSENCE_TRANSPORT
export VBN_ABSENCE_DEVICE
export VBN_ABSENCE_LIBRARY
export VBN_ABSENCE_LIBRARY_OR_DEVICE
export VBN_ABSENCE_DRIVER
export VBN_RT_RAW_CLOCK
export VBN_CM_CONN_SET_RESPONDER_RESOURCES
export VBN_CM_CONN_SET_INITIATOR_DEPTH
export VBN_CM_CONN_SET_RETRY_COUNT
export VBN_CM_CONN_SET_RNR_RETRY_COUNT
export VBN_CM_EVENT_ADDR_RESOLVED
export VBN_CM_EVENT_ADDR_ERROR
export VBN_CM_EVENT_ROUTE_RESOLVED
export VBN_CM_EVENT_ROUTE_ERROR
export VBN_CM_EVENT_CONNECT_REQUEST
export VBN_CM_EVENT_CONNECT_RESPONSE
export VBN_CM_EVENT_CONNECT_ERROR
export VBN_CM_EVENT_UNREACHABLE
export VBN_CM_EVENT_REJECTED
export VBN_CM_EVENT_ESTABLISHED
export VBN_CM_EVENT_DISCONNECTED
export VBN_CM_EVENT_DEVICE_REMOVAL
export VBN_CM_EVENT_MULTICAST_JOIN
export VBN_CM_EVENT_MULTICAST_ERROR
export VBN_CM_EVENT_ADDR_CHANGE
export VBN_CM_EVENT_TIMEWAIT_EXIT
export VBN_CM_PS_TCP
export VBN_CM_PS_UDP
export VBN_CM_PS_IB
export VBN_CM_ID_SET_TOS
export VBN_CM_ID_SET_REUSE_ADDR
export VBN_CM_ID_SET_ONLY_V6
export VBN_CM_ID_SET_ACK_TIMEOUT
export VBN_RECORD_MAX_SIZE
export VBN_RECORD_HEADER_SIZE
export VBN_PORT_NOP
export VBN_PORT_DOWN
export VBN_PORT_INIT
export VBN_PORT_ARMED
export VBN_PORT_ACTIVE
export VBN_PORT_ACTIVE_DEFER
export VBN_LINK_LAYER_UNSPECIFIED
export VBN_LINK_LAYER_INFINIBAND
export VBN_LINK_LAYER_ETHERNET
export VBN_PORT_VALID_CAP_FLAGS2
export VBN_PORT_VALID_SPEED_EX
export VBN_PORT_VALID_SPEED
export VBN_COUNTER_PACKETS
export VBN_COUNTER_BYTES
export VBN_COUNTERS_PREFER_CACHED
export VBN_CQ_WAIT_SLEEP
export VBN_CQ_WAIT_EVENT
export VBN_CQ_SET_MODERATION
export VBN_NODE_UNKNOWN
export VBN_NODE_CA
export VBN_NODE_SWITCH
export VBN_NODE_ROUTER
export VBN_NODE_RNIC
export VBN_NODE_USNIC
export VBN_NODE_USNIC_UDP
export VBN_NODE_UNSPECIFIED
export VBN_TRANSPORT_UNKNOWN
export VBN_TRANSPORT_IB
export VBN_TRANSPORT_IWARP
export VBN_TRANSPORT_USNIC
export VBN_TRANSPORT_USNIC_UDP
export VBN_TRANSPORT_UNSPECIFIED
export VBN_REASON_NONE
export VBN_REASON_CANNOT_OPEN
export VBN_REASON_LIBRARY_MISSING
export VBN_REASON_LIBRARY_UNUSABLE
export VBN_REASON_NO_MODULE
export VBN_REASON_NO_DEVICE
export VBN_REASON_NO_NODE
export VBN_REASON_NOT_PERMITTED
export VBN_REASON_NO_PROVIDER
export VBN_REASON_LIST_FAILED
export VBN_DL_CPU
export VBN_DL_CUDA
export VBN_DL_CUDA_HOST
export VBN_DL_ROCM
export VBN_DL_ROCM_HOST
export VBN_DL_CUDA_MANAGED
export VBN_EFA_CAP_RDMA_READ
export VBN_EFA_CAP_RNR_RETRY
export VBN_EFA_CAP_CQ_WITH_SGID
export VBN_EFA_CAP_RDMA_WRITE
export VBN_EFA_CAP_UNSOLICITED_WRITE_RECV
export VBN_EFA_CAP_CQ_WITH_EXT_MEM_DMABUF
export VBN_EFA_CAP_COMP_CNTR
export VBN_EFA_SQ_INLINE_WRITE
export VBN_EFA_WQ_64_BIT_REQ_ID
export VBN_EFA_MR_RECV_IC_ID
export VBN_EFA_MR_RDMA_READ_IC_ID
export VBN_EFA_MR_RDMA_RECV_IC_ID
export VBN_ENDPOINT_SIZE
export VBN_ENDPOINT_MAX_GIDS
export VBN_ENDPOINT_SET_PSN
export VBN_ENDPOINT_SET_QKEY
export VBN_ENDPOINT_SET_LID
export VBN_ENDPOINT_SET_PORT_NUM
export VBN_ENDPOINT_SET_MTU
export VBN_ENDPOINT_SET_MAX_MESSAGE
export VBN_ENDPOINT_SET_READ_DEPTH
export VBN_ENDPOINT_SET_UNSOLICITED
export VBN_ENDPOINT_SET_EFA_GENERATION
export VBN_ENDPOINT_SET_ECE
export VBN_ENDPOINT_SET_INCARNATION
export VBN_ENDPOINT_ATTR_SET_PSN
export VBN_ENDPOINT_ATTR_SET_SGID_INDEX
export VBN_ENDPOINT_ATTR_SET_MAX_RD_ATOMIC
export VBN_ENDPOINT_ATTR_SET_MAX_DEST_RD_ATOMIC
export VBN_ENDPOINT_ATTR_SET_UNSOLICITED
export VBN_MISMATCH_TRANSPORT
export VBN_MISMATCH_UNSOLICITED
export VBN_MISMATCH_EFA_GENERATION
export VBN_MISMATCH_GID
export VBN_MISMATCH_ECE
export VBN_ELEMENT_NONE
export VBN_ELEMENT_CQ
export VBN_ELEMENT_QP
export VBN_ELEMENT_SRQ
export VBN_ELEMENT_WQ
export VBN_ELEMENT_PORT
export VBN_ELEMENT_DEVICE
export VBN_EVENT_CQ_ERR
export VBN_EVENT_QP_FATAL
export VBN_EVENT_QP_REQ_ERR
export VBN_EVENT_QP_ACCESS_ERR
export VBN_EVENT_COMM_EST
export VBN_EVENT_SQ_DRAINED
export VBN_EVENT_PATH_MIG
export VBN_EVENT_PATH_MIG_ERR
export VBN_EVENT_DEVICE_FATAL
export VBN_EVENT_PORT_ACTIVE
export VBN_EVENT_PORT_ERR
export VBN_EVENT_LID_CHANGE
export VBN_EVENT_PKEY_CHANGE
export VBN_EVENT_SM_CHANGE
export VBN_EVENT_SRQ_ERR
export VBN_EVENT_SRQ_LIMIT_REACHED
export VBN_EVENT_QP_LAST_WQE_REACHED
export VBN_EVENT_CLIENT_REREGISTER
export VBN_EVENT_GID_CHANGE
export VBN_EVENT_WQ_FATAL
export VBN_EVENT_DEVICE_SPEED_CHANGE
export VBN_DRIVER_UNKNOWN
export VBN_DRIVER_MLX5
export VBN_DRIVER_RXE
export VBN_DRIVER_EFA
export VBN_EXPLAIN_SILENCE
export VBN_EXPLAIN_SET_OPCODE
export VBN_EXPLAIN_TEXT_SIZE
export VBN_FLOW_NORMAL
export VBN_FLOW_ALL_DEFAULT
export VBN_FLOW_MC_DEFAULT
export VBN_FLOW_SNIFFER
export VBN_FLOW_DONT_TRAP
export VBN_FLOW_EGRESS
export VBN_FLOW_SPEC_ETH
export VBN_FLOW_SPEC_IPV4
export VBN_FLOW_SPEC_IPV6
export VBN_FLOW_SPEC_IPV4_EXT
export VBN_FLOW_SPEC_ESP
export VBN_FLOW_SPEC_TCP
export VBN_FLOW_SPEC_UDP
export VBN_FLOW_SPEC_VXLAN
export VBN_FLOW_SPEC_GRE
export VBN_FLOW_SPEC_MPLS
export VBN_FLOW_SPEC_INNER
export VBN_FLOW_SPEC_ACTION_TAG
export VBN_FLOW_SPEC_ACTION_DROP
export VBN_FLOW_SPEC_ACTION_COUNT
export VBN_FLOW_MAX_SPECS
export VBN_GID_TYPE_IB
export VBN_GID_TYPE_ROCE_V1
export VBN_GID_TYPE_ROCE_V2
export VBN_GID_FAMILY_ANY
export VBN_GID_FAMILY_IPV4
export VBN_GID_FAMILY_IPV6
export VBN_GID_SET_INDEX
export VBN_GID_SET_TYPE
export VBN_GID_CHOSEN
export VBN_GID_USABLE
export VBN_GID_LAST_RESORT
export VBN_GID_ROCE_V1_UNASKED
export VBN_GID_OTHER_TYPE
export VBN_GID_OTHER_FAMILY
export VBN_GID_OTHER_INDEX
export VBN_GID_OTHER_NETDEV
export VBN_GID_UNUSED
export VBN_GPU_KIND_ANY
export VBN_GPU_KIND_CUDA
export VBN_GPU_KIND_ROCM
export VBN_GPU_UNKNOWN
export VBN_GPU_MEMORY_UNKNOWN
export VBN_GPU_MEMORY_HOST
export VBN_GPU_MEMORY_DEVICE
export VBN_GPU_MEMORY_MANAGED
export VBN_GPU_ALLOCATION_UNKNOWN
export VBN_GPU_ALLOCATION_PLAIN
export VBN_GPU_ALLOCATION_VMM
export VBN_GPU_ALLOCATION_POOL
export VBN_GPU_ORDERING_NONE
export VBN_GPU_ORDERING_OWNER
export VBN_GPU_ORDERING_ALL_DEVICES
export VBN_GPU_FLUSH_OPTION_HOST
export VBN_GPU_FLUSH_OPTION_MEMOPS
export VBN_GPU_FLUSH_OWNER
export VBN_GPU_FLUSH_ALL_DEVICES
export VBN_GPU_FLUSH_NOT_NEEDED
export VBN_GPU_FLUSH_DONE
export VBN_GPU_DEVICE_CURRENT
export VBN_GPU_DMABUF_PCIE
export VBN_GPU_PATH_DMABUF
export VBN_GPU_PATH_SEGMENTS
export VBN_GPU_PATH_PEER
export VBN_GPU_ATTEMPT_NONE
export VBN_GPU_ATTEMPT_FAILED
export VBN_GPU_ATTEMPT_WON
export VBN_GPU_MR_UNKNOWN
export VBN_GPU_MR_VALID
export VBN_GPU_MR_FREED
export VBN_GPU_MR_REPLACED
export VBN_LIBRARY_IBVERBS
export VBN_LIBRARY_EFA
export VBN_LIBRARY_RDMACM
export VBN_LIBRARY_CUDA
export VBN_LIBRARY_ROCM
export VBN_LIBRARY_FROM_DEFAULT
export VBN_LIBRARY_FROM_ENV
export VBN_LIBRARY_FROM_PATH
export VBN_LIBRARY_FROM_HANDLE
export VBN_LIBRARY_FROM_LOOKUP
export VBN_LIBRARY_FROM_PROVIDER
export VBN_FORK_UNKNOWN
export VBN_FORK_DISABLED
export VBN_FORK_ENABLED
export VBN_FORK_UNNEEDED
export VBN_ACCESS_LOCAL_WRITE
export VBN_ACCESS_REMOTE_WRITE
export VBN_ACCESS_REMOTE_READ
export VBN_ACCESS_REMOTE_ATOMIC
export VBN_ACCESS_MW_BIND
export VBN_ACCESS_ZERO_BASED
export VBN_ACCESS_ON_DEMAND
export VBN_ACCESS_HUGETLB
export VBN_ACCESS_FLUSH_GLOBAL
export VBN_ACCESS_FLUSH_PERSISTENT
export VBN_ACCESS_RELAXED_ORDERING
export VBN_MR_SET_IOVA
export VBN_MR_HOST
export VBN_MR_DMABUF
export VBN_MR_ADOPTED
export VBN_MR_NULL
export VBN_MR_IMPORTED
export VBN_MR_DM
export VBN_MR_PEER
export VBN_MR_SEGMENT_DEFAULT
export VBN_MR_REREG_TRANSLATION
export VBN_MR_REREG_PD
export VBN_MR_REREG_ACCESS
export VBN_ADVISE_PREFETCH
export VBN_ADVISE_PREFETCH_WRITE
export VBN_ADVISE_PREFETCH_NO_FAULT
export VBN_ADVISE_FLUSH
export VBN_MEMORY_UNKNOWN
export VBN_MEMORY_HOST
export VBN_MEMORY_CUDA
export VBN_MEMORY_ROCM
export VBN_PLACE_SET_GPU
export VBN_PLACE_SET_NUMA
export VBN_PLACE_SET_PCI
export VBN_MW_TYPE_1
export VBN_MW_TYPE_2
export VBN_WR_RDMA_WRITE
export VBN_WR_RDMA_WRITE_WITH_IMM
export VBN_WR_SEND
export VBN_WR_SEND_WITH_IMM
export VBN_WR_RDMA_READ
export VBN_SEND_FENCE
export VBN_SEND_SIGNALED
export VBN_SEND_SOLICITED
export VBN_SEND_INLINE
export VBN_SEND_BURST
export VBN_WR_ATOMIC_CMP_AND_SWP
export VBN_WR_ATOMIC_FETCH_AND_ADD
export VBN_WR_LOCAL_INV
export VBN_WR_BIND_MW
export VBN_WR_SEND_WITH_INV
export VBN_WR_FLUSH
export VBN_WR_ATOMIC_WRITE
export VBN_FLUSH_GLOBAL
export VBN_FLUSH_PERSISTENT
export VBN_FLUSH_RANGE
export VBN_FLUSH_MR
export VBN_QPS_RESET
export VBN_QPS_INIT
export VBN_QPS_RTR
export VBN_QPS_RTS
export VBN_QPS_SQD
export VBN_QPS_SQE
export VBN_QPS_ERR
export VBN_MTU_256
export VBN_MTU_512
export VBN_MTU_1024
export VBN_MTU_2048
export VBN_MTU_4096
export VBN_QP_STATE
export VBN_QP_CUR_STATE
export VBN_QP_EN_SQD_ASYNC_NOTIFY
export VBN_QP_ACCESS_FLAGS
export VBN_QP_PKEY_INDEX
export VBN_QP_PORT
export VBN_QP_QKEY
export VBN_QP_AV
export VBN_QP_PATH_MTU
export VBN_QP_TIMEOUT
export VBN_QP_RETRY_CNT
export VBN_QP_RNR_RETRY
export VBN_QP_RQ_PSN
export VBN_QP_MAX_QP_RD_ATOMIC
export VBN_QP_ALT_PATH
export VBN_QP_MIN_RNR_TIMER
export VBN_QP_SQ_PSN
export VBN_QP_MAX_DEST_RD_ATOMIC
export VBN_QP_PATH_MIG_STATE
export VBN_QP_CAP
export VBN_QP_DEST_QPN
export VBN_QP_RATE_LIMIT
export VBN_QPT_RC
export VBN_QPT_UC
export VBN_QPT_UD
export VBN_QPT_RAW_PACKET
export VBN_QPT_XRC_SEND
export VBN_QPT_XRC_RECV
export VBN_QPT_DRIVER
export VBN_QPT_SRD
export VBN_QP_OP_RDMA_WRITE
export VBN_QP_OP_RDMA_WRITE_WITH_IMM
export VBN_QP_OP_SEND
export VBN_QP_OP_SEND_WITH_IMM
export VBN_QP_OP_RDMA_READ
export VBN_QP_INIT_SET_MAX_SEND_WR
export VBN_QP_INIT_SET_MAX_RECV_WR
export VBN_QP_INIT_SET_MAX_RECV_SGE
export VBN_QP_UNSOLICITED_WRITE_RECV
export VBN_QP_INLINE_WRITE
export VBN_QP_PROCESSING_HINTS
export VBN_POST_PATH_AUTO
export VBN_POST_PATH_POST_SEND
export VBN_POST_PATH_WR
export VBN_IN_ORDER_DEVICE_ONLY
export VBN_IN_ORDER_WHOLE_MSG
export VBN_IN_ORDER_ALIGNED_128_BYTES
export VBN_QP_OP_ATOMIC_CMP_AND_SWP
export VBN_QP_OP_ATOMIC_FETCH_AND_ADD
export VBN_QP_OP_LOCAL_INV
export VBN_QP_OP_BIND_MW
export VBN_QP_OP_SEND_WITH_INV
export VBN_QP_OP_FLUSH
export VBN_QP_OP_ATOMIC_WRITE
export VBN_QP_PREPARE_SET_QKEY
export VBN_QP_PREPARE_SET_RNR_RETRY
export VBN_RC_RECORD_SIZE
export VBN_RC_SET_PKEY_INDEX
export VBN_RC_SET_ACCESS
export VBN_RC_SET_PATH_MTU
export VBN_RC_SET_SGID_INDEX
export VBN_RC_SET_HOP_LIMIT
export VBN_RC_SET_IS_GLOBAL
export VBN_RC_SET_MIN_RNR_TIMER
export VBN_RC_SET_MAX_DEST_RD_ATOMIC
export VBN_RC_SET_TIMEOUT
export VBN_RC_SET_RETRY_CNT
export VBN_RC_SET_RNR_RETRY
export VBN_RC_SET_MAX_RD_ATOMIC
export VBN_RC_SET_PSN
export VBN_REGION_MAX_NICS
export VBN_REGION_MAX_ENTRIES
export VBN_REGION_SET_ACCESS
export VBN_SRQT_BASIC
export VBN_SRQT_XRC
export VBN_SRQT_TM
export VBN_SRQ_SET_MAX_WR
export VBN_SRQ_SET_LIMIT
export VBN_DISTANCE_SWITCH
export VBN_DISTANCE_SWITCHES
export VBN_DISTANCE_HOST_BRIDGE
export VBN_DISTANCE_NUMA_NODE
export VBN_DISTANCE_PACKAGE
export VBN_DISTANCE_SYSTEM
export VBN_DISTANCE_UNKNOWN
export VBN_SYSFS_PATH_SIZE
export VBN_WC_SUCCESS
export VBN_WC_LOC_LEN_ERR
export VBN_WC_LOC_QP_OP_ERR
export VBN_WC_LOC_EEC_OP_ERR
export VBN_WC_LOC_PROT_ERR
export VBN_WC_WR_FLUSH_ERR
export VBN_WC_MW_BIND_ERR
export VBN_WC_BAD_RESP_ERR
export VBN_WC_LOC_ACCESS_ERR
export VBN_WC_REM_INV_REQ_ERR
export VBN_WC_REM_ACCESS_ERR
export VBN_WC_REM_OP_ERR
export VBN_WC_RETRY_EXC_ERR
export VBN_WC_RNR_RETRY_EXC_ERR
export VBN_WC_LOC_RDD_VIOL_ERR
export VBN_WC_REM_INV_RD_REQ_ERR
export VBN_WC_REM_ABORT_ERR
export VBN_WC_INV_EECN_ERR
export VBN_WC_INV_EEC_STATE_ERR
export VBN_WC_FATAL_ERR
export VBN_WC_RESP_TIMEOUT_ERR
export VBN_WC_GENERAL_ERR
export VBN_WC_TM_ERR
export VBN_WC_TM_RNDV_INCOMPLETE
export VBN_WC_SEND
export VBN_WC_RDMA_WRITE
export VBN_WC_RDMA_READ
export VBN_WC_COMP_SWAP
export VBN_WC_FETCH_ADD
export VBN_WC_BIND_MW
export VBN_WC_LOCAL_INV
export VBN_WC_TSO
export VBN_WC_FLUSH
export VBN_WC_ATOMIC_WRITE
export VBN_WC_RECV
export VBN_WC_RECV_RDMA_WITH_IMM
export VBN_WC_GRH
export VBN_WC_WITH_IMM
export VBN_WC_IP_CSUM_OK
export VBN_WC_WITH_INV
export VBN_WC_EX_BYTE_LEN
export VBN_WC_EX_IMM
export VBN_WC_EX_QP_NUM
export VBN_WC_EX_SRC_QP
export VBN_WC_EX_SLID
export VBN_WC_EX_SL
export VBN_WC_EX_DLID_PATH_BITS
export VBN_WC_EX_STANDARD
export VBN_WC_EX_TIMESTAMP
export VBN_WC_EX_CVLAN
export VBN_WC_EX_FLOW_TAG
export VBN_WC_EX_WALLCLOCK
export VBN_WC_EX_SGID
export VBN_WC_EX_UNSOLICITED
export VBN_OK
export VBN_ERR_ARGUMENT
export VBN_ERR_CLOSED
export VBN_ERR_BUSY
export VBN_ERR_QUEUE_FULL
export VBN_ERR_TIMEOUT
export VBN_ERR_NO_MEMORY
export VBN_ERR_NOT_SUPPORTED
export VBN_ERR_LIBRARY_MISSING
export VBN_ERR_SYMBOL_MISSING
export VBN_ERR_DEVICE_GONE
export VBN_ERR_FORKED
export VBN_ERR_TOO_NEW
export VBN_ERR_COMPLETION
export VBN_ERR_UNCERTAIN
export VBN_ERR_DRIVER
export VBN_ERR_INTERNAL
export VBN_ERR_NOT_FOUND
export VBN_ERR_LIMIT
export vbn_status
export vbn_destroy_fn
export vbn_lookup_fn
export vbn_ah
export vbn_channel
export vbn_cm_channel
export vbn_cm_id
export vbn_context
export vbn_counters
export vbn_cq
export vbn_dm
export vbn_flow
export vbn_mr
export vbn_mr_set
export vbn_mw
export vbn_pd
export vbn_peer
export vbn_qp
export vbn_srq
export vbn_td
export vbn_path
export vbn_ah_attr
export vbn_wc
export vbn_ah_info
export vbn_adopt_attr
export vbn_caps
export vbn_device_match
export vbn_channel_attr
export vbn_channel_info
export vbn_cq_event
export vbn_cm_channel_attr
export vbn_cm_channel_info
export vbn_cm_event
export vbn_cm_id_attr
export vbn_cm_addr
export vbn_cm_id_info
export vbn_context_attr
export vbn_pd_attr
export vbn_qp_init_attr
export vbn_cm_conn_attr
export vbn_context_info
export vbn_device_attr
export vbn_rt_values
export vbn_port_attr
export vbn_gid_entry
export vbn_async_event
export vbn_live_info
export vbn_gid_select_attr
export vbn_gid_choice
export vbn_gid_verdict
export vbn_counters_attr
export vbn_cq_attr
export vbn_cq_info
export vbn_cq_modify_attr
export vbn_wc_ext
export vbn_device_info
export vbn_device_list_reason_info
export vbn_dm_attr
export vbn_dm_info
export vbn_efa_device_info
export vbn_efa_sq_attr
export vbn_efa_rq_attr
export vbn_efa_cq_info
export vbn_efa_wq_info
export vbn_efa_mr_info
export vbn_endpoint
export vbn_endpoint_info_attr
export vbn_endpoint_gid
export vbn_endpoint_info
export vbn_error_info
export vbn_explain_attr
export vbn_flow_attr
export vbn_flow_fields
export vbn_flow_spec
export vbn_gpu_pointer_info
export vbn_gpu_device_info
export vbn_gpu_dmabuf_attr
export vbn_gpu_dmabuf
export vbn_gpu_mr_attr
export vbn_gpu_attempt
export vbn_gpu_mr_report
export vbn_dltensor
export vbn_library_attr
export vbn_library_info
export vbn_symbol_info
export vbn_mr_attr
export vbn_mr_rereg_attr
export vbn_sge
export vbn_mr_info
export vbn_mr_set_attr
export vbn_mr_set_info
export vbn_mr_entry
export vbn_mw_attr
export vbn_mw_info
export vbn_mw_bind_attr
export vbn_pd_info
export vbn_peer_attr
export vbn_peer_info
export vbn_qp_info
export vbn_qp_attr
export vbn_qp_prepare_attr
export vbn_send_wr
export vbn_recv_wr
export vbn_ece
export vbn_qp_rate_limit_attr
export vbn_rc_attr
export vbn_rc_record
export vbn_region_info_attr
export vbn_region_nic
export vbn_region_entry
export vbn_region_info
export vbn_split_attr
export vbn_srq_attr
export vbn_srq_info
export vbn_srq_modify_attr
export vbn_td_attr
export vbn_distance_attr
export vbn_distance_info
export vbn_bind_mw_ext
export vbn_flush_ext
export vbn_ah_create
export vbn_ah_from_wc
export vbn_ah_close
export vbn_ah_query
export vbn_ah_native
export vbn_ah_release
export vbn_ah_adopt
export vbn_pd_trim_ahs
export vbn_context_caps
export vbn_caps_reason
export vbn_device_find
export vbn_channel_create
export vbn_channel_close
export vbn_channel_query
export vbn_channel_fd
export vbn_channel_get_event
export vbn_channel_native
export vbn_channel_release
export vbn_channel_adopt
export vbn_cm_channel_create
export vbn_cm_channel_close
export vbn_cm_channel_query
export vbn_cm_channel_fd
export vbn_cm_channel_get_event
export vbn_cm_channel_native
export vbn_cm_channel_release
export vbn_cm_channel_adopt
export vbn_cm_id_create
export vbn_cm_id_close
export vbn_cm_id_query
export vbn_cm_id_set_user_data
export vbn_cm_id_bind
export vbn_cm_id_listen
export vbn_cm_id_resolve_addr
export vbn_cm_id_resolve_route
export vbn_cm_id_resolve
export vbn_cm_id_context
export vbn_cm_id_pd
export vbn_cm_id_create_qp
export vbn_cm_id_connect
export vbn_cm_id_accept
export vbn_cm_id_reject
export vbn_cm_id_disconnect
export vbn_cm_id_native
export vbn_cm_id_release
export vbn_cm_id_adopt
export vbn_cm_event_check
export vbn_cm_addr_parse
export vbn_cm_addr_format
export vbn_context_open
export vbn_context_close
export vbn_context_query
export vbn_context_query_device
export vbn_context_export
export vbn_context_import
export vbn_context_query_rt_values
export vbn_context_query_port
export vbn_context_query_gid
export vbn_context_gid_table
export vbn_context_query_pkey
export vbn_context_get_async_event
export vbn_context_live
export vbn_context_native
export vbn_context_release
export vbn_context_adopt
export vbn_gid_select
export vbn_counters_create
export vbn_counters_close
export vbn_counters_attach
export vbn_counters_read
export vbn_counters_native
export vbn_counters_release
export vbn_counters_adopt
export vbn_cq_create
export vbn_cq_close
export vbn_cq_query
export vbn_cq_modify
export vbn_cq_resize
export vbn_cq_arm
export vbn_cq_poll
export vbn_cq_poll_ext
export vbn_cq_wait
export vbn_wc_check
export vbn_cq_native
export vbn_cq_release
export vbn_cq_adopt
export vbn_device_list
export vbn_device_list_reason
export vbn_dm_alloc
export vbn_dm_close
export vbn_dm_query
export vbn_dm_copy_to
export vbn_dm_copy_from
export vbn_dm_native
export vbn_dm_release
export vbn_dm_adopt
export vbn_dm_import
export vbn_efa_query_device
export vbn_efa_max_sq_depth
export vbn_efa_max_rq_depth
export vbn_efa_query_ah
export vbn_efa_query_cq
export vbn_efa_query_qp
export vbn_efa_query_mr
export vbn_endpoint_local
export vbn_endpoint_encode
export vbn_endpoint_decode
export vbn_endpoint_info_local
export vbn_endpoint_info_encode
export vbn_endpoint_info_decode
export vbn_last_error
export vbn_status_name
export vbn_status_text
export vbn_explain
export vbn_explain_error
export vbn_flow_create
export vbn_flow_close
export vbn_flow_native
export vbn_flow_release
export vbn_flow_adopt
export vbn_gpu_pointer_query
export vbn_gpu_device_count
export vbn_gpu_device_query
export vbn_gpu_dmabuf_export
export vbn_gpu_flush_writes
export vbn_gpu_synchronize
export vbn_gpu_mr_reg
export vbn_gpu_mr_validate
export vbn_mr_reg_dltensor
export vbn_version
export vbn_version_string
export vbn_library_init
export vbn_library_query
export vbn_library_missing
export vbn_fork_init
export vbn_mr_reg
export vbn_mr_reg_dmabuf
export vbn_mr_alloc_null
export vbn_mr_reg_dm
export vbn_mr_import
export vbn_mr_rereg
export vbn_mr_advise
export vbn_mr_close
export vbn_mr_query
export vbn_mr_lkey
export vbn_mr_rkey
export vbn_mr_remote_addr
export vbn_mr_segments
export vbn_mr_native
export vbn_mr_release
export vbn_mr_adopt
export vbn_mr_set_create
export vbn_mr_set_close
export vbn_mr_set_query
export vbn_mr_set_entry
export vbn_mr_set_segment
export vbn_mw_alloc
export vbn_mw_close
export vbn_mw_query
export vbn_mw_rkey
export vbn_mw_set_rkey
export vbn_mw_bind
export vbn_mw_native
export vbn_mw_release
export vbn_mw_adopt
export vbn_qp_type_name
export vbn_qp_state_name
export vbn_mtu_name
export vbn_port_state_name
export vbn_link_layer_name
export vbn_node_type_name
export vbn_transport_name
export vbn_wc_status_name
export vbn_wc_opcode_name
export vbn_event_type_name
export vbn_gid_type_name
export vbn_wr_opcode_name
export vbn_element_name
export vbn_device_list_reason_name
export vbn_gid_verdict_name
export vbn_gid_family_name
export vbn_mr_kind_name
export vbn_fork_state_name
export vbn_library_origin_name
export vbn_ownership_name
export vbn_vendor_domain_name
export vbn_gpu_kind_name
export vbn_gpu_memory_name
export vbn_gpu_allocation_name
export vbn_gpu_path_name
export vbn_gpu_attempt_name
export vbn_gpu_mr_state_name
export vbn_memory_name
export vbn_absence_name
export vbn_cap_name
export vbn_access_flag_name
export vbn_send_flag_name
export vbn_wc_flag_name
export vbn_qp_attr_name
export vbn_cm_event_name
export vbn_atomic_cap_name
export vbn_mig_state_name
export vbn_phys_state_name
export vbn_mw_type_name
export vbn_srq_type_name
export vbn_advice_name
export vbn_post_path_name
export vbn_driver_name
export vbn_mismatch_name
export vbn_efa_cap_name
export vbn_wc_field_name
export vbn_distance_name
export vbn_port_width_name
export vbn_port_speed_name
export vbn_device_cap_name
export vbn_port_cap_name
export vbn_port_cap2_name
export vbn_flow_type_name
export vbn_flow_spec_name
export vbn_counter_name
export vbn_rate_name
export vbn_odp_cap_name
export vbn_cm_ps_name
export vbn_library_name
export vbn_cq_wait_mode_name
export vbn_pd_alloc
export vbn_pd_alloc_parent
export vbn_pd_import
export vbn_pd_close
export vbn_pd_query
export vbn_pd_native
export vbn_pd_release
export vbn_pd_adopt
export vbn_peer_create
export vbn_peer_from_endpoint
export vbn_peer_from_info
export vbn_peer_from_cm
export vbn_peer_close
export vbn_peer_query
export vbn_qp_create
export vbn_qp_close
export vbn_qp_query
export vbn_qp_num
export vbn_qp_modify
export vbn_qp_prepare
export vbn_qkey_random
export vbn_qp_attach_mcast
export vbn_qp_detach_mcast
export vbn_qp_post_send
export vbn_qp_post_recv
export vbn_qp_first_error
export vbn_qp_query_ece
export vbn_qp_set_ece
export vbn_qp_data_in_order
export vbn_qp_modify_rate_limit
export vbn_qp_native
export vbn_qp_release
export vbn_qp_adopt
export vbn_rc_record_local
export vbn_rc_record_encode
export vbn_rc_record_decode
export vbn_qp_to_init
export vbn_qp_to_rtr
export vbn_qp_to_rts
export vbn_qp_connect_rc
export vbn_qp_connect
export vbn_region_info_local
export vbn_region_info_encode
export vbn_region_info_decode
export vbn_region_info_find_nic
export vbn_rdma_split
export vbn_srq_create
export vbn_srq_close
export vbn_srq_query
export vbn_srq_modify
export vbn_srq_post_recv
export vbn_srq_native
export vbn_srq_release
export vbn_srq_adopt
export vbn_td_alloc
export vbn_td_close
export vbn_td_native
export vbn_td_release
export vbn_td_adopt
export vbn_gpu_nic_distance
export vbn_nic_nearest
